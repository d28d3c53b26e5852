"""A mechanism as a vector environment of Gymnasium: many copies that move at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from linkwork._util.checks import FloatArray, positive, whole_number
from linkwork._util.keywords import checks_keywords
from linkwork._util.names import suggest
from linkwork._util.optional import optional_import
from linkwork.errors import MechanismError, MechanismNameError

if TYPE_CHECKING:
    from linkwork.model.batch import Batch
    from linkwork.model.model import Model
    from linkwork.model.state import State

with optional_import("environments", "gymnasium", "gym"):
    import gymnasium
    from gymnasium.vector import AutoresetMode
    from gymnasium.vector.utils import batch_space

Reward = Callable[["Batch", FloatArray], FloatArray]
Truth = Callable[["Batch"], NDArray[np.bool_]]
Start = Callable[["Batch", NDArray[np.intp], np.random.Generator], None]


@checks_keywords
class MechanismVectorEnv(gymnasium.vector.VectorEnv[Any, Any, Any]):
    """Many copies of a mechanism, driven by loads of joints; each begins again one step after its end.

    Copies are the rows of a `Batch`, and move by its steps of fixed size. A copy whose motion cannot go on, as in a
    singular pose, ends there, terminated; `infos["error"]` has the reason.

    Parameters
    ----------
    model
        Of the mechanism, without transitions.
    num_envs
        How many copies.
    loads
        By name of a joint, applied wrench or actuator, as of `Model.accelerations`, the largest load of its action.
        Actions are from -1 to 1, one for each number of a load.
    reward
        A function of the batch after a step and of the actions (num_envs, n): rewards (num_envs,).
    terminated
        A function of the batch: which copies have come to an end (num_envs,). By default none does.
    observe
        A function of the batch: observations (num_envs, n). By default the states, [q; u; states of elements].
    start
        A function of the batch, of the numbers of the copies that begin, and of a random generator, which writes their
        states. They have that of `state` before.
    state
        By default the assembled start.
    step
        s, of each of the `substeps` of the method of Runge and Kutta with the same loads.
    substeps
        Between two actions.
    max_steps
        Actions of an episode, which is truncated there; by default it is not.
    threads
        As of `Model.batch`.

    Examples
    --------
    >>> import linkwork as lw
    >>> import linkwork.gym
    >>> import numpy as np
    >>> mech = lw.Mechanism("pendulum")
    >>> mech.add_body("rod", mass=1.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(1.0, 1.0))
    >>> mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
    >>> def is_up(batch, actions):
    ...     return -np.sin(batch.q[:, 0])
    >>> env = linkwork.gym.MechanismVectorEnv(lw.compile(mech), 4, loads={"A": 2.0}, reward=is_up)
    >>> observations, infos = env.reset(seed=0)
    >>> observations, rewards, terminated, truncated, infos = env.step(env.action_space.sample())
    >>> observations.shape, rewards.shape
    ((4, 2), (4,))
    """

    metadata: dict[str, Any] = {"autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012

    def __init__(
        self,
        model: Model,
        num_envs: int,
        *,
        loads: Mapping[str, float],
        reward: Reward,
        terminated: Truth | None = None,
        observe: Callable[[Batch], FloatArray] | None = None,
        start: Start | None = None,
        state: State | None = None,
        step: float = 1e-3,
        substeps: int = 10,
        max_steps: int | None = None,
        threads: int = 0,
    ) -> None:
        if model.sizes.transitions:
            raise MechanismError("an environment carries out no transitions; describe the mechanism without them")
        self.batch = model.batch(num_envs, state, threads)
        self._step, self._substeps = positive(step, "step", ": s"), whole_number(substeps, "substeps", 1)
        self._max_steps = None if max_steps is None else whole_number(max_steps, "max_steps", 1)
        self._reward, self._is_terminated, self._observe, self._start = reward, terminated, observe, start
        self._columns, self._largest = _actions(model, loads)
        self._begin = {name: self.batch.columns[name][0].copy() for name in ("states", "q_cut")}
        self._first_time = float(self.batch.time[0])
        self._age = np.zeros(num_envs, dtype=np.int64)
        self._ended = np.zeros(num_envs, dtype=bool)
        shape = self._observations().shape
        if len(shape) != 2 or shape[0] != num_envs:
            raise MechanismError(f"observe gives an array {shape}; it must be ({num_envs}, n)")
        self.num_envs = num_envs
        self.single_observation_space = gymnasium.spaces.Box(-np.inf, np.inf, shape[1:], np.float64)
        self.single_action_space = gymnasium.spaces.Box(-1.0, 1.0, (self._columns.size,), np.float64)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Let all copies begin; with a seed, their starts follow from it."""
        super().reset(seed=seed)
        self._age[:], self._ended[:] = 0, False
        self._begin_again(np.arange(self.num_envs))
        return self._observations(), {}

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Move all copies by their actions (num_envs, n), from -1 to 1; those that had ended begin again instead."""
        given = np.clip(np.asarray(actions, dtype=np.float64), -1.0, 1.0)
        if given.shape != self.action_space.shape or not np.isfinite(given).all():
            raise MechanismError(f"actions must be finite numbers {self.action_space.shape}, not {given.shape}")
        again = np.flatnonzero(self._ended)
        self.batch.tau[:, self._columns] = given * self._largest
        self._begin_again(again)
        held = {name: self.batch.columns[name][again].copy() for name in ("states", "q_cut", "time")}
        self.batch.rollout(self._step, self._substeps, every=self._substeps)
        errors = {row: error for row, error in self.batch.errors.items() if not self._ended[row]}
        for name, values in held.items():
            self.batch.columns[name][again] = values
        for row in errors:  # numbers that any function takes; the copy begins again anyway
            self.batch.columns["states"][row] = self._begin["states"]
            self.batch.columns["q_cut"][row] = self._begin["q_cut"]
        begins = self._ended.copy()
        self._age = np.where(begins, 0, self._age + 1)
        rewards = np.where(begins, 0.0, np.asarray(self._reward(self.batch, given), dtype=np.float64))
        terminated = np.zeros(self.num_envs, dtype=bool)
        if self._is_terminated is not None:
            terminated = np.asarray(self._is_terminated(self.batch), dtype=bool) & ~begins
        terminated[list(errors)] = True
        rewards[list(errors)] = 0.0
        truncated = ~begins & ~terminated & (self._age >= (self._max_steps or np.inf))
        self._ended = terminated | truncated
        infos: dict[str, Any] = {}
        for row, error in errors.items():
            infos = self._add_info(infos, {"error": str(error)}, row)
        return self._observations(), rewards, terminated, truncated, infos

    def _observations(self) -> FloatArray:
        if self._observe is not None:
            return np.array(self._observe(self.batch), dtype=np.float64)
        return self.batch.columns["states"].copy()

    def _begin_again(self, rows: NDArray[np.intp]) -> None:
        if not rows.size:
            return
        for name, values in self._begin.items():
            self.batch.columns[name][rows] = values
        self.batch.time[rows] = self._first_time
        if self._start is not None:
            self._start(self.batch, rows, self.np_random)


def _actions(model: Model, loads: Mapping[str, float]) -> tuple[NDArray[np.intp], FloatArray]:
    """Return the columns of the loads that actions set, and the largest load of each."""
    columns, largest = list[int](), list[float]()
    known = model.numbering.loads
    for name, most in loads.items():
        if name not in known:
            raise MechanismNameError(f"loads: there is no load {name!r}: {suggest(name, known)}")
        span = known[name]
        columns += range(span.start, span.stop)
        largest += [positive(most, f"load of {name!r}")] * (span.stop - span.start)
    if not columns:
        raise MechanismError("loads: name at least one, with its largest load")
    return np.array(columns, dtype=np.intp), np.array(largest)
