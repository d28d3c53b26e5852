"""A system in a process of its own: the same results; crashes and hangs name FMU, instance, call and time."""

import functools
import inspect
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from linkwork.cosim import Jacobi, System, run
from linkwork.cosim.isolated.call_record import Call, note
from linkwork.cosim.isolated.job import Job
from linkwork.cosim.isolated.parent import Child, Died
from linkwork.cosim.isolated.run_summary import SINKS
from linkwork.errors import CosimError
from support import moody as moods


def job(path: Path, mood: int = moods.FINE, keep: str = "all", **more) -> Job:
    settings = {"t_end": 0.1, "master": Jacobi(0.01), "parameters": {"moody.mood": mood}, **more}
    return Job(System.load(path), settings, keep)


@pytest.fixture(scope="module")
def child():
    with Child(time_limit=20.0) as one:
        yield one


def test_columns_are_those_of_a_run_here(moody, child) -> None:
    here = run(System.load(moody), 0.1, master=Jacobi(0.01))
    there = child.run(job(moody))
    assert there.names == here.names
    assert there.units == here.units
    assert np.array_equal(there.t, here.t)
    assert np.array_equal(there["moody.x"], here["moody.x"])
    assert there.statistics == here.statistics
    assert not there.aborted


def test_a_process_serves_many_jobs(moody, child) -> None:
    child.run(job(moody))
    pid = child.pid
    values = [child.run(job(moody, parameters={"moody.k": k}))["moody.x"][-1] for k in (1.0, 2.0)]
    assert child.pid == pid
    assert values[0] == pytest.approx(0.99**10, rel=1e-14)
    assert values[1] == pytest.approx(0.98**10, rel=1e-14)


@pytest.mark.parametrize(
    ("mood", "text"),
    [
        (moods.ABORTS, r"FMU moody.fmu \(instance 'moody'\) crashed with SIGABRT in doStep at t = 0.06 s"),
        (
            moods.EXITS,
            r"moody.fmu .* ended the process with exit code 7 in doStep at t = 0.06 s; its output: I am leaving",
        ),
    ],
)
def test_a_crash_names_fmu_instance_call_and_time(moody, child, mood, text) -> None:
    with pytest.raises(Died, match=text):
        child.run(job(moody, mood))
    assert not child.run(job(moody)).aborted  # the next job has another process


def test_what_came_before_a_crash_is_kept(moody, child) -> None:
    """Rows are passed on some times a second: a run of that length has given some."""
    slow = {"t_end": 100.0, "master": Jacobi(1e-5), "parameters": {"moody.mood": moods.FINE}}
    child.run(job(moody))
    child.time_limit = 1.5
    with pytest.raises(Died) as caught:
        child.run(Job(System.load(moody), slow))
    child.time_limit = 20.0
    result = caught.value.result
    assert result.aborted
    assert len(result) > 10
    assert np.allclose(result["moody.x"], (1 - 1e-5) ** np.arange(len(result)), rtol=1e-9)


def test_a_hang_is_ended_at_the_time_limit(moody, child) -> None:
    child.run(job(moody))
    child.time_limit = 1.5
    with pytest.raises(Died, match=r"took too long: it was in doStep at t = 0.06 s when 1.5 s"):
        child.run(job(moody, moods.HANGS))
    child.time_limit = 20.0


def test_an_error_of_the_fmu_leaves_the_process_alone(moody, child) -> None:
    child.run(job(moody))
    pid = child.pid
    with pytest.raises(CosimError, match="moody") as caught:
        child.run(job(moody, moods.FAILS))
    assert not isinstance(caught.value, Died)
    assert len(caught.value.result) == 7
    assert child.pid == pid


def test_settings_that_cannot_be_sent_are_refused(moody, child) -> None:
    with pytest.raises(CosimError, match="cannot be sent"):
        child.run(job(moody, inputs={"moody.k": lambda t: t}))
    assert not child.run(job(moody)).aborted


def test_a_child_ends_with_a_parent_that_is_killed(moody) -> None:
    """In the middle of a job, and what it had unpacked goes with it."""
    script = (
        "import sys, threading, time\n"
        "from linkwork.cosim import System\n"
        "from linkwork.cosim.isolated.job import Job\n"
        "from linkwork.cosim.isolated.parent import Child\n"
        "child = Child()\n"
        "job = Job(System.load(sys.argv[1]), {'t_end': 0.1, 'parameters': {'moody.mood': 2.0}})\n"
        "threading.Thread(target=child.run, args=(job,), daemon=True).start()\n"
        "time.sleep(2)\n"
        "print(child.pid, child._folder.name, flush=True)\n"
        "time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", script, str(moody)], stdout=subprocess.PIPE, text=True) as parent:
        pid, folder = parent.stdout.readline().split()
        assert is_running(int(pid))
        parent.send_signal(signal.SIGKILL)
    end = time.monotonic() + 20
    while (is_running(int(pid)) or Path(folder).exists()) and time.monotonic() < end:
        time.sleep(0.05)
    assert not is_running(int(pid))
    assert not Path(folder).exists()


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    return not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] != "Z"


def test_a_note_runs_no_python() -> None:
    """It is called before each call of an FMU."""
    assert isinstance(note, functools.partial)
    assert inspect.isbuiltin(note.func)
    note(3, Call.doStep, 0.5)


def summary_in_blocks(t, x, ends) -> np.ndarray:
    sent = {}
    sink = SINKS["summary"](sent.__setitem__)
    sink.begin(["a.x", "a.name"], {"a.x": "m"}, [float, str])
    for a, b in zip([0, *ends], [*ends, len(t)], strict=True):
        if b > a:
            sink.rows(t[a:b], [x[a:b], np.full(b - a, "text")])
    sink.end({})
    assert sent["begin"][0] == ["min(a.x)", "max(a.x)", "final(a.x)", "rms(a.x)"]
    return np.array([column[0] for column in sent["rows"][1]])


def test_a_summary_is_that_of_the_curve() -> None:
    t = np.sort(np.random.default_rng(1).uniform(0, 2 * np.pi, 4000))
    t[0], t[-1] = 0.0, 2 * np.pi
    least, greatest, final, rms = summary_in_blocks(t, np.sin(t) + 2.0, [])
    assert (least, greatest) == ((np.sin(t) + 2.0).min(), (np.sin(t) + 2.0).max())
    assert final == pytest.approx(2.0)
    assert rms == pytest.approx(np.sqrt(4.5), rel=1e-5)  # mean of (sin + 2)^2


def test_a_summary_does_not_depend_on_blocks() -> None:
    random = np.random.default_rng(2)
    t, x = np.cumsum(random.uniform(size=1000)), random.normal(size=1000)
    whole = summary_in_blocks(t, x, [])
    for _ in range(5):
        ends = sorted(random.integers(0, 1000, 20).tolist())
        assert np.array_equal(summary_in_blocks(t, x, ends), whole)
