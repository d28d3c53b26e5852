"""Environments of Gymnasium: rows of a batch that begin again, whatever happens to the others."""

import importlib

import numpy as np
import pytest

import linkwork as lw
from support.cases import four_bar

gymnasium = pytest.importorskip("gymnasium")
MechanismVectorEnv = pytest.importorskip("linkwork.gym").MechanismVectorEnv


def nothing(batch, actions):
    return np.zeros(len(batch))


def speed(batch, actions):
    return batch.u[:, 0] + actions[:, 0]


def env_of(num_envs=6, **options):
    model = lw.compile(four_bar().mechanism)
    given = {"loads": {"A": 2.0}, "reward": speed, "state": model.assemble(q={"A": 0.3}, u={"A": 3.0})} | options
    return MechanismVectorEnv(model, num_envs, **given)


def test_steps_are_those_of_simulate():
    env = env_of(2)
    start, _ = env.reset(seed=0)
    assert np.array_equal(start[0], start[1])
    for _ in range(10):
        found, rewards, terminated, truncated, infos = env.step([[0.5], [-1.0]])
    assert not terminated.any()
    assert not truncated.any()
    assert not infos
    model = env.batch.model
    state = model.assemble(q={"A": 0.3}, u={"A": 3.0})
    for row, load in enumerate((1.0, -2.0)):
        exact = lw.simulate(model, 0.1, state, inputs={"A": load}, rtol=1e-11).final_state
        assert found[row] == pytest.approx(np.concatenate([exact.q, exact.u]), abs=1e-8)
        assert rewards[row] == pytest.approx(exact.u[0] + load / 2.0, abs=1e-8)


def test_spaces():
    env = env_of(3, observe=lambda batch: batch.q[:, :1])
    assert isinstance(env, gymnasium.vector.VectorEnv)
    assert env.observation_space.shape == (3, 1)
    assert env.action_space.shape == (3, 1)
    observations, _ = env.reset(seed=1)
    assert env.observation_space.contains(observations)
    assert env.action_space.contains(env.action_space.sample())
    observations, rewards, terminated, truncated, _ = env.step(env.action_space.sample())
    assert env.observation_space.contains(observations)
    assert rewards.shape == terminated.shape == truncated.shape == (3,)


def test_episodes_end_and_begin_again():
    env = env_of(4, max_steps=3, terminated=lambda batch: batch.u[:, 0] > 5.0)
    first, _ = env.reset(seed=0)
    actions = np.array([[0.0], [0.0], [0.0], [1.0]])
    env.batch.u[3] *= 2.0  # the last one is too fast at once
    _, _, terminated, truncated, _ = env.step(actions)
    assert list(terminated) == [False, False, False, True]
    found, rewards, terminated, truncated, _ = env.step(actions)
    assert np.array_equal(found[3], first[3])
    assert rewards[3] == 0.0
    assert not terminated.any()
    _, _, terminated, truncated, _ = env.step(actions)
    assert list(truncated) == [True, True, True, False]
    found, _, _, truncated, _ = env.step(actions)
    assert np.array_equal(found[:3], first[:3])
    assert not truncated.any()


def test_starts_follow_from_the_seed():
    def anywhere(batch, rows, rng):
        batch.u[rows] *= rng.uniform(0.5, 1.5, size=(rows.size, 1))

    env = env_of(5, start=anywhere)
    one, _ = env.reset(seed=3)
    again, _ = env.reset(seed=3)
    other, _ = env.reset(seed=4)
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)
    assert len({row.tobytes() for row in one}) == 5


def test_an_error_ends_one_copy():
    env = env_of(3)
    first, _ = env.reset(seed=0)
    env.batch.q[1] += 0.5  # the loop is open
    found, rewards, terminated, _, infos = env.step(np.zeros((3, 1)))
    assert list(terminated) == [False, True, False]
    assert np.isfinite(found).all()
    assert rewards[1] == 0.0
    assert "open" in infos["error"][1] or "closed" in infos["error"][1]
    found, _, terminated, _, infos = env.step(np.zeros((3, 1)))
    assert not terminated.any()
    assert np.array_equal(found[1], first[1])
    assert not infos


def test_copies_do_not_depend_on_their_number(monkeypatch, checkout):
    monkeypatch.syspath_prepend(checkout / "examples")
    example = importlib.import_module("leg_env")
    returns = {}
    for envs, threads in ((8, 1), (600, 2)):
        env = example.environment(envs, threads)
        env.reset(seed=0)
        env.batch.u[:] = env.batch.u[0]
        rewards = [env.step(np.full(env.action_space.shape, 0.1))[1][:8] for _ in range(3)]
        returns[envs] = np.array(rewards) - rewards[0][0]
    assert np.array_equal(returns[8][:, 0] - returns[8][:, 7], np.zeros(3))
    assert np.array_equal(returns[8], returns[600])


def test_the_example_finds_better_actions(monkeypatch, checkout):
    monkeypatch.syspath_prepend(checkout / "examples")
    example = importlib.import_module("leg_env")
    _, returns = example.best_action(example.environment())
    assert returns.max() > returns[0] + 0.1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"loads": {"Z": 1.0}}, "loads: there is no load 'Z': known are 'A', 'B'"),
        ({"loads": {}}, "loads: name at least one"),
        ({"loads": {"A": -1.0}}, "load of 'A' must be positive"),
        ({"step": 0.0}, "step must be positive"),
        ({"substeps": 0}, "substeps must be a whole number of at least 1"),
        ({"observe": lambda batch: batch.q[:, 0]}, "observe gives an array (6,); it must be (6, n)"),
        ({"observations": 1}, "MechanismVectorEnv has no argument 'observations'"),
    ],
)
def test_bad_input(options, message):
    with pytest.raises((lw.MechanismError, TypeError)) as error:
        env_of(**options)
    assert message in str(error.value)


def test_bad_actions():
    env = env_of()
    env.reset(seed=0)
    for actions in (np.zeros(6), np.full((6, 1), np.nan)):
        with pytest.raises(lw.MechanismError, match="actions must be finite numbers"):
            env.step(actions)


def test_transitions_are_refused():
    mech = four_bar().mechanism
    mech.add_transition("latch", lw.Lock("A"), when=lw.Command())
    with pytest.raises(lw.MechanismError, match="an environment carries out no transitions"):
        MechanismVectorEnv(lw.compile(mech), 2, loads={"A": 1.0}, reward=nothing)
