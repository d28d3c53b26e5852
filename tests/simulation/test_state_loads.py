"""Loads of the state, controllers and event functions, against SciPy on equations written by hand."""

import importlib
import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import ellipk

import linkwork as lw
from support.small import pendulum, spinning_crank

LENGTH, MASS = 1.0, 1.0
INERTIA, WEIGHT = MASS * LENGTH**2 / 3, 9.81 * MASS * LENGTH / 2
SOLVERS = ["dopri5", "rodas5p", "DOP853", "Radau"]


@pytest.fixture
def example(checkout, monkeypatch):
    monkeypatch.syspath_prepend(checkout / "examples")
    return importlib.import_module


def arm():
    mech = lw.Mechanism("arm")
    mech.add_body("rod", mass=MASS, com=(LENGTH / 2, 0, 0), inertia=lw.inertia.rod(MASS, LENGTH))
    mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
    return mech


def by_hand(load, t_end, y0=(0.0, 0.0), rates=None):
    """States of the arm at the end, with states of a controller behind them."""

    def derivative(t, y):
        own = [] if rates is None else rates(t, y)
        return [y[1], (load(t, y) + WEIGHT * math.cos(y[0])) / INERTIA, *own]

    return solve_ivp(derivative, (0.0, t_end), y0, method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1]


def pd(t, state):
    return -20.0 * (state["A.q"] - 0.5) - 3.0 * state["A.u"]


@pytest.mark.parametrize("solver", [*SOLVERS, "LSODA", "ida"])
def test_a_pd_law(solver, needs):
    if solver == "ida":
        needs("sksundae")
    result = lw.simulate(arm(), 2.0, inputs={"A": pd}, solver=solver, rtol=1e-11)
    expected = by_hand(lambda t, y: -20.0 * (y[0] - 0.5) - 3.0 * y[1], 2.0)
    assert result.y[-1] == pytest.approx(expected, abs=1e-9)
    assert result["A.tau"] == pytest.approx(-20.0 * (result["A.q"] - 0.5) - 3.0 * result["A.u"], abs=1e-13)


def test_a_pd_law_in_multiplier_form(needs):
    needs("sksundae")
    result = lw.simulate(arm(), 2.0, inputs={"A": pd}, solver="ida", formulation="ggl", rtol=1e-10)
    assert result.y[-1] == pytest.approx(by_hand(lambda t, y: -20.0 * (y[0] - 0.5) - 3.0 * y[1], 2.0), abs=1e-8)
    stiff = lw.simulate(arm(), 2.0, inputs={"A": lambda t, s: -2e5 * s["A.u"]}, solver="ida", formulation="ggl")
    assert stiff.statistics.steps < 300  # the load is in Newton's matrix


@pytest.mark.parametrize("solver", SOLVERS)
def test_continuous_states_of_a_controller(solver):
    class Integral(lw.Controller):
        x0 = (0.0, 1.0)

        def outputs(self, t, state):
            return {"A": -20.0 * (state["A.q"] - 0.5) - 3.0 * state["A.u"] - 5.0 * state.x[0] + state.x[1]}

        def rates(self, t, state):
            return [state["A.q"] - 0.5, -state.x[1]]

    result = lw.simulate(arm(), 2.0, controller=Integral(), solver=solver, rtol=1e-11)
    expected = by_hand(
        lambda t, y: -20.0 * (y[0] - 0.5) - 3.0 * y[1] - 5.0 * y[2] + y[3],
        2.0,
        (0.0, 0.0, 0.0, 1.0),
        lambda t, y: [y[0] - 0.5, -y[3]],
    )
    assert result.y[-1] == pytest.approx(expected[:2], abs=1e-9)
    assert result.controller_states[-1] == pytest.approx(expected[2:], abs=1e-9)


def test_a_stiff_law_is_in_the_jacobian():
    """A load with a time constant of a microsecond: the implicit solver takes steps as though there were none."""
    loads = {"A": lambda t, state: -4e5 * (state["A.u"] - 1.0)}
    result = lw.simulate(arm(), 2.0, inputs=loads, solver="rodas5p", rtol=1e-6)
    assert result.statistics.steps < 200
    assert result["A.u"][-1] == pytest.approx(1.0, abs=1e-4)


