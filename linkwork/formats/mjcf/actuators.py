"""Actuators of a compiled MJCF model.

MuJoCo's force is gain input + bias, with a bias of b0 + b1 length + b2 rate, and acts on the transmission's length,
the gear times a joint's coordinate or a tendon's length. Damping and armature of an actuator belong to its target.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork.formats.mjcf.named import NamedModel
from linkwork.formats.mjcf.tendons import fixed_tendon
from linkwork.formats.robot import Coordinate, Range, Robot, RobotActuator, RobotJoint

_ON_JOINT, _IN_PARENT, _ON_TENDON = 0, 1, 3  # MuJoCo's mjtTrn
_FIXED_GAIN, _NO_BIAS, _AFFINE_BIAS = 0, 0, 1
_TRANSMISSIONS = {2: "a slider-crank", 4: "a site", 5: "adhesion of a body", 6: "a relative orientation"}
_DYNAMICS = {1: "integrator", 2: "filter", 3: "filterexact", 4: "muscle", 5: "dcmotor", 6: "pid", 7: "user"}


@dataclass
class _NotPossible(Exception):
    why: str


@dataclass
class TargetValues:
    """Damping and armature that actuators contribute to their targets."""

    tendon_damping: FloatArray  # (ntendon,), N s/m or N m s/rad
    tendon_armature: FloatArray  # (ntendon,), kg or kg m^2, from the tendons themselves as well
    _done: list[str] = field(default_factory=list)


def add_actuators(named: NamedModel, robot: Robot) -> TargetValues:
    """Add actuators to a robot, and what they contribute to its joints; return what they contribute to tendons."""
    model, report = named.model, named.report
    values = TargetValues(np.zeros(model.ntendon), np.array(model.tendon_armature))
    made: list[RobotActuator] = []
    for actuator in range(model.nactuator):
        element = f"actuator {named.actuators[actuator]!r}"
        _contribute(named, robot, actuator, element, values)
        try:
            made.append(_actuator(named, actuator, element))
        except _NotPossible as reason:
            report.left_out(element, f"{reason.why}; its force is missing")
    _limit_on_joints(named, robot, made)
    robot.actuators += made
    return values


def _actuator(named: NamedModel, actuator: int, element: str) -> RobotActuator:
    model = named.model
    _check_possible(named, actuator)
    gears = _gears(named, actuator)
    gain, bias = model.actuator_gainprm[actuator], model.actuator_biasprm[actuator]
    offset, stiffness, damping = (0.0, 0.0, 0.0)
    if model.actuator_biastype[actuator] == _AFFINE_BIAS:
        offset, stiffness, damping = float(bias[0]), 0.0 - float(bias[1]), 0.0 - float(bias[2])
    control = int(model.actuator_ctrladr[actuator])
    clamps = bool(model.actuator_ctrllimited[control]) and not named.disables("clampctrl")
    limited = bool(model.actuator_forcelimited[actuator])
    if stiffness and model.actuator_trntype[actuator] != _ON_TENDON:
        kind = int(model.jnt_type[model.actuator_trnid[actuator, 0]])
        if kind == 1:
            raise _NotPossible("the length of a rotation, on a ball joint, is no sum of coordinates")
        stiffness *= float(kind != 0)  # the length on a free joint is zero
    return RobotActuator(
        named.actuators[actuator],
        gears,
        float(gain[0]),
        offset,
        stiffness,
        damping,
        _range(model.actuator_ctrlrange[control]) if clamps else None,
        _range(model.actuator_forcerange[actuator]) if limited else None,
        element,
    )


def _check_possible(named: NamedModel, actuator: int) -> None:
    model = named.model
    if named.disables("actuation"):
        raise _NotPossible("option > flag disables actuators")
    group = int(model.actuator_group[actuator])
    if 0 <= group <= 30 and model.opt.disableactuator & (1 << group):
        raise _NotPossible(f"option > actuatorgroupdisable disables group {group}")
    dynamics = int(model.actuator_dyntype[actuator])
    if dynamics:
        name = _DYNAMICS.get(dynamics, str(dynamics))
        raise _NotPossible(f"it has states of its own (dyntype {name!r}), which a controller can have instead")
    if model.actuator_delay[actuator]:
        raise _NotPossible(f"its input is delayed by {model.actuator_delay[actuator]:g} s")
    if model.actuator_plugin[actuator] >= 0:
        raise _NotPossible("a plugin of MuJoCo computes it")
    if model.actuator_gaintype[actuator] != _FIXED_GAIN or model.actuator_ctrlnum[actuator] != 1:
        raise _NotPossible("its gain depends on length and rate: the input does not act in proportion")
    if model.actuator_biastype[actuator] not in (_NO_BIAS, _AFFINE_BIAS):
        raise _NotPossible("its bias is no linear function of length and rate")


def _gears(named: NamedModel, actuator: int) -> dict[Coordinate, float]:
    """Return the gear of each coordinate or speed on which an actuator acts."""
    model = named.model
    kind, target = int(model.actuator_trntype[actuator]), int(model.actuator_trnid[actuator, 0])
    gear = model.actuator_gear[model.actuator_outadr[actuator]].tolist()
    if kind == _ON_TENDON:
        of_tendon = fixed_tendon(named, target)
        if of_tendon is None:
            raise _NotPossible("it pulls a spatial tendon")
        gears = {coordinate: gear[0] * one for coordinate, one in of_tendon.items()}
    elif kind not in (_ON_JOINT, _IN_PARENT):
        raise _NotPossible(f"it acts on {_TRANSMISSIONS.get(kind, 'an unknown transmission')}")
    elif named.is_scalar(target):
        gears = {named.joint_coordinate(target): gear[0]}
    elif kind == _IN_PARENT:
        raise _NotPossible("its axis is fixed in the parent of a joint whose speeds are in axes of the child")
    else:
        free = int(model.jnt_type[target]) == 0
        if free and any(gear[:3]):
            raise _NotPossible("its force on a free joint is along world axes, and its speeds are in axes of the child")
        gears = {(named.joints[target], axis): one for axis, one in enumerate(gear[3:6] if free else gear[:3])}
    found = {coordinate: gear for coordinate, gear in gears.items() if gear}
    if not found:
        raise _NotPossible("its gear is zero")
    return found


def _contribute(named: NamedModel, robot: Robot, actuator: int, element: str, values: TargetValues) -> None:
    """Add damping and armature of an actuator to its target."""
    model = named.model
    damping = 0.0 if named.disables("damper") else float(model.actuator_damping[actuator])
    armature = float(model.actuator_armature[actuator])
    if not damping and not armature:
        return
    kind, target = int(model.actuator_trntype[actuator]), int(model.actuator_trnid[actuator, 0])
    square = float(model.actuator_gear[model.actuator_outadr[actuator], 0]) ** 2
    if kind == _ON_TENDON:
        values.tendon_damping[target] += damping * square
        values.tendon_armature[target] += armature * square
    elif kind in (_ON_JOINT, _IN_PARENT) and named.is_scalar(target):
        joint = robot.joints[named.joints[target]]
        joint.damping = (sum(joint.damping) + damping * square,) if damping else joint.damping
        add_rotor(joint, armature * square)
    else:
        named.report.left_out(f"{element} > damping, armature", "only hinges, slides and fixed tendons have them here")


def add_rotor(joint: RobotJoint, inertia: float) -> None:
    """Add to the reflected inertia of a hinge or slide."""
    if inertia:
        joint.reflected_inertia = (sum(joint.reflected_inertia) + inertia,)


def _limit_on_joints(named: NamedModel, robot: Robot, made: list[RobotActuator]) -> None:
    """Limit the actuators of a joint by its actuatorfrcrange, if only one acts on it."""
    model = named.model
    for joint in np.flatnonzero(model.jnt_actfrclimited):
        if not named.is_scalar(int(joint)):
            continue
        name = named.joints[joint]
        limits = _range(model.jnt_actfrcrange[joint])
        coordinate = named.joint_coordinate(int(joint))
        acting = [one for one in made if coordinate in one.gears]
        element = f"{robot.joints[name].element} > actuatorfrcrange"
        if not acting and limits[0] == -limits[1]:
            robot.joints[name].max_load = (limits[1],)
        elif len(acting) == 1 and len(acting[0].gears) == 1:
            own, gear = acting[0], acting[0].gears[coordinate]
            low, high = sorted(limit / gear for limit in limits)
            given = own.force_range or (-np.inf, np.inf)
            both = max(low, given[0]), min(high, given[1])
            if both[0] < both[1]:
                own.force_range = both
                named.report.taken(element, f"as the force range of {own.element}")
            else:
                named.report.left_out(element, f"it excludes the force range of {own.element}")
        else:
            count = "no actuator" if not acting else "several actuators, or one on several joints,"
            verb = "acts" if not acting else "act"
            named.report.left_out(element, f"{count} {verb} on the joint; forces are not limited to {limits}")


def _range(values: FloatArray) -> Range:
    lowest, highest = values.tolist()
    return lowest, highest
