"""A five-bar swings up by sampling: at each decision the best of many tried torques is played, for a moment.

The five-bar is that of `swing_up`, with weaker motors. A batch plays many sequences of torques, random around the best
one of before, from the present state, in steps of fixed size. The first torques of their mean, weighted by cost, act on
a simulation with error control until the next decision: predictive control without derivatives (Williams, Aldrich and
Theodorou, Journal of Guidance, Control, and Dynamics 40, 2017).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import swing_up

import linkwork as lw

LIMIT = 2.5  # N m of each motor
COUNT, STEP = 512, 0.01  # sequences; s
KNOTS, HELD = 12, 5  # torques of a sequence; steps that each holds
T_END = 2.0  # s
UPRIGHT = sum(swing_up.HANGING.values()) / 2 - np.pi  # rad, mean angle of the motors
SPREAD, STRAINED = 1.4, 0.1  # rad between the motors at rest; cost of the square of a deviation
NOISE, TEMPERATURE = 0.5, 0.1  # of the limit; of the standard deviation of the costs


@dataclass(frozen=True)
class Swing:
    """At the decisions: times, s; mean angle of the motors from upright, rad; their speeds, rad/s; torques, N m."""

    t: np.ndarray
    angles: np.ndarray
    speeds: np.ndarray
    torques: np.ndarray


class Sampler:
    """Sequences of torques from a state."""

    def __init__(self, model: lw.Model, seed: int) -> None:
        self.batch, self.rng = model.batch(COUNT), np.random.default_rng(seed)
        self.motors = [model.q_names.index(f"{motor}.q") for motor in swing_up.MOTORS]
        self.nq = self.batch.q.shape[1]
        self.best = np.zeros((KNOTS, 2))

    def costs(self, states: np.ndarray) -> np.ndarray:
        """Of states [q; u] (..., n): how far from upright and from rest they are, over time."""
        angles, speeds = states[..., self.motors], states[..., self.nq :][..., self.motors]
        height = 1.0 - np.cos(angles.mean(axis=-1) - UPRIGHT)
        each = height + 0.002 * (speeds**2).sum(axis=-1) + STRAINED * (angles[..., 0] - angles[..., 1] - SPREAD) ** 2
        found: np.ndarray = np.nan_to_num(each, nan=100.0).mean(axis=-1)
        return found

    def decide(self, q: np.ndarray, u: np.ndarray) -> np.ndarray:
        """Return the torques to play now, and shift the sequence."""
        batch = self.batch
        batch.q[:], batch.u[:], batch.time[:] = q, u, 0.0
        noise = NOISE * self.rng.normal(size=(COUNT, KNOTS, 2))
        noise[0] = 0.0
        tried = np.clip(self.best + noise, -1.0, 1.0)

        def loads(time: float, rows: lw.Batch) -> np.ndarray:
            tau = np.zeros_like(rows.tau)
            tau[:, self.motors] = LIMIT * tried[:, min(round(time / STEP) // HELD, KNOTS - 1)]
            return tau

        costs = self.costs(batch.rollout(STEP, KNOTS * HELD, loads, every=HELD)[:, 1:])
        weights = np.exp(-(costs - costs.min()) / (TEMPERATURE * costs.std()))
        self.best = np.einsum("s,skm->km", weights / weights.sum(), tried)
        now: np.ndarray = LIMIT * self.best[0]
        self.best = np.append(self.best[1:], self.best[-1:], axis=0)
        return now


def swing(seed: int = 0, t_end: float = T_END) -> Swing:
    """Swing up, and stay there."""
    model = lw.compile(swing_up.mechanism())
    state, sampler = model.assemble(), Sampler(model, seed)
    hold = HELD * STEP
    decisions = round(t_end / hold)
    torques, motion = np.empty((decisions, 2)), []
    for k in range(decisions):
        q, u = np.asarray(state.q)[: model.sizes.nq], np.asarray(state.u)[: model.sizes.nu]
        motion.append([*q[sampler.motors], *u[sampler.motors]])
        torques[k] = sampler.decide(q, u)
        end, inputs = (k + 1) * hold, dict(zip(swing_up.MOTORS, torques[k], strict=True))
        state = lw.simulate(model, end, state, inputs=inputs).state(end)
    numbers = np.array(motion)
    return Swing(hold * np.arange(decisions), numbers[:, :2].mean(axis=1) - UPRIGHT, numbers[:, 2:], torques)


def main() -> Swing:
    found = swing()
    for t, angle, speeds in zip(found.t[::4], found.angles[::4], found.speeds[::4], strict=True):
        print(f"{t:4.1f} s: {np.degrees(angle):7.1f} deg from upright, {np.abs(speeds).max():4.1f} rad/s")
    return found


if __name__ == "__main__":
    main()
