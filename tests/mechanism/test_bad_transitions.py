"""Transitions that no mechanism can have are refused, naming them and the remedy."""

import numpy as np
import pytest

import linkwork as lw
from linkwork.mechanism.checks import check
from support.bodies import HINGE, refused
from support.transitions import latched

NOW = lw.Time(0)
ENDS = ((0, 0, 0), (1, 0, 0))

VALUES = {
    "lock: no name": (lambda: lw.Lock(3), ("Lock: joint must be a name", "3")),
    "lock: zero": (lambda: lw.Lock("ball", 0), ("Lock of joint 'ball': speeds", "whole number of at least 1, not 0")),
    "lock: half": (lambda: lw.Lock("ball", (1, 1.5)), ("Lock of joint 'ball': speeds", "not 1.5")),
    "lock: truth": (lambda: lw.Lock("ball", True), ("speeds", "not True")),
    "lock: none": (lambda: lw.Lock("ball", ()), ("speeds must not be empty",)),
    "lock: twice": (lambda: lw.Lock("ball", (2, 2)), ("speeds names one twice",)),
    "unlock: word": (lambda: lw.Unlock("ball", "all"), ("Unlock of joint 'ball': speeds", "not 'all'")),
    "pin: no name": (lambda: lw.Pin(None, "lid", HINGE), ("Pin: parent must be a name, not None",)),
    "pin: one body": (lambda: lw.Pin("lid", "lid", HINGE), ("joins 'lid' to itself", "two different bodies")),
    "pin: the ground": (lambda: lw.Pin("ground", "ground", HINGE), ("joins 'ground' to itself",)),
    "pin: class": (lambda: lw.Pin("lid", "knob", lw.Revolute), ("Pin of 'lid' and 'knob': kind must be a joint",)),
    "pin: axis": (lambda: lw.Pin("lid", "knob", lw.Revolute((0, 0, 0))), ("Revolute: axis is zero",)),
    "pin: point": (lambda: lw.Pin("lid", "knob", HINGE, (0, 0, 0)), ("parent_frame must be a Frame(position",)),
    "pin: frame": (
        lambda: lw.Pin("lid", "knob", HINGE, child_frame=lw.Frame((0, np.nan, 0))),
        ("Pin of 'lid' and 'knob': child_frame: position", "finite"),
    ),
    "release: no name": (lambda: lw.Release(lw.Fixed()), ("Release: joint must be a name",)),
    "stop: no bound": (lambda: lw.Stop("hinge"), ("Stop of joint 'hinge' has no bound", "lower=, upper= or both")),
    "stop: bounds": (lambda: lw.Stop("hinge", 1, 1), ("lower = 1 must be less than upper = 1", "Lock")),
    "stop: infinite": (lambda: lw.Stop("hinge", -np.inf), ("Stop of joint 'hinge': lower must be finite",)),
    "stop: words": (lambda: lw.Stop("hinge", upper="far"), ("upper must be one number",)),
    "stop: gain": (lambda: lw.Stop("hinge", 0, restitution=1.1), ("restitution must be from 0", "not 1.1")),
    "stop: loss": (lambda: lw.Stop("hinge", 0, restitution=-0.1), ("restitution must be from 0",)),
    "stop: coordinate": (lambda: lw.Stop("cross", 0, coordinate=0), ("Stop of joint 'cross': coordinate", "not 0")),
    "impulse: point": (lambda: lw.Impulse("lid", 1), ("Impulse on body 'lid': point must be 3 numbers",)),
    "impulse: force": (lambda: lw.Impulse("lid", force=(0, 0, np.inf)), ("body 'lid': force must be finite",)),
    "impulse: torque": (lambda: lw.Impulse("lid", torque="x"), ("body 'lid': torque must be 3 numbers",)),
    "time": (lambda: lw.Time(np.inf), ("Time: t must be finite",)),
    "time: word": (lambda: lw.Time("now"), ("Time: t must be one number",)),
    "crossing: quantity": (lambda: lw.Crossing(3, 1), ("quantity must be a coordinate such as 'hinge.q'", "not 3")),
    "crossing: value": (lambda: lw.Crossing("hinge", np.nan), ("Crossing of 'hinge': value must be finite",)),
    "crossing: direction": (lambda: lw.Crossing("hinge", 1, 2), ("direction must be +1 (rising), -1", "not 2")),
    "crossing: distance": (
        lambda: lw.Crossing(lw.PointDistance(("lid", "ground"), ENDS), 0),
        ("Crossing of a PointDistance: value must be positive",),
    ),
    "distance: rate": (lambda: lw.PointDistance(("lid", "ground"), ENDS, rate=1), ("rate must be True or False",)),
    "distance: bodies": (lambda: lw.PointDistance("lid", ENDS), ("PointDistance: bodies must be the names of two",)),
    "distance: one": (lambda: lw.PointDistance(("lid", "lid"), ENDS), ("both points are on 'lid'",)),
    "distance: points": (lambda: lw.PointDistance(("lid", "ground"), (0, 0, 0)), ("points (one in", "2 x 3 numbers")),
}


