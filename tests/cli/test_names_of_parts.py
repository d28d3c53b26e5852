"""Names that are no identifiers, through results, files, plots, the command line, controllers and systems of FMUs."""

import json
import warnings
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

import linkwork as lw
from linkwork import controllers, cosim
from linkwork.cli.main import main
from linkwork.draw.mechanism_picture import picture

HIP, LEG = "left-hip/2 $a$", "_leg <b>&{0}"


def leg(hip: str = HIP, body: str = LEG) -> lw.Mechanism:
    mech = lw.Mechanism("left leg/2")
    mech.add_body(body, mass=1.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(1.0, 1.0))
    mech.add_joint(hip, lw.Revolute((0, 1, 0)), "ground", body, at=(0, 0, 0))
    mech.start(q={hip: 0.3})
    return mech


@pytest.fixture(scope="module")
def result() -> lw.Result:
    return lw.simulate(leg(), 0.5, inputs={HIP: 1.5}, t_eval=np.linspace(0, 0.5, 6))


@pytest.fixture(scope="module")
def plain() -> lw.Result:
    return lw.simulate(leg("A", "rod"), 0.5, inputs={"A": 1.5}, t_eval=np.linspace(0, 0.5, 6))


def test_results_have_the_names_as_given(result, plain):
    np.testing.assert_array_equal(result[f"{HIP}.q"], plain["A.q"])
    np.testing.assert_array_equal(result[f"{LEG}.r"], plain["rod.r"])
    np.testing.assert_array_equal(result[f"der({HIP}.u)"], plain["der(A.u)"])
    np.testing.assert_array_equal(result.to_dataframe(["*.r[3]"]).to_numpy(), plain.to_dataframe(["*.r[3]"]).to_numpy())


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_files_have_them_too(result, suffix, tmp_path):
    path = tmp_path / f"run.{suffix}"
    getattr(result, f"to_{suffix}")(path)
    table = pd.read_csv(path) if suffix == "csv" else pd.read_parquet(path)
    assert {f"{HIP}.q", f"{LEG}.r[3]", f"der({HIP}.u)"} <= set(table.columns)
    np.testing.assert_array_equal(table[f"{HIP}.q"], result[f"{HIP}.q"])


