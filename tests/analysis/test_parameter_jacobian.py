"""Derivatives by parameters against complex steps of closed forms in numpy, and differences of assembly itself."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from support.coupler_point import LENGTHS, MEMBERS, STEP, four_bar, tip_of_four_bar
from support.differences import slope
from support.joint_families import JOINT_FAMILIES
from support.random_mechanisms import FAMILIES, well_posed


def test_coupler_point_of_a_four_bar_in_closed_form() -> None:
    of = ["tip.r[1]", "tip.r[3]", "tip.v[1]", "tip.v[3]"]
    found = lw.parameter_jacobian(four_bar(), list(MEMBERS), of, q={"A": -1.0}, u={"A": -2.0}, combinations=MEMBERS)
    np.testing.assert_allclose(found.y, tip_of_four_bar(-1.0, -2.0, **LENGTHS), atol=1e-13)
    np.testing.assert_allclose(found.values, list(LENGTHS.values()), atol=1e-15)
    for name in LENGTHS:
        exact = tip_of_four_bar(-1.0, -2.0, **(LENGTHS | {name: LENGTHS[name] + 1j * STEP})).imag / STEP
        np.testing.assert_allclose([found[one, name] for one in of], exact, atol=1e-12, err_msg=name)
    angle = lw.parameter_jacobian(four_bar(), ["A.q_start", "A.u_start"], of, q={"A": -1.0}, u={"A": -2.0}).matrix
    by_angle = tip_of_four_bar(-1.0 + 1j * STEP, -2.0, **LENGTHS).imag / STEP
    by_rate = tip_of_four_bar(-1.0, -2.0 + 1j * STEP, **LENGTHS).imag / STEP
    np.testing.assert_allclose(angle, np.array([by_angle, by_rate]).T, atol=1e-12)


def slider_crank() -> lw.Mechanism:
    mech = lw.Mechanism("slider_crank", gravity=(0, 0, 0))
    mech.add_body("crank", mass=1.0, com=(0, 0, 0), inertia=np.diag([0.02, 0.02, 0.02]))
    mech.add_body("rod", mass=0.0, com=(0, 0, 0), inertia=np.zeros((3, 3)))
    mech.add_body("piston", mass=0.7, com=(0, 0, 0), inertia=np.zeros((3, 3)))
    hinge = lw.Revolute((0, 1, 0))
    mech.add_joint("A", hinge, "ground", "crank", parent_frame=lw.Frame())
    mech.add_joint("B", hinge, "crank", "rod", parent_frame=lw.Frame((0.1, 0, 0)))
    mech.add_joint("S", lw.Prismatic((1, 0, 0)), "ground", "piston", parent_frame=lw.Frame())
    mech.add_joint("C", hinge, "rod", "piston", parent_frame=lw.Frame((0.3, 0, 0)), child_frame=lw.Frame())
    mech.start(q={"A": 0.7, "B": -0.9, "S": 0.35})
    return mech


def crank_acceleration(angle, rate, torque, radius, rod, mass, inertia):
    """One equation of the crank: (J + m x'^2) a + m x' x'' w^2 = torque, with x(angle)."""
    s, c = np.sin(angle), np.cos(angle)
    root = np.sqrt(rod**2 - (radius * s) ** 2)
    slope_x = -radius * s - radius**2 * s * c / root
    curve_x = -radius * c - radius**2 * (c * c - s * s) / root - (radius**2 * s * c) ** 2 / root**3
    acceleration = (torque - mass * slope_x * curve_x * rate**2) / (inertia + mass * slope_x**2)
    return acceleration, radius * c + root


def test_acceleration_and_stroke_of_a_slider_crank_in_closed_form() -> None:
    names = {
        "radius": "B.parent_frame.position[1]",
        "rod": "C.parent_frame.position[1]",
        "mass": "piston.mass",
        "inertia": "crank.inertia[2,2]",
    }
    values = {"radius": 0.1, "rod": 0.3, "mass": 0.7, "inertia": 0.02}
    start = {"q": {"A": 0.7}, "u": {"A": 5.0}, "tau": {"A": 0.4}}
    found = lw.parameter_jacobian(slider_crank(), list(names.values()), ["A.a", "S.q"], **start)
    np.testing.assert_allclose(found.y, crank_acceleration(0.7, 5.0, 0.4, **values), rtol=1e-12)
    for symbol, name in names.items():
        moved = crank_acceleration(0.7, 5.0, 0.4, **(values | {symbol: values[symbol] + 1j * STEP}))
        exact = np.array([np.imag(x) / STEP for x in moved])
        ours = np.array([found["A.a", name], found["S.q", name]])
        np.testing.assert_allclose(ours, exact, rtol=1e-11, atol=1e-11, err_msg=name)


@pytest.mark.parametrize("family", ["planar_5R", "spatial_7R", "RCCC", "stewart", "coupled", "spherical_tree"])
def test_random_mechanisms_against_differences_of_models_with_other_parameters(family: str) -> None:
    scene = well_posed((FAMILIES | JOINT_FAMILIES)[family][0], 2)
    model = lw.compile(scene.mechanism)
    start = model.assemble(scene.q, scene.u)
    joints = {n: j for n, j in scene.mechanism.joints.items() if n in model.numbering.tree and j.kind.nu}
    q = {name: start[f"{name}.q"] for name in joints}
    u = {name: start[f"{name}.u"] for name in joints}
    body, joint = list(scene.mechanism.bodies)[1], next(iter(joints))
    damping = f"{joint}.damping" if scene.mechanism.joints[joint].kind.nu == 1 else f"{joint}.damping[1]"
    combined = {"both": {f"{body}.mass": 1.0, f"{body}.com[1]": 0.3, "gravity[1]": 0.5}}
    parameters = [f"{body}.mass", f"{body}.com[2]", f"{body}.inertia[1,1]", "gravity[3]", "both"]
    parameters += [damping] if damping in model.columns else []
    of = [f"{body}.v", "energy.kinetic", "energy.potential", f"{joint}.f", f"{joint}.a"]
    found = lw.parameter_jacobian(model, parameters, of, q=q, u=u, combinations=combined)
    for k, name in enumerate(parameters):
        weights = combined.get(name, {name: 1.0})
        base = {member: float(model.block().reals[model.column(member).first]) for member in weights}

        def moved(h: float, weights=weights, base=base) -> np.ndarray:
            other = model.with_parameters({member: base[member] + h * w for member, w in weights.items()})
            state = other.assemble(q, u)
            return np.array([other.value(one, state) for one in found.of])

        size = max(1.0, np.abs(found.matrix[:, k]).max())
        np.testing.assert_allclose(found.matrix[:, k], slope(moved), atol=1e-8 * size, err_msg=name)


def test_results_have_names_and_tables(tmp_path) -> None:
    found = lw.parameter_jacobian(four_bar(), ["crank.mass", "base"], ["tip.r", "C.q"], combinations=MEMBERS)
    assert found.of == ("tip.r[1]", "tip.r[2]", "tip.r[3]", "C.q")
    assert found.units["base"] == "m"
    frame = found.to_dataframe()
    assert frame.loc["C.q", "base"] == found["C.q", "base"]
    found.to_csv(tmp_path / "j.csv")
    assert "ParameterJacobian: 4 by 2" in repr(found)
    with pytest.raises(lw.UnknownNameError, match=r"did you mean 'C\.q'"):
        _ = found["C.qq", "base"]


@pytest.mark.parametrize(
    ("parameters", "of", "options", "text"),
    [
        (["crank.mm"], ["tip.r"], {}, r"parameters.*crank\.mm.*did you mean 'crank\.com' or 'crank\.mass'"),
        (["A.q"], ["tip.r"], {}, "'A.q' is no parameter or start: its kind is 'state'"),
        (["crank.mass"], ["tipp.r"], {}, "of: .*did you mean 'tip.r'"),
        ([], ["tip.r"], {}, "parameters is empty"),
        (["crank.mass"], [], {}, "of is empty"),
        (["x"], ["tip.r"], {"combinations": {"x": {"crank.com": 1.0}}}, "3 numbers, which have a weight each"),
        (["x"], ["tip.r"], {"combinations": {"x": {}}}, "must have weights by parameter"),
        (["x"], ["tip.r"], {"combinations": {"x": {"crank.mass": 0.0}}}, "first weight of 'x' is zero"),
        (["crank.mass"], ["tip.r"], {"combination": {}}, "combinations"),
    ],
)
def test_bad_input_is_named(parameters, of, options, text) -> None:
    with pytest.raises((lw.MechanismError, TypeError), match=text):
        lw.parameter_jacobian(four_bar(), parameters, of, **options)


def test_a_change_that_opens_the_loop_is_named() -> None:
    with pytest.raises(lw.SingularityError, match=r"parameter 'B\.parent_frame\.position\[2\]'.*cannot stay closed"):
        lw.parameter_jacobian(four_bar(), ["B.parent_frame.position[2]"], ["tip.r"])
