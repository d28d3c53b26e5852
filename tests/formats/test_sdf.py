"""SDF files: what the format says, element by element, in small files written here."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from linkwork.errors import LinkworkError, MechanismError
from linkwork.formats import sdf
from linkwork.formats.robot import Robot
from linkwork.mechanism import Fixed, Frame, Prismatic, Revolute, Screw, Spherical, Universal
from support.robot_texts import mutations

INERTIA = "<inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz></inertia>"
LINK = "<link name='{}'>{}<inertial><mass>1</mass>" + INERTIA + "</inertial></link>"


def link(name: str, pose: str = "") -> str:
    return LINK.format(name, pose and f"<pose>{pose}</pose>")


def joint(name: str, kind: str, parent: str, child: str, inner: str = "<axis><xyz>0 0 1</xyz></axis>") -> str:
    return f"<joint name='{name}' type='{kind}'><parent>{parent}</parent><child>{child}</child>{inner}</joint>"


def model(inner: str, name: str = "m", attributes: str = "") -> str:
    return f"<model name='{name}' {attributes}>\n{inner}\n</model>"


def read(tmp_path: Path, inner: str, version: str = "1.9") -> Robot:
    path = tmp_path / "robot.sdf"
    path.write_text(f"<sdf version='{version}'>\n{inner}\n</sdf>")
    return sdf.read(path)


def close(frame: Frame | None, position: object, rotation: Rotation | None = None) -> bool:
    assert frame is not None
    turned = np.eye(3) if rotation is None else rotation.as_matrix()
    return bool(np.allclose(frame.position, position, atol=1e-15) and np.allclose(frame.rotation, turned, atol=1e-14))


def homogeneous(pose: str) -> np.ndarray:
    """The 4 x 4 matrix of the text of a pose."""
    numbers, matrix = np.array(pose.split(), float), np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = Rotation.from_euler("xyz", numbers[3:]).as_matrix(), numbers[:3]
    return matrix


def world_gap(robot: Robot, name: str) -> float:
    """How far the two frames of a joint are apart where all coordinates are zero."""
    one = robot.joints[name]
    frames = []
    for end, frame in ((one.parent, one.parent_frame), (one.child, one.child_frame)):
        pose = Frame() if end is None else robot.links[end].pose
        assert pose is not None
        frames.append(pose @ frame)
    gap = np.append(frames[0].position - frames[1].position, frames[0].rotation - frames[1].rotation)
    return float(abs(gap).max())


class TestPoses:
    def test_euler_angles_are_about_fixed_axes(self, tmp_path: Path) -> None:
        robot = read(tmp_path, model(link("a", "1 2 3 0.3 -0.5 0.7")))
        assert close(robot.links["a"].pose, [1, 2, 3], Rotation.from_euler("xyz", [0.3, -0.5, 0.7]))

    def test_degrees_and_quaternions(self, tmp_path: Path) -> None:
        inner = (
            "<link name='a'><pose degrees='true'>0 0 0 30 0 90</pose></link>"
            "<link name='b'><pose rotation_format='quat_xyzw'>0 0 1 0 0 3 4</pose></link>"
        )
        robot = read(tmp_path, model(inner))
        assert close(robot.links["a"].pose, [0, 0, 0], Rotation.from_euler("xyz", [30, 0, 90], degrees=True))
        assert close(robot.links["b"].pose, [0, 0, 1], Rotation.from_quat([0, 0, 0.6, 0.8]))

    def test_chain_of_frames(self, tmp_path: Path) -> None:
        inner = (
            "<pose>0 0 1 0 0 0</pose>"
            "<link name='a'><pose relative_to='f'>1 0 0 0 0 0</pose></link>"
            "<frame name='f' attached_to='g'><pose>0 1 0 0 0 0</pose></frame>"
            "<frame name='g'><pose>0 0 0 0 0 1.5707963267948966</pose></frame>"
        )
        robot = read(tmp_path, model(inner))
        assert close(robot.links["a"].pose, [-1, 1, 1], Rotation.from_euler("z", math.pi / 2))

    def test_placement_frame(self, tmp_path: Path) -> None:
        inner = link("a", "0 0 2 0 0 0") + "<frame name='top' attached_to='a'><pose>0 0 1 0 0 0</pose></frame>"
        robot = read(tmp_path, model(inner + "<pose>5 0 0 0 0 0</pose>", attributes="placement_frame='top'"))
        assert close(robot.links["a"].pose, [5, 0, -1])

    def test_nested_models(self, tmp_path: Path) -> None:
        hand = model(link("palm", "1 0 0 0 0 0") + "<pose relative_to='arm'>0 0 1 0 0 0</pose>", "hand")
        inner = link("arm", "0 3 0 0 0 0") + hand + joint("wrist", "fixed", "arm", "hand::palm", "")
        robot = read(tmp_path, model(inner))
        assert list(robot.links) == ["arm", "hand::palm"]
        assert close(robot.links["hand::palm"].pose, [1, 3, 1])
        assert close(robot.joints["wrist"].parent_frame, [1, 0, 1])

    def test_turned_placements_are_composed_from_the_outside_inwards(self, tmp_path: Path) -> None:
        """Model, placement frames, nested model, links and joint: all turned, so that no order but one is right."""
        text = {"top": "1 0 2 0.3 0.2 -0.4", "grip": "0.2 0.5 0 0.7 -0.1 0.2", "arm": "0 3 0 -0.2 0.6 0.5"}
        text |= {"palm": "1 0 0.4 0.1 -0.8 0.3", "model": "5 -1 0 0.4 0.3 0.9", "hand": "0 0.2 1 -0.5 0.2 0.7"}
        text |= {"wrist": "0.1 0.2 0.3 0.2 0.4 -0.6", "hold": "0.3 0 0.1 0.9 0.1 0.4"}
        at = {name: homogeneous(pose) for name, pose in text.items()}
        grip = f"<frame name='grip' attached_to='palm'><pose relative_to='palm'>{text['grip']}</pose></frame>"
        hand_pose = f"<pose relative_to='arm'>{text['hand']}</pose>"
        hand = model(hand_pose + link("palm", text["palm"]) + grip, "hand", "placement_frame='grip'")
        top = f"<frame name='top' attached_to='arm'><pose relative_to='arm'>{text['top']}</pose></frame>"
        hold = (
            f"<frame name='hold' attached_to='hand::grip'><pose relative_to='hand::grip'>{text['hold']}</pose></frame>"
        )
        wrist = f"<pose relative_to='hold'>{text['wrist']}</pose><axis><xyz>0 0 1</xyz></axis>"
        inner = f"<pose>{text['model']}</pose>" + link("arm", text["arm"]) + top + hand + hold
        inner += joint("wrist", "revolute", "arm", "hand::palm", wrist)
        robot = read(tmp_path, model(inner, attributes="placement_frame='top'"))
        arm = at["model"] @ np.linalg.inv(at["top"])
        palm = arm @ at["hand"] @ np.linalg.inv(at["grip"])
        shared = palm @ at["grip"] @ at["hold"] @ at["wrist"]
        found = robot.joints["wrist"]
        expected = [(robot.links["arm"].pose, arm), (robot.links["hand::palm"].pose, palm)]
        expected += [
            (found.parent_frame, np.linalg.inv(arm) @ shared),
            (found.child_frame, np.linalg.inv(palm) @ shared),
        ]
        for frame, matrix in expected:
            assert frame is not None
            np.testing.assert_allclose(frame.position, matrix[:3, 3], atol=1e-13)
            np.testing.assert_allclose(frame.rotation, matrix[:3, :3], atol=1e-13)

    def test_frames_relative_to_each_other_are_refused(self, tmp_path: Path) -> None:
        inner = "<frame name='f'><pose relative_to='g'/></frame><frame name='g'><pose relative_to='f'/></frame>"
        with pytest.raises(MechanismError, match="relative to each other"):
            read(tmp_path, model(link("a") + inner))

    def test_long_chains_are_no_recursion(self, tmp_path: Path) -> None:
        frames = [f"<frame name='f{i}'><pose relative_to='f{i - 1}'>1 0 0 0 0 0</pose></frame>" for i in range(1, 5000)]
        inner = "<frame name='f0'/>" + "".join(frames) + "<link name='a'><pose relative_to='f4999'/></link>"
        assert close(read(tmp_path, model(inner)).links["a"].pose, [4999, 0, 0])


class TestLinks:
    def test_inertia_is_turned_by_its_pose(self, tmp_path: Path) -> None:
        inertia = "<ixx>1</ixx><iyy>2</iyy><izz>2.5</izz><ixy>0.1</ixy><ixz>-0.2</ixz><iyz>0.3</iyz>"
        text = f"<inertial><pose>1 0 2 0.4 0.5 -0.6</pose><mass>3</mass><inertia>{inertia}</inertia></inertial>"
        found = read(tmp_path, model(f"<link name='a'>{text}</link>")).links["a"]
        turned = Rotation.from_euler("xyz", [0.4, 0.5, -0.6]).as_matrix()
        own = np.array([[1, 0.1, -0.2], [0.1, 2, 0.3], [-0.2, 0.3, 2.5]])
        assert found.mass == 3.0
        assert np.allclose(found.com, [1, 0, 2])
        assert np.allclose(found.inertia, turned @ own @ turned.T, atol=1e-15)

    def test_defaults_are_reported(self, tmp_path: Path) -> None:
        robot = read(tmp_path, model("<link name='a'/>"))
        assert robot.links["a"].mass == 1.0
        assert np.array_equal(robot.links["a"].inertia, np.eye(3))
        assert "SDF has 1 kg" in robot.report.of("taken")[0].text

    def test_auto_inertia_of_a_dumbbell(self, tmp_path: Path) -> None:
        """Two balls of their own densities on a rod of that of the link, by the parallel axis theorem."""
        ball = (
            "<collision name='{}'><pose>{} 0 0 0 0 0</pose><density>{}</density>"
            "<geometry><sphere><radius>0.2</radius></sphere></geometry></collision>"
        )
        rod = (
            "<collision name='rod'><pose>0 0 0 0 1.5707963267948966 0</pose>"
            "<geometry><cylinder><radius>0.05</radius><length>1</length></cylinder></geometry></collision>"
        )
        text = "<link name='a'><inertial auto='true'><density>500</density></inertial>" + ball.format("l", -1, 700)
        found = read(tmp_path, model(text + ball.format("r", 1, 300) + rod + "</link>"), "1.11").links["a"]
        volume = 4 / 3 * math.pi * 0.2**3
        masses = np.array([700 * volume, 300 * volume, 500 * math.pi * 0.05**2])
        assert found.mass == pytest.approx(masses.sum(), rel=1e-14)
        com = (masses[1] - masses[0]) / masses.sum()
        assert np.allclose(found.com, [com, 0, 0])
        away = np.array([-1.0, 1.0, 0.0]) - com
        own = [0.4 * masses[0] * 0.04, 0.4 * masses[1] * 0.04, masses[2] * (3 * 0.05**2 + 1) / 12]
        assert found.inertia[1, 1] == pytest.approx(sum(own) + masses @ away**2, rel=1e-14)

    def test_auto_inertia_of_meshes_is_refused(self, tmp_path: Path) -> None:
        text = "<collision name='c'><geometry><mesh><uri>x.stl</uri></mesh></geometry></collision>"
        with pytest.raises(MechanismError, match=r"line 3: geometry.*meshes are not opened"):
            read(tmp_path, model(f"<link name='a'><inertial auto='true'/>{text}</link>"))

    def test_static_models_are_fixed(self, tmp_path: Path) -> None:
        robot = read(
            tmp_path,
            model("<static>true</static>" + link("a") + link("b", "0 0 1 0 0 0") + joint("j", "revolute", "a", "b")),
        )
        assert all(isinstance(one.kind, Fixed) and one.parent is None for one in robot.joints.values())
        assert "static" in str(robot.report)

    def test_gravity_switched_off_is_reported(self, tmp_path: Path) -> None:
        robot = read(tmp_path, model("<link name='a'><gravity>false</gravity></link>"))
        assert any("gravity" in entry.element for entry in robot.report.of("left out"))


class TestJoints:
    @pytest.mark.parametrize(
        ("kind", "expected"),
        [
            ("revolute", Revolute((0, 0, 1))),
            ("continuous", Revolute((0, 0, 1))),
            ("prismatic", Prismatic((0, 0, 1))),
            ("ball", Spherical()),
            ("fixed", Fixed()),
            ("screw", Screw((0, 0, 1), 1 / (2 * math.pi))),
        ],
    )
    def test_kinds(self, tmp_path: Path, kind: str, expected: object) -> None:
        inner = joint("j", kind, "a", "b", "" if kind in ("ball", "fixed") else "<axis><xyz>0 0 2</xyz></axis>")
        assert read(tmp_path, model(link("a") + link("b") + inner)).joints["j"].kind == expected

    def test_frames_coincide_at_zero(self, tmp_path: Path) -> None:
        links = link("a", "1 2 3 0.1 0.2 0.3") + link("b", "-1 0.5 2 1 2 3")
        pose = "<pose relative_to='a'>0.1 0.2 0.3 0.4 0.5 0.6</pose>"
        axis = "<axis><xyz expressed_in='__model__'>0 1 0</xyz></axis>"
        robot = read(tmp_path, model(links + joint("j", "revolute", "a", "b", pose + axis)))
        assert world_gap(robot, "j") < 1e-15
        found = robot.joints["j"]
        assert close(found.parent_frame, [0.1, 0.2, 0.3], Rotation.from_euler("xyz", [0.4, 0.5, 0.6]))
        pose_a = robot.links["a"].pose
        assert pose_a is not None
        world = pose_a.rotation @ found.parent_frame.rotation @ found.kind.axes[0]
        assert np.allclose(world, [0, 1, 0], atol=1e-15)

    @pytest.mark.parametrize(
        ("version", "flag", "of_model"), [("1.4", "", 1), ("1.5", "", 0), ("1.6", "", 0), ("1.6", "1", 1)]
    )
    def test_axes_of_old_versions(self, tmp_path: Path, version: str, flag: str, of_model: int) -> None:
        flagged = flag and f"<use_parent_model_frame>{flag}</use_parent_model_frame>"
        axis = f"<axis><xyz>1 0 0</xyz>{flagged}</axis>"
        links = link("a") + link("b", "0 0 0 0 0 1.5707963267948966")
        robot = read(tmp_path, model(links + joint("j", "revolute", "a", "b", axis)), version)
        expected = [0, -1, 0] if of_model else [1, 0, 0]
        assert np.allclose(robot.joints["j"].kind.axes[0], expected, atol=1e-15)

    @pytest.mark.parametrize(
        ("pitch", "advance"),
        [
            ("<screw_thread_pitch>0.02</screw_thread_pitch>", 0.02 / (2 * math.pi)),
            ("<thread_pitch>-50</thread_pitch>", 0.02),
            ("<thread_pitch>-7</thread_pitch><screw_thread_pitch>0.02</screw_thread_pitch>", 0.02 / (2 * math.pi)),
        ],
    )
    def test_both_pitches_of_screws(self, tmp_path: Path, pitch: str, advance: float) -> None:
        """The new one is m per turn of a right-hand thread, the old one rad/m of a left-hand thread."""
        inner = joint("j", "screw", "a", "b", f"<axis><xyz>0 0 1</xyz></axis>{pitch}")
        robot = read(tmp_path, model(link("a") + link("b") + inner))
        assert robot.joints["j"].kind.value == pytest.approx(advance)
        assert not robot.report.of("left out")

    def test_dynamics_and_limits(self, tmp_path: Path) -> None:
        axis = (
            "<axis><xyz>0 0 1</xyz><dynamics><damping>0.5</damping><spring_stiffness>7</spring_stiffness>"
            "<spring_reference>0.2</spring_reference><friction>3</friction></dynamics>"
            "<limit><lower>-1e16</lower><upper>0.4</upper><effort>9</effort><velocity>2</velocity></limit></axis>"
        )
        robot = read(tmp_path, model(link("a") + link("b") + joint("j", "revolute", "a", "b", axis)))
        found = robot.joints["j"]
        assert (found.damping, found.stiffness, found.free, found.max_load) == ((0.5,), (7.0,), (0.2,), (9.0,))
        assert found.friction == (3.0,)
        assert found.limits == ((-math.inf, 0.4),)
        left = str(robot.report)
        assert "velocity" in left

    def test_perpendicular_axes_are_a_universal(self, tmp_path: Path) -> None:
        axes = "<axis><xyz>1 0 0</xyz><dynamics><damping>2</damping></dynamics></axis>"
        axes += "<axis2><xyz>0 1 0</xyz><dynamics><friction>3</friction></dynamics></axis2>"
        robot = read(tmp_path, model(link("a") + link("b") + joint("j", "universal", "a", "b", axes)))
        assert robot.joints["j"].kind == Universal((1, 0, 0), (0, 1, 0))
        assert (robot.joints["j"].damping, robot.joints["j"].friction) == ((2.0, 0.0), (0.0, 3.0))

    def test_oblique_axes_are_two_hinges(self, tmp_path: Path) -> None:
        axes = "<axis><xyz>1 0 0</xyz></axis><axis2><xyz>1 1 0</xyz></axis2>"
        robot = read(tmp_path, model(link("a") + link("b", "0 1 0 0 0 0") + joint("j", "revolute2", "a", "b", axes)))
        first, second = robot.joints["j_axis"], robot.joints["j_axis2"]
        assert (first.parent, first.child, second.parent, second.child) == ("a", "j_between", "j_between", "b")
        assert robot.links["j_between"].mass == 0.0
        assert np.allclose(second.kind.axes[0], [math.sqrt(0.5), math.sqrt(0.5), 0])
        assert world_gap(robot, "j_axis") == world_gap(robot, "j_axis2") == 0.0

    def test_loops_are_by_topology(self, tmp_path: Path) -> None:
        joints = (
            joint("A", "revolute", "world", "a")
            + joint("B", "revolute", "a", "b")
            + joint("C", "revolute", "world", "b")
        )
        robot = read(tmp_path, model(link("a") + link("b") + joints))
        assert [one.child for one in robot.joints.values()] == ["a", "b", "b"]
        assert not any(one.closes for one in robot.joints.values())

    def test_ends_that_are_frames(self, tmp_path: Path) -> None:
        frame = "<frame name='tip' attached_to='a'><pose>0 0 1 0 0 0</pose></frame>"
        robot = read(tmp_path, model(link("a") + link("b", "4 0 0 0 0 0") + frame + joint("j", "ball", "b", "tip", "")))
        found = robot.joints["j"]
        assert (found.parent, found.child) == ("b", "a")
        assert close(found.child_frame, [0, 0, 1])  # a joint is where its child frame is
        assert close(found.parent_frame, [-4, 0, 1])

    def test_mimic(self, tmp_path: Path) -> None:
        mimic = "<mimic joint='A'><multiplier>3</multiplier><offset>0.1</offset><reference>0.2</reference></mimic>"
        joints = joint("A", "revolute", "world", "a") + joint(
            "B", "revolute", "a", "b", f"<axis><xyz>0 0 1</xyz>{mimic}</axis>"
        )
        (coupling,) = read(tmp_path, model(link("a") + link("b") + joints), "1.11").couplings
        assert coupling.terms == {("B", 0): (1.0,), ("A", 0): (-3.0,)}
        assert coupling.offset == pytest.approx(0.1 - 3 * 0.2)

    def test_gearbox_signs(self, tmp_path: Path) -> None:
        """theta_2 = -ratio theta_1: angles from the reference body, whichever way its joints are."""
        joints = (
            joint(
                "A", "revolute", "rotor", "base", "<axis><xyz>0 0 -1</xyz></axis>"
            )  # base turns backwards: the rotor +
            + joint("B", "revolute", "base", "wheel", "<axis><xyz>0 0 -1</xyz></axis>")
            + joint(
                "G",
                "gearbox",
                "rotor",
                "wheel",
                "<gearbox_ratio>0.1</gearbox_ratio><gearbox_reference_body>base</gearbox_reference_body>"
                "<axis><xyz>0 0 1</xyz></axis><axis2><xyz>0 0 1</xyz></axis2>",
            )
        )
        robot = read(tmp_path, model(link("base") + link("rotor") + link("wheel") + joints))
        (gear,) = robot.couplings
        assert gear.terms == {("B", 0): (-1.0,), ("A", 0): (0.1,)}
        assert "G" not in robot.joints

    def test_gearbox_on_a_hinge_with_rounded_angles(self, tmp_path: Path) -> None:
        inner = "<gearbox_ratio>2</gearbox_ratio><gearbox_reference_body>world</gearbox_reference_body>"
        joints = (
            joint("A", "revolute", "world", "a", "<axis><xyz>1 0 0</xyz></axis>")
            + joint("B", "revolute", "world", "b")
            + joint("G", "gearbox", "a", "b", inner + "<axis><xyz>0 0 1</xyz></axis>")
        )
        turned = link("a") + link("b", "0 0 0 0 1.57 0")
        (gear,) = read(tmp_path, model(turned + joints)).couplings
        assert gear.terms == {("B", 0): (1.0,), ("A", 0): (2.0,)}

    def test_joints_named_world_are_those_of_old_files(self, tmp_path: Path) -> None:
        text = model(link("a") + joint("world", "revolute", "world", "a"))
        found = read(tmp_path, text, "1.5").joints["world"]
        assert (found.parent, found.child) == (None, "a")
        with pytest.raises(MechanismError, match="joint 'world': the name 'world' is that of the world"):
            read(tmp_path, text, "1.9")

    def test_gearbox_without_hinge_is_reported(self, tmp_path: Path) -> None:
        inner = "<gearbox_reference_body>world</gearbox_reference_body><axis><xyz>0 0 1</xyz></axis>"
        robot = read(tmp_path, model(link("a") + link("b") + joint("G", "gearbox", "a", "b", inner)))
        assert "no hinge along its axis" in robot.report.of("left out")[0].text


class TestWorldsAndFiles:
    def test_several_models(self, tmp_path: Path) -> None:
        world = (
            "<gravity>0 0 -3.7</gravity>"
            + model(link("a"), "one")
            + model(link("a") + "<pose>0 2 0 0 0 0</pose>", "two")
        )
        robot = read(tmp_path, f"<world name='w'>{world}{joint('j', 'fixed', 'one::a', 'two::a', '')}</world>")
        assert list(robot.links) == ["one::a", "two::a"]
        assert robot.gravity is not None
        assert robot.gravity.tolist() == [0, 0, -3.7]
        assert close(robot.joints["j"].parent_frame, [0, 2, 0])
        assert robot.base == "free"

    def test_a_world_of_one_model_keeps_its_names(self, tmp_path: Path) -> None:
        robot = read(
            tmp_path, f"<world name='w'>{model(link('a'), 'one')}{joint('j', 'fixed', 'world', 'one::a', '')}</world>"
        )
        assert list(robot.links) == ["a"]
        assert (robot.joints["j"].parent, robot.joints["j"].child) == (None, "a")
        assert robot.gravity is not None
        assert robot.gravity.tolist() == [0, 0, -9.8]

    @pytest.mark.parametrize("uri", ["arm/model.sdf", "arm", "model://arm"])
    def test_includes(self, tmp_path: Path, uri: str) -> None:
        (tmp_path / "arm").mkdir()
        (tmp_path / "arm" / "model.sdf").write_text(
            f"<sdf version='1.4'>{model(link('x', '0 0 1 0 0 0'), 'arm')}</sdf>"
        )
        (tmp_path / "arm" / "model.config").write_text("<model><sdf version='1.4'>model.sdf</sdf></model>")
        include = f"<include><uri>{uri}</uri><name>left</name><pose>1 0 0 0 0 0</pose></include>"
        robot = read(tmp_path, model(link("a") + include + joint("j", "fixed", "a", "left::x", "")))
        assert close(robot.links["left::x"].pose, [1, 0, 1])
        merged = include.replace("<include>", "<include merge='true'>")
        robot = read(tmp_path, model(link("a") + merged + joint("j", "fixed", "a", "x", "")))
        assert close(robot.links["x"].pose, [1, 0, 1])

    @pytest.mark.parametrize(
        "uri", ["../secret.sdf", "/etc/passwd", "file:///etc/passwd", "model://../secret", "arm/../../s"]
    )
    def test_files_outside_the_folder_are_refused(self, tmp_path: Path, uri: str) -> None:
        inside = tmp_path / "inside"
        inside.mkdir()
        (tmp_path / "secret.sdf").write_text(f"<sdf version='1.9'>{model(link('x'))}</sdf>")
        with pytest.raises(MechanismError, match="lies outside"):
            read(inside, model(f"<include><uri>{uri}</uri></include>"))

    def test_links_out_of_the_folder_are_refused(self, tmp_path: Path) -> None:
        inside = tmp_path / "inside"
        inside.mkdir()
        (tmp_path / "secret.sdf").write_text(f"<sdf version='1.9'>{model(link('x'))}</sdf>")
        (inside / "link.sdf").symlink_to(tmp_path / "secret.sdf")
        with pytest.raises(MechanismError, match="lies outside"):
            read(inside, model("<include><uri>link.sdf</uri></include>"))

    def test_files_that_include_each_other_are_refused(self, tmp_path: Path) -> None:
        with pytest.raises(MechanismError, match="includes itself"):
            read(tmp_path, model("<include><uri>robot.sdf</uri></include>"))

    def test_files_that_are_not_here_are_reported(self, tmp_path: Path) -> None:
        include = "<include><uri>model://sun</uri></include><include><uri>https://fuel/x</uri></include>"
        robot = read(tmp_path, f"<world name='w'>{include}{model(link('a'))}</world>")
        assert [entry.element for entry in robot.report.of("left out")] == [
            "include 'model://sun'",
            "include 'https://fuel/x'",
        ]

    def test_names_of_files_that_are_not_here_have_the_remedy(self, tmp_path: Path) -> None:
        inner = "<include><uri>model://arm</uri></include>" + joint("j", "fixed", "arm::hand", "a", "")
        with pytest.raises(
            MechanismError, match=r"no link.*'arm::hand'.*include 'model://arm' is missing: .*put it there"
        ):
            read(tmp_path, model(link("a") + inner))

    def test_everything_else_is_reported(self, tmp_path: Path) -> None:
        inner = (
            "<link name='a'><visual name='v'/><sensor name='s' type='imu'/><wings n='2'/></link>"
            "<plugin name='p' filename='f'/>"
        )
        left = {entry.element for entry in read(tmp_path, model(inner)).report.of("left out")}
        assert left == {"link 'a' > visual", "link 'a' > sensor", "model 'm' > link 'a' > wings", "model 'm' > plugin"}


@pytest.mark.parametrize(
    ("inner", "text"),
    [
        (link("a") + link("a"), "the name is that of the link in line"),
        (link("a") + joint("j", "revolute", "a", "c"), r"there is no link, joint, frame or model 'c' here"),
        (link("a") + joint("j", "revolute", "a", "a"), "both the link 'a'"),
        (link("a") + link("b") + joint("j", "hinge", "a", "b"), "no type 'hinge'"),
        (link("a") + link("b") + joint("j", "revolute", "a", "b", ""), "'axis' is missing"),
        (
            link("a") + link("b") + joint("j", "revolute", "a", "b", "<axis><xyz>0 0 0</xyz></axis>"),
            "direction is zero",
        ),
        (
            link("a") + link("b") + joint("j", "revolute", "a", "b", "<axis><xyz>0 0 nan</xyz></axis>"),
            "3 finite numbers",
        ),
        (link("a") + link("b") + joint("j", "revolute", "a", "world"), "child is the world"),
        ("<link name='a'><inertial><mass>-1</mass></inertial></link>", "mass is -1 kg"),
        ("<link name='a'><pose rotation_format='quat_xyzw'>0 0 0 0 0 0 0</pose></link>", "quaternion is zero"),
        (
            "<frame name='f' attached_to='f'><pose relative_to='a'/></frame>"
            + link("a")
            + joint("j", "fixed", "f", "a", ""),
            "attached to itself",
        ),
        (link("world"), "is that of the world: give another one, or leave it out"),
        (link("__model__"), "cannot be used"),
        ("<link/>", "'name' is missing"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, inner: str, text: str) -> None:
    with pytest.raises(MechanismError, match=text) as caught:
        read(tmp_path, model(inner))
    assert "robot.sdf, line" in str(caught.value)


def test_entities_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "robot.sdf"
    path.write_text("<!DOCTYPE sdf [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><sdf version='1.9'>&x;</sdf>")
    with pytest.raises(MechanismError, match="entities are refused"):
        sdf.read(path)


def test_versions(tmp_path: Path) -> None:
    with pytest.raises(MechanismError, match=r"1\.4 to 1\.12"):
        read(tmp_path, model(link("a")), "1.2")
    assert "newest that is known" in str(read(tmp_path, model(link("a")), "1.13").report)


SAMPLE = """<sdf version='1.11'>
<world name='w'>
<gravity>0 0 -9.8</gravity>
<model name='m' canonical_link='a' placement_frame='f'>
<pose degrees='true'>0 0 1 0 0 30</pose>
<frame name='f' attached_to='a'>
<pose relative_to='b'>0.1 0 0 0 0 0</pose>
</frame>
<link name='a'>
<inertial>
<mass>1</mass>
</inertial>
</link>
<link name='b'>
<pose relative_to='a'>1 0 0 0 0 0</pose>
<inertial auto='true'/>
<collision name='c'>
<geometry><box><size>1 2 3</size></box></geometry>
</collision>
</link>
<joint name='j' type='revolute'>
<parent>a</parent>
<child>b</child>
<axis>
<xyz expressed_in='f'>0 0 1</xyz>
<limit><lower>-1</lower><upper>inf</upper></limit>
<mimic joint='n::k'><multiplier>2</multiplier></mimic>
</axis>
</joint>
<model name='n'>
<link name='d'/>
<link name='e'/>
<joint name='k' type='universal'>
<parent>d</parent>
<child>e</child>
<axis><xyz>1 0 0</xyz></axis>
<axis2><xyz>0 1 0</xyz></axis2>
</joint>
</model>
<joint name='g' type='gearbox'>
<parent>a</parent>
<child>n::d</child>
<gearbox_reference_body>b</gearbox_reference_body>
<axis><xyz>0 0 1</xyz></axis>
</joint>
<include><uri>model://x</uri></include>
</model>
</world>
</sdf>"""


def test_broken_files_raise_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "robot.sdf"
    path.write_text(SAMPLE)
    assert len(sdf.read(path).links) == 4
    refused, read_anyway = 0, 0
    for text in mutations(SAMPLE, 1000, seed=5):
        path.write_text(text)
        try:
            sdf.read(path)
            read_anyway += 1
        except LinkworkError:
            refused += 1
    assert refused > 20
    assert read_anyway > 20