@pytest.mark.parametrize("case", VALUES)
def test_values(case):
    make, words = VALUES[case]
    with refused(*words):
        make()


ADDED = {
    "name": ("a.b", lw.Lock("hinge"), NOW, ("transition 'a.b'", "'a_b' would do")),
    "name of a joint": ("hinge", lw.Lock("hinge"), NOW, ("there is a joint 'hinge' already",)),
    "ground": ("ground", lw.Lock("hinge"), NOW, ("stands for the world",)),
    "no action": ("new", "lock", NOW, ("transition 'new': give a Lock, Unlock", "not 'lock'")),
    "class": ("new", lw.Lock, NOW, ("transition 'new': give a Lock",)),
    "no trigger": ("new", lw.Lock("hinge"), 0.7, ("transition 'new': when must be a Time", "not 0.7")),
    "never": ("new", lw.Lock("hinge"), None, ("transition 'new': give a trigger", "'new.command'")),
    "stop when": ("new", lw.Stop("hinge", 0), NOW, ("transition 'new': a Stop", "leave out when=")),
    "lock unknown": ("new", lw.Lock("hing"), NOW, ("transition 'new': there is no joint 'hing'", "'hinge'?")),
    "lock fixed": ("new", lw.Lock("stay"), NOW, ("joint 'stay' (Fixed) has nothing to lock", "another joint")),
    "unlock fixed": ("new", lw.Unlock("stay"), NOW, ("joint 'stay' (Fixed) has nothing to unlock",)),
    "lock pin": ("new", lw.Lock("pin"), NOW, ("'pin' is a transition: name a joint that add_joint added",)),
    "one direction": ("new", lw.Lock("hinge", 2), NOW, ("(Revolute) has one speed only, not 2",)),
    "directions": ("new", lw.Lock("ball", (1, 4)), NOW, ("(Spherical) has speeds 1 to 3, not 4",)),
    "pin unknown": ("new", lw.Pin("lit", "ground", HINGE), NOW, ("no body 'lit'", "did you mean 'lid'?")),
    "release unknown": ("new", lw.Release("pim"), NOW, ("neither a pin nor a joint 'pim'", "'pin'?")),
    "release lock": ("new", lw.Release("latch"), NOW, ("'latch' is a Lock, which leaves nothing to release",)),
    "stop unknown": ("new", lw.Stop("hing", 0), None, ("no joint 'hing'", "did you mean 'hinge'?")),
    "stop fixed": ("new", lw.Stop("stay", 0), None, ("(Fixed) has no angle or displacement to bound",)),
    "stop ball": ("new", lw.Stop("ball", 0, coordinate=1), None, ("(Spherical) has no angle or displacement",)),
    "stop of several": ("new", lw.Stop("cross", 0), None, ("several coordinates", "coordinate=1 or 2")),
    "stop beyond": ("new", lw.Stop("hinge", 0, coordinate=2), None, ("no angle or displacement 2", "must be 1")),
    "stop free": ("new", lw.Stop("float", 0, coordinate=1), None, ("(Free) has no angle or displacement",)),
    "impulse unknown": ("new", lw.Impulse("lip"), NOW, ("transition 'new': there is no body 'lip'", "'lid'?")),
    "impulse ground": ("new", lw.Impulse("ground"), NOW, ("acts on the ground, which nothing moves",)),
    "crossing unknown": ("new", lw.Lock("ball"), lw.Crossing("hing.q", 1), ("no joint 'hing'", "'hinge'?")),
    "crossing pin": ("new", lw.Lock("ball"), lw.Crossing("pin.q", 1), ("'pin' is a transition",)),
    "crossing fixed": ("new", lw.Lock("ball"), lw.Crossing("stay", 1), ("(Fixed) has no coordinates",)),
    "crossing rate": (
        "new", lw.Lock("ball"), lw.Crossing("hinge.x", 1), ("no coordinate or speed 'hinge.x'", "'hinge.u'")
    ),
    "crossing variable": ("new", lw.Lock("ball"), lw.Crossing("hinge.f[4]", 1), ("no coordinate or speed 'hinge.f",)),
    "crossing speed": ("new", lw.Lock("ball"), lw.Crossing("ball.u", 1), ("no coordinate or speed", "'ball.u[1]'")),
    "unlock at one speed": (
        "new", lw.Unlock("ball"), lw.Crossing("hinge.u", 2.0, 0), ("'fast' (Lock) and 'new' (Unlock)", "'hinge.u'")
    ),
    "crossing of several": (
        "new", lw.Lock("ball"), lw.Crossing("cross.q", 1), ("or speed 'cross.q'", "'cross.q[1]' or 'cross.q[2]'")
    ),
    "crossing ball": ("new", lw.Lock("hinge"), lw.Crossing("ball.q[2]", 1), ("is of a quaternion", "'ball.u[3]'")),
    "crossing free": ("new", lw.Lock("hinge"), lw.Crossing("float[5]", 1), ("'float[5]' is of a quaternion",)),
    "distance unknown": (
        "new", lw.Lock("hinge"), lw.Crossing(lw.PointDistance(("lid", "nob"), ENDS), 1), ("no body 'nob'", "'knob'?")
    ),
    "unlock at once": ("new", lw.Unlock("hinge"), lw.Time(0.7), ("'latch' (Lock) and 'new' (Unlock)", "Time(t=0.7)")),
    "lock at once": ("new", lw.Lock("cross", 2), lw.Crossing("hinge", 1), ("'free' (Unlock) and 'new' (Lock)",)),
    "either way": ("new", lw.Lock("cross"), lw.Crossing("hinge.q", 1, 0), ("'free' (Unlock) and 'new' (Lock)",)),
    "release at once": (
        "new",
        lw.Release("pin"),
        lw.Crossing(lw.PointDistance(("ground", "lid"), ENDS[::-1]), 0.5, -1),
        ("'pin' (Pin) and 'new' (Release) act on 'pin' at the same event",),
    ),
    "start": ("new", lw.Stop("hinge", upper=0.5), None, ("start q of joint 'hinge'", "0.6 is above upper = 0.5")),
}  # fmt: skip


