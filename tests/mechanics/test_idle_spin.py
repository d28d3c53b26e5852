"""Rods between balls and point masses on balls, without inertia about lines about which nothing else turns.

The limit of small inertia, where the angular acceleration about the line vanishes, by every method.
"""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from support.differences import relative
from support.idle_rods import SCENES, scene
from support.methods import METHODS, compiled
from support.moving import largest_difference

AGREEMENT = 1e-9
THICKNESS = 1e-5  # of the neighbours from which the limit is extrapolated


@pytest.mark.parametrize("kind", SCENES)
@pytest.mark.parametrize("seed", range(2))
def test_accelerations_are_those_in_maximal_coordinates(kind, seed):
    made = scene(kind, seed)
    names = {name: name for name in made.mech.bodies}
    for method in METHODS:
        model = compiled(made.mech, method)
        state = model.assemble()
        system = made.maximal(model, state)
        assert system.residual() < 1e-9
        assert system.residual_rate() < 1e-8
        made.leave_spins(system)
        assert largest_difference(model, state, system, names) < AGREEMENT


@pytest.mark.parametrize("kind", SCENES)
def test_the_limit_of_small_inertia(kind):
    """Accelerations, reactions, loads and energies; two neighbours extrapolated."""
    models = [lw.compile(scene(kind, 5, thickness).mech) for thickness in (0.0, THICKNESS, 2 * THICKNESS)]
    state = models[0].assemble()
    udot = np.random.default_rng(0).normal(size=len(state.u))

    def results(model: lw.Model) -> list[np.ndarray]:
        q, u = np.array(state.q), np.array(state.u)
        return [
            model.accelerations(q, u),
            model.reactions(q, u),
            model.inverse_dynamics(q, udot, u),
            model.mass_matrix(q, u),
            np.array(model.energy(q, u)),
        ]

    for limit, near, further in zip(*map(results, models), strict=True):
        assert relative(limit, 2 * near - further) < 1e-7


def ends_of_run(thickness: float, method: str = "auto", **options: object) -> np.ndarray:
    """Coordinates at the end of a short run of an RSSR."""
    mech = scene("RSSR", 3, thickness).mech
    result = lw.simulate(lw.compile(mech, method), 0.2, rtol=1e-9, **options)
    return np.array([result[f"{name}.q"][-1] for name in "AD"])


def test_runs():
    """Steps do not shrink, whatever the method, the solver and the formulation."""
    near, further = (ends_of_run(thickness) for thickness in (THICKNESS, 2 * THICKNESS))
    found = [ends_of_run(0.0, method) for method in ("auto", "multipliers", "dca")]
    found += [ends_of_run(0.0, solver="rodas5p"), ends_of_run(0.0, solver="ida", formulation="ggl")]
    for end in found:
        assert relative(end, 2 * near - further) < 1e-6


def test_a_run_takes_no_more_steps_than_with_inertia():
    models = [lw.compile(scene("free base", 2, thickness).mech) for thickness in (0.0, 1e-3)]
    steps = [len(lw.simulate(model, 0.2, rtol=1e-8).t) for model in models]
    assert steps[0] <= 1.2 * steps[1] + 2


# ---- loads about the line ----


@pytest.mark.parametrize("method", METHODS)
def test_a_load_about_the_line_is_refused(method):
    model = compiled(scene("RSSR", 3).mech, method)
    with pytest.raises(lw.SingularityError, match="'rod' has no inertia about the line"):
        model.accelerations(model.assemble(), tau={"B": (0.1, 0.2, 0.3)})


def test_a_damper_about_the_line_is_refused():
    mech = scene("RSSR", 3).mech
    mech.add_force(lw.SpringDamper("B", damping=0.01))
    with pytest.raises(lw.SingularityError, match="'rod' has no inertia about the line"):
        lw.simulate(mech, 0.1)


def test_a_spring_beside_the_line_is_refused():
    """On the line it is a load like any other."""
    made = scene("RSSR", 3)
    rod = made.mech.bodies["rod"]
    for beside, refused in ((0.0, False), (0.01, True)):
        mech = scene("RSSR", 3).mech
        off = np.cross(rod.com, (0.3, 0.2, 0.9))
        point = np.array(rod.com) + beside * off / np.linalg.norm(off)
        mech.add_force(lw.SpringDamper(bodies=("ground", "rod"), points=((0, 0, 2), point), stiffness=50.0))
        model = lw.compile(mech)
        if refused:
            with pytest.raises(lw.SingularityError, match="'rod' has no inertia about the line"):
                model.accelerations(model.assemble())
        else:
            assert np.isfinite(model.accelerations(model.assemble())).all()


def test_a_gear_on_the_spin_makes_it_no_idle_one():
    """A rod on a hinge along its own line, alone and driven by a gear."""
    for geared in (False, True):
        mech = lw.Mechanism("spindle")
        mech.add_body("rod", mass=1.0, com=(0, 0, 0.2), inertia=lw.inertia.rod(1.0, 0.4, axis="z"))
        mech.add_body("wheel", mass=1.0, com=(1, 0, 0), inertia=np.diag([0.1, 0.1, 0.2]))
        mech.add_joint("S", lw.Revolute((0, 0, 1)), "ground", "rod", at=(0, 0, 0))
        mech.add_joint("W", lw.Revolute((0, 0, 1)), "ground", "wheel", at=(1, 0, 0))
        if geared:
            mech.add_coupling("gear", {"S": 1.0, "W": -3.0})
        model = lw.compile(mech)
        found = model.by_joint(model.accelerations(model.assemble(), tau={"W": 0.4}))
        assert found == pytest.approx({"S": 6.0 if geared else 0.0, "W": 2.0})


