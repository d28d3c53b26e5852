"""Points of interest and measures as variables: values, derivatives, results, FMUs, pictures."""

from itertools import pairwise
from xml.etree import ElementTree

import fmpy
import numpy as np
import pytest

import linkwork as lw
from linkwork.core.native import Stage
from support.cases import four_bar
from support.driving import random_loads, reached
from support.random_mechanisms import TREES_AND_LOOPS, tree_or_loop

METHODS = ["rcr", "embedding", "multipliers", "dca"]


def with_points(mech, seed=0):
    """A point on every body, a fixed one, and measures between some; points are (body, point, axis) by name."""
    rng = np.random.default_rng(seed)
    points = {f"spot{k}": (body, *rng.normal(size=(2, 3))) for k, body in enumerate([*mech.bodies, "ground"])}
    for name, (body, point, axis) in points.items():
        mech.add_point(name, body, point, axis)
    names = list(points)
    for k, (first, second) in enumerate(pairwise(names)):
        mech.add_measure(f"d{k}", "distance", (first, second))
        mech.add_measure(f"a{k}", "angle", (first, second))
    return points


@pytest.fixture(params=TREES_AND_LOOPS)
def scene(request):
    made = tree_or_loop(request.param)
    return made, with_points(made.mechanism)


def values_of(model, name, state, h, rates, tau):
    nq = len(state.q)
    return model.value(name, state.q + h * rates[:nq], state.u + h * rates[nq:], tau=tau)


def rate_of(model, name, state, rates, tau):
    """By a difference of fourth order along the motion."""

    def across(h):
        return values_of(model, name, state, h, rates, tau) - values_of(model, name, state, -h, rates, tau)

    return (8 * across(1e-4) - across(2e-4)) / (12 * 1e-4)


def test_outputs_are_the_motion_of_the_points(scene):
    scene, points = scene
    model, state = reached(scene)
    tau = random_loads(np.random.default_rng(1), scene)
    for name, (body, point, axis) in points.items():
        np.testing.assert_allclose(state[f"{name}.r"], model.point(state, body, point), atol=1e-13)
        np.testing.assert_allclose(state[f"{name}.v"], model.point_velocity(state, body, point), atol=1e-12)
        direction = model.pose(state, body).rotation @ axis / np.linalg.norm(axis)
        np.testing.assert_allclose(state[f"{name}.e"], direction, atol=1e-14)
        expected = model.point_acceleration(state, body, point, tau=tau)
        scale = max(1.0, np.abs(expected).max())
        np.testing.assert_allclose(model.value(f"{name}.a", state, tau=tau), expected, atol=1e-11 * scale)


def test_measures_are_those_of_the_points(scene):
    scene, points = scene
    _, state = reached(scene)
    names = list(points)
    for k, (first, second) in enumerate(pairwise(names)):
        apart = np.linalg.norm(state[f"{second}.r"] - state[f"{first}.r"])
        assert state[f"d{k}.length"] == pytest.approx(apart, rel=1e-14)
        cosine = np.clip(state[f"{first}.e"] @ state[f"{second}.e"], -1, 1)
        assert np.cos(state[f"a{k}.angle"]) == pytest.approx(cosine, abs=1e-14)
        assert 0 <= state[f"a{k}.angle"] <= np.pi


@pytest.mark.parametrize("method", METHODS)
def test_rates_are_derivatives_along_the_motion(method):
    scene = tree_or_loop("loop_on_loop")
    points = with_points(scene.mechanism)
    model, state = reached(scene, method)
    tau = random_loads(np.random.default_rng(1), scene)
    rates = model.derivatives(state, tau=tau)
    pairs = [(f"{name}.{of}", f"{name}.{rate}") for name in points for of, rate in ("rv", "va")]
    for k in range(len(points) - 1):
        pairs += [(f"d{k}.length", f"d{k}.rate"), (f"a{k}.angle", f"a{k}.rate")]
    for of, rate in pairs:
        expected, found = rate_of(model, of, state, rates, tau), model.value(rate, state, tau=tau)
        scale = max(1.0, np.abs(rates).max()) ** 2
        np.testing.assert_allclose(found, expected, atol=2e-8 * scale, err_msg=of)


def test_points_change_nothing():
    plain, marked = four_bar(), four_bar()
    with_points(marked.mechanism)
    models = [lw.compile(case.mechanism) for case in (plain, marked)]
    states = [model.assemble(q=plain.q, u=plain.u) for model in models]
    assert np.array_equal(*(model.derivatives(state) for model, state in zip(models, states, strict=True)))
    runs = [lw.simulate(model, t_end=0.2) for model in models]
    assert np.array_equal(runs[0]["A.q"], runs[1]["A.q"])


