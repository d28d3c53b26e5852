"""Prescribed motions at one instant: accelerations, loads of the drives and reactions against the oracle."""

import copy

import numpy as np
import pytest

import linkwork as lw
from support.driven import TIME, driven, movable
from support.driving import by_joint, largest_difference, random_loads, wrenches
from support.gear_families import GEAR_FAMILIES
from support.joint_families import JOINT_FAMILIES
from support.methods import CLUSTER_METHODS, METHODS, compiled
from support.placement import vector
from support.random_mechanisms import FAMILIES, random_tree, well_posed

MADE = FAMILIES | JOINT_FAMILIES | GEAR_FAMILIES
LOOPS = ["planar_4R", "planar_5R", "slider_crank", "slider_crank_cut_slider", "spatial_7R", "closed_chain_12R"]
LOOPS += ["moving_spatial_7R", "outboard_trees", "loop_on_loop", "three_planar_legs", "three_spatial_legs", "coupled"]
LOOPS += ["RUSR", "RCCC", "RRER_flat", "stewart", "tripod_PRS", "delta_US", "ladder_hooke", "ladder_hooke_deep"]
LOOPS += ["universal_tree", "universal_cut", "cylindrical_backward", "cylindrical_cut", "planar_cut"]
LOOPS += ["screw_tree", "screw_cut", "pin_in_slot_backward", "pin_in_slot_cut"]
LOOPS += ["curved_slide_cut", "curved_slot_cut"]
GEARS = ["gear_of_three", "cam", "gear_branches", "gear_on_cut_joint", "gear_between_loops", "rack"]
TREES = ["tree of R and P", "tree of all", "tree with two"]

pytestmark = pytest.mark.thin(16, kept=4)


def well_driven(name):
    """Drives such that the oracle's pose stays regular; more than one for several degrees of freedom."""
    rng = np.random.default_rng(len(name))
    for seed in range(30):
        if name in MADE:
            scene = well_posed(MADE[name][0], seed)
        else:
            kinds = (
                ("revolute", "prismatic", "universal", "cylindrical", "spherical")
                if name == TREES[1]
                else ("revolute",)
            )
            scene = random_tree(rng, 8, kinds, springs=2)
        able = movable(scene)
        count = 2 if name in ("tree with two", "closed_chain_12R", "three_spatial_legs", "stewart") else 1
        try:
            made = driven(scene, rng, rng.choice(able, count, replace=False).tolist())
            made.oracle.solve(scene.u, given=made.given)
        except AssertionError:
            continue
        if made.oracle.conditioning > 0.01 and made.oracle.rank > scene.oracle.rank:
            return made
    raise RuntimeError("no drive of this family leaves it regular")


@pytest.fixture(scope="module", params=[*LOOPS, *GEARS, *TREES])
def case(request):
    return well_driven(request.param)


@pytest.fixture(params=METHODS)
def method(request):
    return request.param


def reached(case, method):
    system = compiled(case.mechanism, method)
    return system, system.assemble(q=case.scene.q, u=case.scene.u, time=TIME)


def solved(case, seed):
    tau = random_loads(np.random.default_rng(seed), case.scene)
    return tau, case.oracle.solve(case.scene.u, tau, given=case.given)


def test_assembly_has_the_motion(case, method):
    """From no guess for the driven joints: value and rate are those of the motion."""
    system = compiled(case.mechanism, method)
    others = {name: q for name, q in case.scene.q.items() if name not in case.given}
    speeds = {name: u for name, u in case.scene.u.items() if name not in case.given}
    state = system.assemble(q=others, u=speeds, time=TIME)
    assert np.abs(system.coupling_residual(state)).max() < 1e-11
    for joint in case.given:
        if joint in system.numbering.tree:
            assert vector(state[f"{joint}.q"]) == pytest.approx(vector(case.scene.q[joint]), abs=1e-9)
        assert vector(state[f"{joint}.u"]) == pytest.approx(vector(case.scene.u[joint]), abs=1e-8)


def test_accelerations(case, method):
    system, state = reached(case, method)
    tau, solution = solved(case, 0)
    found = by_joint(system, system.accelerations(state, tau=tau))
    assert largest_difference(found, solution.udot) < 1e-9
    assert largest_difference({name: found[name] for name in case.given}, case.given) < 1e-9


def test_loads_of_drives(case, method):
    """Load of a drive in addition to other loads in its joint."""
    system, state = reached(case, method)
    tau, solution = solved(case, 1)
    loads = {
        joint: np.array([system.value(f"{drive}.load", state, tau=tau) for drive in drives])
        for joint, drives in case.drives.items()
        if solution.multiplier_determined[joint]
    }
    assert loads
    assert largest_difference(loads, {joint: vector(solution.drive[joint]) for joint in loads}) < 1e-9


