"""The face of a compiled system: names, orders, batches, loads, and what it answers to mistakes."""

import copy
import pickle
import threading

import numpy as np
import pytest

import linkwork as lw
from support.builder import cut_at
from support.cases import four_bar
from support.driving import random_loads, reached
from support.random_mechanisms import FAMILIES, random_tree, well_posed

OF_STATES = ("accelerations", "derivatives", "energy", "loop_residual", "reactions", "mass_matrix", "jacobian")


@pytest.fixture
def system():
    return lw.compile(four_bar().mechanism)


@pytest.fixture
def state(system):
    case = four_bar()
    return system.assemble(q=case.q, u=case.u)


def welded(closed: bool) -> lw.Mechanism:
    """Two bodies that cannot move, with or without a redundant third weld."""
    mech = lw.Mechanism("welded")
    for name, x in (("left", 0.0), ("right", 1.0)):
        mech.add_body(name, mass=2.0, com=(0.1, 0, 0), inertia=np.eye(3), origin=(x, 0, 0))
    mech.add_joint("F", lw.Fixed(), "ground", "left", at=(0, 0, 0))
    mech.add_joint("G", lw.Fixed(), "left", "right", at=(1, 0, 0))
    if closed:
        mech.add_joint("H", lw.Fixed(), "ground", "right", at=(2, 0, 0))
    return mech


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
    assert repr(system) == "System('four_bar_of_record': 3 bodies, 4 joints, 1 loops, 6 states)"
    assert repr(state).startswith("State(A.q=-0.7, B.q=0.128457,")
    long = lw.compile(random_tree(np.random.default_rng(0), 12, ("revolute",)).mechanism)
    assert repr(long.assemble()).endswith("... (24 in all))")


# ---- states ----


def test_state_from_arrays(system, state):
    again = system.state(state.q, state.u)
    assert np.array_equal(again.q, state.q)
    assert np.array_equal(again.u, state.u)
    assert again["D.q"] == pytest.approx(state["D.q"], abs=1e-14)


def test_states_cannot_be_changed_by_accident(state):
    with pytest.raises(ValueError, match="read-only"):
        state.q[0] = 1.0
    with pytest.raises(AttributeError):
        state.q = np.zeros(3)


def test_what_is_computed_from_a_state_is_ordinary(state):
    assert type(state.q + 1.0) is np.ndarray
    assert type(state.q.sum()) is np.float64
    assert type(state.q @ state.u) is np.float64


def test_turns_of_a_cut_joint_belong_to_the_state():
    """The same pose with the cut joint turned twice more: its spring has another energy."""
    case = four_bar()
    case.mechanism.add_force(lw.SpringDamper("D", stiffness=2.0))
    system = lw.compile(case.mechanism)
    once = system.assemble(q=case.q)
    twice = system.assemble(q=case.q | {"D": case.q["D"] + 4 * np.pi})
    turned = case.q["D"] + 4 * np.pi
    assert np.allclose(once.q, twice.q, atol=1e-12)
    assert twice.q.cut == pytest.approx([turned], abs=1e-12)
    assert twice["D.q"] == twice.q.cut[0]
    gained = system.energy(twice).potential - system.energy(once).potential
    assert gained == pytest.approx(turned**2 - case.q["D"] ** 2)
    assert not np.allclose(system.accelerations(once), system.accelerations(twice))
    assert once["D.q"] == once.q.cut[0]


def test_start_values_keep_the_turns_of_all_joints():
    case = four_bar()
    turned = {joint: value + 6 * np.pi for joint, value in case.q.items()}
    case.mechanism.start(q=turned)
    state = lw.compile(case.mechanism).assemble()
    assert {joint: state[f"{joint}.q"] for joint in case.q} == pytest.approx(turned)


def test_state_of_the_same_mechanism_compiled_again(system, state):
    again = lw.compile(four_bar().mechanism)
    assert np.array_equal(again.accelerations(state), system.accelerations(state))


def test_state_of_another_system(state):
    other = lw.compile(cut_at(four_bar().mechanism, "B"))
    with pytest.raises(lw.MechanismError, match="belongs to another system, of 'four_bar_of_record'"):
        other.accelerations(state)


# ---- values by name ----


def test_values_by_name(system, state):
    assert isinstance(state["A.q"], float)
    assert state["A.q"] == state.q[0]
    assert state["D.u"] == state.u.cut[0]
    assert state["coupler.r"].shape == (3,)
    assert state["coupler.r[3]"] == state["coupler.r"][2]
    assert state["coupler.Q"].shape == (4,)
    assert state["coupler.m"] == 2.0
    assert np.array_equal(state["gravity"], [0.0, 0.0, -9.81])
    assert state["energy.kinetic"] == system.energy(state).kinetic
    assert state["loop.D.residual"] == system.loop_residual(state)[0]
    assert state["crank.I"].shape == (6,)
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


