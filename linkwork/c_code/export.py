"""A mechanism as C for controllers."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from linkwork._util.checks import FloatArray, names_of
from linkwork._util.files import atomic_path, make_folder
from linkwork._util.keywords import checks_keywords
from linkwork.c_code.functions import CFunction
from linkwork.core.native import Block, OffsetArray, Stage, offsets_of
from linkwork.errors import ExportError, MechanismError
from linkwork.mechanism import Mechanism
from linkwork.model.compile import model_of
from linkwork.model.model import Model
from linkwork.model.recorded import (
    block_at,
    kinematic_variables,
    legal_in_c,
    names_in_c,
    record,
    record_inverse_dynamics,
    record_kinematics,
)
from linkwork.model.state import State


@checks_keywords
def export_c(
    mechanism: Mechanism | Model,
    folder: str | os.PathLike[str],
    state: State | None = None,
    *,
    outputs: Iterable[str] = (),
    parameters: Iterable[str] = (),
    jacobian: bool = True,
    inverse_dynamics: bool | str | Iterable[str] = False,
    kinematics: Iterable[str] = (),
    name: str | None = None,
) -> Path:
    """Write a mechanism as C99 for controllers: plain functions of fixed time.

    They have no heap, no loops or branches that depend on numbers, and call functions of libm alone. `NAME.h` has the
    functions and the places of all names in their arguments, `NAME.c` the code, and `NAME_test.c` a program that
    compares it with numbers of the core:

    - `NAME_derivatives`: the derivatives of the states;
    - `NAME_jacobian`: the matrix of these by the states, if not left out;
    - `NAME_outputs`: variables, if any are asked for;
    - `NAME_inverse_dynamics`: loads for given accelerations `udot`, if asked for, springs and dampers at work. Loads of
      joints in `tau` have no effect, applied wrenches and inputs have;
    - `NAME_kinematics`: poses and velocities of bodies, points of interest and measures, if any are asked for;
    - `NAME_kinematics_jacobian`: the matrix of these velocities by the speeds of the tree's joints, loops open: of a
      point that of `Model.point_jacobian`;
    - `NAME_step`: one step of the method of Runge and Kutta, of order 4.

    All return the number of decisions, such as which coordinates are independent, that would be others than at the
    state where the operations were recorded; where it is not 0 the numbers may be wrong.

    Parameters
    ----------
    mechanism
        Description or model. Transitions are as at the state.
    folder
        Of the files; it is made if necessary. Each file is written as a whole.
    state
        At which the operations are recorded; by default the assembled start.
    outputs
        Names of variables.
    parameters
        Names of parameters that are arguments; all others are constants.
    jacobian
        Whether `NAME_jacobian` is written.
    inverse_dynamics
        Names of independent speeds, such as ``["A"]``, as many as degrees of freedom, or "auto", as for
        `Model.velocity_transformation`: the loads of these alone for their accelerations; all others follow. True: the
        loads of all joints of the tree for all of their accelerations, which must be possible, as
        `Model.inverse_dynamics` has them, of least norm where loops leave a choice. By default there is no such
        function.
    kinematics
        Names of bodies, points of interest and measures.
    name
        Before all names in C; by default that of the mechanism.

    Returns
    -------
    Path
        The header.

    Raises
    ------
    MechanismError
        Where no operations can be recorded, as of frictions that stick.
    ExportError
        If the folder or a file cannot be written; the text names it and the remedy.

    Examples
    --------
    >>> import tempfile
    >>> import linkwork as lw
    >>> mech = lw.Mechanism("pendulum")
    >>> mech.add_body("rod", mass=3.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(3.0, 1.0))
    >>> mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     header = lw.export_c(mech, folder)
    ...     print(header.name, *(line for line in header.read_text().splitlines() if "_step(" in line))
    pendulum.h int pendulum_step(double t, double h, double x[2], const double tau[1]);
    """
    model = model_of(mechanism)
    found = legal_in_c(model.mechanism.name if name is None else name)
    if not found or (name is not None and found != name):
        raise MechanismError(f"name = {name!r} is no name in C; give letters, digits and underscores")
    start = model.assemble() if state is None else state
    asked = _Asked(
        names_of(outputs, "outputs"),
        names_of(parameters, "parameters"),
        *kinematic_variables(model, names_of(kinematics, "kinematics")),
        _driven_speeds(model, start, inverse_dynamics),
        jacobian,
    )
    code = _Code(model, start, found, asked)
    into = make_folder(folder, ExportError)
    for file, text in ((f"{found}.h", code.header()), (f"{found}.c", code.source()), (f"{found}_test.c", code.test())):
        with atomic_path(into / file, ExportError) as part:
            part.write_text(text, encoding="ascii")
    return into / f"{found}.h"


_MEANINGS = {
    "derivatives": "The derivatives of the states.",
    "jacobian": "Their matrix by the states, row by row.",
    "outputs": "Variables.",
    "inverse_dynamics": "Loads along UDOT that give the accelerations udot. Loads of joints in a tau have no effect.",
    "kinematics": "Poses and velocities.",
    "kinematics_jacobian": "The matrix of the velocities by the speeds SPEED, row by row.",
}


@dataclass(frozen=True)
class _Asked:
    """What functions are of: names of variables, and numbers of speeds that inverse dynamics drives."""

    outputs: list[str]
    parameters: list[str]
    poses: list[str]
    velocities: list[str]
    driven: list[int]
    jacobian: bool

    @property
    def kinematics(self) -> list[str]:
        return [*self.poses, *self.velocities]


class _Code:
    """The text of the files."""

    def __init__(self, model: Model, state: State, name: str, asked: _Asked) -> None:
        self._model, self._state, self._name, self._asked = model, state, name, asked
        parameters = asked.parameters
        self._rates = record(model, state, (), parameters)
        functions = {"derivatives": self._rates}
        if asked.jacobian:
            with _optional("Jacobian", "jacobian"):
                functions["jacobian"] = record(model, state, (), parameters, by_states=True)
        if asked.outputs:
            functions["outputs"] = record(model, state, asked.outputs, parameters, rates=False)
        if asked.driven:
            with _optional("inverse dynamics", "inverse_dynamics"):
                functions["inverse_dynamics"] = record_inverse_dynamics(model, state, parameters, asked.driven)
        if asked.poses:
            functions["kinematics"] = record_kinematics(model, state, asked.kinematics, parameters)
            functions["kinematics_jacobian"] = record_kinematics(
                model, state, asked.velocities, parameters, by_speeds=True
            )
        self._functions = {of: CFunction(f"{name}_{of}", one) for of, one in functions.items()}

    # ---- header ----

    def header(self) -> str:
        guard = f"{self._name.upper()}_H"
        lines = [f"/* The mechanism {self._ascii(self._model.mechanism.name)}, written by Linkwork. Units are SI. */"]
        lines += [f"#ifndef {guard}", f"#define {guard}", "#ifdef __cplusplus", 'extern "C" {', "#endif", ""]
        lines.append("/* Places in the states x, the loads tau, the parameters p and the results named alike.")
        lines.append(
            "   UDOT: in udot and in the loads of inverse dynamics. VELOCITY, SPEED: rows and columns of the matrix"
        )
        lines.append("   of kinematics. */")
        lines.append("enum {")
        for array, places in self._places().items():
            prefix = f"{self._name}_{array}".upper()
            names = names_in_c((one for one, _ in places), taken=["size"])
            lines += (f"  {prefix}_{one.upper()} = {at}, /* {places[at][1]} */" for at, one in enumerate(names))
            lines.append(f"  {prefix}_SIZE = {len(places)},")
        lines += ["};", ""]
        for of, function in self._functions.items():
            lines += [f"/* {_MEANINGS[of]} {self._counted(function)} */", f"{function.declaration()};", ""]
        lines.append(
            "/* A step h by the method of Runge and Kutta of order 4: four times the derivatives; x is replaced. */"
        )
        lines += [f"{self._step_declaration()};", "", "#ifdef __cplusplus", "}", "#endif", "#endif", ""]
        return "\n".join(lines)

    def _places(self) -> dict[str, list[tuple[str, str]]]:
        """Return name and text of all numbers of the arrays, in their order."""
        variables = {one.reference: one for one in self._model.variables}
        offsets, n = self._model.entry_offsets.tolist(), self._model.numbering.n_states
        loads, nq, nu = self._model.numbering.n_loads, self._model.numbering.nq, self._model.numbering.nu

        def listed(references: list[int]) -> list[tuple[str, str]]:
            found = []
            for reference in references:
                one = variables[reference]
                unit = "" if one.unit == "1" else f" [{one.unit}]"
                found.append((one.name, self._ascii(f"{one.name}{unit}: {one.description}")))
            return found

        def of_names(names: list[str]) -> list[int]:
            columns = map(self._model.column, names)
            return [reference for c in columns for reference in range(c.first, c.first + c.count)]

        places = {"x": listed(offsets[:n]), "tau": listed(offsets[n : n + loads])}
        if self._asked.parameters:
            places["p"] = listed(of_names(self._asked.parameters))
        if self._asked.outputs:
            places["output"] = listed(of_names(self._asked.outputs))
        if self._asked.driven:
            first = self._model.fields["acceleration"].first
            places["udot"] = listed([first + one for one in self._asked.driven])
        if self._asked.kinematics:
            places["kinematics"] = listed(of_names(self._asked.kinematics))
            places["velocity"] = listed(of_names(self._asked.velocities))
            places["speed"] = listed(offsets[nq : nq + nu])
        return places

    @staticmethod
    def _ascii(text: str) -> str:
        return text.encode("ascii", "replace").decode().replace("*/", "* /")

    @staticmethod
    def _counted(function: CFunction) -> str:
        counts = ", ".join(f"{count} {of}" for of, count in function.counts.items() if count)
        return f"Every call: {counts or 'no operations'}."

    def _step_declaration(self) -> str:
        sizes = self._rates.arguments
        arrays = [f"double x[{sizes['x']}]", f"const double tau[{max(sizes['tau'], 1)}]"]
        arrays += [f"const double p[{sizes['p']}]"] if sizes["p"] else []
        return f"int {self._name}_step(double t, double h, {', '.join(arrays)})"

    # ---- source ----

    def source(self) -> str:
        called = dict(sorted({k: v for one in self._functions.values() for k, v in one.called.items()}.items()))
        lines = ["/* Written by Linkwork from recorded operations. */", f'#include "{self._name}.h"', ""]
        lines += (
            f"double {function}({', '.join(['double'] * count)}); /* of libm */" for function, count in called.items()
        )
        lines += ["", *(one.text for one in self._functions.values())]
        n, p = self._rates.arguments["x"], ", p" if self._rates.arguments["p"] else ""
        call = f"{self._name}_derivatives"
        return (
            "\n".join(lines)
            + f"""
{self._step_declaration()} {{
  double a[{n}], b[{n}], c[{n}], d[{n}], y[{n}];
  int failed = {call}(t, x, tau{p}, a);
  for (int i = 0; i < {n}; i++) y[i] = x[i] + 0.5 * h * a[i];
  failed += {call}(t + 0.5 * h, y, tau{p}, b);
  for (int i = 0; i < {n}; i++) y[i] = x[i] + 0.5 * h * b[i];
  failed += {call}(t + 0.5 * h, y, tau{p}, c);
  for (int i = 0; i < {n}; i++) y[i] = x[i] + h * c[i];
  failed += {call}(t + h, y, tau{p}, d);
  for (int i = 0; i < {n}; i++) x[i] += h / 6.0 * (a[i] + 2.0 * (b[i] + c[i]) + d[i]);
  return failed;
}}
"""
        )

    # ---- test ----

    def test(self) -> str:
        """Return a program that compares the functions with the core, at the state with and without loads.

        Inverse dynamics takes the accelerations of the state, and has to find loads that give them.
        """
        model, name = self._model, self._name
        sizes = self._rates.arguments
        block = block_at(model, self._state)
        offsets = model.entry_offsets[: sizes["x"] + sizes["tau"]]
        values = self._values(block.reals)
        lines = ["/* Compares the functions with numbers of Linkwork. */", f'#include "{name}.h"', "#include <math.h>"]
        lines += ["#include <stdio.h>", ""]
        lines.append("static int differ(const char *what, int n, const double *found, const double *expected) {")
        lines.append("  double most = 0.0, largest = 1.0;\n  for (int i = 0; i < n; i++) {")
        lines.append("    most = fmax(most, fabs(found[i] - expected[i]));")
        lines.append("    largest = fmax(largest, fabs(expected[i]));\n  }")
        lines.append('  printf("%s: differ by %g of %g\\n", what, most, largest);')
        lines.append("  return !(most <= 1e-9 * largest);\n}\n\nint main(void) {\n  int failed = 0;")
        if sizes["p"]:
            lines.append(f"  static const double p[] = {{{values}}};")
        for load in (0.0, 0.1):
            block.reals[offsets[sizes["x"] :]] = load * (1 + np.arange(sizes["tau"]))
            block.changed()
            block.evaluate(Stage.OUTPUTS)
            arrays = {
                "x": block.reals[offsets[: sizes["x"]]],
                "tau": block.reals[offsets[sizes["x"] :]],
                "udot": block.reals[model.fields["acceleration"].first :][self._asked.driven],
            }
            used = {one for function in self._functions.values() for one in function.arguments} & set(arrays)
            given = (f"{one}[] = {{{_listed(arrays[one])}}}" for one in arrays if one in used)
            lines.append(f"  {{\n    static const double {', '.join(given)};")
            lines.append(f"    const double t = {float(block.reals[model.fields['time'].first])!r};")
            for of, expected in self._expected(block).items():
                size, call = max(expected.size, 1), ", ".join([*self._functions[of].arguments, f"found_{of}"])
                lines.append(
                    f"    static const double {of}[] = {{{_listed(expected)}}};\n    double found_{of}[{size}];"
                )
                lines.append(f"    failed |= {name}_{of}({call}) != 0;")
                lines.append(f'    failed |= differ("{of}", {expected.size}, found_{of}, {of});')
            lines.append("  }")
        return "\n".join([*lines, "  return failed;", "}", ""])

    def _values(self, reals: FloatArray) -> str:
        columns = map(self._model.column, self._asked.parameters)
        return _listed(np.concatenate([np.empty(0), *(reals[c.first : c.first + c.count] for c in columns)]))

    def _expected(self, block: Block) -> dict[str, FloatArray]:
        """Return the numbers of the core, of which the last ones leave the block as it was given."""
        model, n = self._model, self._rates.arguments["x"]
        first, u = model.fields["qdot"].first, model.fields["u"].first

        def rows(names: list[str]) -> OffsetArray:
            columns = map(model.column, names)
            return np.concatenate(
                [np.empty(0, np.uint32), *(offsets_of(slice(c.first, c.first + c.count)) for c in columns)]
            )

        found = {"derivatives": block.reals[first : first + n].copy()}
        if self._asked.outputs:
            found["outputs"] = block.reals[rows(self._asked.outputs)]
        if self._asked.kinematics:
            found["kinematics"] = block.reals[rows(self._asked.kinematics)]
            speeds = offsets_of(slice(u, u + model.numbering.nu))
            found["kinematics_jacobian"] = block.jacobian(rows(self._asked.velocities), speeds).ravel()
        if "jacobian" in self._functions:
            found["jacobian"] = model.block_jacobian(block).ravel()
        if "inverse_dynamics" in self._functions:
            found["inverse_dynamics"] = self._loads(block)
        return found

    def _loads(self, block: Block) -> FloatArray:
        """Return loads for the accelerations that a block has, with those of its joints taken off.

        Loads of independent speeds are those of all speeds of the tree, by the velocity transformation.
        """
        model = self._model
        accelerations = block.reals[model.fields["acceleration"].first :][: model.numbering.nu].copy()
        block.reals[model.fields["tau"].span] = 0.0
        block.changed()
        loads = block.inverse_dynamics(accelerations)
        if len(self._asked.driven) == model.numbering.nu:
            return loads[self._asked.driven]
        names = [model.u_names[one] for one in self._asked.driven]
        return model.velocity_transformation(self._state, names).matrix.T @ loads


def _driven_speeds(model: Model, state: State, asked: bool | str | Iterable[str]) -> list[int]:
    """Return the numbers of the speeds that inverse dynamics drives; none: it is not asked for."""
    if isinstance(asked, bool):
        return list(range(model.numbering.nu)) if asked else []
    names = asked if asked == "auto" else names_of(asked, "inverse_dynamics")
    found = model.velocity_transformation(state, names).independents
    return [model.u_names.index(one) for one in found]


@contextmanager
def _optional(what: str, argument: str) -> Iterator[None]:
    try:
        yield
    except MechanismError as error:
        raise MechanismError(f"there is no {what}: {error}; leave it out by {argument}=False") from None


def _listed(numbers: FloatArray) -> str:
    return ", ".join(map(repr, numbers.tolist())) or "0.0"
