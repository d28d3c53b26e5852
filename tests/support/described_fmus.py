"""FMUs that only describe themselves: a model description in a zip, without a library."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable
from pathlib import Path
from xml.sax.saxutils import quoteattr

UNITS = {
    "m": 'm="1"',
    "mm": 'm="1" factor="0.001"',
    "N": 'kg="1" m="1" s="-2"',
    "rad": 'rad="1"',
    "deg": 'rad="1" factor="0.017453292519943295"',
    "K": 'K="1"',
    "degC": 'K="1" offset="273.15"',
}
VARIABILITY = {"parameter": "tunable", "input": "continuous", "output": "continuous", "local": "continuous"}


def variable(name: str, causality: str, type: str = "Real", **attributes: str) -> dict[str, str]:
    """A variable of FMI 2.0; attributes of its type, such as start, unit, min, declaredType."""
    return {"name": name, "causality": causality, "type": type, **attributes}


def write_fmu(
    path: Path, variables: Iterable[dict[str, str]], *, types: str = "", units: dict[str, str] = UNITS, **abilities: str
) -> Path:
    """An FMU of FMI 2.0; `types` is the content of TypeDefinitions, `abilities` are attributes of CoSimulation."""
    lines, outputs = [], []
    for number, one in enumerate(variables):
        one = dict(one)
        name, causality, kind = (one.pop(key) for key in ("name", "causality", "type"))
        variability = one.pop("variability", VARIABILITY[causality] if kind == "Real" else "discrete")
        if causality == "parameter":
            variability = "tunable"
        attributes = " ".join(f"{key}={quoteattr(value)}" for key, value in one.items())
        lines.append(
            f'<ScalarVariable name={quoteattr(name)} valueReference="{number}" causality="{causality}" '
            f'variability="{variability}"><{kind} {attributes}/></ScalarVariable>'
        )
        if causality == "output":
            outputs.append(f'<Unknown index="{number + 1}"/>')
    definitions = "".join(f'<Unit name="{name}"><BaseUnit {text}/></Unit>' for name, text in units.items())
    flags = " ".join(f'{key}="{value}"' for key, value in abilities.items())
    text = f"""<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="2.0" modelName="{path.stem}" guid="{{{path.stem}}}">
<CoSimulation modelIdentifier="{path.stem}" {flags}/>
<UnitDefinitions>{definitions}</UnitDefinitions>
{f"<TypeDefinitions>{types}</TypeDefinitions>" if types else ""}
<ModelVariables>{"".join(lines)}</ModelVariables>
<ModelStructure>{f"<Outputs>{''.join(outputs)}</Outputs>" if outputs else ""}</ModelStructure>
</fmiModelDescription>"""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("modelDescription.xml", text)
    return path
