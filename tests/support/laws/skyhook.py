"""The law of `skyhook` in Python, the reference of that in C."""

from __future__ import annotations

from linkwork.controllers.builtin import skyhook as native
from linkwork.controllers.controller import Controller


class Skyhook(native.Skyhook):
    def check(self) -> None:
        """Limits of a damper."""
        if not 0.0 <= self.c_min <= self.c_max:
            raise ValueError(f"c_min = {self.c_min:g} and c_max = {self.c_max:g} must not be negative or crossed")

    def outputs(self, t: float) -> None:
        """Coefficient and forces."""
        apart = self.v_body - self.v_wheel
        self.c = self.c_min
        if self.v_body * apart > 0.0:
            wished = self.c_sky * abs(self.v_body)
            if not self.continuous or wished >= self.c_max * abs(apart):  # which may be tiny
                self.c = self.c_max
            else:
                self.c = max(self.c_min, wished / abs(apart))
        self.force_wheel = self.c * apart
        self.force = -self.force_wheel

    update = Controller.update