def test_reactions_balance_every_body(case, method):
    system, state = reached(case, method)
    tau, solution = solved(case, 2)
    found = wrenches(system, state, tau)
    assert np.abs(case.oracle.imbalance(solution, case.scene.u, found)).max() < 1e-10


def test_the_drive_can_be_replaced_by_its_load(case, method):
    """The load of the drive, applied to the free mechanism, gives the same motion."""
    system, state = reached(case, method)
    tau, _ = solved(case, 3)
    wanted = by_joint(system, system.accelerations(state, tau=tau))
    loads = {name: np.array(vector(load)) for name, load in tau.items()}
    for joint, drives in case.drives.items():
        loads[joint] += [system.value(f"{drive}.load", state, tau=tau) for drive in drives]
    free = compiled(case.scene.mechanism, method)
    found = by_joint(free, free.accelerations(free.assemble(q=case.scene.q, u=case.scene.u), tau=loads))
    assert largest_difference(found, wanted) < 1e-8


def test_inputs_drive_like_the_motion(case, method):
    """Numbers instead of a function: the same accelerations and loads, to rounding."""
    system, state = reached(case, method)
    other = copy.deepcopy(case.scene.mechanism)
    motion = {}
    for joint, drives in case.drives.items():
        values = zip(*(vector(values[joint]) for values in (case.scene.q, case.scene.u, case.given)), strict=True)
        for drive, coordinate, value in zip(drives, coordinates(case, joint), values, strict=True):
            other.prescribe(coordinate, lw.Motion())
            motion[drive] = value
    replaced = compiled(other, method)
    again = replaced.assemble(q=case.scene.q, u=case.scene.u, motion=motion)
    tau, _ = solved(case, 4)
    found = by_joint(replaced, replaced.accelerations(again, tau=tau))
    assert largest_difference(found, by_joint(system, system.accelerations(state, tau=tau))) < 1e-9


def coordinates(case, joint):
    return [next(iter(case.mechanism.couplings[drive].terms)) for drive in case.drives[joint]]


def test_feedback_rests_on_the_motion(case, method):
    system, state = reached(case, method)
    n = len(state.q)
    derivative = system.derivatives(state)
    assert derivative[n:] == pytest.approx(system.accelerations(state), abs=1e-7, rel=1e-8)
    for place, name in enumerate(system.q_names):
        if system.mechanism.joints[name.partition(".")[0]].kind.quaternion is None:
            assert derivative[place] == pytest.approx(state[name.replace(".q", ".u")], abs=1e-8)


@pytest.mark.parametrize("method", CLUSTER_METHODS)
def test_feedback_draws_to_the_motion(case, method):
    """Off it, the residual falls in time although the motion continues."""
    system, state = reached(case, method)
    rng, n, h = np.random.default_rng(6), len(state.q), 1e-5
    q = state.q + 1e-6 * rng.normal(size=n)

    def residual(q, time):
        block = system.block()
        block.count_revolutions(state.q.cut)
        block.enter(q, state.u, system.arguments.no_inputs, time)
        return block["coupling_residual"].copy(), block["qdot"].copy()

    lacking, rate = residual(q, TIME)
    slope = (residual(q + h * rate, TIME + h)[0] - residual(q - h * rate, TIME - h)[0]) / (2 * h)
    assert (-slope / lacking).min() > 0.09


@pytest.mark.parametrize("method", CLUSTER_METHODS)
def test_derivatives_by_states_and_inputs(case, method):
    """Complex step against central differences."""
    system, state = reached(case, method)
    fields, n = system.fields, len(state.q)
    rows = np.arange(fields["qdot"].first, fields["qdot"].first + n + len(state.u), dtype=np.uint32)
    inputs = np.arange(fields["motion_in"].first, fields["motion_in"].span.stop, dtype=np.uint32)
    columns = np.concatenate([np.arange(fields["q"].first, fields["q"].first + rows.size, dtype=np.uint32), inputs])
    block = system.block()
    block.count_revolutions(state.q.cut)

    def derivative(shift):
        block.enter(state.q, state.u, system.arguments.no_inputs, TIME)
        block.reals[columns] += shift
        return np.concatenate([block["qdot"], block["udot"]])

    h = 1e-6
    expected = np.array([(derivative(h * e) - derivative(-h * e)) / (2 * h) for e in np.eye(columns.size)]).T
    derivative(0.0)
    seeds = (columns[k : k + 1] for k in range(columns.size))
    found = np.array([block.directional_derivative(rows, known, np.ones(1)) for known in seeds]).T
    assert np.abs(found - expected).max() < 1e-5 * max(1.0, np.abs(expected).max())
    assert np.abs(found[:, rows.size :]).max() > 1e-3
