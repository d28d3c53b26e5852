"""The host against another one, controllers in the loop against their recursions, sweeps against single runs."""

import numpy as np
import pytest
from scipy.linalg import expm, solve_discrete_are

import linkwork as lw
from linkwork import controllers
from linkwork.cosim import GaussSeidel, Jacobi, System, run
from support.linear_fmus import Block
from support.random_networks import apart, random_network, system_of

STEP = 0.05


pytestmark = pytest.mark.usefixtures("fmpy_and_gcc")


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_libcosim_gives_the_same(seed, needs):
    """Its algorithm of a fixed step is Jacobi with held inputs. Without direct feedthrough the two agree; with it,
    libcosim shows outputs that belong to the inputs of the step before."""
    needs("libcosimpy")
    dense = random_network(
        np.random.default_rng(seed), feedthrough=0.0, plain=True, external=False, version="2.0", discrete=False
    )
    system = system_of(dense)
    ours = run(system, 20 * STEP, master=Jacobi(STEP))
    assert apart(ours, dense, *dense.fixed(ours.t, 0)) < 1e-12
    theirs = libcosim(system, dense)
    for name, values in theirs.items():
        np.testing.assert_allclose(ours[name][1:], values, rtol=0, atol=1e-12 * (1.0 + np.abs(values).max()))


def libcosim(system, dense):
    """Outputs after each step."""
    from libcosimpy.CosimExecution import CosimExecution
    from libcosimpy.CosimObserver import CosimObserver
    from libcosimpy.CosimSlave import CosimLocalSlave

    from linkwork.cosim.fmu.model import read_model

    execution = CosimExecution.from_step_size(step_size=int(STEP * 1e9))
    models = {name: read_model(one.fmu) for name, one in system.components.items()}
    slaves = {
        name: execution.add_local_slave(CosimLocalSlave(fmu_path=str(one.fmu), instance_name=name))
        for name, one in system.components.items()
    }
    for name, one in system.components.items():
        for variable, value in one.parameters.items():
            execution.real_initial_value(slaves[name], models[name].variable(variable).reference, value)
    for one in system.connections:
        (source, output), (target, taken) = one.source.split(".", 1), one.target.split(".", 1)
        execution.connect_real_variables(
            slaves[source],
            models[source].variable(output).reference,
            slaves[target],
            models[target].variable(taken).reference,
        )
    observer = CosimObserver.create_last_value()
    assert execution.add_observer(observer=observer)
    references = {name: [one.reference for one in models[name].of_causality("output")] for name in models}
    rows = []
    for k in range(1, 21):
        assert execution.simulate_until(target_time=round(k * STEP * 1e9))
        rows.append(
            [
                value
                for name in models
                for value in observer.last_real_values(slave_index=slaves[name], variable_references=references[name])
            ]
        )
    names = [f"{name}.{one.name}" for name in models for one in models[name].of_causality("output")]
    return dict(zip(names, np.array(rows).T, strict=True))


@pytest.mark.parametrize("substeps", [1, 4])
def test_sampled_pid_on_a_plant_is_its_recursion(substeps, tmp_path, needs):
    """x'' = u - 3 x - 0.4 x', sampled by a PID whose output is held; exact by the exponential of a matrix."""
    needs("pythonfmu")
    kp, ki, kd, Tf, h, n = 4.0, 2.0, 0.5, 0.03, 0.08, 50
    A, B = np.array([[0.0, 1.0], [-3.0, -0.4]]), np.array([[0.0], [1.0]])
    plant = Block(A, B, np.array([[1.0, 0.0]]), np.zeros((1, 1)), np.array([0.3, 0.0]), np.zeros(1))
    system = System("loop")
    system.add("plant", plant.write(tmp_path / "plant.fmu"), parameters=plant.parameters())
    fmu = controllers.pid(tmp_path / "pid.fmu", kp=kp, ki=ki, kd=kd, filter_time=Tf, sample_time=h)
    system.add("pid", fmu, parameters={"setpoint": 1.0})
    system.connect("plant.y[1]", "pid.measurement")
    system.connect("pid.u", "plant.u[1]")
    result = run(system, n * h, master=Jacobi(h / substeps))
    held = expm(h * np.block([[A, B], [np.zeros((1, 3))]]))
    x, integral, rate, before = np.array([0.3, 0.0]), 0.0, 0.0, None
    expected = []
    for _ in range(n):
        y = x[0]
        rate = 0.0 if before is None else (Tf * rate + before - y) / (Tf + h)
        u = kp * (1.0 - y) + integral + kd * rate
        expected.append((y, u))
        integral, before = integral + h * ki * (1.0 - y), y
        x = held[:2, :2] @ x + held[:2, 2] * u
    found = np.column_stack([result["plant.y[1]"], result["pid.u"]])[::substeps][:n]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11)


