"""Runs in time: inputs, options, failures, solvers, springs in cut joints."""

import dataclasses
import io
from types import SimpleNamespace

import numpy as np
import pytest

import linkwork as lw
from linkwork import progress
from linkwork.solvers import solver_names
from support.builder import cut_at
from support.cases import four_bar
from support.driving import reached
from support.random_mechanisms import FAMILIES, well_posed


@pytest.fixture(scope="module")
def system():
    case = four_bar()
    case.mechanism.start(q=case.q, u=case.u)
    return lw.compile(case.mechanism)


def pendulum(damping=0.0, gravity=-9.81):
    mech = lw.Mechanism("pendulum", gravity=(0, 0, gravity))
    mech.add_body("rod", mass=1.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(1.0, 1.0))
    mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
    if damping:
        mech.add_force(lw.SpringDamper("A", damping=damping))
    return mech


INERTIA = 1.0 / 12.0 + 0.25  # of the pendulum about its hinge


def turning(joint="A", cut="A", stiffness=0.05):
    """A crank that turns fast, without weight, with a spring in one joint; `cut` closes the loop."""
    case = four_bar()
    mech = cut_at(case.mechanism, cut)
    mech.gravity = (0, 0, 0)
    mech.add_force(lw.SpringDamper(joint, stiffness=stiffness))
    factor = 5.0  # on the speeds of the case
    mech.start(q=case.q, u={name: factor * value for name, value in case.u.items()})
    return mech


# ---- what it takes ----


def test_a_mechanism_and_its_system_give_the_same_bits(system):
    first = lw.simulate(system, 0.3)
    again = lw.simulate(system.mechanism, 0.3)
    assert np.array_equal(first.t, again.t)
    assert np.array_equal(first.y, again.y)


def test_runs_do_not_disturb_each_other(system):
    expected = lw.simulate(system, 0.3)
    lw.simulate(system, 0.2, inputs={"A": 5.0, "D": lambda t: np.sin(t)}, solver="Radau", rtol=1e-4)
    again = lw.simulate(system, 0.3)
    assert np.array_equal(expected.y, again.y)
    assert np.array_equal(expected["coupler.r"], again["coupler.r"])


def test_start_from_a_state(system):
    state = system.assemble(q={"A": 0.4}, u={"A": 1.0})
    result = lw.simulate(system, 0.1, state=state)
    assert np.array_equal(result.y[0], [*state.q, *state.u])
    assert result["D.q"][0] == state["D.q"]


def test_going_on_from_the_end(system):
    whole = lw.simulate(system, 1.0, rtol=1e-10)
    half = lw.simulate(system, 0.5, rtol=1e-10)
    state = system.state(half.y[-1, :3], half.y[-1, 3:])
    rest = lw.simulate(system, 1.0, t_start=0.5, state=state, rtol=1e-10)
    assert rest.t[0] == 0.5
    assert rest.y[-1] == pytest.approx(whole.y[-1], abs=1e-8)


@pytest.mark.parametrize("state", [np.zeros(6), {"A": 1.0}, (np.zeros(3), np.zeros(3))], ids=type)
def test_a_start_that_is_no_state(system, state):
    with pytest.raises(lw.MechanismError, match="state must be a State"):
        lw.simulate(system, 1.0, state=state)


def test_a_state_of_another_system(system):
    other, state = reached(well_posed(FAMILIES["planar_5R"][0], 0))
    with pytest.raises(lw.MechanismError, match="belongs to another system"):
        lw.simulate(system, 1.0, state=state)
    assert len(lw.simulate(other, 0.0, state=state).t) == 1


@pytest.mark.parametrize("solver", ["dopri5", "DOP853", "LSODA"])
def test_output_times(system, solver):
    t = np.array([0.0, 0.05, 0.0501, 0.3])
    result = lw.simulate(system, 0.3, t_eval=t, solver=solver)
    every = lw.simulate(system, 0.3, solver=solver)
    assert np.array_equal(result.t, t)
    assert np.array_equal(result.y[-1], every.y[-1])
    assert result.statistics.steps == every.statistics.steps
    stopped = lw.simulate(system, 0.05, solver=solver)
    assert result.y[1] == pytest.approx(stopped.y[-1], abs=1e-6)


