"""Driving loads and motions over time, as a simulation is given them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from linkwork.compiler.numbering import Numbering, suffixes
from linkwork.description.checks import FloatArray, suggest
from linkwork.errors import MechanismError
from linkwork.solvers import Solution

Input = ArrayLike | Callable[[float], ArrayLike]


class Inputs:
    """The inputs of a simulation.

    Parameters
    ----------
    given
        Constants or functions of time. Loads by joint name: a number, or (nu,) for a joint of several speeds, one of
        which may also stand alone as in "S[2]". Motions by the name of the drive: value, rate and acceleration (3,), or
        a constant value.
    numbering
        Where each joint's speeds and each drive's numbers stand.

    Attributes
    ----------
    constant
        Loads in all joints and inputs of all motions (nu + nu_cut + n_motion,) as far as they are constant, else zero.
    """

    def __init__(self, given: Mapping[str, Input], numbering: Numbering) -> None:
        if not isinstance(given, Mapping):
            raise MechanismError(f"inputs must be a dictionary by joint name such as {{'A': 0.1}}, not {given!r}")
        self.constant = np.zeros(numbering.nu_all + numbering.n_motion)
        self._drives = numbering.motions
        self._functions: list[tuple[str, slice, Callable[[float], ArrayLike]]] = []
        spans = _spans(numbering)
        owner: dict[int, str] = {}
        for name, value in given.items():
            if name not in spans:
                raise MechanismError(f"inputs: there is no driven joint {name!r}: {suggest(name, spans)}")
            span = spans[name]
            for i in range(span.start, span.stop):
                if owner.setdefault(i, name) != name:
                    raise MechanismError(f"inputs: {owner[i]!r} and {name!r} drive the same speed: give one of them")
            if callable(value):
                self._functions.append((name, span, value))
            else:
                self.constant[span] = self._constant(value, span, name)

    @property
    def vary(self) -> bool:
        """Some inputs are functions of time."""
        return bool(self._functions)

    def at(self, t: float) -> FloatArray:
        """Return all inputs at a time (nu + nu_cut + n_motion,)."""
        if not self._functions:
            return self.constant
        inputs = self.constant.copy()
        for name, span, function in self._functions:
            value = _asked(function, t)
            try:
                inputs[span] = _numbers(value, span)
            except (TypeError, ValueError):
                what = f"{self._what(name)} at t = {t:.6g} s must be {self._wanted(name, span, '')}"
                raise MechanismError(f"inputs: {what}, not {value!r}") from None
        return inputs

    def over(self, times: FloatArray) -> FloatArray:
        """Return the inputs at times that were simulated: (nt, all of them), or the same at all times.

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

    def _what(self, name: str) -> str:
        return f"the motion of {name!r}" if name in self._drives else f"the load of joint {name!r}"

    def _wanted(self, name: str, span: slice, adjective: str) -> str:
        size = span.stop - span.start
        numbers = f"a {adjective}number" if size == 1 else f"{size} {adjective}numbers"
        return f"{numbers} (value, rate, acceleration)" if name in self._drives else numbers

    def _constant(self, value: ArrayLike, span: slice, name: str) -> FloatArray:
        """Return the numbers of an input that does not change; a motion is at rest then."""
        drives = name in self._drives
        try:
            numbers = _numbers(value, slice(0, 1)) if drives else _numbers(value, span)
        except (TypeError, ValueError):
            numbers = np.array(np.nan)
        if isinstance(value, str) or not np.isfinite(numbers).all():
            wanted = "a finite number" if drives else self._wanted(name, span, "finite ")
            function = " that returns value, rate and acceleration" if drives else ""
            what = f"{self._what(name)} must be {wanted} or a function of time{function}"
            raise MechanismError(f"inputs: {what}, not {value!r}")
        return np.array([float(numbers), 0.0, 0.0]) if drives else numbers


def _spans(numbering: Numbering) -> dict[str, slice]:
    """Where the inputs stand that a name drives: those of a joint, or of one of its speeds, or of a motion."""
    spans = {name: span for name, span in numbering.u.items() if span.stop > span.start}
    for name, span in list(spans.items()):
        if span.stop - span.start > 1:
            each = zip(suffixes(span.stop - span.start), range(span.start, span.stop), strict=True)
            spans |= {f"{name}{suffix}": slice(i, i + 1) for suffix, i in each}
    first = numbering.nu_all
    return spans | {name: slice(first + s.start, first + s.stop) for name, s in numbering.motions.items()}


def _numbers(value: Any, span: slice) -> FloatArray:
    """Return the numbers that drive the speeds of a span; TypeError or ValueError if it is none of that size."""
    size = span.stop - span.start
    if size == 1:
        return np.array(float(value))
    array = np.asarray(value)
    if array.dtype.kind not in "fiu" or array.shape != (size,):
        raise TypeError
    return array


def _asked(function: Callable[[float], ArrayLike], t: float) -> Any:
    try:
        return function(t)
    except BaseException as error:
        if isinstance(getattr(error, "solution", None), Solution):
            del error.solution  # type: ignore[attr-defined]  # of another run, before this one or within it
        raise
