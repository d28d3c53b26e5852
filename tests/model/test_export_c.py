"""C for controllers: it compiles without a library, has the numbers of the core, and its steps are those of a batch."""

import ctypes
import errno
import os
import re
import subprocess

import numpy as np
import pytest

import linkwork as lw
from support.cases import four_bar
from support.checkout import beside
from support.random_mechanisms import FAMILIES, random_tree, tree_or_loop
from support.zoo import zoo

STRICT = ("-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O1")


def run_test(header, compiler="cc"):
    """Compile the code without a library, then run the test program; return what it prints."""
    name, folder = header.stem, header.parent
    subprocess.run([compiler, *STRICT, "-ffreestanding", "-fno-builtin", "-c", f"{name}.c"], cwd=folder, check=True)
    subprocess.run([compiler, *STRICT, f"{name}_test.c", f"{name}.o", "-o", "test", "-lm"], cwd=folder, check=True)
    return subprocess.run(["./test"], cwd=folder, check=True, capture_output=True, text=True).stdout


def differences(printed):
    """Return by how much each function differs from the core, relative to the largest number, at least 1."""
    found = re.findall(r"^(\w+): differ by (\S+) of (\S+)$", printed, re.MULTILINE)
    return [(of, float(by) / float(largest)) for of, by, largest in found]


def loaded(header):
    name, folder = header.stem, header.parent
    subprocess.run(["cc", *STRICT, "-shared", "-fPIC", f"{name}.c", "-o", "code.so", "-lm"], cwd=folder, check=True)
    return ctypes.CDLL(str(folder / "code.so"))


def doubles(*values):
    return (ctypes.c_double * max(len(values), 1))(*values)


def called(function, size, *arguments):
    """Return what a function of the code computes; numbers and sequences are its arguments."""
    result = doubles(*[0.0] * size)
    passed = (doubles(*one) if np.ndim(one) else ctypes.c_double(one) for one in arguments)
    assert function(*passed, result) == 0
    return np.array(result)[:size]


@pytest.mark.parametrize("name", ["planar_4R", "slider_crank", "moving_planar_4R", "tree1"])
def test_numbers_of_the_core(name, tmp_path):
    model = lw.compile(tree_or_loop(name).mechanism)
    body = next(iter(model.mechanism.bodies))
    header = lw.export_c(model, tmp_path, outputs=["energy.kinetic", f"{body}.r"], name="mech")
    printed = run_test(header)
    assert [line.split(":")[0] for line in printed.splitlines()] == ["derivatives", "outputs", "jacobian"] * 2


OF_MOTIONS = ["kinematics", "kinematics_jacobian", "inverse_dynamics"]


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("driven", [True, "auto"])
@pytest.mark.parametrize(
    ("name", "method"),
    [("planar_4R", "rcr"), ("slider_crank", "embedding"), ("moving_planar_4R", "multipliers"), ("tree1", "auto")],
)
def test_motions_have_the_numbers_of_the_core(name, method, driven, compiler, tmp_path, needs_program):
    needs_program(compiler)
    model = lw.compile(tree_or_loop(name).mechanism, method)
    bodies = list(model.mechanism.bodies)[:2]
    header = lw.export_c(model, tmp_path, jacobian=False, inverse_dynamics=driven, kinematics=bodies, name="mech")
    found = differences(run_test(header, compiler))
    assert [of for of, _ in found] == ["derivatives", *OF_MOTIONS] * 2
    assert max(by for _, by in found) <= 1e-12


