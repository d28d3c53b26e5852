"""CasADi, an importer for optimal control, sets states as variables; start values and sparsity are those of the XML.

Functions are compared with the core, and derivatives, complex steps in the FMU, with differences of these functions.
"""

import importlib

import numpy as np
import pytest

import linkwork as lw
from linkwork.core.native import Stage
from support.differences import relative, slope
from support.platforms import stewart
from support.unpacked import unpack

casadi = pytest.importorskip("casadi")

VERSIONS = pytest.mark.parametrize("version", ["2.0", "3.0"])
KINKS = (".residual", ".conditioning")  # on closed loops
AGREE = 1e-9  # relative to the largest number


def four_bar() -> lw.Mechanism:
    return importlib.import_module("four_bar").mechanism()


def five_bar() -> lw.Mechanism:
    return importlib.import_module("five_bar").mechanism()


def bouncing_pendulum() -> lw.Mechanism:
    """A stop and its events."""
    return importlib.import_module("bouncing_pendulum").mechanism()


def gripper() -> lw.Mechanism:
    """Pins, couplings and stops."""
    return importlib.import_module("gripper").mechanism()


@pytest.fixture(params=[four_bar, five_bar, stewart, bouncing_pendulum, gripper], ids=lambda make: make.__name__)
def model(request, checkout, monkeypatch) -> lw.Model:
    monkeypatch.syspath_prepend(checkout / "examples")
    return lw.compile(request.param())


def loaded(model: lw.Model, version: str, folder, **options):
    """CasADi's builder of an FMU, and the function of states and inputs."""
    outputs = [v.name for v in model.variables if v.kind == "output" and not v.name.endswith(KINKS) and not v.discrete]
    path = lw.export_fmu(model, folder / "a.fmu", version, outputs=outputs, **options)
    builder = casadi.DaeBuilder("a", str(unpack(path)))
    return builder, builder.create("f", ["x", "u"], ["ode", "y"])


class Reference:
    """The same functions by the core, in the order of CasADi's names."""

    def __init__(self, model: lw.Model, builder) -> None:
        self._block = model.block()
        offset = {v.name: v.reference for v in model.variables}
        state_of = {v.derivative_of: v.reference for v in model.variables if v.derivative_of is not None}
        self.x, self.u, self.y = ([offset[name] for name in names] for names in (builder.x(), builder.u(), builder.y()))
        self._read = np.array([*(state_of[name] for name in builder.x()), *self.y], dtype=np.uint32)
        self._knowns = np.array([*self.x, *self.u], dtype=np.uint32)

    def __call__(self, x, u) -> np.ndarray:
        block = self._block
        block.set(self._knowns, np.concatenate([x, u]))
        block.evaluate(Stage.OUTPUTS)
        return block.reals[self._read].copy()

    def along(self, x, u, dx, du) -> np.ndarray:
        """Derivative along a direction, by differences with extrapolation."""
        return slope(lambda h: self(x + h * dx, u + h * du), 2e-3)


def numbers(matrix) -> np.ndarray:
    return np.array(casadi.DM(matrix))


@VERSIONS
def test_functions_and_derivatives(model, version, tmp_path):
    builder, f = loaded(model, version, tmp_path)
    reference = Reference(model, builder)
    rng, x0, u0 = np.random.default_rng(3), np.array(builder.start(builder.x())), np.array(builder.start(builder.u()))
    jacobian, forward, reverse = f.jacobian(), f.forward(1), f.reverse(1)
    for scale in (0.0, 1e-3):
        x, u = x0 + scale * rng.normal(size=x0.size), u0 + rng.normal(size=u0.size)
        values = [numbers(value) for value in f(x, u)]
        found = np.concatenate(values).ravel()
        assert relative(found, reference(x, u)) < 1e-12
        blocks = [numbers(block) for block in jacobian(x, u, *values)]
        dense = np.block([blocks[:2], blocks[2:]])
        dx, du = rng.normal(size=x.size), rng.normal(size=u.size)
        by_differences = reference.along(x, u, dx, du)
        assert relative(dense @ np.concatenate([dx, du]), by_differences) < AGREE
        seeded = np.concatenate([numbers(value) for value in forward(x, u, *values, dx, du)]).ravel()
        assert relative(seeded, by_differences) < AGREE
        weights = [rng.normal(size=value.shape) for value in values]
        adjoint = np.concatenate([numbers(value) for value in reverse(x, u, *values, *weights)]).ravel()
        assert relative(adjoint, np.concatenate(weights).ravel() @ dense) < AGREE


@VERSIONS
def test_start_values_are_an_assembled_pose(model, version, tmp_path):
    builder, _ = loaded(model, version, tmp_path)
    state = model.assemble()
    names = [*model.q_names, *model.u_names]
    assembled = dict(zip(names, [*state.q, *state.u], strict=True))
    assert dict(zip(builder.x(), builder.start(builder.x()), strict=True)) == assembled
    assert np.any(state.q != 0.0)
