"""USD files: what USD Physics says, element by element, in small files written here."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from linkwork.errors import LinkworkError, MechanismError
from linkwork.formats.robot import Robot
from linkwork.mechanism import Cylindrical, Fixed, Free, Planar, Prismatic, Revolute, Spherical, Universal
from support.robot_texts import mutations

pytest.importorskip("pxr")

from linkwork.formats import usd

MASS = "float physics:mass = 1\npoint3f physics:centerOfMass = (0, 0, 0)\nfloat3 physics:diagonalInertia = (1, 1, 1)\n"


def body(name: str, inner: str = "", at: tuple[float, ...] = (0, 0, 0), mass: str = MASS, kind: str = "Xform") -> str:
    return (
        f'def {kind} "{name}" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"])\n{{\n{mass}'
        f'double3 xformOp:translate = {at}\nuniform token[] xformOpOrder = ["xformOp:translate"]\n{inner}\n}}\n'
    )


def joint(name: str, kind: str, body0: str, body1: str, inner: str = "", schemas: str = "") -> str:
    ends = "".join(f"rel physics:body{i} = </W/{end}>\n" for i, end in enumerate((body0, body1)) if end)
    head = f" (prepend apiSchemas = [{schemas}])" if schemas else ""
    return f'def {kind} "{name}"{head}\n{{\n{ends}{inner}\n}}\n'


def read(tmp_path: Path, inner: str, head: str = "metersPerUnit = 1") -> Robot:
    path = tmp_path / "robot.usda"
    path.write_text(f'#usda 1.0\n({head}\ndefaultPrim = "W")\ndef Xform "W"\n{{\n{inner}}}\n')
    return usd.read(path)


def one(tmp_path: Path, kind: str, inner: str = "", schemas: str = "", head: str = "metersPerUnit = 1") -> Robot:
    return read(tmp_path, body("a") + body("b") + joint("j", kind, "a", "b", inner, schemas), head)


def locks(free: set[str]) -> tuple[str, str]:
    locked = [name for name in ("transX", "transY", "transZ", "rotX", "rotY", "rotZ") if name not in free]
    lines = [f"float limit:{name}:physics:low = 1\nfloat limit:{name}:physics:high = -1" for name in locked]
    return "\n".join(lines), ", ".join(f'"PhysicsLimitAPI:{name}"' for name in locked)


class TestBodies:
    def test_units_and_principal_axes(self, tmp_path: Path) -> None:
        mass = (
            "float physics:mass = 2\npoint3f physics:centerOfMass = (10, 20, 30)\n"
            "float3 physics:diagonalInertia = (3, 4, 5)\nquatf physics:principalAxes = (0.5, 0.5, 0.5, 0.5)\n"
        )
        robot = read(tmp_path, body("a", mass=mass, at=(100, 0, 0)), "metersPerUnit = 0.01\nkilogramsPerUnit = 0.001")
        link = robot.links["a"]
        turned = Rotation.from_quat([0.5, 0.5, 0.5, 0.5]).as_matrix()
        assert link.mass == 2e-3
        assert np.allclose(link.com, [0.1, 0.2, 0.3])
        assert np.allclose(link.inertia, turned @ np.diag([3, 4, 5]) @ turned.T * 1e-7)
        assert link.pose is not None
        assert np.allclose(link.pose.position, [1, 0, 0])

    @pytest.mark.parametrize(
        ("shape", "volume", "moments"),
        [
            ('Cube "s" {double size = 2\n}', 8.0, [2 / 3] * 3),
            ('Sphere "s" {double radius = 0.5\n}', math.pi / 6, [0.1] * 3),
            (
                'Cylinder "s" {double radius = 0.5\ndouble height = 2\nuniform token axis = "X"\n}',
                math.pi / 2,
                [0.125, 0.0625 + 1 / 3, 0.0625 + 1 / 3],
            ),
        ],
    )
    def test_masses_from_shapes(self, tmp_path: Path, shape: str, volume: float, moments: list[float]) -> None:
        kind, rest = shape.split(" {")
        inner = f'def {kind} (prepend apiSchemas = ["PhysicsCollisionAPI"])\n{{\n{rest}'
        link = read(tmp_path, body("a", inner, mass="float physics:density = 50\n")).links["a"]
        assert link.mass == pytest.approx(50 * volume)
        assert np.allclose(link.inertia, np.diag(moments) * link.mass)

    @pytest.mark.parametrize("axis", ["X", "Y", "Z"])
    @pytest.mark.parametrize("kind", ["Capsule", "Cone"])
    def test_round_shapes_against_sums_over_points(self, tmp_path: Path, kind: str, axis: str) -> None:
        sizes = f'double radius = 0.5\ndouble height = 2\nuniform token axis = "{axis}"'
        shape = f'def {kind} "s" (prepend apiSchemas = ["PhysicsCollisionAPI"])\n{{\n{sizes}\n}}'
        link = read(tmp_path, body("a", shape, mass="float physics:density = 1\n")).links["a"]
        grid = (np.arange(120) + 0.5) / 120 * 3 - 1.5
        x, y, z = (part.ravel() for part in np.meshgrid(grid, grid, grid))
        if kind == "Cone":
            inside = (abs(z) < 1) & (np.hypot(x, y) < 0.25 * (1 - z))  # its tip is at +1
        else:
            inside = np.hypot(np.hypot(x, y), np.maximum(abs(z) - 1, 0)) < 0.5
        points = np.column_stack([x, y, z])[inside]
        points = points[:, {"X": [2, 0, 1], "Y": [1, 2, 0], "Z": [0, 1, 2]}[axis]]
        cell = (3 / 120) ** 3
        away = points - points.mean(axis=0)
        inertia = (np.eye(3) * (away**2).sum() - away.T @ away) * cell
        assert link.mass == pytest.approx(len(points) * cell, rel=5e-3)
        assert np.allclose(link.com, points.mean(axis=0), atol=2e-3)
        assert np.allclose(link.inertia, inertia, rtol=1e-2, atol=1e-3)

    def test_meshes_are_not_opened(self, tmp_path: Path) -> None:
        mesh = 'def Mesh "skin" (prepend apiSchemas = ["PhysicsCollisionAPI"])\n{\n}'
        with pytest.raises(MechanismError, match="'skin', which is not opened: state mass"):
            read(tmp_path, body("a", mesh, mass="float physics:mass = 1\n"))

    def test_nested_bodies_are_bodies_of_their_own(self, tmp_path: Path) -> None:
        robot = read(tmp_path, body("a", body("b", at=(0, 1, 0)), at=(1, 0, 0)))
        assert list(robot.links) == ["a", "b"]
        assert robot.links["b"].pose is not None
        assert np.allclose(robot.links["b"].pose.position, [1, 1, 0])

    def test_disabled_bodies_are_part_of_what_holds_them(self, tmp_path: Path) -> None:
        off = body("b", "bool physics:rigidBodyEnabled = 0", (0, 0, 2))
        robot = read(tmp_path, body("a") + off + joint("j", "PhysicsRevoluteJoint", "b", "a"))
        assert list(robot.links) == ["a"]
        assert robot.joints["j"].parent is None
        assert np.allclose(robot.joints["j"].parent_frame.position, [0, 0, 2])

    def test_kinematic_bodies_are_held(self, tmp_path: Path) -> None:
        robot = read(tmp_path, body("a", "bool physics:kinematicEnabled = 1", (0, 0, 2)))
        assert isinstance(robot.joints["a_kinematic"].kind, Fixed)

    @pytest.mark.parametrize(
        ("scale", "text"),
        [("(2, 2, 2)", None), ("(1, 2, 3)", None), ("(-1, 1, 1)", "mirrored"), ("(0, 1, 1)", "scaled to zero")],
    )
    def test_scales_apply_to_positions(self, tmp_path: Path, scale: str, text: str | None) -> None:
        inner = (
            f'def Xform "big" {{\ndouble3 xformOp:scale = {scale}\nuniform token[] xformOpOrder = ["xformOp:scale"]\n'
            + body("b")
        )
        inner += (
            "}\n" + body("a") + joint("j", "PhysicsFixedJoint", "a", "big/b", "point3f physics:localPos1 = (1, 1, 1)")
        )
        if text:
            with pytest.raises(MechanismError, match=text):
                read(tmp_path, inner)
        else:
            assert np.allclose(read(tmp_path, inner).joints["j"].child_frame.position, eval(scale))


class TestGravity:
    def test_default_is_against_the_up_axis(self, tmp_path: Path) -> None:
        robot = read(tmp_path, body("a"), 'metersPerUnit = 0.01\nupAxis = "Y"')
        assert robot.gravity is not None
        assert robot.gravity.tolist() == [0, -9.81, 0]

    def test_stated_gravity(self, tmp_path: Path) -> None:
        gravity = "vector3f physics:gravityDirection = (0, 3, 4)\nfloat physics:gravityMagnitude = 500"
        scene = f'def PhysicsScene "s" {{\n{gravity}\n}}\n'
        robot = read(tmp_path, scene + body("a"), 'metersPerUnit = 0.01\nupAxis = "Z"')
        assert robot.gravity is not None
        assert np.allclose(robot.gravity, [0, 3, 4])


class TestJoints:
    @pytest.mark.parametrize(
        ("kind", "expected"),
        [
            ("PhysicsRevoluteJoint", Revolute((0, 1, 0))),
            ("PhysicsPrismaticJoint", Prismatic((0, 1, 0))),
            ("PhysicsSphericalJoint", Spherical()),
            ("PhysicsFixedJoint", Fixed()),
        ],
    )
    def test_kinds(self, tmp_path: Path, kind: str, expected: object) -> None:
        axis = "" if "Fixed" in kind else 'uniform token physics:axis = "Y"'
        assert one(tmp_path, kind, axis).joints["j"].kind == expected

    @pytest.mark.parametrize(
        ("free", "expected"),
        [
            (set(), [Fixed()]),
            ({"rotY"}, [Revolute((0, 1, 0))]),
            ({"rotX", "rotY"}, [Universal((1, 0, 0), (0, 1, 0))]),
            ({"rotX", "rotY", "rotZ"}, [Spherical()]),
            ({"transZ", "rotZ"}, [Cylindrical((0, 0, 1))]),
            ({"transX", "transY", "rotZ"}, [Planar((0, 0, 1))]),
            ({"transX", "transZ", "rotY"}, [Prismatic((1, 0, 0)), Prismatic((0, 0, 1)), Revolute((0, 1, 0))]),
            ({"transX", "rotY"}, [Prismatic((1, 0, 0)), Revolute((0, 1, 0))]),
            ({"transX", "transY", "transZ", "rotX", "rotY", "rotZ"}, [Free()]),
        ],
    )
    def test_generic_joints(self, tmp_path: Path, free: set[str], expected: list[object]) -> None:
        robot = one(tmp_path, "PhysicsJoint", *locks(free))
        assert [found.kind for found in robot.joints.values()] == expected
        ends = [(found.parent, found.child) for found in robot.joints.values()]
        assert ends[0][0] == "a"
        assert ends[-1][1] == "b"
        assert all(before[1] == after[0] for before, after in pairwise(ends))

    def test_limits_are_in_degrees(self, tmp_path: Path) -> None:
        inner = "float physics:lowerLimit = -90\nfloat physics:upperLimit = 45"
        robot = one(tmp_path, "PhysicsRevoluteJoint", inner)
        assert robot.joints["j"].limits == (pytest.approx((-math.pi / 2, math.pi / 4)),)
        robot = one(tmp_path, "PhysicsPrismaticJoint", inner, head="metersPerUnit = 0.01")
        assert robot.joints["j"].limits == (pytest.approx((-0.9, 0.45)),)

    def test_start_values_are_those_of_the_stage(self, tmp_path: Path) -> None:
        turned = (
            'def Xform "t" {\ndouble xformOp:rotateZ = 30\nuniform token[] xformOpOrder = ["xformOp:rotateZ"]\n'
            + body("b")
            + "}\n"
        )
        axis = 'uniform token physics:axis = "Z"\n'
        robot = read(tmp_path, body("a") + turned + joint("j", "PhysicsRevoluteJoint", "a", "t/b", axis))
        assert robot.joints["j"].start == pytest.approx([math.pi / 6])
        state = axis + "float state:angular:physics:position = 60"
        robot = read(tmp_path, body("a") + turned + joint("j", "PhysicsRevoluteJoint", "a", "t/b", state))
        assert robot.joints["j"].start == pytest.approx([math.pi / 3])

    def test_joints_that_are_open_in_the_stage_are_reported(self, tmp_path: Path) -> None:
        robot = one(tmp_path, "PhysicsRevoluteJoint", "point3f physics:localPos0 = (1, 0, 0)")
        assert robot.joints["j"].start is None
        assert "open by 1 m" in robot.report.of("approximated")[0].text

    def test_bodies_that_are_not_given_are_the_world(self, tmp_path: Path) -> None:
        robot = read(tmp_path, body("a") + joint("j", "PhysicsFixedJoint", "", "a"))
        assert (robot.joints["j"].parent, robot.joints["j"].child) == (None, "a")
        assert robot.base == "free"

    def test_excluded_joints_close_loops(self, tmp_path: Path) -> None:
        assert (
            one(tmp_path, "PhysicsRevoluteJoint", "uniform bool physics:excludeFromArticulation = 1").joints["j"].closes
        )

    def test_disabled_joints_are_reported(self, tmp_path: Path) -> None:
        robot = one(tmp_path, "PhysicsRevoluteJoint", "bool physics:jointEnabled = 0")
        assert not robot.joints
        assert "jointEnabled is false" in str(robot.report)

    def test_distances(self, tmp_path: Path) -> None:
        inner = "float physics:minDistance = 2\nfloat physics:maxDistance = 2\npoint3f physics:localPos1 = (2, 0, 0)"
        (rod,) = one(tmp_path, "PhysicsDistanceJoint", inner).rods
        assert (rod.rigid, rod.free, rod.links) == (True, 2.0, ("a", "b"))
        robot = one(tmp_path, "PhysicsDistanceJoint", inner.replace("= 2\n", "= 1\n", 1))
        assert not robot.rods
        assert "only equal ones make a rod" in str(robot.report)

    def test_armature_and_dampers(self, tmp_path: Path) -> None:
        inner = "float physxJoint:armature = 3\nfloat newton:damping = 2\nfloat newton:friction = 1"
        inner += "\nfloat physxJoint:jointFriction = 0.4"
        robot = one(tmp_path, "PhysicsRevoluteJoint", inner, head="metersPerUnit = 0.1")
        found = robot.joints["j"]
        assert found.reflected_inertia == pytest.approx((0.03,))
        assert found.damping == pytest.approx((0.02 * 180 / math.pi,))
        assert found.friction == pytest.approx((0.01,))
        (left,) = (entry for entry in robot.report if entry.element.endswith("physxJoint:jointFriction"))
        assert "not a load" in left.text
        (slide,) = one(
            tmp_path, "PhysicsPrismaticJoint", "float mjc:frictionloss = 3", head="metersPerUnit = 0.1"
        ).joints.values()
        assert slide.friction == pytest.approx((0.3,))


class TestDrivesAndMimics:
    DRIVE = (
        "float drive:angular:physics:stiffness = 5\nfloat drive:angular:physics:damping = 0.5\n"
        "float drive:angular:physics:targetPosition = 90\nfloat drive:angular:physics:targetVelocity = 18\n"
        "float drive:angular:physics:maxForce = 7"
    )

    def test_drives_are_per_degree(self, tmp_path: Path) -> None:
        (drive,) = one(tmp_path, "PhysicsRevoluteJoint", self.DRIVE, '"PhysicsDriveAPI:angular"').actuators
        assert drive.stiffness == drive.gain == pytest.approx(5 * 180 / math.pi)
        assert drive.damping == pytest.approx(0.5 * 180 / math.pi)
        assert drive.offset == pytest.approx(5 * 90 + 0.5 * 18)
        assert drive.force_range == (-7.0, 7.0)

    def test_linear_drives_in_other_units(self, tmp_path: Path) -> None:
        inner = self.DRIVE.replace("angular", "linear")
        (drive,) = one(
            tmp_path,
            "PhysicsPrismaticJoint",
            inner,
            '"PhysicsDriveAPI:linear"',
            "metersPerUnit = 0.01\nkilogramsPerUnit = 2",
        ).actuators
        assert drive.stiffness == pytest.approx(5 * 2)  # kg/s^2 has no length in it
        assert drive.offset == pytest.approx((5 * 90 + 0.5 * 18) * 2 * 0.01)
        assert drive.force_range == pytest.approx((-0.14, 0.14))

    def test_drives_of_the_acceleration_are_reported(self, tmp_path: Path) -> None:
        inner = self.DRIVE + '\nuniform token drive:angular:physics:type = "acceleration"'
        robot = one(tmp_path, "PhysicsRevoluteJoint", inner, '"PhysicsDriveAPI:angular"')
        assert not robot.actuators
        assert "controls the acceleration" in str(robot.report)

    def mimic(self, tmp_path: Path, inner: str, schema: str) -> Robot:
        joints = joint("lead", "PhysicsRevoluteJoint", "a", "b") + joint(
            "follow", "PhysicsRevoluteJoint", "b", "c", inner, schema
        )
        return read(tmp_path, body("a") + body("b") + body("c") + joints)

    def test_newton_mimic(self, tmp_path: Path) -> None:
        inner = "rel newton:mimicJoint = </W/lead>\nfloat newton:mimicCoef0 = 18\nfloat newton:mimicCoef1 = 3"
        (found,) = self.mimic(tmp_path, inner, '"NewtonMimicAPI"').couplings
        assert found.terms == {("follow", 0): (1.0,), ("lead", 0): (-3.0,)}
        assert found.offset == pytest.approx(math.pi / 10)

    def test_physx_mimic(self, tmp_path: Path) -> None:
        """Position plus gearing times that of the reference, plus offset, is zero."""
        inner = (
            "rel physxMimicJoint:rotX:referenceJoint = </W/lead>\nfloat physxMimicJoint:rotX:gearing = 3\n"
            "float physxMimicJoint:rotX:offset = 18"
        )
        (found,) = self.mimic(tmp_path, inner, '"PhysxMimicJointAPI:rotX"').couplings
        assert found.terms == {("follow", 0): (1.0,), ("lead", 0): (3.0,)}
        assert found.offset == pytest.approx(-math.pi / 10)


class TestFiles:
    @pytest.mark.parametrize(
        "layer",
        ["../secret.usda", "/etc/passwd", "http://x/y.usda", "file:///etc/passwd", "x.usdz[a.usda]", "link.usda"],
    )
    @pytest.mark.parametrize("arc", ["references", "payload", "subLayers", "variant"])
    def test_files_outside_the_folder_are_not_opened(self, tmp_path: Path, layer: str, arc: str) -> None:
        inside = tmp_path / "inside"
        inside.mkdir()
        (tmp_path / "secret.usda").write_text('#usda 1.0\ndef Xform "S" {\n}')
        (inside / "link.usda").symlink_to(tmp_path / "secret.usda")
        prim = f'def Xform "x" (prepend {arc} = @{layer}@</S>) {{\n}}\n'
        if arc == "variant":
            inner = f'"m" {{\ndef "z" (references = @{layer}@</S>) {{\n}}\n}}'
            head = 'variants = {string k = "n"}\nprepend variantSets = "k"'
            prim = f'def Xform "x" ({head}) {{\nvariantSet "k" = {{\n{inner}\n}}\n}}\n'
        head = f"metersPerUnit = 1\nsubLayers = [@{layer}@]" if arc == "subLayers" else "metersPerUnit = 1"
        with pytest.raises(MechanismError, match=r"lies outside|is not opened"):
            read(inside, body("a") + ("" if arc == "subLayers" else prim), head)

    def test_files_of_the_folder_are_composed(self, tmp_path: Path) -> None:
        (tmp_path / "parts").mkdir()
        (tmp_path / "parts" / "arm.usda").write_text(
            f'#usda 1.0\n(defaultPrim = "A")\ndef Xform "A" {{\n{body("b")}}}\n'
        )
        robot = read(tmp_path, body("a") + 'def "arm" (prepend references = @parts/arm.usda@) {\n}\n')
        assert list(robot.links) == ["a", "b"]

    def test_missing_files_are_reported(self, tmp_path: Path) -> None:
        robot = read(tmp_path, body("a") + 'def "arm" (prepend references = @./none.usd@) {\n}\n')
        assert "there is no such file" in robot.report.of("left out")[0].text

    def test_references_that_multiply_are_refused(self, tmp_path: Path) -> None:
        levels = "".join(
            f'def "p{i}" {{\n' + "".join(f'def "c{k}" (references = </p{i + 1}>) {{\n}}\n' for k in "ab") + "}\n"
            for i in range(40)
        )
        path = tmp_path / "robot.usda"
        path.write_text(f'#usda 1.0\n{levels}def "p40" {{\n}}\n')
        with pytest.raises(MechanismError, match="references, which no robot needs"):
            usd.read(path)

    def test_deep_nesting_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(MechanismError, match="nested in more than"):
            read(tmp_path, 'def "x" {\n' * 5000 + "}\n" * 5000)

    def test_no_usd(self, tmp_path: Path) -> None:
        path = tmp_path / "robot.usda"
        path.write_text("#usda 1.0\ndef {")
        with pytest.raises(MechanismError, match="no USD file"):
            usd.read(path)
        with pytest.raises(OSError, match=r"none\.usda"):
            usd.read(tmp_path / "none.usda")
        with pytest.raises(MechanismError, match="unpack it"):
            usd.read(tmp_path / "robot.usdz")

    def test_everything_else_is_reported(self, tmp_path: Path) -> None:
        light = 'def SphereLight "l" {\n}\n'
        robot = read(tmp_path, light + body("a", "float physxRigidBody:linearDamping = 1\ncustom int n = 2"))
        left = {entry.element for entry in robot.report.of("left out")}
        assert left == {"SphereLight 'l'", "body 'a' > physxRigidBody:linearDamping", "body 'a' > n"}


@pytest.mark.parametrize(
    ("inner", "text"),
    [
        (joint("j", "PhysicsRevoluteJoint", "a", "none"), "there is no such prim"),
        (joint("j", "PhysicsRevoluteJoint", "", "a", 'uniform token physics:axis = "U"'), "must be X, Y or Z"),
        (
            joint("j", "PhysicsRevoluteJoint", "", "a", "point3f physics:localPos0 = (0, nan, 0)"),
            "three finite numbers",
        ),
        (joint("j", "PhysicsRevoluteJoint", "", "a", "float physics:lowerLimit = nan"), "must be a number, not nan"),
        (joint("j", "PhysicsRevoluteJoint", "", "a", "rel newton:mimicJoint = </W/j>"), "follows itself"),
        (joint("j", "PhysicsSphericalJoint", "", "a", "rel newton:mimicJoint = </W/a>"), "joints of one coordinate"),
        (joint("j", "PhysicsRevoluteJoint", "", "a", "float newton:armature = -1"), "not negative"),
        (body("c", mass="float physics:mass = -1\n"), "must not be negative"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, inner: str, text: str) -> None:
    with pytest.raises(MechanismError, match=text) as caught:
        read(tmp_path, body("a") + inner)
    assert "robot.usda: prim /W/" in str(caught.value)


def test_broken_files_raise_nothing_else(tmp_path: Path) -> None:
    sample = (
        '#usda 1.0\n(metersPerUnit = 1\ndefaultPrim = "W")\ndef Xform "W"\n{\n'
        + body("a")
        + body("b", 'def Cube "s" (prepend apiSchemas = ["PhysicsCollisionAPI"])\n{\ndouble size = 1\n}', mass="")
        + joint("j", "PhysicsRevoluteJoint", "a", "b", TestDrivesAndMimics.DRIVE, '"PhysicsDriveAPI:angular"')
        + joint("k", "PhysicsJoint", "a", "b", *locks({"transX", "rotY"}))
        + joint("l", "PhysicsRevoluteJoint", "", "b", "rel newton:mimicJoint = </W/j>\nfloat newton:mimicCoef1 = 3")
        + "}\n"
    )
    path = tmp_path / "robot.usda"
    path.write_text(sample)
    assert len(usd.read(path).joints) == 4
    refused, read_anyway = 0, 0
    for i, text in enumerate(mutations(sample, 400, seed=6)):
        path = tmp_path / f"robot{i}.usda"
        path.write_text(text)
        try:
            usd.read(path)
            read_anyway += 1
        except LinkworkError:
            refused += 1
        path.unlink()
    assert refused > 10
    assert read_anyway > 10