def test_start_time_only_shifts_the_time_of_the_inputs():
    """A load of cos t on a free rod: u(t) = (sin t - sin t_start) / I."""
    mech = pendulum(gravity=0.0)
    result = lw.simulate(mech, 5.0, t_start=2.0, inputs={"A": np.cos}, rtol=1e-10)
    assert (result.t[0], result.t[-1]) == (2.0, 5.0)
    assert result["A.u"] == pytest.approx((np.sin(result.t) - np.sin(2.0)) / INERTIA, abs=1e-8)
    assert np.array_equal(result["time"], result.t)


@pytest.mark.parametrize("solver", solver_names())
def test_backward_in_time_returns_to_the_start(system, solver):
    there = lw.simulate(system, 0.2, solver=solver, rtol=1e-7)
    state = system.state(there.y[-1, :3], there.y[-1, 3:])
    back = lw.simulate(system, 0.0, t_start=0.2, state=state, solver=solver, rtol=1e-7, t_eval=[0.2, 0.1, 0.0])
    assert back.t.tolist() == [0.2, 0.1, 0.0]
    assert back.y[-1] == pytest.approx(there.y[0], abs=1e-4)


def test_no_time_at_all(system):
    result = lw.simulate(system, 0.0)
    assert result.t.tolist() == [0.0]
    assert result["A.q"] == pytest.approx([-0.7])


@pytest.mark.parametrize("solver", solver_names())
def test_systems_without_coordinates(solver):
    mech = lw.Mechanism("welded")
    mech.add_body("block", mass=2.0, com=(0, 0, 0), inertia=np.eye(3))
    mech.add_joint("F", lw.Fixed(), "ground", "block", at=(0, 0, 0))
    result = lw.simulate(mech, 1.0, solver=solver, t_eval=[0.0, 1.0])
    assert result["F.f"] == pytest.approx(np.tile([0.0, 0.0, 2.0 * 9.81], (2, 1)))


# ---- inputs ----


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


@pytest.mark.parametrize("solver", ["dopri5", "DOP853", "Radau", "LSODA"])
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
    """It raises at its hundredth call, and also when asked again for the loads of the rows."""
    calls = []

    def load(t):
        calls.append(t)
        if len(calls) >= 100:
            raise Trouble(f"call {len(calls)}")
        return 0.5

    with pytest.raises(Trouble) as raised:
        lw.simulate(system, 1.0, inputs={"A": load})
    assert str(raised.value) == "call 100"
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
    assert raised.value.result.system is system
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
@pytest.mark.parametrize("solver", ["dopri5", "DOP853", "Radau", "BDF"])
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


@pytest.mark.parametrize(("joint", "hint"), [("E", "known are 'A'"), ("a", "did you mean 'A'"), ("A.tau", "'A'")])
@pytest.mark.parametrize("load", [1.0, np.sin])
def test_inputs_of_unknown_joints(system, joint, hint, load):
    with pytest.raises(lw.MechanismError, match=f"inputs: there is no driven joint '{joint}'.*{hint}"):
        lw.simulate(system, 1.0, inputs={joint: load})


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


# ---- limits and failures ----


@pytest.mark.parametrize("solver", solver_names())
def test_steps_used_up(system, solver):
    with pytest.raises(lw.SolverError, match="max_steps is used up") as raised:
        lw.simulate(system, 100.0, max_steps=20, solver=solver)
    result = raised.value.result
    assert isinstance(result, lw.Result)
    assert 2 <= len(result.t) <= 21
    assert "max_steps" in result.message
    assert result.statistics.steps + (result.statistics.rejected or 0) == 20
    assert "There," not in str(raised.value)  # nothing is wrong with the mechanism


