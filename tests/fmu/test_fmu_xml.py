"""The model description and the archive around it."""

import math
import subprocess
import sys
import zipfile
from xml.etree import ElementTree

import pytest

import linkwork as lw
from linkwork.errors import ExportError
from linkwork.fmu.export import libraries
from support.zoo import zoo


def description(path) -> ElementTree.Element:
    with zipfile.ZipFile(path) as archive:
        return ElementTree.fromstring(archive.read("modelDescription.xml"))


def outputs_of(path) -> set[str]:
    root = description(path)
    return {v.get("name") for v in root.find("ModelVariables") if v.get("causality") == "output"}


def test_validates_without_a_message(fmu, needs):
    needs("fmpy")
    from fmpy.validation import validate_fmu

    assert validate_fmu(str(fmu.path)) == []


def test_validates_with_chosen_outputs_of_every_kind(fmu, system, needs, tmp_path):
    needs("fmpy")
    from fmpy.validation import validate_fmu

    path = lw.export_fmu(system, tmp_path / "some.fmu", fmu.version, ["A.q", "der(A.u)", "coupler.r", "loop"])
    assert validate_fmu(str(path)) == []
    (loop,) = system.loop_names
    pose = {f"coupler.r[{i}]" for i in (1, 2, 3)}
    assert outputs_of(path) == {"A.q", "der(A.u)", f"loop.{loop}.residual", f"loop.{loop}.conditioning"} | pose


def test_every_variable_is_there_once(fmu, system):
    *entries, solver, tolerance = description(fmu.path).find("ModelVariables")
    expected = [v for v in system.variables if fmu.version == "3.0" or v.kind != "time"]
    assert [e.get("name") for e in entries] == [v.name for v in expected]
    assert len({v.reference for v in expected}) == len(expected)
    if fmu.version == "3.0":  # some importers take a value reference for the position
        every = description(fmu.path).find("ModelVariables")
        assert [int(e.get("valueReference")) for e in every] == list(range(1, len(every) + 1))
        return
    assert [int(e.get("valueReference")) for e in entries] == [v.reference for v in expected]
    assert [(e.get("name"), int(e.get("valueReference")) - system.sizes.reals) for e in (solver, tolerance)] == [
        ("solver", 0),
        ("tolerance", 1),
    ]


def test_start_values_are_the_mechanisms(fmu, system):
    *entries, _, _ = description(fmu.path).find("ModelVariables")  # the last are settings
    expected = [v for v in system.variables if fmu.version == "3.0" or v.kind != "time"]
    state = system.assemble()
    assembled = dict(zip((*system.q_names, *system.u_names), (*state.q, *state.u), strict=True))
    for entry, variable in zip(entries, expected, strict=True):
        start = (entry if fmu.version == "3.0" else entry[0]).get("start")
        wanted = assembled.get(variable.name, variable.start)
        assert (start is None) == (wanted is None)
        assert start is None or float(start) == wanted


def test_derivatives_are_in_the_order_of_the_states(fmu, system, needs):
    fmpy = needs("fmpy")
    model = fmpy.read_model_description(str(fmu.path))
    states = [d.variable.derivative.name for d in model.derivatives]
    assert states == [*system.q_names, *system.u_names]


def test_a_string_is_one_output(system, tmp_path):
    assert outputs_of(lw.export_fmu(system, tmp_path / "a.fmu", outputs="energy")) == {
        "energy.kinetic",
        "energy.potential",
    }


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("A.w", "did you mean"),
        ("coupler.R", "coupler.r"),
        ("A.tau", "input"),
        ("gravity", "parameter"),
        ("", "no variable"),
    ],
)
def test_wrong_outputs_are_refused(system, tmp_path, name, text):
    with pytest.raises(ExportError, match=text):
        lw.export_fmu(system, tmp_path / "a.fmu", outputs=[name])
    assert not list(tmp_path.iterdir())


def test_the_same_mechanism_gives_the_same_bytes(fmu, four_bar, tmp_path):
    again = lw.export_fmu(four_bar, tmp_path / "again.fmu", fmu.version)
    assert again.read_bytes() == fmu.path.read_bytes()
    with zipfile.ZipFile(again) as archive:  # two that are written within two seconds show no date
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    assert description(again).get("generationDateAndTime") == "1980-01-01T00:00:00Z"


@pytest.mark.parametrize("fmi", ["2.0", "3.0"])
def test_the_default_experiment_is_as_asked_for(system, tmp_path, fmi):
    path = lw.export_fmu(system, tmp_path / "a.fmu", fmi, stop_time=3.0, step_size=0.02, tolerance=1e-5)
    found = {name: float(value) for name, value in description(path).find("DefaultExperiment").attrib.items()}
    assert found == {"startTime": 0.0, "stopTime": 3.0, "stepSize": 0.02, "tolerance": 1e-5}