def with_some():
    mech = latched()
    mech.start(q={"hinge": 0.6})
    near = lw.Crossing(lw.PointDistance(("lid", "ground"), ENDS), 0.5, -1)
    mech.add_transition("latch", lw.Lock("hinge"), when=lw.Time(0.7))
    mech.add_transition("free", lw.Unlock("cross", (1, 2)), when=lw.Crossing("hinge.q", 1))
    mech.add_transition("pin", lw.Pin("lid", "ground", HINGE), when=near)
    mech.add_transition("bumper", lw.Stop("slide", lower=-1))
    mech.add_transition("fast", lw.Lock("ball"), when=lw.Crossing("hinge.u", 2.0, -1))
    return mech


@pytest.mark.parametrize("case", ADDED)
def test_added(case):
    name, action, when, words = ADDED[case]
    mech = with_some()
    before = mech.to_dict()
    with refused(*words):
        mech.add_transition(name, action, when)
    assert mech.to_dict() == before


def test_unlocked_but_never_locked():
    mech = latched()
    mech.add_transition("free", lw.Unlock("hinge"), when=lw.Time(1))
    with refused("transition 'free': nothing locks joint 'hinge': add a Lock"):
        check(mech)
    mech.add_transition("latch", lw.Lock("hinge"), when=lw.Time(2))
    check(mech)
    mech.add_transition("part", lw.Lock("ball", 1), when=lw.Time(1))
    mech.add_transition("other", lw.Unlock("ball", (2, 3)), when=lw.Time(2))
    with refused("transition 'other': nothing locks joint 'ball' in speeds 2 or 3"):
        check(mech)


def test_released_joints_leave_all_connected():
    mech = latched()
    mech.add_transition("cut", lw.Release("stay"), when=lw.Time(1))
    check(mech)
    mech.add_transition("drop", lw.Release("slide"), when=lw.Time(2))
    with refused("transition 'cut': without joints 'stay', 'slide', all released,", "'block' is not connected"):
        check(mech)
    del mech.transitions["cut"]
    check(mech)
    mech.add_transition("lose", lw.Release("ball"), when=lw.Time(2))
    with refused("'block' is not connected to ground", "add a Free joint between 'block' and 'ground'"):
        check(mech)


