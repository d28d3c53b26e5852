"""Couplings: given values are kept, and each mistake names the coupling and the remedy."""

import numpy as np
import pytest

from linkwork.mechanism import Fixed, Mechanism, Prismatic, Spherical, Universal
from linkwork.mechanism.checks import check
from support.bodies import BALL, HINGE, refused, with_bodies
from support.topologies import topology


def geared():
    mech = with_bodies("rotor", "arm", "plate")
    mech.add_joint("motor", HINGE, "ground", "rotor", at=(0, 0, 0))
    mech.add_joint("hinge", Prismatic((1, 0, 0)), "ground", "arm", at=(0, 0, 0))
    mech.add_joint("weld", Fixed(), "arm", "plate", at=(0, 0, 0))
    mech.add_joint("cross", Universal((1, 0, 0), (0, 1, 0)), "rotor", "plate", at=(0, 0, 0))
    mech.add_joint("ball", Spherical(), "rotor", "plate", at=(0, 0, 0))
    return mech


def test_what_is_given_is_kept():
    mech = geared()
    mech.add_coupling("gear", {"motor": 1, "hinge": (0, 2.5, -0.5)}, offset=0.25)
    mech.add_coupling("cam", {"motor": np.array([1, 2, 3, 4]), "cross[2]": 1})
    gear, cam = mech.couplings.values()
    assert [(t.joint, t.element, t.coefficients) for t in gear.terms.values()] == [
        ("motor", 0, (1.0, 0.0, 0.0, 0.0)),
        ("hinge", 0, (0.0, 2.5, -0.5, 0.0)),
    ]
    assert (gear.name, gear.offset, cam.offset) == ("gear", 0.25, 0.0)
    assert [(t.joint, t.element) for t in cam.terms.values()] == [("motor", 0), ("cross", 1)]
    assert cam.terms["motor"].coefficients == (1.0, 2.0, 3.0, 4.0)
    assert repr(mech) == "Mechanism('m': 3 bodies, 5 joints, 0 forces, 2 couplings)"


def test_files_keep_couplings():
    mech = geared()
    assert "couplings" not in mech.to_dict()
    mech.add_coupling("gear", {"motor": 1, "hinge": (-0.0, 1 / 3)}, offset=-0.0)
    data = mech.to_dict()
    assert data["couplings"] == [{"name": "gear", "terms": {"motor": 1.0, "hinge": [-0.0, 1 / 3]}, "offset": -0.0}]
    again = Mechanism.from_dict(data)
    assert repr(again.to_dict()) == repr(data)
    assert again.couplings == mech.couplings


BAD = {
    "no name": (("a.b", {"motor": 1}), ("coupling 'a.b'", "a_b")),
    "name of a body": (("arm", {"motor": 1}), ("body 'arm' already", "this coupling another name")),
    "name of a joint": (("hinge", {"motor": 1}), ("joint 'hinge' already", "this coupling")),
    "name of the world": (("ground", {"motor": 1}), ("stands for the world",)),
    "no terms": (("gear", {}), ("coupling 'gear'", "terms must be a dictionary")),
    "list for terms": (("gear", [("motor", 1)]), ("coupling 'gear'", "terms must be a dictionary")),
    "unknown joint": (("gear", {"moter": 1}), ("coupling 'gear'", "'moter'", "did you mean 'motor'")),
    "unknown joint of several": (("gear", {"moter[1]": 1}), ("no joint 'moter'", "did you mean 'motor'")),
    "no name of a joint": (("gear", {7: 1}), ("coupling 'gear'", "no joint 7")),
    "fixed joint": (("gear", {"weld": 1}), ("coupling 'gear'", "joint 'weld' (Fixed)", "leave it out")),
    "element of one": (("gear", {"motor[1]": 1}), ("joint 'motor' (Revolute)", "'motor[1]'", "name 'motor'")),
    "one of several": (("gear", {"cross": 1}), ("joint 'cross' (Universal)", "name 'cross[1]' or 'cross[2]'")),
    "element beyond": (("gear", {"cross[3]": 1}), ("no coordinate 'cross[3]'", "name 'cross[1]' or 'cross[2]'")),
    "quaternion": (("gear", {"ball": 1}), ("joint 'ball' (Spherical)", "quaternion", "couple joints of fixed axes")),
    "part of a quaternion": (("gear", {"ball[1]": 1}), ("joint 'ball' (Spherical)", "quaternion")),
    "element unclosed": (("gear", {"motor[": 1}), ("joint 'motor'", "'motor['", "name 'motor'")),
    "zero": (("gear", {"motor": 1, "hinge": 0}), ("coefficient of 'hinge' is zero", "leave the joint out")),
    "zeros": (("gear", {"motor": [0, 0]}), ("coefficient of 'motor' is zero",)),
    "no coefficient": (("gear", {"motor": []}), ("coefficient of 'motor' must be a number c", "(c1, c2, ...)")),
    "five coefficients": (("gear", {"motor": [1, 2, 3, 4, 5]}), ("coefficient of 'motor'", "up to 4 numbers")),
    "nested": (("gear", {"motor": [[1, 2]]}), ("coefficient of 'motor'", "one number")),
    "ragged": (("gear", {"motor": [1, [2]]}), ("coefficient of 'motor'", "2 numbers")),
    "text": (("gear", {"motor": "1"}), ("coefficient of 'motor'", "number")),
    "NaN": (("gear", {"motor": np.nan}), ("coefficient of 'motor'", "finite")),
    "infinite offset": (("gear", {"motor": 1}, np.inf), ("coupling 'gear'", "offset", "finite")),
}


@pytest.mark.parametrize(("arguments", "words"), BAD.values(), ids=BAD)
def test_bad_coupling_is_named_and_not_added(arguments, words):
    mech = geared()
    with refused(*words):
        mech.add_coupling(*arguments)
    assert not mech.couplings


def test_names_are_taken():
    mech = geared()
    mech.add_coupling("gear", {"motor": 1})
    with refused("a coupling 'gear' already"):
        mech.add_coupling("gear", {"motor": 2})
    with refused("coupling 'gear' already", "this body another name"):
        mech.add_body("gear", 1.0, (0, 0, 0), BALL)
    with refused("coupling 'gear' already", "this joint another name"):
        mech.add_joint("gear", HINGE, "ground", "arm", at=(0, 0, 0))


def test_a_joint_that_is_gone_is_noticed():
    mech = geared()
    mech.add_coupling("gear", {"motor": 1, "hinge": 2})
    check(mech)
    del mech.joints["motor"]
    with refused("coupling 'gear'", "no joint 'motor'"):
        topology(mech)


MISTAKES = {
    "no terms": ({"name": "gear"}, ("couplings[0]", "'terms' of 'gear' is missing")),
    "unknown key": ({"name": "gear", "terms": {"motor": 1}, "ofset": 1}, ("couplings[0].ofset", "'offset'")),
    "unknown joint": ({"name": "gear", "terms": {"moto": 1}}, ("couplings[0]", "did you mean 'motor'")),
    "a number": (7, ("couplings[0]", "object")),
}


@pytest.mark.parametrize(("item", "words"), MISTAKES.values(), ids=MISTAKES)
def test_mistakes_in_a_file(item, words):
    with refused(*words):
        Mechanism.from_dict({**geared().to_dict(), "couplings": [item]})
