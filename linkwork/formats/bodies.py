"""Bodies of links: links that are fixed to each other become one; an inertia that no body can have is corrected."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork.errors import MechanismError
from linkwork.formats.report import Report
from linkwork.formats.robot import Link, Robot, RobotJoint
from linkwork.mechanism import Fixed, Frame
from linkwork.mechanism.part_checks import INERTIA_TOLERANCE

_GAP = 1e-6  # m and rad: between frames that two ways of fixed joints give


@dataclass
class LinkBody:
    """The body of some links."""

    name: str  # of the link whose frame is that of the body
    # mass, com, inertia: of all its links together, in its frame
    mass: float = 0.0
    com: FloatArray = field(default_factory=lambda: np.zeros(3))
    inertia: FloatArray = field(default_factory=lambda: np.zeros((3, 3)))


class Bodies:
    """The bodies of a robot, and for each link its body and its frame in this.

    Parameters
    ----------
    robot
        Joined to the world, with poses.
    merge_fixed
        True: links that Fixed joints or closures hold together are one body. Else every link is a body.
    """

    def __init__(self, robot: Robot, merge_fixed: bool) -> None:
        self.frames: dict[str | None, tuple[str | None, Frame]] = {None: (None, Frame())}
        self.merged: set[str] = set()
        fixed = [joint for joint in robot.joints.values() if merge_fixed and isinstance(joint.kind, Fixed)]
        self._join(robot, fixed)
        self.bodies: dict[str | None, LinkBody] = {}
        members: dict[str | None, list[tuple[Link, Frame]]] = {}
        for name, (body, frame) in self.frames.items():
            if name is not None:
                members.setdefault(body, []).append((robot.links[name], frame))
        for body, links in members.items():
            if body is not None:
                self.bodies[body] = _composite(body, links)

    def place(self, link: str | None, frame: Frame) -> tuple[str | None, Frame]:
        """Return the body of a link, and a frame that is given in the link in the frame of the body."""
        body, of_link = self.frames[link]
        return body, of_link @ frame

    def _join(self, robot: Robot, fixed: list[RobotJoint]) -> None:
        """Find the body of each link; tree joints first, so that a body has the name of its innermost link."""
        neighbours: dict[str | None, list[RobotJoint]] = {}
        for joint in sorted(fixed, key=lambda joint: joint.closes):
            neighbours.setdefault(joint.parent, []).append(joint)
            neighbours.setdefault(joint.child, []).append(joint)
        for start in (None, *_inner_first(robot)):
            self.frames.setdefault(start, (start, Frame()))
            waiting = [start]
            for link in waiting:
                for joint in neighbours.get(link, ()):
                    if joint.name not in self.merged:
                        self.merged.add(joint.name)
                        self._cross(joint, link, waiting)

    def _cross(self, joint: RobotJoint, link: str | None, waiting: list[str | None]) -> None:
        across = joint.parent_frame @ joint.child_frame.inverse()
        other = joint.child
        if link != joint.parent:
            across, other = across.inverse(), joint.parent
        body, frame = self.place(link, across)
        if other not in self.frames:
            self.frames[other] = body, frame
            waiting.append(other)
            return
        gap = self.frames[other][1].inverse() @ frame
        turned = float(np.abs(gap.rotation - np.eye(3)).max())
        if np.linalg.norm(gap.position) > _GAP or turned > _GAP:
            raise MechanismError(
                f"{joint.element} fixes links that other fixed joints hold {np.linalg.norm(gap.position):.3g} m and "
                f"{np.degrees(turned):.3g} deg away from there: correct one of their frames"
            )


def possible_inertia(body: LinkBody, element: str, report: Report) -> FloatArray:
    """Return an inertia that a body can have, nearest to the body's; a change is reported.

    Negative principal moments become zero; where the largest one exceeds the sum of the others, each of these grows by
    half the excess, so that a motion in the plane across the largest one's axis stays as it is.
    """
    scale = float(np.abs(body.inertia).max())
    if scale == 0.0:
        return body.inertia
    moments, axes = np.linalg.eigh(0.5 * (body.inertia + body.inertia.T))
    possible = np.maximum(moments, 0.0)
    possible[:2] += max(0.5 * (possible[2] - possible[0] - possible[1]), 0.0)
    change = float(np.abs(possible - moments).max())
    if change <= INERTIA_TOLERANCE * scale:
        return 0.5 * (body.inertia + body.inertia.T)
    given, used = (", ".join(f"{moment:.6g}" for moment in of) for of in (moments, possible))
    report.approximated(
        f"{element} > inertia", f"no body has the principal moments {given} kg m^2; {used} kg m^2 are used"
    )
    found: FloatArray = (axes * possible) @ axes.T
    return 0.5 * (found + found.T)


def _inner_first(robot: Robot) -> list[str]:
    """Return the links by their distance from the world along joints that close no loop, else as in the file."""
    children: dict[str | None, list[str | None]] = {}
    for joint in robot.joints.values():
        if not joint.closes:
            children.setdefault(joint.parent, []).append(joint.child)
            children.setdefault(joint.child, []).append(joint.parent)
    order: dict[str | None, None] = {None: None}
    waiting: list[str | None] = [None]
    for link in waiting:
        for other in children.get(link, ()):
            if other not in order:
                order[other] = None
                waiting.append(other)
    return [name for name in order if name is not None] + [name for name in robot.links if name not in order]


def _composite(name: str, links: list[tuple[Link, Frame]]) -> LinkBody:
    """Return the body of links with their frames in it."""
    if len(links) == 1 and links[0][0].name == name:
        link = links[0][0]
        return LinkBody(name, link.mass, link.com, link.inertia)
    mass = sum(link.mass for link, _ in links)
    places = [frame.apply(link.com) for link, frame in links]
    com = sum(link.mass * at for (link, _), at in zip(links, places, strict=True)) / mass if mass else np.zeros(3)
    inertia = np.zeros((3, 3))
    for (link, frame), at in zip(links, places, strict=True):
        arm = at - com
        inertia += frame.rotation @ link.inertia @ frame.rotation.T
        inertia += link.mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    return LinkBody(name, mass, np.asarray(com), inertia)
