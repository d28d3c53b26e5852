"""Random particles in segments, and joints between these: chains, trees and loops."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .impulse_oracle import ImpulseOracle, Jump
from .joint_families import ALL_KINDS
from .poses import IDENTITY, Array, Pose, random_unit
from .random_changes import random_kind

SHAPES = ("chain", "tree", "loop", "net")


@dataclass
class Molecule:
    """As `coarse_grain` takes it."""

    positions: Array
    velocities: Array
    masses: Array
    segments: Array
    joints: list[tuple[Any, ...]]

    @property
    def given(self) -> tuple[Any, ...]:
        return self.positions, self.velocities, self.masses, self.segments, self.joints


def molecule(
    rng: np.random.Generator, count: int, shape: str = "chain", kinds: tuple[str, ...] = (), particles: int = 12
) -> Molecule:
    """`count` segments of about as many particles, in any order; of balls, or of any of `kinds`."""
    centres = np.cumsum([random_unit(rng) for _ in range(count)], axis=0)
    segments = np.repeat(np.arange(count), rng.integers(4, particles + 1, count))
    rng.shuffle(segments)
    n = segments.size
    parents = [k - 1 if shape in ("chain", "loop") else int(rng.integers(k)) for k in range(1, count)]
    pairs = list(zip(parents, range(1, count), strict=True))
    pairs += {"loop": [(count - 1, 0)], "net": [(0, count - 1), (1, count - 2)]}.get(shape, [])
    rng.shuffle(pairs)
    return Molecule(
        positions=centres[segments] + rng.normal(0, 0.3, (n, 3)),
        velocities=rng.normal(size=(n, 3)),
        masses=rng.choice([1.0, 12.0, 14.0, 16.0], n),
        segments=segments,
        joints=[_joint(rng, centres, int(a), int(b), kinds) for a, b in pairs],
    )


def _joint(rng: np.random.Generator, centres: Array, a: int, b: int, kinds: tuple[str, ...]) -> tuple[Any, ...]:
    point = (centres[a] + centres[b]) / 2 + rng.normal(0, 0.1, 3)
    return (a, b, *([random_kind(rng, str(rng.choice(kinds)))] if kinds else []), point)


def articulated(found: Any) -> tuple[ImpulseOracle, Jump]:
    """What the dense oracle makes of the rigid bodies of a `CoarseGrained`."""
    places = zip(found.names, found.before.com, strict=True)
    poses = {"ground": IDENTITY} | {name: Pose(np.eye(3), com) for name, com in places}
    oracle = ImpulseOracle(found.mechanism, poses)
    return oracle, oracle.jump(np.hstack([found.before.angular_velocity, found.before.velocity]))


BARRING = ALL_KINDS[:-2]
