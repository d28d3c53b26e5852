"""Particles to rigid bodies to a mechanism: sums, momenta, the dense oracle, and refusals."""

import itertools

import numpy as np
import pytest

import linkwork as lw
from support.bodies import refused
from support.molecules import BARRING, SHAPES, articulated, molecule
from support.rhodopsin import rhodopsin

X, Y, Z = np.eye(3)


def relative(found, expected):
    return np.linalg.norm(found - expected) / np.linalg.norm(expected)


def check_momenta(found, tolerance=1e-12):
    stages = [found.particles, found.before.total, found.after.total]
    for one, next_one in itertools.pairwise(stages):
        assert relative(next_one.linear, one.linear) < tolerance
        assert relative(next_one.angular, one.angular) < tolerance
        assert next_one.kinetic <= one.kinetic * (1 + 1e-12)


def check_against_oracle(found, tolerance=1e-11):
    oracle, jump = articulated(found)
    after = np.hstack([found.after.angular_velocity, found.after.velocity])
    assert np.abs(after - jump.after).max() < tolerance * np.abs(jump.after).max()
    assert found.after.total.kinetic == pytest.approx(jump.kinetic[1], rel=tolerance)
    size = max(np.abs(wrench).max() for wrench in jump.impulse.values())
    for name, seen in oracle.determined().items():
        assert np.abs(seen @ (found.impulses[name] - jump.impulse[name])).max() < tolerance * size
    assert np.abs(oracle.imbalance(jump, found.impulses, {}, np.zeros_like(after))).max() < tolerance


@pytest.fixture(scope="module")
def protein():
    return rhodopsin()


@pytest.fixture(scope="module")
def found(protein):
    return lw.coarse_grain(*protein.given)


class TestRhodopsin:
    def test_rigid_bodies_are_those_of_record(self, protein, found):
        names = {"mass": "mass", "com": "com", "inertia": "inertia_about_com"}
        names |= {"velocity": "v_com_before", "angular_velocity": "omega_before"}
        for name, key in names.items():
            expected = np.array([body[key] for body in protein.known["bodies"]])
            np.testing.assert_allclose(getattr(found.before, name), expected, rtol=1e-11, atol=1e-12)

    def test_energies_and_momenta_are_those_of_record(self, protein, found):
        known = protein.known
        assert found.particles.kinetic == pytest.approx(known["kinetic_energy"]["atoms"], rel=1e-13)
        assert found.before.total.kinetic == pytest.approx(known["kinetic_energy"]["rigid_bodies"], rel=1e-13)
        assert relative(found.after.total.linear, known["linear_momentum"]) < 1e-12
        assert relative(found.after.total.angular, known["angular_momentum_about_origin"]) < 1e-12

    def test_both_steps_keep_the_momenta(self, found):
        check_momenta(found)

    def test_joints_come_as_the_dense_solution_says(self, found):
        check_against_oracle(found)
        assert 0.3 < found.after.total.kinetic / found.before.total.kinetic < 0.9

    def test_a_chain_on_a_free_base(self, found):
        sizes = found.state.model.sizes
        assert (sizes.bodies, sizes.nu, sizes.loops) == (26, 6 + 25 * 3, 0)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kinds", [(), BARRING], ids=["balls", "mixed"])
@pytest.mark.parametrize("seed", range(3))
def test_random_molecules(shape, kinds, seed):
    rng = np.random.default_rng(seed)
    found = lw.coarse_grain(*molecule(rng, int(rng.integers(4, 9)), shape, kinds).given)
    check_momenta(found, 1e-11)
    check_against_oracle(found, 1e-10)
    energy = found.state.model.energy(found.state)
    assert energy.kinetic == pytest.approx(found.after.total.kinetic, rel=1e-11)
    assert np.abs(found.state.model.loop_residual(found.state)).max(initial=0.0) < 1e-12


def test_a_long_chain():
    check_momenta(lw.coarse_grain(*molecule(np.random.default_rng(1), 300).given), 1e-10)


@pytest.mark.parametrize("shape", ["tree", "net"])
def test_the_mechanism_goes_on_from_there(shape):
    """It starts with the speeds that the joints left; alone in the world it keeps energy and momentum."""
    found = lw.coarse_grain(*molecule(np.random.default_rng(4), 5, shape).given)
    np.testing.assert_allclose(lw.compile(found.mechanism).assemble().u, found.state.u, rtol=1e-9, atol=1e-9)
    result = lw.simulate(found.mechanism, 0.5, rtol=1e-10)
    assert result["energy.kinetic"] == pytest.approx(found.after.total.kinetic, rel=1e-6)
    last = sum(m * result[f"{name}.v"][-1] for name, m in zip(found.names, found.after.mass, strict=True))
    assert last == pytest.approx(found.particles.linear, rel=1e-6)
    assert lw.Mechanism.from_dict(found.mechanism.to_dict()) == found.mechanism


