"""The JSON Schema of mechanisms, made from the classes that a file describes.

Keys, types and defaults come from the signatures and fields of the classes, descriptions from their docstrings. Shapes
of arrays and limits of numbers, which neither of them states, are in the tables below.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from linkwork._util.part_names import PATTERN
from linkwork.formula import INTERPOLATIONS, OUTSIDES, LookupTable
from linkwork.mechanism import shapes
from linkwork.mechanism.actions import ACTIONS, Stop
from linkwork.mechanism.built_in_forces import LIMITS, BuiltInForce
from linkwork.mechanism.forces import FORCES
from linkwork.mechanism.frames import Frame
from linkwork.mechanism.friction import Friction
from linkwork.mechanism.joints import KINDS, AlongPath, JointKind
from linkwork.mechanism.mechanism import Mechanism
from linkwork.mechanism.motions import Motion
from linkwork.mechanism.paths import MOST_POINTS
from linkwork.mechanism.points import PointOfInterest
from linkwork.mechanism.reading import VERSION
from linkwork.mechanism.triggers import TRIGGERS, PointDistance

DIALECT = "https://json-schema.org/draft/2020-12/schema"

Schema = dict[str, Any]

NUMBER: Schema = {"type": "number"}
NAME: Schema = {"type": "string", "pattern": f"^{PATTERN}$"}


def _array(items: Schema, least: int, most: int | None = None) -> Schema:
    return {"type": "array", "items": items, "minItems": least, "maxItems": least if most is None else most}


VECTOR = _array(NUMBER, 3)
MATRIX = _array(VECTOR, 3)
QUATERNION = _array(NUMBER, 4)
NUMBERS: Schema = {"type": "array", "items": NUMBER}
KNOTS: Schema = {"type": "array", "items": NUMBER, "minItems": 2}
COEFFICIENTS: Schema = {"anyOf": [NUMBER, _array(NUMBER, 1, 4)]}

NOT_NEGATIVE: Schema = {"type": "number", "minimum": 0}
POSITIVE: Schema = {"type": "number", "exclusiveMinimum": 0}
SHARE: Schema = {"type": "number", "minimum": 0, "maximum": 1}
NO_LIMIT: Schema = {"type": "null"}

WITH_UNIT: Schema = {"type": "array", "prefixItems": [NUMBER, {"type": "string"}], "minItems": 2, "maxItems": 2}

STATE: Schema = {
    "type": "object",
    "properties": {"formula": {"type": "string"}, "start": NUMBER, "unit": {"type": "string"}, "nominal": POSITIVE},
    "required": ["formula"],
    "additionalProperties": False,
}

# Shapes and limits that the types of Python do not state, by key.
SHAPES: dict[str, Schema] = {
    "name": NAME,
    "mass": {"type": "number", "minimum": 0},
    "com": VECTOR,
    "inertia": MATRIX,
    "gravity": VECTOR,
    "origin": VECTOR,
    "position": VECTOR,
    "at": VECTOR,
    "rotation": {"anyOf": [MATRIX, QUATERNION]},
    "points": _array(VECTOR, 2),
    "bodies": _array({"type": "string"}, 2),
    "factors": {"type": "array", "items": NUMBER, "minItems": 1},
    "length": POSITIVE,
    "polynomial": COEFFICIENTS,
    "reflected_inertia": {"anyOf": [NOT_NEGATIVE, {"type": "array", "items": NOT_NEGATIVE}]},
    "max_load": {"anyOf": [NOT_NEGATIVE, {"type": "array", "items": {"anyOf": [NOT_NEGATIVE, NO_LIMIT]}}]},
    "restitution": {"type": "number", "minimum": 0, "maximum": 1},
    "direction": {"enum": [-1, 0, 1]},
    "coordinate": {"type": "integer", "minimum": 1},
    "speeds": {
        "anyOf": [
            {"type": "integer", "minimum": 1},
            {"type": "array", "items": {"type": "integer", "minimum": 1}, "minItems": 1},
        ]
    },
    "parent_frame": {"$ref": "#/$defs/frame"},
    "child_frame": {"$ref": "#/$defs/frame"},
    "kind": {"$ref": "#/$defs/joint_type"},
    "quantity": {"anyOf": [{"type": "string"}, {"$ref": "#/$defs/point_distance"}]},
    "terms": {"type": "object", "additionalProperties": COEFFICIENTS, "minProperties": 1},
    "gears": {"type": "object", "additionalProperties": NUMBER, "minProperties": 1},
    "input_range": _array(NUMBER, 2),
    "table": {"$ref": "#/$defs/table"},
    "tables": {"type": "object", "additionalProperties": {"$ref": "#/$defs/table"}},
    "parameters": {"type": "object", "additionalProperties": {"anyOf": [NUMBER, WITH_UNIT]}},
    "inputs": {"type": "array", "items": {"type": "string"}},
    "states": {"type": "object", "additionalProperties": {"anyOf": [{"type": "string"}, STATE]}, "minProperties": 1},
    "nominal": POSITIVE,
    "axes": {"enum": ["world", "body"]},
    "force_range": _array(NUMBER, 2),
    "motion": {"$ref": "#/$defs/motion"},
    "frame": {"$ref": "#/$defs/frame"},
    "frames": _array({"$ref": "#/$defs/frame"}, 2),
    "size": _array(POSITIVE, 3),
    "radius": POSITIVE,
    "scale": {"anyOf": [NUMBER, VECTOR]},
    "colour": {"anyOf": [{"type": "string", "pattern": "^#[0-9a-fA-F]{6}$"}, _array(SHARE, 3)]},
}


# Its points are names, unlike those of other parts.
MEASURE: Schema = {
    "type": "object",
    "properties": {
        "name": NAME,
        "quantity": {"enum": ["distance", "angle"]},
        "points": _array({"type": "string"}, 2),
    },
    "required": ["name", "quantity", "points"],
    "additionalProperties": False,
}


def json_schema() -> Schema:
    """Return the JSON Schema (draft 2020-12) of the files that `Mechanism.save` writes and `Mechanism.load` reads.

    It states keys, types and shapes; `Mechanism.load` checks in addition that names exist, axes have a direction,
    inertias are possible and so on.

    >>> json_schema()["required"]
    ['linkwork', 'name', 'bodies', 'joints']
    """
    described = _parameters(Mechanism)
    parts = {
        "bodies": _call(Mechanism.add_body),
        "joints": {"oneOf": [_joint(kind) for kind in KINDS.values()]},
        "couplings": _coupling(),
        "distances": _call(Mechanism.add_distance),
        "forces": {"oneOf": [_force(kind, name) for name, kind in FORCES.items()]},
        "transitions": {"oneOf": [_transition(kind, name) for name, kind in ACTIONS.items()]},
        "points": _fields(PointOfInterest),
        "measures": MEASURE,
        "outputs": _call(Mechanism.add_output),
        "states": _call(Mechanism.add_state),
        "shapes": {"oneOf": [_shape(kind, name) for name, kind in shapes.SHAPES.items()]},
    }
    values: Schema = {"type": "object", "additionalProperties": {"anyOf": [NUMBER, NUMBERS]}}
    start = _parameters(Mechanism.start)
    return {
        "$schema": DIALECT,
        "title": "Linkwork mechanism",
        "description": "A mechanism of rigid bodies, in SI units and rad.",
        **_object(
            {
                "linkwork": {"const": VERSION, "description": "version of the format"},
                "name": _described(NAME, described.get("name")),
                "gravity": _described(VECTOR, described.get("gravity")),
                **{key: {"type": "array", "items": item} for key, item in parts.items()},
                "start": _object({key: _described(values, start.get(key)) for key in ("q", "u")}),
            },
            ["linkwork", "name", "bodies", "joints"],
        ),
        "$defs": {
            "frame": _call(Frame),
            "joint_type": {"oneOf": [_joint_type(kind) for kind in KINDS.values()]},
            "point_distance": _fields(PointDistance),
            "motion": _fields(Motion),
            "table": _table(),
            "trigger": {"oneOf": [_variant(kind, name) for name, kind in TRIGGERS.items()]},
        },
    }


# ---- kinds of objects ------------------------------------------------------------------------------


def _joint(kind: type[JointKind]) -> Schema:
    """A joint: the arguments of `add_joint`, with those of its type among them."""
    whole = _call(Mechanism.add_joint, leave_out=("kind",))
    own = _joint_type(kind)
    return {
        **own,
        "properties": {
            "name": whole["properties"]["name"],
            **own["properties"],
            **{key: value for key, value in whole["properties"].items() if key != "name"},
        },
        "required": ["name", *own["required"], *(key for key in whole["required"] if key != "name")],
        "oneOf": [_given("at"), {"anyOf": [_given("parent_frame"), _given("child_frame")]}],
    }


def _joint_type(kind: type[JointKind]) -> Schema:
    described = _parameters(kind)
    properties = {name: _described(VECTOR, described.get(name)) for name in kind.axis_names}
    if kind.parameter:
        properties[kind.parameter.name] = _described(NUMBER, f"{kind.parameter.text} [{kind.parameter.unit}]")
    if issubclass(kind, AlongPath):
        points = {"type": "array", "items": VECTOR, "minItems": 2, "maxItems": MOST_POINTS}
        properties["points"] = _described(points, described.get("points"))
        properties["closed"] = _described({"type": "boolean"}, described.get("closed"))
    return _described(
        _object({"type": {"const": kind.type_name}, **properties}, ["type", *kind.argument_names()]), _summary(kind)
    )


def _coupling() -> Schema:
    """A coupling has terms, a formula or both."""
    of_formula = {key: ["formula"] for key in ("parameters", "tables")}
    return _call(Mechanism.add_coupling) | {
        "anyOf": [_given("terms"), _given("formula")],
        "dependentRequired": of_formula,
    }


def _transition(kind: type[Any], name: str) -> Schema:
    """An action by its fields, with name and trigger; a stop has no trigger."""
    found = _variant(kind, name)
    found["properties"] = {"name": NAME, **found["properties"]}
    found["required"] = ["name", *found["required"]]
    if not issubclass(kind, Stop):
        found["properties"]["when"] = {"$ref": "#/$defs/trigger"}
        found["required"].append("when")
    else:
        found["anyOf"] = [_given("lower"), _given("upper")]
    return found


def _shape(kind: type[Any], name: str) -> Schema:
    """A shape by its fields, with the body in which it is fixed."""
    found = _variant(kind, name)
    body = _described({"type": "string"}, _parameters(Mechanism.add_shape).get("body"))
    return found | {"properties": {"body": body, **found["properties"]}, "required": ["body", *found["required"]]}


def _force(kind: type[Any], name: str) -> Schema:
    """A force by its fields; built-in ones have limits of numbers, and alternatives."""
    found = _variant(kind, name)
    if "factors" in found["properties"]:  # along a line
        for key, item in (("bodies", {"type": "string"}), ("points", VECTOR)):
            found["properties"][key] |= {"type": "array", "items": item, "minItems": 2}
            found["properties"][key].pop("maxItems", None)
    if issubclass(kind, BuiltInForce):
        for one in kind.numbers:
            found["properties"].get(one.name, {}).update(LIMITS[one.limit])
        rules = [choice.schema for choice in kind.choices]
        rules += [{"anyOf": [_given(key) for key in kind.at_least_one]}] if kind.at_least_one else []
        found |= {"allOf": rules} if rules else {}
        needed = {name: [one] for name, one in kind.goes_with.items()}
        found |= {"dependentRequired": needed} if needed else {}
    if issubclass(kind, Friction):
        found |= {
            "anyOf": [_given("coulomb"), _given("mu")],
            "dependentRequired": {key: ["mu"] for key in ("radius", "static_mu")},
        }
    return found


def _variant(kind: type[Any], name: str) -> Schema:
    """One of several dataclasses, which the key "type" distinguishes."""
    found = _fields(kind)
    return found | {
        "properties": {"type": {"const": name}, **found["properties"]},
        "required": ["type", *found["required"]],
    }


def _fields(kind: type[Any]) -> Schema:
    """A dataclass: its fields, those without a default required."""
    described, hints = _parameters(kind), typing.get_type_hints(kind)
    fields = dataclasses.fields(kind)
    properties = {
        one.name: _value(one.name, hints[one.name], described.get(one.name), default=one.default) for one in fields
    }
    required = [one.name for one in fields if one.default is dataclasses.MISSING]
    return _described(_object(properties, required), _summary(kind))


def _call(function: Callable[..., Any], leave_out: Sequence[str] = ()) -> Schema:
    """The arguments of a function or class, those without a default required."""
    described = _parameters(function)
    hints = typing.get_type_hints(vars(function)["__init__"] if isinstance(function, type) else function)
    arguments = [one for one in inspect.signature(function).parameters.values() if one.name not in ("self", *leave_out)]
    properties = {
        one.name: _value(one.name, hints[one.name], described.get(one.name), default=one.default) for one in arguments
    }
    return _described(
        _object(properties, [one.name for one in arguments if one.default is one.empty]), _summary(function)
    )


def _table() -> Schema:
    """A lookup table; its docstring describes what files may have as well."""
    shapes: Schema = {
        "x": KNOTS,
        "values": {"type": "array", "items": {"anyOf": [NUMBER, NUMBERS]}},
        "y": KNOTS,
        "interpolation": {"enum": list(INTERPOLATIONS), "default": INTERPOLATIONS[0]},
        "outside": {"enum": list(OUTSIDES), "default": OUTSIDES[0]},
        "periodic": {"anyOf": [{"type": "boolean"}, _array({"type": "boolean"}, 2)]},
        "unit": {"type": "string"},
        "argument_units": {"type": "array", "items": {"type": ["string", "null"]}, "minItems": 1, "maxItems": 2},
    }
    described = _parameters(LookupTable)
    found = {name: _described(shape, described.get(name)) for name, shape in shapes.items()}
    return _described(_object(found, ["x", "values"]), _summary(LookupTable))


# ---- values ----------------------------------------------------------------------------------------


def _value(name: str, hint: Any, text: str | None, default: object) -> Schema:
    found = _described(SHAPES.get(name) or _of_type(hint), text)
    return found | {"default": default} if isinstance(default, bool | int | float | str) else found


def _of_type(hint: Any) -> Schema:
    """The schema of a value of a type of Python; None means that the key is left out."""
    if hint in (float, int, str, bool):
        return {"type": {float: "number", int: "integer", str: "string", bool: "boolean"}[hint]}
    origin, inner = typing.get_origin(hint), [one for one in typing.get_args(hint) if one is not types.NoneType]
    if origin in (typing.Union, types.UnionType):
        return _of_type(inner[0]) if len(inner) == 1 else {"anyOf": [_of_type(one) for one in inner]}
    if origin is tuple and inner[-1] is Ellipsis:
        return {"type": "array", "items": _of_type(inner[0])}
    if origin is tuple:
        return _array(_of_type(inner[0]), len(inner))
    if origin is Mapping:
        return {"type": "object", "additionalProperties": _of_type(inner[1]), "minProperties": 1}
    if origin is Sequence:
        return {"type": "array", "items": _of_type(inner[0])}
    raise TypeError(f"no JSON Schema is known for {hint!r}: add its key to SHAPES")


def _object(properties: Mapping[str, Any], required: Iterable[str] = ()) -> Schema:
    found = {"type": "object", "properties": dict(properties), "required": list(required)}
    return {**found, "additionalProperties": False}


def _given(key: str) -> Schema:
    return {"required": [key]}


def _described(schema: Schema, text: str | None) -> Schema:
    return {**schema, "description": text} if text else dict(schema)


# ---- docstrings ------------------------------------------------------------------------------------


def _summary(documented: object) -> str | None:
    """The first line of a docstring; dataclasses without one have their signature instead."""
    text = inspect.getdoc(documented) or ""
    first = text.partition("\n")[0]
    return None if re.match(r"\w+\(", first) else first or None


def _parameters(documented: object) -> dict[str, str]:
    """The descriptions in the section "Parameters" of a numpy-style docstring, by name."""
    text = inspect.getdoc(documented) or ""
    section = re.search(r"^Parameters\n-+\n(.*?)(?=^\w[^\n]*\n-+\n|\Z)", text, re.MULTILINE | re.DOTALL)
    found: dict[str, str] = {}
    for names, body in re.findall(
        r"^(\w[\w, ]*)\n((?:[ ]+[^\n]*\n?|\n)+)", section[1] if section else "", re.MULTILINE
    ):
        found |= dict.fromkeys(re.split(r", *", names), " ".join(body.split()))
    return found
