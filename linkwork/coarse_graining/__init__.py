"""From particles to rigid bodies to a mechanism of them, by sums and one impulsive change."""

from linkwork.coarse_graining.articulation import CoarseGrained, coarse_grain
from linkwork.coarse_graining.rigid_bodies import Momenta, RigidBodies

__all__ = ["CoarseGrained", "Momenta", "RigidBodies", "coarse_grain"]
