"""Mechanisms, models, results and errors pass between processes and through copies."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import linkwork as lw


def slider_crank() -> lw.Mechanism:
    mech = lw.Mechanism("slider_crank")
    for name, length, x in (("crank", 0.1, 0.0), ("rod", 0.3, 0.1)):
        mech.add_body(name, 0.7, com=(length / 2, 0, 0), inertia=lw.inertia.rod(0.7, length), origin=(x, 0, 0))
    mech.add_body("piston", 0.5, com=(0, 0, 0), inertia=lw.inertia.sphere(0.5, 0.03), origin=(0.4, 0, 0))
    for name, ends, x in (("A", ("ground", "crank"), 0.0), ("B", ("crank", "rod"), 0.1), ("C", ("rod", "piston"), 0.4)):
        mech.add_joint(name, lw.Revolute("y"), *ends, at=(x, 0, 0))
    mech.add_joint("S", lw.Prismatic("x"), "ground", "piston", at=(0.4, 0, 0))
    mech.start(q={"A": -0.8}, u={"A": 3.0})
    return mech


def _unfinished():
    try:
        lw.simulate(slider_crank(), 1.0, max_steps=5)
    except lw.SolverError as error:
        return error
    raise AssertionError


def _unreachable():
    try:
        lw.inverse_kinematics(slider_crank(), {"S.q": 5.0}, unreachable="raise")
    except lw.LinkworkError as error:
        return error
    raise AssertionError


MADE = {
    "mechanism": slider_crank,
    "model": lambda: lw.compile(slider_crank()),
    "state": lambda: lw.compile(slider_crank()).assemble(),
    "result": lambda: lw.simulate(slider_crank(), 0.1),
    "study": lambda: lw.study(slider_crank(), 0.05, {"crank.mass": [1.0, 2.0]}, columns="A.q", workers=1),
    "kinematics": lambda: lw.kinematics(slider_crank(), "A.q", -0.8, 0.5, rows=5),
    "assembly modes": lambda: lw.assembly_modes(slider_crank(), {"A": -0.8}, starts=5),
    "equilibrium": lambda: lw.equilibrium(slider_crank()),
    "equilibria": lambda: lw.equilibria(slider_crank(), starts=4),
    "inverse kinematics": lambda: lw.inverse_kinematics(slider_crank(), {"S.q": -0.05}),
    "path": lambda: lw.inverse_kinematics(slider_crank(), {"S.q": np.linspace(-0.05, -0.08, 4)}),
    "motor loads": lambda: lw.inverse_dynamics(slider_crank(), lw.simulate(slider_crank(), 0.1), motors=["A"]),
    "linear model": lambda: lw.linearize(slider_crank(), inputs=["A.tau"]),
    "motor Jacobian": lambda: lw.motor_jacobian(slider_crank(), of="S.q", by=["A"]),
    "redundant constraints": lambda: lw.redundant_constraints(slider_crank()),
    "base parameters": lambda: lw.base_parameters(slider_crank()),
    "failed run": _unfinished,
    "failed search": _unreachable,
}
COPIES = {"pickle": lambda one: pickle.loads(pickle.dumps(one)), "deepcopy": copy.deepcopy}


@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
def test_copies_are_equal(make):
    one = make()
    for act in COPIES.values():
        twin = act(one)
        assert type(twin) is type(one)
        assert repr(twin) == repr(one)
        for name in ("q", "u", "loads", "matrix"):
            if isinstance(getattr(one, name, None), np.ndarray):
                assert np.array_equal(getattr(twin, name), getattr(one, name))


@pytest.mark.parametrize("act", COPIES.values(), ids=COPIES)
def test_a_copy_of_a_search_has_its_poses_and_works_on_its_own(act):
    found = lw.inverse_kinematics(slider_crank(), {"S.q": np.linspace(-0.05, -0.08, 4)})
    twin = act(found)
    last = twin.state["A.q"]
    for one, other in zip(found.states, twin.states, strict=True):
        assert np.array_equal(one.q, other.q)
    assert found.state["A.q"] == last == twin.state["A.q"]


@pytest.mark.parametrize("act", COPIES.values(), ids=COPIES)
def test_a_failed_run_keeps_what_it_had(act):
    error = _unfinished()
    twin = act(error)
    assert str(twin) == str(error)
    assert np.array_equal(twin.result["A.q"], error.result["A.q"])
