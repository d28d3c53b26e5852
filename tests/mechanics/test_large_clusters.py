"""Clusters of loops too large for one matrix: assembly loop by loop, and the same motion as of small ones."""

import numpy as np
import pytest

import linkwork as lw
from support.driving import by_joint
from support.published import X, Y, Z, ladder

LOOPS = 100  # 600 equations: more than are laid out as one matrix
DEEP = pytest.mark.parametrize("deep", [False, True], ids=["flat", "deep"])


def gap(system, state):
    return float(system.loop_residual(state).max())


def perturbed(values, size, seed=0):
    rng = np.random.default_rng(seed)
    return {name: np.asarray(value) + rng.uniform(-size, size, np.shape(value)) for name, value in values.items()}


def far_from_closed(scene, system, size):
    """A block whose start values are all off, and none of them to be kept."""
    block = system.block()
    starts = block.reals[system.fields["q_start"].span]
    for name, value in perturbed(scene.q, size).items():
        starts[system.numbering.q[name]] = value
    return block


@pytest.mark.thin(2)
@DEEP
@pytest.mark.parametrize("size", [1e-3, 0.1, 0.3])
def test_perturbed_start_values(deep, size):
    """Of what contradicts itself the first given is kept, and the rest follows."""
    scene = ladder(LOOPS, deep)
    system = lw.compile(scene.mechanism)
    guess = perturbed(scene.q, size)
    state = system.assemble(q=guess, u=scene.u)
    assert gap(system, state) < 1e-10
    assert np.array_equal(state["H0.q"], guess["H0"])
    speeds = by_joint(system, state.u)
    if np.array_equal(guess["H0"], scene.q["H0"]):
        assert speeds["H99"] == pytest.approx(scene.u["H99"])


@DEEP
def test_guesses_that_need_not_be_kept(deep):
    """All move, and none much more than the errors of the guesses."""
    scene = ladder(LOOPS, deep)
    system = lw.compile(scene.mechanism)
    block = far_from_closed(scene, system, 0.05)
    block.assemble(1e-10)
    state = system.state_of(block)
    assert gap(system, state) < 1e-10
    moved = np.concatenate([np.ravel(state[f"{name}.q"] - scene.q[name]) for name in scene.q])
    assert 1e-6 < np.sqrt(np.mean(moved**2)) < 0.1


@DEEP
def test_one_leg_decides(deep):
    scene = ladder(LOOPS, deep)
    system = lw.compile(scene.mechanism)
    state = system.assemble(q={"H0": (0.4, -0.3)}, u={"H0": (0.5, 0.6)})
    assert gap(system, state) < 1e-12
    assert state["H0.q"] == pytest.approx([0.4, -0.3], abs=0)
    for name in ("H50.q", f"H{LOOPS}.q"):
        assert state[name] == pytest.approx([0.4, -0.3], abs=1e-11)
    assert state[f"H{LOOPS}.u"] == pytest.approx([0.5, 0.6], abs=1e-10)


def test_a_joint_that_closes_a_loop_is_held():
    system = lw.compile(ladder(LOOPS).mechanism)
    state = system.assemble(q={"far7": 0.35}, u={"far7": -0.25})
    assert state["far7.q"] == pytest.approx(0.35, abs=1e-14)
    assert state["far93.q"] == pytest.approx(0.35, abs=1e-11)
    assert state["far93.u"] == pytest.approx(-0.25, abs=1e-11)
    assert gap(system, state) < 1e-12


def test_given_speeds_that_contradict():
    """Both are not possible: the first given is kept."""
    system = lw.compile(ladder(LOOPS).mechanism)
    state = system.assemble(q={"H0": (0.5, 0.3)}, u={"H3": (0.7, -0.4), "H8": (0.1, 0.2)})
    for leg in range(LOOPS + 1):
        assert state[f"H{leg}.u"] == pytest.approx([0.7, -0.4], abs=1e-11)


def test_all_bars_in_line():
    """Where every loop is singular another guess must help."""
    mech = chain_of_windows(LOOPS)
    system = lw.compile(mech)
    state = system.assemble(q={"A0": 0.0})
    assert gap(system, state) < 1e-10


def chain_of_windows(count):
    """Legs on the ground and bars between their tips, all along x at zero angles; bars of two lengths."""
    mech = lw.Mechanism("windows")
    rod = {"mass": 1.0, "com": (0.5, 0, 0), "inertia": lw.inertia.rod(1.0, 1.0, axis="x")}
    for k in range(count + 1):
        mech.add_body(f"leg{k}", **rod)
        foot = lw.Frame((0.9 * k, 0, 0))
        mech.add_joint(f"A{k}", lw.Revolute(Z), "ground", f"leg{k}", parent_frame=foot, child_frame=lw.Frame())
    for k in range(count):
        mech.add_body(f"top{k}", **rod)
        mech.add_joint(f"B{k}", lw.Revolute(Z), f"leg{k}", f"top{k}", parent_frame=lw.Frame((1.0, 0, 0)))
        ends = {"parent_frame": lw.Frame((1.0, 0, 0)), "child_frame": lw.Frame((1.0, 0, 0))}
        mech.add_joint(f"C{k}", lw.Revolute(Z), f"top{k}", f"leg{k + 1}", cut=True, **ends)
    return mech


