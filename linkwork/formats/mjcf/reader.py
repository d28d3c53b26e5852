"""Reads MJCF files.

MuJoCo's coordinates are the joint's `ref` where the model is as it is written; here, frames of a joint coincide where
its coordinates are zero, so that the child's frame is rotated or displaced by `ref` along the axis. Several joints of
one body act one after the other: massless links that coincide with the body stand between them.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork._util.names import suggest
from linkwork._util.optional import optional_import
from linkwork._util.rotations import matrix_of
from linkwork.errors import MechanismError
from linkwork.formats.mjcf.actuators import add_actuators
from linkwork.formats.mjcf.compiled import compile_model
from linkwork.formats.mjcf.equalities import add_equalities
from linkwork.formats.mjcf.fields import report_fields
from linkwork.formats.mjcf.geoms import add_geoms
from linkwork.formats.mjcf.joint_forces import add_joint_forces
from linkwork.formats.mjcf.named import NamedModel, frame
from linkwork.formats.mjcf.tendons import add_reels, add_tendons, has_friction
from linkwork.formats.report import Report
from linkwork.formats.robot import Link, Robot, RobotJoint
from linkwork.formats.visuals import MeshFiles
from linkwork.mechanism import Fixed, Frame, Free, JointKind, Prismatic, Revolute, Spherical

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
    start, speeds, activation = _start(named, keyframe)
    add_bodies(named, robot, start, speeds)
    add_geoms(named, robot, looks, MeshFiles(path, root))
    add_equalities(named, robot)
    targets = add_actuators(named, robot, activation)
    add_tendons(named, robot, targets.tendon_damping)
    add_joint_forces(named, robot, targets.joint_damping)
    add_reels(named, robot, targets.tendon_armature)
    _report_joints(named)
    _report_objects(named)
    report_fields(named)
    return robot


def _gravity(named: NamedModel) -> FloatArray:
    """Return the acceleration of free fall."""
    if named.disables("gravity"):
        named.report.taken("option > flag > gravity", "disabled")
        return np.zeros(3)
    return np.array(named.model.opt.gravity)


def _start(named: NamedModel, keyframe: str | None) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return start values of all coordinates, speeds and activations."""
    model, report = named.model, named.report
    keys = [
        named.mujoco.mj_id2name(model, named.mujoco.mjtObj.mjOBJ_KEY, key) or f"key_{key + 1}"
        for key in range(model.nkey)
    ]
    if keyframe is not None and keyframe not in keys:
        raise MechanismError(f"{report.path}: there is no keyframe {keyframe!r}: {suggest(keyframe, keys)}")
    if not keys:
        return np.array(model.qpos0), np.zeros(model.nv), np.zeros(model.na)
    key = 0 if keyframe is None else keys.index(keyframe)
    report.taken(f"keyframe {keys[key]!r}", "as start values")
    for field in ("ctrl", "plastic"):
        if getattr(model, f"key_{field}")[key].any():
            report.left_out(
                f"keyframe {keys[key]!r} > {field}", "a keyframe gives start values of joints and actuators only"
            )
    others = [name for number, name in enumerate(keys) if number != key]
    if others:
        report.left_out(named.label("keyframe", others), "another keyframe gives the start values")
    return np.array(model.key_qpos[key]), np.array(model.key_qvel[key]), np.array(model.key_act[key])


def _report_joints(named: NamedModel) -> None:
    """Report limits, stiffness and armature of joints of several coordinates."""
    model, report = named.model, named.report
    several = [joint for joint in range(model.njnt) if not named.is_scalar(joint)]
    limited = [named.joints[joint] for joint in several if model.jnt_limited[joint]]
    if limited:
        report.left_out(f"{named.label('joint', limited)} > range", "Linkwork has no limits of an angle of rotation")
    free = [joint for joint in several if model.jnt_type[joint] == 0]
    loaded = [named.joints[joint] for joint in free if model.dof_armature[model.jnt_dofadr[joint]]]
    if loaded:
        report.approximated(
            f"{named.label('joint', loaded)} > armature",
            "that of the displacements acts on the rates of the speeds in axes of the body, without the term of its "
            "rotation",
        )
    slipping = [named.joints[joint] for joint in free if model.dof_frictionloss[model.jnt_dofadr[joint]]]
    if slipping and has_friction(named):
        report.approximated(
            f"{named.label('joint', slipping)} > frictionloss",
            "that of the displacements acts along axes of the body, each alone, not along those of the world",
        )
    switches = ("spring", "damper", "frictionloss", "limit", "constraint", "clampctrl")
    disabled = [bit for bit in switches if named.disables(bit)]
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


_FREE, _BALL, _SLIDE, _HINGE = range(4)  # MuJoCo's mjtJoint
_SIZES = {_FREE: (7, 6), _BALL: (4, 3), _SLIDE: (1, 1), _HINGE: (1, 1)}  # numbers of coordinates and speeds


