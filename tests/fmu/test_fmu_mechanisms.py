"""FMUs of many mechanisms: a published motion, and one random mechanism of each family."""

import numpy as np
import pytest

import linkwork as lw
from support import reduced_four_bar
from support.cases import fourbar_planar
from support.random_mechanisms import FAMILIES, random_tree, well_posed
from support.unpacked import Unpacked, unpack

# (kind, tolerance, largest error). CVODE's multistep formulas lose four to five digits over these ten seconds, in
# minimal coordinates too; the FMU's own integrator loses two.
RUNS = [("ModelExchange", 1e-10, 1e-5), ("ModelExchange", 1e-12, 1e-6), ("CoSimulation", 1e-10, 1e-8)]


def mechanism_of(family: str) -> lw.Mechanism:
    if family == "tree":
        return random_tree(np.random.default_rng(5), 8, springs=3).mechanism
    return well_posed(FAMILIES[family][0], seed=2).mechanism


@pytest.mark.parametrize("version", ["2.0", "3.0"])
@pytest.mark.parametrize(("kind", "tolerance", "error"), RUNS)
def test_a_published_motion(version, kind, tolerance, error, needs, tmp_path):
    fmpy = needs("fmpy")
    case = fourbar_planar()
    case.mechanism.start(q=case.q, u=case.u)
    path = lw.export_fmu(case.mechanism, tmp_path / "case.fmu", version, list(case.motion))
    result = fmpy.simulate_fmu(
        str(path),
        fmi_type=kind,
        stop_time=case.t[-1],
        output_interval=case.t[1] - case.t[0],
        relative_tolerance=tolerance,
        output=[f"{name}.q" for name in case.motion],
    )
    assert len(result) == len(case.t)
    for name, expected in case.motion.items():
        assert np.abs(result[f"{name}.q"] - expected).max() < error


def cvode_on_the_reduced_four_bar(times, tolerance):
    """Crank angles (nt,) by FMPy's CVode on one equation derived by hand."""
    from fmpy.sundials import CVodeSolver

    case, state = fourbar_planar(), np.zeros(2)
    state[:] = case.q["A"], case.u["A"]

    def view(pointer, n):
        return np.ctypeslib.as_array(pointer, (n,))

    def nothing(*_):
        pass

    solver = CVodeSolver(
        nx=2,
        nz=0,
        get_x=lambda x, n: np.copyto(view(x, n), state),
        set_x=lambda x, n: np.copyto(state, view(x, n)),
        get_dx=lambda x, n: np.copyto(view(x, n), reduced_four_bar.derivative(state)),
        get_z=nothing,
        get_nominals=lambda x, n: view(x, n).fill(1.0),
        set_time=nothing,
        input=None,
        startTime=0.0,
        relativeTolerance=tolerance,
    )
    angles, reached = [state[0]], 0.0
    for time in times[1:]:
        while reached < time - 1e-12:
            reached = solver.step(reached, time)[2]
        angles.append(state[0])
    return np.array(angles)


def test_model_exchange_is_as_exact_as_its_solver(needs, tmp_path):
    """What CVode leaves at a tolerance is its own: a single equation without any loop is no better off."""
    fmpy = needs("fmpy")
    case = fourbar_planar()
    case.mechanism.start(q=case.q, u=case.u)
    path = str(lw.export_fmu(case.mechanism, tmp_path / "case.fmu"))
    step = case.t[1] - case.t[0]
    for tolerance in (1e-9, 1e-10, 1e-11):
        run = {"relative_tolerance": tolerance, "stop_time": case.t[-1], "output_interval": step, "output": ["A.q"]}
        ours = fmpy.simulate_fmu(path, fmi_type="ModelExchange", **run)["A.q"]
        reduced = cvode_on_the_reduced_four_bar(case.t, tolerance)
        assert np.abs(ours - case.motion["A"]).max() < 1.5 * np.abs(reduced - case.motion["A"]).max()


@pytest.mark.thin(16, kept=4)
@pytest.mark.parametrize("version", ["2.0", "3.0"])
@pytest.mark.parametrize("family", ["tree", *FAMILIES])
def test_a_random_mechanism(version, family, needs, tmp_path):
    needs("fmpy")
    from fmpy.validation import validate_fmu

    system = lw.compile(mechanism_of(family))
    path = lw.export_fmu(system, tmp_path / "random.fmu", version)
    assert validate_fmu(str(path)) == []
    fmu = Unpacked(path, unpack(path), version, system)
    instance = fmu.new("ME")
    instance.initialize()
    state = system.assemble()
    n, everything = system.sizes.nq + system.sizes.nu, fmu.references("derivative", "output")
    assert instance.array("GetContinuousStates", n) == [*state.q, *state.u]
    assert instance.derivatives(n) == list(system.derivatives(state))
    slave = fmu.new("CS")
    slave.initialize()
    assert slave.get(everything) == instance.get(everything)
    slave.step(0.0, 0.01)
    slave.free()
    instance.free()
