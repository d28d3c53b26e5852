"""`python -m wheels`: the source archive, and a wheel for each platform."""

import argparse
import shutil
import sys
import tempfile
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

from linkwork._util.progress import Progress
from linkwork.errors import ExportError
from linkwork.fmu.export.cross_compile import cross_library, suffix
from linkwork.fmu.export.libraries import PLATFORMS
from wheels.archive import TOP, WheelError, base, derive, source_date
from wheels.extension import build_extension
from wheels.targets import TARGETS, Target

ASSETS = ("viewer.js", "worker.js", "core.wasm")


def main() -> int:
    """Build what is asked for; print each file and its size."""
    known = [target.platform for target in TARGETS]
    parser = argparse.ArgumentParser(
        prog="python -m wheels", description="Build the source archive, and wheels for all platforms from this one."
    )
    parser.add_argument("platforms", nargs="*", metavar="PLATFORM", help=f"{', '.join(known)} (default: all)")
    parser.add_argument("--out", type=Path, default=TOP / "dist", help="folder of the files (default: dist)")
    options = parser.parse_args()
    if unknown := sorted(set(options.platforms) - set(known)):
        parser.error(f"there is no platform {unknown[0]!r}; the platforms are {', '.join(known)}")
    chosen = [target for target in TARGETS if target.platform in (options.platforms or known)]
    try:
        build(chosen, options.out)
    except (WheelError, ExportError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def build(targets: Iterable[Target], out: Path) -> None:
    """Write the source archive and the wheels of targets to a folder."""
    missing = [name for name in ASSETS if not (TOP / "linkwork" / "view" / "assets" / name).is_file()]
    if missing:
        raise WheelError(f"the viewer is missing ({', '.join(missing)}); run python viewer/build.py")
    date = source_date()
    with Progress(None) as progress, tempfile.TemporaryDirectory(prefix="linkwork-wheels-") as made:
        folder = Path(made)
        archive, wheel = base(folder / "base", date)
        common = {**fmu_libraries(progress), **licences(wheel)}
        out.mkdir(parents=True, exist_ok=True)
        show(Path(shutil.copy(archive, out)))
        for target in targets:
            extension = build_extension(target, folder / target.platform / "extension", progress)
            files = {**common, f"linkwork/core/{extension.name}": extension}
            show(derive(wheel, target.tag, files, out, folder / target.platform / "content", date))


def fmu_libraries(progress: Progress) -> dict[str, Path]:
    """Return the FMU libraries of all platforms by their place in a wheel: any wheel exports FMUs for all."""
    return {f"linkwork/binaries/{name}/linkwork{suffix(name)}": cross_library(name, progress) for name in PLATFORMS}


def licences(wheel: Path) -> dict[str, Path]:
    """Return the licence of the C library that zig links into libraries of Windows, by its place in a wheel."""
    name, version = wheel.name.split("-")[:2]
    spec = find_spec("ziglang")
    if spec is None or spec.origin is None:
        raise WheelError("the package ziglang is missing; install it by: pip install ziglang")
    text = Path(spec.origin).parent / "lib" / "libc" / "mingw" / "COPYING"
    return {f"{name}-{version}.dist-info/licenses/mingw-w64.txt": text}


def show(path: Path) -> None:
    """Print a file that was written, and its size."""
    print(f"{path.name}: {path.stat().st_size / 1e6:.1f} MB", flush=True)


if __name__ == "__main__":
    sys.exit(main())
