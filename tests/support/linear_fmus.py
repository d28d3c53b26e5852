"""FMUs of tests/cosim/linear.c: linear maps of any size up to four, in either version of FMI."""

from __future__ import annotations

import functools
import subprocess
import tempfile
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from .checkout import TOP

N = 4
PLACES = {"A": 0, "B": 16, "C": 32, "D": 48, "x0": 64, "u": 68, "y": 72, "discrete": 80}
PLATFORM = {"2.0": "linux64", "3.0": "x86_64-linux"}
#: Factor and offset to K.
TEMPERATURES = {"K": (1.0, 0.0), "degC": (1.0, 273.15), "degF": (5 / 9, 459.67 * 5 / 9)}
_made = tempfile.TemporaryDirectory(prefix="linear_")


@dataclass
class Block:
    """x' = A x + B u, or at each step x+ = A x + B u where it is discrete; y = C x + D u.

    `told` is the declared direct feedthrough: "exact", that each output depends on "all" inputs, or "nothing".
    """

    A: Any
    B: Any
    C: Any
    D: Any
    x0: Any
    u0: Any
    version: str = "2.0"
    discrete: bool = False
    interpolates: bool = False
    directional: bool = False
    arrays: bool = False
    told: str = "exact"
    u_units: list[str] = field(default_factory=list)
    y_units: list[str] = field(default_factory=list)

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Of x, u and y."""
        return len(self.x0), len(self.u0), len(self.C)

    def parameters(self) -> dict[str, Any]:
        """What makes the FMU this block."""
        values: dict[str, Any] = {"discrete": float(self.discrete)}
        for name in "ABCD":
            matrix = np.asarray(getattr(self, name), dtype=float)
            values |= {f"{name}[{i + 1},{j + 1}]": float(matrix[i, j]) for i, j in np.ndindex(matrix.shape)}
        values |= {f"x0[{i + 1}]": float(x) for i, x in enumerate(self.x0)}
        if self.arrays:
            return values | {"u": tuple(map(float, self.u0))}
        return values | {f"u[{i + 1}]": float(u) for i, u in enumerate(self.u0)}

    def write(self, path: Path) -> Path:
        """Write the FMU."""
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("modelDescription.xml", self._description())
            archive.write(library(self.version), f"binaries/{PLATFORM[self.version]}/linear.so")
        return path

    def _description(self) -> str:
        two = self.version == "2.0"
        rows, inputs, outputs = [], [], []

        def variable(name: str, place: int, causality: str, unit: str = "", size: int = 0) -> int:
            start = ' start="0"' if causality != "output" else ""
            start = start.replace("0", " ".join("0" * size)) if size else start
            reference = 1000 + 10 * place + size if size else place
            way = "tunable" if causality == "parameter" else "continuous"
            head = f'name="{name}" valueReference="{reference}" causality="{causality}" variability="{way}"'
            kind = start + (f' unit="{unit}"' if unit else "")
            if two:
                rows.append(f"<ScalarVariable {head}><Real{kind}/></ScalarVariable>")
            else:
                dimension = f'<Dimension start="{size}"/>' if size else ""
                rows.append(f"<Float64 {head}{kind}>{dimension}</Float64>")
            return len(rows) if two else reference

        for name, shape in {"A": (N, N), "B": (N, N), "C": (N, N), "D": (N, N), "x0": (N,), "discrete": ()}.items():
            for k, index in enumerate(np.ndindex(shape)):
                places = ",".join(str(i + 1) for i in index)
                variable(f"{name}[{places}]" if places else name, PLACES[name] + k, "parameter")
        for name, count, units, keys in (
            ("u", self.sizes[1], self.u_units, inputs),
            ("y", self.sizes[2], self.y_units, outputs),
        ):
            causality = "input" if name == "u" else "output"
            if self.arrays:
                keys.append(variable(name, PLACES[name], causality, size=count))
            for k in range(0 if self.arrays else count):
                keys.append(variable(f"{name}[{k + 1}]", PLACES[name] + k, causality, units[k] if units else ""))
        return self._text(two, rows, "".join(self._structure(two, inputs, outputs)))

    def _structure(self, two: bool, inputs: list[int], outputs: list[int]) -> list[str]:
        entries = []
        for i, key in enumerate(outputs):
            row = np.any(self.D, axis=0) if self.arrays else np.asarray(self.D)[i]
            named = [
                one for j, one in enumerate(inputs) if self.told == "all" or (np.any(row) if self.arrays else row[j])
            ]
            told = "" if self.told == "nothing" else f' dependencies="{" ".join(map(str, named))}"'
            entries.append(f'<Unknown index="{key}"{told}/>' if two else f'<Output valueReference="{key}"{told}/>')
        return [f"<Outputs>{''.join(entries)}</Outputs>"] if two and entries else entries

    def _text(self, two: bool, rows: list[str], structure: str) -> str:
        root = 'guid="linear"' if two else 'instantiationToken="linear"'
        able = {
            "canGetAndSetFMUstate" if two else "canGetAndSetFMUState": True,
            "canHandleVariableCommunicationStepSize": not self.discrete,
            "providesDirectionalDerivative" if two else "providesDirectionalDerivatives": self.directional,
            **({"canInterpolateInputs": self.interpolates} if two else {}),
        }
        abilities = " ".join(f'{name}="{str(value).lower()}"' for name, value in able.items())
        units = "".join(
            f'<Unit name="{name}"><BaseUnit K="1" factor="{factor!r}" offset="{offset!r}"/></Unit>'
            for name, (factor, offset) in TEMPERATURES.items()
        )
        return (
            '<?xml version="1.0" encoding="UTF-8"?>\n'
            f'<fmiModelDescription fmiVersion="{self.version}" modelName="linear" {root}>'
            f'<CoSimulation modelIdentifier="linear" {abilities}/><UnitDefinitions>{units}</UnitDefinitions>'
            f"<ModelVariables>{''.join(rows)}</ModelVariables>"
            f"<ModelStructure>{structure}</ModelStructure></fmiModelDescription>"
        )


@functools.cache
def library(version: str) -> Path:
    """Compile it once for each version."""
    path = Path(_made.name) / f"linear{version[0]}.so"
    options = ["-std=c11", "-O1", "-ffp-contract=off", "-shared", "-fPIC", f"-DFMI={version[0]}"]
    subprocess.run(["gcc", *options, TOP / "tests" / "cosim" / "linear.c", "-o", path], check=True)
    return path
