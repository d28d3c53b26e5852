"""The core timed without Python, by a driver in C."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

import numpy as np

from bench.mechanisms import CHECKOUT, Missing, Scene
from bench.timing import Timing


def build_driver() -> Path:
    """Compile the driver with the package's own CMake files, hence with its flags."""
    folder = CHECKOUT / "build" / "bench"
    configure = ["cmake", "-S", str(CHECKOUT / "bench"), "-B", str(folder), "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release"]
    for command in (configure, ["cmake", "--build", str(folder)]):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise Missing(f"the timing driver does not build:\n{done.stdout}{done.stderr}")
    return folder / "time_core"


def time_core(driver: Path, scene: Scene) -> dict[str, Timing]:
    """Return CPU time and accelerations of the tree joints for each stage that the driver times."""
    with tempfile.TemporaryDirectory() as folder:
        model, motion = Path(folder) / "model", Path(folder) / "motion"
        model.write_bytes(scene.system.model_bytes)
        motion.write_bytes(np.concatenate(scene.motion).tobytes())
        out = subprocess.run([driver, model, motion], check=True, capture_output=True, text=True).stdout
    *times, accelerations = out.splitlines()
    udot = np.array(accelerations.split(), dtype=float)
    return {name: Timing(float(us), udot) for name, us in (line.split() for line in times)}
