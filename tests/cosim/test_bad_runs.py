"""Runs that fail or are interrupted: results so far are kept, all is freed, and the text gives the cause."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from linkwork.cosim import Jacobi, System, run
from linkwork.cosim.isolated.job import Job
from linkwork.cosim.isolated.parent import Child, Died
from linkwork.cosim.recording.sink import Sink
from linkwork.errors import CosimError
from support.checkout import TOP
from support.fmi_order import calls, faults
from support.foreign import MODE, foreign
from support.python_fmus import LAG, build

VERSIONS = ("2.0", "3.0")


@pytest.fixture(autouse=True)
def recorded_calls(tmp_path, monkeypatch, needs, needs_program) -> Path:
    needs("fmpy")
    needs_program("gcc")
    monkeypatch.setenv("FOREIGN_CALLS", str(tmp_path / "calls"))
    return tmp_path / "calls"


@pytest.fixture
def pair(tmp_path):
    """Two, of which the first misbehaves from 0.5 s on."""

    def make(version: str = "2.0", **parameters: object) -> System:
        system = System("pair")
        system.add("one", foreign(tmp_path / "wild.fmu", version), parameters=parameters)
        system.add("two", foreign(tmp_path / "tame.fmu", "3.0" if version == "2.0" else "2.0"))
        system.connect("one.y", "two.u", convert_units=False)
        return system

    return make


def all_freed(path: Path) -> bool:
    """Whether every instance that was made has been freed in the end."""
    made = calls(path)
    return [one.function for one in made].count("Instantiate") == [one.function for one in made].count("FreeInstance")


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("mode", "rows", "text"),
    [
        (
            "fails",
            6,
            r"fmi\dDoStep returned error at t = 0.5 s; it reports: no solution at 0.5 s, sorry; .* smaller",
        ),
        ("dies", 6, r"fmi\dDoStep returned fatal at t = 0.5 s"),
        ("pends", 6, r"fmi\dDoStep returned (pending|.*5)"),
        ("no_init", 0, r"fmi\dEnterInitializationMode returned error at t = 0 s; look at its parameters and start"),
        ("no_exit", 0, r"fmi\dExitInitializationMode returned error .*it reports: x0 = 2.5 leads nowhere; look at its"),
    ],
)
def test_an_fmu_that_fails(version, mode, rows, text, pair, recorded_calls):
    with pytest.raises(CosimError, match=rf"FMU wild.fmu \(instance 'one'\): {text}") as caught:
        run(pair(version, mode=MODE[mode]), 1.0, master=Jacobi(0.1), inputs={"one.u": 2.0})
    result = caught.value.result
    assert result.aborted
    assert len(result) == rows
    assert result["one.y"] == pytest.approx(2.0 * result.t)
    assert all_freed(recorded_calls) == (mode != "dies")


@pytest.mark.parametrize("version", VERSIONS)
def test_an_fmu_whose_termination_fails_leaves_the_results(version, pair, recorded_calls):
    result = run(pair(version, mode=MODE["no_end"]), 1.0, master=Jacobi(0.1))
    assert len(result) == 11
    assert any("Terminate returned error" in one and "results are complete" in one for one in result.notices)
    assert all_freed(recorded_calls)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_discarded_step_that_no_shorter_one_mends(version, pair, recorded_calls):
    stuck = r"discarded a step to t = 0.6 s, at t = 0.5 s; FMI 2.0 allows .* cannot save states: take smaller"
    text = stuck if version == "2.0" else r"no step .*t = 0.5 s succeeds, however short"
    with pytest.raises(CosimError, match=text) as caught:
        run(pair(version, mode=MODE["discards"]), 1.0, master=Jacobi(0.2))
    assert "'one'" in str(caught.value)
    reached = 0.4 if version == "2.0" else 0.5  # as far as values may be used
    assert caught.value.result.t[-1] == pytest.approx(reached)
    assert all_freed(recorded_calls)


@pytest.mark.parametrize("version", VERSIONS)
def test_an_output_that_is_not_finite_is_named_where_it_comes_from(version, pair, recorded_calls):
    with pytest.raises(CosimError, match=r"one.y \(FMU wild.fmu\) is nan, and is connected to two.u") as caught:
        run(pair(version, mode=MODE["gives_nan"]), 1.0, master=Jacobi(0.1))
    assert len(caught.value.result) in (5, 6)
    assert all_freed(recorded_calls)


def test_an_output_that_is_not_finite_and_feeds_nothing_is_a_notice(pair):
    system = pair(mode=MODE["gives_nan"])
    system.connections.clear()
    result = run(system, 1.0, master=Jacobi(0.125))
    assert len(result) == 9
    assert "from t = 0.5 s, one.y is nan (wild.fmu)" in result.notices


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (lambda t: 1.0 / (0.5 - t), "fails at t = 0.5 s: float division by zero"),
        (lambda t: float("inf") if t > 0.4 else 0.0, "is inf at t = 0.5 s"),
        (lambda t: None if t > 0.4 else 0.0, "fails at t = 0.5 s: there is no value"),
        (lambda t: "x" if t > 0.4 else 0.0, "fails at t = 0.5 s: could not convert"),
        (lambda t: [1.0, 2.0] if t > 0.4 else 0.0, "fails at t = 0.5 s: could not broadcast"),
    ],
)
def test_an_external_input_that_fails(function, text, pair, recorded_calls):
    with pytest.raises(CosimError, match=rf"external input of 'one.u' \(FMU wild.fmu\) {text}") as caught:
        run(pair(), 1.0, master=Jacobi(0.125), inputs={"one.u": function})
    assert caught.value.result.t.tolist() == [0.0, 0.125, 0.25, 0.375]
    assert all_freed(recorded_calls)


class Breaking(Sink):
    """A sink that fails at one of its calls."""

    def __init__(self, where: str, kind: type[Exception]) -> None:
        self.where, self.kind = where, kind

    def _at(self, where: str) -> None:
        if where == self.where:
            raise self.kind("the disk is full")

    def begin(self, names, units, types):
        self._at("begin")

    def rows(self, t, columns):
        self._at("rows")

    def end(self, about):
        self._at("end")


@pytest.mark.parametrize("kind", [CosimError, OSError, ValueError])
@pytest.mark.parametrize("where", ["rows", "end"])
def test_a_sink_that_fails(where, kind, pair, recorded_calls):
    with pytest.raises(CosimError, match="the disk is full"):
        run(pair(), 1.0, master=Jacobi(0.1), sink=Breaking(where, kind))
    assert all_freed(recorded_calls)


# ---- interruptions


def interrupted_at(limit: float):
    def function(t: float) -> float:
        if t >= limit:
            os.kill(os.getpid(), signal.SIGINT)
        return 1.0

    return function


def test_ctrl_c_gives_the_results_so_far(pair, recorded_calls):
    result = run(pair(), 1.0, master=Jacobi(0.125), inputs={"one.u": interrupted_at(0.5)})
    assert result.aborted
    assert result.t[-1] in (0.5, 0.625)
    assert result["one.y"] == pytest.approx(result.t)
    assert all_freed(recorded_calls)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_keyboard_interrupt_from_within(pair, recorded_calls):
    def raises(t: float) -> float:
        if t >= 0.5:
            raise KeyboardInterrupt
        return 1.0

    result = run(pair(), 1.0, master=Jacobi(0.125), inputs={"one.u": raises})
    assert result.aborted
    assert result.t.tolist() == [0.0, 0.125, 0.25, 0.375]
    assert all_freed(recorded_calls)


def test_ctrl_c_within_an_fmu_that_is_python(tmp_path, needs):
    needs("pythonfmu")
    system = System("python")
    system.add("lag", build(tmp_path / "lag", LAG, "lag"), parameters={"misdeed": "interrupt"})
    result = run(system, 1.0, master=Jacobi(0.25))
    assert result.aborted
    assert result.t.tolist() == [0.0, 0.25, 0.5, 0.75]


def test_in_another_thread(pair):
    """Signals go to the main thread alone; nothing is touched there."""
    results = []
    thread = threading.Thread(target=lambda: results.append(run(pair(), 1.0, master=Jacobi(0.125))))
    thread.start()
    thread.join()
    assert len(results[0]) == 9


LONG = """
import sys
sys.path.insert(0, {tests!r})
from linkwork.cosim import Jacobi, System, run
system = System("long")
system.add("one", {fmu!r})

