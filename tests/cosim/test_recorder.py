"""Recording: every value of every row arrives, in its type, in memory and in files, whatever ends the run."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from linkwork.cosim.recording import recorder as recorder_module
from linkwork.cosim.recording.recorder import Recorded, Recorder
from linkwork.cosim.recording.result import Result
from linkwork.cosim.recording.sink import Sink
from linkwork.cosim.recording.sink_choice import open_sink
from linkwork.errors import CosimError
from support.checkout import TOP
from support.cosim import Live


class Kept:
    """A sink that keeps copies of what it gets."""

    def __init__(self):
        self.heads, self.t, self.columns, self.ends = [], [], [], []

    def begin(self, names, units, types):
        self.heads.append((list(names), dict(units), list(types)))

    def rows(self, t, columns):
        self.t.append(np.array(t))
        self.columns.append([np.array(one) for one in columns])

    def end(self, about):
        self.ends.append(about)


def recorded(n: int, sink: Sink | None = None) -> Recorder:
    live = Live()
    recorder = Recorder("live", live.variables(), sink)
    recorder.begin()
    for i in range(n):
        recorder.row(live.set(i))
    return recorder


def assert_holds(result: Result, n: int) -> None:
    expected = Live.expected(n)
    assert result.names == list(expected)
    np.testing.assert_array_equal(result.t, 0.1 * np.arange(n))
    for name, values in expected.items():
        assert result[name].dtype.kind == values.dtype.kind, name
        np.testing.assert_array_equal(result[name], values)


@pytest.mark.parametrize("n", [1, 7, 1024, 1025, 5000])
def test_memory_holds_every_row(n):
    assert_holds(recorded(n).result(), n)


def test_a_result_on_the_way_is_not_changed_by_later_rows():
    live = Live()
    recorder = Recorder("live", live.variables())
    for i in range(2000):
        if i == 900:
            early = recorder.result()
        recorder.row(live.set(i))
    assert_holds(early, 900)
    assert_holds(recorder.result(), 2000)


def test_nothing_recorded_is_a_result_of_no_rows():
    result = Recorder("live", Live().variables()).result()
    assert len(result) == 0
    assert [result[name].shape for name in result.names] == 7 * [(0,)]
    only_time = Recorder("none", [])
    only_time.row(0.5)
    assert only_time.result().t == [0.5]


@pytest.mark.parametrize("wait", [0.0, 1e9])
def test_a_sink_gets_every_row_once_and_the_result_is_the_last(wait, monkeypatch):
    monkeypatch.setattr(recorder_module, "LONGEST_WAIT", wait)
    sink = Kept()
    recorder = recorded(10000, sink)
    (head,) = sink.heads
    assert head[0][0] == "b.y"
    assert head[1]["a.z"] == "m"
    assert head[2] == [float, str, float, float, float, bool, int]
    last = recorder.result(notices=["slow"])
    assert len(last) == 1
    for name, values in Live.expected(10000).items():
        assert last[name][0] == values[-1]
    recorder.end(last)
    assert sink.ends[0]["notices"] == ["slow"]
    assert len(recorder.result()) == 1
    parts = [np.concatenate(one) for one in zip(*sink.columns, strict=True)]
    assert_holds(Result("live", np.concatenate(sink.t), dict(zip(head[0], parts, strict=True))), 10000)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("n", [0, 1, 9000])
def test_files_hold_every_row_in_its_type(suffix, n, tmp_path):
    path = tmp_path / f"out{suffix}"
    recorder = recorded(n, open_sink(path))
    recorder.end(recorder.result())
    assert [one.name for one in tmp_path.iterdir()] == [path.name]
    again = Result.read(path)
    if n:
        assert_holds(again, n)
    assert again.names == list(Live.expected(1))
    assert len(again) == n
    assert not again.aborted


def test_several_files_at_once(tmp_path):
    paths = [tmp_path / "one.csv", tmp_path / "two.parquet"]
    recorder = recorded(50, open_sink(paths))
    recorder.end(recorder.result())
    for path in paths:
        assert_holds(Result.read(path), 50)


KILLED = """
import itertools, os, sys
from types import SimpleNamespace
from linkwork.cosim.recording import chunk, recorder as module
from linkwork.cosim.recording.recorder import Recorder
from linkwork.cosim.recording.sink_choice import open_sink
from support.cosim import Live
chunk.MOST_ROWS = 100
clock = itertools.chain([0], itertools.count(1, int(sys.argv[2])))
module.time = SimpleNamespace(monotonic=lambda: next(clock))
live = Live()
recorder = Recorder("live", live.variables(), open_sink(sys.argv[1]))
recorder.begin()
for i in range(250):
    recorder.row(live.set(i))
