"""Solver "rodas5p" on mechanisms: their Jacobian in C, stiff springs and dampers, loops."""

import numpy as np
import pytest

import linkwork as lw
from linkwork.core._core import ffi, lib
from linkwork.core.native import Stage
from support.cases import four_bar
from support.driven import TIME, driven
from support.gear_families import GEAR_FAMILIES
from support.joint_families import JOINT_FAMILIES
from support.methods import METHODS, compiled
from support.quarter_car import quarter_car_multilink
from support.random_mechanisms import FAMILIES, random_tree, well_posed
from support.stiff import governor, slug_on_a_rod

MADE = FAMILIES | JOINT_FAMILIES | GEAR_FAMILIES
SCENES = [
    "planar_4R_springs",
    "spatial_7R",
    "loop_on_loop",
    "sprung_coupled",
    "free_tree",
    "RSSR",
    "cam",
    "gear_in_loop",
]

# ---- the Jacobian in C ----


def by_c(block, t: float, y: np.ndarray) -> tuple[int, np.ndarray, np.ndarray]:
    matrix, by_time = np.full((y.size, y.size), np.nan), np.full(y.size, np.nan)
    pointers = [ffi.from_buffer("double[]", array) for array in (y, matrix, by_time)]
    return lib.lw_ode_mechanism_jacobian(block.handle, t, *pointers), matrix, by_time


def scene_of(name: str):
    return well_posed(MADE[name][0], 0) if name in MADE else random_tree(np.random.default_rng(5), 6)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", [*SCENES, "tree"])
def test_it_is_the_jacobian_of_the_derivatives(name: str, method: str) -> None:
    """To the bit, wherever the block was before."""
    scene = scene_of(name)
    system = compiled(scene.mechanism, method)
    state = system.assemble(q=scene.q, u=scene.u)
    y = np.concatenate([state.q, state.u])
    expected = system.jacobian(state)
    block = system.block()
    for away in (0.0, 1e-3, 0.0):
        status, matrix, by_time = by_c(block, 0.0, y + away)
        assert status == 0
    assert np.array_equal(matrix, expected)
    assert not by_time.any()
    derivative = np.empty(y.size)
    pointers = [ffi.from_buffer("double[]", array) for array in (y, derivative)]
    assert lib.lw_ode_mechanism(block.handle, 0.0, *pointers) == 0
    assert np.array_equal(derivative, system.derivatives(state))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["planar_5R", "closed_chain_12R"])
def test_prescribed_motions_depend_on_time(name: str, method: str) -> None:
    scene = scene_of(name)
    joint = next(iter(scene.u))
    made = driven(scene, np.random.default_rng(2), [joint])
    system = compiled(made.mechanism, method)
    state = system.assemble(q=scene.q, u=scene.u, time=TIME)
    y, block, h = np.concatenate([state.q, state.u]), system.block(), 1e-5
    status, _, by_time = by_c(block, TIME, y)

    def derivative(t: float) -> np.ndarray:
        out = np.empty(y.size)
        pointers = [ffi.from_buffer("double[]", array) for array in (y, out)]
        assert lib.lw_ode_mechanism(block.handle, t, *pointers) == 0
        return out

    # of order four, and to either side of the closed pose
    near, far = (derivative(TIME + k * h) - derivative(TIME - k * h) for k in (1, 2))
    expected = (8.0 * near - far) / (12.0 * h)
    assert status == 0
    assert np.abs(by_time).max() > 0.1
    assert by_time == pytest.approx(expected, abs=1e-4 * np.abs(expected).max())


def test_it_follows_parameters_and_says_where_there_is_none() -> None:
    scene = scene_of("planar_4R_springs")
    system = lw.compile(scene.mechanism)
    state = system.assemble(q=scene.q, u=scene.u)
    y, block = np.concatenate([state.q, state.u]), system.block()
    before = by_c(block, 0.0, y)[1]
    for factor in (2.0, 1.0):
        gravity = factor * np.array(scene.mechanism.gravity)
        block.put("gravity", gravity, Stage.NONE)
        status, matrix, _ = by_c(block, 0.0, y)
        assert status == 0
        assert np.array_equal(matrix, before) == (factor == 1.0)
    assert by_c(block, 0.0, np.full(y.size, np.nan))[0] == 1


# ---- simulation ----


def evaluations(result: lw.Result) -> int:
    """Of the derivative, a Jacobian counted as one for each state."""
    return result.statistics.evaluations + result.y.shape[1] * result.statistics.jacobian_evaluations


STIFF = {
    "damper": (lambda: slug_on_a_rod(damping=6e4), 0.2),
    "spring and damper": (lambda: slug_on_a_rod(1e9, 6e4), 0.2),
    "governor": (lambda: governor(8e5, 6e4), 0.3),
}


@pytest.mark.parametrize("name", STIFF)
def test_stiff_mechanisms_take_few_evaluations(name: str) -> None:
    make, t_end = STIFF[name]
    exact = lw.simulate(make(), t_end, solver="Radau", rtol=1e-10).y[-1]
    explicit = lw.simulate(make(), t_end, solver="dopri5", rtol=1e-6)
    for rtol in (1e-6, 1e-8, 1e-10):
        found = lw.simulate(make(), t_end, solver="rodas5p", rtol=rtol)
        assert np.abs(found.y[-1] - exact).max() < 10 * rtol
        assert evaluations(found) < evaluations(explicit) / 10
        assert found.statistics.jacobian_evaluations == found.statistics.steps


def test_an_undamped_spring_is_passed_over_where_it_is_at_rest() -> None:
    """A billion N/m, of 40 kHz: too much for the explicit method, and a few steps."""
    found = lw.simulate(slug_on_a_rod(1e9), 0.2, solver="rodas5p", rtol=1e-8)
    stiff = lw.simulate(slug_on_a_rod(1e12, 1e7), 0.2, solver="rodas5p", rtol=1e-8)
    assert found.statistics.steps < 100
    assert found["A.q"][-1] == pytest.approx(stiff["A.q"][-1], abs=1e-7)


@pytest.mark.parametrize(("case", "t_end"), [(four_bar, 1.0), (quarter_car_multilink, 0.1)])
def test_loops_move_as_by_other_methods(case, t_end: float) -> None:
    mech, times = case().mechanism, np.linspace(0.0, t_end, 41)
    runs = [lw.simulate(mech, t_end, solver=s, rtol=1e-10, t_eval=times) for s in ("rodas5p", "dopri5", "DOP853")]
    for other in runs[1:]:
        assert np.abs(runs[0].y - other.y).max() < 2e-8
    assert np.abs(runs[0].y[-1] - runs[1].y[-1]).max() < 1e-9
