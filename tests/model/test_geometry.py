"""Poses, and position, velocity, acceleration and Jacobians of points of bodies."""

import numpy as np
import pytest

import linkwork as lw
from support.cases import five_bar_with_three_legs, four_bar
from support.driving import random_loads, reached
from support.joint_families import ALL_KINDS
from support.pinocchio_tree import PinocchioTree
from support.random_mechanisms import random_tree, well_posed

STEP = 1e-6


@pytest.fixture(params=range(4))
def tree(request):
    """A tree of all kinds of joints, and the same in Pinocchio."""
    return well_posed(lambda rng: random_tree(rng, 10, tuple(ALL_KINDS)), request.param)


def points_of(scene, seed=3):
    rng = np.random.default_rng(seed)
    return {body: rng.normal(size=3) for body in scene.mechanism.bodies}


def joints_of(model):
    return list(dict.fromkeys(name.split(".")[0] for name in model.u_names))


# ---- trees ----


def test_poses_and_points_are_those_of_pinocchio(tree):
    model, state = reached(tree)
    poses = PinocchioTree(tree.mechanism).poses(tree.q)
    for body, point in points_of(tree).items():
        found = model.pose(state, body)
        np.testing.assert_allclose(found.position, poses[body].position, atol=2e-14)
        np.testing.assert_allclose(found.rotation, poses[body].rotation, atol=2e-14)
        expected = poses[body].position + poses[body].rotation @ point
        np.testing.assert_allclose(model.point(state, body, point), expected, atol=4e-14)
        np.testing.assert_allclose(found.frame.apply(point), expected, atol=4e-14)


def test_jacobians_are_those_of_pinocchio(tree):
    model, state = reached(tree)
    peer = PinocchioTree(tree.mechanism)
    for body, point in points_of(tree).items():
        expected = peer.body_jacobian(tree.q, joints_of(model), body, point)
        found = model.body_jacobian(state, body, point)
        np.testing.assert_allclose(found, expected, atol=4e-14 * max(1.0, np.abs(expected).max()))
        assert np.array_equal(model.point_jacobian(state, body, point), found[3:])
        np.testing.assert_allclose(model.point_velocity(state, body, point), expected[3:] @ state.u, atol=2e-13)


def test_accelerations_are_those_of_pinocchio(tree):
    model, state = reached(tree)
    peer, tau = PinocchioTree(tree.mechanism), random_loads(np.random.default_rng(1), tree)
    for body, point in points_of(tree).items():
        expected = peer.point_acceleration(tree.q, tree.u, tau, body, point)
        found = model.point_acceleration(state, body, point, tau=tau)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * max(1.0, np.abs(expected).max()))


# ---- loops ----


@pytest.mark.parametrize("method", ["rcr", "embedding", "multipliers", "dca"])
def test_an_acceleration_is_the_derivative_of_the_velocity(scene, method):
    model, state = reached(scene, method)
    tau = random_loads(np.random.default_rng(2), scene)
    rates = model.derivatives(state, tau=tau)
    nq = len(state.q)

    def velocity(body, point, h):
        return model.point_velocity(state.q + h * rates[:nq], body, point, state.u + h * rates[nq:])

    for body, point in list(points_of(scene).items())[::3]:
        expected = (velocity(body, point, STEP) - velocity(body, point, -STEP)) / (2 * STEP)
        found = model.point_acceleration(state, body, point, tau=tau)
        np.testing.assert_allclose(found, expected, rtol=0, atol=2e-7 * max(1.0, np.abs(rates).max()))


@pytest.mark.parametrize(
    ("case", "independents"), [(four_bar, ["A"]), (four_bar, ["C.u"]), (five_bar_with_three_legs, ["A", "B"])]
)
def test_a_reduced_jacobian_is_the_derivative_of_assembled_points(case, independents):
    made = case()
    model, joints = lw.compile(made.mechanism), [name.split(".")[0] for name in independents]
    rest = {name: value for name, value in made.q.items() if name not in joints}
    body, point = list(made.mechanism.bodies)[1], (0.3, 0.1, -0.2)

    def assembled(h=0.0, moved=""):
        return model.assemble(q={name: made.q[name] + h * (name == moved) for name in joints} | rest)

    found = model.point_jacobian(assembled(), body, point, independents=independents)
    assert found.shape == (3, len(independents))
    for k, joint in enumerate(joints):
        ends = [model.point(assembled(h, joint), body, point) for h in (STEP, -STEP)]
        np.testing.assert_allclose(found[:, k], (ends[0] - ends[1]) / (2 * STEP), atol=1e-8)


def test_independent_speeds_give_all_speeds(scene):
    model, state = reached(scene)
    independents, matrix, offset = model.velocity_transformation(state)
    chosen = [model.u_names.index(name) for name in independents]
    np.testing.assert_allclose(matrix @ state.u[chosen] + offset, state.u, atol=1e-9 * max(1.0, np.abs(matrix).max()))
    np.testing.assert_array_equal(matrix[chosen], np.eye(len(chosen)))
    body = list(scene.mechanism.bodies)[-1]
    reduced = model.body_jacobian(state, body, (1, 2, 3), independents="auto")
    np.testing.assert_allclose(reduced, model.body_jacobian(state, body, (1, 2, 3)) @ matrix, rtol=0, atol=1e-12)


