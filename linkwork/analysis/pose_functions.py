"""Functions of the pose by the names of variables: coordinates of joints, points, orientations, measures, actuators.

Each gives its values and, for any speeds u of the tree joints, its rates: rows (n, nu) with rate = rows @ u, except
that the rate of an orientation "hand.Q" is the angular velocity in world axes. A load along a function acts on the
speeds by the same rows: tau = rows.T @ load.
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from linkwork._util.checks import FloatArray, names_of, refuse_repeated
from linkwork._util.names import quoted, suggest
from linkwork._util.rotations import quaternions_of
from linkwork.core.native import Stage
from linkwork.errors import MechanismError, MechanismNameError
from linkwork.mechanism import GROUND, Actuator, Frame, Joint
from linkwork.mechanism.forces import ForceAlongLine, ForceBetweenBodies, ForceOnJoints, NamedForce, of_kind
from linkwork.mechanism.friction import DryFriction

if TYPE_CHECKING:
    from linkwork.analysis.configuration_space import ConfigurationSpace
    from linkwork.mechanism.points import Measure, PointOfInterest

Hold = Mapping[str, ArrayLike | None] | Iterable[str] | None  # values by name, None: as at the start; or names
KINK = 1e-12  # of the mechanism's size: points that are nearer coincide; of 1: directions are parallel

_ORIGIN = np.zeros(3)
_INDEX = re.compile(r"^(?P<what>.*?)(?:\[(?P<element>\d+)\])?$", re.DOTALL)


class PoseFunction(ABC):
    """A function of the pose of a configuration space."""

    # names, units: of its values, as "hand.r[1]", and "m" or "rad"; of a rotation vector for an orientation
    names: tuple[str, ...]
    units: tuple[str, ...]
    is_linear = False  # its rows are the same in all poses

    def __init__(self, space: ConfigurationSpace, names: Sequence[str], units: Sequence[str]) -> None:
        self.space = space
        self.names, self.units = tuple(names), tuple(units)

    @property
    def size(self) -> int:
        """Number of rows."""
        return len(self.names)

    @abstractmethod
    def value(self) -> FloatArray:
        """Return its values at the present pose, (n,); those of an orientation are a quaternion."""

    @abstractmethod
    def rows(self) -> FloatArray:
        """Return (n, nu), the derivative by displacements at the present pose."""

    def has_slope(self) -> bool:
        """Whether its derivative exists at the present pose; where it does not, the rows are zero."""
        return True

    @abstractmethod
    def acceleration(self) -> FloatArray:
        """Return its second rate (n,) in the motion of the block; SingularityError where that is not unique."""

    def entered(self, values: FloatArray, q: FloatArray) -> FloatArray:
        """Return coordinates (nq,) at which it has values (n,), where it is some of them; q where it is not."""
        return q

    def difference(self, wanted: FloatArray) -> FloatArray:
        """Return what is left to reach values (n,), as its rows count: wanted less value."""
        left: FloatArray = wanted - self.value()
        return left

    def bias(self) -> FloatArray:
        """Return (n,), the second rate that remains at zero accelerations, at the present pose and speeds."""
        udot = self.space.block["acceleration"][: self.space.nu]
        left: FloatArray = self.acceleration() - self.rows() @ udot
        return left


class _Coordinates(PoseFunction):
    """Coordinates of a tree joint whose rates are its speeds."""

    is_linear = True

    def __init__(self, space: ConfigurationSpace, joint: Joint) -> None:
        kind, n = joint.kind, space.model.numbering
        super().__init__(space, _numbered(f"{joint.name}.q", kind.nq), kind.coordinate_units)
        self._q, self._u = n.q[joint.name], n.u[joint.name]
        self._rows = np.eye(space.nu)[self._u]

    def entered(self, values: FloatArray, q: FloatArray) -> FloatArray:
        q = q.copy()
        q[self._q] = values
        return q

    def value(self) -> FloatArray:
        return self.space.q[self._q]

    def rows(self) -> FloatArray:
        return self._rows

    def acceleration(self) -> FloatArray:
        return self.space.block["acceleration"][self._u].copy()


class ClosingFrames:
    """The two frames of a joint that closes a loop."""

    def __init__(self, space: ConfigurationSpace, joint: Joint) -> None:
        self.space, self.joint = space, joint
        self._number = list(space.model.mechanism.joints).index(joint.name)
        self._bodies = [_body_number(space, body) for body in (joint.parent, joint.child)]
        self._frames = [
            Frame(frame.position, frame.rotation @ joint.kind.canonical_axes)
            for frame in (joint.parent_frame, joint.child_frame)
        ]

    def pose(self, k: int) -> tuple[FloatArray, FloatArray]:
        """Return position (3,) and axes (3, 3) of the parent's frame, 0, or the child's, 1."""
        frame = self._frames[k]
        position, rotation, _ = self.space.block.body_motion(self._bodies[k], frame.position)
        return position, rotation @ frame.rotation

    def relative(self) -> tuple[FloatArray, FloatArray]:
        """Return position (3,) and axes (3, 3) of the child's frame in that of the parent."""
        (origin, axes), (tip, turned) = (self.pose(k) for k in (0, 1))
        return axes.T @ (tip - origin), axes.T @ turned

    def relative_twist(self) -> FloatArray:
        """Return the twist (6, nu) of the child's frame relative to the parent, at its origin, world axes."""
        block, tip = self.space.block, self.pose(1)[0]
        origin, rotation, _ = block.body_motion(self._bodies[0], _ORIGIN)
        parent = block.body_jacobian(self._bodies[0], rotation.T @ (tip - origin))
        found: FloatArray = block.body_jacobian(self._bodies[1], self._frames[1].position) - parent
        return found

    def coordinates(self, near: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return coordinates (nq,), next to some, and columns (nu, 6) [angular; linear], parent's axes."""
        q, columns = self.space.block.joint_at_pose(self._number, *self.relative(), near)
        return q, columns[: self.joint.kind.nu]

    def constrained(self) -> FloatArray:
        """Return wrenches (6 - nu, 6) on the child, orthonormal, world axes, that do no work in the joint."""
        kind, axes = self.joint.kind, self.pose(0)[1]
        columns = self.coordinates(np.zeros(kind.nq))[1]
        left, _, _ = np.linalg.svd(columns.T, full_matrices=True)
        wrenches = left[:, kind.nu :].T.reshape(-1, 2, 3)
        found: FloatArray = (wrenches @ axes.T).reshape(-1, 6)
        return found


class _CutCoordinates(PoseFunction):
    """Coordinates of a joint that closes a loop, from the poses of its frames."""

    def __init__(self, space: ConfigurationSpace, joint: Joint) -> None:
        kind = joint.kind
        super().__init__(space, _numbered(f"{joint.name}.q", kind.nq), kind.coordinate_units)
        self._frames = ClosingFrames(space, joint)
        n = space.model.numbering
        self._cut = n.u[joint.name]
        self._reference = slice(n.q[joint.name].start - n.nq, n.q[joint.name].stop - n.nq)
        self._periods = np.array(kind.periods)
        self._repeats = np.isfinite(self._periods)
        self._linear = np.array([unit == "m" for unit in kind.motion_units])

    def value(self) -> FloatArray:
        """Return the coordinates (n,), angles and laps next to those from which the space counts revolutions."""
        return self._frames.coordinates(self.space.block["cut_reference"][self._reference])[0]

    def rows(self) -> FloatArray:
        rates = self._frames.coordinates(self.space.block["cut_reference"][self._reference])[1]
        rates[self._linear, :3] = rates[~self._linear, 3:] = 0.0  # along its own direction
        found: FloatArray = rates @ self._twist(0)
        return found

    def acceleration(self) -> FloatArray:
        return self.space.block["acceleration"][self._cut].copy()

    def difference(self, wanted: FloatArray) -> FloatArray:
        """Return what is left to values (n,), of angles and laps by the shortest way."""
        left = wanted - self.value()
        periods = self._periods[self._repeats]
        left[self._repeats] -= periods * np.round(left[self._repeats] / periods)
        return left

    def _twist(self, k: int) -> FloatArray:
        """Return the relative twist (6, nu) in axes of the parent's frame, 0, or the child's, 1."""
        axes, relative = self._frames.pose(k)[1], self._frames.relative_twist()
        return np.vstack([axes.T @ relative[:3], axes.T @ relative[3:]])


class _Point(PoseFunction):
    """Position of a point of a body."""

    def __init__(self, space: ConfigurationSpace, label: str, body: str, point: FloatArray) -> None:
        super().__init__(space, _numbered(f"{label}.r", 3), ("m",) * 3)
        self._body, self._point = _body_number(space, body), np.asarray(point, dtype=np.float64)

    def value(self) -> FloatArray:
        return self.space.block.body_motion(self._body, self._point)[0]

    def rows(self) -> FloatArray:
        return self.space.block.body_jacobian(self._body, self._point)[3:]

    def acceleration(self) -> FloatArray:
        return self.space.block.body_acceleration(self._body, self._point)[3:]


class _Orientation(PoseFunction):
    """Orientation of a body; rates are its angular velocity in world axes."""

    def __init__(self, space: ConfigurationSpace, body: str) -> None:
        super().__init__(space, _numbered(f"{body}.Q", 3), ("rad",) * 3)
        self._body = _body_number(space, body)

    def value(self) -> FloatArray:
        rotation = self.space.block.body_motion(self._body, _ORIGIN)[1]
        found: FloatArray = quaternions_of(rotation[None])[0]
        return found

    def rows(self) -> FloatArray:
        return self.space.block.body_jacobian(self._body, _ORIGIN)[:3]

    def acceleration(self) -> FloatArray:
        return self.space.block.body_acceleration(self._body, _ORIGIN)[:3]

    def difference(self, wanted: FloatArray) -> FloatArray:
        """Return the shortest rotation vector (3,), world axes, to a quaternion (4,)."""
        rotation = self.space.block.body_motion(self._body, _ORIGIN)[1]
        w, x, y, z = _quaternion(rotation.ravel().tolist())
        s, i, j, k = wanted.tolist()
        scalar = s * w + i * x + j * y + k * z
        first = i * w - s * x - j * z + k * y
        second = j * w - s * y - k * x + i * z
        third = k * w - s * z - i * y + j * x
        sine = math.sqrt(first * first + second * second + third * third)
        scale = 2.0 * math.atan2(sine, abs(scalar)) / sine if sine > 1e-300 else 2.0
        scale = scale if scalar >= 0.0 else -scale
        return np.array([scale * first, scale * second, scale * third])


class _Direction(PoseFunction):
    """Direction at a point of interest, a unit vector."""

    def __init__(self, space: ConfigurationSpace, point: PointOfInterest) -> None:
        super().__init__(space, _numbered(f"{point.name}.e", 3), ("1",) * 3)
        self._body, self._axis = _body_number(space, point.body), np.asarray(point.axis)

    def value(self) -> FloatArray:
        found: FloatArray = self.space.block.body_motion(self._body, _ORIGIN)[1] @ self._axis
        return found

    def rows(self) -> FloatArray:
        angular = self.space.block.body_jacobian(self._body, _ORIGIN)[:3]
        return np.cross(angular, self.value(), axis=0)

    def acceleration(self) -> FloatArray:
        block, e = self.space.block, self.value()
        w, alpha = block.body_motion(self._body, _ORIGIN)[2][:3], block.body_acceleration(self._body, _ORIGIN)[:3]
        found: FloatArray = np.cross(alpha, e) + np.cross(w, np.cross(w, e))
        return found


class _Measure(PoseFunction):
    """Distance of two points of interest or angle of their directions."""

    def __init__(self, space: ConfigurationSpace, measure: Measure) -> None:
        is_distance = measure.quantity == "distance"
        quantity, unit = ("length", "m") if is_distance else ("angle", "rad")
        super().__init__(space, [f"{measure.name}.{quantity}"], [unit])
        points = [space.model.mechanism.points[name] for name in measure.points]
        self._ends: list[PoseFunction] = [
            _Point(space, point.name, point.body, np.asarray(point.point)) if is_distance else _Direction(space, point)
            for point in points
        ]
        self._is_distance = is_distance

    def value(self) -> FloatArray:
        first, second = (end.value() for end in self._ends)
        if self._is_distance:
            return np.array([np.linalg.norm(second - first)])
        return np.array([np.arctan2(np.linalg.norm(np.cross(first, second)), first @ second)])

    def has_slope(self) -> bool:
        return self._size() > KINK * (self.space.size if self._is_distance else 1.0)

    def rows(self) -> FloatArray:
        if not self.has_slope():
            return np.zeros((1, self.space.nu))
        first, second = self._ends
        by_first, by_second = self._slopes()
        found: FloatArray = by_first @ first.rows() + by_second @ second.rows()
        return found[None]

    def acceleration(self) -> FloatArray:
        block = self.space.block
        block.evaluate(Stage.OUTPUTS)
        if not self.has_slope():
            return np.array([np.nan])
        first, second = self._ends
        a, b = (end.value() for end in self._ends)
        by_first, by_second = self._slopes()
        straight = by_first @ first.acceleration() + by_second @ second.acceleration()
        u = block["u"]
        va, vb = first.rows() @ u, second.rows() @ u
        if self._is_distance:
            along, distance = b - a, self._size()
            v = vb - va
            return np.array([straight + (v @ v - (v @ along / distance) ** 2) / distance])
        cosine, sine = a @ b, self._size()
        rate = -(va @ b + a @ vb) / sine
        return np.array([straight - 2.0 * (va @ vb) / sine - rate**2 * cosine / sine])

    def _size(self) -> float:
        """Return the distance, or the sine of the angle, by which slopes divide."""
        a, b = (end.value() for end in self._ends)
        return float(np.linalg.norm(b - a if self._is_distance else np.cross(a, b)))

    def _slopes(self) -> tuple[FloatArray, FloatArray]:
        a, b = (end.value() for end in self._ends)
        if self._is_distance:
            along = (b - a) / self._size()
            return -along, along
        return -b / self._size(), -a / self._size()


class _LengthByGears(PoseFunction):
    """Sum of gear times coordinate over the joints of a force; of quaternion joints only its rows exist."""

    def __init__(self, space: ConfigurationSpace, actuator: ForceOnJoints) -> None:
        model = space.model
        places = actuator.places(model.mechanism)
        unit = model.mechanism.joints[places[0][0]].kind.motion_units[places[0][1]]
        super().__init__(space, [f"{actuator.name}.length"], [unit])
        self._actuator = actuator
        self._parts = [
            (gear, _joint_rates(space, model.mechanism.joints[joint]), element)
            for (joint, element), gear in zip(places, actuator.gears.values(), strict=True)
        ]

    def value(self) -> FloatArray:
        if not self._actuator.has_length(self.space.model.mechanism):
            raise MechanismError(f"{self._actuator.label} has no length: it acts on a quaternion's joint")
        return np.array([sum(gear * part.value()[element] for gear, part, element in self._parts)])

    def rows(self) -> FloatArray:
        return np.array([sum(gear * part.rows()[element] for gear, part, element in self._parts)])

    def acceleration(self) -> FloatArray:
        return np.array([sum(gear * part.acceleration()[element] for gear, part, element in self._parts)])


class _Elements(PoseFunction):
    """Some values of another function."""

    def __init__(self, whole: PoseFunction, chosen: Sequence[int]) -> None:
        super().__init__(whole.space, [whole.names[k] for k in chosen], [whole.units[k] for k in chosen])
        self._whole, self._chosen = whole, list(chosen)
        self.is_linear = whole.is_linear

    def value(self) -> FloatArray:
        return self._whole.value()[self._chosen]

    def rows(self) -> FloatArray:
        return self._whole.rows()[self._chosen]

    def acceleration(self) -> FloatArray:
        return self._whole.acceleration()[self._chosen]

    def difference(self, wanted: FloatArray) -> FloatArray:
        full = self._whole.value().copy()
        full[self._chosen] = wanted
        return self._whole.difference(full)[self._chosen]


class Stacked(PoseFunction):
    """Several functions, one below the other; values of orientations are quaternions."""

    def __init__(self, space: ConfigurationSpace, parts: Sequence[PoseFunction]) -> None:
        super().__init__(space, [n for part in parts for n in part.names], [u for part in parts for u in part.units])
        self.parts = list(parts)
        ends = np.cumsum([0, *(part.size for part in parts)])
        self.spans = [slice(int(a), int(b)) for a, b in pairwise(ends)]

    def value(self) -> FloatArray:
        """Return the values of all parts; of an orientation a quaternion."""
        return np.concatenate([part.value() for part in self.parts])

    def rows(self) -> FloatArray:
        """Return the rows of all parts (n, nu)."""
        return np.concatenate([part.rows() for part in self.parts])

    def acceleration(self) -> FloatArray:
        """Return the second rates of all parts (n,)."""
        return np.concatenate([part.acceleration() for part in self.parts])

    def weights(self, length: float) -> FloatArray:
        """Return (n,) by which rates count: a length, m, for angles and directions, 1 for displacements."""
        return np.array([1.0 if unit == "m" else length for unit in self.units])


class _Speeds(_Coordinates):
    """Speeds of a tree joint whose orientation is a quaternion: rows alone."""

    def __init__(self, space: ConfigurationSpace, joint: Joint) -> None:
        super().__init__(space, joint)
        self.names = tuple(_numbered(f"{joint.name}.u", joint.kind.nu))
        self.units = joint.kind.motion_units

    def value(self) -> FloatArray:
        raise _no_coordinate(self.names[0])


class _CutSpeeds(_CutCoordinates):
    """The same of a joint that closes a loop."""

    def __init__(self, space: ConfigurationSpace, joint: Joint) -> None:
        super().__init__(space, joint)
        self.names = tuple(_numbered(f"{joint.name}.u", joint.kind.nu))
        self.units = joint.kind.motion_units

    def value(self) -> FloatArray:
        raise _no_coordinate(self.names[0])

    def rows(self) -> FloatArray:
        return self._twist(1)[: self.size]


def pose_function(space: ConfigurationSpace, name: str) -> PoseFunction:
    """Return the function of a name.

    Parameters
    ----------
    space
        Of the model.
    name
        "A" or "A.q" of a joint, "U.q[2]" of one of several coordinates; "hand.r" or "hand.r[3]", the position of a
        body's origin or of a point of interest; "hand.Q", the orientation of a body; "tip.e", the direction at a point;
        "gap.length" and "opening.angle" of a measure; "motor.length" of an actuator.
    """
    functions = _known(space)
    match = _INDEX.match(str(name))
    assert match is not None
    what, element = match["what"], match["element"]
    if what in functions:
        whole = functions[what]()
        if element is None:
            return whole
        if 1 <= int(element) <= whole.size:
            return _Elements(whole, [int(element) - 1])
        raise MechanismNameError(f"{name!r}: {what!r} has {whole.size} elements, from [1] to [{whole.size}]")
    joint = space.model.mechanism.joints.get(what.removesuffix(".q"))
    if joint is not None and joint.kind.quaternion is not None:
        raise MechanismError(
            f"{name!r}: joint {joint.name!r} turns by a quaternion, whose elements are no coordinates to "
            f"sweep, hold or reach: take a point, as '{joint.child}.r[3]', the direction at a point, as 'tip.e[1]', or "
            "the angle of a measure"
        )
    raise MechanismNameError(
        f"there is no function of the pose {name!r}, as 'A.q', 'hand.r' or 'hand.Q': {suggest(str(name), functions)}"
    )


def stacked(
    space: ConfigurationSpace,  # of the model
    names: str | Sequence[str],  # as of `pose_function`, and names of bodies
    what: str,  # the argument that gives them, for messages
) -> Stacked:
    """Return the functions of one name or several; a body, as "hand", is its orientation and its position."""
    given = names_of(names, what)
    if not given:
        raise MechanismError(f"{what} names no function of the pose, as 'A.q', 'hand.r' or 'hand'")
    bodies, joints = space.model.mechanism.bodies, space.model.mechanism.joints
    if both := [name for name in given if name in bodies and name in joints]:
        one = both[0]
        raise MechanismError(
            f"{what}: {one!r} is a body and a joint: name {one + '.q'!r}, or {one + '.Q'!r} and {one + '.r'!r}"
        )
    full = [part for name in given for part in ((f"{name}.Q", f"{name}.r") if name in bodies else (name,))]
    found = Stacked(space, [pose_function(space, name) for name in full])
    refuse_repeated(found.names, what)
    return found


def stacked_motors(space: ConfigurationSpace, names: str | Sequence[str] | None) -> Stacked:
    """Return the motors of one name or several; None: all actuators."""
    if names is None:
        names = [actuator.name for actuator in of_kind(space.model.mechanism.forces, Actuator)]
        if not names:
            joint = next(iter(space.model.mechanism.joints), "A")
            raise MechanismError(f"the mechanism has no actuators: name the joints that are motors, as by=[{joint!r}]")
    given = names_of(names, "by")
    if not given:
        raise MechanismError("by names no motor: joints or actuators are motors")
    found = Stacked(space, [driving(space, name) for name in given])
    if twice := [name for k, name in enumerate(found.names) if name in found.names[:k]]:
        raise MechanismError(f"motor {twice[0]!r} is named twice")
    return found


def joint_rates(space: ConfigurationSpace, name: str) -> PoseFunction:
    """Return the function whose rate is a speed by name: "A", "U[2]", "A.u", "S.u[3]"; its values may not exist."""
    joints = space.model.mechanism.joints
    match = _INDEX.match(str(name))
    assert match is not None
    joint = match["what"].removesuffix(".u").removesuffix(".tau")
    if joint not in joints:
        raise MechanismNameError(f"there is no joint {name!r}: {suggest(joint, joints)}")
    nu = joints[joint].kind.nu
    if nu == 0:
        raise MechanismError(f"joint {joint!r} is fixed and has no speed")
    whole = _joint_rates(space, joints[joint])
    if match["element"] is None:
        return whole
    if not 1 <= int(match["element"]) <= nu:
        raise MechanismNameError(f"{name!r}: joint {joint!r} has {nu} speeds, from [1] to [{nu}]")
    return _Elements(whole, [int(match["element"]) - 1])


def friction_rates(space: ConfigurationSpace, friction: DryFriction) -> PoseFunction:
    """Return the function whose rate is the speed of a dry friction."""
    return _LengthByGears(space, friction) if friction.is_sum else joint_rates(space, friction.place)


def motor(space: ConfigurationSpace, name: str) -> PoseFunction:
    """Return the function along which a motor acts: a joint's coordinate, "A" or "A.tau", or an actuator's length."""
    mech = space.model.mechanism
    actuators = {actuator.name: actuator for actuator in of_kind(mech.forces, Actuator)}
    if (found := actuators.get(str(name).removesuffix(".input"))) is not None:
        return _LengthByGears(space, found)
    bare = _INDEX.sub(r"\g<what>", str(name)).removesuffix(".tau").removesuffix(".u")
    if (joint := mech.joints.get(bare.removesuffix(".q"))) is not None and bare not in mech.joints:
        several = f", or one of its speeds, '{joint.name}[1]'" if joint.kind.nu > 1 else ""
        raise MechanismNameError(
            f"there is no motor {name!r}: a motor has the name of its joint, {joint.name!r}{several}"
        )
    if force := next((one for one in of_kind(mech.forces, NamedForce) if one.name == bare), None):
        remedy = ""
        if isinstance(force, ForceOnJoints):
            remedy = f": name its joints, {quoted(force.joint_names)}"
        elif isinstance(force, ForceBetweenBodies | ForceAlongLine):
            remedy = ": measure the distance of its points by `add_measure`; `equilibrium(hold=...)` gives its load"
        raise MechanismNameError(
            f"there is no motor {name!r}: motors are joints and actuators, not other forces{remedy}"
        )
    if bare not in mech.joints:
        raise MechanismNameError(f"there is no motor {name!r}: {suggest(str(name), [*mech.joints, *actuators])}")
    return joint_rates(space, name)


def driving(space: ConfigurationSpace, name: str) -> PoseFunction:
    """Return the function along which a motor that a user names acts, as `motor`."""
    found = motor(space, name)
    joint, _, index = str(name).replace(".tau", "").replace(".u", "").partition("[")
    for drive in space.model.numbering.motions:
        terms = list(space.model.mechanism.couplings[drive].terms.values())
        if len(terms) == 1 and terms[0].joint == joint and (not index or terms[0].element == int(index[:-1]) - 1):
            raise MechanismError(
                f"{name!r} cannot be a motor: {drive!r} prescribes its motion, so that a motor would move nothing; "
                f"the load of the prescribed motion is the variable '{drive}.load' of states and results: leave the "
                "motor out, or remove the prescribed motion"
            )
    return found


def _known(space: ConfigurationSpace) -> dict[str, Callable[[], PoseFunction]]:
    """Return how to make each function, by name."""
    mech = space.model.mechanism
    found: dict[str, Callable[[], PoseFunction]] = {}
    for name, joint in mech.joints.items():
        if joint.kind.nq and joint.kind.quaternion is None:
            found[name] = found[f"{name}.q"] = partial(_joint_rates, space, joint)
    for name in mech.bodies:
        found[f"{name}.r"] = partial(_Point, space, name, name, _ORIGIN)
        found[f"{name}.Q"] = partial(_Orientation, space, name)
    for name, point in mech.points.items():
        found[f"{name}.r"] = partial(_Point, space, point.name, point.body, np.asarray(point.point))
        if point.axis is not None:
            found[f"{name}.e"] = partial(_Direction, space, point)
    for name, measure in mech.measures.items():
        what = "length" if measure.quantity == "distance" else "angle"
        found[f"{name}.{what}"] = partial(_Measure, space, measure)
    for actuator in of_kind(mech.forces, Actuator):
        if actuator.has_length(mech):
            found[f"{actuator.name}.length"] = partial(_LengthByGears, space, actuator)
    return found


def _joint_rates(space: ConfigurationSpace, joint: Joint) -> PoseFunction:
    is_cut = joint.name in space.model.numbering.cut
    if joint.kind.quaternion is None:
        return _CutCoordinates(space, joint) if is_cut else _Coordinates(space, joint)
    return _CutSpeeds(space, joint) if is_cut else _Speeds(space, joint)


def _no_coordinate(speed: str) -> MechanismError:
    return MechanismError(
        f"{speed!r} is a speed of a joint whose orientation is a quaternion: no coordinate has this rate"
    )


def _body_number(space: ConfigurationSpace, body: str) -> int:
    return -1 if body == GROUND else space.model.body_numbers[body]


def _numbered(name: str, count: int) -> list[str]:
    return [name] if count == 1 else [f"{name}[{k + 1}]" for k in range(count)]


def _quaternion(r: Sequence[float]) -> tuple[float, float, float, float]:
    """Return the unit quaternion of a rotation matrix, row by row; plain numbers are several times faster than arrays.

    The largest element comes from the diagonal (Shepperd).
    """
    trace = r[0] + r[4] + r[8]
    largest = max(trace, r[0], r[4], r[8])
    if largest == trace:
        w, x, y, z = 1.0 + trace, r[7] - r[5], r[2] - r[6], r[3] - r[1]
    elif largest == r[0]:
        w, x, y, z = r[7] - r[5], 1.0 + 2.0 * r[0] - trace, r[1] + r[3], r[2] + r[6]
    elif largest == r[4]:
        w, x, y, z = r[2] - r[6], r[1] + r[3], 1.0 + 2.0 * r[4] - trace, r[5] + r[7]
    else:
        w, x, y, z = r[3] - r[1], r[2] + r[6], r[5] + r[7], 1.0 + 2.0 * r[8] - trace
    size = math.sqrt(w * w + x * x + y * y + z * z)
    return w / size, x / size, y / size, z / size
