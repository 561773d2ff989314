"""Time ours and the peers in one run: `make bench`, or `python benchmarks/run.py [name ...]`.

Every other file of this folder offers `rows()`, a list of
`{"name", "size", "ours_s", "peer", "peer_s", "ratio"}`; where there is no peer, `peer`, `peer_s` and `ratio` are None.
All rows go to build/benchmarks.json and, as a table, to the screen. A ratio below 1 means that ours is faster.
"""

import importlib.util
import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
FIELDS = ("name", "size", "ours_s", "peer", "peer_s", "ratio")


def measured(path: Path) -> list[dict[str, object]]:
    """The rows of one file; a row with other fields is a mistake in it."""
    spec = importlib.util.spec_from_file_location(f"benchmarks.{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    rows = module.rows()
    for row in rows:
        if tuple(row) != FIELDS:
            raise ValueError(f"{path.name}: a row has the fields {tuple(row)}: give {FIELDS}")
    return rows


def line(row: dict[str, object]) -> str:
    """One row as text."""
    peer = "" if row["peer"] is None else f"{row['peer_s']:12.3e} s  {row['peer']}, ratio {row['ratio']:.3g}"
    return f"{row['name']!s:<32} {row['size']!s:>12} {row['ours_s']:12.3e} s {peer}"


def main(names: list[str]) -> int:
    """Run the named files, or all of them."""
    files = sorted(path for path in HERE.glob("*.py") if path.name != "run.py" and (not names or path.stem in names))
    if unknown := set(names) - {path.stem for path in files}:
        print(f"No benchmark is called {', '.join(sorted(unknown))}.", file=sys.stderr)
        return 2
    found = []
    for number, path in enumerate(files, 1):
        print(f"[{number}/{len(files)}] {path.stem}", flush=True)
        for row in measured(path):
            found.append(row)
            print("  " + line(row), flush=True)
    target = HERE.parent / "build" / "benchmarks.json"
    target.parent.mkdir(exist_ok=True)
    target.write_text(json.dumps(found, indent=1) + "\n")
    print(f"{len(found)} rows in {target.relative_to(HERE.parent)}")
    return 0


if __name__ == "__main__":
    sys.path.insert(0, str(HERE.parent))
    sys.exit(main(sys.argv[1:]))
