"""Descriptions of one or two bodies, and how their mistakes are refused."""

import re

import pytest

from linkwork.errors import MechanismError
from linkwork.mechanism import Mechanism, Revolute, inertia

BALL = inertia.sphere(1.0, 0.1)
HINGE = Revolute((0, 1, 0))


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
