"""Linear models of a mechanism around a state, exact to rounding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork._util.checks import FloatArray
from linkwork.model.independent_coordinates import IndependentCoordinates

if TYPE_CHECKING:
    pass


@dataclass(frozen=True, eq=False)
class LinearModel:
    """xdot = xdot0 + A (x - x0) + B (u - u0),  y = y0 + C (x - x0) + D (u - u0).

    Attributes
    ----------
    A, B, C, D
        (n, n), (n, m), (p, n) and (p, m).
    states, inputs, outputs
        Names of x, u and y. Of joints with a quaternion, "S.dq[1]" is the displacement along the speed "S.u[1]" from
        the operating point: the rotation vector in the axes of the child, m for displacements of a free joint.
    x, u, y, xdot
        The operating point; in an equilibrium xdot is zero.
    independents
        Which coordinates and speeds the states are; None: all of them. Its `idle` names the spins that are left out.
    units
        Of states, inputs and outputs by name.
    """

    A: FloatArray
    B: FloatArray
    C: FloatArray
    D: FloatArray
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    x: FloatArray
    u: FloatArray
    y: FloatArray
    xdot: FloatArray
    independents: IndependentCoordinates | None = field(default=None, repr=False)
    units: dict[str, str] = field(default_factory=dict, repr=False)

    @property
    def eigenvalues(self) -> NDArray[np.complex128]:
        """Of A, 1/s, sorted by frequency."""
        values = np.linalg.eigvals(self.A).astype(np.complex128)
        return values[np.lexsort((values.imag, values.real, np.abs(values)))]

    def to_scipy(self) -> Any:
        """Return the matrices as a `scipy.signal.StateSpace`, for deviations from the operating point."""
        from scipy.signal import StateSpace

        return StateSpace(self.A, self.B, self.C, self.D)

    def __repr__(self) -> str:
        head = f"LinearModel: {len(self.states)} states, {len(self.inputs)} inputs, {len(self.outputs)} outputs"
        rows = [("state", "x", "xdot"), *_rows(self.states, self.x, self.xdot)]
        rows += [("input", "u", ""), *_rows(self.inputs, self.u)]
        rows += [("output", "y", ""), *_rows(self.outputs, self.y)]
        width = max(len(name) for name, _, _ in rows)
        return "\n".join([head, *(f"  {name:{width}} {value:>12} {rate:>12}".rstrip() for name, value, rate in rows)])


def _rows(names: Sequence[str], *values: ArrayLike) -> list[tuple[str, str, str]]:
    columns = [[f"{value:.6g}" for value in np.asarray(numbers)] for numbers in values]
    columns += [[""] * len(names)] * (2 - len(columns))
    return list(zip(names, *columns, strict=True))
