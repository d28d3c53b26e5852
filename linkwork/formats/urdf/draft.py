"""A URDF as it grows: its elements, and where the bodies and coordinates of the mechanism are in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from xml.etree import ElementTree

from linkwork.formats.report import Report
from linkwork.formats.urdf.spanning import Tree
from linkwork.mechanism import Mechanism


@dataclass
class Draft:
    """The file as it grows.

    Attributes
    ----------
    links
        By body: the name of its link.
    places
        By joint and number of the coordinate, from 0: the `<joint>` that has this coordinate.
    """

    mech: Mechanism
    report: Report
    tree: Tree
    root: ElementTree.Element = field(default_factory=lambda: ElementTree.Element("robot"))
    links: dict[str, str] = field(default_factory=dict)
    places: dict[tuple[str, int], ElementTree.Element] = field(default_factory=dict)
    _taken_links: set[str] = field(default_factory=set)
    _taken_joints: set[str] = field(default_factory=set)

    def new_link(self, name: str) -> str:
        """Return a new name of a link."""
        return _new(name, self._taken_links)

    def new_joint(self, name: str) -> str:
        """Return a new name of a joint."""
        return _new(name, self._taken_joints)


def _new(name: str, taken: set[str]) -> str:
    found, count = name, 2
    while found in taken:
        found, count = f"{name}_{count}", count + 1
    taken.add(found)
    return found
