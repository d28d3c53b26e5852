"""Modules are loaded when they are needed: running FMUs loads neither the mechanics nor optional modules."""

import subprocess
import sys

import pytest

import linkwork as lw

HEAVY = (
    "linkwork.core._core",
    "linkwork.model.model",
    "scipy",
    "fmpy",
    "pandas",
    "pyarrow",
    "matplotlib",
    "distributed",
)


@pytest.mark.parametrize(
    "code",
    [
        "import linkwork",
        "import linkwork.cosim",
        "import linkwork.cli.sweep",
        "from linkwork.cli.main import make_parser; make_parser(['run'])",
        "from linkwork.cosim.network.evaluation_order import make_levels as m; m([(('a', 'y'), ('b', 'u'))], {}, [])",
    ],
)
def test_what_is_not_asked_for_is_not_loaded(code):
    code = f"{code}\nimport sys; print([name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_parts_are_there_without_an_import_of_their_own():
    code = "import linkwork as lw; print(lw.cosim.run.__name__, lw.solvers.solve.__name__, lw.errors.FmuError.__name__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["run", "solve", "FmuError"]


@pytest.mark.parametrize("name", [*lw.__all__, "__version__", "cosim", "solvers"])
def test_every_name_is_found(name):
    assert getattr(lw, name) is getattr(lw, name)
    assert name in dir(lw)


def test_other_names_are_not():
    with pytest.raises(AttributeError, match="module 'linkwork' has no attribute 'simulat'"):
        lw.simulat  # noqa: B018
    assert not hasattr(lw, "_nothing")
