"""Tendons of a compiled MJCF model: springs and dampers on sums of coordinates or along lines through sites."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork.formats.mjcf.named import NamedModel
from linkwork.formats.robot import (
    Coordinate,
    Robot,
    RobotActuator,
    RobotJoint,
    RobotLaw,
    RobotLine,
    RobotReel,
    RobotRod,
    RobotTendon,
)

_JOINT, _PULLEY, _SITE = 1, 2, 3  # MuJoCo's mjtWrap


def fixed_tendon(named: NamedModel, tendon: int) -> dict[Coordinate, float] | None:
    """Return the coefficient of each coordinate in the length of a fixed tendon; None: it is spatial."""
    model = named.model
    parts = _parts(named, tendon)
    if not len(parts) or model.wrap_type[parts[0]] != _JOINT:
        return None
    gears: dict[Coordinate, float] = {}
    for part in parts:
        coordinate = named.joint_coordinate(int(model.wrap_objid[part]))
        gears[coordinate] = gears.get(coordinate, 0.0) + float(model.wrap_prm[part])
    return {coordinate: gear for coordinate, gear in gears.items() if gear}


def line_of(named: NamedModel, tendon: int) -> RobotLine | str:
    """Return the line of a spatial tendon through its sites; a text says why there is none."""
    model = named.model
    links: list[str | None] = []
    points: list[FloatArray] = []
    factors: list[float] = []
    divisor, connected = 1.0, False
    for part in _parts(named, tendon):
        kind, item = int(model.wrap_type[part]), int(model.wrap_objid[part])
        if kind == _PULLEY:
            divisor, connected = float(model.wrap_prm[part]), False
        elif kind == _SITE:
            if points:
                factors.append(1.0 / divisor if connected else 0.0)
            links.append(named.bodies[model.site_bodyid[item]])
            points.append(np.array(model.site_pos[item]))
            connected = True
        else:
            return "a path over shapes, around which it wraps"
    return RobotLine(tuple(links), np.array(points), tuple(factors)) if any(factors) else "no path between two sites"


def two_points(named: NamedModel, tendon: int) -> tuple[tuple[str | None, str | None], FloatArray] | None:
    """Return links and points (2, 3) of a spatial tendon between sites of two bodies; None: it is another."""
    line = line_of(named, tendon)
    if isinstance(line, str) or len(line.links) != 2 or line.links[0] == line.links[1] or line.factors != (1.0,):
        return None
    return (line.links[0], line.links[1]), line.points


@dataclass
class Elasticity:
    """What springs and dampers of a tendon do, in the terms of MuJoCo: coefficients of powers from the first on."""

    stiffness: FloatArray  # (1 + mjNPOLY,), of the stretch
    damping: FloatArray  # (1 + mjNPOLY,), of the rate
    free: tuple[float, float]

    @property
    def is_linear(self) -> bool:
        """Whether both are."""
        return not (self.stiffness[1:].any() or self.damping[1:].any())


def add_tendons(named: NamedModel, robot: Robot, damping: FloatArray) -> None:
    """Add springs and dampers of tendons to a robot; `damping` is that of their actuators, (ntendon, 1 + mjNPOLY)."""
    model, report = named.model, named.report
    for tendon in range(model.ntendon):
        name = named.tendons[tendon]
        stiff = np.concatenate([[model.tendon_stiffness[tendon]], model.tendon_stiffnesspoly[tendon]])
        damp = np.concatenate([[model.tendon_damping[tendon]], model.tendon_dampingpoly[tendon]]) + damping[tendon]
        lowest, highest = model.tendon_lengthspring[tendon].tolist()
        elastic = Elasticity(
            stiff * (not named.disables("spring")), damp * (not named.disables("damper")), (lowest, highest)
        )
        if not elastic.stiffness.any() and not elastic.damping.any():
            continue
        gears = fixed_tendon(named, tendon)
        place = line_of(named, tendon) if gears is None else gears
        if isinstance(place, str):
            report.left_out(
                f"tendon {name!r} > stiffness, damping",
                f"{place}; its forces ({elastic.stiffness[0]:g} N/m, {elastic.damping[0]:g} N s/m) lack",
            )
        elif place:
            _add_elasticity(named, robot, tendon, elastic, place)


def _add_elasticity(
    named: NamedModel, robot: Robot, tendon: int, elastic: Elasticity, place: dict[Coordinate, float] | RobotLine
) -> None:
    name = named.tendons[tendon]
    element = f"tendon {name!r} > spring"
    stiffness, damping = float(elastic.stiffness[0]), float(elastic.damping[0])
    lowest, highest = elastic.free
    points = two_points(named, tendon)
    one_length = lowest == highest or not stiffness
    if not elastic.is_linear or min(stiffness, damping) < 0.0:
        formula, parameters = nonlinear_force(elastic)
        what = "spring and damper by a formula"
        robot.laws.append(RobotLaw(name, place, formula, parameters, kind="tendon", what=what, element=element))
    elif isinstance(place, dict) and one_length:
        robot.actuators.append(RobotActuator(name, place, 0.0, stiffness * lowest, stiffness, damping, element=element))
    elif points is not None and one_length:
        free = lowest if stiffness else 0.0
        robot.rods.append(RobotRod(name, *points, stiffness, damping, free, element=element))
    else:
        robot.tendons.append(RobotTendon(name, place, stiffness, damping, elastic.free, element))


def nonlinear_force(elastic: Elasticity) -> tuple[str, dict[str, float]]:
    """Return the force of springs and dampers by powers of stretch and rate, the latter odd, and its parameters.

    >>> nonlinear_force(Elasticity(np.array([2.0, 0.0, 5.0]), np.array([0.0, 1.0, 0.0]), (0.1, 0.1)))[0]
    '-(k*({x} - free) + k3*({x} - free)^3 + d2*{v}*abs({v}))'
    """
    lowest, highest = elastic.free
    found: dict[str, float] = {}
    stretch, terms = "({x} - free)", []
    if elastic.stiffness.any():
        if lowest == highest:
            found["free"] = lowest
        else:
            stretch = "(max(0, {x} - free_upper) + min(0, {x} - free_lower))"
            found |= {"free_lower": lowest, "free_upper": highest}
    for power, coefficient in enumerate(elastic.stiffness.tolist(), start=1):
        if coefficient:
            name = "k" if power == 1 else f"k{power}"
            terms.append(f"{name}*{stretch}" + (f"^{power}" if power > 1 else ""))
            found[name] = coefficient
    for power, coefficient in enumerate(elastic.damping.tolist(), start=1):
        if coefficient:
            name = "d" if power == 1 else f"d{power}"
            terms.append(
                f"{name}*{{v}}" + ("*abs({v})" if power == 2 else "" if power == 1 else f"*abs({{v}})^{power - 1}")
            )
            found[name] = coefficient
    return f"-({' + '.join(terms)})", found


def has_friction(named: NamedModel) -> bool:
    """Return whether the options leave dry friction enabled."""
    return not named.disables("frictionloss", "constraint")


def add_reels(named: NamedModel, robot: Robot, armature: FloatArray) -> None:
    """Add dry friction, armature and range of tendons to a robot; `armature` is theirs and of their actuators.

    Friction and armature of a fixed tendon of one joint are those of that joint. The sum of several becomes the
    coordinate of a joint of its own.
    """
    model = named.model
    losses = model.tendon_frictionloss * has_friction(named)
    limited = model.tendon_limited * (not named.disables("limit", "constraint"))
    for tendon in np.flatnonzero((losses != 0.0) | (armature != 0.0) | (limited != 0)):
        gears = fixed_tendon(named, int(tendon))
        name = named.tendons[tendon]
        loss, inertia = float(losses[tendon]), float(armature[tendon])
        if gears is None:
            _leave_out(named, f"tendon {name!r}", loss, inertia, bool(limited[tendon]))
            continue
        element = f"tendon {name!r}"
        if len(gears) == 1:
            (((joint, _), gear),) = gears.items()
            _add_to_joint(named, robot.joints[joint], element, loss * abs(gear), inertia * gear**2)
            loss = inertia = 0.0
        limits = tuple(model.tendon_range[tendon].tolist()) if limited[tendon] else None
        if gears and (loss or inertia or limits):
            robot.reels.append(RobotReel(name, gears, loss, inertia, limits, element))


def _add_to_joint(named: NamedModel, joint: RobotJoint, element: str, loss: float, inertia: float) -> None:
    if loss:
        joint.friction = (sum(joint.friction) + loss,)
        named.report.taken(f"{element} > frictionloss", f"in {joint.element}")
    if inertia:
        joint.reflected_inertia = (sum(joint.reflected_inertia) + inertia,)


def _leave_out(named: NamedModel, element: str, loss: float, inertia: float, limited: bool) -> None:
    """Report what the length of a spatial tendon has, which is no coordinate."""
    report = named.report
    if loss:
        report.left_out(
            f"{element} > frictionloss", f"dry friction acts in joints; the line moves without its {loss:g} N"
        )
    if inertia:
        report.left_out(f"{element} > armature", f"{inertia:g} kg that move with the length of a line are missing")
    if limited:
        report.left_out(f"{element} > range", "Linkwork has no limits of lines: the length is not bounded")


def _parts(named: NamedModel, tendon: int) -> FloatArray:
    model = named.model
    return np.arange(model.tendon_adr[tendon], model.tendon_adr[tendon] + model.tendon_num[tendon])
