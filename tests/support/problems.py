"""The solvers by name, and small problems with known solutions."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from linkwork.solvers import Problem, Restart

SOLVERS = ("auto", "dopri5", "dop853", "rodas5p", "RK23", "RK45", "DOP853", "Radau", "BDF", "LSODA", "ida")
G = 9.81
every_solver = pytest.mark.parametrize("solver", SOLVERS)


def oscillator(**options) -> Problem:
    """y = (cos t, -sin t)."""
    return Problem(lambda t, y: np.array([y[1], -y[0]]), 0.0, np.array([1.0, 0.0]), **options)


def swinging(**options) -> Problem:
    """y = exp(sin t), nonlinear in t."""
    return Problem(lambda t, y: y * math.cos(t), 0.0, np.array([1.0]), **options)


def ball(restitution: float = 0.8, **options) -> Problem:
    """A ball dropped from 1 m; its only event is the floor, from above."""

    def bounce(t: float, y: np.ndarray, crossings: np.ndarray) -> Restart:
        return Restart([0.0, -restitution * y[1]])

    arguments = {"events": [lambda t, y: y[0]], "directions": [-1], "on_event": bounce} | options
    return Problem(lambda t, y: np.array([y[1], -G]), 0.0, np.array([1.0, 0.0]), **arguments)


def clock(events: Callable | list, **options) -> Problem:
    """y = t: events at given times."""
    return Problem(lambda t, y: np.ones(1), 0.0, np.zeros(1), events=events, **options)
