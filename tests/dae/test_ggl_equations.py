"""The equations with multipliers on random mechanisms: accelerations of the oracle satisfy them, and their pieces."""

import numpy as np
import pytest
import scipy.linalg

import linkwork as lw
from support.augmented import augmented, step_off
from support.driven import TIME, driven, movable
from support.driving import random_loads, reached
from support.gear_families import GEAR_FAMILIES
from support.joint_families import JOINT_FAMILIES
from support.random_mechanisms import FAMILIES, random_tree, well_posed
from support.spanned import SPANNED

LOOPS = {name: make for name, (make, *_) in (FAMILIES | JOINT_FAMILIES).items()}
GEARS = {name: make for name, (make, *_) in GEAR_FAMILIES.items()}
MAKERS = LOOPS | GEARS | {f"distances: {name}": make for name, make in SPANNED.items()}
KINDS = ("revolute", "prismatic", "universal", "cylindrical", "planar", "spherical", "free", "fixed", "screw")
KINDS += ("pin_in_slot", "curved_slide", "curved_slot")


@pytest.fixture(scope="module", params=MAKERS)
def scene(request):
    return well_posed(MAKERS[request.param], seed=1)


@pytest.fixture(scope="module", params=list(MAKERS)[::3])
def sample(request):
    return well_posed(MAKERS[request.param], seed=2)


def largest(array):
    return float(np.abs(array).max(initial=0.0))


def loaded(scene):
    """With loads in all joints, and the oracle's accelerations under them."""
    system, state = reached(scene)
    rng = np.random.default_rng(0)
    tau = random_loads(rng, scene)
    return augmented(system, state, {k: v for k, v in tau.items() if np.size(v)}), scene.oracle.solve(scene.u, tau).udot


@pytest.mark.thin(12, kept=2)
def test_accelerations_of_the_oracle_balance(scene):
    at, udot = loaded(scene)
    y, ydot = at.start()
    ydot[at.nq : at.states.size] = at.speeds(udot)
    scale = 1.0 + largest(ydot)
    assert largest(at.ggl.residual(0.0, y, ydot)) < 1e-9 * scale


@pytest.mark.thin(12, kept=2)
def test_closed_scenes_have_no_lack_and_only_their_motions(scene):
    """The degrees of freedom are those of the oracle, and none of its motions is prevented."""
    system, state = reached(scene)
    at = augmented(system, state)
    phi, rate = at.ggl.constraint_residuals(0.0, at.states)
    assert largest(phi) < 1e-11
    assert largest(rate) < 1e-10
    at.start()
    matrix = at.block.constraint_jacobian()
    assert at.system.sizes.nu - at.kept.sum() == scene.oracle.motions.shape[1]
    for k in range(3):
        u = at.speeds(scene.oracle.random_speeds(np.random.default_rng(k)))
        assert largest(matrix @ u) < 1e-9 * (1.0 + largest(u))
    assert np.array_equal(at.ggl.relaxation[: at.ggl.rows], at.ggl.relaxation[at.ggl.rows :])


def test_rows_are_the_rates_of_what_is_lacking(sample):
    """Where the loops are closed, by differences along the motion of the open tree."""
    system, state = reached(sample)
    at = augmented(system, state)
    rng, h = np.random.default_rng(3), 1e-6
    y, ydot = at.start()
    y[at.nq : at.states.size] = rng.normal(size=at.system.sizes.nu)
    qdot = -at.ggl.residual(0.0, y, 0.0 * ydot)[: at.nq]
    moved = [
        at.ggl.constraint_residuals(0.0, np.r_[y[: at.nq] + s * qdot, y[at.nq : at.states.size]])[0] for s in (h, -h)
    ]
    rate = at.ggl.constraint_residuals(0.0, y[: at.states.size])[1]
    assert (moved[0] - moved[1]) / (2 * h) == pytest.approx(rate, abs=1e-7 * (1.0 + largest(rate)))


def test_multipliers_act_along_their_rows(sample):
    """Virtual power: loads are J' lambda, and what slows the coordinates is J' mu."""
    system, state = reached(sample)
    at = augmented(system, state)
    rng, n, end, rows = np.random.default_rng(4), at.nq, at.states.size, at.ggl.rows
    y, ydot = step_off(rng, at)
    at.block.put("q", y[:n])
    along = at.block.constraint_jacobian().T @ (given := rng.normal(size=rows))
    none, slower, loaded, drifting = ydot.copy(), y.copy(), ydot.copy(), ydot.copy()
    none[end:] = loaded[end:] = drifting[end:] = 0.0
    loaded[end : end + rows] = drifting[end + rows :] = given
    slower[n:end] -= along
    free = at.ggl.residual(0.0, y, none)
    scale = 1.0 + largest(free) + largest(along)
    assert at.ggl.residual(0.0, y, loaded)[n:end] == pytest.approx(free[n:end] - along, abs=1e-11 * scale)
    expected = at.ggl.residual(0.0, slower, none)[:n]
    assert at.ggl.residual(0.0, y, drifting)[:n] == pytest.approx(expected, abs=1e-11 * scale)


