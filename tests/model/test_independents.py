"""The choice of independent coordinates, and refusals."""

import numpy as np
import pytest

import linkwork as lw
from linkwork.model.independent_coordinates import choose_independent_coordinates
from support.cases import five_bar_with_three_legs, four_bar, single_window
from support.driving import reached
from support.joint_types import on_carrier
from support.random_mechanisms import FAMILIES, TREES_AND_LOOPS, tree_or_loop


def names(mech, wanted=None, **start):
    if start:
        mech.start(**start)
    system = lw.compile(mech)
    return choose_independent_coordinates(system, None, wanted).names(system)


def test_what_was_given_comes_first():
    case = four_bar()
    for name in ("A", "B", "C"):
        given = {name: case.q[name]} | case.q
        assert names(four_bar().mechanism, q=given) == [f"{name}.q", f"{name}.u"]


def test_what_determines_the_rest_badly_is_passed_over():
    """The rocker near its limit, though given first."""
    reach = 1.4
    crank = -np.arccos((reach**2 + 1.1**2 - 0.8**2) / (2 * reach * 1.1)) + 1e-3
    case = four_bar("C")
    system = lw.compile(case.mechanism)
    state = system.assemble(q={"A": crank, "B": 0.0})
    case.mechanism.start(q={"D": float(state["D.q"]), "A": crank})
    system = lw.compile(case.mechanism)
    state = system.assemble(q={"A": crank, "B": 0.0})
    assert choose_independent_coordinates(system, state).names(system) == ["A.q", "A.u"]


@pytest.mark.parametrize("name", TREES_AND_LOOPS)
def test_there_are_as_many_as_freedoms(name):
    system, state = reached(tree_or_loop(name))
    chosen = choose_independent_coordinates(system, state)
    freedoms = FAMILIES[name][1] if name in FAMILIES else system.numbering.nu
    assert len(chosen.u) == (freedoms or len(chosen.u))
    assert list(chosen.q) == sorted(set(chosen.q))
    assert list(chosen.u) == sorted(set(chosen.u))


def test_joints_of_a_tree_are_all_independent():
    system = lw.compile(on_carrier("spherical"))
    assert choose_independent_coordinates(system).names(system) == [*system.q_names, *system.u_names]


def test_wanted_names():
    case = five_bar_with_three_legs()
    system = lw.compile(case.mechanism)
    first, second = system.numbering.tree[:2]
    state = system.assemble(q=case.q)
    found = choose_independent_coordinates(system, state, [f"{second}.q", first]).names(system)
    assert found == [f"{first}.q", f"{second}.q", f"{first}.u", f"{second}.u"]
    with pytest.raises(lw.MechanismError, match="2 degrees of freedom"):
        choose_independent_coordinates(system, state, [first])


@pytest.mark.parametrize(
    ("wanted", "text"),
    [
        (["Q"], "no coordinate 'Q'"),
        (["A.p"], "did you mean 'A.q'"),
        (["D"], "'D' closes a loop"),
        (["A", "B"], "1 degree of freedom,"),
    ],
)
def test_wrong_names_are_refused(wanted, text):
    system = lw.compile(four_bar().mechanism)
    with pytest.raises(lw.MechanismError, match=text):
        choose_independent_coordinates(system, None, wanted)


def test_a_limit_of_the_motion_is_refused():
    reach = 1.4
    crank = -np.arccos((reach**2 + 1.1**2 - 0.8**2) / (2 * reach * 1.1))
    case = four_bar("C")
    system = lw.compile(case.mechanism)
    state = system.assemble(q={"A": crank, "B": 0.0})
    with pytest.raises(lw.SingularityError, match=r"'D' do not determine the others.*states=\"full\""):
        choose_independent_coordinates(system, state, ["D"])
    assert choose_independent_coordinates(system, state).names(system) != ["D.q", "D.u"]


def test_a_change_point_is_refused():
    """A parallelogram in line may continue as a parallelogram or cross itself."""
    system = lw.compile(single_window().mechanism)
    state = system.state([0.0, 0.0, -np.pi], [-1.0, 1.0, -1.0])
    with pytest.raises(lw.SingularityError, match=r'singular.*states="full"'):
        choose_independent_coordinates(system, state)


@pytest.mark.parametrize(
    "action",
    [lw.Lock("A"), lw.Unlock("A"), lw.Stop("A", upper=3.0), lw.Pin("coupler", "ground", lw.Revolute((0, 1, 0)))],
)
def test_changing_freedoms_are_refused(action):
    mech = four_bar().mechanism
    if isinstance(action, lw.Unlock):
        mech.add_transition("before", lw.Lock("A"), when=lw.Time(0.1))
    mech.add_transition("latch", action, **({} if isinstance(action, lw.Stop) else {"when": lw.Time(0.5)}))
    with pytest.raises(lw.MechanismError, match=r'changes the degrees of freedom.*states="full"'):
        lw.linearize(mech)
    assert lw.linearize(mech, states="full").A.shape == (6, 6)
