"""FMUs for Model Exchange alone in a co-simulation: a solver of ours integrates them between communication points."""

import importlib
import re
import zipfile
from math import cos, sin
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from linkwork.cli.main import main
from linkwork.cosim import Adaptive, Jacobi, System, run
from support.latched import pendulum
from support.oscillator import oscillator

VERSIONS = pytest.mark.parametrize("version", ["2.0", "3.0"])


@pytest.fixture(autouse=True)
def tools(needs):
    needs("fmpy")


def exchange_only(path: Path) -> Path:
    """The same FMU without Co-Simulation."""
    target = path.with_name(f"me_{path.name}")
    with zipfile.ZipFile(path) as archive, zipfile.ZipFile(target, "w") as copy:
        for one in archive.infolist():
            data = archive.read(one)
            if one.filename == "modelDescription.xml":
                data = re.sub(rb"<CoSimulation[^>]*?/>", b"", data)
                assert b"<CoSimulation" not in data
            copy.writestr(one, data)
    return target


def system_of(path: Path) -> System:
    system = System("one")
    system.add("p", str(path))
    return system


@pytest.mark.thin(2)
@VERSIONS
@pytest.mark.parametrize("name", ["four_bar", "bouncing_pendulum", "joint_lock"])
def test_moves_as_a_simulation(name, version, checkout, monkeypatch, tmp_path):
    """Loops, impacts and a lock by a time event; the communication step changes nothing."""
    monkeypatch.syspath_prepend(checkout / "examples")
    model = lw.compile(importlib.import_module(name).mechanism())
    path = exchange_only(lw.export_fmu(model, tmp_path / "a.fmu", version, reference=False))
    exact = lw.simulate(model, 1.0, rtol=1e-11, t_eval=[0.0, 1.0])
    for step in (0.05, 1.0):
        columns = [f"p.{q}" for q in model.q_names]
        found = run(system_of(path), 1.0, master=Jacobi(step), tolerance=1e-9, columns=columns)
        for q in model.q_names:
            assert found[f"p.{q}"][-1] == pytest.approx(exact[q][-1], abs=1e-6)


@VERSIONS
def test_an_fmu_of_others(version, tmp_path, needs_program):
    """x'' = u - 4 x, y = 2 x, with u = 1 from the start and by its rows in a table."""
    needs_program("gcc")
    path = exchange_only(oscillator(tmp_path, version))
    found = run(system_of(path), 1.0, master=Jacobi(0.1), inputs={"p.u": 1.0}, tolerance=1e-9, columns=["p.*"])
    for t, y in zip(found.t, found["p.y"], strict=True):
        assert y == pytest.approx(2.0 * (0.25 + 0.75 * cos(2 * t)), abs=1e-7)
    assert found["p.v"][-1] == pytest.approx(-1.5 * sin(2.0), abs=1e-7)


def test_steps_that_are_taken_back(tmp_path, needs_program):
    """The adaptive master saves and restores states."""
    needs_program("gcc")
    system = System("two")
    for name in ("a", "b"):
        system.add(name, str(exchange_only(oscillator(tmp_path, "3.0"))))
    system.connect("a.y", "b.u")
    found = run(system, 1.0, master=Adaptive(rtol=1e-6), tolerance=1e-9, columns=["a.y", "b.x"])
    # x_b'' + 4 x_b = 2 cos 2 t: resonance, x_b = cos 2 t + t sin(2 t) / 2
    assert found["b.x"][-1] == pytest.approx(cos(2.0) + sin(2.0) / 2, abs=1e-4)


@VERSIONS
def test_commands_act_at_communication_points(version, tmp_path):
    mech = pendulum(latch=(lw.Lock("hinge"), lw.Command()))
    path = exchange_only(lw.export_fmu(mech, tmp_path / "a.fmu", version, reference=False))
    inputs = {"p.latch.command": lambda t: t >= 0.2 - 1e-9}
    found = run(system_of(path), 0.5, master=Jacobi(0.1), inputs=inputs, tolerance=1e-9, columns=["p.hinge.*"])
    exact = lw.simulate(pendulum(), 0.2, rtol=1e-11, t_eval=[0.0, 0.2])
    assert found["p.hinge.q"][-1] == pytest.approx(exact["hinge.q"][-1], abs=1e-7)
    assert found["p.hinge.u"][-1] == 0.0


def test_the_command_line_and_ssp(tmp_path, needs_program, capsys):
    needs_program("gcc")
    path = exchange_only(oscillator(tmp_path, "3.0"))
    assert main(["run", str(path), "--t-end", "0.5", "--step", "0.1", "-o", str(tmp_path / "a.csv"), "--quiet"]) == 0
    capsys.readouterr()
    last = np.loadtxt(tmp_path / "a.csv", delimiter=",", skiprows=1)[-1]
    assert last[0] == pytest.approx(0.5)
    assert np.isclose(last, 2.0 * cos(1.0), atol=1e-5).any()
    target = tmp_path / "a.ssp"
    system_of(path).save(target)
    with zipfile.ZipFile(target) as archive:
        assert b'implementation="ModelExchange"' in archive.read("SystemStructure.ssd")
    again = run(System.load(target), 0.5, master=Jacobi(0.1), tolerance=1e-9, columns=["p.y"])
    assert again["p.y"][-1] == pytest.approx(2.0 * cos(1.0), abs=1e-7)


def test_an_fmu_that_ends_or_never_settles(tmp_path, needs_program):
    needs_program("gcc")
    path = exchange_only(oscillator(tmp_path, "3.0", "ENDLESS"))
    with pytest.raises(lw.LinkworkError, match="discrete states request another update"):
        run(system_of(path), 1.0, master=Jacobi(0.1))
