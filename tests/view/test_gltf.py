"""Animated glTF: the Khronos validator finds nothing, and another library reads back the poses of the result."""

import importlib
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pygltflib
import pytest
import trimesh

import linkwork as lw
from linkwork._util.rotations import matrix_of
from linkwork.errors import LinkworkError, MechanismError
from linkwork.view import gltf
from linkwork.view.meshes import TriangleMesh
from linkwork.view.solids import box, capsule, cylinder, sphere, surface_of
from support.checkout import TOP
from support.viewer import build_script

VALIDATOR = TOP / "viewer" / "node_modules" / "gltf-validator"
UP = np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]])  # world to glTF
EXAMPLES = ("four_bar", "gripper", "biped_leg", "planar_robot", "slider_crank", "quarter_car")
SCRIPT = """
const validator = require(process.argv[1]);
validator.validateBytes(new Uint8Array(require("fs").readFileSync(process.argv[2])))
  .then((report) => console.log(JSON.stringify(report)));
"""
HOSTILE = ('</script><b>"&', "x\\y {z}", "a;drop table")


def example(name: str) -> lw.Mechanism:
    sys.path.insert(0, str(TOP / "examples"))
    try:
        return importlib.import_module(name).mechanism()
    finally:
        sys.path.pop(0)


def shaped() -> lw.Mechanism:
    """A pendulum with every kind of shape, a spring, a distance and a body that nothing holds."""
    mech = lw.Mechanism("shaped", gravity=(1.0, 0, -9.81))
    mech.add_body("arm", mass=2.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(2.0, 1.0))
    mech.add_body("ball", mass=1.0, com=(0, 0, 0), inertia=lw.inertia.sphere(1.0, 0.1), origin=(0, 0, 1))
    mech.add_body("bob", mass=1.0, com=(0, 0, 0), inertia=lw.inertia.sphere(1.0, 0.1), origin=(0, 1, 0))
    mech.add_joint("hinge", lw.Revolute((0, 1, 0)), "ground", "arm", at=(0, 0, 0))
    mech.add_joint("free", lw.Free(), "ground", "ball", at=(0, 0, 1))
    mech.add_joint("loose", lw.Free(), "ground", "bob", at=(0, 1, 0))
    mech.add_force(lw.SpringDamper(bodies=("arm", "ball"), points=((1, 0, 0), (0, 0, 0)), stiffness=50, name="coil"))
    mech.add_distance("wire", ("ground", "bob"), ((0, 0, 1), (0, 0, 0)))
    turned = lw.Frame.from_euler(0.5, "x", (0.2, 0, 0))
    for body, shape in (
        ("arm", lw.shape.box((1.0, 0.05, 0.05), frame=lw.Frame((0.5, 0, 0)))),
        ("arm", lw.shape.cylinder(0.02, 0.3, frame=turned, colour="#ff0000")),
        ("ball", lw.shape.capsule(0.05, 0.2, frame=turned)),
        ("ball", lw.shape.sphere(0.1, colour=(0, 1, 0))),
        ("ground", lw.shape.mesh("part.stl", frame=turned)),
        ("ball", lw.shape.mesh("part.stl")),
    ):
        mech.add_shape(body, shape)
    mech.start(u={"loose": (0, 0, 1, 0.5, 0, 0.2)})
    return mech


def validated(path: Path) -> dict:
    if not VALIDATOR.is_dir():
        pytest.skip("the validator is missing: python viewer/build.py page")
    run = subprocess.run(
        [*build_script().node(), "-e", SCRIPT, str(VALIDATOR), str(path)], capture_output=True, text=True, check=True
    )
    report = json.loads(run.stdout)
    assert report["issues"]["messages"] == []
    assert report["issues"]["numErrors"] == report["issues"]["numWarnings"] == report["issues"]["numInfos"] == 0
    return report["info"]


