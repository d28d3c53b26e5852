"""Arrays of JAX as arguments and results of functions of a model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from linkwork._util.optional import optional_import
from linkwork.errors import MechanismError

with optional_import("functions of JAX", "jax", "jax"):
    import jax
    import jax.numpy as jnp
    from jax.experimental.buffer_callback import buffer_callback


def check_precision() -> None:
    """Refuse numbers of 32 bits."""
    if jnp.result_type(float) != jnp.float64:
        raise MechanismError(
            "models have numbers of float64, which are off in JAX: "
            "call jax.config.update('jax_enable_x64', True) before the first array is made"
        )


def called(of_arrays: Callable[..., Any], shape: tuple[int, ...], given: tuple[jax.Array, ...]) -> jax.Array:
    """Call a function of NumPy with the rows of all arguments at once, those of `vmap` too.

    `jax.pure_callback` copies large arguments in a thread that may be the one that waits for them, as on one processor.
    """
    result = jax.ShapeDtypeStruct((*given[0].shape[:-1], *shape), jnp.float64)

    def into(_: Any, out: Any, *buffers: Any) -> None:
        np.asarray(out)[...] = of_arrays(*map(np.asarray, buffers))

    found: jax.Array = buffer_callback(into, result, vmap_method="broadcast_all")(*given)
    return found


def array_of(name: str, value: Any) -> jax.Array:
    """Return an array, or numbers as one; `name` is that of the argument, for errors."""
    array = value if isinstance(value, jax.Array) else jnp.asarray(value, jnp.float64)
    if array.dtype != jnp.float64:
        raise MechanismError(
            f"{name} has numbers of type {array.dtype}; give jnp.float64, as {name}.astype(jnp.float64) does"
        )
    return array
