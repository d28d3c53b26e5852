"""Nominal values, from which importers make absolute tolerances: the sizes of the mechanism at the start."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class NominalSizes:
    """Sizes by which errors are measured; mechanisms of metres, seconds and kilograms have ones."""

    # length, speed, rate: of displacements [m], their rates [m/s] and angular rates [rad/s]
    length: float = 1.0
    speed: float = 1.0
    rate: float = 1.0
    force: float = 1.0  # of the forces of masses and gravity [N]

    def by_unit(self) -> dict[str, float]:
        """Return the nominal values of the units in which states, inputs and outputs are; 1 in others."""
        time = self.length / self.speed
        values = {
            "m": self.length,
            "m/s": self.speed,
            "m/s2": self.speed / time,
            "rad/s": self.rate,
            "rad/s2": self.rate**2,
            "N": self.force,
            "N.m": self.force * self.length,
            "J": self.force * self.length,
            "N.s": self.force * time,
            "N.m.s": self.force * self.length * time,
        }
        return {unit: rounded(value) for unit, value in values.items() if value != 1.0}


def rounded(value: float) -> float:
    """Return a size to three digits.

    >>> rounded(0.00012345)
    0.000123
    """
    return float(f"{value:.3g}")
