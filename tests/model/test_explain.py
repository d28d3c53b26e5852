"""The text about a model, and the independent speeds that the mechanics choose."""

import numpy as np
import pytest

import linkwork as lw
from linkwork.analysis.explain import groups
from linkwork.model.mobility import degrees_of_freedom, look
from support.cases import four_bar
from support.driving import reached
from support.gear_families import GEAR_FAMILIES
from support.published import ladder
from support.random_mechanisms import FAMILIES, well_posed
from support.structures import pendulum, triangle

FOUR_BAR = """\
four_bar_of_record: 3 bodies, 4 joints, 1 loop, 1 degree of freedom in the given state

tree: every body under the one that carries it, with its joint
  ground
    crank       A revolute
      coupler   B revolute
        rocker  C revolute

cut joints: each closes a loop of the tree
  D revolute, ground - rocker: with A, B, C

1 loop, on ground: 3 bodies, 4 speeds in 6 equations
  loop 1: closed by D, adds crank, coupler, rocker; conditioning 0.73
  method rcr, expected to cost least: recursive coordinate reduction, loop by loop
  expected multiplications: rcr 288, embedding 409
  1 degree of freedom: all speeds follow from B.u in this pose

whole mechanism, expected multiplications: rcr 288, embedding 409, multipliers 866, dca 5 050
  multipliers and dca need the closures as well, for the stabilisation: they are used on request only

redundant constraints: 3 speeds - 5 equations + 3 redundant ones leave 1 degree of freedom
  nothing determines the reactions along them: those of least norm are given
  joint 'D': torque about (1, 0, 0), in A, B, C, D
  joint 'D': torque about (0, 0, 1), in A, B, C, D
  joint 'D': force along (0, 1, 0), in A, B, C, D"""


def test_four_bar(system, state):
    assert system.explain(state) == FOUR_BAR


@pytest.mark.parametrize("scene", [lambda: well_posed(FAMILIES["coupled"][0], 1), lambda: ladder(20)])
def test_costs_of_all_methods(scene):
    """Whatever is asked for; dca grows with the bodies, multipliers with the cube of the loops."""
    for method in ("auto", "multipliers", "dca"):
        text = lw.compile(scene().mechanism, method=method).explain()
        (line,) = (line for line in text.splitlines() if line.startswith("whole mechanism, expected multiplications"))
        assert all(f" {name} " in line for name in ("rcr", "embedding", "multipliers", "dca"))


def test_without_a_state_it_is_the_assembled_start(system):
    mech = four_bar().mechanism
    mech.start(q={"A": 0.5})
    system = lw.compile(mech)
    text = system.explain()
    assert "1 degree of freedom in its assembled start" in text
    assert text.splitlines()[1:] == system.explain(system.assemble()).splitlines()[1:]


@pytest.mark.parametrize(
    ("method", "lines"),
    [
        ("embedding", ["  method embedding, as asked for: constraint embedding, all closures as one matrix"]),
        ({"C": "rcr"}, ["  method rcr, as asked for: recursive coordinate reduction, loop by loop"]),
        (
            "multipliers",
            ["method multipliers, as asked for: Lagrange multipliers of all loops at once, on the open tree"],
        ),
        (
            "dca",
            ["method dca, as asked for: divide and conquer, bodies joined to ever larger subassemblies, on 3 levels"],
        ),
    ],
)
def test_methods(method, lines, state):
    system = lw.compile(four_bar().mechanism, method=method)
    text = system.explain(system.state(state.q, state.u))
    assert all(line in text for line in lines)
    assert "1 degree of freedom: " in text


def test_reversed_joints_roots_and_couplings():
    """A loop on a body that slides, a joint with parent and child swapped, a gear with two powers."""
    mech = lw.Mechanism("robot")
    for name in ("cart", "left", "right", "wheel"):
        mech.add_body(name, mass=1.0, com=(0.1, 0, 0), inertia=lw.inertia.sphere(1.0, 0.3))
    hinge = lw.Revolute((0, 1, 0))
    mech.add_joint("slide", lw.Prismatic((1, 0, 0)), "ground", "cart", at=(0, 0, 0))
    mech.add_joint("A", hinge, "left", "cart", at=(0, 0, 0))
    mech.add_joint("B", hinge, "left", "right", at=(0.3, 0, 0.3))
    mech.add_joint("C", hinge, "right", "cart", at=(0.6, 0, 0), cut=True)
    mech.add_joint("W", hinge, "cart", "wheel", at=(0, 1, 0))
    mech.add_coupling("gear", {"slide": 1.0, "W": (0.25, -0.5)}, offset=0.125)
    system = lw.compile(mech)
    text = system.explain(system.assemble(q={"W": 0.5}))
    assert "  left     A revolute, declared the other way round\n" in text
    assert "C revolute, right - cart: with B, A\n" in text
    assert "1 loop, on cart: 2 bodies, 3 speeds in 6 equations\n" in text
    assert "1 coupling, on ground: 2 bodies, 2 speeds in 1 equation\n" in text
    assert "  gear: slide + 0.25 W - 0.5 W^2 = 0.125\n" in text
    assert "  loop 1: adds cart\n" in text
    assert "  0 degrees of freedom: nothing can move\n" in text
    assert text.startswith("robot: 4 bodies, 5 joints, 1 loop, 1 coupling, 1 degree of freedom in the given state\n")


