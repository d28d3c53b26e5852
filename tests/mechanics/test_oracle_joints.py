"""The reference of the other tests for joints of several speeds, couplings and forces between points, tested itself."""

import numpy as np
import pytest

import linkwork as lw
from support.builder import random_coordinates, random_inertia
from support.driving import coordinate_difference, largest_difference, power, random_loads
from support.gear_families import GEAR_FAMILIES
from support.joint_families import ALL_KINDS, JOINT_FAMILIES
from support.joint_shapes import shape
from support.loads import Wrench
from support.oracle import Oracle
from support.pinocchio_tree import PinocchioTree
from support.placement import body_poses
from support.poses import cross_matrix, matrix_quaternion, quaternion_matrix, random_rotation, random_unit, turn
from support.random_mechanisms import FAMILIES as HINGE_FAMILIES
from support.random_mechanisms import random_tree, well_posed
from support.records import record
from support.rows import Gear

FAMILIES = HINGE_FAMILIES | JOINT_FAMILIES | GEAR_FAMILIES
KINDS = [kind for kind in ALL_KINDS if kind != "fixed"]


def random_shape(kind, rng):
    first = random_unit(rng)
    axes = {"spherical": (), "free": (), "universal": (first, np.cross(first, random_unit(rng)))}
    axes |= {"pin_in_slot": axes["universal"], "screw": (first, 0.3)}
    return shape(kind, *axes.get(kind, (first,)))


class TestShapes:
    """Poses, velocities and accelerations of each kind, tied together by differences."""

    STEP = 1e-5

    @pytest.fixture(params=KINDS)
    def drawn(self, request):
        rng = np.random.default_rng(4)
        form = random_shape(request.param, rng)
        return form, random_coordinates(rng, form), rng.normal(size=form.nu)

    def test_coordinates_are_read_from_the_pose(self, drawn):
        form, q, _ = drawn
        found = form.coordinates(form.pose(q))
        if form.nq > form.nu:
            q[-4:] *= np.sign(q[-4])  # the one of two quaternions that is returned
        assert found == pytest.approx(q, abs=1e-14)

    def test_motion_is_the_rate_of_the_pose(self, drawn):
        form, q, u = drawn
        after, before = (form.pose(q + h * form.rates(q, u)) for h in (self.STEP, -self.STEP))
        rate = (after.rotation - before.rotation) / (2 * self.STEP)
        spin = rate @ form.pose(q).rotation.T
        velocity = form.motion(q) @ u
        assert spin == pytest.approx(cross_matrix(velocity[:3]), abs=1e-8)
        assert (after.position - before.position) / (2 * self.STEP) == pytest.approx(velocity[3:], abs=1e-8)

    def test_drift_is_the_rate_of_the_motion(self, drawn):
        form, q, u = drawn
        after, before = (form.motion(q + h * form.rates(q, u)) @ u for h in (self.STEP, -self.STEP))
        assert (after - before) / (2 * self.STEP) == pytest.approx(form.drift(q, u), abs=1e-8)


def test_quaternions_of_rotations_by_half_a_turn():
    for axis in (*np.eye(3), np.array([0.6, 0.0, -0.8])):
        rotation = turn(axis, np.pi)
        assert quaternion_matrix(matrix_quaternion(rotation)) == pytest.approx(rotation, abs=1e-14)


@pytest.mark.parametrize("kinds", [*((kind,) for kind in KINDS), ALL_KINDS], ids=lambda kinds: kinds[0][:9])
@pytest.mark.thin(3)
@pytest.mark.parametrize("seed", range(2))
def test_trees_agree_with_pinocchio(kinds, seed):
    """Half of the joints stand the other way round there."""
    rng = np.random.default_rng(seed)
    scene = random_tree(rng, 10, kinds, springs=4, reverse=0.5)
    peer = PinocchioTree(scene.mechanism)
    tau = random_loads(rng, scene)
    expected = peer.accelerations(scene.q, scene.u, scene.oracle.loads(scene.u, tau))
    assert largest_difference(scene.oracle.solve(scene.u, tau).udot, expected) < 1e-12
    kinetic, potential = peer.energy(scene.q, scene.u)
    springs = scene.oracle.energy(scene.u)[1] - _without_springs(scene)
    assert scene.oracle.energy(scene.u) == pytest.approx((kinetic, potential + springs), rel=1e-12)
    for name, pose in peer.poses(scene.q).items():
        assert pose.position == pytest.approx(scene.poses[name].position, abs=1e-12)
        assert pose.rotation == pytest.approx(scene.poses[name].rotation, abs=1e-12)


