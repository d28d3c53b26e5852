"""Belts and worm gears: closed forms of strands, of efficiency and of self-locking."""

import math

import numpy as np
import pytest

import linkwork as lw

RADII, INERTIAS = (0.02, 0.05), (2e-4, 6e-3)


def pulleys(count: int = 2) -> lw.Mechanism:
    mech = lw.Mechanism("belt", gravity=(0, 0, 0))
    for k in range(count):
        inertia = np.eye(3) * INERTIAS[k % 2]
        mech.add_body(f"disc {k}", mass=1.0, com=(0, 0, 0), inertia=inertia, origin=(0.3 * k, 0, 0))
        mech.add_joint("ABCD"[k], lw.Revolute("y"), "ground", f"disc {k}", at=(0.3 * k, 0, 0))
    return mech


def driven(**given) -> lw.Mechanism:
    mech = pulleys()
    assert mech.add_belt("belt", dict(zip("AB", RADII, strict=True)), **given) == ("belt_1", "belt_2")
    return mech


class TestBelt:
    def test_both_strands_carry_the_load_until_one_is_slack(self):
        """Held at the first pulley: the torque on the second one is 2 k r2^2 q2, then k r2^2 q2 + preload r2."""
        k, preload = 4e4, 150.0
        model = lw.compile(driven(stiffness=k, preload=preload))
        for turn in (0.01, -0.02, 0.05, 0.1, -0.3):
            tight, other = (max(0.0, preload + sign * k * RADII[1] * turn) for sign in (1, -1))
            state = model.assemble(q={"B": turn})
            assert state["belt_1.force"] == pytest.approx(-tight)
            assert state["belt_2.force"] == pytest.approx(-other)
            found = model.by_joint(model.accelerations(state))
            assert found["B"] * INERTIAS[1] == pytest.approx(-RADII[1] * (tight - other))
            assert found["A"] * INERTIAS[0] == pytest.approx(RADII[0] * (tight - other))
            assert (min(tight, other) == 0.0) == (abs(turn) * RADII[1] * k > preload)

    def test_its_first_frequency_is_that_of_two_discs_and_a_spring(self):
        mech = driven(stiffness=4e4, preload=150.0)
        model = lw.compile(mech)
        roots = np.linalg.eigvals(lw.linearize(model, inputs=[]).A)
        by_hand = np.sqrt(2 * 4e4 * (RADII[0] ** 2 / INERTIAS[0] + RADII[1] ** 2 / INERTIAS[1]))
        assert np.abs(roots.imag).max() == pytest.approx(by_hand, rel=1e-9)

    def test_a_stiff_belt_transmits_the_ratio_of_radii(self):
        """The inertia at the first pulley is I1 + I2 (r1 / r2)^2."""
        run = lw.simulate(driven(stiffness=4e6, damping=200.0, preload=500.0), 0.5, inputs={"A": 0.1})
        whole = INERTIAS[0] + INERTIAS[1] * (RADII[0] / RADII[1]) ** 2
        assert run["A.u"][-1] == pytest.approx(0.1 * 0.5 / whole, rel=1e-3)
        assert run["B.u"][-1] / run["A.u"][-1] == pytest.approx(RADII[0] / RADII[1], rel=1e-4)

    def test_strands_around_three_pulleys_follow_each_other(self):
        """With an idler on the back of the belt; in equilibrium the torque of each is r (T - T')."""
        mech = pulleys(3)
        radii = {"A": 0.02, "B": -0.01, "C": 0.05}
        names = mech.add_belt("belt", radii, stiffness=(3e4, 4e4, 5e4), damping=1.0, preload=50.0)
        assert names == ("belt_1", "belt_2", "belt_3")
        model = lw.compile(mech)
        q = np.array([0.02, 0.1, -0.05])
        found = model.by_joint(model.accelerations(q, np.zeros(3)))
        r = np.array(list(radii.values()))
        stretch = np.roll(r * q, -1) - r * q
        tension = np.maximum(0.0, 50.0 + np.array((3e4, 4e4, 5e4)) * stretch)
        assert (tension == 0.0).sum() == 1
        torque = r * (tension - np.roll(tension, 1))
        assert [found[name] * INERTIAS[k % 2] for k, name in enumerate("ABC")] == pytest.approx(torque)

    @pytest.mark.parametrize(
        ("given", "words"),
        [
            ({"pulleys": {"A": 0.02}, "stiffness": 1.0}, "two pulleys or more"),
            ({"pulleys": {"A": 0.02, "E": 0.1}, "stiffness": 1.0}, "no joint 'E'"),
            ({"pulleys": {"A": 0.02, "B": 0.0}, "stiffness": 1.0}, "zero"),
            ({"pulleys": {"A": 0.02, "B": 0.1}, "stiffness": (1.0, 2.0, 3.0)}, "stiffness"),
            ({"pulleys": {"A": 0.02, "B": 0.1}, "stiffness": -1.0}, "must not be negative"),
        ],
    )
    def test_refusals_change_nothing(self, given, words):
        mech = pulleys()
        with pytest.raises(lw.MechanismError, match=words):
            mech.add_belt("belt", **given)
        assert mech == pulleys()


RATIO, WORM, WHEEL = 30.0, 0.02, 0.1
LEAD = math.atan(WHEEL / (RATIO * WORM))
SHAFT, DRUM = 1e-3, 0.5


