"""Skyhook damping by a damper whose coefficient is switched or set: of a body, as though it hung from the sky.

F on the body = -c (v_body - v_wheel)
c = c_max, or continuous c_sky v_body/(v_body - v_wheel) within [c_min, c_max],   where v_body (v_body - v_wheel) > 0
c = c_min                                                                         elsewhere: it would push the body on
"""

from __future__ import annotations

from typing import Any

from linkwork.controllers.built_in import native
from linkwork.controllers.native.controller import NativeController


class Skyhook(NativeController):
    """The force of a semi-active damper between body and wheel."""

    law = "skyhook"

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.add_input("v_body", 0.0, "m/s", "vertical speed of the body")
        self.add_input("v_wheel", 0.0, "m/s", "vertical speed of the wheel")
        self.add_output("c", "N.s/m", "coefficient of the damper")
        self.add_output("force", "N", "vertical force on the body")
        self.add_output("force_wheel", "N", "vertical force on the wheel")
        self.add_parameter("c_min", 300.0, "N.s/m", "least coefficient")
        self.add_parameter("c_max", 3000.0, "N.s/m", "largest coefficient")
        self.add_parameter("c_sky", 2000.0, "N.s/m", "coefficient of the damper to the sky; of continuous control")
        self.add_parameter("continuous", True, description="the coefficient takes all values, not only two")


@native(Skyhook)
def skyhook(*, continuous: bool = True, **parameters: float) -> dict[str, Any]:
    """Write skyhook control as an FMU.

    Parameters
    ----------
    continuous
        Whether the coefficient varies between its limits; False: it is at either of them.
    **parameters
        c_min 300, c_max 3000: limits of the damper's coefficient, N s/m; c_sky 2000: of the damper to the sky.
    """
    return {"continuous": continuous, **parameters}
