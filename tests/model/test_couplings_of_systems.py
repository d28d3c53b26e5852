"""Couplings and motions as a system shows them: residuals, times, names and what these depend on."""

import numpy as np
import pytest

import linkwork as lw
from linkwork.core.native import Stage
from support.bodies import HINGE, with_bodies
from support.cases import four_bar
from support.driven import TIME, driven, movable
from support.gear_families import GEAR_FAMILIES
from support.geared import geared
from support.random_mechanisms import FAMILIES, well_posed


def scene_of(name):
    if name in GEAR_FAMILIES:
        return well_posed(GEAR_FAMILIES[name][0], 0)
    return well_posed(geared(FAMILIES[name][0]), 0)


def pair(motion=None):
    """Two shafts and a gear, one of them driven, and a third shaft."""
    mech = with_bodies("rotor", "arm", "other")
    for joint, body in (("motor", "rotor"), ("hinge", "arm"), ("apart", "other")):
        mech.add_joint(joint, HINGE, "ground", body, at=(0, 0, 0))
    mech.add_coupling("gear", {"motor": 1.0, "hinge": (-4.0, 0.5)}, offset=0.2)
    if motion:
        mech.prescribe("hinge", motion)
    return mech


class TestResidual:
    def test_it_is_what_the_terms_lack(self):
        system = lw.compile(pair(lw.Motion((0.1, 2.0), amplitude=0.3, frequency=0.25)))
        assert system.coupling_names == ["gear", "hinge_drive"]
        q = np.array([[1.0, 0.5, 0.0], [0.0, 0.0, 3.0], [0.4, -0.2, 1.0]])
        time = np.array([0.0, 1.0, 2.0])
        found = system.coupling_residual(q, np.zeros(3), time=time)
        motion = 0.1 + 2.0 * time + 0.3 * np.sin(np.pi / 2 * time)
        expected = [q[:, 0] - 4.0 * q[:, 1] + 0.5 * q[:, 1] ** 2 - 0.2, q[:, 1] - motion]
        assert found == pytest.approx(np.transpose(expected), abs=1e-15)
        assert system.loop_residual(q, np.zeros(3)).shape == (3, 0)

    def test_of_loops_and_couplings_apart(self):
        mech = four_bar().mechanism
        closed = lw.compile(mech).assemble()
        mech.add_coupling("gear", {"A": 1.0, "B": 1.0}, offset=0.5)
        system = lw.compile(mech)
        q, u = np.broadcast_to([closed[name] for name in system.q_names], (5, 2, 3)), np.zeros(3)
        assert system.loop_residual(q, u) == pytest.approx(np.zeros((5, 2, 1)), abs=1e-8)
        lacking = closed["A.q"] + closed["B.q"] - 0.5
        assert system.coupling_residual(q, u) == pytest.approx(np.full((5, 2, 1), lacking))

    def test_turns_of_a_cut_joint_are_chosen_to_fit(self):
        """Coordinates of the tree alone do not determine the revolutions of the cut joint."""
        mech = four_bar().mechanism
        mech.add_body("shaft", mass=1.0, com=(0, 0, 0), inertia=0.1 * np.eye(3))
        mech.add_joint("S", lw.Revolute((0, 1, 0)), "ground", "shaft", at=(1.0, 0, 0))
        mech.add_coupling("gear", {"S": 1.0, "D": -3.0})
        system = lw.compile(mech)
        state = system.assemble(q={"A": -0.7})
        turned = state.q + np.array([name == "S.q" for name in system.q_names]) * 3.0 * 2.0 * np.pi
        assert system.coupling_residual(turned, state.u) == pytest.approx([0.0], abs=1e-9)


