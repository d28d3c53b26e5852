"""Kinematic analysis: one coordinate is swept through its range, and the pose follows on its branch.

With the swept coordinate p at the constant speed u, and other coordinates y held, all speeds and accelerations follow
from the constraints alone, without masses and loads:

    [J; dy/ds; dp/ds] u = [0; 0; u_p],      [J; dy/ds; dp/ds] udot = [c; -y_b; -p_b]

J udot = c are the constraints in accelerations, and y_b, p_b the second rates at zero accelerations. The poses come
from `continuation`, which proves each step, and those where that is impossible from `special_poses`. The core makes the
rows within a step where p and y are coordinates of tree joints; near dead points and change points, and of other
functions, each row is the root of p along the step.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import qr

from linkwork._util.checks import FloatArray, names_of, number, whole_number
from linkwork._util.keywords import checks_keywords
from linkwork._util.names import quoted
from linkwork._util.one_thread import on_one_thread
from linkwork._util.progress import Progress, ProgressOption
from linkwork.analysis.conditioning import conditioning
from linkwork.analysis.configuration_space import REDUNDANT, ConfigurationSpace
from linkwork.analysis.continuation import (
    CLOSED,
    FARTHEST,
    STEEP,
    Curve,
    Held,
    LostBranchError,
    Point,
    Segment,
    Step,
    next_step,
)
from linkwork.analysis.kinematic_result import KinematicResult, KinematicRows, SpecialPose
from linkwork.analysis.pose_functions import PoseFunction, joint_rates, pose_function
from linkwork.analysis.special_poses import Piece, Trace, Tracked
from linkwork.errors import AssemblyError, MechanismError, SingularityError, SolverError
from linkwork.mechanism import Mechanism
from linkwork.model.compile import model_of
from linkwork.model.state import JointArray

if TYPE_CHECKING:
    from linkwork.model.base import ModelBase
    from linkwork.model.state import State

STILL = 1e-9  # slope of a coordinate, in metres by metre, that counts as none
PROBE = 0.05  # of the mechanism's length: a step that shows whether a coordinate rests or only turns back
SAME = 1e-13  # relative difference of values of the swept coordinate that are the same
FAR = 10.0, 300.0  # displacements of joints, in sizes of the mechanism, where a lost branch, or any, goes to infinity
FAR_STILL = 1e-4  # slope of the swept coordinate there, in metres by metre
OUTSIDE = 1e-9  # m or rad by which the start may violate a stop
DEAD = 1e-13  # conditioning below which speeds do not exist


@checks_keywords
@on_one_thread
def kinematics(
    mechanism: Mechanism | ModelBase,
    coordinate: str,
    q_start: float,
    q_end: float,
    state: State | None = None,
    *,
    rows: int = 101,
    columns: str | Sequence[str] = (),
    u: float = 1.0,
    hold: str | Sequence[str] = (),
    through: bool = False,
    max_steps: int = 100_000,
    progress: ProgressOption = None,
) -> KinematicResult:
    """Sweep one coordinate through a range and return the motion of all others.

    The pose is moved along its branch: each step is proven to stay on it. The sweep ends before `q_end` where the
    coordinate turns back (dead point), at a bound of a `Stop` (limit), and at a change point (branch point) that has no
    unique smooth continuation; `result.ended` and `result.special_poses` name it.

    Parameters
    ----------
    mechanism
        Or a compiled model.
    coordinate
        A function of the pose with one value: "A.q" of any joint, "U.q[2]", "motor.length" of an actuator, "gap.length"
        or "opening.angle" of a measure, "hand.r[3]" of a body or point.
    q_start, q_end
        Its range, rad or m, in either direction. An angle counts full revolutions.
    state
        Closed pose on the branch, from which `q_start` is reached; by default the assembled start.
    rows
        Number of output poses, at equal distances from `q_start` to `q_end`.
    columns
        Further functions of the pose to record, such as "tip.r" or "opening.angle".
    u
        Speed of the coordinate, which is constant, rad/s or m/s.
    hold
        Functions of the pose that keep their values, so that one degree of freedom remains.
    through
        Continue around dead points, until the coordinate leaves the range at either end.
    max_steps
        Largest number of steps.
    progress
        True, False, None (only on a terminal) or a function.

    Raises
    ------
    AssemblyError
        If the state is not closed.
    SolverError
        If `q_start` is not reached, or no step can be proven to stay on the branch; its `result` has the rows so far.

    Examples
    --------
    >>> import linkwork as lw
    >>> mech = lw.Mechanism("slider_crank")
    >>> mech.add_body("crank", mass=1.0, com=(0.1, 0, 0), inertia=lw.inertia.rod(1.0, 0.2))
    >>> mech.add_body("rod", mass=1.0, com=(0.3, 0, 0), inertia=lw.inertia.rod(1.0, 0.6))
    >>> mech.add_body("piston", mass=1.0, com=(0, 0, 0), inertia=lw.inertia.sphere(1.0, 0.05))
    >>> hinge = lw.Revolute((0, 0, 1))
    >>> mech.add_joint("A", hinge, "ground", "crank", at=(0, 0, 0))
    >>> mech.add_joint("B", hinge, "crank", "rod", parent_frame=lw.Frame((0.2, 0, 0)))
    >>> mech.add_joint("C", hinge, "rod", "piston", parent_frame=lw.Frame((0.6, 0, 0)))
    >>> mech.add_joint("S", lw.Prismatic((1, 0, 0)), "ground", "piston", parent_frame=lw.Frame())
    >>> mech.start(q={"A": 0.5})
    >>> result = lw.kinematics(mech, "A.q", 0.0, 3.0, rows=4)
    >>> result.ended
    'end of the range'
    >>> result["S.q"].round(6)
    array([0.8     , 0.683975, 0.488546, 0.401337])
    """
    model = model_of(mechanism)
    values = _output_values(q_start, q_end, rows)
    max_steps = whole_number(max_steps, "max_steps", 1)
    if not isinstance(through, bool):
        raise MechanismError(f"through must be True or False, not {through!r}")
    sweep = _Sweep(model, state, coordinate, names_of(hold, "hold"), names_of(columns, "columns"), number(u, "u"))
    return sweep.run(values, through, max_steps, progress)


def _output_values(q_start: float, q_end: float, rows: int) -> FloatArray:
    ends = number(q_start, "q_start"), number(q_end, "q_end")
    if ends[0] == ends[1]:
        raise MechanismError(f"the range from q_start to q_end has no length: both are {ends[0]:g}")
    return np.linspace(*ends, whole_number(rows, "rows", 2))


def _refuse_orientations(names: Sequence[str]) -> None:
    """Refuse "hand.Q", whose rates are an angular velocity and not derivatives of its values."""
    for name in names:
        if name.partition("[")[0].endswith(".Q"):
            raise MechanismError(
                f"{name!r} is an orientation, whose rates are no derivatives: take a direction, as 'tip.e', "
                "or the angle of a measure"
            )


class _Sweep:
    """A sweep: its curve, the swept coordinate and the functions that are recorded."""

    def __init__(
        self, model: ModelBase, state: State | None, coordinate: str, hold: list[str], columns: list[str], u: float
    ) -> None:
        if u == 0.0:
            raise MechanismError("u, the speed of the swept coordinate, must not be zero")
        self.model, self.u = model, u
        self.space = ConfigurationSpace(model, state)
        joints = model.mechanism.joints
        function = pose_function(self.space, coordinate)
        _refuse_orientations([coordinate, *columns, *(name for name in hold if "[" in name)])
        if function.size != 1:
            raise MechanismError(
                f"{coordinate!r} has {function.size} values: sweep one of them, such as {function.names[0]!r}"
            )
        if columns or hold:
            self._check_distinct(function, hold)
        self.function, self.name = function, function.names[0]
        held = [pose_function(self.space, name) for name in hold]
        self.recorded = [pose_function(self.space, name) for name in columns]
        self.joints = {name: joint_rates(self.space, name) for name, joint in joints.items() if joint.kind.nu}
        self.curve = Curve(self.space, [Held(one, one.value()) for one in held])
        self.metres = float(self.curve.metres(function)[0])
        self.cut = [
            (span, joint_rates(self.space, name))
            for name, span in ((name, model.numbering.q[name]) for name in model.numbering.cut)
            if model.mechanism.joints[name].kind.quaternion is None and span.stop > span.start
        ]
        self.cut_values = np.array(self.space.start.q.cut)
        self.state = replace(self.space.start, step_control=None, changed_start_values=())
        self.trace = Trace(self.curve, Tracked(self.curve, function), [one for _, one in self.cut])
        self.speed = self._speed_in_core()

    def _speed_in_core(self) -> int | None:
        """Return the speed that is the rate of the swept coordinate, where the core makes the rows; None elsewhere."""
        return None if self.model.numbering.n_motion else self.curve.speed_of(self.function)

    @staticmethod
    def _check_distinct(function: PoseFunction, hold: list[str]) -> None:
        if function.names[0] in hold or function.names[0].removesuffix(".q") in hold:
            raise MechanismError(f"{function.names[0]!r} is swept and cannot be held: leave it out of hold")

    # ---- the start ----

    def first_point(self) -> Point:
        """Return the start as a point of the curve."""
        space, scale = self.space, self.curve.scale
        violation = float(np.abs(space.violation()).max(initial=0.0))
        if violation > max(1e4 * CLOSED * scale, REDUNDANT):
            raise AssemblyError(
                f"the state to begin at is open by {violation:.3g} m: close it first by model.assemble(q=...)"
            )
        self._check_limits()
        self._check_degrees_of_freedom()
        point = self.curve.point(space.q)
        if point is None:
            raise AssemblyError("the state to begin at is not closed: close it first by model.assemble(q=...)")
        self._check_movement(point)
        return point

    def _check_limits(self) -> None:
        """Refuse a start outside the bounds of stops."""
        for limit in self.trace.limits:
            if limit.inside() < -OUTSIDE:
                name, value = limit.coordinate.name, limit.coordinate.value()
                raise AssemblyError(
                    f"the state to begin at violates {limit.name!r}: {name} is {value:.6g} and its bound "
                    f"{limit.bound:.6g}; begin within, by state=model.assemble(q=...)"
                )

    def _check_degrees_of_freedom(self) -> None:
        """Refuse mechanisms without a degree of freedom and with more than one, and singular starts."""
        held = [one.function.rows() for one in self.curve.held]
        tangent = self.space.tangent(np.vstack(held) if held else None)
        if tangent.dof == 0:
            if self.space.tangent().dof:
                others = self._held_by()
                why = "hold leaves it none: hold fewer coordinates" + (f"; {others}" if others else "")
            else:
                why = self._held_by() or "its constraints leave it none"
            raise MechanismError(f"{self.name!r} does not move: the mechanism has no degree of freedom; {why}")
        if tangent.dof == 1:
            return
        if self._is_singular(tangent.basis):
            raise MechanismError(
                "the start is a singular pose, where branches of the motion cross: begin in another one, by "
                f"state=model.assemble(q=...) or Mechanism.start; {self.name!r} may pass through it"
            )
        swept = self.metres * self.function.rows()[0] @ tangent.basis
        if np.abs(swept).max() < STILL:
            raise MechanismError(f"{self.name!r} does not move: {self._why_still()}")
        free = self._free_coordinates(tangent.basis, swept, tangent.dof - 1)
        raise MechanismError(
            f"{tangent.dof} degrees of freedom remain, and one is swept: hold {tangent.dof - 1} more, "
            + (f"such as hold=[{quoted(free)}]" if free else "such as points and orientations of bodies")
        )

    def _is_singular(self, basis: FloatArray) -> bool:
        """Whether a pose nearby has fewer degrees of freedom."""
        origin, rng = self.space.q, np.random.default_rng(0)
        step = basis @ rng.standard_normal(basis.shape[1])
        step *= 0.01 * self.curve.scale / np.linalg.norm(self.space.weights * step)
        near = self.space.closed(self.space.displaced(origin, step), self._held_task)
        held = [one.function.rows() for one in self.curve.held]
        count = self.space.tangent(np.vstack(held) if held else None, 1e-6).dof
        self.space.enter(origin)
        return near.found and count < basis.shape[1]

    def _held_task(self) -> tuple[FloatArray, FloatArray]:
        left = [np.zeros(0)] + [-self.curve.metres(f) * f.difference(values) for f, values in self.curve.held]
        rows = [np.zeros((0, self.space.nu))] + [self.curve.metres(f)[:, None] * f.rows() for f, _ in self.curve.held]
        return np.concatenate(left), np.vstack(rows)

    def _free_coordinates(self, basis: FloatArray, swept: FloatArray, count: int) -> list[str]:
        """Return names of independent coordinates besides the swept one."""
        names: list[str] = []
        rows = []
        for joint in self.model.mechanism.joints.values():
            if joint.kind.nu and joint.kind.quaternion is None:
                function = joint_rates(self.space, joint.name)
                names += function.names
                rows.append(self.curve.metres(function)[:, None] * function.rows() @ basis)
        if not names:
            return []
        along = np.vstack(rows) - np.outer(np.vstack(rows) @ swept, swept) / (swept @ swept)
        _, values, order = qr(along.T, mode="economic", pivoting=True)
        rank = int(np.sum(np.abs(np.diag(values)) > 1e-9))
        return [names[k] for k in order[: min(rank, count)]]

    def _check_movement(self, point: Point) -> None:
        """Refuse a swept coordinate that rests on the whole curve, and a start at a dead point."""
        self.space.enter(point.q)
        if abs(self.trace.swept.slope(point)) * self.metres > STILL:
            return
        before = self.trace.value(point)
        ahead = next_step(self.curve, point, PROBE * self.curve.scale).last
        if abs(self.trace.value(ahead) - before) * self.metres < STILL * self.curve.scale:
            raise MechanismError(f"{self.name!r} does not move: {self._why_still()}")
        raise MechanismError(
            f"the start is a dead point of {self.name!r}, where it turns back at {before:.9g}: begin on the branch "
            "to sweep, by state=model.assemble(q=...)"
        )

    def _why_still(self) -> str:
        mech, joint = self.model.mechanism, self.name.split(".")[0].split("[")[0]
        for name in self.model.numbering.motions:
            if joint in {term.joint for term in mech.couplings[name].terms.values()}:
                return f"the motion {name!r} prescribes it"
        others = self._held_by()
        others = f"; {others}" if others else ""
        return f"the constraints and the held coordinates keep it, while others move{others}"

    def _held_by(self) -> str:
        """Return which prescribed motions, locks and pins take degrees of freedom in the state, and what to do."""
        model, parts = self.model, []
        if motions := list(model.numbering.motions):
            parts.append(f"{quoted(motions)} prescribe{'s' * (len(motions) == 1)} motions, which rest in a sweep")
        start = self.space.start
        active = [name for name in model.mechanism.transitions if _is_active(model, start, name)]
        if active:
            parts.append(f"{quoted(active)} {'is' if len(active) == 1 else 'are'} in effect in the state")
        return " and ".join(parts) + (": remove these, or begin in another state" if parts else "")

    # ---- the sweep ----

    def run(self, values: FloatArray, through: bool, max_steps: int, progress: ProgressOption) -> KinematicResult:
        """Return the rows at values of the swept coordinate."""
        functions = {name: unit for one in self.recorded for name, unit in zip(one.names, one.units, strict=True)}
        find = partial(conditioning, self.curve, self.function)
        self.result = KinematicResult(self.model, self.name, self.function.units[0], self.u, functions, find)
        self.left = max_steps
        try:
            point = self.first_point()
            with Progress(progress) as shown:
                point = self._reach(point, float(values[0]))
                self._record(point, float(values[0]))
                self._follow(point, values, through, shown)
        except LostBranchError as lost:
            raise self._refused(lost.point, self._why_lost(lost.point)) from lost
        return self.result

    def _reach(self, point: Point, value: float) -> Point:
        """Return the point with the first value, on the branch of the start."""
        before = self.trace.value(point)
        if _same(before, value):
            return point
        ended = ""
        for piece in self._pieces(self._towards(point, value)):
            if _contains(piece, value):
                return self._at(piece, value)
            if piece.mark and piece.ends:
                self._mark(piece)
                ended = f": {self.result.special_poses[-1]}"
        self.result.ended = "start not reached"
        raise SolverError(
            f"{self.name!r} does not reach {value:.9g} from the start at {before:.9g}{ended}: sweep within its range, "
            "or begin on another branch by state=model.assemble(q=...)",
            self.result,
        )

    def _follow(self, point: Point, values: FloatArray, through: bool, shown: Progress) -> None:
        """Record rows and special poses from the first value on, until the sweep ends."""
        self.trace.through = through
        latest = float(values[0])
        for count, piece in enumerate(self._pieces(self._towards(point, float(values[-1])))):
            new = _inside(piece, values)
            new = new[1:] if new.size and _same(float(new[0]), latest) else new
            if new.size:
                self._record_all(piece, new)
                latest = float(new[-1])
                if shown.due:
                    shown.count(len(self.result), len(values), f"{self.name} = {latest:.6g}")
            if _contains(piece, float(values[-1])) or (count and _contains(piece, float(values[0]))):
                self.result.ended = "end of the range"
                return
            if piece.mark:
                self._mark(piece)
                if piece.ends:
                    self.result.ended = piece.mark.kind
                    return

    def _pieces(self, point: Point) -> Iterator[Piece]:
        """Yield the pieces from a point on, at most `max_steps` in all."""
        for piece in self.trace.pieces(point):
            self.left -= 1
            if self.left < 0:
                raise self._refused(piece.segment.first, "max_steps is reached; give more")
            yield piece
            self._track(piece.segment.last)
            if self._grows(piece):
                raise LostBranchError(piece.segment.last)

    def _why_lost(self, point: Point) -> str:
        if self._distance(point) > FAR[0]:
            return "displacements grow without bound there"
        return (
            "no step can be proven to stay on the branch: other branches are as near as rounding; "
            "sweep up to there, or change a dimension slightly"
        )

    def _distance(self, point: Point) -> float:
        """Return the largest displacement of a joint since the start, in sizes of the mechanism."""
        moved = np.abs(self.space.difference(point.q, self.space.start.q))[~self.space.is_rotation]
        return float(moved.max(initial=0.0)) / self.space.size

    def _grows(self, piece: Piece) -> bool:
        """Whether displacements run off while the swept coordinate hardly moves."""
        is_still = abs(piece.last - piece.first) * self.metres < FAR_STILL * (piece.upper - piece.lower)
        return is_still and self._distance(piece.segment.last) > FAR[1]

    def _refused(self, point: Point, why: str) -> SolverError:
        self.result.ended = "refused"
        at = self.trace.value(point)
        return SolverError(f"the sweep ended at {self.name} = {at:.9g}: {why}", self.result)

    def _towards(self, point: Point, value: float) -> Point:
        """Return a point whose tangent moves the swept coordinate towards a value."""
        change = value - self.trace.value(point)
        slope = self.trace.slope(point)
        return point.along(point.tangent * np.sign(slope * change))

    def _at(self, piece: Piece, value: float) -> Point:
        point = self.trace.where(piece, value)
        for one in self.trace.tracked:
            one.track()
        self._track(point)
        return point

    def _track(self, point: Point) -> None:
        """Count revolutions of the joints that close loops."""
        self.space.enter(point.q)
        for span, function in self.cut:
            at = slice(span.start - self.model.numbering.nq, span.stop - self.model.numbering.nq)
            self.cut_values[at] -= function.difference(self.cut_values[at])

    # ---- rows ----

    def _record(self, point: Point, value: float) -> None:
        self.result.append(*self._row(point, value))

    def _record_all(self, piece: Piece, left: FloatArray) -> None:
        """Record rows at values that a piece passes, in their order."""
        start = piece.segment.first
        in_core = self.speed is not None and isinstance(piece.segment, Step) and piece.lower == piece.segment.lower
        while left.size:
            done = self._record_in_core(piece.segment, start, left) if in_core else 0
            left = left[done:]
            if left.size:
                value = float(left[0])
                point = self._at(piece, value)
                self._record(point, value)
                start, left = point.along(piece.segment.first.tangent), left[1:]

    def _record_in_core(self, step: Segment, start: Point, values: FloatArray) -> int:
        """Record rows from a point of a step on, as far as the core makes them; return their number."""
        core = self.curve.core
        assert core is not None
        assert self.speed is not None
        least = STEEP * self.space.weights[self.speed] / self.metres
        first = start.q, start.tangent
        rows = core.rows(first, self.speed, self.u, values, 2 * FARTHEST * step.upper, least, self.cut_values)
        count = len(rows.q)
        if not count:
            return 0
        accelerations = np.hstack([rows.udot, rows.a_cut])
        functions = np.empty((count, sum(one.size for one in self.recorded), 3))
        for k in range(count if self.recorded else 0):
            self.space.enter(rows.q[k])
            self.space.enter_speeds(rows.u[k])
            functions[k] = self._of_functions(rows.u[k], rows.udot[k])
        both = np.hstack([rows.q, rows.q_cut]), np.hstack([rows.u, rows.u_cut])
        found = KinematicRows(values[:count], *both, accelerations, functions, np.full(count, np.nan))
        self.result.append(found, self.state)
        return count

    def _mark(self, piece: Piece) -> None:
        assert piece.mark is not None
        point = piece.segment.at(piece.mark.parameter)
        self._track(point)
        state = self._state(np.zeros(self.space.nu))
        pose = SpecialPose(
            piece.mark.kind, self.name, self.trace.value(point), state, piece.mark.name, len(self.result)
        )
        self.result.special_poses.append(pose)

    def _state(self, speeds: FloatArray) -> State:
        """Return the present pose as a state; where accelerations are not unique, from the pose functions alone."""
        space, n = self.space, self.model.numbering
        space.block.count_revolutions(self.cut_values)
        try:
            return space.state(speeds)
        except SingularityError:
            q, u = np.full(n.nq_all, np.nan), np.concatenate([speeds, np.zeros(n.nu_cut)])
            q[: space.nq] = space.q
            for span, _ in self.cut:
                q[span] = self.cut_values[span.start - n.nq : span.stop - n.nq]
            for name in n.cut:
                if name in self.joints:
                    u[n.u[name]] = self.joints[name].rows() @ speeds
            return replace(space.start, q=JointArray.split(q, n.nq), u=JointArray.split(u, n.nu))

    def _row(self, point: Point, value: float) -> tuple[KinematicRows, State]:
        """Return the row at a point, where the block is, and its state."""
        space = self.space
        self._track(point)
        swept = self.metres * self.function.rows()[0] / space.weights
        left, values, right = np.linalg.svd(np.vstack([point.rows, swept]), full_matrices=False)
        least = float(values[-1] / values[0])
        speeds = accelerations = np.full(space.nu, np.nan)
        slope = float(swept @ point.tangent) / self.metres
        if abs(slope) * self.metres > STILL:
            speeds = point.tangent / space.weights * (self.u / slope)
        state = self._state(np.nan_to_num(speeds))
        bias = self._bias(speeds) if least > DEAD and np.isfinite(slope) else None
        if bias is not None:
            accelerations = right.T @ (left.T @ bias / values) / space.weights
        n = self.model.numbering
        u, a = np.full((2, 1, n.nu_all), np.nan)
        for name, one in self.joints.items():
            u[0, n.u[name]], a[0, n.u[name]] = self._rates(one, speeds, accelerations)
        functions = self._of_functions(speeds, accelerations)[None]
        q = np.concatenate([state.q, np.empty(0) if state.q.cut is None else state.q.cut])[None]
        return KinematicRows(np.array([value]), q, u, a, functions, np.array([least])), state

    def _of_functions(self, speeds: FloatArray, accelerations: FloatArray) -> FloatArray:
        """Return value, rate and second rate of each recorded function (functions, 3); the block has the speeds."""
        parts = [np.array([one.value(), *self._rates(one, speeds, accelerations)]).T for one in self.recorded]
        return np.concatenate([np.empty((0, 3)), *parts])

    def _rates(
        self, function: PoseFunction, speeds: FloatArray, accelerations: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return rate and second rate (n,) of a function; the block has the speeds."""
        rows = function.rows()
        if not function.has_slope():
            return np.full(function.size, np.nan), np.full(function.size, np.nan)
        if not np.isfinite(accelerations).all():
            return rows @ speeds, np.full(function.size, np.nan)
        return rows @ speeds, rows @ accelerations + function.bias()

    def _bias(self, speeds: FloatArray) -> FloatArray | None:
        """Return what rows of A and the swept coordinate's row give for accelerations; the block has these speeds."""
        space = self.space
        try:
            space.enter_speeds(speeds)
            constraints = space.kinematic_bias()
            held = [-self.curve.metres(f) * f.bias() for f, _ in self.curve.held]
            swept = -self.metres * self.function.bias()
            if self.model.numbering.n_motion:  # prescribed motions stay where they are
                space.enter_speeds(np.zeros(space.nu))
                constraints = constraints - space.kinematic_bias()
                space.enter_speeds(speeds)
        except SingularityError:
            return None
        padding = np.zeros(max(0, space.nu - len(constraints) - sum(map(len, held))))  # as in Curve.equations
        return np.concatenate([constraints, *held, padding, swept])


def _is_active(model: ModelBase, state: State, name: str) -> bool:
    """Return whether a lock, a closed pin or a stop is in effect."""
    try:
        return bool(model.value(f"{name}.active", state))
    except MechanismError:
        return False


def _same(one: float, other: float) -> bool:
    return abs(one - other) <= SAME * max(1.0, abs(other))


def _contains(piece: Piece, value: float) -> bool:
    """Whether the swept coordinate passes a value on a piece, its beginning excluded."""
    return min(piece.first, piece.last) <= value <= max(piece.first, piece.last) and value != piece.first


def _inside(piece: Piece, values: FloatArray) -> FloatArray:
    """Return the values that a piece passes, its beginning excluded, in their order on it."""
    least, most = min(piece.first, piece.last), max(piece.first, piece.last)
    found = np.sort(values[(least <= values) & (values <= most) & (values != piece.first)])
    return found[::-1] if piece.last < piece.first else found