def test_plots_show_them_as_they_are(result, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure = result.plot([f"{HIP}.q", f"{LEG}.r[1]"], tmp_path / "run.svg")
    shown = {text.get_text() for axes in figure.axes for text in axes.get_legend().get_texts()}
    assert shown == {f"{HIP}.q".replace("$", r"\$"), f" {LEG}.r[1]"}
    drawn = (tmp_path / "run.svg").read_text(encoding="utf-8")
    assert f"<!-- {HIP}.q -->" in drawn  # matplotlib writes a text next to its glyphs


def test_pictures_escape_them():
    texts = [one.text for one in ElementTree.fromstring(picture(lw.compile(leg()))).iter() if one.text]
    assert {HIP, LEG} <= set(texts)


# ---- the command line ----


@pytest.fixture
def file(tmp_path, monkeypatch) -> str:
    monkeypatch.chdir(tmp_path)
    leg().save(tmp_path / "leg.json")
    return "leg.json"


def test_the_commands_take_them(file, plain, capsys):
    arguments = ("--t-end", "0.5", "--input", f"{HIP}=1.5", "--columns", f"{HIP}.q", f"{LEG}.r", "-o", "run.csv")
    assert main(["simulate", file, *arguments, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["final"][f"{HIP}.q"] == pytest.approx(plain["A.q"][-1], abs=1e-7)
    assert list(pd.read_csv("run.csv").columns) == ["time", f"{HIP}.q", *(f"{LEG}.r[{i}]" for i in (1, 2, 3))]
    assert main(["info", file]) == 0
    assert f"{HIP}.q" in capsys.readouterr().out
    assert main(["export", file, "--outputs", HIP, "--inputs", f"{HIP}.tau", "--states", "minimal"]) == 0
    assert main(["check", "leg.fmu", "--only", "names,references"]) == 0


def test_an_fmu_runs_by_its_own_names(file, plain, capsys):
    main(["export", file])
    arguments = ["--t-end", "0.5", "--columns", f"'{HIP}'.q", "-o", "run.csv"]
    assert main(["run", "leg.fmu", *arguments, "--set", f"'{HIP}'.tau=1.5", "--in-process", "--quiet"]) == 0
    column = pd.read_csv("run.csv").filter(like=".q").iloc[-1, 0]
    assert column == pytest.approx(plain["A.q"][-1], abs=1e-6)
    capsys.readouterr()
    for wrong in (["--columns", f"{HIP}.q"], ["--set", f"{HIP}.tau=1.5"]):
        assert main(["run", "leg.fmu", "--t-end", "0.5", *wrong, "--in-process", "--quiet"]) == 1
        assert f"'{HIP}'" in capsys.readouterr().err.partition("did you mean")[2]


# ---- controllers and systems ----


def test_a_controller_finds_its_variables_in_the_loop_and_as_an_fmu(tmp_path):
    runs = []
    for hip, body in (("A", "rod"), (HIP, LEG)):
        model = lw.linearize(leg(hip, body))
        law = controllers.state_feedback.controller(model, Q=100.0, R=1.0)
        run = lw.simulate(leg(hip, body), 0.5, controller=controllers.connect(law), t_eval=[0.0, 0.5])
        assert run[f"{hip}.tau"][-1] != 0.0
        runs.append(run[f"{hip}.q"])
    np.testing.assert_array_equal(*runs)
    path = controllers.state_feedback(tmp_path / "law.fmu", model, Q=100.0, R=1.0)
    assert lw.check_fmu(path, only=["names"]).passed

    plant = lw.export_fmu(leg(), tmp_path / "leg.fmu", outputs=[HIP])
    system = cosim.System("loop")
    system.add("leg", plant)
    system.add("law", path)
    for name in ("q", "u"):
        system.connect(f"leg.'{HIP}'.{name}", f"law.'{HIP}'.{name}")
    system.connect(f"law.'{HIP}'.tau", f"leg.'{HIP}'.tau")
    system.save(tmp_path / "loop.ssp")
    found = cosim.run(cosim.System.load(tmp_path / "loop.ssp"), 0.5, master=cosim.GaussSeidel(1e-3))
    assert found[f"leg.'{HIP}'.q"][-1] == pytest.approx(runs[0][-1], abs=1e-2)


def test_a_system_suggests_the_quoted_name(tmp_path):
    system = cosim.System("one")
    system.add("leg", lw.export_fmu(leg(), tmp_path / "leg.fmu"), parameters={f"{HIP}.q_start": 0.1})
    with pytest.raises(lw.LinkworkError) as refused:
        cosim.run(system, 0.1)
    assert f"'{HIP}'.q_start" in str(refused.value).partition("did you mean")[2]


@pytest.mark.parametrize("name", ["n" * 250, "con", "LPT1", "3" * 300])
def test_a_mechanism_of_any_name_gives_an_fmu_whose_library_any_platform_can_unpack(name, tmp_path):
    fmpy = pytest.importorskip("fmpy")
    mech = leg()
    mech.name = name
    fmu = lw.export_fmu(mech, tmp_path / "leg.fmu")
    identifier = fmpy.read_model_description(fmu).coSimulation.modelIdentifier
    assert len(identifier) <= 61
    assert identifier.lower() not in ("con", "lpt1")
    assert fmpy.simulate_fmu(str(fmu), stop_time=0.1)["time"][-1] == pytest.approx(0.1)


def test_a_file_may_have_a_name_as_long_as_the_file_system_takes(tmp_path):
    path = tmp_path / ("k" * 250 + ".json")
    leg().save(path)
    assert lw.load(path).bodies.keys() == {LEG}


@pytest.mark.parametrize("name", ["a${b}", "a$(b)"])
def test_a_name_that_xacro_would_expand_is_not_written_as_urdf(name, tmp_path):
    mech = leg("A", name)
    with pytest.raises(lw.LinkworkError, match="macros of xacro"):
        lw.save(mech, tmp_path / "leg.urdf")
    for suffix in ("json", "xml"):
        lw.save(mech, tmp_path / f"leg.{suffix}")
        assert name in lw.load(tmp_path / f"leg.{suffix}").bodies
