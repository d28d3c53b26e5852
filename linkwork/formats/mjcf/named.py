"""The compiled model with names: elements without a name get one that says where they are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork._util.names import free_name
from linkwork.formats.report import Report
from linkwork.mechanism import Frame

if TYPE_CHECKING:
    from mujoco import MjModel


class NamedModel:
    """MuJoCo's compiled model, the names of its elements, and the report on them."""

    def __init__(self, mujoco: Any, model: MjModel, report: Report) -> None:
        self.mujoco = mujoco  # the package
        self.model = model  # the compiled model
        self.report = report  # what became of the elements
        types = mujoco.mjtObj
        bodies = self._names(types.mjOBJ_BODY, model.nbody, lambda i: f"body_{i}")
        # bodies, joints, sites, tendons, actuators, equalities: names by number; the first body is the world, None
        self.bodies: list[str | None] = [None, *bodies[1:]]
        self.joints = self._names(types.mjOBJ_JOINT, model.njnt, self._joint_name)
        self.sites = self._names(types.mjOBJ_SITE, model.nsite, lambda i: f"site_{i}")
        self.tendons = self._names(types.mjOBJ_TENDON, model.ntendon, lambda i: f"tendon_{i}")
        self.actuators = self._names(types.mjOBJ_ACTUATOR, model.nactuator, self._actuator_name)
        self.equalities = self._names(types.mjOBJ_EQUALITY, model.neq, self._equality_name, self.joints)

    @property
    def disabled(self) -> int:
        """The bits of what the options disable."""
        return int(self.model.opt.disableflags)

    def disables(self, *names: str) -> bool:
        """Return whether the options disable one of "gravity", "limit" ..."""
        return any(self.disabled & int(getattr(self.mujoco.mjtDisableBit, f"mjDSBL_{name.upper()}")) for name in names)

    def joint_coordinate(self, joint: int) -> tuple[str, int]:
        """Return the coordinate of a hinge or a slide."""
        return self.joints[joint], 0

    def is_scalar(self, joint: int) -> bool:
        """Return whether a joint is a hinge or a slide."""
        types = self.mujoco.mjtJoint
        return int(self.model.jnt_type[joint]) in (int(types.mjJNT_HINGE), int(types.mjJNT_SLIDE))

    def label(self, kind: str, names: Iterable[str]) -> str:
        """Return what reports call elements of one kind: "joint 'a'", or "joints 'a', 'b' and 7 more"."""
        named = [repr(name) for name in names]
        if len(named) == 1:
            return f"{kind} {named[0]}"
        rest = f" and {len(named) - 3} more" if len(named) > 3 else ""
        plural = f"{kind[:-1]}ies" if kind.endswith("y") else f"{kind}s"
        return f"{plural} {', '.join(named[:3])}{rest}"

    def _names(self, kind: Any, count: int, default: Any, taken: Sequence[str] = ()) -> list[str]:
        given = [self.mujoco.mj_id2name(self.model, kind, index) or "" for index in range(count)]
        used = {*given, *taken}
        for index, name in enumerate(given):
            if name and name not in taken:
                continue
            given[index] = free_name(name or default(index), used)
            used.add(given[index])
        return given

    def _joint_name(self, joint: int) -> str:
        body = int(self.model.jnt_bodyid[joint])
        number = joint - int(self.model.body_jntadr[body]) + 1
        several = int(self.model.body_jntnum[body]) > 1
        return f"{self.bodies[body]}_{number}" if several else f"{self.bodies[body]}"

    def _actuator_name(self, actuator: int) -> str:
        types = self.mujoco.mjtTrn
        kind, target = int(self.model.actuator_trntype[actuator]), int(self.model.actuator_trnid[actuator, 0])
        if kind in (int(types.mjTRN_JOINT), int(types.mjTRN_JOINTINPARENT)):
            return f"{self.joints[target]}_actuator"
        if kind == int(types.mjTRN_TENDON):
            return f"{self.tendons[target]}_actuator"
        return f"actuator_{actuator + 1}"

    def _equality_name(self, equality: int) -> str:
        kind = self.mujoco.mjtEq(int(self.model.eq_type[equality])).name.removeprefix("mjEQ_").lower()
        first, second = (int(of[equality]) for of in (self.model.eq_obj1id, self.model.eq_obj2id))
        names: Sequence[str | None] = []
        if kind in ("connect", "weld"):
            bodies = [self.body_of(int(self.model.eq_objtype[equality]), one) for one in (first, second)]
            names = [self.bodies[body] or "world" for body in bodies]
        elif kind in ("joint", "tendon"):
            of = self.joints if kind == "joint" else self.tendons
            names = [of[one] for one in (first, second) if one >= 0]
        return "_".join([kind, *map(str, names)]) if names else f"{kind}_{equality + 1}"

    def body_of(self, kind: int, number: int) -> int:
        """Return the body of a body or a site."""
        on_site = kind == int(self.mujoco.mjtObj.mjOBJ_SITE)
        return int(self.model.site_bodyid[number]) if on_site else number


def frame(position: FloatArray, quaternion: FloatArray | None = None) -> Frame:
    """Return a frame of MuJoCo's numbers."""
    if quaternion is None:
        return Frame(np.array(position))
    return Frame(np.array(position), np.array(quaternion) / np.linalg.norm(quaternion))
