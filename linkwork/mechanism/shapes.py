"""Shapes of bodies, for pictures and films: they have no mass and no contact, and change nothing in the motion."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from numbers import Real
from typing import Any, ClassVar

from numpy.typing import ArrayLike

from linkwork._util.checks import finite, positive, shortened
from linkwork._util.keywords import checks_keywords
from linkwork.errors import MechanismError
from linkwork.mechanism.frames import Frame

Size = tuple[float, float, float]
MESH_SUFFIXES = (".stl", ".obj", ".ply", ".glb", ".gltf", ".dae")  # of files that can be shown
_OF_BODY = Frame()
_HEX = re.compile(r"#[0-9a-f]{6}", re.ASCII)


@dataclass(frozen=True, kw_only=True, repr=False)
class Shape:
    """A solid that is fixed in a body or in the world.

    Attributes
    ----------
    frame
        Its frame in the frame of the body; its origin is the middle of the solid, for a mesh the origin of its file.
    colour
        "#rrggbb"; None: that of the body.

    Sizes that are not positive, other frames and other colours are a `MechanismError`, which names the argument.
    """

    type_name: ClassVar[str] = ""

    frame: Frame = _OF_BODY
    colour: str | None = None

    def __post_init__(self) -> None:
        what = f"shape.{self.type_name}"
        if not isinstance(self.frame, Frame):
            raise MechanismError(f"{what}: frame must be a Frame such as Frame((0.1, 0, 0)), not {self.frame!r}")
        self.frame.check(f"{what}: frame")
        object.__setattr__(self, "colour", None if self.colour is None else _colour(self.colour, what))

    @property
    def given(self) -> dict[str, Any]:
        """Its arguments that differ from their defaults, those of its kind first."""
        ordered = sorted(fields(self), key=lambda one: bool(one.kw_only))
        values = {one.name: getattr(self, one.name) for one in ordered}
        return {one.name: values[one.name] for one in ordered if values[one.name] != one.default}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.given.items())})"

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def _set_length(self, name: str) -> None:
        self._set(name, positive(getattr(self, name), f"shape.{self.type_name}: {name}"))


@checks_keywords
@dataclass(frozen=True, repr=False)
class Box(Shape):
    """A box with edges along the axes of its frame, which is in its middle.

    Parameters
    ----------
    size
        Edges along x, y and z, (3,), m, positive.
    frame
        Its frame in the frame of the body.
    colour
        "#rrggbb", or three numbers from 0 to 1: red, green, blue; None: that of the body.

    Examples
    --------
    >>> Box((0.4, 0.05, 0.05), colour=(1, 0.5, 0)).colour
    '#ff8000'
    """

    type_name: ClassVar[str] = "box"

    size: Size

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set("size", _edges(self.size, "shape.box: size"))


@dataclass(frozen=True, repr=False)
class _Round(Shape):
    """A body of revolution with a length."""

    radius: float
    length: float

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set_length("radius")
        self._set_length("length")


@checks_keywords
@dataclass(frozen=True, repr=False)
class Cylinder(_Round):
    """A cylinder along the z axis of its frame, which is in its middle.

    Parameters
    ----------
    radius, length
        m, positive.
    frame
        Its frame in the frame of the body.
    colour
        "#rrggbb", or three numbers from 0 to 1; None: that of the body.

    Examples
    --------
    >>> Cylinder(0.02, 0.4, frame=Frame.from_two_points((0, 0, 0), (1, 0, 0), axis="z")).length
    0.4
    """

    type_name: ClassVar[str] = "cylinder"


@checks_keywords
@dataclass(frozen=True, repr=False)
class Capsule(_Round):
    """A cylinder along the z axis of its frame, which is in its middle, with a half sphere at each end.

    Parameters
    ----------
    radius, length
        m, positive; the length is that of the cylinder.
    frame
        Its frame in the frame of the body.
    colour
        "#rrggbb", or three numbers from 0 to 1; None: that of the body.

    Examples
    --------
    >>> Capsule(radius=0.02, length=0.4).radius
    0.02
    """

    type_name: ClassVar[str] = "capsule"


@checks_keywords
@dataclass(frozen=True, repr=False)
class Sphere(Shape):
    """A sphere about the origin of its frame.

    Parameters
    ----------
    radius
        m, positive.
    frame
        Its frame in the frame of the body.
    colour
        "#rrggbb", or three numbers from 0 to 1; None: that of the body.

    Examples
    --------
    >>> Sphere(0.05).frame
    Frame((0.0, 0.0, 0.0))
    """

    type_name: ClassVar[str] = "sphere"

    radius: float

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set_length("radius")


@checks_keywords
@dataclass(frozen=True, repr=False)
class Mesh(Shape):
    """A triangle mesh from a file: .stl, .obj, .ply, .glb, .gltf or .dae.

    The file is opened when the mechanism is shown, which needs the extra ``mesh``.

    Parameters
    ----------
    path
        The file. A relative path starts from the folder of the file that the mechanism was loaded from, else from the
        current directory.
    scale
        Multiplies the numbers of the file, which are then m: one number, or one for each axis, (3,). A negative one
        mirrors the mesh; zero is refused.
    frame
        Its frame in the frame of the body.
    colour
        "#rrggbb", or three numbers from 0 to 1; None: that of the body. Those of the file are not read.

    Examples
    --------
    >>> Mesh("arm.stl", scale=0.001).scale
    (0.001, 0.001, 0.001)
    """

    type_name: ClassVar[str] = "mesh"

    path: str
    scale: Size = (1.0, 1.0, 1.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        given: object = self.path
        if not isinstance(given, str | os.PathLike) or not os.fspath(given):
            raise MechanismError(f"shape.mesh: path must name a file such as 'arm.stl', not {given!r}")
        self._set("path", str(os.fspath(given)))
        one = isinstance(self.scale, Real)  # NumPy's numbers too
        x, y, z = finite((self.scale,) * 3 if one else self.scale, (3,), "shape.mesh: scale").tolist()
        if not (x and y and z):
            raise MechanismError(f"shape.mesh: scale must not be zero, got {[x, y, z]}")
        self._set("scale", (x, y, z))


SHAPES: dict[str, type[Shape]] = {kind.type_name: kind for kind in (Box, Cylinder, Capsule, Sphere, Mesh)}


def _edges(value: ArrayLike, what: str) -> Size:
    x, y, z = finite(value, (3,), what).tolist()
    if not min(x, y, z) > 0.0:
        raise MechanismError(f"{what} must be positive, not {[x, y, z]}")
    return x, y, z


def _colour(value: object, what: str) -> str:
    """Return a colour as "#rrggbb"."""
    if isinstance(value, str):
        if _HEX.fullmatch(value.lower()):
            return value.lower()
    elif isinstance(value, Sequence) or hasattr(value, "shape"):
        parts = finite(value, (3,), f"{what}: colour")  # type: ignore[arg-type]
        if parts.min() >= 0.0 and parts.max() <= 1.0:
            return "#" + "".join(f"{round(255 * part):02x}" for part in parts.tolist())
    raise MechanismError(
        f"{what}: colour must be '#rrggbb', or three numbers from 0 to 1 for red, green and blue, not "
        f"{shortened(value)}"
    )
