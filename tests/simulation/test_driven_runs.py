"""Prescribed motions over time: equations by hand, other ways to drive, work, and refusals."""

import copy

import numpy as np
import pytest
from scipy.integrate import cumulative_simpson, solve_ivp

import linkwork as lw
from support.builder import cut_at
from support.cases import four_bar
from support.driving import by_joint
from support.random_mechanisms import FAMILIES, random_tree, well_posed

X, Y, Z = np.eye(3)


def two_points(mass, length, share):
    """A rod on x that is two point masses, `share` of the mass at its far end."""
    moment = mass * share * (1 - share) * length**2
    return {"mass": mass, "com": (share * length, 0, 0), "inertia": np.diag([0.0, moment, moment])}


def slider_crank(cut, driven, motion):
    """Crank 0.1, rod 0.4 along x, slider on x; no gravity."""
    mech = lw.Mechanism("slider_crank", gravity=(0, 0, 0))
    mech.add_body("crank", mass=1.0, com=(0, 0, 0), inertia=0.01 * np.eye(3))
    mech.add_body("rod", **two_points(0.8, 0.4, 0.25))
    mech.add_body("slider", mass=1.5, com=(0, 0, 0), inertia=0.01 * np.eye(3))
    mech.add_joint("A", lw.Revolute(Z), "ground", "crank", parent_frame=lw.Frame(), cut=cut == "A")
    mech.add_joint("B", lw.Revolute(Z), "crank", "rod", parent_frame=lw.Frame((0.1, 0, 0)), cut=cut == "B")
    mech.add_joint("C", lw.Revolute(Z), "rod", "slider", parent_frame=lw.Frame((0.4, 0, 0)), cut=cut == "C")
    mech.add_joint("D", lw.Prismatic(X), "ground", "slider", parent_frame=lw.Frame(), cut=cut == "D")
    mech.prescribe(driven, motion)
    mech.start(q={"D": 0.5})
    return mech


class TestSliderCrank:
    """The crank turns steadily, the slider is at x = r cos + sqrt(l^2 - r^2 sin^2); 1.7 kg move along x."""

    SPEED = 25.0

    @pytest.mark.parametrize("cut", "ABCD")
    def test_the_torque_on_the_crank(self, cut):
        mech = slider_crank(cut, "A", lw.Motion((0.0, self.SPEED)))
        t = np.linspace(0.0, 1.0, 201)
        result = lw.simulate(mech, 1.0, rtol=1e-10, t_eval=t)
        angle = self.SPEED * t
        sine, cosine, root = np.sin(angle), np.cos(angle), np.sqrt(0.16 - 0.01 * np.sin(angle) ** 2)
        x = 0.1 * cosine + root
        slope = -0.1 * sine - 0.01 * sine * cosine / root
        curve = -0.1 * cosine - 0.01 * (cosine**2 - sine**2) / root - 1e-4 * (sine * cosine) ** 2 / root**3
        assert result["A.q"] == pytest.approx(angle, abs=1e-8)
        assert result["D.q"] == pytest.approx(x, abs=1e-8)
        assert result["D.a"] == pytest.approx(self.SPEED**2 * curve, abs=1e-5)
        assert result["A_drive.load"] == pytest.approx(1.7 * self.SPEED**2 * curve * slope, abs=1e-5)
        assert np.abs(result["A_drive.residual"]).max() < 1e-8

    def test_the_slider_drives(self):
        """The same motion with the slider as the driver, away from the dead centres: the work done is the same."""
        t = np.linspace(0.0, 0.4, 101)
        crank = slider_crank("B", "A", lw.Motion(1.5, amplitude=0.3, frequency=2.0))
        one = lw.simulate(crank, 0.4, rtol=1e-11, t_eval=t)

        system = lw.compile(crank)

        def follow(time):
            state = system.assemble(time=time)
            return state["D.q"], state["D.u"], state["D.a"]

        slider = slider_crank("B", "D", lw.Motion())
        slider.start(q={"A": 1.5})
        other = lw.simulate(slider, 0.4, rtol=1e-9, t_eval=t[::20], inputs={"D_drive": follow})
        assert other["A.q"] == pytest.approx(one["A.q"][::20], abs=1e-6)
        power = one["A_drive.load"][::20] * one["A.u"][::20]
        assert other["D_drive.load"] * other["D.u"] == pytest.approx(power, abs=1e-4 * np.abs(power).max())


