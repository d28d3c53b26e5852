"""linkwork run: its files agree with a run; an error is reported in one line and loses no result."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from linkwork.cli.main import main
from linkwork.cosim import Adaptive, Connection, GaussSeidel, Jacobi, System, run
from linkwork.cosim.recording.result import Result
from support import moody as moods
from support.cosim import exported

MODES = [[], ["--in-process"]]


@pytest.fixture(scope="module")
def fmus(tmp_path_factory, request):
    pytest.importorskip("fmpy")
    folder = tmp_path_factory.mktemp("fmus")
    exported("four_bar", folder, outputs=["A.q", "A.u", "coupler.r"])
    exported("joint_lock", folder, fmi="3.0", outputs=["J1.q"])
    return folder


@pytest.fixture
def four_bar(fmus, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return str(fmus / "four_bar.fmu")


@pytest.fixture(scope="module")
def moody(tmp_path_factory):
    if sys.platform != "linux":
        pytest.skip("needs Linux, for whose folder the FMU is built")
    return str(moods.moody(tmp_path_factory.mktemp("moody")))


def fails(capsys, *arguments: str) -> str:
    """Standard error of a run that fails."""
    assert main(["run", *arguments]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("error: ")
    return said.err


def assert_same(one: Result, other: Result) -> None:
    assert one.names == other.names
    np.testing.assert_array_equal(one.t, other.t)
    for name in one.names:
        np.testing.assert_array_equal(one[name], other[name])


@pytest.mark.parametrize("mode", MODES)
def test_files_hold_what_a_run_gives(four_bar, mode, tmp_path, capsys):
    options = ["--t-end", "0.5", "--step", "1e-3", "--set", "A.u_start=3", "--tolerance", "1e-9"]
    assert main(["run", four_bar, *options, "-o", "out.csv", "-o", "out.parquet", *mode]) == 0
    system = System.load(four_bar)
    expected = run(system, 0.5, master=Jacobi(1e-3), parameters={"four_bar.A.u_start": 3.0}, tolerance=1e-9)
    assert len(expected) == 501
    assert expected["four_bar.A.u"][0] == 3.0
    assert_same(Result.read("out.csv"), expected)
    again = Result.read("out.parquet")
    assert_same(again, expected)
    assert again.about() == expected.about()
    assert again.units == expected.units
    text = capsys.readouterr().out
    assert "four_bar: 0 to 0.5 s with jacobi, step 0.001 s; 500 steps" in text
    assert re.search(rf"four_bar.A.q +{expected['four_bar.A.q'][-1]:.9g} +rad\n", text)
    assert text.endswith("wrote out.csv\nwrote out.parquet\n")
    assert sorted(one.name for one in tmp_path.iterdir()) == ["out.csv", "out.parquet"]


def test_the_summary_as_json(fmus, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    arguments = [str(fmus / "joint_lock.fmu"), "--t-end", "1", "--show", "J1.q", "--json", "-o", "out.png"]
    assert main(["run", *arguments]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["components"] == {"joint_lock": "joint_lock.fmu"}
    assert facts["reached"] == 1.0
    (event,) = facts["events"]
    assert event["component"] == "joint_lock"
    assert 0.5 < event["t"] < 1.0
    assert list(facts["final"]) == ["joint_lock.J1.q"]
    assert facts["written"] == ["out.png"]
    assert (tmp_path / "out.png").stat().st_size > 5000


def test_an_fmu_brings_its_own_experiment(four_bar, capsys):
    assert main(["run", four_bar, "--json", "--in-process"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["t_start"], facts["t_end"]) == (0.0, 10.0)
    assert facts["steps"] == 1000


def test_quiet_says_nothing(four_bar, capsys):
    assert main(["run", four_bar, "--t-end", "0.1", "--quiet", "--in-process", "-o", "out.csv"]) == 0
    assert capsys.readouterr() == ("", "")
    assert Result.read("out.csv").t[-1] == 0.1


def test_inputs_from_a_file_are_linear_in_between(four_bar, tmp_path):
    (tmp_path / "in.csv").write_text("time, A.tau\n0, 0\n0.25, 2\n0.5, -1")  # the last line has no end
    options = ["--t-end", "0.5", "--step", "0.01", "--input", "in.csv", "--quiet", "--in-process", "-o", "out.csv"]
    assert main(["run", four_bar, *options]) == 0
    result = Result.read("out.csv")
    np.testing.assert_allclose(result["four_bar.A.tau"], np.interp(result.t, [0, 0.25, 0.5], [0, 2, -1]), atol=1e-15)
    system = System.load(four_bar)
    inputs = {"four_bar.A.tau": lambda t: 8 * t if t < 0.25 else 2 - 12 * (t - 0.25)}
    expected = run(system, 0.5, master=Jacobi(0.01), inputs=inputs)
    np.testing.assert_allclose(result["four_bar.A.u"], expected["four_bar.A.u"], rtol=1e-9)


def test_a_result_can_be_the_input_of_another_run(four_bar):
    options = ["--t-end", "0.2", "--quiet", "--in-process"]
    assert main(["run", four_bar, *options, "--columns", "A.tau", "--set", "A.tau=0.5", "-o", "first.csv"]) == 0
    assert main(["run", four_bar, *options, "--input", "first.csv", "-o", "second.csv"]) == 0
    assert set(Result.read("second.csv")["four_bar.A.tau"]) == {0.5}


def test_other_masters(four_bar):
    options = ["--t-end", "0.1", "--step", "0.01", "--quiet", "--in-process", "-o", "out.csv"]
    assert main(["run", four_bar, "--master", "gauss-seidel", "--extrapolation", "1", *options]) == 0
    assert_same(Result.read("out.csv"), run(System.load(four_bar), 0.1, master=GaussSeidel(0.01, 1)))


def test_a_system_with_parameter_sets_and_outer_inputs(four_bar, tmp_path, capsys):
    system = System("two")
    for name in ("a", "b"):
        system.add(name, four_bar)
    system.connect("a.A.u", "b.A.tau", factor=0.1, convert_units=False)
    system.add_parameter_set("fast", {"a.A.u_start": 4.0})
    system.external_inputs.append(Connection("torque", "a.A.tau", factor=2.0, offset=1.0))
    system.experiment.t_end = 0.2
    system.save(tmp_path / "two.ssp")
    (tmp_path / "in.csv").write_text("time,torque\n0,0\n0.2,1\n")
    options = ["--step", "0.01", "--parameter-set", "fast", "--input", "in.csv", "--diagram", "two.png"]
    assert main(["run", "two.ssp", *options, "-o", "out.csv", "--show", "b.A.?", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert list(facts["final"]) == ["b.A.q", "b.A.u"]
    assert (tmp_path / "two.png").is_file()
    expected = run(
        System.load("two.ssp"),
        master=Jacobi(0.01),
        parameter_sets="fast",
        inputs={"a.A.tau": lambda t: 1.0 + 2.0 * (t / 0.2)},
    )
    result = Result.read("out.csv")
    assert result.names == expected.names
    assert result["a.A.u"][0] == 4.0
    np.testing.assert_allclose(result["b.A.tau"], 0.1 * result["a.A.u"], rtol=1e-15)
    np.testing.assert_allclose(result["b.A.q"], expected["b.A.q"], rtol=1e-9)
    assert re.search("no variable 'a.A.qq' in the system 'two'", fails(capsys, "two.ssp", "--columns", "a.A.qq"))


def test_the_adaptive_master(four_bar, capsys):
    options = ["--t-end", "0.1", "--rtol", "1e-3", "--max-step", "0.02", "--in-process", "-o", "out.csv"]
    assert main(["run", four_bar, "--master", "adaptive", *options]) == 0
    assert "with adaptive;" in capsys.readouterr().out
    expected = run(System.load(four_bar), 0.1, master=Adaptive(1e-3, max_step=0.02))
    assert_same(Result.read("out.csv"), expected)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--step", "20", "--t-end", "10"], r"--step 20 s is longer than the run of 10 s"),
        (["--t-end", "-1"], r"to end at -1 s, but begins at 0 s"),
        (["--t-start", "5", "--t-end", "5"], r"to end at 5 s, but begins at 5 s"),
        (["--set", "A.u_strat=3"], "no variable 'A.u_strat' in the system 'four_bar'; did you mean 'A.u_start'"),
        (["--set", "A.u_start=fast"], "A.u_start=fast: it is of type Float64, so a number is expected"),
        (["--set", "coupler.r[1]=1"], r"'coupler.r\[1\]' cannot be set, the FMU computes it"),
        (["--set", "A.tau=nan"], "is of type Float64"),
        (["--columns", "A.qq"], "no variable 'A.qq' .*; did you mean 'A.q'"),
        (["--show", "x*"], r"no variable 'x\*' in the system 'four_bar'; known are 'time'"),
        (["--parameter-set", "stiff"], "no parameter set 'stiff'"),
        (["--rtol", "1e-4"], "--rtol is an option of --master adaptive, not of jacobi"),
        (["--master", "gauss-seidel", "--max-step", "1"], "--max-step is an option of --master adaptive"),
        (["-o", "no/out.csv"], "no folder .*no; make it first"),
        (["-o", "out.csv", "-o", "out.csv"], "twice"),
        (["-o", "no/out.png"], "no folder"),
        (["--input", "none.csv"], "there is no file none.csv"),
        (["--input", "t.csv"], "no column 'time'; it has: t, A.tau"),
        (["--input", "header.csv"], "header.csv has a header, but no rows"),
        (["--input", "text.csv"], "the column 'A.tau' holds 'a', which is not a number"),
        (["--input", "name.csv"], "no variable 'A.ta' .*; did you mean 'A.tau'"),
    ],
)
def test_what_is_wrong_is_said_before_the_run(arguments, said, four_bar, tmp_path, capsys):
    (tmp_path / "t.csv").write_text("t,A.tau\n0,1\n")
    (tmp_path / "header.csv").write_text("time,A.tau\n")
    (tmp_path / "text.csv").write_text("time,A.tau\n0,a\n")
    (tmp_path / "name.csv").write_text("time,A.ta\n0,1\n")
    before = set(tmp_path.iterdir())
    assert re.search(said, fails(capsys, four_bar, *arguments, "--in-process"))
    assert set(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("none.fmu", "there is no file none.fmu"),
        ("four_bar.py", "neither an .ssp nor an .fmu; 'linkwork simulate' takes mechanisms"),
        ("text.fmu", "the FMU text.fmu cannot be read"),
    ],
)
def test_what_is_no_system(name, said, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text.fmu").write_text("no archive")
    assert re.search(said, fails(capsys, name))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--step", "0"], "--step: '?0'? is not above zero"),
        (["--step", "-1"], "--step: '?-1'? is not above zero"),
        (["--step", "x"], "--step: 'x' is not a finite number"),
        (["--t-end", "nan"], "--t-end: 'nan' is not a finite number"),
        (["--set", "A.u_start"], "'A.u_start' is not COMPONENT.VARIABLE=VALUE"),
        (["--extrapolation", "3"], "--extrapolation: there is no choice 3"),
        (["-o", "out.gif"], r"'out.gif' does not end in .csv, .parquet, .json, .mat, .png"),
        (["--diagram", "out.gif"], "does not end in .png, .svg, .pdf"),
    ],
)
def test_wrong_usage(arguments, said, four_bar, capsys):
    with pytest.raises(SystemExit) as exit:
        main(["run", four_bar, *arguments])
    assert exit.value.code == 2
    assert re.search(said, capsys.readouterr().err)


# ---- runs that do not come to their end


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize(
    ("mood", "mode", "said"),
    [
        (moods.FAILS, ["--in-process"], "fmi2DoStep returned error"),
        (moods.FAILS, [], "fmi2DoStep returned error"),
        (moods.ABORTS, [], "crashed with SIGABRT in doStep at t = 0.06 s"),
    ],
)
def test_results_until_a_failure_are_in_the_file(suffix, mood, mode, said, moody, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    options = ["--set", f"mood={mood}", "-o", f"out.{suffix}", "-o", "out.png", *mode]
    error = fails(capsys, moody, "--step", "0.01", *options)
    assert re.search(said, error)
    left = Result.read(f"out.{suffix}")
    assert f"; results until t = {left.t[-1]:.9g} s are in out.{suffix} and out.png" in error
    assert (tmp_path / "out.png").is_file()
    assert len(left) == 7
    np.testing.assert_allclose(left["moody.x"], 0.99 ** np.arange(7), rtol=1e-14)
    if suffix == "parquet":
        assert left.aborted


LITTLE_ROOM = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (500_000, 500_000))
from linkwork.cli.main import main
sys.exit(main(["run", *sys.argv[1:]]))
"""


