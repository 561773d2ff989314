"""The command line: `netlib start`, `netlib book`, `netlib lab`, `netlib serve`, `netlib fidelity`, `netlib notebooks`,
`netlib labs`, `netlib kept`.

One table, one row per command. A row imports what it needs only when it is run, so that `netlib --help`
answers at once.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Command:
    """One command: what `--help` says, the options it adds to its parser, and what it does (gives the exit code)."""

    help: str
    options: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]


def _no_options(parser: argparse.ArgumentParser) -> None:
    pass


def _book_port(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--book-port", metavar="PORT", default=os.environ.get("BOOK_PORT"), help="default: 8000")


def _lab_port(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--lab-port", metavar="PORT", default=os.environ.get("LAB_PORT"), help="default: 8888")


def _both_ports(parser: argparse.ArgumentParser) -> None:
    _book_port(parser)
    _lab_port(parser)


def _start(asked: argparse.Namespace) -> int:
    from netlib.course.serve import start

    return start(book_port=asked.book_port, lab_port=asked.lab_port)


def _serve(asked: argparse.Namespace) -> int:
    from netlib.course.serve import start

    return start(book_port=asked.book_port, lab=False)


def _lab(asked: argparse.Namespace) -> int:
    from netlib.course.serve import start

    return start(lab_port=asked.lab_port, book=False)


def _book(asked: argparse.Namespace) -> int:
    from netlib.course.serve import fresh_book

    print(f"The book: {fresh_book(rebuild=True)}")
    return 0


def _table_options(parser: argparse.ArgumentParser) -> None:
    columns = (
        "id, gpu, nodes, gpus_per_node, nics_per_node, nic_gbps, scaleup_GBps_per_dir, topology, collective, "
        "algorithm, message_bytes, ranks, metric, value, unit"
    )
    parser.add_argument("--json", action="store_true", help="a JSON list, one object a row")
    parser.add_argument("--rows", type=Path, metavar="FILE.csv", help=f"judge this table; its columns: {columns}")


def _fidelity(asked: argparse.Namespace) -> int:
    from netlib.fidelity.report import run

    return run(asked)


def _notebook_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 if an output would change")
    parser.add_argument("notebooks", nargs="+", type=Path, metavar="NOTEBOOK.ipynb")


def _notebooks(asked: argparse.Namespace) -> int:
    from netlib.course.notebook import run

    return run(asked)


def _lab_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 if a notebook would change")


def _labs(asked: argparse.Namespace) -> int:
    from netlib.course.lab_build import run

    return run(asked)


def _kept_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("ids", nargs="*", metavar="EXPLORER", help="default: all that keep a table")


def _kept(asked: argparse.Namespace) -> int:
    from netlib.course.kept import run

    return run(asked)


COMMANDS = {
    "start": Command("build the book if it is stale, serve it and JupyterLab", _both_ports, _start),
    "book": Command("build the book", _no_options, _book),
    "lab": Command("open JupyterLab alone", _lab_port, _lab),
    "serve": Command("serve the book alone", _book_port, _serve),
    "fidelity": Command("every model beside published measurements", _table_options, _fidelity),
    "notebooks": Command("run notebooks and store what they print", _notebook_options, _notebooks),
    "kept": Command("compute anew what slow explorers keep in tables", _kept_options, _kept),
    "labs": Command("make the learners' lab notebooks from their solved sources", _lab_options, _labs),
}


def main(words: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0 done, 1 failed with one sentence, 2 not understood."""
    parser = argparse.ArgumentParser(
        prog="netlib", description="GPU-cluster networking, computed: the course's commands."
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, command in COMMANDS.items():
        command.options(commands.add_parser(name, help=command.help, description=command.help))
    asked = parser.parse_args(words)
    # A request to end must unwind like Ctrl-C does, or a build in progress would outlive us.
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        code = COMMANDS[asked.command].run(asked)
        sys.stdout.flush()  # a full disk should be known here, not at exit
        return code
    except BrokenPipeError:  # the reader of our output has seen enough, as `head` has
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except (ValueError, RuntimeError, OSError) as error:
        # What a person can put right is said in one sentence; anything else is a bug and keeps its traceback.
        print(f"netlib {asked.command}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nStopped.")
        return 130
    finally:
        signal.signal(signal.SIGTERM, before)


if __name__ == "__main__":
    sys.exit(main())
