"""Instances of FMI 3.0."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Sequence
from typing import Any

from fmpy import fmi3

from linkwork.fmu.caller.instance import DISCARD, FmuInstance, Outcome, Update, ValueCall, check, count
from linkwork.fmu.caller.messages import log_message
from linkwork.fmu.description import Variable, references

C_TYPES: dict[str, Any] = {
    "Float64": ctypes.c_double,
    "Float32": ctypes.c_float,
    "Boolean": ctypes.c_bool,
    "String": ctypes.c_char_p,
    **{f"Int{bits}": getattr(ctypes, f"c_int{bits}") for bits in (8, 16, 32, 64)},
    **{f"UInt{bits}": getattr(ctypes, f"c_uint{bits}") for bits in (8, 16, 32, 64)},
}


class Fmi3Instance(FmuInstance):
    """An instance of FMI 3.0."""

    PREFIX, STATE, TYPES = "fmi3", "FMUState", tuple(C_TYPES)

    def _instantiate(self, options: dict[str, Any]) -> None:
        self._event, self._terminate, self._early = (fmi3.fmi3Boolean() for _ in range(3))
        self._reached = fmi3.fmi3Float64()
        self._reported = [ctypes.byref(one) for one in (self._event, self._terminate, self._early, self._reached)]
        self.fmpy.instantiate(loggingOn=True, logMessage=log_message(self.messages, least=self.least), **options)

    def _enter_initialization(self, start: float, stop: float | None, tolerance: float | None) -> None:
        self.fmpy.enterInitializationMode(tolerance=tolerance, startTime=start, stopTime=stop)

    def update_discrete_states(self) -> Update:
        needed, terminate, _nominals, changed, defined, next_event = self.fmpy.updateDiscreteStates()
        return Update(needed, terminate, changed, next_event if defined else None)

    # ---- values

    @staticmethod
    def type_of(name: str) -> tuple[str, Any]:
        kind = "Int64" if name == "Enumeration" else name
        return kind, C_TYPES[kind]

    def read(self, calls: Iterable[ValueCall]) -> None:
        for kind, of, n, buffer, n_values in calls:
            check(self._getters[kind](self.component, of, n, buffer, n_values), "fmi3Get", kind)

    def write(self, calls: Iterable[ValueCall]) -> None:
        for kind, of, n, buffer, n_values in calls:
            check(self._setters[kind](self.component, of, n, buffer, n_values), "fmi3Set", kind)

    def output_derivatives(self, outputs: Sequence[Variable], order: int = 1) -> list[float]:
        return list(self.fmpy.getOutputDerivatives(references(outputs), [order] * len(outputs)))

    def directional(
        self, unknowns: Sequence[Variable], knowns: Sequence[Variable], seed: Sequence[float]
    ) -> list[float]:
        of, by = references(unknowns), references(knowns)
        return list(self.fmpy.getDirectionalDerivative(of, by, seed, count(unknowns)))

    def derivatives(self) -> list[float]:
        return self._vector(self.fmpy.getContinuousStateDerivatives, self.n_states)

    # ---- steps

    def _step(self, time: float, length: float) -> Outcome:
        self._event.value = self._terminate.value = self._early.value = False
        self._reached.value = time
        status = self._do_step(self.component, time, length, False, *self._reported)
        reached = self.reported_time = self._reached.value
        if status == DISCARD:
            return Outcome(max(time, reached), discarded=True)
        check(status, "fmi3DoStep")
        early = self._early.value
        return Outcome(reached if early else time + length, self._event.value, self._terminate.value, early=early)

    def _new_state(self) -> Any:
        return fmi3.fmi3FMUState()
