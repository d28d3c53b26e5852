"""Distances on random trees, in closed forms, as rods with mass, and over time."""

import numpy as np
import pytest

import linkwork as lw
from linkwork.model.mobility import degrees_of_freedom
from support.cases import windows
from support.driving import by_joint, largest_difference
from support.methods import CLUSTER_METHODS, METHODS_OF_DISTANCES, compiled
from support.random_mechanisms import well_posed
from support.spanned import SPANNED, chain, spanned, tree, world_point

Y, BALL = (0, 1, 0), lw.inertia.sphere(2.0, 0.05)


@pytest.fixture(scope="module", params=SPANNED)
def scene(request):
    return well_posed(SPANNED[request.param], seed=1)


@pytest.fixture(params=METHODS_OF_DISTANCES)
def method(request):
    return request.param


def reached(scene, method):
    system = compiled(scene.mechanism, method)
    return system, system.assemble(q=scene.q, u=scene.u)


def forces(system, state, tau=None):
    return {name: float(system.value(f"{name}.force", state, tau=tau)) for name in system.distance_names}


@pytest.mark.thin(4)
@pytest.mark.parametrize("seed", range(20))
def test_random_trees(seed):
    rng = np.random.default_rng(seed)
    letters = "".join(rng.choice(list("RRRPUSCEOF"), 6))
    scene = well_posed(spanned((chain if seed % 2 else tree)("R" + letters), 1 + seed % 3), seed)
    solution = scene.oracle.solve(scene.u)
    for method in METHODS_OF_DISTANCES:
        system, state = reached(scene, method)
        assert largest_difference(by_joint(system, system.accelerations(state)), solution.udot) < 1e-10
        assert largest_difference(forces(system, state), solution.tension) < 1e-10


@pytest.mark.thin(8, kept=2)
@pytest.mark.parametrize("method", CLUSTER_METHODS)
def test_perturbed_guesses(scene, method):
    """Lengths, loops and couplings are found again, with speeds that keep them."""
    rng = np.random.default_rng(7)
    system = compiled(scene.mechanism, method)
    start = {name: q + rng.uniform(-0.1, 0.1, np.shape(q)) for name, q in scene.q.items()}
    state = system.assemble(q=start, u=scene.u)
    assert np.abs(system.distance_residual(state)).max() < 1e-11
    assert np.abs(system.coupling_residual(state)).max(initial=0.0) < 1e-10
    assert np.abs(system.loop_residual(state)).max(initial=0.0) < 1e-11
    derivative, n, h = system.derivatives(state), len(state.q), 1e-4

    def residual(step):
        return system.distance_residual(state.q + step * derivative[:n], state.u)

    assert np.abs(residual(h) - residual(-h)).max() / (2 * h) < 1e-4


@pytest.mark.parametrize("size", [1e-3, 1e3])
def test_any_size(size):
    """A four-bar whose coupler is a distance, small and large: angles do not change with all lengths and gravity."""
    expected = lw.simulate(cranks(1.0), 1.0, rtol=1e-9, t_eval=[0.0, 1.0])
    found = lw.simulate(cranks(size), 1.0, rtol=1e-9, t_eval=[0.0, 1.0])
    for name in ("A.q", "B.q"):
        assert found[name][-1] == pytest.approx(expected[name][-1], abs=1e-6)


# ---- closed forms ----


def bob(angle=0.5, rate=0.7, length=0.8):
    """A ball on a rod: a pendulum of two directions in the world."""
    mech = lw.Mechanism("bob")
    mech.add_body("ball", mass=2.0, com=(0, 0, 0), inertia=BALL)
    mech.add_joint("F", lw.Free(), "ground", "ball", at=(0, 0, 0))
    mech.add_distance("rod", bodies=("ground", "ball"), points=((0, 0, 0), (0, 0, 0)), length=length)
    s, c = np.sin(angle), np.cos(angle)
    speed = length * rate * np.array([c, 0, s])
    mech.start(q={"F": [length * s, 0, -length * c, 1, 0, 0, 0]}, u={"F": [0, 0, 0, *speed]})
    return mech


def test_a_ball_on_a_rod(method):
    angle, rate, length = 0.5, 0.7, 0.8
    system = compiled(bob(angle, rate, length), method)
    state = system.assemble()
    turn = -9.81 / length * np.sin(angle)
    along, across = np.array([np.sin(angle), 0, -np.cos(angle)]), np.array([np.cos(angle), 0, np.sin(angle)])
    expected = length * (turn * across - rate**2 * along)
    assert system.accelerations(state) == pytest.approx([0, 0, 0, *expected], abs=1e-13)
    assert forces(system, state)["rod"] == pytest.approx(2.0 * (9.81 * np.cos(angle) + length * rate**2), rel=1e-14)


