"""Motions of known height that pass a stop or a value by little, and come back within a step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import linkwork as lw

Z = (0, 0, 1)
# Their own error is that of the tolerance also for a throw, a polynomial of degree two.
MULTISTEP = ("BDF", "LSODA", "ida")
SMALLEST_RTOL = 3e-13  # of `simulate`, whose steps get a tenth


@dataclass(frozen=True)
class Graze:
    """A vertical motion that turns at `height` and has passed `height (1 - gap)` by then.

    With the event "speed" or "rate" it is the speed, of the joint or of the distance of points, that rises to `height`.

    Attributes
    ----------
    rate
        rad/s of the oscillation about z = 0; 0 for a throw from z = 0 in gravity.
    turn
        Time of the highest point, s.
    """

    gap: float
    height: float
    rate: float
    turn: float
    event: str
    gravity: float = 0.0

    @property
    def start(self) -> tuple[float, float]:
        """z and its rate at the start."""
        if self.rate == 0.0:
            return 0.0, self.gravity * self.turn
        phase = self.rate * self.turn
        if self.of_speed:
            return -self.height / self.rate * np.sin(phase), self.height * np.cos(phase)
        return self.height * np.cos(phase), self.height * self.rate * np.sin(phase)

    @property
    def of_speed(self) -> bool:
        return self.event in ("speed", "rate")

    @property
    def bound(self) -> float:
        return self.height * (1.0 - self.gap)

    @property
    def time(self) -> float:
        """Time of the event, s."""
        depth = self.height * self.gap
        before = np.sqrt(2.0 * depth / self.gravity) if self.rate == 0.0 else np.arccos(1.0 - self.gap) / self.rate
        return self.turn - before

    def tolerance(self, solver: str) -> float:
        """Return an rtol at which the computed motion passes the bound; one-step methods compute a throw exactly."""
        if self.rate == 0.0 and solver not in MULTISTEP:
            return 1e-4
        return max(1e-2 * self.gap, SMALLEST_RTOL)

    def mechanism(self) -> lw.Mechanism:
        mech = lw.Mechanism("graze", gravity=(0, 0, -self.gravity))
        mech.add_body("mass", mass=1.0, com=(0, 0, 0), inertia=lw.inertia.sphere(1.0, 0.1))
        mech.add_joint("z", lw.Prismatic(Z), "ground", "mass", at=(0, 0, 0))
        if self.rate:
            mech.add_force(lw.SpringDamper("z", stiffness=self.rate**2))
        position, speed = self.start
        mech.start(q={"z": position}, u={"z": speed})
        if self.event == "stop":
            mech.add_transition("event", lw.Stop("z", lower=-9.0 * self.height, upper=self.bound, restitution=0.5))
            return mech
        value, direction, quantity = self.bound, 1, "z.q"
        if self.event in ("distance", "rate"):
            away = 2.0 * self.height / (self.rate if self.of_speed else 1.0)
            quantity = lw.PointDistance(("ground", "mass"), ((0, 0, away), (0, 0, 0)), rate=self.of_speed)
            value, direction = -self.bound if self.of_speed else away - self.bound, -1
        if self.event == "speed":
            quantity = "z.u"
        mech.add_transition("event", lw.Lock("z"), when=lw.Crossing(quantity, value, direction=direction))
        return mech


def random_graze(
    rng: np.random.Generator, event: str | None = None, height: float | None = None, least: float = 1e-8
) -> Graze:
    """Return one of any depth from `least` to 1e-2 of the height, rate and, unless given, event and height."""
    gap = 10.0 ** rng.uniform(np.log10(least), -2.0)
    event = event or str(rng.choice(["stop", "coordinate", "distance", "speed", "rate"]))
    height = height or rng.uniform(0.1, 10.0)
    if event not in ("speed", "rate") and rng.random() < 0.4:
        gravity = rng.uniform(1.0, 20.0)
        return Graze(gap, height, 0.0, np.sqrt(2.0 * height / gravity), event, gravity)
    rate = 10.0 ** rng.uniform(-1.0, 2.0)
    return Graze(gap, height, rate, rng.uniform(0.3, 3.0) / rate, event)