# ---- units


UNITS = {
    "1": {},
    "kg": {"kg": 1},
    "m": {"m": 1},
    "s": {"s": 1},
    "rad": {"rad": 1},
    "m/s": {"m": 1, "s": -1},
    "m/s2": {"m": 1, "s": -2},
    "rad/s": {"rad": 1, "s": -1},
    "rad/s2": {"rad": 1, "s": -2},
    "1/s": {"s": -1},
    "1/rad": {"rad": -1},
    "1/rad2": {"rad": -2},
    "1/rad3": {"rad": -3},
    "m/rad": {"m": 1, "rad": -1},
    "rad/m": {"rad": 1, "m": -1},
    "rad/m2": {"rad": 1, "m": -2},
    "rad/m3": {"rad": 1, "m": -3},
    "rad/m4": {"rad": 1, "m": -4},
    "kg.m2": {"kg": 1, "m": 2},
    "N": {"kg": 1, "m": 1, "s": -2},
    "N.s": {"kg": 1, "m": 1, "s": -1},
    "N/m": {"kg": 1, "s": -2},
    "N/m2": {"kg": 1, "m": -1, "s": -2},
    "N.s/rad": {"kg": 1, "m": 1, "s": -1, "rad": -1},
    "N.s/m": {"kg": 1, "s": -1},
    "N.m": {"kg": 1, "m": 2, "s": -2},
    "N.m.s": {"kg": 1, "m": 2, "s": -1},
    "N.m/s": {"kg": 1, "m": 2, "s": -3},
    "N.m/rad": {"kg": 1, "m": 2, "s": -2, "rad": -1},
    "N.m.s/rad": {"kg": 1, "m": 2, "s": -1, "rad": -1},
    "J": {"kg": 1, "m": 2, "s": -2},
    "N/rad": {"kg": 1, "m": 1, "s": -2, "rad": -1},
    "A": {"A": 1},
    "A/s": {"A": 1, "s": -1},
    "V": {"kg": 1, "m": 2, "s": -3, "A": -1},
    "Ohm": {"kg": 1, "m": 2, "s": -3, "A": -2},
    "H": {"kg": 1, "m": 2, "s": -2, "A": -2},
    "N.m/A": {"kg": 1, "m": 2, "s": -2, "A": -1},
    "N.m/(s.A)": {"kg": 1, "m": 2, "s": -3, "A": -1},
    "K": {"K": 1},
    "K/s": {"K": 1, "s": -1},
    "W": {"kg": 1, "m": 2, "s": -3},
    "W/K": {"kg": 1, "m": 2, "s": -3, "K": -1},
    "J/K": {"kg": 1, "m": 2, "s": -2, "K": -1},
    "W.s2/rad2": {"kg": 1, "m": 2, "s": -1, "rad": -2},
}


@pytest.mark.parametrize("fmi", ["2.0", "3.0"])
def test_units_are_what_their_names_say(tmp_path, fmi):
    root = description(lw.export_fmu(zoo(), tmp_path / "zoo.fmu", fmi))
    definitions = {unit.get("name"): unit for unit in root.find("UnitDefinitions")}
    found = {name: {k: int(n) for k, n in unit.find("BaseUnit").items()} for name, unit in definitions.items()}
    assert found == {name: UNITS[name] for name in found}
    assert len(found) > 20
    shown = {
        name: unit.find("DisplayUnit") for name, unit in definitions.items() if unit.find("DisplayUnit") is not None
    }
    assert {name: unit.get("name") for name, unit in shown.items()} == {
        "rad": "deg",
        "rad/s": "deg/s",
        "rad/s2": "deg/s2",
    }
    assert [float(unit.get("factor")) for unit in shown.values()] == pytest.approx([math.degrees(1.0)] * 3, rel=1e-15)
    assert all(float(unit.get("offset", 0.0)) == 0.0 for unit in shown.values())


@pytest.mark.parametrize("fmi", ["2.0", "3.0"])
def test_angles_are_shown_in_degrees(tmp_path, fmi):
    system = lw.compile(zoo())
    root = description(lw.export_fmu(system, tmp_path / "zoo.fmu", fmi))
    units = {v.name: v.unit for v in system.variables if v.type == "real"}
    for entry in root.find("ModelVariables"):
        if entry.get("name") in units:
            real, unit = entry if fmi == "3.0" else entry[0], units[entry.get("name")]
            assert real.get("unit") == unit
            assert real.get("displayUnit") == (
                unit.replace("rad", "deg") if unit in ("rad", "rad/s", "rad/s2") else None
            )


# ---- declarations


