"""FMUs written in Python, built by PythonFMU."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from textwrap import dedent

HEAD = """
import os
import signal
from pythonfmu import Boolean, Fmi2Causality, Fmi2Slave, Fmi2Variability, Integer, Real, String
from pythonfmu.enums import Fmi2Status

INPUT = dict(causality=Fmi2Causality.input)
OUTPUT = dict(causality=Fmi2Causality.output)
PARAMETER = dict(causality=Fmi2Causality.parameter, variability=Fmi2Variability.tunable)
"""
#: x' = u - x by one exact step; counts steps, reports the last one; misbehaves from `at` on.
LAG = """
import math

class Lag(Fmi2Slave):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.u, self.x, self.count, self.note, self.ready = 0.0, 1.0, 0, "", False
        self.misdeed, self.at = "", 0.5
        self.register_variable(Real("u", **INPUT, start=0.0))
        self.register_variable(Real("x", **OUTPUT))
        self.register_variable(Integer("count", **OUTPUT))
        self.register_variable(String("note", **OUTPUT))
        self.register_variable(Boolean("ready", **OUTPUT))
        self.register_variable(String("misdeed", **PARAMETER, start=""))
        self.register_variable(Real("at", **PARAMETER, start=0.5))

    def do_step(self, time, h):
        if self.misdeed and time > self.at - 1e-9:
            if self.misdeed == "false":
                return False
            if self.misdeed == "raise":
                raise ValueError("nothing to be had")
            if self.misdeed == "interrupt":
                os.kill(os.getpid(), signal.SIGINT)
            if self.misdeed == "warn":
                self.log("mind the gap: 100%s", Fmi2Status.warning)
        self.x = self.u + (self.x - self.u) * math.exp(-h)
        self.count += 1
        self.note = f"über {time:g}"
        self.ready = self.x < 0.5
        return True
"""


def build(folder: Path, text: str, name: str, **options: bool) -> Path:
    """Build the FMU of a class; `name` is also its module's."""
    from pythonfmu.builder import FmuBuilder

    folder.mkdir(exist_ok=True)
    script = folder / f"{name}.py"
    script.write_text(dedent(HEAD + text))
    before = list(sys.path)
    with contextlib.ExitStack() as stack:
        stack.callback(lambda: sys.path.__setitem__(slice(None), before))
        return FmuBuilder.build_FMU(script, dest=folder, **options)


_BEGIN = """
class {name}(Fmi2Slave):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
"""
_STEP = """
    def do_step(self, time, step):
{body}
        return True
"""
CAUSALITY = {"input": "Fmi2Causality.input", "output": "Fmi2Causality.output", "parameter": "Fmi2Causality.parameter"}


def python_fmu(
    folder: Path,
    name: str,
    variables: dict[str, tuple[str, str, object]],
    step: str = "pass",
    *,
    getters: dict[str, str] | None = None,
    states: bool = True,
    variable_step: bool = True,
) -> Path:
    """Build an FMU; `variables`: type, causality and start by name; `step`: statements; `getters`: expressions."""
    lines = [_BEGIN.format(name=name)]
    for variable, (kind, causality, start) in variables.items():
        lines.append(f"        self.{variable} = {start!r}\n")
        more = f", getter=lambda: {getters[variable]}" if getters and variable in getters else ""
        more += ", variability=Fmi2Variability.tunable" if causality == "parameter" else ""
        more += ", variability=Fmi2Variability.discrete" if kind != "Real" and causality != "parameter" else ""
        lines.append(f'        self.register_variable({kind}("{variable}", causality={CAUSALITY[causality]}{more}))\n')
    lines.append(_STEP.format(body="\n".join(f"        {line}" for line in step.splitlines())))
    options = {
        "needsExecutionTool": False,
        "canGetAndSetFMUstate": states,
        "canHandleVariableCommunicationStepSize": variable_step,
    }
    return build(folder, "".join(lines), name, **options)
