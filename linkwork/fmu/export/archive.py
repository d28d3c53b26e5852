"""Zip archives that depend on nothing but their content."""

import os
import zipfile
from collections.abc import Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from linkwork.errors import ExportError

_EPOCH = (1980, 1, 1, 0, 0, 0)
SMALL, FAST = 9, 1  # levels of compression of what comes in pieces
WHOLE = 6  # of libraries above all: beyond, they hardly get smaller


def write_archive(path: Path, files: Mapping[str, bytes | Iterable[bytes]], level: int = SMALL) -> None:
    """Write files, by their path in the archive, to a zip archive that appears only when it is complete.

    A file may come in pieces: while one is compressed, the next is made. `level` is that of their compression.

    Raises
    ------
    ExportError
        If the archive cannot be written.
    """
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in files.items():
                if isinstance(data, bytes):
                    archive.writestr(_entry(name), data, compresslevel=WHOLE)
                else:
                    _write_pieces(archive, _entry(name), data, level)
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise ExportError(f"cannot write {path}: {error.strerror or error}; choose a folder that exists") from error
    except BaseException:
        part.unlink(missing_ok=True)
        raise


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


def _entry(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, _EPOCH)
    info.compress_type = zipfile.ZIP_DEFLATED
    info.create_system = 3  # Unix, wherever it is written
    info.external_attr = (0o755 if name.startswith("binaries/") else 0o644) << 16
    return info
