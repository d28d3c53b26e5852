"""Results between their rows: states at any time, slices, continuations and comparisons."""

import importlib

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import linkwork as lw
from linkwork.results.time_axis import direction
from support.cases import four_bar
from support.small import spinning_crank

G = 9.81
RESTITUTION = 0.6
IMPACT = np.sqrt(2.0 / G)  # s, from a height of 1 m


def test_a_run_that_begins_with_two_rows_at_one_time_may_go_backward():
    assert direction(np.array([1.0, 1.0, 0.5])) == -1.0
    assert direction(np.array([1.0, 1.0, 1.5])) == 1.0


def started(mech=None):
    case = four_bar()
    case.mechanism.start(q=case.q, u=case.u)
    return lw.compile(case.mechanism)


def pendulum():
    mech = lw.Mechanism("pendulum")
    mech.add_body("rod", mass=1.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(1.0, 1.0))
    mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
    return mech


def ball():
    """A ball that falls from 1 m and rebounds."""
    mech = lw.Mechanism("ball")
    mech.add_body("ball", mass=1.0, com=(0, 0, 0), inertia=lw.inertia.sphere(1.0, 0.1))
    mech.add_joint("S", lw.Prismatic((0, 0, 1)), "ground", "ball", at=(0, 0, 0))
    mech.start(q={"S": 1.0})
    mech.add_transition("floor", lw.Stop("S", lower=0.0, restitution=RESTITUTION))
    return mech


def height_of_ball(t):
    """Closed form until the second impact."""
    after = t - IMPACT
    return np.where(after < 0, 1 - G * t**2 / 2, RESTITUTION * G * IMPACT * after - G * after**2 / 2)


def speed_of_ball(t):
    return np.where(t < IMPACT, -G * t, RESTITUTION * G * IMPACT - G * (t - IMPACT))


def latched():
    """Two rods, the second of which is locked, then pinned to the ground, then released; the first has a stop."""
    mech = lw.Mechanism("latched")
    for name in ("one", "two"):
        mech.add_body(name, mass=1.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(1.0, 1.0))
    hinge = lw.Revolute((0, 1, 0))
    mech.add_joint("A", hinge, "ground", "one", at=(0, 0, 0))
    mech.add_joint("B", hinge, "one", "two", parent_frame=lw.Frame((1, 0, 0)), child_frame=lw.Frame())
    mech.add_transition("latch", lw.Lock("B"), when=lw.Time(0.3))
    mech.add_transition("stop", lw.Stop("A", upper=1.0))
    return mech


# ---- between rows ----


def test_values_between_steps_are_those_of_another_integrator():
    result = lw.simulate(pendulum(), 1.0, rtol=1e-10)
    times = np.linspace(0.0, 1.0, 57)
    exact = solve_ivp(
        lambda t, y: [y[1], 1.5 * G * np.cos(y[0])], (0, 1), [0, 0], "DOP853", t_eval=times, rtol=1e-12, atol=1e-12
    )
    values = result.at(times, ["A.q", "A.u", "A.a", "rod.r"])
    assert values["A.q"] == pytest.approx(exact.y[0], abs=2e-7)
    assert values["A.u"] == pytest.approx(exact.y[1], abs=2e-6)
    assert values["A.a"] == pytest.approx(1.5 * G * np.cos(exact.y[0]), abs=2e-6)
    assert values["rod.r"].shape == (57, 3)


def test_interpolation_has_the_fourth_order():
    fine = lw.simulate(pendulum(), 1.0, rtol=1e-12, t_eval=np.linspace(0, 1, 101))
    errors = []
    for rows in (11, 21, 41):
        coarse = lw.simulate(pendulum(), 1.0, rtol=1e-12, t_eval=np.linspace(0, 1, rows))
        errors.append(np.abs(coarse.at(fine.t)["A.u"] - fine["A.u"]).max())
    orders = np.log2(np.divide(errors[:-1], errors[1:]))
    assert orders == pytest.approx([4.0, 4.0], abs=0.35)