@pytest.mark.parametrize("method", [*CLUSTER_METHODS, "multipliers"])
def test_a_pendulum_keeps_energy_and_length(method):
    system = lw.compile(bob(2.0, 1.0), method)
    result = lw.simulate(system, 10.0, rtol=1e-10, t_eval=np.linspace(0, 10, 101))
    total = result["energy.kinetic"] + result["energy.potential"]
    assert np.abs(total - total[0]).max() < 1e-7
    assert np.abs(result["rod.residual"]).max() < 1e-8


def test_slider_crank_with_a_driven_crank(method):
    """Crank, rod and slider: the rod is a distance, the crank turns as prescribed."""
    r, length, rate = 0.2, 0.7, 3.0
    mech = lw.Mechanism("slider_crank", gravity=(0, 0, 0))
    mech.add_body("crank", mass=1.0, com=(0.1, 0, 0), inertia=BALL)
    mech.add_body("slider", mass=2.0, com=(0, 0, 0), inertia=BALL)
    mech.add_joint("A", lw.Revolute(Y), "ground", "crank", at=(0, 0, 0))
    mech.add_joint("P", lw.Prismatic((1, 0, 0)), "ground", "slider", at=(0, 0, 0))
    mech.add_distance("rod", bodies=("crank", "slider"), points=((r, 0, 0), (0, 0, 0)), length=length)
    mech.prescribe("A", lw.Motion((0.4, rate)))
    mech.start(q={"P": 0.9})
    system = compiled(mech, method)
    state = system.assemble(time=0.1)
    angle = 0.4 + 0.1 * rate
    s, c = np.sin(angle), np.cos(angle)
    reach = np.sqrt(length**2 - (r * s) ** 2)
    place = r * c + reach
    speed = -r * s * rate - r**2 * s * c * rate / reach
    acceleration = -r * c * rate**2 - rate**2 * r**2 * ((c * c - s * s) / reach + (r * s * c) ** 2 / reach**3)
    assert (state["P.q"], state["P.u"]) == pytest.approx((place, speed), rel=1e-10)
    assert by_joint(system, system.accelerations(state))["P"] == pytest.approx(acceleration, rel=1e-9)
    force = -2.0 * acceleration * length / reach  # the slider is pulled back along the rod
    assert forces(system, state)["rod"] == pytest.approx(force, rel=1e-9)


def test_a_structure_of_rods():
    """A plate on three rods in a plane stands still: forces by statics."""
    mech = lw.Mechanism("plate")
    mech.add_body("plate", mass=3.0, com=(0, 0, 0), inertia=BALL)
    mech.add_joint("E", lw.Planar(Y), "ground", "plate", at=(0, 0, 0))
    feet = np.array([[-1.0, 0, -1.0], [1.0, 0, -1.0], [1.5, 0, -1.0]])
    tops = np.array([[-0.5, 0, 0], [0.5, 0, 0], [0.5, 0, 0.2]])
    for k in range(3):
        mech.add_distance(f"d{k}", bodies=("ground", "plate"), points=(feet[k], tops[k]))
    for method in METHODS_OF_DISTANCES:
        system = compiled(mech, method)
        state = system.assemble()
        assert degrees_of_freedom(system, state) == 0
        assert system.accelerations(state) == pytest.approx(np.zeros(3), abs=1e-10)
        n = (feet - tops) / np.linalg.norm(feet - tops, axis=1)[:, None]
        balance = np.array([n[:, 0], n[:, 2], tops[:, 2] * n[:, 0] - tops[:, 0] * n[:, 2]])
        expected = np.linalg.solve(balance, [0.0, 3.0 * 9.81, 0.0])
        assert [*forces(system, state).values()] == pytest.approx(list(expected), abs=1e-9)


# ---- rods with mass ----


