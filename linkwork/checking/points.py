"""A point at which unknowns are functions of knowns: states and inputs in Model Exchange, inputs in Co-Simulation."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from linkwork.checking.description import Unknown, Variable
from linkwork.checking.fmu import Fmu
from linkwork.checking.instance import Instance, running
from linkwork.checking.report import NotApplicable
from linkwork.checking.sampling import MOST, creep, real_inputs, spread, step_length


@dataclass
class Point:
    """An instance that stands there, with its knowns and unknowns; entries tell what the latter may depend on."""

    instance: Instance
    knowns: list[Variable]
    entries: list[Unknown]

    @property
    def unknowns(self) -> list[Variable]:
        """The variables of the entries."""
        return [one.variable for one in self.entries if one.variable]

    def values(self) -> list[float]:
        """The unknowns."""
        return self.instance.get(self.unknowns)

    def size(self, known: Variable) -> float:
        """How large a known is, roughly."""
        return max(abs(self.instance.get([known])[0]), abs(known.number("nominal") or 1.0))

    def moved(self, known: Variable, by: float) -> list[float]:
        """The unknowns with one known moved, which goes back afterwards."""
        (before,) = self.instance.get([known])
        self.instance.set([known], [before + by])
        values = self.values()
        self.instance.set([known], [before])
        return values


@contextmanager
def point(fmu: Fmu, kind: str) -> Iterator[Point]:
    """A point shortly after the start in Model Exchange; in Co-Simulation one in Initialization Mode."""
    one = fmu.description
    states = [state for state in one.states if state.scalar_real] if kind == "ME" else []
    kinds = ("output", "derivative", "indicator") if kind == "ME" else ("output",)
    entries = {e.variable.reference: e for k in kinds for e in one.unknowns(k) if e.variable and e.variable.scalar_real}
    # What is known is no unknown, though a state may be an output.
    known = {state.reference for state in states}
    chosen = spread([entry for reference, entry in entries.items() if reference not in known], MOST)
    knowns = [*states, *real_inputs(one)]
    if not knowns or not chosen:
        raise NotApplicable("there is nothing known, or nothing that depends on it")
    with running(fmu, kind, started=False) as instance:
        instance.enter()
        if kind == "ME":
            instance.start()
            creep(instance, step_length(one) / 20)
        yield Point(instance, knowns, chosen)
