"""Mechanism: what is added is kept and resolved; each mistake gives one error that names the thing."""

import copy
import pickle
import re

import numpy as np
import pytest

from linkwork.description import Fixed, Frame, Mechanism, Prismatic, Revolute, SpringDamper, inertia
from linkwork.description.checks import check
from linkwork.description.frames import rotation_matrix
from linkwork.errors import LinkworkError, MechanismError

BALL = inertia.sphere(1.0, 0.1)
HINGE = Revolute((0, 1, 0))
QUARTER_TURN = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]  # about z


def with_bodies(*names):
    mech = Mechanism("m")
    for name in names:
        mech.add_body(name, mass=1.0, com=(0, 0, 0), inertia=BALL)
    return mech


def with_joint():
    mech = with_bodies("crank")
    mech.add_joint("A", HINGE, "ground", "crank", at=(0, 0, 0))
    return mech


def refused(*words):
    """Expect a MechanismError whose text contains all of these."""
    return pytest.raises(MechanismError, match="".join(f"(?=.*{re.escape(word)})" for word in words))


class TestWhatIsKept:
    def test_order_and_values(self):
        mech = with_bodies("b", "a")
        mech.add_joint("J2", HINGE, "ground", "b", at=(0, 0, 0))
        mech.add_joint("J1", Prismatic((0, 0, 3)), "b", "a", child_frame=Frame((1, 2, 3)), cut=True)
        assert list(mech.bodies) == ["b", "a"]
        assert list(mech.joints) == ["J2", "J1"]
        joint = mech.joints["J1"]
        assert joint.kind.axis.tolist() == [0, 0, 1]
        assert (joint.parent_frame, joint.child_frame, joint.cut) == (Frame(), Frame((1, 2, 3)), True)

    def test_at_is_resolved_in_the_reference_poses(self):
        mech = Mechanism("m")
        mech.add_body("lower", 1.0, (0, 0, 0), BALL, origin=(1, 0, 0), rotation=QUARTER_TURN)
        mech.add_body("upper", 1.0, (0, 0, 0), BALL, origin=(1, 2, 0), rotation=(0, 1, 0, 0))
        mech.add_joint("J", HINGE, "lower", "upper", at=(1, 2, 3))
        joint = mech.joints["J"]
        for body, frame in (("lower", joint.parent_frame), ("upper", joint.child_frame)):
            pose = mech.bodies[body]
            np.testing.assert_allclose(pose.origin + pose.rotation @ frame.position, (1, 2, 3), atol=1e-15)
            np.testing.assert_allclose(pose.rotation @ frame.rotation, np.eye(3), atol=1e-15)
        np.testing.assert_allclose(joint.parent_frame.position, (2, 0, 3), atol=1e-15)

    def test_arrays_are_copies_and_read_only(self):
        com = np.zeros(3)
        mech = Mechanism("m")
        mech.add_body("b", 1.0, com, BALL)
        com[0] = 7.0
        assert mech.bodies["b"].com[0] == 0.0
        with pytest.raises(ValueError, match="read-only"):
            mech.bodies["b"].com[0] = 1.0

    def test_start_values_merge(self):
        mech = with_joint()
        mech.start(q={"A": 1}, u={"A": [2.0]})
        mech.start(q={"A": np.float64(3.0)})
        assert mech.start_q["A"].tolist() == [3.0]
        assert mech.start_u["A"].tolist() == [2.0]

    def test_slender_rod_and_point_mass_are_bodies(self):
        mech = Mechanism("m")
        mech.add_body("rod", 1.0, (0, 0, 0), inertia.rod(1.0, 1.0))
        turn = rotation_matrix((0.5, 0.5, 0.5, 0.5), "turn") @ rotation_matrix((0.6, 0.8, 0, 0), "turn")
        mech.add_body("turned_rod", 1.0, (0, 0, 0), turn @ inertia.rod(1.0, 1.0) @ turn.T)
        mech.add_body("point", 1.0, (0, 0, 0), np.zeros((3, 3)))
        mech.add_body("heavy", 1e30, (0, 0, 0), 1e30 * inertia.rod(1.0, 1.0))

    def test_inertia_is_symmetric_to_the_bit(self):
        mech = Mechanism("m")
        rough = np.diag([1.0, 1.0, 1.0]) + 1e-11 * np.arange(9).reshape(3, 3)
        mech.add_body("b", 1.0, (0, 0, 0), rough)
        kept = mech.bodies["b"].inertia
        np.testing.assert_array_equal(kept, kept.T)

    def test_equality_repr_and_copies(self):
        mech = with_joint()
        assert repr(mech) == "Mechanism('m': 1 body, 1 joint, 0 forces)"
        for other in (copy.deepcopy(mech), pickle.loads(pickle.dumps(mech))):
            assert other == mech
        other.gravity = (0, 0, -1.62)
        assert other != mech
        assert mech != "m"

    def test_negative_stiffness_and_damping_are_allowed(self):
        mech = with_joint()
        mech.add_force(SpringDamper("A", stiffness=-1, damping=-2, free=0.5))
        assert mech.forces == [SpringDamper("A", -1.0, -2.0, 0.5)]


