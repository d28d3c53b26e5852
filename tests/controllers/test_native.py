"""Built-in controllers in C against the same laws in Python, each an FMU: the same bits in random runs."""

from __future__ import annotations

import math
import shutil
import struct
import subprocess
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork import controllers
from linkwork.controllers.native.file import controller_bytes
from linkwork.controllers.native.interface import interface_of
from linkwork.cosim import Jacobi, System
from linkwork.cosim import run as run_system
from linkwork.errors import ExportError, FmuError, FmuNameError
from linkwork.fmu.check import check_fmu
from linkwork.fmu.export.instantiation_token import instantiation_token
from support.python_controllers import in_python, reference
from support.small import pendulum

NATIVE = [name for name in controllers.BUILTIN if name != "computed_torque"]
EXTREME = (0.0, -0.0, 5e-324, -5e-324, 1e-300, 1e300, -1e300, 1.7e308, math.inf, -math.inf)


# ---- random controllers ----


def random_pid(random) -> tuple[tuple, dict]:
    gains = {name: float(random.normal(scale=5.0)) for name in ("kp", "ki", "kd", "setpoint_weight", "integral_start")}
    times = {"filter_time": float(random.choice([0.0, 0.03])), "tracking_time": float(random.choice([0.0, 0.4]))}
    limits = {"u_min": -2.0, "u_max": 3.0} if random.random() < 0.6 else {}
    return (), gains | times | limits | {"derivative_weight": 0.5, "sample_time": sample_time(random)}


def random_state_feedback(random) -> tuple[tuple, dict]:
    mech = pendulum()
    limits = {"u_min": -30.0, "u_max": 40.0} if random.random() < 0.5 else {}
    weight = float(random.uniform(1.0, 100.0))
    return (lw.linearize(mech, inputs=["A.tau"]), weight, 1.0), limits | {"sample_time": sample_time(random)}


def random_skyhook(random) -> tuple[tuple, dict]:
    low = float(random.uniform(0.0, 500.0))
    return (), {"c_min": low, "c_max": low + 2000.0, "continuous": bool(random.random() < 0.7)}


def random_latch_supervisor(random) -> tuple[tuple, dict]:
    alone = {"angle": "x", "speed": "H1.u", "target": float(random.normal()), "unit": "m"}
    latches = {"a": "H1", "b-1": alone, "c": "H2", "d": "H1"}
    chosen = dict(list(latches.items())[: random.integers(1, 5)])
    settings = {"window": 0.8, "max_speed": 0.9, "hold_time": float(random.choice([0.0, 0.1, 0.3]))}
    return (chosen,), settings | {"sequence": bool(random.random() < 0.5)}


def random_trajectory(random) -> tuple[tuple, dict]:
    points, n = int(random.integers(2, 6)), int(random.integers(1, 4))
    table = random.normal(size=(points, n))
    cycle = bool(random.random() < 0.5)
    if cycle:
        table[-1] = table[0]
    times = {"move_time": random.uniform(0.05, 0.5, points - 1), "dwell_time": random.uniform(0.0, 0.2, points)}
    names = [f"L{k}" for k in range(n)]
    return (table,), times | {"names": names, "cycle": cycle, "start": 0.1, "speed": float(random.uniform(0.5, 2.0))}


def random_signal(random) -> tuple[tuple, dict]:
    n = int(random.integers(2, 9))
    times = np.cumsum(random.uniform(0.01, 0.4, n)) - 0.3
    values = {name: random.normal(size=n) for name in ("road", "left track.z")}
    periodic = bool(random.random() < 0.5)
    if periodic:
        for row in values.values():
            row[-1] = row[0]
    interpolation = str(random.choice(["linear", "cubic"]))
    return (times, values), {"interpolation": interpolation, "periodic": periodic, "delay": 0.07, "scale": -1.3}


def sample_time(random) -> float:
    return float(random.choice([0.0, 0.01, 0.07]))


def drawn(name: str, random) -> tuple[tuple, dict]:
    return globals()[f"random_{name}"](random)


def pair(name: str, folder, seed: int):
    """The FMU in C, and that of the class as PythonFMU runs it."""
    args, settings = drawn(name, np.random.default_rng(seed))
    native = getattr(controllers, name)(folder / "native.fmu", *args, **settings)
    return native, in_python(name, folder / "reference.fmu", *args, **settings)


