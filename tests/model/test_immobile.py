"""Mechanisms in which nothing can move, and poses in which it is not clear what does."""

import numpy as np
import pytest

import linkwork as lw
from linkwork.model.mobility import degrees_of_freedom
from support.cases import four_bar
from support.structures import braced_four_bar, flat_parallelogram, locked_gears, pendulum, spatial_ring, triangle

STRUCTURES = {
    "triangle": triangle,
    "braced four-bar": braced_four_bar,
    **{f"ring of {n}": lambda n=n: spatial_ring(n) for n in (3, 4, 5, 6)},
    "locked gears": locked_gears,
}
METHODS = ["rcr", "embedding", "multipliers", "dca"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", STRUCTURES)
def test_structures_stand_still(name, method):
    """Reactions balance all weights: sums of forces on the ground."""
    mech = STRUCTURES[name]()
    system = lw.compile(mech, method=method)
    state = system.assemble()
    assert degrees_of_freedom(system, state) == 0
    assert np.abs(system.accelerations(state)).max() < 1e-10
    total = np.zeros(3)
    for joint, wrench in system.by_joint(system.reactions(state)).items():
        part = mech.joints[joint]
        total += wrench[3:] * ((part.parent == "ground") - (part.child == "ground"))
    assert total == pytest.approx([0, 0, 9.81 * len(mech.bodies)], abs=1e-8)


@pytest.mark.parametrize("name", STRUCTURES)
def test_structures_are_not_simulated(name):
    mech = STRUCTURES[name]()
    with pytest.raises(lw.MechanismError, match=f"nothing in mechanism '{mech.name}' can move.*leave out.*reactions"):
        lw.simulate(mech, 1.0)


@pytest.mark.parametrize("n", [3, 5])
def test_the_only_closed_pose_is_found(n):
    mech = spatial_ring(n)
    mech.start(q={"J0": 0.3, "J1": -0.2}, u={"J0": 1.0})
    state = lw.compile(mech).assemble()
    assert np.abs(state.q).max() < 1e-7
    assert np.abs(state.u).max() < 1e-7


def test_a_structure_beside_something_that_moves():
    mech = triangle()
    mech.add_body("arm", mass=1.0, com=(0, 0, -1), inertia=lw.inertia.sphere(1.0, 0.1))
    mech.add_joint("P", lw.Revolute((0, 1, 0)), "b", "arm", at=(1.5, 0, 0.5))
    mech.start(q={"P": 0.5})
    result = lw.simulate(mech, 1.0)
    assert np.abs(result["A.q"]).max() < 1e-12
    assert np.ptp(result["P.q"]) > 0.1


def test_a_structure_that_is_driven():
    mech = pendulum()
    mech.prescribe("A", lw.Motion((0.0, 2.0)))
    assert lw.simulate(mech, 1.0)["A.q"][-1] == pytest.approx(2.0)


# ---- singular poses ----


@pytest.mark.parametrize("method", [m for m in METHODS if m != "multipliers"])
def test_at_rest_where_motions_branch(method):
    system = lw.compile(flat_parallelogram(), method=method)
    with pytest.raises(lw.SingularityError, match=r"'D' is in a singular pose.*at rest.*start slightly off"):
        system.accelerations(system.assemble())
    with pytest.raises(lw.SingularityError, match=r"'D' is in a singular pose"):
        lw.simulate(system, 1.0)
    assert "nothing is known of its motion: the loop closed by joint 'D' is in a singular pose" in system.explain()


@pytest.mark.parametrize("method", [m for m in METHODS if m != "multipliers"])
def test_with_speeds_along_a_branch(method):
    """All bars stay parallel."""
    system = lw.compile(flat_parallelogram({"A": 1.0, "B": -1.0, "C": 1.0}), method=method)
    result = lw.simulate(system, 1.0, rtol=1e-9)
    assert np.abs(result["A.q"] + result["B.q"]).max() < 1e-6
    assert result["loop.D.residual"].max() < 1e-7


# ---- prescribed motions ----


def driven_four_bar(*motions: tuple[str, lw.Motion]) -> lw.Mechanism:
    mech = four_bar().mechanism
    mech.start(q={"A": 0.3})
    for number, (joint, motion) in enumerate(motions):
        mech.prescribe(joint, motion, name=f"drive{number}")
    return mech


@pytest.mark.parametrize(
    ("motions", "text"),
    [
        ([("A", lw.Motion((0.3, 1.0))), ("A", lw.Motion((0.3, 2.0)))], "'drive0' and 'drive1' repeat or contradict"),
        ([("A", lw.Motion((0.3, 1.0))), ("B", lw.Motion((2.0, 5.0)))], "'drive[01]' .*out of reach at t = 0 s"),
        ([("D", lw.Motion(2.5))], "'D' cannot be closed as coupling 'drive0' would have it at t = 0 s"),
    ],
)
def test_motions_against_each_other_or_the_loop(motions, text):
    with pytest.raises(lw.AssemblyError, match=text):
        lw.compile(driven_four_bar(*motions)).assemble()


def test_open_locks_are_not_to_blame():
    """Neither an open lock nor the free bounds of a stop keep a loop from closing."""
    mech = driven_four_bar(("D", lw.Motion(2.5)))
    mech.add_transition("hold", lw.Lock("A"), when=lw.Command())
    mech.add_transition("bounds", lw.Stop("B", lower=-9.0, upper=9.0))
    with pytest.raises(lw.AssemblyError, match="'D' cannot be closed as coupling 'drive0' would have it at t = 0 s"):
        lw.compile(mech).assemble()


def test_open_locks_alone():
    mech = four_bar().mechanism
    mech.add_joint("far", lw.Spherical(), "ground", "coupler", parent_frame=lw.Frame((9.0, 0, 0)), cut=True)
    mech.add_transition("hold", lw.Lock("A"), when=lw.Command())
    with pytest.raises(lw.AssemblyError, match=r"'(D|far)' cannot be closed: the nearest pose"):
        lw.compile(mech).assemble()


def test_a_motion_that_leaves_what_can_be_reached():
    """The rocker turns up to its dead point; earlier results are kept."""
    start = lw.compile(driven_four_bar()).assemble(u={"A": 1.0})
    mech = driven_four_bar(("D", lw.Motion((float(start["D.q"]), 1.0))))
    with pytest.raises(lw.SolverError, match=r"locks up: drive 'drive0' cannot move joint 'D' beyond") as stopped:
        lw.simulate(mech, 1.0)
    assert 0.3 < stopped.value.result.t[-1] < 0.4


def test_a_motion_whose_numbers_do_not_fit_each_other():
    mech = driven_four_bar(("A", lw.Motion(0.3)))
    with pytest.raises(
        lw.MechanismError, match=r"motion of 'drive0' is not followed.*derivatives of the value"
    ) as refused:
        lw.simulate(mech, 1.0, inputs={"drive0": lambda t: (0.1 * t, 5.0, 0.0)})
    assert refused.value.result.t[-1] == 1.0
    result = lw.simulate(mech, 1.0, inputs={"drive0": lambda t: (0.1 * t**2, 0.2 * t, 0.2)}, rtol=1e-4)
    assert result["A.q"][-1] == pytest.approx(0.4, abs=1e-3)