def pendulum(axis, motion, length=0.4):
    """A mass on a massless rod that hangs from a carriage on rails along `axis`."""
    mech = lw.Mechanism("excited")
    mech.add_body("carriage", mass=1.0, com=(0, 0, 0), inertia=0.01 * np.eye(3))
    mech.add_body("bob", mass=2.0, com=(0, 0, -length), inertia=np.zeros((3, 3)))
    mech.add_joint("rails", lw.Prismatic(axis), "ground", "carriage", at=(0, 0, 0))
    mech.add_joint("hinge", lw.Revolute(Y), "carriage", "bob", at=(0, 0, 0))
    mech.prescribe("rails", motion)
    return mech


class TestExcitedPendulum:
    """l q'' = -(g + z'') sin q + x'' cos q for a base that moves by x and z."""

    MOTION = lw.Motion((0.2, -0.5, 0.3, 0.1), amplitude=0.05, frequency=3.0, phase=0.4)

    def acceleration(self, t):
        rate = 6 * np.pi
        return 0.6 + 0.6 * t - 0.05 * rate**2 * np.sin(rate * t + 0.4)

    @pytest.mark.parametrize(("axis", "x", "z"), [(X, 1, 0), (Z, 0, 1), (0.6 * X + 0.8 * Z, 0.6, 0.8)])
    @pytest.mark.parametrize("start", [0.0, 1.3])
    def test_against_its_equation(self, axis, x, z, start):
        t = np.linspace(start, start + 2.0, 41)
        mech = pendulum(axis, self.MOTION)
        mech.start(q={"hinge": 0.4}, u={"hinge": 1.0})
        result = lw.simulate(mech, start + 2.0, t_start=start, rtol=1e-10, t_eval=t)

        def equation(time, y):
            a = self.acceleration(time)
            return [y[1], (-(9.81 + z * a) * np.sin(y[0]) + x * a * np.cos(y[0])) / 0.4]

        span = (start, start + 2.0)
        expected = solve_ivp(equation, span, [0.4, 1.0], "DOP853", t, rtol=1e-12, atol=1e-12).y
        assert result["hinge.q"] == pytest.approx(expected[0], abs=1e-7)
        assert result["hinge.u"] == pytest.approx(expected[1], abs=1e-6)
        assert result["rails.a"] == pytest.approx(self.acceleration(t), rel=1e-9)

    def test_a_vibrating_base_holds_it_upright(self):
        """Kapitza: upright is stable where amplitude times rate exceeds sqrt(2 g l), and not below."""
        swings = {}
        for frequency in (40.0, 8.0):
            mech = pendulum(Z, lw.Motion(amplitude=0.02, frequency=frequency))
            mech.start(q={"hinge": np.pi - 0.1})
            swings[frequency] = np.abs(lw.simulate(mech, 3.0, rtol=1e-8)["hinge.q"] - np.pi).max()
        assert 0.02 * 2 * np.pi * 40 > np.sqrt(2 * 9.81 * 0.4) > 0.02 * 2 * np.pi * 8
        assert swings[40.0] < 0.3
        assert swings[8.0] > 1.0

    def test_functions_of_time_drive_as_well(self):
        """The same motion as inputs, whole or in part, by a solver in Python and by the compiled one."""
        t = np.linspace(0.0, 1.0, 21)
        mech = pendulum(X, self.MOTION)
        expected = lw.simulate(mech, 1.0, rtol=1e-10, t_eval=t)["hinge.q"]

        def of_input(time):
            rate, angle = 6 * np.pi, 6 * np.pi * time + 0.4
            return 0.05 * np.sin(angle), 0.05 * rate * np.cos(angle), -0.05 * rate**2 * np.sin(angle)

        part = pendulum(X, lw.Motion(self.MOTION.polynomial))
        for solver in ("dopri5", "DOP853"):
            found = lw.simulate(part, 1.0, solver=solver, rtol=1e-10, t_eval=t, inputs={"rails_drive": of_input})
            assert found["hinge.q"] == pytest.approx(expected, abs=1e-8)
            assert found["rails_drive.q_in"] == pytest.approx([of_input(time)[0] for time in t], rel=1e-15)

    def test_a_constant_input_displaces(self):
        mech = pendulum(X, lw.Motion(0.3))
        mech.start(q={"hinge": 0.2})
        result = lw.simulate(mech, 1.0, t_eval=[0.0, 1.0], inputs={"rails_drive": 0.5})
        assert result["rails.q"] == pytest.approx([0.8, 0.8], abs=1e-12)


