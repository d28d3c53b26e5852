"""A run under way: initialised, stepped to its end, freed however it ends."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from linkwork._util.progress import Progress, ProgressOption
from linkwork.cosim.masters import Master
from linkwork.cosim.network.finiteness import Finiteness, NotFinite
from linkwork.cosim.network.network import Network
from linkwork.cosim.network.starting import start as start_network
from linkwork.cosim.recording.recorder import Recorder
from linkwork.cosim.recording.result import Result, Statistics
from linkwork.cosim.running.interruption import Interruption
from linkwork.cosim.running.stall_detection import StallDetection
from linkwork.cosim.system import Value
from linkwork.errors import CosimError, FmuError, LinkworkError


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
        progress: ProgressOption,
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
        stall_detection = StallDetection(self.network, begin, end)
        time = begin
        while time < end and not self.master.ended:
            before, time = time, self.master.advance(time, end)
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
