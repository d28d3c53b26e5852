"""From a description to something that computes: checked here, compiled in C."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from operator import itemgetter

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork._util.garbage import no_collection
from linkwork.core.native import NativeModel
from linkwork.core.plan import Topology, read_topology
from linkwork.core.tapes import RatesOfRuns
from linkwork.errors import MechanismError
from linkwork.mechanism import Frame, Joint, Mechanism, Pin, Release
from linkwork.mechanism.checks import check
from linkwork.model.corrections import FrameCorrection, with_frames
from linkwork.model.description import describe, frame_numbers
from linkwork.model.methods import Expected, MethodRequest, check_request
from linkwork.variables.numbering import Numbering, number


@dataclass(frozen=True, eq=False)
class CompiledMechanism:
    """What the core makes of a mechanism: the model and its bytes, and the plan read from it."""

    mechanism: Mechanism  # the description, with pins among its joints, behind all others, and with exact frames
    # model_bytes, native: the serialised model, as an FMU carries it; loaded
    model_bytes: bytes
    native: NativeModel
    # method, reference: as given to `compile`
    method: MethodRequest = "auto"
    reference: str = "auto"
    corrections: tuple[FrameCorrection, ...] = ()  # frames of joints that were changed so that loops are exact
    # A joint whose loop, alone or with others, moves but for a gap of the size of rounding, which is left.
    inexact_loop: str | None = None

    def with_parameters(self, values: FloatArray) -> CompiledMechanism:
        """Return the same with other values of its parameter and start fields, all of them in their order."""
        changed = self.native.with_parameters(self.model_bytes, values)
        twin = replace(self, model_bytes=changed, native=NativeModel(changed, self.native))
        twin.__dict__["rates_of_runs"] = self.rates_of_runs
        kept = (
            "topology",
            "widest_topology",
            "numbering",
            "removable_joints",
            "open_joints",
            "free_joints",
            "clusters",
        )
        twin.__dict__.update({name: self.__dict__[name] for name in kept if name in self.__dict__})
        return twin

    @cached_property
    def rates_of_runs(self) -> RatesOfRuns:
        """Compiled tapes for its runs, and those of its twins."""
        return RatesOfRuns(self.native)

    @cached_property
    def topology(self) -> Topology:
        """The graph: spanning tree, loops, clusters."""
        return read_topology(self.native)

    @cached_property
    def widest_topology(self) -> Topology:
        """The graph with all joints closed that may be."""
        return read_topology(self.native, ()) if self.open_joints else self.topology

    @cached_property
    def numbering(self) -> Numbering:
        """Where each joint's numbers stand."""
        return number(self.mechanism, self.native)

    @cached_property
    def removable_joints(self) -> tuple[int, ...]:
        """Positions of the joints that may open: pins, and joints that are released."""
        return tuple(self.native.table("removable")[:, 0].tolist())

    @cached_property
    def open_joints(self) -> frozenset[int]:
        """Those of them that are open at first."""
        return frozenset(joint for joint, is_open in self.native.table("removable").tolist() if is_open)

    @cached_property
    def clusters(self) -> int:
        """Number of groups of loops, couplings and distances that share joints."""
        return len(self.native.table("cluster"))

    @cached_property
    def free_joints(self) -> tuple[int, ...]:
        """Positions of the joints whose links are in no cluster."""
        joints, free, end = self.native.table("link")[:, 1].tolist(), [], 0
        for _, first, count, _ in sorted(self.native.table("cluster").tolist(), key=itemgetter(1)):
            free += joints[end:first]
            end = first + count
        return (*free, *joints[end:])

    @property
    def expected(self) -> list[Expected]:
        """What each cluster of loops is expected to be like."""
        return [Expected(*self.native.expected(k)) for k in range(self.clusters)]


def compile_mechanism(mech: Mechanism, method: MethodRequest = "auto", reference: str = "auto") -> CompiledMechanism:
    """Compile a mechanism; arguments and errors as of `linkwork.compile`."""
    if not isinstance(mech, Mechanism):
        raise MechanismError(f"compile takes a Mechanism (see Mechanism.load for files), not {type(mech).__name__}")
    own = _with_pins(mech)
    check_request(own, method, reference)
    check(own)
    with no_collection():
        builder = describe(own, method, reference)
        model_bytes, native = builder.finish()
        exact, inexact = builder.exact_frames()
        corrections: tuple[FrameCorrection, ...] = ()
        if exact is not None:
            own, corrections = with_frames(own, frame_numbers(own), exact)
        loop = None if inexact is None else list(own.joints)[inexact]
        return CompiledMechanism(own, model_bytes, native, method, reference, corrections, loop)


def compile_variant(compiled: CompiledMechanism, opened: Iterable[int]) -> CompiledMechanism:
    """Return the topology variant in which of the joints that may open these are open, by itself."""
    own = compiled.mechanism
    model_bytes, native = describe(own, compiled.method, compiled.reference).finish_variant(sorted(opened))
    return CompiledMechanism(own, model_bytes, native, compiled.method, compiled.reference)


def _with_pins(mech: Mechanism) -> Mechanism:
    """Return a copy with the pins among its joints, behind all others; they and joints that are released are cut."""
    mech = mech.copy()
    for name, one in mech.transitions.items():
        if isinstance(one.action, Pin):
            mech.joints[name] = _joint_of(name, one.action)
    released = {one.action.joint for one in mech.transitions.values() if isinstance(one.action, Release)}
    for name in released & mech.joints.keys():
        if not mech.joints[name].cut:
            mech.joints[name] = replace(mech.joints[name], cut=True)
    return mech


def _joint_of(name: str, pin: Pin) -> Joint:
    frames = pin.parent_frame or Frame(), pin.child_frame or Frame()
    none, unlimited = np.zeros(pin.kind.nu), np.full(pin.kind.nu, np.inf)
    return Joint(name, pin.kind, pin.parent, pin.child, *frames, True, none, unlimited)
