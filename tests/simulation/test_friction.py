"""Dry friction against closed forms, and against an independent solution of its complementarity problem.

The reference takes the accelerations a of all joints, which are affine in their loads, from a mechanism without
friction: a = a_0 + W f. Friction that may stick is the minimum of |L' f + L^-1 a_0|, W = L L', over -F <= f <= F, by
SciPy's bounded least squares.
"""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq, lsq_linear

import linkwork as lw
from support.cases import four_bar
from support.poses import random_unit

SOLVERS = ("dopri5", "rodas5p", "DOP853", "Radau", "LSODA")


def slide(mass: float, name: str = "S", body: str = "block") -> lw.Mechanism:
    mech = lw.Mechanism("slide", gravity=(0, 0, 0))
    mech.add_body(body, mass=mass, com=(0, 0, 0), inertia=lw.inertia.sphere(mass, 0.1))
    mech.add_joint(name, lw.Prismatic((1, 0, 0)), "ground", body, at=(0, 0, 0))
    return mech


def test_it_comes_to_rest_and_stays():
    """u^2 / (2 a) after u / a."""
    mech = slide(2.0)
    mech.add_force(lw.Friction("S", coulomb=4.0, name="f"))
    mech.start(u={"S": 3.0})
    run = lw.simulate(mech, 100.0, rtol=1e-10, atol=1e-12)
    assert [one.transitions for one in run.events] == [("f",)]
    assert run.events[0].t == pytest.approx(1.5, abs=1e-10)
    assert run["S.q"][-1] == pytest.approx(2.25, abs=1e-10)
    rest = run["time"] > 1.6
    assert rest.any()
    assert len(set(run["S.q"][rest])) == 1
    assert not run["S.u"][rest].any()
    assert run["f.state"][0] == 1.0
    assert run["f.state"][-1] == 2.0


class Belt:
    """A mass on a spring, carried by a belt: it sticks until k x = F_s, then slides on x = x_e + A cos + v/w sin."""

    m, k, v, coulomb, static = 1.0, 100.0, 0.1, 3.0, 5.0

    def __init__(self) -> None:
        self.w, self.first = math.sqrt(self.k / self.m), self.static / (self.k * self.v)
        self.x_e, self.x_0 = self.coulomb / self.k, self.static / self.k
        self.sliding = brentq(self._relative, math.pi / self.w, 2 * math.pi / self.w - 1e-9, xtol=1e-15)
        self.period = self.sliding + (self.x_0 - self._slides(self.sliding)) / self.v

    def _relative(self, t: float) -> float:
        A = self.x_0 - self.x_e
        return -A * self.w * math.sin(self.w * t) + self.v * math.cos(self.w * t) - self.v

    def _slides(self, t: float) -> float:
        A = self.x_0 - self.x_e
        return self.x_e + A * math.cos(self.w * t) + self.v / self.w * math.sin(self.w * t)

    def x(self, t: float) -> float:
        if t < self.first:
            return self.v * t
        s = (t - self.first) % self.period
        return self._slides(s) if s < self.sliding else self._slides(self.sliding) + self.v * (s - self.sliding)

    def events(self, t_end: float) -> list[float]:
        starts = np.arange(self.first, t_end, self.period)
        return sorted(t for t in (*starts, *(starts + self.sliding)) if t < t_end)

    def mechanism(self) -> lw.Mechanism:
        mech = slide(1.0, "B", "belt")
        mech.prescribe("B", lw.Motion((0.0, self.v)))
        mech.add_body("block", mass=self.m, com=(0, 0, 0), inertia=lw.inertia.sphere(self.m, 0.1))
        mech.add_joint("S", lw.Prismatic((1, 0, 0)), "belt", "block", at=(0, 0, 0))
        mech.add_force(lw.Friction("S", coulomb=self.coulomb, static=self.static, name="f"))
        mech.add_force(lw.Force({"B": 1.0, "S": 1.0}, "-k*q", parameters={"k": self.k}, name="spring"))
        return mech


@pytest.mark.parametrize("solver", SOLVERS)
def test_mass_on_a_belt(solver):
    belt, t_end = Belt(), 17.0
    run = lw.simulate(belt.mechanism(), t_end, solver=solver, rtol=1e-10, atol=1e-12)
    exact = belt.events(t_end)
    assert len(exact) > 40
    assert len(run.events) == len(exact)
    assert np.abs(np.array([one.t for one in run.events]) - exact).max() < 1e-8
    x = run["S.q"] + run["B.q"]
    assert max(abs(a - belt.x(t)) for a, t in zip(x, run["time"], strict=True)) < 1e-8


