"""Instances of an FMU that is checked: run by its default experiment, until it requests the end of the simulation."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from linkwork.fmu.caller.instance import FmuInstance
from linkwork.fmu.caller.library import binary
from linkwork.fmu.caller.make import instance_class
from linkwork.fmu.check.fmu import Fmu
from linkwork.fmu.check.report import NotApplicable

NAME = "check"  # of each instance
MOST_ITERATIONS = 10  # of the discrete states at an event


class EndlessEvent(Exception):
    """Discrete states request another iteration without end."""


class EndOfSimulation(Exception):
    """The FMU requests the end of the simulation, which the standard allows; the text has the time."""


def new_instance(fmu: Fmu, interface: str, token: str | None = None, **options: Any) -> FmuInstance:
    """Make an instance; `options` are those of FMI 3.0 in Co-Simulation."""
    caller = instance_class(fmu.description)
    instance = caller(fmu.description, interface, NAME, [], least=0, traced=True)
    instance.load(fmu.folder, token)
    instance.instantiate(**options)
    return instance


def enter(instance: FmuInstance) -> None:
    """Enter Initialization Mode."""
    given = instance.description.experiment
    instance.enter_initialization(given["startTime"] or 0.0, given["stopTime"], given["tolerance"])


def start(instance: FmuInstance) -> None:
    """Leave Initialization Mode and enter Continuous-Time or Step Mode."""
    instance.exit_initialization()
    if instance.interface == "ME":
        settle(instance)
        instance.enter_continuous_time_mode()


def settle(instance: FmuInstance) -> bool:
    """Iterate the discrete states to a fixed point; return whether the FMU reports changed continuous states."""
    update = instance.update_until_settled(MOST_ITERATIONS)
    _end_if(instance, update.terminate)
    if update.needed:
        raise EndlessEvent
    return update.changed


def event(instance: FmuInstance) -> bool:
    """Handle an event in Model Exchange; return whether the FMU reports changed continuous states."""
    instance.enter_event_mode()
    changed = settle(instance)
    instance.enter_continuous_time_mode()
    return changed


def completed_step(instance: FmuInstance) -> None:
    """Report that a step of the integrator is complete.

    Raises
    ------
    EndOfSimulation
        If the FMU requests it.
    """
    _end_if(instance, instance.completed_integrator_step()[1])


def step(instance: FmuInstance, length: float) -> tuple[bool, float]:
    """Do a step; return the FMU's report: whether it ended early, and the time reached."""
    outcome = instance.step(instance.time, length)
    _end_if(instance, outcome.terminate)
    return outcome.early, instance.reported_time


def _end_if(instance: FmuInstance, terminate: bool) -> None:
    if terminate:
        raise EndOfSimulation(f"the FMU ends the simulation at t = {instance.time:.9g}; later times are not checked")


def runnable(fmu: Fmu, *kinds: str, why: str = "") -> list[str]:
    """Return which of some interfaces can be run on this machine."""
    found = [kind for kind in kinds if kind in fmu.description.kinds]
    if not found:
        raise NotApplicable(why or "neither Model Exchange nor Co-Simulation")
    ready = [kind for kind in found if (fmu.folder / binary(fmu.description, kind)).is_file()]
    if not ready:
        raise NotApplicable("it has no library for this platform")
    return ready


def has_cvode() -> bool:
    """Whether FMPy brings CVODE for this platform: for Linux on ARM it does not."""
    import fmpy

    return (Path(fmpy.__file__).parent / "sundials" / str(fmpy.platform_tuple)).is_dir()


@contextlib.contextmanager
def running(fmu: Fmu, kind: str, *, started: bool = True, **options: Any) -> Iterator[FmuInstance]:
    """An instance in Continuous-Time or Step Mode (or before Initialization Mode), freed at the end."""
    instance = new_instance(fmu, kind, **options)
    try:
        if started:
            enter(instance)
            start(instance)
        yield instance
    except Exception as problem:
        if instance.messages and not hasattr(problem, "__notes__"):
            problem.add_note(instance.messages[-1])
        raise
    finally:
        instance.free()
