"""The C integrator over Python functions."""

import math
from collections.abc import Callable

import numpy as np

from linkwork.core._core import ffi, lib

METHODS = {
    "dopri5": lib.LW_ODE_DOPRI5,
    "dop853": lib.LW_ODE_DOP853,
    "rodas5p": lib.LW_ODE_RODAS5P,
    "auto": lib.LW_ODE_AUTO,
}


class Integrator:
    """A thin wrapper of an `lw_ode` over Python functions (t, y) -> values, which may return a status instead.

    A Jacobian returns the matrix and the derivative by time, None for differences.
    """

    method = "dopri5"  # unless one is given

    def __init__(
        self,
        derivative: Callable,
        n: int,
        events: Callable | None = None,
        n_events: int = 0,
        *,
        method: str | None = None,
        jacobian: Callable | None = None,
        **options,
    ):
        self.n, self.n_events = n, n_events
        self._kept = [self._callback(derivative, n), self._callback(events, n_events) if events else ffi.NULL]
        settings = {"rtol": 1e-8, "atol": 1e-8} | options
        made = lib.lw_ode_create(n, n_events, *self._kept, ffi.NULL, ffi.new("lw_ode_options *", settings))
        self.ode = ffi.gc(made, lib.lw_ode_free)
        self._kept.append(self._matrix_callback(jacobian) if jacobian else ffi.NULL)
        assert self.use(method or self.method) == lib.LW_OK

    def use(self, method: str) -> int:
        return lib.lw_ode_set_method(self.ode, METHODS[method], self._kept[2])

    def _matrix_callback(self, jacobian: Callable):
        def call(context, t, y, matrix, by_time):
            values = jacobian(t, np.array(ffi.unpack(y, self.n)))
            if isinstance(values, int):
                return values
            for out, given in zip((matrix, by_time), values, strict=True):
                if given is not None:
                    ffi.memmove(out, np.asarray(given, dtype=float).tobytes(), 8 * np.size(given))
            return 0

        return ffi.callback("lw_ode_jacobian", call)

    def _callback(self, function: Callable, size: int):
        def call(context, t, y, out):
            values = function(t, np.array(ffi.unpack(y, self.n)) if self.n else np.empty(0))
            if isinstance(values, int):
                return values
            ffi.memmove(out, np.asarray(values, dtype=float).tobytes(), 8 * size)
            return 0

        return ffi.callback("lw_ode_function", call)

    def start(self, t: float, y: list[float]) -> int:
        return lib.lw_ode_start(self.ode, t, ffi.new("double[]", y))

    def step(self, t_bound: float) -> int:
        return lib.lw_ode_step(self.ode, t_bound)

    def burst(self, t_bound: float, room: int, tries: int = 0, wanted: np.ndarray | None = None):
        """One batch: its outcome, and the times and states that it has filled."""
        t = np.full(room, math.nan) if wanted is None else np.array(wanted[:room])
        y = np.full((t.size, self.n), math.nan)
        pointers = [ffi.from_buffer("double[]", array) for array in (t, y)]
        output = ffi.new("lw_ode_output *", (wanted is not None, t.size, 0, *pointers))
        outcome = lib.lw_ode_run(self.ode, t_bound, tries, output)
        assert np.isnan(y[output.count :]).all()
        return outcome, t[: output.count], y[: output.count]

    def run(self, t_bound: float) -> list[int]:
        outcomes = []
        while self.t != t_bound and (not outcomes or outcomes[-1] in (lib.LW_ODE_STEP, lib.LW_ODE_EVENT)):
            outcomes.append(self.step(t_bound))
        return outcomes

    @property
    def t(self) -> float:
        return lib.lw_ode_time(self.ode)

    @property
    def y(self) -> list[float]:
        return ffi.unpack(lib.lw_ode_y(self.ode), self.n)

    def dense(self, t: float) -> list[float]:
        y = ffi.new("double[]", self.n)
        assert lib.lw_ode_dense(self.ode, t, y) == 0
        return list(y)

    @property
    def counts(self):
        return lib.lw_ode_get_statistics(self.ode)


def swing(t: float, y: np.ndarray) -> list[float]:
    return [y[1], -y[0]]
