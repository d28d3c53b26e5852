"""Springs between points and applied wrenches as a user describes them; springs in joints stand in test_mechanism."""

import copy
import pickle
import re

import numpy as np
import pytest

from linkwork.errors import MechanismError
from linkwork.mechanism import Mechanism, Revolute, SpringDamper, Wrench, inertia

POINTS = ((0, 0, 1), (0.5, 0, 0))


def refused(*words):
    return pytest.raises(MechanismError, match="(?s)" + "".join(f"(?=.*{re.escape(word)})" for word in words))


def two_arms():
    mech = Mechanism("m")
    for name in ("left", "right"):
        mech.add_body(name, 1.0, (0, 0, 0), inertia.sphere(1.0, 0.1))
        mech.add_joint(f"{name}_hinge", Revolute((0, 1, 0)), "ground", name, at=(0, 0, 0))
    return mech


def between(bodies=("left", "right"), points=POINTS, **given):
    return SpringDamper(bodies=bodies, points=points, **given)


def test_a_spring_keeps_what_it_is_given():
    spring = between(["left", "ground"], np.array(POINTS), stiffness=3, damping=np.float32(0.5), free=1, name="s")
    assert (spring.bodies, spring.points) == (("left", "ground"), ((0.0, 0.0, 1.0), (0.5, 0.0, 0.0)))
    assert (spring.stiffness, spring.damping, spring.free, spring.name) == (3.0, 0.5, 1.0, "s")
    assert all(type(number) is float for point in spring.points for number in point)
    assert isinstance(spring, SpringDamper)
    assert spring == between(("left", "ground"), POINTS, stiffness=3.0, damping=0.5, free=1.0, name="s")
    assert spring != between(("left", "ground"), POINTS, stiffness=3.0, damping=0.5, free=1.0, name="t")


@pytest.mark.parametrize("force", [between(stiffness=1.0), SpringDamper("A", 2.0), Wrench("left", (0, 1, 0))], ids=str)
def test_forces_can_be_copied_and_written(force):
    for other in (copy.deepcopy(force), pickle.loads(pickle.dumps(force)), eval(repr(force))):
        assert other == force
        assert type(other) is type(force)


def test_names_may_be_left_out_once():
    mech = two_arms()
    for force in (between(), Wrench("left")):
        mech.add_force(force)
        with refused("force", repr(force.name), "already", "another name"):
            mech.add_force(force)
    assert [force.name for force in mech.forces] == ["spring", "wrench"]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, ("give a joint", "bodies=", "points=")),
        ({"bodies": ("left", "right")}, ("give a joint", "points=")),
        ({"points": POINTS}, ("give a joint", "bodies=")),
        ({"name": "s"}, ("give a joint",)),
        ({"joint": "A", "points": POINTS}, ("a joint does not go with points",)),
        ({"joint": "A", "bodies": ("left", "right"), "points": POINTS}, ("a joint does not go with bodies, points",)),
        ({"joint": "A", "name": "s"}, ("a joint does not go with name",)),
    ],
)
def test_a_spring_is_in_a_joint_or_between_points(given, words):
    with refused("SpringDamper", *words):
        SpringDamper(**given)


@pytest.mark.parametrize("bodies", ["left", ("left",), ("left", "right", "ground"), ("left", 3), 7])
def test_bodies_that_are_not_two_names(bodies):
    with refused("SpringDamper 's'", "bodies", "two bodies"):
        between(bodies, name="s")


@pytest.mark.parametrize("points", [(0, 0, 1), POINTS[:1], (*POINTS, (0, 0, 0)), "here", ((0, 0, 1), (0, 0))])
def test_points_that_are_not_two(points):
    with refused("SpringDamper 's'", "points", "2 x 3 numbers"):
        between(points=points, name="s")


@pytest.mark.parametrize("bad", [np.nan, np.inf, "1", None, (1, 2)])
def test_numbers_of_springs(bad):
    for field in ("stiffness", "damping", "free"):
        with refused("SpringDamper 's'", field):
            between(name="s", **{field: bad})
    with refused("SpringDamper 's'", "points"):
        between(points=((0, 0, bad), (0, 0, 0)), name="s")
    with refused("Wrench 'w'", "point"):
        Wrench("left", (0, bad, 0), name="w")


@pytest.mark.parametrize("name", ["", "-a", "a.b", 3, None])
def test_illegal_names(name):
    with refused("SpringDamper", repr(name)):
        between(name=name)
    with refused("Wrench", repr(name)):
        Wrench("left", name=name)


@pytest.mark.parametrize(
    ("force", "words"),
    [
        (between(("left", "rihgt"), name="s"), ("SpringDamper 's'", "'rihgt'", "did you mean 'right'")),
        (between(("left_hinge", "right"), name="s"), ("SpringDamper 's'", "no body 'left_hinge'")),
        (between(("left", "left"), name="s"), ("SpringDamper 's'", "both ends are on 'left'", "two bodies")),
        (between(("ground", "ground"), name="s"), ("SpringDamper 's'", "both ends are on 'ground'")),
        (Wrench("lfet", name="w"), ("Wrench 'w'", "did you mean 'left'")),
        (Wrench(3, name="w"), ("Wrench 'w'", "no body 3")),
        (Wrench("ground", name="w"), ("Wrench 'w'", "ground", "name a body")),
        (between(name="ground"), ("SpringDamper 'ground'", "world")),
        (between(name="left"), ("body 'left' already", "this SpringDamper another name")),
        (Wrench("left", name="right_hinge"), ("joint 'right_hinge' already", "this Wrench another name")),
    ],
    ids=str,
)
def test_forces_that_fit_nowhere_are_not_added(force, words):
    mech = two_arms()
    with refused(*words):
        mech.add_force(force)
    assert not mech.forces


def test_names_of_forces_are_taken():
    mech = two_arms()
    mech.add_force(between(name="s"))
    with refused("force 's' already", "this body"):
        mech.add_body("s", 1.0, (0, 0, 0), inertia.sphere(1.0, 0.1))
    with refused("force 's' already", "this joint"):
        mech.add_joint("s", Revolute((0, 1, 0)), "left", "right", at=(0, 0, 0))
    with refused("force 's' already", "this Wrench"):
        mech.add_force(Wrench("left", name="s"))


def test_bodies_removed_later_are_missed():
    import linkwork as lw

    for force, words in ((between(name="s"), "SpringDamper 's'"), (Wrench("right", name="w"), "Wrench 'w'")):
        mech = two_arms()
        mech.add_force(force)
        del mech.joints["right_hinge"], mech.bodies["right"]
        with refused(words, "no body 'right'"):
            lw.compile(mech)
