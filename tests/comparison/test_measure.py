"""Measured quantities against closed forms."""

import dataclasses

import numpy as np
import pytest

import linkwork as lw
from linkwork.comparison.measure import cpu_time, energy_drift, errors, keeps_energy, loop_residual
from linkwork.comparison.reference import NEAR_EVENT
from support.cases import four_bar
from support.closed_form import MASS, STIFFNESS, SWING, bouncing_ball, oscillation, oscillator, tumbler
from support.small import pendulum

T = np.linspace(0.0, 4.0, 101)
ALL = np.ones(T.size, dtype=bool)


def with_states(result, y):
    """A result of the same run with other states [q; u] at its rows."""
    return result._of(dataclasses.replace(result._trajectory, y=y), result.events, result._hidden)


@pytest.mark.parametrize("run", ["dopri5", "DOP853", "Radau", "multipliers/RK45", "dca/BDF"])
def test_the_error_told_is_the_true_one(run):
    found = lw.compare(oscillator(), T[-1], runs=[run], rtol=[1e-4, 1e-7], t_eval=T, repeat=1)
    for row in found.rows:
        spec = row.run.split("/")
        result = lw.simulate(lw.compile(oscillator(), spec[0]), T[-1], solver=spec[1], rtol=row.rtol, t_eval=T)
        (q, u), floor = oscillation(T), found.reference.floor()
        assert row.error_q == pytest.approx(np.abs(result["X.q"] - q).max() / SWING, abs=floor.q)
        assert row.error_u == pytest.approx(np.abs(result["X.u"] - u).max() / np.abs(u).max(), abs=floor.u)
        assert row.error > 10 * row.error_floor
        assert row.error == max(row.error_q, row.error_u)


def test_the_reference_knows_how_wrong_it_is():
    reference = lw.compare(oscillator(), T[-1], runs=["dopri5"], t_eval=T, repeat=1).reference
    q, u = oscillation(T)
    assert np.abs(reference.result["X.q"] - q).max() / SWING < reference.floor().q < 1e-11
    assert np.abs(reference.result["X.u"] - u).max() / np.abs(u).max() < reference.floor().u < 1e-11


def test_what_is_small_is_compared_as_it_is():
    """A bar of 1 m falls by less than 1 rad, and its end by less than 1 m: errors are in rad and m."""
    t = np.linspace(0.0, 0.2, 11)
    exact, rough = (lw.simulate(pendulum(), 0.2, t_eval=t, rtol=rtol) for rtol in (1e-12, 1e-3))
    rows = np.ones(t.size, dtype=bool)
    off = np.abs(rough["A.q"] - exact["A.q"]).max()
    assert errors(rough, exact, rows, ["A.q"]).columns == off > 0
    moved = np.abs(rough["rod.r"] - exact["rod.r"]).max()
    assert errors(rough, exact, rows, ["A.q", "rod.r"]).columns == max(off, moved)
    assert errors(rough, exact, rows, ["rod.r[3]"]).columns == np.abs(rough["rod.r"] - exact["rod.r"])[:, 2].max()


def test_quaternions_are_compared_up_to_sign_and_length():
    spin = 2.0
    result = lw.simulate(tumbler(spin), T[-1], t_eval=T, rtol=1e-11)
    y = result.y.copy()
    y[::2, 3:7] *= -1.5
    other = with_states(result, y)
    for names in (None, ["ball.Q"], ["F.q"], ["F.q[4]"], ["ball.Q[1]"]):
        assert errors(other, result, ALL, names).columns < 1e-12
    turned = lw.simulate(tumbler(1.1 * spin), T[-1], t_eval=T, rtol=1e-11)
    half = 0.05 * spin * T  # half the angle between the two
    between = np.hypot(1 - np.cos(half), np.sin(half))  # chord on the sphere of quaternions
    found = errors(turned, result, ALL, None)
    assert between.max() / 2 < found.q < between.max()
    assert found.u == pytest.approx(0.1)  # of 2 rad/s, relative


def test_what_is_no_number_is_infinitely_wrong():
    result = lw.simulate(pendulum(), 1.0, t_eval=[0.0, 0.5, 1.0])
    y = result.y.copy()
    y[1] = np.nan
    broken = with_states(result, y)
    rows = np.ones(3, dtype=bool)
    assert errors(broken, result, rows, None).q == np.inf
    assert errors(broken, result, np.array([True, False, True]), None).q == 0.0


