"""Rollouts as functions of PyTorch: states of batches to the bit, gradients of the reverse sweep, errors."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import linkwork as lw
from support.array_functions import CASES, arguments
from support.cases import four_bar

torch = pytest.importorskip("torch")
rollout = pytest.importorskip("linkwork.torch").rollout

STEP, STEPS, EVERY = 1e-3, 9, 4
ROUNDING = 1e-9  # by which derivatives of tapes and of kernels may differ


def case(name, rows=3):
    """The model, the function, and its arguments as tensors, with loads of each step."""
    make, _, parameters = CASES[name]
    model = make()
    given = arguments(model, parameters, rows)
    tau = given["tau"][:, None] * np.linspace(1.0, 2.0, STEPS)[:, None]
    f = rollout(model, STEP, STEPS, model.assemble(time=0.4), every=EVERY, parameters=parameters)
    return model, f, [torch.tensor(one) for one in (given["x"], tau, given["p"])]


def batch_of(model, names, x, tau, p):
    batch = model.batch(len(x), model.assemble(time=0.4))
    batch.columns["states"][:] = x
    first = 0
    for name in names:
        count = model.column(name).count
        batch.put({name: p.numpy()[:, first : first + count]})
        first += count
    return batch


@pytest.mark.parametrize("name", CASES)
def test_states_and_gradients_are_those_of_batches(name):
    model, f, given = case(name)
    names = CASES[name][2]
    states = f(*given)
    run = batch_of(model, names, *given).differentiable_rollout(STEP, STEPS, given[1].numpy(), every=EVERY)
    assert np.array_equal(states.numpy(), run.states)
    weights = torch.tensor(np.random.default_rng(0).normal(size=run.states.shape))
    needed = [one.clone().requires_grad_() for one in given]
    (f(*needed) * weights).sum().backward()
    expected = run.gradient(weights.numpy(), names)
    assert needed[0].grad.numpy() == pytest.approx(expected.start, rel=ROUNDING, abs=ROUNDING)
    assert needed[1].grad.numpy() == pytest.approx(expected.loads, rel=ROUNDING, abs=ROUNDING)
    own = [values.reshape(3, -1) for values in expected.parameters.values()]
    joined = np.concatenate([np.empty((3, 0)), *own], axis=1)
    assert needed[2].grad.numpy() == pytest.approx(joined, rel=ROUNDING, abs=ROUNDING)


@pytest.mark.parametrize("name", CASES)
def test_gradients_are_those_of_differences(name):
    _, f, given = case(name, rows=2)
    given = [one.requires_grad_(one.numel() > 0) for one in given]
    tolerances = {"eps": 1e-6, "atol": 2e-6, "rtol": 1e-6, "nondet_tol": ROUNDING}
    assert torch.autograd.gradcheck(lambda *a: 10.0 * f(*a), given, **tolerances)
    held = [given[0], given[1].detach()[:, :1].requires_grad_(), given[2]]
    assert torch.autograd.gradcheck(lambda *a: 10.0 * f(*a), held, **tolerances)


def test_leading_dimensions_are_a_batch_and_loads_may_hold_throughout():
    _, f, (x, tau, p) = case("four_bar", rows=6)
    whole = f(x, tau, p)
    assert whole.shape == (6, 3, 6)
    parts = f(x.reshape(2, 3, -1), tau.reshape(2, 3, STEPS, -1), p.reshape(2, 3, -1))
    assert torch.equal(whole, parts.reshape(whole.shape))
    assert torch.equal(f(x[0], tau[0], p[0]), whole[0])
    held = tau[:, :1]
    assert f(x, held, p) == pytest.approx(f(x, held.expand(-1, STEPS, -1), p), abs=1e-14)
    shared = p[0].clone().requires_grad_()
    f(x, tau, shared).square().sum().backward()
    repeated = p[:1].repeat(6, 1).requires_grad_()
    f(x, tau, repeated).square().sum().backward()
    assert shared.grad.numpy() == pytest.approx(repeated.grad.sum(0).numpy(), rel=ROUNDING)
    assert f(x[:0], tau[:0], p[:0]).shape == (0, 3, 6)
    nothing = x[:0].clone().requires_grad_()
    f(nothing, tau[:0], p[:0]).sum().backward()
    assert nothing.grad.shape == (0, 6)


def test_function_transforms():
    _, f, (x, tau, p) = case("four_bar", rows=4)
    mapped = torch.func.vmap(f, in_dims=(0, None, 1))(x, tau[0], p.T)
    assert torch.equal(mapped, f(x, tau[0], p))
    matrices = torch.func.vmap(torch.func.jacrev(f), in_dims=(0, None, 0))(x, tau[0], p)
    assert matrices.shape == (4, 3, 6, 6)
    assert torch.equal(matrices[:, 0], torch.eye(6, dtype=torch.float64).expand(4, 6, 6))


def test_rollouts_may_be_chained_with_a_controller():
    """A step at a time with loads that follow from the state: gradients by the gain, compared with differences."""
    model = lw.compile(four_bar().mechanism)
    one = rollout(model, STEP, 1)
    start = model.assemble(q={"A": 0.4}, u={"A": 2.0})
    x = torch.tensor(np.concatenate([start.q, start.u]))

    def last(gain):
        now = x
        for _ in range(10):
            load = torch.cat([-gain * now[3:4], torch.zeros(3, dtype=torch.float64)])
            now = one(now, load[None])[-1]
        return now

    gain = torch.tensor(5.0, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(last, gain, eps=1e-5, atol=1e-7)


def test_default_arguments():
    model = lw.compile(four_bar().mechanism)
    f = rollout(model, STEP, 5, parameters=["coupler.mass"])
    batch = model.batch(1, model.assemble(u={"A": 2.0}))
    x = batch.columns["states"][0].copy()
    assert np.array_equal(f(x).numpy(), batch.rollout(STEP, 5)[0])
    assert f.arguments["tau"] == ("A.tau", "B.tau", "C.tau", "D.tau")
    assert list(f.arguments) == ["x", "tau", "p"]
    assert f.shape == (6, 6)
    assert repr(f) == "Rollouts((x[6], tau[5, 4], p[1]) -> (states[6, 6]))"


def test_copies_and_threads():
    _, f, given = case("motor")
    expected = f(*given)
    for other in (copy.deepcopy(f), pickle.loads(pickle.dumps(f))):
        assert torch.equal(other(*given), expected)
    with ThreadPoolExecutor(4) as pool:
        assert all(torch.equal(one, expected) for one in pool.map(lambda _: f(*given), range(20)))


# ---- errors ----


def x_of(f, rows=3):
    return torch.tensor(f._rollouts._defaults["x"]).repeat(rows, 1)


def opened(f):
    x = x_of(f)
    x[2, 0] += 0.5
    return f(x)


def not_finite(f):
    x = x_of(f, 4)
    x[3, 4] = np.nan
    return f(x.reshape(2, 2, -1))


def loads_not_finite(f):
    tau = torch.zeros(3, 5, 4, dtype=torch.float64)
    tau[1, 3, 2] = np.inf
    return f(x_of(f), tau)


def second_derivatives(f):
    x = x_of(f).requires_grad_()
    (first,) = torch.autograd.grad(f(x).square().sum(), x, create_graph=True)
    return torch.autograd.grad(first.sum(), x)


def latched(f):
    mech = four_bar().mechanism
    mech.add_transition("latch", lw.Lock("A"), when=lw.Command())
    return rollout(lw.compile(mech), STEP, 5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (opened, "row 2: the loop closed by joint 'D' is open by"),
        (not_finite, "row 1, 1: B.u is not finite"),
        (loads_not_finite, "row 1: C.tau is not finite"),
        (second_derivatives, "there are no second derivatives of rollouts; take differences of gradients"),
        (lambda f: torch.func.jacfwd(f)(x_of(f)), "there are no forward derivatives of rollouts"),
        (lambda f: f(x_of(f).float()), "x has numbers of type torch.float32; give torch.float64"),
        (lambda f: f(x_of(f)[:, :5]), "x has shape (3, 5); its last dimension must be 6"),
        (lambda f: f(x_of(f), torch.zeros(3, 4, dtype=torch.float64)), "tau has shape (3, 4); its last dimensions"),
        (
            lambda f: f(x_of(f), torch.zeros(2, 5, 4, dtype=torch.float64)),
            "the leading dimensions of x (3,), tau (2,), p () do not agree",
        ),
        (latched, "steps of fixed size carry out no transitions"),
        (lambda f: rollout(f._rollouts._batch.model, 0.0, 5), "step must be positive"),
        (lambda f: rollout(f._rollouts._batch.model, STEP, 5, parameters="A.q"), "parameters: 'A.q' is none"),
        (lambda f: rollout(f._rollouts._batch.model, STEP, 5, outputs="A.q"), "rollout has no argument 'outputs'"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises((lw.LinkworkError, TypeError)) as error:
        call(rollout(lw.compile(four_bar().mechanism), STEP, 5))
    assert message in str(error.value)
