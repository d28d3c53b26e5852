"""Runs of the rows of a batch: each is what `simulate` gives for its state alone, with events and transitions."""

import numpy as np
import pytest

import linkwork as lw
from support.cases import four_bar
from support.joint_types import LOOPS
from support.random_mechanisms import tree_or_loop

TIMES = [0.1, 0.25, 0.4]


def bouncing():
    """A ball that falls on a floor, with restitution; and a latch at a height that fast ones reach."""
    mech = lw.Mechanism("ball")
    mech.add_body("ball", mass=1.0, com=(0, 0, 0), inertia=lw.inertia.sphere(1.0, 0.1))
    mech.add_joint("S", lw.Prismatic((0, 0, 1)), "ground", "ball", at=(0, 0, 0))
    mech.add_transition("floor", lw.Stop("S", lower=0.0, restitution=0.5))
    mech.add_transition("latch", lw.Lock("S"), when=lw.Crossing("S.q", 1.5))
    mech.start(q={"S": 1.0})
    return lw.compile(mech)


def rows_of(model, rows, threads=2, seed=0):
    rng = np.random.default_rng(seed)
    batch = model.batch(rows, threads=threads)
    batch.u += 0.3 * rng.normal(size=batch.u.shape)
    batch.assemble()
    batch.tau[:, : model.sizes.nu] = 0.1 * rng.normal(size=batch.u.shape)
    return batch


def inputs_of(batch, row):
    return {
        joint: batch.tau[row, span] if span.stop - span.start > 1 else float(batch.tau[row, span.start])
        for joint, span in batch.model.numbering.u.items()
        if joint in batch.model.numbering.tree and span.stop > span.start
    }


@pytest.mark.parametrize("solver", ["auto", "rodas5p"])
@pytest.mark.parametrize("name", ["planar_4R_springs", "spatial_7R", "moving_slider_crank", "loop_on_loop", "tree2"])
def test_each_row_is_a_simulation(name, solver):
    model = lw.compile(tree_or_loop(name).mechanism)
    batch, same = rows_of(model, 12), rows_of(model, 12, threads=1)
    states = batch.simulate(0.4, t_eval=TIMES, solver=solver, rtol=1e-7)
    assert states.shape == (12, 3, model.numbering.n_states)
    assert batch.errors == {}
    for row in (0, 5, 11):
        given = {"t_eval": TIMES, "solver": solver, "rtol": 1e-7, "inputs": inputs_of(same, row)}
        alone = lw.simulate(model, 0.4, same.state(row), **given)
        assert np.array_equal(states[row], alone.y)
        end = alone.final_state
        assert np.array_equal(batch.q[row], end.q)
        assert np.array_equal(batch.u[row], end.u)
        assert np.array_equal(batch.q_cut[row], end.q.cut)
        assert batch.time[row] == 0.4
    assert np.array_equal(same.simulate(0.4, t_eval=TIMES, solver=solver, rtol=1e-7), states)


def test_runs_follow_the_motion():
    model = lw.compile(four_bar().mechanism)
    start = model.assemble(q={"A": 0.3}, u={"A": 3.0})
    run, stepped = model.batch(2, start), model.batch(2, start)
    states = run.simulate(0.5, rtol=1e-10)
    stepped.rollout(0.5 / 2000, 2000)
    assert states.shape == (2, 1, model.numbering.n_states)
    assert run.q == pytest.approx(stepped.q, abs=1e-8)


def test_bounces_in_closed_form():
    model = bouncing()
    batch = model.batch(5, threads=2)
    batch.u[:, 0] = speeds = np.array([-1.0, 0.0, 1.0, 2.0, 5.0])
    times = np.linspace(0.05, 0.7, 14)
    states = batch.simulate(0.7, t_eval=times)
    assert batch.errors == {}
    for row, u in enumerate(speeds[:4]):
        landing = (u + np.sqrt(u**2 + 2 * 9.81)) / 9.81
        rebound = 0.5 * (9.81 * landing - u)
        later = times - landing
        fall = 1.0 + u * times - 9.81 / 2 * times**2
        expected = np.where(later < 0, fall, rebound * later - 9.81 / 2 * later**2)
        seen = later < 2 * rebound / 9.81
        assert states[row, seen, 0] == pytest.approx(expected[seen], abs=1e-7)
    assert states[4, -1] == pytest.approx([1.5, 0.0], abs=1e-9)


def test_rows_keep_what_transitions_have_changed():
    model = bouncing()
    batch, same = model.batch(5, threads=2), model.batch(5, threads=1)
    for one in (batch, same):
        one.u[:, 0] = -1.0, 0.0, 1.0, 2.0, 5.0
    batch.simulate(0.7)
    udot, lost = batch.accelerations(), batch.value("energy.lost")
    assert udot[4, 0] == 0.0
    assert udot[:4, 0] == pytest.approx(-9.81)
    for row in range(5):
        end = lw.simulate(model, 0.7, same.state(row), t_eval=[0.7]).final_state
        assert lost[row] == end["energy.lost"]
        assert np.array_equal(batch.state(row).discrete_state, end.discrete_state)
    assert lost[4] > 0.0
    states = batch.simulate(1.0)
    for row in range(5):
        whole = lw.simulate(model, 1.0, same.state(row), t_eval=[0.7, 1.0])
        assert states[row, -1] == pytest.approx(whole.y[-1], abs=1e-6)


