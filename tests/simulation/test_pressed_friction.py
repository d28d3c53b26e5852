"""Dry friction by the joint's own reaction, against dense equations with all multipliers, closed forms and SciPy.

The reference of planar mechanisms keeps x, y and the angle of every body and both forces of every pin: M a = Q + J'l,
J a = g, and a moment -s mu r |l_i| between the bodies of pin i, solved by SciPy for all unknowns at once.
"""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import root

import linkwork as lw
from linkwork.errors import LinkworkError, MechanismError
from support.cases import four_bar

NAMES = "ABCD"


class PlanarFourBar:
    """The four-bar of support.cases in its plane, x and z, with angles about y: axes (c, -s) and (s, c) of a bar."""

    mass = np.array([1.0, 2.0, 1.5])
    length = np.array([0.4, 1.0, 0.8])
    axial = np.array([2e-4, 4e-4, 3e-4])
    aside = (0.0, 0.05, 0.0)
    pins = (  # body and place along it, -1: the ground with x
        ((-1, 0.0), (0, 0.0)),
        ((0, 0.4), (1, 0.0)),
        ((1, 1.0), (2, 0.0)),
        ((-1, 1.1), (2, 0.8)),
    )

    def __init__(self, q: dict[str, float], u: dict[str, float]) -> None:
        self.angle = np.cumsum([q[name] for name in "ABC"])
        self.rate = np.cumsum([u[name] for name in "ABC"])
        self.inertia = self.mass * self.length**2 / 12 + self.axial / 2
        self.slip = np.array([u["A"], u["B"], u["C"], self.rate[2]])
        self.M = np.diag([value for k in range(3) for value in (self.mass[k], self.mass[k], self.inertia[k])])
        self.Q = np.array([value for k in range(3) for value in (0.0, -9.81 * self.mass[k], 0.0)])
        self.J, self.g = np.zeros((8, 9)), np.zeros(8)
        for i, pin in enumerate(self.pins):
            for sign, (body, along) in zip((-1.0, 1.0), pin, strict=True):
                if body < 0:
                    continue
                d, up = along - self.length[body] / 2, -self.aside[body]
                c, s, w = math.cos(self.angle[body]), math.sin(self.angle[body]), self.rate[body]
                arm = np.array([d * c + up * s, -d * s + up * c])
                self.J[2 * i : 2 * i + 2, 3 * body : 3 * body + 2] += sign * np.eye(2)
                self.J[2 * i : 2 * i + 2, 3 * body + 2] += sign * np.array([arm[1], -arm[0]])
                self.g[2 * i : 2 * i + 2] += sign * w**2 * arm
        self.turn = np.zeros((9, 4))
        for i, pin in enumerate(self.pins):
            for sign, (body, _) in zip((-1.0, 1.0), pin, strict=True):
                if body >= 0:
                    self.turn[3 * body + 2, i] += sign

    def solve(self, load, stuck=()) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Angular accelerations of the pins, their forces' sizes, and moments, for moments by `load(sizes)`."""
        stuck = list(stuck)
        G = self.turn[:, stuck].T
        n = len(stuck)

        def equations(x):
            a, force, hold = x[:9], x[9:17], x[17:]
            size = np.hypot(force[::2], force[1::2])
            moment = load(size)
            moment[stuck] = 0.0
            return np.concatenate(
                [
                    self.M @ a - self.Q - self.J.T @ force - self.turn @ moment - G.T @ hold,
                    self.J @ a - self.g,
                    G @ a,
                ]
            )

        K = np.block(
            [
                [self.M, -self.J.T, -G.T],
                [self.J, np.zeros((8, 8 + n))],
                [G, np.zeros((n, 8 + n))],
            ]
        )
        start = np.linalg.lstsq(K, np.concatenate([self.Q, self.g, np.zeros(n)]), rcond=None)[0]
        if n <= 1:
            found = root(equations, start, tol=1e-14, method="hybr")
            x = found.x
            for _ in range(30):  # the last digits: moments follow the forces
                size = np.hypot(x[9:17:2], x[10:17:2])
                moment = load(size)
                moment[stuck] = 0.0
                x = np.linalg.solve(K, np.concatenate([self.Q + self.turn @ moment, self.g, np.zeros(n)]))
            assert np.abs(equations(x)).max() < 1e-9
        else:
            x = start
        size = np.hypot(x[9:17:2], x[10:17:2])
        moment = load(size)
        moment[stuck] = x[17:]
        return self.turn.T @ x[:9], size, moment


