"""Warnings of a mechanism: legal, and nearly surely a mistake. Each rule is made to be silent in case of doubt.

- Inertia: the radius of gyration exceeds 20 times the distance of any point named on the body from its centre of
  mass, and 5 times that of any body. Wheels and platforms reach beyond their joints, but not so far; units that are
  mistaken, such as kg mm^2, give a hundred times and more.
- Degrees: a start angle exceeds 20 rad; joints in gears and on screws may turn that far.
- Joint frames: all joints of a body are at its origin, parallel revolutes or spherical ones, with its centre of mass
  off their axis, so that they hold the body like a single one; or a frame is at a body's origin, whose reference pose
  is given, and the other one is elsewhere in the reference poses.
- Springs: a body on a vertical guide that nothing else holds sinks more than 30 times the size of the mechanism (at
  least 1 m), as where N/mm are taken for N/m, or a spring of free length zero below it pulls it down.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import TYPE_CHECKING
from weakref import finalize

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork._util.names import quoted
from linkwork._util.stack import levels_of_package
from linkwork.errors import DegreesWarning, InertiaWarning, JointFrameWarning, LinkworkWarning
from linkwork.mechanism.forces import Point
from linkwork.mechanism.frames import Frame
from linkwork.mechanism.joints import Revolute, Screw, Spherical
from linkwork.mechanism.part_checks import GROUND
from linkwork.mechanism.spring_plausibility import spring_warnings

if TYPE_CHECKING:
    from linkwork.mechanism.mechanism import Mechanism
    from linkwork.mechanism.parts import Body, Joint

LARGEST_START = 20.0  # rad
GYRATION_OF_BODY, GYRATION_OF_ALL = 20.0, 5.0
COINCIDENT = 1e-9  # of the size
PARALLEL = 1e-6  # rad
SEPARATED = 1e-3  # of the size
_AT_ORIGIN = Frame()
_shown: dict[int, set[str]] = {}  # texts by the identity of each mechanism that exists


def warn(mech: Mechanism, more: Iterable[LinkworkWarning] = ()) -> None:
    """Show the warnings of a mechanism, and more of it, each once, at the line that called the package."""
    if id(mech) not in _shown:
        _shown[id(mech)] = set()
        finalize(mech, _shown.pop, id(mech), None)
    shown = _shown[id(mech)]
    level = levels_of_package()
    for warning in (*implausible(mech), *more):
        if str(warning) not in shown:
            warnings.warn(warning, stacklevel=level)
            shown.add(str(warning))


def implausible(mech: Mechanism) -> Iterator[LinkworkWarning]:
    """Return the warnings of a mechanism."""
    sizes = _sizes(mech)
    size = float(sizes.max(initial=0.0))
    yield from _inertias(mech, sizes[:-1], size)
    yield from _degrees(mech)
    yield from _coinciding_joints(mech, size)
    yield from _separated_frames(mech, size)
    yield from spring_warnings(mech, size)


def _sizes(mech: Mechanism) -> FloatArray:
    """Return the largest distance of a point named on each body, and last on the ground, from its centre, m.

    It is the centre of mass; of the ground the centre of its points.
    """
    number = {name: i for i, name in enumerate((*mech.bodies, GROUND))}
    ends: list[tuple[str, FloatArray | Point]] = []
    for joint in mech.joints.values():
        ends += [(joint.parent, joint.parent_frame.position), (joint.child, joint.child_frame.position)]
    for force in mech.forces:
        ends += force.ends
    for distance in mech.distances.values():
        ends += zip(distance.bodies, distance.points, strict=True)
    bodies = np.array([number[body] for body, _ in ends], dtype=int)
    points = np.array([point for _, point in ends], dtype=float).reshape(-1, 3)
    on_ground = points[bodies == len(mech.bodies)]
    ground = on_ground.mean(axis=0) if len(on_ground) else np.zeros(3)
    centres = np.array([*(body.com for body in mech.bodies.values()), ground])
    sizes = np.zeros(len(number))
    np.maximum.at(sizes, bodies, np.linalg.norm(points - centres[bodies], axis=1))
    return sizes


def _inertias(mech: Mechanism, sizes: FloatArray, size: float) -> Iterator[InertiaWarning]:
    bodies = list(mech.bodies.values())
    moments = np.abs([body.inertia for body in bodies]).sum(axis=2).max(axis=1)  # bounds on the principal moments
    masses = np.array([body.mass for body in bodies])
    radii = np.sqrt(np.divide(moments, masses, out=np.zeros(len(bodies)), where=masses > 0.0))
    for i in np.flatnonzero((sizes > 0.0) & (radii > np.maximum(GYRATION_OF_BODY * sizes, GYRATION_OF_ALL * size))):
        yield InertiaWarning(
            f"body {bodies[i].name!r} of mechanism {mech.name!r}: a moment of inertia of {moments[i]:.3g} kg m^2 at "
            f"{bodies[i].mass:.3g} kg is a radius of gyration of {radii[i]:.3g} m, but all joints and springs of the "
            f"body are within {sizes[i]:.3g} m of its centre of mass; give its inertia in kg m^2 (1 kg mm^2 is 1e-6, "
            "1 kg cm^2 is 1e-4), about the centre of mass"
        )


def _degrees(mech: Mechanism) -> Iterator[DegreesWarning]:
    geared = {t.joint for one in mech.couplings.values() if len(one.terms) > 1 for t in one.terms.values()}
    for name, value in mech.start_q.items():
        kind = mech.joints[name].kind
        if name in geared or isinstance(kind, Screw) or kind.quaternion is not None:
            continue
        for q, unit in zip(np.ravel(value), kind.coordinate_units, strict=True):
            if unit == "rad" and abs(q) > LARGEST_START:
                yield DegreesWarning(
                    f"start q of joint {name!r} in mechanism {mech.name!r}: {q:.6g} rad are {abs(q) / (2 * np.pi):.3g} "
                    f"revolutions; angles are in rad, and {q:.6g} degrees are {np.deg2rad(q):.6g} rad"
                )
                break


# ---- joint frames ----------------------------------------------------------------------------------


def _coinciding_joints(mech: Mechanism, size: float) -> Iterator[JointFrameWarning]:
    """Bodies all of whose joints coincide at the body's origin, where a frame that is left out is."""
    joints: dict[str, list[Joint]] = {}
    ends = [(joint, body) for joint in mech.joints.values() for body in (joint.parent, joint.child)]
    points = np.array([f.position for j in mech.joints.values() for f in (j.parent_frame, j.child_frame)])
    elsewhere = np.abs(points.reshape(-1, 3)).max(axis=1) > COINCIDENT * size
    held_apart = {ends[k][1] for k in np.flatnonzero(elsewhere).tolist()}
    for joint, body in ends:
        if body not in held_apart:
            joints.setdefault(body, []).append(joint)
    for body, own in joints.items():
        if body == GROUND or len(own) < 2 or mech.bodies[body].mass == 0.0:
            continue
        if not _coincide(own, body, mech.bodies[body].com, COINCIDENT * size):
            continue
        last = own[-1]
        side = "child_frame" if last.child == body else "parent_frame"
        yield JointFrameWarning(
            f"body {body!r} of mechanism {mech.name!r}: all its joints, {quoted(one.name for one in own)}, are at its "
            f"origin and hold it like a single one, and its centre of mass is off their axis; give {side}= of joint "
            f"{last.name!r}, or of another one of them: a frame that is left out is at the body's origin"
        )


