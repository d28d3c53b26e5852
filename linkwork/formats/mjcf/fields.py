"""What each field of MuJoCo's compiled model is to the reader, so that none is overlooked.

A field is read, or derived by MuJoCo from others, or belongs to objects that are left out as such, or is reported where
it is not zero. A field of a later MuJoCo that stands nowhere here is reported as unknown if it is not zero.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwork.formats.mjcf.named import NamedModel

if TYPE_CHECKING:
    from mujoco import MjModel

_READ = """
qpos0 qpos_spring
body_parentid body_jntnum body_jntadr body_pos body_quat body_ipos body_iquat body_mass body_inertia body_gravcomp
body_mocapid
jnt_type jnt_qposadr jnt_dofadr jnt_bodyid jnt_limited jnt_actfrclimited jnt_pos jnt_axis jnt_stiffness jnt_range
jnt_actfrcrange jnt_stiffnesspoly dof_armature dof_damping dof_dampingpoly dof_frictionloss
site_bodyid site_pos site_quat
tendon_adr tendon_num tendon_stiffness tendon_damping tendon_frictionloss tendon_lengthspring tendon_length0
tendon_armature tendon_stiffnesspoly tendon_dampingpoly tendon_actfrclimited tendon_actfrcrange
tendon_limited tendon_range
wrap_type wrap_objid wrap_prm
eq_type eq_obj1id eq_obj2id eq_objtype eq_active0 eq_data eq_solref
actuator_trntype actuator_dyntype actuator_gaintype actuator_biastype actuator_ctrladr actuator_ctrlnum
actuator_outadr actuator_trnid actuator_gainprm actuator_biasprm actuator_delay actuator_damping actuator_armature
actuator_group actuator_plugin actuator_forcelimited actuator_forcerange actuator_ctrllimited actuator_ctrlrange
actuator_gear actuator_ctrlspec actuator_actadr actuator_actnum actuator_cranklength actuator_dynprm
actuator_actlimited actuator_actrange actuator_acc0 actuator_lengthrange actuator_dampingpoly body_weldid
key_qpos key_qvel key_act key_ctrl key_mpos key_mquat key_plastic key_time
nbody njnt nsite ntendon nactuator neq nkey nq nv na ngeom nflex
"""

# Computed by MuJoCo from other fields, sizes and addresses, settings of solvers, looks, and data of the user.
_WITHOUT_EFFECT = """
body_rootid body_dofnum body_dofadr body_treeid body_geomnum body_geomadr body_simple body_sameframe
body_subtreemass body_invweight0 body_margin body_contype body_conaffinity body_bvhadr body_bvhnum body_user
body_plugin
jnt_actuatorid jnt_group jnt_plasticadr jnt_solref jnt_solimp jnt_user
dof_bodyid dof_jntid dof_parentid dof_treeid dof_Madr dof_simplenum dof_solref dof_solimp dof_invweight0 dof_M0
dof_length
tendon_type tendon_matid tendon_actuatorid tendon_group tendon_plasticadr tendon_treenum tendon_treeid
tendon_width tendon_solref_lim tendon_solimp_lim tendon_solref_fri tendon_solimp_fri
tendon_invweight0 tendon_user tendon_rgba tendon_margin
eq_solimp
actuator_outnum actuator_actearly actuator_history actuator_historyadr actuator_user
actuator_length0
signature flg_gravcomp flg_surfacevel flg_adhesion names paths names_map buffer
nu nout nbvh nbvhstatic nbvhdynamic noct ntree nM nB nC nD nmesh nskin nhfield ntex nmat npair nexclude nJten
nwrap nsensor nnumeric ntext ntuple nmocap nplugin nnames npaths nplastic nnames_map nJmom ngravcomp nemax njmax
nconmax npolygonmax nmeshdegmax nuserdata nsensordata npluginstate nhistory narena nbuffer nefm0dof nefm0L
nefmCvert nJfe npluginattr ncam nlight
opt.timestep opt.impratio opt.tolerance opt.ls_tolerance opt.noslip_tolerance opt.ccd_tolerance opt.sleep_tolerance
opt.integrator opt.cone opt.jacobian opt.solver opt.iterations opt.ls_iterations opt.noslip_iterations
opt.ccd_iterations opt.sdf_initpoints opt.sdf_iterations opt.enableflags opt.magnetic opt.wind
opt.o_margin opt.o_solref opt.o_solimp opt.o_friction
opt.gravity opt.disableflags opt.disableactuator
"""

READ = frozenset(_READ.split())
WITHOUT_EFFECT = frozenset(_WITHOUT_EFFECT.split())

# Objects that the reader reports as such before MuJoCo compiles the model, and tables that it makes for itself.
OBJECTS = (
    *("geom_", "site_", "cam_", "light_", "flex_", "flexedge_", "mesh_", "skin_", "hfield_", "tex_", "mat_", "pair_"),
    *("exclude_", "sensor_", "plugin", "numeric_", "text_", "tuple_", "name_", "bvh_", "oct_", "tree_", "efm"),
    *("ten_J_", "B_row", "B_col", "M_row", "M_col", "D_row", "D_col", "D_diag", "mapM2", "mapD2"),
    *("nuser_", "nflex", "nmesh", "nskin", "nhfield", "ntex", "ntuple", "nnumeric", "vis", "stat"),
)


class LeftOut(NamedTuple):
    """A field that is reported where it is not zero: of which objects, under which name, and why."""

    field: str
    kind: str
    attribute: str
    why: str
    approximated: bool = False


LEFT_OUT = (
    LeftOut("jnt_springyield", "joint", "springyield", "the spring is elastic and never yields"),
    LeftOut("jnt_margin", "joint", "margin", "limits act at the limit, not before"),
    LeftOut(
        "jnt_actgravcomp",
        "joint",
        "actuatorgravcomp",
        "gravity compensation acts beside the actuators, beyond their limits",
        True,
    ),
    LeftOut("tendon_springyield", "tendon", "springyield", "the spring is elastic and never yields"),
    LeftOut("opt.density", "option", "density", "there are no forces of a fluid on the bodies"),
    LeftOut("opt.viscosity", "option", "viscosity", "there are no forces of a fluid on the bodies"),
)


def is_known(field: str) -> bool:
    """Return whether the reader knows a field, such as "jnt_axis" or "opt.gravity"."""
    named = {one.field for one in LEFT_OUT}
    return field in READ or field in WITHOUT_EFFECT or field in named or field.startswith(OBJECTS)


def field_names(model: MjModel) -> list[str]:
    """Return the fields of a compiled model that hold numbers, those of its options as "opt.gravity"."""
    own = [name for name in dir(model) if _holds_numbers(model, name) and name != "opt"]
    return own + [f"opt.{name}" for name in dir(model.opt) if _holds_numbers(model.opt, name)]


def report_fields(named: NamedModel) -> None:
    """Report what the reader leaves out, and fields that it does not know."""
    model, report = named.model, named.report
    objects = {
        "joint": named.joints,
        "dof": [named.joints[joint] for joint in model.dof_jntid],
        "tendon": named.tendons,
        "actuator": named.actuators,
    }
    for one in LEFT_OUT:
        values = np.atleast_1d(value_of(model, one.field))
        used = np.flatnonzero(values.any(axis=tuple(range(1, values.ndim))))
        if not len(used):
            continue
        if one.kind == "option":
            report.left_out(f"option > {one.attribute}", one.why)
            continue
        kind = "joint" if one.kind == "dof" else one.kind
        element = f"{named.label(kind, dict.fromkeys(objects[one.kind][i] for i in used))} > {one.attribute}"
        (report.approximated if one.approximated else report.left_out)(element, one.why)
    for field in field_names(model):
        if not is_known(field) and np.any(value_of(model, field)):
            report.left_out(f"mjModel.{field}", "this MuJoCo is newer than the reader, which does not know the field")


def value_of(model: MjModel, field: str) -> Any:
    """Return the value of a field."""
    return getattr(model.opt, field[4:]) if field.startswith("opt.") else getattr(model, field)


def _holds_numbers(model: object, name: str) -> bool:
    return not name.startswith("_") and isinstance(getattr(model, name, None), bool | int | float | np.ndarray)
