"""What drives a simulation: loads in joints and applied wrenches, constant or as functions of time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from linkwork.arguments import Arguments
from linkwork.description.checks import FloatArray
from linkwork.errors import MechanismError
from linkwork.solvers import Solution

Value = float | Sequence[float] | FloatArray
Input = Value | Callable[[float], Value]


class Inputs:
    """All inputs of a system, (n,), some of them given by name.

    Attributes
    ----------
    constant
        Those given as numbers; zero elsewhere, (n,).
    functions
        Those given as functions of time, by name.
    """

    def __init__(self, arguments: Arguments, given: Mapping[str, Input]) -> None:
        if not isinstance(given, Mapping):
            raise MechanismError(f"inputs must be a dictionary by joint name such as {{'A': 0.1}}, not {given!r}")
        self._spans = arguments.input_spans(given, "inputs")
        self._labels = {name: arguments.input_label(name, "load") for name in given}
        self.functions = {name: value for name, value in given.items() if callable(value)}
        self.constant = arguments.no_inputs
        for name, value in given.items():
            if not callable(value):
                self.constant[self._spans[name]] = self._numbers(name, value)

    def at(self, t: float) -> FloatArray:
        """Return all inputs at a time."""
        if not self.functions:
            return self.constant
        inputs = self.constant.copy()
        for name, function in self.functions.items():
            inputs[self._spans[name]] = self._numbers(name, _asked(function, t), t)
        return inputs

    def again(self, times: FloatArray) -> FloatArray:
        """Return all inputs at the times of an output, (nt, n), or (n,) if they are constant.

        They are not numbers where a function that remembers does not answer twice.
        """
        if not self.functions:
            return self.constant
        rows = np.full((len(times), self.constant.size), np.nan)
        for row, t in zip(rows, times, strict=True):
            try:
                row[:] = self.at(t)
            except Exception:  # whatever a user's function raises
                continue
        return rows

    def _numbers(self, name: str, value: Any, t: float | None = None) -> float | FloatArray:
        """Return what was given for an input; at a time `t` it may be not finite, which the core then reports."""
        size = self._spans[name].stop - self._spans[name].start
        found = _real(value, size)
        if found is not None and (t is not None or np.isfinite(found).all()):
            return found
        finite, when, otherwise = (
            ("finite ", "", " or a function of time") if t is None else ("", f" at t = {t:.6g} s", "")
        )
        numbers = f"a {finite}number" if size == 1 else f"{size} {finite}numbers"
        raise MechanismError(f"inputs: the {self._labels[name]}{when} must be {numbers}{otherwise}, not {value!r}")


def _real(value: Any, size: int) -> float | FloatArray | None:
    """Return a value as `size` real numbers; None: it is something else."""
    try:
        if size == 1:
            return None if isinstance(value, str) else float(value)
        array = np.asarray(value)
        return array.astype(float) if array.shape == (size,) and array.dtype.kind in "fiu" else None
    except (TypeError, ValueError):
        return None


def _asked(function: Callable[[float], Any], t: float) -> Any:
    try:
        return function(t)
    except BaseException as error:
        if isinstance(getattr(error, "solution", None), Solution):
            del error.solution  # type: ignore[attr-defined]  # of another run, before this one or within it
        raise
