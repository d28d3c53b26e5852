"""Base of built-in forces, such as bump stops and tyres: classes whose formulas follow from their arguments.

A built-in force states its law once, as a push along a coordinate or a length, with a table of its numbers. The object
is a force by a formula where it acts (`formula_forces`), so that variables, units, files, FMUs, pages and the core need
no more. Contacts stand in `contact_forces`, springs and dampers in `nonlinear_springs`, others in `machine_forces`.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeVar

from linkwork._util.checks import number, positive
from linkwork._util.keywords import checks_keywords
from linkwork._util.names import quoted
from linkwork._util.units import LOADS
from linkwork.errors import MechanismError
from linkwork.formula import LookupTable
from linkwork.mechanism.forces import ForceOnJoints, Point
from linkwork.mechanism.formula_forces import ByFormulaAlongLine, ByFormulaOnJoints, Force, FormulaForce
from linkwork.mechanism.formulas import Given
from linkwork.mechanism.own_states import StateLaw

if TYPE_CHECKING:
    from linkwork.mechanism.quantities import Quantity
    from linkwork.mechanism.surroundings import Surroundings

_Class = TypeVar("_Class", bound="type[BuiltInForce]")
_SWEPT = {"m": "m2", "rad": "m3/rad"}
LIMITS: dict[str, dict[str, float]] = {  # of numbers, as JSON Schema has them
    "": {},
    "positive": {"exclusiveMinimum": 0},
    "not negative": {"minimum": 0},
}


class Number(NamedTuple):
    """A number of a law, which is an argument of its class and a variable.

    Attributes
    ----------
    name, text
        Its name and what it is.
    unit
        Its unit, with {motion}, {load} and {swept} for those of a coordinate or length, of its force, and of the volume
        that it sweeps by one; empty: the one that follows.
    limit
        "positive", "not negative" or empty.
    """

    name: str
    text: str
    unit: str = ""
    limit: str = ""

    def check(self, value: object, what: str) -> float:
        """Return a value as a float within the limit."""
        found = positive(value, what) if self.limit == "positive" else number(value, what)
        if self.limit and found < 0.0:
            raise MechanismError(f"{what} must not be negative, and is {found:g}")
        return found


class Choice(NamedTuple):
    """Alternatives of arguments, of which exactly one is given; `optional` ones go with any.

    Files have the same rule, `schema`.
    """

    alternatives: tuple[tuple[str, ...], ...]
    optional: tuple[str, ...] = ()

    def rows(self) -> Iterator[tuple[tuple[str, ...], list[str]]]:
        """Return each alternative, and the arguments that do not go with it."""
        every = [name for names in self.alternatives for name in names]
        for names in self.alternatives:
            yield names, [one for one in every if one not in (*names, *self.optional)]

    def fits(self, given: Mapping[str, object]) -> bool:
        """Return whether exactly one alternative is given."""
        has = {name for name, value in given.items() if value is not None}
        return any(has.issuperset(needed) and has.isdisjoint(others) for needed, others in self.rows())

    @property
    def words(self) -> str:
        """What messages call it: give words."""
        return ", or ".join(" and ".join(f"{name}=" for name in names) for names in self.alternatives)

    @property
    def schema(self) -> dict[str, Any]:
        """The rule of JSON Schema."""
        rows = [
            {"required": list(needed), "not": {"anyOf": [{"required": [one]} for one in others]}}
            for needed, others in self.rows()
        ]
        return {"oneOf": rows}


PLACE = Choice((("joint",), ("bodies", "points")))


class BuiltInForce(Force):
    """A built-in force: its arguments give the formula.

    Attributes
    ----------
    acts_as
        Where it may act: classes of forces by formulas. `_place` chooses among them.
    numbers
        Its numbers. Those that are None are not in its formula.
    choices
        Alternatives of its arguments.
    at_least_one
        Arguments of which at least one is given.
    goes_with
        Arguments that are given with another one alone.
    law_inputs
        Names of its inputs.
    reads_position
        Whether it needs a coordinate or length, and not only its rate.
    motion
        "rad" or "m", the unit of coordinates on which it acts; empty: either.
    """

    acts_as: ClassVar[tuple[type[FormulaForce], ...]]
    numbers: ClassVar[tuple[Number, ...]] = ()
    choices: ClassVar[tuple[Choice, ...]] = ()
    at_least_one: ClassVar[tuple[str, ...]] = ()
    goes_with: ClassVar[Mapping[str, str]] = {}
    law_inputs: ClassVar[tuple[str, ...]] = ()
    reads_position: ClassVar[bool] = True
    motion: ClassVar[str] = ""
    table: LookupTable | None = None
    _of: ClassVar[type[BuiltInForce]]  # the class that a user calls

    def __new__(cls, *_: Any, **given: Any) -> BuiltInForce:
        """Choose the place by the arguments."""
        made: BuiltInForce = object.__new__(_placed(cls, cls._place(given)))
        return made

    @classmethod
    def _place(cls, given: Mapping[str, Any]) -> type[FormulaForce]:
        """Return the class of forces by formulas for arguments."""
        between = given.get("bodies") is not None and ByFormulaAlongLine in cls.acts_as
        return ByFormulaAlongLine if between else cls.acts_as[0]

    def __reduce__(self) -> tuple[Any, ...]:
        """Return how copies and pickles are made: by its class and arguments."""
        return _made, (self._of, {one.name: getattr(self, one.name) for one in fields(self)})  # type: ignore[arg-type]

    def __repr__(self) -> str:
        given = ((one.name, getattr(self, one.name)) for one in fields(self))  # type: ignore[arg-type]
        return f"{self.call}({', '.join(f'{name}={value!r}' for name, value in given if value is not None)})"

    def __post_init__(self) -> None:
        """Check the arguments and state parameters, tables and inputs of the formula."""
        self._check_choices()
        self.check_others()
        for one in self.own_numbers():
            value = one.check(self.value_of(one), f"{self.label}: {one.name}")
            if hasattr(self, one.name):
                object.__setattr__(self, one.name, value)
        self.check_arguments()
        for law in self._own_laws:
            number(law.start, f"{self.label}: start of {law.stem}")
        own: dict[str, Any] = {
            "parameters": {one.name: self.value_of(one) for one in self.own_numbers()},
            "tables": {} if self.table is None else {"table": self.table},
            "inputs": self.law_inputs,
        }
        for name, given in own.items():
            object.__setattr__(self, name, given)
        super().__post_init__()
        if self.tables:
            object.__setattr__(self, "table", self.tables["table"])

    def _check_choices(self) -> None:
        given = {one.name: getattr(self, one.name) for one in fields(self)}  # type: ignore[arg-type]
        for choice in self.choices:
            if not choice.fits(given):
                among = [name for names in choice.alternatives for name in names]
                found = " and ".join(f"{name}=" for name in among if given[name] is not None) or "none of them"
                raise MechanismError(f"{self.label}: give {choice.words}, not {found}")
        for name, needed in self.goes_with.items():
            if given[name] is not None and given[needed] is None:
                raise MechanismError(f"{self.label}: {name}= goes with {needed}=: give both, or neither")
        if self.at_least_one and all(given[name] is None for name in self.at_least_one):
            raise MechanismError(f"{self.label}: give {' or '.join(f'{one}=' for one in self.at_least_one)}, or both")

    # ---- of each class ----

    def own_numbers(self) -> Sequence[Number]:
        """Return its numbers that are given."""
        return [one for one in self.numbers if not self._is_left_out(one.name)]

    def value_of(self, one: Number) -> Any:
        """Return a number as it is given."""
        return getattr(self, one.name)

    def check_others(self) -> None:
        """Check arguments that are not single numbers; several numbers become tuples."""

    def check_arguments(self) -> None:
        """Refuse numbers that do not fit each other."""

    def law(self, x: str, v: str) -> str:
        """Return the formula of its push along a coordinate or length x of the rate v."""
        raise NotImplementedError

    def state_laws(self, x: str, v: str) -> Sequence[StateLaw]:
        """Return the states that it owns; arguments as of `law`."""
        return ()

    # ---- of all ----

    @property
    def _own_laws(self) -> Sequence[StateLaw]:
        return self.state_laws(*(("length", "rate") if self.is_along_line else ("q", "u")))

    def _laws_in(self, mech: Surroundings) -> Iterable[StateLaw]:
        laws = self._own_laws
        units = self._unit_words(mech) if laws else {}
        return (law._replace(unit=law.unit.format(**units)) for law in laws)

    def _unit_words(self, mech: Surroundings) -> dict[str, str]:
        motion = self.motion_unit(mech) if isinstance(self, ForceOnJoints) else "m"
        return {"motion": motion, "load": LOADS[motion], "swept": _SWEPT[motion]}

    def _is_left_out(self, name: str) -> bool:
        """Return whether an argument is None, as it is by default."""
        return getattr(self, name) is None and getattr(type(self), name, ...) is None

    @property
    def is_along_line(self) -> bool:
        """Whether it acts along a line through points."""
        return isinstance(self, ByFormulaAlongLine)

    @property
    def formula(self) -> str:
        """Its formula: on a joint the load, along a line the tension."""
        return f"-({self.law('length', 'rate')})" if self.is_along_line else self.law("q", "u")

    def given_parameters(self, mech: Surroundings) -> Mapping[str, Given]:
        """Return the values of its numbers, with the units that they have there."""
        units, found = self._unit_words(mech), dict[str, Given]()
        for one in self.own_numbers():
            value, unit = self.value_of(one), one.unit.format(**units)
            found[one.name] = (value, unit) if unit else value
        return found

    def quantities(self, mech: Surroundings) -> Iterable[Quantity]:
        """Return what it has in a mechanism, with the limits of its numbers."""
        limited = {one.name for one in self.own_numbers() if one.limit}
        for one in super().quantities(mech):
            yield replace(one, minimum=0.0) if one.stem in limited else one

    def _text(self, name: str, kind: str) -> str:
        return next((one.text for one in self.own_numbers() if one.name == name), self.texts.get(name, kind))

    def check(self, mech: Surroundings) -> None:
        """Refuse joints and bodies that do not exist (any more) or do not fit it."""
        if isinstance(self, ForceOnJoints):
            motion, coordinate = self.units(mech)[0], next(iter(self.gears))
            if self.motion not in ("", motion):
                raise MechanismError(
                    f"{self.label}: {coordinate!r} is in {motion}, and it acts on coordinates in {self.motion}: name "
                    f"the coordinate of a {'hinge' if self.motion == 'rad' else 'slide'}"
                )
            if self.reads_position and not self.has_length(mech):
                raise MechanismError(
                    f"{self.label}: a joint among {quoted(self.joint_names)} has a quaternion as orientation, and no "
                    "coordinate to measure: let it act between points of the two bodies, or on other joints"
                )
        super().check(mech)


@dataclass(frozen=True, repr=False)
class OnJoints(BuiltInForce):
    """A built-in force on a joint, or on several with gears."""

    acts_as: ClassVar[tuple[type[FormulaForce], ...]] = (ByFormulaOnJoints,)
    joint: str | Mapping[str, float]
    _: KW_ONLY
    name: str = "force"


@dataclass(frozen=True, repr=False)
class OnJointsOrBetweenPoints(BuiltInForce):
    """A built-in force on joints, or along the line through points of two bodies or more."""

    acts_as = (ByFormulaOnJoints, ByFormulaAlongLine)
    choices: ClassVar[tuple[Choice, ...]] = (PLACE,)
    goes_with: ClassVar[Mapping[str, str]] = {"factors": "bodies"}
    joint: str | Mapping[str, float] | None = None
    _: KW_ONLY
    bodies: tuple[str, ...] | None = None
    points: tuple[Point, ...] | None = None
    factors: tuple[float, ...] | None = None
    name: str = "force"


def built_in(kind: _Class) -> _Class:
    """Decorate the dataclass of a built-in force: it shows its arguments, and unknown ones are refused by name."""
    kind.call = kind.__name__
    checked = checks_keywords(kind)
    own = list(inspect.signature(checked.__init__).parameters.values())
    checked.__signature__ = inspect.Signature(own[1:])  # type: ignore[attr-defined]
    return checked


def _placed(kind: type[BuiltInForce], place: type[FormulaForce]) -> type[BuiltInForce]:
    """Return the class of a built-in force that acts in a place, one for all of them."""
    found = _PLACED.get((kind, place))
    if found is None:
        own = {"record": place.record, "core_name": place.core_name, "_of": kind, "__module__": kind.__module__}
        found = _PLACED[kind, place] = type(kind.__name__, (kind, place), own | {"__doc__": kind.__doc__})
    return found


_PLACED: dict[tuple[type, type], type[BuiltInForce]] = {}


def _made(kind: type[BuiltInForce], given: Mapping[str, Any]) -> BuiltInForce:
    return kind(**given)
