"""Coordinates and speeds of a system at one instant."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork._util.checks import FloatArray, shortened
from linkwork._util.named import NamedValues
from linkwork.errors import MechanismError
from linkwork.model.changed_starts import ChangedStart
from linkwork.model.named_variables import NamedVariables

if TYPE_CHECKING:
    from linkwork.model.named_model import NamedModel


class JointArray(np.ndarray[Any, np.dtype[np.float64]]):
    """An array over the tree joints (..., nu) or (..., nq) that also stores the values of the cut joints.

    It is an ordinary array in every other respect; arrays computed from it do not have them.
    """

    cut: FloatArray | None = None

    @classmethod
    def split(cls, values: FloatArray, tree: int) -> JointArray:
        """Return the first `tree` values along the last axis, with the rest aside."""
        if values.ndim == 1:  # found sooner without an ellipsis
            array, array.cut = (values if values.size == tree else values[:tree]).view(cls), values[tree:]
            return array
        array = values[..., :tree].view(cls)
        array.cut = values[..., tree:]
        return array

    def __reduce__(self) -> tuple[Any, ...]:
        return _joined, (np.array(self), self.cut)

    def __deepcopy__(self, memo: dict[int, Any] | None) -> JointArray:
        return _joined(np.array(self), None if self.cut is None else self.cut.copy())

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        """Return computed values as an ordinary array, or as a number."""
        return array.view(np.ndarray)[()]


def _joined(tree: FloatArray, cut: FloatArray | None) -> JointArray:
    array = tree.view(JointArray)
    array.cut = cut
    return array


@dataclass(frozen=True, eq=False)
class StateValues(NamedVariables, NamedValues[str]):
    """The numbers of a state; attributes as of `State`."""

    model: NamedModel
    q: JointArray
    u: JointArray
    time: float
    motion: FloatArray
    discrete_state: FloatArray = field(default_factory=lambda: np.empty(0))
    step_control: FloatArray | None = None
    changed_start_values: tuple[ChangedStart, ...] = ()
    elements: FloatArray = field(default_factory=lambda: np.empty(0))

    def __getitem__(self, name: str) -> float | FloatArray:
        return self.model.value(name, self)


def check_state(state: object) -> None:
    """Refuse all but a `State`."""
    if not isinstance(state, StateValues):
        given = shortened(state)
        raise MechanismError(
            f"state must be a State, as model.assemble(q=...) or the result of an analysis gives, not {given}"
        )
