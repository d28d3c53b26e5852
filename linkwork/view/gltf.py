"""Runs as animated binary glTF 2.0: a node for each body, moved by linear interpolation between rows.

glTF has +y up and quaternions [x, y, z, w]; a root node turns the world, in which z is up. Numbers are in single
precision. The layout is that of the specification of the Khronos Group, sections 3 and 4.
"""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwork._util.checks import FloatArray, positive
from linkwork._util.files import atomic_path
from linkwork._util.rotations import matrix_of, product, rotate
from linkwork._util.version import version
from linkwork.draw.mechanism_picture import COLOURS
from linkwork.errors import AssemblyError, MechanismError
from linkwork.mechanism import GROUND
from linkwork.view import payload
from linkwork.view.meshes import ShapeTable, TriangleMesh
from linkwork.view.scene import scene_of
from linkwork.view.solids import SPRING, Solid, Surface, cylinder, pin, solids_of_shapes, solids_without_shapes

if TYPE_CHECKING:
    from linkwork.simulation.result import Result

MOST_ROWS = 200_000
PIN_COLOUR, GROUND_COLOUR, SPRING_COLOUR, DISTANCE_COLOUR = "#3a3f45", "#8a8f98", "#b0b4ba", "#555b63"
UP = np.array([np.sqrt(0.5), -np.sqrt(0.5), 0.0, 0.0])  # turns z to y
THINNEST = 1e-6  # of the size: the length of a spring whose ends coincide

_FLOAT, _UINT, _USHORT = 5126, 5125, 5123
_VERTICES, _INDICES = 34962, 34963  # targets of a buffer view


def write_glb(result: Result, path: str | os.PathLike[str], *, fps: float | None = 60.0, skinned: bool = False) -> Path:
    """Write a run as .glb; see `Result.glb`."""
    target = Path(path)
    if target.suffix.lower() != ".glb" and not os.path.isdir(target):
        raise MechanismError(f"{target}: binary glTF is a .glb file")
    moving = _sampled(result, fps)
    table = ShapeTable(result.model.mechanism)
    scene = scene_of(result.model, shapes=table)
    moves = _moves(moving, scene, table.meshes)
    times = np.abs(moving.t - moving.t[0])
    file = _File(result.name, scene["size"])
    (file.add_skinned if skinned else file.add_nodes)(moves, times)
    with atomic_path(target) as part:
        part.write_bytes(file.data(table.warnings))
    return target


def _sampled(result: Result, fps: float | None) -> Result:
    """Return the result at so many times a second, or as it is."""
    if not len(result):
        raise MechanismError(f"the result of {result.name!r} has no rows: there is nothing to show")
    if fps is not None:
        rate = positive(fps, "fps", "; None takes the rows of the result")
        span = abs(float(result.t[-1] - result.t[0]))
        if span * rate > MOST_ROWS:
            raise MechanismError(f"{span:g} s at {rate:g} per second are more than {MOST_ROWS} poses: give a lower fps")
        count = max(2, 1 + int(np.ceil(span * rate - 1e-9))) if span else 1
        with suppress(AssemblyError):  # rows that are too far from each other to close the loops in between
            return result.resample(np.linspace(result.t[0], result.t[-1], count))
    return result


# ---- motion ----------------------------------------------------------------------------------------


class Move(NamedTuple):
    """A node: its solids, and its poses by row: r (n, 3), m; Q (n, 4), continuous in sign; scale (n, 3) or None."""

    name: str
    solids: list[Solid]
    r: FloatArray
    Q: FloatArray
    scale: FloatArray | None = None


