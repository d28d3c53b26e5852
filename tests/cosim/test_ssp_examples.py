"""Archives of the examples: valid, and complete: they run anywhere, without the files that they were made of."""

import importlib
import os
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from linkwork.cli.main import main
from linkwork.cosim import Jacobi, System, run
from support.checkout import TOP
from support.ssp_schemas import validate_archive

pytest.importorskip("lxml.etree")

SHARE = 0.03  # of the run of an example
SYSTEMS: dict[str, Callable] = {
    "cosim_split": lambda module, out: module.split(out),
    "cosim_balance": lambda module, out: module.loop(out, lw.linearize(module.mechanism(), inputs=["A.tau"])),
    "cosim_skyhook": lambda module, out: module.drive(out),
    "cosim_pick_and_place": lambda module, out: module.with_pids(out),
    "cosim_solar_array": lambda module, out: module.supervised(out),
}


@pytest.fixture
def example(monkeypatch, needs) -> Callable[[str, Path], System]:
    """The system of an example, made in a folder."""
    for name in ("fmpy", "pythonfmu", "matplotlib"):
        needs(name)
    monkeypatch.syspath_prepend(TOP / "examples")
    return lambda name, out: SYSTEMS[name](importlib.import_module(name), out)


def test_no_example_is_left_out() -> None:
    saved = [path.stem for path in (TOP / "examples").glob("*.py") if ".ssp" in path.read_text(encoding="utf-8")]
    assert sorted(saved) == sorted(SYSTEMS)


@pytest.mark.parametrize("name", SYSTEMS)
def test_an_archive_runs_from_another_read_only_folder(name: str, example, tmp_path: Path, monkeypatch) -> None:
    made, there, cwd = (tmp_path / folder for folder in ("made", "another place ü", "cwd"))
    for folder in (made, there, cwd):
        folder.mkdir()
    system = example(name, made)
    end = SHARE * system.experiment.t_end
    master = Jacobi(end / 8)
    expected = run(system, end, master=master)
    path = Path(shutil.move(system.save(made / "example.ssp"), there / "moved.ssp"))
    shutil.rmtree(made)
    path.chmod(0o444)
    there.chmod(0o555)
    monkeypatch.chdir(cwd)
    before = path.read_bytes()
    try:
        found = run(System.load(os.path.relpath(path, cwd)), end, master=master)
        assert main(["run", str(path), "--t-end", str(end), "--step", str(end / 8), "-o", "found.csv"]) == 0
    finally:
        there.chmod(0o755)
    assert found.names == expected.names
    for column in expected.names:
        np.testing.assert_array_equal(found[column], expected[column])
    assert [one.name for one in there.iterdir()] == ["moved.ssp"]
    assert path.read_bytes() == before
    assert [one.name for one in cwd.iterdir()] == ["found.csv"]
    assert (cwd / "found.csv").read_text().count("\n") >= 9


@pytest.mark.parametrize("version", [None, "1.0", "2.0"])
@pytest.mark.parametrize("name", SYSTEMS)
def test_archives_are_valid_by_the_schemas(name: str, version: str | None, example, tmp_path: Path) -> None:
    """All variables of the examples have types of SSP 1.0."""
    system = example(name, tmp_path)
    path = system.save(tmp_path / "example.ssp", version=version)
    assert {root.get("version") for root in validate_archive(path).values()} == {version or "1.0"}
    again = System.load(path)
    assert again.connections == system.connections
    assert again.parameter_sets == system.parameter_sets
    assert [one.parameters for one in again.components.values()] == [
        one.parameters for one in system.components.values()
    ]
    with zipfile.ZipFile(path) as archive:
        assert str(tmp_path) not in archive.read("SystemStructure.ssd").decode()
