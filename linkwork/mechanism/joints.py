"""The kinds of joints.

A new kind is one class here: its name in files, the units of its coordinates and speeds, its axes, its parameter, and
the canonical joint frame in which the mechanics are written.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from linkwork._util.checks import FloatArray, finite, length, number
from linkwork._util.keywords import checks_keywords
from linkwork._util.names import quoted
from linkwork._util.rotations import rotation_from_z
from linkwork.errors import MechanismError
from linkwork.mechanism.frames import EXACT, direction, unit
from linkwork.mechanism.paths import MOST_POINTS, Path

KINDS: dict[str, type[JointKind]] = {}

DRAWN = (  # types that pictures and pages have a drawing of
    "fixed",
    "revolute",
    "prismatic",
    "universal",
    "cylindrical",
    "planar",
    "spherical",
    "free",
    "screw",
    "pin_in_slot",
    "curved_slide",
    "curved_slot",
    "path_slide",
    "path_slot",
)

PERPENDICULAR = 1e-5  # cosine of the angle between axes that are perpendicular but for the digits they were typed with
_ALONG_AXIS = 1e-3  # sine of the angle between a path and its axis


class JointParameter(NamedTuple):
    """A number that belongs to a kind of joint: its name as an argument and attribute, its unit, and a description."""

    name: str
    unit: str
    text: str


class JointKind:
    """What a joint lets its child do relative to its parent."""

    type_name: ClassVar[str]  # its name in files
    # What stays of the orientation of the child in canonical frames: "all", the axes "z" parallel, the "angle" between
    # z of the parent and x of the child, or nothing, "".
    keeps: ClassVar[str]
    # Names of the axes that are attributes, unit vectors (3,) in joint-frame axes. The constructor takes a vector (3,)
    # of any length, or "x", "y" or "z".
    axis_names: ClassVar[tuple[str, ...]] = ()
    # Of each coordinate: "rad", "m", or "1" for the elements of a unit quaternion [w, x, y, z], child in parent.
    coordinate_units: ClassVar[tuple[str, ...]] = ()
    motion_units: ClassVar[tuple[str, ...]] = ()  # of what each speed is the rate of: "rad" or "m"
    # nq, nu: numbers of coordinates and of speeds
    nq: ClassVar[int]
    nu: ClassVar[int]
    quaternion: ClassVar[slice | None]  # where the quaternion stands among the coordinates, None if there is none
    frame_note: ClassVar[str] = ""  # orientation of the canonical joint frame, for the description of a parameter
    # The number that the constructor takes after the axes and that is an attribute; None: there is none.
    parameter: ClassVar[JointParameter | None] = None
    looks_along: ClassVar[bool] = False  # a picture shows it best along its first axis
    slides_along: ClassVar[bool] = False  # its child slides along its first axis
    # Turns and slides along axes of the canonical frame that make the joint, one after the other, one a coordinate: as
    # in ("turn z", "slide z"); None: none do.
    turns_and_slides: ClassVar[tuple[str, ...] | None] = None
    drawn_as: ClassVar[str]  # the type of joint as which pictures and pages draw it; by default itself

    def __init_subclass__(cls) -> None:
        if "type_name" not in vars(cls):
            return
        units = cls.coordinate_units
        if not hasattr(cls, "keeps"):
            raise TypeError(f"{cls.__name__}: what it keeps of the orientation is missing")
        if "drawn_as" not in vars(cls):
            cls.drawn_as = cls.type_name
        if cls.drawn_as not in DRAWN:
            raise TypeError(f"{cls.__name__}: nothing draws {cls.drawn_as!r}; name one of {quoted(DRAWN)} in drawn_as")
        cls.nq, cls.nu = len(units), len(cls.motion_units)
        cls.quaternion = slice(units.index("1"), units.index("1") + 4) if "1" in units else None
        KINDS[cls.type_name] = cls

    @property
    def axes(self) -> tuple[FloatArray, ...]:
        """The axes in the order of `axis_names`, each (3,)."""
        return tuple(getattr(self, name) for name in self.axis_names)

    @property
    def value(self) -> float:
        """The value of its parameter; 0 without one."""
        return float(getattr(self, self.parameter.name)) if self.parameter else 0.0

    @property
    def path_numbers(self) -> FloatArray:
        """The numbers of its path as the core takes them; none of other joints."""
        return np.zeros(0)

    @property
    def periods(self) -> tuple[float, ...]:
        """After how much of each coordinate the pose repeats; inf: never."""
        return tuple(math.tau if unit == "rad" else math.inf for unit in self.coordinate_units)

    @classmethod
    def argument_names(cls) -> tuple[str, ...]:
        """Names of what the constructor takes, which are those in files."""
        return (*cls.axis_names, *((cls.parameter.name,) if cls.parameter else ()))

    @property
    def arguments(self) -> dict[str, Any]:
        """What the constructor takes, by name."""
        values = {name: axis.tolist() for name, axis in zip(self.axis_names, self.axes, strict=True)}
        return values | ({self.parameter.name: self.value} if self.parameter else {})

    @property
    def canonical_axes(self) -> FloatArray:
        """The canonical joint frame: its axes, (3, 3), one a column, in joint-frame axes.

        The first axis of the joint is its z; a second one, perpendicular to it, is its x.
        """
        if len(self.axes) == 2:
            z, x = self.axes
            return np.column_stack([x, np.cross(z, x), z])
        return rotation_from_z(self.axes[0]) if self.axes else np.eye(3)

    @property
    def simple_motions(self) -> list[tuple[str, FloatArray]] | None:
        """The turns and slides that make it, each "turn" or "slide" with its axis (3,) in joint-frame axes."""
        if self.turns_and_slides is None:
            return None
        given = dict(zip("zx", self.axes, strict=False))
        named = dict(zip("xyz", self.canonical_axes.T, strict=True)) | given
        return [(motion, named[axis]) for motion, axis in map(str.split, self.turns_and_slides)]

    def guide(self, reach: float) -> FloatArray:
        """Return points (n, 3) of the curve along which the child's origin slides, in the parent's canonical frame.

        Curves are drawn `reach` m far from where the coordinate is zero; none of other joints.
        """
        return np.zeros((0, 3))

    @property
    def neutral(self) -> FloatArray:
        """Coordinates (nq,) at which the joint's frames coincide."""
        q = np.zeros(self.nq)
        if self.quaternion is not None:
            q[self.quaternion.start] = 1.0
        return q

    def normalised(self, q: FloatArray, what: str) -> FloatArray:
        """Return coordinates (nq,) with a quaternion of length 1; one of length 0 is refused; `what` names it all."""
        if self.quaternion is None:
            return q
        given = q[self.quaternion]
        if not given.any():
            raise MechanismError(
                f"{what} has a quaternion of length zero; give [w, x, y, z] of a rotation, such as (1, 0, 0, 0)"
            )
        normal = q.copy()
        normal[self.quaternion] = unit(given)
        normal.setflags(write=False)
        return normal

    def __repr__(self) -> str:
        given = (str(tuple(value)) if isinstance(value, list) else repr(value) for value in self.arguments.values())
        return f"{type(self).__name__}({', '.join(given)})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, JointKind):
            return NotImplemented
        return type(self) is type(other) and np.array_equal(self.axes, other.axes) and self.value == other.value

    def __hash__(self) -> int:
        return hash((self.type_name, self.value, *(tuple(axis.tolist()) for axis in self.axes)))


