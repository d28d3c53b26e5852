"""Motors, actuators and cylinders with states of their own, against closed forms and hand calculations."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import linkwork as lw

R, L, K, GEAR, EFFICIENCY, INERTIA = 0.5, 2e-3, 0.1, 4.0, 0.8, 0.005


def rotor(force):
    mech = lw.Mechanism("drive")
    mech.add_body("rotor", mass=1.0, com=(0, 0, 0), inertia=lw.inertia.disk(1.0, 0.1))
    mech.add_joint("axle", lw.Revolute(axis=(0, 0, 1)), "ground", "rotor", at=(0, 0, 0))
    mech.add_force(force)
    return mech


def motor(**options):
    values = {"resistance": R, "inductance": L, "constant": K, "gear": GEAR, "efficiency": EFFICIENCY}
    return lw.DCMotor("axle", **(values | options), name="motor")


def test_a_motor_has_its_circuit():
    model = lw.compile(rotor(motor()))
    state = model.assemble(u={"axle": 3.0}, elements={"motor.current": 2.0})
    assert state["motor.force"] == pytest.approx(EFFICIENCY * GEAR * K * 2.0)
    rates = [3.0, EFFICIENCY * GEAR * K * 2.0 / INERTIA, (-R * 2.0 - GEAR * K * 3.0) / L]
    assert model.derivatives(state) == pytest.approx(rates)
    matrix = [[0, 1, 0], [0, 0, EFFICIENCY * GEAR * K / INERTIA], [0, -GEAR * K / L, -R / L]]
    found = lw.linearize(model, inputs=["motor.voltage"])
    assert found.states == ("axle.q", "axle.u", "motor.current")
    assert pytest.approx(np.array(matrix), rel=1e-13) == found.A
    assert found.B[:, 0] == pytest.approx([0.0, 0.0, 1.0 / L])
    assert model.column("motor.current").unit == "A"
    assert model.column("motor.resistance").unit == "Ohm"
    assert model.column("motor.current_start").unit == "A"


def test_its_run_up_is_a_sum_of_two_exponentials():
    """u'' + R/L u' + a b u = a V/L with a = efficiency gear k/J and b = gear k/L."""
    voltage, t = 12.0, np.linspace(0.0, 0.05, 51)
    a, b = EFFICIENCY * GEAR * K / INERTIA, GEAR * K / L
    roots = np.roots([1.0, R / L, a * b]).astype(complex)
    final = voltage / (GEAR * K)
    one, two = np.linalg.solve(np.vstack([np.ones(2), roots]), [-final, 0.0])
    speed = (final + one * np.exp(roots[0] * t) + two * np.exp(roots[1] * t)).real
    current = ((one * roots[0] * np.exp(roots[0] * t) + two * roots[1] * np.exp(roots[1] * t)) / a).real
    run = lw.simulate(rotor(motor()), 0.05, inputs={"motor.voltage": voltage}, t_eval=t, rtol=1e-11, atol=1e-12)
    assert run["axle.u"] == pytest.approx(speed, abs=1e-9 * final)
    assert run["motor.current"] == pytest.approx(current, abs=1e-9 * np.abs(current).max())


def test_a_locked_motor_is_a_circuit_of_resistance_and_inductance():
    mech = rotor(motor(current=1.0))
    mech.add_transition("brake", lw.Lock("axle"), when=lw.Time(0.0))
    run = lw.simulate(mech, 0.02, inputs={"motor.voltage": 12.0}, rtol=1e-11, atol=1e-13)
    expected = 12.0 / R + (1.0 - 12.0 / R) * np.exp(-R / L * run.t)
    assert run["motor.current"] == pytest.approx(expected, abs=1e-9 * 24.0)


def test_without_inductance_the_current_follows_at_once():
    force = lw.DCMotor("axle", resistance=R, constant=K, gear=GEAR, name="motor")
    model = lw.compile(rotor(force))
    assert model.numbering.n_states == 2
    run = lw.simulate(model, 0.05, inputs={"motor.voltage": 12.0}, rtol=1e-11, atol=1e-12)
    pace = (GEAR * K) ** 2 / (R * INERTIA)
    assert run["axle.u"] == pytest.approx(12.0 / (GEAR * K) * (1.0 - np.exp(-pace * run.t)), abs=1e-8)


@pytest.mark.parametrize("solver", ["dopri5", "rodas5p", "Radau"])
@pytest.mark.parametrize("way", [1.0, -1.0])
def test_limits_of_a_drive(way, solver):
    """The current rises by the circuit, stays at its limit, and falls along the line of the supply."""
    limit, supply = 4.0, 10.0
    run = lw.simulate(
        rotor(motor(max_voltage=supply, max_current=limit)),
        0.5,
        inputs={"motor.voltage": 50.0 * way},
        solver=solver,
        rtol=1e-10,
        atol=1e-12,
    )
    current, speed = way * run["motor.current"], way * run["axle.u"]
    assert current.max() == pytest.approx(limit, abs=1e-6)
    corner = (supply - R * limit) / (GEAR * K)
    held = (current > limit - 1e-3) & (speed < 0.99 * corner)
    assert held.sum() > 3
    acceleration = EFFICIENCY * GEAR * K * limit / INERTIA
    t = run["time"][held]
    assert np.ptp(speed[held] - acceleration * t) < 1e-5
    assert current[-1] == pytest.approx(0.0, abs=1e-2)
    assert speed[-1] == pytest.approx(supply / (GEAR * K), rel=1e-3)


