"""Shapes of bodies: their checks, JSON both ways, copies, and that they change nothing in the motion."""

from pathlib import Path

import jsonschema
import numpy as np
import pytest
import trimesh

import linkwork as lw
from linkwork.cli.main import main
from linkwork.errors import MechanismError
from linkwork.mechanism.json_schema import json_schema
from linkwork.mechanism.shapes import SHAPES
from linkwork.view.part import PageRequest
from linkwork.view.scene import scene_of
from support.view_pages import payload_of

TURNED = lw.Frame((0.1, 0, 0.2), lw.Frame.from_euler(0.3, "y").rotation)
SAMPLES = {
    "box": lw.shape.box((0.4, 0.05, 0.06), frame=TURNED, colour="#FF8000"),
    "cylinder": lw.shape.cylinder(0.02, 0.4),
    "capsule": lw.shape.capsule(0.02, 0.4, colour=(0, 0.5, 1)),
    "sphere": lw.shape.sphere(0.05, frame=lw.Frame((0, 0, 1))),
    "mesh": lw.shape.mesh("parts/arm.stl", scale=(0.001, -0.001, 0.001)),
}


def pendulum(shapes: bool = True) -> lw.Mechanism:
    mech = lw.Mechanism("pendulum")
    mech.add_body("arm", mass=2.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(2.0, 1.0))
    mech.add_joint("hinge", lw.Revolute((0, 1, 0)), "ground", "arm", at=(0, 0, 0))
    for number, shape in enumerate(SAMPLES.values() if shapes else ()):
        mech.add_shape("ground" if number % 2 else "arm", shape)
    return mech


def test_there_is_a_sample_of_each_kind() -> None:
    assert set(SAMPLES) == set(SHAPES) == {name for name in lw.shape.__all__ if name != "Shape"}


def test_values_are_plain_and_colours_are_one_notation() -> None:
    box, capsule, mesh = (SAMPLES[name] for name in ("box", "capsule", "mesh"))
    assert (box.size, box.colour) == ((0.4, 0.05, 0.06), "#ff8000")
    assert capsule.colour == "#0080ff"
    assert mesh.path == "parts/arm.stl"
    assert lw.shape.mesh("a.obj", scale=0.5).scale == (0.5, 0.5, 0.5)
    assert lw.shape.box(np.array([1, 2, 3])).size == (1.0, 2.0, 3.0)
    assert eval(repr(SAMPLES["cylinder"]), {"Cylinder": lw.shape.cylinder}) == SAMPLES["cylinder"]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: lw.shape.box((1, 0, 1)), r"shape\.box: size must be positive"),
        (lambda: lw.shape.box((1, 2)), r"shape\.box: size must be 3 numbers"),
        (lambda: lw.shape.box((1, 2, np.nan)), r"shape\.box: size must be finite"),
        (lambda: lw.shape.sphere(-1), r"shape\.sphere: radius must be positive, not -1"),
        (lambda: lw.shape.cylinder("a", 1), r"shape\.cylinder: radius must be one number"),
        (lambda: lw.shape.capsule(1, 0), r"shape\.capsule: length must be positive"),
        (lambda: lw.shape.mesh(""), r"shape\.mesh: path must name a file"),
        (lambda: lw.shape.mesh("a.stl", scale=0), r"shape\.mesh: scale must not be zero"),
        (lambda: lw.shape.sphere(1, colour="red"), r"shape\.sphere: colour must be '#rrggbb'.*not 'red'"),
        (lambda: lw.shape.sphere(1, colour=(0, 0, 2)), r"shape\.sphere: colour must be '#rrggbb'"),
        (lambda: lw.shape.sphere(1, colour=3), r"shape\.sphere: colour must be '#rrggbb'"),
        (lambda: lw.shape.sphere(1, frame=(0, 0, 0)), r"shape\.sphere: frame must be a Frame"),
        (lambda: lw.shape.sphere(1, frame=lw.Frame((0, 0, np.inf))), r"shape\.sphere: frame: position must be finite"),
        (lambda: pendulum().add_shape("arms", SAMPLES["box"]), r"there is no body 'arms': did you mean 'arm'"),
        (lambda: pendulum().add_shape("arm", "box"), r"add_shape takes a shape such as"),
    ],
)
def test_bad_arguments_are_named(make, message) -> None:
    with pytest.raises(MechanismError, match=message):
        make()


def test_unknown_arguments_get_a_suggestion() -> None:
    with pytest.raises(TypeError, match="Sphere has no argument 'radios': did you mean 'radius'"):
        lw.shape.sphere(radios=1)


def test_a_shape_never_changes() -> None:
    with pytest.raises(AttributeError):
        SAMPLES["sphere"].radius = 2.0
    assert hash(SAMPLES["box"]) == hash(lw.shape.box((0.4, 0.05, 0.06), frame=TURNED, colour="#ff8000"))


