"""Rollouts of a model as a function of arrays, with its reverse sweep: what functions of other packages are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from threading import Lock
from typing import Any

import numpy as np

from linkwork._util.checks import FloatArray, names_of
from linkwork.errors import MechanismError
from linkwork.model.batch import Batch
from linkwork.model.model import Model
from linkwork.model.rollout import Rollout
from linkwork.model.row_function import RowFunction, check_finite, of_row
from linkwork.model.state import State

NO_SECOND_DERIVATIVES = "there are no second derivatives of rollouts; take differences of gradients"
NO_FORWARD_DERIVATIVES = "there are no forward derivatives of rollouts; take gradients, or rows of vmap for Jacobians"


class RolloutFunction:
    """States at steps of fixed size by the states at the start, loads and parameters.

    Leading dimensions are those of a batch, as of `RowFunction`. Several threads may call it.

    Parameters
    ----------
    model
        Of the mechanism.
    step, steps, every
        As of `Batch.rollout`.
    state
        The time at the start, transitions, inputs of motions and revolutions of cut joints are as at it; by default at
        the assembled start.
    parameters
        Names of those that are arguments; all others are constants.
    threads
        As of `Model.batch`.

    Attributes
    ----------
    arguments
        Names of the numbers of each: x, tau, p.
    shape
        Of the result: times that are kept, and states.
    """

    def __init__(
        self,
        model: Model,
        step: float,
        steps: int,
        state: State | None = None,
        every: int = 1,
        parameters: Iterable[str] = (),
        threads: int = 0,
    ) -> None:
        self._batch, self._lock = model.batch(1, state, threads), Lock()
        steps, every = self._batch._check_steps(step, steps, every)
        self._names = tuple(names_of(parameters, "parameters"))
        self._made_of = model, step, steps, state, every, self._names, threads
        rows = RowFunction(model, state, (), self._names, threads)  # its names, defaults and errors
        self.arguments = {name: rows.arguments[name] for name in ("x", "tau", "p")}
        self._defaults = {name: rows.defaults[name] for name in ("x", "tau", "p")}
        self._defaults["tau"] = self._defaults["tau"][None]
        self.shape = 1 + steps // every, len(self.arguments["x"])

    @property
    def signature(self) -> str:
        """Arguments and the result with their sizes."""
        x, tau, p = (len(names) for names in self.arguments.values())
        times, n = self.shape
        return f"(x[{x}], tau[{self._made_of[2]}, {tau}], p[{p}]) -> (states[{times}, {n}])"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._made_of

    def shaped(
        self, given: Mapping[str, Any], array: Callable[[str, Any], Any], broadcast_to: Callable[..., Any]
    ) -> list[Any]:
        """Return all arguments with the same leading dimensions, as of `RowFunction.shaped`."""
        found, steps = dict[str, Any](), self._made_of[2]
        for name, value in given.items():
            made = array(name, self._defaults[name] if value is None else value)
            size = len(self.arguments[name])
            if name != "tau" and made.shape[-1:] != (size,):
                raise MechanismError(f"{name} has shape {tuple(made.shape)}; its last dimension must be {size}")
            if name == "tau" and tuple(made.shape[-2:]) not in ((1, size), (steps, size)):
                raise MechanismError(
                    f"tau has shape {tuple(made.shape)}; its last dimensions must be those of the steps and of the "
                    f"loads, ({steps}, {size}), or (1, {size}) for loads that hold throughout"
                )
            found[name] = made
        try:
            batch = np.broadcast_shapes(*(tuple(one.shape[: -_inner(name)]) for name, one in found.items()))
        except ValueError:
            shapes = ", ".join(f"{name} {tuple(one.shape[: -_inner(name)])}" for name, one in found.items())
            raise MechanismError(f"the leading dimensions of {shapes} do not agree") from None
        return [broadcast_to(one, (*batch, *one.shape[-_inner(name) :])) for name, one in found.items()]

    def values(self, x: FloatArray, tau: FloatArray, p: FloatArray) -> FloatArray:
        """Return the states (..., times, n); leading dimensions of the arguments are the same.

        Raises
        ------
        LinkworkError
            Of the first row that comes to an error; it names the row.
        """
        batch = x.shape[:-1]
        if not np.prod(batch):
            return np.empty((*batch, *self.shape))
        with self._lock:
            return self._run(x, tau, p).states.reshape(*batch, *self.shape)

    def pullback(self, x: FloatArray, tau: FloatArray, p: FloatArray, weights: FloatArray) -> FloatArray:
        """Return derivatives of the sum of weights (..., times, n) times states: by x, tau and p, one after the other.

        Raises
        ------
        LinkworkError
            As of `values`.
        """
        batch = x.shape[:-1]
        if not np.prod(batch):
            return np.empty((*batch, x.shape[-1] + tau.shape[-2] * tau.shape[-1] + p.shape[-1]))
        with self._lock:
            run = self._run(x, tau, p)
            found = run.gradient(np.reshape(weights, run.states.shape), self._names)
            self._raise(run, batch)
        loads = found.loads.sum(axis=1) if tau.shape[-2] == 1 else found.loads
        of_names = [found.parameters[name].reshape(len(run), -1) for name in self._names]
        joined = np.concatenate([found.start, loads.reshape(len(run), -1), *of_names], axis=1)
        return joined.reshape(*batch, joined.shape[1])

    def split(self, joined: Any, tau_shape: tuple[int, ...]) -> tuple[Any, Any, Any]:
        """Return the derivatives by x, tau and p, of an array of another package as `pullback` has."""
        n, loads = len(self.arguments["x"]), tau_shape[-2] * tau_shape[-1]
        tau = joined[..., n : n + loads].reshape(tau_shape)
        return joined[..., :n], tau, joined[..., n + loads :]

    def _run(self, x: FloatArray, tau: FloatArray, p: FloatArray) -> Rollout:
        model, step, steps, _, every, names, _ = self._made_of
        of_steps = np.where(np.isfinite(tau).all(axis=-2), 0.0, np.nan)
        for values, name in ((x, "x"), (of_steps, "tau"), (p, "p")):
            check_finite(values, self.arguments[name])
        rows: Batch = self._batch._sibling(int(np.prod(x.shape[:-1])))
        rows.columns["states"][:] = np.reshape(x, (len(rows), -1))
        given, first = np.reshape(p, (len(rows), -1)), 0
        for name in names:
            count = model.column(name).count
            rows.put({name: given[:, first : first + count]})
            first += count
        loads = np.reshape(tau, (len(rows), *tau.shape[-2:]))
        if loads.shape[1] == 1:
            rows.tau = loads[:, 0]
        run = rows.differentiable_rollout(step, steps, None if loads.shape[1] == 1 else loads, every=every)
        self._raise(run, x.shape[:-1])
        return run

    def _raise(self, run: Rollout, batch: tuple[int, ...]) -> None:
        if run.errors:
            row = min(run.errors)
            raise of_row(run.errors[row], [int(k) for k in np.unravel_index(row, batch)]) from None


def _inner(name: str) -> int:
    """Return how many dimensions of an argument are none of a batch."""
    return 2 if name == "tau" else 1
