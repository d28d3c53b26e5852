"""From a description to something that computes: validate, choose tree and methods, number, serialise, load."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from linkwork._util.checks import FloatArray
from linkwork.compiler.exact_loops import FrameCorrection, exact_frames
from linkwork.compiler.massless import check_clusters, check_method, check_trees
from linkwork.compiler.method_choice import MethodRequest, check_among, check_request, choose
from linkwork.compiler.methods import METHODS, MULTIPLIERS_ABOUT, REFERENCES, Expected
from linkwork.compiler.numbering import Numbering, number
from linkwork.compiler.serialise import SUBASSEMBLIES, Methods, serialise, with_parameters
from linkwork.compiler.topology import Topology, topology
from linkwork.compiler.topology_variants import Changes, changes
from linkwork.core.native import NativeModel
from linkwork.errors import MechanismError
from linkwork.mechanism import Mechanism


@dataclass(frozen=True, eq=False)
class CompiledMechanism:
    """What the compiler makes of a mechanism: plain data, and the core's model loaded from its bytes.

    Attributes
    ----------
    mechanism, topology, numbering
        The description, its graph, and where each joint's numbers stand.
    model_bytes
        The serialised model, as an FMU carries it.
    changes
        What may become of the mechanism by its transitions.
    method, reference
        As given to `compile`.
    methods
        The codes of the methods chosen; None: recursive coordinate reduction everywhere.
    like
        Loaded before, of the same mechanism with other values of parameters.
    corrections
        Frames of joints that were changed so that loops are exact; `mechanism` has the changed ones.
    inexact_loop
        A joint whose loop, alone or with others, moves but for a gap of the size of rounding, which is left.
    """

    mechanism: Mechanism
    topology: Topology
    numbering: Numbering
    model_bytes: bytes
    changes: Changes
    method: MethodRequest = "auto"
    reference: str = "auto"
    methods: Methods | None = None
    like: NativeModel | None = field(default=None, repr=False)
    corrections: tuple[FrameCorrection, ...] = ()
    inexact_loop: str | None = None
    native: NativeModel = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "native", NativeModel(self.model_bytes, self.like))

    def with_parameters(self, values: FloatArray) -> CompiledMechanism:
        """Return the same with other values of its parameter and start fields, all of them in their order."""
        changed = with_parameters(self.model_bytes, values, self.changes, self.numbering)
        return replace(self, model_bytes=changed, like=self.native)

    @property
    def expected(self) -> list[Expected]:
        """What each cluster of loops is expected to be like."""
        return [Expected(*self.native.expected(k)) for k in range(len(self.topology.clusters))]


def compile_mechanism(mech: Mechanism, method: MethodRequest = "auto", reference: str = "auto") -> CompiledMechanism:
    """Compile a mechanism; arguments and errors as of `linkwork.compile`."""
    check_request(method)
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
        first = compile_variant(found, found.open, method, reference)
        exact, corrections, inexact = exact_frames(found.mech, first.native)
        if corrections:
            found = replace(found, mech=exact)
            first = replace(compile_variant(found, found.open, method, reference), corrections=corrections)
        first = replace(first, inexact_loop=inexact)
        others = [compile_variant(found, opened, method, reference) for opened in found.others]
        if not others:
            return first
        leading = serialise(found, first.topology, first.numbering, first.methods, len(others))
        return replace(first, model_bytes=b"".join([leading, *(one.model_bytes for one in others)]))


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


def _whole(method: MethodRequest, reference: str) -> Methods | None:
    """Return the method that takes the whole mechanism, if that is asked for."""
    if method == "multipliers":
        return Methods(MULTIPLIERS_ABOUT[reference])
    return Methods(SUBASSEMBLIES) if method == "dca" else None


def compile_variant(
    changes: Changes, opened: frozenset[int], method: MethodRequest, reference: str
) -> CompiledMechanism:
    """Return the mechanism with some of its joints open, by itself."""
    tree = topology(changes.mech, changes.locks, opened)
    numbering = number(changes.mech, tree)

    def compiled(methods: Methods | None) -> CompiledMechanism:
        model_bytes = serialise(changes, tree, numbering, methods)
        return CompiledMechanism(changes.mech, tree, numbering, model_bytes, changes, method, reference, methods)

    check_trees(changes.mech, tree)
    whole = _whole(method, reference)
    if whole is not None:
        check_method(changes.mech, tree, str(method))
    chosen = compiled(whole)
    if whole is None:
        check_clusters(changes.mech, tree, chosen.expected)
        choices = choose(changes.mech, tree, chosen.expected, method, partly=bool(opened))
        codes = tuple(METHODS[choice.method].code for choice in choices)
        if any(codes):
            whole = Methods(clusters=codes)
            chosen = compiled(whole)
    return chosen
