"""Instances of FMI 2.0."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np
from fmpy import fmi2
from fmpy.fmi1 import FMICallException

from linkwork.cosim.fmu.instance import DISCARD, FloatArray, Instance, Outcome, call, check
from linkwork.cosim.fmu.model import FmuModel, Variable
from linkwork.cosim.fmu.ports import C_TYPES, Ports
from linkwork.fmu.messages import Listener

KINDS = {"Real": "Real", "Integer": "Integer", "Enumeration": "Integer", "Boolean": "Boolean", "String": "String"}


class Instance2(Instance):
    """An instance of FMI 2.0."""

    def __init__(self, name: str, model: FmuModel, number: int = 0) -> None:
        super().__init__(name, model, number)
        self._listener: Listener | None = None
        self._failed = False  # its step was discarded; FMI 2.0 forbids to set anything then

    # ---- life

    @call
    def instantiate(self) -> None:
        self.fmu = self.load()
        self._listener = Listener(self.name, self.messages, plain=self.model.tool.startswith("PythonFMU"))
        self.fmu.instantiate(callbacks=self._listener.callbacks, loggingOn=True)
        self._component = self.fmu.component
        library = self.fmu.dll  # its functions have their types from FMPy
        self._get = {kind: getattr(library, f"fmi2Get{kind}") for kind in KINDS.values()}
        self._set = {kind: getattr(library, f"fmi2Set{kind}") for kind in KINDS.values()}
        self._set_derivatives, self._do_step = library.fmi2SetRealInputDerivatives, library.fmi2DoStep
        self._restore = library.fmi2SetFMUstate

    @call
    def enter_initialization(self, start: float, stop: float | None, tolerance: float | None) -> None:
        self.time = start
        self.fmu.setupExperiment(tolerance=tolerance, startTime=start, stopTime=stop)
        self.fmu.enterInitializationMode()

    @call
    def exit_initialization(self) -> None:
        self.fmu.exitInitializationMode()

    def free_component(self, fmu: Any, component: Any) -> None:
        fmu.fmi2FreeInstance(component)

    def forget(self) -> object:
        super().forget()
        listener, self._listener = self._listener, None
        if listener:
            listener.close()
        return listener

    # ---- values

    def type_of(self, variable: Variable) -> tuple[str, Any]:
        kind = KINDS[variable.type]
        return kind, ctypes.c_int if kind == "Boolean" else C_TYPES[kind]

    @call
    def read(self, ports: Ports) -> None:
        for kind, references, n, buffer, _ in ports.calls:
            check(self._get[kind](self._component, references, n, buffer), "fmi2Get", kind)
        if ports.copied:
            ports.from_buffers()

    @call
    def write(self, ports: Ports) -> None:
        if self._failed:
            return
        if ports.copied:
            ports.to_buffers()
        for kind, references, n, buffer, _ in ports.calls:
            check(self._set[kind](self._component, references, n, buffer), "fmi2Set", kind)

    @call
    def write_derivatives(self, ports: Ports, derivatives: Sequence[FloatArray]) -> None:
        for order, row in enumerate(derivatives, start=1):
            references, n, orders, values, numbers = ports.derivatives(order)
            numbers[:] = row
            check(self._set_derivatives(self._component, references, n, orders, values), "fmi2SetRealInputDerivatives")

    @call
    def directional(self, unknowns: Ports, knowns: Ports, seed: FloatArray) -> FloatArray:
        references = [[one.reference for one in ports.variables] for ports in (unknowns, knowns)]
        return np.array(self.fmu.getDirectionalDerivative(*references, list(seed)))

    # ---- steps

    @call
    def step(self, time: float, length: float) -> Outcome:
        status = self._do_step(self._component, time, length, 0)
        if status == DISCARD:
            return self._discarded(time, length)
        check(status, "fmi2DoStep")
        self._failed = False
        self.time = time + length
        return Outcome(self.time)

    def _discarded(self, time: float, length: float) -> Outcome:
        self._failed = self.discarded = True
        reached, terminated = time, False
        with contextlib.suppress(FMICallException):  # an FMU may not answer
            reached = self.fmu.getRealStatus(fmi2.fmi2LastSuccessfulTime)
        with contextlib.suppress(FMICallException):
            terminated = self.fmu.getBooleanStatus(fmi2.fmi2Terminated)
        self.wants_end |= terminated
        self.time = min(max(time, reached), time + length)
        return Outcome(self.time, terminate=terminated, discarded=not terminated)

    # ---- states

    @call
    def save(self, reuse: Any = None) -> Any:
        state = fmi2.fmi2FMUstate() if reuse is None else reuse[0]
        self.get_state(self.fmu.dll.fmi2GetFMUstate, self.fmu.fmi2FreeFMUstate, state)
        return state, self.time

    @call
    def restore(self, snapshot: Any) -> None:
        state, self.time = snapshot
        self._failed = False
        check(self._restore(self._component, state), "fmi2SetFMUstate")

    @call
    def drop(self, snapshot: Any) -> None:
        if not self.model.lost:
            self.fmu.fmi2FreeFMUstate(self.fmu.component, ctypes.byref(snapshot[0]))
