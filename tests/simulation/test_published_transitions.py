"""Published chains that are locked or pinned during the motion: motion, jumps and impulses."""

import numpy as np
import pytest

import linkwork as lw
from support.driving import tree_joints
from support.ma2007 import Ma2007

CASES = ["lock_A", "pin_A"]
# The digits of the tables end at 1e-11 of the speeds. LSODA keeps a looser watch on what it has interpolated: it is
# of variable order, and its steps do not end at the rows.
SOLVERS = {"dopri5": 1e-8, "rodas5p": 1e-8, "DOP853": 1e-8, "Radau": 1e-8, "LSODA": 1e-7}


@pytest.fixture(scope="module", params=CASES)
def case(request):
    return Ma2007(request.param)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.thin(2)
def test_the_published_motion(case, solver):
    rows = case.rows
    result = lw.simulate(case.mechanism(), rows[-1, 0], solver=solver, rtol=1e-11, t_eval=rows[:, 0])
    n = case.numbers["n"]
    assert np.array_equal(result.t, rows[:, 0])
    assert np.abs(result.y - rows[:, 1:]).max() < SOLVERS[solver]  # at the time of the event: after it
    assert np.abs(result.y - rows[:, 1:])[:, :n].max() < 1e-8


def test_the_published_jump(case):
    given = case.numbers
    result = lw.simulate(case.mechanism(), given["t_end"], rtol=1e-11)
    (event,) = result.events
    assert event.t == pytest.approx(given["event_time"], abs=1e-14)
    assert event.transitions == (case.event,)
    assert event.u_before == pytest.approx(given["qd_before"], abs=1e-8)
    assert event.u_after == pytest.approx(given["qd_after"], abs=1e-8)
    assert event.energy_lost == pytest.approx(given["kinetic_energy_before"] - given["kinetic_energy_after"], abs=1e-9)
    for k, impulse in enumerate(given["joint_impulses_on_child_xy"], start=1):
        assert event.impulses[f"A{k}"][3:5] == pytest.approx(impulse, abs=1e-10)
    if given["tip_pinned"]:  # the pin's child is the last link: the impulse on it
        assert event.impulses["tip"][3:5] == pytest.approx(given["tip_pin_impulse_xy"], abs=1e-10)
    else:
        locked = given["locked_joints_1based"][0]
        assert event.impulses[f"A{locked}"][2] == pytest.approx(given["lock_impulse_torques"][0], abs=1e-10)
    last = [*given["final_q"], *given["final_qd"]]
    assert result.y[-1] == pytest.approx(last, abs=2e-8)


def test_by_a_jump_at_the_published_state(case):
    """Without a run."""
    given = case.numbers
    system = lw.compile(case.mechanism())
    names = tree_joints(system)
    values = (dict(zip(names, given[key], strict=True)) for key in ("q_at_event", "qd_before"))
    jump = system.jump(system.assemble(*values), [case.event])
    assert jump.state.u == pytest.approx(given["qd_after"], abs=1e-12)
    assert jump.energy_lost == pytest.approx(given["kinetic_energy_before"] - given["kinetic_energy_after"], abs=1e-14)


@pytest.mark.parametrize("name", CASES)
def test_an_input_does_the_same_as_a_time(name):
    case = Ma2007(name)
    mech, t = case.mechanism(), case.numbers["event_time"]
    at_time = lw.simulate(mech, 1.0, rtol=1e-10)
    old = mech.transitions.pop(case.event)
    mech.add_transition(case.event, old.action, when=lw.Command())
    by_input = lw.simulate(mech, 1.0, rtol=1e-10, inputs={f"{case.event}.command": lambda now: now >= t})
    assert [event.t for event in by_input.events] == pytest.approx([t], abs=1e-12)
    assert by_input.y[-1] == pytest.approx(at_time.y[-1], abs=1e-7)
