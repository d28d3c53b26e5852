"""Measures of a run: error against another run, loop residual, energy drift and cost.

The error of a number x that should have been x' is |x - x'| / max(1, largest |x'| of the run): absolute, in SI units,
where that is small, and relative where it is large, as the tolerances of a solver are meant. A unit quaternion and its
negative are the same orientation. The largest error counts, over the times and over the numbers.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkwork._util.checks import FloatArray
from linkwork.mechanism import Mechanism
from linkwork.model.model import Model
from linkwork.simulation.result import Result

BoolArray = NDArray[np.bool_]

SLOW = 1.0  # s: a run that takes longer is timed once
ENOUGH = 0.02  # s: as long are short runs repeated
AT_REST = 1e-12  # part of its energy below which motion is rounding alone
_ELEMENT = re.compile(r"(?P<vector>.+)\[(?P<number>\d+)\]")


class Errors(NamedTuple):
    """Largest errors: of the columns that are compared, of all coordinates, of all speeds."""

    columns: float
    q: float
    u: float


def errors(result: Result, reference: Result, rows: BoolArray, columns: Sequence[str] | None) -> Errors:
    """Return how far a result is from another of the same times.

    Parameters
    ----------
    result, reference
        Of the same mechanism, by whatever formulation.
    rows
        Which times count, (nt,), booleans.
    columns
        Names such as "coupler.r"; by default all coordinates and speeds.
    """
    system = reference.model
    q, u = (_largest(result, reference, rows, names) for names in (_coordinates(system), system.u_names))
    return Errors(max(q, u) if columns is None else _largest(result, reference, rows, columns), q, u)


def _coordinates(system: Model) -> list[str]:
    """The coordinates of the tree joints, by joint."""
    return [f"{name}.q" for name in system.numbering.tree if system.mechanism.joints[name].kind.nq]


def _largest(result: Result, reference: Result, rows: BoolArray, names: Sequence[str]) -> float:
    return max((_error(result, reference, rows, name) for name in names), default=0.0)


def _error(result: Result, reference: Result, rows: BoolArray, name: str) -> float:
    """The largest error of one column; infinite where only the reference is a number."""
    found, right = (np.reshape(array, (len(rows), -1)) for array in _aligned(result, reference, name))
    scale = np.maximum(1.0, np.abs(np.nan_to_num(right)).max(axis=0, initial=0.0))
    off = (np.abs(found - right) / scale)[rows][np.isfinite(right[rows])]
    return float(np.where(np.isfinite(off), off, np.inf).max(initial=0.0))


def _aligned(result: Result, reference: Result, name: str) -> tuple[FloatArray, FloatArray]:
    """A column of both; quaternions in it, or around it, have length 1 and the same sign."""
    element = _ELEMENT.fullmatch(name)
    vector = element["vector"] if element else name
    where = _quaternion(reference.model.mechanism, vector)
    if where is None:
        return result[name], reference[name]
    found, right = result[vector].copy(), reference[vector].copy()
    for values in (found, right):
        values[:, where] /= np.linalg.norm(values[:, where], axis=1, keepdims=True)
    turned = (found[:, where] * right[:, where]).sum(axis=1) < 0
    found[turned, where] *= -1
    picked = slice(None) if element is None else int(element["number"]) - 1
    return found[:, picked], right[:, picked]


def _quaternion(mech: Mechanism, vector: str) -> slice | None:
    """Where the quaternion stands in a column, if it has one."""
    owner, _, what = vector.rpartition(".")
    if what == "q" and owner in mech.joints:
        return mech.joints[owner].kind.quaternion
    return slice(0, 4) if what == "Q" and owner in mech.bodies else None


def loop_residual(result: Result) -> float | None:
    """Return the largest residual of all loops, couplings and distances, in SI units; None: there are none."""
    system = result.model
    names = [f"loop.{joint}.residual" for joint in system.loop_names]
    names += [f"{name}.residual" for name in (*system.coupling_names, *system.distance_names)]
    return max((float(np.nanmax(np.abs(result[name]))) for name in names), default=None)


# ---- energy -----------------------------------------------------------------------------------------


def keeps_energy(mech: Mechanism, inputs: object) -> bool:
    """Whether the energy stays the same: no dampers, actuators, inputs, prescribed motions and transitions."""
    driven = bool(inputs) or any(coupling.motion for coupling in mech.couplings.values())
    return not driven and not mech.transitions and all(force.keeps_energy for force in mech.forces)


def energy_drift(result: Result) -> float | None:
    """Return the largest change of the energy since the start, relative to what of it is in motion.

    That is the largest kinetic energy, or the range of the potential energy where this is larger: the zero of the
    latter is anywhere. None: nothing moves.
    """
    kinetic, potential = result["energy.kinetic"], result["energy.potential"]
    moving = max(float(kinetic.max()), float(np.ptp(potential)))
    if moving <= AT_REST * float(np.abs(potential).max()):
        return None
    energy = kinetic + potential
    return float(np.abs(energy - energy[0]).max()) / moving


# ---- time -------------------------------------------------------------------------------------------


def cpu_time(run: Callable[[], Result], repeat: int) -> tuple[float, Result]:
    """Return what a run takes on the processor, s, the best of several; and its result.

    A slow one is timed once; short ones, whose times scatter, are repeated more often than asked for.
    """
    times: list[float] = []
    while not times or (times[0] <= SLOW and (len(times) < repeat or sum(times) < ENOUGH)):
        begin = time.process_time()
        result = run()
        times.append(time.process_time() - begin)
    return min(times), result
