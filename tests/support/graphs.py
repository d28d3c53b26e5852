"""Mechanisms of which only the graph matters."""

import random
from itertools import pairwise

from linkwork.mechanism import Fixed, Frame, Mechanism, Prismatic, Revolute, inertia

KINDS = {"revolute": Revolute((0, 1, 0)), "prismatic": Prismatic((1, 0, 0)), "fixed": Fixed()}
BALL = inertia.sphere(1.0, 0.1)


def mechanism(bodies, joints, couplings=()):
    """Bodies by name; joints (name, parent, child) or (name, parent, child, options); couplings by joints' names."""
    mech = Mechanism("m")
    for body in bodies:
        mech.add_body(body, 1.0, (0, 0, 0), BALL)
    for name, parent, child, *options in joints:
        wanted = dict(*options)
        kind = KINDS[wanted.pop("kind", "revolute")]
        mech.add_joint(name, kind, parent, child, parent_frame=Frame(), **wanted)
    for number, names in enumerate(couplings):
        mech.add_coupling(f"C{number}", dict.fromkeys(names, 1.0))
    return mech


def ladder(count, deep, arrange=lambda joints: None):
    """Two rails on the ground with a rung at each step; the rungs are cut (deep), or the right rail.

    With the rungs cut, each loop runs down both rails to the ground.
    """
    left, right = [f"l{i}" for i in range(count)], [f"r{i}" for i in range(count)]
    joints = [(f"S{i}", *pair, {"cut": deep}) for i, pair in enumerate(zip(left, right, strict=True))]
    for name, rail, cut in (("L", left, False), ("R", right, not deep)):
        joints += [(f"{name}{i}", *pair, {"cut": cut}) for i, pair in enumerate(pairwise(["ground", *rail]))]
    arrange(joints)
    return mechanism([*left, *right], joints)


def stewart():
    """A platform on six legs of two bodies each."""
    joints = []
    for i in range(6):
        joints += [(f"A{i}", "ground", f"lower{i}"), (f"B{i}", f"lower{i}", f"upper{i}"), (f"C{i}", f"upper{i}", "top")]
    return mechanism([f"{part}{i}" for i in range(6) for part in ("lower", "upper")] + ["top"], joints)


def windows(count, arrange=lambda joints: None):
    """Four-bars in a row, neighbours share a leg."""
    legs, tops = [f"leg{i}" for i in range(count + 1)], [f"top{i}" for i in range(count)]
    joints = [(f"A{i}", "ground", leg) for i, leg in enumerate(legs)]
    for i, top in enumerate(tops):
        joints += [(f"B{i}", legs[i], top), (f"C{i}", top, legs[i + 1])]
    arrange(joints)
    return mechanism([*legs, *tops], joints)


def long_mechanism(size, loops):
    """A chain, or a chain of three-bar loops, in shuffled order."""
    bodies = [f"b{i}" for i in range(size)]
    pairs = list(zip(["ground", *bodies], bodies, strict=False))
    if loops:
        pairs += [(bodies[i], bodies[i + 2]) for i in range(0, size - 2, 2)]
    random.Random(1).shuffle(pairs)
    return mechanism(bodies, [(f"J{i}", *pair) for i, pair in enumerate(pairs)])