def test_parameters_of_points_may_change_and_have_derivatives():
    case = four_bar()
    case.mechanism.start(q=case.q)
    case.mechanism.add_point("tip", "coupler", (1.0, 0.2, 0.3), axis=(0, 3, 4))
    model = lw.compile(case.mechanism)
    state, block = model.assemble(), model.block()
    block.assemble(1e-8)
    rotation, place = model.pose(state, "coupler").rotation, model.column("tip.r").first
    for i in range(3):
        offsets = np.arange(place, place + 3, dtype=np.uint32)
        known = np.array([model.column(f"tip.point[{i + 1}]").first], dtype=np.uint32)
        found = block.directional_derivative(offsets, known, np.ones(1))
        np.testing.assert_allclose(found, rotation[:, i], atol=1e-15)
    block.put("point_in_body", np.array([0.5, -1.0, 2.0]), Stage.NONE)
    block.put("axis_in_body", np.array([0.0, 0.0, -7.0]), Stage.NONE)
    np.testing.assert_allclose(block["point_position"], model.point(state, "coupler", (0.5, -1, 2)), atol=1e-14)
    np.testing.assert_allclose(block["point_axis"], -rotation[:, 2], atol=1e-15)


def test_linear_models_have_points_as_outputs():
    case = four_bar()
    points = with_points(case.mechanism)
    model = lw.compile(case.mechanism)
    state = model.assemble(q=case.q, u={"A": 0.7})
    outputs = ["spot1.r", "spot1.v", "spot1.e", "spot1.a", "d0.length", "d0.rate", "a0.angle", "a0.rate"]
    linear = model.linearize(state, independents=["A"], outputs=outputs)
    by_coordinate = dict(zip(linear.outputs, linear.C[:, linear.states.index("A.q")], strict=True))
    body, point, _ = points["spot1"]
    jacobian = model.point_jacobian(state, body, point, independents=["A"])[:, 0]
    np.testing.assert_allclose([by_coordinate[f"spot1.r[{i}]"] for i in (1, 2, 3)], jacobian, atol=1e-13)
    rest = {name: value for name, value in case.q.items() if name != "A"}

    def assembled(h):
        return model.assemble(q={"A": case.q["A"] + h} | rest, u={"A": 0.7})

    for name in linear.outputs:
        expected = (assembled(1e-5)[name] - assembled(-1e-5)[name]) / 2e-5
        assert by_coordinate[name] == pytest.approx(expected, abs=1e-6 * max(1.0, abs(expected))), name


def test_coincident_points_and_parallel_axes_have_no_rate():
    mech = lw.Mechanism("hinge")
    mech.add_body("arm", 1.0, (0.5, 0, 0), lw.inertia.rod(1.0, 1.0))
    mech.add_joint("A", lw.Revolute((0, 0, 1)), "ground", "arm", at=(0, 0, 0))
    mech.add_point("here", "arm", (0, 0, 0), axis=(1, 0, 0))
    mech.add_point("there", "ground", (0, 0, 0), axis=(1, 0, 0))
    mech.add_point("back", "ground", (0, 0, 0), axis=(-1, 0, 0))
    mech.add_measure("gap", "distance", ("here", "there"))
    mech.add_measure("turn", "angle", ("there", "here"))
    mech.add_measure("rest", "angle", ("here", "back"))
    model = lw.compile(mech)
    state = model.assemble(u={"A": 2.0})
    found = [state[name] for name in ("gap.length", "gap.rate", "turn.angle", "turn.rate", "rest.angle", "rest.rate")]
    assert found == [0.0, 0.0, 0.0, 0.0, pytest.approx(np.pi, abs=1e-15), 0.0]
    turned = model.assemble(q={"A": -0.3}, u={"A": 2.0})
    assert turned["turn.angle"] == pytest.approx(0.3, abs=1e-15)
    assert turned["turn.rate"] == pytest.approx(-2.0, abs=1e-14)
    assert turned["rest.angle"] == pytest.approx(np.pi - 0.3, abs=1e-15)


