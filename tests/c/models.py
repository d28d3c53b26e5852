"""Writes serialised models for the C drivers and fuzzers: `PYTHONPATH=tests python tests/c/models.py FOLDER`."""

import sys
from pathlib import Path

import numpy as np

import linkwork as lw
from support.cases import four_bar
from support.random_mechanisms import FAMILIES, random_tree, well_posed


def mechanisms() -> dict[str, lw.Mechanism]:
    """A four-bar, trees and one mechanism of each family of loops, by name."""
    scenes = {f"tree_{n}": random_tree(np.random.default_rng(n), n, springs=n // 3) for n in (1, 3, 12)}
    scenes |= {name: well_posed(make, seed=1) for name, (make, _) in FAMILIES.items()}
    return {"four_bar": four_bar().mechanism} | {name: scene.mechanism for name, scene in scenes.items()}


def main(folder: Path) -> None:
    """Write each mechanism to its file."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, mechanism in mechanisms().items():
        (folder / f"{name}.model").write_bytes(lw.compile(mechanism).model_bytes)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
