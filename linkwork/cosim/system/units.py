"""Units as FMI states them: exponents of SI base units, a factor and an offset."""

from __future__ import annotations

from dataclasses import dataclass

from linkwork._util.units import BASE_UNITS
from linkwork.errors import CosimError


@dataclass(frozen=True)
class Unit:
    """A unit; a value v in it is ``factor * v + offset`` in SI base units.

    `exponents` are those of kg, m, s, A, K, mol, cd and rad; None if the model description has none.
    """

    name: str
    exponents: tuple[int, ...] | None = None
    factor: float = 1.0
    offset: float = 0.0


UNKNOWN = Unit("")


def conversion(source: Unit, target: Unit) -> tuple[float, float]:
    """Return factor and offset that take a value from one unit to another: (1, 0) where one is unknown."""
    if not source.name or not target.name or source == target:
        return 1.0, 0.0
    if source.exponents is None or target.exponents is None:
        if source.name == target.name:
            return 1.0, 0.0
        if source.exponents is None and target.exponents is None:
            raise CosimError(f"{source.name!r} is not {target.name!r}")
        return 1.0, 0.0
    if _without_angle(source) != _without_angle(target):
        raise CosimError(f"{_text(source)} is not {_text(target)}")
    return source.factor / target.factor, (source.offset - target.offset) / target.factor


def _without_angle(unit: Unit) -> tuple[int, ...]:
    """Tools differ on whether a torque or an angle has rad in it."""
    assert unit.exponents is not None
    return unit.exponents[:-1]


def _text(unit: Unit) -> str:
    base = ".".join(
        f"{name}{'' if n == 1 else n}" for name, n in zip(BASE_UNITS, unit.exponents or (), strict=True) if n
    )
    return f"{unit.name!r} ({base or 'a number'})"