@checks_keywords
class Revolute(JointKind):
    """A hinge: q is the angle in rad of the child about `axis`, right-handed; u is its rate in rad/s.

    >>> Revolute(axis=(0, 2, 0)), Revolute("y")
    (Revolute((0.0, 1.0, 0.0)), Revolute((0.0, 1.0, 0.0)))
    """

    type_name = "revolute"
    keeps = "z"
    turns_and_slides = ("turn z",)
    axis_names = ("axis",)
    coordinate_units = motion_units = ("rad",)
    frame_note = "joint axis along z"
    looks_along = True

    def __init__(self, axis: ArrayLike) -> None:
        self.axis = direction(axis, "Revolute: axis")


@checks_keywords
class Prismatic(JointKind):
    """A slide: q is the displacement in m of the child along `axis`; u is its rate in m/s."""

    type_name = "prismatic"
    keeps = "all"
    turns_and_slides = ("slide z",)
    axis_names = ("axis",)
    coordinate_units = motion_units = ("m",)
    frame_note = "joint axis along z"
    slides_along = True

    def __init__(self, axis: ArrayLike) -> None:
        self.axis = direction(axis, "Prismatic: axis")


@checks_keywords
class Universal(JointKind):
    """A Cardan joint: two hinges whose axes are perpendicular and intersect.

    q are the angles in rad about `axis1`, fixed in the parent, and about `axis2`, fixed in the child; u are their rates
    in rad/s. The child is turned about axis2 first, then about axis1.

    >>> Universal((0, 0, 1), (2, 0, 0))
    Universal((0.0, 0.0, 1.0), (1.0, 0.0, 0.0))
    """

    type_name = "universal"
    keeps = "angle"
    turns_and_slides = ("turn z", "turn x")
    axis_names = ("axis1", "axis2")
    coordinate_units = motion_units = ("rad", "rad")
    frame_note = "axis1 along z, axis2 along x"

    def __init__(self, axis1: ArrayLike, axis2: ArrayLike) -> None:
        self.axis1 = direction(axis1, "Universal: axis1")
        self.axis2 = _perpendicular(
            direction(axis2, "Universal: axis2"),
            self.axis1,
            "axis1 and axis2 of a Universal must be perpendicular where its coordinates are zero",
            "correct one of them, or put the other angle into child_frame",
        )


