"""An instance in Co-Simulation: exchanged variables, snapshots, and errors that name the instance.

An FMU for Model Exchange alone has a solver behind the same calls.
"""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from linkwork.cosim.fmu.model import FmuModel
from linkwork.cosim.fmu.model_exchange import RTOL, ExchangeStepper
from linkwork.cosim.fmu.ports import Ports
from linkwork.cosim.isolated.call_record import Call, note
from linkwork.errors import FmuError
from linkwork.fmu.caller.instance import FATAL, Outcome, Update
from linkwork.fmu.caller.library import NotLoaded
from linkwork.fmu.caller.make import instance_class
from linkwork.fmu.caller.messages import STATUS
from linkwork.fmu.description import Variable

P = ParamSpec("P")
T = TypeVar("T")
S = TypeVar("S", bound="Instance")
FloatArray = NDArray[np.float64]

#: The call that a message about a crash names, by method.
CALLS = {
    "instantiate": Call.instantiate,
    "configure": Call.configure,
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
    "configure": "look at the values of its structural parameters",
    "enter_initialization": "look at its parameters and start values",
    "exit_initialization": "look at its parameters, start values and inputs",
    "write": "look at the values that are set",
    "step": "look at its inputs and parameters there, or take a smaller step",
}
MOST_MESSAGES = 5  # in the text of an error


class Snapshot(NamedTuple):
    """A state of the FMU, the time [s], and whether it is in Event Mode."""

    state: Any
    time: float
    in_event_mode: bool


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


