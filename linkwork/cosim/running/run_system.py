"""Running a system: settings are checked, the network is built, and the run starts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from linkwork._util.keywords import checks_keywords
from linkwork._util.progress import Progress, ProgressOption
from linkwork.cosim.fmu.model import FmuModel, usual_step
from linkwork.cosim.masters import Jacobi, Master
from linkwork.cosim.masters.base import MasterRun
from linkwork.cosim.network.build import build
from linkwork.cosim.network.build import start as start_network
from linkwork.cosim.network.input_sources import Externals, by_target
from linkwork.cosim.network.network import Network
from linkwork.cosim.recording.recorder import Recorder
from linkwork.cosim.recording.result import Result, Statistics
from linkwork.cosim.recording.sink import Sink
from linkwork.cosim.running.interruption import Interruption
from linkwork.cosim.running.preparation import (
    Finiteness,
    NotFinite,
    by_component,
    models_of,
    places,
    recorded_variables,
    scenes_of,
)
from linkwork.cosim.system import System, Value
from linkwork.cosim.system.checks import check_system, configured
from linkwork.cosim.system.references import Reference
from linkwork.cosim.system.value_checks import why_not_exchanged
from linkwork.errors import CosimError, FmuError, LinkworkError


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


def check_settings(
    system: System, master: Master | None, t_start: float | None, t_end: float | None, tolerance: float | None
) -> tuple[float, float]:
    """Check the settings that do not depend on the system; return the start and stop time."""
    given: object = system
    if not isinstance(given, System):
        raise CosimError(f"a run takes a System, not {system!r}; System.load reads one from a file")
    given = master
    if not (given is None or isinstance(given, Master)):
        raise CosimError(f"the master must be one such as Jacobi(1e-3), not {master!r}")
    begin = system.experiment.t_start if t_start is None else t_start
    end = system.experiment.t_end if t_end is None else t_end
    if not (_is_finite(begin) and _is_finite(end) and begin < end):
        raise CosimError(f"a run goes from t_start to a later t_end, not from {begin!r} s to {end!r} s")
    if tolerance is not None and not (_is_finite(tolerance) and tolerance > 0):
        raise CosimError(f"the tolerance must be a positive number, such as 1e-6, not {tolerance!r}")
    return begin, end


def _is_finite(value: object) -> bool:
    return isinstance(value, int | float | np.number) and math.isfinite(value)


def plain(values: Mapping[str, Any]) -> dict[str, Value]:
    """Return values of parameters without numpy's types and lists."""
    return {name: _plain(name, value) for name, value in values.items()}


def _plain(name: str, value: Any) -> Value:
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    parts = value if isinstance(value, list | tuple) else [value]
    if not all(isinstance(one, bool | int | float | str | np.generic) for one in parts):
        raise CosimError(f"{name!r} cannot be {value!r}; give a number, True or False, a text, or a tuple of them")
    return tuple(value) if isinstance(value, list) else value


def check_inputs(system: System, models: Mapping[str, FmuModel], externals: Iterable[Reference]) -> None:
    """Check that external inputs go to inputs that are not connected."""
    connected = {one.target: one.source for one in system.connections}
    for reference in externals:
        model = models[reference.component]
        try:
            variable = model.variable(reference.variable)
        except CosimError as problem:
            raise type(problem)(f"the external input {reference!r}: {problem}") from problem
        where = f"the external input {reference!r} (FMU {model.path.name})"
        if variable.causality != "input":
            what = "give it in parameters" if "arameter" in variable.causality else "choose an input"
            raise CosimError(f"{where} is of causality {variable.causality}, not an input; {what}")
        if variable.value_type is None:
            raise CosimError(f"{where} {why_not_exchanged(variable)}; leave it out")
        if reference in connected:
            raise CosimError(f"{where} is connected to {connected[reference]!r} already; remove one of them")


def uneven(models: Mapping[str, FmuModel], step: float | None, length: float) -> list[str]:
    """Report a step longer than the run, and components that need equal steps where the last one differs."""
    if step is None:
        return []
    if step > length:
        return [f"the communication step of {step:g} s is longer than the run of {length:g} s, which is a single step"]
    count = length / step
    rigid = [repr(name) for name, model in models.items() if not model.abilities.variable_step]
    if not rigid or abs(count - round(count)) <= 1e-9 * count:
        return []
    return [
        f"{', '.join(rigid)} can only take steps of one length, and the last one is shorter: {length:g} s is no "
        f"multiple of {step:g} s; choose another step or end time"
    ]


