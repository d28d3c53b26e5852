"""Running a system: settings are checked, the network is built, and the run starts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from linkwork._util.keywords import checks_keywords
from linkwork._util.progress import ProgressOption
from linkwork.cosim.fmu.model import FmuModel, usual_step
from linkwork.cosim.masters import Jacobi, Master
from linkwork.cosim.network.build import build
from linkwork.cosim.network.external_inputs import by_target
from linkwork.cosim.network.input_sources import Externals
from linkwork.cosim.recording.recorder import Recorder
from linkwork.cosim.recording.result import Result
from linkwork.cosim.recording.sink import Sink
from linkwork.cosim.running.checks import check_inputs, check_settings, plain, uneven
from linkwork.cosim.running.preparation import (
    by_component,
    models_of,
    places,
    recorded_variables,
    scenes_of,
)
from linkwork.cosim.running.runner import Run
from linkwork.cosim.system import System, Value
from linkwork.cosim.system.checks import check_system, configured


@checks_keywords
def run(
    system: System,
    t_end: float | None = None,
    *,
    t_start: float | None = None,
    master: Master | None = None,
    parameters: Mapping[str, Value] | None = None,
    parameter_sets: str | Iterable[str] = (),
    inputs: Externals | None = None,
    columns: str | Iterable[str] | None = None,
    tolerance: float | None = None,
    progress: ProgressOption = None,
    sink: Sink | None = None,
    models: dict[Path, FmuModel] | None = None,
) -> Result:
    """Run a system of FMUs.

    Parameters
    ----------
    system
        The system to run.
    t_end, t_start
        When it ends and begins [s]; None: those of the system's experiment.
    master
        How it is run: `Jacobi`, `GaussSeidel` or `Adaptive`. None: Jacobi, by the smallest step that an FMU's default
        experiment names, or by a thousand steps.
    parameters, parameter_sets
        Values by ``component.variable``, over those of parameter sets by name, over those of the components.
    inputs
        External inputs by ``component.variable``, or by a name in `System.external_inputs`: a number, a function of
        time, or (times, values).
    columns
        Patterns of variables as ``component.variable``; None: all outputs, all connected inputs, and what the system's
        own outputs are.
    tolerance
        Handed to the FMUs' own integrators; None: their own choice.
    progress
        Show progress on standard error; a function gets each `ProgressUpdate` instead. Default: only on a terminal.
    sink
        Takes the rows as they come, such as `recording.sinks.open_sink` gives; None: they are kept in memory.
    models
        FMUs that are read and unpacked already, by path; missing ones are added.

    Returns
    -------
    Result
        Its `aborted` is true if it was interrupted from the keyboard.

    Raises
    ------
    CosimError
        If the system cannot be run, or an FMU fails; results so far are the error's `result`.

    Examples
    --------
    >>> import linkwork as lw
    >>> from tempfile import TemporaryDirectory
    >>> from linkwork.cosim import Jacobi, System, run
    >>> mech = lw.Mechanism("pendulum")
    >>> mech.add_body("rod", mass=3.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(3.0, 1.0))
    >>> mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
    >>> with TemporaryDirectory() as folder:
    ...     fmu = lw.export_fmu(mech, f"{folder}/pendulum.fmu", outputs=["A.q"])
    ...     result = run(System.load(fmu), 0.5, master=Jacobi(0.01))
    >>> float(result.t[-1]), result["pendulum.A.q"][-1] > 0
    (0.5, np.True_)
    """
    begin, end = check_settings(system, master, t_start, t_end, tolerance)
    known_models = models_of(system, models)
    external = by_target(system, inputs or {})
    check_inputs(system, known_models, external)
    settings = plain(system.parameters(parameter_sets, parameters))
    known_models = configured(system, known_models, settings)
    notices = check_system(system, known_models, values=settings, external=external)
    values = by_component(system, known_models, settings)
    recorded = recorded_variables(system, known_models, columns, external)
    network = build(system, known_models, external, recorded)
    master = master or Jacobi(usual_step(known_models.values(), end - begin))
    notices += uneven(known_models, getattr(master, "step", None), end - begin)
    recorder = Recorder(system.name, places(network, recorded), sink)
    recorder.scenes = scenes_of(known_models)
    return Run(network, master, recorder, notices).go(values, begin, end, tolerance, progress)
