"""What the reader of MJCF describes has the poses, inertias, closures and forces of MuJoCo itself."""

from pathlib import Path

import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from linkwork.formats.mjcf import read
from linkwork.mechanism import Free
from support.checkout import beside
from support.mjcf_files import FILES
from support.mujoco_peer import MujocoPeer
from support.robot_kinematics import gaps, loads, poses, rod_energy

MODELS = ("cassie_nomesh", "robotiq_2f85_nomesh", "xarm7_gripper_nomesh")


@pytest.fixture(params=[*FILES, *MODELS])
def path(request, tmp_path) -> Path:
    if request.param in MODELS:
        return beside(f"models/{request.param}.xml")
    written = tmp_path / f"{request.param}.xml"
    written.write_text(FILES[request.param])
    return written


@pytest.fixture
def peer(path):
    return MujocoPeer(path)


@pytest.fixture
def robot(path):
    return read(path)


def split(peer, robot, qpos, qvel=None):
    """Coordinates and speeds of MuJoCo by joint; those of free joints stay in MuJoCo's order."""
    q, u = {}, {}
    moving = [joint for joint in robot.joints.values() if joint.kind.nq and not joint.closes]
    for index, joint in enumerate(moving):
        at, to = peer.model.jnt_qposadr[index], peer.model.jnt_dofadr[index]
        q[joint.name] = qpos[at : at + joint.kind.nq]
        u[joint.name] = None if qvel is None else qvel[to : to + joint.kind.nu]
    assert len(moving) == peer.model.njnt
    return q, u


def random_states(peer, count=5, closed=True):
    random = np.random.default_rng(7)
    for _ in range(count):
        if closed:
            yield peer.random_state(random)
        else:
            yield peer.moved(peer.model.qpos0, random.normal(size=peer.model.nv)), random.normal(size=peer.model.nv)


def test_poses_are_those_of_mujoco_in_the_same_coordinates(peer, robot):
    for qpos, _ in random_states(peer, closed=False):
        peer.set(qpos)
        found = poses(robot, split(peer, robot, qpos)[0])
        bodies = [name for name in robot.links if "_after_" not in name]
        assert len(bodies) == peer.model.nbody - 1
        for index, name in enumerate(bodies, start=1):
            rotation = Rotation.from_quat(peer.data.xquat[index], scalar_first=True).as_matrix()
            np.testing.assert_allclose(found[name][:3, 3], peer.data.xpos[index], atol=1e-12)
            np.testing.assert_allclose(found[name][:3, :3], rotation, atol=1e-12)


def test_kinetic_energy_is_that_of_mujoco(peer, robot):
    h = 1e-3
    for qpos, qvel in random_states(peer, 2, closed=False):
        at = [poses(robot, split(peer, robot, peer.moved(qpos, k * h * qvel))[0]) for k in (-2, -1, 0, 1, 2)]
        energy = 0.0
        for link in robot.links.values():
            p = [one[link.name] for one in at]
            rate = (p[0] - 8 * p[1] + 8 * p[3] - p[4]) / (12 * h)
            spin = p[2][:3, :3].T @ rate[:3, :3]
            velocity = rate[:3, 3] + rate[:3, :3] @ link.com
            w = np.array([spin[2, 1], spin[0, 2], spin[1, 0]])
            energy += 0.5 * link.mass * velocity @ velocity + 0.5 * w @ link.inertia @ w
        _, u = split(peer, robot, qpos, qvel)
        for joint in robot.joints.values():
            if joint.reflected_inertia:
                energy += 0.5 * np.sum(np.array(joint.reflected_inertia) * u[joint.name] ** 2)
        peer.set(qpos, qvel)
        mass = np.zeros((peer.model.nv, peer.model.nv))
        mujoco.mj_fullM(peer.model, peer.data, mass)
        assert energy == pytest.approx(0.5 * qvel @ mass @ qvel, rel=1e-8)


