"""Continuous inputs within a communication step, by polynomials through values at communication points.

An FMU that takes derivatives of inputs (FMI 2.0) gets those of the polynomial; another one gets its mean over the step,
which makes a step of second order as well.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from linkwork.cosim.fmu.instance import FloatArray, Instance
from linkwork.cosim.network import Network


class Extrapolation:
    """Polynomials of an order for the inputs of each instance; order 0 holds them."""

    def __init__(self, order: int, network: Network) -> None:
        self.order = order
        self._past: dict[str, deque[tuple[float, FloatArray]]] = {
            one.name: deque(maxlen=order + 1) for one in network.each() if one.inputs.real.size
        }

    def forget(self) -> None:
        """Begin anew: inputs may have jumped."""
        for past in self._past.values():
            past.clear()

    def note(self, network: Network, time: float) -> None:
        """Keep the inputs as they are at a communication point."""
        if self.order:
            for instance in network.each(self._past):
                past = self._past[instance.name]
                while past and past[-1][0] >= time:
                    past.pop()
                past.append((time, instance.inputs.real.copy()))

    def prepare(self, instance: Instance, time: float, length: float, ahead: FloatArray | None = None) -> None:
        """Give an instance its inputs for a step; `ahead` are those at its end, NaN where they are not known."""
        past = self._past.get(instance.name)
        if not self.order or not past:
            return
        now = past[-1][1]
        derivatives = self._derivatives(list(past), time + length, ahead)
        if not len(derivatives):
            return
        if instance.model.abilities.interpolation:
            instance.inputs.real[:] = now
            instance.write(instance.inputs)
            instance.write_derivatives(instance.inputs, derivatives)
            return
        mean = now.copy()
        weight = 1.0
        for k, row in enumerate(derivatives, start=1):
            weight *= length / (k + 1)
            mean += weight * row
        instance.inputs.real[:] = mean
        instance.write(instance.inputs)

    def _derivatives(self, past: list[tuple[float, FloatArray]], end: float, ahead: FloatArray | None) -> FloatArray:
        """Derivatives at the latest point; row k is of order k + 1."""
        without = _newton(past[-(self.order + 1) :])
        if ahead is None or np.isnan(ahead).all():
            return without
        with_end = _newton([*past[-self.order :], (end, ahead)], at=-2)
        rows = max(len(without), len(with_end))
        known = ~np.isnan(ahead)
        both = np.zeros((rows, ahead.size))
        both[: len(without)] = without
        both[:, known] = 0.0
        both[: len(with_end), known] = with_end[:, known]
        return both


def _newton(points: list[tuple[float, FloatArray]], at: int = -1) -> FloatArray:
    """Derivatives of orders 1, 2, ... at one of some points (at most 4), of the polynomial through all of them."""
    base = points[at][0]
    degree = len(points) - 1
    if degree < 1:
        return np.zeros((0, points[0][1].size))
    times = np.array([time - base for time, _ in points])
    scale = np.abs(times).max()
    powers = np.vander(times / scale, increasing=True)
    coefficients = np.linalg.solve(powers, np.array([values for _, values in points]))
    factors = np.cumprod(np.arange(1, degree + 1)) / scale ** np.arange(1, degree + 1)
    return np.asarray(coefficients[1:] * factors[:, None])
