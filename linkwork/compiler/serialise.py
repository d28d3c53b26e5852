"""A compiled mechanism as bytes, in the layout that `csrc/load/reader.c` reads."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork._util.rotations import quaternions_of
from linkwork.compiler.numbering import Numbering
from linkwork.compiler.topology import Topology
from linkwork.compiler.topology_variants import Changes
from linkwork.compiler.transitions import transition_parameters, transition_table
from linkwork.mechanism import (
    GROUND,
    Actuator,
    Coupling,
    JointSpringDamper,
    Mechanism,
    Motion,
    PointSpringDamper,
    Wrench,
)
from linkwork.mechanism.forces import of_kind
from linkwork.mechanism.joints import JointKind
from linkwork.mechanism.points import QUANTITIES

VERSION = 10
AUTOMATIC_GAIN = -1.0
BY_CLUSTER, MULTIPLIERS_ABOUT_JOINTS, MULTIPLIERS_ABOUT_CENTROIDS, MULTIPLIERS_ABOUT_ORIGIN, SUBASSEMBLIES = range(5)
LOOP_BY_LOOP, EMBEDDING = range(2)
_HEADER = struct.Struct("<8sIIQ")
_Z = (0.0, 0.0, 1.0)  # direction of a point of interest that has none
_NO_RANGE = (0.0, 0.0)  # of an actuator without limits, where it is not used
_NAME = 16  # bytes of the name of a joint type, with a zero behind it


@dataclass(frozen=True)
class Methods:
    """How a model is solved.

    Attributes
    ----------
    mechanism
        BY_CLUSTER, multipliers for all loops at once about one of the reference points, or SUBASSEMBLIES.
    clusters
        LOOP_BY_LOOP or EMBEDDING for each cluster; none: all of them loop by loop.
    """

    mechanism: int = BY_CLUSTER
    clusters: tuple[int, ...] = ()


def serialise(
    changes: Changes, topology: Topology, numbering: Numbering, methods: Methods | None = None, structures: int = 0
) -> bytes:
    """Return the model as bytes: topology, methods, default parameters and names, with a checksum.

    `structures` is the number of variants that follow it: all but the first have none.
    """
    tables = _integers(changes, topology, numbering, methods or Methods(), structures)
    body = b"".join(
        [
            *(np.asarray(table, dtype="<i4").tobytes() for table in tables),
            np.concatenate(_parameters(changes, numbering)).astype("<f8").tobytes(),
            "".join(f"{name}\0" for name in _names(changes, numbering)).encode(),
        ]
    )
    return _HEADER.pack(b"LWMODEL\0", VERSION, _HEADER.size + len(body), zlib.crc32(body)) + body


def with_parameters(model_bytes: bytes, values: FloatArray, changes: Changes, numbering: Numbering) -> bytes:
    """Return a model with other values of its parameter and start fields, all of them in their order."""
    magic, version, size, _ = _HEADER.unpack_from(model_bytes)
    end = size - sum(len(name.encode()) + 1 for name in _names(changes, numbering))
    begin = end - 8 * values.size
    body = model_bytes[_HEADER.size : begin] + values.astype("<f8").tobytes() + model_bytes[end:size]
    return _HEADER.pack(magic, version, size, zlib.crc32(body)) + body + model_bytes[size:]


def _names(changes: Changes, numbering: Numbering) -> list[str]:
    mech = changes.mech
    joints = list(mech.joints)
    locks = [f"{joints[joint]} lock" for joint, _ in changes.locks]
    ties = [*mech.couplings, *locks, *mech.distances]
    forces = [*numbering.springs, *numbering.wrenches]
    others = [*mech.transitions, *mech.points, *mech.measures, *numbering.actuators]
    return [*mech.bodies, *joints, *ties, *forces, *others]


def _integers(
    changes: Changes, topology: Topology, numbering: Numbering, methods: Methods, structures: int
) -> list[list[int] | list[list[int]]]:
    """Return the tables of whole numbers in their order."""
    mech = changes.mech
    clusters = topology.clusters
    loop_steps = [(number, step) for number, cluster in enumerate(clusters) for step in cluster.loop_steps]
    names = list(mech.joints)
    types = list(dict.fromkeys(joint.kind.type_name for joint in mech.joints.values()))
    terms = [
        [number, numbering.u[names[joint]].start + element]
        for number, coupling in enumerate(topology.couplings)
        for joint, element in coupling.terms
    ]
    counts = [
        len(mech.bodies),
        len(mech.joints),
        len(topology.loops),
        len(clusters),
        len(topology.segments),
        numbering.nq,
        numbering.nu,
        numbering.nq_cut,
        numbering.nu_cut,
        len(loop_steps),
        len(topology.couplings) + len(topology.distances),
        len(terms),
        methods.mechanism,
        len(numbering.springs),
        len(numbering.wrenches),
        len(topology.distances),
        len(changes.locks),
        len(mech.transitions),
        len(changes.switches),
        structures,
        0,
        len(types),
        len(mech.points),
        len(mech.measures),
        len(numbering.actuators),
        sum(len(force.gears) for force in of_kind(mech.forces, Actuator)),
    ]
    cluster_of = {loop: number for number, cluster in enumerate(clusters) for loop in cluster.loops}
    method_of = methods.clusters or (LOOP_BY_LOOP,) * len(clusters)
    return [
        counts,
        [np.frombuffer(name.encode().ljust(_NAME, b"\0"), "<i4").tolist() for name in types],
        [[link.body, link.joint, link.parent, link.reversed] for link in topology.links],
        [
            [types.index(joint.kind.type_name), numbering.q[name].start, numbering.u[name].start]
            for name, joint in mech.joints.items()
        ],
        [
            [loop.joint, loop.parent, loop.child, loop.root, cluster_of.get(k, -1)]
            for k, loop in enumerate(topology.loops)
        ],
        [
            [cluster.root, cluster.links[0], len(cluster.links), method]
            for cluster, method in zip(clusters, method_of, strict=True)
        ],
        [[segment.cluster, segment.first, segment.count] for segment in topology.segments],
        [[number, step.loop, len(step.links)] for number, step in loop_steps],
        [link for _, step in loop_steps for link in step.links],
        [*([one.cluster] for one in topology.couplings), *([one.cluster] for one in topology.distances)],
        terms,
        *_force_tables(mech, topology),
        *_actuator_tables(mech, numbering),
        [list(place.ends) for place in topology.distances],
        list(changes.switches),
        transition_table(changes, numbering),
        *_point_tables(mech, topology),
    ]


def _link_of(mech: Mechanism, topology: Topology) -> dict[str, int]:
    """Return the link of each body by name; -1: the ground."""
    bodies = list(mech.bodies)
    return {GROUND: -1, **{bodies[link.body]: i for i, link in enumerate(topology.links)}}


def _point_tables(mech: Mechanism, topology: Topology) -> list[list[list[int]]]:
    """Return the links of points of interest, and the measures with the numbers of their points."""
    link_of, number = _link_of(mech, topology), {name: k for k, name in enumerate(mech.points)}
    return [
        [[link_of[point.body]] for point in mech.points.values()],
        [[QUANTITIES.index(one.quantity), *(number[name] for name in one.points)] for one in mech.measures.values()],
    ]


def _force_tables(mech: Mechanism, topology: Topology) -> list[list[list[int]]]:
    """Return the links on which springs and wrenches act."""
    link_of = _link_of(mech, topology)
    return [
        [[link_of[body] for body in force.bodies] for force in of_kind(mech.forces, PointSpringDamper)],
        [[link_of[force.body]] for force in of_kind(mech.forces, Wrench)],
    ]


def _actuator_tables(mech: Mechanism, numbering: Numbering) -> list[list[list[int]]]:
    """Return which limits actuators have (1 of the input, 2 of the force), and the speeds of their gears."""
    actuators = of_kind(mech.forces, Actuator)
    return [
        [[(force.input_range is not None) + 2 * (force.force_range is not None)] for force in actuators],
        [
            [k, numbering.u[joint].start + element]
            for k, force in enumerate(actuators)
            for joint, element in force.places(mech)
        ],
    ]


def _parameters(changes: Changes, numbering: Numbering) -> list[FloatArray]:
    """Return the parameter and start fields of csrc/model/fields.h in their order, each flat."""
    mech = changes.mech
    bodies, joints, distances = mech.bodies.values(), mech.joints.values(), mech.distances.values()
    terms = [term for coupling in mech.couplings.values() for term in coupling.terms.values()]
    axes = _canonical_axes(joint.kind for joint in joints)
    upper = np.triu_indices(3)
    stiffness, damping, free, rotors, limits = np.zeros((5, numbering.nu_all))
    for name, joint in mech.joints.items():
        rotors[numbering.u[name]], limits[numbering.u[name]] = joint.reflected_inertia, joint.max_load
    for force in of_kind(mech.forces, JointSpringDamper):
        columns = numbering.u[force.joint]
        stiffness[columns], damping[columns], free[columns] = force.stiffness, force.damping, force.free
    q_start, q_priority = np.zeros((2, numbering.nq_all))
    for name, joint in mech.joints.items():
        q_start[numbering.q[name]] = joint.kind.neutral
    u_start, u_priority = np.zeros((2, numbering.nu_all))
    for rank, (name, value) in enumerate(mech.start_q.items(), start=1):  # assembly keeps the first given longest
        q_start[numbering.q[name]], q_priority[numbering.q[name]] = value, rank
    for rank, (name, value) in enumerate(mech.start_u.items(), start=1):
        u_start[numbering.u[name]], u_priority[numbering.u[name]] = value, rank
    return [
        mech.gravity,
        np.array([body.mass for body in bodies]),
        np.concatenate([body.com for body in bodies]),
        np.concatenate([body.inertia[upper] for body in bodies]),
        np.concatenate([joint.parent_frame.position for joint in joints]),
        quaternions_of(np.array([joint.parent_frame.rotation for joint in joints]) @ axes).ravel(),
        np.concatenate([joint.child_frame.position for joint in joints]),
        quaternions_of(np.array([joint.child_frame.rotation for joint in joints]) @ axes).ravel(),
        stiffness,
        damping,
        free,
        rotors,
        limits,
        np.array([*(term.coefficients for term in terms), *((1.0, 0.0, 0.0, 0.0) for _ in changes.locks)]).ravel(),
        np.array(
            [*map(_offset, mech.couplings.values()), *(0.0 for _ in changes.locks), *(d.length for d in distances)]
        ),
        np.array(
            [
                *(_motion(one.motion) for one in mech.couplings.values()),
                *(_motion(None) for _ in (*changes.locks, *distances)),
            ]
        ).ravel(),
        np.array([one.points for one in distances]).ravel(),
        *_force_parameters(mech),
        np.array([point.point for point in mech.points.values()]).ravel(),
        np.array([point.axis or _Z for point in mech.points.values()]).ravel(),
        *transition_parameters(mech),
        np.full(2, AUTOMATIC_GAIN),
        np.array([joint.kind.value for joint in joints]),
        q_start,
        u_start,
        q_priority,
        u_priority,
    ]


def _offset(coupling: Coupling) -> float:
    """What its terms add up to when its motion rests."""
    return coupling.offset + (coupling.motion.constant if coupling.motion else 0.0)


def _motion(motion: Motion | None) -> list[float]:
    """A row of the field coupling_motion."""
    if motion is None:
        return [0.0] * 7
    return [1.0, *motion.coefficients[1:], motion.amplitude, motion.frequency, motion.phase]


def _force_parameters(mech: Mechanism) -> list[FloatArray]:
    springs, wrenches = of_kind(mech.forces, PointSpringDamper), of_kind(mech.forces, Wrench)
    return [
        np.array([force.points for force in springs]).ravel(),
        np.array([force.stiffness for force in springs]),
        np.array([force.damping for force in springs]),
        np.array([force.free for force in springs]),
        np.array([force.point for force in wrenches]).ravel(),
        *_actuator_parameters(mech),
    ]


def _actuator_parameters(mech: Mechanism) -> list[FloatArray]:
    actuators = of_kind(mech.forces, Actuator)
    numbers = [[force.gain, force.offset, force.stiffness, force.damping] for force in actuators]
    return [
        *np.array(numbers).reshape(-1, 4).T,
        np.array([force.input_range or _NO_RANGE for force in actuators]).ravel(),
        np.array([force.force_range or _NO_RANGE for force in actuators]).ravel(),
        np.array([gear for force in actuators for gear in force.gears.values()]),
    ]


def _canonical_axes(kinds: Iterable[JointKind]) -> FloatArray:
    """Return the axes of the canonical joint frame of each kind, (n, 3, 3)."""
    known: dict[tuple[object, ...], FloatArray] = {}
    found = []
    for kind in kinds:
        key = (type(kind), *(axis.tobytes() for axis in kind.axes))
        if key not in known:
            known[key] = kind.canonical_axes
        found.append(known[key])
    return np.array(found)
