"""Applied wrenches and springs between points in the functions of a system."""

import numpy as np
import pytest

import linkwork as lw
from linkwork.core.native import Stage
from support.cases import four_bar
from support.driving import random_loads, random_wrenches, reached
from support.random_mechanisms import FAMILIES, well_posed


@pytest.fixture(scope="module")
def pushed():
    """A system, its state, and loads of every kind."""
    scene = well_posed(FAMILIES["sprung_outboard_trees"][0], 1)
    system, state = reached(scene)
    rng = np.random.default_rng(0)
    return system, state, random_loads(rng, scene) | random_wrenches(rng, scene)


def test_names_with_and_without_index(pushed):
    system, state, loads = pushed
    expected = system.accelerations(state, tau=loads)
    elements = {f"{name}[{i + 1}]": value for name in ("w1.F", "w2.T") for i, value in enumerate(loads[name])}
    others = {name: value for name, value in loads.items() if name not in ("w1.F", "w2.T")}
    assert np.array_equal(system.accelerations(state, tau=others | elements), expected)
    assert not np.array_equal(system.accelerations(state, tau=others), expected)


def test_arrays_are_loads_of_joints_only(pushed):
    system, state, loads = pushed
    in_joints = {name: value for name, value in loads.items() if "." not in name}
    listed = [in_joints[joint] for joint in system.by_joint(state.q)]
    assert len(listed) == system.numbering.nu_all < system.numbering.n_inputs
    assert np.array_equal(system.accelerations(state, tau=listed), system.accelerations(state, tau=in_joints))


@pytest.mark.parametrize("call", ["accelerations", "derivatives", "reactions", "jacobian"])
def test_batches_of_wrenches(pushed, call):
    system, state, _ = pushed
    forces = np.random.default_rng(1).normal(size=(4, 3))
    function = getattr(system, call)
    together = function(state, tau={"w1.F": forces, "w1.T[2]": 0.5})
    for force, found in zip(forces, together, strict=True):
        assert np.array_equal(found, function(state, tau={"w1.F": force, "w1.T[2]": 0.5}))
    one_by_one = function(state, tau={f"w1.F[{i + 1}]": forces[:, i] for i in range(3)} | {"w1.T[2]": 0.5})
    assert np.array_equal(one_by_one, together)
    assert system.value("w1.F", state, tau={"w1.F": forces}).tolist() == forces.tolist()


def test_wrenches_are_applied_in_batches_of_inverse_dynamics(pushed):
    system, state, _ = pushed
    forces = np.random.default_rng(2).normal(size=(3, 3))
    udot = np.zeros(system.sizes.nu)
    found = system.inverse_dynamics(state, udot, applied={"w2.F": forces})
    assert found.shape == (3, system.sizes.nu)
    assert np.array_equal(found[1], system.inverse_dynamics(state, udot, applied={"w2.F": forces[1]}))
    nothing = system.inverse_dynamics(state, udot)
    for none in ({}, {"w1.F": (0, 0, 0)}, None):
        assert np.array_equal(system.inverse_dynamics(state, udot, applied=none), nothing)


def test_wrenches_do_not_stay(pushed):
    system, state, loads = pushed
    before = system.accelerations(state)
    system.accelerations(state, tau=loads)
    assert np.array_equal(system.accelerations(state), before)


@pytest.mark.parametrize(
    ("tau", "text"),
    [
        ({"w1.F": 1.0}, r"wrench 'w1.F' has shape \(\); give 3 numbers"),
        ({"w1.F": np.zeros((3, 2))}, r"wrench 'w1.F' has shape \(3, 2\); give 3 numbers"),
        ({"w1.F": (0, 0, np.inf)}, "wrench 'w1.F' is not finite"),
        ({"w1.F": "much"}, "wrench 'w1.F' must be an array of 3 numbers"),
        ({"w1.G": (0, 0, 0)}, "there is no joint or wrench 'w1.G'.*did you mean 'w1"),
        ({"w1.F": (0, 0, 0), "w1.F[1]": 1.0}, r"'w1.F' and 'w1.F\[1\]' set the same number: give one of them"),
    ],
)
def test_wrong_wrenches(pushed, tau, text):
    system, state, _ = pushed
    with pytest.raises(lw.MechanismError, match=text):
        system.accelerations(state, tau=tau)


def test_only_wrenches_are_applied(pushed):
    system, state, loads = pushed
    joint = next(iter(loads))
    with pytest.raises(lw.MechanismError, match=f"applied: '{joint}' is a load in a joint"):
        system.inverse_dynamics(state, np.zeros(system.sizes.nu), applied={joint: 1.0})
    with pytest.raises(lw.MechanismError, match="applied must be a dictionary by name"):
        system.inverse_dynamics(state, np.zeros(system.sizes.nu), applied=[1.0, 2.0, 3.0])


# ---- names and dependencies ----


