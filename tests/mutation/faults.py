"""The list of faults: proposed from the sources, kept in faults.json, found again by the text of their lines."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path

from support.checkout import TOP

from .operators import faults_of_c
from .python_operators import faults_of_python

LIST = Path(__file__).with_name("faults.json")


@dataclass(frozen=True)
class Area:
    """Files by a pattern of their path, how many faults they get, and the tests that find these, nearest first."""

    files: str
    count: int
    tests: tuple[str, ...]


FOLDERS = ("csrc", "fmu_src", "linkwork", "solvers")
MECHANICS = ("tests/mechanics", "tests/model")
# A file belongs to the first area whose pattern it matches.
AREAS = {
    "chou": Area(r"^csrc/chou/", 10, ("tests/dae", "tests/comparison")),
    "ode": Area(r"^csrc/ode/", 12, ("tests/solvers", "tests/simulation", "tests/fmu")),
    "dae": Area(r"^csrc/dae/", 8, (*MECHANICS, "tests/dae", "tests/fmu")),
    "dca": Area(r"^csrc/dca/", 10, MECHANICS),
    "joints": Area(r"^csrc/joints/", 12, MECHANICS),
    "events": Area(r"^csrc/events/", 14, (*MECHANICS, "tests/simulation", "tests/fmu")),
    "multipliers": Area(r"^csrc/multipliers/", 10, MECHANICS),
    "singular": Area(r"^csrc/singular/", 6, MECHANICS),
    "loops": Area(r"^csrc/loops/", 16, MECHANICS),
    "assembly": Area(r"^csrc/assembly/", 10, MECHANICS),
    "tree": Area(r"^csrc/(tree|math|dynamics)/", 12, MECHANICS),
    "state": Area(r"^csrc/(block|api|evaluation|model|load)/", 10, (*MECHANICS, "tests/fmu")),
    "builder": Area(r"^csrc/builder/", 10, ("tests/compiler", "tests/project")),
    "fmu": Area(r"^fmu_src/", 40, ("tests/fmu", "tests/check")),
    "analysis": Area(r"^linkwork/analysis/", 14, ("tests/analysis",)),
    "cli": Area(r"^linkwork/cli/", 6, ("tests/cli", "tests/sweep", "tests/controllers")),
    "coarse_graining": Area(r"^linkwork/coarse_graining/", 3, ("tests/mechanics/test_coarse_graining.py", "tests/cli")),
    "comparison": Area(r"^linkwork/comparison/", 4, ("tests/comparison", "tests/cli")),
    "controllers": Area(r"^linkwork/controllers/", 6, ("tests/controllers", "tests/cosim")),
    "core": Area(r"^linkwork/core/", 6, ("tests/model", "tests/compiler", "tests/simulation")),
    "cosim": Area(r"^linkwork/cosim/", 12, ("tests/cosim", "tests/sweep", "tests/controllers")),
    "draw": Area(r"^linkwork/draw/", 5, ("tests/draw", "tests/cosim", "tests/model")),
    "export": Area(r"^linkwork/fmu/export/", 8, ("tests/fmu",)),
    "check": Area(r"^linkwork/fmu/", 9, ("tests/check", "tests/cosim")),
    "formats": Area(r"^linkwork/formats/", 12, ("tests/formats",)),
    "mechanism": Area(r"^linkwork/mechanism/", 10, ("tests/mechanism", "tests/model", "tests/mechanics")),
    "model": Area(r"^linkwork/model/", 10, ("tests/model", "tests/mechanics")),
    "results": Area(r"^linkwork/results/", 4, ("tests/simulation", "tests/util", "tests/cosim")),
    "simulation": Area(r"^linkwork/simulation/", 8, ("tests/simulation", "tests/dae")),
    "solvers": Area(r"^solvers/", 6, ("tests/solvers", "tests/simulation")),
    "util": Area(r"^linkwork/_util/", 4, ("tests/util", "tests/sweep", "tests/cosim")),
    "variables": Area(r"^linkwork/variables/", 4, ("tests/model", "tests/simulation", "tests/fmu")),
    "view": Area(r"^linkwork/view/", 5, ("tests/view",)),
    "package": Area(r"^linkwork/", 2, ("tests/mechanism", "tests/project")),
}


@dataclass(frozen=True)
class Fault:
    """A line of a file and the faulty one that takes its place; `why_not` is the reason why no test can find it."""

    area: str
    operator: str
    file: str
    old: str
    new: str
    why_not: str = ""

    @property
    def name(self) -> str:
        digest = sha256("\n".join((self.old.strip(), self.new.strip())).encode()).hexdigest()[:6]
        return f"{self.area}-{self.operator}-{digest}"

    def _lines(self, folder: Path) -> list[str]:
        path = folder / self.file
        return path.read_text(encoding="utf-8").split("\n") if path.is_file() else []

    def applies(self, folder: Path) -> bool:
        """Whether its line occurs once, be it of a proposal or written by hand."""
        return self._lines(folder).count(self.old) == 1

    def apply(self, folder: Path) -> bool:
        """Put the fault into a copy of the checkout, where its line occurs once."""
        if not self.applies(folder):
            return False
        path, lines = folder / self.file, self._lines(folder)
        lines[lines.index(self.old)] = self.new
        path.write_text("\n".join(lines), encoding="utf-8")
        return True


def read() -> list[Fault]:
    return [Fault(**fault) for fault in json.loads(LIST.read_text(encoding="utf-8"))] if LIST.is_file() else []


def propose(seed: int = 0) -> list[Fault]:
    """Keep the faults whose lines are still there and fill up each area by others at random; writes the list."""
    kept = [fault for fault in read() if _area(fault.file) == fault.area and fault.applies(TOP)]
    for area, (_, count, _) in ((name, (a.files, a.count, a.tests)) for name, a in AREAS.items()):
        rng, used = random.Random(f"{seed} {area}"), {(f.file, f.old) for f in kept}
        files = Counter(f.file for f in kept if f.area == area)
        pool = sorted(_candidates(area), key=lambda fault: (rng.random(), fault.name))
        while sum(files.values()) < count and pool:
            # The file and then the operator that has had fewest.
            operators = Counter(f.operator for f in kept if f.area == area)
            fault = min(pool, key=lambda f: (files[f.file], operators[f.operator]))
            pool = [f for f in pool if (f.file, f.old) != (fault.file, fault.old)]
            if (fault.file, fault.old) not in used:
                kept.append(fault)
                files[fault.file] += 1
    kept.sort(key=lambda f: (f.area, f.file, f.name))
    LIST.write_text(json.dumps([asdict(f) for f in kept], indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return kept


def _candidates(area: str) -> Iterator[Fault]:
    for path in sorted(
        path for folder in ("csrc", "fmu_src", "linkwork", "solvers") for path in (TOP / folder).rglob("*")
    ):
        file = path.relative_to(TOP).as_posix()
        if not path.name.endswith((".c", "_kernel.h", ".py")) or _area(file) != area:
            continue
        text = path.read_text(encoding="utf-8")
        once = Counter(text.split("\n"))
        for operator, old, new in (faults_of_python if path.suffix == ".py" else faults_of_c)(text):
            if once[old] == 1:
                yield Fault(area, operator, file, old, new)


def _area(file: str) -> str | None:
    return next((name for name, area in AREAS.items() if re.search(area.files, file)), None)
