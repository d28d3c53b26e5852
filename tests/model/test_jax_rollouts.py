"""Rollouts as functions of JAX: states of batches to the bit, gradients of the reverse sweep, transforms, errors."""

import copy
import pickle

import numpy as np
import pytest

import linkwork as lw
from support.array_functions import CASES, arguments
from support.cases import four_bar

jax = pytest.importorskip("jax")
jnp = jax.numpy
rollout = pytest.importorskip("linkwork.jax").rollout
check_grads = pytest.importorskip("jax.test_util").check_grads

STEP, STEPS, EVERY = 1e-3, 9, 4
ROUNDING = 1e-9  # by which derivatives of tapes and of kernels may differ


@pytest.fixture(autouse=True)
def numbers_of_64_bits():
    with jax.enable_x64(True):
        yield


def case(name, rows=3):
    """The model, the function, and its arguments, with loads of each step."""
    make, _, parameters = CASES[name]
    model = make()
    given = arguments(model, parameters, rows)
    tau = given["tau"][:, None] * np.linspace(1.0, 2.0, STEPS)[:, None]
    f = rollout(model, STEP, STEPS, model.assemble(time=0.4), every=EVERY, parameters=parameters)
    return model, f, [jnp.asarray(one) for one in (given["x"], tau, given["p"])]


@pytest.mark.parametrize("name", CASES)
def test_states_and_gradients_are_those_of_batches(name):
    model, f, given = case(name)
    names, first = CASES[name][2], 0
    batch = model.batch(3, model.assemble(time=0.4))
    batch.columns["states"][:] = given[0]
    for one in names:
        count = model.column(one).count
        batch.put({one: np.asarray(given[2])[:, first : first + count]})
        first += count
    run = batch.differentiable_rollout(STEP, STEPS, np.asarray(given[1]), every=EVERY)
    for called in (f, jax.jit(f), jax.vmap(f), jax.jit(jax.vmap(f))):
        assert np.array_equal(called(*given), run.states)
    weights = np.random.default_rng(0).normal(size=run.states.shape)
    expected = run.gradient(weights, names)
    joined = [np.empty((3, 0)), *(values.reshape(3, -1) for values in expected.parameters.values())]
    for gradient in (jax.grad, lambda *a, **k: jax.jit(jax.grad(*a, **k))):
        found = gradient(lambda *a: (f(*a) * weights).sum(), argnums=(0, 1, 2))(*given)
        for one, other in zip(found, (expected.start, expected.loads, np.concatenate(joined, axis=1)), strict=True):
            assert np.asarray(one) == pytest.approx(other, rel=ROUNDING, abs=ROUNDING)


@pytest.mark.parametrize("name", CASES)
def test_gradients_are_those_of_differences(name):
    _, f, given = case(name, rows=2)
    tolerances = {"eps": 1e-6, "atol": 2e-6, "rtol": 1e-6}
    check_grads(lambda *a: 10.0 * f(*a), given, order=1, modes=("rev",), **tolerances)
    held = given[0], given[1][:, :1], given[2]
    check_grads(jax.jit(lambda *a: 10.0 * f(*a)), held, order=1, modes=("rev",), **tolerances)


def test_transforms():
    _, f, (x, tau, p) = case("four_bar", rows=4)
    assert np.array_equal(jax.vmap(f, in_axes=(0, None, 1))(x, tau[0], p.T), f(x, tau[0], p))
    matrices = jax.jit(jax.vmap(jax.jacrev(f), in_axes=(0, None, 0)))(x, tau[0], p)
    assert matrices.shape == (4, 3, 6, 6)
    assert np.array_equal(matrices[:, 0], np.tile(np.eye(6), (4, 1, 1)))
    parts = f(x.reshape(2, 2, -1), tau.reshape(2, 2, STEPS, -1), p.reshape(2, 2, -1))
    assert np.array_equal(parts.reshape(4, 3, 6), f(x, tau, p))
    assert f(x[:0], tau[:0], p[:0]).shape == (0, 3, 6)


def test_rollouts_in_a_loop_of_jax():
    """A step at a time with loads that follow from the state: gradients by the gain, compared with differences."""
    model = lw.compile(four_bar().mechanism)
    one = rollout(model, STEP, 1)
    start = model.assemble(q={"A": 0.4}, u={"A": 2.0})
    x = jnp.asarray(np.concatenate([start.q, start.u]))

    def last(gain):
        def step(now, _):
            load = jnp.zeros((1, 4)).at[0, 0].set(-gain * now[3])
            return one(now, load)[-1], None

        return jax.lax.scan(step, x, None, length=10)[0]

    check_grads(jax.jit(last), (5.0,), order=1, modes=("rev",), eps=1e-5, atol=1e-7, rtol=1e-6)


def test_default_arguments_and_copies():
    model = lw.compile(four_bar().mechanism)
    f = rollout(model, STEP, 5, parameters=["coupler.mass"])
    batch = model.batch(1, model.assemble(u={"A": 2.0}))
    x = jnp.asarray(batch.columns["states"][0].copy())
    expected = batch.rollout(STEP, 5)[0]
    for one in (f, copy.deepcopy(f), pickle.loads(pickle.dumps(f))):
        assert np.array_equal(one(x), expected)
    assert f.shape == (6, 6)
    assert repr(f) == "Rollouts((x[6], tau[5, 4], p[1]) -> (states[6, 6]))"


# ---- errors ----


def x_of(f, rows=3):
    return jnp.tile(jnp.asarray(f._rollouts._defaults["x"]), (rows, 1))


def of_32_bits(f):
    with jax.enable_x64(False):
        return f(np.zeros(6))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda f: f(x_of(f).at[2, 0].add(0.5)), "row 2: the loop closed by joint 'D' is open by"),
        (lambda f: jax.vmap(f)(x_of(f).at[1, 4].set(np.nan)), "row 1: B.u is not finite"),
        (lambda f: jax.jacrev(jax.grad(lambda x: f(x).sum()))(x_of(f)), "there are no second derivatives of rollouts"),
        (lambda f: jax.jacfwd(f)(x_of(f)), "forward-mode"),
        (lambda f: f(x_of(f).astype(jnp.float32)), "x has numbers of type float32; give jnp.float64"),
        (of_32_bits, "call jax.config.update('jax_enable_x64', True) before the first array is made"),
        (lambda f: f(x_of(f)[:, :5]), "x has shape (3, 5); its last dimension must be 6"),
        (lambda f: f(x_of(f), jnp.zeros((3, 4))), "tau has shape (3, 4); its last dimensions must be those of"),
        (lambda f: rollout(f._rollouts._batch.model, STEP, 5, outputs="A.q"), "rollout has no argument 'outputs'"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises((lw.LinkworkError, TypeError, jax.errors.JaxRuntimeError)) as error:
        jax.block_until_ready(call(rollout(lw.compile(four_bar().mechanism), STEP, 5)))
    assert message in str(error.value)
