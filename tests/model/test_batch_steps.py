"""Steps of fixed size by each method: order, agreement with other programs, and bits by the row alone."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import linkwork as lw
from linkwork.core.native import Stage
from support.cases import four_bar
from support.joint_types import LOOP_IDS, LOOPS, on_carrier
from support.random_mechanisms import FAMILIES, tree_or_loop
from support.stiff import governor, slug_on_a_rod

METHODS = {"rk4": 4, "semi": 1, "rosenbrock": 5}
GAMMA = 0.21193756319429014  # of Rodas5P


def rates(model, y, t=0.0):
    """The derivatives of all states, by a batch of one row."""
    batch = model.batch(1)
    batch.columns["states"][0], batch.time[0] = y, t
    found = batch.derivatives()
    assert batch.errors == {}
    return found[0]


def driven_block():
    """A block on a spring and a damper, pushed by a formula of the time; its frequency, damping and force."""
    mech = lw.Mechanism("block")
    mech.add_body("block", mass=2.0, com=(0, 0, 0), inertia=lw.inertia.sphere(2.0, 0.1))
    mech.add_joint("S", lw.Prismatic((1, 0, 0)), "ground", "block", at=(0, 0, 0))
    mech.add_force(lw.Force("S", "-k*q - d*u + F*cos(w*time)", parameters={"k": 50.0, "d": 4.0, "F": 3.0, "w": 2.0}))
    return mech


def driven_block_at(t):
    """Coordinate and speed, which begin at zero, in closed form."""
    w, p = 2.0, 3.0 / 2.0
    k, c = 50.0 / 2.0, 4.0 / 2.0
    steady = p / (k - w**2 + 1j * c * w)  # times exp(i w t), of which the real part counts
    roots = np.roots([1.0, c, k])
    free = np.linalg.solve(np.array([[1.0, 1.0], roots]), -np.array([steady.real, (1j * w * steady).real]))
    parts = free * np.exp(roots * t)
    forced = steady * np.exp(1j * w * t)
    return (parts.sum() + forced).real, ((roots * parts).sum() + 1j * w * forced).real


# ---- order ----


@pytest.mark.parametrize(("method", "order"), METHODS.items())
def test_order_where_rates_depend_on_time(method, order):
    model, errors = lw.compile(driven_block()), []
    for steps in (40, 80):
        batch = model.batch(2)
        batch.rollout(1.5 / steps, steps, method=method)
        errors.append(np.abs(batch.columns["states"][0] - driven_block_at(1.5)).max())
    assert order - 0.35 < np.log2(errors[0] / errors[1]) < order + 0.6


@pytest.mark.parametrize(("method", "order"), METHODS.items())
def test_order_of_a_loop(method, order):
    model = lw.compile(four_bar().mechanism)
    start = model.assemble(q={"A": 0.3}, u={"A": 3.0})
    y0 = np.concatenate([start.q, start.u])
    exact = solve_ivp(lambda t, y: rates(model, y, t), (0, 0.5), y0, "DOP853", rtol=1e-12, atol=1e-12).y[:, -1]
    errors = []
    for steps in (50, 100):
        batch = model.batch(2, start)
        batch.rollout(0.5 / steps, steps, method=method)
        errors.append(np.abs(batch.columns["states"][1] - exact).max())
    assert order - 0.4 < np.log2(errors[0] / errors[1]) < order + 0.8


@pytest.mark.parametrize("method", ["semi", "rosenbrock"])
def test_prescribed_motions_and_their_inputs(method):
    mech = four_bar().mechanism
    mech.prescribe("A", "p + a*sin(w*time)", parameters={"p": (1.0, "rad"), "a": (0.2, "rad"), "w": 3.0})
    model = lw.compile(mech)
    start = model.assemble()
    batch = model.batch(2, start)
    batch.rollout(1e-3, 400, method=method)
    tolerance = 5e-3 if method == "semi" else 1e-8
    assert batch.q[0, 0] == pytest.approx(1.0 + 0.2 * np.sin(1.2), abs=tolerance)
    assert np.abs(model.loop_residual(batch.q[0], batch.u[0])).max() < tolerance


# ---- the semi-implicit method ----


@pytest.mark.parametrize("name", [*list(FAMILIES)[::5], "tree1"])
def test_speeds_move_first(name):
    model = lw.compile(tree_or_loop(name).mechanism)
    start, h, nq = model.assemble(), 0.01, model.sizes.nq
    batch = model.batch(1, start)
    batch.u[:] += 0.1 * np.linspace(-1.0, 1.0, model.sizes.nu)
    y = batch.columns["states"][0].copy()
    after = y + h * rates(model, y)
    after[:nq] = y[:nq]
    expected = np.concatenate([y[:nq] + h * rates(model, after, h)[:nq], after[nq:]])
    batch.rollout(h, 1, method="semi")
    assert np.array_equal(batch.columns["states"][0], expected)


def test_quaternions_turn_by_the_new_speeds():
    mech = lw.Mechanism("top")
    mech.add_body("top", mass=1.0, com=(0, 0, 0), inertia=np.diag([0.2, 0.2, 0.2]))
    mech.add_joint("ball", lw.Spherical(), "ground", "top", at=(0, 0, 0))
    model = lw.compile(mech)
    batch, h = model.batch(1), 0.01
    batch.u[:], batch.tau[0, :3] = (0.3, -0.5, 0.7), (1.0, 2.0, 3.0)
    batch.rollout(h, 1, method="semi")
    u = np.array([0.3, -0.5, 0.7]) + h * np.array([1.0, 2.0, 3.0]) / 0.2
    assert batch.u[0] == pytest.approx(u, abs=1e-14)
    assert batch.q[0] == pytest.approx([1.0, *(h * u / 2)], abs=1e-14)


def test_energy_of_a_pendulum_stays_within_bounds():
    mech = lw.Mechanism("pendulum")
    mech.add_body("rod", mass=1.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(1.0, 1.0))
    mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
    model = lw.compile(mech)

    def energies(method):
        states = model.batch(1).rollout(0.02, 20_000, every=50, method=method)[0]
        return np.array([sum(model.energy(y[:1], y[1:])[:2]) for y in states])

    semi, size = energies("semi"), 9.81 / 2
    assert np.abs(semi - semi[0]).max() < 0.08 * size
    late, early = np.abs(semi[200:] - semi[0]).max(), np.abs(semi[:200] - semi[0]).max()
    assert late < 1.05 * early  # no drift
    assert np.abs(energies("rk4")[-1] - semi[0]) > 1e-6 * size  # which does drift


def test_trees_move_as_in_mujoco(tmp_path):
    mujoco = pytest.importorskip("mujoco")
    mech = lw.Mechanism("arm")
    parent, frame = "ground", lw.Frame()
    for k, axis in enumerate(((0, 1, 0), (1, 0, 0), (0, 1, 0))):
        mech.add_body(f"b{k}", mass=1.0 + k, com=(0, 0, -0.2), inertia=np.diag([0.02, 0.03, 0.01]))
        mech.add_joint(f"J{k}", lw.Revolute(axis), parent, f"b{k}", parent_frame=frame, child_frame=lw.Frame())
        parent, frame = f"b{k}", lw.Frame((0, 0, -0.4))
    lw.save(mech, tmp_path / "arm.xml")
    theirs = mujoco.MjModel.from_xml_path(str(tmp_path / "arm.xml"))
    theirs.opt.timestep, theirs.opt.integrator = 1e-3, mujoco.mjtIntegrator.mjINT_EULER
    data = mujoco.MjData(theirs)
    data.qpos, data.qvel = (0.4, -0.3, 0.9), (1.0, 2.0, -1.0)
    batch = lw.compile(mech).batch(1)
    batch.q, batch.u = data.qpos, data.qvel
    batch.rollout(1e-3, 300, method="semi")
    for _ in range(300):
        mujoco.mj_step(theirs, data)
    assert batch.q[0] == pytest.approx(data.qpos, abs=1e-11)
    assert batch.u[0] == pytest.approx(data.qvel, abs=1e-10)


# ---- stiff mechanisms ----


def test_a_stiff_damper_is_right_where_runge_and_kutta_overflows():
    model = lw.compile(slug_on_a_rod(stiffness=1e6, damping=1e4))
    start = model.assemble(q={"A": 0.3})
    exact = lw.simulate(model, 1.0, start, solver="Radau", rtol=1e-10).final_state
    explicit, implicit = model.batch(3, start), model.batch(3, start)
    states = explicit.rollout(1e-3, 1000, every=100, method="rk4")
    assert sorted(explicit.errors) == [0, 1, 2]
    assert np.isnan(states[:, -1]).all()
    implicit.rollout(1e-2, 100, method="rosenbrock")
    assert implicit.errors == {}
    assert implicit.q[0] == pytest.approx(exact.q, abs=2e-6)
    assert implicit.u[0] == pytest.approx(exact.u, abs=2e-5)


def test_a_governor_with_loops_and_a_stiff_damper():
    model = lw.compile(governor(stiffness=2e5, damping=2e4))
    start = model.assemble()
    exact = lw.simulate(model, 0.5, start, solver="Radau", rtol=1e-9).final_state
    explicit, implicit = model.batch(2, start), model.batch(2, start)
    explicit.rollout(2e-3, 250)
    assert sorted(explicit.errors) == [0, 1]
    implicit.rollout(2e-3, 250, method="rosenbrock")
    assert implicit.q[0] == pytest.approx(exact.q, abs=1e-5)


@pytest.mark.parametrize("method", ["rk4", "rosenbrock"])
def test_a_stiff_bushing(method):
    mech = lw.Mechanism("mount")
    mech.add_body("engine", mass=2.0, com=(0, 0, 0.02), inertia=0.01 * np.eye(3))
    mech.add_joint("J", lw.Free(), "ground", "engine", at=(0, 0, 0))
    stiffness, damping = (1e6, 1e6, 1e6, 1e3, 1e3, 1e3), (5e4, 5e4, 5e4, 50.0, 50.0, 50.0)
    mech.add_force(lw.Bushing(("ground", "engine"), (lw.Frame(), lw.Frame()), stiffness=stiffness, damping=damping))
    model = lw.compile(mech)
    start = model.assemble(u={"J": (0.0, 0.0, 2.0, 0.1, 0.0, 0.0)})
    exact = lw.simulate(model, 0.1, start, solver="Radau", rtol=1e-10).final_state
    batch = model.batch(2, start)
    batch.rollout(1e-3, 100, method=method)
    if method == "rk4":
        assert sorted(batch.errors) == [0, 1]
    else:
        assert batch.q[0] == pytest.approx(exact.q, abs=1e-6)


def test_a_singular_matrix_of_a_step_is_an_error_of_the_row():
    mech = lw.Mechanism("growth")
    mech.add_body("block", mass=1.0, com=(0, 0, 0), inertia=lw.inertia.sphere(1.0, 0.1))
    mech.add_joint("S", lw.Prismatic((1, 0, 0)), "ground", "block", at=(0, 0, 0))
    mech.add_force(lw.Force("S", "g*u", parameters={"g": 1.0}, name="push"))
    h = 2.0**-6
    model = lw.compile(mech)
    batch = model.batch(3)
    batch.u[:] = 1.0
    batch.put({"push.g": [1.0, 1.0 / (h * GAMMA), 2.0]})
    states = batch.rollout(h, 4, method="rosenbrock")
    assert list(batch.errors) == [1]
    assert isinstance(batch.errors[1], lw.SolverError)
    assert "the matrix of a step of 0.015625 s is singular" in str(batch.errors[1])
    assert np.isnan(states[1, 1:]).any()
    assert states[[0, 2], -1, 1] == pytest.approx(np.exp(4 * h * np.array([1.0, 2.0])), rel=1e-7)


# ---- bits ----


def spread(model, rows, threads=1):
    """Rows some of which rest, so that they have no tape."""
    rng = np.random.default_rng(0)
    batch = model.batch(300, threads=threads)
    q, u = 1e-9 * rng.normal(size=batch.q.shape), rng.normal(size=batch.u.shape)
    u[::7] = 0.0
    made = model.batch(len(rows), threads=threads)
    made.q += q[rows]
    made.u[:] = u[rows]
    return made


@pytest.mark.parametrize("method", ["semi", "rosenbrock"])
@pytest.mark.parametrize("name", [*list(FAMILIES)[::6], "moving_slider_crank", "loop_on_loop", "tree1"])
def test_rows_depend_on_nothing_but_themselves(name, method):
    model = lw.compile(tree_or_loop(name).mechanism)
    together = spread(model, np.arange(300))
    states = together.rollout(1e-3, 4, method=method)
    for row in (0, 1, 7, 64, 299):
        assert np.array_equal(spread(model, [row]).rollout(1e-3, 4, method=method)[0], states[row])
    backward = spread(model, np.arange(299, -1, -1), threads=2)
    backward.q[3] += 0.5  # an open loop, or another pose
    backward.rollout(1e-3, 2)  # another history
    again = spread(model, np.arange(299, -1, -1), threads=2)
    backward.columns["states"][:], backward.time = again.columns["states"], 0.0
    backward.q_cut = again.q_cut
    assert np.array_equal(backward.rollout(1e-3, 4, method=method)[::-1], states)


@pytest.mark.parametrize("name", ["planar_4R", "spatial_7R", "closed_chain_8R"])
def test_wide_poses_have_their_own_tapes(name):
    model = lw.compile(tree_or_loop(name).mechanism)
    batch = model.batch(200, threads=1)
    batch.q += 0.3 * np.random.default_rng(0).normal(size=batch.q.shape)
    batch.u[:] = 0.1
    closed = np.flatnonzero(batch.assemble())
    q, u = batch.q[closed].copy(), batch.u[closed].copy()

    def moved(rows):
        made = model.batch(len(rows), threads=1)
        made.q, made.u = q[rows], u[rows]
        return made.rollout(1e-4, 3, method="rosenbrock")

    order = np.random.default_rng(1).permutation(closed.size)
    whole = moved(np.arange(closed.size))
    assert np.array_equal(moved(order), whole[order], equal_nan=True)
    assert np.array_equal(moved(order[:3]), whole[order[:3]], equal_nan=True)


@pytest.mark.parametrize("name", ["spatial_7R", "coupled", "tree2"])
def test_jacobians_of_rows_are_those_of_complex_steps(name):
    model = lw.compile(tree_or_loop(name).mechanism)
    batch = spread(model, np.arange(1, 7))
    batch.rollout(1e-3, 1, method="rosenbrock")
    batch = spread(model, np.arange(1, 7))
    n, first = model.numbering.n_states, model.batch(1).columns["states"][0]
    assert first.size == n
    h = 1e-3
    y = batch.columns["states"][0].copy()
    matrix = model.jacobian(y[: model.sizes.nq], y[model.sizes.nq :])
    batch.rollout(h, 1, method="rosenbrock")
    expected = rodas5p(lambda z: rates(model, z), matrix, y, h)
    assert batch.columns["states"][0] == pytest.approx(expected, abs=1e-10 * max(1.0, np.abs(expected).max()))


def rodas5p(f, matrix, y, h):
    """A step by the tableau of Steinebach's paper, in the form with U, for rates without time."""
    a = [[], [3.0], [2.849394379747939, 0.45842242204463923]]
    a += [[-6.954028509809101, 2.489845061869568, -10.358996098473584]]
    a += [[2.8029986275628964, 0.5072464736228206, -0.3988312541770524, -0.04721187230404641]]
    last = [-7.502846399306121, 2.561846144803919, -11.627539656261098, -0.18268767659942256, 0.030198172008377946]
    a += [last, [*last, 1.0], [*last, 1.0, 1.0]]
    c = [[], [-14.155112264123755], [-17.97296035885952, -2.859693295451294]]
    c += [[147.12150275711716, -1.41221402718213, 71.68940251302358]]
    c += [[165.43517024871676, -0.4592823456491126, 42.90938336958603, -5.961986721573306]]
    c += [[24.854864614690072, -3.0009227002832186, 47.4931110020768, 5.5814197821558125, -0.6610691825249471]]
    c += [[30.91273214028599, -3.1208243349937974, 77.79954646070892, 34.28646028294783, -19.097331116725623]]
    c[6] += [-28.087943162872662]
    c += [[37.80277123390563, -3.2571969029072276, 112.26918849496327, 66.9347231244047, -40.06618937091002]]
    c[7] += [-54.66780262877968, -9.48861652309627]
    stages = []
    for row, more in zip(a, c, strict=True):
        argument = y + sum((x * u for x, u in zip(row, stages, strict=True)), np.zeros_like(y))
        rhs = f(argument) + sum((x * u for x, u in zip(more, stages, strict=True)), np.zeros_like(y)) / h
        stages.append(np.linalg.solve(np.eye(y.size) / (h * GAMMA) - matrix, rhs))
    return argument + stages[-1]


