"""Stops in simulations: bounces, rest, contacts that open, against closed forms."""

import numpy as np
import pytest

import linkwork as lw
from support.builder import cut_at
from support.cases import four_bar

Z = (0, 0, 1)
G, MASS = 9.81, 0.3
INERTIA = 0.04


def ball(restitution, *, height=1.0, speed=0.0):
    mech = lw.Mechanism("ball", gravity=(0, 0, -G))
    add_ball(mech, "ball", "ground", restitution)
    mech.start(q={"ball_z": height}, u={"ball_z": speed})
    return mech


def add_ball(mech, name, carrier, restitution):
    mech.add_body(name, mass=MASS, com=(0, 0, 0), inertia=lw.inertia.sphere(MASS, 0.1))
    mech.add_joint(f"{name}_z", lw.Prismatic(Z), carrier, name, at=(0, 0, 0))
    mech.add_transition(f"{name}_floor", lw.Stop(f"{name}_z", lower=0.0, restitution=restitution))


def pendulum(restitution, angle=-0.8):
    """Turned against its upper bound at zero by a constant load of 1 N m, without weight."""
    mech = lw.Mechanism("pendulum", gravity=(0, 0, 0))
    mech.add_body("arm", mass=1.0, com=(0, 0, 0), inertia=np.diag([1.0, INERTIA, 1.0]))
    mech.add_joint("hinge", lw.Revolute((0, 1, 0)), "ground", "arm", at=(0, 0, 0))
    mech.add_transition("stop", lw.Stop("hinge", upper=0.0, restitution=restitution))
    mech.start(q={"hinge": angle})
    return mech


def time_of_rest(first, restitution):
    """From rest, reached after `first` seconds, the sum of all flights."""
    return first * (1 + restitution) / (1 - restitution)


# ---- bounces ----


# LSODA's own error of its short first steps adds up over the last bounces.
@pytest.mark.parametrize(
    ("solver", "tolerance"), [("dopri5", 1e-6), ("DOP853", 1e-6), ("Radau", 1e-6), ("rodas5p", 1e-6), ("LSODA", 3e-5)]
)
@pytest.mark.parametrize("restitution", [0.0, 0.2, 0.5, 0.9])
def test_a_ball_comes_to_rest(solver, tolerance, restitution):
    end = time_of_rest(np.sqrt(2 / G), restitution)
    result = lw.simulate(ball(restitution), end + 0.5, rtol=1e-9, solver=solver)
    assert result.events[-1].t == pytest.approx(end, rel=tolerance)
    assert len(result.events) < 200
    assert result["ball_z.u"][-1] == 0.0
    assert abs(result["ball_z.q"][-1]) < 1e-10
    assert result["ball_z.q"].min() > -1e-9
    assert sum(event.energy_lost for event in result.events) == pytest.approx(MASS * G, rel=1e-7)


def test_it_takes_many_bounces_where_little_is_lost():
    restitution = 0.99
    end = time_of_rest(np.sqrt(2 / G), restitution)
    result = lw.simulate(ball(restitution), end + 1.0, t_eval=[0.0, end + 1.0])
    assert result.events[-1].t == pytest.approx(end, rel=1e-6)
    assert result.y[-1] == pytest.approx(np.zeros(2), abs=1e-8)
    times = [event.t for event in result.events[:400]]
    flights = np.diff(times)
    assert flights[1:] / flights[:-1] == pytest.approx(np.full(flights.size - 1, restitution), rel=1e-9)


def test_an_elastic_ball_never_rests():
    result = lw.simulate(ball(1.0), 20.0, rtol=1e-10)
    first = np.sqrt(2 / G)
    assert [event.t for event in result.events] == pytest.approx(first * np.arange(1, 2 * len(result.events), 2))
    assert len(result.events) == int((20.0 / first + 1) / 2)
    energy = result["energy.kinetic"] + result["energy.potential"]
    assert energy == pytest.approx(np.full(energy.size, MASS * G), rel=1e-9)


@pytest.mark.parametrize("restitution", [0.0, 0.5, 1.0])
def test_what_lies_on_a_stop_stays_there(restitution):
    result = lw.simulate(ball(restitution, height=0.0), 1.0)
    assert len(result.events) < 30
    assert result["ball_z.q"] == pytest.approx(np.zeros(result.t.size), abs=1e-12)
    assert result["ball_z.f"][-1] == pytest.approx([0, 0, MASS * G])


def test_thrown_up_from_a_stop():
    result = lw.simulate(ball(0.5, height=0.0, speed=1.0), 1.0, rtol=1e-9)
    assert result.events[0].t == pytest.approx(2.0 / G, rel=1e-9)
    assert result.events[-1].t == pytest.approx(2.0 / G / (1 - 0.5), rel=1e-6)


