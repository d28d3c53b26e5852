"""Scopes of names in SDF: a world or a model, the frames in it, their poses, and the links they move with.

A frame is a link, a joint, a nested model or a `frame`. Its pose is relative to another frame of its scope, or of a
scope nested in that ("arm::hand"); the scope's own frame is "__model__" or "world".
"""

from __future__ import annotations

from dataclasses import dataclass

from linkwork._util.names import suggest
from linkwork.formats.sdf.values import pose_of
from linkwork.formats.xml_tree import Element
from linkwork.mechanism import Frame

MAX_NESTING = 40

WORLD = "world"
MODEL = "__model__"


@dataclass
class Place:
    """A frame in a scope."""

    kind: str  # "link", "joint", "frame" or "model"
    element: Element  # where it is declared
    # pose, relative_to: its pose in the frame of this name
    pose: Frame
    relative_to: str
    attached_to: str = ""  # name of the frame that it moves with; "" for links and models
    # inner, placement: of a model: its own scope, and the name of the frame in it that `pose` places
    inner: Scope | None = None
    placement: str = ""


class Scope:
    """A world or a model."""

    def __init__(self, element: Element, version: int, own: str, prefix: str, *, static: bool, depth: int) -> None:
        if depth > MAX_NESTING:
            raise element.error(f"models are nested in more than {MAX_NESTING} levels")
        self.element = element  # its element
        self.version = version  # the minor version of SDF of its file
        self.own = own  # name of its own frame: "world" or "__model__"
        self.prefix = prefix  # what precedes the names of its links in the robot
        self.static = static  # whether it is immovable
        self.depth = depth
        self.merged = False  # whether its names count as those of the scope around it
        self.world_pose = Frame()  # pose of its own frame in the world
        # places, models: the frames declared in it, and the scopes of those that are models, by name
        self.places: dict[str, Place] = {}
        self.models: dict[str, Scope] = {}
        self.missing: list[str] = []  # what it includes that is not available, and why
        self._poses: dict[str, Frame] = {}

    def add(self, name: str, place: Place) -> None:
        """Add a frame; its name must be new, and must not be one of the format's own."""
        if name == WORLD and not (self.version < 7 and place.kind == "joint"):
            raise place.element.error(
                "the name 'world' is that of the world: give another one, or leave it out where it is to be the ground"
            )
        if name in ("", MODEL):
            raise place.element.error(f"the name {name!r} cannot be used; give another one")
        known = self.places.get(name)
        # Joints could share their names with links before SDF 1.7.
        if known is not None and not (
            self.version < 7 and "joint" in (known.kind, place.kind) and known.kind != place.kind
        ):
            raise place.element.error(f"the name is that of the {known.kind} in line {known.element.line}: rename one")
        if known is None or known.kind == "joint":
            self.places[name] = place
        if place.inner is not None:
            self.models[name] = place.inner

    def pose(self, name: str, asker: Element) -> Frame:
        """Return the pose of a frame, by name, in the scope's own; `asker` is the element that names it."""
        chain: dict[str, Frame] = {}
        while name != self.own and name not in self._poses:
            if name in chain:
                raise asker.error(
                    f"the poses of {' and '.join(map(repr, chain))} are relative to each other: cut the circle"
                )
            local, following = self._step(name, asker)
            chain[name] = local
            name = following
        found = Frame() if name == self.own else self._poses[name]
        for link, local in reversed(chain.items()):
            found = self._poses[link] = found @ local
        return found

    def link(self, name: str, asker: Element) -> str | None:
        """Return the name in the robot of the link with which a frame moves; None: the world."""
        visited = set()
        while True:
            if name == WORLD:
                return None
            if name == MODEL and self.own == MODEL:
                if self.static:
                    return None
                name = self._canonical(asker)
            if name in visited:
                raise asker.error(f"frame {name!r} is attached to itself: attach it to a link")
            visited.add(name)
            place = self.places.get(name)
            if place is None:
                _, inner, rest = self._nested(name, asker)
                return inner.link(rest, asker)
            if place.kind == "link":
                return None if self.static else self.prefix + name
            if place.inner is not None:
                return place.inner.link(MODEL, asker)
            name = place.attached_to or self.own

    def joint(self, name: str, asker: Element) -> str:
        """Return the name in the robot of a joint."""
        place = self.places.get(name)
        if place is None:
            _, inner, rest = self._nested(name, asker)
            return inner.joint(rest, asker)
        if place.kind != "joint":
            raise asker.error(f"{name!r} is a {place.kind}, not a joint")
        return self.prefix + name

    def _step(self, name: str, asker: Element) -> tuple[Frame, str]:
        """Return the pose of a frame in another one, and the name of that one."""
        place = self.places.get(name)
        if place is None:
            model, inner, rest = self._nested(name, asker)
            return inner.pose(rest, asker), model
        if place.inner is not None and place.placement:
            placed = place.inner.pose(place.placement, place.element)
            return place.pose @ placed.inverse(), place.relative_to
        return place.pose, place.relative_to

    def _nested(self, name: str, asker: Element) -> tuple[str, Scope, str]:
        """Return the model of this scope in which a frame is declared: its name, its scope, the frame's name there."""
        found = self._look(name)
        if found is None:
            hint = "; ".join([suggest(name, self.names()), *self.missing])
            raise asker.error(f"there is no link, joint, frame or model {name!r} here; {hint}")
        return found

    def _look(self, name: str) -> tuple[str, Scope, str] | None:
        for model, inner in self.models.items():
            if inner.merged and inner.knows(name):
                return model, inner, name
        parts = name.split("::")
        for k in range(1, len(parts)):
            model = "::".join(parts[:k])
            if model in self.models and not self.models[model].merged:
                return model, self.models[model], "::".join(parts[k:])
        return None

    def knows(self, name: str) -> bool:
        """Return whether a frame of this name is declared in it or in what it merges."""
        return name in self.places or self._look(name) is not None

    def names(self) -> list[str]:
        """Names of its frames, those that it merges included."""
        return [*self.places, *(name for inner in self.models.values() if inner.merged for name in inner.names())]

    def _canonical(self, asker: Element) -> str:
        name = self.element.attribute("canonical_link", "")
        if name:
            return name
        for kind in ("link", "model"):
            for own, place in self.places.items():
                if place.kind == kind:
                    return own
        raise asker.error(f"the model {self.element.label} has no link")


def pose_element(element: Element) -> tuple[Frame, str]:
    """Return the pose of an element, and the name of the frame that it is relative to ("": the default)."""
    pose = element.child("pose")
    if pose is None:
        return Frame(), ""
    # SDF 1.7 renamed `frame` to `relative_to`.
    return pose_of(pose), pose.attribute("relative_to", "") or pose.attribute("frame", "")