# ---- rows ----


@pytest.mark.parametrize("method", ["semi", "rosenbrock"])
def test_parameters_of_rows(method):
    model = lw.compile(four_bar().mechanism)
    start = model.assemble(q={"A": 0.3}, u={"A": 3.0})
    mass = np.linspace(0.5, 2.0, 100)
    batch = model.batch(100, start, threads=2)
    batch.put({"coupler.mass": mass})
    states = batch.rollout(1e-3, 20, method=method)
    for row in (0, 50, 99):
        own = model.with_parameters({"coupler.mass": mass[row]})
        single = own.batch(1, own.adopt(start)).rollout(1e-3, 20, method=method)[0]
        assert states[row] == pytest.approx(single, abs=1e-12)


@pytest.mark.parametrize("method", ["semi", "rosenbrock"])
def test_quaternions_and_cut_joints(method):
    model = lw.compile(on_carrier("spherical"))
    batch = model.batch(2)
    batch.u[:] = np.linspace(0.5, 1.5, model.sizes.nu)
    state = batch.state(0)
    exact = lw.simulate(model, 0.3, state, rtol=1e-11).final_state
    batch.rollout(1e-3, 300, method=method)
    assert batch.q[0] == pytest.approx(exact.q, abs=1e-8 if method == "rosenbrock" else 5e-3)


