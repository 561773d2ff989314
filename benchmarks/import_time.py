"""How long `import netlib` takes in a fresh Python, beside `import numpy`: the budget is 0.3 s."""

import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PROGRAM = "import time; begin = time.perf_counter(); import {}; print(time.perf_counter() - begin)"


def seconds(module: str, runs: int = 7) -> float:
    """The median over fresh interpreters; the first, which fills the disk's cache, is left out."""
    words = [sys.executable, "-c", PROGRAM.format(module)]
    said = [subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout for _ in range(runs)]
    return statistics.median(map(float, said[1:]))


def rows() -> list[dict[str, object]]:
    """One row: ours is netlib, the peer is the one package that its models need."""
    ours, peer = seconds("netlib"), seconds("numpy")
    return [{"name": "import", "size": 1, "ours_s": ours, "peer": "import numpy", "peer_s": peer, "ratio": ours / peer}]
