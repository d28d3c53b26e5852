"""Files that Linkwork writes as MJCF move in MuJoCo, and when they are read again, as the mechanism does."""

import mujoco
import numpy as np
import pytest

import linkwork as lw
from support.joint_families import ALL_KINDS, JOINT_FAMILIES
from support.mujoco_peer import MujocoPeer
from support.random_mechanisms import FAMILIES, random_tree, well_posed

PLANAR = ("planar_4R", "slider_crank_cut_slider", "spatial_6R_2P", "moving_slider_crank", "fixed_in_loop")
LOOPS = (
    *("closed_by_fixed", "sprung_outboard_trees"),
    *("spherical_tree", "spherical_backward", "spherical_cut", "screw_tree", "screw_backward", "pin_in_slot_tree"),
    *("planar_backward", "cylindrical_tree", "universal_backward", "free_tree", "free_backward", "free_cut"),
    *("RSSR", "RUSR_cut_1", "HTSR", "RCCC_on_three_bodies", "stewart", "coupled_in_space"),
)
TREES = tuple(f"tree{seed}" for seed in range(6))


def scene_of(name):
    if name.startswith("tree"):
        return random_tree(np.random.default_rng(int(name[4:])), 7, ALL_KINDS)
    return well_posed((FAMILIES if name in FAMILIES else JOINT_FAMILIES)[name][0], 5)


@pytest.fixture(params=[*PLANAR, *LOOPS, *TREES])
def started(request):
    """A mechanism with its start, the model and the state there."""
    scene = scene_of(request.param)
    mech = scene.mechanism.copy()
    mech.start(q=scene.q, u=scene.u)
    model = lw.compile(mech)
    state = model.assemble()
    both = model.by_joint(state.q), model.by_joint(state.u)
    mech.start(*({name: np.atleast_1d(value) for name, value in one.items() if np.size(value)} for one in both))
    return mech, model, state


def motion_in_linkwork(model, state, bodies):
    """Positions and accelerations of three points of each body in the world."""
    points = [np.zeros(3), *np.eye(3)[:2]]
    positions = {body: [model.point(state, body, point) for point in points] for body in bodies}
    return positions, {body: [model.point_acceleration(state, body, point) for point in points] for body in bodies}


def motion_in_mujoco(peer, bodies):
    """The same at the first keyframe, with constraints held exactly."""
    model, data = peer.model, peer.data
    qpos = np.array(model.key_qpos[0]) if model.nkey else np.array(model.qpos0)
    qvel = np.array(model.key_qvel[0]) if model.nkey else np.zeros(model.nv)
    qacc = peer.accelerations(qpos, qvel)
    peer.set(qpos, qvel)
    positions, accelerations = {}, {}
    for name in bodies:
        body = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, name)
        positions[name], accelerations[name] = [], []
        for point in (np.zeros(3), *np.eye(3)[:2]):
            at = data.xpos[body] + data.xmat[body].reshape(3, 3) @ point
            rows, rates = np.zeros((3, model.nv)), np.zeros((3, model.nv))
            mujoco.mj_jac(model, data, rows, None, at, body)
            mujoco.mj_jacDot(model, data, rates, None, at, body)
            positions[name].append(at)
            accelerations[name].append(rows @ qacc + rates @ qvel)
    return positions, accelerations


def assert_same(found, expected, tolerance):
    scale = max(1.0, max(np.abs(value).max() for value in expected.values()))
    for name, value in expected.items():
        np.testing.assert_allclose(found[name], value, atol=tolerance * scale, rtol=0, err_msg=name)


def losses(report):
    """What is not taken, without start values of closures and without inputs, which are zero."""
    lost = [one for one in report if one.outcome != "taken" and not one.element.endswith("> start")]
    return [str(one) for one in lost if not one.element.startswith("Wrench")]


def test_mujoco_moves_as_the_mechanism_does(started, tmp_path):
    mech, model, state = started
    report = lw.save(mech, tmp_path / "written.xml")
    assert losses(report) == []
    peer = MujocoPeer(tmp_path / "written.xml")
    expected = motion_in_linkwork(model, state, mech.bodies)
    found = motion_in_mujoco(peer, mech.bodies)
    assert_same(found[0], expected[0], 1e-12)
    assert_same(found[1], expected[1], 1e-8)


