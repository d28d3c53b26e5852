"""From a description to something that computes: validate, choose tree and methods, number, serialise, load."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

from linkwork.compiler.method_choice import MethodWish, check_among, check_wish, choose
from linkwork.compiler.methods import METHODS, MULTIPLIERS_ABOUT, REFERENCES
from linkwork.compiler.numbering import number
from linkwork.compiler.serialise import ASSEMBLIES, Methods, serialise
from linkwork.compiler.topology import topology
from linkwork.compiler.topology_variants import Changes, changes
from linkwork.errors import MechanismError
from linkwork.mechanism import Mechanism
from linkwork.model.model import System


def compile(mech: Mechanism, method: MethodWish = "auto", reference: str = "auto") -> System:
    """Compile a mechanism.

    Parameters
    ----------
    mech
        The description; later changes to it do not reach the system.
    method
        How loops are solved: "rcr", recursive coordinate reduction (Anderson and Critchley 2003), "embedding",
        constraint embedding (Jain 2012), each with the loops that share joints together; "multipliers", Lagrange
        multipliers of all loops at once on the open tree, whose cost grows with the cube of their number; "dca", divide
        and conquer (Mukherjee and Anderson 2007), which joins bodies to ever larger assemblies and whose long way is
        the logarithm of their number, so that threads can share it (LINKWORK_THREADS in the environment); or "auto",
        for each group of loops that share joints whichever of the first two is expected to cost less. A dictionary
        gives the method of some groups by the name of any of their joints, as in ``{"C": "embedding"}``.
        `System.explain` tells what was chosen, and why.
    reference
        The point of each body about which "multipliers" takes inertias, wrenches and constraints (Kang and Yoon 2003):
        "joint", that of the joint that carries it; "centroid", its centre of mass; "origin", the one that passes the
        world's origin, which costs least and loses about 2 log10(distance/size) digits far from it. "auto" is "joint",
        which the other methods use.

    Returns
    -------
    System
        Ready to assemble, compute and simulate.

    Raises
    ------
    MechanismError
        If the description is wrong or asks for what is not supported, or if a method cannot take it; the text names the
        body or joint.
    """
    check_wish(method)
    check_among("reference", reference, REFERENCES)
    if method != "multipliers" and reference not in ("auto", "joint"):
        raise MechanismError(
            f"reference {reference!r} is for method 'multipliers'; method {method!r} takes everything about the "
            "joints' points: leave the reference out"
        )
    if not isinstance(mech, Mechanism):
        raise MechanismError(f"compile takes a Mechanism (see Mechanism.load for files), not {type(mech).__name__}")
    found = changes(mech)
    with no_collection():
        first, *others = (structure(found, opened, method, reference) for opened in (found.open, *found.others))
        if not others:
            return first
        model_bytes = b"".join(one.model_bytes for one in (first, *others))
        return System(found.mech, first.topology, first.numbering, model_bytes, method, reference, found)


@contextmanager
def no_collection() -> Iterator[None]:
    """Look for no garbage meanwhile: lists by the ten thousand are made and kept, and searching them takes longer."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _whole(method: MethodWish, reference: str) -> Methods | None:
    """Return the method that takes the whole mechanism, if that is asked for."""
    if method == "multipliers":
        return Methods(MULTIPLIERS_ABOUT[reference])
    return Methods(ASSEMBLIES) if method == "dca" else None


def structure(changes: Changes, opened: frozenset[int], method: MethodWish, reference: str) -> System:
    """Return the mechanism with some of its joints open, by itself.

    The bytes of the structure at first tell how many others follow them.
    """
    tree = topology(changes.mech, changes.locks, opened)
    numbering = number(changes.mech, tree)
    others = 2 ** len(changes.switches) - 1 if opened == changes.open else 0

    def system(methods: Methods | None) -> System:
        model_bytes = serialise(changes, tree, numbering, methods)
        return System(changes.mech, tree, numbering, model_bytes, method, reference, changes)

    whole = _whole(method, reference)
    chosen = system(whole)
    if whole is None:
        choices = choose(changes.mech, tree, chosen.expected, method, partly=bool(opened))
        codes = tuple(METHODS[choice.method].code for choice in choices)
        if any(codes):
            whole = Methods(clusters=codes)
            chosen = system(whole)
    if others:
        chosen.model_bytes = serialise(changes, tree, numbering, whole, others)
    return chosen
