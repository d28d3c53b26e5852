"""Many bodies that hit one another: what touches at rest stays together, however many there are.

The reference follows positions and speeds of points on a line by hand, with impacts of pairs and of groups that touch.
"""

import numpy as np
import pytest

import linkwork as lw


def row(n, restitution, *, gap=0.01, masses=None, cut=False, speed=1.0, gravity=0.0):
    """Bodies on one line, each on a guide that the body before carries, with a stop between each two.

    With `cut` each body has a guide of its own on the ground, and those between neighbours close loops.
    """
    mech = lw.Mechanism("row", gravity=(gravity, 0, 0))
    guide = lw.Prismatic((1, 0, 0))
    for k in range(n):
        mass = 1.0 if masses is None else float(masses[k])
        mech.add_body(f"b{k}", mass=mass, com=(0, 0, 0), inertia=np.eye(3))
        frames = {"parent_frame": lw.Frame(), "child_frame": lw.Frame()}
        mech.add_joint(
            f"G{k}" if cut and k else f"P{k}", guide, "ground" if cut or not k else f"b{k - 1}", f"b{k}", **frames
        )
        if k and cut:
            mech.add_joint(f"P{k}", guide, f"b{k - 1}", f"b{k}", cut=True, **frames)
        if k:
            mech.add_transition(f"s{k}", lw.Stop(f"P{k}", lower=0.0, restitution=restitution))
    if cut:
        mech.start(q={f"G{k}": k * gap for k in range(1, n)}, u={"P0": speed} | {f"G{k}": 0.0 for k in range(1, n)})
    else:
        mech.start(q={f"P{k}": gap for k in range(1, n)}, u={"P0": speed, "P1": -speed})
    return mech


def speeds(result, n):
    return np.array([result[f"b{k}.v[1]"][-1] for k in range(n)])


@pytest.mark.parametrize("cut", [False, True])
@pytest.mark.parametrize("n", [3, 6, 9])
def test_plastic_impacts(n, cut):
    """The first hits the second, both hit the third, ..."""
    result = lw.simulate(row(n, 0.0, cut=cut), 0.02 * n * n)
    assert [event.transitions for event in result.events] == [(f"s{k}",) for k in range(1, n)]
    times = np.cumsum(0.01 * np.arange(1, n))
    np.testing.assert_allclose([event.t for event in result.events], times, atol=1e-9)
    np.testing.assert_allclose(speeds(result, n), 1 / n, rtol=1e-9)
    assert all(result[f"s{k}.active"][-1] == 1 for k in range(1, n))
    assert result["energy.lost"][-1] == pytest.approx(0.5 - 0.5 / n, rel=1e-9)


def test_a_hundred():
    result = lw.simulate(row(100, 0.0), 60.0)
    assert len(result.events) == 99
    np.testing.assert_allclose(speeds(result, 100), 0.01, rtol=1e-9)


def test_unequal_masses():
    masses = np.random.default_rng(3).uniform(0.2, 5.0, 7)
    result = lw.simulate(row(7, 0.0, masses=masses), 5.0)
    assert len(result.events) == 6
    np.testing.assert_allclose(speeds(result, 7), masses[0] / masses.sum(), rtol=1e-9)


def test_a_load_separates_what_touches():
    """A force on the last body, which nothing held, takes it off; the others stay together."""
    mech = row(4, 0.0)
    mech.add_force(lw.Wrench("b3", point=(0, 0, 0), name="pull"))
    pull = lambda t: max(0.0, t - 1.0)  # noqa: E731
    result = lw.simulate(mech, 2.0, inputs={"pull.F[1]": pull})
    assert result["s3.active"][-1] == 0
    assert result["s1.active"][-1] == result["s2.active"][-1] == 1
    np.testing.assert_allclose(speeds(result, 4), [0.25, 0.25, 0.25, 0.25 + 0.5], atol=1e-7)
    assert [event.transitions for event in result.events][-1] == ("s3",)


def test_a_push_through_what_touches():
    mech = row(4, 0.0)
    mech.add_force(lw.Wrench("b0", point=(0, 0, 0), name="push"))
    result = lw.simulate(mech, 2.0, inputs={"push.F[1]": lambda t: max(0.0, t - 1.0)})
    np.testing.assert_allclose(speeds(result, 4), 0.25 + 0.5 / 4, atol=1e-6)
    assert len(result.events) == 3


