"""SSP archives written by hand, as other tools write them."""

from __future__ import annotations

import zipfile
from pathlib import Path

SPACES = " ".join(
    f'xmlns:{prefix}="http://ssp-standard.org/SSP1/SystemStructure{name}"'
    for prefix, name in {
        "ssd": "Description",
        "ssc": "Common",
        "ssv": "ParameterValues",
        "ssm": "ParameterMapping",
        "ssb": "SignalDictionary",
    }.items()
)
UNITS = """<ssd:Units>
<ssc:Unit name="rad"><ssc:BaseUnit rad="1"/></ssc:Unit>
<ssc:Unit name="deg"><ssc:BaseUnit rad="1" factor="0.017453292519943295"/></ssc:Unit>
<ssc:Unit name="m"><ssc:BaseUnit m="1"/></ssc:Unit>
<ssc:Unit name="mm"><ssc:BaseUnit m="1" factor="0.001"/></ssc:Unit>
</ssd:Units>"""


def description(system: str, rest: str = UNITS, version: str = "1.0") -> str:
    """A system structure description; `system` is the content of its System."""
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<ssd:SystemStructureDescription {SPACES} version="{version}" '
        f'name="foreign"><ssd:System name="root">{system}</ssd:System>{rest}</ssd:SystemStructureDescription>'
    )


def values(parameters: str, name: str = "set", rest: str = "", version: str = "1.0") -> str:
    """A parameter set."""
    return (
        f'<ssv:ParameterSet {SPACES} version="{version}" name="{name}"><ssv:Parameters>{parameters}</ssv:Parameters>'
        f"{rest}</ssv:ParameterSet>"
    )


def real(name: str, value: float, unit: str = "") -> str:
    """A parameter that is a number."""
    of = f' unit="{unit}"' if unit else ""
    return f'<ssv:Parameter name="{name}"><ssv:Real value="{value}"{of}/></ssv:Parameter>'


def connector(name: str, kind: str, unit: str = "") -> str:
    """A connector that is a number."""
    of = f' unit="{unit}"' if unit else ""
    return f'<ssd:Connector name="{name}" kind="{kind}"><ssc:Real{of}/></ssd:Connector>'


def component(name: str, source: str, connectors: str = "", rest: str = "", more: str = "") -> str:
    """A component; `more` are attributes."""
    inside = f"<ssd:Connectors>{connectors}</ssd:Connectors>" if connectors else ""
    return f'<ssd:Component name="{name}" source="{source}" {more}>{inside}{rest}</ssd:Component>'


def connection(start: str, end: str, inside: str = "", more: str = "") -> str:
    """A connection; its ends are ``element/connector`` or a connector of the system."""
    text = ""
    for side, name in (("start", start), ("end", end)):
        element, slash, port = name.rpartition("/")
        text += f'{side}Element="{element}" ' if slash else ""
        text += f'{side}Connector="{port}" '
    return f"<ssd:Connection {text} {more}>{inside}</ssd:Connection>"


def linear(factor: float, offset: float = 0.0) -> str:
    """A linear transformation."""
    return f'<ssc:LinearTransformation factor="{factor}" offset="{offset}"/>'


def write(path: Path, files: dict[str, str | bytes]) -> Path:
    """The archive."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path