class TestTimes:
    MOTION = lw.Motion((0.0, 1.0, 0.5, 0.2), amplitude=0.4, frequency=1.5, phase=0.3)

    def acceleration(self, time):
        return 1.0 + 1.2 * time - 0.4 * (3 * np.pi) ** 2 * np.sin(3 * np.pi * time + 0.3)

    def test_a_state_has_a_time(self):
        system = lw.compile(pair(self.MOTION))
        state = system.assemble(time=0.4)
        assert state.time == 0.4
        assert state["time"] == 0.4
        assert state["hinge.a"] == pytest.approx(self.acceleration(0.4), rel=1e-13)
        assert system.value("hinge.a", state, time=1.1) == pytest.approx(self.acceleration(1.1), rel=1e-13)
        again = system.state(state.q, state.u, time=0.4)
        assert system.accelerations(again) == pytest.approx(system.accelerations(state), rel=1e-15)
        assert system.assemble().time == 0.0

    def test_batches_of_times(self):
        system = lw.compile(pair(self.MOTION))
        times = np.linspace(0.0, 2.0, 6).reshape(2, 3)
        found = system.accelerations(np.zeros(3), np.zeros(3), time=times)
        hinge = system.u_names.index("hinge.u")
        assert found.shape == (2, 3, 3)
        assert found[..., hinge] == pytest.approx(self.acceleration(times), rel=1e-12)
        assert system.derivatives(np.zeros((2, 1, 3)), np.zeros(3), time=times).shape == (2, 3, 6)
        assert system.reactions(np.zeros(3), np.zeros(3), time=times).shape == (2, 3, 3, 6)

    def test_one_call_leaves_nothing_to_the_next(self):
        system = lw.compile(pair(lw.Motion()))
        moved = system.assemble(motion={"hinge_drive": (0.3, 1.0, 5.0)})
        assert moved["hinge.a"] == pytest.approx(5.0)
        assert moved.motion == pytest.approx([0.0, 0.0, 0.0, 0.3, 1.0, 5.0])
        still = system.assemble()
        assert still["hinge.a"] == pytest.approx(0.0, abs=1e-14)
        assert system.accelerations(still.q, still.u) == pytest.approx(np.zeros(3), abs=1e-14)

    @pytest.mark.parametrize(
        ("given", "words"),
        [
            ({"time": np.nan}, "time"),
            ({"time": "soon"}, "time"),
            ({"motion": {"gear": 0.1}}, "nothing prescribes a motion as 'gear'"),
            ({"motion": {"hinge_driv": 0.1}}, "did you mean 'hinge_drive'"),
            ({"motion": {"hinge_drive": (0.1, 2.0)}}, "motion of 'hinge_drive' must be"),
            ({"motion": {"hinge_drive": np.inf}}, "motion of 'hinge_drive' must be"),
            ({"motion": 3.0}, "must be a dictionary by drive"),
        ],
    )
    def test_what_is_wrong_is_said(self, given, words):
        system = lw.compile(pair(self.MOTION))
        with pytest.raises(lw.MechanismError, match=words):
            system.assemble(**given)
        with pytest.raises(lw.MechanismError, match=words):
            system.state(np.zeros(3), np.zeros(3), **given)

    def test_times_that_are_no_numbers(self):
        system = lw.compile(pair(self.MOTION))
        with pytest.raises(lw.MechanismError, match="time is not finite"):
            system.accelerations(np.zeros(3), np.zeros(3), time=[0.0, np.nan])
        with pytest.raises(lw.MechanismError, match="leading dimensions"):
            system.accelerations(np.zeros((2, 3)), np.zeros(3), time=np.zeros(5))


class TestNames:
    def test_the_whole_table(self):
        system = lw.compile(pair(lw.Motion()))
        names = [v.name for v in system.variables if v.name.startswith(("gear", "hinge_drive"))]
        expected = [
            "gear.offset",
            *(f"gear.{joint}.coefficient[{k}]" for joint in ("motor", "hinge") for k in range(1, 5)),
        ]
        expected += ["gear.residual", "gear.load", "hinge_drive.offset"]
        expected += [
            f"hinge_drive.{of}[{k}]"
            for of, last in (("hinge.coefficient", 4), ("polynomial", 3))
            for k in range(1, last + 1)
        ]
        expected += [f"hinge_drive.{name}" for name in ("amplitude", "frequency", "phase", "q_in", "u_in", "a_in")]
        expected += ["hinge_drive.residual", "hinge_drive.load"]
        assert names == expected
        starts = {v.name: v.start for v in system.variables}
        assert [starts[f"gear.hinge.coefficient[{k}]"] for k in range(1, 5)] == [-4.0, 0.5, 0.0, 0.0]
        assert starts["gear.offset"] == 0.2

    def test_elements_of_joints_of_several(self):
        mech = with_bodies("rotor")
        mech.add_joint("cross", lw.Universal((1, 0, 0), (0, 1, 0)), "ground", "rotor", at=(0, 0, 0))
        mech.prescribe("cross[2]", lw.Motion(0.4))
        state = lw.compile(mech).assemble()
        assert state["cross_2_drive.cross[2].coefficient"] == pytest.approx([1.0, 0.0, 0.0, 0.0])
        assert state["cross.q"] == pytest.approx([0.0, 0.4])
        assert state["cross_2_drive.offset"] == 0.4

    def test_units_follow_the_first_coordinate(self):
        mech = pair()
        mech.add_body("rack", 1.0, (0, 0, 0), np.eye(3))
        mech.add_joint("slide", lw.Prismatic((1, 0, 0)), "ground", "rack", at=(0, 0, 0))
        mech.add_coupling("mesh", {"slide": 1.0, "apart": -0.02}, motion=lw.Motion())
        units = {v.name: v.unit for v in lw.compile(mech).variables}
        assert {name: units[f"mesh.{name}"] for name in ("offset", "residual", "load", "amplitude", "frequency")} == {
            "offset": "m",
            "residual": "m",
            "load": "N",
            "amplitude": "m",
            "frequency": "Hz",
        }
        assert [
            units[f"mesh.{name}"] for name in ("slide.coefficient[1]", "apart.coefficient[1]", "apart.coefficient[2]")
        ] == [
            "1",
            "m/rad",
            "m/rad2",
        ]
        assert [units[f"mesh.{name}"] for name in ("q_in", "u_in", "a_in", "polynomial[2]")] == [
            "m",
            "m/s",
            "m/s2",
            "m/s2",
        ]
        assert [units[f"gear.{name}"] for name in ("load", "hinge.coefficient[3]")] == ["N.m", "1/rad2"]


