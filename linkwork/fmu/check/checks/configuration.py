"""Structural parameters, which Configuration Mode alone may change, and clocks, which checks do not activate."""

from __future__ import annotations

from collections.abc import Iterator

from linkwork.fmu.caller.instance import FmuInstance
from linkwork.fmu.check.fmu import Fmu
from linkwork.fmu.check.instance import enter, runnable, running, start
from linkwork.fmu.check.registry import check
from linkwork.fmu.check.report import Finding, NotApplicable, error, note, warning
from linkwork.fmu.description import Description, Variable, as_integer

_FEW = 5  # clocks in a finding


@check(
    "configuration", "Configuration Mode changes sizes of arrays, and the instance can be initialised with them",
    dynamic=True,
)  # fmt: skip
def configuration(fmu: Fmu) -> Iterator[Finding]:
    """Pass through Configuration Mode; then change all sizes by one, and initialise."""
    one = fmu.description
    if not any(v.causality == "structuralParameter" for v in one.variables):
        raise NotApplicable("no structural parameters")
    sizes = _other_sizes(one)
    for kind in runnable(fmu, "ME", "CS"):
        with running(fmu, kind, started=False) as instance:
            _configure(instance, {})
            enter(instance)
            start(instance)
        if sizes:
            with running(fmu, kind, started=False) as instance:
                yield from _resized(instance, sizes)


def _other_sizes(one: Description) -> dict[int, int]:
    """By value reference another size that is allowed, of each structural parameter that gives sizes."""
    found = {}
    for reference in (by for v in one.variables for by in v.structural if by is not None):
        by = one.by_reference[reference]
        start = as_integer(by.start)
        if start is None:
            continue
        low, high = max(by.number("min") or 1, 1), by.number("max")
        if high is None or start + 1 <= high:
            found[reference] = start + 1
        elif start - 1 >= low:
            found[reference] = start - 1
    return found


def _configure(instance: FmuInstance, sizes: dict[int, int]) -> None:
    instance.enter_configuration_mode()
    for reference, size in sizes.items():
        instance.set([instance.description.by_reference[reference]], [size])
    instance.exit_configuration_mode()


def _resized(instance: FmuInstance, sizes: dict[int, int]) -> Iterator[Finding]:
    """Start values of arrays are void then: give values to inputs and parameters."""
    one = instance.description
    _configure(instance, sizes)
    changed = [(v, v.resized(sizes)) for v in one.variables if v.real and v.resized(sizes) is not v]
    for before, after in changed:
        if before.start is not None and after.causality in ("parameter", "input"):
            instance.set([after], _padded(before, after.size))
    instance.n_states = sum(state.resized(sizes).size for state in one.states)
    enter(instance)
    start(instance)
    if instance.interface == "ME" and (count := instance.counts()[0]) != (n := instance.n_states):
        yield error(f"ME: with other sizes the library has {count} continuous states, and the variables {n}")
    for _, after in changed:
        instance.get([after])


def _padded(variable: Variable, size: int) -> list[float]:
    values = [float(text) for text in (variable.start or "0").split()]
    return (values + values[-1:] * size)[:size]


@check("clocks", "clocks are for Event Mode, and nothing else is needed of them here")
def clocks(fmu: Fmu) -> Iterator[Finding]:
    """Name the clocks."""
    one = fmu.description
    found = [v.name for v in one.variables if v.type == "Clock"]
    if not found:
        raise NotApplicable("no clocks")
    listed = ", ".join(found[:_FEW]) + (f" and {len(found) - _FEW} more" if len(found) > _FEW else "")
    if not {"ME", "CS"} & set(one.kinds):
        yield note(f"Scheduled Execution is not run: what happens at the ticks of {listed} is not checked")
        return
    yield note(f"{listed}: the checks activate no clocks, and leave out what belongs to them")
    if "CS" in one.kinds and not one.able("CS", "hasEventMode"):
        yield warning(
            f"{listed}: in Co-Simulation clocks need Event Mode, which it does not declare: no importer can activate "
            "them; declare hasEventMode"
        )