def arm(*motions):
    """Three hinges in space, all prescribed, and the same arm free."""
    free = random_tree(np.random.default_rng(8), 3, ("revolute",), chain=True).mechanism
    driven = copy.deepcopy(free)
    for joint, motion in zip(free.joints, motions, strict=True):
        driven.prescribe(joint, motion)
    return free, driven


def test_a_robot_follows_its_plan():
    """The drives' loads are those of inverse dynamics; applied to the free arm they move it along the plan."""
    plan = [lw.Motion((0.1, 0.5, -0.3, 0.2)), lw.Motion(amplitude=0.8, frequency=0.7), lw.Motion((0.0, -1.0), 0.2, 1.0)]
    free, driven = arm(*plan)
    t = np.linspace(0.0, 1.0, 51)
    result = lw.simulate(driven, 1.0, rtol=1e-10, t_eval=t)
    system, names = lw.compile(free), list(free.joints)
    for k in (0, 20, 50):
        q, u, a = ([result[f"{name}.{what}"][k] for name in names] for what in "qua")
        expected = by_joint(system, system.inverse_dynamics(system.state(q, u), a))
        loads = {name: result[f"{name}_drive.load"][k] for name in names}
        assert loads == pytest.approx(expected, rel=1e-7, abs=1e-7)

    def load(name):
        planned = lw.compile(driven)
        return lambda time: planned.assemble(time=time)[f"{name}_drive.load"]

    free.start(q={n: result[f"{n}.q"][0] for n in names}, u={n: result[f"{n}.u"][0] for n in names})
    again = lw.simulate(free, 1.0, rtol=1e-9, t_eval=t[::25], inputs={name: load(name) for name in names})
    for name in names:
        assert again[f"{name}.q"] == pytest.approx(result[f"{name}.q"][::25], abs=1e-6)


@pytest.mark.parametrize("family", ["planar_5R", "three_planar_legs", "moving_spatial_7R", "slider_crank_cut_slider"])
def test_drives_do_the_work(family):
    """What the drives have given, less what dampers took, is the change of energy."""
    scene = well_posed(FAMILIES[family][0], seed=2)
    name = max((n for n in scene.u if np.ndim(scene.u[n]) == 0), key=lambda n: abs(scene.u[n]))
    mech = scene.mechanism
    amplitude = 0.2
    motion = lw.Motion(scene.q[name], amplitude=amplitude, frequency=scene.u[name] / (2 * np.pi * amplitude))
    mech.prescribe(name, motion)
    mech.start(q=scene.q, u=scene.u)
    result = lw.simulate(mech, 1.0, rtol=1e-10, t_eval=np.linspace(0.0, 1.0, 4001))
    power = result[f"{name}_drive.load"] * result[f"{name}.u"]
    power -= sum(force.damping * result[f"{force.joint}.u"] ** 2 for force in mech.forces)
    energy = result["energy.kinetic"] + result["energy.potential"]
    work = cumulative_simpson(power, x=result.t, initial=0.0)
    assert energy - energy[0] == pytest.approx(work, abs=1e-5 * max(np.abs(energy).max(), np.abs(work).max()))
    assert np.abs(result[f"{name}_drive.residual"]).max() < 1e-7


