"""Identification: published base parameters, simulated experiments, and motions that do not suffice."""

from __future__ import annotations

import re

import numpy as np
import pytest

import linkwork as lw
from linkwork.analysis.load_regressor import Samples, Unknowns, load_columns
from support.joint_families import JOINT_FAMILIES
from support.random_mechanisms import FAMILIES, well_posed

LENGTHS, SEAT = (0.5, 0.4), -9.81
MASSES = {"l1": (2.0, 0.2, 0.01, 0.06), "l2": (1.5, 0.15, -0.02, 0.03)}  # mass, com, moment about the com
DAMPING = {"A": 0.3, "B": 0.2}


def two_r(gravity=(0, SEAT, 0)) -> lw.Mechanism:
    mech = lw.Mechanism("two_r", gravity=gravity)
    for name, (mass, x, y, moment) in MASSES.items():
        mech.add_body(name, mass=mass, com=(x, y, 0), inertia=np.diag([moment, moment, moment]))
    mech.add_joint("A", lw.Revolute((0, 0, 1)), "ground", "l1", parent_frame=lw.Frame())
    mech.add_joint("B", lw.Revolute((0, 0, 1)), "l1", "l2", parent_frame=lw.Frame((LENGTHS[0], 0, 0)))
    for joint, damping in DAMPING.items():
        mech.add_force(lw.SpringDamper(joint, stiffness=0.0, damping=damping))
    return mech


def loads_of_two_r(q, u, a):
    """Loads (n, 2) by Lagrange's equations of the plane, first moments and moments about the joints."""
    (m1, x1, y1, j1), (m2, x2, y2, j2) = MASSES.values()
    inertia1, inertia2, length, g = j1 + m1 * (x1**2 + y1**2), j2 + m2 * (x2**2 + y2**2), LENGTHS[0], -SEAT
    c, s = np.cos(q[:, 1]), np.sin(q[:, 1])
    along, across = m2 * (x2 * c - y2 * s), m2 * (x2 * s + y2 * c)
    total = q.sum(axis=1)
    weight2 = g * m2 * (x2 * np.cos(total) - y2 * np.sin(total))
    weight1 = g * (m1 * (x1 * np.cos(q[:, 0]) - y1 * np.sin(q[:, 0])) + m2 * length * np.cos(q[:, 0]))
    mixed = inertia2 + length * along
    first = (inertia1 + m2 * length**2 + inertia2 + 2 * length * along) * a[:, 0] + mixed * a[:, 1]
    first -= length * across * (2 * u[:, 0] * u[:, 1] + u[:, 1] ** 2)
    second = mixed * a[:, 0] + inertia2 * a[:, 1] + length * across * u[:, 0] ** 2
    return np.stack([first + weight1 + weight2, second + weight2], axis=1) + u * list(DAMPING.values())


def motion(rng, n=80, joints=2, t_end=4.0):
    """Sums of sines (n, joints) with rates and accelerations."""
    t = np.linspace(0.0, t_end, n)
    q, u, a = np.zeros((3, n, joints))
    for k in range(1, 5):
        size, phase, w = rng.normal(size=joints) / k, rng.uniform(0, 6, joints), 1.3 * k
        angle = w * t[:, None] + phase
        q, u, a = q + size * np.sin(angle), u + size * w * np.cos(angle), a - size * w * w * np.sin(angle)
    return t, q, u, a


def measured_two_r(rng, noise=0.0, n=80):
    t, q, u, a = motion(rng, n)
    tau = loads_of_two_r(q, u, a) + noise * np.array([1.0, 0.3]) * rng.normal(size=q.shape)
    return {"t": t, "q": q, "u": u, "udot": a, "tau": tau}


TRUE_TWO_R = {}
for _name, (_m, _x, _y, _j) in MASSES.items():
    TRUE_TWO_R |= {f"{_name}.mass": _m, f"{_name}.mc[1]": _m * _x, f"{_name}.mc[2]": _m * _y}
    TRUE_TWO_R |= {f"{_name}.IO[3,3]": _j + _m * (_x**2 + _y**2), f"{_name}.mc[3]": 0.0}
TRUE_TWO_R |= {f"{joint}.damping": damping for joint, damping in DAMPING.items()}


# ---- base parameters ----


def test_base_parameters_of_the_planar_2r_arm_are_those_of_the_textbook() -> None:
    """ZZ1 + m2 L^2, MX1 + m2 L, MY1, ZZ2, MX2, MY2 (Khalil and Dombre); without gravity in the plane 4 of them."""
    found = {str(one) for one in lw.base_parameters(two_r())}
    assert found == {
        "l1.IO[3,3] + 0.25 l2.mass",
        "l1.mc[1] + 0.5 l2.mass",
        "l1.mc[2]",
        "l2.IO[3,3]",
        "l2.mc[1]",
        "l2.mc[2]",
    }
    level = {str(one) for one in lw.base_parameters(two_r((0, 0, SEAT)))}
    assert level == {"l1.IO[3,3] + 0.25 l2.mass", "l2.IO[3,3]", "l2.mc[1]", "l2.mc[2]"}


