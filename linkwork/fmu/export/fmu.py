"""Mechanism to FMU.

With the step of the default experiment, importers that integrate by fixed explicit steps get through the run. Euler's
method is stable in steps up to 2 / |lambda|, Dormand-Prince 5(4) in steps up to 3.3 / |lambda|. Its step control, at a
coarse tolerance, shows what a mechanism allows: fast turns open loops, stiff springs grow without bound.
"""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork._util.files import FAST, SMALL, with_suffix, write_archive
from linkwork._util.keywords import checks_keywords
from linkwork._util.progress import ProgressOption
from linkwork._util.stack import levels_of_package
from linkwork.errors import ExportError, ExportNameError, InitializationWarning, LinkworkError
from linkwork.fmu.export.compiled_tapes import compiled_files, rates_source
from linkwork.fmu.export.content import Content, Experiment
from linkwork.fmu.export.dae_mode import dae_mode
from linkwork.fmu.export.documentation import documentation_files
from linkwork.fmu.export.instantiation_token import instantiation_token
from linkwork.fmu.export.interface_file import interface_bytes
from linkwork.fmu.export.libraries import library_files, platforms_of
from linkwork.fmu.export.model_description import VERSIONS, dae_manifest, model_description
from linkwork.fmu.export.nominal_values import NominalSizes, rounded
from linkwork.fmu.export.pictures import scene
from linkwork.fmu.export.profiles import Profile, find_profile
from linkwork.fmu.export.reference_files import reference_files
from linkwork.fmu.export.reference_run import NoReference, Reference, reference_run
from linkwork.fmu.export.selection import (
    Choice,
    add_parameters,
    choose_inputs,
    choose_outputs,
    known_offsets,
    resolve_dependencies,
    split_inputs,
)
from linkwork.fmu.export.settings import SETTING_STARTS, setting_entities
from linkwork.fmu.export.sources import c_files, source_files
from linkwork.fmu.export.terminals import terminal_files
from linkwork.fmu.scene_place import PLACES

if TYPE_CHECKING:
    from linkwork._util.checks import FloatArray
    from linkwork.mechanism import Mechanism
    from linkwork.model.model import Model
    from linkwork.simulation.result import Result

_MANY = 5000  # entities, from which on speed counts more than size


