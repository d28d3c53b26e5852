"""Inverse dynamics of closed chains over a whole motion: the loads of motors that a wished motion needs.

With N a basis of the speeds that all constraints leave at a row of the motion, and B u the speeds of the motors,

    N' B' tau = N' (M udot + h - f),

where f are the loads of springs, dampers, actuators that are no motors, and inputs. Constraints, prescribed motions
among them, do no work along N, so that their forces do not occur: Y. Nakamura and M. Ghodoussi, Dynamics computation of
closed-link robot mechanisms with nonredundant and redundant actuators, IEEE Trans. Robotics and Automation 5 (1989)
294-302. The core computes these equations for all rows at once.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork._util.checks import FloatArray, names_of
from linkwork._util.keywords import checks_keywords
from linkwork._util.one_thread import on_one_thread
from linkwork.analysis.configuration_space import ConfigurationSpace
from linkwork.analysis.load_distribution import LOAD_RANK_TOLERANCE, Distribution, least_norm, undriven, within
from linkwork.analysis.motions import (
    MotionRows,
    PrescribedMotion,
    add_inputs_of_state,
    describe_direction,
    input_rows,
    motion_of_table,
    rows_of_arrays,
    rows_of_result,
    times_of,
)
from linkwork.analysis.motor_loads import LoadRows, MotorLoads
from linkwork.analysis.motors import Limits, Motors
from linkwork.analysis.pose_functions import motor
from linkwork.errors import LinkworkError, LoadsError, MechanismError
from linkwork.mechanism import Actuator, Friction, Mechanism
from linkwork.mechanism.forces import of_kind
from linkwork.mechanism.friction import pressed
from linkwork.model.compile import model_of
from linkwork.simulation.result import Result

if TYPE_CHECKING:
    from linkwork.core.native import LoadEquations
    from linkwork.model.model import Model
    from linkwork.model.state import State
    from linkwork.simulation.inputs import InputValue

SETTLED = 1e-13  # of the largest pressing force: those that change by less stay
MOST_TURNS = 300  # of loads and pressing forces after one another
CONSISTENT = 1e-8  # of the largest load along a degree of freedom: what motors may leave where they do not drive all
ROUNDING = 1e-12  # of the weight of the mechanism times its length
DOUBTFUL = 1e-6  # a motor that turns by less, relative to its most, is looked at
STILL = 1e-10  # m for each m of the motions possible: one that moves by less rests
POSSIBLE = 1e-5  # part of the largest speed or acceleration, or of a length, by which a motion may miss the constraints


@checks_keywords
@on_one_thread
def inverse_dynamics(
    mechanism: Mechanism | Model,
    motion: Mapping[str, Any] | Result | Sequence[Any] | str | os.PathLike[str],
    state: State | None = None,
    *,
    motors: str | Sequence[str] | None = None,
    t_eval: Any = None,
    inputs: Mapping[str, InputValue] | None = None,
    weights: Mapping[str, float] | None = None,
    max_load: Limits = None,
) -> MotorLoads:
    """Return the loads of motors that give a mechanism a motion, closed loops included.

    Where the motors drive each degree of freedom once, the loads are exact. Where there are more motors, they are those
    of least norm: the sum of weight times load squared is least in each row, N m and N counted alike. Springs, dampers,
    couplings, reflected inertia, prescribed motions and inputs all count.

    Parameters
    ----------
    mechanism
        Or a compiled model.
    motion
        One of: a mapping from functions of the pose, such as "A", "U.q[2]", "hand.r[1]" or "grip.length", as many as
        degrees of freedom, to their values; the result of a simulation; arrays (q, u, udot) of the tree joints, (rows,
        nq), (rows, nu) and (rows, nu). Values are arrays (rows,), which splines of degree 5 interpolate for the
        derivatives (of less with fewer than six rows); triples of arrays (value, rate, acceleration), needed for a
        single row; or functions of time that return a value or such a triple. Or the path of a CSV file with a column
        "time" or "t": all coordinates, speeds and accelerations ("A.q", "A.u", "A.a", ...), or functions of the pose,
        with or without rates ("A.u") and accelerations.
    motors
        Names of joints, cut ones too, "A", of single speeds, "U[2]", and of actuators; by default all actuators.
    t_eval
        Times of the rows, (rows,), s, ascending. A result has its own.
    inputs
        Further loads, applied wrenches, inputs of actuators and motions by name, as for `simulate`; by default none, or
        those of the result, but for the motors.
    weights
        By motor, in the norm; 1 by default. A joint of several speeds stands for each of them.
    max_load
        Limits of the loads, by motor, as for `weights`, or for all: a number for both signs, or (lower, upper). True,
        and motors that are not named: `max_load` of the joints, ranges of the actuators. By default no limits.
    state
        A pose of the branch from which functions of the pose are followed; by default the assembled start.

    Raises
    ------
    LoadsError
        Where the motors do not drive a degree of freedom that the motion needs, naming it and the time; in a singular
        pose; where the loops cannot follow; where limits are too low. The rows before are its `result`.

    Examples
    --------
    >>> import numpy as np
    >>> import linkwork as lw
    >>> mech = lw.Mechanism("pendulum")
    >>> mech.add_body("rod", mass=3.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(3.0, 1.0))
    >>> mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
    >>> loads = lw.inverse_dynamics(mech, {"A": lambda t: (0.5 * t**2, t, 1.0)}, motors="A", t_eval=[0.0, 1.0])
    >>> loads["A.tau"].round(6), loads["A.power"].round(6)
    (array([-13.715   , -11.913627]), array([ -0.      , -11.913627]))
    """
    model = model_of(mechanism)
    space = ConfigurationSpace(model, state)
    if isinstance(motion, str | os.PathLike):
        if t_eval is not None:
            raise MechanismError("t_eval: a table has its own times: leave t_eval out")
        t_eval, motion = motion_of_table(model, motion)
    chosen = Motors(space, _motor_names(model, motors))
    weight = chosen.weights(weights)
    _refuse_inputs_of_motors(model, chosen, inputs)
    rows = _motion_rows(model, space, motion, t_eval, inputs)
    rows = _without_motors(rows, chosen)
    parts: list[LoadRows] = []
    error = rows.error
    for segment in rows.segments():
        found, failed = _loads(space, chosen, rows, segment, weight, max_load)
        parts.append(found)
        if failed is not None:
            error = failed
            break
    all_rows = parts[0]
    for part in parts[1:]:
        all_rows = all_rows.followed(part)
    result = MotorLoads(model, chosen, _first(rows, len(all_rows.loads)), all_rows)
    if error is not None:
        raise LoadsError(str(error), result) from None
    return result


# ---- what is given ----


def _motor_names(model: Model, motors: str | Sequence[str] | None) -> Sequence[str]:
    if motors is None:
        motors = [one.name for one in of_kind(model.mechanism.forces, Actuator)]
        if not motors:
            raise MechanismError(
                "motors: the mechanism has no actuators: name the joints that are driven, motors=['A']"
            )
    if not (names := names_of(motors, "motors")):
        raise MechanismError("motors names none: name one at least, a joint or an actuator, such as ['A', 'U[2]']")
    return names


def _refuse_inputs_of_motors(model: Model, motors: Motors, inputs: Mapping[str, InputValue] | None) -> None:
    spans = model.numbering.input_spans(inputs or {}, "inputs")
    places = {model.numbering.inputs[name].start: name for name in motors.inputs}
    for name, span in spans.items():
        for at in range(span.start, span.stop):
            if at in places:
                raise MechanismError(
                    f"inputs: {name!r} drives the motor {places[at]!r}, whose load is unknown: leave it out"
                )


def _motion_rows(
    model: Model,
    space: ConfigurationSpace,
    motion: Mapping[str, Any] | Result | Sequence[Any] | str | os.PathLike[str],
    t_eval: Any,
    inputs: Mapping[str, InputValue] | None,
) -> MotionRows:
    if isinstance(motion, Result):
        if t_eval is not None:
            motion = motion.resample(times_of(t_eval))
        if not len(motion):
            raise MechanismError(f"motion: the result of {motion.name!r} has no rows")
        rows = rows_of_result(model, motion, None if inputs is None else input_rows(model, inputs, motion.t))
    elif isinstance(motion, Mapping):
        t = times_of(t_eval)
        rows = PrescribedMotion(space, motion, t, input_rows(model, inputs, t)).rows()
    elif isinstance(motion, tuple | list) and len(motion) == 3:
        t = times_of(t_eval)
        rows = rows_of_arrays(model, motion, t, input_rows(model, inputs, t))
    else:
        raise MechanismError(
            "motion must be a dictionary such as {'A': values}, the result of a simulation, or arrays (q, u, udot), "
            "not "
            f"{motion!r:.80}"
        )
    add_inputs_of_state(model, inputs, rows, space)
    return rows


def _without_motors(rows: MotionRows, motors: Motors) -> MotionRows:
    """Return a motion whose inputs do not drive the motors."""
    inputs = np.array(rows.inputs)
    inputs[:, motors.speeds[1]] = 0.0
    return replace(rows, inputs=inputs)


def _first(rows: MotionRows, count: int) -> MotionRows:
    kept: dict[str, Any] = {name: getattr(rows, name)[:count] for name in ("t", "q", "u", "udot", "inputs", "discrete")}
    return replace(rows, turns=None if rows.turns is None else rows.turns[:count], error=None, **kept)


# ---- loads ----


def _loads(
    space: ConfigurationSpace,
    motors: Motors,
    rows: MotionRows,
    segment: slice,
    weights: FloatArray,
    max_load: Limits,
) -> tuple[LoadRows, LinkworkError | None]:
    """Return the loads of rows of one discrete state, and why they end early.

    Where reactions press frictions, loads follow from pressing forces and these from the loads, until they stay.
    """
    part, driving, error = _distributed(space, motors, rows, segment, weights, max_load)
    if not pressed(space.model.mechanism):
        return part, error
    frictions = of_kind(space.model.mechanism.forces, Friction)
    pressing = np.zeros((len(driving), len(frictions)))
    change = np.ones_like(pressing)
    for _ in range(MOST_TURNS):
        segment = slice(segment.start, segment.start + len(driving))
        before = pressing[: len(driving)]
        pressing = before.copy()
        part, driving, failed = _distributed(space, motors, rows, segment, weights, max_load, (driving, pressing))
        error = failed or error
        change = (np.abs(pressing - before) / pressing.max(axis=1, initial=1e-300, keepdims=True))[: len(driving)]
        if not (change > SETTLED).any():
            return part, error
    row, worst = np.argwhere(change > SETTLED)[0]
    error = MechanismError(
        f"motion: at t = {rows.t[segment][row]:.6g} s friction {frictions[worst].name!r} jams: the loads that it asks "
        "of the motors raise the force that presses its joint more and more; lower mu or the radius, or choose other "
        "motors"
    )
    return part.first(int(row)), error


def _distributed(
    space: ConfigurationSpace,
    motors: Motors,
    rows: MotionRows,
    segment: slice,
    weights: FloatArray,
    max_load: Limits,
    # Loads of the motors besides those that actuators have without an input, and pressing forces, which are replaced.
    pressed_by: tuple[FloatArray | None, FloatArray | None] = (None, None),
) -> tuple[LoadRows, FloatArray, LinkworkError | None]:
    """Return loads with given pressing forces, the part of them that inputs drive, and why they end early."""
    equations = _equations(space, motors, rows, segment, pressed_by)
    found = _without_rounding(space, motors, rows, segment, equations)
    error: LinkworkError | None = found.error
    count = len(found.load)
    if error is not None:
        t = rows.t[segment][count]
        error = MechanismError(f"motion: at t = {t:.6g} s {error}")
    numbers, actuators = motors.actuators
    load = found.load + np.einsum("kij,kj->ki", found.matrix[:, :, numbers], found.force[:, actuators])
    spread = least_norm(found.matrix, load, weights)
    for refused in (
        _impossible(space, rows, segment, found),
        _not_driven(space, motors, rows, segment, found, load, spread),
    ):
        if refused is not None and refused[0] < count:
            count, error = refused
    loads = spread.loads[:count].copy()
    length, rate = found.length[:count, actuators], found.speed[:count, numbers]
    if max_load is not None and max_load is not False:
        done, failed = _limit(motors, found, loads, weights, motors.limits(max_load, length, rate), rows.t[segment])
        if failed is not None:
            count, error = done, failed
    inputs = loads.copy()
    inputs[:, numbers] = motors.input_of(loads[:, numbers], length, rate)
    driving = loads.copy()
    driving[:, numbers] -= found.force[: len(loads), actuators]
    part = LoadRows(loads, found.speed, inputs, spread.conditioning).first(count)
    return part, driving[:count], error


def _equations(
    space: ConfigurationSpace,
    motors: Motors,
    rows: MotionRows,
    segment: slice,
    pressed_by: tuple[FloatArray | None, FloatArray | None],
) -> LoadEquations:
    block, nu = space.block, space.nu
    if len(rows.discrete):
        block.put_discrete_state(rows.discrete[segment.start])
    turns = None if rows.turns is None else rows.turns[segment]
    if turns is None:
        block.count_revolutions(space.model.arguments.turns(space.start))
    t, q, u, udot, inputs = (x[segment] for x in (rows.t, rows.q, rows.u, rows.udot, rows.inputs))
    first = block.load_equations(motors.rows, t[:1], q[:1], u[:1], udot[:1], inputs[:1], _first_of(turns), nu)
    if turns is None:
        block.count_revolutions(space.model.arguments.turns(space.start))
    dof = max(1, first.matrix.shape[1])
    return block.load_equations(motors.rows, t, q, u, udot, inputs, turns, dof, pressed_by)


def _first_of(turns: FloatArray | None) -> FloatArray | None:
    return None if turns is None else turns[:1]


Refusal = tuple[int, LinkworkError]


def _impossible(space: ConfigurationSpace, rows: MotionRows, segment: slice, found: LoadEquations) -> Refusal | None:
    """Return the first row in which loops, couplings or motions prevent the motion, and what to do."""
    if not found.violation.size:
        return None
    speed = float(np.abs(space.weights * rows.u).max(initial=0.0))
    acceleration = float(np.abs(space.weights * rows.udot).max(initial=0.0)) + speed**2 / space.length
    scale = np.array([space.length, speed, acceleration]) + 1e-6 * space.length
    wrong = found.violation > POSSIBLE * scale
    if not wrong.any():
        return None
    row = int(np.argmax(wrong.any(axis=1)))
    what = int(np.argmax(wrong[row]))
    kind = ("coordinates", "speeds", "accelerations")[what]
    by = f"{found.violation[row, what]:.3g} m{('', '/s', '/s2')[what]}"
    return row, MechanismError(
        f"motion: at t = {rows.t[segment][row]:.6g} s the {kind} are impossible: they miss loops, couplings or "
        f"prescribed motions by {by}; take q, u and udot of a simulation, or give functions of the pose, from which "
        "all others follow"
    )


def _not_driven(
    space: ConfigurationSpace,
    motors: Motors,
    rows: MotionRows,
    segment: slice,
    found: LoadEquations,
    load: FloatArray,
    spread: Distribution,
) -> Refusal | None:
    """Return the first row that needs a load where no motor acts, and the motion that none drives.

    Fewer motors than degrees of freedom may do, as for a motion that such motors have brought about.
    """
    dof = load.shape[1]
    lost = spread.conditioning <= LOAD_RANK_TOLERANCE
    if len(motors) < dof or not found.matrix.any():
        weight = sum(body.mass for body in space.model.mechanism.bodies.values()) * space.length  # at 1 m/s2
        lost &= spread.residual > CONSISTENT * float(np.abs(load).max(initial=0.0)) + ROUNDING * weight
    if not lost.any():
        return None
    row = int(np.argmax(lost))
    t = float(rows.t[segment][row])
    directions = _undriven(space, motors, rows, segment.start + row)
    names = ", ".join(map(repr, motors.names))
    least = dof - len(directions)
    drive = f"at t = {t:.6g} s motors {names} drive {least} of {dof} degrees of freedom: no motor drives "
    drive += describe_direction(space, directions[0]) if len(directions) else "all of them"
    if lost.all():
        remedy = "name a motor that moves with it"
    else:
        remedy = "the pose is singular for these motors: keep the motion away from it, or name a further motor"
    return row, MechanismError(f"{drive}; {remedy}")


def _undriven(space: ConfigurationSpace, motors: Motors, rows: MotionRows, row: int) -> FloatArray:
    """Return the motions (n, nu) that the constraints leave and in which no motor turns."""
    _enter(space, rows, row)
    turning, basis = _turning(space, motors)
    found: FloatArray = (basis @ undriven(turning)).T
    return found


def _turning(space: ConfigurationSpace, motors: Motors) -> tuple[FloatArray, FloatArray]:
    """Return by how much motors (motors, dof) move along the motions that the constraints leave, m, and those."""
    turning = np.vstack([motor(space, name).rows() for name in motors.names])
    lever = np.array([space.length if unit == "rad" else 1.0 for unit in motors.units])
    basis = space.tangent().basis
    return lever[:, None] * turning @ basis, basis


def _without_rounding(
    space: ConfigurationSpace, motors: Motors, rows: MotionRows, segment: slice, found: LoadEquations
) -> LoadEquations:
    """Return the equations without motors that turn by rounding alone: those of joints that rest in the pose."""
    size = np.abs(found.matrix).max(axis=1, initial=0.0)
    doubtful = (size < DOUBTFUL) | (size < DOUBTFUL * size.max(axis=0, initial=0.0))
    if not found.matrix.size or not doubtful.any():
        return found
    matrix = found.matrix.copy()
    for row in np.flatnonzero(doubtful.any(axis=1)):
        _enter(space, rows, segment.start + int(row))
        still = np.linalg.norm(_turning(space, motors)[0], axis=1) < STILL
        matrix[row, :, still] = 0.0
    return replace(found, matrix=matrix)


def _enter(space: ConfigurationSpace, rows: MotionRows, row: int) -> None:
    if len(rows.discrete):
        space.block.put_discrete_state(rows.discrete[row])
    space.block.enter(rows.q[row], rows.u[row], rows.inputs[row], float(rows.t[row]))


def _limit(
    motors: Motors,
    found: LoadEquations,
    loads: FloatArray,
    weights: FloatArray,
    limits: tuple[FloatArray, FloatArray],
    t: FloatArray,
) -> tuple[int, LinkworkError | None]:
    """Bring loads (rows, motors) within limits; return in how many rows that is possible, and what is not."""
    lower, upper = limits
    beyond = ((loads < lower) | (loads > upper)).any(axis=1)
    for row in np.flatnonzero(beyond):
        inside = within(found.matrix[row], loads[row], weights, lower[row], upper[row])
        if inside is None:
            excess = np.maximum(loads[row] - upper[row], lower[row] - loads[row]) / np.abs(loads[row]).max()
            k = int(np.argmax(excess))
            span = f"{lower[row, k]:.6g} to {upper[row, k]:.6g}"
            return int(row), MechanismError(
                f"max_load: at t = {t[row]:.6g} s no loads within the limits give the motion; motor "
                f"{motors.names[k]!r} would need {loads[row, k]:.6g} {motors.load_units[k]}, and its limits are "
                f"{span}: move more slowly, or widen max_load"
            )
        loads[row] = inside
    return len(loads), None