@pytest.mark.parametrize(
    ("name", "hint"),
    [("dopri", "dopri5"), ("radau", "Radau"), ("RK54", "RK45"), ("Lsoda", "LSODA"), ("dop835", "DOP853")],
)
def test_misspelt_solvers(system, name, hint):
    with pytest.raises(lw.SolverError, match=f"no solver '{name}'.*did you mean '{hint}'") as raised:
        lw.simulate(system, 1.0, solver=name)
    assert raised.value.result is None


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"rtol": 0.0}, "rtol = 0"),
        ({"rtol": -1.0}, "rtol = -"),
        ({"rtol": np.nan}, "rtol = nan"),
        ({"atol": 0.0}, "atol = 0"),
        ({"max_step": 0.0}, "max_step = 0"),
        ({"first_step": -1.0}, "first_step = -1"),
        ({"max_steps": 0}, "max_steps = 0"),
        ({"t_eval": [0.0, 2.0]}, "t_eval contains 2"),
        ({"t_eval": [0.5, 0.2]}, "t_eval must be strictly increasing"),
        ({"t_eval": [0.0, np.nan]}, "t_eval must be a vector of finite"),
        ({"t_start": np.inf}, "between finite times"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_options_that_make_no_sense(system, options, text):
    with pytest.raises(lw.SolverError, match=text) as raised:
        lw.simulate(system, 1.0, **options)
    assert "There," not in str(raised.value)


def test_loops_that_cannot_be_closed():
    mech = four_bar().mechanism
    mech.joints["D"] = dataclasses.replace(mech.joints["D"], parent_frame=lw.Frame((5.0, 0, 0)))
    with pytest.raises(lw.AssemblyError, match="'D'"):
        lw.simulate(mech, 1.0)


@pytest.mark.parametrize("solver", ["dopri5", "DOP853"])
def test_a_start_without_a_derivative(solver):
    """Speeds so large that their squares are no numbers."""
    mech = four_bar().mechanism
    mech.start(q=four_bar().q, u={"A": 1e200})
    with pytest.raises(lw.LinkworkError, match=r"'[ABCD]'"):
        lw.simulate(mech, 1.0, solver=solver)


# ---- solvers ----


@pytest.mark.parametrize("solver", solver_names())
def test_all_solvers_agree(system, solver):
    t = np.linspace(0.0, 0.5, 6)
    expected = lw.simulate(system, 0.5, rtol=1e-11, t_eval=t)
    rtol = 1e-5 if solver in ("RK23", "BDF") else 1e-7
    found = lw.simulate(system, 0.5, rtol=rtol, t_eval=t, solver=solver)
    assert found.y == pytest.approx(expected.y, abs=1e3 * rtol)
    assert np.abs(found["loop.D.residual"]).max() < 10 * rtol
    assert found["coupler.r"] == pytest.approx(expected["coupler.r"], abs=100 * rtol)


@pytest.mark.parametrize("solver", ["Radau", "BDF", "LSODA"])
def test_implicit_solvers_use_the_exact_jacobian(monkeypatch, solver):
    """A damper that needs steps of 1e-5 s of an explicit method; no evaluation is spent on differences."""
    mech = pendulum(damping=1e5, gravity=0.0)
    calls = []
    original = lw.System.block_jacobian

    def counting(self, block):
        calls.append(original(self, block))
        return calls[-1]

    monkeypatch.setattr(lw.System, "block_jacobian", counting)
    result = lw.simulate(mech, 1.0, inputs={"A": 1e5}, solver=solver, rtol=1e-6)
    assert len(calls) == result.statistics.jacobian_evaluations > 0
    assert calls[0] == pytest.approx(np.array([[0.0, 1.0], [0.0, -1e5 / INERTIA]]), rel=1e-12)
    assert result["A.u"][-1] == pytest.approx(1.0, rel=1e-3)  # damper against load
    assert result.statistics.steps < 200
    with pytest.raises(lw.SolverError, match="stiff solver"):
        lw.simulate(mech, 1.0, inputs={"A": 1e5}, max_steps=1000)


def test_limits_of_steps(system):
    result = lw.simulate(system, 0.1, max_step=0.004, first_step=0.001, rtol=1e-4)
    steps = np.diff(result.t)
    assert steps.max() <= 0.004 * (1 + 1e-12)
    assert steps[0] == pytest.approx(0.001)


# ---- springs in cut joints ----


@pytest.mark.parametrize("solver", ["dopri5", "DOP853", "Radau"])
@pytest.mark.parametrize("sparse", [False, True])
def test_a_spring_in_a_cut_joint_counts_its_turns(solver, sparse):
    """Wherever the loop is cut, the motion is the same: the spring of the crank winds up over several turns."""
    t_eval = [0.0, 1.5, 3.0] if sparse else None
    results = {cut: lw.simulate(turning(cut=cut), 3.0, rtol=1e-8, solver=solver, t_eval=t_eval) for cut in "AD"}
    last = {cut: [result[f"{joint}.q"][-1] for joint in "ABCD"] for cut, result in results.items()}
    assert abs(last["D"][0]) > 6 * np.pi
    assert last["A"] == pytest.approx(last["D"], abs=2e-4)
    for result in results.values():
        energy = result["energy.kinetic"] + result["energy.potential"]
        assert energy == pytest.approx(np.full(energy.size, energy[0]), rel=1e-5)
        assert result["energy.potential"][-1] == pytest.approx(0.5 * 0.05 * result["A.q"][-1] ** 2)


def test_turns_before_the_start_count():
    """A run that starts where the cut crank has turned three times, by start values or by a state."""
    mechanisms = {cut: turning(cut=cut) for cut in "AD"}
    ends = []
    for cut, mech in mechanisms.items():
        case = four_bar()
        mech.start(q={"A": case.q["A"] - 6 * np.pi})
        system = lw.compile(mech)
        ends.append(lw.simulate(mech, 0.5)["A.q"])
        ends.append(lw.simulate(system, 0.5, state=system.assemble())["A.q"])
        assert ends[-1][0] == pytest.approx(case.q["A"] - 6 * np.pi), cut
    for end in ends:
        assert end[-1] == pytest.approx(ends[0][-1], abs=1e-5)


# ---- progress ----


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def terminal(monkeypatch):
    """A terminal, and a clock on which each look takes 0.15 s."""
    stream, clock = Terminal(), iter(0.15 * k for k in range(10_000_000))
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=stream))
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    return stream


