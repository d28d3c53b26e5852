"""Sweeps on a Dask cluster of separate processes: the bits of a serial sweep, with workers lost or added during it."""

import threading
import time

import numpy as np
import pytest

from linkwork.cosim import Jacobi
from linkwork.cosim.sweep import SweepResult, grid, latin, sweep
from linkwork.cosim.sweep.runners import dask_cluster as runner
from linkwork.errors import CosimError
from support import moody as moods
from support.dask_cluster import DaskCluster

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def cluster(tmp_path_factory, needs):
    needs("distributed")
    with DaskCluster(tmp_path_factory.mktemp("cluster")) as one:
        one.add_worker()
        one.add_worker()
        one.await_workers()
        yield one


@pytest.fixture
def often(monkeypatch) -> None:
    monkeypatch.setattr("linkwork.cosim.sweep.store.OFTEN", (0.1, 0.1))


def when_there_is_a_part(folder, then) -> threading.Thread:
    def wait() -> None:
        end = time.monotonic() + 60
        while not list((folder / "results").glob("part-*")) and time.monotonic() < end:
            time.sleep(0.01)
        then()

    thread = threading.Thread(target=wait)
    thread.start()
    return thread


def test_a_worker_that_is_killed_costs_no_point_and_no_bit(four_bar, tmp_path, cluster, often) -> None:
    points = grid({"four_bar.coupler.mass": [1.0, 2.0]}) * latin({"four_bar.crank.mass": (0.5, 2.0)}, 100, seed=1)
    settings = {"t_end": 0.5, "master": Jacobi(0.002)}
    serial = sweep(four_bar, points, tmp_path / "serial", **settings, workers=1)
    out = tmp_path / "cluster"
    killer = when_there_is_a_part(out, cluster.workers[0].kill)
    result = sweep(four_bar, points, out, **settings, scheduler=cluster.address)
    killer.join()
    assert cluster.workers[0].wait() == -9
    assert len(list((out / "results").iterdir())) > 1  # it was killed during the sweep
    assert result.to_dataframe().equals(serial.to_dataframe())
    assert result.finished.all()
    assert not result.failures
    cluster.add_worker()
    cluster.await_workers()


def test_workers_may_come_late(moody, tmp_path, needs, monkeypatch) -> None:
    """The absence of workers is reported; later ones get the FMUs."""
    needs("distributed")
    monkeypatch.setattr(runner, "LONELY", 0.5)
    monkeypatch.setattr(runner, "LOOK", 0.2)
    points = grid({"moody.k": [1.0, 2.0, 3.0]})
    (tmp_path / "dask").mkdir()
    with DaskCluster(tmp_path / "dask") as lonely:
        said = []

        def notify(text: str) -> None:
            said.append(text)
            lonely.add_worker()

        result = sweep(moody, points, tmp_path / "out", t_end=0.1, scheduler=lonely.address, notify=notify)
        assert len(said) == 1
        assert "has no workers" in said[0]
        assert result.notices == said
        assert result.finished.all()


def test_a_crash_leaves_the_worker_alone(moody, tmp_path, cluster) -> None:
    points = grid({"moody.k": [1.0, 2.0], "moody.mood": [moods.FINE, moods.ABORTS, moods.FAILS]})
    settings = {"t_end": 0.1, "master": Jacobi(0.01), "scheduler": cluster.address, "retries": 1}
    result = sweep(moody, points, tmp_path / "out", **settings)
    assert np.flatnonzero(result.finished).tolist() == [0, 3]
    assert [(one["point"], one["attempts"]) for one in result.failures] == [(1, 2), (2, 2), (4, 2), (5, 2)]
    assert "FMU moody.fmu (instance 'moody') crashed with SIGABRT in doStep" in result.failures[0]["error"]
    assert cluster.workers[-1].poll() is None
    x = result.final()["moody.x"].tolist()
    assert x == [pytest.approx(0.99**10), pytest.approx(0.98**10)]


def test_a_finished_sweep_asks_no_scheduler(moody, tmp_path) -> None:
    points = grid({"moody.k": [1.0, 2.0]})
    sweep(moody, points, tmp_path / "out", t_end=0.1, workers=1)
    assert sweep(moody, points, tmp_path / "out", t_end=0.1, scheduler="tcp://127.0.0.1:1").finished.all()


def test_a_scheduler_that_is_not_there_is_told(moody, tmp_path, needs, monkeypatch) -> None:
    needs("distributed")
    monkeypatch.setattr(runner, "CONNECT", 0.5)
    for address in ("tcp://127.0.0.1:1", "nonsense", "http://127.0.0.1:1"):
        with pytest.raises(CosimError, match=f"no scheduler answers at {address} .* start one with 'dask scheduler'"):
            sweep(moody, grid({"moody.k": [1.0]}), tmp_path / "out", t_end=0.1, scheduler=address)


def test_versions_that_do_not_fit_are_told(moody, tmp_path, cluster, monkeypatch) -> None:
    monkeypatch.setattr(runner, "version", lambda name: "0.0.9")
    with pytest.raises(
        CosimError, match=r"the worker tcp://.* has linkwork .*, this process 0\.0\.9; install the same"
    ):
        sweep(moody, grid({"moody.k": [1.0]}), tmp_path / "out", t_end=0.1, scheduler=cluster.address)
    turn = iter(range(99))
    monkeypatch.setattr(runner, "_packages", lambda one: {"python": f"3.{next(turn)}"})
    with pytest.raises(CosimError, match=r"the scheduler at .* has {'python': .*install the same versions"):
        sweep(moody, grid({"moody.k": [1.0]}), tmp_path / "out", t_end=0.1, scheduler=cluster.address)


def test_a_scheduler_that_goes_leaves_what_is_finished(moody, tmp_path, needs, often) -> None:
    needs("distributed")
    points = grid({"moody.k": [0.001 * i for i in range(2000)]})
    settings = {"t_end": 0.1, "master": Jacobi(0.01)}
    (tmp_path / "dask").mkdir()
    with DaskCluster(tmp_path / "dask") as doomed:
        doomed.add_worker()
        killer = when_there_is_a_part(tmp_path / "out", doomed.scheduler.kill)
        with pytest.raises(CosimError, match="is gone; finished points are kept"):
            sweep(moody, points, tmp_path / "out", **settings, scheduler=doomed.address)
        killer.join()
    assert 0 < SweepResult(tmp_path / "out").done < 2000
