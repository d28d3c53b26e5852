"""Linear models of mechanisms with quaternions: local coordinates, and idle spins that are left out."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from support.idle_rods import scene


def rod_vector(Q: np.ndarray) -> np.ndarray:
    """The quaternion's rotation vector."""
    Q = Q if Q[0] > 0 else -Q
    size = float(np.linalg.norm(Q[1:]))
    return 2.0 * Q[1:] * (np.arctan2(size, Q[0]) / size if size > 0.0 else 1.0)


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.append(a[0] * b[0] - a[1:] @ b[1:], a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:]))


def turned(Q: np.ndarray, theta: np.ndarray) -> np.ndarray:
    size = float(np.linalg.norm(theta))
    return product(Q, np.append(np.cos(size / 2), 0.5 * np.sinc(size / (2 * np.pi)) * theta))


def test_a_free_body_in_motion_by_differences():
    """Of a body that tumbles on a spring: the rates of rotation vectors and displacements, from short runs."""
    rng = np.random.default_rng(4)
    mech = lw.Mechanism("tumbling")
    mech.add_body("box", mass=1.3, com=(0.1, -0.2, 0.05), inertia=np.diag([0.3, 0.4, 0.6]))
    mech.add_joint("F", lw.Free(), "ground", "box", at=(0, 0, 0))
    mech.add_force(lw.SpringDamper(bodies=("ground", "box"), points=((1, 2, 3), (0.3, 0, 0)), stiffness=40, free=1))
    Q = rng.normal(size=4)
    mech.start(q={"F": [0.1, 0.2, 0.3, *(Q / np.linalg.norm(Q))]}, u={"F": rng.normal(size=6)})
    model = lw.compile(mech)
    state = model.assemble()
    linear = model.linearize(state)
    q0, u0 = np.array(state.q), np.array(state.u)
    p0, Q0 = q0[:3], q0[3:]
    R0 = model.pose(state, "box").rotation
    back = Q0 * [1, -1, -1, -1]

    def rates(x: np.ndarray) -> np.ndarray:
        """By differences along a step of time that is exact to second order."""
        q, u = np.concatenate([p0 + R0 @ x[3:6], turned(Q0, x[:3])]), u0 + x[6:]
        R, h = model.pose(model.state(q, u), "box").rotation, 1e-5

        def local(dt: float) -> np.ndarray:
            return np.append(rod_vector(product(back, turned(q[3:], dt * u[:3]))), R0.T @ (q[:3] + dt * R @ u[3:] - p0))

        return np.concatenate([(local(h) - local(-h)) / (2 * h), model.accelerations(q, u)])

    assert linear.states[:2] == ("F.dq[1]", "F.dq[2]")
    assert np.abs(linear.xdot - rates(np.zeros(12))).max() < 1e-8
    for k, step in enumerate(1e-5 * np.eye(12)):
        assert np.abs((rates(step) - rates(-step)) / 2e-5 - linear.A[:, k]).max() < 1e-4


def crank_and_rocker(first: lw.Spherical | lw.Universal, thin: bool = False) -> lw.Mechanism:
    """A rod between two balls, or with a universal joint at one end, which holds its spin."""
    mech = lw.Mechanism("rod")
    for name in ("crank", "rocker"):
        mech.add_body(name, mass=1, com=(0, 0, 0.1), inertia=lw.inertia.rod(1, 0.2, axis="z"))
    inertia = np.diag([0.0 if thin else 1e-3, 0.004, 0.004])
    mech.add_body("rod", mass=0.2, com=(0.25, 0, 0), inertia=inertia)
    at = lw.Frame((0, 0, 0.2))
    mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "crank", parent_frame=lw.Frame(), child_frame=lw.Frame())
    base = lw.Frame((0.5, 0, 0))
    mech.add_joint("B", lw.Revolute((0, 1, 0)), "ground", "rocker", parent_frame=base, child_frame=lw.Frame())
    mech.add_joint("S1", first, "crank", "rod", parent_frame=at, child_frame=lw.Frame())
    mech.add_joint("S2", lw.Spherical(), "rod", "rocker", parent_frame=base, child_frame=at)
    mech.start(q={"A": 0.3})
    return mech


@pytest.mark.parametrize("thin", [False, True])
def test_a_rod_between_balls_is_like_one_that_cannot_spin(thin):
    """In and out of an equilibrium: A, B, C and D of the crank, the spin left out and named."""
    options = {"independents": ["A"], "inputs": ["A.tau", "B.tau"], "outputs": ["B.q", "B.u", "rod.v"]}
    spinning = lw.linearize(crank_and_rocker(lw.Spherical(), thin), **options)
    held = lw.linearize(crank_and_rocker(lw.Universal((0, 1, 0), (0, 0, 1)), thin), **options)
    assert spinning.states == held.states == ("A.q", "A.u")
    for name in "ABCD":
        assert np.abs(getattr(spinning, name) - getattr(held, name)).max() < 1e-9
    assert spinning.independents.idle[0].startswith("rod about its line along")


