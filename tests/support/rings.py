"""Geometry of single loops: each ring is a list of joints (kind, point, axis) in order around the loop.

A universal joint may have both its axes given, (2, 3).
"""

from __future__ import annotations

import numpy as np

from .poses import Array, Pose, random_rotation, random_unit, turn

Ring = list[tuple[str, Array, Array]]

X, Y, Z = np.eye(3)


def placed(ring: Ring, rng: np.random.Generator, spread: float = 0.5) -> Ring:
    """The same ring somewhere else, turned at random."""
    rotation, shift = random_rotation(rng), rng.uniform(-spread, spread, 3)
    return [(kind, rotation @ point + shift, axis @ rotation.T) for kind, point, axis in ring]


def polygon(rng: np.random.Generator, corners: int) -> list[Array]:
    """Corners of an irregular polygon in the plane z = 0, edge lengths about 0.3 to 1."""
    radius = 0.5 / np.sin(np.pi / corners) * 0.7
    angles = 2 * np.pi * (np.arange(corners) + rng.uniform(-0.25, 0.25, corners)) / corners
    return [radius * rng.uniform(0.7, 1.3) * np.array([np.cos(a), np.sin(a), 0.0]) for a in angles]


def planar(rng: np.random.Generator, joints: int = 4) -> Ring:
    """Parallel revolutes: three of the six rows that close the loop are redundant. Axes stand out of the plane by
    different amounts, so that the joint points themselves do not lie in one plane."""
    return [("revolute", p + rng.uniform(-0.2, 0.2) * Z, rng.choice([-1.0, 1.0]) * Z) for p in polygon(rng, joints)]


def slider_crank(rng: np.random.Generator) -> Ring:
    ring = planar(rng, 4)
    direction = turn(Z, rng.uniform(-0.5, 0.5)) @ (ring[3][1] - ring[0][1])
    direction[2] = 0.0
    ring[3] = ("prismatic", ring[3][1], direction)
    return ring


def planar_with_two_sliders(rng: np.random.Generator) -> Ring:
    """A double slider (elliptic trammel): two revolutes, two prismatic joints."""
    ring = planar(rng, 4)
    ring[0] = ("prismatic", ring[0][1], turn(Z, rng.uniform(-0.3, 0.3)) @ X)
    ring[3] = ("prismatic", ring[3][1], turn(Z, rng.uniform(-0.3, 0.3)) @ Y)
    return ring


def spatial(rng: np.random.Generator, joints: int = 7, sliders: int = 0) -> Ring:
    """Joints in general position: joints - 6 degrees of freedom, nothing redundant."""
    ring: Ring = [("revolute", p + rng.uniform(-0.4, 0.4, 3), random_unit(rng)) for p in polygon(rng, joints)]
    for k in rng.choice(joints, sliders, replace=False):
        ring[k] = ("prismatic", ring[k][1], ring[k][2])
    return ring


def spherical(rng: np.random.Generator, joints: int = 4) -> Ring:
    """All axes through one point; the joint frames lie elsewhere on them."""
    axes = [p + rng.uniform(0.5, 0.9) * Z for p in polygon(rng, joints)]
    return [("revolute", rng.uniform(0.5, 1.2) * axis, axis) for axis in axes]


def bennett(rng: np.random.Generator) -> Ring:
    """Four skew axes that move only because sin(alpha) / a = sin(beta) / b."""
    alpha, beta = rng.uniform(0.4, 0.8), rng.uniform(1.0, 1.4)
    a = rng.uniform(0.5, 0.8)
    b = a * np.sin(beta) / np.sin(alpha)
    first = rng.uniform(0.8, 2.2)
    ratio = np.sin((beta + alpha) / 2) / np.sin((beta - alpha) / 2)
    second = 2 * np.arctan(ratio / np.tan(first / 2))
    ring: Ring = []
    frame = Pose(np.eye(3), np.zeros(3))
    for theta, length, twist in ((first, a, alpha), (second, b, beta), (-first, a, alpha), (-second, b, beta)):
        ring.append(("revolute", frame.position + rng.uniform(-0.2, 0.2) * frame.rotation[:, 2], frame.rotation[:, 2]))
        turned = turn(Z, theta)
        frame = frame.then(Pose(turned @ turn(X, twist), turned @ (length * X)))
    assert max(np.abs(frame.position).max(), np.abs(frame.rotation - np.eye(3)).max()) < 1e-12
    return ring


def sarrus(rng: np.random.Generator) -> Ring:
    """Two triples of parallel hinges in planes that intersect: the platform rises on a straight line."""
    rise = (0.0, 0.5, 1.1)
    bulge = (0.6, 1.0, 0.6)
    ring: Ring = [("revolute", bulge[i] * Y + rise[i] * Z + rng.uniform(-0.1, 0.1, 3), X) for i in range(3)]
    return ring + [("revolute", bulge[i] * X + rise[i] * Z + rng.uniform(-0.1, 0.1, 3), Y) for i in (2, 1, 0)]


def door(rng: np.random.Generator) -> Ring:
    """One body on two hinges of the same axis: five of six rows are redundant."""
    return [("revolute", rng.uniform(-0.3, 0.3) * Z, Z), ("revolute", (1.0 + rng.uniform()) * Z, -Z)]


def rails(rng: np.random.Generator) -> Ring:
    """One carriage on two parallel slides."""
    return [("prismatic", rng.uniform(-0.3, 0.3, 3), X), ("prismatic", rng.uniform(0.5, 1.0, 3), X)]


def mixed(rng: np.random.Generator, *kinds: str) -> Ring:
    """Joints of any kinds in general position."""
    pairs = zip(kinds, polygon(rng, max(3, len(kinds))), strict=False)
    return [(kind, p + rng.uniform(-0.4, 0.4, 3), random_unit(rng)) for kind, p in pairs]


def flat(rng: np.random.Generator, *kinds: str) -> Ring:
    """Joints whose axes, first axes and normals are parallel: the links move in planes, and rows are redundant."""
    ring: Ring = []
    for kind, (_, point, axis) in zip(kinds, planar(rng, len(kinds)), strict=True):
        ring.append((kind, point, np.array([axis, turn(Z, rng.uniform(-3, 3)) @ X]) if kind == "universal" else axis))
    return ring


def centred(rng: np.random.Generator, *kinds: str) -> Ring:
    """All axes through one point, where spherical joints are: a spherical linkage."""
    ring: Ring = []
    for kind, (_, point, axis) in zip(kinds, spherical(rng, len(kinds)), strict=True):
        ring.append((kind, np.zeros(3) if kind in ("spherical", "universal") else point, axis))
    return ring


def held_twice(rng: np.random.Generator, first: str, second: str) -> Ring:
    """One body on two joints with one axis or normal: most rows are redundant."""
    return [(first, rng.uniform(-0.3, 0.3) * Z, Z), (second, (1.0 + rng.uniform()) * Z, -Z)]
