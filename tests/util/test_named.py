"""What is found by name behaves as a dictionary does: `in`, loops, `keys`, `dict`; `len` is that of rows in a table."""

import importlib
from collections.abc import Mapping, Sequence

import numpy as np
import pytest

import linkwork as lw
from linkwork._util.named import Named, NamedColumns
from linkwork.simulation.running_state import RunningState
from support.checkout import TOP
from support.linkages import slider_crank

pd = pytest.importorskip("pandas")

CRANK = {"A": -0.8}


def mechanism() -> lw.Mechanism:
    mech = slider_crank(0.1, 0.3, 0.0, CRANK)
    mech.add_force(lw.SpringDamper("S", stiffness=100.0, damping=1.0))
    return mech


def design() -> lw.Design:
    length = {"C.parent_frame.position[1]": (0.2, 0.4)}
    return lw.design(mechanism(), length, lambda of: of["S.q"] - 0.4, of=["S.q"], q=CRANK)


def jacobian() -> lw.ParameterJacobian:
    return lw.parameter_jacobian(mechanism(), ["rod.mass", "crank.mass"], of=["energy.kinetic", "S.a"])


def identification() -> lw.Identification:
    result = lw.simulate(mechanism(), 1.0, inputs={"A": lambda t: np.sin(9.0 * t)})
    return lw.identify(mechanism(), result, ["rod.mass"], motors=["A"])


def running() -> RunningState:
    """A state as a load sees it; it is looked at while it serves the call."""
    seen = []

    def load(t: float, state: RunningState) -> float:
        if not seen:
            assert "A.a" not in state
            assert "A.q" in state
            assert "crank.mass" in state
            assert len(list(state)) == len(state) == len(dict(state))
            assert dict(state)["crank.r[1]"] == state["crank.r"][0]
            seen.append(dict(state))
        return 0.0

    lw.simulate(mechanism(), 0.01, inputs={"A": load})
    assert seen
    return seen[0]


MADE = {
    "state": lambda: lw.compile(mechanism()).assemble(),
    "equilibrium": lambda: lw.equilibrium(mechanism()),
    "design": design,
    "identification": identification,
    "parameter Jacobian": jacobian,
    "result": lambda: lw.simulate(mechanism(), 0.1),
    "kinematics": lambda: lw.kinematics(mechanism(), "A.q", -0.8, 0.5, rows=5),
    "inverse kinematics": lambda: lw.inverse_kinematics(mechanism(), {"S.q": 0.35}),
    "workspace": lambda: lw.workspace(mechanism(), over={"A.q": (-0.8, 0.5)}, of="S.q", by="A", points=4),
    "study": lambda: lw.study(mechanism(), 0.05, {"crank.mass": [1.0, 2.0]}, columns="A.q", workers=1),
}


@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
def test_as_a_dictionary(make):
    one = make()
    names = list(one)
    assert names == one.keys() == [*one.names]
    assert names
    assert len(set(names)) == len(names)
    assert all(name in one for name in names)
    assert "no such name" not in one
    assert 3 not in one
    assert [] not in one
    with pytest.raises(KeyError):
        one["no such name" if isinstance(names[0], str) else ("no", "such name")]
    assert isinstance(one, NamedColumns) or len(one) == len(names)
    by_name = dict(one)
    assert list(by_name) == names
    for name in names:
        np.testing.assert_array_equal(by_name[name], one[name])


@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
def test_no_array_of_names(make):
    """An array of the names would be taken for the values."""
    one = make()
    for convert in (np.asarray, pd.DataFrame):
        with pytest.raises(TypeError, match=r"no array.*\[name\].*dict\(\)"):
            convert(one)


def test_other_names_of_the_same_numbers():
    state = lw.compile(mechanism()).assemble()
    assert "crank.r" in state  # of which a loop gives the elements
    assert "crank.r" not in list(state)
    assert "crank.mass" in state  # a parameter
    assert "crank.mass" not in list(state)
    assert list(state) == list(lw.simulate(mechanism(), 0.01))


def test_a_state_of_a_run():
    running()


NOT_BY_NAME = {
    "linkwork.core.native.Block": "fields of the core",
    "linkwork.controllers.controller.Controller": "variables of a controller, for its own methods",
    "linkwork.analysis.measured_motion.Columns": "columns that are read, inside",
    "linkwork.cosim.sweep.sampling.Points": "by number",
    "linkwork.analysis.closure_redundancy.RedundantConstraints": "by number",
}


def test_every_class_that_gives_items_is_of_a_kind():
    """A dictionary, a sequence, or named; a class that is neither says why in the list above."""
    strangers = set()
    for path in (TOP / "linkwork").rglob("*.py"):
        if "def __getitem__" not in path.read_text(encoding="utf-8"):
            continue
        module = ".".join(path.relative_to(TOP).with_suffix("").parts)
        for one in vars(importlib.import_module(module)).values():
            if isinstance(one, type) and one.__module__ == module and "__getitem__" in vars(one):
                strangers |= set() if issubclass(one, Named | Mapping | Sequence) else {f"{module}.{one.__name__}"}
    assert strangers == NOT_BY_NAME.keys()