@pytest.mark.parametrize(("solver", "inputs"), [("dopri5", None), ("dopri5", {"A": np.sin}), ("DOP853", None)])
def test_progress_on_a_terminal(system, terminal, solver, inputs):
    lw.simulate(system, 1.0, t_start=0.5, solver=solver, inputs=inputs)
    lines = terminal.getvalue().split("\r")
    shown = [line for line in lines if line.strip()]
    assert len(shown) > 3
    assert all(line.endswith("s of 1 s ") for line in shown)
    parts = [float(line.split("%")[0]) for line in shown]
    assert parts == sorted(parts)
    assert 0.0 < parts[0] < 50.0 < parts[-1] <= 100.0
    assert lines[-1] == ""
    assert lines[-2] == 60 * " "  # wiped at the end


def test_progress_does_not_change_the_result(system, terminal):
    shown = lw.simulate(system, 0.5)
    assert terminal.getvalue()
    silent = lw.simulate(system, 0.5, progress=False)
    assert np.array_equal(shown.y, silent.y)


def test_progress_is_wiped_before_an_error(system, terminal):
    with pytest.raises(lw.SolverError):
        lw.simulate(system, 100.0, max_steps=200)
    assert terminal.getvalue().endswith(60 * " " + "\r")


def test_progress_only_where_it_is_wanted(system, terminal):
    lw.simulate(system, 1.0, progress=False)
    assert terminal.getvalue() == ""


def test_no_progress_into_a_file(system, capsys):
    lw.simulate(system, 1.0)
    assert capsys.readouterr().err == ""
