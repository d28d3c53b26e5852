"""`linkwork compare`: what it prints and writes, and how it fails."""

import csv
import json
import re
from pathlib import Path

import pytest

import linkwork as lw
from linkwork.cli.main import main
from linkwork.comparison import reference as reference_module
from support.checkout import TOP
from support.small import pendulum

EXAMPLES = TOP / "examples"
FOUR_BAR = str(EXAMPLES / "four_bar.py")
SHORT = ("compare", FOUR_BAR, "--t-end", "0.2", "--repeat", "1")


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_help_ends_with_an_example_that_is_understood(capsys, needs):
    needs("matplotlib")
    with pytest.raises(SystemExit) as exit:
        main(["compare", "--help"])
    assert exit.value.code == 0
    example = re.search(r"example:\n  linkwork (.*)\n", capsys.readouterr().out)
    assert example
    assert main(example[1].replace("examples/", f"{EXAMPLES}/").split()) == 0
    assert Path("out.csv").exists()
    assert Path("out.png").stat().st_size > 10_000
    assert "wrote out.csv\nwrote out.png" in capsys.readouterr().out


def test_table(capsys):
    assert main([*SHORT, "--runs", "rcr/dopri5", "dca/RK45", "--rtol", "1e-4", "1e-6", "--columns", "coupler.r"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in lines[2:6]] == [
        ["rcr/dopri5", "1e-4"],
        ["rcr/dopri5", "1e-6"],
        ["dca/RK45", "1e-4"],
        ["dca/RK45", "1e-6"],
    ]


def test_json_and_csv(capsys):
    pendulum().save("it.json")
    arguments = ["compare", "it.json", "--t-end", "0.2", "--runs", "dopri5", "Radau", "--rtol", "1e-5", "--points", "5"]
    assert main([*arguments, "--input", "A=0.5", "--reference", "auto/RK45", "--json", "-o", "a.csv"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["reference"]["run"] == "auto/RK45 at rtol 1e-8"
    with open("a.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["run"] for row in rows] == ["auto/dopri5", "auto/Radau"]
    for row, fact in zip(rows, facts["rows"], strict=True):
        assert float(row["error_q"]) == fact["error_q"] > 0
        assert fact["energy_drift"] is None  # it is driven
        assert row["energy_drift"] == ""


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--runs", "rcr/dopri"], "did you mean 'dopri5'"),
        (["--rtol", "0"], "rtol must be numbers between 0 and 1"),
        (["--columns", "A.qq"], "did you mean 'A.q'"),
        (["--points", "1"], "--points must be at least 2"),
        (["--repeat", "0"], "repeat must be"),
        (["--t-end", "nan"], "t_end must be finite"),
        (["--reference", "rcr"], "names no solver"),
        (["--input", "E=1"], "there is no driven joint 'E'"),
        (["-o", "no/such/folder.csv"], "there is no folder no/such"),
    ],
)
def test_fails_with_one_line(arguments, text, capsys):
    assert main(["compare", FOUR_BAR, *arguments]) == 1
    said = capsys.readouterr()
    assert text in said.err
    assert said.err.count("\n") == 1
    assert said.out == ""


@pytest.mark.parametrize("arguments", [[], [FOUR_BAR, "-o", "a.txt"], [FOUR_BAR, "--rtol", "tight"]])
def test_wrong_usage(arguments, capsys):
    with pytest.raises(SystemExit) as exit:
        main(["compare", *arguments])
    assert exit.value.code == 2
    assert "usage: linkwork compare" in capsys.readouterr().err


def _raise_for(monkeypatch, solver: str, error: BaseException) -> None:
    simulate = reference_module.simulate

    def other(system, t_end, **options):
        if options["solver"] == solver:
            raise error
        return simulate(system, t_end, **options)

    monkeypatch.setattr(reference_module, "simulate", other)


def test_failed_rows_fail_it(monkeypatch, capsys):
    _raise_for(monkeypatch, "RK45", lw.SolverError("it broke"))
    assert main([*SHORT, "--runs", "RK45", "RK23", "--rtol", "1e-4"]) == 1
    said = capsys.readouterr()
    assert "auto/RK45 at rtol 1e-4 failed: it broke" in said.out
    assert said.err == "error: 1 of 2 rows failed: the table gives the reasons\n"
    assert main([*SHORT, "--runs", "RK45", "--rtol", "1e-4", "-o", "a.png"]) == 1
    said = capsys.readouterr()
    assert "no run came to its end" in said.out
    assert said.err == "error: 1 of 1 rows failed: the table gives the reasons\n"
    assert not Path("a.png").exists()


def test_an_interrupt_leaves_the_rows_so_far(monkeypatch, capsys):
    _raise_for(monkeypatch, "RK45", KeyboardInterrupt())
    assert main([*SHORT, "--runs", "RK23", "RK45", "--rtol", "1e-4", "-o", "a.csv"]) == 130
    assert "auto/RK23" in capsys.readouterr().out
    assert len(Path("a.csv").read_text(encoding="utf-8").splitlines()) == 2
