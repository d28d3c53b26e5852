"""An instance of an FMU, driven through FMPy's classes by the same calls in each version and interface."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from ctypes import byref, c_double
from itertools import accumulate
from typing import Any

from linkwork.checking.description import Description, Variable
from linkwork.checking.fmu import Fmu
from linkwork.checking.report import NotApplicable

MOST_ITERATIONS = 10  # of an event, until discrete states must have settled


class EndlessEvent(Exception):
    """Discrete states ask for another iteration for ever."""


class Instance:
    """One instance; messages of the FMU are kept in `messages`."""

    def __init__(self, fmu: Fmu, kind: str, token: str | None = None) -> None:
        self.description: Description = fmu.description
        self.kind = kind
        self.messages: list[str] = []
        self.n = fmu.description.n_states
        self.time = fmu.description.experiment["startTime"] or 0.0
        self.iterations = 0
        self.fmu = _fmpy_class(fmu.description, kind)(
            guid=fmu.description.token if token is None else token,
            unzipDirectory=str(fmu.folder),
            modelIdentifier=fmu.description.kinds[kind].get("modelIdentifier"),
            instanceName="check",
        )
        self.instantiate()

    def instantiate(self) -> None:
        """Make the instance, anew after `release`."""

        def log(_environment: Any, *rest: Any) -> None:
            self.messages.append((rest[-1] or b"").decode(errors="replace"))

        if self.description.fmi3:
            self.fmu.instantiate(loggingOn=True, logMessage=lambda _e, *rest: log(None, *rest))
            return
        from fmpy import calloc, fmi2, free

        callbacks = fmi2.fmi2CallbackFunctions()
        callbacks.logger = fmi2.fmi2CallbackLoggerTYPE(log)
        callbacks.allocateMemory = fmi2.fmi2CallbackAllocateMemoryTYPE(calloc)
        callbacks.freeMemory = fmi2.fmi2CallbackFreeMemoryTYPE(free)
        with contextlib.suppress(Exception):  # it writes arguments into the text, where FMPy has it for the platform
            from fmpy.logging import addLoggerProxy

            addLoggerProxy(byref(callbacks))
        self.fmu.instantiate(callbacks=callbacks, loggingOn=True)

    # ---- life

    def enter(self) -> None:
        """Go to Initialization Mode."""
        given = self.description.experiment
        tolerance, stop = given["tolerance"], given["stopTime"]
        if self.description.fmi3:
            self.fmu.enterInitializationMode(tolerance=tolerance, startTime=self.time, stopTime=stop)
        else:
            self.fmu.setupExperiment(tolerance=tolerance, startTime=self.time, stopTime=stop)
            self.fmu.enterInitializationMode()

    def start(self) -> None:
        """Leave Initialization Mode, towards Continuous-Time or Step Mode."""
        self.fmu.exitInitializationMode()
        if self.kind == "ME":
            self.settle()
            self.fmu.enterContinuousTimeMode()

    def settle(self) -> None:
        """Iterate discrete states until they rest.

        Raises
        ------
        EndlessEvent
            If they do not.
        """
        update = self.fmu.updateDiscreteStates if self.description.fmi3 else self.fmu.newDiscreteStates
        for self.iterations in range(1, MOST_ITERATIONS + 1):
            if not update()[0]:
                return
        raise EndlessEvent

    def release(self) -> None:
        """Free the instance, in whatever mode it is, and keep the library."""
        component, self.fmu.component = self.fmu.component, None
        if component:
            (self.fmu.fmi3FreeInstance if self.description.fmi3 else self.fmu.fmi2FreeInstance)(component)

    def free(self) -> None:
        """Free the instance and the library."""
        self.release()
        self.fmu.freeLibrary()

    def terminate(self) -> None:
        """Terminate it."""
        self.fmu.terminate()

    # ---- values

    def get(self, variables: Sequence[Variable]) -> list[float]:
        """Values of scalar reals."""
        read = self.fmu.getFloat64 if self.description.fmi3 else self.fmu.getReal
        return list(read([one.reference for one in variables])) if variables else []

    def set(self, variables: Sequence[Variable], values: Sequence[float]) -> None:
        """Set scalar reals; continuous states by the call that is theirs."""
        sizes = [self.description.size(one) for one in self.description.states]
        states = dict(zip(map(id, self.description.states), accumulate(sizes, initial=0), strict=False))
        plain = [(one, value) for one, value in zip(variables, values, strict=True) if id(one) not in states]
        if len(plain) < len(variables):
            x = self.states()
            for one, value in zip(variables, values, strict=True):
                if id(one) in states:
                    x[states[id(one)]] = value
            self.set_states(x)
        if plain:
            write = self.fmu.setFloat64 if self.description.fmi3 else self.fmu.setReal
            write([one.reference for one, _ in plain], [value for _, value in plain])

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
        """Do a step; return whether it ended early as it may say, and the time that it says it reached."""
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
        """Keep its whole state; `drop` it at the end."""
        return self.fmu.getFMUState()

    def restore(self, state: Any) -> None:
        """Go back."""
        self.fmu.setFMUState(state)

    def drop(self, state: Any) -> None:
        """Free a state."""
        self.fmu.freeFMUState(state)

    # ---- derivatives

    def directional(
        self, unknowns: Sequence[Variable], knowns: Sequence[Variable], seed: Sequence[float]
    ) -> list[float]:
        """The directional derivative."""
        return list(self.fmu.getDirectionalDerivative(_references(unknowns), _references(knowns), list(seed)))

    def adjoint(self, unknowns: Sequence[Variable], knowns: Sequence[Variable], seed: Sequence[float]) -> list[float]:
        """The adjoint derivative."""
        known = _references(knowns)
        return list(self.fmu.getAdjointDerivative(_references(unknowns), known, list(seed), len(known)))


def _references(variables: Sequence[Variable]) -> list[int]:
    return [one.reference for one in variables if one.reference is not None]


def _fmpy_class(description: Description, kind: str) -> Any:
    from fmpy import fmi2, fmi3

    table = {
        (True, "ME"): fmi2.FMU2Model,
        (True, "CS"): fmi2.FMU2Slave,
        (False, "ME"): fmi3.FMU3Model,
        (False, "CS"): fmi3.FMU3Slave,
    }
    return table[description.fmi2, kind]


def runnable(fmu: Fmu, *kinds: str, why: str = "") -> list[str]:
    """Return which of some interfaces can be run on this machine.

    Raises
    ------
    NotApplicable
        If there is none; `why` names what was asked for.
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
def running(fmu: Fmu, kind: str, *, started: bool = True) -> Iterator[Instance]:
    """An instance in Continuous-Time or Step Mode (or before Initialization Mode), freed at the end."""
    instance = Instance(fmu, kind)
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