def add_bodies(named: NamedModel, robot: Robot, start: FloatArray, speeds: FloatArray) -> None:
    """Add links and joints to a robot; `start` and `speeds` are the start values of all joints in MuJoCo's order."""
    model = named.model
    for body in range(1, model.nbody):
        name = named.bodies[body]
        assert name is not None
        joints = range(model.body_jntadr[body], model.body_jntadr[body] + model.body_jntnum[body])
        parent, place = named.bodies[model.body_parentid[body]], frame(model.body_pos[body], model.body_quat[body])
        link = _link(named, body, name)
        if not len(joints):
            robot.links[name] = link
            _add_fixed(named, robot, name, parent, place)
        for joint in joints:
            last = joint == joints[-1]
            child = name if last else _between(robot, named, name, named.joints[joint])
            robot.links[child] = link if last else Link(child)
            robot.joints[named.joints[joint]] = _joint(named, joint, parent, child, place)
            _set_start(named, joint, robot.joints[named.joints[joint]], start, speeds)
            parent, place = child, Frame()


def _link(named: NamedModel, body: int, name: str) -> Link:
    model = named.model
    axes = matrix_of(model.body_iquat[body])
    inertia = axes @ np.diag(model.body_inertia[body]) @ axes.T
    com = np.array(model.body_ipos[body])
    is_passive = not (named.disables("spring") and named.disables("damper"))
    carried = float(model.body_gravcomp[body]) * is_passive
    return Link(name, float(model.body_mass[body]), com, (inertia + inertia.T) / 2, carried=carried)


def _between(robot: Robot, named: NamedModel, body: str, joint: str) -> str:
    """Return a name for the massless link that follows a joint of a body of several."""
    name = f"{body}_after_{joint}"
    while name in robot.links or name in named.bodies:
        name += "_"
    return name


def _add_fixed(named: NamedModel, robot: Robot, name: str, parent: str | None, place: Frame) -> None:
    own = name
    while own in named.joints or own in robot.joints:
        own += "_fixed"
    robot.joints[own] = RobotJoint(own, Fixed(), parent, name, place, element=f"body {name!r} > no joint")


def _joint(named: NamedModel, joint: int, parent: str | None, child: str, place: Frame) -> RobotJoint:
    """Return a joint; `place` is where the child is in its parent where the coordinates are `ref`."""
    model = named.model
    kind = int(model.jnt_type[joint])
    _, nu = _SIZES[kind]
    q, u = int(model.jnt_qposadr[joint]), int(model.jnt_dofadr[joint])
    ref, axis = float(model.qpos0[q]), np.array(model.jnt_axis[joint])
    anchor = frame(model.jnt_pos[joint])
    type_of_joint: JointKind
    if kind == _FREE:
        type_of_joint, parent_frame, child_frame = Free(), Frame(), Frame()
    elif kind == _BALL:
        type_of_joint, parent_frame, child_frame = Spherical(), place @ anchor, anchor
    elif kind == _SLIDE:
        type_of_joint, parent_frame = Prismatic(axis), place @ anchor
        child_frame = frame(model.jnt_pos[joint] + ref * axis)
    else:
        type_of_joint, parent_frame = Revolute(axis), place @ anchor
        child_frame = frame(model.jnt_pos[joint], _about(axis, ref))
    made = RobotJoint(
        named.joints[joint], type_of_joint, None if kind == _FREE else parent, child, parent_frame, child_frame
    )
    made.damping = _of_speeds(kind, model.dof_damping[u : u + nu], not named.disables("damper"))
    made.friction = _of_speeds(kind, model.dof_frictionloss[u : u + nu], has_friction(named))
    made.reflected_inertia = _of_speeds(kind, model.dof_armature[u : u + nu])
    if kind in (_SLIDE, _HINGE):
        if model.jnt_stiffness[joint] and not named.disables("spring"):
            made.stiffness, made.free = (float(model.jnt_stiffness[joint]),), (float(model.qpos_spring[q]),)
        if model.jnt_limited[joint] and not named.disables("limit", "constraint"):
            lowest, highest = model.jnt_range[joint].tolist()
            made.limits = ((lowest, highest),)
    return made


def _set_start(named: NamedModel, joint: int, made: RobotJoint, start: FloatArray, speeds: FloatArray) -> None:
    """Set start values; displacements of a free joint have speeds along world axes in MuJoCo, here along the body's."""
    kind = int(named.model.jnt_type[joint])
    nq, nu = _SIZES[kind]
    q, u = int(named.model.jnt_qposadr[joint]), int(named.model.jnt_dofadr[joint])
    made.start, given = start[q : q + nq].copy(), speeds[u : u + nu].copy()
    if kind == _FREE:
        given = np.concatenate([given[3:], matrix_of(made.start[3:]).T @ given[:3]])
    made.start_u = given if given.any() else None


def _of_speeds(kind: int, values: FloatArray, wanted: bool = True) -> tuple[float, ...]:
    """Return numbers for each speed in Linkwork's order: angular ones first; none if all are zero."""
    if not wanted or not values.any():
        return ()
    ordered = np.roll(values, 3) if kind == _FREE else values
    return tuple(ordered.tolist())


def _about(axis: FloatArray, angle: float) -> FloatArray:
    return np.array([np.cos(angle / 2), *(np.sin(angle / 2) * axis)])
