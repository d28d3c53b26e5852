"""Causality, variability and initial of variables."""

from __future__ import annotations

from collections.abc import Iterator

from linkwork.fmu.check.fmu import Fmu
from linkwork.fmu.check.registry import check
from linkwork.fmu.check.report import Finding, error
from linkwork.fmu.combinations import ALLOWED
from linkwork.fmu.description import REALS, Variable


@check("combinations", "causality, variability and initial go together as in the standard's table")
def combinations(fmu: Fmu) -> Iterator[Finding]:
    """Look each variable up in the table."""
    one = fmu.description
    for variable in one.variables:
        if variable.type != "Clock":
            yield from _combination(variable, one.fmi2)
    independent = [variable for variable in one.variables if variable.causality == "independent"]
    if len(independent) > 1 or (one.fmi3 and not independent):
        said = ", ".join(variable.name for variable in independent) or "none"
        yield error(f"there must be one independent variable{', at most' * one.fmi2}; there is: {said}")


def _combination(variable: Variable, fmi2: bool) -> Iterator[Finding]:
    pair = (variable.variability, variable.causality)
    said = f'{variable.name} has causality="{variable.causality}" and variability="{variable.variability}"'
    if pair not in ALLOWED or (fmi2 and variable.causality == "structuralParameter"):
        yield error(f"{said}, which do not go together")
        return
    given, allowed = variable.given_initial, ALLOWED[pair]
    if fmi2 and variable.causality == "input":
        allowed = ()
    if given is not None and given not in allowed:
        remedy = f"choose {' or '.join(allowed)}" if allowed else "leave it out"
        yield error(f'{said}, with which initial="{given}" does not go; {remedy}')
    if variable.variability == "continuous" and variable.type not in REALS:
        yield error(f"{variable.name} is of type {variable.type} and cannot be continuous; make it discrete")
    if variable.causality == "independent" and variable.type not in REALS:
        yield error(f"the independent variable {variable.name} is of type {variable.type}; it must be real")
