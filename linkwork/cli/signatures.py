"""Options of a command from the function that it calls: types and defaults of its signature, help of its docstring."""

from __future__ import annotations

import argparse
import ast
import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from linkwork.cli.values import AppendNamed, load

_END_OF_SENTENCE = re.compile(r"\.(?=\s+[A-Z]|\s*$)")


def from_signature(parser: argparse._ActionsContainer, function: Callable[..., Any]) -> Callable[..., None]:
    """Return what adds the parameters of a function to a parser, each by its name; `given` finds their values.

    A parameter that must be given is an argument, others are options. The help is the first sentence of its
    description and the default.
    """
    parameters, texts = inspect.signature(function).parameters, descriptions(function)
    names: dict[str, str] = {}
    parser.set_defaults(**{_place(function.__name__): names})

    def add(name: str, *flags: str, **changes: Any) -> None:
        """Add a parameter; by other flags and with other settings of `add_argument` where they are given."""
        parameter = parameters[name]
        needed = parameter.default is parameter.empty
        if not flags and (not needed or parameter.kind is parameter.KEYWORD_ONLY):
            flags = (f"--{name.replace('_', '-')}",)
        kind = parameter.annotation
        settings = _settings(kind if isinstance(kind, str) else inspect.formatannotation(kind), name)
        if str(changes.get("action", "")).startswith("store"):
            settings = {}
        for key in ["metavar"] * ("choices" in changes) + ["nargs"] * bool({"type", "action"} & changes.keys()):
            settings.pop(key, None)
        if flags:
            taken = any(action.dest == name for action in parser._actions)  # such as `limits` of robots' files
            settings |= {
                "dest": f"{function.__name__}.{name}" if taken else name,
                "required": needed and "default" not in changes,
            }
        if not needed:
            settings["default"] = parameter.default
        settings["help"] = _help(texts.get(name, ""), changes.get("default", settings.get("default")))
        names[name] = parser.add_argument(*(flags or (name,)), **(settings | changes)).dest

    return add


def given(arguments: argparse.Namespace, function: str) -> dict[str, Any]:
    """Return the values of the parameters of a function by its name, as `from_signature` has added them."""
    names: dict[str, str] = getattr(arguments, _place(function))
    return {name: getattr(arguments, place) for name, place in names.items()}


def _place(function: str) -> str:
    return f"arguments of {function}"


def descriptions(function: Callable[..., Any]) -> dict[str, str]:
    """Return the descriptions of the parameters in a docstring of NumPy's style, by name.

    >>> from linkwork.fmu.check.run import check_fmu
    >>> descriptions(check_fmu)["skip"]
    'Names of checks to run, or to leave out.'
    """
    _, _, section = (inspect.getdoc(function) or "").partition("\nParameters\n----------\n")
    section = re.split(r"\n\n\w+\n---", section)[0]
    found: dict[str, str] = {}
    for names, text in re.findall(r"^(\S.*)\n((?:(?:[ ]+.*)?(?:\n|\Z))+)", section, re.MULTILINE):
        found |= dict.fromkeys(names.split(", "), inspect.cleandoc(text))
    return found


def _help(text: str, default: Any) -> str:
    """Return the first sentence of a description, and the default: in its words, or else the value."""
    first, *others = _END_OF_SENTENCE.split(" ".join(text.partition("\n\n")[0].split()))
    parts = [first, *(one for one in map(str.strip, others) if one.startswith(("By default", "Default")))]
    shown = "; ".join(one if one[1:2].isupper() else one[:1].lower() + one[1:] for one in parts)
    shown = shown.removeprefix("whether ").replace("`", "").replace("%", "%%")
    stated = re.search(r"by default|\bdefault:", shown)
    if stated or default is None or isinstance(default, bool) or default in ("", ()):
        return shown
    return f"{shown} (default: %(default){'g' if isinstance(default, float) else 's'})"


def _settings(annotation: str, name: str) -> dict[str, Any]:
    """Return the settings of `add_argument` for a type."""
    kind = annotation.removesuffix(" | None")
    if kind == "bool":
        return {"action": "store_true"}
    if kind.startswith("Literal["):
        return {"choices": ast.literal_eval(f"({kind.removeprefix('Literal[').removesuffix(']')},)")}
    if re.fullmatch(r"(collections\.abc\.)?Mapping\[[^|]*\]", kind):
        return {"type": load, "action": AppendNamed, "metavar": "NAME=VALUE"}
    if "PathLike" in kind or "Path" in kind:
        return {"type": Path, "metavar": "FILE"}
    if "[str]" in kind:
        return {"nargs": "+", "metavar": "NAME"}
    if kind == "int":
        return {"type": int, "metavar": "N"}
    if kind == "float":
        return {"type": float, "metavar": _letter(name)}
    return {"metavar": name.upper()}


def _letter(name: str) -> str:
    """Return the letters for a number in a usage."""
    if "step" in name:
        return "DT"
    return "TOL" if name.endswith(("tol", "tolerance")) else "T" if "t_" in name or "time" in name else "X"