def bits(values: list[Any]) -> list[bytes | str]:
    """The numbers to the bit, all NaN alike."""
    return ["NaN" if value != value else struct.pack("<d", value) for value in map(float, values)]


# ---- the same numbers ----


class Both:
    """Both FMUs, driven alike."""

    def __init__(self, first, second) -> None:
        self.slaves = (first, second)
        self.variables = first.variables

    def each(self, call: Callable[[Any], Any]) -> None:
        """Do the same to both; what they return must be equal to the bit."""
        first, second = map(call, self.slaves)
        assert bits(first or []) == bits(second or [])

    def names(self, *kinds: str) -> list[str]:
        return [name for name, one in self.variables.items() if one.causality in kinds]


def value(random, variable, extreme: bool) -> Any:
    if variable.type == "Boolean":
        return bool(random.random() < 0.5)
    return float(random.choice(EXTREME)) if extreme and random.random() < 0.3 else float(random.normal())


def tuned(random, name: str, variable, extreme: bool) -> Any:
    found = value(random, variable, extreme)
    return abs(found) if name in ("filter_time", "tracking_time") else found


def drive(both: Both, random, steps: int, extreme: bool) -> None:
    """Set, read, step, save and restore at random."""
    outputs, inputs = both.names("output"), both.names("input")
    tunable = [name for name in both.names("parameter") if both.variables[name].variability == "tunable"]
    saved: list[tuple[Any, Any, float]] = []
    for _ in range(steps):
        if random.random() < 0.8:
            given = {name: value(random, both.variables[name], extreme) for name in inputs if random.random() < 0.9}
            both.each(lambda slave, given=given: slave.set(given))
        if random.random() < 0.15:
            name = str(random.choice(tunable))
            given = {name: tuned(random, name, both.variables[name], extreme)}
            both.each(lambda slave, given=given: slave.set(given))
        for _ in range(random.integers(0, 3)):
            both.each(lambda slave: slave.get(outputs))
        if random.random() < 0.1:
            saved.append(
                (*(one.fmu.serializeFMUstate(one.fmu.getFMUstate()) for one in both.slaves), both.slaves[0].time)
            )
        if saved and random.random() < 0.1:
            *states, time = saved[random.integers(len(saved))]
            for one, state in zip(both.slaves, states, strict=True):
                one.fmu.setFMUstate(one.fmu.deSerializeFMUstate(state))
                one.time = time
        length = float(random.choice([0.01, 0.05, random.uniform(1e-4, 0.3)]))
        both.each(lambda slave, length=length: slave.step(length))
    both.each(lambda slave: slave.get(outputs))


@pytest.mark.parametrize("extreme", [False, True])
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("name", NATIVE)
@pytest.mark.thin(12, kept=4)
def test_random_runs_give_the_bits_of_the_class(run, tmp_path, name, seed, extreme):
    both = Both(*map(run, pair(name, tmp_path, seed)))
    random = np.random.default_rng([seed, extreme])
    for one in both.slaves:
        one.time = float(seed % 3) * 0.7
        one.enter()
    both.each(lambda slave: slave.get(slave.outputs))
    given = {one: value(random, both.variables[one], extreme) for one in both.names("input")}
    both.each(lambda slave: slave.set(given))
    both.each(lambda slave: slave.get(slave.outputs))
    both.each(lambda slave: slave.fmu.exitInitializationMode() and None)
    drive(both, random, 60, extreme)
    for one in both.slaves:
        one.fmu.reset()
        one.time = 0.0
        one.start()
    drive(both, random, 10, extreme)


def test_a_last_bit_is_noticed(run, tmp_path):
    native = controllers.pid(tmp_path / "native.fmu", kp=1.0 + 2.0**-52)
    both = Both(run(native).start(), run(in_python("pid", tmp_path / "reference.fmu", kp=1.0)).start())
    with pytest.raises(AssertionError):
        drive(both, np.random.default_rng(1), 10, extreme=False)