def _without_springs(scene):
    gravity = np.asarray(scene.mechanism.gravity)
    return -sum(body.mass * gravity @ com for body, com in zip(scene.oracle.bodies.all, scene.oracle.com, strict=True))


@pytest.mark.thin(6)
class TestFamilies:
    @pytest.fixture(params=FAMILIES)
    def family(self, request):
        return FAMILIES[request.param]

    def test_they_are_closed_and_have_their_degrees_of_freedom(self, family):
        make, freedom = family
        scene = well_posed(make, seed=0)
        assert scene.oracle.gap() < 1e-13
        assert coordinate_difference(scene.mechanism, scene.oracle.coordinates(), scene.q) < 1e-13
        assert freedom in (None, scene.oracle.motions.shape[1])
        speeds = scene.oracle.joint_speeds(scene.oracle.velocities(scene.u))
        assert largest_difference(speeds, scene.u) < 1e-12

    def test_reactions_balance_every_body(self, family):
        scene = well_posed(family[0], seed=0)
        oracle = scene.oracle
        tau = random_loads(np.random.default_rng(2), scene)
        solution, loads = oracle.solve(scene.u, tau), oracle.loads(scene.u, tau)
        total = oracle.with_loads(solution.reaction, oracle.geared(loads, solution))
        assert np.abs(oracle.imbalance(solution, scene.u, total)).max() < 1e-12
        assert largest_difference(oracle.axial(oracle.with_loads(solution.reaction, loads)), loads) < 1e-9

    def test_power_is_the_rate_of_energy(self, family):
        """Ties accelerations to energies without a second formulation: dT/dt is the sum of v . M a."""
        scene = well_posed(family[0], seed=0)
        oracle = scene.oracle
        tau = random_loads(np.random.default_rng(1), scene)
        v, solution = oracle.velocities(scene.u).ravel(), oracle.solve(scene.u, tau)
        rate = v @ (oracle.bodies.mass_matrix() @ solution.body_acceleration.ravel() - solution.force)
        assert rate == pytest.approx(power(oracle.loads(scene.u, tau), scene.u), rel=1e-9, abs=1e-9)


def stepped(scene, udot, step):
    """Bodies after a short time, by a Taylor step of the coordinates of the joints of a spanning tree."""
    q, shapes = {}, {row.name: row.shape for row in scene.oracle.rows}
    for name, row in scene.oracle.moving.items():
        u = np.atleast_1d(scene.u[name]) + step / 2 * np.atleast_1d(udot[name])
        middle = row.q + step / 2 * shapes[name].rates(row.q, np.atleast_1d(scene.u[name]))
        q[name] = row.q + step * shapes[name].rates(middle, u)
    return q


@pytest.mark.parametrize(
    "family", ["RSSR", "RUSR", "RCCC", "EUC", "ladder_spherical", "tripod_RUU", "gear_on_cut_joint", "cam"]
)
def test_loops_and_gears_stay_closed_along_the_motion(family):
    """Accelerations to second order: the gap that each joint has after a short time is of third order in it."""
    scene = well_posed(FAMILIES[family][0], seed=5)
    udot = scene.oracle.solve(scene.u).udot
    cut = {name for name, joint in scene.mechanism.joints.items() if joint.cut}
    tree = spanning(scene.mechanism, cut)
    gaps = []
    for step in (2e-3, 1e-3):
        q = stepped(scene, udot, step)
        moved = Oracle(scene.mechanism, body_poses(scene.mechanism, q, tree), q, gears=scene.gears)
        gaps.append(max(moved.gap(), coordinate_difference(scene.mechanism, moved.coordinates(), q)))
    assert gaps[0] < 1e-4
    assert gaps[0] / gaps[1] == pytest.approx(8.0, rel=0.1)


