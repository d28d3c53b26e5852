"""`linkwork check`: what it prints, and its exit codes."""

import importlib.util
import json
import subprocess
import sys

import pytest

import linkwork as lw
from linkwork.cli.main import main
from linkwork.errors import FmuError
from linkwork.fmu.check.registry import all_checks
from support.mutated import mutated


def test_table_findings_and_verdict(latched, tmp_path, capsys):
    assert main(["check", str(latched["3.0"]), "--only", "names,units", "--only", "starts"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split() for line in lines[:-1]] == [
        [name, "passed"] for name in ("archive", "names", "starts", "units")
    ]
    assert lines[-1] == f"PASSED: {latched['3.0']}: 0 errors, 0 warnings, 0 notes"

    bad = mutated(latched["3.0"], tmp_path, lambda e: e.of("hinge.q", unit="ell", name="hinge q"))
    assert main(["check", str(bad), "--only", "names,units"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(maxsplit=1) for line in lines[1:3]] == [["names", "1 error"], ["units", "1 error"]]
    assert lines[3].startswith("error: names: the name 'hinge q'")
    assert lines[-1] == f"FAILED: {bad}: 2 errors, 0 warnings, 0 notes"


def test_json(latched, capsys):
    assert main(["check", str(latched["2.0"]), "--only", "names,adjoint", "--skip", "adjoint", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["fmi"], facts["passed"]) == ("2.0", True)
    assert facts["checks"][1] == {"name": "names", "skipped": None, "findings": []}
    assert len(facts["checks"]) == 2


def test_list_tells_each_check_in_a_line(capsys):
    assert main(["check", "--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(all_checks())
    assert all(len(line) < 140 and len(line.split()) > 4 for line in lines)
    assert main(["check", "--list", "--json"]) == 0
    assert [one["name"] for one in json.loads(capsys.readouterr().out)] == list(all_checks())


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ([], "name an FMU"),
        (["a.fmu", "--only", "nams"], "there is no check 'nams': did you mean 'names'"),
        (["a.fmu", "--only", ","], "name a check; --list prints all"),
        (["a.fmu", "--time-limit", "0"], "is not above zero"),
        (["a.fmu", "--time-limit", "soon"], "not a finite number"),
    ],
)
def test_wrong_usage(arguments, text, capsys):
    with pytest.raises(SystemExit) as exit:
        main(["check", *arguments])
    assert exit.value.code == 2
    assert text in capsys.readouterr().err


def test_a_missing_file_is_one_line(capsys):
    assert main(["check", "nowhere.fmu", "--only", "names"]) == 1
    assert capsys.readouterr().err == "error: there is no file nowhere.fmu\n"


def test_an_unknown_check_is_refused(latched):
    with pytest.raises(FmuError, match="did you mean 'names'"):
        lw.check_fmu(latched["2.0"], only=["nams"])
    with pytest.raises(FmuError, match="time_limit is 0"):
        lw.check_fmu(latched["2.0"], only=["names"], time_limit=0)


def test_without_fmpy_the_message_names_it(latched, monkeypatch):
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *rest: None if name == "fmpy" else found(name, *rest))
    with pytest.raises(FmuError, match=r"pip install 'linkwork\[fmu\]'"):
        lw.check_fmu(latched["2.0"])
    assert lw.check_fmu(latched["2.0"], only=["names", "values"]).passed  # what needs it not


def test_progress_names_each_check(latched):
    names = []
    lw.check_fmu(latched["2.0"], only=["names", "units"], progress=names.append)
    assert [one.text for one in names] == ["archive", "names", "units"]


def test_checking_loads_nothing_heavy():
    program = "import sys, linkwork.cli.check; print(*{name.partition('.')[0] for name in sys.modules})"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert {"scipy", "fmpy", "matplotlib", "pandas"}.isdisjoint(done.stdout.split())
