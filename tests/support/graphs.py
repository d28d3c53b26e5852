"""Mechanisms of which only the graph matters."""

import random

from linkwork.description import Fixed, Frame, Mechanism, Prismatic, Revolute, inertia

KINDS = {"revolute": Revolute((0, 1, 0)), "prismatic": Prismatic((1, 0, 0)), "fixed": Fixed()}
BALL = inertia.sphere(1.0, 0.1)


def mechanism(bodies, joints):
    """Bodies by name; joints (name, parent, child) or (name, parent, child, options)."""
    mech = Mechanism("m")
    for body in bodies:
        mech.add_body(body, 1.0, (0, 0, 0), BALL)
    for name, parent, child, *options in joints:
        wanted = dict(*options)
        kind = KINDS[wanted.pop("kind", "revolute")]
        mech.add_joint(name, kind, parent, child, parent_frame=Frame(), **wanted)
    return mech


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
