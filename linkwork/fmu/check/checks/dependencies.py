"""Declared dependencies: unknowns depend on no other variables, and the library reports the same dependencies."""

from __future__ import annotations

from collections.abc import Iterator

from linkwork.fmu.caller.instance import FmuInstance
from linkwork.fmu.check.fmu import Fmu
from linkwork.fmu.check.instance import runnable, running
from linkwork.fmu.check.points import Point, point
from linkwork.fmu.check.registry import check
from linkwork.fmu.check.report import Finding, NotApplicable, error
from linkwork.fmu.check.sampling import spread
from linkwork.fmu.description import Description, Unknown

_STEP, _MOVED = 1e-3, 1e-10
_COLUMNS, _OTHERS = 100, 40
_ENTRIES = 100
_ELEMENTS = "providesPerElementDependencies"


@check("dependencies", "nothing moves an unknown but what it is declared to depend on", dynamic=True)
def dependencies(fmu: Fmu) -> Iterator[Finding]:
    """Move each known and look at the unknowns that should stay."""
    kinds = runnable(fmu, "ME", "CS")
    if all(entry.dependencies is None for entry in fmu.description.structure if entry.kind != "initial"):
        raise NotApplicable("it declares none, so everything may depend on everything")
    kind = kinds[0]  # Model Exchange where there is one, which sees more
    with point(fmu, kind) as at:
        yield from _moved(kind, at)


def _moved(kind: str, at: Point) -> Iterator[Finding]:
    before = at.values()
    lists = {id(entry): _references(entry) for entry in at.entries}
    # Parameters may be named or not; where one is, all are to be.
    named = {known.causality for entry in at.entries for known in entry.knowns if known}
    others = [one for one in at.others if one.causality == "independent" or "parameter" in named]
    for known in [*at.knowns([*at.states, *at.inputs], _COLUMNS), *at.knowns(others, _OTHERS)]:
        step = _STEP * at.size(known)
        if not at.can_move(known, step):
            return
        after = at.moved(known, step)
        for (entry, number), a, b in zip(at.numbers(), before, after, strict=True):
            names = lists[id(entry)]
            if names is not None and known.variable.reference not in names and abs(a - b) > _MOVED * (1.0 + abs(a)):
                yield error(f"{kind}: {number.name} moves with {known.name}, which its dependencies leave out; add it")
                return


def _references(entry: Unknown) -> set[int | None] | None:
    return None if entry.dependencies is None else {known.reference for known in entry.knowns if known}


@check(
    "elements", "dependencies of elements, as the library reports them, agree with the model description", dynamic=True
)
def elements(fmu: Fmu) -> Iterator[Finding]:
    """Compare fmi3GetVariableDependencies with ModelStructure."""
    one = fmu.description
    kinds = [kind for kind in runnable(fmu, "ME", "CS") if one.fmi3 and one.able(kind, _ELEMENTS)]
    if not kinds:
        raise NotApplicable(f"it does not declare {_ELEMENTS}")
    known = ("output", "derivative", "indicator")
    entries = [entry for entry in one.structure if entry.kind in known and entry.variable]
    for kind in kinds:
        with running(fmu, kind) as instance:
            for entry in spread(entries, _ENTRIES):
                found = list(_told(instance, one, entry))
                yield from (error(f"{kind}: fmi3GetVariableDependencies of {entry.name} {said}") for said in found)
                if found:
                    break


def _told(instance: FmuInstance, one: Description, entry: Unknown) -> Iterator[str]:
    assert entry.variable
    told, declared = instance.dependencies(entry.variable.reference or 0), _references(entry)
    if declared is not None and (differing := {reference for _, reference, _ in told} ^ declared):
        names = sorted(_name(one, reference) for reference in differing)
        yield f"and its entry in ModelStructure differ in {', '.join(names[:3])}; make them agree"
    for ours, reference, theirs in told:
        known = one.by_reference.get(reference)
        if known is None:
            yield f"names the value reference {reference}, which is no variable"
        elif not (ours <= entry.variable.size and theirs <= known.size):
            yield f"names the elements {ours} and {theirs} of {known.name}; they count from 1, and 0 is all"
            return


def _name(one: Description, reference: int | None) -> str:
    known = one.by_reference.get(reference or 0)
    return known.name if known else str(reference)
