"""Formulation ggl through `simulate`: published mechanisms, driven ones, transitions, against explicit equations."""

import numpy as np
import pytest

import linkwork as lw
from support.cases import four_bar
from support.chains import row_of_rods
from support.dae_backends import needs_ida
from support.ma2007 import Ma2007
from support.published import andrews_squeezer, ladder, msl_four_bar
from support.quarter_car import quarter_car_multilink

pytestmark = needs_ida
CLOSE, CLOSED = 1e-4, 1e-8


def by_ida(mechanism, t_end, **options):
    return lw.simulate(mechanism, t_end, solver="ida", formulation="ggl", **options)


def by_ode(mechanism, t_end, **options):
    return lw.simulate(mechanism, t_end, **({"solver": "DOP853", "rtol": 1e-12} | options))


def started():
    case = four_bar()
    case.mechanism.start(q=case.q, u=case.u)
    return case.mechanism


def four_bar_of_record():
    return started(), 2.0, {}


def published(case):
    case.mechanism.start(q=case.q, u=case.u)
    return case.mechanism, float(case.t[-1]), case.inputs


CASES = {
    "four_bar": four_bar_of_record,
    "ladder": lambda: published(ladder(3)),
    "quarter_car": lambda: published(quarter_car_multilink()),
    "andrews_squeezer": lambda: published(andrews_squeezer()),
    "msl_four_bar": lambda: published(msl_four_bar()),
}


def largest_residual(result):
    """Largest residual of all loops and couplings."""
    names = [name for name in result.names if name.endswith(".residual")]
    assert names
    return max(float(np.abs(result[name]).max()) for name in names)


@pytest.mark.thin(2)
@pytest.mark.parametrize("name", CASES)
def test_published_mechanisms(name):
    mechanism, t_end, inputs = CASES[name]()
    times = np.linspace(0.0, t_end, 21)
    result = by_ida(mechanism, t_end, rtol=1e-9, inputs=inputs, t_eval=times)
    exact = by_ode(mechanism, t_end, inputs=inputs, t_eval=times)
    nq = result.model.sizes.nq
    assert np.abs(result.y - exact.y)[:, :nq].max() < CLOSE
    assert np.abs(result.y - exact.y).max() < CLOSE * max(1.0, np.abs(exact.y).max())
    assert largest_residual(result) < CLOSED


@pytest.mark.parametrize("name", ["four_bar", "ladder", "quarter_car"])
def test_columns_are_those_of_the_explicit_run(name):
    """Reactions, accelerations, energies and all others."""
    mechanism, t_end, inputs = CASES[name]()
    times = np.linspace(0.0, 0.2 * t_end, 5)
    result = by_ida(mechanism, times[-1], rtol=1e-10, inputs=inputs, t_eval=times)
    exact = by_ode(mechanism, times[-1], inputs=inputs, t_eval=times)
    assert result.names == exact.names
    reactions = [f"{joint}.{what}" for joint in mechanism.joints for what in "ft"]
    for column in [*exact.names, *reactions]:
        if column.endswith(".conditioning"):  # depends on the pivots last chosen
            continue
        size = max(1.0, np.abs(exact[column]).max())
        assert result[column] == pytest.approx(exact[column], abs=1e-5 * size), column


# ---- driven


def test_inputs_that_are_functions_of_time():
    """Also in the cut joint, which has a spring besides."""
    mech = started()
    mech.add_force(lw.SpringDamper("D", stiffness=20.0, damping=0.3, free=1.0))
    inputs = {"A": lambda t: 5.0 * np.sin(3.0 * t), "D": lambda t: -2.0 * t}
    times = np.linspace(0.0, 1.0, 11)
    result = by_ida(mech, 1.0, rtol=1e-9, inputs=inputs, t_eval=times)
    exact = by_ode(mech, 1.0, inputs=inputs, t_eval=times)
    without = by_ode(started(), 1.0, t_eval=times)
    assert result.y == pytest.approx(exact.y, abs=CLOSE)
    assert result["D.q"] == pytest.approx(exact["D.q"], abs=CLOSE)
    assert np.abs(exact.y - without.y).max() > 0.1
    assert largest_residual(result) < CLOSED


def test_prescribed_motion():
    """A crank that turns evenly over a wave given as an input: constraints that depend on time."""
    mech = started()
    mech.prescribe("A", lw.Motion((-0.7, -3.0)), name="drive")
    inputs = {"drive": lambda t: (0.1 * np.sin(t) ** 2, 0.1 * np.sin(2 * t), 0.2 * np.cos(2 * t))}
    times = np.linspace(0.0, 1.0, 11)
    result = by_ida(mech, 1.0, rtol=1e-9, inputs=inputs, t_eval=times)
    exact = by_ode(mech, 1.0, inputs=inputs, t_eval=times)
    assert result["A.q"] == pytest.approx(-0.7 - 3.0 * times + 0.1 * np.sin(times) ** 2, abs=1e-8)
    assert result.y == pytest.approx(exact.y, abs=1e-6)
    assert result["A.tau"] == pytest.approx(exact["A.tau"], abs=1e-4)
    assert largest_residual(result) < CLOSED


