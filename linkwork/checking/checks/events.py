"""Model Exchange at events: numbers of states and indicators, nominals, and an end to every event."""

from __future__ import annotations

import math
from collections.abc import Iterator

from linkwork.checking.fmu import Fmu
from linkwork.checking.instance import runnable, running
from linkwork.checking.registry import check
from linkwork.checking.report import Finding, error


@check(
    "events", "states and indicators are as many as declared, nominals above zero, events come to an end", dynamic=True
)
def events(fmu: Fmu) -> Iterator[Finding]:
    """Look at the start and at an event without a cause."""
    runnable(fmu, "ME", why="no Model Exchange")
    one = fmu.description
    with running(fmu, "ME") as instance:
        if one.fmi3:
            for said, number, expected in (
                ("continuous states", instance.fmu.getNumberOfContinuousStates(), one.n_states),
                ("event indicators", instance.fmu.getNumberOfEventIndicators(), one.n_indicators),
            ):
                if number != expected:
                    yield error(f"the library has {number} {said}, ModelStructure {expected}; make them agree")
        values = {
            "state": instance.states(),
            "derivative": instance.derivatives(),
            "event indicator": instance.indicators(),
        }
        for said, numbers in values.items():
            wrong = [str(i + 1) for i, value in enumerate(numbers) if not math.isfinite(value)]
            if wrong:
                yield error(f"after initialisation {said} {', '.join(wrong[:5])} is not finite")
        names = [state.name for state in one.states for _ in range(one.size(state))]
        for name, nominal in zip(names, instance.nominals(), strict=True):
            if not nominal > 0:
                yield error(f"the nominal value of {name} is {nominal!r}; it must be above zero")
        x = instance.states()
        instance.fmu.enterEventMode()
        instance.settle()
        instance.fmu.enterContinuousTimeMode()
        if instance.states() != x:
            yield error(
                "a second event at the start, without a cause, moves the states; an event must be over when it is"
            )
