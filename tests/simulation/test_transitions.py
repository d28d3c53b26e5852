"""What transitions do in the course of a simulation: their times, their effects, their records in the result."""

import numpy as np
import pytest

import linkwork as lw
from support.builder import cut_at
from support.cases import four_bar
from support.small import PENDULUM_INERTIA, pendulum

Y, Z = (0, 1, 0), (0, 0, 1)
FREE = {"gravity": 0.0}


def wheel(speed=1.0):
    """Turns freely; named as `pendulum`."""
    mech = pendulum(**FREE)
    mech.start(u={"A": speed})
    return mech


def two_wheels():
    mech = lw.Mechanism("wheels", gravity=(0, 0, 0))
    for name in "ab":
        mech.add_body(name, mass=1.0, com=(0, 0, 0), inertia=np.eye(3))
        mech.add_joint(f"{name}_axle", lw.Revolute(Z), "ground", name, at=(0, 0, 0))
        mech.start(u={f"{name}_axle": 1.0})
    return mech


def times(result):
    return [event.t for event in result.events]


def names(result):
    return [event.transitions for event in result.events]


# ---- when ----


@pytest.mark.parametrize("solver", ["dopri5", "rodas5p", "DOP853", "LSODA", "Radau", "BDF"])
def test_a_crossing_is_found_where_it_is(solver):
    mech = wheel()
    mech.add_transition("latch", lw.Lock("A"), when=lw.Crossing("A.q", 0.5))
    result = lw.simulate(mech, 1.0, solver=solver)
    assert times(result) == pytest.approx([0.5], abs=1e-12)
    assert result["A.q"][-1] == pytest.approx(0.5, abs=1e-12)
    assert result["A.u"][-1] == 0.0
    assert result.events[0].energy_lost == pytest.approx(PENDULUM_INERTIA / 2)


@pytest.mark.parametrize(
    ("direction", "expected"), [(+1, [0.25, 2.25]), (-1, [0.75, 2.75]), (0, [0.25, 0.75, 2.25, 2.75])]
)
def test_directions_of_crossings_and_arming_again(direction, expected):
    """A swing of sin(pi t) counts its passages of sin(pi / 4) by impulses of zero."""
    mech = wheel(0.0)
    mech.prescribe("A", lw.Motion(amplitude=1.0, frequency=0.5))
    mech.add_transition("count", lw.Impulse("rod"), when=lw.Crossing("A.q", np.sin(np.pi / 4), direction))
    result = lw.simulate(mech, 3.0, rtol=1e-10)
    assert times(result) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("solver", ["auto", "RK45"])
def test_the_coordinate_of_a_joint_that_closes_a_loop_crosses_in_any_turn(solver):
    """It counts its revolutions without rows to count them for: the crank of a four-bar, cut there and elsewhere."""
    loop = four_bar().mechanism
    loop.gravity = (0, 0, 0)
    loop.start(u={"A": 6.0})
    start = lw.compile(loop).assemble()
    loop.start(**{kind: {name: start[f"{name}.{kind}"] for name in loop.joints} for kind in ("q", "u")})
    found = {}
    for cut in "AC":
        mech = cut_at(loop, cut)
        for name, value in (("near", 5.0), ("far", 14.0)):
            mech.add_transition(name, lw.Impulse("coupler"), when=lw.Crossing("A.q", value))
        found[cut] = lw.simulate(mech, 3.0, rtol=1e-10, solver=solver)
    assert names(found["A"]) == names(found["C"]) == [("near",), ("far",)]
    assert times(found["A"]) == pytest.approx(times(found["C"]), abs=1e-7)
    for event, value in zip(found["C"].events, (5.0, 14.0), strict=True):
        assert found["C"].at(event.t)["A.q"] == pytest.approx(value, abs=1e-7)


def test_a_distance_crosses():
    mech = wheel()
    reach = lw.PointDistance(("rod", "ground"), ((1, 0, 0), (1, 0, 0)))
    mech.add_transition("latch", lw.Lock("A"), when=lw.Crossing(reach, 2 * np.sin(0.4)))
    result = lw.simulate(mech, 2.0)
    assert times(result) == pytest.approx([0.8], abs=1e-10)


def test_an_impulse_where_a_distance_crosses():
    """The points of the distance are its own, not that of the impulse."""
    mech = wheel()
    reach = lw.PointDistance(("rod", "ground"), ((1, 0, 0), (1, 0, 0)))
    kick = lw.Impulse("rod", point=(0.5, 0, 0), force=(0, 0, -PENDULUM_INERTIA))
    mech.add_transition("kick", kick, when=lw.Crossing(reach, 2 * np.sin(0.4)))
    result = lw.simulate(mech, 2.0)
    assert times(result) == pytest.approx([0.8], abs=1e-10)
    assert result["A.u"][-1] == pytest.approx(1.0 + 0.5 * np.cos(0.8), rel=1e-9)


