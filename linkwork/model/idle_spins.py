"""Idle spins at a state: motions in which bodies turn about lines of their own, of which nothing else takes notice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork.core.native import RANK_TOLERANCE

if TYPE_CHECKING:
    from linkwork.model.base import ModelBase
    from linkwork.model.state import State

ALL_LINES, LINES_THROUGH_POINT, ONE_LINE, NO_LINE = range(4)  # as line_kind in csrc/tree/idle_spin_kernel.h
_RECORD = 9  # numbers of the record idle_spin: kind, point, direction, inertia about the line, its stand-in
_CONSTANTS, _RB, _PB = 34, 22, 31  # of the record link_constants: length, body frame in the link frame


@dataclass(frozen=True)
class SpinningBody:
    """Lines about which a body turns while nothing else moves."""

    body: str  # its name
    # point, direction: (3,) of the line, or None for all lines through the point; world axes
    point: FloatArray
    direction: FloatArray | None
    has_inertia: bool  # whether there is inertia about it

    def __str__(self) -> str:
        """Return what turns, in words: ``"rod about the line along [1, 0, 0]"``."""
        if self.direction is None:
            return f"{self.body} about all lines through its ball"
        along = ", ".join(f"{x:.3g}" for x in self.direction + 0.0)
        return f"{self.body} about its line along [{along}]"


def spinning_bodies(system: ModelBase, state: State) -> list[SpinningBody]:
    """Return the bodies with lines of symmetry about which their joints leave them free, at a state."""
    block = system.block()
    system.enter(block, state)
    spins = block["idle_spin"].reshape(-1, _RECORD)
    constants = block["link_constants"].reshape(-1, _CONSTANTS)
    names, found = list(system.mechanism.bodies), []
    for link, spin, own in zip(system.topology.links, spins, constants, strict=True):
        if int(spin[0]) not in (LINES_THROUGH_POINT, ONE_LINE):
            continue
        Rb, body = own[_RB:_PB].reshape(3, 3), names[link.body]
        position, rotation, _ = block.body_motion(link.body, np.zeros(3))
        point = position + rotation @ (Rb.T @ (spin[1:4] - own[_PB:]))
        direction = rotation @ (Rb.T @ spin[4:7]) if int(spin[0]) == ONE_LINE else None
        found.append(SpinningBody(body, point, direction, bool(spin[8] == 0.0)))
    return found


def idle_speeds(
    system: ModelBase, state: State, find_admissible: Callable[[], FloatArray]
) -> tuple[FloatArray, list[SpinningBody]]:
    """Return the speeds of idle spins at a state, and the bodies that turn in them.

    Parameters
    ----------
    find_admissible
        Returns a basis of the speeds that the constraints allow, (nu, dof): called where bodies may spin.

    Returns
    -------
    speeds, bodies
        (nu, k) orthonormal columns.
    """
    spins = {one.body: one for one in spinning_bodies(system, state)}
    if not spins:
        return np.zeros((system.numbering.nu, 0)), []
    admissible = find_admissible()
    block = system.block()
    system.enter(block, state)
    moved = []
    turned: dict[str, FloatArray] = {}
    for number, body in enumerate(system.mechanism.bodies):
        twist = block.body_jacobian(number, np.zeros(3)) @ admissible
        if body not in spins:
            moved.append(twist)
            continue
        spin, origin = spins[body], block.body_motion(number, np.zeros(3))[0]
        moved.append(twist[3:] + np.cross(twist[:3], spin.point - origin, axisa=0, axisc=0))
        turned[body] = twist[:3]
        if spin.direction is not None:
            moved.append(np.cross(spin.direction, twist[:3], axisb=0, axisc=0))
    _, sizes, rows = np.linalg.svd(np.vstack(moved))
    rank = int(np.sum(sizes > RANK_TOLERANCE * max(float(sizes[0]), 1.0)))
    free = rows[rank:].T
    speeds = np.linalg.qr(admissible @ free)[0] if free.shape[1] else np.zeros((len(admissible), 0))
    most = max((float(np.abs(one @ free).max(initial=0.0)) for one in turned.values()), default=0.0)
    bodies = [spins[body] for body, one in turned.items() if np.abs(one @ free).max(initial=0.0) > 1e-6 * most]
    return speeds, bodies if free.shape[1] else []
