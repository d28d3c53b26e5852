"""Built-in forces in FMUs: an engine with its gas table, and parameters by their names."""

import numpy as np
import pytest

import linkwork as lw

STOP = 0.5
SEEN = ["crank.u", "slide.q", "gas.force", "brake.force"]
BORE, STROKE, ROD = 0.086, 0.086, 0.145


def gas_table() -> lw.LookupTable:
    """Absolute pressure over two revolutions: compression and expansion of 300 and 900 K, open valves between."""
    crank = np.linspace(0.0, 4 * np.pi, 361)
    r = STROKE / 2
    height = r * np.cos(crank) + np.sqrt(ROD**2 - (r * np.sin(crank)) ** 2)
    volume = 5.5e-5 + np.pi / 4 * BORE**2 * (r + ROD - height)
    closed = 1e5 * (volume.max() / volume) ** 1.35
    expands = crank < np.pi
    pressure = np.where(expands, 2.6 * closed, np.where(crank > 3 * np.pi, closed, 1e5))
    pressure[-1] = pressure[0]
    return lw.LookupTable(crank, pressure, interpolation="monotone", periodic=True)


def engine() -> lw.Mechanism:
    """A single-cylinder engine with a flywheel, a brake and friction of the piston."""
    mech = lw.Mechanism("engine")
    r = STROKE / 2
    mech.add_body("shaft", mass=9.0, com=(0, 0, 0), inertia=0.25 * np.eye(3))
    mech.add_body("rod", mass=0.6, com=(0, 0, ROD / 2), inertia=lw.inertia.rod(0.6, ROD, axis="z"), origin=(0, 0, r))
    mech.add_body("piston", mass=0.5, com=(0, 0, 0), inertia=1e-3 * np.eye(3), origin=(0, 0, r + ROD))
    mech.add_joint("crank", lw.Revolute("y"), "ground", "shaft", at=(0, 0, 0))
    mech.add_joint("big_end", lw.Revolute("y"), "shaft", "rod", at=(0, 0, r))
    mech.add_joint("slide", lw.Prismatic("z"), "ground", "piston", at=(0, 0, r + ROD))
    mech.add_joint("pin", lw.Revolute("y"), "rod", "piston", at=(0, 0, r + ROD))
    area = np.pi / 4 * BORE**2
    gas = lw.GasPressure({"slide": -1.0}, area=area, table=gas_table(), over="crank.q", ambient=1e5, name="gas")
    mech.add_force(gas)
    mech.add_force(lw.NonlinearDamper("crank", compression=0.2, rebound=0.2, name="brake"))
    mech.add_force(lw.NonlinearDamper("slide", compression=12.0, rebound=12.0, name="friction"))
    mech.start(q={"crank": 0.3}, u={"crank": 150.0})
    return mech


@pytest.fixture(scope="module")
def engine_fmu(tmp_path_factory):
    return str(lw.export_fmu(engine(), tmp_path_factory.mktemp("engine") / "engine.fmu", fmi="2.0"))


@pytest.fixture(scope="module")
def expected():
    return lw.simulate(engine(), STOP, rtol=1e-11, t_eval=np.linspace(0.0, STOP, 6))


@pytest.mark.parametrize(
    ("kind", "step", "bound"),
    [
        ("CoSimulation", 1e-3, 1e-6),
        ("CoSimulation", 1e-2, 1e-6),
        ("CoSimulation", 0.1, 1e-6),
        ("ModelExchange", 1e-2, 1e-5),
    ],
)
def test_the_engine_turns_as_fast_at_any_step(engine_fmu, expected, needs, kind, step, bound):
    """Gas table, crank and brake are in one FMU: the step of an importer does not change its speed."""
    found = needs("fmpy").simulate_fmu(
        engine_fmu, fmi_type=kind, stop_time=STOP, output_interval=step, relative_tolerance=1e-9, output=SEEN
    )
    rows = np.searchsorted(found["time"], expected.t - 1e-9)
    for name in SEEN:
        error = np.abs(found[name][rows] - expected[name]).max()
        assert error < bound * (1.0 + np.abs(expected[name]).max()), (name, error)


def test_numbers_and_tables_are_parameters_with_units(engine_fmu, needs):
    found = {v.name: v for v in needs("fmpy").read_model_description(engine_fmu).modelVariables}
    units = {"gas.area": "m2", "gas.ambient": "Pa", "gas.table[360]": "N/m2", "brake.rebound": "N.m.s/rad"}
    for name, unit in units.items():
        assert (found[name].unit, found[name].variability, found[name].causality) == (unit, "tunable", "parameter")
    assert found["gas.area"].description == "area of the piston"
    assert float(found["brake.rebound"].min) == 0.0


def test_a_command_and_a_parameter_of_a_motor(tmp_path, needs):
    """u = c w0 (1 - exp(-t T / (I w0))), with a stall torque T that the importer sets."""
    mech = lw.Mechanism("drive", gravity=(0, 0, 0))
    mech.add_body("wheel", mass=1.0, com=(0.1, 0, 0), inertia=0.49 * np.eye(3))
    mech.add_joint("A", lw.Revolute("z"), "ground", "wheel", at=(0, 0, 0))
    mech.add_force(lw.MotorCharacteristic("A", stall_torque=1.0, no_load_speed=50.0, name="motor"))
    path = str(lw.export_fmu(mech, tmp_path / "drive.fmu", fmi="3.0"))
    found = needs("fmpy").simulate_fmu(
        path,
        stop_time=4.0,
        output_interval=0.5,
        relative_tolerance=1e-10,
        start_values={"motor.stall_torque": 5.0},
        input=np.array([(0.0, 0.6), (4.0, 0.6)], dtype=[("time", float), ("motor.command", float)]),
        output=["A.u"],
    )
    expected = 0.6 * 50.0 * (1.0 - np.exp(-found["time"] * 5.0 / 50.0 / 0.5))
    assert np.abs(found["A.u"] - expected).max() < 1e-7
