"""Compiled tapes: the bits of the interpreter, whatever compilers and folders do."""

import os
import shutil
import subprocess
import sys

import numpy as np
import pytest

import linkwork as lw
from support.cases import four_bar
from support.checkout import beside
from support.compilers import wrong_compiler
from support.random_mechanisms import FAMILIES, random_tree, tower_of_four_bars, well_posed

BEFORE = 1000  # states by kernels before the first tape


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("LINKWORK_CACHE", str(tmp_path / "cache"))


def states(model, rows, spread=1e-9):
    rng = np.random.default_rng(5)
    start = model.assemble()
    q = np.asarray(start.q) + spread * rng.normal(size=(rows, model.sizes.nq))
    return q, rng.normal(size=(rows, model.sizes.nu))


def compiled_and_interpreted(model, spread=1e-9, rows=300):
    """Accelerations of the same states by tapes before and after these are compiled, and the tapes."""
    q, u = states(model, BEFORE + rows, spread)
    model.accelerations(q[:BEFORE], u[:BEFORE])
    interpreted = np.asarray(model.accelerations(q[BEFORE:], u[BEFORE:]))
    used = model.tapes["acceleration"]
    assert used.recorded
    assert not any(tape.compiled for tape in used.recorded)
    used.compile()
    return np.asarray(model.accelerations(q[BEFORE:], u[BEFORE:])), interpreted, used


def model_of(name):
    if name.endswith(".json"):
        return lw.compile(lw.load(beside(f"models/as_mechanisms/{name}")))
    return lw.compile(well_posed(FAMILIES[name][0], 0).mechanism)


# ---- bits ----


def cells_of_equal_shape(kind):
    """A long mechanism of equal cells with own lengths and masses."""
    rng = np.random.default_rng(3)
    made = tower_of_four_bars(8)(rng) if kind == "tower" else random_tree(rng, 25, ("revolute",), chain=True)
    return lw.compile(made.mechanism)


@pytest.mark.parametrize("kind", ["tower", "chain"])
def test_equal_parts_share_machine_code(kind):
    model = cells_of_equal_shape(kind)
    compiled, interpreted, used = compiled_and_interpreted(model)
    assert used.not_compiled == ""
    (tape,) = used.recorded
    assert tape.compiled
    assert tape.distinct < 0.9 * (tape.operations + tape.guards)
    assert np.array_equal(compiled, interpreted)
    q, u = states(model, BEFORE + 300)
    one = [model.accelerations(q[k], u[k]) for k in range(BEFORE, BEFORE + 20)]
    assert np.array_equal(compiled[:20], one)


def test_parts_of_a_short_tape_are_distinct():
    _, _, used = compiled_and_interpreted(lw.compile(four_bar().mechanism))
    (tape,) = used.recorded
    assert tape.distinct == tape.operations + tape.guards


@pytest.mark.parametrize("name", ["planar_4R", "slider_crank", "spatial_7R", "coupled", "robotiq_2f85.json"])
def test_the_same_bits(name):
    compiled, interpreted, used = compiled_and_interpreted(model_of(name))
    assert used.not_compiled == ""
    assert all(tape.compiled for tape in used.recorded)
    assert np.array_equal(compiled, interpreted)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["spatial_7R", "cassie.json"])
@pytest.mark.parametrize("compiler", ["gcc", "clang", f"{sys.executable} -m ziglang cc"], ids=["gcc", "clang", "zig"])
def test_the_same_bits_from_each_compiler(name, compiler, monkeypatch, needs):
    if "ziglang" in compiler:
        needs("ziglang")
    elif not shutil.which(compiler):
        pytest.skip(f"needs the compiler {compiler}")
    monkeypatch.setenv("LINKWORK_CC", compiler)
    compiled, interpreted, used = compiled_and_interpreted(model_of(name))
    assert used.not_compiled == ""
    assert all(tape.compiled for tape in used.recorded)
    assert np.array_equal(compiled, interpreted)


def test_all_operations():
    """Of forces by formulas, which call each function."""
    mech = lw.Mechanism("all")
    mech.add_body("rod", mass=1.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(1.0, 1.0))
    mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
    smooth = "sin(q) + cos(2*q) + tan(q/4) + exp(-q*q) + log(2 + q*q) + sqrt(1 + q*q) + (1 + q*q)^1.3 + atan2(u, w)"
    kinks = "sinh(q/3) + cosh(q/4) + tanh(u/w) + abs(u/w) + min(q, 0.3) + max(q, 0.1) + atan(q) + asin(q/9) + acos(q/9)"
    mech.add_force(lw.Force("A", f"k*({smooth} + {kinks})", parameters={"k": 1.0, "w": 2.0}))
    compiled, interpreted, used = compiled_and_interpreted(lw.compile(mech), spread=1.0)
    assert all(tape.compiled for tape in used.recorded)
    assert np.array_equal(compiled, interpreted)


