"""The contract of an instance in Co-Simulation: the same calls for each version of FMI."""

from __future__ import annotations

import ctypes
import functools
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from linkwork.cosim.fmu.model import FmuModel, Variable
from linkwork.cosim.fmu.ports import Ports
from linkwork.cosim.isolated.call_record import Call, note
from linkwork.errors import FmuError
from linkwork.fmu.library import NotLoaded, load
from linkwork.fmu.messages import STATUS

P = ParamSpec("P")
T = TypeVar("T")
S = TypeVar("S", bound="Instance")
FloatArray = NDArray[np.float64]

WARNING, DISCARD, FATAL = 1, 2, 4
#: The call that a message about a crash names, by method.
CALLS = {
    "instantiate": Call.instantiate,
    "enter_initialization": Call.enterInitializationMode,
    "exit_initialization": Call.exitInitializationMode,
    "terminate": Call.terminate,
    "free": Call.freeInstance,
    "read": Call.get,
    "write": Call.set,
    "write_derivatives": Call.set,
    "directional": Call.getDerivatives,
    "step": Call.doStep,
    "enter_event_mode": Call.enterEventMode,
    "update_discrete_states": Call.updateDiscreteStates,
    "enter_step_mode": Call.enterStepMode,
    "save": Call.getState,
    "restore": Call.setState,
    "drop": Call.freeState,
}
#: The remedy for the user where a call fails.
REMEDIES = {
    "instantiate": "export it again, or check what it needs where it runs",
    "enter_initialization": "look at its parameters and start values",
    "exit_initialization": "look at its parameters, start values and inputs",
    "write": "look at the values that are set",
    "step": "look at its inputs and parameters there, or take a smaller step",
}
MOST_MESSAGES = 5  # in the text of an error
_UNFREED: list[object] = []  # of FMUs that may not be called any more, but may have threads that call back


class Outcome(NamedTuple):
    """The outcome of a step.

    `reached` is the time reached; `event`: the FMU requests Event Mode there; `terminate`: it requests the end of the
    simulation; `discarded`: it could not complete the step, and a shorter one may succeed.
    """

    reached: float
    event: bool = False
    terminate: bool = False
    discarded: bool = False


class Update(NamedTuple):
    """Result of an update of discrete states: whether another is needed, and the time of the next event if known."""

    needed: bool
    terminate: bool
    next_event: float | None