def test_a_tree_without_loops():
    mech = row_of_rods(3)
    mech.add_force(lw.SpringDamper("S2", damping=0.2))
    result = by_ida(mech, 0.5, rtol=1e-9, t_eval=[0.0, 0.25, 0.5])
    assert result.y == pytest.approx(by_ode(mech, 0.5, t_eval=[0.0, 0.25, 0.5]).y, abs=CLOSE)
    assert np.linalg.norm(result["S3.q"], axis=-1) == pytest.approx(np.ones(3), abs=1e-8)


def test_a_run_backward_returns():
    mech = started()
    system = lw.compile(mech)
    there = by_ode(system, 1.0, t_eval=[1.0])
    nq = system.sizes.nq
    state = system.state(there.y[-1, :nq], there.y[-1, nq:])
    back = by_ida(system, 0.0, t_start=1.0, state=state, rtol=1e-9)
    start = system.assemble()
    assert back.y[-1] == pytest.approx(np.concatenate([start.q, start.u]), abs=CLOSE)
    assert largest_residual(back) < CLOSED


# ---- transitions


@pytest.mark.parametrize("name", ["lock_A", "pin_A"])
def test_published_chains_across_their_event(name):
    case = Ma2007(name)
    rows, given = case.rows, case.numbers
    result = by_ida(case.mechanism(), rows[-1, 0], rtol=1e-11, t_eval=rows[:, 0])
    n = given["n"]
    assert np.array_equal(result.t, rows[:, 0])
    assert np.abs(result.y - rows[:, 1:])[:, :n].max() < 1e-6
    assert np.abs(result.y - rows[:, 1:]).max() < 1e-6 * np.abs(rows[:, 1:]).max()
    (event,) = result.events
    assert event.transitions == (case.event,)
    assert event.t == pytest.approx(given["event_time"], abs=1e-14)
    assert event.u_after == pytest.approx(given["qd_after"], abs=1e-6)
    assert event.energy_lost == pytest.approx(given["kinetic_energy_before"] - given["kinetic_energy_after"], abs=1e-6)


@pytest.mark.parametrize(
    ("action", "rests"),
    [
        (lw.Lock("A"), True),
        (lw.Lock("D"), True),  # the cut joint
        (lw.Pin("ground", "coupler", lw.Revolute((0, 1, 0))), True),
        (lw.Release("D"), False),
    ],
    ids=["lock", "lock of the cut", "pin", "release"],
)
def test_loops_that_are_held_or_opened(action, rests):
    mech = started()
    mech.add_transition("change", action, when=lw.Time(0.3))
    times = np.linspace(0.0, 0.6, 13)
    result = by_ida(mech, 0.6, rtol=1e-9, t_eval=times)
    exact = by_ode(mech, 0.6, rtol=1e-11, t_eval=times)
    assert result.y == pytest.approx(exact.y, abs=1e-5)
    assert (np.abs(result["A.u"][-1]) < 1e-9) == rests


def bouncing(loop):
    """A pendulum against a stop; as a four-bar with equal cranks it does the same with a loop."""
    mech = lw.Mechanism("bouncing", gravity=(0, 0, -9.81))
    hinge = lw.Revolute((0, -1, 0))
    for k in range(1 + loop):
        mech.add_body(f"rod{k}", mass=1.0, com=(0, 0, -0.5), inertia=lw.inertia.rod(1.0, 1.0, axis="z"))
        mech.add_joint(f"H{k}", hinge, "ground", f"rod{k}", parent_frame=lw.Frame((2.0 * k, 0, 0)))
    if loop:
        mech.add_body("bar", mass=1.0, com=(1.0, 0, 0), inertia=lw.inertia.rod(1.0, 2.0, axis="x"))
        mech.add_joint("B", hinge, "rod0", "bar", parent_frame=lw.Frame((0, 0, -1.0)))
        ends = {"parent_frame": lw.Frame((2.0, 0, 0)), "child_frame": lw.Frame((0, 0, -1.0))}
        mech.add_joint("C", hinge, "bar", "rod1", cut=True, **ends)
    mech.add_transition("stop", lw.Stop("H0", lower=0.0, restitution=0.6))
    mech.start(q={"H0": 0.7})
    return mech


@pytest.mark.parametrize("loop", [False, True])
def test_as_many_bounces_until_rest(loop):
    mech = bouncing(loop)
    load = {"H0": -4.0}  # towards the stop
    result, exact = by_ida(mech, 3.0, rtol=1e-9, inputs=load), by_ode(mech, 3.0, rtol=1e-10, inputs=load)
    assert len(exact.events) > 20
    if not loop:  # a loop is closed within the tolerance, which is seen by the last bounces
        assert len(result.events) == len(exact.events)
    hits = [[event.t for event in run.events if event.u_before[0] < -1e-3] for run in (result, exact)]
    assert len(hits[1]) > 10
    assert hits[0] == pytest.approx(hits[1], abs=1e-5)
    assert result.events[-1].t == pytest.approx(exact.events[-1].t, abs=1e-3)
    assert result["H0.q"].min() > -1e-7
    assert result.y[-1] == pytest.approx(exact.y[-1], abs=1e-5)
    assert abs(result["H0.u"][-1]) < 1e-12
