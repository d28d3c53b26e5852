"""Begin, end and steps of runs: the values passed to FMUs, and the grid of times, to the last bit."""

import numpy as np
import pytest

from linkwork.cosim import GaussSeidel, Jacobi, System, run
from support.fmi_order import calls
from support.foreign import foreign

VERSIONS = ("2.0", "3.0")
VARIABLE = 'canHandleVariableCommunicationStepSize="true"'


pytestmark = pytest.mark.usefixtures("fmpy_and_gcc")


@pytest.fixture
def single(tmp_path):
    """A system of one integrator, x' = u."""

    def make(version: str = "2.0", **options: str) -> System:
        system = System("single")
        system.add("one", foreign(tmp_path / f"foreign{version[0]}.fmu", version, **options))
        return system

    return make


@pytest.mark.parametrize("version", VERSIONS)
def test_fmus_are_told_start_stop_and_tolerance(version, single, tmp_path, monkeypatch):
    told = {}
    for name, tolerance in (("with", 1e-7), ("without", None)):
        monkeypatch.setenv("FOREIGN_CALLS", str(tmp_path / name))
        run(single(version), 3.5, t_start=-1.5, tolerance=tolerance, master=Jacobi(0.5))
        setup = "SetupExperiment" if version == "2.0" else "EnterInitializationMode"
        told[name] = next(one.detail for one in calls(tmp_path / name) if one.function == setup)
    assert [float(one) for one in told["with"].split()] == [1, 1e-7, -1.5, 1, 3.5]
    assert [float(one) for one in told["without"].split()][::2] == [0, -1.5, 3.5]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_start_other_than_0(version, single):
    result = run(single(version), 12.0, t_start=10.0, master=Jacobi(0.25), inputs={"one.u": lambda t: t})
    assert result.t.tolist() == [10.0 + 0.25 * k for k in range(9)]
    expected = 0.25 * np.concatenate([[0.0], np.cumsum(result.t[:-1])])
    assert result["one.y"] == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("master", [Jacobi, GaussSeidel])
@pytest.mark.parametrize(
    ("start", "stop", "step"),
    [
        (0.0, 1.0, 0.1),
        (0.0, 0.7, 0.1),
        (0.0, 1.0, 1 / 49),  # 49 (1 / 49) < 1: no sliver may be left
        (0.0, 1.0, 1 / 3),
        (0.1, 1.1, 0.1),
        (-1.0, 1.0, 0.1),
        (1e6, 1e6 + 0.05, 1e-4),  # (t - start) / step is off by 1e-6
        (1e9, 1e9 + 0.01, 1e-3),
    ],
)
def test_the_grid_does_not_drift(master, start, stop, step, single):
    result = run(single(abilities=VARIABLE), stop, t_start=start, master=master(step), inputs={"one.u": 1.0})
    count = round((stop - start) / step)
    assert result.t.tolist() == [*(start + k * step for k in range(count)), stop]
    assert result["one.y"][-1] == pytest.approx(stop - start, rel=1e-12)
    assert result.notices == [one for one in result.notices if "steps of one length" not in one]


def test_very_many_steps(single):
    system = single(abilities=VARIABLE)
    result = run(system, 20.0, master=Jacobi(1e-3), inputs={"one.u": 1.0}, columns="one.y")
    assert np.array_equal(result.t, np.append(np.arange(20000) * 1e-3, 20.0))
    assert result.statistics.steps == 20000
    assert result["one.y"][-1] == pytest.approx(20.0, rel=1e-11)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_shorter_last_step(version, single):
    result = run(single(version, abilities=VARIABLE), 0.35, master=Jacobi(0.1), inputs={"one.u": 1.0})
    assert result.t.tolist() == [0.0, 0.1, 0.2, 3 * 0.1, 0.35]
    assert result["one.y"] == pytest.approx(result.t)
    assert not any("one length" in notice for notice in result.notices)


def test_a_shorter_last_step_of_one_that_takes_even_ones_only_is_told(single):
    result = run(single(), 0.35, master=Jacobi(0.1))
    assert any(notice.startswith("'one' can only take steps of one length") for notice in result.notices)
    assert not any("one length" in notice for notice in run(single(), 0.4, master=Jacobi(0.1)).notices)


def test_a_step_longer_than_the_run_is_told(single):
    result = run(single(), 0.5, master=Jacobi(2.0), inputs={"one.u": 1.0})
    assert result.t.tolist() == [0.0, 0.5]
    assert any("step of 2 s is longer than the run of 0.5 s" in notice for notice in result.notices)


# ---- experiments of FMUs


def test_the_step_of_a_default_experiment_is_taken(single, tmp_path):
    system = single(experiment='startTime="0" stopTime="1" stepSize="0.0625"')
    assert run(system, 1.0).t.tolist() == [k / 16 for k in range(17)]
    system.add("two", foreign(tmp_path / "fine.fmu", experiment='stepSize="0.03125"'))
    system.add("three", foreign(tmp_path / "mute.fmu"))
    assert len(run(system, 1.0)) == 33


@pytest.mark.parametrize("size", ["0", "-1", "INF"])
def test_a_step_of_a_default_experiment_that_is_none(size, single):
    assert len(run(single(experiment=f'stepSize="{size}"'), 1.0)) == 1001


def test_without_one_there_are_a_thousand_steps(single):
    assert len(run(single(), 3.0)) == 1001


def test_a_run_may_go_beyond_the_default_experiment(single):
    system = single(experiment='startTime="1" stopTime="2" stepSize="0.5"')
    result = run(system, 5.0, inputs={"one.u": 1.0})
    assert result.t.tolist() == [0.5 * k for k in range(11)]
    assert result["one.y"][-1] == 5.0


def test_a_master_that_is_used_again_begins_anew(single):
    master = Jacobi(0.25)
    system = single()
    first, second = (run(system, 1.0, master=master) for _ in range(2))
    assert first.statistics.steps == second.statistics.steps == 4
    assert first.notices == second.notices
