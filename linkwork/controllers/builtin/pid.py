"""PID with filtered derivative, limits and anti-windup, for a sample time h.

v = feedforward + kp (b w - y) + I + kd r,     u = v within [u_min, u_max]
r = (Tf r_ + z - z_)/(Tf + h_), z = c w - y    backward difference of Tf r' + r = z'; _: of the sample before
I := I + h (ki (w - y) + (u - v)/Tt)           back-calculation, or for Tt = 0 clamping:
I stays while u is at a limit and ki (w - y) drives it further.
"""

from __future__ import annotations

from typing import Any

from linkwork.controllers.built_in import native
from linkwork.controllers.controller import UNLIMITED
from linkwork.controllers.native.controller import NativeController


class Pid(NativeController):
    """u from set point w and measurement y."""

    law = "pid"

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        units = self.setting("units", {})
        y, u = units.get("measurement", "1"), units.get("u", "1")
        self.add_input("setpoint", 0.0, y, "w: what the measurement shall be")
        self.add_input("measurement", 0.0, y, "y")
        self.add_input("feedforward", 0.0, u, "added before the limits")
        self.add_output("u", u, "the controller's output")
        self.add_parameter("kp", 1.0, description="proportional gain, unit of u by unit of y")
        self.add_parameter("ki", 0.0, description="integral gain, the same per second")
        self.add_parameter("kd", 0.0, description="derivative gain, the same times second")
        self.add_parameter("filter_time", 0.01, "s", "Tf of the derivative's filter of first order")
        self.add_parameter("u_min", -UNLIMITED, u, "lower limit of u")
        self.add_parameter("u_max", UNLIMITED, u, "upper limit of u")
        self.add_parameter("tracking_time", 0.0, "s", "Tt of back-calculation; 0: clamping instead")
        self.add_parameter("setpoint_weight", 1.0, description="b: weight of the set point in the proportional part")
        self.add_parameter("derivative_weight", 0.0, description="c: weight of the set point in the derivative part")
        self.add_parameter("integral_start", 0.0, u, "start of the integral part", tunable=False)
        self.add_sample_time()


@native(Pid)
def pid(*, measurement_unit: str = "1", output_unit: str = "1", **parameters: float) -> dict[str, Any]:
    """Write a PID controller as an FMU; `parameters` are start values of those of the FMU.

    Parameters
    ----------
    measurement_unit, output_unit
        Of set point and measurement, and of ``u``.
    **parameters
        kp 1, ki 0, kd 0: gains, in units of u by those of y, and with 1/s and s.
        filter_time 0.01 s: of the derivative's filter.
        u_min, u_max: limits, by default none; tracking_time 0 s: of back-calculation, 0 for clamping.
        setpoint_weight 1, derivative_weight 0: of the set point in the proportional and derivative part.
        integral_start 0: of the integral part.
        sample_time 0 s: 0 takes each communication step as a sample.
    """
    units = {"measurement": measurement_unit, "u": output_unit}
    return {"units": units, **parameters}
