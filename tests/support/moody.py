"""The FMU of tests/sweep/moody.c, which crashes, hangs or fails by its parameter `mood`."""

from __future__ import annotations

import subprocess
import zipfile
from pathlib import Path

from .checkout import TOP

FINE, ABORTS, HANGS, FAILS, EXITS, ABORTS_ONCE = range(6)
COUNT, ONCE = "MOODY_COUNT", "MOODY_ONCE"  # of the environment

_DESCRIPTION = """<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="2.0" modelName="moody" guid="{moody}">
<CoSimulation modelIdentifier="moody" canHandleVariableCommunicationStepSize="true"/>
<DefaultExperiment startTime="0" stopTime="1" stepSize="0.01"/>
<ModelVariables>
<ScalarVariable name="x" valueReference="0" causality="output" initial="exact"><Real start="1"/></ScalarVariable>
<ScalarVariable name="k" valueReference="1" causality="parameter" variability="fixed">
<Real start="1"/></ScalarVariable>
<ScalarVariable name="mood" valueReference="2" causality="parameter" variability="fixed">
<Real start="0"/></ScalarVariable>
</ModelVariables>
<ModelStructure><Outputs><Unknown index="1" dependencies=""/></Outputs></ModelStructure>
</fmiModelDescription>
"""


def moody(folder: Path) -> Path:
    """Build the FMU."""
    library = folder / "moody.so"
    source = TOP / "tests" / "sweep" / "moody.c"
    subprocess.run(["cc", "-std=gnu11", "-O1", "-shared", "-fPIC", source, "-o", library], check=True)
    path = folder / "moody.fmu"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("modelDescription.xml", _DESCRIPTION)
        archive.write(library, "binaries/linux64/moody.so")
    return path