@checks_keywords
def export_fmu(
    mechanism: Mechanism | Model,
    path: str | os.PathLike[str],
    fmi: str = "3.0",
    outputs: Iterable[str] | None = None,
    *,
    inputs: Iterable[str] | None = None,
    states: str = "full",
    independents: Sequence[str] | None = None,
    arrays: bool = False,
    stop_time: float = 10.0,
    step_size: float | None = None,
    tolerance: float = 1e-7,
    platforms: Iterable[str] | None = None,
    sources: bool = False,
    native: bool | Result = False,
    page: bool = False,
    reference: bool | Result | Mapping[str, Any] | str | os.PathLike[str] | None = None,
    reference_rtol: float | None = None,
    dae: bool = False,
    profile: str | None = None,
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
        Where to write, ``.fmu``; a file that is there is replaced.
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
    stop_time
        End of the default experiment, s.
    step_size
        Step of the default experiment, s. By default 0.01 s, or a shorter one where explicit fixed-step integrators
        need it: for fast motions and stiff springs.
    tolerance
        Tolerance of the integrator in the default experiment.
    platforms
        Where it shall run: FMI 3 platform tuples such as ``"x86_64-windows"``. Default: on this platform. Libraries for
        others are compiled when they are first needed.
    sources
        Whether the C sources go in as well, so that a tool can compile the FMU for itself.
    native
        Whether machine code of this mechanism goes in as well, with which the FMU gives the same results in less time;
        partial derivatives, and steps by "rodas5p", agree to rounding.
        True: for the motion from the default start, until the end of the default experiment. A result of `lw.simulate`:
        for its motion. Where other motions need other code, the FMU computes as without it. The package ziglang, of the
        extra ``cross``, compiles it for all platforms; without it a C compiler of the system does for this one. With
        `sources` the code in C goes in too.
    page
        Whether the documentation has a page that shows and simulates the mechanism, ``documentation/live.html``, about
        0.5 MB. Without it `linkwork view` makes the page from the scene that the FMU carries.
    reference
        The reference run that the FMU carries, with which importers compare theirs (layered standard FMI-LS-REF).
        None: a short simulation from the default start, if it succeeds and the mechanism has at most 1000 states.
        True: an error if it does not. False: no reference run. Otherwise a result of `lw.simulate` from the default
        start, or columns by the names of the FMU's variables, with ``"time"`` among them, or a CSV file of such
        columns: inputs of the FMU are what drives the run, the others are results.
    reference_rtol
        By how much a run may differ from the reference run, relative to the largest value of a column. Default: a
        thousand times `tolerance`, at most 0.1.
    dae
        Whether importers of the layered standard FMI-LS-DAE can switch the FMU to DAE mode, in which they solve the
        equations with multipliers instead of the explicit ones; FMI 3.0, full states, no arrays, no transitions.
    profile
        An importer that takes a part of the standard: ``"casadi"`` writes real scalars that change continuously, Model
        Exchange alone and all dependencies; `inputs` may then name tunable parameters, as ``["A", "coupler.mass"]``.
        Default: for any importer.
    progress
        Show progress on standard error; a function gets each `ProgressUpdate` instead. Default: only on a terminal.

    Raises
    ------
    ExportError
        If an output or input is unknown, a start value is out of bounds, a requested reference run is not possible or
        does not fit, the shared library is missing or cannot be compiled, no motion can be recorded for `native`, or
        the file cannot be written.
    """
    from linkwork._util.garbage import no_collection

    if fmi not in VERSIONS:
        raise ExportNameError(f"there is no FMI version {fmi!r} here; choose {' or '.join(map(repr, VERSIONS))}")
    target = with_suffix(path, ".fmu", "an FMU", ExportError)
    _check_experiment(stop_time, step_size, tolerance)
    if arrays and fmi != "3.0":
        raise ExportError('FMI 2.0 has no arrays; choose fmi="3.0", or leave arrays=True out')
    if dae and (fmi != "3.0" or states != "full" or arrays):
        raise ExportError('DAE mode goes with fmi="3.0", states="full" and without arrays; leave dae=True out')
    written_for = find_profile(profile, arrays, dae)
    system = _compiled(mechanism)
    chosen = _independents(system, states, independents)
    step = default_step(system, stop_time) if step_size is None else step_size
    experiment = Experiment(stop=float(stop_time), step=float(step), tolerance=float(tolerance))
    with no_collection():
        compiled = c_files(fmi, native is not False) if sources else ()
        content = describe_system(system, outputs, experiment, chosen, arrays, compiled, inputs, written_for)
        if dae:
            content = _with_dae(content, system)
        rates = None if native is False else rates_source(system, native, content)
        compared = reference_run(content, system, reference, reference_rtol)
        files = _files(content, system, fmi, page, compared)
        if sources:
            interface = interface_bytes(content, fmi)
            files |= source_files(system.model_bytes, interface, content.identifier, fmi, rates)
        files |= library_files(content.identifier, fmi, platforms, progress)
        if rates is not None:
            files |= compiled_files(rates, platforms_of(platforms), progress)
        write_archive(target, files, ExportError, FAST if len(content.rows) > _MANY else SMALL)
    return target


def describe_system(
    system: Model,
    outputs: Iterable[str] | None,
    experiment: Experiment,
    independents: tuple[tuple[int, ...], tuple[int, ...]] = ((), ()),
    arrays: bool = False,
    sources: Sequence[str] = (),
    inputs: Iterable[str] | None = None,
    profile: Profile | None = None,
) -> Content:
    """Gather what the FMU of a system holds."""
    from linkwork._util.version import version
    from linkwork.variables.catalog import list_entities, list_indicators

    indicators = list_indicators(system.layout)
    entities = list_entities(system.layout)
    free: dict[int, set[int]] = {}
    if profile is not None and profile.parameters_as_inputs:
        inputs, free = split_inputs(entities, inputs)
    continuous = profile is not None and profile.continuous
    listed, shown = choose_inputs(entities, inputs, continuous), choose_outputs(entities, outputs, continuous)
    block, assembled = _start(system)
    choice = Choice(shown, _states(system, independents), arrays, assembled, listed, free)
    settings = (
        []
        if profile is not None and not profile.co_simulation
        else [*setting_entities(system.sizes.reals + len(indicators))]
    )
    rows, with_rows = choice.rows([*entities, *settings])
    of_indicators, _ = choice.rows(indicators)
    known, others = known_offsets(rows, with_rows)
    unlisted = choice.unlisted_inputs(entities)
    resolve_dependencies(rows, with_rows, known, others, unlisted)
    resolve_dependencies(of_indicators, indicators, known, others, unlisted)
    offsets = [entities[number].references[i] for number in free for i in free[number]]
    add_parameters([*rows, *of_indicators], offsets)
    content = Content(
        name=system.mechanism.name,
        rows=rows,
        indicators=of_indicators,
        block=np.concatenate([block, np.zeros(len(indicators)), SETTING_STARTS]),
        experiment=experiment,
        tool=f"Linkwork {version()}",
        independents=independents,
        sources=tuple(sources),
        profile=profile,
        nominal=_nominal_sizes(system, block, experiment),
    )
    content.check()
    return content


def _with_dae(content: Content, system: Model) -> Content:
    states = sorted(row.offsets[i] for row in content.rows for i in row.form.of_kind("state"))
    rates = [row.offsets[i] for row, i in content.derivatives]
    inputs = sorted(set(content.knowns) - set(states))
    return replace(content, dae=dae_mode(system, content.block.size, states, rates, inputs))


def _start(system: Model) -> tuple[FloatArray, bool]:
    """Return the numbers of a block, and whether its states are those of the assembled start."""
    block = np.array(system.block().reals)
    try:
        state = system.assemble()
    except LinkworkError as error:  # the importer may set other parameters
        text = f"the FMU cannot be initialised with its default values, only with others from its importer: {error}"
        warnings.warn(InitializationWarning(text), stacklevel=levels_of_package())
        return block, False
    for name, values in (("q", state.q), ("u", state.u), ("element_state", state.elements)):
        block[system.fields[name].span] = values
    return block, True


def _nominal_sizes(system: Model, start: FloatArray, experiment: Experiment) -> NominalSizes:
    """Of the mechanism at the start that `start`, the numbers of a block, has."""
    block = system.block()
    for name in ("q", "u", "element_state"):
        block.reals[system.fields[name].span] = start[system.fields[name].span]
    block.changed()
    return NominalSizes(*map(rounded, block.nominal_sizes(experiment.stop - experiment.start)))


def _compiled(mechanism: Mechanism | Model) -> Model:
    from linkwork.model.compile import compile
    from linkwork.model.model import Model

    return mechanism if isinstance(mechanism, Model) else compile(mechanism)


def _independents(system: Model, states: str, wanted: Sequence[str] | None) -> tuple[tuple[int, ...], tuple[int, ...]]:
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


def _states(system: Model, independents: tuple[tuple[int, ...], tuple[int, ...]]) -> frozenset[int] | None:
    """Offsets of the states; None: all that can be."""
    if not any(independents):
        return None
    fields = zip("qu", independents, strict=True)
    chosen = frozenset(system.fields[name].first + i for name, positions in fields for i in positions)
    elements = system.fields["element_state"].span
    return chosen | frozenset(range(elements.start, elements.stop))


def _check_experiment(stop: float, step: float | None, tolerance: float) -> None:
    for name, value in (("stop_time", stop), ("step_size", step), ("tolerance", tolerance)):
        if value is not None and not (math.isfinite(value) and value > 0):
            raise ExportError(f"{name} is {value!r}; give a positive number")


def _files(
    content: Content,
    system: Model,
    fmi: str,
    page: bool,
    reference: Reference | NoReference | None,
) -> dict[str, bytes | Iterable[bytes]]:
    model, interface = system.model_bytes, interface_bytes(content, fmi)
    return {
        "modelDescription.xml": model_description(content, instantiation_token(model, interface), fmi),
        "resources/model.lwm": model,
        "resources/interface.lwi": interface,
        **documentation_files(content, system, page, reference),
        **reference_files(content, reference),
        **dae_manifest(content),
        **_scene_files(system, fmi),
        **terminal_files(content, system, fmi),
    }


def _scene_files(system: Model, fmi: str) -> dict[str, bytes]:
    """Return the scene by its path in the archive."""
    found = scene(system)
    return {} if found is None else {PLACES[fmi]: found}


LARGEST, SMALLEST = 0.01, 1e-5  # s
MOST_STATES = 1000  # beyond which the simulation would take longer than the rest of the export
SOLVER_STEPS = 100_000  # of the solver, times states
FEWEST_SOLVER_STEPS = 200
RTOL = 1e-3  # of the simulation
SHARE = 0.1  # of its time, spent in shorter steps
SLOW = 3.0 * LARGEST  # steps of the solver with which the largest one does
STEPS = 10.0  # of the default experiment, in one of the solver that is shorter


def default_step(system: Model, stop: float) -> float:
    """Return a step for a run from the default start, 1, 2 or 5 times a power of ten, at most 0.01 s [s]."""
    states = system.sizes.states
    if not 0 < states <= MOST_STATES:
        return LARGEST
    lengths = _lengths(system, stop, max(FEWEST_SOLVER_STEPS, SOLVER_STEPS // states))
    if not lengths.size:
        return LARGEST
    covered = np.cumsum(lengths)
    typical = lengths[np.searchsorted(covered, SHARE * covered[-1])]
    return LARGEST if typical >= SLOW else _rounded_down(max(typical / STEPS, SMALLEST))


def _lengths(system: Model, stop: float, most: int) -> FloatArray:
    """The solver's steps, ascending; empty: there is no run."""
    from linkwork.simulation.simulate import simulate

    found: Result | None
    try:
        found = simulate(system, stop, solver="dopri5", rtol=RTOL, atol=RTOL, max_steps=most, progress=False)
    except LinkworkError as problem:
        found = getattr(problem, "result", None)
    if found is None:
        return np.empty(0)
    ends = np.isfinite(found._trajectory.control).all(axis=1)  # of steps; what turns has rows within them
    lengths: FloatArray = np.sort(np.diff(found.t[ends]))
    return lengths[lengths > 0.0]


def _rounded_down(step: float) -> float:
    """As people write it."""
    power = math.floor(math.log10(step) + 1e-9)
    digit = next(one for one in (5, 2, 1) if one * 10.0**power <= step * (1 + 1e-9))
    return float(f"{digit}e{power}")
