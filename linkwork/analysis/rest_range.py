"""Between which values of a coordinate dry friction keeps a mechanism at rest.

With the loads f of dry friction, within their limits F, and of stops that are touched, mu >= 0, poses of rest obey

    T'h = T'B'f + T'H'mu,    |f| <= F

as in `trim`. From a pose of rest the coordinate is led as far as these equations, linear around each pose, allow within
a small radius (a linear programme), and brought back to them by the least step (another one). A zone of sliding
that is narrower than a step may be passed over.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from linkwork._util.checks import FloatArray
from linkwork._util.keywords import checks_keywords
from linkwork._util.one_thread import on_one_thread
from linkwork.analysis.equilibrium_problem import TOUCHED, EquilibriumProblem
from linkwork.analysis.force_balance import ForceBalance, rows_of
from linkwork.analysis.pose_functions import PoseFunction, friction_rates, pose_function
from linkwork.errors import EquilibriumError, MechanismError
from linkwork.mechanism import Mechanism
from linkwork.mechanism.friction import sticking

if TYPE_CHECKING:
    from linkwork.model.base import ModelBase
    from linkwork.model.state import State

RADIUS = 0.25  # of the length of the mechanism, or rad: the largest step
LEAST_STEP = 1e-12  # of the length of the mechanism: what rounding leaves
REACHED = 1e-10  # of the length of the mechanism: by how much a pose may miss the equations
EXACT = 1e-10  # of linear programmes; the solver takes no less
FULL_TURNS = 2  # of a rotation that is taken as unbounded
SIZES = 10.0  # of the mechanism: a displacement that is taken as unbounded
MOST_STEPS = 5000
MOST_RETURNS = 20  # steps back to the equations


@checks_keywords
@dataclass(frozen=True)
class RestRange:
    """Between which values of a coordinate a mechanism is at rest.

    Attributes
    ----------
    name, unit
        Of the coordinate; the unit is rad or m.
    low, high
        The least and the largest value; infinite where nothing bounds it.
    low_state, high_state
        The poses at both ends; None where nothing bounds the coordinate.
    """

    name: str
    unit: str
    low: float
    high: float
    low_state: State | None
    high_state: State | None

    def __repr__(self) -> str:
        return f"Range of rest of {self.name!r}: {self.low:.6g} to {self.high:.6g} {self.unit}"


@checks_keywords
@on_one_thread
def rest_range(
    mechanism: Mechanism | ModelBase,
    coordinate: str,
    state: State | None = None,
    *,
    q: Mapping[str, ArrayLike] | None = None,
    inputs: Mapping[str, ArrayLike] | None = None,
    time: float | None = None,
) -> RestRange:
    """Find between which values of a coordinate dry friction keeps a mechanism at rest.

    These are its values in the poses of rest that are connected with the start by poses of rest. Other coordinates take
    those values that allow most. Friction acts with any load up to its limit.

    Parameters
    ----------
    mechanism
        Or a compiled model; it has `Friction` that sticks, or a `Brake`.
    coordinate
        A function of the pose with one value, "crank", "U.q[2]", "hand.r[3]", "gap.length".
    state, q, inputs, time
        The start and what acts, as of `equilibrium`. Where friction does not hold the start, the pose of rest that
        `equilibrium` finds from it is the start.

    Returns
    -------
    RestRange
        A rotation is unbounded beyond 2 revolutions, a displacement beyond 10 times the size of the mechanism.

    Raises
    ------
    EquilibriumError
        If no pose of rest is found to begin at, or the search does not end.
    MechanismError
        If there is no friction that sticks, or the coordinate has several values.

    Examples
    --------
    >>> import linkwork as lw
    >>> mech = lw.Mechanism("pendulum")
    >>> mech.add_body("rod", mass=2.0, com=(0, 0, -0.5), inertia=lw.inertia.rod(2.0, 1.0, axis="z"))
    >>> mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
    >>> mech.add_force(lw.Friction("A", coulomb=0.981))
    >>> lw.rest_range(mech, "A")  # where m g l/2 sin(q) is at most 0.981 N m
    Range of rest of 'A': -0.100167 to 0.100167 rad
    """
    problem = EquilibriumProblem(mechanism, state, q, inputs, None, None, None, time)
    mech = problem.model.mechanism
    if not sticking(mech):
        raise MechanismError(f"{mech.name} has no dry friction that sticks: add a Friction or a Brake")
    for one in sticking(mech):
        if not one.is_limited:
            raise MechanismError(f"{one.label} holds any load, which no range of rest counts by: give it a capacity")
    function = pose_function(problem.space, coordinate)
    if function.size != 1:
        raise MechanismError(f"{coordinate!r} has {function.size} values: name one, as '{coordinate}[1]'")
    begin = problem.rest_within_friction()
    ends = [_Walk(problem, function, sign).run(begin) for sign in (-1.0, 1.0)]
    (low, low_state), (high, high_state) = ends
    return RestRange(coordinate, function.units[0], low, high, low_state, high_state)


class _Linear(NamedTuple):
    """The equations around a pose: force + by_pose z - by_load x = 0 of motions z [m] and loads x, and bounds."""

    force: FloatArray  # (dof,) without loads of friction and stops, by their size
    by_pose: FloatArray  # (dof, dof)
    by_load: FloatArray  # (dof, n): friction by its limits, then stops touched
    basis: FloatArray  # (nu, dof)
    slope: FloatArray  # (dof,) of the coordinate
    bounds: FloatArray  # (stops, dof): by which bounds come nearer
    distance: FloatArray  # (stops,)


class _Walk:
    """The way from a pose of rest to the end of the range, in one direction of the coordinate."""

    def __init__(self, problem: EquilibriumProblem, function: PoseFunction, sign: float) -> None:
        self.problem, self.function, self.sign = problem, function, sign
        self.space = problem.space
        self.frictions = sticking(problem.model.mechanism)
        functions = [friction_rates(self.space, one) for one in self.frictions]
        shares = [one.shares(problem.model.mechanism) for one in self.frictions]
        self.limits = [(-forward, backward) for forward, backward in shares]  # of the loads
        self.forces = ForceBalance(self.space, None, functions)
        self.loads = np.zeros(len(functions))  # of friction, by their limits

    def run(self, q: FloatArray) -> tuple[float, State | None]:
        """Return the value of the coordinate at the end of the range and the state there."""
        space, function, sign = self.space, self.function, self.sign
        begun = self._returned(q)
        if begun is None:
            raise EquilibriumError(f"{self.problem.model.mechanism.name}: no pose of rest was found to begin at")
        q = begun
        space.enter(q)
        at = first = float(function.value()[0])
        farthest = 2.0 * np.pi * FULL_TURNS if function.units[0] == "rad" else SIZES * space.size
        radius, largest = 0.1 * RADIUS * space.length, RADIUS * space.length
        for _ in range(MOST_STEPS):
            linear, loads = self._linear(q), self.loads
            step = self._farthest(linear, radius)
            gain = 0.0 if step is None else sign * float(linear.slope @ step)
            if step is None or gain <= LEAST_STEP * max(1.0, abs(at)) or radius <= LEAST_STEP * space.length:
                space.enter(q)
                return at, space.state()
            space.enter(q)
            before = function.value().copy()
            ahead = self._returned(space.displaced(q, linear.basis @ step))
            moved = -sign * float(function.difference(before)[0]) if ahead is not None else 0.0
            if ahead is None or not moved >= 0.1 * gain:
                radius, self.loads = 0.25 * min(radius, float(np.abs(step).max())), loads
                continue
            q, at, radius = ahead, at + sign * moved, min(2.0 * radius, largest)
            if abs(at - first) > farthest:
                return sign * math.inf, None
        raise EquilibriumError(f"the range of {function.names[0]!r} has no end after {MOST_STEPS} steps, at {at:.6g}")

    def _returned(self, q: FloatArray) -> FloatArray | None:
        """Return the pose of rest next to q, which is entered, with the loads there; None: there is none."""
        space, least = self.space, np.inf
        for _ in range(MOST_RETURNS):
            near = space.closed(q)
            if not near.found:
                return None
            q = near.q
            linear = self._linear(q)
            step = self._least(linear)
            if step is None:
                return None
            size = float(np.abs(step).max(initial=0.0)) / space.length
            if size <= LEAST_STEP or (size <= REACHED and size > 0.5 * least):
                space.enter(q)
                return q
            least = min(least, size)
            q = space.displaced(q, linear.basis @ step)
        return None

    def _linear(self, q: FloatArray) -> _Linear:
        space, forces, bounds = self.space, self.forces, self.problem.search.bounds
        space.enter(q)
        space.enter_speeds(np.zeros(space.nu))
        limits = np.array([self.problem.holding_limit(one) for one in self.frictions])
        space.enter(q)
        forces.motor_loads = limits * self.loads
        balance = forces.at(q)
        basis = balance.tangent.basis
        scale = max(forces.scale(balance), float(np.abs(forces.motor_loads).max()) / space.length)
        stiffness = basis.T @ forces.stiffness(q, balance) @ basis
        space.enter(q)
        by_friction = (rows_of(forces.motors, space) @ basis).T * limits
        toward = np.vstack([np.zeros((0, space.nu)), *(one.sign * one.coordinate.rows() for one in bounds)]) @ basis
        distance = np.array([one.distance() for one in bounds])
        by_stops = toward[distance <= TOUCHED * space.length].T * scale
        return _Linear(
            (balance.gradient + by_friction @ self.loads) / scale,
            stiffness / scale,
            np.hstack([by_friction, by_stops]) / scale,
            basis,
            (self.function.rows() @ basis)[0],
            toward,
            distance,
        )

    def _farthest(self, linear: _Linear, radius: float) -> FloatArray | None:
        """Return the step within a radius that leads the coordinate farthest."""
        dof = len(linear.slope)
        turning = np.abs(linear.basis[self.space.is_rotation]).max(initial=0.0)
        radius = min(radius, RADIUS / turning) if turning > 0.0 else radius
        return self._programme(linear, [(-radius, radius)] * dof, -self.sign * linear.slope, np.eye(dof))

    def _least(self, linear: _Linear) -> FloatArray | None:
        """Return the least step to the equations: the sum of the sizes of its parts."""
        dof = len(linear.slope)
        both = np.hstack([np.eye(dof), -np.eye(dof)])
        return self._programme(linear, [(0.0, self.space.length)] * (2 * dof), np.ones(2 * dof), both)

    def _programme(
        self, linear: _Linear, limits: list[tuple[float, float]], cost: FloatArray, parts: FloatArray
    ) -> FloatArray | None:
        """Return the step, parts @ z, of least cost; the loads of friction become those there."""
        from scipy.optimize import linprog

        n, frictions = linear.by_load.shape[1], len(self.frictions)
        stops = [(0.0, np.inf)] * (n - frictions)
        reach = np.hstack([-linear.bounds @ parts, np.zeros((len(linear.bounds), n))])
        found = linprog(
            np.concatenate([cost, np.zeros(n)]),
            A_ub=reach if len(reach) else None,
            b_ub=np.maximum(linear.distance, 0.0) if len(reach) else None,
            A_eq=np.hstack([linear.by_pose @ parts, -linear.by_load]),
            b_eq=-linear.force,
            bounds=[*limits, *self.limits, *stops],
            method="highs",
            options={"primal_feasibility_tolerance": EXACT, "dual_feasibility_tolerance": EXACT},
        )
        if found.status != 0:
            return None
        values: FloatArray = np.asarray(found.x)
        self.loads = values[parts.shape[1] : parts.shape[1] + frictions]
        step: FloatArray = parts @ values[: parts.shape[1]]
        return step
