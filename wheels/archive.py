"""Archives: the wheel that scikit-build-core makes, and from it that of a platform, by the tools of the package wheel.

The same content gives the same bytes: all files have the time of SOURCE_DATE_EPOCH and the usual permissions.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

TOP = Path(__file__).parents[1]
OLDEST_DATE = 315532800  # 1980, where the dates of zip files begin


class WheelError(Exception):
    """A wheel cannot be built; the text says why and what to do."""


def base(folder: Path, date: int) -> tuple[Path, Path]:
    """Build the source archive, and from it a wheel without compiled files; return both."""
    steps = ["-Cbuild.targets=help", "-Cinstall.components=sources"]  # CMake compiles nothing and copies sources
    _run(["-m", "build", "--no-isolation", *steps, "--outdir", folder, TOP], date)
    (archive,), (wheel,) = folder.glob("*.tar.gz"), folder.glob("*.whl")
    return archive, wheel


def derive(wheel: Path, tag: str, files: Mapping[str, Path], out: Path, scratch: Path, date: int) -> Path:
    """Write a wheel for a platform: the base wheel with more files, by their place in it; return its path."""
    tagged = wheel.with_name(_run(["-m", "wheel", "tags", "--platform-tag", tag, wheel], date).split()[-1])
    _run(["-m", "wheel", "unpack", "--dest", scratch, tagged], date)
    tagged.unlink()
    (content,) = scratch.iterdir()
    for name, path in files.items():
        place = content / name
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, place)
    for path in content.rglob("*"):
        path.chmod(0o755 if path.is_dir() or path.suffix in (".so", ".dylib", ".dll", ".pyd") else 0o644)
    out.mkdir(parents=True, exist_ok=True)
    _run(["-m", "wheel", "pack", "--dest-dir", out, content], date)
    return out / tagged.name


def source_date() -> int:
    """Return the time of all files in archives: SOURCE_DATE_EPOCH, or that of the commit, or 1980."""
    if given := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(given)
    command = ["git", "-C", str(TOP), "log", "-1", "--format=%ct"]
    try:
        return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    except (OSError, subprocess.CalledProcessError, ValueError):
        return OLDEST_DATE


def _run(arguments: list[object], date: int) -> str:
    command = [sys.executable, *map(str, arguments)]
    environment = {**os.environ, "SOURCE_DATE_EPOCH": str(date)}
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False, env=environment)
    if done.returncode:
        shown = "\n".join((done.stdout + done.stderr).strip().splitlines()[-30:])
        raise WheelError(f"{' '.join(command[1:4])} failed:\n{shown}")
    return done.stdout