def test_one_joint_that_carries_a_body():
    mech = latched()
    del mech.joints["stay"]
    mech.add_transition("drop", lw.Release("ball"), when=lw.Time(2))
    with refused("transition 'drop': without joint 'ball' body 'ring' is not connected to ground"):
        check(mech)


@pytest.mark.parametrize(("value", "words"), [(-2, "-2 is below lower = -1"), (3.0, "3 is above upper = 2")])
def test_starts_beyond_stops(value, words):
    mech = latched()
    mech.add_transition("bumper", lw.Stop("slide", -1, 2))
    with refused(f"start q of joint 'slide': {words} of its Stop", "within the bounds"):
        mech.start(q={"hinge": 1.0, "slide": value})
    assert not mech.start_q
    mech.start_q["slide"] = np.array([value])
    with refused(f"start q of joint 'slide': {words}"):
        check(mech)


@pytest.mark.parametrize("part", ["latch", "free", "bumper", "pin"])
def test_what_is_gone_is_noticed(part):
    mech = with_some()
    mech.add_transition("hook", lw.Release("pin"), when=lw.Command())
    mech.add_transition("hold", lw.Lock("cross"), when=lw.Command())
    mech.start_q.clear()
    check(mech)
    if part == "pin":
        del mech.transitions["pin"]
        with refused("transition 'hook'", "neither a pin nor a joint 'pin'"):
            check(mech)
    else:
        joint = mech.transitions[part].action.joint
        mech.joints["other"] = mech.joints.pop(joint)
        with refused(f"transition '{part}'", f"no joint '{joint}'"):
            check(mech)


def test_contradictions_are_found_at_the_end_as_well():
    mech = latched()
    mech.add_transition("latch", lw.Lock("hinge"), when=lw.Time(1))
    mech.add_transition("free", lw.Unlock("hinge"), when=lw.Time(2))
    other = latched()
    other.add_transition("free", lw.Unlock("hinge"), when=lw.Time(1))
    mech.transitions["free"] = other.transitions["free"]
    with refused("'latch' (Lock) and 'free' (Unlock) act on 'hinge' at the same event"):
        check(mech)


LOCK = {"name": "latch", "type": "lock", "joint": "hinge"}
PIN = {"name": "pin", "type": "pin", "parent": "lid", "child": "ground", "when": {"type": "command"}}
FILES = {
    "a number": (7, ("transitions[0]", "a transition: an object")),
    "unknown type": ({**LOCK, "type": "lok"}, ("transitions[0].type", "'latch' has the unknown type 'lok'", "'lock'")),
    "unknown key": ({**LOCK, "joints": "A"}, ("transitions[0].joints", "did you mean 'joint'?")),
    "no joint": ({"name": "latch", "type": "lock"}, ("transitions[0]", "'joint' of 'latch' is missing")),
    "bad value": ({**LOCK, "speeds": [0]}, ("transitions[0]", "whole number of at least 1")),
    "no when": (LOCK, ("transitions[0]", "give a trigger")),
    "trigger": ({**LOCK, "when": {"type": "tim"}}, ("transitions[0].when.type", "trigger has the unknown type 'tim'")),
    "no time": ({**LOCK, "when": {"type": "time"}}, ("transitions[0].when", "'t' is missing")),
    "when a number": ({**LOCK, "when": 3}, ("transitions[0].when", "a trigger: an object")),
    "quantity": (
        {**LOCK, "when": {"type": "crossing", "quantity": {"points": []}, "value": 1}},
        ("transitions[0].when.quantity", "'bodies' is missing"),
    ),
    "no kind": (PIN, ("transitions[0]", "'kind' of 'pin' is missing")),
    "kind": ({**PIN, "kind": {"type": "revolut"}}, ("transitions[0].kind.type", "did you mean 'revolute'?")),
    "no axis": ({**PIN, "kind": {"type": "revolute"}}, ("transitions[0].kind", "'axis' is missing")),
    "frame": (
        {**PIN, "kind": {"type": "fixed"}, "child_frame": {"pos": [0, 0, 0]}},
        ("transitions[0].child_frame.pos", "'position'"),
    ),
}


@pytest.mark.parametrize("case", FILES)
def test_mistakes_in_files(case):
    item, words = FILES[case]
    with refused(*words):
        lw.Mechanism.from_dict({**latched().to_dict(), "transitions": [item]})
