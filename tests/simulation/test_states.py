"""Continuous states of elements, against closed forms, SciPy on an own right-hand side, and matrices by hand."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import linkwork as lw
from linkwork.mechanism.json_schema import json_schema

R, L, K, INERTIA = 0.5, 2e-3, 0.1, 0.005
MOTOR = {"R": (R, "Ohm"), "L": (L, "H"), "k": (K, "N.m/A")}
REST = pytest.approx(0.0, abs=1e-12)


def drive(start=0.0, **options):
    mech = lw.Mechanism("drive")
    mech.add_body("rotor", mass=1.0, com=(0, 0, 0), inertia=lw.inertia.disk(1.0, 0.1))
    mech.add_joint("axle", lw.Revolute(axis=(0, 0, 1)), "ground", "rotor", at=(0, 0, 0))
    mech.add_state("i", "(voltage - R*i - k*axle.u)/L", start, "A", parameters=MOTOR, inputs=("voltage",), **options)
    mech.add_force(lw.Force("axle", "k*i", parameters={"k": (K, "N.m/A")}))
    mech.add_output("power", "k*i*axle.u", parameters={"k": (K, "N.m/A")})
    return mech


def by_hand(voltage):
    """The right-hand side of the drive: angle, speed, current."""
    return lambda t, y: [y[1], K * y[2] / INERTIA, (voltage(t) - R * y[2] - K * y[1]) / L]


def reference(voltage, y0, t_end, **options):
    return solve_ivp(by_hand(voltage), (0.0, t_end), y0, method="DOP853", rtol=1e-12, atol=1e-13, **options)


@pytest.mark.parametrize("solver", ["dopri5", "rodas5p", "auto", "DOP853", "Radau", "LSODA"])
def test_every_solver_integrates_them(solver):
    rtol = 1e-6 if solver == "Radau" else 1e-9
    result = lw.simulate(drive(0.25), 0.2, inputs={"i.voltage": 12.0}, solver=solver, rtol=rtol)
    expected = reference(lambda t: 12.0, [0.0, 0.0, 0.25], 0.2).y[:, -1]
    found = [result["axle.q"][-1], result["axle.u"][-1], result["i"][-1]]
    assert found == pytest.approx(expected, rel=200 * rtol)
    assert result["der(i)"][-1] == pytest.approx(by_hand(lambda t: 12.0)(0.2, found)[2], rel=1e-9)
    assert result.units["i"] == "A"
    assert result.units["der(i)"] == "A/s"


def test_a_locked_rotor_leaves_a_circuit_of_resistance_and_inductance():
    mech = drive()
    mech.add_transition("brake", lw.Lock("axle"), when=lw.Time(0.0))
    t = np.linspace(0.0, 0.02, 41)
    result = lw.simulate(mech, 0.02, inputs={"i.voltage": 12.0}, t_eval=t, rtol=1e-11, atol=1e-13)
    rows = np.searchsorted(result.t, t, side="right") - 1
    assert result["i"][rows] == pytest.approx(12.0 / R * (1.0 - np.exp(-R / L * t)), abs=1e-9 * 12.0 / R)


def test_inputs_that_jump_and_functions_of_time():
    result = lw.simulate(drive(), 0.1, inputs={"i.voltage": lambda t: 5.0 * np.sin(60.0 * t)}, rtol=1e-10)
    expected = reference(lambda t: 5.0 * np.sin(60.0 * t), [0.0, 0.0, 0.0], 0.1).y[:, -1]
    assert result["i"][-1] == pytest.approx(expected[2], rel=1e-7)


def test_derivatives_and_jacobian_by_hand():
    model = lw.compile(drive())
    state = model.assemble(u={"axle": 3.0}, elements={"i": 2.0})
    assert state["i"] == 2.0
    assert state.elements.tolist() == [2.0]
    assert model.element_names == ["i"]
    assert model.derivatives(state) == pytest.approx([3.0, K * 2.0 / INERTIA, (-R * 2.0 - K * 3.0) / L])
    matrix = [[0.0, 1.0, 0.0], [0.0, 0.0, K / INERTIA], [0.0, -K / L, -R / L]]
    assert model.jacobian(state) == pytest.approx(np.array(matrix), rel=1e-14)
    assert model.derivatives([0.0], [3.0])[2] == pytest.approx(-K * 3.0 / L)  # arrays: at the start value
    assert model.state([0.0], [0.0], elements={"i": 1.5})["i"] == 1.5


@pytest.mark.parametrize("states", ["minimal", "full"])
def test_linear_models_have_them(states):
    found = lw.linearize(drive(), states=states, inputs=["i.voltage"], outputs=["power", "i"])
    assert found.states == ("axle.q", "axle.u", "i")
    assert pytest.approx(np.array([[0, 1, 0], [0, 0, K / INERTIA], [0, -K / L, -R / L]]), rel=1e-13) == found.A
    assert pytest.approx(np.array([[0], [0], [1.0 / L]]), rel=1e-13) == found.B
    assert pytest.approx(np.array([[0, 0, 0], [0, 0, 1.0]])) == found.C


def test_they_are_independent_on_loops():
    mech = four_bar()
    found = lw.linearize(mech, lw.compile(mech).assemble(elements={"i": 1.0}), independents=["A"])
    assert found.states == ("A.q", "A.u", "i")
    assert found.A[2] == pytest.approx([0.0, -K / L, -R / L], rel=1e-12)


def four_bar():
    mech = lw.Mechanism("four_bar")
    for name, length in (("crank", 0.2), ("coupler", 0.6), ("rocker", 0.4)):
        mech.add_body(name, mass=1.0, com=(length / 2, 0, 0), inertia=lw.inertia.rod(1.0, length))
    hinge = lw.Revolute((0, 1, 0))
    mech.add_joint("A", hinge, "ground", "crank", at=(0, 0, 0))
    mech.add_joint("B", hinge, "crank", "coupler", parent_frame=lw.Frame((0.2, 0, 0)))
    mech.add_joint("C", hinge, "ground", "rocker", parent_frame=lw.Frame((0.5, 0, 0)))
    ends = {"parent_frame": lw.Frame((0.6, 0, 0)), "child_frame": lw.Frame((0.4, 0, 0))}
    mech.add_joint("D", hinge, "coupler", "rocker", **ends)
    mech.add_state("i", "(voltage - R*i - k*A.u)/L", 0.0, "A", parameters=MOTOR, inputs=("voltage",))
    mech.add_force(lw.Force("A", "k*i", parameters={"k": (K, "N.m/A")}))
    mech.start(q={"A": 0.6})
    return mech


def test_full_and_minimal_states_agree_on_loops():
    model = lw.compile(four_bar())
    result = lw.simulate(model, 0.05, inputs={"i.voltage": 12.0}, rtol=1e-10)
    block = model.block()
    from linkwork.core.native import Minimal

    model.enter(block, model.assemble())
    inputs = model.arguments.no_inputs.copy()
    inputs[model.numbering.inputs["i.voltage"]] = 12.0
    block.enter_inputs(inputs, 0.0)
    minimal = Minimal(block, [model.q_names.index("A.q")], [model.u_names.index("A.u")])
    run = solve_ivp(lambda t, x: minimal.ode(t, x), (0.0, 0.05), minimal.get(), rtol=1e-10, atol=1e-12, method="DOP853")
    assert run.y[:, -1] == pytest.approx([result["A.q"][-1], result["A.u"][-1], result["i"][-1]], rel=1e-7)


def test_rates_read_reactions_outputs_and_other_states():
    """A filter of a reaction, and one behind it: pendulum at rest, whose hinge carries the weight."""
    mech = lw.Mechanism("pendulum")
    mech.add_body("rod", mass=3.0, com=(0, 0, -0.5), inertia=lw.inertia.rod(3.0, 1.0, axis="z"))
    mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
    mech.add_output("pull", "A.f[3]")
    mech.add_state("first", "(pull - first)/T", unit="N", parameters={"T": (0.1, "s")})
    mech.add_state("second", "(first - second)/T", unit="N", parameters={"T": (0.1, "s")})
    result = lw.simulate(mech, 0.3, rtol=1e-10)
    t, weight = 0.3, 3.0 * 9.81
    assert result["first"][-1] == pytest.approx(weight * (1.0 - np.exp(-t / 0.1)), rel=1e-8)
    assert result["second"][-1] == pytest.approx(weight * (1.0 - (1.0 + t / 0.1) * np.exp(-t / 0.1)), rel=1e-8)
    model = lw.compile(mech)
    swinging = model.assemble(q={"A": 0.4}, u={"A": 2.0}, elements={"first": 5.0})
    step, exact = 1e-6, model.jacobian(swinging)
    for k in range(4):
        ends = []
        for sign in (1.0, -1.0):
            y = np.concatenate([swinging.q, swinging.u, swinging.elements])
            y[k] += sign * step
            ends.append(model.derivatives(model.state(y[:1], y[1:2], elements={"first": y[2], "second": y[3]})))
        assert exact[:, k] == pytest.approx((ends[0] - ends[1]) / (2.0 * step), abs=1e-6)


def test_events_leave_them_and_crossings_watch_them():
    mech = drive(3.0)
    mech.add_transition("kick", lw.Lock("axle"), when=lw.Crossing("i", 8.0, direction=1))
    result = lw.simulate(mech, 0.05, inputs={"i.voltage": 12.0}, rtol=1e-10)
    (event,) = result.events
    hit = reference(lambda t: 12.0, [0.0, 0.0, 3.0], 0.05, events=lambda t, y: y[2] - 8.0, dense_output=True).t_events[
        0
    ][0]
    assert event.t == pytest.approx(hit, abs=1e-9)
    rows = [np.searchsorted(result.t, event.t, side="left"), np.searchsorted(result.t, event.t, side="right") - 1]
    assert rows[1] > rows[0]
    assert result["i"][rows] == pytest.approx([8.0, 8.0], abs=1e-7)
    left = result.t[-1] - event.t
    final = 12.0 / R
    assert result["i"][-1] == pytest.approx(final + (8.0 - final) * np.exp(-R / L * left), rel=1e-7)


def test_runs_continue_from_a_state_and_states_are_kept(tmp_path):
    model = lw.compile(drive())
    whole = lw.simulate(model, 0.1, inputs={"i.voltage": 12.0}, rtol=1e-9)
    half = lw.simulate(model, 0.05, inputs={"i.voltage": 12.0}, rtol=1e-9).state(0.05)
    for name in ("state.json", "state.npz"):
        half.save(tmp_path / name)
        again = lw.State.load(tmp_path / name, model)
        assert again.elements == half.elements
        assert again["i"] == half["i"]
    rest = lw.simulate(model, 0.1, state=half, inputs={"i.voltage": 12.0}, rtol=1e-9)
    assert rest["i"][-1] == pytest.approx(whole["i"][-1], rel=1e-7)
    assert "i = " in repr(half)
    assert "  i " in str(half)


def test_results_between_rows_follow_them():
    result = lw.simulate(drive(), 0.1, inputs={"i.voltage": 12.0}, rtol=1e-9)
    exact = reference(lambda t: 12.0, [0.0, 0.0, 0.0], 0.1, t_eval=[0.0333]).y[2, 0]
    assert result.at([0.0333])["i"][0] == pytest.approx(exact, rel=1e-4)


def test_parameters_and_start_values_are_set_by_name():
    model = lw.compile(drive()).with_parameters({"i.R": 1.0, "i.start": 4.0})
    state = model.assemble()
    assert state["i"] == 4.0
    assert model.derivatives(state)[2] == pytest.approx(-4.0 / L)
    table = lw.study(drive(), 0.02, {"i.R": [0.5, 2.0]}, columns="i", inputs={"i.voltage": 12.0}, workers=1)
    assert len(table) == 2


def test_files_and_schema_round_trip(tmp_path):
    mech = drive(0.5, nominal=10.0)
    mech.save(tmp_path / "drive.json")
    again = lw.Mechanism.load(tmp_path / "drive.json")
    assert again == mech
    assert again.states["i"].nominal == 10.0
    assert lw.compile(again).assemble()["i"] == 0.5
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.validate(mech.to_dict(), json_schema())


def test_absolute_tolerances_count_in_nominal_values():
    block = lw.compile(drive(nominal=1e5)).block()
    assert block.absolute_tolerances(1.0, 1e-8)[2] == pytest.approx(1e-3)


def test_a_state_may_read_a_force_that_reads_it():
    mech = lw.Mechanism("pair")
    mech.add_body("block", mass=2.0, com=(0, 0, 0), inertia=lw.inertia.sphere(2.0, 0.1))
    mech.add_joint("S", lw.Prismatic((1, 0, 0)), "ground", "block", at=(0, 0, 0))
    mech.add_state("x", "-push.force/c", 1.0, "m", parameters={"c": (4.0, "N.s/m")})
    mech.add_force(lw.Force("S", "k*x", parameters={"k": (8.0, "N/m")}, name="push"))
    result = lw.simulate(mech, 1.0, rtol=1e-10)
    assert result["x"][-1] == pytest.approx(np.exp(-2.0), rel=1e-8)
    assert result["S.u"][-1] == pytest.approx(2.0 * (1.0 - np.exp(-2.0)), rel=1e-8)  # k/m times the integral of x


def refused(match, build):
    mech = drive()

    def compiled():
        build(mech)
        lw.compile(mech)

    with pytest.raises(lw.MechanismError, match=match):
        compiled()


def test_mistakes_are_refused():
    refused("already", lambda mech: mech.add_state("i", "1"))
    refused("axel", lambda mech: mech.add_state("x", "axel.u"))
    refused("read no rates of states", lambda mech: mech.add_state("x", "der(i)", unit="A"))
    refused("no formula uses", lambda mech: mech.add_state("x", "0", inputs=("w",)))
    refused("nominal", lambda mech: mech.add_state("x", "0", nominal=0.0))
    refused("start", lambda mech: mech.add_state("x", "0", start=np.nan))
    refused("unit", lambda mech: mech.add_state("x", "axle.u", unit="kg"))
    refused("whole mechanism", lambda mech: mech.add_state("time", "0"))
    with pytest.raises(lw.MechanismError, match="no state 'j'"):
        lw.compile(drive()).assemble(elements={"j": 1.0})


def test_derivatives_without_a_value_are_refused_by_name():
    mech = drive()
    mech.add_state("x", "sqrt(x)/T", start=-1.0, parameters={"T": (1.0, "s")})
    model = lw.compile(mech)
    with pytest.raises(lw.SingularityError, match="derivative of state 'x'"):
        model.derivatives(model.assemble())


@pytest.mark.parametrize("build", [drive, four_bar])
def test_the_formulation_with_multipliers_has_them(build):
    pytest.importorskip("linkwork.solvers.ida")
    ode = lw.simulate(build(), 0.05, inputs={"i.voltage": 12.0}, rtol=1e-10)
    dae = lw.simulate(build(), 0.05, inputs={"i.voltage": 12.0}, solver="ida", formulation="ggl", rtol=1e-9)
    assert dae["i"][-1] == pytest.approx(ode["i"][-1], rel=1e-5)
    controlled = lw.simulate(
        build(), 0.05, inputs={"i.voltage": lambda t, state: 12.0 - 0.1 * state["i"]}, solver="ida", formulation="ggl"
    )
    plain = lw.simulate(build(), 0.05, inputs={"i.voltage": lambda t, state: 12.0 - 0.1 * state["i"]}, rtol=1e-9)
    assert controlled["i"][-1] == pytest.approx(plain["i"][-1], rel=1e-3)


def test_chains_of_ball_joints_have_no_states_of_elements():
    mech = lw.Mechanism("chain")
    mech.add_body("link", mass=1.0, com=(0, 0, -0.5), inertia=lw.inertia.box(1.0, (0.1, 0.1, 1.0)))
    mech.add_joint("S", lw.Spherical(), "ground", "link", at=(0, 0, 0))
    mech.add_state("x", "time/T^2", parameters={"T": (1.0, "s")})
    with pytest.raises(lw.MechanismError, match="state 'x'"):
        lw.simulate(mech, 0.1, formulation="chou")
    with pytest.raises(lw.LinkworkError, match="states of elements"):
        lw.export_fmu(mech, "chain.fmu", fmi="3.0", dae=True)


def held_arm(**options):
    """An arm at a spring and a motor that a lag drives: a nonlinear balance of weight, spring and load."""
    mech = lw.Mechanism("arm")
    mech.add_body("arm", mass=2.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(2.0, 1.0))
    mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "arm", at=(0, 0, 0))
    mech.add_force(lw.SpringDamper("A", stiffness=30.0, damping=1.0))
    values = {"T": (0.2, "s"), "g": (15.0, "N.m/rad")}
    mech.add_state("load", "(-g*sin(A.q)*cos(load/n) - load)/T", 0.0, "N.m", values | {"n": (10.0, "N.m")}, **options)
    mech.add_force(lw.Force("A", "load"))
    return mech


def test_equilibria_bring_their_derivatives_to_zero():
    from scipy.optimize import fsolve

    found = lw.equilibrium(held_arm())

    def balance(x):
        return [
            2.0 * 9.81 * 0.5 * np.cos(x[0]) - 30.0 * x[0] + x[1],
            -15.0 * np.sin(x[0]) * np.cos(x[1] / 10.0) - x[1],
        ]

    angle, load = fsolve(balance, [0.2, 0.0], xtol=1e-13)
    assert found.state["A.q"] == pytest.approx(angle, rel=1e-9)
    assert found.state["load"] == pytest.approx(load, rel=1e-9)
    rates = lw.compile(held_arm()).derivatives(found.state.q, found.state.u)
    model = found.state.model
    assert np.abs(model.derivatives(found.state)).max() < 1e-8
    assert np.abs(rates).max() > 1.0
    slope = -15.0 * np.cos(angle) * np.cos(load / 10.0) / (1.0 - 1.5 * np.sin(angle) * np.sin(load / 10.0))
    stiffness = 2.0 * 9.81 * 0.5 * np.sin(angle) + 30.0 - slope
    assert found.stiffness[0, 0] / found.basis[0, 0] ** 2 == pytest.approx(stiffness, rel=1e-8)


def test_open_states_stay_and_impossible_ones_are_refused():
    mech = held_arm()
    mech.add_state("angle", "A.u", 0.7, "rad")
    assert lw.equilibrium(mech).state["angle"] == 0.7
    mech.add_state("clock", "1/T", parameters={"T": (1.0, "s")})
    with pytest.raises(lw.EquilibriumError, match="derivative of state 'clock'"):
        lw.equilibrium(mech)


def test_crossings_watch_derivatives():
    mech = drive()
    mech.add_transition("peak", lw.Lock("axle"), when=lw.Crossing("der(i)", 0.0, direction=-1))
    result = lw.simulate(mech, 0.1, inputs={"i.voltage": 12.0}, rtol=1e-10)
    peak = reference(
        lambda t: 12.0, [0.0, 0.0, 0.0], 0.1, events=lambda t, y: by_hand(lambda t: 12.0)(t, y)[2]
    ).t_events[0][0]
    assert result.events[0].t == pytest.approx(peak, abs=1e-9)


def test_overviews_list_them():
    from linkwork.analysis.overview import Overview

    model = lw.compile(drive())
    found = Overview(model, model.assemble())
    assert found.to_dict()["states"] == 3
    assert "states of elements (1)" in found.summary()
