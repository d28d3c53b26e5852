"""FMUs to sweep: one that misbehaves when asked to, and the four-bar of the examples."""

import runpy
from pathlib import Path

import pytest

import linkwork as lw
from support.checkout import TOP
from support.moody import moody as build_moody


@pytest.fixture(scope="session")
def moody(tmp_path_factory, needs, needs_program) -> Path:
    """See tests/sweep/moody.c."""
    needs("fmpy")
    needs_program("cc")
    return build_moody(tmp_path_factory.mktemp("moody"))


@pytest.fixture(scope="session")
def four_bar(tmp_path_factory, needs) -> Path:
    """The four-bar of the examples."""
    needs("fmpy")
    mech = runpy.run_path(str(TOP / "examples" / "four_bar.py"))["mechanism"]()
    return lw.export_fmu(mech, tmp_path_factory.mktemp("four_bar") / "four_bar.fmu", "2.0", ["A.q", "C.q", "energy"])
