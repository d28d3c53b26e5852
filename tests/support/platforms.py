"""Parallel robots: a Gough-Stewart platform of six UPS limbs, a planar five-bar, a robot limb with a closed loop.

Their geometry stands here as plain numbers, for formulas that know nothing of the package.
"""

from __future__ import annotations

import numpy as np

import linkwork as lw

BASE_RADIUS, PLATFORM_RADIUS, HEIGHT = 0.5, 0.3, 0.6  # m
BASE_HALF_ANGLE, PLATFORM_HALF_ANGLE = np.deg2rad(12.0), np.deg2rad(44.0)  # between a pair of points and its middle
LIMBS = range(1, 7)
STRUTS = [f"P{k}" for k in LIMBS]  # the motors

_MIDDLES = np.repeat(np.deg2rad([0.0, 120.0, 240.0]), 2)
_SIGNS = np.tile([-1.0, 1.0], 3)


def _ring(radius: float, half_angle: float) -> np.ndarray:
    angle = _MIDDLES + _SIGNS * half_angle
    return radius * np.column_stack([np.cos(angle), np.sin(angle), np.zeros(6)])


BASE_POINTS = _ring(BASE_RADIUS, BASE_HALF_ANGLE)  # (6, 3), world
PLATFORM_POINTS = _ring(PLATFORM_RADIUS, PLATFORM_HALF_ANGLE)  # (6, 3), axes of the platform


def stewart(*, limits: tuple[float, float] | None = None) -> lw.Mechanism:
    """Six limbs, each a universal joint U, a strut P and a spherical joint S; `limits` of the struts' coordinates.

    All coordinates are zero with the platform level at `HEIGHT`. Body "platform", with its frame in its middle.
    """
    mech = lw.Mechanism("stewart")
    middle = np.array([0.0, 0.0, HEIGHT])
    mech.add_body("platform", 5.0, (0, 0, 0.02), np.diag([0.2, 0.21, 0.38]), origin=middle)
    for k, base, point in zip(LIMBS, BASE_POINTS, PLATFORM_POINTS, strict=True):
        top = middle + point
        along = (top - base) / np.linalg.norm(top - base)
        tangent = np.cross(base, (0, 0, 1))
        tangent -= (tangent @ along) * along
        tangent /= np.linalg.norm(tangent)
        inertia = 0.004 * (np.eye(3) - np.outer(along, along)) + 1e-4 * np.eye(3)
        mech.add_body(f"lower{k}", 0.7, 0.15 * along, inertia, origin=base)
        mech.add_body(f"upper{k}", 0.4, -0.15 * along, inertia, origin=top)
        mech.add_joint(f"U{k}", lw.Universal(tangent, np.cross(along, tangent)), "ground", f"lower{k}", at=base)
        mech.add_joint(f"P{k}", lw.Prismatic(along), f"lower{k}", f"upper{k}", at=top)
        mech.add_joint(f"S{k}", lw.Spherical(), f"upper{k}", "platform", at=top, cut=k > 1)
        if limits is not None:
            mech.add_transition(f"stop{k}", lw.Stop(f"P{k}", lower=limits[0], upper=limits[1]))
    return mech


def strut_lengths(position: np.ndarray, rotation: np.ndarray) -> np.ndarray:
    """Return the distances (6,), m, between the ends of the limbs, at a pose of the platform."""
    return np.linalg.norm(position + PLATFORM_POINTS @ rotation.T - BASE_POINTS, axis=1)


def strut_rows(position: np.ndarray, rotation: np.ndarray) -> np.ndarray:
    """Return (6, 6): strut speeds by the twist [angular; linear] of the platform, the Pluecker lines of the struts."""
    lever = PLATFORM_POINTS @ rotation.T
    struts = position + lever - BASE_POINTS
    e = struts / np.linalg.norm(struts, axis=1)[:, None]
    return np.hstack([np.cross(lever, e), e])


PROXIMAL, DISTAL, SPAN = 0.25, 0.4, 0.2  # m, of the five-bar: cranks, rods, distance of the motors


def five_bar(*, cut: str = "") -> lw.Mechanism:
    """Return a planar five-bar in x and z: motors "A" and "B" on the ground, point "tip" where the rods join."""
    mech = lw.Mechanism("five_bar")
    for name, length in (("crank1", PROXIMAL), ("rod1", DISTAL), ("crank2", PROXIMAL), ("rod2", DISTAL)):
        mech.add_body(name, length, (length / 2, 0, 0), lw.inertia.rod(length, length))
    hinge = lw.Revolute((0, -1, 0))  # angles from x towards z
    mech.add_joint("A", hinge, "ground", "crank1", parent_frame=lw.Frame((-SPAN / 2, 0, 0)))
    mech.add_joint("B", hinge, "ground", "crank2", parent_frame=lw.Frame((SPAN / 2, 0, 0)))
    mech.add_joint("C", hinge, "crank1", "rod1", parent_frame=lw.Frame((PROXIMAL, 0, 0)))
    mech.add_joint("D", hinge, "crank2", "rod2", parent_frame=lw.Frame((PROXIMAL, 0, 0)))
    end = lw.Frame((DISTAL, 0, 0))
    mech.add_joint("E", hinge, "rod1", "rod2", parent_frame=end, child_frame=end)
    mech.add_point("tip", "rod1", (DISTAL, 0, 0))
    mech.start(q={"A": 2.2, "B": 0.9})
    return mech


def limb() -> lw.Mechanism:
    """Return a limb of a robot: "hip" about x, and below it a five-bar of motors "front" and "back" with a "foot"."""
    mech = lw.Mechanism("limb")
    mech.add_body("frame", 1.0, (0, 0, 0), np.diag([2e-3, 2e-3, 2e-3]))
    for name, length in (("thigh1", 0.2), ("shin1", 0.3), ("thigh2", 0.2), ("shin2", 0.3)):
        mech.add_body(name, length, (length / 2, 0, 0), lw.inertia.rod(length, length))
    mech.add_joint("hip", lw.Revolute((1, 0, 0)), "ground", "frame", at=(0, 0, 0))
    hinge = lw.Revolute((0, 1, 0))
    for name, x in (("front", 0.05), ("back", -0.05)):
        thigh = {"front": "thigh1", "back": "thigh2"}[name]
        mech.add_joint(name, hinge, "frame", thigh, parent_frame=lw.Frame((x, 0.08, 0)), child_frame=lw.Frame())
    knee = lw.Frame((0.2, 0, 0))
    mech.add_joint("knee1", hinge, "thigh1", "shin1", parent_frame=knee)
    mech.add_joint("knee2", hinge, "thigh2", "shin2", parent_frame=knee)
    end = lw.Frame((0.3, 0, 0))
    mech.add_joint("ankle", hinge, "shin1", "shin2", parent_frame=end, child_frame=end)
    mech.add_point("foot", "shin1", (0.3, 0, 0))
    mech.start(q={"front": 0.9, "back": 2.2, "knee1": 1.2, "knee2": -1.2})
    return mech