def test_a_row_hits_a_wall():
    """Touching bodies stop together at a plastic wall, and rest there."""
    mech = row(5, 0.0)
    mech.add_transition("wall", lw.Stop("P0", upper=0.5))
    result = lw.simulate(mech, 5.0)
    v = speeds(result, 5)
    assert v[0] == pytest.approx(0.0, abs=1e-9)
    np.testing.assert_allclose(v[1:], 0.2, rtol=1e-7)  # nothing pulls the others back: stops only push


def test_a_stack_falls_and_rests():
    """Under gravity: the row falls, the bodies meet, and all rest on the floor."""
    mech = row(5, 0.0, gravity=-9.81, speed=0.0)
    mech.add_transition("floor", lw.Stop("P0", lower=-0.3))
    result = lw.simulate(mech, 2.0)
    np.testing.assert_allclose(speeds(result, 5), 0.0, atol=1e-12)
    assert len(result.events) <= 5
    assert all(result[f"s{k}.active"][-1] == 1 for k in range(1, 5))
    assert result["floor.active"][-1] == 1


# ---- restitution ----


def follow(x, v, m, restitution, end):
    """Positions and speeds of points with stops between neighbours, by impacts of pairs; all that touch take part."""
    t = 0.0
    for _ in range(5000):
        closing = v[:-1] - v[1:]
        gaps = x[1:] - x[:-1]
        with np.errstate(divide="ignore", invalid="ignore"):
            times = np.where(closing > 1e-13, np.maximum(gaps, 0) / closing, np.inf)
        first = times.min(initial=np.inf)
        if t + first > end:
            return x + v * (end - t), v
        t, x = t + first, x + v * first
        k = int(times.argmin())
        relative = v[k] - v[k + 1]
        impulse = (1 + restitution) * relative / (1 / m[k] + 1 / m[k + 1])
        v = v.copy()
        v[k] -= impulse / m[k]
        v[k + 1] += impulse / m[k + 1]
    raise AssertionError("too many impacts")


@pytest.mark.parametrize("restitution", [0.3, 0.6, 1.0])
@pytest.mark.parametrize("seed", range(3))
def test_rows_that_rebound(seed, restitution):
    """Unequal gaps and masses, so that one pair meets at a time."""
    rng = np.random.default_rng(seed)
    n = 4
    m, gaps = rng.uniform(0.5, 2, n), rng.uniform(0.05, 0.2, n - 1)
    mech = row(n, restitution, masses=m)
    mech.start(q={f"P{k}": gaps[k - 1] for k in range(1, n)})
    x, v = np.concatenate([[0.0], np.cumsum(gaps)]), np.array([1.0, *np.zeros(n - 1)])
    end = 0.8
    result = lw.simulate(mech, end, rtol=1e-11)
    x, v = follow(x, v, m, restitution, end)
    np.testing.assert_allclose(speeds(result, n), v, atol=1e-7)
    np.testing.assert_allclose([result[f"b{k}.r[1]"][-1] for k in range(n)], x, atol=1e-7)


@pytest.mark.parametrize("n", [3, 5])
def test_a_cradle_by_moreaus_law(n):
    """Equal masses that touch at rest, restitution one: those that touch leave together, and energy is kept."""
    mech = row(n, 1.0, gap=0.0)
    mech.start(q={"P1": 0.1})
    result = lw.simulate(mech, 0.5)
    np.testing.assert_allclose(speeds(result, n), [2 / n - 1] + [2 / n] * (n - 1), atol=1e-9)
    assert result["energy.lost"][-1] == pytest.approx(0.0, abs=1e-12)


