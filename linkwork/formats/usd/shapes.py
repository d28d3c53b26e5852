"""Prims of USD's geometry as shapes of bodies: cubes, spheres, cylinders and capsules, with their display colour."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwork.errors import MechanismError
from linkwork.formats.usd.attributes import Attributes
from linkwork.formats.usd.bodies import EVEN, UPRIGHT, Bodies
from linkwork.formats.usd.units import Units
from linkwork.formats.visuals import colour_of
from linkwork.mechanism import shape
from linkwork.mechanism.shapes import Shape

KINDS = ("Cube", "Sphere", "Cylinder", "Capsule")


def shape_of(prim: Any, bodies: Bodies, units: Units, attributes: Attributes) -> Shape:
    """Return a prim as a shape in the frame of its body.

    Raises
    ------
    MechanismError
        If it cannot be shown: the text tells why.
    """
    from pxr import UsdGeom

    kind = str(prim.GetTypeName())
    if kind not in KINDS:
        raise MechanismError(f"{kind!r} is not shown: shapes are cubes, spheres, cylinders and capsules")
    image = UsdGeom.Imageable(prim)
    if image.ComputeVisibility() == UsdGeom.Tokens.invisible or image.ComputePurpose() == UsdGeom.Tokens.guide:
        raise MechanismError("it is invisible, or a guide")
    placed, colour = bodies.placed(prim), _colour(prim)
    place = bodies.frame_of(bodies.owner(prim)).inverse() @ placed.frame
    scale = placed.scale * units.length
    if kind == "Cube":
        x, y, z = (attributes.number(prim, "size", 2.0) * scale).tolist()
        return shape.box((x, y, z), frame=place, colour=colour)
    axis = attributes.token(prim, "axis", "Z")
    along = "XYZ".find(axis)
    if along < 0:
        raise MechanismError(f"axis must be X, Y or Z, not {axis!r}")
    across = scale if kind in ("Sphere", "Capsule") else np.delete(scale, along)
    if np.ptp(across) > EVEN * across[0]:
        raise MechanismError(f"the scale of this {kind} is uneven")
    radius = attributes.number(prim, "radius", 1.0 if kind != "Capsule" else 0.5) * float(across[0])
    if kind == "Sphere":
        return shape.sphere(radius, frame=place, colour=colour)
    length = attributes.number(prim, "height", 1.0 if kind == "Capsule" else 2.0) * float(scale[along])
    made = shape.capsule if kind == "Capsule" else shape.cylinder
    return made(radius, length, frame=place @ UPRIGHT[axis], colour=colour)


def _colour(prim: Any) -> str | None:
    """Return the first display colour that a prim states."""
    attribute = prim.GetAttribute("primvars:displayColor")
    values = attribute.Get() if attribute and attribute.HasAuthoredValue() else None
    if not values or len(values[0]) != 3:
        return None
    parts = [float(one) for one in values[0]]
    return colour_of(*parts) if np.isfinite(parts).all() else None
