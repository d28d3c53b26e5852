"""The methods by which loops are solved: their names and meanings, and what the core chose for each cluster and why."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from linkwork.core.native import METHOD_CODES, NativeModel
from linkwork.core.plan import Topology
from linkwork.errors import MechanismError, MechanismNameError
from linkwork.mechanism import Mechanism
from linkwork.mechanism.part_checks import check_joint_known

MethodRequest = str | Mapping[str, str]


@dataclass(frozen=True)
class Method:
    """A way to solve loops."""

    # name, meaning: as `compile` takes it; in words
    name: str
    meaning: str
    takes_whole: bool = False  # it takes the whole mechanism, and cannot be chosen for a cluster


METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method("rcr", "recursive coordinate reduction, loop by loop"),
        Method("embedding", "constraint embedding, all closures as one matrix"),
        Method("multipliers", "Lagrange multipliers of all loops at once, on the open tree", takes_whole=True),
        Method("dca", "divide and conquer, bodies joined to ever larger subassemblies", takes_whole=True),
    )
}
CLUSTER_METHODS = tuple(name for name, method in METHODS.items() if not method.takes_whole)  # by their code
REFERENCES = ("auto", "centroid", "joint", "origin")


class Expected(NamedTuple):
    """What a cluster is expected to be like in regular poses, as the core counts it at its start."""

    # columns, rows: speeds of its tree and cut joints; equations of its closures, redundant ones included
    columns: int
    rows: int
    # independents, dof: columns that its loops leave independent, each for itself; those that all closures leave
    independents: int
    dof: int


@dataclass(frozen=True)
class Choice:
    """The method of a cluster."""

    # method, requested: its name, and whether it was asked for
    method: str
    requested: bool
    costs: dict[str, float]  # expected multiplications of an evaluation by each method that can take the cluster
    refusals: dict[str, str]  # why others cannot


def takes_whole(method: MethodRequest) -> bool:
    """Whether a method is asked for that takes the whole mechanism."""
    return isinstance(method, str) and method != "auto" and METHODS[method].takes_whole


def code_of(method: str, reference: str) -> int:
    """Return the core's number of a method."""
    about = method == "multipliers" and reference in ("centroid", "origin")
    return METHOD_CODES[f"{method} {reference}" if about else method]


def choices(mech: Mechanism, topology: Topology, native: NativeModel, request: MethodRequest) -> tuple[Choice, ...]:
    """Return the method that the core chose for each cluster, and what others would cost."""
    asked = _asked(mech, topology, request)
    methods = native.table("cluster")[:, 3].tolist()
    return tuple(
        Choice(CLUSTER_METHODS[method], asked[number], *costs_of(native, number, CLUSTER_METHODS))
        for number, method in enumerate(methods)
    )


def costs_of(native: NativeModel, cluster: int, methods: Sequence[str]) -> tuple[dict[str, float], dict[str, str]]:
    """Return the expected multiplications of a cluster, -1 the whole mechanism, by method; and why others cannot."""
    costs = {name: native.cost(cluster, METHOD_CODES[name]) for name in methods}
    refusals = {name: native.refusal(cluster, METHOD_CODES[name]) for name in methods}
    return (
        {name: cost for name, cost in costs.items() if math.isfinite(cost)},
        {name: why for name, why in refusals.items() if why},
    )


def _asked(mech: Mechanism, topology: Topology, request: MethodRequest) -> list[bool]:
    """Return for each cluster whether a method was asked for."""
    if isinstance(request, str):
        return [request != "auto"] * len(topology.clusters)
    names = list(mech.joints)
    named = {names.index(joint) for joint, method in request.items() if method != "auto"}
    return [
        any(topology.links[link].joint in named for link in cluster.links)
        or any(topology.loops[loop].joint in named for loop in cluster.loops)
        for cluster in topology.clusters
    ]


def check_request(mech: Mechanism, request: MethodRequest, reference: str) -> None:
    """Refuse methods, references and joints that do not exist, and methods by joint that take a whole mechanism."""
    if isinstance(request, Mapping):
        for joint, method in request.items():
            _check_among("method", method, ("auto", *METHODS))
            if takes_whole(method):
                raise MechanismError(
                    f"method {method!r} takes the whole mechanism: give method={method!r}, not one for joint {joint!r}"
                )
            check_joint_known(mech, joint, f"method {method!r}")
    else:
        _check_among("method", request, ("auto", *METHODS))
    _check_among("reference", reference, REFERENCES)
    if request != "multipliers" and reference not in ("auto", "joint"):
        raise MechanismError(
            f"reference {reference!r} is for method 'multipliers'; method {request!r} takes everything about the "
            "joints' points: leave the reference out"
        )


def _check_among(what: str, given: object, known: Sequence[str]) -> None:
    if given not in known:
        raise MechanismNameError(f"there is no {what} {given!r} among {', '.join(known)}")