def pressed_four_bar(mu: float, radius: float, **more) -> lw.Mechanism:
    mech = four_bar().mechanism.copy()
    for name in NAMES:
        mech.add_force(lw.Friction(name, mu=mu, radius=radius, name=f"f_{name}", **more))
    return mech


def random_state(model: lw.Model, rng: np.random.Generator) -> lw.State:
    return model.assemble(q={"A": rng.uniform(-3.1, 3.1)}, u={"A": rng.normal() * 5})


@pytest.mark.parametrize("method", ["rcr", "embedding", "multipliers", "dca"])
def test_accelerations_of_a_four_bar(method):
    """At random states, with all hinges slipping: accelerations, pressing forces and loads."""
    rng = np.random.default_rng(3)
    for _ in range(50):
        mu, radius = rng.uniform(0.05, 0.4), rng.uniform(0.005, 0.05)
        more = {"coulomb": 0.1, "viscous": 0.02, "static": 0.2, "static_mu": 0.6, "stribeck": 2.0}
        model = lw.compile(pressed_four_bar(mu, radius, **more), method=method)
        state = random_state(model, rng)
        q, u = ({name: state[f"{name}.{what}"] for name in NAMES} for what in "qu")
        plane = PlanarFourBar(q, u)
        weight = np.exp(-((plane.slip / 2.0) ** 2))

        def load(size, mu=mu, radius=radius, plane=plane, weight=weight):
            slides, most = 0.1 + mu * radius * size, 0.2 + 0.6 * radius * size
            return -np.sign(plane.slip) * (slides + (most - slides) * weight) - 0.02 * plane.slip

        a, size, moment = plane.solve(load)
        found = model.accelerations(state)
        assert found == pytest.approx(a[:3], abs=1e-9 * np.abs(a).max())
        assert [state[f"f_{name}.pressing"] for name in NAMES] == pytest.approx(size, rel=1e-9)
        assert [state[f"f_{name}.force"] for name in NAMES] == pytest.approx(moment, rel=1e-9, abs=1e-12)
        for name in NAMES:
            F = state[f"{name}.reaction.force"] if f"{name}.reaction.force" in model.variables else None
            if F is not None:
                N = math.hypot(F[0], F[2])
                assert state[f"f_{name}.pressing"] == pytest.approx(N, rel=1e-10)


@pytest.mark.parametrize("seed", range(4))
def test_four_bar_from_rest(seed):
    """It slides where that is consistent in one direction, and else rests: 25 random poses, moments at the crank."""
    rng = np.random.default_rng(seed)
    rests = 0
    for _ in range(25):
        mu, radius, torque = rng.uniform(0.1, 0.4), rng.uniform(0.1, 0.3), rng.normal() * 4
        model = lw.compile(pressed_four_bar(mu, radius))
        state = model.assemble(q={"A": rng.uniform(-3.1, 3.1)})
        q = {name: state[f"{name}.q"] for name in NAMES}
        plane = PlanarFourBar(q, dict.fromkeys(NAMES, 0.0))
        plane.Q += torque * plane.turn[:, 0]
        rates = plane.turn.T @ np.linalg.svd(plane.J)[2][-1]
        found = model.accelerations(state, tau={"A": torque})
        expected = np.zeros(4)
        for way in (1.0, -1.0):
            direction = np.sign(way * rates)
            a, *_ = plane.solve(lambda size, d=direction, k=mu * radius: -d * k * size)
            if (a * direction)[0] > 0:
                expected = a
        rests += not expected.any()
        assert found == pytest.approx(expected[:3], abs=1e-8 * max(1.0, np.abs(expected).max()))
    assert 0 < rests < 25


