"""A copy of the checkout, built with little optimisation, in which faults are tried."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from support.checkout import TOP

TIMEOUT = 200  # s of one test: longer, it hangs, and is found thereby


@dataclass
class Scratch:
    """The copy, an environment that imports from it alone, and the folder of its build."""

    folder: Path
    workers: int
    left_out: list[str] = field(default_factory=list)  # tests that fail in the copy without a fault

    @property
    def copy(self) -> Path:
        return self.folder / "checkout"

    @property
    def python(self) -> Path:
        return self.folder / "venv" / "bin" / "python"

    def make(self) -> None:
        """Copy the checkout as it is and build it, unless it is there."""
        if (self.folder / "made").exists():
            return
        shutil.rmtree(self.folder, ignore_errors=True)
        files = subprocess.run(["git", "ls-files", "-z"], cwd=TOP, check=True, capture_output=True, text=True).stdout
        for name in filter(None, files.split("\0")):
            if (TOP / name).exists():
                self._copy(name)
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(self.folder / "venv")], check=True)
        (packages,) = (self.folder / "venv" / "lib").glob("python3*/site-packages")
        # As a plain path: what an editable install hooks into imports stays out.
        paths = [str(self.folder / "site"), *(path for path in sys.path if path.endswith("site-packages"))]
        (packages / "paths.pth").write_text("\n".join(paths) + "\n", encoding="utf-8")
        install = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "-q", "--no-deps"]
        install += ["--no-build-isolation", "--target", str(self.folder / "site"), "-C", f"build-dir={self._build}"]
        install += ["-C", "cmake.define.LINKWORK_OPTIMIZATION=-O1"]
        subprocess.run([*install, str(self.copy)], check=True)
        pages = "linkwork/view/assets"  # built from the viewer
        shutil.copytree(TOP / pages, self.folder / "site" / pages, dirs_exist_ok=True)
        (self.folder / "made").touch()

    @property
    def _build(self) -> Path:
        return self.folder / "build"

    def _copy(self, name: str) -> None:
        target = self.copy / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(TOP / name, target, follow_symlinks=False)

    def restore(self, name: str) -> None:
        """Take a file from the checkout again, with a new time, so that it is compiled."""
        self._copy(name)
        os.utime(self.copy / name)

    def install(self, file: str) -> bool:
        """Put a changed file where the package is, of C the library; False if it does not compile."""
        return self._install_python(file) if file.endswith(".py") else self.build()

    def _install_python(self, file: str) -> bool:
        try:
            compile((self.copy / file).read_text(encoding="utf-8"), file, "exec")
        except SyntaxError:
            return False
        shutil.copy2(self.copy / file, self.installed(file))
        return True

    def installed(self, file: str) -> Path:
        """A file of Python where the package is: the solvers are a folder of it."""
        return self.folder / "site" / (file if file.startswith("linkwork/") else f"linkwork/{file}")

    def build(self) -> bool:
        """Compile the changed files of C and put the library where the package is; False if it does not compile."""
        command = ["cmake", "--build", str(self._build), "--target", "_core", "fmu", "--parallel", str(self.workers)]
        if subprocess.run(command, capture_output=True, check=False).returncode:
            return False
        for pattern, place in (("_core*.so", "core/"), ("linkwork.so", "binaries/*/")):
            (built,) = self._build.glob(pattern)
            (installed,) = (self.folder / "site" / "linkwork").glob(place + built.name)
            installed.unlink()  # rather than written over: a process may still have it mapped
            shutil.copy2(built, installed)
        return True

    def nearest_first(self, folders: Sequence[str], file: str) -> list[str]:
        """Files of tests: those named like the faulty file first, then those that name it or its parts most often."""
        stem = Path(file).name.partition(".")[0].removesuffix("_kernel").strip("_")
        text = (self.copy / file).read_text(encoding="utf-8")
        defined = re.findall(r"^(?:def|class) ([a-zA-Z]\w+)", text, re.MULTILINE)
        words = re.compile(rf"\b(?:{'|'.join([stem, *defined])})\b")

        def distance(test: Path) -> tuple[bool, int]:
            return stem not in test.stem, -len(words.findall(test.read_text(encoding="utf-8")))

        places = [self.copy / folder for folder in folders]
        files = [file for place in places for file in (sorted(place.rglob("test_*.py")) if place.is_dir() else [place])]
        return [path.relative_to(self.copy).as_posix() for path in sorted(files, key=distance)]

    def test(self, tests: Sequence[str], marks: str = "not slow") -> str | None:
        """Return the first test that fails, "" if it cannot be named, None if all pass."""
        command = [str(self.python), "-m", "pytest", "-x", "-q", "-m", marks, "-p", "no:cacheprovider", "--tb=no"]
        command += ["-c", "pyproject.toml", "--rootdir", ".", *(f"--deselect={test}" for test in self.left_out)]
        if self.workers > 1:
            command += ["-n", str(self.workers), "--dist", "loadfile"]
        command += ["-o", f"faulthandler_timeout={TIMEOUT}", "-o", "faulthandler_exit_on_timeout=true"]
        run = subprocess.run(
            [*command, *tests],
            cwd=self.copy,
            env={**os.environ, "PYTHONSAFEPATH": "1"},  # no package from the working folder
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            check=False,
        )
        output = run.stdout.decode(errors="replace")
        if run.returncode == 0:
            return None
        if "Timeout (" in output:
            return "it hangs"
        failed = [line for line in output.splitlines() if line.startswith(("FAILED ", "ERROR "))]
        return failed[0].split(" - ")[0].partition(" ")[2] if failed else output.strip().splitlines()[-1]
