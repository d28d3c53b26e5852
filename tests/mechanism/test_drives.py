"""Reflected inertia and limits of loads in descriptions, files, models and the builder in C."""

import json

import numpy as np
import pytest

import linkwork as lw
from linkwork.mechanism import json_schema
from support.c_builder import CBuilder, make_kind

Z = (0, 0, 1)


def arm(**drive):
    mech = lw.Mechanism("arm")
    mech.add_body("upper", mass=1.0, com=(0.2, 0, 0), inertia=np.eye(3) * 0.01)
    mech.add_body("lower", mass=1.0, com=(0.2, 0, 0), inertia=np.eye(3) * 0.01)
    mech.add_joint("A", lw.Spherical(), "ground", "upper", at=(0, 0, 0), **drive)
    mech.add_joint("B", lw.Cylindrical(Z), "upper", "lower", at=(0.4, 0, 0), reflected_inertia=(0.5, 2.0), max_load=7)
    return mech


class TestDescription:
    def test_one_number_or_one_for_each_speed(self):
        mech = arm(reflected_inertia=0.3, max_load=[1.0, np.inf, 2.0])
        assert mech.joints["A"].reflected_inertia.tolist() == [0.3] * 3
        assert mech.joints["A"].max_load.tolist() == [1.0, np.inf, 2.0]
        assert mech.joints["B"].reflected_inertia.tolist() == [0.5, 2.0]
        assert mech.joints["B"].max_load.tolist() == [7.0, 7.0]
        plain = arm().joints["A"]
        assert plain.reflected_inertia.tolist() == [0.0] * 3
        assert np.isinf(plain.max_load).all()

    @pytest.mark.parametrize(
        ("drive", "words"),
        [
            ({"reflected_inertia": -0.1}, "reflected_inertia must not be below zero"),
            ({"reflected_inertia": (1.0, 2.0)}, "has 2 numbers, but a Spherical has 3 speeds"),
            ({"reflected_inertia": np.inf}, "must be finite"),
            ({"reflected_inertia": "much"}, "has 4 numbers"),
            ({"max_load": np.nan}, "max_load must not be below zero, and no NaN"),
            ({"max_load": -3.0}, "leave it out"),
            ({"max_load": []}, "has 0 numbers, but a Spherical has 3 speeds"),
            ({"armature": 0.1}, "did you mean 'reflected_inertia'"),
        ],
    )
    def test_refused(self, drive, words):
        with pytest.raises((lw.MechanismError, TypeError), match=words) as refusal:
            arm(**drive)
        assert "armature" in drive or "'A'" in str(refusal.value)

    def test_a_weld_has_no_drive(self):
        mech = arm()
        mech.add_body("tip", mass=1.0, com=(0, 0, 0), inertia=np.eye(3))
        mech.add_joint("W", lw.Fixed(), "lower", "tip", at=(0, 0, 0))
        assert mech.joints["W"].max_load.size == mech.joints["W"].reflected_inertia.size == 0


class TestFiles:
    @pytest.mark.parametrize(
        "drive", [{}, {"max_load": 3.5}, {"reflected_inertia": 0.1, "max_load": [1.0, np.inf, 2.0]}]
    )
    def test_out_and_in_again(self, drive, tmp_path):
        jsonschema = pytest.importorskip("jsonschema")
        mech = arm(**drive)
        mech.save(tmp_path / "arm.json")
        text = (tmp_path / "arm.json").read_text()
        assert "Infinity" not in text
        jsonschema.validate(json.loads(text), json_schema())
        again = lw.Mechanism.load(tmp_path / "arm.json")
        for name, joint in mech.joints.items():
            assert np.array_equal(again.joints[name].reflected_inertia, joint.reflected_inertia)
            assert np.array_equal(again.joints[name].max_load, joint.max_load)
        assert lw.compile(again).model_bytes == lw.compile(mech).model_bytes

    def test_what_is_not_given_is_not_written(self):
        joint = arm().to_dict()["joints"][0]
        assert not {"reflected_inertia", "max_load"} & set(joint)