def test_a_written_file_is_read_as_the_same_mechanism(started, tmp_path):
    mech, model, state = started
    lw.save(mech, tmp_path / "written.xml")
    again = lw.load(tmp_path / "written.xml", merge_fixed=False)
    assert set(mech.bodies) <= set(again.bodies)
    second = lw.compile(again)
    expected = motion_in_linkwork(model, state, mech.bodies)
    found = motion_in_linkwork(second, second.assemble(), mech.bodies)
    assert_same(found[0], expected[0], 1e-13)
    assert_same(found[1], expected[1], 1e-13)


def everything():
    """Springs, friction, rotors, limits, actuators, couplings, a rod and a point on joints in the tree of MJCF."""
    mech = lw.Mechanism("everything", gravity=(0.1, 0.2, -9))
    random = np.random.default_rng(1)
    kinds = {
        "A": lw.Revolute((1, 2, 3)),
        "U": lw.Universal((0, 0, 1), (1, 0, 0)),
        "H": lw.Screw((0, 1, 0), 1.0),
        "C": lw.Cylindrical((0, 1, 1)),
        "S": lw.Spherical(),
        "E": lw.Planar((0, 0, 1)),
        "P": lw.Prismatic((1, 0, 1)),
        "F": lw.Free(),
    }
    for number, (name, kind) in enumerate(kinds.items()):
        body = f"b_{name}"
        box = lw.inertia.box(1.0 + number, (0.1, 0.2, 0.3))
        mech.add_body(body, mass=1.0 + number, com=random.normal(size=3) / 9, inertia=box)
        frames = [lw.Frame(random.normal(size=3)) @ lw.Frame.from_euler(random.normal(size=3), "xyz") for _ in "ab"]
        frames[1] = lw.Frame() if name in "SF" else frames[1]
        more = {"max_load": 7.0} if name == "P" else {}
        more |= {} if name == "F" else {"reflected_inertia": 0.1 * (number + 1)}
        parent = "ground" if name in "AFP" else [*mech.bodies][-2]
        mech.add_joint(name, kind, parent, body, parent_frame=frames[0], child_frame=frames[1], **more)
    mech.add_force(lw.SpringDamper("A", stiffness=3.0, damping=0.1, free=0.4))
    mech.add_force(lw.SpringDamper("U", stiffness=(1.0, 2.0), damping=(0.1, 0.2), free=(0.1, 0.0)))
    mech.add_force(lw.SpringDamper("H", stiffness=50.0))
    mech.add_force(lw.SpringDamper("S", damping=0.3))
    mech.add_force(lw.SpringDamper("F", damping=0.2))
    ends = ("b_A", "b_F"), ((0, 0, 0.1), (0.1, 0, 0))
    mech.add_force(lw.SpringDamper(bodies=ends[0], points=ends[1], stiffness=9.0, damping=1.0, free=0.3, name="cord"))
    for joint in ("A", "U[2]", "H", "C[1]", "S[1]", "S[2]", "S[3]", "P"):
        friction = lw.Friction(joint, coulomb=0.4, viscous=0.2, name=f"friction_{joint[0]}{joint[2:3]}")
        mech.add_force(friction)
    mech.add_force(lw.Friction("A", coulomb=0.3, name="seal"))
    for body, fraction in (("b_A", 0.3), ("b_S", -0.7), ("b_F", 1.2)):
        mech.add_force(lw.GravityCompensation(body, fraction=fraction, name=f"{body}_balance"))
    mech.add_distance("rod", ("b_S", "b_F"), ((0, 0, 0), (0.1, 0.2, 0)), length=1.5)
    mech.add_coupling("gear", {"A": 1.0, "U[2]": (0.5, 0.1, 0.0, 0.2)}, offset=0.05)
    mech.add_coupling("sum", {"C[1]": 2.0, "E[1]": -1.0, "P": (0.3, 0.2)}, offset=-0.1)
    mech.add_point("tip", "b_F", (0.1, 0.2, 0.3), axis=(0, 1, 1))
    mech.add_force(lw.Actuator("servo", {"U[1]": 2.0}, gain=5.0, stiffness=5.0, damping=1.0, force_range=(-3, 4)))
    mech.add_force(lw.Actuator("pull", {"C[2]": 2.0, "E[3]": -1.0}, gain=3.0, offset=0.5, input_range=(-1, 1)))
    mech.add_force(lw.Actuator("twist", {"S[1]": 1.0, "S[3]": 0.5}, damping=0.2))
    mech.add_transition("stop", lw.Stop("P", lower=-2.0, upper=3.0))
    u = {"A": 0.5, "U": (0.1, 0.2), "S": (0.1, 0.2, 0.3), "F": (0.1, 0.2, 0.3, 0.4, 0.5, 0.6), "H": 0.3}
    mech.start(q={"A": 0.3, "H": 0.2, "P": 0.4}, u=u)
    return mech


