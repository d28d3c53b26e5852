"""From particles to rigid bodies, and from these to a mechanism.

The first step sums up (`rigid_bodies`). In the second, all joints come at once: their impulses change the velocities
of the bodies such that every joint holds (Mukherjee and Anderson 2007, 5.3). Both keep linear and angular momentum, as
nothing acts from outside; what moved within segments, and across joints, is lost to the kinetic energy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from linkwork._util.checks import FloatArray
from linkwork._util.keywords import checks_keywords
from linkwork._util.names import quoted
from linkwork.coarse_graining.particles import GivenJoint, read_joints, read_particles, read_segments
from linkwork.coarse_graining.rigid_bodies import Momenta, RigidBodies, momenta, summed_up
from linkwork.errors import MechanismError, SingularityError
from linkwork.mechanism import Free, Mechanism
from linkwork.model.compile import compile
from linkwork.model.state import State

FLOAT = "float"


@dataclass(frozen=True)
class CoarseGrained:
    """What `coarse_grain` returns.

    Attributes
    ----------
    particles
        Energy and momentum of the particles.
    before, after
        The rigid bodies by themselves, and in the mechanism; `before.total` and `after.total` have energy and momentum.
    mechanism
        The bodies by `names`, the first of them free, with the joints given; it starts as the joints left it, so that
        `simulate` continues from there. Gravity is zero.
    state
        Of the mechanism after the joints came; `state.model` is the mechanism compiled.
    impulses
        Of each joint on its child, by name, (6,): [angular about the joint's point; linear], world axes.
    names
        Of the bodies, in the order of the segments.
    """

    particles: Momenta
    before: RigidBodies
    after: RigidBodies
    mechanism: Mechanism
    state: State
    impulses: dict[str, FloatArray]
    names: list[str]


@checks_keywords
def coarse_grain(
    positions: ArrayLike,
    velocities: ArrayLike,
    masses: ArrayLike,
    segments: Any,
    joints: Sequence[Any],
    *,
    names: Sequence[str] | None = None,
    name: str = "coarse_grained",
) -> CoarseGrained:
    """Turn particles into rigid bodies, and these into a mechanism, as their momenta demand.

    Any consistent units will do: the mechanism takes numbers as they are. With nm, ps and atomic mass units, energies
    are in kJ/mol, and forces and gravity that are added later must be in the same units.

    Parameters
    ----------
    positions, velocities, masses
        Of the particles, in world axes: (n, 3), (n, 3) and (n,).
    segments
        The number of each particle's segment, (n,), from 0 without a gap; or for each segment a list of its particles,
        counted from 0. Each particle is in exactly one.
    joints
        ``(a, b, point)`` for a ball joint of two segments by number at a point (3,) of the world, or
        ``(a, b, kind, point)`` for any other joint, with its axes in the world. The first segment is the parent. Joints
        may close loops. They are named "joint0", "joint1" and so on.
    names
        Of the bodies; by default "segment0", "segment1" and so on. The joint of the first to the ground is "float".
    name
        Of the mechanism.

    Raises
    ------
    SingularityError
        If a segment can turn in this pose about an axis about which it has no inertia. Where it can in all poses, as on
        ball joints, it takes the limit of a small inertia.

    Examples
    --------
    Two dumbbells, one of which flies past the other until a hinge holds them together:

    >>> from linkwork.mechanism import Revolute
    >>> places = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (1, 2, 0)]
    >>> speeds = [(0, 0, 0), (0, 0, 0), (3, 0, 0), (3, 0, 0)]
    >>> hinge = (0, 1, Revolute((0, 0, 1)), (1, 0.5, 0))
    >>> found = coarse_grain(places, speeds, [1, 1, 1, 1], [0, 0, 1, 1], [hinge])
    >>> found.before.total.kinetic, round(found.after.total.kinetic, 3)
    (9.0, 7.65)
    """
    particles = read_particles(positions, velocities, masses)
    lists = read_segments(segments, len(particles.masses))
    given = read_joints(joints, len(lists))
    before = summed_up(particles, lists)
    labels = [f"segment{k}" for k in range(len(lists))] if names is None else list(names)
    if len(labels) != len(lists):
        raise MechanismError(f"coarse_grain: there are {len(labels)} names for {len(lists)} segments: give one each")
    mechanism = _mechanism(name, before, labels, given)
    state, impulses = _articulate(mechanism, before, labels)
    after = _moving(before, state)
    return CoarseGrained(momenta(particles), before, after, mechanism, state, impulses, labels)


def _mechanism(name: str, bodies: RigidBodies, names: Sequence[str], joints: Sequence[GivenJoint]) -> Mechanism:
    """Return the bodies at the segments' places, with their frames in the centres of mass and parallel to the world."""
    mech = Mechanism(name, gravity=(0.0, 0.0, 0.0))
    for body, mass, com, inertia in zip(names, bodies.mass, bodies.com, bodies.inertia, strict=True):
        mech.add_body(body, mass=float(mass), com=(0, 0, 0), inertia=inertia, origin=com)
    mech.add_joint(FLOAT, Free(), "ground", names[0], at=bodies.com[0])
    for k, joint in enumerate(joints):
        mech.add_joint(f"joint{k}", joint.kind, names[joint.parent], names[joint.child], at=joint.point)
    return mech


def _articulate(mech: Mechanism, bodies: RigidBodies, names: Sequence[str]) -> tuple[State, dict[str, FloatArray]]:
    """Let the joints come; the mechanism then starts with the speeds that they left."""
    system = compile(mech)
    try:
        start = system.assemble()
        block, n = system.block(), system.numbering.nu
        block.enter(start.q, start.u, system.arguments.no_inputs)
        jump = block.jump({}, before=np.concatenate([bodies.angular_velocity, bodies.velocity], axis=1))
    except SingularityError as error:
        raise _without_inertia(error, bodies, names) from error
    in_tree = {name: jump.after[span] for name, span in system.numbering.u.items() if span.stop <= n}
    mech.start(u={name: speeds for name, speeds in in_tree.items() if speeds.size})
    return compile(mech).state(start.q, jump.after[:n]), dict(zip(mech.joints, jump.reaction, strict=True))


def _without_inertia(error: SingularityError, bodies: RigidBodies, names: Sequence[str]) -> SingularityError:
    thin = [name for name, axes in zip(names, bodies.axes_with_inertia, strict=True) if axes < 3]
    if not thin:
        return error
    return SingularityError(
        f"coarse_grain: {error}; without inertia about some axis are {quoted(thin)}: give them joints that do not turn "
        "about it, or make each one segment with a neighbour"
    )


def _moving(bodies: RigidBodies, state: State) -> RigidBodies:
    """Return the bodies with the velocities of a state; their frames are in their centres of mass."""
    block = state.model.block()
    block.enter(state.q, state.u, state.model.arguments.no_inputs)
    velocity, turning = (block[f"body_{what}"].reshape(-1, 3).copy() for what in ("velocity", "angular_velocity"))
    return replace(bodies, velocity=velocity, angular_velocity=turning)