@checks_keywords
class Cylindrical(JointKind):
    """A slide that also turns.

    q are the angle in rad about and the displacement in m along `axis`; u are their rates in rad/s and m/s.
    """

    type_name = "cylindrical"
    keeps = "z"
    turns_and_slides = ("turn z", "slide z")
    axis_names = ("axis",)
    coordinate_units = motion_units = ("rad", "m")
    frame_note = "joint axis along z"
    looks_along = True
    slides_along = True

    def __init__(self, axis: ArrayLike) -> None:
        self.axis = direction(axis, "Cylindrical: axis")


@checks_keywords
class Screw(JointKind):
    """A nut on a screw, a helical joint: the child turns about `axis` and advances along it.

    q is the angle in rad of the child about `axis`, right-handed; u is its rate in rad/s; the load is the torque that
    does work on it. The displacement along `axis` is `pitch` times q.

    Parameters
    ----------
    axis
        Direction of the axis, (3,).
    pitch
        Advance in m/rad: the lead, which is the advance in one revolution, divided by 2 pi. Below zero for a left-hand
        thread.

    Notes
    -----
    Where the joint closes a loop, the displacement decides how many revolutions q counts.

    >>> Screw(axis=(0, 0, 3), pitch=0.002)
    Screw((0.0, 0.0, 1.0), 0.002)
    """

    type_name = "screw"
    keeps = "z"
    axis_names = ("axis",)
    coordinate_units = motion_units = ("rad",)
    frame_note = "joint axis along z"
    parameter = JointParameter("pitch", "m/rad", "advance along the axis for each radian; the lead divided by 2 pi")
    looks_along = True
    slides_along = True

    def __init__(self, axis: ArrayLike, pitch: float) -> None:
        self.axis = direction(axis, "Screw: axis")
        self.pitch = number(pitch, "Screw: pitch")

    @property
    def periods(self) -> tuple[float, ...]:
        """Without a pitch a revolution; otherwise never."""
        return (math.inf if self.pitch else math.tau,)


@checks_keywords
class Planar(JointKind):
    """A plane across `normal` on which the child slides and turns.

    q are the displacements in m along x and y, fixed in the parent, and the angle in rad about the normal; u are their
    rates in m/s and rad/s. x is the joint frame's x axis projected on the plane (its y axis where the normal is within
    25 degrees of x), and y completes the right-handed frame x, y, normal.
    """

    type_name = "planar"
    keeps = "z"
    turns_and_slides = ("slide x", "slide y", "turn z")
    axis_names = ("normal",)
    coordinate_units = motion_units = ("m", "m", "rad")
    frame_note = "normal along z, displacements along x and y"
    looks_along = True

    def __init__(self, normal: ArrayLike) -> None:
        self.normal = direction(normal, "Planar: normal")

    @property
    def canonical_axes(self) -> FloatArray:
        """The canonical joint frame: the normal is its z, the displacements are along its x and y."""
        z = self.normal
        nearest = np.eye(3)[1 if abs(z[0]) > 0.9 else 0]
        x = unit(nearest - (nearest @ z) * z)
        return np.column_stack([x, np.cross(z, x), z])


