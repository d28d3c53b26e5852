"""Loads that last for a small part of a run, as functions of time: solvers that look between them see nothing."""

import math

import numpy as np
import pytest

import linkwork as lw
from linkwork.simulation.segments import SAMPLES
from linkwork.solvers import solver_names
from support import random_loads
from support.cases import four_bar
from support.dae_backends import needs_ida
from support.small import pendulum

T = 10.0
SOLVERS = [pytest.param(name, marks=needs_ida if name == "ida" else ()) for name in solver_names()]


def disc(spring: bool = False) -> lw.Mechanism:
    """0.5 kg m2 about its hinge, free or on a spring and out of rest."""
    mech = lw.Mechanism("disc", gravity=(0, 0, 0))
    mech.add_body("disc", mass=1.0, com=(0, 0, 0), inertia=0.5 * np.eye(3))
    mech.add_joint("A", lw.Revolute((0, 0, 1)), "ground", "disc", at=(0, 0, 0))
    if spring:
        mech.add_force(lw.SpringDamper("A", stiffness=20.0, damping=0.1))
        mech.start(q={"A": 0.1})
    return mech


def pulse(t_on, width, height=100.0):
    return lambda t: height if t_on <= t < t_on + width else 0.0


# ---- one short load, its impulse known ----


@pytest.mark.parametrize("width", [1.0, 0.1, 0.01, 0.002])
def test_a_pulse_gives_its_impulse(width):
    assert lw.simulate(disc(), T, inputs={"A": pulse(5.0, width)})["A.u"][-1] == pytest.approx(200 * width, rel=1e-9)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("t_on", [0.0, 3.14159, T - T / 500])
def test_every_solver_sees_a_five_hundredth_of_the_run(solver, t_on):
    width = T / 500
    result = lw.simulate(disc(), T, inputs={"A": pulse(t_on, width)}, solver=solver)
    assert result["A.u"][-1] == pytest.approx(200 * width, rel=1e-7)


@needs_ida
def test_other_formulations_see_it():
    result = lw.simulate(disc(), T, inputs={"A": pulse(3.14159, T / 500)}, solver="ida", formulation="ggl")
    assert result["A.u"][-1] == pytest.approx(200 * T / 500, rel=1e-6)


SMOOTH = {
    "half sine": (lambda x: math.sin(math.pi * x) if 0 < x < 1 else 0.0, 2 / math.pi),
    "bell": (lambda x: math.exp(-(((x - 0.5) * 4) ** 2)), math.sqrt(math.pi) / 4),
    "triangle": (lambda x: max(0.0, 1 - abs(2 * x - 1)), 0.5),
}


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("shape", SMOOTH)
@pytest.mark.parametrize("width", [T / 500, T / 70, T / 4])
@pytest.mark.thin(15, kept=3)
def test_loads_without_jumps(shape, solver, width):
    """The mechanism is at rest before, so that solvers have taken long steps."""
    f, area = SMOOTH[shape]
    begin = 0.6 * T
    result = lw.simulate(disc(), T, inputs={"A": lambda t: 100.0 * f((t - begin) / width)}, solver=solver, rtol=1e-7)
    assert result["A.u"][-1] == pytest.approx(200 * area * width, rel=3e-6)


def test_a_hammer_while_it_oscillates():
    """Free motion but for one kick, whose length counts: the sum of two closed forms."""
    mech, width = disc(spring=True), 0.002
    result = lw.simulate(mech, T, inputs={"A": pulse(5.0, width)}, rtol=1e-10)
    decay, rate = 0.1, math.sqrt(20 / 0.5 - 0.1**2)

    def step(t):  # of a constant load of 100 N m from 0 on
        return 5.0 * (1 - math.exp(-decay * t) * (math.cos(rate * t) + decay / rate * math.sin(rate * t)))

    free = 0.1 * math.exp(-decay * T) * (math.cos(rate * T) + decay / rate * math.sin(rate * T))
    assert result["A.q"][-1] == pytest.approx(free + step(T - 5.0) - step(T - 5.0 - width), abs=1e-9)


def test_backward():
    result = lw.simulate(disc(), 0.0, t_start=T, inputs={"A": pulse(3.3, 0.02)})
    assert result["A.u"][-1] == pytest.approx(-200 * 0.02, rel=1e-9)


def test_functions_of_the_state_and_controllers():
    """Their jumps in time are found, with the state at the start."""
    kick, expected = pulse(4.321, T / 500), 200 * T / 500

    class Kick(lw.Controller):
        x0 = (0.0,)

        def outputs(self, t, state):
            return {"A": kick(t) + 0.0 * state["A.q"]}

        def rates(self, t, state):
            return [kick(t)]

    of_state = lw.simulate(disc(), T, inputs={"A": lambda t, state: kick(t)})
    by_function = lw.simulate(disc(), T, controller=lambda t, state: {"A": kick(state.t)})
    by_object = lw.simulate(disc(), T, controller=Kick())
    for result in (of_state, by_function, by_object):
        assert result["A.u"][-1] == pytest.approx(expected, rel=1e-8)
    assert by_object.controller_states[-1, 0] == pytest.approx(expected / 2, rel=1e-8)