@pytest.mark.parametrize("name", NATIVE)
def test_both_describe_the_same_variables(run, tmp_path, name):
    first, second = (run(fmu).description for fmu in pair(name, tmp_path, 3))

    def described(one):
        start = (
            None
            if one.start is None or one.causality == "output"
            else float({"true": 1, "false": 0}.get(one.start, one.start))
        )
        return (one.name, one.type, one.causality, one.variability or "continuous", start, one.unit, one.description)

    assert [described(one) for one in first.modelVariables] == [described(one) for one in second.modelVariables]
    assert [one.valueReference for one in first.modelVariables] == [one.valueReference for one in second.modelVariables]


@pytest.mark.parametrize("name", NATIVE)
def test_both_versions_of_fmi_give_the_same_columns(tmp_path, name):
    args, settings = drawn(name, np.random.default_rng(5))
    found = []
    for fmi in ("2.0", "3.0"):
        system = System("one")
        system.add("it", getattr(controllers, name)(tmp_path / f"{fmi}.fmu", *args, fmi=fmi, **settings))
        result = run_system(system, 1.0, master=Jacobi(0.03))
        found.append({column: bits(list(result[column])) for column in result.names if column.startswith("it.")})
    assert found[0] == found[1]
    assert found[0]


# ---- checks and importers ----


@pytest.mark.parametrize("fmi", ["2.0", "3.0"])
@pytest.mark.parametrize("name", NATIVE)
@pytest.mark.thin(6)
def test_the_checks_find_nothing(tmp_path, name, fmi):
    args, settings = drawn(name, np.random.default_rng(2))
    report = check_fmu(getattr(controllers, name)(tmp_path / "it.fmu", *args, fmi=fmi, **settings), skip=["memory"])
    assert [one.text for one in report.findings()] == []
    ran = {outcome.name for outcome in report.outcomes if outcome.skipped is None}
    assert ran >= {"life", "steps", "snapshots", "serialisation", "simulation"}


@pytest.mark.parametrize("fmi", ["2.0", "3.0"])
@pytest.mark.parametrize("name", NATIVE)
def test_fmpy_simulates_it(tmp_path, name, fmi):
    import fmpy

    args, settings = drawn(name, np.random.default_rng(4))
    path = getattr(controllers, name)(tmp_path / "it.fmu", *args, fmi=fmi, **settings)
    result = fmpy.simulate_fmu(str(path), stop_time=1.0, output_interval=0.1)
    assert len(result) == 11


