"""The scene in an FMU, and the description of its mechanism, from which a page simulates it.

It is a JSON file with the keys `format`, `scene`, whose columns have the names of the FMU's variables, `mechanism`,
`method`, `reference` and `parameters`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork._util.part_names import structured_name
from linkwork.errors import LinkworkError
from linkwork.fmu.scene_place import scene_bytes
from linkwork.mechanism import Mechanism, Pin
from linkwork.view.fmu_scene import FORMAT, content_of, renamed
from linkwork.view.scene import scene_of

if TYPE_CHECKING:
    from linkwork.model.model import Model

MOST_BODIES = 2000  # a page of more would not be fluent


def scene_file(model: Model) -> bytes | None:
    """Return the file of a model; None: it has too many bodies. The same model always gives the same bytes."""
    mech = model.mechanism
    if len(mech.bodies) > MOST_BODIES:
        return None
    content = {
        "format": FORMAT,
        "scene": renamed(scene_of(model), structured_name, str),
        "mechanism": _without_pins(mech).to_dict(),
        "method": model.method,
        "reference": model.reference,
        "parameters": {name: np.asarray(value).tolist() for name, value in model.parameters.items()},
    }
    return (json.dumps(content, separators=(",", ":")) + "\n").encode()


def _without_pins(mech: Mechanism) -> Mechanism:
    """Return the description as the user gave it: pins are transitions, and joints of the compiled mechanism alone."""
    mech = mech.copy()
    for name, one in mech.transitions.items():
        if isinstance(one.action, Pin):
            mech.joints.pop(name, None)
    return mech


def read_scene_file(path: Path) -> dict[str, Any]:
    """Return the content of the scene file in an FMU."""
    if not path.is_file():
        raise LinkworkError(f"there is no file {path}")
    text = scene_bytes(path)
    if text is None:
        raise LinkworkError(
            f"the FMU {path} has no scene: only FMUs that Linkwork has written have one; export it again, or give its "
            "mechanism"
        )
    return content_of(text, str(path))


def mechanism_in(path: Path) -> tuple[Mechanism, dict[str, Any], dict[str, Any]]:
    """Return the mechanism of an FMU of Linkwork, arguments of `compile`, and values of parameters."""
    content = read_scene_file(path)
    options = {name: content[name] for name in ("method", "reference")}
    return Mechanism.from_dict(content["mechanism"]), options, content["parameters"]