# ---- batches ----


def batch_of(system, state, shape, seed=0):
    rng = np.random.default_rng(seed)
    size = system.sizes.nq
    q = state.q + 1e-3 * rng.normal(size=(*shape, size))
    return q, rng.normal(size=(*shape, size)), rng.normal(size=(*shape, system.sizes.nu + system.sizes.nu_cut))


@pytest.mark.parametrize("shape", [(1,), (5,), (2, 3), (4, 1, 2)], ids=str)
@pytest.mark.parametrize("call", OF_STATES)
def test_batches_equal_single_calls(system, state, call, shape):
    q, u, tau = batch_of(system, state, shape)
    loads = {"tau": tau} if call in ("accelerations", "derivatives", "reactions", "jacobian") else {}
    function = getattr(system, call)
    together = function(q, u, **loads)
    for i in np.ndindex(shape):
        alone = function(q[i], u[i], **{name: values[i] for name, values in loads.items()})
        if call == "energy":
            assert (together.kinetic[i], together.potential[i]) == alone
        else:
            assert np.array_equal(together[i], alone)
            assert together.shape == (*shape, *alone.shape)


def test_batches_of_other_functions(system, state):
    q, u, tau = batch_of(system, state, (2, 3))
    udot = system.accelerations(q, u, tau=tau)
    assert udot.cut.shape == (2, 3, 1)
    loads = system.inverse_dynamics(q, udot, u)
    assert np.array_equal(loads[1, 2], system.inverse_dynamics(q[1, 2], udot[1, 2], u[1, 2]))
    assert system.value("coupler.r", q, u).shape == (2, 3, 3)
    assert system.value("A.a", q, u, tau=tau).shape == (2, 3)
    assert np.array_equal(system.value("D.a", q, u, tau=tau), udot.cut[..., 0])


def test_loads_broadcast_against_states(system, state):
    loads = np.linspace(-2.0, 2.0, 5)
    named = system.accelerations(state, tau={"A": loads, "D": 0.5})
    listed = system.accelerations(state, tau=np.stack([loads, 0 * loads, 0 * loads, 0 * loads + 0.5], axis=-1))
    assert named.shape == (5, 3)
    assert np.array_equal(named, listed)
    q, u, _ = batch_of(system, state, (4, 1))
    grid = system.accelerations(q, u, tau={"A": loads})
    assert grid.shape == (4, 5, 3)
    assert np.array_equal(grid[2, 3], system.accelerations(q[2, 0], u[2, 0], tau={"A": loads[3]}))
    assert np.array_equal(system.accelerations(state.q, u)[3, 0], system.accelerations(state.q, u[3, 0]))
    assert system.inverse_dynamics(state, np.zeros((6, 3))).shape == (6, 3)


@pytest.mark.parametrize("shape", [(0,), (2, 0), (0, 3)], ids=str)
def test_empty_batch(system, shape):
    q = np.zeros((*shape, 3))
    n = system.sizes.nq + system.sizes.nu
    assert system.accelerations(q, q).shape == (*shape, 3)
    assert system.accelerations(q, q).cut.shape == (*shape, 1)
    assert system.derivatives(q, q).shape == (*shape, n)
    assert system.energy(q, q).kinetic.shape == shape
    assert system.loop_residual(q, q).shape == (*shape, 1)
    assert system.reactions(q, q).shape == (*shape, 4, 6)
    assert system.mass_matrix(q, q).shape == (*shape, 3, 3)
    assert system.jacobian(q, q).shape == (*shape, n, n)
    assert system.inverse_dynamics(q, q, q).shape == (*shape, 3)
    assert system.value("coupler.Q", q, q).shape == (*shape, 4)
    assert system.value("A.q", q, q).shape == shape
    assert {name: values.shape for name, values in system.by_joint(system.accelerations(q, q)).items()}["D"] == shape


# ---- loads ----


@pytest.mark.parametrize("family", ["planar_4R", "moving_slider_crank", "side_by_side", "closed_by_fixed"])
def test_loads_as_arrays_and_by_name(family):
    scene = well_posed(FAMILIES[family][0], 1)
    system, state = reached(scene)
    named = random_loads(np.random.default_rng(1), scene)
    listed = [named[joint] for joint in system.by_joint(state.q)]
    expected = system.accelerations(state, tau=named)
    assert np.array_equal(system.accelerations(state, tau=listed), expected)
    assert np.array_equal(system.accelerations(state, tau={name: [load] for name, load in named.items()}), expected)
    tree = listed[: system.sizes.nu]
    without = {name: 0.0 if name in system.loop_names else load for name, load in named.items()}
    assert np.array_equal(system.accelerations(state, tau=tree), system.accelerations(state, tau=without))


