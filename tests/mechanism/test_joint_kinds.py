"""The kinds of joints in a description: axes, canonical frames, start values, springs, files."""

import json
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from linkwork.mechanism import (
    CurvedSlide,
    CurvedSlot,
    Cylindrical,
    Fixed,
    Frame,
    Free,
    Mechanism,
    PathSlide,
    PathSlot,
    PinInSlot,
    Planar,
    Prismatic,
    Revolute,
    Screw,
    Spherical,
    SpringDamper,
    Universal,
)
from linkwork.mechanism.checks import check
from linkwork.mechanism.joints import DRAWN, KINDS, JointKind
from support.bodies import BALL, refused, with_bodies
from support.checkout import TOP
from support.joint_shapes import shape_of
from support.poses import turn

BENT = [(0, 0, 0), (1, 0.1, 0), (1.5, 0.5, -0.4), (0.5, 1, -0.5)]
ALL = [
    Fixed(),
    Revolute((1, 2, 3)),
    Prismatic((1, 2, 3)),
    Universal((1, 2, 3), (3, 0, -1)),
    Cylindrical((1, 2, 3)),
    Planar((1, 2, 3)),
    Screw((1, 2, 3), -0.1),
    PinInSlot((1, 2, 3), (3, 0, -1)),
    CurvedSlide((1, 2, 3), (3, 0, -1), 0.4),
    CurvedSlot((1, 2, 3), (3, 0, -1), -0.4),
    PathSlide(BENT, (1, 2, 3)),
    PathSlot(BENT, (1, 2, 3), closed=True),
    Spherical(),
    Free(),
]
VECTOR = hnp.arrays(float, 3, elements=st.floats(-1, 1)).filter(lambda v: np.linalg.norm(v) > 1e-3)
QUATERNION = hnp.arrays(float, 4, elements=st.floats(-1e9, 1e9)).filter(lambda q: q.any())


def joined(kind, **options):
    mech = with_bodies("plate")
    mech.add_joint("S", kind, "ground", "plate", parent_frame=Frame(), **options)
    return mech


def test_all_kinds_are_here():
    assert {kind.type_name for kind in ALL} == set(KINDS)


class TestSizes:
    def test_coordinates_and_speeds(self):
        sizes = {kind.type_name: (kind.nq, kind.nu) for kind in ALL}
        assert sizes == {
            "fixed": (0, 0),
            "revolute": (1, 1),
            "prismatic": (1, 1),
            "universal": (2, 2),
            "cylindrical": (2, 2),
            "planar": (3, 3),
            "screw": (1, 1),
            "pin_in_slot": (2, 2),
            "curved_slide": (1, 1),
            "curved_slot": (2, 2),
            "path_slide": (1, 1),
            "path_slot": (2, 2),
            "spherical": (4, 3),
            "free": (7, 6),
        }

    def test_neutral_coordinates(self):
        assert Planar((0, 0, 1)).neutral.tolist() == [0, 0, 0]
        assert Spherical().neutral.tolist() == [1, 0, 0, 0]
        assert Free().neutral.tolist() == [0, 0, 0, 1, 0, 0, 0]


class TestCanonicalFrames:
    @pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.type_name)
    def test_is_a_rotation(self, kind):
        axes = kind.canonical_axes
        np.testing.assert_allclose(axes.T @ axes, np.eye(3), atol=1e-15)
        assert np.linalg.det(axes) == pytest.approx(1.0)

    @pytest.mark.parametrize("kind", [kind for kind in ALL if kind.axes], ids=lambda kind: kind.type_name)
    def test_first_axis_is_z(self, kind):
        np.testing.assert_allclose(kind.canonical_axes[:, 2], kind.axes[0], atol=1e-15)

    def test_universal(self):
        kind = Universal((0, 1, 0), (0, 0, 5))
        np.testing.assert_array_equal(kind.canonical_axes, np.column_stack([(0, 0, 1), (1, 0, 0), (0, 1, 0)]))

    @pytest.mark.parametrize(
        ("normal", "x"),
        [
            ((0, 0, 1), (1, 0, 0)),
            ((0, 0, -1), (1, 0, 0)),
            ((3, 0, 4), (0.8, 0, -0.6)),
            ((1, 0, 0), (0, 1, 0)),
            ((-20, -1, 0), (-1 / np.sqrt(401), 20 / np.sqrt(401), 0)),
            ((np.cos(np.radians(25.8)), 0, np.sin(np.radians(25.8))), (0, 1, 0)),
            ((0.8, 0, 0.6), (0.6, 0, -0.8)),
        ],
    )
    def test_displacements_of_a_plane(self, normal, x):
        axes = Planar(normal).canonical_axes
        np.testing.assert_allclose(axes[:, 0], x, atol=1e-15)
        np.testing.assert_allclose(axes[:, 1], np.cross(axes[:, 2], x), atol=1e-15)

    def test_without_axes_the_frame_is_as_given(self):
        for kind in (Fixed(), Spherical(), Free()):
            np.testing.assert_array_equal(kind.canonical_axes, np.eye(3))


