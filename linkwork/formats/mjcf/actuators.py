"""Actuators of a compiled MJCF model.

MuJoCo's force is gain input + bias. With a bias of b0 + b1 length + b2 rate, and where it acts on a sum of coordinates,
it is an actuator here, else a force by a formula. Damping and armature of an actuator belong to its target.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork.formats.mjcf.actuator_laws import AFFINE_BIAS, OF_DC_MOTOR, is_plain, law_of, needs_length, needs_rate
from linkwork.formats.mjcf.named import NamedModel
from linkwork.formats.mjcf.transmissions import IN_PARENT, ON_JOINT, ON_TENDON, NotPossible, place_of
from linkwork.formats.robot import (
    Coordinate,
    Place,
    Range,
    Robot,
    RobotActuator,
    RobotFrames,
    RobotJoint,
    RobotLaw,
    RobotPoint,
)

_POWERS = 2  # MuJoCo's mjNPOLY


@dataclass
class TargetValues:
    """Damping and armature that actuators contribute to their targets."""

    tendon_damping: FloatArray  # (ntendon, 1 + mjNPOLY), by powers of the rate
    tendon_armature: FloatArray  # (ntendon,), kg or kg m^2, from the tendons themselves as well
    joint_damping: FloatArray  # (njnt, mjNPOLY), by powers from the second on; the first is in the joints
    _done: list[str] = field(default_factory=list)


def add_actuators(named: NamedModel, robot: Robot, activation: FloatArray) -> TargetValues:
    """Add actuators to a robot, and what they contribute to its joints; return what they contribute to other parts.

    `activation` are start values of their states, (na,).
    """
    model, report = named.model, named.report
    values = TargetValues(
        np.zeros((model.ntendon, 1 + _POWERS)), np.array(model.tendon_armature), np.zeros((model.njnt, _POWERS))
    )
    made: list[RobotActuator] = []
    for actuator in range(model.nactuator):
        element = f"actuator {named.actuators[actuator]!r}"
        _contribute(named, robot, actuator, element, values)
        try:
            one = _actuator(named, robot, actuator, element, activation)
        except NotPossible as reason:
            report.left_out(element, f"{reason.why}; its force is missing")
            continue
        if isinstance(one, RobotLaw):
            robot.laws.append(one)
        else:
            made.append(one)
    robot.actuators += made
    _limit_on_joints(named, robot)
    return values


def _actuator(
    named: NamedModel, robot: Robot, actuator: int, element: str, activation: FloatArray
) -> RobotActuator | RobotLaw:
    model = named.model
    _check_possible(named, actuator)
    with_length = needs_length(named, actuator)
    place = place_of(named, robot, actuator, with_length, needs_rate(named, actuator))
    name = named.actuators[actuator]
    if not isinstance(place, dict) or not is_plain(named, actuator):
        law = law_of(named, actuator, activation)
        what = "force by a formula" + (f" with the states {', '.join(law.states)}" if law.states else "")
        made = RobotLaw(
            name, place, law.formula, law.parameters, tuple(law.inputs), law.states, "actuator", what, element
        )
        if isinstance(place, dict) and with_length and not _has_length(named, actuator):
            made.formula = made.formula.replace("{x}", "0")  # MuJoCo's length on a free joint
        _limit_on_tendon(named, actuator, made)
        return made
    gain, bias = model.actuator_gainprm[actuator], model.actuator_biasprm[actuator]
    offset, stiffness, damping = (0.0, 0.0, 0.0)
    if model.actuator_biastype[actuator] == AFFINE_BIAS:
        offset, stiffness, damping = float(bias[0]), 0.0 - float(bias[1]), 0.0 - float(bias[2])
    control = int(model.actuator_ctrladr[actuator])
    clamps = bool(model.actuator_ctrllimited[control]) and not named.disables("clampctrl")
    limited = bool(model.actuator_forcelimited[actuator])
    stiffness *= float(_has_length(named, actuator))  # the length on a free joint is zero
    given = RobotActuator(
        name,
        place,
        float(gain[0]),
        offset,
        stiffness,
        damping,
        _range(model.actuator_ctrlrange[control]) if clamps else None,
        _range(model.actuator_forcerange[actuator]) if limited else None,
        element,
    )
    _limit_on_tendon(named, actuator, given)
    return given


def _has_length(named: NamedModel, actuator: int) -> bool:
    """Return whether MuJoCo has the length of a sum of coordinates."""
    model = named.model
    return model.actuator_trntype[actuator] == ON_TENDON or named.is_scalar(int(model.actuator_trnid[actuator, 0]))


def _check_possible(named: NamedModel, actuator: int) -> None:
    model = named.model
    if named.disables("actuation"):
        raise NotPossible("option > flag disables actuators")
    group = int(model.actuator_group[actuator])
    if 0 <= group <= 30 and model.opt.disableactuator & (1 << group):
        raise NotPossible(f"option > actuatorgroupdisable disables group {group}")
    if model.actuator_delay[actuator]:
        raise NotPossible(f"its input is delayed by {model.actuator_delay[actuator]:g} s")
    if model.actuator_plugin[actuator] >= 0:
        raise NotPossible("a plugin of MuJoCo computes it")


def _contribute(named: NamedModel, robot: Robot, actuator: int, element: str, values: TargetValues) -> None:
    """Add damping and armature of an actuator to its target."""
    model = named.model
    damps = not named.disables("damper")
    damping = damps * np.concatenate([[model.actuator_damping[actuator]], model.actuator_dampingpoly[actuator]])
    armature = float(model.actuator_armature[actuator])
    if not damping.any() and not armature:
        return
    kind, target = int(model.actuator_trntype[actuator]), int(model.actuator_trnid[actuator, 0])
    square = float(model.actuator_gear[model.actuator_outadr[actuator], 0]) ** 2
    if kind == ON_TENDON:
        values.tendon_damping[target] += damping * square
        values.tendon_armature[target] += armature * square
    elif kind in (ON_JOINT, IN_PARENT):
        joint = robot.joints[named.joints[target]]
        values.joint_damping[target] += damping[1:] * square
        if damping[0]:
            before = joint.damping or (0.0,) * joint.kind.nu
            joint.damping = tuple(one + float(damping[0]) * square for one in before)
        if named.is_scalar(target):
            add_rotor(joint, armature * square)
        elif armature:
            named.report.left_out(f"{element} > armature", "only hinges, slides and fixed tendons have it here")
    else:
        named.report.left_out(f"{element} > damping, armature", "only joints and tendons have them")


def _limit_on_tendon(named: NamedModel, actuator: int, made: RobotActuator | RobotLaw) -> None:
    """Limit the force of an actuator by the actuatorfrcrange of its tendon, if it alone acts on it."""
    model = named.model
    if int(model.actuator_trntype[actuator]) != ON_TENDON:
        return
    tendon = int(model.actuator_trnid[actuator, 0])
    if not model.tendon_actfrclimited[tendon]:
        return
    element = f"tendon {named.tendons[tendon]!r} > actuatorfrcrange"
    others = (model.actuator_trntype == ON_TENDON) & (model.actuator_trnid[:, 0] == tendon)
    low, high = _range(model.tendon_actfrcrange[tendon])
    if others.sum() > 1 or int(model.actuator_gaintype[actuator]) == OF_DC_MOTOR:
        which = "several actuators act" if others.sum() > 1 else "a DC motor acts"
        named.report.left_out(element, f"{which} on the tendon; forces are not limited to {(low, high)}")
        return
    _limit(named, element, made, low, high, "tendon")


def add_rotor(joint: RobotJoint, inertia: float) -> None:
    """Add to the reflected inertia of a hinge or slide."""
    if inertia:
        joint.reflected_inertia = (sum(joint.reflected_inertia) + inertia,)


def _limit_on_joints(named: NamedModel, robot: Robot) -> None:
    """Limit the actuators of a joint by its actuatorfrcrange, if only one loads it, and only this joint."""
    model = named.model
    for joint in np.flatnonzero(model.jnt_actfrclimited):
        if not named.is_scalar(int(joint)):
            continue
        name = named.joints[joint]
        limits = _range(model.jnt_actfrcrange[joint])
        coordinate = named.joint_coordinate(int(joint))
        acting: list[RobotActuator | RobotLaw] = [one for one in robot.actuators if coordinate in one.gears]
        acting += [one for one in robot.laws if _loads(named, one.place, int(joint))]
        element = f"{robot.joints[name].element} > actuatorfrcrange"
        gears = _gears_of(acting[0]) if len(acting) == 1 else None
        if not acting and limits[0] == -limits[1]:
            robot.joints[name].max_load = (limits[1],)
        elif gears is not None and len(gears) == 1:
            low, high = sorted(limit / gears[coordinate] for limit in limits)
            _limit(named, element, acting[0], low, high, "joint")
        else:
            count = "no actuator" if not acting else "several actuators, or one on several joints,"
            verb = "acts" if not acting else "act"
            named.report.left_out(element, f"{count} {verb} on the joint; forces are not limited to {limits}")


def _gears_of(made: RobotActuator | RobotLaw) -> dict[Coordinate, float] | None:
    if isinstance(made, RobotActuator):
        return made.gears
    return made.place if isinstance(made.place, dict) else None


def _loads(named: NamedModel, place: Place, joint: int) -> bool:
    """Return whether a force in a place loads a joint: of two ends one is carried by it."""
    if isinstance(place, dict):
        return named.joint_coordinate(joint) in place
    if isinstance(place, RobotPoint):
        return _is_carried(named, place.link, joint)
    if isinstance(place, RobotFrames):
        pairs = [(place.links, 1.0)]
    else:
        pairs = list(zip(pairwise(place.links), place.factors, strict=True))
    return any(_is_carried(named, a, joint) != _is_carried(named, b, joint) for (a, b), factor in pairs if factor)


def _is_carried(named: NamedModel, link: str | None, joint: int) -> bool:
    body = named.bodies.index(link)
    while body > named.model.jnt_bodyid[joint]:
        body = int(named.model.body_parentid[body])
    return body == int(named.model.jnt_bodyid[joint])


def _limit(named: NamedModel, element: str, made: RobotActuator | RobotLaw, low: float, high: float, what: str) -> None:
    """Limit the force of an actuator within its own limits."""
    if isinstance(made, RobotLaw):
        made.parameters |= {f"{what}_lower": low, f"{what}_upper": high}
        made.formula = f"min({what}_upper, max({what}_lower, {made.formula}))"
    else:
        given = made.force_range or (-np.inf, np.inf)
        both = max(low, given[0]), min(high, given[1])
        if not both[0] < both[1]:
            named.report.left_out(element, f"it excludes the force range of {made.element}")
            return
        made.force_range = both
    named.report.taken(element, f"as limits of {made.element}")


def _range(values: FloatArray) -> Range:
    lowest, highest = values.tolist()
    return lowest, highest
