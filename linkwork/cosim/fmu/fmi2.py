"""Instances of FMI 2.0."""

from __future__ import annotations

import contextlib
import ctypes
from typing import Any

import numpy as np
from fmpy import fmi2
from fmpy.fmi1 import FMICallException

from linkwork.cosim.fmu.instance import DISCARD, FloatArray, Instance, Outcome, call
from linkwork.cosim.fmu.loading import load
from linkwork.cosim.fmu.logger import Ear
from linkwork.cosim.fmu.model import FmuModel, Variable
from linkwork.cosim.fmu.ports import C_TYPES, Ports

KINDS = {"Real": "Real", "Integer": "Integer", "Enumeration": "Integer", "Boolean": "Boolean", "String": "String"}


class Instance2(Instance):
    """An instance of FMI 2.0."""

    def __init__(self, name: str, model: FmuModel, number: int = 0) -> None:
        super().__init__(name, model, number)
        self._ear: Ear | None = None
        self._failed = False  # its step was discarded; FMI 2.0 forbids to set anything then

    # ---- life

    @call
    def instantiate(self) -> None:
        self.fmu = load(fmi2.FMU2Slave, self.model, self.name)
        self._ear = Ear(self.name, self.messages, plain=self.model.tool.startswith("PythonFMU"))
        self.fmu.instantiate(callbacks=self._ear.callbacks, loggingOn=True)
        kinds = set(KINDS.values())
        self._get = {kind: getattr(self.fmu, f"fmi2Get{kind}") for kind in kinds}
        self._set = {kind: getattr(self.fmu, f"fmi2Set{kind}") for kind in kinds}

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
        super().free()

    def free_component(self, fmu: Any, component: Any) -> None:
        fmu.fmi2FreeInstance(component)

    def forget(self) -> object:
        super().forget()
        ear, self._ear = self._ear, None
        if ear:
            ear.close()
        return ear

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
        if self._failed:
            return
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
            return self._discarded(time, length)
        self._failed = False
        self.time = time + length
        return Outcome(self.time)

    def _discarded(self, time: float, length: float) -> Outcome:
        self._failed = True
        reached, terminated = time, False
        with contextlib.suppress(FMICallException):  # the FMU may not say
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
        self.get_state(self.fmu.fmi2GetFMUstate, self.fmu.fmi2FreeFMUstate, state)
        return state, self.time

    @call
    def restore(self, snapshot: Any) -> None:
        state, self.time = snapshot
        self._failed = False
        self.fmu.fmi2SetFMUstate(self.fmu.component, state)

    @call
    def drop(self, snapshot: Any) -> None:
        if not self.model.lost:
            self.fmu.fmi2FreeFMUstate(self.fmu.component, ctypes.byref(snapshot[0]))
