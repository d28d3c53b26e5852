"""Controllers in Python run with any folder for temporary files; PythonFMU crashes in one with letters beyond ASCII."""

import os
import tempfile

import pytest

from linkwork.cosim import Jacobi, System, run
from linkwork.cosim.fmu.model import read_model
from linkwork.errors import CosimError
from support.python_controllers import in_python


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    folder = tmp_path / "größer"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def test_a_controller_runs_beside_a_temporary_folder_of_other_letters(tmp_path, temporary):
    system = System("one")
    system.add("control", in_python("pid", tmp_path / "p.fmu", kp=2.0), parameters={"setpoint": 1.0})
    path = system.components["control"].fmu
    folder = read_model(path).folder
    assert str(folder).isascii()  # before it is loaded, as a crash would end all tests
    assert run(system, 0.1, master=Jacobi(0.05))["control.u"].tolist() == [2.0, 2.0, 2.0]


def test_without_a_folder_that_does_the_error_names_the_remedy(tmp_path, temporary, monkeypatch):
    model = read_model(in_python("pid", tmp_path / "p.fmu"))
    monkeypatch.setattr(os, "access", lambda place, mode: place == temporary)
    with pytest.raises(CosimError, match=r"p.fmu cannot be run from .*größer: .* set TMPDIR"):
        _ = model.folder