class TestRotations:
    def test_quaternion_and_matrix_agree(self):
        half = np.sqrt(0.5)
        np.testing.assert_allclose(Frame(rotation=(half, 0, 0, half)).rotation, QUARTER_TURN, atol=1e-15)

    @pytest.mark.parametrize("rough", [(0.7071, 0, 0, 0.7071), [[0.8, -0.6001, 0], [0.6001, 0.8, 0], [0, 0, 1]]])
    def test_four_digits_become_exact(self, rough):
        matrix = Frame(rotation=rough).rotation
        np.testing.assert_allclose(matrix.T @ matrix, np.eye(3), atol=1e-15)
        np.testing.assert_array_equal(Frame(rotation=matrix).rotation, matrix)

    def test_equal_frames_hash_alike(self):
        assert len({Frame(), Frame((0, 0, 0), np.eye(3)), Frame((1, 0, 0))}) == 2
        assert repr(Frame((1, 0, 0))) == "Frame((1.0, 0.0, 0.0))"
        assert "[0.0, -1.0" in repr(Frame(rotation=QUARTER_TURN))

    @pytest.mark.parametrize(
        "rotation",
        [(1, 1, 0, 0), (0, 0, 0, 0), (1e200, 0, 0, 0), np.diag([1, 1, -1]), np.zeros((3, 3)), 1e300 * np.ones((3, 3))],
    )
    @pytest.mark.filterwarnings("error")
    def test_what_is_none_is_refused(self, rotation):
        with refused("body 'crank'", "rotation"):
            Mechanism("m").add_body("crank", 1.0, (0, 0, 0), BALL, rotation=rotation)
        with refused("joint 'A'", "child_frame", "rotation"):
            with_bodies("crank").add_joint("A", HINGE, "ground", "crank", child_frame=Frame(rotation=rotation))


class TestKinds:
    def test_axis_becomes_a_unit_vector_and_stays_it(self):
        rng = np.random.default_rng(1)
        for scale in (1e-300, 1e-3, 1.0, 1e300):
            axis = Revolute(scale * rng.normal(size=3)).axis
            assert np.linalg.norm(axis) == pytest.approx(1.0, abs=4e-16)
            np.testing.assert_array_equal(Revolute(axis).axis, axis)

    def test_comparison(self):
        assert Revolute((0, 0, 2)) == Revolute((0, 0, 1)) != Prismatic((0, 0, 1))
        assert len({Fixed(), Fixed(), Revolute((0, 0, 2)), Revolute((0, 0, 1))}) == 2
        assert (repr(Fixed()), repr(Prismatic((0, 0, 1)))) == ("Fixed()", "Prismatic((0.0, 0.0, 1.0))")
        assert Fixed() != "fixed"


BAD_BODIES = {
    "zero mass": ({"mass": 0.0}, ("mass", "positive")),
    "negative mass": ({"mass": -2.0}, ("mass", "positive", "-2")),
    "NaN mass": ({"mass": np.nan}, ("mass", "finite", "nan")),
    "infinite mass": ({"mass": np.inf}, ("mass", "finite")),
    "text for mass": ({"mass": "1"}, ("mass", "one number")),
    "truth for mass": ({"mass": True}, ("mass", "one number")),
    "short com": ({"com": (0, 0)}, ("com", "3 numbers")),
    "ragged com": ({"com": (0, (1, 2), 3)}, ("com", "3 numbers")),
    "NaN com": ({"com": (0, np.nan, 0)}, ("com", "finite")),
    "complex com": ({"com": (0, 1j, 0)}, ("com", "3 numbers")),
    "huge integer": ({"com": (10**400, 0, 0)}, ("com", "3 numbers")),
    "infinite origin": ({"origin": (0, 0, np.inf)}, ("origin", "finite")),
    "NaN rotation": ({"rotation": (np.nan, 0, 0, 1)}, ("rotation", "finite")),
    "short rotation": ({"rotation": (0, 0, 1)}, ("rotation", "3 x 3")),
    "number for rotation": ({"rotation": 1.0}, ("rotation", "3 x 3")),
    "text for rotation": ({"rotation": "turn"}, ("rotation", "numbers")),
    "inertia as a vector": ({"inertia": (1, 1, 1)}, ("inertia", "3 x 3")),
    "NaN inertia": ({"inertia": np.diag([1, 1, np.nan])}, ("inertia", "finite")),
    "skew inertia": ({"inertia": [[1, 0.1, 0], [-0.1, 1, 0], [0, 0, 1]]}, ("inertia", "symmetric")),
    "negative inertia": ({"inertia": np.diag([-1.0, 2, 2])}, ("inertia", "negative", "-1, 2, 2", "kg m^2")),
    "indefinite inertia": ({"inertia": [[1, 2, 0], [2, 1, 0], [0, 0, 3]]}, ("inertia", "negative", "-1, 3, 3")),
    "triangle inequality": ({"inertia": np.diag([1, 2, 4.0])}, ("inertia", "triangle inequality", "1, 2, 4")),
    "nearly a triangle": ({"inertia": np.diag([1, 1, 2 + 1e-8])}, ("inertia", "triangle inequality")),
}


