"""Where actuators of a compiled MJCF model act: on joints, tendons, sites and slider-cranks.

MuJoCo's force F loads the speeds by moment' F, the moment being the derivative of the transmission's length but for
sites, of which it is the wrench of the gear, and a frozen reference site.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork.formats.mjcf.named import NamedModel, frame
from linkwork.formats.mjcf.tendons import fixed_tendon, line_of
from linkwork.formats.robot import Place, Robot, RobotFrames, RobotLine, RobotPoint
from linkwork.mechanism import Frame

ON_JOINT, IN_PARENT, SLIDER_CRANK, ON_TENDON, ON_SITE = range(5)  # MuJoCo's mjtTrn
_OTHERS = {5: "adhesion of a body, which acts in contacts", 6: "a relative orientation with three forces"}
_FREE, _BALL = 0, 1  # MuJoCo's mjtJoint


@dataclass
class NotPossible(Exception):
    """Why an actuator is left out."""

    why: str


def place_of(named: NamedModel, robot: Robot, actuator: int, needs_length: bool, needs_rate: bool) -> Place:
    """Return where an actuator acts, with what its force reads of length and rate."""
    model = named.model
    kind, target = int(model.actuator_trntype[actuator]), int(model.actuator_trnid[actuator, 0])
    gear = np.array(model.actuator_gear[model.actuator_outadr[actuator]])
    if kind == ON_TENDON:
        return _tendon(named, target, float(gear[0]))
    if kind == SLIDER_CRANK:
        return _slider_crank(named, actuator, target, float(gear[0]))
    if kind == ON_SITE:
        return _site(named, actuator, target, gear, needs_rate)
    if kind not in (ON_JOINT, IN_PARENT):
        raise NotPossible(f"it acts on {_OTHERS.get(kind, 'an unknown transmission')}")
    if named.is_scalar(target):
        return _gears({named.joint_coordinate(target): float(gear[0])})
    if int(model.jnt_type[target]) == _BALL:
        return _ball(named, robot, target, gear[:3], kind == IN_PARENT, needs_length)
    return _free(named, robot, target, gear, kind == IN_PARENT)


def _gears(gears: dict[tuple[str, int], float]) -> dict[tuple[str, int], float]:
    found = {coordinate: gear for coordinate, gear in gears.items() if gear}
    if not found:
        raise NotPossible("its gear is zero")
    return found


def _tendon(named: NamedModel, tendon: int, gear: float) -> Place:
    of_tendon = fixed_tendon(named, tendon)
    if of_tendon is not None:
        return _gears({coordinate: gear * one for coordinate, one in of_tendon.items()})
    line = line_of(named, tendon)
    if isinstance(line, str):
        raise NotPossible(f"it pulls a spatial tendon with {line}")
    if not gear:
        raise NotPossible("its gear is zero")
    return RobotLine(line.links, line.points, tuple(gear * factor for factor in line.factors))


def _ball(named: NamedModel, robot: Robot, joint: int, gear: FloatArray, in_parent: bool, needs_length: bool) -> Place:
    """Return the place of a torque, in axes of the child or the parent; its length is that along a rotation vector."""
    if not gear.any():
        raise NotPossible("its gear is zero")
    if not needs_length and not in_parent:
        return _gears({(named.joints[joint], axis): float(one) for axis, one in enumerate(gear)})
    of = robot.joints[named.joints[joint]]
    ends, frames = (of.parent, of.child), (of.parent_frame, of.child_frame)
    if in_parent:
        return _between(ends, frames, torque=gear)
    return _between(ends[::-1], frames[::-1], torque=-gear)


def _free(named: NamedModel, robot: Robot, joint: int, gear: FloatArray, in_parent: bool) -> Place:
    """Return the place of a force in world axes at the body's origin and a torque in its own axes, or of the world."""
    if not gear.any():
        raise NotPossible("its gear is zero")
    name = named.joints[joint]
    if not gear[:3].any() and not in_parent:
        return _gears({(name, axis): float(one) for axis, one in enumerate(gear[3:])})
    if gear[3:].any() and not in_parent:
        raise NotPossible("its force is along axes of the world and its torque along those of the body")
    place = _between((None, robot.joints[name].child), (Frame(), Frame()), force=gear[:3], torque=gear[3:])
    place.length = "0"  # MuJoCo's on a free joint
    return place


def _between(
    links: tuple[str | None, ...],
    frames: tuple[Frame, ...],
    force: FloatArray | None = None,
    torque: FloatArray | None = None,
) -> RobotFrames:
    """Return the place of a force and a torque of constant components, which time displacement and rotation as well."""
    numbers = {"force": np.zeros(3) if force is None else force, "torque": np.zeros(3) if torque is None else torque}
    place = RobotFrames((links[0], links[1]), (frames[0], frames[1]))
    for key, vector in numbers.items():
        names = [f"{key}_{axis}" for axis in "xyz"]
        components = tuple(f"{name}*{{F}}" if one else "0" for name, one in zip(names, vector, strict=True))
        place.parameters |= {name: float(one) for name, one in zip(names, vector, strict=True) if one}
        setattr(place, key, components)
    place.length = _sum(place.parameters, {"force": "displacement[{}]", "torque": "rotation[{}]"})
    place.rate = _sum(place.parameters, {"force": "velocity[{}]", "torque": "angular_velocity[{}]"})
    return place


