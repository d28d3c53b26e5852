"""What all commands have in common: suggestions, files by their suffix, interrupts, `python -m linkwork`."""

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from linkwork.cli.main import COMMANDS, main, make_parser
from linkwork.cli.values import AppendNamed
from support.checkout import TOP
from support.dae_backends import needs_ida

FOUR_BAR = str(TOP / "examples" / "four_bar.py")
SHORT = ["simulate", FOUR_BAR, "--t-end", "0.3", "--every", "0.1"]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def refused(capsys, *arguments: str) -> str:
    """Standard error of a command that is used wrongly."""
    with pytest.raises(SystemExit) as exit:
        main(arguments)
    assert exit.value.code == 2
    said = capsys.readouterr()
    assert said.out == ""
    return said.err


def needed(command: str) -> None:
    if command in ("run", "sweep", "check"):
        pytest.importorskip("fmpy")
    if command == "controller":
        pytest.importorskip("pythonfmu")


# ---- suggestions

NEAR = {
    "info": ("--explian", "--explain"),
    "simulate": ("--t-ned", "--t-end"),
    "compare": ("--repaet", "--repeat"),
    "equilibrium": ("--sttarts", "--starts"),
    "kinematics": ("--thruogh", "--through"),
    "inverse-dynamics": ("--mtoor", "--motor"),
    "view": ("--max-orws", "--max-rows"),
    "inverse-kinematics": ("--limti", "--limit"),
    "workspace": ("--hodl", "--hold"),
    "export": ("--stop-tiem", "--stop-time"),
    "export-c": ("--inverse-dynamcis", "--inverse-dynamics"),
    "import": ("--limtis", "--limits"),
    "convert": ("--ouptut", "--output"),
    "identify": ("--paramter", "--parameter"),
    "schema": ("--hlep", "--help"),
    "check": ("--time-limits", "--time-limit"),
    "controller": ("--resuorce", "--resource"),
    "run": ("--t-edn", "--t-end"),
    "sweep": ("--gird", "--grid"),
    "completion": ("--hlep", "--help"),
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("first", [True, False])
def test_an_unknown_option_gets_a_suggestion(command, first, capsys):
    needed(command)
    wrong, right = NEAR[command]
    arguments = [wrong, "1", "file"] if first else ["file", f"{wrong}=1"]
    text = refused(capsys, command, *arguments)
    assert text.startswith(f"usage: linkwork {command}")
    assert re.search(rf"error: there is no option {wrong}: did you mean '{right}'", text)


def test_an_unknown_command_gets_a_suggestion(capsys):
    assert "error: there is no command 'simulat': did you mean 'simulate'?" in refused(capsys, "simulat", FOUR_BAR)


def test_an_unknown_option_before_the_command_gets_a_suggestion(capsys):
    assert "there is no option --versoin: did you mean '--version'?" in refused(capsys, "--versoin")


def test_an_unknown_choice_gets_a_suggestion(capsys):
    text = refused(capsys, "simulate", FOUR_BAR, "--method", "embeding")
    assert "argument --method: there is no choice 'embeding': did you mean 'embedding'?" in text


def test_options_are_not_abbreviated(capsys):
    assert "there is no option --t-e: did you mean '--t-end'" in refused(capsys, "simulate", FOUR_BAR, "--t-e", "1")


def test_one_argument_too_many_is_named(capsys):
    assert "'other.py' is one argument too many" in refused(capsys, "info", FOUR_BAR, "other.py")


def test_values_below_zero_are_values():
    assert main([*SHORT, "--input", "A=-0.5", "--t-start", "-0.2"]) == 0


# ---- help


@pytest.mark.parametrize("command", COMMANDS)
def test_help_names_what_is_taken(command, capsys):
    needed(command)
    with pytest.raises(SystemExit) as exit:
        main([command, "--help"])
    assert exit.value.code == 0
    text = capsys.readouterr().out
    assert f"usage: linkwork {command}" in text
    assert "example:\n  linkwork " in text


def test_as_a_module():
    done = subprocess.run([sys.executable, "-m", "linkwork", "schema"], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["title"] == "Linkwork mechanism"
    done = subprocess.run([sys.executable, "-m", "linkwork", "info"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("usage: linkwork info")


# ---- files of results


def test_the_suffix_chooses_the_format(capsys):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("matplotlib")
    io = pytest.importorskip("scipy.io")
    names = ["a.csv", "a.parquet", "a.json", "a.mat", "a.png", "a.SVG", "a.pdf"]
    outputs = [part for name in names for part in ("-o", name)]
    assert main([*SHORT, "--columns", "A.q", "coupler.r", *outputs]) == 0
    assert capsys.readouterr().out.endswith("".join(f"wrote {name}\n" for name in names))
    mech = lw.Mechanism.load(_saved())
    expected = lw.simulate(mech, 0.3, t_eval=[0.0, 0.1, 0.2, 0.3])
    columns = ["A.q", "coupler.r[1]", "coupler.r[2]", "coupler.r[3]"]
    table = np.loadtxt("a.csv", delimiter=",", skiprows=1)
    np.testing.assert_array_equal(table[:, 1:], np.column_stack([expected[name] for name in columns]))
    parquet = pd.read_parquet("a.parquet")
    assert list(parquet) == ["time", *columns]
    np.testing.assert_array_equal(parquet.to_numpy(), table)
    read = json.loads(Path("a.json").read_text(encoding="utf-8"))
    assert list(read["columns"]) == columns
    np.testing.assert_array_equal(np.column_stack([read["time"], *read["columns"].values()]), table)
    matlab = io.loadmat("a.mat", squeeze_me=True)
    assert [str(name) for name in matlab["names"]] == columns
    np.testing.assert_array_equal(np.column_stack([matlab["time"], matlab["values"]]), table)
    starts = [Path(name).read_bytes()[:5] for name in names[4:]]
    assert starts == [b"\x89PNG\r", b"<?xml", b"%PDF-"]


def _saved() -> str:
    from linkwork.cli.mechanism_files import load_mechanism

    load_mechanism(Path(FOUR_BAR)).save("four_bar.json")
    return "four_bar.json"


@pytest.mark.parametrize("command", ["simulate", "run", "compare"])
def test_another_suffix_is_refused(command, capsys):
    needed(command)
    text = refused(capsys, command, FOUR_BAR, "-o", "a.xlsx")
    assert "'a.xlsx' does not end in .csv" in text
    assert "known are" not in text  # which the list before has said
    assert "did you mean '.csv'?" in refused(capsys, command, FOUR_BAR, "-o", "a.cvs")


@pytest.mark.parametrize("arguments", [("export", FOUR_BAR), ("controller", "pid")])
def test_an_fmu_has_its_suffix(arguments, capsys):
    assert "'x.zip' does not end in .fmu" in refused(capsys, *arguments, "-o", "x.zip")


def test_archives_have_their_suffix():
    """Importers know FMUs and systems by it."""
    from linkwork.cli.mechanism_files import load_mechanism
    from linkwork.controllers import package, pid
    from linkwork.cosim import System

    Path("own.py").write_text("")
    for write, error, remedy in (
        (lambda: lw.export_fmu(load_mechanism(Path(FOUR_BAR)), "x.zip"), lw.ExportError, r"write x\.fmu"),
        (lambda: pid("x", kp=1.0), lw.FmuError, r"write x\.fmu"),
        (lambda: package("own.py", "v1.2"), lw.FmuError, r"write v1\.2\.fmu"),
        (lambda: System("s").save("x.zip"), lw.CosimError, r"write x\.ssp"),
    ):
        with pytest.raises(error, match=remedy):
            write()
        assert not Path("x.zip").exists()


def test_a_file_named_twice_is_refused(capsys):
    assert main([*SHORT, "-o", "a.csv", "-o", "./a.csv"]) == 1
    assert "cannot write a.csv twice" in capsys.readouterr().err
    assert not Path("a.csv").exists()


def test_options_of_names_keep_every_value():
    """Those that take NAME=VALUE and may be repeated."""
    (commands,) = (action for action in make_parser()._actions if isinstance(action, argparse._SubParsersAction))
    found = []
    for command, parser in commands.choices.items():
        for action in parser._actions:
            if "=" in str(action.metavar or "") and not isinstance(action, argparse._StoreAction):
                found.append(f"{command} {action.option_strings[0]}")
                assert isinstance(action, AppendNamed), f"{found[-1]} loses the first of two values of one name"
    assert {"simulate --input", "inverse-kinematics --at", "workspace --over", "run --set", "sweep --grid"} <= {*found}


@pytest.mark.parametrize(
    "arguments",
    [
        ["simulate", FOUR_BAR, "--input", "A=1", "--input", "A=2"],
        ["equilibrium", FOUR_BAR, "--hold", "A", "--hold", "A=0.5"],
        ["inverse-kinematics", FOUR_BAR, "--at", "A.q=0.5", "--at", "A.q=0.6"],
        ["run", "plant.fmu", "--set", "A.q=1", "--set", "A.q=1"],
        ["sweep", "plant.fmu", "-o", "out", "--latin", "A.q=0..2", "A.q=1..2"],
    ],
)
def test_a_name_given_twice_is_refused(arguments, capsys):
    needed(arguments[0])
    assert re.search(r"'A(\.q)?' is given twice: give it once", refused(capsys, *arguments))


def test_a_run_writes_the_same_formats(capsys):
    pytest.importorskip("fmpy")
    pytest.importorskip("pyarrow")
    io = pytest.importorskip("scipy.io")
    fmu = str(lw.export_fmu(lw.Mechanism.load(_saved()), "plant.fmu", outputs=["A.q", "A.u"]))
    outputs = [part for name in ("a.csv", "a.json", "a.mat", "a.png") for part in ("-o", name)]
    options = ["--t-end", "0.1", "--step", "0.05", "--in-process", "--show", "A.q"]
    assert main(["run", fmu, *options, *outputs]) == 0
    table = np.loadtxt("a.csv", delimiter=",", skiprows=1)
    read = json.loads(Path("a.json").read_text(encoding="utf-8"))
    assert list(read["columns"]) == ["plant.A.q", "plant.A.u"]
    np.testing.assert_array_equal(np.column_stack([read["time"], *read["columns"].values()]), table)
    matlab = io.loadmat("a.mat", squeeze_me=True)
    np.testing.assert_array_equal(np.column_stack([matlab["time"], matlab["values"]]), table)
    text = capsys.readouterr().out
    assert "plant.A.q" in text
    assert "plant.A.u" not in text


# ---- interrupts


def computed(pid: int) -> float:
    """Processor time of a process in s: its time on the wall says nothing on a busy machine."""
    times = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[11:13]
    return sum(map(int, times)) / os.sysconf("SC_CLK_TCK")


@pytest.mark.skipif(sys.platform != "linux", reason="reads the processor time of a process where Linux has it")
def test_ctrl_c_keeps_what_was_simulated():
    arguments = [
        "simulate",
        _saved(),
        "--t-end",
        "1e5",
        "--rtol",
        "1e-8",
        "--columns",
        "A.q",
        "-o",
        "a.csv",
        "-o",
        "a.json",
    ]
    child = subprocess.Popen([sys.executable, "-m", "linkwork", *arguments], stderr=subprocess.PIPE, text=True)
    try:
        while child.poll() is None and computed(child.pid) < 1.5:
            time.sleep(0.1)
        child.send_signal(signal.SIGINT)
        _, said = child.communicate(timeout=120)
    finally:
        child.kill()
    assert child.returncode == 130
    (reached,) = re.findall(r"interrupted; results until t = (\S+) s are in a\.csv and a\.json\n", said)
    assert "Traceback" not in said
    times = np.loadtxt("a.csv", delimiter=",", skiprows=1)[:, 0]
    assert json.loads(Path("a.json").read_text(encoding="utf-8"))["time"] == times.tolist()
    assert len(times) > 10
    assert times[-1] == pytest.approx(float(reached))
    assert 0 < times[-1] < 1e5


def test_an_interrupt_without_files_names_the_remedy(monkeypatch, capsys):
    simulate = lw.simulate

    def interrupted(*args, **options):
        error = KeyboardInterrupt()
        error.result = simulate(*args, **options)
        raise error

    monkeypatch.setattr(lw, "simulate", interrupted)
    assert main(SHORT) == 130
    assert capsys.readouterr().err == "interrupted; it had come to t = 0.3 s, and -o FILE would have kept the results\n"


# ---- settings of simulations


def test_settings_reach_the_solver(monkeypatch):
    given = {}
    simulate = lw.simulate

    def spied(*args, **options):
        given.update(options)
        return simulate(*args, **options)

    monkeypatch.setattr(lw, "simulate", spied)
    options = ["--atol", "1e-7", "--first-step", "1e-4", "--max-step", "0.01", "--loop-gain", "5", "--t-start", "0.1"]
    assert main([*SHORT, *options]) == 0
    expected = {"atol": 1e-7, "first_step": 1e-4, "max_step": 0.01, "loop_gain": 5.0, "t_start": 0.1}
    assert {name: given[name] for name in expected} == expected
    assert given["t_eval"] == pytest.approx([0.1, 0.2, 0.3])


@pytest.mark.parametrize(
    "solver", ["dopri5", "rodas5p", "DOP853", "Radau", "LSODA", pytest.param("ida", marks=needs_ida)]
)
def test_no_solver_ignores_a_setting(solver):
    """Each setting changes the steps."""
    model = lw.compile(lw.Mechanism.load(_saved()))

    def steps(**options):
        result = lw.simulate(model, 0.5, solver=solver, rtol=1e-6, **options)
        return result.statistics.steps, result.t[1]

    usual = steps()
    assert steps(atol=1e-2) != usual
    assert steps(max_step=1e-3)[0] >= 500
    assert steps(first_step=1e-6)[1] <= 1e-6 * (1 + 1e-9)


@needs_ida
@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--solver", "ida", "--formulation", "ggl", "--loop-gain", "2"], "loop_gain has no effect: formulation 'ggl'"),
        (["--t-end", "-0.3", "--loop-gain", "2"], "loop_gain has no effect: runs backward have none"),
        (["--formulation", "ggl", "--solver", "ida", "--scheme", "1"], "scheme goes with formulation='chou'"),
    ],
)
def test_settings_without_effect_are_refused(arguments, text, capsys):
    assert main(["simulate", FOUR_BAR, *arguments]) == 1
    assert text in capsys.readouterr().err


READ_AND_WRITTEN = {
    "simulate": ("m.json", ["--t-end", "0.1", "-o", "./m.json"]),
    "convert": ("m.json", ["-o", "m.json"]),
    "equilibrium": ("m.json", ["-o", "m.json"]),
    "identify": ("m.json", ["data.csv", "-o", "data.csv"]),
    "view": ("m.html", ["--mechanism", "m.json", "-o", "m.html"]),
}


@pytest.mark.parametrize("command", READ_AND_WRITTEN)
def test_a_file_that_is_read_is_not_overwritten(command, capsys):
    file, rest = READ_AND_WRITTEN[command]
    assert main(["convert", FOUR_BAR, "-o", "m.json"]) == 0
    Path("data.csv").write_text("time,A.q,A.tau\n0,0,0\n")
    Path("m.html").symlink_to("m.json")
    before = {path: Path(path).read_bytes() for path in ("m.json", "data.csv")}
    capsys.readouterr()
    assert main([command, file, *rest]) == 1
    assert "would overwrite it; name another file" in capsys.readouterr().err
    assert before == {path: Path(path).read_bytes() for path in before}