@checks_keywords
class PinInSlot(JointKind):
    """A pin of the child in a slot of the parent: the child slides along the slot and turns about the pin.

    q are the displacement in m along `slot` and the angle in rad about `axis`, right-handed; u are their rates in m/s
    and rad/s; the loads are a force along the slot and a torque about the pin. Both directions are fixed in the parent
    and perpendicular; a slot that is perpendicular within 1e-5 is made exactly so.

    Parameters
    ----------
    axis
        Direction of the pin, (3,).
    slot
        Direction of the slot, (3,).

    >>> PinInSlot(axis=(0, 0, 1), slot=(2, 0, 0))
    PinInSlot((0.0, 0.0, 1.0), (1.0, 0.0, 0.0))
    """

    type_name = "pin_in_slot"
    keeps = "z"
    turns_and_slides = ("slide x", "turn z")
    axis_names = ("axis", "slot")
    coordinate_units = motion_units = ("m", "rad")
    frame_note = "axis along z, slot along x"
    looks_along = True

    def __init__(self, axis: ArrayLike, slot: ArrayLike) -> None:
        self.axis, self.slot = _axis_and_tangent("PinInSlot", axis, "slot", slot)


class AlongCircle(JointKind):
    """What joints along a circle have in common; their second axis is the direction where the displacement is zero."""

    keeps = "z"
    looks_along = True
    radius: float  # in m; below zero the centre lies against the direction axis x second axis

    @property
    def periods(self) -> tuple[float, ...]:
        """A lap of the circle, then as of other joints."""
        return (math.tau * abs(self.radius), *super().periods[1:])

    def guide(self, reach: float) -> FloatArray:
        """Return points (n, 3) of the circle, which begins at the origin along x: up to half of it either way."""
        r = self.radius
        angle = np.linspace(-1.0, 1.0, 97) * min(np.pi, reach / abs(r))
        return np.column_stack([r * np.sin(angle), r * (1.0 - np.cos(angle)), np.zeros_like(angle)])


@checks_keywords
class CurvedSlide(AlongCircle):
    """A slide along a circle of the parent: the child's frame turns with the tangent.

    q is the displacement in m along the circle, right-handed about `axis`; u is its rate in m/s; the load is the force
    along the circle. Where q is zero both frames coincide and the slide runs along `direction`; the centre of the
    circle lies at `radius` along `axis` x `direction`. The child has turned about `axis` by q / `radius`. Both
    directions are fixed in the parent and perpendicular; one that is perpendicular within 1e-5 is made exactly so.

    Parameters
    ----------
    axis
        Direction of the axis of the circle, (3,).
    direction
        Direction of the slide where q is zero, (3,).
    radius
        Radius in m, not zero; below zero the centre lies against that direction.

    Notes
    -----
    q counts every lap of a full circle, as the angle of a hinge does its revolutions.

    >>> CurvedSlide(axis=(0, 0, 1), direction=(2, 0, 0), radius=0.5)
    CurvedSlide((0.0, 0.0, 1.0), (1.0, 0.0, 0.0), 0.5)
    """

    type_name = "curved_slide"
    axis_names = ("axis", "direction")
    coordinate_units = motion_units = ("m",)
    frame_note = "axis of the circle along z, slide along x where q is zero"
    parameter = JointParameter("radius", "m", "radius of the circle; below zero the centre lies against that direction")

    def __init__(self, axis: ArrayLike, direction: ArrayLike, radius: float) -> None:
        self.axis, self.direction = _axis_and_tangent("CurvedSlide", axis, "direction", direction)
        self.radius = _radius(radius, "CurvedSlide: radius")