class TestSegments:
    def test_numbers_and_lists_are_the_same(self):
        given = molecule(np.random.default_rng(2), 4)
        lists = [np.flatnonzero(given.segments == k) for k in range(4)]
        positions, velocities, masses, numbers, joints = given.given
        one = lw.coarse_grain(positions, velocities, masses, numbers.tolist(), joints)
        for segments in (lists, [item.tolist() for item in lists]):
            other = lw.coarse_grain(positions, velocities, masses, segments, joints)
            assert np.array_equal(one.state.u, other.state.u)

    def test_a_single_segment_is_a_free_body(self):
        rng = np.random.default_rng(3)
        found = lw.coarse_grain(rng.normal(size=(9, 3)), rng.normal(size=(9, 3)), np.ones(9), np.zeros(9, int), [])
        assert found.after.total.kinetic == pytest.approx(found.before.total.kinetic)
        assert found.impulses == {"float": pytest.approx(np.zeros(6), abs=1e-12)}

    def test_names(self):
        given = molecule(np.random.default_rng(2), 3)
        found = lw.coarse_grain(*given.given, names=["head", "neck", "tail"])
        assert list(found.mechanism.bodies) == found.names == ["head", "neck", "tail"]
        assert found.state["tail.v"] == pytest.approx(found.after.velocity[2])

    def test_particles_that_move_as_one_rigid_body_lose_nothing(self):
        given = molecule(np.random.default_rng(5), 5, "net")
        velocities = np.cross([0.3, -0.2, 0.5], given.positions) + X - 2 * Z
        found = lw.coarse_grain(given.positions, velocities, given.masses, given.segments, given.joints)
        assert found.after.total.kinetic == pytest.approx(found.particles.kinetic, rel=1e-12)
        assert max(np.abs(impulse).max() for impulse in found.impulses.values()) < 1e-11


class TestThinSegments:
    """Particles in line, and single ones, have no inertia about some axes."""

    places = np.array([0 * X, X, 2 * X, 2 * X + Y, 2 * X + 2 * Y, 2 * X + 3 * Y + Z])
    moving = np.array([X + Z, 2 * Y, Z, -X, 3 * Z - Y, X + Y + Z])
    masses = np.array([1.0, 2.0, 1.0, 3.0, 1.0, 2.0])
    segments = (0, 0, 0, 1, 1, 2)

    def found(self, kinds):
        points = [2 * X + 0.3 * Z, 2 * X + 2.5 * Y]
        joints = [(k, k + 1, kind, point) for k, (kind, point) in enumerate(zip(kinds, points, strict=True))]
        return lw.coarse_grain(self.places, self.moving, self.masses, self.segments, joints)

    def test_they_are_told(self):
        found = self.found([lw.Universal(Y + Z, Y - Z), lw.Fixed()])
        assert found.before.axes_with_inertia.tolist() == [2, 2, 0]
        assert found.before.angular_velocity[2].tolist() == [0, 0, 0]
        assert found.before.angular_velocity[0] @ X == pytest.approx(0.0)

    @pytest.mark.parametrize(
        "kinds",
        [
            (lw.Fixed(), lw.Fixed()),
            (lw.Universal(Y + Z, Y - Z), lw.Fixed()),
            (lw.Revolute(Z), lw.Fixed()),
            (lw.Spherical(), lw.Spherical()),
            (lw.Revolute(X), lw.Spherical()),
        ],
    )
    def test_joints_that_do_not_need_the_inertia(self, kinds):
        found = self.found(kinds)
        check_momenta(found, 1e-9)
        check_against_oracle(found, 1e-8)

    def test_those_that_do_are_refused_by_name(self):
        with pytest.raises(lw.SingularityError, match=r"'segment0', 'segment1', 'segment2'"):
            self.found([lw.Spherical(), lw.Universal(Y + Z, Y - Z)])


RNG = np.random.default_rng(0)
GOOD = {"positions": RNG.normal(size=(6, 3)), "velocities": RNG.normal(size=(6, 3)), "masses": np.ones(6)}
GOOD |= {"segments": [0, 0, 0, 1, 1, 1], "joints": [(0, 1, (0, 0, 0))]}