BOTH = {"canGetAndSetFMUState", "canSerializeFMUState", "providesDirectionalDerivatives"}
DECLARED = {
    ("2.0", "ModelExchange"): {"canNotUseMemoryManagementFunctions"},
    ("2.0", "CoSimulation"): {"canNotUseMemoryManagementFunctions", "canInterpolateInputs"},
    ("3.0", "ModelExchange"): {"providesAdjointDerivatives", "providesPerElementDependencies"},
    ("3.0", "CoSimulation"): {
        *("providesAdjointDerivatives", "providesPerElementDependencies", "hasEventMode", "providesIntermediateUpdate"),
        *("canReturnEarlyAfterIntermediateUpdate", "mightReturnEarlyFromDoStep"),
    },
}


@pytest.mark.parametrize("kind", ["ModelExchange", "CoSimulation"])
def test_all_abilities_are_declared(fmu, kind):
    """That they are true is seen wherever they are tried."""
    wanted = BOTH | DECLARED[fmu.version, kind]
    if fmu.version == "2.0":
        wanted = {name.replace("FMUState", "FMUstate").replace("alDerivatives", "alDerivative") for name in wanted}
    elif kind == "ModelExchange":
        wanted.add("needsCompletedIntegratorStep")
    if kind == "CoSimulation":
        wanted.add("canHandleVariableCommunicationStepSize")
    found = dict(description(fmu.path).find(kind).items())
    assert {name for name, value in found.items() if value == "true"} == wanted
    assert found.get("maxOutputDerivativeOrder") == ("1" if kind == "CoSimulation" else None)


# ---- refusals


def test_wrong_arguments_are_refused(system, tmp_path):
    with pytest.raises(ExportError, match=r"'2.0' or '3.0'"):
        lw.export_fmu(system, tmp_path / "a.fmu", fmi="1.0")
    with pytest.raises(ExportError, match="stop_time"):
        lw.export_fmu(system, tmp_path / "a.fmu", stop_time=float("nan"))
    with pytest.raises(ExportError, match="cannot write"):
        lw.export_fmu(system, tmp_path / "nowhere" / "a.fmu")


def test_a_missing_library_is_an_error_with_a_remedy(system, tmp_path, monkeypatch):
    def missing():
        raise FileNotFoundError("none here; reinstall linkwork")

    monkeypatch.setattr(libraries, "fmu_libraries", missing)
    with pytest.raises(ExportError, match="reinstall"):
        lw.export_fmu(system, tmp_path / "a.fmu")


def test_a_failing_export_leaves_the_old_file(system, tmp_path, monkeypatch):
    path = lw.export_fmu(system, tmp_path / "a.fmu")
    before = path.read_bytes()
    monkeypatch.setattr(zipfile.ZipFile, "writestr", lambda *_, **__: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(ExportError, match="disk full"):
        lw.export_fmu(system, path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_export_loads_nothing_heavy(checkout, tmp_path):
    """What makes an export slow to start: plots, tables, solvers and importers; of matplotlib only what draws icons."""
    program = (
        "import sys; sys.path.insert(0, 'examples'); import four_bar, linkwork as lw; "
        f"lw.export_fmu(four_bar.mechanism(), {str(tmp_path / 'a.fmu')!r}); "
        "print(*{name.partition('.')[0] for name in sys.modules}, *{'pyplot' for m in sys.modules if 'pyplot' in m})"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=checkout, check=True)
    assert {"scipy", "pyplot", "pandas", "fmpy"}.isdisjoint(done.stdout.split())
    assert "numpy" in done.stdout.split()


def test_command_line(checkout, tmp_path):
    command = [sys.executable, str(checkout / "build_fmu.py"), str(checkout / "examples/four_bar.py")]
    target = tmp_path / "four_bar.fmu"
    done = subprocess.run([*command, "-o", target, "--fmi", "2.0"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert description(target).get("fmiVersion") == "2.0"
    done = subprocess.run([*command, "-o", target, "--outputs", "coupler.R"], capture_output=True, text=True)
    assert done.returncode == 1
    assert "coupler.r" in done.stderr
    assert "Traceback" not in done.stderr
    done = subprocess.run([*command[:2], tmp_path / "none.py"], capture_output=True, text=True)
    assert done.returncode == 1
    assert "no file" in done.stderr


def test_command_line_reads_json_and_checks_python(four_bar, tmp_path):
    from linkwork.cli.export import main
    from linkwork.cli.mechanism_files import load_mechanism

    four_bar.save(tmp_path / "four_bar.json")
    assert main([str(tmp_path / "four_bar.json"), "-o", str(tmp_path / "a.fmu")]) == 0
    (tmp_path / "empty.py").write_text("")
    (tmp_path / "other.py").write_text("def mechanism():\n    return 3\n")
    for name, text in (("empty.py", "defines no function"), ("other.py", "returns int"), ("a.fmu", "neither")):
        with pytest.raises(ExportError, match=text):
            load_mechanism(tmp_path / name)
