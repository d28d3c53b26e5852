"""One run: initialised, stepped to its end, freed however it ends."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from linkwork._util.progress import Progress, ProgressOption
from linkwork.cosim.masters import Master
from linkwork.cosim.masters.base import MasterRun
from linkwork.cosim.network.finiteness import Finiteness, NotFinite
from linkwork.cosim.network.initialisation import start as start_network
from linkwork.cosim.network.network import Network
from linkwork.cosim.recording.recorder import Recorder
from linkwork.cosim.recording.result import Result, Statistics
from linkwork.cosim.running.interruption import Interruption
from linkwork.cosim.running.stall_detection import StallDetection
from linkwork.cosim.system import Value
from linkwork.errors import CosimError, FmuError, LinkworkError


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
