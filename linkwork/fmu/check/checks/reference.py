"""Runs to compare with that an FMU carries by the layered standard FMI-LS-REF."""

from __future__ import annotations

import csv
import math
import posixpath
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise, product
from typing import Any
from urllib.parse import unquote, urlsplit
from xml.etree import ElementTree

from linkwork.fmu.caller.instance import FmuInstance
from linkwork.fmu.check.fmu import Fmu
from linkwork.fmu.check.instance import has_cvode, runnable, running, start, step
from linkwork.fmu.check.registry import check
from linkwork.fmu.check.report import Finding, NotApplicable, error, note, warning
from linkwork.fmu.check.sampling import takes_any_step
from linkwork.fmu.description import REALS, Description, Number, as_number

_MOST = 5  # variables that are reported
_PARTS = 10  # of a communication step while an input changes
_SAME = 1e-9  # times, relative
_SHARPER, _SHARPEST = 1e-2, 1e-10  # the tolerance of Model Exchange, in the stated one, and its least
_RETRIES = 1000  # of a step that ends early
_NAMES = {"ME": "ModelExchange", "CS": "CoSimulation"}

Samples = dict[float, list[list[float]]]  # rows by time: one, or those before and after an event


@check("related-files", "the files of FMI-LS-REF are those that its manifest lists, with roles of the draft")
def related_files(fmu: Fmu) -> Iterator[Finding]:
    """Look at the manifest and at the files that it names."""
    _needs_manifest(fmu)
    try:
        root = manifest(fmu)
    except Unusable as problem:
        yield error(str(problem))
        return
    if root.tag != "fmiReferences":
        yield error(f"{MANIFEST} begins with {root.tag!r}, not fmiReferences")
    for name, value in (("fmi-ls-name", NAME), ("fmi-ls-version", None), ("fmi-ls-description", None)):
        given = root.get(f"{{{NAMESPACE}}}{name}")
        if given is None or (value is not None and given != value):
            yield error(f"{MANIFEST} has fmi-ls:{name} {given!r}" + (f", not {value!r}" if value else "; add it"))
    for one in root.findall("Related"):
        source, role = one.get("source"), one.get("role", "")
        if source is None:
            yield error(f"{MANIFEST} has an entry without a source; add it")
        elif (path := place(MANIFEST, source)) is not None and not fmu.has(path):
            yield warning(f"{MANIFEST} names the file {source!r}, which there is not")
        if not ROLE.fullmatch(role):
            yield error(f"{MANIFEST} gives {source!r} the role {role!r}, which FMI-LS-REF does not have")


@check("reference-run", "runs agree with the results that the FMU carries by FMI-LS-REF", dynamic=True)
def reference_run(fmu: Fmu) -> Iterator[Finding]:
    """Run each experiment in each interface and compare."""
    _needs_manifest(fmu)
    kinds = runnable(fmu, "CS", "ME")
    compared = False
    try:
        for one in experiments(fmu):
            if isinstance(one, Unusable):
                yield warning(str(one))
                continue
            compared = True
            yield from _texts(one)
            for kind in kinds:
                yield from _compare(fmu, kind, one)
    except Unusable as problem:
        raise NotApplicable(str(problem)) from None
    if not compared:
        raise NotApplicable("it carries no results in CSV")


def _texts(one: Experiment) -> Iterator[Finding]:
    if one.inputs is not None and one.inputs.texts:
        yield note(f"the run {one.name!r} is repeated without its inputs of strings: {', '.join(one.inputs.texts)}")
    if one.results.texts:
        yield note(f"in the run {one.name!r} strings are not compared: {', '.join(one.results.texts)}")


def _needs_manifest(fmu: Fmu) -> None:
    if not fmu.has(MANIFEST):
        raise NotApplicable(f"no {MANIFEST}")


