"""A compiled mechanism as its states and messages see it: names, and where numbers stand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from linkwork._util.checks import FloatArray
from linkwork.core.native import Field
from linkwork.core.plan import Topology
from linkwork.mechanism import Mechanism
from linkwork.variables.numbering import Numbering
from linkwork.variables.schema import Column, Variable


class NamedModel(Protocol):
    """Names of a model and their places in the block; the attributes are those of `ModelBase`."""

    mechanism: Mechanism
    model_bytes: bytes

    @property
    def topology(self) -> Topology:
        """The graph of the mechanism."""

    @property
    def numbering(self) -> Numbering:
        """Where each joint's numbers stand."""

    @property
    def removable_joints(self) -> tuple[int, ...]:
        """Positions of the joints that transitions open and close."""

    @property
    def open_joints(self) -> frozenset[int]:
        """Those of them that are open at first."""

    @property
    def fields(self) -> Mapping[str, Field]:
        """Fields of the core's block by name."""

    @property
    def variables(self) -> list[Variable]:
        """All variables."""

    @property
    def columns(self) -> Mapping[str, Column]:
        """Where variables stand, by name."""

    @property
    def listed_names(self) -> list[str]:
        """Names of the inputs, coordinates, speeds and outputs."""

    @property
    def q_names(self) -> list[str]:
        """Names of the coordinates of the tree joints."""

    @property
    def u_names(self) -> list[str]:
        """Names of the speeds of the tree joints."""

    @property
    def element_names(self) -> list[str]:
        """Names of the states of elements."""

    @property
    def joint_names(self) -> list[str]:
        """Names of all joints."""

    @property
    def loop_names(self) -> list[str]:
        """Names of the cut joints."""

    def column(self, name: str) -> Column:
        """Return where a variable stands."""

    def value(self, name: str, state: Any) -> float | FloatArray:
        """Return a variable by name at a state."""
