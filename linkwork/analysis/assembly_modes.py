"""Assembly modes: the closed poses that a mechanism has with the same held coordinates.

From many scattered poses Newton's method closes the mechanism with the coordinates held; poses that differ only by full
revolutions are one. This finds the real solutions with large regions of attraction first. It does not prove that there
are no more: the counts over the number of starts show whether new ones still come.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import ArrayLike

from linkwork._util.checks import FloatArray, finite, number, whole_number
from linkwork._util.keywords import checks_keywords
from linkwork._util.names import number_of, quoted
from linkwork._util.one_thread import on_one_thread
from linkwork._util.progress import Progress, ProgressOption
from linkwork.analysis.configuration_space import ROUNDINGS, ConfigurationSpace
from linkwork.analysis.pose_functions import PoseFunction, pose_function
from linkwork.errors import AssemblyError, MechanismError
from linkwork.mechanism import Mechanism
from linkwork.model.compile import model_of
from linkwork.results.base import TableResult

if TYPE_CHECKING:
    from linkwork.model.base import ModelBase
    from linkwork.model.state import State

CLOSED = 1e-12  # m for a mechanism of 1 m: violation of an assembly mode
DIFFERENT = 1e-6  # of the mechanism's length: least distance of two modes
SPREAD = 1.0  # of displacements about those of the state, relative to the size of the mechanism
MOST_STEPS = 60
NEAR = 0.01  # of the mechanism's length: a step that shows whether a pose can move
DOUBTFUL = 1e-4  # conditioning of poses that are not reached to rounding
REGULAR = 1e-8  # smallest singular value over the largest; smaller ones belong to poses that can move


@checks_keywords
class AssemblyModes(TableResult, Sequence["State"]):
    """Closed poses with the same held coordinates, as states at rest, sorted by their coordinates.

    Attributes
    ----------
    hits
        How many starts led to each mode.
    growth
        (starts, modes found until then), at about every doubling of the starts.
    conditioning
        Of each mode: the smallest singular value over the largest of the constraints with the coordinates held; two
        modes merge where it is 0.
    residuals
        Of each mode: the largest constraint violation, m.
    """

    def __init__(
        self,
        states: Sequence[State],
        hits: Sequence[int],
        growth: Sequence[tuple[int, int]],
        conditioning: FloatArray,
        residuals: FloatArray,
    ) -> None:
        self._states, self.hits, self.growth = list(states), list(hits), list(growth)
        self.conditioning, self.residuals = conditioning, residuals

    def __len__(self) -> int:
        return len(self._states)

    @overload
    def __getitem__(self, index: int) -> State: ...
    @overload
    def __getitem__(self, index: slice) -> list[State]: ...
    def __getitem__(self, index: int | slice) -> State | list[State]:
        return self._states[index]

    def __iter__(self) -> Iterator[State]:
        return iter(self._states)

    def _table(self) -> dict[str, Any]:
        names = self._states[0].model.q_names if self._states else []
        columns: dict[str, Any] = {name: [float(state.q[k]) for state in self._states] for k, name in enumerate(names)}
        return columns | {"hits": self.hits, "conditioning": self.conditioning}

    def __repr__(self) -> str:
        count = len(self)
        growth = ", ".join(f"{modes} after {starts}" for starts, modes in self.growth)
        lines = [f"AssemblyModes({count} mode{'s' * (count != 1)}; found by starts: {growth})"]
        for k, (state, hits) in enumerate(zip(self, self.hits, strict=True)):
            q = ", ".join(f"{name} = {value:.6g}" for name, value in zip(state.model.q_names, state.q, strict=True))
            lines.append(f"  {k}: {q}; {hits} hits")
        return "\n".join(lines)


@checks_keywords
@on_one_thread
def assembly_modes(
    mechanism: Mechanism | ModelBase,
    q: Mapping[str, ArrayLike],
    state: State | None = None,
    *,
    starts: int = 400,
    seed: int = 0,
    progress: ProgressOption = None,
) -> AssemblyModes:
    """Return the closed poses that a mechanism has with some coordinates held.

    Parameters
    ----------
    mechanism
        Or a compiled model.
    q
        Values of the held functions of the pose by name, as many as degrees of freedom: ``{"crank": 0.3}``; joints,
        actuator lengths, measures or points as in `lw.kinematics`. Of a structure without degrees of freedom: ``{}``.
    state
        Its discrete state, time and motions hold, and displacements are scattered about its own; by default the
        assembled start.
    starts
        Number of scattered starts.
    seed
        Of these starts; the same seed gives the same modes.
    progress
        True, False, None (only on a terminal) or a function.

    Returns
    -------
    AssemblyModes
        The states that were found, each closed to 1e-12 of the mechanism's length; there may be more.

    Raises
    ------
    MechanismError
        Where the held coordinates leave a degree of freedom.
    AssemblyError
        If no start leads to a closed pose.

    Examples
    --------
    >>> import linkwork as lw
    >>> mech = lw.Mechanism("four_bar")
    >>> for name, length in (("crank", 0.4), ("coupler", 1.0), ("rocker", 0.8)):
    ...     mech.add_body(name, mass=1.0, com=(length / 2, 0, 0), inertia=lw.inertia.rod(1.0, length))
    >>> hinge, foot, tip = lw.Revolute((0, 0, 1)), lw.Frame((0.9, 0, 0)), lw.Frame((0.8, 0, 0))
    >>> mech.add_joint("A", hinge, "ground", "crank", at=(0, 0, 0))
    >>> mech.add_joint("B", hinge, "crank", "coupler", parent_frame=lw.Frame((0.4, 0, 0)))
    >>> mech.add_joint("C", hinge, "coupler", "rocker", parent_frame=lw.Frame((1.0, 0, 0)))
    >>> mech.add_joint("D", hinge, "ground", "rocker", parent_frame=foot, child_frame=tip)
    >>> modes = lw.assembly_modes(mech, {"A": 1.0}, starts=20)
    >>> [round(float(mode["B.q"]), 6) for mode in modes]
    [-2.362906, -0.551831]
    """
    model = model_of(mechanism)
    starts, seed = whole_number(starts, "starts", 1), whole_number(seed, "seed")
    search = _Search(ConfigurationSpace(model, state), q)
    with Progress(progress) as shown:
        return search.run(starts, np.random.default_rng(seed), shown)


class _Search:
    """A search for assembly modes: the held functions, and the modes found."""

    def __init__(self, space: ConfigurationSpace, q: Mapping[str, ArrayLike]) -> None:
        if not isinstance(q, Mapping):
            raise MechanismError(f"q must be a dictionary such as {{'crank': 0.3}}, not {q!r}")
        self.space = space
        self.held: list[tuple[PoseFunction, FloatArray, FloatArray]] = []
        self.names: list[str] = []
        for name, value in q.items():
            function = pose_function(space, name)
            count = len(function.value())
            given = finite(value, (count,), name) if count > 1 else np.array([number(value, name)])
            metres = np.array([space.length if unit == "rad" else 1.0 for unit in function.units])
            self.held.append((function, given, metres))
            if twice := [one for one in function.names if one in self.names]:
                raise MechanismError(f"q gives {twice[0]!r} twice: give it once")
            self.names += function.names
        self.origin = space.q
        self.found: list[FloatArray] = []
        self.hits: list[int] = []
        self.free = 0  # most degrees of freedom of poses that can still move
        self.singular = 0  # starts that led to singular poses
        self.angles = self._angles()

    def _angles(self) -> list[int]:
        """Return the coordinates of the tree that are angles, each known but for full revolutions."""
        found = []
        for name in self.space.model.numbering.tree:
            kind, at = self.space.model.mechanism.joints[name].kind, self.space.model.numbering.q[name]
            if kind.quaternion is None:
                found += [at.start + k for k, unit in enumerate(kind.coordinate_units) if unit == "rad"]
        return found

    def task(self) -> tuple[FloatArray, FloatArray]:
        """Return what is left to reach the held values, m, and its rows."""
        space = self.space
        left = [np.zeros(0)] + [-metres * one.difference(value) for one, value, metres in self.held]
        rows = [np.zeros((0, space.nu))] + [metres[:, None] * one.rows() for one, _, metres in self.held]
        return np.concatenate(left), np.vstack(rows)

    def run(self, starts: int, rng: np.random.Generator, shown: Progress) -> AssemblyModes:
        """Return the modes found from a number of starts; the first is the state itself."""
        growth = []
        for k in range(starts):
            self._try(self.origin if k == 0 else self._scattered(rng))
            if (k + 1) & k == 0 or k + 1 == starts:  # powers of two
                growth.append((k + 1, len(self.found)))
            if shown.due:
                shown.count(k + 1, starts, f"{len(self.found)} assembly modes")
        if not self.found:
            self._refuse(starts)
        return self._modes(growth)

    def _refuse(self, starts: int) -> None:
        """Raise the error that tells why there is no mode."""
        held = f"with {quoted(self.names)} held" if self.names else "while q holds nothing"
        if self.free:
            raise MechanismError(
                f"the mechanism can still move {held} ({number_of(self.free, 'degree')} of freedom): hold more, as "
                "many coordinates as it has degrees of freedom, in q"
            )
        if self.singular:
            raise AssemblyError(
                f"only singular poses were found {held}, such as dead points and change points, in which modes merge "
                "and which are known to half the digits: hold slightly other values"
            )
        self.space.enter(self.origin)
        dof = self.space.tangent().dof
        if len(self.names) > dof:
            raise AssemblyError(
                f"no closed pose was found from {number_of(starts, 'start')}: q holds "
                f"{number_of(len(self.names), 'value')}, and the mechanism has {number_of(dof, 'degree')} of freedom "
                "in its start, so that they contradict each other unless they fit to 1e-12: hold fewer"
            )
        remedy = "the held values may be out of reach: try others" if self.names else "its loops may not close"
        raise AssemblyError(f"no closed pose was found from {number_of(starts, 'start')}: {remedy}, or more starts")

    def _scattered(self, rng: np.random.Generator) -> FloatArray:
        """Return a random pose: any angle, any orientation, displacements within the size of the mechanism."""
        space = self.space
        q, n = self.origin.copy(), space.model.numbering
        for name in n.tree:
            kind, at = space.model.mechanism.joints[name].kind, n.q[name]
            for k, unit in enumerate(kind.coordinate_units):
                spread = np.pi if unit == "rad" else SPREAD * space.size
                q[at.start + k] = rng.uniform(-spread, spread) + (0.0 if unit == "rad" else q[at.start + k])
            if kind.quaternion is not None:
                turn = slice(at.start + kind.quaternion.start, at.start + kind.quaternion.stop)
                q[turn] = _unit(rng.standard_normal(4))
        return q

    def _try(self, q: FloatArray) -> None:
        """Close the mechanism from a pose, and keep a pose that is new."""
        space = self.space
        for function, values, _ in self.held:
            q = function.entered(values, q)
        near = space.closed(q, self.task, MOST_STEPS)
        pose, violation = self._polished(near.q)
        if not near.found or not violation <= self._rounding(CLOSED, pose):
            self.singular += near.found and self._conditioning() < DOUBTFUL
            return
        if self._conditioning() < REGULAR:
            self._note_movable()
            return
        pose = self._wrapped(pose)
        for k, known in enumerate(self.found):
            if space.distance(pose, known) < DIFFERENT * space.length:
                self.hits[k] += 1
                return
        self.found.append(pose)
        self.hits.append(1)

    def _polished(self, q: FloatArray) -> tuple[FloatArray, float]:
        """Return a pose after one more step, if that helps, and its violation, m; the block is there."""
        found = []
        for _ in range(2):
            self.space.enter(q)
            left, rows = self.task()
            left, rows = np.concatenate([self.space.violation(), left]), np.vstack([self.space.jacobian(), rows])
            found.append((float(np.abs(left).max(initial=0.0)), q))
            q = self.space.displaced(q, self.space.least_step(rows, -left))
        violation, best = min(found, key=lambda one: one[0])
        self.space.enter(best)
        return best, violation

    def _rounding(self, relative: float, q: FloatArray) -> float:
        """Return the violation, m, that counts as none, relative to the length or as coordinates have digits."""
        return max(relative * max(self.space.length, 1e-3), ROUNDINGS * self.space.rounding(q))

    def _note_movable(self) -> None:
        """Take note of whether the present pose can move, or is singular: then it cannot leave it by a finite step."""
        space, q = self.space, self.space.q
        basis = space.tangent(self.task()[1], 1e-6).basis
        along = basis @ np.random.default_rng(0).standard_normal(basis.shape[1])
        size = float(np.linalg.norm(space.weights * along))
        near = space.closed(space.displaced(q, along * (NEAR * space.length / (size or 1.0))), self.task)
        if near.found and space.distance(near.q, q) > 0.5 * NEAR * space.length:
            self.free = max(self.free, space.tangent(self.task()[1], 1e-6).dof)
        else:
            self.singular += 1

    def _conditioning(self) -> float:
        if not self.space.nu:
            return 1.0  # nothing can move
        values = self.space.tangent(self.task()[1]).singular_values
        return float(values[-1] / values[0]) if len(values) and values[0] else 0.0

    def _wrapped(self, q: FloatArray) -> FloatArray:
        """Return the pose with angles from -pi to pi, where it stays closed (couplings count full revolutions)."""
        pose = q.copy()
        for k in self.angles:
            angle = pose[k] - 2 * np.pi * np.round(pose[k] / (2 * np.pi))
            if angle == pose[k]:
                continue
            before, pose[k] = pose[k], angle
            self.space.enter(pose)
            left = np.concatenate([self.space.violation(), self.task()[0]])
            if np.abs(left).max(initial=0.0) > self._rounding(10 * CLOSED, q):
                pose[k] = before
        return pose

    def _modes(self, growth: list[tuple[int, int]]) -> AssemblyModes:
        order = sorted(range(len(self.found)), key=lambda k: tuple(np.round(self.found[k], 6) + 0.0))
        states, conditioning, residuals = [], [], []
        for k in order:
            self.space.enter(self.found[k])
            conditioning.append(self._conditioning())
            residuals.append(float(np.abs(self.space.violation()).max(initial=0.0)))
            self.space.block.count_revolutions(0.0)
            states.append(self.space.state())
        hits = [self.hits[k] for k in order]
        return AssemblyModes(states, hits, growth, np.array(conditioning), np.array(residuals))


def _unit(quaternion: FloatArray) -> FloatArray:
    found: FloatArray = quaternion / np.linalg.norm(quaternion)
    return found
