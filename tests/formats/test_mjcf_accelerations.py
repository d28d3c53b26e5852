"""Accelerations of mechanisms read from MJCF are those of MuJoCo with its constraints held exactly."""

import re
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from support.checkout import beside
from support.mjcf_files import FILES
from support.mujoco_peer import MujocoPeer, by_joint

MODELS = ("cassie_nomesh", "robotiq_2f85_nomesh", "xarm7_gripper_nomesh")


def file_of(name: str, folder: Path) -> Path:
    if name in MODELS:
        return beside(f"models/{name}.xml")
    path = folder / f"{name}.xml"
    path.write_text(FILES[name])
    return path


@pytest.mark.parametrize("name", ["friction", *MODELS])
def test_gravity_compensation_is_that_of_mujoco(name, tmp_path):
    """Loads that hold the tree still without it, less those with it, are `qfrc_gravcomp`."""
    random = np.random.default_rng(5)
    path = tmp_path / "compensated.xml"
    text = file_of(name, tmp_path).read_text()
    path.write_text(re.sub('<body name="', lambda _: f'<body gravcomp="{random.normal():.2f}" name="', text)
                    if name in MODELS else text)  # fmt: skip
    peer, mech = MujocoPeer(path), lw.load(path)
    for name in [joint.name for joint in mech.joints.values() if joint.cut]:
        del mech.joints[name]
    mech.couplings.clear()
    mech.distances.clear()
    without = mech.copy()
    without.forces = [force for force in mech.forces if not isinstance(force, lw.GravityCompensation)]
    assert len(without.forces) < len(mech.forces)
    pair = lw.compile(without), lw.compile(mech)
    for _ in range(5):
        qpos = peer.moved(peer.model.qpos0, random.normal(size=peer.model.nv))
        peer.set(qpos)
        rest = np.zeros(peer.model.nv)
        q, u, expected = by_joint(peer, mech, qpos, rest, peer.data.qfrc_gravcomp)
        q, u = (np.concatenate([np.atleast_1d(one[joint]) for joint in one]) for one in (q, u))
        uncompensated, compensated = (model.inverse_dynamics(q, u, u) for model in pair)
        scale = max(1.0, np.abs(peer.data.qfrc_gravcomp).max())
        for joint, value in pair[0].by_joint(uncompensated - compensated).items():
            np.testing.assert_allclose(np.atleast_1d(value), expected[joint], atol=1e-9 * scale, err_msg=joint)


@pytest.mark.parametrize("name", [*FILES, *MODELS])
def test_accelerations_at_random_closed_states_are_those_of_mujoco(name, tmp_path):
    path = file_of(name, tmp_path)
    peer, mech = MujocoPeer(path), lw.load(path)
    model = lw.compile(mech)
    random = np.random.default_rng(11)
    for _ in range(20):
        qpos, qvel = peer.random_state(random)
        ctrl = 0.5 * random.normal(size=peer.model.nu)
        q, u, expected = by_joint(peer, mech, qpos, qvel, peer.accelerations(qpos, qvel, ctrl))
        state = model.assemble(q=q, u=u)
        inputs = {
            f"{mech.report.names['actuator'][peer.name('actuator', i)]}.input": value for i, value in enumerate(ctrl)
        }
        found = model.by_joint(model.accelerations(state, tau=inputs))
        scale = max(1.0, max(np.abs(value).max() for value in expected.values()))
        for joint, value in expected.items():
            np.testing.assert_allclose(np.atleast_1d(found[joint]), value, atol=1e-9 * scale, err_msg=joint)