def test_jacobians():
    model = lw.compile(random_tree(np.random.default_rng(2), 5, springs=1).mechanism)
    q, u = states(model, BEFORE + 300, 0.3)
    model.jacobian(q[:BEFORE], u[:BEFORE])
    interpreted = model.jacobian(q[BEFORE:], u[BEFORE:])
    used = model.tapes["jacobian"]
    used.compile()
    assert np.array_equal(model.jacobian(q[BEFORE:], u[BEFORE:]), interpreted)
    assert all(tape.compiled for tape in used.recorded)


def test_a_tape_that_is_used_much_is_compiled():
    model = lw.compile(four_bar().mechanism)
    batch = model.batch(200_000, model.assemble(q={"A": 0.3}), threads=1)
    first = batch.accelerations()
    for _ in range(10):
        batch.accelerations()
    (used,) = batch.tapes
    for compilation in used._compilations.values():
        compilation.wait()
    assert used._compilations
    batch.accelerations()
    assert np.array_equal(batch.accelerations(), first)
    assert all(tape.compiled for tape in used.recorded)


# ---- compilers and folders ----


@pytest.mark.parametrize(
    ("compiler", "reason"),
    [
        ("", "the environment variable LINKWORK_CC is empty"),
        ("false", "false failed: it was ended"),
        ("no-such-compiler", "No such file or directory: 'no-such-compiler'"),
        ("sh -c 'kill -9 $$'", "sh failed: it was ended"),
        ("sh -c 'echo broken >&2; exit 1'", "sh failed: broken"),
    ],
)
def test_without_a_compiler_tapes_are_interpreted(compiler, reason, monkeypatch):
    monkeypatch.setenv("LINKWORK_CC", compiler)
    compiled, interpreted, used = compiled_and_interpreted(lw.compile(four_bar().mechanism))
    assert reason in used.not_compiled
    assert not any(tape.compiled for tape in used.recorded)
    assert np.array_equal(compiled, interpreted)


def test_a_compiler_that_gives_other_numbers_is_not_believed(monkeypatch, tmp_path):
    monkeypatch.setenv("LINKWORK_CC", wrong_compiler(tmp_path))
    compiled, interpreted, used = compiled_and_interpreted(lw.compile(four_bar().mechanism))
    assert used.not_compiled == "compiled tapes gave other numbers"
    assert np.array_equal(compiled, interpreted)


def test_a_folder_that_cannot_be_written(monkeypatch):
    monkeypatch.setenv("LINKWORK_CACHE", os.devnull + "/folder")
    compiled, interpreted, used = compiled_and_interpreted(lw.compile(four_bar().mechanism))
    assert all(tape.compiled for tape in used.recorded)
    assert np.array_equal(compiled, interpreted)


PROCESS = """
import numpy as np
import linkwork as lw
from support.cases import four_bar
from test_compiled_tapes import compiled_and_interpreted
compiled, interpreted, used = compiled_and_interpreted(lw.compile(four_bar().mechanism))
assert np.array_equal(compiled, interpreted)
print(all(tape.compiled for tape in used.recorded), used.not_compiled)
"""


def started(compiler="cc"):
    """A process that compiles the tapes of a four-bar."""
    paths = os.pathsep.join((os.path.dirname(__file__), os.path.dirname(os.path.dirname(__file__))))
    environment = {**os.environ, "LINKWORK_CC": compiler, "PYTHONPATH": paths}
    return subprocess.Popen([sys.executable, "-c", PROCESS], env=environment, stdout=subprocess.PIPE, text=True)


def test_libraries_are_kept_on_disk_and_spoiled_ones_are_made_again(tmp_path):
    folder = tmp_path / "cache" / "tapes"
    assert started().communicate()[0] == "True \n"
    (kept,) = folder.iterdir()
    content = kept.read_bytes()
    made = kept.stat().st_mtime_ns
    assert started().communicate()[0] == "True \n"
    assert kept.stat().st_mtime_ns == made
    kept.write_bytes(content[: len(content) // 2])
    assert started().communicate()[0] == "True \n"
    (again,) = folder.iterdir()
    assert len(again.read_bytes()) == len(content)


def test_two_processes_at_once(tmp_path):
    both = [started(), started()]
    assert [process.communicate()[0] for process in both] == ["True \n"] * 2
    assert len(list((tmp_path / "cache" / "tapes").iterdir())) == 1


def test_only_the_newest_libraries_are_kept(tmp_path, monkeypatch):
    from linkwork.core import compiled_tapes

    monkeypatch.setattr(compiled_tapes, "_MOST_KEPT", 2)
    for length in (0.3, 0.4, 0.5):
        mech = lw.Mechanism("chain")
        for k in range(1 + round(10 * length)):
            mech.add_body(f"rod{k}", mass=1.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(1.0, length))
            hinge = lw.Revolute((0, 1, 0))
            mech.add_joint(
                f"A{k}", hinge, f"rod{k - 1}" if k else "ground", f"rod{k}", parent_frame=lw.Frame((k > 0, 0, 0))
            )
        compiled_and_interpreted(lw.compile(mech))
    assert len(list((tmp_path / "cache" / "tapes").iterdir())) == 2
