"""Mechanism to FMU."""

import math
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from linkwork._util.files import FAST, SMALL, write_archive
from linkwork._util.keywords import checks_keywords
from linkwork._util.progress import ProgressOption
from linkwork.errors import ExportError, ExportNameError
from linkwork.fmu.export import model_description_fmi2 as description_fmi2
from linkwork.fmu.export import model_description_fmi3 as description_fmi3
from linkwork.fmu.export.content import Content, Experiment
from linkwork.fmu.export.documentation import documentation_files
from linkwork.fmu.export.instantiation_token import instantiation_token
from linkwork.fmu.export.interface_file import interface_bytes
from linkwork.fmu.export.libraries import libraries
from linkwork.fmu.export.selection import Choice, choose_inputs, choose_outputs, known_references, resolve_dependencies
from linkwork.fmu.export.settings import SETTING_STARTS, setting_entities
from linkwork.fmu.export.sources import c_files, source_files
from linkwork.fmu.export.terminals import terminal_files
from linkwork.fmu.export.xml_parts import in_chunks

if TYPE_CHECKING:
    from linkwork.mechanism import Mechanism
    from linkwork.model.model import Model

_DESCRIPTIONS: dict[str, Callable[[Content, str], Iterator[str]]] = {
    "2.0": description_fmi2.model_description,
    "3.0": description_fmi3.model_description,
}
_MANY = 5000  # entities, from which on speed counts more than size
# FMI 2.0 has names of its own for platforms; FMI 3.0 takes architecture and operating system as they are.
_FMI2_PLATFORMS = {
    "x86_64-linux": "linux64",
    "aarch64-linux": "aarch64-linux",
    "x86_64-windows": "win64",
    "aarch64-windows": "aarch64-windows",
    "x86_64-darwin": "darwin64",
    "aarch64-darwin": "aarch64-darwin",
}


@checks_keywords
def export_fmu(
    mechanism: "Mechanism | Model",
    path: str | os.PathLike[str],
    fmi: str = "3.0",
    outputs: Iterable[str] | None = None,
    *,
    inputs: Iterable[str] | None = None,
    states: str = "full",
    independents: Sequence[str] | None = None,
    arrays: bool = False,
    stop_time: float = 10.0,
    step_size: float = 0.01,
    tolerance: float = 1e-7,
    platforms: Iterable[str] | None = None,
    sources: bool = False,
    page: bool = False,
    progress: ProgressOption = None,
) -> Path:
    """Write a mechanism as an FMU for Model Exchange and Co-Simulation.

    Inputs are loads in joints, applied wrenches, inputs of actuators, additions to motions and commands of transitions;
    parameters are masses, frames, gravity and start values, to be set until initialisation ends. The same mechanism
    always gives the same bytes.

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
    inputs
        Names or beginnings of names likewise: ``["A"]`` is ``A.tau``, ``["push.F[3]"]`` one element of a force, and an
        empty list none. Other inputs keep their start values. Of a drive take all, ``["A_drive"]``: rate and
        acceleration go with the value. Default: all inputs.
    states
        ``"full"``: all coordinates and speeds of the tree are continuous states; ``"minimal"``: independent ones alone,
        from which the loops give the others.
    independents
        With minimal states, the coordinates requested as independent ones, as ``["A.q"]``; the rest is chosen.
    arrays
        Whether a quantity of several numbers is one array variable, as ``coupler.r``, not scalars; FMI 3.0 alone.
    stop_time, step_size, tolerance
        The default experiment: s, s, and the tolerance of the integrator.
    platforms
        Where it shall run: FMI 3 platform tuples such as ``"x86_64-windows"``. Default: on this platform. Libraries for
        others are compiled when they are first needed.
    sources
        Whether the C sources go in as well, so that a tool can compile the FMU for itself.
    page
        Whether the documentation has a page that shows and simulates the mechanism, ``documentation/live.html``, about
        0.5 MB. Without it `linkwork view` makes the page from the scene that the FMU carries.
    progress
        Show progress on standard error; a function gets each `ProgressUpdate` instead. Default: only on a terminal.

    Returns
    -------
    Path
        The path of the FMU.

    Raises
    ------
    MechanismError
        If the mechanism cannot be compiled.
    ExportError
        If an output or input is unknown, a start value is out of bounds, the shared library is missing or cannot be
        compiled, or the file cannot be written.
    LinkworkError
        If a page is asked for and the viewer has not been built.

    Examples
    --------
    >>> import linkwork as lw
    >>> from tempfile import TemporaryDirectory
    >>> mech = lw.Mechanism("pendulum")
    >>> mech.add_body("rod", mass=3.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(3.0, 1.0))
    >>> mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
    >>> with TemporaryDirectory() as folder:
    ...     path = lw.export_fmu(mech, f"{folder}/pendulum.fmu", outputs=["A.q"])
    >>> path.name
    'pendulum.fmu'
    """
    from linkwork.compiler.compile import no_collection

    if fmi not in _DESCRIPTIONS:
        raise ExportNameError(f"there is no FMI version {fmi!r} here; choose {' or '.join(map(repr, _DESCRIPTIONS))}")
    experiment = _experiment(stop_time, step_size, tolerance)
    if arrays and fmi != "3.0":
        raise ExportError('FMI 2.0 has no arrays; choose fmi="3.0", or leave arrays=True out')
    system = _compiled(mechanism)
    chosen = _independents(system, states, independents)
    target = Path(path)
    with no_collection():
        content = describe_system(system, outputs, experiment, chosen, arrays, c_files() if sources else (), inputs)
        files = _files(content, system, fmi, sources, page)
        for platform, library in libraries(platforms, progress).items():
            files[_binary(content, platform, fmi) + library.suffix] = library.read_bytes()
        write_archive(target, files, ExportError, FAST if len(content.rows) > _MANY else SMALL)
    return target


