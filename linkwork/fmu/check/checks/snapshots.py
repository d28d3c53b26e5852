"""States of an instance: saved, restored, serialised and deserialised."""

from __future__ import annotations

from collections.abc import Iterator

from linkwork.fmu.caller.instance import FmuInstance
from linkwork.fmu.check.fmu import Fmu
from linkwork.fmu.check.instance import runnable, running
from linkwork.fmu.check.registry import check
from linkwork.fmu.check.report import Finding, NotApplicable, error
from linkwork.fmu.check.sampling import bits, creep, differing, step_length, steps, watched
from linkwork.fmu.description import Number, Variable

_KEEPS = ("canGetAndSetFMUState", "canGetAndSetFMUstate")
_WRITES = ("canSerializeFMUState", "canSerializeFMUstate")


def _kinds(fmu: Fmu, names: tuple[str, str]) -> list[str]:
    kinds = [kind for kind in runnable(fmu, "ME", "CS") if fmu.description.able(kind, *names)]
    if not kinds:
        raise NotApplicable(f"it does not declare {names[fmu.description.fmi2]}")
    return kinds


@check("snapshots", "from a restored state, a run repeats itself to the bit", dynamic=True)
def snapshots(fmu: Fmu) -> Iterator[Finding]:
    """Save a state, run, restore it, run again."""
    variables, length = watched(fmu.description), step_length(fmu.description)
    numbers = fmu.description.numbers(variables)
    for kind in _kinds(fmu, _KEEPS):
        with running(fmu, kind) as instance:
            _go(instance, variables, length, 3)
            state, time = instance.save(), instance.time
            first = _go(instance, variables, length, 8)
            instance.restore(state)
            instance.time = time
            second = _go(instance, variables, length, 8)
            instance.drop(state)
        yield from _compare(kind, numbers, first, second, "after a saved state is restored")


@check("serialisation", "a state written out serves another instance, and a truncated one is refused", dynamic=True)
def serialisation(fmu: Fmu) -> Iterator[Finding]:
    """Write a state, run on, and run again from it in another instance."""
    variables, length = watched(fmu.description), step_length(fmu.description)
    numbers = fmu.description.numbers(variables)
    for kind in _kinds(fmu, _WRITES):
        with running(fmu, kind) as instance:
            _go(instance, variables, length, 3)
            state, time = instance.save(), instance.time
            data = instance.serialize(state)
            instance.drop(state)
            first = _go(instance, variables, length, 5)
            # A second instance at the same time, or by itself where there may be but one.
            if fmu.description.able(kind, "canBeInstantiatedOnlyOncePerProcess"):
                second = _from_bytes(instance, data, time, variables, length)
            else:
                with running(fmu, kind) as other:
                    second = _from_bytes(other, data, time, variables, length)
        yield from _compare(kind, numbers, first, second, "from a state that was written out")
        for size in (len(data) - 1, len(data) // 2, 0):
            if _accepts(fmu, kind, data[:size]):
                yield error(f"{kind}: {size} of the {len(data)} bytes of a state are accepted; refuse truncated ones")
                break


def _from_bytes(
    instance: FmuInstance, data: bytes, time: float, variables: list[Variable], length: float
) -> list[list[float]]:
    state = instance.deserialize(data)
    instance.restore(state)
    instance.drop(state)
    instance.time = time
    return _go(instance, variables, length, 5)


def _accepts(fmu: Fmu, kind: str, data: bytes) -> bool:
    with running(fmu, kind) as instance:
        try:
            state = instance.deserialize(data)
        except Exception:  # a status other than OK
            return False
        instance.drop(state)
        return True


def _go(instance: FmuInstance, variables: list[Variable], length: float, count: int) -> list[list[float]]:
    if instance.interface == "CS":
        return steps(instance, variables, length, count)
    rows = creep(instance, length, count)
    return [*rows, instance.get(variables)]


def _compare(
    kind: str, numbers: list[Number], first: list[list[float]], second: list[list[float]], when: str
) -> Iterator[Finding]:
    for a, b in zip(first, second, strict=True):
        if bits(a) != bits(b):
            said = differing(numbers, a, b) if len(a) == len(numbers) else "states or derivatives"
            yield error(f"{kind}: {when} {said} run otherwise; keep all that changes, the integrator's memory too")
            return
