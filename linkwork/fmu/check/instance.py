"""An instance of an FMU, driven through FMPy's classes by the same calls in each version and interface."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from ctypes import byref, c_double, c_int, c_size_t, c_uint32
from typing import Any

from linkwork.fmu.check.fmu import Fmu
from linkwork.fmu.check.report import NotApplicable
from linkwork.fmu.description import Description, Variable
from linkwork.fmu.library import load

NAME = "check"  # of each instance
MOST_ITERATIONS = 10  # of the discrete states at an event


class EndlessEvent(Exception):
    """Discrete states request another iteration without end."""


class Instance:
    """One instance; messages of the FMU are kept in `messages`. `options` are those of FMI 3.0 in Co-Simulation."""

    def __init__(self, fmu: Fmu, kind: str, token: str | None = None, **options: Any) -> None:
        self.description: Description = fmu.description
        self.options = options
        self.kind = kind
        self.messages: list[str] = []
        self._listener: Any = None
        self.n = fmu.description.n_states
        self.time = fmu.description.experiment["startTime"] or 0.0
        identifier = fmu.description.kinds[kind].get("modelIdentifier")
        token = fmu.description.token if token is None else token
        self.fmu = load(fmu.description.version, kind, str(fmu.folder), identifier, token, NAME)
        self.instantiate()

    def instantiate(self) -> None:
        """Make the instance, also again after `release`."""
        from linkwork.fmu.messages import Listener, log_message

        if self.description.fmi3:
            self.fmu.instantiate(loggingOn=True, logMessage=log_message(self.messages, least=0), **self.options)
            return
        self._listener = Listener(NAME, self.messages, least=0)
        self.fmu.instantiate(callbacks=self._listener.callbacks, loggingOn=True)

    # ---- life

    def enter(self) -> None:
        """Enter Initialization Mode."""
        given = self.description.experiment
        tolerance, stop = given["tolerance"], given["stopTime"]
        if self.description.fmi3:
            self.fmu.enterInitializationMode(tolerance=tolerance, startTime=self.time, stopTime=stop)
        else:
            self.fmu.setupExperiment(tolerance=tolerance, startTime=self.time, stopTime=stop)
            self.fmu.enterInitializationMode()

    def start(self) -> None:
        """Leave Initialization Mode and enter Continuous-Time or Step Mode."""
        self.fmu.exitInitializationMode()
        if self.kind == "ME":
            self.update_discrete_states()
            self.fmu.enterContinuousTimeMode()

    def update_discrete_states(self) -> bool:
        """Iterate the discrete states to a fixed point; return whether the FMU reports changed continuous states.

        Raises
        ------
        EndlessEvent
            If they request another iteration every time.
        """
        update = self.fmu.updateDiscreteStates if self.description.fmi3 else self.fmu.newDiscreteStates
        changed = False
        for _ in range(MOST_ITERATIONS):
            needed, _terminate, _nominals, values, *_ = update()
            changed |= bool(values)
            if not needed:
                return changed
        raise EndlessEvent

    def event(self) -> bool:
        """Handle an event in Model Exchange; return whether the FMU reports changed continuous states."""
        self.fmu.enterEventMode()
        changed = self.update_discrete_states()
        self.fmu.enterContinuousTimeMode()
        return changed

    def release(self) -> None:
        """Free the instance, in whatever mode it is, and keep the library."""
        component, self.fmu.component = self.fmu.component, None
        if component:
            (self.fmu.fmi3FreeInstance if self.description.fmi3 else self.fmu.fmi2FreeInstance)(component)
        if self._listener:
            self._listener.close()

    def free(self) -> None:
        """Free the instance and the library."""
        self.release()
        self.fmu.freeLibrary()

    def terminate(self) -> None:
        """Terminate it."""
        self.fmu.terminate()

    # ---- values

    def get(self, variables: Sequence[Variable]) -> list[float]:
        """The numbers of real variables, those of arrays one after the other."""
        references = _references(variables)
        if not references:
            return []
        if self.description.fmi2:
            return list(self.fmu.getReal(references))
        return list(self.fmu.getFloat64(references, self._count(variables)))

    def set(self, variables: Sequence[Variable], values: Sequence[float]) -> None:
        """Set real variables that are no continuous states."""
        write = self.fmu.setFloat64 if self.description.fmi3 else self.fmu.setReal
        if variables:
            write(_references(variables), list(values))

    def _count(self, variables: Sequence[Variable]) -> int:
        return sum(map(self.description.size, variables))

    def set_time(self, time: float) -> None:
        """Set the time in Model Exchange."""
        self.time = time
        self.fmu.setTime(time)

    def states(self) -> list[float]:
        """The continuous states."""
        return self._array(self.fmu.getContinuousStates, self.n)

    def set_states(self, x: Sequence[float]) -> None:
        """Set the continuous states."""
        if self.n:
            self.fmu.setContinuousStates((c_double * self.n)(*x), self.n)

    def nominals(self) -> list[float]:
        """The nominal values of the continuous states."""
        return self._array(self.fmu.getNominalsOfContinuousStates, self.n)

    def derivatives(self) -> list[float]:
        """The derivatives of the continuous states."""
        name = "getContinuousStateDerivatives" if self.description.fmi3 else "getDerivatives"
        return self._array(getattr(self.fmu, name), self.n)

    def indicators(self) -> list[float]:
        """The event indicators."""
        return self._array(self.fmu.getEventIndicators, self.description.n_indicators)

    @staticmethod
    def _array(function: Any, n: int) -> list[float]:
        values = (c_double * n)()
        if n:
            function(values, n)
        return list(values)

    # ---- steps

    def step(self, length: float) -> tuple[bool, float]:
        """Do a step; return the FMU's report: whether it ended early, and the time reached."""
        goal = self.time + length
        if not self.description.fmi3:
            self.fmu.doStep(self.time, length)
            self.time = goal
            return False, goal
        _, _, early, reached = self.fmu.doStep(self.time, length)
        self.time = reached if early else goal
        return early, reached

    # ---- states of the instance

    def save(self) -> Any:
        """Return its whole state; `drop` it at the end."""
        return self.fmu.getFMUState()

    def restore(self, state: Any) -> None:
        """Restore a state."""
        self.fmu.setFMUState(state)

    def drop(self, state: Any) -> None:
        """Free a state."""
        self.fmu.freeFMUState(state)

    # ---- derivatives

    def directional(
        self, unknowns: Sequence[Variable], knowns: Sequence[Variable], seed: Sequence[float]
    ) -> list[float]:
        """The directional derivative; a seed for each known number, a result for each unknown."""
        arguments = [_references(unknowns), _references(knowns), list(seed)]
        if self.description.fmi3:
            arguments.append(self._count(unknowns))
        return list(self.fmu.getDirectionalDerivative(*arguments))

    def adjoint(self, unknowns: Sequence[Variable], knowns: Sequence[Variable], seed: Sequence[float]) -> list[float]:
        """The adjoint derivative."""
        references = _references(unknowns), _references(knowns)
        return list(self.fmu.getAdjointDerivative(*references, list(seed), self._count(knowns)))

    def dependencies(self, unknown: Variable) -> list[tuple[int, int, int]]:
        """Dependencies by the library of FMI 3.0: element of the unknown, reference and element of the known."""
        component, count = self.fmu.component, c_size_t()
        self.fmu.fmi3GetNumberOfVariableDependencies(component, unknown.reference, byref(count))
        n = count.value
        ours, known, theirs, kinds = (c_size_t * n)(), (c_uint32 * n)(), (c_size_t * n)(), (c_int * n)()
        self.fmu.fmi3GetVariableDependencies(component, unknown.reference, ours, known, theirs, kinds, n)
        return list(zip(ours, known, theirs, strict=True))


def _references(variables: Sequence[Variable]) -> list[int]:
    return [one.reference for one in variables if one.reference is not None]


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
        instance.free()
