"""Mechanisms of other families with couplings added, by polynomials or formulas, and the loads of these on joints."""

from __future__ import annotations

import cmath
import copy
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from .builder import Scene
from .oracle import Oracle, Solution
from .placement import Value, Values, vector
from .random_mechanisms import Maker
from .rows import Gear

RADIUS = 0.05  # of the circles on which formulas are differentiated
AROUND = 24  # points of a circle
_OF_FORMULAS = {"sin": cmath.sin, "cos": cmath.cos, "tanh": cmath.tanh, "exp": cmath.exp}


@dataclass(frozen=True)
class FormulaGear(Gear):
    """A coupling with a formula, whose derivatives are Cauchy's integrals around the pose."""

    text: str = "0"
    parameters: dict[str, float] = field(default_factory=dict)
    reads: tuple[str, ...] = ()

    @property
    def given(self) -> dict[str, object]:
        """What `add_coupling` takes besides terms."""
        return {"formula": self.text, "parameters": self.parameters}

    @property
    def coordinates(self) -> dict[str, tuple[str, int]]:
        return super().coordinates | {name: (name, 0) for name in self.reads}

    def value(self, q: Values, steps: Mapping[str, complex]) -> complex:
        """Return the formula away from a pose by steps."""
        at = {name: complex(vector(q[name])[0]) + steps.get(name, 0.0) for name in self.reads}
        text = re.sub(r"([A-Za-z_]\w*)\.q", r"at['\1']", self.text).replace("^", "**")
        return complex(eval(text, {"__builtins__": {}, "at": at}, _OF_FORMULAS | self.parameters))

    def _derivative(self, q: Values, along: Mapping[str, float], order: int) -> float:
        turns = np.exp(2j * np.pi * np.arange(AROUND) / AROUND)
        values = [self.value(q, {name: RADIUS * turn * rate for name, rate in along.items()}) for turn in turns]
        return float(np.mean(values / turns**order).real * (1, 1, 2)[order] / RADIUS**order)

    def slopes(self, q: Values, order: int = 1) -> dict[str, float]:
        own = {**dict.fromkeys(self.coordinates, 0.0), **_polynomials(self).slopes(q, order)}
        if order == 0:
            own[self.reads[0]] += self.value(q, {}).real
            return own
        return own | {name: own[name] + self._derivative(q, {name: 1.0}, order) for name in self.reads}

    def bend(self, q: Values, u: Values) -> float:
        along = {name: float(vector(u[name])[0]) for name in self.reads}
        size = max(map(abs, along.values())) or 1.0
        formula = self._derivative(q, {name: rate / size for name, rate in along.items()}, 2) * size**2
        return _polynomials(self).bend(q, u) + formula


def _polynomials(gear: Gear) -> Gear:
    return Gear(gear.terms, gear.offset)


def geared(make: Maker, terms: int = 2, *, couplings: int = 1, degree: int = 1) -> Maker:
    """The scenes of a maker with couplings among joints of one coordinate, chosen such that these still move."""

    def gear_up(rng: np.random.Generator) -> Scene:
        scene = make(rng)
        names = [name for name, q in scene.q.items() if np.ndim(q) == 0]
        for _ in range(100):
            chosen = [rng.choice(names, terms, replace=False) for _ in range(couplings)]
            gears = {f"g{k}": _gear(rng, scene.q, which, degree) for k, which in enumerate(chosen)}
            oracle = Oracle(scene.mechanism, scene.poses, scene.q, gears=gears)
            u = oracle.random_speeds(rng)
            if oracle.motions.shape[1] == scene.oracle.motions.shape[1] - couplings and gears_move(gears, u):
                break
        mechanism = copy.deepcopy(scene.mechanism)
        for name, gear in gears.items():
            mechanism.add_coupling(name, gear.terms, gear.offset, **gear.given)
        return Scene(mechanism, scene.poses, scene.q, u, oracle, gears)

    return gear_up


def _gear(rng: np.random.Generator, q: Values, chosen: np.ndarray, degree: int) -> Gear:
    if not degree:
        return _by_formula(rng, q, [str(name) for name in chosen])
    given = {str(n): list(rng.uniform(0.5, 3.0, degree) * rng.choice([-1, 1], degree)) for n in chosen}
    return Gear(given, Gear(given).residual(q))


def _by_formula(rng: np.random.Generator, q: Values, chosen: list[str]) -> Gear:
    """A formula of all coordinates, and a ratio of the first."""
    first, *_, last = names = [f"{name}.q" for name in chosen]
    inner = " + ".join(f"a{k}*{name}" for k, name in enumerate(names))
    text = f"b0*sin({inner}) + b1*{first}*{last}*tanh(c0*{last}) + b2*exp(-(c1*{last})^2) + b3*(1 + (c2*{first})^2)^1.5"
    values = [*(f"a{k}" for k in range(len(names))), "b0", "b1", "b2", "b3", "c0", "c1", "c2"]
    parameters = {name: float(rng.uniform(0.3, 1.2) * rng.choice([-1, 1])) for name in values}
    made = FormulaGear({chosen[0]: float(rng.uniform(1.0, 2.0))}, 0.0, text, parameters, tuple(chosen))
    return FormulaGear(made.terms, made.residual(q), text, parameters, made.reads)


def gears_move(gears: Mapping[str, Gear], u: Values) -> bool:
    return all(max(abs(u[name]) for name in gear.terms) > 0.01 for gear in gears.values())


def with_gear_loads(scene: Scene, solution: Solution, loads: Values) -> dict[str, Value]:
    """Loads along the speeds of the joints, those of the couplings added."""
    total = {name: np.asarray(load, float) for name, load in loads.items()}
    for name, gear in scene.gears.items():
        for joint, load in gear.loads(scene.q, float(solution.gear[name])).items():
            total[joint] = total[joint] + load.reshape(np.shape(total[joint]))
    return total