class TestAxes:
    @given(VECTOR, VECTOR)
    def test_axes_of_a_universal_are_exact_and_stay_so(self, first, second):
        across = np.cross(first, second)
        if np.linalg.norm(across) < 1e-3:
            return
        kind = Universal(first, across / np.linalg.norm(across) + 9e-6 * first / np.linalg.norm(first))
        assert abs(kind.axis1 @ kind.axis2) < 1e-15
        assert Universal(kind.axis1, kind.axis2) == kind
        np.testing.assert_array_equal(Universal(kind.axis1, kind.axis2).axis2, kind.axis2)

    @pytest.mark.parametrize("axis2", [(1.2e-5, 0, 1), (1, 0, 1), (-2, 0, 0)])
    def test_axes_that_are_not_perpendicular(self, axis2):
        with refused("axis1 and axis2 of a Universal", "perpendicular", "degrees", "child_frame"):
            Universal((1, 0, 0), axis2)

    @pytest.mark.parametrize(
        ("kind", "arguments", "words"),
        [
            (Revolute, [(0, 0, 0)], ("Revolute: axis is zero",)),
            (Revolute, [(0, np.nan, 1)], ("Revolute: axis", "finite")),
            (Prismatic, [(0, 0, 0)], ("Prismatic: axis is zero",)),
            (Universal, [(0, 0, 0), (1, 0, 0)], ("Universal: axis1 is zero",)),
            (Universal, [(0, 0, 1), (0, 0, 0)], ("Universal: axis2 is zero",)),
            (Universal, [(0, 0, 1), (np.inf, 0, 0)], ("Universal: axis2", "finite")),
            (Cylindrical, [(0, 0, 0)], ("Cylindrical: axis is zero",)),
            (Screw, [(0, 0, 0), 0.1], ("Screw: axis is zero",)),
            (Screw, [(0, 0, 1), np.nan], ("Screw: pitch", "finite")),
            (PinInSlot, [(0, 0, 0), (1, 0, 0)], ("PinInSlot: axis is zero",)),
            (PinInSlot, [(0, 0, 1), (0, 0, 0)], ("PinInSlot: slot is zero",)),
            (PinInSlot, [(0, 0, 1), (1, 0, 1)], ("axis and slot of a PinInSlot", "perpendicular")),
            (Planar, [(0, 0, 0)], ("Planar: normal is zero",)),
            (Planar, [(0, np.nan, 0)], ("Planar: normal", "finite")),
        ],
    )
    @pytest.mark.filterwarnings("error")
    def test_axes_without_direction_are_refused_where_the_kind_is_made(self, kind, arguments, words):
        with refused(*words):
            kind(*arguments)

    def test_comparison(self):
        assert Universal((0, 0, 2), (1, 0, 0)) == Universal((0, 0, 1), (3, 0, 0)) != Universal((0, 0, 1), (0, 1, 0))
        assert Spherical() == Spherical() != Free()
        assert repr(Planar((0, 0, 2))) == "Planar((0.0, 0.0, 1.0))"
        assert len({*ALL, Spherical(), Planar((1, 2, 3))}) == len(ALL)


