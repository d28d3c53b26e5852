"""Mechanisms as environments of Gymnasium, for reinforcement learning: see `MechanismVectorEnv`."""

from linkwork.gym.vector_env import MechanismVectorEnv

__all__ = ["MechanismVectorEnv"]
