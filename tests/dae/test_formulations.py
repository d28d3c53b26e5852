"""Formulations asked for through `simulate`: refusals, failures of runs and their partial results."""

import math

import numpy as np
import pytest

import linkwork as lw
from linkwork.simulation.dae.registry import formulation_names
from linkwork.solvers import solver_names
from linkwork.solvers.ida import backend_choice
from support.cases import four_bar
from support.chains import row_of_rods
from support.dae_backends import needs_ida
from support.structures import triangle

pytestmark = needs_ida


@pytest.fixture(scope="module")
def bars():
    case = four_bar()
    case.mechanism.start(q=case.q, u=case.u)
    return lw.compile(case.mechanism)


@pytest.fixture(scope="module")
def rods():
    return lw.compile(row_of_rods(2))


def refusal(error, mechanism, text, t_end=1.0, **options):
    """The one line that a run ends with, and the exception."""
    with pytest.raises(error, match=text) as caught:
        lw.simulate(mechanism, t_end, **({"solver": "ida", "formulation": "ggl"} | options))
    assert len(str(caught.value).splitlines()) == 1
    return caught.value


# ---- names and options


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"formulation": "glg"}, "no formulation 'glg': did you mean 'ggl'"),
        ({"formulation": "Chou"}, "did you mean 'chou'"),
        ({"formulation": ""}, "no formulation ''"),
        ({"scheme": 4}, "scheme goes with formulation='chou', not with 'ggl': leave it out"),
        ({"formulation": "ode", "scheme": 1}, "scheme goes with formulation='chou', not with 'ode'"),
        ({"formulation": "chou", "scheme": 5}, "has schemes 1, 2, 3, 4, not 5"),
        ({"formulation": "chou", "scheme": 0}, "has schemes 1, 2, 3, 4, not 0"),
        ({"formulation": "chou", "scheme": "4"}, "has schemes 1, 2, 3, 4, not '4'"),
    ],
)
def test_names_and_schemes(rods, options, text):
    refusal(lw.MechanismError, rods, text, **options)


@pytest.mark.parametrize("solver", [name for name in solver_names() if name not in ("auto", "ida")])
@pytest.mark.parametrize("formulation", [name for name in formulation_names() if name != "ode"])
def test_other_solvers_do_not_take_them(rods, formulation, solver):
    text = f"formulation '{formulation}'.*solver='{solver}' does not solve: use solver='ida'"
    refusal(lw.MechanismError, rods, text, formulation=formulation, solver=solver)


def with_spring():
    mech = row_of_rods(2)
    mech.add_force(lw.SpringDamper("S2", damping=0.1))
    return mech


def test_what_chou_does_not_have(bars, rods):
    """The first misfit, and what to use instead."""
    refused = {"formulation": "chou"}
    refusal(lw.MechanismError, bars, "joint 'A' is Revolute.*use formulation='ggl'", **refused)
    refusal(lw.MechanismError, with_spring(), "SpringDamper in joint 'S2'.*use formulation='ggl'", **refused)
    loads = {"S2": (0.0, 1.0, 0.0)}
    refusal(lw.MechanismError, rods, "there is one in 'S2'.*use formulation='ggl'", inputs=loads, **refused)


@pytest.mark.parametrize("formulation", ["ode", "ggl", "chou"])
def test_without_a_backend_one_line_says_what_to_install(rods, formulation, monkeypatch):
    """Nor without the library of SUNDIALS, which serves compiled equations."""
    monkeypatch.setattr(backend_choice, "BACKENDS", {"no_such_module": "nowhere:Nothing"})
    monkeypatch.setattr(backend_choice, "find_sundials", lambda: None)
    refusal(
        lw.SolverError,
        rods,
        r"scikit-sundae; .*libsundials-dev.*'linkwork\[dae\]'",
        formulation=formulation,
    )


@pytest.mark.parametrize("formulation", ["ggl", "chou"])
@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"rtol": 0.0}, "rtol = 0"),
        ({"atol": 0.0}, "atol = 0"),
        ({"rtol": math.nan}, "rtol = nan"),
        ({"max_step": 0.0}, "max_step = 0"),
        ({"first_step": -1.0}, "first_step = -1"),
        ({"max_steps": 0}, "max_steps = 0"),
        ({"t_eval": [0.5, 0.2]}, "t_eval must be strictly increasing"),
        ({"t_eval": [0.5, 2.0]}, "t_eval contains 2"),
    ],
)
def test_options_that_make_no_sense(rods, formulation, options, text):
    refusal(lw.SolverError, rods, text, formulation=formulation, **options)


# ---- runs that come to no end


