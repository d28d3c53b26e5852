"""C for controllers: it compiles without a library, has the numbers of the core, and its steps are those of a batch."""

import ctypes
import subprocess

import numpy as np
import pytest

import linkwork as lw
from support.cases import four_bar
from support.checkout import beside
from support.random_mechanisms import FAMILIES, tree_or_loop
from support.zoo import zoo

STRICT = ("-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O1")


def run_test(header):
    """Compile the code without a library, then run the test program; return what it prints."""
    name, folder = header.stem, header.parent
    subprocess.run(["cc", *STRICT, "-ffreestanding", "-fno-builtin", "-c", f"{name}.c"], cwd=folder, check=True)
    subprocess.run(["cc", *STRICT, f"{name}_test.c", f"{name}.o", "-o", "test", "-lm"], cwd=folder, check=True)
    return subprocess.run(["./test"], cwd=folder, check=True, capture_output=True, text=True).stdout


def loaded(header):
    name, folder = header.stem, header.parent
    subprocess.run(["cc", *STRICT, "-shared", "-fPIC", f"{name}.c", "-o", "code.so", "-lm"], cwd=folder, check=True)
    return ctypes.CDLL(str(folder / "code.so"))


def doubles(*values):
    return (ctypes.c_double * max(len(values), 1))(*values)


@pytest.mark.parametrize("name", ["planar_4R", "slider_crank", "moving_planar_4R", "tree1"])
def test_numbers_of_the_core(name, tmp_path):
    model = lw.compile(tree_or_loop(name).mechanism)
    body = next(iter(model.mechanism.bodies))
    header = lw.export_c(model, tmp_path, outputs=["energy.kinetic", f"{body}.r"], name="mech")
    printed = run_test(header)
    assert [line.split(":")[0] for line in printed.splitlines()] == ["derivatives", "outputs", "jacobian"] * 2


@pytest.mark.slow
@pytest.mark.parametrize("name", list(FAMILIES)[::5])
def test_families(name, tmp_path):
    header = lw.export_c(tree_or_loop(name).mechanism, tmp_path, jacobian=False, name="mech")
    assert "derivatives: differ by" in run_test(header)


@pytest.mark.slow
def test_a_robot(tmp_path):
    mech = lw.load(beside("models/as_mechanisms/cassie.json"))
    header = lw.export_c(mech, tmp_path, jacobian=False, name="cassie")
    assert "derivatives: differ by" in run_test(header)


def test_a_jacobian_that_is_too_long(tmp_path):
    mech = lw.Mechanism("chain")
    for i in range(40):
        mech.add_body(f"b{i}", mass=1.0, com=(0.1, 0.2, 0.3), inertia=lw.inertia.sphere(1.0, 0.1))
        mech.add_joint(f"J{i}", lw.Spherical(), f"b{i - 1}" if i else "ground", f"b{i}", at=(0, 0, i))
    with pytest.raises(lw.MechanismError, match="too long; leave it out by jacobian=False"):
        lw.export_c(mech, tmp_path)


def test_parameters_and_steps(tmp_path):
    model = lw.compile(four_bar().mechanism)
    start = model.assemble(q={"A": 0.3}, u={"A": 3.0})
    header = lw.export_c(model, tmp_path, state=start, parameters=["coupler.mass", "rocker.com"], name="four_bar")
    run_test(header)
    code = loaded(header)
    x, tau, p = doubles(*start.q, *start.u), doubles(*[0.0] * 4), doubles(2.5, 0.3, 0.0, 0.1)
    code.four_bar_step.argtypes = [ctypes.c_double, ctypes.c_double, *[ctypes.POINTER(ctypes.c_double)] * 3]
    for k in range(100):
        assert code.four_bar_step(k * 1e-3, 1e-3, x, tau, p) == 0
    batch = model.batch(1, start)
    batch.put({"coupler.mass": [2.5], "rocker.com": [[0.3, 0.0, 0.1]]})
    expected = batch.rollout(1e-3, 100)[0, -1]
    assert np.array(x) == pytest.approx(expected, rel=1e-11, abs=1e-11)


