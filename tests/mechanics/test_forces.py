"""Springs between points and applied wrenches: closed forms, springs without length, and motions."""

import numpy as np
import pytest

import linkwork as lw
from support.driving import wrenches
from support.random_mechanisms import moving_base, random_tree, single, sprung, well_posed
from support.rings import planar, slider_crank
from support.small import PENDULUM_INERTIA, pendulum

# ---- closed forms ----


def two_masses(damping=0.0):
    """Two masses on one vertical rail without weight, free but for the spring between them."""
    mech = lw.Mechanism("two_masses", gravity=(0, 0, 0))
    for name, mass in (("a", 2.0), ("b", 3.0)):
        mech.add_body(name, mass=mass, com=(0, 0, 0), inertia=np.eye(3))
        mech.add_joint(f"rail_{name}", lw.Prismatic((0, 0, 1)), "ground", name, at=(0, 0, 0))
    ends = ((0.2, 0.3, 0.125), (0.2, 0.3, -0.125))
    mech.add_force(lw.SpringDamper(bodies=("a", "b"), points=ends, stiffness=30.0, damping=damping, free=0.5))
    return mech


@pytest.mark.parametrize("damping", [0.0, 2.0])
def test_two_masses_on_a_spring(damping):
    """The stretch obeys mu x'' + d x' + k x = 0 with the reduced mass mu; the centre of mass goes straight on."""
    mech = two_masses(damping)
    mech.start(q={"rail_a": 0.0, "rail_b": 0.8}, u={"rail_a": 0.5, "rail_b": 0.5})
    t = np.linspace(0.0, 3.0, 31)
    result = lw.simulate(mech, 3.0, rtol=1e-11, t_eval=t)
    mu, stretch = 2.0 * 3.0 / 5.0, 0.8 - 0.25 - 0.5
    decay = damping / (2.0 * mu)
    omega = np.sqrt(30.0 / mu - decay**2)
    expected = stretch * np.exp(-decay * t) * (np.cos(omega * t) + decay / omega * np.sin(omega * t))
    rate = -stretch * np.exp(-decay * t) * (omega + decay**2 / omega) * np.sin(omega * t)
    assert result["spring.length"] - 0.5 == pytest.approx(expected, abs=1e-9)
    assert result["spring.rate"] == pytest.approx(rate, abs=1e-8)
    assert result["spring.force"] == pytest.approx(30.0 * expected + damping * rate, abs=1e-8)
    assert (2.0 * result["rail_a.q"] + 3.0 * result["rail_b.q"]) / 5.0 == pytest.approx(0.48 + 0.5 * t, abs=1e-9)


def hung(**spring):
    """The pendulum with a spring from its tip to a point above the hinge."""
    mech = pendulum()
    mech.add_force(lw.SpringDamper(bodies=("rod", "ground"), points=((1, 0, 0), (0, 0, 1.5)), **spring))
    return mech


@pytest.mark.parametrize(("q", "u"), [(0.3, 0.0), (-1.2, 2.0), (2.5, -3.0)])
def test_pendulum_on_a_spring(q, u):
    """By the potential of the length l(q): l^2 = 1 + 1.5^2 + 3 sin(q), as the axis +y turns the tip down."""
    system = lw.compile(hung(stiffness=40.0, damping=3.0, free=0.8))
    state = system.assemble(q={"A": q}, u={"A": u})
    length = np.sqrt(1.0 + 1.5**2 + 3.0 * np.sin(q))
    slope = 1.5 * np.cos(q) / length
    pull = 40.0 * (length - 0.8) + 3.0 * slope * u
    assert state["spring.length"] == pytest.approx(length, rel=1e-14)
    assert state["spring.rate"] == pytest.approx(slope * u, rel=1e-13, abs=1e-15)
    assert state["spring.force"] == pytest.approx(pull, rel=1e-13)
    expected = (9.81 * 0.5 * np.cos(q) - pull * slope) / PENDULUM_INERTIA
    assert system.accelerations(state) == pytest.approx([expected], rel=1e-12)
    weight = -9.81 * 0.5 * np.sin(q)
    assert system.energy(state).potential == pytest.approx(weight + 20.0 * (length - 0.8) ** 2, rel=1e-13)