@pytest.mark.parametrize("kind", ["ModelExchange", "CoSimulation"])
def test_mass_on_a_belt_in_an_fmu(kind, needs, tmp_path):
    needs("fmpy")
    import fmpy

    belt = Belt()
    path = lw.export_fmu(belt.mechanism(), tmp_path / "belt.fmu")
    run = fmpy.simulate_fmu(
        str(path), fmi_type=kind, stop_time=17.0, output_interval=0.01, relative_tolerance=1e-10, output=["S.q", "B.q"]
    )
    error = max(abs(a + b - belt.x(t)) for t, a, b in zip(run["time"], run["S.q"], run["B.q"], strict=True))
    assert error < {"ModelExchange": 1e-6, "CoSimulation": 1e-8}[kind]


def test_oscillator_loses_the_same_amplitude_each_half_period():
    """A_n = A_0 - 2 n F / k, and it rests where |k x| < F."""
    k, F, start = 50.0, 1.5, 1.0
    mech = slide(2.0)
    mech.add_force(lw.SpringDamper("S", stiffness=k))
    mech.add_force(lw.Friction("S", coulomb=F, name="f"))
    mech.start(q={"S": start})
    run = lw.simulate(mech, 12.0, rtol=1e-10, atol=1e-12)
    half = math.pi * math.sqrt(2.0 / k)
    halves = math.ceil((start - F / k) / (2 * F / k))
    assert [one.t for one in run.events] == pytest.approx([half * (n + 1) for n in range(halves)], abs=1e-9)
    assert run["S.q"][-1] == pytest.approx((-1) ** halves * (start - 2 * halves * F / k), abs=1e-9)
    assert run["f.force"][-1] == pytest.approx(k * run["S.q"][-1], abs=1e-12)


def test_two_blocks_move_together_until_one_slides():
    mech = slide(2.0, "L", "low")
    mech.add_body("up", mass=1.0, com=(0, 0, 0), inertia=lw.inertia.sphere(1.0, 0.1))
    mech.add_joint("U", lw.Prismatic((1, 0, 0)), "low", "up", at=(0, 0, 0))
    mech.add_force(lw.Friction("L", coulomb=3.0, name="below"))
    mech.add_force(lw.Friction("U", coulomb=1.0, name="between"))
    mech.add_force(lw.Force("L", "r*time", parameters={"r": (1.0, "N/s")}, name="pull"))
    run = lw.simulate(mech, 8.0, rtol=1e-10, atol=1e-12)
    assert [one.transitions for one in run.events] == [("below",), ("between",)]
    assert [one.t for one in run.events] == pytest.approx([3.0, 6.0], abs=1e-9)
    t = run["time"]
    together = (t > 3.0) & (t < 6.0)
    assert run["L.q"][together] == pytest.approx((t[together] - 3.0) ** 3 / 18.0, abs=1e-9)
    assert not run["U.u"][t < 6.0].any()


def test_a_clutch_takes_both_shafts_to_one_speed():
    engine, load, torque, start = 2.0, 3.0, 4.0, 10.0
    mech = lw.Mechanism("clutch", gravity=(0, 0, 0))
    for name, inertia in (("engine", engine), ("load", load)):
        mech.add_body(name, mass=1.0, com=(0, 0, 0), inertia=inertia * np.eye(3))
    mech.add_joint("A", lw.Revolute((0, 0, 1)), "ground", "engine", at=(0, 0, 0))
    mech.add_joint("C", lw.Revolute((0, 0, 1)), "engine", "load", at=(0, 0, 0))
    mech.add_force(lw.Friction("C", coulomb=torque, name="clutch"))
    mech.start(u={"A": start, "C": -start})
    run = lw.simulate(mech, 5.0, rtol=1e-10, atol=1e-12)
    assert [one.t for one in run.events] == pytest.approx(
        [start * engine * load / ((engine + load) * torque)], abs=1e-9
    )
    assert run["A.u"][-1] == pytest.approx(start * engine / (engine + load), abs=1e-9)
    assert run["C.u"][-1] == 0.0


