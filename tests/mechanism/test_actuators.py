"""Actuators as a user describes them."""

import re

import numpy as np
import pytest

import linkwork as lw
from linkwork.mechanism import Actuator, Mechanism, SpringDamper, Wrench, inertia
from linkwork.mechanism.joints import Fixed, Revolute, Spherical, Universal


def refused(*words):
    return pytest.raises(lw.MechanismError, match="(?s)" + "".join(f"(?=.*{re.escape(word)})" for word in words))


@pytest.fixture
def mech():
    made = Mechanism("arm")
    for name, kind in (("A", Revolute((0, 1, 0))), ("U", Universal((1, 0, 0), (0, 1, 0))), ("S", Spherical())):
        made.add_body(f"on_{name}", 1.0, (0.1, 0, 0), inertia.rod(1.0, 1.0))
        made.add_joint(name, kind, "ground", f"on_{name}", at=(0, 0, 0))
    made.add_body("plate", 1.0, (0.1, 0, 0), inertia.rod(1.0, 1.0))
    made.add_joint("F", Fixed(), "on_A", "plate", at=(0, 0, 0))
    return made


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"gears": {}}, ("Actuator 'm'", "gears must be a dictionary")),
        ({"gears": "A"}, ("Actuator 'm'", "gears must be a dictionary", "'A'")),
        ({"gears": {"A": 0.0}}, ("gear of 'A' is zero", "leave it out")),
        ({"gears": {"A": np.inf}}, ("gear of 'A'", "finite")),
        ({"gain": "high"}, ("Actuator 'm': gain",)),
        ({"stiffness": np.nan}, ("Actuator 'm': stiffness",)),
        ({"input_range": (1, 1)}, ("input_range", "lower limit 1 must be less than the upper limit 1")),
        ({"force_range": (1, 2, 3)}, ("force_range", "2 numbers")),
        ({"force_range": (0, np.inf)}, ("force_range", "finite")),
        ({"name": "a.b"}, ("Actuator 'a.b'", "a_b")),
    ],
)
def test_wrong_arguments(arguments, words):
    with refused(*words):
        Actuator(**{"name": "m", "gears": {"A": 1.0}} | arguments)


@pytest.mark.parametrize(
    ("gears", "more", "words"),
    [
        ({"a": 1.0}, {}, ("Actuator 'm'", "no joint 'a'", "did you mean 'A'")),
        ({"A[1]": 1.0}, {}, ("joint 'A' (Revolute) has no coordinate 'A[1]'", "'A'")),
        ({"U": 1.0}, {}, ("joint 'U' (Universal) has no coordinate 'U'", "'U[1]'")),
        ({"U[3]": 1.0}, {}, ("no coordinate 'U[3]'",)),
        ({"S[4]": 1.0}, {}, ("joint 'S' (Spherical) has no speed 'S[4]'",)),
        ({"F": 1.0}, {}, ("joint 'F' (Fixed) has no coordinates to act on",)),
        ({3: 1.0}, {}, ("no joint 3",)),
        ({"A": 1.0, "S[1]": 1.0}, {"stiffness": 2.0}, ("joint 'S' (Spherical) is a quaternion", "leave out stiffness")),
    ],
)
def test_joints_that_do_not_fit(mech, gears, more, words):
    with refused(*words):
        mech.add_force(Actuator("m", gears, **more))
    assert not mech.forces


def test_names_and_joints_are_shared(mech):
    """Its name is its own; its joints may have a spring and damper before and after, and other actuators."""
    mech.add_force(Actuator("m", {"A": 1.0, "U[2]": 2.0}))
    mech.add_force(Actuator("n", {"A": 1.0}))
    mech.add_force(SpringDamper("A", stiffness=1.0))
    mech.add_force(Actuator("o", {"A": 1.0}))
    with refused("force 'm' already", "this Wrench"):
        mech.add_force(Wrench("on_A", name="m"))
    with refused("force 'n' already", "this Actuator"):
        mech.add_force(Actuator("n", {"A": 1.0}))
    with refused("joint 'A' already"):
        mech.add_force(Actuator("A", {"A": 1.0}))
    with refused("SpringDamper already"):
        mech.add_force(SpringDamper("A", damping=1.0))
    with refused("force 'm' already"):
        mech.add_body("m", 1.0, (0, 0, 0), inertia.rod(1.0, 1.0))


def test_files_leave_out_limits_that_are_none(mech):
    mech.add_force(Actuator("m", {"A": 1.0, "U[2]": -2.0}, 3, force_range=(-1, 1)))
    data = mech.to_dict()["forces"][0]
    assert data == {
        "type": "actuator",
        "name": "m",
        "gears": {"A": 1.0, "U[2]": -2.0},
        "gain": 3.0,
        "offset": 0.0,
        "stiffness": 0.0,
        "damping": 0.0,
        "force_range": [-1.0, 1.0],
    }
    assert Mechanism.from_dict(mech.to_dict()).forces == mech.forces
    data["gears"]["A"] = 7.0
    assert mech.forces[0].gears["A"] == 1.0


def test_variables_and_units(mech):
    mech.add_force(Actuator("m", {"A": 1.0, "U[2]": -2.0}, force_range=(-1, 1)))
    mech.add_force(Actuator("spin", {"S[2]": 1.0}, input_range=(0, 1)))
    units = {v.name: (v.kind, v.unit) for v in lw.compile(mech).variables if v.name.startswith(("m.", "spin."))}
    assert units == {
        "m.gain": ("parameter", "N.m"),
        "m.offset": ("parameter", "N.m"),
        "m.stiffness": ("parameter", "N.m/rad"),
        "m.damping": ("parameter", "N.m.s/rad"),
        "m.force_range[1]": ("parameter", "N.m"),
        "m.force_range[2]": ("parameter", "N.m"),
        "m.A.gear": ("parameter", "1"),
        "m.U[2].gear": ("parameter", "1"),
        "m.input": ("input", "1"),
        "m.length": ("output", "rad"),
        "m.rate": ("output", "rad/s"),
        "m.force": ("output", "N.m"),
        "m.power": ("output", "W"),
        "spin.gain": ("parameter", "N.m"),
        "spin.offset": ("parameter", "N.m"),
        "spin.damping": ("parameter", "N.m.s/rad"),
        "spin.input_range[1]": ("parameter", "1"),
        "spin.input_range[2]": ("parameter", "1"),
        "spin.S[2].gear": ("parameter", "1"),
        "spin.input": ("input", "1"),
        "spin.rate": ("output", "rad/s"),
        "spin.force": ("output", "N.m"),
        "spin.power": ("output", "W"),
    }