@pytest.mark.parametrize("restitution", [0.0, 0.5, 0.9])
def test_a_pendulum_comes_to_rest(restitution):
    end = time_of_rest(np.sqrt(2 * 0.8 * INERTIA), restitution)
    result = lw.simulate(pendulum(restitution), end + 1.0, inputs={"hinge": 1.0}, rtol=1e-9)
    assert result.events[-1].t == pytest.approx(end, rel=1e-6)
    assert result.y[-1] == pytest.approx([0.0, 0.0], abs=1e-10)
    assert result.events[0].impulses["hinge"][1] == pytest.approx(-(1 + restitution) * np.sqrt(2 * 0.8 * INERTIA))


def test_two_bounds_without_forces():
    """Between walls at -0.2 and 0.3, a little slower after each: flight after flight in closed form."""
    mech = lw.Mechanism("walls", gravity=(0, 0, 0))
    mech.add_body("puck", mass=1.0, com=(0, 0, 0), inertia=np.eye(3))
    mech.add_joint("x", lw.Prismatic((1, 0, 0)), "ground", "puck", at=(0, 0, 0))
    mech.add_transition("walls", lw.Stop("x", lower=-0.2, upper=0.3, restitution=0.8))
    mech.start(u={"x": 2.0})
    result = lw.simulate(mech, 2.0, rtol=1e-10)
    flights = np.r_[0.15, 0.25 / 0.8 ** np.arange(1, 8)]
    expected = np.cumsum(flights)
    expected = expected[expected < 2.0]
    assert [event.t for event in result.events] == pytest.approx(expected, abs=1e-12)
    assert result["x.u"][-1] == pytest.approx(2.0 * (-0.8) ** expected.size)


# ---- several at once ----


def slide(gravity=0.0):
    mech = lw.Mechanism("slide", gravity=(0, 0, -gravity))
    mech.add_body("mass", mass=1.0, com=(0, 0, 0), inertia=0.01 * np.eye(3))
    mech.add_joint("z", lw.Prismatic(Z), "ground", "mass", at=(0, 0, 0))
    return mech


@pytest.mark.parametrize("solver", ["dopri5", "rodas5p"])
def test_rebounds_stay_at_the_bounds(solver):
    """One a second at 1 m/s: impacts are found a little late, and that does not add up."""
    mech = slide()
    mech.start(q={"z": 0.5}, u={"z": 1.0})
    mech.add_transition("ends", lw.Stop("z", lower=0.0, upper=1.0, restitution=1.0))
    result = lw.simulate(mech, 1000.0, solver=solver)
    assert [event.t for event in result.events] == pytest.approx(np.arange(1000) + 0.5, abs=1e-7, rel=0)
    assert -1e-10 < result["z.q"].min() < result["z.q"].max() < 1.0 + 1e-10


def test_landings_stay_at_the_bound():
    mech = slide(gravity=9.81)
    mech.add_transition("floor", lw.Stop("z", lower=0.0))
    result = lw.simulate(mech, 150.0, inputs={"z.tau": lambda t: 2.0 * 9.81 * np.sin(2.0 * np.pi * t)})
    assert len(result.events) >= 300
    assert -1e-10 < result["z.q"].min() <= 0.0 < 0.01 < result["z.q"].max()


def test_balls_that_land_together():
    mech = lw.Mechanism("balls", gravity=(0, 0, -G))
    restitutions = (0.0, 0.5, 0.9)
    for k, restitution in enumerate(restitutions):
        add_ball(mech, f"b{k}", "ground", restitution)
        mech.start(q={f"b{k}_z": 1.0})
    result = lw.simulate(mech, 0.6, rtol=1e-10)
    assert result.events[0].transitions == ("b0_floor", "b1_floor", "b2_floor")
    fall = np.sqrt(2 * G)
    assert result.events[0].u_before == pytest.approx(np.full(3, -fall))
    assert result.events[0].u_after == pytest.approx(fall * np.array(restitutions))


def test_a_ball_on_a_ball():
    """A stop of the joint between them supports the upper one on the lower one; both rest on their supports."""
    mech = lw.Mechanism("stack", gravity=(0, 0, -G))
    add_ball(mech, "low", "ground", 0.5)
    add_ball(mech, "high", "low", 0.5)
    mech.start(q={"low_z": 0.5, "high_z": 0.4})
    result = lw.simulate(mech, 6.0, rtol=1e-9)
    assert result["low_z.q"].min() > -1e-9
    assert result["high_z.q"].min() > -1e-9
    assert result.y[-1] == pytest.approx(np.zeros(4), abs=1e-7)
    total = result["energy.kinetic"][0] + result["energy.potential"][0]
    assert sum(event.energy_lost for event in result.events) == pytest.approx(total, rel=1e-6)
    assert result["low_z.f"][-1] == pytest.approx([0, 0, 2 * MASS * G])
    assert result["high_z.f"][-1] == pytest.approx([0, 0, MASS * G])


# ---- letting go ----


