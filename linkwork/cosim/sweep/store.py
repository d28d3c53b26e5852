"""The folder of a sweep: its identity, finished points, failed points.

    sweep.json            the sweep: system, hashes of FMUs and points, settings, versions
    points.parquet        point, parameters
    results/part-*.parquet  point, time, variables
    failures.jsonl        point, attempts, error

Only one process writes, and all that it has flushed outlives it.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from linkwork._util.files import atomic_path, folder_failure, is_part
from linkwork.cosim.recording.result import Result, stored_columns
from linkwork.cosim.sweep import result_parts
from linkwork.cosim.sweep.identity import differences
from linkwork.cosim.sweep.sampling import Points
from linkwork.errors import CosimError

HEADER, POINTS, RESULTS, FAILURES = "sweep.json", "points.parquet", "results", "failures.jsonl"
PART_SIZE = 32e6  # bytes of values
OFTEN = (3.0, 60.0)  # s between parts: at first, and at most
SHARE = 0.01  # of the time so far that may be lost: long sweeps do not make very many parts


class Store:
    """A folder that is being written."""

    def __init__(
        self,
        folder: Path,  # made if it is not there; resumed if it belongs to the same sweep
        header: Mapping[str, Any],  # the sweep's `identity`
        points: Points,  # its points
        notify: Callable[[str], None] = print,  # called with each notice
    ) -> None:
        self.folder, self._notify = folder, notify
        _open_folder(folder, header, points, notify)
        self._lock = _lock(folder)
        # Whether each point has its results, shape (points,).
        self.finished: NDArray[np.bool_] = np.zeros(len(points), dtype=bool)
        self._next_part = 0
        self._take_stock()
        self._waiting: list[tuple[int, Result]] = []
        self._failures: list[dict[str, Any]] = []
        self._size = 0
        self._began = self._flushed = time.monotonic()

    def add(self, point: int, answer: Result) -> None:
        """Take what a point gave."""
        if self._waiting and self._waiting[0][1].names != answer.names:
            self.flush()
        self._waiting.append((point, answer))
        self._size += answer.t.nbytes + sum(values.nbytes for values in stored_columns(answer).values())
        if self._size >= PART_SIZE:
            self.flush()
        self.flush_if_due()

    def fail(self, point: int, attempts: int, error: str, parameters: Mapping[str, Any]) -> None:
        """Take that a point has failed for good."""
        entry = {"point": point, "attempts": attempts, "error": error, "parameters": dict(parameters)}
        self._failures.append(entry)
        self.flush_if_due()

    def flush_if_due(self) -> None:
        """Write the buffered rows if they have waited long."""
        now = time.monotonic()
        if now - self._flushed > min(max(OFTEN[0], SHARE * (now - self._began)), OFTEN[1]):
            self.flush()

    def flush(self) -> None:
        """Write the buffered rows."""
        if self._failures:
            with open(self.folder / FAILURES, "a", encoding="utf-8") as file:
                file.writelines(json.dumps(one) + "\n" for one in self._failures)
                file.flush()
                os.fsync(file.fileno())
            self._failures = []
        if self._waiting:
            result_parts.write_part(self.folder / RESULTS / f"part-{self._next_part:06d}.parquet", self._waiting)
            self.finished[[point for point, _ in self._waiting]] = True
            self._next_part += 1
            self._waiting, self._size = [], 0
        self._flushed = time.monotonic()

    def close(self) -> None:
        """Write the buffered rows and unlock the folder."""
        try:
            self.flush()
        finally:
            self._lock.close()

    def _take_stock(self) -> None:
        for rest in (self.folder / RESULTS).glob(".*.part*"):
            rest.unlink()
        for path in sorted((self.folder / RESULTS).glob("part-*.parquet")):
            self._next_part = int(path.stem.partition("-")[2]) + 1
            numbers = result_parts.points_of(path)
            if numbers is None or (len(numbers) and numbers[-1] >= len(self.finished)):
                path.unlink()
                self._notify(f"{path} is broken, by a crash perhaps; it is dropped and its points are run again")
            else:
                self.finished[numbers] = True


def _open_folder(folder: Path, header: Mapping[str, Any], points: Points, notify: Callable[[str], None]) -> None:
    """Begin a sweep's folder, or see that it belongs to this one."""
    if os.path.exists(folder / HEADER):
        theirs = read_header(folder)
        if different := differences(header, theirs):
            raise CosimError(
                f"{folder} holds another sweep: {', '.join(different)} differ; give this one a folder of its own"
            )
        if header["versions"] != theirs.get("versions"):
            notify(f"{folder} was begun with other versions: {theirs.get('versions')}; now {header['versions']}")
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(one.name not in (POINTS, RESULTS, ".lock") and not is_part(one.name) for one in folder.iterdir()):
            raise CosimError(f"{folder} is not empty and holds no sweep; give the sweep a folder of its own")
        (folder / RESULTS).mkdir(exist_ok=True)
        result_parts.write_points(folder / POINTS, points.columns, len(points))
        text = json.dumps(header, indent=2) + "\n"
        with atomic_path(folder / HEADER) as part:
            part.write_text(text, encoding="utf-8")
    except OSError as problem:
        raise CosimError(folder_failure(folder, problem)) from problem


def read_header(folder: Path) -> dict[str, Any]:
    """The identity of the sweep in a folder."""
    try:
        header = json.loads((folder / HEADER).read_text(encoding="utf-8"))
        if not isinstance(header, dict):
            raise ValueError("it is no object of JSON")
    except (OSError, ValueError) as problem:
        raise CosimError(f"{folder} is not the folder of a sweep: {problem}") from problem
    return header


def read_failures(folder: Path) -> dict[int, dict[str, Any]]:
    """The last failure of each point that ever failed."""
    failures = {}
    path = folder / FAILURES
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        try:
            one = json.loads(line)
        except ValueError:
            continue  # cut by a crash; that point is run again
        failures[int(one["point"])] = one
    return failures


def _lock(folder: Path) -> IO[bytes]:
    """A file that is locked as long as it is open, by this process alone."""
    file = open(folder / ".lock", "ab")  # noqa: SIM115  (closed by the store)
    try:
        if os.name == "nt":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as problem:
        file.close()
        raise CosimError(f"another process is writing to {folder}; wait for it, or end it") from problem
    except OSError:
        pass  # a file system without locks
    return file
