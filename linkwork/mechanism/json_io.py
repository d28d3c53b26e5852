"""Mechanisms as JSON: written so that people can read and edit it, and loaded with the same bits.

    {"linkwork": 1, "name": ..., "gravity": [x, y, z],
     "bodies": [{"name", "mass", "com", "inertia", "origin", "rotation"}, ...],
     "joints": [{"name", "type", its arguments, "parent", "child", "parent_frame", "child_frame", "at", "cut",
                 "reflected_inertia", "max_load"}, ...],
     "couplings": [{"name", "terms": {"coordinate": coefficient or [c1, c2, ...]}, "offset",
                    "motion": {"polynomial": [c0, c1, ...], "amplitude", "frequency", "phase"},
                    "formula", "parameters", "tables"}, ...],
     "distances": [{"name", "bodies": [first, second], "points", "length"}, ...],
     "forces": [{"type": "spring_damper", "joint", "stiffness", "damping", "free"},
                {"type": "point_spring_damper", "bodies", "points", "stiffness", "damping", "free", "name"},
                {"type": "wrench", "body", "point", "name"},
                {"type": "actuator", "name", "gears": {"coordinate": gear}, "gain", "offset", "stiffness", "damping",
                 "input_range": [lower, upper], "force_range"},
                {"type": "joint_force", "joint": coordinate or {"coordinate": gear}, "formula",
                 "parameters": {"name": value or [value, unit]},
                 "tables": {"name": {"x", "values", "y", "interpolation": "linear" or "monotone",
                                     "outside": "hold", "extend" or "error", "periodic", "unit", "argument_units"}},
                 "inputs": ["name", ...], "name"},
                {"type": "line_force", "bodies", "points", "formula", "factors", "parameters", "tables", "inputs",
                 "name"},
                {"type": "frame_force", "bodies", "frames", "force": [formula, ...], "torque", "parameters", "tables",
                 "inputs", "name"},
                {"type": "point_force", "body", "point", "force": [formula, ...], "torque", "axes": "world" or "body",
                 "parameters", "tables", "inputs", "name"},
                {"type": "bump_stop", or another built-in force, and its arguments}, ...],
     "transitions": [{"name", "type": "lock" or "unlock", "joint", "speeds", "when"},
                     {"name", "type": "pin", "parent", "child", "kind": {"type", its arguments}, "parent_frame",
                      "child_frame", "when"},
                     {"name", "type": "release", "joint", "when"},
                     {"name", "type": "stop", "joint", "lower", "upper", "restitution", "coordinate"},
                     {"name", "type": "impulse", "body", "point", "force", "torque", "when"}, ...],
     "points": [{"name", "body", "point", "axis"}, ...],
     "measures": [{"name", "quantity": "distance" or "angle", "points": [first, second]}, ...],
     "outputs": [{"name", "formula", "parameters", "tables", "unit"}, ...],
     "states": [{"name", "formula", "start", "unit", "parameters", "tables", "inputs", "nominal"}, ...],
     "shapes": [{"body", "type": "box", "size", "frame", "colour"},
                {"body", "type": "cylinder" or "capsule", "radius", "length", "frame", "colour"},
                {"body", "type": "sphere", "radius", "frame", "colour"},
                {"body", "type": "mesh", "path", "scale", "frame", "colour"}, ...],
     "start": {"q": {"joint": value}, "u": {"joint": value}}}

Keys mean what the arguments of `Mechanism.add_body`, `add_joint`, `add_coupling`, `Motion`, `add_distance`,
`SpringDamper`, `Wrench`, `Actuator`, `Force`, `add_transition`, its actions, `add_point`, `add_measure`, `add_output`,
the shapes and `start` mean, with the same defaults; relative paths of meshes start from the folder of the file. The
arguments of a joint have the names that its class gives them: "axis", "axis1" and "axis2", "normal", or none.
"when" is {"type": "time", "t"}, {"type": "crossing", "quantity": coordinate, speed or {"bodies", "points", "rate"},
"value", "direction"} or {"type": "command"}.
"""

from __future__ import annotations

import dataclasses
import json
import os
import re
from json.encoder import encode_basestring
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork._util.garbage import no_collection
from linkwork._util.names import quoted
from linkwork.errors import MechanismError
from linkwork.formula import LookupTable
from linkwork.mechanism.frames import Frame
from linkwork.mechanism.joints import JointKind
from linkwork.mechanism.reading import FORMULA_OF_COUPLING, VERSION, DataPath, Misread, read_mechanism
from linkwork.mechanism.shapes import Mesh
from linkwork.mechanism.triggers import PointDistance

if TYPE_CHECKING:
    from linkwork.mechanism.couplings import Coefficients, Coupling
    from linkwork.mechanism.description import Description
    from linkwork.mechanism.parts import Body, Joint
    from linkwork.mechanism.shapes import Shape
    from linkwork.mechanism.transitions import Transition
    from linkwork.mechanism.triggers import Trigger

_Described = TypeVar("_Described", bound="Description")

