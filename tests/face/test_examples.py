"""The examples run, and what they claim holds."""

import importlib

import numpy as np
import pytest

import linkwork as lw
from support.checkout import TOP

FOLDER = TOP / "examples"
MECHANISMS = sorted(path.stem for path in FOLDER.glob("*.py") if "def mechanism(" in path.read_text(encoding="utf-8"))


@pytest.fixture
def example(monkeypatch):
    """`example("four_bar")`: the module, as a script in its folder finds it."""
    monkeypatch.syspath_prepend(FOLDER)
    return importlib.import_module


@pytest.mark.parametrize("name", MECHANISMS)
def test_mechanisms_are_named_after_their_file_and_survive_json(example, name):
    mech = example(name).mechanism()
    assert mech.name == name
    assert lw.Mechanism.from_dict(mech.to_dict()) == mech


@pytest.mark.parametrize("name", MECHANISMS)
def test_loops_close_at_the_start_and_stay_closed(example, name):
    system = lw.compile(example(name).mechanism())
    result = lw.simulate(system, t_end=0.3)
    for joint in system.loop_names:
        assert result[f"loop.{joint}.residual"][0] < 1e-12
        assert result[f"loop.{joint}.residual"].max() < 1e-7


def test_four_bar(example, capsys):
    result = example("four_bar").main()
    assert "crank angle" in capsys.readouterr().out
    energy = result["energy.kinetic"] + result["energy.potential"]
    assert np.ptp(energy) < 1e-5


def test_slider_crank(example):
    module = example("slider_crank")
    result = module.main()
    q = result["A.q"]
    x = module.CRANK * np.cos(q) + np.sqrt(module.ROD**2 - (module.CRANK * np.sin(q)) ** 2)
    np.testing.assert_allclose(result["piston.r"][:, 0], x, atol=1e-8)
    assert result["S.q"] == pytest.approx(x - module.CRANK - module.ROD, abs=1e-8)
    energy = result["energy.kinetic"] + result["energy.potential"]
    assert energy[-1] < energy[0]


def test_double_pendulum(example, tmp_path, needs):
    needs("matplotlib")
    result = example("double_pendulum").main(tmp_path)
    energy = result["energy.kinetic"] + result["energy.potential"]
    assert np.abs(energy - energy[0]).max() < 1e-8
    assert (tmp_path / "double_pendulum.png").is_file()


def test_five_bar(example, tmp_path, needs):
    needs("matplotlib")
    module = example("five_bar")
    result = module.main(tmp_path)
    assert (tmp_path / "five_bar.png").is_file()
    angle = result["R.q"] + result["elbow_r.q"]
    along = np.column_stack([np.cos(angle), np.sin(angle)])
    other_way = result["distal_r.r"][:, :2] + module.DISTAL * along
    np.testing.assert_allclose(module.tip_path(result), other_way, atol=1e-8)
    np.testing.assert_allclose(result["L.tau"], [module.torque_left(t) for t in result.t])


def test_planar_robot(example, tmp_path, needs):
    """Each leg reaches its corner of the platform, also those whose wrists close loops."""
    needs("matplotlib")
    module = example("planar_robot")
    result = module.main(tmp_path)
    assert (tmp_path / "planar_robot.png").is_file()
    w, z = result["platform.Q[1]"], result["platform.Q[4]"]
    cosine, sine = w * w - z * z, 2 * w * z
    for leg in range(3):
        x, y, _ = module.on_circle(module.PLATFORM, leg)
        corner = result["platform.r"][:, :2] + np.column_stack([cosine * x - sine * y, sine * x + cosine * y])
        reach = np.linalg.norm(corner - result[f"lower{leg}.r"][:, :2], axis=1)
        np.testing.assert_allclose(reach, module.LINK, atol=1e-8)
    assert np.ptp(result["platform.r"][:, 0]) > 0.1


def test_demo(example, tmp_path, monkeypatch, capfd, needs):
    needs("fmpy")
    needs("matplotlib")
    module = example("demo")
    monkeypatch.setattr(module, "OUT", tmp_path / "out")
    monkeypatch.setattr(module, "REPEATS", 1)
    monkeypatch.setattr(module.tempfile, "tempdir", str(tmp_path))
    module.main()
    said = capfd.readouterr()
    assert said.err == ""
    rows = [line.split() for line in said.out.splitlines() if line.startswith(("Python", "FMU"))]
    assert len(rows) == 6
    for *_, wall, steps, difference, residual, drift in rows:
        assert float(wall) > 0
        assert int(steps) >= 500
        assert float(difference) < 1e-4
        assert float(residual) < 1e-7
        assert float(drift) < 1e-5
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "four_bar.png",
        "four_bar_fmi2.fmu",
        "four_bar_fmi3.fmu",
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["out"], "FMPy's unpacked FMUs are gone"


def test_examples_are_scripts():
    guarded = [path.name for path in FOLDER.glob("*.py") if "__main__" in path.read_text(encoding="utf-8")]
    assert {f"{name}.py" for name in MECHANISMS} | {"demo.py"} == set(guarded)
