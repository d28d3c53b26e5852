"""Shapes of robots: read from each format, composed on merged links, written and read again."""

from pathlib import Path

import numpy as np
import pytest
import trimesh

import linkwork as lw
from linkwork.view.meshes import ShapeTable

URDF = """<robot name="r"><material name="blue"><color rgba="0 0 1 1"/><texture filename="t.png"/></material>
<link name="base"><visual><geometry><box size="1 2 3"/></geometry></visual></link>
<link name="arm">
  <inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
  <visual><origin xyz="0.5 0 0" rpy="0 1.5707963267948966 0"/><geometry><cylinder radius="0.1" length="1"/></geometry>
    <material name="blue"/></visual>
  <visual><geometry><sphere radius="0.2"/></geometry>
    <material name="own"><color rgba="1 0 0 0.5"/><texture filename="t.png"/></material></visual>
  <visual><geometry><mesh filename="package://robot/meshes/part.stl" scale="0.001 0.001 0.001"/></geometry></visual>
  <visual><geometry><mesh filename="missing.stl"/></geometry></visual>
  <visual><geometry><mesh filename="../../secret.stl"/></geometry></visual>
  <visual><geometry><mesh filename="http://host/part.stl"/></geometry></visual>
  <visual><geometry><sphere radius="-1"/></geometry></visual>
  <visual><geometry><sphere radius="x"/></geometry></visual>
  <visual><geometry><torus/></geometry></visual>
  <visual/>
  <visual><geometry><sphere radius="1"/></geometry><material name="n"><color rgba="0 0 0 0"/></material></visual>
</link>
<link name="flange"><visual><origin xyz="0 0 0.1"/>
  <geometry><drake:capsule radius="0.1" length="0.2"/></geometry></visual></link>
<joint name="A" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/></joint>
<joint name="B" type="fixed"><origin xyz="1 0 0" rpy="0 0 1.5707963267948966"/><parent link="arm"/>
  <child link="flange"/></joint></robot>"""


@pytest.fixture
def robot(tmp_path) -> Path:
    """A package with its URDF in one folder and its mesh in another."""
    package = tmp_path / "robot"
    for name in ("urdf", "meshes"):
        (package / name).mkdir(parents=True)
    (package / "package.xml").write_text("<package/>")
    trimesh.creation.box(extents=(100, 200, 300)).export(package / "meshes" / "part.stl")
    trimesh.creation.box().export(tmp_path / "secret.stl")
    text = URDF.replace('name="r"', 'name="r" xmlns:drake="http://drake.mit.edu"')
    (package / "urdf" / "r.urdf").write_text(text)
    return package


def test_visuals_of_a_urdf(robot) -> None:
    mech = lw.load(robot / "urdf" / "r.urdf")
    assert [one.type_name for one in mech.shapes["ground"]] == ["box"]
    cylinder, sphere, mesh, capsule = mech.shapes["arm"]
    np.testing.assert_allclose(cylinder.frame.apply((0, 0, 0.5)), (1, 0, 0), atol=1e-12)
    assert (cylinder.colour, sphere.colour, capsule.colour) == ("#0000ff", "#ff0000", None)
    assert (mesh.path, mesh.scale) == ("../meshes/part.stl", (0.001, 0.001, 0.001))
    np.testing.assert_allclose(capsule.frame.position, (1, 0, 0.1), atol=1e-12)
    np.testing.assert_allclose(capsule.frame.rotation[:, 0], (0, 1, 0), atol=1e-12)
    table = ShapeTable(mech)
    assert not table.warnings
    np.testing.assert_allclose(np.ptp(table.meshes[0].vertices, axis=0), (0.1, 0.2, 0.3), rtol=1e-6)
    taken = [one.text for one in mech.report.of("taken") if "visual" in one.element]
    assert taken == ["box", "cylinder", "sphere", "mesh", "capsule"]
    left = [(one.element, one.text) for one in mech.report.of("left out") if "visual" in one.element]
    textures = [one.element for one in mech.report.of("left out") if one.text == "textures are not shown, only colours"]
    assert textures == ["link 'arm' > visual > texture", "material 'blue' > texture"]
    reasons = ["textures", "no such file", "outside of the folder", "network", "positive"]
    reasons += ["finite number", "'torus' is not shown", "'geometry' is missing", "transparent"]
    assert len(left) == len(reasons)
    for (_, text), reason in zip(left, reasons, strict=True):
        assert reason in text


