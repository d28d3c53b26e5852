"""The FMUs in other people's importers, and against Python."""

import math

import numpy as np
import pytest

import linkwork as lw

STOP = 2.0
ANGLES = ["A.q", "B.q", "C.q", "D.q"]


@pytest.fixture(scope="module")
def exact(four_bar) -> lw.Result:
    return lw.simulate(four_bar, t_end=STOP, rtol=1e-12, t_eval=np.linspace(0.0, STOP, 41))


@pytest.mark.parametrize(("kind", "tolerance"), [("ModelExchange", 1e-10), ("CoSimulation", 1e-8)])
def test_fmpy(fmu, exact, needs, kind, tolerance):
    fmpy = needs("fmpy")
    result = fmpy.simulate_fmu(
        str(fmu.path), fmi_type=kind, stop_time=STOP, output_interval=0.05, relative_tolerance=tolerance, output=ANGLES
    )
    for name in ANGLES:
        assert np.abs(result[name] - exact[name]).max() < 1e-6


def test_fmpy_with_event_mode(built, exact, needs):
    fmpy = needs("fmpy")
    result = fmpy.simulate_fmu(
        str(built("3.0").path),
        fmi_type="CoSimulation",
        stop_time=STOP,
        output_interval=0.05,
        relative_tolerance=1e-8,
        use_event_mode=True,
        early_return_allowed=True,
        output=ANGLES,
    )
    assert np.abs(result["A.q"] - exact["A.q"]).max() < 1e-6


def test_libcosimpy_runs_the_co_simulation(built, exact, needs):
    needs("libcosimpy")
    from libcosimpy.CosimExecution import CosimExecution
    from libcosimpy.CosimObserver import CosimObserver
    from libcosimpy.CosimSlave import CosimLocalSlave

    fmu = built("2.0")
    execution = CosimExecution.from_step_size(step_size=50_000_000)  # ns
    slave = execution.add_local_slave(CosimLocalSlave(fmu_path=str(fmu.path), instance_name="linkage"))
    observer = CosimObserver.create_last_value()
    execution.add_observer(observer=observer)
    assert execution.simulate_until(target_time=int(STOP * 1e9))
    values = observer.last_real_values(slave_index=slave, variable_references=[fmu.reference(n) for n in ANGLES])
    assert np.abs(np.array(values) - [exact[n][-1] for n in ANGLES]).max() < 1e-5


def test_derivatives_are_pythons_bit_for_bit(fmu, system):
    rng = np.random.default_rng(1)
    instance = fmu.new("ME")
    instance.initialize()
    torque = fmu.reference("A.tau")
    closed = system.assemble()
    n, nq = 2 * len(closed.q), len(closed.q)
    for _ in range(20):
        x = np.concatenate([closed.q, closed.u]) + rng.normal(scale=1e-3, size=n)
        tau = rng.normal()
        instance.set([torque], [tau])
        assert instance.set_states(x) == 0
        expected = system.derivatives(x[:nq], x[nq:], tau={"A": tau})
        assert instance.derivatives(n) == list(expected)


def test_start_values_are_assembled_as_in_python(fmu, system):
    instance = fmu.new("ME")
    state = system.assemble(q={"A": -0.5})
    instance.set_up()
    instance.set([fmu.reference("A.q_start")], [-0.5])
    names = system.q_names
    assert instance.get([fmu.reference(n) for n in names]) == list(state.q)
    instance.must("ExitInitializationMode")
    n = len(state.q)
    assert instance.array("GetContinuousStates", 2 * n) == [*state.q, *state.u]


def test_parameters_take_effect(fmu, system):
    instance = fmu.new("ME")
    instance.set([fmu.reference("gravity[3]"), fmu.reference("coupler.mass")], [-1.62, 5.0])
    instance.initialize()
    before = fmu.new("ME")
    before.initialize()
    n = system.sizes.nq + system.sizes.nu
    assert instance.derivatives(n) != before.derivatives(n)
    assert instance.get([fmu.reference("coupler.mass")]) == [5.0]


# ---- Co-Simulation


def angles(fmu, steps, **options) -> list[float]:
    instance = fmu.new("CS")
    instance.initialize(**options)
    time = 0.0
    for step in steps:
        time = instance.step(time, step)
    return [time, *instance.get([fmu.reference(n) for n in ANGLES])]


def test_results_do_not_depend_on_the_communication_step(fmu):
    assert angles(fmu, [0.25] * 4) == angles(fmu, [0.125] * 8) == angles(fmu, [2.0**-6] * 64)


def test_a_step_ends_exactly_where_it_shall(fmu):
    instance = fmu.new("CS")
    instance.initialize(start=math.pi)
    time = math.pi
    for step in (math.sqrt(2) / 100, 1e-9, 0.0037, math.e / 10):
        time = instance.step(time, step)
        assert instance.get([fmu.reference("time")]) == [time]
    if fmu.version == "3.0":
        status, done = instance.try_step(time, 0.1)
        assert (status, done) == (0, {"event": False, "early": False, "last": time + 0.1})


@pytest.mark.parametrize("tolerance", [1e-5, 1e-7, 1e-9])
def test_the_tolerance_is_kept(fmu, four_bar, tolerance):
    exact = lw.simulate(four_bar, t_end=1.0, rtol=1e-12, t_eval=[1.0])
    found = angles(fmu, [0.1] * 10, tolerance=tolerance)[1:]
    assert np.abs(np.array(found) - [exact[n][-1] for n in ANGLES]).max() < 10 * tolerance


def test_an_input_that_changes_acts_from_the_communication_point(fmu, four_bar):
    instance = fmu.new("CS")
    instance.initialize(tolerance=1e-9)
    torque = fmu.reference("A.tau")
    time = 0.0
    for k in range(10):
        instance.set([torque], [0.5 * k])
        time = instance.step(time, 0.1)
    result = lw.simulate(
        four_bar,
        t_end=1.0,
        rtol=1e-11,
        t_eval=[1.0],
        max_step=0.01,
        inputs={"A": lambda t: 0.5 * math.floor(10 * t + 1e-12)},
    )
    assert abs(instance.get([fmu.reference("A.q")])[0] - result["A.q"][-1]) < 1e-4


@pytest.mark.parametrize(
    ("time", "step", "text"),
    [(0.0, 0.0, "advance"), (0.0, -0.1, "advance"), (0.0, math.nan, "advance"), (0.5, 0.1, "communication point"),
     (0.0, 2.0, "stop time")],
)  # fmt: skip
def test_impossible_steps_are_refused(fmu, time, step, text):
    instance = fmu.new("CS")
    instance.initialize(stop=1.0)
    status, _ = instance.try_step(time, step)
    assert status == 3
    assert text in instance.last
    instance.step(0.0, 0.1)