@pytest.mark.parametrize("method", ["semi", "rosenbrock"])
@pytest.mark.parametrize(("make", "cut"), LOOPS[::4], ids=LOOP_IDS[::4])
def test_cut_joints_of_several_speeds(make, cut, method):
    model = lw.compile(make(cut))
    start = model.assemble()
    batch = model.batch(2, start)
    batch.rollout(1e-3, 100, every=50, method=method)
    exact = lw.simulate(model, 0.1, start, rtol=1e-11).final_state
    tolerance = 1e-7 if method == "rosenbrock" else 2e-2
    assert batch.q[0] == pytest.approx(exact.q, abs=tolerance)
    assert batch.q_cut[0] == pytest.approx(exact.q.cut, abs=tolerance)


@pytest.mark.parametrize("method", ["semi", "rosenbrock"])
def test_revolutions_of_cut_joints(method):
    model = lw.compile(four_bar().mechanism)
    start = model.assemble(q={"A": 0.5}, u={"A": 25.0})
    batch = model.batch(2, start)
    batch.rollout(2.5e-4, 2000, method=method)
    exact = lw.simulate(model, 0.5, start, rtol=1e-11).final_state
    assert batch.q_cut[1] == pytest.approx(exact.q.cut, abs=1e-6 if method == "rosenbrock" else 0.2)


