"""Writes the examples and random mechanisms as files: `python mechanisms.py FOLDER COUNT SEED`.

The older installation runs this, with the tests and examples of its own checkout where it has them: the newer one must
read what the older one wrote. Start values close the loops, so that assembly has nothing to find.
"""

from __future__ import annotations

import importlib
import json
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import linkwork as lw

HERE = Path(__file__).resolve().parents[2]
OWN = Path(lw.__file__).resolve().parents[1]
CHECKOUT = OWN if (OWN / "tests" / "support").is_dir() else HERE
Made = tuple[str, lw.Mechanism, float]  # name, mechanism, and the time at which its motions fit its start, s


def examples() -> Iterator[Made]:
    """Each example that has a mechanism."""
    for path in sorted((CHECKOUT / "examples").glob("*.py")):
        if "\ndef mechanism(" in path.read_text():
            yield path.stem, importlib.import_module(path.stem).mechanism(), 0.0


def random_ones(count: int, seed: int) -> Iterator[Made]:
    """Trees, loops of all families, those with driven joints and those with transitions, in turn."""
    from support.driven import TIME, driven, movable
    from support.gear_families import GEAR_FAMILIES
    from support.joint_families import ALL_KINDS, JOINT_FAMILIES
    from support.random_changes import random_change
    from support.random_mechanisms import FAMILIES, random_tree, well_posed
    from support.random_transitions import as_transitions
    from support.spanned import SPANNED

    loops = {name: make for name, (make, *_) in (FAMILIES | JOINT_FAMILIES | GEAR_FAMILIES).items()} | SPANNED
    families = list(loops.items())
    for k in range(count):
        rng = np.random.default_rng([seed, k])
        family, make = families[(seed * count + k) % len(families)]
        name = f"{k:04d} {family}"
        if k % 8 == 3:
            transitions = as_transitions(random_change(seed * count + k))
            scene, mechanism, time = transitions.change.scene, transitions.mechanism, 0.0
            name = f"{k:04d} transitions"
        elif k % 8 == 7:
            scene, time = random_tree(rng, int(rng.integers(1, 12)), ALL_KINDS, springs=2), 0.0
            mechanism, name = scene.mechanism, f"{k:04d} tree"
        else:
            scene, time = well_posed(make, seed * count + k), 0.0
            mechanism = scene.mechanism
            able = movable(scene)
            if k % 8 == 5 and able:
                try:
                    mechanism, time = driven(scene, rng, able[:1]).mechanism, TIME
                except AssertionError:  # driven, it is nearly singular
                    name += " not driven"
                else:
                    name += " driven"
        mechanism.start(q=scene.q, u=scene.u)
        yield name, mechanism, time


def write(folder: Path, count: int, seed: int) -> None:
    """Write the files, and their list."""
    listed = []
    for number, (name, mechanism, time) in enumerate([*examples(), *random_ones(count, seed)]):
        mechanism.save(folder / f"{number}.json")
        listed.append({"name": name, "file": f"{number}.json", "time": time})
    (folder / "list.json").write_text(json.dumps(listed, indent=1))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.path[:0] = [str(CHECKOUT / "tests"), str(CHECKOUT / "examples")]
    write(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
