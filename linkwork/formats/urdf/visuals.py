"""Visuals of URDF links as shapes: boxes, cylinders, capsules, spheres and meshes, with their colours."""

from __future__ import annotations

from linkwork.errors import MechanismError
from linkwork.formats.urdf.context import Context
from linkwork.formats.urdf.geometry import origin_of
from linkwork.formats.visuals import TEXTURE, MeshFiles, add_shape, colour_of
from linkwork.formats.xml_tree import Element
from linkwork.mechanism import shape
from linkwork.mechanism.shapes import Shape

_CONTACT = "there is no contact, and masses are those of <inertial>"


class Visuals:
    """Reads visuals.

    Parameters
    ----------
    context
        The robot.
    root
        The file's root, whose materials have names.
    """

    def __init__(self, context: Context, root: Element, files: MeshFiles) -> None:
        self._report, self._files = context.report, files
        self._colours: dict[str, Element] = {}
        for material in root.children("material"):
            self._colours.setdefault(material.attribute("name", ""), material)

    def read(self, link: Element) -> list[Shape]:
        """Return the shapes of a link; collisions are left out."""
        shapes: list[Shape] = []
        for visual in link.children("visual"):
            label = f"{link.label} > visual"
            add_shape(shapes, self._report, label, lambda visual=visual: self._shape(visual))  # type: ignore[misc]
            if any(material.children("texture") for material in visual.children("material")):
                self._report.left_out(f"{label} > texture", TEXTURE)
            visual.skip()
        for collision in link.children("collision"):
            collision.skip()
            self._report.left_out(f"{link.label} > collision", _CONTACT)
        return shapes

    def report_materials(self, root: Element) -> None:
        """Report the materials of the file."""
        for material in root.children("material"):
            if material.children("texture"):
                self._report.left_out(f"{material.label} > texture", TEXTURE)
            self._report.taken(material.label, "colour of shapes")
            material.skip()

    def _shape(self, visual: Element) -> Shape:
        frame, colour = origin_of(visual), self._colour(visual)
        geometry = visual.required("geometry")
        children = geometry.children()
        if len(children) != 1:
            raise geometry.error(f"it has {len(children)} shapes, not one")
        one = children[0]
        kind = one.tag.removeprefix("drake:")
        if kind == "box":
            return shape.box(tuple(one.vector("size", 3).tolist()), frame=frame, colour=colour)
        if kind == "sphere":
            return shape.sphere(one.number("radius"), frame=frame, colour=colour)
        if kind in ("cylinder", "capsule"):
            made = shape.cylinder if kind == "cylinder" else shape.capsule
            return made(one.number("radius"), one.number("length"), frame=frame, colour=colour)
        if kind == "mesh":
            path, scale = self._files.find(one.attribute("filename")), one.vector("scale", 3, (1.0, 1.0, 1.0))
            return shape.mesh(path, scale=tuple(scale.tolist()), frame=frame, colour=colour)
        raise MechanismError(f"{kind!r} is not shown: shapes are boxes, cylinders, capsules, spheres and meshes")

    def _colour(self, visual: Element) -> str | None:
        """Return the colour of a visual: its own, or that of the material that it names."""
        material = visual.child("material")
        if material is None:
            return None
        colour = material.child("color")
        if colour is None:
            named = self._colours.get(material.attribute("name", ""))
            colour = None if named is None else named.child("color")
        return None if colour is None else colour_of(*colour.vector("rgba", 4).tolist())
