"""Start values that assembly cannot keep are reported, with the value asked and the value kept; all others stay."""

import math
import warnings

import numpy as np
import pytest

import linkwork as lw
from linkwork.cli.main import main
from linkwork.model.changed_starts import ChangedStart, describe_changed_starts
from support.linkages import four_bar, radial_engine, slider_crank
from support.loop_series import SERIES, rough
from support.random_mechanisms import FAMILIES, well_posed

CRANK, ROD = 0.1, 0.3
REACH = CRANK + ROD  # of the slide of the slider-crank


def assembled(mech, parameters=None, **given):
    """The state, and the texts of the warnings of start values."""
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        model = lw.compile(mech)
        state = (model.with_parameters(parameters) if parameters else model).assemble(**given)
    return state, [str(one.message) for one in shown if issubclass(one.category, lw.StartValueWarning)]


def value(state, name):
    """A coordinate; at a dead point nothing else exists."""
    return state.model.by_joint(state.q)[name]


def changed(state):
    return {one.name: (one.asked, one.kept, one.is_guess) for one in state.changed_start_values}


class TestOutOfReach:
    @pytest.mark.parametrize("asked", [0.401, 0.45, 5.0, -3.0])
    @pytest.mark.parametrize("by", ["description", "assemble", "parameter"])
    def test_the_nearest_value_is_kept_and_said(self, asked, by):
        mech = slider_crank(CRANK, ROD, 0.0, {"A": -0.8})
        if by == "description":
            mech = slider_crank(CRANK, ROD, 0.0, {"S": asked})
        given = {"q": {"S": asked}} if by == "assemble" else {}
        parameters = {"S.q_start": asked} if by == "parameter" else None
        state, (text,) = assembled(mech, parameters, **given)
        nearest = math.copysign(REACH, asked)
        assert state["S.q"] == pytest.approx(nearest, abs=2e-6)
        assert f"S.q = {asked:.6g} m was asked, {nearest:.6g} m is kept" in text
        assert changed(state)["S.q"] == (asked, state["S.q"], False)

    @pytest.mark.parametrize(("asked", "kept", "told"), [
        (math.pi, math.pi - 2e-9, "A.q = 3.141592654 rad was asked, 3.141592652 rad is kept"),
        (math.pi, math.pi - 1e-2, "A.q = 3.14159 rad was asked, 3.13159 rad is kept"),
        (1.0, 1.0 + 1e-14, "A.q = 1 rad was asked, 1.00000000000001 rad is kept"),
    ])  # fmt: skip
    def test_as_many_digits_as_tell_the_values_apart(self, asked, kept, told):
        mech = slider_crank(CRANK, ROD, 0.0, {})
        assert told in describe_changed_starts(lw.compile(mech), (ChangedStart("A.q", asked, kept, "rad", False),))

    @pytest.mark.parametrize("tolerance", [1e-3, 1e-8])
    @pytest.mark.parametrize("asked", [{"S": 0.45}, {"S": 0.45, "A": 0.5}])
    def test_the_end_of_a_range_is_closed_to_rounding(self, asked, tolerance):
        """A pose beyond the end is open by how far it is beyond: the tolerance of assembly would allow it."""
        state, _ = assembled(slider_crank(CRANK, ROD, 0.0, {}), q=asked, tolerance=tolerance)
        assert np.abs(state.model.loop_residual(state)).max() < 1e-12
        assert state["S.q"] == pytest.approx(REACH, abs=2e-6)

    @pytest.mark.parametrize("tolerance", [1e-3, 1e-8])
    def test_a_range_of_one_point(self, tolerance):
        """A motion gives the crank, and so the slide."""
        mech = slider_crank(CRANK, ROD, 0.0, {"S": 0.45})
        mech.prescribe("A", lw.Motion((0.5, 1.0)))
        state, _ = assembled(mech, tolerance=tolerance)
        height = CRANK * math.sin(0.5)
        assert value(state, "A") == pytest.approx(0.5, abs=1e-12)
        place = CRANK * math.cos(0.5) + math.sqrt(ROD**2 - height**2)
        assert value(state, "S") == pytest.approx(place, abs=1e-12)

    def test_a_rocker_beyond_its_range(self):
        """The greatest angle at its foot: crank and coupler in line."""
        state, (text,) = assembled(four_bar(0.4, 1.0, 0.8, 0.9, {"D": 2.9}))
        greatest = math.acos((0.9**2 + 0.8**2 - 1.4**2) / (2 * 0.9 * 0.8))
        assert "D.q = 2.9 rad was asked" in text
        assert value(state, "D") == pytest.approx(greatest, abs=1e-5)

    @pytest.mark.parametrize("pistons", [3, 8, 20])
    def test_a_piston_among_many(self, pistons):
        """The first given value decides, however many loops share the crank."""
        mech = radial_engine(CRANK, ROD, pistons)
        state, (text,) = assembled(mech, {"S0.q_start": 0.45})
        assert "S0.q = 0.45 m was asked" in text
        assert value(state, "S0") == pytest.approx(REACH, abs=2e-6)
        assert np.abs(state.model.loop_residual(state)).max() < 1e-12

    def test_a_value_that_is_the_default_is_asked_too(self):
        """Along the slide 0 is out of the way of a rod longer than the crank."""
        mech = slider_crank(CRANK, ROD, 0.0, {"A": -0.8})
        assert assembled(mech)[1] == []
        state, (text,) = assembled(mech, {"S.q_start": 0.0})
        assert abs(state["S.q"]) == pytest.approx(ROD - CRANK, abs=1e-5)
        assert "S.q = 0 m was asked" in text

    def test_of_several_parameters_those_of_the_first_joints_stay(self):
        mech = slider_crank(CRANK, ROD, 0.0, {})
        values = {"S.q_start": 0.35, "A.q_start": 0.7}
        for parameters in (values, dict(reversed(values.items()))):
            state, _ = assembled(mech, parameters)
            assert state["A.q"] == 0.7
            assert list(changed(state)) == ["S.q"]

    def test_simulations_warn(self, capfd, tmp_path):
        mech = slider_crank(CRANK, ROD, 0.0, {"A": -0.8})
        with pytest.warns(lw.StartValueWarning, match="S.q = 5 m was asked") as shown:
            lw.simulate(mech, 1e-3, parameters={"S.q_start": 5.0, "A.u_start": 1.0})
        assert all(one.filename == __file__ for one in shown)
        path = tmp_path / "mech.json"
        slider_crank(CRANK, ROD, 0.0, {"S": 5.0}).save(path)
        assert main(["info", str(path)]) == 0
        assert "warning: start values of mechanism 'slider_crank'" in capfd.readouterr().err

    @pytest.mark.parametrize("family", FAMILIES)
    def test_any_coordinate_is_kept_or_said(self, family):
        rng = np.random.default_rng(len(family))
        mech = well_posed(FAMILIES[family][0], 0).mechanism
        names = [name for name, one in mech.joints.items() if one.kind.nq and one.kind.quaternion is None]
        for name in rng.choice(names, 3):
            units = mech.joints[name].kind.coordinate_units
            asked = np.array([rng.uniform(-3, 3) * (1 if unit == "rad" else 10) for unit in units])
            state, texts = assembled(mech, q={name: asked})
            kept = np.allclose(value(state, name), asked, rtol=0, atol=1e-5)
            assert kept or any(f"{name}.q" in text for text in texts)

    @pytest.mark.parametrize("family", SERIES)
    @pytest.mark.parametrize("loops", [2, 9])
    def test_many_loops(self, family, loops):
        """A pose at the end of a range may be singular: then the error names the values."""
        mech, q = SERIES[family](loops)
        name, far = next(iter(q)), 2.5
        try:
            state, texts = assembled(mech, q=q | {name: q[name] + far})
            kept = np.allclose(value(state, name), q[name] + far, rtol=0, atol=1e-5)
        except lw.SingularityError as error:
            texts, kept = [str(error)], "was asked" in str(error)
        assert kept or any(f"{name}.q" in text for text in texts)


