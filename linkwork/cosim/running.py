"""Running a system: from its description to results."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

import numpy as np

from linkwork.cosim.description import Experiment, System, Value
from linkwork.cosim.description.checks import check_system
from linkwork.cosim.description.references import split
from linkwork.cosim.fmu.model import REAL, TEXT, FmuModel, Variable, read_model
from linkwork.cosim.interruption import Interruption
from linkwork.cosim.masters import Jacobi, Master
from linkwork.cosim.network.build import build
from linkwork.cosim.network.externals import Externals
from linkwork.cosim.network.finiteness import Finiteness, NotFinite
from linkwork.cosim.network.levels import Node
from linkwork.cosim.network.network import Network
from linkwork.cosim.network.outside import by_target
from linkwork.cosim.network.starting import start as start_network
from linkwork.cosim.recording.recorder import Recorded, Recorder
from linkwork.cosim.recording.result import Result, Statistics
from linkwork.cosim.recording.selection import chosen
from linkwork.cosim.recording.sinks import Sink
from linkwork.cosim.run_checks import check_inputs, check_settings, plain, uneven
from linkwork.errors import CosimError, FmuError, LinkworkError
from linkwork.progress import Progress

STEPS = 1000  # of a run whose step nobody says
MOST_STANDSTILLS = 1000  # communication steps at one time, at events
MOST_CRAWLS = 20  # in a row, of steps shorter than ...
CRAWL = 1e-11  # ... this part of the run


def run(
    system: System,
    stop: float | None = None,
    *,
    start: float | None = None,
    master: Master | None = None,
    parameters: Mapping[str, Value] | None = None,
    parameter_sets: str | Iterable[str] = (),
    inputs: Externals | None = None,
    record: str | Iterable[str] | None = None,
    tolerance: float | None = None,
    progress: bool | None = None,
    sink: Sink | None = None,
    models: dict[Path, FmuModel] | None = None,
) -> Result:
    """Run a system of FMUs.

    Parameters
    ----------
    system
        What is run.
    stop, start
        When it ends and begins [s]; None: as the system's experiment says.
    master
        How it is run: `Jacobi`, `GaussSeidel` or `Adaptive`. None: Jacobi, by the smallest step that an FMU's default
        experiment names, or by a thousand steps.
    parameters, parameter_sets
        Values by ``component.variable``, over those of parameter sets by name, over those of the components.
    inputs
        External inputs by ``component.variable``, or by a name in `System.external_inputs`: a number, a function of
        time, or (times, values).
    record
        Patterns of variables as ``component.variable``; None: all outputs, all connected inputs, and what the system's
        own outputs are.
    tolerance
        Handed to the FMUs' own integrators; None: their own choice.
    progress
        Whether to show how far it has come; None: on a terminal only.
    sink
        Takes the rows as they come, such as `recording.sinks.open_sink` gives; None: they are kept in memory.
    models
        FMUs that are read and unpacked already, by path; what is missing is added.

    Returns
    -------
    Result
        Its `aborted` is true if it was interrupted from the keyboard.

    Raises
    ------
    CosimError
        If the system cannot be run, or an FMU fails on the way; results so far are the error's `result`.
    """
    begin = getattr(system, "experiment", Experiment()).start if start is None else start
    end = getattr(system, "experiment", Experiment()).stop if stop is None else stop
    check_settings(system, master, begin, end, tolerance)
    known_models = models_of(system, models)
    fed = by_target(system, inputs or {})
    check_inputs(system, known_models, fed)
    settings = plain(system.parameters(parameter_sets, parameters))
    notices = check_system(system, known_models, values=settings, fed=fed)
    values = _by_component(system, known_models, settings)
    recorded = recorded_variables(system, known_models, record, fed)
    network = build(system, known_models, fed, recorded)
    master = master or Jacobi(usual_step(known_models.values(), end - begin))
    notices += uneven(known_models, getattr(master, "step", None), end - begin)
    recorder = Recorder(system.name, _places(network, recorded), sink)
    return Run(network, master, recorder, notices).go(values, begin, end, tolerance, progress)


class Run:
    """A run under way."""

    def __init__(self, network: Network, master: Master, recorder: Recorder, notices: list[str]) -> None:
        self.network, self.master, self.recorder, self.notices = network, master, recorder, notices
        self.master.statistics, self.master.notices, self.master.events = Statistics(), [], []
        self._finite = Finiteness(network)

    def go(
        self,
        values: Mapping[str, Mapping[str, Value]],
        begin: float,
        end: float,
        tolerance: float | None,
        progress: bool | None,
    ) -> Result:
        """Initialise, step to the end, and free everything; return what was recorded."""
        with Interruption() as interruption:
            try:
                with Progress(progress, begin, end) as shown:
                    self.master.ended = start_network(self.network, values, begin, end, tolerance)
                    interruption.check()
                    self.recorder.begin()
                    self._steps(begin, end, shown, interruption)
                    self._terminate()
                return self._result()
            except KeyboardInterrupt:
                return self._result(aborted=True)
            except Exception as problem:
                if interruption.asked:  # an FMU may take it for a failure of its own
                    return self._result(aborted=True)
                raise CosimError(self._told(problem), self._result(aborted=True)) from problem
            finally:
                self._free()

    def _steps(self, begin: float, end: float, shown: Progress, interruption: Interruption) -> None:
        ended = self.master.ended
        self.master.begin(self.network, begin, end, self._record)
        self.master.ended = ended
        self._record(begin)
        time, standstills, crawls = begin, 0, 0
        while time < end and not self.master.ended:
            before, time = time, self.master.advance(time, end)
            standstills = 0 if time > before else standstills + 1
            if standstills > MOST_STANDSTILLS:
                raise CosimError(f"events follow each other without end at t = {time:.9g} s")
            crawls = crawls + 1 if 0 < time - before < CRAWL * (end - begin) and time < end else 0
            if crawls > MOST_CRAWLS:
                names = ", ".join(
                    f"{one.name!r} ({one.model.path.name})" for one in self.network.each() if one.discarded
                )
                raise CosimError(
                    f"no step of sensible length from t = {time:.9g} s succeeds, however short"
                    + f"; steps are discarded by {names}; look at their inputs there" * bool(names)
                )
            self._record(time)
            shown.show(time)
            interruption.check()
        if time < end:
            enders = ", ".join(repr(one.name) for one in self.network.each() if one.wants_end)
            self.notices.append(f"{enders or 'an FMU'} ended the simulation at t = {time:.9g} s")

    def _record(self, time: float) -> None:
        self.network.read_extras()
        self.recorder.row(time)
        self._finite.check(time)

    def _terminate(self) -> None:
        """All is computed: what fails now takes nothing away."""
        for instance in self.network.each():
            try:
                instance.terminate()
            except FmuError as problem:
                self.notices.append(f"{problem}; the results are complete")
                if instance.model.lost:
                    return

    def _told(self, problem: Exception) -> str:
        text = str(problem)
        if not isinstance(problem, LinkworkError):
            text = f"the run of {self.recorder.name!r} was stopped by {type(problem).__name__}: {problem}"
        source = "" if isinstance(problem, NotFinite) else self._finite.source()
        return f"{text}; {source}" if source else text

    def _result(self, *, aborted: bool = False) -> Result:
        statistics = self.master.statistics
        statistics.rollbacks = self.network.snapshots.restored
        statistics.iterations = self.network.iterations
        result = self.recorder.result(
            events=self.master.events,
            notices=[*self.notices, *self._finite.notices, *self.master.notices, *self._said()],
            statistics=statistics,
            aborted=aborted,
        )
        try:
            self.recorder.end(result)
        except Exception:
            if not aborted:
                raise  # else there is an error already that says more
        return result

    def _said(self) -> list[str]:
        """What FMUs have said, at least the last of it."""
        return [f"{one.name!r} says: {text}" for one in self.network.each() for text in dict.fromkeys(one.messages)]

    def _free(self) -> None:
        self.network.snapshots.drop()
        for instance in self.network.each():
            with suppress(FmuError):  # after a failure, an FMU may refuse
                instance.free()


def models_of(system: System, models: dict[Path, FmuModel] | None) -> dict[str, FmuModel]:
    """Return the FMU of each component; each file is read once.

    Raises
    ------
    CosimError
        If there are no components, or an FMU cannot be read.
    """
    if not system.components:
        raise CosimError(f"the system {system.name!r} has no components; add FMUs to it")
    there = {} if models is None else models
    for one in system.components.values():
        if one.fmu not in there or there[one.fmu].lost:
            there[one.fmu] = read_model(one.fmu)
    return {name: there[one.fmu] for name, one in system.components.items()}


def recorded_variables(
    system: System, models: Mapping[str, FmuModel], record: str | Iterable[str] | None, externals: Externals
) -> list[Node]:
    """Return the variables that are recorded, by component and name.

    Raises
    ------
    CosimError
        If no variable fits a pattern.
    """
    if record is not None:
        names = [f"{name}.{one.name}" for name, model in models.items() for one in model.variables.values() if one.bank]
        return [split(name, system.components) for name in chosen(record, names, where=f"the system {system.name!r}")]
    outputs = [(name, one.name) for name, model in models.items() for one in model.of_causality("output")]
    given = [split(one.source, system.components) for one in system.external_outputs]
    fed = (split(target, system.components) for target in [*(one.target for one in system.connections), *externals])
    return list(dict.fromkeys([*outputs, *given, *fed]))


def _by_component(
    system: System, models: Mapping[str, FmuModel], values: Mapping[str, Value]
) -> dict[str, dict[str, Value]]:
    table: dict[str, dict[str, Value]] = {}
    for reference, value in values.items():
        component, name = split(reference, system.components)
        models[component].variable(name)
        table.setdefault(component, {})[name] = value
    return table


def usual_step(models: Iterable[FmuModel], length: float) -> float:
    """Return the communication step of a run for which nobody names one [s]."""
    named = [one.step_size for one in models if one.step_size and 0 < one.step_size < math.inf]
    return min([*named, length]) if named else length / STEPS


def _places(network: Network, recorded: Iterable[Node]) -> list[Recorded]:
    """Where the recorder finds each variable; arrays give a column for each element."""
    places = []
    for component, name in recorded:
        instance = network.instances[component]
        every = (instance.inputs, instance.discrete_inputs, instance.outputs, instance.extras)
        ports = next(one for one in every if name in one.places)
        variable, place = instance.model.variable(name), ports.places[name][1]
        source = ports.values_of(name)
        for k in range(variable.size):
            label = f"{component}.{name}" + (f"[{k + 1}]" if variable.size > 1 else "")
            places.append(Recorded(label, variable.unit, _type(variable), source, place.start + k))
    return places


def _type(variable: Variable) -> type:
    if variable.type in ("Boolean", "UInt64"):
        return bool if variable.type == "Boolean" else np.uint64
    return {REAL: float, TEXT: str}.get(str(variable.bank), int)
