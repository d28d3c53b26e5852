"""What a mechanism consists of, and its assembled start."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from linkwork._util.text import listed
from linkwork.analysis.explain import equation
from linkwork.mechanism.own_states import all_states
from linkwork.model.mobility import degrees_of_freedom
from linkwork.results.base import ResultBase

if TYPE_CHECKING:
    from linkwork.model.model import Model
    from linkwork.model.state import State


class Overview(ResultBase):
    """The parts of a mechanism by kind, its degrees of freedom, and its assembled start."""

    def __init__(self, system: Model, state: State) -> None:
        self.model, self.state = system, state

    def to_dict(self) -> dict[str, Any]:
        """Return parts, degrees of freedom and start as plain data."""
        system, state = self.model, self.state
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
            "outputs": mech.to_dict().get("outputs", []),
            "elements": [
                {"name": one.variable, "formula": one.formula, "start": one.start, "unit": one.unit}
                for one in all_states(mech)
            ],
            "states": system.numbering.n_states,
            "degrees_of_freedom": degrees_of_freedom(system, state),
            "start": {name: float(state[name]) for name in (*system.q_names, *system.u_names, *system.element_names)},
            "loop_residual": float(system.loop_residual(state).max(initial=0.0)),
            "energy": {"kinetic": energy.kinetic, "potential": energy.potential},
        }

    def summary(self) -> str:
        """Return the same as text."""
        facts, system, mech = self.to_dict(), self.model, self.model.mechanism
        transitions = mech.transitions.values()
        parts: dict[str, list[tuple[str, ...]]] = {
            "bodies": [(one["name"], f"{one['mass']:g} kg") for one in facts["bodies"]],
            "joints": [
                (one["name"], one["type"], f"{one['parent']} - {one['child']}", "cut" * one["cut"])
                for one in facts["joints"]
            ],
            "couplings": [(one["name"], one["equation"]) for one in facts["couplings"]],
            "forces": [(repr(force),) for force in mech.forces],
            "loops": [(f"cut at {one['cut']}:", " ".join(one["joints"])) for one in facts["loops"]],
            "distances": [
                (one["name"], f"{one['length']:g} m", " - ".join(one["bodies"])) for one in facts["distances"]
            ],
            "transitions": [
                (one.name, repr(one.action), "" if one.when is None else repr(one.when)) for one in transitions
            ],
            "points of interest": [(one["name"], f"on {one['body']}") for one in facts["points"]],
            "measures": [
                (one["name"], f"{one['quantity']} of {' and '.join(one['points'])}") for one in facts["measures"]
            ],
            "outputs": [(one["name"], one["formula"]) for one in facts["outputs"]],
            "states of elements": [(one["name"], f"d/dt = {one['formula']}") for one in facts["elements"]],
        }
        start = [(name, f"{_tidy(value): .6g}", system.column(name).unit) for name, value in facts["start"].items()]
        start += [(f"{kind} energy", f"{value: .6g}", "J") for kind, value in facts["energy"].items()]
        if facts["loops"]:
            start.append(("loop residual", f"{facts['loop_residual']: .1e}", "m"))
        lines = [f"{facts['name']}: degrees of freedom {facts['degrees_of_freedom']}, states {facts['states']}", ""]
        for kind, rows in parts.items():
            lines += listed(f"{kind} ({len(rows)})", rows, len(rows))
        return "\n".join([*lines, *listed("assembled start", start, len(start))])


def _tidy(value: float) -> float:
    """Without what only rounding has left."""
    return value if abs(value) > 1e-12 else 0.0
