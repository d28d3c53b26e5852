"""An importer of FMUs with DAE mode: it calls the functions of FMI alone, and IDA integrates the residuals."""

from __future__ import annotations

import xml.etree.ElementTree as ET
import zipfile
from ctypes import c_bool, c_double, c_uint32
from pathlib import Path
from typing import Any

import numpy as np

FREE = 1.0  # tolerance of integrals of multipliers, whose errors do not matter
MANIFEST = "extra/org.fmi-standard.fmi-ls-dae/fmi-ls-manifest.xml"


def integers(text: str | None) -> list[int]:
    return [int(word) for word in (text or "").split()]


class DaeImporter:
    """An instance in Model Exchange, by default in DAE mode.

    Attributes
    ----------
    states, rates, algebraic, residuals
        Value references, those of the states in the order of their derivatives.
    dependencies
        Of each residual, as the manifest has them.
    """

    def __init__(self, path: Path, folder: Path, *, dae: bool = True) -> None:
        from fmpy.fmi3 import FMU3Model

        with zipfile.ZipFile(path) as archive:
            archive.extractall(folder)
        root, manifest = ET.parse(folder / "modelDescription.xml").getroot(), ET.parse(folder / MANIFEST).getroot()
        exchange = root.find("ModelExchange")
        assert exchange is not None
        variables = {int(one.attrib["valueReference"]): one.attrib for one in root.find("ModelVariables") or ()}
        self.names = {one["name"]: reference for reference, one in variables.items()}
        self.rates = [
            int(one.attrib["valueReference"]) for one in root.findall("ModelStructure/ContinuousStateDerivative")
        ]
        self.states = [int(variables[one]["derivative"]) for one in self.rates]
        self.enabled = int(manifest.find("EnableDAEParameter").attrib["valueReference"])  # type: ignore[union-attr]
        self.algebraic = [int(one.attrib["valueReference"]) for one in manifest.iter("AlgebraicVariable")]
        entries = manifest.findall("ModelStructure/Residual")
        self.residuals = [int(one.attrib["valueReference"]) for one in entries]
        self.dependencies = [integers(one.get("dependencies")) for one in entries]
        self.fmu = FMU3Model(
            guid=root.attrib["instantiationToken"],
            unzipDirectory=str(folder),
            modelIdentifier=exchange.attrib["modelIdentifier"],
            instanceName="one",
        )
        self.fmu.instantiate()
        if dae:
            self.fmu.enterConfigurationMode()
            self.fmu.fmi3SetBoolean(self.fmu.component, (c_uint32 * 1)(self.enabled), 1, (c_bool * 1)(True), 1)
            self.fmu.exitConfigurationMode()

    def start(self) -> None:
        self.fmu.enterInitializationMode()
        self.fmu.exitInitializationMode()
        self.fmu.updateDiscreteStates()
        self.fmu.enterContinuousTimeMode()

    def free(self) -> None:
        self.fmu.freeInstance()

    def get(self, references: list[int]) -> np.ndarray:
        return np.array(self.fmu.getFloat64(references))

    def set(self, references: list[int], values: Any) -> None:
        self.fmu.setFloat64(references, list(values))

    def residual(self, t: float, x: np.ndarray, unknowns: np.ndarray) -> np.ndarray:
        """F at states, and at their rates and the algebraic variables."""
        self.fmu.setTime(t)
        self.fmu.setContinuousStates((c_double * len(x))(*x), len(x))
        self.set([*self.rates, *self.algebraic], unknowns)
        return self.get(self.residuals)

    def colours(self) -> list[list[int]]:
        """Groups of columns of [x; z] that no residual has two of; the rate of a state is in its column."""
        columns = [
            {row for row, knowns in enumerate(self.dependencies) if known & set(knowns)}
            for known in [
                *({x, rate} for x, rate in zip(self.states, self.rates, strict=True)),
                *({z} for z in self.algebraic),
            ]
        ]
        groups: list[tuple[list[int], set[int]]] = []
        for k, rows in enumerate(columns):
            for members, taken in groups:
                if not taken & rows:
                    members.append(k)
                    taken |= rows
                    break
            else:
                groups.append(([k], set(rows)))
        self.columns = columns
        return [members for members, _ in groups]

    def jacobian(self, cj: float, groups: list[list[int]]) -> np.ndarray:
        """dF/dx + cj dF/dx' and cj dF/dz at the point of the last residual, a call for each group."""
        n, ns = len(self.residuals), len(self.states)
        matrix = np.zeros((n, n))
        for group in groups:
            knowns, seed = [], []
            for k in group:
                if k < ns:
                    knowns += [self.states[k], self.rates[k]]
                    seed += [1.0, cj]
                else:
                    knowns.append(self.algebraic[k - ns])
                    seed.append(cj)
            found = self.fmu.getDirectionalDerivative(self.residuals, knowns, seed)
            for k in group:
                rows = sorted(self.columns[k])
                matrix[rows, k] = np.array(found)[rows]
        return matrix

    def integrate(self, times: np.ndarray, tolerance: float) -> np.ndarray:
        """States at times, by IDA in [x; Z] with z = Z', which are equations of index 1."""
        from sksundae.ida import IDA

        ns, groups = len(self.states), self.colours()

        def residual(t: float, y: np.ndarray, ydot: np.ndarray, out: np.ndarray) -> None:
            out[:] = self.residual(t, y[:ns], ydot)

        def jacobian(t: float, y: np.ndarray, ydot: np.ndarray, res: np.ndarray, cj: float, out: np.ndarray) -> None:
            self.residual(t, y[:ns], ydot)
            out[:] = self.jacobian(cj, groups)

        y0 = np.concatenate([self.get(self.states), np.zeros(len(self.algebraic))])
        ydot0 = self.get([*self.rates, *self.algebraic])
        solver = IDA(
            residual,
            rtol=tolerance,
            atol=np.where(np.arange(len(y0)) < ns, tolerance, FREE),
            jacfn=jacobian,
            max_num_steps=100_000,
        )
        result = solver.solve(times, y0, ydot0)
        assert result.success, result.message
        return np.array(result.y)[:, :ns]