def test_shapes_do_not_depend_on_merging(robot) -> None:
    whole, merged = (lw.load(robot / "urdf" / "r.urdf", merge_fixed=merge) for merge in (False, True))
    assert [one.type_name for one in whole.shapes["flange"]] == ["capsule"]
    model, other = lw.compile(whole), lw.compile(merged)
    states = [one.assemble(q={"A": 0.7}) for one in (model, other)]
    r, Q = model.pose(states[0], "flange")
    frame = lw.Frame(r, Q) @ whole.shapes["flange"][0].frame
    r, Q = other.pose(states[1], "arm")
    np.testing.assert_allclose((lw.Frame(r, Q) @ merged.shapes["arm"][-1].frame).position, frame.position, atol=1e-12)


@pytest.mark.parametrize("suffix", [".urdf", ".xml", ".json"])
def test_shapes_are_written_and_read_again(robot, tmp_path, suffix) -> None:
    pytest.importorskip("mujoco" if suffix == ".xml" else "json")
    first = lw.load(robot / "urdf" / "r.urdf")
    path = robot / "urdf" / f"again{suffix}"
    report = lw.save(first, path)
    assert suffix == ".json" or len([one for one in report.of("taken") if "> shape" in one.element]) == 5
    again = lw.load(path)
    both = list(first.shapes.items()) if suffix != ".xml" else [("arm", first.shapes["arm"])]
    for body, shapes in both:
        found = {one.type_name: one for one in again.shapes[body]}
        for shape in shapes:
            if shape.type_name == "mesh" and suffix == ".xml":
                continue  # MuJoCo's reader opens no file outside of the folder of the model
            other = found[shape.type_name]
            assert type(other) is type(shape)
            assert other.colour == shape.colour
            np.testing.assert_allclose(other.frame.position, shape.frame.position, atol=1e-12)
            np.testing.assert_allclose(other.frame.rotation, shape.frame.rotation, atol=1e-12)
            own = [value for name, value in shape.given.items() if name not in ("frame", "colour", "path")]
            assert np.allclose(
                np.hstack(own), np.hstack([v for n, v in other.given.items() if n not in ("frame", "colour", "path")])
            )


SDF = """<sdf version="1.9"><model name="m"><link name="a"><pose>0 0 1 0 0 0</pose>
<visual name="v"><pose>0.1 0 0 0 0 0</pose><geometry><box><size>1 2 3</size></box></geometry>
  <material><diffuse>0 1 0</diffuse><script><name>Gazebo/Red</name></script></material></visual>
<visual name="c"><geometry><capsule><radius>0.1</radius><length>0.3</length></capsule></geometry></visual>
<visual name="m"><geometry><mesh><uri>part.stl</uri><scale>1 1 2</scale></mesh></geometry></visual>
<visual name="p"><geometry><plane><normal>0 0 1</normal></plane></geometry></visual>
<visual name="t"><transparency>1</transparency><geometry><box><size>1 2 3</size></box></geometry></visual>
</link></model></sdf>"""


def test_visuals_of_an_sdf(tmp_path) -> None:
    trimesh.creation.box().export(tmp_path / "part.stl")
    (tmp_path / "m.sdf").write_text(SDF)
    mech = lw.load(tmp_path / "m.sdf")
    box, capsule, mesh = mech.shapes["a"]
    assert (box.size, box.colour, box.frame) == ((1, 2, 3), "#00ff00", lw.Frame((0.1, 0, 0)))
    assert (capsule.radius, capsule.length) == (0.1, 0.3)
    assert (mesh.path, mesh.scale) == ("part.stl", (1, 1, 2))
    left = {one.element: one.text for one in mech.report.of("left out")}
    assert left["link 'a' > visual > material > script"] == "textures are not shown, only colours"
    assert left["link 'a' > visual"] == "it is transparent"
    static = SDF.replace('<model name="m">', '<model name="m"><static>true</static>')
    (tmp_path / "s.sdf").write_text(static.replace("</model>", "</model><model name='n'><link name='b'/></model>"))


MJCF = """<mujoco><compiler meshdir="meshes"/>
<asset><mesh name="m" file="part.stl" scale="0.001 0.001 0.001"/><material name="red" rgba="1 0 0 1"/></asset>
<worldbody><geom type="plane" size="1 1 1"/><geom type="sphere" size="0.1" pos="0 0 1" rgba="0 0 1 1"/>
<body name="b" pos="1 0 0"><joint axis="0 1 0"/>{inertial}
  <geom type="box" size="0.1 0.2 0.3" material="red" contype="0" conaffinity="0"/>
  <geom type="capsule" fromto="0 0 0 1 0 0" size="0.05" contype="0" conaffinity="0"/>
  <geom name="part" type="mesh" mesh="m" pos="0.3 0 0" quat="0.6 0.8 0 0"/>
  <geom type="box" size="1 1 1" group="3" mass="0"/>
  <geom type="ellipsoid" size="0.1 0.2 0.3"/>
</body></worldbody></mujoco>"""


