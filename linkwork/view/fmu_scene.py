"""Scenes that FMUs carry, as co-simulation reads them: without any mechanics."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, cast

from linkwork.errors import LinkworkError
from linkwork.view import payload

FORMAT = 1
KEYS = ("scene", "mechanism", "method", "reference", "parameters")  # besides the format
GROUND = "ground"

Rename = Callable[[str], str]


def content_of(text: bytes, what: str) -> dict[str, Any]:
    """Return the content of a scene file; `what` names it."""
    try:
        content = json.loads(text)
    except ValueError as problem:
        raise LinkworkError(f"the scene of {what} is no JSON: {problem}") from problem
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise LinkworkError(f"the scene of {what} is of another format; export the FMU again")
    missing = [key for key in KEYS if key not in content]
    if missing:
        raise LinkworkError(f"the scene of {what} has no {missing[0]!r}; export the FMU again")
    return content


def renamed(scene: payload.Scene, column: Rename, part: Rename) -> payload.Scene:
    """Return a scene with other names of columns and of parts; the ground keeps its name."""

    def body(name: str) -> str:
        return name if name == GROUND else part(name)

    def columns(names: list[str]) -> list[str]:
        return [column(name) for name in names]

    def between(one: payload.Spring | payload.Cable | payload.Distance) -> Any:
        bodies = [body(name) for name in one["bodies"]]
        return {"name": part(one["name"]), "bodies": bodies, "force": column(one["force"]) if one["force"] else ""}

    return {
        **scene,
        "bodies": [
            {**one, "name": body(one["name"]), "r": columns(one["r"]), "Q": columns(one["Q"])}
            for one in scene["bodies"]
        ],
        "joints": [
            {
                **one,
                "name": part(one["name"]),
                "parent": body(one["parent"]),
                "child": body(one["child"]),
                "q": columns(one["q"]),
                "u": columns(one["u"]),
                "f": columns(one["f"]),
                "t": columns(one["t"]),
                "closed": None if one["closed"] is None else column(one["closed"]),
            }
            for one in scene["joints"]
        ],
        "springs": [{**one, **between(one)} for one in scene["springs"]],
        "cables": [{**one, **between(one)} for one in scene["cables"]],
        "distances": [{**one, **between(one)} for one in scene["distances"]],
        "couplings": [
            {
                "name": part(one["name"]),
                "terms": [{**term, "joint": part(term["joint"])} for term in one["terms"]],
                "load": column(one["load"]),
            }
            for one in scene["couplings"]
        ],
        "wrenches": [
            {
                **one,
                "name": part(one["name"]),
                "body": body(one["body"]),
                "F": columns(one["F"]),
                "T": columns(one["T"]),
            }
            for one in scene["wrenches"]
        ],
        "forces": [
            {**one, "name": part(one["name"]), "joints": [part(joint) for joint in one["joints"]]}
            for one in scene["forces"]
        ],
        "points": [{**one, "name": part(one["name"]), "body": body(one["body"])} for one in scene["points"]],
        "residuals": columns(scene["residuals"]),
        "conditioning": columns(scene["conditioning"]),
        "energies": columns(scene["energies"]),
        "units": {column(name): unit for name, unit in scene["units"].items()},
    }


def prefixing(key: str) -> Rename:
    """Return the function that puts a key before names.

    >>> prefixing("plant")("A.q")
    'plant.A.q'
    """

    def prefixed(name: str) -> str:
        return f"{key}.{name}"

    return prefixed


def joined(name: str, scenes: dict[str, payload.Scene]) -> payload.Scene:
    """Return one scene of several in the same world; parts and columns begin with the key of their scene.

    With one scene alone, parts keep their names.
    """
    parts = [
        renamed(scene, prefixing(key), str if len(scenes) == 1 else prefixing(key)) for key, scene in scenes.items()
    ]
    whole: dict[str, Any] = {**parts[0], "name": name, "size": max(one["size"] for one in parts)}
    for key, value in parts[0].items():
        if isinstance(value, list) and key != "gravity":
            whole[key] = [item for one in parts for item in cast("dict[str, Any]", one)[key]]
    whole["units"] = {column: unit for one in parts for column, unit in one["units"].items()}
    return cast("payload.Scene", whole)
