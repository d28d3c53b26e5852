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

import sys
import warnings
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING
from weakref import finalize

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork._util.names import quoted
from linkwork.errors import DegreesWarning, InertiaWarning, JointFrameWarning, LinkworkWarning
from linkwork.mechanism.checks import GROUND
from linkwork.mechanism.forces import Point, Wrench, of_kind
from linkwork.mechanism.frames import Frame
from linkwork.mechanism.joints import Revolute, Screw, Spherical
from linkwork.mechanism.spring_plausibility import spring_warnings
from linkwork.mechanism.springs import PointSpringDamper

if TYPE_CHECKING:
    from linkwork.mechanism.mechanism import Mechanism
    from linkwork.mechanism.parts import Joint

LARGEST_START = 20.0  # rad
GYRATION_OF_BODY, GYRATION_OF_ALL = 20.0, 5.0
COINCIDENT = 1e-9  # of the size
PARALLEL = 1e-6  # rad
SEPARATED = 1e-3  # of the size
_AT_ORIGIN = Frame()
_PACKAGE = __name__.partition(".")[0]
_shown: dict[int, set[str]] = {}  # texts by the identity of each mechanism that exists


def warn(mech: Mechanism) -> None:
    """Show the warnings of a mechanism, each once, at the line that called the package."""
    if id(mech) not in _shown:
        _shown[id(mech)] = set()
        finalize(mech, _shown.pop, id(mech), None)
    shown = _shown[id(mech)]
    level = _levels_of_package()
    for warning in implausible(mech):
        if str(warning) not in shown:
            warnings.warn(warning, stacklevel=level)
            shown.add(str(warning))


def _levels_of_package() -> int:
    """Number of frames up to the first one outside the package, as `warnings.warn` counts them in `warn`."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == _PACKAGE:
        level, frame = level + 1, frame.f_back
    return level


def implausible(mech: Mechanism) -> Iterator[LinkworkWarning]:
    """Return the warnings of a mechanism."""
    points = _points(mech)
    sizes = {body: float(np.linalg.norm(p - _centre(mech, body, p), axis=1).max()) for body, p in points.items()}
    size = max(sizes.values(), default=0.0)
    yield from _inertias(mech, sizes)
    yield from _degrees(mech)
    yield from _coinciding_joints(mech, size)
    yield from _separated_frames(mech, size)
    yield from spring_warnings(mech, size)


def _points(mech: Mechanism) -> dict[str, FloatArray]:
    """Return the points (n, 3) that are named on each body, the ground among them, in its frame, m."""
    found: dict[str, list[FloatArray]] = {}
    for joint in mech.joints.values():
        found.setdefault(joint.parent, []).append(joint.parent_frame.position)
        found.setdefault(joint.child, []).append(joint.child_frame.position)
    ends: list[tuple[Sequence[str], Sequence[Point]]] = []
    ends += [(spring.bodies, spring.points) for spring in of_kind(mech.forces, PointSpringDamper)]
    ends += [(distance.bodies, distance.points) for distance in mech.distances.values()]
    ends += [((wrench.body,), (wrench.point,)) for wrench in of_kind(mech.forces, Wrench)]
    for bodies, points in ends:
        for body, point in zip(bodies, points, strict=True):
            found.setdefault(body, []).append(np.asarray(point))
    return {body: np.array(points) for body, points in found.items()}


def _centre(mech: Mechanism, body: str, points: FloatArray) -> FloatArray:
    """Centre of mass of a body; of the ground the centre of its points."""
    centre: FloatArray = points.mean(axis=0) if body == GROUND else mech.bodies[body].com
    return centre


def _inertias(mech: Mechanism, sizes: dict[str, float]) -> Iterator[InertiaWarning]:
    size = max(sizes.values(), default=0.0)
    for body in mech.bodies.values():
        reach = sizes.get(body.name, 0.0)
        moment = float(np.abs(body.inertia).sum(axis=1).max())  # a bound on the largest principal moment
        radius = float(np.sqrt(moment / body.mass))
        if reach > 0.0 and radius > max(GYRATION_OF_BODY * reach, GYRATION_OF_ALL * size):
            yield InertiaWarning(
                f"body {body.name!r} of mechanism {mech.name!r}: a moment of inertia of {moment:.3g} kg m^2 at "
                f"{body.mass:.3g} kg is a radius of gyration of {radius:.3g} m, but all joints and springs of the body "
                f"are within {reach:.3g} m of its centre of mass; give its inertia in kg m^2 (1 kg mm^2 is 1e-6, "
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
    for joint in mech.joints.values():
        for body in (joint.parent, joint.child):
            joints.setdefault(body, []).append(joint)
    for body, own in joints.items():
        if body == GROUND or len(own) < 2 or not _coincide(own, body, mech.bodies[body].com, COINCIDENT * size):
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
    if not pose.origin.any() and np.array_equal(pose.rotation, np.eye(3)):
        return None
    return pose.origin + pose.rotation @ frame.position


def _coincide(joints: list[Joint], body: str, com: FloatArray, tolerance: float) -> bool:
    frames = [joint.child_frame if joint.child == body else joint.parent_frame for joint in joints]
    if any(np.linalg.norm(frame.position) > tolerance for frame in frames):
        return False
    if all(isinstance(joint.kind, Spherical) for joint in joints):
        return bool(np.linalg.norm(com) > tolerance)
    if not all(isinstance(joint.kind, Revolute) for joint in joints):
        return False
    axes = [frame.rotation @ joint.kind.axis for frame, joint in zip(frames, joints, strict=True)]  # type: ignore[attr-defined]
    parallel = all(np.linalg.norm(np.cross(one, other)) <= PARALLEL for one, other in combinations(axes, 2))
    return parallel and bool(np.linalg.norm(np.cross(com, axes[0])) > tolerance)