def _moves(result: Result, scene: payload.Scene, meshes: Sequence[TriangleMesh]) -> list[Move]:
    """Return the ground, all bodies, and the rods between them."""
    poses = {GROUND: (np.zeros((len(result), 3)), np.tile([1.0, 0.0, 0.0, 0.0], (len(result), 1)))}
    for body in scene["bodies"]:
        name = body["name"]
        r, Q = result[f"{name}.r"], result[f"{name}.Q"]
        if not (np.isfinite(r).all() and np.isfinite(Q).all()):
            raise MechanismError(f"body {name!r} has no pose at all times: take the part of the result that has")
        poses[name] = r, _continuous(Q / np.linalg.norm(Q, axis=1, keepdims=True))
    solids = {GROUND: solids_of_shapes(scene["groundShapes"], meshes, GROUND_COLOUR)}
    for k, body in enumerate(scene["bodies"]):
        colour = COLOURS[k % len(COLOURS)]
        found = solids_of_shapes(body["shapes"], meshes, colour)
        solids[body["name"]] = found or solids_without_shapes(body, scene["size"], colour)
    for joint in scene["joints"]:
        if joint["closed"] is None:
            on_child = joint["child"] != GROUND
            body_name = joint["child"] if on_child else joint["parent"]
            frame: Any = "childFrame" if on_child else "parentFrame"
            solids[body_name] += pin(joint, frame, scene["size"], PIN_COLOUR)
    moves = [Move(name, solids[name], *poses[name]) for name in poses if solids[name]]
    rods: list[tuple[Any, str]] = [(one, SPRING_COLOUR) for one in scene["springs"]]
    for cable in scene["cables"]:
        ends = enumerate(zip(pairwise(cable["bodies"]), pairwise(cable["points"]), strict=True))
        rods += [
            ({"name": f"{cable['name']} {k + 1}", "bodies": bodies, "points": points}, DISTANCE_COLOUR)
            for k, (bodies, points) in ends
            if cable["factors"][k]
        ]
    rods += [(one, DISTANCE_COLOUR) for one in scene["distances"]]
    for rod, colour in rods:
        moves.append(_stretched(rod, poses, scene["size"], colour))
    return moves


def _stretched(rod: Any, poses: dict[str, tuple[FloatArray, FloatArray]], size: float, colour: str) -> Move:
    """Return a cylinder of length 1 that its scale stretches between points of two bodies."""
    ends = []
    for body, point in zip(rod["bodies"], rod["points"], strict=True):
        r, Q = poses[body]
        ends.append(r + rotate(Q, np.broadcast_to(np.array(point), r.shape)))
    along = ends[1] - ends[0]
    length = np.linalg.norm(along, axis=1)
    direction = np.divide(
        along, length[:, None], out=np.tile([0.0, 0.0, 1.0], (len(along), 1)), where=length[:, None] > 0
    )
    scale = np.ones((len(along), 3))
    scale[:, 2] = np.maximum(length, THINNEST * size)
    radius = SPRING * size
    solid = Solid(cylinder(radius, 1.0), (0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0), ("cylinder", radius, 1.0), colour)
    return Move(rod["name"], [solid], (ends[0] + ends[1]) / 2, _towards(direction), scale)


def _towards(directions: FloatArray) -> FloatArray:
    """Return quaternions (n, 4) that turn z to directions (n, 3), each the shortest way on from the one before."""
    found, last, Q = np.empty((len(directions), 4)), np.array([0.0, 0.0, 1.0]), np.array([1.0, 0.0, 0.0, 0.0])
    for k, direction in enumerate(directions):
        half = np.array([1.0 + last @ direction, *np.cross(last, direction)])
        if half[0] < 1e-9:  # half a revolution, about any axis across
            half = np.array([0.0, *np.cross(last, np.eye(3)[int(np.abs(last).argmin())])])
        Q = product(half / np.linalg.norm(half), Q)
        Q /= np.linalg.norm(Q)
        found[k], last = Q, direction
    return found


def _continuous(Q: FloatArray) -> FloatArray:
    """Return quaternions (n, 4) of which each has the sign that is nearer to the one before."""
    signs = np.where(np.einsum("ij,ij->i", Q[1:], Q[:-1]) < 0.0, -1.0, 1.0)
    return np.asarray(Q * np.concatenate([[1.0], np.cumprod(signs)])[:, None])


# ---- the file --------------------------------------------------------------------------------------


