"""Coordinates and speeds of a system at one instant."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork._util.checks import FloatArray

if TYPE_CHECKING:
    from linkwork.model.base import ModelBase


class JointArray(np.ndarray[Any, np.dtype[np.float64]]):
    """An array over the tree joints (..., nu) or (..., nq) that also stores the values of the cut joints.

    It is an ordinary array in every other respect; arrays computed from it do not have them.
    """

    cut: FloatArray | None = None

    @classmethod
    def split(cls, values: FloatArray, tree: int) -> JointArray:
        """Return the first `tree` values along the last axis, with the rest aside."""
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
class State:
    """A pose and a velocity of a system.

    Attributes
    ----------
    model
        Whose state it is.
    q
        Coordinates of the tree joints, (nq,), in the order of `model.q_names`.
    u
        Speeds of the tree joints, (nu,), in the order of `model.u_names`.
    time
        s; it matters where motions are prescribed.
    motion
        Inputs of these motions, (n_motion,), in the order of `model.numbering.motions`.
    discrete_state
        Numbers of the core, (n_discrete,), that transitions change: which joints are locked, open, at rest on stops.
    step_control
        Of a state at the end of a solver's step: size of the next step, s, and norm of the last error, with which a
        run goes on as though it had not been cut; else None.

    Every variable is found by name as well: ``state["A.q"]``, ``state["coupler.r"]``, also those of cut joints. The
    arrays are read-only; `Model.state` makes a state from others.
    """

    model: ModelBase
    q: JointArray
    u: JointArray
    time: float
    motion: FloatArray
    discrete_state: FloatArray = field(default_factory=lambda: np.empty(0))
    step_control: tuple[float, float] | None = None

    def __getitem__(self, name: str) -> float | FloatArray:
        return self.model.value(name, self)

    def __repr__(self) -> str:
        names = (*self.model.q_names, *self.model.u_names)
        pairs = [f"{name}={value:.6g}" for name, value in zip(names, (*self.q, *self.u), strict=True)]
        more = f", ... ({len(pairs)} in all)" if len(pairs) > 8 else ""
        return f"State({', '.join(pairs[:8])}{more})"
