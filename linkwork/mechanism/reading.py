"""From dictionaries and lists to a mechanism, keeping track of the place for messages."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, partial
from typing import TYPE_CHECKING, Any, TypeVar

from linkwork._util.names import quoted, suggest
from linkwork.errors import MechanismError, MechanismNameError
from linkwork.mechanism.actions import ACTIONS
from linkwork.mechanism.forces import FORCES, names_in_use
from linkwork.mechanism.frames import Frame
from linkwork.mechanism.joints import KINDS, JointKind
from linkwork.mechanism.motions import Motion
from linkwork.mechanism.part_checks import check_new_name
from linkwork.mechanism.pins import Pin
from linkwork.mechanism.shapes import SHAPES
from linkwork.mechanism.transitions import check_among, transition
from linkwork.mechanism.triggers import TRIGGERS, PointDistance, Trigger

if TYPE_CHECKING:
    from linkwork.mechanism.description import Description

_Described = TypeVar("_Described", bound="Description")

VERSION = 1

DataPath = tuple[str | int, ...]


class Misread(Exception):
    """A mistake, where it stands in the data, and the exception that it is to the user."""

    def __init__(self, message: str, path: DataPath, kind: type[MechanismError] = MechanismError) -> None:
        super().__init__(message)
        self.path = path
        self.kind = kind

    @property
    def place(self) -> str:
        """The path as it is written: joints[3].parent_frame."""
        text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in self.path)
        return text.removeprefix(".")


def from_dict(cls: type[_Described], data: Mapping[str, Any]) -> _Described:
    """Return the mechanism that `data` describes; MechanismError names the place in it."""
    try:
        return read_mechanism(cls, data)
    except Misread as error:
        raise error.kind(f"{error.place}: {error}" if error.path else str(error)) from None


def read_mechanism(cls: type[_Described], data: Any) -> _Described:
    """Return the mechanism that `data` describes; raises `Misread`."""
    _check_version(data)
    _check_keys(data, ["linkwork", "name", "bodies", "joints"], ["gravity", *PARTS, "start"])
    with _at():
        mech = cls(data["name"], **({"gravity": data["gravity"]} if "gravity" in data else {}))
    with mech.taken.only_growing():
        for key, add in PARTS.items():
            _each(data, key, partial(add, mech))
            if key == "outputs":
                _each(data, "transitions", partial(_check_transition, mech))
    with _at("start"):
        start = data.get("start", {})
        _check_keys(start, [], ["q", "u"])
        for which in start:
            with _at(which):
                _check_keys(start[which], [], mech.joints)
        mech.start(**start)
    return mech


def _as_given(method: str, required: Sequence[str], optional: Sequence[str] = ()) -> Callable[[Description, Any], None]:
    """Return the reader of a part whose keys are the arguments of a method."""

    def add(mech: Description, item: Any) -> None:
        _check_keys(item, required, optional)
        getattr(mech, method)(**item)

    return add


def _add_joint(mech: Description, item: Any) -> None:
    kind = _chosen(item, KINDS, "joint")
    of_kind = kind.argument_names()
    required = ["name", "type", *of_kind, "parent", "child"]
    _check_keys(item, required, ["at", "parent_frame", "child_frame", "cut", "reflected_inertia", "max_load"])
    given = {key: value for key, value in item.items() if key != "type" and key not in of_kind}
    limits = given.get("max_load")
    if isinstance(limits, list):  # JSON has no infinity
        given["max_load"] = [math.inf if limit is None else limit for limit in limits]
    try:
        made = _kind_of(kind, item)
    except MechanismError as error:
        raise MechanismError(f"joint {item['name']!r}: {error}") from None
    mech.add_joint(kind=made, **given | _frames(item))


def _kind_of(kind: type[JointKind], item: Mapping[str, Any]) -> JointKind:
    made: JointKind = kind(**{name: item[name] for name in kind.argument_names()})
    return made


def _frames(item: Mapping[str, Any], *keys: str) -> dict[str, Frame]:
    frames = {}
    for side in keys or ("parent_frame", "child_frame"):
        if side in item:
            try:
                _check_keys(item[side], [], ["position", "rotation"])
                frames[side] = Frame(**item[side])
            except (Misread, MechanismError) as error:
                raise _placed(error, (side,)) from None
    return frames


FORMULA_OF_COUPLING = ("formula", "parameters", "tables")


def _add_coupling(mech: Description, item: Any) -> None:
    terms: list[str] = [] if isinstance(item, Mapping) and "formula" in item else ["terms"]
    _check_keys(item, ["name", *terms], ["terms", "offset", "motion", *FORMULA_OF_COUPLING])
    arguments = dict(item)
    if "motion" in item:
        with _at("motion"):
            _check_keys(item["motion"], [], [field.name for field in dataclasses.fields(Motion)])
            arguments["motion"] = Motion(**item["motion"])
    mech.add_coupling(**arguments)


def _add_shape(mech: Description, item: Any) -> None:
    kind = _chosen(item, SHAPES, "shape")
    _check_fields(item, kind, ["body", "type"])
    given = {key: value for key, value in item.items() if key not in ("body", "type")} | _frames(item, "frame")
    mech.add_shape(item["body"], kind(**given))


def _add_transition(mech: Description, item: Any) -> None:
    kind = _chosen(item, ACTIONS, "transition")
    _check_fields(item, kind, ["name", "type"], ["when"])
    given = {key: value for key, value in item.items() if key not in ("name", "type", "when")}
    if kind is Pin:
        with _at("kind"):
            joint = _chosen(item["kind"], KINDS, "joint")
            _check_keys(item["kind"], ["type", *joint.argument_names()], [])
            given["kind"] = _kind_of(joint, item["kind"])
        given |= _frames(item)
    trigger = None
    if "when" in item:
        with _at("when"):
            trigger = _trigger(item["when"])
    name = item["name"]
    check_new_name(name, "transition", names_in_use(mech))
    mech.transitions[name] = transition(name, kind(**given), trigger)


def _check_transition(mech: Description, item: Any) -> None:
    """Check a transition once all is there that it may watch; outputs may read what it brings about."""
    check_among(mech, mech.transitions[item["name"]])


def _trigger(item: Any) -> Trigger:
    kind = _chosen(item, TRIGGERS, "trigger")
    _check_fields(item, kind, ["type"])
    given = {key: value for key, value in item.items() if key != "type"}
    if isinstance(given.get("quantity"), Mapping):
        with _at("quantity"):
            _check_fields(given["quantity"], PointDistance, [])
            given["quantity"] = PointDistance(**given["quantity"])
    trigger: Trigger = kind(**given)
    return trigger


def _add_force(mech: Description, item: Any) -> None:
    kind = _chosen(item, FORCES, "force")
    _check_fields(item, kind, ["type"])
    mech.add_force(kind(**{key: value for key, value in item.items() if key != "type"}))


# The reader of each list of parts, in the order in which they refer to each other.
PARTS: dict[str, Callable[[Description, Any], None]] = {
    "bodies": _as_given("add_body", ["name", "mass", "com", "inertia"], ["origin", "rotation"]),
    "joints": _add_joint,
    "couplings": _add_coupling,
    "distances": _as_given("add_distance", ["name", "bodies", "points"], ["length"]),
    "points": _as_given("add_point", ["name", "body", "point"], ["axis"]),
    "measures": _as_given("add_measure", ["name", "quantity", "points"]),
    "states": _as_given(
        "add_state", ["name", "formula"], ["start", "unit", "parameters", "tables", "inputs", "nominal"]
    ),
    "forces": _add_force,
    "transitions": _add_transition,
    "outputs": _as_given("add_output", ["name", "formula"], ["parameters", "tables", "unit"]),
    "shapes": _add_shape,
}


def _check_fields(item: Any, kind: type[Any], required: Sequence[str], optional: Sequence[str] = ()) -> None:
    """Check keys, of which some are the fields of a dataclass."""
    needed, others = _fields(kind)  # type: ignore[arg-type]  # mypy does not take classes for hashable
    _check_keys(item, [*required, *needed], [*others, *optional])


@cache
def _fields(kind: type[Any]) -> tuple[list[str], list[str]]:
    """Return the names of the fields of a dataclass that have no default, and of the others."""
    fields = dataclasses.fields(kind)
    needed = [field.name for field in fields if field.default is dataclasses.MISSING]
    return needed, [field.name for field in fields if field.name not in needed]


def _check_version(data: Any) -> None:
    if not isinstance(data, Mapping) or "linkwork" not in data:
        raise Misread(f'this is no Linkwork mechanism: it has no key "linkwork": {VERSION}', ())
    version = data["linkwork"]
    if type(version) is not int or version != VERSION:
        raise Misread(
            f"version {version!r} of the format is not known, only {VERSION}: "
            "use the Linkwork that wrote it, or a newer one",
            ("linkwork",),
        )


def _check_keys(item: Any, required: Sequence[str], optional: Sequence[str] | Mapping[str, Any]) -> None:
    if not isinstance(item, Mapping):
        raise Misread(f"this must be an object with keys, not {item!r:.60}", ())
    for key in item:
        if key not in required and key not in optional:
            hint = suggest(key, [*required, *optional])
            raise Misread(f"key {key!r} is not known here: {hint}", (key,), MechanismNameError)
    missing = [key for key in required if key not in item]
    if missing:
        named = f" of {item['name']!r}" if isinstance(item.get("name"), str) else ""
        verb = "is missing: add it" if len(missing) == 1 else "are missing: add them"
        raise Misread(f"{quoted(missing)}{named} {verb}", ())


def _chosen(item: Any, kinds: Mapping[str, Any], what: str) -> Any:
    """Return the kind that an item's key "type" names."""
    if not isinstance(item, Mapping) or "type" not in item:
        raise Misread(f'this must be a {what}: an object with the key "type"', ())
    name = item["type"]
    if not isinstance(name, str) or name not in kinds:
        named = f" {item['name']!r}" if isinstance(item.get("name"), str) else ""
        text = f"{what}{named} has the unknown type {name!r}: {suggest(name, kinds)}"
        raise Misread(text, ("type",), MechanismNameError)
    return kinds[name]


def _each(data: Mapping[str, Any], key: str, add: Callable[[Any], None]) -> None:
    items = data.get(key, [])
    if not isinstance(items, Sequence) or isinstance(items, str):
        raise Misread(f"this must be a list, not {items!r:.60}", (key,))
    for index, item in enumerate(items):
        try:  # a tenth of the time of `_at`
            add(item)
        except (Misread, MechanismError) as error:
            raise _placed(error, (key, index)) from None


@contextmanager
def _at(*path: str | int) -> Iterator[None]:
    """Put `path` in front of the place of any mistake met inside."""
    try:
        yield
    except (Misread, MechanismError) as error:
        raise _placed(error, path) from None


def _placed(error: Misread | MechanismError, path: DataPath) -> Misread:
    """Return a mistake with `path` in front of its place."""
    if isinstance(error, Misread):
        return Misread(str(error), (*path, *error.path), error.kind)
    return Misread(str(error), path, type(error))
