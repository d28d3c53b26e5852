"""Poses of rest against closed forms, scanned potentials, minimisation by SciPy, and the accelerations of the core."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

import linkwork as lw
from linkwork.analysis.small_motions import small_motions
from support import linkages
from support.joint_families import JOINT_FAMILIES
from support.random_mechanisms import FAMILIES, well_posed

G = 9.81
HERE = lw.Frame()
HINGE = lw.Revolute((0, 1, 0))  # in the plane of x and z
POINT = np.zeros((3, 3))


def pendulum(rods: int = 1, mass: float = 2.0, length: float = 1.0) -> lw.Mechanism:
    """Rods in series, along x at the start; positive angles are down."""
    mech = lw.Mechanism("pendulum")
    for k in range(rods):
        mech.add_body(
            f"rod{k}",
            mass=mass,
            com=(length / 2, 0, 0),
            inertia=lw.inertia.rod(mass, length),
            origin=(k * length, 0, 0),
        )
        mech.add_joint(f"A{k}", HINGE, f"rod{k - 1}" if k else "ground", f"rod{k}", at=(k * length, 0, 0))
    return mech


def balanced(found: lw.Equilibrium, largest: float = 1e-10) -> None:
    """The core finds no acceleration, and nothing is left of the forces."""
    assert found.residual < 1e-12
    udot = found.model.accelerations(found.state, tau=found.tau)
    assert np.abs(udot).max(initial=0.0) < largest


# ---- poses of rest ----


def test_a_pendulum_hangs_and_swings_as_in_the_books() -> None:
    found = lw.equilibrium(pendulum())
    balanced(found)
    assert found.state["A0.q"] == pytest.approx(np.pi / 2, abs=1e-14)
    assert found.stable is True
    assert found.frequencies == pytest.approx([np.sqrt(1.5 * G) / (2 * np.pi)], rel=1e-12)
    assert found.energy == pytest.approx(-2.0 * G * 0.5)
    assert "stable" in repr(found)


def test_all_four_poses_of_a_double_pendulum_are_found() -> None:
    found = lw.equilibria(pendulum(2), starts=20, seed=1)
    heights = sorted(one.energy for one in found)
    np.testing.assert_allclose(heights, np.array([-4.0, -2.0, 2.0, 4.0]) * 0.5 * 2.0 * G, atol=1e-9)
    assert [one.stable for one in found] == [True, False, False, False]
    for one in found:
        balanced(one)
    assert found.starts == 20
    assert "4 equilibria" in repr(found)
    assert list(found.to_dataframe()["stable"]) == [True, False, False, False]


def six_bar(rng: np.random.Generator) -> tuple[lw.Mechanism, dict[str, float]]:
    """A crank and rocker, whose rocker moves a second dyad; a spring from the ground to the last link."""
    size = {"a": 0.3, "b": 1.0, "c": 0.8, "d": 1.1, "e": 1.1, "f": 0.8, "g": 1.2}
    size["stiffness"], size["free"] = float(rng.uniform(10, 120)), float(rng.uniform(0.1, 0.6))
    mech = lw.Mechanism("six_bar")
    masses = dict.fromkeys("abcef", 1.0)
    for name in "abcef":
        length = size[name]
        mech.add_body(name, mass=masses[name], com=(length / 2, 0, 0), inertia=lw.inertia.rod(1.0, length))
    tip = {name: lw.Frame((size[name], 0, 0)) for name in "abcef"}
    mech.add_joint("A", HINGE, "ground", "a", parent_frame=HERE)
    mech.add_joint("B", HINGE, "a", "b", parent_frame=tip["a"])
    mech.add_joint("C", HINGE, "b", "c", parent_frame=tip["b"], child_frame=tip["c"])
    mech.add_joint("D", HINGE, "ground", "c", parent_frame=lw.Frame((size["d"], 0, 0)))
    mech.add_joint("E", HINGE, "c", "e", parent_frame=tip["c"])
    mech.add_joint("F", HINGE, "e", "f", parent_frame=tip["e"], child_frame=tip["f"])
    mech.add_joint("G", HINGE, "ground", "f", parent_frame=lw.Frame((size["d"] + size["g"], 0, 0)))
    spring = {"stiffness": size["stiffness"], "free": size["free"], "name": "pull"}
    mech.add_force(lw.SpringDamper(bodies=("ground", "f"), points=(ANCHOR, (size["f"], 0, 0)), **spring))
    mech.start(q={"A": 0.5})
    return mech, size


ANCHOR = (0.4, 0.0, 1.5)


def circles(p: np.ndarray, r: float, q: np.ndarray, s: float, branch: int) -> np.ndarray:
    """The points at distance r from p and s from q, one of the two."""
    d = q - p
    length = np.linalg.norm(d, axis=-1)
    along = (length**2 + r**2 - s**2) / (2 * length)
    with np.errstate(invalid="ignore"):
        across = branch * np.sqrt(r**2 - along**2)
    e = d / length[..., None]
    return p + along[..., None] * e + across[..., None] * np.stack([-e[..., 1], e[..., 0]], -1)


def scanned_rests(size: dict[str, float], points: int = 20001) -> list[tuple[float, bool]]:
    """Energies of the stationary points of the potential over the crank angle, and whether each is a minimum."""
    found = []
    angle = np.linspace(0.0, 2 * np.pi, points)[:-1]
    zero = np.zeros_like(angle)
    b = size["a"] * np.stack([np.cos(angle), np.sin(angle)], -1)
    d = np.stack([zero + size["d"], zero], -1)
    g = np.stack([zero + size["d"] + size["g"], zero], -1)
    for first, second in itertools.product((1, -1), repeat=2):
        c = circles(b, size["b"], d, size["c"], first)
        f = circles(c, size["e"], g, size["f"], second)
        height = sum((one + two)[:, 1] / 2 for one, two in ((0 * b, b), (b, c), (c, d), (c, f), (f, g)))
        stretch = np.hypot(f[:, 0] - ANCHOR[0], f[:, 1] - ANCHOR[2]) - size["free"]
        energy = G * height + 0.5 * size["stiffness"] * stretch**2
        assert np.isfinite(energy).all()
        slope = np.sign(np.roll(energy, -1) - energy)
        turns = np.flatnonzero(slope != np.roll(slope, 1))
        found += [(float(energy[k]), bool(slope[k] > 0)) for k in turns]
    return sorted(found)


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_all_poses_of_a_six_bar_with_a_spring_are_found(seed: int) -> None:
    mech, size = six_bar(np.random.default_rng(seed))
    expected = scanned_rests(size)
    found = lw.equilibria(mech, starts=30, seed=seed)
    assert len(found) == len(expected)
    np.testing.assert_allclose([one.energy for one in found], [energy for energy, _ in expected], rtol=1e-6)
    assert [one.stable for one in found] == [is_minimum for _, is_minimum in expected]
    for one in found:
        balanced(one, 1e-9)


ALL = {name: make for name, (make, _) in (FAMILIES | JOINT_FAMILIES).items()}


def tied(name: str, seed: int) -> lw.Model:
    """A random mechanism whose bodies are tied to the ground by springs, off their origins."""
    mech = well_posed(ALL[name], seed).mechanism
    model = lw.compile(mech)
    start = model.assemble()
    for k, body in enumerate(mech.bodies):
        anchor = tuple(model.point(start, body) + np.array([0.3, 0.2, 0.5]))
        ends = {"bodies": ("ground", body), "points": (anchor, (0.05, 0.02, 0.03))}
        mech.add_force(lw.SpringDamper(name=f"tie{k}", stiffness=40.0, free=0.1, **ends))
    return lw.compile(mech)


@pytest.mark.parametrize("name", sorted(ALL))
@pytest.mark.thin(12, kept=4)
def test_random_mechanisms_come_to_rest(name: str) -> None:
    found = lw.equilibrium(tied(name, 5))
    balanced(found, 1e-9)
    assert found.stable is not False
    if found.free:
        return
    assert found.stable is True
    try:
        eigenvalues = lw.linearize(found.model, found.state).eigenvalues
    except (lw.MechanismError, lw.SingularityError):
        return  # rods that spin between spherical joints: no choice of independent coordinates
    largest = np.abs(eigenvalues).max()
    for one in found.eigenvalues:
        assert np.abs(eigenvalues - one).min() < 1e-8 * largest


@pytest.mark.parametrize("name", ["planar_5R", "closed_chain_8R", "loop_on_loop", "RCCC", "tripod_PRS", "free_tree"])
def test_scipy_finds_no_less_energy_next_to_it(name: str) -> None:
    """The energy, in plain numpy from the poses of bodies, minimised over coordinates with the loops as constraints."""
    model = tied(name, 7)
    mech = model.mechanism
    found = lw.equilibrium(model)
    block, nq = model.block(), model.numbering.nq
    model.enter(block, found.state)
    quaternions = [span for span in model.numbering.quaternions.values() if span.stop <= nq]
    springs = [(force.bodies[1], *map(np.array, force.points)) for force in mech.forces if hasattr(force, "points")]

    def at(q: np.ndarray) -> None:
        block.enter(q, np.zeros(model.numbering.nu), model.arguments.no_inputs)

    def gaps(q: np.ndarray) -> np.ndarray:
        at(q)
        return np.concatenate([block.constraints()[0], *([q[span] @ q[span] - 1.0] for span in quaternions)])

    def energy(q: np.ndarray) -> float:
        at(q)
        total = 0.0
        for k, body in enumerate(mech.bodies.values()):
            total -= body.mass * mech.gravity @ block.body_motion(k, np.asarray(body.com))[0]
        for body, anchor, point in springs:
            length = np.linalg.norm(block.body_motion(model.body_numbers[body], point)[0] - anchor)
            total += 0.5 * 40.0 * (length - 0.1) ** 2
        return total

    q = np.array(found.state.q)
    assert len(springs) == len(mech.bodies) == len(mech.forces)
    assert energy(q) == pytest.approx(found.energy, rel=1e-12)
    slopes = np.array([(gaps(q + h) - gaps(q - h)) / 2e-6 for h in 1e-6 * np.eye(nq)])
    independent = np.linalg.svd(slopes.T)[0].T[: np.linalg.matrix_rank(slopes, tol=1e-6)]
    near = q + 1e-2 * np.random.default_rng(1).standard_normal(nq)
    constraints = [{"type": "eq", "fun": lambda x: independent @ gaps(x)}]
    best = minimize(energy, near, method="SLSQP", constraints=constraints, options={"ftol": 1e-13, "maxiter": 500})
    assert np.abs(gaps(best.x)).max(initial=0.0) < 1e-6
    assert np.abs(best.x - near).max() > 1e-3
    assert best.fun == pytest.approx(found.energy, abs=1e-6)
    np.testing.assert_allclose(best.x, q, atol=2e-3)


def test_an_inverted_pendulum_is_left_unless_any_pose_is_sought() -> None:
    up = {"A0": -np.pi / 2}
    assert lw.equilibrium(pendulum(), q=up).state["A0.q"] % (2 * np.pi) == pytest.approx(np.pi / 2)
    found = lw.equilibrium(pendulum(), q={"A0": -1.5}, seek="any")
    assert found.state["A0.q"] == pytest.approx(-np.pi / 2)
    assert found.stable is False
    assert np.isnan(found.frequencies).all()
    assert found.eigenvalues.real.max() == pytest.approx(np.sqrt(1.5 * G))


def test_damping_makes_decay_and_keeps_the_pose() -> None:
    mech = pendulum()
    mech.add_force(lw.SpringDamper("A0", stiffness=3.0, damping=0.7, free=0.2))
    found = lw.equilibrium(mech)
    balanced(found)
    expected = np.roots([2.0 / 3.0, 0.7, 3.0 + 2.0 * G * 0.5 * np.sin(found.state["A0.q"])])
    np.testing.assert_allclose(sorted(found.eigenvalues.imag), sorted(expected.imag), atol=1e-9)
    np.testing.assert_allclose(found.eigenvalues.real, expected.real, atol=1e-9)
    q = found.state["A0.q"]
    assert 3.0 * (q - 0.2) == pytest.approx(2.0 * G * 0.5 * np.cos(q))


def test_constant_loads_and_servos_act() -> None:
    mech = pendulum()
    mech.add_force(lw.Wrench("rod0", (1, 0, 0), name="push"))
    mech.add_force(lw.Actuator("servo", {"A0": 1.0}, gain=4.0, stiffness=4.0))
    inputs = {"push.F": (3.0, 0.0, 0.0), "servo.input": 0.25, "A0": 0.5}
    found = lw.equilibrium(mech, inputs=inputs)
    balanced(found)
    q = found.state["A0.q"]
    assert 4.0 * (0.25 - q) + 0.5 - 3.0 * np.sin(q) + 2.0 * G * 0.5 * np.cos(q) == pytest.approx(0.0, abs=1e-12)


# ---- loads that hold a pose ----


def scissor(stages: int, angle: float, beam: float = 1.0, mass: float = 3.0, load: float = 50.0) -> lw.Mechanism:
    """A lift of crossed beams; a cylinder pushes the foot that slides, a platform rests on the top."""
    mech = lw.Mechanism("scissor_lift")
    turned = {"left": -angle, "right": np.pi + angle}
    for k, name in itertools.product(range(stages), turned):
        bar = {"com": (beam / 2, 0, 0), "inertia": lw.inertia.rod(mass, beam)}
        mech.add_body(f"{name}{k}", mass=mass, **bar)
    mech.add_body("foot", mass=1.0, com=(0, 0, 0), inertia=lw.inertia.sphere(1.0, 0.05))
    mech.add_body("platform", mass=load, com=(0, 0, 0), inertia=lw.inertia.sphere(load, 0.2))
    tip, middle = lw.Frame((beam, 0, 0)), lw.Frame((beam / 2, 0, 0))
    mech.add_joint("slide", lw.Prismatic((1, 0, 0)), "ground", "foot", parent_frame=HERE)
    mech.add_joint("left0_foot", HINGE, "ground", "left0", parent_frame=HERE)
    mech.add_joint("right0_foot", HINGE, "foot", "right0", parent_frame=HERE)
    for k in range(stages):
        mech.add_joint(f"cross{k}", HINGE, f"left{k}", f"right{k}", parent_frame=middle, child_frame=middle)
        if k + 1 < stages:
            mech.add_joint(f"left{k + 1}_foot", HINGE, f"right{k}", f"left{k + 1}", parent_frame=tip)
            mech.add_joint(f"right{k + 1}_foot", HINGE, f"left{k}", f"right{k + 1}", parent_frame=tip)
    top = f"right{stages - 1}"
    mech.add_joint("top", HINGE, top, "platform", parent_frame=tip)
    mech.add_joint("upright", lw.Prismatic((0, 0, 1)), "ground", "platform", parent_frame=HERE)
    mech.add_force(lw.Actuator("cylinder", {"slide": 1.0}))
    start = {"slide": beam * np.cos(angle), "left0_foot": turned["left"], "right0_foot": turned["right"]}
    for k in range(stages):
        start[f"cross{k}"] = turned["right"] - turned["left"]
        if k + 1 < stages:
            start[f"left{k + 1}_foot"] = turned["left"] - turned["right"]
            start[f"right{k + 1}_foot"] = turned["right"] - turned["left"]
    mech.start(q=start)
    return mech


@pytest.mark.parametrize("stages", [1, 20])
def test_a_scissor_lift_is_held_by_the_force_of_virtual_work(stages: int) -> None:
    angle, beam, mass, load = 0.6, 1.0, 3.0, 50.0
    mech = scissor(stages, angle, beam, mass, load)
    found = lw.equilibrium(mech, hold={"slide": beam * np.cos(angle)}, motors=["cylinder"])
    balanced(found, 1e-7)
    # V = g (load + stages mass) stages beam sin(angle): each stage has two beams at (k + 1/2) of its height
    slope = G * (load * stages + mass * stages**2) * beam * np.cos(angle)
    force = -slope / (-beam * np.sin(angle))  # on x = beam cos(angle)
    assert found.motor_loads["cylinder"] == pytest.approx(-force, rel=1e-10)
    assert found.inputs["cylinder.input"] == found.motor_loads["cylinder"]
    assert found.stable is False
    assert lw.equilibrium(mech, hold=["slide"]).holding["slide"] == pytest.approx(-force, rel=1e-10)


def test_more_motors_than_needed_share_the_load_with_the_least_norm() -> None:
    mech = pendulum()
    mech.add_force(lw.Actuator("geared", {"A0": 3.0}, gain=2.0))
    found = lw.equilibrium(mech, hold={"A0": 0.0}, motors=["A0", "geared"])
    balanced(found)
    torque = -2.0 * G * 0.5
    assert found.motor_loads["A0"] == pytest.approx(torque / 10)
    assert found.motor_loads["geared"] == pytest.approx(3 * torque / 10)
    assert found.inputs["geared.input"] == pytest.approx(3 * torque / 20)


def test_a_motor_elsewhere_holds_a_wished_coordinate_and_the_rest_finds_its_place() -> None:
    found = lw.equilibrium(pendulum(2), hold={"A0": 1.4}, motors=["A1"])
    balanced(found)
    first, second = found.state["A0.q"], found.state["A0.q"] + found.state["A1.q"]
    assert first == pytest.approx(1.4)
    assert 3.0 * np.cos(first) + np.cos(second) == pytest.approx(0.0, abs=1e-12)
    assert found.motor_loads["A1"] == pytest.approx(-2.0 * G * 0.5 * np.cos(second))


def test_motors_that_cannot_hold_the_pose_are_refused_by_the_direction_that_lacks_one() -> None:
    with pytest.raises(lw.EquilibriumError, match=r"'A0' cannot hold.*along 'A1'") as error:
        lw.equilibrium(pendulum(2), hold={"A0": 0.3, "A1": 0.2}, motors=["A0"])
    assert isinstance(error.value.result, lw.Equilibrium)
    with pytest.raises(lw.EquilibriumError, match="no constant loads"):
        lw.equilibrium(pendulum(2), hold={"A0": 0.3}, motors=["A1"])


def test_motors_are_kept_to_their_limits() -> None:
    mech = pendulum()
    mech.add_force(lw.Actuator("weak", {"A0": 1.0}, force_range=(-5.0, 5.0)))
    with pytest.raises(lw.EquilibriumError, match=r"'weak' would have to give.*beyond its limits"):
        lw.equilibrium(mech, hold={"A0": 0.0}, motors=["weak"])
    assert lw.equilibrium(mech, hold={"A0": 1.4}, motors=["weak"]).motor_loads["weak"] == pytest.approx(
        -G * np.cos(1.4)
    )


# ---- loads that follow a body ----


@pytest.mark.parametrize("load", [(0, 0, 0, 0, 0, 0), (3, 0, 0, 0, 0, 0), (0, 0, 0, 40, 0, 0), (15, 0, 0, 0, 0, 20)])
def test_frequencies_are_those_of_the_eigenvalues_under_loads_that_follow_the_body(load: tuple[float, ...]) -> None:
    mech = lw.Mechanism("follower", gravity=(0, 0, 0))
    mech.add_body("body", mass=2.0, com=(0.1, 0.05, 0), inertia=np.diag([0.2, 0.3, 0.4]))
    mech.add_joint("F", lw.Free(), "ground", "body", at=(0, 0, 0))
    ends = {(1, 0, 0): (2, 0, 0), (-1, 0, 0): (-2, 0.3, 0), (0, 1, 0): (0, 2, 0.2), (0, -1, 1): (0.1, -1, 2)}
    for k, (point, anchor) in enumerate(ends.items()):
        spring = {"stiffness": 30.0 + 7 * k, "free": 0.3, "name": f"s{k}"}
        mech.add_force(lw.SpringDamper(bodies=("ground", "body"), points=(anchor, point), **spring))
    found = lw.equilibrium(mech, inputs={"F": load}, seek="any")
    oscillating = found.eigenvalues[found.eigenvalues.imag > 0.0]
    assert np.abs(oscillating.real).max() < 1e-6
    np.testing.assert_allclose(found.frequencies, np.sort(oscillating.imag) / (2 * np.pi), rtol=1e-9)


def test_what_oscillates_and_grows_has_no_frequency() -> None:
    stiffness = np.array([[2.0, 1.0, 0.0], [-1.0, 2.0, 0.0], [0.0, 0.0, 9.0]])
    found = small_motions(np.diag([1.0, 1.0, 1.0]), np.zeros((3, 3)), stiffness, 1.0)
    np.testing.assert_allclose(found.frequencies, [np.nan, np.nan, 3 / (2 * np.pi)])
    assert found.stable is False
    assert np.linalg.matrix_rank(found.modes) == 3


# ---- gears ----


def geared(ratio: float, rack: bool = False) -> lw.Mechanism:
    """A pendulum 'A' that a rotor, or a rack, 'M' moves by a gear."""
    mech = pointed((0, 1, 0), 0.3)
    mech.add_body("rotor", mass=0.1, com=(0, 0, 0), inertia=lw.inertia.sphere(0.1, 0.02))
    kind = lw.Prismatic((1, 0, 0)) if rack else HINGE
    mech.add_joint("M", kind, "ground", "rotor", at=(0, 0, 0))
    mech.add_coupling("gear", {"M": 1.0, "A": -ratio})
    return mech


@pytest.mark.thin(3)
@pytest.mark.parametrize(
    ("ratio", "rack"),
    [*((one, False) for one in (1e-3, 1.0, 2**0.5, 50.0, 1e3, 1e4)), (0.05, True), (1e-3, True), (2.0, True)],
)
def test_gear_ratios_change_neither_the_poses_nor_the_loads(ratio: float, rack: bool) -> None:
    mech, weight = geared(ratio, rack), 2.0 * G * 0.5
    found = lw.equilibrium(mech)
    assert found.state["A.q"] == pytest.approx(np.pi / 2, abs=1e-9)
    assert found.stable is True
    for held in ({"A": 1.0}, {"M": ratio}):
        one = lw.equilibrium(mech, hold=held)
        (load,) = one.holding.values()
        assert one.state["A.q"] == pytest.approx(1.0, abs=1e-9)
        assert load * (ratio if "M" in held else 1.0) == pytest.approx(-weight * np.cos(1.0), rel=1e-8)
    load = lw.equilibrium(mech, hold={"A": 1.0}, motors=["M"]).motor_loads["M"]
    assert load * ratio == pytest.approx(-weight * np.cos(1.0), rel=1e-8)
    everything = lw.equilibria(mech, starts=6)
    assert {one.stable for one in everything} == {True, False}
    assert len(everything) == 2 or rack


def test_a_geared_rotor_that_nothing_holds_runs_away() -> None:
    mech = geared(1000.0)
    mech.gravity = np.zeros(3)
    with pytest.raises(lw.EquilibriumError, match="runs away"):
        lw.equilibrium(mech, inputs={"A": 1.0})


# ---- dead points of what is held ----


def slider_crank() -> lw.Mechanism:
    """Stretched along x at the start."""
    mech = lw.Mechanism("slider_crank")
    for name, length in (("crank", 0.2), ("rod", 0.6)):
        mech.add_body(name, mass=1.0, com=(length / 2, 0, 0), inertia=lw.inertia.rod(1.0, length))
    mech.add_body("piston", mass=1.0, com=(0, 0, 0), inertia=lw.inertia.sphere(1.0, 0.05))
    mech.add_joint("A", HINGE, "ground", "crank", at=(0, 0, 0))
    mech.add_joint("B", HINGE, "crank", "rod", parent_frame=lw.Frame((0.2, 0, 0)))
    mech.add_joint("C", HINGE, "rod", "piston", parent_frame=lw.Frame((0.6, 0, 0)))
    mech.add_joint("S", lw.Prismatic((1, 0, 0)), "ground", "piston", parent_frame=HERE)
    return mech


def pointed(axis: tuple[int, int, int], angle: float) -> lw.Mechanism:
    mech = lw.Mechanism("pointed")
    mech.add_body("rod", mass=2.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(2.0, 1.0))
    mech.add_joint("A", lw.Revolute(axis), "ground", "rod", at=(0, 0, 0))
    mech.add_point("tip", "rod", (1, 0, 0))
    mech.start(q={"A": angle})
    return mech


@pytest.mark.parametrize(
    ("mech", "given"),
    [
        (slider_crank(), {"hold": ["S"]}),
        (slider_crank(), {"hold": {"S": 0.8}}),
        (slider_crank(), {"hold": {"S": 0.4}}),
        (slider_crank(), {"hold": {"S": 0.8}, "motors": ["S"]}),
        (pointed((0, 1, 0), 0.0), {"hold": ["tip.r[1]"]}),
        (pointed((0, 1, 0), 0.0), {"hold": {"tip.r[1]": 1.0}}),
    ],
)
def test_no_load_holds_a_dead_point_against_forces(mech: lw.Mechanism, given: dict[str, Any]) -> None:
    text = "no motor works along" if "motors" in given else "no load on .* holds this pose, a dead point: .*'A'"
    with pytest.raises(lw.EquilibriumError, match=text) as refused:
        lw.equilibrium(mech, **given)
    assert refused.value.result is not None


def test_a_dead_point_in_which_forces_are_balanced_is_held() -> None:
    mech = slider_crank()
    mech.gravity = np.array([G, 0, 0])
    assert lw.equilibrium(mech, hold={"S": 0.8}).holding["S"] == pytest.approx(0.0, abs=1e-9)


@pytest.mark.thin(5)
@pytest.mark.parametrize("axis", [(0, 1, 0), (0, 0, 1)])
@pytest.mark.parametrize("quarter", range(4))
@pytest.mark.parametrize("value", [0.5, -0.2])
def test_what_is_held_is_reached_from_a_pose_in_which_it_cannot_begin_to_move(
    axis: tuple[int, int, int], quarter: int, value: float
) -> None:
    for k in (1, 2 if axis[2] else 3):
        found = lw.equilibrium(pointed(axis, quarter * np.pi / 2), hold={f"tip.r[{k}]": value})
        assert found[f"tip.r[{k}]"] == pytest.approx(value, abs=1e-12)
        assert found.residual < 1e-12
    with pytest.raises(lw.AssemblyError, match="no closed pose with"):
        lw.equilibrium(pointed(axis, quarter * np.pi / 2), hold={"tip.r[1]": 1.5})


@pytest.mark.slow
def test_the_nearest_value_that_a_closed_pose_has() -> None:
    """Of a slide it is where crank and rod are in line, one way or the other; of a rocker likewise."""
    slide = linkages.slider_crank(0.1, 0.3, 0.0, {"A": -0.8})
    rocker = linkages.four_bar(0.4, 1.0, 0.8, 0.9, {"A": 0.5})
    greatest, least = (np.arccos((0.9**2 + 0.8**2 - length**2) / (2 * 0.9 * 0.8)) for length in (1.4, 0.6))
    cases = ((slide, "S", 5.0, 0.4), (slide, "S", -3.0, -0.4), (slide, "S", 0.1, 0.2))
    for mech, name, asked, nearest in (*cases, (rocker, "D", 2.9, greatest), (rocker, "D", 0.2, least)):
        with pytest.raises(lw.AssemblyError, match=f"; the nearest has {name} = {nearest:.6g}$"):
            lw.equilibrium(mech, hold={name: asked}, motors=[name])


# ---- stops ----


def test_a_pendulum_rests_on_a_stop_with_the_load_of_its_weight() -> None:
    for lower, upper, bound, sign in ((-2.0, 1.0, 1.0, -1.0), (2.0, 4.0, 2.0, 1.0)):
        mech = pendulum()
        mech.start(q={"A0": 0.0 if lower < 0 else 2.1})
        mech.add_transition("buffer", lw.Stop("A0", lower=lower, upper=upper))
        found = lw.equilibrium(mech)
        balanced(found)
        assert found.state["A0.q"] == pytest.approx(bound, abs=1e-13)
        torque = -2.0 * G * 0.5 * np.cos(bound)
        assert np.sign(torque) == sign
        assert found.contacts == {"buffer": pytest.approx(torque, rel=1e-12)}
        assert found.stable is True


def test_a_stop_that_would_have_to_pull_is_left() -> None:
    mech = pendulum()
    mech.start(q={"A0": 0.0})
    mech.add_transition("buffer", lw.Stop("A0", lower=0.0, upper=2.5))
    found = lw.equilibrium(mech)
    assert found.contacts == {}
    assert found.state["A0.q"] == pytest.approx(np.pi / 2)


def test_a_double_pendulum_rests_on_the_stop_of_its_elbow() -> None:
    mech = pendulum(2)
    mech.start(q={"A0": 1.0, "A1": 1.0})
    mech.add_transition("elbow", lw.Stop("A1", lower=0.5))
    found = lw.equilibrium(mech)
    balanced(found)
    first = found.state["A0.q"]
    assert 3.0 * np.cos(first) + np.cos(first + 0.5) == pytest.approx(0.0, abs=1e-12)
    assert found.contacts["elbow"] == pytest.approx(-2.0 * G * 0.5 * np.cos(first + 0.5))
    assert found.contacts["elbow"] > 0.0


def test_a_stop_in_the_joint_that_closes_a_loop() -> None:
    mech, _ = six_bar(np.random.default_rng(0))
    model = lw.compile(mech)
    joint = model.loop_names[0]
    free = lw.equilibrium(mech)
    start = float(model.assemble()[f"{joint}.q"])
    at = start + 0.5 * (float(free.state[f"{joint}.q"]) - start)
    limits = {"lower": at} if at < start else {"upper": at}
    mech.add_transition("buffer", lw.Stop(joint, **limits))
    found = lw.equilibrium(mech)
    balanced(found, 1e-9)
    assert found.state[f"{joint}.q"] == pytest.approx(at, abs=1e-10)
    assert np.sign(found.contacts["buffer"]) == (1.0 if at < start else -1.0)


# ---- steady motion ----


def governor(ball: float, sleeve: float, length: float) -> lw.Mechanism:
    """Porter's: balls at the elbows of a rhombus of massless links between the shaft's top and a sleeve."""
    mech = lw.Mechanism("governor")
    mech.add_body("shaft", mass=1.0, com=(0, 0, 0), inertia=lw.inertia.sphere(1.0, 0.05))
    mech.add_body("sleeve", mass=sleeve, com=(0, 0, 0), inertia=lw.inertia.sphere(sleeve, 0.05))
    mech.add_joint("spin", lw.Revolute((0, 0, 1)), "ground", "shaft", parent_frame=HERE)
    mech.add_joint("lift", lw.Prismatic((0, 0, 1)), "shaft", "sleeve", parent_frame=HERE)
    for name, sign in (("left", 1.0), ("right", -1.0)):
        end = (0.0, 0.0, -length)
        mech.add_body(f"{name}_arm", mass=ball, com=end, inertia=lw.inertia.sphere(ball, 0.03))
        mech.add_body(f"{name}_link", mass=0.0, com=(0, 0, 0), inertia=POINT)
        hinge = lw.Revolute((0, -sign, 0))
        mech.add_joint(f"{name}_top", hinge, "shaft", f"{name}_arm", parent_frame=HERE)
        mech.add_joint(f"{name}_elbow", hinge, f"{name}_arm", f"{name}_link", parent_frame=lw.Frame(end))
        mech.add_joint(f"{name}_foot", hinge, "sleeve", f"{name}_link", child_frame=lw.Frame(end))
    angle = 0.5
    arms = {f"{name}_top": angle for name in ("left", "right")} | {
        f"{name}_elbow": -2 * angle for name in ("left", "right")
    }
    mech.start(q=arms | {"lift": -2 * length * np.cos(angle)})
    return mech


@pytest.mark.parametrize("driven", [True, False])
def test_a_governor_stands_at_the_height_of_its_closed_form(driven: bool) -> None:
    ball, sleeve, length, speed = 0.8, 3.0, 0.25, 18.0
    mech = governor(ball, sleeve, length)
    if driven:
        mech.prescribe("spin", lw.Motion((0.0, speed)), "motor")
    found = lw.equilibrium(mech) if driven else lw.equilibrium(mech, speeds={"spin": speed})
    height = (ball + sleeve) * G / (ball * speed**2)  # m w^2 h = (m + M) g
    assert found.state["lift.q"] == pytest.approx(-2 * height, rel=1e-12)
    assert found.state["spin.u"] == pytest.approx(speed)
    assert found.stable is True
    balanced(found, 1e-9)


def test_a_conical_pendulum_has_the_frequency_of_the_books() -> None:
    length, speed = 0.5, 7.0
    mech = lw.Mechanism("conical")
    mech.add_body("shaft", mass=1.0, com=(0, 0, 0), inertia=lw.inertia.sphere(1.0, 0.05))
    mech.add_body("bob", mass=1.0, com=(0, 0, -length), inertia=POINT)
    mech.add_joint("spin", lw.Revolute((0, 0, 1)), "ground", "shaft", parent_frame=HERE)
    mech.add_joint("swing", HINGE, "shaft", "bob", parent_frame=HERE)
    mech.start(q={"swing": -0.2})
    mech.add_force(lw.SpringDamper("spin", damping=0.01))
    found = lw.equilibrium(mech, speeds={"spin": speed})
    cosine = G / (length * speed**2)
    assert np.cos(found.state["swing.q"]) == pytest.approx(cosine, rel=1e-12)
    assert found.frequencies * 2 * np.pi == pytest.approx([speed * np.sqrt(1 - cosine**2)], rel=1e-9)
    assert found.holding["spin"] == pytest.approx(0.01 * speed)
    below = lw.equilibrium(mech, speeds={"spin": 3.0})
    assert below.state["swing.q"] == pytest.approx(0.0, abs=1e-12)


def test_what_turns_against_gravity_has_no_steady_motion() -> None:
    with pytest.raises(lw.EquilibriumError, match=r"no steady motion.*'A0' moves on"):
        lw.equilibrium(pendulum(2), speeds={"A0": 2.0})
    mech, _ = six_bar(np.random.default_rng(0))
    mech.prescribe("A", lw.Motion((0.5, 2.0)), "motor")
    with pytest.raises(lw.EquilibriumError, match="no steady motion"):
        lw.equilibrium(mech)


# ---- bad input ----


def test_what_spins_freely_is_named() -> None:
    mech = pendulum()
    mech.add_body("disk", mass=1.0, com=(0, 0, 0), inertia=lw.inertia.disk(1.0, 0.1))
    mech.add_joint("axle", lw.Revolute((0, 0, 1)), "ground", "disk", parent_frame=HERE)
    found = lw.equilibrium(mech)
    assert found.stable is None
    assert found.free == ("'axle'",)
    assert "free" in repr(found)


def test_what_runs_away_is_named_and_its_last_pose_kept() -> None:
    mech = lw.Mechanism("incline")
    mech.add_body("block", mass=1.0, com=(0, 0, 0), inertia=lw.inertia.sphere(1.0, 0.1))
    mech.add_joint("slope", lw.Prismatic((1, 0, -1)), "ground", "block", parent_frame=HERE)
    with pytest.raises(lw.EquilibriumError, match="'slope' runs away") as error:
        lw.equilibrium(mech)
    assert error.value.result.state["slope.q"] > 1e3
    assert error.value.result.residual > 0.1
    with pytest.raises(lw.EquilibriumError, match="'A0' runs away"):
        lw.equilibrium(pendulum(), inputs={"A0": 20.0})
    mech.add_transition("buffer", lw.Stop("slope", upper=2.0))
    found = lw.equilibrium(mech)
    balanced(found)
    assert found.contacts["buffer"] == pytest.approx(-G / np.sqrt(2))


def test_unknown_names_and_values_that_cannot_be_are_refused() -> None:
    mech, _ = six_bar(np.random.default_rng(0))
    for options, text in (
        ({"hold": {"AA": 1.0}}, "did you mean|known are"),
        ({"motors": ["motor"]}, "no motor 'motor'"),
        ({"inputs": {"X": 1.0}}, "X"),
        ({"speeds": {"AA": 1.0}}, "AA"),
    ):
        with pytest.raises(lw.UnknownNameError, match=text):
            lw.equilibrium(mech, **options)
    for options, text in (
        ({"hold": {"A": np.nan}}, "hold: 'A'"),
        ({"hold": "A", "motors": []}, "motors names none"),
        ({"motors": ["A", "A"]}, "twice"),
        ({"seek": "best"}, "seek"),
        ({"q": {"A": 0.1}, "state": lw.compile(mech).assemble()}, "not both"),
        ({"hold": {"f.Q": 0.0}}, "orientation"),
    ):
        with pytest.raises(lw.MechanismError, match=text):
            lw.equilibrium(mech, **options)
    with pytest.raises(lw.AssemblyError, match=r"hold: no closed pose with D = 3 was found; the nearest has D ="):
        lw.equilibrium(mech, hold={"D": 3.0})
    with pytest.raises(lw.MechanismError, match="starts"):
        lw.equilibria(mech, starts=0)
    with pytest.raises(lw.MechanismError, match="seed must be a whole number of at least 0"):
        lw.equilibria(mech, seed=-1)
    mech.add_transition("buffer", lw.Stop("A", upper=1.0))
    with pytest.raises(lw.MechanismError, match="beyond a bound of stop 'buffer'"):
        lw.equilibrium(mech, hold={"A": 1.5})


def test_a_rod_on_a_ball_joint_spins_freely_and_hangs_or_stands() -> None:
    mech = lw.Mechanism("ball")
    mech.add_body("rod", mass=1.0, com=(0, 0, -0.5), inertia=lw.inertia.rod(1.0, 1.0, axis="z"))
    mech.add_joint("S", lw.Spherical(), "ground", "rod", parent_frame=HERE)
    mech.start(q={"S": (0.8, 0.6, 0, 0)})
    found = lw.equilibrium(mech)
    assert found.free == ("'S[3]'",)
    assert found.stable is None
    swing = np.sqrt(1.5 * G) / (2 * np.pi)
    assert sorted(found.frequencies)[-2:] == pytest.approx([swing, swing])
    both = lw.equilibria(mech, starts=8)
    assert [one.energy for one in both] == pytest.approx([-0.5 * G, 0.5 * G])
    assert both[1].stable is False
    # a constant torque about an axis of the body has no potential: one pose balances it
    turned = lw.equilibrium(mech, inputs={"S[1]": 1.0})
    assert turned.residual < 1e-12
    axis = turned.model.pose(turned.state, "rod").rotation[:, 2]
    assert 0.5 * G * np.sqrt(1 - axis[2] ** 2) == pytest.approx(1.0)


def test_what_has_no_mass_has_no_mode_of_its_own() -> None:
    """A mass on two springs in series, of which the point between has no mass; a third direction has nothing at all."""
    first, second = 30.0, 60.0
    mass = np.diag([0.0, 2.0, 0.0])
    stiffness = np.array([[first + second, -second, 0.0], [-second, second, 0.0], [0.0, 0.0, 0.0]])
    found = small_motions(mass, np.zeros((3, 3)), stiffness, 1.0)
    assert found.frequencies == pytest.approx([np.sqrt(20.0 / 2.0) / (2 * np.pi)])
    np.testing.assert_allclose(found.eigenvalues.imag, [-np.sqrt(10), np.sqrt(10)])
    np.testing.assert_allclose(found.modes[:, 0] / found.modes[1, 0], [2 / 3, 1, 0], atol=1e-12)
    np.testing.assert_allclose(np.abs(found.free[:, 0]), [0, 0, 1], atol=1e-12)
    assert found.stable is None


def test_gyroscopic_forces_keep_what_stands_on_a_hill() -> None:
    """A point on a hill that turns: (s^2 - 2)^2 + 4 w^2 s^2 = 0; fast enough, it neither leaves nor comes back."""
    for speed, stable in ((3.0, None), (1.2, False)):
        damping = 2 * speed * np.array([[0.0, -1.0], [1.0, 0.0]])
        found = small_motions(np.eye(2), damping, -2.0 * np.eye(2), 1.0)
        roots = np.roots([1.0, 0.0, 4 * speed**2 - 4.0, 0.0, 4.0])
        np.testing.assert_allclose(sorted(found.eigenvalues.imag), sorted(roots.imag), atol=1e-6)
        np.testing.assert_allclose(sorted(found.eigenvalues.real), sorted(roots.real), atol=1e-6)
        assert found.stable is stable


def test_a_latch_that_is_closed_stays_closed() -> None:
    mech = pendulum(2)
    mech.start(q={"A0": 0.2, "A1": 0.7})
    mech.add_transition("latch", lw.Lock("A1"), when=lw.Time(5.0))
    model = lw.compile(mech)
    locked = model.jump(model.assemble(), ["latch"]).state
    found = lw.equilibrium(model, state=locked)
    balanced(found)
    first = found.state["A0.q"]
    assert found.state["A1.q"] == pytest.approx(0.7)
    assert 3.0 * np.cos(first) + np.cos(first + 0.7) == pytest.approx(0.0, abs=1e-12)


def test_two_stops_at_once_hold_what_a_simulation_leaves_at_rest() -> None:
    mech = pendulum(2)
    mech.start(q={"A0": 0.2, "A1": 0.4})
    mech.add_transition("shoulder", lw.Stop("A0", upper=0.9))
    mech.add_transition("elbow", lw.Stop("A1", lower=0.1, upper=0.5, restitution=0.4))
    found = lw.equilibrium(mech)
    balanced(found)
    torques = 2.0 * G * 0.5 * np.array([3 * np.cos(0.9) + np.cos(1.4), np.cos(1.4)])
    assert list(found.contacts.values()) == pytest.approx(list(-torques))
    run = lw.simulate(found.model, 0.3, state=found.state)
    assert np.ptp(run["A0.q"]) < 1e-12
    assert np.ptp(run["A1.q"]) < 1e-12


@pytest.mark.thin(2)
@pytest.mark.parametrize("name", ["RCCC", "closed_chain_8R", "stewart", "sarrus_6R", "tangled_2"])
def test_a_damped_motion_ends_in_a_pose_that_the_search_keeps(name: str) -> None:
    """A simulation with strong dampers knows nothing of the search."""
    mech = tied(name, 5).mechanism
    sprung = {getattr(force, "joint", None) for force in mech.forces}
    for joint, one in mech.joints.items():
        if one.kind.nu and joint not in sprung:
            mech.add_force(lw.SpringDamper(joint, damping=[3.0] * one.kind.nu if one.kind.nu > 1 else 3.0))
    run = lw.simulate(mech, 100.0, solver="Radau", rtol=1e-7, t_eval=[0.0, 100.0])
    final = run.state(100.0)
    model = run.model
    found = lw.equilibrium(model, state=final)
    balanced(found, 1e-9)
    assert found.energy <= model.energy(final).potential + 1e-9
    assert found.energy == pytest.approx(model.energy(final).potential, abs=1e-3)
    for body in mech.bodies:
        np.testing.assert_allclose(model.point(found.state, body), model.point(final, body), atol=1e-2)
    assert found.eigenvalues.real.max() < 0.0


def test_inputs_found_and_given_are_each_named_once() -> None:
    mech = pendulum()
    for given in ("A0", "A0.tau"):
        found = lw.equilibrium(mech, inputs={given: 1.0}, hold={"A0": 0.0}, motors=["A0.tau"])
        balanced(found)
        assert list(found.inputs.values()) == pytest.approx([-G])
        assert found.motor_loads["A0.tau"] == pytest.approx(-G - 1.0)
    ball = lw.Mechanism("ball")
    ball.add_body("bob", mass=1.0, com=(0.3, 0, -0.5), inertia=lw.inertia.sphere(1.0, 0.1))
    ball.add_joint("S", lw.Spherical(), "ground", "bob", parent_frame=HERE)
    found = lw.equilibrium(ball, inputs={"S[2]": 0.2}, motors=["S"])
    balanced(found)
    assert list(found.inputs) == ["S"]
    np.testing.assert_allclose(found.inputs["S"], [0.0, -0.3 * G, 0.0], atol=1e-12)
    with pytest.raises(lw.EquilibriumError, match=r"no motor works along 'S\[") as error:
        lw.equilibrium(ball, inputs={"S": (0.1, 0.2, 0.3)}, motors=["S[2]"])
    np.testing.assert_allclose(error.value.result.inputs["S"], [0.1, -0.3 * G, 0.3], atol=1e-9)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"inputs": {"A0": 1e308}}, "too large for finite forces"),
        ({"hold": ["A0"], "speeds": {"A0": 1.0}}, "'A0' is in hold and in speeds"),
    ],
)
@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid")
def test_what_was_no_rest_is_refused(given: dict[str, Any], text: str) -> None:
    with pytest.raises(lw.LinkworkError, match=text):
        lw.equilibrium(pendulum(), **given)


def test_what_falls_is_said_to_be_held_by_nothing() -> None:
    mech = lw.Mechanism("falls")
    mech.add_body("body", mass=1.0, com=(0, 0, 0), inertia=lw.inertia.sphere(1.0, 0.1))
    mech.add_joint("F", lw.Free(), "ground", "body", at=(0, 0, 0))
    with pytest.raises(lw.EquilibriumError, match=r"nothing holds 'F\[6\]'"):
        lw.equilibrium(mech)


def upright(rods: int, stiffness: float) -> lw.Mechanism:
    """Rods of 2 kg and 1 m in a row upward, springs in their hinges relaxed there."""
    mech = lw.Mechanism("strut")
    for k in range(rods):
        mech.add_body(f"rod{k}", mass=2.0, com=(0, 0, 0.5), inertia=lw.inertia.rod(2.0, 1.0, axis="z"))
        base = (f"rod{k - 1}", lw.Frame((0, 0, 1))) if k else ("ground", HERE)
        mech.add_joint(f"A{k}", HINGE, base[0], f"rod{k}", parent_frame=base[1])
        mech.add_force(lw.SpringDamper(f"A{k}", stiffness=stiffness))
    return mech


@pytest.mark.parametrize("rods", [1, *(pytest.param(rods, marks=pytest.mark.slow) for rods in (2, 3))])
def test_a_strut_at_its_critical_stiffness_has_one_marginal_pose(rods: int) -> None:
    """The largest eigenvalue of the second derivative of the weight's potential by relative angles."""
    moments = 2.0 * G * (rods - np.arange(rods) - 0.5)  # by absolute angles
    absolute = np.tril(np.ones((rods, rods)))
    critical = float(np.linalg.eigvalsh(absolute.T @ np.diag(moments) @ absolute)[-1])
    for start in (0.0, 0.3, -1.0):
        found = lw.equilibrium(upright(rods, critical), q={"A0": start})
        assert np.abs(np.asarray(found.state.q)).max() < 1e-6
        assert found.stable is None
    poses = lw.equilibria(upright(rods, critical), starts=6)
    upward = [one for one in poses if np.abs(np.asarray(one.state.q)).max() < 1e-3]
    assert [one.stable for one in upward] == [None]
    (above,) = [one for one in lw.equilibria(upright(rods, 1.01 * critical), starts=3) if abs(one["A0.q"]) < 1e-3]
    assert above.stable
    below = lw.equilibrium(upright(rods, 0.99 * critical), q={"A0": 0.3})
    assert below.stable
    assert abs(below["A0.q"]) > 0.05
