"""Friction by reactions is identified: data of Newton's and Euler's equations in the plane, and of simulations."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from support.cases import four_bar

CRANK, ROD = 0.1, 0.32
BODIES = {"crank": (2.0, 0.03, 0.02), "rod": (1.5, 0.14, 0.03), "piston": (1.2, 0.0, 0.004)}  # kg, com m, kg m2
GRAVITY = np.array([0.0, -9.81])
HINGES = {"main": 0.02, "big": 0.025, "pin": 0.012}  # radii
TRUE = {"of main.mu": 0.08, "of big.mu": 0.15, "of pin.mu": 0.12, "of bore.mu": 0.2}


def slider_crank(mu: float = 0.1) -> lw.Mechanism:
    """A slider-crank in the plane of x and y, with friction in every joint; the slide closes its loop."""
    mech = lw.Mechanism("slider crank", gravity=(*GRAVITY, 0.0))
    for name, (mass, com, moment) in BODIES.items():
        mech.add_body(name, mass=mass, com=(com, 0, 0), inertia=np.diag([moment, moment, moment]))
    axis = lw.Revolute("z")
    mech.add_joint("main", axis, "ground", "crank", parent_frame=lw.Frame())
    mech.add_joint("big", axis, "crank", "rod", parent_frame=lw.Frame((CRANK, 0, 0)))
    mech.add_joint("pin", axis, "rod", "piston", parent_frame=lw.Frame((ROD, 0, 0)))
    mech.add_joint("bore", lw.Prismatic("x"), "ground", "piston", parent_frame=lw.Frame())
    for joint, radius in HINGES.items():
        mech.add_force(lw.Friction(joint, mu=mu, radius=radius, name=f"of {joint}"))
    mech.add_force(lw.Friction("bore", mu=mu, name="of bore"))
    return mech


def crank_motion(n: int) -> tuple[np.ndarray, ...]:
    """Times, and angle, speed and acceleration of the crank, which turns forwards and backwards."""
    t = np.linspace(0.0, 6.0, n)
    size, w = np.array([1.9, 0.7, 0.4]), np.array([1.7, 4.1, 7.3])
    phase = w * t[:, None] + np.array([0.3, 1.1, 2.0])
    return t, np.sin(phase) @ size, np.cos(phase) @ (size * w), -np.sin(phase) @ (size * w**2)


def cross(r: np.ndarray, F: np.ndarray) -> float:
    return float(r[0] * F[1] - r[1] * F[0])


def turned(r: np.ndarray) -> np.ndarray:
    return np.array([-r[1], r[0]])


def motor_torque(q: float, u: float, a: float, mu: dict[str, float]) -> float:
    """The torque of the crank by Newton's and Euler's equations; friction and reactions follow one another.

    Unknown are the forces of the hinges on their outer body, side force and moment of the slide, and the torque.
    """
    e = np.array([np.cos(q), np.sin(q)])
    sine = -CRANK * e[1] / ROD
    cosine = np.sqrt(1.0 - sine**2)
    d = np.array([cosine, sine])  # along the rod
    w = -CRANK * e[0] * u / (ROD * cosine)
    dw = (-CRANK * (e[0] * a - e[1] * u * u) / ROD + sine * w * w) / cosine
    of_crank = {"w": u, "dw": a, "axis": e, "origin": np.zeros(2), "v": np.zeros(2), "acc": np.zeros(2)}
    knee = CRANK * (turned(e) * a - e * u * u)
    of_rod = {"w": w, "dw": dw, "axis": d, "origin": CRANK * e, "v": CRANK * turned(e) * u, "acc": knee}
    end = CRANK * e + ROD * d
    velocity = CRANK * turned(e) * u + ROD * turned(d) * w
    acc = knee + ROD * (turned(d) * dw - d * w * w)
    assert abs(end[1]) + abs(velocity[1]) + abs(acc[1]) < 1e-9
    # rows: x, y and moment about the com of each body; columns: A, B, C (two each), N, M, torque
    matrix, known = np.zeros((9, 9)), np.zeros(9)
    joints = {"crank": (np.zeros(2), CRANK * e), "rod": (CRANK * e, end)}
    for k, (name, motion) in enumerate((("crank", of_crank), ("rod", of_rod))):
        mass, com, moment = BODIES[name]
        c = motion["origin"] + com * motion["axis"]
        inner, outer = joints[name]
        for j in range(2):
            force = np.eye(2)[j]
            matrix[3 * k + j, 2 * k + j], matrix[3 * k + j, 2 * k + 2 + j] = 1.0, -1.0
            matrix[3 * k + 2, 2 * k + j] = cross(inner - c, force)
            matrix[3 * k + 2, 2 * k + 2 + j] = -cross(outer - c, force)
        at = motion["acc"] + com * (turned(motion["axis"]) * motion["dw"] - motion["axis"] * motion["w"] ** 2)
        known[3 * k : 3 * k + 2] = mass * (at - GRAVITY)
        known[3 * k + 2] = moment * motion["dw"]
    matrix[2, 8] = 1.0
    matrix[6, 4] = matrix[7, 5] = matrix[7, 6] = matrix[8, 7] = 1.0  # the piston's com is its pin
    known[6:8] = BODIES["piston"][0] * (acc - GRAVITY)
    slip = {"main": u, "big": w - u, "pin": -w}  # of the outer body relative to the inner one
    friction = dict.fromkeys((*HINGES, "bore"), 0.0)
    for _ in range(200):
        right = known.copy()
        right[2] += -friction["main"] + friction["big"]
        right[5] += -friction["big"] + friction["pin"]
        right[8] += -friction["pin"]
        right[6] -= friction["bore"]
        x = np.linalg.solve(matrix, right)
        forces = {"main": x[0:2], "big": x[2:4], "pin": x[4:6]}
        before = friction
        friction = {j: -np.sign(slip[j]) * mu[f"of {j}.mu"] * HINGES[j] * np.linalg.norm(forces[j]) for j in HINGES}
        friction["bore"] = -np.sign(velocity[0]) * mu["of bore.mu"] * abs(x[6])
        if all(abs(friction[j] - before[j]) < 1e-15 * (1.0 + abs(friction[j])) for j in friction):
            break
    return float(x[8])


def measured(n: int = 120) -> dict[str, np.ndarray]:
    t, q, u, a = crank_motion(n)
    tau = np.array([motor_torque(*row, TRUE) for row in zip(q, u, a, strict=True)])
    return {"t": t, "main.q": q, "main.u": u, "main.a": a, "main.tau": tau}


@pytest.fixture(scope="module")
def exact() -> dict[str, np.ndarray]:
    return measured()


def test_inverse_dynamics_agrees_with_the_plane(exact) -> None:
    model = lw.compile(slider_crank()).with_parameters(TRUE)
    motion = {"main": (exact["main.q"], exact["main.u"], exact["main.a"])}
    loads = lw.inverse_dynamics(model, motion, motors=["main"], t_eval=exact["t"])
    moves = np.abs(exact["main.u"]) > 0.05
    np.testing.assert_allclose(loads["main.tau"][moves], exact["main.tau"][moves], atol=1e-9)


def test_coefficients_of_all_joints_are_found(exact) -> None:
    found = lw.identify(slider_crank(), exact, list(TRUE))
    assert found.parameters == pytest.approx(TRUE, abs=1e-8)
    assert set(found.at_rest) == {f"of {joint}" for joint in (*HINGES, "bore")}
    assert 0 < max(found.at_rest.values()) < 30
    assert len(found.t) + found.left_out == len(exact["t"])
    assert f"at rest: of pin in {found.at_rest['of pin']} of {len(exact['t'])} rows" in repr(found)
    assert np.abs(found.residuals).max() < 1e-9
    assert found.model is not None
    assert found.model.value("of pin.mu", found.model.assemble()) == pytest.approx(TRUE["of pin.mu"], abs=1e-8)


def test_loads_of_a_simulation_and_other_parameters_with_them() -> None:
    """A run in which joints slide and stick by events; its loads come from the accelerations."""
    mech = slider_crank()
    mech.start(q={"main": 0.8})
    model = lw.compile(mech).with_parameters(TRUE)
    torque = {"main": lambda t: 6.0 * np.sin(5.0 * t) + 3.0 * np.cos(11.0 * t)}
    run = lw.simulate(model, 2.0, inputs=torque, t_eval=np.linspace(0.0, 2.0, 161), rtol=1e-10, atol=1e-12)
    true = TRUE | {"crank.IO[3,3]": BODIES["crank"][2] + BODIES["crank"][0] * BODIES["crank"][1] ** 2}
    found = lw.identify(mech, run, list(true))
    assert found.parameters == pytest.approx(true, abs=1e-7)


def test_a_four_bar_whose_loads_are_those_of_inverse_dynamics() -> None:
    mech = four_bar().mechanism
    true = {}
    for k, joint in enumerate(mech.joints):
        mech.add_force(lw.Friction(joint, mu=0.1, radius=0.01, name=f"of {joint}"))
        true[f"of {joint}.mu"] = 0.05 + 0.06 * k
    t, q, u, a = crank_motion(160)
    first = next(iter(mech.joints))
    model = lw.compile(mech).with_parameters(true)
    start = float(model.assemble()[f"{first}.q"])
    motion = {first: (start + 0.15 * q, 0.15 * u, 0.15 * a)}
    tau = lw.inverse_dynamics(model, motion, motors=[first], t_eval=t)[f"{first}.tau"]
    data = {"t": t, f"{first}.q": motion[first][0], f"{first}.u": motion[first][1], f"{first}.a": motion[first][2]}
    found = lw.identify(mech, data | {f"{first}.tau": tau}, list(true))
    assert found.parameters == pytest.approx(true, abs=1e-8)


@pytest.mark.parametrize("trials", [12, pytest.param(200, marks=pytest.mark.slow)])
def test_noisy_coefficients_are_within_their_deviations(trials: int, exact) -> None:
    """Errors over deviations have a mean of zero and a standard deviation of one, each coefficient by itself."""
    rng = np.random.default_rng(7)
    errors = []
    for _ in range(trials):
        data = exact | {"main.tau": exact["main.tau"] + 0.02 * rng.normal(size=exact["t"].shape)}
        found = lw.identify(slider_crank(), data, list(TRUE))
        assert found.residual_std["main.tau"] == pytest.approx(0.02, rel=0.2)
        errors.append([(found[name] - value) / found.std[name] for name, value in TRUE.items()])
    scaled = np.array(errors)
    assert np.abs(scaled.mean(axis=0)).max() < 4.0 / np.sqrt(trials)
    spread = np.sqrt((scaled**2).mean(axis=0))
    assert np.abs(spread - 1.0).max() < max(4.0 / np.sqrt(2.0 * trials), 1 / 3)  # they may be a fifth too small


def test_deviations_count_that_friction_presses(exact) -> None:
    """With large coefficients loads, pressing forces and friction raise each other: derivatives against differences."""
    names, found = list(TRUE), lw.identify(slider_crank(), exact, list(TRUE))
    step = 1e-4
    base = lw.compile(slider_crank())
    motion = {"main": tuple(exact[f"main.{what}"] for what in "qua")}
    kept = np.isin(exact["t"], found.t)

    def torque(values: dict[str, float]) -> np.ndarray:
        loads = lw.inverse_dynamics(base.with_parameters(values), motion, motors=["main"], t_eval=exact["t"])
        return np.asarray(loads["main.tau"])[kept]

    slopes = [
        (torque(TRUE | {name: TRUE[name] + step}) - torque(TRUE | {name: TRUE[name] - step})) / (2 * step)
        for name in names
    ]
    weighted = np.array(slopes).T / max(found.residual_std["main.tau"], 1e-300)
    expected = np.linalg.inv(weighted.T @ weighted)
    ratio = found.covariance / expected
    np.testing.assert_allclose(ratio, np.ones((4, 4)), rtol=1e-3)


def test_static_coefficients_and_constant_friction_of_a_bearing() -> None:
    """A pendulum whose bearing has a load and a coefficient, by its equations of motion."""
    mech = lw.Mechanism("pendulum", gravity=(0, -9.81, 0))
    mech.add_body("rod", mass=2.0, com=(0.3, 0, 0), inertia=0.05 * np.eye(3))
    mech.add_joint("A", lw.Revolute("z"), "ground", "rod", parent_frame=lw.Frame())
    mech.add_force(lw.Friction("A", coulomb=0.1, mu=0.1, static_mu=0.1, stribeck=2.0, radius=0.05, name="rubs"))
    t, q, u, a = crank_motion(200)
    e = np.stack([np.cos(q), np.sin(q)], axis=1)
    n = np.stack([-np.sin(q), np.cos(q)], axis=1)
    force = 2.0 * (0.3 * (n * a[:, None] - e * (u**2)[:, None]) - GRAVITY)
    size, decay = np.linalg.norm(force, axis=1), np.exp(-((u / 2.0) ** 2))
    friction = 0.3 + 0.05 * size * (0.2 + (0.5 - 0.2) * decay)
    tau = (0.05 + 2.0 * 0.09) * a + 2.0 * 0.3 * 9.81 * np.cos(q) + np.sign(u) * friction
    data = {"t": t, "A.q": q, "A.u": u, "A.a": a, "A.tau": tau}
    true = {"rubs.coulomb": 0.3, "rubs.mu": 0.2, "rubs.static_mu": 0.5}
    assert lw.identify(mech, data, list(true)).parameters == pytest.approx(true, abs=1e-8)


def test_what_data_do_not_determine_is_named(exact) -> None:
    still = exact | {"main.u": np.zeros_like(exact["t"]), "main.a": np.zeros_like(exact["t"])}
    with pytest.raises(lw.MechanismError, match="in every row a joint with dry friction is at rest"):
        lw.identify(slider_crank(), still, list(TRUE))
    mech = lw.Mechanism("block")
    mech.add_body("block", mass=2.0, com=(0, 0, 0), inertia=np.eye(3))
    mech.add_joint("slide", lw.Prismatic("x"), "ground", "block", parent_frame=lw.Frame())
    mech.add_force(lw.Friction("slide", mu=0.1, coulomb=0.0, name="rubs"))
    assert len(lw.base_parameters(mech, ["rubs.mu", "rubs.coulomb"])) == 1  # the weight presses by a constant force


def test_friction_that_jams_is_named(exact) -> None:
    with pytest.raises(lw.MechanismError, match=r"friction 'of \w+' jams"):
        lw.identify(lw.compile(slider_crank()).with_parameters({"of bore.mu": 40.0}), exact, list(TRUE))
