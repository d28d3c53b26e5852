"""Rigid bodies of USD Physics: which prims they are, their masses, stated or from the shapes of colliders."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork.formats import shapes
from linkwork.formats.report import Report
from linkwork.formats.robot import Link
from linkwork.formats.shapes import MassProperties
from linkwork.formats.usd.attributes import Attributes
from linkwork.formats.usd.units import Placed, Units, rotation_of
from linkwork.mechanism import Frame

_WATER = 1000.0  # kg/m^3, what USD has where nothing states a density
EVEN = 1e-5  # relative difference of scales that are the same but for the digits of single precision
_SOLIDS = ("Cube", "Sphere", "Cylinder", "Capsule", "Cone")
UPRIGHT = {
    "X": Frame.from_axes(z=(1, 0, 0), x=(0, 1, 0)),
    "Y": Frame.from_axes(z=(0, 1, 0), x=(0, 0, 1)),
    "Z": Frame(),
}


class Bodies:
    """The rigid bodies of a stage, by path and by name."""

    def __init__(
        self,
        prims: Iterable[Any],  # all prims of the stage
        units: Units,  # its units
        attributes: Attributes,  # reads the attributes
        report: Report,  # gets what is left out
    ) -> None:
        from pxr import UsdGeom

        self._units, self._attributes, self._report = units, attributes, report
        self._cache = UsdGeom.XformCache()
        self._placed: dict[str, Placed] = {}
        self.prims: dict[str, Any] = {}  # of bodies, by name
        self._names: dict[str, str] = {}  # by path
        self._colliders: dict[str, list[Any]] = {}  # by name of the body
        listed = list(prims)
        self._find(listed)
        for prim in listed:
            if prim.HasAPI("PhysicsCollisionAPI") and (body := self.owner(prim)) is not None:
                self._colliders.setdefault(body, []).append(prim)

    def _find(self, prims: list[Any]) -> None:
        found = [prim for prim in prims if prim.HasAPI("PhysicsRigidBodyAPI")]
        enabled = [prim for prim in found if self._attributes.flag(prim, "physics:rigidBodyEnabled", True)]
        for prim in found:
            if prim not in enabled:
                part_of = self._owner_among(prim, enabled)
                self._report.left_out(
                    f"body {prim.GetName()!r}",
                    "rigidBodyEnabled is false: it is part of "
                    + (f"body {part_of.GetName()!r}" if part_of else "the world"),
                )
        roots = [prim for prim in enabled if prim.HasAPI("PhysicsArticulationRootAPI")]
        for prim, name in zip(enabled, names_of(enabled), strict=True):
            self._names[str(prim.GetPath())] = name
        for prim in [*roots, *(prim for prim in enabled if prim not in roots)]:  # the first body is the base
            self.prims[self._names[str(prim.GetPath())]] = prim

    @staticmethod
    def _owner_among(prim: Any, bodies: list[Any]) -> Any:
        at = prim.GetParent()
        while at and at not in bodies:
            at = at.GetParent()
        return at

    def owner(self, prim: Any) -> str | None:
        """Return the name of the body to which a prim belongs; None: the world."""
        while prim and str(prim.GetPath()) not in self._names:
            prim = prim.GetParent()
        return self._names[str(prim.GetPath())] if prim else None

    def placed(self, prim: Any) -> Placed:
        """Return where a prim is."""
        path = str(prim.GetPath())
        if path not in self._placed:
            what = str(self._attributes.error(prim, "")).rstrip(": ")
            self._placed[path] = Placed(self._cache.GetLocalToWorldTransform(prim), self._units, what)
        return self._placed[path]

    def frame_of(self, name: str | None) -> Frame:
        """Return the pose of a body in the stage; that of the world is `Frame()`."""
        return Frame() if name is None else self.placed(self.prims[name]).frame

    def link(self, name: str) -> Link:
        """Return a body as a link, whose frame is that of its prim without scale."""
        prim = self.prims[name]
        mass, com, inertia = self._mass(prim, name, f"body {name!r}")
        return Link(name, mass, com, inertia)

    def _mass(self, prim: Any, name: str, label: str) -> MassProperties:
        values, units = self._attributes, self._units
        stated = values.number(prim, "physics:mass", 0.0) * units.mass
        density = values.number(prim, "physics:density", 0.0)
        diagonal = values.vector(prim, "physics:diagonalInertia") * units.torque
        centre = values.vector(prim, "physics:centerOfMass", (-np.inf,) * 3, finite=False)
        axes = values.get(prim, "physics:principalAxes")
        if stated < 0.0 or density < 0.0 or (diagonal < 0.0).any():
            raise values.error(prim, "mass, density and diagonalInertia must not be negative")
        has_centre = bool(np.isfinite(centre).all())
        whole = None
        if not (stated and diagonal.any() and has_centre):
            whole = self._from_shapes(prim, name, label, density, bool(stated), bool(diagonal.any()))
        mass = stated or (whole.mass if whole else 0.0)
        com = whole.com if whole else np.zeros(3)
        if has_centre:
            com = centre * self.placed(prim).scale * units.length
        if diagonal.any():
            rotation = Frame((0, 0, 0), None if axes is None else rotation_of(axes, f"{label}: principalAxes")).rotation
            return MassProperties(mass, com, rotation @ np.diag(diagonal) @ rotation.T)
        if whole is None:
            return MassProperties(mass, com, np.zeros((3, 3)))
        return MassProperties(mass, com, whole.scaled(mass).inertia)

    def _from_shapes(
        self, body: Any, name: str, label: str, density: float, has_mass: bool, has_inertia: bool
    ) -> MassProperties | None:
        """Return the properties of a body's colliders; None without colliders that are solids."""
        colliders = self._colliders.get(name, [])
        meshes = [str(prim.GetName()) for prim in colliders if prim.GetTypeName() not in _SOLIDS]
        if meshes and not has_inertia:
            raise self._attributes.error(
                body,
                f"its mass properties follow from {meshes[0]!r}, which is not opened: state mass, diagonalInertia "
                "and centerOfMass of the body",
            )
        if meshes or not colliders:
            lack = [what for what, has in (("mass", has_mass), ("inertia", has_inertia)) if not has]
            text = (
                f"it states no {' and '.join(lack)}, which are zero then"
                if lack
                else "its centre of mass is taken at its origin"
            )
            self._report.approximated(f"{label} > mass", f"{text}: state them to have them exactly")
            return None
        return shapes.joined(self._solid(prim, body, density) for prim in colliders)

    def _solid(self, prim: Any, body: Any, body_density: float) -> MassProperties:
        values, placed = self._attributes, self.placed(prim)
        own = values.number(prim, "physics:density", 0.0) if prim != body else 0.0
        per_volume = self._units.mass / self._units.length**3
        density = own or body_density or self._material_density(prim)
        solid = self._shape(prim, placed.scale * self._units.length, density * per_volume if density else _WATER)
        mass = values.number(prim, "physics:mass", 0.0) * self._units.mass if prim != body else 0.0
        if own < 0.0 or mass < 0.0:
            raise values.error(prim, "mass and density must not be negative")
        solid = solid.scaled(mass) if mass else solid
        return solid.placed(self.placed(body).frame.inverse() @ placed.frame)

    def _shape(self, prim: Any, scale: FloatArray, density: float) -> MassProperties:
        """Return the properties of a shape in its own axes; `scale` is m of its unit along each axis."""
        kind = str(prim.GetTypeName())
        if kind == "Cube":
            return shapes.box(self._length(prim, "size", 2.0) * scale, density)
        radius = self._length(prim, "radius", 1.0)
        axis = self._attributes.token(prim, "axis", "Z")
        if axis not in UPRIGHT:
            raise self._attributes.error(prim, f"axis must be X, Y or Z, not {axis!r}")
        along = scale["XYZ".index(axis)]
        others = scale if kind in ("Sphere", "Capsule") else np.delete(scale, "XYZ".index(axis))
        if np.ptp(others) > EVEN * others[0]:
            raise self._attributes.error(
                prim, f"the scale of this {kind} is uneven: state the mass properties of its body"
            )
        radius *= others[0]
        if kind == "Sphere":
            return shapes.ellipsoid([radius] * 3, density)
        length = self._length(prim, "height", 1.0 if kind == "Capsule" else 2.0) * along
        solid = {"Cylinder": shapes.cylinder, "Capsule": shapes.capsule, "Cone": shapes.cone}[kind]
        return solid(radius, length, density).placed(UPRIGHT[axis])

    def _length(self, prim: Any, name: str, default: float) -> float:
        value = self._attributes.number(prim, name, default)
        if value <= 0.0:
            raise self._attributes.error(prim, f"{name} is {value:g}: give a length above 0")
        return value

    def _material_density(self, prim: Any) -> float:
        from pxr import UsdShade

        material, _ = UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial("physics")
        return self._attributes.number(material.GetPrim(), "physics:density", 0.0) if material else 0.0


def names_of(prims: list[Any]) -> list[str]:
    """Return the names of prims, or their paths where several have the same name."""
    names = [str(prim.GetName()) for prim in prims]
    return [
        name if names.count(name) == 1 else str(prim.GetPath()).lstrip("/")
        for name, prim in zip(names, prims, strict=True)
    ]
