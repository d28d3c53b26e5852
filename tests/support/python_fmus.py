"""FMUs of FMI 2.0 that PythonFMU builds from a few lines; they declare no dependencies."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

_HEAD = """
from pythonfmu import Boolean, Fmi2Causality, Fmi2Slave, Fmi2Variability, Integer, Real


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
    lines = [_HEAD.format(name=name)]
    for variable, (kind, causality, start) in variables.items():
        lines.append(f"        self.{variable} = {start!r}\n")
        more = f", getter=lambda: {getters[variable]}" if getters and variable in getters else ""
        more += ", variability=Fmi2Variability.tunable" if causality == "parameter" else ""
        more += ", variability=Fmi2Variability.discrete" if kind != "Real" and causality != "parameter" else ""
        lines.append(f'        self.register_variable({kind}("{variable}", causality={CAUSALITY[causality]}{more}))\n')
    lines.append(_STEP.format(body="\n".join(f"        {line}" for line in step.splitlines())))
    source = folder / f"{name}.py"
    source.write_text("".join(lines), encoding="utf-8")
    options = ["--no-external-tool", *["--handle-state"] * states, *["--no-variable-step"] * (not variable_step)]
    command = [sys.executable, "-m", "pythonfmu", "build", "-f", source, "-d", folder, *options]
    subprocess.run(command, check=True, capture_output=True)
    return folder / f"{name}.fmu"
