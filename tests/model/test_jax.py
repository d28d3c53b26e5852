"""Models as functions of JAX: values of the core to the bit, derivatives of the core, transforms, errors."""

import copy
import pickle

import numpy as np
import pytest

import linkwork as lw
from support.array_functions import CASES, arguments, of_the_core
from support.cases import four_bar

jax = pytest.importorskip("jax")
jnp = jax.numpy
function = pytest.importorskip("linkwork.jax").function
check_grads = pytest.importorskip("jax.test_util").check_grads


@pytest.fixture(autouse=True)
def numbers_of_64_bits():
    with jax.enable_x64(True):
        yield


def case(name, rows=3):
    """The model, the function, and its arguments."""
    make, outputs, parameters = CASES[name]
    model = make()
    given = arguments(model, parameters, rows)
    return model, function(model, outputs=outputs, parameters=parameters), given


def arrays(given):
    return [jnp.asarray(array) for array in given.values()]


def rates(f):
    """The derivatives of the states alone."""
    return lambda *given: found[0] if isinstance(found := f(*given), tuple) else found


@pytest.mark.parametrize("name", CASES)
def test_values_are_those_of_the_core_to_the_bit(name):
    model, f, given = case(name)
    _, outputs, parameters = CASES[name]
    for called in (f, jax.jit(f), jax.vmap(f), jax.jit(jax.vmap(f))):
        found = called(*arrays(given))
        der_x, *others = found if outputs else [found]
        assert len(others) == len(outputs)
        for row in range(len(der_x)):
            own, state, tau = of_the_core(model, parameters, given, row)
            assert np.array_equal(der_x[row], own.derivatives(state, tau=tau))
            for output, values in zip(outputs, others, strict=True):
                assert np.array_equal(values[row], own.value(output, state, tau=tau))


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("transform", [jax.jacfwd, jax.jacrev])
def test_derivatives_are_those_of_the_core(name, transform):
    model, f, given = case(name)
    matrices = jax.jit(jax.vmap(transform(rates(f), argnums=1)))(*arrays(given))
    for row in range(len(matrices)):
        own, state, loads = of_the_core(model, CASES[name][2], given, row)
        expected = own.jacobian(state, tau=loads)
        assert np.abs(matrices[row] - expected).max() < 1e-11 * np.abs(expected).max()


@pytest.mark.parametrize("name", CASES)
def test_derivatives_are_those_of_differences(name):
    _, f, given = case(name, rows=2)
    check_grads(f, arrays(given), order=1, modes=("fwd", "rev"), eps=1e-6, atol=2e-6, rtol=1e-6)


def test_one_call_has_all_rows(monkeypatch):
    _, f, given = case("four_bar", rows=5)
    calls, matrices = [], f._rows.jacobians

    def counted(by, *arrays):
        calls.append((by, arrays[1].shape))
        return matrices(by, *arrays)

    monkeypatch.setattr(f._rows, "jacobians", counted)
    t, x, tau, p = arrays(given)
    of_a_row = jax.grad(lambda x, p, t, tau: rates(f)(t, x, tau, p).sum(), argnums=(0, 1))
    jax.block_until_ready(jax.jit(jax.vmap(of_a_row, in_axes=(0, None, 0, None)))(x, p[0], t, tau[0]))
    assert calls == [(("x", "p"), (5, 6))]


def test_leading_dimensions_are_a_batch():
    _, f, given = case("four_bar", rows=6)
    t, x, tau, p = arrays(given)
    whole = f(t, x, tau, p)
    parts = f(t.reshape(2, 3), x.reshape(2, 3, -1), tau.reshape(2, 3, -1), p.reshape(2, 3, -1))
    for one, other in zip(whole, parts, strict=True):
        assert np.array_equal(one, other.reshape(one.shape))
    assert np.array_equal(f(0.4, x[0], tau[0], p[0])[0], whole[0][0])
    shared = jax.grad(lambda p: (f(0.4, x, tau, p)[0] ** 2).sum())(p[0])
    repeated = jax.grad(lambda p: (f(0.4, x, tau, p)[0] ** 2).sum())(jnp.tile(p[0], (6, 1)))
    assert np.asarray(shared) == pytest.approx(np.asarray(repeated).sum(0))


def test_steps_are_differentiated_in_a_loop():
    """The end of a rollout by its start, against differences."""
    model, f, given = case("tree", rows=1)
    x = jnp.asarray(given["x"][0])

    def step(x, _):
        a = f(0.0, x)
        return x + 1e-2 * f(0.0, x + 5e-3 * a), None

    def end(x):
        return jax.lax.scan(step, x, None, length=10)[0]

    assert f.results["der_x"] == model.numbering.n_states
    check_grads(jax.jit(end), (x,), order=1, eps=1e-6, atol=1e-6, rtol=1e-6)


def test_default_arguments():
    model = lw.compile(four_bar().mechanism)
    f = function(model, parameters=["coupler.mass"])
    state = model.assemble(q={"A": 0.4}, u={"A": 2.0})
    x = np.concatenate([state.q, state.u])
    assert np.array_equal(f(0.0, x), model.derivatives(state))
    assert f.arguments["p"] == ("coupler.mass",)
    assert repr(f) == "Function((t[1], x[6], tau[4], p[1]) -> (der_x[6]))"
    assert f(0.0, jnp.zeros((0, 6))).shape == (0, 6)


def test_copies():
    _, f, given = case("motor")
    for other in (copy.deepcopy(f), pickle.loads(pickle.dumps(f))):
        for one, same in zip(f(*arrays(given)), other(*arrays(given)), strict=True):
            assert np.array_equal(one, same)


# ---- errors ----


def x_of_rows(f, rows=3):
    return jnp.tile(jnp.asarray(f._rows.defaults["x"]), (rows, 1))


def of_32_bits(f):
    with jax.enable_x64(False):
        return f(0.0, np.zeros(6))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda f: f(0.0, x_of_rows(f).at[2, 0].add(0.5)), "row 2: the loop closed by joint 'D' is open by"),
        (lambda f: jax.vmap(lambda x: f(0.0, x))(x_of_rows(f).at[1, 4].set(np.nan)), "row 1: B.u is not finite"),
        (lambda f: jax.hessian(lambda x: f(0.0, x).sum())(x_of_rows(f)), "there are no second derivatives"),
        (lambda f: jax.jit(jax.hessian(lambda x: f(0.0, x).sum()))(x_of_rows(f)), "there are no second derivatives"),
        (lambda f: f(0.0, x_of_rows(f).astype(jnp.float32)), "x has numbers of type float32; give jnp.float64"),
        (of_32_bits, "call jax.config.update('jax_enable_x64', True) before the first array is made"),
        (lambda f: f(0.0, x_of_rows(f)[:, :5]), "x has shape (3, 5); its last dimension must be 6"),
        (
            lambda f: f(jnp.zeros(2), x_of_rows(f)),
            "the leading dimensions of t (2,), x (3,), tau (), p () do not agree",
        ),
        (lambda f: function(f._rows._model, output="A.q"), "function has no argument 'output'"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises((lw.LinkworkError, TypeError, jax.errors.JaxRuntimeError)) as error:
        jax.block_until_ready(call(function(lw.compile(four_bar().mechanism))))
    assert message in str(error.value)