def test_energy_of_a_four_bar_with_friction_in_all_hinges():
    mech = four_bar().mechanism
    work = []
    for joint in mech.joints:
        mech.add_force(lw.Friction(joint, coulomb=0.05, static=0.06, viscous=0.01, name=f"f_{joint}"))
        work.append(f"-f_{joint}.force*{joint}.u")
    mech.add_output("power", " + ".join(work))
    run = lw.simulate(mech, 4.0, rtol=1e-11, atol=1e-13, t_eval=np.linspace(0, 4.0, 40_001))
    assert len(run.events) > 3
    energy = run["energy.kinetic"] + run["energy.potential"]
    assert np.trapezoid(run["power"], run["time"]) == pytest.approx(energy[0] - energy[-1], rel=1e-6)
    for joint in mech.joints:
        state, u, force = run[f"f_{joint}.state"], run[f"{joint}.u"], run[f"f_{joint}.force"]
        slides = state != 2.0
        assert (state[slides] * u[slides] > -1e-9).all()
        assert force[slides] == pytest.approx(-state[slides] * 0.05 - 0.01 * u[slides], abs=1e-12)
        assert (np.abs(force[~slides]) <= 0.06 * (1 + 1e-9)).all()


def random_tree(rng: np.random.Generator, bodies: int) -> lw.Mechanism:
    mech = lw.Mechanism("tree", gravity=rng.normal(size=3) * 9.81)
    for k in range(bodies):
        mech.add_body(
            f"b{k}",
            mass=rng.uniform(0.5, 2.0),
            com=rng.normal(size=3) * 0.3,
            inertia=lw.inertia.box(1.0, (0.3, 0.2, 0.4)),
        )
        parent = f"b{rng.integers(max(0, k - 3), k)}" if k else "ground"
        at = lw.Frame(rng.normal(size=3) * 0.4 if k else (0, 0, 0))
        mech.add_joint(f"J{k}", lw.Revolute(random_unit(rng)), parent, f"b{k}", parent_frame=at, child_frame=lw.Frame())
    return mech


