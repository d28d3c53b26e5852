"""Runs as they are written, and those that suit a mechanism."""

from dataclasses import replace

import numpy as np
import pytest

import linkwork as lw
from linkwork.comparison import ComparisonRun
from linkwork.comparison.runs import default_runs, parse_runs
from support.cases import four_bar
from support.small import pendulum


@pytest.mark.parametrize(
    ("text", "formulation", "solver"),
    [
        ("rcr/dopri5", "rcr", "dopri5"),
        (" embedding / DOP853 ", "embedding", "DOP853"),
        ("Radau", "auto", "Radau"),
        ("ida", "auto", "ida"),
        ("rcr/ida", "rcr", "ida"),
        ("chou3/ida", "chou3", "ida"),
    ],
)
def test_a_run_is_read(text, formulation, solver):
    run = ComparisonRun.parse(text)
    assert run == ComparisonRun(formulation, solver)
    assert ComparisonRun.parse(str(run)) == run


def test_what_simulate_is_told():
    assert ComparisonRun.parse("dca/RK45").keywords == {"solver": "RK45"}
    assert ComparisonRun.parse("dca/RK45").method == "dca"
    assert ComparisonRun.parse("ggl/ida").keywords == {"solver": "ida", "formulation": "ggl"}
    chou = ComparisonRun.parse("chou2/ida")
    assert (chou.method, chou.keywords) == ("auto", {"solver": "ida", "formulation": "chou", "scheme": 2})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("rcr/dopri", "'rcr/dopri': there is no solver 'dopri': did you mean 'dopri5'"),
        ("embeding/DOP853", "there is no formulation 'embeding': did you mean 'embedding'"),
        ("euler", "there is no solver 'euler': known are 'auto', 'dopri5'"),
        ("chou5/ida", "did you mean 'chou"),
        ("rcr", "names no solver: write 'rcr/dopri5'"),
        ("ggl", "names no solver: write 'ggl/ida'"),
        ("ggl/dopri5", "write 'ggl/ida'"),
        ("rcr/dopri5/1", "is not understood"),
        ("/dopri5", "is not understood"),
        ("", "is not understood"),
        (7, "must be a text, not 7"),
    ],
)
def test_a_wrong_run_is_named(text, said):
    with pytest.raises(lw.MechanismError) as error:
        ComparisonRun.parse(text)
    assert said in str(error.value)


def test_each_run_counts_once():
    mech = pendulum()
    assert parse_runs("Radau", mech) == [ComparisonRun("auto", "Radau")]
    runs = parse_runs(["dopri5", ComparisonRun("auto", "dopri5"), "dca/dopri5", "auto/dopri5"], mech)
    assert list(map(str, runs)) == ["auto/dopri5", "dca/dopri5"]


@pytest.mark.parametrize("given", [[], 3, {"rcr/dopri5"}])
def test_runs_are_a_list(given):
    with pytest.raises(lw.MechanismError, match="runs must be a list of at least one run"):
        parse_runs(given, pendulum())


def test_runs_that_suit(monkeypatch):
    monkeypatch.setattr("linkwork.comparison.runs.ida_is_available", lambda: False)
    assert list(map(str, default_runs(pendulum()))) == ["auto/dopri5", "dca/dopri5", "auto/DOP853", "auto/Radau"]
    methods = ["rcr", "embedding", "multipliers", "dca"]
    expected = [*(f"{method}/dopri5" for method in methods), "rcr/DOP853", "rcr/Radau"]
    assert list(map(str, default_runs(four_bar().mechanism))) == expected


def test_ida_is_among_them_where_it_is(monkeypatch):
    monkeypatch.setattr("linkwork.comparison.runs.ida_is_available", lambda: True)
    assert str(default_runs(pendulum())[-1]) == "ggl/ida"


def test_a_method_that_cannot_take_it_is_left_out():
    mech = four_bar().mechanism
    mech.bodies["coupler"] = replace(mech.bodies["coupler"], mass=0.0, inertia=np.zeros((3, 3)))
    assert "dca/dopri5" not in map(str, default_runs(mech))