def test_a_start_on_the_value_is_no_crossing():
    """At rest, the acceleration tells on which side it begins."""
    for gravity in (9.81, -9.81):
        mech = pendulum(gravity=gravity)
        mech.add_transition("count", lw.Impulse("rod"), when=lw.Crossing("A.q", 0.0, 0))
        assert times(lw.simulate(mech, 0.2)) == []


def test_latch_and_unlatch_by_crossings():
    """Locked at 0.5, freed by an impulse later, locked again after a turn back."""
    mech = wheel()
    mech.add_transition("latch", lw.Lock("A"), when=lw.Crossing("A.q", 0.5, 0))
    mech.add_transition("free", lw.Unlock("A"), when=lw.Command())
    mech.add_transition("kick", lw.Impulse("rod", torque=(0, PENDULUM_INERTIA, 0)), when=lw.Time(1.0))
    result = lw.simulate(mech, 2.0, inputs={"free.command": lambda t: t >= 1.0})
    assert names(result) == [("latch",), ("free", "kick")]
    assert times(result) == pytest.approx([0.5, 1.0], abs=1e-12)
    assert result["A.q"][-1] == pytest.approx(1.5)


def test_events_at_the_start():
    mech = two_wheels()
    mech.add_transition("first", lw.Lock("a_axle"), when=lw.Time(1.0))
    mech.add_transition("long_ago", lw.Lock("b_axle"), when=lw.Time(-3.0))
    result = lw.simulate(mech, 2.0, t_start=1.0)
    assert names(result) == [("first", "long_ago")]
    assert times(result) == [1.0]
    assert result.y[0] == pytest.approx([0, 0, 0, 0])
    assert result.events[0].u_before.tolist() == [1.0, 1.0]


def test_an_event_at_the_end():
    mech = wheel()
    mech.add_transition("latch", lw.Lock("A"), when=lw.Time(1.0))
    mech.add_transition("late", lw.Impulse("rod", force=(0, 0, 9)), when=lw.Time(1.5))
    result = lw.simulate(mech, 1.0)
    assert names(result) == [("latch",)]
    assert result.t[-2:].tolist() == [1.0, 1.0]  # before and after
    assert result["A.u"][-2:] == pytest.approx([1.0, 0.0])
    assert result["latch.active"][-2:].tolist() == [0.0, 1.0]
    assert result["A.q"][-1] == pytest.approx(1.0)
    wanted = lw.simulate(mech, 1.0, t_eval=[0.5, 1.0])
    assert wanted["A.u"] == pytest.approx([1.0, 0.0])
    assert wanted["latch.active"].tolist() == [0.0, 1.0]


def test_several_at_one_instant_are_one_event():
    mech = two_wheels()
    mech.add_transition("one", lw.Lock("a_axle"), when=lw.Time(0.5))
    mech.add_transition("other", lw.Lock("b_axle"), when=lw.Time(0.5))
    mech.add_transition("kick", lw.Impulse("a", torque=(0, 0, 7)), when=lw.Time(0.5))
    result = lw.simulate(mech, 1.0)
    assert names(result) == [("one", "other", "kick")]
    assert result.events[0].energy_lost == pytest.approx(1.0)
    assert result.events[0].impulses["a_axle"][2] == pytest.approx(-8.0)


# ---- inputs ----


def test_a_latch_follows_its_command():
    mech = wheel(0.0)
    mech.add_transition("latch", lw.Lock("A"), when=lw.Command())
    inputs = {"A": PENDULUM_INERTIA, "latch.command": lambda t: 1.0 <= t < 2.0}
    result = lw.simulate(mech, 3.0, inputs=inputs, rtol=1e-9)
    assert times(result) == pytest.approx([1.0, 2.0], abs=1e-10)
    assert result["A.q"][-1] == pytest.approx(0.5 + 0.5)
    assert result["A.u"][-1] == pytest.approx(1.0)


@pytest.mark.parametrize("command", [True, np.True_, 1, lambda t: True])
def test_a_command_that_is_on_from_the_start(command):
    mech = wheel()
    mech.add_transition("latch", lw.Lock("A"), when=lw.Command())
    result = lw.simulate(mech, 1.0, inputs={"latch.command": command})
    assert times(result) == [0.0]
    assert not result["A.q"].any()


def test_impulses_are_inputs():
    mech = wheel(0.0)
    mech.add_transition("kick", lw.Impulse("rod", point=(1.0, 0, 0), force=(0, 0, 9)), when=lw.Time(0.5))
    plain = lw.simulate(mech, 1.0)
    assert plain["A.u"][-1] == pytest.approx(-9 / PENDULUM_INERTIA)
    for force in ((0, 0, 2.0), lambda t: (0, 0, 4 * t)):
        result = lw.simulate(mech, 1.0, inputs={"kick.impulse.f": force})
        assert result["A.u"][-1] == pytest.approx(-2 / PENDULUM_INERTIA)
        assert result.events[0].energy_lost == pytest.approx(-(2.0**2) / PENDULUM_INERTIA / 2)