_LINE = 120
_PARALLEL = np.eye(3).tobytes()
_SPACE = re.compile(r"[ \t\r\n]*")
_NUMBERS = re.compile(r"[-+.0-9e, \[\]]+")
_ENCODER = json.JSONEncoder(ensure_ascii=False)


def to_dict(mech: Description) -> dict[str, Any]:
    """Return the mechanism as dictionaries, lists, strings and numbers."""
    parts = {
        "bodies": [_body(body) for body in mech.bodies.values()],
        "joints": [_joint(joint) for joint in mech.joints.values()],
        "couplings": [_coupling(one) for one in mech.couplings.values()],
        "distances": [_values(one) for one in mech.distances.values()],
        "states": [_values(one) for one in mech.states.values()],
        "forces": [{"type": force.type_name, **_values(force)} for force in mech.forces],
        "transitions": [_transition(one) for one in mech.transitions.values()],
        "points": [_values(one) for one in mech.points.values()],
        "measures": [_values(one) for one in mech.measures.values()],
        "outputs": [_values(one) for one in mech.outputs.values()],
        "shapes": [_shape(body, one) for body, of in mech.shapes.items() for one in of],
    }
    return {
        "linkwork": VERSION,
        "name": mech.name,
        "gravity": mech.gravity.tolist(),
        **{key: part for key, part in parts.items() if part or key in ("bodies", "joints", "forces")},
        "start": {
            "q": {name: _number_or_list(value) for name, value in mech.start_q.items()},
            "u": {name: _number_or_list(value) for name, value in mech.start_u.items()},
        },
    }


def text_of(mech: Description) -> str:
    """Return a mechanism as the content of a file."""
    with no_collection():
        return _formatted(to_dict(mech)) + "\n"


def placed_in(mech: _Described, folder: Path) -> _Described:
    """Return the mechanism with relative paths of meshes that start from another folder, that of a file to write."""
    own = (mech.folder or Path()).absolute()
    if own == folder or not any(isinstance(one, Mesh) for of in mech.shapes.values() for one in of):
        return mech
    moved = mech.copy()
    moved.shapes = {body: [_moved(one, own, folder) for one in of] for body, of in mech.shapes.items()}
    return moved


def _moved(shape: Shape, own: Path, folder: Path) -> Shape:
    if not isinstance(shape, Mesh) or Path(shape.path).is_absolute() or not (own / shape.path).is_file():
        return shape
    try:
        path = os.path.relpath(own / shape.path, folder)
    except ValueError:  # another drive of Windows
        path = str(own / shape.path)
    return dataclasses.replace(shape, path=Path(path).as_posix())


def _body(body: Body) -> dict[str, Any]:
    return {
        "name": body.name,
        "mass": body.mass,
        "com": body.com.tolist(),
        "inertia": body.inertia.tolist(),
        "origin": body.origin.tolist(),
        **_rotation(body.rotation),
    }


def _joint(joint: Joint) -> dict[str, Any]:
    return {
        "name": joint.name,
        **_kind(joint.kind),
        "parent": joint.parent,
        "child": joint.child,
        "parent_frame": _frame(joint.parent_frame),
        "child_frame": _frame(joint.child_frame),
        **({"cut": True} if joint.cut else {}),
        **({"reflected_inertia": _number_or_list(joint.reflected_inertia)} if joint.reflected_inertia.any() else {}),
        **_limits(joint),
    }


def _limits(joint: Joint) -> dict[str, Any]:
    """JSON has no infinity: in a joint of several speeds null stands for a speed without a limit."""
    if np.isinf(joint.max_load).all():
        return {}
    limits = [None if np.isinf(one) else one for one in joint.max_load.tolist()]
    return {"max_load": limits[0] if len(limits) == 1 else limits}


def _kind(kind: JointKind) -> dict[str, Any]:
    return {"type": kind.type_name, **kind.arguments}


def _coupling(coupling: Coupling) -> dict[str, Any]:
    return {
        "name": coupling.name,
        **({"terms": terms} if (terms := _terms(coupling)) else {}),
        "offset": coupling.offset,
        **({"motion": _values(coupling.motion)} if coupling.motion else {}),
        **{key: _plain(value) for key in FORMULA_OF_COUPLING if (value := getattr(coupling, key))},
    }


def _terms(coupling: Coupling) -> dict[str, Any]:
    return {coordinate: _shortest(term.coefficients) for coordinate, term in coupling.given_terms.items()}


def _shortest(coefficients: Coefficients) -> float | list[float]:
    """The first alone, or as many as are not zero."""
    last = max(power for power, value in enumerate(coefficients) if value)
    return list(coefficients[: last + 1]) if last else coefficients[0]


def _transition(transition: Transition) -> dict[str, Any]:
    return {
        "name": transition.name,
        "type": transition.action.type_name,
        **_values(transition.action),
        **({"when": _trigger(transition.when)} if transition.when else {}),
    }


def _shape(body: str, shape: Shape) -> dict[str, Any]:
    return {"body": body, "type": shape.type_name, **{name: _plain(value) for name, value in shape.given.items()}}


def _trigger(trigger: Trigger) -> dict[str, Any]:
    return {"type": trigger.type_name, **_values(trigger)}


