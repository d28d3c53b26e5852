"""Jobs for a process of its own, which is started again when an FMU has ended it."""

from __future__ import annotations

import contextlib
import os
import pickle
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO, Any, cast

import numpy as np

from linkwork.cosim.isolated.call_record import VARIABLE, last_place, write_nowhere
from linkwork.cosim.isolated.child import FOLDER
from linkwork.cosim.isolated.job import Job
from linkwork.cosim.isolated.messages import STOP, receive, send
from linkwork.cosim.recording.chunk import Layout
from linkwork.cosim.recording.result import Result, Statistics
from linkwork.cosim.recording.sink import Sink
from linkwork.cosim.running.interruption import Interruption
from linkwork.errors import CosimError

TYPES: dict[str, type] = {one.__name__: one for one in (float, int, np.uint64, bool, str)}
GRACE = 1.0  # s for a job to end once it was asked to
QUOTED = 2000  # characters of the last output that an error quotes


class Died(CosimError):
    """The process ended in the middle of a job: an FMU crashed, ended it, or took too long."""


class Child:
    """A process that runs systems of FMUs.

    It keeps unpacked FMUs from job to job, and ends with this one. One thread at a time may use it.

    Parameters
    ----------
    time_limit
        The longest that a job may take [s]; None: for ever.
    """

    def __init__(self, *, time_limit: float | None = None) -> None:
        self.time_limit = time_limit
        self._folder = tempfile.TemporaryDirectory(prefix="linkwork_child_", ignore_cleanup_errors=True)
        self._crumb = Path(self._folder.name) / "breadcrumb"
        self._said: IO[bytes] = open(Path(self._folder.name) / "said", "a+b")  # noqa: SIM115  (closed by close())
        self._process: subprocess.Popen[bytes] | None = None
        self._closed = False
        self._grace: threading.Timer | None = None

    def __enter__(self) -> Child:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def pid(self) -> int | None:
        """Of the process, if there is one."""
        return self._process.pid if self._process else None

    def start(self) -> None:
        """Have the process get ready for its first job."""
        if self._closed:
            raise CosimError("this child is closed; make another one")
        if self._process is None or self._process.poll() is not None:
            self._start()

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
        assert self._process is not None
        self._said.truncate(0)
        late = threading.Event()
        timer = threading.Timer(self.time_limit, self._abort, (self._process, late)) if self.time_limit else None
        if timer:
            timer.daemon = True
            timer.start()
        answer = _Answer(sink)
        interruption = Interruption(self._ask_to_stop)
        try:
            return self._talk(self._process, job, answer, interruption)
        except (EOFError, OSError) as gone:
            if interruption.asked:
                answer.take_left()
                return answer.result(job)
            how = self._how_it_ended(job, late.is_set())
            answer.take_left()
            raise Died(how, answer.result(job)) from gone
        except BaseException as problem:
            if not isinstance(problem, CosimError):
                self._end()  # interrupted, or a job that cannot be sent: nobody knows what it would answer next
                answer.take_left()
            raise
        finally:
            for one in (timer, self._grace):
                if one:
                    one.cancel()

    def kill(self) -> None:
        """End the process, from any thread; who waits for an answer gets a `Died`."""
        process = self._process
        if process:
            process.kill()

    def close(self) -> None:
        """End the process and leave nothing behind."""
        self._closed = True
        self._end()
        self._said.close()
        self._folder.cleanup()

    # ---- the process ------------------------------------------------------------------------------------

    def _start(self) -> None:
        self._end()
        write_nowhere(self._crumb)
        temporary = Path(self._folder.name) / "temporary"  # what a child that dies leaves behind, goes with the next
        shutil.rmtree(temporary, ignore_errors=True)
        temporary.mkdir(exist_ok=True)
        environment = {
            # Threads of numpy's are of no use here, and many children would start many.
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
            **os.environ,
            **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(temporary)),
            VARIABLE: str(self._crumb),
            FOLDER: self._folder.name,
        }
        self._process = subprocess.Popen(
            # -P: nothing is imported from the folder in which it stands.
            [sys.executable, "-P", "-X", "faulthandler", "-m", "linkwork.cosim.isolated.child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            env=environment,
            start_new_session=True,  # an interruption from the keyboard is for the parent
        )

    def _end(self) -> None:
        process = self._process
        if process is None:
            return
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream:
                with contextlib.suppress(OSError):
                    stream.close()

    def _ask_to_stop(self) -> None:
        """Who does not end its job by itself is ended."""
        process = self._process
        assert process is not None
        with contextlib.suppress(OSError):
            send(cast("Any", process.stdin), STOP)
        self._grace = threading.Timer(GRACE, process.kill)
        self._grace.daemon = True
        self._grace.start()

    @staticmethod
    def _abort(process: subprocess.Popen[bytes], late: threading.Event) -> None:
        late.set()
        process.kill()

    # ---- messages ---------------------------------------------------------------------------------------

    def _talk(self, process: subprocess.Popen[bytes], job: Job, answer: _Answer, interruption: Interruption) -> Result:
        _hand_over(cast("Any", process.stdin), job)
        with interruption:  # from here on nobody else writes to the child
            while True:
                kind, content = receive(cast("Any", process.stdout))
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
            self._end()  # nothing reads the rest of its output
            raise

    # ---- what went wrong --------------------------------------------------------------------------------

    def _how_it_ended(self, job: Job, late: bool) -> str:
        assert self._process is not None
        code = self._process.wait()
        who, where = self._place(job)
        if late:
            return f"{who} took too long: it was{where or ' at work'} when {self.time_limit:g} s (time_limit) were over"
        if code < 0:
            try:
                name = signal.Signals(-code).name
            except ValueError:
                name = f"signal {-code}"
            hint = "; was there memory enough?" if name == "SIGKILL" else ""
            return f"{who} crashed with {name}{where}{hint}{self._quoted()}"
        return f"{who} ended the process with exit code {code}{where}{self._quoted()}"

    def _place(self, job: Job) -> tuple[str, str]:
        """Who was called last, and what and when."""
        place = last_place(self._crumb)
        components = list(job.system.components.values())
        if place is None or place.instance >= len(components):
            return f"the process that ran {job.system.name!r}", ""
        one = components[place.instance]
        return f"FMU {one.fmu.name} (instance {one.name!r})", f" in {place.call.name} at t = {place.t:.6g} s"

    def _quoted(self) -> str:
        """The last output, without the stacks of Python."""
        self._said.seek(0)
        text = self._said.read().decode("utf-8", "replace").partition("Fatal Python error")[0].strip()
        return f"; its output: {text[-QUOTED:]}" if text else ""


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
            name: np.concatenate([np.empty(0, dtype=kind), *(block[1][k] for block in self.blocks)])
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


def _hand_over(stream: Any, job: Job) -> None:
    try:
        send(stream, job)
    except (pickle.PicklingError, AttributeError, TypeError) as problem:
        raise CosimError(f"the settings cannot be sent to another process: {problem}; use plain values") from problem
