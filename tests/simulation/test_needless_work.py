"""What a run does not ask for is not computed."""

import pytest

import linkwork as lw
from linkwork.model import structure
from linkwork.simulation.running_state import RunningState
from support.cases import four_bar


def test_a_run_lists_no_variables(monkeypatch):
    """Neither does its assembly, though three start values are given of which one suffices."""
    mech = four_bar().mechanism
    monkeypatch.setattr(structure, "list_variables", None)
    model = lw.compile(mech)
    with pytest.warns(lw.StartValueWarning, match=r"C\.q = 0\.1 rad was asked"):
        changed = model.assemble(q={"A": 0.1, "B": 0.1, "C": 0.1}).changed_start_values
    assert [(one.name, one.unit) for one in changed] == [("B.q", "rad"), ("C.q", "rad")]
    assert lw.simulate(model, 0.01).t[-1] == 0.01


def test_a_running_state_lists_variables_when_one_is_asked_for(monkeypatch):
    model = lw.compile(four_bar().mechanism)
    state = RunningState(model, model.block())
    assert "variables" not in model.__dict__
    assert state["A.q"] == 0.0
    assert "variables" in model.__dict__


def test_fields_are_those_of_the_model():
    """Each in the place that the names of the core give it, whatever was asked for before."""
    model = lw.compile(four_bar().mechanism)
    fields = list(model.fields.values())
    assert [one.first for one in fields[1:]] == [one.span.stop for one in fields[:-1]]
    assert fields[-1].span.stop == model.sizes.reals
    assert model.fields.keys() >= {"q", "u", "acceleration"}
    assert "nothing" not in model.fields
    assert model.fields.get("nothing") is None