class Run:
    """One run of a network by a master."""

    def __init__(self, network: Network, master: Master, recorder: Recorder, notices: list[str]) -> None:
        self.network, self.master, self.recorder, self.notices = network, master, recorder, notices
        self._stepper: MasterRun | None = None
        self._finite = Finiteness(network)

    def go(
        self,
        values: Mapping[str, Mapping[str, Value]],
        begin: float,
        end: float,
        tolerance: float | None,
        progress: ProgressOption,
    ) -> Result:
        """Initialise, step to the end, and free everything; return the recorded result."""
        with Interruption() as interruption:
            try:
                with Progress(progress, begin, end) as shown:
                    ended = start_network(self.network, values, begin, end, tolerance)
                    interruption.check()
                    self.recorder.begin()
                    self._steps(begin, end, ended, shown, interruption)
                    self._terminate()
                return self._result()
            except KeyboardInterrupt:
                return self._result(aborted=True)
            except Exception as problem:
                if interruption.asked:  # an FMU may take it for a failure of its own
                    return self._result(aborted=True)
                raise CosimError(self._text(problem), self._result(aborted=True)) from problem
            finally:
                self._free()

    def _steps(self, begin: float, end: float, ended: bool, shown: Progress, interruption: Interruption) -> None:
        stepper = self._stepper = self.master.begin(self.network, begin, end, self._record)
        stepper.ended = ended
        self._record(begin)
        stall_detection = StallDetection(self.network, begin, end)
        time = begin
        while time < end and not stepper.ended:
            before, time = time, stepper.advance(time, end)
            stall_detection.check(before, time)
            self._record(time)
            shown.reach(time)
            interruption.check()
        if time < end:
            enders = ", ".join(repr(one.name) for one in self.network.each() if one.wants_end)
            self.notices.append(f"{enders or 'an FMU'} ended the simulation at t = {time:.9g} s")

    def _record(self, time: float) -> None:
        self.network.read_extras()
        self.recorder.row(time)
        self._finite.check(time)

    def _terminate(self) -> None:
        """All is computed: a failure now costs no results."""
        for instance in self.network.each():
            try:
                instance.terminate()
            except FmuError as problem:
                self.notices.append(f"{problem}; the results are complete")
                if instance.model.lost:
                    return

    def _text(self, problem: Exception) -> str:
        text = str(problem)
        if not isinstance(problem, LinkworkError):
            text = f"the run of {self.recorder.name!r} was stopped by {type(problem).__name__}: {problem}"
        source = "" if isinstance(problem, NotFinite) else self._finite.source()
        return f"{text}; {source}" if source else text

    def _result(self, *, aborted: bool = False) -> Result:
        stepper = self._stepper
        statistics = stepper.statistics if stepper else Statistics()
        statistics.rollbacks = self.network.snapshots.restored
        statistics.iterations = self.network.iterations
        result = self.recorder.result(
            events=stepper.events if stepper else [],
            notices=[*self.notices, *self._finite.notices, *(stepper.notices if stepper else ()), *self._messages()],
            statistics=statistics,
            aborted=aborted,
        )
        try:
            self.recorder.end(result)
        except Exception:
            if not aborted:
                raise  # else there is an earlier error, which matters more
        return result

    def _messages(self) -> list[str]:
        """The last messages of the FMUs."""
        return [f"{one.name!r} reports: {text}" for one in self.network.each() for text in dict.fromkeys(one.messages)]

    def _free(self) -> None:
        self.network.snapshots.drop()
        for instance in self.network.each():
            with suppress(FmuError):  # after a failure, an FMU may refuse
                instance.free()


MOST_STANDSTILLS = 1000  # communication steps at one time, at events
MOST_CRAWLS = 20  # in a row, of steps shorter than ...
CRAWL = 1e-11  # ... this part of the run


class StallDetection:
    """Ends a run whose time does not advance."""

    def __init__(self, network: Network, begin: float, end: float) -> None:
        self._network, self._end = network, end
        self._short = CRAWL * (end - begin)
        self._standstills = self._crawls = 0

    def check(self, before: float, time: float) -> None:
        """Check a step."""
        length = time - before
        self._standstills = 0 if length > 0 else self._standstills + 1
        if self._standstills > MOST_STANDSTILLS:
            raise CosimError(f"events follow each other without end at t = {time:.9g} s")
        self._crawls = self._crawls + 1 if 0 < length < self._short and time < self._end else 0
        if self._crawls > MOST_CRAWLS:
            names = ", ".join(f"{one.name!r} ({one.model.path.name})" for one in self._network.each() if one.discarded)
            raise CosimError(
                f"no step of sensible length from t = {time:.9g} s succeeds, however short"
                + f"; steps are discarded by {names}; check their inputs there" * bool(names)
            )
