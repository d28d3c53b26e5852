"""Random mechanisms with rods, points, and bodies and loops whose sizes and masses differ by orders of magnitude."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from . import rings
from .builder import Builder, Scene
from .oracle import Oracle
from .poses import Array, Pose, random_rotation, random_unit

SIZES, MASSES = 1e4, 1e6  # ratio of the largest to the smallest
JOINTS = ("revolute", "revolute", "revolute", "universal", "spherical")
LOOPS = (rings.planar, lambda rng: rings.planar(rng, 5), rings.spatial, lambda rng: rings.mixed(rng, *HOOKE))
HOOKE = ("revolute", "universal", "spherical", "revolute")


class UnevenBuilder(Builder):
    """Bodies of the present size, of any mass."""

    size = 1.0

    def __init__(self, rng: np.random.Generator) -> None:
        super().__init__(rng, "uneven")
        self.sizes: dict[str, float] = {}

    def draw_size(self) -> None:
        self.size = SIZES ** self.rng.uniform(-0.5, 0.5)

    def body(self, near: Array) -> str:
        name = f"b{len(self.poses)}"
        pose = Pose(random_rotation(self.rng), near + self.size * self.rng.uniform(-0.3, 0.3, 3))
        self.poses[name], self.sizes[name] = pose, self.size
        com = near + self.size * self.rng.uniform(-0.1, 0.1, 3)
        self.coms[name] = pose.inverse().then(Pose(np.eye(3), com)).position
        return name

    def build(self, cut: tuple[str, ...] = ()) -> Scene:
        scene = super().build(cut)
        bodies = scene.mechanism.bodies
        for name, size in self.sizes.items():
            mass = MASSES ** self.rng.uniform(-0.5, 0.5)
            bodies[name] = replace(bodies[name], mass=mass, inertia=mass * size**2 * random_gyration(self.rng))
        oracle = Oracle(scene.mechanism, scene.poses, scene.q)
        return replace(scene, oracle=oracle)


def random_gyration(rng: np.random.Generator) -> Array:
    """Inertia of a body of unit size and mass: a general one, a thick or thin rod, a rod without inertia about its
    axis, or a point."""
    kind, axes = rng.integers(10), random_rotation(rng)
    thickness = 10.0 ** rng.uniform(-14, -1) if kind < 3 else 0.0
    if kind < 6:
        axis = random_unit(rng)
        return (np.eye(3) - (1 - thickness) * np.outer(axis, axis)) / 12
    return np.zeros((3, 3)) if kind < 8 else axes @ np.diag([1.0, 1.5, 2.0]) @ axes.T / 12


def uneven(rng: np.random.Generator) -> Scene:
    """Chains and loops on each other, in a pose that is not nearly singular."""
    while True:
        try:
            return _draw(rng)
        except AssertionError as refused:
            if "nearly singular" not in str(refused):
                raise


def _draw(rng: np.random.Generator) -> Scene:
    builder = UnevenBuilder(rng)
    bodies, joined = ["ground"], {"ground": np.zeros(3)}
    for _ in range(rng.integers(2, 5)):
        builder.draw_size()
        carrier = bodies[rng.integers(len(bodies))]
        start = joined[carrier] + builder.size * rng.uniform(-0.5, 0.5, 3)
        add = add_loop if rng.random() < 0.5 else add_chain
        for name, point in add(builder, carrier, start):
            bodies.append(name)
            joined[name] = point
    return builder.build()


def add_chain(builder: UnevenBuilder, carrier: str, start: Array) -> list[tuple[str, Array]]:
    """Up to three bodies on a carrier, with the points of their joints."""
    added, point = [], start
    for _ in range(builder.rng.integers(1, 4)):
        child = builder.body(point + builder.size * 0.3 * random_unit(builder.rng))
        builder.joint(str(builder.rng.choice(JOINTS)), carrier, child, point, random_unit(builder.rng))
        added.append((child, point))
        carrier, point = child, point + builder.size * random_unit(builder.rng)
    return added


def add_loop(builder: UnevenBuilder, carrier: str, start: Array) -> list[tuple[str, Array]]:
    """One loop on a carrier."""
    ring = LOOPS[builder.rng.integers(len(LOOPS))](builder.rng)
    points = [start + builder.size * (point - ring[0][1]) for _, point, _ in ring]
    added, parent = [], carrier
    for k, (kind, _, axis) in enumerate(ring):
        last = k == len(ring) - 1
        child = carrier if last else builder.body((points[k] + points[k + 1]) / 2)
        builder.joint(kind, parent, child, points[k], axis)
        if not last:
            added.append((child, points[k]))
        parent = child
    return added