def spanning(mechanism, last):
    """Joints that reach every body, those named `last` only where no other does."""
    reached, tree = {"ground"}, []
    while len(reached) <= len(mechanism.bodies):
        for joint in sorted(mechanism.joints.values(), key=lambda joint: joint.name in last):
            if (joint.parent in reached) != (joint.child in reached):
                reached |= {joint.parent, joint.child}
                tree.append(joint.name)
                break
    return tree


@pytest.mark.parametrize("name", ["rusr", "ladder3", "moving_fourbar_trees", "stephenson_triad", "geared_link"])
def test_mechanisms_of_record(name):
    """Values that constraint embedding, multipliers and, but for two of them, a loop recursion agreed on."""
    case = record(name)
    tree = [name for name in case.mechanism.joints if name.startswith("J")]
    oracle = Oracle(case.mechanism, body_poses(case.mechanism, case.q, tree), case.q, gears=case.gears)
    assert oracle.gap() < 1e-14
    found = oracle.solve(case.u, case.tau).udot
    assert largest_difference({name: found[name] for name in case.udot}, case.udot) < 1e-13
    if case.energy:
        assert oracle.energy(case.u) == pytest.approx(case.energy, rel=1e-13)


def one_body(kind, com=(0.0, 0.0, 0.0), gravity=(0.0, 0.0, -9.81), reverse=False, seed=0):
    mech = lw.Mechanism("one", gravity=gravity)
    rng = np.random.default_rng(seed)
    mech.add_body("b", mass=1.7, com=com, inertia=random_inertia(rng, 1.7))
    mech.add_joint("J", kind, *(("b", "ground") if reverse else ("ground", "b")), parent_frame=lw.Frame())
    return mech


def test_free_body_obeys_euler():
    mech = one_body(lw.Free())
    rotation = random_rotation(np.random.default_rng(1))
    q = np.r_[0.3, -0.2, 0.5, matrix_quaternion(rotation)]
    w, v = np.array([1.0, -2.0, 3.0]), np.array([0.4, 0.5, -0.6])
    oracle = Oracle(mech, body_poses(mech, {"J": q}, ["J"]))
    inertia = mech.bodies["b"].inertia
    turning = np.linalg.solve(inertia, -np.cross(w, inertia @ w))
    expected = np.r_[turning, rotation.T @ [0, 0, -9.81] - np.cross(w, v)]
    assert oracle.solve({"J": np.r_[w, v]}).udot["J"] == pytest.approx(expected, rel=1e-13)


def test_free_joint_whose_child_is_the_ground():
    """The ground flies past the body: its origin is at -R'p of the body and turns by -w."""
    mech = one_body(lw.Free(), gravity=(0, 0, 0), reverse=True)
    q = np.r_[np.zeros(3), 1.0, np.zeros(3)]
    w = np.array([1.0, -2.0, 3.0])  # of the ground in the body, so that the body turns by -w
    oracle = Oracle(mech, body_poses(mech, {"J": q}, ["J"]))
    inertia = mech.bodies["b"].inertia
    body = np.linalg.solve(inertia, -np.cross(w, inertia @ w))
    assert oracle.solve({"J": np.r_[w, np.zeros(3)]}).udot["J"] == pytest.approx(np.r_[-body, np.zeros(3)], rel=1e-13)


def test_spherical_pendulum_in_steady_precession():
    """A heavy ball circles on a cone at sqrt(g / (l cos angle)); its joint turns with it.

    With equal moments its spin asks for no torque; a moment of zero would make the oracle's matrix singular.
    """
    angle, length = 0.7, 0.5
    mech = lw.Mechanism("cone")
    mech.add_body("b", mass=2.0, com=(0, 0, -length), inertia=0.1 * np.eye(3))
    mech.add_joint("J", lw.Spherical(), "ground", "b", at=(0, 0, 0))
    rotation = turn(np.array([0.0, 1.0, 0.0]), angle)
    rate = np.sqrt(9.81 / (length * np.cos(angle)))
    oracle = Oracle(mech, body_poses(mech, {"J": matrix_quaternion(rotation)}, ["J"]))
    u = rotation.T @ [0, 0, rate]
    acceleration = oracle.solve({"J": u}).body_acceleration[0]
    inward = rotation @ [0, 0, length] * [1, 0, 0]
    assert acceleration[3:] == pytest.approx(rate**2 * inward, abs=1e-9)


