"""Instances of FMI 3.0."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from fmpy import fmi3

from linkwork.cosim.fmu.instance import DISCARD, FloatArray, Instance, Outcome, Update, call, check
from linkwork.cosim.fmu.model import FmuModel, Variable
from linkwork.cosim.fmu.ports import C_TYPES, Ports
from linkwork.fmu.messages import log_message

KINDS = (
    *("Float64", "Float32", "Boolean", "String"),
    *(f"{sign}Int{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64)),
)


class Instance3(Instance):
    """An instance of FMI 3.0; in Event Mode where the FMU has one."""

    def __init__(self, name: str, model: FmuModel, number: int = 0) -> None:
        super().__init__(name, model, number)
        self._event, self._terminate, self._early = (fmi3.fmi3Boolean() for _ in range(3))
        self._reached = fmi3.fmi3Float64()
        self._reported = [ctypes.byref(one) for one in (self._event, self._terminate, self._early, self._reached)]

    # ---- life

    @call
    def instantiate(self) -> None:
        self.fmu = self.load()
        events, log = self.model.abilities.event_mode, log_message(self.messages)
        self.fmu.instantiate(loggingOn=True, eventModeUsed=events, earlyReturnAllowed=events, logMessage=log)
        self._component = self.fmu.component
        library = self.fmu.dll  # its functions have their types from FMPy
        self._get = {kind: getattr(library, f"fmi3Get{kind}") for kind in KINDS}
        self._set = {kind: getattr(library, f"fmi3Set{kind}") for kind in KINDS}
        self._do_step = library.fmi3DoStep
        self._restore = library.fmi3SetFMUState

    @call
    def enter_initialization(self, start: float, stop: float | None, tolerance: float | None) -> None:
        self.time = start
        self.fmu.enterInitializationMode(tolerance=tolerance, startTime=start, stopTime=stop)

    @call
    def exit_initialization(self) -> None:
        self.fmu.exitInitializationMode()
        self.in_event_mode = self.model.abilities.event_mode

    def free_component(self, fmu: Any, component: Any) -> None:
        fmu.fmi3FreeInstance(component)

    # ---- values

    def type_of(self, variable: Variable) -> tuple[str, Any]:
        kind = "Int64" if variable.type == "Enumeration" else variable.type
        return kind, ctypes.c_bool if kind == "Boolean" else C_TYPES[kind]

    @call
    def read(self, ports: Ports) -> None:
        for kind, references, n, buffer, n_values in ports.calls:
            check(self._get[kind](self._component, references, n, buffer, n_values), "fmi3Get", kind)
        if ports.copied:
            ports.from_buffers()

    @call
    def write(self, ports: Ports) -> None:
        if ports.copied:
            ports.to_buffers()
        for kind, references, n, buffer, n_values in ports.calls:
            check(self._set[kind](self._component, references, n, buffer, n_values), "fmi3Set", kind)

    @call
    def directional(self, unknowns: Ports, knowns: Ports, seed: FloatArray) -> FloatArray:
        references = [[one.reference for one in ports.variables] for ports in (unknowns, knowns)]
        return np.array(self.fmu.getDirectionalDerivative(*references, list(seed), unknowns.real.size))

    # ---- steps

    @call
    def step(self, time: float, length: float) -> Outcome:
        self._event.value = self._terminate.value = self._early.value = False
        self._reached.value = time
        status = self._do_step(self._component, time, length, False, *self._reported)
        if status == DISCARD:
            self.discarded = True
            self.time = max(time, self._reached.value)
            return Outcome(self.time, discarded=True)
        check(status, "fmi3DoStep")
        self.time = self._reached.value if self._early.value else time + length
        self.wants_end |= self._terminate.value
        return Outcome(self.time, self._event.value, self._terminate.value)

    @call
    def enter_event_mode(self) -> None:
        self.fmu.enterEventMode()
        self.in_event_mode = True

    @call
    def update_discrete_states(self) -> Update:
        needed, terminate, _nominals, _values, defined, next_event = self.fmu.updateDiscreteStates()
        self.wants_end |= terminate
        return Update(needed, terminate, next_event if defined else None)

    @call
    def enter_step_mode(self) -> None:
        self.fmu.enterStepMode()
        self.in_event_mode = False

    # ---- states

    @call
    def save(self, reuse: Any = None) -> Any:
        state = fmi3.fmi3FMUState() if reuse is None else reuse[0]
        self.get_state(self.fmu.dll.fmi3GetFMUState, self.fmu.fmi3FreeFMUState, state)
        return state, self.time, self.in_event_mode

    @call
    def restore(self, snapshot: Any) -> None:
        state, self.time, self.in_event_mode = snapshot
        check(self._restore(self._component, state), "fmi3SetFMUState")

    @call
    def drop(self, snapshot: Any) -> None:
        if not self.model.lost:
            self.fmu.fmi3FreeFMUState(self.fmu.component, ctypes.byref(snapshot[0]))
