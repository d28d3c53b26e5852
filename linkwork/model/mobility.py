"""Mobility at a state: the speeds that the mechanics choose as independent ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from linkwork._util.part_names import suffixes

if TYPE_CHECKING:
    from linkwork.core.native import Block
    from linkwork.model.base import ModelBase
    from linkwork.model.state import State


class AtState(NamedTuple):
    """What the mechanics find at a state."""

    independents: list[list[str]]  # names of the speeds of each cluster that they chose to express the others
    conditioning: list[float]  # of each loop: the smallest pivot of its closure relative to the largest, 0..1


def look(system: ModelBase, state: State) -> AtState:
    """Ask the mechanics what they choose at a state."""
    block = system.block()
    system.enter(block, state)
    names = [f"{name}.u{end}" for name, s in system.numbering.u.items() for end in suffixes(s.stop - s.start)]
    independents = [[names[speed] for speed in sorted(block.independents(number))] for number in _clusters(system)]
    return AtState(independents, block["loop_conditioning"].tolist())


def _clusters(system: ModelBase) -> range:
    return range(system.clusters)


def degrees_of_freedom(system: ModelBase, state: State) -> int:
    """Return how many speeds are independent at a state."""
    return count_dof(system, look(system, state))


def count_dof(system: ModelBase, found: AtState) -> int:
    """Those of the clusters, and all speeds of joints outside of them."""
    return free_speeds(system) + sum(map(len, found.independents))


def is_immobile(system: ModelBase, block: Block) -> bool:
    """Whether it has joints, of which none has a degree of freedom where a block is or moves as prescribed."""
    if system.sizes.nu == 0 or any(coupling.motion for coupling in system.mechanism.couplings.values()):
        return False
    if free_speeds(system):
        return False
    return not any(block.independents(number) for number in _clusters(system))


def free_joints(system: ModelBase) -> list[str]:
    """Return the joints that are in no cluster, so that all of their speeds are free."""
    joints = list(system.mechanism.joints.values())
    return [joints[place].name for place in system.free_joints if joints[place].kind.nu]


def free_speeds(system: ModelBase) -> int:
    """Return how many speeds the joints have that are in no cluster."""
    joints = list(system.mechanism.joints.values())
    return sum(joints[place].kind.nu for place in system.free_joints)