class ReadBack:
    """A file as pygltflib reads it."""

    def __init__(self, path: Path) -> None:
        self.file = pygltflib.GLTF2().load(str(path))
        self.blob = self.file.binary_blob()
        self.names = {node.name: k for k, node in enumerate(self.file.nodes) if node.name is not None}

    def numbers(self, accessor: int) -> np.ndarray:
        one = self.file.accessors[accessor]
        view = self.file.bufferViews[one.bufferView]
        kind = {5126: "<f4", 5125: "<u4", 5123: "<u2"}[one.componentType]
        width = {"SCALAR": 1, "VEC3": 3, "VEC4": 4, "MAT4": 16}[one.type]
        values = np.frombuffer(self.blob, kind, one.count * width, view.byteOffset + (one.byteOffset or 0))
        return values.reshape(one.count, width)

    def channel(self, name: str, path: str) -> np.ndarray | None:
        for animation in self.file.animations:
            for channel in animation.channels:
                if channel.target.node == self.names[name] and channel.target.path == path:
                    return self.numbers(animation.samplers[channel.sampler].output).astype(float)
        return None

    def times(self) -> np.ndarray:
        animation = self.file.animations[0]
        return self.numbers(animation.samplers[0].input)[:, 0]

    def pose(self, name: str, row: int) -> np.ndarray:
        """The pose of a node below the root, (4, 4)."""
        node, found = self.file.nodes[self.names[name]], []
        for path in ("translation", "rotation", "scale"):
            values, own = self.channel(name, path), getattr(node, path)
            found.append(values[row] if values is not None else np.array(own if own is not None else [1.0] * 3))
        r, (x, y, z, w), scale = found
        pose = np.eye(4)
        pose[:3, :3] = matrix_of(np.array([w, x, y, z])) * scale
        pose[:3, 3] = r
        root = next(one for one in self.file.nodes if one.children and self.names[name] in one.children)
        x, y, z, w = root.rotation
        whole = np.eye(4)
        whole[:3, :3] = matrix_of(np.array([w, x, y, z]))
        return whole @ pose


def expected(result: lw.Result, body: str, row: int) -> np.ndarray:
    pose, Q = np.eye(4), result[f"{body}.Q"][row]
    pose[:3, :3] = UP @ matrix_of(Q / np.linalg.norm(Q))
    pose[:3, 3] = UP @ result[f"{body}.r"][row]
    return pose


@pytest.fixture
def part(tmp_path) -> Path:
    trimesh.creation.annulus(0.05, 0.1, 0.1).export(tmp_path / "part.stl")
    return tmp_path


def runs(folder: Path) -> dict[str, lw.Result]:
    mech = shaped()
    mech.folder = folder
    return {"shaped": lw.simulate(mech, t_end=1.0)} | {name: lw.simulate(example(name), t_end=1.0) for name in EXAMPLES}


@pytest.mark.parametrize("skinned", [False, True])
def test_poses_are_those_of_the_result_and_the_validator_finds_nothing(part, skinned) -> None:
    for name, result in runs(part).items():
        path = result.glb(part / f"{name}.glb", skinned=skinned)
        info = validated(path)
        assert info["hasSkins"] == skinned
        assert info["animationCount"] == 1
        read = ReadBack(path)
        assert read.file.asset.extras == {}
        assert read.times()[0] == 0.0
        assert read.times()[-1] == pytest.approx(1.0)
        assert len(read.times()) == 61
        size = max(1.0, *(np.abs(result[f"{body}.r"]).max() for body in result.model.mechanism.bodies))
        for body in result.model.mechanism.bodies:
            for row in (0, -1):
                np.testing.assert_allclose(read.pose(body, row), expected(result, body, row), rtol=0, atol=1e-6 * size)
            rotation = read.channel(body, "rotation")
            if rotation is not None:
                assert (np.einsum("ij,ij->i", rotation[1:], rotation[:-1]) > 0.0).all()


def test_players_turn_the_short_way_where_the_quaternion_of_a_body_changes_sign(tmp_path) -> None:
    """Players interpolate from row to row: a change of sign would be a whole revolution within one row."""
    mech = lw.Mechanism("spinning", gravity=(0, 0, 0))
    mech.add_body("wheel", mass=1.0, com=(0, 0, 0), inertia=np.eye(3))
    mech.add_joint("axle", lw.Revolute((0, 0, 1)), "ground", "wheel", at=(0, 0, 0))
    mech.start(u={"axle": 2.0 * np.pi})
    result = lw.simulate(mech, 2.0, t_eval=np.linspace(0.0, 2.0, 41))
    Q = result["wheel.Q"]
    assert (np.einsum("ij,ij->i", Q[1:], Q[:-1]) < 0.0).sum() == 2  # what is given is not continuous
    found = ReadBack(result.glb(tmp_path / "wheel.glb", skinned=False)).channel("wheel", "rotation")
    turned = np.einsum("ij,ij->i", found[1:], found[:-1])
    rows = len(found) - 1
    assert turned.min() > np.cos(2.0 * np.pi / rows) - 1e-6  # half the angle of a row