@pytest.mark.parametrize(("change", "words"), BAD_BODIES.values(), ids=BAD_BODIES)
@pytest.mark.filterwarnings("error")
def test_bad_body_is_named_and_not_added(change, words):
    mech = Mechanism("m")
    with refused("body 'crank'", *words):
        mech.add_body("crank", **{"mass": 1.0, "com": (0, 0, 0), "inertia": BALL, **change})
    assert not mech.bodies


BAD_JOINTS = {
    "missing child": ({"child": "cranc"}, ("body 'cranc'", "did you mean 'crank'")),
    "missing parent": ({"parent": "zzz"}, ("body 'zzz'", "'crank'", "'ground'")),
    "body that is no name": ({"child": ["crank"]}, ("body ['crank']",)),
    "joint to itself": ({"parent": "crank"}, ("'crank' to itself", "different")),
    "ground to ground": ({"child": "ground"}, ("'ground' to itself",)),
    "zero axis": ({"kind": Revolute((0, 0, 0))}, ("axis is zero",)),
    "zero slide": ({"kind": Prismatic((0, 0, 0))}, ("axis is zero",)),
    "NaN axis": ({"kind": Revolute((0, np.nan, 1))}, ("axis", "finite")),
    "class for kind": ({"kind": Revolute}, ("kind must be a joint", "Revolute(axis=")),
    "no place": ({"at": None}, ("at=(x, y, z)", "parent_frame=")),
    "two places": ({"child_frame": Frame()}, ("at=", "not both")),
    "NaN at": ({"at": (0, 0, np.nan)}, ("at must be finite",)),
    "short at": ({"at": (0, 0)}, ("at must be 3 numbers",)),
    "NaN frame": ({"at": None, "parent_frame": Frame((0, np.nan, 0))}, ("parent_frame: position", "finite")),
    "frame as a tuple": ({"at": None, "child_frame": (0, 0, 0)}, ("child_frame must be a Frame",)),
    "cut as text": ({"cut": "yes"}, ("cut must be True or False",)),
}


@pytest.mark.parametrize(("change", "words"), BAD_JOINTS.values(), ids=BAD_JOINTS)
def test_bad_joint_is_named_and_not_added(change, words):
    mech = with_bodies("crank", "rod")
    with refused("joint 'A'", *words):
        mech.add_joint("A", **{"kind": HINGE, "parent": "ground", "child": "crank", "at": (0, 0, 0), **change})
    assert not mech.joints


@pytest.mark.parametrize("make", [lambda: Revolute((0, 1)), lambda: Frame((1, 2)), lambda: Frame(rotation=np.eye(2))])
def test_wrong_shapes_are_refused_at_once(make):
    with refused("must be 3"):
        make()


@pytest.mark.parametrize("name", ["", "1st", "left arm", "a.b", "a-b", "größe", "a\n", 3, None, b"a"])
def test_illegal_names(name):
    mech = with_bodies("crank")
    said = repr(name)
    with refused("body", said):
        mech.add_body(name, 1.0, (0, 0, 0), BALL)
    with refused("joint", said):
        mech.add_joint(name, HINGE, "ground", "crank", at=(0, 0, 0))
    with refused("mechanism", said):
        Mechanism(name)


def test_illegal_name_comes_with_a_legal_one():
    with refused("digits and underscores", "'left_arm' would do"):
        with_bodies("left arm")
    with refused("'_1st' would do"):
        with_bodies("1st")