def hoist(mu: float, ratio: float = RATIO, turned: bool = False, **more) -> lw.Mechanism:
    """A worm along x, or in a frame of its own, and a wheel across."""
    mech = lw.Mechanism("hoist", gravity=(0, 0, 0))
    mech.add_body("worm", mass=1.0, com=(0, 0, 0), inertia=np.eye(3) * SHAFT)
    mech.add_body("wheel", mass=5.0, com=(0, 0, 0), inertia=np.eye(3) * DRUM, origin=(0, 0, 0.12))
    frame = lw.Frame((0.1, 0, 0), lw.Frame.from_axes(x=(0, 0, 1), y=(1, 0, 0)).rotation)
    place = {"parent_frame": frame, "child_frame": lw.Frame((0, 0.01, 0))} if turned else {"at": (0, 0, 0)}
    mech.add_joint("W", lw.Revolute("x"), "ground", "worm", **place)
    mech.add_joint("G", lw.Revolute("y"), "ground", "wheel", at=(0, 0, 0.12))
    mech.add_worm_gear("gear", "W", "G", ratio=ratio, worm_radius=WORM, wheel_radius=WHEEL, mu=mu, **more)
    return mech


class TestWormGear:
    @pytest.mark.parametrize("turned", [False, True])
    @pytest.mark.parametrize("mu", [0.0, 0.05, 0.3])
    @pytest.mark.parametrize("ratio", [RATIO, -RATIO])
    def test_a_driving_worm_has_the_efficiency_of_a_screw(self, mu, ratio, turned):
        """T = F r tan(lambda + phi) and F R = load + inertia of the wheel."""
        model = lw.compile(hoist(mu, ratio, turned))
        state = model.assemble(u={"W": 30.0})
        assert state["G.u"] == pytest.approx(30.0 / ratio)
        torque, load = 1.0, 20.0
        found = model.by_joint(model.accelerations(state, tau={"W": torque, "G": -math.copysign(load, ratio)}))
        arm = WORM * math.tan(LEAD + math.atan(mu))
        shaft = SHAFT + 1.0 * 0.01**2 * turned  # about its axis
        expected = (torque - arm * load / WHEEL) / (shaft + arm * DRUM / RATIO / WHEEL)
        assert found["W"] == pytest.approx(expected, rel=1e-12)
        assert found["G"] == pytest.approx(expected / ratio, rel=1e-12)

    def test_it_is_driven_by_the_wheel_with_little_friction_alone(self):
        """Below the angle of friction the wheel moves the worm, by F r tan(lambda - phi); beyond it nothing moves."""
        for mu in (0.05, 0.16):
            model = lw.compile(hoist(mu))
            found = model.by_joint(model.accelerations(model.assemble(u={"W": -1e-9}), tau={"G": -20.0}))
            arm = WORM * math.tan(LEAD - math.atan(mu))
            assert found["W"] == pytest.approx(-(arm * 20.0 / WHEEL) / (SHAFT + arm * DRUM / RATIO / WHEEL), rel=1e-9)
        locked = lw.compile(hoist(0.17))  # tan(lambda) is 1 / 6
        state = locked.assemble()
        found = locked.by_joint(locked.accelerations(state, tau={"G": -20.0}))
        assert (found["W"], found["G"]) == (0.0, 0.0)

    def test_a_locked_load_stays_for_ever(self):
        """A load that is lifted for 0.5 s and let go comes to rest and stands still, to the last bit."""
        run = lw.simulate(hoist(0.3), 20.0, inputs={"W": lambda t: 4.0 if t < 0.5 else 0.0, "G": -10.0})
        holding = WORM * math.tan(LEAD + math.atan(0.3)) * 10.0 / WHEEL  # torque of the load while it is lifted
        assert [event.t for event in run.events] == pytest.approx([0.5 + 0.5 * (4.0 - holding) / holding], rel=1e-6)
        rest = run.t > run.events[0].t
        assert run["G.q"][-1] > 0.01
        assert np.ptp(run["G.q"][rest]) == 0.0
        assert np.ptp(run["W.q"][rest]) == 0.0

    def test_its_start_needs_the_static_friction(self):
        arm = WORM * math.tan(LEAD + math.atan(0.4))
        model = lw.compile(hoist(0.2, static_mu=0.4))
        load = 15.0
        below, above = (
            model.by_joint(model.accelerations(model.assemble(), tau={"W": share * arm * load / WHEEL, "G": -load}))[
                "W"
            ]
            for share in (0.9999, 1.0001)
        )
        assert below == 0.0
        assert above > 0.0

    def test_it_is_in_files(self):
        mech = hoist(0.1, static_mu=0.15)
        assert lw.Mechanism.from_dict(mech.to_dict()) == mech

    @pytest.mark.parametrize(
        ("given", "words"),
        [
            ({"worm": "X"}, "no joint 'X'"),
            ({"worm": "G"}, "both joint 'G'"),
            ({"ratio": 0.0}, "must not be zero"),
            ({"worm_radius": 0.0}, "worm_radius"),
            ({"wheel": "gear_rack"}, "must be a Revolute"),
            ({}, "already"),
        ],
    )
    def test_refusals_change_nothing(self, given, words):
        mech = hoist(0.1)
        arguments = {"name": "gear", "worm": "W", "wheel": "G", "ratio": 2.0, "worm_radius": 0.1, "wheel_radius": 0.1}
        with pytest.raises(lw.MechanismError, match=words):
            mech.add_worm_gear(**arguments | given)
        assert mech == hoist(0.1)
