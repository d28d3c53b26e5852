"""The life of an instance: made, initialised, reset, freed; and two of them at a time."""

from __future__ import annotations

from collections.abc import Iterator

from linkwork.fmu.caller.instance import FmuInstance
from linkwork.fmu.check.fmu import Fmu
from linkwork.fmu.check.instance import enter, new_instance, runnable, running, start
from linkwork.fmu.check.registry import check
from linkwork.fmu.check.report import Finding, NotApplicable, error, note
from linkwork.fmu.check.sampling import bits, creep, differing, real_inputs, step_length, steps, watched
from linkwork.fmu.description import Variable

_ONCE = "canBeInstantiatedOnlyOncePerProcess"


@check("life", "an instance can be made, initialised, terminated, reset, and freed at any time", dynamic=True)
def life(fmu: Fmu) -> Iterator[Finding]:
    """Go through the life of an instance."""
    variables = watched(fmu.description)
    for kind in runnable(fmu, "ME", "CS"):
        with running(fmu, kind, started=False):
            pass  # freed as soon as it is made
        with running(fmu, kind) as instance:  # freed without being terminated
            first = instance.get(variables)
        with running(fmu, kind) as instance:
            instance.terminate()
            instance.reset()
            enter(instance)
            start(instance)
            again = instance.get(variables)
            instance.terminate()
        if bits(first) != bits(again):
            moved = differing(fmu.description.numbers(variables), first, again)
            yield error(f"{kind}: after a reset {moved} begin otherwise; reset everything")


@check("token", "a wrong instantiation token (GUID) is refused", dynamic=True)
def token(fmu: Fmu) -> Iterator[Finding]:
    """Instantiate with a token of another FMU."""
    for kind in runnable(fmu, "ME", "CS"):
        with running(fmu, kind, started=False):
            pass  # a failure below is due to the token alone
        try:
            instance = new_instance(fmu, kind, token="{00000000-0000-0000-0000-00000000bad0}")
        except Exception:  # FMPy's way of telling that there is no instance
            continue
        instance.free()
        yield error(f"{kind}: a wrong token is accepted; return NULL, or library and XML may belong to two models")


@check("independence", "two instances called alternately do what each does alone", dynamic=True)
def independence(fmu: Fmu) -> Iterator[Finding]:
    """Run two instances alternately, the second with other inputs."""
    one = fmu.description
    variables, length = watched(one), step_length(one)
    for kind in runnable(fmu, "ME", "CS"):
        if one.able(kind, _ONCE):
            raise NotApplicable(f"it declares {_ONCE}")
        with running(fmu, kind) as alone:
            expected = _go(alone, variables, length, 10)
        with running(fmu, kind) as first, running(fmu, kind) as second:
            second.set(real_inputs(one), [1.0] * len(one.numbers(real_inputs(one))))
            rows = []
            for _ in range(10):
                rows += _go(first, variables, length, 1)
                _go(second, variables, 0.5 * length if kind == "ME" else length, 1)
        if any(bits(a) != bits(b) for a, b in zip(expected, rows, strict=True)):
            yield error(f"{kind}: a second instance changes what the first one does; keep nothing outside of instances")


def _go(instance: FmuInstance, variables: list[Variable], length: float, count: int) -> list[list[float]]:
    return steps(instance, variables, length, count) if instance.interface == "CS" else creep(instance, length, count)


@check("nan", "an input that is not a number is refused, or harms that instance alone", dynamic=True)
def nan(fmu: Fmu) -> Iterator[Finding]:
    """Set an input, or where there is none a state, to NaN."""
    one = fmu.description
    variables, length = watched(one), step_length(one)
    for kind in runnable(fmu, "ME", "CS"):
        victims = real_inputs(one)[:1] or (one.states[:1] if kind == "ME" else [])
        if not victims:
            continue
        with running(fmu, kind) as bystander:  # it keeps the library loaded, and what that keeps outside of instances
            before = bystander.get(variables)
            accepted = _takes_nan(fmu, kind, victims, length)
            with running(fmu, kind) as later:
                harmed = any(bits(one.get(variables)) != bits(before) for one in (bystander, later))
        if accepted:
            yield note(f"{kind}: takes NaN for {victims[0].name} without a word; an error would show where it arises")
        if harmed:
            yield error(f"{kind}: after NaN in one instance others begin otherwise; keep nothing outside of instances")


def _takes_nan(fmu: Fmu, kind: str, victims: list[Variable], length: float) -> bool:
    with running(fmu, kind) as instance:
        try:
            if victims[0].causality == "input":
                instance.set(victims, [float("nan")] * victims[0].size)
            else:
                instance.set_continuous_states([float("nan"), *instance.continuous_states()[1:]])
            _go(instance, watched(fmu.description), length, 2)
        except Exception:  # a status other than OK
            return False
        return True