def test_the_puma_560_has_36_base_parameters() -> None:
    """Mayeda, Yoshida and Osuka (1990); modified Denavit and Hartenberg parameters of Armstrong, Khatib and Burdick."""

    def frame(twist: float, along: float, offset: float) -> lw.Frame:
        c, s = np.cos(twist), np.sin(twist)
        return lw.Frame((along, -s * offset, c * offset), np.array([[1, 0, 0], [0, c, -s], [0, s, c]]))

    mech = lw.Mechanism("puma")
    links = [(0, 0, 0), (-1, 0, 0.2435), (0, 0.4318, -0.0934), (1, -0.0203, 0.4331), (-1, 0, 0), (1, 0, 0)]
    for k, (quarter, along, offset) in enumerate(links):
        mech.add_body(f"l{k + 1}", mass=1.0, com=(0.05, 0.03, 0.02), inertia=np.diag([0.1, 0.1, 0.1]))
        parent = f"l{k}" if k else "ground"
        at = frame(quarter * np.pi / 2, along, offset)
        mech.add_joint(f"J{k + 1}", lw.Revolute((0, 0, 1)), parent, f"l{k + 1}", parent_frame=at)
    found = lw.base_parameters(mech)
    assert len(found) == 36
    by_first = {next(iter(one.weights)): one.weights for one in found}
    assert by_first["l2.mc[1]"] == pytest.approx({"l2.mc[1]": 1} | {f"l{k}.mass": 0.4318 for k in (3, 4, 5, 6)})
    assert by_first["l5.IO[3,3]"] == pytest.approx({"l5.IO[3,3]": 1.0, "l6.IO[2,2]": 1.0})
    assert set(found.idle) >= {"l1.mass", "l1.mc[1]", "l1.IO[1,1]"}
    assert "36 combinations of 60" in repr(found)


# ---- the regressor ----


@pytest.mark.parametrize("family", ["planar_5R", "spatial_7R", "RCCC", "spherical_tree", "free_tree", "screw_tree"])
def test_columns_times_parameters_are_the_loads_of_other_models(family: str) -> None:
    """Linear in m, m c, I_O and the rest: of a model with other numbers the loads follow, up to forces of loops."""
    scene = well_posed((FAMILIES | JOINT_FAMILIES)[family][0], 4)
    model = lw.compile(scene.mechanism)
    state = model.assemble(scene.q, scene.u)
    rng = np.random.default_rng(0)
    udot = np.array(model.accelerations(state, tau=rng.normal(size=model.numbering.nu)))
    samples = Samples(*(np.array(x)[None] for x in (state.q, state.u, udot, model.arguments.no_inputs)))
    factors = {"mass": 1.1, "com": 0.95, "inertia": 1.07}
    bodies = [f"{body}.{what}" for body in scene.mechanism.bodies for what in factors]
    joints = re.compile(r".+\.(damping|reflected_inertia)(\[\d\])?")
    plain = [v.name for v in model.variables if v.kind == "parameter" and joints.fullmatch(v.name)]
    unknowns = Unknowns(model, [*bodies, *plain[:3]])
    columns, loads = load_columns(unknowns, samples)
    kinds = [name.partition(".")[2].partition("[")[0] for name in unknowns.names]
    other = unknowns.start * [factors.get(kind, 1.3) for kind in kinds]
    twin = model.with_parameters(unknowns.physical(other))
    moved = np.array(twin.inverse_dynamics(np.array(state.q), udot, np.array(state.u)))
    basis = model.velocity_transformation(state).matrix if model.sizes.loops else np.eye(model.numbering.nu)
    expected = basis.T @ (loads[0] + columns[0] @ (unknowns.phi(other) - unknowns.phi(unknowns.start)))
    np.testing.assert_allclose(basis.T @ moved, expected, atol=1e-10 * max(1.0, np.abs(moved).max()))


def test_slopes_of_the_linear_numbers() -> None:
    unknowns = Unknowns(
        lw.compile(five_bar()), ["p1.mass", "p1.com", "p1.inertia", "L.stiffness", "L.free", "R.damping"]
    )
    rng, h = np.random.default_rng(1), 1e-6
    step = rng.normal(size=len(unknowns.start))
    near = (unknowns.phi(unknowns.start + h * step) - unknowns.phi(unknowns.start - h * step)) / (2 * h)
    np.testing.assert_allclose(unknowns.slope(unknowns.start) @ step, near, atol=1e-8)
    assert not unknowns.is_linear
    assert Unknowns(unknowns.model, ["p1", "R.damping", "L.stiffness"]).is_linear


# ---- experiments ----


def truth(found, known) -> np.ndarray:
    return np.array([one.value(dict.fromkeys(found.parameters, 0.0) | known) for one in found.combinations])


