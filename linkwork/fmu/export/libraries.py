"""The shared libraries that go into an FMU: those that the installation brings, or else compiled."""

from collections.abc import Iterable
from pathlib import Path

from linkwork._util.names import suggest
from linkwork._util.progress import Progress, ProgressOption
from linkwork.core.sources import fmu_libraries, host_platform
from linkwork.errors import ExportError, ExportNameError
from linkwork.fmu.export.cross_compile import TARGETS, cross_library
from linkwork.fmu.export.universal_library import universal_library

PLATFORMS = tuple(TARGETS)
# FMI 2.0 has names of its own for some platforms; FMI 3.0 takes architecture and operating system as they are.
_FMI2_PLATFORMS = {"x86_64-linux": "linux64", "x86_64-windows": "win64", "x86_64-darwin": "darwin64"}


def library_files(
    identifier: str, fmi: str, platforms: Iterable[str] | None = None, progress: ProgressOption = None
) -> dict[str, bytes]:
    """Return the shared libraries of an FMU by path in the archive; the arguments are those of `libraries`."""
    names = _FMI2_PLATFORMS if fmi == "2.0" else {}
    found, macos = {}, []
    for platform, library in libraries(platforms, progress).items():
        data = library.read_bytes()
        found[f"binaries/{names.get(platform, platform)}/{identifier}{library.suffix}"] = data
        if platform.endswith("-darwin"):
            macos.append(data)
    if macos and fmi == "2.0":  # where importers on either processor look
        folder = f"binaries/{_FMI2_PLATFORMS['x86_64-darwin']}"
        found[f"{folder}/{identifier}.dylib"] = universal_library(macos) if len(macos) > 1 else macos[0]
    return found


def libraries(platforms: Iterable[str] | None = None, progress: ProgressOption = None) -> dict[str, Path]:
    """Return the shared library of each platform, by FMI 3 platform tuple such as ``aarch64-linux``.

    Parameters
    ----------
    platforms
        Which; None: the one on which this runs.
    progress
        Show progress on standard error; a function gets each `ProgressUpdate` instead. Default: only on a terminal.
    """
    wanted = [host_platform()] if platforms is None else _known(platforms)
    try:
        shipped = fmu_libraries()
    except FileNotFoundError as error:
        if platforms is None:
            raise ExportError(f"no FMU without a shared library: {error}") from error
        shipped = {}
    if platforms is None and wanted[0] not in shipped:
        raise ExportError(
            f"the installation of linkwork has no FMU library for {wanted[0]}, on which it runs, but for "
            f"{', '.join(shipped)}; install it for this platform, or give platforms="
        )
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
