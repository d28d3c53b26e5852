"""The commands of inverse kinematics and workspaces: what they print, write and refuse."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from linkwork.cli.main import main
from support.platforms import PROXIMAL, SPAN, five_bar


@pytest.fixture(autouse=True)
def bar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    five_bar().save("five_bar.json")


def test_a_pose_is_printed_and_written(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["inverse-kinematics", "five_bar.json", "--at", "tip.r[1]=0.05", "--at", "tip.r[3]=0.45"]
    assert main([*arguments, "--from", "A=2.2", "-o", "pose.csv"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "found"
    assert lines[-1] == "wrote pose.csv"
    angle = float(lines[1].split()[1])
    elbow = np.array([-SPAN / 2 + PROXIMAL * np.cos(angle), PROXIMAL * np.sin(angle)])
    assert np.linalg.norm(elbow - [0.05, 0.45]) == pytest.approx(0.4, abs=1e-5)  # the rod's length
    assert Path("pose.csv").read_text().startswith("target.tip.r[1],target.tip.r[3],A.q")
    assert main([*arguments, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["found"] is True


def test_a_pose_beyond_reach_is_the_nearest_and_fails(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inverse-kinematics", "five_bar.json", "--at", "tip.r=2,0,0", "--starts", "1"]) == 1
    assert capsys.readouterr().out.startswith("not found: the nearest pose misses by 1.45 m")


def test_limits_and_preferences_are_taken(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["inverse-kinematics", "five_bar.json", "--at", "tip.r[1]=0.05", "--limit", "A=,2.0", "--prefer", "B=0.8"]
    assert main([*command, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["coordinates"]
    assert found["A.q"] == pytest.approx(2.0, abs=1e-9)
    assert found["B.q"] == pytest.approx(0.8899, abs=1e-4)  # as near to 0.8 as the limit of A allows


def test_a_map_is_printed_and_written(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["workspace", "five_bar.json", "--of", "tip.r[1]", "tip.r[3]", "--by", "A", "B", "--over", "A=1.8,2.6,5"]
    assert main([*command, "--over", "B=0.5,1.3", "--points", "4", "-o", "map.csv", "-o", "map.png"]) == 0
    shown = capsys.readouterr().out
    assert "20 of 5 x 4 nodes over A.q, B.q" in shown
    assert shown.endswith("\nwrote map.csv\nwrote map.png\n")
    assert len(Path("map.csv").read_text().splitlines()) == 21
    assert Path("map.png").stat().st_size > 5000
    assert main([*command, "--hold", "B=0.9", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["nodes"] == {"A.q": 5}
    assert facts["reached"] == 5
    expected = lw.workspace(five_bar(), of="tip.r[1]", over={"A": (1.8, 2.6, 5)}, hold={"B": 0.9}, by=["A", "B"])
    assert facts["extent"]["tip.r[1]"]["greatest"] == pytest.approx(expected["tip.r[1]"].max())


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["inverse-kinematics", "five_bar.json", "--at", "tip.r"], "is not NAME=VALUES"),
        (["inverse-kinematics", "five_bar.json", "--at", "A=1", "--limit", "A=1"], "is not NAME=LOWER,UPPER"),
        (["workspace", "five_bar.json", "--of", "tip.r[1]", "--over", "A=1"], "is not NAME=LOWER,UPPER,N"),
    ],
)
def test_wrong_usage_is_explained(arguments: list[str], text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(arguments)
    assert end.value.code == 2
    assert text in capsys.readouterr().err


def test_unknown_names_fail_with_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inverse-kinematics", "five_bar.json", "--at", "tipp.r=1,0,0"]) == 1
    assert "did you mean 'tip.r'" in capsys.readouterr().err
    assert main(["workspace", "five_bar.json", "--of", "tip.r", "--by", "Q"]) == 1
    assert "there is no motor 'Q'" in capsys.readouterr().err
