"""Joints made of what a user gives: frames, rotors and limits."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from linkwork._util.checks import FloatArray, check_finite, finite, length, numbers, shortened
from linkwork.errors import MechanismError
from linkwork.mechanism.frames import Frame
from linkwork.mechanism.joints import AlongPath, JointKind
from linkwork.mechanism.part_checks import GROUND, check_body_known
from linkwork.mechanism.parts import Joint, check_frame

if TYPE_CHECKING:
    from linkwork.mechanism.surroundings import Surroundings


def joint(
    mech: Surroundings,
    name: str,
    kind: JointKind,
    parent: str,
    child: str,
    at: ArrayLike | None,
    parent_frame: Frame | None,
    child_frame: Frame | None,
    cut: bool,
    reflected_inertia: ArrayLike,
    max_load: ArrayLike,
) -> Joint:
    """Return a joint between bodies of `mech`; errors name the joint."""
    what = f"joint {name!r}"
    if not isinstance(kind, JointKind):
        raise MechanismError(f"{what}: kind must be a joint such as Revolute(axis=(0, 0, 1)), not {kind!r}")
    for body in (parent, child):
        check_body_known(mech, what, body)
    if parent == child:
        raise MechanismError(f"{what} joins {parent!r} to itself: give two different bodies")
    if not isinstance(cut, bool | np.bool_):
        raise MechanismError(f"{what}: cut must be True or False, not {cut!r}")
    if at is None:
        frames = _given_frames(what, parent_frame, child_frame)
    elif isinstance(kind, AlongPath):
        raise MechanismError(f"{what}: a joint along a path has no single place; give parent_frame= and child_frame=")
    elif parent_frame is None and child_frame is None:
        point = finite(at, (3,), f"{what}: at")
        frames = _frame_in(mech, parent, point), _frame_in(mech, child, point)
    else:
        raise MechanismError(f"{what}: give either at= or parent_frame= and child_frame=, not both")
    rotors = _of_speeds(kind, reflected_inertia, f"{what}: reflected_inertia", "give 0 for none")
    limits = _of_speeds(kind, max_load, f"{what}: max_load", "leave it out for none")
    if rotors.any():
        check_finite(rotors, f"{what}: reflected_inertia")
    return Joint(name, kind, parent, child, *frames, bool(cut), rotors, limits)


def _of_speeds(kind: JointKind, value: ArrayLike, what: str, remedy: str) -> FloatArray:
    """Return a number for each speed of a joint, (nu,), from one for all of them or as many; none is below zero."""
    plain: object = value
    if isinstance(plain, float) and plain >= 0.0:
        return _alike(kind.nu, plain)
    count, title = length(value), type(kind).__name__
    if count != kind.nu and (count or np.ndim(value)):
        raise MechanismError(
            f"{what} has {count} numbers, but a {title} has {kind.nu} speeds: give one number for all of them"
            + (f", or {kind.nu}" if kind.nu > 1 else "")
        )
    given = np.array(np.broadcast_to(numbers(value, np.shape(value), what), (kind.nu,)))
    if not (given >= 0.0).all():
        raise MechanismError(f"{what} must not be below zero, and no NaN; {remedy}, not {shortened(value)}")
    given.setflags(write=False)
    return given


@lru_cache
def _alike(count: int, value: float) -> FloatArray:
    """Return the same number for each of several speeds; most joints share such arrays."""
    found = np.full(count, value)
    found.setflags(write=False)
    return found


def _given_frames(what: str, parent_frame: Frame | None, child_frame: Frame | None) -> tuple[Frame, Frame]:
    frames = []
    for frame, side in ((parent_frame, "parent_frame"), (child_frame, "child_frame")):
        if frame is not None:
            check_frame(frame, f"{what}: {side}")
        frames.append(Frame() if frame is None else frame)
    return frames[0], frames[1]


def _frame_in(mech: Surroundings, body: str, point: FloatArray) -> Frame:
    """Return the frame at a world point, parallel to the world, in the frame of a body in its reference pose."""
    if body == GROUND:
        return Frame(point)
    pose = mech.bodies[body]
    return Frame(pose.rotation.T @ (point - pose.origin), pose.rotation.T)
