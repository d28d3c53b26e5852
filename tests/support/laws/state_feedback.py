"""The law of `state_feedback` in Python, the reference of that in C."""

from __future__ import annotations

from linkwork.controllers.builtin import state_feedback as native
from linkwork.controllers.controller import Controller


class StateFeedback(native.StateFeedback):
    unsaved = ("x_names", "u_names")

    def check(self) -> None:
        """Refuse limits that cross."""
        for i, name in enumerate(self.u_names, start=1):
            low, high = self[f"u_min[{i}]"], self[f"u_max[{i}]"]
            if not low <= high:
                raise ValueError(f"u_min[{i}] = {low:g} is above u_max[{i}] = {high:g}, the limits of {name}")

    def outputs(self, t: float) -> None:
        """Compute u = u0 - K (x - x0), within its limits."""
        away = [self[name] - self[f"x0[{j}]"] for j, name in enumerate(self.x_names, start=1)]
        for i, name in enumerate(self.u_names, start=1):
            feedback = 0.0  # term by term: sum() rounds in other ways in later versions of Python
            for j, x in enumerate(away, start=1):
                feedback += self[f"K[{i},{j}]"] * x
            self[name] = min(max(self[f"u0[{i}]"] - feedback, self[f"u_min[{i}]"]), self[f"u_max[{i}]"])

    update = Controller.update