def test_closures_couplings_and_rods_are_closed_where_mujocos_constraints_are(peer, robot):
    for qpos, _ in random_states(peer):
        for name, gap in gaps(robot, split(peer, robot, qpos)[0]).items():
            assert gap < 1e-12, name
    rows = sum(6 if joint.kind.nq == 0 else 3 for joint in robot.joints.values() if joint.closes)
    rows += len(robot.couplings) + sum(rod.rigid for rod in robot.rods)
    peer.set(peer.model.qpos0)
    assert rows == peer.data.ne


def test_open_constraints_are_open_in_both(peer, robot):
    for qpos, _ in random_states(peer, closed=False):
        peer.set(qpos)
        found = gaps(robot, split(peer, robot, qpos)[0])
        assert (len(found) > 0) == (peer.model.neq > 0)
        assert all(gap > 1e-6 for gap in found.values())


def test_springs_dampers_and_actuators_act_as_in_mujoco(peer, robot):
    random = np.random.default_rng(3)
    peer.model.tendon_stiffness[peer.model.tendon_type == 1] = 0.0  # those of rods have a test of their own
    peer.model.tendon_damping[peer.model.tendon_type == 1] = 0.0
    for qpos, qvel in random_states(peer, 8, closed=False):
        ctrl = 3.0 * random.normal(size=peer.model.nu)
        peer.set(qpos, qvel, ctrl)
        q, u = split(peer, robot, qpos, qvel)
        inputs = {peer.name("actuator", i): value for i, value in enumerate(ctrl)}
        found = loads(robot, q, u, inputs)
        data = peer.data
        expected = split(peer, robot, qpos, data.qfrc_passive + data.qfrc_actuator - data.qfrc_gravcomp)[1]
        for name, value in expected.items():
            np.testing.assert_allclose(found[name], value, atol=1e-11, err_msg=name)


def test_springs_between_points_have_the_energy_of_mujoco(peer, robot):
    peer.model.jnt_stiffness[:] = 0.0
    peer.model.tendon_stiffness[peer.model.tendon_type == 0] = 0.0
    peer.model.opt.gravity = 0.0
    peer.model.opt.enableflags |= int(mujoco.mjtEnableBit.mjENBL_ENERGY)
    for qpos, _ in random_states(peer, 3, closed=False):
        peer.set(qpos)
        assert rod_energy(robot, split(peer, robot, qpos)[0]) == pytest.approx(peer.data.energy[0], abs=1e-12)


def test_friction_is_frictionloss_of_joints_and_of_tendons_of_one_joint(peer, robot):
    rows = np.zeros((peer.model.ntendon, peer.model.nv))
    for tendon, (start, count) in enumerate(zip(peer.model.tendon_adr, peer.model.tendon_num, strict=True)):
        for part in range(start, start + count):
            if peer.model.wrap_type[part] == mujoco.mjtWrap.mjWRAP_JOINT:
                rows[tendon, peer.model.jnt_dofadr[peer.model.wrap_objid[part]]] += peer.model.wrap_prm[part]
    losses = peer.model.dof_frictionloss + peer.model.tendon_frictionloss @ np.abs(rows)
    for name, value in split(peer, robot, peer.model.qpos0, losses)[1].items():
        np.testing.assert_array_equal(robot.joints[name].friction or np.zeros_like(value), value, err_msg=name)


def test_start_values_are_qpos0(peer, robot):
    start = np.concatenate([joint.start for joint in robot.joints.values() if joint.start is not None])
    np.testing.assert_array_equal(start, peer.model.qpos0)


def test_gravity(peer, robot):
    np.testing.assert_array_equal(robot.gravity, peer.model.opt.gravity)


def test_a_free_joint_is_in_the_world(peer, robot):
    free = [joint for joint in robot.joints.values() if isinstance(joint.kind, Free)]
    assert len(free) == np.sum(peer.model.jnt_type == 0)
    assert all(joint.parent is None for joint in free)
