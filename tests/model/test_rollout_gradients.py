"""Gradients through steps of fixed size, compared with sensitivities carried forward and with differences."""

import numpy as np
import pytest

import linkwork as lw
from support.cases import four_bar
from support.differences import LIMIT, slope
from support.joint_types import skater
from support.rolled import CASES, forward

STEP, STEPS, EVERY = 1e-3, 100, 20


def start_of(model, time=0.1):
    return model.assemble(time=time)


def batch_of(model, rows=2, seed=0, threads=1):
    """Rows at the start with any speeds that the constraints allow."""
    rng = np.random.default_rng(seed)
    made = model.batch(rows, start_of(model), threads)
    made.u += rng.normal(size=made.u.shape)
    made.elements += 0.1 * rng.normal(size=made.elements.shape)
    assert made.assemble().all()
    return made


def random_loads(batch, rng, steps):
    return 0.1 * rng.normal(size=(len(batch), steps, batch.tau.shape[1]))


@pytest.mark.parametrize("name", CASES)
def test_gradients_are_those_of_sensitivities_carried_forward(name):
    case = CASES[name]
    model, rng = lw.compile(case.make()), np.random.default_rng(1)
    batch = batch_of(model)
    loads, starts = random_loads(batch, rng, STEPS), batch.columns["states"].copy()
    run = batch.differentiable_rollout(STEP, STEPS, loads, every=EVERY)
    weights = rng.normal(size=run.states.shape)
    found = run.gradient(weights, case.parameters)
    assert run.errors == {}
    for row in range(len(batch)):
        states, slopes = forward(model, start_of(model), starts[row], loads[row], STEP, case.parameters)
        assert run.states[row] == pytest.approx(states[::EVERY], abs=1e-11)
        expected = np.einsum("kn,knm->m", weights[row], slopes[::EVERY])
        parts = np.split(expected, np.cumsum([starts.shape[1], loads[row].size]))
        own = [np.ravel(found.parameters[one][row]) for one in case.parameters]
        got = found.start[row], found.loads[row].ravel(), np.concatenate([np.empty(0), *own])
        for one, other in zip(got, parts, strict=True):
            assert np.abs(one - other).max(initial=0.0) < 1e-9 * max(1.0, np.abs(other).max(initial=0.0))
        assert np.abs(parts[0]).max() > 0.1


