"""Poses that dry friction holds: against closed forms, and against virtual work on a four-bar."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq

import linkwork as lw

WEIGHT = 2.0 * 9.81 * 0.5  # N m, of the pendulum's rod about its hinge


def pendulum(coulomb: float, **friction) -> lw.Mechanism:
    mech = lw.Mechanism("pendulum")
    mech.add_body("rod", mass=2.0, com=(0, 0, -0.5), inertia=lw.inertia.rod(2.0, 1.0, axis="z"))
    mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
    mech.add_force(lw.Friction("A", coulomb=coulomb, **friction))
    return mech


def block(coulomb: float, stop: lw.Stop | None = None) -> lw.Mechanism:
    """A block of 1 kg on a slope of 20 degrees."""
    mech, angle = lw.Mechanism("slope"), np.radians(20)
    mech.add_body("block", mass=1.0, com=(0, 0, 0), inertia=lw.inertia.sphere(1.0, 0.1))
    mech.add_joint("S", lw.Prismatic((np.cos(angle), 0, -np.sin(angle))), "ground", "block", at=(0, 0, 0))
    mech.add_force(lw.Friction("S", coulomb=coulomb))
    if stop is not None:
        mech.add_transition("stop", stop)
    return mech


DOWN = 9.81 * np.sin(np.radians(20))  # N, of the block


def four_bar() -> lw.Mechanism:
    mech, hinge = lw.Mechanism("four_bar"), lw.Revolute(axis=(0, 1, 0))
    for name, mass, length in (("crank", 1.0, 0.4), ("coupler", 2.0, 1.0), ("rocker", 1.5, 0.8)):
        mech.add_body(name, mass=mass, com=(length / 2, 0, 0), inertia=lw.inertia.rod(mass, length, axis="x"))
    mech.add_joint("A", hinge, "ground", "crank", at=(0, 0, 0))
    mech.add_joint("B", hinge, "crank", "coupler", parent_frame=lw.Frame((0.4, 0, 0)))
    mech.add_joint("C", hinge, "coupler", "rocker", parent_frame=lw.Frame((1.0, 0, 0)))
    ends = lw.Frame((1.1, 0, 0)), lw.Frame((0.8, 0, 0))
    mech.add_joint("D", hinge, "ground", "rocker", parent_frame=ends[0], child_frame=ends[1])
    for joint, limit in zip("ABCD", (0.3, 0.1, 0.2, 0.4), strict=True):
        mech.add_force(lw.Friction(joint, coulomb=limit, name=f"dry{joint}"))
    mech.start(q={"A": 1.8})
    return mech


class TestRange:
    @pytest.mark.parametrize("coulomb", [1e-3, 0.981, 5.0, WEIGHT - 1e-5])
    def test_pendulum(self, coulomb) -> None:
        found, end = lw.rest_range(pendulum(coulomb / 2, static=coulomb), "A"), np.arcsin(coulomb / WEIGHT)
        np.testing.assert_allclose((found.low, found.high), (-end, end), rtol=1e-9, atol=1e-12)
        assert found.unit == "rad"
        assert found.high_state["A.q"] == pytest.approx(end, rel=1e-9)

    def test_from_a_start_that_it_does_not_hold(self) -> None:
        found = lw.rest_range(pendulum(0.981), "A", q={"A": 2.5})
        np.testing.assert_allclose(found.high, np.arcsin(0.1), rtol=1e-9)

    def test_after_a_run_that_ended_in_sliding(self) -> None:
        mech = pendulum(0.981)
        mech.start(q={"A": 1.0})
        moving = lw.simulate(mech, 0.3).state(0.3)
        assert abs(moving["A.u"]) > 0.1
        np.testing.assert_allclose(lw.rest_range(mech, "A", moving).low, -np.arcsin(0.1), rtol=1e-9)
        assert lw.equilibrium(mech, moving)["A.q"] == pytest.approx(0.0, abs=1e-9)

    def test_everywhere(self) -> None:
        found = lw.rest_range(pendulum(WEIGHT * 1.001), "A")
        assert (found.low, found.high) == (-np.inf, np.inf)
        assert found.low_state is found.high_state is None

    def test_a_brake_holds_by_its_input(self) -> None:
        mech = pendulum(0.0)
        mech.add_force(lw.Brake("A", "clamp", inputs=("clamp",)))
        found = lw.rest_range(mech, "A", inputs={"brake.clamp": 0.981})
        np.testing.assert_allclose(found.high, np.arcsin(0.1), rtol=1e-9)

    def test_a_brake_whose_capacity_depends_on_the_pose(self) -> None:
        """Where m g l/2 sin(q) = 2 cos(q)."""
        mech = pendulum(0.0)
        mech.add_force(lw.Brake("A", "most*cos(A.q)", parameters={"most": (2.0, "N.m")}))
        np.testing.assert_allclose(lw.rest_range(mech, "A").high, np.arctan(2 / WEIGHT), rtol=1e-9)

    def test_several_freedoms(self) -> None:
        """Two springs in series: each joint's friction displaces its spring alone."""
        mech = lw.Mechanism("row")
        for parent, child, name, stiffness in (("ground", "a", "A", 100.0), ("a", "b", "B", 50.0)):
            mech.add_body(child, mass=1.0, com=(0, 0, 0), inertia=lw.inertia.sphere(1.0, 0.1))
            mech.add_joint(name, lw.Prismatic((1, 0, 0)), parent, child)
            mech.add_force(lw.SpringDamper(name, stiffness=stiffness))
        mech.add_force(lw.Friction("A", coulomb=2.0, name="dryA"))
        mech.add_force(lw.Friction("B", coulomb=1.5, name="dryB"))
        for name, end in (("A", 0.02), ("B", 0.03), ("b.r[1]", 0.05)):
            found = lw.rest_range(mech, name)
            np.testing.assert_allclose((found.low, found.high), (-end, end), rtol=1e-9, atol=1e-12)

    def test_four_bar_by_virtual_work(self) -> None:
        """Gravity's work along the crank's angle against that of all frictions."""
        model = lw.compile(four_bar())

        def lacks(angle: float, sense: float) -> float:
            state = model.assemble(q={"A": angle, "B": -2.8}, u={"A": 1.0})
            rates = np.array([state[f"{joint}.u"] for joint in "ABCD"])
            falls = sum(
                m * state[f"{body}.v"][2] + m * np.cross(state[f"{body}.w"], arm(state, body))[2] for body, m in masses
            )
            return float(9.81 * falls + sense * np.abs(rates) @ (0.3, 0.1, 0.2, 0.4))

        masses = (("crank", 1.0), ("coupler", 2.0), ("rocker", 1.5))
        halves = {"crank": 0.2, "coupler": 0.5, "rocker": 0.4}

        def arm(state, body) -> np.ndarray:
            w, x, y, z = state[f"{body}.Q"]
            return halves[body] * np.array([1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)])

        found = lw.rest_range(model, "A")
        for end, other in ((found.low, found.high), (found.high, found.low)):
            middle = 0.5 * (end + other)
            sense = np.sign(-lacks(end, 0.0))
            exact = brentq(lacks, end - 0.3 * (middle - end), end + 0.3 * (middle - end), (sense,), xtol=1e-13)
            np.testing.assert_allclose(end, exact, rtol=1e-9)

    def test_the_core_slides_beyond_both_ends_and_not_within(self) -> None:
        model = lw.compile(four_bar())
        found = lw.rest_range(model, "A")
        for end, inward in ((found.low, 1.0), (found.high, -1.0)):
            for step, moves in ((1e-7, False), (-1e-7, True)):
                state = model.assemble(q={"A": end + inward * step})
                assert np.any(np.abs(model.accelerations(state)) > 1e-9) == moves

    def test_refusals(self) -> None:
        mech = pendulum(1.0, smooth=0.1)
        with pytest.raises(lw.MechanismError, match="has no dry friction that sticks"):
            lw.rest_range(mech, "A")
        with pytest.raises(lw.MechanismError, match=r"'rod\.r' has 3 values: name one"):
            lw.rest_range(pendulum(1.0), "rod.r")
        with pytest.raises(lw.EquilibriumError, match="dry friction does not hold the start"):
            lw.rest_range(block(0.5 * DOWN), "S")