def test_the_time_of_an_event_is_not_compared():
    height = 0.5
    hit = np.sqrt(2 * height / 9.81)
    found = lw.compare(bouncing_ball(height), 0.4, t_eval=[0.1, hit, 0.4], runs=["DOP853"], rtol=1e-6, repeat=1)
    assert found.reference.compared.tolist() == [True, False, True]
    assert found.rows[0].error < 1e-4
    assert NEAR_EVENT < 0.1


# ---- residuals and energy


def test_residual_of_loops_couplings_and_distances():
    assert loop_residual(lw.simulate(pendulum(), 0.1)) is None
    result = lw.simulate(four_bar().mechanism, 0.5, rtol=1e-5, loop_gain=0.0)
    assert loop_residual(result) == np.abs(result[f"loop.{result.model.loop_names[0]}.residual"]).max() > 0
    mech = pendulum()
    mech.add_body("wheel", mass=1.0, com=(0, 0, 0), inertia=lw.inertia.sphere(1.0, 0.1))
    mech.add_joint("B", lw.Revolute((0, 1, 0)), "ground", "wheel", at=(0, 0, 0))
    mech.add_coupling("gear", {"A": 1.0, "B": -2.0})
    result = lw.simulate(mech, 0.5, rtol=1e-5, loop_gain=0.0)
    assert loop_residual(result) == np.abs(result["A.q"] - 2 * result["B.q"]).max()


def test_energy_drift_is_relative_to_what_moves():
    result = lw.simulate(oscillator(), T[-1], t_eval=T, rtol=1e-4)
    total = 0.5 * MASS * result["X.u"] ** 2 + 0.5 * STIFFNESS * result["X.q"] ** 2
    assert energy_drift(result) == pytest.approx(np.abs(total / total[0] - 1).max(), rel=0.01)
    still = lw.Mechanism.from_dict(oscillator().to_dict())
    still.start(q={"X": 0.0})
    assert energy_drift(lw.simulate(still, 1.0)) is None


def _with_input() -> lw.Mechanism:
    mech = pendulum()
    mech.prescribe("A", lw.Motion((0.0, 1.0)))
    return mech


def test_the_zero_of_the_potential_energy_means_nothing():
    high = pendulum().to_dict()
    high["joints"][0]["parent_frame"] = {"position": [0.0, 0.0, 1000.0]}
    drifts = [
        energy_drift(lw.simulate(mech, 1.0, t_eval=[0.0, 0.5, 1.0], rtol=1e-4))
        for mech in (pendulum(), lw.Mechanism.from_dict(high))
    ]
    assert drifts[1] == pytest.approx(drifts[0], rel=1e-3)


@pytest.mark.parametrize(
    ("mech", "inputs", "keeps"),
    [
        (pendulum(), None, True),
        (pendulum(), {}, True),
        (oscillator(), None, True),
        (four_bar().mechanism, None, True),
        (pendulum(damping=0.1), None, False),
        (pendulum(), {"A": 1.0}, False),
        (_with_input(), None, False),
        (bouncing_ball(1.0), None, False),
    ],
)
def test_where_the_energy_stays(mech, inputs, keeps):
    assert keeps_energy(mech, inputs) == keeps
    (row,) = lw.compare(mech, 0.2, runs=["dopri5"], rtol=1e-6, inputs=inputs, repeat=1).rows
    assert (row.energy_drift is not None) == keeps


# ---- time


def test_slow_runs_are_timed_once_and_short_ones_often(monkeypatch):
    clock = iter([0.0, 2.0, 2.0, 3.0, 3.0, 3.5, *(3.5 + 0.004 * (k // 2 + k % 2) for k in range(12))])
    monkeypatch.setattr("time.process_time", lambda: next(clock))
    assert cpu_time(lambda: "slow", 3) == (2.0, "slow")
    assert cpu_time(lambda: "fast", 2) == (0.5, "fast")
    time, _ = cpu_time(lambda: "short", 1)
    assert time == pytest.approx(0.004)
    assert len(list(clock)) <= 2  # as often as fills 20 ms
