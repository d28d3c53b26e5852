"""What a new part of a mechanism must satisfy: names that are free, bodies and joints that exist, masses, inertias."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from linkwork._util.checks import FloatArray, check_name, finite, number, shortened
from linkwork._util.names import suggest
from linkwork.errors import MechanismError, MechanismNameError

if TYPE_CHECKING:
    from linkwork.mechanism.surroundings import Surroundings

GROUND = "ground"
INERTIA_TOLERANCE = 1e-9  # relative to the largest principal moment


def check_new_name(name: object, what: str, taken: Mapping[str, Container[str]]) -> None:
    """Refuse a name that is illegal, reserved or taken; `taken` has the names of each kind of thing."""
    check_name(name, what)
    if name == GROUND:
        raise MechanismError(f"{what} {GROUND!r}: this name stands for the world; give another one")
    for kind, names in taken.items():
        if name in names:
            this = "this one" if kind == what else f"this {what}"
            article = "an" if kind[0] in "aeiou" else "a"
            raise MechanismError(f"there is {article} {kind} {name!r} already: give {this} another name")


def check_mass(mass: object, what: str) -> float:
    """Return a mass in kg: finite and not negative."""
    value = number(mass, f"{what}: mass")
    if value < 0:
        raise MechanismError(f"{what}: mass must not be negative ({value:g} kg); a massless body has mass 0")
    return value + 0.0  # not -0


def check_inertia(inertia: ArrayLike, what: str) -> FloatArray:
    """Return an inertia (3, 3) in kg m^2 that some distribution of mass can have, symmetric to the bit."""
    given = finite(inertia, (3, 3), f"{what}: inertia")
    rows = given.tolist()
    scale = max(abs(number) for row in rows for number in row)
    symmetric = given
    if rows != [*map(list, zip(*rows, strict=True))]:
        if np.abs(given - given.T).max() > INERTIA_TOLERANCE * scale:
            raise MechanismError(f"{what}: inertia must be a symmetric 3 x 3 matrix, not {shortened(rows)}")
        symmetric = 0.5 * given + 0.5 * given.T
    moments = _principal(symmetric)
    if moments[0] < -INERTIA_TOLERANCE * scale:
        raise MechanismError(
            f"{what}: inertia must not be negative ({_listed(moments)}); check the signs of its products"
        )
    if moments[2] > moments[0] + moments[1] + INERTIA_TOLERANCE * scale:
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


def check_body_known(mech: Surroundings, what: str, body: object) -> None:
    """Refuse a body that does not exist; `what` names who joins it or acts on it."""
    if not isinstance(body, str) or (body != GROUND and body not in mech.bodies):
        hint = suggest(body, [*mech.bodies, GROUND])
        raise MechanismNameError(f"{what}: there is no body {body!r}: {hint} (bodies are added first)")


def check_joint_known(mech: Surroundings, joint: object, what: str) -> None:
    """Refuse a joint that does not exist; `what` is the start of the message."""
    if not isinstance(joint, str) or joint not in mech.joints:
        if isinstance(joint, str) and joint in mech.transitions:
            raise MechanismNameError(f"{what}: {joint!r} is a transition: name a joint that add_joint added")
        raise MechanismNameError(f"{what}: there is no joint {joint!r}: {suggest(joint, mech.joints)}")


def check_start(mech: Surroundings, joint: str, value: ArrayLike, of: str) -> FloatArray:
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


def lost_bodies(mech: Surroundings, without: Container[str] = ()) -> list[str]:
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