def test_spring_between_points_pulls_along_its_line():
    mech = one_body(lw.Prismatic((1, 0, 0)), gravity=(0, 0, 0))
    points = ((0.0, 3.0, 0.0), (4.0, 0.0, 0.0))
    mech.add_force(lw.SpringDamper(bodies=("ground", "b"), points=points, stiffness=10.0, damping=2.0, free=4.5))
    oracle = Oracle(mech, body_poses(mech, {"J": 0.0}, ["J"]))
    tension = 10.0 * (5.0 - 4.5) + 2.0 * 0.8 * 1.5
    assert oracle.solve({"J": 1.5}).udot["J"] == pytest.approx(-0.8 * tension / 1.7, rel=1e-13)
    assert oracle.energy({"J": 0.0})[1] == pytest.approx(10.0 * 0.25 / 2)


def test_wrenches_act_at_their_points():
    mech = one_body(lw.Revolute((0, 0, 1)), gravity=(0, 0, 0))
    oracle = Oracle(mech, body_poses(mech, {"J": 0.5}, ["J"]))
    wrench = Wrench("b", np.array([0, 0, 0.3]), np.array([0.0, 2.0, 0.0]), np.array([0.4, 0, 0]))
    expected = (0.3 + 2.0 * 0.4 * np.cos(0.5)) / mech.bodies["b"].inertia[2, 2]
    assert oracle.solve({"J": 0.0}, wrenches=[wrench]).udot["J"] == pytest.approx(expected, rel=1e-13)


def test_two_shafts_in_gear():
    """Inertias of shafts add with the square of the ratio."""
    mech = lw.Mechanism("shafts", gravity=(0, 0, 0))
    for name, moment in (("motor", 2.0), ("arm", 5.0)):
        mech.add_body(name, mass=1.0, com=(0, 0, 0), inertia=moment * np.eye(3))
        mech.add_joint(name, lw.Revolute((0, 0, 1)), "ground", name, at=(0, 0, 0))
    poses = body_poses(mech, {"motor": 8.0, "arm": 2.0}, ["motor", "arm"])
    q, gears = {"motor": 8.0, "arm": 2.0}, {"G": Gear({"motor": 1.0, "arm": -4.0})}
    oracle = Oracle(mech, poses, q, gears=gears)
    assert oracle.gap() < 1e-14
    solution = oracle.solve({"motor": 4.0, "arm": 1.0}, {"motor": 3.0})
    arm = 4.0 * 3.0 / (5.0 + 16.0 * 2.0)
    assert solution.udot == pytest.approx({"motor": 4.0 * arm, "arm": arm}, rel=1e-13)
    assert solution.gear["G"] == pytest.approx(2.0 * 4.0 * arm - 3.0, rel=1e-13)
    assert solution.multiplier_determined["G"]


@pytest.mark.parametrize("family", ["RSSR", "EUC", "stewart", "ladder_hooke", "spherical_tree", "gear_in_loop"])
def test_driving_loads_drive_the_motion(family):
    """A joint's motion is given; the load found for it, applied to a joint that is free, gives this motion again."""
    scene = well_posed(FAMILIES[family][0], seed=3)
    names = list(scene.q)
    name = next(n for n in names if np.abs(scene.u[n]).max() > 1e-3)
    free = scene.oracle.solve(scene.u).udot
    bent = Oracle(scene.mechanism, scene.poses, scene.q, gears=scene.gears, driven=[name])
    given = scene.oracle.solve(scene.u, {name: np.full(np.shape(scene.u[name]), 1.5)}).udot[name]
    solution = bent.solve(scene.u, given={name: given})
    assert bent.motions.shape[1] < scene.oracle.motions.shape[1]
    assert largest_difference({name: solution.udot[name]}, {name: given}) < 1e-10
    again = scene.oracle.solve(scene.u, solution.drive).udot
    assert largest_difference(again, solution.udot) < 1e-9
    assert largest_difference(again, free) > 1e-6
