"""Topology: every promise of the contract, on random mechanisms."""

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from linkwork.core.plan import Cluster, Link, Loop, LoopStep, Segment
from linkwork.errors import MechanismError
from linkwork.mechanism import Actuator, Mechanism, Motion, SpringDamper
from support.graphs import mechanism, windows
from support.promises import check_promises, merged
from support.random_graphs import any_connected_mechanisms, coupled_mechanisms, mechanisms_with_separate_loops
from support.topologies import topology


def four_bar(**options):
    """Options by name of a joint."""
    pairs = {"A": ("ground", "a"), "B": ("a", "b"), "C": ("b", "c"), "D": ("c", "ground")}
    return mechanism("abc", [(name, *pair, options.get(name, {})) for name, pair in pairs.items()])


def cut_names(mech):
    return [list(mech.joints)[joint] for joint in topology(mech).cut_joints]


@pytest.mark.parametrize("motor", ["B", "C", "D"])
@pytest.mark.parametrize("kind", ["actuator", "load limit", "motion"])
def test_a_motor_stays_in_the_tree(motor, kind):
    """Where the other joints have start values, too, and come before it."""
    mech = four_bar(**({motor: {"max_load": 5.0}} if kind == "load limit" else {}))
    mech.start(q=dict.fromkeys("ABCD", 0.1))
    if kind == "actuator":
        mech.add_force(Actuator("servo", {motor: 1.0}))
    if kind == "motion":
        mech.prescribe(motor, Motion((0.0, 1.0)))
    assert motor not in cut_names(mech)


def refused(*words):
    return pytest.raises(MechanismError, match="".join(f"(?=.*{re.escape(word)})" for word in words))


@given(mechanisms_with_separate_loops())
@settings(max_examples=150)
def test_separate_loops_are_clusters_of_their_own(mech):
    result = check_promises(mech)
    assert [cluster.loops for cluster in result.clusters] == [(number,) for number in range(len(result.loops))]
    assert [(c.root, c.links) for c in result.clusters] == [(loop.root, result.around(loop)) for loop in result.loops]


# A coupling of a loop away from ground and one of three bodies on ground.
COUPLED_LOOPS = mechanism(
    "abcde",
    [
        *(
            (body.upper(), parent, body)
            for body, parent in zip("abcde", ["ground", "a", "b", "ground", "d"], strict=True)
        ),
        ("X", "e", "d", {"cut": True}),
        ("Y", "c", "ground", {"cut": True}),
    ],
    ["XY"],
)


@example(COUPLED_LOOPS)
@given(mechanisms_with_separate_loops() | any_connected_mechanisms() | coupled_mechanisms())
@settings(max_examples=150)
def test_promises_hold(mech):
    result = check_promises(mech)
    assert len(result.loops) == len(mech.joints) - len(mech.bodies)
    joints = list(mech.joints.values())
    used = {*mech.start_q, *(term.joint for coupling in mech.couplings.values() for term in coupling.terms.values())}

    def rank(index):
        joint = joints[index]
        return joint.cut, joint.kind.nq > 0, joint.name not in used, index

    for loop in result.loops:  # the joint cut is the one of its loop that is missed least
        around = [loop.joint, *(result.links[link].joint for link in result.around(loop))]
        assert max(around, key=rank) == loop.joint


def simple_cycles(ends):
    """All simple cycles of a small graph, as sets of edges, by trying every path."""
    found = set()

    def extend(start, here, used, visited):
        for edge, pair in enumerate(ends):
            if edge in used or here not in pair:
                continue
            there = pair[1] if pair[0] == here else pair[0]
            if there == start:
                found.add(frozenset([*used, edge]))
            elif there not in visited:
                extend(start, there, [*used, edge], {*visited, there})

    for node in {node for pair in ends for node in pair}:
        extend(node, node, [], {node})
    return found


@given(st.lists(st.tuples(st.integers(-1, 4), st.integers(-1, 4)).filter(lambda p: p[0] != p[1]), max_size=7))
@settings(max_examples=300)
def test_any_connected_graph_is_arranged(pairs):
    """Clusters are the joints that simple cycles have in common, whatever the tree."""
    bodies = [f"b{i}" for i in range(5)]
    name = {-1: "ground", **dict(enumerate(bodies))}
    mech = mechanism(bodies, [(f"J{i}", name[p], name[c]) for i, (p, c) in enumerate(pairs)])
    reached = {-1}
    for _ in bodies:
        reached |= {node for pair in pairs if reached & set(pair) for node in pair}
    if len(reached) < 6:
        with refused("not connected to ground"):
            topology(mech)
        return
    result = check_promises(mech)
    around = {
        frozenset([*(result.links[link].joint for link in c.links), *(result.loops[loop].joint for loop in c.loops)])
        for c in result.clusters
    }
    assert around == set(map(frozenset, merged(map(set, simple_cycles(pairs)))))