def test_newton_matrix_against_central_differences(sample):
    system, state = reached(sample)
    at = augmented(system, state)
    y, ydot = step_off(np.random.default_rng(5), at)
    cj, h = 3.7, 1e-6

    def change(e):
        ahead, behind = (at.ggl.residual(0.0, y + s * e, ydot + cj * s * e) for s in (h, -h))
        return (ahead - behind) / (2 * h)

    expected = np.column_stack([change(e) for e in np.eye(at.ggl.n)])
    assert at.ggl.jacobian(0.0, y, ydot, cj) == pytest.approx(expected, abs=2e-7 * largest(expected))


@pytest.mark.thin(6)
def test_index_one(sample):
    """dF/dy' has as large a rank as there are finite eigenvalues: the degree of det(dF/dy + s dF/dy')."""
    system, state = reached(sample)
    at = augmented(system, state)
    y, ydot = at.start()
    by_y = at.ggl.jacobian(0.0, y, ydot, 0.0)
    by_rate = at.ggl.jacobian(0.0, y, ydot, 1.0) - by_y
    rank = np.linalg.matrix_rank(by_rate, tol=1e-10)
    assert rank == at.ggl.n - 2 * at.kept.sum()
    left = scipy.linalg.null_space(by_rate.T, rcond=1e-12)
    right = scipy.linalg.null_space(by_rate, rcond=1e-12)
    if left.size:  # index 1: the algebraic part is regular
        assert np.linalg.cond(left.T @ by_y @ right) < 1e9


@pytest.mark.parametrize("seed", range(5))
def test_trees_have_no_rows(seed):
    scene = random_tree(np.random.default_rng(seed), 8, KINDS, springs=2)
    at, udot = loaded(scene)
    y, ydot = at.start()
    ydot[at.nq :] = at.speeds(udot)
    assert at.ggl.rows == 0
    assert largest(at.ggl.residual(0.0, y, ydot)) < 1e-9 * (1.0 + largest(ydot))


DRIVEN = ["planar_5R", "slider_crank_cut_slider", "closed_chain_12R", "loop_on_loop", "three_spatial_legs"]


@pytest.mark.parametrize("name", [*DRIVEN, "stewart", "cam", "gear_on_cut_joint"])
def test_prescribed_motions(name):
    """Rows that depend on time, with the oracle that is given the accelerations."""
    for seed in range(30):
        scene, rng = well_posed(MAKERS[name], seed), np.random.default_rng(seed)
        case = driven(scene, rng, [str(rng.choice(movable(scene)))])
        try:
            udot = case.oracle.solve(scene.u, given=case.given).udot
        except AssertionError:
            continue
        if case.oracle.conditioning > 0.01 and case.oracle.rank > scene.oracle.rank:
            break
    system = lw.compile(case.mechanism)
    at = augmented(system, system.assemble(q=scene.q, u=scene.u, time=TIME))
    y, ydot = at.start()
    ydot[at.nq : at.states.size] = at.speeds(udot)
    assert largest(at.ggl.residual(TIME, y, ydot)) < 1e-9 * (1.0 + largest(ydot))
    later = (
        at.ggl.constraint_residuals(TIME + 1e-6, at.states)[0] - at.ggl.constraint_residuals(TIME - 1e-6, at.states)[0]
    )
    assert largest(later) > 1e-9


@pytest.mark.parametrize("name", ["planar_5R", "stewart", "gear_on_cut_joint", "three_spatial_legs"])
@pytest.mark.parametrize("method", ["multipliers", "dca", "embedding"])
def test_methods_of_the_reduced_equations_do_not_matter(name, method):
    scene = well_posed(MAKERS[name], seed=1)
    system, state = reached(scene, method)
    at, udot = augmented(system, state), scene.oracle.solve(scene.u).udot
    y, ydot = at.start()
    ydot[at.nq : at.states.size] = at.speeds(udot)
    assert largest(at.ggl.residual(0.0, y, ydot)) < 1e-9 * (1.0 + largest(ydot))
