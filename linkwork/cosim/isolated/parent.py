"""Jobs for a process of its own, which is started again when an FMU has ended it."""

from __future__ import annotations

import contextlib
import os
import pickle
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwork._util.child_process import ChildProcess
from linkwork.cosim.isolated.call_record import VARIABLE, last_place, write_nowhere
from linkwork.cosim.isolated.job import Job
from linkwork.cosim.recording.chunk import Layout
from linkwork.cosim.recording.result import Result, Statistics
from linkwork.cosim.recording.sink import Sink
from linkwork.cosim.running.interruption import Interruption
from linkwork.errors import CosimError

TYPES: dict[str, type] = {one.__name__: one for one in (float, int, np.uint64, bool, str)}
QUOTED = 2000  # characters of the last output that an error quotes


class Died(CosimError):
    """The process ended in the middle of a job: an FMU crashed, ended it, or took too long."""


class Child(ChildProcess):
    """A process that runs systems of FMUs; it keeps unpacked FMUs from job to job.

    Parameters
    ----------
    time_limit
        The longest that a job may take [s]; None: for ever.
    """

    def __init__(self, *, time_limit: float | None = None) -> None:
        # Threads of numpy's are of no use here, and many children would start many.
        threads = {name: os.environ.get(name, "1") for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
        super().__init__("linkwork.cosim.isolated.child", threads)
        self.time_limit = time_limit
        self._crumb = self.folder / "breadcrumb"
        self._environment[VARIABLE] = str(self._crumb)
        self._closed = False

    def start(self, place: Path | None = None) -> None:
        """Have the process get ready for its first job."""
        if self._closed:
            raise CosimError("this child is closed; make another one")
        if not self.running:
            write_nowhere(self._crumb)
            super().start(place)

    def close(self) -> None:
        """End the process and leave nothing behind."""
        self._closed = True
        super().close()

    def run(self, job: Job, sink: Sink | None = None) -> Result:
        """Run a system.

        A `sink` gets the rows as they come, and the result none; to `end` it is the caller's. Ctrl-C ends the run at
        its next step, or the process after a second; the result so far is `aborted`.

        Raises
        ------
        CosimError
            If the run fails; what it had given until then is its `result`. A `Died` if an FMU crashed,
            ended the process or took longer than the time limit; the next job has a new process.
        """
        self.start()
        self.forget_output()
        answer = _Answer(sink)
        interruption = Interruption(self.ask_to_stop)
        try:
            with self.limited(self.time_limit):
                return self._talk(job, answer, interruption)
        except (EOFError, OSError) as gone:
            self.wait()
            if interruption.asked:
                answer.take_left()
                return answer.result(job)
            how = self._what_happened(job)
            answer.take_left()
            raise Died(how, answer.result(job)) from gone
        except BaseException as problem:
            if not isinstance(problem, CosimError):
                self.end()  # interrupted, or a job that cannot be sent: nobody knows what it would answer next
                answer.take_left()
            raise

    def _talk(self, job: Job, answer: _Answer, interruption: Interruption) -> Result:
        try:
            self.send(job)
        except (pickle.PicklingError, AttributeError, TypeError) as problem:
            raise CosimError(
                f"the settings cannot be sent to another process: {problem}; use plain values"
            ) from problem
        with interruption:  # from here on nobody else writes to the child
            while True:
                kind, content = self.receive()
                if kind == "begin":
                    self._pass_on(answer.begin, content)
                elif kind == "memory":
                    answer.left = content
                elif kind == "rows":
                    self._pass_on(answer.rows, content)
                elif kind == "error":
                    raise CosimError(content[0], answer.result(job, content[1]))
                else:
                    return answer.result(job, content)

    def _pass_on(self, taker: Callable[..., None], content: tuple[Any, ...]) -> None:
        try:
            taker(*content)
        except CosimError:
            self.end()  # nothing reads the rest of its output
            raise

    def _what_happened(self, job: Job) -> str:
        who, where = self._place(job)
        if self.late:
            return f"{who} took too long: it was{where or ' at work'} when {self.time_limit:g} s (time_limit) were over"
        text = self.output().partition("Fatal Python error")[0].strip()  # without the stacks of Python
        quoted = f"; its output: {text[-QUOTED:]}" if text else ""
        return f"{who} {self.how_it_ended(where)}{quoted}"

    def _place(self, job: Job) -> tuple[str, str]:
        """Who was called last, and what and when."""
        place = last_place(self._crumb)
        components = list(job.system.components.values())
        if place is None or place.instance >= len(components):
            return f"the process that ran {job.system.name!r}", ""
        one = components[place.instance]
        return f"FMU {one.fmu.name} (instance {one.name!r})", f" in {place.call.name} at t = {place.t:.6g} s"


@dataclass
class _Answer:
    """What a run has given so far, where no sink takes it."""

    sink: Sink | None = None
    taken: int = 0  # rows
    left: tuple[Path, Layout] | None = None  # memory with rows that are not yet taken
    names: list[str] = field(default_factory=list)
    units: dict[str, str] = field(default_factory=dict)
    types: list[str] = field(default_factory=list)
    blocks: list[tuple[Any, list[Any]]] = field(default_factory=list)  # times, columns

    def begin(self, names: list[str], units: dict[str, str], types: list[str]) -> None:
        if self.sink:
            self.sink.begin(names, units, [TYPES[one] for one in types])
        else:
            self.names, self.units, self.types = names, units, types

    def rows(self, t: Any, columns: list[Any]) -> None:
        self.taken += len(t)
        if self.sink:
            self.sink.rows(t, columns)
        else:
            self.blocks.append((t, columns))

    def take_left(self) -> None:
        """Take the rows that a process which has ended could not pass on."""
        if self.left is None:
            return
        path, layout = self.left
        with contextlib.suppress(OSError):
            t, columns = layout.held(path.read_bytes(), self.taken)
            if len(t):
                self.rows(t, [columns[k] for k in range(len(columns))])

    def result(self, job: Job, about: Mapping[str, Any] | None = None) -> Result:
        """All of it; `about` is the child's report of a run that did not end it."""
        told = about or {}
        columns = {
            name: _joined([block[1][k] for block in self.blocks], kind)
            for k, (name, kind) in enumerate(zip(self.names, self.types, strict=True))
        }
        return Result(
            job.system.name,
            np.concatenate([np.empty(0), *(t for t, _ in self.blocks)]),
            columns,
            self.units,
            events=[(float(t), str(who)) for t, who in told.get("events", ())],
            notices=told.get("notices", ()),
            statistics=Statistics(**told["statistics"]) if told.get("statistics") else None,
            aborted=about is None or told["aborted"],
        )


def _joined(pieces: Sequence[NDArray[Any]], kind: str) -> NDArray[Any]:
    """Return a column from its pieces; most columns have a single one."""
    return pieces[0] if len(pieces) == 1 else np.concatenate([np.empty(0, dtype=kind), *pieces])
