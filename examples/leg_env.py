"""The biped's leg as an environment of Gymnasium: many copies at once, which are to kick forward.

Random sampling finds constant torques that bring the toe near a point ahead: a policy of one action, which shows how an
environment is used. Libraries for reinforcement learning take it as it is.
"""

import biped_leg
import numpy as np

import linkwork as lw
import linkwork.gym

ENVS, STEPS = 64, 25
LOADS = {"hip": 30.0, "knee_motor": 30.0, "ankle_motor": 10.0}  # N m
AHEAD = (0.3, 0.0, 0.1)  # m, from the place of the toe at the start


def environment(envs: int = ENVS, threads: int = 0) -> linkwork.gym.MechanismVectorEnv:
    """Rewards are highest where the toe is near its target."""
    model = lw.compile(biped_leg.mechanism())
    target = np.asarray(model.value("toe.r", model.assemble())) + AHEAD

    def reward(batch: lw.Batch, actions: np.ndarray) -> np.ndarray:
        away = np.linalg.norm(batch.value("toe.r") - target, axis=1)
        found: np.ndarray = -away - 1e-3 * (actions**2).sum(axis=1)
        return found

    def start(batch: lw.Batch, rows: np.ndarray, rng: np.random.Generator) -> None:
        batch.u[rows, 0] = 0.1 * rng.normal(size=rows.size)  # the hip, which no loop holds

    return linkwork.gym.MechanismVectorEnv(
        model, envs, loads=LOADS, reward=reward, start=start, max_steps=STEPS, threads=threads
    )


def best_action(env: linkwork.gym.MechanismVectorEnv, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return the best of as many constant actions as there are copies, and the returns of all."""
    rng = np.random.default_rng(seed)
    actions = rng.uniform(-1.0, 1.0, size=env.action_space.shape)
    actions[0] = 0.0
    env.reset(seed=seed)
    returns = np.zeros(env.num_envs)
    for _ in range(STEPS):
        _, rewards, *_ = env.step(actions)
        returns += rewards
    return actions[returns.argmax()], returns


if __name__ == "__main__":
    action, returns = best_action(environment())
    print(f"without torques: {returns[0]:.3f}; best of {ENVS}: {returns.max():.3f} with {action.round(2)}")
