"""An instance of an FMU that is checked, started from its default experiment."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from linkwork.fmu.caller.library import Library
from linkwork.fmu.caller.make import make_instance
from linkwork.fmu.check.fmu import Fmu
from linkwork.fmu.check.report import NotApplicable
from linkwork.fmu.description import Description, Variable, references

NAME = "check"  # of each instance
MOST_ITERATIONS = 10  # of the discrete states at an event


class EndlessEvent(Exception):
    """Discrete states request another iteration without end."""


class EndOfSimulation(Exception):
    """The FMU requests the end of the simulation, which the standard allows; the text has the time."""


class Instance:
    """One instance; messages of the FMU are kept in `messages`. `options` are those of FMI 3.0 in Co-Simulation.

    Variables are passed as the model description has them; `fmu` takes value references and has the other calls.
    """

    def __init__(self, fmu: Fmu, kind: str, token: str | None = None, **options: Any) -> None:
        self.description: Description = fmu.description
        self.options = options
        self.kind = kind
        self.messages: list[str] = []
        self.n = fmu.description.n_states
        self.time = fmu.description.experiment["startTime"] or 0.0
        identifier = fmu.description.kinds[kind].get("modelIdentifier")
        token = fmu.description.token if token is None else token
        self.fmu = make_instance(fmu.description.version, NAME, self.messages, least=0, traced=True)
        self.fmu.load(Library(fmu.description.version, kind, fmu.folder, identifier, token))
        self.instantiate()

    def instantiate(self) -> None:
        """Make the instance, also again after its release."""
        self.fmu.instantiate(**self.options)

    # ---- life

    def enter(self) -> None:
        """Enter Initialization Mode."""
        given = self.description.experiment
        self.fmu.enter_initialization(self.time, given["stopTime"], given["tolerance"])

    def start(self) -> None:
        """Leave Initialization Mode and enter Continuous-Time or Step Mode."""
        self.fmu.exit_initialization()
        if self.kind == "ME":
            self.update_discrete_states()
            self.fmu.enter_continuous_time_mode()

    def update_discrete_states(self) -> bool:
        """Iterate the discrete states to a fixed point; return whether the FMU reports changed continuous states.

        Raises
        ------
        EndlessEvent
            If they request another iteration every time.
        """
        changed = False
        for _ in range(MOST_ITERATIONS):
            update = self.fmu.update_discrete_states()
            changed |= update.changed
            self._end_if(update.terminate)
            if not update.needed:
                return changed
        raise EndlessEvent

    def event(self) -> bool:
        """Handle an event in Model Exchange; return whether the FMU reports changed continuous states."""
        self.fmu.enter_event_mode()
        changed = self.update_discrete_states()
        self.fmu.enter_continuous_time_mode()
        return changed

    def completed_step(self) -> None:
        """Report that a step of the integrator is complete.

        Raises
        ------
        EndOfSimulation
            If the FMU requests it.
        """
        self._end_if(self.fmu.completed_integrator_step()[1])

    def _end_if(self, terminate: bool) -> None:
        if terminate:
            raise EndOfSimulation(f"the FMU ends the simulation at t = {self.time:.9g}; later times are not checked")

    # ---- values

    def get(self, variables: Sequence[Variable]) -> list[float]:
        """The numbers of real variables, those of arrays one after the other."""
        return self.fmu.reals(references(variables), self._count(variables))

    def set(self, variables: Sequence[Variable], values: Sequence[float]) -> None:
        """Set real variables that are no continuous states."""
        self.fmu.set_reals(references(variables), values)

    def _count(self, variables: Sequence[Variable]) -> int:
        return sum(one.size for one in variables)

    def set_time(self, time: float) -> None:
        """Set the time in Model Exchange."""
        self.time = time
        self.fmu.set_time(time)

    def states(self) -> list[float]:
        """The continuous states."""
        return self.fmu.continuous_states(self.n)

    def nominals(self) -> list[float]:
        """The nominal values of the continuous states."""
        return self.fmu.nominals(self.n)

    def derivatives(self) -> list[float]:
        """The derivatives of the continuous states."""
        return self.fmu.derivatives(self.n)

    def indicators(self) -> list[float]:
        """The event indicators."""
        return self.fmu.event_indicators(self.description.n_indicators)

    # ---- steps

    def step(self, length: float) -> tuple[bool, float]:
        """Do a step; return the FMU's report: whether it ended early, and the time reached."""
        outcome = self.fmu.step(self.time, length)
        self.time = outcome.reached
        self._end_if(outcome.terminate)
        return outcome.early, self.fmu.reported_time

    # ---- derivatives

    def directional(
        self, unknowns: Sequence[Variable], knowns: Sequence[Variable], seed: Sequence[float]
    ) -> list[float]:
        """The directional derivative; a seed for each known number, a result for each unknown."""
        return self.fmu.directional(references(unknowns), references(knowns), seed, self._count(unknowns))

    def adjoint(self, unknowns: Sequence[Variable], knowns: Sequence[Variable], seed: Sequence[float]) -> list[float]:
        """The adjoint derivative."""
        return self.fmu.adjoint(references(unknowns), references(knowns), seed, self._count(knowns))


def runnable(fmu: Fmu, *kinds: str, why: str = "") -> list[str]:
    """Return which of some interfaces can be run on this machine.

    Raises
    ------
    NotApplicable
        If there is none; `why` names the interface.
    """
    from fmpy import platform, platform_tuple, sharedLibraryExtension

    one = fmu.description
    folder = fmu.folder / "binaries" / (platform_tuple if one.fmi3 else platform)
    found = [kind for kind in kinds if kind in one.kinds]
    if not found:
        raise NotApplicable(why or "neither Model Exchange nor Co-Simulation")
    ready = [k for k in found if (folder / f"{one.kinds[k].get('modelIdentifier')}{sharedLibraryExtension}").is_file()]
    if not ready:
        raise NotApplicable("it has no library for this platform")
    return ready


def has_cvode() -> bool:
    """Whether FMPy brings CVODE for this platform: for Linux on ARM it does not."""
    import fmpy

    return (Path(fmpy.__file__).parent / "sundials" / str(fmpy.platform_tuple)).is_dir()


@contextlib.contextmanager
def running(fmu: Fmu, kind: str, *, started: bool = True, **options: Any) -> Iterator[Instance]:
    """An instance in Continuous-Time or Step Mode (or before Initialization Mode), freed at the end."""
    instance = Instance(fmu, kind, **options)
    try:
        if started:
            instance.enter()
            instance.start()
        yield instance
    except Exception as problem:
        if instance.messages and not hasattr(problem, "__notes__"):
            problem.add_note(instance.messages[-1])
        raise
    finally:
        instance.fmu.free()
