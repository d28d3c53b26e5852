"""Batches in arrays: rows are what each of them is alone, and steps of fixed size follow the motion."""

import numpy as np
import pytest

import linkwork as lw
from support.builder import cut_at
from support.cases import four_bar
from support.joint_types import LOOP_IDS, LOOPS, on_carrier
from support.random_mechanisms import FAMILIES, random_tree, tree_or_loop

ROWS = 1100  # the last hundred by a tape, where one thread has them all


def rod(mech, name, length, **of):
    mech.add_body(name, mass=1.0, com=(length / 2, 0, 0), inertia=lw.inertia.rod(1.0, length), **of)


def batch_near_start(model, rows=ROWS, spread=1e-9, threads=1, seed=0):
    rng = np.random.default_rng(seed)
    made = model.batch(rows, threads=threads)
    made.q += spread * rng.normal(size=made.q.shape)
    made.u[:] = rng.normal(size=made.u.shape)
    made.tau[:, : model.sizes.nu] = 0.1 * rng.normal(size=made.u.shape)
    return made


def parameters_of(model, rng):
    """Masses, centres of mass and stiffnesses of some rows each."""
    bodies = list(model.mechanism.bodies)
    mass, com = f"{bodies[0]}.mass", f"{bodies[-1]}.com"
    own = np.asarray(model.with_parameters({}).value(com, model.assemble()))
    return {mass: rng.uniform(0.5, 2.0, ROWS), com: own + 0.05 * rng.normal(size=(ROWS, 3))}


# ---- rows ----


@pytest.mark.parametrize("name", [*list(FAMILIES)[::4], "tree1"])
def test_each_row_has_its_parameters(name):
    model = lw.compile(tree_or_loop(name).mechanism)
    rng = np.random.default_rng(3)
    batch, given = batch_near_start(model), parameters_of(model, rng)
    batch.put(given)
    together, kinetic = batch.accelerations(), batch.value("energy.kinetic")
    for row in (0, 500, *range(ROWS - 40, ROWS)):
        own = model.with_parameters({key: values[row] for key, values in given.items()})
        state, tau = (batch.q[row], batch.u[row]), batch.tau[row, : model.sizes.nu]
        assert np.array_equal(together[row], own.accelerations(*state, tau=tau))
        assert np.array_equal(together.cut[row], own.accelerations(*state, tau=tau).cut)
        assert kinetic[row] == own.value("energy.kinetic", *state, tau=tau)


def test_rows_depend_on_nothing_but_themselves():
    model = lw.compile(tree_or_loop("spatial_7R").mechanism)
    alone = batch_near_start(model, 3000).derivatives()
    assert np.array_equal(alone, batch_near_start(model, 3000, threads=2).derivatives())
    disturbed = batch_near_start(model, 3000, threads=2)
    disturbed.q[[5, 1500, 2999]] += 0.5  # open loops
    disturbed.u[77] = np.nan
    found = disturbed.derivatives()
    failed = [5, 77, 1500, 2999]
    assert sorted(disturbed.errors) == failed
    assert all(isinstance(error, lw.SingularityError | lw.LinkworkError) for error in disturbed.errors.values())
    assert np.isnan(found[failed]).all()
    others = np.setdiff1d(np.arange(3000), failed)
    assert np.array_equal(found[others], alone[others])
    disturbed.q[:] = batch_near_start(model, 3000).q
    disturbed.u[:] = batch_near_start(model, 3000).u
    assert np.array_equal(disturbed.derivatives(), alone)
    assert disturbed.errors == {}


