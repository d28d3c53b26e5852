"""Start values that violate couplings, couplings that cannot hold, and their messages."""

import numpy as np
import pytest

import linkwork as lw
from support.cases import four_bar
from support.driving import by_joint
from support.gear_families import GEAR_FAMILIES
from support.geared import geared
from support.methods import METHODS, compiled
from support.random_mechanisms import FAMILIES, well_posed

Z = (0.0, 0.0, 1.0)


def wheels(*names, kinds=()):
    """Bodies on axes of their own."""
    mech = lw.Mechanism("wheels")
    for k, name in enumerate(names):
        mech.add_body(f"of_{name}", mass=1.0, com=(0.1, 0, 0), inertia=0.1 * np.eye(3))
        kind = kinds[k] if kinds else lw.Revolute(Z)
        mech.add_joint(name, kind, "ground", f"of_{name}", at=(0.5 * k, 0, 0))
    return mech


def speed(term):
    """The variable of the speed that a coupling's term names as "A" or "B[2]"."""
    joint, bracket, element = term.partition("[")
    return f"{joint}.u{bracket}{element}"


class TestStartValues:
    def test_the_one_given_stays_and_the_other_follows(self):
        mech = wheels("motor", "arm")
        mech.add_coupling("gear", {"motor": 1.0, "arm": -20.0}, offset=0.5)
        system = lw.compile(mech)
        state = system.assemble(q={"arm": 0.7}, u={"arm": -0.3})
        assert (state["arm.q"], state["arm.u"]) == (0.7, -0.3)
        assert (state["motor.q"], state["motor.u"]) == pytest.approx((14.5, -6.0), rel=1e-14)
        state = system.assemble(q={"motor": 2.0}, u={"motor": 5.0})
        assert (state["motor.q"], state["motor.u"]) == (2.0, 5.0)
        assert (state["arm.q"], state["arm.u"]) == pytest.approx((0.075, 0.25), rel=1e-13)

    def test_the_first_of_two_that_contradict_stays(self):
        mech = wheels("motor", "arm")
        mech.add_coupling("gear", {"motor": 1.0, "arm": -20.0})
        mech.start(q={"arm": 0.1, "motor": 7.0}, u={"motor": 4.0, "arm": 1.0})
        state = lw.compile(mech).assemble()
        assert [state["arm.q"], state["motor.u"]] == [0.1, 4.0]
        assert [state["motor.q"], state["arm.u"]] == pytest.approx([2.0, 0.2], rel=1e-13)

    def test_without_any_start_the_least_change_is_found(self):
        mech = wheels("a", "b", "c")
        mech.add_coupling("sum", {"a": 1.0, "b": 2.0, "c": -2.0}, offset=9.0)
        state = lw.compile(mech).assemble()
        assert [state["a.q"], state["b.q"], state["c.q"]] == pytest.approx([1.0, 2.0, -2.0], rel=1e-12)

    def test_trains_and_large_ratios(self):
        """Each shaft turns fifty times as often as the one before: the last has many revolutions to do."""
        mech = wheels("a", "b", "c")
        mech.add_coupling("first", {"b": 1.0, "a": -50.0})
        mech.add_coupling("second", {"c": 1.0, "b": -50.0})
        state = lw.compile(mech).assemble(q={"a": 1.5}, u={"a": 2.0})
        assert [state["b.q"], state["c.q"]] == pytest.approx([75.0, 3750.0], rel=1e-12)
        assert [state["b.u"], state["c.u"]] == pytest.approx([100.0, 5000.0], rel=1e-12)

    def test_rack_and_pinion(self):
        mech = wheels("pinion", "rack", kinds=(lw.Revolute(Z), lw.Prismatic((1, 0, 0))))
        mech.add_coupling("mesh", {"rack": 1.0, "pinion": -0.02}, offset=0.1)
        state = lw.compile(mech).assemble(q={"pinion": 5.0}, u={"rack": 0.3})
        assert state["rack.q"] == pytest.approx(0.2, rel=1e-14)
        assert state["pinion.u"] == pytest.approx(15.0, rel=1e-13)

    @pytest.mark.parametrize("start", [2.0, -1.0, 0.0])
    def test_a_cam(self, start):
        """The follower is at 0.3 q - 0.1 q^2 + 0.02 q^3, its rate is the slope times the rate of the cam."""
        mech = wheels("cam", "follower", kinds=(lw.Revolute(Z), lw.Prismatic((0, 0, 1))))
        mech.add_coupling("profile", {"follower": -1.0, "cam": (0.3, -0.1, 0.02)})
        state = lw.compile(mech).assemble(q={"cam": start}, u={"cam": 4.0})
        assert state["follower.q"] == pytest.approx(np.polyval([0.02, -0.1, 0.3, 0.0], start), abs=1e-13)
        assert state["follower.u"] == pytest.approx(4.0 * np.polyval([0.06, -0.2, 0.3], start), rel=1e-12)

    def test_a_slope_that_vanishes_at_the_guess(self):
        """q^2 = 4 from q = 0, where no step is downhill: other guesses find a way."""
        mech = wheels("a", "b")
        mech.add_coupling("circle", {"a": (0.0, 1.0), "b": (0.0, 1.0)}, offset=4.0)
        state = lw.compile(mech).assemble()
        assert state["a.q"] ** 2 + state["b.q"] ** 2 == pytest.approx(4.0, rel=1e-10)

    @pytest.mark.parametrize("cut", ["A", "D"])
    def test_an_output_of_a_four_bar(self, cut):
        """A shaft geared to the rocker, whose turn is a state or not: the crank is given, all others follow."""
        mech = four_bar(cut).mechanism
        mech.add_body("shaft", mass=1.0, com=(0, 0, 0), inertia=0.1 * np.eye(3))
        mech.add_joint("S", lw.Revolute((0, 1, 0)), "ground", "shaft", at=(1.0, 0, 0))
        mech.add_coupling("gear", {"S": 1.0, "D": -30.0})
        alone = lw.compile(four_bar(cut).mechanism).assemble(q={"B": -0.7, "A": -0.7}, u={"A": -3.0})
        state = lw.compile(mech).assemble(q={"A": -0.7}, u={"A": -3.0})
        assert state["A.q"] == -0.7
        assert np.abs(state.model.loop_residual(state)).max() < 1e-11
        assert state["S.q"] == pytest.approx(30.0 * state["D.q"], abs=1e-9)
        assert state["S.u"] == pytest.approx(30.0 * state["D.u"], abs=1e-9)
        assert state["A.u"] == pytest.approx(alone["A.u"], abs=1e-12)

    @pytest.mark.thin(12, kept=2)
    @pytest.mark.parametrize("method", METHODS)
    @pytest.mark.parametrize("name", [*GEAR_FAMILIES, "three_planar_legs", "closed_chain_12R"])
    @pytest.mark.parametrize("seed", range(2))
    def test_perturbed_guesses(self, name, method, seed):
        make = GEAR_FAMILIES[name][0] if name in GEAR_FAMILIES else geared(FAMILIES[name][0])
        scene = well_posed(make, seed)
        rng = np.random.default_rng(seed)
        system = compiled(scene.mechanism, method)
        state = system.assemble(q={n: q + rng.uniform(-0.3, 0.3, np.shape(q)) for n, q in scene.q.items()}, u=scene.u)
        assert np.abs(system.coupling_residual(state)).max() < 1e-10
        assert np.abs(system.loop_residual(state)).max(initial=0.0) < 1e-11
        for name, gear in scene.gears.items():
            q = by_joint(system, state.q)
            u = {term: state[speed(term)] for term in gear.terms}
            assert gear.residual(q) == pytest.approx(state[f"{name}.residual"], abs=1e-12)
            assert sum(slope * u[term] for term, slope in gear.slopes(q).items()) == pytest.approx(0.0, abs=1e-10)


