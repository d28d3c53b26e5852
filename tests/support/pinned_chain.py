"""A planar chain of slender bars whose last tip is pinned, by the bars' angles to the world and two multipliers.

With t the unit vectors along and n across the bars, the constraint is sum of l t = tip; its acceleration form is
sum of l n a = sum of l t w^2. The centre of bar i is at l_i t_i / 2 beyond the tips of the bars before.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.integrate import solve_ivp

from .poses import Array


class PinnedChain:
    """`derivative` is that of y = [angles; rates]; `gravity` (2,)."""

    def __init__(self, masses: Sequence[float], lengths: Sequence[float], tip: Sequence[float], gravity: Array) -> None:
        self.masses, self.lengths, self.tip, self.gravity = map(np.asarray, (masses, lengths, tip, gravity))
        n = len(masses)
        self.arms = np.tril(np.ones((n, n)), -1) * self.lengths + np.diag(self.lengths) / 2  # centre i by bar j

    def derivative(self, y: Array) -> Array:
        n = len(self.masses)
        along = np.array([np.cos(y[:n]), np.sin(y[:n])])
        across = np.array([-along[1], along[0]])
        mass, force = np.diag(self.masses * self.lengths**2 / 12), np.zeros(n)
        for m, arm in zip(self.masses, self.arms, strict=True):
            reach = across * arm
            mass = mass + m * reach.T @ reach
            force += m * reach.T @ (self.gravity + along * arm @ y[n:] ** 2)
        rows = across * self.lengths
        matrix = np.block([[mass, rows.T], [rows, np.zeros((2, 2))]])
        right = np.r_[force, along * self.lengths @ y[n:] ** 2]
        return np.r_[y[n:], np.linalg.solve(matrix, right)[:n]]

    def motion(self, angles: Array, rates: Array, t: Array) -> Array:
        """Angles (n, nt) from a closed start."""
        start = np.r_[angles, rates]
        solved = solve_ivp(lambda _, y: self.derivative(y), (0, t[-1]), start, "DOP853", t, rtol=1e-12, atol=1e-13)
        return solved.y[: len(self.masses)]