def test_limits_without_inductance_are_the_envelope():
    force = lw.DCMotor("axle", resistance=R, constant=K, gear=GEAR, max_voltage=10.0, max_current=4.0, name="motor")
    model = lw.compile(rotor(force))
    for speed in np.linspace(-40.0, 40.0, 17):
        found = model.accelerations(model.assemble(u={"axle": speed}), tau={"motor.voltage": 100.0})[0]
        expected = GEAR * K * np.clip((10.0 - GEAR * K * speed) / R, -4.0, 4.0)
        assert found * INERTIA == pytest.approx(expected, abs=1e-12)
    with pytest.raises(lw.MechanismError, match=r"current = 5 A at the start is beyond max_current = 4 A"):
        motor(current=5.0, max_current=4.0)


def test_an_actuator_lags_its_command():
    force = lw.FirstOrderActuator("axle", time_constant=0.02, limit=5.0, name="servo")
    t = np.linspace(0.0, 0.1, 21)
    run = lw.simulate(rotor(force), 0.1, inputs={"servo.command": 3.0}, t_eval=t, rtol=1e-11, atol=1e-12)
    assert run["servo.load"] == pytest.approx(3.0 * (1.0 - np.exp(-t / 0.02)), abs=1e-9)
    impulse = 3.0 * (t - 0.02 * (1.0 - np.exp(-t / 0.02)))
    assert run["axle.u"] == pytest.approx(impulse / INERTIA, abs=1e-7)
    beyond = lw.simulate(rotor(force), 1.0, inputs={"servo.command": -30.0}, rtol=1e-9)
    assert beyond["servo.load"][-1] == pytest.approx(-5.0, rel=1e-8)
    assert lw.compile(rotor(force)).column("servo.load").unit == "N.m"


MASS, AREA, VOLUME, STROKE, BETA = 200.0, 2e-3, 1e-4, 0.4, 1.4e9


def slide(mass=MASS):
    mech = lw.Mechanism("press")
    mech.add_body("table", mass=mass, com=(0, 0, 0), inertia=lw.inertia.sphere(mass, 0.2))
    mech.add_joint("S", lw.Prismatic((1, 0, 0)), "ground", "table", at=(0, 0, 0))
    return mech


def cylinder(joint="S", **options):
    values = {"area": AREA, "rod_area": AREA, "volume": VOLUME, "stroke": STROKE, "rated_flow": 5e-4, "supply": 2.1e7}
    where = {} if "bodies" in options else {"joint": joint}
    return lw.HydraulicCylinder(**(values | {"bulk_modulus": BETA} | where | options), name="lift")


def test_a_symmetric_cylinder_has_its_natural_frequency():
    """In the middle of the stroke: omega^2 = 4 beta A^2/(V m), V the volume of both chambers."""
    mech = slide()
    mech.add_force(cylinder(pressures=(1e7, 1e7)))
    model = lw.compile(mech)
    found = lw.linearize(model, model.assemble(q={"S": STROKE / 2}), inputs=[])
    values = np.linalg.eigvals(found.A)
    total = 2.0 * (VOLUME + AREA * STROKE / 2)
    assert np.abs(values.imag).max() == pytest.approx(np.sqrt(4.0 * BETA * AREA**2 / (total * MASS)), rel=1e-6)
    assert np.abs(values.real).max() < 1e-3


def by_hand(opening, leakage=0.0, rod=AREA, smoothing=1e-3):
    """The right-hand side of table and cylinder: position, speed, both pressures."""

    def flow(drop):
        y = drop / 3.5e6
        return 5e-4 * y / (y * y + smoothing**2) ** 0.25

    def rates(t, y):
        s, v, a, b = y
        o = opening(t)
        into_a = o * flow(2.1e7 - a) if o > 0 else o * flow(a)
        into_b = -o * flow(b) if o > 0 else -o * flow(2.1e7 - b)
        leak = leakage * (a - b)
        pa = BETA / (VOLUME + AREA * s) * (into_a - AREA * v - leak)
        pb = BETA / (VOLUME + rod * (STROKE - s)) * (into_b + rod * v + leak)
        return [v, (AREA * a - rod * b) / MASS, pa, pb]

    return rates


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_cylinder_moves_its_load(sign):
    mech = slide()
    mech.add_force(cylinder(rod_area=1.2e-3, leakage=1e-12, pressures=(5e6, 8e6)))
    mech.start(q={"S": 0.15})
    run = lw.simulate(mech, 0.1, inputs={"lift.opening": lambda t: sign * (0.5 + 0.3 * np.sin(40 * t))}, rtol=1e-9)
    exact = solve_ivp(
        by_hand(lambda t: sign * (0.5 + 0.3 * np.sin(40 * t)), 1e-12, 1.2e-3),
        *((0.0, 0.1), [0.15, 0.0, 5e6, 8e6]),
        method="Radau",
        rtol=1e-10,
        atol=[1e-12, 1e-12, 1e-3, 1e-3],
    ).y[:, -1]
    names = ("S.q", "S.u", "lift.pressure_a", "lift.pressure_b")
    assert [run[name][-1] for name in names] == pytest.approx(exact, rel=1e-5)


