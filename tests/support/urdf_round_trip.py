"""A mechanism that was written as URDF and read again, and its values by the joints of the original."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import linkwork as lw

from .joint_shapes import shape_of
from .placement import Values, plain, vector
from .poses import Array


class RoundTrip:
    """Chains of joints are found by their names: of the joint A, "A_1" carries "A_2"."""

    def __init__(self, mechanism: lw.Mechanism, folder: Path) -> None:
        self.original = mechanism
        self.path = folder / "mechanism.urdf"
        self.written = lw.save(mechanism, self.path)
        self.mechanism = lw.load(self.path, limits=True, merge_fixed=False)
        self.mechanism.gravity = mechanism.gravity  # which URDF has not

    def lost(self, *without: str) -> list[str]:
        """Entries that were not taken, in both directions, but gravity, start values and names that begin so."""
        entries = [*self.written, *self.mechanism.report]
        known = ("gravity", "start", "point ", "measure", *without)
        return [str(e) for e in entries if e.outcome != "taken" and not e.element.startswith(known)]

    def values(self, values: Values, rates_of: Values | None = None) -> dict[str, object]:
        """Coordinates of the original by joints of the other one, or speeds or loads at the coordinates `rates_of`."""
        found: dict[str, object] = {}
        for name, value in values.items():
            joint = self.original.joints[name]
            if name in self.mechanism.joints:
                other = self.mechanism.joints[name]
                swapped = other.parent != joint.parent and joint.kind.quaternion is not None
                at = None if rates_of is None else vector(rates_of[name])
                found[name] = _inverse(joint.kind, vector(value), at) if swapped else value
                continue
            first = self.mechanism.joints[f"{name}_1"]
            outward = first.parent == joint.parent
            for k, one in enumerate(vector(value)[:: 1 if outward else -1], start=1):
                found[f"{name}_{k}"] = float(one)
        return found

    def difference(self, q: Values, u: Values) -> float:
        """The largest difference of accelerations of points of all bodies, relative to the largest acceleration."""
        models = lw.compile(self.original), lw.compile(self.mechanism)
        states = [
            models[0].assemble(q=q, u=u),
            models[1].assemble(q=self.values(q), u=self.values(u, q)),
        ]
        gaps, largest = [0.0], 1.0
        for name, body in self.original.bodies.items():
            here, there = (model.pose(state, name) for model, state in zip(models, states, strict=True))
            com = self.mechanism.bodies[name].com
            gaps.append(float(np.abs(here.frame.apply(body.com) - there.frame.apply(com)).max()))
            for offset in (np.zeros(3), np.array([0.3, 0.0, 0.0]), np.array([0.0, 0.3, 0.0])):
                point = here.frame.apply(body.com + offset)
                expected, found = (
                    model.point_acceleration(state, name, pose.frame.inverse().apply(point))
                    for model, state, pose in zip(models, states, (here, there), strict=True)
                )
                gaps.append(float(np.abs(expected - found).max()))
                largest = max(largest, float(np.abs(expected).max()))
        return max(gaps) / largest


def _inverse(kind: object, value: Array, at: Array | None) -> object:
    """Coordinates, or with `at` speeds, of the inverse motion of a ball."""
    if at is None:
        return np.r_[value[0], -value[1:]]
    return plain(-shape_of(kind).pose(at).rotation @ value)
