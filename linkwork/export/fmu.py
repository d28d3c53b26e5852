"""Mechanism to FMU."""

import math
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from linkwork._sources import fmu_libraries
from linkwork.errors import ExportError
from linkwork.export import description_fmi2, description_fmi3
from linkwork.export.archive import write_archive
from linkwork.export.content import Content, Experiment, choose_entries, indicator_entries
from linkwork.export.documentation import documentation_files
from linkwork.export.terminals import terminal_files
from linkwork.export.token import instantiation_token

if TYPE_CHECKING:
    from linkwork.description import Mechanism
    from linkwork.system import System

_DESCRIPTIONS: dict[str, Callable[[Content], ElementTree.Element]] = {
    "2.0": description_fmi2.model_description,
    "3.0": description_fmi3.model_description,
}
# FMI 2.0 has names of its own for platforms; FMI 3.0 takes architecture and operating system as they are.
_FMI2_PLATFORMS = {
    "x86_64-linux": "linux64",
    "aarch64-linux": "aarch64-linux",
    "x86_64-windows": "win64",
    "aarch64-windows": "aarch64-windows",
    "x86_64-darwin": "darwin64",
    "aarch64-darwin": "aarch64-darwin",
}


def export_fmu(
    mechanism: "Mechanism | System",
    path: str | os.PathLike[str],
    fmi: str = "3.0",
    outputs: Iterable[str] | None = None,
    *,
    stop_time: float = 10.0,
    step_size: float = 0.01,
    tolerance: float = 1e-7,
) -> Path:
    """Write a mechanism as an FMU for Model Exchange and Co-Simulation.

    Inputs are loads in joints, applied wrenches and commands of transitions; parameters are masses, frames, gravity and
    start values, to be set until initialisation ends. The same mechanism always gives the same bytes.

    Parameters
    ----------
    mechanism
        A mechanism or a system compiled from one.
    path
        Where to write; a file that is there is replaced.
    fmi
        Version of the standard, ``"2.0"`` or ``"3.0"``.
    outputs
        Names or beginnings of names such as ``"A.q"``, ``"coupler.r"``, ``"energy"``. Default: all states and all
        computed quantities.
    stop_time, step_size, tolerance
        The default experiment: s, s, and the tolerance of the integrator.

    Returns
    -------
    Path
        The path of the FMU.

    Raises
    ------
    MechanismError
        If the mechanism cannot be compiled.
    ExportError
        If an output is unknown, the shared library is missing or the file cannot be written.
    """
    if fmi not in _DESCRIPTIONS:
        raise ExportError(f"there is no FMI version {fmi!r} here; choose {' or '.join(map(repr, _DESCRIPTIONS))}")
    experiment = _experiment(stop_time, step_size, tolerance)
    system = _compiled(mechanism)
    content = describe_system(system, outputs, experiment)
    target = Path(path)
    write_archive(target, _files(content, system, fmi))
    return target


def describe_system(system: "System", outputs: Iterable[str] | None, experiment: Experiment) -> Content:
    """Gather what the FMU of a system holds."""
    import linkwork
    from linkwork.variables import list_indicators

    return Content(
        name=system.mechanism.name,
        token=instantiation_token(system.model_bytes),
        entries=choose_entries(system.variables, outputs),
        indicators=indicator_entries(list_indicators(system)),
        has_events=system.sizes.transitions > 0,
        experiment=experiment,
        tool=f"Linkwork {linkwork.__version__}",
    )


def _compiled(mechanism: "Mechanism | System") -> "System":
    from linkwork.compiler.compile import compile
    from linkwork.system import System

    return mechanism if isinstance(mechanism, System) else compile(mechanism)


def _experiment(stop: float, step: float, tolerance: float) -> Experiment:
    for name, value in (("stop_time", stop), ("step_size", step), ("tolerance", tolerance)):
        if not (math.isfinite(value) and value > 0):
            raise ExportError(f"{name} is {value!r}; give a positive number")
    return Experiment(stop=float(stop), step=float(step), tolerance=float(tolerance))


def _files(content: Content, system: "System", fmi: str) -> dict[str, bytes]:
    root = _DESCRIPTIONS[fmi](content)
    ElementTree.indent(root)
    files = {
        "modelDescription.xml": ElementTree.tostring(root, encoding="utf-8", xml_declaration=True) + b"\n",
        "resources/model.lwm": system.model_bytes,
        **documentation_files(content, system),
        **terminal_files(content, system, fmi),
    }
    for platform, library in _libraries().items():
        folder = _FMI2_PLATFORMS.get(platform, platform) if fmi == "2.0" else platform
        files[f"binaries/{folder}/{content.identifier}{library.suffix}"] = library.read_bytes()
    return files


def _libraries() -> dict[str, Path]:
    try:
        return fmu_libraries()
    except FileNotFoundError as error:
        raise ExportError(f"no FMU without a shared library: {error}") from error