def test_exact_loads_of_lagrange_give_exact_parameters() -> None:
    model = lw.compile(two_r()).with_parameters({"l1.mass": 1.0, "l2.com[1]": 0.3, "A.damping": 0.0, "B.damping": 0.0})
    found = lw.identify(model, measured_two_r(np.random.default_rng(0)), ["l1", "l2", "A.damping", "B.damping"])
    np.testing.assert_allclose(found.values, truth(found, TRUE_TWO_R), atol=1e-12)
    assert np.isnan(found.std["l2.mass"])
    assert found["A.damping"] == pytest.approx(0.3, abs=1e-12)
    # The combinations alone make the loads, so that the model found repeats the experiment.
    data = measured_two_r(np.random.default_rng(9))
    assert found.model is not None
    again = found.model.inverse_dynamics(data["q"], data["udot"], data["u"])
    np.testing.assert_allclose(again, data["tau"], atol=1e-11)


def hits(experiment, parameters, known, model, trials: int) -> int:
    count = 0
    for seed in range(trials):
        found = lw.identify(model, experiment(np.random.default_rng(seed)), parameters)
        count += bool((np.abs(found.values - truth(found, known)) < 3.0 * found.deviations).all())
    return count


@pytest.mark.parametrize("trials", [12, pytest.param(100, marks=pytest.mark.slow)])
def test_noisy_loads_of_an_arm_stay_within_three_deviations(trials: int) -> None:
    model = lw.compile(two_r()).with_parameters({"l1.mass": 1.0, "A.damping": 0.0})
    parameters = ["l1.IO[3,3]", "l1.mc", "l2.mass", "l2.mc", "l2.IO[3,3]", "A.damping", "B.damping"]
    good = hits(lambda rng: measured_two_r(rng, 0.2, 60), parameters, TRUE_TWO_R, model, trials)
    assert good >= 0.91 * trials if trials < 100 else good >= 95


# Coulomb and static friction, viscous friction
RUBBING = {"A": (0.8, 1.2, 0.25), "B": (0.5, 0.5, 0.2)}
TRUE_RUBBING = TRUE_TWO_R | {f"{joint}_rubs.coulomb": coulomb for joint, (coulomb, _, _) in RUBBING.items()}
TRUE_RUBBING |= {f"{joint}_rubs.viscous": viscous for joint, (_, _, viscous) in RUBBING.items()}


def rubbing_two_r() -> lw.Mechanism:
    """The arm with friction in place of dampers, with other numbers."""
    mech = two_r()
    mech.forces = [lw.Friction(joint, coulomb=0.1, static=2.0, name=f"{joint}_rubs") for joint in RUBBING]
    return mech


