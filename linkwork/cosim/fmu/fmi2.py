"""Instances of FMI 2.0."""

from __future__ import annotations

import contextlib
import ctypes
from typing import Any

import numpy as np
from fmpy import calloc, fmi2, free
from fmpy.fmi1 import FMICallException

from linkwork.cosim.fmu.instance import DISCARD, STATUS, FloatArray, Instance, Outcome, call
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
        kinds = set(KINDS.values())
        self._get = {kind: getattr(self.fmu, f"fmi2Get{kind}") for kind in kinds}
        self._set = {kind: getattr(self.fmu, f"fmi2Set{kind}") for kind in kinds}

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
        component = self.fmu.component
        for group in ports.all:
            self._get[group.type](component, group.references, group.n_references, group.buffer)
        ports.taken()

    @call
    def write(self, ports: Ports) -> None:
        ports.given()
        component = self.fmu.component
        for group in ports.all:
            self._set[group.type](component, group.references, group.n_references, group.buffer)

    @call
    def write_derivatives(self, ports: Ports, derivatives: FloatArray) -> None:
        for group in ports.groups["real"]:
            for order, row in enumerate(derivatives, start=1):
                orders = (ctypes.c_int * group.n_references)(*[order] * group.n_references)
                values = (ctypes.c_double * group.n_references)(*row)
                self.fmu.fmi2SetRealInputDerivatives(
                    self.fmu.component, group.references, group.n_references, orders, values
                )

    @call
    def directional(self, unknowns: Ports, knowns: Ports, seed: FloatArray) -> FloatArray:
        references = [[one.reference for one in ports.variables] for ports in (unknowns, knowns)]
        return np.array(self.fmu.getDirectionalDerivative(*references, list(seed)))

    # ---- steps

    @call
    def step(self, time: float, length: float) -> Outcome:
        try:
            self.fmu.fmi2DoStep(self.fmu.component, time, length, 0)
        except FMICallException as problem:
            if problem.status != DISCARD:
                raise
            return self._discarded(time)
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
        self.fmu.fmi2GetFMUstate(self.fmu.component, ctypes.byref(state))
        return state, self.time

    @call
    def restore(self, snapshot: Any) -> None:
        state, self.time = snapshot
        self.fmu.fmi2SetFMUstate(self.fmu.component, state)

    @call
    def drop(self, snapshot: Any) -> None:
        self.fmu.fmi2FreeFMUstate(self.fmu.component, ctypes.byref(snapshot[0]))