def call(method: Callable[Concatenate[S, P], T]) -> Callable[Concatenate[S, P], T]:
    """Turn a failure of an FMI call within `method` into an `FmuError` that names the instance."""
    name = method.__name__
    code = CALLS[name]

    @functools.wraps(method)
    def adapted(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        note(self.number, code, self.time)
        try:
            return method(self, *args, **kwargs)
        except (FmuError, KeyboardInterrupt):
            raise
        except Exception as problem:  # any error of FMPy, ctypes or a missing function
            raise self.failure(name, problem) from problem

    return adapted


def check(status: int, function: str, kind: str = "") -> None:
    """Raise FMPy's error if a call failed; FMPy's own calls do so, those made directly do not."""
    if status > WARNING:
        from fmpy.fmi1 import FMICallException

        raise FMICallException(function + kind, status)


class Instance(ABC):
    """An instance of an FMU in Co-Simulation.

    Attributes
    ----------
    name, model, number
        Its own name, its FMU, and its position in the system.
    inputs, discrete_inputs, outputs, recorded_only
        Its exchanged variables, and those that are only recorded; see `bind`. FMI 3.0 allows to set discrete inputs in
        Event Mode only.
    time
        The communication point it is at [s].
    in_event_mode
        Whether it is in Event Mode (FMI 3.0).
    needs_update
        Whether it has requested there another update of its discrete states.
    wants_end
        Whether it has requested the end of the simulation.
    discarded
        Whether it has ever discarded a step.
    messages
        Its last messages of status warning or above.
    """

    def __init__(self, name: str, model: FmuModel, number: int = 0) -> None:
        self.name = name
        self.number = number
        self.model = model
        self.time = 0.0
        self.in_event_mode = False
        self.needs_update = False
        self.wants_end = self.discarded = False
        self.messages: deque[str] = deque(maxlen=MOST_MESSAGES)
        self.fmu: Any = None
        self._renews = False
        self.inputs = self.discrete_inputs = self.outputs = self.recorded_only = self.ports(())

    def bind(self, inputs: Sequence[Variable], outputs: Sequence[Variable], recorded_only: Sequence[Variable]) -> None:
        """Set the variables that will be written and read; `recorded_only` are read only to be recorded."""
        separate = self.model.abilities.event_mode
        self.inputs = self.ports([one for one in inputs if not (separate and one.variability == "discrete")])
        self.discrete_inputs = self.ports([one for one in inputs if separate and one.variability == "discrete"])
        self.outputs, self.recorded_only = self.ports(outputs), self.ports(recorded_only)

    def ports(self, variables: Sequence[Variable]) -> Ports:
        """Prepare variables for `read` and `write`."""
        return Ports(variables, self.type_of)

    def failure(self, name: str, problem: Exception) -> FmuError:
        """Return the error that names the failed call and has the messages of the FMU."""
        status = getattr(problem, "status", -1)
        self.model.lost |= status == FATAL
        how = f"returned {STATUS[status]}" if status in range(len(STATUS)) else f"failed: {problem}"
        called = getattr(problem, "function", name)
        messages = f"; it reports: {'; '.join(self.messages)}" if self.messages else ""
        remedy = f"; {REMEDIES[name]}" if name in REMEDIES else ""
        who = f"FMU {self.model.path.name} (instance {self.name!r})"
        return FmuError(f"{who}: {called} {how} at t = {self.time:.9g} s{messages}{remedy}")

    # ---- life

    def load(self) -> Any:
        """Return FMPy's object for the instance.

        Raises
        ------
        FmuError
            If the library cannot be loaded.
        """
        model = self.model
        try:
            return load(model.fmi, "CS", str(model.folder), model.identifier, model.token, self.name)
        except NotLoaded as problem:
            remedy = (
                "'linkwork check' lists all that are missing, for its maker to add"
                if problem.missing
                else "install what it depends on, or export it for this platform"
            )
            raise FmuError(f"FMU {model.path.name} (instance {self.name!r}): {problem}; {remedy}") from problem

    @abstractmethod
    def instantiate(self) -> None:
        """Load the library and make the instance; `free` it at the end."""

    @abstractmethod
    def enter_initialization(self, start: float, stop: float | None, tolerance: float | None) -> None:
        """Enter Initialization Mode."""

    @abstractmethod
    def exit_initialization(self) -> None:
        """Leave Initialization Mode, to Step Mode, or to Event Mode where there is one."""

    @call
    def terminate(self) -> None:
        """End the simulation; outputs can still be read."""
        self.fmu.terminate()

    @call
    def free(self) -> None:
        """Free the instance and its library, in whatever mode it is; nothing is called if the FMU is lost."""
        fmu, self.fmu = self.fmu, None
        if fmu is None:
            return
        if self.model.lost:
            _UNFREED.append((fmu, self.forget()))
            return
        component, fmu.component = getattr(fmu, "component", None), None
        try:
            if component:
                self.free_component(fmu, component)
        finally:
            fmu.freeLibrary()
            self.forget()

    @abstractmethod
    def free_component(self, fmu: Any, component: Any) -> None:
        """Free the instance alone."""

    def forget(self) -> object:
        """Drop all references to the library, so that no circle keeps it; return the object that it may still call."""
        self._get: dict[str, Any] = {}
        self._set: dict[str, Any] = {}
        return None

    # ---- values

    @abstractmethod
    def type_of(self, variable: Variable) -> tuple[str, Any]:
        """Return the name of the FMI type by which a variable is read and written, and its C type."""

    @abstractmethod
    def read(self, ports: Ports) -> None:
        """Get values."""

    @abstractmethod
    def write(self, ports: Ports) -> None:
        """Set values."""

    def write_derivatives(self, ports: Ports, derivatives: Sequence[FloatArray]) -> None:
        """Set derivatives of the real variables by time, `derivatives[k]` those of order k + 1 (FMI 2.0)."""
        raise NotImplementedError

    @abstractmethod
    def directional(self, unknowns: Ports, knowns: Ports, seed: FloatArray) -> FloatArray:
        """Return the derivative of real unknowns along `seed`, a direction of real knowns."""

    # ---- steps

    @abstractmethod
    def step(self, time: float, length: float) -> Outcome:
        """Do a communication step."""

    def enter_event_mode(self) -> None:
        """Enter Event Mode (FMI 3.0)."""
        raise NotImplementedError

    def update_discrete_states(self) -> Update:
        """Update discrete states in Event Mode."""
        raise NotImplementedError

    def enter_step_mode(self) -> None:
        """Enter Step Mode."""
        raise NotImplementedError

    # ---- states

    @abstractmethod
    def save(self, reuse: Any = None) -> Any:
        """Return a snapshot of the whole state; `reuse` is one that may be overwritten. `drop` it at the end."""

    def get_state(self, get: Any, free: Callable[[Any, Any], object], state: Any) -> Any:
        """Get a state of the FMU, into an existing one where the FMU supports that.

        Some FMUs return a new one every time: the caller must then free the old one.
        """
        before = state.value
        if before and self._renews:
            free(self.fmu.component, ctypes.byref(state))
            before = state.value = None
        check(get(self.fmu.component, ctypes.byref(state)), get.__name__)
        self._renews |= bool(before) and state.value != before
        return state

    @abstractmethod
    def restore(self, snapshot: Any) -> None:
        """Restore a snapshot, which stays valid."""

    @abstractmethod
    def drop(self, snapshot: Any) -> None:
        """Free a snapshot."""