# ---- massless rods ----


def crank_and_rocker(inertia: float, mass: float) -> lw.Mechanism:
    mech = lw.Mechanism("link")
    p, q = (0.1, 0, 0.05), (0.5, 0.2, 0.3)
    mech.add_body("crank", mass=1.0, com=(0.05, 0, 0), inertia=0.01 * np.eye(3))
    mech.add_body("rocker", mass=1.0, com=(0.5, 0.2, 0.15), inertia=0.02 * np.eye(3))
    mech.add_body("link", mass=mass, com=(0, 0, 0), inertia=inertia * np.eye(3), origin=p)
    mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "crank", at=(0, 0, 0))
    mech.add_joint("D", lw.Revolute((1, 0, 0.2)), "ground", "rocker", at=(0.5, 0.2, 0))
    mech.add_joint("B", lw.Spherical(), "crank", "link", at=p)
    mech.add_joint("C", lw.Spherical(), "link", "rocker", at=q)
    mech.start(u={"A": 3.0})
    return mech


@pytest.mark.parametrize("mass", [0.0, 0.5])
def test_a_link_without_inertia_between_balls(mass):
    """Without mass, or with a point mass at one of its balls: loop by loop, by embedding, by divide and conquer."""
    limit = [lw.compile(crank_and_rocker(thin, mass or 10 * thin)) for thin in (1e-7, 2e-7)]
    near, further = (model.by_joint(model.accelerations(model.assemble())) for model in limit)
    for method in ("rcr", "embedding", "dca")[: 3 if mass else 2]:
        model = compiled(crank_and_rocker(0.0, mass), method)
        found = model.by_joint(model.accelerations(model.assemble()))
        for name in "AD":
            assert found[name] == pytest.approx(2 * near[name] - further[name], rel=1e-9)
    if mass:
        model = lw.compile(crank_and_rocker(0.0, mass), "multipliers")
        with pytest.raises(lw.SingularityError, match="while the loops are open"):
            model.accelerations(model.assemble())


def test_a_bent_link_that_comes_into_line_is_refused():
    """Two rods with a hinge between them: straight, they have no inertia about their line, and no idle spin either."""
    mech = lw.Mechanism("knee")
    for name, at in (("upper", 0.0), ("lower", 0.4)):
        inertia = lw.inertia.rod(1.0, 0.4)
        mech.add_body(name, mass=1.0, com=(0.2, 0, 0), inertia=inertia, origin=(at, 0, 0))
    mech.add_joint("S", lw.Spherical(), "ground", "upper", at=(0, 0, 0))
    mech.add_joint("K", lw.Revolute((0, 1, 0)), "upper", "lower", at=(0.4, 0, 0))
    model = lw.compile(mech)
    with pytest.raises(lw.SingularityError, match="joint 'S' moves no inertia in this pose"):
        model.accelerations(model.assemble(q={"K": 0.0}))
    assert np.isfinite(model.accelerations(model.assemble(q={"K": 0.5}))).all()


# ---- impulses ----


@pytest.mark.parametrize("method", ["auto", "multipliers", "dca"])
@pytest.mark.parametrize("action", [lw.Lock("A"), lw.Impulse("rod", force=(0.1, 0.2, 0.3))], ids=["lock", "impulse"])
def test_jumps(action, method):
    after = []
    for thickness in (0.0, THICKNESS, 2 * THICKNESS):
        mech = scene("RSSR", 3, thickness).mech
        mech.add_transition("event", action, when=lw.Command())
        model = lw.compile(mech, method)
        jump = model.jump(model.assemble(), ["event"])
        after.append(np.append(jump.state.u, jump.energy_lost))
    assert relative(after[0], 2 * after[1] - after[2]) < 1e-7


def test_an_impulse_about_the_line_is_refused():
    mech = scene("RSSR", 3).mech
    mech.add_transition("hit", lw.Impulse("rod", torque=(0.1, 0.2, 0.3)), when=lw.Command())
    model = lw.compile(mech)
    with pytest.raises(lw.SingularityError, match="has no inertia about it"):
        model.jump(model.assemble(), ["hit"])


def test_a_lock_of_a_ball_holds_the_spin():
    """The rod then turns with the crank, and its spin is not idle."""
    accelerations = []
    for thickness in (0.0, THICKNESS, 2 * THICKNESS):
        mech = scene("free base", 2, thickness).mech
        mech.add_transition("hold", lw.Lock("B"), when=lw.Command())
        model = lw.compile(mech)
        accelerations.append(model.accelerations(model.jump(model.assemble(), ["hold"]).state))
    assert relative(accelerations[0], 2 * accelerations[1] - accelerations[2]) < 1e-6