def incline(phi: float, **friction: float) -> lw.Mechanism:
    """A block of 2 kg on a slope that falls along x."""
    mech = lw.Mechanism("incline", gravity=(0, 0, -9.81))
    mech.add_body("block", mass=2.0, com=(0, 0, 0), inertia=lw.inertia.sphere(2.0, 0.1))
    mech.add_joint("S", lw.Prismatic((math.cos(phi), 0, -math.sin(phi))), "ground", "block", at=(0, 0, 0))
    mech.add_force(lw.Friction("S", name="f", **friction))
    return mech


def test_block_on_an_incline():
    """It rests up to tan(phi) = static_mu, and then slides by g (sin(phi) - mu cos(phi))."""
    mu, static_mu = 0.3, 0.4
    for phi in (math.atan(static_mu) - 1e-6, math.atan(static_mu) + 1e-6):
        model = lw.compile(incline(phi, mu=mu, static_mu=static_mu))
        rest = model.assemble()
        a = model.accelerations(rest)[0]
        slides = phi > math.atan(static_mu)
        assert a == pytest.approx(9.81 * (math.sin(phi) - mu * math.cos(phi)) if slides else 0.0, abs=1e-12)
        assert rest["f.pressing"] == pytest.approx(2.0 * 9.81 * math.cos(phi), rel=1e-13)
        assert rest["f.limit"] == pytest.approx(static_mu * 2.0 * 9.81 * math.cos(phi), rel=1e-13)
    phi = 0.2
    mech = incline(phi, mu=mu, static_mu=static_mu)
    mech.start(u={"S": 2.0})
    run = lw.simulate(mech, 20.0, rtol=1e-10, atol=1e-12)
    deceleration = 9.81 * (mu * math.cos(phi) - math.sin(phi))
    assert [one.t for one in run.events] == pytest.approx([2.0 / deceleration], abs=1e-9)
    assert run["S.q"][-1] == pytest.approx(2.0**2 / (2 * deceleration), abs=1e-9)
    rest = run["time"] > 2.0 / deceleration + 1e-6
    assert len(set(run["S.q"][rest])) == 1
    assert not run["S.u"][rest].any()


def test_a_rising_load_breaks_away():
    """Pressed by its weight and a coulomb part: at coulomb + static_mu m g of the pull r t."""
    mech = incline(0.0, coulomb=1.0, mu=0.2, static_mu=0.5, static=1.5)
    mech.add_force(lw.Force("S", "r*time", parameters={"r": (4.0, "N/s")}, name="pull"))
    run = lw.simulate(mech, 4.0, rtol=1e-10, atol=1e-12)
    start = (1.5 + 0.5 * 2.0 * 9.81) / 4.0
    assert [one.t for one in run.events] == pytest.approx([start], abs=1e-9)
    t = run["time"][-1]
    force = 1.0 + 0.2 * 2.0 * 9.81
    expected = (4.0 * (t**3 - start**3) / 6 - 4.0 * start**2 / 2 * (t - start) - force * (t - start) ** 2 / 2) / 2.0
    assert run["S.q"][-1] == pytest.approx(expected, abs=1e-8)


def pendulum(mu: float, radius: float, **more: float) -> lw.Mechanism:
    mech = lw.Mechanism("pendulum")
    mech.add_body("rod", mass=3.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(3.0, 1.0))
    mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
    mech.add_force(lw.Friction("A", mu=mu, radius=radius, name="f", **more))
    return mech


