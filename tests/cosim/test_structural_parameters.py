"""FMUs whose structural parameters give the sizes of their arrays, set in Configuration Mode."""

import numpy as np
import pytest

from linkwork.cli.main import main
from linkwork.cosim import Jacobi, System, run
from linkwork.errors import CosimError
from support.sized_fmus import sized

BOTH = pytest.mark.parametrize("kind", ["CS", "ME"])
FOUR = {"n": 4, "scale": 10.0, "a": (1.0, 2.0, 3.0, 4.0), "x0": (0.0, 0.0, 0.0, 1.0)}


pytestmark = pytest.mark.usefixtures("fmpy_and_gcc")


def system_of(path, **values) -> System:
    system = System("one")
    system.add("p", path, parameters=values)
    return system


@BOTH
def test_their_values_size_the_arrays(kind, tmp_path):
    """y = scale a (x0 + u t), element by element."""
    system = system_of(sized(tmp_path / "sized.fmu", kind), **FOUR)
    result = run(system, 1.0, master=Jacobi(0.25), parameters={"p.u": (1.0, 1.0, 2.0, 0.5)}, columns=["p.y", "p.x"])
    assert sum(name.startswith(("p.x[", "p.y[")) for name in result) == 8
    y = np.array([result[f"p.y[{k}]"] for k in (1, 2, 3, 4)]).T
    t = result.t[:, None]
    assert y == pytest.approx(10.0 * np.array(FOUR["a"]) * (FOUR["x0"] + t * [1.0, 1.0, 2.0, 0.5]), abs=1e-5)


@BOTH
def test_without_a_value_they_keep_their_starts(kind, tmp_path):
    """Configuration Mode is not entered."""
    system = system_of(sized(tmp_path / "sized.fmu", kind))
    result = run(system, 1.0, master=Jacobi(0.25), parameters={"p.u": (1.0, 2.0)})
    assert [result["p.y[1]"][-1], result["p.y[2]"][-1]] == pytest.approx([2.0, 6.0], abs=1e-5)


def test_one_that_is_no_size(tmp_path):
    system = system_of(sized(tmp_path / "sized.fmu"), scale=5.0)
    result = run(system, 1.0, master=Jacobi(0.25), parameters={"p.u": (1.0, 2.0)})
    assert [result["p.y[1]"][-1], result["p.y[2]"][-1]] == pytest.approx([10.0, 30.0])


def test_two_instances_of_one_file_have_their_own_sizes(tmp_path):
    path = sized(tmp_path / "sized.fmu")
    system = System("two")
    system.add("small", path)
    system.add("large", path, parameters=FOUR | {"u": (1.0, 1.0, 1.0, 1.0)})
    result = run(system, 1.0, master=Jacobi(0.25), parameters={"small.u": (1.0, 1.0)})
    assert result["small.y[2]"][-1] == pytest.approx(3.0)
    assert result["large.y[4]"][-1] == pytest.approx(80.0)
    assert "small.y[3]" not in result


def test_connected_arrays_have_equal_sizes(tmp_path):
    path = sized(tmp_path / "sized.fmu")
    system = System("two")
    system.add("one", path, parameters=FOUR | {"u": (1.0, 1.0, 1.0, 1.0)})
    system.add("two", path)
    system.connect("one.y", "two.u")
    with pytest.raises(CosimError, match=r"'one.y' has 4 numbers and 'two.u' 2 numbers; sizes must agree"):
        run(system, 1.0, master=Jacobi(0.25))
    result = run(system, 1.0, master=Jacobi(0.25), parameters={"two.n": 4, "two.a": (1.0, 1.0, 1.0, 1.0)})
    assert result["two.u[4]"][-1] == pytest.approx(80.0)


def test_parameter_sets_and_ssp(tmp_path):
    system = System("one")
    system.add("p", sized(tmp_path / "sized.fmu"), parameters={"u": (1.0, 1.0, 1.0, 1.0)} | FOUR)
    system.external_outputs = []
    path = system.save(tmp_path / "one.ssp")
    loaded = System.load(path)
    result = run(loaded, 1.0, master=Jacobi(0.25))
    assert result["p.y[4]"][-1] == pytest.approx(80.0)
    loaded.add_parameter_set("two", {"p.n": 2, "p.u": (1.0, 1.0), "p.a": (1.0, 1.0), "p.x0": (0.0, 0.0)})
    result = run(loaded, 1.0, master=Jacobi(0.25), parameter_sets="two")
    assert result["p.y[2]"][-1] == pytest.approx(10.0)


def test_the_command_line(tmp_path, capsys):
    path = sized(tmp_path / "sized.fmu")
    given = [f"--set={name}={' '.join(map(str, np.ravel(value)))}" for name, value in FOUR.items()]
    out = tmp_path / "a.csv"
    arguments = ["run", str(path), *given, "--set=u=1 1 1 1", "--t-end=1", "--step=0.25", "-o", str(out), "--quiet"]
    assert main(arguments) == 0, capsys.readouterr()
    assert np.loadtxt(out, delimiter=",", skiprows=1)[-1] == pytest.approx([1.0, 10.0, 20.0, 30.0, 80.0])


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"n": 0}, r"'n' lies within 1 ... 50; it cannot be 0"),
        ({"n": 2.5}, r"'n' is of type UInt64; it cannot be 2.5; give a whole number"),
        ({"n": 4, "a": (1.0, 2.0)}, r"'a' has 4 numbers, not 2"),
        ({"a": (1.0, 2.0, 3.0)}, r"'a' has 2 numbers, not 3"),
        ({"n": 3}, r"the input 'p.u' has no start value in sized.fmu and is not connected"),
    ],
)
def test_wrong_values(values, text, tmp_path):
    system = system_of(sized(tmp_path / "sized.fmu"), **values)
    with pytest.raises(CosimError, match=text):
        run(system, 1.0)


def test_void_start_values_are_reported(tmp_path):
    system = system_of(sized(tmp_path / "sized.fmu"), n=3)
    result = run(system, 1.0, master=Jacobi(0.5), parameters={"p.u": (1.0, 1.0, 1.0)})
    assert any(
        "structural parameters of 'p' change the size of a, x0: give the values" in one for one in result.notices
    )
    assert result["p.y[3]"][-1] == 0.0