def test_a_skin_moves_the_vertices_as_nodes_do(part) -> None:
    result = runs(part)["shaped"]
    nodes, skin = (
        ReadBack(result.glb(part / f"{skinned}.glb", skinned=skinned, fps=None)) for skinned in (False, True)
    )
    joints, inverse = skin.file.skins[0].joints, skin.numbers(skin.file.skins[0].inverseBindMatrices)
    names = [skin.file.nodes[joint].name for joint in joints]
    for row in (0, -1):
        by_skin = []
        for primitive in skin.file.meshes[0].primitives:
            vertices = skin.numbers(primitive.attributes.POSITION)
            which = skin.numbers(primitive.attributes.JOINTS_0)[:, 0]
            moves = np.array([skin.pose(n, row) @ m.reshape(4, 4).T for n, m in zip(names, inverse, strict=True)])
            by_skin.append(np.einsum("nij,nj->ni", moves[which], np.column_stack([vertices, np.ones(len(vertices))])))
        by_nodes = []
        for name in names:
            for child in nodes.file.nodes[nodes.names[name]].children:
                node = nodes.file.nodes[child]
                x, y, z, w = node.rotation if node.rotation else (0, 0, 0, 1)
                for primitive in nodes.file.meshes[node.mesh].primitives:
                    vertices = nodes.numbers(primitive.attributes.POSITION) @ matrix_of(np.array([w, x, y, z])).T
                    vertices = vertices + np.array(node.translation or (0, 0, 0))
                    by_nodes.append(np.column_stack([vertices, np.ones(len(vertices))]) @ nodes.pose(name, row).T)
        clouds = [np.concatenate(one)[:, :3] for one in (by_skin, by_nodes)]
        ordered = [one[np.lexsort(np.round(one, 4).T)] for one in clouds]
        np.testing.assert_allclose(ordered[0].sum(axis=0), ordered[1].sum(axis=0), atol=1e-3)
        np.testing.assert_allclose(ordered[0].min(axis=0), ordered[1].min(axis=0), atol=1e-5)
        np.testing.assert_allclose(ordered[0].max(axis=0), ordered[1].max(axis=0), atol=1e-5)


def test_springs_and_distances_reach_their_ends(part) -> None:
    result = runs(part)["shaped"]
    read = ReadBack(result.glb(part / "run.glb"))
    for row in (0, -1):
        tip, ball = expected(result, "arm", row) @ (1, 0, 0, 1), expected(result, "ball", row) @ (0, 0, 0, 1)
        np.testing.assert_allclose(read.pose("coil", row) @ (0, 0, -0.5, 1), tip, atol=1e-6)
        np.testing.assert_allclose(read.pose("coil", row) @ (0, 0, 0.5, 1), ball, atol=1e-6)
        bob = expected(result, "bob", row) @ (0, 0, 0, 1)
        np.testing.assert_allclose(read.pose("wire", row) @ (0, 0, 0.5, 1), bob, atol=1e-6)


def test_a_spring_that_turns_half_a_revolution_at_once_still_lies_along_its_line() -> None:
    lines = np.array([(0.0, 0.0, 1.0), (0.0, 0.0, -1.0), (1.0, 0.0, 0.0), (-1.0, 0.0, 0.0), (0.0, 0.6, 0.8)])
    turned = [matrix_of(Q)[:, 2] for Q in gltf._towards(lines)]
    np.testing.assert_allclose(turned, lines, atol=1e-12)