@pytest.mark.parametrize("method", ["semi", "rosenbrock"])
def test_a_row_that_fails_leaves_the_others(method):
    model = lw.compile(four_bar().mechanism)
    start = model.assemble(q={"A": 0.3}, u={"A": 3.0})
    batch = model.batch(600, start, threads=2)
    batch.tau[[3, 599], 0] = 1e300
    states = batch.rollout(1e-3, 20, method=method)
    assert sorted(batch.errors) == [3, 599]
    assert np.isnan(states[[3, 599], -1]).all()
    alone = model.batch(1, start).rollout(1e-3, 20, method=method)[0, -1]
    assert np.array_equal(np.delete(states[:, -1], [3, 599], axis=0), np.tile(alone, (598, 1)))


def blocked_slide():
    """A block on a slide, whose force has no value beyond 1 m."""
    mech = lw.Mechanism("block")
    mech.add_body("block", mass=2.0, com=(0, 0, 0), inertia=lw.inertia.sphere(2.0, 0.1))
    mech.add_joint("S", lw.Prismatic((1, 0, 0)), "ground", "block", at=(0, 0, 0))
    mech.add_force(lw.Force("S", "k*sqrt(end - q)", parameters={"k": 0.1, "end": 1.0}))
    return lw.compile(mech)


