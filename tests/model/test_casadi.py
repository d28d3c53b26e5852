"""Models as functions of CasADi: values and derivatives of the core, second derivatives by differences, C code."""

import subprocess

import numpy as np
import pytest

import linkwork as lw
from support.array_functions import driven
from support.cases import four_bar
from support.checkout import beside
from support.random_mechanisms import FAMILIES, random_tree, tree_or_loop, well_posed
from support.zoo import zoo

casadi = pytest.importorskip("casadi")
function = pytest.importorskip("linkwork.casadi").function


def at_start(model, seed=0):
    """Coordinates, speeds and loads of the tree joints."""
    rng = np.random.default_rng(seed)
    return np.asarray(model.assemble().q), rng.normal(size=model.sizes.nu), rng.normal(size=model.sizes.nu)


def arguments(model, q, u, tau):
    loads = np.zeros(model.numbering.n_loads)
    loads[: len(tau)] = tau
    return 0.0, np.concatenate([q, u]), loads


def difference(found, expected):
    numbers = found.full().reshape(expected.shape) if isinstance(found, casadi.DM) else np.asarray(found)
    return np.abs(numbers - expected).max() / np.abs(expected).max()


@pytest.mark.parametrize("name", [*list(FAMILIES)[::3], "tree1"])
def test_values_and_jacobians_are_those_of_the_core(name):
    model = lw.compile(tree_or_loop(name).mechanism)
    q, u, tau = at_start(model)
    f = function(model, outputs=["energy.kinetic", "energy.potential"])
    given = *arguments(model, q, u, tau), []
    rates, kinetic, potential, _ = f(*given)
    expected = model.derivatives(q, u, tau=tau)
    elements = expected.size - q.size - u.size
    assert elements == 0
    assert difference(rates, expected) < 1e-12
    energy = model.energy(q, u)
    assert float(kinetic) == pytest.approx(energy.kinetic, rel=1e-12)
    assert float(potential) == pytest.approx(energy.potential, rel=1e-12, abs=1e-12)
    jacobian = f.factory("J", f.name_in(), ["jac:der_x:x"])
    assert difference(jacobian(*given), model.jacobian(q, u, tau=tau)) < 1e-11


def test_results_with_names_that_are_alike():
    mech = lw.Mechanism("two")
    for name in ("a-b", "a_b"):
        mech.add_body(name, mass=1.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(1.0, 1.0))
        mech.add_joint(f"j {name}", lw.Revolute((0, 1, 0)), "ground", name, at=(0, 0, 0))
    f = function(lw.compile(mech), outputs=["a-b.r", "a_b.r"])
    assert f.name_out() == ["der_x", "a_b_r", "a_b_r_2", "failed_guards"]


def test_a_robot():
    model = lw.compile(lw.load(beside("models/as_mechanisms/robotiq_2f85.json")))
    q, u, tau = at_start(model)
    f = function(model)
    assert difference(f(*arguments(model, q, u, tau), [])[0], model.derivatives(q, u, tau=tau)) < 1e-11


def test_second_derivatives_against_differences():
    model = lw.compile(four_bar().mechanism)
    q, u, tau = at_start(model)
    f = function(model)
    x, rest = casadi.SX.sym("x", q.size + u.size), arguments(model, q, u, tau)
    sums = casadi.sum1(f(0.0, x, rest[2], [])[0])
    gradient = casadi.Function("g", [x], [casadi.gradient(sums, x)])
    hessian = (casadi.Function("h", [x], [casadi.hessian(sums, x)[0]])(rest[1])).full()
    step = 1e-6
    rows = [
        (gradient(rest[1] + step * e) - gradient(rest[1] - step * e)).full().ravel() / (2 * step)
        for e in np.eye(len(rest[1]))
    ]
    assert difference(rows, hessian) < 1e-7


def test_parameters_are_arguments():
    model = lw.compile(random_tree(np.random.default_rng(3), 4, springs=2).mechanism)
    q, u, tau = at_start(model)
    body = list(model.mechanism.bodies)[1]
    names = [f"{body}.mass", f"{body}.com"]
    f = function(model, parameters=names)
    assert f.size1_in("p") == 4
    values = np.array([2.5, 0.1, -0.2, 0.3])
    other = model.with_parameters({names[0]: values[0], names[1]: values[1:]})
    given = arguments(model, q, u, tau)
    assert difference(f(*given, values)[0], other.derivatives(q, u, tau=tau)) < 1e-12
    slope = f.factory("J", f.name_in(), ["jac:der_x:p"])(*given, values).full()
    step = 1e-6
    for k, along in enumerate(np.eye(4)):
        high, low = (f(*given, values + sign * step * along)[0].full().ravel() for sign in (1, -1))
        assert slope[:, k] == pytest.approx((high - low) / (2 * step), abs=1e-6 * np.abs(slope).max())


def test_time_moves_prescribed_motions():
    model = lw.compile(driven())
    f = function(model)
    for time in (0.0, 0.4):
        state = model.assemble(time=time)
        rates = f(time, np.concatenate([state.q, state.u]), np.zeros(model.numbering.n_loads), [])[0]
        assert difference(rates, model.derivatives(state)) < 1e-12


def test_other_decisions_are_counted():
    mech = lw.Mechanism("stop")
    mech.add_body("block", mass=1.0, com=(0, 0, 0), inertia=lw.inertia.sphere(1.0, 0.1))
    mech.add_joint("S", lw.Prismatic((1, 0, 0)), "ground", "block", at=(0, 0, 0))
    mech.add_force(lw.Force("S", "-k*max(q - gap, 0)", parameters={"k": 100.0, "gap": 0.1}))
    model = lw.compile(mech)
    f = function(model)
    failed = [float(f(0, [q, 0.0], np.zeros(model.numbering.n_loads), [])[1]) for q in (0.0, 0.5)]
    assert failed[0] == 0.0
    rates = f(0, [0.5, 0.0], np.zeros(model.numbering.n_loads), [])[0]
    right = model.derivatives([0.5], [0.0])
    assert failed[1] > 0.0 or difference(rates, right) < 1e-12


def test_it_writes_c(tmp_path, monkeypatch):
    model = lw.compile(well_posed(FAMILIES["slider_crank"][0], 0).mechanism)
    q, u, tau = at_start(model)
    f = function(model)
    monkeypatch.chdir(tmp_path)
    f.generate("f.c", {"with_header": False})
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", "f.so", "f.c", "-lm"], check=True)
    compiled = casadi.external("mechanism", str(tmp_path / "f.so"))
    given = *arguments(model, q, u, tau), []
    assert difference(compiled(*given)[0], f(*given)[0].full().ravel()) < 1e-12


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: function(lw.compile(zoo())), "friction decides before each evaluation whether it sticks"),
        (lambda: function(lw.compile(four_bar().mechanism, "dca")), "divide and conquer"),
        (lambda: function(lw.compile(four_bar().mechanism), outputs="crank.rr"), "there is no variable 'crank.rr'"),
        (lambda: function(lw.compile(four_bar().mechanism), parameters="A.q"), "give parameters"),
        (lambda: function(lw.compile(four_bar().mechanism), output="A.q"), "function has no argument 'output'"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises((lw.MechanismError, TypeError)) as error:
        call()
    assert message in str(error.value)