def test_no_loads(system, state):
    free = system.accelerations(state)
    for none in (None, {}, np.zeros(3), np.zeros(4), {"A": 0}):
        assert np.array_equal(system.accelerations(state, tau=none), free)


# ---- mistakes ----


@pytest.mark.parametrize(
    ("tau", "text"),
    [
        ({"crank": 1.0}, "tau: there is no joint 'crank'"),
        ({"a": 1.0}, "did you mean 'A'|known are 'A'"),
        ({"A": "much"}, "tau of joint 'A' must be a number"),
        ({"A": None}, "tau of joint 'A' must be a number|not finite"),
        ({"D": np.inf}, "tau of joint 'D' is not finite"),
        ([0.0, np.nan, 0.0], "tau of joint 'B' is not finite"),
        ([0.0, 0.0, 0.0, np.nan], "tau of joint 'D' is not finite"),
        (np.zeros(2), r"tau has shape \(2,\)"),
        (1.0, r"tau has shape \(\)"),
        ({"A": np.zeros(3), "B": np.zeros(2)}, "leading dimensions of A .* B"),
    ],
)
def test_wrong_loads(system, state, tau, text):
    with pytest.raises(lw.MechanismError, match=text):
        system.accelerations(state, tau=tau)


def test_a_fixed_joint_takes_no_load():
    system = lw.compile(welded(closed=True))
    with pytest.raises(lw.MechanismError, match="joint 'F' has no coordinates"):
        system.accelerations(system.assemble(), tau={"F": 1.0})


@pytest.mark.parametrize("call", OF_STATES)
@pytest.mark.parametrize(
    ("q", "u", "text"),
    [
        (np.zeros(4), np.zeros(3), "q has shape .* must be 3"),
        (np.zeros(3), np.zeros(2), "u has shape .* must be 3"),
        (0.0, np.zeros(3), "q has shape"),
        (np.zeros(3), None, "give a State, or both arrays"),
        ([0.0, np.nan, 0.0], np.zeros(3), "q of joint 'B' is not finite"),
        (np.zeros((2, 3)), [[0.0, 0.0, 0.0], [0.0, 0.0, -np.inf]], r"u of joint 'C' is not finite, at index \[1, 2\]"),
        (np.zeros((2, 3)), np.zeros((4, 3)), "leading dimensions of q .* u .* do not agree"),
        (["a", "b", "c"], np.zeros(3), "q must be an array of 3 numbers"),
        ([[0.0], [0.0, 1.0]], np.zeros(3), "q must be an array of 3 numbers"),
    ],
)
def test_wrong_states(system, call, q, u, text):
    with pytest.raises(lw.MechanismError, match=text):
        getattr(system, call)(q, u)


def test_loads_without_their_name_are_not_taken_for_speeds(system, state):
    for given in ({"A": 1.0}, np.ones(3)):
        with pytest.raises(lw.MechanismError, match="tau="):
            system.accelerations(state, given)


def test_wrong_accelerations(system, state):
    with pytest.raises(lw.MechanismError, match="udot has shape"):
        system.inverse_dynamics(state, np.zeros(4))
    with pytest.raises(lw.MechanismError, match="udot of joint 'C' is not finite"):
        system.inverse_dynamics(state, [0.0, 0.0, np.nan])


def test_state_takes_one_state(system):
    with pytest.raises(lw.MechanismError, match="one state at a time"):
        system.state(np.zeros((2, 3)), np.zeros((2, 3)))


@pytest.mark.parametrize(
    ("guess", "text"),
    [
        ({"A": [1.0, 2.0]}, "q of joint 'A' has shape"),
        ({"A": "x"}, "q of joint 'A' must be a number"),
        ({"A": np.inf}, "q of joint 'A' is not finite"),
        ({"E": 1.0}, "there is no joint 'E'"),
        ([0.0, 0.0, 0.0], "q must be a dictionary by joint name"),
    ],
)
def test_wrong_start_values(system, guess, text):
    with pytest.raises(lw.MechanismError, match=text):
        system.assemble(q=guess)


@pytest.mark.parametrize("method", ["RCR", "rrc", "dca", None, 3])
def test_unknown_method(method):
    with pytest.raises(lw.MechanismError, match=r"there is no method .* among auto, rcr"):
        lw.compile(four_bar().mechanism, method=method)


# ---- systems that cannot move ----


