"""Derivatives of what a block computes, by central differences with extrapolation."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from linkwork.core.native import Block, Stage

from .poses import Array

ONE = np.ones(1)
LIMIT = 1e-7  # of differences, by the largest of what they are of


def offsets(block: Block, *fields: str) -> Array:
    """Where the numbers of these fields stand."""
    spans = [block.model.fields[name].span for name in fields]
    return np.concatenate([np.arange(s.start, s.stop) for s in spans]).astype(np.uint32)


def slope(function: Callable[[float], Array], h: float = 1e-3) -> Array:
    """Derivative at zero, with an error of h^6."""
    a, b, c = ((function(x) - function(-x)) / (2 * x) for x in (h, h / 2, h / 4))
    return (64 * c - 20 * b + a) / 45


def along(block: Block, known: int, read: Callable[[], Array], h: float = 1e-3) -> Array:
    """Derivative of a function of a block by one of its numbers, which keeps its value."""
    kept = block.reals[known]

    def moved(step: float) -> Array:
        block.reals[known] = kept + step
        block.put("motion_time", block["time"].copy(), Stage.NONE)
        return np.array(read())

    try:
        return slope(moved, h)
    finally:
        block.reals[known] = kept
        block.put("motion_time", block["time"].copy(), Stage.NONE)


def matrix(derivative: Callable[[Array, Array, Array], Array], unknowns: Array, knowns: Array) -> Array:
    """All derivatives (unknowns, knowns), column by column."""
    return np.array([derivative(unknowns, knowns[k : k + 1], ONE) for k in range(len(knowns))]).T


def relative(a: Array, b: Array) -> float:
    """Largest difference, by the largest number or one."""
    return float(np.abs(np.subtract(a, b)).max(initial=0.0) / max(1.0, np.abs(b).max(initial=0.0)))