INPUTS = {"servo": 0.7, "pull": 2.0, "twist": 0.4}


def test_springs_rotors_actuators_couplings_and_rods_are_written(tmp_path):
    mech = everything()
    model = lw.compile(mech)
    state = model.assemble()
    pairs = [model.by_joint(state.q), model.by_joint(state.u)]
    mech.start(*({name: np.atleast_1d(value) for name, value in one.items() if np.size(value)} for one in pairs))
    report = lw.save(mech, tmp_path / "written.xml")
    assert losses(report) == ["transition 'stop' > Stop: approximated, a range, which is soft in MuJoCo"]

    peer = MujocoPeer(tmp_path / "written.xml")
    ctrl = np.array([INPUTS[peer.name("actuator", i)] for i in range(peer.model.nu)])
    expected = motion_in_linkwork(model, state, mech.bodies)[0]
    qacc = peer.accelerations(np.array(peer.model.key_qpos[0]), np.array(peer.model.key_qvel[0]), ctrl)
    assert_same(motion_in_mujoco(peer, mech.bodies)[0], expected, 1e-12)
    found = model.by_joint(model.accelerations(state, tau={f"{name}.input": value for name, value in INPUTS.items()}))
    for name in ("A", "U_1", "U_2", "C_1", "C_2", "E_1", "E_2", "E_3", "P", "S", "H_2"):
        joint, _, element = name.partition("_")
        value = np.atleast_1d(found[joint])
        value = value if name == "S" or joint == "H" or not element else value[int(element) - 1 : int(element)]
        at = peer.model.joint(name).dofadr[0]
        np.testing.assert_allclose(qacc[at : at + len(value)], value, atol=1e-7, err_msg=name)

    again = lw.load(tmp_path / "written.xml", limits=True)
    second = lw.compile(again)
    after = second.assemble()
    both = second.by_joint(second.accelerations(after, tau={f"{name}.input": value for name, value in INPUTS.items()}))
    for name in ("A", "P", "S", "F"):
        np.testing.assert_allclose(both[name], found[name], atol=1e-13)
    assert again.joints["P"].max_load == 7.0
    assert isinstance(again.transitions["P_limit"].action, lw.Stop)


def test_friction_that_mjcf_cannot_say_is_reported(tmp_path):
    mech = everything()
    mech.forces = [force for force in mech.forces if isinstance(force, lw.GravityCompensation)]
    for speed in range(6):
        mech.add_force(lw.Friction(f"F[{speed + 1}]", coulomb=0.5, name=f"drag_{speed}"))
    mech.add_force(lw.Friction("A", coulomb=0.5, static=0.8, name="hinge"))
    mech.add_force(lw.Friction("S[2]", coulomb=0.5, name="ball"))
    mech.add_force(lw.GravityCompensation("b_A", point=(0, 0, 1), name="aside"))
    found = {one.element: str(one) for one in lw.save(mech, tmp_path / "written.xml") if one.outcome != "taken"}
    assert "approximated, frictionloss: it acts along the axes of the file's" in found["Friction 'drag_4'"]
    assert "approximated, frictionloss: it sticks up to 0.5 and not 0.8" in found["Friction 'hinge'"]
    assert "left out, MJCF has one value for all speeds" in found["Friction 'ball'"]
    assert "left out, gravcomp acts at the centre of mass" in found["GravityCompensation 'aside'"]
    bar = four_bar()
    for joint in "ABCD":
        bar.add_force(lw.Friction(joint, coulomb=0.1, name=f"friction_{joint}"))
    (left,) = losses(lw.save(bar, tmp_path / "bar.xml"))
    assert left.startswith("Friction 'friction_D': left out, its joint closes a loop")


def test_what_mjcf_cannot_say_is_reported_and_refused_with_strict(tmp_path):
    mech = FAMILIES["planar_4R_springs"][0](np.random.default_rng(0)).mechanism
    assert "SpringDamper: left out" in losses(lw.save(mech, tmp_path / "written.xml"))[0]
    with pytest.raises(lw.MechanismError, match="closes a loop in the file"):
        lw.save(mech, tmp_path / "strict.xml", strict=True)
    assert not (tmp_path / "strict.xml").exists()


def test_loops_without_a_joint_that_equalities_can_state_stay_open_and_are_reported(tmp_path):
    mech = JOINT_FAMILIES["CCCC"][0](np.random.default_rng(0)).mechanism
    found = losses(lw.save(mech, tmp_path / "written.xml"))
    assert any("cannot state a Cylindrical" in one and "the loop stays open" in one for one in found)


