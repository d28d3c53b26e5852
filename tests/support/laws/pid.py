"""The law of `pid` in Python, the reference of that in C."""

from __future__ import annotations

from typing import Any

from linkwork.controllers.builtin import pid as native


class Pid(native.Pid):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.integral: float | None = None  # where it starts is not known before the first sample
        self.rate = 0.0
        self.before: tuple[float, float] | None = None  # z of the sample before, and how long ago that was
        self.unlimited = 0.0

    def check(self) -> None:
        """Refuse what divides by zero, and limits that cross."""
        if not self.u_min <= self.u_max:
            raise ValueError(f"u_min = {self.u_min:g} is above u_max = {self.u_max:g}")
        for name in ("filter_time", "tracking_time"):
            if self[name] < 0.0:
                raise ValueError(f"{name} = {self[name]:g} is negative")

    def outputs(self, t: float) -> None:
        """u, limited."""
        proportional = self.kp * (self.setpoint_weight * self.setpoint - self.measurement)
        v = self.feedforward + proportional + self._integral() + self.kd * self._rate()
        self.unlimited = v
        self.u = min(max(v, self.u_min), self.u_max)

    def update(self, t: float, dt: float) -> None:
        """The integral and the filter."""
        self.rate, self.before = self._rate(), (self._differentiated(), dt)
        drive, excess = self.ki * (self.setpoint - self.measurement), self.u - self.unlimited
        if self.tracking_time > 0.0:
            drive += excess / self.tracking_time
        elif excess * drive < 0.0:
            drive = 0.0
        self.integral = self._integral() + dt * drive

    def _integral(self) -> float:
        return float(self.integral_start if self.integral is None else self.integral)

    def _rate(self) -> float:
        if self.before is None:  # the first sample
            return 0.0
        before, ago = self.before
        return float((self.filter_time * self.rate + self._differentiated() - before) / (self.filter_time + ago))

    def _differentiated(self) -> float:
        return float(self.derivative_weight * self.setpoint - self.measurement)