def _compare(fmu: Fmu, kind: str, one: Experiment) -> Iterator[Finding]:
    try:
        results = numbers_of(fmu.description, list(one.results.columns))
        inputs = numbers_of(fmu.description, list(one.inputs.columns) if one.inputs else [])
    except Unusable as problem:
        yield warning(f"the run {one.name!r} does not fit: {problem}")
        return
    if kind == "ME" and any(number.variable.dimensions for number in inputs.values()):
        yield note(f"ME: the run {one.name!r} has inputs that are arrays, which FMPy cannot set")
        return
    if kind == "ME" and not has_cvode():
        yield note(f"ME: the run {one.name!r} is not repeated, because FMPy has no CVODE for this platform")
        return
    run = _co_simulation if kind == "CS" else _model_exchange
    samples = run(fmu, one, inputs, list(results.values()))
    found = list(_deviations(one, samples))
    level = error if one.stated else warning
    for text in found[:_MOST]:
        yield level(f"{kind}: in the run {one.name!r} {text}")
    if len(found) > _MOST:
        yield level(f"{kind}: in the run {one.name!r} {len(found) - _MOST} more variables deviate")


def _deviations(one: Experiment, samples: Samples) -> Iterator[str]:
    """Describe for each variable the first time at which it deviates."""
    rows: dict[float, list[int]] = {}
    for i, t in enumerate(one.results.times):
        rows.setdefault(t, []).append(i)
    for k, (name, values) in enumerate(one.results.columns.items()):
        allowed = one.atol + one.rtol * max(map(abs, values))
        for t, numbers in rows.items():
            pairs = [(row[k], values[i]) for row in samples.get(t, ()) for i in numbers]
            if not pairs:
                continue
            value, wanted = min(pairs, key=lambda pair: _distance(*pair))
            if _distance(value, wanted) > allowed:
                by = f"by {_distance(value, wanted):.1e}, allowed {allowed:.1e}"
                yield f"{name} is {value:.9g} at t = {t:g} and deviates {by}, from {wanted:.9g}"
                break


def _distance(a: float, b: float) -> float:
    return abs(a - b) if math.isfinite(a) and math.isfinite(b) else math.inf


# ---- Co-Simulation ----------------------------------------------------------------------------------


def _co_simulation(fmu: Fmu, one: Experiment, inputs: Mapping[str, Number], results: Sequence[Number]) -> Samples:
    """Step from row to row; an input that changes is set to its value in the middle of each part of a step."""
    times = sorted({t for t in one.results.times if t <= one.stop * (1 + _SAME)})
    varies = one.inputs is not None and any(min(v) < max(v) for v in one.inputs.columns.values())
    parts = _PARTS if varies and takes_any_step(fmu.description) else 1
    samples: Samples = {}
    with running(fmu, "CS", started=False) as instance:
        instance.time = one.start
        instance.enter_initialization(one.start, one.stop, one.tolerance)
        _set(instance, inputs, one.inputs, one.start)
        start(instance)
        if times[0] == one.start:
            samples[one.start] = [_get(instance, results)]
        for before, goal in pairwise(sorted({one.start, *times})):
            count = parts * max(1, math.ceil((goal - before) / one.step * (1 - _SAME)))
            for i in range(count):
                a, b = (before + (goal - before) * k / count for k in (i, i + 1))
                _set(instance, inputs, one.inputs, (a + b) / 2 if parts > 1 else a)
                _reach(instance, goal if i + 1 == count else b)
            if parts > 1:
                _set(instance, inputs, one.inputs, goal, discrete=False)
            samples[goal] = [_get(instance, results)]
    return samples


def _reach(instance: FmuInstance, goal: float) -> None:
    for _ in range(_RETRIES):
        if goal - instance.time <= _SAME * max(1.0, abs(goal)) * 1e-3:
            return
        step(instance, goal - instance.time)
    raise Unusable(f"steps end early {_RETRIES} times before t = {goal:g}")


def _set(
    instance: FmuInstance, inputs: Mapping[str, Number], table: Table | None, t: float, *, discrete: bool = True
) -> None:
    """Set the inputs to their values at a time; elements of arrays that have no column keep theirs."""
    if table is None:
        return
    whole: dict[int, tuple[Number, list[float]]] = {}
    for name, number in inputs.items():
        variable = number.variable
        continuous = variable.type in REALS and variable.variability == "continuous"
        if continuous or discrete:
            reference = variable.reference or 0
            if reference not in whole:
                whole[reference] = (number, instance.get([variable]) if variable.dimensions else [0.0])
            whole[reference][1][number.index] = _value(table, name, t, continuous)
    for number, values in whole.values():
        instance.set([number.variable], values)


