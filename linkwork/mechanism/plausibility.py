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
  A guide is a prismatic or a free joint without which its bodies hang on nothing, reached from the ground by such
  joints only, so that their poses at the start are known: r = r0 + R0 (p + q), R = R0 Rp Rc' for the frames p, Rp and
  c, Rc.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING
from weakref import finalize

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork._util.names import quoted
from linkwork._util.rotations import matrix_of
from linkwork._util.stack import levels_of_package
from linkwork.errors import DegreesWarning, InertiaWarning, JointFrameWarning, LinkworkWarning, SpringWarning
from linkwork.mechanism.actions import Stop
from linkwork.mechanism.forces import ForceOnJoints, Point, of_kind
from linkwork.mechanism.frames import Frame
from linkwork.mechanism.joints import Free, Prismatic, Revolute, Screw, Spherical
from linkwork.mechanism.part_checks import GROUND, lost_bodies
from linkwork.mechanism.pins import Pin
from linkwork.mechanism.springs import JointSpringDamper, PointSpringDamper

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


MOST_GUIDES = 100  # that are looked at; each costs time in proportion to the mechanism
SAG, SMALLEST_SIZE = 30.0, 1.0  # times the size, m
UPRIGHT = 0.7  # cosine between a spring or guide and the vertical


@dataclass(frozen=True)
class _Pose:
    position: FloatArray
    rotation: FloatArray


@dataclass(frozen=True)
class _Guide:
    """A guide, the bodies outboard of it, and their weight in world axes, N."""

    joint: Joint
    carried: frozenset[str]
    weight: FloatArray


def spring_warnings(mech: Mechanism, size: float) -> Iterator[SpringWarning]:
    """Return the warnings on springs; `size` is that of the largest body, m."""
    if not mech.forces or not mech.gravity.any():
        return
    poses = _poses(mech)
    for guide in _guides(mech, poses):
        in_joint = [s for s in of_kind(mech.forces, JointSpringDamper) if s.joint == guide.joint.name]
        between = [
            spring
            for spring in of_kind(mech.forces, PointSpringDamper)
            if (spring.bodies[0] in guide.carried) != (spring.bodies[1] in guide.carried)
        ]
        if len(in_joint) == 1 and not between and isinstance(guide.joint.kind, Prismatic):
            yield from _sagging(mech, guide, in_joint[0], poses, size)
        elif between and not in_joint:
            yield from _pulling_down(mech, guide, between, poses)


def _poses(mech: Mechanism) -> dict[str, _Pose]:
    """Return the poses at the start of bodies that guides alone join to the ground."""
    poses = {GROUND: _Pose(np.zeros(3), np.eye(3))}
    waiting = [joint for joint in mech.joints.values() if isinstance(joint.kind, Prismatic | Free)]
    while waiting:
        found = [joint for joint in waiting if joint.parent in poses and joint.child not in poses]
        if not found:
            break
        for joint in found:
            poses[joint.child] = _child_pose(mech, joint, poses[joint.parent])
        waiting = [joint for joint in waiting if joint not in found]
    return poses


def _child_pose(mech: Mechanism, joint: Joint, parent: _Pose) -> _Pose:
    q = mech.start_q.get(joint.name)
    frame = parent.rotation @ joint.parent_frame.rotation
    shift, turn = np.zeros(3), np.eye(3)
    if q is not None and isinstance(joint.kind, Prismatic):
        shift = joint.kind.axis * float(q[0])
    elif q is not None:
        shift, turn = q[:3], matrix_of(q[3:])
    rotation = frame @ turn @ joint.child_frame.rotation.T
    origin = parent.position + parent.rotation @ joint.parent_frame.position + frame @ shift
    return _Pose(origin - rotation @ joint.child_frame.position, rotation)


def _guides(mech: Mechanism, poses: dict[str, _Pose]) -> Iterator[_Guide]:
    """Return the guides that carry bodies which nothing but springs holds."""
    joints = [j for j in mech.joints.values() if isinstance(j.kind, Prismatic | Free) and j.parent in poses]
    coupled = {term.joint for coupling in mech.couplings.values() for term in coupling.terms.values()}
    actuated = {joint for force in mech.forces if isinstance(force, ForceOnJoints) for joint in force.joint_names}
    stops = {one.action.joint.partition("[")[0] for one in mech.transitions.values() if isinstance(one.action, Stop)}
    for joint in joints[:MOST_GUIDES]:
        if joint.name in coupled or joint.name in actuated or joint.name in stops:
            continue
        carried = frozenset(lost_bodies(mech, without=(joint.name,)))
        if not carried or _held_otherwise(mech, carried):
            continue
        weight = sum(mech.bodies[body].mass for body in carried) * mech.gravity
        yield _Guide(joint, carried, weight)


def _held_otherwise(mech: Mechanism, carried: frozenset[str]) -> bool:
    """Whether distances or pins join the bodies to others."""
    pairs = [one.bodies for one in mech.distances.values()]
    pairs += [(t.action.parent, t.action.child) for t in mech.transitions.values() if isinstance(t.action, Pin)]
    return any((first in carried) != (second in carried) for first, second in pairs)


def _sagging(
    mech: Mechanism, guide: _Guide, spring: JointSpringDamper, poses: dict[str, _Pose], size: float
) -> Iterator[SpringWarning]:
    joint = guide.joint
    stiffness, free = (float(np.ravel(value)[0]) for value in (spring.stiffness, spring.free))
    axis = poses[joint.parent].rotation @ joint.parent_frame.rotation @ joint.kind.axis  # type: ignore[attr-defined]
    force, q = float(guide.weight @ axis), float(mech.start_q.get(joint.name, np.zeros(1))[0])
    if stiffness <= 0.0 or abs(force) < UPRIGHT * float(np.linalg.norm(guide.weight)):
        return
    sag = abs(force / stiffness - (q - free))
    if sag > SAG * max(size, SMALLEST_SIZE):
        yield SpringWarning(
            f"SpringDamper on joint {joint.name!r} of mechanism {mech.name!r}: at rest under a weight of "
            f"{abs(force):.4g} N it sags by {sag:.3g} m; give the stiffness in N/m (1 N/mm is 1000 N/m), or the "
            "coordinate free= at which the spring is relaxed, so that it is preloaded"
        )


def _pulling_down(
    mech: Mechanism, guide: _Guide, springs: list[PointSpringDamper], poses: dict[str, _Pose]
) -> Iterator[SpringWarning]:
    """Warn where all springs that could carry the weight are below it and have no free length."""
    down = mech.gravity / np.linalg.norm(mech.gravity)
    found = []
    for spring in springs:
        if spring.stiffness <= 0.0:
            continue
        if spring.free != 0.0 or not all(body in poses for body in spring.bodies):
            return
        ends = [
            poses[b].position + poses[b].rotation @ np.array(p)
            for b, p in zip(spring.bodies, spring.points, strict=True)
        ]
        own = 0 if spring.bodies[0] in guide.carried else 1
        pull = ends[1 - own] - ends[own]
        if not pull @ down > UPRIGHT * float(np.linalg.norm(pull)):
            return
        found.append((spring, spring.bodies[own], float(spring.stiffness * np.linalg.norm(pull))))
    for spring, body, force in found:
        yield SpringWarning(
            f"{spring.label} of mechanism {mech.name!r}: its free length is 0, so that it pulls {body!r} down with "
            f"{force:.4g} N, and nothing else carries its weight; give free=, the length at which the spring is relaxed"
        )