class _File:
    """The objects of a glTF as they grow, and the bytes of its buffer."""

    def __init__(self, name: str, size: float) -> None:
        self.name, self.size = name, size
        self.bytes = bytearray()
        self.lists: dict[str, list[Any]] = {
            key: [] for key in ("nodes", "meshes", "materials", "accessors", "bufferViews", "animations", "skins")
        }
        self.roots: list[int] = []
        self._materials: dict[str, int] = {}
        self._accessors: dict[bytes, int] = {}
        self._meshes: dict[object, int] = {}

    def add(self, kind: str, **values: Any) -> int:
        """Add an object without its absent values, and return its number."""
        self.lists[kind].append({key: value for key, value in values.items() if value is not None})
        return len(self.lists[kind]) - 1

    def add_nodes(self, moves: Sequence[Move], times: FloatArray) -> None:
        """Add a node for each part, with a node for each of its solids."""
        nodes = []
        for move in moves:
            children = [self._solid(solid) for solid in move.solids]
            nodes.append(self.add("nodes", name=move.name, **_pose(move), children=children))
        self._add_root(nodes)
        self._animate(nodes, moves, times)

    def add_skinned(self, moves: Sequence[Move], times: FloatArray) -> None:
        """Add one mesh whose vertices each follow one of the nodes, which are the joints of its skin."""
        nodes = [self.add("nodes", name=move.name, **_pose(move)) for move in moves]
        root = self._add_root(nodes)
        inverse = np.stack([np.linalg.inv(_in_gltf(move)).T for move in moves])  # columns first
        skin = self.add("skins", joints=nodes, skeleton=root, inverseBindMatrices=self._accessor(inverse, "MAT4"))
        by_colour: dict[str, list[tuple[int, Surface]]] = {}
        for k, move in enumerate(moves):
            for solid in move.solids:
                surface = _in_first_pose(move, solid)
                by_colour.setdefault(solid.colour, []).append((k, surface))
        primitives = []
        for colour, surfaces in by_colour.items():
            whole = _joined([surface for _, surface in surfaces])
            counts = [len(surface.vertices) for _, surface in surfaces]
            joints = np.zeros((len(whole.vertices), 4), dtype=np.uint16)
            joints[:, 0] = np.repeat([k for k, _ in surfaces], counts)
            weights = np.zeros((len(joints), 4))
            weights[:, 0] = 1.0
            primitives.append(self._primitive(whole, colour, joints, weights))
        mesh = self.add("meshes", name=self.name, primitives=primitives)
        self.roots.append(self.add("nodes", name=f"{self.name} mesh", mesh=mesh, skin=skin))
        self._animate(nodes, moves, times)

    def data(self, warnings: Sequence[str]) -> bytes:
        """Return the file."""
        top: dict[str, Any] = {
            "asset": {"version": "2.0", "generator": f"Linkwork {version()}"},
            "scene": 0,
            "scenes": [{"name": self.name, "nodes": self.roots}],
            **{key: found for key, found in self.lists.items() if found},
            "buffers": [{"byteLength": len(self.bytes)}],
        }
        if warnings:
            top["asset"]["extras"] = {"warnings": list(warnings)}
        text = json.dumps(top, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
        chunks = (text + b" " * (-len(text) % 4), b"JSON"), (bytes(self.bytes), b"BIN\0")
        body = b"".join(struct.pack("<I", len(data)) + kind + data for data, kind in chunks)
        return struct.pack("<4sII", b"glTF", 2, 12 + len(body)) + body

    # ---- nodes ----

    def _add_root(self, nodes: list[int]) -> int:
        root = self.add("nodes", name=self.name, rotation=_xyzw(UP).tolist(), children=nodes)
        self.roots.append(root)
        return root

    def _solid(self, solid: Solid) -> int:
        key = solid.key, solid.colour
        if key not in self._meshes:
            self._meshes[key] = self.add("meshes", primitives=[self._primitive(solid.surface, solid.colour)])
        turned = np.asarray(solid.Q, dtype=np.float64)
        return self.add(
            "nodes",
            mesh=self._meshes[key],
            translation=list(solid.r) if any(solid.r) else None,
            rotation=_xyzw(turned).tolist() if turned[1:].any() else None,
        )

    def _primitive(self, surface: Surface, colour: str, *skin: NDArray[Any]) -> dict[str, Any]:
        attributes = {
            "POSITION": self._accessor(surface.vertices, "VEC3", _VERTICES, bounds=True),
            "NORMAL": self._accessor(surface.normals, "VEC3", _VERTICES),
        }
        if skin:
            attributes["JOINTS_0"] = self._accessor(skin[0], "VEC4", _VERTICES)
            attributes["WEIGHTS_0"] = self._accessor(skin[1], "VEC4", _VERTICES)
        few = len(surface.vertices) <= 65535
        indices = surface.triangles.ravel().astype(np.uint16 if few else np.uint32)
        return {
            "attributes": attributes,
            "indices": self._accessor(indices, "SCALAR", _INDICES),
            "material": self._material(colour),
        }

    def _material(self, colour: str) -> int:
        if colour not in self._materials:
            shade = np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)]) / 255.0
            linear = np.where(shade <= 0.04045, shade / 12.92, ((shade + 0.055) / 1.055) ** 2.4)
            factors = {
                "baseColorFactor": [*np.round(linear, 6).tolist(), 1.0],
                "metallicFactor": 0.1,
                "roughnessFactor": 0.6,
            }
            self._materials[colour] = self.add("materials", name=colour, pbrMetallicRoughness=factors)
        return self._materials[colour]

    # ---- channels ----

    def _animate(self, nodes: Sequence[int], moves: Sequence[Move], times: FloatArray) -> None:
        """Add the channels of poses that are not constant; of rows with the same time the last one counts."""
        rows = np.flatnonzero(np.append(np.diff(times.astype("<f4")) > 0.0, True))
        samplers: list[Any] = []
        channels: list[Any] = []
        for node, move in zip(nodes, moves, strict=True):
            for target, values in _changing(move):
                keys = {"input": self._accessor(times[rows], "SCALAR", bounds=True)}
                keys["output"] = self._accessor(values[rows], f"VEC{values.shape[1]}")
                channels.append({"sampler": len(samplers), "target": {"node": node, "path": target}})
                samplers.append({**keys, "interpolation": "LINEAR"})
        if channels:
            self.add("animations", name=self.name, channels=channels, samplers=samplers)

    # ---- numbers ----

    def _accessor(self, values: NDArray[Any], kind: str, target: int | None = None, *, bounds: bool = False) -> int:
        """Return the number of an accessor of values (n, ...), the same for the same values."""
        numbers = np.ascontiguousarray(values if values.dtype.kind == "u" else values.astype("<f4") + np.float32(0.0))
        data = numbers.tobytes()
        key = b"%s %r %r " % (kind.encode(), target, bounds) + data
        if key not in self._accessors:
            self.bytes += b"\0" * (-len(self.bytes) % 4)
            view = self.add("bufferViews", buffer=0, byteOffset=len(self.bytes), byteLength=len(data), target=target)
            self.bytes += data + b"\0" * (-len(data) % 4)
            flat = numbers.reshape(len(numbers), -1)
            component = {"f": _FLOAT, "u": _USHORT if numbers.itemsize == 2 else _UINT}[numbers.dtype.kind]
            self._accessors[key] = self.add(
                "accessors",
                bufferView=view,
                componentType=component,
                count=len(numbers),
                type=kind,
                min=flat.min(axis=0).astype(float).tolist() if bounds else None,
                max=flat.max(axis=0).astype(float).tolist() if bounds else None,
            )
        return self._accessors[key]


