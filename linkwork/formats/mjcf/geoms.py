"""Geoms of an MJCF file as shapes: what MuJoCo's viewer shows by default.

Meshes are not compiled unless an inertia depends on them: a ball takes the place of the others, which gives their frame
and needs no file. MuJoCo centres and turns the vertices of a mesh that it compiles, which is undone here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.errors import MechanismError
from linkwork.formats.mjcf.named import NamedModel, frame
from linkwork.formats.report import Report
from linkwork.formats.robot import Robot
from linkwork.formats.visuals import TEXTURE, MeshFiles, add_shape, colour_of
from linkwork.mechanism import shape
from linkwork.mechanism.shapes import Shape, Size

if TYPE_CHECKING:
    from mujoco import MjSpec

HIDDEN = 3  # the first of the groups of geoms that MuJoCo's viewer does not show by default
_PLAIN = (0.5, 0.5, 0.5, 1.0)  # MuJoCo's colour where none is stated
CONTACT = "Linkwork does not model contact: bodies pass through each other"


@dataclass
class Look:
    """What is noted of a geom before the model is compiled."""

    geom: Any  # of the specification; its `id` is the number in the compiled model
    rgba: tuple[float, ...] | None  # its colour; None: none is stated
    mesh: tuple[str, str, Size] | None = None  # file, folder and scale of its mesh; None: it is of another kind
    stands_in: bool = False  # whether a ball takes its place
    refused: str = ""  # why it is not shown; "": it is


def looks_of(mujoco: Any, spec: MjSpec, report: Report) -> list[Look]:
    """Return the looks of all geoms, and report the materials; it must be called before these are deleted."""
    colours: dict[str, tuple[float, ...]] = {}
    for material in spec.materials:
        colours[material.name] = tuple(float(one) for one in material.rgba)
        report.taken(f"material {material.name!r}", "colour of shapes")
        if any(material.textures):
            report.left_out(f"material {material.name!r} > texture", TEXTURE)
    meshes = {mesh.name or Path(mesh.file).stem: mesh for mesh in spec.meshes}
    return [_look(mujoco, geom, colours, meshes) for geom in spec.geoms]


def _look(mujoco: Any, geom: Any, colours: dict[str, tuple[float, ...]], meshes: dict[str, Any]) -> Look:
    rgba: tuple[float, ...] | None = tuple(float(one) for one in geom.rgba)
    if rgba == _PLAIN:
        rgba = colours.get(geom.material)
    look = Look(geom, rgba)
    if geom.group >= HIDDEN:
        look.refused = f"group {geom.group} is hidden in MuJoCo's viewer, as shapes for contact are"
    elif geom.type == mujoco.mjtGeom.mjGEOM_MESH:
        mesh = meshes.get(geom.meshname)
        if mesh is None or not mesh.file:
            look.refused = "its mesh is not in a file of its own"
        elif np.any(mesh.refpos) or np.any(np.asarray(mesh.refquat) != (1.0, 0.0, 0.0, 0.0)):
            look.refused = "refpos and refquat of meshes are not read"
        else:
            x, y, z = (float(one) for one in mesh.scale)
            look.mesh = mesh.file, (geom.compiler or mesh.compiler).meshdir, (x, y, z)
    elif geom.meshname:
        look.refused = "it is fitted to a mesh"
    return look


def take_place(mujoco: Any, look: Look) -> None:
    """Put a weightless ball in the place of a mesh, so that no file is needed."""
    geom = look.geom
    geom.type, geom.meshname, geom.size, geom.mass = mujoco.mjtGeom.mjGEOM_SPHERE, "", [1.0, 0.0, 0.0], 0.0
    look.stands_in = True


def add_geoms(named: NamedModel, robot: Robot, looks: list[Look], files: MeshFiles) -> None:
    """Add the shapes of all geoms to their links, or to the world."""
    model = named.model
    for look in looks:
        name = named.bodies[int(model.geom_bodyid[look.geom.id])]
        own = f"geom {look.geom.name!r}" if look.geom.name else "geom"
        label = own if look.geom.name else f"{'world' if name is None else f'body {name!r}'} > geom"
        shapes = robot.shapes if name is None else robot.links[name].shapes
        add_shape(shapes, named.report, label, lambda look=look: _shape(named, look, files))  # type: ignore[misc]
        if model.geom_contype[look.geom.id] or model.geom_conaffinity[look.geom.id]:
            named.report.left_out(f"{label} > contact", CONTACT)


def _shape(named: NamedModel, look: Look, files: MeshFiles) -> Shape:
    if look.refused:
        raise MechanismError(look.refused)
    model, number, types = named.model, look.geom.id, named.mujoco.mjtGeom
    colour = None if look.rgba is None else colour_of(*look.rgba)
    size: Any = model.geom_size[number].tolist()
    place = frame(model.geom_pos[number], model.geom_quat[number])
    if look.mesh is not None:
        if not look.stands_in:
            mesh = int(model.geom_dataid[number])
            place = place @ frame(model.mesh_pos[mesh], model.mesh_quat[mesh]).inverse()
        return shape.mesh(_found(files, look.mesh), scale=look.mesh[2], frame=place, colour=colour)
    kind = int(model.geom_type[number])
    if kind == types.mjGEOM_BOX:
        return shape.box(tuple(2.0 * one for one in size), frame=place, colour=colour)
    if kind == types.mjGEOM_SPHERE:
        return shape.sphere(size[0], frame=place, colour=colour)
    if kind in (types.mjGEOM_CYLINDER, types.mjGEOM_CAPSULE):
        made = shape.cylinder if kind == types.mjGEOM_CYLINDER else shape.capsule
        return made(size[0], 2.0 * size[1], frame=place, colour=colour)
    name = named.mujoco.mjtGeom(kind).name.removeprefix("mjGEOM_").lower()
    raise MechanismError(f"{name!r} is not shown: shapes are boxes, cylinders, capsules, spheres and meshes")


def _found(files: MeshFiles, mesh: tuple[str, str, Size]) -> str:
    """Return the file of a mesh, which is in the folder of meshes or in that of the model."""
    problem: MechanismError | None = None
    for text in _places(*mesh[:2]):
        try:
            return files.find(text)
        except MechanismError as error:
            problem = problem or error
    assert problem is not None
    raise problem


def _places(file: str, folder: str) -> Iterator[str]:
    if folder:
        yield (Path(folder) / file).as_posix()
    yield file
