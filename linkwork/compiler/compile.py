"""From a description to something that computes: validate, choose the tree, number, serialise, load."""

from __future__ import annotations

from linkwork.compiler.numbering import number
from linkwork.compiler.serialise import serialise
from linkwork.compiler.topology import topology
from linkwork.description import Mechanism
from linkwork.errors import MechanismError
from linkwork.system import System

METHODS = ("auto", "rcr")
REFERENCES = ("auto", "joint")


def compile(mech: Mechanism, method: str = "auto", reference: str = "auto") -> System:
    """Compile a mechanism.

    Parameters
    ----------
    mech
        The description; later changes to it do not reach the system.
    method
        How loops are solved: "rcr", recursive coordinate reduction (Anderson and Critchley 2003), or "auto", which at
        present is the same.
    reference
        The point about which each body's inertia and wrench are taken: "joint", the point of the joint that carries
        it, or "auto", which at present is the same.

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
    if not isinstance(mech, Mechanism):
        raise MechanismError(f"compile takes a Mechanism (see Mechanism.load for files), not {type(mech).__name__}")
    tree = topology(mech)
    numbering = number(mech, tree)
    return System(mech.copy(), tree, numbering, serialise(mech, tree, numbering))


def _check_choice(what: str, given: str, known: tuple[str, ...]) -> None:
    if given not in known:
        raise MechanismError(f"there is no {what} {given!r} among {', '.join(known)}")
