"""The laws of built-in controllers in C, as their FMUs run them. This module alone touches their FFI."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from linkwork.core._core import ffi, lib


class Law:
    """An instance of a law.

    Parameters
    ----------
    content
        ``resources/model.lwm`` of its FMU.
    """

    def __init__(self, content: bytes) -> None:
        self._instance = ffi.gc(ffi.new("controller_instance *"), lib.controller_free)
        self._check(lib.controller_create(self._instance, content, len(content)))
        self._type = self._instance.model.type
        size = self._instance.model.n_variables * ffi.sizeof("double")
        # Of the variables in the order of the file, (n,), a view; booleans and integers are whole numbers.
        self.values: NDArray[np.float64] = np.frombuffer(ffi.buffer(self._instance.x, size))
        self.has_state = bool(self._type.update)  # whether it remembers from sample to sample

    def check(self) -> None:
        """Raise ValueError if parameters make no sense."""
        if self._type.check:
            self._check(self._type.check(self._instance))

    def outputs(self, t: float) -> None:
        """Set the outputs at a time, s, or raise ValueError where there are none."""
        self._check(self._type.outputs(self._instance, t))

    def update(self, t: float, dt: float) -> None:
        """Bring the state from t to t + dt, s, or raise ValueError."""
        if self.has_state:
            self._check(self._type.update(self._instance, t, dt))

    def _check(self, done: int) -> None:
        if not done:
            raise ValueError(ffi.string(self._instance.message).decode())