@pytest.mark.parametrize("name", ["four_bar", "motor", "driven", "moving"])
def test_gradients_are_those_of_differences(name):
    case = CASES[name]
    model, rng = lw.compile(case.make()), np.random.default_rng(2)
    batch = batch_of(model, 1)
    given = {key: values.copy() for key, values in batch.columns.items()}
    weights = rng.normal(size=(1, 1 + STEPS // EVERY, batch.columns["states"].shape[1]))
    parameter = case.parameters[0]
    value = np.atleast_1d(model.value(parameter, start_of(model)))
    columns = batch.columns["states"].shape[1], batch.tau.shape[1]
    along = rng.normal(size=columns[0]), rng.normal(size=columns[1]), 0.1 * rng.normal(size=value.size)
    along[0][: model.sizes.nq] = 0.0  # loops stay closed

    def weighted(steps):
        moved = model.batch(1, start_of(model))
        for key in ("q", "u", "elements", "tau"):
            moved.columns[key][:] = given[key]
        moved.columns["states"][:] += steps[0] * along[0]
        moved.tau += steps[1] * along[1]
        moved.put({parameter: (value + steps[2] * along[2])[None]})
        return (moved.rollout(STEP, STEPS, every=EVERY) * weights).sum()

    found = batch.differentiable_rollout(STEP, STEPS, every=EVERY).gradient(weights, [parameter])
    expected = (
        found.start[0] @ along[0],
        found.loads[0].sum(axis=0) @ along[1],
        np.ravel(found.parameters[parameter][0]) @ along[2],
    )
    for k, one in enumerate(expected):
        by_difference = slope(lambda h, k=k: weighted([h * (k == i) for i in range(3)]))
        assert one == pytest.approx(by_difference, rel=LIMIT, abs=LIMIT)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize(("steps", "every"), [(7, 3), (450, 450), (45, 1)])
def test_states_are_those_of_rollout_to_the_bit(name, steps, every):
    model = lw.compile(CASES[name].make())
    for of_each_step in (False, True):
        batch, other = batch_of(model), batch_of(model)
        loads = random_loads(batch, np.random.default_rng(3), steps)
        if of_each_step:
            left = iter(range(steps))

            def tau(_, rows, loads=loads, left=left):
                rows.tau = loads[:, next(left)]
                return rows.tau[:, : model.numbering.nu_all]

            wrenches = slice(model.numbering.nu_all, None)
            loads[..., wrenches] = 0.0
            expected = other.rollout(STEP, steps, tau, every=every)
            run = batch.differentiable_rollout(STEP, steps, loads, every=every)
        else:
            batch.tau = other.tau = loads[:, 0]
            expected = other.rollout(STEP, steps, every=every)
            run = batch.differentiable_rollout(STEP, steps, every=every)
        assert np.array_equal(run.states, expected)
        for column in ("states", "time", "q_cut", "tau"):
            assert np.array_equal(batch.columns[column], other.columns[column])
        assert len(run) == len(batch)


@pytest.mark.parametrize("name", CASES)
def test_steps_that_are_taken_again_have_the_same_bits(name):
    model = lw.compile(CASES[name].make())
    batch = batch_of(model)
    run = batch.differentiable_rollout(STEP, 90, random_loads(batch, np.random.default_rng(3), 90), every=7)
    assert len(run._checkpoints) == 9
    for number, at in enumerate(run._checkpoints[1:]):
        run._batch._given[:] = run._checkpoints[number]
        stages = []
        assert max(done for done, _ in run._take(number * 10, {}, stages)) == 10 * (number + 1)
        assert np.array_equal(run._batch._given, at)
        assert sum(one.shape[1] for one in stages) == 10


def test_gradients_may_be_asked_for_again():
    model = lw.compile(four_bar().mechanism)
    batch = batch_of(model, 3)
    run = batch.differentiable_rollout(STEP, 30, every=10)
    weights = np.random.default_rng(0).normal(size=run.states.shape)
    first = run.gradient(weights, ["coupler.mass"])
    batch.u += 1.0  # of the batch alone
    batch.put({"coupler.mass": np.full(3, 7.0)})
    again = run.gradient(2.0 * weights, ["coupler.mass", "A.tau"])
    assert again.start == pytest.approx(2.0 * first.start, rel=1e-12)
    assert again.parameters["coupler.mass"] == pytest.approx(2.0 * first.parameters["coupler.mass"], rel=1e-12)
    assert again.parameters["A.tau"] == pytest.approx(again.loads[..., 0].sum(axis=1), rel=1e-12)
    assert run.gradient(0.0).start == pytest.approx(0.0)
    at_start = run.gradient(np.eye(4)[0][:, None])  # of the states at the start alone
    assert np.array_equal(at_start.start, np.ones((3, 6)))
    assert repr(run) == "Rollout('four_bar_of_record': 3 rows, 30 steps of 0.001 s, 5 checkpoints)"


def test_each_row_has_its_parameters_and_threads_change_nothing():
    model, rng = lw.compile(four_bar().mechanism), np.random.default_rng(4)
    mass = rng.uniform(0.5, 2.0, 600)
    found = []
    for threads in (1, 2):
        batch = batch_of(model, 600, threads=threads)
        batch.put({"coupler.mass": mass})
        run = batch.differentiable_rollout(STEP, 20, every=20)
        weights = np.sin(np.arange(run.states.size)).reshape(run.states.shape)
        found.append(run.gradient(weights, ["coupler.mass", "crank.mass"]))
    one, two = found
    assert one.start == pytest.approx(two.start, rel=1e-11, abs=1e-11)
    for row in (0, 300, 599):
        own = model.with_parameters({"coupler.mass": mass[row]})
        alone = own.batch(1)
        alone.q[:], alone.u[:] = batch_of(model, 600).q[row], batch_of(model, 600).u[row]
        expected = alone.differentiable_rollout(STEP, 20, every=20).gradient(
            weights[row : row + 1], ["coupler.mass", "crank.mass"]
        )
        assert one.start[row] == pytest.approx(expected.start[0], rel=1e-10, abs=1e-10)
        for name, values in expected.parameters.items():
            assert one.parameters[name][row] == pytest.approx(values[0], rel=1e-10, abs=1e-10)


def test_a_row_that_fails_leaves_the_others():
    model = lw.compile(four_bar().mechanism)
    start = model.assemble(q={"A": 0.3}, u={"A": 3.0})
    batch = model.batch(4, start)
    batch.tau[2, 0] = 1e300
    run = batch.differentiable_rollout(1e-3, 20)
    assert list(run.errors) == list(batch.errors) == [2]
    found = run.gradient(np.where(np.isnan(run.states), np.nan, 1.0), ["coupler.mass"])
    assert list(run.errors) == [2]
    alone = model.batch(1, start).differentiable_rollout(1e-3, 20)
    expected = alone.gradient(np.ones_like(alone.states), ["coupler.mass"])
    for one, other in (
        (found.start, expected.start),
        (found.loads, expected.loads),
        (found.parameters["coupler.mass"], expected.parameters["coupler.mass"]),
    ):
        assert np.isnan(one[2]).all()
        assert np.delete(one, 2, axis=0) == pytest.approx(np.repeat(other, 3, axis=0), rel=1e-10, abs=1e-12)
    batch.tau[:, 0] = 1e300
    nothing = batch.differentiable_rollout(1e-3, 5)
    assert np.isnan(nothing.gradient(np.ones_like(nothing.states)).start).all()
    assert sorted(nothing.errors) == [0, 1, 2, 3]


def test_starts_follow_closed_loops():
    """A motion from the angle and speed of the crank, by them and by lengths: the loop is closed again."""
    model, by = lw.compile(four_bar().mechanism), ["A.q", "A.u", "B.parent_frame.position[1]", "coupler.mass"]
    values = {name: model.value(name, model.assemble()) for name in by[2:]}
    rng = np.random.default_rng(5)

    def batch_at(q=0.4, u=2.0, length=values[by[2]], mass=values[by[3]]):
        batch = model.batch(1)
        batch.q[:, 0], batch.u[:, 0] = q, u
        batch.put({by[2]: [length], by[3]: [mass]})
        assert batch.assemble(keep=["A"]).all()
        return batch

    run = batch_at().differentiable_rollout(STEP, 50, every=10)
    weights = rng.normal(size=run.states.shape)
    found = run.gradient(weights, by, closed=["A"])
    for name, option, at in zip(by, ("q", "u", "length", "mass"), (0.4, 2.0, *values.values()), strict=True):
        expected = slope(
            lambda h, option=option, at=at: (batch_at(**{option: at + h}).rollout(STEP, 50, every=10) * weights).sum()
        )
        assert found.parameters[name][0] == pytest.approx(expected, rel=LIMIT)
    assert list(found.parameters) == by
    other = run.gradient(weights, by[3:])
    assert found.start == pytest.approx(other.start)
    assert found.parameters[by[3]] == pytest.approx(other.parameters[by[3]])


def test_cut_joints_that_turn_several_times():
    """The revolutions of a cut joint change in the steps, and have no derivatives."""
    model = lw.compile(four_bar().mechanism)
    start = model.assemble(q={"A": 0.4}, u={"A": 25.0})
    batch = model.batch(1, start)
    run = batch.differentiable_rollout(2e-3, 400, every=400)
    assert abs(batch.q[0, 0] - 0.4) > 2 * np.pi
    weights = np.zeros_like(run.states)
    weights[:, -1, 0] = 1.0
    found = run.gradient(weights)
    loads = np.zeros((400, batch.tau.shape[1]))
    _, slopes = forward(model, start, np.concatenate([start.q, start.u]), loads, 2e-3, ())
    expected = slopes[-1][0]
    assert found.start[0] == pytest.approx(expected[:6], rel=1e-8, abs=1e-8)


def with_friction(**options):
    mech = lw.Mechanism("pendulum", gravity=(0, 0, 0))
    mech.add_body("rod", mass=3.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(3.0, 1.0))
    mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
    mech.add_force(lw.Friction("A", coulomb=0.2, **options))
    return lw.compile(mech)


@pytest.mark.parametrize("load", [0.05, 3.0])  # the bearing creeps, or slides
def test_smooth_dry_friction(load):
    model = with_friction(smooth=0.05)

    def last(h):
        batch = model.batch(1)
        batch.tau[:] = load + h
        return batch.rollout(1e-2, 20, every=20)[0, -1]

    batch = model.batch(1)
    batch.tau[:] = load
    run = batch.differentiable_rollout(1e-2, 20, every=20)
    for k in range(2):
        weights = np.zeros_like(run.states)
        weights[0, -1, k] = 1.0
        found = run.gradient(weights, ["A.tau"]).parameters["A.tau"][0]
        assert found == pytest.approx(slope(last, 1e-4)[k], rel=1e-6)
        assert found > 0.0


# ---- bad input ----


def latched():
    mech = four_bar().mechanism
    mech.add_transition("latch", lw.Lock("A"), when=lw.Command())
    return lw.compile(mech)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda b: b.differentiable_rollout(0.0, 3), "step must be positive"),
        (lambda b: b.differentiable_rollout(0.1, 0), "steps must be a whole number of at least 1"),
        (lambda b: b.differentiable_rollout(0.1, 3, every=0), "every must be a whole number of at least 1"),
        (lambda b: latched().batch(2).differentiable_rollout(0.1, 3), "carry out no transitions"),
        (lambda b: with_friction().batch(2).differentiable_rollout(0.1, 3), "carry out no transitions"),
        (lambda b: b.differentiable_rollout(0.1, 3, lambda t, rows: rows.u), "tau: a function of the state has"),
        (lambda b: b.differentiable_rollout(0.1, 3, np.zeros((2, 4, 3))), "for (2, 4) rows and steps, not (2, 3)"),
        (lambda b: b.differentiable_rollout(0.1, 3, np.full((2, 3, 4), np.nan)), "tau has loads that are not finite"),
        (lambda b: b.differentiable_rollout(0.1, 3, np.zeros((2, 3, 7))), "its last dimension must be 3"),
        (lambda b: b.differentiable_rollout(1e-3, 3).gradient(np.zeros(5)), "weights must be numbers (2, 4, 6)"),
        (lambda b: b.differentiable_rollout(1e-3, 3).gradient("x"), "weights must be numbers (2, 4, 6)"),
        (lambda b: b.differentiable_rollout(1e-3, 3).gradient(np.inf), "weights are not finite in row 0"),
        (lambda b: b.differentiable_rollout(1e-3, 3).gradient(1.0, ["A.q"]), "'A.q' is a state, whose derivative is"),
        (lambda b: b.differentiable_rollout(1e-3, 3).gradient(1.0, ["coupler.r"]), "no state, input or parameter"),
        (lambda b: b.differentiable_rollout(1e-3, 3).gradient(1.0, ["B.q"], closed=["A"]), "'B.q' follows when loops"),
        (lambda b: b.differentiable_rollout(1e-3, 3).gradient(1.0, ["A.q"], closed=["D"]), "no tree joint 'D'"),
    ],
)
def test_bad_input(call, message):
    batch = lw.compile(four_bar().mechanism).batch(2)
    with pytest.raises(lw.MechanismError) as error:
        call(batch)
    assert message in str(error.value)


def test_loads_by_name_for_each_step():
    model = lw.compile(skater("S"))
    joint = next(iter(model.numbering.u))
    one, other = batch_of(model), batch_of(model)
    rng = np.random.default_rng(0)
    span = model.numbering.u[joint]
    width = span.stop - span.start
    loads = rng.normal(size=(2, 5, width))
    whole = np.zeros((2, 5, model.numbering.n_loads))
    whole[..., model.numbering.loads[joint]] = loads
    by_name = one.differentiable_rollout(STEP, 5, {joint: loads if width > 1 else loads[..., 0]})
    assert np.array_equal(by_name.states, other.differentiable_rollout(STEP, 5, whole).states)