class TestStart:
    def test_quaternions_are_normalised(self):
        mech = joined(Spherical())
        mech.start(q={"S": [0, 3, 0, 4]}, u={"S": (1, 2, 3)})
        np.testing.assert_allclose(mech.start_q["S"], (0, 0.6, 0, 0.8), rtol=1e-15)
        assert mech.start_u["S"].tolist() == [1, 2, 3]
        mech = joined(Free())
        mech.start(q={"S": [1, 2, 3, 1e300, 0, 0, 1e300]})
        np.testing.assert_allclose(mech.start_q["S"], (1, 2, 3, np.sqrt(0.5), 0, 0, np.sqrt(0.5)), rtol=1e-15)

    @given(QUATERNION)
    def test_a_normalised_quaternion_stays(self, quaternion):
        mech = joined(Spherical())
        mech.start(q={"S": quaternion})
        first = mech.start_q["S"]
        assert np.linalg.norm(first) == pytest.approx(1.0, abs=1e-14)
        mech.start(q={"S": first})
        np.testing.assert_array_equal(mech.start_q["S"], first)

    @pytest.mark.parametrize(("kind", "value"), [(Spherical(), [0.0] * 4), (Free(), [1.0, 2.0, 3.0] + [0.0] * 4)])
    def test_a_quaternion_of_length_zero(self, kind, value):
        mech = joined(kind)
        with refused("start q of joint 'S'", "length zero", "(1, 0, 0, 0)"):
            mech.start(q={"S": value})
        assert not mech.start_q

    @pytest.mark.parametrize("kind", [kind for kind in ALL if kind.nu > 1], ids=lambda kind: kind.type_name)
    def test_wrong_sizes(self, kind):
        mech = joined(kind)
        for wrong in (0.5, [1.0] * (kind.nq + 1), [[1.0] * kind.nq], [np.nan] * kind.nq):
            with refused("start q of joint 'S'"):
                mech.start(q={"S": wrong})
        with refused("start u of joint 'S'", f"{kind.nu} numbers"):
            mech.start(u={"S": [1.0] * (kind.nu - 1)})
        assert not mech.start_q
        assert not mech.start_u

    def test_a_start_that_fits_no_more(self):
        mech = joined(Spherical())
        mech.start(q={"S": [1, 0, 0, 0]})
        del mech.joints["S"]
        mech.add_joint("S", Planar((0, 0, 1)), "ground", "plate", at=(0, 0, 0))
        with refused("start q of joint 'S'", "3 numbers"):
            check(mech)


class TestSprings:
    @pytest.mark.parametrize("kind", [kind for kind in ALL if kind.nu], ids=lambda kind: kind.type_name)
    def test_damping_fits_all(self, kind):
        for damping in (0.5, [0.1 * (i + 1) for i in range(kind.nu)]):
            mech = joined(kind)
            mech.add_force(SpringDamper("S", damping=damping))
            check(mech)

    def test_one_number_for_each_speed(self):
        force = SpringDamper("S", stiffness=(1, 2, 3), damping=np.array([4, 5, 6]), free=[0.1, 0, 0])
        assert (force.stiffness, force.damping, force.free) == ((1, 2, 3), (4, 5, 6), (0.1, 0, 0))
        mech = joined(Planar((0, 0, 1)))
        mech.add_force(force)
        assert mech.forces == [force]

    @pytest.mark.parametrize("field", ["stiffness", "damping", "free"])
    def test_wrong_sizes(self, field):
        for kind in (Revolute((0, 0, 1)), Planar((0, 0, 1))):
            mech = joined(kind)
            with refused("joint 'S'", f"{field} has 2 numbers", f"{kind.nu} speeds", "one number"):
                mech.add_force(SpringDamper("S", **{field: (1, 2)}))
            assert not mech.forces

    @pytest.mark.parametrize("kind", [Spherical(), Free()], ids=lambda kind: kind.type_name)
    @pytest.mark.parametrize("values", [{"stiffness": 1.0}, {"free": 0.1, "damping": 1.0}])
    def test_no_spring_on_a_quaternion(self, kind, values):
        mech = joined(kind)
        with refused("joint 'S'", type(kind).__name__, "quaternion", "damping may stay", "between points"):
            mech.add_force(SpringDamper("S", **values))
        assert not mech.forces

    def test_a_spring_that_fits_no_more(self):
        mech = joined(Planar((0, 0, 1)))
        mech.add_force(SpringDamper("S", stiffness=(1, 2, 3)))
        del mech.joints["S"]
        mech.add_joint("S", Revolute((0, 0, 1)), "ground", "plate", at=(0, 0, 0))
        with refused("joint 'S'", "stiffness has 3 numbers"):
            check(mech)