def refused(mech, **start):
    with pytest.raises(lw.AssemblyError) as error:
        lw.compile(mech).assemble(**start)
    return str(error.value)


class TestWhatCannotHold:
    def test_the_same_thing_twice(self):
        mech = wheels("a", "b", "c")
        mech.add_coupling("other", {"b": 1.0, "c": 1.0})
        mech.add_coupling("gear", {"a": 1.0, "b": -2.0})
        mech.add_coupling("again", {"a": -3.0, "b": 6.0})
        message = refused(mech)
        assert "couplings 'gear' and 'again' repeat or contradict each other" in message
        assert "leave one out" in message
        assert "'other'" not in message

    def test_a_train_that_closes(self):
        """Three wheels, each geared to both others: consistent, and one gear too many all the same."""
        mech = wheels("a", "b", "c", "d")
        mech.add_coupling("ab", {"a": 1.0, "b": 2.0})
        mech.add_coupling("bd", {"b": 1.0, "d": 2.0})
        mech.add_coupling("bc", {"b": 1.0, "c": -3.0})
        mech.add_coupling("ca", {"c": 6.0, "a": 1.0})
        assert "couplings 'ab', 'bc' and 'ca' repeat or contradict" in refused(mech)

    def test_offsets_that_contradict(self):
        mech = wheels("a", "b")
        mech.add_coupling("zero", {"a": 1.0, "b": -2.0})
        mech.add_coupling("one", {"a": 1.0, "b": -2.0}, offset=1.0)
        assert "couplings 'zero' and 'one' repeat or contradict" in refused(mech)

    def test_ratios_that_contradict(self):
        mech = wheels("a", "b", "free")
        mech.add_coupling("slow", {"a": 1.0, "b": -20.0})
        mech.add_coupling("fast", {"a": 1.0, "b": -10.0}, offset=2.0)
        message = refused(mech)
        assert "no joint of couplings 'slow' and 'fast' can move" in message
        assert "compare the ratios" in message

    def test_only_those_that_hold_still_are_named(self):
        """A differential that is driven from outside stays; the pair that blocks itself is named."""
        mech = wheels("a", "b", "c", "d")
        mech.add_coupling("blocked", {"a": 1.0, "b": 1.0})
        mech.add_coupling("as_well", {"a": 1.0, "b": -1.0})
        mech.add_coupling("moving", {"b": 1.0, "c": 1.0, "d": 1.0})
        message = refused(mech)
        assert "'blocked' and 'as_well'" in message
        assert "'moving'" not in message

    def test_a_gear_that_blocks_a_loop(self):
        mech = four_bar().mechanism
        mech.add_coupling("gear", {"A": 1.0, "B": 3.0})
        assert "no joint of coupling 'gear' can move: together with the loops" in refused(mech, q={"A": 0.3})

    @pytest.mark.parametrize("cut", ["B", "D"])
    def test_a_gear_that_repeats_a_parallelogram(self, cut):
        """Both cranks of a parallelogram turn alike already."""
        mech = lw.Mechanism("parallelogram", gravity=(0, 0, -9.81))
        for name, length in (("left", 0.3), ("coupler", 1.0), ("right", 0.3)):
            mech.add_body(name, 1.0, (length / 2, 0, 0), lw.inertia.rod(1.0, length, axis="x"))
        frames = {"A": (0, 0, 0), "B": (0.3, 0, 0), "C": (1.0, 0, 0)}
        ends = [("A", "ground", "left"), ("B", "left", "coupler"), ("C", "coupler", "right")]
        for name, parent, child in ends:
            mech.add_joint(
                name, lw.Revolute((0, 1, 0)), parent, child, parent_frame=lw.Frame(frames[name]), cut=name == cut
            )
        far = {"parent_frame": lw.Frame((1.0, 0, 0)), "child_frame": lw.Frame((0.3, 0, 0))}
        mech.add_joint("D", lw.Revolute((0, 1, 0)), "ground", "right", cut=cut == "D", **far)
        mech.start(q={"A": -1.0, "B": 1.0, "C": np.pi - 1.0})
        mech.add_coupling("rods", {"A": 1.0, "D": -1.0}, offset=np.pi)
        message = refused(mech)
        assert "coupling 'rods' asks what the loops through its joints decide already" in message
        assert "leave it out" in message

    def test_out_of_reach(self):
        """A sum of squares cannot be negative."""
        mech = wheels("a", "b")
        mech.add_coupling("circle", {"a": (0.0, 1.0), "b": (0.0, 1.0)}, offset=-4.0)
        message = refused(mech, q={"a": 0.1, "b": 0.1})
        assert "coupling 'circle' cannot be satisfied" in message
        assert "residual" in message
        assert "check its coefficients and its offset" in message

    def test_many_names_are_cut_short(self):
        mech = wheels(*(f"quite_a_long_name_{k}" for k in range(12)))
        names = list(mech.joints)
        for k, name in enumerate(names):
            mech.add_coupling(f"belt_from_{name}", {name: 1.0, names[k - 1]: -1.0})
        message = refused(mech)
        assert "couplings 'belt_from_quite_a_long_name_0', " in message
        assert "more repeat or contradict each other" in message

    def test_a_single_coordinate_may_be_held(self):
        """A coupling of one term fixes its joint."""
        mech = wheels("a", "b")
        mech.add_coupling("brake", {"a": 2.0}, offset=0.8)
        mech.add_coupling("gear", {"a": 1.0, "b": -1.0})
        system = lw.compile(mech)
        state = system.assemble(u={"b": 1.0})
        assert [state["a.q"], state["b.q"]] == pytest.approx([0.4, 0.4], rel=1e-14)
        assert [state["a.u"], state["b.u"]] == pytest.approx([0.0, 0.0], abs=1e-14)
        assert system.accelerations(state, tau={"b": 3.0}) == pytest.approx([0.0, 0.0], abs=1e-14)
        assert system.value("brake.load", state, tau={"b": 3.0}) == pytest.approx(-1.5, rel=1e-12)