def pendulum_acceleration(q: float, u: float, k: float) -> float:
    """About the pin I a = m g l cos(q) - s k |F| with F = m (l a' - g): solved by fixed point to the last digit."""
    m, g, half, inertia = 3.0, 9.81, 0.5, 3.0 * 1.0 / 3.0
    a, s = 0.0, np.sign(u)
    for _ in range(60):
        x = m * half * (-math.sin(q) * a - math.cos(q) * u * u)
        z = m * half * (-math.cos(q) * a + math.sin(q) * u * u) + m * g
        a = (m * g * half * math.cos(q) - s * k * math.hypot(x, z)) / inertia
    return a


@pytest.mark.parametrize("solver", ["dopri5", "rodas5p", "Radau"])
def test_pendulum_with_bearing_friction(solver):
    """Its turns and its rest against SciPy with events of its own."""
    mu, radius, q, t, turns = 0.5, 0.08, 0.2, 0.0, []
    k, g_l = mu * radius, 3.0 * 9.81 * 0.5
    for _ in range(100):
        s = 1.0 if g_l * math.cos(q) > 0 else -1.0
        if abs(g_l * math.cos(q)) <= k * 3.0 * 9.81:
            break
        turned = lambda t, y: y[1]  # noqa: E731
        turned.terminal, turned.direction = True, -s
        one = solve_ivp(
            lambda t, y, s=s: [y[1], pendulum_acceleration(y[0], y[1] if y[1] else s * 1e-300, k)],
            (t, t + 10.0),
            [q, s * 1e-12],
            method="DOP853",
            rtol=1e-12,
            atol=1e-13,
            events=turned,
        )
        t, q = one.t_events[0][0], one.y_events[0][0][0]
        turns.append(t)
    mech = pendulum(mu, radius)
    mech.start(q={"A": 0.2})
    run = lw.simulate(mech, t + 5.0, solver=solver, rtol=1e-10, atol=1e-12)
    assert len(turns) > 4
    assert [one.t for one in run.events] == pytest.approx(turns, abs=2e-7)
    assert run["A.q"][-1] == pytest.approx(q, abs=1e-7)
    rest = run["time"] > t + 1e-3
    assert len(set(run["A.q"][rest])) == 1
    assert not run["A.u"][rest].any()


def test_derivatives_through_the_fixed_point():
    """Linear models of a slipping and of a smooth friction against central differences of accelerations."""
    for more in ({}, {"smooth": 0.5}, {"stribeck": 1.0, "static_mu": 0.9}):
        mech = pendulum(0.5, 0.2, **more)
        model = lw.compile(mech)
        A = lw.linearize(mech, model.state([0.7], [1.3])).A
        h = 1e-5
        by_q = (model.accelerations([0.7 + h], [1.3])[0] - model.accelerations([0.7 - h], [1.3])[0]) / (2 * h)
        by_u = (model.accelerations([0.7], [1.3 + h])[0] - model.accelerations([0.7], [1.3 - h])[0]) / (2 * h)
        assert A.ravel() == pytest.approx([0, 1, by_q, by_u], abs=1e-7)
    case = four_bar()
    mech = pressed_four_bar(0.3, 0.05)
    state = lw.compile(mech).state([case.q[n] for n in "ABC"], [case.u[n] for n in "ABC"])
    linear = lw.linearize(mech, state)
    assert linear.states == ("B.q", "B.u")
    model, h = lw.compile(mech), 1e-5
    there = [model.assemble(q={"A": case.q["A"], "B": case.q["B"]}, u={"A": case.u["A"] + d}) for d in (h, -h)]
    by_crank = (model.accelerations(there[0])[1] - model.accelerations(there[1])[1]) / (2 * h)
    assert linear.A[1, 1] == pytest.approx(by_crank * case.u["A"] / case.u["B"], rel=1e-8)