def test_variables_have_units_and_short_dependencies():
    case = four_bar()
    case.mechanism.add_point("tip", "crank", (1, 0, 0), axis=(0, 0, 1))
    case.mechanism.add_point("base", "ground", (0, 0, 0), axis=(0, 0, 1))
    case.mechanism.add_measure("gap", "distance", ("tip", "base"))
    case.mechanism.add_measure("tilt", "angle", ("tip", "base"))
    found = {v.name: v for v in lw.compile(case.mechanism).variables}
    units = {"tip.r[1]": "m", "tip.v[2]": "m/s", "tip.a[3]": "m/s2", "tip.e[1]": "1", "tip.point[1]": "m"}
    units |= {"gap.length": "m", "gap.rate": "m/s", "tilt.angle": "rad", "tilt.rate": "rad/s"}
    assert {name: found[name].unit for name in units} == units
    assert found["tip.r[1]"].depends == found["gap.length"].depends == ("A.q", "B.q", "C.q")
    assert set(found["tip.v[1]"].depends) == {f"{joint}.{what}" for joint in "ABC" for what in "qu"}
    assert found["tip.a[1]"].depends is None
    assert found["base.r[1]"].depends == ()
    assert "base.e[3]" in found
    assert found["tip.point[1]"].tunable


@pytest.mark.parametrize("fmi", ["2.0", "3.0"])
def test_fmus_have_points_as_outputs(fmi, tmp_path):
    case = four_bar()
    case.mechanism.start(q=case.q)
    case.mechanism.add_point("tip", "coupler", (1.0, 0.2, 0.3), axis=(0, 0, 1))
    case.mechanism.add_point("base", "ground", (0, 0, 0), axis=(0, 0, 1))
    case.mechanism.add_measure("gap", "distance", ("tip", "base"))
    case.mechanism.add_measure("tilt", "angle", ("tip", "base"))
    names = ["tip.r[1]", "tip.v[3]", "tip.a[1]", "tip.e[3]", "gap.length", "gap.rate", "tilt.angle", "tilt.rate"]
    path = tmp_path / "x.fmu"
    lw.export_fmu(case.mechanism, path, fmi=fmi, outputs=["tip", "gap", "tilt"])
    result = lw.simulate(case.mechanism, t_end=0.05, solver="dopri5", rtol=1e-10, atol=1e-12)
    options = {"stop_time": 0.05, "output_interval": 0.05, "fmi_type": "ModelExchange", "relative_tolerance": 1e-10}
    listed = [v.name for v in fmpy.read_model_description(str(path)).modelVariables if v.causality == "output"]
    asked = [name for name in names if name in listed] or ["gap.length", "tilt.angle"]
    assert {"gap.length", "tilt.angle"} <= set(asked)
    run = fmpy.simulate_fmu(str(path), output=asked, **options)
    for name in asked:
        assert run[name][-1] == pytest.approx(result[name][-1], rel=1e-6, abs=1e-6), name


def test_points_are_drawn():
    case = four_bar()
    case.mechanism.start(q=case.q)
    plain = case.mechanism.draw().svg
    case.mechanism.add_point("tip", "coupler", (1.2, 0, 0.3), axis=(1, 0, 0))
    case.mechanism.add_point("wall", "ground", (0.5, 0, 0.5))
    marked = case.mechanism.draw().svg
    texts = [{text.text for text in ElementTree.fromstring(svg).iter()} for svg in (plain, marked)]
    assert texts[1] - texts[0] >= {"tip", "wall"}


def test_points_stay_when_joints_close_and_open():
    mech = lw.Mechanism("catch")
    for name, place in (("a", 0.0), ("b", 2.0)):
        mech.add_body(name, 1.0, (0.4, 0, 0), lw.inertia.rod(1.0, 0.8), origin=(place, 0, 0))
        mech.add_joint(f"hinge_{name}", lw.Revolute((0, 1, 0)), "ground", name, at=(place, 0, 0))
    mech.add_transition("hold", lw.Pin("a", "b", lw.Spherical(), parent_frame=lw.Frame((0.8, 0, 0))), lw.Time(0.1))
    mech.add_transition("let_go", lw.Release("hold"), lw.Time(0.2))
    mech.add_point("tip", "a", (0.8, 0, 0))
    mech.add_point("other", "b", (0.8, 0, 0))
    mech.add_measure("gap", "distance", ("tip", "other"))
    mech.start(u={"hinge_a": 1.0})
    result = lw.simulate(mech, t_end=0.3, t_eval=np.linspace(0, 0.3, 31))
    assert [event.transitions for event in result.events] == [("hold",), ("let_go",)]
    np.testing.assert_allclose(result["tip.r"][:, 0], 0.8 * np.cos(result["hinge_a.q"]), atol=1e-12)
    np.testing.assert_allclose(
        np.linalg.norm(result["other.r"] - result["tip.r"], axis=1), result["gap.length"], atol=1e-14
    )
    held = (result.t > 0.1) & (result.t < 0.2)
    assert np.ptp(result["gap.length"][held]) < 1e-6 < np.ptp(result["gap.length"])
