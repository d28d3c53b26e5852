"""Poses of files in which loops are open: what closing them moves is reported."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork.errors import LinkworkError, LinkworkWarning
from linkwork.formats.report import Report
from linkwork.mechanism.joints import JointKind

if TYPE_CHECKING:
    from linkwork.model.model import Model

_MOVED = 1e-2  # rad, or the part of the size of the mechanism


def report_open_pose(model: Model, report: Report) -> None:
    """Note the joints that are moved far because the loops are open in the pose of the file.

    Parameters
    ----------
    model
        The compiled mechanism with the start values of the file.
    report
        It notes the joint that is moved most.
    """
    mech = model.mechanism
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LinkworkWarning)
            closed = model.by_joint(model.assemble().q)
    except LinkworkError:
        return  # which assembly will explain
    ends = [frame.position for one in mech.joints.values() for frame in (one.parent_frame, one.child_frame)]
    units = {"rad": 1.0, "m": max(float(np.abs(ends).max()), 1e-300)}
    moved = []
    for name in closed:
        if name in model.loop_names:
            continue  # a ball that closes a loop may stand in any orientation
        kind = mech.joints[name].kind
        changes = _changes(kind, mech.start_q.get(name, kind.neutral), np.atleast_1d(closed[name]))
        largest = max(changes, key=lambda one: one[0] / units[one[1]], default=(0.0, "rad"))
        if (part := largest[0] / units[largest[1]]) > _MOVED:
            moved.append((part, name, largest))
    if moved:
        _, most, (amount, unit) = max(moved)
        report.approximated(
            "start",
            f"the loops are open in the pose of the file: to close them {len(moved)} joints are moved, {most!r} most, "
            f"by {amount:.2g} {unit}; start values select another closed pose",
        )


def _changes(kind: JointKind, before: FloatArray, after: FloatArray) -> list[tuple[float, str]]:
    """Return by how much each coordinate, and the rotation of a quaternion, changes, with its unit."""
    differences = np.abs(after - before)
    found = [(float(one), unit) for one, unit in zip(differences, kind.coordinate_units, strict=True) if unit != "1"]
    if kind.quaternion is not None:
        along = abs(float(before[kind.quaternion] @ after[kind.quaternion]))
        found.append((2.0 * float(np.arccos(min(along, 1.0))), "rad"))
    return found
