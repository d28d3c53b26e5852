"""A process of Python that gets and sends messages, and may crash or hang without harm."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self, cast

from linkwork._util.child_pipes import FOLDER, STOP, receive, send

GRACE = 1.0  # s for a job to end once it was asked to
LAST_WORDS = 5.0  # s for a process that is aborted to print where it was


class ChildProcess:
    """A process that runs a module, which calls `listen`; it ends with this one. One thread at a time may use it.

    Parameters
    ----------
    module
        Its name.
    environment
        Variables of the environment that it gets besides those of this process.
    """

    def __init__(self, module: str, environment: Mapping[str, str] | None = None) -> None:
        self.late = False  # whether a time limit has ended it
        self._module, self._environment = module, dict(environment or {})
        self._folder = tempfile.TemporaryDirectory(prefix="linkwork_child_", ignore_cleanup_errors=True)
        # Of its own, which goes when it is closed. Temporary files of the process go as it is started again.
        self.folder = Path(self._folder.name)
        self._said: IO[bytes] = open(self.folder / "said", "a+b")  # noqa: SIM115  (closed by close())
        self._process: subprocess.Popen[bytes] | None = None
        self._grace: threading.Timer | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def pid(self) -> int | None:
        """Of the process, if there is one."""
        return self._process.pid if self._process else None

    @property
    def running(self) -> bool:
        """Whether there is a process that has not ended."""
        return self._process is not None and self._process.poll() is None

    def start(self, place: Path | None = None) -> None:
        """Start it, in a working directory."""
        self.end()
        self.late = False
        self._said.truncate(0)
        temporary = self.folder / "temporary"  # what a process that dies leaves behind, goes with the next
        shutil.rmtree(temporary, ignore_errors=True)
        temporary.mkdir(exist_ok=True)
        own = {**dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(temporary)), FOLDER: str(self.folder)}
        self._process = subprocess.Popen(
            # -P: nothing is imported from the folder in which it stands.
            [sys.executable, "-P", "-X", "faulthandler", "-m", self._module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            env={**os.environ, **self._environment, **own},
            cwd=place,
            start_new_session=True,  # an interruption from the keyboard is for the parent
        )

    # ---- messages

    def send(self, message: Any) -> None:
        """Send a message.

        Raises
        ------
        OSError
            If the process has ended.
        """
        assert self._process is not None
        send(cast("Any", self._process.stdin), message)

    def receive(self) -> Any:
        """Wait for a message.

        Raises
        ------
        EOFError, OSError
            If the process has ended.
        """
        assert self._process is not None
        return receive(cast("Any", self._process.stdout))

    @contextlib.contextmanager
    def limited(self, seconds: float | None) -> Iterator[None]:
        """End the process if the block takes longer; None: for ever."""
        assert self._process is not None
        timer = _timer(seconds, partial(self._abort, self._process)) if seconds else None
        try:
            yield
        finally:
            for one in (timer, self._grace):
                if one:
                    one.cancel()

    def ask_to_stop(self) -> None:
        """Ask it to end its job; who does not do so by itself is ended."""
        assert self._process is not None
        with contextlib.suppress(OSError):
            self.send(STOP)
        self._grace = _timer(GRACE, self._process.kill)

    def _abort(self, process: subprocess.Popen[bytes]) -> None:
        """End it so that it still prints where it was."""
        self.late = True
        process.send_signal(signal.SIGABRT if sys.platform != "win32" else signal.SIGTERM)
        _timer(LAST_WORDS, process.kill)

    # ---- its end

    def wait(self) -> int:
        """Wait until it has ended; return its exit code, negative for a signal."""
        assert self._process is not None
        return self._process.wait()

    def how_it_ended(self, where: str) -> str:
        """What happened to it, for an error's text, with where that was."""
        code = self.wait()
        if code >= 0:
            return f"ended the process with exit code {code}{where}"
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"signal {-code}"
        hint = "; was there memory enough?" if name == "SIGKILL" else ""
        return f"crashed with {name}{where}{hint}"

    def output(self) -> str:
        """The text that was printed in it; after a crash the stacks of Python are at its end."""
        self._said.seek(0)
        return self._said.read().decode("utf-8", "replace")

    def forget_output(self) -> None:
        """Forget the text that was printed in it."""
        self._said.truncate(0)

    def kill(self) -> None:
        """End the process, from any thread; who waits for a message gets an `EOFError`."""
        process = self._process
        if process:
            process.kill()

    def end(self) -> None:
        """End the process, if there is one."""
        process = self._process
        if process is None:
            return
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream:
                with contextlib.suppress(OSError):
                    stream.close()

    def close(self) -> None:
        """End the process and leave nothing behind."""
        self.end()
        self._said.close()
        self._folder.cleanup()


def _timer(seconds: float, what: Callable[[], None]) -> threading.Timer:
    timer = threading.Timer(seconds, what)
    timer.daemon = True
    timer.start()
    return timer
