"""FMUs of other makers together with ours, against closed forms."""

import gc
import math
import os
import tempfile
from pathlib import Path

import numpy as np
import pytest

from linkwork.cosim import GaussSeidel, Jacobi, System, run
from linkwork.cosim.fmu.instance import Instance
from linkwork.cosim.fmu.model import read_model
from linkwork.errors import CosimError
from support.foreign import MODE, foreign
from support.python_fmus import LAG, build

VERSIONS = ("2.0", "3.0")
VARIABLE = 'canHandleVariableCommunicationStepSize="true"'


@pytest.fixture(autouse=True)
def tools(needs, needs_program):
    needs("fmpy")
    needs("pythonfmu")
    needs_program("gcc")


@pytest.fixture(scope="session")
def lag(tmp_path_factory, needs):
    """x' = u - x in Python, with and without saving of states."""
    needs("pythonfmu")
    folder = tmp_path_factory.mktemp("lags")
    return {able: build(folder / str(able), LAG, "lag", handle_state=able) for able in (False, True)}


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("able", [False, True])
def test_a_python_fmu_and_one_of_ours_and_one_in_c(version, able, lag, mass, tmp_path):
    """A lag with u held follows its recursion; the mass stays in balance with a force that the integrator gives."""
    system = System("three")
    system.add("mass", mass(version))
    system.add("lag", lag[able])
    system.add("ramp", foreign(tmp_path / "ramp.fmu", "3.0" if version == "2.0" else "2.0"))
    system.connect("ramp.y", "lag.u", convert_units=False)
    h = 0.125
    result = run(system, 2.0, master=Jacobi(h), inputs={"ramp.u": 2.0})
    x = [1.0]
    for k in range(16):
        u = 2.0 * k * h
        x.append(u + (x[-1] - u) * math.exp(-h))
    assert result["ramp.y"] == pytest.approx(2.0 * result.t)
    assert result["lag.x"] == pytest.approx(x, rel=1e-14)
    assert result["lag.count"].tolist() == list(range(17))
    assert result["lag.note"][-1] == "über 1.875"
    assert result["lag.ready"].tolist() == [k > 0 and x[k] < 0.5 for k in range(17)]
    # x'' = -40 x - x' from 0.1
    w = math.sqrt(40 - 0.25)
    assert result["mass.A.q"] == pytest.approx(
        0.1 * np.exp(-result.t / 2) * (np.cos(w * result.t) + np.sin(w * result.t) / (2 * w)), abs=2e-6
    )


def test_several_instances_of_one_fmu_keep_apart(lag, tmp_path):
    fmu = foreign(tmp_path / "foreign.fmu")
    system = System("many")
    for k in range(4):
        system.add(f"lag{k}", lag[False])
        system.add(f"c{k}", fmu, parameters={"x0": float(k)})
        system.connect(f"c{k}.y", f"lag{k}.u", convert_units=False)
    result = run(system, 1.0, master=GaussSeidel(0.25))
    for k in range(4):
        assert result[f"lag{k}.x"][-1] == pytest.approx(k + (1 - k) * math.exp(-1))


# ---- what an FMU may be unable to do


def test_derivatives_of_inputs_go_to_those_that_take_them_only(tmp_path):
    """With the exact slope of u = t the integral is exact; the mean of the line gives the same for the other one."""
    system = System("two")
    for name, able in (("able", "true"), ("unable", "false")):
        system.add(name, foreign(tmp_path / f"{name}.fmu", abilities=f'canInterpolateInputs="{able}"'))
    ramp = {f"{name}.u": lambda t: 3.0 * t for name in ("able", "unable")}
    result = run(system, 2.0, master=Jacobi(0.25, extrapolation=1), inputs=ramp)
    # The first step has one point only, and holds the input.
    for name in ("able", "unable"):
        assert result[f"{name}.y"] == pytest.approx(1.5 * result.t**2 - np.minimum(result.t, 0.25) ** 2 * 1.5)


@pytest.mark.parametrize("version", VERSIONS)
def test_no_dependencies_declared_is_a_loop_that_is_solved(version, tmp_path):
    """z = g u; without dependencies y may depend on u as well, and the circle is taken for an algebraic loop."""
    fmu = foreign(tmp_path / "foreign.fmu", version, depends=False)
    system = System("circle")
    system.add("one", fmu, parameters={"x0": 1.0})
    system.add("two", fmu, parameters={"g": -1.0})
    system.connect("one.y", "two.u", convert_units=False)
    system.connect("two.z", "one.u")
    result = run(system, 0.5, master=Jacobi(0.125))
    assert result["one.y"] == pytest.approx([(1 - 0.125) ** k for k in range(5)])  # explicit Euler of x' = -x
    assert result.statistics.iterations > 0


