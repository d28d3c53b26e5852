"""Models as functions of PyTorch: values of the core to the bit, gradients of the core, batches, errors."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import linkwork as lw
from support.array_functions import CASES, arguments, of_the_core
from support.cases import four_bar

torch = pytest.importorskip("torch")
function = pytest.importorskip("linkwork.torch").function


def case(name, rows=3):
    """The model, the function, and its arguments as tensors."""
    make, outputs, parameters = CASES[name]
    model = make()
    given = arguments(model, parameters, rows)
    return model, function(model, outputs=outputs, parameters=parameters), given


def tensors(given, needed=()):
    return [torch.tensor(array, requires_grad=name in needed) for name, array in given.items()]


def all_results(f, *given):
    """In one tensor."""
    found = f(*given)
    if not isinstance(found, tuple):
        return found
    return torch.cat([one if one.ndim == found[0].ndim else one[..., None] for one in found], -1)


@pytest.mark.parametrize("name", CASES)
def test_values_are_those_of_the_core_to_the_bit(name):
    model, f, given = case(name)
    _, outputs, parameters = CASES[name]
    found = f(*tensors(given))
    rates, *others = found if outputs else [found]
    assert len(others) == len(outputs)
    for row in range(len(rates)):
        own, state, tau = of_the_core(model, parameters, given, row)
        assert np.array_equal(rates[row].numpy(), own.derivatives(state, tau=tau))
        for output, values in zip(outputs, others, strict=True):
            assert np.array_equal(values[row].numpy(), own.value(output, state, tau=tau))


@pytest.mark.parametrize("name", CASES)
def test_gradients_are_those_of_the_core(name):
    model, f, given = case(name)
    t, x, tau, p = tensors(given)
    matrices = torch.func.vmap(torch.func.jacrev(lambda *a: all_results(f, *a), argnums=1))(t, x, tau, p)
    n = model.numbering.n_states
    for row in range(len(x)):
        own, state, loads = of_the_core(model, CASES[name][2], given, row)
        expected = own.jacobian(state, tau=loads)
        assert np.abs(matrices[row, :n].numpy() - expected).max() < 1e-11 * np.abs(expected).max()


@pytest.mark.parametrize("name", CASES)
def test_gradients_are_those_of_differences(name):
    _, f, given = case(name, rows=2)
    needed = [name for name, array in given.items() if array.size]
    assert torch.autograd.gradcheck(lambda *a: f(*a), tensors(given, needed), eps=1e-6, atol=2e-6, rtol=1e-6)
    assert torch.autograd.gradcheck(
        lambda *a: f(*a),
        tensors(given, needed),
        eps=1e-6,
        atol=2e-6,
        rtol=1e-6,
        check_backward_ad=False,
        check_forward_ad=True,
    )


def test_leading_dimensions_are_a_batch():
    _, f, given = case("four_bar", rows=6)
    t, x, tau, p = tensors(given, ["p"])
    whole = f(t, x, tau, p)
    parts = f(t.reshape(2, 3), x.reshape(2, 3, -1), tau.reshape(2, 3, -1), p.reshape(2, 3, -1))
    for one, other in zip(whole, parts, strict=True):
        assert torch.equal(one, other.reshape(one.shape))
    assert torch.equal(f(0.4, x[0], tau[0], p[0])[0], whole[0][0])
    shared = p.detach()[0].requires_grad_()
    f(0.4, x, tau, shared)[0].square().sum().backward()
    repeated = shared.detach().expand(6, -1).clone().requires_grad_()
    f(0.4, x, tau, repeated)[0].square().sum().backward()
    assert shared.grad == pytest.approx(repeated.grad.sum(0))


def test_function_transforms():
    _, f, given = case("four_bar", rows=4)
    t, x, tau, p = tensors(given)
    mapped = torch.func.vmap(lambda *a: f(*a)[0], in_dims=(0, 0, None, 1))(t, x, tau[0], p.T)
    assert torch.equal(mapped, f(t, x, tau[0], p)[0])
    forward, reverse = (
        torch.func.vmap(of(lambda x, p: f(0.4, x, tau[0], p)[0], argnums=(0, 1)))(x, p)
        for of in (torch.func.jacfwd, torch.func.jacrev)
    )
    for one, other in zip(forward, reverse, strict=True):
        assert one.numpy() == pytest.approx(other.numpy(), abs=1e-12)


def test_default_arguments():
    model = lw.compile(four_bar().mechanism)
    f = function(model, parameters=["coupler.mass"])
    state = model.assemble(q={"A": 0.4}, u={"A": 2.0})
    x = np.concatenate([state.q, state.u])
    assert np.array_equal(f(0.0, x).numpy(), model.derivatives(state))
    assert f.arguments["tau"] == ("A.tau", "B.tau", "C.tau", "D.tau")
    assert f.arguments["p"] == ("coupler.mass",)
    assert f.results == {"der_x": 6}
    assert repr(f) == "Function((t[1], x[6], tau[4], p[1]) -> (der_x[6]))"
    assert f(0.0, torch.zeros(0, 6, dtype=torch.float64)).shape == (0, 6)


def test_copies():
    _, f, given = case("motor")
    for other in (copy.deepcopy(f), pickle.loads(pickle.dumps(f))):
        assert torch.equal(all_results(other, *tensors(given)), all_results(f, *tensors(given)))


def test_several_threads_may_call():
    _, f, given = case("four_bar", rows=300)
    given = tensors(given)
    expected = all_results(f, *given)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: all_results(f, *given), range(20)))
    assert all(torch.equal(one, expected) for one in found)


def test_a_wrong_row_does_not_disturb_later_calls():
    _, f, given = case("four_bar")
    t, x, tau, p = tensors(given)
    before = f(t, x, tau, p)[0]
    wrong = p.clone()
    wrong[1, 0] = -1.0
    with pytest.raises(lw.MechanismError, match="row 1: the mass of body 'coupler' is negative"):
        f(t, x, tau, wrong)
    assert torch.equal(f(t, x, tau, p)[0], before)


# ---- errors ----


def x_of_rows(f, rows=3):
    return torch.tensor(f._rows.defaults["x"]).repeat(rows, 1)


def opened(f):
    x = x_of_rows(f)
    x[2, 0] += 0.5
    return f(0.0, x)


def not_finite(f):
    x = x_of_rows(f, 4)
    x[3, 4] = np.nan
    return f(0.0, x.reshape(2, 2, -1))


def second_derivatives(f):
    x = x_of_rows(f).requires_grad_()
    (first,) = torch.autograd.grad(f(0.0, x).square().sum(), x, create_graph=True)
    return torch.autograd.grad(first.sum(), x)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (opened, "row 2: the loop closed by joint 'D' is open by"),
        (not_finite, "row 1, 1: B.u is not finite"),
        (second_derivatives, "there are no second derivatives of this function; linkwork.casadi.function has them"),
        (lambda f: torch.func.hessian(lambda x: f(0.0, x).sum())(x_of_rows(f)), "there are no second derivatives"),
        (lambda f: f(0.0, x_of_rows(f).float()), "x has numbers of type torch.float32; give torch.float64"),
        (lambda f: f(0.0, x_of_rows(f).to("meta")), "x is on device meta; give it on the CPU"),
        (lambda f: f(0.0, x_of_rows(f)[:, :5]), "x has shape (3, 5); its last dimension must be 6"),
        (lambda f: f([0.0, 1.0], x_of_rows(f)), "the leading dimensions of t (2,), x (3,), tau (), p () do not agree"),
        (lambda f: function(f._rows._model, outputs="crank.rr"), "there is no variable 'crank.rr'"),
        (lambda f: function(f._rows._model, outputs=["crank.r"] * 2), "outputs: 'crank.r' is named twice"),
        (lambda f: function(f._rows._model, parameters="A.q"), "parameters: 'A.q' is none"),
        (lambda f: function(f._rows._model, output="A.q"), "function has no argument 'output'"),
        (lambda f: function(f._rows._model, threads=-1), "threads must be a whole number"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises((lw.LinkworkError, TypeError)) as error:
        call(function(lw.compile(four_bar().mechanism)))
    assert message in str(error.value)


def test_there_are_no_derivatives_by_the_time_of_inputs_of_motions_with_rates():
    mech = four_bar().mechanism
    mech.prescribe("A", lw.Motion((0.3, 1.0)))
    model = lw.compile(mech)
    for rate in (0.0, 2.0):
        state = model.assemble(motion={"A_drive": (0.1, rate, 0.0)})
        f = function(model, state)
        t = torch.zeros((), dtype=torch.float64, requires_grad=True)
        found = f(t, np.concatenate([state.q, state.u]))
        assert np.array_equal(found.detach().numpy(), model.derivatives(state))
        if rate:
            with pytest.raises(lw.MechanismError, match="where inputs of motions have rates"):
                found.sum().backward()
        else:
            found.sum().backward()
