"""A model as a function of CasADi, whose graph has the operations that the kernels do at a state."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork._util.checks import FloatArray, names_of
from linkwork._util.keywords import checks_keywords
from linkwork._util.optional import optional_import
from linkwork.core.tapes import Operation, Operations, operations_of_tapes
from linkwork.errors import MechanismError
from linkwork.model.recorded import names_in_c, record

if TYPE_CHECKING:
    from linkwork.model.model import Model
    from linkwork.model.state import State

with optional_import("functions of CasADi", "casadi", "casadi"):
    import casadi


def _nearest(a: Any) -> Any:
    """Return the nearest whole number, of two the even one."""
    found = casadi.floor(a + 0.5)
    return found - casadi.if_else(found - a == 0.5, found - 2 * casadi.floor(found / 2), 0)


# Those of formulas. Whole numbers and comparisons have derivatives of zero, as in the kernels.
_FUNCTIONS: dict[str, Any] = {
    "ROOT": casadi.sqrt,
    "ABSOLUTE": casadi.fabs,
    "CHOSEN": casadi.if_else,
    "floor": casadi.floor,
    "rint": _nearest,
    "round": lambda a: casadi.sign(a) * casadi.floor(casadi.fabs(a) + 0.5),
    "pow": casadi.power,
    **{name: getattr(casadi, name) for name in ("sin", "cos", "atan2", "exp", "log", "sinh", "cosh", "tanh")},
}


def _maker(operation: Operation) -> Callable[..., Any]:
    """Return an operation as a function of expressions: its formula in C is one of Python as well."""
    operands = ", ".join("abcd"[: operation.operands])
    maker: Callable[..., Any] = eval(f"lambda {operands}: {operation.formula}", _FUNCTIONS)
    return maker


@checks_keywords
def function(
    model: Model,
    state: State | None = None,
    *,
    outputs: Iterable[str] = (),
    parameters: Iterable[str] = (),
    name: str = "mechanism",
) -> casadi.Function:
    """Return a model as a function of CasADi: derivatives of its states, and variables.

    Its graph of scalars has the operations that the kernels do at a state, so that CasADi finds derivatives of any
    order and writes C. It counts where the decisions at this state, such as which coordinates are independent, are
    those of the kernels: the last result is the number of decisions that would be others.

    Parameters
    ----------
    model
        Of the mechanism. Transitions are as at the state.
    state
        At which it is recorded; by default the assembled start.
    outputs
        Names of variables that are results as well.
    parameters
        Names of parameters that are arguments; all others are constants.
    name
        Of the function.

    Returns
    -------
    casadi.Function
        Arguments `t` (1), s; `x`, the states [q; u; states of elements]; `tau`, loads of all joints, applied wrenches
        and inputs of actuators; `p`, the parameters one behind the other. Results `der_x`; each output by its name,
        dots and brackets replaced by underscores; `failed_guards`.

    Raises
    ------
    MechanismError
        Where no tape holds the kernels, as of frictions that stick.

    Examples
    --------
    >>> import linkwork as lw
    >>> import linkwork.casadi
    >>> mech = lw.Mechanism("pendulum")
    >>> mech.add_body("rod", mass=3.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(3.0, 1.0))
    >>> mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
    >>> f = linkwork.casadi.function(lw.compile(mech), outputs=["energy.kinetic"])
    >>> f
    Function(mechanism:(t,x[2],tau,p[0])->(der_x[2],energy_kinetic,failed_guards) SXFunction)
    """
    recorded = record(model, state, names_of(outputs, "outputs"), names_of(parameters, "parameters"))
    arguments = {one: casadi.SX.sym(one, size) for one, size in recorded.arguments.items()}
    given = [arguments[one][place] for one, place in recorded.places]
    computed, failed = _computed(recorded.operations, given, recorded.kept)
    parts = np.split(np.arange(len(computed)), np.cumsum(list(recorded.results.values()))[:-1])
    names = names_in_c(recorded.results, taken=[*arguments, "failed_guards"])
    results = {one: casadi.vertcat(*(computed[i] for i in part)) for one, part in zip(names, parts, strict=True)}
    results["failed_guards"] = failed
    return casadi.Function(name, list(arguments.values()), list(results.values()), list(arguments), list(results))


def _computed(operations: Operations, given: Sequence[Any], kept: FloatArray) -> tuple[list[Any], Any]:
    """Return expressions of the computed numbers, and the number of guards that do not hold."""
    known = operations_of_tapes()
    makers = {code: _maker(operation) for code, operation in known.items()}
    registers = [given[int(i)] for i in operations.inputs]
    registers += map(casadi.SX, [*operations.constants.tolist(), *kept.tolist()])
    registers += [casadi.SX(0.0)] * (operations.registers - len(registers))
    failed = casadi.SX(0.0)
    for code, to, *operands in operations.steps.tolist():
        operation = known[code]
        values = [registers[i] for i in operands[: operation.operands]]
        if operation.name == "equal":
            raise MechanismError(
                "a number that is zero at this state may be about to change, so that derivatives would miss it: "
                "give another state"
            )
        if operation.name == "within":  # keeps numbers finite
            continue
        if operation.is_guard:
            failed += casadi.logic_not(makers[code](*values))
        elif operation.name == "sine_cosine":
            registers[to], registers[operands[1]] = casadi.sin(values[0]), casadi.cos(values[0])
        else:
            registers[to] = makers[code](*values)
    return [registers[i] for i in operations.results.tolist()], failed
