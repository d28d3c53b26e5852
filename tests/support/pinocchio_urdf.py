"""A URDF in Pinocchio, whose own parser reads the tree; closures, couplings and replaced joints are added to it here.

Accelerations of the closed chain follow from the equations of motion of the tree with dense constraint rows, solved by
least squares: redundant rows and massless links are allowed.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin
import yaml

from .poses import Array

_WORLD = pin.LOCAL_WORLD_ALIGNED
_SINGLE = {"X": pin.JointModelRX, "Y": pin.JointModelRY, "Z": pin.JointModelRZ}


@dataclass
class _Closure:
    """Two frames whose origins coincide, and with them all axes ("6d"), one ("axis") or none ("3d")."""

    kind: str
    frames: tuple[int, int]
    axis: Array | None = None


class PinocchioUrdf:
    """The closed chain of a URDF with `<loop>`, `<coupling>` and `<mimic>`, or a YAML file next to it."""

    def __init__(self, path: Path) -> None:
        self.root = ElementTree.parse(path).getroot()
        self.model = pin.buildModelFromXML(path.read_text())
        numbers = self.model.damping, self.model.friction
        self.damping, self.friction = (
            {self.model.names[k]: self._of_joint(k, of) for k in range(1, self.model.njoints)} for of in numbers
        )
        self.closures: list[_Closure] = []
        self.rows: list[tuple[Array, float]] = []  # couplings: row @ q == offset
        beside = path.with_suffix(".yaml")
        if beside.exists():
            self._read_yaml(yaml.safe_load(beside.read_text()))
        for loop in self.root.findall("loop"):
            self._add_loop(loop)
        self.data = self.model.createData()
        for coupling in self.root.findall("coupling"):
            self._add_coupling(coupling)
        for joint in self.root.findall("joint"):
            self._add_mimic(joint)

    def _of_joint(self, joint: int, values: Array) -> Array:
        at, count = self.model.idx_vs[joint], self.model.nvs[joint]
        return np.array(values[at : at + count])

    def set_inertia(self, link: str, body: Any) -> None:
        """Give a link, which carries no fixed ones, the inertia that a body has: its own one is impossible."""
        joint = self.model.frames[self._body(link)].parentJoint
        self.model.inertias[joint] = pin.Inertia(body.mass, body.com, body.inertia)

    # ---- what the parser leaves out ----

    def _read_yaml(self, content: dict[str, Any]) -> None:
        """Joints keep their numbers, so that frames keep their parents."""
        replaced = dict(zip(content.get("joint_name", []), content.get("joint_type", []), strict=True))
        old, new = self.model, pin.Model()
        for k in range(1, old.njoints):
            name = old.names[k]
            kind = _replacement(replaced[name]) if name in replaced else old.joints[k]
            new.addJoint(old.parents[k], kind, old.jointPlacements[k], name)
            new.appendBodyToJoint(k, old.inertias[k], pin.SE3.Identity())
            if name in replaced:
                self.damping[name] = self.friction[name] = np.zeros(kind.nv)
        for frame in old.frames[1:]:
            new.addFrame(pin.Frame(frame.name, frame.parentJoint, frame.placement, frame.type), False)
        self.model = new
        for (first, second), kind in zip(content["closed_loop"], content["type"], strict=True):
            ids = self._frame(first), self._frame(second)
            self.closures.append(_Closure(kind.lower(), ids))

    def _frame(self, name: str) -> int:
        assert self.model.existFrame(name), name
        return int(self.model.getFrameId(name))

    def _body(self, link: str) -> int:
        return int(self.model.getFrameId(link, pin.FrameType.BODY))

    def _add_loop(self, loop: ElementTree.Element) -> None:
        ids = []
        for tag in ("predecessor", "successor"):
            end = loop.find(tag)
            body = self.model.frames[self._body(end.attrib["link"])]
            at = end.find("origin")
            xyz = [float(word) for word in at.attrib["xyz"].split()]
            rpy = [float(word) for word in at.attrib.get("rpy", "0 0 0").split()]
            placement = body.placement * pin.SE3(pin.rpy.rpyToMatrix(*rpy), np.array(xyz))
            frame = pin.Frame(f"{loop.attrib['name']} {tag}", body.parentJoint, placement, pin.FrameType.OP_FRAME)
            ids.append(self.model.addFrame(frame, False))
        assert loop.attrib["type"] == "revolute"
        axis = np.array([float(word) for word in loop.find("axis").attrib["xyz"].split()])
        self.closures.append(_Closure("axis", tuple(ids), axis))

    def _add_coupling(self, coupling: ElementTree.Element) -> None:
        """The ratio times the turn of the predecessor is that of the successor, both against their common carrier."""
        ratio = float(coupling.find("ratio").attrib["value"])
        chains = []
        for tag in ("predecessor", "successor"):
            joint = self.model.frames[self._body(coupling.find(tag).attrib["link"])].parentJoint
            chains.append(set(self.model.supports[joint]))
        row = np.zeros(self.model.nv)
        for chain, factor in ((chains[0] - chains[1], ratio), (chains[1] - chains[0], -1.0)):
            for joint in chain:
                row[self.model.idx_vs[joint]] = factor
        self.rows.append((row, 0.0))

    def _add_mimic(self, joint: ElementTree.Element) -> None:
        mimic = joint.find("mimic")
        if mimic is None:
            return
        row = np.zeros(self.model.nv)
        row[self.model.idx_vs[self.model.getJointId(joint.attrib["name"])]] = 1.0
        other = self.model.getJointId(mimic.attrib["joint"])
        row[self.model.idx_vs[other]] = -float(mimic.attrib.get("multiplier", 1.0))
        self.rows.append((row, float(mimic.attrib.get("offset", 0.0))))

    # ---- constraints ----

    def _positions(self, q: Array) -> Array:
        """Coordinates that are coupled stand where their speeds do."""
        found = np.zeros(self.model.nv)
        for k in range(1, self.model.njoints):
            if self.model.joints[k].nq == self.model.joints[k].nv:
                at, to, count = self.model.idx_qs[k], self.model.idx_vs[k], self.model.nqs[k]
                found[to : to + count] = q[at : at + count]
        return found

    def _constraints(self, q: Array, v: Array) -> tuple[Array, Array, Array]:
        """Errors, Jacobian and bias of all constraints."""
        pin.forwardKinematics(self.model, self.data, q, v, np.zeros(self.model.nv))
        pin.computeJointJacobians(self.model, self.data, q)
        pin.updateFramePlacements(self.model, self.data)
        errors, rows, biases = [np.zeros(0)], [np.zeros((0, self.model.nv))], [np.zeros(0)]
        for closure in self.closures:
            first, second = closure.frames
            a, b = self.data.oMf[first], self.data.oMf[second]
            J = np.subtract(*(pin.getFrameJacobian(self.model, self.data, f, _WORLD) for f in closure.frames))
            accelerations = [
                pin.getFrameClassicalAcceleration(self.model, self.data, f, _WORLD).vector for f in closure.frames
            ]
            bias = np.subtract(*accelerations)
            turn = self._turn(closure, a.rotation, b.rotation)
            errors += [a.translation - b.translation, turn @ -self._angle(closure, a.rotation, b.rotation)]
            rows += [J[:3], turn @ J[3:]]
            carried, other = (pin.getFrameVelocity(self.model, self.data, f, _WORLD).angular for f in closure.frames)
            turning = np.cross(carried, turn) if closure.kind == "axis" else 0.0 * turn
            biases += [bias[:3], turn @ bias[3:] + turning @ (carried - other)]
        for row, offset in self.rows:
            errors.append(np.array([row @ self._positions(q) - offset]))
            rows.append(row[None])
            biases.append(np.zeros(1))
        return np.concatenate(errors), np.vstack(rows), np.concatenate(biases)

    @staticmethod
    def _turn(closure: _Closure, a: Array, b: Array) -> Array:
        """Directions, (n, 3), about which the frames do not turn against each other."""
        if closure.kind == "6d":
            return np.eye(3)
        if closure.kind == "3d":
            return np.zeros((0, 3))
        axis = a @ closure.axis / np.linalg.norm(closure.axis)
        return np.linalg.svd(axis[None])[2][1:]

    @staticmethod
    def _angle(closure: _Closure, a: Array, b: Array) -> Array:
        if closure.kind == "axis":
            return np.cross(a @ closure.axis, b @ closure.axis) / (closure.axis @ closure.axis)
        return a @ pin.log3(a.T @ b)

    # ---- states and accelerations ----

    def closed_state(self, rng: np.random.Generator, size: float) -> tuple[Array, Array] | None:
        """Random coordinates and speeds of the closed chain; None where the search does not find any."""
        q = pin.integrate(self.model, pin.neutral(self.model), size * rng.uniform(-1.0, 1.0, self.model.nv))
        zero = np.zeros(self.model.nv)
        for _ in range(60):
            error, J, _ = self._constraints(q, zero)
            if not error.size or np.abs(error).max() < 2e-15:
                break
            q = pin.integrate(self.model, q, -np.linalg.lstsq(J, error, rcond=1e-9)[0])
        error, J, _ = self._constraints(q, zero)
        if error.size and np.abs(error).max() > 1e-13:
            return None
        v = rng.uniform(-1.0, 1.0, self.model.nv)
        return q, v - np.linalg.lstsq(J, J @ v, rcond=1e-9)[0]

    def is_regular(self, q: Array) -> bool:
        """Whether the rank of the constraints is clear, and all that moves has inertia."""
        _, J, _ = self._constraints(q, np.zeros(self.model.nv))
        s = np.linalg.svd(J, compute_uv=False) if J.size else np.ones(1)
        basis, M = _null_space(J), self._mass_matrix(q)
        moments = np.linalg.eigvalsh(basis.T @ M @ basis)
        return not ((s < 1e-5 * s[0]) & (s > 1e-11 * s[0])).any() and moments[0] > 1e-9 * moments[-1]

    def _mass_matrix(self, q: Array) -> Array:
        upper = np.triu(np.array(pin.crba(self.model, self.data, q)))
        return upper + np.triu(upper, 1).T

    def accelerations(self, q: Array, v: Array, tau: Array) -> Array:
        """Of the closed chain with damping and friction of its sliding joints, under 9.81 m/s^2 along -z."""
        M = self._mass_matrix(q)
        damping, friction = (np.concatenate([*of.values()]) for of in (self.damping, self.friction))
        h = np.array(pin.nonLinearEffects(self.model, self.data, q, v)) + damping * v + friction * np.sign(v)
        _, J, bias = self._constraints(q, v)
        basis = _null_space(J)
        particular = np.linalg.lstsq(J, -bias, rcond=1e-11)[0] if J.size else np.zeros(len(h))
        reduced = basis.T @ M @ basis
        y = np.linalg.solve(reduced, basis.T @ (tau - h - M @ particular))
        return particular + basis @ y

    def by_joint(self, q: Array, v: Array) -> dict[str, tuple[Array, Array]]:
        """Coordinates with quaternions [w, x, y, z] and speeds [angular, linear], by name of the joint."""
        found = {}
        for k in range(1, self.model.njoints):
            a, c = self.model.idx_qs[k], self.model.idx_vs[k]
            found[self.model.names[k]] = (
                _ordered_q(q[a : a + self.model.nqs[k]], self.model.nvs[k]),
                _ordered_v(v[c : c + self.model.nvs[k]]),
            )
        return found


def _null_space(J: Array) -> Array:
    if not J.size:
        return np.eye(J.shape[1])
    _, s, vt = np.linalg.svd(J)
    return vt[int((s > 1e-9 * s[0]).sum()) :].T


def _ordered_q(q: Array, speeds: int) -> Array:
    if len(q) == 2 and speeds == 1:  # a continuous joint has cosine and sine
        return np.array([np.arctan2(q[1], q[0])])
    if len(q) == 7:
        return np.r_[q[:3], q[6], q[3:6]]
    return np.r_[q[3], q[:3]] if len(q) == 4 else q


def _ordered_v(v: Array) -> Array:
    return np.r_[v[3:], v[:3]] if len(v) == 6 else v


def _replacement(name: str) -> Any:
    if name == "SPHERICAL":
        return pin.JointModelSpherical()
    axes = name.removeprefix("UJOINT_")
    composite = pin.JointModelComposite(2)
    for letter in axes:
        composite.addJoint(_SINGLE[letter](), pin.SE3.Identity())
    return composite
