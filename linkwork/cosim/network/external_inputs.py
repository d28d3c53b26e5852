"""External inputs by the names that a system has for them."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwork.cosim.network.input_sources import External, Externals
from linkwork.cosim.system import Connection, System
from linkwork.cosim.system.references import Reference, known
from linkwork.errors import CosimError


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