def test_loops_are_closed_between_rows():
    model = started()
    coarse = lw.simulate(model, 0.5, t_eval=np.linspace(0, 0.5, 13))
    fine = lw.simulate(model, 0.5, t_eval=np.linspace(0, 0.5, 97))
    between = coarse.resample(fine.t)
    assert np.abs(between["loop.D.residual"]).max() < 1e-8
    for name, tolerance in (("A.q", 2e-4), ("D.q", 2e-4), ("B.u", 2e-2)):
        assert between[name] == pytest.approx(fine[name], abs=tolerance)
    state = coarse.state(0.123)
    rate = model.derivatives(state)[: len(state.q)]
    assert rate == pytest.approx(state.u, abs=1e-7)  # the speeds keep the loops closed


def test_values_between_rows_while_pins_leave_no_freedom(checkout, monkeypatch):
    """Both fingers of the gripper hold the box: no joint of the gear between them can move."""
    monkeypatch.syspath_prepend(checkout / "examples")
    gripper = importlib.import_module("gripper")
    run = {"inputs": {"across": gripper.across, "lift": gripper.lift, "left": gripper.motor}, "rtol": 1e-10}
    mech, times = gripper.mechanism(), np.linspace(0.05, 2.55, 26)
    between = lw.simulate(mech, 2.6, **run).at(times)
    rows = lw.simulate(mech, 2.6, t_eval=times, **run)
    for name in ("across.q", "lift.q", "left.q", "right.q"):
        np.testing.assert_allclose(between[name], rows[name], rtol=0, atol=1e-9)


def test_a_row_is_met_exactly(result):
    for i in (0, 3, 10):
        for name, value in result.at(result.t[i]).items():
            assert value == result[name][i], name
        state = result.state(result.t[i])
        assert np.array_equal([*state.q, *state.u], result.y[i])
        assert state.q.cut[0] == result["D.q"][i]
        assert state.time == result.t[i]


def test_times_within_rounding_of_the_end_are_the_end():
    result = lw.simulate(pendulum(), 0.3)
    assert result.at(0.1 * 3)["A.q"] == result["A.q"][-1]


@pytest.mark.parametrize("t", [-0.1, 0.6, [0.1, 0.7]])
def test_times_outside_are_refused(result, t):
    with pytest.raises(lw.MechanismError, match=r"'four_bar_of_record': t = .* s is outside the rows, 0 to 0.5 s"):
        result.at(t)


@pytest.mark.parametrize("t", ["soon", np.nan, np.zeros((2, 2)), None])
def test_times_that_are_none(result, t):
    with pytest.raises(lw.MechanismError, match="t must be a finite time or a vector of times, s"):
        result.at(t)


def test_backward_runs_are_interpolated():
    forward, back = lw.simulate(pendulum(), 1.0), None
    back = lw.simulate(pendulum(), 0.0, t_start=1.0, state=forward.final_state)
    times = np.linspace(0, 1, 7)
    assert back.at(times)["A.q"] == pytest.approx(forward.at(times)["A.q"], abs=1e-6)
    cut = back[0.8:0.2]
    assert cut.t[0] == 0.8
    assert cut.t[-1] == 0.2
    with pytest.raises(lw.MechanismError, match="must be earlier, as the run goes backward"):
        back[0.2:0.8]


# ---- events ----


@pytest.mark.parametrize("t_eval", [None, np.linspace(0.0, 0.9, 4)], ids=["steps", "few rows"])
def test_interpolation_ends_at_events(t_eval):
    """Also where no row is at the event: a parabola is met to rounding on either branch."""
    result = lw.simulate(ball(), 0.9, t_eval=t_eval)
    times = np.linspace(0, 0.9, 31)
    values = result.at(times, ["S.q", "S.u"])
    assert values["S.q"] == pytest.approx(height_of_ball(times), abs=1e-12)
    assert values["S.u"] == pytest.approx(speed_of_ball(times), abs=1e-12)


