"""`linkwork view`: what it takes, what it writes, and its errors."""

import csv
import json

import numpy as np
import pytest

import linkwork as lw
from linkwork.cli.main import main
from support.checkout import TOP
from support.view_pages import columns_of, payload_of

FOUR_BAR = str(TOP / "examples" / "four_bar.py")
pytestmark = pytest.mark.usefixtures("assets")


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def page_of(tmp_path, *arguments: str) -> dict:
    assert main(["view", *arguments, "-o", "out.html"]) == 0
    return payload_of((tmp_path / "out.html").read_text(encoding="utf-8"))


def test_a_mechanism_is_simulated_by_the_page(tmp_path, capsys):
    assert main(["view", FOUR_BAR, "--t-end", "3", "--title", "Linkage"]) == 0
    data = payload_of((tmp_path / "four_bar.html").read_text(encoding="utf-8"))
    assert (data["title"], data["live"]["t_end"]) == ("Linkage", 3.0)
    assert capsys.readouterr().out.startswith("four_bar.html (")


def test_a_robot_is_read_by_its_options(tmp_path):
    robot = str(TOP / "examples" / "biped_leg.urdf")
    assert "free" in {joint["type"] for joint in page_of(tmp_path, robot, "--base", "free")["scenes"][0]["joints"]}


def test_runs_are_recorded_and_overlaid(tmp_path):
    five_bar = str(TOP / "examples" / "five_bar.py")
    arguments = [FOUR_BAR, five_bar, "--simulate", "--t-end", "0.5", "--every", "0.01", "--columns", "*.q"]
    data = page_of(tmp_path, *arguments)
    assert [run["label"] for run in data["runs"]] == ["four_bar", "five_bar"]
    assert data["live"] is None
    assert columns_of(data["runs"][0]).keys() >= {"A.q", "crank.r[1]"}
    assert "A.u" not in data["runs"][0]["columns"]


def test_loads_and_labels(tmp_path):
    data = page_of(tmp_path, FOUR_BAR, "--simulate", "--t-end", "0.2", "--input", "A=3", "--labels", "driven")
    assert data["runs"][0]["label"] == "driven"
    assert set(columns_of(data["runs"][0])["A.tau"]) == {3.0}


def test_a_run_is_written_as_a_page(tmp_path, assets, capsys):
    assert main(["simulate", FOUR_BAR, "--t-end", "0.2", "-o", "run.html", "--columns", "A.q"]) == 0
    (run,) = payload_of((tmp_path / "run.html").read_text(encoding="utf-8"))["runs"]
    assert {"A.q", "crank.Q[4]"} <= set(run["columns"])
    assert main(["export", FOUR_BAR, "-o", "x.fmu"]) == 0
    assert main(["run", "x.fmu", "--t-end", "0.2", "-o", "fmu.html", "--quiet"]) == 0
    data = payload_of((tmp_path / "fmu.html").read_text(encoding="utf-8"))
    assert data["scenes"][0]["bodies"][0]["r"][0] == "x.crank.r[1]"
    capsys.readouterr()
    (assets / "viewer.js").unlink()
    assert main(["simulate", FOUR_BAR, "--t-end", "1e9", "-o", "run.html"]) == 1  # before it is simulated
    assert "viewer.js is missing" in capsys.readouterr().err


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_saved_result_has_the_scene_of_its_mechanism(tmp_path, suffix):
    assert main(["simulate", FOUR_BAR, "--t-end", "0.5", "-o", f"run{suffix}"]) == 0
    data = page_of(tmp_path, f"run{suffix}", "--mechanism", FOUR_BAR, "--max-rows", "20")
    (run,) = data["runs"]
    name = "run" if suffix == ".csv" else "four_bar"  # Parquet has the name of the mechanism
    assert (run["label"], run["rows"]) == (name, 20)
    found = columns_of(run)
    assert found["time"][-1] == 0.5
    assert data["scenes"][0]["units"]["time"] == "s"