def _value(table: Table, name: str, t: float, continuous: bool) -> float:
    """Linear between rows, or the value of the last row."""
    times, values = table.times, table.columns[name]
    after = bisect_right(times, t)
    if after == 0 or after == len(times) or not continuous:
        return values[max(0, after - 1)]
    share = (t - times[after - 1]) / (times[after] - times[after - 1])
    return values[after - 1] + share * (values[after] - values[after - 1])


def _get(instance: FmuInstance, numbers: Sequence[Number]) -> list[float]:
    read: dict[int, list[float]] = {}
    for number in numbers:
        if (reference := number.variable.reference or 0) not in read:
            read[reference] = instance.get([number.variable])
    return [read[number.variable.reference or 0][number.index] for number in numbers]


# ---- Model Exchange ---------------------------------------------------------------------------------


def _model_exchange(fmu: Fmu, one: Experiment, inputs: Mapping[str, Number], results: Sequence[Number]) -> Samples:
    """Run it with the solver of FMPy; results are compared at those times that are multiples of the interval."""
    import numpy as np
    from fmpy import simulate_fmu

    found = simulate_fmu(
        str(fmu.folder),
        validate=False,
        fmi_type=_NAMES["ME"],
        start_time=one.start,
        stop_time=min(one.stop, one.results.times[-1]),
        relative_tolerance=max(_SHARPER * (one.tolerance or 1e-6), _SHARPEST),
        output_interval=_interval(one),
        input=_signals(one, inputs),
        output=list({number.variable.name: None for number in results}),
    )
    columns = [_column(found, number) for number in results]
    times = np.asarray(found["time"], dtype=float).tolist()
    samples: Samples = {}
    for t in set(one.results.times):
        near = _SAME * max(1.0, abs(t))
        rows = range(bisect_left(times, t - near), bisect_right(times, t + near))
        if rows:
            samples[t] = [[float(column[i]) for column in columns] for i in rows]
    return samples


def _column(found: Any, number: Number) -> Any:
    values = found[number.variable.name]
    return values.reshape(len(values), -1)[:, number.index]


def _interval(one: Experiment) -> float:
    """Return the shortest distance of two rows if the others are multiples of it, else the step."""
    times = sorted({one.start, *one.results.times})
    gap = min(b - a for a, b in pairwise(times))
    multiples = [(t - one.start) / gap for t in times]
    return gap if all(abs(n - round(n)) < 1e-6 for n in multiples) else one.step


def _signals(one: Experiment, inputs: Mapping[str, Number]) -> Any:
    import numpy as np

    if one.inputs is None:
        return None
    types = [(number.variable.name, _NUMPY.get(number.variable.type, "f8")) for number in inputs.values()]
    signals = np.zeros(len(one.inputs.times), dtype=[("time", "f8"), *types])
    signals["time"] = one.inputs.times
    for name, number in inputs.items():
        signals[number.variable.name] = one.inputs.columns[name]
    return signals


_NUMPY = {"Boolean": "?", "Integer": "i4", "Int32": "i4", "Int64": "i8", "UInt32": "u4", "Enumeration": "i4"}


NAME = "org.fmi-standard.fmi-ls-ref"
MANIFEST = f"extra/{NAME}/fmi-ls-manifest.xml"
NAMESPACE = "http://fmi-standard.org/fmi-ls-manifest"
ROLE = re.compile(
    "document|requirement|specification|model|parameter|system|testcase|result|method|rationale|report|request|delivery"
    "|configuration|signature|meta-data|other|experiment(/(smoke-test|validation|uncertainty-analysis))?"
    "|serialized-state(/.*)?"
)
# The format of experiments has a name of its own since it left the layered standard.
_EXPERIMENTS = ("application/x-ma-hs-experiments", "application/x-ma-ls-experiments")
_COMPARISON = "{org.linkwork}comparison"
_FACTOR = 1e3  # where nothing is stated: by which results may differ, in tolerances
_TYPES = ("Real", "Float64", "Float32", "Boolean", "Integer", "Int32", "Int64", "UInt32", "Enumeration")
_TRUTHS = {"true": 1.0, "false": 0.0}


class Unusable(Exception):
    """A run to compare with that cannot be read or does not fit the FMU; the text names the file and the reason."""


