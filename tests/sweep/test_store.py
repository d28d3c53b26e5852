"""The folder of a sweep: nothing that was flushed is lost, nothing broken is read, nobody else's is touched."""

import json
import os
import tracemalloc

import numpy as np
import pytest

from linkwork.cosim.recording.result import Result
from linkwork.cosim.sweep.result import SweepResult
from linkwork.cosim.sweep.sampling import Points, grid
from linkwork.cosim.sweep.store import Store
from linkwork.errors import CosimError


def header(points: Points, **more) -> dict:
    about = {"count": len(points), "sha256": points.digest}
    return {"format": 1, "system": {"name": "s"}, "points": about, "keep": "all", "versions": {}, **more}


def answer(point: int, rows: int = 5) -> Result:
    t = np.linspace(0.0, 1.0, rows)
    return Result("s", t, {"a.x": point + t, "a.n": np.arange(rows), "a.name": np.array([f"p{point}"] * rows)})


@pytest.fixture
def points() -> Points:
    return grid({"a.k": np.linspace(0.0, 1.0, 10).tolist()})


def test_results_are_read_in_the_order_of_points(tmp_path, points) -> None:
    order = np.random.default_rng(3).permutation(10).tolist()
    store = Store(tmp_path, header(points), points)
    for count, point in enumerate(order):
        store.add(point, answer(point))
        if count % 3 == 0:
            store.flush()
    store.close()
    result = SweepResult(tmp_path)
    whole = result.to_dataframe()
    assert whole.index.get_level_values("point").tolist() == np.repeat(np.arange(10), 5).tolist()
    assert np.array_equal(whole["a.x"], np.concatenate([answer(i)["a.x"] for i in range(10)]))
    assert whole["a.n"].dtype == np.int64
    assert result.trajectory(7)["a.name"].tolist() == ["p7"] * 5
    assert np.array_equal(result.trajectory(7).index, answer(7).t)
    final = result.final()
    assert np.array_equal(final["a.x"], np.arange(10) + 1.0)
    assert np.array_equal(final["a.k"], points.columns["a.k"])
    assert result.finished.all()


def test_a_part_cut_in_half_is_dropped_and_its_points_are_open(tmp_path, points) -> None:
    store = Store(tmp_path, header(points), points)
    for point in range(4):
        store.add(point, answer(point, rows=1000))
        if point % 2:
            store.flush()
    store.close()
    half = tmp_path / "results" / "part-000001.parquet"
    os.truncate(half, half.stat().st_size // 2)
    (tmp_path / "results" / ".part-000002.0a1b.part.parquet").write_bytes(b"begun")
    assert SweepResult(tmp_path).done == 2
    said = []
    store = Store(tmp_path, header(points), points, said.append)
    assert np.flatnonzero(store.finished).tolist() == [0, 1]
    assert ["part-000001.parquet is broken" in one for one in said] == [True]
    for point in (2, 3):
        store.add(point, answer(point))
    store.close()
    assert SweepResult(tmp_path).done == 4
    assert sorted(one.name for one in (tmp_path / "results").iterdir()) == [
        "part-000000.parquet",
        "part-000002.parquet",
    ]


def test_a_folder_of_something_else_is_refused(tmp_path, points) -> None:
    Store(tmp_path / "a", header(points), points).close()
    other = grid({"a.k": [1.0]})
    with pytest.raises(CosimError, match="holds another sweep: points differ"):
        Store(tmp_path / "a", header(other), other)
    with pytest.raises(CosimError, match="keep differ"):
        Store(tmp_path / "a", header(points, keep="final"), points)
    with pytest.raises(CosimError, match="holds no sweep"):
        Store(tmp_path, header(points), points)
    with pytest.raises(CosimError, match="not the folder of a sweep"):
        SweepResult(tmp_path)


def test_other_versions_are_told(tmp_path, points) -> None:
    Store(tmp_path, header(points), points).close()
    said = []
    Store(tmp_path, header(points, versions={"linkwork": "9"}), points, said.append).close()
    assert "other versions" in said[0]


def test_one_process_writes_at_a_time(tmp_path, points) -> None:
    store = Store(tmp_path, header(points), points)
    with pytest.raises(CosimError, match="another process"):
        Store(tmp_path, header(points), points)
    store.close()
    Store(tmp_path, header(points), points).close()


def test_failures_go_when_points_succeed(tmp_path, points) -> None:
    store = Store(tmp_path, header(points), points)
    store.fail(3, 3, "it crashed", points[3])
    store.fail(2, 2, "it failed", points[2])
    store.close()
    failed = SweepResult(tmp_path).failures
    assert [(one["point"], one["attempts"], one["error"]) for one in failed] == [
        (2, 2, "it failed"),
        (3, 3, "it crashed"),
    ]
    assert failed[1]["parameters"] == points[3]
    with open(tmp_path / "failures.jsonl", "a") as file:
        file.write(json.dumps({"point": 5})[:-3])  # cut by a crash
    store = Store(tmp_path, header(points), points)
    store.add(2, answer(2))
    store.close()
    result = SweepResult(tmp_path)
    assert [one["point"] for one in result.failures] == [3]
    with pytest.raises(CosimError, match="point 3 has no results: it crashed"):
        result.trajectory(3)
    with pytest.raises(CosimError, match="point 4 has no results: it has not been run"):
        result.trajectory(4)


def peak(folder, count: int, monkeypatch) -> int:
    """Bytes of Python's and NumPy's at the most while so many points come in."""
    monkeypatch.setattr("linkwork.cosim.sweep.store.PART_SIZE", 1e6)
    points = grid({"a.k": list(range(count))})
    store = Store(folder, header(points), points)
    tracemalloc.start()
    try:
        for point in range(count):
            store.add(point, answer(point, rows=500))
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        store.close()


def test_memory_does_not_grow_with_points(tmp_path, monkeypatch) -> None:
    few, many = peak(tmp_path / "few", 200, monkeypatch), peak(tmp_path / "many", 1600, monkeypatch)
    assert few > 5e5  # it is measured
    assert many < 1.5 * few


def test_plots_need_names_that_are_there(tmp_path, points, needs) -> None:
    needs("matplotlib")
    store = Store(tmp_path, header(points), points)
    for point in range(10):
        store.add(point, answer(point))
    store.close()
    result = SweepResult(tmp_path)
    axes = result.plot("a.k", "a.x", tmp_path / "plot.png").axes[0]
    assert np.array_equal(axes.lines[0].get_ydata(), result.final()["a.x"])
    assert (tmp_path / "plot.png").stat().st_size > 1000
    with pytest.raises(CosimError, match=r"no parameter or variable 'a\.y'"):
        result.plot("a.k", "a.y")
