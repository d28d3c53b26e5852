"""What a description must satisfy: names, masses and inertias, and a mechanism as a whole."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from linkwork._util.checks import FloatArray, check_name, finite, number, shortened
from linkwork._util.names import quoted, suggest
from linkwork.errors import MechanismError, MechanismNameError

if TYPE_CHECKING:
    from linkwork.mechanism.mechanism import Mechanism
    from linkwork.mechanism.transitions import Transition

GROUND = "ground"
_INERTIA_TOLERANCE = 1e-9  # relative to the largest principal moment


def check_new_name(name: object, what: str, taken: Mapping[str, Container[str]]) -> None:
    """Refuse a name that is illegal, reserved or taken; `taken` has the names of each kind of thing."""
    check_name(name, what)
    if name == GROUND:
        raise MechanismError(f"{what} {GROUND!r}: this name stands for the world; give another one")
    for kind, names in taken.items():
        if name in names:
            this = "this one" if kind == what else f"this {what}"
            raise MechanismError(f"there is a {kind} {name!r} already: give {this} another name")


def check_mass(mass: object, what: str) -> float:
    """Return a mass in kg: finite and not negative."""
    value = number(mass, f"{what}: mass")
    if value < 0:
        raise MechanismError(f"{what}: mass must not be negative ({value:g} kg); a massless body has mass 0")
    return value + 0.0  # not -0


def check_inertia(inertia: ArrayLike, what: str) -> FloatArray:
    """Return an inertia (3, 3) in kg m^2 that some distribution of mass can have, symmetric to the bit."""
    given = finite(inertia, (3, 3), f"{what}: inertia")
    scale = np.abs(given).max()
    symmetric = given
    if given.tolist() != given.T.tolist():
        if np.abs(given - given.T).max() > _INERTIA_TOLERANCE * scale:
            raise MechanismError(f"{what}: inertia must be a symmetric 3 x 3 matrix, not {shortened(given.tolist())}")
        symmetric = 0.5 * given + 0.5 * given.T
    moments = _principal(symmetric)
    if moments[0] < -_INERTIA_TOLERANCE * scale:
        raise MechanismError(
            f"{what}: inertia must not be negative ({_listed(moments)}); check the signs of its products"
        )
    if moments[2] > moments[0] + moments[1] + _INERTIA_TOLERANCE * scale:
        raise MechanismError(
            f"{what}: inertia violates the triangle inequality ({_listed(moments)}: the largest may not exceed the sum "
            "of the other two); give it about the centre of mass, in body axes, and check its units"
        )
    symmetric.setflags(write=False)
    return symmetric


def _principal(inertia: FloatArray) -> list[float]:
    """Return the principal moments, ascending."""
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = inertia.tolist()
    return sorted((xx, yy, zz)) if not (xy or xz or yz) else np.linalg.eigvalsh(inertia).tolist()


def _listed(moments: Iterable[float]) -> str:
    return "principal moments " + ", ".join(f"{moment:.6g}" for moment in moments) + " kg m^2"


def check(mech: Mechanism) -> None:
    """Refuse a mechanism that cannot be compiled: no body, an unknown name, a body that hangs on nothing.

    Raises
    ------
    MechanismError
        The text names the body, joint or force and what to do.
    """
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


def check_references(mech: Mechanism) -> None:
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
    for body in mech.shapes:
        check_body_known(mech, "shapes", body)
    for starts, of in ((mech.start_q, "q"), (mech.start_u, "u")):
        _check_starts(mech, starts, of)
    check_transitions(mech)


def check_transitions(mech: Mechanism) -> None:
    """Refuse transitions of what does not exist (any more), and those that exclude each other."""
    by_subject: dict[str, list[Transition]] = {}
    for transition in mech.transitions.values():
        transition.check(mech)
        others = by_subject.setdefault(transition.subject, [])
        for other in others:
            transition.check_beside(mech, other)
        others.append(transition)


def check_body_known(mech: Mechanism, what: str, body: object) -> None:
    """Refuse a body that does not exist; `what` names who joins it or acts on it."""
    if not isinstance(body, str) or (body != GROUND and body not in mech.bodies):
        hint = suggest(body, [*mech.bodies, GROUND])
        raise MechanismNameError(f"{what}: there is no body {body!r}: {hint} (bodies are added first)")


def check_joint_known(mech: Mechanism, joint: object, what: str) -> None:
    """Refuse a joint that does not exist; `what` is the start of the message."""
    if not isinstance(joint, str) or joint not in mech.joints:
        if isinstance(joint, str) and joint in mech.transitions:
            raise MechanismNameError(f"{what}: {joint!r} is a transition: name a joint that add_joint added")
        raise MechanismNameError(f"{what}: there is no joint {joint!r}: {suggest(joint, mech.joints)}")


def check_start(mech: Mechanism, joint: str, value: ArrayLike, of: str) -> FloatArray:
    """Return start values for the coordinates (`of` is "q") or speeds ("u") of a joint, quaternions with length 1."""
    check_joint_known(mech, joint, f"start {of}")
    kind = mech.joints[joint].kind
    size = kind.nq if of == "q" else kind.nu
    if size == 0:
        raise MechanismError(f"start {of}: joint {joint!r} ({type(kind).__name__}) has no coordinates: leave it out")
    if isinstance(value, int | float | np.number):
        value = [float(value)]
    what = f"start {of} of joint {joint!r}"
    array = finite(value, (size,), what)
    return kind.normalised(array, what) if of == "q" else array


def _check_starts(mech: Mechanism, starts: Mapping[str, FloatArray], of: str) -> None:
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


def check_connected(mech: Mechanism) -> None:
    """Refuse bodies that no path of joints leads to from the ground."""
    lost = lost_bodies(mech)
    if lost:
        subject = f"body {lost[0]!r} is" if len(lost) == 1 else f"bodies {quoted(lost)} are"
        raise MechanismError(
            f"{subject} not connected to ground: add a joint between {lost[0]!r} and 'ground' or a body that is"
        )


def lost_bodies(mech: Mechanism, without: Container[str] = ()) -> list[str]:
    """Return the bodies that no path of joints, `without` some, leads to from the ground."""
    neighbours: dict[str, list[str]] = {name: [] for name in (GROUND, *mech.bodies)}
    for joint in mech.joints.values():
        if joint.name not in without:
            neighbours[joint.parent].append(joint.child)
            neighbours[joint.child].append(joint.parent)
    reached = {GROUND}
    waiting = [GROUND]
    while waiting:
        for name in neighbours[waiting.pop()]:
            if name not in reached:
                reached.add(name)
                waiting.append(name)
    return [name for name in mech.bodies if name not in reached]
