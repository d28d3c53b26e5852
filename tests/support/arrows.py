"""The arrows between folders of C, and circles of arrows."""

from pathlib import Path

# Folder of csrc: those whose files it may include and whose functions it may call, besides its own and the public
# header. "": the tables of kernels, above the folders.
C_ARROWS = {
    "math": set(),
    "joints": {"math"},
    "formula": {"math"},
    "forces": {"math", "formula"},
    "model": {"math", "joints", "formula", "forces"},
    "block": {"math", "model"},
    "tree": {"math", "block", "model", "joints", "forces"},
    "loops": {"math", "block", "model", "joints", "formula", "forces", "tree"},
    "multipliers": {"math", "block", "model", "joints", "tree", "loops"},
    "dca": {"math", "block", "model", "joints", "tree", "loops"},
    "assembly": {"math", "block", "model", "joints", "tree", "loops"},
    "singular": {"math", "block", "tree", "loops", "multipliers", "assembly"},
    "dynamics": {"math", "block", "model", "joints", "formula", "tree", "loops", "multipliers", "dca", "singular"},
    "load": {"math", "block", "model", "joints", "formula", "forces"},
    "builder": {"math", "model", "formula", "forces", "load", "assembly"},
    "topology": {"block", "model", "load", "builder"},
    "evaluation": {"math", "block", "model", "dca"},
    "dae": {"math", "block", "model", "tree", "loops", "evaluation"},
    "events": {"math", "block", "model", "load", "topology", "evaluation", "dae"},
    "api": {"math", "block", "model", "load", "joints", "topology", "evaluation", "dae", "events"},
    "ode": {"math"},
    "run": {"math", "block", "model", "evaluation", "events", "assembly", "dae", "api", "ode"},
    "chou": {"math"},
    "independent_coordinates": {"math", "block", "evaluation", "dae", "api", "ode"},
    "continuation": {"math", "block", "evaluation", "dae"},
    "tape": {"math", "block", "model", "loops", "dynamics", "evaluation", "api", "ode"},
    "": {"math", "block", "tree", "loops", "dca", "dynamics", "assembly", "dae"},
}


def folder_of(path: Path) -> str:
    """The folder of csrc that holds a file; "" for those above the folders."""
    return path.parts[0] if len(path.parts) > 1 else ""


def circle(graph: dict[str, set[str]]) -> set[str]:
    """The names of a graph of arrows that are part of a circle or lead to one."""
    while leaves := {name for name, targets in graph.items() if not targets & graph.keys()}:
        graph = {name: targets for name, targets in graph.items() if name not in leaves}
    return set(graph)