def test_a_digital_controller_holds_its_outputs_between_samples():
    """1 kHz: each sample met exactly; between samples the arm is integrated by hand with the load held."""
    seen = []

    def law(t, state):
        seen.append((t, state["A.q"], state["A.u"]))
        return {"A": -20.0 * (state["A.q"] - 0.5) - 1.0 * state["A.u"]}

    result = lw.simulate(arm(), 0.2, controller=law, sample_time=1e-3, rtol=1e-12)
    assert [t for t, _, _ in seen] == [k * 1e-3 for k in range(200)]
    y = np.zeros(2)
    for k, (_, q, u) in enumerate(seen):
        assert (q, u) == pytest.approx(tuple(y), abs=1e-11)
        load = -20.0 * (q - 0.5) - 1.0 * u
        y = solve_ivp(
            lambda t, y, load=load: [y[1], (load + WEIGHT * math.cos(y[0])) / INERTIA],
            (0.0, 1e-3),
            y,
            method="DOP853",
            rtol=1e-13,
            atol=1e-14,
        ).y[:, -1]
        before_and_after = result["A.tau"][result.t == k * 1e-3]
        assert before_and_after[-1] == load
    assert result.y[-1] == pytest.approx(y, abs=1e-11)


@pytest.mark.parametrize("solver", ["rodas5p", "DOP853", "LSODA"])
def test_a_digital_controller_with_other_solvers(solver):
    def law(t, state):
        return {"A": -20.0 * (state["A.q"] - 0.5) - 1.0 * state["A.u"]}

    options = {"sample_time": 0.01, "t_eval": np.linspace(0.0, 1.0, 7)}
    expected = lw.simulate(arm(), 1.0, controller=law, rtol=1e-11, **options)
    found = lw.simulate(arm(), 1.0, controller=law, solver=solver, rtol=1e-10, **options)
    assert found.y == pytest.approx(expected.y, abs=1e-8)


def block_on_the_ground():
    """A block of 1 kg that rests on the ground from the start on."""
    mech = lw.Mechanism("block")
    mech.add_body("block", mass=1.0, com=(0, 0, 0), inertia=lw.inertia.box(1.0, size=(0.1, 0.1, 0.1)))
    mech.add_joint("z", lw.Prismatic((0, 0, 1)), "ground", "block", at=(0, 0, 0))
    mech.add_transition("floor", lw.Stop("z", lower=0.0))
    return mech


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_sample_that_lifts_a_body_off_its_stop(solver):
    """A load that jumps between two steps leaves no zero crossing within either of them."""
    up = {"controller": lambda t, _: {"z": 15.0 if 0.495 < t < 0.895 else 0.0}, "sample_time": 0.1}
    result = lw.simulate(block_on_the_ground(), 1.0, solver=solver, t_eval=[0.4, 0.7, 0.9, 1.0], rtol=1e-10, **up)
    up, speed = 15.0 - 9.81, 0.4 * (15.0 - 9.81)
    expected = [0.0, 0.5 * up * 0.2**2, 0.5 * up * 0.4**2, 0.5 * up * 0.4**2 + 0.1 * speed - 0.5 * 9.81 * 0.1**2]
    np.testing.assert_allclose(result["z.q"], expected, atol=1e-9)
    assert [event.t for event in result.events] == pytest.approx([0.0, 0.5], abs=1e-6)


def test_an_action_that_lifts_a_body_off_its_stop():
    """The action of an event changes what a load of the state gives."""
    force = [0.0]
    lift = lw.EventFunction(lambda t, _: t - 0.5, action=lambda *_: force.__setitem__(0, 15.0), name="lift")
    loads = {"inputs": {"z": lambda t, _: force[0]}, "events": [lift]}
    result = lw.simulate(block_on_the_ground(), 1.0, rtol=1e-10, **loads)
    assert result["z.q"][-1] == pytest.approx(0.5 * (15.0 - 9.81) * 0.5**2, abs=1e-9)


def test_a_digital_controller_keeps_states_of_its_own():
    class Counter(lw.Controller):
        sample_time = 0.25

        def start(self, t, state):
            self.count = 0

        def outputs(self, t, state):
            self.count += 1
            return {"A": float(self.count)}

    counter = Counter()
    for _ in range(2):  # it starts anew
        result = lw.simulate(arm(), 1.0, controller=counter, t_eval=[0.1, 0.3, 0.6, 0.9, 1.0])
        assert result["A.tau"].tolist() == [1.0, 2.0, 3.0, 4.0, 4.0]


