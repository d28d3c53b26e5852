"""Models as differentiable functions of PyTorch, for learning: see `function` and `rollout`."""

from linkwork.torch.function import Function, function
from linkwork.torch.rollout import Rollouts, rollout

__all__ = ["Function", "Rollouts", "function", "rollout"]
