"""Bodies and joints that cannot be: one error that names the thing, and nothing is added."""

import numpy as np
import pytest

from linkwork.mechanism import Frame, Mechanism, Revolute
from support.bodies import BALL, HINGE, refused, with_bodies, with_joint

BAD_BODIES = {
    "negative mass": ({"mass": -2.0}, ("mass", "negative", "-2")),
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
    "class for kind": ({"kind": Revolute}, ("kind must be a joint", "Revolute(axis=")),
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


@pytest.mark.parametrize("name", ["", " arm", "-arm", "a.b", "a=b", "größe", "a\n", 3, None, b"a"])
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
    with refused("it has '.'", "ASCII letters, digits", "'left_arm' would do"):
        with_bodies("left.arm")
    with refused("it begins with '-'", "'_arm' would do"):
        with_bodies("-arm")


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
