"""Report on a compiled mechanism: tree and cuts, method of its loops and reason, independent joints at a state."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from linkwork._util.names import number_of
from linkwork.errors import LinkworkError
from linkwork.model.compiled import compile_variant
from linkwork.model.corrections import describe_corrections
from linkwork.model.idle_spins import idle_speeds
from linkwork.model.independent_coordinates import admissible_speeds
from linkwork.model.methods import METHODS, Choice, takes_whole
from linkwork.model.mobility import AtState, count_dof, free_joints, look

if TYPE_CHECKING:
    from linkwork.core.plan import Cluster, Loop
    from linkwork.mechanism import Coupling, Joint, Mechanism
    from linkwork.model.base import ModelBase
    from linkwork.model.state import State

MOST = 30  # of one thing; of more only FEW are listed
FEW = 8
MOST_SPEEDS = 300  # of the tree; redundant constraints of more take long


def explain(system: ModelBase, state: State | None = None) -> str:
    """Return it as text, long lists shortened.

    Parameters
    ----------
    state
        Where to look; None: at the assembled start.
    """
    if state is not None:
        system.arguments.states(state, None)  # refuses those of another system
        system, state = structure_of(system, state)
    try:
        found = look(system, system.assemble() if state is None else state)
    except LinkworkError as error:
        return "\n".join([_title(system), "", *_parts(system, None), "", f"nothing is known of its motion: {error}"])
    where = "in its assembled start" if state is None else "in the given state"
    dof = count_dof(system, found)
    more = [*_redundant(system, state), *_idle(system, system.assemble() if state is None else state)]
    fate = "" if dof else f": {_fate(system.mechanism.couplings.values())}"
    title = f"{_title(system)}, {number_of(dof, *_DOF)} {where}{fate}"
    return "\n".join([title, "", *_parts(system, found), *more])


def _title(system: ModelBase) -> str:
    s, mech = system.sizes, system.mechanism
    counts = (
        *((s.bodies, "body", "bodies"), (s.joints, "joint"), (s.loops, "loop")),
        *((len(mech.couplings), "coupling"), (len(mech.distances), "distance")),
    )
    return f"{mech.name}: {', '.join(number_of(*count) for count in counts if count[0])}"


def _fate(couplings: Iterable[Coupling]) -> str:
    """Lines on the groups that have no degree of freedom."""
    return "it moves as prescribed" if any(coupling.motion for coupling in couplings) else "nothing can move"


def _parts(system: ModelBase, found: AtState | None) -> Iterator[str]:
    yield "tree: every body under the one that carries it, with its joint"
    yield from _tree(system)
    if system.topology.loops:
        yield from ("", "cut joints: each closes a loop of the tree")
        yield from _cuts(system)
    clusters = system.topology.clusters
    if not clusters and _choices(system) is not None:
        yield from ("", "no loops and no couplings: articulated-body recursion, linear in the number of bodies")
    shown = range(len(clusters) if len(clusters) <= MOST else FEW)
    choices = _choices(system)
    if choices is None:
        meaning = METHODS[str(system.method)].meaning
        yield from ("", f"method {system.method}, as asked for: {meaning}, {_about_the_whole(system)}")
    for number in shown:
        yield ""
        yield from _cluster(system, number, choices[number] if choices else None, found)
    if len(shown) < len(clusters):
        yield from ("", f"... {len(clusters) - len(shown)} more groups of loops, couplings or distances")
    if clusters:
        yield from ("", *_whole(system))
    if clusters and (free := free_joints(system)):
        yield from ("", f"joints in no loop, coupling or distance, as in a tree: {_listed(free)}")
    if system.corrections:
        yield from ("", f"so that loops are exact, {describe_corrections(system.corrections)}")
    if system.mechanism.transitions:
        yield from ("", "transitions")
        yield from _transitions(system)


def _redundant(system: ModelBase, state: State | None) -> list[str]:
    """Lines on the constraints that others repeat."""
    from linkwork.analysis.closure_redundancy import find_redundant_constraints

    if system.numbering.nu > MOST_SPEEDS or not (found := find_redundant_constraints(system, state)):
        return []
    shown = found.redundant[: MOST if len(found) <= MOST else FEW]
    head = f"redundant constraints: {found.speeds} speeds - {found.equations} equations + {len(found)} redundant ones"
    return [
        "",
        f"{head} leave {number_of(found.dof, *_DOF)}",
        "  nothing determines the reactions along them: those of least norm are given",
        *(f"  {one}" for one in shown),
        *_more(len(found) - len(shown), "constraints"),
    ]


def _idle(system: ModelBase, state: State) -> list[str]:
    """Lines on the bodies that turn about lines of their own."""
    if system.numbering.nu > MOST_SPEEDS:
        return []
    _, bodies = idle_speeds(system, state, partial(admissible_speeds, system, state))
    if not bodies:
        return []
    shown = bodies[: MOST if len(bodies) <= MOST else FEW]
    lines = []
    for one in shown:
        joints = [joint.name for joint in system.mechanism.joints.values() if one.body in (joint.parent, joint.child)]
        inertia = "" if one.has_inertia else "; no inertia about it, so that no load may act about it"
        lines.append(f"  {one}, in {_listed(joints)}{inertia}")
    return ["", "idle spins: bodies turn while nothing else moves", *lines, *_more(len(bodies) - len(shown), "bodies")]


# ---- tree and cuts ----------------------------------------------------------------------------------


def _tree(system: ModelBase) -> list[str]:
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
        rows.append(("  " * depth + bodies[link.body], f"{joint.name} {joint.kind.type_name}{_drive(joint)}{turned}"))
        waiting += [(child, depth + 1) for child in reversed(carried.get(i, ()))]
    width = max(len(name) for name, _ in rows)
    lines = ["  ground", *(f"  {name:{width}}  {joint}" for name, joint in rows)]
    return lines + _more(len(bodies) - len(rows), "bodies")


def _drive(joint: Joint) -> str:
    return " with reflected inertia" * bool(joint.reflected_inertia.any())


def _cuts(system: ModelBase) -> list[str]:
    joints, loops = list(system.mechanism.joints.values()), system.topology.loops
    closed = {number for cluster in system.topology.clusters for number in cluster.loops}
    lines = []
    for number, loop in enumerate(loops if len(loops) <= MOST else loops[:FEW]):
        cut = joints[loop.joint]
        ends = f"{cut.parent} - {cut.child}"
        apart = "open, else " if number not in closed else ""
        around = _listed(_joints_around(system, loop))
        lines.append(f"  {cut.name} {cut.kind.type_name}{_drive(cut)}, {ends}: {apart}with {around}")
    return lines + _more(len(loops) - len(lines), "cut joints")


def _transitions(system: ModelBase) -> list[str]:
    transitions = list(system.mechanism.transitions.values())
    shown = transitions if len(transitions) <= MOST else transitions[:FEW]
    lines = [f"  {one.name}: {one.action!r}{'' if one.when is None else f', when {one.when!r}'}" for one in shown]
    return lines + _more(len(transitions) - len(shown), "transitions")


def _joints_around(system: ModelBase, loop: Loop) -> list[str]:
    """Return the joints of a loop but for its cut joint, from there to its root and back along the other branch."""
    names, links = list(system.mechanism.joints), system.topology.links
    branches: list[list[str]] = []
    for end in (loop.parent, loop.child):
        branches.append([])
        while end != loop.root:
            branches[-1].append(names[links[end].joint])
            end = links[end].parent
    return [*branches[0], *reversed(branches[1])]


def _about_the_whole(system: ModelBase) -> str:
    """Further lines on the method of a whole mechanism."""
    if system.method == "dca":
        return f"on {system.levels} levels"
    return f"each body about its {'joint' if system.reference == 'auto' else system.reference}"


def _whole(system: ModelBase) -> Iterator[str]:
    """Costs of the methods that take the whole mechanism, compared with those of its clusters."""
    costs, refused = system.whole_costs()
    yield f"whole mechanism, expected multiplications: {_costs(costs)}"
    for name, why in refused.items():
        yield f"  not {name}: {why}"
    yield "  multipliers and dca need the closures as well, for the stabilisation: they are used on request only"


def _costs(costs: Mapping[str, float]) -> str:
    """Return names and costs, the least first."""
    return ", ".join(f"{name} {_rounded(cost)}" for name, cost in sorted(costs.items(), key=lambda item: item[1]))


def _choices(system: ModelBase) -> Sequence[Choice] | None:
    """Return the method of each cluster; None: one for the whole mechanism."""
    return None if takes_whole(system.method) else system.choices


# ---- as data ----------------------------------------------------------------------------------------


def groups(system: ModelBase, state: State) -> list[dict[str, Any]]:
    """Return the groups of loops and couplings and how each is solved, as JSON has them."""
    found, choices = look(system, state), _choices(system)
    mech = system.mechanism
    joints, couplings, distances = list(mech.joints), list(mech.couplings), list(mech.distances)
    bodies, links, loops = list(system.mechanism.bodies), system.topology.links, system.topology.loops
    facts = []
    for number, (cluster, expected) in enumerate(zip(system.topology.clusters, system.expected, strict=True)):
        choice = choices[number] if choices else Choice(str(system.method), True, {}, {})
        facts.append(
            {
                "on": "ground" if cluster.root < 0 else bodies[links[cluster.root].body],
                "bodies": [bodies[links[link].body] for link in cluster.links],
                "loops": [joints[loops[loop].joint] for loop in cluster.loops],
                "couplings": [couplings[coupling] for coupling in couplings_of(system, number)],
                "may_lock": may_lock(system, number),
                "distances": [distances[distance] for distance in cluster.distances],
                "speeds": expected.columns,
                "equations": expected.rows,
                "independent": found.independents[number],
                "conditioning": min((found.conditioning[loop] for loop in cluster.loops), default=None),
                "method": choice.method,
                "asked_for": choice.requested,
                "expected_multiplications": choice.costs,
                "refused": choice.refusals,
            }
        )
    return facts


def couplings_of(system: ModelBase, cluster: int) -> list[int]:
    """Return the couplings of a cluster by position, without locks."""
    return [k for k in system.topology.clusters[cluster].couplings if k < len(system.mechanism.couplings)]


def may_lock(system: ModelBase, cluster: int) -> list[str]:
    """Return the joints of a cluster that may lock, or stick by friction."""
    names, couplings = list(system.mechanism.joints), system.topology.couplings
    locks = [k for k in system.topology.clusters[cluster].couplings if k >= len(system.mechanism.couplings)]
    return list(dict.fromkeys(names[couplings[k].terms[0][0]] for k in locks))


# ---- clusters ---------------------------------------------------------------------------------------


def _cluster(system: ModelBase, number: int, choice: Choice | None, found: AtState | None) -> Iterator[str]:
    mech, cluster, expected = system.mechanism, system.topology.clusters[number], system.expected[number]
    root = "ground" if cluster.root < 0 else list(mech.bodies)[system.topology.links[cluster.root].body]
    own, locks = couplings_of(system, number), may_lock(system, number)
    held = [
        *((len(cluster.loops), "loop", "loops"), (len(own), "coupling", "couplings")),
        (len(cluster.distances), "distance", "distances"),
        (len(locks), "joint that may lock or stick", "joints that may lock or stick"),
    ]
    what = " and ".join(number_of(*count) for count in held if count[0])
    if sum(count[0] for count in held) > 1:
        what += ", solved together"
    speeds = number_of(expected.columns, "speed")
    bodies, equations = number_of(len(cluster.links), "body", "bodies"), number_of(expected.rows, "equation")
    yield f"{what}, on {root}: {bodies}, {speeds} in {equations}"
    yield from _ears(system, cluster, found)
    names = list(mech.couplings)
    couplings = own if len(own) <= MOST else own[:FEW]
    yield from (f"  {names[k]}: {equation(mech, names[k])}" for k in couplings)
    yield from _more(len(own) - len(couplings), "couplings")
    if locks:
        yield f"  may lock or stick: {_listed(locks)}"
    distances = cluster.distances if len(cluster.distances) <= MOST else cluster.distances[:FEW]
    yield from (f"  {_distance(mech, distance)}" for distance in distances)
    yield from _more(len(cluster.distances) - len(distances), "distances")
    if choice is not None:
        yield from _method(choice)
    if found is not None:
        free = found.independents[number]
        more = f", though regular poses have {expected.dof}" if len(free) > expected.dof else ""
        follow = f"all speeds follow from {_listed(free)} in this pose"
        fate = follow if free else _fate(list(mech.couplings.values())[k] for k in own)
        yield f"  {number_of(len(free), *_DOF)}{more}: {fate}"


def _ears(system: ModelBase, cluster: Cluster, found: AtState | None) -> Iterator[str]:
    names, bodies, topology = list(system.mechanism.joints), list(system.mechanism.bodies), system.topology
    shown = cluster.loop_steps if len(cluster.loop_steps) <= MOST else cluster.loop_steps[:FEW]
    for number, step in enumerate(shown, start=1):
        added = [bodies[topology.links[link].body] for link in step.links]
        adds = f"adds {_listed(added)}" if added else "adds no body"
        closes = f"closed by {names[topology.loops[step.loop].joint]}, " if step.loop >= 0 else ""
        known = f"; conditioning {found.conditioning[step.loop]:.2g}" if found and step.loop >= 0 else ""
        yield f"  loop {number}: {closes}{adds}{known}"
    if len(shown) < len(cluster.loop_steps):
        least = min((found.conditioning[loop] for loop in cluster.loops), default=1.0) if found else 1.0
        known = f"; conditioning {least:.2g} at least" if found and cluster.loops else ""
        yield f"  ... {len(cluster.loop_steps) - len(shown)} more loops like these{known}"


def equation(mech: Mechanism, name: str) -> str:
    """Return a coupling of a mechanism, or what a drive prescribes, as an equation."""
    coupling = mech.couplings[name]
    terms: list[tuple[float, str]] = []
    for name, term in coupling.given_terms.items():
        terms += [(c, f"{name}^{k + 1}" if k else name) for k, c in enumerate(term.coefficients)]
    motion = coupling.motion
    left = _sum(terms) if terms else ""
    if coupling.formula is not None:
        text = " ".join(coupling.formula.split())
        rest = f" - {text[1:]}" if text.startswith("-") else f" + {text}"
        left = f"{left}{rest}" if left else text
    if motion is None:
        return f"{left} = {coupling.offset:g}"
    constant, *others = motion.coefficients
    prescribed = [(coupling.offset + constant, ""), *((c, f"t^{k}" if k > 1 else "t") for k, c in enumerate(others, 1))]
    prescribed.append((motion.amplitude, f"sin({_sum([(motion.frequency, '2pi t'), (motion.phase, '')])})"))
    return f"{left} = {_sum(prescribed)}, and its inputs"


def _sum(terms: Iterable[tuple[float, str]]) -> str:
    """Write a sum of coefficients times something, without zeros and ones.

    >>> _sum([(1.0, "motor"), (-20.0, "arm"), (0.0, "arm^2")]), _sum([(0.0, "")])
    ('motor - 20 arm', '0')
    """
    text = ""
    for c, what in terms:
        if c:
            size = what if what and abs(c) == 1.0 else f"{abs(c):g} {what}".strip()
            text += f" {'-' if c < 0 else '+'} {size}" if text else f"{'-' if c < 0 else ''}{size}"
    return text or "0"


def _distance(mech: Mechanism, number: int) -> str:
    one = list(mech.distances.values())[number]
    return f"{one.name}: {one.length:g} m between {one.bodies[0]} and {one.bodies[1]}"


def _method(choice: Choice) -> Iterator[str]:
    why = "as asked for" if choice.requested else "expected to cost least"
    yield f"  method {choice.method}, {why}: {METHODS[choice.method].meaning}"
    yield f"  expected multiplications: {_costs(choice.costs)}"
    for name, refusal in choice.refusals.items():
        yield f"  not {name}: {refusal}"


# ---- words ------------------------------------------------------------------------------------------


_DOF = ("degree of freedom", "degrees of freedom")


def _listed(names: Sequence[str]) -> str:
    if len(names) <= FEW + 2:
        return ", ".join(names)
    return f"{', '.join(names[:FEW])}, ... {len(names) - FEW} more"


def _more(count: int, what: str) -> list[str]:
    return [f"  ... {count} more {what}"] if count > 0 else []


def _rounded(cost: float) -> str:
    """Three digits, which is more than is known."""
    return f"{float(f'{cost:.3g}'):,.0f}".replace(",", " ")


def open_joints(system: ModelBase, state: State) -> frozenset[int]:
    """Return the positions of the joints that are open at a state."""
    if not system.removable_joints:
        return frozenset()
    closed = state.discrete_state[: len(system.mechanism.joints)]  # its first numbers
    return frozenset(joint for joint in system.removable_joints if not closed[joint])


def structure_of(system: ModelBase, state: State) -> tuple[ModelBase, State]:
    """Return the structure that a state is in, as a system by itself, and the state there."""
    opened = open_joints(system, state)
    if opened == system.open_joints:
        return system, state
    alone = type(system)(compile_variant(system._compiled, opened)).with_parameters(system.parameters)
    return alone, replace(state, model=alone)
