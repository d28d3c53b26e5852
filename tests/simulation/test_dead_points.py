"""Locks, pins and stops where the rate that they act on vanishes: decided as at the neighbouring poses, or an error.

To first order a lock of a slider at its dead centre allows every motion of the crank; to second order it allows none. A
moment earlier or later the same lock is an ordinary one: it stops a crank that coasts, and contradicts one that is
driven.
"""

import numpy as np
import pytest

import linkwork as lw
from support.dead_points import CRANK, cam, slider, slider_crank
from support.latched import exported
from support.random_mechanisms import FAMILIES, well_posed

EXACT = 1e-8


def with_lock(mech, joint, when, action=None):
    mech.add_transition("L", action or lw.Lock(joint), when=when)
    return mech


# ---- driven: a lock-up ----


@pytest.mark.parametrize("method", ["auto", "multipliers", "dca", "embedding"])
@pytest.mark.parametrize(("angle", "start"), [(0.0, -0.3), (np.pi, np.pi - 0.3)])
def test_a_driven_crank_locks_up(angle, start, method):
    mech = slider_crank(10.0, driven=True, start=start)
    with_lock(mech, "S", lw.Crossing("A.q", angle, direction=0))
    with pytest.raises(lw.SolverError, match="lock 'L' and the motion of 'A_drive' contradict each other") as caught:
        lw.simulate(lw.compile(mech, method=method), 0.4)
    at = (angle - start) / 10.0
    assert f"t = {at:.9g} s" in str(caught.value)
    assert caught.value.result.t[-1] == pytest.approx(at, abs=1e-9)


@pytest.mark.parametrize("off", [1e-3, 1e-6, 1e-9, 0.0, -1e-9, -1e-6, -1e-3])
@pytest.mark.parametrize("action", [lw.Lock("S"), lw.Pin("ground", "piston", lw.Fixed())])
def test_at_and_near_the_dead_point(off, action):
    """The message is the same, whether it contradicts the rates or, at the dead point, their derivatives only."""
    mech = slider_crank(10.0, driven=True)
    with_lock(mech, "S", lw.Crossing("A.q", np.pi + off, direction=0), action)
    with pytest.raises(lw.SolverError, match="'L' and the motion of 'A_drive' contradict each other"):
        lw.simulate(mech, 0.5)


@pytest.mark.parametrize("coefficients", [(0.0, 1.0), (0.0, 0.7, -0.4)])
def test_a_cam_at_its_turning_point(coefficients):
    mech = with_lock(cam(coefficients, 1.0, driven=True), "b", lw.Time(1.0))
    with pytest.raises(lw.SolverError, match=r"t = 1 s .*lock 'L' and the motion of 'a_drive'"):
        lw.simulate(mech, 2.0)


# ---- coasting: it stops, as at the neighbours ----


@pytest.mark.parametrize("off", [1e-4, 1e-7, 0.0, -1e-7, -1e-4])
@pytest.mark.parametrize("action", [lw.Lock("S"), lw.Pin("ground", "piston", lw.Fixed())])
def test_a_coasting_crank_stops(off, action):
    mech = slider_crank(10.0, driven=False)
    with_lock(mech, "S", lw.Crossing("A.q", np.pi + off, direction=0), action)
    result = lw.simulate(mech, 0.8)
    assert result["A.u"][-1] == pytest.approx(0.0, abs=1e-6)
    assert result["A.q"][-1] == pytest.approx(np.pi + off, abs=1e-6)
    assert result["S.q"][-1] == pytest.approx(slider(np.pi + off), abs=EXACT)
    assert result["energy.lost"][-1] == pytest.approx(result["energy.kinetic"][0], rel=1e-6)


def test_a_coasting_cam_stops():
    result = lw.simulate(with_lock(cam((0.0, 1.0), 1.0, driven=False), "b", lw.Crossing("a.q", 0.0)), 3.0)
    assert result["a.u"][-1] == pytest.approx(0.0, abs=1e-6)
    assert result["L.active"][-1] == 1