def test_what_shows_the_spin_keeps_it():
    model = lw.linearize(crank_and_rocker(lw.Spherical()), outputs=["rod.Q"])
    assert len(model.states) == 4
    assert model.independents.idle == ()


@pytest.mark.parametrize("kind", ["RSSR", "ladder", "strut", "point mass"])
@pytest.mark.parametrize("seed", [100, 101])
def test_in_motion_it_is_the_limit_of_small_inertia(kind, seed):
    """The line turns with the motion, which is no damper."""
    thin, thick = (lw.linearize(scene(kind, seed, thickness).mech) for thickness in (0.0, 1e-7))
    assert thin.independents.idle == thick.independents.idle
    assert thin.eigenvalues == pytest.approx(thick.eigenvalues, rel=1e-9, abs=1e-9)


def test_a_damper_is_refused_in_motion():
    mech = scene("RSSR", 100).mech
    mech.add_force(lw.SpringDamper("B", damping=1e-4))
    with pytest.raises(lw.MechanismError, match="a damper acts on an idle spin: 'rod' has no inertia"):
        lw.linearize(mech)


def test_inputs_that_load_a_spin_without_inertia():
    """They are left out, or refused where they were asked for; so are dampers."""
    thin = crank_and_rocker(lw.Spherical(), thin=True)
    model = lw.linearize(thin)
    assert "A.tau" in model.inputs
    assert "S1.tau[1]" not in model.inputs
    assert "S1.tau[1]" in lw.linearize(crank_and_rocker(lw.Spherical())).inputs
    with pytest.raises(lw.MechanismError, match=r"'S1\.tau.*acts on an idle spin: 'rod' has no inertia"):
        lw.linearize(thin, inputs=["S1.tau"])
    thin.add_force(lw.SpringDamper("S1", damping=0.1))
    with pytest.raises(lw.MechanismError, match="a damper acts on an idle spin: 'rod' has no inertia"):
        lw.linearize(thin)


def test_a_controller_of_the_crank():
    """The idle spin is neither reached nor seen; the gain is that of the rod that cannot spin."""
    from linkwork.controllers import gain

    gains = []
    for first in (lw.Spherical(), lw.Universal((0, 1, 0), (0, 0, 1))):
        mech = crank_and_rocker(first)
        gains.append(gain(lw.linearize(mech, independents=["A"], inputs=["A.tau"]), Q=1.0, R=1.0))
    assert gains[0] == pytest.approx(gains[1], rel=1e-8)


@pytest.mark.parametrize("kind", ["RSSR", "RSSP", "free base", "suspension", "ladder", "strut", "weight on a rod"])
@pytest.mark.parametrize("thickness", [0.0, 1e-2])
def test_random_rods_have_linear_models(kind, thickness):
    mech = scene(kind, 4, thickness).mech
    model = lw.compile(mech)
    state = model.assemble()
    linear = model.linearize(model.state(state.q, np.zeros(len(state.u))))
    assert np.isfinite(linear.A).all()


def test_explain_names_the_spin():
    text = lw.compile(crank_and_rocker(lw.Spherical(), thin=True)).explain()
    assert "idle spins: bodies turn while nothing else moves" in text
    assert "in S1, S2; no inertia about it, so that no load may act about it" in text
    assert "idle" not in lw.compile(crank_and_rocker(lw.Universal((0, 1, 0), (0, 0, 1)))).explain()


# ---- spins of which something takes notice ----


def rotor(*forces: lw.ForceElement, name: str = "rotor") -> lw.Mechanism:
    """A rotor on a hinge through its centre of mass: 0.3 kg m2, and a free one beside it."""
    mech = lw.Mechanism(name)
    for body, hinge in (("rotor", "A"), ("free", "B")):
        mech.add_body(body, mass=1, com=(0, 0, 0), inertia=np.diag([0.2, 0.2, 0.3]))
        mech.add_joint(hinge, lw.Revolute((0, 0, 1)), "ground", body, at=(0, 0, 0))
    for force in forces:
        mech.add_force(force)
    return mech


