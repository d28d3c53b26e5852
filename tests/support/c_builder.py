"""The builder in C, called as a program in C calls it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import linkwork as lw
from linkwork.core.builder import Builder, joint_kinds


class CBuilder(Builder):
    """A builder that gives its model as bytes."""

    def finished(self) -> bytes:
        """The bytes of the model."""
        return self.finish()[0]


def make_kind(type_name: str, axes: Sequence[float] = (), parameter: float = 0.0) -> Any:
    """Return an `lw_joint_kind *`."""
    return joint_kinds([(type_name, axes, parameter, np.zeros(0))])


def built(mechanism: lw.Mechanism, *method: Any) -> bytes:
    """The bytes of the model that the builder makes of a mechanism, without checks before."""
    return filled(mechanism, *method).finish()[0]


def filled(mechanism: lw.Mechanism, *method: Any) -> CBuilder:
    """A builder with all of a mechanism."""
    from linkwork.model.description import describe

    b = describe(mechanism, *method)
    b.__class__ = CBuilder
    return b
