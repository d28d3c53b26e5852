"""From a description to something that computes: validate, choose the tree, number, serialise, load."""

from __future__ import annotations

from difflib import get_close_matches

from linkwork.compiler.numbering import number
from linkwork.compiler.serialise import serialise
from linkwork.compiler.topology import topology
from linkwork.description import Mechanism
from linkwork.errors import MechanismError
from linkwork.system import System

METHODS = ("auto", "rcr")


def compile(mech: Mechanism, method: str = "auto") -> System:
    """Compile a mechanism.

    Parameters
    ----------
    mech
        The description; later changes to it do not reach the system.
    method
        How loops are solved: "rcr", recursive coordinate reduction (Anderson and Critchley 2003), or "auto", which at
        present is the same.

    Returns
    -------
    System
        Ready to assemble, compute and simulate.

    Raises
    ------
    MechanismError
        If the description is wrong or asks for what is not supported; the text names the body or joint.
    """
    if method not in METHODS:
        close = get_close_matches(str(method), METHODS, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        raise MechanismError(f"there is no method {method!r} among {', '.join(METHODS)}{hint}")
    if not isinstance(mech, Mechanism):
        raise MechanismError(f"compile takes a Mechanism (see Mechanism.load for files), not {type(mech).__name__}")
    tree = topology(mech)
    numbering = number(mech, tree)
    return System(Mechanism.from_dict(mech.to_dict()), tree, numbering, serialise(mech, tree, numbering))
