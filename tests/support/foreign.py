"""FMUs of tests/cosim/foreign.c, in either version of FMI, with abilities and names as a test wants them."""

from __future__ import annotations

import functools
import subprocess
import tempfile
import zipfile
from pathlib import Path
from xml.sax.saxutils import quoteattr

from .checkout import TOP

TOKEN = "{00000000-0000-0000-0000-00000000f0f0}"
MODES = (
    *("sound", "warns", "discards", "fails", "dies", "crashes", "exits", "hangs", "ends", "gives_nan", "no_init"),
    *("no_exit", "no_end", "pends", "short_only", "refuses", "events"),
)
MODE = {name: number for number, name in enumerate(MODES)}
INTEGERS = [f"{sign}Int{bits}" for bits in (8, 16, 32, 64) for sign in ("", "U")]
TYPES = {name: 100 + 10 * k for k, name in enumerate(["Float64", "Float32", *INTEGERS, "Boolean", "String"])}
TYPES2 = {"Real": 100, "Integer": 160, "Boolean": 200, "String": 210}
PLATFORM = {"2": "linux64", "3": "x86_64-linux"}
_SOURCE = TOP / "tests" / "cosim" / "foreign.c"
_made = tempfile.TemporaryDirectory(prefix="foreign_")

# Name, reference, causality, start, unit.
REALS = [
    ("u", 2, "input", "0", "V"),
    ("y", 3, "output", None, "degC"),
    ("z", 4, "output", None, "V"),
    ("x", 1, "local", None, ""),
    ("g", 5, "parameter", "1", ""),
    ("at", 6, "parameter", "0.5", ""),
    ("x0", 7, "parameter", "0", ""),
    ("every", 8, "parameter", "0.25", ""),
    ("number", 9, "output", None, ""),
]
UNITS = {
    "V": {"kg": 1, "m": 2, "s": -3, "A": -1},
    "degC": {"K": 1, "offset": 273.15},
    "K": {"K": 1},
    "degF": {"K": 1, "factor": 5 / 9, "offset": 273.15 - 32 * 5 / 9},
}


@functools.cache
def library(number: str, *flags: str) -> Path:
    """Compile it once for each version and flags."""
    path = Path(_made.name) / f"foreign{'_'.join([number, *flags])}.so"
    options = ["-std=c11", "-O1", "-shared", "-fPIC", f"-DFMI={number}", *(f"-D{one}" for one in flags)]
    subprocess.run(["gcc", *options, _SOURCE, "-o", path, "-lm"], check=True)
    return path


def foreign(
    path: Path,
    version: str = "2.0",
    *flags: str,
    abilities: str = "",
    units: dict[str, str] | None = None,
    experiment: str = "",
    token: str = TOKEN,
    depends: bool = True,
    resource: str | None = None,
    platform: str | None = None,
    binary: bytes | None = None,
) -> Path:
    """Write one; `abilities` are attributes of CoSimulation, `units` those of reals that are to be others."""
    text = description(version, abilities, units or {}, experiment, token, depends)
    number = version[0]
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("modelDescription.xml", text)
        place = f"binaries/{platform or PLATFORM[number]}/foreign.so"
        archive.writestr(place, library(number, *flags).read_bytes() if binary is None else binary)
        if resource is not None:
            archive.writestr("resources/number.txt", resource)
    return path


def rewritten(sound: Path, path: Path, old: str, new: str) -> Path:
    """Write a copy with another model description."""
    with zipfile.ZipFile(sound) as source, zipfile.ZipFile(path, "w") as target:
        for name in source.namelist():
            data = source.read(name)
            if name == "modelDescription.xml":
                text = data.decode()
                assert old in text
                data = text.replace(old, new).encode()
            target.writestr(name, data)
    return path


def description(
    version: str, abilities: str = "", units: dict[str, str] | None = None, experiment: str = "", token: str = TOKEN,
    depends: bool = True,
) -> str:  # fmt: skip
    """The model description."""
    two = version == "2.0"
    rows = [*_reals(two, units or {}), *(_twos() if two else _threes())]
    outputs = [k for k, row in enumerate(rows, start=1) if 'causality="output"' in row]
    root = f'guid="{token}"' if two else f'instantiationToken="{token}"'
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<fmiModelDescription fmiVersion="{version}" modelName="foreign" {root}>\n'
        f'<CoSimulation modelIdentifier="foreign" {abilities}/>\n'
        f"<UnitDefinitions>{''.join(_unit(name, base) for name, base in UNITS.items())}</UnitDefinitions>\n"
        f"<TypeDefinitions>{_enumeration(two)}</TypeDefinitions>\n"
        f"{f'<DefaultExperiment {experiment}/>' if experiment else ''}\n"
        f"<ModelVariables>\n{''.join(rows)}</ModelVariables>\n"
        f"<ModelStructure>{_structure(two, outputs, rows, depends)}</ModelStructure>\n</fmiModelDescription>\n"
    )


