"""Tendons of a compiled MJCF model: springs and dampers on sums of coordinates or between two points."""

from __future__ import annotations

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork.formats.mjcf.named import NamedModel
from linkwork.formats.robot import Coordinate, Robot, RobotActuator, RobotRod

_JOINT, _SITE = 1, 3  # MuJoCo's mjtWrap


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


def two_points(named: NamedModel, tendon: int) -> tuple[tuple[str | None, str | None], FloatArray] | None:
    """Return links and points (2, 3) of a spatial tendon between sites of two bodies; None: it is another."""
    model = named.model
    parts = _parts(named, tendon)
    if len(parts) != 2 or (model.wrap_type[parts] != _SITE).any():
        return None
    sites = model.wrap_objid[parts]
    first, second = (named.bodies[body] for body in model.site_bodyid[sites])
    return None if first == second else ((first, second), np.array(model.site_pos[sites]))


def add_tendons(named: NamedModel, robot: Robot, damping: FloatArray) -> None:
    """Add springs and dampers of tendons to a robot; `damping` is that of their actuators, (ntendon,)."""
    model, report = named.model, named.report
    for tendon in range(model.ntendon):
        name = named.tendons[tendon]
        element = f"tendon {name!r}"
        stiffness = 0.0 if named.disables("spring") else float(model.tendon_stiffness[tendon])
        damper = 0.0 if named.disables("damper") else float(model.tendon_damping[tendon] + damping[tendon])
        if not stiffness and not damper:
            continue
        lowest, highest = model.tendon_lengthspring[tendon].tolist()
        if stiffness and lowest != highest:
            report.left_out(
                f"{element} > stiffness",
                f"{stiffness:g} N/m act only beyond the lengths {lowest:g} to {highest:g}; Linkwork's springs have no "
                "dead band",
            )
            stiffness = 0.0
            if not damper:
                continue
        gears, points = fixed_tendon(named, tendon), two_points(named, tendon)
        if gears is not None and gears:
            robot.actuators.append(
                RobotActuator(name, gears, 0.0, stiffness * lowest, stiffness, damper, element=f"{element} > spring")
            )
        elif points is not None:
            robot.rods.append(
                RobotRod(name, *points, stiffness, damper, lowest if stiffness else 0.0, element=f"{element} > spring")
            )
        else:
            report.left_out(
                f"{element} > stiffness, damping",
                f"a path over pulleys, shapes or several sites; its forces ({stiffness:g} N/m, {damper:g} N s/m) lack",
            )


def has_friction(named: NamedModel) -> bool:
    """Return whether the options leave dry friction enabled."""
    return not named.disables("frictionloss", "constraint")


def add_tendon_friction(named: NamedModel, robot: Robot) -> None:
    """Add the dry friction of fixed tendons of one joint to that joint."""
    losses = named.model.tendon_frictionloss * has_friction(named)
    for tendon in np.flatnonzero(losses):
        loss, gears = float(losses[tendon]), fixed_tendon(named, int(tendon))
        if gears is not None and len(gears) == 1:
            (((name, _), gear),) = gears.items()
            joint = robot.joints[name]
            joint.friction = (sum(joint.friction) + loss * abs(gear),)
            named.report.taken(f"tendon {named.tendons[tendon]!r} > frictionloss", f"in joint {name!r}")
        else:
            named.report.left_out(
                f"tendon {named.tendons[tendon]!r} > frictionloss",
                f"dry friction acts in one joint each; the tendon moves several without its {loss:g} N",
            )


def _parts(named: NamedModel, tendon: int) -> FloatArray:
    model = named.model
    return np.arange(model.tendon_adr[tendon], model.tendon_adr[tendon] + model.tendon_num[tendon])