def test_lqr_of_a_pole_on_a_cart_with_a_crank(example, needs):
    """State feedback in this process, against SciPy on the model's own derivatives."""
    needs("pythonfmu")
    controllers, cosim_balance = lw.controllers, example("cosim_balance")
    mech = cosim_balance.mechanism()
    model = lw.compile(mech)
    linear = lw.linearize(mech, inputs=["A.tau"])
    feedback = controllers.state_feedback.controller(
        linear, cosim_balance.WEIGHTS, cosim_balance.COST, states=cosim_balance.STATES
    )
    loop = controllers.connect(feedback)
    start = model.assemble(q={"A": linear.x[linear.states.index("A.q")] + 0.05})
    result = lw.simulate(model, 1.0, state=start, controller=loop, rtol=1e-11)
    K = controllers.gain(linear, cosim_balance.WEIGHTS, cosim_balance.COST, states=cosim_balance.STATES)
    at = [linear.states.index(name) for name in cosim_balance.STATES]
    nq = len(model.q_names)

    def derivative(t, y):
        state = model.state(y[:nq], y[nq:])
        x = np.array([state[name] for name in cosim_balance.STATES])
        tau = linear.u - K @ (x - linear.x[at])
        return model.derivatives(y[:nq], y[nq:], tau={"A": tau[0]})

    y0 = np.concatenate([start.q, start.u])
    expected = solve_ivp(derivative, (0.0, 1.0), y0, method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
    assert result.y[-1] == pytest.approx(expected, abs=1e-9)


def test_computed_torque_of_a_five_bar(example):
    """The law asks the model itself; the errors obey e'' + kd e' + kp e = 0 to the solver's accuracy."""
    model = lw.compile(example("five_bar").mechanism())
    kp, kd = 400.0, 40.0
    start = model.assemble()
    wish = {motor: float(start[f"{motor}.q"]) + 0.3 for motor in "LR"}
    probes = {"L": np.array([0.0, 1.0, 0.0]), "R": np.array([0.0, 0.0, 1.0])}

    def law(t, state):
        here = state.copy()
        answers = model.by_joint(model.accelerations(here, tau=probes))
        b = np.array([answers[motor][0] for motor in "LR"])
        M = np.array([answers[motor][1:] - answers[motor][0] for motor in "LR"])
        wished = [kp * (wish[motor] - state[f"{motor}.q"]) - kd * state[f"{motor}.u"] for motor in "LR"]
        return dict(zip("LR", np.linalg.solve(M, np.array(wished) - b), strict=True))

    t = np.linspace(0.0, 0.5, 11)
    result = lw.simulate(model, 0.5, controller=law, rtol=1e-11, t_eval=t)
    error = -0.3 * (1.0 + 20.0 * t) * np.exp(-20.0 * t)  # a double root at -20
    for motor in "LR":
        assert result[f"{motor}.q"] - wish[motor] == pytest.approx(error, abs=1e-9)


def test_names_and_quantities_of_a_state(example):
    model = lw.compile(example("five_bar").mechanism())
    seen = []

    def law(t, state):
        if not seen:
            fixed = state.copy()
            assert isinstance(fixed, lw.State)
            for name in (*model.q_names, *model.u_names, "energy.kinetic", "energy.potential", "time"):
                assert state[name] == fixed[name], name
            body = next(iter(model.mechanism.bodies))
            for what in "rvwQ":
                assert np.array_equal(state[f"{body}.{what}"], fixed[f"{body}.{what}"])
            assert np.array_equal(state.q, fixed.q)
            assert np.array_equal(state.u, fixed.u)
            assert state.t == t
            for name in (f"{model.joint_names[0]}.a", f"{model.joint_names[0]}.f", f"{model.joint_names[0]}.tau"):
                with pytest.raises(lw.MechanismError, match="follows from the loads"):
                    state[name]
            with pytest.raises(lw.MechanismError, match=r"there is no variable 'energy\.kinetik'"):
                state["energy.kinetik"]
            assert "RunningState(t=0" in repr(state)
            seen.append(t)
        return {}

    lw.simulate(model, 0.1, controller=law)
    assert seen


def test_a_state_of_a_cut_joint_keeps_its_turns():
    """A crank turns three times; the law reads the coordinate of the joint that closes the loop."""
    mech = spinning_crank("A")
    cut = lw.compile(mech).loop_names[0]
    read = []
    result = lw.simulate(mech, 1.0, inputs={cut: lambda t, state: read.append((t, state[f"{cut}.q"])) or 0.0})
    assert np.ptp([q for _, q in read]) > 2 * math.pi
    last = max(read)
    assert last[1] == pytest.approx(result[f"{cut}.q"][-1], abs=1e-6)


# ---- events ----


def test_event_functions_are_recorded_and_end_a_run():
    def bottom(t, state):
        return state["A.q"] - math.pi / 2

    def fast(t, state):
        return abs(state["A.u"]) - 4.0

    result = lw.simulate(arm(), 3.0, events=[bottom, lw.EventFunction(fast, direction=+1, name="fast")], rtol=1e-10)
    for event in result.events:
        assert event.transitions == ()
    passes = [event.t for event in result.events if event.functions == ("bottom",)]
    assert len(passes) >= 2
    at_bottom = lw.simulate(arm(), 3.0, events=[lw.EventFunction(bottom, terminal=True)], rtol=1e-10)
    assert at_bottom.t[-1] == pytest.approx(passes[0], abs=1e-9)
    assert at_bottom["A.q"][-1] == pytest.approx(math.pi / 2, abs=1e-9)
    # from rest to the bottom, a quarter of a swing
    assert passes[0] == pytest.approx(math.sqrt(INERTIA / WEIGHT) * ellipk(0.5), abs=1e-8)


@pytest.mark.parametrize("solver", ["dopri5", "DOP853"])
def test_the_action_of_an_event_switches_a_controller(solver):
    """A bang-bang law with hysteresis: the load changes exactly where the angle passes the limits."""
    mode = {"load": 8.0}

    def switch(load):
        return lambda t, state: mode.update(load=load)

    events = [
        lw.EventFunction(lambda t, s: s["A.q"] - 0.4, +1, action=switch(-8.0), name="high"),
        lw.EventFunction(lambda t, s: s["A.q"] + 0.4, -1, action=switch(8.0), name="low"),
    ]
    result = lw.simulate(
        arm(), 3.0, inputs={"A": lambda t, state: mode["load"]}, events=events, solver=solver, rtol=1e-10
    )
    names = [event.functions[0] for event in result.events]
    assert names[:4] == ["high", "low", "high", "low"]
    energy = 0.5 * INERTIA * result["A.u"] ** 2 - WEIGHT * np.sin(result["A.q"])
    times = [0.0, *(event.t for event in result.events)]
    for begin, end, load in zip(times, times[1:], (8.0, -8.0) * 20, strict=False):
        part = (result.t >= begin) & (result.t <= end)
        work = energy[part] - load * result["A.q"][part]
        assert np.ptp(work) < 1e-7


def test_events_beside_transitions():
    """A latch by crossing and a function that crosses at the same place: both are recorded, and the run goes on."""
    mech = pendulum()
    joint = next(iter(mech.joints))
    mech.add_transition("latch", lw.Lock(joint), when=lw.Crossing(f"{joint}.q", 0.2))
    result = lw.simulate(mech, 2.0, events=[lambda t, s: s[f"{joint}.q"] - 0.2, lambda t, s: t - 1.5])
    assert ("latch",) in [event.transitions for event in result.events] or not result.events[0].transitions
    assert [event.t for event in result.events if event.functions][-1] == pytest.approx(1.5, abs=1e-12)


def test_commands_by_the_state():
    """A latch that is commanded where the arm is slow, by a function and by both kinds of controllers."""
    mech = arm()
    mech.add_transition("latch", lw.Lock("A"), when=lw.Command())
    mech.start(u={"A": -3.0})

    def slow(t, state):
        return state["A.u"] >= 0.0

    by_function = lw.simulate(mech, 2.0, inputs={"latch.command": slow}, rtol=1e-10)
    by_controller = lw.simulate(mech, 2.0, controller=lambda t, s: {"latch.command": slow(t, s)}, rtol=1e-10)
    for result in (by_function, by_controller):
        (event,) = result.events
        assert event.transitions == ("latch",)
        assert event.u_before[0] == pytest.approx(0.0, abs=1e-9)
        assert result["A.u"][-1] == 0.0
    digital = lw.simulate(mech, 2.0, controller=lambda t, s: {"latch.command": slow(t, s)}, sample_time=0.01)
    (event,) = digital.events
    k = round(event.t / 0.01)
    assert event.t == k * 0.01
    assert 0.0 <= event.t - by_function.events[0].t <= 0.01


# ---- what is refused ----


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"inputs": {"A": lambda t, state, more: 0.0}}, r"must be a function f\(t\) or f\(t, state\)"),
        ({"controller": 3.0}, "controller must be a function"),
        ({"controller": lambda t: {}}, "controller must be a function"),
        ({"controller": lw.Controller}, "must be an object, not the class"),
        ({"sample_time": 0.1}, "give controller= as well"),
        ({"controller": lambda t, s: {}, "sample_time": -1.0}, "sample_time must not be negative"),
        ({"controller": lambda t, s: {"B": 1.0}}, "controller: there is no driven joint 'B'"),
        ({"controller": lambda t, s: {"A": "high"}}, "controller: the load of joint 'A' at t = 0 s must be a number"),
        ({"controller": lambda t, s: 1.0}, "must return a dictionary"),
        ({"controller": lambda t, s: {"A": 1.0}, "inputs": {"A": 1.0}}, "both inputs and the controller give 'A'"),
        ({"inputs": {"A": lambda t, s: "high"}}, "the load of joint 'A' at t = 0 s must be a number"),
        ({"events": 3.0}, "events must be a list"),
        ({"events": [lambda t: t]}, "give functions of"),
        ({"events": [lambda t, s: None]}, "must return a number"),
    ],
    ids=lambda value: None if isinstance(value, str) else ",".join(value),
)
def test_what_is_refused(arguments, message):
    with pytest.raises(lw.MechanismError, match=message):
        lw.simulate(arm(), 1.0, **arguments)


