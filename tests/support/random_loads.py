"""Random loads over time: pulses, steps, ramps, bells and tables, each at least a five-hundredth of the run long."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import linkwork as lw

KINDS = ("pulse", "step", "triangle", "half sine", "bell", "ramp", "decay")


def piece(rng: np.random.Generator, t_start: float, span: float) -> Callable[[float], float]:
    """A change of a random kind that lasts from a five-hundredth to a third of the run."""
    w = span * 10 ** rng.uniform(math.log10(1 / 500), -0.5)
    a = t_start + rng.uniform(0, 1) * (span - w)
    h = rng.choice([-1, 1]) * 10 ** rng.uniform(-1, 1.5)
    shapes: dict[str, Callable[[float], float]] = {
        "pulse": lambda t: h if a <= t < a + w else 0.0,
        "step": lambda t: h if t > a else 0.0,
        "triangle": lambda t: h * max(0.0, 1 - abs(2 * (t - a) / w - 1)),
        "half sine": lambda t: h * math.sin(math.pi * (t - a) / w) if a < t < a + w else 0.0,
        "bell": lambda t: h * math.exp(-(((t - a - w / 2) / (w / 4)) ** 2)),
        "ramp": lambda t: h * min(1.0, max(0.0, (t - a) / w)),
        "decay": lambda t: h * math.exp(-(t - a) / w) if t >= a else 0.0,
    }
    return shapes[rng.choice(KINDS)]


def function(rng: np.random.Generator, t_start: float, span: float) -> Callable[[float], float]:
    """A sum of one to four changes, sometimes on a sine."""
    pieces = [piece(rng, t_start, span) for _ in range(rng.integers(1, 5))]
    if rng.random() < 0.4:
        c, w = rng.normal(), rng.uniform(1, 20) / span
        pieces.append(lambda t: c * math.sin(w * t))
    return lambda t: sum(one(t) for one in pieces)


def table(rng: np.random.Generator, t_start: float, span: float) -> lw.Table:
    """Random rows within and around the run, half of them with a pulse as short as a five-thousandth of it."""
    kind: Any = rng.choice(["linear", "hold", "monotone", "cubic"])
    outside: Any = rng.choice(["hold", "zero"])
    if kind == "cubic":  # rows at random distances would overshoot by orders of magnitude
        return lw.Table(
            np.linspace(t_start - 0.1 * span, t_start + 1.1 * span, 9), rng.normal(size=9) * 5, kind, outside
        )
    n = rng.integers(2, 12)
    t, y = np.sort(rng.uniform(t_start - 0.1 * span, t_start + 1.1 * span, n)), rng.normal(size=n) * 5
    if rng.random() < 0.5:
        a, w = t_start + rng.uniform(0, 0.99) * span, span / 500 * 10 ** rng.uniform(-1, 1)
        outer = (t < a) | (t > a + w)
        t = np.concatenate([t[outer], [a, a + w / 3, a + 2 * w / 3, a + w]])
        y = np.concatenate([y[outer], [0, 50, 50, 0]])[np.argsort(t)]
        t = np.sort(t)
    return lw.Table(t, y, kind, outside)