def test_energy_of_a_four_bar_with_bearing_friction():
    """It loses what friction takes; all hinges come to rest in one event, and turns are single events too."""
    mech = pressed_four_bar(0.4, 0.05)
    mech.add_output("power", " + ".join(f"-f_{name}.force*{name}.u" for name in NAMES))
    run = lw.simulate(mech, 12.0, rtol=1e-11, atol=1e-13, t_eval=np.linspace(0, 12.0, 60_001))
    energy = run["energy.kinetic"] + run["energy.potential"]
    lost = np.trapezoid(run["power"], run["time"])
    assert lost == pytest.approx(energy[0] - energy[-1], rel=1e-6)
    for name in NAMES:
        size, force, u = run[f"f_{name}.pressing"], run[f"f_{name}.force"], run[f"{name}.u"]
        slides = run[f"f_{name}.state"] != 2.0
        assert np.abs(force[slides]) == pytest.approx(0.4 * 0.05 * size[slides], rel=1e-10)
        assert (np.abs(force[~slides]) <= run[f"f_{name}.limit"][~slides] * (1 + 1e-9)).all()
        assert abs(u[-1]) < 1e-25
        assert np.ptp(run[f"{name}.q"][run["time"] > run.events[-1].t + 0.1]) < 1e-14
    assert any(run[f"f_{name}.state"][-1] == 2.0 for name in NAMES)
    times = [one.t for one in run.events]
    assert len(times) == len(set(np.round(times, 6))) == 2


def jack(mu: float, lead: float = 0.01, radius: float = 0.012) -> lw.Mechanism:
    """A nut of 100 kg on a vertical screw, which turns without translation: the screw's joint raises it."""
    mech = lw.Mechanism("jack", gravity=(0, 0, -9.81))
    mech.add_body("screw", mass=2.0, com=(0, 0, 0), inertia=np.diag([0.01, 0.01, 0.02]))
    mech.add_body("nut", mass=100.0, com=(0, 0, 0), inertia=np.eye(3))
    mech.add_joint("turn", lw.Revolute((0, 0, 1)), "ground", "screw", at=(0, 0, 0))
    mech.add_joint("thread", lw.Screw((0, 0, 1), pitch=lead / (2 * math.pi)), "screw", "nut", at=(0, 0, 0))
    mech.add_joint("guide", lw.Prismatic((0, 0, 1)), "ground", "nut", at=(0, 0, 0))
    mech.add_force(lw.Friction("thread", mu=mu, radius=radius, name="f"))
    return mech


def test_a_screw_jack():
    """Raising takes F r tan(lambda + phi); lowered it holds itself where phi exceeds lambda."""
    lead, radius, load = 0.01, 0.012, 100.0 * 9.81
    slope = math.atan(lead / (2 * math.pi * radius))
    for mu in (0.3, 0.05):
        phi = math.atan(mu)
        model = lw.compile(jack(mu, lead, radius))
        rest = model.assemble()
        turns = model.accelerations(rest)
        assert (np.abs(turns).max() < 1e-12) == (phi > slope)
        up = load * radius * math.tan(slope + phi)
        for factor in (0.999, 1.001):
            raised, lowered = (model.accelerations(rest, tau={"turn": way * factor * up})[0] for way in (-1, 1))
            assert lowered > 1.0
            assert (raised < -1e-3) == (factor > 1) or phi < slope


@pytest.mark.parametrize("method", ["rcr", "embedding", "multipliers", "dca"])
@pytest.mark.parametrize("motors", ["A", "AD", "ABCD"])
def test_loads_of_motors_of_a_four_bar(method, motors):
    """Loads that gave the reference its motion, and more motors with those of least norm that give the same."""
    rng = np.random.default_rng(5)
    mu, radius = 0.3, 0.06
    model = lw.compile(pressed_four_bar(mu, radius, coulomb=0.1), method=method)
    for _ in range(4):
        state, torque = random_state(model, rng), rng.normal() * 30
        q, u = ({name: state[f"{name}.{what}"] for name in NAMES} for what in "qu")
        plane = PlanarFourBar(q, u)
        weight = np.copy(plane.Q)

        def motion(tau, plane=plane, weight=weight):
            plane.Q = weight + plane.turn @ tau
            return plane.solve(lambda size: -np.sign(plane.slip) * (0.1 + mu * radius * size))[0]

        a = motion(np.array([torque, 0.0, 0.0, 0.0]))
        rows = [np.atleast_2d(x) for x in ([q[n] for n in "ABC"], [u[n] for n in "ABC"], a[:3])]
        found = lw.inverse_dynamics(model, tuple(rows), t_eval=[0.0], motors=list(motors))
        loads = np.array([found[f"{n}.tau"][0] if n in motors else 0.0 for n in NAMES])
        if motors == "A":
            assert loads[0] == pytest.approx(torque, rel=1e-9)
        assert motion(loads) == pytest.approx(a, abs=1e-9 * np.abs(a).max())


