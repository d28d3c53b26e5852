"""A Model Exchange importer whose integrator remembers steps and begins again on one flag only, as fmusim does.

LSODA changes between Adams' and backward differentiation formulas. The integrator runs past an event; states at the
event come from its polynomial. Unless the FMU reports `valuesOfContinuousStatesChanged` it continues from where it was.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from ctypes import byref, c_double

import numpy as np
from scipy.integrate import LSODA

from .fmi_calls import OK
from .unpacked import Unpacked

Inputs = Mapping[str, Callable[[float], float]]


class MemoryImporter:
    """Runs an FMU in Model Exchange; `restarts` counts how often its integrator began again."""

    def __init__(self, fmu: Unpacked, inputs: Inputs | None = None, rtol: float = 1e-11) -> None:
        self.instance, self.rtol, self.restarts, self.events = fmu.new("ME"), rtol, 0, 0
        sizes = fmu.system.sizes
        self.n, self.n_z = sizes.nq + sizes.nu, sizes.event_indicators
        self.inputs = {fmu.reference(name): signal for name, signal in (inputs or {}).items()}

    def run(self, t_end: float) -> np.ndarray:
        """Return the states at the end."""
        instance = self.instance
        instance.set_up()
        self._set_inputs(0.0)
        instance.must("ExitInitializationMode")
        next_event = self._update(0.0)
        instance.must("EnterContinuousTimeMode")
        solver, t = self._begin(0.0, t_end), 0.0
        while t < t_end:
            while solver.t <= t:
                assert solver.step() is None, "the integrator failed"
            t, next_event, changed = self._advance(solver, t, min(solver.t, t_end, next_event), next_event)
            if changed:
                solver = self._begin(t, t_end)
        return np.array(instance.array("GetContinuousStates", self.n))

    def _advance(self, solver: LSODA, t: float, end: float, next_event: float) -> tuple[float, float, bool]:
        """Go to the end or to the first zero crossing before; handle the event there."""
        states = solver.dense_output()
        before = self._indicators(t, states(t))
        crossed = self._crossing(states, before, t, end)
        at = end if crossed is None else crossed
        self._move(at, states(at))
        event_mode, terminate = c_double(), c_double()
        self.instance.must("CompletedIntegratorStep", 1, byref(event_mode), byref(terminate))
        if crossed is None and at < next_event and not any(bytes(event_mode)):
            return at, next_event, False
        self.events += 1
        self.instance.must("EnterEventMode")
        restarts = self.restarts
        next_event = self._update(at)
        self.instance.must("EnterContinuousTimeMode")
        return at, next_event, self.restarts > restarts

    def _update(self, t: float) -> float:
        found = self.instance.update()
        self.restarts += found["changed"]
        return math.inf if found["next"] is None else found["next"]

    def _begin(self, t: float, t_end: float) -> LSODA:
        x = self.instance.array("GetContinuousStates", self.n)
        return LSODA(self._derivatives, t, x, t_end, rtol=self.rtol, atol=0.1 * self.rtol)

    def _crossing(self, states: Callable, before: list[float], t: float, end: float) -> float | None:
        """The first time after a change of sign of an indicator, to rounding."""
        if not self._crossed(before, self._indicators(end, states(end))):
            return None
        low, high = t, end
        while True:
            middle = 0.5 * (low + high)
            if not low < middle < high:
                return high
            if self._crossed(before, self._indicators(middle, states(middle))):
                high = middle
            else:
                low = middle

    @staticmethod
    def _crossed(before: list[float], after: list[float]) -> bool:
        return any((a > 0) != (b > 0) for a, b in zip(before, after, strict=True))

    def _indicators(self, t: float, x: np.ndarray) -> list[float]:
        self._move(t, x)
        return self.instance.array("GetEventIndicators", self.n_z) if self.n_z else []

    def _derivatives(self, t: float, x: np.ndarray) -> list[float]:
        self._move(t, x)
        return self.instance.derivatives(self.n)

    def _move(self, t: float, x: np.ndarray) -> None:
        self.instance.must("SetTime", c_double(t))
        assert self.instance.set_states(list(x)) == OK
        self._set_inputs(t)

    def _set_inputs(self, t: float) -> None:
        if self.inputs:
            self.instance.set(list(self.inputs), [signal(t) for signal in self.inputs.values()])
