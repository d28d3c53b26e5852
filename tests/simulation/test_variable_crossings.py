"""Transitions where outputs by formulas and other variables cross a value: closed forms; the same as coordinates."""

import numpy as np
import pytest

import linkwork as lw
from support.cases import four_bar
from support.small import pendulum

Z = (0, 0, 1)
SOLVERS = ["dopri5", "rodas5p", "DOP853", "LSODA", "Radau", "BDF", "ida"]


def wheels(**speeds):
    mech = lw.Mechanism("wheels", gravity=(0, 0, 0))
    for name in "ab":
        mech.add_body(name, mass=1.0, com=(0, 0, 0), inertia=np.eye(3))
        mech.add_joint(f"{name}_axle", lw.Revolute(Z), "ground", name, at=(0, 0, 0))
    mech.start(u={f"{name}_axle": speed for name, speed in speeds.items()})
    return mech


def times(result):
    return [event.t for event in result.events]


# ---- closed forms ----


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_difference_of_speeds_crosses(solver):
    """One wheel with 1 rad/s, one from rest with 1 rad/s2."""
    mech = wheels(a=1.0, b=0.0)
    mech.add_output("slip", "a_axle.u - b_axle.u")
    mech.add_transition("clutch", lw.Lock("a_axle"), when=lw.Crossing("slip", 0.25, direction=-1))
    result = lw.simulate(mech, 1.5, inputs={"b_axle": 1.0}, solver=solver, rtol=1e-10)
    assert times(result) == pytest.approx([0.75], abs=1e-9)
    assert result["a_axle.u"][-1] == 0.0


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_formula_of_coordinates_time_and_a_table_crosses(solver):
    """2 t - t^2 / 2 + table(t) falls through 1.9 where the table has -t / 2 + 1: at t = 3 - sqrt(7.2 - 3.6)."""
    mech = wheels(a=2.0, b=0.0)
    table = lw.LookupTable((0, 10), (1, -4), unit="rad")
    mech.add_output("gap", "a_axle.q - b_axle.q + line(time)", tables={"line": table})
    mech.add_transition("latch", lw.Lock("a_axle"), when=lw.Crossing("gap", 1.9))
    result = lw.simulate(mech, 2.0, inputs={"b_axle": 1.0}, solver=solver, rtol=1e-10)
    expected = 1.5 - np.sqrt(1.5**2 - 2 * 0.9)
    assert times(result) == pytest.approx([expected], abs=1e-9)


@pytest.mark.parametrize(("direction", "shifts"), [(1, [1]), (-1, [5]), (0, [1, 5])])
def test_directions_and_arming_again(direction, shifts):
    """sin(pi t) of the time alone passes a half at (1/6, 5/6) + 2 n."""
    mech = wheels(a=0.0)
    mech.add_output("wave", "sin(w*time)", parameters={"w": np.pi})
    mech.add_transition("count", lw.Impulse("a"), when=lw.Crossing("wave", 0.5, direction))
    result = lw.simulate(mech, 6.0, rtol=1e-10)
    assert times(result) == pytest.approx(sorted(s / 6 + 2 * n for n in range(3) for s in shifts), abs=1e-9)


def test_the_value_is_a_parameter():
    mech = wheels(a=1.0)
    mech.add_output("turn", "k*a_axle.q", parameters={"k": 2.0})
    mech.add_transition("latch", lw.Lock("a_axle"), when=lw.Crossing("turn", 1.0))
    model = lw.compile(mech)
    found = [lw.simulate(model, 3.0, parameters=p) for p in ({}, {"latch.value": 1.5}, {"turn.k": 0.5})]
    assert np.concatenate([times(one) for one in found]) == pytest.approx([0.5, 0.75, 2.0], abs=1e-9)


# ---- the same as a coordinate or a speed ----