def test_loads_of_a_tree_and_of_a_screw():
    """Closed forms: torque on a pendulum, and that which raises a weight by a screw."""
    q, u, a = 0.4, -2.0, 5.0
    model = lw.compile(pendulum(0.5, 0.08))
    x = 3.0 * 0.5 * (-math.sin(q) * a - math.cos(q) * u * u)
    z = 3.0 * 0.5 * (-math.cos(q) * a + math.sin(q) * u * u) + 3.0 * 9.81
    torque = a - 3.0 * 9.81 * 0.5 * math.cos(q) - 0.5 * 0.08 * math.hypot(x, z)
    assert model.inverse_dynamics([q], [a], [u])[0] == pytest.approx(torque, rel=1e-12)
    lead, radius, load = 0.01, 0.012, 100.0 * 9.81
    model, slope, phi = lw.compile(jack(0.15, lead, radius)), math.atan(lead / (2 * math.pi * radius)), math.atan(0.15)
    for way, angle in ((-1.0, slope + phi), (1.0, slope - phi)):
        state = model.assemble(u={"turn": way})
        arrays = tuple(np.atleast_2d(x) for x in (state.q, state.u, np.zeros(len(state.u))))
        found = lw.inverse_dynamics(model, arrays, t_eval=[0.0], motors="turn")
        assert found["turn.tau"][0] == pytest.approx(-load * radius * math.tan(angle), rel=1e-10)


def test_loads_where_friction_jams():
    """Beyond lambda + phi = 90 degrees no torque raises the nut of a screw."""
    radius = 0.012
    model = lw.compile(jack(1.0, 2 * math.pi * radius * math.sqrt(3.0), radius))
    state = model.assemble(u={"turn": -1.0})
    arrays = tuple(np.atleast_2d(x) for x in (state.q, state.u, np.zeros(len(state.u))))
    with pytest.raises(LinkworkError, match=r"at t = 0 s .*friction 'f' jams"):
        lw.inverse_dynamics(model, arrays, t_eval=[0.0], motors="turn")
    with pytest.raises(LinkworkError, match=r"friction 'f' jams"):
        model.inverse_dynamics(state, np.zeros(len(state.u)))


@pytest.mark.parametrize("formulation", ["ggl", "ode"])
def test_formulations_of_a_four_bar(formulation):
    """A run of the reference, whose three angles SciPy integrates, hinges slipping all the time."""
    mu, radius = 0.2, 0.02
    mech = pressed_four_bar(mu, radius)
    model = lw.compile(mech)
    start = model.assemble()

    def rates(t, y):
        q, u = (dict(zip("ABC", part, strict=True)) for part in (y[:3], y[3:]))
        plane = PlanarFourBar(q, u)
        a = plane.solve(lambda size: -mu * radius * np.sign(plane.slip) * size)[0]
        return np.concatenate([y[3:], a[:3]])

    at_first = np.concatenate([start.q, start.u])
    expected = solve_ivp(rates, (0.0, 0.2), at_first, method="DOP853", rtol=1e-10, atol=1e-11).y[:, -1]
    run = lw.simulate(model, 0.2, formulation=formulation, rtol=1e-10, atol=1e-12)
    assert not run.events
    assert [run[f"{name}.{what}"][-1] for what in "qu" for name in "ABC"] == pytest.approx(expected, abs=1e-7)


