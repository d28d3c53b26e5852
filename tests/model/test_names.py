"""The face of a compiled system: names, orders, values by name."""

import numpy as np
import pytest

import linkwork as lw
from support.random_mechanisms import random_tree


def sheep() -> lw.Mechanism:
    """Joints of all kinds, one of them backwards, a loop whose joints are added before and after the tree's."""
    mech = lw.Mechanism("sheep")
    for name in ("base", "crank", "coupler", "rocker", "lid", "weight"):
        mech.add_body(name, mass=1.0, com=(0.1, 0.02, 0), inertia=np.diag([0.02, 0.03, 0.04]))
    hinge = lw.Revolute(axis=(0, 0, 1))
    mech.add_joint("D", hinge, "base", "rocker", parent_frame=lw.Frame((1.1, 0, 0)), cut=True)
    mech.add_joint("slide", lw.Prismatic(axis=(0, 0, 1)), "base", "ground", parent_frame=lw.Frame())
    mech.add_joint("A", hinge, "base", "crank", parent_frame=lw.Frame())
    mech.add_joint("weld", lw.Fixed(), "coupler", "weight", parent_frame=lw.Frame((0.5, 0, 0)))
    mech.add_joint("B", hinge, "coupler", "crank", child_frame=lw.Frame((0.4, 0, 0)))
    mech.add_joint("C", hinge, "coupler", "rocker", parent_frame=lw.Frame((1, 0, 0)), child_frame=lw.Frame((0.8, 0, 0)))
    mech.add_joint("lid", lw.Revolute(axis=(1, 0, 0)), "rocker", "lid", parent_frame=lw.Frame((0.4, 0, 0)))
    return mech


# ---- names and orders ----


def test_orders_of_names():
    system = lw.compile(sheep())
    assert system.joint_names == ["D", "slide", "A", "weld", "B", "C", "lid"]
    assert system.loop_names == ["D"]
    assert system.q_names == ["slide.q", "A.q", "B.q", "C.q", "lid.q"]
    assert system.u_names == ["slide.u", "A.u", "B.u", "C.u", "lid.u"]
    assert (system.sizes.nq, system.sizes.nq_cut, system.sizes.joints, system.sizes.loops) == (5, 1, 7, 1)


def test_by_joint_names_tree_joints_and_cut_joints():
    system = lw.compile(sheep())
    state = system.assemble(q={"A": 0.6, "slide": 0.2}, u={"A": 1.0, "lid": 3.0})
    moving = ["slide", "A", "B", "C", "lid", "D"]
    udot = system.accelerations(state, tau={"lid": 0.1, "D": 2.0})
    named = {"q": state.q, "u": state.u, "a": udot}
    for suffix, array in named.items():
        values = system.by_joint(array)
        assert list(values) == moving
        assert values == {
            joint: system.value(f"{joint}.{suffix}", state, tau={"lid": 0.1, "D": 2.0}) for joint in moving
        }
        assert list(system.by_joint(np.array(array))) == moving[:-1]  # a plain array has the tree joints only
    assert system.by_joint(state.q)["slide"] == 0.2
    assert system.by_joint(state.u)["lid"] == 3.0


def test_a_reversed_joint_keeps_its_declared_sense():
    """The base slides by +0.2 under the ground as seen from the base: it goes down."""
    system = lw.compile(sheep())
    state = system.assemble(q={"A": 0.6, "slide": 0.2}, u={"slide": 1.5})
    assert state["base.r"] == pytest.approx([0.0, 0.0, -0.2])
    assert state["base.v"] == pytest.approx([0.0, 0.0, -1.5])
    assert system.accelerations(state, tau={"slide": 0.0})[0] == pytest.approx(9.81)


def test_reactions_by_joint():
    system = lw.compile(sheep())
    state = system.assemble(q={"A": 0.6}, u={"A": 1.0})
    wrenches = system.reactions(state)
    assert wrenches.shape == (7, 6)
    named = system.by_joint(wrenches)
    assert list(named) == system.joint_names
    for joint, wrench in named.items():
        assert np.array_equal(wrench, np.concatenate([state[f"{joint}.t"], state[f"{joint}.f"]]))
    together = system.by_joint(np.stack([wrenches, 2 * wrenches]))
    assert np.array_equal(together["weld"], [named["weld"], 2 * named["weld"]])


def test_by_joint_of_a_batch_as_long_as_the_joints(system, state):
    """Four states of four joints are a batch, not one row a joint."""
    q, u = np.tile(state.q, (4, 1)), np.outer([0.0, 0.5, 1.0, 2.0], state.u)
    udot = system.accelerations(q, u)
    named = system.by_joint(udot)
    assert list(named) == ["A", "B", "C", "D"]
    assert np.array_equal(named["B"], udot[:, 1])
    assert np.array_equal(named["D"], udot.cut[:, 0])
    assert np.array_equal(system.by_joint(np.array(udot))["C"], udot[:, 2])


