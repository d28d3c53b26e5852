"""The thresholds of the core have one home, a reason each, and one value for a name."""

import re
from pathlib import Path

import pytest

from linkwork.solvers import thresholds as of_solvers
from support.checkout import TOP

CSRC = TOP / "csrc"
HOME = CSRC / "math" / "tolerances.h"
# No thresholds: the public header, expected costs, coefficients of methods.
OTHERS = {CSRC / "include" / "linkwork.h", CSRC / "builder" / "costs.c", *(CSRC / "ode").glob("*_tableau.h")}
NUMBER = r"(?:0x[\da-f]*p[+-]?\d+|\d+\.\d*(?:e[+-]?\d+)?|\d+e[+-]?\d+)"
MACRO = re.compile(rf"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+\(?({NUMBER}[^/\n]*)", re.MULTILINE | re.IGNORECASE)
CONSTANT = re.compile(rf"^static const double (\w+) = ({NUMBER});", re.MULTILINE | re.IGNORECASE)
MATHEMATICS = {"TWO_PI"}


def thresholds(text: str) -> dict[str, str]:
    return {name: value.strip() for pattern in (MACRO, CONSTANT) for name, value in pattern.findall(text)}


def test_thresholds_stand_in_their_home_alone() -> None:
    files = [path for path in CSRC.rglob("*") if path.suffix in (".c", ".cpp", ".h") and path not in {HOME, *OTHERS}]
    strays = {
        f"{path.relative_to(TOP).as_posix()}: {name} {value}"
        for path in files
        for name, value in thresholds(path.read_text(encoding="utf-8")).items()
        if name not in MATHEMATICS
    }
    assert len(files) > 150
    assert not strays


@pytest.mark.parametrize(
    "line",
    [
        "#define CLOSE 1e-9 /* m */",
        "  # define CLOSE 1.",
        "#define CLOSE (16.0 * EPS)",
        "#define CLOSE 0x1p-20",
        "static const double close = 0.5;",
    ],
)
def test_a_stray_threshold_is_found(line: str) -> None:
    assert [name.lower() for name in thresholds(f"int x;\n{line}\n")] == ["close"]


def test_each_threshold_has_one_value_and_a_reason() -> None:
    text = HOME.read_text(encoding="utf-8")
    names = re.findall(r"^#define (\w+) \S", text, re.MULTILINE)
    assert len(names) > 140
    assert len(names) == len(set(names))
    bare = [
        line
        for before, line in zip(text.splitlines(), text.splitlines()[1:], strict=False)
        if re.match(r"#define \w+ \S", line) and "/*" not in line and not before.endswith("*/")
    ]
    # Of a group the first one has the reason.
    assert set(bare) <= {"#define RESIDUAL_RANK2 25.0", "#define RANK_TOLERANCE LW_RANK_TOLERANCE"} | {
        "#define REPEATED_ROW RANK_TOLERANCE",
        "#define EXACT_FRAME 1e-12",
        "#define EXACT_PIVOT 1e-13",
    }


def names_used() -> set[str]:
    files = [path for path in Path(CSRC).rglob("*") if path.suffix in (".c", ".cpp", ".h")]
    text = "\n".join(path.read_text(encoding="utf-8") for path in files if path != HOME)
    return set(re.findall(r"\w+", text)) | set(
        re.findall(r"[ (](\w+)\)?$", HOME.read_text(encoding="utf-8"), re.MULTILINE)
    )


def test_no_threshold_is_without_a_use() -> None:
    home = HOME.read_text(encoding="utf-8")
    unused = set(re.findall(r"^#define (\w+) \S", home, re.MULTILINE)) - names_used()
    assert not {name for name in unused if len(re.findall(rf"\b{name}\b", home)) < 2}


# What the description of mechanisms, which knows no C, the page and the FMUs have of the core's thresholds and limits.
COPIES = {
    ("linkwork/mechanism/frames.py", "_SLACK"): ("csrc/math/tolerances.h", "TYPED"),
    ("linkwork/mechanism/frames.py", "EXACT"): ("csrc/math/tolerances.h", "EXACT_BITS"),
    ("linkwork/mechanism/joints.py", "PERPENDICULAR"): ("csrc/math/tolerances.h", "PERPENDICULAR"),
    ("linkwork/mechanism/part_checks.py", "INERTIA_TOLERANCE"): ("csrc/math/tolerances.h", "INERTIA_TOLERANCE"),
    ("viewer/src/core/simulation.ts", "AUTOMATIC_GAIN"): ("linkwork/core/native.py", "AUTOMATIC_GAIN"),
    ("viewer/src/core/state.ts", "ASSEMBLY_TOLERANCE"): ("csrc/math/tolerances.h", "ASSEMBLY_TOLERANCE"),
    ("fmu_src/block_states.c", "assembly_tolerance"): ("csrc/math/tolerances.h", "ASSEMBLY_TOLERANCE"),
}


def value_in(file: str, name: str) -> float:
    text = (TOP / file).read_text(encoding="utf-8")
    found = re.findall(
        rf"^(?:#define|(?:export |static )?const(?: double)?)? ?{name} =? ?(-?[\d._e-]+)", text, re.MULTILINE
    )
    assert len(found) == 1, f"{file} has {name} {len(found)} times"
    return float(found[0])


def in_c(name: str) -> float:
    """A threshold or limit of runs as C defines it, decimal, hexadecimal or in machine epsilons."""
    texts = [path.read_text(encoding="utf-8") for path in (HOME, CSRC / "include" / "linkwork.h")]
    found = re.findall(rf"^#define (?:LW_RUN_)?{name} (\(.*?\)|\S+)", "\n".join(texts), re.MULTILINE)
    assert len(found) == 1, f"C has {name} {len(found)} times"
    number, epsilon = re.fullmatch(r"\(?(\S+?)( \* DBL_EPSILON)?\)?", found[0]).groups()
    return (float.fromhex(number) if number.startswith("0x") else float(number)) * (2.0**-52 if epsilon else 1.0)


def test_runs_of_equations_have_the_limits_of_the_core() -> None:
    named = {name: value for name, value in vars(of_solvers).items() if name.isupper()}
    assert len(named) > 10
    assert named == {name: in_c(name) for name in named}


@pytest.mark.parametrize(("copy", "original"), COPIES.items(), ids=lambda one: "-".join(one))
def test_copies_agree(copy: tuple[str, str], original: tuple[str, str]) -> None:
    assert value_in(*copy) == value_in(*original)