os._exit(3)
"""


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize(("tick", "n"), [(0, 201), (1, 250)])  # the first row at once, then by the hundred; each row
def test_a_killed_process_leaves_what_can_be_read(suffix, tick, n, tmp_path):
    path = tmp_path / f"out{suffix}"
    environment = {**os.environ, "PYTHONPATH": str(TOP / "tests")}
    done = subprocess.run([sys.executable, "-c", KILLED, str(path), str(tick)], check=False, env=environment)
    assert done.returncode == 3
    left = Result.read(path)
    assert_holds(left, n)
    assert left.aborted == (suffix == ".parquet")  # rows of a CSV file do not show it


def cut(path: Path, n: int) -> None:
    path.write_bytes(path.read_bytes()[:-n])


def test_files_cut_off_in_a_row_lose_that_row_alone(tmp_path):
    path = tmp_path / "out.csv"
    recorder = recorded(50, open_sink(path))
    recorder.end(recorder.result())
    cut(path, 3)
    left = Result.read(path)
    assert_holds(left, 49)
    assert left.aborted
    assert "last row" in left.notices[0]
    path = tmp_path / "out.parquet"
    recorder = recorded(50, open_sink(path))
    recorder.flush()
    recorder.sink.rows(np.array([1.0]), [np.array(values[:1]) for values in Live.expected(1).values()])
    cut(tmp_path / "out.parquet.part", 20)
    assert_holds(Result.read(path), 50)


def test_a_recorder_that_never_began_leaves_older_files_alone(tmp_path):
    paths = [tmp_path / "out.csv", tmp_path / "out.parquet"]
    for path in paths:
        path.write_text("older")
    recorder = Recorder("live", Live().variables(), open_sink(paths))
    result = recorder.result(aborted=True)
    assert len(result) == 0
    assert result.names == list(Live.expected(1))
    recorder.end(result)
    assert [path.read_text() for path in paths] == ["older", "older"]


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["out.xlsx"], r"name it \*.csv or \*.parquet"),
        (["out"], "name it"),
        (["no/out.csv"], "there is no folder .*no; make it first"),
        (["folder.csv"], "it is a folder"),
        (["out.csv", "more/../out.csv"], "twice"),
    ],
)
def test_files_that_cannot_be_written_are_refused_at_once(names, said, tmp_path):
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "more").mkdir()
    with pytest.raises(CosimError, match=said):
        open_sink([tmp_path / name for name in names])
    assert {one.name for one in tmp_path.iterdir()} == {"folder.csv", "more"}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device that is full is there on Linux alone")
def test_a_full_disk_names_the_file_and_the_other_files_go_on(tmp_path):
    full, good = tmp_path / "full.csv", tmp_path / "good.csv"
    full.symlink_to("/dev/full")
    live = Live()
    sink = open_sink([full, good])
    with pytest.raises(CosimError, match=r"cannot write .*full.csv: No space left"):
        Recorder("live", live.variables(), sink).begin()
    recorder = Recorder("live", live.variables(), sink.sinks[1])
    recorder.begin()
    recorder.row(live.set(0))
    recorder.end(recorder.result())
    assert len(Result.read(good)) == 1


def test_scattered_places_and_single_ones_come_from_the_right_source():
    rng = np.random.default_rng(3)
    for _ in range(50):
        sources = [rng.normal(size=rng.integers(1, 9)) for _ in range(3)]
        picked = [(k, place) for k in range(3) for place in range(len(sources[k])) if rng.random() < 0.6]
        rng.shuffle(picked)
        names = [f"i{k}.v{place}" for k, place in picked]
        variables = [
            Recorded(name, "", float, sources[k], place) for name, (k, place) in zip(names, picked, strict=True)
        ]
        recorder = Recorder("random", variables)
        recorder.row(0.0)
        before = {name: sources[k][place] for name, (k, place) in zip(names, picked, strict=True)}
        for source in sources:
            source += 1.0
        recorder.row(1.0)
        result = recorder.result()
        for name, value in before.items():
            np.testing.assert_array_equal(result[name], [value, value + 1.0])


def test_memory_of_a_sink_holds_what_it_has_not_yet_got(monkeypatch):
    """Whatever is cut off when: what the sink has and what its memory holds are all rows, each once."""

    class Remembering(Kept):
        def memory(self, layout):
            self.layout, self.buffer = layout, bytearray(layout.n_bytes)
            return self.buffer

    monkeypatch.setattr(recorder_module, "LONGEST_WAIT", 1e9)
    live, sink = Live(), Remembering()
    numbers = [one for one in live.variables() if one.type is not str]
    recorder = Recorder("live", numbers, sink)
    recorder.begin()
    for i in range(9000):
        recorder.row(live.set(i))
        if i in (0, 1, 50, 4095, 4096, 4097, 8999):
            before = sum(map(len, sink.t))
            t, columns = sink.layout.held(sink.buffer, before)
            assert len(sink.layout.held(sink.buffer, before + 1)[0]) == 0
            parts = [*sink.columns, [columns[k] for k in range(len(columns))]]
            expected = Live.expected(i + 1)
            np.testing.assert_array_equal(np.concatenate([*sink.t, t]), 0.1 * np.arange(i + 1))
            for k, one in enumerate(numbers):
                got = np.concatenate([part[k] for part in parts])
                np.testing.assert_array_equal(got, expected[one.name])
                assert got.dtype.kind == expected[one.name].dtype.kind
