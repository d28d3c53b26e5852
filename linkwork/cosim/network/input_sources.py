"""Inputs that come from outside the system: constants, functions of time, series."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from linkwork.cosim.fmu.ports import Ports
from linkwork.cosim.system import Connection, System
from linkwork.cosim.system.references import Reference, known
from linkwork.errors import CosimError
from linkwork.fmu.description import REAL, WHOLE

External = float | str | Callable[[float], Any] | tuple[Any, Any]


class Feed:
    """An external input of an instance."""

    def __init__(self, name: str, given: External, ports: Ports, variable: str, *, discrete: bool = False) -> None:
        self.discrete = discrete  # set in Event Mode only
        value_type, self._place = ports.places[variable]
        self._values: Any = ports.values_of(variable)
        self._name, self._whole = name, value_type == WHOLE
        self._function = _function(name, given, stepwise=value_type != REAL)

    def apply(self, time: float) -> None:
        """Put the value at a time in its place."""
        try:
            value = self._function(time)
            if value is None:
                raise TypeError("there is no value")
            if isinstance(self._values, list):
                self._values[self._place] = _texts(value)
                return
            if self._whole and np.any(np.not_equal(value, np.round(value))):
                raise ValueError(f"{value} is not a whole number")
            self._values[self._place] = value
        except Exception as problem:
            raise CosimError(f"the external input of {self._name} fails at t = {time:.9g} s: {problem}") from problem
        if not np.all(np.isfinite(value)):
            raise CosimError(f"the external input of {self._name} is {value} at t = {time:.9g} s")


def _texts(value: Any) -> list[str]:
    parts = value if isinstance(value, list | tuple) else [value]
    if not all(isinstance(one, str) for one in parts):
        raise TypeError(f"{value!r} is no text")
    return list(parts)


def _function(name: str, given: External, *, stepwise: bool) -> Callable[[float], Any]:
    if callable(given):
        return given
    if not isinstance(given, tuple):
        return lambda _time: given
    try:
        times, values = (np.asarray(one, dtype=float) for one in given)
        fits = times.ndim == 1 and times.shape == values.shape and times.size > 0
    except (TypeError, ValueError):
        fits = False
    if not fits:
        raise CosimError(f"the external input of {name} must be a number, a function of time, or (times, values)")
    if np.any(np.diff(times) < 0) or not np.all(np.isfinite([times, values])):
        raise CosimError(f"the external input of {name}: times must rise, and all must be finite")
    if stepwise:
        return lambda time: values[max(0, int(np.searchsorted(times, time, side="right")) - 1)]
    return lambda time: np.interp(time, times, values)


Externals = Mapping[str, External]


def by_target(system: System, inputs: Externals) -> dict[Reference, External]:
    """Return external inputs by the variables that they set; a name in `System.external_inputs` is resolved."""
    found: dict[Reference, External] = {}
    named: dict[str, str] = {}
    for name, given in inputs.items():
        within = [one for one in system.external_inputs if one.source == name]
        targets = [(system.reference(one.target), _mapped(one, given)) for one in within]
        for target, value in targets or [(_reference(name, system), given)]:
            if target in found:
                raise CosimError(f"{target!r} is given twice, by {named[target]!r} and {name!r}; leave one out")
            found[target], named[target] = value, name
    return found


def _reference(name: str, system: System) -> Reference:
    try:
        return system.reference(name)
    except CosimError as problem:
        outside = {one.source: one for one in system.external_inputs}
        if outside and "." not in name:
            known(name, outside, "external input", f"the system {system.name!r}")
        raise type(problem)(f"the external input {name!r}: {problem}") from problem


def _mapped(one: Connection, given: External) -> External:
    """What arrives inside: ``factor * value + offset``."""
    factor, offset = one.factor, one.offset
    if (factor, offset) == (1.0, 0.0):
        return given
    if callable(given):
        return lambda time: _line(one, given(time))
    if isinstance(given, tuple) and len(given) == 2:
        return given[0], _line(one, given[1])
    constant: External = _line(one, given)
    return constant


def _line(one: Connection, value: Any) -> Any:
    try:
        return one.factor * (value if isinstance(value, int | float) else np.asarray(value, dtype=float)) + one.offset
    except (TypeError, ValueError) as problem:
        what = f"multiplied by {one.factor:g} and shifted by {one.offset:g}"
        raise CosimError(f"the external input {one.source!r} is {what}; it cannot be {value!r}") from problem