@checks_keywords
class CurvedSlot(AlongCircle):
    """A pin of the child in a circular slot of the parent: the child slides along the slot and turns about the pin.

    q are the displacement in m along the slot, right-handed about `axis`, and the angle in rad about the pin, which is
    parallel to `axis`; u are their rates in m/s and rad/s; the loads are a force along the slot and a torque about the
    pin. Where q is zero the slot runs along `slot`; the centre of its circle lies at `radius` along `axis` x `slot`.
    Both directions are fixed in the parent and perpendicular; a slot that is perpendicular within 1e-5 is made so.

    Parameters
    ----------
    axis
        Direction of the pin and of the axis of the circle, (3,).
    slot
        Direction of the slot where its displacement is zero, (3,).
    radius
        Radius in m, not zero; below zero the centre lies against that direction.

    >>> CurvedSlot(axis=(0, 0, 1), slot=(2, 0, 0), radius=0.5)
    CurvedSlot((0.0, 0.0, 1.0), (1.0, 0.0, 0.0), 0.5)
    """

    type_name = "curved_slot"
    axis_names = ("axis", "slot")
    coordinate_units = motion_units = ("m", "rad")
    frame_note = "axis along z, slot along x where its displacement is zero"
    parameter = JointParameter("radius", "m", "radius of the slot; below zero the centre lies against that direction")

    def __init__(self, axis: ArrayLike, slot: ArrayLike, radius: float) -> None:
        self.axis, self.slot = _axis_and_tangent("CurvedSlot", axis, "slot", slot)
        self.radius = _radius(radius, "CurvedSlot: radius")


class AlongPath(JointKind):
    """What joints along a path through points have in common."""

    axis_names = ("axis",)
    looks_along = True

    def __init__(self, points: ArrayLike, axis: ArrayLike, closed: bool = False) -> None:
        what = type(self).__name__
        if not isinstance(closed, bool | np.bool_):
            raise MechanismError(f"{what}: closed must be True or False, not {closed!r}")
        count = length(points)
        least = 3 if closed else 2
        if not least <= count <= MOST_POINTS:
            raise MechanismError(f"{what}: points must be {least} to {MOST_POINTS} points (n, 3), not {count}")
        # Points (n, 3) of the parent, in m, in joint-frame axes.
        self.points = finite(points, (count, 3), f"{what}: points")
        self.axis = direction(axis, f"{what}: axis")
        self.closed = bool(closed)  # whether the path returns from the last point to the first
        chords = np.linalg.norm(np.diff(self.points, axis=0, append=self.points[:1]), axis=1)
        same = np.flatnonzero((chords if closed else chords[:-1]) <= 1e-9 * np.ptp(self.points, axis=0).max())
        if same.size:
            raise MechanismError(f"{what}: point {same[0] + 1} and the next one are the same; leave one of them out")
        self.path = Path(self.points @ self.canonical_axes, closed=self.closed)  # the curve, in the canonical frame
        _, places, tangents = self.path.samples
        across = np.hypot(*tangents.T[:2])
        if across.min() < _ALONG_AXIS:
            place = (self.canonical_axes @ places[np.argmin(across)]).round(6).tolist()
            raise MechanismError(
                f"{what}: near {place} the path runs along axis; give an axis that it nowhere runs along"
            )

    @classmethod
    def argument_names(cls) -> tuple[str, ...]:
        """Names of what the constructor takes, which are those in files."""
        return ("points", "axis", "closed")

    @property
    def arguments(self) -> dict[str, Any]:
        """What the constructor takes, by name."""
        return {"points": self.points.tolist(), "axis": self.axis.tolist(), "closed": self.closed}

    @property
    def length(self) -> float:
        """Length of the path, m."""
        return self.path.length

    @property
    def periods(self) -> tuple[float, ...]:
        """A lap of a closed path, then as of other joints."""
        return (self.length if self.closed else math.inf, *super().periods[1:])

    @property
    def path_numbers(self) -> FloatArray:
        """The numbers of its path as the core takes them."""
        return self.path.numbers

    def guide(self, reach: float) -> FloatArray:
        """Return points (n, 3) of the path."""
        return self.path.samples[1]

    def __repr__(self) -> str:
        closed = ", closed=True" if self.closed else ""
        return f"{type(self).__name__}(<{len(self.points)} points>, {tuple(self.axis.tolist())}{closed})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AlongPath):
            return NotImplemented
        return type(self) is type(other) and self.arguments == other.arguments

    def __hash__(self) -> int:
        return hash((self.type_name, self.closed, self.points.tobytes(), self.axis.tobytes()))