def test_a_weightless_rod_by_a_spring_of_no_free_length():
    """The gravity balance of an angle-poise lamp: k h l = m g s holds the rod in every pose."""
    system = lw.compile(hung(stiffness=9.81 * 0.5 / 1.5))
    for q in np.linspace(-3.0, 3.0, 13):
        assert system.accelerations(system.assemble(q={"A": q})) == pytest.approx([0.0], abs=1e-13)


def test_reactions_of_a_hanging_weight():
    """What the spring carries, the joint does not; the torque of the spring at the mast is that of its arm."""
    mech = lw.Mechanism("mast", gravity=(0, 0, -10))
    mech.add_body("mast", mass=1.0, com=(0, 0, 1), inertia=np.eye(3))
    mech.add_body("weight", mass=2.0, com=(0, 0, 0), inertia=np.eye(3), origin=(0.5, 0, 0))
    mech.add_joint("foot", lw.Fixed(), "ground", "mast", at=(0, 0, 0))
    mech.add_joint("slide", lw.Prismatic((0, 0, 1)), "ground", "weight", at=(0.5, 0, 0))
    mech.add_force(
        lw.SpringDamper(bodies=("mast", "weight"), points=((0.5, 0, 2), (0, 0, 0)), stiffness=50.0, free=1.0)
    )
    system = lw.compile(mech)
    state = system.assemble(q={"slide": 0.6})
    assert system.accelerations(state) == pytest.approx([0.0], abs=1e-13)  # 50 (1.4 - 1) holds 2 kg
    found = wrenches(system, state, {})
    assert found["slide"] == pytest.approx(np.zeros(6), abs=1e-13)
    assert found["foot"] == pytest.approx([0, -0.5 * 20, 0, 0, 0, 30], abs=1e-12)


def test_a_wrench_against_the_weight():
    """A force at a point of a turned body, in world axes, and the torque that makes up for its arm."""
    mech = pendulum()
    mech.add_force(lw.Wrench("rod", point=(1, 0, 0), name="push"))
    system = lw.compile(mech)
    q = 0.7
    state = system.assemble(q={"A": q})
    up = np.array([0, 0, 9.81])
    arm = np.array([np.cos(q), 0, -np.sin(q)])
    held = {"push.F": up, "push.T": np.cross(0.5 * arm, up) - np.cross(arm, up)}
    assert system.accelerations(state, tau=held) == pytest.approx([0.0], abs=1e-14)
    assert wrenches(system, state, held)["A"] == pytest.approx(np.zeros(6), abs=1e-13)
    half = {"push.F": (0, 0, 9.81 / 2)}
    assert system.accelerations(state, tau=half) == pytest.approx([0.0], abs=1e-14)
    assert wrenches(system, state, half)["A"] == pytest.approx([0, 0, 0, 0, 0, 9.81 / 2], abs=1e-13)


# ---- springs without length ----


def test_no_length_is_no_force_and_no_trap():
    mech = two_masses(damping=2.0)
    system = lw.compile(mech)
    state = system.assemble(q={"rail_a": 0.0, "rail_b": 0.25}, u={"rail_b": 1.0})  # the points coincide
    found = [state[f"spring.{what}"] for what in ("length", "rate", "force")]
    assert found == [0.0, 0.0, 0.0]
    assert np.array_equal(system.accelerations(state), [0.0, 0.0])
    assert system.energy(state).potential == pytest.approx(0.5 * 30.0 * 0.5**2, rel=1e-14)
    assert np.isfinite(system.jacobian(state)).all()
    block = system.block()
    block.enter(state.q, state.u, system.arguments.no_inputs)
    outputs = np.array([v.reference for v in system.variables if v.kind in ("output", "derivative")], dtype=np.uint32)
    knowns = np.array([v.reference for v in system.variables if v.kind in ("parameter", "state")], dtype=np.uint32)
    for k in range(len(knowns)):
        assert np.isfinite(block.directional_derivative(outputs, knowns[k : k + 1], np.ones(1))).all()


