"""Random trees in MuJoCo, an independent library, and the same in the package: joints with armature."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

import linkwork as lw

from .builder import random_inertia
from .placement import plain
from .poses import Array, random_unit, unit

KINDS = {"hinge": lw.Revolute, "slide": lw.Prismatic, "ball": lw.Spherical, "free": lw.Free}


class MujocoTree:
    """Bodies with joints of the given kinds in their origins, each on a body before it; "free" only on the ground.

    Coordinates and speeds are those of the package; the free body is at rest, since MuJoCo takes its linear velocity
    along world axes.
    """

    def __init__(self, rng: np.random.Generator, kinds: list[str]) -> None:
        self.kinds = kinds
        self.parents = [-1, *(int(rng.integers(k)) for k in range(1, len(kinds)))]
        self.places = [rng.uniform(-0.4, 0.4, 3) for _ in kinds]
        self.turns = [unit(rng.normal(size=4)) for _ in kinds]
        self.places[0], self.turns[0] = np.zeros(3), np.eye(4)[0]
        self.axes = [random_unit(rng) for _ in kinds]
        self.masses = rng.uniform(0.5, 3.0, len(kinds))
        self.coms = [rng.uniform(-0.2, 0.2, 3) for _ in kinds]
        self.inertias = [random_inertia(rng, mass) for mass in self.masses]
        self.armatures = 10.0 ** rng.uniform(-3.0, 0.5, len(kinds))
        self.q, self.u, self.tau = {}, {}, {}
        for k, kind in enumerate(kinds):
            nu = {"ball": 3, "free": 6}.get(kind, 1)
            turned = unit(rng.normal(size=4))
            q = {"ball": turned, "free": np.r_[rng.normal(size=3), turned]}.get(kind, rng.normal(size=1))
            self.q[f"j{k}"], self.tau[f"j{k}"] = plain(q), plain(rng.normal(size=nu))
            self.u[f"j{k}"] = np.zeros(6) if kind == "free" else plain(rng.normal(size=nu))
        self.model = mujoco.MjModel.from_xml_string(self._xml())
        self.data = mujoco.MjData(self.model)
        for name, q in self.q.items():
            at = self.model.joint(name).qposadr[0]
            self.data.qpos[at : at + np.size(q)] = q
            self.data.qvel[self._speeds(name)] = self.u[name]
            self.data.qfrc_applied[self._speeds(name)] = self._swapped(name)
        mujoco.mj_forward(self.model, self.data)

    def mechanism(self) -> lw.Mechanism:
        """The same for the package."""
        mech = lw.Mechanism("tree")
        for k, kind in enumerate(self.kinds):
            mech.add_body(f"b{k}", mass=self.masses[k], com=self.coms[k], inertia=self.inertias[k])
            axis = (self.axes[k],) if kind in ("hinge", "slide") else ()
            parent = "ground" if self.parents[k] < 0 else f"b{self.parents[k]}"
            frame = lw.Frame(self.places[k], self.turns[k])
            armature = float(self.armatures[k])
            mech.add_joint(f"j{k}", KINDS[kind](*axis), parent, f"b{k}", parent_frame=frame, reflected_inertia=armature)
        return mech

    def accelerations(self) -> dict[str, Any]:
        """By joint, along the speeds of the package."""
        found = {}
        for k, kind in enumerate(self.kinds):
            udot = np.array(self.data.qacc[self._speeds(f"j{k}")])
            if kind == "free":
                udot = np.r_[udot[3:], self._axes(k).T @ udot[:3]]
            found[f"j{k}"] = plain(udot)
        return found

    def kinetic_energy(self) -> float:
        mass = np.zeros((self.model.nv, self.model.nv))
        mujoco.mj_fullM(self.model, self.data, mass)
        return float(self.data.qvel @ mass @ self.data.qvel) / 2

    def _speeds(self, name: str) -> slice:
        at = self.model.joint(name).dofadr[0]
        return slice(at, at + np.size(self.u[name]))

    def _axes(self, k: int) -> Array:
        rotation = np.zeros(9)
        mujoco.mju_quat2Mat(rotation, np.asarray(self.q[f"j{k}"])[3:])
        return rotation.reshape(3, 3)

    def _swapped(self, name: str) -> Array:
        """Loads in MuJoCo's order and axes."""
        tau, k = np.atleast_1d(self.tau[name]), int(name[1:])
        return np.r_[self._axes(k) @ tau[3:], tau[:3]] if self.kinds[k] == "free" else tau

    def _xml(self) -> str:
        option = '<option gravity="0 0 -9.81"><flag contact="disable"/></option>'
        return f"<mujoco>{option}<worldbody>{self._bodies(-1)}</worldbody></mujoco>"

    def _bodies(self, parent: int) -> str:
        return "".join(self._body(k) for k, one in enumerate(self.parents) if one == parent)

    def _body(self, k: int) -> str:
        tensor = self.inertias[k][[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
        axis = f' axis="{_text(self.axes[k])}"' if self.kinds[k] in ("hinge", "slide") else ""
        return (
            f'<body pos="{_text(self.places[k])}" quat="{_text(self.turns[k])}">'
            f'<joint name="j{k}" type="{self.kinds[k]}" armature="{float(self.armatures[k])!r}"{axis}/>'
            f'<inertial pos="{_text(self.coms[k])}" mass="{float(self.masses[k])!r}" fullinertia="{_text(tensor)}"/>'
            f"{self._bodies(k)}</body>"
        )


def _text(values: Array) -> str:
    return " ".join(repr(float(value)) for value in values)
