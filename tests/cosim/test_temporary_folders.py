"""Folders in which FMUs and archives are unpacked: they go with the last object that has them, without a warning."""

from __future__ import annotations

import gc
import tempfile
import warnings
from pathlib import Path

import pytest

import linkwork as lw
from linkwork import cosim
from support.small import pendulum

pytest.importorskip("fmpy")


def test_unpacked_files_are_removed_without_a_word(tmp_path, monkeypatch):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    system = cosim.System("one")
    system.add("a", lw.export_fmu(pendulum(), tmp_path / "pendulum.fmu"))
    system.save(tmp_path / "one.ssp")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loaded = cosim.System.load(tmp_path / "one.ssp")
        result = cosim.run(loaded, t_end=0.01)
        assert list(scratch.iterdir())
        assert Path(loaded.components["a"].fmu).is_file()
        del loaded, result
        gc.collect()
    assert not list(scratch.iterdir())