def test_a_row_that_fails_stays_at_the_failed_evaluation():
    model = blocked_slide()
    rows, steps, h = 70, 40, 1e-2
    batch = model.batch(rows, threads=1)
    batch.u[:, 0] = np.linspace(0.0, 5.0, rows)  # half of them come to the end, one after the other
    width = batch._given.shape[1]
    begin, left = batch._given.copy(), []

    def move(worker, part):
        del part
        tapes = worker.tapes(batch._given_offsets, batch._rates, Stage.DERIVATIVES)
        times = np.array([width - 2, width - 1], np.uint32)
        for _ in range(2):  # by kernels and tapes, then by tapes
            given, stages = begin.copy(), np.full((rows, steps, 4, width), np.nan)
            stopped = tapes.move(worker.block, given, np.arange(2, dtype=np.uint32), times, h, steps, stages=stages)
            left.append((given, stopped))
            for row in range(rows):
                errors = {}
                asked = stages[row].reshape(-1, width)
                tapes.evaluate(worker.block, asked, errors)
                assert bool(errors) == bool(stopped[row])
                if errors:
                    assert np.array_equal(given[row], asked[min(errors)])
        assert tapes.recorded[0].states > 0
        return {}

    batch._workers.run(move, rows)
    assert np.array_equal(left[0][0], left[1][0])
    assert 20 < np.count_nonzero(left[0][1]) < 50
    assert np.array_equal(left[0][1], left[1][1])


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("method", METHODS)
def test_rows_of_several_tapes_in_a_block(method, compiled, monkeypatch, tmp_path):
    monkeypatch.setenv("LINKWORK_CACHE", str(tmp_path))
    model = lw.compile(tree_or_loop("slider_crank").mechanism)
    batch = model.batch(200, threads=1)
    batch.q += 0.6 * np.random.default_rng(0).normal(size=batch.q.shape)
    batch.u[:] = 0.1
    assert np.count_nonzero(batch.assemble()) == len(batch)
    start, fails = batch._given.copy(), [7, 64, 199]
    start[5, 0] += 2e9 * np.pi  # for the kernels
    start[fails, model.numbering.n_states] = 1e300  # a load

    def moved(batch, rows):
        batch._given[:] = start[rows]
        return batch.rollout(1e-3, 3, method=method)

    alone = np.concatenate([moved(model.batch(1), [row]) for row in range(len(batch))])
    for _ in range(20 if method == "semi" else 5):
        moved(batch, slice(None))
    rates = batch.tapes[0]
    assert sum(tape.states > 100 for tape in rates.recorded) > 1
    if compiled:
        for tapes in batch.tapes:
            tapes.compile()
        moved(batch, slice(None))
        assert all(tape.compiled for tape in rates.recorded)
    assert np.array_equal(moved(batch, slice(None)), alone, equal_nan=True)
    assert sorted(batch.errors) == fails