def test_a_true_algebraic_loop_between_them(tmp_path):
    fmu = foreign(tmp_path / "foreign.fmu")
    system = System("loop")
    system.add("one", fmu, parameters={"g": 0.25})
    system.add("two", fmu, parameters={"g": 1.0})
    system.connect("one.z", "two.u")
    system.connect("two.z", "one.u", offset=2.0)
    result = run(system, 0.5, master=Jacobi(0.25))
    assert result["one.u"] == pytest.approx([8.0 / 3.0] * 3)  # u = u / 4 + 2


def test_what_may_exist_once_only_is_refused_twice_and_runs_once_and_again(tmp_path):
    fmu = foreign(tmp_path / "foreign.fmu", abilities='canBeInstantiatedOnlyOncePerProcess="true"')
    system = System("once")
    system.add("one", fmu)
    for _ in range(2):
        assert len(run(system, 0.5, master=Jacobi(0.25))) == 3
    system.add("two", fmu)
    with pytest.raises(
        CosimError, match=r"foreign.fmu can be instantiated only once in a process, and one, two are of"
    ):
        run(system, 0.5)


def test_one_that_needs_its_tool_is_told_of(tmp_path):
    system = System("tool")
    system.add("one", foreign(tmp_path / "foreign.fmu", abilities='needsExecutionTool="true"'))
    assert any("needs the tool" in notice for notice in run(system, 0.5).notices)


@pytest.mark.parametrize("version", VERSIONS)
def test_resources_are_found_in_folders_with_spaces_and_umlauts(version, tmp_path, monkeypatch):
    place = tmp_path / "ein Größer 100% Ordner"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    system = System("read")
    system.add("one", foreign(place / "fäh ig.fmu", version, resource="42.5"))
    assert run(system, 0.5)["one.number"].tolist()[0] == 42.5


# ---- its messages and requests


@pytest.mark.parametrize("version", VERSIONS)
def test_warnings_are_notices_of_the_instance_that_gave_them(version, tmp_path):
    fmu = foreign(tmp_path / "foreign.fmu", version)
    system = System("warned")
    for name, mode in (("first", "warns"), ("second", "sound"), ("third", "warns"), ("last", "sound")):
        system.add(name, fmu, parameters={"mode": MODE[mode]})
    result = run(system, 1.0, master=Jacobi(0.25))
    said = [one for one in result.notices if " reports: " in one]
    assert said == [f"{name!r} reports: 7 steps of 0.125 s by {name} are many" for name in ("first", "third")]
    assert len(result) == 5


def test_a_percent_sign_in_a_message_of_pythonfmu_harms_nobody(lag):
    system = System("percent")
    system.add("lag", lag[False], parameters={"misdeed": "warn"})
    assert "'lag' reports: mind the gap: 100%s" in run(system, 1.0, master=Jacobi(0.25)).notices


@pytest.mark.parametrize("version", VERSIONS)
def test_one_that_ends_the_simulation(version, tmp_path):
    system = System("ended")
    system.add("one", foreign(tmp_path / "foreign.fmu", version), parameters={"mode": MODE["ends"]})
    result = run(system, 1.0, master=Jacobi(0.2))
    assert result.t[-1] == pytest.approx(0.6)
    assert not result.aborted
    assert "'one' ended the simulation at t = 0.6 s" in result.notices


def test_a_python_fmu_that_gives_up_ends_the_simulation(lag):
    system = System("ended")
    system.add("lag", lag[False], parameters={"misdeed": "false"})
    result = run(system, 1.0, master=Jacobi(0.25))
    assert result.t[-1] == 0.5
    assert "'lag' ended the simulation at t = 0.5 s" in result.notices


@pytest.mark.parametrize("version", VERSIONS)
def test_steps_that_are_discarded_are_made_shorter(version, tmp_path):
    state = "FMUstate" if version == "2.0" else "FMUState"
    fmu = foreign(tmp_path / "foreign.fmu", version, abilities=f'{VARIABLE} canGetAndSet{state}="true"')
    system = System("short")
    system.add("one", fmu, parameters={"mode": MODE["short_only"]})
    system.add("two", fmu)
    result = run(system, 1.0, master=Jacobi(0.1), inputs={"one.u": 1.0, "two.u": 1.0})
    assert result.t[-1] == 1.0
    assert result["one.y"] == pytest.approx(result.t)
    assert result["two.y"] == pytest.approx(result.t)


# ---- states