def test_the_header_names_all_numbers(tmp_path):
    mech = lw.Mechanism("arm-1")
    mech.add_body("rod", mass=3.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(3.0, 1.0))
    mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
    mech.add_force(lw.Wrench("rod", point=(1, 0, 0), name="push"))
    header = lw.export_c(mech, tmp_path, outputs=["rod.r"], parameters=["rod.mass"])
    assert header == tmp_path / "arm_1.h"
    text = header.read_text()
    for line in (
        "ARM_1_X_A_Q = 0, /* A.q [rad]",
        "ARM_1_X_A_U = 1, /* A.u [rad/s]",
        "ARM_1_TAU_A_TAU = 0, /* A.tau [N.m]",
        "ARM_1_TAU_PUSH_F_3 = 3, /* push.F[3] [N]",
        "ARM_1_TAU_SIZE = 7,",
        "ARM_1_P_ROD_MASS = 0, /* rod.mass [kg]",
        "ARM_1_OUTPUT_ROD_R_3 = 2, /* rod.r[3] [m]",
        "Every call: ",
    ):
        assert line in text
    run_test(header)
    (tmp_path / "user.cpp").write_text('#include "arm_1.h"\nint main() { return ARM_1_X_A_Q; }\n')
    subprocess.run(["c++", "-Wall", "-Werror", "-fsyntax-only", "user.cpp"], cwd=tmp_path, check=True)


def test_names_that_are_alike_in_c_are_numbered(tmp_path):
    mech = lw.Mechanism("two")
    for name in ("a-b", "a_b"):
        mech.add_body(f"rod {name}", mass=1.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(1.0, 1.0))
        mech.add_joint(name, lw.Revolute((0, 1, 0)), "ground", f"rod {name}", at=(0, 0, 0))
    header = lw.export_c(mech, tmp_path)
    assert "TWO_X_A_B_Q = 0, /* a-b.q" in header.read_text()
    assert "TWO_X_A_B_Q_2 = 1, /* a_b.q" in header.read_text()
    run_test(header)


def test_other_decisions_are_counted(tmp_path):
    """Beyond the middle of its range the joint turns the other way about: a step of the formula."""
    mech = lw.Mechanism("detent")
    mech.add_body("rod", mass=3.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(3.0, 1.0))
    mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
    mech.add_force(lw.Force("A", "k*sign(q - 0.5)", parameters={"k": 2.0}))
    model = lw.compile(mech)
    code = loaded(lw.export_c(model, tmp_path, jacobian=False))
    for q in (0.1, 0.9):
        result = doubles(0.0, 0.0)
        failed = code.detent_derivatives(ctypes.c_double(0.0), doubles(q, 0.0), doubles(0.0), result)
        assert failed or result[1] == pytest.approx(model.accelerations([q], [0.0])[0], rel=1e-12)
        assert failed == 0 or q == 0.9


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda folder: lw.export_c(zoo(), folder), "friction decides before each evaluation whether it sticks"),
        (lambda folder: lw.export_c(four_bar().mechanism, folder, name="1a"), "name = '1a' is no name in C"),
        (lambda folder: lw.export_c(four_bar().mechanism, folder, outputs=["rr"]), "there is no variable 'rr'"),
        (lambda folder: lw.export_c(four_bar().mechanism, folder, parameters=["A.q"]), "give parameters"),
        (lambda folder: lw.export_c(four_bar().mechanism, folder, output=["A.q"]), "export_c has no argument 'output'"),
        (lambda folder: lw.export_c("four_bar.json", folder), "mechanism must be a Mechanism"),
    ],
)
def test_bad_input(call, message, tmp_path):
    with pytest.raises((lw.MechanismError, TypeError)) as error:
        call(tmp_path / "code")
    assert message in str(error.value)
    assert not (tmp_path / "code").exists()
