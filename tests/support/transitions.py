"""A mechanism for transitions: joints of every sort, one of which closes a loop."""

import linkwork as lw
from support.bodies import HINGE, with_bodies


def latched():
    mech = with_bodies("lid", "knob", "block", "ring")
    mech.add_joint("hinge", HINGE, "ground", "lid", at=(0, 0, 0))
    mech.add_joint("cross", lw.Universal((1, 0, 0), (0, 1, 0)), "lid", "knob", at=(0, 0, 0))
    mech.add_joint("slide", lw.Prismatic((1, 0, 0)), "ground", "block", at=(0, 0, 0))
    mech.add_joint("ball", lw.Spherical(), "block", "ring", at=(0, 0, 0))
    mech.add_joint("stay", lw.Fixed(), "knob", "ring", at=(0, 0, 0))
    mech.add_joint("float", lw.Free(), "ground", "knob", at=(0, 0, 0))
    return mech
