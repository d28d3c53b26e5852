"""Sweeps on this machine: the bits of runs here, a failed point affects no other, finished points stay finished."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from linkwork.cosim import Jacobi, System, run
from linkwork.cosim.sweep import SweepResult, grid, latin, sweep
from linkwork.errors import CosimError
from support import moody as moods

STEP = Jacobi(0.01)


@pytest.fixture
def counted(tmp_path, monkeypatch):
    """How many instances have been made so far."""
    path = tmp_path / "count"
    monkeypatch.setenv(moods.COUNT, str(path))
    return lambda: path.stat().st_size if path.exists() else 0


@pytest.mark.parametrize("workers", [1, 2])
def test_points_have_the_bits_of_runs_here(moody, tmp_path, workers) -> None:
    points = latin({"moody.k": (0.1, 10.0, "log")}, 8, seed=1)
    result = sweep(moody, points, tmp_path / "out", t_end=0.3, master=STEP, workers=workers)
    system = System.load(moody)
    for i, parameters in enumerate(points):
        here, there = run(system, 0.3, master=STEP, parameters=parameters), result.trajectory(i)
        assert np.array_equal(there["moody.x"], here["moody.x"])
        assert np.array_equal(there.index, here.t)
    assert np.allclose(result.final()["moody.x"], (1 - 0.01 * points.columns["moody.k"]) ** 30, rtol=1e-14)
    assert not result.failures


@pytest.mark.parametrize(("keep", "column"), [("final", "moody.x"), ("summary", "final(moody.x)")])
def test_less_may_be_kept(moody, tmp_path, keep, column) -> None:
    points = grid({"moody.k": [1.0, 2.0, 3.0]})
    result = sweep(moody, points, tmp_path / "out", t_end=0.1, master=STEP, keep=keep, workers=1)
    assert len(result.to_dataframe()) == 3
    assert np.allclose(result.final()[column], (1 - 0.01 * points.columns["moody.k"]) ** 10, rtol=1e-14)


def test_a_second_call_asks_nobody(moody, tmp_path, counted) -> None:
    points = grid({"moody.k": [1.0, 2.0, 3.0, 4.0]})
    first = sweep(moody, points, tmp_path / "out", t_end=0.1, master=STEP, workers=1).to_dataframe()
    assert counted() == 4
    used = Jacobi(0.01)
    run(System.load(moody), 0.1, master=used)  # a master that has run is the same master
    again = sweep(moody, points, tmp_path / "out", t_end=0.1, master=used, workers=1)
    assert counted() == 5
    assert again.to_dataframe().equals(first)
    with pytest.raises(CosimError, match="settings differ"):
        sweep(moody, points, tmp_path / "out", t_end=0.2, master=STEP, workers=1)


def test_points_that_fail_are_named_and_others_have_results(moody, tmp_path, counted) -> None:
    points = grid({"moody.k": [1.0, 2.0], "moody.mood": [moods.FINE, moods.ABORTS, moods.FAILS, moods.EXITS]})
    result = sweep(moody, points, tmp_path / "out", t_end=0.1, master=STEP, workers=2)
    assert np.flatnonzero(result.finished).tolist() == [0, 4]
    assert [(one["point"], one["attempts"]) for one in result.failures] == [
        (1, 3),
        (2, 2),
        (3, 3),
        (5, 3),
        (6, 2),
        (7, 3),
    ]
    crash, error, end = (one["error"] for one in result.failures[:3])
    assert "FMU moody.fmu (instance 'moody') crashed with SIGABRT in doStep at t = 0.06 s" in crash
    assert "fmi2DoStep returned error" in error
    assert "exit code 7" in end
    assert result.failures[0]["parameters"] == points[1]
    assert counted() == 2 + 2 * (3 + 2 + 3)


def test_a_hang_costs_its_point_alone(moody, tmp_path) -> None:
    points = grid({"moody.mood": [moods.FINE, moods.HANGS, moods.FINE]})
    result = sweep(moody, points, tmp_path / "out", t_end=0.1, master=STEP, workers=1, retries=0, time_limit=10.0)
    assert result.finished.tolist() == [True, False, True]
    assert "took too long" in result.failures[0]["error"]


def test_a_crash_that_does_not_come_again_costs_nothing(moody, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv(moods.ONCE, str(tmp_path / "once"))
    points = grid({"moody.mood": [moods.FINE, moods.ABORTS_ONCE]})
    result = sweep(moody, points, tmp_path / "out", t_end=0.1, master=STEP, workers=1)
    assert (tmp_path / "once").exists()
    assert result.finished.all()
    assert not result.failures


def test_a_sweep_that_was_killed_goes_on(moody, tmp_path, counted) -> None:
    """It leaves no process behind, and all that it had written counts."""
    out = tmp_path / "out"
    script = (
        "import sys\n"
        "from linkwork.cosim import Jacobi\n"
        "from linkwork.cosim.sweep import grid, store, sweep\n"
        "store.OFTEN = (0.02, 0.02)\n"
        "points = grid({'moody.k': [0.001 * i for i in range(400)]})\n"
        "sweep(sys.argv[1], points, sys.argv[2], t_end=0.1, master=Jacobi(0.01), workers=1)\n"
    )
    points = grid({"moody.k": [0.001 * i for i in range(400)]})
    with subprocess.Popen([sys.executable, "-c", script, str(moody), str(out)]) as process:
        await_parts(out / "results", 2)
        process.send_signal(signal.SIGKILL)
    before = SweepResult(out)
    assert 0 < before.done < 400
    already = counted()
    result = sweep(moody, points, out, t_end=0.1, master=STEP, workers=1)
    assert counted() - already in (400 - before.done, 400 - before.done + 1)  # the killed one's child may end a run
    assert result.finished.all()
    assert np.allclose(result.final()["moody.x"], (1 - 0.01 * points.columns["moody.k"]) ** 10, rtol=1e-14)


def await_parts(folder: Path, count: int) -> None:
    end = time.monotonic() + 60
    while len(list(folder.glob("part-*"))) < count and time.monotonic() < end:
        time.sleep(0.02)


def test_an_interruption_keeps_what_is_finished(moody, tmp_path) -> None:
    out = tmp_path / "out"
    script = (
        "import sys\n"
        "from linkwork.cli.main import main\n"
        "from linkwork.cosim.sweep import store\n"
        "store.OFTEN = (0.02, 0.02)\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )
    settings = ["--grid", "moody.k=0:0.399:400", "--t-end", "0.1", "--step", "0.01", "--workers", "1"]
    command = [sys.executable, "-c", script, "sweep", str(moody), *settings, "-o", str(out)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        await_parts(out / "results", 1)
        process.send_signal(signal.SIGINT)
        said = process.communicate()[0]
    assert process.returncode == 130
    assert "interrupted; run the command again to resume" in said
    result = SweepResult(out)
    assert 0 < result.done < 400
    final = result.final()
    assert np.allclose(final["moody.x"], (1 - 0.01 * final["moody.k"]) ** 10, rtol=1e-14)


def test_what_cannot_work_is_refused_before_a_run(moody, tmp_path, counted) -> None:
    good = {"moody.k": [1.0]}
    for points, more, text in [
        ({"moody.q": [1.0]}, {}, "no variable 'q'"),
        ({"mody.k": [1.0]}, {}, "did you mean 'moody'"),
        (good, {"keep": "some"}, "keep is one of"),
        (good, {"workers": 0}, "at least one worker"),
        (good, {"workers": 1, "scheduler": "tcp://x:1"}, "one of the two"),
        (good, {"time_limit": -1.0}, "time above zero"),
        (good, {"retries": -1}, "0 or more"),
    ]:
        with pytest.raises(CosimError, match=text):
            sweep(moody, points, tmp_path / "out", t_end=0.1, **more)
    assert counted() == 0
    assert not (tmp_path / "out").exists()


def test_no_process_is_left_behind(moody, tmp_path) -> None:
    sweep(moody, grid({"moody.k": [1.0, 2.0]}), tmp_path / "out", t_end=0.1, master=STEP, workers=2)
    children = Path(f"/proc/{os.getpid()}/task").glob("*/children")
    pids = [pid for one in children for pid in one.read_text().split()]
    commands = [Path(f"/proc/{pid}/cmdline").read_bytes() for pid in pids if Path(f"/proc/{pid}").exists()]
    assert not [one for one in commands if b"linkwork.cosim.isolated.child" in one]