@pytest.mark.parametrize("formulation", ["ggl", "chou"])
@pytest.mark.parametrize("t_eval", [None, np.linspace(0.0, 100.0, 100001)])
def test_steps_used_up(rods, formulation, t_eval):
    error = refusal(
        lw.SolverError, rods, "max_steps is used up", 100.0, formulation=formulation, max_steps=60, t_eval=t_eval
    )
    assert error.result.statistics.steps == 60
    assert error.result.y.shape[1] == 14
    if t_eval is None:
        assert error.result.t.size == 61
    else:
        assert np.array_equal(error.result.t, t_eval[: error.result.t.size])
        assert 1 < error.result.t.size < 100001


@pytest.mark.parametrize("mine", [RuntimeError("mine"), KeyboardInterrupt(), ZeroDivisionError("0")])
def test_what_an_input_raises_arrives_unchanged(bars, mine):
    def load(t):
        if t > 0.5:
            raise mine
        return 0.1

    with pytest.raises(type(mine)) as caught:
        lw.simulate(bars, 1.0, solver="ida", formulation="ggl", inputs={"A": load})
    assert caught.value is mine
    result = caught.value.result
    assert 0.3 < result.t[-1] <= 0.5
    expected = lw.simulate(bars, 0.5, inputs={"A": 0.1}, rtol=1e-11, t_eval=[result.t[-1]])
    assert result.y[-1] == pytest.approx(expected.y[-1], abs=1e-5)
    assert result["A.q"].size == result.t.size


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_an_input_that_is_no_number_any_more(bars, bad):
    """The run ends where the last good step does."""
    error = refusal(lw.LinkworkError, bars, "'A'|domain", inputs={"A": lambda t: 0.1 if t <= 0.5 else bad})
    assert error.result.t[-1] == pytest.approx(0.5, abs=1e-6)
    assert np.isfinite(error.result.y).all()


def test_an_input_that_is_none_from_the_start(bars):
    error = refusal(lw.LinkworkError, bars, "'A'|not finite", inputs={"A": lambda t: math.nan})
    assert "Traceback" not in str(error)


def test_an_input_of_the_wrong_kind(bars):
    refusal(lw.MechanismError, bars, "inputs: the load.*'A'.*must be a number", inputs={"A": lambda t: "much"})


# ---- starts


def test_loops_that_are_open_at_the_start(bars):
    """Positions, or speeds alone."""
    fits = bars.assemble()
    q, u = np.array(fits.q), np.array(fits.u)
    for state in (bars.state(q + 0.01, u), bars.state(q, u + 0.1)):
        text = r"ida stopped at t = 0.*a mechanism can be assembled.*equation \d+ has the largest residual, "
        error = refusal(lw.SolverError, bars, text, state=state)
        assert error.result.t.tolist() == [0.0]
    assert lw.simulate(bars, 0.1, state=fits, solver="ida", formulation="ggl").t[-1] == 0.1


def flat_parallelogram():
    """All bars along x, where its motion branches."""
    mech = lw.Mechanism("flat")
    hinge = lw.Revolute((0, 1, 0))
    for k, length in enumerate((1.0, 2.0, 1.0)):
        mech.add_body(f"b{k}", mass=1.0, com=(length / 2, 0, 0), inertia=lw.inertia.rod(1.0, length, axis="x"))
    mech.add_joint("A", hinge, "ground", "b0", at=(0, 0, 0))
    mech.add_joint("B", hinge, "b0", "b1", parent_frame=lw.Frame((1.0, 0, 0)))
    ends = {"parent_frame": lw.Frame((2.0, 0, 0)), "child_frame": lw.Frame((1.0, 0, 0))}
    mech.add_joint("C", hinge, "b1", "b2", cut=True, **ends)
    mech.add_joint("D", hinge, "ground", "b2", parent_frame=lw.Frame((2.0, 0, 0)))
    return mech


@pytest.mark.parametrize("turned", [0.0, 1e-2])
def test_a_singular_pose_at_the_start(turned):
    """Speeds select the branch for the explicit equations; multipliers would get the wrong rows."""
    system = lw.compile(flat_parallelogram())
    along = ({"A": value, "B": -value, "D": value} for value in (turned, 3.0))
    state = system.assemble(*along)
    exact = lw.simulate(system, 0.5, state=state, rtol=1e-11, t_eval=[0.5])
    if turned == 0.0:
        text = "joint 'C' is in a singular pose.*formulation='ggl'.*start off this pose.*formulation='ode'"
        assert refusal(lw.SingularityError, system, text, state=state).result.t.tolist() == [0.0]
        return
    result = lw.simulate(system, 0.5, state=state, solver="ida", formulation="ggl", t_eval=[0.5])
    assert result.y == pytest.approx(exact.y, abs=1e-5)


@pytest.mark.parametrize("formulation", ["ode", "ggl"])
def test_what_cannot_move(formulation):
    refusal(lw.MechanismError, triangle(), "can move", formulation=formulation)
