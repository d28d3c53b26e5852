"""Distances: given values are kept, and each mistake names the distance and the remedy."""

import numpy as np
import pytest

from linkwork.mechanism import Mechanism
from linkwork.mechanism.checks import check
from support.bodies import BALL, HINGE, refused, with_bodies
from support.topologies import topology

POINTS = ((0, 0, 0), (0.3, 0, 0.4))


def arms():
    mech = with_bodies("one", "two")
    mech.add_body("far", 1.0, (0, 0, 0), BALL, origin=(3, 0, 0), rotation=((0, 0, 1), (0, 1, 0), (-1, 0, 0)))
    mech.add_joint("A", HINGE, "ground", "one", at=(0, 0, 0))
    mech.add_joint("B", HINGE, "one", "two", at=(0, 0, 0))
    mech.add_joint("C", HINGE, "ground", "far", at=(3, 0, 0))
    return mech


def test_what_is_given_is_kept():
    mech = arms()
    mech.add_distance("rod", ["one", "two"], np.array(POINTS), length=2)
    mech.add_distance("stay", bodies=("ground", "far"), points=POINTS)
    rod, stay = mech.distances.values()
    assert (rod.name, rod.bodies, rod.points, rod.length) == ("rod", ("one", "two"), POINTS, 2.0)
    assert repr(mech) == "Mechanism('m': 3 bodies, 3 joints, 0 forces, 2 distances)"
    assert stay.length == pytest.approx(np.hypot(3.4, 0.3), rel=1e-15)  # as the bodies stand at first
    check(mech)


def test_files_keep_distances():
    mech = arms()
    assert "distances" not in mech.to_dict()
    mech.add_distance("rod", bodies=("one", "far"), points=((-0.0, 1 / 3, 0), (0.0, 0.0, 0.0)))
    data = mech.to_dict()
    points = [[-0.0, 1 / 3, 0.0], [0.0, 0.0, 0.0]]
    length = mech.distances["rod"].length
    assert data["distances"] == [{"name": "rod", "bodies": ["one", "far"], "points": points, "length": length}]
    again = Mechanism.from_dict(data)
    assert repr(again.to_dict()) == repr(data)
    assert again == mech
    del data["distances"][0]["length"]
    assert Mechanism.from_dict(data) == mech


def test_files_on_disk(tmp_path):
    mech = arms()
    mech.add_distance("rod", ("one", "far"), POINTS, 1 / 3)
    mech.save(tmp_path / "m.json")
    assert Mechanism.load(tmp_path / "m.json") == mech
    text = (tmp_path / "m.json").read_text().replace('["one", "far"]', '["one", "fat"]')
    (tmp_path / "m.json").write_text(text)
    with refused("distances[0]", "did you mean 'far'?"):
        Mechanism.load(tmp_path / "m.json")


BAD = {
    "no name": ({"name": "a.b"}, ("distance 'a.b'", "a_b")),
    "name of a body": ({"name": "one"}, ("body 'one' already", "this distance another name")),
    "name of a coupling": ({"name": "gear"}, ("coupling 'gear' already", "this distance")),
    "name of a distance": ({"name": "stay"}, ("distance 'stay' already", "this one another name")),
    "unknown body": ({"bodies": ("one", "twoo")}, ("distance 'rod'", "no body 'twoo'", "did you mean 'two'")),
    "one body": ({"bodies": ("one",)}, ("distance 'rod'", "names of two bodies")),
    "a string": ({"bodies": "one"}, ("distance 'rod'", "names of two bodies")),
    "no body": ({"bodies": ("one", 3)}, ("distance 'rod'", "no body 3")),
    "the same body": ({"bodies": ("one", "one")}, ("distance 'rod'", "both ends are on 'one'", "name two bodies")),
    "the ground alone": ({"bodies": ("ground", "ground")}, ("both ends are on 'ground'",)),
    "one point": ({"points": (0, 0, 0)}, ("distance 'rod'", "points (one in the frame of each body)", "2 x 3")),
    "no finite point": ({"points": ((0, 0, 0), (0, np.nan, 0))}, ("distance 'rod'", "finite")),
    "zero length": ({"length": 0.0}, ("distance 'rod'", "length must be positive, not 0 m", "Spherical joint")),
    "negative length": ({"length": -0.5}, ("distance 'rod'", "length must be positive", "-0.5 m")),
    "no number": ({"length": "long"}, ("distance 'rod': length", "one number")),
    "infinite length": ({"length": np.inf}, ("distance 'rod': length", "finite")),
    "no length": ({"points": ((0, 0, 0), (0, 0, 0))}, ("distance 'rod'", "coincide in the reference poses", "length=")),
}


@pytest.mark.parametrize("case", BAD)
def test_mistakes(case):
    mech = arms()
    mech.add_coupling("gear", {"A": 1.0, "B": 1.0})
    mech.add_distance("stay", ("ground", "far"), POINTS)
    before = mech.to_dict()
    wrong, words = BAD[case]
    given = {"name": "rod", "bodies": ("one", "two"), "points": POINTS} | wrong
    with refused(*words):
        mech.add_distance(**given)
    assert mech.to_dict() == before


def test_its_name_is_taken():
    mech = arms()
    mech.add_distance("rod", ("one", "two"), POINTS)
    with refused("there is a distance 'rod' already: give this coupling another name"):
        mech.add_coupling("rod", {"A": 1.0})
    with refused("there is a distance 'rod' already: give this body another name"):
        mech.add_body("rod", 1.0, (0, 0, 0), BALL)


def test_a_body_that_is_gone():
    mech = arms()
    mech.add_distance("rod", ("one", "far"), POINTS)
    del mech.bodies["far"], mech.joints["C"]
    with refused("distance 'rod': there is no body 'far'"):
        topology(mech)


def test_a_distance_connects_nothing():
    mech = with_bodies("one", "two")
    mech.add_joint("A", HINGE, "ground", "one", at=(0, 0, 0))
    mech.add_distance("rod", ("one", "two"), POINTS)
    with refused("body 'two' is not connected to ground"):
        topology(mech)
