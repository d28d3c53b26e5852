"""The same mechanism in another size, and what its numbers are in the old one.

Lengths and gravity are times `size`, masses and times as they were: angles move alike, forces are times `size` and
torques times its square.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

import linkwork as lw

from .builder import Scene, scaled
from .driving import lengths
from .placement import Value, plain, vector
from .poses import Array


class Size:
    """Takes numbers of a scene to the enlarged mechanism, and back by `Size(scene, 1 / size)`."""

    def __init__(self, scene: Scene, size: float) -> None:
        self.size = size
        of_q, of_u = lengths(scene, size)
        self.factors = {"q": of_q, "u": of_u, "tau": {name: size**2 / factor for name, factor in of_u.items()}}
        self.wrench = np.repeat([size**2, size], 3)

    def coordinates(self, values: Mapping[str, Any]) -> dict[str, Value]:
        return self._times("q", values)

    def speeds(self, values: Mapping[str, Any]) -> dict[str, Value]:
        """Speeds, or accelerations."""
        return self._times("u", values)

    def loads(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Loads of joints, and forces "push.F" and torques "push.T" applied."""
        applied = {name: np.multiply(v, self.size ** (2 if name[-1] == "T" else 1)) for name, v in _of_wrenches(values)}
        return self._times("tau", {name: v for name, v in values.items() if "." not in name}) | applied

    def wrenches(self, values: Mapping[str, Array]) -> dict[str, Array]:
        return {name: value * self.wrench for name, value in values.items()}

    def _times(self, what: str, values: Mapping[str, Any]) -> dict[str, Value]:
        return {name: plain(vector(value) * self.factors[what][name]) for name, value in values.items()}

    def mechanism(self, given: lw.Mechanism) -> lw.Mechanism:
        """`given` has the scene's bodies and joints."""
        other = scaled(given, self.size)
        other.forces[:] = [self._force(force) for force in given.forces]
        other.couplings.clear()
        for name, coupling in given.couplings.items():
            factors = {c: self._factor(term) for c, term in coupling.terms.items()}
            unit = next(iter(factors.values()))  # the equation is counted in that of its first coordinate
            terms = {
                c: unit * np.array(term.coefficients) / factors[c] ** np.arange(1, len(term.coefficients) + 1)
                for c, term in coupling.terms.items()
            }
            motion = None if coupling.motion is None else _times(coupling.motion, unit)
            other.add_coupling(name, terms, offset=unit * coupling.offset, motion=motion)
        return other

    def _factor(self, term: Any) -> float:
        return float(self.factors["q"][term.joint][term.element])

    def _force(self, force: Any) -> Any:
        if hasattr(force, "joint"):
            of_u, count = self.factors["u"][force.joint], np.size(force.stiffness)
            stiffer = plain(_given(force.stiffness, of_u) * self.size**2 / of_u**2)
            heavier = plain(_given(force.damping, of_u) * self.size**2 / of_u**2)
            free = plain(_given(force.free, of_u) * of_u)
            assert count in (1, of_u.size)
            return dataclasses.replace(force, stiffness=stiffer, damping=heavier, free=free)
        if hasattr(force, "bodies"):
            points = np.array(force.points) * self.size
            return lw.SpringDamper(
                bodies=force.bodies,
                points=points,
                stiffness=force.stiffness,
                damping=force.damping,
                free=force.free * self.size,
                name=force.name,
            )
        return lw.Wrench(force.body, np.array(force.point) * self.size, name=force.name)


def _given(value: Any, like: Array) -> Array:
    return np.broadcast_to(np.asarray(value, float), like.shape)


def _of_wrenches(values: Mapping[str, Any]) -> list[tuple[str, Any]]:
    return [(name, value) for name, value in values.items() if "." in name]


def _times(motion: lw.Motion, factor: float) -> lw.Motion:
    coefficients = tuple(factor * c for c in motion.coefficients)
    return lw.Motion(coefficients, factor * motion.amplitude, motion.frequency, motion.phase)