class Instance:
    """An instance of an FMU in the interface of its model."""

    def __init__(self, name: str, model: FmuModel, number: int = 0) -> None:
        # name, model, number: its own name, its FMU, and its position in the system
        self.name = name
        self.number = number
        self.model = model
        self.time = 0.0  # the communication point it is at [s]
        self.in_event_mode = False  # whether it is in Event Mode (FMI 3.0)
        self.needs_update = False  # whether it has requested there another update of its discrete states
        # wants_end: whether it has requested the end of the simulation
        # discarded: whether it has ever discarded a step
        self.wants_end = self.discarded = False
        self.messages: deque[str] = deque(maxlen=MOST_MESSAGES)  # its last messages of status warning or above
        plain = model.description.tool.startswith("PythonFMU")
        caller = instance_class(model.description)
        self.fmu = caller(model.description, model.interface, name, self.messages, plain=plain)
        self._stepper: ExchangeStepper | None = None
        self._configured = False
        # inputs, discrete_inputs, outputs, recorded_only: its exchanged variables, and those that are only recorded;
        # see `bind`. FMI 3.0 allows to set discrete inputs in Event Mode only
        self.inputs = self.discrete_inputs = self.outputs = self.recorded_only = self.ports(())

    def bind(self, inputs: Sequence[Variable], outputs: Sequence[Variable], recorded_only: Sequence[Variable]) -> None:
        """Set the variables that will be written and read; `recorded_only` are read only to be recorded."""
        separate = self.model.abilities.event_mode
        self.inputs = self.ports([one for one in inputs if not (separate and one.variability == "discrete")])
        self.discrete_inputs = self.ports([one for one in inputs if separate and one.variability == "discrete"])
        self.outputs, self.recorded_only = self.ports(outputs), self.ports(recorded_only)

    def ports(self, variables: Sequence[Variable]) -> Ports:
        """Prepare variables for `read` and `write`."""
        return Ports(variables, self.fmu.type_of)

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

    @call
    def instantiate(self) -> None:
        """Load the library and make the instance; `free` it at the end."""
        model = self.model
        try:
            self.fmu.load(model.folder)
        except NotLoaded as problem:
            remedy = (
                "'linkwork check' lists all that are missing, for its maker to add"
                if problem.missing
                else "install what it depends on, or export it for this platform"
            )
            raise FmuError(f"FMU {model.path.name} (instance {self.name!r}): {problem}; {remedy}") from problem
        events = {"eventModeUsed": True, "earlyReturnAllowed": True} if model.abilities.event_mode else {}
        self.fmu.instantiate(**events)

    @call
    def configure(self, structural: Ports) -> None:
        """Set structural parameters in Configuration Mode, before any other variable (FMI 3.0)."""
        self.fmu.enter_configuration_mode()
        if structural.copied:
            structural.to_buffers()
        self.fmu.write(structural.calls)
        self.fmu.exit_configuration_mode()
        self._configured = True

    @call
    def enter_initialization(self, start: float, stop: float | None, tolerance: float | None) -> None:
        """Enter Initialization Mode."""
        self.time = start
        self.fmu.enter_initialization(start, stop, tolerance)
        if self.model.interface == "ME":
            rtol = tolerance or self.model.description.experiment["tolerance"] or RTOL
            if self._configured:
                self.fmu.n_states, self.fmu.n_indicators = self.fmu.counts()
            self._stepper = ExchangeStepper(self.fmu, rtol)

    @call
    def exit_initialization(self) -> None:
        """Leave Initialization Mode, to Step Mode, or to Event Mode where there is one."""
        self.fmu.exit_initialization()
        if self._stepper is not None:
            self.wants_end |= self._stepper.update()
        self.in_event_mode = self.model.abilities.event_mode

    @call
    def terminate(self) -> None:
        """End the simulation; outputs can still be read."""
        self.fmu.terminate()

    @call
    def free(self) -> None:
        """Free the instance and its library, in whatever mode it is; nothing is called if the FMU is lost."""
        if self.model.lost:
            self.fmu.abandon()
        else:
            self.fmu.free()

    # ---- values

    @call
    def read(self, ports: Ports) -> None:
        """Get values."""
        self.fmu.read(ports.calls)
        if ports.copied:
            ports.from_buffers()

    @call
    def write(self, ports: Ports) -> None:
        """Set values, except where the standard forbids it."""
        if self.fmu.refuses_values:
            return
        if ports.copied:
            ports.to_buffers()
        self.fmu.write(ports.calls)

    @call
    def write_derivatives(self, ports: Ports, derivatives: Sequence[FloatArray]) -> None:
        """Set derivatives of the real variables by time, `derivatives[k]` those of order k + 1 (FMI 2.0)."""
        for order, row in enumerate(derivatives, start=1):
            *arrays, numbers = ports.derivatives(order)
            numbers[:] = row
            self.fmu.write_input_derivatives(*arrays)

    @call
    def directional(self, unknowns: Ports, knowns: Ports, seed: FloatArray) -> FloatArray:
        """Return the derivative of real unknowns along `seed`, a direction of real knowns."""
        return np.array(self.fmu.directional(unknowns.variables, knowns.variables, list(seed)), dtype=float)

    # ---- steps

    @call
    def step(self, time: float, length: float) -> Outcome:
        """Do a communication step."""
        outcome = (self._stepper or self.fmu).step(time, length)
        self.time = outcome.reached
        self.wants_end |= outcome.terminate
        if outcome.discarded:
            self.discarded = True
            return outcome._replace(discarded=not outcome.terminate)
        return outcome

    @call
    def enter_event_mode(self) -> None:
        """Enter Event Mode (FMI 3.0)."""
        self.fmu.enter_event_mode()
        self.in_event_mode = True

    @call
    def update_discrete_states(self) -> Update:
        """Update discrete states in Event Mode."""
        update = self.fmu.update_discrete_states()
        self.wants_end |= update.terminate
        return update

    @call
    def enter_step_mode(self) -> None:
        """Enter Step Mode."""
        self.fmu.enter_step_mode()
        self.in_event_mode = False

    # ---- states

    @call
    def save(self, reuse: Snapshot | None = None) -> Snapshot:
        """Return a snapshot of the whole state; `reuse` is one that may be overwritten. `drop` it at the end."""
        return Snapshot(self.fmu.save(reuse and reuse.state), self.time, self.in_event_mode)

    @call
    def restore(self, snapshot: Snapshot) -> None:
        """Restore a snapshot, which stays valid."""
        state, self.time, self.in_event_mode = snapshot
        self.fmu.restore(state)

    @call
    def drop(self, snapshot: Snapshot) -> None:
        """Free a snapshot."""
        if not self.model.lost:
            self.fmu.drop(snapshot.state)