def test_names_are_taken_once():
    mech = with_joint()
    with refused("body 'crank' already"):
        mech.add_body("crank", 1.0, (0, 0, 0), BALL)
    with refused("joint 'A' already"):
        mech.add_joint("A", HINGE, "ground", "crank", at=(0, 0, 0))
    with refused("body 'ground'", "world"):
        mech.add_body("ground", 1.0, (0, 0, 0), BALL)
    with refused("joint 'ground'"):
        mech.add_joint("ground", HINGE, "ground", "crank", at=(0, 0, 0))
    mech.add_joint("crank", HINGE, "ground", "crank", at=(0, 0, 0))  # bodies and joints have names of their own


@pytest.mark.parametrize("gravity", [(0, 0), (0, 0, np.nan), "down"])
def test_bad_gravity(gravity):
    with refused("mechanism 'm'", "gravity"):
        Mechanism("m", gravity=gravity)
    mech = Mechanism("m")
    with refused("gravity"):
        mech.gravity = gravity
    assert mech.gravity.tolist() == [0, 0, -9.81]


class TestForcesAndStarts:
    @pytest.mark.parametrize("field", ["stiffness", "damping", "free"])
    @pytest.mark.parametrize("value", [np.nan, np.inf, "1", None, (1, 2)])
    def test_bad_spring(self, field, value):
        with refused("joint 'A'", field):
            SpringDamper("A", **{field: value})

    def test_unknown_joint(self):
        mech = with_joint()
        with refused("SpringDamper", "'a'", "'A'"):
            mech.add_force(SpringDamper("a"))
        with refused("start q", "'B'", "'A'"):
            mech.start(q={"B": 0.0})
        with refused("start u", "'B'"):
            mech.start(q={"A": 1.0}, u={"B": 0.0})
        assert not mech.start_q
        assert not mech.forces
        with refused("'A'", "there is none yet"):
            Mechanism("m").start(q={"A": 1.0})

    def test_unfit_force(self):
        mech = with_joint()
        mech.add_force(SpringDamper("A", 1.0))
        with refused("joint 'A'", "already", "sum"):
            mech.add_force(SpringDamper("A", damping=1.0))
        with refused("add_force", "SpringDamper("):
            mech.add_force("A")
        with refused("name of a joint", "3"):
            SpringDamper(3)
        mech.add_body("tip", 1.0, (0, 0, 0), BALL)
        mech.add_joint("W", Fixed(), "crank", "tip", at=(0, 0, 0))
        with refused("joint 'W'", "0 coordinates"):
            mech.add_force(SpringDamper("W"))
        with refused("joint 'W'", "no coordinates"):
            mech.start(q={"W": 0.0})

    def test_starts_without_names(self):
        with refused("start u must be a dictionary", "0.5"):
            with_joint().start(u=0.5)

    @pytest.mark.parametrize("value", [(1, 2), [], [[1.0]], np.nan, "1", None])
    def test_bad_start(self, value):
        with refused("joint 'A'"):
            with_joint().start(q={"A": value})


class TestWholeMechanism:
    def test_good(self):
        check(with_joint())

    def test_no_bodies(self):
        with refused("mechanism 'm'", "no bodies", "add_body"):
            check(Mechanism("m"))

    def test_lost_body(self):
        mech = with_joint()
        mech.add_body("tip", 1.0, (0, 0, 0), BALL)
        with refused("body 'tip' is not connected to ground", "add a joint between 'tip' and 'ground'"):
            check(mech)

    def test_lost_group(self):
        mech = with_bodies(*(f"b{i}" for i in range(20)))
        for i in range(1, 19):
            mech.add_joint(f"J{i}", HINGE, f"b{i}", f"b{i + 1}", at=(0, 0, 0))
        mech.add_joint("J0", HINGE, "b0", "ground", at=(0, 0, 0))
        with refused("bodies 'b1', 'b2'", "more", "'b19'", "not connected to ground"):
            check(mech)

    def test_names_that_lead_nowhere_any_more(self):
        mech = with_joint()
        del mech.bodies["crank"]
        mech.add_body("rod", 1.0, (0, 0, 0), BALL)
        with refused("joint 'A'", "body 'crank'"):
            check(mech)
        mech = with_joint()
        mech.start(q={"A": 1.0})
        del mech.joints["A"]
        with refused("start", "'A'"):
            check(mech)


def test_every_error_is_a_linkwork_error():
    with pytest.raises(LinkworkError):
        Mechanism("1")
