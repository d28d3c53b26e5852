"""The scene of a mechanism, from its description and the numbers of its compiled model.

A solid box of mass m and principal moments J1, J2, J3 about its middle has the edges

    a1^2 = 6 (J2 + J3 - J1) / m

and likewise a2, a3: the equimomental box of a body, which has the same mass and inertia.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork._util.part_names import suffixes
from linkwork._util.rotations import conjugate, product, quaternions_of, rotate
from linkwork.core.native import ASSEMBLY_TOLERANCE
from linkwork.core.plan import CAPTURED_PARENT
from linkwork.errors import LinkworkError
from linkwork.mechanism import GROUND, Joint, Mechanism, Pin, Release, Wrench
from linkwork.mechanism.forces import ForceAlongLine, ForceBetweenBodies, ForceBetweenFrames, by_kind
from linkwork.mechanism.formula_forces import ByFormulaAlongLine, ByFormulaAtPoint, ByFormulaOnJoints
from linkwork.mechanism.friction import Brake
from linkwork.mechanism.springs import PointSpringDamper
from linkwork.mechanism.tendons import Tendon
from linkwork.view import payload
from linkwork.view.meshes import ShapeTable

if TYPE_CHECKING:
    from linkwork.model.model import Model

GUIDE_REACH = 2.0  # sizes of the mechanism: curves longer than that either way are not drawn whole
SMALLEST_BOX = 1e-3  # of the largest edge: thinner boxes would not be seen


Captured = Mapping[str, payload.Frame]
"""Frames that pins captured when they closed, by name of the joint."""


def scene_of(model: Model, captured: Captured | None = None, shapes: ShapeTable | None = None) -> payload.Scene:
    """Return the scene of a compiled mechanism, with the values of the model's parameters.

    A frame that a pin captures when it closes is where it would be at the start, or as `captured`. `shapes` has the
    shapes of the mechanism and the meshes that they name by number; by default meshes are left out.
    """
    return _SceneOf(model, captured or {}, shapes).scene()


def closed_column(mech: Mechanism, joint: str) -> str | None:
    """Return the column that is 1 while a joint is closed; None: it is always closed."""
    if joint in mech.transitions and isinstance(mech.transitions[joint].action, Pin):
        return f"{joint}.active"
    actions = (one.action for one in mech.transitions.values())
    released = any(isinstance(action, Release) and action.joint == joint for action in actions)
    return f"{joint}.closed" if released else None


def closed_offsets(model: Model) -> dict[str, int]:
    """Return the offsets in the block of the columns, of joints that are released, that the model does not name."""
    first = model.fields["joint_closed"].span.start
    columns = {closed_column(model.mechanism, name): first + j for j, name in enumerate(model.joint_names)}
    return {name: offset for name, offset in columns.items() if name is not None and name not in model.columns}


class _SceneOf:
    """The parts of a scene, from the rows of the fields of a block."""

    def __init__(self, model: Model, captured: Captured, shapes: ShapeTable | None) -> None:
        self.model, self.mech = model, model.mechanism
        self.block = block = model.block()
        self.captured = captured
        self.shapes = ShapeTable(self.mech, meshes=False) if shapes is None else shapes
        self.positions, self.quaternions = _start_poses(model)
        joints = ("parent_position", 3), ("parent_orientation", 4), ("child_position", 3), ("child_orientation", 4)
        self.joint_rows = [block[name].reshape(-1, width) for name, width in joints]
        self.com = block["body_com"].reshape(-1, 3)
        self.anchors: dict[str, list[payload.Vector]] = {name: [] for name in (GROUND, *self.mech.bodies)}

    def scene(self) -> payload.Scene:
        mech = self.mech
        joints = [self._joint(j, name) for j, name in enumerate(mech.joints)]
        springs, cables, distances = self._springs(), self._cables(), self._distances()
        bodies = [self._body(b, name) for b, name in enumerate(mech.bodies)]
        size = self._size(bodies)
        for joint in joints:
            points = mech.joints[joint["name"]].kind.guide(GUIDE_REACH * size)
            joint["guide"] = [_list(point) for point in points]
        cut = [f"loop.{joint}" for joint in self.model.numbering.cut]
        return {
            "name": mech.name,
            "size": size,
            "gravity": _list(self.block["gravity"]),
            "bodies": bodies,
            "joints": joints,
            "springs": springs,
            "cables": cables,
            "distances": distances,
            "couplings": self._couplings(),
            "wrenches": self._wrenches(),
            "forces": self._joint_forces(),
            "points": self._points(),
            "characteristics": [],
            "model": "",
            "groundShapes": self.shapes.of(GROUND),
            "residuals": [f"{loop}.residual" for loop in cut],
            "conditioning": [f"{loop}.conditioning" for loop in cut],
            "energies": ["energy.kinetic", "energy.potential"],
            "units": {},
            "warnings": list(self.shapes.warnings),
        }

    def _body(self, b: int, name: str) -> payload.Body:
        mass = float(self.block["body_mass"][b])
        return {
            "name": name,
            "mass": mass,
            "com": _list(self.com[b]),
            "box": equimomental_box(mass, _symmetric(self.block["body_inertia"][6 * b : 6 * b + 6])),
            "anchors": _distinct(self.anchors[name]),
            "shapes": self.shapes.of(name),
            "r": _elements(f"{name}.r", 3),
            "Q": _elements(f"{name}.Q", 4),
        }

    def _joint(self, j: int, name: str) -> payload.Joint:
        joint = self.mech.joints[name]
        kind = joint.kind
        frames = self._frames(j, joint)
        if kind.type_name != "free":
            self.anchors[joint.parent].append(frames[0]["r"])
            self.anchors[joint.child].append(frames[1]["r"])
        speeds = self.model.numbering.u[name]
        return {
            "name": name,
            "type": kind.drawn_as,
            "title": kind.type_name.replace("_", " "),
            "keeps": kind.keeps,
            "parameter": kind.parameter and {"label": kind.parameter.name.capitalize(), "unit": kind.parameter.unit},
            "parent": joint.parent,
            "child": joint.child,
            "parentFrame": frames[0],
            "childFrame": frames[1],
            "axes": [_list(axis @ kind.canonical_axes) for axis in kind.axes],
            "cut": name in self.model.numbering.cut,
            "pitch": float(self.block["joint_parameter"][j]),
            "guide": [],
            "q": [f"{name}.q{suffix}" for suffix in suffixes(kind.nq)],
            "u": [f"{name}.u{suffix}" for suffix in suffixes(kind.nu)],
            "f": _elements(f"{name}.f", 3),
            "t": _elements(f"{name}.t", 3),
            "spring": bool(self.block["stiffness"][speeds].any()),
            "damper": bool(self.block["damping"][speeds].any()),
            "closed": closed_column(self.mech, name),
        }

    def _frames(self, j: int, joint: Joint) -> list[payload.Frame]:
        """Return the joint frame in the parent and in the child, its axis along z."""
        r_parent, Q_parent, r_child, Q_child = (rows[j] for rows in self.joint_rows)
        frames = [_frame(r_parent, Q_parent), _frame(r_child, Q_child)]
        if found := self.model.captured_frames[j]:
            own, other = (0, 1) if found == CAPTURED_PARENT else (1, 0)
            bodies = joint.parent, joint.child
            frames[own] = self.captured.get(joint.name) or self._seen(bodies[own], bodies[other], frames[other])
        return frames

    def _seen(self, body: str, other: str, frame: payload.Frame) -> payload.Frame:
        """Return a frame of another body as one of a body, at the start."""
        (r, Q), (r_other, Q_other) = self._pose(body), self._pose(other)
        offset = r_other + rotate(Q_other, np.array(frame["r"])) - r
        return _frame(rotate(conjugate(Q), offset), product(conjugate(Q), product(Q_other, np.array(frame["Q"]))))

    def _pose(self, body: str) -> tuple[FloatArray, FloatArray]:
        """Return position and quaternion of a body at the start."""
        if body == GROUND:
            return np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])
        b = self.model.body_numbers[body]
        return self.positions[b], self.quaternions[b]

    def _springs(self) -> list[payload.Spring]:
        return [
            {
                "name": force.name,
                "title": "" if isinstance(force, PointSpringDamper) else force.type_name.replace("_", " "),
                "mount": isinstance(force, ForceBetweenFrames),
                "formula": force.formula if isinstance(force, ByFormulaAlongLine) else "",
                "bodies": list(force.bodies),
                "points": self._ends(force.bodies, values["points"]),
                "stiffness": float(np.max(values.get("stiffness", 0.0))),
                "damping": float(np.max(values.get("damping", 0.0))),
                "free": float(values.get("free", 0.0)),
                "force": "" if isinstance(force, ForceBetweenFrames) else f"{force.name}.force",
            }
            for force, values in self._forces()
            if isinstance(force, ForceBetweenBodies | ForceAlongLine) and not _is_cable(force)
        ]

    def _cables(self) -> list[payload.Cable]:
        found: list[payload.Cable] = []
        for force, values in self._forces():
            if _is_cable(force):
                points = [_list(point) for point in values["points"]]
                for body, point in zip(force.bodies, points, strict=True):
                    self.anchors[body].append(point)
                cable: payload.Cable = {
                    "name": force.name,
                    "title": force.type_name.replace("_", " "),
                    "formula": force.formula,
                    "bodies": list(force.bodies),
                    "points": points,
                    "factors": _list(values["factors"]),
                    "force": f"{force.name}.force",
                }
                found.append(cable)
        return found

    def _forces(self) -> Iterator[tuple[Any, dict[str, Any]]]:
        """Return each force that has a record, and its parameters by name."""
        rows, first = {"points": self.block["line_point"].reshape(-1, 3), "factors": self.block["line_factor"]}, 0
        for kind, forces in by_kind(self.mech.forces).items():
            fields = {one.stem: self.block[one.field] for one in kind.fields_of("parameter")}
            for k, force in enumerate(forces):
                values = {name: of_all.reshape(len(forces), -1)[k].squeeze() for name, of_all in fields.items()}
                if isinstance(force, ForceAlongLine):
                    end = first + len(force.bodies)
                    values |= {"points": rows["points"][first:end], "factors": rows["factors"][first + 1 : end]}
                    first = end
                yield force, values

    def _distances(self) -> list[payload.Distance]:
        rows = self.block["distance_points"].reshape(-1, 6)
        return [
            {
                "name": one.name,
                "bodies": list(one.bodies),
                "points": self._ends(one.bodies, row),
                "force": f"{one.name}.force",
            }
            for one, row in zip(self.mech.distances.values(), rows, strict=True)
        ]

    def _ends(self, bodies: Sequence[str], points: FloatArray) -> list[payload.Vector]:
        """Return the two points of a spring or distance, which are anchors of their bodies."""
        ends = [_list(point) for point in points.reshape(2, 3)]
        for body, end in zip(bodies, ends, strict=True):
            self.anchors[body].append(end)
        return ends

    def _couplings(self) -> list[payload.Coupling]:
        coefficients, found, first = self.block["coupling_coefficient"].reshape(-1, 4), list[payload.Coupling](), 0
        for coupling in self.mech.couplings.values():
            terms: list[payload.Term] = [
                {"joint": term.joint, "element": term.element, "coefficient": float(coefficients[t, 0])}
                for t, term in enumerate(coupling.terms.values(), start=first)
            ]
            found.append({"name": coupling.name, "terms": terms, "load": f"{coupling.name}.load"})
            first += len(coupling.terms)
        return found

    def _wrenches(self) -> list[payload.Wrench]:
        return [
            {
                "name": force.name,
                "body": force.body,
                "point": _list(values["point"]),
                "F": _elements(f"{force.name}.{of_force}", 3),
                "T": _elements(f"{force.name}.{of_torque}", 3),
            }
            for kind, of_force, of_torque in ((Wrench, "F", "T"), (ByFormulaAtPoint, "force", "torque"))
            for force, values in self._forces()
            if isinstance(force, kind)
        ]

    def _joint_forces(self) -> list[payload.JointForce]:
        return [
            {
                "name": force.name,
                "title": force.type_name.replace("_", " "),
                "formula": force.capacity if isinstance(force, Brake) else force.formula,
                "joints": list(force.joint_names),
            }
            for force in self.mech.forces
            if isinstance(force, ByFormulaOnJoints | Brake)
        ]

    def _points(self) -> list[payload.PointOfInterest]:
        found: list[payload.PointOfInterest] = []
        rows = (self.block[name].reshape(-1, 3) for name in ("point_in_body", "axis_in_body"))
        for one, point, axis in zip(self.mech.points.values(), *rows, strict=True):
            length = float(np.linalg.norm(axis))
            direction = None if one.axis is None or not length else _list(axis / length)
            found.append({"name": one.name, "body": one.body, "point": _list(point), "axis": direction})
        return found

    def _size(self, bodies: Sequence[payload.Body]) -> float:
        """Return the extent of joints, ends of springs and centres of mass at the start, or of the largest box."""
        points = [np.array(self.anchors[GROUND]).reshape(-1, 3)]
        for body in bodies:
            r, Q = self._pose(body["name"])
            points.append(r + rotate(Q, np.array([body["com"], *body["anchors"]])))
        found = np.concatenate(points)
        extent = float(np.linalg.norm(found.max(axis=0) - found.min(axis=0)))
        edges = [max(body["box"]["size"]) for body in bodies if body["box"] is not None]
        return max([extent, *edges]) or 1.0


def _is_cable(force: Any) -> bool:
    """Return whether a force is drawn as a line through its points, and not as a spring between two."""
    return isinstance(force, ForceAlongLine) and (isinstance(force, Tendon) or len(force.bodies) > 2)


def _start_poses(model: Model) -> tuple[FloatArray, FloatArray]:
    """Return positions and quaternions of all bodies at the assembled start; without one, at the start values."""
    block = model.block()
    try:
        block.assemble(ASSEMBLY_TOLERANCE)
        return block.body_poses()
    except LinkworkError:
        block = model.block()
        block.put("q", block["q_start"][: model.numbering.nq])
        return block.body_poses()


def equimomental_box(mass: float, inertia: FloatArray) -> payload.Box | None:
    """Return the box of the same mass, kg, and inertia (3, 3) about its middle, kg m^2; None: there is none.

    Where an edge vanishes, as of a rod, it is a thousandth of the longest one.

    >>> box = equimomental_box(12.0, np.diag([13.0, 10.0, 5.0]))
    >>> np.sort(box["size"]).round(12)
    array([1., 2., 3.])
    """
    if not mass > 0.0 or not inertia.any():
        return None
    moments, axes = np.linalg.eigh(inertia)
    squares = 6.0 * (moments.sum() - 2.0 * moments) / mass
    edges = np.sqrt(np.maximum(squares, 0.0))
    if not edges.max() > 0.0:
        return None
    axes[:, 2] = np.cross(axes[:, 0], axes[:, 1])  # right-handed
    turned = quaternions_of(axes[None])[0]
    return {"size": _list(np.maximum(edges, SMALLEST_BOX * edges.max())), "Q": _list(turned)}


def _symmetric(six: FloatArray) -> FloatArray:
    """Return the matrix of the elements xx, xy, xz, yy, yz, zz."""
    return six[[0, 1, 2, 1, 3, 4, 2, 4, 5]].reshape(3, 3)


def _frame(r: FloatArray, Q: FloatArray) -> payload.Frame:
    return {"r": _list(r), "Q": _list(Q / np.linalg.norm(Q))}


def _list(values: Iterable[float]) -> list[float]:
    return [float(value) + 0.0 for value in values]  # not -0


def _elements(name: str, count: int) -> list[str]:
    return [f"{name}[{i + 1}]" for i in range(count)]


def _distinct(points: list[payload.Vector]) -> list[payload.Vector]:
    """Return the points, each once."""
    return [list(point) for point in dict.fromkeys(map(tuple, points))]
