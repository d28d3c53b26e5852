"""The configuration space against differences of poses, and functions of the pose against the core's own columns."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.analysis.configuration_space import ConfigurationSpace
from linkwork.analysis.pose_functions import joint_rates, motor, pose_function
from support.joint_families import JOINT_FAMILIES
from support.random_mechanisms import FAMILIES, well_posed
from support.zoo import zoo

ALL = {name: make for name, (make, _) in (FAMILIES | JOINT_FAMILIES).items()}
H = 1e-6


@pytest.fixture(params=sorted(ALL))
def space(request: pytest.FixtureRequest) -> ConfigurationSpace:
    scene = well_posed(ALL[request.param], 3)
    return ConfigurationSpace(lw.compile(scene.mechanism))


@pytest.mark.thin(6)
def test_the_jacobian_is_the_slope_of_the_violation_along_displacements(space: ConfigurationSpace) -> None:
    rng, q = np.random.default_rng(1), space.q
    rows = space.jacobian()
    step = rng.standard_normal(space.nu)
    ends = []
    for sign in (1, -1):
        space.enter(space.displaced(q, sign * H * step))
        ends.append(space.violation())
    np.testing.assert_allclose(rows @ step, (ends[0] - ends[1]) / (2 * H), atol=1e-7)


@pytest.mark.thin(6)
def test_differences_invert_displacements(space: ConfigurationSpace) -> None:
    step = 0.7 * np.random.default_rng(2).standard_normal(space.nu)
    moved = space.displaced(space.q, step)
    np.testing.assert_allclose(space.difference(moved, space.q), step, atol=1e-13)


@pytest.mark.thin(6)
def test_the_tangent_space_keeps_the_constraints_and_counts_the_degrees_of_freedom(space: ConfigurationSpace) -> None:
    tangent = space.tangent()
    assert np.abs(space.jacobian() @ tangent.basis).max(initial=0.0) < 1e-13
    assert tangent.dof == space.nu - np.linalg.matrix_rank(space.jacobian(), tol=1e-9)
    q = space.q
    away = space.displaced(q, 0.05 * np.random.default_rng(3).standard_normal(space.nu))
    found = space.closed(away)
    assert found.found
    assert np.abs(space.violation()).max(initial=0.0) < 1e-12


@pytest.mark.thin(6)
def test_coordinates_and_rates_of_all_joints_are_those_of_the_core(space: ConfigurationSpace) -> None:
    model = space.model
    rng = np.random.default_rng(4)
    u = space.tangent().basis @ rng.standard_normal(space.tangent().dof)
    space.enter_speeds(u)
    state = space.model.state(space.q, u)
    for name, joint in model.mechanism.joints.items():
        if joint.kind.nu == 0:
            continue
        rates = joint_rates(space, name)
        np.testing.assert_allclose(rates.rows() @ u, np.atleast_1d(state[f"{name}.u"]), atol=1e-11, err_msg=name)
        np.testing.assert_allclose(
            rates.rows() @ model.accelerations(state) + rates.bias(),
            np.atleast_1d(state[f"{name}.a"]),
            atol=1e-9 * (1 + np.abs(state[f"{name}.a"]).max()),
        )
        if joint.kind.quaternion is None:
            coordinates = np.atleast_1d(state[f"{name}.q"])
            left = pose_function(space, name).difference(coordinates)
            np.testing.assert_allclose(left, 0.0, atol=1e-12, err_msg=name)


def functions() -> list[str]:
    return ["b3.r", "b6.Q", "tip.e", "gap.length", "opening.angle", "grip.length", "tip.r[2]", "j4.q[3]"]


@pytest.mark.parametrize("name", functions())
def test_rates_and_accelerations_are_slopes_of_the_values(name: str) -> None:
    mech = zoo()
    mech.add_point("tip", "b5", (0.1, 0.2, 0.3), axis=(1, 2, 0))
    mech.add_point("heel", "b1", (0.0, 0.2, 0.1), axis=(0, 2, 1))
    mech.add_measure("gap", "distance", ("tip", "heel"))
    mech.add_measure("opening", "angle", ("tip", "heel"))
    space = ConfigurationSpace(lw.compile(mech))
    q = space.displaced(space.q, 0.3 * np.random.default_rng(5).standard_normal(space.nu))
    q = space.require_closed(q, "test")
    function = pose_function(space, name)
    basis = space.tangent().basis
    u = basis @ np.random.default_rng(6).standard_normal(basis.shape[1])
    space.enter_speeds(u)
    udot = np.array(space.block["acceleration"][: space.nu])
    second = function.rows() @ udot + function.bias()
    rate, at = function.rows() @ u, function.value()
    slopes, rates = [], []
    for sign in (1, -1):
        space.enter(space.displaced(space.displaced(q, sign * H * u), 0.5 * H * H * udot))
        slopes.append(function.difference(at))
        rates.append(function.rows() @ (u + sign * H * udot))
    np.testing.assert_allclose((slopes[1] - slopes[0]) / (2 * H), rate, atol=1e-7)
    np.testing.assert_allclose((rates[0] - rates[1]) / (2 * H), second, atol=1e-6 * (1 + np.abs(second).max()))


def test_unknown_names_are_refused_with_the_nearest() -> None:
    space = ConfigurationSpace(lw.compile(zoo()))
    for name, text in (
        ("b33.r", "did you mean 'b3.r'|nearest|b3.r"),
        ("b3.r[4]", "3 elements"),
        ("energy.kinetic", "function of the pose"),
    ):
        with pytest.raises(lw.UnknownNameError, match=text):
            pose_function(space, name)
    with pytest.raises(lw.MechanismError, match="fixed"):
        joint_rates(space, "j7")


def test_motors_are_joints_and_actuators() -> None:
    space = ConfigurationSpace(lw.compile(zoo()))
    assert motor(space, "grip").names == motor(space, "grip.input").names == ("grip.length",)
    assert motor(space, "j2[2]").size == 1
    np.testing.assert_array_equal(motor(space, "j4.tau[3]").rows(), joint_rates(space, "j4[3]").rows())
    with pytest.raises(lw.UnknownNameError, match=r"there is no motor 'gripp'.*grip"):
        motor(space, "gripp")
    with pytest.raises(lw.UnknownNameError, match=r"there is no motor 'motor'.*name its joints, 'j2'"):
        motor(space, "motor")
    for name in ("cord", "jack", "cable"):
        with pytest.raises(lw.UnknownNameError, match=f"there is no motor '{name}'.*add_measure"):
            motor(space, name)
    with pytest.raises(lw.UnknownNameError, match=r"there is no motor 'push'.*not other forces$"):
        motor(space, "push")