@pytest.mark.parametrize("name", ["planar_4R", "moving_planar_4R", "tree2"])
def test_inverse_dynamics_undoes_forward_dynamics(name, tmp_path):
    """Loads of independent speeds give the accelerations of these, whatever else has been given to the others."""
    rng = np.random.default_rng(3)
    model = lw.compile(tree_or_loop(name).mechanism)
    header = lw.export_c(model, tmp_path, jacobian=False, inverse_dynamics="auto", name="mech")
    code, state = loaded(header), model.assemble()
    n, loads, nu = model.numbering.n_states, model.numbering.n_loads, model.numbering.nu
    independents = model.velocity_transformation(state).independents
    chosen = [model.u_names.index(one) for one in independents]
    x = [*state.q, *state.u]
    for udot in rng.normal(size=(3, len(chosen))):
        applied = [rng.normal(size=loads)] if loads > model.numbering.nu_all else []
        found = called(code.mech_inverse_dynamics, len(chosen), 0.0, x, udot, *applied)
        tau = applied[0].copy() if applied else np.zeros(loads)
        tau[: model.numbering.nu_all] = 0.0
        tau[chosen] = found
        rates = called(code.mech_derivatives, n, 0.0, x, tau)
        given = rates[model.numbering.nq : model.numbering.nq + nu][chosen]
        assert given == pytest.approx(udot, rel=1e-9, abs=1e-9)


def test_inverse_dynamics_has_the_loads_of_the_motors(tmp_path):
    """Compared with `lw.inverse_dynamics`, which finds loads along all degrees of freedom."""
    model = lw.compile(four_bar().mechanism)
    start = model.assemble(q={"A": 0.3}, u={"A": 3.0})
    header = lw.export_c(model, tmp_path, start, jacobian=False, inverse_dynamics=["B"], name="mech")
    (load,) = called(loaded(header).mech_inverse_dynamics, 1, 0.0, [*start.q, *start.u], [2.0])
    tau = {"B": load}
    udot = model.accelerations(start, tau=tau)
    assert udot[model.u_names.index("B.u")] == pytest.approx(2.0, rel=1e-12)
    rows = ([one] for one in (start.q, start.u, udot))
    expected = lw.inverse_dynamics(model, tuple(np.array(one) for one in rows), motors=["B"], t_eval=[0.0])
    assert load == pytest.approx(expected["B.tau"][0], rel=1e-12)


def test_inverse_dynamics_of_a_tree_agrees_with_pinocchio(tmp_path):
    pin = pytest.importorskip("pinocchio")
    from support.pinocchio_tree import PinocchioTree

    model = lw.compile(random_tree(np.random.default_rng(5), 6).mechanism)
    header = lw.export_c(model, tmp_path, jacobian=False, inverse_dynamics=True, name="mech")
    state, n = model.assemble(), model.numbering.nu
    udot = np.random.default_rng(6).normal(size=n)
    found = called(loaded(header).mech_inverse_dynamics, n, 0.0, [*state.q, *state.u], udot)
    peer = PinocchioTree(model.mechanism)
    q, u = (model.by_joint(one) for one in (state.q, state.u))
    speeds = peer._speeds(q, list(peer.translations))
    motion = (peer._q(q), speeds @ peer._array(u), speeds @ peer._array(model.by_joint(udot)))
    expected = peer._array(model.by_joint(found))
    assert speeds.T @ pin.rnea(peer.model, peer.data, *motion) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_applied_wrenches_count_and_loads_of_joints_do_not(tmp_path):
    mech = lw.Mechanism("arm")
    mech.add_body("rod", mass=3.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(3.0, 1.0))
    mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
    mech.add_force(lw.Wrench("rod", point=(1, 0, 0), name="push"))
    model = lw.compile(mech)
    header = lw.export_c(model, tmp_path, inverse_dynamics=["A"], parameters=["rod.mass"])
    assert "ARM_UDOT_A_A = 0, /* A.a [rad/s2]" in header.read_text()
    run_test(header)
    code = loaded(header)
    lighter = model.with_parameters({"rod.mass": 2.0})
    for tau in ([7.0, *[0.0] * 6], [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0]):
        found = called(code.arm_inverse_dynamics, 1, 0.0, [0.2, 0.5], [0.7], tau, [2.0])
        applied = {"push.F": tau[1:4], "push.T": tau[4:]}
        expected = lighter.inverse_dynamics([0.2], [0.7], [0.5], applied=applied)
        assert found == pytest.approx(expected, rel=1e-12)