def u(t):
    if t >= 0.01:
        print("running", flush=True)
    return 1.0

result = run(system, 1e6, master=Jacobi(1e-3), inputs={{"one.u": u}}, columns="one.y")
print("aborted", result.aborted, len(result) > 10, abs(result["one.y"][-1] - result.t[-1]) < 1e-6)
"""


def test_ctrl_c_from_outside(tmp_path, monkeypatch):
    monkeypatch.delenv("FOREIGN_CALLS")
    fmu = foreign(tmp_path / "foreign.fmu")
    script = LONG.format(tests=str(TOP / "tests"), fmu=str(fmu))
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(
        [sys.executable, "-c", script], cwd=TOP, env=environment, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "running\n"
        time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=60)
    assert said.splitlines()[-1] == "aborted True True True"
    assert process.returncode == 0
    assert list(tmp_path.glob("linkwork_fmu_*")) == []


# ---- FMUs that take the process with them


@pytest.mark.thin(2)
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("mode", "text"),
    [
        ("crashes", "crashed with SIGSEGV in doStep at t = 0.5"),
        ("exits", "ended the process with exit code 7 in doStep at t = 0.5"),
        ("hangs", "took too long: it was in doStep at t = 0.5 s"),
    ],
)
def test_in_a_process_of_its_own(version, mode, text, pair):
    system = pair(version, mode=MODE[mode])
    with Child(time_limit=5.0 if mode == "hangs" else 60.0) as child:
        with pytest.raises(Died, match=re.escape(f"FMU wild.fmu (instance 'one') {text}")):
            child.run(Job(system, {"t_end": 1.0, "master": Jacobi(0.125)}))
        system.components["one"].parameters["mode"] = 0
        assert not child.run(Job(system, {"t_end": 1.0, "master": Jacobi(0.125)})).aborted


def test_the_order_of_calls_stays_right_when_interrupted(pair, recorded_calls):
    system = pair()
    system.components["two"].fmu = system.components["one"].fmu
    run(system, 1.0, master=Jacobi(0.125), inputs={"one.u": interrupted_at(0.25)})
    assert faults(calls(recorded_calls), three=False) == []
