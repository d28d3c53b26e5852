"""The command line: what it prints, what it writes, and how it fails."""

import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from linkwork.cli.main import main
from linkwork.cli.simulate import output_times
from support.chains import row_of_rods
from support.checkout import TOP
from support.dae_backends import needs_ida
from support.joint_types import skater, spherical_pendulum
from support.structures import triangle
from support.urdf_texts import EVERYTHING

EXAMPLES = TOP / "examples"
FOUR_BAR = str(EXAMPLES / "four_bar.py")


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def fails(capsys, *arguments: str) -> str:
    """The one line on standard error of a command that fails."""
    assert main(arguments) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    return said.err


def test_version(capsys):
    with pytest.raises(SystemExit) as exit:
        main(["--version"])
    assert exit.value.code == 0
    assert capsys.readouterr().out == f"linkwork {lw.__version__}\n"


@pytest.mark.parametrize("arguments", [[], ["frobnicate"], ["info"], ["simulate", FOUR_BAR, "--rtol", "small"]])
def test_wrong_usage(arguments, capsys):
    with pytest.raises(SystemExit) as exit:
        main(arguments)
    assert exit.value.code == 2
    assert "usage: linkwork" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["info", "simulate", "export", "schema"])
def test_help_ends_with_an_example_that_is_understood(command, capsys, monkeypatch):
    with pytest.raises(SystemExit) as exit:
        main([command, "--help"])
    assert exit.value.code == 0
    text = capsys.readouterr().out
    example = re.search(r"example:\n  linkwork (.*)\n", text)
    assert example
    arguments = example[1].replace("examples/", f"{EXAMPLES}/").split()
    assert main(arguments) == 0


# ---- info


def test_info(capsys):
    assert main(["info", FOUR_BAR]) == 0
    text = capsys.readouterr().out
    assert "degrees of freedom 1, states 6" in text
    assert re.search(r"D +revolute +ground - rocker +cut", text)
    assert "cut at D:  A B C D" in text


