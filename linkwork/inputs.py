"""Driving loads and applied wrenches over time, as a simulation is given them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from linkwork.compiler.numbering import Numbering
from linkwork.description.checks import FloatArray
from linkwork.errors import MechanismError
from linkwork.solvers import Solution

Input = ArrayLike | Callable[[float], ArrayLike]


class Inputs:
    """The inputs of a simulation: driving loads, applied forces and torques.

    Parameters
    ----------
    given
        Constants or functions of time by name: a number, or (nu,) for a joint of several speeds and (3,) for a wrench
        such as "push.F"; one element may also stand alone as in "S[2]" and "push.F[1]".
    numbering
        Where each input stands.

    Attributes
    ----------
    constant
        All inputs (n_inputs,) as far as they are constant, else zero.
    """

    def __init__(self, given: Mapping[str, Input], numbering: Numbering) -> None:
        if not isinstance(given, Mapping):
            raise MechanismError(f"inputs must be a dictionary by joint name such as {{'A': 0.1}}, not {given!r}")
        self.constant = np.zeros(numbering.n_inputs)
        self._functions: list[tuple[str, slice, Callable[[float], ArrayLike]]] = []
        for name, span in numbering.input_spans(given, "inputs", "driven joint").items():
            value, label = given[name], numbering.input_label(name, "load")
            if callable(value):
                self._functions.append((label, span, value))
            else:
                self.constant[span] = _constant(value, span, label)

    @property
    def vary(self) -> bool:
        """Some inputs are functions of time."""
        return bool(self._functions)

    def at(self, t: float) -> FloatArray:
        """Return all inputs at a time (n_inputs,)."""
        if not self._functions:
            return self.constant
        inputs = self.constant.copy()
        for label, span, function in self._functions:
            value = _asked(function, t)
            try:
                inputs[span] = _numbers(value, span)
            except (TypeError, ValueError):
                what = f"the {label} at t = {t:.6g} s must be {_wanted(span, '')}"
                raise MechanismError(f"inputs: {what}, not {value!r}") from None
        return inputs

    def over(self, times: FloatArray) -> FloatArray:
        """Return the inputs at times that were simulated: (nt, n_inputs), or the same at all of them.

        They are not numbers where a function that remembers does not answer twice.
        """
        if not self._functions:
            return self.constant
        return np.array([self._at_again(t) for t in times]).reshape(len(times), -1)

    def _at_again(self, t: float) -> FloatArray:
        try:
            return self.at(t)
        except Exception:
            return np.full(self.constant.size, np.nan)


def _constant(value: ArrayLike, span: slice, label: str) -> FloatArray:
    try:
        numbers = _numbers(value, span)
    except (TypeError, ValueError):
        numbers = np.array(np.nan)
    if isinstance(value, str) or not np.isfinite(numbers).all():
        what = f"the {label} must be {_wanted(span, 'finite ')} or a function of time"
        raise MechanismError(f"inputs: {what}, not {value!r}")
    return numbers


def _numbers(value: Any, span: slice) -> FloatArray:
    """Return the numbers for the inputs of a span; TypeError or ValueError if it is none of that size."""
    size = span.stop - span.start
    if size == 1:
        return np.array(float(value))
    array = np.asarray(value)
    if array.dtype.kind not in "fiu" or array.shape != (size,):
        raise TypeError
    return array


def _wanted(span: slice, adjective: str) -> str:
    size = span.stop - span.start
    return f"a {adjective}number" if size == 1 else f"{size} {adjective}numbers"


def _asked(function: Callable[[float], ArrayLike], t: float) -> Any:
    try:
        return function(t)
    except BaseException as error:
        if isinstance(getattr(error, "solution", None), Solution):
            del error.solution  # type: ignore[attr-defined]  # of another run, before this one or within it
        raise
