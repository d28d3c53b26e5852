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


# ---- the profile for CasADi ----


def written_for_casadi(mech, version: str, folder, **options):
    model = mech if isinstance(mech, lw.Model) else lw.compile(mech)
    path = lw.export_fmu(model, folder / "p.fmu", version, profile="casadi", reference=False, **options)
    builder = casadi.DaeBuilder("p", str(unpack(path)))
    return model, builder, builder.create("f", ["x", "u"], ["ode", "y"])


@VERSIONS
@pytest.mark.parametrize("name", ["gripper", "joint_lock", "bouncing_pendulum", "coarse_graining", "planar_robot"])
def test_the_profile_takes_every_mechanism(name, version, checkout, monkeypatch, tmp_path):
    """Transitions, and so many bodies that lists of dependencies are left out for other importers."""
    monkeypatch.syspath_prepend(checkout / "examples")
    options = {"states": "minimal"} if name == "planar_robot" else {}
    model, builder, f = written_for_casadi(importlib.import_module(name).mechanism(), version, tmp_path, **options)
    discrete = {v.name for v in model.variables if v.discrete or v.type != "real"}
    assert not discrete & {*builder.u(), *builder.y()}
    x, u = np.array(builder.start(builder.x())), np.array(builder.start(builder.u()))
    values = f(x, u)
    offset = {v.name: v.reference for v in model.variables}
    block = model.block()
    state = model.assemble()
    model.enter(block, state)
    block.evaluate(Stage.OUTPUTS)
    assert relative(numbers(values[1]).ravel(), block.reals[[offset[name] for name in builder.y()]]) < 1e-9
    assert all(np.isfinite(numbers(block)).all() for block in f.jacobian()(x, u, *values))


@VERSIONS
@pytest.mark.parametrize("states", ["full", "minimal"])
def test_parameters_as_inputs(version, states, checkout, monkeypatch, tmp_path):
    """Their derivatives are those of differences of the core."""
    monkeypatch.syspath_prepend(checkout / "examples")
    wanted = ["A", "coupler.mass", "gravity", "crank.com[1]"]
    outputs = ["energy.kinetic", "coupler.v", "A.a", "D.f"]
    model, builder, f = written_for_casadi(four_bar(), version, tmp_path, inputs=wanted, outputs=outputs, states=states)
    parameters = {"coupler.mass", "gravity[1]", "gravity[2]", "gravity[3]", "crank.com[1]"}
    assert set(builder.u()) == {"A.tau", *parameters}
    x, u = np.array(builder.start(builder.x())), np.array(builder.start(builder.u()))
    du = np.random.default_rng(1).normal(size=u.size)
    offset = {v.name: v.reference for v in model.variables}
    block, state = model.block(), model.assemble()
    model.enter(block, state)

    def reference(h: float) -> np.ndarray:
        block.set(np.array([offset[name] for name in builder.u()], np.uint32), u + h * du)
        block.evaluate(Stage.OUTPUTS)
        return block.reals[[offset[name] for name in builder.y()]].copy()

    values = f(x, u)
    assert relative(numbers(values[1]).ravel(), reference(0.0)) < 1e-12
    found = numbers(f.forward(1)(x, u, *values, np.zeros(x.shape), du)[1]).ravel()
    assert relative(found, slope(reference, 2e-3)) < AGREE
    dense = numbers(f.jacobian()(x, u, *values)[3])
    assert relative(dense @ du, found) < AGREE


def test_identification_of_a_mass_and_a_stiffness(checkout, monkeypatch, tmp_path):
    """From accelerations of a mechanism with other values, by IPOPT."""
    monkeypatch.syspath_prepend(checkout / "examples")
    mech = four_bar()
    mech.add_force(lw.SpringDamper("A", stiffness=20.0))
    names = ["coupler.mass", "A.stiffness"]
    model, builder, f = written_for_casadi(mech, "3.0", tmp_path, inputs=names, outputs=["A.a"], states="minimal")
    assert builder.u() == names or sorted(builder.u()) == sorted(names)
    true = {"coupler.mass": 2.7, "A.stiffness": 33.0}
    offset = {v.name: v.reference for v in model.variables}
    rng, unknown, residual = np.random.default_rng(4), casadi.MX.sym("p", 2), []
    x0 = np.array(builder.start(builder.x()))
    for _ in range(6):
        x = x0 + 0.2 * rng.normal(size=x0.shape)
        state = model.assemble(q={"A": x[builder.x().index("A.q")]}, u={"A": x[builder.x().index("A.u")]})
        block = model.block()
        model.enter(block, state)
        block.set(np.array([offset[name] for name in true], np.uint32), np.array(list(true.values())))
        block.evaluate(Stage.ACCELERATIONS)
        residual.append(f(x, unknown)[1] - block.reals[offset["A.a"]])
    solver = casadi.nlpsol(
        "s",
        "ipopt",
        {"x": unknown, "f": casadi.sumsqr(casadi.vertcat(*residual))},
        {
            "ipopt": {"print_level": 0, "sb": "yes", "hessian_approximation": "limited-memory", "tol": 1e-12},
            "print_time": 0,
        },
    )
    begin = {"coupler.mass": 1.5, "A.stiffness": 20.0}
    found = numbers(solver(x0=[begin[name] for name in builder.u()])["x"]).ravel()
    assert found == pytest.approx([true[name] for name in builder.u()], rel=1e-5)


def test_what_the_profile_refuses(tmp_path):
    with pytest.raises(lw.ExportError, match="leave out arrays=True"):
        written_for_casadi(stewart(), "3.0", tmp_path, arrays=True)
    with pytest.raises(lw.ExportError, match="leave out dae=True"):
        written_for_casadi(stewart(), "3.0", tmp_path, dae=True)
    with pytest.raises(lw.ExportError, match=r"no profile .casady.*casadi"):
        lw.export_fmu(stewart(), tmp_path / "a.fmu", profile="casady")
    mech = lw.Mechanism("pendulum")
    mech.add_body("rod", mass=1.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(1.0, 1.0))
    mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
    mech.add_transition("stop", lw.Stop("A", lower=-1.0, upper=1.0, restitution=0.5))
    with pytest.raises(lw.ExportError, match=r"stop\.active is discrete"):
        written_for_casadi(mech, "3.0", tmp_path, outputs=["stop.active"])
    with pytest.raises(lw.ExportError, match=r"stop\.lower cannot be an input"):
        written_for_casadi(mech, "3.0", tmp_path, inputs=["A", "stop.lower"])


@VERSIONS
def test_an_fmu_of_the_profile_passes_all_checks(version, tmp_path, needs):
    needs("fmpy")
    path = lw.export_fmu(stewart(), tmp_path / "p.fmu", version, profile="casadi")
    assert [one.text for one in lw.check_fmu(path, skip=["memory"]).findings()] == []
