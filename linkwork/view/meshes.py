"""Meshes of shapes: read from files, thinned to so many triangles, each kept once; shapes as pages have them."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwork._util.checks import FloatArray
from linkwork._util.optional import optional_import
from linkwork.errors import LinkworkError
from linkwork.mechanism import GROUND, Mechanism
from linkwork.mechanism.shapes import MESH_SUFFIXES, Mesh, Shape, Size
from linkwork.view.packing import pack

MOST_TRIANGLES = 20_000  # of a mesh
MOST_IN_ALL, LEAST_TRIANGLES = 200_000, 1000  # of all meshes; of a mesh among many
MAX_BYTES = 256_000_000  # of a file

Triangles = NDArray[np.uint32]


@dataclass(frozen=True)
class TriangleMesh:
    """A closed or open surface of triangles, counter-clockwise from outside.

    Attributes
    ----------
    vertices
        (n, 3), m.
    triangles
        Numbers of their vertices, (m, 3).
    """

    vertices: FloatArray
    triangles: Triangles

    @property
    def key(self) -> bytes:
        """Equal for meshes that are equal in single precision."""
        return self.vertices.astype("<f4").tobytes() + self.triangles.astype("<u4").tobytes()

    def packed(self) -> dict[str, str]:
        """Return the mesh as pages have it."""
        vertices, triangles = self.vertices.astype("<f4"), self.triangles.astype("<u4")
        return {"vertices": pack(vertices.tobytes()), "triangles": pack(triangles.tobytes())}


class ShapeTable:
    """Shapes of a mechanism by body as `payload.ts` describes them, with the meshes that they name by number.

    A mesh that cannot be shown leaves a warning and not an error. Its body is drawn from its other shapes, or without
    any from its joints.

    Parameters
    ----------
    mech
        The mechanism.
    most_triangles
        Of each mesh, and fewer where there are more than ten; one of more is thinned, and a warning states it.
    meshes
        False: meshes are left out.

    Attributes
    ----------
    meshes
        Each once, however many shapes have it.
    warnings
        Meshes that are thinned or left out.

    Examples
    --------
    >>> from linkwork.mechanism import shape
    >>> mech = Mechanism("wall")
    >>> mech.add_shape("ground", shape.sphere(0.1, colour="#606060"))
    >>> ShapeTable(mech).of("ground")
    [{'type': 'sphere', 'radius': 0.1, 'frame': {'r': [0.0, 0.0, 0.0], 'Q': [1.0, 0.0, 0.0, 0.0]}, 'colour': '#606060'}]
    """

    def __init__(self, mech: Mechanism, most_triangles: int = MOST_TRIANGLES, *, meshes: bool = True) -> None:
        self.meshes: list[TriangleMesh] = []
        self.warnings: list[str] = []
        self._meshes = meshes
        count = len({(one.path, one.scale) for of in mech.shapes.values() for one in of if isinstance(one, Mesh)})
        self._most = min(most_triangles, max(LEAST_TRIANGLES, MOST_IN_ALL // max(count, 1)))
        self._folder = mech.folder or Path()
        self._numbers: dict[bytes, int] = {}
        self._read: dict[tuple[str, Size], int | None] = {}
        names = [GROUND, *mech.bodies]
        self._shapes = {name: self._all(mech.shapes.get(name, ())) for name in names}

    def of(self, body: str) -> list[dict[str, Any]]:
        """Return the shapes of a body, or of the ground."""
        return self._shapes[body]

    def packed(self) -> list[dict[str, str]]:
        """Return the meshes as pages have them."""
        return [mesh.packed() for mesh in self.meshes]

    def _all(self, shapes: Any) -> list[dict[str, Any]]:
        return [found for shape in shapes if (found := self._one(shape)) is not None]

    def _one(self, shape: Shape) -> dict[str, Any] | None:
        found: dict[str, Any] = {"type": shape.type_name}
        if isinstance(shape, Mesh):
            number = self._number(shape) if self._meshes else None
            if number is None:
                return None
            found["mesh"] = number
        else:
            given = {name: value for name, value in shape.given.items() if name not in ("frame", "colour")}
            found |= {name: list(value) if isinstance(value, tuple) else value for name, value in given.items()}
        found["frame"] = {"r": shape.frame.position.tolist(), "Q": shape.frame.quaternion.tolist()}
        return found if shape.colour is None else found | {"colour": shape.colour}

    def _number(self, shape: Mesh) -> int | None:
        """Return the number of a mesh; None: it cannot be shown."""
        key = shape.path, shape.scale
        if key not in self._read:
            self._read[key] = None
            try:
                mesh, total = read_mesh(self._folder / shape.path, shape.scale, self._most)
            except (LinkworkError, ImportError) as error:
                self.warnings.append(f"mesh {shape.path!r} is not shown: {error}")
            else:
                if total > self._most:
                    count = f"{_grouped(len(mesh.triangles))} of {_grouped(total)} triangles"
                    self.warnings.append(f"mesh {shape.path!r}: {count} are shown")
                self._read[key] = self._numbers.setdefault(mesh.key, len(self.meshes))
                if self._read[key] == len(self.meshes):
                    self.meshes.append(mesh)
        return self._read[key]


def read_mesh(
    path: Path, scale: Size = (1.0, 1.0, 1.0), most_triangles: int = MOST_TRIANGLES
) -> tuple[TriangleMesh, int]:
    """Return the mesh of a file, all its parts together, and how many triangles the file has.

    Parameters
    ----------
    path
        A file .stl, .obj, .ply, .glb, .gltf or .dae. What it refers to is read from its folder, and from nowhere else.
    scale
        Multiplies the coordinates of the file. Those of .dae files are in the unit of the file, which counts as well.
    most_triangles
        A mesh with more is thinned by collapsing edges.

    Raises
    ------
    ImportError
        Without trimesh and fast-simplification, which the extra "mesh" installs.
    """
    suffix = path.suffix.lower()
    if suffix not in MESH_SUFFIXES:
        raise LinkworkError(f"meshes are files {', '.join(MESH_SUFFIXES)}, not {suffix or 'without a suffix'}")
    try:
        if not path.is_file():
            raise LinkworkError("there is no such file")
        size = path.stat().st_size
    except (OSError, ValueError) as error:
        raise LinkworkError(f"it cannot be read: {error}") from None
    if size > MAX_BYTES:
        raise LinkworkError(f"it has {size / 1e6:.0f} MB; at most {MAX_BYTES / 1e6:.0f} MB are read")
    with optional_import("meshes", "trimesh and fast-simplification", "mesh"):
        import fast_simplification
        import trimesh
    vertices, triangles = _loaded(trimesh, path, suffix)
    total = len(triangles)
    vertices, triangles = _welded(vertices * np.array(scale), triangles)
    if np.prod(scale) < 0.0:
        triangles = triangles[:, ::-1]
    if len(triangles) > most_triangles:
        thin, kept = fast_simplification.simplify(
            vertices.astype(np.float32), triangles.astype(np.int32), target_count=most_triangles
        )
        vertices, triangles = _welded(np.asarray(thin, dtype=np.float64), np.asarray(kept))
    if not len(triangles):
        raise LinkworkError("it has no triangles")
    return TriangleMesh(vertices, np.ascontiguousarray(triangles, dtype=np.uint32)), total


def _loaded(trimesh: Any, path: Path, suffix: str) -> tuple[FloatArray, NDArray[Any]]:
    """Return vertices and triangles of all parts of a file, in its coordinates."""
    try:
        unit = _unit_of(path) if suffix == ".dae" else 1.0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            scene = trimesh.load_scene(path, file_type=suffix[1:], allow_remote=False, skip_materials=True)
            parts = [one for one in scene.dump() if isinstance(one, trimesh.Trimesh)]
    except LinkworkError:
        raise
    except ImportError as missing:
        if missing.name == "charset_normalizer":  # by which trimesh guesses the encoding of texts that are not UTF-8
            raise LinkworkError(f"it is damaged or no {suffix} file, or its text is not UTF-8") from None
        raise
    except Exception as error:  # readers of damaged files raise anything
        raise LinkworkError(f"it is damaged or no {suffix} file: {type(error).__name__}: {error}") from None
    first, vertices, triangles = 0, [np.zeros((0, 3))], [np.zeros((0, 3), dtype=np.int64)]
    for part in parts:
        vertices.append(np.asarray(part.vertices, dtype=np.float64))
        triangles.append(np.asarray(part.faces, dtype=np.int64) + first)
        first += len(part.vertices)
    return np.concatenate(vertices) * unit, np.concatenate(triangles)


def _unit_of(path: Path) -> float:
    """Return the m of a unit of a Collada file; document types, which can name other files, are refused."""
    head = path.read_bytes()
    if re.search(rb"<!(?:DOCTYPE|ENTITY)", head):
        raise LinkworkError("document types and entities are refused")
    found = re.search(rb"<unit\b[^>]*\bmeter\s*=\s*[\"']([^\"']+)", head)
    try:
        unit = float(found[1]) if found else 1.0
    except ValueError:
        unit = 1.0
    return unit if np.isfinite(unit) and unit > 0.0 else 1.0


def _welded(vertices: FloatArray, triangles: NDArray[Any]) -> tuple[FloatArray, NDArray[Any]]:
    """Return a mesh whose equal vertices are one, without triangles that have no area."""
    finite = np.asarray(np.isfinite(vertices).all(axis=1))
    triangles = triangles[finite[triangles].all(axis=1)]
    used, numbers = np.unique(triangles.ravel(), return_inverse=True)
    points, same = np.unique(vertices[used].astype(np.float32), axis=0, return_inverse=True)
    triangles = same.ravel()[numbers.ravel()].reshape(-1, 3)
    a, b, c = triangles.T
    triangles = triangles[(a != b) & (b != c) & (c != a)]
    used, numbers = np.unique(triangles.ravel(), return_inverse=True)
    return points[used].astype(np.float64), numbers.reshape(-1, 3)


def _grouped(number: int) -> str:
    return f"{number:,}".replace(",", " ")
