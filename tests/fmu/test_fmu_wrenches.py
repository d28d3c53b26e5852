"""Applied wrenches as inputs of FMUs, and springs between points as their parameters and outputs."""

from itertools import pairwise

import numpy as np
import pytest

import linkwork as lw
from support.unpacked import Unpacked, unpack

STOP = 1.0
FORCE = {"push.F[1]": 4.0, "push.F[3]": -6.0, "push.T[2]": 1.5}
SEEN = ["A.q", "D.q", "cord.length", "cord.rate", "cord.force", "coupler.r[1]"]


@pytest.fixture(scope="module")
def pushed(four_bar) -> lw.Model:
    mech = lw.Mechanism.from_dict(four_bar.to_dict())
    ends = ((0.1, 0, 0), (-0.2, 0, 0.6))
    spring = {"stiffness": 60.0, "damping": 4.0, "free": 0.3}
    mech.add_force(lw.SpringDamper(bodies=("coupler", "ground"), points=ends, **spring, name="cord"))
    mech.add_force(lw.Wrench("coupler", point=(0.5, 0, 0), name="push"))
    return lw.compile(mech)


@pytest.fixture(scope="module", params=["2.0", "3.0"])
def pushed_fmu(request, pushed, tmp_path_factory) -> Unpacked:
    path = lw.export_fmu(pushed, tmp_path_factory.mktemp("pushed") / "pushed.fmu", fmi=request.param)
    return Unpacked(path, unpack(path), request.param, pushed)


def signals(values: dict[str, tuple[float, float]]) -> np.ndarray:
    """Inputs over time as FMPy takes them, linear between the values at start and end."""
    rows = [(t, *(pair[k] for pair in values.values())) for k, t in enumerate((0.0, STOP))]
    return np.array(rows, dtype=[("time", float), *((name, float) for name in values)])


@pytest.mark.parametrize(("kind", "tolerance"), [("ModelExchange", 1e-10), ("CoSimulation", 1e-8)])
def test_a_push_through_fmpy(pushed_fmu, pushed, needs, kind, tolerance):
    fmpy = needs("fmpy")
    t = np.linspace(0.0, STOP, 21)
    expected = lw.simulate(pushed, STOP, inputs=FORCE, rtol=1e-12, t_eval=t)
    result = fmpy.simulate_fmu(
        str(pushed_fmu.path),
        fmi_type=kind,
        stop_time=STOP,
        output_interval=0.05,
        relative_tolerance=tolerance,
        input=signals({name: (value, value) for name, value in FORCE.items()}),
        output=SEEN,
    )
    free = lw.simulate(pushed, STOP, rtol=1e-12, t_eval=t)
    for name in SEEN:
        assert np.abs(result[name] - expected[name]).max() < 2e-5 * (1.0 + np.abs(expected[name]).max()), name
        assert np.abs(free[name] - expected[name]).max() > 1e-2


def test_a_growing_push_through_fmpy(pushed_fmu, pushed, needs):
    """FMPy holds an input from one communication point to the next; so do ten short simulations."""
    fmpy = needs("fmpy")
    points, state, angles = np.linspace(0.0, STOP, 11), pushed.assemble(), []
    for start, end in pairwise(points):
        leg = lw.simulate(
            pushed, end, t_start=start, state=state, inputs={"push.F": (0.0, 0.0, 20.0 * start)}, rtol=1e-12
        )
        state = pushed.state(leg.y[-1, : pushed.sizes.nq], leg.y[-1, pushed.sizes.nq :])
        angles.append(state["A.q"])
    result = fmpy.simulate_fmu(
        str(pushed_fmu.path),
        fmi_type="CoSimulation",
        stop_time=STOP,
        output_interval=0.1,
        relative_tolerance=1e-8,
        input=signals({"push.F[3]": (0.0, 20.0 * STOP)}),
        output=["A.q"],
    )
    assert np.abs(result["A.q"][1:] - angles).max() < 1e-6


def test_derivatives_are_pythons_bit_for_bit(pushed_fmu, pushed):
    instance = pushed_fmu.new("ME")
    instance.initialize()
    state, n = pushed.assemble(), pushed.sizes.nq + pushed.sizes.nu
    for name, value in FORCE.items():
        instance.set([pushed_fmu.reference(name)], [value])
    assert instance.derivatives(n) == list(pushed.derivatives(state, tau=FORCE))
    references = [pushed_fmu.reference(f"cord.{what}") for what in ("length", "rate", "force")]
    assert instance.get(references) == [state[f"cord.{what}"] for what in ("length", "rate", "force")]


def test_springs_and_points_can_be_set_before_the_start(pushed_fmu, pushed):
    changed = {
        "cord.stiffness": 5.0,
        "cord.free": 0.1,
        "cord.points[2,3]": 0.9,
        "push.point[1]": 0.25,
        "cord.damping": 0.0,
    }
    instance = pushed_fmu.new("ME")
    instance.set([pushed_fmu.reference(name) for name in changed], list(changed.values()))
    instance.initialize()
    instance.set([pushed_fmu.reference("push.F[3]")], [-6.0])
    mech = lw.Mechanism.from_dict(pushed.mechanism.to_dict())
    mech.forces.clear()
    ends = ((0.1, 0, 0), (-0.2, 0, 0.9))
    mech.add_force(lw.SpringDamper(bodies=("coupler", "ground"), points=ends, stiffness=5.0, free=0.1, name="cord"))
    mech.add_force(lw.Wrench("coupler", point=(0.25, 0, 0), name="push"))
    other = lw.compile(mech)
    n = other.sizes.nq + other.sizes.nu
    assert instance.derivatives(n) == list(other.derivatives(other.assemble(), tau={"push.F": (0, 0, -6.0)}))


def test_the_description_is_valid(pushed_fmu, needs):
    needs("fmpy")
    from fmpy import read_model_description
    from fmpy.validation import validate_fmu

    assert validate_fmu(str(pushed_fmu.path)) == []
    variables = {v.name: v for v in read_model_description(str(pushed_fmu.path)).modelVariables}
    for name, unit in (("push.F[2]", "N"), ("push.T[3]", "N.m")):
        assert (variables[name].causality, variables[name].unit, float(variables[name].start)) == ("input", unit, 0.0)
    assert variables["cord.force"].causality == "output"
    assert variables["cord.stiffness"].causality == "parameter"
