"""Driving loads, applied wrenches and motions over time, as a simulation is given them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from linkwork._util.checks import FloatArray
from linkwork.compiler.numbering import Numbering
from linkwork.errors import MechanismError

InputValue = ArrayLike | Callable[[float], ArrayLike]


class Inputs:
    """The inputs of a simulation: driving loads, applied forces and torques, and additions to motions.

    Parameters
    ----------
    given
        Constants or functions of time by name: a number, or (nu,) for a joint of several speeds and (3,) for a wrench
        such as "push.F"; one element may also stand alone as in "S[2]" and "push.F[1]". For a motion, by the name of
        its drive, a function returns value, rate and acceleration (3,); a constant is the value.
    numbering
        Where each input stands.
    at_rest
        All inputs (n_inputs,) where nothing is given.

    Attributes
    ----------
    names
        Of the given inputs.
    constant
        All inputs (n_inputs,) as far as they are constant, else at rest.
    commands
        Those of transitions that are functions of time.
    """

    def __init__(self, given: Mapping[str, InputValue], numbering: Numbering, at_rest: FloatArray) -> None:
        if not isinstance(given, Mapping):
            raise MechanismError(f"inputs must be a dictionary by joint name such as {{'A': 0.1}}, not {given!r}")
        self.names = tuple(given)
        self.constant = at_rest.copy()
        self._first_motion = numbering.n_loads
        self._end_of_motions = numbering.n_loads + numbering.n_motion
        self._functions: list[tuple[str, slice, Callable[[float], ArrayLike]]] = []
        self.commands: list[Callable[[float], ArrayLike]] = []
        for name, span in numbering.input_spans(given, "inputs").items():
            value, label = given[name], numbering.input_label(name, "load")
            if name in numbering.commands:
                value = _command(value, label)
                if callable(value):
                    self.commands.append(value)
            if callable(value):
                self._functions.append((label, span, value))
            else:
                self.constant[span] = self._constant(value, span, label)

    @property
    def vary(self) -> bool:
        """Some inputs are functions of time."""
        return bool(self._functions)

    def switches(self, t: float) -> FloatArray:
        """Return +1 or -1 for each command that is a function of time: on or off."""
        return np.array([1.0 if command(t) else -1.0 for command in self.commands])

    @property
    def driving(self) -> list[slice]:
        """Where the motions stand that are functions of time: value, rate and acceleration."""
        return [span for _, span, _ in self._functions if self._drives(span)]

    def at(self, t: float) -> FloatArray:
        """Return all inputs at a time (n_inputs,)."""
        if not self._functions:
            return self.constant
        inputs = self.constant.copy()
        for label, span, function in self._functions:
            value: Any = function(t)
            try:
                inputs[span] = _numbers(value, span)
            except (TypeError, ValueError):
                what = f"the {label} at t = {t:.6g} s must be {self._wanted(span, '')}"
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

    def _drives(self, span: slice) -> bool:
        return bool(self._first_motion <= span.start < self._end_of_motions)

    def _wanted(self, span: slice, adjective: str) -> str:
        size = span.stop - span.start
        numbers = f"a {adjective}number" if size == 1 else f"{size} {adjective}numbers"
        return f"{numbers} (value, rate, acceleration)" if self._drives(span) else numbers

    def _constant(self, value: ArrayLike, span: slice, label: str) -> FloatArray:
        """Return the numbers of an input that does not change; a motion is at rest then."""
        drives = self._drives(span)
        try:
            numbers = _numbers(value, slice(0, 1)) if drives else _numbers(value, span)
        except (TypeError, ValueError):
            numbers = np.array(np.nan)
        if isinstance(value, str) or not np.isfinite(numbers).all():
            wanted = "a finite number" if drives else self._wanted(span, "finite ")
            function = " that returns value, rate and acceleration" if drives else ""
            what = f"the {label} must be {wanted} or a function of time{function}"
            raise MechanismError(f"inputs: {what}, not {value!r}")
        return np.array([float(numbers), 0.0, 0.0]) if drives else numbers


def _numbers(value: Any, span: slice) -> FloatArray:
    """Return the numbers for the inputs of a span; TypeError or ValueError if the size is wrong."""
    size = span.stop - span.start
    if size == 1:
        return np.array(float(value))
    array = np.asarray(value)
    if array.dtype.kind not in "fiu" or array.shape != (size,):
        raise TypeError
    return array


def _command(value: InputValue, label: str) -> InputValue:
    """Return a command as a number, or as a function that returns one."""
    if callable(value):
        function = value
        return lambda t: _switch(function(t), label, t)
    if isinstance(value, bool | np.bool_ | int | float) and value in (False, True):
        return float(value)
    raise MechanismError(f"inputs: the {label} must be True or False, or a function of time that is, not {value!r}")


def _switch(value: object, label: str, t: float) -> float:
    if isinstance(value, bool | np.bool_ | int | float) and value in (False, True):
        return float(value)
    raise MechanismError(f"inputs: the {label} at t = {t:.6g} s must be True or False, not {value!r}")