@pytest.mark.parametrize("closed", [False, True])
def test_systems_without_coordinates(closed):
    system = lw.compile(welded(closed))
    state = system.assemble()
    assert repr(system).endswith(f"2 bodies, {2 + closed} joints, {int(closed)} loops, 0 states)")
    assert repr(state) == "State()"
    assert system.q_names == system.u_names == []
    assert state.q.shape == state.u.shape == (0,)
    for call, shape in (("accelerations", (0,)), ("derivatives", (0,)), ("mass_matrix", (0, 0)), ("jacobian", (0, 0))):
        assert getattr(system, call)(state).shape == shape
    assert system.inverse_dynamics(state, []).shape == (0,)
    assert system.by_joint(state.q) == {}
    assert system.energy(state) == (0.0, 0.0)
    assert state["right.r"] == pytest.approx([1.0, 0.0, 0.0])
    weight = sum(wrench[5] for name, wrench in system.by_joint(system.reactions(state)).items() if name != "G")
    assert weight == pytest.approx(4.0 * 9.81)


# ---- nothing is remembered, nothing is shared ----


def test_a_mechanism_changed_later(system, state):
    mech = four_bar().mechanism
    compiled = lw.compile(mech)
    names, before = list(compiled.mechanism.bodies), compiled.accelerations(state)
    mech.gravity = (0, 0, 5.0)
    mech.add_body("more", mass=1.0, com=(0, 0, 0), inertia=np.eye(3))
    mech.add_joint("E", lw.Revolute(axis=(0, 1, 0)), "ground", "more", at=(0, 0, 0))
    mech.add_force(lw.SpringDamper("A", stiffness=100.0))
    mech.start(q={"A": 2.0})
    assert np.array_equal(compiled.accelerations(state), before)
    assert list(compiled.mechanism.bodies) == names
    assert compiled.assemble().q == pytest.approx(system.assemble().q)
    assert compiled.joint_names == system.joint_names
    assert "E.q" not in {variable.name for variable in compiled.variables}
    assert lw.compile(mech).model_bytes != compiled.model_bytes == system.model_bytes


@pytest.mark.parametrize("family", ["planar_4R_springs", "loop_on_loop", "spatial_6R_2P"])
@pytest.mark.parametrize("call", OF_STATES)
def test_same_bits_again_and_after_other_states(family, call):
    system, state = reached(well_posed(FAMILIES[family][0], 2))
    first = getattr(system, call)(state)
    assert np.array_equal(getattr(system, call)(state), first)
    rng = np.random.default_rng(0)
    for other in OF_STATES:
        getattr(system, other)(state.q + 1e-4 * rng.normal(size=state.q.shape), 0.5 * state.u)
    system.assemble(q={system.q_names[0].removesuffix(".q"): 0.1 + state.q[0]})
    system.inverse_dynamics(state, np.ones(state.u.shape))
    assert np.array_equal(getattr(system, call)(state), first)


def test_two_systems_do_not_disturb_each_other():
    (first, state), (second, other) = (reached(well_posed(FAMILIES[f][0], 0)) for f in ("planar_5R", "spatial_7R"))
    expected = first.derivatives(state), second.derivatives(other)
    for _ in range(3):
        assert np.array_equal(first.derivatives(state), expected[0])
        assert np.array_equal(second.derivatives(other), expected[1])
    block = first.block()
    block.reals[:] = np.nan
    assert np.array_equal(first.derivatives(state), expected[0])


def test_threads_share_a_system():
    scene = well_posed(FAMILIES["side_by_side"][0], 0)
    system, state = reached(scene)
    rng = np.random.default_rng(0)
    q, u = state.q + 1e-3 * rng.normal(size=(40, state.q.size)), rng.normal(size=(40, state.u.size))
    expected = system.derivatives(q, u)
    found = [None] * 4

    def work(k):
        found[k] = [system.derivatives(q, u) for _ in range(10)]

    threads = [threading.Thread(target=work, args=(k,)) for k in range(len(found))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(values, expected) for several in found for values in several)


def test_pickled_and_copied():
    """Sweeps send systems and states to other processes."""
    system, state = reached(well_posed(FAMILIES["planar_5R"][0], 0))
    for other in (pickle.loads(pickle.dumps(state)), copy.deepcopy(state)):
        assert np.array_equal(other.q.cut, state.q.cut)
        assert np.array_equal(other.system.accelerations(other), system.accelerations(state))


def test_an_open_loop_is_named_where_nothing_can_be_computed():
    system = lw.compile(four_bar().mechanism)
    with pytest.raises(lw.SingularityError, match="loop closed by joint 'D' is open by"):
        system.accelerations(np.full(3, 0.3), np.ones(3))
