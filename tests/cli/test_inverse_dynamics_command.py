"""The command inverse-dynamics: tables of motions in, loads out."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from linkwork.cli.main import main

T = np.linspace(0.0, 0.5, 26)


@pytest.fixture
def four_bar(tmp_path: Path) -> Path:
    mech, hinge = lw.Mechanism("four_bar"), lw.Revolute((0, 1, 0))
    for name, mass, length in (("crank", 1.0, 0.4), ("coupler", 2.0, 1.0), ("rocker", 1.5, 0.8)):
        mech.add_body(name, mass=mass, com=(length / 2, 0, 0), inertia=lw.inertia.rod(mass, length, axis="x"))
    mech.add_joint("A", hinge, "ground", "crank", at=(0, 0, 0), max_load=30.0)
    mech.add_joint("B", hinge, "crank", "coupler", parent_frame=lw.Frame((0.4, 0, 0)))
    mech.add_joint("C", hinge, "coupler", "rocker", parent_frame=lw.Frame((1.0, 0, 0)))
    ends = {"parent_frame": lw.Frame((1.1, 0, 0)), "child_frame": lw.Frame((0.8, 0, 0))}
    mech.add_joint("D", hinge, "ground", "rocker", **ends)
    mech.start(q={"A": -0.7}, u={"A": -3.0})
    mech.save(tmp_path / "four_bar.json")
    return tmp_path / "four_bar.json"


def table(path: Path, columns: dict[str, np.ndarray]) -> str:
    rows = np.column_stack(list(columns.values()))
    lines = [",".join(columns), *(",".join(map(repr, row)) for row in rows.tolist())]
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def test_a_simulation_gives_back_its_loads(four_bar: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run, out, plot = (tmp_path / name for name in ("run.csv", "loads.csv", "loads.png"))
    lw.simulate(lw.Mechanism.load(four_bar), 0.5, inputs={"A": lambda t: np.sin(9 * t)}, t_eval=T).to_csv(run)
    arguments = [
        "inverse-dynamics",
        str(four_bar),
        str(run),
        "--motor",
        "A",
        "-o",
        str(out),
        "-o",
        str(plot),
        "--envelope",
    ]
    assert main(arguments) == 0
    shown = capsys.readouterr().out
    assert "four_bar: 26 rows, 0 to 0.5 s" in shown
    assert "wrote" in shown
    assert "conditioning" in shown
    names, *rows = out.read_text().splitlines()
    assert names.startswith("time,A.tau,A.u,A.power")
    np.testing.assert_allclose([float(row.split(",")[1]) for row in rows], np.sin(9 * T), atol=1e-9)
    assert plot.stat().st_size > 0


def test_functions_of_the_pose_are_columns(four_bar: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = {"t": T, "A.q": -0.7 + T**2, "A.u": 2 * T, "A.a": 2 + 0 * T}
    assert main(["inverse-dynamics", str(four_bar), table(tmp_path / "a.csv", given), "--motor", "D", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    motion = {"A": (given["A.q"], given["A.u"], given["A.a"])}
    expected = lw.inverse_dynamics(lw.Mechanism.load(four_bar), motion, motors="D", t_eval=T)
    assert found["motors"]["peak"] == expected.peak


def test_what_is_wrong_is_named(four_bar: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mech, command = str(four_bar), "inverse-dynamics"
    fast = table(tmp_path / "fast.csv", {"time": T, "A.q": -0.7 + 200 * T**4})
    cases = [
        ([mech, table(tmp_path / "no_time.csv", {"x": T})], "no column 'time'"),
        ([mech, fast], "no actuators"),
        ([mech, fast, "--motor", "F"], "there is no motor 'F'"),
        ([mech, fast, "--motor", "A", "--own-limits", "-o", str(tmp_path / "part.csv")], "loads until t = "),
        ([mech, str(tmp_path / "none.csv"), "--motor", "A"], "none.csv"),
    ]
    (tmp_path / "short.csv").write_text("time,A.q\n0.0\n")
    cases.append(([mech, str(tmp_path / "short.csv"), "--motor", "A"], "line 2: 1 values"))
    (tmp_path / "word.csv").write_text("time,A.q\n0.0,0.1\n0.1,often\n")
    cases.append(([mech, str(tmp_path / "word.csv"), "--motor", "A"], "line 3: 'A.q' is 'often'"))
    (tmp_path / "twice.csv").write_text("time,A.q,A.q\n0.0,0.1,0.1\n0.1,0.2,0.2\n")
    cases.append(([mech, str(tmp_path / "twice.csv"), "--motor", "A"], "names 'A.q' twice"))
    (tmp_path / "bytes.csv").write_bytes(bytes(range(256)))
    cases.append(([mech, str(tmp_path / "bytes.csv"), "--motor", "A"], "bytes.csv is no table of text"))
    one = table(tmp_path / "one.csv", {"time": T[:1], "A.q": -0.7 + T[:1]})
    slow = table(tmp_path / "slow.csv", {"time": T, "A.q": -0.7 + T**2})
    late = [mech, table(tmp_path / "late.csv", {"time": T[::-1], "A.q": T}), "--motor", "A"]
    cases += [
        ([mech, one, "--motor", "A"], "motion of 'A.q': one row has no rate and no acceleration"),
        (late, "row 2, t = 0.48 s, does not follow t = 0.5 s"),
        ([mech, slow, "--motor", "A", "--columns", "A.tau"], "--columns selects what -o FILE writes or plots"),
        ([mech, slow, "--motor", "A", "--envelope"], "--envelope is for a plot"),
        ([mech, slow, "--motor", "A", "--envelope", "-o", str(tmp_path / "o.csv")], "give -o FILE that ends in .png"),
    ]
    for arguments, text in cases:
        assert main([command, *arguments]) == 1
        assert text in capsys.readouterr().err
    assert 1 < len((tmp_path / "part.csv").read_text().splitlines()) < len(T)
