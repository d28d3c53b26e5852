"""A mechanism as its parts see it: names that they use, and names and joints that others have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from linkwork._util.checks import FloatArray
from linkwork.mechanism.parts import Body, Joint
from linkwork.mechanism.quantities import Reading


class Readable(Protocol):
    """Names that mean something."""

    def find(self, name: str) -> Reading | None:
        """Return what a name means; None: nothing."""

    def __iter__(self) -> Iterator[str]:
        """Return all names."""


class Taken(Protocol):
    """What forces have taken."""

    @property
    def names(self) -> set[str]:
        """Names of forces."""

    @property
    def joints(self) -> set[str]:
        """Joints that can have one force each."""

    def by(self, forces: list[Any]) -> Taken:
        """Return itself, brought up to a list of forces."""


class Surroundings(Protocol):
    """What a part can name; the attributes are those of `Mechanism`."""

    @property
    def bodies(self) -> Mapping[str, Body]:
        """By name."""

    @property
    def joints(self) -> Mapping[str, Joint]:
        """By name."""

    @property
    def couplings(self) -> Mapping[str, Any]:
        """By name."""

    @property
    def distances(self) -> Mapping[str, Any]:
        """By name."""

    @property
    def measures(self) -> Mapping[str, Any]:
        """By name."""

    @property
    def outputs(self) -> Mapping[str, Any]:
        """By name."""

    @property
    def states(self) -> Mapping[str, Any]:
        """Of elements, by name."""

    @property
    def variables(self) -> Readable:
        """Variables by name, with their units."""

    @property
    def points(self) -> Mapping[str, Any]:
        """By name."""

    @property
    def transitions(self) -> Mapping[str, Any]:
        """By name."""

    @property
    def forces(self) -> list[Any]:
        """In their order."""

    @property
    def taken(self) -> Taken:
        """Names and joints that the forces have."""

    @property
    def start_q(self) -> Mapping[str, FloatArray]:
        """Start guesses of coordinates by name of the joint."""