@pytest.mark.parametrize("t_eval", [None, np.linspace(0.0, 0.9, 4)], ids=["steps", "few rows"])
def test_the_state_at_an_event_is_that_after_it(t_eval):
    result = lw.simulate(ball(), 0.9, t_eval=t_eval)
    state = result.state(result.events[0].t)
    assert state["S.u"] == pytest.approx(RESTITUTION * G * IMPACT)
    assert state["events"] == 1


def test_states_have_the_changes_by_transitions():
    result = lw.simulate(latched(), 1.0, t_eval=[0.0, 0.9, 1.0])
    before, after, end = (result.state(t) for t in (0.29, 0.31, 0.95))
    assert "locked" not in repr(before)
    assert "locked: B" in repr(after)
    assert after["B.u"] == pytest.approx(0.0, abs=1e-9)
    assert after["latch.active"] == 1
    assert "at rest on a stop: A" in repr(end)
    assert end["A.q"] == pytest.approx(1.0, abs=1e-9)
    again = lw.simulate(result.model, 1.0, state=after)
    assert again["B.q"][-1] == pytest.approx(result["B.q"][-1], abs=1e-7)


def test_the_final_state_is_that_after_the_last_event():
    mech = pendulum()
    mech.add_transition("latch", lw.Lock("A"), when=lw.Time(0.5))
    for t_eval in (None, [0.0, 0.5], [0.0, 0.2]):
        state = lw.simulate(mech, 0.5, t_eval=t_eval).final_state
        assert state.time == 0.5
        assert state.u.tolist() == [0.0]
        assert "locked: A" in repr(state)


def test_revolutions_of_cut_joints_belong_to_states():
    result = lw.simulate(spinning_crank("A"), 2.0)
    assert result.final_state["A.q"] == result["A.q"][-1] < -4 * np.pi
    times = np.linspace(0, 2, 23)
    tree = lw.simulate(spinning_crank("D"), 2.0, t_eval=times)
    assert result.at(times)["A.q"] == pytest.approx(tree["A.q"], abs=1e-5)
    assert result.state(1.7)["A.q"] == pytest.approx(result.at(1.7)["A.q"], abs=0)


# ---- slices and continuations ----


def test_a_slice_has_both_ends():
    result = lw.simulate(started(), 0.5)
    part = result[0.1:0.3]
    assert part.t[[0, -1]].tolist() == [0.1, 0.3]
    inside = (result.t > 0.1) & (result.t < 0.3)
    assert np.array_equal(part.t[1:-1], result.t[inside])
    assert np.array_equal(part["coupler.r"][1:-1], result["coupler.r"][inside])
    assert part["D.q"][0] == result.at(0.1)["D.q"]
    assert np.array_equal(result[:].y, result.y)
    assert result[:0.3].t[0] == 0.0
    assert len(result[0.2:0.2]) == 1


def test_a_slice_keeps_its_events():
    result = lw.simulate(ball(), 0.9)
    assert len(result[:0.4].events) == 0
    assert len(result[0.4:0.5].events) == 1
    assert result[: result.events[0].t]["S.u"][-1] > 0  # both rows of the event
    assert result[result.events[0].t :]["S.u"][0] > 0  # the row after it


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (slice(0.3, 0.1), "the end of a slice must be later than its start"),
        (slice(0.0, 9.0), "t = 9 s is outside the rows"),
        (slice(0.0, 0.5, 0.1), "no step; resample"),
        (slice("a", None), "t must be a finite time"),
        (0, "a column has a name, such as"),
    ],
)
def test_wrong_slices(result, wrong, message):
    with pytest.raises(lw.MechanismError, match=message):
        result[wrong]


