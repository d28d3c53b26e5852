"""The reference run that an FMU carries: inputs and results that an importer compares its own run with."""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork._util.names import suggest
from linkwork.errors import ExportError, ExportNameError, LinkworkError, SolverError
from linkwork.fmu.export.content import Content, VariableGroup

if TYPE_CHECKING:
    from linkwork._util.checks import FloatArray
    from linkwork.model.model import Model
    from linkwork.simulation.result import Result

MOST_COLUMNS = 32
MOST_STEPS = 100  # of the default experiment, more for short ones:
SHORT_STEPS, SHORT_TIME = 5000, 1.0  # so many to reach so many seconds
MOST_INTERVALS = 20  # between rows
MOST_STATES = 1000  # beyond which a run by default would take longer than the rest of the export
SOLVER_STEPS = 12_000  # of the solver, times states
FEWEST_SOLVER_STEPS = 20
FACTOR = 1e3  # by which a run may differ from the reference, in tolerances: errors of steps add up
LARGEST_RTOL = 0.1
SHARPER = 0.1  # the tolerance of the reference, in that of the FMU
COARSER = 10.0  # the tolerance of the run that shows how much its errors grow
SHARE = 0.1  # of the allowed difference that those may take
FLOOR = 0.01  # atol in rtol: of quantities that are zero but for rounding


@dataclass(frozen=True)
class Reference:
    """Inputs and results at the same times."""

    t: FloatArray  # times (n,), s, ascending
    # inputs, results: columns (n,) by the name of the FMU's variable, with the index of an element of an array
    inputs: dict[str, FloatArray]
    results: dict[str, FloatArray]
    # rtol, atol: A run agrees if no value differs by more than ``atol + rtol * max(abs(column))``
    rtol: float
    atol: float
    origin: str  # the source of the results, in words


@dataclass(frozen=True)
class NoReference:
    """The reason why an FMU carries no reference run."""

    reason: str


def reference_run(
    # content, system: what the FMU holds, and its mechanism
    content: Content,
    system: Model,
    # None: a run from the default start, if possible. True: likewise, and an error if it is not possible. False: none.
    # Otherwise a result of `lw.simulate`, columns by name with `time` among them, or a CSV file of them.
    requested: bool | Result | str | os.PathLike[str] | Mapping[str, Any] | None,
    rtol: float | None,  # the stated relative tolerance; None: a thousand times that of the default experiment
) -> Reference | NoReference | None:
    """Return the reference run of an FMU, or the reason why there is none; None: it is switched off."""
    if requested is False:
        if rtol is not None:
            raise ExportError("reference_rtol goes with a reference; leave it out, or reference=False")
        return None
    limit = _limit(content, rtol)
    if requested is None or requested is True:
        found = _default_run(content, system, limit)
        if requested is True and isinstance(found, NoReference):
            raise ExportError(f"there is no reference run: {found.reason}; leave out reference=True")
        return found
    from linkwork.simulation.result import Result

    if isinstance(requested, Result):
        return _of_result(content, system, requested, limit)
    if isinstance(requested, Mapping):
        return _of_columns(content, requested, limit, "columns that were given")
    path = Path(requested)
    return _of_columns(content, _read(path), limit, f"the file {path.name}")


def _limit(content: Content, rtol: float | None) -> float:
    if rtol is None:
        return min(round_to_digits(FACTOR * content.experiment.tolerance), LARGEST_RTOL)
    if not (math.isfinite(rtol) and 0 < rtol < 1):
        raise ExportError(f"reference_rtol is {rtol!r}; give a number between 0 and 1")
    return float(rtol)


def round_to_digits(value: float) -> float:
    """Return a number with six digits, as people read it."""
    return float(f"{value:.6g}")


# ---- by default -------------------------------------------------------------------------------------


