"""Notebooks with canonical stored outputs: text only, so that a re-run gives the same bytes.

    netlib notebooks notebooks/03_collectives.ipynb     run and store
    netlib notebooks --check notebooks/*.ipynb          fail if a stored output differs

Pictures, widget state and timings are dropped: the book draws its own, and nbval compares what is printed.
"""

import argparse
import os
from pathlib import Path
from typing import Any

PIXELS = ("image/png", "image/svg+xml", "application/vnd.jupyter.widget-view+json")


def execute(path: Path) -> str:
    """The notebook, run from top to bottom in its own folder, as canonical text.

    Raises ValueError in one sentence for a file that is no notebook and for the first cell that fails.
    """
    import nbformat
    from nbclient import NotebookClient
    from nbclient.exceptions import CellControlSignal, DeadKernelError

    try:
        book = nbformat.read(path, 4)  # type: ignore[no-untyped-call]
    except OSError as error:
        raise ValueError(f"{path} cannot be read ({error.strerror}); name a notebook") from None
    except Exception as error:  # nbformat answers odd JSON with whatever it trips over
        raise ValueError(f"{path} is no Jupyter notebook ({_reason(error)}); name an .ipynb file") from None
    before = os.environ.get("NETLIB_JOURNAL")
    os.environ["NETLIB_JOURNAL"] = "off"  # a build leaves no predictions behind
    try:
        NotebookClient(book, timeout=120, resources={"metadata": {"path": str(path.parent)}}).execute()
    except (CellControlSignal, DeadKernelError) as error:
        raise ValueError(f"{path} did not run to its end, so nothing was stored: {_reason(error)}") from None
    finally:
        if before is None:
            del os.environ["NETLIB_JOURNAL"]
        else:
            os.environ["NETLIB_JOURNAL"] = before
    return canonical(book)


def _reason(error: Exception) -> str:
    """What a cell raised, or else the first line of what a tool says."""
    if raised := getattr(error, "ename", ""):
        return f"{raised}: {' '.join(str(getattr(error, 'evalue', '')).split())[:200]}"
    return (str(error).splitlines() or [type(error).__name__])[0][:200]


def canonical(book: Any) -> str:
    """The notebook as text: outputs without pixels, counts from one, no trace of the machine."""
    import nbformat

    book.metadata = {
        "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    count = 0
    for number, cell in enumerate(book.cells):
        cell["id"] = f"cell-{number:02d}"
        cell.metadata.pop("execution", None)
        if cell.cell_type != "code":
            continue
        count += bool(cell.source.strip())
        cell.execution_count = count
        cell.outputs = joined(cell.outputs)
        for output in cell.outputs:
            if "execution_count" in output:
                output["execution_count"] = count
            for kind in PIXELS:
                output.get("data", {}).pop(kind, None)
    text: str = nbformat.writes(book, version=4)  # type: ignore[no-untyped-call]
    return text.rstrip("\n") + "\n"


def joined(outputs: list[Any]) -> list[Any]:
    """Pieces of one stream made one: a busy kernel sends what is printed in as many pieces as it likes."""
    found: list[Any] = []
    for output in outputs:
        before = found[-1] if found else {}
        if output["output_type"] == before.get("output_type") == "stream" and output["name"] == before["name"]:
            before["text"] += output["text"]
        else:
            found.append(output)
    return found


def store(path: Path, text: str) -> None:
    """Write a notebook whole: a full disk must not leave half of one."""
    draft = path.with_name(f".{path.name}.draft")
    draft.write_text(text, encoding="utf-8")
    draft.replace(path)


def run(asked: argparse.Namespace) -> int:
    """Store or check the outputs of the named notebooks."""
    stale = 0
    for path in asked.notebooks:
        if not path.is_file():
            raise ValueError(f"{path} is no file; name a notebook, for example notebooks/03_collectives.ipynb")
        text = execute(path)
        if text == path.read_text(encoding="utf-8", errors="replace"):
            continue
        stale += 1
        print(f"{path}: {'differs from a fresh run' if asked.check else 'stored'}")
        if not asked.check:
            store(path, text)
    return int(asked.check and stale > 0)