def _separated_frames(mech: Mechanism, size: float) -> Iterator[JointFrameWarning]:
    """Joints that only turn, with one frame left out, whose points are separated in the reference poses."""
    if mech.report is not None or not _any_is_placed(mech):
        return  # a file states all frames, and its loops may be open in its poses
    for joint in mech.joints.values():
        sides = ((joint.parent, joint.parent_frame, "parent_frame"), (joint.child, joint.child_frame, "child_frame"))
        left_out = [side for side in sides if side[1] == _AT_ORIGIN]
        if len(left_out) != 1 or "m" in joint.kind.motion_units or joint.kind.nu == 0:
            continue
        ((body, _, name),) = left_out
        points = [point for side in sides if (point := _in_world(mech, *side[:2])) is not None]
        if body == GROUND or len(points) < len(sides):
            continue
        gap = float(np.linalg.norm(points[1] - points[0]))
        if gap > SEPARATED * size:
            yield JointFrameWarning(
                f"joint {joint.name!r} of mechanism {mech.name!r}: its {name}, left out or Frame(), is at the origin "
                f"of body {body!r}, {gap:.3g} m away from the other frame in the reference poses of the bodies; "
                f"give {name}=, or place the joint by at="
            )


def _in_world(mech: Mechanism, body: str, frame: Frame) -> FloatArray | None:
    """Return the point of a joint frame in a body's reference pose; None if no pose is given."""
    if body == GROUND:
        return frame.position
    pose = mech.bodies[body]
    return pose.origin + pose.rotation @ frame.position if _is_placed(pose) else None


def _any_is_placed(mech: Mechanism) -> bool:
    """Whether any body is; all are looked at together."""
    origins = np.array([body.origin for body in mech.bodies.values()])
    rotations = np.array([body.rotation for body in mech.bodies.values()])
    return bool(origins.any()) or not (rotations == np.eye(3)).all()


def _is_placed(body: Body) -> bool:
    """Whether the reference pose of a body differs from that of the world."""
    return bool(body.origin.any()) or not np.array_equal(body.rotation, np.eye(3))


def _coincide(joints: list[Joint], body: str, com: FloatArray, tolerance: float) -> bool:
    """Whether joints at the origin of a body hold it like a single one."""
    frames = [joint.child_frame if joint.child == body else joint.parent_frame for joint in joints]
    if all(isinstance(joint.kind, Spherical) for joint in joints):
        return bool(np.linalg.norm(com) > tolerance)
    if not all(isinstance(joint.kind, Revolute) for joint in joints):
        return False
    axes = [frame.rotation @ joint.kind.axis for frame, joint in zip(frames, joints, strict=True)]  # type: ignore[attr-defined]
    parallel = all(np.linalg.norm(np.cross(one, other)) <= PARALLEL for one, other in combinations(axes, 2))
    return parallel and bool(np.linalg.norm(np.cross(com, axes[0])) > tolerance)
