"""Warnings: each kind where the mistake was made, and silence where the same numbers are meant."""

import importlib.util
import subprocess
import sys
import warnings

import numpy as np
import pytest

import linkwork as lw
from linkwork.cli.main import main
from linkwork.mechanism.plausibility import implausible
from support.checkout import TOP
from support.random_mechanisms import FAMILIES, well_posed
from support.zoo import zoo

Y = (0, 1, 0)
HINGE = lw.Revolute(Y)


def of(mech, kind):
    return [str(warning) for warning in implausible(mech) if type(warning) is kind]


def four_bar(*, inertia=1.0, frame=True):
    """Rods; `inertia` scales the crank's, and without `frame` that of the closing joint in the rocker is left out."""
    mech = lw.Mechanism("four_bar")
    for name, length in (("crank", 0.4), ("coupler", 1.0), ("rocker", 0.8)):
        moment = lw.inertia.rod(1.0, length) * (inertia if name == "crank" else 1.0)
        mech.add_body(name, mass=1.0, com=(length / 2, 0, 0), inertia=moment)
    mech.add_joint("A", HINGE, "ground", "crank", parent_frame=lw.Frame())
    mech.add_joint("B", HINGE, "crank", "coupler", parent_frame=lw.Frame((0.4, 0, 0)))
    given = {"child_frame": lw.Frame((0.8, 0, 0))} if frame else {}
    mech.add_joint("C", HINGE, "coupler", "rocker", parent_frame=lw.Frame((1, 0, 0)), **given)
    mech.add_joint("D", HINGE, "ground", "rocker", parent_frame=lw.Frame((1.1, 0, 0)))
    return mech


class TestInertia:
    @pytest.mark.parametrize("unit", [1e4, 1e6])  # kg cm^2 and kg mm^2 as numbers
    def test_units_that_are_mistaken(self, unit):
        (text,) = of(four_bar(inertia=unit), lw.InertiaWarning)
        radius = np.sqrt(unit * 0.4**2 / 12)
        assert "body 'crank'" in text
        assert f"radius of gyration of {radius:.3g} m" in text
        assert "within 0.2 m" in text

    @pytest.mark.parametrize("factor", [1.0, 4.0, 12.0])  # right, about an end, of a point mass at the end
    def test_what_a_body_may_have(self, factor):
        assert not list(implausible(four_bar(inertia=factor)))

    def test_a_flywheel_on_its_shaft(self):
        """A wheel of 0.3 m with a crank pin at 0.02 m, and one of which the shaft alone is named."""
        for pin in (0.02, 0.0):
            mech = lw.Mechanism("engine")
            mech.add_body("wheel", mass=5.0, com=(0, 0, 0), inertia=lw.inertia.disk(5.0, 0.3, axis="y"))
            mech.add_body("rod", mass=0.2, com=(0.1, 0, 0), inertia=lw.inertia.rod(0.2, 0.2))
            mech.add_joint("shaft", HINGE, "ground", "wheel", at=(0, 0, 0))
            mech.add_joint("pin", HINGE, "wheel", "rod", parent_frame=lw.Frame((pin, 0, 0)))
            assert not of(mech, lw.InertiaWarning)

    def test_of_a_body_with_its_joint_at_its_centre(self):
        mech = lw.Mechanism("rotor")
        mech.add_body("rotor", mass=1.0, com=(0, 0, 0), inertia=1e4 * np.eye(3))
        mech.add_joint("shaft", HINGE, "ground", "rotor", at=(0, 0, 0))
        assert not list(implausible(mech))


class TestDegrees:
    @pytest.mark.parametrize("angle", [30.0, -45, 90])
    def test_a_start_in_degrees(self, angle):
        mech = four_bar()
        mech.start(q={"A": angle})
        (text,) = of(mech, lw.DegreesWarning)
        assert f"start q of joint 'A' in mechanism 'four_bar': {angle:g} rad are" in text
        assert f"{angle:g} degrees are {np.radians(angle):.6g} rad" in text

    @pytest.mark.parametrize("angle", [0.0, np.pi, -19.0])
    def test_angles_that_are_meant(self, angle):
        mech = four_bar()
        mech.start(q={"A": angle}, u={"A": 300.0})
        assert not list(implausible(mech))

    def test_displacements_screws_and_shafts_in_gears(self):
        mech = lw.Mechanism("spindle")
        kinds = {"slide": lw.Prismatic(Y), "spindle": lw.Screw(Y, 0.001), "motor": HINGE, "arm": HINGE}
        for name, kind in kinds.items():
            mech.add_body(f"{name}_body", mass=1.0, com=(0, 0, 0), inertia=0.1 * np.eye(3))
            mech.add_joint(name, kind, "ground", f"{name}_body", at=(0, 0, 0))
        mech.add_coupling("gear", {"motor": 1.0, "arm": -100.0})
        mech.start(q={"slide": 50.0, "spindle": 100.0, "motor": 80.0, "arm": 0.8})
        assert not list(implausible(mech))
        mech.add_body("hand", mass=1.0, com=(0, 0, 0), inertia=0.1 * np.eye(3))
        mech.add_joint("wrist", lw.Cylindrical(Y), "arm_body", "hand", at=(0, 0, 0))
        mech.start(q={"wrist": [45.0, 60.0]})
        assert len(of(mech, lw.DegreesWarning)) == 1


