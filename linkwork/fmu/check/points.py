"""A point at which unknowns are functions of states, inputs, time and parameters; in Co-Simulation of inputs alone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from linkwork.fmu.caller.instance import FmuInstance
from linkwork.fmu.check.fmu import Fmu
from linkwork.fmu.check.instance import enter, running, settle, start
from linkwork.fmu.check.report import NotApplicable
from linkwork.fmu.check.sampling import MOST, creep, real_inputs, spread, step_length
from linkwork.fmu.description import Number, Unknown, Variable


@dataclass
class Point:
    """An instance at the point, with its knowns and unknowns; entries have the dependencies of the latter."""

    instance: FmuInstance
    states: list[Variable]
    inputs: list[Variable]
    others: list[Variable]  # time and tunable parameters: not every FMU differentiates by them
    entries: list[Unknown]
    offsets: dict[int, int] = field(default_factory=dict)  # of continuous states in their vector, by value reference

    @property
    def unknowns(self) -> list[Variable]:
        """The variables of the entries."""
        return [one.variable for one in self.entries if one.variable]

    def numbers(self) -> list[tuple[Unknown, Number]]:
        """The numbers of the unknowns, each with its entry."""
        of = self.instance.description.numbers
        return [(entry, number) for entry in self.entries if entry.variable for number in of([entry.variable])]

    def knowns(self, variables: list[Variable], most: int) -> list[Number]:
        """Numbers to move, evenly chosen."""
        return spread(self.instance.description.numbers(variables), most)

    def values(self) -> list[float]:
        """The unknowns."""
        return self.instance.get(self.unknowns)

    def size(self, known: Number) -> float:
        """How large a known is, roughly."""
        return max(abs(self._get(known.variable)[known.index]), known.variable.nominal)

    def slope(self, known: Number) -> list[float]:
        """The directional derivatives with respect to a known."""
        seed = [float(i == known.index) for i in range(known.count)]
        return self.instance.directional(self.unknowns, [known.variable], seed)

    def can_move(self, known: Number, by: float) -> bool:
        """Whether a parameter may have such values; if not, the instance is of no more use.

        Raises
        ------
        Exception
            If it cannot be set at all.
        """
        self._set(known.variable, self._get(known.variable))
        if known.variable.causality != "parameter":
            return True
        try:
            self.moved(known, by), self.moved(known, -by)
        except Exception:  # a status other than OK
            return False
        return True

    def moved(self, known: Number, by: float) -> list[float]:
        """The unknowns with one known moved, which is restored afterwards."""
        before = self._get(known.variable)
        after = [value + by * (i == known.index) for i, value in enumerate(before)]
        self._set(known.variable, after)
        try:
            return self.values()
        finally:
            self._set(known.variable, before)

    def _get(self, known: Variable) -> list[float]:
        if known.causality == "independent":
            return [self.instance.time]
        return self.instance.get([known])

    def _set(self, known: Variable, values: list[float]) -> None:
        instance, at = self.instance, self.offsets.get(known.reference or 0)
        if known.causality == "independent":
            instance.set_time(values[0])
        elif at is not None:
            x = instance.continuous_states()
            x[at : at + len(values)] = values
            instance.set_continuous_states(x)
        elif known.causality == "parameter" and instance.interface == "ME":
            self._change(known, values)
        else:
            instance.set([known], values)

    def _change(self, parameter: Variable, values: list[float]) -> None:
        """Parameters change at an event, which may not move the states here."""
        instance = self.instance
        x = instance.continuous_states()
        instance.enter_event_mode()
        try:
            instance.set([parameter], values)
        finally:
            settle(instance)
            instance.enter_continuous_time_mode()
            instance.set_continuous_states(x)


@contextmanager
def point(fmu: Fmu, kind: str) -> Iterator[Point]:
    """A point shortly after the start in Model Exchange; in Co-Simulation one in Initialization Mode."""
    one, exchange = fmu.description, kind == "ME"
    states = [state for state in one.states if state.real] if exchange else []
    kinds = ("output", "derivative", "indicator") if exchange else ("output",)
    entries = {e.variable.reference: e for k in kinds for e in one.unknowns(k) if e.variable and e.variable.real}
    # A known is no unknown, though a state may be an output.
    known = {state.reference for state in states}
    chosen = spread([entry for reference, entry in entries.items() if reference not in known], MOST)
    inputs = real_inputs(one)
    if not (states or inputs) or not chosen:
        raise NotApplicable("there is nothing known, or nothing that depends on it")
    offsets = (
        {n.variable.reference or 0: i - n.index for i, n in enumerate(one.numbers(one.states))} if exchange else {}
    )
    with running(fmu, kind, started=False) as instance:
        enter(instance)
        if exchange:
            start(instance)
            creep(instance, step_length(one) / 20)
        others = [v for v in one.variables if v.real and _is_other(v)] if exchange else []
        yield Point(instance, states, inputs, others, chosen, offsets)


def _is_other(one: Variable) -> bool:
    return one.causality == "independent" or (one.causality, one.variability) == ("parameter", "tunable")