def test_more_freedoms_than_regular_poses_have():
    """A parallelogram in line can go two ways."""
    mech = lw.Mechanism("bars")
    for name in ("a", "b", "c"):
        mech.add_body(name, mass=1.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(1.0, 1.0, axis="x"))
    hinge = lw.Revolute((0, 1, 0))
    for name, parent, child, x in (("A", "ground", "a", 0), ("B", "a", "b", 1), ("C", "b", "c", 2)):
        mech.add_joint(name, hinge, parent, child, at=(x, 0, 0))
    mech.add_joint("D", hinge, "ground", "c", at=(1, 0, 0), cut=True)
    mech.start(q={"A": 1.0, "B": -1.0, "C": 1.0 - np.pi})
    system, in_line = lw.compile(mech), {"A": 0.0, "B": 0.0, "C": 0.0}
    with pytest.raises(lw.SingularityError, match="'D' is in a singular pose, where its motion branches, and at rest"):
        system.assemble(q=in_line)
    text = system.explain(system.assemble(q=in_line, u={"A": 1.0}))
    assert "2 degrees of freedom, though regular poses have 1: all speeds follow from" in text


def test_a_tree_without_loops():
    text = lw.compile(pendulum()).explain()
    assert text.endswith("no loops and no couplings: articulated-body recursion, linear in the number of bodies")


def test_prescribed_motions():
    mech = four_bar().mechanism
    mech.prescribe("A", lw.Motion((0.3, 2.0, 0.0, -0.5), amplitude=0.1, frequency=3.0, phase=0.5))
    text = lw.compile(mech).explain()
    assert "0 degrees of freedom in its assembled start: it moves as prescribed" in text
    assert "  A_drive: A = 0.3 + 2 t - 0.5 t^3 + 0.1 sin(3 2pi t + 0.5), and its inputs\n" in text
    assert "\n  0 degrees of freedom: it moves as prescribed\n" in text


def test_joints_beside_the_loops():
    mech = triangle()
    mech.add_body("arm", mass=1.0, com=(0, 0, -1), inertia=lw.inertia.sphere(1.0, 0.1))
    mech.add_joint("ball", lw.Spherical(), "b", "arm", at=(1.5, 0, 0.5))
    text = lw.compile(mech).explain()
    assert ", 3 degrees of freedom in its assembled start\n" in text
    assert "\n\njoints in no loop, coupling or distance, as in a tree: ball\n" in text


def test_a_structure():
    text = lw.compile(triangle()).explain()
    assert "0 degrees of freedom in its assembled start: nothing can move" in text
    assert "\n  0 degrees of freedom: nothing can move\n" in text


def test_a_state_of_something_else(state):
    with pytest.raises(lw.MechanismError, match=r"belongs to (another model|mechanism)"):
        lw.compile(triangle()).explain(state)
    with pytest.raises(lw.MechanismError, match="give a State"):
        lw.compile(triangle()).explain(np.zeros(2))


@pytest.mark.parametrize("method", ["auto", {"C": "embedding"}, "multipliers", "dca"])
def test_as_data(method):
    system = lw.compile(four_bar().mechanism, method=method)
    (found,) = groups(system, system.assemble(q={"A": 0.5}))
    assert (found["on"], found["loops"], found["couplings"]) == ("ground", ["D"], [])
    assert found["bodies"] == ["crank", "coupler", "rocker"]
    assert (found["speeds"], found["equations"]) == (4, 6)
    assert len(found["independent"]) == 1
    assert 0 < found["conditioning"] <= 1
    assert found["asked_for"] is (method != "auto")
    assert set(found["expected_multiplications"]) == (
        set() if method in ("multipliers", "dca") else {"rcr", "embedding"}
    )