def test_the_limit_of_a_light_rod(method):
    """Two arms in space: a rod of 1e-9 kg with a universal and a ball joint, or a distance."""
    ends = np.array([[0.4, 0.1, 0.3], [0.9, 0.5, 0.2]])

    def arms():
        mech = lw.Mechanism("arms")
        for name, at, axis in (("a", (0, 0, 0), (0, 1, 0.3)), ("b", (1.2, 0.2, 0), (0.2, 1, -0.4))):
            com, spread = 0.5 * (ends[int(name == "b")] - at), np.diag([0.1, 0.12, 0.08])
            mech.add_body(name, mass=1.5, com=com, inertia=spread, origin=at)
            mech.add_joint(f"J{name}", lw.Revolute(axis), "ground", name, at=at)
        mech.add_body("c", mass=0.7, com=(0.1, 0, 0), inertia=np.diag([0.02, 0.03, 0.04]), origin=ends[1])
        mech.add_joint("Jc", lw.Universal((1, 0, 0), (0, 0, 1)), "b", "c", at=ends[1])
        return mech

    tip = ends[1] + np.array([0.2, 0.1, 0.3])
    with_rod, with_distance = arms(), arms()
    along = tip - ends[0]
    aside = np.cross(along, (0, 0, 1))
    small = 1e-9 * (np.eye(3) * (along @ along) - np.outer(along, along)) / 12 + 1e-12 * np.eye(3)
    with_rod.add_body("rod", mass=1e-9, com=along / 2, inertia=small, origin=ends[0])
    with_rod.add_joint("U", lw.Universal(aside, np.cross(along, aside)), "a", "rod", at=ends[0])
    with_rod.add_joint("S", lw.Spherical(), "rod", "c", at=tip, cut=True)
    with_distance.add_distance("rod", bodies=("a", "c"), points=(ends[0], tip - ends[1]))
    given = {"q": {"Ja": 0.0, "Jc": (0.0, 0.0)}, "u": {"Ja": 1.0, "Jc": (0.3, -0.7)}}
    system, real = compiled(with_distance, method), lw.compile(with_rod)
    state, other = system.assemble(**given), real.assemble(**given)
    for name in ("Ja", "Jb", "Jc"):
        assert state[f"{name}.u"] == pytest.approx(other[f"{name}.u"], abs=1e-10)
    found, expected = by_joint(system, system.accelerations(state)), by_joint(real, real.accelerations(other))
    for name in ("Ja", "Jb", "Jc"):
        assert found[name] == pytest.approx(expected[name], abs=1e-6), name
    force = by_joint_wrench(real, other, "S")[3:]  # of the rod on c
    assert forces(system, state)["rod"] == pytest.approx(-force @ along / np.linalg.norm(along), rel=1e-6)


def by_joint_wrench(system, state, joint):
    return dict(system.by_joint(system.reactions(state)))[joint]


# ---- over time ----


def cranks(size=1.0):
    """Two cranks joined by a distance."""
    mech = lw.Mechanism("cranks", gravity=(0, 0, -9.81 * size))
    for name, at, r in (("A", 0.0, 0.3), ("B", 1.0, 0.5)):
        inertia = lw.inertia.rod(1.0, r * size, axis="x")
        mech.add_body(f"of_{name}", mass=1.0, com=(r * size / 2, 0, 0), inertia=inertia)
        frame = lw.Frame((at * size, 0, 0))
        mech.add_joint(name, lw.Revolute(Y), "ground", f"of_{name}", parent_frame=frame)
    points = ((0.3 * size, 0, 0), (0.5 * size, 0, 0))
    mech.add_distance("rod", bodies=("of_A", "of_B"), points=points, length=1.1 * size)
    mech.start(q={"A": -1.3, "B": -1.2}, u={"A": 6.0})
    return mech


def test_methods_agree_over_time():
    found = [
        lw.simulate(lw.compile(cranks(), m), 2.0, rtol=1e-10, t_eval=[0.0, 2.0])["B.q"][-1]
        for m in ("rcr", "embedding", "multipliers", "dca")
    ]
    assert found == pytest.approx(found[:1] * 4, abs=1e-7)


def test_points_are_where_they_are_given():
    scene = well_posed(SPANNED["three in a tree"], 2)
    for given in scene.mechanism.distances.values():
        ends = [
            world_point(scene, body, np.array(point)) for body, point in zip(given.bodies, given.points, strict=True)
        ]
        assert np.linalg.norm(ends[1] - ends[0]) == pytest.approx(given.length, rel=1e-15)


@pytest.mark.parametrize("method", CLUSTER_METHODS)
def test_a_cluster_too_large_for_one_matrix(method):
    """Assembled loop by loop, from a guess, at speeds that the distance allows."""
    case = windows(75)
    mech, last = case.mechanism, list(case.mechanism.bodies)[-1]
    free = lw.compile(mech).assemble(q=case.q)
    foot = free[f"{last}.r"] + (0.3, 0.5, 0.4)
    mech.add_distance("rod", bodies=("ground", last), points=(foot, (0, 0, 0)), length=np.sqrt(0.5))
    system = compiled(mech, method)
    guess = {name: q + 1e-3 * np.sin(k) for k, (name, q) in enumerate(case.q.items())}
    state = system.assemble(q=guess, u=case.u)
    assert np.abs(system.distance_residual(state)).max() < 1e-12
    assert np.abs(system.loop_residual(state)).max() < 1e-11
    line = state[f"{last}.r"] - foot
    assert line @ state[f"{last}.v"] == pytest.approx(0.0, abs=1e-9)