def square(**rotors):
    """A four-bar of hinges A to D whose rotors are given."""
    mech = lw.Mechanism("square")
    corners = {"A": (0, 0, 0), "B": (0, 1, 0), "C": (1, 1, 0), "D": (1, 0, 0)}
    bodies = ("ground", "left", "top", "right", "ground")
    for name, corner in zip(bodies[1:4], list(corners.values())[:3], strict=True):
        mech.add_body(name, mass=1.0, com=(0, 0, 0), inertia=np.eye(3), origin=corner)
    for (name, corner), parent, child in zip(corners.items(), bodies, bodies[1:], strict=False):
        mech.add_joint(name, lw.Revolute(Z), parent, child, at=corner, reflected_inertia=rotors.get(name, 0.0))
    return mech


class TestCompiled:
    @pytest.mark.parametrize("driven", ["A", "D", "BD", "ABD", "BCD"])
    def test_the_tree_has_the_rotors(self, driven):
        model = lw.compile(square(**dict.fromkeys(driven, 0.1)))
        assert not set(model.numbering.cut) & set(driven)

    def test_parameters(self):
        model = lw.compile(arm(reflected_inertia=(0.1, 0.2, 0.3)))
        state = model.assemble()
        assert model.value("A.reflected_inertia", state).tolist() == [0.1, 0.2, 0.3]
        assert model.value("B.max_load", state).tolist() == [7.0, 7.0]
        units = {variable.name: variable.unit for variable in model.variables}
        assert (units["A.reflected_inertia[1]"], units["B.reflected_inertia[1]"], units["B.reflected_inertia[2]"]) == (
            "kg.m2",
            "kg.m2",
            "kg",
        )
        assert (units["B.max_load[1]"], units["B.max_load[2]"]) == ("N.m", "N")
        assert "A.max_load[1]" not in units

    def test_a_changed_parameter_is_as_compiled(self):
        changed = lw.compile(arm()).with_parameters({"A.reflected_inertia": (0.1, 0.2, 0.3)})
        given = lw.compile(arm(reflected_inertia=(0.1, 0.2, 0.3)))
        rates = [model.accelerations(model.assemble(), tau={"A": (1.0, 2.0, 3.0)}) for model in (changed, given)]
        assert np.array_equal(*rates)

    def test_wrong_parameters(self):
        with pytest.raises(lw.MechanismError, match="reflected inertia of joint 'A' is below zero"):
            lw.compile(arm()).with_parameters({"A.reflected_inertia[2]": -1.0}).assemble()

    def test_a_rotor_that_multipliers_do_not_expect(self):
        mech = square()
        closing = lw.compile(mech).numbering.cut[0]
        for method in ("rcr", "dca"):
            model = lw.compile(mech, method).with_parameters({f"{closing}.reflected_inertia": 0.5})
            assert model.mass_matrix(model.assemble()).shape == (3, 3)
        again = lw.compile(mech, "multipliers").with_parameters({f"{closing}.reflected_inertia": 0.5})
        rates = [m.accelerations(m.assemble(u={"A": 1.0}), tau={"A": 1.0}) for m in (model.with_parameters({}), again)]
        assert rates[0] == pytest.approx(rates[1], abs=1e-12)

    def test_explained(self):
        assert "A spherical with reflected inertia" in lw.compile(arm(reflected_inertia=1.0)).explain()


class TestBuilder:
    @pytest.mark.parametrize(
        ("call", "values", "words"),
        [
            ("set_reflected_inertia", [-1.0], "below zero"),
            ("set_reflected_inertia", [np.inf], "finite"),
            ("set_max_load", [-1.0], "below zero"),
            ("set_max_load", [np.nan], "no number"),
        ],
    )
    def test_refused(self, call, values, words):
        b = CBuilder()
        b.add_body("rod", 1.0, (0, 0, 0), np.eye(3).ravel().tolist())
        with pytest.raises(lw.MechanismError, match=words):
            _hinge(b, call, values)


def _hinge(b, call, values):
    b.add_joint("A", make_kind("revolute", Z), "ground", "rod", None, None)
    getattr(b, call)("A", values)
