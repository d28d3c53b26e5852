"""What became of a mechanism: tree and cuts, how its loops are solved and why, what moves freely at a state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from linkwork.compiler.choice import Choice, choose
from linkwork.compiler.methods import METHODS
from linkwork.compiler.numbering import suffixes
from linkwork.errors import LinkworkError

if TYPE_CHECKING:
    from linkwork.compiler.topology import Cluster, Loop
    from linkwork.description import Mechanism
    from linkwork.state import State
    from linkwork.system import System

MOST = 30  # of one thing; of more only FEW are listed
FEW = 8


class AtState(NamedTuple):
    """What the mechanics find at a state.

    Attributes
    ----------
    independents
        Names of the speeds of each cluster that they chose to express the others.
    conditioning
        Of each loop: the smallest pivot of its closure beside the largest, 0..1.
    """

    independents: list[list[str]]
    conditioning: list[float]


def look(system: System, state: State) -> AtState:
    """Ask the mechanics what they choose at a state."""
    block = system.block()
    block.count_turns(system.arguments.turns(state))
    block.enter(state.q, state.u, system.arguments.no_inputs)
    names = [f"{name}.u{end}" for name, s in system.numbering.u.items() for end in suffixes(s.stop - s.start)]
    clusters = range(len(system.topology.clusters))
    independents = [[names[speed] for speed in sorted(block.independents(number))] for number in clusters]
    return AtState(independents, block["loop_conditioning"].tolist())


def degrees_of_freedom(system: System, state: State) -> int:
    """Return how many speeds are independent at a state."""
    return _count_freedoms(system, look(system, state))


def explain(system: System, state: State | None = None) -> str:
    """Return it as text, long lists shortened.

    Parameters
    ----------
    state
        Where to look; None: at the assembled start.
    """
    try:
        found = look(system, system.assemble() if state is None else state)
    except LinkworkError as error:
        return "\n".join([_title(system), "", *_parts(system, None), "", f"nothing is known of its motion: {error}"])
    where = "in its assembled start" if state is None else "in the given state"
    title = f"{_title(system)}, {_counted(_count_freedoms(system, found), 'freedom')} {where}"
    return "\n".join([title, "", *_parts(system, found)])


def _title(system: System) -> str:
    s, mech = system.sizes, system.mechanism
    counts = (
        *((s.bodies, "body", "bodies"), (s.joints, "joint"), (s.loops, "loop")),
        *((len(mech.couplings), "coupling"), (len(mech.distances), "distance")),
    )
    return f"{mech.name}: {', '.join(_counted(*count) for count in counts if count[0])}"


def _count_freedoms(system: System, found: AtState) -> int:
    """Those of the clusters, and all speeds of joints outside of them."""
    topology, joints = system.topology, list(system.mechanism.joints.values())
    inside = {link for cluster in topology.clusters for link in cluster.links}
    outside = (joints[link.joint].kind.nu for i, link in enumerate(topology.links) if i not in inside)
    return sum(outside) + sum(map(len, found.independents))


def _parts(system: System, found: AtState | None) -> Iterator[str]:
    yield "tree: every body under the one that carries it, with its joint"
    yield from _tree(system)
    if system.topology.loops:
        yield from ("", "cut joints: each closes a loop of the tree")
        yield from _cuts(system)
    clusters = system.topology.clusters
    shown = range(len(clusters) if len(clusters) <= MOST else FEW)
    choices: Sequence[Choice | None] = [None] * len(shown)
    if isinstance(system.method, str) and system.method in METHODS and METHODS[system.method].code < 0:
        about = "joint" if system.reference == "auto" else system.reference
        yield from ("", f"method {system.method}: {METHODS[system.method].meaning}, each body about its {about}")
    else:
        choices = choose(system.mechanism, system.topology, system.expected, system.method)
    for number in shown:
        yield ""
        yield from _cluster(system, number, choices[number], found)
    if len(shown) < len(clusters):
        yield from ("", f"... {len(clusters) - len(shown)} more groups of loops, couplings or distances")


# ---- tree and cuts ----------------------------------------------------------------------------------


def _tree(system: System) -> list[str]:
    bodies, joints = list(system.mechanism.bodies), list(system.mechanism.joints.values())
    carried: dict[int, list[int]] = {}
    for i, link in enumerate(system.topology.links):
        carried.setdefault(link.parent, []).append(i)
    rows: list[tuple[str, str]] = []
    waiting = [(i, 1) for i in reversed(carried[-1])]
    shown = len(bodies) if len(bodies) <= MOST else FEW
    while waiting and len(rows) < shown:
        i, depth = waiting.pop()
        link = system.topology.links[i]
        joint = joints[link.joint]
        turned = ", declared the other way round" if link.reversed else ""
        rows.append(("  " * depth + bodies[link.body], f"{joint.name} {joint.kind.type_name}{turned}"))
        waiting += [(child, depth + 1) for child in reversed(carried.get(i, ()))]
    width = max(len(name) for name, _ in rows)
    lines = ["  ground", *(f"  {name:{width}}  {joint}" for name, joint in rows)]
    return lines + _more(len(bodies) - len(rows), "bodies")


def _cuts(system: System) -> list[str]:
    joints, loops = list(system.mechanism.joints.values()), system.topology.loops
    lines = []
    for loop in loops if len(loops) <= MOST else loops[:FEW]:
        cut = joints[loop.joint]
        ends = f"{cut.parent} - {cut.child}"
        lines.append(f"  {cut.name} {cut.kind.type_name}, {ends}: with {_listed(_joints_around(system, loop))}")
    return lines + _more(len(loops) - len(lines), "cut joints")


def _joints_around(system: System, loop: Loop) -> list[str]:
    """Return the joints of a loop but for its cut joint, from there to its root and back on the other side."""
    names, links = list(system.mechanism.joints), system.topology.links
    branches: list[list[str]] = []
    for end in (loop.parent, loop.child):
        branches.append([])
        while end != loop.root:
            branches[-1].append(names[links[end].joint])
            end = links[end].parent
    return [*branches[0], *reversed(branches[1])]


# ---- clusters ---------------------------------------------------------------------------------------


def _cluster(system: System, number: int, choice: Choice | None, found: AtState | None) -> Iterator[str]:
    mech, cluster, expected = system.mechanism, system.topology.clusters[number], system.expected[number]
    root = "ground" if cluster.root < 0 else list(mech.bodies)[system.topology.links[cluster.root].body]
    held = [(len(cluster.loops), "loop"), (len(cluster.couplings), "coupling"), (len(cluster.distances), "distance")]
    what = " and ".join(_counted(*count) for count in held if count[0])
    if sum(count for count, _ in held) > 1:
        what += ", solved together"
    bodies, equations = _counted(len(cluster.links), "body", "bodies"), _counted(expected.rows, "equation")
    yield f"{what}, on {root}: {bodies}, {expected.columns} speeds in {equations}"
    yield from _ears(system, cluster, found)
    couplings = cluster.couplings if len(cluster.couplings) <= MOST else cluster.couplings[:FEW]
    yield from (f"  {_coupling(mech, coupling)}" for coupling in couplings)
    yield from _more(len(cluster.couplings) - len(couplings), "couplings")
    distances = cluster.distances if len(cluster.distances) <= MOST else cluster.distances[:FEW]
    yield from (f"  {_distance(mech, distance)}" for distance in distances)
    yield from _more(len(cluster.distances) - len(distances), "distances")
    if choice is not None:
        yield from _method(choice)
    if found is not None:
        free = found.independents[number]
        known = "" if len(free) == expected.freedoms else f" ({expected.freedoms} expected of regular poses)"
        yield f"  {_counted(len(free), 'freedom')}{known}{': ' * bool(free)}{_listed(free)}"


def _ears(system: System, cluster: Cluster, found: AtState | None) -> Iterator[str]:
    names, bodies, topology = list(system.mechanism.joints), list(system.mechanism.bodies), system.topology
    shown = cluster.ears if len(cluster.ears) <= MOST else cluster.ears[:FEW]
    for number, ear in enumerate(shown, start=1):
        added = [bodies[topology.links[link].body] for link in ear.links]
        adds = f"adds {_listed(added)}" if added else "adds no body"
        closes = f"closed by {names[topology.loops[ear.loop].joint]}, " if ear.loop >= 0 else ""
        known = f"; conditioning {found.conditioning[ear.loop]:.2g}" if found and ear.loop >= 0 else ""
        yield f"  ear {number}: {closes}{adds}{known}"
    if len(shown) < len(cluster.ears):
        least = min((found.conditioning[loop] for loop in cluster.loops), default=1.0) if found else 1.0
        known = f"; conditioning {least:.2g} at least" if found and cluster.loops else ""
        yield f"  ... {len(cluster.ears) - len(shown)} more ears like these{known}"


def _coupling(mech: Mechanism, number: int) -> str:
    coupling = list(mech.couplings.values())[number]
    terms = []
    for name, term in coupling.terms.items():
        powers = (f"{name}^{k + 1}" if k else name for k in range(len(term.coefficients)))
        terms += [f"{c:+g} {power}" for c, power in zip(term.coefficients, powers, strict=True) if c]
    return f"{coupling.name}: {' '.join(terms)} = {coupling.offset:g}"


def _distance(mech: Mechanism, number: int) -> str:
    one = list(mech.distances.values())[number]
    return f"{one.name}: {one.length:g} m between {one.bodies[0]} and {one.bodies[1]}"


def _method(choice: Choice) -> Iterator[str]:
    why = "as asked for" if choice.wished else "expected to cost least"
    yield f"  method {choice.method}, {why}: {METHODS[choice.method].meaning}"
    costs = sorted(choice.costs.items(), key=lambda item: item[1])
    yield f"  expected multiplications: {', '.join(f'{name} {_rounded(cost)}' for name, cost in costs)}"
    for name, refusal in choice.refusals.items():
        yield f"  not {name}: {refusal}"


# ---- words ------------------------------------------------------------------------------------------


def _counted(count: int, one: str, many: str = "") -> str:
    return f"{count} {one if count == 1 else many or one + 's'}"


def _listed(names: Sequence[str]) -> str:
    if len(names) <= FEW + 2:
        return ", ".join(names)
    return f"{', '.join(names[:FEW])}, ... {len(names) - FEW} more"


def _more(count: int, what: str) -> list[str]:
    return [f"  ... {count} more {what}"] if count > 0 else []


def _rounded(cost: float) -> str:
    """Three digits, which is more than is known."""
    return f"{float(f'{cost:.3g}'):,.0f}".replace(",", " ")