def test_loops_are_closed_with_the_geometry_of_each_row():
    mech = lw.Mechanism("slider-crank")
    rod(mech, "crank", 0.1)
    rod(mech, "coupler", 0.3)
    mech.add_body("slider", mass=1.0, com=(0, 0, 0), inertia=lw.inertia.sphere(1.0, 0.02))
    mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "crank", at=(0, 0, 0))
    mech.add_joint("B", lw.Revolute((0, 1, 0)), "crank", "coupler", parent_frame=lw.Frame((0.1, 0, 0)))
    mech.add_joint("C", lw.Revolute((0, 1, 0)), "coupler", "slider", parent_frame=lw.Frame((0.3, 0, 0)))
    mech.add_joint("S", lw.Prismatic((1, 0, 0)), "ground", "slider", parent_frame=lw.Frame((0, 0, 0.15)))
    model = lw.compile(mech)
    batch = model.batch(50, model.assemble(q={"A": 1.0}, u={"A": 2.0}))
    length = np.linspace(0.3, 0.5, 50)
    length[7] = 0.02  # too short to reach the slider's axis
    reached = np.stack([length, np.zeros(50), np.zeros(50)], axis=1)
    batch.put({"C.parent_frame.position": reached})
    closed = batch.assemble(keep=["A"])
    assert list(np.flatnonzero(~closed)) == [7]
    assert isinstance(batch.errors[7], lw.AssemblyError)
    angle = dict(zip(model.q_names, batch.q.T, strict=False))["A.q"]
    assert angle[closed] == pytest.approx(1.0)
    expected = 0.1 * np.cos(1.0) + np.sqrt(length[closed] ** 2 - (0.15 + 0.1 * np.sin(1.0)) ** 2)
    assert batch.value("slider.r")[closed, 0] == pytest.approx(expected, abs=1e-9)


def test_coordinates_are_kept_or_the_row_is_not_closed():
    model = lw.compile(four_bar().mechanism)
    batch = model.batch(3, model.assemble(q={"A": 0.3}))
    batch.put({"coupler.mass": [1.0, 2.0, 3.0]})
    assert batch.assemble().all()
    frame = np.tile(np.asarray(model.value("D.parent_frame.position", model.assemble())), (3, 1))
    frame[1] *= 1.6  # the crank turns a part of a revolution only
    batch.put({"D.parent_frame.position": frame})
    batch.q[:, 0] = 2.9
    assert list(batch.assemble(keep="A")) == [True, False, True]
    assert "A.q = 2.9 rad was asked" in str(batch.errors[1])
    assert batch.q[:, 0] == pytest.approx(2.9)
    assert batch.assemble().all()
    assert batch.q[1, 0] < 2.8


# ---- derivatives ----


@pytest.mark.parametrize("name", [*list(FAMILIES)[::4], "tree2"])
def test_gradients_by_tapes_are_those_of_complex_steps(name):
    model = lw.compile(tree_or_loop(name).mechanism)
    start = model.assemble()
    batch = model.batch(ROWS, start, threads=1)
    batch.u[:] = np.random.default_rng(0).normal(size=batch.u.shape[1])
    bodies = list(model.mechanism.bodies)
    by = [f"{bodies[0]}.mass", f"{bodies[-1]}.com", f"{bodies[-1]}.inertia", *model.u_names[: model.sizes.nu]]
    for of in ("energy.kinetic", f"der({model.u_names[0]})"):
        found = batch.gradient(of, by)
        for values in found.values():
            largest = max(1.0, np.abs(values[0]).max())
            assert np.abs(values[-1] - values[0]).max() <= 1e-11 * largest  # the first row by complex steps


def test_gradients_by_thirty_parameters_against_differences():
    model = lw.compile(random_tree(np.random.default_rng(4), 6).mechanism)
    batch = batch_near_start(model, ROWS, 0.0)
    by = [f"{body}.{what}" for body in model.mechanism.bodies for what in ("mass", "com", "inertia")]
    gradient, eps = batch.gradient("energy.kinetic", by), 1e-6
    for name in by:
        own = batch.parameters[name][-1]
        for k in range(own.size):
            low, high = (
                model.with_parameters({name: own + sign * eps * np.eye(own.size)[k]}).value(
                    "energy.kinetic", batch.q[-1], batch.u[-1]
                )
                for sign in (-1.0, 1.0)
            )
            value = gradient[name][-1] if own.size == 1 else gradient[name][-1, k]
            assert value == pytest.approx((high - low) / (2 * eps), abs=1e-7)


# ---- motion ----


