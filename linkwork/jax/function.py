"""A model as a differentiable function of JAX, whose derivatives are those of the kernels."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from linkwork._util.keywords import checks_keywords
from linkwork._util.optional import optional_import
from linkwork.errors import MechanismError
from linkwork.jax.arrays import array_of, called, check_precision
from linkwork.model.row_function import NO_SECOND_DERIVATIVES, RowFunction

if TYPE_CHECKING:
    from linkwork.model.model import Model
    from linkwork.model.state import State

with optional_import("functions of JAX", "jax", "jax"):
    import jax
    import jax.numpy as jnp
    from jax.custom_derivatives import SymbolicZero


def _differentiable(rows: RowFunction) -> Callable[..., jax.Array]:
    """Return all results of rows, one behind the other, as a function with derivatives of first order."""

    @jax.custom_jvp
    def values(*given: jax.Array) -> jax.Array:
        return called(rows.values, (sum(rows.results.values()),), given)

    def with_tangents(given: Any, tangents: Any) -> tuple[jax.Array, jax.Array]:
        by = {
            name: one for name, one in zip(rows.arguments, tangents, strict=True) if not isinstance(one, SymbolicZero)
        }
        matrices = _jacobians(rows, tuple(by))(*given)
        return values(*given), (matrices @ jnp.concatenate(list(by.values()), -1)[..., None])[..., 0]

    values.defjvp(with_tangents, symbolic_zeros=True)
    return values


def _jacobians(rows: RowFunction, by: tuple[str, ...]) -> Callable[..., jax.Array]:
    """Return the matrices of these results by the arguments that are named, as a function."""
    shape = sum(rows.results.values()), sum(len(rows.arguments[name]) for name in by)

    @jax.custom_jvp
    def matrices(*given: jax.Array) -> jax.Array:
        return called(lambda *arrays: rows.jacobians(by, *arrays), shape, given)

    @matrices.defjvp
    def with_tangents(given: Any, tangents: Any) -> tuple[jax.Array, jax.Array]:
        raise MechanismError(NO_SECOND_DERIVATIVES)

    return matrices


class Function:
    """A model as a function of JAX, made by `function`.

    Attributes
    ----------
    arguments
        Names of the numbers of each argument: `t`, `x`, `tau`, `p`.
    results
        Their sizes by name: `der_x`, and the outputs.
    """

    def __init__(self, rows: RowFunction) -> None:
        self._rows = rows
        self._values = _differentiable(rows)
        self.arguments, self.results = rows.arguments, rows.results

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._rows,)

    def __repr__(self) -> str:
        return f"Function({self._rows.signature})"

    def __call__(self, t: Any, x: Any, tau: Any = None, p: Any = None) -> Any:
        """Return `der_x`, or a tuple of it and the outputs.

        Parameters
        ----------
        t
            Time (...), s.
        x
            States (..., n).
        tau
            Loads (..., n); by default none.
        p
            Parameters (..., n); by default those of the model.
        """
        check_precision()
        given = self._rows.shaped({"t": t, "x": x, "tau": tau, "p": p}, array_of, jnp.broadcast_to)
        return self._rows.split(self._values(*given))


@checks_keywords
def function(
    model: Model,
    state: State | None = None,
    *,
    outputs: Iterable[str] = (),
    parameters: Iterable[str] = (),
    threads: int = 0,
) -> Function:
    """Return a model as a differentiable function of JAX: derivatives of its states, and variables.

    It may be used in `jax.jit`, `vmap`, `grad`, `jacobian` and loops. It runs on the CPU, for all
    rows of `vmap` and of leading dimensions at once. Values of a row are those of
    `Model.derivatives`, to the bit but for the signs of zeros; derivatives are exact to rounding, by Jacobians of all
    rows. There are no second derivatives.

    Parameters
    ----------
    model
        Of the mechanism.
    state
        Transitions, inputs of motions and revolutions of cut joints are as at it; by default at the assembled start.
    outputs
        Names of variables that are results as well.
    parameters
        Names of parameters that are arguments; all others are constants. Where they change the geometry, the states
        must close the loops.
    threads
        As of `Model.batch`.

    Returns
    -------
    Function
        Of arrays of float64, `f(t, x, tau, p)`: `t` (...), s; `x`, the states [q; u; states of elements]; `tau`, loads
        of all joints, applied wrenches and inputs of actuators, by default none; `p`, the parameters one behind the
        other, by default those of the model. Its result is `der_x`, or with outputs a tuple of `der_x` and these, (...)
        or (..., n). JAX reports an error of a row, such as that of a singular pose, as one of its own with the text.

    Examples
    --------
    >>> import jax
    >>> import linkwork as lw
    >>> import linkwork.jax
    >>> mech = lw.Mechanism("pendulum")
    >>> mech.add_body("rod", mass=3.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(3.0, 1.0))
    >>> mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
    >>> f = linkwork.jax.function(lw.compile(mech))
    >>> with jax.enable_x64(True):
    ...     jax.jacobian(lambda x: f(0.0, x))(jax.numpy.array([0.5, 0.0])).round(3)
    Array([[ 0.   , 1.   ],
           [-7.055, 0.   ]], dtype=float64)
    """
    return Function(RowFunction(model, state, outputs, parameters, threads))
