"""Bodies without mass against Pinocchio, the dense solution of support.oracle, and joints of several axes."""

import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import linkwork as lw
from support.driving import by_joint, largest_difference, random_loads, reached, wrenches
from support.massless import massless_bodies, with_masses
from support.oracle import Oracle
from support.pinocchio_tree import PinocchioTree
from support.poses import IDENTITY, Pose, quaternion_matrix
from support.random_mechanisms import FAMILIES, random_tree, well_posed

NOTHING = np.zeros((3, 3))
BOX = lw.inertia.box(2.0, (0.3, 0.2, 0.1))
X, Y, Z = np.eye(3)
ALL_METHODS = [("rcr",), ("embedding",), ("multipliers",), ("multipliers", "centroid"), ("multipliers", "origin")]
LOOPS = ["planar_5R", "spatial_7R", "spatial_6R_2P", "closed_chain_12R", "planar_8R", "moving_spatial_7R"]
LOOPS += ["outboard_trees", "loop_on_loop", "side_by_side", "three_planar_legs", "three_spatial_legs", "coupled"]
LOOPS += ["fixed_in_loop", "sprung_coupled"]


def refused(error, *words):
    return pytest.raises(error, match="".join(f"(?=.*{word})" for word in words))


def chain(*joints, masses, name="chain"):
    """Bodies in a row on joints given by kind and place on the parent; the last is off its joint."""
    mech = lw.Mechanism(name)
    before = "ground"
    for k, ((kind, place), mass) in enumerate(zip(joints, masses, strict=True), start=1):
        com, inertia = ((0.3, 0.1, -0.2), BOX * mass / 2.0) if mass else ((0, 0, 0), NOTHING)
        mech.add_body(f"b{k}", mass=mass, com=com, inertia=inertia)
        mech.add_joint(f"j{k}", kind, before, f"b{k}", parent_frame=lw.Frame(place))
        before = f"b{k}"
    return mech


# ---- joints of several axes as hinges with massless bodies between ----


@pytest.mark.parametrize("method", ["auto", "multipliers"])
def test_two_hinges_are_a_universal_joint(method):
    rng = np.random.default_rng(3)
    hinges = chain((lw.Revolute(X), (0.1, 0.2, 0)), (lw.Revolute(Y), (0, 0, 0)), masses=(0.0, 2.0))
    joint = chain((lw.Universal(X, Y), (0.1, 0.2, 0)), masses=(2.0,))
    found, expected = lw.compile(hinges, method=method), lw.compile(joint)
    for _ in range(20):
        q, u, tau = rng.normal(size=(3, 2))
        assert found.accelerations(q, u, tau=tau) == pytest.approx(expected.accelerations(q, u, tau=tau), rel=1e-11)


def test_three_hinges_are_a_ball():
    """The angular acceleration of the body, which both have in common, in the world."""
    rng = np.random.default_rng(4)
    at, here = (0.1, 0.2, 0), (0, 0, 0)
    hinges = chain((lw.Revolute(X), at), (lw.Revolute(Y), here), (lw.Revolute(Z), here), masses=(0.0, 0.0, 2.0))
    found = lw.compile(hinges)
    ball = lw.compile(chain((lw.Spherical(), at), masses=(2.0,)))
    for _ in range(20):
        q, u = rng.uniform(-1.0, 1.0, (2, 3))
        state = found.state(q, u)
        turned = quaternion_matrix(state["b3.Q"])
        at_ball = ball.accelerations(np.asarray(state["b3.Q"]), turned.T @ state["b3.w"])
        assert angular_acceleration(found, state, "b3") == pytest.approx(turned @ at_ball, rel=1e-8, abs=1e-8)


def angular_acceleration(system, state, body, step=1e-4):
    """By short steps along the motion, of the fourth order."""
    rates = system.derivatives(state)
    nq = len(state.q)

    def change(by):
        ahead, behind = (
            system.state(state.q + s * by * rates[:nq], state.u + s * by * rates[nq:])[f"{body}.w"] for s in (1, -1)
        )
        return (np.asarray(ahead) - np.asarray(behind)) / (2.0 * by)

    return (4.0 * change(step) - change(2.0 * step)) / 3.0


# ---- random mechanisms ----


