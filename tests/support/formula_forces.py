"""Random formulas of coordinates and speeds, forces by them, and their values computed by Python."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

import linkwork as lw

from .builder import Scene
from .placement import vector

FUNCTIONS = ("sin({})", "cos({})", "tanh({})", "abs({})", "exp(-({})^2)", "max({}, 0.1)", "if({} < 0.2, 0.7, 0.4)")
_NAME = re.compile(r"[A-Za-z]\w*\.[qu](?:\[\d+\])?|\btime\b")
_IN_PYTHON = {"sin": math.sin, "cos": math.cos, "tanh": math.tanh, "abs": abs, "exp": math.exp, "max": max}


def readable(scene: Scene) -> dict[str, float]:
    """What formulas can read of the joints, and the values in the pose of the scene."""
    found = {}
    for name in scene.u:
        for what, values in (("q", vector(scene.q[name])), ("u", vector(scene.u[name]))):
            ends = [""] if len(values) == 1 else [f"[{k + 1}]" for k in range(len(values))]
            found |= {f"{name}.{what}{end}": float(value) for end, value in zip(ends, values, strict=True)}
    return found


class RandomFormula:
    """A sum of functions of random coordinates and speeds; parameters give all of them any unit."""

    def __init__(self, rng: np.random.Generator, names: list[str], terms: int = 4) -> None:
        self.parameters: dict[str, float] = {}
        parts = []
        for k in range(terms):
            inner = f"{self._parameter(rng, f'a{k}')}*{rng.choice(names)}"
            parts.append(f"{self._parameter(rng, f'b{k}')}*{rng.choice(FUNCTIONS).format(inner)}")
        self.text = " + ".join(parts)

    def _parameter(self, rng: np.random.Generator, name: str) -> str:
        self.parameters[name] = float(rng.uniform(0.3, 1.5) * rng.choice([-1, 1]))
        return name

    def value(self, values: Mapping[str, float], prefix: str = "") -> float:
        """Return what Python makes of it."""
        text = re.sub(r"if\((.*?) < 0.2, 0.7, 0.4\)", r"(0.7 if \1 < 0.2 else 0.4)", self.text)
        text = _NAME.sub(lambda named: f"({values[named[0]]!r})", text).replace("^", "**")
        return float(eval(text, {"__builtins__": {}}, _IN_PYTHON | self.parameters))


def on_joint(rng: np.random.Generator, scene: Scene, coordinate: str, name: str) -> tuple[Any, float]:
    """A force on a joint, and its value in the pose of the scene."""
    values = readable(scene)
    made = RandomFormula(rng, list(values))
    return lw.Force(coordinate, made.text, parameters=made.parameters, name=name), made.value(values)


def coordinates(scene: Scene) -> list[tuple[str, str, int]]:
    """The speeds of all joints: as forces name them, the joint, and which one."""
    return [
        (name if np.size(u) == 1 else f"{name}[{k + 1}]", name, k)
        for name, u in scene.u.items()
        for k in range(np.size(u))
    ]