@pytest.mark.parametrize("solver", ["dopri5", "rodas5p", "DOP853", "Radau"])
def test_a_load_that_grows_lifts_off(solver):
    """A load of k t upward: off the floor at m g / k, then z = k (t - t0)^3 / 6 m."""
    k = 4.0
    t0 = MASS * G / k
    mech = ball(0.0, height=0.0)
    result = lw.simulate(mech, 1.5, inputs={"ball_z": lambda t: k * t}, rtol=1e-10, solver=solver)
    assert result.events[-1].t == pytest.approx(t0, abs=1e-9)
    assert result.events[-1].energy_lost == 0.0
    height = k * np.maximum(result.t - t0, 0.0) ** 3 / (6 * MASS)
    assert result["ball_z.q"] == pytest.approx(height, abs=1e-8)


def test_a_shaken_platform_throws_what_lies_on_it():
    """Where the platform's acceleration passes -g the ball flies on, and the platform falls away below it."""
    amplitude, rate = 0.2, 10.0
    mech = lw.Mechanism("shaker", gravity=(0, 0, -G))
    mech.add_body("table", mass=1.0, com=(0, 0, 0), inertia=np.eye(3))
    mech.add_joint("lift", lw.Prismatic(Z), "ground", "table", at=(0, 0, 0))
    mech.prescribe("lift", lw.Motion(amplitude=amplitude, frequency=rate / (2 * np.pi)))
    add_ball(mech, "ball", "table", 0.0)
    t0 = np.arcsin(G / (amplitude * rate**2)) / rate
    result = lw.simulate(mech, 0.25, rtol=1e-10)
    left = [event for event in result.events if event.energy_lost == 0.0 and event.t > 0.01]
    assert left[0].t == pytest.approx(t0, abs=1e-8)
    t = result.t[result.t >= t0] - t0
    z0, v0 = amplitude * np.sin(rate * t0), amplitude * rate * np.cos(rate * t0)
    assert result["ball.r"][result.t >= t0, 2] == pytest.approx(z0 + v0 * t - G * t**2 / 2, abs=1e-8)
    assert result["ball_z.q"][result.t < t0] == pytest.approx(0.0, abs=1e-10)


def test_a_load_that_reverses_takes_off_and_brings_back():
    mech = pendulum(0.0, angle=0.0)
    result = lw.simulate(mech, 3.0, inputs={"hinge": lambda t: np.cos(np.pi * t)}, rtol=1e-10)
    off = [event.t for event in result.events if event.energy_lost == 0.0]
    assert min(off, key=lambda t: abs(t - 0.5)) == pytest.approx(0.5, abs=1e-8)
    angle = -(np.cos(np.pi * result.t) + np.pi * (result.t - 0.5)) / (np.pi**2 * INERTIA)
    free = (result.t > 0.5) & (result.t < 1.4)
    assert result["hinge.q"][free] == pytest.approx(angle[free], abs=1e-7)
    assert result["hinge.q"].max() < 1e-9


# ---- in a loop ----


@pytest.mark.parametrize("restitution", [0.0, 0.6])
@pytest.mark.parametrize("cut", ["A", "D"])
def test_a_rocker_between_stops(restitution, cut):
    """A load on the crank of a four-bar drives its rocker to and fro; the bounded joint is a cut one or a tree one."""
    case, load = four_bar(), 8.0
    mech = cut_at(case.mechanism, cut)
    mech.start(q=case.q, u=case.u)
    bound = case.q["D"]
    mech.add_transition("stop", lw.Stop("D", lower=bound - 0.15, upper=bound + 0.1, restitution=restitution))
    result = lw.simulate(mech, 1.0, inputs={"A": load}, rtol=1e-9)
    assert result.events
    assert result["D.q"].max() < bound + 0.1 + 1e-6
    assert result["D.q"].min() > bound - 0.15 - 1e-6
    assert np.abs(result[f"loop.{cut}.residual"]).max() < 1e-7
    energy = result["energy.kinetic"] + result["energy.potential"]
    work = load * (result["A.q"][-1] - result["A.q"][0])
    lost = sum(event.energy_lost for event in result.events)
    assert energy[-1] - energy[0] == pytest.approx(work - lost, abs=1e-6)
    first = result.events[0]
    side = 1.0 if result["D.q"][result.t == first.t][0] > bound else -1.0
    before, after = result["D.u"][result.t == first.t][[0, -1]]
    assert side * before > 0.0
    assert after == pytest.approx(-restitution * before, abs=1e-8)


def test_a_rocker_stops_alike_wherever_the_loop_is_cut():
    ends = []
    for cut in "AD":
        case = four_bar()
        mech = cut_at(case.mechanism, cut)
        mech.start(q=case.q, u=case.u)
        mech.add_transition("stop", lw.Stop("D", lower=case.q["D"] - 0.15, restitution=0.6))
        result = lw.simulate(mech, 0.5, inputs={"A": 8.0}, rtol=1e-10)
        ends.append([result[f"{name}.q"][-1] for name in "ABCD"] + [event.t for event in result.events[:3]])
        assert result.events
    assert ends[0] == pytest.approx(ends[1], abs=1e-6)
