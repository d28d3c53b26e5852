"""The same tree in Pinocchio, an independent library of rigid-body algorithms.

A joint that is traversed from its child to its parent becomes the inverse joint there: q, u and tau are translated both
ways by `_Translation`, with v' = J u, a' = J udot and tau = J' tau'.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin

from .joint_shapes import PinInSlot, Planar, Screw, Universal, shape_of
from .placement import Value, Values, plain, vector
from .poses import Array, Pose, cross_matrix, unit


@dataclass
class _Translation:
    """Between a joint's own values and Pinocchio's."""

    kind: Any
    outward: bool
    q_at: int = 0  # where Pinocchio's values of the joint begin
    u_at: int = 0

    def __post_init__(self) -> None:
        self.shape = shape_of(self.kind)

    def q(self, q: Array) -> Array:
        if self.shape.nq == self.shape.nu:
            return q if self.outward else q[::-1]
        pose = self.shape.pose(q)
        pose = pose if self.outward else pose.inverse()
        w, *xyz = unit(q[-4:])
        quaternion = np.r_[xyz if self.outward else np.negative(xyz), w]
        return np.r_[pose.position, quaternion] if self.shape.nq == 7 else quaternion

    def speeds(self, q: Array) -> Array:
        """J (nu, nu), whose columns are constant along the motion."""
        if self.shape.nq == self.shape.nu:
            return np.eye(self.shape.nu) if self.outward else np.eye(self.shape.nu)[::-1]
        pose, zero = self.shape.pose(q), np.zeros((3, 3))
        r = np.eye(3) if self.outward else -pose.rotation
        if self.shape.nu == 3:
            return r
        shift = zero if self.outward else cross_matrix(pose.position) @ r
        return np.block([[shift, r], [r, zero]])  # there the linear velocity comes first


def _joint_model(kind: Any, outward: bool) -> Any:
    """Joints of several axes are composed of simple ones, in the order in which they are met."""
    name, sign = kind.type_name, 1.0 if outward else -1.0
    if name in ("spherical", "free"):
        return pin.JointModelSpherical() if name == "spherical" else pin.JointModelFreeFlyer()
    turn, slide = pin.JointModelRevoluteUnaligned, pin.JointModelPrismaticUnaligned
    shape = shape_of(kind)
    if isinstance(shape, Screw):  # the inverse turns and slides the other way
        return pin.JointModelHelicalUnaligned(sign * shape.axis, shape.pitch)
    if isinstance(shape, PinInSlot):
        steps = [(slide, shape.slot), (turn, shape.axis)]
    elif isinstance(shape, Universal):
        steps = [(turn, shape.first), (turn, shape.second)]
    elif isinstance(shape, Planar):
        steps = [(slide, shape.x), (slide, shape.y), (turn, shape.normal)]
    else:
        steps = [(turn, shape.axis)] * shape.turns + [(slide, shape.axis)] * shape.slides
    models = [model(sign * axis) for model, axis in steps[:: 1 if outward else -1]]
    if len(models) == 1:
        return models[0]
    composite = pin.JointModelComposite(len(models))
    for model in models:
        composite.addJoint(model, pin.SE3.Identity())
    return composite


class PinocchioTree:
    """A mechanism without loops as a Pinocchio model; joint values go in and out by joint name."""

    def __init__(self, mechanism: Any) -> None:
        self.model = pin.Model()
        self.model.gravity.linear = np.asarray(mechanism.gravity, float)
        self.carriers: dict[str, tuple[int, pin.SE3]] = {"ground": (0, pin.SE3.Identity())}  # body frame in its joint
        self.translations: dict[str, _Translation] = {}  # in Pinocchio's order
        self._continue_from("ground", mechanism)
        self.data = self.model.createData()

    def _continue_from(self, body: str, mechanism: Any) -> None:
        """Depth first: Pinocchio's mass matrix needs contiguous joints of a branch."""
        for joint in mechanism.joints.values():
            if body in (joint.parent, joint.child):
                outer = joint.child if joint.parent == body else joint.parent
                if outer not in self.carriers:
                    self._add(joint, mechanism)
                    self._continue_from(outer, mechanism)

    def _add(self, joint: Any, mechanism: Any) -> None:
        outward = joint.parent in self.carriers
        inner, outer = (joint.parent, joint.child) if outward else (joint.child, joint.parent)
        frames = [_se3(joint.parent_frame), _se3(joint.child_frame)]
        inner_frame, outer_frame = frames if outward else frames[::-1]
        carrier, body_in_joint = self.carriers[inner]
        placement = body_in_joint * inner_frame
        if joint.kind.type_name == "fixed":
            self.carriers[outer] = (carrier, placement * outer_frame.inverse())
        else:
            self.translations[joint.name] = _Translation(joint.kind, outward, self.model.nq, self.model.nv)
            index = self.model.addJoint(carrier, _joint_model(joint.kind, outward), placement, joint.name)
            self.carriers[outer] = (index, outer_frame.inverse())
        body = mechanism.bodies[outer]
        inertia = pin.Inertia(float(body.mass), np.asarray(body.com, float), np.asarray(body.inertia, float))
        self.model.appendBodyToJoint(self.carriers[outer][0], inertia, self.carriers[outer][1])

    def _q(self, q: Values) -> Array:
        return np.concatenate([np.zeros(0), *(t.q(vector(q[name])) for name, t in self.translations.items())])

    def _speeds(self, q: Values, names: list[str]) -> Array:
        """Matrix from the speeds of the joints in the order of `names` to Pinocchio's."""
        columns = [np.zeros((self.model.nv, 0))]
        for name in names:
            translation = self.translations[name]
            block = np.zeros((self.model.nv, translation.shape.nu))
            block[translation.u_at : translation.u_at + translation.shape.nu] = translation.speeds(vector(q[name]))
            columns.append(block)
        return np.hstack(columns)

    def _array(self, values: Values) -> Array:
        """Along the speeds of the joints in Pinocchio's order; joints left out have zeros."""
        zeros = {name: np.zeros(t.shape.nu) for name, t in self.translations.items()}
        return np.concatenate([np.zeros(0), *(vector(values.get(name, zero)) for name, zero in zeros.items())])

    def accelerations(self, q: Values, u: Values, tau: Values) -> dict[str, Value]:
        speeds = self._speeds(q, list(self.translations))
        loads = np.linalg.solve(speeds.T, self._array(tau))
        found = np.array(pin.aba(self.model, self.data, self._q(q), speeds @ self._array(u), loads))
        udot = np.linalg.solve(speeds, found)
        return {name: plain(udot[t.u_at : t.u_at + t.shape.nu]) for name, t in self.translations.items()}

    def mass_matrix(self, q: Values, names: list[str]) -> Array:
        """Rows and columns in the order of `names`."""
        upper = np.triu(pin.crba(self.model, self.data, self._q(q)))
        speeds = self._speeds(q, names)
        return speeds.T @ (upper + np.triu(upper, 1).T) @ speeds

    def energy(self, q: Values, u: Values) -> tuple[float, float]:
        speeds = self._speeds(q, list(self.translations)) @ self._array(u)
        kinetic = pin.computeKineticEnergy(self.model, self.data, self._q(q), speeds)
        potential = pin.computePotentialEnergy(self.model, self.data, self._q(q))
        standing = self.model.inertias[0]  # bodies fixed to the ground, which Pinocchio does not count
        potential -= standing.mass * (self.model.gravity.linear @ standing.lever)
        return float(kinetic), float(potential)

    def poses(self, q: Values) -> dict[str, Pose]:
        """World poses of all bodies."""
        pin.forwardKinematics(self.model, self.data, self._q(q))
        placed = {name: self.data.oMi[index] * place for name, (index, place) in self.carriers.items()}
        return {name: Pose(np.array(se3.rotation), np.array(se3.translation)) for name, se3 in placed.items()}

    def body_jacobian(self, q: Values, names: list[str], body: str, point: Array) -> Array:
        """(6, n) by the speeds of the joints in the order of `names`, [angular; linear at a point of the body]."""
        index, place = self.carriers[body]
        pin.computeJointJacobians(self.model, self.data, self._q(q))
        joint = pin.getJointJacobian(self.model, self.data, index, pin.LOCAL_WORLD_ALIGNED)
        arm = (self.data.oMi[index] * place).act(point) - self.data.oMi[index].translation
        at_point = np.vstack([joint[3:], joint[:3] - cross_matrix(arm) @ joint[3:]])
        found: Array = at_point @ self._speeds(q, names)
        return found

    def point_acceleration(self, q: Values, u: Values, tau: Values, body: str, point: Array) -> Array:
        speeds, udot = self._speeds(q, list(self.translations)), self.accelerations(q, u, tau)
        motion = self._q(q), speeds @ self._array(u), speeds @ self._array(udot)
        pin.forwardKinematics(self.model, self.data, *motion)
        index, place = self.carriers[body]
        arm = (self.data.oMi[index] * place).act(point) - self.data.oMi[index].translation
        at_joint = pin.getClassicalAcceleration(self.model, self.data, index, pin.LOCAL_WORLD_ALIGNED)
        w = pin.getVelocity(self.model, self.data, index, pin.LOCAL_WORLD_ALIGNED).angular
        found: Array = at_joint.linear + np.cross(at_joint.angular, arm) + np.cross(w, np.cross(w, arm))
        return found


def _se3(frame: Any) -> pin.SE3:
    return pin.SE3(np.asarray(frame.rotation, float), np.asarray(frame.position, float))
