"""Characteristics of forces by formulas and tables: what a page needs to draw them by the core's own values.

The core evaluates the formula of a force at any values of what it reads (`lw_formula_values`). The page thus needs the
model, and for each result of a formula the columns of its arguments in the core's order, those that are worth an axis,
and the knots of its tables.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from linkwork.mechanism.formula_forces import ByFormulaAlongLine, ByFormulaAtPoint, ByFormulaOnJoints, FormulaForce
from linkwork.mechanism.friction import FrictionByFormula
from linkwork.view import payload
from linkwork.view.packing import pack

if TYPE_CHECKING:
    from linkwork.mechanism.formulas import Program
    from linkwork.model.model import Model

MOST_BYTES = 2_000_000  # of a model that a recorded run brings
MOST_KNOTS = 200  # of a table, each of which is drawn
_RANKS = (  # fields by which an argument is preferred as abscissa; those of other parts stand between
    ("joint_formula_length", "line_formula_length", "frame_formula_displacement", "frame_formula_rotation"),
    ("joint_formula_rate", "line_formula_rate", "frame_formula_velocity", "frame_formula_angular_velocity"),
    (),
    ("element_state",),
    ("formula_input",),
    ("time",),
)
_OTHERS = _RANKS.index(())


def characteristics_of(model: Model) -> list[payload.Characteristic]:
    """Return the characteristics of all forces by formulas: one for each result that depends on anything."""
    names = {v.reference: v.name for v in model.variables} | {model.fields["time"].first: "time"}
    native = model.block().model
    found: list[payload.Characteristic] = []
    for force in model.mechanism.forces:
        if not isinstance(force, FormulaForce):
            continue
        program = force.program(model.mechanism)
        arguments = [names[offset] for offset in native.formula_quantities(force.name)]
        for result, label in enumerate(_labels(force)):
            if over := _abscissae(program, result):
                found.append(
                    {
                        "force": force.name,
                        "result": result,
                        "label": label,
                        "unit": program.formulas[result].unit,
                        "arguments": arguments,
                        "over": over,
                        "tables": [
                            {
                                "knots": [] if table.x.size > MOST_KNOTS else table.x.tolist(),
                                "span": [float(table.x[0]), float(table.x[-1])],
                                "periodic": table.periodic[0],
                                "dots": table.arguments == 1,
                            }
                            for table in program.tables.values()
                        ],
                    }
                )
    return found


def add_characteristics(scene: payload.Scene, model: Model, *, live: bool) -> None:
    """Add the characteristics to a scene; `live`: the page has the model anyway, else the scene has it."""
    found = characteristics_of(model)
    if not live and found:
        size = len(model.model_bytes)
        if size > MOST_BYTES:
            most = f"{MOST_BYTES / 1e6:.0f} MB"
            scene["warnings"].append(
                f"Characteristics of forces are not drawn: the model has {size / 1e6:.1f} MB, more than {most}"
            )
            return
        scene["model"] = pack(model.model_bytes)
    scene["characteristics"] = found


def argument_columns(model: Model) -> list[str]:
    """Return the columns that characteristics need besides the time."""
    needed = dict.fromkeys(name for one in characteristics_of(model) for name in one["arguments"])
    return [name for name in needed if name != "time"]


def _labels(force: FormulaForce) -> list[str]:
    """Return what the results of a force are called."""
    if isinstance(force, FrictionByFormula):
        return ["capacity"]
    if isinstance(force, ByFormulaOnJoints | ByFormulaAlongLine):
        return ["force"]
    axes = f", {force.axes} axes" if isinstance(force, ByFormulaAtPoint) else ""
    return [f"{what}[{k}]{axes}" for what in ("force", "torque") for k in (1, 2, 3)]


def _abscissae(program: Program, result: int) -> list[int]:
    """Return the arguments on which a result depends, the one first over which it is drawn unless another is chosen.

    It is one on which the argument of a table depends, and then the coordinate or length before its rate.
    """
    depends, at_tables = program.reads(result)

    def preference(k: int) -> tuple[bool, int, int]:
        field = program.readings[k].field
        return k not in at_tables, next((r for r, f in enumerate(_RANKS) if field in f), _OTHERS), k

    return sorted(depends, key=preference)
