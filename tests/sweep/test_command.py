"""`linkwork sweep`: points from arguments, exit codes, what it prints."""

import json
import re

import numpy as np
import pytest

from linkwork.cli.main import main, make_parser
from linkwork.cli.sweep import points_of
from linkwork.cosim.sweep import SweepResult
from support import moody as moods


def points(*arguments: str):
    return points_of(make_parser().parse_args(["sweep", "x.fmu", "-o", "out", *arguments]))


def test_arguments_make_points(tmp_path) -> None:
    (tmp_path / "t.csv").write_text("p.name\nu\nv\n")
    some = points(
        *("--grid", "p.k=1:2:3", "--grid", "p.mode=1,2", "--table", str(tmp_path / "t.csv")),
        *("--latin", "p.m=-0.5..2", "p.c=1..10:log", "--samples", "5", "--seed", "3"),
    )
    assert len(some) == 2 * 3 * 2 * 5
    assert some[0].keys() == {"p.name", "p.k", "p.mode", "p.m", "p.c"}
    assert np.unique(some.columns["p.k"]).tolist() == [1.0, 1.5, 2.0]
    assert some.columns["p.mode"].dtype == np.int64


@pytest.mark.parametrize("argument", ["p.k", "p.k=", "=1", "p.k=1:2:x", "p.k=1:2:1", "p.k=1,,2"])
def test_a_grid_that_is_none_is_wrong_usage(argument, capsys) -> None:
    with pytest.raises(SystemExit) as caught:
        points("--grid", argument)
    assert caught.value.code == 2
    assert argument.partition("=")[2] in capsys.readouterr().err


@pytest.mark.parametrize("argument", ["p.k", "p.k=1", "p.k=1..x", "p.k=1..2:cubic"])
def test_a_range_that_is_none_is_wrong_usage(argument) -> None:
    with pytest.raises(SystemExit):
        points("--latin", argument, "--samples", "2")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ([], "nothing is swept"),
        (["--latin", "moody.k=1..2"], "--samples N"),
        (["--grid", "moody.k=1", "--samples", "3"], "name ranges"),
        (["--grid", "moody.k=1", "--latin", "moody.k=1..2", "--samples", "3"], "swept twice"),
    ],
)
def test_what_makes_no_sweep_is_told(moody, tmp_path, capsys, arguments, text) -> None:
    assert main(["sweep", str(moody), "-o", str(tmp_path / "out"), *arguments]) == 1
    assert text in capsys.readouterr().err


def test_failed_points_are_listed_and_make_the_exit_code(moody, tmp_path, capsys) -> None:
    common = ["sweep", str(moody), "--t-end", "0.1", "--step", "0.01", "--workers", "1", "--retries", "0"]
    moods_swept = f"moody.mood={moods.FINE},{moods.ABORTS}"
    assert main([*common, "--grid", moods_swept, "-o", str(tmp_path / "a")]) == 1
    said = capsys.readouterr().out
    assert "1 of 2 points, 1 failed" in said
    assert "point 1 (moody.mood=1), 1 attempts: FMU moody.fmu (instance 'moody') crashed with SIGABRT" in said
    assert main([*common, "--grid", "moody.k=1,2", "-o", str(tmp_path / "b"), "--json", "--keep", "final"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert (summary["points"], summary["done"], summary["failed"]) == (2, 2, 0)
    assert SweepResult(tmp_path / "b").keep == "final"


def test_one_fmu_needs_no_component_and_brings_its_experiment(moody, tmp_path) -> None:
    out = tmp_path / "out"
    settings = ["--master", "gauss-seidel", "--workers", "1", "--columns", "x"]
    assert main(["sweep", str(moody), "--grid", "k=1,2", *settings, "-o", str(out)]) == 0
    result = SweepResult(out)
    assert result.points.columns.tolist() == ["moody.k"]
    assert result.trajectory(1).index[-1] == 1.0
    assert result.header["settings"]["master"]["type"] == "GaussSeidel"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["--grid", "mood=a,b"],
            "no value of the sweep fits: .*'mood' is of type Real; it cannot be 'a'; give a number",
        ),
        (["--grid", "k=1,2", "--t-end", "-1"], "to end at -1 s, but begins at 0 s; choose a later --t-end"),
        (["--grid", "k=1,2", "--step", "5"], "--step 5 s is longer than the run of 1 s"),
        (["--table", "none.csv"], "there is no file none.csv"),
    ],
)
def test_what_would_fail_at_each_point_is_refused(arguments, said, moody, tmp_path, capsys) -> None:
    assert main(["sweep", str(moody), *arguments, "-o", str(tmp_path / "out")]) == 1
    assert re.search(said, capsys.readouterr().err)
    assert not (tmp_path / "out").exists()
