"""The command `linkwork equilibrium`: what it prints and writes, and how it fails."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from linkwork.cli.main import main

TORQUE = 2.0 * 9.81 * 0.5  # of the rod's weight about A where it is level


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    mech = lw.Mechanism("pendulum")
    mech.add_body("rod", mass=2.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(2.0, 1.0))
    mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
    mech.start(q={"A": 0.25})
    mech.save("pendulum.json")
    return "pendulum.json"


def test_it_prints_a_table_and_writes_the_state(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["equilibrium", file, "-o", "rest.json"]) == 0
    text = capsys.readouterr().out
    assert "stable" in text
    assert text.endswith("\nwrote rest.json\n")
    assert re.search(r"A\.q +1\.5708\n", text)
    model = lw.compile(lw.load(file))
    assert lw.State.load("rest.json", model)["A.q"] == pytest.approx(np.pi / 2, abs=1e-13)


def test_it_finds_the_load_that_holds_a_pose(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["equilibrium", file, "--hold", "A=0", "--motor", "A", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["motor_loads"]["A"] == pytest.approx(-TORQUE)
    assert found["inputs"]["A"] == found["motor_loads"]["A"]
    assert main(["equilibrium", file, "--hold", "A", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["holding"]["A"] == pytest.approx(-TORQUE * np.cos(0.25))


def test_inputs_act_and_any_pose_may_be_sought(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["equilibrium", file, "--input", "A=3", "--any", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert TORQUE * np.cos(found["q"]["A.q"]) == pytest.approx(-3.0)


def test_it_finds_all_poses_from_scattered_starts(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["equilibrium", file, "--starts", "6", "-o", "poses.csv"]) == 0
    assert "2 equilibria from 6 starts" in capsys.readouterr().out
    with Path("poses.csv").open(newline="") as table:
        rows = list(csv.DictReader(table))
    assert [float(row["energy"]) for row in rows] == pytest.approx([-TORQUE, TORQUE])
    assert [row["stable"] for row in rows] == ["True", "False"]
    assert main(["equilibrium", file, "--starts", "6", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)) == 2


def test_failures_are_one_line(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    for options, text in (
        (["--input", "A=30"], "'A' runs away"),
        (["--hold", "B=1"], "A"),
        (["--starts", "4", "--motor", "A"], "leave out --motor"),
        (["-o", "rest.txt"], "written as .json or .npz"),
    ):
        assert main(["equilibrium", file, *options]) == 1
        shown = capsys.readouterr()
        assert shown.err.count("\n") == 1
        assert text in shown.err
        assert shown.out == ""


def test_what_sticks_is_asked_for_beside_any_pose(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    mech = lw.load(file)
    mech.add_force(lw.Friction("A", coulomb=1.1 * TORQUE))
    mech.save(file)
    found = {}
    for options in ([], ["--any"], ["--stuck"]):
        assert main(["equilibrium", file, *options, "--json"]) == 0
        found[(*options,)] = json.loads(capsys.readouterr().out)["q"]["A.q"]
    np.testing.assert_allclose(list(found.values()), [np.pi / 2, np.pi / 2, 0.25], atol=1e-9)
    assert main(["equilibrium", file, "--any", "--stuck"]) != 0
    assert "give one of them" in capsys.readouterr().err
    assert main(["equilibrium", file, "--starts", "3", "--stuck"]) != 0
    assert "leave out --motor, --any and --stuck" in capsys.readouterr().err


def test_the_range_of_rest_takes_inputs_alone(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    mech = lw.load(file)
    mech.add_force(lw.Friction("A", coulomb=0.1 * TORQUE))
    mech.save(file)
    assert main(["equilibrium", file, "--range", "A"]) == 0
    low, high = (float(text) for text in re.findall(r"[\d.]+(?= to| rad)", capsys.readouterr().out))
    np.testing.assert_allclose((low, high), np.pi / 2 + np.array([-1, 1]) * np.arcsin(0.1), rtol=1e-5)
    for more in (["--stuck"], ["--hold", "A"], ["--json"], ["-o", "rest.json"]):
        assert main(["equilibrium", file, "--range", "A", *more]) != 0
        assert "with it only --input is taken" in capsys.readouterr().err