LOADED = {
    "spring": (lw.SpringDamper("A", stiffness=30.0), -100.0, 0.0),
    "damper": (lw.SpringDamper("A", damping=0.6), 0.0, -2.0),
    "formula": (lw.Force("A", "-k*sin(q) - d*u", parameters={"k": (3.0, "N.m"), "d": 0.3}, name="law"), -10.0, -1.0),
    "actuator": (lw.Actuator("motor", {"A": 1.0}), 0.0, 0.0),
    "servo": (lw.Actuator("servo", {"A": 2.0}, stiffness=6.0, damping=0.3), -6.0 * 4 / 0.3, -0.3 * 4 / 0.3),
    "friction": (lw.Friction("A", 0.3, smooth=0.1, name="dry"), None, None),
    "between points": (
        lw.SpringDamper(bodies=("ground", "rotor"), points=((2, 0, 0), (1, 0, 0)), stiffness=30, free=0.5),
        -30.0 * 2.0 * 1.0 * 0.5 / 0.3,  # k a b (1 - free/l) / I
        0.0,
    ),
}


@pytest.mark.parametrize("kind", LOADED)
@pytest.mark.parametrize("outputs", [None, ["A.u"]])
def test_a_spin_that_a_force_acts_on_is_not_idle(kind, outputs):
    """The hinge beside it, on which nothing acts, is."""
    force, stiffness, damping = LOADED[kind]
    linear = lw.linearize(rotor(force), inputs=[], outputs=outputs)
    assert linear.states == ("A.q", "A.u")
    assert [one.split(" ")[0] for one in linear.independents.idle] == ["free"]
    if stiffness is not None:
        assert np.abs(linear.A - [[0, 1], [stiffness, damping]]).max() < 1e-9


def test_nothing_acts_on_an_idle_spin():
    assert lw.linearize(rotor(), inputs=[]).states == ()


def test_a_spin_that_a_motor_turns_is_not_idle():
    """By the default inputs both are driven; by name one alone."""
    assert lw.linearize(rotor()).states == ("A.q", "B.q", "A.u", "B.u")
    linear = lw.linearize(rotor(), inputs=["A.tau"])
    assert linear.states == ("A.q", "A.u")
    assert np.abs(linear.B - [[0], [1 / 0.3]]).max() < 1e-12


def test_a_spin_that_a_torque_on_its_body_turns():
    linear = lw.linearize(rotor(lw.Wrench("free", name="push")), inputs=["push.T[3]"])
    assert linear.states == ("B.q", "B.u")
    assert lw.linearize(rotor(lw.Wrench("free", name="push")), inputs=["push.T[1]"]).states == ()


def test_spins_that_are_read_stay():
    """By the formula of an output, of a force elsewhere, and by a trigger."""
    read = rotor()
    read.add_output("angle", "sin(A.q)")
    assert lw.linearize(read, inputs=[]).states == ("A.q", "A.u")
    body = rotor()
    body.add_output("rate", "free.w[3]")
    assert lw.linearize(body, inputs=[]).states == ("B.q", "B.u")
    watched = rotor()
    watched.add_body("ball", mass=1, com=(0, 0, 0), inertia=np.eye(3))
    watched.add_joint("P", lw.Prismatic((1, 0, 0)), "ground", "ball", at=(0, 0, 0))
    watched.add_transition("over", lw.Impulse("ball", force=(1, 0, 0)), when=lw.Crossing("B.u", 3.0))
    assert lw.linearize(watched, inputs=[]).states == ("B.q", "P.q", "B.u", "P.u")
    kicked = rotor()
    kicked.add_transition("kick", lw.Impulse("free", torque=(0, 0, 1)), when=lw.Time(1.0))
    assert lw.linearize(kicked, inputs=[]).states == ("B.q", "B.u")
    other = rotor()
    other.add_body("slider", mass=2, com=(0, 0, 0), inertia=np.eye(3))
    other.add_joint("S", lw.Prismatic((1, 0, 0)), "ground", "slider", at=(0, 0, 0))
    other.add_force(lw.Force("S", "c*A.q", parameters={"c": (4.0, "N/rad")}, name="cam"))
    linear = lw.linearize(other, inputs=[])
    assert "A.q" in linear.states
    assert "B.q" not in linear.states
    assert linear.A[linear.states.index("S.u"), linear.states.index("A.q")] == pytest.approx(2.0, rel=1e-12)


def test_a_sphere_on_a_ball_with_a_damper():
    """All lines through the ball: 1/s of damping over inertia for each."""
    mech = lw.Mechanism("sphere")
    mech.add_body("sphere", mass=1, com=(0, 0, 0), inertia=0.4 * np.eye(3))
    mech.add_joint("S", lw.Spherical(), "ground", "sphere", at=(0, 0, 0))
    assert lw.linearize(mech).states == ()
    mech.add_force(lw.SpringDamper("S", damping=0.2))
    assert lw.linearize(mech).eigenvalues == pytest.approx([0, 0, 0, -0.5, -0.5, -0.5], abs=1e-12)