def test_a_spring_without_free_length_is_linear_through_zero():
    """Its force k d has a derivative even where the points coincide."""
    mech = two_masses()
    mech.forces[0] = lw.SpringDamper(bodies=("a", "b"), points=((0, 0, 0.125), (0, 0, -0.125)), stiffness=30.0)
    system = lw.compile(mech)
    for q in (0.25, 0.5, -0.1):
        jacobian = system.jacobian(system.assemble(q={"rail_a": 0.0, "rail_b": q}))
        assert jacobian[2:, :2] == pytest.approx(np.array([[-15, 15], [10, -10]]), rel=1e-12)


def test_a_motion_through_zero_length():
    """A mass swings through the point its spring is tied to, as a harmonic oscillator does."""
    mech = lw.Mechanism("through", gravity=(0, 0, 0))
    mech.add_body("a", mass=1.0, com=(0, 0, 0), inertia=np.eye(3))
    mech.add_joint("rail", lw.Prismatic((1, 0, 0)), "ground", "a", at=(0, 0, 0))
    mech.add_force(lw.SpringDamper(bodies=("ground", "a"), points=np.zeros((2, 3)), stiffness=9.0))
    mech.start(q={"rail": 1.0})
    t = np.linspace(0.0, 5.0, 51)
    result = lw.simulate(mech, 5.0, rtol=1e-10, t_eval=t)
    assert result["rail.q"] == pytest.approx(np.cos(3.0 * t), abs=1e-8)
    assert result["spring.length"] == pytest.approx(np.abs(np.cos(3.0 * t)), abs=1e-8)


# ---- motions ----


def undamped(scene):
    """The same scene with nothing that takes or brings energy."""
    kept = [force for force in scene.mechanism.forces if force.type_name == "point_spring_damper"]
    scene.mechanism.forces[:] = [
        lw.SpringDamper(bodies=f.bodies, points=f.points, stiffness=20 * f.stiffness, free=f.free, name=f.name)
        for f in kept
    ]
    scene.mechanism.start(q=scene.q, u=scene.u)
    return scene


def sprung_tree(seed, bodies, *kinds):
    return sprung(lambda rng: random_tree(rng, bodies, kinds), springs=4)(np.random.default_rng(seed))


MOTIONS = {
    "planar_5R": well_posed(sprung(single(lambda rng: planar(rng, 5))), 1),
    "moving_slider_crank": well_posed(sprung(moving_base(slider_crank)), 3),
    "tree": sprung_tree(11, 5, "revolute", "prismatic", "universal"),
    "free_bodies": sprung_tree(3, 3, "free"),
}


@pytest.mark.parametrize("name", MOTIONS)
def test_energy_is_conserved(name):
    mech = undamped(MOTIONS[name]).mechanism
    result = lw.simulate(mech, 2.0, rtol=1e-11, t_eval=np.linspace(0.0, 2.0, 41))
    kinetic, potential = result["energy.kinetic"], result["energy.potential"]
    scale = np.ptp(kinetic)
    assert scale > 0.1
    assert np.abs(kinetic + potential - kinetic[0] - potential[0]).max() < 1e-8 * scale


def test_dampers_and_pushes_balance_over_a_motion():
    """Energy gained is the work of a wrench less what the damper takes, integrated over dense output."""
    mech = hung(stiffness=40.0, damping=3.0, free=0.8)
    mech.add_force(lw.Wrench("rod", point=(0.5, 0, 0), name="push"))
    mech.start(q={"A": 0.4})
    t = np.linspace(0.0, 2.0, 4001)
    inputs = {"push.F[1]": lambda t: 8.0 * np.sin(5.0 * t), "push.F[3]": 2.0, "push.T[2]": np.cos}
    result = lw.simulate(mech, 2.0, inputs=inputs, rtol=1e-10, t_eval=t)
    velocity = result["rod.v"] + np.cross(result["rod.w"], _turned(result["A.q"]))
    gained = (velocity * result["push.F"]).sum(axis=1) + (result["rod.w"] * result["push.T"]).sum(axis=1)
    taken = 3.0 * result["spring.rate"] ** 2
    energy = result["energy.kinetic"] + result["energy.potential"]
    assert energy[-1] - energy[0] == pytest.approx(np.trapezoid(gained - taken, t), rel=1e-6)
    assert np.trapezoid(taken, t) > 1.0


def _turned(q):
    """Half the rod, in the world."""
    return 0.5 * np.stack([np.cos(q), np.zeros_like(q), -np.sin(q)], axis=1)
