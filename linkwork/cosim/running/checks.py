"""Checks of the settings of a run."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from linkwork.cosim.fmu.model import FmuModel
from linkwork.cosim.masters import Master
from linkwork.cosim.system import System, Value
from linkwork.cosim.system.references import Reference
from linkwork.cosim.system.value_checks import why_not_exchanged
from linkwork.errors import CosimError


def check_settings(
    system: System, master: Master | None, t_start: float | None, t_end: float | None, tolerance: float | None
) -> tuple[float, float]:
    """Check the settings that do not depend on the system; return the start and stop time."""
    given: object = system
    if not isinstance(given, System):
        raise CosimError(f"a run takes a System, not {system!r}; System.load reads one from a file")
    given = master
    if not (given is None or isinstance(given, Master)):
        raise CosimError(f"the master must be one such as Jacobi(1e-3), not {master!r}")
    begin = system.experiment.t_start if t_start is None else t_start
    end = system.experiment.t_end if t_end is None else t_end
    if not (_is_finite(begin) and _is_finite(end) and begin < end):
        raise CosimError(f"a run goes from t_start to a later t_end, not from {begin!r} s to {end!r} s")
    if tolerance is not None and not (_is_finite(tolerance) and tolerance > 0):
        raise CosimError(f"the tolerance must be a positive number, such as 1e-6, not {tolerance!r}")
    return begin, end


def _is_finite(value: object) -> bool:
    return isinstance(value, int | float | np.number) and math.isfinite(value)


def plain(values: Mapping[str, Any]) -> dict[str, Value]:
    """Return values of parameters without numpy's types and lists."""
    return {name: _plain(name, value) for name, value in values.items()}


def _plain(name: str, value: Any) -> Value:
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    parts = value if isinstance(value, list | tuple) else [value]
    if not all(isinstance(one, bool | int | float | str | np.generic) for one in parts):
        raise CosimError(f"{name!r} cannot be {value!r}; give a number, True or False, a text, or a tuple of them")
    return tuple(value) if isinstance(value, list) else value


def check_inputs(system: System, models: Mapping[str, FmuModel], externals: Iterable[Reference]) -> None:
    """Check that external inputs go to inputs that are not connected."""
    connected = {one.target: one.source for one in system.connections}
    for reference in externals:
        model = models[reference.component]
        try:
            variable = model.variable(reference.variable)
        except CosimError as problem:
            raise type(problem)(f"the external input {reference!r}: {problem}") from problem
        where = f"the external input {reference!r} (FMU {model.path.name})"
        if variable.causality != "input":
            what = "give it in parameters" if "arameter" in variable.causality else "choose an input"
            raise CosimError(f"{where} is of causality {variable.causality}, not an input; {what}")
        if variable.value_type is None:
            raise CosimError(f"{where} {why_not_exchanged(variable)}; leave it out")
        if reference in connected:
            raise CosimError(f"{where} is connected to {connected[reference]!r} already; remove one of them")


def uneven(models: Mapping[str, FmuModel], step: float | None, length: float) -> list[str]:
    """Report a step longer than the run, and components that need equal steps where the last one differs."""
    if step is None:
        return []
    if step > length:
        return [f"the communication step of {step:g} s is longer than the run of {length:g} s, which is a single step"]
    count = length / step
    rigid = [repr(name) for name, model in models.items() if not model.abilities.variable_step]
    if not rigid or abs(count - round(count)) <= 1e-9 * count:
        return []
    return [
        f"{', '.join(rigid)} can only take steps of one length, and the last one is shorter: {length:g} s is no "
        f"multiple of {step:g} s; choose another step or end time"
    ]
