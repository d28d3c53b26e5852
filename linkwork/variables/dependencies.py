"""Which states and inputs a variable depends on, and whether on time.

Lists longer than `MOST` are left out, which stands for "all": true, which keeps the output linear in the size of
the mechanism.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

from linkwork._util.disjoint_sets import DisjointSets
from linkwork._util.part_names import suffixes
from linkwork.core.plan import Topology
from linkwork.mechanism import GROUND, ForceElement, FormulaForce, Mechanism
from linkwork.mechanism.forces import ForceAlongLine, ForceOnJoints, by_kind
from linkwork.mechanism.friction import DryFriction
from linkwork.mechanism.own_states import all_states
from linkwork.mechanism.quantities import Reading
from linkwork.variables.numbering import Numbering

MOST = 48
_OF_JOINTS = ("q", "u")  # fields

Names = tuple[str, ...] | None


class Dependencies:
    """Dependencies of one compiled mechanism."""

    def __init__(self, mech: Mechanism, topology: Topology, numbering: Numbering) -> None:
        self._mech = mech
        self._topology = topology
        self._numbering = numbering
        self._joints = list(mech.joints)
        self._number_of = {name: i for i, name in enumerate(self._joints)}
        self._link_of_body = {link.body: i for i, link in enumerate(topology.links)}
        bodies = list(mech.bodies)
        self._link_of_name = {GROUND: -1, **{bodies[b]: i for b, i in self._link_of_body.items()}}
        self._cluster_of_link = {link: k for k, c in enumerate(topology.clusters) for link in c.links}
        self._loop_of_joint = {loop.joint: i for i, loop in enumerate(topology.loops)}
        self._cluster_of_loop = {i: c for c in topology.clusters for i in c.loops}
        self._link_of_joint = {link.joint: i for i, link in enumerate(topology.links)}
        self._couplings = list(mech.couplings.values())
        self._state_variables = {one.name: one.variable for one in all_states(mech)}
        self._motions: dict[int, list[str]] = {}  # of each cluster with prescribed motions: their names
        for coupling, place in zip(self._couplings, topology.couplings, strict=False):  # behind them the locks
            if coupling.motion:
                self._motions.setdefault(place.cluster, []).append(coupling.name)

    def _elements(self, joint: str, what: str) -> list[str]:
        span = (self._numbering.q if what == "q" else self._numbering.u)[joint]
        return [f"{joint}.{what}{suffix}" for suffix in suffixes(span.stop - span.start)]

    def _names(self, joints: list[str], *what: str) -> Names:
        if len(joints) * len(what) > MOST:
            return None
        names = tuple(name for joint in joints for kind in what for name in self._elements(joint, kind))
        return names if len(names) <= MOST else None

    def _names_in_tree(self, links: Sequence[int], *what: str) -> Names:
        if len(links) * len(what) > MOST:
            return None
        return self._names([self._joints[self._topology.links[link].joint] for link in links], *what)

    def coordinate_rates(self, joint: str) -> list[Names]:
        """Of the rate of each coordinate of a tree joint.

        Its speed; with a quaternion all of the joint; on a loop all that the loop's feedback reads.
        """
        link = self._link_of_joint[self._number_of[joint]]
        cluster = self._cluster_of_link.get(link, -1)
        if cluster < 0 and joint not in self._numbering.quaternions:
            return [(name,) for name in self._elements(joint, "u")]
        links = self._topology.clusters[cluster].links if cluster >= 0 else [link]
        driven = self._motion_inputs(self._motions.get(cluster, []), "q", "u")
        return [_joined(self._names_in_tree(links, "q", "u"), driven)] * len(self._elements(joint, "q"))

    @staticmethod
    def _motion_inputs(drives: list[str], *what: str) -> list[str]:
        return [*(f"{drive}.{kind}_in" for drive in drives for kind in what), *(["time"] if drives else [])]

    def coupling_residual(self, index: int) -> Names:
        """Of the residual of a coupling: its coordinates, or all of its cluster where a cut joint is among them."""
        coupling, place = self._couplings[index], self._topology.couplings[index]
        drives = [coupling.name] if coupling.motion else []
        if all(joint in self._link_of_joint for joint, _ in place.terms):
            own = tuple(self._elements(self._joints[joint], "q")[element] for joint, element in place.terms)
            return _joined(own, self._motion_inputs(drives, "q"))
        links = self._topology.clusters[place.cluster].links
        return _joined(self._names_in_tree(links, "q"), self._motion_inputs(drives, "q"))

    def coupling_load(self, index: int) -> Names:
        """Of the load of a coupling: like an acceleration."""
        return self.acceleration(self._joints[self._topology.couplings[index].terms[0][0]])

    def distance_force(self, index: int) -> Names:
        """Of the force in a distance: like an acceleration."""
        link = max(self._topology.distances[index].ends)
        return self.acceleration(self._joints[self._topology.links[link].joint])

    def loop(self, cut_joint: str) -> tuple[Names, Names]:
        """Of the geometry and of the velocities of a loop and those it shares joints with."""
        links = self._cluster_of_loop[self._loop_of_joint[self._number_of[cut_joint]]].links
        return self._names_in_tree(links, "q"), self._names_in_tree(links, "q", "u")

    def path(self, body: int) -> tuple[Names, Names]:
        """Of a body's pose and of its velocity: the tree joints between it and the ground, with all of their loops."""
        link = self._link_of_body[body]
        links: dict[int, None] = {}
        while link >= 0 and 2 * len(links) <= MOST:
            links |= self._with_its_loops(link)
            link = self._topology.links[link].parent
        return self._poses_and_rates(links)

    def between(self, first: str, second: str) -> tuple[Names, Names]:
        """Of the distance of two bodies and of its rate: the same up to their nearest common ancestor."""
        ends: list[int] = [self._link_of_name[first], self._link_of_name[second]]
        links: dict[int, None] = {}
        while ends[0] != ends[1] and 2 * len(links) <= MOST:
            link = max(ends)  # a link's parent has a lower number
            links |= self._with_its_loops(link)
            ends = [self._topology.links[end].parent if end == link else end for end in ends]
        return self._poses_and_rates(links)

    def _poses_and_rates(self, links: Iterable[int]) -> tuple[Names, Names]:
        joints = sorted(links)
        if 2 * len(joints) > MOST:
            return None, None
        return self._names_in_tree(joints, "q"), self._names_in_tree(joints, "q", "u")

    def _with_its_loops(self, link: int) -> dict[int, None]:
        """A link and those on loops with it: near singular poses, poses are those of the nearest closed one."""
        cluster = self._cluster_of_link.get(link, -1)
        return dict.fromkeys([link] if cluster < 0 else self._topology.clusters[cluster].links)

    def motion(self, body: str) -> tuple[Names, Names, Names]:
        """Of the pose, the velocity and the acceleration of a body; of nothing on the ground."""
        link = self._link_of_name[body]
        if link < 0:
            return (), (), ()
        joint = self._joints[self._topology.links[link].joint]
        return (*self.path(self._topology.links[link].body), self.acceleration(joint))

    def force(self, force: ForceElement) -> tuple[Names, Names, Names]:
        """Of what a force has from the pose, from the velocity as well, and from its inputs.

        On joints: of these, or the loops of those that are cut. On bodies: of the pose of the one, or its pose relative
        to the other.
        """
        if isinstance(force, ForceOnJoints):
            places = force.places(self._mech)
            pose = self._of_places(places, "q") if force.has_length(self._mech) else ()
            in_tree = all(self._number_of[joint] in self._link_of_joint for joint in force.joint_names)
            rate = self._of_places(places, *(["u"] if in_tree else ["q", "u"]))
        elif isinstance(force, ForceAlongLine):
            each = [self.between(*force.bodies[k : k + 2]) for k, _ in force.pieces()]
            pose, rate = (_united(names) for names in zip(*each, strict=True))
        elif len(force.body_names) > 1:
            pose, rate = self.between(*force.body_names)
        else:
            pose, rate, _ = self.motion(force.body_names[0])
        if isinstance(force, DryFriction) and force.sticks:
            return pose, rate, self.accelerations(force.joint_names)
        either = _united([pose, rate, *(self._of_reading(one) for one in force.readings(self._mech))])
        return pose, rate, _joined(either, _inputs_of(force))

    def _of_reading(self, one: Reading) -> Names:
        """What the formula of a force reads: time, a state, the coordinate or speed of a joint; its own is known."""
        if one.field == "element_state":
            return (self._state_variables[one.part or ""],)
        if (bodies := self._bodies_of(one)) is not None:
            rate = one.field in ("point_velocity", "measure_rate")
            return self.between(*bodies)[rate] if len(bodies) > 1 else self.motion(bodies[0])[rate]
        if one.field not in _OF_JOINTS or one.part is None:
            return ("time",) if one.field == "time" else ()
        number = self._number_of[one.part]
        if number in self._link_of_joint:
            return (self._elements(one.part, one.field)[one.number],)
        links = self._cluster_of_loop[self._loop_of_joint[number]].links
        return self._names_in_tree(links, *(["q"] if one.field == "q" else ["q", "u"]))

    def _bodies_of(self, one: Reading) -> tuple[str, ...] | None:
        """Return the bodies of the point or the measure that is read; None: it is neither."""
        points = self._mech.points
        if one.part in self._mech.measures and one.field.startswith("measure"):
            return tuple(points[name].body for name in self._mech.measures[one.part].points)
        return (points[one.part].body,) if one.part in points and one.field.startswith("point") else None

    def _of_places(self, places: list[tuple[str, int]], *what: str) -> Names:
        """The coordinates or speeds of tree joints, and all of the clusters of cut ones."""
        found: dict[str, None] = {}
        for joint, element in places:
            number = self._number_of[joint]
            if number in self._link_of_joint:
                names: Names = tuple(self._elements(joint, kind)[element] for kind in what)
            else:
                names = self._names_in_tree(self._cluster_of_loop[self._loop_of_joint[number]].links, *what)
            if names is None:
                return None
            found |= dict.fromkeys(names)
        return tuple(found) if len(found) <= MOST else None

    @cached_property
    def everything(self) -> tuple[Names, Names]:
        """All coordinates, and all states: once for a mechanism, so in full."""
        q = tuple(name for joint in self._numbering.tree for name in self._elements(joint, "q"))
        return q, q + tuple(name for joint in self._numbering.tree for name in self._elements(joint, "u"))

    @cached_property
    def _part_of_link(self) -> list[int]:
        """Number of each link's part: parts act on each other only by what joins links of them."""
        parts: list[int] = []
        for i, link in enumerate(self._topology.links):
            parts.append(i if link.parent < 0 else parts[link.parent])
        joined = DisjointSets(parts)
        pairs = [(loop.parent, loop.child) for loop in self._topology.loops]
        pairs += [pair for cluster in self._topology.clusters for pair in pairwise(cluster.links)]
        for force in self._mech.forces:
            pairs += pairwise(self._link_of_name[body] for body in force.body_names)
        for pair in pairs:
            ends = [parts[end] for end in pair if end >= 0]
            joined.unite(ends[0], ends[-1])
        tied = [[joint for joint, _ in coupling.terms] for coupling in self._topology.couplings]
        tied += [[self._number_of[joint] for joint in force.joint_names] for force in self._mech.forces]
        links = [[self._a_link_of(joint) for joint in joints] for joints in tied]
        links += [self._links_by_formulas(force) for force in self._mech.forces if isinstance(force, FormulaForce)]
        for together in links:
            for first, other in pairwise(parts[link] for link in together):
                joined.unite(other, first)
        return [joined.find(part) for part in parts]

    def _links_by_formulas(self, force: FormulaForce) -> list[int]:
        """Links on which a force acts by what others do, and those."""
        readings = force.readings(self._mech)
        of_points = [body for one in readings for body in self._bodies_of(one) or ()]
        bodies = [link for body in (*force.body_names, *of_points) if (link := self._link_of_name[body]) >= 0]
        read = (one.part for one in readings if one.field in _OF_JOINTS)
        joints = [*force.joint_names, *(joint for joint in read if joint is not None)]
        return bodies + [self._a_link_of(self._number_of[joint]) for joint in joints]

    @cached_property
    def _parts(self) -> dict[str, list[str]]:
        """For each joint all joints of its part."""
        joints: dict[int, list[str]] = {}
        for joint, name in enumerate(self._joints):
            joints.setdefault(self._part_of(joint), []).append(name)
        return {name: part for part in joints.values() for name in part}

    @cached_property
    def _applied(self) -> dict[int, list[str]]:
        """The inputs of forces, by part."""
        found: dict[int, list[str]] = {}
        for kind, forces in by_kind(self._mech.forces).items():
            for force in forces if kind.fields_of("input") or issubclass(kind, FormulaForce) else ():
                if force.body_names:
                    part = self._part_of_link[max(self._link_of_name[body] for body in force.body_names)]
                else:
                    part = self._part_of(self._number_of[force.joint_names[0]])
                readings = force.readings(self._mech)
                time = ["time"] if any(one.field == "time" for one in readings) else []
                of_elements = (self._of_reading(one) for one in readings if one.field == "element_state")
                states = [name for names in of_elements for name in names or ()]
                found.setdefault(part, []).extend([*_inputs_of(force), *states, *time])
        return found

    @cached_property
    def _drives(self) -> dict[int, list[str]]:
        """Couplings with a motion by part."""
        found: dict[int, list[str]] = {}
        for coupling, place in zip(self._couplings, self._topology.couplings, strict=False):
            if coupling.motion:
                found.setdefault(self._part_of(place.terms[0][0]), []).append(coupling.name)
        return found

    def _part_of(self, joint: int) -> int:
        return self._part_of_link[self._a_link_of(joint)]

    def _a_link_of(self, joint: int) -> int:
        """A link that a joint moves or closes."""
        if joint in self._link_of_joint:
            return self._link_of_joint[joint]
        loop = self._topology.loops[self._loop_of_joint[joint]]
        return max(loop.parent, loop.child)

    def at_joint(self, joint: str) -> Names:
        """Of the coordinates and speeds of a joint, which are those of its loop where that is closed by it."""
        places = [(joint, k) for k in range(self._mech.joints[joint].kind.nu)]
        return self._of_places(places, "q", "u")

    def accelerations(self, joints: Iterable[str]) -> Names:
        """Of the accelerations of several joints, and of loads that follow from them."""
        return _united(map(self.acceleration, joints))

    def acceleration(self, joint: str) -> Names:
        """Of a joint's acceleration and reaction: every state, load, input of a force and motion of its part."""
        part = self._parts[joint]
        applied = self._applied.get(self._part_of(self._number_of[joint]), [])
        if len(part) == len(self._joints) or 3 * len(part) + len(applied) > MOST:
            return None
        tree = [name for name in part if self._number_of[name] in self._link_of_joint]
        states, loads = self._names(tree, "q", "u"), self._names(part, "tau")
        if states is None or loads is None:
            return None
        drives = self._drives.get(self._part_of(self._number_of[joint]), [])
        return _joined(states + loads, list(dict.fromkeys([*applied, *self._motion_inputs(drives, "q", "u", "a")])))


def _inputs_of(force: Any) -> list[str]:
    """Return the names of the inputs of a force, element by element."""
    inputs = force.listed("input")
    return [f"{force.name}.{one.stem}{element}" for one in inputs for element in one.elements]


def _united(each: Iterable[Names]) -> Names:
    """Return the names of all, each once; None where one of them is unknown."""
    found: dict[str, None] = {}
    for names in each:
        if names is None:
            return None
        found |= dict.fromkeys(names)
    return tuple(found) if len(found) <= MOST else None


def _joined(names: Names, more: list[str]) -> Names:
    """Return both, or None for all where that is a long list."""
    return None if names is None or len(names) + len(more) > MOST else (*names, *more)
