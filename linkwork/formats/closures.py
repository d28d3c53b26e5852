"""Point closures on one pair of bodies: two hold them as a hinge does, three as a weld.

Two points that are held together on both bodies leave a rotation about their line: as two closures of three equations
each, one of the six is redundant. As one hinge all five are independent.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork.mechanism import Fixed, Frame, Revolute, Spherical
from linkwork.mechanism.frames import unit
from linkwork.mechanism.joints import JointKind

_EQUAL = 1e-3  # of distances on both bodies, relative to the largest; beyond, the closures contradict each other
_EXACT = 1e-9  # below, they are equal
_APART = 1e-9  # m; nearer points are one
_AREA = (
    1e-6  # of three points that are not on a line: twice their triangle's area, relative to the longest side squared
)


@dataclass
class Closure:
    """A closure between two bodies.

    Attributes
    ----------
    elements
        Those of the file that it stands for.
    text
        How, if they are several.
    gap
        m, by which distances of its points on one body differ from those on the other one.
    """

    name: str
    kind: JointKind
    parent: str | None
    child: str | None
    parent_frame: Frame
    child_frame: Frame
    elements: list[str]
    text: str = ""
    gap: float = 0.0


def joined(closures: list[Closure]) -> list[Closure]:
    """Return the closures with those replaced by hinges and welds that point closures make up."""
    pairs: dict[frozenset[str | None], list[Closure]] = {}
    for closure in closures:
        if isinstance(closure.kind, Spherical):
            pairs.setdefault(frozenset((closure.parent, closure.child)), []).append(closure)
    replaced = {id(closure): group for group in pairs.values() if len(group) > 1 for closure in group}
    found: list[Closure] = []
    for closure in closures:
        points = replaced.get(id(closure))
        if points is None:
            found.append(closure)
        elif closure is points[0]:
            one = _as_one(points)
            found += points if one is None else [one]
    return found


def _as_one(points: list[Closure]) -> Closure | None:
    """Return the one closure that point closures of a pair make up; None where they contradict each other."""
    parent, child = points[0].parent, points[0].child
    here = np.array([p.parent_frame.position if p.parent == parent else p.child_frame.position for p in points])
    there = np.array([p.child_frame.position if p.parent == parent else p.parent_frame.position for p in points])
    sides, others = (np.linalg.norm(at[:, None] - at[None], axis=-1) for at in (here, there))
    longest = float(sides.max())
    gap = float(np.abs(sides - others).max())
    if gap > max(_EQUAL * longest, _APART):
        return None
    gap = gap if gap > _EXACT * longest else 0.0
    elements = [element for point in points for element in point.elements]
    name = points[0].name
    first, second = np.unravel_index(sides.argmax(), sides.shape)
    if longest <= _APART:
        text = "the same point several times is one ball joint"
        return Closure(name, Spherical(), parent, child, Frame(here[0]), Frame(there[0]), elements, text, gap)
    third = int(np.argmax([_area(here, first, second, k) for k in range(len(here))]))
    if _area(here, first, second, third) <= _AREA * longest**2:
        frames = _line(here, first, second), _line(there, first, second)
        text = f"{len(points)} point closures on one line are one hinge"
        return Closure(name, Revolute((0, 0, 1)), parent, child, *frames, elements, text, gap)
    frames = _triangle(here, first, second, third), _triangle(there, first, second, third)
    text = f"{len(points)} point closures that are not on one line are a weld"
    return Closure(name, Fixed(), parent, child, *frames, elements, text, gap)


def _area(at: FloatArray, first: int, second: int, third: int) -> float:
    return float(np.linalg.norm(np.cross(at[second] - at[first], at[third] - at[first])))


def _line(at: FloatArray, first: int, second: int) -> Frame:
    return Frame.from_two_points(at[first], at[second], axis="z")


def _triangle(at: FloatArray, first: int, second: int, third: int) -> Frame:
    along = unit(at[second] - at[first])
    side = at[third] - at[first]
    return Frame.from_axes(x=along, y=unit(side - (side @ along) * along), origin=at[first])
