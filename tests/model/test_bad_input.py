"""Bad input end to end: one exception that names the thing and the remedy."""

import numpy as np
import pytest

import linkwork as lw
from support.cases import four_bar


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("which", ["q", "u"])
def test_state_that_is_not_finite(system, state, which, bad):
    arrays = {"q": state.q.copy(), "u": state.u.copy()}
    arrays[which][1] = bad
    with pytest.raises(lw.LinkworkError, match="B"):
        system.accelerations(arrays["q"], arrays["u"])


def test_load_that_is_not_finite(system, state):
    with pytest.raises(lw.LinkworkError, match="A"):
        system.accelerations(state, tau={"A": np.nan})
    with pytest.raises(lw.LinkworkError, match="B"):
        system.accelerations(state, tau=np.array([0.0, np.nan, 0.0, 0.0]))


@pytest.mark.parametrize("call", ["accelerations", "derivatives", "energy", "loop_residual", "mass_matrix", "jacobian"])
def test_arrays_of_the_wrong_size(system, call):
    with pytest.raises((lw.LinkworkError, ValueError), match=r"3"):
        getattr(system, call)(np.zeros(4), np.zeros(3))


def test_load_of_the_wrong_size(system, state):
    with pytest.raises((lw.LinkworkError, ValueError)):
        system.accelerations(state, tau=np.zeros(2))


def test_unknown_joint_in_loads(system, state):
    with pytest.raises((lw.LinkworkError, KeyError), match="Crank"):
        system.accelerations(state, tau={"Crank": 1.0})


@pytest.mark.parametrize("which", ["q", "u"])
def test_unknown_joint_in_assembly(system, which):
    with pytest.raises((lw.LinkworkError, KeyError), match="AA"):
        system.assemble(**{which: {"AA": 1.0}})


@pytest.mark.parametrize("which", ["q", "u"])
def test_guess_that_is_not_finite(system, which):
    with pytest.raises(lw.LinkworkError, match="A"):
        system.assemble(**{which: {"A": np.nan}})


def test_unknown_name_in_a_state(state):
    with pytest.raises(lw.MechanismError, match=r"crank\.r"):
        state["cranc.r"]


def test_state_of_another_system(state):
    other = lw.Mechanism("other")
    other.add_body("rod", mass=1.0, com=(0.5, 0, 0), inertia=np.eye(3))
    other.add_joint("A", lw.Revolute(axis=(0, 0, 1)), "ground", "rod", parent_frame=lw.Frame())
    with pytest.raises((lw.LinkworkError, ValueError, TypeError)):
        lw.compile(other).accelerations(state)


def test_mechanism_without_bodies():
    with pytest.raises(lw.MechanismError, match="no bodies"):
        lw.compile(lw.Mechanism("empty"))


def test_body_that_hangs_on_nothing():
    mech = four_bar().mechanism
    mech.add_body("stray", mass=1.0, com=(0, 0, 0), inertia=np.eye(3))
    with pytest.raises(lw.MechanismError, match="'stray'"):
        lw.compile(mech)


def test_compile_takes_a_mechanism_only():
    with pytest.raises((lw.LinkworkError, TypeError), match="Mechanism"):
        lw.compile({"bodies": []})


def test_unknown_solver():
    with pytest.raises((lw.LinkworkError, ValueError), match="dopri5"):
        lw.simulate(four_bar().mechanism, 1.0, solver="euler")


@pytest.mark.parametrize("guess", [{"A": [1.0, 2.0]}, {"A": "x"}, [1.0, 2.0, 3.0]], ids=str)
def test_guess_of_the_wrong_form(system, guess):
    with pytest.raises((lw.MechanismError, TypeError)):
        system.assemble(q=guess)


def test_unknown_joint_in_inputs():
    with pytest.raises(lw.MechanismError, match=r"'crank'.*'A'"):
        lw.simulate(four_bar().mechanism, 1.0, inputs={"crank": 1.0})


def test_input_that_stops_being_a_number():
    """Half way through the run; earlier results are kept."""
    with pytest.raises(lw.LinkworkError, match="A"):
        lw.simulate(four_bar().mechanism, 1.0, inputs={"A": lambda t: np.nan if t > 0.5 else 0.0})


def test_time_that_is_not_finite():
    with pytest.raises(lw.SolverError, match="nan"):
        lw.simulate(four_bar().mechanism, np.nan)


def test_no_bad_call_spoils_the_state(system, state):
    """What failed leaves no trace: the next call answers as before."""
    before = system.accelerations(state)
    with pytest.raises(lw.LinkworkError):
        system.accelerations(np.full(3, np.nan), np.zeros(3))
    with pytest.raises(lw.LinkworkError):
        system.assemble(q={"A": np.nan})
    assert np.array_equal(system.accelerations(state), before)