def test_what_else_moves_keeps_its_motion():
    """The lock stops the crank; a body that hangs on it keeps the momentum about its own hinge."""
    mech = slider_crank(10.0, driven=False)
    mech.add_body("wheel", mass=0.5, com=(0, 0, 0), inertia=lw.inertia.sphere(0.5, 0.02))
    mech.add_joint("W", lw.Revolute((0, 1, 0)), "crank", "wheel", parent_frame=lw.Frame((CRANK / 2, 0, 0)))
    mech.start(u={"W": 3.0})
    with_lock(mech, "S", lw.Crossing("A.q", np.pi, direction=0))
    result = lw.simulate(mech, 0.8)
    assert result["A.u"][-1] == pytest.approx(0.0, abs=1e-5)
    before = result["wheel.w[2]"][result.t < result.events[0].t][-1]
    assert result["wheel.w[2]"][-1] == pytest.approx(before, rel=1e-4)


@pytest.mark.parametrize("action", [lw.Lock("S"), lw.Pin("ground", "piston", lw.Fixed())])
def test_loads_that_press_it_out_are_named(action):
    mech = slider_crank(10.0, driven=False, gravity=9.81)
    with_lock(mech, "S", lw.Crossing("A.q", np.pi, direction=0), action)
    told = r"(lock|pin) 'L' holds the mechanism of joint '[ABCS]' at a dead point at t = 0\.\d+ s"
    with pytest.raises(lw.LinkworkError, match=told):
        lw.simulate(mech, 0.8)


def test_a_mechanism_that_only_its_pin_closes_is_named_by_another_joint():
    """A pin through the tip of two links in line, which their weight bends."""
    mech = lw.Mechanism("arm", gravity=(0, 0, -9.81))
    for k in range(2):
        mech.add_body(f"b{k}", mass=1, com=(0.5, 0, 0), inertia=lw.inertia.rod(1, 1.0), origin=(k, 0, 0))
        mech.add_joint("AB"[k], lw.Revolute((0, 1, 0)), f"b{k - 1}" if k else "ground", f"b{k}", at=(k, 0, 0))
    mech.start(u={"A": 1.0})
    tip = {"parent_frame": lw.Frame((2, 0, 0)), "child_frame": lw.Frame((1, 0, 0))}
    mech.add_transition("L", lw.Pin("ground", "b1", lw.Revolute((0, 1, 0)), **tip), when=lw.Time(0.0))
    with pytest.raises(lw.LinkworkError, match=r"pin 'L' holds the mechanism of joint '[AB]' at a dead point"):
        lw.simulate(mech, 0.1)


@pytest.mark.parametrize("late", [0.0, 1e-7, 3e-7, 1e-6, 1.7e-6, 1e-5])
@pytest.mark.parametrize("seed", [50, 51])
def test_a_lock_a_moment_after_the_dead_point_of_a_spatial_loop(seed, late):
    """The speeds that the neighbours leave are rounding: so is what they violate, which is no contradiction."""
    mech = well_posed(FAMILIES["spatial_6R_1P"][0], seed).mechanism.copy()
    mech.transitions.clear(), mech.forces.clear()
    mech.gravity = (0, 0, 0)
    closed, driving = lw.compile(mech).assemble(), next(n for n, j in mech.joints.items() if j.kind.nq == 1)
    mech.start(q={n: closed[f"{n}.q"] for n, j in mech.joints.items() if j.kind.nq}, u={driving: 3.0})
    turn = lw.EventFunction(lambda t, state: state["j1.u"], name="turn")
    free = lw.simulate(mech, 0.5, rtol=1e-11, atol=1e-12, events=[turn])
    at = free.events[0].t
    result = lw.simulate(with_lock(mech, "j1", lw.Time(at + late)), at + 0.1, rtol=1e-10, atol=1e-12)
    assert result["L.active"][-1] == 1
    assert max(abs(result[f"{n}.u"][-1]) for n, j in mech.joints.items() if j.kind.nq == 1) < 1e-6


# ---- stops ----


@pytest.mark.parametrize("driven", [True, False])
@pytest.mark.parametrize("restitution", [0.0, 0.5])
def test_a_stop_exactly_at_the_dead_centre_is_touched_and_left(driven, restitution):
    mech, free = slider_crank(10.0, driven=driven), slider_crank(10.0, driven=driven)
    mech.add_transition("bump", lw.Stop("S", lower=-2 * CRANK, restitution=restitution))
    t = np.linspace(0, 1.2, 25)
    result, expected = lw.simulate(mech, 1.2, t_eval=t), lw.simulate(free, 1.2, t_eval=t)
    for name in ("A.q", "A.u", "S.q"):
        np.testing.assert_allclose(result.at(t, [name])[name], expected[name], atol=1e-6)