def test_steps_follow_the_motion_with_order_four():
    model = lw.compile(four_bar().mechanism)
    start = model.assemble(q={"A": 0.3}, u={"A": 3.0})
    exact = lw.simulate(model, 0.5, start, rtol=1e-12).final_state
    ends = []
    for steps in (200, 400):
        batch = model.batch(3, start)
        states = batch.rollout(0.5 / steps, steps, every=10)
        assert states.shape == (3, 1 + steps // 10, model.numbering.n_states)
        assert np.array_equal(states[:, -1], np.concatenate([batch.q, batch.u], axis=1))
        assert batch.time == pytest.approx(0.5)
        ends.append(np.abs(batch.q - exact.q).max())
    assert 12.0 < ends[0] / ends[1] < 20.0
    assert ends[1] < 1e-9


def test_loads_of_each_step_and_row():
    mech = lw.Mechanism("slider")
    mech.add_body("block", mass=2.0, com=(0, 0, 0), inertia=lw.inertia.sphere(2.0, 0.1))
    mech.add_joint("S", lw.Prismatic((1, 0, 0)), "ground", "block", at=(0, 0, 0))
    batch = lw.compile(mech).batch(4)
    states = batch.rollout(0.1, 20, lambda t, rows: np.array([[0.0], [1.0], [2.0], [3.0]]) * (t < 1.0))
    force = np.arange(4.0)
    assert states[:, 10, 1] == pytest.approx(force / 2)
    assert states[:, -1, 1] == pytest.approx(force / 2)
    assert states[:, -1, 0] == pytest.approx(force / 2 * 1.5)


@pytest.mark.parametrize("cut", ["A", "B"])
def test_revolutions_of_cut_joints_are_counted(cut):
    mech = cut_at(four_bar().mechanism, cut)
    mech.add_force(lw.SpringDamper(cut, stiffness=0.05))
    model = lw.compile(mech)
    start = model.assemble(q={"A": 0.5}, u={"A": 25.0})
    batch = model.batch(2, start)
    batch.rollout(5e-4, 2000)
    exact = lw.simulate(model, 1.0, start, rtol=1e-11).final_state
    assert np.abs(exact.q.cut - start.q.cut).max() > 2 * np.pi
    assert batch.q[1] == pytest.approx(exact.q, abs=1e-5)
    assert batch.q_cut[1] == pytest.approx(exact.q.cut, abs=1e-5)


@pytest.mark.parametrize(("make", "cut"), LOOPS[::3], ids=LOOP_IDS[::3])
def test_loops_with_cut_joints_of_several_speeds_move(make, cut):
    model = lw.compile(make(cut))
    start = model.assemble()
    batch = model.batch(2, start)
    states = batch.rollout(1e-3, 100, every=50)
    exact = lw.simulate(model, 0.1, start, rtol=1e-11).final_state
    assert states.shape[1] == 3
    assert batch.q[0] == pytest.approx(exact.q, abs=1e-7)
    assert batch.q_cut[0] == pytest.approx(exact.q.cut, abs=1e-7)


def test_steps_are_the_same_one_by_one():
    model = lw.compile(four_bar().mechanism)
    start = model.assemble(q={"A": 0.3}, u={"A": 3.0})
    at_once, one_by_one = model.batch(300, start, threads=2), model.batch(300, start, threads=1)
    for batch in (at_once, one_by_one):
        batch.put({"coupler.mass": np.linspace(0.5, 2.0, 300)})
    whole = at_once.rollout(2.0**-10, 64, every=16)
    single = one_by_one.rollout(2.0**-10, 64, lambda t, rows: rows.tau[:, :3], every=16)
    assert np.array_equal(whole, single)
    assert np.array_equal(at_once.time, one_by_one.time)


def test_quaternions_move():
    model = lw.compile(on_carrier("spherical"))
    start = model.assemble()
    batch = model.batch(2, start)
    batch.u[:] = np.linspace(0.5, 1.5, model.sizes.nu)
    state = model.assemble(u={joint: batch.u[0][span] for joint, span in model.numbering.u.items()})
    exact = lw.simulate(model, 0.3, state, rtol=1e-11).final_state
    batch.rollout(1e-3, 300)
    assert batch.q[0] == pytest.approx(exact.q, abs=1e-8)
    assert batch.u[0] == pytest.approx(exact.u, abs=1e-7)


def test_a_row_that_fails_leaves_the_others():
    model = lw.compile(four_bar().mechanism)
    start = model.assemble(q={"A": 0.3}, u={"A": 3.0})
    batch = model.batch(600, start, threads=2)
    batch.tau[[3, 599], 0] = 1e300
    states = batch.rollout(1e-3, 20)
    assert sorted(batch.errors) == [3, 599]
    assert np.isnan(states[[3, 599], -1]).all()
    alone = model.batch(1, start).rollout(1e-3, 20)[0, -1]
    assert np.array_equal(np.delete(states[:, -1], [3, 599], axis=0), np.tile(alone, (598, 1)))


# ---- bad input ----


def latched():
    mech = four_bar().mechanism
    mech.add_transition("latch", lw.Lock("A"), when=lw.Command())
    return lw.compile(mech)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda b: b.put({"coupler.mess": 1.0}), "coupler.mess"),
        (lambda b: b.put({"coupler.mass": [1.0, 2.0]}), "'coupler.mass' has shape (2,); it must be (3, 1)"),
        (lambda b: b.put({"coupler.mass": [1.0, np.nan, 1.0]}), "'coupler.mass' is not finite in row 1"),
        (lambda b: b.put({"A.q_start": [1.0, 2.0, 3.0]}), "'A.q_start' is a start value"),
        (lambda b: b.put({"coupler.r": np.ones((3, 3))}), "'coupler.r' is no state, input or parameter"),
        (lambda b: b.put({"coupler.mass": "x"}), "'coupler.mass' must be numbers (3, 1)"),
        (lambda b: setattr(b, "q", np.zeros((2, 2))), "q takes numbers (3, 3), or a row of them"),
        (lambda b: b.gradient("energy.kinetic", []), "by: name at least one"),
        (lambda b: b.gradient("coupler.r", ["A.q"]), "'coupler.r' has 3 numbers"),
        (lambda b: b.gradient("energy.kinetic", ["coupler.r"]), "'coupler.r' is no state, input or parameter"),
        (lambda b: b.gradient("energy.kinetic", ["time"]), "'time' is no state, input or parameter"),
        (lambda b: b.assemble(keep="D"), "keep: there is no tree joint 'D': known are 'A', 'B', 'C'"),
        (lambda b: b.rollout(0.0, 3), "step must be positive"),
        (lambda b: b.rollout(0.1, 0), "steps must be a whole number of at least 1"),
        (lambda b: b.rollout(0.1, 3, dt=2), "rollout has no argument 'dt'"),
        (lambda b: b.model.batch(0), "size must be a whole number of at least 1"),
        (lambda b: latched().batch(2).rollout(0.1, 3), "steps of fixed size carry out no transitions"),
    ],
)
def test_bad_input(call, message):
    batch = lw.compile(four_bar().mechanism).batch(3)
    with pytest.raises((lw.MechanismError, TypeError)) as error:
        call(batch)
    assert message in str(error.value)
    assert batch.parameters == {}


def test_refused_parameters_of_a_row_leave_the_others_as_they_are():
    model = lw.compile(four_bar().mechanism)
    batch = model.batch(3, model.assemble(q={"A": 0.3}, u={"A": 3.0}))
    batch.put({"coupler.mass": [2.0, 3.0, 4.0]})
    expected = batch.derivatives().copy()
    batch.put({"coupler.mass": [2.0, -1.0, 4.0]})
    for _ in range(2):
        found = batch.derivatives()
        assert sorted(batch.errors) == [1]
        assert np.array_equal(found[[0, 2]], expected[[0, 2]])
    batch.put({"coupler.mass": [2.0, 3.0, 4.0]})
    assert np.array_equal(batch.derivatives(), expected)
