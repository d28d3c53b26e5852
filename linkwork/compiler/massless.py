"""Bodies without mass and inertia: what refuses a mechanism, or a method, with them.

A joint of the tree needs something with inertia outboard of it, since the articulated-body recursion divides by the
inertia that its columns move. On a loop the choice of the cut joints provides it where possible (`massless_leaves`).
Methods that solve loops by independent coordinates need inertia along the degrees of freedom of a cluster only.
"""

from __future__ import annotations

from collections.abc import Sequence

from linkwork._util.names import quoted
from linkwork.compiler.methods import Expected
from linkwork.compiler.topology import Topology
from linkwork.errors import MechanismError
from linkwork.mechanism import Joint, Mechanism


def needs_inertia(joint: Joint) -> bool:
    """Whether a joint of the tree is regular only with inertia outboard of it: one that moves without its own."""
    return joint.kind.nu > 0 and not joint.reflected_inertia.all()


def check_trees(mech: Mechanism, topology: Topology) -> None:
    """Refuse a massless body that moves by itself, outside of all loops: no pose has a unique acceleration then.

    Raises
    ------
    MechanismError
        The text names the body, its joint and the remedies.
    """
    if all(body.has_inertia for body in mech.bodies.values()):
        return
    in_cluster = {link for cluster in topology.clusters for link in cluster.links}
    for link in links_without_inertia(mech, topology):
        if link not in in_cluster:
            raise _refused(mech, topology, link)


def check_clusters(mech: Mechanism, topology: Topology, expected: Sequence[Expected]) -> None:
    """Refuse loops of massless bodies that move; `expected` of each cluster. Errors as of `check_trees`."""
    if all(body.has_inertia for body in mech.bodies.values()):
        return
    without = set(links_without_inertia(mech, topology))
    outboard = _inertia_outboard(mech, topology)
    for cluster, count in zip(topology.clusters, expected, strict=True):
        moving = [link for link in cluster.links if link in without]
        if count.dof > 0 and moving and not any(outboard[link] for link in cluster.links):
            raise _refused(mech, topology, moving[0])


def links_without_inertia(mech: Mechanism, topology: Topology) -> list[int]:
    """Return the links whose joints move no inertia in the open tree, where all cut joints are taken away."""
    joints = list(mech.joints.values())
    outboard = _inertia_outboard(mech, topology)
    return [k for k, link in enumerate(topology.links) if needs_inertia(joints[link.joint]) and not outboard[k]]


def check_method(mech: Mechanism, topology: Topology, method: str) -> None:
    """Refuse a method for the whole mechanism that its massless bodies do not allow.

    Raises
    ------
    MechanismError
        The text names the body, the joint that is cut next to it and the other methods.
    """
    why = refusals(mech, topology).get(method)
    if why is not None:
        others = "use 'auto', 'rcr' or 'embedding'" if topology.clusters else "use 'auto'"
        raise MechanismError(f"method {method!r} cannot take mechanism {mech.name!r}: {why}; {others}")


def refusals(mech: Mechanism, topology: Topology) -> dict[str, str]:
    """Return why methods for the whole mechanism cannot take it, by their names."""
    massless = [body.name for body in mech.bodies.values() if body.mass == 0.0]
    if not massless:
        return {}
    more = f" and {len(massless) - 1} more have" if len(massless) > 1 else " has"
    found = {"dca": f"body {massless[0]!r}{more} no mass, and the method takes the inverse of the mass of each body"}
    without = links_without_inertia(mech, topology)
    if without:
        cuts = _cut_at(mech, topology, without[0])
        where = f" with {quoted(cuts)} cut" if cuts else ""
        found["multipliers"] = (
            f"body {_body(mech, topology, without[0])!r} has no mass, and nothing with mass hangs on it in the open "
            f"tree{where}"
        )
    return found


def _refused(mech: Mechanism, topology: Topology, link: int) -> MechanismError:
    body, joint = _body(mech, topology, link), list(mech.joints)[topology.links[link].joint]
    cuts = _cut_at(mech, topology, link)
    opened = [name for name in cuts if list(mech.joints).index(name) not in _closed(topology)]
    where = f" while {quoted(opened)} is open" if opened else ""
    return MechanismError(
        f"body {body!r} has no mass, and nothing with mass hangs on it{where}, so that joint {joint!r} moves no "
        f"inertia: give body {body!r} a mass or joint {joint!r} a reflected inertia, or join it to its neighbour by a "
        "fixed joint"
    )


def _body(mech: Mechanism, topology: Topology, link: int) -> str:
    return list(mech.bodies)[topology.links[link].body]


def _cut_at(mech: Mechanism, topology: Topology, link: int) -> list[str]:
    """Return the names of the cut joints at a link and the links outboard of it."""
    outboard = {link}
    for number in range(link + 1, len(topology.links)):
        if topology.links[number].parent in outboard:
            outboard.add(number)
    names = list(mech.joints)
    return [names[loop.joint] for loop in topology.loops if outboard & {loop.parent, loop.child}]


def _closed(topology: Topology) -> set[int]:
    return {topology.loops[loop].joint for cluster in topology.clusters for loop in cluster.loops}


def _inertia_outboard(mech: Mechanism, topology: Topology) -> list[bool]:
    """Return for each link whether its body or one outboard of it has inertia."""
    bodies = list(mech.bodies.values())
    found = [bodies[link.body].has_inertia for link in topology.links]
    for number in reversed(range(len(found))):
        parent = topology.links[number].parent
        if parent >= 0 and found[number]:
            found[parent] = True
    return found
