"""Runs in time: starts, output times, solvers, springs in cut joints."""

import numpy as np
import pytest

import linkwork as lw
from linkwork.solvers import solver_names
from support.cases import four_bar
from support.dae_backends import needs_ida
from support.driving import reached
from support.random_mechanisms import FAMILIES, well_posed
from support.small import PENDULUM_INERTIA, pendulum, spinning_crank


def turning(cut):
    """A crank that turns fast against a spring in its own joint."""
    mech = spinning_crank(cut)
    mech.add_force(lw.SpringDamper("A", stiffness=0.05))
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
    with pytest.raises(lw.MechanismError, match=r"belongs to (another model|mechanism)"):
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
    assert result["A.u"] == pytest.approx((np.sin(result.t) - np.sin(2.0)) / PENDULUM_INERTIA, abs=1e-8)
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
    original = lw.Model.block_jacobian

    def counting(self, block):
        calls.append(original(self, block))
        return calls[-1]

    monkeypatch.setattr(lw.Model, "block_jacobian", counting)
    result = lw.simulate(mech, 1.0, inputs={"A": 1e5}, solver=solver, rtol=1e-6)
    assert len(calls) == result.statistics.jacobian_evaluations > 0
    assert calls[0] == pytest.approx(np.array([[0.0, 1.0], [0.0, -1e5 / PENDULUM_INERTIA]]), rel=1e-12)
    assert result["A.u"][-1] == pytest.approx(1.0, rel=1e-3)  # damper against load
    assert result.statistics.steps < 200
    with pytest.raises(lw.SolverError, match="stiff solver"):
        lw.simulate(mech, 1.0, inputs={"A": 1e5}, solver="dopri5", max_steps=1000)


def test_limits_of_steps(system):
    result = lw.simulate(system, 0.1, max_step=0.004, first_step=0.001, rtol=1e-4)
    steps = np.diff(result.t)
    assert steps.max() <= 0.004 * (1 + 1e-12)
    assert steps[0] == pytest.approx(0.001)


# ---- springs in cut joints ----


@pytest.mark.thin(2, kept=2)
@pytest.mark.parametrize("solver", ["dopri5", "rodas5p", "DOP853", "Radau"])
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


# ---- feedback ----


def test_gains_of_the_feedback(system):
    """The result agrees with the solver's states; an open loop closes at the rate of the gain, or not at all."""
    state = system.assemble()
    opened = system.state(np.add(state.q, [0.0, 1e-5, 0.0]), state.u)
    gaps = {}
    for gain in (0.0, 2.0, (2.0, 5.0)):
        result = lw.simulate(system, 1.0, state=opened, loop_gain=gain, rtol=1e-10)
        gaps[gain] = result["loop.D.residual"][[0, -1]]
        slope = np.gradient(result["A.q"], result.t)
        assert np.abs(slope - result["der(A.q)"])[1:-1].max() < 0.05
    assert gaps[0.0][1] > 0.5 * gaps[0.0][0]
    for gain in (2.0, (2.0, 5.0)):
        assert gaps[gain][1] == pytest.approx(np.exp(-2.0) * gaps[gain][0], rel=0.1)


@pytest.mark.parametrize(
    ("gain", "text"),
    [
        (-1.0, "must not be negative"),
        ((1.0, 2.0, 3.0), "must be 2 numbers"),
        (np.nan, "finite"),
        ("fast", "one number"),
    ],
)
def test_wrong_gains(system, gain, text):
    with pytest.raises(lw.MechanismError, match=f"loop_gain.*{text}"):
        lw.simulate(system, 1.0, loop_gain=gain)


@needs_ida
@pytest.mark.parametrize(
    ("t_end", "options"), [(1.0, {"solver": "ida", "formulation": "ggl"}), (-0.1, {"solver": "dopri5"})]
)
def test_gains_without_effect_are_refused(system, t_end, options):
    with pytest.raises(lw.MechanismError, match=r"loop_gain has no effect: .*leave it out"):
        lw.simulate(system, t_end, loop_gain=1.0, **options)
    result = lw.simulate(system, 0.1 * t_end, loop_gain=0.0, **options)  # that is what it does
    assert result.t[-1] == 0.1 * t_end
