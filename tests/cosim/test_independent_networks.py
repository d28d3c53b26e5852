"""Random networks of linear FMUs, at all communication points against one dense linear system."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linkwork.cosim import Adaptive, GaussSeidel, Jacobi, run
from support.dense_network import Dense
from support.random_networks import apart, inputs_of, random_network, system_of

SEEDS = st.integers(0, 10_000)
FEW = settings(max_examples=6, derandomize=True)


pytestmark = pytest.mark.usefixtures("fmpy_and_gcc")


def allowed(dense: Dense) -> float:
    """Rounding; where there is an algebraic loop, what its solver leaves."""
    loops = np.linalg.matrix_power(dense.L @ dense.D, len(dense.l)).any()
    return 1e-9 if loops else 1e-12


def ordered(rng: np.random.Generator, dense: Dense) -> tuple[list[int], list[str]]:
    sequence = [int(k) for k in rng.permutation(len(dense.blocks))]
    return sequence, [f"c{k}" for k in sequence]


@pytest.mark.parametrize("order", [0, 1, 2])
@FEW
@given(seed=SEEDS)
def test_jacobi(order, seed):
    dense = random_network(np.random.default_rng(seed))
    result = run(system_of(dense), 1.0, master=Jacobi(0.13, order), inputs=inputs_of(dense))
    assert apart(result, dense, *dense.fixed(result.t, order)) < allowed(dense)


@pytest.mark.parametrize("order", [0, 1, 2])
@FEW
@given(seed=SEEDS)
def test_gauss_seidel(order, seed):
    rng = np.random.default_rng(seed)
    dense = random_network(rng)
    sequence, names = ordered(rng, dense)
    result = run(system_of(dense), 1.0, master=GaussSeidel(0.13, order, names), inputs=inputs_of(dense))
    assert apart(result, dense, *dense.fixed(result.t, order, sequence)) < allowed(dense)


@pytest.mark.parametrize("told", ["exact", "all", "nothing"])
@pytest.mark.parametrize("directional", [False, True])
@FEW
@given(seed=SEEDS)
def test_loops_are_solved_however_feedthrough_is_declared(told, directional, seed):
    """Most outputs depend on inputs directly, so that many loops hang together."""
    dense = random_network(np.random.default_rng(seed), feedthrough=0.7, told=told, directional=directional)
    result = run(system_of(dense), 0.1, master=Jacobi(0.1), inputs=inputs_of(dense))
    assert apart(result, dense, *dense.fixed(result.t, 0)) < allowed(dense)


@FEW
@given(seed=SEEDS)
def test_exact_dependencies_without_a_loop_need_no_iteration(seed):
    dense = random_network(np.random.default_rng(seed), feedthrough=0.15, told="exact")
    result = run(system_of(dense), 0.2, master=Jacobi(0.1), inputs=inputs_of(dense))
    loops = np.linalg.matrix_power(np.abs(dense.L) @ np.abs(dense.D), len(dense.l)).any()
    assert (result.statistics.iterations > 0) == loops


@pytest.mark.parametrize("master", [Jacobi, GaussSeidel])
@FEW
@given(seed=SEEDS)
def test_arrays_of_fmi_3(master, seed):
    """Whole arrays are connected to such of the same size."""
    rng = np.random.default_rng(seed)
    dense = array_network(rng)
    result = run(system_of(dense), 1.0, master=master(0.13, 1))
    sequence = [*range(len(dense.blocks))] if master is GaussSeidel else None
    assert apart(result, dense, *dense.fixed(result.t, 1, sequence)) < allowed(dense)


def array_network(rng: np.random.Generator) -> Dense:
    from support.dense_network import Link
    from support.random_networks import random_block

    blocks = []
    while len(blocks) < 3:
        block = random_block(rng, 0.2, version="3.0", arrays=True, told="all", directional=bool(rng.random() < 0.5))
        if block.sizes[1] == block.sizes[2] and (not blocks or block.sizes[1] == blocks[0].sizes[1]):
            block.D = 0.3 * block.D
            blocks.append(block)
    factors, offsets = rng.uniform(-0.5, 0.5, 3), rng.normal(size=3)
    n = blocks[0].sizes[1]
    links = [Link((k + 1) % 3, j, k, j, factors[k], offsets[k], convert=False) for k in range(3) for j in range(n)]
    return Dense(blocks, links)


@pytest.mark.thin(2)
@pytest.mark.parametrize("inner", ["jacobi", "gauss-seidel"])
@pytest.mark.parametrize("order", [0, 1, 2])
@settings(max_examples=3, derandomize=True)
@given(seed=SEEDS)
def test_adaptive(order, inner, seed):
    """Rolled back steps leave no trace in the steps that are accepted; each keeps the bound on its error."""
    rng = np.random.default_rng(seed)
    dense = random_network(rng, discrete=False)
    sequence, names = ordered(rng, dense)
    stop, tolerance = 0.5, (0.1, 1e-2, 1e-3)[order]
    first = names if inner == "gauss-seidel" else None
    master = Adaptive(tolerance, first_step=0.05, inner=inner, extrapolation=order, order=first)
    result = run(system_of(dense), stop, master=master, inputs=inputs_of(dense))
    u, y, differences = dense.doubled(result.t, order, sequence if inner == "gauss-seidel" else None)
    assert apart(result, dense, u, y) < allowed(dense)
    fed = dense.feeder >= 0
    scale = np.abs(dense.L).sum(axis=1)[fed] + np.abs(u[1:, fed])
    share = 4.0 * np.diff(result.t)[:, None] / stop
    assert np.all(np.abs(differences[:, fed]) <= 1.0001 * tolerance * share * scale + 1e-12)


@pytest.mark.parametrize("inner", ["jacobi", "gauss-seidel"])
def test_adaptive_rolls_back(inner):
    """The first steps are far too long."""
    dense = random_network(np.random.default_rng(5), discrete=False)
    master = Adaptive(1e-3, first_step=0.25, inner=inner, extrapolation=1)
    result = run(system_of(dense), 0.5, master=master, inputs=inputs_of(dense))
    assert result.statistics.rejected >= 2
    sequence = [*range(len(dense.blocks))] if inner == "gauss-seidel" else None
    assert apart(result, dense, *dense.doubled(result.t, 1, sequence)[:2]) < 1e-9