@pytest.mark.parametrize("name", ["trajectory", "signal"])
def test_an_importer_in_c_without_python_runs_it(tmp_path, checkout, needs_program, name):
    args, settings = drawn(name, np.random.default_rng(6))
    function = getattr(controllers, name)
    path = function(tmp_path / "it.fmu", *args, fmi="3.0", **settings)
    folder = tmp_path / "unpacked"
    with zipfile.ZipFile(path) as archive:
        assert not [one for one in archive.namelist() if one.endswith(".py")]
        archive.extractall(folder)
    program, include = tmp_path / "run_fmu", checkout / "fmu_src"
    source = checkout / "tests/c/run_fmu.c"
    subprocess.run([needs_program("cc"), f"-I{include}", "-o", program, source, "-ldl"], check=True)
    law = reference(name, *args, **settings)
    outputs = sorted(interface_of(law, depends_on_time=True).dependencies)
    token = instantiation_token(*((folder / "resources" / one).read_bytes() for one in ("model.lwm", "interface.lwi")))
    library = next((folder / "binaries").glob(f"*/{name}.*"))
    done = subprocess.run(
        [program, library, folder / "resources", token, ",".join(str(one + 1) for one in outputs), "", ""],
        env={"PATH": "/nowhere", "PYTHONHOME": "/nowhere"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    rows = [line.split()[1:] for line in done.stdout.splitlines()]
    expected = []
    for k in range(100):
        law.do_step(k * 0.01, 0.01)
        expected.append([f"{struct.unpack('<Q', struct.pack('<d', one))[0]:016x}" for one in law.get_real(outputs)])
    assert rows == expected


@pytest.mark.skipif(shutil.which("readelf") is None, reason="needs readelf")
def test_the_library_needs_libraries_of_c_only(tmp_path):
    with zipfile.ZipFile(controllers.pid(tmp_path / "pid.fmu")) as archive:
        library = next(one for one in archive.namelist() if one.startswith("binaries/"))
        if not library.endswith(".so"):
            pytest.skip("not on Linux")
        archive.extract(library, tmp_path)
    listed = subprocess.run(["readelf", "-d", tmp_path / library], capture_output=True, text=True, check=True).stdout
    needed = [line.split("[")[1].rstrip("]") for line in listed.splitlines() if "(NEEDED)" in line]
    assert set(needed) <= {"libc.so.6", "libm.so.6", "libdl.so.2", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}


def test_libraries_of_chosen_platforms_go_in(tmp_path, monkeypatch):
    from linkwork.fmu.export import libraries

    some = tmp_path / "linkwork.dll"
    some.write_bytes(b"library")
    monkeypatch.setattr(libraries, "fmu_libraries", lambda: {"x86_64-windows": some})
    for fmi, folder in (("2.0", "win64"), ("3.0", "x86_64-windows")):
        path = controllers.pid(tmp_path / "pid.fmu", fmi=fmi, platforms=["x86_64-windows"])
        with zipfile.ZipFile(path) as archive:
            assert archive.read(f"binaries/{folder}/pid.dll") == b"library"
    with pytest.raises(ExportError, match="no platform 'x86_64-window'"):
        controllers.pid(tmp_path / "pid.fmu", platforms=["x86_64-window"])


def test_the_command_chooses_version_and_platform(tmp_path, monkeypatch, capsys):
    from linkwork.cli.main import main
    from linkwork.core.sources import host_platform

    monkeypatch.chdir(tmp_path)
    assert main(["controller", "skyhook", "--fmi", "3.0", "--platforms", host_platform()]) == 0
    with zipfile.ZipFile("skyhook.fmu") as archive:
        assert b'fmiVersion="3.0"' in archive.read("modelDescription.xml")
    capsys.readouterr()


# ---- what is refused ----


def log_of(capfd) -> str:
    return "".join(capfd.readouterr())


def test_nan_is_refused_by_name_and_changes_nothing(run, tmp_path, capfd):
    slave = run(controllers.pid(tmp_path / "p.fmu", kp=2.0)).start({"setpoint": 1.0})
    for name in ("measurement", "kp"):
        with pytest.raises(Exception, match="fmi2SetReal"):
            slave.set({name: math.nan})
        assert f"{name} is set to a value that is not a number" in log_of(capfd)
    assert slave["u"] == 2.0


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("pid", {"filter_time": -1.0}),
        ("pid", {"tracking_time": -1.0}),
        ("pid", {"u_min": 2.0, "u_max": 1.0}),
        ("pid", {"sample_time": -1.0}),
        ("skyhook", {"c_min": -1.0}),
        ("state_feedback", {"u_min[1]": 100.0, "u_max[1]": 1.0}),
        ("trajectory", {"speed": 0.0}),
    ],
)
def test_a_refused_parameter_is_named_as_by_the_class_and_may_be_corrected(run, tmp_path, capfd, name, wrong):
    args, settings = drawn(name, np.random.default_rng(1))
    function = getattr(controllers, name)
    slave, law = run(function(tmp_path / "it.fmu", *args, **settings)), reference(name, *args, **settings)
    slave.enter(wrong)
    with pytest.raises(Exception, match="fmi2ExitInitializationMode"):
        slave.fmu.exitInitializationMode()
    for one, number in wrong.items():
        law[one] = number
    with pytest.raises(ValueError, match=next(iter(wrong)).replace("[", r"\[")) as caught:
        law.exit_initialization_mode()
    assert str(caught.value).partition(", as")[0] in log_of(capfd)
    slave.set(dict.fromkeys(wrong, 1.0))
    slave.fmu.exitInitializationMode()


def test_a_division_by_zero_is_an_error_and_the_step_can_be_repeated(run, tmp_path, capfd):
    slave = run(controllers.pid(tmp_path / "p.fmu", kd=1.0, kp=0.0)).start()
    slave.step(0.25)
    slave.set({"filter_time": -0.25, "measurement": 1.0})
    with pytest.raises(Exception, match="fmi2DoStep"):
        slave.step(0.25)
    assert "filter_time = -0.25" in log_of(capfd)
    slave.set({"filter_time": 0.25})
    slave.step(0.25)
    assert slave["u"] == -1.0  # the filter halves a rate of -2


