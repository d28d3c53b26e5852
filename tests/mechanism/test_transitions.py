"""Transitions: given values are kept, in Python and in files."""

import json

import numpy as np
import pytest

import linkwork as lw
from linkwork.mechanism.checks import check
from support.bodies import BALL, HINGE, refused
from support.transitions import latched

POINTS = ((0.1, -0.0, 1 / 3), (0, 0, 1e-300))
NEAR = lw.PointDistance(("lid", "ground"), POINTS)
APART = lw.PointDistance(("lid", "knob"), POINTS, rate=True)


def every_kind():
    mech = latched()
    frame = lw.Frame((0.3, -0.0, 1 / 3), (0.6, 0, 0.8, 0))
    mech.add_transition("latch", lw.Lock("hinge"), when=lw.Time(0.7))
    mech.add_transition("part", lw.Lock("ball", (3, 1)), when=lw.Command())
    mech.add_transition("free", lw.Unlock("ball", 1), when=lw.Crossing("cross[2]", 1 / 3, -1))
    mech.add_transition("pin", lw.Pin("knob", "ground", lw.Revolute((0, 1, 2)), parent_frame=frame), when=lw.Command())
    mech.add_transition("weld2", lw.Pin("ground", "lid", lw.Fixed()), when=lw.Crossing(NEAR, 0.2, 0))
    mech.add_transition("open", lw.Release("pin"), when=lw.Time(-1))
    mech.add_transition("cut", lw.Release("stay"), when=lw.Crossing("hinge", -0.0))
    mech.add_transition("bumper", lw.Stop("slide", lower=-0.0, upper=1 / 3, restitution=0.5))
    mech.add_transition("rim", lw.Stop("cross", upper=2, coordinate=2))
    mech.add_transition("kick", lw.Impulse("lid", (0, 0, 0.1), torque=(0, -0.0, 2)), when=lw.Time(3))
    mech.add_transition("catch", lw.Lock("slide"), when=lw.Crossing("ball.u[3]", -1 / 3, 0))
    mech.add_transition("bumped", lw.Impulse("lid"), when=lw.Crossing(APART, 0.0, -1))
    check(mech)
    return mech


def test_what_is_given_is_kept():
    mech = every_kind()
    of = {name: (one.action, one.when) for name, one in mech.transitions.items()}
    assert of["latch"] == (lw.Lock("hinge"), lw.Time(0.7))
    assert (of["part"][0].speeds, of["free"][0].speeds) == ((1, 3), (1,))
    assert of["part"][0].elements(mech) == (0, 2)
    assert lw.Lock("ball").elements(mech) == (0, 1, 2)
    assert of["weld2"][1].quantity == NEAR
    assert (of["weld2"][1].watched(mech), of["free"][1].watched(mech)) == (NEAR, ("cross", 1, False))
    assert (of["catch"][1].watched(mech), of["bumped"][1].watched(mech)) == (("ball", 2, True), APART)
    assert of["bumper"] == (lw.Stop("slide", 0, 1 / 3, 0.5), None)
    assert (of["bumper"][0].element, of["rim"][0].element) == (0, 1)
    assert of["kick"][0].force == (0.0, 0.0, 0.0)
    assert repr(mech) == "Mechanism('m': 4 bodies, 6 joints, 0 forces, 12 transitions)"


def test_arrays_are_taken():
    assert lw.Lock("ball", np.array([2, 3])) == lw.Lock("ball", [3, 2])
    assert lw.Stop("hinge", lower=np.float64(0.5)) == lw.Stop("hinge", lower=0.5)
    assert lw.Impulse("lid", np.zeros(3)) == lw.Impulse("lid")
    assert type(lw.Lock("ball", np.array(2)).speeds[0]) is int


def test_files_keep_transitions(tmp_path):
    assert "transitions" not in latched().to_dict()
    mech = every_kind()
    again = lw.Mechanism.from_dict(json.loads(json.dumps(mech.to_dict())))
    assert again == mech
    assert again.transitions == mech.transitions
    assert json.dumps(again.to_dict()) == json.dumps(mech.to_dict())
    mech.save(tmp_path / "m.json")
    loaded = lw.Mechanism.load(tmp_path / "m.json")
    assert json.dumps(loaded.to_dict()) == json.dumps(mech.to_dict())


def test_how_they_stand_in_files():
    items = {item["name"]: item for item in every_kind().to_dict()["transitions"]}
    assert items["latch"] == {"name": "latch", "type": "lock", "joint": "hinge", "when": {"type": "time", "t": 0.7}}
    assert items["part"]["speeds"] == [1, 3]
    assert items["pin"]["kind"] == {"type": "revolute", "axis": list(lw.Revolute((0, 1, 2)).axis)}
    assert items["pin"].keys() == {"name", "type", "parent", "child", "kind", "parent_frame", "when"}
    assert items["weld2"]["when"]["quantity"] == {"bodies": ["lid", "ground"], "points": [*map(list, POINTS)]}
    assert items["bumped"]["when"]["quantity"] == {
        "bodies": ["lid", "knob"],
        "points": [*map(list, POINTS)],
        "rate": True,
    }
    assert items["bumper"].keys() == {"name", "type", "joint", "lower", "upper", "restitution"}