def test_parameters_take_effect():
    system = lw.compile(bob())
    block = system.block()
    place = {variable.name: variable.reference for variable in system.variables}
    block.reals[place["rod.length"]] = 1.5
    block.reals[place["rod.points[1,3]"]] = 0.25
    block.assemble(1e-10)
    assert np.linalg.norm(block["q"][:3] - (0, 0, 0.25)) == pytest.approx(1.5, rel=1e-12)
    assert block["coupling_residual"] == pytest.approx([0.0], abs=1e-12)


# ---- what cannot hold ----


def refused(mech, **start):
    messages = set()
    for method in ("rcr", "embedding", "multipliers", "dca"):
        with pytest.raises(lw.AssemblyError) as error:
            lw.compile(mech, method).assemble(**start)
        messages.add(str(error.value))
    assert len(messages) == 1
    return messages.pop()


def arm(length):
    """A hinged arm of 1 m and a distance from its tip to a point 2 m from the hinge."""
    mech = lw.Mechanism("arm")
    mech.add_body("arm", mass=1.0, com=(0.5, 0, 0), inertia=BALL)
    mech.add_joint("A", lw.Revolute(Y), "ground", "arm", at=(0, 0, 0))
    mech.add_distance("rod", bodies=("ground", "arm"), points=((2, 0, 0), (1, 0, 0)), length=length)
    return mech


class TestWhatCannotHold:
    def test_too_long(self):
        message = refused(arm(3.5))
        assert "distance 'rod' cannot be kept" in message
        assert "0.5 m too close" in message
        assert "check its length and its points" in message

    def test_too_short(self):
        assert "0.4 m too far apart" in refused(arm(0.6))

    def test_the_same_thing_twice(self):
        mech = arm(1.8)
        mech.add_distance("again", bodies=("arm", "ground"), points=((1, 0, 0), (2, 0.5, 0)), length=np.hypot(1.8, 0.5))
        message = refused(mech)
        assert "distances 'rod' and 'again' repeat or contradict each other" in message
        assert "leave one out" in message

    def test_one_too_many(self):
        """Four rods to a plate in a plane, of which three hold it."""
        mech = lw.Mechanism("plate")
        mech.add_body("plate", mass=1.0, com=(0, 0, 0), inertia=BALL)
        mech.add_joint("E", lw.Planar(Y), "ground", "plate", at=(0, 0, 0))
        feet = ((-1, 0, -1), (1, 0, -1), (1.5, 0, -1), (-2, 0, 0.5))
        tops = ((-0.5, 0, 0), (0.5, 0, 0), (0.5, 0, 0.2), (0, 0, 0.1))
        for k, points in enumerate(zip(feet, tops, strict=True)):
            mech.add_distance(f"d{k}", bodies=("ground", "plate"), points=points)
        assert "distances 'd0', 'd1', 'd2' and 'd3' repeat" in refused(mech)

    def test_between_welded_bodies(self):
        mech = arm(1.8)
        mech.add_body("tip", mass=1.0, com=(0, 0, 0), inertia=BALL)
        mech.add_joint("W", lw.Fixed(), "arm", "tip", parent_frame=lw.Frame((1, 0, 0)))
        mech.add_distance("weld", bodies=("arm", "tip"), points=((0, 0, 0), (0, 0, 0)), length=1.0)
        message = refused(mech)
        assert "distance 'weld' asks what the joints between its bodies decide already; leave it out" in message

    def test_with_a_coupling(self):
        mech = arm(1.8)
        mech.add_coupling("stop", {"A": 1.0}, offset=lw.compile(arm(1.8)).assemble()["A.q"])
        assert "constraints 'stop' and 'rod' repeat or contradict each other" in refused(mech)

    def test_a_length_of_zero_set_later(self):
        system = lw.compile(arm(1.8))
        block = system.block()
        block.reals[system.column("rod.length").first] = 0.0
        with pytest.raises(lw.MechanismError, match="length of distance 'rod' is not positive; give it"):
            block.assemble(1e-9)

    def test_points_that_coincide_in_the_guess(self):
        """There is no direction, and one is taken."""
        mech = bob()
        state = lw.compile(mech).assemble(q={"F": [0, 0, 0, 1, 0, 0, 0]})
        assert np.linalg.norm(state["F.q"][:3]) == pytest.approx(0.8, rel=1e-12)
