"""The compiled model of an MJCF file, without what has no part in the motion."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork._util.names import quoted
from linkwork._util.optional import optional_import
from linkwork.errors import MechanismError
from linkwork.formats.mjcf.geoms import CONTACT, Look, looks_of, take_place
from linkwork.formats.mjcf.scan import scan
from linkwork.formats.report import Report

if TYPE_CHECKING:
    from mujoco import MjModel, MjSpec

_IMAGES = "looks have no effect on the motion"

# What is deleted before the model is compiled: the list of the specification, the element, and why.
_DELETED = (
    ("tuples", "tuple", "data of the user"),
    ("texts", "text", "data of the user"),
    ("numerics", "numeric", "data of the user"),
    ("sensors", "sensor", "sensors have no effect on the motion; any variable of the result can be recorded"),
    ("pairs", "contact > pair", CONTACT),
    ("excludes", "contact > exclude", "there are no contacts to exclude"),
    ("skins", "skin", _IMAGES),
    ("cameras", "camera", _IMAGES),
    ("lights", "light", _IMAGES),
    ("textures", "texture", _IMAGES),
)


def compile_model(path: Path, report: Report, root: Path | None = None) -> tuple[MjModel, list[Look]]:
    """Return MuJoCo's model of a file, and its geoms; `report` gets the elements that are dropped before.

    Files that it names must lie in `root`, by default its folder.
    """
    outside = scan(path, root)
    with optional_import("MJCF files", "mujoco-core", "mjcf"):
        import mujoco

    try:
        spec = mujoco.MjSpec.from_file(str(path.resolve()))
        looks = looks_of(mujoco, spec, report)
        _delete(mujoco, spec, report)
        needed = _delete_shapes(mujoco, spec, looks, report)
        _check_inside(spec, outside, needed)
        spec.compiler.LRopt.mode = 0  # ranges of muscles, which take simulations
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            model = spec.compile()
    except MechanismError:
        raise
    except (ValueError, RuntimeError, TypeError, mujoco.FatalError, mujoco.UnexpectedError) as error:
        text = " ".join(str(error).split())
        if "opening file" in text:
            text += (
                f"; the inertia of {quoted(needed)} is that of shapes from files: put the files into the folder of the "
                "model, or give these bodies an <inertial>"
            )
        raise MechanismError(f"{path}: MuJoCo cannot compile it: {text}") from None
    for one in warned:
        report.approximated("mujoco", f"as MuJoCo compiles it with the warning: {' '.join(str(one.message).split())}")
    _check_finite(path, model)
    return model, looks


def _delete(mujoco: Any, spec: MjSpec, report: Report) -> None:
    for plural, element, why in _DELETED:
        found = list(getattr(spec, plural))
        if found:
            report.left_out(_counted(element, [one.name for one in found]), why)
        for one in found:
            spec.delete(one)
    for one in list(spec.materials):
        spec.delete(one)
    for one in [*spec.geoms, *spec.sites, *spec.tendons, *spec.flexes]:
        one.material = ""


def _delete_shapes(mujoco: Any, spec: MjSpec, looks: list[Look], report: Report) -> list[str]:
    """Delete what comes from files and has no part in an inertia; return the bodies that need theirs."""
    geom_types = mujoco.mjtGeom
    from_files = (geom_types.mjGEOM_MESH, geom_types.mjGEOM_HFIELD, geom_types.mjGEOM_SDF)
    needed: dict[str, None] = {}
    kept: set[str] = set()
    for look in looks:
        shape = look.geom
        if shape.type not in from_files and not shape.meshname:
            continue
        if _weighs(mujoco, spec, shape):
            needed[shape.parent.name] = None
            kept.add(shape.meshname)
        elif shape.type == geom_types.mjGEOM_HFIELD:
            report.left_out(f"geom {shape.name!r}" if shape.name else "geom", "height fields are not shown")
            spec.delete(shape)
            look.geom = None
        else:
            take_place(mujoco, look)
    looks[:] = [look for look in looks if look.geom is not None]
    fields = list(spec.hfields)
    if fields:
        report.left_out(_counted("hfield", [one.name for one in fields]), "height fields are not shown")
    for one in [*spec.meshes, *fields]:
        if one.name not in kept:
            spec.delete(one)
    return list(needed)


def _check_inside(spec: MjSpec, outside: dict[str, MechanismError], needed: list[str]) -> None:
    """Refuse meshes outside of the folder of the model that are left; models that are attached prefix their names."""
    for mesh in spec.meshes:
        name = mesh.name or Path(mesh.file).stem
        found = next((error for end, error in outside.items() if name.endswith(end)), None)
        if found is not None and mesh.file:
            raise MechanismError(f"{found}; or give {quoted(needed)} an <inertial>, which takes its place")


def _weighs(mujoco: Any, spec: MjSpec, shape: Any) -> bool:
    """Return whether a shape is a part of the inertia of its body."""
    compiler, body = shape.compiler or spec.compiler, shape.parent
    if body.name == "world" or shape.type == mujoco.mjtGeom.mjGEOM_HFIELD:
        return False
    rule, rules = compiler.inertiafromgeom, mujoco.mjtInertiaFromGeom
    if rule == rules.mjINERTIAFROMGEOM_FALSE or (rule == rules.mjINERTIAFROMGEOM_AUTO and body.explicitinertial):
        return False
    lowest, highest = compiler.inertiagrouprange
    weightless = shape.mass == 0.0 or (np.isnan(shape.mass) and shape.density == 0.0)
    return lowest <= shape.group <= highest and not weightless


def _counted(element: str, names: list[str]) -> str:
    """Return the label of elements that are alike."""
    if len(names) == 1:
        return f"{element} {names[0]!r}" if names[0] else element
    return f"{element} ({len(names)} times)"


def _check_finite(path: Path, model: MjModel) -> None:
    for name in ("body_mass", "body_inertia", "body_ipos", "body_pos", "body_quat", "qpos0", "eq_data", "jnt_range"):
        if not np.isfinite(getattr(model, name)).all():
            raise MechanismError(f"{path}: numbers overflow: mjModel.{name} is not finite")
