"""From a description to something that computes: validate, choose the tree, number, serialise, load."""

from __future__ import annotations

from linkwork.compiler.numbering import number
from linkwork.compiler.serialise import (
    EMBEDDING,
    MULTIPLIERS_ABOUT_CENTROIDS,
    MULTIPLIERS_ABOUT_JOINTS,
    MULTIPLIERS_ABOUT_ORIGIN,
    Methods,
    serialise,
)
from linkwork.compiler.topology import topology
from linkwork.description import Mechanism
from linkwork.errors import MechanismError
from linkwork.system import System

METHODS = ("auto", "rcr", "embedding", "multipliers")
REFERENCES = ("auto", "centroid", "joint", "origin")
_MULTIPLIERS = {
    "auto": MULTIPLIERS_ABOUT_JOINTS,
    "joint": MULTIPLIERS_ABOUT_JOINTS,
    "centroid": MULTIPLIERS_ABOUT_CENTROIDS,
    "origin": MULTIPLIERS_ABOUT_ORIGIN,
}


def compile(mech: Mechanism, method: str = "auto", reference: str = "auto") -> System:
    """Compile a mechanism.

    Parameters
    ----------
    mech
        The description; later changes to it do not reach the system.
    method
        How loops are solved: "rcr", recursive coordinate reduction (Anderson and Critchley 2003), "embedding",
        constraint embedding (Jain 2012), each with the loops that share joints together; "multipliers", Lagrange
        multipliers of all loops at once on the open tree, whose cost grows with the cube of their number; or "auto",
        which at present is "rcr".
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
        If the description is wrong or asks for what is not supported; the text names the body or joint.
    """
    _check_choice("method", method, METHODS)
    _check_choice("reference", reference, REFERENCES)
    if method != "multipliers" and reference not in ("auto", "joint"):
        raise MechanismError(
            f"reference {reference!r} is for method 'multipliers'; method {method!r} takes everything about the joints' "
            f"points: leave the reference out"
        )
    if not isinstance(mech, Mechanism):
        raise MechanismError(f"compile takes a Mechanism (see Mechanism.load for files), not {type(mech).__name__}")
    tree = topology(mech)
    numbering = number(mech, tree)
    model_bytes = serialise(mech, tree, numbering, _methods(method, reference, len(tree.clusters)))
    return System(Mechanism.from_dict(mech.to_dict()), tree, numbering, model_bytes, method, reference)


def _methods(method: str, reference: str, clusters: int) -> Methods:
    if method == "multipliers":
        return Methods(_MULTIPLIERS[reference])
    return Methods(clusters=(EMBEDDING,) * clusters) if method == "embedding" else Methods()


def _check_choice(what: str, given: str, known: tuple[str, ...]) -> None:
    if given not in known:
        raise MechanismError(f"there is no {what} {given!r} among {', '.join(known)}")