def test_rows_whose_jacobian_has_no_tape():
    """Where a slope of the coupling is exactly zero no tape has its derivative; the other rows have one."""
    mech = lw.Mechanism("pair")
    for body in "ab":
        mech.add_body(body, mass=1.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(1.0, 1.0))
        mech.add_joint(body.upper(), lw.Revolute((0, 1, 0)), "ground", body, at=(0, 0, 0))
    mech.add_coupling("cam", formula="A.q - 0.3*sin(B.q*B.q)")
    model = lw.compile(mech)
    angles = np.linspace(0.1, 1.0, 70)
    angles[40:45] = 0.0

    def moved(rows):
        batch = model.batch(len(rows), threads=1)
        batch.q[:, model.q_names.index("B.q")] = rows
        assert batch.assemble(keep=["B"]).all()
        batch.u[:] = 0.0
        return batch.rollout(1e-3, 20, method="rosenbrock"), batch

    states, batch = moved(angles)
    assert not batch.errors
    alone, _ = moved(angles[[0, 42]])
    assert np.array_equal(states[[0, 42]], alone)
    result = lw.simulate(model, 0.02, model.assemble(q={"B": 0.0}), rtol=1e-11)
    at_rest = states[42, -1][[model.q_names.index(f"{joint}.q") for joint in "AB"]]
    assert at_rest == pytest.approx([result["A.q"][-1], result["B.q"][-1]], abs=1e-9)


def test_unknown_methods_are_refused():
    batch = lw.compile(four_bar().mechanism).batch(2)
    with pytest.raises(lw.MechanismError, match="method: there is no 'rk45': did you mean 'rk4'"):
        batch.rollout(1e-3, 1, method="rk45")


# ---- memory ----


def test_arrays_share_memory_by_dlpack():
    torch = pytest.importorskip("torch")
    batch = lw.compile(four_bar().mechanism).batch(4)
    shared, loads = np.from_dlpack(batch.q), torch.from_dlpack(batch.tau)
    assert np.shares_memory(shared, batch.q)
    batch.q[2, 0] = 0.125
    assert shared[2, 0] == 0.125
    loads[:, 0] = 3.0
    assert (batch.tau[:, 0] == 3.0).all()
    assert np.array_equal(batch.accelerations()[0], batch.model.accelerations(batch.q[0], batch.u[0], tau=[3.0, 0, 0]))
    assert torch.from_dlpack(batch.q).data_ptr() == batch.q.ctypes.data
