"""What is checked of the settings of a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from linkwork.cosim.description import System
from linkwork.cosim.description.references import split
from linkwork.cosim.fmu.model import FmuModel
from linkwork.cosim.network.externals import Externals
from linkwork.errors import CosimError


def plain(value: Any) -> Any:
    """Return a value of a parameter without numpy's types and lists."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    return tuple(value) if isinstance(value, list) else value


def check_inputs(system: System, models: Mapping[str, FmuModel], externals: Externals) -> None:
    """Check that external inputs go to inputs that nothing else feeds.

    Raises
    ------
    CosimError
        If one does not.
    """
    fed = {one.target: one.source for one in system.connections}
    for reference in externals:
        component, name = split(reference, system.components)
        variable = models[component].variable(name)
        where = f"the external input {reference!r} (FMU {models[component].path.name})"
        if variable.causality != "input":
            what = "give it in parameters" if "arameter" in variable.causality else "choose an input"
            raise CosimError(f"{where} is of causality {variable.causality}, not an input; {what}")
        if variable.bank is None:
            raise CosimError(f"{where} is of type {variable.type}, which is not exchanged; leave it out")
        if reference in fed:
            raise CosimError(f"{where} is fed by {fed[reference]!r} already; remove the connection, or leave it out")


def uneven(models: Mapping[str, FmuModel], step: float | None, length: float) -> list[str]:
    """Tell of components that need steps all of one length, where the last step is shorter."""
    if step is None:
        return []
    count = length / step
    rigid = [repr(name) for name, model in models.items() if not model.abilities.variable_step]
    if not rigid or abs(count - round(count)) <= 1e-9 * count:
        return []
    return [
        f"{', '.join(rigid)} can only take steps of one length, and the last one is shorter: {length:g} s is no "
        f"multiple of {step:g} s; choose another step or stop time"
    ]
