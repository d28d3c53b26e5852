"""The Python of docs/controllers.md runs, and its lists name what the FMUs have."""

import re

import pytest

from linkwork import controllers
from support.checkout import TOP

PAGE = (TOP / "docs" / "controllers.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def test_the_first_example_writes_fmus_whose_names_fit(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(TOP)
    monkeypatch.syspath_prepend(TOP / "examples")  # the page names both as seen from the top of the checkout
    exec(compile(BLOCKS[0], "docs/controllers.md", "exec"), {})
    path, control, plant = (run(tmp_path / f"{name}.fmu") for name in ("path", "control", "five_bar"))
    inputs = {name: variable for name, variable in control.variables.items() if variable.causality == "input"}
    for name, variable in inputs.items():
        source = path.variables if name in path.variables else plant.variables
        assert source[name].unit == variable.unit
    assert [plant.variables[name].causality for name in control.outputs] == ["input", "input"]


def test_the_controller_of_ones_own_is_an_fmu(run, tmp_path):
    source = tmp_path / "servo.py"
    source.write_text(next(block for block in BLOCKS if "class Servo" in block))
    servo = run(controllers.package(source, tmp_path / "servo.fmu", settings={"stiffness": 60.0}))
    servo.start({"target": 0.5})
    assert servo["A.tau"] == 30.0
    servo.step(0.1)
    assert servo["A.tau"] == pytest.approx(60.0 * 0.55)


@pytest.mark.parametrize("name", ["pid", "skyhook"])
def test_the_lists_name_all_variables(run, tmp_path, name):
    section = PAGE.split(f"### `{name}(")[1].split("###")[0]
    shown = set(run(getattr(controllers, name)(tmp_path / "it.fmu")).variables)
    assert shown == set(re.findall(r"`([\w.]+)`", section.split("| --- |")[1]))
