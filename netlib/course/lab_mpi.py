"""The same function over MPI: `on_mpi(ring_allreduce)` writes it into a program and starts two ranks with mpiexec.

`MpiRank` has the face of `netlib.course.peers.Rank` (all but `together`), and an MPI communicator behind it.
Where MPI is not installed the answer is one sentence. Two ranks, because MPI's ranks wait by spinning: more of them
than cores would measure the scheduler.
"""

import inspect
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from netlib.course.wires import Array

HELP = "pip install mpi4py mpich"


@dataclass(frozen=True)
class MpiRun:
    """Whether every rank ended with the sum, and how many bytes each sent; `trouble` is a sentence, or ""."""

    right: bool = False
    sent: tuple[int, ...] = ()
    trouble: str = ""


class MpiRank:
    """One rank of an MPI communicator, as your function sees it."""

    def __init__(self, world: Any, sent: list[int] | None = None) -> None:
        self.rank, self.n, self._world = world.rank, world.size, world
        self.sent: list[int] = [] if sent is None else sent  # bytes of each message

    def send(self, to: int, array: Array) -> None:
        """Send `array`; returns when `to` has begun to take it (MPI_Ssend)."""
        self.sent.append(array.nbytes)
        self._world.ssend(np.ascontiguousarray(array), dest=to)

    def receive(self, source: int) -> Array:
        """Wait for an array (MPI_Recv)."""
        return np.asarray(self._world.recv(source=source))

    def exchange(self, to: int, array: Array, source: int) -> Array:
        """Both at once (MPI_Sendrecv)."""
        self.sent.append(array.nbytes)
        return np.asarray(self._world.sendrecv(np.ascontiguousarray(array), dest=to, source=source))

    def group(self, members: Sequence[int]) -> "MpiRank":
        """The same rank among `members` only (MPI_Comm_create_group)."""
        chosen = self._world.group.Incl([int(member) for member in members])
        return MpiRank(self._world.Create_group(chosen), self.sent)


def on_mpi(function: Callable[..., Any], n: int = 2, numbers: int = 2520, limit: float = 30.0) -> MpiRun:
    """Run `function(me, buffer)` on `n` MPI ranks; never raises for what it does."""
    mpiexec = shutil.which("mpiexec", path=f"{Path(sys.executable).parent}") or shutil.which("mpiexec")
    if mpiexec is None:
        return MpiRun(trouble=f"MPI is not installed here, so this step is left out ({HELP})")
    if not isinstance(function, FunctionType):
        return MpiRun(trouble="a function of your own is asked for")
    with tempfile.TemporaryDirectory() as folder:
        program, page = Path(folder) / "allreduce.py", Path(folder) / "found.json"
        program.write_text(program_of(function), encoding="utf-8")
        words = [mpiexec, "-n", str(n), sys.executable, str(program), str(page), str(numbers)]
        try:
            done = subprocess.run(words, capture_output=True, text=True, timeout=limit, stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            return MpiRun(trouble=f"the ranks did not end within {limit:g} s; does one wait for the other?")
        if not page.is_file():
            said = [line.strip() for line in (done.stderr or done.stdout).splitlines() if "Error" in line]
            return MpiRun(trouble=f"MPI stopped: {said[-1][:160] if said else f'exit code {done.returncode}'}")
        found = json.loads(page.read_text())
    if not found["answered"]:
        return MpiRun(trouble="not answered yet")
    return MpiRun(found["right"], tuple(found["sent"]))


def program_of(function: FunctionType) -> str:
    """A program that holds `function`, and the functions and modules that it uses."""
    parts: dict[str, str] = {}
    _gather(function, parts)
    head = "from netlib.course.lab_mpi import main"
    return "\n\n".join([head, *parts.values(), f'if __name__ == "__main__":\n    main({function.__name__})', ""])


def main(function: Callable[..., Any], words: list[str] | None = None) -> None:
    """One rank's program: run, compare with the sum, and let rank 0 write what all found."""
    from mpi4py import MPI

    page, numbers = words or sys.argv[1:]
    world = MPI.COMM_WORLD
    buffers = np.random.default_rng(world.size).integers(-999, 1000, (world.size, int(numbers)))
    me = MpiRank(world)
    value = function(me, buffers[me.rank].copy())
    right = value is not None and np.array_equal(value, buffers.sum(axis=0))
    found: list[Any] | None = world.gather((right, sum(me.sent), value is not None))
    if found is not None:  # rank 0
        rights, sent, answered = zip(*found, strict=True)
        Path(page).write_text(json.dumps({"right": all(rights), "sent": sent, "answered": any(answered)}))


def _gather(function: FunctionType, parts: dict[str, str]) -> None:
    """Sources of what a function needs, in the order in which they must be defined."""
    for name in function.__code__.co_names:
        value = function.__globals__.get(name)
        if isinstance(value, ModuleType):
            parts.setdefault(name, f"import {value.__name__} as {name}")
        elif isinstance(value, FunctionType) and value is not function and name not in parts:
            home = value.__module__
            if home in ("__main__", function.__module__):
                parts[name] = ""  # two functions that call each other
                _gather(value, parts)
                parts[name] = inspect.getsource(value)
            else:
                parts[name] = f"from {home} import {value.__name__} as {name}"
    parts[function.__name__] = inspect.getsource(function)
