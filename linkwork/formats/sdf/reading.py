"""Reading of SDF files: worlds, models and files they include, masses and visuals of links, as a robot."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np

from linkwork._util.checks import shortened
from linkwork.errors import MechanismError
from linkwork.formats import shapes
from linkwork.formats.report import Report
from linkwork.formats.robot import Link, Robot, RobotJoint
from linkwork.formats.sdf.joints import JointReader
from linkwork.formats.sdf.scopes import MODEL, WORLD, Place, Scope, pose_element
from linkwork.formats.sdf.values import flag_attribute, flag_in, number_in, text_in
from linkwork.formats.shapes import MassProperties
from linkwork.formats.visuals import REMEDY, TEXTURE, TRANSPARENT, MeshFiles, add_shape, colour_of
from linkwork.formats.xml_tree import Element, read_xml
from linkwork.mechanism import Fixed, Frame, shape
from linkwork.mechanism.shapes import Shape

_OLDEST, _NEWEST = 4, 12  # minor versions of SDF 1
_GRAVITY = (0.0, 0.0, -9.8)  # of a world that states none

_CONTACT = "there are no contacts: bodies pass through each other"
_LOOKS = "it has no effect on the motion"
_SENSOR = "any variable of the result can be measured: name it there"
_PROGRAM = "the program it names does not run; what it did to the motion is missing"
_WIND = "there is no air"

_REST_OF_WORLD = {
    "audio": _LOOKS,
    "gui": _LOOKS,
    "scene": _LOOKS,
    "light": _LOOKS,
    "road": _LOOKS,
    "magnetic_field": "only sensors notice it",
    "spherical_coordinates": "only sensors notice it",
    "atmosphere": _WIND,
    "wind": _WIND,
    "plugin": _PROGRAM,
    "actor": "it moves by a script and is in contact with nothing",
    "population": "it stands for models placed at random: write them in full",
    "state": "it is a record of a simulation; the start is the pose of the models",
    "physics": "it sets up another engine; solver and step size are arguments of simulate()",
}
_REST_OF_MODEL = {
    "plugin": _PROGRAM,
    "gripper": _CONTACT,
    "self_collide": _CONTACT,
    "allow_auto_disable": "a body at rest is not switched off",
    "enable_wind": _WIND,
    "state": "it is a record of a simulation; the start is the pose of the links",
}
_REST_OF_LINK = {
    "collision": _CONTACT,
    "self_collide": _CONTACT,
    "sensor": _SENSOR,
    "light": _LOOKS,
    "projector": _LOOKS,
    "audio_sink": _LOOKS,
    "audio_source": _LOOKS,
    "particle_emitter": _LOOKS,
    "battery": _LOOKS,
    "enable_wind": _WIND,
    "velocity_decay": "it damps the link's motion in the world, which slows it",
    "must_be_base_link": "the base follows from the joints",
}


def read(path: Path, *, root: Path | None = None) -> Robot:
    """Read an SDF file, 1.4 to 1.12, with one world or one or more models.

    Names of links and joints are those of the file where it has one model, and "model::link" where it has more. Names
    in nested models are "nested::link".

    Parameters
    ----------
    path
        The file.
    root
        A folder around it: what it includes is read from there, and from nowhere else. None: the folder of the file.

    Returns
    -------
    Robot
        Its base is free; static models are fixed to the world. Coordinates are zero in the poses of the file.
    """
    return _Reader(Path(path), root).read()


class _Reader:
    """The state of one reading: the robot so far, included files, what is left out."""

    def __init__(self, path: Path, root: Path | None) -> None:
        self.path = path
        self.report = Report(str(path), "SDF")
        self.robot = Robot(path.stem, self.report, base="free")
        self.includes = Includes(path, root)
        self.files = MeshFiles(path, root)
        self.roots: list[Element] = []
        self.joints = JointReader(self.robot)

    def read(self) -> Robot:
        root = read_xml(self.path, "sdf")
        self.roots.append(root)
        world = self._world(root)
        self._add_links(world)
        self._add_joints(world)
        self.joints.couple()
        for one in self.roots:
            one.report_unread(self.report)
        return self.robot

    def _world(self, root: Element) -> Scope:
        """Return the scope of the world, which a file of models only has not."""
        version = self._version(root)
        world = root.child("world")
        files = (self.path.resolve(),)
        if world is not None:
            for model in root.children("model"):
                raise model.error("a model stands next to the world: move it into the world")
            self.robot.name = world.attribute("name", self.robot.name)
            self.robot.gravity = self._gravity(world, version)
            self._leave_out(world, f"world {self.robot.name!r}", _REST_OF_WORLD)
        scope = Scope(world or root, version, WORLD, "", static=False, depth=0)
        models = scope.element.children("model", "include")
        if not models and world is None:
            raise root.error("it has no model: there is nothing to read")
        self._leave_out(root, "", {"light": _LOOKS, "actor": _REST_OF_WORLD["actor"]})
        self._fill(scope, files, alone=len(models) == 1)
        if len(scope.models) == 1:
            self.robot.name = next(iter(scope.models))
        return scope

    def _version(self, root: Element) -> int:
        """Return the minor version of a file."""
        text = root.attribute("version")
        found = re.fullmatch(r"1\.(\d{1,3})", text)
        if not found or int(found[1]) < _OLDEST:
            raise root.error(f"versions 1.{_OLDEST} to 1.{_NEWEST} are read, not {text!r}: convert it with `gz sdf -p`")
        minor = int(found[1])
        if minor > _NEWEST:
            self.report.approximated(f"sdf version {text}", f"read as if it were 1.{_NEWEST}, the newest that is known")
        return minor

    def _gravity(self, world: Element, version: int) -> np.ndarray:
        # Up to SDF 1.5 it is an element of physics.
        physics = world.children("physics")
        gravity = world.child("gravity")
        if gravity is None and version < 6 and physics:
            gravity = physics[0].child("gravity")
        if gravity is None:
            self.report.taken("world > gravity", f"there is none, for which SDF has {_GRAVITY[2]} m/s^2 along z")
            return np.array(_GRAVITY)
        return gravity.text_vector(3)

    # ---- scopes ----

    def _fill(self, scope: Scope, files: tuple[Path, ...], alone: bool = False) -> None:
        """Declare the links, joints, frames and models of a scope; `alone`: the names of its model need no prefix."""
        kinds = ("link", "joint", "frame", "model", "include")
        for element in scope.element.children(*(kinds if scope.own == MODEL else kinds[1:])):
            if element.tag == "include":
                self._include(scope, element, files, alone)
                continue
            name = element.attribute("name")
            pose, relative_to = pose_element(element)
            if element.tag == "model":
                prefix = scope.prefix if alone else f"{scope.prefix}{name}::"
                static = scope.static or flag_in(element, "static")
                inner = Scope(element, scope.version, MODEL, prefix, static=static, depth=scope.depth + 1)
                self._fill(inner, files)
                placement = element.attribute("placement_frame", "")
                place = Place("model", element, pose, relative_to or scope.own, inner=inner, placement=placement)
            elif element.tag == "frame":
                attached = element.attribute("attached_to", "")
                place = Place("frame", element, pose, relative_to or attached or scope.own, attached)
            elif element.tag == "joint":
                child = element.required("child").text()
                if child == WORLD:
                    raise element.error("its child is the world: exchange parent and child, and turn the axis round")
                place = Place("joint", element, pose, relative_to or child, child)
            else:
                place = Place("link", element, pose, relative_to or scope.own)
            scope.add(name, place)
        if scope.own == MODEL:
            self._leave_out(scope.element, f"model {scope.element.attribute('name')!r}", _REST_OF_MODEL)
            scope.element.attribute("namespace", "")

    def _include(self, scope: Scope, include: Element, files: tuple[Path, ...], alone: bool) -> None:
        """Declare an included model."""
        uri = include.required("uri").text()
        label = f"include {uri!r}"
        found = self.includes.read(include, files)
        if isinstance(found, str):
            include.skip()
            self.report.left_out(label, found)
            scope.missing.append(f"{label} is missing: {found}")
            return
        root, within = found
        models = root.children("model")
        if len(models) != 1:
            if models or root.child("world") is not None:
                raise include.error(f"{within[-1].name} must have one model, and no world: include files of one model")
            include.skip()
            root.skip()
            self.report.left_out(label, _LOOKS)
            return
        self.roots.append(root)
        model, version = models[0], self._version(root)
        name = text_in(include, "name") or model.attribute("name")
        merged = flag_attribute(include, "merge")
        prefix = scope.prefix if alone or merged else f"{scope.prefix}{name}::"
        static = scope.static or flag_in(include, "static", flag_in(model, "static"))
        inner = Scope(model, version, MODEL, prefix, static=static, depth=scope.depth + 1)
        inner.merged = merged
        self._fill(inner, within)
        own, own_relative = pose_element(model)
        given, relative_to = pose_element(include)
        placed = include.child("pose") is not None
        placement = text_in(include, "placement_frame") or model.attribute("placement_frame", "")
        self._leave_out(include, label, {"plugin": _PROGRAM, "state": _REST_OF_MODEL["state"]})
        text_in(include, "namespace")
        if own_relative and not placed:
            raise model.error(f"its pose is relative to {own_relative!r}, which is not in its file")
        scope.add(
            name,
            Place(
                "model", include, given if placed else own, relative_to or scope.own, inner=inner, placement=placement
            ),
        )

    # ---- links and joints ----

    def _add_links(self, scope: Scope) -> None:
        for name, place in scope.places.items():
            pose = scope.world_pose @ scope.pose(name, place.element)
            if place.inner is not None:
                place.inner.world_pose = pose
                self._add_links(place.inner)
            elif place.kind == "link":
                self._add_link(scope, scope.prefix + name, place.element, pose)

    def _add_link(self, scope: Scope, name: str, element: Element, pose: Frame) -> None:
        label = f"link {name!r}"
        if name in self.robot.links:
            raise element.error(f"two links have the name {name!r} in the whole file: rename one")
        mass, com, inertia = inertial(element, label, self.report)
        shapes = visuals(element, label, self.files, self.report)
        self.robot.links[name] = Link(name, mass, com, inertia, pose, shapes)
        if scope.static:
            joint = f"{name}_static"
            self.robot.joints[joint] = RobotJoint(joint, Fixed(), None, name, pose, element=f"{label}, which is static")
        elif not flag_in(element, "gravity", True):
            self.report.left_out(
                f"{label} > gravity", f"it is false, but gravity acts on this link as well: {mass:g} kg"
            )
        if flag_in(element, "kinematic"):
            self.report.left_out(f"{label} > kinematic", "the link moves as its joints let it")
        self._leave_out(element, label, _REST_OF_LINK)

    def _add_joints(self, scope: Scope) -> None:
        for joint in scope.element.children("joint"):
            if scope.static:
                name = scope.prefix + joint.attribute("name")
                joint.skip()
                self.report.left_out(f"joint {name!r}", "its model is static, and none of its links moves")
            else:
                self.joints.read(scope, joint)
        for inner in scope.models.values():
            self._add_joints(inner)

    def _leave_out(self, element: Element, owner: str, reasons: dict[str, str]) -> None:
        """Report children of an element that have a reason to be left out; flags that are off are no news."""
        for child in element.children(*reasons):
            off = child.text().lower() in ("false", "0")
            child.skip()
            if not off:
                self.report.left_out(f"{owner} > {child.tag}", reasons[child.tag])


MAX_INCLUDES = 1000
_CATALOGUES = ("model://", "package://")  # both name a folder in a path of search


class Includes:
    """Reads included files.

    Parameters
    ----------
    path
        The file that is read.
    root
        In which what it includes must lie; None: the folder of the file, which may hold others.
    """

    def __init__(self, path: Path, root: Path | None = None) -> None:
        self._folder = path.resolve().parent
        self._root = self._folder if root is None else root.resolve()
        self._count = 0

    def read(self, include: Element, within: tuple[Path, ...]) -> tuple[Element, tuple[Path, ...]] | str:
        """Return the root of an included file, and the files on the way to it; or why it cannot be had.

        Parameters
        ----------
        include
            The element.
        within
            The file it is in, after those through which that one is included.
        """
        uri = include.required("uri")
        found = self._locate(uri, uri.text(), within[-1])
        if isinstance(found, str):
            return found
        if found in within:
            raise include.error(f"{found.name} includes itself: take one of the elements away")
        self._count += 1
        if self._count > MAX_INCLUDES:
            raise include.error(f"more than {MAX_INCLUDES} files are included")
        try:
            return read_xml(found, "sdf"), (*within, found)
        except OSError as error:
            raise uri.error(f"cannot be read: {error}") from None

    def _locate(self, uri: Element, text: str, file: Path) -> Path | str:
        """Return the file of a URI, or why it is not available."""
        catalogue = next((start for start in _CATALOGUES if text.startswith(start)), "")
        if catalogue:
            found = self._inside(uri, self._folder / text[len(catalogue) :].strip("/"))
            if not found.exists():
                return f"there is no folder {found.name!r} in {self._folder}: put it there to have it"
        elif text.startswith("file://"):
            found = self._inside(uri, Path(text[len("file://") :]))
        elif "://" in text:
            return "nothing is loaded from the network: download it, and include the file"
        elif not text:
            raise uri.error("it is empty: name a file")
        else:
            found = self._inside(uri, file.parent / text)
        try:
            if found.is_dir():
                found = self._inside(uri, self._in_folder(found))
            if not found.is_file():
                raise uri.error(f"there is no file {shortened(text)} in {self._folder}")
        except OSError as error:
            raise uri.error(f"cannot be read: {error}") from None
        return found

    def _inside(self, uri: Element, path: Path) -> Path:
        """Return the path without links and dots, which must lie in the folder."""
        try:
            resolved = path.resolve()
        except (OSError, ValueError, RuntimeError) as error:
            raise uri.error(f"is no path: {error}") from None
        if not resolved.is_relative_to(self._root):
            text = shortened(uri.text())
            raise uri.error(f"{text} lies outside {self._root}, and no other files are opened: {REMEDY}")
        return resolved

    @staticmethod
    def _in_folder(folder: Path) -> Path:
        """Return the SDF file of a model's folder: that of the newest version that model.config names."""
        config = folder / "model.config"
        if not config.is_file():
            return folder / "model.sdf"
        named = read_xml(config, "model").children("sdf")
        if not named:
            return folder / "model.sdf"
        return folder / max(named, key=_version).text()


def _version(sdf: Element) -> tuple[int, ...]:
    parts = sdf.attribute("version", "0").split(".")
    return tuple(int(part) if part.isdecimal() and len(part) < 4 else 0 for part in parts)


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


_TEXTURED = ("script", "pbr", "shader")  # of a material, which need textures or programs


def visuals(link: Element, label: str, files: MeshFiles, report: Report) -> list[Shape]:
    """Return the shapes of a link."""
    shapes: list[Shape] = []
    for visual in link.children("visual"):
        element = f"{label} > visual"
        add_shape(shapes, report, element, lambda visual=visual: _shape(visual, files))  # type: ignore[misc]
        for material in visual.children("material"):
            for look in material.children(*_TEXTURED):
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
