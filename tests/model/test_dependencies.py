"""What variables depend on: nothing left out, and little too much."""

import numpy as np
import pytest

import linkwork as lw
from linkwork.core.native import Stage
from support.driving import reached
from support.joint_types import LOOP_IDS, LOOPS, SEVERAL, on_carrier
from support.random_mechanisms import random_tree


def knowns(system):
    return [variable for variable in system.variables if variable.kind in ("state", "input")]


def changes(system, block, state, variables, step):
    """For each state and input by name, which of the variables change when it is moved by `step`, and how much."""
    rng = np.random.default_rng(0)
    loads = rng.normal(size=system.numbering.n_inputs)

    def computed(known=None):
        block.enter(state.q, state.u, loads)
        block.count_revolutions(state.q.cut)
        if known is not None:
            block.reals[known.reference] += step
        block.evaluate(Stage.OUTPUTS)
        return block.reals[[variable.reference for variable in variables]]

    before = computed()
    for known in knowns(system):
        yield known.name, np.abs(computed(known) - before)


def inboard_of_loops(system):
    """Names inboard of a loop or a spring: they turn its world axes, and so its rounding."""
    links, joints = system.topology.links, system.joint_names
    below = set()
    for link in [loop.root for loop in system.topology.loops] + roots_of_springs(system):
        while link >= 0:
            below |= {f"{joints[links[link].joint]}.{what}" for what in "qu"}
            link = links[link].parent
    return below


def roots_of_springs(system):
    """For each spring between points the common ancestor of its ends."""
    bodies, links = list(system.mechanism.bodies), system.topology.links
    link_of = {"ground": -1, **{bodies[link.body]: i for i, link in enumerate(links)}}
    roots = []
    for force in system.mechanism.forces:
        if force.type_name == "point_spring_damper":
            ways = [[-1], [-1]]
            for way, body in zip(ways, force.bodies, strict=True):
                link = link_of[body]
                while link >= 0:
                    way.append(link)
                    link = links[link].parent
            roots.append(max(set(ways[0]) & set(ways[1])))
    return roots


SEVERAL_SPEEDS = [(name, {"backwards": backwards}) for name in SEVERAL for backwards in (False, True)]


def test_what_is_not_listed_has_no_influence(scene):
    check_lists(*reached(scene))


@pytest.mark.parametrize(("name", "options"), SEVERAL_SPEEDS)
def test_what_is_not_listed_has_no_influence_on_joints_of_several_speeds(name, options):
    system = lw.compile(on_carrier(name, **options))
    check_lists(system, system.assemble())


@pytest.mark.parametrize(("make", "cut"), LOOPS, ids=LOOP_IDS)
def test_what_is_not_listed_has_no_influence_on_loops_of_such_joints(make, cut):
    system = lw.compile(make(cut))
    check_lists(system, system.assemble())


def check_lists(system, state):
    """Unlisted variables change no bit, except that variables inboard of a loop may change its rounding."""
    variables = [v for v in system.variables if v.kind in ("derivative", "output") and v.depends is not None]
    assert variables
    rounding = inboard_of_loops(system)
    for name, change in changes(system, system.block(), state, variables, step=1e-3):
        allowed = 1e-11 if name in rounding else 0.0
        for variable, size in zip(variables, change, strict=True):
            assert size <= allowed or name in variable.depends, (name, variable.name, size)


@pytest.mark.parametrize("seed", range(3))
def test_what_is_listed_has_influence_in_a_tree(seed):
    """No excess: variables listed for a body's pose and velocity, and for a rate, change some number of it."""
    scene = random_tree(np.random.default_rng(seed), 7, ("revolute",))
    system, state = reached(scene)
    variables = [v for v in system.variables if v.kind in ("derivative", "output") and v.depends is not None]
    listed = {variable.name.partition("[")[0]: set(variable.depends) for variable in variables}
    influence = {group: set() for group in listed}
    for name, change in changes(system, system.block(), state, variables, step=1e-3):
        for variable, size in zip(variables, change, strict=True):
            if size > 0:
                influence[variable.name.partition("[")[0]].add(name)
    for body in scene.mechanism.bodies:
        assert influence[f"{body}.r"] | influence[f"{body}.Q"] == listed[f"{body}.r"] == listed[f"{body}.Q"]
        assert influence[f"{body}.v"] | influence[f"{body}.w"] == listed[f"{body}.v"] == listed[f"{body}.w"]
    for joint in scene.q:
        assert influence[f"der({joint}.q)"] == listed[f"der({joint}.q)"] == {f"{joint}.u"}


def test_listed_names_exist_and_are_states_or_inputs(scene):
    system = lw.compile(scene.mechanism)
    known = {variable.name for variable in knowns(system)}
    for variable in system.variables:
        if variable.depends is not None:
            assert set(variable.depends) <= known
            assert len(set(variable.depends)) == len(variable.depends)


def test_separate_parts_do_not_interact():
    mech = lw.Mechanism("apart")
    for name in ("left", "right"):
        mech.add_body(name, mass=1.0, com=(0.1, 0, 0), inertia=np.eye(3))
        mech.add_joint(f"{name}_hinge", lw.Revolute(axis=(0, 1, 0)), "ground", name, at=(0, 0, 0))
    depends = {variable.name: variable.depends for variable in lw.compile(mech).variables}
    assert set(depends["der(left_hinge.u)"]) == {"left_hinge.q", "left_hinge.u", "left_hinge.tau"}
    assert set(depends["right_hinge.f[1]"]) == {"right_hinge.q", "right_hinge.u", "right_hinge.tau"}
    assert depends["der(left_hinge.q)"] == ("left_hinge.u",)
    assert depends["left.Q[1]"] == ("left_hinge.q",)
    assert depends["energy.potential"] == ("left_hinge.q", "right_hinge.q")


def chain(bodies: int) -> lw.Mechanism:
    mech = lw.Mechanism("chain")
    for i in range(bodies):
        mech.add_body(f"b{i}", mass=1.0, com=(0.1, 0, 0), inertia=np.eye(3))
        parent = f"b{i - 1}" if i else "ground"
        mech.add_joint(f"j{i}", lw.Revolute(axis=(0, 1, 0)), parent, f"b{i}", parent_frame=lw.Frame((0.2, 0, 0)))
    return mech


def test_a_quaternion_changes_with_itself():
    depends = {variable.name: variable.depends for variable in lw.compile(on_carrier("free")).variables}
    own = {*(f"S.q[{i}]" for i in range(1, 8)), *(f"S.u[{i}]" for i in range(1, 7))}
    assert all(set(depends[f"der(S.q[{i}])"]) == own for i in range(1, 8))
    assert depends["der(A.q)"] == ("A.u",)
    depends = {variable.name: variable.depends for variable in lw.compile(on_carrier("planar")).variables}
    assert [depends[f"der(S.q[{i}])"] for i in (1, 2, 3)] == [("S.u[1]",), ("S.u[2]",), ("S.u[3]",)]


def test_lists_grow_linearly_with_chains():
    listed = {}
    for bodies in (10, 30, 100, 300, 1000):
        variables = lw.compile(chain(bodies)).variables
        listed[bodies] = sum(len(variable.depends) for variable in variables if variable.depends is not None)
    for fewer, more in ((100, 300), (300, 1000)):  # long lists are omitted; the rest is a few names per body
        assert listed[more] - listed[fewer] <= 5 * (more - fewer)
    assert listed[100] < 10_000
