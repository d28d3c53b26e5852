"""Topology: every promise of the contract, on random mechanisms."""

import itertools
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linkwork.compiler.topology import Cluster, Link, Loop, Segment, topology
from linkwork.description import Mechanism, SpringDamper
from linkwork.errors import MechanismError
from support.graphs import KINDS, mechanism, windows


def four_bar(**options):
    """Options by name of a joint."""
    pairs = {"A": ("ground", "a"), "B": ("a", "b"), "C": ("b", "c"), "D": ("c", "ground")}
    return mechanism("abc", [(name, *pair, options.get(name, {})) for name, pair in pairs.items()])


def cut_names(mech):
    return [list(mech.joints)[joint] for joint in topology(mech).cut_joints]


def refused(*words):
    return pytest.raises(MechanismError, match="".join(f"(?=.*{re.escape(word)})" for word in words))


def merged(sets):
    """The sets joined until no two have a member in common."""
    result = []
    for one in sets:
        apart = [group for group in result if not group & one]
        result = [*apart, one.union(*(group for group in result if group & one))]
    return result


def check_promises(mech):
    """Check what the contract promises of a topology, from the mechanism alone."""
    result = topology(mech)
    names = {name: index for index, name in enumerate(mech.bodies)}
    joints = list(mech.joints.values())
    body_of = {-1: "ground", **{i: list(mech.bodies)[link.body] for i, link in enumerate(result.links)}}

    assert sorted(link.body for link in result.links) == list(range(len(names)))
    assert sorted([*result.tree_joints, *result.cut_joints]) == list(range(len(joints)))
    assert list(result.tree_joints) == sorted(result.tree_joints)
    for index, link in enumerate(result.links):
        assert -1 <= link.parent < index
        joint = joints[link.joint]
        declared = (body_of[link.parent], body_of[index])
        assert (joint.parent, joint.child) == (declared[::-1] if link.reversed else declared)

    def path(link):
        """Links from this one to ground."""
        links = []
        while link >= 0:
            links.append(link)
            link = result.links[link].parent
        return links

    for loop in result.loops:
        joint = joints[loop.joint]
        assert (joint.parent, joint.child) == (body_of[loop.parent], body_of[loop.child])
        sides = path(loop.parent), path(loop.child)
        common = set(sides[0]) & set(sides[1])
        assert loop.root == max(common, default=-1)
        assert list(loop.links) == sorted(set(sides[0]) ^ set(sides[1]))
        assert loop.on_parent_side == tuple(link in sides[0] for link in loop.links)

    on_loops = {link for loop in result.loops for link in loop.links}
    assert sum(len(cluster.links) for cluster in result.clusters) == len(on_loops)
    together = merged({number} | {-1 - link for link in loop.links} for number, loop in enumerate(result.loops))
    expected = sorted(sorted(member for member in group if member >= 0) for group in together)
    assert [list(cluster.loops) for cluster in result.clusters] == expected
    for cluster in result.clusters:
        loops = [result.loops[number] for number in cluster.loops]
        members = {link for loop in loops for link in loop.links}
        assert list(cluster.links) == sorted(members) == list(range(min(members), min(members) + len(members)))
        assert {result.links[link].parent for link in members} <= members | {cluster.root}
        assert {loop.root for loop in loops} <= members | {cluster.root}
        assert cluster.root == min(loop.root for loop in loops)
        assert cluster.root not in members

    assert [i for s in result.segments for i in range(s.first, s.first + s.count)] == list(range(len(names)))
    assert sorted(s.cluster for s in result.segments if s.cluster >= 0) == list(range(len(result.clusters)))
    done = set()  # links met when going backwards
    for segment in reversed(result.segments):
        members = set(range(segment.first, segment.first + segment.count))
        if segment.cluster >= 0:
            assert members == set(result.clusters[segment.cluster].links)
        else:
            assert not members & on_loops
        carried = {i for i, link in enumerate(result.links) if link.parent in members}
        assert carried <= done | members
        assert not {link for c in result.clusters if c.root in done for link in c.links} - done
        done |= members
    wished = [index for index, joint in enumerate(joints) if joint.cut]
    assert set(wished) <= set(result.cut_joints)
    assert topology(mech) == result
    return result


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


@given(mechanisms_with_separate_loops())
@settings(deadline=None, max_examples=150)
def test_separate_loops_are_clusters_of_their_own(mech):
    result = check_promises(mech)
    assert [cluster.loops for cluster in result.clusters] == [(number,) for number in range(len(result.loops))]
    assert [(c.root, c.links) for c in result.clusters] == [(loop.root, loop.links) for loop in result.loops]


@given(mechanisms_with_separate_loops() | any_connected_mechanisms())
@settings(deadline=None, max_examples=500)
def test_promises_hold(mech):
    result = check_promises(mech)
    assert len(result.loops) == len(mech.joints) - len(mech.bodies)
    joints = list(mech.joints.values())

    def rank(index):
        joint = joints[index]
        return joint.cut, joint.kind.nq > 0, joint.name not in mech.start_q, index

    for loop in result.loops:  # the joint cut is the one of its loop that is missed least
        around = [loop.joint, *(result.links[link].joint for link in loop.links)]
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
@settings(deadline=None, max_examples=300)
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
        assert result.loops == (Loop(2, 1, 2, -1, (0, 1, 2), (True, True, False)),)
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
        assert result.clusters == (Cluster(-1, (0, 1), (0,)), Cluster(1, (2, 3), (1,)))

    def test_two_joints_between_the_same_bodies(self):
        result = check_promises(mechanism("a", [("A", "ground", "a"), ("B", "a", "ground")]))
        assert result.loops == (Loop(1, 0, -1, -1, (0,), (True,)),)

    def test_three_joints_between_the_same_bodies(self):
        result = check_promises(mechanism("a", [(name, "ground", "a") for name in "ABC"]))
        assert [loop.links for loop in result.loops] == [(0,), (0,)]
        assert result.clusters == (Cluster(-1, (0,), (0, 1)),)

    def test_loops_that_share_joints(self):
        """A dyad from the coupler of a four-bar back to its crank, a four-bar and a tail on that."""
        pairs = [("ground", "a"), ("a", "b"), ("b", "ground"), ("b", "c"), ("c", "a"), ("c", "d"), ("d", "e")]
        pairs += [("e", "c"), ("c", "f")]
        result = check_promises(mechanism("abcdef", [(f"J{i}", *pair) for i, pair in enumerate(pairs)]))
        assert [loop.links for loop in result.loops] == [(0, 1), (1, 2), (3, 4)]
        assert [loop.root for loop in result.loops] == [-1, 0, 2]
        assert result.clusters == (Cluster(-1, (0, 1, 2), (0, 1)), Cluster(2, (3, 4), (2,)))
        assert result.segments == (Segment(0, 0, 3), Segment(1, 3, 2), Segment(-1, 5, 1))

    def test_loops_that_share_joints_through_others(self):
        """The outer two of three windows have no joint in common."""
        result = check_promises(windows(3))
        apart = [set(loop.links) for loop in result.loops]
        assert not apart[0] & apart[2]
        assert result.clusters == (Cluster(-1, tuple(range(7)), (0, 1, 2)),)


def test_what_cannot_be_compiled_is_refused():
    with refused("no bodies"):
        topology(Mechanism("m"))
    with refused("body 'b' is not connected to ground"):
        topology(mechanism("ab", [("A", "ground", "a")]))