@pytest.mark.parametrize("seed", range(12))
def test_accelerations_from_rest(seed):
    """Which joints stick, and how all others accelerate, at a random pose at rest."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 7))
    mech = random_tree(rng, n)
    q = {f"J{k}": rng.uniform(-3, 3) for k in range(n)}
    model = lw.compile(mech)
    rest = (list(q.values()), np.zeros(n))
    a_0 = model.accelerations(*rest)
    W = np.column_stack([model.accelerations(*rest, tau={f"J{k}": 1.0}) - a_0 for k in range(n)])
    limits = rng.uniform(0.1, 2.0, n) * np.abs(np.linalg.solve(W, a_0))
    L = np.linalg.cholesky((W + W.T) / 2)
    f = lsq_linear(L.T, -np.linalg.solve(L, a_0), (-limits, limits), tol=1e-15).x
    for k in range(n):
        mech.add_force(lw.Friction(f"J{k}", coulomb=limits[k], name=f"f{k}"))
    mech.start(q=q)
    run = lw.simulate(mech, 1e-3)
    a = np.array([run[f"J{k}.a"][0] for k in range(n)])
    assert a == pytest.approx(a_0 + W @ f, abs=1e-7 * np.abs(a_0).max())
    assert lw.compile(mech).accelerations(*rest) == pytest.approx(a, abs=1e-12 * np.abs(a_0).max())
    for k in range(n):
        assert (run[f"f{k}.state"][0] == 2.0) == (abs(f[k]) < limits[k] * (1 - 1e-6))


def held_pendulum(**friction: float) -> lw.Mechanism:
    mech = lw.Mechanism("pendulum")
    mech.add_body("rod", mass=3.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(3.0, 1.0))
    mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
    mech.add_force(lw.Friction("A", **friction, name="f"))
    return mech


def test_a_single_evaluation_decides_for_its_own_loads():
    """m g l/2 cos(q) = 14.715 N m at q = 0, about m l^2/3 = 1 kg m2."""
    model = lw.compile(held_pendulum(coulomb=10.0, static=20.0))
    rest = model.assemble(q={"A": 0.0})
    assert model.accelerations(rest)[0] == 0.0
    assert rest["f.force"] == pytest.approx(-14.715, abs=1e-12)
    assert rest["f.state"] == 2.0
    assert model.accelerations(rest, tau={"A": 6.0})[0] == pytest.approx(14.715 + 6 - 10, abs=1e-11)
    assert model.accelerations(rest, tau={"A": -34.0})[0] == 0.0
    assert model.accelerations(rest, tau={"A": -35.0})[0] == pytest.approx(14.715 - 35 + 10, abs=1e-11)
    pushed = model.accelerations(np.zeros((5, 1)), np.zeros((5, 1)), tau=np.array([[0.0], [6], [0], [-35], [0]]))
    assert pushed[:, 0] == pytest.approx([0, 10.715, 0, -10.285, 0], abs=1e-11)
    assert model.accelerations([0.0], [1.0])[0] == pytest.approx(4.715, abs=1e-11)


def test_what_sticks_is_stuck_in_a_linear_model():
    mech = held_pendulum(coulomb=10.0, static=20.0, viscous=0.3)
    model = lw.compile(mech)
    rest = model.assemble(q={"A": 0.5})
    assert lw.linearize(mech, rest).A.shape == (0, 0)
    slope = -14.715 * math.sin(0.5)
    for state, tau in ((model.state([0.5], [2.0]), None), (rest, {"A": 9.0})):
        for kind in ("minimal", "full"):
            A = lw.linearize(mech, state, tau=tau, states=kind).A
            assert A.ravel() == pytest.approx([0, 1, slope, -0.3], abs=1e-11)


def test_equilibrium_is_that_without_friction():
    """About it is the range of poses at rest."""
    mech = four_bar().mechanism
    bare = lw.equilibrium(mech).state.q
    for joint in mech.joints:
        mech.add_force(lw.Friction(joint, coulomb=0.05, name=f"f_{joint}"))
    assert lw.equilibrium(mech).state.q == pytest.approx(bare, abs=1e-12)


@pytest.mark.parametrize("moves", [0.0, 2.0, -2.0])
def test_inverse_dynamics_includes_it(moves):
    """At rest it opposes the motion that begins; the joint that closes the loop has one too."""
    scene = four_bar()
    mech, without = scene.mechanism, lw.compile(scene.mechanism.copy())
    for number, joint in enumerate(mech.joints):
        mech.add_force(lw.Friction(joint, coulomb=0.01 * (1 + number), viscous=0.01, name=f"f_{joint}"))
    model = lw.compile(mech)
    push = {"A": 3.0}
    state, bare = (one.assemble(q=scene.q, u={"A": moves}) for one in (model, without))
    a = model.accelerations(state, tau=push)
    assert np.abs(a).min() > 1e-3
    expected = without.inverse_dynamics(bare, udot=without.accelerations(bare, tau=push))
    assert model.inverse_dynamics(state, udot=a) == pytest.approx(expected, abs=1e-12)
    if not moves:
        still = [one.inverse_dynamics(at, udot=np.zeros(3)) for one, at in ((model, state), (without, bare))]
        assert still[0] == pytest.approx(still[1], abs=1e-12)


def test_a_smooth_one_never_sticks():
    mech = slide(1.3)
    law = {"coulomb": 2.0, "static": 3.0, "stribeck": 0.1, "viscous": 0.4}
    mech.add_force(lw.Friction("S", **law, smooth=0.01, name="f"))
    mech.add_force(lw.Force("S", "-k*q", parameters={"k": 20.0}, name="spring"))
    mech.start(q={"S": 0.8})

    def rates(_t: float, y: np.ndarray) -> tuple[float, float]:
        x, u = y
        friction = -(2.0 + math.exp(-((u / 0.1) ** 2))) * math.tanh(u / 0.01) - 0.4 * u
        return u, (-20.0 * x + friction) / 1.3

    run = lw.simulate(mech, 2.0, rtol=1e-11, atol=1e-13, t_eval=np.linspace(0, 2, 21))
    found = solve_ivp(rates, (0, 2), (0.8, 0.0), "Radau", run["time"], rtol=1e-11, atol=1e-13)
    assert run["S.q"] == pytest.approx(found.y[0], abs=1e-9)
    assert not run.events
    assert "f.state" not in {one.name for one in lw.compile(mech).variables}


def test_smooth_ones_between_those_that_stick():
    mech = lw.Mechanism("three", gravity=(0, 0, 0))
    for k, smooth in enumerate((None, 0.01, None)):
        mech.add_body(f"b{k}", mass=1.0 + k, com=(0, 0, 0), inertia=np.eye(3))
        mech.add_joint(f"S{k}", lw.Prismatic((1, 0, 0)), "ground", f"b{k}", at=(0, 0, 0))
        mech.add_force(lw.Friction(f"S{k}", coulomb=2.0, smooth=smooth, name=f"f{k}"))
    mech.start(u={f"S{k}": 1.0 for k in range(3)})
    run = lw.simulate(mech, 3.0, rtol=1e-10, atol=1e-12)
    assert [(one.transitions, round(one.t, 9)) for one in run.events] == [(("f0",), 0.5), (("f2",), 1.5)]


def disc(capacity: str, inertia: float = 0.5, **more: object) -> lw.Mechanism:
    mech = lw.Mechanism("disc", gravity=(0, 0, 0))
    mech.add_body("disc", mass=1.0, com=(0, 0, 0), inertia=np.eye(3) * inertia)
    mech.add_joint("D", lw.Revolute((0, 0, 1)), "ground", "disc", at=(0, 0, 0))
    mech.add_force(lw.Brake("D", capacity, **more, name="pads"))
    return mech


PADS = {"parameters": {"mu": 0.4, "r": (0.1, "m")}, "inputs": ("clamp",), "static": 1.5}


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_brake_holds_until_its_pressure_has_fallen(solver):
    """1.5 mu r N (1 - t/4) = 1.2 N m at 2.4 s; then I u' = 1.2 - mu r N (1 - t/4)."""
    mech = disc("mu*r*clamp", **PADS)
    clamp = lambda t: 50.0 * (1.0 - t / 4.0)  # noqa: E731
    inputs = {"pads.clamp": clamp, "D": lambda _t: 1.2}
    run = lw.simulate(mech, 3.5, solver=solver, inputs=inputs, rtol=1e-10, atol=1e-12)
    assert [one.transitions for one in run.events] == [("pads",)]
    assert run.events[0].t == pytest.approx(2.4, abs=1e-8)
    speed = (1.2 * 1.1 - 2.0 * (1.1 - (3.5**2 - 2.4**2) / 8)) / 0.5
    assert run["D.u"][-1] == pytest.approx(speed, abs=1e-8)
    assert run["pads.limit"][0] == pytest.approx(3.0)