@pytest.mark.parametrize("driven", "AD")
def test_the_choice_of_cuts_changes_nothing(driven):
    """Also where the driven joint is cut; the crank turns several times."""
    motion = lw.Motion((-0.7, 9.0)) if driven == "A" else lw.Motion(1.2, 0.3, 1.3)
    t = np.linspace(0.0, 3.0, 61)
    runs = {}
    for cut in "AD":
        mech = cut_at(four_bar().mechanism, cut)
        mech.prescribe(driven, motion)
        mech.start(q={"A": -0.7, "B": 0.128, "C": -1.5}, u={})
        runs[cut] = lw.simulate(mech, 3.0, rtol=1e-10, t_eval=t)
    for name in "ABCD":
        turns = np.round((runs["A"][f"{name}.q"][0] - runs["D"][f"{name}.q"][0]) / (2 * np.pi))
        assert runs["A"][f"{name}.q"] - 2 * np.pi * turns == pytest.approx(runs["D"][f"{name}.q"], abs=1e-7)
    loads = [run[f"{driven}_drive.load"] for run in runs.values()]
    assert loads[0] == pytest.approx(loads[1], abs=1e-5 * np.abs(loads[0]).max())
    if driven == "A":
        assert runs["A"]["A.q"] == pytest.approx(-0.7 + 9.0 * t, abs=1e-7)


def gimbal(split, element, motion):
    """A rotor on a cross joint, whole or as two hinges with a very light ring between."""
    mech = lw.Mechanism("gimbal")
    mech.add_body("rotor", mass=1.0, com=(0.05, 0.02, 0.1), inertia=np.diag([0.02, 0.03, 0.04]))
    if split:
        mech.add_body("ring", mass=1e-9, com=(0, 0, 0), inertia=1e-12 * np.eye(3))
        mech.add_joint("outer", lw.Revolute(X), "ground", "ring", at=(0, 0, 0))
        mech.add_joint("inner", lw.Revolute(Y), "ring", "rotor", at=(0, 0, 0))
        mech.prescribe(("outer", "inner")[element - 1], motion, name="drive")
        mech.start(q={"outer": 0.3, "inner": -0.2})
    else:
        mech.add_joint("cross", lw.Universal(X, Y), "ground", "rotor", at=(0, 0, 0))
        mech.prescribe(f"cross[{element}]", motion, name="drive")
        mech.start(q={"cross": [0.3, -0.2]})
    return mech


@pytest.mark.parametrize("element", [1, 2])
def test_an_element_of_a_universal_joint(element):
    motion = lw.Motion((-0.2, 3.0), amplitude=0.1, frequency=2.0)
    t = np.linspace(0.0, 1.0, 21)
    one, other = (lw.simulate(gimbal(s, element, motion), 1.0, rtol=1e-10, t_eval=t) for s in (False, True))
    assert one["cross.q"][:, 0] == pytest.approx(other["outer.q"], abs=1e-6)
    assert one["cross.q"][:, 1] == pytest.approx(other["inner.q"], abs=1e-6)
    assert one["cross.q"][:, element - 1] == pytest.approx(-0.2 + 3 * t + 0.1 * np.sin(4 * np.pi * t), abs=1e-8)
    assert one["drive.load"] == pytest.approx(other["drive.load"], abs=1e-5)


