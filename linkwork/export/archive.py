"""Zip archives that depend on nothing but their content."""

import os
import zipfile
from collections.abc import Mapping
from pathlib import Path

from linkwork.errors import ExportError

_EPOCH = (1980, 1, 1, 0, 0, 0)


def write_archive(path: Path, files: Mapping[str, bytes]) -> None:
    """Write files, by their path in the archive, to a zip archive that appears only when it is complete.

    Raises
    ------
    ExportError
        If the archive cannot be written.
    """
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in files.items():
                archive.writestr(_entry(name), data, compresslevel=9)
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise ExportError(f"cannot write {path}: {error.strerror or error}; choose a folder that exists") from error
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _entry(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, _EPOCH)
    info.compress_type = zipfile.ZIP_DEFLATED
    info.create_system = 3  # Unix, wherever it is written
    info.external_attr = (0o755 if name.startswith("binaries/") else 0o644) << 16
    return info
