"""Formulas of forces that read points of interest and measures: values, derivatives, loops, files and messages."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import MechanismNameError


def double_pendulum(law: bool = True) -> lw.Mechanism:
    mech = lw.Mechanism("double pendulum")
    for body, joint, parent, x, mass in (("rod", "A", "ground", 0.0, 1.0), ("end", "B", "rod", 1.0, 0.5)):
        mech.add_body(body, mass=mass, com=(0.5, 0, 0), inertia=lw.inertia.rod(mass, 1.0), origin=(x, 0, 0))
        mech.add_joint(joint, lw.Revolute("y"), parent, body, at=(x, 0, 0))
    mech.add_point("tip", "end", (0.9, 0, 0.1), axis=(1, 0, 0))
    mech.add_point("base", "ground", (0.2, 0, 1.0), axis=(0, 0, 1))
    mech.add_measure("span", "distance", ("tip", "base"))
    mech.add_measure("lean", "angle", ("tip", "base"))
    if law:
        more = {"k": 30.0, "d": 1.0, "s": 5.0, "l0": (1.0, "m"), "r": 2.0, "c": 0.7}
        text = "-k*tip.r[3] - d*tip.v[3] + s*(span.length - l0) - r*span.rate - c*tip.e[1]*lean.angle*lean.rate"
        mech.add_force(lw.Force("A", text, parameters=more, name="law"))
    return mech


Q, U = [0.3, -0.7], [1.2, 0.4]


def by_hand(model: lw.Model, q: list[float] = Q, u: list[float] = U) -> float:
    def of(name: str) -> float:
        return float(model.value(name, q, u))

    springs = -30.0 * of("tip.r[3]") - of("tip.v[3]") + 5.0 * (of("span.length") - 1.0)
    return springs - 2.0 * of("span.rate") - 0.7 * of("tip.e[1]") * of("lean.angle") * of("lean.rate")


def test_values_are_those_of_the_variables():
    model = lw.compile(double_pendulum())
    assert model.value("law.force", Q, U) == pytest.approx(by_hand(model), rel=1e-13)
    free = lw.compile(double_pendulum(law=False))
    expected = free.accelerations(Q, U, tau={"A": by_hand(free)})
    assert model.accelerations(Q, U) == pytest.approx(expected, rel=1e-12)


def test_a_spring_to_a_point_is_the_spring_between_points():
    mech, other = double_pendulum(law=False), double_pendulum(law=False)
    pull = {"k": 40.0, "l0": (0.5, "m")}
    each = [f"k*(span.length - l0)/span.length*(base.r[{i}] - tip.r[{i}])" for i in (1, 2, 3)]
    mech.add_force(lw.Force(body="end", point=(0.9, 0, 0.1), force=each, parameters=pull, name="pull"))
    ends = ((0.9, 0, 0.1), (0.2, 0, 1.0))
    other.add_force(lw.SpringDamper(bodies=("end", "ground"), points=ends, stiffness=40.0, free=0.5))
    expected = lw.compile(other).accelerations(Q, U)
    assert lw.compile(mech).accelerations(Q, U) == pytest.approx(expected, rel=1e-12)


def test_derivatives_are_exact():
    model = lw.compile(double_pendulum())
    h = 1e-6
    mech = double_pendulum()
    mech.start(q={"A": Q[0], "B": Q[1]}, u={"A": U[0], "B": U[1]})
    matrix = np.asarray(lw.linearize(mech, minimal=False).A) if False else np.asarray(lw.linearize(mech).A)
    for k in range(4):
        ends = []
        for sign in (1.0, -1.0):
            y = np.array([*Q, *U])
            y[k] += sign * h
            ends.append(model.accelerations(list(y[:2]), list(y[2:])))
        assert matrix[2:, k] == pytest.approx((ends[0] - ends[1]) / (2.0 * h), rel=1e-6, abs=1e-6)


def test_files_keep_them():
    mech = double_pendulum()
    again = lw.Mechanism.from_dict(mech.to_dict())
    assert lw.compile(again).value("law.force", Q, U) == lw.compile(mech).value("law.force", Q, U)


def test_what_follows_from_loads_is_refused():
    mech = double_pendulum()
    mech.add_state("lag", "w*(A.q - lag)", unit="rad", parameters={"w": 2.0})
    for text in ("m*tip.a[3]", "m*der(lag)", "m*A.reaction.f[1]"):
        with pytest.raises(MechanismNameError, match=r"would define itself"):
            mech.add_force(lw.Force("B", text, parameters={"m": 1.0}, name="bad"))


def closed(method: str) -> lw.Model:
    """A four-bar whose crank is loaded by the height of a point of its coupler."""
    mech = lw.Mechanism("four-bar")
    for body, x in (("crank", 0.0), ("coupler", 0.3), ("rocker", 1.0)):
        mech.add_body(body, mass=1.0, com=(0.2, 0, 0), inertia=lw.inertia.rod(1.0, 0.5), origin=(x, 0, 0))
    mech.add_joint("A", lw.Revolute("y"), "ground", "crank", at=(0, 0, 0))
    mech.add_joint("B", lw.Revolute("y"), "crank", "coupler", at=(0.3, 0, 0))
    mech.add_joint("C", lw.Revolute("y"), "coupler", "rocker", at=(0.9, 0, 0.4))
    mech.add_joint("D", lw.Revolute("y"), "rocker", "ground", at=(1.0, 0, 0))
    mech.add_point("eye", "coupler", (0.1, 0.05, 0.02))
    mech.add_force(lw.Force("A", "-k*eye.r[3] - d*eye.v[1]", parameters={"k": 30.0, "d": 2.0}, name="law"))
    mech.start(u={"A": 2.0})
    return lw.compile(mech, method=method)


def test_loops_and_methods_agree():
    state = closed("rcr").assemble()
    expected = closed("rcr").derivatives(state.q, state.u)
    for method in ("embedding", "multipliers", "dca"):
        assert closed(method).derivatives(state.q, state.u) == pytest.approx(expected, rel=1e-9, abs=1e-9), method


@pytest.mark.parametrize("options", [{}, {"solver": "ida"}, {"solver": "ida", "formulation": "ggl"}])
def test_simulations_agree(options):
    expected = lw.simulate(closed("rcr"), 0.5, rtol=1e-10)["A.q"][-1]
    assert lw.simulate(closed("rcr"), 0.5, rtol=1e-8, **options)["A.q"][-1] == pytest.approx(expected, abs=1e-6)


def test_outputs_read_rates_of_states():
    mech = double_pendulum()
    mech.add_state("lag", "w*(A.q - lag)", unit="rad", parameters={"w": 2.0})
    mech.add_output("twice", "2*der(lag) + lag*w", parameters={"w": 3.0})
    model = lw.compile(mech)
    result = lw.simulate(model, 0.2)
    expected = 2.0 * result["der(lag)"] + 3.0 * result["lag"]
    assert result["twice"] == pytest.approx(expected, rel=1e-12, abs=1e-15)
    with pytest.raises(MechanismNameError, match="unknown"):
        mech.add_output("bad", "der(lug)")
