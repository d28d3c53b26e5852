"""Orders of convergence of all masters on a random coupled system, by its exact solution."""

import functools

import numpy as np
import pytest

from linkwork.cosim import Adaptive, GaussSeidel, Jacobi, run
from support.dense_network import Dense, exponential
from support.random_networks import inputs_of, random_network, system_of

MASTERS = [(Jacobi, 0), (Jacobi, 1), (Jacobi, 2), (GaussSeidel, 0), (GaussSeidel, 1), (GaussSeidel, 2)]
#: Of FMUs that take derivatives of inputs, and that do not; without and with direct feedthrough.
KINDS = {"2.0": {"version": "2.0", "interpolates": True}, "3.0": {"version": "3.0", "interpolates": False}}
FEEDTHROUGH = [0.0, 0.4]
STOP = 1.0


pytestmark = pytest.mark.usefixtures("fmpy_and_gcc")


@functools.cache
def network(kind: str, feedthrough: float) -> Dense:
    """At least three stable blocks in a circle, with at least five connections."""
    rng = np.random.default_rng(1)
    while True:
        dense = random_network(
            rng, feedthrough=feedthrough, plain=True, external=False, discrete=False, told="exact", **KINDS[kind]
        )
        own = np.linalg.eigvals(dense.together()[0])
        passes = np.abs(dense.L @ dense.D).max() > 0
        if len(dense.blocks) < 3 or (dense.feeder >= 0).sum() < 5 or passes != (feedthrough > 0):
            continue
        if len(own) >= 5 and own.real.max() < -0.1 and np.abs(own).max() < 8 and (dense.feeder < 0).any():
            return dense


def gently_started(dense: Dense) -> tuple[Dense, np.ndarray]:
    """The same at rest, driven by t^3 at unconnected inputs; and its outputs at the end."""
    for block in dense.blocks:
        block.x0, block.u0 = 0.0 * block.x0, 0.0 * block.u0
    free = np.flatnonzero(dense.feeder < 0)
    owners = [next(k for k, part in enumerate(dense.u) if part.start <= one < part.stop) for one in free]
    wave = {(k, int(one) - dense.u[k].start): lambda t: 10.0 * t**3 for k, one in zip(owners, free, strict=True)}
    gentle = Dense(dense.blocks, dense.links, wave)
    inner = np.linalg.inv(np.eye(len(dense.l)) - dense.L @ dense.D)
    P, drive = gentle.together()[0], gentle.B @ inner @ (dense.feeder < 0).astype(float)
    rates = [np.zeros(1), np.zeros(1), np.zeros(1), np.array([60.0])]
    x = exponential(P, drive[:, None], gentle.x0, rates, STOP)
    return gentle, gentle.outputs(x, gentle.inputs(x, STOP))


def error(dense, exact, master) -> float:
    result = run(system_of(dense), STOP, master=master, inputs=inputs_of(dense))
    names = [f"c{k}.y[{j + 1}]" for k, part in enumerate(dense.y) for j in range(part.stop - part.start)]
    return float(np.abs(np.array([result[name][-1] for name in names]) - exact).max())


def order(dense, exact, master, extrapolation) -> float:
    errors = [error(dense, exact, master(step, extrapolation)) for step in (0.01, 0.005)]
    return float(np.log2(errors[0] / errors[1]))


@pytest.mark.thin(8, kept=2)
@pytest.mark.parametrize("feedthrough", FEEDTHROUGH)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("master", "extrapolation"), MASTERS)
def test_order_from_any_state(master, extrapolation, kind, feedthrough):
    """The first step with parabolas is made twice, as nothing is known before it, so that it keeps their order."""
    dense = network(kind, feedthrough)
    x = dense.exact(STOP)
    exact = dense.outputs(x, dense.inputs(x, STOP))
    assert order(dense, exact, master, extrapolation) == pytest.approx(extrapolation + 1, abs=0.15)


@pytest.mark.thin(8, kept=2)
@pytest.mark.parametrize("feedthrough", FEEDTHROUGH)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("master", "extrapolation"), MASTERS)
def test_order_from_rest(master, extrapolation, kind, feedthrough):
    """Where inputs begin gently, all orders are seen."""
    dense, exact = gently_started(network.__wrapped__(kind, feedthrough))
    assert order(dense, exact, master, extrapolation) == pytest.approx(extrapolation + 1, abs=0.25)


@pytest.mark.thin(8, kept=2)
@pytest.mark.parametrize("feedthrough", FEEDTHROUGH)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("inner", ["jacobi", "gauss-seidel"])
@pytest.mark.parametrize("extrapolation", [1, 2])
def test_errors_of_adaptive_follow_its_tolerance(extrapolation, inner, kind, feedthrough):
    dense = network(kind, feedthrough)
    x = dense.exact(STOP)
    exact = dense.outputs(x, dense.inputs(x, STOP))
    tolerances = np.array([1e-2, 1e-3, 1e-4])
    errors = np.array(
        [error(dense, exact, Adaptive(one, inner=inner, extrapolation=extrapolation)) for one in tolerances]
    )
    assert np.all(errors < 3.0 * tolerances * (1.0 + np.abs(exact).max()))
    assert errors[2] < 0.2 * errors[0]  # the first step is a thousandth of the run whatever the tolerance
