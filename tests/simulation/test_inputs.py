"""Loads over time: constants and functions, and functions that fail."""

import numpy as np
import pytest

import linkwork as lw
from linkwork.simulation.segments import SAMPLES
from support.small import pendulum


def test_constant_inputs_and_functions_agree(system):
    loads = {"A": 0.7, "B": -0.3, "D": 1.1}
    constant = lw.simulate(system, 0.4, inputs=loads, rtol=1e-9)
    functions = lw.simulate(system, 0.4, inputs={name: lambda t, v=v: v for name, v in loads.items()}, rtol=1e-9)
    mixed = lw.simulate(system, 0.4, inputs=loads | {"B": lambda t: np.float64(-0.3)}, rtol=1e-9)
    for other in (functions, mixed):  # the same steps to the bit: compiled or not makes no difference
        assert np.array_equal(constant.t, other.t)
        assert np.array_equal(constant.y, other.y)
        assert np.array_equal(constant["D.a"], other["D.a"])
    assert np.array_equal(functions["D.tau"], np.full(functions.t.size, 1.1))
    free = lw.simulate(system, 0.4, rtol=1e-9)
    assert abs(free["A.q"][-1] - constant["A.q"][-1]) > 1e-3


def test_work_of_the_inputs_is_the_change_of_energy(system):
    """Loads in tree and cut joints; the power integrated over dense output."""
    t = np.linspace(0.0, 0.5, 2001)
    inputs = {"A": lambda t: 2.0 * np.sin(9.0 * t), "D": lambda t: -1.0 + t}
    result = lw.simulate(system, 0.5, inputs=inputs, rtol=1e-10, t_eval=t)
    power = sum(result[f"{joint}.tau"] * result[f"{joint}.u"] for joint in inputs)
    energy = result["energy.kinetic"] + result["energy.potential"]
    assert energy[-1] - energy[0] == pytest.approx(np.trapezoid(power, t), rel=1e-5)
    assert result["A.tau"] == pytest.approx(2.0 * np.sin(9.0 * t))


class Trouble(Exception):
    pass


@pytest.mark.parametrize("solver", ["dopri5", "rodas5p", "DOP853", "Radau", "LSODA"])
def test_a_function_that_raises(system, solver):
    """The very object arrives, with the rows until then, and their columns."""
    trouble = Trouble("no load here")

    def load(t):
        if t > 0.2:
            raise trouble
        return 0.5

    with pytest.raises(Trouble) as raised:
        lw.simulate(system, 1.0, inputs={"A": load}, solver=solver, rtol=1e-6)
    assert raised.value is trouble
    result = trouble.result
    assert isinstance(result, lw.Result)
    assert len(result.t) > 3
    assert result.t[-1] <= 0.2
    for name in ("A.q", "D.q", "coupler.r", "A.f", "energy.kinetic", "A.tau"):
        assert np.isfinite(result[name]).all()


def test_a_function_that_remembers(system):
    """It raises at its hundredth call in the run, and also when asked again for the loads of the rows."""
    calls = []

    def load(t):
        calls.append(t)
        if len(calls) >= SAMPLES + 100:  # it is sampled before the run
            raise Trouble(f"call {len(calls)}")
        return 0.5

    with pytest.raises(Trouble) as raised:
        lw.simulate(system, 1.0, inputs={"A": load})
    assert str(raised.value) == f"call {SAMPLES + 100}"
    result = raised.value.result
    assert len(result.t) > 3
    assert np.isfinite(result["A.q"]).all()
    assert np.isnan(result["A.a"]).all()


def test_one_exception_object_in_two_runs(system):
    """Each run leaves its own result on it."""
    trouble = Trouble("always the same")

    def load(t):
        if t > latest:
            raise trouble
        return 0.0

    for latest in (0.3, 0.1):
        with pytest.raises(Trouble):
            lw.simulate(system, 1.0, inputs={"A": load})
        assert latest - 0.05 < trouble.result.t[-1] <= latest


