"""Writes serialised models for the C drivers and fuzzers: `PYTHONPATH=tests python tests/c/models.py FOLDER`."""

import sys
from pathlib import Path

import numpy as np

import linkwork as lw
from support.cases import five_bar_with_three_legs, four_bar, windows
from support.random_mechanisms import FAMILIES, random_tree, well_posed


def mechanisms() -> dict[str, lw.Mechanism]:
    """A four-bar, coupled loops, trees and one mechanism of each family of loops, by name."""
    cases = {"three_legs": five_bar_with_three_legs(), "ten_windows": windows(10)}
    for case in cases.values():
        case.mechanism.start(q=case.q, u=case.u)  # at zero all bars of the windows are in line
    cases["four_bar"] = four_bar()
    scenes = {f"tree_{n}": random_tree(np.random.default_rng(n), n, springs=n // 3) for n in (1, 3, 12)}
    scenes |= {name: well_posed(make, seed=1) for name, (make, _) in FAMILIES.items()}
    return {name: given.mechanism for name, given in (cases | scenes).items()}


def main(folder: Path) -> None:
    """Write each mechanism to its file."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, mechanism in mechanisms().items():
        (folder / f"{name}.model").write_bytes(lw.compile(mechanism).model_bytes)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
