"""`linkwork export-c`: the files that it writes, what it prints, and how it fails."""

import json
import subprocess

import pytest

from linkwork.cli.main import main
from support.checkout import TOP

FOUR_BAR = str(TOP / "examples" / "four_bar.py")


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def functions(header):
    return [line.split("(")[0].removeprefix("int ") for line in header.read_text().splitlines() if line[:4] == "int "]


def test_it_writes_code_that_compiles(tmp_path, capsys):
    asked = ["--outputs", "coupler.r", "--parameters", "coupler.mass", "--kinematics", "coupler"]
    assert main(["export-c", FOUR_BAR, "new/code", *asked, "--inverse-dynamics", "A", "--name", "bar"]) == 0
    printed = capsys.readouterr().out
    folder = tmp_path / "new" / "code"
    for name in ("bar.h", "bar.c", "bar_test.c"):
        assert f"new/code/{name} (" in printed
    found = ["derivatives", "jacobian", "outputs", "inverse_dynamics", "kinematics", "kinematics_jacobian", "step"]
    assert functions(folder / "bar.h") == [f"bar_{one}" for one in found]
    assert "BAR_UDOT_SIZE = 1," in (folder / "bar.h").read_text()
    subprocess.run(["cc", "-std=c99", "bar.c", "bar_test.c", "-o", "test", "-lm"], cwd=folder, check=True)
    subprocess.run(["./test"], cwd=folder, check=True)


@pytest.mark.parametrize(("given", "size"), [([], 3), (["auto"], 1), (["A"], 1), (["B.u"], 1)])
def test_speeds_of_inverse_dynamics(given, size, tmp_path):
    arguments = ["--no-jacobian", "--method", "rcr", "--inverse-dynamics", *given]
    assert main(["export-c", FOUR_BAR, "code", *arguments]) == 0
    assert f"FOUR_BAR_UDOT_SIZE = {size}," in (tmp_path / "code" / "four_bar.h").read_text()


def test_json_names_the_files(capsys):
    assert main(["export-c", FOUR_BAR, "code", "--no-jacobian", "--json"]) == 0
    files = [f"code/four_bar{end}" for end in (".h", ".c", "_test.c")]
    assert json.loads(capsys.readouterr().out) == {"path": files[0], "files": files}


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ([FOUR_BAR, "file"], "cannot write to file: file is a file; choose another folder"),
        ([FOUR_BAR, "file/code"], "cannot write to file/code: file is a file; choose another folder"),
        ([FOUR_BAR, "code", "--outputs", "coupler.rr"], "did you mean 'coupler.r'"),
        ([FOUR_BAR, "code", "--kinematics", "coupla"], "did you mean 'coupler'?"),
        ([FOUR_BAR, "code", "--inverse-dynamics", "A", "B"], "degree"),
        ([FOUR_BAR, "code", "--name", "2b"], "is no name in C"),
        (["none.json", "code"], "there is no file none.json"),
    ],
)
def test_errors(arguments, text, tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert main(["export-c", *arguments]) == 1
    assert text in capsys.readouterr().err
    assert not (tmp_path / "code").exists()


def test_a_folder_is_needed(capsys):
    with pytest.raises(SystemExit):
        main(["export-c", FOUR_BAR])
    assert "FOLDER" in capsys.readouterr().err