def test_a_run_that_fails_within_a_function(system):
    def load(t):
        if t > 0.1:
            lw.simulate(pendulum(), 100.0, max_steps=5)
        return 0.0

    with pytest.raises(lw.SolverError, match="max_steps") as raised:
        lw.simulate(system, 1.0, inputs={"A": load})
    assert raised.value.result.model is system
    assert raised.value.result.y.shape[1] == 6
    assert 0.05 < raised.value.result.t[-1] <= 0.1


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, lw.SingularityError, lw.MechanismError])
def test_interrupts_and_own_errors_of_functions_pass(system, error):
    def load(t):
        if t > 0.1:
            raise error("from within")
        return 0.0

    with pytest.raises(error) as raised:
        lw.simulate(system, 1.0, inputs={"A": load})
    assert str(raised.value) == "from within"
    assert 0.0 < raised.value.result.t[-1] <= 0.1


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("solver", ["dopri5", "rodas5p", "DOP853", "Radau", "BDF"])
def test_loads_that_are_not_finite(system, solver, bad):
    with pytest.raises(lw.SolverError, match="There, tau of joint 'B' is not finite") as raised:
        lw.simulate(system, 1.0, inputs={"B": lambda t: bad if t > 0.1 else 0.0}, solver=solver, rtol=1e-6)
    assert 0.0 < raised.value.result.t[-1] <= 0.1
    assert np.isfinite(raised.value.result["coupler.r"]).all()


@pytest.mark.parametrize("bad", [None, "high", [1.0, 2.0], 1j], ids=str)
def test_loads_that_are_no_numbers(system, bad):
    with pytest.raises(lw.MechanismError, match=r"load of joint 'C' at t = 0 s must be a number"):
        lw.simulate(system, 1.0, inputs={"C": lambda t: bad})
    with pytest.raises(lw.MechanismError, match=r"joint 'C' must be a finite number or a function"):
        lw.simulate(system, 1.0, inputs={"C": bad})


@pytest.mark.parametrize("bad", [np.nan, -np.inf])
def test_constant_loads_that_are_not_finite(system, bad):
    with pytest.raises(lw.MechanismError, match=r"joint 'C' must be a finite number"):
        lw.simulate(system, 1.0, inputs={"C": bad})


@pytest.mark.parametrize(("joint", "hint"), [("E", "known are 'A'"), ("a", "did you mean 'A'"), ("A.tua", "'A'")])
@pytest.mark.parametrize("load", [1.0, np.sin])
def test_inputs_of_unknown_joints(system, joint, hint, load):
    with pytest.raises(lw.MechanismError, match=f"inputs: there is no driven joint '{joint}'.*{hint}"):
        lw.simulate(system, 1.0, inputs={joint: load})


def test_commands_alone_are_named_among_the_inputs():
    mech = pendulum()
    mech.add_transition("latch", lw.Lock(next(iter(mech.joints))), when=lw.Command())
    with pytest.raises(lw.MechanismError, match="no driven joint or transition's input 'latch': did you mean"):
        lw.simulate(mech, 1.0, inputs={"latch": 1.0})


def test_inputs_of_fixed_joints():
    mech = pendulum()
    mech.add_body("tip", mass=1.0, com=(0, 0, 0), inertia=np.eye(3))
    mech.add_joint("weld", lw.Fixed(), "rod", "tip", parent_frame=lw.Frame((1, 0, 0)))
    with pytest.raises(lw.MechanismError, match="no driven joint 'weld'"):
        lw.simulate(mech, 1.0, inputs={"weld": 1.0})


@pytest.mark.parametrize("inputs", [[1.0], "A", 3.0])
def test_inputs_that_are_no_dictionary(system, inputs):
    with pytest.raises(lw.MechanismError, match="inputs must be a dictionary"):
        lw.simulate(system, 1.0, inputs=inputs)
