"""A delta robot with slender rods, and the loads of its motors in closed form.

A slender uniform rod of mass m with ends a and b has the kinetic energy m/6 (a'.a' + a'.b' + b'.b') and half of its
weight at each end. The two rods of an arm stay parallel, so that in the angles of the arms and the position p of the
platform all is a sum over three elbows.
"""

from __future__ import annotations

import numpy as np

import linkwork as lw

from .poses import Array

BASE, TOP, ARM, ROD, OFFSET = 0.2, 0.05, 0.2, 0.5, 0.04  # m
ARM_MASS, ROD_MASS, TOP_MASS = 0.8, 0.15, 1.2  # kg
G = np.array([0.0, 0.0, -9.81])
HIPS = ["H1", "H2", "H3"]
HOME = -np.sqrt(ROD**2 - (BASE + ARM - TOP) ** 2)  # height of the platform with the arms level
ANGLES = 2 * np.pi * np.arange(3) / 3
OUT = np.stack([np.cos(ANGLES), np.sin(ANGLES), 0 * ANGLES], axis=1)
ASIDE = np.stack([-np.sin(ANGLES), np.cos(ANGLES), 0 * ANGLES], axis=1)


def delta_robot() -> lw.Mechanism:
    """Arms "arm1", ... on hips "H1", ...; the platform "top", whose origin is at HOME below the base."""
    mech = lw.Mechanism("delta")
    top = np.array([0.0, 0.0, HOME])
    mech.add_body("top", mass=TOP_MASS, com=(0, 0, 0), inertia=lw.inertia.disk(TOP_MASS, 0.06), origin=tuple(top))
    for k in range(3):
        out, aside = OUT[k], ASIDE[k]
        hip, knee, wrist = BASE * out, (BASE + ARM) * out, top + TOP * out
        turn = np.stack([out, aside, np.cross(out, aside)], axis=1)
        arm = f"arm{k + 1}"
        level = lw.inertia.rod(ARM_MASS, ARM, axis="x")
        mech.add_body(arm, mass=ARM_MASS, com=(ARM / 2, 0, 0), inertia=level, origin=tuple(hip), rotation=turn)
        mech.add_joint(f"H{k + 1}", lw.Revolute(tuple(aside)), "ground", arm, at=tuple(hip))
        along = (wrist - knee) / ROD
        for end, sign in (("a", 1), ("b", -1)):
            shift, rod = sign * OFFSET * aside, f"rod{k + 1}{end}"
            across = np.cross(along, aside)
            frame = np.stack([along, aside, across], axis=1)
            level = lw.inertia.rod(ROD_MASS, ROD, axis="x")
            at = tuple(knee + shift)
            mech.add_body(rod, mass=ROD_MASS, com=(ROD / 2, 0, 0), inertia=level, origin=at, rotation=frame)
            mech.add_joint(f"K{k + 1}{end}", lw.Universal(tuple(aside), tuple(across)), arm, rod, at=at)
            mech.add_joint(f"W{k + 1}{end}", lw.Spherical(), rod, "top", at=tuple(wrist + shift))
    return mech


def hip_angles(p: Array) -> Array:
    """Angles (rows, 3) of the arms for positions (rows, 3) of the platform; the elbows are outward."""
    found = []
    for out in OUT:
        d = p + (TOP - BASE) * out  # from hip to wrist: |d - ARM e| = ROD with e = cos x out - sin x z
        x, z = d @ out, d[:, 2]
        c = ((d**2).sum(axis=1) + ARM**2 - ROD**2) / (2 * ARM)
        found.append(np.arctan2(-z, x) - np.arccos(c / np.hypot(x, z)))
    return np.array(found).T


def hip_loads(p: Array, v: Array, a: Array) -> Array:
    """Loads (rows, 3) of the motors in the hips for positions, velocities and accelerations of the platform."""
    angles = hip_angles(p)
    tau = np.empty_like(angles)
    for row in range(len(p)):
        rods, on_top, on_arms = np.empty((3, 3)), TOP_MASS * (a[row] - G), np.empty(3)
        slopes = np.empty((3, 3))
        for k in range(3):
            x = angles[row, k]
            e = np.cos(x) * OUT[k] + np.array([0, 0, -np.sin(x)])
            n = -np.sin(x) * OUT[k] + np.array([0, 0, -np.cos(x)])  # de/dx
            w = p[row] + (TOP - BASE) * OUT[k] - ARM * e  # elbow to wrist
            rate = w @ v[row] / (ARM * w @ n)
            # w.(p' - ARM n x') = 0, differentiated
            rest = ((v[row] - ARM * n * rate) ** 2).sum() + w @ (a[row] + ARM * e * rate**2)
            second = rest / (ARM * w @ n)
            elbow = ARM * (n * second - e * rate**2)
            at_elbow = 2 * ROD_MASS * (elbow / 3 + a[row] / 6 - G / 2)
            on_top = on_top + 2 * ROD_MASS * (a[row] / 3 + elbow / 6 - G / 2)
            on_arms[k] = ARM_MASS * ARM**2 / 3 * second - ARM_MASS * ARM / 2 * G @ n + ARM * n @ at_elbow
            rods[:, k], slopes[k] = w, ARM * n
        force = np.linalg.solve(rods, on_top)  # of the rods on the platform
        tau[row] = on_arms + force * np.einsum("ki,ik->k", slopes, rods)
    return tau
