"""Mechanisms of which only the graph matters, at random."""

import itertools

from hypothesis import strategies as st

from linkwork.mechanism import GROUND
from support.graphs import KINDS, mechanism


@st.composite
def mechanisms_with_separate_loops(draw):
    """A mechanism grown by hanging bodies and loops on what there is, its joints shuffled."""
    bodies, joints = [], []
    for _ in range(draw(st.integers(1, 8))):
        root = draw(st.sampled_from(["ground", *bodies]))
        size = draw(st.integers(1, 4))
        new = [f"b{len(bodies) + i}" for i in range(size)]
        chain = [root, *new]
        edges = list(itertools.pairwise(chain))
        wish = None
        if draw(st.booleans()):
            edges.append((new[-1], root))
            wish = draw(st.none() | st.integers(0, size))
        bodies += new
        for index, edge in enumerate(edges):
            turned = edge[::-1] if draw(st.booleans()) else edge
            options = {"kind": draw(st.sampled_from(sorted(KINDS))), "cut": index == wish}
            joints.append((f"J{len(joints)}", *turned, options))
    return shuffled(draw, bodies, joints)


@st.composite
def any_connected_mechanisms(draw):
    """A random tree and any joints between what there is, several of them perhaps between the same two."""
    bodies = [f"b{i}" for i in range(draw(st.integers(1, 14)))]
    everything = ["ground", *bodies]
    pairs = [(draw(st.sampled_from(everything[: i + 1])), body) for i, body in enumerate(bodies)]
    more = st.tuples(st.sampled_from(everything), st.sampled_from(everything)).filter(lambda pair: pair[0] != pair[1])
    pairs += draw(st.lists(more, max_size=9))
    joints = []
    for index, pair in enumerate(pairs):
        turned = pair[::-1] if draw(st.booleans()) else pair
        wish = index >= len(bodies) and draw(st.booleans())
        joints.append((f"J{index}", *turned, {"kind": draw(st.sampled_from(sorted(KINDS))), "cut": wish}))
    return shuffled(draw, bodies, joints)


def shuffled(draw, bodies, joints):
    """The mechanism of these in any order, some joints with a start value."""
    mech = mechanism(draw(st.permutations(bodies)), draw(st.permutations(joints)))
    for name, joint in mech.joints.items():
        if joint.kind.nq and draw(st.booleans()):
            mech.start(q={name: 0.1})
    return mech


@st.composite
def coupled_mechanisms(draw):
    """Any connected mechanism with a few couplings between any of its joints, and distances between its bodies."""
    mech = draw(any_connected_mechanisms())
    movable = [name for name, joint in mech.joints.items() if joint.kind.nq]
    if movable:
        couplings = st.lists(st.sampled_from(movable), min_size=1, max_size=3, unique=True)
        for number, names in enumerate(draw(st.lists(couplings, min_size=1, max_size=4))):
            mech.add_coupling(f"C{number}", dict.fromkeys(names, 1.0))
    pairs = st.lists(st.sampled_from([GROUND, *mech.bodies]), min_size=2, max_size=2, unique=True)
    for number, bodies in enumerate(draw(st.lists(pairs, max_size=3))):
        mech.add_distance(f"D{number}", bodies, ((0, 0, 0), (0.5, 0, number)), length=1.0)
    return mech
