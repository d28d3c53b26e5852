"""Slider-cranks of random lengths, a hundred thousand: where their pistons are, and their cranks a while later.

Crank and rod scatter as made parts do. A batch closes all loops, each with its own lengths, and takes steps of fixed
size. Positions of the pistons agree with the closed form, final angles with single runs of error control.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import slider_crank

import linkwork as lw

COUNT = 100_000
LENGTHS = {"B.parent_frame.position[1]": slider_crank.CRANK, "C.parent_frame.position[1]": slider_crank.ROD}  # m
SCATTER = 2e-4  # m, standard deviation of each
STEP, STEPS = 5e-4, 60  # s


@dataclass(frozen=True)
class Scattered:
    """By row: lengths, m; positions of the piston at the start, m; angles of the crank at the end, rad."""

    lengths: dict[str, np.ndarray]
    positions: np.ndarray
    angles: np.ndarray


def scattered(count: int = COUNT, seed: int = 0) -> Scattered:
    """Close the loops of as many slider-cranks, and let them move."""
    rng = np.random.default_rng(seed)
    model = lw.compile(slider_crank.mechanism())
    batch = model.batch(count)
    lengths = {name: rng.normal(length, SCATTER, count) for name, length in LENGTHS.items()}
    batch.put(lengths)
    if not batch.assemble(keep=["A"]).all():
        raise next(iter(batch.errors.values()))
    positions = batch.value("piston.r")[:, 0].copy()
    batch.rollout(STEP, STEPS, every=STEPS)
    return Scattered(lengths, positions, batch.q[:, model.q_names.index("A.q")].copy())


def closed_form(crank: np.ndarray, rod: np.ndarray, angle: float) -> np.ndarray:
    """Where the piston is when the crank is at an angle to the slide, m."""
    position: np.ndarray = crank * np.cos(angle) + np.sqrt(rod**2 - (crank * np.sin(angle)) ** 2)
    return position


def main() -> Scattered:
    found = scattered()
    for what, unit, values in (("piston", "mm", 1e3 * found.positions), ("crank", "mrad", 1e3 * found.angles)):
        low, high = np.percentile(values, [0.1, 99.9])
        print(f"{what}: {values.mean():.3f} {unit}, standard deviation {values.std():.3f}, 99.8 % in {high - low:.3f}")
    return found


if __name__ == "__main__":
    main()
