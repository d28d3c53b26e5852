"""Freewheels, and dry friction whose limits differ by direction or that acts across gears, against closed forms."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq, lsq_linear

import linkwork as lw
from support.cases import four_bar
from support.poses import random_unit

SOLVERS = ("dopri5", "rodas5p", "DOP853", "Radau", "LSODA")
EXACT = {"rtol": 1e-11, "atol": 1e-13}


def shafts(**inertias: float) -> lw.Mechanism:
    """Return shafts side by side, each with the name of its joint."""
    mech = lw.Mechanism("shafts", gravity=(0, 0, 0))
    for name, inertia in inertias.items():
        mech.add_body(f"{name}_body", mass=1.0, com=(0, 0, 0), inertia=inertia * np.eye(3))
        mech.add_joint(name, lw.Revolute("z"), "ground", f"{name}_body", at=(0, 0, 0))
    return mech


class Ratchet:
    """A flywheel of inertia J under a torque M against it, driven through a freewheel by a crank at A w cos(w t).

    It holds from where the falling speed of the flywheel meets that of the crank, until this decelerates faster than
    the flywheel by itself: J A w^2 sin(w t) = M.
    """

    J, M, A, w = 0.4, 0.5, 0.6, 5.0

    def __init__(self, t_end: float) -> None:
        self.falls = self.M / self.J
        period, release = 2 * math.pi / self.w, math.asin(self.falls / (self.A * self.w**2)) / self.w
        self.events: list[float] = []
        # Of each flight: its start, angle and speed there, and its end.
        self.flights: list[tuple[float, float, float, float]] = []
        begin, angle = release, self.crank(release)
        while begin < t_end:
            speed = self.rate(begin)
            end = brentq(
                lambda t, b=begin, s=speed: s - self.falls * (t - b) - self.rate(t),
                begin + 0.25 * period,
                begin + period,
                xtol=1e-15,
            )
            self.flights.append((begin, angle, speed, end))
            self.events += [begin, end]
            angle += speed * (end - begin) - self.falls * (end - begin) ** 2 / 2
            begin += period
            angle += self.crank(begin) - self.crank(end)
        self.events = [t for t in self.events if t < t_end]

    def crank(self, t: float) -> float:
        return self.A * math.sin(self.w * t)

    def rate(self, t: float) -> float:
        return self.A * self.w * math.cos(self.w * t)

    def angle(self, t: float) -> float:
        if t < self.flights[0][0]:
            return self.crank(t)
        begin, angle, speed, end = max((f for f in self.flights if f[0] <= t), key=lambda f: f[0])
        free = min(t, end) - begin
        return angle + speed * free - self.falls * free**2 / 2 + (self.crank(t) - self.crank(end) if t > end else 0.0)

    def mechanism(self, place: str) -> lw.Mechanism:
        """Return it with the freewheel across gears, with other gears, or in a joint between both."""
        ratio = 3.0 if place == "gears of three" else 1.0
        if place == "joint":
            mech = shafts(crank=0.01)
            mech.add_body("wheel", mass=1.0, com=(0, 0, 0), inertia=self.J * np.eye(3))
            mech.add_joint("F", lw.Revolute("z"), "crank_body", "wheel", at=(0, 0, 0))
            mech.add_force(lw.Freewheel("F", name="clutch"))
            mech.add_force(lw.Force({"crank": 1.0, "F": 1.0}, "-M", parameters={"M": self.M}, name="load"))
            mech.add_output("angle", "crank.q + F.q")
        else:
            mech = shafts(crank=0.01, F=self.J)
            mech.add_force(lw.Freewheel({"F": ratio, "crank": -ratio}, name="clutch"))
            mech.add_force(lw.Force("F", "-M", parameters={"M": self.M}, name="load"))
            mech.add_output("angle", "F.q")
            mech.start(u={"F": self.A * self.w})
        mech.prescribe("crank", lw.Motion(amplitude=self.A, frequency=self.w / (2 * math.pi)))
        return mech


@pytest.mark.parametrize("place", ["gears", "gears of three", "joint"])
@pytest.mark.parametrize("solver", SOLVERS)
def test_a_flywheel_driven_by_an_oscillating_crank(solver, place):
    t_end = 20.0 if place == "gears" else 6.0
    exact = Ratchet(t_end)
    run = lw.simulate(exact.mechanism(place), t_end, solver=solver, max_step=0.02, **EXACT)
    assert len(exact.events) == len(run.events) > (30 if t_end > 10 else 8)
    assert np.abs(np.array([one.t for one in run.events]) - exact.events).max() < 1e-8
    assert max(abs(a - exact.angle(t)) for a, t in zip(run["angle"], run["time"], strict=True)) < 1e-8
    ratio = 3.0 if place == "gears of three" else 1.0
    holds = run["clutch.state"] == 2.0
    assert holds.any()
    assert not holds.all()
    load = exact.M - exact.J * exact.A * exact.w**2 * np.sin(exact.w * run["time"][holds])
    assert ratio * run["clutch.force"][holds] == pytest.approx(load, abs=1e-8)
    assert not run["clutch.force"][~holds].any()


@pytest.mark.parametrize("kind", ["ModelExchange", "CoSimulation"])
@pytest.mark.parametrize("place", ["gears", "joint"])
def test_a_flywheel_in_an_fmu(kind, place, needs, tmp_path):
    needs("fmpy")
    import fmpy

    exact = Ratchet(8.0)
    path = lw.export_fmu(exact.mechanism(place), tmp_path / "ratchet.fmu")
    given = {"output_interval": 0.01, "relative_tolerance": 1e-10, "output": ["angle", "clutch.state"]}
    run = fmpy.simulate_fmu(str(path), fmi_type=kind, stop_time=8.0, **given)
    error = max(abs(a - exact.angle(t)) for t, a in zip(run["time"], run["angle"], strict=True))
    assert error < {"ModelExchange": 1e-6, "CoSimulation": 1e-8}[kind]
    assert set(run["clutch.state"]) == {1.0, 2.0}


def backstop(capacity: float | None, gear: float = 1.0) -> lw.Mechanism:
    """Return an arm that is thrown up: m g l cos(q) = 14.715 cos(q) N m, about 1 kg m2."""
    mech = lw.Mechanism("backstop")
    mech.add_body("arm", mass=3.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(3.0, 1.0))
    mech.add_joint("A", lw.Revolute((0, -1, 0)), "ground", "arm", at=(0, 0, 0))
    mech.add_force(lw.Freewheel("A" if gear == 1.0 else {"A": gear}, capacity=capacity, name="stop"))
    mech.start(u={"A": 4.0})
    return mech


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(("capacity", "gear"), [(20.0, 1.0), (None, 1.0), (20.0, 2.0), (None, 0.5)])
def test_a_backstop_holds_for_ever(solver, capacity, gear):
    """At sin(q) = u^2 / (2 * 14.715)."""
    run = lw.simulate(backstop(capacity, gear), 1000.0, solver=solver, **EXACT)
    assert [one.transitions for one in run.events] == [("stop",)]
    top = math.asin(16.0 / (2 * 14.715))
    rests = run["time"] > run.events[0].t
    assert rests.sum() > 2
    assert len(set(run["A.q"][rests])) == 1
    assert not run["A.u"][rests].any()
    assert run["A.q"][-1] == pytest.approx(top, abs=1e-9)
    assert gear * run["stop.force"][-1] == pytest.approx(14.715 * math.cos(top), rel=1e-9)
    assert not run["stop.force"][run["time"] < run.events[0].t].any()


def test_it_holds_from_the_start_and_lets_go_forwards():
    """A load of 3 t - 6 N m on 2 kg m2: held until 2 s, then q = (t - 2)^3 / 4."""
    for joint in ("A", {"A": 1.0, "B": -1.0}):
        mech = shafts(A=2.0, B=1.0)
        mech.add_transition("still", lw.Lock("B"), when=lw.Time(0.0))
        mech.add_force(lw.Freewheel(joint, name="stop"))
        mech.add_force(lw.Force("A", "r*time - M", parameters={"r": (3.0, "N.m/s"), "M": 6.0}, name="pull"))
        run = lw.simulate(mech, 5.0, **EXACT)
        assert run.events[-1].t == pytest.approx(2.0, abs=1e-9)
        assert run["A.q"][-1] == pytest.approx(27.0 / 4.0, abs=1e-8)
        assert np.abs(run["A.q"][run["time"] < 2.0]).max() < 1e-15


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("gears", ["A", {"A": 1.0, "B": -2.0}])
def test_it_slips_beyond_its_capacity(solver, gears):
    """A load of -2 t N m on 2 kg m2 passes a capacity of 3 N m at 1.5 s: then u = -(t - 1.5)^2 / 2.

    The other shaft, of inertia I, takes 4 * 2 / I of the load.
    """
    mech = shafts(A=2.0, B=1e9)
    mech.add_force(lw.Freewheel(gears, capacity=3.0, name="stop"))
    mech.add_force(lw.Force("A", "-r*time", parameters={"r": (2.0, "N.m/s")}, name="pull"))
    run = lw.simulate(mech, 4.0, solver=solver, **EXACT)
    assert [one.t for one in run.events] == pytest.approx([1.5 * (1.0 if gears == "A" else 1.0 + 8e-9)], abs=1e-9)
    assert run["A.q"][-1] == pytest.approx(-(2.5**3) / 6.0, abs=1e-7)
    assert run["stop.force"][-1] == 3.0
    assert run["stop.state"][-1] == -1.0
    mech.forces[0] = lw.Freewheel(gears, name="stop")
    run = lw.simulate(mech, 4.0, solver=solver, **EXACT)
    assert not run.events
    assert np.abs(run["A.q"]).max() < 1e-7
    assert run["stop.force"][-1] == pytest.approx(8.0, rel=1e-8)


@pytest.mark.parametrize("place", ["gears", "joint"])
def test_without_a_capacity_it_takes_impulses(place):
    """The driven shaft is stopped by a blow: it takes the driving one along, with the momentum that is left."""
    if place == "gears":
        mech = shafts(A=2.0, B=3.0)
        mech.add_force(lw.Freewheel({"A": 1.0, "B": -1.0}, name="clutch"))
        mech.start(u={"A": 9.0, "B": 1.0})
    else:
        mech = shafts(B=3.0)
        mech.add_body("A_body", mass=1.0, com=(0, 0, 0), inertia=2.0 * np.eye(3))
        mech.add_joint("A", lw.Revolute("z"), "B_body", "A_body", at=(0, 0, 0))
        mech.add_force(lw.Freewheel("A", name="clutch"))
        mech.start(u={"A": 8.0, "B": 1.0})
    mech.add_transition("blow", lw.Impulse("A_body", torque=(0, 0, -20.0)), when=lw.Time(0.5))
    run = lw.simulate(mech, 1.0, **EXACT)
    together = (2.0 * 9.0 + 3.0 * 1.0 - 20.0) / 5.0
    assert run["B.u"][-1] == pytest.approx(together, abs=1e-12)
    assert run["A.u"][-1] == pytest.approx(together if place == "gears" else 0.0, abs=1e-12)
    lost = 2.0 * 9.0**2 / 2 + 3.0 / 2 - 5.0 * together**2 / 2
    assert run["energy.kinetic"][0] - run["energy.kinetic"][-1] == pytest.approx(lost, rel=1e-12)


def test_a_capacity_gives_no_impulse():
    mech = shafts(A=2.0, B=3.0)
    mech.add_force(lw.Freewheel({"A": 1.0, "B": -1.0}, capacity=6.0, name="clutch"))
    mech.add_transition("blow", lw.Impulse("A_body", torque=(0, 0, -20.0)), when=lw.Time(0.5))
    mech.start(u={"A": 9.0, "B": 1.0})
    run = lw.simulate(mech, 4.0, **EXACT)
    meets = 0.5 + 2.0 / (6.0 / 2.0 + 6.0 / 3.0)
    assert [one.t for one in run.events] == pytest.approx([0.5, meets], abs=1e-9)
    assert run["A.u"][-1] == pytest.approx(0.2, abs=1e-9)


def test_a_start_backwards_is_refused_without_a_capacity():
    mech = shafts(A=1.0)
    mech.add_force(lw.Freewheel("A", name="stop"))
    mech.start(u={"A": -0.5})
    with pytest.raises(lw.LinkworkError, match=r"'stop' has a speed of -0\.5 .* infinite capacity"):
        lw.simulate(mech, 1.0)
    with pytest.raises(lw.LinkworkError, match="'stop'"):
        lw.compile(mech).accelerations([0.0], [-0.5])
    with pytest.raises(lw.LinkworkError, match="'stop' turns backwards in the given motion"):
        lw.compile(mech).inverse_dynamics([0.0], [0.0], u=[-0.5])
    assert lw.compile(mech).inverse_dynamics([0.0], [2.0], u=[0.5]) == pytest.approx([2.0])


def test_friction_by_direction_is_that_of_each():
    """A block on a spring loses 2 F_+ and 2 F_- of amplitude times k in turn, until the spring holds no more."""
    k, F, start = 50.0, 1.5, 1.0
    for forward, backward in ((0.4, 1.0), (None, 0.25), (0.5, 0.0)):
        mech = lw.Mechanism("slide", gravity=(0, 0, 0))
        mech.add_body("block", mass=2.0, com=(0, 0, 0), inertia=np.eye(3))
        mech.add_joint("S", lw.Prismatic("x"), "ground", "block", at=(0, 0, 0))
        mech.add_force(lw.SpringDamper("S", stiffness=k))
        mech.add_force(lw.Friction("S", coulomb=F, forward=forward, backward=backward, name="f"))
        mech.start(q={"S": start})
        run = lw.simulate(mech, 12.0, **EXACT)
        up, down = F * (1.0 if forward is None else forward), F * backward
        amplitude, x, moves = start, start, 0
        while (k * x > down) if x > 0 else (-k * x > up):
            x = -(x - 2 * down / k) if x > 0 else -(x + 2 * up / k)
            moves += 1
            if moves > 40:
                break
        half = math.pi * math.sqrt(2.0 / k)
        reached = int(12.0 / half)
        times = [half * (n + 1) for n in range(min(moves, reached))]
        assert [one.t for one in run.events] == pytest.approx(times, abs=1e-8)
        if moves < reached:
            assert run["S.q"][-1] == pytest.approx(x, abs=1e-9)
            assert -up - 1e-9 <= run["f.force"][-1] <= down + 1e-9
        assert amplitude >= abs(run["S.q"]).max() - 1e-12


@pytest.mark.parametrize("method", ["rcr", "embedding", "multipliers", "dca"])
@pytest.mark.parametrize("seed", range(8))
def test_accelerations_with_sums_and_shares(seed, method):
    """Which sums of speeds stick, and how all joints accelerate from rest, against bounded least squares.

    The limits are from -forward F to backward F along the rows of the gears.
    """
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 6))
    mech = lw.Mechanism("tree", gravity=rng.normal(size=3) * 9.81)
    for k in range(n):
        size = {"mass": rng.uniform(0.5, 2.0), "com": rng.normal(size=3) * 0.3}
        mech.add_body(f"b{k}", **size, inertia=lw.inertia.box(1.0, (0.3, 0.2, 0.4)))
        parent = f"b{rng.integers(0, k)}" if k else "ground"
        at = lw.Frame(rng.normal(size=3) * 0.4 if k else (0, 0, 0))
        mech.add_joint(f"J{k}", lw.Revolute(random_unit(rng)), parent, f"b{k}", parent_frame=at, child_frame=lw.Frame())
    q = rng.uniform(-3, 3, n)
    model = lw.compile(mech)
    a_0 = model.accelerations(q, np.zeros(n))
    W = np.column_stack([model.accelerations(q, np.zeros(n), tau={f"J{k}": 1.0}) - a_0 for k in range(n)])
    gears = np.zeros((n - 1, n))
    for k in range(n - 1):
        others = rng.choice(n, size=2, replace=False)
        gears[k, others] = rng.uniform(0.5, 2.0, 2) * rng.choice([-1.0, 1.0], 2)
    gears[0] = np.eye(n)[0]
    F = rng.uniform(0.1, 1.5, n - 1) * np.abs(np.linalg.lstsq(gears.T, -np.linalg.solve(W, a_0), rcond=None)[0])
    shares = rng.choice([0.0, 0.3, 1.0], size=(n - 1, 2))
    shares[shares.sum(axis=1) == 0.0] = 0.0, 1.0
    L = np.linalg.cholesky((W + W.T) / 2)
    bounds = (-shares[:, 0] * F - 1e-300, shares[:, 1] * F + 1e-300)
    f = lsq_linear(L.T @ gears.T, -np.linalg.solve(L, a_0), bounds, tol=1e-15).x
    for k, row in enumerate(gears):
        named = {f"J{j}": gear for j, gear in enumerate(row) if gear}
        given = {"coulomb": F[k], "forward": shares[k, 0], "backward": shares[k, 1]}
        mech.add_force(lw.Friction(named, **given, name=f"f{k}"))
    found = lw.compile(mech, method=method)
    expected = a_0 + W @ gears.T @ f
    assert found.accelerations(q, np.zeros(n)) == pytest.approx(expected, abs=1e-7 * np.abs(a_0).max())
    state = found.state(q, np.zeros(n))
    rates = gears @ expected
    assert any(state[f"f{k}.state"] == 2.0 for k in range(n - 1)) == (np.abs(rates) < 1e-7 * np.abs(a_0).max()).any()


def test_a_clutch_across_gears_is_one_in_the_joint_between():
    engine, load, torque, start = 2.0, 3.0, 4.0, 10.0
    mech = shafts(A=engine, B=load)
    mech.add_force(lw.Brake({"A": 1.0, "B": -1.0}, "torque", inputs=("torque",), name="clutch"))
    mech.start(u={"A": start, "B": 0.0})
    run = lw.simulate(mech, 8.0, inputs={"clutch.torque": torque}, **EXACT)
    meets = engine * load * start / (torque * (engine + load))
    assert [one.t for one in run.events] == pytest.approx([meets], abs=1e-9)
    assert run["A.u"][-1] == pytest.approx(start * engine / (engine + load), abs=1e-9)
    assert run["A.u"][-1] - run["B.u"][-1] == pytest.approx(0.0, abs=1e-14)


def test_gears_across_a_loop():
    """Friction between two hinges of a four-bar, one of which closes its loop, holds it against gravity."""
    scene = four_bar()
    mech = scene.mechanism
    first, *_, last = mech.joints
    mech.add_force(lw.Friction({first: 1.0, last: 0.7}, coulomb=1e3, name="f"))
    run = lw.simulate(mech, 1.0, **EXACT)
    assert run["f.state"][-1] == 2.0
    rate = run[f"{first}.u"] + 0.7 * run[f"{last}.u"]
    assert np.abs(rate[run["f.state"] == 2.0]).max() < 1e-12


def test_it_is_stuck_in_a_linear_model():
    mech = shafts(A=2.0, B=3.0)
    mech.add_force(lw.Freewheel({"A": 1.0, "B": -1.0}, capacity=9.0, name="clutch"))
    mech.add_force(lw.SpringDamper("B", stiffness=20.0))
    model = lw.compile(mech)
    held = lw.linearize(mech, model.state([0.1, 0.1], [0.0, 0.0]), tau={"A": -6.0})
    assert sorted(np.abs(np.linalg.eigvals(held.A))) == pytest.approx([2.0, 2.0], rel=1e-9)


def test_equilibrium_and_range_of_rest():
    """An arm under a backstop of 9 N m rests where 14.715 cos(q) is from 0 to 9, and may be lifted to the top."""
    mech = backstop(9.0)
    low, high = math.acos(9.0 / 14.715), math.pi / 2
    mech.start(q={"A": 1.2})
    assert lw.equilibrium(mech, seek="stuck").holding["A"] == pytest.approx(14.715 * math.cos(1.2), rel=1e-9)
    found = lw.rest_range(mech, "A.q")
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-7)
    with pytest.raises(lw.MechanismError, match="'stop' holds any load"):
        lw.rest_range(backstop(None), "A.q")


@pytest.mark.parametrize(
    ("force", "words"),
    [
        (lw.Friction({"A": 1.0, "B": -1.0}, mu=0.1, radius=0.1, name="f"), "one joint presses its surfaces"),
        (lw.Friction({"A": 1.0, "S[2]": -1.0}, coulomb=1.0, name="f"), "turns by a quaternion"),
        (lw.Friction({"A": 1.0, "C": -1.0}, coulomb=1.0, name="f"), "no joint 'C'"),
    ],
)
def test_what_no_sum_can_be_is_refused(force, words):
    mech = shafts(A=1.0, B=1.0)
    mech.add_body("ball", mass=1.0, com=(0, 0, 0), inertia=np.eye(3))
    mech.add_joint("S", lw.Spherical(), "ground", "ball", at=(0, 0, 0))
    with pytest.raises(lw.MechanismError, match=words):
        mech.add_force(force)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"forward": -1.0}, "forward must not be negative"),
        ({"forward": 0.0, "backward": 0.0}, "does nothing"),
        ({"backward": math.inf}, "backward"),
    ],
)
def test_wrong_shares(given, words):
    with pytest.raises(lw.MechanismError, match=words):
        lw.Friction("A", coulomb=1.0, **given)


def test_a_joint_of_a_sum_may_not_open():
    mech = four_bar().mechanism
    first, *_, last = mech.joints
    mech.add_force(lw.Friction({first: 1.0, last: 1.0}, coulomb=1.0, name="f"))
    mech.add_transition("apart", lw.Release(last), when=lw.Time(1.0))
    with pytest.raises(lw.LinkworkError, match=f"friction 'f' acts by gears on joint '{last}'"):
        lw.compile(mech)