@pytest.mark.parametrize(
    ("solver", "cut"), [("dopri5", "bore"), ("dopri5", "pin"), ("rodas5p", "bore"), ("LSODA", "pin")]
)
def test_at_a_dead_point_it_rests_until_it_moves(solver, cut):
    """The torque has no part in the speed of the piston at first; then its work is that of friction and motion."""
    crank, rod, force, torque = 0.1, 0.3, 20.0, 3.0
    mech = lw.Mechanism("slider crank", gravity=(0, 0, 0))
    for name, mass in (("crank", 1.0), ("rod", 0.5), ("piston", 2.0)):
        mech.add_body(name, mass=mass, com=(0, 0, 0), inertia=lw.inertia.sphere(mass, 0.1))
    mech.add_joint("main", lw.Revolute((0, 0, 1)), "ground", "crank", at=(0, 0, 0))
    mech.add_joint("big", lw.Revolute((0, 0, 1)), "crank", "rod", parent_frame=lw.Frame((crank, 0, 0)))
    mech.add_joint("pin", lw.Revolute((0, 0, 1)), "rod", "piston", parent_frame=lw.Frame((rod, 0, 0)), cut=cut == "pin")
    mech.add_joint("bore", lw.Prismatic((1, 0, 0)), "ground", "piston", at=(0, 0, 0), cut=cut == "bore")
    mech.add_force(lw.Friction("bore", coulomb=force, name="f"))
    mech.add_force(lw.Force("main", "T", parameters={"T": torque}))
    run = lw.simulate(mech, 0.6, rtol=1e-10, atol=1e-12, solver=solver)
    q = run["main.q"]
    assert q[-1] > 2 * np.pi
    way = np.abs(np.diff(run["bore.q"], prepend=run["bore.q"][0])).cumsum()
    assert run["energy.kinetic"] == pytest.approx(torque * q - force * way, abs=1e-7 * torque * q[-1])
    assert run["f.state"][0] == 2.0
    moves = np.abs(run["bore.u"]) > 1e-8
    assert (run["f.state"][moves] == np.sign(run["bore.u"][moves])).all()


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_limit_that_begins_at_nothing(solver):
    """2 t against 3 N m: the disc begins to turn at once and rests after 3 s."""
    mech = disc("r*time", parameters={"r": (2.0, "N.m/s")})
    mech.add_force(lw.Force("D", "T", parameters={"T": 3.0}, name="motor"))
    run = lw.simulate(mech, 4.0, rtol=1e-10, atol=1e-12, solver=solver)
    u = np.where(run.t < 3.0, (3.0 * run.t - run.t**2) / 0.5, 0.0)
    assert run["D.u"] == pytest.approx(u, abs=1e-8)
    assert (run["pads.state"][run.t > 3.0 + 1e-6] == 2.0).all()