def test_an_fmu_brings_its_mechanism(tmp_path, capsys):
    assert main(["export", FOUR_BAR, "-o", "x.fmu", "--stop-time", "4"]) == 0
    data = page_of(tmp_path, "x.fmu")
    assert data["live"]["t_end"] == 4.0
    direct = page_of(tmp_path, FOUR_BAR, "--t-end", "4")
    assert data["live"] == direct["live"]
    assert data["scenes"] == direct["scenes"]
    capsys.readouterr()


def test_the_summary_as_json(tmp_path, capsys):
    assert main(["view", FOUR_BAR, "-o", "a.html", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"path": "a.html", "bytes": (tmp_path / "a.html").stat().st_size}


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["none.py"], "there is no file none.py"),
        (["car.ssp"], "is a system that has not been run: 'linkwork run car.ssp -o run.parquet'"),
        (["run.csv"], "run.csv has columns and no scene"),
        ([FOUR_BAR, FOUR_BAR], "a page simulates one mechanism, not 2"),
        ([FOUR_BAR, "-o", "none/x.html"], "there is no folder none"),
        ([FOUR_BAR, "--columns", "X.q", "--simulate"], "no variable 'X.q'"),
        (["none.fmu"], "there is no file none.fmu"),
        ([FOUR_BAR, "--every", "0.1"], "--every and --input are of runs that this command simulates: add --simulate"),
        ([FOUR_BAR, "--input", "A=1"], "add --simulate"),
        ([FOUR_BAR, "--columns", "A.q"], "the simulator in a page has all: leave columns out"),
        (["run.csv", "--mechanism", FOUR_BAR, "--system", "car.ssp"], "give either --mechanism or --system"),
    ],
)
def test_errors(arguments, text, capsys):
    assert main(["view", *arguments]) == 1
    assert text in capsys.readouterr().err


def test_columns_without_poses_are_refused(capsys):
    assert main(["simulate", FOUR_BAR, "--t-end", "0.1", "--columns", "A.q", "-o", "run.csv"]) == 0
    capsys.readouterr()
    assert main(["view", "run.csv", "--mechanism", FOUR_BAR]) == 1
    assert "no column 'crank.r[1]', one of 21 that the scene needs: give the mechanism" in capsys.readouterr().err


def test_poses_that_are_texts_are_refused(tmp_path, capsys):
    assert main(["simulate", FOUR_BAR, "--t-end", "0.1", "-o", "run.csv"]) == 0
    with (tmp_path / "run.csv").open(newline="") as file:
        head, *rows = csv.reader(file)
    rows[1][head.index("crank.r[1]")] = "far"
    with (tmp_path / "run.csv").open("w", newline="") as file:
        csv.writer(file).writerows([head, *rows])
    capsys.readouterr()
    assert main(["view", "run.csv", "--mechanism", FOUR_BAR]) == 1
    assert "column 'crank.r[1]' of the result of 'run' has texts" in capsys.readouterr().err


def test_a_run_ends_where_it_is_told(tmp_path):
    for t_end, span in (("-0.2", (-0.2, 0.0)), ("0", (0.0, 0.0))):
        (run,) = page_of(tmp_path, FOUR_BAR, "--simulate", "--t-end", t_end)["runs"]
        time = columns_of(run)["time"]
        assert (time[0], time[-1]) == pytest.approx(span)


def test_another_suffix_is_refused(capsys):
    with pytest.raises(SystemExit):
        main(["view", FOUR_BAR, "-o", "x.png"])
    assert "does not end in .html" in capsys.readouterr().err


def test_values_of_parameters_come_with_the_fmu(tmp_path):
    from linkwork.cli.mechanism_files import load_mechanism

    model = lw.compile(load_mechanism(TOP / "examples" / "four_bar.py")).with_parameters({"crank.mass": 5.0})
    lw.export_fmu(model, "heavy.fmu")
    data = page_of(tmp_path, "heavy.fmu")
    values = {one["name"]: one["value"] for one in data["live"]["parameters"]}
    assert values["crank.mass"] == 5.0
    assert data["scenes"][0]["bodies"][0]["mass"] == 5.0
    assert np.isfinite(data["scenes"][0]["size"])
