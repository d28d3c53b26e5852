"""Scenes: frames, boxes and columns against the model and against independent computations."""

import json

import numpy as np
import pytest

import linkwork as lw
from linkwork.mechanism.joints import KINDS
from linkwork.view.scene import equimomental_box, scene_of
from support.random_mechanisms import FAMILIES, well_posed
from support.zoo import zoo

CURVED = {"curved_slide": lw.CurvedSlide, "curved_slot": lw.CurvedSlot}


def matrix(Q) -> np.ndarray:
    """Rodrigues' formula, for a unit quaternion."""
    w, v = Q[0], np.array(Q[1:])
    K = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
    return np.eye(3) + 2 * w * K + 2 * K @ K


def poses(scene, state) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Position and rotation of each body at a state, by the columns that the scene names."""
    found = {"ground": (np.zeros(3), np.eye(3))}
    for body in scene["bodies"]:
        r, Q = (np.array([state[name] for name in body[key]]) for key in ("r", "Q"))
        found[body["name"]] = r, matrix(Q / np.linalg.norm(Q))
    return found


def placed(frame, pose) -> tuple[np.ndarray, np.ndarray]:
    return pose[0] + pose[1] @ np.array(frame["r"]), pose[1] @ matrix(frame["Q"])


def box_inertia(box, mass) -> np.ndarray:
    a, b, c = box["size"]
    R = matrix(box["Q"])
    return mass / 12 * R @ np.diag([b * b + c * c, a * a + c * c, a * a + b * b]) @ R.T


@pytest.mark.parametrize("name", sorted(FAMILIES))
def test_joint_frames_meet_as_their_type_has_it(name):
    model = lw.compile(well_posed(FAMILIES[name][0], 0).mechanism)
    state, scene = model.assemble(), scene_of(model)
    at = poses(scene, state)
    assert scene["joints"]
    for joint in scene["joints"]:
        p, R = placed(joint["parentFrame"], at[joint["parent"]])
        c, S = placed(joint["childFrame"], at[joint["child"]])
        q = [state[column] for column in joint["q"]]
        offset, turned = R.T @ (c - p), R.T @ S
        tolerance = 1e-7 * scene["size"]
        match joint["type"]:
            case "fixed" | "revolute" | "universal" | "spherical":
                np.testing.assert_allclose(offset, 0.0, atol=tolerance)
            case "prismatic":
                np.testing.assert_allclose(offset, [0, 0, q[0]], atol=tolerance)
            case "cylindrical":
                np.testing.assert_allclose(offset, [0, 0, q[1]], atol=tolerance)
            case "screw":
                np.testing.assert_allclose(offset, [0, 0, joint["pitch"] * q[0]], atol=tolerance)
            case "planar":
                np.testing.assert_allclose(offset, [q[0], q[1], 0], atol=tolerance)
            case "pin_in_slot":
                np.testing.assert_allclose(offset, [q[0], 0, 0], atol=tolerance)
            case "curved_slide" | "curved_slot":
                angle, r = q[0] / joint["pitch"], joint["pitch"]
                np.testing.assert_allclose(offset, [r * np.sin(angle), r - r * np.cos(angle), 0], atol=tolerance)
        if joint["type"] in ("revolute", "prismatic", "cylindrical", "screw", "planar", "pin_in_slot", *CURVED):
            np.testing.assert_allclose(turned[:, 2], [0, 0, 1], atol=1e-7)
        if joint["type"] in ("fixed", "prismatic"):
            np.testing.assert_allclose(turned, np.eye(3), atol=1e-7)
        if joint["type"] == "universal":  # axis1 fixed in the parent, axis2 in the child
            assert abs(np.array(joint["axes"][0]) @ turned @ np.array(joint["axes"][1])) < 1e-7


@pytest.mark.parametrize("name", sorted(KINDS))
def test_axes_are_canonical(name):
    kinds = {"fixed": lw.Fixed(), "revolute": lw.Revolute((0, 1, 1)), "prismatic": lw.Prismatic((1, 0, 0))}
    kinds |= {"universal": lw.Universal((1, 0, 0), (0, 1, 0)), "cylindrical": lw.Cylindrical((0, -1, 0))}
    kinds |= {"screw": lw.Screw((0, 0, -1), 0.1), "pin_in_slot": lw.PinInSlot((0, 1, 0), (1, 0, 0))}
    kinds |= {name: kind((0, 1, 0), (1, 0, 0), 0.3) for name, kind in CURVED.items()}
    kinds |= {"planar": lw.Planar((0, 1, 0)), "spherical": lw.Spherical(), "free": lw.Free()}
    kinds |= {kind.type_name: kind([(0, 0, 0), (1, 0.2, 0)], (0, 0, 1)) for kind in (lw.PathSlide, lw.PathSlot)}
    mech = lw.Mechanism("one")
    mech.add_body("arm", mass=2.0, com=(0.5, 0.1, 0.2), inertia=lw.inertia.sphere(2.0, 0.1))
    mech.add_joint("J", kinds[name], "ground", "arm", parent_frame=lw.Frame())
    (joint,) = scene_of(lw.compile(mech))["joints"]
    second = {kind: [[0, 0, 1], [1, 0, 0]] for kind in ("universal", "pin_in_slot", *CURVED)}
    wanted = second.get(name, [[0, 0, 1]] if kinds[name].axes else [])
    np.testing.assert_allclose(np.reshape(joint["axes"], (-1, 3)), np.reshape(wanted, (-1, 3)), atol=1e-15)
    for axis, own in zip(kinds[name].axes, joint["axes"], strict=True):
        np.testing.assert_allclose(matrix(joint["parentFrame"]["Q"]) @ own, axis, atol=1e-15)
    assert len(joint["q"]) == kinds[name].nq
    assert len(joint["u"]) == kinds[name].nu
    assert joint["pitch"] == {"screw": 0.1, "curved_slide": 0.3, "curved_slot": 0.3}.get(name, 0.0)
    assert bool(joint["guide"]) == (name in (*CURVED, "path_slide", "path_slot"))


@pytest.mark.parametrize("seed", range(20))
def test_a_box_has_the_inertia_of_its_body(seed):
    rng = np.random.default_rng(seed)
    mass = rng.uniform(0.1, 10.0)
    points = rng.normal(size=(6, 3)) * rng.uniform(0.3, 3.0, 3)
    points -= points.mean(axis=0)
    inertia = mass / 6 * sum((p @ p) * np.eye(3) - np.outer(p, p) for p in points)
    box = equimomental_box(mass, inertia)
    np.testing.assert_allclose(box_inertia(box, mass), inertia, rtol=1e-12, atol=1e-12 * np.abs(inertia).max())
    np.testing.assert_allclose(np.linalg.norm(box["Q"]), 1.0, rtol=1e-14)


def test_boxes_of_special_bodies():
    np.testing.assert_allclose(sorted(equimomental_box(2.0, lw.inertia.box(2.0, (1, 2, 3)))["size"]), [1, 2, 3])
    rod = equimomental_box(3.0, lw.inertia.rod(3.0, 2.0))
    np.testing.assert_allclose(sorted(rod["size"]), [0.002, 0.002, 2.0])
    assert equimomental_box(0.0, np.zeros((3, 3))) is None
    assert equimomental_box(0.0, np.eye(3)) is None
    assert equimomental_box(1.0, np.zeros((3, 3))) is None


def test_everything_of_the_description_is_there():
    mech = zoo()
    mech.add_point("tip", "b2", (0, 0, 1), axis=(0, 0, 2))
    mech.add_point("corner", "ground", (1, 0, 0))
    mech.add_force(lw.SpringDamper("j0", stiffness=3.0))
    mech.add_force(lw.SpringDamper("j5", damping=3.0))
    model = lw.compile(mech)
    scene = scene_of(model)
    assert json.loads(json.dumps(scene, allow_nan=False)) == scene
    for key, parts in (("bodies", mech.bodies), ("joints", mech.joints), ("distances", mech.distances)):
        assert [one["name"] for one in scene[key]] == list(parts)
    assert [one["name"] for one in scene["couplings"]] == ["gear"]
    assert scene["couplings"][0]["terms"][1] == {"joint": "j1", "element": 0, "coefficient": -2.0}
    cord, jack, mount, swing = sorted(scene["springs"], key=lambda one: one["name"])
    assert (swing["title"], swing["mount"], swing["force"]) == ("frame force", True, "")
    (cable,) = scene["cables"]
    assert cable["bodies"] == ["ground", "b0", "b2", "b6"]
    assert (cable["points"][1], cable["factors"]) == ([0.1, 0.0, 0.0], [1.0, 0.0, 0.5])
    assert (cable["title"], cable["force"]) == ("tendon", "cable.force")
    assert (mount["name"], mount["title"], mount["force"], mount["mount"]) == ("mount", "bushing", "", True)
    assert (jack["name"], jack["stiffness"], jack["force"]) == ("jack", 0.0, "jack.force")
    assert (jack["title"], jack["formula"]) == ("line force", "a*p*(length - l0)")
    assert cord["title"] == cord["formula"] == ""
    assert (cord["stiffness"], cord["damping"], cord["free"]) == (10.0, 1.0, 0.1)
    assert cord["points"] == [[0, 0, 0], [0.1, 0, 0]]
    assert scene["wrenches"][0]["F"] == ["push.F[1]", "push.F[2]", "push.F[3]"]
    assert [one["axis"] for one in scene["points"]] == [[0, 0, 1], None]
    springs = {joint["name"]: (joint["spring"], joint["damper"]) for joint in scene["joints"]}
    assert springs["j0"] == (True, False)
    assert springs["j5"] == (False, True)
    assert [joint["name"] for joint in scene["joints"] if joint["cut"]] == list(model.numbering.cut)
    anchors = {body["name"]: body["anchors"] for body in scene["bodies"]}
    assert [0.1, 0.0, 0.0] in anchors["b4"]  # of the cord
    assert [0.3, 0.0, 0.4] in anchors["b6"]  # of the rod


def test_every_column_of_a_scene_is_a_variable():
    mech = zoo()
    model = lw.compile(mech)
    scene = scene_of(model)
    lists = [names for body in scene["bodies"] for names in (body["r"], body["Q"])]
    lists += [names for joint in scene["joints"] for names in (joint["q"], joint["u"], joint["f"], joint["t"])]
    lists += [names for one in scene["wrenches"] for names in (one["F"], one["T"])]
    lists += [scene["residuals"], scene["conditioning"], scene["energies"]]
    lists += [[one["force"] for one in (*scene["springs"], *scene["cables"], *scene["distances"]) if one["force"]]]
    lists += [[one["load"] for one in scene["couplings"]]]
    known = {v.name for v in model.variables}
    assert {name for names in lists for name in names} <= known


def test_parameters_of_the_model_count():
    mech = lw.Mechanism("pendulum")
    mech.add_body("rod", mass=3.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(3.0, 1.0))
    mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
    model = lw.compile(mech).with_parameters(
        {"rod.mass": 6.0, "A.child_frame.position": (0.1, 0, 0), "A.stiffness": 2.0}
    )
    scene = scene_of(model)
    assert scene["bodies"][0]["mass"] == 6.0
    assert scene["bodies"][0]["anchors"] == [[0.1, 0, 0]]
    assert scene["joints"][0]["spring"]
    np.testing.assert_allclose(scene["size"], 0.5**0.5)  # the edge of the box of half the inertia per mass


def test_the_size_is_that_of_the_assembled_start():
    model = lw.compile(well_posed(FAMILIES["planar_4R"][0], 0).mechanism)
    scene, state = scene_of(model), model.assemble()
    at = poses(scene, state)
    points = [np.zeros((0, 3)), [frame_point(joint, at) for joint in scene["joints"]]]
    points += [[at[body["name"]][0] + at[body["name"]][1] @ body["com"]] for body in scene["bodies"]]
    extent = np.linalg.norm(np.ptp(np.concatenate(points), axis=0))
    assert extent <= scene["size"] * (1 + 1e-9)
    assert scene["size"] < 3 * extent


def frame_point(joint, at):
    return placed(joint["parentFrame"], at[joint["parent"]])[0]


def test_a_start_that_cannot_be_assembled_has_a_scene():
    mech = well_posed(FAMILIES["planar_4R"][0], 0).mechanism
    mech.add_distance("rod", ("ground", next(iter(mech.bodies))), ((0, 0, 0), (0, 0, 0)), length=100.0)
    assert scene_of(lw.compile(mech))["size"] > 0.0