@pytest.mark.parametrize(
    ("name", "freedoms"),
    [
        ("four_bar", 1),
        ("five_bar", 2),
        ("double_pendulum", 2),
        ("slider_crank", 1),
        ("planar_robot", 3),
        ("spatial_ladder", 2),
        ("quarter_car", 1),
        ("geared_arm", 1),
        ("andrews_squeezer", 1),
    ],
)
def test_info_as_json(name, freedoms, capsys):
    assert main(["info", str(EXAMPLES / f"{name}.py"), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["name"] == name
    assert facts["degrees_of_freedom"] == freedoms
    assert facts["states"] == len(facts["start"])
    assert len(facts["loops"]) == sum(joint["cut"] for joint in facts["joints"])
    assert facts["loop_residual"] < 1e-12


def test_a_script_may_import_its_neighbours(tmp_path, capsys):
    (tmp_path / "lengths_of_it.py").write_text("LENGTH = 2.0")
    skater("S").save(tmp_path / "it.json")
    lines = ["import linkwork as lw", "from lengths_of_it import LENGTH", "", "def mechanism():"]
    lines += [f"    return lw.Mechanism.load({str(tmp_path / 'it.json')!r})"]
    (tmp_path / "it.py").write_text("\n".join(lines))
    before = sys.path.copy()
    assert main(["info", str(tmp_path / "it.py")]) == 0
    assert sys.path == before
    assert "degrees of freedom 2" in capsys.readouterr().out


def test_info_of_joints_of_several_coordinates(capsys):
    skater("S").save("skater.json")
    assert main(["info", "skater.json", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["degrees_of_freedom"], facts["states"]) == (2, 10)
    assert list(facts["start"])[:5] == ["U.q[1]", "U.q[2]", "P.q[1]", "P.q[2]", "P.q[3]"]
    spherical_pendulum().save("pendulum.json")
    assert main(["info", "pendulum.json"]) == 0
    text = capsys.readouterr().out
    assert "degrees of freedom 3, states 7" in text
    assert re.search(r"S\.q\[4\] +0\.0936\d+ +1\n", text)


def test_info_explains(capsys):
    assert main(["info", "--explain", FOUR_BAR]) == 0
    text = capsys.readouterr().out
    assert "1 degree of freedom in its assembled start" in text
    assert "loop 1: closed by D, adds crank, coupler, rocker" in text


@pytest.mark.parametrize("method", ["auto", "rcr", "embedding", "multipliers", "dca"])
def test_info_explains_as_json(method, capsys):
    assert main(["info", "--explain", "--json", "--method", method, FOUR_BAR]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["method"] == method
    assert [group["method"] for group in facts["groups"]] == ["rcr" if method == "auto" else method]


def test_info_lists_couplings_and_forces(capsys):
    assert main(["info", str(EXAMPLES / "geared_arm.py")]) == 0
    text = capsys.readouterr().out
    assert re.search(r"couplings \(2\)\n  gear +motor - 50 shoulder = 0\n", text)
    assert "forces (3)\n  SpringDamper(joint='shoulder'" in text
    assert main(["info", str(EXAMPLES / "geared_arm.py"), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert [coupling["name"] for coupling in facts["couplings"]] == ["gear", "cam"]
    assert [force["type"] for force in facts["forces"]] == ["spring_damper"] * 3


def test_info_where_loops_cannot_be_closed(capsys):
    mech = lw.Mechanism("short")
    mech.add_body("bar", mass=1.0, com=(0, 0, 0), inertia=lw.inertia.sphere(1.0, 0.1))
    mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "bar", parent_frame=lw.Frame())
    mech.add_joint("B", lw.Revolute((0, 1, 0)), "ground", "bar", parent_frame=lw.Frame((1, 0, 0)))
    mech.save("short.json")
    assert "'B' cannot be closed" in fails(capsys, "info", "short.json")
    assert main(["info", "short.json", "--explain"]) == 0
    assert "loop 1: closed by B" in capsys.readouterr().out


def test_a_structure(capsys):
    triangle().save("triangle.json")
    assert main(["info", "triangle.json"]) == 0
    assert "degrees of freedom 0, states 4" in capsys.readouterr().out
    assert "nothing in mechanism 'triangle' can move" in fails(capsys, "simulate", "triangle.json")
    assert main(["export", "triangle.json", "-o", "triangle.fmu"]) == 0


def test_a_reader_that_goes_away():
    code = "from linkwork.cli.main import main; raise SystemExit(main())"
    command = f"{sys.executable} -c '{code}' info {FOUR_BAR} | head -c 1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("f", "")


def test_simulate_by_another_method(capsys):
    found = []
    for method in ("rcr", "multipliers"):
        assert main(["simulate", FOUR_BAR, "--t-end", "0.1", "--method", method, "--json"]) == 0
        found.append(json.loads(capsys.readouterr().out)["final"]["A.q"])
    assert found[0] == pytest.approx(found[1], abs=1e-8)


# ---- simulate


def _mechanism(name: str) -> lw.Mechanism:
    from linkwork.cli.mechanism_files import load_mechanism

    return load_mechanism(EXAMPLES / f"{name}.py")


def test_simulate_reads_json_and_prints_json(capsys):
    mech = _mechanism("slider_crank")
    mech.save("saved.json")
    arguments = ["simulate", "saved.json", "--t-end", "0.2", "--solver", "DOP853", "--json", "--input", "A=1.5"]
    assert main(arguments) == 0
    summary = json.loads(capsys.readouterr().out)
    result = lw.simulate(mech, t_end=0.2, solver="DOP853", inputs={"A": 1.5})
    assert summary["steps"] == result.statistics.steps
    assert summary["final"] == {name: result[name][-1] for name in ("A.q", "B.q", "S.q", "A.u", "B.u", "S.u")}
    assert summary["t_end"] == 0.2
    assert summary["loop_residual"] < 1e-7


def test_simulate_joints_of_several_speeds(capsys):
    spherical_pendulum().save("pendulum.json")
    arguments = ["simulate", "pendulum.json", "--t-end", "0.2", "--input", "S[3]=0.5", "--columns", "S.q", "S.u[1]"]
    assert main([*arguments, "-o", "a.csv", "--json"]) == 0
    final = json.loads(capsys.readouterr().out)["final"]
    result = lw.simulate(spherical_pendulum(), 0.2, inputs={"S": [0, 0, 0.5]})
    assert final == {"S.q": result["S.q"][-1].tolist(), "S.u[1]": result["S.u[1]"][-1]}
    header = Path("a.csv").read_text(encoding="utf-8").splitlines()[0]
    assert header == "time,S.q[1],S.q[2],S.q[3],S.q[4],S.u[1]"


def test_simulate_with_columns_of_a_file(capsys):
    """Tables over time: rows of a triangle, held values, and what is outside of them."""
    mech = _mechanism("four_bar")
    t, y, z = [0.0, 0.1, 0.2], [0.0, 2.0, 0.0], [1.0, 3.0, 0.0]
    Path("loads.csv").write_text("time, y, z\n" + "".join(f"{a},{b},{c}\n" for a, b, c in zip(t, y, z, strict=True)))
    Path("one.csv").write_text("t,y\n" + "".join(f"{a},{b}\n" for a, b in zip(t, y, strict=True)))
    expected = lw.simulate(mech, t_end=0.4, inputs={"A": (t, y)})
    for column in ("loads.csv:y", "one.csv"):
        assert main(["simulate", FOUR_BAR, "--t-end", "0.4", "--json", "--input", f"A={column}"]) == 0
        assert json.loads(capsys.readouterr().out)["final"]["A.q"] == expected["A.q"][-1]
    options = ["--interpolation", "hold", "--outside", "zero", "--json", "--t-end", "0.4"]
    assert main(["simulate", FOUR_BAR, *options, "--input", "A=loads.csv:z", "--input", "D=0.1"]) == 0
    held = lw.simulate(mech, t_end=0.4, inputs={"A": lw.Table(t, z, "hold", "zero"), "D": 0.1})
    assert json.loads(capsys.readouterr().out)["final"]["A.q"] == held["A.q"][-1]


def test_times_end_at_the_end(capsys):
    assert main(["simulate", FOUR_BAR, "--t-end", "0.3", "--every", "0.1", "-o", "a.csv", "--columns", "A.q"]) == 0
    times = [float(row.split(",")[0]) for row in Path("a.csv").read_text(encoding="utf-8").splitlines()[1:]]
    assert times == pytest.approx([0.0, 0.1, 0.2, 0.3])
    assert times[-1] == 0.3


def test_rows_of_short_runs_are_apart_as_those_of_long_ones():
    for every in (1e-9, 1.0, 1e5):
        assert output_times(every, 0.0, 2.5 * every) == pytest.approx([0.0, every, 2.0 * every, 2.5 * every], rel=1e-12)


@needs_ida
def test_simulate_by_another_formulation(capsys):
    arguments = ["simulate", FOUR_BAR, "--t-end", "0.5", "--columns", "A.q", "-o"]
    assert main([*arguments, "dae.csv", "--every", "0.1", "--solver", "ida", "--formulation", "ggl"]) == 0
    assert "with ida at rtol" in capsys.readouterr().out
    assert main([*arguments, "ode.csv", "--every", "0.1"]) == 0
    dae, ode = (np.loadtxt(name, delimiter=",", skiprows=1) for name in ("dae.csv", "ode.csv"))
    assert dae.shape == (6, 2)
    assert not np.array_equal(dae, ode)
    assert dae == pytest.approx(ode, abs=1e-5)


@needs_ida
def test_simulate_by_a_scheme(tmp_path):
    row_of_rods(2).save(tmp_path / "row.json")
    for scheme in "1234":
        arguments = ["--solver", "ida", "--formulation", "chou", "--scheme", scheme, "--t-end", "0.2"]
        assert main(["simulate", "row.json", *arguments, "-o", f"{scheme}.csv", "--columns", "S1.q[1]"]) == 0
    ends = [np.loadtxt(f"{scheme}.csv", delimiter=",", skiprows=1)[-1] for scheme in "1234"]
    assert np.ptp(ends, axis=0).max() < 1e-6


# ---- failures


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--columns", "A.qq"], "did you mean 'A.q'"),
        (["--solver", "dopri"], "did you mean 'dopri5'"),
        (["--input", "E=1"], "there is no driven joint 'E'"),
        (["--input", "A=none.csv:y"], "none.csv cannot be read: No such file"),
        (["--input", "A=header.csv:y"], "header.csv has no rows: give a header of names, then numbers"),
        (["--input", "A=two.csv:yy"], "two.csv has no column 'yy' of numbers: did you mean 'y'"),
        (["--input", "A=two.csv"], "two.csv has several columns: name one as in two.csv:y"),
        (["--input", "A=two.csv:text"], "two.csv has no column 'text' of numbers"),
        (["--input", "A=two.csv:y:hold"], "two.csv has no column 'y:hold' of numbers"),
        (["--input", "A=lines.csv:y"], "lines.csv has no column 'time'"),
        (["--input", "A=order.csv"], "times of a table must increase: row 2"),
        (["--input", "A=two.csv:y", "--outside", "error"], "outside the table, which is from 0 s to 1 s"),
        (["--rtol", "0"], "rtol"),
        (["--every", "0"], "--every"),
        (["--every", "nan"], "--every"),
        (["-o", "no/such/folder.csv"], "there is no folder no/such"),
        (["--formulation", "glg"], "did you mean 'ggl'"),
        (["--formulation", "ggl", "--solver", "dopri5"], "use solver='ida'"),
        (["--scheme", "4"], "scheme goes with formulation='chou'"),
        (["--solver", "ida", "--formulation", "chou"], "joint 'A' is Revolute"),
    ],
)
def test_simulate_fails_with_one_line(arguments, text, capsys):
    Path("header.csv").write_text("time,y\n")
    Path("two.csv").write_text("time,y,z,text\n0,1,2,a\n1,2,3,b\n")
    Path("lines.csv").write_text("y,z\n0,1\n")
    Path("order.csv").write_text("time,y\n1,0\n0,1\n")
    assert text in fails(capsys, "simulate", FOUR_BAR, *arguments)


@pytest.mark.parametrize("command", ["info", "simulate", "compare", "export"])
@pytest.mark.parametrize(
    ("file", "content", "text"),
    [
        ("none.json", None, "there is no file none.json"),
        ("mech.txt", "", "neither a .py file nor one of .json"),
        ("empty.py", "", "defines no function mechanism()"),
        ("wrong.py", "def mechanism():\n    return 3\n", "not a Mechanism"),
        ("needs.py", "import no_such_module\n", "No module named 'no_such_module'"),
        ("broken.json", "{", "broken.json"),
    ],
)
def test_files_that_give_no_mechanism(command, file, content, text, capsys):
    if content is not None:
        Path(file).write_text(content, encoding="utf-8")
    assert text in fails(capsys, command, file)


def test_what_was_computed_before_a_failure_is_written(capsys, monkeypatch):
    simulate = lw.simulate
    monkeypatch.setattr(lw, "simulate", lambda *args, **options: simulate(*args, **{**options, "max_steps": 10}))
    assert "max_steps is used up" in fails(capsys, "simulate", FOUR_BAR, "-o", "part.csv", "--columns", "A.q")
    assert len(Path("part.csv").read_text(encoding="utf-8").splitlines()) == 12


def test_an_interrupt_is_no_traceback(monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(lw, "simulate", interrupted)
    assert main(["simulate", FOUR_BAR]) == 130


# ---- export


def test_export(capsys):
    assert main(["export", FOUR_BAR, "-o", "a.fmu", "--fmi", "2.0", "--outputs", "A.q", "--json"]) == 0
    written = json.loads(capsys.readouterr().out)
    assert written["path"] == "a.fmu"
    assert Path("a.fmu").stat().st_size == written["bytes"]


@pytest.mark.parametrize(("given", "count"), [([], 0), (["A"], 1), (["A.tau", "B"], 2)])
def test_export_of_some_inputs(given, count):
    assert main(["export", FOUR_BAR, "-o", "a.fmu", "--inputs", *given]) == 0
    with zipfile.ZipFile("a.fmu") as archive:
        assert archive.read("modelDescription.xml").decode().count('causality="input"') == count


def test_export_of_an_unknown_output(capsys):
    assert "did you mean" in fails(capsys, "export", FOUR_BAR, "-o", "a.fmu", "--outputs", "A.qq")
    assert not Path("a.fmu").exists()


def test_events_of_a_run(tmp_path, capsys):
    mech = lw.Mechanism("bouncing")
    mech.add_body("ball", mass=1.0, com=(0, 0, 0), inertia=lw.inertia.sphere(1.0, 0.1))
    mech.add_joint("Z", lw.Prismatic((0, 0, 1)), "ground", "ball", at=(0, 0, 0))
    mech.start(q={"Z": 0.5})
    mech.add_transition("floor", lw.Stop("Z", lower=0.0, restitution=0.5))
    path = tmp_path / "ball.json"
    mech.save(path)
    assert main(["simulate", str(path), "--t-end", "2"]) == 0
    text = capsys.readouterr().out
    assert re.search(r"events \(2\d\)\n  0\.319\d+ s +floor +3\.678\d+ J lost\n", text)
    assert "... " in text
    assert main(["simulate", str(path), "--t-end", "0.4", "--json"]) == 0
    (event,) = json.loads(capsys.readouterr().out)["events"]
    assert event["transitions"] == ["floor"]
    assert event["t"] == pytest.approx((1.0 / 9.81) ** 0.5, abs=1e-8)
    assert event["energy_lost"] == pytest.approx(0.75 * 9.81 * 0.5, abs=1e-6)


def test_what_becomes_of_a_robots_file_is_reported(tmp_path, capsys):
    path = tmp_path / "robot.urdf"
    path.write_text(EVERYTHING, encoding="utf-8")
    assert main(["import", str(path)]) == 0
    short = capsys.readouterr().out
    assert main(["import", str(path), "--all"]) == 0
    assert capsys.readouterr().out.startswith(short.rstrip("\n") + "\n  taken\n")