def test_a_negative_capacity_is_none():
    mech = disc("mu*r*clamp", **PADS)
    mech.start(u={"D": 2.0})
    run = lw.simulate(mech, 1.0, inputs={"pads.clamp": -5.0})
    assert run["D.u"][-1] == 2.0
    assert run["pads.limit"][-1] == 0.0


def test_a_formula_of_the_law_is_the_law():
    law = {"c": 2.0, "s": (3.0, "N"), "v": (0.1, "m/s"), "d": 0.4}
    runs = []
    for force in (
        lw.Friction("S", coulomb=2.0, static=3.0, stribeck=0.1, viscous=0.4, name="f"),
        lw.Brake("S", "c + (s - c)*exp(-(u/v)^2) + d*abs(u)", parameters=law, name="f"),
    ):
        mech = slide(1.3)
        mech.add_force(force)
        mech.add_force(lw.Force("S", "-k*q + a*sin(w*time)", parameters={"k": 20.0, "a": 4.0, "w": 3.0}, name="g"))
        mech.start(q={"S": 0.8})
        runs.append(lw.simulate(mech, 8.0, rtol=1e-11, atol=1e-13, t_eval=np.linspace(0, 8, 81)))
    assert [one.t for one in runs[0].events] == pytest.approx([one.t for one in runs[1].events], abs=1e-9)
    assert len(runs[0].events) > 4
    assert runs[0]["S.q"] == pytest.approx(runs[1]["S.q"], abs=1e-9)


@pytest.mark.parametrize("kind", ["CoSimulation", "ModelExchange"])
def test_a_clutch_in_an_fmu(kind, needs, tmp_path):
    """Engaged at 1 s: shafts of I_1 and I_2 meet at I_1 u_1 / (I_1 + I_2) after I_1 I_2 u_1 / (T (I_1 + I_2))."""
    fmpy = needs("fmpy")
    mech = lw.Mechanism("clutch", gravity=(0, 0, 0))
    for name, joint, parent, inertia in (("engine", "E", "ground", 0.2), ("wheel", "C", "engine", 0.3)):
        mech.add_body(name, mass=1.0, com=(0, 0, 0), inertia=np.eye(3) * inertia)
        mech.add_joint(joint, lw.Revolute((0, 0, 1)), parent, name, at=(0, 0, 0))
    mech.add_force(lw.Brake("C", "torque", inputs=("torque",), name="clutch"))
    mech.start(u={"E": 100.0, "C": -100.0})
    path = lw.export_fmu(mech, tmp_path / "clutch.fmu", "2.0")
    signal = np.array([(0.0, 0.0), (1.0, 0.0), (1.0, 8.0), (4.0, 8.0)], [("time", float), ("clutch.torque", float)])
    more = {"output_interval": 0.01, "fmi_type": kind, "relative_tolerance": 1e-9}
    found = fmpy.simulate_fmu(str(path), stop_time=4.0, input=signal, output=["E.u", "C.u", "clutch.state"], **more)
    meet = 1.0 + 0.2 * 0.3 * 100.0 / (8.0 * 0.5)
    sliding = found["time"] < meet - 0.02
    assert (found["clutch.state"][~sliding & (found["time"] > meet + 0.02)] == 2.0).all()
    assert found["E.u"][-1] == pytest.approx(40.0, abs=1e-6)
    assert found["C.u"][-1] == 0.0


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"coulomb": -1.0}, "coulomb must not be negative"),
        ({"coulomb": 2.0, "static": 1.0}, "static = 1 must not be less than coulomb = 2"),
        ({"coulomb": math.nan}, "coulomb"),
        ({"coulomb": 1.0, "viscous": -1.0}, "viscous must not be negative"),
        ({"coulomb": 1.0, "smooth": 0.0}, "smooth must be greater than zero"),
    ],
)
def test_wrong_numbers(given, words):
    with pytest.raises(lw.MechanismError, match=words):
        lw.Friction("A", **given)
