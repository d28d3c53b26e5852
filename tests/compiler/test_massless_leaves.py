"""The spanning tree of graphs with massless bodies: no massless leaf where another choice of cuts avoids it."""

from itertools import combinations, pairwise

import numpy as np

import linkwork as lw

CENTRE, BALL = (0, 0, 0), lw.inertia.sphere(1.0, 0.1)


def random_graph(rng, bodies, extra, massless):
    """Hinges in a random connected graph, some of them fixed joints."""
    mech = lw.Mechanism("graph")
    for k in range(bodies):
        mass = 0.0 if k in massless else 1.0
        mech.add_body(f"b{k}", mass=mass, com=CENTRE, inertia=mass * BALL)
    names = ["ground", *mech.bodies]
    pairs = [(names[rng.integers(k)], names[k]) for k in range(1, bodies + 1)]
    while len(pairs) < bodies + extra:
        one, other = rng.choice(names, 2, replace=False).tolist()
        pairs.append((one, other))
    for k, (parent, child) in enumerate(rng.permutation(pairs).tolist()):
        kind = lw.Fixed() if rng.random() < 0.15 else lw.Revolute((0, 0, 1))
        mech.add_joint(f"j{k}", kind, parent, child, at=CENTRE)
    return mech


def leaves(mech, tree):
    """Whether a joint of these moves nothing with mass, by a search from the ground that is not the compiler's."""
    joints = [list(mech.joints.values())[k] for k in tree]
    carried, waiting, order = {}, ["ground"], []
    while waiting:
        here = waiting.pop()
        for joint in joints:
            other = joint.child if joint.parent == here else joint.parent if joint.child == here else None
            if other is not None and other != "ground" and other not in carried:
                carried[other] = (here, joint)
                waiting.append(other)
                order.append(other)
    if len(carried) < len(mech.bodies):
        return None
    heavy = {name: mech.bodies[name].mass > 0 for name in order}
    for name in reversed(order):
        parent = carried[name][0]
        if parent != "ground":
            heavy[parent] |= heavy[name]
    return sum(1 for name in order if not heavy[name] and carried[name][1].kind.nu)


def least_leaves(mech):
    """By trying every spanning tree."""
    counts = [leaves(mech, tree) for tree in combinations(range(len(mech.joints)), len(mech.bodies))]
    return min(count for count in counts if count is not None)


def is_regular(mech):
    """Whether the compiler finds a tree all of whose joints move inertia, which multipliers need."""
    try:
        tree = lw.compile(mech, "multipliers").topology
    except lw.MechanismError:
        return False
    assert leaves(mech, [link.joint for link in tree.links]) == 0
    return True


def test_small_graphs_against_all_trees():
    """Exchanges of one joint find a tree without massless leaves in most graphs that have one."""
    rng = np.random.default_rng(0)
    possible = found = 0
    for _ in range(300):
        bodies = int(rng.integers(3, 7))
        massless = rng.choice(bodies, int(rng.integers(1, bodies)), replace=False)
        mech = random_graph(rng, bodies, int(rng.integers(1, 4)), massless)
        if least_leaves(mech) == 0:
            possible += 1
            found += is_regular(mech)
        else:
            assert not is_regular(mech)
    assert possible > 100
    assert found >= 0.9 * possible


def test_massless_body_of_two_joints_is_not_cut():
    """Whatever the order of the joints, where a joint of the ring is next to none."""
    rng = np.random.default_rng(1)
    for _ in range(50):
        bodies = int(rng.integers(3, 9))
        massless = rng.choice(bodies, int(rng.integers(1, bodies)), replace=False)
        row = ["ground", *(f"b{k}" for k in range(bodies)), "ground"]
        mech = lw.Mechanism("ring")
        for k in range(bodies):
            mass = 0.0 if k in massless else 1.0
            mech.add_body(f"b{k}", mass=mass, com=CENTRE, inertia=mass * BALL)
        for k in rng.permutation(bodies + 1).tolist():
            mech.add_joint(f"j{k}", lw.Revolute((0, 0, 1)), row[k], row[k + 1], at=CENTRE)
        heavy = [name == "ground" or mech.bodies[name].mass > 0 for name in row]
        possible = any(one and other for one, other in pairwise(heavy))
        assert possible == is_regular(mech)


def test_exchange():
    """Three joints at a massless body: the greedy choice leaves it a leaf, and another joint of the loop is cut."""
    mech = lw.Mechanism("exchange")
    for name, mass in (("m", 0.0), ("n", 0.0), ("p", 1.0), ("s", 1.0)):
        mech.add_body(name, mass=mass, com=CENTRE, inertia=mass * BALL)
    pairs = [("ground", "m"), ("ground", "n"), ("ground", "p"), ("m", "p"), ("n", "p"), ("p", "s"), ("m", "n")]
    for k, (parent, child) in enumerate(pairs):
        mech.add_joint(f"j{k}", lw.Revolute((0, 0, 1)), parent, child, at=CENTRE)
    assert (least_leaves(mech) == 0) == is_regular(mech)
