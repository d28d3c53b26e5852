"""Which method solves each cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from linkwork._util.names import quoted
from linkwork.compiler.methods import METHODS, Expected, size_of
from linkwork.compiler.topology import Cluster, Topology
from linkwork.errors import MechanismError, MechanismNameError
from linkwork.mechanism import Mechanism
from linkwork.mechanism.part_checks import check_joint_known

MethodRequest = str | Mapping[str, str]


@dataclass(frozen=True)
class Choice:
    """The method of a cluster.

    Attributes
    ----------
    method, requested
        Its name, and whether it was asked for.
    costs
        Expected multiplications of an evaluation by each method that can take the cluster.
    refusals
        Why others cannot.
    """

    method: str
    requested: bool
    costs: dict[str, float]
    refusals: dict[str, str]


def choose(
    mech: Mechanism, topology: Topology, expected: Sequence[Expected], request: MethodRequest, *, partly: bool = False
) -> tuple[Choice, ...]:
    """Return the method of each cluster: the one asked for, else the one that is expected to cost least.

    Parameters
    ----------
    expected
        Of each cluster.
    request
        A method for all, or methods by the name of any joint of a cluster.
    partly
        Joints named may lie in no cluster: other topology variants of the mechanism have theirs.

    Raises
    ------
    MechanismError
        If a joint or method does not exist, or if a method cannot take a cluster; the text names its joints.
    """
    if partly and isinstance(request, Mapping):
        known = _clusters_by_joint(mech, topology)
        request = {joint: method for joint, method in request.items() if joint in known}
    requests = _by_cluster(mech, topology, request)
    speeds = [joint.kind.nu for joint in mech.joints.values()]
    found = []
    for number, cluster in enumerate(topology.clusters):
        size = size_of(topology, cluster, speeds.__getitem__, expected[number])
        able = {name: method for name, method in METHODS.items() if method.code >= 0}
        refusals = {name: why for name, method in able.items() if (why := method.refusal(size)) is not None}
        costs = {name: method.cost(size) for name, method in able.items() if name not in refusals}
        requested = requests[number]
        if requested in refusals:
            others = " or ".join(repr(name) for name in ("auto", *costs))
            raise MechanismError(
                f"method {requested!r} cannot take {in_words(mech, topology, cluster)}: {refusals[requested]}; "
                f"use {others} there"
            )
        cheapest = min(costs, key=costs.__getitem__)
        found.append(Choice(cheapest if requested == "auto" else requested, requested != "auto", costs, refusals))
    return tuple(found)


def check_request(request: MethodRequest) -> None:
    """Refuse methods that do not exist, and those by joint that only take a whole mechanism."""
    if isinstance(request, Mapping):
        for joint, method in request.items():
            check_among("method", method, ("auto", *METHODS))
            if method != "auto" and METHODS[method].code < 0:
                raise MechanismError(
                    f"method {method!r} takes the whole mechanism: give method={method!r}, not one for joint {joint!r}"
                )
    else:
        check_among("method", request, ("auto", *METHODS))


def check_among(what: str, given: object, known: Sequence[str]) -> None:
    """Refuse what does not exist."""
    if given not in known:
        raise MechanismNameError(f"there is no {what} {given!r} among {', '.join(known)}")


def in_words(mech: Mechanism, topology: Topology, cluster: Cluster) -> str:
    """Name a cluster by its cut joints, its couplings or its distances."""
    names = list(mech.joints)
    cuts = [names[topology.loops[loop].joint] for loop in cluster.loops]
    if not cuts and cluster.distances:
        distances = list(mech.distances)
        return f"the links held by {quoted([distances[number] for number in cluster.distances])}"
    couplings = list(mech.couplings)
    coupled = [couplings[number] for number in cluster.couplings if number < len(couplings)]
    if not cuts and coupled:
        return f"the joints coupled by {quoted(coupled)}"
    if not cuts:
        locked = sorted({topology.couplings[number].terms[0][0] for number in cluster.couplings})
        return f"the joints that may be locked: {quoted([names[joint] for joint in locked])}"
    return f"the loop{'s' * (len(cuts) > 1)} closed by {quoted(cuts)}"


def _by_cluster(mech: Mechanism, topology: Topology, request: MethodRequest) -> list[str]:
    """Return the method requested for each cluster."""
    if not isinstance(request, Mapping):
        return [request] * len(topology.clusters)
    cluster_of = _clusters_by_joint(mech, topology)
    given: dict[int, str] = {}
    for joint, method in request.items():
        check_joint_known(mech, joint, f"method {method!r}")
        if joint not in cluster_of:
            raise MechanismError(
                f"method {method!r}: joint {joint!r} is on no loop and in no coupling or distance; leave it out"
            )
        other = given.setdefault(cluster_of[joint], joint)
        if request[other] != method:
            raise MechanismError(
                f"joints {other!r} and {joint!r} are in loops that are solved together: give one method for both"
            )
    return [request[given[number]] if number in given else "auto" for number in range(len(topology.clusters))]


def _clusters_by_joint(mech: Mechanism, topology: Topology) -> dict[str, int]:
    names = list(mech.joints)
    cluster_of = {}
    for number, cluster in enumerate(topology.clusters):
        cluster_of.update({names[topology.links[link].joint]: number for link in cluster.links})
        cluster_of.update({names[topology.loops[loop].joint]: number for loop in cluster.loops})
    return cluster_of
