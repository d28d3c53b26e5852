"""FMUs of tests/cosim/sized.c: arrays of a size that a structural parameter gives, and clocks."""

from __future__ import annotations

import functools
import subprocess
import tempfile
import zipfile
from pathlib import Path

from .checkout import TOP

_SOURCE = TOP / "tests" / "cosim" / "sized.c"
_made = tempfile.TemporaryDirectory(prefix="sized_")
_SIZE = '<Dimension valueReference="1"/>'
KINDS = {"ME": "ModelExchange", "CS": "CoSimulation", "SE": "ScheduledExecution"}


@functools.cache
def _library(*defects: str) -> bytes:
    path = Path(_made.name) / f"sized{'_'.join(defects)}.so"
    flags = [*(f"-D{one}" for one in defects), "-std=c11", "-O1", "-shared", "-fPIC"]
    subprocess.run(["gcc", *flags, _SOURCE, "-o", path, "-lm"], check=True)
    return path.read_bytes()


def sized(path: Path, *kinds: str, abilities: str = "", clock: str = "", defects: tuple[str, ...] = ()) -> Path:
    """Write one for some interfaces, by default Co-Simulation; `clock` are attributes of the clock `tick`.

    `defects` are macros of the C file: `NO_CONFIGURATION`, `KEEPS_SIZE` or `KEEPS_STATES`.
    """
    interfaces = "".join(
        f'<{tag} modelIdentifier="sized" {abilities}/>' for kind, tag in KINDS.items() if kind in (kinds or ["CS"])
    )
    clocked = (
        f'<Clock name="tick" valueReference="9" {clock}/>'
        '<Float64 name="held" valueReference="10" causality="output" variability="discrete" clocks="9"/>'
        if clock
        else ""
    )
    text = f"""<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="3.0" modelName="sized"
  instantiationToken="{{00000000-0000-0000-0000-000000515ed0}}">
{interfaces}
<DefaultExperiment startTime="0" stopTime="1" stepSize="0.1" tolerance="1e-6"/>
<ModelVariables>
<Float64 name="time" valueReference="0" causality="independent"/>
<UInt64 name="n" valueReference="1" causality="structuralParameter" variability="fixed" start="2" min="1" max="50"/>
<Float64 name="scale" valueReference="2" causality="structuralParameter" variability="fixed" start="1"/>
<Float64 name="a" valueReference="3" causality="parameter" variability="fixed" start="2 3">{_SIZE}</Float64>
<Float64 name="x0" valueReference="4" causality="parameter" variability="fixed" start="0 0">{_SIZE}</Float64>
<Float64 name="u" valueReference="5" causality="input" start="0 0">{_SIZE}</Float64>
<Float64 name="y" valueReference="6" causality="output">{_SIZE}</Float64>
<Float64 name="x" valueReference="7">{_SIZE}</Float64>
<Float64 name="dx" valueReference="8" derivative="7">{_SIZE}</Float64>
{clocked}
</ModelVariables>
<ModelStructure>
<Output valueReference="6" dependencies="7"/>
{'<Output valueReference="10"/>' if clock else ""}
<ContinuousStateDerivative valueReference="8" dependencies="5"/>
<InitialUnknown valueReference="6"/>
<InitialUnknown valueReference="7"/>
<InitialUnknown valueReference="8"/>
</ModelStructure>
</fmiModelDescription>
"""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("modelDescription.xml", text)
        archive.writestr("documentation/index.html", "<html><body>an FMU for tests</body></html>")
        archive.writestr("binaries/x86_64-linux/sized.so", _library(*defects))
    return path
