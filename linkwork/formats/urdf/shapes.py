"""Writes shapes of bodies as visuals of URDF links."""

from __future__ import annotations

from xml.etree import ElementTree

from linkwork.formats.urdf.draft import Draft
from linkwork.formats.urdf.elements import add, add_origin
from linkwork.formats.visuals import parts_of
from linkwork.mechanism import GROUND
from linkwork.mechanism.shapes import Mesh, Shape


def write_shapes(draft: Draft, link: ElementTree.Element, body: str) -> None:
    """Write the shapes of a body, or of the ground, into its link."""
    for number, shape in enumerate(draft.mech.shapes.get(body, ()), start=1):
        visual = ElementTree.SubElement(link, "visual")
        add_origin(visual, shape.frame if body == GROUND else draft.tree.in_link(body, shape.frame))
        _write_geometry(ElementTree.SubElement(visual, "geometry"), shape)
        if shape.colour is not None:
            material = ElementTree.SubElement(visual, "material", name=shape.colour)
            add(material, "color", rgba=(*parts_of(shape.colour), 1.0))
        draft.report.taken(f"body {body!r} > shape {number}", "<visual>")


def _write_geometry(geometry: ElementTree.Element, shape: Shape) -> None:
    if isinstance(shape, Mesh):
        add(geometry, "mesh", filename=shape.path, scale=shape.scale)
        return
    tag = "drake:capsule" if shape.type_name == "capsule" else shape.type_name
    add(geometry, tag, **{name: value for name, value in shape.given.items() if name not in ("frame", "colour")})
