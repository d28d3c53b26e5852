"""Lengths and start speed of a four-bar, found from the motion of its rocker by gradients through the motion.

The rocker is to swing as that of another four-bar does, whose crank and coupler have other lengths and which begins
with another speed. A run closes the loop with the lengths that are tried, keeps the angle and the speed of the crank,
and takes steps of fixed size. One sweep back through these, and the derivatives of the closed loop, give the gradient
by all that is sought, with which the method L-BFGS of SciPy finds it.
"""

from __future__ import annotations

from dataclasses import dataclass

import four_bar
import numpy as np
from scipy.optimize import minimize

import linkwork as lw

SOUGHT = ("B.parent_frame.position[1]", "C.parent_frame.position[1]", "A.u")  # m of the crank, of the coupler; rad/s
ANGLE = 0.5  # rad, of the crank at the start
STEP, STEPS, EVERY = 2e-3, 400, 8  # s
BEGIN, END = (0.46, 0.93, 3.0), (0.4, 1.0, 4.0)  # first guess, and values of the other four-bar


@dataclass(frozen=True)
class Found:
    """Values found, and by how much they miss; the largest difference of the angles, rad; how many gradients."""

    values: np.ndarray
    misses: np.ndarray
    difference: float
    gradients: int


def rocker(states: np.ndarray) -> np.ndarray:
    """Angles of the rocker to the ground, from states [q; u] (..., 6)."""
    angles: np.ndarray = states[..., :3].sum(axis=-1)
    return angles


def target() -> np.ndarray:
    """Angles of the other rocker at the times that are kept, by a solver with error control."""
    model = lw.compile(four_bar.mechanism()).with_parameters(dict(zip(SOUGHT[:2], END[:2], strict=True)))
    t = STEP * EVERY * np.arange(1 + STEPS // EVERY)
    result = lw.simulate(model, t[-1], model.assemble(q={"A": ANGLE}, u={"A": END[2]}), t_eval=t, rtol=1e-11)
    return result["A.q"] + result["B.q"] + result["C.q"]


class Fit:
    """The mean square of the angles' differences, and its gradient."""

    def __init__(self, angles: np.ndarray) -> None:
        self.angles, self.gradients = angles, 0
        self.batch = lw.compile(four_bar.mechanism()).batch(1)
        self.guess = self.batch.q.copy()

    def rollout(self, values: np.ndarray) -> lw.Rollout:
        """Steps from the pose that is closed with these lengths."""
        batch = self.batch
        batch.q[:] = self.guess
        batch.put({"A.q": [ANGLE], **{name: [value] for name, value in zip(SOUGHT, values, strict=True)}})
        if not batch.assemble(keep=["A"]).all():
            raise batch.errors[0]
        return batch.differentiable_rollout(STEP, STEPS, every=EVERY)

    def __call__(self, values: np.ndarray) -> tuple[float, np.ndarray]:
        run = self.rollout(values)
        missed = rocker(run.states) - self.angles
        weights = np.zeros_like(run.states)
        weights[..., :3] = 2.0 * missed[..., None] / missed.size
        found = run.gradient(weights, SOUGHT, closed=["A"]).parameters
        self.gradients += 1
        return float(np.mean(missed**2)), np.concatenate([found[name] for name in SOUGHT])


def main() -> Found:
    """Find the lengths and the speed, and print them."""
    fit = Fit(target())
    found = minimize(fit, BEGIN, jac=True, method="L-BFGS-B", options={"ftol": 1e-18, "gtol": 1e-12})
    misses = np.abs(found.x - END)
    difference = float(np.abs(rocker(fit.rollout(found.x).states) - fit.angles).max())
    for name, first, value, miss in zip(SOUGHT, BEGIN, found.x, misses, strict=True):
        print(f"{name:28} {first:6.3f} -> {value:.8f}, misses by {miss:.1e}")
    print(f"{fit.gradients} gradients; the rocker's angle differs by {difference:.1e} rad at most")
    return Found(found.x, misses, difference, fit.gradients)


if __name__ == "__main__":
    main()
