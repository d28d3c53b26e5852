"""Methods that are declared below and implemented above: none is forgotten, and both agree."""

import ast
import inspect
import pickle
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest

import linkwork as lw
from linkwork._util import registered
from support.cases import four_bar
from support.modules import MODULES


def declared() -> Iterator[str]:
    """The dotted names of all functions that are decorated with `registered`."""
    for module, path in MODULES.items():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        owners = [
            (module, tree),
            *((f"{module}.{one.name}", one) for one in tree.body if isinstance(one, ast.ClassDef)),
        ]
        for owner, node in owners:
            for one in node.body:
                if isinstance(one, ast.FunctionDef) and "registered" in map(ast.unparse, one.decorator_list):
                    yield f"{owner}.{one.name}"


def found(place: str) -> Any:
    """What a dotted name means."""
    module = next(part for part in ways_up(place) if part in MODULES)
    value: Any = import_module(module)
    for name in filter(None, place.removeprefix(module).split(".")):
        value = inspect.getattr_static(value, name)
    return value


def ways_up(place: str) -> Iterator[str]:
    while place:
        yield place
        place = place.rpartition(".")[0]


def test_each_declaration_is_implemented_and_nothing_else() -> None:
    assert set(declared()) == set(registered.implementations())


@pytest.mark.parametrize("place", sorted(registered.implementations()))
def test_the_implementation_takes_and_returns_what_is_declared(place: str) -> None:
    pytest.importorskip("matplotlib")
    above = inspect.signature(found(registered.implementation(place)))
    below = inspect.signature(found(place))
    own = inspect.isclass(found(place.rpartition(".")[0]))  # whose name may differ: self, result
    taken, given = (list(one.parameters.values()) for one in (above, below))
    count = len(given)
    assert [(one.name, one.kind) for one in taken[own:count]] == [(one.name, one.kind) for one in given[own:]]
    assert all(one.default is not one.empty for one in taken[count:])
    assert below.return_annotation in ("Any", above.return_annotation)


def test_a_forgotten_entry_is_an_error_that_names_it() -> None:
    @registered.registered
    def forgotten(path: str) -> None:
        raise NotImplementedError

    with pytest.raises(NotImplementedError, match=r"nothing implements .*forgotten.*IMPLEMENTS of .*linkwork\.draw"):
        forgotten("x")


def test_methods_look_like_methods_of_the_class() -> None:
    model = lw.compile(four_bar().mechanism)
    assert "draw" in dir(model)
    assert inspect.getdoc(lw.Model.draw).startswith("Draw the mechanism at a state")
    assert list(inspect.signature(model.draw).parameters) == ["path", "state"]
    with pytest.raises(TypeError, match=r"Model\.draw\(\) got an unexpected keyword argument 'color'"):
        model.draw(color="red")
    with pytest.raises(TypeError, match=r"Model\.page\(\) missing 1 required positional argument: 'path'"):
        model.page()


def test_subclasses_and_pickles_keep_them() -> None:
    class Own(lw.Model):
        def draw(self, path: Any = None, state: Any = None) -> Any:
            return "own", super().draw(path, state).svg

    model = lw.compile(four_bar().mechanism)
    assert pickle.loads(pickle.dumps(model)).draw().svg == model.draw().svg
    own = Own(model._compiled)
    assert own.draw() == ("own", model.draw().svg)


def test_nothing_that_draws_is_imported_before_it_is_asked_for() -> None:
    code = "import sys, linkwork; linkwork.Model, linkwork.Result; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    assert not [name for name in loaded if name.startswith(("linkwork.draw", "linkwork.view", "matplotlib"))]
