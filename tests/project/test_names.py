"""One name for one idea: signatures and options follow the table in CONTRIBUTING.md."""

import argparse
import importlib
import inspect
import re
from collections.abc import Iterator

import pytest

from linkwork.cli.main import COMMANDS, make_parser
from support.checkout import TOP

PUBLIC = (
    *("linkwork", "linkwork.comparison", "linkwork.controllers", "linkwork.cosim", "linkwork.cosim.sweep"),
    *("linkwork.coarse_graining", "linkwork.fmu.check", "linkwork.mechanism", "linkwork.solvers"),
)
# Where such a name means another thing, or a standard prescribes it.
RIGHT = {
    "linkwork.export_fmu": {"stop_time", "step_size", "tolerance", "outputs"},  # of the FMU
    "linkwork.controllers.connect": {"outputs"},  # of the controller, an FMU as well
    "linkwork.export_c": {"outputs"},  # of its functions
    "linkwork.linearize": {"outputs"},
    "linkwork.LinearModel": {"outputs"},
    "linkwork.Model.assemble": {"tolerance"},  # a gap in m
    "linkwork.Batch.assemble": {"tolerance"},
    "linkwork.coarse_grain": {"names"},  # of bodies
    "linkwork.CoarseGrained": {"names"},
    "linkwork.coarse_graining": {"names"},
    "linkwork.Result": {"names"},
    "linkwork.cosim.Result": {"names"},
    "linkwork.cosim.run": {"tolerance"},  # of the integrators in the FMUs
    "linkwork.cosim.System.add_parameter_set": {"values"},
    "linkwork.cosim.sweep.grid": {"values"},  # of which a grid is made
    "linkwork.controllers.Controller": {"start", "start_time", "stop_time", "step_size", "tolerance", "dt", "values"},
    "linkwork.controllers.trajectory": {"names", "start"},  # the position to begin at
    "linkwork.controllers.state_feedback": {"names"},
    "linkwork.controllers.signal": {"times", "values"},  # the table
    "linkwork.Table": {"values"},
    "linkwork.LookupTable": {"values"},
    "linkwork.solvers.Problem": {"directions"},  # signs of several events
    "linkwork.solvers.EventRecord": {"directions"},
    "linkwork.Mechanism.add_state": {"start"},  # a start value
    "linkwork.mechanism.Mechanism.add_state": {"start"},
    "linkwork.solvers.Status": {"names", "start"},  # of an Enum
}
RIGHT_OPTIONS = {
    "export": {"stop_time", "step_size", "tolerance", "outputs"},
    "export-c": {"outputs", "tolerance"},  # of the code; a gap in m
    "run": {"tolerance"},
    "simulate": {"tolerance"},  # a gap in m
    "info": {"tolerance"},  # a gap in m
    "controller": set(),
}