def _pose(move: Move) -> dict[str, Any]:
    """Return the first pose of a part as properties of its node."""
    found = {"translation": move.r[0].tolist(), "rotation": _xyzw(move.Q[0]).tolist()}
    return found if move.scale is None else found | {"scale": move.scale[0].tolist()}


def _changing(move: Move) -> Iterator[tuple[str, FloatArray]]:
    for target, values in (("translation", move.r), ("rotation", _xyzw(move.Q)), ("scale", move.scale)):
        if values is not None and (values != values[0]).any():
            yield target, values


def _xyzw(Q: FloatArray) -> FloatArray:
    return np.roll(Q, -1, axis=-1)


def _in_gltf(move: Move) -> FloatArray:
    """Return the first pose of a part in the axes of glTF, (4, 4)."""
    found = np.eye(4)
    scale = np.ones(3) if move.scale is None else move.scale[0]
    found[:3, :3] = matrix_of(UP) @ matrix_of(move.Q[0]) * scale
    found[:3, 3] = matrix_of(UP) @ move.r[0]
    return found


def _in_first_pose(move: Move, solid: Solid) -> Surface:
    """Return a solid of a part in the axes of glTF at the first row."""
    surface, whole = solid.surface.placed(solid.r, solid.Q), _in_gltf(move)
    normals = surface.normals @ np.linalg.inv(whole[:3, :3])
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    return Surface(surface.vertices @ whole[:3, :3].T + whole[:3, 3], normals, surface.triangles)


def _joined(surfaces: Sequence[Surface]) -> Surface:
    firsts = np.cumsum([0, *(len(one.vertices) for one in surfaces)])
    return Surface(
        np.concatenate([one.vertices for one in surfaces]),
        np.concatenate([one.normals for one in surfaces]),
        np.concatenate([one.triangles + first for one, first in zip(surfaces, firsts, strict=False)]),
    )