def test_kinematics_are_those_of_the_model(tmp_path):
    model = lw.compile(tree_or_loop("moving_planar_4R").mechanism)
    body = list(model.mechanism.bodies)[-1]
    state = model.assemble()
    code = loaded(lw.export_c(model, tmp_path, jacobian=False, kinematics=[body], name="mech"))
    x, nu = [*state.q, *state.u], model.numbering.nu
    found = called(code.mech_kinematics, 13, x)
    assert found[:3] == pytest.approx(model.point(state, body), rel=1e-12, abs=1e-12)
    assert found[7:10] == pytest.approx(model.point_velocity(state, body), rel=1e-12, abs=1e-12)
    matrix = called(code.mech_kinematics_jacobian, 6 * nu, x).reshape(6, nu)
    expected = model.body_jacobian(state, body)
    assert matrix == pytest.approx(np.vstack([expected[3:], expected[:3]]), rel=1e-12, abs=1e-12)


def test_points_and_measures_have_kinematics(tmp_path):
    mech = four_bar().mechanism
    bodies = list(mech.bodies)
    mech.add_point("tip", bodies[0], (0.1, 0.2, 0.3))
    mech.add_point("pin", bodies[-1], (0.3, 0.0, 0.1))
    mech.add_measure("gap", "distance", ("tip", "pin"))
    header = lw.export_c(mech, tmp_path, jacobian=False, kinematics=["tip", "gap"], name="mech")
    text = header.read_text()
    for line in ("MECH_KINEMATICS_TIP_R_1 = 0,", "MECH_VELOCITY_GAP_RATE = 3,", "MECH_VELOCITY_SIZE = 4,"):
        assert line in text
    assert max(by for _, by in differences(run_test(header))) <= 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("name", list(FAMILIES)[::5])
def test_families(name, tmp_path):
    model = lw.compile(tree_or_loop(name).mechanism)
    bodies = list(model.mechanism.bodies)[:1]
    header = lw.export_c(model, tmp_path, jacobian=False, inverse_dynamics="auto", kinematics=bodies, name="mech")
    found = differences(run_test(header))
    assert [of for of, _ in found] == ["derivatives", *OF_MOTIONS] * 2


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
        (lambda folder: lw.export_c(four_bar().mechanism, folder, kinematics=["A"]), "no body, point or measure 'A'"),
        (lambda folder: lw.export_c(four_bar().mechanism, folder, inverse_dynamics=["A", "B"]), "degree"),
        (lambda folder: lw.export_c(four_bar().mechanism, folder, inverse_dynamics="E"), "'E'"),
    ],
)
def test_bad_input(call, message, tmp_path):
    with pytest.raises((lw.MechanismError, TypeError)) as error:
        call(tmp_path / "code")
    assert message in str(error.value)
    assert not (tmp_path / "code").exists()


@pytest.mark.skipif(os.name == "nt", reason="errors of Unix")
@pytest.mark.parametrize(
    ("folder", "text"),
    [
        ("file", "cannot write to .*file: .*file is a file; choose another folder"),
        ("file/code", "cannot write to .*code: .*file is a file; choose another folder"),
        ("a" * 300, "cannot write to .*; choose a shorter name"),
        ("/proc/code", "cannot write to /proc/code: .*; choose another folder"),
    ],
)
def test_folders_that_cannot_be_made(folder, text, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(lw.ExportError, match=text) as error:
        lw.export_c(four_bar().mechanism, tmp_path / folder, jacobian=False)
    assert isinstance(error.value.__cause__, OSError)


def test_a_disk_that_is_full_leaves_the_old_files(tmp_path, monkeypatch):
    header = lw.export_c(four_bar().mechanism, tmp_path, jacobian=False, name="mech")
    before = header.read_bytes()

    def full(self, *args, **options):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("pathlib.Path.write_text", full)
    with pytest.raises(lw.ExportError, match=r"cannot write .*mech.h: .*; free some space"):
        lw.export_c(four_bar().mechanism, tmp_path, jacobian=False, name="mech", parameters=["coupler.mass"])
    assert header.read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 3
