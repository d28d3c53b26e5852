"""Models as differentiable functions of PyTorch, for learning: see `function`."""

from linkwork.torch.function import Function, function

__all__ = ["Function", "function"]
