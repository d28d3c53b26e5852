"""`python -m same_results --other PYTHON`: the results of this installation next to those of another one."""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from same_results.comparison import compare, report

HERE = Path(__file__).resolve().parent
BOUND = 1e-12


def main() -> int:
    """Compute by both and compare; the status is 1 where something differs."""
    parser = argparse.ArgumentParser(prog="./run same", description=__doc__)
    parser.add_argument("--other", metavar="PYTHON", required=True, help="of the other installation, the older one")
    parser.add_argument("--count", type=int, default=500, help="random mechanisms (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of the random mechanisms (default: %(default)s)")
    parser.add_argument("--bound", type=float, default=BOUND, help="of relative differences (default: %(default)s)")
    parser.add_argument("--folder", type=Path, help="keeps mechanisms and results there, and takes up those it has")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as passing:
        folder = (options.folder or Path(passing)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / "list.json").exists():
            _call(options.other, "mechanisms", folder, options.count, options.seed)
        both = [_start(python, "quantities", folder, folder / f"{name}.npz") for python, name in _sides(options.other)]
        if any(status != 0 for status in [process.wait() for process in both]):
            return 2
        found = compare(*(dict(np.load(folder / f"{name}.npz")) for _, name in _sides(options.other)))
    print(f"here: {sys.executable}\nthere: {options.other}\n\n{report(found, options.bound)}")
    return int(bool(found.differing(options.bound) or found.unlike))


def _sides(other: str) -> list[tuple[str, str]]:
    return [(sys.executable, "here"), (other, "there")]


def _start(python: str, script: str, *arguments: object) -> subprocess.Popen[bytes]:
    """In a folder from which no installation can be imported by accident."""
    return subprocess.Popen([python, str(HERE / f"{script}.py"), *map(str, arguments)], cwd="/")


def _call(python: str, script: str, *arguments: object) -> None:
    if _start(python, script, *arguments).wait():
        raise SystemExit(f"{python} could not write the mechanisms")


if __name__ == "__main__":
    sys.exit(main())