# ---- state after transitions ----


def pinned_pendulum(*, release=None):
    """Its tip is nailed to the ground at 0.3 s, and so it hangs still."""
    mech = pendulum()
    pin = lw.Pin("ground", "rod", lw.Spherical(), child_frame=lw.Frame((1.0, 0, 0)))
    mech.add_transition("nail", pin, when=lw.Time(0.3))
    if release is not None:
        mech.add_transition("draw", lw.Release("nail"), when=lw.Time(release))
    return mech


def test_pin_then_release():
    """From the pose in which it was held it falls as from rest."""
    result = lw.simulate(pinned_pendulum(release=0.5), 1.0, rtol=1e-10, t_eval=np.linspace(0, 1, 101))
    assert names(result) == [("nail",), ("draw",)]
    held = (result.t > 0.31) & (result.t < 0.49)
    angle = result["A.q"][held][0]
    assert result["A.q"][held] == pytest.approx(angle, abs=1e-12)
    other = pendulum()
    other.start(q={"A": angle})
    expected = lw.simulate(other, 0.5, rtol=1e-10)
    assert result.y[-1] == pytest.approx(expected.y[-1], abs=1e-8)


def test_columns_of_an_open_pin_are_numbers():
    result = lw.simulate(pinned_pendulum(release=0.5), 1.0, t_eval=np.linspace(0, 1, 101))
    for name in result.names:
        assert np.isfinite(result[name]).all(), name
    apart = (result.t < 0.3) | (result.t > 0.51)
    assert not result["nail.f"][apart].any()
    assert not result["loop.nail.residual"][apart].any()
    assert result["nail.f"][(result.t > 0.31) & (result.t < 0.49)].any(axis=1).all()


def test_opening_a_loop_leaves_the_tree():
    case = four_bar()
    mech = cut_at(case.mechanism, "D")
    mech.start(q=case.q, u=case.u)
    mech.add_transition("part", lw.Release("D"), when=lw.Time(0.2))
    result = lw.simulate(mech, 0.5, rtol=1e-10)
    (event,) = result.events
    assert event.energy_lost == 0.0
    tree = four_bar().mechanism
    del tree.joints["D"]
    at = np.flatnonzero(result.t == event.t)[-1]
    tree.start(q={name: result[f"{name}.q"][at] for name in "ABC"}, u={n: result[f"{n}.u"][at] for n in "ABC"})
    opened = lw.simulate(tree, 0.5, t_start=event.t, rtol=1e-10)
    assert result.y[-1] == pytest.approx(opened.y[-1], abs=1e-7)
    closed = lw.simulate(lw.compile(cut_at(case.mechanism, "D")), event.t, state=None, rtol=1e-10)
    assert closed.t[-1] == event.t


def test_a_crank_locks_and_the_loop_rests():
    case = four_bar()
    mech = cut_at(case.mechanism, "D")
    mech.start(q=case.q, u=case.u)
    mech.add_transition("brake", lw.Lock("A"), when=lw.Time(0.2))
    result = lw.simulate(mech, 0.5, rtol=1e-9)
    after = result.t > 0.2001
    for name in "ABCD":
        assert result[f"{name}.u"][after] == pytest.approx(0.0, abs=1e-9)
        assert np.ptp(result[f"{name}.q"][after]) < 1e-9
    (event,) = result.events
    assert event.energy_lost == pytest.approx(result["energy.kinetic"][result.t == event.t][0])


def test_a_gripper_takes_up_a_body():
    """A free body at rest is pinned to an arm that passes it; both keep the arm's momentum about its hinge."""
    mech = wheel(2.0)
    mech.add_body("load", mass=0.5, com=(0, 0, 0), inertia=0.01 * np.eye(3))
    mech.add_joint("float", lw.Free(), "ground", "load", at=(0, 0, 0))
    mech.start(q={"float": (np.cos(0.6), 0, -np.sin(0.6), 1, 0, 0, 0)})
    near = lw.PointDistance(("rod", "load"), ((1, 0, 0), (0, 0, 0)))
    mech.add_transition("grip", lw.Pin("rod", "load", lw.Fixed()), when=lw.Crossing(near, 0.05, -1))
    result = lw.simulate(mech, 1.0, rtol=1e-10, max_step=0.02)
    event = result.events[0]
    assert event.t == pytest.approx((0.6 - 2 * np.arcsin(0.025)) / 2, abs=1e-9)
    together = PENDULUM_INERTIA + 0.01 + 0.5
    assert event.u_after[0] == pytest.approx(2.0 * PENDULUM_INERTIA / together)
    assert result["A.u"][-1] == pytest.approx(event.u_after[0], abs=1e-9)
    assert result["loop.grip.residual"].max() < 1e-9


