"""The command line of descriptions: what a mechanism consists of."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

import linkwork as lw
from linkwork.analysis.explain import equation, groups
from linkwork.cli.mechanism_files import add_mechanism, mechanism_of
from linkwork.cli.shared import add_gap, aligned, start_of
from linkwork.model.methods import METHODS
from linkwork.model.mobility import degrees_of_freedom

if TYPE_CHECKING:
    from linkwork.model.model import Model
    from linkwork.model.state import State


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command to a parser."""
    add_mechanism(parser)
    parser.add_argument("--json", action="store_true", help="print the same as JSON, with --explain more of it")
    explain_help = "print its tree and cuts, and how and in what order its loops are solved, and why so"
    parser.add_argument("--explain", action="store_true", help=explain_help)
    add_method(parser)
    add_gap(parser)


def add_method(parser: argparse.ArgumentParser) -> None:
    """Add the choice of a method to a parser."""
    text = "how loops are solved (default: %(default)s, by expected cost)"
    parser.add_argument("--method", choices=("auto", *METHODS), default="auto", help=text)


def run(arguments: argparse.Namespace) -> int:
    """Print what a mechanism consists of."""
    system = lw.compile(mechanism_of(arguments), arguments.method)
    if arguments.explain and not arguments.json:
        print(system.explain(start_of(system, arguments)))
        return 0
    try:
        state = start_of(system, arguments) or system.assemble()
    except lw.LinkworkError as error:
        raise lw.LinkworkError(f"{error} (--explain shows tree and loops all the same)") from error
    facts = describe(system, state)
    if arguments.explain:
        facts["method"], facts["groups"] = arguments.method, groups(system, state)
    print(json.dumps(facts, indent=2) if arguments.json else _as_text(facts, system))
    return 0


def describe(system: Model, state: State) -> dict[str, Any]:
    """Gather the facts about a system and its assembled start, as JSON has them."""
    mech, links = system.mechanism, system.topology.links
    names = list(mech.joints)
    energy = system.energy(state)
    return {
        "name": mech.name,
        "gravity": mech.gravity.tolist(),
        "bodies": [{"name": body.name, "mass": body.mass} for body in mech.bodies.values()],
        "joints": [
            {
                "name": joint.name,
                "type": joint.kind.type_name,
                "parent": joint.parent,
                "child": joint.child,
                "cut": joint.name in system.loop_names,
            }
            for joint in mech.joints.values()
        ],
        "couplings": [{"name": name, "equation": equation(mech, name)} for name in mech.couplings],
        "forces": mech.to_dict()["forces"] if mech.forces else [],
        "loops": [
            {
                "cut": names[loop.joint],
                "joints": [names[j] for j in (*(links[k].joint for k in system.topology.around(loop)), loop.joint)],
            }
            for loop in system.topology.loops
        ],
        "distances": [
            {"name": one.name, "bodies": list(one.bodies), "length": one.length} for one in mech.distances.values()
        ],
        "transitions": mech.to_dict().get("transitions", []),
        "points": mech.to_dict().get("points", []),
        "measures": mech.to_dict().get("measures", []),
        "states": len(system.q_names) + len(system.u_names),
        "degrees_of_freedom": degrees_of_freedom(system, state),
        "start": {name: float(state[name]) for name in (*system.q_names, *system.u_names)},
        "loop_residual": float(system.loop_residual(state).max(initial=0.0)),
        "energy": {"kinetic": energy.kinetic, "potential": energy.potential},
    }


def _as_text(facts: dict[str, Any], system: Model) -> str:
    lines = [
        f"{facts['name']}: degrees of freedom {facts['degrees_of_freedom']}, states {facts['states']}",
        "",
        f"bodies ({len(facts['bodies'])})",
        *aligned([(body["name"], f"{body['mass']:g} kg") for body in facts["bodies"]]),
        f"joints ({len(facts['joints'])})",
        *aligned([(j["name"], j["type"], f"{j['parent']} - {j['child']}", "cut" * j["cut"]) for j in facts["joints"]]),
    ]
    if facts["couplings"]:
        lines += [f"couplings ({len(facts['couplings'])})"]
        lines += aligned([(coupling["name"], coupling["equation"]) for coupling in facts["couplings"]])
    if facts["forces"]:
        lines += [f"forces ({len(facts['forces'])})", *(f"  {force!r}" for force in system.mechanism.forces)]
    if facts["loops"]:
        lines += [f"loops ({len(facts['loops'])})"]
        lines += aligned([(f"cut at {loop['cut']}:", " ".join(loop["joints"])) for loop in facts["loops"]])
    if facts["distances"]:
        lines += [f"distances ({len(facts['distances'])})"]
        rows = [(one["name"], f"{one['length']:g} m", " - ".join(one["bodies"])) for one in facts["distances"]]
        lines += aligned(rows)
    if facts["transitions"]:
        lines += [f"transitions ({len(facts['transitions'])})"]
        all_of = system.mechanism.transitions.values()
        lines += aligned([(one.name, repr(one.action), "" if one.when is None else repr(one.when)) for one in all_of])
    if facts["points"]:
        lines += [f"points of interest ({len(facts['points'])})"]
        lines += aligned([(one["name"], f"on {one['body']}") for one in facts["points"]])
    if facts["measures"]:
        lines += [f"measures ({len(facts['measures'])})"]
        lines += aligned([(m["name"], f"{m['quantity']} of {' and '.join(m['points'])}") for m in facts["measures"]])
    lines += ["assembled start"]
    rows = [(name, f"{_tidy(value): .6g}", system.column(name).unit) for name, value in facts["start"].items()]
    rows.append(("kinetic energy", f"{facts['energy']['kinetic']: .6g}", "J"))
    rows.append(("potential energy", f"{facts['energy']['potential']: .6g}", "J"))
    if facts["loops"]:
        rows.append(("loop residual", f"{facts['loop_residual']: .1e}", "m"))
    return "\n".join([*lines, *aligned(rows)])


def _tidy(value: float) -> float:
    """Without what only rounding has left."""
    return value if abs(value) > 1e-12 else 0.0
