"""Particles summed up to rigid bodies: what each has of mass, momentum and inertia.

With m, r, v of its particles, a segment has

    M = sum m,    c = sum m r / M,    I = sum m ((d'd) 1 - d d'),    d = r - c,
    p = sum m v = M v_c,              L = sum m d x v = I w

w is the least one that has this L, because I is singular where all particles are in line.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork.coarse_graining.particles import IndexArray, Particles

_THIN = 1e-10  # moment of inertia that counts as none, relative to the largest
_ROUNDING = 1e-12  # distance from the centre of mass that counts as none, relative to that from the origin


@dataclass(frozen=True)
class Momenta:
    """Energy and momentum of a whole system, in world axes."""

    kinetic: float  # kinetic energy
    # linear, angular: momentum (3,), and angular momentum (3,) about the world's origin
    linear: FloatArray
    angular: FloatArray


@dataclass(frozen=True)
class RigidBodies:
    """Rigid bodies by themselves, in world axes; arrays in the order of the segments."""

    mass: FloatArray  # (k,)
    com: FloatArray  # centres of mass, (k, 3)
    inertia: FloatArray  # about the centres of mass, (k, 3, 3)
    # velocity, angular_velocity: of the centres of mass, and of the bodies, (k, 3) each
    velocity: FloatArray
    angular_velocity: FloatArray

    @cached_property
    def linear_momentum(self) -> FloatArray:
        """Of each body, (k, 3)."""
        return self.mass[:, None] * self.velocity

    @cached_property
    def angular_momentum(self) -> FloatArray:
        """Of each body about its centre of mass, (k, 3)."""
        result: FloatArray = np.einsum("kij,kj->ki", self.inertia, self.angular_velocity)
        return result

    @cached_property
    def kinetic(self) -> FloatArray:
        """Kinetic energy of each body, (k,)."""
        turning = self.angular_velocity * self.angular_momentum
        result: FloatArray = (self.linear_momentum * self.velocity + turning).sum(axis=1) / 2
        return result

    @cached_property
    def axes_with_inertia(self) -> IndexArray:
        """How many principal axes of each body have inertia, (k,): 3, 2 of one in line, 0 of a single particle."""
        moments = np.linalg.eigvalsh(self.inertia)
        result: IndexArray = (moments > _THIN * moments[:, -1:]).sum(axis=1)
        return result

    @property
    def total(self) -> Momenta:
        """Of all bodies together."""
        angular = self.angular_momentum + np.cross(self.com, self.linear_momentum)
        return Momenta(float(self.kinetic.sum()), self.linear_momentum.sum(axis=0), angular.sum(axis=0))


def momenta(particles: Particles) -> Momenta:
    """Return energy and momentum of particles."""
    impulse = particles.masses[:, None] * particles.velocities
    kinetic = float((impulse * particles.velocities).sum()) / 2
    return Momenta(kinetic, impulse.sum(axis=0), np.cross(particles.positions, impulse).sum(axis=0))


def summed_up(particles: Particles, segments: Sequence[IndexArray]) -> RigidBodies:
    """Return a rigid body for the particles of each segment."""
    each = [_sum(particles, segment) for segment in segments]
    return RigidBodies(*(np.array(column) for column in zip(*each, strict=True)))


def _sum(particles: Particles, segment: IndexArray) -> tuple[float, FloatArray, FloatArray, FloatArray, FloatArray]:
    m, r, v = particles.masses[segment], particles.positions[segment], particles.velocities[segment]
    mass = float(m.sum())
    com, velocity = m @ r / mass, m @ v / mass
    d = r - com
    momentum = m @ np.cross(d, v - velocity)
    second = (m[:, None] * d).T @ d
    moments, axes = np.linalg.eigh(np.trace(second) * np.eye(3) - second)
    least = max(_THIN * moments[2], mass * (_ROUNDING * np.abs(r).max()) ** 2)
    moments[moments <= least] = 0.0
    inverse = np.divide(1.0, moments, out=np.zeros(3), where=moments > 0)
    return mass, com, (axes * moments) @ axes.T, velocity, axes @ (inverse * (axes.T @ momentum))