def describe_system(
    system: "Model",
    outputs: Iterable[str] | None,
    experiment: Experiment,
    independents: tuple[tuple[int, ...], tuple[int, ...]] = ((), ()),
    arrays: bool = False,
    sources: Sequence[str] = (),
    inputs: Iterable[str] | None = None,
) -> Content:
    """Gather what the FMU of a system holds."""
    from linkwork._util.version import version
    from linkwork.variables.catalog import list_entities, list_indicators

    indicators = list_indicators(system.layout)
    entities = list_entities(system.layout)
    listed = choose_inputs(entities, inputs)
    choice = Choice(choose_outputs(entities, outputs), _states(system, independents), arrays, listed)
    rows, with_rows = choice.rows([*entities, *setting_entities(system.sizes.reals + len(indicators))])
    of_indicators, _ = choice.rows(indicators)
    known, others = known_references(rows, with_rows)
    unlisted = choice.unlisted_inputs(entities)
    resolve_dependencies(rows, with_rows, known, others, unlisted)
    resolve_dependencies(of_indicators, indicators, known, others, unlisted)
    content = Content(
        name=system.mechanism.name,
        rows=rows,
        indicators=of_indicators,
        block=np.concatenate([system.block().reals, np.zeros(len(indicators)), SETTING_STARTS]),
        experiment=experiment,
        tool=f"Linkwork {version()}",
        independents=independents,
        sources=tuple(sources),
    )
    content.check()
    return content


def _compiled(mechanism: "Mechanism | Model") -> "Model":
    from linkwork.model.compile import compile
    from linkwork.model.model import Model

    return mechanism if isinstance(mechanism, Model) else compile(mechanism)


def _independents(
    system: "Model", states: str, wanted: Sequence[str] | None
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Positions of independent coordinates and speeds, both empty where all are states."""
    if states == "full":
        if wanted is not None:
            raise ExportError('independents go with states="minimal"')
        return (), ()
    if states != "minimal":
        raise ExportError(f"there are no states {states!r}; choose 'full' or 'minimal'")
    from linkwork.model.independent_coordinates import choose_independent_coordinates

    found = choose_independent_coordinates(system, requested=wanted)
    return tuple(found.q), tuple(found.u)


def _states(system: "Model", independents: tuple[tuple[int, ...], tuple[int, ...]]) -> frozenset[int] | None:
    """Offsets of the states; None: all that can be."""
    if not any(independents):
        return None
    fields = zip("qu", independents, strict=True)
    return frozenset(system.fields[name].first + i for name, positions in fields for i in positions)


def _experiment(stop: float, step: float, tolerance: float) -> Experiment:
    for name, value in (("stop_time", stop), ("step_size", step), ("tolerance", tolerance)):
        if not (math.isfinite(value) and value > 0):
            raise ExportError(f"{name} is {value!r}; give a positive number")
    return Experiment(stop=float(stop), step=float(step), tolerance=float(tolerance))


def _files(
    content: Content, system: "Model", fmi: str, sources: bool, page: bool
) -> dict[str, bytes | Iterable[bytes]]:
    model, interface = system.model_bytes, interface_bytes(content)
    description = _DESCRIPTIONS[fmi](content, instantiation_token(model, interface))
    return {
        "modelDescription.xml": in_chunks(description),
        "resources/model.lwm": model,
        "resources/interface.lwi": interface,
        **documentation_files(content, system, page),
        **_scene_files(system, fmi),
        **terminal_files(content, system, fmi),
        **(source_files(model, interface, content.identifier, fmi) if sources else {}),
    }


def _scene_files(system: "Model", fmi: str) -> dict[str, bytes]:
    """Return the scene by its path in the archive."""
    from linkwork.view.fmu_scene import PLACES
    from linkwork.view.scene_file import scene_file

    scene = scene_file(system)
    return {} if scene is None else {PLACES[fmi]: scene}


def _binary(content: Content, platform: str, fmi: str) -> str:
    folder = _FMI2_PLATFORMS.get(platform, platform) if fmi == "2.0" else platform
    return f"binaries/{folder}/{content.identifier}"
