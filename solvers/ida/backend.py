"""What a way to IDA takes and gives: settings, return values, and the contract of a backend."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from linkwork.solvers.base import Options
from linkwork.solvers.ida.equations import Equations
from linkwork.solvers.problem import FloatArray

# Failures in a row of Newton's method or of the residual, each of which makes the step four times shorter: enough to
# come to the end of a residual's domain as closely as the numbers allow.
MOST_FAILURES = 30

# Return values of IDASolve, the same in all its versions.
STOP_TIME = 1
TOO_MUCH_WORK = -1  # the steps allowed are used up
CONVERGENCE_FAILURE = -4
LINEAR_SOLVER_FAILURES = (-5, -6, -7)
CALLBACK_FAILURE = -8
RESIDUAL_FAILURES = (-9, -12)
ERROR_TEST_FAILURES = (-2, -3)


# Margin for steps reported in single precision, and for the scale of IDA's time.
SHRINK = 1.0 - 2e-7


@dataclass(frozen=True)
class Settings:
    """Settings of IDA."""

    options: Options
    algebraic: npt.NDArray[np.intp]  # indices of the states that stay out of the error test

    @property
    def first_step(self) -> float:
        """First step, 0 for IDA's own choice."""
        return SHRINK * (self.options.first_step or 0.0)

    @property
    def max_step(self) -> float:
        """Longest step, 0 for any."""
        return SHRINK * (self.options.max_step or 0.0)


class Backend(Protocol):
    """IDA on the equations of a run, whose time s begins at 0 with every start."""

    def __init__(self, equations: Equations, settings: Settings) -> None: ...

    def start(self, y: FloatArray, rate: FloatArray) -> None:
        """Start at s = 0 with state y and dy/ds, (n,), for steps up to the equations' span."""

    def step(self) -> tuple[int, float, FloatArray]:
        """Take one step; return IDA's flag, the time s reached and a new array of the state there, (n,)."""

    def at(self, s: float) -> FloatArray:
        """Return the state, (n,), at a time within the last step."""


@runtime_checkable
class MultiStepBackend(Backend, Protocol):
    """One that can take many steps in a call."""

    def go_to(self, s: float, most: int) -> tuple[int, float, FloatArray, int]:
        """Take up to `most` steps towards a time s; return the flag, the time reached, the state and the steps."""
