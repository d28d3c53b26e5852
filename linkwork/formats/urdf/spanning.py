"""The tree of links that a URDF has of a mechanism: which joints are in it, in which direction, and frames of links.

The frame of a URDF link is the joint frame of the joint that carries it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from linkwork._util.names import quoted
from linkwork.errors import MechanismError
from linkwork.mechanism import GROUND, Frame, Joint, JointSpringDamper, Mechanism, Stop


@dataclass
class Branch:
    """A joint of the tree, from the link that carries it outward.

    Attributes
    ----------
    outward
        Whether the joint's parent carries its child; False: the other way round.
    """

    joint: Joint
    outward: bool

    @property
    def inner(self) -> str:
        """The body that carries the joint."""
        return self.joint.parent if self.outward else self.joint.child

    @property
    def outer(self) -> str:
        """The body that the joint carries."""
        return self.joint.child if self.outward else self.joint.parent


@dataclass
class Tree:
    """Joints of the tree in an order in which each finds its inner body, those that close loops, and frames of links.

    Attributes
    ----------
    frames
        By body: the frame of its link in the body's frame.
    """

    branches: list[Branch] = field(default_factory=list)
    closing: list[Joint] = field(default_factory=list)
    frames: dict[str, Frame] = field(default_factory=lambda: {GROUND: Frame()})

    def in_link(self, body: str, frame: Frame) -> Frame:
        """Return a frame of a body in the frame of its link."""
        link = self.frames[body]
        return frame if link == Frame() else link.inverse() @ frame


def spanning_tree(mech: Mechanism) -> Tree:
    """Return the tree: joints whose coordinates the mechanism uses are in it first, and those with cut=True last."""
    used = {term.joint for coupling in mech.couplings.values() for term in coupling.terms.values()}
    loaded = {force.joint for force in mech.forces if isinstance(force, JointSpringDamper)}
    loaded |= {t.action.joint for t in mech.transitions.values() if isinstance(t.action, Stop)}
    rank = {
        joint.name: 4 * joint.cut + 2 * (joint.name not in used) + (joint.name not in loaded) for joint in _all(mech)
    }
    chosen, root = set(), {body: body for body in (GROUND, *mech.bodies)}
    for joint in sorted(_all(mech), key=lambda joint: rank[joint.name]):
        ends = [_root(root, body) for body in (joint.parent, joint.child)]
        if ends[0] != ends[1]:
            chosen.add(joint.name)
            root[ends[0]] = ends[1]
    apart = [body for body in mech.bodies if _root(root, body) != _root(root, GROUND)]
    if apart:
        raise MechanismError(f"bodies {quoted(apart)} have no joints to the ground: give them one, such as Free()")
    tree = Tree(closing=[joint for joint in _all(mech) if joint.name not in chosen])
    _walk(mech, chosen, tree)
    return tree


def _all(mech: Mechanism) -> list[Joint]:
    return list(mech.joints.values())


def _root(root: dict[str, str], body: str) -> str:
    while root[body] != body:
        root[body] = root[root[body]]
        body = root[body]
    return body


def _walk(mech: Mechanism, chosen: set[str], tree: Tree) -> None:
    """Order the joints of the tree from the ground outward."""
    at: dict[str, list[Joint]] = {body: [] for body in (GROUND, *mech.bodies)}
    for joint in _all(mech):
        if joint.name in chosen:
            at[joint.parent].append(joint)
            at[joint.child].append(joint)
    queue = [GROUND]
    for body in queue:
        for joint in at[body]:
            branch = Branch(joint, outward=joint.parent == body)
            if branch.outer not in tree.frames:
                tree.branches.append(branch)
                tree.frames[branch.outer] = joint.child_frame if branch.outward else joint.parent_frame
                queue.append(branch.outer)