class TestChoiceOfCuts:
    def test_the_last_by_default(self):
        assert cut_names(four_bar()) == ["D"]

    def test_a_wish(self):
        assert cut_names(four_bar(B={"cut": True})) == ["B"]

    def test_fixed_joints_stay(self):
        assert cut_names(four_bar(D={"kind": "fixed"})) == ["C"]
        assert cut_names(four_bar(D={"kind": "fixed", "cut": True})) == ["D"]

    def test_joints_with_start_values_or_forces_stay(self):
        mech = four_bar()
        mech.start(q={"D": 0.1})
        assert cut_names(mech) == ["C"]
        mech.start(u={"C": 0.1})
        assert cut_names(mech) == ["B"]
        mech.add_force(SpringDamper("B", 1.0))
        assert cut_names(mech) == ["A"]

    def test_a_loop_of_fixed_joints_only(self):
        assert cut_names(four_bar(**{name: {"kind": "fixed"} for name in "ABCD"})) == ["D"]

    def test_a_bridge(self):
        mech = mechanism("ab", [("A", "ground", "a"), ("B", "a", "b", {"cut": True})])
        with refused("joint 'B' cannot be cut", "on no loop", "body 'b'", "leave out"):
            topology(mech)

    def test_two_wishes_in_one_loop(self):
        with refused("joint 'B' cannot be cut", "cut already, at 'D'", "body 'b'"):
            topology(four_bar(B={"cut": True}, D={"cut": True}))


class TestFormOfTheResult:
    def test_four_bar(self):
        result = topology(four_bar(C={"cut": True}))
        assert result.links == (Link(0, 0, -1, False), Link(1, 1, 0, False), Link(2, 3, -1, True))
        assert result.loops == (Loop(2, 1, 2, -1),)
        assert result.segments == (Segment(0, 0, 3),)

    def test_a_chain_is_numbered_along_itself(self):
        bodies = [f"b{i}" for i in range(5)]
        result = topology(mechanism(bodies, [(f"J{i}", f"b{i - 1}" if i else "ground", f"b{i}") for i in range(5)]))
        assert [link.parent for link in result.links] == [-1, 0, 1, 2, 3]
        assert result.segments == (Segment(-1, 0, 5),)

    def test_a_tree_is_numbered_branch_by_branch(self):
        pairs = [("ground", "a"), ("a", "b"), ("a", "c"), ("b", "d"), ("c", "e")]
        result = topology(mechanism("abcde", [(f"J{i}", *pair) for i, pair in enumerate(pairs)]))
        assert ["abcde"[link.body] for link in result.links] == ["a", "b", "d", "c", "e"]

    def test_a_loop_on_the_coupler_of_another_with_a_tail(self):
        pairs = [("ground", "a"), ("a", "b"), ("b", "ground"), ("b", "c"), ("c", "d"), ("d", "b"), ("d", "e")]
        result = check_promises(mechanism("abcde", [(f"J{i}", *pair) for i, pair in enumerate(pairs)]))
        assert result.segments == (Segment(0, 0, 2), Segment(1, 2, 2), Segment(-1, 4, 1))
        assert [loop.root for loop in result.loops] == [-1, 1]
        assert result.clusters == (
            Cluster(-1, (0, 1), (0,), (), (LoopStep(0, (0, 1)),)),
            Cluster(1, (2, 3), (1,), (), (LoopStep(1, (2, 3)),)),
        )

    def test_two_joints_between_the_same_bodies(self):
        result = check_promises(mechanism("a", [("A", "ground", "a"), ("B", "a", "ground")]))
        assert result.loops == (Loop(1, 0, -1, -1),)

    def test_three_joints_between_the_same_bodies(self):
        result = check_promises(mechanism("a", [(name, "ground", "a") for name in "ABC"]))
        assert [result.around(loop) for loop in result.loops] == [(0,), (0,)]
        assert result.clusters == (Cluster(-1, (0,), (0, 1), (), (LoopStep(0, (0,)), LoopStep(1, ()))),)

    def test_loops_that_share_joints(self):
        """A dyad from the coupler of a four-bar back to its crank, a four-bar and a tail on that."""
        pairs = [("ground", "a"), ("a", "b"), ("b", "ground"), ("b", "c"), ("c", "a"), ("c", "d"), ("d", "e")]
        pairs += [("e", "c"), ("c", "f")]
        result = check_promises(mechanism("abcdef", [(f"J{i}", *pair) for i, pair in enumerate(pairs)]))
        assert [result.around(loop) for loop in result.loops] == [(0, 1), (1, 2), (3, 4)]
        assert [loop.root for loop in result.loops] == [-1, 0, 2]
        loop_steps = ((LoopStep(0, (0, 1)), LoopStep(1, (2,))), (LoopStep(2, (3, 4)),))
        assert result.clusters == (
            Cluster(-1, (0, 1, 2), (0, 1), (), loop_steps[0]),
            Cluster(2, (3, 4), (2,), (), loop_steps[1]),
        )
        assert result.segments == (Segment(0, 0, 3), Segment(1, 3, 2), Segment(-1, 5, 1))

    def test_loops_that_share_joints_through_others(self):
        """The outer two of three windows have no joint in common."""
        result = check_promises(windows(3))
        apart = [set(result.around(loop)) for loop in result.loops]
        assert not apart[0] & apart[2]
        assert [(c.root, c.links, c.loops) for c in result.clusters] == [(-1, tuple(range(7)), (0, 1, 2))]


def test_what_cannot_be_compiled_is_refused():
    with refused("no bodies"):
        topology(Mechanism("m"))
    with refused("body 'b' is not connected to ground"):
        topology(mechanism("ab", [("A", "ground", "a")]))