def test_by_joint_of_loads_over_all_joints(system):
    assert system.by_joint([1.0, 2.0, 3.0, 4.0]) == {"A": 1.0, "B": 2.0, "C": 3.0, "D": 4.0}


@pytest.mark.parametrize("array", [np.zeros(2), np.zeros((3, 5)), 1.0, np.zeros((4, 7))], ids=np.shape)
def test_by_joint_refuses_other_arrays(system, array):
    with pytest.raises(lw.MechanismError, match="3 speeds of the tree joints"):
        system.by_joint(array)


def test_repr(system, state):
    assert repr(system) == "Model('four_bar_of_record': 3 bodies, 4 joints, 1 loops, 6 states)"
    assert repr(state).startswith("State('four_bar_of_record': t = 0 s, A.q = -0.7 rad, B.q = 0.128457 rad,")
    long = lw.compile(random_tree(np.random.default_rng(0), 12, ("revolute",)).mechanism)
    assert repr(long.assemble()).endswith("... (24 in all))")


# ---- values by name ----


def test_values_by_name(system, state):
    assert isinstance(state["A.q"], float)
    assert state["A.q"] == state.q[0]
    assert state["D.u"] == state.u.cut[0]
    assert state["coupler.r"].shape == (3,)
    assert state["coupler.r[3]"] == state["coupler.r"][2]
    assert state["coupler.Q"].shape == (4,)
    assert state["coupler.mass"] == 2.0
    assert np.array_equal(state["gravity"], [0.0, 0.0, -9.81])
    assert state["energy.kinetic"] == system.energy(state).kinetic
    assert state["loop.D.residual"] == system.loop_residual(state)[0]
    assert state["crank.inertia"].shape == (6,)
    assert state["A.q_start"] == 0.0


def test_values_with_loads(system, state):
    assert system.value("A.a", state, tau={"A": 3.0}) == system.accelerations(state, tau={"A": 3.0})[0]
    assert system.value("D.a", state, tau={"D": 3.0}) == system.accelerations(state, tau={"D": 3.0}).cut[0]
    assert system.value("A.tau", state, tau={"A": 3.0}) == 3.0
    assert np.array_equal(
        [system.value(f"der({name})", state) for name in system.q_names], system.derivatives(state)[:3]
    )


@pytest.mark.parametrize(
    ("name", "suggestion"),
    [
        ("A.Q", "A.q"),
        ("cranck.r", "crank.r"),
        ("coupler.r[4]", "coupler.r["),
        ("energy", "energy."),
        ("der(A.q", "der(A.q)"),
    ],
)
def test_unknown_names_suggest_a_known_one(system, state, name, suggestion):
    for ask in (lambda: state[name], lambda: system.value(name, state), lambda: system.column(name)):
        with pytest.raises(lw.MechanismError) as refused:
            ask()
        assert repr(name) in str(refused.value)
        assert f"did you mean '{suggestion}" in str(refused.value)


def test_inputs_and_parameters_of_formulas_are_their_own():
    mech = lw.Mechanism("each kind of force by a formula")
    mech.add_body("a", mass=1.0, com=(0, 0, 0), inertia=np.eye(3))
    mech.add_joint("A", lw.Revolute("y"), "ground", "a", at=(0, 0, 0))
    given = {"parameters": {"k": 2.0}, "inputs": ("p",)}
    ends = {"bodies": ("ground", "a")}
    mech.add_force(lw.Brake("A", "k*p", **given, name="brake"))
    mech.add_force(lw.Force(**ends, frames=(lw.Frame(), lw.Frame()), force=("k*p", "0", "0"), **given, name="frame"))
    mech.add_force(lw.Force(body="a", force=("k*p", "0", "0"), **given, name="point"))
    mech.add_force(lw.Force(**ends, points=((0, 0, -1), (0, 0, 1)), formula="k*p", **given, name="line"))
    mech.add_force(lw.Force("A", "k*p", **given, name="joint"))
    loads = {"brake": "limit", "frame": "force[1]", "point": "force[1]", "line": "force", "joint": "force"}
    values = {f"{name}.k": 10.0 + i for i, name in enumerate(loads)}
    model = lw.compile(mech).with_parameters(values)
    state = model.assemble()
    inputs = {f"{name}.p": 0.1 * (i + 1) for i, name in enumerate(loads)}
    for i, (name, load) in enumerate(loads.items()):
        assert model.value(f"{name}.{load}", state, tau=inputs) == pytest.approx(0.1 * (i + 1) * (10.0 + i))
