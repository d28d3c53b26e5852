"""Reads MJCF files."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork._util.names import suggest
from linkwork._util.optional import optional_import
from linkwork.errors import MechanismError
from linkwork.formats.mjcf.actuators import TargetValues, add_actuators, add_rotor
from linkwork.formats.mjcf.bodies import add_bodies
from linkwork.formats.mjcf.compiled import compile_model
from linkwork.formats.mjcf.equalities import add_equalities
from linkwork.formats.mjcf.fields import report_fields
from linkwork.formats.mjcf.geoms import add_geoms
from linkwork.formats.mjcf.named import NamedModel
from linkwork.formats.mjcf.tendons import add_tendons, fixed_tendon
from linkwork.formats.report import Report
from linkwork.formats.robot import Robot
from linkwork.formats.visuals import MeshFiles

_SOLVER = (
    *("timestep", "integrator", "solver", "cone", "jacobian", "impratio", "iterations", "tolerance"),
    *("ls_iterations", "ls_tolerance", "noslip_iterations", "noslip_tolerance", "ccd_iterations", "ccd_tolerance"),
)


def read(path: Path, keyframe: str | None = None, *, root: Path | None = None) -> Robot:
    """Read an MJCF file.

    Coordinates are those of MuJoCo's `qpos`: they count from the joints' `ref`.

    Parameters
    ----------
    path
        The file; its root is <mujoco>.
    root
        A folder around the file: files that it names must lie in it. None: the folder of the file.
    keyframe
        Name of the keyframe with the start values; None: the first one, and without any the pose of the file.
    """
    report = Report(str(path), "MJCF")
    model, looks = compile_model(path, report, root)
    with optional_import("MJCF files", "mujoco-core", "mjcf"):
        import mujoco

    named = NamedModel(mujoco, model, report)
    name = bytes(model.names).split(b"\0", 1)[0].decode(errors="replace")
    robot = Robot(name or path.stem, report)
    robot.gravity = _gravity(named)
    add_bodies(named, robot, *_start(named, keyframe))
    add_geoms(named, robot, looks, MeshFiles(path, root))
    add_equalities(named, robot)
    targets = add_actuators(named, robot)
    add_tendons(named, robot, targets.tendon_damping)
    _add_tendon_armature(named, robot, targets)
    _report_joints(named)
    _report_objects(named)
    report_fields(named)
    return robot


def _gravity(named: NamedModel) -> FloatArray:
    """Return the acceleration of free fall; gravity compensation that is the same for all bodies is a part of it."""
    model, report = named.model, named.report
    if named.disables("gravity"):
        report.taken("option > flag > gravity", "disabled")
        return np.zeros(3)
    gravity = np.array(model.opt.gravity)
    heavy = model.body_mass > 0.0
    shares = model.body_gravcomp[heavy]
    if not shares.any() or (named.disables("spring") and named.disables("damper")):
        return gravity
    if (shares == shares[0]).all() and not model.jnt_actgravcomp.any():
        report.taken("body > gravcomp", "of all bodies; gravity is less by it")
        return np.array(gravity * (1.0 - shares[0]))
    forces = model.body_gravcomp * model.body_mass * np.linalg.norm(gravity)
    names = [str(named.bodies[body]) for body in np.flatnonzero(model.body_gravcomp)]
    report.left_out(
        f"{named.label('body', names)} > gravcomp",
        f"forces of up to {np.abs(forces).max():.4g} N against gravity at the centres of mass are missing",
    )
    return gravity


def _start(named: NamedModel, keyframe: str | None) -> tuple[FloatArray, FloatArray]:
    """Return start values of all coordinates and speeds."""
    model, report = named.model, named.report
    keys = [
        named.mujoco.mj_id2name(model, named.mujoco.mjtObj.mjOBJ_KEY, key) or f"key_{key + 1}"
        for key in range(model.nkey)
    ]
    if keyframe is not None and keyframe not in keys:
        raise MechanismError(f"{report.path}: there is no keyframe {keyframe!r}: {suggest(keyframe, keys)}")
    if not keys:
        return np.array(model.qpos0), np.zeros(model.nv)
    key = 0 if keyframe is None else keys.index(keyframe)
    report.taken(f"keyframe {keys[key]!r}", "as start values")
    for field in ("act", "ctrl", "plastic"):
        if getattr(model, f"key_{field}")[key].any():
            report.left_out(f"keyframe {keys[key]!r} > {field}", "a keyframe gives start values of joints only")
    others = [name for number, name in enumerate(keys) if number != key]
    if others:
        report.left_out(named.label("keyframe", others), "another keyframe gives the start values")
    return np.array(model.key_qpos[key]), np.array(model.key_qvel[key])


def _add_tendon_armature(named: NamedModel, robot: Robot, targets: TargetValues) -> None:
    """Add the inertia of fixed tendons of one joint to that joint."""
    for tendon in np.flatnonzero(targets.tendon_armature):
        gears = fixed_tendon(named, int(tendon))
        armature = float(targets.tendon_armature[tendon])
        if gears is not None and len(gears) == 1:
            (((joint, _), gear),) = gears.items()
            add_rotor(robot.joints[joint], armature * gear**2)
        else:
            named.report.left_out(
                f"tendon {named.tendons[tendon]!r} > armature",
                f"{armature:g} kg that move with its length are missing, as it moves several joints",
            )


def _report_joints(named: NamedModel) -> None:
    """Report limits, stiffness and armature of joints of several coordinates."""
    model, report = named.model, named.report
    several = [joint for joint in range(model.njnt) if not named.is_scalar(joint)]
    limited = [named.joints[joint] for joint in several if model.jnt_limited[joint]]
    if limited:
        report.left_out(f"{named.label('joint', limited)} > range", "Linkwork has no limits of an angle of rotation")
    sprung = [named.joints[joint] for joint in several if model.jnt_stiffness[joint]]
    if sprung:
        report.left_out(
            f"{named.label('joint', sprung)} > stiffness",
            "Linkwork has no springs on quaternions; the torque is missing",
        )
    free = [joint for joint in several if model.jnt_type[joint] == 0]
    loaded = [named.joints[joint] for joint in free if model.dof_armature[model.jnt_dofadr[joint]]]
    if loaded:
        report.approximated(
            f"{named.label('joint', loaded)} > armature",
            "that of the displacements acts on the rates of the speeds in axes of the body, without the term of its "
            "rotation",
        )
    disabled = [bit for bit in ("spring", "damper", "limit", "constraint", "clampctrl") if named.disables(bit)]
    for bit in disabled:
        report.taken(f"option > flag > {bit}", "disabled")


def _report_objects(named: NamedModel) -> None:
    """Report objects without a part in the motion, and bodies that something else moves."""
    model, report = named.model, named.report
    if model.nsite:
        report.left_out(
            f"site ({model.nsite} times)",
            "used where other elements name them; Mechanism.add_point makes outputs of them",
        )
    if model.nflex:
        report.left_out(
            f"flex ({model.nflex} times)", "Linkwork has no deformable bodies: the masses move without their elasticity"
        )
    if model.nplugin:
        report.left_out(f"plugin ({model.nplugin} times)", "plugins of MuJoCo are not run")
    moved = [str(named.bodies[body]) for body in np.flatnonzero(model.body_mocapid >= 0)]
    if moved:
        report.approximated(f"{named.label('body', moved)} > mocap", "fixed in the world; MuJoCo's users move it")
    usual = named.mujoco.MjOption()
    changed = [name for name in _SOLVER if np.any(getattr(model.opt, name) != getattr(usual, name))]
    if changed:
        report.left_out(
            f"option > {', '.join(changed)}", "for MuJoCo's solver; Linkwork's `simulate` has settings of its own"
        )
