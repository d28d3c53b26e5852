"""Events and rows where something turns at constant speed, so that no error limits the steps."""

import numpy as np
import pytest

import linkwork as lw
from support.problems import SOLVERS, every_solver
from support.turning import KINDS, Z, random_turning, rotor

TWELFTH = 2.0 * np.pi / 12.0


@pytest.mark.thin(4)
@every_solver
@pytest.mark.parametrize("part", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_no_event_is_missed(solver: str, part: int) -> None:
    rng = np.random.default_rng(100 * part + SOLVERS.index(solver))
    compiled = solver in ("dopri5", "rodas5p")
    runs, most_turns = (10 if part else 3 if compiled else 1), (1e4 if part and compiled else 50 if compiled else 8)
    found = [random_turning(rng, kind, most_turns).missed(solver) for kind in KINDS for _ in range(runs)]
    assert not any(found), "\n".join(filter(None, found))


@pytest.mark.parametrize("driven", [True, False])
@pytest.mark.parametrize("t_end", [2.0, 5.0, 10.0, 20.0])
def test_a_lamp_at_a_wheel(driven: bool, t_end: float) -> None:
    """One pass a revolution, by points that meet: the distance has a kink there."""
    mech = rotor(lw.Revolute(Z))
    if driven:
        mech.prescribe("A", lw.Motion((1.0, 2.0 * np.pi)))
    else:
        mech.start(q={"A": 1.0}, u={"A": 2.0 * np.pi})
    distance = lw.PointDistance(("rotor", "ground"), points=((0.1, 0, 0), (0.1, 0, 0)))
    mech.add_transition("pass", lw.Lock("lamp"), when=lw.Crossing(distance, 0.01, direction=-1))
    result = lw.simulate(mech, t_end)
    half = 2.0 * np.arcsin(0.05)
    assert [event.t for event in result.events] == pytest.approx(np.arange(1, t_end + 1) - (1.0 + half) / (2.0 * np.pi))
    # once a revolution at constant speed, with a function of the user
    turn = lw.EventFunction(lambda t, state: np.sin(state["A.q"] - 1.5), direction=+1, name="turn")
    events = lw.simulate(mech, t_end, events=[turn]).events
    assert sum("turn" in event.functions for event in events) == t_end


def wheel(rate: float = 2.0 * np.pi) -> lw.Mechanism:
    mech = rotor(lw.Revolute(Z))
    mech.start(u={"A": rate})
    return mech


@every_solver
def test_rows_follow_a_wheel(solver: str) -> None:
    result = lw.simulate(wheel(), 32.0, solver=solver)
    assert np.diff(result["A.q"]).max() < 1.01 * TWELFTH
    assert len(result.t) < 1.3 * 32 * 12  # and no more than that takes
    assert result["A.q"] == pytest.approx(2.0 * np.pi * result.t, abs=1e-6)
    assert result.statistics.steps < len(result.t) / 4


@every_solver
def test_given_times_cost_nothing(solver: str) -> None:
    """Without events nothing watches within steps."""
    result = lw.simulate(wheel(), 32.0, solver=solver, t_eval=[0.0, 32.0])
    assert result.statistics.steps < 70
    assert result["A.q"][-1] == pytest.approx(64.0 * np.pi, rel=1e-7)


@pytest.mark.parametrize("solver", ["dopri5", "RK45", "DOP853"])
def test_rows_within_steps_of_a_move_from_rest_to_rest(solver: str) -> None:
    """At rest at both ends of a step, a hundred revolutions between."""
    turns = 200.0 * np.pi
    mech = rotor(lw.Revolute(Z))
    mech.prescribe("A", lw.Motion((0.0, 0.0, 3.0 * turns, -2.0 * turns)))
    result = lw.simulate(mech, 1.0, solver=solver, first_step=1.0)
    assert np.diff(result["A.q"]).max() < 1.6 * TWELFTH


@pytest.mark.parametrize("solver", ["dopri5", "LSODA"])
def test_cut_joints_keep_their_revolutions(solver: str) -> None:
    """A parallelogram at constant speed: the cut joint's angle is counted from step to step."""
    mech = lw.Mechanism("parallelogram", gravity=(0, 0, 0))
    for name in "abc":
        mech.add_body(name, mass=1.0, com=(0, 0, 0), inertia=0.01 * np.eye(3))
    joints = (
        ("A", "ground", "a", 0.0, 0.0),
        ("B", "a", "b", 0.1, 0.0),
        ("C", "b", "c", 0.5, 0.1),
        ("D", "ground", "c", 0.5, 0.0),
    )
    for name, parent, child, on_parent, on_child in joints:
        frames = {"parent_frame": lw.Frame((on_parent, 0, 0)), "child_frame": lw.Frame((on_child, 0, 0))}
        mech.add_joint(name, lw.Revolute(Z), parent, child, **frames)
    mech.start(q={"A": 1.0}, u={"A": 10.0 * np.pi})
    for t_eval in (None, [0.0, 7.0, 20.0]):
        result = lw.simulate(mech, 20.0, solver=solver, t_eval=t_eval)
        angle = 1.0 + 200.0 * np.pi
        assert [result[f"{name}.q"][-1] for name in "ABCD"] == pytest.approx([angle, -angle, angle, angle], rel=1e-6)


@pytest.mark.slow
def test_too_many_rows_are_said() -> None:
    """A million rows, a twelfth of a turn apart, end after 52 s."""
    with pytest.warns(lw.RowsWarning, match="t_eval"):
        lw.simulate(wheel(1e4), 100.0)


@pytest.mark.parametrize("solver", ["dopri5", "rodas5p", "RK45"])
@pytest.mark.parametrize("part", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_a_fast_slide_past_a_point(solver: str, part: int) -> None:
    """A body at constant speed comes near a point and leaves it, all within a step."""
    rng = np.random.default_rng(part)
    for _ in range(100 if part else 15):
        speed, away, aside = 10.0 ** rng.uniform(-1, 3), 10.0 ** rng.uniform(-1, 2), 10.0 ** rng.uniform(-4, -1.5)
        mech = rotor(lw.Prismatic((1, 0, 0)))
        mech.start(u={"A": speed})
        distance = lw.PointDistance(("rotor", "ground"), points=((0, 0, 0), (away, aside, 0)))
        value = aside * (1.0 + 10.0 ** rng.uniform(-3.0, 0.0))
        mech.add_transition("pass", lw.Lock("lamp"), when=lw.Crossing(distance, value, direction=-1))
        (event,) = lw.simulate(mech, 3.0 * away / speed, solver=solver).events
        assert event.t == pytest.approx((away - np.sqrt(value**2 - aside**2)) / speed, rel=1e-6)


@pytest.mark.parametrize("solver", ["dopri5", "rodas5p"])
def test_a_slide_that_oscillates(solver: str) -> None:
    """A harmonic drive passes a point twice a period, whatever the rate."""
    rng = np.random.default_rng(3)
    for _ in range(4):
        rate, amplitude, periods = 10.0 ** rng.uniform(-1, 3), 10.0 ** rng.uniform(-3, 0), int(rng.integers(1, 30))
        mech = rotor(lw.Prismatic((1, 0, 0)))
        mech.prescribe("A", lw.Motion(amplitude=amplitude, frequency=rate))
        at = amplitude * rng.choice([-1, 1]) * rng.uniform(0.2, 0.9)
        distance = lw.PointDistance(("rotor", "ground"), points=((0, 0, 0), (at, 0, 0)))
        mech.add_transition("pass", lw.Lock("lamp"), when=lw.Crossing(distance, 1e-3 * amplitude, direction=-1))
        assert len(lw.simulate(mech, periods / rate, solver=solver).events) == 2 * periods