class TestRedundant:
    @pytest.mark.parametrize("family", ["planar_4R", "slider_crank", "spatial_7R", "three_planar_legs", "spherical_4R"])
    def test_all_coordinates_with_four_digits_are_silent(self, family):
        scene = well_posed(FAMILIES[family][0], 1)
        state, texts = assembled(scene.mechanism, q={name: np.round(q, 4) for name, q in scene.q.items()})
        assert texts == []
        assert state.changed_start_values == ()

    @pytest.mark.parametrize("family", SERIES)
    def test_guesses_of_many_loops_are_silent(self, family):
        mech, q = SERIES[family](9)
        state, texts = assembled(mech, q=rough(q, 0.05))
        assert texts == []
        assert all(one.is_guess for one in state.changed_start_values)

    def test_guesses_select_a_branch_and_are_listed(self):
        for elbow in (0.2, -2.0):
            state, texts = assembled(four_bar(0.4, 1.0, 0.8, 0.9, {"A": 1.0, "B": elbow}))
            assert texts == []
            (name,) = changed(state)
            assert name == "B.q"
            assert changed(state)[name] == (elbow, state["B.q"], True)

    def test_a_guess_on_neither_branch_is_said(self):
        state, (text,) = assembled(four_bar(0.4, 1.0, 0.8, 0.9, {"A": 1.0, "B": 2.5}))
        assert state["A.q"] == 1.0
        assert "B.q = 2.5 rad was asked" in text


