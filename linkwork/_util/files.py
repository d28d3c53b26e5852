"""Files and zip archives that are written as a whole: an interrupted or failed write leaves the old file."""

from __future__ import annotations

import contextlib
import errno
import lzma
import os
import shutil
import stat
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path
from uuid import uuid4

_EPOCH = (1980, 1, 1, 0, 0, 0)
SMALL, FAST = 9, 1  # levels of compression of files in pieces
MOST_OF_STEM = 100  # letters of the name of a part: that of a file may be as long as the file system takes
_LIBRARIES = "binaries/"
WHOLE = 6  # for libraries above all: higher levels hardly make them smaller

# What reading from an archive that is damaged, encrypted or of an unknown method raises, besides OSError.
ZIP_ERRORS = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, RuntimeError)

_REMEDIES = {
    errno.ENOSPC: "free some space or choose another folder",
    errno.EDQUOT: "free some space or choose another folder",
    errno.EFBIG: "raise the limit of the file size or choose another file system",
    errno.ENAMETOOLONG: "choose a shorter name",
    errno.ELOOP: "a link leads to itself: choose another folder",
}


@contextlib.contextmanager
def atomic_path(path: str | os.PathLike[str], error: type[Exception] | None = None) -> Iterator[Path]:
    """Give a path in the same folder to write to, with the same suffix; at the end that file replaces `path`.

    Symbolic links are resolved, permissions of an existing file are kept, and devices are written directly. A failure
    is raised as `error`, by default as the type of `OSError` that it is.

    Raises
    ------
    OSError
        If the file cannot be written; the text names the path and the remedy.
    """
    target = Path(os.path.realpath(path))
    # Unlike methods of `Path` these functions raise nothing of a name that is too long.
    direct = os.path.exists(target) and not os.path.isfile(target) and not os.path.isdir(target)
    part = target if direct else target.with_name(f".{target.stem[:MOST_OF_STEM]}.{uuid4().hex}.part{target.suffix}")
    try:
        _check(target)
        yield part
        if not direct:
            _replace(part, target)
    except OSError as problem:
        raise (error or type(problem))(write_failure(path, problem)) from problem
    finally:
        if not direct:
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)


def is_part(name: str) -> bool:
    """Return whether a file name is that of an unfinished file.

    >>> is_part(".points.0a1b.part.parquet"), is_part("points.parquet")
    (True, False)
    """
    return name.startswith(".") and ".part" in name


def write_failure(path: str | os.PathLike[str], problem: OSError) -> str:
    """Return the message about a file that cannot be written, with the remedy."""
    folder = Path(path).parent
    if os.path.isdir(path):
        return f"cannot write {path}: it is a folder; name a file"
    if isinstance(problem, NotADirectoryError):
        return f"cannot write {path}: {folder} is no folder; choose another folder"
    if isinstance(problem, FileNotFoundError) and not os.path.isdir(folder):
        return f"cannot write {path}: there is no folder {folder}; make it first"
    return f"cannot write {path}: {_reason(problem)}"


def check_target(path: str | os.PathLike[str], error: type[Exception]) -> None:
    """Refuse a file, before its content is computed, whose folder is missing or whose name is that of a folder.

    Raises
    ------
    Exception
        `error`, with the text of `atomic_path`.
    """
    try:
        _check(Path(os.path.realpath(path)))
    except OSError as problem:
        raise error(write_failure(path, problem)) from problem


def make_folder(folder: str | os.PathLike[str], error: type[Exception]) -> Path:
    """Make a folder and those around it where they are missing, and return it.

    Raises
    ------
    Exception
        `error`, if it cannot be made; the text names the folder and the remedy.
    """
    made = Path(folder)
    try:
        made.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise error(folder_failure(made, problem)) from problem
    return made


def folder_failure(folder: Path, problem: OSError) -> str:
    """Return the message about a folder that cannot be made or written to, with the remedy."""
    taken = [one for one in (folder, *folder.parents) if os.path.isfile(one)]
    if taken:
        return f"cannot write to {folder}: {taken[0]} is a file; choose another folder"
    return f"cannot write to {folder}: {_reason(problem)}"