def test_a_body_without_mass_becomes_a_joint_of_the_next(tmp_path):
    mech = lw.Mechanism("cross")
    mech.add_body("cross", mass=0.0, com=(0, 0, 0), inertia=np.zeros((3, 3)))
    mech.add_body("arm", mass=2.0, com=(0.1, 0, 0), inertia=lw.inertia.sphere(2.0, 0.1))
    mech.add_joint("A", lw.Revolute((0, 0, 1)), "ground", "cross", at=(0, 0, 1))
    mech.add_joint("B", lw.Revolute((0, 1, 0)), "cross", "arm", at=(0, 0, 1))
    mech.start(q={"A": 0.4, "B": 0.2}, u={"A": 1.0, "B": 2.0})
    assert losses(lw.save(mech, tmp_path / "written.xml")) == []
    models = [lw.compile(one) for one in (mech, lw.load(tmp_path / "written.xml"))]
    first, second = (one.by_joint(one.accelerations(one.assemble())) for one in models)
    for name, value in first.items():
        np.testing.assert_allclose(second[name], value, rtol=1e-13)


def test_an_actuator_on_one_speed_of_a_free_body_is_a_torque_about_that_axis(tmp_path):
    mech = lw.Mechanism("floating", gravity=(0, 0, 0))
    mech.add_body("box", mass=3.0, com=(0, 0, 0), inertia=np.diag([0.1, 0.2, 0.25]))
    mech.add_joint("F", lw.Free(), "ground", "box")
    mech.add_force(lw.Actuator("roll", {"F[1]": 2.0}))
    assert losses(lw.save(mech, tmp_path / "m.xml")) == []
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "m.xml"))
    data = mujoco.MjData(model)
    data.ctrl[:] = 0.3
    mujoco.mj_forward(model, data)
    np.testing.assert_allclose(data.qacc, [0, 0, 0, 2.0 * 0.3 / 0.1, 0, 0], atol=1e-12)


def four_bar():
    """Of its four hinges, which are alike, the last one comes to a point of the ground."""
    mech = lw.Mechanism("four_bar")
    for name, length in (("a", 0.4), ("b", 1.0), ("c", 0.8)):
        mech.add_body(name, mass=1, com=(length / 2, 0, 0), inertia=lw.inertia.rod(1, length) + 1e-3 * np.eye(3))
    for name, parent, child, x in (("A", "ground", "a", 0.0), ("B", "a", "b", 0.4), ("C", "b", "c", 1.0)):
        mech.add_joint(name, lw.Revolute("y"), parent, child, parent_frame=lw.Frame((x, 0, 0)))
    ground, end = lw.Frame((0.9, 0, 0)), lw.Frame((0.8, 0, 0))
    mech.add_joint("D", lw.Revolute("y"), "ground", "c", parent_frame=ground, child_frame=end)
    return mech


@pytest.mark.parametrize("driven", "AD")
def test_what_acts_on_a_joint_of_a_loop_has_its_coordinate(driven, tmp_path):
    mech = four_bar()
    mech.add_force(lw.Actuator("motor", {driven: 1.0}))
    assert losses(lw.save(mech, tmp_path / "m.xml")) == []
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "m.xml"))
    assert model.actuator_trnid[0, 0] == model.joint(driven).id


def test_a_loop_that_is_open_at_zero_starts_closed(tmp_path):
    lw.save(four_bar(), tmp_path / "m.xml")
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "m.xml"))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    assert np.abs(data.efc_pos[: data.ne]).max() > 0.1
    mujoco.mj_resetDataKeyframe(model, data, 0)
    mujoco.mj_forward(model, data)
    assert np.abs(data.efc_pos[: data.ne]).max() < 1e-12


def test_a_chain_that_no_reader_nests_is_not_written(tmp_path):
    mech, inner = lw.Mechanism("chain"), "ground"
    for k in range(201):
        mech.add_body(f"b{k}", mass=1, com=(0.5, 0, 0), inertia=np.eye(3))
        mech.add_joint(f"J{k}", lw.Revolute("y"), inner, f"b{k}", parent_frame=lw.Frame((1, 0, 0)))
        inner = f"b{k}"
    with pytest.raises(lw.LinkworkError, match=r"204 levels deep, .*write URDF or JSON"):
        lw.save(mech, tmp_path / "chain.xml")
    assert not (tmp_path / "chain.xml").exists()
