"""Couplings: equations between joint coordinates, such as those of gears, belts and cams; a drive is one of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from linkwork._util.checks import finite, number
from linkwork.errors import MechanismError
from linkwork.formula import OPERATIONS, LookupTable, Source
from linkwork.mechanism.formulas import Given, JointNames, WithFormulas
from linkwork.mechanism.motions import Motion
from linkwork.mechanism.part_checks import check_joint_known
from linkwork.mechanism.quantities import Quantity, Reading

if TYPE_CHECKING:
    from linkwork.mechanism.surroundings import Surroundings

POWERS = 4

Coefficients = tuple[float, float, float, float]


@dataclass(frozen=True)
class Term:
    """One coordinate in a coupling, and a polynomial in it."""

    # joint, element: name of the joint, and which of its coordinates, from 0
    joint: str
    element: int
    coefficients: Coefficients  # of q, q^2, q^3 and q^4; all zero where only the formula reads it


@dataclass(frozen=True)
class Coupling(WithFormulas):
    """An equation of joint coordinates: terms and formula add up to `offset` and, if any, the motion."""

    number_field = "coupling_number"
    value_field = "coupling_table"

    name: str  # its name, unique among bodies, joints and couplings
    # By coordinate as it was named: "A", or "U[2]" in a joint of several; those that only the formula reads come last.
    terms: dict[str, Term]
    offset: float  # in the unit of the first coordinate named, as everything in the equation
    motion: Motion | None = None  # prescribed function of time that is added; None: none, and the formula reads no time
    formula: str | None = None  # of coordinates and time, such as "follower.q - lift(cam.q)"; None: none
    parameters: Mapping[str, Given] | None = None  # type: ignore[assignment]  # of the formula
    tables: Mapping[str, LookupTable] | None = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        self._take_formulas()

    @property
    def label(self) -> str:
        """What messages call it."""
        return f"coupling {self.name!r}"

    @property
    def given_terms(self) -> dict[str, Term]:
        """Those that the formula does not add."""
        return {name: term for name, term in self.terms.items() if any(term.coefficients)}

    def _sources(self, mech: Surroundings) -> list[Source]:
        unit = next((mech.joints[one.joint].kind.coordinate_units[one.element] for one in self.terms.values()), None)
        return [] if self.formula is None else [Source(self.formula, unit, self.label)]

    def _names(self, mech: Surroundings) -> JointNames:
        return JointNames({"time": Reading("time", None, 0, "s")}, mech)

    def _check_own_names(self, mech: Surroundings) -> None:
        for name in (*(self.parameters or ()), *(self.tables or ())):
            if name in _OWN:
                raise MechanismError(f"{self.label}: {name!r} means something else here: rename it")

    def formula_parameters(self, mech: Surroundings) -> Iterable[Quantity]:
        """Return its parameters and the values of its tables, with the units that follow from the formula."""
        return () if self.formula is None else super().formula_parameters(mech)

    def check(self, mech: Surroundings) -> None:
        """Refuse coordinates that do not exist (any more), and formulas that do not fit."""
        for coordinate in self.terms:
            _find(mech, self.label, coordinate)
        if self.formula is not None:
            self._check_formula(mech)
        elif self.parameters or self.tables:
            raise MechanismError(f"{self.label}: parameters and tables are those of a formula: give one")

    def _check_formula(self, mech: Surroundings) -> None:
        if speed := _SPEED.search(str(self.formula)):
            raise self._wrong(speed[0], "is a speed: a coupling ties coordinates, and their speeds follow; name these")
        for name, *_ in self.program(mech).operations:
            if name in _KINKS:
                raise self._wrong(_KINKS[name], f"has no slope in some places{_REMEDY}")
        for name, table in (self.tables or {}).items():
            if table.interpolation == "linear":
                raise self._wrong(name, f"is a table without slopes at its rows{_REMEDY}")
            if ends := _ends_with_a_kink(table):
                raise self._wrong(
                    name,
                    f"is a table that holds outside, where its slope at {ends} is not zero: let it extend "
                    "(outside='extend'), end (outside='error'), be periodic, or begin and end with two equal rows",
                )

    def _wrong(self, word: str, why: str) -> MechanismError:
        source = Source(str(self.formula), None, self.label)
        at = source.text.find(word)
        return source.error(f"{word!r} {why}", (max(at, 0), max(at, 0) + len(word)))

    def joined(self, mech: Surroundings) -> Coupling:
        """Return it with a term for each coordinate that the formula reads, and a motion where that reads time."""
        terms, motion = dict(self.terms), self.motion
        named = {(term.joint, term.element) for term in terms.values()}
        for one in self.program(mech).readings:
            if one.field == "time":
                motion = motion or Motion()
            elif one.field == "q" and (one.part, one.number) not in named:
                assert one.part is not None
                several = mech.joints[one.part].kind.nq > 1
                terms[f"{one.part}[{one.number + 1}]" if several else one.part] = Term(one.part, one.number, _NONE)
        return replace(self, terms=terms, motion=motion)


_SPEED = re.compile(r"(?:'[^']*'|\b[A-Za-z_]\w*)\.u\b(?:\[\d+\])?")
_OWN = ("offset", "residual", "load", "polynomial", "amplitude", "frequency", "phase", "q_in", "u_in", "a_in", "time")
_NONE = (0.0, 0.0, 0.0, 0.0)
_REMEDY = ": joints could not follow it; use a table with interpolation='monotone'"
_KINKS = {
    name: {"less": "<", "less_equal": "<=", "select": "if"}.get(name, name)
    for name in ("abs", "sign", "min", "max", "mod", "less", "less_equal", "select", "floor")
}
assert set(_KINKS) <= {one.name for one in OPERATIONS}


def _ends_with_a_kink(table: LookupTable) -> str:
    """Name the ends beyond which a table holds although it rises or falls there."""
    if table.outside != "hold":
        return ""
    found = []
    for axis, wraps in enumerate(table.periodic):
        steps = np.diff(np.moveaxis(table.values, axis, 0), axis=0)
        knots = table.x if axis == 0 or table.y is None else table.y
        found += [] if wraps else [f"{knots[k]:g}" for k in (0, -1) if steps[k].any()]
    return " and ".join(dict.fromkeys(found))


def coupling(
    mech: Surroundings,
    name: str,
    terms: Mapping[str, ArrayLike] | None,
    offset: float,
    motion: Motion | None,
    formula: str | None = None,
    parameters: Mapping[str, Given] | None = None,
    tables: Mapping[str, Any] | None = None,
) -> Coupling:
    """Return a coupling of joints of `mech`; errors name coupling and joint."""
    what = f"coupling {name!r}"
    if terms is None and formula is not None:
        terms = {}
    elif not isinstance(terms, Mapping) or not terms:
        raise MechanismError(
            f"{what}: terms must be a dictionary such as {{'motor': 1.0, 'arm': -20.0}}, not {terms!r}"
            + ("; or give a formula" if terms is None else "")
        )
    found = {}
    for coordinate, value in terms.items():
        joint, element = _find(mech, what, coordinate)
        found[coordinate] = Term(joint, element, _coefficients(value, f"{what}: coefficient of {coordinate!r}"))
    if not isinstance(motion, Motion | None):
        raise MechanismError(f"{what}: motion must be a Motion such as Motion((0.0, 1.0)), not {motion!r}")
    made = Coupling(name, found, number(offset, f"{what}: offset"), motion, formula, parameters, tables)
    made.check(mech)
    if formula is None:
        return made
    joined = made.joined(mech)
    if not joined.terms:
        raise MechanismError(f"{what}: its formula reads no coordinate: name one, as in 'follower.q - lift(cam.q)'")
    joined.check(mech)
    return joined


def prescribed(
    mech: Surroundings,
    name: str,
    coordinate: str,
    formula: str,
    parameters: Mapping[str, Given] | None,
    tables: Mapping[str, Any] | None,
) -> Coupling:
    """Return a drive that moves a coordinate by a formula of time."""
    given = coupling(mech, name, {coordinate: 1.0}, 0.0, Motion(), formula, parameters, tables)
    if len(given.terms) > 1 or any(one.field != "time" for one in given.program(mech).readings):
        raise MechanismError(f"{given.label}: a motion is a function of time: couple coordinates by add_coupling")
    return coupling(mech, name, {coordinate: 1.0}, 0.0, Motion(), f"-({formula})", parameters, tables)


def name_of_drive(mech: Surroundings, coordinate: str) -> str:
    """Return the name of a drive that is given none: "A_drive", or "U_2_drive" for "U[2]"."""
    joint, element = _find(mech, "prescribe", coordinate)
    return f"{joint}_{element + 1}_drive" if mech.joints[joint].kind.nq > 1 else f"{joint}_drive"


def _find(mech: Surroundings, what: str, coordinate: str) -> tuple[str, int]:
    """Return joint and element of a coordinate by name."""
    joint = coordinate.partition("[")[0] if isinstance(coordinate, str) else coordinate
    check_joint_known(mech, joint, what)
    kind = mech.joints[joint].kind
    described = f"{what}: joint {joint!r} ({type(kind).__name__})"
    if kind.nq != kind.nu:
        raise MechanismError(
            f"{described} turns by a quaternion, whose elements cannot be coupled; "
            "couple joints of fixed axes, such as revolutes with small bodies between"
        )
    if kind.nq == 0:
        raise MechanismError(f"{described} has no coordinates: leave it out")
    names = [joint] if kind.nq == 1 else [f"{joint}[{i + 1}]" for i in range(kind.nq)]
    if coordinate not in names:
        raise MechanismError(f"{described} has no coordinate {coordinate!r}: name {' or '.join(map(repr, names))}")
    return joint, names.index(coordinate)


def _coefficients(value: ArrayLike, what: str) -> Coefficients:
    given: Any = value.tolist() if isinstance(value, np.ndarray) else value
    listed = list(given) if isinstance(given, list | tuple) else [given]
    if not 0 < len(listed) <= POWERS:
        raise MechanismError(
            f"{what} must be a number c, or up to {POWERS} numbers (c1, c2, ...) for c1 q + c2 q^2 + ..., not {value!r}"
        )
    numbers = finite(listed, (len(listed),), what)
    if not numbers.any():
        raise MechanismError(f"{what} is zero: leave the joint out, or give another coefficient")
    c1, c2, c3, c4 = [*numbers.tolist(), 0.0, 0.0, 0.0][:POWERS]
    return c1, c2, c3, c4
