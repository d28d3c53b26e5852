"""Rollouts of a model as a differentiable function of JAX, whose backward pass sweeps back through the steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from linkwork._util.keywords import checks_keywords
from linkwork._util.optional import optional_import
from linkwork.errors import MechanismError
from linkwork.jax.arrays import array_of, called, check_precision
from linkwork.model.rollout_function import NO_SECOND_DERIVATIVES, RolloutFunction

if TYPE_CHECKING:
    from linkwork.model.model import Model
    from linkwork.model.state import State

with optional_import("functions of JAX", "jax", "jax"):
    import jax
    import jax.numpy as jnp


def _differentiable(rollouts: RolloutFunction) -> Callable[..., jax.Array]:
    """Return the states at all times that are kept as a function with a reverse derivative of first order."""

    @jax.custom_vjp
    def states(*given: jax.Array) -> jax.Array:
        return called(rollouts.values, rollouts.shape, given)

    def forward(*given: jax.Array) -> tuple[jax.Array, tuple[jax.Array, ...]]:
        return states(*given), given

    def backward(given: tuple[jax.Array, ...], weights: jax.Array) -> tuple[jax.Array, ...]:
        return rollouts.split(_pullback(rollouts)(*given, weights), given[1].shape)

    states.defvjp(forward, backward)
    return states


def _pullback(rollouts: RolloutFunction) -> Callable[..., jax.Array]:
    """Return the derivatives by all arguments, of their last one as weights of the states."""

    @jax.custom_jvp
    def joined(*given: jax.Array) -> jax.Array:
        x, tau, p, _ = given
        return called(rollouts.pullback, (x.shape[-1] + tau.shape[-2] * tau.shape[-1] + p.shape[-1],), given)

    @joined.defjvp
    def with_tangents(given: Any, tangents: Any) -> tuple[jax.Array, jax.Array]:
        raise MechanismError(NO_SECOND_DERIVATIVES)

    return joined


class Rollouts:
    """Rollouts as a function of JAX, made by `rollout`.

    Attributes
    ----------
    arguments
        Names of the numbers of each argument: `x`, `tau`, `p`.
    shape
        Of the result of one row: times that are kept, and states.
    """

    def __init__(self, rollouts: RolloutFunction) -> None:
        self._rollouts, self._states = rollouts, _differentiable(rollouts)
        self.arguments, self.shape = rollouts.arguments, rollouts.shape

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._rollouts,)

    def __repr__(self) -> str:
        return f"Rollouts({self._rollouts.signature})"

    def __call__(self, x: Any, tau: Any = None, p: Any = None) -> Any:
        """Return the states at all times that are kept (..., times, n).

        Parameters
        ----------
        x
            States at the start (..., n).
        tau
            Loads of each step (..., steps, n), or (..., 1, n) that hold throughout; by default none.
        p
            Parameters (..., n); by default those of the model.
        """
        check_precision()
        given = self._rollouts.shaped({"x": x, "tau": tau, "p": p}, array_of, jnp.broadcast_to)
        return self._states(*given)


@checks_keywords
def rollout(
    model: Model,
    step: float,
    steps: int,
    state: State | None = None,
    *,
    every: int = 1,
    parameters: Iterable[str] = (),
    threads: int = 0,
) -> Rollouts:
    """Return steps of fixed size of a model as a differentiable function of JAX.

    It may be used in `jax.jit`, `vmap` and `grad`. It runs on the CPU, for all rows of `vmap` and of leading dimensions
    at once. States are those of `Batch.rollout`; the backward pass takes the steps again from checkpoints and sweeps
    back through them, `Batch.differentiable_rollout`: gradients are exact to rounding. There are neither second nor
    forward derivatives.

    Parameters
    ----------
    model
        Of the mechanism.
    step
        s.
    steps
        How many.
    state
        The time at the start, transitions, inputs of motions and revolutions of cut joints are as at it; by default at
        the assembled start.
    every
        States are kept after so many steps each.
    parameters
        Names of parameters that are arguments; all others are constants. Where they change the geometry, the states
        must close the loops.
    threads
        As of `Model.batch`.

    Returns
    -------
    Rollouts
        Of arrays of float64, `f(x, tau, p)`: `x`, the states at the start [q; u; states of elements];
        `tau`, loads of each step (..., steps, n) or (..., 1, n), by default none; `p`, the parameters one behind the
        other, by default those of the model. Its result is (..., 1 + steps // every, n), from the states at the start
        on. JAX reports an error of a row as one of its own with the text.

    Examples
    --------
    >>> import jax
    >>> import linkwork as lw
    >>> import linkwork.jax
    >>> mech = lw.Mechanism("pendulum")
    >>> mech.add_body("rod", mass=3.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(3.0, 1.0))
    >>> mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
    >>> fall = linkwork.jax.rollout(lw.compile(mech), 1e-2, 10, every=10)
    >>> with jax.enable_x64(True):
    ...     jax.grad(lambda x: fall(x)[-1, 0])(jax.numpy.array([0.5, 0.0])).round(4)
    Array([0.9643, 0.0988], dtype=float64)
    """
    return Rollouts(RolloutFunction(model, step, steps, state, every, parameters, threads))
