"""Batches by tapes: the numbers of single evaluations, to the bit but for the signs of zeros."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import linkwork as lw
from linkwork.core.native import Stage, offsets_of
from linkwork.core.tapes import Tapes
from support.cases import four_bar
from support.checkout import beside
from support.joint_families import JOINT_FAMILIES
from support.joint_types import LOOP_IDS, LOOPS, SEVERAL, on_carrier
from support.methods import METHODS_OF_DISTANCES, compiled
from support.random_mechanisms import FAMILIES, random_tree, tree_or_loop, well_posed
from support.zoo import zoo

BEFORE = 1000  # states by kernels before the first tape
FEW = 5  # at once: too few for tapes
TRIED = 200
SEARCHED = 40_000


def around(model, rows, spread, seed=0):
    """States near the assembled start, with any speeds and loads."""
    rng = np.random.default_rng(seed)
    start = model.assemble()
    q = np.asarray(start.q) + spread * rng.normal(size=(rows, model.sizes.nq))
    u = rng.normal(size=(rows, model.sizes.nu))
    return q, u, rng.normal(size=(rows, model.sizes.nu + model.sizes.nu_cut))


def evaluated(model, name, q, u, tau):
    """Numbers of a batch, and those of the same states by the kernels; a name is a function's or a variable's."""

    def rows(which):
        states = q[which], u[which]
        if name == "energy":
            return np.stack(model.energy(*states), axis=-1)
        by_name = getattr(model, name, None)
        found = by_name(*states, tau=tau[which]) if by_name else model.value(name, *states, tau=tau[which])
        return np.asarray(found).reshape(len(states[0]), -1)

    together = rows(slice(None))
    return together, np.concatenate([rows(slice(i, i + FEW)) for i in range(0, len(q), FEW)])


def check_tapes(model, states, names=("accelerations", "derivatives", "energy"), least=TRIED // 8):
    """Bits of all states after the first ones, of which tapes computed so many."""
    for name in names:
        evaluated(model, name, *(x[:BEFORE] for x in states))  # the kernels alone
        together, alone = evaluated(model, name, *(x[BEFORE:] for x in states))
        assert np.array_equal(together, alone), name
    for name, used in model.tapes.items():
        assert not used.refusal, name
        assert sum(tape.states for tape in used.recorded) > least, name


# ---- bits ----


@pytest.mark.parametrize("name", FAMILIES)
def test_families(name):
    model = lw.compile(well_posed(FAMILIES[name][0], 0).mechanism)
    check_tapes(model, around(model, BEFORE + TRIED, 1e-9))


@pytest.mark.parametrize("name", list(JOINT_FAMILIES)[::4])
def test_families_of_joints(name):
    model = lw.compile(well_posed(JOINT_FAMILIES[name][0], 0).mechanism)
    check_tapes(model, around(model, BEFORE + TRIED, 1e-9))


@pytest.mark.parametrize("seed", range(4))
def test_trees_in_any_pose(seed):
    model = lw.compile(random_tree(np.random.default_rng(seed), 6, springs=2).mechanism)
    check_tapes(model, around(model, BEFORE + TRIED, 1.0))


@pytest.mark.parametrize("name", SEVERAL)
def test_joints_of_several_speeds(name):
    model = lw.compile(on_carrier(name))
    check_tapes(model, around(model, BEFORE + TRIED, 0.3))


@pytest.mark.parametrize(("make", "cut"), LOOPS, ids=LOOP_IDS)
def test_cut_joints_of_several_speeds(make, cut):
    model = lw.compile(make(cut))
    check_tapes(model, around(model, BEFORE + TRIED, 1e-9))


@pytest.mark.parametrize("method", METHODS_OF_DISTANCES)
def test_methods(method):
    model = compiled(tree_or_loop("loop_on_loop").mechanism, method)
    check_tapes(model, around(model, BEFORE + TRIED, 1e-9), least=0)


def test_forces_of_all_types_but_friction():
    model = lw.compile(zoo(friction=False))
    q, u, tau = around(model, BEFORE + TRIED, 1e-10)
    check_tapes(
        model, (q, 0.3 + 1e-6 * u, 0.1 + 1e-6 * tau), ("accelerations", "derivatives", "energy", "b6.r", "j3.f")
    )


def test_a_force_with_a_branch_that_has_no_value():
    """A power of how deep a bump stop is pressed, where it is not."""
    mech = four_bar().mechanism
    mech.add_force(lw.BumpStop("A", lower=-0.2, upper=0.3, stiffness=50.0, damping=1.0, exponent=1.5))
    model = lw.compile(mech)
    check_tapes(model, around(model, BEFORE + TRIED, 1e-3))


@pytest.mark.parametrize("name", ["cassie.json", "robotiq_2f85.json", "xarm7_gripper.json", "grbda_six_bar.json"])
def test_robots(name):
    model = lw.compile(lw.load(beside(f"models/as_mechanisms/{name}")))
    check_tapes(model, around(model, BEFORE + TRIED, 1e-10), ("accelerations", "derivatives"))


def test_along_a_motion():
    model = lw.compile(four_bar().mechanism)
    moved = lw.simulate(model, 20.0, model.assemble(q={"A": 0.3}, u={"A": 3.0}))
    rng = np.random.default_rng(0)
    chosen = rng.integers(len(moved.t), size=6000)
    names = model.q_names[: model.sizes.nq], model.u_names[: model.sizes.nu]
    q, u = (np.stack([moved[name][chosen] for name in these], axis=-1) for these in names)
    states = q, u, rng.normal(size=(6000, model.sizes.nu + model.sizes.nu_cut))
    check_tapes(model, states, ("accelerations",))
    assert model.tapes["acceleration"].by_kernels < 6000 + 3 * BEFORE


# ---- derivatives ----


@pytest.mark.parametrize("name", [*list(FAMILIES)[::3], "tree1", "tree2"])
def test_jacobians(name):
    model = lw.compile(tree_or_loop(name).mechanism)
    q, u, tau = around(model, BEFORE + TRIED, 1e-9)
    model.jacobian(q[:BEFORE], u[:BEFORE], tau=tau[:BEFORE])
    together = model.jacobian(q[BEFORE:], u[BEFORE:], tau=tau[BEFORE:])
    alone = np.array([model.jacobian(q[i], u[i], tau=tau[i]) for i in range(BEFORE, BEFORE + TRIED)])
    assert np.abs(together - alone).max() <= 1e-11 * np.abs(alone).max()
    used = model.tapes["jacobian"]
    assert not used.refusal
    assert sum(tape.states for tape in used.recorded) > TRIED // 8


def tree_with_forces(seed):
    """A tree of any joints, with springs, a force by a formula, and a motor with a current."""
    rng = np.random.default_rng(seed)
    others = ("prismatic", "spherical", "universal", "cylindrical", "free", "fixed", "screw", "planar")
    mech = random_tree(rng, 8, (*others, *["revolute"] * 8), springs=2).mechanism
    turning = [name for name, joint in mech.joints.items() if joint.kind.type_name == "revolute"]
    mech.add_force(lw.Force(turning[0], "-k*q^3 - c*u*abs(u)", parameters={"k": 2.0, "c": 0.3}))
    mech.add_force(lw.DCMotor(turning[1], resistance=0.5, inductance=0.1, constant=0.2))
    return mech


@pytest.mark.parametrize("seed", range(6))
def test_derivatives_of_trees(seed):
    """By way of inverse dynamics, in tapes, and by complex steps through forward dynamics."""
    model = lw.compile(tree_with_forces(seed))
    rng = np.random.default_rng(seed)
    batch = model.batch(BEFORE)
    batch.q = batch.q + 1e-9 * rng.normal(size=batch.q.shape)
    batch.u = rng.normal(size=batch.u.shape)
    batch.tau = rng.normal(size=batch.tau.shape)
    found = batch.jacobian()
    for k in range(0, BEFORE, BEFORE // 10):
        state = batch.state(k)
        alone = model.jacobian(state, tau=batch.tau[k, : model.sizes.nu])
        assert np.abs(found[k] - alone).max() <= 1e-11 * np.abs(alone).max()


def test_matrices_of_a_chain_are_short():
    """By coordinates, speeds and loads; elimination through its articulated inertias takes 17 000 operations."""
    model = lw.compile(random_tree(np.random.default_rng(6), 6, ("revolute",), chain=True).mechanism)
    fields, n = model.fields, model.sizes.nu
    given = [offsets_of(slice(fields[name].first, fields[name].first + n)) for name in ("q", "u", "tau")]
    rates = offsets_of(slice(fields["acceleration"].first, fields["acceleration"].first + n))
    tapes = Tapes(np.concatenate(given), rates, Stage.ACCELERATIONS, np.concatenate(given))
    block = model.block()
    start = model.assemble()
    block.enter(start.q, start.u, np.zeros(model.numbering.n_inputs))
    tapes.record(block, np.random.default_rng(0).normal(size=3 * n))
    (tape,) = tapes.recorded
    assert tape.operations < 12_000


# ---- where a tape does not count ----


def test_singular_poses_are_left_to_the_kernels():
    mech = lw.Mechanism("parallelogram")
    for name, length in (("crank", 0.3), ("coupler", 0.5), ("rocker", 0.3)):
        mech.add_body(name, mass=1.0, com=(length / 2, 0, 0), inertia=lw.inertia.rod(1.0, length))
    hinge = lw.Revolute((0, 1, 0))
    mech.add_joint("A", hinge, "ground", "crank", at=(0, 0, 0))
    mech.add_joint("B", hinge, "crank", "coupler", parent_frame=lw.Frame((0.3, 0, 0)))
    mech.add_joint(
        "C", hinge, "coupler", "rocker", parent_frame=lw.Frame((0.5, 0, 0)), child_frame=lw.Frame((0.3, 0, 0))
    )
    mech.add_joint("D", hinge, "ground", "rocker", parent_frame=lw.Frame((0.5, 0, 0)))
    model = lw.compile(mech)
    angle = np.concatenate([np.linspace(0.4, 0.9, BEFORE + 200), np.linspace(-1e-3, 1e-3, 401), np.zeros(5)])
    q = np.stack([angle, -angle, angle], axis=-1)
    u = np.stack([1 + 0 * angle, -1 + 0 * angle, 1 + 0 * angle], axis=-1)
    states = q, u, np.zeros((len(q), 4))
    check_tapes(model, states, ("accelerations",))
    assert model.tapes["acceleration"].by_kernels > BEFORE + 100


def test_a_lock_and_other_parameters_have_tapes_of_their_own():
    mech = four_bar().mechanism
    mech.add_transition("latch", lw.Lock("A"), when=lw.Command())
    model = lw.compile(mech)
    free = model.assemble(q={"A": 0.5}, u={"A": 1.0})
    check_tapes(model, around(model, BEFORE + TRIED, 1e-9), ("accelerations",))
    locked = lw.simulate(model, 0.1, free, inputs={"latch.command": 1.0}).state(0.1)
    tau = np.random.default_rng(0).normal(size=(2 * BEFORE, 4))
    together = model.accelerations(locked, tau=tau)
    alone = np.array([model.accelerations(locked, tau=row) for row in tau[-50:]])
    assert np.array_equal(together[-50:], alone)
    assert not np.array_equal(together[-1], model.accelerations(free, tau=tau[-1]))
    heavy = model.with_parameters({"coupler.mass": 3.0})
    assert heavy.tapes == {}
    check_tapes(heavy, around(heavy, BEFORE + TRIED, 1e-9), ("accelerations",))


def test_numbers_beyond_bounds_are_left_to_the_kernels():
    model = lw.compile(random_tree(np.random.default_rng(1), 3, springs=1).mechanism)
    q, u, tau = around(model, BEFORE + 100, 1.0)
    tau[BEFORE + 50 :] *= 1e40
    q[BEFORE + 80 :] += 1e6  # an angle that loses its revolutions first
    check = evaluated(model, "accelerations", q, u, tau)
    assert np.array_equal(*check)
    assert model.tapes["acceleration"].by_kernels > BEFORE + 100


def test_the_first_state_without_accelerations_is_reported():
    model = lw.compile(four_bar().mechanism)
    q, u, tau = around(model, BEFORE + 300, 1e-9)
    model.accelerations(q, u, tau=tau)
    q[BEFORE + 100] += 0.4
    with pytest.raises(lw.SingularityError) as together:
        model.accelerations(q, u, tau=tau)
    with pytest.raises(lw.SingularityError) as alone:
        model.accelerations(q[BEFORE + 100], u[BEFORE + 100], tau=tau[BEFORE + 100])
    assert str(together.value) == str(alone.value)


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (lambda: lw.compile(zoo()), "friction decides before each evaluation whether it sticks"),
        (lambda: lw.compile(four_bar().mechanism, "dca"), "divide and conquer decides there, and no tape holds it"),
    ],
    ids=["friction", "dca"],
)
def test_what_no_tape_holds_is_told(model, reason):
    made = model()
    q, u, tau = around(made, BEFORE + 20, 1e-10)
    assert np.array_equal(*evaluated(made, "accelerations", q, u, tau))
    used = made.tapes["acceleration"]
    assert used.recorded == ()
    assert used.refusal == reason


# ---- threads ----


def test_threads_share_a_model():
    model = lw.compile(tree_or_loop("side_by_side").mechanism)
    q, u, tau = around(model, 4 * BEFORE, 1e-9)

    def compute(_):
        return np.asarray(model.accelerations(q, u, tau=tau)), model.tapes["acceleration"].recorded

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(compute, range(8)))
    assert all(np.array_equal(values, found[0][0]) and tapes for values, tapes in found)
    assert np.array_equal(found[0][0][-20:], [model.accelerations(q[i], u[i], tau=tau[i]) for i in range(-20, 0)])


# ---- guards ----


@pytest.mark.slow
@pytest.mark.parametrize("name", [*FAMILIES, "cassie.json", "robotiq_2f85.json", "xarm7_gripper.json"])
def test_no_state_passes_the_guards_with_other_numbers(name):
    """Of gaps from rounding errors to open loops, and of numbers of any size, many of them zero."""
    is_robot = name.endswith(".json")
    model = lw.compile(
        lw.load(beside(f"models/as_mechanisms/{name}")) if is_robot else well_posed(FAMILIES[name][0], 3).mechanism
    )
    given = np.concatenate([offsets_of(model.fields[field].span) for field in ("q", "u", "tau")])
    computed = offsets_of(model.fields["udot"].span)
    block = model.block()
    start = model.assemble()
    block.enter(start.q[: model.sizes.nq], start.u[: model.sizes.nu], np.zeros(model.numbering.n_inputs))
    q, u = slice(0, model.sizes.nq), slice(model.sizes.nq, model.sizes.nq + model.sizes.nu)
    rng, states = np.random.default_rng(7), np.tile(block.reals[given], (SEARCHED, 1))
    noise, least = rng.normal(size=states.shape), rng.choice([0.2, 1.0], size=(SEARCHED, 1))
    noise *= rng.random(states.shape) < least
    sizes = 10.0 ** rng.uniform(-8, 8, size=(2, SEARCHED, 1))
    states[:, q] += 10.0 ** rng.uniform(-12, -1, size=(SEARCHED, 1)) * noise[:, q]
    states[:, u] = sizes[0] * noise[:, u]
    states[:, u.stop :] = sizes[1] * noise[:, u.stop :]

    def evaluated_by(tapes, rows):
        errors = {}
        return tapes.evaluate(block, states[rows], errors), set(errors)

    tapes, kernels = (Tapes(given, computed, Stage.ACCELERATIONS) for _ in range(2))
    together, failed = evaluated_by(tapes, slice(None))
    few = [evaluated_by(kernels, slice(first, first + FEW)) for first in range(0, SEARCHED, FEW)]
    assert np.array_equal(together, np.concatenate([values for values, _ in few]), equal_nan=True)
    assert failed == {FEW * i + row for i, (_, rows) in enumerate(few) for row in rows}
    assert not kernels.recorded
    assert sum(tape.states for tape in tapes.recorded) > SEARCHED // 10
