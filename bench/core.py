"""The core timed without Python, by a driver in C."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import linkwork as lw
from bench.mechanisms import CHECKOUT, Missing, Scene
from bench.timing import Timing

PATIENCE = 120.0  # s
Motion = tuple[np.ndarray, np.ndarray, np.ndarray]


INSTRUCTIONS = re.compile(r"Collected : (\d+)")


@dataclass(frozen=True)
class Run:
    """What the driver found: timings by stage, and the bytes of a state's block and of the process at its peak."""

    timings: dict[str, Timing]
    block: int
    peak: int


def build_driver(name: str = "time_core") -> Path:
    """Compile the drivers with the package's own CMake files, hence with its flags, and return one of them."""
    folder = CHECKOUT / "build" / "bench"
    configure = ["cmake", "-S", str(CHECKOUT / "bench"), "-B", str(folder), "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release"]
    for command in (configure, ["cmake", "--build", str(folder)]):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise Missing(f"the timing driver does not build:\n{done.stdout}{done.stderr}")
    if not (folder / name).exists():
        raise Missing(f"{name} is left out of the build: install the headers it needs (Debian: libsundials-dev)")
    return folder / name


def time_core(driver: Path, scene: Scene) -> dict[str, Timing]:
    """Return CPU time and accelerations of the tree joints for each stage that the driver times."""
    return run_driver(driver, scene.system, scene.motion).timings


@contextmanager
def written(system: lw.Model, motion: Motion) -> Iterator[tuple[Path, Path]]:
    """The files that the driver reads."""
    with tempfile.TemporaryDirectory() as folder:
        model, numbers = Path(folder) / "model", Path(folder) / "motion"
        model.write_bytes(system.model_bytes)
        numbers.write_bytes(np.concatenate(motion).tobytes())
        yield model, numbers


def answer_of(command: list[str | Path]) -> subprocess.CompletedProcess[str]:
    """Run a driver, which must succeed."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        raise Missing(f"the timing driver takes longer than {PATIENCE:g} s") from None
    if done.returncode:
        raise Missing(f"the timing driver fails: {done.stderr.strip() or done.returncode}")
    return done


def count_instructions(driver: Path, system: lw.Model, motion: Motion) -> float | None:
    """Return the instructions of one evaluation of the accelerations, None without valgrind."""
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        return None
    few, many, found = 10, 110, []
    with written(system, motion) as files:
        for count in (few, many):
            counted = [valgrind, "--tool=callgrind", "--callgrind-out-file=/dev/null", driver, *files, str(count)]
            match = INSTRUCTIONS.search(answer_of(counted).stderr)
            if match is None:
                return None
            found.append(int(match[1]))
    return (found[1] - found[0]) / (many - few)


def run_driver(driver: Path, system: lw.Model, motion: Motion) -> Run:
    """Time a system at q, u (tree joints) and tau (all joints) in a process of its own."""
    with written(system, motion) as files:
        done = answer_of([driver, *files])
    *lines, accelerations = done.stdout.splitlines()
    udot = np.array(accelerations.split(), dtype=float)
    found = {name: float(number) for name, number in (line.split() for line in lines)}
    block, peak = int(found.pop("block")), int(found.pop("peak"))
    return Run({name: Timing(us, udot) for name, us in found.items()}, block, peak)
