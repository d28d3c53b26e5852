"""Chains of rods in a plane by Lagrange's equations with multipliers, in numpy alone: a second opinion on Linkwork.

Coordinates are the angles phi of the rods to the x axis, e = (cos phi, sin phi), e' = (-sin phi, cos phi).

    centre of mass k   r_k = r_0 + sum_i W_ki e_i            W: lengths of the rods before k, half of its own
    closure c          sum_i C_ci e_i = g_c                  C: lengths of the rods around, with signs

    M_ij = (W' m W)_ij cos(phi_i - phi_j) + I_ij             M phi'' = Q - h + J' lambda
    h_i  = sum_j (W' m W)_ij sin(phi_i - phi_j) phi_j'^2     J phi'' = -J' phi'
    Q_i  = loads + (W' m)_i e'_i . gravity

Where rows J of rates become zero at an instant, impulses Lambda make them:

    M (phi'+ - phi'-) = J' Lambda                            J phi'+ = 0
"""

from collections.abc import Sequence

import numpy as np

Array = np.ndarray


class Rods:
    """Slender rods in chains, each a list of numbers of rods from a foot on; `closures` are differences of chains."""

    def __init__(
        self, mass: Sequence[float], length: Sequence[float], chains: Sequence[Sequence[int]], gravity: Sequence[float]
    ) -> None:
        self.mass, self.length, self.gravity = np.array(mass), np.array(length), np.array(gravity)
        self.inertia = np.diag(self.mass * self.length**2 / 12)
        n = len(self.mass)
        self.centres, self.ends = np.zeros((n, n)), np.zeros((len(chains), n))
        for chain, end in zip(chains, self.ends, strict=True):
            for rod in chain:
                self.centres[rod] = end
                self.centres[rod, rod] = self.length[rod] / 2
                end[rod] = self.length[rod]
        self.closures = self.ends[1:] - self.ends[0] if len(chains) > 1 else self.ends

    def jacobian(self, phi: Array) -> Array:
        """(2 closures, rods)"""
        return np.concatenate([-self.closures * np.sin(phi), self.closures * np.cos(phi)])

    def coupling(self) -> Array:
        """W' m W"""
        return self.centres.T @ (self.mass[:, None] * self.centres)

    def inertias(self, phi: Array) -> Array:
        """The matrix M."""
        mass: np.ndarray = self.coupling() * np.cos(phi[:, None] - phi) + self.inertia
        return mass

    def jump(self, phi: Array, rate: Array, rows: Array) -> tuple[Array, Array]:
        """Rates after, and impulses of, rows (m, rods) whose rates become zero at once."""
        turned = np.linalg.solve(self.inertias(phi), rows.T)
        impulses = -np.linalg.solve(rows @ turned, rows @ rate)
        return rate + turned @ impulses, impulses

    def accelerations(self, phi: Array, rate: Array, loads: Array) -> Array:
        """Second derivatives of the angles under torques `loads` on the rods, N m."""
        coupling, apart = self.coupling(), phi[:, None] - phi
        pull = (self.mass @ self.centres) * (np.array([-np.sin(phi), np.cos(phi)]).T @ self.gravity)
        forces = loads + pull - (coupling * np.sin(apart)) @ rate**2
        rows = self.jacobian(phi)
        bias = np.concatenate([self.closures * np.cos(phi), self.closures * np.sin(phi)]) @ rate**2
        system = np.block([[self.inertias(phi), rows.T], [rows, np.zeros((len(rows), len(rows)))]])
        return np.linalg.solve(system, np.concatenate([forces, bias]))[: len(phi)]