@dataclass(frozen=True)
class Table:
    """Columns by the name of the variable, at ascending times; a time may occur twice, before and after an event.

    `texts` are the names of columns of strings, which have no numbers.
    """

    times: list[float]
    columns: dict[str, list[float]]
    texts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Experiment:
    """A run to compare with.

    Attributes
    ----------
    name
        Its own name, or that of the file of results.
    start, stop, step, tolerance
        As its file has them, else those of the default experiment.
    inputs, results
        Tables; None: all inputs keep their start values.
    rtol, atol
        A run agrees if no value differs by more than ``atol + rtol * max(abs(column))``.
    stated
        Whether the FMU states these numbers.
    """

    name: str
    start: float
    stop: float
    step: float
    tolerance: float | None
    inputs: Table | None
    results: Table
    rtol: float
    atol: float
    stated: bool


def manifest(fmu: Fmu) -> ElementTree.Element:
    """Return the manifest.

    Raises
    ------
    Unusable
        If it is no XML.
    """
    return _xml(fmu, MANIFEST)


def related(root: ElementTree.Element) -> Iterator[tuple[str, str, str | None]]:
    """Role, MIME type and path in the archive of each related file; the path is None of those elsewhere."""
    for one in root.findall("Related"):
        role, mime = one.get("role", ""), one.get("type", "application/octet-stream")
        yield role, mime, place(MANIFEST, one.get("source", ""))


def place(file: str, source: str) -> str | None:
    """Return the path in the archive of a source that a file there names; None: it is not in the archive."""
    parts = urlsplit(source)
    if parts.scheme or parts.netloc or not parts.path or parts.path.startswith("/"):
        return None
    found = posixpath.normpath(posixpath.join(posixpath.dirname(file), unquote(parts.path)))
    return None if found.startswith("../") else found


def experiments(fmu: Fmu) -> Iterator[Experiment | Unusable]:
    """Read all runs: experiments with results in CSV, and CSV files of results that no experiment names."""
    listed = list(related(manifest(fmu)))
    used: set[str] = set()
    for role, mime, path in listed:
        if role.split("/")[0] == "experiment" and mime in _EXPERIMENTS and path is not None:
            yield from _of_file(fmu, path, used)
    for role, mime, path in listed:
        if role == "result" and mime == "text/csv" and path is not None and path not in used:
            yield _or_problem(partial(_of_results, fmu, path))


def _of_file(fmu: Fmu, path: str, used: set[str]) -> Iterator[Experiment | Unusable]:
    try:
        root = _xml(fmu, path)
    except Unusable as problem:
        yield problem
        return
    for one in root.findall("Experiment"):
        results = one.find("References")
        if results is None or results.get("type", "text/csv") != "text/csv":
            continue
        used.add(place(path, results.get("source", "")) or "")
        yield _or_problem(partial(_experiment, fmu, path, one))


def _or_problem(read: Callable[[], Experiment]) -> Experiment | Unusable:
    try:
        return read()
    except Unusable as problem:
        return problem


def _experiment(fmu: Fmu, path: str, one: ElementTree.Element) -> Experiment:
    name = one.get("name", path)
    if one.find("Parameters") is not None:
        raise Unusable(f"{path}: the parameters of experiment {name!r} are in a file, which this check does not read")
    stimuli, references = one.find("Stimuli"), one.find("References")
    assert references is not None
    if stimuli is not None and stimuli.get("type", "text/csv") != "text/csv":
        raise Unusable(f"{path}: the inputs of experiment {name!r} are no CSV file, which this check does not read")
    inputs = None if stimuli is None else _table(fmu, path, stimuli)
    results = _table(fmu, path, references)
    stated = next(references.iter(_COMPARISON), None)
    rtol = atol = None
    if stated is not None:
        rtol, atol = as_number(stated.get("rtol")), as_number(stated.get("atol"))
    given = {key: as_number(one.get(key)) for key in ("startTime", "stopTime", "stepSize", "tolerance")}
    return _complete(fmu.description, name, given, inputs, results, (rtol, atol))


def _of_results(fmu: Fmu, path: str) -> Experiment:
    return _complete(fmu.description, path, {}, None, _read(fmu, path), (None, None))