def measured_rubbing_two_r(rng, noise=0.0, n=80):
    """Each joint is at rest in a quarter of the rows, where friction holds any load up to static friction."""
    t, q, u, a = motion(rng, n)
    for joint in range(2):
        rest = rng.permutation(n)[: n // 4]
        u[rest, joint] = a[rest, joint] = 0.0
    coulomb, static, viscous = np.array([*RUBBING.values()]).T
    held = static * rng.uniform(-1.0, 1.0, u.shape)
    friction = np.where(u == 0.0, held, coulomb * np.sign(u) + viscous * u)
    tau = loads_of_two_r(q, u, a) - u * list(DAMPING.values()) + friction
    return {"t": t, "q": q, "u": u, "udot": a, "tau": tau + noise * np.array([1.0, 0.3]) * rng.normal(size=q.shape)}


def test_friction_is_found_while_it_slides_and_holding_loads_drop_out() -> None:
    frictions = [f"{joint}_rubs.{what}" for joint in RUBBING for what in ("coulomb", "viscous")]
    found = lw.identify(rubbing_two_r(), measured_rubbing_two_r(np.random.default_rng(0)), ["l1", "l2", *frictions])
    np.testing.assert_allclose(found.values, truth(found, TRUE_RUBBING), atol=1e-12)
    assert all(20 <= rows <= 25 for rows in found.at_rest.values())
    assert f"at rest: A_rubs in {found.at_rest['A_rubs']} of 80 rows" in repr(found)
    assert found.to_dict()["at_rest"] == found.at_rest
    with pytest.raises(lw.MechanismError, match=r"no load depends on 'A_rubs\.static'"):
        lw.identify(rubbing_two_r(), measured_rubbing_two_r(np.random.default_rng(0)), ["A_rubs.static"])
    still = measured_rubbing_two_r(np.random.default_rng(0))
    still["u"][:, 0] = 0.0
    with pytest.raises(lw.MechanismError, match=r"not determined: 'A_rubs\.coulomb'"):
        lw.identify(rubbing_two_r(), still, ["A_rubs.coulomb", "B_rubs.coulomb"])


@pytest.mark.parametrize("trials", [12, pytest.param(100, marks=pytest.mark.slow)])
def test_noisy_friction_stays_within_three_deviations(trials: int) -> None:
    parameters = ["l1.IO[3,3]", "l1.mc", "l2.mass", "l2.mc", "l2.IO[3,3]"]
    parameters += [name for name in TRUE_RUBBING if "rubs" in name]
    good = hits(
        lambda rng: measured_rubbing_two_r(rng, 0.2, 60), parameters, TRUE_RUBBING, lw.compile(rubbing_two_r()), trials
    )
    assert good >= 0.91 * trials if trials < 100 else good >= 95


def test_stribecks_static_friction_is_found() -> None:
    mech = two_r()
    mech.forces = [lw.Friction("A", coulomb=0.1, static=0.2, stribeck=1.5, name="rubs")]
    t, q, u, a = motion(np.random.default_rng(3))
    tau = loads_of_two_r(q, u, a) - u * list(DAMPING.values())
    tau[:, 0] += np.sign(u[:, 0]) * (0.4 + 0.5 * np.exp(-((u[:, 0] / 1.5) ** 2)))
    found = lw.identify(mech, {"t": t, "q": q, "u": u, "udot": a, "tau": tau}, ["rubs.coulomb", "rubs.static"])
    assert found.parameters == pytest.approx({"rubs.coulomb": 0.4, "rubs.static": 0.9}, abs=1e-12)


def five_bar() -> lw.Mechanism:
    """Motors L and R; all axes are vertical."""
    mech = lw.Mechanism("five_bar")
    hinge, end = lw.Revolute((0, 0, 1)), lw.Frame((0.35, 0, 0))
    for k, (motor, foot) in enumerate((("L", -0.1), ("R", 0.1)), start=1):
        mech.add_body(f"p{k}", mass=0.5, com=(0.12, 0.01, 0), inertia=lw.inertia.rod(0.5, 0.25))
        mech.add_body(f"d{k}", mass=0.3, com=(0.17, 0.0, 0), inertia=lw.inertia.rod(0.3, 0.35))
        mech.add_joint(motor, hinge, "ground", f"p{k}", parent_frame=lw.Frame((foot, 0, 0)))
        mech.add_joint(f"E{k}", hinge, f"p{k}", f"d{k}", parent_frame=lw.Frame((0.25, 0, 0)))
        mech.add_force(lw.SpringDamper(motor, stiffness=4.0 * k, damping=0.1, free=1.5))
    mech.add_joint("tip", hinge, "d1", "d2", parent_frame=end, child_frame=end)
    mech.start(q={"L": 2.2, "E1": -1.2, "R": 0.94, "E2": 1.2})
    return mech


@pytest.fixture(scope="module")
def run() -> lw.Result:
    torques = {"L": lambda t: 3 * np.sin(3 * t) + np.sin(7 * t), "R": lambda t: 1.5 * np.cos(4 * t)}
    times = np.linspace(0, 3, 61)
    return lw.simulate(five_bar(), 3.0, inputs=torques, t_eval=times, solver="DOP853", rtol=1e-11)


CLOSED = [
    "p1.IO[3,3]",
    "d1.IO[3,3]",
    "d1.mass",
    "d1.mc",
    "p2.IO[3,3]",
    "d2.IO[3,3]",
    "d2.mass",
    "d2.mc",
    "L.stiffness",
    "L.damping",
    "R.damping",
]
CLOSED_TRUE = {
    "p1.IO[3,3]": 0.5 * (0.25**2 / 12 + 0.12**2 + 0.01**2),
    "d1.mass": 0.3,
    "d2.mass": 0.3,
    "d1.mc[1]": 0.051,
}
CLOSED_TRUE |= {
    "p2.IO[3,3]": CLOSED_TRUE["p1.IO[3,3]"],
    "d2.mc[1]": 0.051,
    "L.stiffness": 4.0,
    "L.damping": 0.1,
    "R.damping": 0.1,
}
CLOSED_TRUE |= {f"d{k}.IO[3,3]": 0.3 * (0.35**2 / 12 + 0.17**2) for k in (1, 2)}


@pytest.mark.parametrize("trials", [6, pytest.param(100, marks=pytest.mark.slow)])
def test_noisy_loads_of_a_closed_chain_stay_within_three_deviations(trials: int, run: lw.Result) -> None:
    def experiment(rng):
        exact = {name: np.array(run[name]) for name in (*run.model.q_names, *run.model.u_names, "L.tau", "R.tau")}
        exact |= {"time": run.t} | {name: run[name] for name in ("L.a", "E1.a", "R.a", "E2.a")}
        return exact | {name: exact[name] + 0.02 * rng.normal(size=run.t.shape) for name in ("L.tau", "R.tau")}

    assert len(lw.base_parameters(five_bar(), CLOSED)) == 10
    good = hits(experiment, CLOSED, CLOSED_TRUE, five_bar(), trials)
    assert good >= trials - 1 if trials < 100 else good >= 95


def test_a_result_of_a_closed_chain_gives_physical_parameters_by_a_nonlinear_search(run: lw.Result) -> None:
    start = {"p1.mass": 0.8, "d2.mass": 0.2, "d2.com[1]": 0.1, "L.damping": 0.0, "L.stiffness": 2.0, "L.free": 1.0}
    true = {"p1.mass": 0.5, "d2.mass": 0.3, "d2.com[1]": 0.17, "L.damping": 0.1, "L.stiffness": 4.0, "L.free": 1.5}
    found = lw.identify(lw.compile(five_bar()).with_parameters(start), run, list(true))
    assert found.parameters == pytest.approx(true, abs=1e-9)
    assert found.model is not None
    state = found.model.assemble()
    assert found.model.value("L.stiffness", state) == pytest.approx(4.0, abs=1e-9)


def test_friction_of_a_motor_a_passive_hinge_and_a_hinge_that_closes_the_loop() -> None:
    """A simulation in which they stick and slide by events."""
    mech = five_bar()
    mech.add_force(lw.Friction("L", coulomb=0.3, static=0.4, viscous=0.02, name="motor"))
    mech.add_force(lw.Friction("E1", coulomb=0.1, name="elbow"))
    mech.add_force(lw.Friction("tip", coulomb=0.2, viscous=0.05, name="tip_rubs"))
    torques = {"L": lambda t: 3 * np.sin(3 * t) + np.sin(7 * t), "R": lambda t: 1.5 * np.cos(4 * t)}
    times = np.linspace(0, 3, 121)
    run = lw.simulate(mech, 3.0, inputs=torques, t_eval=times, solver="DOP853", rtol=1e-9, atol=1e-11)
    assert np.sum(run["motor.state"] == 2) > 2
    assert np.sum(run["tip_rubs.state"] == 2) > 1
    true = {"motor.coulomb": 0.3, "motor.viscous": 0.02, "elbow.coulomb": 0.1}
    true |= {"tip_rubs.coulomb": 0.2, "tip_rubs.viscous": 0.05, "p1.IO[3,3]": CLOSED_TRUE["p1.IO[3,3]"]}
    start = lw.compile(mech).with_parameters({"motor.coulomb": 0.0, "tip_rubs.coulomb": 0.0, "tip_rubs.viscous": 0.0})
    assert lw.identify(start, run, list(true)).parameters == pytest.approx(true, abs=1e-8)


def test_encoders_of_the_motors_alone_suffice(tmp_path, run: lw.Result) -> None:
    """The other coordinates follow from the loops, speeds and accelerations from splines; from a CSV file."""
    dense = lw.simulate(
        five_bar(),
        3.0,
        inputs={"L": lambda t: np.sin(3 * t) + 0.5 * np.sin(7 * t), "R": lambda t: 0.7 * np.cos(4 * t)},
        t_eval=np.linspace(0, 3, 181),
        rtol=1e-11,
        solver="DOP853",
    )
    path = tmp_path / "data.csv"
    columns = ["L.q", "R.q", "L.tau", "R.tau"]
    rows = np.column_stack([dense.t, *(dense[name] for name in columns)])
    np.savetxt(path, rows, delimiter=",", header="time," + ",".join(columns), comments="")
    found = lw.identify(five_bar(), path, ["p1.mass", "d2.mass", "L.stiffness", "R.damping"], motors=["L", "R"])
    assert found.parameters == pytest.approx(
        {"p1.mass": 0.5, "d2.mass": 0.3, "L.stiffness": 4.0, "R.damping": 0.1}, abs=2e-3
    )
    assert len(found.t) == 175


def test_more_motors_than_degrees_of_freedom_and_fewer(run: lw.Result) -> None:
    names = [*run.model.q_names, *run.model.u_names, "L.a", "E1.a", "R.a", "E2.a", "L.tau", "R.tau"]
    data = {"time": run.t} | {name: np.array(run[name]) for name in names}
    inner = 0.3 * np.cos(run.t)  # of motors that work against each other: loads of E1 that L and R take up
    model, states = run.model, [run.state(t) for t in run.t]
    by = np.array([model.velocity_transformation(state, ["L", "R"]).matrix for state in states])
    row = model.u_names.index("E1.u")
    more = data | {"E1.tau": inner}
    more["L.tau"], more["R.tau"] = (data[f"{j}.tau"] - by[:, row, k] * inner for k, j in enumerate("LR"))
    true = {"p1.mass": 0.5, "d2.mass": 0.3, "L.damping": 0.1}
    found = lw.identify(five_bar(), more, list(true))
    assert found.parameters == pytest.approx(true, abs=1e-9)
    assert set(found.residual_std) == {"motors"}
    one = lw.identify(five_bar(), data | {"R.tau": 0 * run.t} | {"R.tau": data["R.tau"]}, list(true), motors=["L", "R"])
    assert one.parameters == pytest.approx(true, abs=1e-9)


def test_an_arm_without_a_motor_in_one_joint() -> None:
    mech = two_r()
    mech.start(q={"A": 0.5})
    run = lw.simulate(mech, 3.0, inputs={"A": lambda t: 6 * np.sin(5 * t)}, t_eval=np.linspace(0, 3, 60), rtol=1e-10)
    found = lw.identify(mech, run, ["l1.mass", "l2.mass", "B.damping"])
    assert found.parameters == pytest.approx({"l1.mass": 2.0, "l2.mass": 1.5, "B.damping": 0.2}, abs=1e-9)
    assert set(found.residual_std) == {"A.tau", "without motor"}


def test_a_spherical_joint_and_a_table_of_pandas(needs) -> None:
    needs("pandas")
    mech = lw.Mechanism("top")
    mech.add_body("top", mass=1.2, com=(0.1, 0.05, -0.3), inertia=np.diag([0.02, 0.03, 0.015]))
    mech.add_joint("S", lw.Spherical(), "ground", "top", at=(0, 0, 0))
    torques = {"S": lambda t: (np.sin(3 * t), np.cos(5 * t), 0.3 * np.sin(8 * t))}
    run = lw.simulate(mech, 2.0, inputs=torques, t_eval=np.linspace(0, 2, 50), solver="DOP853", rtol=1e-11)
    found = lw.identify(mech, run.to_dataframe(), ["top"])
    com = np.array([0.1, 0.05, -0.3])
    about = np.diag([0.02, 0.03, 0.015]) + 1.2 * (com @ com * np.eye(3) - np.outer(com, com))
    true = {f"top.mc[{k + 1}]": 1.2 * com[k] for k in range(3)}
    true |= {f"top.IO[{i + 1},{j + 1}]": about[i, j] for i in range(3) for j in range(i, 3)}
    assert {name: found[name] for name in true} == pytest.approx(true, abs=1e-9)
    assert found.idle == ("top.mass",)


def test_actuators_with_gears_are_motors() -> None:
    mech = two_r()
    mech.add_force(lw.Actuator("drive", {"A": 5.0}, gain=2.0))
    data = measured_two_r(np.random.default_rng(3))
    loads = data.pop("tau")
    data |= {"drive.input": loads[:, 0] / 10.0, "B.tau": loads[:, 1]}
    found = lw.identify(mech, data, ["l1.mass", "l2.mass", "A.damping"])
    assert found.parameters == pytest.approx({"l1.mass": 2.0, "l2.mass": 1.5, "A.damping": 0.3}, abs=1e-11)


# ---- what goes wrong ----


def test_data_that_do_not_suffice_name_the_combinations() -> None:
    data = measured_two_r(np.random.default_rng(0))
    still = data | {"u": 0 * data["u"], "udot": 0 * data["udot"]}
    still["tau"] = loads_of_two_r(still["q"], still["u"], still["udot"])
    with pytest.raises(
        lw.MechanismError, match=r"determine 4 of 6 comb.*'l1\.IO\[3,3\] \+ 0\.25 l2\.mass'.*'l2\.IO\[3,3\]'"
    ):
        lw.identify(two_r(), still, ["l1", "l2"])
    few = {name: values[:2] for name, values in data.items()}
    with pytest.raises(lw.MechanismError, match=r"2 rows.*determine 4 of 6"):
        lw.identify(two_r(), few, ["l1", "l2"])


@pytest.mark.parametrize(
    ("parameters", "change", "options", "text"),
    [
        (["l1.mm"], {}, {}, r"parameters: there is no 'l1\.mm': did you mean"),
        (["ll1"], {}, {}, "did you mean 'l1'"),
        (["B.parent_frame.position[1]"], {}, {}, "geometry is found by linkwork.design"),
        (["l1.IO[1,1]"], {}, {}, r"no load depends on 'l1\.IO\[1,1\]'"),
        (["l1.mc", "l1.com"], {}, {}, "describe the same body"),
        (["l1", "l1.mass"], {}, {}, r"parameters: 'l1\.mass' is named twice: name it once"),
        (["l1.mass", "l1"], {}, {}, r"'l1\.mass' is named twice, by 'l1' too"),
        (["l1.mc[1]", "l1.mc"], {}, {}, r"'l1\.mc\[1\]' is named twice, by 'l1\.mc' too"),
        (3, {}, {}, "parameters must be a name or names .*, not 3"),
        ([], {}, {}, "parameters is empty"),
        (["A.q"], {}, {}, "'A.q'"),
        (["l1"], {"t": None}, {}, "have no column 'time'"),
        (["l1"], {"q": np.zeros((80, 3))}, {}, r"'q' has shape \(80, 3\)"),
        (["l1"], {"tau": np.full((80, 2), np.nan)}, {}, "'A.tau' is not finite in 80 of 80 rows .1, 2, 3, 4, 5"),
        (["l1"], {"q": None}, {}, "0 coordinates of joints and the mechanism has 2 degrees of freedom"),
        (["l1"], {"t": np.zeros(70)}, {}, "has 80 rows, the time 70"),
        (["l1"], {"u": None, "t": np.zeros(80)}, {}, "times that increase"),
        (["l1"], {}, {"motors": ["C"]}, "there is no motor 'C'"),
        (["l1"], {"tau": None}, {"motors": ["A"]}, "measurements have no 'A.tau'"),
        (["l1"], {}, {"motors": ["A", "A.u"]}, "motors: 'A.tau' is named twice"),
        (["l1"], {}, {"motors": 3}, "motors must be a name or names .*, not 3"),
        (["l1"], {}, {"smooth": 1.0}, "smoothing"),
        (["l1"], {}, {"smoothing": -1.0}, "smoothing must be a standard deviation"),
        (["l1"], {}, {"smoothing": "little"}, "smoothing of 'A.q' must be one number"),
        (["l1"], {}, {"smoothing": {"A.q": np.nan}}, "smoothing of 'A.q' must be finite"),
        (["l1"], {}, {"smoothing": {"A.qq": 0.1}}, "smoothing: measurements have no 'A.qq': did you mean 'A.q'"),
        (["l1"], {"B.taau": np.ones(80)}, {}, "'B.taau' is no variable of the mechanism, .*: did you mean 'B.tau'"),
        (["l1"], {"BB.tau": np.ones(80)}, {}, "'BB.tau' is no variable of the mechanism, .*: did you mean 'B.tau'"),
        (["l1"], {"taau": np.ones((80, 2))}, {}, "'taau' is no variable .* of several numbers .*: did you mean 'tau'"),
        (["l1"], {"A.q": np.zeros(80)}, {}, "'A.q' is given twice"),
        (["l1"], {"tau": np.full((80, 2), 1e200)}, {}, "too large to compute with: check their units"),
        (["l1"], {"tau": np.full((80, 2), 1j)}, {}, "'tau' must be numbers"),
        (
            ["l1"],
            {name: np.zeros((0, 2)[: 1 + (name != "t")]) for name in ("t", "q", "u", "udot", "tau")},
            {},
            "no rows",
        ),
        (["l1"], {}, {"smoothing": 1e200}, "smoothing must be a standard deviation"),
        (["l1"], {"B.tau": np.full(80, "high")}, {}, "'B.tau' must be numbers"),
        (["l1"], {"B.tau": np.ones((80, 1, 1))}, {}, r"'B.tau' has shape \(80, 1, 1\)"),
    ],
)
def test_bad_input_is_named(parameters, change, options, text) -> None:
    data = measured_two_r(np.random.default_rng(0)) | change
    data = {name: values for name, values in data.items() if values is not None}
    with pytest.raises((lw.MechanismError, TypeError), match=text):
        lw.identify(two_r(), data, parameters, **options)


def test_files_that_cannot_be_read_are_named(tmp_path) -> None:
    ragged = tmp_path / "ragged.csv"
    ragged.write_text("time,A.q\n0,1\n1\n")
    for path, text in (
        (tmp_path / "none.csv", "cannot be read"),
        (ragged, "line 3: 1 values, and the header has 2 names"),
    ):
        with pytest.raises(lw.MechanismError, match=text):
            lw.identify(two_r(), path)
    with pytest.raises(lw.MechanismError, match="must be a Result, a table"):
        lw.identify(two_r(), 3)


def test_records_of_something_else_are_left_out() -> None:
    data = measured_two_r(np.random.default_rng(0))
    more = {"temperature": np.full(80, 20.0), "note": ["calm"] * 80, "energy.kinetic": np.ones(80)}
    assert lw.identify(two_r(), data | more, ["l1"]).parameters == lw.identify(two_r(), data, ["l1"]).parameters


def test_motors_are_named_by_joints_loads_or_speeds() -> None:
    data = measured_two_r(np.random.default_rng(0))
    found = [lw.identify(two_r(), data, ["l1", "l2"], motors=names) for names in (None, ["A", "B"], ["A.u", "B.tau"])]
    assert all(one.motors == ("A.tau", "B.tau") for one in found)


def test_a_dead_point_of_the_measured_joint_is_named() -> None:
    mech = lw.Mechanism("slider_crank", gravity=(0, -9.81, 0))
    hinge = lw.Revolute((0, 0, 1))
    mech.add_body("crank", mass=1.0, com=(0.1, 0, 0), inertia=np.eye(3))
    mech.add_body("rod", mass=1.0, com=(0.2, 0, 0), inertia=np.eye(3))
    mech.add_body("block", mass=1.0, com=(0, 0, 0), inertia=np.eye(3))
    mech.add_joint("A", hinge, "ground", "crank", parent_frame=lw.Frame())
    mech.add_joint("B", hinge, "crank", "rod", parent_frame=lw.Frame((0.2, 0, 0)))
    mech.add_joint("S", lw.Prismatic((1, 0, 0)), "ground", "block", parent_frame=lw.Frame())
    mech.add_joint("C", hinge, "rod", "block", parent_frame=lw.Frame((0.5, 0, 0)), child_frame=lw.Frame())
    mech.start(q={"A": 0.3, "S": 0.7})
    x = np.array([0.69, 0.695, 0.7])
    data = {"t": np.arange(3.0), "S.q": x, "S.u": 0 * x, "S.a": 0 * x}
    with pytest.raises(lw.AssemblyError, match=r"row 3, t = 2 s: the measured coordinates do not determine"):
        lw.identify(mech, data, ["crank.mc[1]"])


def test_rows_count_from_the_first_of_the_measurements() -> None:
    """Three rows at each end are left out where splines are used; they count."""
    model = lw.compile(five_bar()).with_parameters({"L.parent_frame.position[1]": -0.15})
    t = np.linspace(0.0, 1.0, 21)
    data = {"t": t, "L.q": np.where(t > 0.48, np.pi, 2.2), "R.q": np.where(t > 0.48, 0.0, 0.94)}
    with pytest.raises(lw.AssemblyError, match=r"row 11, t = 0\.5 s: no closed pose"):
        lw.identify(model, data, ["L.damping"])


def test_results_are_shown_and_written(tmp_path, needs) -> None:
    found = lw.identify(two_r(), measured_two_r(np.random.default_rng(0), 0.1), ["l1", "l2"])
    assert "l1.IO[3,3] + 0.25 l2.mass" in repr(found)
    assert "without influence: l1.IO[1,1]" in repr(found)
    with pytest.raises(lw.UnknownNameError, match="did you mean"):
        _ = found["l2.mm"]
    needs("pandas")
    assert found.to_dataframe().loc["l2.mc[1]", "unit"] == "kg.m"
    found.to_csv(tmp_path / "i.csv")
    needs("matplotlib")
    found.plot(tmp_path / "i.png")
    assert (tmp_path / "i.png").is_file()


def test_a_motion_without_motors_shows_its_damping() -> None:
    mech = lw.Mechanism("pendulum")
    mech.add_body("rod", 1.0, (0.5, 0, 0), lw.inertia.rod(1.0, 1.0))
    mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
    mech.add_force(lw.SpringDamper("A", damping=0.3))
    run = lw.simulate(mech, 2.0, t_eval=np.linspace(0, 2, 101))
    data = {"time": run.t, "A.q": run["A.q"], "A.u": run["A.u"], "A.a": run["A.a"]}
    other = lw.compile(mech).with_parameters({"A.damping": 0.1})
    assert lw.identify(other, data, ["A.damping"]).parameters["A.damping"] == pytest.approx(0.3, rel=1e-9)
    with pytest.raises(lw.MechanismError, match="1 rows are left"):
        lw.identify(other, {name: column[30:31] for name, column in data.items()}, ["A.damping"])
    with pytest.raises(lw.MechanismError, match="seed must be a whole number"):
        lw.identify(other, data, ["A.damping"], seed=-1)


def test_a_file_that_is_no_text_is_refused(tmp_path) -> None:
    (tmp_path / "bytes.csv").write_bytes(bytes(range(256)))
    with pytest.raises(lw.MechanismError, match=r"bytes.csv is no table of text"):
        lw.identify(two_r(), tmp_path / "bytes.csv", None)


LIMITED = {
    "load of a joint": ({"max_load": 5.0}, None),
    "force": ({}, {"force_range": (-5, 4)}),
    "input": ({}, {"input_range": (-2, 3)}),
    "force of a servo": ({}, {"force_range": (-4, 6), "stiffness": 3.0, "damping": 0.4, "offset": 0.5}),
}


@pytest.mark.parametrize(("of_joint", "of_actuator"), LIMITED.values(), ids=LIMITED)
def test_a_saturated_motor_gives_the_mass_by_the_load_that_acts(of_joint, of_actuator):
    mech = lw.Mechanism("arm")
    mech.add_body("rod", mass=2.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(2.0, 1.0))
    mech.add_joint("A", lw.Revolute("y"), "ground", "rod", **of_joint)
    if of_actuator is not None:
        mech.add_force(lw.Actuator("motor", {"A": 2.0}, gain=1.5, **of_actuator))
    name = "A.tau" if of_actuator is None else "motor.input"
    run = lw.simulate(mech, 2.0, inputs={name: lambda t: 15 * np.sin(5 * t)}, t_eval=np.linspace(0, 2, 201), rtol=1e-9)
    found = lw.identify(mech, run, ["rod.mass"])
    assert found["rod.mass"] == pytest.approx(2.0, rel=1e-10)
    assert found.std["rod.mass"] < 1e-8