def _default_run(content: Content, system: Model, rtol: float) -> Reference | NoReference:
    """Simulate from the default start, as far as a fixed number of steps of the solver reaches."""
    sizes = system.sizes
    states = sizes.states
    if states > MOST_STATES:
        return NoReference(f"the mechanism has {states} states; by default those with at most {MOST_STATES} carry one")
    columns = _chosen(content, system)
    if not columns:
        return NoReference("the FMU has no continuous outputs and no states")
    steps = max(FEWEST_SOLVER_STEPS, SOLVER_STEPS // max(1, states))
    tolerance = content.experiment.tolerance
    times = _times(content)
    first = _simulated(system, times, SHARPER * tolerance, steps)
    if isinstance(first, NoReference):
        return first
    count = _finite_rows(first, columns)
    if count < 2:
        return NoReference(f"{steps} steps of the solver do not reach t = {times[1]:.6g} s")
    reference = Reference(
        first.t[:count],
        {},
        {name: _plain(first[column])[:count] for name, column in columns.items()},
        rtol,
        round_to_digits(FLOOR * rtol),
        "a simulation with Linkwork, of which the FMU was no part",
    )
    second = _simulated(system, reference.t, COARSER * tolerance, steps)
    count = 0 if isinstance(second, NoReference) else _agreeing_rows(reference, second, columns)
    if count < 2:
        return NoReference("errors of the solver grow so fast that runs at different tolerances do not agree")
    return _first_rows(reference, count)


def _times(content: Content) -> FloatArray:
    """Multiples of the step of the default experiment."""
    experiment = content.experiment
    most = max(MOST_STEPS, min(SHORT_STEPS, round(SHORT_TIME / experiment.step)))
    n = max(1, min(most, math.floor(experiment.stop / experiment.step * (1 + 1e-12))))
    stride = math.ceil(n / MOST_INTERVALS)
    return np.multiply(experiment.step, np.arange(0, n + 1, stride), dtype=np.float64)


def _simulated(system: Model, times: FloatArray, rtol: float, steps: int) -> Result | NoReference:
    """Simulate; a run that ends early counts as far as it came."""
    from linkwork.simulation.simulate import simulate
    from linkwork.solvers.thresholds import SMALLEST_RTOL

    tolerance = min(max(rtol, SMALLEST_RTOL), 1e-3)
    try:
        return simulate(system, float(times[-1]), t_eval=times, rtol=tolerance, max_steps=steps, progress=False)
    except SolverError as problem:
        partial: Result | None = getattr(problem, "result", None)
        return NoReference(str(problem)) if partial is None or not len(partial) else partial
    except LinkworkError as problem:
        return NoReference(str(problem))


def _finite_rows(result: Result, columns: Mapping[str, str]) -> int:
    """How many of the first rows are finite."""
    good = np.isfinite(result.t)
    for column in columns.values():
        good &= np.isfinite(_plain(result[column]))
    return _leading(good)


def _agreeing_rows(reference: Reference, other: Result, columns: Mapping[str, str]) -> int:
    """How many of the first rows another run confirms, well within the tolerance."""
    n = min(len(reference.t), len(other.t))
    good = other.t[:n] == reference.t[:n]
    for name, column in columns.items():
        values = reference.results[name]
        allowed = SHARE * (reference.atol + reference.rtol * np.abs(values).max())
        good &= np.abs(_plain(other[column])[:n] - values[:n]) <= allowed
    return _leading(good)


def _leading(good: FloatArray | Any) -> int:
    return len(good) if good.all() else int(np.argmin(good))


def _first_rows(reference: Reference, count: int) -> Reference:
    results = {name: values[:count] for name, values in reference.results.items()}
    return replace(reference, t=reference.t[:count], results=results)


def _plain(values: Any) -> FloatArray:
    return np.asarray(values, dtype=float)


# ---- given ------------------------------------------------------------------------------------------


def _of_result(content: Content, system: Model, result: Result, rtol: float) -> Reference:
    """Take a result of the same mechanism, at multiples of the step of the default experiment."""
    if result.model.model_bytes != system.model_bytes:
        raise ExportError("the reference is a result of another mechanism; simulate the one that is exported")
    if result.t[0] != 0.0 or len(result) < 2 or result.t[-1] <= 0.0:
        raise ExportError("the reference must begin at t = 0 s and go forward")
    start = system.assemble()
    if not np.allclose(result.y[0], np.concatenate([start.q, start.u]), rtol=1e-9, atol=1e-9):
        raise ExportError("the reference begins in another state than the FMU; leave out state= in the simulation")
    step = content.experiment.step
    n = math.floor(float(result.t[-1]) / step * (1 + 1e-12))
    if n < 1:
        raise ExportError(f"the reference ends at t = {result.t[-1]:g} s, within the first step of {step:g} s")
    rows = result.resample(np.minimum(step * np.arange(n + 1), result.t[-1]))
    known = {number: (name, start) for name, number, start in _numbers(content, "input")}
    inputs = {}
    for variable in system.variables:
        if variable.kind == "input" and variable.reference in known:
            name, start_value = known[variable.reference]
            values = _plain(rows[variable.name])
            if (values != start_value).any():
                inputs[name] = values
    results = {name: _plain(rows[column]) for name, column in _chosen(content, system).items()}
    return _checked(
        Reference(rows.t, inputs, results, rtol, round_to_digits(FLOOR * rtol), "a simulation with Linkwork")
    )


def _of_columns(content: Content, columns: Mapping[str, Any], rtol: float, origin: str) -> Reference:
    """Take columns by the names of the FMU's variables: its inputs, and what they are compared with."""
    if "time" not in columns:
        raise ExportError(f"the reference, {origin}, has no column 'time'")
    try:
        found = {name: _plain(values) for name, values in columns.items()}
    except (TypeError, ValueError) as problem:
        raise ExportError(f"the reference, {origin}, has values that are no numbers: {problem}") from None
    t = found.pop("time")
    inputs = {name for name, *_ in _numbers(content, "input")}
    known = {name for name, *_ in _numbers(content, "output", "local")}
    for name, values in found.items():
        if name not in inputs and name not in known:
            raise ExportNameError(
                f"the reference has a column {name!r}, and the FMU no such input, output or state: "
                f"{suggest(name, [*inputs, *known])}"
            )
        if values.shape != t.shape:
            raise ExportError(f"the reference has {values.size} values of {name!r} at {t.size} times")
    given = {name: values for name, values in found.items() if name in inputs}
    results = {name: values for name, values in found.items() if name not in inputs}
    return _checked(Reference(t, given, results, rtol, round_to_digits(FLOOR * rtol), origin))


def _checked(reference: Reference) -> Reference:
    t = reference.t
    if t.ndim != 1 or t.size < 2 or not np.isfinite(t).all() or (np.diff(t) < 0).any() or t[0] == t[-1]:
        raise ExportError("the reference needs at least two times, ascending and finite")
    if not reference.results:
        raise ExportError("the reference has no results: give columns of outputs or states of the FMU as well")
    for name, values in (reference.inputs | reference.results).items():
        if not np.isfinite(values).all():
            raise ExportError(f"the reference {name!r} is not finite at t = {t[np.argmin(np.isfinite(values))]:g} s")
    return reference


def _read(path: Path) -> dict[str, list[Any]]:
    """Return the columns of a CSV file; True and False are numbers."""
    truths = {"true": "1", "false": "0"}
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = [row for row in csv.reader(file, skipinitialspace=True) if row]
    except FileNotFoundError as problem:
        raise ExportError(f"there is no file {path} for the reference") from problem
    except (OSError, UnicodeDecodeError, csv.Error) as problem:
        raise ExportError(f"the reference {path} cannot be read: {problem}") from problem
    if not rows:
        raise ExportError(f"the reference {path} is empty")
    names = rows[0]
    for number, row in enumerate(rows[1:], start=2):
        if len(row) != len(names):
            raise ExportError(f"the reference {path}: row {number} has {len(row)} cells, and the header {len(names)}")
    return {name: [truths.get(row[i].lower(), row[i]) for row in rows[1:]] for i, name in enumerate(names)}


# ---- variables --------------------------------------------------------------------------------------


def _chosen(content: Content, system: Model) -> dict[str, str]:
    """Columns of a result by the name of the FMU's variable: outputs, half of them states; without outputs, states."""
    outputs = list(_numbers(content, "output", real=True))
    found = outputs or list(_numbers(content, "local", real=True))
    names = {v.reference: v for v in system.variables if v.kind in ("state", "derivative", "output")}
    usable = [(name, names[number]) for name, number, _ in found if number in names]
    states = [name for name, variable in usable if variable.kind == "state"]
    others = [name for name, variable in usable if variable.kind != "state"]
    n = max(MOST_COLUMNS // 2, MOST_COLUMNS - len(others))
    kept = _spread(states, n)
    kept += _spread(others, MOST_COLUMNS - len(kept))
    column = {name: variable.name for name, variable in usable}
    return {name: column[name] for name in column if name in set(kept)}


def _numbers(content: Content, *causalities: Any, real: bool = False) -> Iterator[tuple[str, int, float]]:
    """Name, place in the block and start value of each number of the variables with one of these parts."""
    for row in content.rows:
        for i in row.form.which(*causalities):
            yield from _numbers_of(content, row, i, real)


def _numbers_of(content: Content, row: VariableGroup, i: int, real: bool) -> Iterator[tuple[str, int, float]]:
    entry, first = row.form.entries[i], row.offsets[i]
    variable = entry.variable
    if real and (variable.type != "real" or variable.discrete or variable.kind == "indicator"):
        return
    name = variable.name.format(*row.labels)
    for k in range(entry.size):
        yield (f"{name}[{k + 1}]" if entry.count else name), first + k, float(content.block[first + k])


def _spread(items: Sequence[str], most: int) -> list[str]:
    """At most so many, evenly chosen."""
    n = len(items)
    return list(items) if n <= most else [items[i * n // most] for i in range(most)]