class TestFiles:
    @pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.type_name)
    def test_out_and_in_again(self, kind, tmp_path):
        mech = with_bodies("plate", "disc")
        mech.add_joint(
            "S", kind, "ground", "plate", parent_frame=Frame((1, 2, 3)), child_frame=Frame((1, 2, 3)), cut=False
        )
        mech.add_joint("T", kind, "plate", "disc", parent_frame=Frame((1, 0, 0), (0.6, 0, 0.8, 0)))
        if kind.nu:
            mech.start(q={"S": np.arange(1.0, kind.nq + 1)}, u={"S": np.arange(1.0, kind.nu + 1)})
            mech.add_force(SpringDamper("S", damping=np.arange(0.1, kind.nu)))
            mech.add_force(SpringDamper("T", damping=2.0))
        mech.save(tmp_path / "m.json")
        again = Mechanism.load(tmp_path / "m.json")
        assert again == mech
        assert json.dumps(again.to_dict()) == json.dumps(mech.to_dict())
        assert [joint.kind for joint in again.joints.values()] == [kind, kind]
        assert again.forces == mech.forces

    @given(VECTOR, VECTOR, QUATERNION)
    def test_any_axes_and_quaternions(self, first, second, quaternion):
        if np.linalg.norm(np.cross(first, second)) < 1e-3:
            return
        mech = with_bodies("a", "b", "c")
        mech.add_joint("U", Universal(first, np.cross(first, second)), "ground", "a", at=(0, 0, 0))
        mech.add_joint("P", Planar(second), "ground", "b", at=(0, 0, 0))
        mech.add_joint("F", Free(), "ground", "c", at=(0, 0, 0))
        mech.start(q={"F": [1, 2, 3, *quaternion]})
        again = Mechanism.from_dict(mech.to_dict())
        assert json.dumps(again.to_dict()) == json.dumps(mech.to_dict())

    def test_names_of_the_axes(self):
        given = joined(Universal((0, 0, 1), (1, 0, 0))).to_dict()["joints"][0]
        assert (given["type"], given["axis1"], given["axis2"]) == ("universal", [0, 0, 1], [1, 0, 0])
        assert "normal" in joined(Planar((0, 0, 1))).to_dict()["joints"][0]
        assert not {"axis", "normal"} & set(joined(Free()).to_dict()["joints"][0])
        data = joined(Universal((0, 0, 1), (1, 0, 0))).to_dict()
        del data["joints"][0]["axis2"]
        with refused("joints[0]", "'axis2' of 'S' is missing"):
            Mechanism.from_dict(data)
        data["joints"][0]["axis2"] = [0, 1, 1]
        with refused("joints[0]", "joint 'S'", "perpendicular"):
            Mechanism.from_dict(data)


def test_axes_are_in_world_axes_where_a_joint_is_placed_in_the_world():
    """A body turned by a quarter about z and one turned by half about x: both see the same canonical frame."""
    mech = Mechanism("m")
    half = np.sqrt(0.5)
    mech.add_body("lower", 1.0, (0, 0, 0), BALL, origin=(1, 0, 0), rotation=(half, 0, 0, half))
    mech.add_body("upper", 1.0, (0, 0, 0), BALL, origin=(1, 2, 0), rotation=(0, 1, 0, 0))
    for name, kind in (("U", Universal((1, 1, 0), (0, 0, 1))), ("P", Planar((1, 2, 3)))):
        mech.add_joint(name, kind, "lower", "upper", at=(1, 2, 3))
        joint = mech.joints[name]
        for body, frame in (("lower", joint.parent_frame), ("upper", joint.child_frame)):
            in_world = mech.bodies[body].rotation @ frame.rotation @ kind.canonical_axes
            np.testing.assert_allclose(in_world, kind.canonical_axes, atol=1e-15)


@pytest.mark.parametrize("joint", [one for one in ALL if one.simple_motions is not None], ids=lambda one: one.type_name)
def test_turns_and_slides_make_the_joint(joint):
    """Their product, in joint-frame axes, is the pose of the joint by equations of its own."""
    q = np.linspace(0.3, 0.8, joint.nq)
    rotation, position = np.eye(3), np.zeros(3)
    for (motion, axis), value in zip(joint.simple_motions, q, strict=True):
        if motion == "turn":
            rotation = rotation @ turn(axis, value)
        else:
            position = position + rotation @ axis * value
    expected = shape_of(joint).pose(q)
    np.testing.assert_allclose(rotation, expected.rotation, atol=1e-14)
    np.testing.assert_allclose(position, expected.position, atol=1e-14)


def test_a_joint_that_nothing_draws_is_refused():
    with pytest.raises(TypeError, match="nothing draws 'sledge'"):
        type("Sledge", (JointKind,), {"type_name": "sledge", "keeps": "all"})


def test_drawn_joints_are_those_of_the_page():
    payload = (TOP / "viewer" / "src" / "payload.ts").read_text(encoding="utf-8")
    union = payload[payload.index("export type JointType") : payload.index("export interface Joint ")]
    assert re.findall(r'"(\w+)"', union) == list(DRAWN)
