"""The contract of an instance: the calls of FMI for Co-Simulation, the same for each version."""

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
from linkwork.cosim.isolated.breadcrumb import Call, note
from linkwork.errors import FmuError

P = ParamSpec("P")
T = TypeVar("T")
S = TypeVar("S", bound="Instance")
FloatArray = NDArray[np.float64]

STATUS = ("ok", "warning", "discard", "error", "fatal", "pending")
WARNING, DISCARD, FATAL = 1, 2, 4
#: What a crash is said to have happened in.
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
#: What a user can do where one of them fails.
REMEDIES = {
    "instantiate": "export it again, or see what it needs to be there",
    "enter_initialization": "look at its parameters and start values",
    "exit_initialization": "look at its parameters, start values and inputs",
    "write": "look at what it is given",
    "step": "look at its inputs and parameters there, or take a smaller step",
}
MOST_MESSAGES = 5  # in the text of an error
_KEPT: list[object] = []  # of FMUs that may not be called any more, but may have threads that call back


class Outcome(NamedTuple):
    """How a step went.

    `reached` is the time it came to; `event`: the FMU wants to go to Event Mode there; `terminate`: it wants the
    simulation to end; `discarded`: it could not come further, and a shorter step may succeed.
    """

    reached: float
    event: bool = False
    terminate: bool = False
    discarded: bool = False


class Update(NamedTuple):
    """What an update of discrete states says: whether another is needed, and the time of the next event if known."""

    needed: bool
    terminate: bool
    next_event: float | None


def call(method: Callable[Concatenate[S, P], T]) -> Callable[Concatenate[S, P], T]:
    """Turn a failure of an FMI call within `method` into an `FmuError` that says whose it is."""
    name = method.__name__
    code = CALLS[name]

    @functools.wraps(method)
    def adapted(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        note(self.number, code, self.time)
        try:
            return method(self, *args, **kwargs)
        except (FmuError, KeyboardInterrupt):
            raise
        except Exception as problem:  # whatever FMPy, ctypes or a missing function make of it
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
    inputs, discrete_inputs, outputs, extras
        Its exchanged variables, and what is only recorded; see `bind`. Discrete inputs are those that FMI 3.0 lets be
        set in Event Mode only.
    time
        The communication point it is at [s].
    in_event_mode
        Whether it is in Event Mode (FMI 3.0).
    needs_update
        Whether it has asked there for another update of its discrete states.
    wants_end
        Whether it has asked for the end of the simulation.
    discarded
        Whether it has ever discarded a step.
    messages
        What it has said last, but for what is no trouble.
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
        """Say which variables will be written and read; `recorded_only` are read to be recorded only."""
        apart = self.model.abilities.event_mode
        self.inputs = self.ports([one for one in inputs if not (apart and one.variability == "discrete")])
        self.discrete_inputs = self.ports([one for one in inputs if apart and one.variability == "discrete"])
        self.outputs, self.recorded_only = self.ports(outputs), self.ports(recorded_only)

    def ports(self, variables: Sequence[Variable]) -> Ports:
        """Prepare variables for `read` and `write`."""
        return Ports(variables, self.type_of)

    def failure(self, name: str, problem: Exception) -> FmuError:
        """Return the error that says what failed, and what the FMU says of it."""
        status = getattr(problem, "status", -1)
        self.model.lost |= status == FATAL
        how = f"returned {STATUS[status]}" if status in range(len(STATUS)) else f"failed: {problem}"
        called = getattr(problem, "function", name)
        said = f"; it says: {'; '.join(self.messages)}" if self.messages else ""
        remedy = f"; {REMEDIES[name]}" if name in REMEDIES else ""
        who = f"FMU {self.model.path.name} (instance {self.name!r})"
        return FmuError(f"{who}: {called} {how} at t = {self.time:.9g} s{said}{remedy}")

    # ---- life

    @abstractmethod
    def instantiate(self) -> None:
        """Load the library and make the instance; `free` it at the end."""

    @abstractmethod
    def enter_initialization(self, start: float, stop: float | None, tolerance: float | None) -> None:
        """Go to Initialization Mode."""

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
            _KEPT.append((fmu, self.forget()))
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
        """Let go of what refers to the library, so that no circle keeps it; return what the library may still call."""
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
        """Go on by a communication step."""

    def enter_event_mode(self) -> None:
        """Go to Event Mode (FMI 3.0)."""
        raise NotImplementedError

    def update_discrete_states(self) -> Update:
        """Update discrete states in Event Mode."""
        raise NotImplementedError

    def enter_step_mode(self) -> None:
        """Go back to Step Mode."""
        raise NotImplementedError

    # ---- states

    @abstractmethod
    def save(self, reuse: Any = None) -> Any:
        """Return a snapshot of the whole state; `reuse` is one that may be overwritten. `drop` it at the end."""

    def get_state(self, get: Any, free: Callable[[Any, Any], object], state: Any) -> Any:
        """Get a state of the FMU, into one that there is where the FMU does so.

        Some give a new one every time: it is then for us to free the old one.
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
        """Go back to a snapshot, which stays valid."""

    @abstractmethod
    def drop(self, snapshot: Any) -> None:
        """Free a snapshot."""