def test_a_controller_without_what_it_needs():
    class Empty(lw.Controller):
        pass

    class Sampled(lw.Controller):
        sample_time = 0.1

        def outputs(self, t, state):
            return {}

    class States(lw.Controller):
        x0 = (1.0,)

        def outputs(self, t, state):
            return {}

    class Integral(States):
        def rates(self, t, state):
            return [0.0]

    with pytest.raises(TypeError, match=r"abstract.* outputs"):
        Empty()
    with pytest.raises(lw.MechanismError, match="States has continuous states x0, but defines no rates"):
        lw.simulate(arm(), 1.0, controller=States())
    with pytest.raises(lw.MechanismError, match="no continuous states"):
        lw.simulate(arm(), 1.0, controller=Integral(), sample_time=0.1)
    with pytest.raises(lw.MechanismError, match="formulation='ode'"):
        lw.simulate(arm(), 1.0, controller=Integral(), solver="ida", formulation="ggl")
    with pytest.raises(lw.MechanismError, match=r"sample_time is 0\.2 s, but that of the controller is 0\.1 s"):
        lw.simulate(arm(), 1.0, controller=Sampled(), sample_time=0.2)
    with pytest.raises(lw.MechanismError, match="runs forward only"):
        lw.simulate(arm(), 0.0, t_start=1.0, controller=Sampled())
    with pytest.raises(lw.MechanismError, match="too short"):
        lw.simulate(arm(), 1.0, controller=lambda t, state: {}, sample_time=1e-300)