def test_a_closed_loop_by_state_feedback_has_the_eigenvalues_of_its_riccati_equation(tmp_path, needs):
    """A pendulum upright on a cart that a force holds, near its equilibrium: x+ = (F - G K) x from a run, by a fit."""
    needs("pythonfmu")
    mech = lw.Mechanism("cart")
    mech.add_body("cart", mass=2.0, com=(0, 0, 0), inertia=lw.inertia.box(2.0, size=(1, 1, 1)))
    mech.add_body("rod", mass=1.0, com=(0, 0, 0.5), inertia=lw.inertia.rod(1.0, 1.0, axis="z"))
    mech.add_joint("x", lw.Prismatic(axis=(1, 0, 0)), "ground", "cart", at=(0, 0, 0))
    mech.add_joint("A", lw.Revolute((0, 1, 0)), "cart", "rod", at=(0, 0, 0))
    h, weights, effort = 0.05, [4.0, 10.0, 1.0, 1.0], 0.1
    model = lw.linearize(mech, inputs=["x.tau"])
    control = controllers.state_feedback(tmp_path / "control.fmu", model, weights, effort, sample_time=h)
    plant = lw.export_fmu(mech, tmp_path / "cart.fmu", fmi="2.0")
    runs = []
    for start in ({"x.q_start": 1e-4}, {"A.q_start": 1e-4}, {"x.u_start": 1e-4}, {"A.u_start": 1e-4}):
        system = System("loop")
        system.add("plant", plant, parameters=start)
        system.add("control", control)
        for name in model.states:
            system.connect(f"plant.{name}", f"control.{name}")
        system.connect("control.x.tau", "plant.x.tau")
        result = run(system, 20 * h, master=Jacobi(h), tolerance=1e-12)
        runs.append(np.column_stack([result[f"plant.{name}"] for name in model.states]))
    before, after = np.vstack([one[:-1] for one in runs]), np.vstack([one[1:] for one in runs])
    fitted = np.linalg.lstsq(before, after, rcond=None)[0].T
    m = 2.0, 1.0, 0.5, 9.81  # of cart and rod, distance of its centre, gravity; the rod's inertia is 1/12
    mass = np.array([[m[0] + m[1], m[1] * m[2]], [m[1] * m[2], m[1] * m[2] ** 2 + 1 / 12]])
    names = ["x.q", "A.q", "x.u", "A.u"]
    falls = np.linalg.solve(mass, np.diag([0, m[1] * m[2] * m[3]]))
    A = np.block([[np.zeros((2, 2)), np.eye(2)], [falls, np.zeros((2, 2))]])
    B = np.vstack([np.zeros((2, 1)), np.linalg.solve(mass, [[1.0], [0.0]])])
    both = expm(h * np.block([[A, B], [np.zeros((1, 5))]]))
    F, G = both[:4, :4], both[:4, 4:]
    Q = np.diag([weights[list(model.states).index(name)] for name in names])
    P = solve_discrete_are(F, G, Q, np.array([[effort]]))
    loop = F - G @ np.linalg.solve(effort + G.T @ P @ G, G.T @ P @ F)
    order = [list(model.states).index(name) for name in names]
    np.testing.assert_allclose(fitted[np.ix_(order, order)], loop, rtol=0, atol=1e-6)
    expected = np.sort_complex(np.linalg.eigvals(loop))
    np.testing.assert_allclose(np.sort_complex(np.linalg.eigvals(fitted)), expected, rtol=0, atol=1e-5)


def test_a_sweep_gives_the_bits_of_single_runs(tmp_path, needs):
    for name in ("pandas", "pyarrow"):
        needs(name)
    from linkwork.cosim.sweep import grid, sweep

    dense = random_network(np.random.default_rng(8), plain=True, external=False, version="2.0")
    system = system_of(dense)
    points = grid({"c0.x0[1]": [-1.0, 0.1, 2.0, 3.3], "c0.B[1,1]": [0.3, -0.7]})
    master = GaussSeidel(0.1, 1)
    swept = sweep(system, points, tmp_path / "sweep", t_end=1.0, master=master, workers=1, progress=False)
    assert len(points) == swept.done == 8
    for k in range(8):
        alone = run(system, 1.0, master=GaussSeidel(0.1, 1), parameters=points[k])
        frame = swept.trajectory(k)
        assert list(frame.columns) == list(alone.names)
        assert np.array_equal(frame.index, alone.t)
        assert np.array_equal(frame.to_numpy(), np.column_stack([alone[name] for name in alone.names]))