def _complete(
    one: Description,
    name: str,
    given: dict[str, float | None],
    inputs: Table | None,
    results: Table,
    limits: tuple[float | None, float | None],
) -> Experiment:
    """Fill in the default experiment."""
    numbers = {key: value if given.get(key) is None else given[key] for key, value in one.experiment.items()}
    start = numbers["startTime"] or 0.0
    stop = results.times[-1] if numbers["stopTime"] is None else numbers["stopTime"]
    gaps = [b - a for a, b in pairwise(results.times) if b > a]
    if not gaps or results.times[0] < start or start >= stop:
        raise Unusable(f"the results of {name!r} need two times from the start of the run at t = {start:g} on")
    step = numbers["stepSize"] if numbers["stepSize"] and numbers["stepSize"] > 0 else min(gaps)
    rtol, atol = limits
    stated = rtol is not None
    rtol = _FACTOR * (numbers["tolerance"] or 1e-6) if rtol is None else rtol
    atol = 0.01 * rtol if atol is None else atol
    return Experiment(name, start, stop, step, numbers["tolerance"], inputs, results, rtol, atol, stated)


def _table(fmu: Fmu, file: str, element: ElementTree.Element) -> Table:
    path = place(file, element.get("source", ""))
    if path is None:
        raise Unusable(f"{file}: {element.get('source')!r} is no file of the archive")
    return _read(fmu, path)


def _read(fmu: Fmu, path: str) -> Table:
    if not fmu.has(path):
        raise Unusable(f"there is no file {path}")
    with fmu.file(path).open(encoding="utf-8-sig", errors="replace", newline="") as file:
        rows = [row for row in csv.reader(file, skipinitialspace=True) if row]
    if len(rows) < 3 or any(len(row) != len(rows[0]) for row in rows):
        raise Unusable(f"{path} needs a header and at least two rows with as many cells as the header")
    strings = {v.name for v in fmu.description.variables if v.type == "String"}
    strings |= {alias.name for v in fmu.description.variables if v.type == "String" for alias in v.aliases}
    header, cells = rows[0], list(zip(*rows[1:], strict=True))
    columns: dict[str, list[float]] = {}
    try:
        times = [_number(cell) for cell in cells[0]]  # whatever its name
        for name, column in zip(header[1:], cells[1:], strict=True):
            if name not in strings:
                columns |= _columns(name, column)
    except ValueError as problem:
        raise Unusable(f"{path} has a cell that is no number: {problem}") from None
    if any(b < a for a, b in pairwise(times)):
        raise Unusable(f"the times in {path} do not ascend")
    return Table(times, columns, tuple(name for name in header[1:] if name in strings))


def _columns(name: str, cells: Sequence[str]) -> dict[str, list[float]]:
    """The column of a scalar, or those of the elements of an array, whose cells have all of them."""
    rows = [[_number(part) for part in cell.split()] or [_number(cell)] for cell in cells]
    count = len(rows[0])
    if any(len(row) != count for row in rows):
        raise ValueError(f"{name!r} has cells with {count} and with other counts of numbers")
    if count == 1:
        return {name: [row[0] for row in rows]}
    return {f"{name}[{k + 1}]": [row[k] for row in rows] for k in range(count)}


def _number(cell: str) -> float:
    truth = _TRUTHS.get(cell.strip().lower())
    return float(cell) if truth is None else truth


def _xml(fmu: Fmu, path: str) -> ElementTree.Element:
    if not fmu.has(path):
        raise Unusable(f"there is no file {path}")
    try:
        return fmu.xml(path)
    except ElementTree.ParseError as problem:
        raise Unusable(f"{path} is no XML that can be read: {problem}") from None


def numbers_of(one: Description, names: list[str]) -> dict[str, Number]:
    """Return the numbers of variables by name; aliases count, and elements of arrays with their index."""
    scalars = [v for v in one.variables if v.reference is not None and v.type in _TYPES]
    known = {number.name: number for number in one.numbers(scalars)}
    for variable in scalars:
        known |= {alias.name: known[variable.name] for alias in variable.aliases if variable.name in known}
        if len(shape := variable.dimensions) > 1:
            places = product(*(range(1, size + 1) for size in shape))
            elements = [f"{variable.name}[{','.join(map(str, place))}]" for place in places]
            known |= {name: known[f"{variable.name}[{k}]"] for k, name in enumerate(elements, start=1)}
    missing = [name for name in names if name not in known]
    if missing:
        raise Unusable(f"the FMU has no number {missing[0]!r}")
    return {name: known[name] for name in names}
