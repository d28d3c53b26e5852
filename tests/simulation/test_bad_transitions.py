"""Transitions that cannot be: refused with the name of the culprit; results until then, and the state, are kept."""

import numpy as np
import pytest

import linkwork as lw
from support.cases import four_bar
from support.small import pendulum

Z = (0, 0, 1)


def nailed_apart():
    mech = pendulum()
    frames = {"parent_frame": lw.Frame((0, 0, -3)), "child_frame": lw.Frame((1.0, 0, 0))}
    mech.add_transition("nail", lw.Pin("ground", "rod", lw.Spherical(), **frames), when=lw.Time(0.3))
    return mech


def latched(when=None):
    mech = pendulum(gravity=0.0)
    mech.start(u={"A": 1.0})
    mech.add_transition("latch", lw.Lock("A"), when=when or lw.Command())
    return mech


def contradicting():
    mech = latched()
    mech.add_transition("free", lw.Unlock("A"), when=lw.Command())
    return mech


def test_frames_that_are_apart():
    with pytest.raises(lw.AssemblyError, match=r"'nail'.*2\.5\d m apart.*leave out one") as refused:
        lw.simulate(nailed_apart(), 1.0)
    result = refused.value.result
    assert result.t[-1] == pytest.approx(0.3)
    assert np.isfinite(result["A.q"]).all()
    assert not result.events
    system = lw.compile(nailed_apart())
    state = system.assemble(u={"A": 1.0})
    kept = state.discrete_state.copy()
    with pytest.raises(lw.AssemblyError, match="'nail'"):
        system.jump(state, ["nail"])
    assert np.array_equal(state.discrete_state, kept)
    assert state.u.tolist() == [1.0]


def test_contradictions_at_one_instant():
    commands = {f"{name}.command": lambda t: t > 0.5 for name in ("latch", "free")}
    with pytest.raises(lw.MechanismError, match="'latch' and 'free' contradict") as refused:
        lw.simulate(contradicting(), 1.0, inputs=commands)
    assert refused.value.result["A.q"][-1] == pytest.approx(0.5)
    system = lw.compile(contradicting())
    with pytest.raises(lw.MechanismError, match="'latch' and 'free' contradict"):
        system.jump(system.assemble(), ["latch", "free"])


@pytest.mark.parametrize(
    ("names", "text"),
    [(["latc"], "did you mean 'latch'"), ([], "at least one"), ([1], "no transition 1"), (5, "names of transitions")],
)
def test_names_of_a_jump(names, text):
    system = lw.compile(latched())
    with pytest.raises(lw.MechanismError, match=text):
        system.jump(system.assemble(), names)


@pytest.mark.parametrize("command", ["on", 2, 0.5, None, [True], np.nan])
def test_commands_that_are_none(command):
    with pytest.raises(lw.MechanismError, match=r"'latch\.command' must be True or False"):
        lw.simulate(latched(), 1.0, inputs={"latch.command": command})


def test_no_way_back():
    with pytest.raises(lw.MechanismError, match="forward only"):
        lw.simulate(latched(), 0.0, t_start=1.0)


def test_bounces_without_end():
    mech = lw.Mechanism("wedge", gravity=(0, 0, 0))
    mech.add_body("puck", mass=1, com=(0, 0, 0), inertia=np.eye(3))
    mech.add_joint("x", lw.Prismatic((1, 0, 0)), "ground", "puck", at=(0, 0, 0))
    mech.add_transition("walls", lw.Stop("x", lower=0.0, upper=1e-15, restitution=1.0))
    mech.start(u={"x": 1000.0})
    with pytest.raises(lw.SolverError, match=r"without end.*'walls'"):
        lw.simulate(mech, 1.0)


@pytest.mark.parametrize("motion", [(0.0, 1.0), (0.0, 1.0, -0.5)])
def test_a_lock_against_a_motion(motion):
    mech = pendulum()
    mech.prescribe("A", lw.Motion(motion))
    mech.add_transition("latch", lw.Lock("A"), when=lw.Time(0.5))
    with pytest.raises(lw.SolverError, match="contradict each other"):
        lw.simulate(mech, 1.0)


def test_everything_locked_rests():
    mech = four_bar().mechanism
    mech.start(q=four_bar().q, u=four_bar().u)
    for name in "ABCD":
        mech.add_transition(f"lock{name}", lw.Lock(name), when=lw.Time(0.2))
    result = lw.simulate(mech, 1.0)
    assert len(result.events[0].transitions) == 4
    assert result.y[-1][3:].tolist() == [0, 0, 0]
    assert result["energy.kinetic"][-1] < 1e-20


def test_a_pin_twice_does_nothing():
    mech = pendulum()
    mech.add_transition("nail", lw.Pin("ground", "rod", lw.Fixed()), when=lw.Command())
    system = lw.compile(mech)
    once = system.jump(system.assemble(u={"A": 1.0}), ["nail"])
    twice = system.jump(once.state, ["nail"])
    assert once.energy_lost > 0.1
    assert twice.energy_lost == 0.0
    assert twice.state.u.tolist() == once.state.u.tolist()


def test_a_coupling_of_a_joint_that_may_open():
    mech = four_bar().mechanism
    mech.add_coupling("gear", {"D": 1.0, "A": 2.0})
    mech.add_transition("part", lw.Release("D"), when=lw.Time(1.0))
    with pytest.raises(lw.MechanismError, match="'gear' names joint 'D', which may open"):
        lw.compile(mech)