def test_prescribed_motions_give_the_offset():
    case = four_bar()
    case.mechanism.prescribe("A", lw.Motion((0.6, 2.0, 3.0)))
    model = lw.compile(case.mechanism)
    state = model.assemble(time=0.1)
    independents, matrix, offset = model.velocity_transformation(state)
    assert (independents, matrix.shape) == ((), (len(state.u), 0))
    np.testing.assert_allclose(offset, state.u, atol=1e-13)
    assert offset[model.u_names.index("A.u")] == pytest.approx(2.6, abs=1e-14)


def test_locks_take_speeds_away():
    case = four_bar()
    case.mechanism.add_transition("latch", lw.Lock("A"), when=lw.Command())
    model = lw.compile(case.mechanism)
    state = model.assemble(q=case.q, u={"A": 0.0})
    assert len(model.velocity_transformation(state).independents) == 1
    locked = model.jump(state, ["latch"]).state
    assert model.point_jacobian(locked, "coupler", independents="auto").shape == (3, 0)


# ---- singular poses, batches, the ground ----


def test_kinematics_need_no_accelerations():
    """A parallelogram stretched along a line, where the accelerations are not unique."""
    plane = lw.Mechanism("parallelogram")
    for name in ("crank", "coupler", "rocker"):
        plane.add_body(name, 1.0, (0.5, 0, 0), lw.inertia.rod(1.0, 1.0, axis="x"))
    hinge, far = lw.Revolute((0, 1, 0)), lw.Frame((1, 0, 0))
    plane.add_joint("A", hinge, "ground", "crank", parent_frame=lw.Frame())
    plane.add_joint("B", hinge, "crank", "coupler", parent_frame=far)
    plane.add_joint("C", hinge, "coupler", "rocker", parent_frame=far)
    plane.add_joint("D", hinge, "ground", "rocker", parent_frame=far, child_frame=far)
    model = lw.compile(plane)
    q = np.zeros(3)
    np.testing.assert_allclose(model.point(q, "rocker", (0, 0, 0)), (2, 0, 0), atol=1e-15)
    assert np.isfinite(model.body_jacobian(q, "rocker")).all()


def test_batches_equal_single_calls(system, state):
    q = state.q + 1e-3 * np.random.default_rng(0).normal(size=(2, 3, len(state.q)))
    u = np.ones_like(q)
    at = "coupler", (0.1, 0.2, 0.3)
    pose = system.pose(q, "coupler")
    assert (pose.position.shape, pose.rotation.shape) == ((2, 3, 3), (2, 3, 3, 3))
    assert np.array_equal(pose.rotation[1, 2], system.pose(q[1, 2], "coupler").rotation)
    assert np.array_equal(system.point(q, *at)[1, 2], system.point(q[1, 2], *at))
    assert np.array_equal(system.point_velocity(q, *at, u)[1, 2], system.point_velocity(q[1, 2], *at, u[1, 2]))
    assert np.array_equal(system.point_acceleration(q, *at, u)[1, 2], system.point_acceleration(q[1, 2], *at, u[1, 2]))
    assert np.array_equal(system.point_jacobian(q, *at)[1, 2], system.point_jacobian(q[1, 2], *at))
    single = system.velocity_transformation(q[1, 2], ["A"])
    assert np.array_equal(system.velocity_transformation(q, ["A"]).matrix[1, 2], single.matrix)


def test_other_functions_are_unchanged_afterwards(system, state):
    before = system.reactions(state), system.accelerations(state)
    system.body_jacobian(state, "coupler")
    assert np.array_equal(system.reactions(state), before[0])
    block = system.block()
    system.enter(block, state)
    reactions = block["reaction_force"].copy()
    block.body_jacobian(1, np.zeros(3))
    assert np.array_equal(block["reaction_force"], reactions)
    assert np.array_equal(block["acceleration"][: len(state.u)], before[1])


def test_the_ground_rests(system, state):
    assert np.array_equal(system.pose(state, "ground").rotation, np.eye(3))
    assert system.point(state, "ground", (1, 2, 3)).tolist() == [1, 2, 3]
    assert not system.point_velocity(state, "ground").any()
    assert not system.point_acceleration(state, "ground").any()
    assert not system.body_jacobian(state, "ground").any()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m, s: m.pose(s, "cupler"), "pose: there is no body 'cupler': did you mean 'coupler'"),
        (lambda m, s: m.point(s, "coupler", (1, 2)), "point: the point must be 3 numbers"),
        (lambda m, s: m.point_velocity(s.q, "coupler"), "give a State, or both arrays"),
        (
            lambda m, s: m.point_jacobian(s, "coupler", independents=["A", "B"]),
            "1 degree of freedom, but 'A', 'B'",
        ),
        (lambda m, s: m.velocity_transformation(s, ["E"]), "there is no speed 'E'"),
        (lambda m, s: m.velocity_transformation(s, ["D"]), "joint 'D' closes a loop"),
    ],
)
def test_mistakes_are_named(system, state, call, message):
    with pytest.raises(lw.MechanismError, match=message):
        call(system, state)