@pytest.mark.thin(2)
@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
@pytest.mark.parametrize("mode", MODES)
def test_a_file_that_can_grow_no_more_ends_the_run_and_is_kept(name, mode, moody, tmp_path):
    command = [sys.executable, "-c", LITTLE_ROOM, moody, "--t-end", "100", "--step", "1e-3", "-o", name, *mode]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    said = re.search(
        rf"error: cannot write {name}: File too large; .*; results until t = (.*) s are in {name}", done.stderr
    )
    assert said, done.stderr
    left = Result.read(tmp_path / name)
    assert left.aborted
    assert float(said[1]) == pytest.approx(left.t[-1], rel=0.3)
    assert left.t[-1] >= float(said[1])
    np.testing.assert_allclose(left["moody.x"], 0.999 ** np.arange(len(left)), rtol=1e-9)


def test_without_a_file_a_failure_says_what_would_have_kept_the_results(moody, capsys):
    error = fails(capsys, moody, "--step", "0.01", "--set", f"mood={moods.FAILS}")
    assert "it had come to t = 0.06 s, and -o FILE would have kept the results" in error


# Where the tests run in the background of a shell, Ctrl-C is ignored, and processes that they start inherit this.
INTERRUPTIBLE = """
import signal

signal.signal(signal.SIGINT, signal.default_int_handler)
from linkwork.cli.main import main

raise SystemExit(main())
"""


