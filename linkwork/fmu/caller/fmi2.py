"""Instances of FMI 2.0."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterable, Sequence
from typing import Any

from fmpy import fmi2
from fmpy.fmi1 import FMICallException

from linkwork.fmu.caller.instance import DISCARD, FmuInstance, Outcome, Update, ValueCall, check
from linkwork.fmu.caller.messages import Listener
from linkwork.fmu.description import Variable, references

C_TYPES = {"Real": ctypes.c_double, "Integer": ctypes.c_int, "Boolean": ctypes.c_int, "String": ctypes.c_char_p}


class Fmi2Instance(FmuInstance):
    """An instance of FMI 2.0."""

    PREFIX, STATE, TYPES = "fmi2", "FMUstate", tuple(C_TYPES)

    _listener: Listener | None = None

    def _instantiate(self, options: dict[str, Any]) -> None:
        self._listener = Listener(self.name, self.messages, plain=self.plain, least=self.least)
        self.fmpy.instantiate(callbacks=self._listener.callbacks, loggingOn=True)

    def _forget(self) -> object:
        super()._forget()
        listener, self._listener = self._listener, None
        if listener:
            listener.close()
        return listener

    def _enter_initialization(self, start: float, stop: float | None, tolerance: float | None) -> None:
        self.fmpy.setupExperiment(tolerance=tolerance, startTime=start, stopTime=stop)
        self.fmpy.enterInitializationMode()

    def update_discrete_states(self) -> Update:
        needed, terminate, _nominals, changed, defined, next_event = self.fmpy.newDiscreteStates()
        return Update(bool(needed), bool(terminate), bool(changed), next_event if defined else None)

    # ---- values

    @staticmethod
    def type_of(name: str) -> tuple[str, Any]:
        kind = "Integer" if name == "Enumeration" else name
        return kind, C_TYPES[kind]

    def read(self, calls: Iterable[ValueCall]) -> None:
        for kind, of, n, buffer, _ in calls:
            check(self._getters[kind](self.component, of, n, buffer), "fmi2Get", kind)

    def write(self, calls: Iterable[ValueCall]) -> None:
        for kind, of, n, buffer, _ in calls:
            check(self._setters[kind](self.component, of, n, buffer), "fmi2Set", kind)

    def output_derivatives(self, outputs: Sequence[Variable], order: int = 1) -> list[float]:
        return list(self.fmpy.getRealOutputDerivatives(references(outputs), [order] * len(outputs)))

    def directional(
        self, unknowns: Sequence[Variable], knowns: Sequence[Variable], seed: Sequence[float]
    ) -> list[float]:
        return list(self.fmpy.getDirectionalDerivative(references(unknowns), references(knowns), seed))

    def derivatives(self) -> list[float]:
        return self._vector(self.fmpy.getDerivatives, self.n_states)

    # ---- steps

    def _step(self, time: float, length: float) -> Outcome:
        try:
            status = self._do_step(self.component, time, length, 0)
        except FMICallException as problem:  # a traced call
            ended = problem.status == DISCARD and self._discarded(time, length)
            if ended and ended.terminate:
                return ended
            raise
        if status == DISCARD:
            return self._discarded(time, length)
        check(status, "fmi2DoStep")
        self.refuses_values = False
        self.reported_time = time + length
        return Outcome(self.reported_time)

    def _discarded(self, time: float, length: float) -> Outcome:
        self.refuses_values = True
        reached, terminated = time, False
        with contextlib.suppress(FMICallException):  # an FMU may not answer
            reached = self.fmpy.getRealStatus(fmi2.fmi2LastSuccessfulTime)
        with contextlib.suppress(FMICallException):
            terminated = self.fmpy.getBooleanStatus(fmi2.fmi2Terminated)
        self.reported_time = reached
        return Outcome(min(max(time, reached), time + length), terminate=terminated, discarded=True)

    def _new_state(self) -> Any:
        return fmi2.fmi2FMUstate()