@pytest.mark.thin(6)
@pytest.mark.parametrize("method", [("auto",), *ALL_METHODS[2:]], ids="-".join)
@pytest.mark.parametrize("seed", range(8))
def test_random_trees(seed, method):
    rng = np.random.default_rng([seed, 5])
    scene = random_tree(rng, 12, ("revolute", "revolute", "prismatic", "fixed", "universal"))
    massless = massless_bodies(rng, scene)
    assert len(massless) > 1
    scene = with_masses(scene, massless)
    system, state = reached(scene, *method)
    tau = random_loads(rng, scene)
    found = by_joint(system, system.accelerations(state, tau=tau))
    expected = PinocchioTree(scene.mechanism).accelerations(scene.q, scene.u, tau)
    assert largest_difference(found, expected) < 1e-11


@pytest.mark.thin(6)
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("family", LOOPS)
def test_random_loops(family, seed):
    """By each method that takes the mechanism; accelerations of all joints and, where determined, reactions."""
    rng = np.random.default_rng([seed, 6])
    scene = well_posed(FAMILIES[family][0], seed)
    massless = massless_bodies(rng, scene)
    assert massless
    scene = with_masses(scene, massless)
    tau = random_loads(rng, scene)
    expected = scene.oracle.solve(scene.u, tau)
    taken = 0
    for method in ALL_METHODS:
        try:
            system, state = reached(scene, *method)
        except (lw.MechanismError, lw.SingularityError) as error:
            if method[0] != "multipliers" or not re.search("in the open tree|while the loops are open", str(error)):
                raise
            continue
        taken += 1
        found = by_joint(system, system.accelerations(state, tau=tau))
        assert largest_difference(found, expected.udot) < 1e-10
        assert np.abs(scene.oracle.imbalance(expected, scene.u, wrenches(system, state, tau))).max() < 1e-9
    assert taken >= 2


@pytest.mark.parametrize("family", ["spatial_7R", "three_planar_legs", "outboard_trees"])
def test_limit_of_small_masses(family):
    """Accelerations differ from those without mass in proportion to the mass."""
    rng = np.random.default_rng(9)
    scene = well_posed(FAMILIES[family][0], 3)
    massless = massless_bodies(rng, scene)
    tau = random_loads(rng, scene)

    def accelerations(mass):
        system, state = reached(with_masses(scene, massless, mass))
        return by_joint(system, system.accelerations(state, tau=tau))

    limit = accelerations(0.0)
    errors = [largest_difference(accelerations(mass), limit) for mass in (1e-3, 1e-6, 1e-9)]
    assert errors[0] > 1e-9
    assert errors[1] == pytest.approx(1e-3 * errors[0], rel=0.5)
    assert errors[2] < 2e-6 * errors[0] + 1e-12


