"""The examples in the documentation of the solvers, which lie outside of the folder in which pytest looks for them."""

import doctest
from importlib import import_module
from pkgutil import walk_packages

import pytest

import linkwork.solvers
from linkwork.solvers.ida.backend_choice import BACKENDS

MODULES = ["linkwork.solvers", *(one.name for one in walk_packages(linkwork.solvers.__path__, "linkwork.solvers."))]
NEEDED = {here.split(":")[0]: package for package, here in BACKENDS.items()}  # by the module that needs it


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name: str) -> None:
    if name in NEEDED:
        pytest.importorskip(NEEDED[name], reason=f"needs {NEEDED[name]}")
    assert doctest.testmod(import_module(name)).failed == 0


def test_there_are_examples() -> None:
    finder = doctest.DocTestFinder()
    modules = [import_module(name) for name in MODULES if name not in NEEDED]
    assert sum(len(one.examples) for module in modules for one in finder.find(module)) > 0
