"""What robot formats describe, before it becomes a mechanism: links, joints, closures, couplings, actuators.

Readers fill a `Robot` in the terms and with the names of the file; `to_mechanism.py` does what is common to all
formats: bases, fixed links, point closures that make a hinge, names, limits. Units are SI and rad.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork.formats.report import Report
from linkwork.mechanism import Frame
from linkwork.mechanism.joints import JointKind
from linkwork.mechanism.shapes import Shape

Coordinate = tuple[str, int]  # of a joint: its name, and which of its coordinates or speeds, from 0
Range = tuple[float, float]


@dataclass
class Link:
    """A rigid link; massless by default."""

    name: str
    # mass, com, inertia: kg; m, in link axes, (3,); kg m^2, about the centre of mass in link axes, (3, 3)
    mass: float = 0.0
    com: FloatArray = field(default_factory=lambda: np.zeros(3))
    inertia: FloatArray = field(default_factory=lambda: np.zeros((3, 3)))
    pose: Frame | None = None  # in the world where all coordinates are zero; None: follows from the joints
    shapes: list[Shape] = field(default_factory=list)  # what is shown of it, in link axes
    carried: float = 0.0  # fraction of its weight that a force at its centre of mass carries


@dataclass
class RobotJoint:
    """A joint, or a closure of a loop."""

    name: str
    kind: JointKind
    # parent, child: names of links; None: the world
    parent: str | None
    child: str | None
    # parent_frame, child_frame: the joint frame in each link; they coincide where the coordinates are zero. The axes of
    # `kind` are in its axes
    parent_frame: Frame = field(default_factory=Frame)
    child_frame: Frame = field(default_factory=Frame)
    # Whether the file states it as the closure of a loop, which has no coordinates there. Frames of two of a closure
    # coincide where it is closed; where they do is for assembly to find.
    closes: bool = False
    # stiffness, damping, free, friction (Coulomb), reflected_inertia, max_load: one value for each speed; empty: none
    stiffness: tuple[float, ...] = ()
    damping: tuple[float, ...] = ()
    free: tuple[float, ...] = ()
    friction: tuple[float, ...] = ()
    reflected_inertia: tuple[float, ...] = ()
    max_load: tuple[float, ...] = ()
    limits: tuple[Range | None, ...] = ()  # one range for each coordinate, or None; empty: none
    # start, start_u: start values of the coordinates (nq,) and speeds (nu,); None: none
    start: FloatArray | None = None
    start_u: FloatArray | None = None
    element: str = ""  # what reports and errors call it

    def __post_init__(self) -> None:
        self.element = self.element or f"joint {self.name!r}"


@dataclass
class RobotCoupling:
    """An equation of coordinates: for each up to four coefficients, of q, q^2, q^3 and q^4; they add up to `offset`."""

    name: str
    terms: dict[Coordinate, tuple[float, ...]]
    offset: float = 0.0
    element: str = ""

    def __post_init__(self) -> None:
        self.element = self.element or f"coupling {self.name!r}"


@dataclass
class RobotActuator:
    """A force on a sum of coordinates, length = sum of gear times coordinate, as `lw.Actuator` has it.

    force = clip(gain clip(input, input_range) + offset - stiffness length - damping rate, force_range)
    """

    name: str
    gears: dict[Coordinate, float]
    gain: float = 1.0
    offset: float = 0.0
    stiffness: float = 0.0
    damping: float = 0.0
    input_range: Range | None = None
    force_range: Range | None = None
    element: str = ""

    def __post_init__(self) -> None:
        self.element = self.element or f"actuator {self.name!r}"


@dataclass
class RobotRod:
    """A spring and damper between points of two links, or with `rigid` a constant distance of the length `free`, m."""

    name: str
    links: tuple[str | None, str | None]
    points: FloatArray  # (2, 3), each in its link
    stiffness: float = 0.0
    damping: float = 0.0
    free: float = 0.0
    rigid: bool = False
    element: str = ""

    def __post_init__(self) -> None:
        self.element = self.element or f"tendon {self.name!r}"


@dataclass
class RobotLine:
    """Where a force acts along the line through points of links, which each of its pieces has by a factor."""

    links: tuple[str | None, ...]
    points: FloatArray  # (n, 3), each in its link
    factors: tuple[float, ...]  # (n - 1,)


@dataclass
class RobotFrames:
    """Where a force acts between frames of two links: on the second one at its frame's origin, in axes of the first.

    Formulas of the components have {F} for the force, and read displacement, rotation and their rates.
    """

    links: tuple[str | None, str | None]
    frames: tuple[Frame, Frame]
    force: tuple[str, ...] = ("0", "0", "0")
    torque: tuple[str, ...] = ("0", "0", "0")
    length: str = "0"
    rate: str = "0"
    parameters: dict[str, float] = field(default_factory=dict)


@dataclass
class RobotPoint:
    """Where a force acts at a point of a link: vectors that it times, (3,), axes of the link. There is no length."""

    link: str | None
    point: FloatArray
    force: FloatArray
    torque: FloatArray


Place = dict[Coordinate, float] | RobotLine | RobotFrames | RobotPoint


@dataclass
class RobotLaw:
    """A force F by a formula, positive where it makes its length grow; {x} and {v} stand for length and rate."""

    name: str
    place: Place
    formula: str
    parameters: dict[str, float] = field(default_factory=dict)
    inputs: tuple[str, ...] = ()
    states: dict[str, dict[str, Any]] = field(default_factory=dict)  # as of `lw.Force`
    kind: str = "actuator"  # of its name
    what: str = "force by a formula"  # it becomes
    element: str = ""

    def __post_init__(self) -> None:
        self.element = self.element or f"{self.kind} {self.name!r}"


@dataclass
class RobotTendon:
    """A spring and damper along a line or on a sum of coordinates, without force between two free lengths."""

    name: str
    place: dict[Coordinate, float] | RobotLine
    stiffness: float
    damping: float
    free: Range
    element: str = ""


@dataclass
class RobotReel:
    """What a sum of coordinates has as one coordinate of its own: dry friction, inertia, a range."""

    name: str
    gears: dict[Coordinate, float]
    friction: float = 0.0
    reflected_inertia: float = 0.0
    limits: Range | None = None
    element: str = ""


@dataclass
class RobotMount:
    """Isotropic springs between frames of two links: N/m, N m/rad."""

    name: str
    links: tuple[str | None, str | None]
    frames: tuple[Frame, Frame]
    stiffness: tuple[float, float]
    element: str = ""


@dataclass
class Robot:
    """All that a file describes."""

    name: str
    report: Report  # what became of the elements so far
    gravity: FloatArray | None = None  # m/s^2, (3,); None: the default, as the format does not state it
    # links, joints: by name, in the order of the file. Names of links and joints may be the same
    links: dict[str, Link] = field(default_factory=dict)
    joints: dict[str, RobotJoint] = field(default_factory=dict)
    couplings: list[RobotCoupling] = field(default_factory=list)
    actuators: list[RobotActuator] = field(default_factory=list)
    rods: list[RobotRod] = field(default_factory=list)
    laws: list[RobotLaw] = field(default_factory=list)
    tendons: list[RobotTendon] = field(default_factory=list)
    mounts: list[RobotMount] = field(default_factory=list)
    reels: list[RobotReel] = field(default_factory=list)
    # What the file says of links without a joint to the world: "fixed" or "free"; the first of each connected set gets
    # that joint.
    base: str = "fixed"
    shapes: list[Shape] = field(default_factory=list)  # what is shown of the world
