"""Declared dependencies: what an unknown is not said to depend on may not move it."""

from __future__ import annotations

from collections.abc import Iterator

from linkwork.checking.fmu import Fmu
from linkwork.checking.instance import runnable
from linkwork.checking.points import Point, point
from linkwork.checking.registry import check
from linkwork.checking.report import Finding, NotApplicable, error
from linkwork.checking.sampling import spread

_STEP, _MOVED = 1e-3, 1e-10
_COLUMNS = 100


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
    listed = [
        None if entry.dependencies is None else {known.reference for known in entry.knowns if known}
        for entry in at.entries
    ]
    for known in spread(at.knowns, _COLUMNS):
        after = at.moved(known, _STEP * at.size(known))
        for entry, names, a, b in zip(at.entries, listed, before, after, strict=True):
            if names is not None and known.reference not in names and abs(a - b) > _MOVED * (1.0 + abs(a)):
                yield error(f"{kind}: {entry.name} moves with {known.name}, which its dependencies leave out; add it")
                return
