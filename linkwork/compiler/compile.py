"""From a description to something that computes: validate, choose tree and methods, number, serialise, load."""

from __future__ import annotations

from linkwork._native import Model
from linkwork.compiler.changes import Changes, changes
from linkwork.compiler.choice import MethodWish, check_among, check_wish, choose
from linkwork.compiler.methods import METHODS, MULTIPLIERS_ABOUT, REFERENCES, Expected
from linkwork.compiler.numbering import number
from linkwork.compiler.serialise import Methods, serialise
from linkwork.compiler.topology import topology
from linkwork.description import Mechanism
from linkwork.errors import MechanismError
from linkwork.system import System


def compile(mech: Mechanism, method: MethodWish = "auto", reference: str = "auto") -> System:
    """Compile a mechanism.

    Parameters
    ----------
    mech
        The description; later changes to it do not reach the system.
    method
        How loops are solved: "rcr", recursive coordinate reduction (Anderson and Critchley 2003), "embedding",
        constraint embedding (Jain 2012), each with the loops that share joints together; "multipliers", Lagrange
        multipliers of all loops at once on the open tree, whose cost grows with the cube of their number; or "auto",
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
    tree = topology(found.mech, found.locks, found.open)
    numbering = number(found.mech, tree)
    about = MULTIPLIERS_ABOUT[reference] if method == "multipliers" else None
    structures = [_structure(found, opened, method, about) for opened in (found.open, *found.others)]
    model = structures[0][1] if len(structures) == 1 else None
    model_bytes = b"".join(data for data, _ in structures)
    return System(found.mech, tree, numbering, model_bytes, method, reference, found, model)


def _structure(
    changes: Changes, opened: frozenset[int], method: MethodWish, about: int | None
) -> tuple[bytes, Model | None]:
    """Return the model of the mechanism with some of its joints open, loaded if it was."""
    tree = topology(changes.mech, changes.locks, opened)
    numbering = number(changes.mech, tree)
    others = 2 ** len(changes.switches) - 1 if opened == changes.open else 0
    if about is not None:
        return serialise(changes, tree, numbering, Methods(about), others), None
    alone = serialise(changes, tree, numbering)
    model = Model(alone)
    expected = [Expected(*model.expected(cluster)) for cluster in range(len(tree.clusters))]
    choices = choose(changes.mech, tree, expected, method, partly=bool(opened))
    codes = tuple(METHODS[choice.method].code for choice in choices)
    if any(codes) or others:
        return serialise(changes, tree, numbering, Methods(clusters=codes), others), None
    return alone, model