@pytest.mark.parametrize("mech", [started, ball, latched], ids=["four-bar", "ball", "latched"])
def test_parts_join_to_the_whole(mech):
    result = lw.simulate(mech(), 0.9)
    middle = float(result.t[len(result) // 2])
    joined = result[:middle].join(result[middle:])
    assert np.array_equal(joined.t, result.t)
    for name in result.names:
        np.testing.assert_array_equal(joined[name], result[name], err_msg=name)
    assert [event.t for event in joined.events] == [event.t for event in result.events]


def test_a_run_and_its_continuation():
    model = lw.compile(ball())
    first = lw.simulate(model, 0.7)
    second = lw.simulate(model, 0.9, state=first.final_state)
    joined = first.join(second)
    times = np.linspace(0, 0.9, 19)
    assert joined.at(times)["S.q"] == pytest.approx(height_of_ball(times), abs=1e-9)
    assert len(joined) == len(first) + len(second) - 1
    assert joined.statistics.steps == first.statistics.steps + second.statistics.steps
    assert joined.message == second.message


def test_what_does_not_continue_is_refused(result):
    with pytest.raises(lw.MechanismError, match=r"begins at t = 0 s and this one ends at t = 0.5 s"):
        result.join(result)
    other = lw.simulate(pendulum(), 1.0, t_start=0.5)
    with pytest.raises(lw.MechanismError, match=r"'pendulum' does not continue one of 'four_bar_of_record'"):
        result.join(other)
    with pytest.raises(lw.MechanismError, match="join takes another result"):
        result.join(3)


# ---- comparison ----


def test_comparison_of_results(needs):
    needs("pandas")
    one, other = lw.simulate(pendulum(), 1.0), lw.simulate(pendulum(), 1.0, inputs={"A": 0.1}, solver="DOP853")
    table = one.compare(other, ["A.*", "rod.r"], t=np.linspace(0, 1, 11))
    assert list(table.columns) == ["unit", "difference", "relative", "time"]
    assert table.loc["A.tau"].tolist() == ["N.m", 0.1, 1.0, 0.0]
    far = np.abs(one.at(np.linspace(0, 1, 11))["A.q"] - other.at(np.linspace(0, 1, 11))["A.q"])
    assert table.loc["A.q", "difference"] == far.max()
    assert table.loc["A.q", "time"] == np.linspace(0, 1, 11)[far.argmax()]
    assert (one.compare(one)["difference"] == 0).all()
    back = other.compare(one, ["A.*", "rod.r"], t=np.linspace(0, 1, 11))  # neither result is the measure of the other
    assert back.equals(table)
    assert list(one.compare(lw.simulate(started(), 0.1), "energy.*").index) == ["energy.kinetic", "energy.potential"]


def test_results_without_anything_in_common(needs):
    needs("pandas")
    one = lw.simulate(pendulum(), 1.0)
    with pytest.raises(lw.MechanismError, match=r"no time in common: 'pendulum' has 0 to 1 s, 'pendulum' 2 to 3 s"):
        one.compare(lw.simulate(pendulum(), 3.0, t_start=2.0))
    with pytest.raises(lw.MechanismError, match=r"there is no variable 'B.q' in the result of 'pendulum'"):
        lw.simulate(started(), 1.0, t_eval=[0, 1]).compare(one, "B.q")


# ---- columns ----


def test_names_of_columns(result):
    assert "A.q" in result
    assert "coupler.r" in result
    assert "A" not in result
    assert 3 not in result
    assert result.units["coupler.r[1]"] == result.units["coupler.r"] == "m"
    assert result.units["coupler.mass"] == "kg"
    with pytest.raises(lw.MechanismError, match=r"no variable 'A' .*did you mean 'A.q' or 'A.u'"):
        result["A"]
    with pytest.raises(lw.MechanismError, match=r"no variable '\*.z'"):
        result.at(0.0, "*.z")


def test_patterns_choose_columns(result):
    assert list(result.at(0.0, "*.q")) == ["A.q", "B.q", "C.q", "D.q"]
    assert list(result.at(0.0, ["coupler.r", "?.u"])) == ["coupler.r", "A.u", "B.u", "C.u", "D.u"]
    assert list(result.at(0.0, "coup*.r")) == [f"coupler.r[{i}]" for i in (1, 2, 3)]


def test_a_notebook_shows_the_ends(result):
    text = result._repr_html_()
    assert "<td>A.q</td><td>rad</td><td>-0.7</td>" in text
    assert "t = 0.5 s" in text
    assert lw.simulate(four_bar().mechanism, 0.1, t_eval=[])._repr_html_()
