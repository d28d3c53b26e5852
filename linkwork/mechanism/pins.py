"""Loops that close and open: pins, and joints that are released."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from linkwork._util.keywords import checks_keywords
from linkwork._util.names import quoted, suggest
from linkwork.errors import MechanismError, MechanismNameError
from linkwork.mechanism.actions import Action, named
from linkwork.mechanism.frames import Frame
from linkwork.mechanism.joints import AlongPath, JointKind
from linkwork.mechanism.part_checks import check_body_known, lost_bodies
from linkwork.mechanism.parts import check_frame

if TYPE_CHECKING:
    from linkwork.mechanism.surroundings import Surroundings


@checks_keywords
@dataclass(frozen=True)
class Pin(Action):
    """Two bodies are joined, and a loop closes: the transition's name is that of the joint, with "pin.q" and the like.

    Parameters
    ----------
    parent, child
        Names of the bodies, one of them may be "ground".
    kind
        Of the joint, such as `Revolute((0, 0, 1))`; its axes are in the joint frame.
    parent_frame, child_frame
        The joint frame in the parent's and in the child's own frame. One that is left out is where the other is at
        the event; without both it is at the child's origin then, or at the parent's where the child is the ground,
        with the axes of that body.

    Examples
    --------
    >>> from linkwork.mechanism import Frame, Revolute
    >>> Pin("link4", "ground", Revolute((0, 0, 1)), parent_frame=Frame((0.3, 0, 0))).child_frame is None
    True
    """

    type_name = "pin"
    parent: str
    child: str
    kind: JointKind
    parent_frame: Frame | None = None
    child_frame: Frame | None = None

    def __post_init__(self) -> None:
        for side in ("parent", "child"):
            named(getattr(self, side), "Pin", side)
        what = f"Pin of {self.parent!r} and {self.child!r}"
        if self.parent == self.child:
            raise MechanismError(f"{what} joins {self.parent!r} to itself: give two different bodies")
        if not isinstance(self.kind, JointKind):
            raise MechanismError(f"{what}: kind must be a joint such as Revolute(axis=(0, 0, 1)), not {self.kind!r}")
        if isinstance(self.kind, AlongPath) and None in (self.parent_frame, self.child_frame):
            raise MechanismError(f"{what}: a joint along a path needs both parent_frame= and child_frame=")
        for name in ("parent_frame", "child_frame"):
            frame = getattr(self, name)
            if frame is not None:
                check_frame(frame, f"{what}: {name}")

    def check(self, mech: Surroundings, what: str) -> None:
        """Refuse bodies that do not exist (any more)."""
        for body in (self.parent, self.child):
            check_body_known(mech, what, body)


@checks_keywords
@dataclass(frozen=True)
class Release(Action):
    """A pin opens, or a joint that closes a loop: its bodies are no longer joined there.

    Parameters
    ----------
    joint
        Name of the `Pin`, or of a joint without which all bodies are still connected to the ground.

    Examples
    --------
    >>> Release("pin")
    Release(joint='pin')
    """

    type_name = "release"
    joint: str

    def __post_init__(self) -> None:
        named(self.joint, "Release", "joint")

    def check(self, mech: Surroundings, what: str) -> None:
        """Refuse a name that neither a pin nor a joint has."""
        pins = [name for name, other in mech.transitions.items() if isinstance(other.action, Pin)]
        if self.joint in pins or self.joint in mech.joints:
            return
        if self.joint in mech.transitions:
            action = type(mech.transitions[self.joint].action).__name__
            raise MechanismError(f"{what}: {self.joint!r} is a {action}, which leaves nothing to release: name a Pin")
        hint = suggest(self.joint, [*pins, *mech.joints])
        raise MechanismNameError(
            f"{what}: there is neither a pin nor a joint {self.joint!r}: {hint} (pins are added first)"
        )

    def check_whole(self, mech: Surroundings, what: str) -> None:
        """Refuse a joint without which, and without the others that are released, a body hangs on nothing."""
        if self.joint not in mech.joints:
            return
        released = [other.action.joint for other in mech.transitions.values() if isinstance(other.action, Release)]
        joints = [self.joint, *sorted({joint for joint in released if joint in mech.joints} - {self.joint})]
        lost = lost_bodies(mech, without=joints)
        if lost:
            these = f"joint {joints[0]!r}" if len(joints) == 1 else f"joints {quoted(joints)}, all released,"
            raise MechanismError(
                f"{what}: without {these} body {lost[0]!r} is not connected to ground: release joints that close "
                f"loops only, or add a Free joint between {lost[0]!r} and 'ground'"
            )