def _unit(name: str, base: dict[str, float]) -> str:
    return f'<Unit name="{name}"><BaseUnit {" ".join(f"{key}={quoteattr(str(v))}" for key, v in base.items())}/></Unit>'


def _enumeration(two: bool) -> str:
    items = '<Item name="low" value="1"/><Item name="high" value="5"/>'
    if two:
        return f'<SimpleType name="Level"><Enumeration>{items}</Enumeration></SimpleType>'
    return f'<EnumerationType name="Level">{items}</EnumerationType>'


def _reals(two: bool, units: dict[str, str]) -> list[str]:
    rows = []
    for name, reference, causality, start, usual in REALS:
        unit = units.get(name, usual)
        own = "".join(f' {key}="{value}"' for key, value in (("start", start), ("unit", unit)) if value)
        more = ' min="-1000" max="1000"' if name == "x0" else ""
        variability = ' variability="tunable"' if causality == "parameter" else ""
        rows.append(_row(two, "Real" if two else "Float64", name, reference, f'"{causality}"{variability}', own + more))
    rows.append(_row(two, "Integer" if two else "Int32", "mode", 300, '"parameter" variability="fixed"', ' start="0"'))
    return rows


def _row(two: bool, kind: str, name: str, reference: int, causality: str, own: str, inner: str = "") -> str:
    common = f'name="{name}" valueReference="{reference}" causality={causality}'
    if two:
        return f"<ScalarVariable {common}><{kind}{own}/></ScalarVariable>\n"
    return f"<{kind} {common}{own}>{inner}</{kind}>\n"


def _twos() -> list[str]:
    rows = []
    for kind, base in TYPES2.items():
        start = {"Boolean": "false", "String": "é"}.get(kind, "3")
        way = "" if kind == "Real" else ' variability="discrete"'
        rows.append(_row(True, kind, f"{kind}_in", base, f'"input"{way}', f' start="{start}"'))
        rows.append(_row(True, kind, f"{kind}_out", base + 1, f'"output"{way}', ""))
    rows.append(_row(True, "Enumeration", "level", 164, '"input" variability="discrete"',
                     ' declaredType="Level" start="1"'))  # fmt: skip
    return rows


def _threes() -> list[str]:
    rows = []
    for kind, base in TYPES.items():
        start = {"Boolean": "false", "String": "é"}.get(kind, "3")
        three = "<Dimension start='3'/>"
        for k, (label, dimension) in enumerate((("", ""), ("s", three))):
            texts = f"<Start value='{start}'/>" * (3 if k else 1)
            own, inner = (f' start="{" ".join([start] * (3 if k else 1))}"', dimension)
            if kind == "String":
                own, inner = "", dimension + texts
            rows.append(_row(False, kind, f"{kind}{label}_in", base + 2 * k, '"input"', own, inner))
            rows.append(_row(False, kind, f"{kind}{label}_out", base + 2 * k + 1, '"output"', "", dimension))
    rows.append(_row(False, "Enumeration", "level", 184, '"input"', ' declaredType="Level" start="1"'))
    return rows


def _structure(two: bool, outputs: list[int], rows: list[str], depends: bool) -> str:
    entries = []
    for k in outputs:
        row = rows[k - 1]
        name = row.split('name="')[1].split('"')[0]
        source = {"y": None, "number": None, "z": "u"}.get(name, name.replace("_out", "_in"))
        at = next((i for i, one in enumerate(rows, start=1) if f'name="{source}"' in one), None)
        if two:
            told = f' dependencies="{at or ""}"' if depends else ""
            entries.append(f'<Unknown index="{k}"{told}/>')
        else:
            told = f' dependencies="{_reference(rows[at - 1]) if at else ""}"' if depends else ""
            entries.append(f'<Output valueReference="{_reference(row)}"{told}/>')
    text = "".join(entries)
    return f"<Outputs>{text}</Outputs>" if two else text


def _reference(row: str) -> str:
    return row.split('valueReference="')[1].split('"')[0]
