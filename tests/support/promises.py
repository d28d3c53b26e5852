"""What the contract promises of a topology, checked from the mechanism alone."""

from support.topologies import topology


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
        assert list(result.around(loop)) == sorted(set(sides[0]) ^ set(sides[1]))

    def held(place):
        """The smallest part of the tree with both bodies of each joint: what not all paths to ground share."""
        ends = [end for joint, _ in place.terms for end in link_ends[joint]]
        paths = [set(path(end)) for end in ends]
        return set.union(*paths) - set.intersection(*paths)

    link_ends = {link.joint: (link.parent, i) for i, link in enumerate(result.links)}
    link_ends |= {loop.joint: (loop.parent, loop.child) for loop in result.loops}
    around = {("loop", number): set(result.around(loop)) for number, loop in enumerate(result.loops)}
    for number, (coupling, place) in enumerate(zip(mech.couplings.values(), result.couplings, strict=True)):
        assert [(joints[j].name, element) for j, element in place.terms] == [
            (term.joint, term.element) for term in coupling.terms.values()
        ]
        around["coupling", number] = held(place)
    link_of_name = {name: link for link, name in body_of.items()}
    for number, (distance, place) in enumerate(zip(mech.distances.values(), result.distances, strict=True)):
        assert place.ends == tuple(link_of_name[body] for body in distance.bodies)
        sides = [set(path(end)) for end in place.ends]
        around["distance", number] = sides[0] ^ sides[1]
    in_clusters = set().union(*around.values())

    assert sum(len(cluster.links) for cluster in result.clusters) == len(in_clusters)
    together = merged({what} | links for what, links in around.items())
    kinds = ("loop", "coupling", "distance")

    def place_of(one):
        return kinds.index(one[0]), one[1]

    expected = [sorted((one for one in group if isinstance(one, tuple)), key=place_of) for group in together]
    expected.sort(key=lambda group: place_of(group[0]))
    named = [
        [(kind, i) for kind, own in zip(kinds, (c.loops, c.couplings, c.distances), strict=True) for i in own]
        for c in result.clusters
    ]
    assert named == expected
    for number, cluster in enumerate(result.clusters):
        loops = [result.loops[number] for number in cluster.loops]
        members = set().union(*(around[what] for what in named[number]))
        assert list(cluster.links) == sorted(members) == list(range(min(members), min(members) + len(members)))
        assert {result.links[link].parent for link in members} <= members | {cluster.root}
        assert {loop.root for loop in loops} <= members | {cluster.root}
        assert cluster.root == min(result.links[link].parent for link in members)
        assert cluster.root not in members
        assert {result.couplings[coupling].cluster for coupling in cluster.couplings} <= {number}
        assert {result.distances[distance].cluster for distance in cluster.distances} <= {number}

    assert [i for s in result.segments for i in range(s.first, s.first + s.count)] == list(range(len(names)))
    assert sorted(s.cluster for s in result.segments if s.cluster >= 0) == list(range(len(result.clusters)))
    done = set()  # links met when going backwards
    for segment in reversed(result.segments):
        members = set(range(segment.first, segment.first + segment.count))
        if segment.cluster >= 0:
            assert members == set(result.clusters[segment.cluster].links)
        else:
            assert not members & in_clusters
        carried = {i for i, link in enumerate(result.links) if link.parent in members}
        assert carried <= done | members
        assert not {link for c in result.clusters if c.root in done for link in c.links} - done
        done |= members
    wished = [index for index, joint in enumerate(joints) if joint.cut]
    assert set(wished) <= set(result.cut_joints)
    assert topology(mech) == result
    for cluster in result.clusters:
        check_ears(result, cluster)
    return result


def check_ears(result, cluster):
    """Check that a cluster can be built by loops, and that the loop that adds the fewest links always comes next."""
    taken = {cluster.root}
    on_loops = {link for number in cluster.loops for link in result.around(result.loops[number])}
    rest = dict.fromkeys(cluster.loops)

    def new(number):
        return [link for link in result.around(result.loops[number]) if link not in taken]

    def carrier(link):
        """The first link from this one to ground that is on a loop, or the cluster's root."""
        while link not in on_loops and link != cluster.root:
            link = result.links[link].parent
        return link

    for position, step in enumerate(cluster.loop_steps):
        assert not taken & set(step.links)
        if step.loop < 0:
            assert len(step.links) == 1
            assert step.links[0] not in on_loops
            assert result.links[step.links[0]].parent in taken
            follower = cluster.loop_steps[position + 1] if position + 1 < len(cluster.loop_steps) else None
            if rest and follower:
                stands_on = (
                    result.links[follower.links[0]].parent if follower.loop < 0 else result.loops[follower.loop].root
                )
                assert stands_on == step.links[0]
        else:
            loop = result.loops[step.loop]
            assert loop.root in taken
            assert sorted(step.links) == new(step.loop)
            for link, before in zip(step.links, (None, *step.links), strict=False):
                assert result.links[link].parent in taken | {before}
            ends = [i for i, link in enumerate(step.links) if link in (loop.parent, loop.child)]
            assert len(ends) <= 2
            assert not step.links or ends[-1] == len(step.links) - 1
            could = [number for number in rest if carrier(result.loops[number].root) in taken]
            assert step.loop == min(could, key=lambda number: (len(new(number)), number))
            del rest[step.loop]
        taken |= set(step.links)
    assert not rest
    assert taken == {cluster.root, *cluster.links}