class TestJointFrames:
    def test_a_frame_that_was_forgotten(self):
        (text,) = of(four_bar(frame=False), lw.JointFrameWarning)
        assert "body 'rocker'" in text
        assert "'C', 'D'" in text
        assert "give child_frame= of joint 'D'" in text

    def test_on_the_parents_side(self):
        mech = lw.Mechanism("chain")
        for name in ("one", "two"):
            mech.add_body(name, mass=1.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(1.0, 1.0))
        mech.add_joint("A", HINGE, "ground", "one", parent_frame=lw.Frame())
        mech.add_joint("B", HINGE, "one", "two", child_frame=lw.Frame((1.0, 0, 0)))
        (text,) = of(mech, lw.JointFrameWarning)
        assert "give parent_frame= of joint 'B'" in text

    def test_reference_poses_that_are_given(self):
        """The rod's origin is its middle, where the frame that is left out would be."""
        mech = lw.Mechanism("pendulum")
        mech.add_body("rod", mass=1.0, com=(0, 0, 0), inertia=lw.inertia.rod(1.0, 1.0), origin=(0.5, 0, 0.2))
        mech.add_body("bob", mass=1.0, com=(0, 0, 0), inertia=lw.inertia.sphere(1.0, 0.1), origin=(1, 0, 0.2))
        mech.add_joint("A", HINGE, "ground", "rod", parent_frame=lw.Frame((0, 0, 0.2)))
        mech.add_joint("B", HINGE, "rod", "bob", parent_frame=lw.Frame((0.5, 0, 0)))
        (text,) = of(mech, lw.JointFrameWarning)
        assert "joint 'A' of mechanism 'pendulum': its child_frame" in text
        assert "origin of body 'rod', 0.5 m away" in text

    @pytest.mark.parametrize("kind", [lw.Spherical(), lw.Revolute((0, 0, 1))])
    def test_joints_that_meet_at_a_point(self, kind):
        """Parallel hinges do hold a body like one; other axes, or a mass on the axis, do not."""
        mech = lw.Mechanism("gimbal")
        for name, com in (("ring", (0.1, 0, 0)), ("rotor", (0, 0, 0.1))):
            mech.add_body(name, mass=1.0, com=com, inertia=0.1 * np.eye(3))
        mech.add_joint("outer", HINGE, "ground", "ring", at=(0, 0, 0))
        mech.add_joint("inner", kind, "ring", "rotor", at=(0, 0, 0))
        assert not list(implausible(mech))


def car(**spring):
    """A chassis of 300 kg on a guide over a wheel of 40 kg on another, between them a strut."""
    mech = lw.Mechanism("quarter_car")
    mech.add_body("wheel", mass=40.0, com=(0, 0, 0), inertia=np.eye(3))
    mech.add_body("chassis", mass=300.0, com=(0, 0, 0), inertia=np.eye(3))
    mech.add_joint("tyre", lw.Prismatic((0, 0, 1)), "ground", "wheel", at=(0, 0, 0))
    mech.add_joint("guide", lw.Prismatic((0, 0, 1)), "wheel", "chassis", parent_frame=lw.Frame((0, 0, 0.5)))
    mech.add_force(lw.SpringDamper("tyre", stiffness=2e5))
    if "bodies" not in spring:
        mech.add_force(lw.SpringDamper("guide", **spring))
    else:
        mech.add_force(lw.SpringDamper(**spring))
    return mech


