"""Balance of forces at a pose: where no acceleration is left, and how the forces change with the pose.

With all loops open the tree obeys M udot + h(q, u, t) = J'lambda. Here h holds gravity, springs, actuators, constant
loads and, in a steady motion, what follows from the speeds u. In equilibrium

    h = J'lambda + H'mu,    Phi(q) = 0

where J = dPhi/ds are the rows of the constraints and H those of coordinates that are held or rest on stops. With a
basis T of the motions that J and H leave, T'h = 0. Around the equilibrium these motions c obey

    T'M T c'' + T'D T c' + T'K T c = 0,    D = dh/du,    K = d(h - J'lambda - H'mu)/ds

with the multipliers constant, so that the curvature of the constraints is part of the stiffness. All of it comes from
the equations with multipliers of the core, with derivatives by complex step, and exists in singular poses as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork.analysis.configuration_space import TASK_TOLERANCE, Tangent
from linkwork.analysis.element_rest import ElementsAtRest
from linkwork.analysis.load_distribution import least_loads, undriven
from linkwork.mechanism.forces import FORCES

if TYPE_CHECKING:
    from linkwork.analysis.configuration_space import ConfigurationSpace
    from linkwork.analysis.pose_functions import PoseFunction

ASIDE = 0.01  # of the length of the mechanism: a neighbouring pose
PROBE = 1e-5  # of a displacement, by which rows of functions are differenced: errors near 1e-10

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(5)


class Balance(NamedTuple):
    """Forces at a pose, and what keeps them in balance as far as it can."""

    force: FloatArray  # h (nu,), by which the loads fall short: M udot + h = J'lambda
    tangent: Tangent  # the motions that constraints and held functions leave
    multipliers: FloatArray  # lambda (rows,) of least norm
    loads: FloatArray  # mu, one number for each row of the held functions
    gradient: FloatArray  # T'h (dof,), N: the slope of the potential energy along the basis, where there is one

    @property
    def residual(self) -> float:
        """The largest force that is left, N."""
        return float(np.abs(self.gradient).max(initial=0.0))


class Linear(NamedTuple):
    """Mass, damping and stiffness (nu, nu) of small motions at constant multipliers."""

    mass: FloatArray
    damping: FloatArray
    stiffness: FloatArray


class ForceBalance:
    """Forces at the poses of a configuration space, whose block has the inputs."""

    def __init__(
        self,
        space: ConfigurationSpace,  # of the mechanism
        speeds: FloatArray | None = None,  # (nu,) of a steady motion; at rest zero
        motors: Sequence[PoseFunction] = (),  # functions along which further loads act
    ) -> None:
        self.space, self.motors = space, motors
        self.motor_loads = np.zeros(sum(one.size for one in motors))  # these loads, one after another; at first zero
        self.u = np.zeros(space.nu) if speeds is None else speeds
        self._time = float(space.block["time"][0])
        self._rows = space.block.model.constraint_rows
        self._relaxation = np.zeros(2 * self._rows)
        self._elements = ElementsAtRest(space)

    def force(self) -> FloatArray:
        """Return h (nu,) at the present pose, with the states of elements at rest there."""
        self._elements.settle(self.u)
        y, ydot = self._unknowns(np.zeros(self._rows))
        residual = self.space.block.dae_residual(self._time, y, ydot, self._relaxation)
        force = residual[self.space.nq : self.space.nq + self.space.nu]
        if self.motor_loads.any():
            force = force - rows_of(self.motors, self.space).T @ self.motor_loads
        return force

    def at(self, q: FloatArray, held: Sequence[PoseFunction] = ()) -> Balance:
        """Return the balance at a pose, where functions are held."""
        space = self.space
        space.enter(q)
        rows = rows_of(held, space)
        tangent = space.tangent(rows * self._sizes(rows))
        force = self.force()
        multipliers, loads = self._multipliers(force, held, rows)
        return Balance(force, tangent, multipliers, loads, tangent.basis.T @ force)

    def stiffness(self, q: FloatArray, balance: Balance, held: Sequence[PoseFunction] = ()) -> FloatArray:
        """Return K (nu, nu) at a pose."""
        stiffness = self._matrices(q, balance.multipliers, 0.0)[1] - self._curvature(q, held, balance.loads)
        return stiffness - self._curvature(q, self.motors, self.motor_loads)

    def linear(self, q: FloatArray, balance: Balance, held: Sequence[PoseFunction] = ()) -> Linear:
        """Return mass, damping and stiffness at a pose."""
        damping = self._matrices(q, balance.multipliers, 0.0)[0]
        both = self._matrices(q, balance.multipliers, 1.0)[0]
        return Linear(both - damping, damping, self.stiffness(q, balance, held))

    def _curvature(self, q: FloatArray, functions: Sequence[PoseFunction], loads: FloatArray) -> FloatArray:
        """Return d(H'mu)/ds (nu, nu) of functions of the pose at constant loads along them."""
        space = self.space
        matrix, first = np.zeros((space.nu, space.nu)), 0
        for function in functions:
            part = loads[first : first + function.size]
            first += function.size
            if function.is_linear or not part.any():
                continue
            for k, step in enumerate(np.eye(space.nu) * PROBE / space.weights * space.length):
                ends = []
                for sign in (1.0, -1.0):
                    space.enter(space.displaced(q, sign * step))
                    ends.append(function.rows().T @ part)
                matrix[:, k] += (ends[0] - ends[1]) / (2.0 * step[k])
        space.enter(q)
        return matrix

    def work(self, q: FloatArray, to: FloatArray) -> float:
        """Return the work against the forces on the straight way between two poses, J.

        The way is that of the tree, on which constraint forces do no part of h. Where the forces have a potential it
        is the difference of the potentials, to the accuracy of the forces and not of the energies.
        """
        space, step = self.space, self.space.difference(to, q)
        total = 0.0
        for node, weight in zip(_NODES, _WEIGHTS, strict=True):
            fraction = 0.5 * (1.0 + node)
            space.enter(space.displaced(q, fraction * step))
            total += 0.5 * weight * float(self.force() @ space.rates_along(step, fraction))
        return total

    def scale(self, balance: Balance) -> float:
        """Return the size of the forces at the present pose, N: what residuals are compared with.

        The largest of the weight of all bodies, the forces of springs between points, the loads of joints, applied
        wrenches, h, and what springs exert when displaced by a hundredth of the mechanism's length.
        """
        block, length = self.space.block, self.space.length
        self.force()  # the block then has the forces of springs and joints
        values = {name: np.abs(block[name]) for name in ("gravity", "body_mass", "load", "stiffness")}
        weight = float(np.linalg.norm(values["gravity"]) * values["body_mass"].sum())
        joints, n = self.space.model.mechanism.joints, self.space.model.numbering
        units = [unit for name in (*n.tree, *n.cut) for unit in joints[name].kind.motion_units]
        lever = np.where([unit == "rad" for unit in units], length, 1.0)
        loads = np.concatenate([values["load"] / lever, 0.01 * length * values["stiffness"] / lever**2])
        to_force = {"N": 1.0, "N.m": 1.0 / length, "N/m": 0.01 * length}
        on_bodies = [one for kind in FORCES.values() for one in kind.record if one.unit in to_force]
        others = [np.abs(block[one.field]) * to_force[str(one.unit)] for one in on_bodies] or [np.zeros(0)]
        sizes = (weight, *loads, *np.concatenate(others), *np.abs(balance.force / self.space.weights))
        return float(max(sizes, default=0.0))

    def lacking(self, q: FloatArray, held: Sequence[PoseFunction]) -> FloatArray | None:
        """Return the force along motions that what is held allows to first order only in this pose, as a motion (nu,).

        None: the pose is no dead point of the functions held. In a dead point no finite load of them works along it.
        """
        self.space.enter(q)
        rows, basis = rows_of(held, self.space), self.space.tangent().basis
        kept = self.space.tangent(rows * self._sizes(rows)).basis
        free = undriven(rows * self.row_scale(held, rows) @ basis)
        if free.shape[1] == kept.shape[1]:
            if free.shape[1] == self._regularly_free(q, held, basis):
                return None
            kept = kept[:, :0]
        force = free @ (free.T @ (basis.T @ self.force()))
        along = (self.space.weights[:, None] ** 2 * basis).T @ kept
        found: FloatArray = basis @ (force - along @ (along.T @ force))
        return found

    def _regularly_free(self, q: FloatArray, held: Sequence[PoseFunction], basis: FloatArray) -> int:
        """Return how many motions do not move the functions in neighbouring poses."""
        along = np.random.default_rng(0).standard_normal(basis.shape[1])
        step = basis @ along * (ASIDE * self.space.length / max(float(np.linalg.norm(along)), 1.0))
        self.space.closed(self.space.displaced(q, step))
        rows = rows_of(held, self.space)
        found = undriven(rows * self.row_scale(held, rows) @ self.space.tangent().basis)
        self.space.enter(q)
        return int(found.shape[1])

    def _multipliers(
        self, force: FloatArray, held: Sequence[PoseFunction], rows: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return lambda and mu of least norm that balance forces (nu,) best; mu only where constraints do not."""
        space, loads = self.space, np.zeros(len(rows))
        if len(rows):
            scale, basis = self.row_scale(held, rows), space.tangent().basis
            loads = least_loads(rows * scale @ basis, basis.T @ force)[0] * scale[:, 0]
        jacobian = space.jacobian()
        if not len(jacobian):
            return np.zeros(0), loads
        left = (force - rows.T @ loads) / space.weights
        found = np.linalg.lstsq((jacobian / space.weights).T, left, rcond=TASK_TOLERANCE)[0]
        return found.astype(np.float64), loads

    def row_scale(self, functions: Sequence[PoseFunction], rows: FloatArray) -> FloatArray:
        """Return (n, 1): factors by which rows (n, nu) of functions are of order 1 outside of dead points."""
        units = [unit for one in functions for unit in one.units]
        least = np.array([1.0 if unit == "m" else 1.0 / self.space.length for unit in units])
        factor: FloatArray = np.minimum(self._sizes(rows), 1.0 / least[:, None])
        return factor

    def _sizes(self, rows: FloatArray) -> FloatArray:
        """Return (n, 1): factors by which rows have norm 1 in the weighed speeds, so that the smallest counts."""
        size = np.linalg.norm(rows / self.space.weights, axis=1, keepdims=True)
        factor: FloatArray = 1.0 / np.where(size > 0.0, size, 1.0)
        return factor

    def _unknowns(self, multipliers: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return y and ydot of the core's equations with multipliers at the present pose, without accelerations."""
        none = np.zeros(2 * self._rows)
        y = np.concatenate([self.space.q, self.u, none])
        ydot = np.concatenate([np.zeros(self.space.nq + self.space.nu), multipliers, none[: self._rows]])
        return y, ydot

    def _matrices(self, q: FloatArray, multipliers: FloatArray, cj: float) -> tuple[FloatArray, FloatArray]:
        """Return D + cj M and d(h - J'lambda)/ds (nu, nu)."""
        space = self.space
        space.enter(q)
        self._elements.settle(self.u)
        y, ydot = self._unknowns(multipliers)
        whole = space.block.dae_jacobian(self._time, y, ydot, self._relaxation, cj)
        at, speeds = slice(space.nq, space.nq + space.nu), slice(space.nq, space.nq + space.nu)
        rates = -whole[: space.nq, speeds]  # qdot by u
        space.enter(q)
        damping, stiffness = whole[at, speeds], whole[at, : space.nq] @ rates
        if self._elements.names:
            stiffness = stiffness + self._elements.follow(self._by_elements(y, ydot)[at], rates)
        return damping, stiffness

    def _by_elements(self, y: FloatArray, ydot: FloatArray) -> FloatArray:
        """Return the derivatives of all residuals by the states of elements."""
        point, none = (self._time, y, ydot, self._relaxation), np.zeros(y.size)
        each = [self.space.block.dae_derivative(*point, (none, none), at) for at in self._elements.offsets.tolist()]
        self.space.block.put("u", self.u)
        return np.array(each).T


def rows_of(functions: Sequence[PoseFunction], space: ConfigurationSpace) -> FloatArray:
    """Return the rows (n, nu) of functions one after another at the present pose."""
    return np.vstack([np.zeros((0, space.nu)), *(function.rows() for function in functions)])