@checks_keywords
class PathSlide(AlongPath):
    """A slide along a curve through points of the parent, such as the track of a roller coaster.

    q is the length in m along the curve from the first point; u is its rate in m/s; the load is the force along the
    curve. The x axis of the child's frame is the tangent, its z axis is as near to `axis` as it can be; where the joint
    has canonical frames these are the child's.

    Parameters
    ----------
    points
        Points (n, 3) in the frame of the joint in the parent, in m; at most 500.
    axis
        Direction (3,) that the z axis of the child keeps to; the path must nowhere run along it. On a loop-the-loop,
        that is the direction across it.
    closed
        True: the path returns from the last point to the first; q counts every lap. An open path continues straight
        beyond its ends; stops limit the motion.

    Notes
    -----
    The curve is a spline of degree five with four continuous derivatives. The joint needs frames: `parent_frame`, in
    which the points are given, and `child_frame`.

    >>> slide = PathSlide([(0, 0, 0), (1, 0, 0.2), (2, 0, 0)], axis=(0, 1, 0))
    >>> round(slide.length, 6)
    2.046797
    """

    type_name = "path_slide"
    keeps = ""
    coordinate_units = motion_units = ("m",)
    frame_note = "axis along z; the child's x along the path"


@checks_keywords
class PathSlot(AlongPath):
    """A pin of the child in a slot of the parent along a curve through points, such as the groove of a cam.

    q are the length in m along the curve from the first point and the angle in rad about the pin, which is along `axis`
    of the parent; u are their rates in m/s and rad/s; the loads are a force along the curve and a torque about the pin.

    Parameters
    ----------
    points
        Points (n, 3) in the frame of the joint in the parent, in m; at most 500.
    axis
        Direction of the pin, (3,); the path must nowhere run along it.
    closed
        True: the path returns from the last point to the first; q counts every lap. An open path continues straight
        beyond its ends; stops limit the motion.

    Notes
    -----
    The curve is a spline of degree five with four continuous derivatives. The joint needs frames: `parent_frame`, in
    which the points are given, and `child_frame`.

    >>> PathSlot([(0, 0, 0), (1, 0.2, 0), (2, 0, 0)], axis=(0, 0, 1))
    PathSlot(<3 points>, (0.0, 0.0, 1.0))
    """

    type_name = "path_slot"
    keeps = "z"
    coordinate_units = motion_units = ("m", "rad")
    frame_note = "axis along z"


class Spherical(JointKind):
    """A ball in a socket.

    q is the unit quaternion [w, x, y, z] of the child in the parent; u is the angular velocity of the child relative to
    the parent in rad/s, in child axes. An element of u is not the rate of one of q.
    """

    type_name = "spherical"
    keeps = ""
    coordinate_units = ("1",) * 4
    motion_units = ("rad",) * 3


class Free(JointKind):
    """No constraint: the child moves freely relative to the parent.

    q are the position in m of the child's joint frame in the parent's, in parent axes, and the unit quaternion
    [w, x, y, z] of the child in the parent; u are the angular velocity in rad/s of the child relative to the parent and
    the relative velocity in m/s of its frame's origin, both in child axes.
    """

    type_name = "free"
    keeps = ""
    coordinate_units = ("m",) * 3 + ("1",) * 4
    motion_units = ("rad",) * 3 + ("m",) * 3


class Fixed(JointKind):
    """A weld: no coordinate."""

    type_name = "fixed"
    keeps = "all"
    turns_and_slides = ()


def _axis_and_tangent(kind: str, axis: ArrayLike, name: str, tangent: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return two perpendicular unit vectors."""
    along = direction(axis, f"{kind}: axis")
    across = _perpendicular(
        direction(tangent, f"{kind}: {name}"),
        along,
        f"axis and {name} of a {kind} must be perpendicular",
        "correct one of them",
    )
    return along, across


def _radius(value: float, what: str) -> float:
    """Return a radius; zero is refused."""
    radius = number(value, what)
    if radius == 0.0:
        raise MechanismError(f"{what} must not be zero; a Revolute turns about a fixed axis")
    return radius


def _perpendicular(vector: FloatArray, axis: FloatArray, rule: str, remedy: str) -> FloatArray:
    """Return a unit vector that is nearly perpendicular to a unit vector as one that is; any other is refused."""
    cosine = float(vector @ axis)
    if abs(cosine) > PERPENDICULAR:
        angle = np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0)))
        raise MechanismError(f"{rule}, not at {angle:.6g} degrees; {remedy}")
    return unit(vector - cosine * axis) if abs(cosine) > EXACT else vector