@pytest.mark.parametrize("stated", [True, False])
def test_geoms_of_an_mjcf(tmp_path, stated) -> None:
    pytest.importorskip("mujoco")
    (tmp_path / "meshes").mkdir()
    part = trimesh.creation.box(extents=(100, 200, 300))
    part.apply_translation((50, 20, 10))  # away from its centre of mass, which MuJoCo makes its origin
    part.export(tmp_path / "meshes" / "part.stl")
    inertial = '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>' if stated else ""
    (tmp_path / "m.xml").write_text(MJCF.format(inertial=inertial))
    mech = lw.load(tmp_path / "m.xml")
    assert [(one.type_name, one.colour) for one in mech.shapes["ground"]] == [("sphere", "#0000ff")]
    box, capsule, mesh = mech.shapes["b"]
    assert (box.size, box.colour) == ((0.2, 0.4, 0.6), "#ff0000")
    assert (capsule.radius, capsule.length) == (0.05, pytest.approx(1.0))
    np.testing.assert_allclose(np.abs(capsule.frame.rotation[:, 2]), (1, 0, 0), atol=1e-12)
    assert mesh.path == "meshes/part.stl"
    np.testing.assert_allclose(mesh.frame.position, (0.3, 0, 0), atol=1e-9)
    np.testing.assert_allclose(mesh.frame.rotation, lw.Frame((0, 0, 0), (0.6, 0.8, 0, 0)).rotation, atol=1e-7)
    left = {one.element: one.text for one in mech.report.of("left out")}
    assert "'plane' is not shown" in left["world > geom"]
    assert "'ellipsoid' is not shown" in left["body 'b' > geom"]
    assert "pass through each other" in left["geom 'part' > contact"]


USD = """#usda 1.0
(
    metersPerUnit = 0.01
    upAxis = "Z"
)
def Xform "arm" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"])
{
    float physics:mass = 1
    float3 physics:diagonalInertia = (1, 1, 1)
    point3f physics:centerOfMass = (0, 0, 0)
    double3 xformOp:translate = (100, 0, 0)
    uniform token[] xformOpOrder = ["xformOp:translate"]
    def Cube "cube" {
        double size = 2
        color3f[] primvars:displayColor = [(1, 0.5, 0)]
        double3 xformOp:translate = (0, 10, 0)
        float3 xformOp:scale = (1, 2, 3)
        uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:scale"]
    }
    def Cylinder "rod" {
        double radius = 5
        double height = 40
        token axis = "X"
    }
    def Sphere "hidden" {
        token visibility = "invisible"
    }
    def Cone "cone" {
    }
}
def Sphere "floor" {
    double radius = 100
}
"""


def test_primitives_of_usd(tmp_path) -> None:
    pytest.importorskip("pxr")
    (tmp_path / "m.usda").write_text(USD)
    mech = lw.load(tmp_path / "m.usda")
    cube, rod = mech.shapes["arm"]
    np.testing.assert_allclose(cube.size, (0.02, 0.04, 0.06), rtol=1e-6)
    np.testing.assert_allclose(cube.frame.position, (0, 0.1, 0), atol=1e-9)
    assert cube.colour == "#ff8000"
    assert (rod.radius, rod.length) == (pytest.approx(0.05), pytest.approx(0.4))
    np.testing.assert_allclose(rod.frame.rotation[:, 2], (1, 0, 0), atol=1e-12)
    assert [one.radius for one in mech.shapes["ground"]] == [pytest.approx(1.0)]
    left = {one.element: one.text for one in mech.report.of("left out")}
    assert left["Sphere 'hidden'"] == "it is invisible, or a guide"
    assert "'Cone' is not shown" in left["Cone 'cone'"]


def test_saved_mjcf_opens_in_mujoco_with_the_mesh(tmp_path) -> None:
    mujoco = pytest.importorskip("mujoco")
    trimesh.creation.box().export(tmp_path / "part.stl")
    mech = lw.Mechanism("m")
    mech.add_body("arm", mass=2.0, com=(0.5, 0, 0), inertia=lw.inertia.box(2.0, (1, 0.1, 0.2)))
    mech.add_joint("hinge", lw.Revolute((0, 1, 0)), "ground", "arm", at=(0, 0, 0))
    mech.folder = tmp_path
    mech.add_shape("arm", lw.shape.mesh("part.stl", scale=0.1, frame=lw.Frame((1, 0, 0))))
    mech.add_shape("arm", lw.shape.mesh("missing.stl"))
    report = lw.save(mech, tmp_path / "m.xml")
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "m.xml"))
    assert (model.ngeom, model.body_mass[1]) == (1, 2.0)
    assert "missing" in {one.element: one.text for one in report.of("left out")}["body 'arm' > shape 2"]
    assert lw.load(tmp_path / "m.xml").shapes == {"arm": [mech.shapes["arm"][0]]}