class TestWheels:
    """A spin that is the coordinate of a joint is a state, whatever acts on it."""

    @staticmethod
    def wheel(*forces, parent: str = "ground", mech: lw.Mechanism | None = None) -> lw.Mechanism:
        mech = lw.Mechanism("wheel") if mech is None else mech
        mech.add_body("wheel", mass=1.0, com=(0, 0, 0), inertia=lw.inertia.cylinder(1.0, 0.2, 0.1, axis="z"))
        mech.add_joint("W", lw.Revolute((0, 0, 1)), parent, "wheel", at=(0, 0, 0))
        for force in forces:
            mech.add_force(force)
        return mech

    J = 0.02  # kg m2, 1 kg 0.2^2 / 2

    @pytest.mark.parametrize(
        ("force", "by_q", "by_u"),
        [
            (None, 0.0, 0.0),
            (lw.SpringDamper("W", stiffness=3.0, damping=0.1), -3.0, -0.1),
            (lw.Force("W", "-k*sin(W.q)", parameters={"k": (3.0, "N.m")}), -3.0, 0.0),
            (lw.Friction("W", coulomb=0.2, smooth=0.5), 0.0, -0.4),
        ],
    )
    def test_a_wheel(self, force, by_q, by_u) -> None:
        model = lw.linearize(self.wheel(*([] if force is None else [force])))
        assert model.states == ("W.q", "W.u")
        np.testing.assert_allclose(model.A, [[0.0, 1.0], [by_q / self.J, by_u / self.J]], rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(model.B[:, model.inputs.index("W.tau")], [0.0, 1.0 / self.J], rtol=1e-12)

    def test_on_a_slide_that_turns(self) -> None:
        mech = lw.Mechanism("spindle")
        mech.add_body("spindle", mass=1.0, com=(0, 0, 0), inertia=lw.inertia.cylinder(1.0, 0.2, 0.1, axis="z"))
        mech.add_joint("C", lw.Cylindrical((0, 0, 1)), "ground", "spindle", at=(0, 0, 0))
        mech.add_force(lw.Actuator("twist", {"C[1]": 1.0}, stiffness=3.0))
        mech.add_force(lw.Actuator("axial", {"C[2]": 1.0}, stiffness=50.0))
        found = np.sort(np.abs(lw.linearize(mech).eigenvalues.imag))[::2]
        np.testing.assert_allclose(found, np.sort([np.sqrt(3.0 / self.J), np.sqrt(50.0)]), rtol=1e-12)

    def test_the_pendulum_with_a_reaction_wheel(self) -> None:
        """The motor in the wheel's joint moves both; the wheel's angle has no effect."""
        mech = lw.Mechanism("reaction_wheel")
        mech.add_body("rod", mass=1.0, com=(0, 0, -0.5), inertia=lw.inertia.rod(1.0, 1.0, axis="z"))
        mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
        mech.add_body("wheel", mass=1.0, com=(0, 0, 0), inertia=lw.inertia.cylinder(1.0, 0.2, 0.1, axis="y"))
        frame = lw.Frame((0, 0, -1.0))
        mech.add_joint("W", lw.Revolute((0, 1, 0)), "rod", "wheel", parent_frame=frame)
        model = lw.linearize(mech, inputs=["W"])
        assert set(model.states) == {"A.q", "W.q", "A.u", "W.u"}
        about = 1.0 / 3.0 + 1.0  # kg m2 of both about A, without the wheel's own
        at = model.states.index
        np.testing.assert_allclose(model.B[at("A.u"), 0], -1.0 / about, rtol=1e-12)
        np.testing.assert_allclose(model.B[at("W.u"), 0], 1.0 / self.J + 1.0 / about, rtol=1e-12)
        np.testing.assert_allclose(model.A[at("A.u"), at("A.q")], -9.81 * 1.5 / about, rtol=1e-12)
        np.testing.assert_allclose(model.A[:, at("W.q")], 0.0, atol=1e-12)

    def test_asked_for_others(self) -> None:
        mech = self.wheel()
        mech.add_body("block", mass=1.0, com=(0, 0, 0), inertia=lw.inertia.sphere(1.0, 0.1))
        mech.add_joint("S", lw.Prismatic((1, 0, 0)), "ground", "block")
        assert lw.linearize(mech, independents=["S"], inputs=["S"], outputs=["S.q"]).states == ("S.q", "S.u")