def test_states_of_pythonfmu_are_not_left_behind(lag):
    """It makes a new one at each call, whether it was handed an old one or not."""
    instance = Instance("one", read_model(lag[True]))
    instance.instantiate()
    instance.enter_initialization(0.0, 1.0, None)
    instance.exit_initialization()
    state = instance.save()
    instance.step(0.0, 0.5)
    gc.collect()
    before = len(gc.get_objects())
    for _ in range(500):
        state = instance.save(state)
    gc.collect()
    assert len(gc.get_objects()) - before < 100
    instance.step(0.5, 0.5)
    ports = instance.ports([instance.model.variable("x")])
    instance.restore(state)
    instance.read(ports)
    assert ports.real[0] == pytest.approx(math.exp(-0.5))
    assert instance.time == 0.5
    instance.drop(state)
    instance.free()


@pytest.mark.parametrize("version", VERSIONS)
def test_states_made_anew_each_time_are_freed(version, tmp_path, monkeypatch):
    monkeypatch.setenv("FOREIGN_CALLS", str(tmp_path / "calls"))
    state = "FMUstate" if version == "2.0" else "FMUState"
    fmu = foreign(tmp_path / "foreign.fmu", version, "STATES_ANEW", abilities=f'canGetAndSet{state}="true"')
    instance = Instance("one", read_model(fmu))
    instance.instantiate()
    kept = None
    for _ in range(10):
        kept = instance.save(kept)
    instance.drop(kept)
    instance.free()
    functions = [line.split("|")[1] for line in (tmp_path / "calls").read_text().splitlines()]
    # That it does so is seen at the second one, when the first is lost already.
    assert functions.count("GetState") == 10
    assert functions.count("FreeState") == 9


# ---- life


def left_behind() -> tuple[int, int, int]:
    """Folders of unpacked FMUs, file handles, and mapped libraries of FMUs."""
    gc.collect()
    folders = len(list(Path(tempfile.gettempdir()).glob("linkwork_fmu_*")))
    mapped = {line.split()[-1] for line in Path("/proc/self/maps").read_text().splitlines() if "linkwork_fmu_" in line}
    return folders, len(os.listdir("/proc/self/fd")), len(mapped)


@pytest.mark.thin(3)
@pytest.mark.parametrize("mode", ["sound", "fails", "no_init", "no_exit", "no_end", "ends"])
def test_repeated_runs_leave_nothing_behind(mode, lag, mass, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    system = System("again")
    for version in VERSIONS:
        fmu = foreign(tmp_path / f"foreign{version[0]}.fmu", version)
        system.add(f"c{version[0]}", fmu, parameters={"mode": MODE[mode]})
        system.add(f"other{version[0]}", fmu)
    system.add("mass", mass("3.0"))

    def once() -> None:
        try:
            run(system, 1.0, master=Jacobi(0.25))
        except CosimError:
            assert mode in ("fails", "no_init", "no_exit")

    once()
    before = left_behind()
    for _ in range(2):
        once()
    assert left_behind() == before
    system.add("lag", lag[True])
    once()
    python = left_behind()
    once()
    assert left_behind()[:2] == python[:2]


def test_after_fatal_a_new_run_begins_with_a_new_library(tmp_path):
    system = System("again")
    system.add("one", foreign(tmp_path / "foreign.fmu"), parameters={"mode": MODE["dies"]})
    models = {}
    with pytest.raises(CosimError, match=r"fmi2DoStep returned fatal at t = 0.5 s") as caught:
        run(system, 1.0, master=Jacobi(0.25), models=models)
    assert caught.value.result.t.tolist() == [0.0, 0.25, 0.5]
    (old,) = models.values()
    assert old.lost
    assert len(run(system, 1.0, master=Jacobi(0.25), models=models, parameters={"one.mode": 0})) == 5
    (new,) = models.values()
    assert new is not old
    assert new.folder != old.folder


def test_messages_of_a_later_run_by_fmpy_are_printed(tmp_path, capfd):
    """FMPy passes the messages of all FMUs of FMI 2.0 to the callback that was set last, which is ours by then."""
    import fmpy

    fmu, failing = foreign(tmp_path / "foreign.fmu"), {"mode": MODE["fails"]}
    system = System("one")
    system.add("one", fmu, parameters=failing)
    with pytest.raises(CosimError, match="no solution"):
        run(system, 1.0, master=Jacobi(0.25))
    assert "sorry" not in capfd.readouterr().out
    with pytest.raises(fmpy.fmi1.FMICallException):
        fmpy.simulate_fmu(str(fmu), start_values=failing, stop_time=1.0, output_interval=0.25)
    assert "[ERROR] no solution at 0.5 s, sorry" in capfd.readouterr().out
