"""Springs that cannot carry the weight on them: bodies on vertical guides, held by nothing else.

A guide is a prismatic or a free joint without which its bodies hang on nothing, reached from the ground by such joints
only, so that their poses at the start are known: r = r0 + R0 (p + q), R = R0 Rp Rc' for the frames p, Rp and c, Rc.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork._util.rotations import matrix_of
from linkwork.errors import SpringWarning
from linkwork.mechanism.actions import Stop
from linkwork.mechanism.actuators import Actuator
from linkwork.mechanism.forces import of_kind
from linkwork.mechanism.joints import Free, Prismatic
from linkwork.mechanism.part_checks import GROUND, lost_bodies
from linkwork.mechanism.pins import Pin
from linkwork.mechanism.springs import JointSpringDamper, PointSpringDamper

if TYPE_CHECKING:
    from linkwork.mechanism.mechanism import Mechanism
    from linkwork.mechanism.parts import Joint

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
    actuated = {joint for force in of_kind(mech.forces, Actuator) for joint in force.joint_names}
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
