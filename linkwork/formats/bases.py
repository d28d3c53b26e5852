"""What holds a robot: its joints to the world, and the poses of its links where all coordinates are zero."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from linkwork._util.disjoint_sets import DisjointSets
from linkwork._util.names import quoted
from linkwork.errors import MechanismError
from linkwork.formats.robot import Robot, RobotJoint
from linkwork.mechanism import Fixed, Frame, Free

BASES = ("fixed", "free")


def set_base(robot: Robot, base: str | None) -> None:
    """Join every connected set of links to the world, by a Fixed or a Free joint.

    Parameters
    ----------
    robot
        It gets the joints, and its present joints to the world become Fixed or Free where `base` is not what they are.
    base
        "fixed", "free", or None: what the file says.
    """
    if base is not None:
        if base not in BASES:
            raise MechanismError(f"base must be 'fixed' or 'free', not {base!r}")
        _change_joints_to_the_world(robot, base)
    kind = Fixed if (base or robot.base) == "fixed" else Free
    for links in _connected_sets(robot):
        if None not in links:
            root = next(name for name in robot.links if name in links)
            pose = robot.links[root].pose or Frame()
            joint = _new_joint_name(robot, root)
            robot.joints[joint] = RobotJoint(joint, kind(), None, root, pose, element=f"base link {root!r}")
    _let_closures_carry(robot)


def set_poses(robot: Robot) -> None:
    """Give a pose to each link that has none, from the joints at coordinates zero; closures come last."""
    poses: dict[str | None, Frame] = {None: Frame()}
    for closing in (False, True):
        joints = [joint for joint in robot.joints.values() if closing or not joint.closes]
        for joint, known, new in _walk(joints, list(poses)):
            if new in poses:
                continue
            across = joint.parent_frame @ joint.child_frame.inverse()
            poses[new] = poses[known] @ (across if new == joint.child else across.inverse())
    for name, link in robot.links.items():
        if link.pose is None:
            link.pose = poses[name]


def _change_joints_to_the_world(robot: Robot, base: str) -> None:
    """Make Free joints to the world Fixed, or the other way round."""
    wanted, other = (Fixed, Free) if base == "fixed" else (Free, Fixed)
    others = []
    for joint in robot.joints.values():
        if None not in (joint.parent, joint.child):
            continue
        if isinstance(joint.kind, other):
            if joint.start is not None:  # of a Free joint: where the base is
                joint.parent_frame @= Frame(joint.start[:3], joint.start[3:])
            joint.kind, joint.start, joint.start_u = wanted(), None, None
            joint.damping = joint.reflected_inertia = joint.limits = ()
        elif not isinstance(joint.kind, wanted):
            others.append(joint.name)
    if base == "free" and others:
        raise MechanismError(
            f"base='free': the robot is joined to the world by {quoted(others)}; leave base= out, or give these joints "
            "a base link in the file"
        )


def _new_joint_name(robot: Robot, root: str) -> str:
    name, number = f"{root}_base", 1
    while name in robot.joints:
        number += 1
        name = f"{root}_base_{number}"
    return name


def _connected_sets(robot: Robot) -> list[set[str | None]]:
    """Return the links in sets that joints connect, closures too; None is the world."""
    sets = []
    left: dict[str | None, None] = dict.fromkeys((None, *robot.links))
    while left:
        start = next(iter(left))
        found = {start, *(new for _, _, new in _walk(robot.joints.values(), [start]))}
        sets.append(found)
        left = {name: None for name in left if name not in found}
    return sets


def _let_closures_carry(robot: Robot) -> None:
    """Make closures to joints of the tree where nothing else carries a link."""
    carried = DisjointSets[str | None]((None, *robot.links))
    for joint in sorted(robot.joints.values(), key=lambda joint: joint.closes):
        if carried.unite(joint.parent, joint.child):
            joint.closes = False


def _walk(
    joints: Iterable[RobotJoint], starts: list[str | None]
) -> Iterator[tuple[RobotJoint, str | None, str | None]]:
    """Yield joints from the starts outwards, breadth first: each with the end that is known and the new one."""
    at: dict[str | None, list[RobotJoint]] = {}
    for joint in joints:
        at.setdefault(joint.parent, []).append(joint)
        at.setdefault(joint.child, []).append(joint)
    known = set(starts)
    waiting = list(starts)
    for link in waiting:
        for joint in at.get(link, ()):
            new = joint.child if joint.parent == link else joint.parent
            if new not in known:
                known.add(new)
                waiting.append(new)
                yield joint, link, new
