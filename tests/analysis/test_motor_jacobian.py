"""Motor Jacobians against lines of struts, closed forms of a five-bar, the mechanics of the core, and power."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import qr
from scipy.spatial.transform import Rotation

import linkwork as lw
from linkwork.analysis.configuration_space import ConfigurationSpace
from support.joint_families import JOINT_FAMILIES
from support.platforms import (
    BASE_HALF_ANGLE,
    BASE_RADIUS,
    DISTAL,
    HEIGHT,
    PLATFORM_HALF_ANGLE,
    PLATFORM_RADIUS,
    PROXIMAL,
    SPAN,
    STRUTS,
    five_bar,
    limb,
    stewart,
    strut_rows,
)
from support.random_mechanisms import FAMILIES, well_posed

ALL = {name: make for name, (make, _) in (FAMILIES | JOINT_FAMILIES).items()}


@pytest.fixture(scope="module")
def platform() -> lw.Model:
    return lw.compile(stewart())


def posed(platform: lw.Model, position: np.ndarray, turn: np.ndarray) -> lw.State:
    target = {"platform.r": position, "platform.Q": Rotation.from_rotvec(turn).as_quat(scalar_first=True)}
    found = lw.inverse_kinematics(platform, target)
    assert found.found
    return found.state


def moving(model: lw.Model, state: lw.State, seed: int) -> lw.State:
    space = ConfigurationSpace(model, state)
    basis = space.tangent().basis
    return model.state(state.q, basis @ np.random.default_rng(seed).standard_normal(basis.shape[1]))


@pytest.mark.parametrize("seed", range(5))
def test_platform_moves_as_the_lines_of_its_struts_demand(platform: lw.Model, seed: int) -> None:
    rng = np.random.default_rng(seed)
    position, turn = np.array([0, 0, HEIGHT]) + rng.uniform(-0.1, 0.1, 3), rng.uniform(-0.4, 0.4, 3)
    state = posed(platform, position, turn)
    found = lw.motor_jacobian(platform, state, of="platform", by=STRUTS)
    rows = strut_rows(position, Rotation.from_rotvec(turn).as_matrix())
    np.testing.assert_allclose(found.matrix, np.linalg.inv(rows), atol=1e-12 * np.linalg.cond(rows))
    assert not found.is_singular
    weights = np.repeat([found.length, 1.0], 3)
    values = np.linalg.svd(weights[:, None] * np.linalg.inv(rows), compute_uv=False)
    np.testing.assert_allclose(found.singular_values, values, rtol=1e-10)
    assert found.conditioning == pytest.approx(values[-1] / values[0], rel=1e-10)
    assert found.manipulability == pytest.approx(np.prod(values), rel=1e-10)


def five_bar_rates(state: lw.State) -> tuple[np.ndarray, np.ndarray]:
    """Return tip velocity (2,) by motors (2,), and the rate of "E" by them, in x and z."""
    angles = np.array([state["A.q"], state["B.q"]])
    crank = PROXIMAL * np.column_stack([np.cos(angles), np.sin(angles)])
    normal = PROXIMAL * np.column_stack([-np.sin(angles), np.cos(angles)])  # velocity of the elbow by its angle
    tip = state["tip.r"][[0, 2]]
    rod = (tip - np.array([[-SPAN / 2, 0], [SPAN / 2, 0]]) - crank) / DISTAL
    jacobian = np.linalg.solve(rod, np.diag(np.sum(rod * normal, axis=1)))
    across = np.column_stack([-rod[:, 1], rod[:, 0]]) / DISTAL
    spins = across @ jacobian - np.diag(np.sum(across * normal, axis=1))  # of both rods
    return jacobian, spins[1] - spins[0]


@pytest.mark.parametrize("angles", [(2.2, 0.9), (1.9, 0.4), (2.9, 1.4)])
def test_five_bar_has_its_closed_form_also_by_the_joint_that_closes_it(angles: tuple[float, float]) -> None:
    model = lw.compile(five_bar())
    state = model.assemble(q=dict(zip("AB", angles, strict=True)))
    expected, elbow = five_bar_rates(state)
    found = lw.motor_jacobian(model, state, of=["tip.r[1]", "tip.r[3]", "E"], by=["A", "B"])
    np.testing.assert_allclose(found.matrix, np.vstack([expected, elbow]), atol=1e-12)
    assert "E" in model.loop_names
    by_cut = lw.motor_jacobian(model, state, of=["tip.r[1]", "tip.r[3]"], by=["A", "E"])
    np.testing.assert_allclose(by_cut.matrix, expected @ np.linalg.inv([[1.0, 0.0], elbow]), atol=1e-12)


@pytest.mark.thin(6)
@pytest.mark.parametrize("family", sorted(ALL))
def test_bodies_of_random_mechanisms_move_as_their_independent_speeds_demand(family: str) -> None:
    scene = well_posed(ALL[family], 5)
    model = lw.compile(scene.mechanism)
    state = model.assemble()
    basis = ConfigurationSpace(model, state).tangent().basis
    by = [model.u_names[k] for k in qr(basis.T, pivoting=True)[2][: basis.shape[1]]]
    if any(coupling.motion is not None for coupling in scene.mechanism.couplings.values()):
        pytest.skip("prescribed motions move it as well")
    body = list(scene.mechanism.bodies)[-1]
    state = moving(model, state, 1)
    found = lw.motor_jacobian(model, state, of=body, by=by)
    motors = np.array([state[name] for name in by])
    twist = np.concatenate([state[f"{body}.w"], state[f"{body}.v"]])
    np.testing.assert_allclose(found.matrix @ motors, twist, atol=1e-9 * (1 + np.abs(found.matrix).max()))


def test_bias_is_that_of_any_motion_through_the_state() -> None:
    mech = limb()
    mech.add_point("toe", "shin2", (0.3, 0, 0.02))
    model = lw.compile(mech)
    state = moving(model, model.assemble(), 3)
    found = lw.motor_jacobian(model, state, of="toe.r", by=["hip", "front", "back"])
    tau = np.random.default_rng(2).standard_normal(len(model.u_names))
    motors = [model.value(f"{name}.a", state, tau=tau) for name in ("hip", "front", "back")]
    np.testing.assert_allclose(found.matrix @ motors + found.bias, model.value("toe.a", state, tau=tau), rtol=1e-9)
    assert np.abs(found.bias).max() > 0.1


@pytest.mark.parametrize(
    ("make", "body", "point", "motors"),
    [(limb, "shin1", (0.3, 0, 0), ["hip", "front", "back"]), (stewart, "platform", (0, 0, 0), STRUTS)],
)
def test_motors_balance_a_force_by_the_transposed_jacobian(make, body: str, point, motors: list[str]) -> None:
    mech = make()
    mech.add_force(lw.Wrench(body, point=point, name="push"))
    mech.add_point("pushed", body, point)
    model = lw.compile(mech)
    state = moving(model, model.assemble(), 4)
    found = lw.motor_jacobian(model, state, of="pushed.r", by=motors)
    force = np.array([3.0, -5.0, 7.0])
    loads = dict(zip(motors, -found.matrix.T @ force, strict=True))
    free = model.accelerations(state)
    balanced = model.accelerations(state, tau={**loads, "push.F": force})
    pushed = model.accelerations(state, tau={"push.F": force})
    np.testing.assert_allclose(balanced, free, atol=1e-9 * np.abs(pushed).max())
    assert np.abs(pushed - free).max() > 1.0


@pytest.mark.parametrize(
    ("make", "of"), [(limb, "foot.r"), (stewart, "platform"), (five_bar, ["tip.r[1]", "tip.r[3]"])]
)
def test_operational_space_inertia_is_that_of_the_equations_with_multipliers(make, of) -> None:
    model = lw.compile(make())
    state = model.assemble()
    by = {limb: ["hip", "front", "back"], stewart: STRUTS, five_bar: ["A", "B"]}[make]
    found = lw.motor_jacobian(model, state, of=of, by=by)
    space = ConfigurationSpace(model, state)
    mass, rows = model.mass_matrix(state), space.jacobian()
    # the functions' rows by unit speeds of the tree, loops open: the same columns as the twist of the body
    from linkwork.analysis.pose_functions import stacked

    task = stacked(space, of, "of").rows()
    n, k = len(mass), len(rows)
    system = np.block([[mass, rows.T], [rows, np.zeros((k, k))]])
    answer = np.linalg.lstsq(system, np.vstack([task.T, np.zeros((k, len(task)))]), rcond=1e-13)[0][:n]
    np.testing.assert_allclose(found.inertia, np.linalg.inv(task @ answer), rtol=1e-8, atol=1e-9)


def test_inertia_gives_the_kinetic_energy() -> None:
    model = lw.compile(limb())
    state = moving(model, model.assemble(), 7)
    found = lw.motor_jacobian(model, state, of="foot.r", by=["hip", "front", "back"])
    v = np.asarray(model.value("foot.v", state))
    assert 0.5 * v @ found.inertia @ v == pytest.approx(model.energy(state).kinetic, rel=1e-10)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_platform_turned_by_90_degrees_is_singular_on_a_screw(platform: lw.Model, sign: int) -> None:
    state = posed(platform, np.array([0, 0, HEIGHT]), np.array([0, 0, sign * np.pi / 2]))
    found = lw.motor_jacobian(platform, state, of="platform", by=STRUTS)
    assert found.is_singular
    assert found.conditioning == 0.0
    assert len(found.held) == 1
    assert not found.lost
    # the moment of all struts about the vertical axis is alike: Rb Rp cos(difference of half angles) by their height
    pitch = -sign * BASE_RADIUS * PLATFORM_RADIUS * np.cos(PLATFORM_HALF_ANGLE - BASE_HALF_ANGLE) / HEIGHT
    twist = found.held[0].rates
    np.testing.assert_allclose(twist / twist[2], [0, 0, 1, 0, 0, pitch], atol=1e-8)
    lines = strut_rows(np.array([0, 0, HEIGHT]), Rotation.from_rotvec([0, 0, sign * np.pi / 2]).as_matrix())
    np.testing.assert_allclose(lines @ twist, 0.0, atol=1e-9)
    assert f"turns about (0, 0, 1) through (0, 0, 0.6) m, moving {pitch:.4g} m/rad along it" in repr(found)
    assert "parallel type" in repr(found)
    assert np.isnan(found.matrix[[2, 5]]).all()
    assert np.isfinite(found.matrix[[0, 1, 3, 4]]).all()
    near = posed(platform, np.array([0, 0, HEIGHT]), np.array([0, 0, sign * np.deg2rad(89)]))
    assert not lw.motor_jacobian(platform, near, of="platform", by=STRUTS).is_singular


def test_a_stretched_limb_of_the_five_bar_loses_the_direction_along_it() -> None:
    model = lw.compile(five_bar())
    reach = PROXIMAL + DISTAL
    target = np.array([-SPAN / 2 + reach * np.cos(1.2), 0, reach * np.sin(1.2)])
    found = lw.inverse_kinematics(model, {"A": 1.2, "tip.r[1]": target[0]})
    np.testing.assert_allclose(found.state["tip.r"], target, atol=1e-6)
    state = model.assemble(q={"A": 1.2, "C": 0.0})
    jacobian = lw.motor_jacobian(model, state, of="tip.r", by=["A", "B"])
    assert [len(jacobian.lost), len(jacobian.held), jacobian.impossible] == [1, 0, 2]
    np.testing.assert_allclose(jacobian.lost[0].rates, [np.cos(1.2), 0, np.sin(1.2)], atol=1e-7)
    assert "serial type" in repr(jacobian)
    assert jacobian.manipulability == 0.0


def test_a_flat_parallelogram_has_two_branches_of_motion() -> None:
    mech = lw.Mechanism("parallelogram")
    hinge = lw.Revolute((0, 1, 0))
    for name, x in (("left", 0.0), ("right", 1.0)):
        mech.add_body(name, 1.0, (0.25, 0, 0), lw.inertia.rod(1.0, 0.5), origin=(x, 0, 0))
        mech.add_joint(f"{name}_low", hinge, "ground", name, at=(x, 0, 0))
    mech.add_body("top", 1.0, (0.5, 0, 0), lw.inertia.rod(1.0, 1.0), origin=(0.5, 0, 0))
    mech.add_joint("left_high", hinge, "left", "top", at=(0.5, 0, 0))
    mech.add_joint("right_high", hinge, "right", "top", at=(1.5, 0, 0))
    model = lw.compile(mech)
    turning = [{"left": 1.0, "right": 1.0}[name.split("_")[0]] for name in model.u_names]
    turning = np.where([name.endswith("high.u") for name in model.u_names], -1.0, turning)
    flat = model.state(np.zeros(len(turning)), turning)
    found = lw.motor_jacobian(model, flat, of="right_low", by="left_low")
    assert (found.dof, found.regular_dof) == (2, 1)
    assert "singular, loops: 2 degrees of freedom here, 1 in neighbouring poses" in repr(found)


def test_more_motors_than_degrees_of_freedom_have_consistent_speeds(platform: lw.Model) -> None:
    state = moving(platform, posed(platform, np.array([0.05, 0, HEIGHT]), np.array([0.1, 0.2, 0])), 1)
    by = [*STRUTS, "U1", "U2[1]"]
    found = lw.motor_jacobian(platform, state, of="platform", by=by)
    assert found.redundant == 3
    speeds = np.hstack([state[f"{name}.u"] if "[" not in name else state["U2.u[1]"] for name in by])
    np.testing.assert_allclose(found.matrix @ speeds, [*state["platform.w"], *state["platform.v"]], atol=1e-11)


def test_too_few_motors_leave_a_named_motion(platform: lw.Model) -> None:
    found = lw.motor_jacobian(platform, of="platform", by=STRUTS[:5])
    assert len(found.held) == 1
    assert not found.is_singular
    lines = strut_rows(np.array([0, 0, HEIGHT]), np.eye(3))
    np.testing.assert_allclose((lines @ found.held[0].rates)[:5], 0.0, atol=1e-12)
    assert "no motor drives: with all motors held platform turns about" in repr(found)


def test_a_rod_that_spins_on_its_axis_does_not_hide_the_jacobian() -> None:
    mech = lw.Mechanism("spinning_rod")
    mech.add_body("crank", 1.0, (0.1, 0, 0), lw.inertia.rod(1.0, 0.2))
    mech.add_body("rod", 1.0, (0.3, 0, 0), np.diag([1e-3, 0.03, 0.03]))
    mech.add_body("slide", 1.0, (0, 0, 0), lw.inertia.sphere(1.0, 0.05))
    mech.add_joint("A", lw.Revolute((0, 0, 1)), "ground", "crank", at=(0, 0, 0))
    mech.add_joint("B", lw.Spherical(), "crank", "rod", parent_frame=lw.Frame((0.2, 0, 0)))
    mech.add_joint("C", lw.Spherical(), "rod", "slide", parent_frame=lw.Frame((0.6, 0, 0)))
    mech.add_joint("D", lw.Prismatic((1, 0, 0)), "ground", "slide", parent_frame=lw.Frame(), cut=True)
    mech.start(q={"A": 1.0})
    model = lw.compile(mech)
    state = model.assemble()
    angle = state["A.q"]
    found = lw.motor_jacobian(model, state, of=["D"], by=["A"])
    across = 0.2 * np.sin(angle)
    expected = -0.2 * np.sin(angle) - 0.04 * np.sin(angle) * np.cos(angle) / np.sqrt(0.36 - across**2)
    assert abs(found.matrix[0, 0]) == pytest.approx(abs(expected), rel=1e-10)
    assert not found.held
    assert found.undriven == found.dof - 1 > 0
    assert "move none of the functions" in repr(found)


def test_actuators_are_the_motors_by_default() -> None:
    mech = five_bar()
    mech.add_force(lw.Actuator("drive", {"A": 20.0}))
    mech.add_force(lw.Actuator("turn", {"B": -1.0}))
    by_joints = lw.motor_jacobian(mech, of="tip.r", by=["A", "B"])
    found = lw.motor_jacobian(mech, of="tip.r")
    assert found.motors == ("drive.length", "turn.length")
    np.testing.assert_allclose(found.matrix, by_joints.matrix / [20.0, -1.0], atol=1e-13)


def test_a_body_named_as_a_joint_is_asked_for_by_its_functions() -> None:
    mech = lw.Mechanism("arm")
    mech.add_body("knee", 1.0, (0.5, 0, 0), lw.inertia.rod(1.0, 1.0))
    mech.add_joint("knee", lw.Revolute((0, 0, 1)), "ground", "knee", at=(0, 0, 0))
    with pytest.raises(lw.MechanismError, match=r"'knee' is a body and a joint: name 'knee\.q', or 'knee\.Q'"):
        lw.motor_jacobian(mech, of="knee", by="knee")
    found = lw.motor_jacobian(mech, of=["knee.Q", "knee.r"], by="knee")
    np.testing.assert_allclose(found.matrix[:, 0], [0, 0, 1, 0, 0, 0], atol=1e-15)


def test_wrong_requests_are_refused_by_name() -> None:
    mech = five_bar()
    for options, text in (
        ({"of": "tipp.r", "by": "A"}, "tip.r"),
        ({"of": "tip.r", "by": ["A", "Bee"]}, "there is no motor 'Bee'"),
        ({"of": "tip.r", "by": ["A", "A.q"]}, "there is no motor 'A.q'|named twice"),
        ({"of": "tip.r", "by": ["A", "A"]}, "named twice"),
        ({"of": "tip.r"}, "has no actuators"),
        ({"of": [], "by": "A"}, "of names no function"),
        ({"of": "tip.r", "by": []}, "by names no motor"),
        ({"of": "tip.r", "by": "A", "length": 0.0}, "length must be positive"),
        ({"of": "tip.r", "by": "A", "length": np.nan}, "length must be finite"),
    ):
        with pytest.raises(lw.MechanismError, match=text):
            lw.motor_jacobian(mech, **options)
    mech.add_distance("strut", ("crank1", "ground"), ((PROXIMAL, 0, 0), (0.3, 0, 0)), length=0.4)
    mech.add_distance("prop", ("crank2", "ground"), ((PROXIMAL, 0, 0), (-0.3, 0, 0)), length=0.4)
    with pytest.raises(lw.MechanismError, match="cannot move"):
        lw.motor_jacobian(mech, of="tip.r", by="A")
