"""Runs to compare with that an FMU carries by the layered standard FMI-LS-REF: its manifest, experiments and tables."""

from __future__ import annotations

import csv
import posixpath
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise, product
from urllib.parse import unquote, urlsplit
from xml.etree import ElementTree

from linkwork.fmu.check.fmu import Fmu
from linkwork.fmu.description import Description, Number, as_number

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
    """Return the numbers of variables by name; aliases count, and elements of arrays with their index.

    Raises
    ------
    Unusable
        If the FMU has no such number.
    """
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
