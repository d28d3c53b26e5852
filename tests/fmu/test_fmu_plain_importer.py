"""A plain importer in C with steps of equal length finds all events of what turns at constant speed."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from linkwork.core.sources import source_dir
from support.turning import Z, random_turning, rotor
from support.unpacked import Unpacked, unpack

VERSION = pytest.mark.parametrize("version", ["2.0", "3.0"])
TURNS = pytest.mark.parametrize("turns", [40, pytest.param(1000, marks=pytest.mark.slow)])
SPEEDS = (0.1, 1.0, 30.0, 1000.0)  # rev/s
STEPS = (0.01, 0.3, 7.0)  # s


@pytest.fixture(scope="module")
def program(checkout, tmp_path_factory, needs_program) -> Callable[[str], Path]:
    """tests/c/import_fmu.c for each version."""
    folder, made = tmp_path_factory.mktemp("importer"), {}
    for number in "23":
        made[number] = folder / f"import_fmu{number}"
        flags = ["-std=gnu11", "-O1", f"-DFMI={number}", f"-I{source_dir('fmu_src')}"]
        source = checkout / "tests" / "c" / "import_fmu.c"
        subprocess.run([needs_program("gcc"), *flags, source, "-o", made[number], "-lm", "-ldl"], check=True)
    return lambda version: made[version[0]]


def exported(mech: lw.Mechanism, version: str, folder: Path) -> Unpacked:
    system = lw.compile(mech)
    name = f"{mech.name}_{len(list(folder.iterdir()))}.fmu"
    path = lw.export_fmu(system, folder / name, version, outputs=["events"], reference=False)
    return Unpacked(path, unpack(path), version, system)


def events(program: Path, fmu: Unpacked, t_end: float, step: float) -> int:
    sizes = fmu.system.sizes
    numbers = (sizes.nq + sizes.nu, sizes.event_indicators, fmu.reference("events"), t_end, step)
    command = [program, fmu.library, fmu.resources, fmu.token, *map(repr, numbers)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


@VERSION
@TURNS
def test_passes_of_a_wheel_at_any_step(version: str, turns: int, program, tmp_path: Path) -> None:
    """Of each turn, the lamp is on for 0.3 percent; a step is up to 7000 turns."""
    mech = rotor(lw.Revolute(Z))
    distance = lw.PointDistance(("rotor", "ground"), points=((0.1, 0, 0), (0.1, 0, 0)))
    mech.add_transition("pass", lw.Lock("lamp"), when=lw.Crossing(distance, 1e-3, direction=-1))
    for speed in SPEEDS:
        mech.start(q={"A": 1.0}, u={"A": 2.0 * np.pi * speed})
        fmu = exported(mech, version, tmp_path)
        for step in STEPS:
            assert events(program(version), fmu, turns / speed, step) == turns, (speed, step)


@pytest.mark.parametrize("kind", ["spin", "counter", "chain", "stop", "drive"])
@pytest.mark.parametrize("runs", [3, pytest.param(60, marks=pytest.mark.slow)])
def test_no_event_is_missed(kind: str, runs: int, program, tmp_path: Path) -> None:
    """Drives are stabilised as fast as they turn, so that explicit steps have to be a part of a turn."""
    rng = np.random.default_rng(runs)
    for _ in range(runs):
        case, version = random_turning(rng, kind, 15.0), str(rng.choice(["2.0", "3.0"]))
        step = 10.0 ** rng.uniform(-2.0, np.log10(7.0))
        if kind == "drive":
            step = min(step, 0.1 * case.t_end / max(case.expected, 1))
        fmu = exported(case.mechanism, version, tmp_path)
        assert events(program(version), fmu, case.t_end, step) == case.expected, (version, step, case)