def _sum(parameters: dict[str, float], of: dict[str, str]) -> str:
    terms = [
        f"{key}_{axis}*{what.format(k)}"
        for key, what in of.items()
        for k, axis in enumerate("xyz", start=1)
        if f"{key}_{axis}" in parameters
    ]
    return f"({' + '.join(terms)})" if terms else "0"


def _site(named: NamedModel, actuator: int, site: int, gear: FloatArray, needs_rate: bool) -> Place:
    if not gear.any():
        raise NotPossible("its gear is zero")
    link, own = of_site(named, site)
    reference = int(named.model.actuator_trnid[actuator, 1])
    if reference >= 0:
        return _relative(named, (reference, site), gear)
    if needs_rate:
        return _moving_site(link, own, gear)
    return RobotPoint(link, own.position, own.rotation @ gear[:3], own.rotation @ gear[3:])


def of_site(named: NamedModel, site: int) -> tuple[str | None, Frame]:
    """Return the link of a site, and its frame there."""
    model = named.model
    return named.bodies[model.site_bodyid[site]], frame(model.site_pos[site], model.site_quat[site])


def _moving_site(link: str | None, own: Frame, gear: FloatArray) -> RobotFrames:
    """Return the place of a force on a site by its speed: between it and the origin of the world."""
    place = _at_first_frame(_between((link, None), (own, Frame()), force=-gear[:3], torque=-gear[3:]))
    place.length = "0"  # MuJoCo's on a site alone
    return place


def _at_first_frame(place: RobotFrames) -> RobotFrames:
    """Return the same place, where the opposite force on the first link acts at its own frame's origin.

    The torque is less by d x f with the displacement d, and the rate is that of the first origin as the second link
    sees it, d' - w x d.
    """
    crossed = ((2, 3), (3, 1), (1, 2))
    torque = []
    for own, (i, j) in zip(place.torque, crossed, strict=True):
        terms = [
            f"{sign} displacement[{a}]*force_{'xyz'[b - 1]}*{{F}}"
            for sign, a, b in (("-", i, j), ("+", j, i))
            if f"force_{'xyz'[b - 1]}" in place.parameters
        ]
        torque.append(" ".join([own if own != "0" or not terms else "", *terms]).strip() or "0")
    place.torque = tuple(torque)
    rates = []
    for k, axis, (i, j) in zip((1, 2, 3), "xyz", crossed, strict=True):
        turn = f"angular_velocity[{i}]*displacement[{j}] - angular_velocity[{j}]*displacement[{i}]"
        parts = {"force": f"(velocity[{k}] - {turn.replace(' - ', ' + ')})", "torque": f"angular_velocity[{k}]"}
        rates += [f"{key}_{axis}*{one}" for key, one in parts.items() if f"{key}_{axis}" in place.parameters]
    place.rate = f"({' + '.join(rates)})"
    return place


def _relative(named: NamedModel, sites: tuple[int, int], gear: FloatArray) -> RobotFrames:
    """Return the place of a force on a site in axes of another one, whose body is frozen, or moves along."""
    (first, reference), (second, own) = (of_site(named, site) for site in sites)
    place = _between((first, second), (reference, own), force=gear[:3], torque=gear[3:])
    bodies = [int(named.model.body_weldid[named.model.site_bodyid[site]]) for site in sites]
    if not gear[:3].any() or _carries(named, *bodies):
        return place
    if _carries(named, *bodies[::-1]):
        return _at_first_frame(place)
    raise NotPossible(
        "its reference site is on another branch of bodies: MuJoCo's force and counterforce are not on one line there, "
        "and turn the bodies that carry both"
    )


def _carries(named: NamedModel, body: int, other: int) -> bool:
    """Return whether a body is on the way from another one to the world, or the world."""
    while other > body:
        other = int(named.model.body_weldid[named.model.body_parentid[other]])
    return other == body


def _slider_crank(named: NamedModel, actuator: int, crank: int, gear: float) -> RobotFrames:
    """Return the place of a force on a rod of length r from the crank's pin to a slider on the axis z of its site.

    With d from the slider's site to the pin, in axes of the site, the slider is at l = d3 - sqrt(r^2 - d1^2 - d2^2), or
    at d3 where the rod does not reach its axis. The force on the pin is the derivative of l by d.
    """
    model = named.model
    if not gear:
        raise NotPossible("its gear is zero")
    slider = int(model.actuator_trnid[actuator, 1])
    ends = [of_site(named, site) for site in (slider, crank)]
    rod = float(model.actuator_cranklength[model.actuator_outadr[actuator]])
    x, y, z = (f"displacement[{k}]" for k in (1, 2, 3))
    square = f"(rod*rod - {x}*{x} - {y}*{y})"
    beyond = f"if({square} > 0, sqrt({square}), rod)"
    slopes = tuple(f"if({square} > 0, gear*{one}/{beyond}, 0)" for one in (x, y))
    rates = [f"{slope}*velocity[{k}]" for k, slope in enumerate(slopes, start=1)]
    return RobotFrames(
        (ends[0][0], ends[1][0]),
        (ends[0][1], ends[1][1]),
        force=(*(f"{slope}*{{F}}" for slope in slopes), "gear*{F}"),
        length=f"(gear*({z} - if({square} > 0, {beyond}, 0)))",
        rate=f"({' + '.join(rates)} + gear*velocity[3])",
        parameters={"gear": gear, "rod": rod},
    )
