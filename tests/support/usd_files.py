"""USD files of bodies and joints, written as text, and the same constraints as rows of `Maximal`.

Frames of joints are those of the file, in its digits, so that a comparison sees what a reader makes of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.spatial.transform import Rotation

from .maximal import Array, Maximal, across

FREE = {
    "Fixed": (),
    "Revolute": ("rotX",),
    "Prismatic": ("transX",),
    "Spherical": ("rotX", "rotY", "rotZ"),
    "universal": ("rotX", "rotY"),
    "cylindrical": ("transX", "rotX"),
    "cartesian": ("transX", "transY", "transZ"),
    "planar": ("transY", "transZ", "rotX"),
}
_ALL = ("transX", "transY", "transZ", "rotX", "rotY", "rotZ")


def digits(values: Array) -> str:
    """A tuple of numbers in single precision."""
    return "(" + ", ".join(repr(float(np.float32(value))) for value in values) + ")"


def quaternion(rotation: Array) -> str:
    """A rotation (3, 3) as (w, x, y, z) in single precision."""
    return digits(np.roll(Rotation.from_matrix(rotation).as_quat(), 1))


def rounded(p: Array, rotation: Array) -> tuple[Array, Array]:
    """A frame in the digits of the file."""
    q = np.float32(Rotation.from_matrix(rotation).as_quat()).astype(float)
    return np.float32(p).astype(float), Rotation.from_quat(q).as_matrix()


@dataclass
class UsdBody:
    """A body in the stage: pose, and mass properties in its frame."""

    name: str
    p: Array
    R: Array
    mass: float
    com: Array
    moments: Array
    axes: Array

    @property
    def inertia(self) -> Array:
        _, axes = rounded(self.com, self.axes)
        return axes @ np.diag(np.float32(self.moments).astype(float)) @ axes.T

    def text(self) -> str:
        w, x, y, z = np.roll(Rotation.from_matrix(self.R).as_quat(), 1)
        return (
            f'def Xform "{self.name}" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"])\n{{\n'
            f"float physics:mass = {float(np.float32(self.mass))!r}\n"
            f"point3f physics:centerOfMass = {digits(self.com)}\n"
            f"float3 physics:diagonalInertia = {digits(self.moments)}\n"
            f"quatf physics:principalAxes = {quaternion(self.axes)}\n"
            f"double3 xformOp:translate = {tuple(self.p.tolist())}\n"
            f"quatd xformOp:orient = {tuple(map(float, (w, x, y, z)))}\n"
            'uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:orient"]\n}\n'
        )


@dataclass
class UsdJoint:
    """A joint of one of the kinds in `FREE`, with its frame in the body 0 and in the body 1."""

    name: str
    kind: str
    body0: UsdBody | None
    body1: UsdBody
    frames: tuple[tuple[Array, Array], tuple[Array, Array]]
    inner: str = ""
    schemas: tuple[str, ...] = ()

    def text(self) -> str:
        lines = [self.inner]
        schemas = list(self.schemas)
        if self.kind[0].isupper():
            type_name = f"Physics{self.kind}Joint"
            if self.kind in ("Revolute", "Prismatic"):
                lines.append('uniform token physics:axis = "X"')
        else:
            type_name = "PhysicsJoint"
            for freedom in set(_ALL) - set(FREE[self.kind]):
                schemas.append(f"PhysicsLimitAPI:{freedom}")
                lines += [f"float limit:{freedom}:physics:low = 1", f"float limit:{freedom}:physics:high = -1"]
        for i, body in enumerate((self.body0, self.body1)):
            p, rotation = self.frames[i]
            if body is not None:
                lines.append(f"rel physics:body{i} = </World/{body.name}>")
            lines.append(f"point3f physics:localPos{i} = {digits(p)}")
            lines.append(f"quatf physics:localRot{i} = {quaternion(rotation)}")
        listed = ", ".join(f'"{schema}"' for schema in schemas)
        head = f" (prepend apiSchemas = [{listed}])" if schemas else ""
        return f'def {type_name} "{self.name}"{head}\n{{\n' + "\n".join(lines) + "\n}\n"

    def bind(self, system: Maximal, exact: bool = False) -> None:
        """Add its rows, in the digits of the file or before they were rounded."""
        a, b = (body.name if body is not None else None for body in (self.body0, self.body1))
        (p, R), (q, Q) = (frame if exact else rounded(*frame) for frame in self.frames)
        free = FREE[self.kind]
        if not any(name.startswith("trans") for name in free):
            system.coincide(a, p, b, q)
        else:
            locked = [i for i, name in enumerate(_ALL[:3]) if name not in free]
            system.rows += [system.gap(a, p, b, q, R[:, i], a) for i in locked]
        turns = [name for name in free if name.startswith("rot")]
        if not turns:
            system.aligned(a, R, b, Q)
        elif turns == ["rotX"]:
            system.rows += [system.cosine(a, e, b, Q[:, 0]) for e in across(R[:, 0])]
        elif len(turns) == 2:
            system.rows.append(system.cosine(a, R[:, 0], b, Q[:, 1]))


@dataclass
class UsdMechanism:
    """Bodies and joints, and the file of both."""

    bodies: dict[str, UsdBody] = field(default_factory=dict)
    joints: list[UsdJoint] = field(default_factory=list)

    def body(self, rng: np.random.Generator, name: str) -> UsdBody:
        """Add a body at random."""
        moments = rng.uniform(0.01, 0.02, 3)
        pose = rng.uniform(-0.5, 0.5, 3), Rotation.random(rng=rng).as_matrix()
        self.bodies[name] = UsdBody(
            name, *pose, rng.uniform(0.5, 2.0), rng.uniform(-0.1, 0.1, 3), moments, Rotation.random(rng=rng).as_matrix()
        )
        return self.bodies[name]

    def joint(
        self, name: str, kind: str, body0: str | None, body1: str, p: Array, R: Array, inner: str = "", *schemas: str
    ) -> None:
        """Add a joint at a point in the stage, with its axes."""
        ends = (self.bodies[body0] if body0 else None, self.bodies[body1])
        frames = [(p, R) if end is None else (end.R.T @ (p - end.p), end.R.T @ R) for end in ends]
        self.joints.append(UsdJoint(name, kind, ends[0], ends[1], (frames[0], frames[1]), inner, schemas))

    def text(self, head: str = "") -> str:
        parts = [*self.bodies.values(), *self.joints]
        return (
            f'#usda 1.0\n({head or "metersPerUnit = 1"})\ndef Xform "World"\n{{\n'
            + "".join(part.text() for part in parts)
            + "}\n"
        )
