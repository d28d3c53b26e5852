"""Reading of USD files: the stage, gravity, bodies and joints, as a robot.

A stage is opened only where every file it is composed of lies in the folder of the first.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from linkwork._util.checks import FloatArray, shortened
from linkwork._util.optional import optional_import
from linkwork.errors import MechanismError
from linkwork.formats.joint_graph import connected_sets
from linkwork.formats.report import Report
from linkwork.formats.robot import Robot, RobotJoint
from linkwork.formats.usd.attributes import Attributes
from linkwork.formats.usd.bodies import EVEN, UPRIGHT, Bodies, names_of
from linkwork.formats.usd.joints import JOINTS, JointReader
from linkwork.formats.usd.units import Units
from linkwork.formats.visuals import REMEDY, add_shape, colour_of
from linkwork.mechanism import Fixed, shape
from linkwork.mechanism.shapes import Shape

_GRAVITY = 9.81  # m/s^2, where a scene states none

_READ_AS_FRAMES = ("", "Xform", "Scope")
_SHAPES = ("Cube", "Sphere", "Cylinder", "Capsule", "Cone", "Mesh", "Plane", "Points")
_GENERAL = ("xformOp", "purpose", "visibility", "proxyPrim", "extent", "doubleSided", "orientation", "primvars:")
_CONTACT = ("physics:filteredPairs", "physics:simulationOwner", "physics:startsAsleep", "material:binding")


def read(path: Path, *, root: Path | None = None) -> Robot:
    """Read a USD file, .usda, .usdc or .usd, with bodies and joints of USD Physics.

    Links and joints have the names of their prims, or their paths where several have the same name. Poses, gravity and
    all else are in stage axes, whichever of them is up; lengths and masses are converted to m and kg. Where the stage
    has the bodies in poses that fit the joints, these are the start.

    Parameters
    ----------
    path
        The file.
    root
        A folder around it: layers that it names are read from there, and from nowhere else. None: the folder of the
        file.

    Returns
    -------
    Robot
        Its base is free unless a joint holds it.
    """
    path = Path(path)
    report = Report(str(path), "USD")
    stage = open_stage(path, report, root)
    with usd_errors(path):
        return _Reader(path, stage, report).read()


class _Reader:
    """The state of one reading."""

    def __init__(self, path: Path, stage: Any, report: Report) -> None:
        from pxr import Usd, UsdGeom, UsdPhysics

        self.path, self.stage = path, stage
        self.robot = Robot(path.stem, report, base="free")
        self.attributes = Attributes(str(path))
        self.units = Units(UsdGeom.GetStageMetersPerUnit(stage), UsdPhysics.GetStageKilogramsPerUnit(stage))
        if not all(math.isfinite(unit) and unit > 0.0 for unit in (self.units.length, self.units.mass)):
            raise MechanismError(f"{path}: metersPerUnit and kilogramsPerUnit must be above 0")
        self.up = str(UsdGeom.GetStageUpAxis(stage))
        self.prims = []
        for prim in stage.Traverse(Usd.TraverseInstanceProxies()):
            self.prims.append(prim)
            if len(self.prims) > MAX_PRIMS:
                raise MechanismError(f"{path}: more than {MAX_PRIMS} prims, which no robot needs")

    def read(self) -> Robot:
        robot = self.robot
        default = self.stage.GetDefaultPrim()
        if default:
            robot.name = str(default.GetName())
        robot.gravity = self._gravity()
        bodies = Bodies(self.prims, self.units, self.attributes, robot.report)
        if not bodies.prims:
            raise MechanismError(f"{self.path}: no prim has PhysicsRigidBodyAPI: there is nothing to read")
        for name, prim in bodies.prims.items():
            robot.links[name] = bodies.link(name)
            self._add_body_states(name, prim, bodies)
        joints = JointReader(robot, bodies, self.units, self.attributes)
        found = [prim for prim in self.prims if prim.GetTypeName() in JOINTS]
        for prim, name in zip(found, names_of(found), strict=True):
            joints.read(prim, name)
        joints.couple()
        self._place_bases(bodies)
        self._report_rest(bodies)
        return robot

    def _gravity(self) -> FloatArray:
        """Return the gravity of the first scene; without one, that of USD."""
        up = {"X": (1.0, 0, 0), "Y": (0, 1.0, 0), "Z": (0, 0, 1.0)}[self.up]
        direction, size = -np.array(up), _GRAVITY
        scenes = [prim for prim in self.prims if prim.GetTypeName() == "PhysicsScene"]
        for scene in scenes[1:]:
            self.attributes.skip(scene, "")
            self.robot.report.left_out(f"PhysicsScene {scene.GetName()!r}", "gravity is that of the first scene")
        if scenes:
            stated = self.attributes.vector(scenes[0], "physics:gravityDirection")
            if stated.any():
                direction = stated / np.linalg.norm(stated)
            magnitude = self.attributes.number(scenes[0], "physics:gravityMagnitude", -math.inf, finite=False)
            if magnitude == math.inf:
                raise self.attributes.error(scenes[0], "physics:gravityMagnitude must be finite")
            if magnitude >= 0.0:
                size = magnitude * self.units.length
            if not self.attributes.flag(scenes[0], "newton:gravityEnabled", True):
                size = 0.0
        if self.up != "Z":
            self.robot.report.taken("upAxis", f"{self.up}: poses stay in stage axes, and gravity is in these")
        return direction * size

    def _add_body_states(self, name: str, prim: Any, bodies: Bodies) -> None:
        """Hold kinematic bodies; report what else a body states."""
        label = f"body {name!r}"
        if self.attributes.flag(prim, "physics:kinematicEnabled", False):
            joint = f"{name}_kinematic"
            self.robot.joints[joint] = RobotJoint(
                joint, Fixed(), None, name, bodies.frame_of(name), element=f"{label}, which is kinematic"
            )
            self.robot.report.approximated(f"{label} > kinematicEnabled", "it is held where the stage has it")
        for key in ("physics:velocity", "physics:angularVelocity"):
            if self.attributes.vector(prim, key).any():
                self.robot.report.left_out(f"{label} > {key}", "start speeds are arguments of simulate()")
        if self.attributes.authored(prim, "physxRigidBody:disableGravity"):
            self.robot.report.left_out(
                f"{label} > physxRigidBody:disableGravity", "gravity acts on it as on all bodies"
            )

    def _add_shape(self, prim: Any, label: str, bodies: Bodies) -> None:
        """Add a shape to its body, or to the world."""
        owner = bodies.owner(prim)
        shapes = self.robot.shapes if owner is None else self.robot.links[owner].shapes
        add_shape(shapes, self.robot.report, label, lambda: shape_of(prim, bodies, self.units, self.attributes))

    def _place_bases(self, bodies: Bodies) -> None:
        """Give the first body of each connected set that floats its pose in the stage; others follow by joints."""
        for first, *_ in connected_sets((None, *self.robot.links), list(self.robot.joints.values())):
            if first is not None:
                self.robot.links[first].pose = bodies.frame_of(first)

    def _report_rest(self, bodies: Bodies) -> None:
        """Report prims of other types, and what those that were read state besides."""
        owners = {str(prim.GetPath()): f"body {name!r}" for name, prim in bodies.prims.items()}
        for prim in self.prims:
            kind, path = str(prim.GetTypeName()), str(prim.GetPath())
            label = owners.get(path, f"{kind} {prim.GetName()!r}".strip())
            if kind in _SHAPES:
                if prim.HasAPI("PhysicsCollisionAPI"):
                    self.robot.report.left_out(
                        f"{label} > contact", "there are no contacts: bodies pass through each other"
                    )
                self._add_shape(prim, label if path not in owners else f"{label} > {kind}", bodies)
                if path not in owners:
                    continue
            elif kind in JOINTS or kind == "PhysicsScene":
                pass
            elif kind not in _READ_AS_FRAMES:
                self.robot.report.left_out(label, "it is no body and no joint")
                continue
            self.attributes.skip(prim, *_GENERAL)
            for name in prim.GetAuthoredPropertyNames():
                if name.startswith(_CONTACT):
                    self.attributes.skip(prim, name)
                    self.robot.report.left_out(f"{label} > {name}", "there are no contacts")
            if path in owners or kind in JOINTS or kind == "PhysicsScene" or not kind.startswith("Xf"):
                self.attributes.report_unread(prim, label, self.robot.report)


KINDS = ("Cube", "Sphere", "Cylinder", "Capsule")


def shape_of(prim: Any, bodies: Bodies, units: Units, attributes: Attributes) -> Shape:
    """Return a prim as a shape in the frame of its body."""
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


MAX_BYTES = 64_000_000
MAX_DEPTH = 200
MAX_LAYERS = 500
MAX_PRIMS = 300_000

_TEXT = b"#usda"
_STRINGS = re.compile(rb'"""(?:[^\\]|\\.)*?"""|"(?:[^"\\\n]|\\.)*"|#[^\n]*', re.DOTALL)


def open_stage(
    # The file. Layers that it names are sublayers, references and payloads; those that are missing are reported.
    path: Path,
    report: Report,  # gets an entry for each missing layer
    root: Path | None = None,  # in which they must lie, or in a folder in it; None: the folder of the file
) -> Any:
    """Open a USD file.

    Returns
    -------
    Usd.Stage
        At its default time, with all payloads loaded.
    """
    with optional_import("USD files", "usd-core", "usd"):
        from pxr import Usd
    if path.suffix == ".usdz":
        raise MechanismError(
            f"{path}: packages .usdz are not opened: unpack it, it is a ZIP file, and read its .usd file"
        )
    with path.open("rb"):
        pass  # an OSError names the file, where USD would only say that it did not open
    with usd_errors(path):
        _check_layers(path.resolve(), report, root)
        stage = Usd.Stage.Open(str(path.resolve()))
    if stage is None:
        raise MechanismError(f"{path}: USD cannot open it")
    return stage


@contextmanager
def usd_errors(path: Path) -> Iterator[None]:
    """Raise errors of USD as MechanismError, with the name of the file."""
    from pxr import Tf

    try:
        yield
    except Tf.ErrorException as error:
        raise MechanismError(f"{path}: no USD file: {_reason(error)}") from None


def _check_layers(first: Path, report: Report, root: Path | None) -> None:
    """Follow the names of layers, composing nothing, and refuse what is not in the folder."""
    from pxr import Ar, Sdf

    folder, resolver = first.parent if root is None else root.resolve(), Ar.GetResolver()
    seen, waiting = {first}, [first]
    composed = 0
    while waiting:
        file = waiting.pop()
        _check_text(file)
        layer = Sdf.Layer.FindOrOpen(str(file))
        if layer is None:
            raise MechanismError(f"{file}: USD cannot open it")
        composed += _count_arcs(layer)
        if composed > MAX_PRIMS:
            raise MechanismError(f"{file}: more than {MAX_PRIMS} references, which no robot needs")
        for asset in sorted(layer.GetCompositionAssetDependencies()):
            if not asset:
                continue
            where = f"{file}: the layer {shortened(asset)}"
            name, arguments = Sdf.Layer.SplitIdentifier(asset)
            if "://" in name or arguments or "[" in name:
                raise MechanismError(f"{where} is not opened: put a file of its own into {folder}, and name that")
            found = resolver.Resolve(resolver.CreateIdentifier(name, layer.resolvedPath)).GetPathString()
            place = Path(found or file.parent / name).resolve()
            if not place.is_relative_to(folder):
                raise MechanismError(f"{where} lies outside {folder}, and no other files are opened: {REMEDY}")
            if not found:
                report.left_out(f"layer {asset!r}", f"there is no such file in {folder}; what it describes is missing")
            elif place not in seen:
                seen.add(place)
                waiting.append(place)
                if len(seen) > MAX_LAYERS:
                    raise MechanismError(f"{first}: more than {MAX_LAYERS} layers, which no robot needs")


def _check_text(file: Path) -> None:
    """Refuse files that are too large, and texts nested so deep that the parser would not come back."""
    size = file.stat().st_size
    if size > MAX_BYTES:
        raise MechanismError(f"{file}: {size / 1e6:.0f} MB; at most {MAX_BYTES / 1e6:.0f} MB are read")
    with file.open("rb") as stream:
        if stream.read(len(_TEXT)) != _TEXT:
            return
        text = _STRINGS.sub(b"", stream.read())
    depth = deepest = 0
    for bracket in re.findall(rb"[\[({})\]]", text):
        depth += 1 if bracket in b"[({" else -1
        deepest = max(deepest, depth)
    if deepest > MAX_DEPTH:
        raise MechanismError(f"{file}: nested in more than {MAX_DEPTH} levels, which no robot needs")


def _count_arcs(layer: Any) -> int:
    """Count the prims that a layer composes from its own ones: references to itself multiply them."""
    from pxr import Sdf

    arcs: dict[str, list[str]] = {}

    def visit(path: Any) -> None:
        if not path.IsPrimPath() and not path.IsPrimVariantSelectionPath():
            return
        spec = layer.GetPrimAtPath(path)
        if spec is None:
            return
        targets = [child.path for child in spec.nameChildren]
        for listed in (spec.referenceList, spec.payloadList):
            items = [*listed.prependedItems, *listed.appendedItems, *listed.addedItems, *listed.explicitItems]
            targets += [
                item.primPath or layer.GetPrimAtPath(Sdf.Path.absoluteRootPath.AppendChild(layer.defaultPrim)).path
                for item in items
                if not item.assetPath and (item.primPath or layer.defaultPrim)
            ]
        for listed in (spec.inheritPathList, spec.specializesList):
            targets += [*listed.prependedItems, *listed.appendedItems, *listed.addedItems, *listed.explicitItems]
        arcs[str(path)] = [str(target) for target in targets]

    layer.Traverse(Sdf.Path.absoluteRootPath, visit)
    return _expanded(arcs)


def _expanded(arcs: dict[str, list[str]]) -> int:
    """Return how many prims there are when every arc brings a copy of its target; circles end at themselves."""
    sizes: dict[str, int] = {}
    for start in arcs:
        stack = [(start, False)]
        on_way: set[str] = set()
        while stack:
            name, done = stack.pop()
            if done:
                on_way.discard(name)
                sizes[name] = min(MAX_PRIMS + 1, 1 + sum(sizes.get(target, 1) for target in arcs.get(name, ())))
            elif name not in sizes and name not in on_way:
                on_way.add(name)
                stack.append((name, True))
                stack += [(target, False) for target in arcs.get(name, ()) if target not in sizes]
    return max(sizes.values(), default=0)


def _reason(error: Exception) -> str:
    """Return the text of an error of USD without the places in its source."""
    found = re.findall(r": '(.*?)'\s*(?:$|\n)", str(error), re.DOTALL)
    return shortened(found[0] if found else str(error).strip())