def test_a_gear_that_is_driven():
    """The offset of a coupling of two joints moves: a differential whose third shaft is the drive."""
    mech = lw.Mechanism("differential", gravity=(0, 0, 0))
    for name, moment in (("left", 0.5), ("right", 2.0)):
        mech.add_body(name, mass=1.0, com=(0, 0, 0), inertia=moment * np.eye(3))
        mech.add_joint(f"{name}_axle", lw.Revolute(Z), "ground", name, at=(0, 0, 0))
    mech.add_coupling("cage", {"left_axle": 0.5, "right_axle": 0.5}, motion=lw.Motion((0.0, 0.0, 3.0)))
    result = lw.simulate(mech, 2.0, rtol=1e-10, t_eval=[0.0, 2.0])
    assert result["cage.load"] == pytest.approx([2 * 6.0 / (0.5 / 0.5 + 0.5 / 2.0)] * 2, rel=1e-9)
    ratio = result["left_axle.q"][1] / result["right_axle.q"][1]
    assert ratio == pytest.approx(4.0, rel=1e-9)
    assert 0.5 * (result["left_axle.q"] + result["right_axle.q"]) == pytest.approx([0.0, 12.0], abs=1e-9)


def test_a_start_that_contradicts_the_motion_gives_way():
    mech = pendulum(X, lw.Motion((0.3, 2.0)))
    mech.start(q={"rails": 5.0, "hinge": 0.4}, u={"rails": -1.0, "hinge": 0.7})
    state = lw.compile(mech).assemble()
    assert [state["rails.q"], state["rails.u"]] == pytest.approx([0.3, 2.0], rel=1e-14)
    assert [state["hinge.q"], state["hinge.u"]] == [0.4, 0.7]


def test_many_turns_after_a_late_start():
    mech = four_bar().mechanism
    mech.prescribe("A", lw.Motion((0.0, 40.0)))
    state = lw.compile(mech).assemble(time=250.0)
    assert state["A.q"] == pytest.approx(10000.0, rel=1e-14)
    assert np.abs(state.model.loop_residual(state)).max() < 1e-10


class TestRefused:
    def test_out_of_reach(self):
        """The rocker of a crank-rocker cannot turn about."""
        mech = four_bar().mechanism
        mech.prescribe("D", lw.Motion((1.2, 1.0)))
        with pytest.raises(
            lw.AssemblyError, match="joint 'D' cannot be closed as coupling 'D_drive' would have it at t = 3"
        ):
            lw.compile(mech).assemble(time=3.0)

    def test_a_run_that_leaves_the_reach_says_so(self):
        mech = four_bar().mechanism
        mech.prescribe("D", lw.Motion((1.2, 1.0)))
        mech.start(q={"A": -0.7})
        with pytest.raises(lw.SolverError) as stopped:
            lw.simulate(mech, 5.0)
        assert 0.0 < stopped.value.result.t[-1] < 5.0

    def test_two_drives_for_one_freedom(self):
        mech = four_bar().mechanism
        mech.prescribe("A", lw.Motion((0.0, 1.0)))
        mech.prescribe("D", lw.Motion((1.59, 1.0)))
        with pytest.raises(lw.AssemblyError, match="'A_drive' and 'D_drive' repeat or contradict each other"):
            lw.compile(mech).assemble(q={"A": -0.7})

    def test_a_state_of_another_time(self):
        system = lw.compile(pendulum(X, lw.Motion((0.3, 2.0))))
        state = system.assemble(time=1.0)
        assert lw.simulate(system, 2.0, state=state).t[0] == 1.0
        with pytest.raises(lw.MechanismError, match=r"the state is of t = 1 s.*assemble\(time=0\)"):
            lw.simulate(system, 2.0, t_start=0.0, state=state)

    @pytest.mark.parametrize(
        ("given", "words"),
        [
            ({"rails_drive": (0.0, 1.0, 0.0)}, "must be a finite number or a function of time that returns value"),
            ({"rails_drive": np.nan}, "motion of 'rails_drive' must be a finite number"),
            ({"rails_drive": lambda t: t}, r"motion of 'rails_drive' at t = 0 s must be 3 numbers \(value, rate, acc"),
            ({"rails_driv": 0.0}, "did you mean 'rails_drive'"),
        ],
    )
    def test_inputs(self, given, words):
        with pytest.raises(lw.MechanismError, match=words):
            lw.simulate(pendulum(X, lw.Motion()), 1.0, inputs=given)
