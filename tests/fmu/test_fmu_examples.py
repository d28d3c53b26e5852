"""Every mechanism of the examples as an FMU: no findings, the same derivatives, the same motion."""

import importlib
from dataclasses import dataclass

import numpy as np
import pytest

import linkwork as lw
from linkwork.model.independent_coordinates import choose_independent_coordinates
from support.fmi_calls import OK
from support.unpacked import Unpacked, unpack


@dataclass(frozen=True)
class Run:
    """How long it runs, and how far FMPy may be from a solution of high order in Model Exchange and Co-Simulation.

    What Model Exchange leaves is CVode's own: with the same derivatives Co-Simulation leaves a hundredth or less.
    """

    horizon: float  # s
    exchange: float = 1e-7
    simulation: float = 1e-6


RUNS = {
    "andrews_squeezer": Run(0.01),
    "bouncing_pendulum": Run(1.0),
    "coarse_graining": Run(1.0, 5e-7),
    "double_pendulum": Run(1.0),
    "double_rocker": Run(1.0, 5e-7),
    "drift": Run(1.0),
    "engine": Run(0.1),
    "five_bar": Run(1.0),
    "four_bar": Run(1.0),
    "geared_arm": Run(1.0),
    "gripper": Run(1.0),
    "joint_lock": Run(1.0, 3e-6),
    "biped_leg": Run(0.5),
    "n_body_pendulum": Run(1.0),
    "path_generator": Run(1.0),
    "pin": Run(1.0, 3e-6),
    "planar_robot": Run(1.0),
    "quarter_car": Run(0.1),
    "slider_crank": Run(1.0, 5e-6),
    "solar_array": Run(1.0),
    "spatial_ladder": Run(1.0),
    "swing_up": Run(0.5),
}
VERSIONS = ("2.0", "3.0")
EXAMPLES = pytest.mark.parametrize("name", list(RUNS))


def test_there_is_a_run_for_each(checkout):
    """Those of co-simulation run FMUs themselves."""
    made = {path.stem for path in (checkout / "examples").glob("*.py") if "\ndef mechanism(" in path.read_text()}
    assert {name for name in made if not name.startswith("cosim_")} == set(RUNS)


@pytest.fixture(scope="module")
def system_of(checkout):
    systems: dict[str, lw.Model] = {}

    def compiled(name: str) -> lw.Model:
        if name not in systems:
            systems[name] = lw.compile(importlib.import_module(name).mechanism())
        return systems[name]

    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(checkout / "examples")
        yield compiled


def variants(system: lw.Model) -> list[dict]:
    """How it can be exported."""
    kinds = [{"fmi": "2.0"}, {"fmi": "3.0"}, {"fmi": "3.0", "arrays": True}]
    try:
        choose_independent_coordinates(system)
    except lw.LinkworkError:  # none, or some speeds of a ball alone
        return kinds
    return [*kinds, {"fmi": "2.0", "states": "minimal"}, {"fmi": "3.0", "states": "minimal"}]


@pytest.mark.thin(8)
@EXAMPLES
def test_validates_without_a_message(name, system_of, tmp_path, needs):
    needs("fmpy")
    from fmpy.validation import validate_fmu

    system = system_of(name)
    for k, variant in enumerate(variants(system)):
        assert validate_fmu(str(lw.export_fmu(system, tmp_path / f"{name}_{k}.fmu", **variant))) == [], variant


@pytest.mark.thin(8)
@pytest.mark.parametrize("version", VERSIONS)
@EXAMPLES
def test_derivatives_are_pythons_bit_for_bit(name, version, system_of, tmp_path):
    system = system_of(name)
    path = lw.export_fmu(system, tmp_path / f"{name}.fmu", version)
    instance = Unpacked(path, unpack(path), version, system).new("ME")
    try:
        instance.go_to("event")
        x = np.array(instance.array("GetContinuousStates", system.sizes.nq + system.sizes.nu))
        instance.must("EnterContinuousTimeMode")
        rng, nq = np.random.default_rng(1), system.sizes.nq
        for _ in range(5):
            near = x + rng.normal(scale=1e-3, size=x.size)
            assert instance.set_states(near) == OK
            assert instance.derivatives(x.size) == list(system.derivatives(near[:nq], near[nq:], time=0.0))
    finally:
        instance.free()


def error(path, system: lw.Model, kind: str, tolerance: float, run: Run) -> float:
    """Largest difference of a state, by the largest number of this state or one."""
    import fmpy

    names = [*system.q_names, *system.u_names]
    options = {"stop_time": run.horizon, "output_interval": run.horizon / 10, "output": names}
    found = fmpy.simulate_fmu(str(path), fmi_type=kind, relative_tolerance=tolerance, **options)
    times = np.linspace(0.0, run.horizon, 11)
    exact = lw.simulate(system, t_end=run.horizon, solver="DOP853", rtol=1e-12, t_eval=times)
    return max(
        np.abs(np.interp(times[-1], found["time"], found[name]) - exact[name][-1]) / max(1.0, np.abs(exact[name]).max())
        for name in names
    )


@pytest.mark.thin(8)
@pytest.mark.parametrize("version", VERSIONS)
@EXAMPLES
def test_moves_as_in_python(name, version, system_of, tmp_path, needs):
    needs("fmpy")
    system, run = system_of(name), RUNS[name]
    path = lw.export_fmu(system, tmp_path / f"{name}.fmu", version)
    assert error(path, system, "ModelExchange", 1e-9, run) < run.exchange
    assert error(path, system, "CoSimulation", 1e-9, run) < run.simulation


@pytest.mark.parametrize(("name", "stop"), [("slider_crank", 10.0), ("pin", 10.0), ("quarter_car", 1.0)])
def test_eulers_method_gets_through_at_the_default_step(name, stop, system_of, tmp_path, needs):
    """Fixed-step importers take the step of the default experiment: fast turns and stiff springs need a shorter one."""
    fmpy = needs("fmpy")
    path = str(lw.export_fmu(system_of(name), tmp_path / "a.fmu", "2.0", outputs=["energy"], reference=False))
    step = float(fmpy.read_model_description(path).defaultExperiment.stepSize)
    options = {"solver": "Euler", "stop_time": stop, "step_size": step, "output_interval": step}
    found = fmpy.simulate_fmu(path, fmi_type="ModelExchange", **options)
    assert found["time"][-1] == pytest.approx(stop)
    assert all(np.isfinite(found[column]).all() for column in found.dtype.names)


def test_the_default_step_is_shorter_only_where_needed(system_of, tmp_path, needs):
    fmpy = needs("fmpy")

    def step(name: str, **options: float) -> float:
        path = lw.export_fmu(system_of(name), tmp_path / "a.fmu", outputs=[], reference=False, **options)
        return float(fmpy.read_model_description(str(path)).defaultExperiment.stepSize)

    assert step("four_bar") == step("five_bar") == step("spatial_ladder") == 0.01
    assert 1e-5 <= step("quarter_car") < step("slider_crank") < 0.01
    assert step("quarter_car", step_size=0.02) == 0.02
