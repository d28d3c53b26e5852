"""FMUs of the oscillator in tests/check/oscillator.c: sound, or with one defect."""

from __future__ import annotations

import subprocess
import zipfile
from math import cos
from pathlib import Path

from .checkout import TOP

TOKEN = "{12345678-1234-1234-1234-123456789abc}"
_SOURCE = TOP / "tests" / "check" / "oscillator.c"

# Name, causality, variability, initial, start, position of the state whose derivative it is.
_VARIABLES = [
    ("time", "independent", "continuous", None, None, None),
    ("x", "local", "continuous", "exact", "1", None),
    ("v", "local", "continuous", "exact", "0", None),
    ("der(x)", "local", "continuous", "calculated", None, 1),
    ("der(v)", "local", "continuous", "calculated", None, 2),
    ("y", "output", "continuous", "calculated", None, None),
    ("u", "input", "continuous", None, "0", None),
    ("k", "parameter", "tunable", "exact", "4", None),
    ("z", "local", "continuous", "calculated", None, None),
]
_DEPENDS = {"der(x)": ["v"], "der(v)": ["x", "u"], "y": ["x"], "z": ["x"]}
_POSITION = {row[0]: i for i, row in enumerate(_VARIABLES)}


def oscillator(folder: Path, version: str, *defects: str) -> Path:
    """Build the FMU; it may take steps of any length, keep states and differentiate."""
    number = version[0]
    library = folder / f"oscillator{number}.so"
    flags = ["-std=c11", "-O1", "-shared", "-fPIC", f"-DFMI={number}", *(f"-D{one}" for one in defects)]
    subprocess.run(["gcc", *flags, _SOURCE, "-o", library, "-lm"], check=True)
    path = folder / f"oscillator{number}.fmu"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("modelDescription.xml", description(version, *defects))
        archive.writestr("documentation/index.html", "<html></html>")
        for name, content in reference().items():
            archive.writestr(f"extra/org.fmi-standard.fmi-ls-ref/{name}", content)
        archive.write(library, f"binaries/{'linux64' if number == '2' else 'x86_64-linux'}/oscillator.so")
    return path


def reference() -> dict[str, str]:
    """Its reference results, which are those of the closed form, by FMI-LS-REF."""
    named = 'fmi-ls:fmi-ls-name="org.fmi-standard.fmi-ls-ref" fmi-ls:fmi-ls-version="1.0.0-alpha.1"'
    space = 'xmlns:fmi-ls="http://fmi-standard.org/fmi-ls-manifest"'
    manifest = (
        f'<fmiReferences {space} {named} fmi-ls:fmi-ls-description="related files">'
        '<Related type="text/csv" source="y.csv" role="result"/></fmiReferences>'
    )
    rows = "".join(f"{k / 10},{2 * cos(2 * k / 10)!r}\n" for k in range(8))
    return {"fmi-ls-manifest.xml": manifest, "y.csv": f"time,y\n{rows}"}


def description(version: str, *defects: str) -> str:
    """Its model description; `DECLARES_2`, `NO_MODEL_EXCHANGE`, `NOMINAL` and `FIXED` are defects, or forms, of it."""
    order = 2 if "DECLARES_2" in defects else 1
    exchange = "NO_MODEL_EXCHANGE" not in defects
    two = version == "2.0"
    state, plural = ("FMUstate", "") if two else ("FMUState", "s")
    able = (
        f'modelIdentifier="oscillator" canGetAndSet{state}="true" canSerialize{state}="true" '
        f'providesDirectionalDerivative{plural}="true"' + ("" if two else ' providesAdjointDerivatives="true"')
    )
    steps = (
        'canHandleVariableCommunicationStepSize="true" maxOutputDerivativeOrder="'
        + f'{order}" '
        + (
            'canInterpolateInputs="true"'
            if two
            else 'providesIntermediateUpdate="true" canReturnEarlyAfterIntermediateUpdate="true" hasEventMode="true" '
            'providesPerElementDependencies="true"'
        )
    )
    if "FIXED" in defects:
        fixed = "" if two else 'fixedInternalStepSize="0.01" '
        steps = steps.replace('canHandleVariableCommunicationStepSize="true" ', fixed)
    root = f'guid="{TOKEN}" numberOfEventIndicators="1"' if two else f'instantiationToken="{TOKEN}"'
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<fmiModelDescription fmiVersion="{version}" modelName="oscillator" {root} '
        'generationDateAndTime="2000-01-01T00:00:00Z" variableNamingConvention="structured">\n'
        f"{f'<ModelExchange {able}/>' if exchange else ''}\n<CoSimulation {able} {steps}/>\n"
        '<DefaultExperiment startTime="0" stopTime="1" tolerance="1e-6" stepSize="0.01"/>\n'
        f"<ModelVariables>\n{''.join(_variable(row, two, defects) for row in _VARIABLES)}</ModelVariables>\n"
        f"<ModelStructure>\n{_structure(two)}</ModelStructure>\n</fmiModelDescription>\n"
    )


def _variable(
    row: tuple[str, str, str, str | None, str | None, int | None], two: bool, defects: tuple[str, ...]
) -> str:
    name, causality, variability, initial, start, state = row
    common = f'name="{name}" valueReference="{_POSITION[name]}" causality="{causality}" variability="{variability}"'
    if initial:
        common += f' initial="{initial}"'
    own = f' start="{start}"' if start else ""
    if name == "y" and "NOMINAL" in defects:
        own += ' nominal="1e-11"'
    if state is not None:
        own += f' derivative="{state + two}"'
    return f"<ScalarVariable {common}><Real{own}/></ScalarVariable>\n" if two else f"<Float64 {common}{own}/>\n"


def _structure(two: bool) -> str:
    groups = [("Output", ["y"]), ("ContinuousStateDerivative", ["der(x)", "der(v)"])]
    groups += [("InitialUnknown", ["der(x)", "der(v)", "y"])] + [("EventIndicator", ["z"])] * (not two)
    if not two:
        return "".join(_unknown(tag, name, False) for tag, names in groups for name in names)
    named = zip(("Outputs", "Derivatives", "InitialUnknowns"), groups, strict=True)
    return "".join(
        f"<{group}>{''.join(_unknown('Unknown', n, True) for n in names)}</{group}>\n" for group, (_, names) in named
    )


def _unknown(tag: str, name: str, two: bool) -> str:
    reference = f'index="{_POSITION[name] + 1}"' if two else f'valueReference="{_POSITION[name]}"'
    return f'<{tag} {reference} dependencies="{" ".join(str(_POSITION[one] + two) for one in _DEPENDS[name])}"/>\n'
