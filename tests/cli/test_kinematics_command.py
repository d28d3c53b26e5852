"""`linkwork kinematics`: what it prints, what it writes, and how it fails."""

import json

import numpy as np
import pandas as pd
import pytest

import linkwork as lw
from linkwork.cli.main import main
from support.checkout import TOP

FOUR_BAR = str(TOP / "examples" / "four_bar.py")


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_it_prints_a_summary_and_writes_table_and_plot(tmp_path, capsys):
    outputs = ["-o", "out.csv", "-o", "out.png"]
    assert main(["kinematics", FOUR_BAR, "A.q", "-1", "5.28", "--rows", "11", *outputs]) == 0
    printed = capsys.readouterr().out
    assert "four_bar: A.q from -1 to 5.28 rad, 11 rows; end of the range" in printed
    assert "D.q" in printed
    assert "wrote out.csv" in printed
    table = pd.read_csv(tmp_path / "out.csv")
    np.testing.assert_allclose(table["A.q"], np.linspace(-1, 5.28, 11), rtol=1e-14)
    assert (tmp_path / "out.png").stat().st_size > 1000


def test_json_has_the_special_poses(capsys):
    assert main(["kinematics", FOUR_BAR, "D.q", "1", "8", "--json", "--speed", "2", "--columns", "coupler.r"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["ended"] == "dead point"
    (pose,) = facts["special_poses"]
    assert np.cos(pose["value"]) == pytest.approx((0.8**2 + 0.9**2 - 1.4**2) / (2 * 0.8 * 0.9), abs=1e-12)
    assert set(pose["q"]) == {"A.q", "B.q", "C.q"}


def test_errors_keep_the_rows(tmp_path, capsys, monkeypatch):
    assert main(["kinematics", FOUR_BAR, "A.w", "0", "1"]) == 1
    assert "did you mean 'A.q'?" in capsys.readouterr().err
    assert main(["kinematics", FOUR_BAR, "D.q", "3", "4", "-o", "out.csv"]) == 1
    assert "dead point at D.q = 1.93" in capsys.readouterr().err
    assert not (tmp_path / "out.csv").exists()  # no row was reached
    sweep = lw.kinematics
    monkeypatch.setattr(lw, "kinematics", lambda *given, **options: sweep(*given, **options, max_steps=5))
    assert main(["kinematics", FOUR_BAR, "A.q", "-1", "5", "-o", "out.csv"]) == 1
    assert "max_steps is reached" in capsys.readouterr().err
    assert len(pd.read_csv(tmp_path / "out.csv")) > 3
