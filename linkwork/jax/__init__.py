"""Models as differentiable functions of JAX, for learning and estimation: see `function` and `rollout`."""

from linkwork.jax.function import Function, function
from linkwork.jax.rollout import Rollouts, rollout

__all__ = ["Function", "Rollouts", "function", "rollout"]