def _values(part: object) -> dict[str, Any]:
    """The fields of a dataclass that are given."""
    values = {field.name: getattr(part, field.name) for field in dataclasses.fields(part)}  # type: ignore[arg-type]
    return {name: _plain(value) for name, value in values.items() if value is not None and not _is_empty(value)}


def _is_empty(value: Any) -> bool:
    return isinstance(value, dict | tuple) and not value


def _plain(value: Any) -> Any:
    """As JSON has it: lists for tuples, objects for values of several parts."""
    match value:
        case tuple():
            return [_plain(item) for item in value]
        case dict():
            return {key: _plain(item) for key, item in value.items()}
        case Frame():
            return _frame(value)
        case JointKind():
            return _kind(value)
        case LookupTable():
            return value.given
        case PointDistance():
            return {name: given for name, given in _values(value).items() if given is not False}
    return value


def _frame(frame: Frame) -> dict[str, Any]:
    return {"position": frame.position.tolist(), **_rotation(frame.rotation)}


def _rotation(matrix: FloatArray) -> dict[str, Any]:
    """Nothing for the identity; compared by bits, because -0 must come back as -0."""
    return {} if matrix.tobytes() == _PARALLEL else {"rotation": matrix.tolist()}


def _number_or_list(value: FloatArray) -> float | list[float]:
    return value.item() if value.size == 1 else value.tolist()


def _formatted(value: Any, indent: str = "") -> str:
    """JSON with what fits on one line on one line; lines are joined from parts, each of which is written once."""
    if not isinstance(value, dict | list) or not value:
        return _encoded(value)
    inner = indent + "  "
    if isinstance(value, dict):
        items = [f"{_encoded(key)}: {_formatted(item, inner)}" for key, item in value.items()]
        opening, closing = "{", "}"
    elif (line := _of_numbers(value)) and len(indent) + len(line) <= _LINE:
        return line
    else:
        items = [_formatted(item, inner) for item in value]
        opening, closing = "[", "]"
    line = f"{opening}{', '.join(items)}{closing}"
    if len(indent) + len(line) <= _LINE and "\n" not in line:
        return line
    return f"{opening}\n{inner}" + f",\n{inner}".join(items) + f"\n{indent}{closing}"


def _encoded(value: Any) -> str:
    if type(value) is str:
        return encode_basestring(value)
    return (type(value) is float and _of_numbers(value)) or _ENCODER.encode(value)


def _of_numbers(value: Any) -> str | None:
    """Return a finite number, or a list of them, as Python and JSON both write it; None for anything else."""
    if type(value) is list and len(value) > _LINE:
        return None
    text = repr(value)
    return text if _NUMBERS.fullmatch(text) else None


def load(cls: type[_Described], path: str | os.PathLike[str]) -> _Described:
    """Read a mechanism from a file; MechanismError names the file, line and column."""
    name = os.fspath(path)
    try:
        text = Path(path).read_bytes().decode("utf-8-sig")
        with no_collection():
            data = json.loads(text, object_pairs_hook=_object)
    except json.JSONDecodeError as error:
        place = f"{name}, line {error.lineno}, column {error.colno}"
        remedy = "the file ends early; restore it or save the mechanism again" if _ends_early(error) else "correct it"
        raise MechanismError(f"{place}: this is no JSON ({error.msg}): {remedy}") from None
    except UnicodeDecodeError as error:
        raise MechanismError(f"{name}, byte {error.start}: this is no UTF-8 text; save the mechanism again") from None
    except MechanismError as error:
        raise MechanismError(f"{name}: {error}") from None
    except (ValueError, RecursionError) as error:
        raise MechanismError(f"{name}: this is no mechanism ({error})") from None
    try:
        with no_collection():
            mech = read_mechanism(cls, data)
    except Misread as error:
        line, column = _position(text, error.path)
        within = f" ({error.place})" if error.path else ""
        raise error.kind(f"{name}, line {line}, column {column}{within}: {error}") from None
    mech.folder = Path(path).absolute().parent
    return mech


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    item = dict(pairs)
    if len(item) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise MechanismError(f"the key {twice!r} stands twice in the object with {quoted(item)}: remove one")
    return item


def _ends_early(error: json.JSONDecodeError) -> bool:
    return error.msg.startswith("Unterminated") or not error.doc[error.pos :].strip()


def _position(text: str, path: DataPath) -> tuple[int, int]:
    """Line and column, from 1, of the value at `path` in a text that is known to be JSON."""
    skip = json.JSONDecoder().raw_decode

    def blank(position: int) -> int:
        found = _SPACE.match(text, position)
        return found.end() if found else position

    here = blank(0)
    for step in path:
        here = blank(here + 1)
        key: object = 0
        while True:
            if isinstance(step, str):
                key, here = skip(text, here)
                here = blank(blank(here) + 1)
            if key == step:
                break
            _, here = skip(text, here)
            here = blank(blank(here) + 1)
            key = key + 1 if isinstance(key, int) else key
    before = text[:here]
    return before.count("\n") + 1, here - (before.rfind("\n") + 1) + 1
