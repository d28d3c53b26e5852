"""What the functions of a system answer to mistakes, argument by argument."""

import numpy as np
import pytest

import linkwork as lw
from support.cases import four_bar
from support.driving import OF_STATES
from support.small import welded


@pytest.mark.parametrize(
    ("tau", "text"),
    [
        ({"crank": 1.0}, "tau: there is no joint 'crank'"),
        ({"a": 1.0}, "did you mean 'A'|known are 'A'"),
        ({"A": "much"}, "tau of joint 'A' must be a number"),
        ({"A": None}, "tau of joint 'A' must be a number|not finite"),
        ({"D": np.inf}, "tau of joint 'D' is not finite"),
        ([0.0, np.nan, 0.0], "tau of joint 'B' is not finite"),
        ([0.0, 0.0, 0.0, np.nan], "tau of joint 'D' is not finite"),
        (np.zeros(2), r"tau has shape \(2,\)"),
        (1.0, r"tau has shape \(\)"),
        ({"A": np.zeros(3), "B": np.zeros(2)}, "leading dimensions of A .* B"),
    ],
)
def test_wrong_loads(system, state, tau, text):
    with pytest.raises(lw.MechanismError, match=text):
        system.accelerations(state, tau=tau)


def test_a_fixed_joint_takes_no_load():
    system = lw.compile(welded(closed=True))
    with pytest.raises(lw.MechanismError, match="joint 'F' has no coordinates"):
        system.accelerations(system.assemble(), tau={"F": 1.0})


@pytest.mark.parametrize("call", OF_STATES)
@pytest.mark.parametrize(
    ("q", "u", "text"),
    [
        (np.zeros(4), np.zeros(3), "q has shape .* must be 3"),
        (np.zeros(3), np.zeros(2), "u has shape .* must be 3"),
        (0.0, np.zeros(3), "q has shape"),
        (np.zeros(3), None, "give a State, or both arrays"),
        ([0.0, np.nan, 0.0], np.zeros(3), "q of joint 'B' is not finite"),
        (np.zeros((2, 3)), [[0.0, 0.0, 0.0], [0.0, 0.0, -np.inf]], r"u of joint 'C' is not finite, at index \[1, 2\]"),
        (np.zeros((2, 3)), np.zeros((4, 3)), "leading dimensions of q .* u .* do not agree"),
        (["a", "b", "c"], np.zeros(3), "q must be an array of 3 numbers"),
        ([[0.0], [0.0, 1.0]], np.zeros(3), "q must be an array of 3 numbers"),
    ],
)
def test_wrong_states(system, call, q, u, text):
    with pytest.raises(lw.MechanismError, match=text):
        getattr(system, call)(q, u)


def test_loads_without_their_name_are_not_taken_for_speeds(system, state):
    for given in ({"A": 1.0}, np.ones(3)):
        with pytest.raises(lw.MechanismError, match="tau="):
            system.accelerations(state, given)


def test_wrong_accelerations(system, state):
    with pytest.raises(lw.MechanismError, match="udot has shape"):
        system.inverse_dynamics(state, np.zeros(4))
    with pytest.raises(lw.MechanismError, match="udot of joint 'C' is not finite"):
        system.inverse_dynamics(state, [0.0, 0.0, np.nan])


def test_state_takes_one_state(system):
    with pytest.raises(lw.MechanismError, match="one state at a time"):
        system.state(np.zeros((2, 3)), np.zeros((2, 3)))


@pytest.mark.parametrize(
    ("guess", "text"),
    [
        ({"A": [1.0, 2.0]}, "q of joint 'A' has shape"),
        ({"A": "x"}, "q of joint 'A' must be a number"),
        ({"A": np.inf}, "q of joint 'A' is not finite"),
        ({"E": 1.0}, "there is no joint 'E'"),
        ([0.0, 0.0, 0.0], "q must be a dictionary by joint name"),
    ],
)
def test_wrong_start_values(system, guess, text):
    with pytest.raises(lw.MechanismError, match=text):
        system.assemble(q=guess)


@pytest.mark.parametrize("tolerance", [0.0, -1e-8, np.nan, "small"])
def test_wrong_tolerance_of_assembly(system, tolerance):
    with pytest.raises(lw.MechanismError, match="tolerance must be"):
        system.assemble(tolerance=tolerance)


@pytest.mark.parametrize("times", [{"t_end": "1"}, {"t_end": None}, {"t_end": 1.0, "t_start": [0.0]}])
def test_wrong_times(system, times):
    with pytest.raises(lw.MechanismError, match=r"t_(end|start) must be a number"):
        lw.simulate(system, **times)


@pytest.mark.parametrize(
    ("wish", "text"),
    [
        ({"E": "rcr"}, "there is no joint 'E'"),
        ({"A": "rrc"}, "there is no method 'rrc' among"),
        ({"A": "rcr", "B": "embedding"}, "joints 'A' and 'B' are in loops that are solved together"),
        ({"A": "multipliers"}, "'multipliers' takes the whole mechanism"),
    ],
)
def test_wrong_methods_by_joint(wish, text):
    with pytest.raises(lw.MechanismError, match=text):
        lw.compile(four_bar().mechanism, method=wish)


@pytest.mark.parametrize("method", ["RCR", "rrc", "adc", None, 3])
def test_unknown_method(method):
    with pytest.raises(lw.MechanismError, match=r"there is no method .* among auto, rcr"):
        lw.compile(four_bar().mechanism, method=method)


def test_unknown_reference():
    with pytest.raises(lw.MechanismError, match=r"there is no reference 'center' among auto, centroid, joint, origin"):
        lw.compile(four_bar().mechanism, reference="center")


def test_a_reference_that_a_method_does_not_take():
    with pytest.raises(lw.MechanismError, match=r"reference 'centroid' is for method 'multipliers'"):
        lw.compile(four_bar().mechanism, method="rcr", reference="centroid")


def test_an_open_loop_is_named_where_nothing_can_be_computed():
    system = lw.compile(four_bar().mechanism)
    with pytest.raises(lw.SingularityError, match="loop closed by joint 'D' is open by"):
        system.accelerations(np.full(3, 0.3), np.ones(3))