def test_what_a_file_may_leave_out():
    data = latched().to_dict()
    crossing = {"type": "crossing", "quantity": "hinge", "value": 1}
    pin = {"name": "pin", "type": "pin", "parent": "lid", "child": "knob", "kind": {"type": "spherical"}}
    data["transitions"] = [
        {"name": "latch", "type": "lock", "joint": "hinge", "when": crossing},
        {**pin, "parent_frame": {}, "when": {"type": "command"}},
    ]
    mech = lw.Mechanism.from_dict(data)
    assert mech.transitions["latch"].when == lw.Crossing("hinge", 1.0, +1)
    assert mech.transitions["pin"].action == lw.Pin("lid", "knob", lw.Spherical(), parent_frame=lw.Frame())


def test_a_copy_stands_alone():
    mech = every_kind()
    twin = mech.copy()
    assert twin == mech
    del twin.transitions["kick"]
    assert twin != mech
    assert "kick" in mech.transitions


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (lw.Lock("hinge"), lw.Unlock("hinge")),
        (lw.Lock("ball", 1), lw.Lock("ball", 2)),
        (lw.Stop("hinge", 0), lw.Stop("hinge", None, 0)),
        (lw.Pin("lid", "knob", HINGE), lw.Pin("lid", "knob", HINGE, lw.Frame())),
        (lw.Time(1), lw.Time(2)),
        (lw.Crossing("hinge", 1), lw.Crossing("hinge", 1, 0)),
        (lw.Crossing("hinge.q", 1), lw.Crossing("hinge.u", 1)),
        (NEAR, lw.PointDistance(NEAR.bodies, NEAR.points, rate=True)),
    ],
)
def test_equality(one, other):
    assert one != other
    assert len({one, other, one}) == 2


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("hinge", ("hinge", 0, False)),
        ("hinge.q", ("hinge", 0, False)),
        ("cross.q[1]", ("cross", 0, False)),
        ("cross[2]", ("cross", 1, False)),
        ("float.q[3]", ("float", 2, False)),
        ("hinge.u", ("hinge", 0, True)),
        ("cross.u[2]", ("cross", 1, True)),
        ("float.u[6]", ("float", 5, True)),
    ],
)
def test_quantities_by_name(name, found):
    assert lw.Crossing(name, 0).watched(latched()) == found


def test_what_falling_inputs_undo():
    mech = every_kind()
    undone = {name for name, one in mech.transitions.items() if one.falls(mech)}
    assert undone == set()  # "part" is unlocked by "free", in part, and "pin" released by "open"
    mech.add_transition("grip", lw.Lock("ball", 2), when=lw.Command())
    mech.add_transition("hook", lw.Pin("lid", "ground", HINGE), when=lw.Command())
    mech.add_transition("blow", lw.Impulse("lid"), when=lw.Command())
    assert {name for name, one in mech.transitions.items() if one.falls(mech)} == {"grip", "hook"}


def test_names_are_shared_with_nothing():
    mech = every_kind()
    with refused("there is a transition 'pin' already: give this body another name"):
        mech.add_body("pin", 1.0, (0, 0, 0), BALL)
    with refused("there is a transition 'pin' already: give this joint another name"):
        mech.add_joint("pin", HINGE, "lid", "knob", at=(0, 0, 0))
    with refused("there is a transition 'pin' already: give this one another name"):
        mech.add_transition("pin", lw.Impulse("lid"), when=lw.Command())
    with refused("there is a joint 'hinge' already: give this transition another name"):
        mech.add_transition("hinge", lw.Impulse("lid"), when=lw.Command())


def test_what_may_stand_side_by_side():
    mech = latched()
    mech.add_transition("latch", lw.Lock("hinge"), when=lw.Time(1))
    mech.add_transition("free", lw.Unlock("hinge"), when=lw.Time(2))
    mech.add_transition("bumper", lw.Stop("hinge", upper=1))
    mech.add_transition("one", lw.Lock("ball", 1), when=lw.Time(3))
    mech.add_transition("two", lw.Lock("ball", 2), when=lw.Command())
    mech.add_transition("unlock_two", lw.Unlock("ball", 2), when=lw.Time(3))
    mech.add_transition("up", lw.Lock("cross"), when=lw.Crossing("hinge", 0.5, +1))
    mech.add_transition("down", lw.Unlock("cross"), when=lw.Crossing("hinge", 0.5, -1))
    mech.add_transition("command", lw.Lock("slide"), when=lw.Command())
    mech.add_transition("release", lw.Unlock("slide"), when=lw.Command())
    mech.add_transition("rim1", lw.Stop("cross", 0, coordinate=1))
    mech.add_transition("rim2", lw.Stop("cross", 0, coordinate=2))
    check(mech)


def test_a_start_may_lie_on_a_bound():
    mech = latched()
    mech.start(q={"hinge": 0.5, "cross": (9, 0)})
    mech.add_transition("bumper", lw.Stop("hinge", lower=0.5))
    mech.add_transition("rim", lw.Stop("cross", upper=1, coordinate=2))
    check(mech)
