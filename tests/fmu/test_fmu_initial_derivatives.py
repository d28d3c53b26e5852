"""Partial derivatives through initialisation, of event indicators, and backwards."""

import numpy as np
import pytest

import linkwork as lw
from support.differences import slope
from support.driven_slider_crank import driven_slider_crank
from support.fmi_calls import DISCARD
from support.latched import pendulum

VERSION = pytest.mark.parametrize("version", ["2.0", "3.0"])
# the least pivot is no smooth function, and on closed loops the residual is none either
KINKS = (".residual", ".conditioning")


def smooth(fmu) -> list[int]:
    """All that is computed and has derivatives."""
    kinds = ("state", "derivative", "output")
    found = [v for v in fmu.system.variables if v.kind in kinds and v.type == "real" and not v.discrete]
    return [fmu.reference(v.name) for v in found if not v.name.endswith(KINKS)]


def differences(instance, known: int, value: float, unknowns: list[int]) -> np.ndarray:
    """What initialisation makes of changed values of one known."""

    def initialised(step: float) -> np.ndarray:
        instance.must("Reset")
        instance.set([known], [value + step])
        instance.set_up(start=0.2)
        return np.array(instance.get(unknowns))

    return slope(initialised)


def derivative(instance, known: int, unknowns: list[int]) -> np.ndarray | None:
    """None: the loops cannot stay closed."""
    try:
        return np.array(instance.directional(unknowns, [known], [1.0]))
    except AssertionError:
        assert instance.messages[-1][0] == DISCARD
        assert "cannot stay closed" in instance.last
        return None


def is_kept(instance, fmu, name: str, value: float) -> bool:
    return instance.get([fmu.reference(name.replace("_start", ""))]) == pytest.approx([value], abs=1e-12)


def check(fmu, kind: str, kinds: tuple[str, ...]) -> int:
    """Each parameter, start value and input; a start value that is set is given, so that all runs set it.

    A seed that opens a loop has no derivative, and a start next to it cannot be initialised.
    """
    instance, unknowns, checked = fmu.new(kind), smooth(fmu), 0
    knowns = [v for v in fmu.system.variables if v.kind in kinds and v.type == "real" and not v.discrete]
    for known in knowns:
        if known.name.endswith(".reflected_inertia"):
            continue  # below zero there are no rotors
        if ".inertia[" in known.name and not known.name.startswith("piston"):
            continue  # of thin rods, next to which there are no bodies
        instance.must("Reset")
        value = (known.start or 0.0) + (0.01 if known.kind == "start" else 0.0)  # to be given it must differ
        instance.set([fmu.reference(known.name)], [value])
        instance.set_up(start=0.2)
        if known.kind == "start" and not is_kept(instance, fmu, known.name, value):
            continue  # assembly is differentiated as though it began where it ended
        exact = derivative(instance, fmu.reference(known.name), unknowns)
        if exact is None:
            with pytest.raises(AssertionError, match="start values"):
                differences(instance, fmu.reference(known.name), value, unknowns)
            continue
        found = differences(instance, fmu.reference(known.name), value, unknowns)
        assert np.abs(exact - found).max() < 1e-7 * (1 + np.abs(found).max()), known.name
        checked += bool(np.abs(found).max() > 1e-3)
    return checked


@pytest.mark.parametrize("kind", ["ME", "CS"])
def test_of_a_four_bar(fmu, kind):
    """A.q_start moves the whole linkage, lengths bend it, masses change accelerations and loads."""
    assert check(fmu, kind, ("parameter", "start", "input")) > 40


@VERSION
def test_of_prescribed_motions(version, make):
    fmu = make(driven_slider_crank(), version)
    assert check(fmu, "ME", ("parameter", "start", "input")) > 30
    instance = fmu.new("ME")
    instance.set_up(start=0.2)
    drive = [fmu.reference(f"crank_drive.{name}") for name in ("q_in", "u_in", "a_in")]
    state = [fmu.reference(f"crank.{name}") for name in "qua"]
    found = [instance.directional(state, [known], [1.0]) for known in drive]
    assert np.abs(np.array(found) - np.eye(3)).max() < 1e-12


@VERSION
def test_states_are_no_knowns_before_the_motion(fmu, version):
    instance = fmu.new("ME")
    instance.set_up()
    with pytest.raises(AssertionError, match="start values"):
        instance.directional([fmu.reference("A.a")], [fmu.reference("A.q")], [1.0])


@VERSION
@pytest.mark.parametrize("mode", ["event", "continuous"])
def test_of_event_indicators(version, mode, make):
    """Behind the block; a stop's is the distance, in which states count with minus one."""
    stop, passing = (lw.Stop("hinge", upper=1.0), None), (lw.Lock("hinge"), lw.Crossing("hinge.q", 0.5))
    fmu = make(pendulum(bump=stop, fast=passing), version)
    instance, system = fmu.new("ME"), fmu.system
    instance.go_to(mode)
    n = system.sizes.event_indicators
    indicators, states = fmu.indicators, fmu.references("state")
    x = np.array(instance.array("GetContinuousStates", len(states)))
    found = np.array([instance.directional(indicators, [state], [1.0]) for state in states]).T
    if mode == "event":
        instance.must("EnterContinuousTimeMode")

    def read(k: int, step: float) -> np.ndarray:
        assert instance.set_states(x + step * np.eye(x.size)[k]) == 0
        return np.array(instance.array("GetEventIndicators", n))

    for k in range(x.size):
        assert np.abs(found[:, k] - slope(lambda step, k=k: read(k, step))).max() < 1e-9
    assert -1.0 in found


@pytest.mark.parametrize("mode", ["initialization", "event", "continuous"])
def test_the_adjoint_is_the_transpose(built, mode):
    fmu, rng = built("3.0"), np.random.default_rng(3)
    instance = fmu.new("ME")
    instance.go_to(mode)
    unknowns, knowns = (
        smooth(fmu),
        fmu.references("input", "parameter", "start" if mode == "initialization" else "state"),
    )
    knowns = [known for known in knowns if derivative(instance, known, unknowns) is not None]
    assert len(knowns) > 50
    for _ in range(5):
        seed, weights = rng.normal(size=len(knowns)), rng.normal(size=len(unknowns))
        forward = np.array(instance.directional(unknowns, knowns, list(seed)))
        backward = np.array(instance.product("GetAdjointDerivative", unknowns, knowns, list(weights)))
        size = np.abs(weights * forward).sum() + np.abs(seed * backward).sum()
        assert abs(weights @ forward - seed @ backward) < 1e-13 * size
