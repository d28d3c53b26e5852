"""The table of public names in docs/public_api.md: `python -m support.public_api` writes it from the signatures."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any

import linkwork as lw
from linkwork import controllers, cosim, solvers
from linkwork.cosim import sweep
from linkwork.mechanism import inertia, shape
from support.checkout import TOP

PATH = TOP / "docs" / "public_api.md"
DESCRIBED = ("Mechanism", "Frame", "Controller", "Table")  # with a constructor and methods
GIVEN = {  # objects that functions return: their constructors are not for users
    *("AssemblyModes", "BaseParameters", "CoarseGrained", "Comparison", "Design", "Equilibria", "Equilibrium", "Event"),
    *("Identification", "InverseKinematics", "KinematicResult", "LinearModel", "Model", "MotorJacobian", "MotorLoads"),
    *("ParameterJacobian", "RedundantConstraints", "Result", "Rollout", "RunningState", "SpecialPose", "State"),
    *("Study", "SweepResult", "VelocityJump", "Workspace"),
}
OF_THE_PACKAGE = ("Block", "Surroundings", "KinematicRow")
INTRODUCTION = """\
# Public names
Each public name with its arguments and their defaults. Numbers are in SI units and angles in rad throughout;
`help(name)` has the shape, unit and meaning of each argument. Arguments behind `*` are given by name. The objects that
functions return are listed with their attributes and methods, without constructors.

The table is written from the signatures (`python -m support.public_api` in `tests/`), and a test compares it with them:
no name, argument or default changes unnoticed.
"""


def arguments(function: Any) -> str:
    """The arguments of a function with their defaults, without types."""
    parameters = [one for one in inspect.signature(function).parameters.values() if one.name not in ("self", "cls")]
    plain = [one.replace(annotation=inspect.Parameter.empty) for one in parameters]
    return re.sub(r"<class '(\w+)'>", r"\1", str(inspect.Signature(plain))[1:-1]).replace("<factory>", "...")


def is_for_users(function: Any) -> bool:
    """Whether a method takes nothing that only other parts of the package have."""
    return not any(one.annotation in OF_THE_PACKAGE for one in inspect.signature(function).parameters.values())


def members(cls: type) -> Iterator[tuple[str, Any]]:
    """The public methods and properties of a class and its bases, in the order of their names."""
    for name in sorted(dir(cls)):
        owner = next((base for base in cls.__mro__ if name in base.__dict__), object)
        if not name.startswith("_") and owner.__module__.startswith("linkwork"):
            found = inspect.getattr_static(cls, name)
            yield name, found.__func__ if isinstance(found, classmethod | staticmethod) else found


def attributes(cls: type) -> list[str]:
    """The attributes that a class and its bases annotate, and their properties."""
    bases = [base for base in cls.__mro__ if base.__module__.startswith("linkwork")]
    annotated = {name for base in bases for name in inspect.get_annotations(base) if not name.startswith("_")}
    return sorted(annotated | {name for name, found in members(cls) if not inspect.isfunction(found)})


def methods(cls: type) -> list[tuple[str, str]]:
    """The methods for users with their arguments."""
    found = [(name, one) for name, one in members(cls) if inspect.isfunction(one) and is_for_users(one)]
    return [(f"{name}()", arguments(one)) for name, one in found]


def sections() -> Iterator[tuple[str, list[str], list[tuple[str, str]]]]:
    """Title, attributes, and calls with their arguments: of each module, then of its classes."""
    for module in (lw, inertia, shape, controllers, cosim, sweep, solvers):
        things = {name: getattr(module, name) for name in sorted(module.__all__, key=str.lower)}
        classes = {name: one for name, one in things.items() if inspect.isclass(one) and not issubclass(one, Exception)}
        calls = [name for name, one in things.items() if callable(one) and name not in GIVEN]
        calls = [name for name in calls if name in classes or not inspect.isclass(things[name])]
        yield module.__name__, [], [(f"{name}()", arguments(things[name])) for name in calls]
        for name, cls in classes.items():
            if name in GIVEN or name in DESCRIBED:
                yield f"{module.__name__}.{name}", attributes(cls), methods(cls)


def table() -> str:
    """The whole document."""
    lines = [INTRODUCTION]
    for title, names, calls in sections():
        lines.append(f"\n## `{title}`\n")
        if names:
            lines.append(f"\nAttributes: {', '.join(f'`{name}`' for name in names)}.\n")
        if calls:
            lines.append("\n| call | arguments |\n| --- | --- |\n")
        lines += [f"| `{name}` | {f'`{taken}`' if taken else ''} |\n" for name, taken in calls]
    return "".join(lines)


if __name__ == "__main__":
    PATH.write_text(table(), encoding="utf-8")
