"""Visuals of SDF links as shapes: boxes, cylinders, capsules, spheres and meshes, with their colours."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from linkwork.errors import MechanismError
from linkwork.formats.report import Report
from linkwork.formats.sdf.scopes import pose_element
from linkwork.formats.sdf.values import number_in
from linkwork.formats.visuals import TEXTURE, TRANSPARENT, MeshFiles, add_shape, colour_of
from linkwork.formats.xml_tree import Element
from linkwork.mechanism import shape
from linkwork.mechanism.shapes import Shape

_LOOKS = ("script", "pbr", "shader")  # of a material, which need textures or programs


def visuals(link: Element, label: str, files: MeshFiles, report: Report) -> list[Shape]:
    """Return the shapes of a link."""
    shapes: list[Shape] = []
    for visual in link.children("visual"):
        element = f"{label} > visual"
        add_shape(shapes, report, element, lambda visual=visual: _shape(visual, files))  # type: ignore[misc]
        for material in visual.children("material"):
            for look in material.children(*_LOOKS):
                report.left_out(f"{element} > material > {look.tag}", TEXTURE)
        visual.skip()
    return shapes


def _shape(visual: Element, files: MeshFiles) -> Shape:
    frame, relative_to = pose_element(visual)
    if relative_to:
        raise MechanismError(f"its pose is relative to {relative_to!r}: state it relative to the link")
    if not number_in(visual, "transparency", 0.0) < 1.0:
        raise MechanismError(TRANSPARENT)
    colour = _colour(visual)
    given = [one for one in visual.required("geometry").children() if one.tag != "empty"]
    if len(given) != 1:
        raise MechanismError(f"it has {len(given)} shapes, not one")
    (one,) = given
    match one.tag:
        case "box":
            return shape.box(tuple(one.required("size").text_vector(3).tolist()), frame=frame, colour=colour)
        case "sphere":
            return shape.sphere(number_in(one, "radius", 1.0), frame=frame, colour=colour)
        case "cylinder":
            size = number_in(one, "radius", 1.0), number_in(one, "length", 1.0)
            return shape.cylinder(*size, frame=frame, colour=colour)
        case "capsule":
            size = number_in(one, "radius", 0.5), number_in(one, "length", 1.0)
            return shape.capsule(*size, frame=frame, colour=colour)
        case "mesh":
            if one.children("submesh"):
                raise MechanismError("parts of mesh files are not shown: put the part into a file of its own")
            path = files.find(one.required("uri").text(), Path(one.path).absolute().parent)
            scale = one.child("scale")
            factors = np.ones(3) if scale is None else scale.text_vector(3)
            return shape.mesh(path, scale=tuple(factors.tolist()), frame=frame, colour=colour)
    raise MechanismError(f"{one.tag!r} is not shown: shapes are boxes, cylinders, capsules, spheres and meshes")


def _colour(visual: Element) -> str | None:
    material = visual.child("material")
    diffuse = None if material is None else material.child("diffuse")
    if diffuse is None:
        return None
    words = diffuse.text().split()
    return colour_of(*diffuse.text_vector(4 if len(words) > 3 else 3).tolist())