def both(mech, quantity, *crossing):
    """The times of a crossing of a coordinate or speed, and of an output that is the same."""
    found = []
    mech.add_output("copy", quantity)
    for watched in (quantity, "copy"):
        one = mech.copy()
        one.add_transition("count", lw.Impulse("rod"), when=lw.Crossing(watched, *crossing))
        found.append(times(lw.simulate(one, 2.0, rtol=1e-10)))
    return found


@pytest.mark.parametrize("direction", [-1, 0, 1])
@pytest.mark.parametrize("speed", [-1.0, 0.0, 1.0])
@pytest.mark.parametrize("start", [0.4, -0.4])
def test_at_the_value_from_the_start(start, speed, direction):
    """With a rate, or at rest with an acceleration either way: what leaves its value has not crossed it."""
    mech = pendulum()
    mech.start(q={"A": start}, u={"A": speed})
    plain, by_formula = both(mech, "A.q", start, direction)
    assert by_formula == pytest.approx(plain, abs=1e-9)
    assert all(t > 1e-3 for t in by_formula)


@pytest.mark.parametrize(("value", "count"), [(1.0 + 1e-7, 0), (1.0 - 1e-7, 4)])
def test_touching_is_not_crossing(value, count):
    mech = pendulum(gravity=0.0)
    mech.prescribe("A", lw.Motion(amplitude=1.0, frequency=1.0))
    plain, by_formula = both(mech, "A.q", value, 0)
    assert len(by_formula) == len(plain) == count


def test_speeds_cross_by_impacts():
    """A speed that an impact reverses has crossed zero, whether it is watched itself or by a formula."""
    mech = pendulum()
    mech.start(q={"A": 0.0}, u={"A": 2.0})
    mech.add_transition("bump", lw.Stop("A", lower=-0.6, upper=0.6, restitution=0.8))
    plain, by_formula = both(mech, "A.u", 0.0, 0)
    assert len(plain) > 4
    assert by_formula == pytest.approx(plain, abs=1e-8)


# ---- any variable, on loops ----


@pytest.mark.parametrize(
    "quantity",
    ["coupler.r[3]", "coupler.v[1]", "D.a", "A.f[3]", "energy.kinetic", "D.u", "tip.r[1]", "gap", "span.rate"],
)
def test_variables_of_a_four_bar_cross(quantity):
    """At the times found, a run without the transition has the value."""
    scene = four_bar()
    mech = scene.mechanism
    mech.start(q=scene.q, u=scene.u)
    mech.add_point("tip", "coupler", (0.2, 0.1, 0.3))
    mech.add_point("foot", "ground", (0, 0, 0))
    mech.add_measure("span", "distance", ("foot", "tip"))
    mech.add_output("gap", "A.q - 2*D.q + c*D.a*A.u + sin(w*time)", parameters={"c": (0.01, "s3/rad"), "w": 3.0})
    free = lw.simulate(mech, 1.0, rtol=1e-10)
    value = float(np.quantile(free[quantity], 0.4))
    mech.add_transition("count", lw.Impulse("crank"), when=lw.Crossing(quantity, value, 0))
    found = times(lw.simulate(mech, 1.0, rtol=1e-11))
    passes = int(np.sum(np.diff(np.sign(free[quantity] - value)) != 0))
    assert len(found) == passes > 0
    bare = lw.simulate(mech.copy(), 1.0, rtol=1e-11, t_eval=np.concatenate([[0.0], found, [1.0]]))
    size = np.ptp(free[quantity])
    assert bare[quantity][1:-1] == pytest.approx(np.full(len(found), value), abs=1e-8 * (1 + size))


def test_what_has_no_value_cannot_cross():
    mech = pendulum()
    mech.add_output("root", "sqrt(l - A.q)", parameters={"l": 0.2})
    mech.add_transition("latch", lw.Lock("A"), when=lw.Crossing("root", -1.0))
    with pytest.raises(lw.LinkworkError, match="transition 'latch' watches a variable that has no finite value"):
        lw.simulate(mech, 2.0)