def on_a_cart(mech):
    """The same on a body that slides."""
    data = mech.to_dict()
    data["bodies"] += [{"name": "cart", "mass": 3.0, "com": [0, 0, 0], "inertia": np.eye(3).tolist()}]
    for joint in data["joints"]:
        joint["parent"] = joint["parent"].replace("ground", "cart")
    slide = {"name": "slide", "type": "prismatic", "axis": [1, 0, 0], "parent": "ground", "child": "cart"}
    data["joints"] += [{**slide, "parent_frame": {"position": [2.0, 0, 0]}}]
    return lw.Mechanism.from_dict(data)


def test_on_a_body_that_moves():
    """Accelerations of a long ladder and of a short one on the same cart."""
    found = {}
    for loops in (2, LOOPS):
        system = lw.compile(on_a_cart(ladder(loops).mechanism))
        state = system.assemble(q={"slide": 0.7, "H0": (0.5, 0.3)}, u={"slide": 1.0, "H0": (0.7, -0.4)})
        assert (state["slide.q"], state["slide.u"]) == (0.7, pytest.approx(1.0))
        udot = by_joint(system, system.accelerations(state))
        found[loops] = np.array([udot["slide"], *udot["H0"], *udot["H2"]])
    assert found[LOOPS] == pytest.approx(found[2], rel=1e-9)


def test_coupled():
    """A gear over half the ladder removes one of its two degrees of freedom."""
    scene = ladder(LOOPS)
    scene.mechanism.add_coupling("gear", {"H2[1]": 1.0, "near50": (2.0, 0.3)}, offset=0.25)
    system = lw.compile(scene.mechanism)
    state = system.assemble(q={"H0": (0.5, 0.1)}, u={"near50": 0.3})
    assert gap(system, state) < 1e-10
    q1, q, u1, u = state["H2.q"][0], state["near50.q"], state["H2.u"][0], state["near50.u"]
    assert q1 + 2 * q + 0.3 * q**2 == pytest.approx(0.25, abs=1e-12)
    assert u1 + (2 + 0.6 * q) * u == pytest.approx(0.0, abs=1e-12)
    assert u == pytest.approx(0.3)
    udot = system.by_joint(system.accelerations(state))
    assert udot["H2"][0] + (2 + 0.6 * q) * udot["near50"] + 0.6 * u**2 == pytest.approx(0.0, abs=1e-9)


def test_a_loop_that_cannot_be_closed_is_named():
    """One rung of a hundred is much too long."""
    mech = lw.Mechanism.from_dict(ladder(LOOPS).mechanism.to_dict())
    data = mech.to_dict()
    next(joint for joint in data["joints"] if joint["name"] == "far40")["parent_frame"]["position"] = [30.0, 0, 0]
    with pytest.raises(lw.AssemblyError, match="loop closed by joint 'far40' cannot be closed") as refused:
        lw.compile(lw.Mechanism.from_dict(data)).assemble()
    assert "27.5 m" in str(refused.value)  # 30 m less the legs, and the distance of their feet


@DEEP
@pytest.mark.parametrize("loops", [1000, pytest.param(10_000, marks=pytest.mark.slow)])
def test_thousands_of_loops(deep, loops):
    """Every number of rungs moves alike, legs and rungs all along."""
    few, many = ladder(10, deep), ladder(loops, deep)
    small, system = lw.compile(few.mechanism), lw.compile(many.mechanism)
    assert system.sizes.reals < 2000 * loops
    state = system.assemble(q=many.q, u=many.u)
    assert gap(system, state) < 1e-10
    expected = by_joint(small, small.accelerations(small.assemble(q=few.q, u=few.u)))
    scale = max(np.abs(value).max() for value in expected.values())
    for name, value in by_joint(system, system.accelerations(state)).items():
        kind = name.rstrip("0123456789")
        assert np.abs(value - expected[f"{kind}0"]).max() < 1e-10 * scale, name


def test_the_place_in_the_world_does_not_matter():
    """Where its joints are on the root counts for nothing in the size of a cluster."""
    near, far = (conditioning_of_bars(away) for away in (0.0, 1e4))
    assert near > 0.1
    assert far == pytest.approx(near, rel=1e-9)


def conditioning_of_bars(away):
    mech = lw.Mechanism("bars")
    for name in ("crank", "rod"):
        mech.add_body(name, mass=1.0, com=(0.1, 0, 0), inertia=lw.inertia.rod(1.0, 0.3, axis="x"))
    mech.add_joint("A", lw.Revolute(Y), "ground", "crank", parent_frame=lw.Frame(away * X))
    mech.add_joint("B", lw.Revolute(Y), "crank", "rod", parent_frame=lw.Frame(0.3 * X))
    ends = {"parent_frame": lw.Frame((away + 0.4) * X), "child_frame": lw.Frame(0.3 * X)}
    mech.add_joint("C", lw.Revolute(Y), "ground", "rod", cut=True, **ends)
    system = lw.compile(mech)
    return system.assemble(q={"A": -0.8, "B": 1.7})["loop.C.conditioning"]