def test_commands_and_wrenches():
    """A lock that is commanded for a five-hundredth of the run; and a torque of three numbers."""
    mech = disc()
    mech.add_transition("latch", lw.Lock("A"), when=lw.Command())
    mech.start(u={"A": 2.0})
    result = lw.simulate(mech, T, inputs={"latch.command": lambda t: 4.0 < t < 4.0 + T / 500})
    assert [event.t for event in result.events] == pytest.approx([4.0, 4.0 + T / 500], abs=1e-12)
    assert result["A.u"][-1] == 0.0
    mech = disc()
    mech.add_force(lw.Wrench("disc", point=(0.5, 0, 0), name="push"))
    force = pulse(7.7, T / 500)
    result = lw.simulate(mech, 7.7 + T / 500, inputs={"push.T": lambda t: [0.0, 0.0, force(t)]})
    assert result["A.u"][-1] == pytest.approx(200 * T / 500, rel=1e-7)


# ---- what it costs, and what stays as it was ----


def test_what_does_not_change_costs_no_step():
    """Functions that are constant or slow: the steps of the run without a limit, to the bit."""
    system = lw.compile(pendulum())
    constant = lw.simulate(system, 3.0, inputs={"A": 0.4})
    assert np.array_equal(lw.simulate(system, 3.0, inputs={"A": lambda t: 0.4}).y, constant.y)
    slow = lw.simulate(system, 3.0, inputs={"A": lambda t: math.sin(2 * t)})
    free = lw.simulate(system, 3.0, inputs={"A": lambda t: math.sin(2 * t)}, max_step=3.0)
    assert len(slow.t) == len(np.unique(slow.t))  # no segment ends on the way
    assert np.array_equal(slow.t, free.t)


def test_the_number_of_calls_is_bounded():
    calls = 0

    def load(t):
        nonlocal calls
        calls += 1
        return math.sin(2 * t) + (1.0 if t > 1.234 else 0.0) + abs(t - 2.345)

    result = lw.simulate(pendulum(), 3.0, inputs={"A": load})
    assert calls <= SAMPLES + 200 + result.statistics.evaluations + 2 * len(result.t)


def test_rows_at_a_jump_have_the_load_before_and_after_it():
    result = lw.simulate(disc(), T, inputs={"A": pulse(5.0, 1.0)})
    for at, before, after in ((5.0, 0.0, 100.0), (6.0, 100.0, 0.0)):
        assert result["A.tau"][result.t == at].tolist() == [before, after]
    assert result.at(5.0)["A.tau"] == 100.0


@pytest.mark.parametrize("solver", ["dopri5", "DOP853"])
@pytest.mark.parametrize(
    "driven",
    [{"inputs": {"A": pulse(5.0, 1.0)}}, {"controller": lambda t, state: {"A": 0.1 * t}, "sample_time": 1.0}],
    ids=["jump", "sample"],
)
def test_events_where_inputs_jump(driven, solver):
    """An event function that is zero at that very instant."""
    rising, falling = (lambda t, state: t - 5.0), (lambda t, state: 5.0 - t)
    late, turned = (lambda t, state: t - 7.5), (lambda t, state: (t - 5.0) ** 2)
    result = lw.simulate(disc(), T, events=[rising, falling, late, turned], solver=solver, **driven)
    times = [event.t for event in result.events for name in event.functions]
    assert times[:2] == pytest.approx([5.0, 5.0], abs=1e-12)
    assert times[-1] == pytest.approx(7.5, abs=1e-12)


def test_a_function_that_asks_for_an_interrupt_while_it_is_sampled():
    """The keyboard's interrupt of the samples passes."""
    calls = []

    def load(t):
        calls.append(t)
        if len(calls) == 50:
            raise KeyboardInterrupt
        return 0.0

    with pytest.raises(KeyboardInterrupt):
        lw.simulate(disc(), T, inputs={"A": load})
    assert len(calls) == 51


# ---- random loads ----


def of(number: int) -> tuple[lw.Model, float]:
    """A compiled mechanism and the longest run of it that is not chaotic."""
    damped = pendulum(damping=0.3)
    damped.start(q={"A": 1.3})
    mech, longest = [(disc(), 10.0), (disc(spring=True), 10.0), (damped, 10.0), (four_bar().mechanism, 1.0)][number % 4]
    return lw.compile(mech), longest


def check_random(seed: int, solver: str) -> None:
    """The end equals that of an accurate run with steps of at most a thousandth."""
    rng = np.random.default_rng(seed)
    model, longest = of(seed)
    span, t_start, rtol = min(longest, 10 ** rng.uniform(-0.3, 1)), rng.choice([0.0, 1.7]), 10.0 ** rng.integers(-9, -4)
    make = random_loads.table if rng.random() < 0.5 else random_loads.function
    load = make(rng, t_start, span)
    result = lw.simulate(model, t_start + span, t_start=t_start, inputs={"A": load}, solver=solver, rtol=rtol)
    exact = lw.simulate(
        model, t_start + span, t_start=t_start, inputs={"A": load}, rtol=1e-12, max_step=span / 1000, max_steps=None
    )
    error = np.abs(result.y[-1] - exact.y[-1]) / (1 + np.abs(exact.y[-1]))
    # What the motion amplifies comes on top: pendulums and four-bars turn over.
    assert error.max() < (20 if seed % 4 < 2 else 500) * rtol, (seed, error / rtol)


@pytest.mark.thin(5)
@pytest.mark.parametrize("part", range(10))
def test_random_loads(part):
    for seed in range(5 * part, 5 * part + 5):
        check_random(seed, "dopri5")


@pytest.mark.thin(16, kept=2)
@pytest.mark.parametrize("solver", [one for one in SOLVERS if one.values[0] not in ("dopri5", "RK23")])
@pytest.mark.parametrize("seed", range(1000, 1008))
def test_random_loads_by_every_solver(seed, solver):
    check_random(seed, solver)
