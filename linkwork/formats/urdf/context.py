"""What all parts of the reader share: the robot, and names of links."""

from __future__ import annotations

from dataclasses import dataclass

from linkwork._util.names import free_name, suggest
from linkwork.errors import MechanismError
from linkwork.formats.report import Report
from linkwork.formats.robot import Robot
from linkwork.formats.xml_tree import Element

WORLD = "world"


@dataclass
class Context:
    """The robot that is read."""

    robot: Robot  # with what has been read so far
    world: bool = False  # whether the link "world" is the world itself, which is no link of the robot

    @property
    def report(self) -> Report:
        """The fidelity report of the robot."""
        return self.robot.report

    def error(self, text: str) -> MechanismError:
        """Return an error that names the file."""
        return MechanismError(f"{self.report.path}: {text}")

    def link(self, element: Element, attribute: str = "link") -> str | None:
        """Return the link that an attribute names, None for the world."""
        name = element.attribute(attribute)
        if name == WORLD and self.world:
            return None
        if name not in self.robot.links:
            raise element.error(f"there is no link {name!r}; {suggest(name, self.robot.links)}")
        return name

    def new_joint_name(self, name: str) -> str:
        """Return a name that no joint has: `name`, or with a number."""
        return free_name(name, self.robot.joints)


def names(element: Element) -> str:
    """Return its name, which must not be empty."""
    name = element.attribute("name")
    if not name:
        raise element.error("the name is empty: give one")
    return name
