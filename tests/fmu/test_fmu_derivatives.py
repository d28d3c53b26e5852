"""Partial derivatives through the FMU, and the dependencies that the model description states."""

import numpy as np
import pytest

from support.fmi_calls import ERROR

KINDS = pytest.mark.parametrize("kind", ["ME", "CS"])


def matrix(instance, unknowns, knowns) -> np.ndarray:
    return np.array([instance.directional(unknowns, [known], [1.0]) for known in knowns]).T


def test_the_jacobian_is_pythons(fmu, system):
    instance = fmu.new("ME")
    instance.initialize()
    expected = system.jacobian(system.assemble())
    states = fmu.references("state")
    found = matrix(instance, fmu.references("derivative"), states)
    assert np.array_equal(found, expected)


@KINDS
def test_derivatives_equal_differences(fmu, kind, system):
    instance = fmu.new("ME")
    instance.initialize()
    # the least pivot is no smooth function, and on the closed pose the residual is none either
    kinks = ".conditioning" if kind == "ME" else ""
    diagnostics = {at for name, at in fmu.reference_of.items() if name.startswith("loop.") and name.endswith(kinks)}
    if kind == "CS":  # where states cannot be set, its values must be those of Model Exchange
        slave = fmu.new("CS")
        slave.initialize()
    states, inputs = fmu.references("state"), fmu.references("input")
    unknowns = fmu.references("state", "derivative", "output")
    x = np.array(instance.get(states))
    if kind == "ME":  # off the closed pose, where a loop's residual has a kink
        x += np.random.default_rng(4).normal(scale=0.02, size=len(states))
        instance.set_states(x)
    unknowns = [r for r in unknowns if r not in diagnostics]
    found = matrix(instance if kind == "ME" else slave, unknowns, [*states, *inputs])
    h = 1e-6
    for column, known in enumerate([*states, *inputs]):
        values = []
        for sign in (1.0, -1.0):
            if known in states:
                instance.set_states(x + sign * h * (np.array(states) == known))
            else:
                instance.set([known], [sign * h])
            values.append(np.array(instance.get(unknowns)))
        instance.set_states(x)
        instance.set(inputs, [0.0] * len(inputs))
        difference = (values[0] - values[1]) / (2 * h)
        assert np.abs(found[:, column] - difference).max() < 1e-6 * (1 + np.abs(difference).max())


def test_parameters_are_knowns_while_time_goes_on(fmu):
    """In Initialization Mode states follow from them as well; after it they stay, which for a mass is the same."""
    instance, early = fmu.new("ME"), fmu.new("ME")
    mass, unknowns = fmu.reference("coupler.mass"), fmu.references("derivative")
    early.set_up()
    instance.initialize()
    found = instance.directional(unknowns, [mass], [1.0])
    assert np.allclose(early.directional(unknowns, [mass], [1.0]), found, rtol=1e-12, atol=1e-12)
    values = []
    for value in (2.0 + 1e-6, 2.0 - 1e-6):
        instance.must("EnterEventMode")
        instance.set([mass], [value])
        instance.must("EnterContinuousTimeMode")
        values.append(np.array(instance.get(unknowns)))
    assert np.allclose(found, (values[0] - values[1]) / 2e-6, rtol=1e-5, atol=1e-6)


def test_in_initialization_mode(fmu):
    instance, later = fmu.new("ME"), fmu.new("ME")
    instance.set_up()
    later.initialize()
    unknowns, knowns = fmu.references("derivative", "output"), fmu.references("input")
    assert np.array_equal(matrix(instance, unknowns, knowns), matrix(later, unknowns, knowns))


def test_the_adjoint_is_the_transpose(built):
    fmu = built("3.0")
    instance = fmu.new("CS")
    instance.initialize()
    unknowns, knowns = fmu.references("derivative", "output"), fmu.references("state", "input")
    seed = np.random.default_rng(2).normal(size=len(unknowns))
    found = instance.product("GetAdjointDerivative", unknowns, knowns, list(seed))
    assert np.allclose(found, seed @ matrix(instance, unknowns, knowns), rtol=1e-12, atol=1e-12)


def test_wrong_requests_are_refused(fmu):
    instance = fmu.new("ME")
    instance.initialize()
    unknown, output = fmu.references("derivative")[0], fmu.references("output")[0]
    for unknowns, knowns, seed in (
        ([unknown], [output], [1.0]),
        ([10**6], [output], [1.0]),
        ([unknown], [10**6], [1.0]),
    ):
        with pytest.raises(AssertionError):
            instance.directional(unknowns, knowns, seed)
        assert instance.messages[-1][0] == ERROR
    with pytest.raises(AssertionError, match="finite"):
        instance.directional([unknown], fmu.references("state")[:1], [np.nan])
    assert instance.directional([], [], []) == []


def test_undeclared_knowns_change_nothing(fmu, needs):
    fmpy = needs("fmpy")
    model = fmpy.read_model_description(str(fmu.path))
    instance = fmu.new("ME")
    instance.initialize()
    states, inputs = fmu.references("state"), fmu.references("input")
    rng = np.random.default_rng(3)
    x = np.array(instance.get(states)) + rng.normal(scale=0.02, size=len(states))  # off the manifold: nothing cancels
    instance.set(inputs, list(rng.normal(size=len(inputs))))
    instance.set_states(x)
    instance.must("CompletedIntegratorStep", 1, bytes(8), bytes(8))
    unknowns = [*model.outputs, *model.derivatives]
    references = [u.variable.valueReference for u in unknowns]
    before = instance.get(references)
    checked = 0
    for known in [*states, *inputs]:
        if known in states:
            instance.set_states(x + 0.01 * (np.array(states) == known))
        else:
            (value,) = instance.get([known])
            instance.set([known], [value + 0.3])
        after = instance.get(references)
        for unknown, old, new in zip(unknowns, before, after, strict=True):
            if unknown.dependencies is not None and known not in [d.valueReference for d in unknown.dependencies]:
                checked += 1
                assert old == new, (unknown.variable.name, known)
        instance.set_states(x)
        if known in inputs:
            instance.set([known], [value])
    assert checked > 100
