"""Local coordinates of joints with a quaternion: displacements along their speeds, from a pose.

In the axes of the child, with R = R0 exp(theta) and p = p0 + R0 rho, the speeds w and v and their displacements obey to
first order

    d theta/dt = w + theta x w / 2,   d rho/dt = v + theta x v
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork.model.independent_coordinates import local_name

if TYPE_CHECKING:
    from linkwork.core.native import Block, OffsetArray
    from linkwork.model.base import ModelBase


class LocalCoordinates:
    """Local coordinates along speeds, at the state of a block.

    Parameters
    ----------
    speeds
        Positions among the speeds of the tree joints, ascending.

    Attributes
    ----------
    values, rates
        Of the coordinates, (n,) each: zeros, and the speeds.
    units
        By name.
    seeds
        Of each coordinate: offsets of the joint's coordinates, and how they change with it.
    offsets
        Variables whose derivatives `rows` takes: coordinates and speeds of the joints.
    """

    def __init__(self, system: ModelBase, block: Block, speeds: Sequence[int]) -> None:
        numbering = system.numbering
        reference = {variable.name: variable.reference for variable in system.variables}
        at_q = [reference[name] for name in system.q_names] if speeds else []
        at_u = [reference[name] for name in system.u_names] if speeds else []
        self._joints = [
            (name, numbering.q[name], numbering.u[name], [k for k in speeds if k in _range(numbering.u[name])])
            for name in numbering.tree
        ]
        self._joints = [one for one in self._joints if one[3]]
        self.q, self.u = np.array(block["q"]), np.array(block["u"])
        self.values, self.rates = np.zeros(len(speeds)), self.u[list(speeds)]
        kinds = {name: system.mechanism.joints[name].kind for name, *_ in self._joints}
        self.units: dict[str, str] = {}
        self.seeds: list[tuple[OffsetArray, FloatArray]] = []
        taken: list[int] = []
        for name, q, u, own in self._joints:
            where = np.array(at_q[q], dtype=np.uint32)
            columns = self._columns(q)
            for k in own:
                self.units[local_name(system, k)] = kinds[name].motion_units[k - u.start]
                self.seeds.append((where, np.ascontiguousarray(columns[:, k - u.start])))
            taken += [*at_q[q], *at_u[u]]
        self.offsets = np.array(taken, dtype=np.uint32)

    def rows(self, derivatives: FloatArray) -> FloatArray:
        """Return how the rates of the local coordinates change, from how coordinates and speeds do, (offsets, m)."""
        found, first = [], 0
        for _, q, u, own in self._joints:
            n, m = q.stop - q.start, u.stop - u.start
            dq, du = derivatives[first : first + n], derivatives[first + n : first + n + m]
            first += n + m
            theta = 2.0 * _left(self.q[q.stop - 4 : q.stop])[:, 1:].T @ dq[-4:]
            change = du + np.vstack(
                [
                    (0.5 if k == 0 else 1.0) * np.cross(theta, self.u[u.start + k : u.start + k + 3], axisa=0, axisc=0)
                    for k in range(0, m, 3)
                ]
            )
            found.append(change[[k - u.start for k in own]])
        return np.vstack(found) if found else np.zeros((0, derivatives.shape[1]))

    def _columns(self, q: slice) -> FloatArray:
        """How the coordinates of a joint, a position and a quaternion or the latter alone, change with its speeds."""
        Q = self.q[q.stop - 4 : q.stop]
        turn = 0.5 * _left(Q)[:, 1:]
        if q.stop - q.start == 4:
            return turn
        columns = np.zeros((7, 6))
        columns[3:, :3], columns[:3, 3:] = turn, _rotation(Q)
        return columns


def _range(s: slice) -> range:
    return range(s.start, s.stop)


def _left(Q: FloatArray) -> FloatArray:
    """Matrix of the product with a quaternion from the left."""
    w, x, y, z = Q / np.linalg.norm(Q)
    return np.array([[w, -x, -y, -z], [x, w, -z, y], [y, z, w, -x], [z, -y, x, w]])


def _rotation(Q: FloatArray) -> FloatArray:
    w, v = Q[0] / np.linalg.norm(Q), Q[1:] / np.linalg.norm(Q)
    across = np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])
    rotation: FloatArray = np.eye(3) + 2.0 * w * across + 2.0 * across @ across
    return rotation