def test_in_a_tree_in_space():
    """Stops between parts of a tree that tumbles: two arms of a hub fold onto plastic stops and stay there."""
    mech = lw.Mechanism("hub", gravity=(0, 0, 0))
    mech.add_body("hub", mass=2.0, com=(0, 0, 0), inertia=np.diag([0.3, 0.2, 0.1]))
    mech.add_joint("F", lw.Free(), "ground", "hub", at=(0, 0, 0))
    for k, axis in enumerate([(0, 1, 0), (0, 0, 1), (0, 1, 0)]):
        mech.add_body(f"arm{k}", mass=0.5, com=(0.2, 0, 0), inertia=lw.inertia.rod(0.5, 0.4))
        frame = lw.Frame((0.1, 0.0, 0.1 * k))
        mech.add_joint(f"J{k}", lw.Revolute(axis), "hub", f"arm{k}", parent_frame=frame, child_frame=lw.Frame())
        mech.add_point(f"c{k}", f"arm{k}", (0.2, 0, 0))
        mech.add_transition(f"s{k}", lw.Stop(f"J{k}", lower=-0.2, upper=0.3))
    mech.start(u={"F": (0.3, 0.5, -0.2, 0.1, 0, 0), "J0": 2.0, "J1": -1.5, "J2": 1.0})
    result = lw.simulate(mech, 3.0, rtol=1e-10)
    momentum = 2.0 * result["hub.v"] + 0.5 * sum(result[f"c{k}.v"] for k in range(3))
    np.testing.assert_allclose(momentum, momentum[:1].repeat(len(momentum), axis=0), atol=1e-7)
    energy = result["energy.kinetic"] + result["energy.lost"]
    np.testing.assert_allclose(energy, energy[0], rtol=1e-7)
    assert 2 < len(result.events) < 30
    for k in range(3):
        assert result[f"J{k}.q"].min() >= -0.2 - 1e-8
        assert result[f"J{k}.q"].max() <= 0.3 + 1e-8


# ---- several stops of one coordinate ----


def carriage(*stops, speed=1.0):
    mech = lw.Mechanism("carriage", gravity=(0, 0, 0))
    mech.add_body("cart", mass=1.0, com=(0, 0, 0), inertia=np.eye(3))
    mech.add_joint("P", lw.Prismatic((1, 0, 0)), "ground", "cart", at=(0, 0, 0))
    for k, stop in enumerate(stops):
        mech.add_transition(f"s{k}", stop)
    mech.start(u={"P": speed})
    return mech


def test_a_bound_on_either_side():
    both = lw.simulate(carriage(lw.Stop("P", lower=-0.2, upper=0.3, restitution=0.5)), 2.0, t_eval=[2.0])
    two = carriage(lw.Stop("P", lower=-0.2, restitution=0.5), lw.Stop("P", upper=0.3, restitution=0.5))
    result = lw.simulate(two, 2.0, t_eval=[2.0])
    assert len(result.events) == len(both.events) == 2
    assert result["P.q"][-1] == pytest.approx(both["P.q"][-1], abs=1e-12)
    assert result["P.u"][-1] == pytest.approx(both["P.u"][-1], abs=1e-12)


def test_the_tightest_bound_counts():
    result = lw.simulate(carriage(lw.Stop("P", upper=0.5, restitution=1.0), lw.Stop("P", upper=0.3)), 1.0)
    assert result["P.q"].max() == pytest.approx(0.3, abs=1e-9)
    assert result["P.u"][-1] == 0
    assert [result[f"s{k}.active"][-1] for k in range(2)] == [0, 1]


@pytest.mark.parametrize("first", [0.25, 0.75])
def test_of_equal_bounds_the_largest_restitution_counts(first):
    stops = [lw.Stop("P", upper=0.3, restitution=e) for e in (first, 1.0 - first)]
    result = lw.simulate(carriage(*stops), 1.0)
    assert result["P.u"][-1] == pytest.approx(-0.75, abs=1e-12)
    assert len(result.events) == 1


@pytest.mark.parametrize("solver", ["auto", "RK45"])
def test_rows_closer_than_steps_up_to_an_event(solver):
    """A step that ends on the floor holds hundreds of given times: each of them is a row, before the stop and after."""
    mech = lw.Mechanism("drop")
    mech.add_body("ball", mass=1.0, com=(0, 0, 0), inertia=0.01 * np.eye(3))
    mech.add_joint("S", lw.Prismatic((0, 0, 1)), "ground", "ball", at=(0, 0, 0))
    mech.add_transition("floor", lw.Stop("S", lower=-0.5, restitution=0.5))
    t = np.linspace(0.0, 0.6, 2001)
    result = lw.simulate(mech, 0.6, t_eval=t, solver=solver)
    fall = np.sqrt(1.0 / 9.81)
    later = t - fall
    path = np.where(later < 0.0, -0.5 * 9.81 * t**2, -0.5 + 0.5 * 9.81 * (fall * later - later**2))
    assert np.array_equal(result.t, t)
    assert result["S.q"] == pytest.approx(path, abs=1e-9)
