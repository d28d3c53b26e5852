"""A run that is cut and continued is the run that was not cut."""

import numpy as np
import pytest

import linkwork as lw
from support.small import pendulum, spinning_crank


def latched():
    """It latches at 0.6 rad, is let go by time, and is caught by a stop."""
    mech = pendulum(damping=0.2)
    mech.add_transition("latch", lw.Lock("A"), when=lw.Crossing("A.q", 0.6))
    mech.add_transition("free", lw.Unlock("A"), when=lw.Time(0.9))
    mech.add_transition("stop", lw.Stop("A", upper=1.2, restitution=0.3))
    return mech


def pinned():
    """Two rods; the second is pinned to the ground where it is at 0.5 s, and let go at 1.1 s."""
    mech = lw.Mechanism("two_rods")
    for k, name in enumerate(("first", "second")):
        mech.add_body(name, mass=1.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(1.0, 1.0), origin=(k, 0, 0))
    mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "first", at=(0, 0, 0))
    mech.add_joint("B", lw.Revolute((0, 1, 0)), "first", "second", at=(1, 0, 0))
    pin = lw.Pin("ground", "second", lw.Revolute((0, 1, 0)), child_frame=lw.Frame((1.0, 0, 0)))
    mech.add_transition("pin", pin, when=lw.Time(0.5))
    mech.add_transition("let_go", lw.Release("pin"), when=lw.Time(1.1))
    return mech


CASES = {
    "latch": (latched, {}),
    "pin": (pinned, {}),
    "loop": (lambda: spinning_crank("A"), {}),
    "loads": (lambda: pendulum(), {"inputs": {"A": lambda t, state: -2.0 * state["A.q"] + np.sin(3.0 * t)}}),
    "stiff": (latched, {"solver": "rodas5p"}),
}
END = 2.0


@pytest.mark.parametrize("case", CASES)
def test_at_the_end_of_any_step_it_continues_to_the_bit(case):
    make, options = CASES[case]
    model = lw.compile(make())
    whole = lw.simulate(model, END, **options)
    _, first = np.unique(whole.t, return_index=True)
    single = [i for i in first if (whole.t == whole.t[i]).sum() == 1 and 0.0 < whole.t[i] < END]
    random = np.random.default_rng(3)
    for i in random.choice(single, 12, replace=False):
        state = whole.state(float(whole.t[i]))
        rest = lw.simulate(model, END, state=state, **options)
        assert np.array_equal(rest.y[-1], whole.y[-1]), whole.t[i]
        assert np.array_equal(rest.t, whole.t[i:])
        assert [e.transitions for e in rest.events] == [e.transitions for e in whole.events if e.t > whole.t[i]]


@pytest.mark.parametrize("case", CASES)
def test_at_any_time_it_continues_within_the_tolerance(case):
    """Before, at and after events; through a file as well, which keeps every bit."""
    make, options = CASES[case]
    model = lw.compile(make())
    whole = lw.simulate(model, END, rtol=1e-9, **options)
    random = np.random.default_rng(5)
    events = [event.t for event in whole.events]
    near = [t + d for t in events for d in (-1e-6, 0.0, 1e-6)]
    for t in [*random.uniform(0.0, END, 8), *near][:20]:
        part = lw.simulate(model, t, rtol=1e-9, **options)
        rest = lw.simulate(model, END, state=part.final_state, rtol=1e-9, **options)
        assert rest.y[-1] == pytest.approx(whole.y[-1], abs=3e-8), t
        assert len(part.events) + len(rest.events) == len(whole.events), t


def test_through_a_file(tmp_path):
    model = lw.compile(latched())
    whole = lw.simulate(model, END)
    row = int(np.flatnonzero(whole.t > 0.7)[0])
    whole.state(float(whole.t[row])).save(tmp_path / "cut.json")
    state = lw.State.load(tmp_path / "cut.json", lw.compile(latched()))
    assert np.array_equal(lw.simulate(state.model, END, state=state).y[-1], whole.y[-1])


def test_turns_are_kept():
    model = lw.compile(spinning_crank("A"))
    whole = lw.simulate(model, END)
    assert np.ptp(whole["A.q"]) > 2 * np.pi
    middle = float(whole.t[len(whole.t) // 2])
    rest = lw.simulate(model, END, state=whole.state(middle))
    assert rest["A.q"][-1] == whole["A.q"][-1]
    joined = whole[0.0:middle].join(rest)
    assert np.array_equal(joined["A.q"][-20:], whole["A.q"][-20:])


def test_rows_within_steps_do_not_touch_the_step_control_of_others():
    """Every step of a fast wheel ends at a row from which a run continues as it was."""
    mech = lw.Mechanism("wheel")
    mech.add_body("rotor", mass=1.0, com=(0, 0, 0), inertia=lw.inertia.rod(1.0, 1.0))
    mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rotor", at=(0, 0, 0))
    mech.start(u={"A": 30.0})
    result = lw.simulate(mech, 2.0)
    known = [result.state(time).step_control is not None for time in result.t]
    assert result.t.size > 10 * result.statistics.steps
    assert sum(known) == result.statistics.steps
