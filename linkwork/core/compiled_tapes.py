"""Tapes as machine code: compiled in the background by the C compiler of this machine, and kept on disk."""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import functools
import hashlib
import importlib.util
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

from linkwork._util.cache_folder import cache_folder

_NAMES = ("cc", "gcc", "clang")
_PROCESSOR = "-mcpu=native" if platform.machine() in ("arm64", "aarch64") else "-march=native"
# Products and sums are rounded one by one. Vectors stand at any double: zig would check that they do not.
_FOR_ANY = ("-std=gnu11", "-O2", "-ffp-contract=off", "-fno-math-errno", "-fno-sanitize=undefined", "-w")
_FLAGS = (*_FOR_ANY, _PROCESSOR)
_SHARED = ("-shared", *(() if sys.platform == "win32" else ("-fPIC",)))
_SUFFIX = ".dll" if sys.platform == "win32" else ".so"
_MOST_KEPT = 500  # libraries on disk, the newest

_running: set[subprocess.Popen[str]] = set()
_kept_open: list[object] = []  # libraries, and folders of those that no cache keeps
_addresses: dict[str, int] = {}  # by key
_one_at_a_time = threading.Lock()


class Compilation:
    """A tape that is compiled by a thread, or found on disk.

    Attributes
    ----------
    address
        Of the function, once `is_done`; 0: there is none.
    reason
        Why there is none.
    """

    address = 0
    reason = ""

    def __init__(self, source: bytes) -> None:
        self._source = source
        self._thread = threading.Thread(target=self._run, name="linkwork-compiler", daemon=True)
        self._thread.start()

    @property
    def is_done(self) -> bool:
        """Whether the thread has ended."""
        return not self._thread.is_alive()

    def wait(self) -> None:
        """Wait for its end."""
        self._thread.join()

    def _run(self) -> None:
        try:
            with _one_at_a_time:
                self.address = _function(self._source)
        except (NotCompiledError, OSError) as error:
            self.reason = str(error)


class NotCompiledError(Exception):
    """There is no compiler, or it failed."""


def _function(source: bytes) -> int:
    """Return the address of the function of a file in C."""
    command = _command()
    key = hashlib.sha256(source + _target(command).encode()).hexdigest()[:32]
    if key not in _addresses:
        library = ctypes.CDLL(str(_kept_library(key) or _new_library(key, source, command)))
        _kept_open.append(library)
        _addresses[key] = ctypes.cast(library.linkwork_tape, ctypes.c_void_p).value or 0
    return _addresses[key]


def shared_library(source: Path, library: Path, include: Path) -> None:
    """Compile a file in C for any processor of the kind of this one.

    Parameters
    ----------
    source, library
        The file, and where to write.
    include
        The folder of headers.

    Raises
    ------
    NotCompiledError
        If there is no compiler, or it fails.
    """
    hidden = ("-fvisibility=hidden", *(() if sys.platform == "darwin" else ("-s",)))
    _call([*_command(), *_FOR_ANY, *_SHARED, *hidden, f"-I{include}", "-o", str(library), str(source)])


def _folder() -> Path:
    return cache_folder() / "tapes"


def _kept_library(key: str) -> Path | None:
    """Return the library on disk, whose name has a checksum of its content; a spoiled one is removed."""
    for found in _folder().glob(f"{key}.*{_SUFFIX}"):
        if found.name == _name(key, found.read_bytes()):
            return found
        found.unlink(missing_ok=True)
    return None


def _name(key: str, content: bytes) -> str:
    return f"{key}.{hashlib.sha256(content).hexdigest()[:32]}{_SUFFIX}"


def _new_library(key: str, source: bytes, command: tuple[str, ...]) -> Path:
    """Compile; the library is kept where a folder can be written, and otherwise lives as long as this process."""
    try:
        _folder().mkdir(parents=True, exist_ok=True)
        building = tempfile.TemporaryDirectory(prefix=".building-", dir=_folder(), ignore_cleanup_errors=True)
    except OSError:
        building = tempfile.TemporaryDirectory(prefix="linkwork-", ignore_cleanup_errors=True)
    written, library = Path(building.name) / "tape.c", Path(building.name) / f"tape{_SUFFIX}"
    written.write_bytes(source)
    _call([*command, *_FLAGS, *_SHARED, "-o", str(library), str(written)])
    content = library.read_bytes()
    if Path(building.name).parent != _folder():
        _kept_open.append(building)
        return library
    kept = library.replace(_folder() / _name(key, content))
    building.cleanup()
    with contextlib.suppress(OSError):  # another process may remove them at the same time
        for old in sorted(_folder().glob(f"*{_SUFFIX}"), key=lambda path: path.stat().st_mtime)[:-_MOST_KEPT]:
            old.unlink()
    return kept


@functools.cache
def _target(command: tuple[str, ...]) -> str:
    """Return all that a compiled tape depends on besides its source: version and macros of compiler and processor."""
    return " ".join(command) + " ".join(_FLAGS) + _call([*command, *_FLAGS, "-E", "-dM", "-x", "c", os.devnull])


def _command() -> tuple[str, ...]:
    """Return the compiler: LINKWORK_CC of the environment, that of the system, or the package ziglang."""
    given = os.environ.get("LINKWORK_CC")
    if given is not None:
        if not given.strip():
            raise NotCompiledError("the environment variable LINKWORK_CC is empty")
        return tuple(shlex.split(given))
    for found in filter(None, map(shutil.which, _NAMES)):
        return (found,)
    if importlib.util.find_spec("ziglang"):
        return sys.executable, "-m", "ziglang", "cc"
    raise NotCompiledError("there is no C compiler: install one, or the package ziglang")


def _call(arguments: list[str]) -> str:
    caches = dict.fromkeys(("ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR"), str(cache_folder() / "zig"))
    process = subprocess.Popen(
        arguments,
        env={**caches, **os.environ},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    )
    _running.add(process)
    try:
        output, messages = process.communicate()
    finally:
        _running.discard(process)
    if process.returncode:
        raise NotCompiledError(f"{arguments[0]} failed: {(messages.strip() or 'it was ended').splitlines()[0]}")
    return output


@atexit.register
def _end_compilers() -> None:
    for process in list(_running):
        process.kill()


def _forget_threads() -> None:
    """In a forked process there are none."""
    global _one_at_a_time
    _one_at_a_time = threading.Lock()
    _running.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)
