"""Writes shapes of bodies as geoms of an MJCF file, without mass and contact."""

from __future__ import annotations

from pathlib import Path
from xml.etree.ElementTree import SubElement

from linkwork.formats.mjcf.file_parts import FileParts, place, text_of
from linkwork.formats.visuals import parts_of
from linkwork.mechanism.shapes import Box, Capsule, Cylinder, Mesh, Shape, Size, Sphere

_MESHES = (".stl", ".obj")  # that MuJoCo reads
_LOOKS_ONLY = {"contype": "0", "conaffinity": "0", "mass": "0", "group": "2"}


def write_shapes(parts: FileParts) -> None:
    """Write the shapes of all bodies that the file has, and of the world."""
    meshes: dict[tuple[str, Size], str] = {}
    for body, shapes in parts.mech.shapes.items():
        for number, shape in enumerate(shapes, start=1):
            element = f"body {body!r} > shape {number}"
            why = _refusal(parts, body, shape)
            if why:
                parts.report.left_out(element, why)
                continue
            geom = SubElement(parts.elements[body], "geom", {"type": shape.type_name, **_LOOKS_ONLY})
            place(geom, shape.frame)
            if isinstance(shape, Mesh):
                geom.set("mesh", _mesh(parts, meshes, shape))
            else:
                geom.set("size", text_of(_sizes(shape)))
            if shape.colour is not None:
                geom.set("rgba", text_of([*parts_of(shape.colour), 1.0]))
            parts.report.taken(element, "geom")


def _refusal(parts: FileParts, body: str, shape: Shape) -> str:
    """Return why a shape is not written; "": it is."""
    if body not in parts.elements:
        return "its body has no mass and is none of the file"
    if not isinstance(shape, Mesh):
        return ""
    if Path(shape.path).suffix.lower() not in _MESHES:
        return f"MuJoCo reads meshes {' and '.join(_MESHES)}"
    if not (Path(parts.report.path).absolute().parent / shape.path).is_file():
        return "its mesh is missing, and MuJoCo reads no file without it"
    return ""


def _mesh(parts: FileParts, meshes: dict[tuple[str, Size], str], shape: Mesh) -> str:
    """Return the name of a mesh in the file, which has each once."""
    key = shape.path, shape.scale
    if key not in meshes:
        meshes[key] = parts.name("mesh", Path(shape.path).stem)
        given = {"name": meshes[key], "file": shape.path, "scale": text_of(shape.scale), "inertia": "shell"}
        SubElement(parts.sections["asset"], "mesh", given)
    return meshes[key]


def _sizes(shape: Shape) -> list[float]:
    """Return what MuJoCo has for a size: halves of edges and lengths."""
    match shape:
        case Box(size=size):
            return [one / 2.0 for one in size]
        case Sphere(radius=radius):
            return [radius]
        case Cylinder(radius=radius, length=length) | Capsule(radius=radius, length=length):
            return [radius, length / 2.0]
    raise TypeError(f"no size of {shape!r} is known in MJCF")
