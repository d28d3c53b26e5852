"""The YAML file next to a URDF, of Gepetto's parallel robots: closures of loops, joints that replace others, motors.

    closed_loop: [[frame A, frame B], ...]   two frames that coincide; a frame is that of a link, or of a joint's child
    type: [6d, 3d, ...]                      all of the frames (default), or their origins only
    name_mot: [joint, ...]                   joints with motors
    joint_name: [joint, ...]                 joints that are replaced,
    joint_type: [SPHERICAL, UJOINT_XY, ...]  by these: a ball; hinges about two axes of the joint frame; FIXED

Letters with accents may be composed in one file and decomposed in the other.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from linkwork._util.checks import shortened
from linkwork._util.names import suggest
from linkwork._util.optional import optional_import
from linkwork.errors import MechanismError
from linkwork.formats.robot import RobotJoint
from linkwork.formats.urdf.context import WORLD, Context
from linkwork.mechanism.joints import Fixed, JointKind, Spherical, Universal

MAX_BYTES = 1_000_000
MAX_DEPTH = 20

KEYS = ("closed_loop", "type", "name_mot", "joint_name", "joint_type")
_CLOSURES: dict[str, type[JointKind]] = {"6d": Fixed, "3d": Spherical}


def find_closures(path: Path) -> Path | None:
    """Return the YAML file of the same stem next to a URDF, None without one that has closures, joints or motors."""
    for suffix in (".yaml", ".yml"):
        found = path.with_suffix(suffix)
        if found.is_file() and any(f"{key}:".encode() in _read_bytes(found) for key in KEYS):
            return found
    return None


def read_closures(context: Context, path: Path) -> None:
    """Replace joints, add closures and report motors; the joints must have been read."""
    content = _Content(path)
    _replace_joints(context, content)
    _add_closures(context, content)
    for name in content.names("name_mot"):
        joint = content.search(context.robot.joints, name)
        if joint is None:
            _leave_out_name(context, content, "name_mot", name)
        else:
            context.report.taken(f"name_mot > {name!r}", f"driven by the input of joint {joint!r}")
    for key in content.unknown:
        context.report.left_out(f"{path.name} > {key!r}", "Linkwork does not know this key")


class _Content:
    """The content of the file: text, lists and mappings of text."""

    def __init__(self, path: Path) -> None:
        self.path = path
        content = _load(path)
        if not isinstance(content, dict):
            raise self.error(f"it must be a mapping with the keys {', '.join(KEYS)}")
        self._content: dict[str, Any] = content
        self.unknown = [str(key) for key in content if key not in KEYS]

    def error(self, text: str) -> MechanismError:
        """Return an error that names the file."""
        return MechanismError(f"{self.path}: {text}")

    def has(self, key: str) -> bool:
        """Return whether there is this key."""
        return key in self._content

    def items(self, key: str) -> list[Any]:
        """Return the list of a key; without the key, an empty one."""
        found = self._content.get(key, [])
        if found in ("", "null", "~"):
            return []
        if not isinstance(found, list):
            raise self.error(f"{key!r} must be a list, not {shortened(found)}")
        return found

    def names(self, key: str) -> list[str]:
        """Return a list of text."""
        found = self.items(key)
        for item in found:
            if not isinstance(item, str):
                raise self.error(f"{key!r} must be a list of names, which {shortened(item)} is not")
        return found

    def search(self, known: Iterable[str], name: str) -> str | None:
        """Return the known name that is `name`, with its accents composed or not; None without one."""
        known = list(known)
        composed = unicodedata.normalize("NFC", name)
        same = (other for other in known if unicodedata.normalize("NFC", other) == composed)
        return name if name in known else next(same, None)


def _replace_joints(context: Context, content: _Content) -> None:
    old, new = content.names("joint_name"), content.names("joint_type")
    if len(old) != len(new):
        raise content.error(f"{len(old)} names in 'joint_name' and {len(new)} types in 'joint_type': give one for each")
    for name, given in zip(old, new, strict=True):
        kind = _kind(content, given)
        found = content.search(context.robot.joints, name)
        if found is None:  # as the loader of these robots does
            _leave_out_name(context, content, "joint_name", name)
            continue
        joint = context.robot.joints[found]
        joint.kind, joint.start = kind, None
        _drop_couplings(context, joint.name)
        for what in ("limits", "max_load", "damping", "friction", "stiffness", "free", "reflected_inertia"):
            if getattr(joint, what):
                setattr(joint, what, ())
                why = "it is of the joint with one coordinate that the YAML file replaces"
                context.report.left_out(f"{joint.element} > {what.replace('_', ' ')}", why)
        context.report.taken(f"joint_name > {name!r}", f"{given}, a joint with {kind.nu} degrees of freedom")


def _drop_couplings(context: Context, joint: str) -> None:
    """Leave out couplings of a joint that is replaced, whose coordinates have another meaning."""
    for coupling in list(context.robot.couplings):
        if any(name == joint for name, _ in coupling.terms):
            context.robot.couplings.remove(coupling)
            context.report.left_out(coupling.element, f"the YAML file replaces joint {joint!r}")


def _leave_out_name(context: Context, content: _Content, key: str, name: str) -> None:
    hint = suggest(name, context.robot.joints)
    context.report.left_out(f"{content.path.name} > {key} > {name!r}", f"the URDF has no such joint; {hint}")


def _kind(content: _Content, given: str) -> JointKind:
    if given == "SPHERICAL":
        return Spherical()
    if given == "FIXED":
        return Fixed()
    axes = given.removeprefix("UJOINT_")
    if axes != given and len(axes) == 2 and axes[0] != axes[1] and set(axes) <= set("XYZ"):
        first, second = (np.eye(3)["XYZ".index(letter)] for letter in axes)
        return Universal(first, second)
    raise content.error(f"'joint_type': there is no {given!r}; give SPHERICAL, FIXED, or UJOINT_XY with two axes")


def _add_closures(context: Context, content: _Content) -> None:
    pairs = content.items("closed_loop")
    types = content.names("type") if content.has("type") else ["6d"] * len(pairs)
    if len(types) != len(pairs):
        raise content.error(f"{len(pairs)} pairs in 'closed_loop' and {len(types)} types in 'type': give one for each")
    for pair, given in zip(pairs, types, strict=True):
        if not (isinstance(pair, list) and len(pair) == 2 and all(isinstance(name, str) for name in pair)):
            raise content.error(f"'closed_loop': {shortened(pair)} is no pair of frames, such as [frame_a, frame_b]")
        if given.lower() not in _CLOSURES:
            raise content.error(f"'type': there is no {given!r}; give 6d or 3d")
        links = [_link(context, content, name) for name in pair]
        if links[0] == links[1]:
            raise content.error(f"'closed_loop': {shortened(pair)} are frames of one link")
        name = context.new_joint_name(f"{pair[0]}_{pair[1]}")
        kind = _CLOSURES[given.lower()]()
        label = f"closed_loop {pair!r}"
        context.robot.joints[name] = RobotJoint(name, kind, links[0], links[1], closes=True, element=label)


def _link(context: Context, content: _Content, name: str) -> str | None:
    """Return the link whose frame a name means: a link, or a joint, whose frame is that of its child."""
    if name == WORLD and context.world:
        return None
    joints = {joint.name: joint.child for joint in context.robot.joints.values() if not joint.closes}
    known = [*context.robot.links, *joints]
    found = content.search(known, name)
    if found is None:
        raise content.error(f"'closed_loop': there is no link or joint {name!r}; {suggest(name, known)}")
    if found in context.robot.links and found in joints and joints[found] != found:
        raise content.error(f"'closed_loop': {found!r} is a link and a joint of another link; rename one of them")
    return found if found in context.robot.links else joints[found]


# ---- the file ----


def _load(path: Path) -> Any:
    """Return the content; aliases, which can fill the memory, and endless nesting are refused."""
    text = _read_bytes(path)
    with optional_import(f"closed loops in {path.name}", "PyYAML", "urdf"):
        import yaml
    try:
        depth = 0
        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if isinstance(event, yaml.AliasEvent) or depth > MAX_DEPTH:
                what = "an alias" if isinstance(event, yaml.AliasEvent) else f"more than {MAX_DEPTH} levels"
                raise MechanismError(f"{path}, line {event.start_mark.line + 1}: {what}: write plain lists of names")
        return yaml.load(text, Loader=yaml.BaseLoader)  # as safe_load, and names such as "on" stay text
    except yaml.YAMLError as error:
        raise MechanismError(f"{path}: no YAML: {' '.join(str(error).split())}") from None
    except (ValueError, RecursionError) as error:
        raise MechanismError(f"{path}: no YAML: {error}") from None


def _read_bytes(path: Path) -> bytes:
    size = path.stat().st_size
    if size > MAX_BYTES:
        raise MechanismError(f"{path}: {size / 1e6:.0f} MB; at most {MAX_BYTES / 1e6:.0f} MB are read")
    return path.read_bytes()