def sprung_four_bar():
    mech = four_bar().mechanism
    ends = ((0.1, 0, 0), (0.2, 0, 0.3))
    mech.add_force(lw.SpringDamper(bodies=("crank", "rocker"), points=ends, stiffness=5.0, free=0.1, name="cord"))
    mech.add_force(lw.Wrench("coupler", (0.5, 0, 0.1), name="push"))
    return mech


def test_names_of_forces():
    plain = {v.name for v in lw.compile(four_bar().mechanism).variables}
    system = lw.compile(sprung_four_bar())
    added = {v.name: v for v in system.variables if v.name not in plain}
    expected = {f"{name}[{i}]" for name in ("push.point", "push.F", "push.T") for i in (1, 2, 3)}
    expected |= {f"cord.points[{end},{i}]" for end in (1, 2) for i in (1, 2, 3)}
    expected |= {f"cord.{what}" for what in ("stiffness", "damping", "free", "length", "rate", "force", "power")}
    expected.add("push.power")
    assert set(added) == expected
    fields = system.fields
    assert [added[f"cord.points[2,{i}]"].reference for i in (1, 2, 3)] == [
        fields["spring_points"].first + k for k in (3, 4, 5)
    ]
    assert system.column("push.T").first == fields["applied_torque"].first
    units = {
        "cord.stiffness": "N/m",
        "cord.damping": "N.s/m",
        "cord.length": "m",
        "cord.rate": "m/s",
        "cord.force": "N",
    }
    units |= {"cord.points[1,1]": "m", "cord.free": "m", "push.F[1]": "N", "push.T[1]": "N.m", "push.point[2]": "m"}
    assert {name: added[name].unit for name in units} == units
    assert added["cord.points[2,3]"].start == 0.3
    assert added["push.point[3]"].start == 0.1
    assert added["push.F[2]"].start == 0.0


def apart(between=()):
    mech = lw.Mechanism("apart")
    for name in ("left", "middle", "right"):
        mech.add_body(name, mass=1.0, com=(0.1, 0, 0), inertia=np.eye(3))
        mech.add_joint(name[0], lw.Revolute(axis=(0, 1, 0)), "ground", name, at=(0, 0, 0))
        mech.add_force(lw.Wrench(name, name=f"on_{name}"))
    mech.add_body("tip", mass=1.0, com=(0.1, 0, 0), inertia=np.eye(3))
    mech.add_joint("t", lw.Revolute(axis=(0, 1, 0)), "right", "tip", at=(0.2, 0, 0))
    if between:
        mech.add_force(lw.SpringDamper(bodies=between, points=((0, 0, 0.1), (0.3, 0, 0)), stiffness=1.0))
    return {v.name: v.depends for v in lw.compile(mech).variables}


def reach(*joints, on):
    return {f"{joint}.{what}" for joint in joints for what in ("q", "u", "tau")} | {
        f"on_{body}.{what}[{i}]" for body in on for what in "FT" for i in (1, 2, 3)
    }


def test_springs_join_parts():
    """Accelerations depend on what a spring ties together, and on the wrenches there."""
    depends = apart()
    assert set(depends["der(l.u)"]) == reach("l", on=["left"])
    assert set(depends["t.f[1]"]) == reach("r", "t", on=["right"])
    depends = apart(("tip", "left"))
    assert set(depends["der(l.u)"]) == reach("l", "r", "t", on=["left", "right"])
    assert set(depends["t.a"]) == set(depends["der(l.u)"])
    assert set(depends["der(m.u)"]) == reach("m", on=["middle"])
    depends = apart(("ground", "left"))
    assert set(depends["der(l.u)"]) == reach("l", on=["left"])


def test_lengths_depend_on_the_joints_between():
    depends = apart(("tip", "left"))
    assert set(depends["spring.length"]) == {"l.q", "r.q", "t.q"}
    assert set(depends["spring.rate"]) == set(depends["spring.force"]) == {f"{j}.{k}" for j in "lrt" for k in "qu"}
    assert set(apart(("right", "tip"))["spring.length"]) == {"t.q"}
    assert set(apart(("ground", "tip"))["spring.length"]) == {"r.q", "t.q"}


# ---- the serialised model ----


def test_texts_of_the_core_name_springs_and_wrenches():
    system = lw.compile(sprung_four_bar())
    block = system.block()
    system.set_starts(block, four_bar().q, None)
    block.assemble(1e-8)
    for field, name in (("spring_stiffness", "spring_stiffness of spring 'cord'"), ("applied_torque", "wrench 'push'")):
        kept = block.reals[system.fields[field].first]
        block.put(field, np.nan)
        with pytest.raises(lw.MechanismError, match=f"{name} is not finite"):
            block.evaluate(Stage.OUTPUTS)
        block.put(field, kept)
    assert np.isfinite(block["udot"]).all()