def test_another_library_sees_the_first_pose(part) -> None:
    result = runs(part)["shaped"]
    scene = trimesh.load_scene(result.glb(part / "run.glb"))
    for body in ("arm", "ball"):
        np.testing.assert_allclose(scene.graph.get(body)[0], expected(result, body, 0), atol=1e-6)
    assert scene.bounds[1][1] >= 1.0  # z of the world is up


def test_rows_of_the_result_and_rates(part) -> None:
    result = runs(part)["four_bar"]
    assert len(ReadBack(result.glb(part / "a.glb", fps=None)).times()) == len(np.unique(result.t.astype("<f4")))
    assert len(ReadBack(result.glb(part / "b.glb", fps=10)).times()) == 11
    one = result[0.0:0.0]
    validated(one.glb(part / "c.glb"))
    backward = lw.simulate(example("four_bar"), t_start=1.0, t_end=0.0)
    validated(backward.glb(part / "d.glb"))
    for fps in (0, -1, np.nan, 1e9):
        with pytest.raises(MechanismError, match="fps"):
            result.glb(part / "e.glb", fps=fps)
    with pytest.raises(MechanismError, match=r"binary glTF is a \.glb file"):
        result.glb(part / "e.gltf")
    with pytest.raises(TypeError, match="glb has no argument 'frames'"):
        result.glb(part / "e.glb", frames=3)
    with pytest.raises(LinkworkError, match="no rows"):
        lw.simulate(example("four_bar"), t_end=0.1, t_eval=[]).glb(part / "e.glb")
    assert not list(part.glob("e.*"))


def test_rows_at_an_event_are_one(part) -> None:
    mech = lw.Mechanism("bounce")
    mech.add_body("block", mass=1.0, com=(0, 0, 0), inertia=lw.inertia.box(1.0, (0.1, 0.1, 0.1)))
    mech.add_joint("S", lw.Prismatic((0, 0, 1)), "ground", "block", at=(0, 0, 0))
    mech.add_transition("floor", lw.Stop("S", lower=-0.5, restitution=0.7))
    result = lw.simulate(mech, t_end=1.0)
    assert (np.diff(result.t) == 0.0).any()
    read = ReadBack(result.glb(part / "run.glb", fps=None))
    assert (np.diff(read.times()) > 0.0).all()
    validated(part / "run.glb")


def test_hostile_names(part) -> None:
    mech = lw.Mechanism("<b> & {x} %s")
    for k, name in enumerate(HOSTILE):
        try:
            mech.add_body(name, mass=1.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(1.0, 1.0))
        except MechanismError:
            continue  # such a name is refused anyhow
        mech.add_joint(f"<i>{k}", lw.Revolute((0, 1, 0)), "ground", name, at=(0, 0, k))
    assert mech.bodies
    path = lw.simulate(mech, t_end=0.5).glb(part / "run.glb")
    validated(path)
    assert set(mech.bodies) <= set(ReadBack(path).names)


def test_meshes_that_are_left_out_are_told(tmp_path) -> None:
    mech = shaped()
    mech.folder = tmp_path
    path = lw.simulate(mech, t_end=0.1).glb(tmp_path / "run.glb")
    validated(path)
    assert ReadBack(path).file.asset.extras["warnings"] == ["mesh 'part.stl' is not shown: there is no such file"]


@pytest.mark.parametrize(
    ("surface", "volume"),
    [
        (box((1, 2, 3)), 6.0),
        (cylinder(0.5, 2.0), np.pi / 2),
        (sphere(1.0), 4 / 3 * np.pi),
        (capsule(0.5, 1.0), np.pi * (0.25 + 0.5 / 3)),
        (surface_of(TriangleMesh(*map(np.asarray, (box((1, 1, 1)).vertices, box((1, 1, 1)).triangles)))), 1.0),
    ],
)
def test_surfaces_are_closed_and_normals_point_outwards(surface, volume) -> None:
    a, b, c = (surface.vertices[surface.triangles[:, k]] for k in range(3))
    found = np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6
    assert 0.9 * volume < found < 1.0001 * volume
    np.testing.assert_allclose(np.linalg.norm(surface.normals, axis=1), 1.0, rtol=1e-12)
    flat = np.cross(b - a, c - a)
    for k in range(3):
        assert (np.einsum("ij,ij->i", flat, surface.normals[surface.triangles[:, k]]) > 0.0).all()