@pytest.mark.parametrize("short", [1e-2, 1e-4, 1e-6])
def test_a_stop_before_the_dead_centre_is_a_lock_up(short):
    mech = slider_crank(10.0, driven=True)
    mech.add_transition("bump", lw.Stop("S", lower=-2 * CRANK + short))
    with pytest.raises(lw.SolverError, match="stop 'bump' and the motion of 'A_drive' contradict each other"):
        lw.simulate(mech, 0.5)


# ---- the same decision elsewhere ----


@pytest.mark.parametrize("driven", [True, False])
def test_a_jump_of_a_state(driven):
    mech = with_lock(slider_crank(10.0, driven=driven, start=np.pi - 1.0), "S", lw.Command())
    system = lw.compile(mech)
    state = lw.simulate(system, 0.1, rtol=1e-11).state(0.1) if driven else None
    if driven:
        with pytest.raises(lw.SolverError, match="lock 'L' and the motion of 'A_drive'"):
            system.jump(state, ["L"])
        return
    at = system.assemble(q={"A": np.pi, "S": -2 * CRANK}, u={"A": 10.0})
    assert system.jump(at, ["L"]).state["A.u"] == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("kind", ["ModelExchange", "CoSimulation"])
def test_an_fmu_decides_alike(kind, tmp_path):
    fmpy = pytest.importorskip("fmpy")
    stops = with_lock(slider_crank(10.0, driven=False), "S", lw.Crossing("A.q", np.pi, direction=0))
    options = {"fmi_type": kind, "stop_time": 0.6, "output_interval": 0.01, "relative_tolerance": 1e-10}
    fmu = exported(stops, "3.0", tmp_path)
    result = fmpy.simulate_fmu(str(fmu.path), output=["A.q", "A.u"], **options)
    assert result["A.u"][-1] == pytest.approx(0.0, abs=1e-5)
    locks_up = with_lock(slider_crank(10.0, driven=True), "S", lw.Time((np.pi - 0.3) / 10))
    messages = []
    fmu = exported(locks_up, "3.0", tmp_path)
    with pytest.raises(fmpy.fmi1.FMICallException):
        fmpy.simulate_fmu(str(fmu.path), logger=lambda *given: messages.append(str(given)), **options)
    assert any("lock 'L' and the motion of 'A_drive' contradict each other" in one for one in messages)


# ---- at random ----


def drawn(seed):
    """A mechanism with a lock, pin or stop at or near a dead point, with its crank or follower."""
    rng = np.random.default_rng(seed)
    driven = bool(rng.integers(2))
    off = float(rng.choice([0.0, 0.0, 1e-9, -1e-9, 1e-6, -1e-6, 1e-3, -1e-3]))
    if rng.random() < 0.6:
        mech, held, moving = slider_crank(float(rng.uniform(3, 15)), driven=driven), "S", "A"
        action = rng.choice([lw.Lock("S"), lw.Pin("ground", "piston", lw.Fixed())])
        at, end = np.pi + off, 2.0
    else:
        curve = (0.0, float(rng.uniform(0.5, 2)), float(rng.uniform(-0.3, 0.3)))
        mech, held, moving = cam(curve, float(rng.uniform(0.5, 3)), driven=driven), "b", "a"
        action, at, end = rng.choice([lw.Lock("b"), lw.Pin("ground", "b", lw.Fixed())]), off, 4.0
    mech.add_transition("L", action, when=lw.Crossing(f"{moving}.q", at, direction=0))
    return mech, driven, held, moving, end


@pytest.mark.parametrize("seed", range(24))
def test_none_is_silent(seed):
    mech, driven, held, moving, end = drawn(seed)
    if driven:
        with pytest.raises(lw.SolverError, match=f"'L' and the motion of '{moving}_drive'"):
            lw.simulate(mech, end)
        return
    result = lw.simulate(mech, end)
    assert result["L.active"][-1] == 1
    assert result[f"{moving}.u"][-1] == pytest.approx(0.0, abs=1e-4)
    assert np.ptp(result[f"{held}.q"][result.t >= result.events[0].t]) < 1e-6