def spoiled(key, index, value):
    array = GOOD[key].copy()
    array[index] = value
    return {key: array}


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"positions": []}, ("no particles", "n x 3")),
        ({"positions": np.zeros((6, 2))}, ("positions", "6 x 3")),
        ({"positions": 1.0}, ("no particles",)),
        ({"velocities": np.zeros((5, 3))}, ("velocities", "6 x 3")),
        ({"masses": np.ones((6, 1))}, ("masses", "6 numbers")),
        (spoiled("positions", (2, 1), np.nan), ("positions", "finite", "particle 2")),
        (spoiled("velocities", (4, 0), np.inf), ("velocities", "finite", "particle 4")),
        (spoiled("masses", 3, 0.0), ("particle 3", "mass 0", "positive")),
        (spoiled("masses", 5, -1.0), ("particle 5", "positive")),
        ({"segments": []}, ("no segments",)),
        ({"segments": [0, 1]}, ("2 numbers for 6 particles",)),
        ({"segments": [0.0, 0, 0, 1, 1, 1]}, ("whole numbers",)),
        ({"segments": [0, 0, 0, 1, 1, -1]}, ("particle 5", "segment -1", "from 0")),
        ({"segments": [0, 0, 0, 2, 2, 4]}, ("segments 1, 3 have no particles", "gap")),
        ({"segments": [[0, 1, 2], [], [3, 4, 5]]}, ("segment 1 has no particles",)),
        ({"segments": [[0, 1, 2], [3, 4, 6]]}, ("segment 1", "no particle 6", "0 to 5")),
        ({"segments": [[0, 1, 2], [3, 4]]}, ("particle 5", "in no segment")),
        ({"segments": [[0, 1, 2], [2, 3, 4, 5]]}, ("particle 2", "more than once")),
        ({"segments": [[0, 1, "2"], [3, 4, 5]]}, ("segment 0", "whole numbers")),
        ({"joints": 3}, ("joints must be a list",)),
        ({"joints": [(0, 1)]}, ("joint 0", "(segment, segment, point)")),
        ({"joints": [(0, 2, X)]}, ("joint 0", "no segment 2", "0 to 1")),
        ({"joints": [(0, 1, X), ("a", 1, X)]}, ("joint 1", "no segment 'a'")),
        ({"joints": [(1, 1, X)]}, ("joint 0", "segment 1 to itself", "different")),
        ({"joints": [(0, 1, "ball", X)]}, ("joint 0", "Spherical()")),
        ({"joints": [(0, 1, (0, 0))]}, ("joint 0: point", "3 numbers")),
        ({"joints": [(0, 1, (0, 0, np.nan))]}, ("joint 0: point", "finite")),
        ({"joints": []}, ("segment 1 has no path", "add a joint between 1 and")),
        ({"segments": range(6), "joints": [(0, 1, X), (3, 4, X)]}, ("segments 2, 3, 4, 5 have no path",)),
        ({"names": ["one"]}, ("1 names for 2 segments",)),
        ({"names": ["one", "two.words"]}, ("'two.words'",)),
    ],
    ids=lambda value: value[0].replace(" ", "_") if isinstance(value, tuple) else "",
)
def test_what_is_wrong_is_refused(wrong, words):
    with refused(*words):
        lw.coarse_grain(**GOOD | wrong)


def ring(axes, points, seed=0):
    """Particles around the sides of a ring of hinges: arguments but for the joints, and these, rounded."""
    rng = np.random.default_rng(seed)
    n = len(axes)
    middle = [(points[k] + points[(k + 1) % n]) / 2 for k in range(n)]
    positions = np.repeat(middle, 6, axis=0) + 0.3 * rng.normal(size=(6 * n, 3))
    given = positions, rng.normal(size=positions.shape), rng.uniform(1, 12, 6 * n), np.repeat(np.arange(n), 6)

    def joints(digits=15):
        return [((k - 1) % n, k, lw.Revolute(np.round(axes[k], digits)), np.round(points[k], digits)) for k in range(n)]

    return given, joints


@pytest.mark.filterwarnings("ignore::linkwork.RoundingWarning")
def test_rounded_joints_of_a_loop_change_start_speeds_as_little():
    """A spherical ring moves; its axes and points as written, with 6 to 10 digits, pass no common point."""
    rng = np.random.default_rng(2)
    angles = np.linspace(0, 2 * np.pi, 5, endpoint=False)
    axes = np.column_stack([0.8 * np.cos(angles), 0.8 * np.sin(angles), 0.6 + 0.2 * rng.random(5)])
    axes /= np.linalg.norm(axes, axis=1)[:, None]
    given, joints = ring(axes, axes * (1 + rng.random((5, 1))))
    exact = lw.coarse_grain(*given, joints()).state.u
    for digits in (10, 9, 8, 7, 6):
        found = lw.coarse_grain(*given, joints(digits))
        assert np.abs(found.state.u - exact).max() < 100 * 10.0**-digits
        assert lw.compile(found.mechanism).assemble().u == pytest.approx(found.state.u, abs=1e-12)


@pytest.mark.filterwarnings("error::linkwork.StartValueWarning")
@pytest.mark.parametrize("seed", range(3))
def test_a_ring_that_cannot_move_starts_without_a_warning(seed):
    """The chair of cyclohexane: what rounding leaves of the speeds of its hinges is not asked for."""
    corners = np.array([(np.cos(k * np.pi / 3), np.sin(k * np.pi / 3), 0.25 * (-1) ** k) for k in range(6)])
    following = np.roll(corners, -1, axis=0)
    given, joints = ring(following - corners, (following + corners) / 2 + (0.3, 0.7, -0.2), seed)
    found = lw.coarse_grain(*given, joints())
    assert not lw.compile(found.mechanism).assemble().changed_start_values
