"""The shared libraries that go into an FMU: this platform's is there, others are compiled."""

from collections.abc import Iterable
from pathlib import Path

from linkwork._util.names import suggest
from linkwork._util.progress import Progress, ProgressOption
from linkwork.core.sources import fmu_libraries
from linkwork.errors import ExportError, ExportNameError
from linkwork.fmu.export.cross_compile import TARGETS, cross_library

PLATFORMS = tuple(TARGETS)


def libraries(platforms: Iterable[str] | None = None, progress: ProgressOption = None) -> dict[str, Path]:
    """Return the shared library of each platform, by FMI 3 platform tuple such as ``aarch64-linux``.

    Parameters
    ----------
    platforms
        Which; None: the one that this installation brings along.
    progress
        Show progress on standard error; a function gets each `ProgressUpdate` instead. Default: only on a terminal.

    Raises
    ------
    ExportError
        If a platform is unknown, a library is missing or cannot be compiled.
    """
    wanted = None if platforms is None else _known(platforms)
    try:
        shipped = fmu_libraries()
    except FileNotFoundError as error:
        if wanted is None:
            raise ExportError(f"no FMU without a shared library: {error}") from error
        shipped = {}
    if wanted is None:
        return shipped
    with Progress(progress) as shown:
        return {platform: shipped.get(platform) or cross_library(platform, shown) for platform in wanted}


def _known(platforms: Iterable[str]) -> list[str]:
    wanted = [platforms] if isinstance(platforms, str) else list(dict.fromkeys(platforms))
    if not wanted:
        raise ExportError(f"no platform is given; choose from {', '.join(PLATFORMS)}")
    for platform in wanted:
        if platform not in PLATFORMS:
            raise ExportNameError(f"there is no platform {platform!r}: {suggest(platform, PLATFORMS)}")
    return wanted
