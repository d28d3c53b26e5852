"""The data of a page, as the viewer reads them: `viewer/src/payload.ts` has the same types and names.

A vector is a list of three numbers, a quaternion of four, [w, x, y, z]. Columns are named as in results.
"""

from __future__ import annotations

from typing import Any, TypedDict

Vector = list[float]


class Frame(TypedDict):
    """A frame in the frame of a body: its origin, m, and its axes."""

    r: Vector
    Q: list[float]


class Box(TypedDict):
    """An equimomental box: edges, m, and its axes in the body."""

    size: Vector
    Q: list[float]


class Body(TypedDict):
    """A body; `anchors` are the points at which joints, springs and distances hold it."""

    name: str
    mass: float
    com: Vector
    box: Box | None
    anchors: list[Vector]
    shapes: list[Any]
    r: list[str]
    Q: list[str]


class JointParameter(TypedDict):
    """The number that belongs to a joint."""

    label: str
    unit: str


class Joint(TypedDict):
    """A joint; its frames have the axis along z, and its axes are in them."""

    name: str
    type: str
    title: str
    keeps: str
    parameter: JointParameter | None
    parent: str
    child: str
    parentFrame: Frame
    childFrame: Frame
    axes: list[Vector]
    cut: bool
    pitch: float
    guide: list[Vector]
    q: list[str]
    u: list[str]
    f: list[str]
    t: list[str]
    spring: bool
    damper: bool
    closed: str | None


class Spring(TypedDict):
    """A spring and damper between points of two bodies, a force by a formula, which is drawn as one, or a bushing."""

    name: str
    title: str  # of a force by a formula and a bushing what it is; else empty
    mount: bool  # a bushing, whose force has any direction
    formula: str
    bodies: list[str]
    points: list[Vector]
    stiffness: float
    damping: float
    free: float
    force: str  # the column of its force along the line; empty: it has none


class Cable(TypedDict):
    """A force along a line through points of bodies; a factor for each piece, 0: there is none."""

    name: str
    title: str
    formula: str
    bodies: list[str]
    points: list[Vector]
    factors: list[float]
    force: str  # the column of its tension, which a piece has by its factor


class Distance(TypedDict):
    """A constant distance of points of two bodies."""

    name: str
    bodies: list[str]
    points: list[Vector]
    force: str


class Term(TypedDict):
    """A coordinate in a coupling; `element` counts from 0."""

    joint: str
    element: int
    coefficient: float


class Coupling(TypedDict):
    """A coupling of joint coordinates."""

    name: str
    terms: list[Term]
    load: str


class Wrench(TypedDict):
    """A wrench that is applied to a body."""

    name: str
    body: str
    point: Vector
    F: list[str]
    T: list[str]


class JointForce(TypedDict):
    """A force by a formula in joints, which is listed and not drawn."""

    name: str
    title: str
    formula: str
    joints: list[str]


class Table(TypedDict):
    """The abscissae of a table of a formula, of its first argument; `dots`: it has no other one, and they are drawn."""

    knots: list[float]  # empty: too many to be drawn
    span: list[float]
    periodic: bool
    dots: bool


class Characteristic(TypedDict):
    """A result of the formula of a force, which the core evaluates for the page."""

    force: str
    result: int
    label: str
    unit: str
    arguments: list[str]  # columns, in the order of the core
    over: list[int]  # of these, those over which it may be drawn; by default the first one
    tables: list[Table]


class PointOfInterest(TypedDict):
    """A point of interest, and its direction."""

    name: str
    body: str
    point: Vector
    axis: Vector | None


class Scene(TypedDict):
    """All that is drawn, without its motion."""

    name: str
    size: float
    gravity: Vector
    bodies: list[Body]
    joints: list[Joint]
    springs: list[Spring]
    cables: list[Cable]
    distances: list[Distance]
    couplings: list[Coupling]
    wrenches: list[Wrench]
    forces: list[JointForce]
    points: list[PointOfInterest]
    characteristics: list[Characteristic]
    model: str  # packed bytes of the model for these, in pages of results; else empty
    groundShapes: list[Any]
    residuals: list[str]
    conditioning: list[str]
    energies: list[str]
    units: dict[str, str]
    warnings: list[str]


class RunEvent(TypedDict):
    """An event of a run."""

    t: float
    text: str


class RecordedRun(TypedDict):
    """A recorded run: columns of numbers, packed."""

    label: str
    scene: int
    rows: int
    rowsOfResult: int
    columns: list[str]
    events: list[RunEvent]
    message: str
    values: str


class Setting(TypedDict):
    """A number of the model's block that can be changed."""

    name: str
    offset: int
    value: float
    unit: str
    minimum: float | None
    maximum: float | None


class Priority(TypedDict):
    """Where the rank of a start value stands: assembly keeps the lowest rank longest, 0: it is a guess."""

    name: str
    offset: int


class Drag(TypedDict):
    """Where the point and the force of a wrench stand by which a body is dragged."""

    point: int
    force: int


class LiveModel(TypedDict):
    """A mechanism that the page simulates."""

    scene: int
    model: str
    t_end: float
    rtol: float
    atol: float
    rows_per_second: float
    parameters: list[Setting]
    inputs: list[Setting]
    start: list[Setting]
    priorities: list[Priority]
    given: list[str]
    columns: dict[str, int]
    drag: dict[str, Drag]


class Payload(TypedDict):
    """All data of a page."""

    format: int
    title: str
    version: str
    scenes: list[Scene]
    runs: list[RecordedRun]
    live: LiveModel | None
    core: str | None
    meshes: list[Any]