def test_what_is_refused():
    mech = lw.Mechanism("ball")
    mech.add_body("rod", mass=1.0, com=(0.5, 0, 0), inertia=np.eye(3))
    mech.add_joint("B", lw.Spherical(), "ground", "rod", at=(0, 0, 0))
    with pytest.raises(MechanismError, match=r"Spherical.*no one pressing force"):
        mech.add_force(lw.Friction("B[1]", mu=0.1, radius=0.01))
    with pytest.raises(MechanismError, match="coulomb, a load, or mu"):
        lw.Friction("A")
    with pytest.raises(MechanismError, match=r"static_mu = 0\.1 must not be less than mu = 0\.2"):
        lw.Friction("A", mu=0.2, static_mu=0.1)
    with pytest.raises(MechanismError, match="give mu as well"):
        lw.Friction("A", coulomb=1.0, radius=0.1)
    mech = pendulum(0.1, 0.1)
    with pytest.raises(MechanismError, match="turns: give the radius"):
        mech.add_force(lw.Friction("A", mu=0.1, name="g"))
    with pytest.raises(MechanismError, match="leave radius out"):
        incline(0.1, mu=0.1, radius=0.1)


def test_files_keep_it(tmp_path):
    mech = pendulum(0.1, 0.02, static_mu=0.3)
    path = tmp_path / "pendulum.json"
    lw.save(mech, path)
    assert lw.load(path).forces == mech.forces


def test_parameters_are_tunable():
    mech = incline(0.2, mu=0.1)
    mech.start(u={"S": 1.0})
    run = lw.simulate(mech, 0.1, parameters={"f.mu": 0.25})
    assert run["S.a"][0] == pytest.approx(9.81 * (math.sin(0.2) - 0.25 * math.cos(0.2)), abs=1e-12)


def test_painleve_is_named():
    """A light shoe under a bob: N changes by tan(th) of the rod times the friction; mu tan(th) must be below 1."""
    mech = lw.Mechanism("painleve")
    mech.add_body("shoe", mass=1e-3, com=(0, 0, 0), inertia=1e-6 * np.eye(3))
    mech.add_body("rod", mass=1.0, com=(0, 0, -0.5), inertia=lw.inertia.sphere(1.0, 1e-3))
    mech.add_joint("S", lw.Prismatic((1, 0, 0)), "ground", "shoe", at=(0, 0, 0))
    mech.add_joint("R", lw.Revolute((0, 1, 0)), "shoe", "rod", parent_frame=lw.Frame(), child_frame=lw.Frame())
    mech.add_force(lw.Friction("S", mu=5.0, name="guide"))
    with pytest.raises(LinkworkError, match="friction 'guide'"):
        sweep(mech)
    mech.forces = [lw.Friction("S", mu=0.05, name="guide")]
    sweep(mech)


def sweep(mech: lw.Mechanism) -> None:
    model = lw.compile(mech)
    for angle in np.linspace(-1.4, 1.4, 15):
        model.accelerations([0.0, angle], [1.0, 0.3])


@pytest.mark.parametrize("kind", ["ModelExchange", "CoSimulation"])
def test_block_in_an_fmu(kind, needs, tmp_path):
    """It decelerates, rests, and stays."""
    needs("fmpy")
    import fmpy

    phi, mu = 0.2, 0.3
    mech = incline(phi, mu=mu, static_mu=0.4)
    mech.start(u={"S": 2.0})
    path = lw.export_fmu(mech, tmp_path / "incline.fmu")
    run = fmpy.simulate_fmu(
        str(path), fmi_type=kind, stop_time=5.0, output_interval=0.01, relative_tolerance=1e-10, output=["S.q", "S.u"]
    )
    assert run["S.q"][-1] == pytest.approx(2.0**2 / (2 * 9.81 * (mu * math.cos(phi) - math.sin(phi))), abs=1e-6)
    assert run["S.u"][-1] == 0.0
