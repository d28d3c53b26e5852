"""Kinks of formulas and knots of tables: located like events, so that no step passes a narrow feature unseen."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.errors import SolverError

SOLVERS = ("auto", "dopri5", "rodas5p", "ida", "DOP853", "Radau", "BDF", "LSODA")
SPEED, WIDTH, PLACE, SLOPE = 10.0, 5e-4, 1.0, 4e7  # m/s, m, m, N/m


def slider(formula: str, u: float = SPEED, **more: Any) -> lw.Mechanism:
    """A mass of 1 kg that slides freely but for a force."""
    mech = lw.Mechanism("slider", gravity=(0, 0, 0))
    mech.add_body("block", mass=1.0, com=(0, 0, 0), inertia=np.eye(3))
    mech.add_joint("slide", lw.Prismatic("x"), "ground", "block", at=(0, 0, 0))
    mech.add_force(lw.Force("slide", formula, name="bump", **more))
    mech.start(u={"slide": u})
    return mech


def bump_table(interpolation: str, rows: int = 0) -> lw.LookupTable:
    """A force that is zero but near one place; so many rows more where it is zero."""
    x = [-10.0, *np.linspace(-9.0, 0.9, rows), PLACE - WIDTH, PLACE, PLACE + WIDTH, 30.0]
    return lw.LookupTable(x, [0.0] * (1 + rows) + [0.0, SLOPE * WIDTH, 0.0, 0.0], interpolation=interpolation)


WORK = SLOPE * WIDTH**2  # of the triangle; the cubics have the same area, each being symmetric about its middle
AFTER = np.sqrt(SPEED**2 + 2.0 * WORK)
TRIANGLE: dict[str, Any] = {"parameters": {"k": (SLOPE, "N/m"), "w": (WIDTH, "m"), "c": (PLACE, "m")}}
BUMPS: dict[str, tuple[str, dict[str, Any]]] = {
    "abs, max": ("k*max(0, w - abs(q - c))", TRIANGLE),
    "if": ("if(q < c - w, 0*k*w, if(q > c + w, 0*k*w, 0.5*k*w))", TRIANGLE),
    "linear": ("f(q)", {"tables": {"f": bump_table("linear")}}),
    "monotone": ("f(q)", {"tables": {"f": bump_table("monotone")}}),
    "long": ("f(q)", {"tables": {"f": bump_table("linear", 1000)}}),
    "time": ("if(time < t0, 0*F, if(time > t0 + d, 0*F, F))", {"parameters": {"t0": 0.2, "d": 1e-5, "F": 1e4}}),
}


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("name", BUMPS)
def test_nothing_is_stepped_over(solver, name):
    formula, more = BUMPS[name]
    after = SPEED + 0.1 if name == "time" else AFTER
    result = lw.simulate(slider(formula, **more), 0.5, solver=solver, rtol=1e-6)
    assert result["slide.u"][-1] == pytest.approx(after, rel=2e-5)
    result = lw.simulate(slider(formula, **more), 0.5, solver=solver, rtol=1e-12 if solver != "ida" else 1e-11)
    assert result["slide.u"][-1] == pytest.approx(after, rel=1e-9)
    assert len(result.events) == 0


def test_floors_jump_where_they_do():
    """A force of one more newton in each metre: by the energy, u^2 = u0^2 + 2 sum of whole newtons times metres."""
    mech = slider("F*floor(q/d)", 1.0, parameters={"F": 1.0, "d": (1.0, "m")})
    result = lw.simulate(mech, 3.0, rtol=1e-11)
    q, u = result["slide.q"][-1], result["slide.u"][-1]
    whole = np.floor(q)
    assert u**2 == pytest.approx(1.0 + whole * (whole - 1.0) + 2.0 * whole * (q - whole), rel=1e-9)
    mech = slider("k*mod(q, d)", 1.0, parameters={"k": 2.0, "d": (0.25, "m")})
    result = lw.simulate(mech, 3.0, rtol=1e-11)
    q, u = result["slide.q"][-1], result["slide.u"][-1]
    assert u**2 == pytest.approx(1.0 + 2.0 * (np.floor(q / 0.25) * 0.25**2 + (q % 0.25) ** 2), rel=1e-9)


def test_a_periodic_table_and_a_table_of_two_arguments():
    x = [0.0, 0.4, 0.4 + WIDTH, 0.4 + 2 * WIDTH, 1.0]
    values = np.array([0.0, 0.0, 1e3, 0.0, 0.0])
    mech = slider("f(q)", tables={"f": lw.LookupTable(x, values, periodic=True)})
    u = lw.simulate(mech, 0.45, rtol=1e-11)["slide.u"][-1]
    assert u**2 == pytest.approx(SPEED**2 + 2.0 * 5 * WIDTH * 1e3, rel=1e-9)
    both = lw.LookupTable(x, np.outer(values, [1.0, 3.0]), y=[-100.0, 100.0])
    mech = slider("f(q, time)", tables={"f": both})
    expected = SPEED**2 + 2.0 * WIDTH * 1e3 * np.interp(0.04, [-100, 100], [1, 3])
    assert lw.simulate(mech, 0.2, rtol=1e-11)["slide.u"][-1] ** 2 == pytest.approx(expected, rel=1e-6)


def test_smooth_formulas_pay_nothing():
    smooth = lw.simulate(slider("-k*q - d*u*sqrt(u^2 + e^2)", parameters={"k": 50.0, "d": 0.1, "e": 0.1}), 3.0)
    assert smooth.statistics.event_evaluations == smooth.statistics.restarts == 0
    assert lw.compile(slider("-k*q*abs(c)", parameters={"k": 50.0, "c": -2.0})).sizes.event_indicators == 0
    mech = slider("-k*q", parameters={"k": 50.0})
    mech.add_output("size", "abs(slide.q)")
    assert lw.compile(mech).sizes.event_indicators == 0


def test_a_law_beyond_its_kink_needs_no_value():
    mech = slider("-k*max(0, q)^1.5 - d*max(0, u)^0.5", 1.0, parameters={"k": 1e4, "d": 1e-3})
    result = lw.simulate(mech, 0.5, rtol=1e-10)
    lost = np.trapezoid(1e-3 * np.maximum(result["slide.u"], 0.0) ** 1.5, result.t)
    assert 0.5 * result["slide.u"][-1] ** 2 == pytest.approx(0.5 - lost, rel=1e-6)


def test_states_have_kinks():
    mech = slider("0*x0", parameters={"x0": 1.0})
    mech.add_state(
        "tank",
        "k*max(0, w - abs(slide.q - c))",
        unit="m",
        parameters={"k": (SLOPE, "1/s"), "w": (WIDTH, "m"), "c": (PLACE, "m")},
    )
    result = lw.simulate(mech, 0.5, rtol=1e-11)
    assert result["tank"][-1] == pytest.approx(SLOPE * WIDTH**2 / SPEED, rel=1e-9)


def test_a_table_may_be_used_to_its_end():
    table = lw.LookupTable([-1.0, 0.0, 1.0], [-10.0, 0.0, 10.0], outside="error")
    result = lw.simulate(slider("-f(q)", 3.1, tables={"f": table}), 5.0, rtol=1e-10)
    assert result["slide.q"].max() == pytest.approx(3.1 / np.sqrt(10.0), rel=1e-6)
    with pytest.raises(lw.errors.LinkworkError, match="above 1 where its rows end"):
        lw.simulate(slider("-f(q)", 3.3, tables={"f": table}), 5.0)


def test_a_sign_that_holds_the_motion_is_named():
    mech = slider("-c*sign(u)", 1.0, parameters={"c": 3.0})
    with pytest.raises(SolverError, match=r"formula of 'bump' jumps .* Friction"):
        lw.simulate(mech, 1.0)


def test_afterwards_states_are_free():
    """What is evaluated at a state of a result is what a fresh state has."""
    mech = slider("-k*max(0, q)", 1.0, parameters={"k": 100.0})
    result = lw.simulate(mech, 0.1)
    assert result["bump.force"] == pytest.approx(-100.0 * np.maximum(result["slide.q"], 0.0), abs=1e-12)
    model = lw.compile(mech)
    state = result.final_state
    assert model.value("bump.force", state) == model.value("bump.force", state.q, state.u)


def test_continued_runs_have_the_same_bits():
    mech = slider(
        "-k*q - d*u*abs(u) - f(q)",
        parameters={"k": 100.0, "d": 0.1},
        tables={"f": lw.LookupTable([-1.0, 0.0, 0.3, 1.0], [-5.0, 0.0, 1.0, 30.0], outside="extend")},
    )
    whole = lw.simulate(mech, 2.0, atol=1e-8)
    t = whole.t[len(whole.t) // 2]
    again = lw.simulate(mech, 2.0, state=whole.state(float(t)), atol=1e-8)
    assert np.array_equal(again["slide.u"], whole["slide.u"][-len(again.t) :])
