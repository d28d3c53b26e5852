"""Algebraic loops, against their solutions in closed form."""

import numpy as np
import pytest
from scipy.optimize import brentq

import linkwork as lw
from linkwork.cosim import Jacobi, System, run
from linkwork.errors import CosimError
from support.python_fmus import python_fmu

MASS, SPRING = 2.0, 18.0
REAL = {"u": ("Real", "input", 0.0), "k": ("Real", "parameter", 1.0), "b": ("Real", "parameter", 0.0)}


@pytest.fixture(scope="module")
def linear(tmp_path_factory, needs):
    """y = k u + b, at once."""
    needs("fmpy"), needs("pythonfmu")
    variables = {**REAL, "y": ("Real", "output", 0.0)}
    return python_fmu(tmp_path_factory.mktemp("linear"), "Linear", variables, getters={"y": "self.k * self.u + self.b"})


@pytest.fixture(scope="module", params=["2.0", "3.0"])
def plant(request, tmp_path_factory, needs):
    """A mass on a spring whose acceleration depends on the force at once."""
    needs("fmpy")
    mech = lw.Mechanism("plant", gravity=(0, 0, 0))
    mech.add_body("b", mass=MASS, com=(0, 0, 0), inertia=lw.inertia.sphere(MASS, 0.1))
    mech.add_joint("x", lw.Prismatic(axis=(1, 0, 0)), "ground", "b", at=(0, 0, 0))
    mech.add_force(lw.SpringDamper("x", stiffness=SPRING))
    mech.start(q={"x": 1.0})
    folder = tmp_path_factory.mktemp("plant")
    return lw.export_fmu(mech, folder / "plant.fmu", fmi=request.param, outputs=["x.q", "x.u", "x.a"])


def circle(linear, gains, offsets):
    system = System("circle")
    n = len(gains)
    for i, (k, b) in enumerate(zip(gains, offsets, strict=True)):
        system.add(f"g{i}", linear, parameters={"k": k, "b": b})
    for i in range(n):
        system.connect(f"g{i}.y", f"g{(i + 1) % n}.u")
    return system


@pytest.mark.parametrize("gains", [(0.5, -0.4), (3.0, -2.0), (5.0, 4.0, -3.0), (-10.0, 1.0, 10.0, 1.0)])
def test_linear_circle(linear, gains):
    """Also with gains at which the plain iteration runs away."""
    offsets = np.arange(1.0, len(gains) + 1)
    n = len(gains)
    matrix = np.eye(n) - np.diag(gains) @ np.roll(np.eye(n), -1, axis=1)
    result = run(circle(linear, gains, offsets), 0.2, master=Jacobi(0.1))
    found = np.column_stack([result[f"g{i}.y"] for i in range(n)])
    np.testing.assert_allclose(found, np.tile(np.linalg.solve(matrix, offsets), (3, 1)), rtol=1e-9)


def test_matrix_is_kept(linear):
    """Once it has converged, each communication point takes an evaluation or two."""
    system = circle(linear, (3.0, -2.0), (1.0, 1.0))
    few, many = (run(system, 0.1 * n, master=Jacobi(0.1)).statistics.iterations for n in (10, 110))
    assert many - few <= 200


@pytest.mark.parametrize("added", [0.5, 6.0])
def test_added_mass(plant, added):
    """A force -m a makes the mass heavier by m, also where m is the larger; by directional derivatives."""
    system = System("added")
    system.add("plant", plant)
    system.connect("plant.x.a", "plant.x.tau", factor=-added, convert_units=False)
    result = run(system, 0.5, master=Jacobi(0.005, 1), tolerance=1e-10)
    np.testing.assert_allclose(
        result["plant.x.a"], -SPRING * result["plant.x.q"] / (MASS + added), rtol=1e-8, atol=1e-8
    )
    if added < MASS:  # beyond, the coupling itself is unstable, however its loop is solved
        exact = np.cos(np.sqrt(SPRING / (MASS + added)) * result.t)
        np.testing.assert_allclose(result["plant.x.q"], exact, atol=1e-3)


