"""The examples in the documentation of the solvers, which lie outside of the folder in which pytest looks for them."""

import doctest
from importlib import import_module
from pkgutil import walk_packages

import linkwork.solvers


def test_examples_run() -> None:
    modules = [import_module(one.name) for one in walk_packages(linkwork.solvers.__path__, "linkwork.solvers.")]
    results = [doctest.testmod(module) for module in (linkwork.solvers, *modules) if "sundae" not in module.__name__]
    assert sum(one.attempted for one in results) > 0
    assert sum(one.failed for one in results) == 0
