"""Surfaces of solids as triangles with normals: primitives, meshes, and rods and pins where a body has no shapes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork._util.checks import FloatArray
from linkwork._util.rotations import matrix_of, quaternions_of, rotation_from_z
from linkwork.view import payload
from linkwork.view.meshes import TriangleMesh

SIDES, RINGS = 24, 6  # of a circle; of a half sphere
CREASE = np.cos(np.radians(35.0))  # of the angle between faces at a visible edge

ROD, PIN, SPRING = 0.014, 0.02, 0.007  # radii as parts of the size of the mechanism
PIN_LENGTH = 0.06
IDENTITY = (1.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Surface:
    """Triangles, counter-clockwise from outside, with unit normals at their vertices.

    Attributes
    ----------
    vertices, normals
        (n, 3), m; (n, 3).
    triangles
        Numbers of their vertices, (m, 3).
    """

    vertices: FloatArray
    normals: FloatArray
    triangles: NDArray[np.intp]

    def placed(self, r: ArrayLike, Q: ArrayLike = IDENTITY) -> Surface:
        """Return it in the frame in which its own has the origin r, m, and the unit quaternion Q."""
        rotation = matrix_of(np.asarray(Q, dtype=np.float64))
        return Surface(self.vertices @ rotation.T + np.asarray(r), self.normals @ rotation.T, self.triangles)


class Solid(NamedTuple):
    """A surface in its own frame, this frame in the body, its key, which equal surfaces share, and its colour."""

    surface: Surface
    r: Sequence[float]
    Q: Sequence[float]
    key: object
    colour: str


# ---- primitives ------------------------------------------------------------------------------------


def box(size: Sequence[float]) -> Surface:
    """Return a box with these edges, m, about the origin.

    >>> len(box((1, 2, 3)).triangles)
    12
    """
    vertices, normals = list[FloatArray](), list[FloatArray]()
    triangles = list[tuple[int, int, int]]()
    for axis in range(3):
        for sign in (1.0, -1.0):
            normal = np.zeros(3)
            normal[axis] = sign
            first, second = np.eye(3)[axis - 2], sign * np.eye(3)[axis - 1]
            start = len(vertices)
            vertices += [0.5 * (normal + a * first + b * second) for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
            normals += [normal] * 4
            triangles += [(start, start + 1, start + 2), (start, start + 2, start + 3)]
    return Surface(np.array(vertices) * np.asarray(size), np.array(normals), np.array(triangles))


def cylinder(radius: float, length: float) -> Surface:
    """Return a cylinder along z about the origin."""
    half = length / 2.0
    return _revolved(
        [((radius, half), (0, 1)), ((radius, half), (1, 0)), ((radius, -half), (1, 0)), ((radius, -half), (0, -1))],
        ends=(half, -half),
        joined=(1,),
    )


def sphere(radius: float) -> Surface:
    """Return a sphere about the origin."""
    return capsule(radius, 0.0)


def capsule(radius: float, length: float) -> Surface:
    """Return a cylinder along z about the origin with half spheres at its ends."""
    angles = np.linspace(0.0, np.pi / 2, RINGS + 1)[1:]
    upper = [((radius * np.sin(a), length / 2 + radius * np.cos(a)), (np.sin(a), np.cos(a))) for a in angles]
    lower = [((x, -z), (nx, -nz)) for (x, z), (nx, nz) in reversed(upper)]
    rings = upper + (lower if length else lower[1:])
    return _revolved(rings, ends=(length / 2 + radius, -length / 2 - radius), joined=range(len(rings) - 1))


def _revolved(
    rings: Sequence[tuple[tuple[float, float], tuple[float, float]]], ends: tuple[float, float], joined: Iterable[int]
) -> Surface:
    """Return a surface of revolution about z: rings (x, z) with normals, those `joined` to the next, and two ends."""
    angles = 2 * np.pi * np.arange(SIDES) / SIDES
    circle = np.column_stack([np.cos(angles), np.sin(angles)])
    vertices = [np.column_stack([x * circle, np.full(SIDES, z)]) for (x, z), _ in rings]
    normals = [np.column_stack([x * circle, np.full(SIDES, z)]) for _, (x, z) in rings]
    vertices += [np.array([[0.0, 0.0, z]]) for z in ends]
    normals += [np.array([[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]])]
    here, after = np.arange(SIDES), np.roll(np.arange(SIDES), -1)
    triangles = []
    for ring in joined:
        a, b = ring * SIDES, (ring + 1) * SIDES
        triangles += [
            np.column_stack([a + here, b + here, b + after]),
            np.column_stack([a + here, b + after, a + after]),
        ]
    top, last = len(rings) * SIDES, (len(rings) - 1) * SIDES
    triangles += [np.column_stack([np.full(SIDES, top), here, after])]
    triangles += [np.column_stack([np.full(SIDES, top + 1), last + after, last + here])]
    return Surface(np.concatenate(vertices), np.concatenate(normals), np.concatenate(triangles))


def surface_of(mesh: TriangleMesh) -> Surface:
    """Return a mesh with normals: smooth, but for edges between faces at more than 35 degrees."""
    corners = mesh.vertices[mesh.triangles]
    flat = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])  # as long as twice the area
    smooth = np.zeros_like(mesh.vertices)
    for k in range(3):
        np.add.at(smooth, mesh.triangles[:, k], flat)
    flat, smooth = _units(flat), _units(smooth)
    kept = np.linalg.norm(flat, axis=1) > 0.0
    triangles, flat = mesh.triangles[kept], flat[kept]
    own = np.repeat(flat, 3, axis=0)
    shared = smooth[triangles.ravel()]
    chosen = np.where((np.einsum("ij,ij->i", own, shared) >= CREASE)[:, None], shared, own)
    keyed = np.column_stack([triangles.ravel(), np.round(chosen, 4)])
    _, first, numbers = np.unique(keyed, axis=0, return_index=True, return_inverse=True)
    return Surface(mesh.vertices[triangles.ravel()[first]], chosen[first], numbers.reshape(-1, 3))


def _units(vectors: FloatArray) -> FloatArray:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    found: FloatArray = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0.0)
    return found


# ---- bodies and joints -----------------------------------------------------------------------------


def solids_of_shapes(shapes: Iterable[Any], meshes: Sequence[TriangleMesh], colour: str) -> list[Solid]:
    """Return shapes of a body, as scenes have them; `colour` is that of shapes that have none."""
    return [_shape(one, meshes, one.get("colour", colour)) for one in shapes]


def _shape(shape: Any, meshes: Sequence[TriangleMesh], colour: str) -> Solid:
    r, Q = shape["frame"]["r"], shape["frame"]["Q"]
    match shape["type"]:
        case "box":
            return Solid(box(shape["size"]), r, Q, ("box", *shape["size"]), colour)
        case "sphere":
            return Solid(sphere(shape["radius"]), r, Q, ("sphere", shape["radius"]), colour)
        case "mesh":
            return Solid(surface_of(meshes[shape["mesh"]]), r, Q, ("mesh", shape["mesh"]), colour)
    solid = capsule if shape["type"] == "capsule" else cylinder
    size = shape["radius"], shape["length"]
    return Solid(solid(*size), r, Q, (shape["type"], *size), colour)


def solids_without_shapes(body: payload.Body, size: float, colour: str) -> list[Solid]:
    """Return a body as rods between its joints and centre of mass; where there are none, as its equimomental box."""
    com, ends = np.array(body["com"]), [np.array(end) for end in body["anchors"]]
    ends = [end for k, end in enumerate(ends) if all(_apart(end, other, size) for other in ends[:k])]
    far = [end for end in ends if _apart(end, com, size)]
    if len(ends) == 2 and _distance_to_line(com, ends[0], ends[1]) < 2 * ROD * size:
        return [rod(ends[0], ends[1], ROD * size, colour)]
    if far:
        return [rod(com, end, ROD * size, colour) for end in far]
    if body["box"] is None:
        return [Solid(sphere(2 * ROD * size), body["com"], IDENTITY, ("sphere", 2 * ROD * size), colour)]
    edges = np.maximum(body["box"]["size"], 0.01 * size).tolist()
    return [Solid(box(edges), body["com"], body["box"]["Q"], ("box", *edges), colour)]


def rod(start: FloatArray, end: FloatArray, radius: float, colour: str) -> Solid:
    """Return a capsule between two points that differ, m."""
    along = end - start
    length = float(np.linalg.norm(along))
    turned = quaternions_of(rotation_from_z(along / length)[None])[0]
    key = ("capsule", radius, round(length, 9))
    return Solid(capsule(radius, length), ((start + end) / 2).tolist(), turned.tolist(), key, colour)


def pin(joint: payload.Joint, end: Literal["parentFrame", "childFrame"], size: float, colour: str) -> list[Solid]:
    """Return the solids of a joint in one of its bodies: pins along its axes, a ball, or a block that slides."""
    r, Q = joint[end]["r"], joint[end]["Q"]
    radius, length = PIN * size, PIN_LENGTH * size
    match joint["type"]:
        case "spherical":
            return [Solid(sphere(1.2 * radius), r, Q, ("sphere", 1.2 * radius), colour)]
        case "prismatic" | "planar":
            edges = (2 * radius, 2 * radius, length if joint["type"] == "prismatic" else radius)
            return [Solid(box(edges), r, Q, ("box", *edges), colour)]
        case "fixed" | "free":
            return []
    made = cylinder(radius, length), ("cylinder", radius, length)
    axes = joint["axes"][: 2 if joint["type"] == "universal" else 1]
    along = [quaternions_of((matrix_of(np.array(Q)) @ rotation_from_z(np.array(axis)))[None])[0] for axis in axes]
    return [Solid(made[0], r, turned.tolist(), made[1], colour) for turned in along]


def _apart(a: FloatArray, b: FloatArray, size: float) -> bool:
    return float(np.linalg.norm(a - b)) > 0.02 * size


def _distance_to_line(point: FloatArray, a: FloatArray, b: FloatArray) -> float:
    along = b - a
    share = np.clip((point - a) @ along / (along @ along), 0.0, 1.0)
    return float(np.linalg.norm(point - a - share * along))
