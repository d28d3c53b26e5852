"""Documentation of the public functions and methods: a summary, each argument in numpy's form, examples that run.

Properties and classes are not looked at, and neither are methods that take a `Block`, which other parts of the package
call.
"""

import inspect
import re

import pytest

import linkwork as lw
from linkwork import controllers, cosim
from linkwork.cosim import sweep

MODULES = (lw, cosim, sweep, controllers)
CLASSES = (lw.Batch, lw.Mechanism, lw.Model, lw.Rollout, cosim.System)
SHAPES = ("rod", "disk", "cylinder", "sphere", "box")


def functions():
    for module in MODULES:
        for name in module.__all__:
            thing = getattr(module, name)
            if callable(thing) and not inspect.isclass(thing):
                yield f"{module.__name__}.{name}", thing
    for name in SHAPES:
        yield f"linkwork.inertia.{name}", getattr(lw.inertia, name)
    for owner in CLASSES:
        for name, method in inspect.getmembers(owner, inspect.isroutine):
            if not name.startswith("_") and method.__module__.startswith("linkwork"):
                yield f"{owner.__name__}.{name}", method


def parameters(function) -> list[inspect.Parameter]:
    return [one for one in inspect.signature(function).parameters.values() if one.name not in ("self", "cls")]


def is_of_the_package(function) -> bool:
    return "Block" in (one.annotation for one in parameters(function))


def sections(text: str) -> dict[str, str]:
    """The sections of a docstring by title."""
    parts = re.split(r"^(\w+)\n-+\n", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def problems(function) -> list[str]:
    text = inspect.getdoc(function) or ""
    if not text:
        return ["no docstring"]
    found = sections(text)
    described = re.findall(r"\w+", " ".join(re.findall(r"^\S.*$", found.get("Parameters", ""), re.MULTILINE)))
    missing = [f"{one.name} is not described" for one in parameters(function) if one.name not in described]
    if ">>> " not in found.get("Examples", ">>> "):
        missing.append("no example that runs")
    return missing


FUNCTIONS = {name: one for name, one in functions() if not is_of_the_package(one)}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_documentation_is_complete(name):
    assert problems(FUNCTIONS[name]) == []


def test_all_kinds_are_looked_at():
    assert {"linkwork.simulate", "Mechanism.add_body", "Model.energy", "System.connect"} <= set(FUNCTIONS)
    assert len(FUNCTIONS) > 60


def test_what_is_missing_is_found():
    def bare(x: float) -> float:
        """Double a number."""
        return 2 * x

    def undescribed(x: float) -> None:
        """Print a number.

        Parameters
        ----------
        y
            A number.

        Examples
        --------
        Call it.
        """

    assert problems(bare) == ["x is not described"]
    assert problems(undescribed) == ["x is not described", "no example that runs"]
