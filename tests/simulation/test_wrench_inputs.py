"""Applied wrenches over time: by element, together, constant and as functions."""

import numpy as np
import pytest

import linkwork as lw
from support.cases import four_bar

FORCE, TORQUE = (3.0, -1.0, 2.0), (0.1, 0.2, -0.3)


@pytest.fixture(scope="module")
def pushed():
    case = four_bar()
    case.mechanism.add_force(lw.Wrench("coupler", point=(0.5, 0, 0), name="push"))
    case.mechanism.add_force(lw.Wrench("rocker", name="pull"))
    case.mechanism.start(q=case.q, u=case.u)
    return lw.compile(case.mechanism)


def run(system, inputs, **options):
    return lw.simulate(system, 0.3, inputs=inputs, rtol=1e-9, **options)


def same(first, second):
    return np.array_equal(first.t, second.t) and np.array_equal(first.y, second.y)


def test_elements_and_functions_are_the_same_wrench(pushed):
    """The same steps to the bit, however it is given."""
    together = run(pushed, {"push.F": FORCE, "push.T": np.array(TORQUE)})
    by_element = {f"push.F[{i + 1}]": value for i, value in enumerate(FORCE)}
    assert same(together, run(pushed, by_element | {"push.T": list(TORQUE)}))
    assert same(together, run(pushed, {"push.F": lambda t: FORCE, "push.T": lambda t: np.array(TORQUE)}))
    assert same(together, run(pushed, by_element | {"push.T": TORQUE, "push.F[2]": lambda t: FORCE[1]}))
    assert not same(together, run(pushed, {"push.F": FORCE}))
    assert not same(together, run(pushed, {"pull.F": FORCE, "pull.T": TORQUE}))


def test_results_hold_the_wrenches(pushed):
    result = run(pushed, {"A": 0.5, "push.F": lambda t: (t, 0.0, 2.0 * t), "pull.T[3]": np.sin, "pull.F[1]": 7.0})
    zero = np.zeros_like(result.t)
    assert np.array_equal(result["push.F"], np.stack([result.t, zero, 2.0 * result.t], axis=1))
    assert np.array_equal(result["pull.T[3]"], np.sin(result.t))
    assert np.array_equal(result["pull.F"][:, 0], 7.0 + zero)
    assert np.array_equal(result["push.T"], np.zeros((len(result.t), 3)))
    assert np.array_equal(result["A.tau"], 0.5 + zero)
    assert {"push.F[1]", "push.T[3]", "pull.F[2]"} <= set(result.names)


def test_a_wrench_does_the_work_of_its_point(pushed):
    """Against a torque in a joint that has the same power: a force across the end of the crank."""
    case = four_bar()
    case.mechanism.add_force(lw.Wrench("crank", point=(0.4, 0, 0), name="push"))
    case.mechanism.start(q=case.q, u=case.u)
    system = lw.compile(case.mechanism)
    driven = run(system, {"A": 0.8}, t_eval=[0.0, 0.1, 0.2, 0.3])
    turned = run(system, {"push.T[2]": 0.8}, t_eval=[0.0, 0.1, 0.2, 0.3])
    for name in ("A.q", "D.q", "coupler.r"):  # the axis of A is y
        assert turned[name] == pytest.approx(driven[name], abs=1e-8)
    assert turned["A.t"][:, 1] == pytest.approx(driven["A.t"][:, 1] - 0.8, abs=1e-7)


@pytest.mark.parametrize(
    ("inputs", "text"),
    [
        ({"push.F[4]": 1.0}, r"there is no driven joint or wrench 'push.F\[4\]'.*did you mean 'push.F\["),
        ({"push": 1.0}, "there is no driven joint or wrench 'push'"),
        ({"poke.F": FORCE}, "there is no driven joint or wrench 'poke.F'"),
        ({"push.F": FORCE, "push.F[2]": 1.0}, r"'push.F' and 'push.F\[2\]' set the same number: give one of them"),
        ({"push.T[1]": 1.0, "push.T": TORQUE}, r"'push.T\[1\]' and 'push.T' set the same number"),
        ({"push.F": 1.0}, "the wrench 'push.F' must be 3 finite numbers or a function of time, not 1.0"),
        ({"push.F": (1.0, 2.0)}, "the wrench 'push.F' must be 3 finite numbers"),
        ({"push.F": (1.0, 2.0, np.nan)}, "the wrench 'push.F' must be 3 finite numbers"),
        ({"push.F": "high"}, "the wrench 'push.F' must be 3 finite numbers"),
        ({"push.F": (1.0, 2.0, 3.0j)}, "the wrench 'push.F' must be 3 finite numbers"),
        ({"push.F[1]": FORCE}, r"the wrench 'push.F\[1\]' must be a finite number"),
        ({"push.F": lambda t: 1.0}, "the wrench 'push.F' at t = 0 s must be 3 numbers, not 1.0"),
        ({"push.F": lambda t: None}, "the wrench 'push.F' at t = 0 s must be 3 numbers, not None"),
        ({"push.F[3]": lambda t: FORCE}, r"the wrench 'push.F\[3\]' at t = 0 s must be a number"),
    ],
    ids=str,
)
def test_wrong_wrenches(pushed, inputs, text):
    with pytest.raises(lw.MechanismError, match=f"inputs: .*{text}"):
        run(pushed, inputs)


def test_wrenches_that_are_not_finite_at_some_time(pushed):
    with pytest.raises(lw.SolverError, match=r"There, applied_force\[3\] of wrench 'push' is not finite") as raised:
        run(pushed, {"push.F": lambda t: (0.0, 0.0, np.nan if t > 0.1 else 0.0)})
    assert 0.0 < raised.value.result.t[-1] <= 0.1