@pytest.mark.parametrize("mode", MODES)
def test_an_interrupt_keeps_the_results_so_far(mode, moody, tmp_path):
    options = ["--t-end", "1000", "--step", "1e-4", "-o", "out.parquet"]
    with subprocess.Popen(
        [sys.executable, "-c", INTERRUPTIBLE, "run", moody, *options, *mode],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ,
    ) as process:
        part = tmp_path / "out.parquet.part"
        end = time.monotonic() + 60
        while not (part.exists() and part.stat().st_size > 20000) and time.monotonic() < end:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    left = Result.read(tmp_path / "out.parquet")
    assert err == f"interrupted; results until t = {left.t[-1]:.9g} s are in out.parquet\n"
    assert f"moody: 0 to {left.t[-1]:g} s with jacobi, step 0.0001 s; {len(left) - 1} steps, " in out
    assert left.statistics.steps == len(left) - 1
    assert len(left) > 100
    assert left.aborted
    np.testing.assert_allclose(left["moody.x"], (1 - 1e-4) ** np.arange(len(left)), rtol=1e-9)
    assert [one.name for one in tmp_path.iterdir()] == ["out.parquet"]


@pytest.mark.parametrize("again", [False, True])  # a second Ctrl-C
def test_an_interrupt_of_an_fmu_that_hangs_keeps_the_results_too(again, moody, tmp_path):
    options = ["--set", f"mood={moods.HANGS}", "--step", "0.01", "-o", "out.csv"]
    with subprocess.Popen(
        [sys.executable, "-c", INTERRUPTIBLE, "run", moody, *options], cwd=tmp_path, stderr=subprocess.PIPE, text=True
    ) as process:
        file, end = tmp_path / "out.csv", time.monotonic() + 60
        while not file.exists() and time.monotonic() < end:
            time.sleep(0.02)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        if again:
            time.sleep(0.2)
            process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "results until t = 0.06 s are in out.csv" in err
    np.testing.assert_allclose(Result.read(file)["moody.x"], 0.99 ** np.arange(7), rtol=1e-14)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
def test_a_run_that_fails_while_it_starts_leaves_older_files_alone(mode, name, four_bar, tmp_path, capsys):
    (tmp_path / name).write_text("older")
    assert "error" in fails(capsys, four_bar, "--set", "gravity[1]=inf", "-o", name, *mode)
    assert [(one.name, one.read_text()) for one in tmp_path.iterdir()] == [(name, "older")]
