"""Mechanisms of other families with couplings added, and the loads of couplings on joints."""

from __future__ import annotations

import copy
from collections.abc import Mapping

import numpy as np

from .builder import Scene
from .oracle import Oracle, Solution
from .placement import Value, Values
from .random_mechanisms import Maker
from .rows import Gear


def geared(make: Maker, terms: int = 2, *, couplings: int = 1, degree: int = 1) -> Maker:
    """The scenes of a maker with couplings among joints of one coordinate, chosen such that these still move."""

    def gear_up(rng: np.random.Generator) -> Scene:
        scene = make(rng)
        names = [name for name, q in scene.q.items() if np.ndim(q) == 0]
        for _ in range(100):
            gears = {f"g{k}": _gear(rng, scene.q, names, terms, degree) for k in range(couplings)}
            oracle = Oracle(scene.mechanism, scene.poses, scene.q, gears=gears)
            u = oracle.random_speeds(rng)
            if oracle.motions.shape[1] == scene.oracle.motions.shape[1] - couplings and gears_move(gears, u):
                break
        mechanism = copy.deepcopy(scene.mechanism)
        for name, gear in gears.items():
            mechanism.add_coupling(name, gear.terms, gear.offset)
        return Scene(mechanism, scene.poses, scene.q, u, oracle, gears)

    return gear_up


def _gear(rng: np.random.Generator, q: Values, names: list[str], terms: int, degree: int) -> Gear:
    chosen = rng.choice(names, terms, replace=False)
    given = {str(n): list(rng.uniform(0.5, 3.0, degree) * rng.choice([-1, 1], degree)) for n in chosen}
    return Gear(given, Gear(given).residual(q))


def gears_move(gears: Mapping[str, Gear], u: Values) -> bool:
    return all(max(abs(u[name]) for name in gear.terms) > 0.01 for gear in gears.values())


def with_gear_loads(scene: Scene, solution: Solution, loads: Values) -> dict[str, Value]:
    """Loads along the speeds of the joints, those of the couplings added."""
    total = {name: np.asarray(load, float) for name, load in loads.items()}
    for name, gear in scene.gears.items():
        for joint, load in gear.loads(scene.q, float(solution.gear[name])).items():
            total[joint] = total[joint] + load.reshape(np.shape(total[joint]))
    return total