def _reason(problem: OSError) -> str:
    return f"{problem.strerror or problem}; {_REMEDIES.get(problem.errno or 0, 'choose another folder')}"


def with_suffix(path: str | os.PathLike[str], suffix: str, what: str, error: type[Exception]) -> Path:
    """Return the path of a file of one format; another suffix is refused as `error`: programs know the file by it.

    >>> str(with_suffix("arm.fmu", ".fmu", "an FMU", ValueError))
    'arm.fmu'
    >>> with_suffix("arm.zip", ".fmu", "an FMU", ValueError)
    Traceback (most recent call last):
    ValueError: cannot write arm.zip: the name of an FMU ends in .fmu; write arm.fmu
    """
    target = Path(path)
    if target.suffix.lower() == suffix:
        return target
    remedy = target.with_suffix(suffix) if target.suffix[1:].isalpha() else f"{target}{suffix}"
    raise error(f"cannot write {target}: the name of {what} ends in {suffix}; write {remedy}")


def write_archive(
    path: Path,
    files: Mapping[str, bytes | Path | Iterable[bytes]],
    error: type[Exception] | None = None,
    level: int = SMALL,
) -> None:
    """Write files, by their path in the archive, to a zip archive whose bytes depend on nothing but their content.

    A file may come in pieces: while one is compressed, the next is made. `level` is that of their compression.
    Libraries are the same in one archive after another, and are compressed once.

    Raises
    ------
    OSError
        Or `error`: if the archive cannot be written or a file cannot be read.
    """
    with atomic_path(path, error) as part, zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            if isinstance(data, bytes | Path):
                content = data if isinstance(data, bytes) else data.read_bytes()
                if name.startswith(_LIBRARIES):
                    _write_library(archive, _entry(name), content)
                else:
                    archive.writestr(_entry(name), content, compresslevel=WHOLE)
            else:
                _write_pieces(archive, _entry(name), data, level)


def _check(target: Path) -> None:
    if not stat.S_ISDIR(target.parent.stat().st_mode):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
    with contextlib.suppress(FileNotFoundError):
        if stat.S_ISDIR(target.stat().st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))


def _replace(part: Path, target: Path) -> None:
    """Put a file in its place when it is on the disk."""
    with open(part, "rb+") as file:
        os.fsync(file.fileno())
    if target.exists():
        shutil.copymode(target, part)
    os.replace(part, target)
    with contextlib.suppress(OSError):  # Windows opens no folders
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _write_pieces(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, pieces: Iterable[bytes], level: int) -> None:
    entry._compresslevel = level  # type: ignore[attr-defined]  # of ZipFile.open, which has no argument for it
    with archive.open(entry, "w") as file, ThreadPoolExecutor(1) as pool:
        done: Future[int] | None = None
        for piece in pieces:
            if done is not None:
                done.result()
            done = pool.submit(file.write, piece)
        if done is not None:
            done.result()


def _write_library(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, content: bytes) -> None:
    entry.file_size = len(content)
    with archive.open(entry, "w") as file:
        file._compressor = _Compressed(_deflated(content, WHOLE))  # type: ignore[attr-defined]  # which ZipFile cannot be given
        file.write(content)


class _Compressed:
    """A compressor whose result is known before."""

    def __init__(self, result: bytes) -> None:
        self._result = result

    def compress(self, _content: bytes) -> bytes:
        return b""

    def flush(self) -> bytes:
        return self._result


@lru_cache(8)
def _deflated(content: bytes, level: int) -> bytes:
    """Return the bytes that `ZipFile` makes of a file."""
    compressor = zlib.compressobj(level, zlib.DEFLATED, -zlib.MAX_WBITS)
    return compressor.compress(content) + compressor.flush()


def _entry(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, _EPOCH)
    info.compress_type = zipfile.ZIP_STORED if name.endswith(".fmu") else zipfile.ZIP_DEFLATED  # FMUs are zips
    info.create_system = 3  # Unix, wherever it is written
    info.external_attr = (0o755 if name.startswith(_LIBRARIES) else 0o644) << 16
    return info
