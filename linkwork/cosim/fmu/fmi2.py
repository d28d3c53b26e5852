"""Instances of FMI 2.0."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np
from fmpy import calloc, fmi2, free
from fmpy.fmi1 import FMICallException

from linkwork.cosim.fmu.instance import DISCARD, STATUS, WARNING, FloatArray, Instance, Outcome, call
from linkwork.cosim.fmu.model import FmuModel, Variable
from linkwork.cosim.fmu.ports import C_TYPES, Ports

KINDS = {"Real": "Real", "Integer": "Integer", "Enumeration": "Integer", "Boolean": "Boolean", "String": "String"}


class Instance2(Instance):
    """An instance of FMI 2.0."""

    def __init__(self, name: str, model: FmuModel, number: int = 0) -> None:
        super().__init__(name, model, number)
        self.fmu: Any = None

    # ---- life

    @call
    def instantiate(self) -> None:
        self.fmu = fmi2.FMU2Slave(
            guid=self.model.token,
            unzipDirectory=str(self.model.folder),
            modelIdentifier=self.model.identifier,
            instanceName=self.name,
        )
        self._callbacks = self._make_callbacks()
        self.fmu.instantiate(callbacks=self._callbacks, loggingOn=True)
        self._component = self.fmu.component
        library = self.fmu.dll  # its functions have their types from FMPy
        self._get = {kind: getattr(library, f"fmi2Get{kind}") for kind in KINDS.values()}
        self._set = {kind: getattr(library, f"fmi2Set{kind}") for kind in KINDS.values()}
        self._set_derivatives, self._do_step = library.fmi2SetRealInputDerivatives, library.fmi2DoStep
        self._save, self._restore = library.fmi2GetFMUstate, library.fmi2SetFMUstate

    def _make_callbacks(self) -> Any:
        def log(_environment: Any, _name: bytes, status: int, _category: bytes, message: bytes | None) -> None:
            if status > 0:
                text = (message or b"").decode(errors="replace").strip()
                self.messages.append(text if status < len(STATUS) else f"{text} (status {status})")

        callbacks = fmi2.fmi2CallbackFunctions()
        callbacks.logger = fmi2.fmi2CallbackLoggerTYPE(log)
        callbacks.allocateMemory = fmi2.fmi2CallbackAllocateMemoryTYPE(calloc)
        callbacks.freeMemory = fmi2.fmi2CallbackFreeMemoryTYPE(free)
        with contextlib.suppress(Exception):  # it writes arguments into the text, where FMPy has it for the platform
            from fmpy.logging import addLoggerProxy

            addLoggerProxy(ctypes.byref(callbacks))
        return callbacks

    @call
    def enter_initialization(self, start: float, stop: float | None, tolerance: float | None) -> None:
        self.time = start
        self.fmu.setupExperiment(tolerance=tolerance, startTime=start, stopTime=stop)
        self.fmu.enterInitializationMode()

    @call
    def exit_initialization(self) -> None:
        self.fmu.exitInitializationMode()

    @call
    def terminate(self) -> None:
        self.fmu.terminate()

    @call
    def free(self) -> None:
        if self.fmu is None:
            return
        component, self.fmu.component = getattr(self.fmu, "component", None), None
        if component:
            self.fmu.fmi2FreeInstance(component)
        self.fmu.freeLibrary()
        self.fmu = None

    # ---- values

    def type_of(self, variable: Variable) -> tuple[str, Any]:
        kind = KINDS[variable.type]
        return kind, ctypes.c_int if kind == "Boolean" else C_TYPES[kind]

    @call
    def read(self, ports: Ports) -> None:
        for kind, references, n, buffer, _ in ports.calls:
            status = self._get[kind](self._component, references, n, buffer)
            if status > WARNING:
                raise FMICallException(f"fmi2Get{kind}", status)
        if ports.copied:
            ports.taken()

    @call
    def write(self, ports: Ports) -> None:
        if ports.copied:
            ports.given()
        for kind, references, n, buffer, _ in ports.calls:
            status = self._set[kind](self._component, references, n, buffer)
            if status > WARNING:
                raise FMICallException(f"fmi2Set{kind}", status)

    @call
    def write_derivatives(self, ports: Ports, derivatives: Sequence[FloatArray]) -> None:
        for order, row in enumerate(derivatives, start=1):
            references, n, orders, values, numbers = ports.derivatives(order)
            numbers[:] = row
            status = self._set_derivatives(self._component, references, n, orders, values)
            if status > WARNING:
                raise FMICallException("fmi2SetRealInputDerivatives", status)

    @call
    def directional(self, unknowns: Ports, knowns: Ports, seed: FloatArray) -> FloatArray:
        references = [[one.reference for one in ports.variables] for ports in (unknowns, knowns)]
        return np.array(self.fmu.getDirectionalDerivative(*references, list(seed)))

    # ---- steps

    @call
    def step(self, time: float, length: float) -> Outcome:
        status = self._do_step(self._component, time, length, 0)
        if status == DISCARD:
            return self._discarded(time)
        if status > WARNING:
            raise FMICallException("fmi2DoStep", status)
        self.time = time + length
        return Outcome(self.time)

    def _discarded(self, time: float) -> Outcome:
        try:
            reached = self.fmu.getRealStatus(fmi2.fmi2LastSuccessfulTime)
            terminated = self.fmu.getBooleanStatus(fmi2.fmi2Terminated)
        except FMICallException:  # the FMU does not say
            reached, terminated = time, False
        self.time = max(time, reached)
        return Outcome(self.time, terminate=terminated, discarded=not terminated)

    # ---- states

    @call
    def save(self, reuse: Any = None) -> Any:
        state = fmi2.fmi2FMUstate() if reuse is None else reuse[0]
        status = self._save(self._component, ctypes.byref(state))
        if status > WARNING:
            raise FMICallException("fmi2GetFMUstate", status)
        return state, self.time

    @call
    def restore(self, snapshot: Any) -> None:
        state, self.time = snapshot
        status = self._restore(self._component, state)
        if status > WARNING:
            raise FMICallException("fmi2SetFMUstate", status)

    @call
    def drop(self, snapshot: Any) -> None:
        self.fmu.fmi2FreeFMUstate(self.fmu.component, ctypes.byref(snapshot[0]))
