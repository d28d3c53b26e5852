"""Mechanism: elements are kept and resolved; each mistake gives one error that names the thing."""

import copy
import pickle

import numpy as np
import pytest

from linkwork.errors import LinkworkError
from linkwork.mechanism import Fixed, Frame, Mechanism, Prismatic, SpringDamper, inertia
from linkwork.mechanism.checks import check
from linkwork.mechanism.frames import rotation_matrix
from support.bodies import BALL, HINGE, refused, with_bodies, with_joint

QUARTER_TURN = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]  # about z


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
        """Principal moments of zero, and a triangle inequality that holds with equality up to rounding, are kept."""
        rod = inertia.rod(1.0, 1.0)
        turn = rotation_matrix((0.5, 0.5, 0.5, 0.5), "turn") @ rotation_matrix((0.6, 0.8, 0, 0), "turn")
        given = {
            "rod": (1.0, rod),
            "turned_rod": (1.0, turn @ rod @ turn.T),
            "point": (1.0, np.zeros((3, 3))),
            "heavy": (1e30, 1e30 * rod),
        }
        mech = Mechanism("m")
        for name, (mass, matrix) in given.items():
            mech.add_body(name, mass, (0, 0, 0), matrix)
        assert list(mech.bodies) == list(given)
        for name, (mass, matrix) in given.items():
            assert mech.bodies[name].mass == mass
            np.testing.assert_allclose(mech.bodies[name].inertia, matrix, rtol=1e-15, atol=1e-16 * mass)
        moments = np.linalg.eigvalsh(mech.bodies["turned_rod"].inertia)
        np.testing.assert_allclose(moments, (0, 1 / 12, 1 / 12), atol=1e-16)

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


class TestForcesAndStarts:
    @pytest.mark.parametrize("field", ["stiffness", "damping", "free"])
    @pytest.mark.parametrize("value", [np.nan, np.inf, "1", None, [], (1, np.nan), (1, (2, 3)), [[1, 2]]])
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
        with refused("joint 'W'", "no coordinates", "another joint"):
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
        Mechanism("1.")


def test_a_misspelt_attribute_is_refused():
    mech = Mechanism("m")
    with pytest.raises(AttributeError, match="did you mean 'gravity'"):
        mech.gravty = (0, 0, 0)
    with pytest.raises(AttributeError, match="Mechanism has no attribute 'masses'"):
        mech.masses = {}
    mech.folder = None
    assert not hasattr(mech, "gravty")


def test_a_subclass_may_have_attributes_of_its_own():
    class Marked(Mechanism):
        mark: str

    marked = Marked("m")
    marked.mark = "left"
    assert marked.copy().mark == "left"
    with pytest.raises(AttributeError, match="did you mean 'mark'"):
        marked.marc = "right"


def test_a_joint_without_a_place_is_where_the_origins_of_its_bodies_meet():
    mech = with_bodies("a", "b")
    mech.add_joint("A", HINGE, "ground", "a")
    mech.add_joint("B", HINGE, "a", "b", parent_frame=Frame(), child_frame=Frame())
    assert [mech.joints["A"].parent_frame, mech.joints["A"].child_frame] == [Frame(), Frame()]
    assert mech.joints["A"].parent_frame == mech.joints["B"].parent_frame