# ---- rows ----


def test_rows_before_and_after():
    mech = wheel()
    mech.add_transition("latch", lw.Lock("A"), when=lw.Time(0.5))
    result = lw.simulate(mech, 1.0)
    (event,) = result.events
    at = np.flatnonzero(result.t == event.t)
    assert result["A.u"][at].tolist() == [1.0, 0.0]
    assert result["A.q"][at] == pytest.approx([0.5, 0.5])
    assert result["energy.kinetic"][at[0]] - result["energy.kinetic"][at[1]] == pytest.approx(event.energy_lost)


def test_chosen_rows():
    mech = wheel()
    mech.add_transition("latch", lw.Lock("A"), when=lw.Time(0.5))
    t = np.linspace(0, 1, 21)
    result = lw.simulate(mech, 1.0, t_eval=t)
    assert np.array_equal(result.t, t)
    assert result["A.q"] == pytest.approx(np.minimum(t, 0.5), abs=1e-12)
    assert result["A.u"][t > 0.5] == pytest.approx(0.0, abs=0)
    assert result["A.a"] == pytest.approx(0.0, abs=1e-12)


# ---- continuation ----


def test_a_run_goes_on_from_a_state_that_remembers():
    mech = pinned_pendulum()
    system = lw.compile(mech)
    jumped = system.jump(system.assemble(q={"A": 0.4}, u={"A": 1.0}), ["nail"]).state
    result = lw.simulate(system, 1.0, state=jumped, rtol=1e-9)
    assert result["A.q"] == pytest.approx(np.full(result.t.size, 0.4), abs=1e-10)
    assert not result.events


def test_a_locked_joint_stays_where_it_was_locked():
    """By a jump, then a run with gravity on it."""
    mech = pendulum()
    mech.add_transition("latch", lw.Lock("A"), when=lw.Command())
    system = lw.compile(mech)
    jumped = system.jump(system.assemble(q={"A": 0.4}, u={"A": 1.0}), ["latch"])
    result = lw.simulate(system, 5.0, state=jumped.state)
    assert result["A.q"] == pytest.approx(np.full(result.t.size, 0.4), abs=1e-12)
    assert result["A.f"][-1] == pytest.approx([0, 0, 9.81])
    assert abs(result["A.t"][-1][1]) == pytest.approx(9.81 * 0.5 * np.cos(0.4))


def test_energy_is_lost_in_events_only():
    case = four_bar()
    mech = cut_at(case.mechanism, "A")
    mech.start(q=case.q, u=case.u)
    mech.add_transition("stop", lw.Stop("D", lower=case.q["D"] - 0.15, upper=case.q["D"] + 0.15, restitution=0.7))
    mech.add_transition("kick", lw.Impulse("coupler", force=(-0.5, 0, -0.8)), when=lw.Time(0.3))
    result = lw.simulate(mech, 1.5, rtol=1e-10)
    energy = result["energy.kinetic"] + result["energy.potential"]
    lost = np.array([event.energy_lost for event in result.events])
    assert len(lost) >= 3
    assert lost.min() < 0 < lost.max()
    happened = np.searchsorted(times(result), result.t, side="left")
    known = np.r_[0.0, np.cumsum(lost)][happened]
    between = ~np.isin(result.t, times(result))
    assert (energy + known)[between] == pytest.approx(np.full(between.sum(), energy[0]), abs=1e-6)


@pytest.mark.parametrize("threshold", [0.0, 1e-9, 1e-5])
def test_a_command_that_undoes_its_cause_is_named(threshold):
    """Locked, the hinge has no speed, so that the command ends at once: chattering, found within a thousand changes."""
    mech = pendulum()
    mech.add_transition("latch", lw.Lock("A"), when=lw.Command())
    command = {"latch.command": lambda t, state: state["A.u"] > threshold}
    with pytest.raises(lw.SolverError, match="'latch'") as caught:
        lw.simulate(mech, 2.0, inputs=command)
    assert "without end" in str(caught.value)
    assert len(caught.value.result.events) <= 1001


def test_a_command_follows_the_state_after_its_own_event():
    """Locked at a speed and released at once: the hinge starts again from rest, over and over."""
    mech = pendulum()
    mech.add_transition("latch", lw.Lock("A"), when=lw.Command())
    result = lw.simulate(mech, 1.0, inputs={"latch.command": lambda t, state: state["A.u"] > 0.5})
    times = np.unique([event.t for event in result.events])
    assert 2 * len(times) == len(result.events) > 20
    assert not result["latch.active"][-1]
    assert result["A.u"].max() < 0.5 + 1e-6