def test_the_limit_of_steps_counts_over_all_samples():
    with pytest.raises(lw.SolverError, match="max_steps is used up") as raised:
        lw.simulate(arm(), 1.0, controller=lambda t, state: {}, sample_time=1e-3, max_steps=100)
    assert 90 <= raised.value.result.statistics.steps <= 100


def test_motions_are_functions_of_time_alone():
    mech = arm()
    mech.add_coupling("drive", {"A": 1.0}, motion=lw.Motion())
    drive = "drive"
    with pytest.raises(lw.MechanismError, match="function of time alone"):
        lw.simulate(mech, 1.0, inputs={drive: lambda t, state: 0.0})
    with pytest.raises(lw.MechanismError, match="which is prescribed"):
        lw.simulate(mech, 1.0, controller=lambda t, s: {drive: 0.0})


@pytest.mark.parametrize("solver", SOLVERS)
def test_what_a_law_raises_arrives_with_the_rows(solver):
    trouble = ValueError("no load here")

    def load(t, state):
        if t > 0.2:
            raise trouble
        return 0.0

    with pytest.raises(ValueError, match="no load here") as raised:
        lw.simulate(arm(), 1.0, inputs={"A": load}, solver=solver, rtol=1e-6)
    assert raised.value is trouble
    assert 0.0 < trouble.result.t[-1] <= 0.2
    assert np.isfinite(trouble.result["A.q"]).all()


def test_samples_see_the_present():
    """Also quantities that the steps themselves do not need."""
    seen = []

    def controller(t, state):
        seen.append(state["energy.kinetic"])
        return {"A": 0.0}

    mech = lw.Mechanism("pendulum")
    mech.add_body("rod", mass=1.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(1.0, 1.0))
    mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
    times = [0.0, 0.1, 0.2]
    result = lw.simulate(mech, 0.3, controller=controller, sample_time=0.1, t_eval=times)
    assert seen == pytest.approx(result["energy.kinetic"], abs=1e-12)