def test_json_both_ways_and_its_schema(tmp_path) -> None:
    mech = pendulum()
    data = mech.to_dict()
    jsonschema.Draft202012Validator(json_schema()).validate(data)
    mech.save(tmp_path / "pendulum.json")
    for again in (lw.Mechanism.from_dict(data), lw.Mechanism.load(tmp_path / "pendulum.json")):
        assert again == mech
        assert again.shapes == mech.shapes
    assert lw.Mechanism.load(tmp_path / "pendulum.json").folder == tmp_path
    assert "shapes" not in pendulum(shapes=False).to_dict()
    for wrong in ({"type": "cube"}, {"body": "leg"}, {"size": [1, 2]}, {"edge": 1}, {"frame": {"x": 1}}):
        data["shapes"] = [{"body": "arm", "type": "box", "size": [1, 1, 1], **wrong}]
        with pytest.raises(MechanismError, match=r"shapes\[0\]"):
            lw.Mechanism.from_dict(data)


def test_paths_of_meshes_are_found_from_another_folder(tmp_path) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "arm.stl").write_text("")
    (tmp_path / "models").mkdir()
    mech = pendulum()
    mech.save(tmp_path / "pendulum.json")
    mech = lw.Mechanism.load(tmp_path / "pendulum.json")
    mech.save(tmp_path / "models" / "pendulum.json")
    moved = lw.Mechanism.load(tmp_path / "models" / "pendulum.json")
    assert [one.path for of in moved.shapes.values() for one in of if one.type_name == "mesh"] == ["../parts/arm.stl"]
    assert mech.shapes == pendulum().shapes


def test_a_copy_has_its_own_shapes() -> None:
    mech = pendulum()
    twin = mech.copy()
    twin.add_shape("arm", lw.shape.sphere(1.0))
    assert mech == pendulum()
    assert twin != mech
    assert "6 shapes" in repr(twin)


def test_shapes_of_a_removed_body_are_refused() -> None:
    mech = pendulum()
    mech.add_shape("ground", SAMPLES["box"])
    del mech.bodies["arm"], mech.joints["hinge"]
    mech.add_body("rod", mass=2.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(2.0, 1.0))
    mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
    with pytest.raises(MechanismError, match="shapes: there is no body 'arm'"):
        lw.compile(mech)


def test_shapes_change_nothing_in_the_model() -> None:
    assert lw.compile(pendulum()).model_bytes == lw.compile(pendulum(shapes=False)).model_bytes


def test_pages_have_the_shapes_and_meshes(tmp_path) -> None:
    trimesh.creation.box().export(tmp_path / "arm.stl")
    mech = pendulum(shapes=False)
    mech.folder = tmp_path
    for body, shape in (
        ("arm", lw.shape.mesh("arm.stl")),
        ("ground", SAMPLES["box"]),
        ("arm", lw.shape.mesh("no.stl")),
    ):
        mech.add_shape(body, shape)
    recorded = lw.simulate(mech, t_end=0.1)._page_part(PageRequest())
    live = mech._page_part(PageRequest(live=True))
    for part in (recorded, live):
        (body,) = part.scene["bodies"]
        assert [one["mesh"] for one in body["shapes"]] == [0]
        assert len(part.meshes) == 1
        assert part.scene["groundShapes"][0]["colour"] == "#ff8000"
        assert part.scene["warnings"] == ["mesh 'no.stl' is not shown: there is no such file"]
    assert [one["type"] for one in scene_of(lw.compile(mech))["groundShapes"]] == ["box"]


def test_runs_of_one_mechanism_share_their_meshes(tmp_path, assets) -> None:
    for name, size in (("arm.stl", 1.0), ("other.stl", 2.0)):
        trimesh.creation.box((size, size, size)).export(tmp_path / name)
    mech, other = pendulum(shapes=False), pendulum(shapes=False)
    for one, names in ((mech, ["arm.stl"]), (other, ["other.stl", "arm.stl"])):
        one.folder = tmp_path
        for name in names:
            one.add_shape("arm", lw.shape.mesh(name))
    runs = [lw.simulate(one, t_end=0.1) for one in (mech, mech, other)]
    data = payload_of(lw.page(runs))
    assert [run["scene"] for run in data["runs"]] == [0, 0, 1]
    assert len(data["meshes"]) == 2
    numbers = [[one["mesh"] for one in scene["bodies"][0]["shapes"]] for scene in data["scenes"]]
    assert numbers == [[0], [1, 0]]


def test_a_saved_result_has_the_meshes_of_its_mechanism(tmp_path, assets, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    trimesh.creation.box().export("arm.stl")
    mech = pendulum(shapes=False)
    mech.add_shape("arm", lw.shape.mesh("arm.stl"))
    mech.save("pendulum.json")
    lw.simulate(mech, t_end=0.1).to_csv("run.csv")
    assert main(["view", "run.csv", "--mechanism", "pendulum.json", "-o", "run.html"]) == 0
    data = payload_of(Path("run.html").read_text(encoding="utf-8"))
    assert [one["mesh"] for one in data["scenes"][0]["bodies"][0]["shapes"]] == [0]
    assert len(data["meshes"]) == 1


def test_a_scale_may_be_a_number_of_numpy() -> None:
    assert lw.shape.mesh("arm.stl", scale=np.float32(0.5)).scale == (0.5, 0.5, 0.5)