def test_directional_derivatives_take_fewer_evaluations(plant, monkeypatch):
    from linkwork.cosim.network import algebraic_loops as loops

    system = System("added")
    system.add("plant", plant)
    system.connect("plant.x.a", "plant.x.tau", factor=-6.0, convert_units=False)
    asked = []
    own = loops.Loop._by_directions
    monkeypatch.setattr(loops.Loop, "_by_directions", lambda self: asked.append(1) or own(self))
    by_directions = run(system, 0.01, master=Jacobi(0.005)).statistics.iterations
    assert asked
    monkeypatch.setattr(loops.Loop, "_by_directions", lambda self: (_ for _ in ()).throw(loops.FmuError("no")))
    assert run(system, 0.01, master=Jacobi(0.005)).statistics.iterations > by_directions


def test_false_loop(tmp_path, needs):
    """Outputs that depend on nothing, but do not declare it: the plain iteration ends."""
    needs("pythonfmu")
    variables = {"u1": ("Real", "input", 0.0), "u2": ("Real", "input", 0.0)}
    variables |= {"y1": ("Real", "output", 0.0), "y2": ("Real", "output", 0.0)}
    fmu = python_fmu(tmp_path, "Crossed", variables, getters={"y1": "7.0", "y2": "2.0 * self.u1"})
    system = System("false")
    system.add("a", fmu), system.add("b", fmu)
    system.connect("a.y1", "b.u1"), system.connect("b.y2", "a.u2"), system.connect("a.y2", "b.u2")
    system.connect("b.y1", "a.u1")
    result = run(system, 0.2, master=Jacobi(0.1))
    np.testing.assert_array_equal(result["a.y2"], 14.0)
    np.testing.assert_array_equal(result["a.u2"], 14.0)


def test_nonlinear_loop_with_feedthrough_of_a_function(tmp_path, linear, needs):
    """u = -3 tanh(u) - u/2 + 4 by two FMUs."""
    needs("pythonfmu")
    variables = {"u": ("Real", "input", 0.0), "y": ("Real", "output", 0.0)}
    fmu = python_fmu(tmp_path, "Bent", variables, getters={"y": "3.0 * __import__('math').tanh(self.u) + self.u / 2"})
    system = System("bent")
    system.add("f", fmu), system.add("g", linear, parameters={"k": -1.0, "b": 4.0})
    system.connect("f.y", "g.u"), system.connect("g.y", "f.u")
    result = run(system, 0.1, master=Jacobi(0.1))
    exact = brentq(lambda u: 4.0 - 3.0 * np.tanh(u) - u / 2 - u, -10, 10)
    np.testing.assert_allclose(result["f.u"], exact, rtol=1e-9)


def test_loop_without_solution(linear):
    """u = u + 1."""
    with pytest.raises(CosimError, match=r"g0\.u, g1\.u is not solved at t = 0 s; its residual is .*gains and signs"):
        run(circle(linear, (1.0, 1.0), (1.0, 0.0)), 0.1, master=Jacobi(0.1))


def test_integers_on_a_loop(tmp_path, needs):
    """They converge by plain iteration, or the error names them."""
    needs("pythonfmu")
    variables = {"u": ("Integer", "input", 0), "b": ("Integer", "parameter", 5), "y": ("Integer", "output", 0)}
    settles = python_fmu(tmp_path, "Settles", variables, getters={"y": "min(self.u + 1, self.b)"})
    flips = python_fmu(tmp_path, "Flips", variables, getters={"y": "1 - self.u"})
    system = System("whole")
    system.add("a", settles), system.connect("a.y", "a.u")
    assert run(system, 0.1, master=Jacobi(0.1))["a.y"].tolist() == [5, 5]
    system = System("flips")
    system.add("a", flips), system.connect("a.y", "a.u")
    with pytest.raises(CosimError, match=r"a\.u is not solved.*do not converge"):
        run(system, 0.1, master=Jacobi(0.1))