def changes(system, state, variables, step=1e-3):
    """For each state, input and time, which of the variables change when it is moved, and how much."""
    knowns = [v for v in system.variables if v.kind in ("state", "input", "time")]
    block, inputs = system.block(), np.concatenate([np.full(system.numbering.nu_all, 0.3), state.motion])

    def computed(known=None):
        block.count_revolutions(state.q.cut)
        block.enter(state.q, state.u, inputs, state.time)
        if known is not None:
            block.reals[known.reference] += step
        block.evaluate(Stage.OUTPUTS)
        return block.reals[[variable.reference for variable in variables]]

    before = computed()
    for known in knowns:
        yield known.name, np.abs(computed(known) - before)


def check_lists(system, state):
    """Unlisted variables change no more than the rounding of a loop."""
    variables = [v for v in system.variables if v.kind in ("derivative", "output") and v.depends is not None]
    assert variables
    known = {v.name for v in system.variables if v.kind in ("state", "input", "time")}
    for variable in variables:
        assert set(variable.depends) <= known
        assert len(set(variable.depends)) == len(variable.depends)
    for name, change in changes(system, state, variables):
        for variable, size in zip(variables, change, strict=True):
            assert size <= 1e-11 or name in variable.depends, (name, variable.name, size)


@pytest.mark.parametrize("name", [*GEAR_FAMILIES, "planar_5R", "loop_on_loop", "side_by_side"])
def test_what_is_not_listed_has_no_influence(name):
    scene = scene_of(name)
    system = lw.compile(scene.mechanism)
    check_lists(system, system.assemble(q=scene.q, u=scene.u))


@pytest.mark.parametrize("name", ["gear_of_three", "gear_branches", "planar_5R", "side_by_side", "rack"])
def test_what_is_not_listed_has_no_influence_on_what_is_driven(name):
    scene = scene_of(name)
    case = driven(scene, np.random.default_rng(0), movable(scene)[:1])
    system = lw.compile(case.mechanism)
    check_lists(system, system.assemble(q=scene.q, u=scene.u, time=TIME))


def test_gears_join_parts_and_others_stay_apart():
    depends = {v.name: v.depends for v in lw.compile(pair(lw.Motion())).variables}
    own = {f"{joint}.{what}" for joint in ("motor", "hinge") for what in ("q", "u", "tau")}
    drive = {"time", *(f"hinge_drive.{what}_in" for what in "qua")}
    assert set(depends["der(motor.u)"]) == own | drive
    assert set(depends["gear.load"]) == own | drive
    assert set(depends["der(apart.u)"]) == {"apart.q", "apart.u", "apart.tau"}
    assert set(depends["gear.residual"]) == {"motor.q", "hinge.q"}
    assert set(depends["hinge_drive.residual"]) == {"hinge.q", "hinge_drive.q_in", "time"}
    states = {f"{joint}.{what}" for joint in ("motor", "hinge") for what in "qu"}
    assert set(depends["der(hinge.q)"]) == states | {"time", "hinge_drive.q_in", "hinge_drive.u_in"}
    assert depends["der(apart.q)"] == ("apart.u",)


def test_coupled_joints_are_cut_last():
    """Their coordinates are states where the loops leave a choice."""
    mech = four_bar("B").mechanism
    plain = lw.Mechanism.from_dict(
        {**mech.to_dict(), "joints": [{**j, "cut": False} for j in mech.to_dict()["joints"]]}
    )
    assert lw.compile(plain).loop_names == ["D"]
    plain.prescribe("D", lw.Motion(1.2))
    assert lw.compile(plain).loop_names == ["C"]