def hexapod(massless_legs=False):
    """A platform on six legs: universal joints below and balls above, of hinges with massless bodies, and sliders."""
    mech = lw.Mechanism("hexapod")
    mech.add_body("plate", mass=5.0, com=(0.01, 0.02, 0.05), inertia=lw.inertia.disk(5.0, 0.5), origin=(0, 0, 1))
    for k in range(6):
        below, above = 2 * np.pi * (k // 2 + 0.15 * (-1) ** k) / 3, 2 * np.pi * (k // 2 + 0.35 * (-1) ** k) / 3
        foot = np.array([np.cos(below), np.sin(below), 0.0])
        head = np.array([0.5 * np.cos(above), 0.5 * np.sin(above), 1.0])
        along = (head - foot) / np.linalg.norm(head - foot)
        across = np.cross(along, Z) / np.linalg.norm(np.cross(along, Z))
        other = np.cross(along, across)
        for name, mass, place in (
            ("x", 0, foot),
            ("low", 0.8, foot),
            ("up", 0.6, head),
            ("y", 0, head),
            ("z", 0, head),
        ):
            mass = 0.0 if massless_legs else mass
            com = 0.2 * along * (-1.0 if name == "up" else 1.0)
            mech.add_body(f"{name}{k}", mass=mass, com=com, inertia=BOX * mass, origin=place)
        row = ["ground", f"x{k}", f"low{k}", f"up{k}", f"y{k}", f"z{k}", "plate"]
        kinds = [lw.Revolute(across), lw.Revolute(other), lw.Prismatic(along)]
        kinds += [lw.Revolute(across), lw.Revolute(other), lw.Revolute(along)]
        for j, (kind, place) in enumerate(zip(kinds, [foot, foot, foot, head, head, head], strict=True)):
            mech.add_joint(f"j{k}{j}", kind, row[j], row[j + 1], at=place)
    return mech


@pytest.mark.parametrize("massless_legs", [False, True])
def test_hexapod(massless_legs):
    """Its tree has no massless leaf; where whole legs are massless it has, and the methods for loops take it."""
    mech = hexapod(massless_legs)
    poses = {"ground": IDENTITY} | {b.name: Pose(b.rotation, b.origin) for b in mech.bodies.values()}
    oracle = Oracle(mech, poses)
    rng = np.random.default_rng(0)
    u = oracle.random_speeds(rng)
    tau = {f"j{k}2": float(rng.normal(scale=20.0)) for k in range(6)}
    expected = oracle.solve(u, tau).udot
    for method in [("auto",), *ALL_METHODS]:
        if massless_legs and method[0] == "multipliers":
            with refused(lw.MechanismError, "has no mass", "cut", "'auto', 'rcr' or 'embedding'"):
                lw.compile(mech, *method)
            continue
        system = lw.compile(mech, *method)
        state = system.assemble(u=u)
        assert largest_difference(by_joint(system, system.accelerations(state, tau=tau)), expected) < 1e-10
    assert "j01" not in {system.joint_names[joint] for joint in system.topology.cut_joints}


# ---- what is refused ----


def test_massless_leaf():
    mech = chain((lw.Revolute(Z), (0, 0, 0)), (lw.Revolute(Z), (1, 0, 0)), masses=(2.0, 0.0))
    with refused(lw.MechanismError, "body 'b2' has no mass", "joint 'j2' moves no inertia", "give body 'b2' a mass"):
        lw.compile(mech)
    mech.bodies["b2"] = replace(mech.bodies["b2"], inertia=np.diag([0.05, 0.05, 0.1]))
    accelerations = lw.compile(mech).accelerations([0.1, 0.2], [0.0, 0.0], tau=[0.0, 3.0])
    assert accelerations.sum() == pytest.approx(30.0)  # the torque over the moment of inertia


def test_massless_bodies_on_fixed_joints_are_frames():
    mech = chain((lw.Revolute(Z), (0, 0, 0)), (lw.Fixed(), (1, 0, 0)), masses=(2.0, 0.0))
    single = chain((lw.Revolute(Z), (0, 0, 0)), masses=(2.0,))
    for method in ("auto", "multipliers"):
        found = lw.compile(mech, method=method).accelerations([0.3], [0.1])
        assert found == pytest.approx(lw.compile(single).accelerations([0.3], [0.1]), rel=1e-14)
    fixed = chain((lw.Revolute(Z), (0, 0, 0)), (lw.Fixed(), (1, 0, 0)), masses=(0.0, 2.0))
    lw.compile(fixed).accelerations([0.3], [0.1])


def test_loop_of_massless_bodies():
    """Refused where it moves; a rigid one is legal."""
    for links, rigid in ((3, False), (2, True)):
        mech = chain((lw.Revolute(Y), (0, 0, 0)), masses=(2.0,))
        for k in range(links):
            mech.add_body(f"x{k}", mass=0.0, com=(0, 0, 0), inertia=NOTHING, origin=(0.2 * k, 0, 0.3 * (k == 1)))
        row = ["b1", *(f"x{k}" for k in range(links)), "b1"]
        places = [(0, 0, 0), (0.2, 0, 0.3), (0.5, 0, 0.4), (0.6, 0, 0.0)][: links + 1]
        for k, (one, other) in enumerate(pairwise(row)):
            mech.add_joint(f"x{k}", lw.Revolute(Y), one, other, at=places[k])
        if rigid:
            assert lw.compile(mech).accelerations(lw.compile(mech).assemble()).size
        else:
            with refused(lw.MechanismError, "has no mass", "moves no inertia"):
                lw.compile(mech)


@pytest.mark.parametrize("method", ["auto", "multipliers"])
def test_axis_through_the_point_mass(method):
    mech = chain((lw.Revolute(X), (0, 0, 0)), (lw.Revolute(Y), (0, 0, 0)), masses=(0.0, 2.0))
    mech.bodies["b2"] = replace(mech.bodies["b2"], inertia=NOTHING, com=np.array([0.3, 0.0, 0.0]))
    system = lw.compile(mech, method=method)
    with refused(lw.SingularityError, "joint 'j1' moves no inertia in this pose"):
        system.accelerations([0.4, 0.0], [0.1, 0.2])
    assert np.isfinite(system.accelerations([0.4, 0.3], [0.1, 0.2])).all()


@pytest.mark.parametrize("method", ["rcr", "multipliers", "dca"])
@pytest.mark.parametrize("moment", [0.0, 1e-35])
def test_hinges_between_point_masses(moment, method):
    """As necks of robots have them: no axis alone is without inertia, and both together are in some poses."""
    mech = lw.Mechanism("neck", gravity=(0, 0, 0))
    mech.add_body("neck", mass=0.1, com=(0, 0, 0), inertia=NOTHING)
    mech.add_body("head", mass=2.0, com=(0.1, 0, 0), inertia=moment * np.eye(3))
    mech.add_joint("roll", lw.Revolute(X), "ground", "neck")
    mech.add_joint("yaw", lw.Revolute(Z), "neck", "head")
    system = lw.compile(mech, method=method)
    for yaw in (0.0, 1e-9, 1e-7):
        with refused(lw.SingularityError, "joint 'roll' moves no inertia in this pose"):
            system.accelerations([0.3, yaw], [0.0, 0.0], tau={"roll": 1.0})
    for yaw in (0.1, 1.0):
        found = system.accelerations([0.3, yaw], [0.0, 0.0], tau={"roll": 1.0})
        assert found == pytest.approx([1.0 / (2.0 * (0.1 * np.sin(yaw)) ** 2), 0.0], rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("method", ["auto", "multipliers"])
@pytest.mark.parametrize("seed", range(5))
def test_three_hinges_on_one_axis(seed, method):
    """In any direction: what rounding leaves of the inertia does not count; bodies without a load do not spin up."""
    rng = np.random.default_rng(seed)
    axis = rng.normal(size=3)
    place = (0, 0, 0)
    mech = chain(*3 * [(lw.Revolute(axis / np.linalg.norm(axis)), place)], masses=(0.0, 0.0, 2.0))
    system = lw.compile(mech, method=method)
    q, u = rng.normal(size=(2, 3))
    one = lw.compile(chain((lw.Revolute(axis / np.linalg.norm(axis)), place), masses=(2.0,)))
    expected = np.append(np.zeros(2), one.accelerations([q.sum()], [u.sum()]))
    assert system.accelerations(q, u) == pytest.approx(expected, abs=1e-12)
    with refused(lw.SingularityError, "body 'b1' has no inertia about the line"):
        system.accelerations(q, u, tau={"j1": 0.1})


def test_massless_rod_between_balls_spins():
    """On a loop: only its spin has no inertia."""
    mech = chain((lw.Revolute(Y), (0, 0, 0)), masses=(2.0,))
    mech.add_body("rod", mass=0.0, com=(0, 0, 0), inertia=NOTHING, origin=(0.5, 0.0, 0.1))
    mech.add_body("rocker", mass=1.0, com=(0.1, 0, 0.1), inertia=BOX, origin=(1.0, 0, 0))
    mech.add_joint("A", lw.Spherical(), "b1", "rod", at=(0.5, 0.0, 0.1))
    mech.add_joint("B", lw.Spherical(), "rod", "rocker", at=(1.1, 0.1, 0.4))
    mech.add_joint("C", lw.Revolute(Y), "rocker", "ground", at=(1.0, 0, 0))
    for method in ("rcr", "embedding", "multipliers"):
        system = lw.compile(mech, method=method)
        assert np.isfinite(system.accelerations(system.assemble())).all()
        with refused(lw.SingularityError, "body 'rod' has no inertia about the line"):
            system.accelerations(system.assemble(), tau={"A": (0.1, 0.2, 0.3)})
    mech.joints["B"] = replace(
        mech.joints["B"], kind=lw.Universal(X, Z), reflected_inertia=np.zeros(2), max_load=np.full(2, np.inf)
    )
    system = lw.compile(mech)
    assert np.isfinite(system.accelerations(system.assemble())).all()


def test_divide_and_conquer_needs_masses():
    mech = chain((lw.Revolute(X), (0, 0, 0)), (lw.Revolute(Y), (0, 0, 0)), masses=(0.0, 2.0))
    with refused(lw.MechanismError, "method 'dca'", "body 'b1' has no mass", "inverse of the mass", "use 'auto'"):
        lw.compile(mech, method="dca")
    mech.bodies["b1"] = replace(mech.bodies["b1"], mass=1.0)
    system = lw.compile(mech, method="dca").with_parameters({"b1.mass": 0.0})
    with refused(lw.MechanismError, "body 'b1' has no mass", "another method"):
        system.accelerations([0.1, 0.2], [0.0, 0.0])


def test_parameters_without_mass():
    heavy = lw.compile(chain((lw.Revolute(X), (0, 0, 0)), (lw.Revolute(Y), (0, 0, 0)), masses=(1.0, 2.0)))
    light = heavy.with_parameters({"b1.mass": 0.0, **{f"b1.inertia[{k},{k}]": 0.0 for k in (1, 2, 3)}})
    expected = lw.compile(chain((lw.Revolute(X), (0, 0, 0)), (lw.Revolute(Y), (0, 0, 0)), masses=(0.0, 2.0)))
    assert light.accelerations([0.1, 0.2], [1.0, 2.0]) == pytest.approx(expected.accelerations([0.1, 0.2], [1.0, 2.0]))
    with refused(lw.MechanismError, "mass of body 'b1' is negative"):
        heavy.with_parameters({"b1.mass": -1.0}).accelerations([0.1, 0.2], [1.0, 2.0])


def test_negative_mass():
    with refused(lw.MechanismError, "body 'b1'", "mass must not be negative", "-1 kg"):
        lw.Mechanism("m").add_body("b1", mass=-1.0, com=(0, 0, 0), inertia=NOTHING)


def test_cut_next_to_a_massless_body():
    """The wish counts: the methods for loops take it, and the one for the open tree names joint and body."""
    mech = lw.Mechanism("four_bar")
    for name, mass, place in (("a", 1.0, (0, 0, 0)), ("b", 0.0, (0, 0, 0.5)), ("c", 1.0, (1, 0, 0))):
        mech.add_body(name, mass=mass, com=(0, 0, 0.2), inertia=mass * BOX, origin=place)
    row = [("A", "ground", "a", (0, 0, 0)), ("B", "a", "b", (0, 0, 0.5)), ("C", "b", "c", (1, 0, 0.7))]
    for name, parent, child, at in [*row, ("D", "c", "ground", (1, 0, 0))]:
        mech.add_joint(name, lw.Revolute(Y), parent, child, at=at)
    accelerations = {}
    for cut in ("ABCD", "B"):
        wished = mech.copy()
        for name in cut if cut == "B" else "":
            wished.joints[name] = replace(wished.joints[name], cut=True)
        system = lw.compile(wished)
        accelerations[cut] = by_joint(system, system.accelerations(system.assemble(), tau={"A": 1.0}))
    assert largest_difference(accelerations["B"], accelerations["ABCD"]) < 1e-11
    lw.compile(mech, method="multipliers")
    with refused(lw.MechanismError, "body 'b' has no mass", "'B' cut"):
        lw.compile(wished, method="multipliers")
    assert "not multipliers: body 'b'" in lw.compile(wished).explain()


def test_runs():
    """Energy is conserved, and the equations with multipliers, whose mass matrix may be singular, agree."""
    mech = hexapod(massless_legs=True)
    for k in range(6):
        mech.add_force(lw.SpringDamper(f"j{k}2", stiffness=2000.0))
    system = lw.compile(mech)
    runs = [
        lw.simulate(system, 0.2, t_eval=[0.0, 0.1, 0.2], rtol=1e-9, atol=1e-9, solver=solver, formulation=formulation)
        for solver, formulation in (("dopri5", "ode"), ("ida", "ggl"))
    ]
    energies = [sum(system.energy(runs[0].state(t))) for t in (0.0, 0.1, 0.2)]
    assert np.ptp(energies) < 1e-6 * np.abs(energies).max()
    assert runs[1]["j02.q"] == pytest.approx(runs[0]["j02.q"], abs=1e-6)
    assert np.ptp(runs[0]["j02.q"]) > 1e-3
