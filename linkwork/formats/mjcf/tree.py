"""The tree of bodies of a file to be written, and the joints that close its loops."""

from __future__ import annotations

from linkwork.formats.joint_graph import outward, split
from linkwork.mechanism import GROUND, Fixed, Free, Joint, Mechanism, Revolute, Spherical, Stop

CLOSURES = (Fixed, Revolute, Spherical)  # that equalities of MJCF can state


class Tree:
    """A spanning tree of a mechanism whose cut joints, if possible, are of kinds that MJCF can close."""

    def __init__(self, mech: Mechanism) -> None:
        self.cuts: list[Joint] = []  # the joints that close loops
        # For each body of the file the joints that carry it, from its parent, and whether each is passed from child to
        # parent; between two of them is a body without mass.
        self.steps: dict[str, list[tuple[Joint, bool]]] = {}
        self.parent: dict[str, str] = {}  # for each body of the file its parent
        # The bodies of the file, each after its parent and right before the bodies it carries.
        self.order: list[str] = []
        # Bodies without mass that are no bodies of the file, and the body that has their joints.
        self.folded: dict[str, str] = {}
        self._children: dict[str, list[str]] = {name: [] for name in (GROUND, *mech.bodies)}
        self._grow(self._chosen(mech))
        self._fold(mech)
        waiting = self._children[GROUND][::-1]
        while waiting:
            self.order.append(waiting.pop())
            waiting += reversed(self._children[self.order[-1]])

    def _chosen(self, mech: Mechanism) -> list[Joint]:
        """Return the joints of the tree; joints that cannot be closures, and those that something acts on, first."""
        used = {*mech.start_q, *mech.start_u, *(joint for force in mech.forces for joint in force.joint_names)}
        used |= {term.joint for one in mech.couplings.values() for term in one.terms.values()}
        used |= {one.action.joint for one in mech.transitions.values() if isinstance(one.action, Stop)}

        def rank(joint: Joint) -> tuple[bool, bool, bool, bool]:
            return (
                isinstance(joint.kind, Free),
                isinstance(joint.kind, CLOSURES),
                joint.cut,
                joint.name not in used,
            )

        chosen, self.cuts = split(mech.joints.values(), rank)
        return chosen

    def _grow(self, chosen: list[Joint]) -> None:
        for joint, body, other in outward(chosen, [GROUND]):
            self.steps[other], self.parent[other] = [(joint, joint.child == body)], body
            self._children[body].append(other)

    def _fold(self, mech: Mechanism) -> None:
        """Give the joint of a body without mass that does nothing else than carry one body to that body."""
        used = {end for joint in self.cuts for end in (joint.parent, joint.child)}
        used |= {body for force in mech.forces for body in force.body_names}
        used |= {body for one in mech.distances.values() for body in one.bodies}
        used |= {one.body for one in mech.points.values()}
        for name, body in mech.bodies.items():
            carried = self._children[name]
            if name not in self.steps or body.mass > 0.0 or name in used or len(carried) != 1:
                continue
            (child,), parent = carried, self.parent.pop(name)
            self.steps[child] = self.steps.pop(name) + self.steps[child]
            self.parent[child] = parent
            siblings = self._children[parent]
            siblings[siblings.index(name)] = child
            self.folded[name] = child
