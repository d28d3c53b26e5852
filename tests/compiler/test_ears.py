"""The order in which loops are solved; properties of every order are in support.promises."""

import random

import pytest

from linkwork.core.plan import LoopStep
from support.graphs import ladder, mechanism, stewart, windows
from support.promises import check_promises
from support.topologies import topology

ARRANGE = {"given": lambda joints: None, "reversed": list.reverse, "shuffled": random.Random(1).shuffle}


def names(mech, result, step):
    """The cut joint of a loop, and the bodies it adds."""
    bodies, joints = list(mech.bodies), list(mech.joints)
    return joints[result.loops[step.loop].joint], {bodies[result.links[link].body] for link in step.links}


@pytest.mark.parametrize("arrange", ARRANGE)
@pytest.mark.parametrize("deep", [True, False])
def test_ladders_go_rung_by_rung(deep, arrange):
    """Each loop after the first adds one step, whatever the order of adding and the tree."""
    mech = ladder(80, deep, ARRANGE[arrange])
    result = check_promises(mech)
    cut = "S" if deep else "R"
    steps = [(f"{cut}{i}", {f"l{i}", f"r{i}"}) for i in range(80)]
    assert [names(mech, result, step) for step in result.clusters[0].loop_steps] == steps


@pytest.mark.parametrize("seed", range(5))
def test_windows_whatever_is_cut(seed):
    check_promises(windows(12, random.Random(seed).shuffle))


def test_stewart_platform():
    """The first loop holds the platform; each other leg is a branch of its own."""
    result = check_promises(stewart())
    assert [len(step.links) for step in result.clusters[0].loop_steps] == [5, 2, 2, 2, 2]


def test_short_loops_before_long_ones():
    """Added last and least, a triangle on the ground comes before the ring of which it is part."""
    ring = ["ground", *"abcdef"]
    joints = [(f"J{i}", *pair) for i, pair in enumerate(zip(ring, [*ring[1:], "ground"], strict=True))]
    result = check_promises(mechanism("abcdef", [*joints, ("last", "b", "ground")]))
    assert result.clusters[0].loop_steps == (LoopStep(1, (0, 1)), LoopStep(0, (2, 3, 4, 5)))


class TestLinksOnNoLoop:
    def test_a_train_of_gears(self):
        pairs = [("ground", "a"), ("a", "b"), ("b", "c")]
        mech = mechanism("abc", [(f"J{i}", *pair) for i, pair in enumerate(pairs)], [("J0", "J2")])
        result = check_promises(mech)
        assert [(c.root, c.links, c.loops, c.couplings) for c in result.clusters] == [(-1, (0, 1, 2), (), (0,))]
        assert result.clusters[0].loop_steps == (LoopStep(-1, (0,)), LoopStep(-1, (1,)), LoopStep(-1, (2,)))

    def test_a_joint_that_carries_another_one_named(self):
        """The smallest part of the tree with the child bodies alone would miss the inner joint."""
        mech = mechanism("ab", [("A", "ground", "a"), ("B", "a", "b")], [("A", "B")])
        result = check_promises(mech)
        assert [cluster.links for cluster in result.clusters] == [(0, 1)]

    def test_just_before_what_stands_on_them_or_at_the_end(self):
        """Two triangles on the ground and on a coupled arm: the arm comes after the first, before the second."""
        pairs = [
            ("ground", "a"),
            ("a", "b"),
            ("b", "ground"),
            ("ground", "arm"),
            ("arm", "c"),
            ("c", "d"),
            ("d", "arm"),
        ]
        pairs += [("ground", "spare")]
        joints = [(f"J{i}", *pair) for i, pair in enumerate(pairs)]
        mech = mechanism(["a", "b", "arm", "c", "d", "spare"], joints, [("J0", "J7", "J5")])
        result = check_promises(mech)
        assert result.clusters[0].loop_steps == (
            LoopStep(0, (0, 1)),
            LoopStep(-1, (2,)),
            LoopStep(1, (3, 4)),
            LoopStep(-1, (5,)),
        )

    def test_a_cut_joint_brings_all_of_its_loop(self):
        pairs = [("ground", "a"), ("a", "b"), ("b", "a"), ("a", "c")]
        mech = mechanism("abc", [(f"J{i}", *pair) for i, pair in enumerate(pairs)], [("J2", "J3")])
        result = check_promises(mech)
        assert [(c.root, c.links, c.loops, c.couplings) for c in result.clusters] == [(0, (1, 2), (0,), (0,))]


def test_an_end_far_from_what_is_there_is_found():
    """A loop whose branches are longer than the counts of single links."""
    bodies = [f"b{i}" for i in range(400)]
    pairs = list(zip(["ground", *bodies], bodies, strict=False))
    pairs += [("b399", "ground"), ("b250", "ground"), ("b260", "b249")]
    result = topology(mechanism(bodies, [(f"J{i}", *pair) for i, pair in enumerate(pairs)]))
    assert [(step.loop, len(step.links)) for step in result.clusters[0].loop_steps] == [(1, 251), (2, 10), (0, 139)]
