"""Curves of closed poses in the core: points, steps and rows of kinematic sweeps (csrc/continuation/curve.c)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork.core._core import ffi, lib
from linkwork.core.native import doubles, raise_status, text_at

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from linkwork.core.native import Block


MOST_ROWS = 512  # at once: little is allocated in vain where singular values are needed soon


class NearlySingular(Exception):
    """A pose where the core's factorisation has too few digits."""


class CurvePoint(NamedTuple):
    """A pose on the curve, as `analysis.continuation.Point`."""

    q: FloatArray
    tangent: FloatArray
    regularity: float
    correction: float


class CurveRows(NamedTuple):
    """Motion at values of a coordinate: of the tree joints (rows, nq), (rows, nu), and of the cut ones."""

    q: FloatArray
    u: FloatArray
    udot: FloatArray
    q_cut: FloatArray
    u_cut: FloatArray
    a_cut: FloatArray


class BlockCurve:
    """The curve of closed poses of a block, with coordinates that are held.

    Parameters
    ----------
    block
        Whose coordinates and speeds it overwrites.
    coordinate
        Of each speed the coordinate whose rate it is, (nu,); -1: a quaternion's.
    arrays
        weight (nu,), share (constraint rows,), held_rows (held, nu) and held_gap (held,): see lw_curve_options.
    numbers
        Its thresholds by name.
    """

    def __init__(
        self,
        block: Block,
        coordinate: NDArray[np.int32],
        arrays: Mapping[str, FloatArray],
        numbers: Mapping[str, float],
    ) -> None:
        self.block, self._sizes = block, block.model.sizes
        given = {name: np.ascontiguousarray(one, dtype=np.float64) for name, one in arrays.items()}
        options = {name: doubles(one) for name, one in given.items()} | dict(numbers)
        options |= {"held": len(given["held_gap"]), "coordinate": ffi.from_buffer("int32_t[]", coordinate)}
        handle = ffi.new("lw_curve **")
        status = lib.lw_curve_create(block.handle, ffi.new("lw_curve_options *", options), handle)
        if status:
            raise_status(status, text_at(lib.lw_state_message(block.handle)))
        owner = block.handle

        def free(pointer: Any, _owner: Any = owner) -> None:
            lib.lw_curve_free(pointer)

        self._curve = ffi.gc(handle[0], free)
        self._hint = np.ones(self._sizes.nu)
        self._contraction = ffi.new("double *")

    def point(self, q: FloatArray) -> CurvePoint | None:
        """Return the point next to coordinates; None where Newton's method does not contract.

        Raises
        ------
        NearlySingular
            Where singular values must decide.
        """
        found, arrays = self._new_point(self._hint)
        outcome = lib.lw_curve_correct(self._curve, doubles(np.ascontiguousarray(q)), found)
        return self._point(outcome, found, arrays)

    def step(self, q: FloatArray, tangent: FloatArray, length: float) -> tuple[CurvePoint, float] | None:
        """Return the end of a step along the tangent of a point and its contraction; None where it is not proven.

        Raises
        ------
        NearlySingular
            Where singular values must decide.
        """
        first, _first_arrays = self._new_point(tangent, q)
        last, arrays = self._new_point(tangent)
        outcome = lib.lw_curve_step(self._curve, first, length, last, self._contraction)
        found = self._point(outcome, last, arrays)
        return None if found is None else (found, float(self._contraction[0]))

    def rows(
        self,
        first: tuple[FloatArray, FloatArray],  # coordinates and tangent from which the rows follow
        speed: int,  # the rate of the coordinate that takes the values
        rate: float,  # its value
        values: FloatArray,  # (rows,), in the order along the curve
        farthest: float,  # m: by which Newton's method may move
        least_slope: float,  # of the speed along the tangent: below, a dead point is near
        turns: FloatArray,  # (nq_cut,) coordinates from which revolutions are counted; becomes those of the last row
    ) -> CurveRows:
        """Return the motion at values of a coordinate, `MOST_ROWS` at most, as far as no pose needs singular values."""
        values = values[:MOST_ROWS]
        sizes, n = self._sizes, len(values)
        columns = sizes.nq, sizes.nu, sizes.nu, sizes.nq_cut, sizes.nu_cut, sizes.nu_cut
        found = CurveRows(*(np.empty((n, size)) for size in columns))
        point, _arrays = self._new_point(first[1], first[0])
        given = {"speed": speed, "rate": rate, "least_slope": least_slope, "farthest": farthest, "rows": n}
        arrays = {name: doubles(one) for name, one in found._asdict().items()}
        arrays |= {"value": doubles(np.ascontiguousarray(values)), "turns": doubles(turns)}
        asked = ffi.new("lw_curve_rows *", given | arrays | {"first": point[0]})
        status = lib.lw_curve_find_rows(self._curve, asked)
        if status:
            raise_status(status, "the coordinate is none whose rate is a speed")
        return CurveRows(*(one[: asked.done] for one in found))

    def _new_point(self, tangent: FloatArray, q: FloatArray | None = None) -> tuple[Any, tuple[FloatArray, FloatArray]]:
        arrays = np.empty(self._sizes.nq) if q is None else np.ascontiguousarray(q), np.array(tangent)
        return ffi.new("lw_curve_point *", {"q": doubles(arrays[0]), "tangent": doubles(arrays[1])}), arrays

    def _point(self, outcome: int, found: Any, arrays: tuple[FloatArray, FloatArray]) -> CurvePoint | None:
        if outcome == lib.LW_CURVE_NEARLY_SINGULAR:
            raise NearlySingular
        if outcome == lib.LW_CURVE_NONE:
            return None
        self._hint = arrays[1]
        return CurvePoint(*arrays, float(found.regularity), float(found.correction))
