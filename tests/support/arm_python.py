"""Debian's Python for 64-bit ARM and the packages that linkwork needs, unpacked in build/arm64 and run by QEMU.

Nothing is installed: apt works on lists of its own in that folder.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from support.checkout import TOP

CACHE = TOP / "build" / "arm64"
DEBIAN = ("python3-minimal", "libpython3-stdlib", "libstdc++6")
PACKAGES = ("numpy", "scipy", "cffi", "threadpoolctl", "fmpy")
GLIBC = range(17, 37)  # Debian 12 has 2.36


@dataclass(frozen=True)
class ArmPython:
    """The command that emulates a Python program of ARM, and the folder of its packages."""

    command: Path
    packages: Path

    def run(self, *arguments: object, path: Path, cwd: Path) -> str:
        """Run Python with a folder of packages before the others; return its output."""
        environment = {"PYTHONPATH": f"{path}:{self.packages}", "PATH": "/usr/bin:/bin", "HOME": str(cwd)}
        done = subprocess.run(
            [str(self.command), *map(str, arguments)],
            cwd=cwd,
            env=environment,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
        return done.stdout


def arm_python(emulator: str) -> ArmPython:
    """Provide the Python, downloaded unless it was before; if something is missing, the skip names it."""
    root, packages, command = CACHE / "root", CACHE / "packages", CACHE / "python3"
    if not (CACHE / "done").exists():
        shutil.rmtree(CACHE, ignore_errors=True)
        _unpack_debian(root)
        command.write_text(f'#!/bin/sh\nexec {emulator} -L {root} {root}/usr/bin/python3 "$@"\n')
        command.chmod(0o755)
        version = subprocess.run([command, "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
        _unpack_packages(packages, ".".join(version.split(".")[:2]))
        # Processes that Python starts are emulated too.
        (packages / "sitecustomize.py").write_text(f"import sys\nsys.executable = {str(command)!r}\n")
        (CACHE / "done").touch()
    return ArmPython(command, packages)


def _unpack_debian(root: Path) -> None:
    state, archives = CACHE / "state", CACHE / "apt" / "archives"
    (state / "lists" / "partial").mkdir(parents=True)
    (archives / "partial").mkdir(parents=True)
    (state / "status").touch()
    options = {"APT::Architecture": "arm64", "APT::Architectures": "arm64", "Dir::State": state}
    options |= {"Dir::State::status": state / "status", "Dir::Cache": CACHE / "apt", "Debug::NoLocking": 1}
    apt = ["apt-get", "-qq", *(f"-o{name}={value}" for name, value in options.items())]
    _download([*apt, "update"])
    _download([*apt, "install", "--yes", "--no-install-recommends", "--download-only", *DEBIAN])
    for archive in archives.glob("*.deb"):
        subprocess.run(["dpkg", "-x", archive, root], check=True)


def _unpack_packages(folder: Path, version: str) -> None:
    tags = [f"--platform=manylinux_2_{minor}_aarch64" for minor in GLIBC]
    chosen = ["--only-binary=:all:", "--implementation=cp", f"--python-version={version}"]
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "-q"]
    _download([*pip, "-d", CACHE / "wheels", *chosen, *tags, "--platform=manylinux2014_aarch64", *PACKAGES])
    for wheel in (CACHE / "wheels").glob("*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder)


def _download(command: list[object]) -> None:
    try:
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip(f"needs the program {command[0]}")
    if done.returncode:
        pytest.skip(f"needs a registry of packages for 64-bit ARM: {done.stderr.strip()[-300:]}")
