"""The Python of docs/comparison.md runs and writes the documented files."""

import re

import pytest

from support.checkout import TOP


@pytest.mark.slow
def test_its_python_runs(tmp_path, monkeypatch, needs):
    needs("matplotlib")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(TOP)
    page = (TOP / "docs" / "comparison.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    names: dict[str, object] = {}
    exec(compile(block, "docs/comparison.md", "exec"), names)
    assert (tmp_path / "table.csv").stat().st_size > 1000
    assert (tmp_path / "plot.png").stat().st_size > 10_000
    assert names["best"].error < 1e-6
