"""States in files, JSON or NumPy: every number to the bit, with the names of coordinates and the model's checksum."""

from __future__ import annotations

import json
import os
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork._util.files import atomic_path
from linkwork.errors import MechanismError

if TYPE_CHECKING:
    from linkwork.model.named_model import NamedModel
    from linkwork.model.state_values import StateValues

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
    field = model.fields.get({"motion": "motion_in"}.get(key, key))
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