class TestStops:
    def test_they_end_the_range(self) -> None:
        found = lw.rest_range(block(1.5 * DOWN, lw.Stop("S", lower=-0.3, upper=0.5)), "S")
        np.testing.assert_allclose((found.low, found.high), (-0.3, 0.5), atol=1e-12)

    def test_a_search_comes_to_rest_on_one(self) -> None:
        """Friction takes no part in the search, and so not in the load of the stop."""
        found = lw.equilibrium(block(0.5 * DOWN, lw.Stop("S", upper=0.5)))
        assert found["S.q"] == pytest.approx(0.5)
        assert found.contacts["stop"] == pytest.approx(-DOWN)


class TestStuck:
    def test_the_start_is_held(self) -> None:
        found = lw.equilibrium(pendulum(0.981), q={"A": 0.09}, seek="stuck")
        assert found["A.q"] == 0.09
        assert abs(found.holding["A"]) == pytest.approx(WEIGHT * np.sin(0.09), rel=1e-12)
        assert found.frequencies.size == 0

    def test_or_slides(self) -> None:
        with pytest.raises(lw.EquilibriumError, match=r"'A' begins to slide; 'friction' holds up to 0\.981 N\.m") as e:
            lw.equilibrium(pendulum(0.981), q={"A": 0.11}, seek="stuck")
        assert e.value.result["A.q"] == 0.11

    def test_what_does_not_stick_oscillates(self) -> None:
        mech = block(2 * DOWN)
        mech.add_body("bob", mass=0.5, com=(0, 0, -0.3), inertia=lw.inertia.sphere(0.5, 0.01))
        mech.add_joint("B", lw.Revolute((0, 1, 0)), "block", "bob", at=(0, 0, 0))
        found = lw.equilibrium(mech, seek="stuck")
        length = 0.3 + 0.4 * 0.01**2 / 0.3
        np.testing.assert_allclose(found.frequencies, np.sqrt(9.81 / length) / (2 * np.pi), rtol=1e-9)

    def test_a_search_that_finds_no_pose_of_rest_takes_it(self) -> None:
        found = lw.equilibrium(block(1.5 * DOWN))
        assert found["S.q"] == 0.0
        assert abs(found.holding["S"]) == pytest.approx(DOWN)
        with pytest.raises(lw.EquilibriumError, match="'S' runs away"):
            lw.equilibrium(block(0.5 * DOWN))

    def test_refusals(self) -> None:
        with pytest.raises(lw.MechanismError, match="leave out hold, motors and speeds"):
            lw.equilibrium(pendulum(1.0), hold=["A"], seek="stuck")
        with pytest.raises(lw.MechanismError, match="has no dry friction that sticks"):
            lw.equilibrium(pendulum(1.0, smooth=0.1), seek="stuck")
