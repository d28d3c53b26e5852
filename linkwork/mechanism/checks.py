"""What a mechanism must satisfy as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork._util.names import quoted
from linkwork.errors import MechanismError
from linkwork.mechanism.own_states import all_states
from linkwork.mechanism.part_checks import check_body_known, check_start, lost_bodies

if TYPE_CHECKING:
    from linkwork.mechanism.description import Description
    from linkwork.mechanism.transitions import Transition


def check(mech: Description) -> None:
    """Refuse a mechanism that cannot be compiled: no body, an unknown name, a body that hangs on nothing."""
    if not mech.bodies and mech.report is not None:
        raise MechanismError(
            f"mechanism {mech.name!r} has no bodies: all links of its file are fixed to the world; load it with "
            "base='free', on the command line --base free, to let them move together"
        )
    if not mech.bodies:
        raise MechanismError(f"mechanism {mech.name!r} has no bodies: add one with add_body")
    check_references(mech)
    check_connected(mech)
    for transition in mech.transitions.values():
        transition.check_whole(mech)


def check_references(mech: Description) -> None:
    """Refuse what names something that does not exist (any more), or does not fit it (any more)."""
    for joint in mech.joints.values():
        for body in (joint.parent, joint.child):
            check_body_known(mech, f"joint {joint.name!r}", body)
    for coupling in mech.couplings.values():
        coupling.check(mech)
    for distance in mech.distances.values():
        distance.check(mech)
    for force in mech.forces:
        force.check(mech)
    for point in mech.points.values():
        point.check(mech)
    for measure in mech.measures.values():
        measure.check(mech)
    for output in mech.outputs.values():
        output.check(mech)
    for state in all_states(mech):
        state.check(mech)
    for body in mech.shapes:
        check_body_known(mech, "shapes", body)
    for starts, of in ((mech.start_q, "q"), (mech.start_u, "u")):
        _check_starts(mech, starts, of)
    check_transitions(mech)


def check_transitions(mech: Description) -> None:
    """Refuse transitions of what does not exist (any more), and those that exclude each other."""
    by_subject: dict[str, list[Transition]] = {}
    for transition in mech.transitions.values():
        transition.check(mech)
        others = by_subject.setdefault(transition.subject, [])
        for other in others:
            transition.check_beside(mech, other)
        others.append(transition)


def _check_starts(mech: Description, starts: Mapping[str, FloatArray], of: str) -> None:
    """Refuse what `check_start` does; arrays as it returns them are looked at together."""

    def plain(name: str, value: FloatArray) -> bool:
        kind = mech.joints[name].kind if name in mech.joints else None
        if kind is None or kind.quaternion is not None or type(value) is not np.ndarray or value.dtype != float:
            return False
        return value.shape == (kind.nq if of == "q" else kind.nu,) != (0,)

    known = {name for name, value in starts.items() if plain(name, value)}
    if known and not np.isfinite(np.concatenate([starts[name] for name in known])).all():
        known.clear()
    for name, value in starts.items():
        if name not in known:
            check_start(mech, name, value, of)


def check_connected(mech: Description) -> None:
    """Refuse bodies that no path of joints leads to from the ground."""
    lost = lost_bodies(mech)
    if lost:
        subject = f"body {lost[0]!r} is" if len(lost) == 1 else f"bodies {quoted(lost)} are"
        raise MechanismError(
            f"{subject} not connected to ground: add a joint between {lost[0]!r} and 'ground' or a body that is"
        )
