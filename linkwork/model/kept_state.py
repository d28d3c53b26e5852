"""States that are kept in files and shown to people.

Files are JSON or NumPy: every number to the bit, with the names of coordinates and the model's checksum. Texts have
coordinates and speeds with units, and in words the changes that transitions have made.
"""

from __future__ import annotations

import json
import os
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork._util.files import atomic_path
from linkwork._util.html import html_table
from linkwork.errors import MechanismError
from linkwork.model.state_values import JointArray, StateValues

if TYPE_CHECKING:
    from linkwork.model.named_model import NamedModel


@dataclass(frozen=True, eq=False, repr=False)
class KeptState(StateValues):
    """A pose and a velocity of a system.

    Attributes
    ----------
    model
        Whose state it is.
    q
        Coordinates of the tree joints, (nq,), in the order of `model.q_names`.
    u
        Speeds of the tree joints, (nu,), in the order of `model.u_names`.
    time
        s; it matters where motions are prescribed.
    motion
        Inputs of these motions, (n_motion,), in the order of `model.numbering.motions`.
    discrete_state
        Numbers of the core, (n_discrete,), that transitions change: which joints are locked, open, at rest on stops.
    step_control
        Of a state at the end of a solver's step: size of the next step, s, norm of the last error, and the choice of
        method of solver "auto", (3,), with which a run continues as though it had not been cut; else None.
    changed_start_values
        Of a state from assembly: the given start values that it could not keep, each a
        `linkwork.model.changed_starts.ChangedStart` with the value asked and the value kept; empty where all are kept.

    elements
        States of elements, (n,), in the order of `model.element_names`.

    Every variable is found by name as well: ``state["A.q"]``, ``state["coupler.r"]``, also those of cut joints and
    parameters. A loop over a state gives the names of all inputs, coordinates, speeds and outputs, and ``dict(state)``
    their values by name. The arrays are read-only; `Model.state` makes a state from others.
    """

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the state to a file, every number to the bit.

        The file has the coordinates and speeds of tree and cut joints, with their revolutions, the states of elements,
        the time, the motions and the discrete state, and the name and the checksum of the model.

        Parameters
        ----------
        path
            Of the file: ``.json``, which people can read, or ``.npz`` of NumPy.

        Raises
        ------
        MechanismError
            If the suffix is another one.
        OSError
            If the file cannot be written; the text names the remedy.

        Examples
        --------
        >>> import linkwork as lw, os, tempfile
        >>> mech = lw.Mechanism("slider")
        >>> mech.add_body("block", mass=1.0, com=(0, 0, 0), inertia=lw.inertia.sphere(1.0, 0.1))
        >>> mech.add_joint("S", lw.Prismatic((0, 0, 1)), "ground", "block", at=(0, 0, 0))
        >>> model = lw.compile(mech)
        >>> path = os.path.join(tempfile.mkdtemp(), "start.json")
        >>> model.assemble(q={"S": 0.1}).save(path)
        >>> lw.State.load(path, model)
        State('slider': t = 0 s, S.q = 0.1 m, S.u = 0 m/s)
        """
        save_state(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str], model: NamedModel) -> Self:
        """Read a state that `save` has written.

        Parameters
        ----------
        path
            Of the file, ``.json`` or ``.npz``.
        model
            The model of which it is a state; a mechanism compiled again from the same description serves as well.

        Returns
        -------
        State
            The same numbers.

        Raises
        ------
        MechanismError
            If it is a state of another model, or no state; the text names both mechanisms.
        OSError
            If there is no such file.
        """
        found = load_state(path, model)
        for name in ("q", "u"):
            values = np.concatenate([found[name], found.pop(f"{name}{CUT}")])
            found[name] = JointArray.split(_frozen(values), len(found[name]))
        arrays = {name: _frozen(value) for name, value in found.items() if isinstance(value, np.ndarray)}
        return cls(model, **{**found, **arrays})

    def __repr__(self) -> str:
        return in_one_line(self)

    def __str__(self) -> str:
        return as_table(self)

    def _repr_html_(self) -> str:
        return as_html(self)


def _frozen(values: FloatArray) -> FloatArray:
    """Return an array that cannot be changed."""
    values.flags.writeable = False
    return values


MOST_VALUES = 8  # in one line
MOST_LINES = 40  # of a table
BY_LOCK, BY_STOP = 1, 2  # bits of the core's field `locked`


def in_one_line(state: StateValues) -> str:
    """Return time, the first coordinates and speeds, and the changes by transitions."""
    pairs = [f"{name} = {value:.6g}{_spaced(unit)}" for name, value, unit in values(state, cut=False)]
    more = [f"... ({len(pairs)} in all)"] if len(pairs) > MOST_VALUES else []
    listed = ", ".join([f"t = {state.time:.6g} s", *pairs[:MOST_VALUES], *more])
    return f"State({state.model.mechanism.name!r}: {'; '.join([listed, *changes(state)])})"


def as_table(state: StateValues) -> str:
    """Return a line for each coordinate and speed, those of cut joints as well."""
    rows = list(values(state))
    width = max((len(name) for name, _, _ in rows), default=0)
    lines = [f"  {name.ljust(width)}  {value: .9g}{_spaced(unit)}" for name, value, unit in rows]
    if len(lines) > MOST_LINES:
        lines = [*lines[: MOST_LINES - 1], f"  ... {len(lines) - MOST_LINES + 1} more"]
    head = f"State of {state.model.mechanism.name!r} at t = {state.time:.9g} s"
    return "\n".join([head, *lines, *(f"  {change}" for change in changes(state))])


def as_html(state: StateValues) -> str:
    """Return an HTML table of the coordinates and speeds; the changes by transitions are in its caption."""
    head = "; ".join([f"State of {state.model.mechanism.name!r} at t = {state.time:.6g} s", *changes(state)])
    return html_table(head, ["name", "value", "unit"], [*values(state)])


def values(state: StateValues, *, cut: bool = True) -> Iterator[tuple[str, float, str]]:
    """Return name, value and unit of coordinates and speeds; those of the cut joints last."""
    model = state.model
    found: list[tuple[list[str], FloatArray]] = [(model.q_names, state.q), (model.u_names, state.u)]
    found.append((model.element_names, state.elements))
    if cut:
        found += [(_named(state, f"{one}_cut"), cuts) for one in "qu" if (cuts := _cut(state, one)) is not None]
    for names, numbers in found:
        for name, value in zip(names, numbers.tolist(), strict=True):
            unit = model.column(name).unit
            yield name, value, "" if unit == "1" else unit


def changes(state: StateValues) -> list[str]:
    """Return in words the changes by transitions: joints that are locked, at rest on stops, closed and open.

    Only joints that transitions may close or open are named as closed and open.
    """
    if not state.discrete_state.size:
        return []
    model = state.model
    holders, closed = _discrete(state, "locked"), _discrete(state, "joint_closed")
    removable = {model.joint_names[i]: bool(closed[i]) for i in model.removable_joints}
    found = {
        "locked": [joint for joint, span in model.numbering.u.items() if _has(holders[span], BY_LOCK)],
        "at rest on a stop": [joint for joint, span in model.numbering.u.items() if _has(holders[span], BY_STOP)],
        "closed": [joint for joint, is_closed in removable.items() if is_closed],
        "open": [joint for joint, is_closed in removable.items() if not is_closed],
    }
    return [f"{text}: {', '.join(joints)}" for text, joints in found.items() if joints]


def _has(holders: FloatArray, bit: int) -> bool:
    return any(int(one) & bit for one in holders)


def _discrete(state: StateValues, field: str) -> FloatArray:
    """Return a field of the discrete state."""
    place, first = state.model.fields[field].span, state.model.fields["joint_closed"].first
    return state.discrete_state[place.start - first : place.stop - first]


def _named(state: StateValues, field: str) -> list[str]:
    span = state.model.fields[field].span
    found = {v.reference: v.name for v in state.model.variables if span.start <= v.reference < span.stop}
    return [found[i] for i in sorted(found)]


def _cut(state: StateValues, field: str) -> FloatArray | None:
    return getattr(getattr(state, field), "cut", None)


def _spaced(unit: str) -> str:
    return f" {unit}" if unit else ""


FORMAT, VERSION = "linkwork state", 1
SUFFIXES = (".json", ".npz")
CUT = "_cut"  # ends the key of the cut joints' values

Content = dict[str, Any]  # arrays, numbers, truth values and texts by the fields of a state


def save_state(state: StateValues, path: str | os.PathLike[str]) -> None:
    """Write a state; see `State.save`."""
    suffix, model = _suffix(path), state.model
    head = {"format": FORMAT, "version": VERSION, "mechanism": model.mechanism.name, "model_checksum": _checksum(model)}
    content = _content(state)
    names = {key: _names(model, key) for key, value in content.items() if isinstance(value, np.ndarray)}
    with atomic_path(path) as part:
        if suffix == ".json":
            body = {key: _to_json(value, names.get(key)) for key, value in content.items()}
            part.write_text(json.dumps(head | body, indent=1, allow_nan=False) + "\n", encoding="utf-8")
        else:
            texts = json.dumps(head | {"names": {key: given for key, given in names.items() if given}})
            with part.open("wb") as file:
                np.savez(file, head=np.array(texts), **content)


def load_state(path: str | os.PathLike[str], model: NamedModel) -> Content:
    """Return the fields of a state for a model; see `State.load`."""
    suffix, name = _suffix(path), os.fspath(path)
    try:
        head, content = _read_json(Path(path)) if suffix == ".json" else _read_npz(Path(path))
    except (ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile) as problem:
        raise MechanismError(f"{name} is no state of Linkwork, or is damaged ({problem}): save it again") from None
    _check_model(name, head, model)
    sizes = {"q": model.numbering.nq, "u": model.numbering.nu, "motion": model.numbering.n_motion}
    sizes["elements"] = len(model.numbering.elements)
    sizes |= {f"q{CUT}": model.numbering.nq_cut, f"u{CUT}": model.numbering.nu_cut}
    for key, size in sizes.items():
        if np.shape(content.get(key, 0.0)) != (size,):
            raise MechanismError(f"{name}: {key!r} must be {size} numbers; the file was changed, save the state again")
        given, expected = head["names"].get(key), _names(model, key)
        if given and given != expected:
            wrong = next((one for one, other in zip(given, expected, strict=False) if one != other), given[-1])
            raise MechanismError(f"{name}: {wrong!r} in {key!r} is not where the model has it; save the state again")
    return content


# ---- fields ----


def _content(state: StateValues) -> Content:
    """Return all fields of a state but its model and how it was found, and the values of the cut joints."""
    found: Content = {}
    for field in fields(state):
        value = getattr(state, field.name)
        if field.name in ("model", "changed_start_values") or value is None:
            continue
        found[field.name] = np.asarray(value) if isinstance(value, np.ndarray) else value
        if (cut := getattr(value, "cut", None)) is not None:
            found[f"{field.name}{CUT}"] = cut
    return found


def _names(model: NamedModel, key: str) -> list[str]:
    """Return the names of the numbers of a field, none where they have no names."""
    field = model.fields.get({"motion": "motion_in", "elements": "element_state"}.get(key, key))
    if field is None:
        return []
    found = {v.reference: v.name for v in model.variables if field.span.start <= v.reference < field.span.stop}
    return [found[i] for i in sorted(found)] if len(found) == field.rows * field.columns else []


def _checksum(model: NamedModel) -> int:
    return zlib.crc32(model.model_bytes)


def _check_model(name: str, head: Mapping[str, Any], model: NamedModel) -> None:
    if head["format"] != FORMAT or head["version"] != VERSION:
        raise MechanismError(f"{name} is no state of this version of Linkwork: save it again")
    if head["model_checksum"] == _checksum(model):
        return
    own, other = model.mechanism.name, head["mechanism"]
    if own != other:
        raise MechanismError(f"{name} is a state of mechanism {other!r}, not of {own!r}: load it with the model of it")
    raise MechanismError(
        f"{name} is a state of another model of {own!r}: compile the mechanism with the parameters, method and "
        "reference with which the state was saved"
    )


def _suffix(path: str | os.PathLike[str]) -> str:
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise MechanismError(f"states are kept in files *{SUFFIXES[0]} or *{SUFFIXES[1]}, not in {os.fspath(path)}")
    return suffix


# ---- formats ----


def _to_json(value: Any, names: list[str] | None) -> Any:
    if not isinstance(value, np.ndarray):
        return _number_to_json(value)
    if names:
        return dict(zip(names, map(_number_to_json, value.tolist()), strict=True))
    return _nested(value.tolist())


def _nested(values: Any) -> Any:
    return [_nested(one) for one in values] if isinstance(values, list) else _number_to_json(values)


def _number_to_json(value: Any) -> Any:
    """Return a number as JSON has it; infinities and NaN, which it does not have, as texts."""
    return value if not isinstance(value, float) or np.isfinite(value) else repr(value)


def _read_json(path: Path) -> tuple[Content, Content]:
    body = json.loads(path.read_text(encoding="utf-8"))
    head = {key: body.pop(key) for key in ("format", "version", "mechanism", "model_checksum")}
    head["names"] = {key: list(value) for key, value in body.items() if isinstance(value, dict)}
    return head, {key: _from_json(value) for key, value in body.items()}


def _from_json(value: Any) -> Any:
    if isinstance(value, dict):
        value = list(value.values())
    if not isinstance(value, list):
        return value
    whole = bool(value) and all(type(one) is int for one in value)
    return np.array(value, dtype=np.int64 if whole else np.float64)


def _read_npz(path: Path) -> tuple[Content, Content]:
    with np.load(path, allow_pickle=False) as archive:
        content: Content = {key: archive[key] for key in archive.files}
    head = json.loads(str(content.pop("head")))
    return head, {key: value if value.ndim else value.item() for key, value in content.items()}
