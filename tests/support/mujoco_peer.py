"""MuJoCo as an independent peer: closed states, and accelerations with its constraints held exactly."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
from scipy.spatial.transform import Rotation

import linkwork as lw
from linkwork.mechanism import Free


class MujocoPeer:
    """A model with its equality constraints, and with dry friction by its exact law while all joints slide.

    There are no contacts and no limits.

    Attributes
    ----------
    model, data
        MuJoCo's.
    """

    def __init__(self, path: Path) -> None:
        self.model = model = mujoco.MjModel.from_xml_path(str(path))
        bits = mujoco.mjtDisableBit
        off = bits.mjDSBL_CONTACT | bits.mjDSBL_LIMIT | bits.mjDSBL_FRICTIONLOSS
        model.opt.disableflags |= int(off)
        model.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
        self.data = mujoco.MjData(model)

    def name(self, kind: str, index: int) -> str:
        """Return the name of the joint, body ... of a number."""
        return mujoco.mj_id2name(self.model, getattr(mujoco.mjtObj, f"mjOBJ_{kind.upper()}"), index)

    def set(self, qpos: np.ndarray, qvel: np.ndarray | None = None, ctrl: np.ndarray | None = None) -> None:
        """Set a state and compute all that depends on it."""
        self.data.qpos = qpos
        self.data.qvel = 0.0 if qvel is None else qvel
        self.data.ctrl = 0.0 if ctrl is None else ctrl
        mujoco.mj_forward(self.model, self.data)

    def random_state(self, random: np.random.Generator, spread: float = 0.3) -> tuple[np.ndarray, np.ndarray]:
        """Return coordinates and speeds with which all constraints are closed, near those of the file."""
        for _ in range(50):
            qpos = self.moved(self.model.qpos0, spread * random.normal(size=self.model.nv))
            qpos = self._closed(qpos)
            if qpos is not None:
                break
        else:
            raise AssertionError("no closed state was found")
        qvel = random.normal(size=self.model.nv)
        rows = self.rows(qpos)[1]
        return qpos, qvel - np.linalg.lstsq(rows, rows @ qvel, rcond=None)[0] if len(rows) else qvel

    def moved(self, qpos: np.ndarray, step: np.ndarray) -> np.ndarray:
        """Return coordinates after a step along speeds."""
        moved = np.array(qpos)
        mujoco.mj_integratePos(self.model, moved, step, 1.0)
        return moved

    def rows(self, qpos: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return residuals and Jacobian of the constraints."""
        self.set(qpos)
        return np.array(self.data.efc_pos), np.array(self.data.efc_J).reshape(-1, self.model.nv)

    def accelerations(self, qpos: np.ndarray, qvel: np.ndarray, ctrl: np.ndarray | None = None) -> np.ndarray:
        """Return the accelerations (nv,) with exact constraints: a dense system with multipliers."""
        h = 1e-3  # of a difference of fourth order
        at = [self.rows(self.moved(qpos, k * h * qvel))[1] @ qvel for k in (-2, -1, 1, 2)]
        bias = (at[0] - 8 * at[1] + 8 * at[2] - at[3]) / (12 * h)
        rows = self.rows(qpos)[1]
        self.set(qpos, qvel, ctrl)
        nv = self.model.nv
        mass = np.zeros((nv, nv))
        mujoco.mj_fullM(self.model, self.data, mass)
        load = self.data.qfrc_passive + self.data.qfrc_actuator - self.data.qfrc_bias + self.sliding_friction(qvel)
        matrix = np.block([[mass, rows.T], [rows, np.zeros((len(rows),) * 2)]])
        found = np.linalg.lstsq(matrix, np.concatenate([load, -bias]), rcond=1e-13)[0]
        return found[:nv]

    def sliding_friction(self, qvel: np.ndarray) -> np.ndarray:
        """Return the loads (nv,) of dry friction at the state that is set, for displacements in axes of the body."""
        model, data = self.model, self.data
        loads = -np.sign(qvel) * model.dof_frictionloss
        for joint in np.flatnonzero(model.jnt_type == mujoco.mjtJoint.mjJNT_FREE):
            at, axes = model.jnt_dofadr[joint], data.xmat[model.jnt_bodyid[joint]].reshape(3, 3)
            loads[at : at + 3] = -axes @ (np.sign(axes.T @ qvel[at : at + 3]) * model.dof_frictionloss[at : at + 3])
        for tendon in np.flatnonzero(model.tendon_frictionloss):
            row = np.zeros(model.nv)
            for part in range(model.tendon_adr[tendon], model.tendon_adr[tendon] + model.tendon_num[tendon]):
                row[model.jnt_dofadr[model.wrap_objid[part]]] += model.wrap_prm[part]
            loads -= row * np.sign(row @ qvel) * model.tendon_frictionloss[tendon]
        return loads

    def _closed(self, qpos: np.ndarray) -> np.ndarray | None:
        for _ in range(30):
            residual, rows = self.rows(qpos)
            if not len(residual) or np.abs(residual).max() < 1e-14:
                return qpos
            step = -np.linalg.lstsq(rows, residual, rcond=1e-10)[0]
            if not np.abs(step).max() < 2.0:
                return None
            qpos = self.moved(qpos, step)
            if np.abs(step).max() < 1e-14:
                return qpos
        return None


def by_joint(peer: MujocoPeer, mech: lw.Mechanism, qpos, qvel, qacc=None):
    """Coordinates, speeds and accelerations of MuJoCo as Linkwork has them, by the names of the mechanism."""
    q, u, a = {}, {}, {}
    names = list(mech.report.names["joint"].values())[: peer.model.njnt + peer.model.nbody]
    moving = [name for name in names if name in mech.joints and mech.joints[name].kind.nq and not mech.joints[name].cut]
    assert len(moving) == peer.model.njnt
    for index, name in enumerate(moving):
        kind = mech.joints[name].kind
        at, to = peer.model.jnt_qposadr[index], peer.model.jnt_dofadr[index]
        q[name], v = qpos[at : at + kind.nq], qvel[to : to + kind.nu]
        acc = np.zeros(kind.nu) if qacc is None else qacc[to : to + kind.nu]
        if isinstance(kind, Free):  # the speeds of displacement are in axes of the child here, of the world there
            turn = Rotation.from_quat(q[name][3:], scalar_first=True).as_matrix().T
            acc = np.concatenate([acc[3:], turn @ acc[:3] - np.cross(v[3:], turn @ v[:3])])
            v = np.concatenate([v[3:], turn @ v[:3]])
        u[name], a[name] = v, acc
    return q, u, a
