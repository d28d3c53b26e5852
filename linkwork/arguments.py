"""What users pass to the functions of a system, checked and as arrays."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from linkwork.compiler.numbering import Numbering
from linkwork.description.checks import FloatArray, suggest
from linkwork.errors import MechanismError
from linkwork.state import State

Loads = ArrayLike | Mapping[str, ArrayLike] | None


class Arguments:
    """Reads states and loads for one system, known by its serialised model."""

    def __init__(self, model_bytes: bytes, numbering: Numbering) -> None:
        self._model_bytes = model_bytes
        self._numbering = numbering

    def states(self, state: State | ArrayLike, u: ArrayLike | None) -> tuple[FloatArray, FloatArray]:
        """Return coordinates (..., nq) and speeds (..., nu) of the tree joints, with the same leading dimensions."""
        if isinstance(state, State):
            if state.system.model_bytes is not self._model_bytes and state.system.model_bytes != self._model_bytes:
                raise MechanismError(f"this state belongs to another system, of {state.system.mechanism.name!r}")
            return state.q, state.u
        if u is None:
            raise MechanismError("give a State, or both arrays q and u of the tree joints")
        q, speeds = sized(state, self._numbering.nq, "q"), sized(u, self._numbering.nu, "u")
        if q.shape[:-1] == speeds.shape[:-1]:
            return q, speeds
        shape = np.broadcast_shapes(q.shape[:-1], speeds.shape[:-1])
        return np.broadcast_to(q, (*shape, q.shape[-1])), np.broadcast_to(speeds, (*shape, speeds.shape[-1]))

    def loads(self, tau: Loads) -> FloatArray:
        """Return loads over all joints (..., nu + nu_cut); what is not given is zero."""
        n = self._numbering
        if tau is None:
            return np.zeros(n.nu_all)
        if isinstance(tau, Mapping):
            return self._named_loads(tau)
        array = np.asarray(tau)
        if array.ndim and array.shape[-1] == n.nu_all:
            return sized(array, n.nu_all, "tau")
        tree = sized(tau, n.nu, "tau")
        return np.concatenate([tree, np.zeros((*tree.shape[:-1], n.nu_cut))], axis=-1)

    def _named_loads(self, tau: Mapping[str, ArrayLike]) -> FloatArray:
        spans = {joint: self.span(self._numbering.u, joint, "tau") for joint in tau}
        given = {joint: vector(value, spans[joint], f"tau of joint {joint!r}") for joint, value in tau.items()}
        shape = np.broadcast_shapes(*(value.shape[:-1] for value in given.values()))
        loads = np.zeros((*shape, self._numbering.nu_all))
        for joint, value in given.items():
            loads[..., spans[joint]] = value
        return loads

    @staticmethod
    def span(slices: Mapping[str, slice], joint: str, what: str) -> slice:
        """Return where a joint's numbers stand; an unknown or a fixed joint is an error."""
        if joint not in slices:
            raise MechanismError(f"{what}: there is no joint {joint!r}: {suggest(joint, slices)}")
        span = slices[joint]
        if span.stop == span.start:
            raise MechanismError(f"{what}: joint {joint!r} has no coordinates: leave it out")
        return span


def sized(values: ArrayLike, size: int, what: str) -> FloatArray:
    """Return finite numbers (..., size)."""
    array = _numbers(values, size, what)
    if array.ndim == 0 or array.shape[-1] != size:
        raise MechanismError(
            f"{what} has shape {array.shape}; its last dimension must be {size}, the number of tree coordinates"
        )
    _check_finite(array, what)
    return array


def vector(value: ArrayLike, span: slice, what: str) -> FloatArray:
    """Return finite numbers (..., size of the span); for a joint of one coordinate plain numbers do."""
    size = span.stop - span.start
    array = _numbers(value, size, what)
    if size == 1 and (array.ndim == 0 or array.shape[-1] != 1):
        array = array[..., None]
    if array.shape[-1:] != (size,):
        raise MechanismError(f"{what} has shape {array.shape}; give {size} numbers")
    _check_finite(array, what)
    return array


def _numbers(values: ArrayLike, size: int, what: str) -> FloatArray:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise MechanismError(f"{what} must be an array of {size} numbers, not {values!r}") from None


def _check_finite(array: FloatArray, what: str) -> None:
    if not math.isfinite(array.sum()) and not np.isfinite(array).all():  # the sum is quick
        where = np.argwhere(~np.isfinite(array))[0].tolist()
        raise MechanismError(f"{what} is not finite at index {where}; give finite numbers")
