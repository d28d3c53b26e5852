"""Masses of SDF links: stated, by default, or from the shapes of collisions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from linkwork.formats import shapes
from linkwork.formats.report import Report
from linkwork.formats.sdf.scopes import pose_element
from linkwork.formats.sdf.values import flag_attribute, number_in
from linkwork.formats.shapes import MassProperties
from linkwork.formats.xml_tree import Element
from linkwork.mechanism import Frame

_WATER = 1000.0  # kg/m^3, the default density of SDF
_DIAGONAL = ("ixx", "iyy", "izz")


def inertial(link: Element, label: str, report: Report) -> MassProperties:
    """Return mass, centre of mass and inertia of a link, in its axes."""
    element = link.child("inertial")
    if element is None:
        report.taken(f"{label} > inertial", "there is none, for which SDF has 1 kg and 1 kg m^2 about each axis")
        return MassProperties(1.0, np.zeros(3), np.eye(3))
    if (added := element.child("fluid_added_mass")) is not None:
        added.skip()
        report.left_out(f"{label} > inertial > fluid_added_mass", "there are no fluids: it moves as if in vacuum")
    if flag_attribute(element, "auto"):
        return _from_shapes(link, element)
    frame = _own_pose(element)
    mass = number_in(element, "mass", 1.0)
    if mass < 0.0:
        raise element.error(f"its mass is {mass:g} kg: give one of at least 0")
    inertia = element.child("inertia")
    missing = [name for name in _DIAGONAL if inertia is None or inertia.child(name) is None]
    if missing:
        report.taken(f"{label} > inertial > inertia", f"{', '.join(missing)} not given, for which SDF has 1 kg m^2")
    xx, yy, zz = (number_in(inertia, name, 1.0) for name in _DIAGONAL)
    xy, xz, yz = (number_in(inertia, name, 0.0) for name in ("ixy", "ixz", "iyz"))
    tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return MassProperties(mass, np.zeros(3), tensor).placed(frame)


def _from_shapes(link: Element, element: Element) -> MassProperties:
    """Return the properties of the shapes of all collisions; a mass that is given scales them."""
    common = number_in(element, "density", _WATER)
    parts = []
    for collision in link.children("collision"):
        density = number_in(collision, "density", common)
        if density <= 0.0:
            raise collision.error(f"its density is {density:g} kg/m^3: give one above 0")
        parts.append(_solid(collision, density).placed(_own_pose(collision)))
    if not parts:
        raise element.error("auto needs collisions whose shapes have a volume: add one, or state mass and inertia")
    whole = shapes.joined(parts)
    mass = number_in(element, "mass", whole.mass)
    if mass <= 0.0:
        raise element.error(f"its mass is {mass:g} kg: give one above 0")
    return whole.scaled(mass)


def _own_pose(element: Element) -> Frame:
    """Return the pose of an inertial or a collision, which must be relative to the link."""
    frame, relative_to = pose_element(element)
    if relative_to:
        raise element.error(f"its pose is relative to {relative_to!r}: state it relative to the link")
    return frame


def _solid(collision: Element, density: float) -> MassProperties:
    geometry = collision.required("geometry")
    for tag, solid in _SOLIDS.items():
        shape = geometry.child(tag)
        if shape is not None:
            return solid(shape, density)
    raise geometry.error(
        f"auto needs one of {', '.join(_SOLIDS)}, and meshes are not opened: state mass and inertia of the link"
    )


def _size(shape: Element, tag: str, default: float) -> float:
    value = number_in(shape, tag, default)
    if value <= 0.0:
        raise shape.error(f"{tag} is {value:g} m: give a length above 0")
    return value


def _sizes(shape: Element, tag: str) -> np.ndarray:
    values = shape.required(tag).text_vector(3)
    if (values <= 0.0).any():
        raise shape.error(f"{tag} must be three lengths above 0")
    return values


_SOLIDS: dict[str, Callable[[Element, float], MassProperties]] = {
    "box": lambda shape, density: shapes.box(_sizes(shape, "size"), density),
    "sphere": lambda shape, density: shapes.ellipsoid([_size(shape, "radius", 1.0)] * 3, density),
    "ellipsoid": lambda shape, density: shapes.ellipsoid(_sizes(shape, "radii"), density),
    "cylinder": lambda shape, density: shapes.cylinder(_size(shape, "radius", 1), _size(shape, "length", 1), density),
    "capsule": lambda shape, density: shapes.capsule(_size(shape, "radius", 0.5), _size(shape, "length", 1), density),
    "cone": lambda shape, density: shapes.cone(_size(shape, "radius", 0.5), _size(shape, "length", 1), density),
}
