"""What the reader makes of each element of a URDF and of its dialects."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from linkwork.formats import urdf
from linkwork.formats.robot import Robot
from support.urdf_texts import CLOSURES, EVERYTHING, joint, link, robot


def read(tmp_path: Path, text: str, closures: str | None = None) -> Robot:
    path = tmp_path / "robot.urdf"
    path.write_text(text)
    if closures is not None:
        path.with_suffix(".yaml").write_text(closures)
    return urdf.read(path)


def left_out(found: Robot) -> dict[str, str]:
    return {entry.element: entry.text for entry in found.report.of("left out")}


def two(content: str, kind: str = "revolute", tag: str = "joint", rest: str = "") -> str:
    return robot('<link name="a"/>' + link("b") + joint("j", kind, "a", "b", content, tag) + rest)


# ---- links and frames ----


def test_inertia_in_rotated_axes_is_that_of_pinocchio(tmp_path: Path) -> None:
    pin = pytest.importorskip("pinocchio")
    text = robot(
        '<link name="a"/>'
        + link("b", origin='<origin xyz="1 2 3" rpy="0.3 -0.4 2"/>')
        + joint("j", "continuous", "a", "b")
    )
    found = read(tmp_path, text).links["b"]
    expected = pin.buildModelFromXML(text).inertias[1]
    assert found.mass == expected.mass
    np.testing.assert_allclose(found.com, expected.lever, atol=1e-15)
    np.testing.assert_allclose(found.inertia, expected.inertia, atol=1e-16)


def test_origins_are_those_of_pinocchio_and_quaternions_are_read(tmp_path: Path) -> None:
    pin = pytest.importorskip("pinocchio")
    text = two('<origin xyz="1 2 3" rpy="0.3 -1.4 2"/>', "continuous")
    frame = read(tmp_path, text).joints["j"].parent_frame
    expected = pin.buildModelFromXML(text).jointPlacements[1]
    np.testing.assert_allclose(frame.position, expected.translation)
    np.testing.assert_allclose(frame.rotation, expected.rotation, atol=1e-15)
    x, y, z, w = pin.Quaternion(expected.rotation).coeffs()
    again = read(tmp_path, two(f'<origin xyz="1 2 3" quat_xyzw="{x} {y} {z} {w}"/>')).joints["j"].parent_frame
    np.testing.assert_allclose(again.rotation, expected.rotation, atol=1e-15)


def test_the_root_is_the_first_link_and_world_is_the_world(tmp_path: Path) -> None:
    found = read(tmp_path, robot(link("b") + link("a") + joint("j", "fixed", "a", "b")))
    assert list(found.links) == ["a", "b"]
    assert found.base == "fixed"
    found = read(tmp_path, robot(link("b") + '<link name="world"/>' + joint("j", "floating", "world", "b")))
    assert list(found.links) == ["b"]
    assert found.joints["j"].parent is None
    assert isinstance(found.joints["j"].kind, lw.Free)
    found = read(tmp_path, robot(link("b") + joint("j", "fixed", "world", "b")))  # as Drake has it
    assert found.joints["j"].parent is None


def test_links_and_joints_may_have_the_same_names(tmp_path: Path) -> None:
    found = read(tmp_path, robot('<link name="a"/>' + link("b") + joint("b", "continuous", "a", "b")))
    assert list(found.links) == ["a", "b"]
    assert list(found.joints) == ["b"]


# ---- joints ----


def test_axes_have_their_default_and_length_one(tmp_path: Path) -> None:
    assert read(tmp_path, two("")).joints["j"].kind == lw.Revolute((1, 0, 0))
    found = read(tmp_path, two('<axis xyz="0 0 -3"/>'))
    assert found.joints["j"].kind == lw.Revolute((0, 0, -1))
    assert [entry.element for entry in found.report.of("approximated")] == ["joint 'j' > axis"]
    assert not read(tmp_path, two('<axis xyz="0.577 0.577 0.577"/>')).report.of("approximated")


def test_limits(tmp_path: Path) -> None:
    def limits(attributes: str, kind: str = "revolute") -> tuple[object, ...]:
        found = read(tmp_path, two(f"<limit {attributes}/>", kind)).joints["j"]
        return found.limits, found.max_load

    assert limits('lower="-1" upper="2" effort="3" velocity="4"') == (((-1.0, 2.0),), (3.0,))
    assert limits('effort="3" velocity="4"') == ((), (3.0,))
    assert limits('upper="2"') == (((0.0, 2.0),), ())  # the other bound is URDF's default
    assert limits('lower="-1e16" upper="1e16" effort="1e16"', "prismatic") == ((), ())
    assert limits('lower="-inf" upper="1" effort="inf"') == (((-np.inf, 1.0),), ())
    assert limits('effort="0"') == ((), ())
    assert limits('lower="-1" upper="1" effort="5"', "continuous") == ((), (5.0,))
    assert limits('lower="1" upper="-1"') == ((), ())


def test_a_mimic_is_a_coupling(tmp_path: Path) -> None:
    rest = link("c") + joint("k", "prismatic", "b", "c", '<mimic joint="j" multiplier="-2" offset="0.5"/>')
    [found] = read(tmp_path, two("", rest=rest)).couplings
    assert found.terms == {("k", 0): (1.0,), ("j", 0): (2.0,)}
    assert found.offset == 0.5


def test_a_planar_joint_moves_across_its_axis(tmp_path: Path) -> None:
    assert read(tmp_path, two('<axis xyz="0 1 0"/>', "planar")).joints["j"].kind == lw.Planar((0, 1, 0))


def test_everything_is_read_or_reported(tmp_path: Path) -> None:
    found = read(tmp_path, EVERYTHING, CLOSURES)
    assert [name for name, one in found.joints.items() if one.closes] == [
        "hinge2",
        "cardan2",
        "cut",
        "ball_constraint_1",
        "d_hinge",
        "g_slide",
    ]
    hinge = found.joints["hinge"]
    assert (hinge.stiffness, hinge.free, hinge.damping, hinge.max_load) == ((3.0,), (0.2,), (0.1,), (3.0,))
    assert hinge.friction == (0.2,)
    assert hinge.reflected_inertia == pytest.approx((1e-4 * 50**2,))
    assert left_out(found).keys() == {
        "joint 'wheel' > mimic",
        "joint 'table' > limit",
        "joint 'table' > dynamics > damping",
        "robot.yaml > name_mot > 'missing'",
        "robot.yaml > 'other'",
        "joint 'hinge' > limit > velocity",
        "joint 'slide' > limit > velocity",
        "joint 'hinge' > calibration",
        "joint 'hinge' > safety_controller",
        "transmission 't'",
        "gazebo 'a' > mu1",
        "gazebo > plugin",
        "robot 'r' > unknown",
    }
    assert "multiply that of the motor by 50" in left_out(found)["transmission 't'"]


def test_the_text_of_a_report_counts_shapes(tmp_path: Path) -> None:
    shapes = '<visual><geometry><mesh filename="/etc/passwd"/></geometry></visual><collision/>'
    links = "".join(f'<link name="{name}">{shapes}</link>' for name in "abcde")
    joints = "".join(joint(f"j{child}", "fixed", "a", child) for child in "bcde")
    found = read(tmp_path, robot(links + joints))
    parts = ("visual > mesh '/etc/passwd'", "collision")
    assert list(left_out(found)) == [f"link {name!r} > {part}" for name in "abcde" for part in parts]
    shown = str(found.report).splitlines()
    assert len(shown) == 4
    assert shown[2].startswith("    link 'a' > visual > mesh '/etc/passwd' and 4 more: meshes are read from files .stl")
    assert shown[3] == "    link 'a' > collision and 4 more: there is no contact, and masses are those of <inertial>"


# ---- URDF+ ----


def test_couplings_count_from_the_link_that_carries_both(tmp_path: Path) -> None:
    """A rotor on the thigh that drives the ankle across two joints, as in robots of that project."""
    text = robot(
        '<link name="o"/>'
        + "".join(link(name) for name in ("hip", "thigh", "shank", "foot", "rotor"))
        + joint("j1", "revolute", "o", "hip")
        + joint("j2", "revolute", "hip", "thigh")
        + joint("j3", "revolute", "thigh", "shank")
        + joint("j4", "revolute", "shank", "foot")
        + joint("j5", "revolute", "thigh", "rotor")
        + '<coupling name="c"><predecessor link="foot"/><successor link="rotor"/><ratio value="6"/></coupling>'
    )
    [found] = read(tmp_path, text).couplings
    assert found.terms == {("j4", 0): (6.0,), ("j3", 0): (6.0,), ("j5", 0): (-1.0,)}


@pytest.mark.parametrize("value", ["true", "True", "1"])
def test_independent_joints_keep_their_start(tmp_path: Path, value: str) -> None:
    text = two("").replace('type="revolute"', f'type="revolute" independent="{value}"')
    assert read(tmp_path, text).joints["j"].start == pytest.approx([0.0])


# ---- the YAML file ----


def test_replaced_joints_have_the_axes_of_their_letters(tmp_path: Path) -> None:
    closures = "joint_name: [j]\njoint_type: [UJOINT_ZX]"
    found = read(tmp_path, two('<limit lower="-1" upper="1" effort="2"/>'), closures)
    assert found.joints["j"].kind == lw.Universal((0, 0, 1), (1, 0, 0))
    assert left_out(found).keys() == {"joint 'j' > limits", "joint 'j' > max load"}


def test_accents_may_be_composed_or_not(tmp_path: Path) -> None:
    text = two("").replace('name="j"', 'name="h\u0302anche"')
    found = read(tmp_path, text, "joint_name: [\u0125anche]\njoint_type: [SPHERICAL]")
    assert isinstance(found.joints["h\u0302anche"].kind, lw.Spherical)


def test_names_that_yaml_takes_for_something_else_stay_text(tmp_path: Path) -> None:
    found = read(tmp_path, two("").replace('name="j"', 'name="on"'), "name_mot: [on]")
    assert [entry.element for entry in found.report.of("taken")] == ["name_mot > 'on'"]


def test_another_yaml_file_is_none_of_closures(tmp_path: Path) -> None:
    assert not read(tmp_path, two(""), "gains: {p: 1}").report.entries


# ---- ROS and Drake ----


@pytest.mark.parametrize("kind", ["REVOLUTE", "PRISMATIC"])
def test_axes_of_a_constraint_coincide(kind: str, tmp_path: Path) -> None:
    rest = (
        link("c")
        + joint("k", "revolute", "a", "c")
        + f'<constraint name="n" type="{kind}"><parent link="b"/><child link="c"/><parent_origin xyz="1 0 0"/>'
        '<parent_axis xyz="0 0 1"/><child_origin xyz="0 1 0" rpy="0 0 1"/><child_axis xyz="1 2 2"/></constraint>'
    )
    found = read(tmp_path, two("", rest=rest)).joints["n"]
    assert type(found.kind).__name__.upper() == kind
    assert found.closes
    axis = found.child_frame.rotate(found.kind.axes[0])
    origin = lw.Frame.from_euler(1.0, "z")
    np.testing.assert_allclose(axis, origin.rotate(np.array([1.0, 2.0, 2.0]) / 3), atol=1e-15)


def test_axes_of_a_universal_constraint_may_be_in_frames_at_any_angle(tmp_path: Path) -> None:
    rest = (
        link("c")
        + joint("k", "revolute", "a", "c")
        + '<constraint name="n" type="UNIVERSAL"><parent link="b"/><child link="c"/>'
        '<parent_axis xyz="0 0 1"/><child_axis xyz="0 3 4"/></constraint>'
    )
    found = read(tmp_path, two("", rest=rest)).joints["n"]
    assert abs(found.kind.axes[0] @ found.kind.axes[1]) < 1e-15
    np.testing.assert_allclose(found.child_frame.rotate(found.kind.axes[1]), (0, 0.6, 0.8), atol=1e-15)


def test_joints_of_drake(tmp_path: Path) -> None:
    def kind(name: str, content: str = "") -> object:
        return read(tmp_path, two(content, name, "drake:joint")).joints["j"].kind

    assert kind("ball") == lw.Spherical()
    assert kind("universal") == lw.Universal((1, 0, 0), (0, 1, 0))
    assert kind("planar") == lw.Planar((0, 0, 1))
    screw = kind("screw", '<axis xyz="0 0 1"/><drake:screw_thread_pitch value="0.02"/>')
    assert screw == lw.Screw((0, 0, 1), 0.02 / (2 * np.pi))
