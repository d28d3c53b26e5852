"""Models as differentiable functions of JAX, for learning and estimation: see `function`."""

from linkwork.jax.function import Function, function

__all__ = ["Function", "function"]