def rows() -> list[list[str]]:
    """The cells of the table, without its head."""
    section = (
        (TOP / "CONTRIBUTING.md").read_text(encoding="utf-8").split("## One name for one idea")[1].split("\n## ")[0]
    )
    lines = [line for line in section.splitlines() if line.startswith("|")][2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


WRONG = {word: name for _, name, wrong in rows() for word in re.findall(r"`(\w+)`", wrong)}


def parameters(owner: str, function: object) -> Iterator[tuple[str, inspect.Parameter]]:
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return
    yield from ((owner, one) for one in found if one.name != "self")


def methods(name: str, kind: type) -> Iterator[tuple[str, inspect.Parameter]]:
    yield from parameters(name, kind)
    for key in dir(kind):
        method = getattr(kind, key)
        if (
            not key.startswith("_")
            and callable(method)
            and str(getattr(method, "__module__", "")).startswith("linkwork")
        ):
            yield from parameters(f"{name}.{key}", method)


def public(module: str) -> Iterator[tuple[str, inspect.Parameter]]:
    """The parameters of all public functions, classes and their methods."""
    home = importlib.import_module(module)
    for name in home.__all__:
        thing = getattr(home, name)
        full = f"{module}.{name}"
        if isinstance(thing, type):
            yield from methods(full, thing)
        elif callable(thing):
            yield from parameters(full, thing)


def is_right(owner: str, name: str) -> bool:
    return any(name in names and (owner == one or owner.startswith(f"{one}.")) for one, names in RIGHT.items())


def is_result(owner: str) -> bool:
    """Results are made by the package; their constructors are no interface."""
    found_by_analysis = {f"linkwork.{name}" for name in ("Design", "Identification", "ParameterJacobian")}
    return owner in {"linkwork.Result", "linkwork.cosim.Result", "linkwork.Study"} | found_by_analysis


def test_a_state_follows_what_a_function_needs():
    """By position or by name, and before all options; only the file of a drawing is named first."""
    taken = {}
    for module in PUBLIC:
        for owner, one in public(module):
            taken.setdefault(owner, []).append(one)
    with_state = {owner: found for owner, found in taken.items() if any(one.name == "state" for one in found)}
    assert len(with_state) > 30
    for owner, found in with_state.items():
        state = next(one for one in found if one.name == "state")
        before = [one for one in found[: found.index(state)] if one.default is not one.empty and one.name != "path"]
        assert state.kind is state.POSITIONAL_OR_KEYWORD, f"{owner}: state is no option: put it before the *"
        assert not before, f"{owner}: state follows the arguments that are needed, before {before}"


def test_the_table_is_found():
    assert len(rows()) > 8
    assert {"stop", "record", "tol", "t_final"} <= WRONG.keys()
    for idea, name, _ in rows():
        wrong_here = set(re.findall(r"^`(\w+)`", name)) & WRONG.keys()
        assert not wrong_here, idea


@pytest.mark.parametrize("module", PUBLIC)
def test_signatures(module):
    pytest.importorskip("fmpy") if "cosim" in module else None
    if module == "linkwork.controllers":
        pytest.importorskip("pythonfmu")
    wrong = [
        f"{owner}({one.name}=): call it {WRONG[one.name]}"
        for owner, one in public(module)
        if one.name in WRONG and not is_right(owner, one.name) and not is_result(owner)
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("module", PUBLIC)
def test_a_required_path_comes_first_or_after_what_is_written(module):
    late: list[str] = []
    seen: dict[str, int] = {}
    for owner, one in public(module):
        if one.kind is one.KEYWORD_ONLY:
            continue
        seen[owner] = seen.get(owner, 0) + 1
        if one.name == "path" and one.default is one.empty and seen[owner] > 1:
            late.append(owner)
    assert set(late) <= {"linkwork.export_fmu", "linkwork.save"}


@pytest.mark.parametrize("command", COMMANDS)
def test_options(command):
    if command in ("run", "sweep", "check", "controller"):
        pytest.importorskip("fmpy")
    (commands,) = [one for one in make_parser([command])._actions if isinstance(one, argparse._SubParsersAction)]
    options = [
        option for one in commands.choices[command]._actions for option in one.option_strings if option.startswith("--")
    ]
    assert "--help" in options
    names = {option: option.lstrip("-").replace("-", "_") for option in options}
    wrong = [o for o, name in names.items() if name in WRONG and name not in RIGHT_OPTIONS.get(command, set())]
    assert not wrong, [f"{option}: call it {WRONG[names[option]]}" for option in wrong]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_has_a_help(command):
    (commands,) = [one for one in make_parser([command])._actions if isinstance(one, argparse._SubParsersAction)]
    silent = [one.option_strings or one.dest for one in commands.choices[command]._actions if not one.help]
    assert not silent


def test_documents_and_examples_use_no_option_that_is_gone():
    gone = re.compile(r"--(?:csv|plot|record|start-time|fmu-tolerance|smallest-step|largest-step)\b")
    files = [TOP / "README.md", *(TOP / "docs").glob("*.md"), *(TOP / "examples").glob("*.py")]
    assert not [path.name for path in files if gone.search(path.read_text(encoding="utf-8"))]