def test_a_cylinder_between_points_pushes_them_apart():
    mech = slide()
    mech.add_force(cylinder(bodies=("ground", "table"), points=((-0.5, 0, 0), (0, 0, 0)), retracted=0.5))
    model = lw.compile(mech)
    state = model.assemble(q={"S": 0.1}, elements={"lift.pressure_a": 3e6, "lift.pressure_b": 1e6})
    assert model.accelerations(state) == pytest.approx([AREA * 2e6 / MASS])
    twin = slide()
    twin.add_force(cylinder())
    on_joint = lw.compile(twin)
    other = on_joint.assemble(q={"S": 0.1}, elements={"lift.pressure_a": 3e6, "lift.pressure_b": 1e6})
    assert model.derivatives(state) == pytest.approx(on_joint.derivatives(other), rel=1e-12)


@pytest.mark.parametrize(
    "build", [lambda: rotor(motor()), lambda: rotor(lw.FirstOrderActuator("axle", time_constant=0.1, load=2.0))]
)
def test_files_round_trip(build, tmp_path):
    mech = build()
    mech.save(tmp_path / "it.json")
    again = lw.Mechanism.load(tmp_path / "it.json")
    assert again == mech
    assert lw.compile(again).model_bytes == lw.compile(mech).model_bytes


def test_parameters_are_shared_by_load_and_state():
    model = lw.compile(rotor(motor())).with_parameters({"motor.constant": 0.2, "motor.current_start": 3.0})
    state = model.assemble(u={"axle": 1.0})
    assert state["motor.force"] == pytest.approx(EFFICIENCY * GEAR * 0.2 * 3.0)
    assert model.derivatives(state)[2] == pytest.approx((-R * 3.0 - GEAR * 0.2) / L)


def test_others_read_their_states():
    mech = rotor(motor())
    mech.add_output("heat", "R*motor.current^2", parameters={"R": (R, "Ohm")}, unit="W")
    mech.add_state("warmth", "heat/C", unit="K", parameters={"C": (50.0, "J/K")})
    run = lw.simulate(mech, 0.02, inputs={"motor.voltage": 12.0}, rtol=1e-10)
    heat = R * run["motor.current"] ** 2
    assert run["heat"] == pytest.approx(heat)
    assert run["warmth"][-1] == pytest.approx(np.trapezoid(heat, run.t) / 50.0, rel=1e-2)


def test_mistakes_are_refused():
    for match, build in (
        ("efficiency", lambda: motor(efficiency=1.2)),
        ("resistance", lambda: motor(resistance=0.0)),
        ("without inductance", lambda: motor(inductance=None, current=1.0)),
        ("time_constant", lambda: lw.FirstOrderActuator("axle", time_constant=-1.0)),
        ("supply must be above tank", lambda: cylinder(supply=0.0)),
        ("start of pressure_a|pressures", lambda: cylinder(pressures=(np.nan, 0.0))),
    ):
        with pytest.raises(lw.MechanismError, match=match):
            build()


@pytest.mark.parametrize("fmi", ["2.0", "3.0"])
@pytest.mark.parametrize("kind", ["ModelExchange", "CoSimulation"])
def test_fmus_run_in_fmpy(fmi, kind, tmp_path):
    fmpy = pytest.importorskip("fmpy")
    path = tmp_path / "drive.fmu"
    lw.export_fmu(rotor(motor()), path, fmi=fmi)
    names = [one.name for one in fmpy.read_model_description(path, validate=True).modelVariables]
    assert {"motor.current", "der(motor.current)", "motor.voltage", "motor.current_start"} <= set(names)
    run = fmpy.simulate_fmu(
        path,
        fmi_type=kind,
        stop_time=0.05,
        output_interval=0.01,
        relative_tolerance=1e-8,
        start_values={"motor.voltage": 12.0, "motor.current": 0.5},
        output=["axle.u", "motor.current"],
    )
    expected = solve_ivp(
        lambda t, y: [EFFICIENCY * GEAR * K * y[1] / INERTIA, (12.0 - R * y[1] - GEAR * K * y[0]) / L],
        *((0.0, 0.05), [0.0, 0.5]),
        rtol=1e-10,
        atol=1e-12,
    ).y[:, -1]
    assert [run["axle.u"][-1], run["motor.current"][-1]] == pytest.approx(expected, rel=1e-5)