def test_endless_samples_end_with_a_message(run, tmp_path, capfd):
    slave = run(controllers.pid(tmp_path / "p.fmu", sample_time=1e-300)).start()
    with pytest.raises(Exception, match="fmi2DoStep"):
        slave.step(0.1)
    assert "sample_time = 1e-300" in log_of(capfd)


def test_outputs_and_fixed_parameters_cannot_be_set_in_a_run(run, tmp_path, capfd):
    slave = run(controllers.pid(tmp_path / "p.fmu")).start()
    for name in ("u", "sample_time"):
        with pytest.raises(Exception, match="fmi2SetReal"):
            slave.set({name: 1.0})
        assert name in log_of(capfd)


def test_wrong_versions_start_values_and_settings_are_refused(tmp_path):
    path = tmp_path / "p.fmu"
    with pytest.raises(FmuNameError, match="no FMI version"):
        controllers.pid(path, fmi="1.0")
    with pytest.raises(FmuError, match="'kp': its start value is not a number"):
        controllers.pid(path, kp=math.nan)
    with pytest.raises(FmuError, match="setting 'kp' must be a number, not 'much'"):
        controllers.pid(path, kp="much")
    with pytest.raises(FmuError, match="setting 'continuous' must be true or false, not 'False'"):
        controllers.skyhook(path, continuous="False")
    assert not path.exists()


# ---- one place for the variables ----


def altered(interface, change: Callable[[list], None]):
    variables = list(interface.variables)
    change(variables)
    return type(interface)(interface.name, tuple(variables), {})


@pytest.mark.parametrize("name", NATIVE)
def test_variables_that_c_and_python_do_not_share_are_refused(run, tmp_path, capfd, name):
    args, settings = drawn(name, np.random.default_rng(1))
    path = getattr(controllers, name)(tmp_path / "it.fmu", *args, **settings)
    controller = getattr(controllers, name).controller(*args, **settings)
    interface, structure = interface_of(controller, controller.depends_on_time), controller.structure()
    more = interface.variables[-1]
    changes = (lambda rows: rows.pop(), lambda rows: rows.append(more), lambda rows: rows.reverse())
    for change in changes:
        data = controller_bytes(name, structure, altered(interface, change))
        with pytest.raises(Exception, match=r"[Ii]nstantiate"):
            run(replaced(path, tmp_path / "other.fmu", data))
        assert "resources/model.lwm" in log_of(capfd)


def replaced(path, target, model: bytes):
    """The FMU with another model file and its token."""
    with zipfile.ZipFile(path) as archive:
        files = {one: archive.read(one) for one in archive.namelist()}
    interface = files["resources/interface.lwi"]
    before = instantiation_token(files["resources/model.lwm"], interface).encode()
    files["modelDescription.xml"] = files["modelDescription.xml"].replace(
        before, instantiation_token(model, interface).encode()
    )
    files["resources/model.lwm"] = model
    with zipfile.ZipFile(target, "w") as archive:
        for one, data in files.items():
            archive.writestr(one, data)
    return target


def test_each_class_in_python_has_one_file_in_c(checkout):
    table = (checkout / "fmu_src/controllers/table.c").read_text()
    listed = table.split("#define CONTROLLERS(X)")[1].split("\n\n")[0]
    assert {one for one in NATIVE if f"X({one})" in listed} == set(NATIVE)
    assert all((checkout / f"fmu_src/controllers/{name}.c").is_file() for name in NATIVE)
    assert listed.count("X(") == len(NATIVE)


def test_damaged_files_are_refused_without_harm(run, tmp_path, capfd):
    args, settings = drawn("trajectory", np.random.default_rng(1))
    path = controllers.trajectory(tmp_path / "it.fmu", *args, **settings)
    with zipfile.ZipFile(path) as archive:
        whole = archive.read("resources/model.lwm")
    for size in range(0, len(whole), 7):
        with pytest.raises(Exception, match=r"[Ii]nstantiate"):
            run(replaced(path, tmp_path / "other.fmu", whole[:size]))
    with pytest.raises(Exception, match=r"[Ii]nstantiate"):
        run(replaced(path, tmp_path / "other.fmu", whole + b"\0"))
    assert "data follow its end" in log_of(capfd)