class TestSprings:
    @pytest.mark.parametrize("stiffness", [2e4, 2e3])  # 0.15 m and 1.5 m
    def test_springs_that_are_soft(self, stiffness):
        assert not list(implausible(car(stiffness=stiffness, damping=1000.0)))

    def test_newtons_per_millimetre(self):
        (text,) = of(car(stiffness=20.0), lw.SpringWarning)
        assert "joint 'guide'" in text
        assert f"under a weight of {300 * 9.81:.4g} N it sags by {300 * 9.81 / 20.0:.3g} m" in text

    def test_a_preload(self):
        """The same spring, compressed so far that it carries the chassis."""
        assert not list(implausible(car(stiffness=20.0, free=300 * 9.81 / 20.0)))

    def test_without_weight_along_the_guide(self):
        mech = car(stiffness=20.0)
        mech.gravity = (9.81, 0, 0)
        assert not list(implausible(mech))

    @pytest.mark.parametrize("upside_down", [False, True])
    def test_a_strut_without_a_free_length(self, upside_down):
        ends = [("wheel", (0, 0, 0)), ("chassis", (0, 0, 0))]
        bodies, points = zip(*(ends[::-1] if upside_down else ends), strict=True)
        strut = {"bodies": bodies, "points": points, "stiffness": 2e4, "name": "strut"}
        (text,) = of(car(**strut), lw.SpringWarning)
        assert "SpringDamper 'strut'" in text
        assert "pulls 'chassis' down with 1e+04 N" in text
        assert not list(implausible(car(**strut, free=0.65)))

    def test_a_spring_above_that_carries(self):
        cord = {"bodies": ("ground", "chassis"), "points": ((0, 0, 3), (0, 0, 0)), "stiffness": 2e4, "name": "cord"}
        assert not list(implausible(car(**cord)))

    def test_a_stop_carries_as_well(self):
        mech = car(bodies=("wheel", "chassis"), points=np.zeros((2, 3)), stiffness=2e4)
        mech.add_transition("bump", lw.Stop("guide", lower=-0.1))
        assert not list(implausible(mech))

    def test_a_platform_that_nothing_guides(self):
        mech = lw.Mechanism("platform")
        mech.add_body("plate", mass=10.0, com=(0, 0, 0), inertia=np.eye(3))
        mech.add_joint("free", lw.Free(), "ground", "plate", parent_frame=lw.Frame())
        mech.start(q={"free": [0, 0, 1, 1, 0, 0, 0]})
        for name, x in (("left", -0.3), ("right", 0.3)):
            ends = ((x, 0, 0), (x, 0, 0))
            mech.add_force(lw.SpringDamper(bodies=("ground", "plate"), points=ends, stiffness=1e3, name=name))
        assert len(of(mech, lw.SpringWarning)) == 2


class TestShown:
    def test_once_for_a_mechanism_at_the_line_of_the_caller(self):
        mech = four_bar(frame=False)
        with warnings.catch_warnings(record=True) as shown:
            warnings.simplefilter("always")
            for _ in range(2):
                lw.compile(mech)
        assert [one.category for one in shown] == [lw.JointFrameWarning]
        assert shown[0].filename == __file__

    def test_of_a_run(self):
        mech = four_bar()
        mech.start(q={"A": 40.0})
        with pytest.warns(lw.DegreesWarning):
            lw.simulate(mech, 0.01, progress=False)

    def test_filters(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", lw.InertiaWarning)
            lw.compile(four_bar(inertia=1e6))
            with pytest.raises(lw.JointFrameWarning):
                lw.compile(four_bar(frame=False))

    def test_on_the_command_line(self, tmp_path, capsys):
        four_bar(inertia=1e6).save(tmp_path / "a.json")
        assert main(["info", str(tmp_path / "a.json")]) == 0
        told = capsys.readouterr().err.splitlines()
        assert len(told) == 1
        assert told[0].startswith("warning: body 'crank' of mechanism 'four_bar'")


@pytest.mark.parametrize("name", FAMILIES)
def test_random_mechanisms_are_silent(name):
    assert not [
        str(one) for seed in range(3) for one in implausible(well_posed(FAMILIES[name][0], seed=seed).mechanism)
    ]


def test_one_of_every_kind_is_silent():
    assert not list(implausible(zoo()))


@pytest.mark.parametrize("path", sorted((TOP / "examples").glob("*.py")), ids=lambda path: path.stem)
def test_examples_are_silent(path, monkeypatch):
    monkeypatch.syspath_prepend(str(path.parent))
    specification = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(specification)
    monkeypatch.setitem(sys.modules, path.stem, module)  # where dataclasses look for it
    specification.loader.exec_module(module)
    if hasattr(module, "mechanism"):
        assert not [str(one) for one in implausible(module.mechanism())]


def test_turned_off_for_a_process():
    """By the option of the interpreter, which knows the categories of Python only."""
    lines = ["import linkwork as lw", "m = lw.Mechanism('a')", "m.add_body('b', 1.0, (0.1, 0, 0), [[1e6, 0, 0]] * 0 or"]
    lines[-1] += " [[1e6, 0, 0], [0, 1e6, 0], [0, 0, 1e6]])"
    lines += ["m.add_joint('A', lw.Revolute((0, 1, 0)), 'ground', 'b', at=(0, 0, 0))", "lw.compile(m)"]
    told = [
        subprocess.run([sys.executable, *options, "-c", "\n".join(lines)], capture_output=True, text=True, check=True)
        for options in ([], ["-W", "ignore::UserWarning"])
    ]
    assert [("InertiaWarning" in one.stderr) for one in told] == [True, False]