def test_parameters_of_rows():
    model = lw.compile(four_bar().mechanism)
    start = model.assemble(q={"A": 0.3}, u={"A": 3.0})
    mass, com = np.linspace(0.5, 2.0, 6), np.random.default_rng(0).normal(size=(6, 3))
    com[:, 1] = 0.0
    batch = model.batch(6, start)
    batch.put({"coupler.mass": mass, "coupler.com": com})
    states = batch.simulate(0.4, t_eval=TIMES)
    for row in range(6):
        parameters = {"coupler.mass": mass[row], "coupler.com": com[row]}
        assert np.array_equal(states[row], lw.simulate(model, 0.4, start, parameters=parameters, t_eval=TIMES).y)


def test_elements_wrenches_and_motions():
    mech = four_bar().mechanism
    mech.prescribe("A", "a*sin(w*time)", parameters={"a": (0.2, "rad"), "w": 3.0})
    mech.add_force(lw.Wrench("coupler", name="push"))
    mech.add_state("lag", "w*(A.q - lag)", unit="rad", parameters={"w": 2.0})
    model = lw.compile(mech)
    batch = model.batch(3)
    batch.elements[:, 0] = 0.0, 0.1, 0.2
    batch.put({"push.F": np.arange(9.0).reshape(3, 3)})
    states = batch.simulate(0.4, t_eval=TIMES)
    for row in range(3):
        start = model.batch(3)
        start.elements[:, 0] = 0.0, 0.1, 0.2
        alone = lw.simulate(
            model, 0.4, start.state(row), inputs={"push.F": np.arange(9.0)[3 * row :][:3]}, t_eval=TIMES
        )
        assert np.array_equal(states[row], alone.y)


def test_cut_joints_of_several_speeds():
    make, cut = LOOPS[0]
    model = lw.compile(make(cut))
    batch = model.batch(2)
    batch.simulate(0.1)
    end = lw.simulate(model, 0.1, model.batch(1).state(0), t_eval=[0.1]).final_state
    assert np.array_equal(batch.q_cut[1], end.q.cut)
    assert np.array_equal(batch.state(1).q.cut, end.q.cut)


def test_rows_that_fail_are_nan_from_there():
    mech = four_bar().mechanism
    mech.add_force(
        lw.Force("A", "table(time)", tables={"table": lw.LookupTable([0.0, 0.2], [0.0, 1.0], outside="error")})
    )
    model = lw.compile(mech)
    start = model.assemble(q={"A": 0.3}, u={"A": 3.0})
    batch = model.batch(4, start, threads=2)
    batch.u[2] = np.nan
    states = batch.simulate(0.4, t_eval=TIMES)
    assert sorted(batch.errors) == [0, 1, 2, 3]
    assert all(isinstance(error, lw.LinkworkError) for error in batch.errors.values())
    assert np.isfinite(states[[0, 1, 3], 0]).all()
    assert np.isnan(states[[0, 1, 3], 1:]).all()
    assert np.isnan(states[2]).all()
    assert np.isnan(batch.q).all()


def test_one_row_that_fails_leaves_the_others():
    model = lw.compile(four_bar().mechanism)
    start = model.assemble(q={"A": 0.3}, u={"A": 3.0})
    batch = model.batch(8, start, threads=2)
    batch.tau[5, 0] = 1e300
    states = batch.simulate(0.4, t_eval=TIMES)
    assert list(batch.errors) == [5]
    alone = lw.simulate(model, 0.4, start, t_eval=TIMES).y
    assert all(np.array_equal(states[row], alone) for row in range(8) if row != 5)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda b: b.simulate("1"), lw.MechanismError, "t_end must be a number, s, not '1'"),
        (lambda b: b.simulate(1.0, rtol=-1.0), lw.SolverValueError, "rtol"),
        (lambda b: b.simulate(1.0, solver="dopri"), lw.errors.UnknownNameError, "there is no solver 'dopri'"),
        (lambda b: b.simulate(1.0, t_eval=[2.0]), lw.SolverValueError, "t_eval contains 2"),
        (lambda b: b.simulate(1.0, tau=2), TypeError, "simulate has no argument 'tau'"),
        (lambda b: b.state(3), lw.MechanismError, "there is no row 3: the batch has 3, from 0 on"),
        (lambda b: b.state(-1), lw.MechanismError, "row must be a whole number of at least 0"),
    ],
)
def test_bad_input(call, error, message):
    with pytest.raises(error) as found:
        call(lw.compile(four_bar().mechanism).batch(3))
    assert message in str(found.value)


def test_rates_of_motions_are_an_error_of_the_row():
    mech = four_bar().mechanism
    mech.prescribe("A", "p", parameters={"p": (0.5, "rad")})
    model = lw.compile(mech)
    batch = model.batch(2)
    drive = next(iter(model.numbering.motions.values()))
    batch.inputs[1, model.numbering.n_loads + drive.start + 1] = 0.5
    batch.simulate(0.1)
    assert list(batch.errors) == [1]
    assert "has rates; inputs are constant in a run" in str(batch.errors[1])