class TestSpeeds:
    def test_more_speeds_than_degrees_of_freedom(self):
        mech = slider_crank(CRANK, ROD, 0.0, {"A": -0.8})
        mech.start(u={"A": 30.0, "S": 0.0})
        state, (text,) = assembled(mech)
        assert state["A.u"] == 30.0
        assert f"S.u = 0 m/s was asked, {state['S.u']:.6g} m/s is kept" in text

    def test_speeds_that_fit_are_silent(self):
        mech = slider_crank(CRANK, ROD, 0.0, {"A": -0.8})
        first = lw.compile(mech).assemble(u={"A": 30.0})
        state, texts = assembled(mech, u={"A": 30.0, "S": round(first["S.u"], 3)})
        assert texts == []
        assert state.changed_start_values == ()

    def test_a_slide_at_its_dead_point_cannot_move(self):
        mech = slider_crank(CRANK, ROD, 0.0, {"A": 0.0})
        state, (text,) = assembled(mech, u={"S": 1.0})
        assert "S.u = 1 m/s was asked" in text
        assert abs(state["S.u"]) < 1e-6


def test_each_assembly_reports_them():
    model = lw.compile(slider_crank(CRANK, ROD, 0.0, {"S": 5.0}))
    for _ in range(2):
        with pytest.warns(lw.StartValueWarning, match="S.q = 5 m was asked"):
            assert list(changed(model.assemble())) == ["S.q"]


def test_saved_states_do_not_have_them(tmp_path):
    model = lw.compile(slider_crank(CRANK, ROD, 0.0, {"S": 5.0}))
    with pytest.warns(lw.StartValueWarning):
        state = model.assemble()
    for name in ("a.json", "a.npz"):
        state.save(tmp_path / name)
        found = lw.State.load(tmp_path / name, model)
        assert np.array_equal(found.q, state.q)
        assert found.changed_start_values == ()


def test_one_coordinate_of_a_cut_joint_is_kept_by_itself():
    """Two bars, the second with its end on a line: the displacement along it is asked, the angle about it is free."""
    mech, hinge = lw.Mechanism("bars"), lw.Revolute((0, 0, 1))
    for name in ("left", "right"):
        mech.add_body(name, mass=1.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(1.0, 1.0))
    mech.add_joint("A", hinge, "ground", "left", parent_frame=lw.Frame())
    mech.add_joint("B", hinge, "left", "right", parent_frame=lw.Frame((1, 0, 0)))
    tip = lw.Frame((1, 0, 0))
    slot = lw.PinInSlot((0, 0, 1), (1, 0, 0))
    mech.add_joint("P", slot, "ground", "right", parent_frame=lw.Frame(), child_frame=tip, cut=True)
    mech.start(q={"A": 0.4, "B": -0.8})
    for place in (1.2, 1.7):
        state, texts = assembled(mech, {"P.q_start[1]": place})
        assert state["P.q"][0] == pytest.approx(place, abs=1e-12)
        assert texts == []
