"""The dense solution of sudden changes against closed forms and identities."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import linkwork as lw
from support.impulse_oracle import Held, ImpulseOracle, Pin, gap_of, poses_at, velocities_at
from support.joint_families import ALL_KINDS
from support.poses import IDENTITY, Pose
from support.random_changes import changed_cases, random_change

X, Y, Z = np.eye(3)
MASS, LENGTH = 1.5, 0.8
ABOUT_END = MASS * LENGTH**2 / 3
SEEDS = range(45)


def rod(mech, name, **pose):
    mech.add_body(name, mass=MASS, com=(LENGTH / 2, 0, 0), inertia=lw.inertia.rod(MASS, LENGTH), **pose)


def chain(count):
    """Rods in a row on hinges about z, the first one on the ground."""
    mech = lw.Mechanism("rods", gravity=(0, 0, 0))
    for k in range(count):
        rod(mech, f"rod{k}")
        frame = lw.Frame((LENGTH, 0, 0)) if k else lw.Frame()
        mech.add_joint(f"A{k}", lw.Revolute(Z), f"rod{k - 1}" if k else "ground", f"rod{k}", parent_frame=frame)
    return lw.compile(mech)


def free_rod():
    mech = lw.Mechanism("rod", gravity=(0, 0, 0))
    rod(mech, "rod")
    mech.add_joint("float", lw.Free(), "ground", "rod", at=(0, 0, 0))
    return mech, {"ground": IDENTITY, "rod": Pose(np.eye(3), np.zeros(3))}


def change_at(system, q, u, **change):
    oracle = ImpulseOracle(system.mechanism, poses_at(system, q), **change)
    return oracle, oracle.jump(velocities_at(system, q, u))


class TestClosedForms:
    def test_a_hinge_between_two_rods_locks(self):
        """Momentum about the hinge on the ground stays; both turn as one."""
        bend, first, second = 0.7, 2.0, -3.0
        _, jump = change_at(chain(2), [0.3, bend], [first, second], held=[("A1",)])
        link = MASS * LENGTH**2 / 2 * np.cos(bend)
        far = MASS * LENGTH**2 + ABOUT_END + 2 * link
        momentum = (ABOUT_END + far) * first + (ABOUT_END + link) * second
        together = momentum / (ABOUT_END + far)
        assert jump.u["A0"] == pytest.approx(together, rel=1e-13)
        assert jump.u["A1"] == pytest.approx(0.0, abs=1e-13)
        about_elbow = (ABOUT_END + link) * (together - first) - ABOUT_END * second
        assert jump.held["A1", 0] == pytest.approx(about_elbow, rel=1e-12)
        assert jump.impulse["A1"][2] == pytest.approx(about_elbow, rel=1e-12)

    def test_a_falling_rod_is_caught_at_its_end(self):
        """It turns by 3 v / 2 L, and a quarter of its momentum goes into the pin."""
        mech, poses = free_rod()
        speed = 1.2
        pin = Pin("nail", lw.Spherical(), "ground", "rod", lw.Frame())
        oracle = ImpulseOracle(mech, poses, pins=[pin])
        jump = oracle.jump(np.r_[np.zeros(3), -speed * Y][None, :])
        turning = 1.5 * speed / LENGTH
        assert jump.after[0] == pytest.approx(np.r_[0, 0, -turning, 0, -turning * LENGTH / 2, 0], abs=1e-14)
        assert jump.impulse["nail"] == pytest.approx(np.r_[np.zeros(3), MASS * speed / 4 * Y], abs=1e-14)
        assert jump.kinetic[1] / jump.kinetic[0] == pytest.approx(0.75)
        assert oracle.unique()["nail"]

    def test_a_stop_throws_a_rod_back(self):
        for restitution in (0.0, 0.3, 1.0):
            u = 2.0
            _, jump = change_at(chain(1), [0.4], [u], held=[("A0", 0, -restitution * u)])
            assert jump.u["A0"] == pytest.approx(-restitution * u)
            assert jump.held["A0", 0] == pytest.approx(-(1 + restitution) * ABOUT_END * u)
            assert jump.kinetic[1] == pytest.approx(restitution**2 * jump.kinetic[0])

    def test_a_blow_at_the_centre_of_percussion_leaves_the_hinge_alone(self):
        system = chain(1)
        oracle = ImpulseOracle(system.mechanism, poses_at(system, [0.0]))
        blow = np.r_[LENGTH / 6 * Z, Y][None, :]  # at 2/3 of the length
        jump = oracle.jump(np.zeros((1, 6)), blow)
        assert jump.u["A0"] == pytest.approx(2 / 3 * LENGTH / ABOUT_END)
        assert jump.impulse["A0"] == pytest.approx(np.zeros(6), abs=1e-14)

    def test_bodies_meet_on_a_distance(self):
        """A massless rod between two balls stops what they have along it, the heavier one less."""
        mech = lw.Mechanism("balls")
        masses = {"a": 1.0, "b": 3.0}
        for k, (name, mass) in enumerate(masses.items()):
            mech.add_body(name, mass=mass, com=(0, 0, 0), inertia=lw.inertia.sphere(mass, 0.1), origin=k * X)
            mech.add_joint(f"{name}_free", lw.Free(), "ground", name, at=k * X)
        mech.add_distance("bar", ("a", "b"), np.zeros((2, 3)))
        poses = {"ground": IDENTITY, "a": IDENTITY, "b": Pose(np.eye(3), X)}
        jump = ImpulseOracle(mech, poses).jump(np.array([np.r_[0, 0, 0, 4 * X + Y], np.zeros(6)]))
        assert jump.after[:, 3:] == pytest.approx(np.array([X + Y, X]))
        assert jump.tension["bar"] == pytest.approx(-3.0)
        assert jump.kinetic[0] - jump.kinetic[1] == pytest.approx(0.75 * 16 / 2)

    def test_a_gear_takes_up_its_play(self):
        """Two flywheels on one gear: what it gives to each is its impulse times the coefficient."""
        mech = lw.Mechanism("drive")
        for name in ("a", "b"):
            mech.add_body(name, mass=1.0, com=(0, 0, 0), inertia=np.eye(3))
            mech.add_joint(f"{name}_axle", lw.Revolute(Z), "ground", name, at=(0, 0, 0))
        mech.add_coupling("gear", {"a_axle": 1.0, "b_axle": -2.0})
        poses = dict.fromkeys(("ground", "a", "b"), IDENTITY)
        jump = ImpulseOracle(mech, poses).jump(np.array([np.r_[5 * Z, 0, 0, 0], np.zeros(6)]))
        assert jump.u == pytest.approx({"a_axle": 4.0, "b_axle": 2.0})
        assert jump.gear["gear"] == pytest.approx(-1.0)
        assert jump.impulse["b_axle"][2] == pytest.approx(2.0)


class TestWhatIsDetermined:
    def test_two_pins_at_one_place_share_one_impulse(self):
        mech, poses = free_rod()
        pins = [Pin(name, lw.Spherical(), "ground", "rod", lw.Frame()) for name in ("one", "other")]
        oracle = ImpulseOracle(mech, poses, pins=pins)
        jump = oracle.jump(np.r_[np.zeros(3), -Y][None, :])
        assert not oracle.unique()["one"]
        assert jump.impulse["one"] == pytest.approx(jump.impulse["other"], abs=1e-14)
        assert jump.impulse["one"][4] == pytest.approx(MASS / 8)
        assert oracle.determined()["one"] == pytest.approx(np.diag([1.0, 1.0, 1.0, 0.0, 0.0, 0.0]), abs=1e-12)

    def test_a_speed_held_twice(self):
        system = chain(2)
        held = [("A1",), ("nail", 0)]
        pin = Pin("nail", lw.Revolute(Z), "rod0", "rod1", lw.Frame((LENGTH, 0, 0)))
        oracle, jump = change_at(system, [0.3, 0.7], [2.0, -3.0], held=held, pins=[pin])
        assert oracle.unique_held() == {("A1", 0): False, ("nail", 0): False}
        assert oracle.unique()["A0"]
        assert jump.held["A1", 0] == pytest.approx(jump.held["nail", 0])

    def test_contradictions_are_refused(self):
        pin = Pin("nail", lw.Revolute(Z), "rod0", "rod1", lw.Frame((LENGTH, 0, 0)))
        with pytest.raises(AssertionError, match="contradict"):
            change_at(chain(2), [0.3, 0.7], [2.0, -3.0], held=[("A1", 0, 1.0), Held("nail", 0, 2.0)], pins=[pin])


@pytest.fixture(scope="module", params=SEEDS)
def change(request):
    return random_change(request.param)


@pytest.mark.thin(3)
class TestRandomChanges:
    def test_bodies_are_balanced_and_nothing_is_lost_along_free_motions(self, change):
        jump, oracle = change.expected, change.oracle
        assert oracle.gap(jump.after) < 1e-11
        assert np.abs(oracle.imbalance(jump, jump.impulse, jump.tension, change.applied)).max() < 1e-12
        scale = np.abs(oracle.mass).max() * max(1.0, np.abs(jump.before).max())
        assert np.abs(oracle.lost_momentum(jump.before, jump.after, change.applied)).max(initial=0) < 1e-11 * scale

    def test_energy_is_what_impulses_do_at_mean_speeds(self, change):
        """Kelvin: also where energy is given."""
        jump, oracle = change.expected, change.oracle
        mean = np.ravel(jump.before + jump.after) / 2
        work = float(np.ravel(change.applied) @ mean)
        work += sum(float(w @ (oracle.joints[name].relative @ mean)) for name, w in jump.impulse.items())
        assert jump.kinetic[1] - jump.kinetic[0] == pytest.approx(work, abs=1e-11 * max(1.0, *jump.kinetic))

    def test_energy_never_grows_by_itself(self, change):
        before, after = change.expected.kinetic
        assert not change.loses_energy or after <= before * (1 + 1e-12)

    def test_what_floats_keeps_its_momentum(self, change):
        jump, oracle = change.expected, change.oracle
        if change.floats:
            lost = oracle.momentum(jump.after) - oracle.momentum(jump.before) - oracle.total(change.applied)
            assert np.abs(lost).max() < 1e-11 * max(1.0, np.abs(oracle.momentum(jump.before)).max())

    def test_any_other_motion_would_change_more(self, change):
        """Gauss: the distance to the free motion is the least."""
        jump, oracle = change.expected, change.oracle
        free = np.linalg.solve(oracle.mass, np.ravel(change.applied))

        def distance(after):
            gap = np.ravel(after - jump.before) - free
            return gap @ oracle.mass @ gap

        rng = np.random.default_rng(0)
        aside = oracle.motions @ rng.normal(size=oracle.motions.shape[1])
        assert distance(jump.after) <= min(distance(jump.after + h * aside.reshape(-1, 6)) for h in (-0.1, 0, 0.1))

    def test_pins_are_drawn_where_they_fit(self, change):
        assert max((gap_of(pin, change.scene.poses) for pin in change.pins), default=0.0) < 1e-14


@pytest.mark.slow
def test_what_is_drawn():
    changes = [random_change(seed) for seed in SEEDS]
    assert sum(change.floats for change in changes) > 5
    assert sum(change.loses_energy for change in changes) > 20
    assert {pin.kind.type_name for change in changes for pin in change.pins} == set(ALL_KINDS)
    assert sum(len(change.held) > 1 for change in changes) > 8
    assert sum(not all(change.oracle.unique().values()) for change in changes) > 3
    assert sum(np.abs(c.expected.after - c.expected.before).max() > 0.1 for c in changes) > 30


@pytest.mark.slow
@settings(max_examples=20, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
@given(changed_cases())
def test_plans_with_changes(drawn):
    """Drives, couplings and loops: prescribed motions keep their rate."""
    case, change = drawn
    jump = change.expected
    assert change.oracle.gap(jump.after) < 1e-10
    untouched = ImpulseOracle(change.mechanism, case.scene.poses, case.scene.q, rates=change.rates)
    assert untouched.gap(jump.before) < 1e-9
    balance = change.oracle.imbalance(jump, jump.impulse, jump.tension, change.applied)
    assert np.abs(balance).max() < 1e-11