def test_where_loops_cannot_be_closed():
    """The rest is printed nevertheless."""
    mech = lw.Mechanism("short")
    mech.add_body("bar", mass=1.0, com=(0, 0, 0), inertia=lw.inertia.sphere(1.0, 0.1))
    mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "bar", parent_frame=lw.Frame())
    mech.add_joint("B", lw.Revolute((0, 1, 0)), "ground", "bar", parent_frame=lw.Frame((1, 0, 0)))
    text = lw.compile(mech).explain()
    assert text.startswith("short: 1 body, 2 joints, 1 loop\n")
    assert "  loop 1: closed by B, adds bar\n" in text
    assert "freedom" not in text
    assert "nothing is known of its motion: the loop closed by joint 'B' cannot be closed" in text


def test_long_lists_are_shortened():
    scene = ladder(500, deep=True)
    scene.mechanism.start(q=scene.q)
    text = lw.compile(scene.mechanism).explain()
    assert len(text.splitlines()) < 50
    assert max(map(len, text.splitlines())) < 150
    for line in (
        "  ... 993 more bodies",
        "  ... 492 more cut joints",
        "  ... 492 more loops like these; conditioning 0.",
        "  not embedding: 3000 equations are too many for one matrix, which holds 1000 at most",
        "  2 degrees of freedom: ",
    ):
        assert line in text


def test_many_groups_are_shortened():
    mech = lw.Mechanism("wheels")
    for k in range(80):
        mech.add_body(f"w{k}", mass=1.0, com=(0, 0, 0), inertia=lw.inertia.sphere(1.0, 0.1))
        mech.add_joint(f"W{k}", lw.Revolute((0, 0, 1)), "ground", f"w{k}", at=(k, 0, 0))
        if k % 2:
            mech.add_coupling(f"g{k}", {f"W{k - 1}": 1.0, f"W{k}": 1.0})
    text = lw.compile(mech).explain()
    assert text.count("1 coupling, on ground") == 8
    assert "... 32 more groups of loops, couplings or distances" in text
    assert ", 40 degrees of freedom in its assembled start" in text


ALL = {**FAMILIES, **GEAR_FAMILIES}


@pytest.mark.parametrize("method", ["rcr", "embedding", "multipliers", "dca"])
@pytest.mark.parametrize(
    "family", ["planar_5R", "coupled", "three_spatial_legs", "loop_on_loop", "gear_in_loop", "cam"]
)
def test_independent_speeds_are_as_many_as_freedoms_and_decide_all_others(family, method):
    scene = well_posed(ALL[family][0], 3)
    reference, state = reached(scene)
    n = len(state.q)
    allowed = reference.jacobian(state)[:n, n:]  # of a closed pose: the motion nearest to u, by u
    rank = np.linalg.matrix_rank(allowed, tol=1e-6)
    system = lw.compile(scene.mechanism, method=method)
    state = system.state(state.q, state.u)
    assert degrees_of_freedom(system, state) == rank
    inside = [name for names in look(system, state).independents for name in names]
    rows = [reference.u_names.index(name) for name in (*inside, *outside_of_clusters(system))]
    assert np.linalg.matrix_rank(allowed[rows], tol=1e-4) == rank


def outside_of_clusters(system):
    """Speeds of joints on no loop and in no coupling."""
    topology, joints = system.topology, system.joint_names
    inside = {joints[topology.links[link].joint] for cluster in topology.clusters for link in cluster.links}
    return [name for name in system.u_names if name.partition(".")[0] not in inside]


def test_distances_are_told():
    """With their bodies and lengths; they are solved together with what shares joints with them."""
    mech = four_bar().mechanism
    mech.add_body("bob", mass=1.0, com=(0, 0, 0), inertia=lw.inertia.sphere(1.0, 0.1))
    mech.add_joint("F", lw.Free(), "ground", "bob", at=(0, 0, 0))
    first = next(iter(mech.bodies))
    mech.add_distance("rod", bodies=("ground", "bob"), points=((0, 3, 0), (0, 0, 0)), length=0.5)
    mech.add_distance("stay", bodies=("bob", first), points=((0, 0, 0), (0.2, 0, 0)), length=2.7)
    mech.start(q={"A": -0.7, "F": [0.0, 2.5, 0.1, 1.0, 0.0, 0.0, 0.0]})
    text = lw.compile(mech).explain()
    assert text.startswith(
        "four_bar_of_record: 4 bodies, 5 joints, 1 loop, 2 distances, 5 degrees of freedom in its assembled start\n"
    )
    assert "1 loop and 2 distances, solved together, on ground: 4 bodies" in text
    assert "\n  rod: 0.5 m between ground and bob\n" in text
    assert f"\n  stay: 2.7 m between bob and {first}\n" in text
