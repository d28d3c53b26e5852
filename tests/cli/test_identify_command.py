"""`linkwork identify`: a CSV file of a simulated experiment in, the parameters of the mechanism out."""

from __future__ import annotations

import json

import numpy as np
import pytest

import linkwork as lw
from linkwork.cli.main import main


@pytest.fixture
def files(tmp_path):
    mech = lw.Mechanism("arm")
    mech.add_body("arm", mass=2.0, com=(0.3, 0, 0), inertia=lw.inertia.rod(2.0, 0.6))
    mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "arm", at=(0, 0, 0))
    mech.add_force(lw.SpringDamper("A", stiffness=0.0, damping=0.4))
    mech.save(tmp_path / "arm.json")
    t = np.linspace(0.0, 2.0, 41)
    run = lw.simulate(mech, 2.0, inputs={"A": lambda t: 5 * np.sin(4 * t)}, t_eval=t, rtol=1e-10)
    run.to_csv(tmp_path / "data.csv")
    return [str(tmp_path / "arm.json"), str(tmp_path / "data.csv")]


def test_parameters_are_printed_and_written(files, tmp_path, capsys, needs):
    needs("pandas")
    table = tmp_path / "found.csv"
    assert main(["identify", *files, "--parameter", "arm.mass", "--parameter", "A.damping", "-o", str(table)]) == 0
    out = capsys.readouterr().out
    assert "Identification: 2 of 2" in out
    assert f"wrote {table}" in out
    header, mass, _ = table.read_text().splitlines()
    assert header == "combination,value,std,unit"
    assert mass.startswith("arm.mass,")
    assert float(mass.split(",")[1]) == pytest.approx(2.0, rel=1e-9)


def test_json_has_the_combinations(files, tmp_path, capsys):
    assert main(["identify", *files, "--parameter", "arm", "--json", "-o", str(tmp_path / "found.json")]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed == json.loads((tmp_path / "found.json").read_text())
    values = {next(iter(one["weights"])): one["value"] for one in printed["combinations"]}
    assert values == pytest.approx({"arm.IO[2,2]": 2.0 * 0.6**2 / 3, "arm.mc[1]": 0.6, "arm.mc[3]": 0.0}, abs=1e-9)
    assert "arm.mass" in printed["without_influence"]


def test_failures_give_the_reason_in_one_line(files, capsys):
    assert main(["identify", *files, "--parameter", "arm.mm"]) == 1
    assert "did you mean 'arm.mc' or 'arm.com' or 'arm.mass'" in capsys.readouterr().err
    assert main(["identify", files[0], files[1] + ".csv"]) == 1
    assert "cannot be read" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("time,A.q\n0,1\n\n0.1,fast\n", "data.csv, line 4: 'A.q' is 'fast', and no number"),
        ("time,A.q,A.tau\n0,1,off\n0.1,2,off\n", "data.csv, line 2: 'A.tau' is 'off', and no number"),
        ("time,A.q,A.q\n0,1,1\n", "data.csv: the header names 'A.q' twice"),
        ("time,A.q\n0,1\n1\n", "data.csv, line 3: 1 values, and the header has 2 names"),
        (
            "time,A.q,A.taau\n0,1,1\n",
            "'A.taau' is no variable of the mechanism, as a column with a dot in its name must be",
        ),
    ],
)
def test_what_is_wrong_in_a_file_is_named_with_its_line(files, tmp_path, capsys, content, text):
    (tmp_path / "data.csv").write_text(content)
    assert main(["identify", *files, "--parameter", "arm.mass"]) == 1
    assert text in capsys.readouterr().err
