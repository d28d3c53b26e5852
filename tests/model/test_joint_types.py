"""Joints of several coordinates and speeds at a state: names, units, arrays, derivatives, errors."""

import copy
import pickle

import numpy as np
import pytest

import linkwork as lw
from support.joint_types import (
    LOOP_IDS,
    LOOPS,
    SEVERAL,
    on_carrier,
    rotation,
    skater,
    spherical_pendulum,
)

EVERY = pytest.mark.parametrize("name", SEVERAL)
BOTH_WAYS = pytest.mark.parametrize("backwards", [False, True], ids=["forward", "backwards"])
LOOP = pytest.mark.parametrize(("make", "cut"), LOOPS, ids=LOOP_IDS)

TURN, SLIDE, ELEMENT = ("rad", "N.m"), ("m", "N"), ("1", None)
UNITS = {  # of the coordinates; of the speeds' motions and loads
    "universal": ([TURN] * 2, [TURN] * 2),
    "cylindrical": ([TURN, SLIDE], [TURN, SLIDE]),
    "planar": ([SLIDE, SLIDE, TURN], [SLIDE, SLIDE, TURN]),
    "pin_in_slot": ([SLIDE, TURN], [SLIDE, TURN]),
    "spherical": ([ELEMENT] * 4, [TURN] * 3),
    "free": ([SLIDE] * 3 + [ELEMENT] * 4, [TURN] * 3 + [SLIDE] * 3),
}


# ---- names and units ----


@EVERY
@BOTH_WAYS
def test_names_and_units(name, backwards):
    system = lw.compile(on_carrier(name, backwards=backwards))
    coordinates, speeds = UNITS[name]
    units = {v.name: v.unit for v in system.variables if v.name.startswith(("S.", "der(S."))}
    expected = {}
    for i, (unit, _) in enumerate(coordinates, start=1):
        expected |= {f"S.{q}[{i}]": unit for q in ("q", "q_start")} | {f"der(S.q[{i}])": f"{unit}/s"}
    for i, (unit, load) in enumerate(speeds, start=1):
        expected |= {f"S.{u}[{i}]": f"{unit}/s" for u in ("u", "u_start")}
        expected |= {f"der(S.u[{i}])": f"{unit}/s2", f"S.a[{i}]": f"{unit}/s2", f"S.tau[{i}]": load}
        expected[f"S.damping[{i}]"] = f"{load}.s/{unit}"
        expected[f"S.reflected_inertia[{i}]"] = {"rad": "kg.m2", "m": "kg"}[unit]
        if ELEMENT not in coordinates:  # no spring acts on a quaternion
            expected |= {f"S.stiffness[{i}]": f"{load}/{unit}", f"S.free[{i}]": unit}
    others = ("S.parent_frame", "S.child_frame", "S.f[", "S.t[")
    assert {n: unit for n, unit in units.items() if not n.startswith(others)} == expected


def test_orders_of_names():
    system = lw.compile(on_carrier("spherical"))
    assert system.q_names == ["A.q", "S.q[1]", "S.q[2]", "S.q[3]", "S.q[4]"]
    assert system.u_names == ["A.u", "S.u[1]", "S.u[2]", "S.u[3]"]
    assert repr(system).endswith("2 bodies, 2 joints, 0 loops, 9 states)")
    assert repr(system.assemble()).startswith("State('on_spherical': t = 0 s, A.q = 0.3 rad, S.q[1] = 0.9")


@EVERY
def test_start_values_are_where_they_belong(name):
    system = lw.compile(on_carrier(name))
    state = system.assemble()
    np.testing.assert_allclose(state["S.q"], SEVERAL[name].q, rtol=1e-14)
    np.testing.assert_allclose(state["S.u"], SEVERAL[name].u, rtol=1e-14)
    np.testing.assert_array_equal(state["S.q_start"], system.mechanism.start_q["S"])


@pytest.mark.parametrize(
    ("name", "neutral"), [("planar", [0] * 3), ("spherical", [1, 0, 0, 0]), ("free", [0, 0, 0, 1, 0, 0, 0])]
)
def test_without_start_values_the_frames_coincide(name, neutral):
    mech = on_carrier(name)
    mech.start_q.clear()
    state = lw.compile(mech).assemble()
    np.testing.assert_array_equal(state["S.q"], neutral)
    np.testing.assert_array_equal(state["S.q_start"], neutral)


def test_starts_and_defaults_of_variables():
    found = {v.name: v for v in lw.compile(on_carrier("free")).variables}
    starts = [found[f"S.q_start[{i}]"].start for i in range(1, 8)]
    np.testing.assert_array_equal(starts, SEVERAL["free"].q)
    assert found["S.tau[6]"].start == 0.0
    assert found["der(S.q[7])"].derivative_of == "S.q[7]"
    assert [found[f"S.q[{i}]"].kind for i in (1, 7)] == ["state", "state"]


def test_frames_are_described_as_they_lie():
    found = {v.name: v.description for v in lw.compile(skater("U")).variables}
    assert "axis1 along z, axis2 along x" in found["U.parent_frame.rotation[1]"]
    assert "normal along z" in found["P.child_frame.rotation[4]"]
    assert found["S.child_frame.rotation[1]"].endswith("unit quaternion")


# ---- values and arrays ----


def test_groups_of_elements():
    system = lw.compile(on_carrier("free"))
    state = system.assemble()
    assert state["S.q"].shape == (7,)
    assert state["S.q[5]"] == state["S.q"][4] == state.q[5]
    assert state["der(S.q)"].shape == (7,)
    assert state["der(S.q[7])"] == state["der(S.q)"][6] == system.derivatives(state)[7]
    np.testing.assert_array_equal(
        system.value("S.a", state, tau={"A": 1.0}), system.accelerations(state, tau=[1, *[0] * 6])[1:]
    )
    with pytest.raises(lw.MechanismError, match=r"did you mean 'S\.q\["):
        state["S.q[8]"]


def test_quaternions_turn_the_body():
    state = lw.compile(spherical_pendulum()).assemble(q={"S": [0.0, 0.0, 0.0, -2.0]})
    np.testing.assert_array_equal(state["S.q"], [0, 0, 0, -1])
    np.testing.assert_allclose(rotation(state["bob.Q"]), np.diag([-1, -1, 1]), atol=1e-15)


@LOOP
def test_by_joint(make, cut):
    system = lw.compile(make(cut))
    state = system.assemble()
    for what, array in (("q", state.q), ("u", state.u), ("a", system.accelerations(state))):
        named = system.by_joint(array)
        assert sorted(named) == sorted(system.joint_names)
        for joint, value in named.items():
            np.testing.assert_array_equal(value, state[f"{joint}.{what}"])
        plain = system.by_joint(np.array(array))
        assert sorted(plain) == sorted(set(system.joint_names) - {cut})


def test_by_joint_of_coordinates_as_many_as_all_speeds():
    """Four coordinates in the tree, and four speeds in tree and cut joint."""
    mech = spherical_pendulum()
    mech.add_joint("H", lw.Revolute((0, 0, 1)), "bob", "ground", at=(0, 0, 0), cut=True)
    system = lw.compile(mech)
    assert (system.sizes.nq, system.numbering.nu_all) == (4, 4)
    state = system.assemble(q={"S": [1, 0, 0, 0]}, u={"S": [0, 0, 2]})
    assert set(system.by_joint(state.q)) == {"S", "H"}
    np.testing.assert_array_equal(system.by_joint(np.array(state.q))["S"], [1, 0, 0, 0])
    udot = system.accelerations(state)
    assert udot.shape == (3,)
    assert system.by_joint(udot)["H"].shape == ()


@EVERY
def test_batches_are_single_states(name):
    system = lw.compile(on_carrier(name))
    state, rng = system.assemble(), np.random.default_rng(3)
    batch_q, batch_u = state.q + 0.3 * rng.normal(size=(2, state.q.size)), rng.normal(size=(2, state.u.size))
    tau = rng.normal(size=state.u.size)
    for function in (system.accelerations, system.derivatives, system.jacobian, system.reactions):
        together = function(batch_q, batch_u, tau=tau)
        for i in range(2):
            np.testing.assert_array_equal(together[i], function(batch_q[i], batch_u[i], tau=tau))
    assert system.by_joint(system.accelerations(batch_q, batch_u))["S"].shape == (2, system.sizes.nu - 1)


def test_states_are_copied_and_pickled():
    state = lw.compile(skater("S")).assemble()
    for other in (copy.deepcopy(state), pickle.loads(pickle.dumps(state))):
        np.testing.assert_array_equal(other["S.q"], state["S.q"])
        np.testing.assert_array_equal(other.q, state.q)


# ---- loads ----


@LOOP
def test_loads_by_name_and_by_array(make, cut):
    system = lw.compile(make(cut))
    state, rng = system.assemble(), np.random.default_rng(1)
    loads = {joint: rng.normal(size=system.mechanism.joints[joint].kind.nu) for joint in system.joint_names}
    flat = np.concatenate([np.atleast_1d(loads[joint]) for joint in (*system.numbering.tree, *system.numbering.cut)])
    by_name, by_array = system.accelerations(state, tau=loads), system.accelerations(state, tau=flat)
    np.testing.assert_array_equal(by_name, by_array)
    for joint, value in loads.items():
        np.testing.assert_array_equal(np.atleast_1d(system.value(f"{joint}.tau", state, tau=loads)), value)


# ---- refusals ----


REFUSALS = {
    "zero quaternion at assembly": (lambda s: s.assemble(q={"S": [0.0] * 4}), r"q of joint 'S' .* length zero"),
    "zero quaternion in an array": (lambda s: s.energy(np.zeros((2, 5)), np.zeros(4)), r"'S' has .* length zero"),
    "short quaternion": (lambda s: s.assemble(q={"S": [1.0, 0, 0]}), "q of joint 'S' .* 4 numbers"),
    "number for a quaternion": (lambda s: s.assemble(q={"S": 1.0}), "q of joint 'S' .* 4 numbers"),
    "long speeds": (lambda s: s.assemble(u={"S": [1.0] * 4}), "u of joint 'S' .* 3 numbers"),
    "NaN in a quaternion": (lambda s: s.assemble(q={"S": [1, 0, 0, np.nan]}), "q of joint 'S' is not finite"),
    "as many speeds as coordinates": (lambda s: s.energy(np.ones(5), np.ones(5)), "must be 4, the number of speeds"),
    "as many coordinates as speeds": (lambda s: s.energy(np.ones(4), np.ones(4)), "must be 5, the number of coord"),
    "one load for three speeds": (lambda s: s.accelerations(np.ones(5), np.ones(4), tau={"S": 1.0}), "3 numbers"),
    "an array over nothing": (lambda s: s.by_joint(np.zeros(6)), "4 speeds of the tree joints or their 5 coordinates"),
    "stiffness of a quaternion": (lambda s: s.column("S.stiffness"), r"no variable 'S\.stiffness'"),
}


@pytest.mark.parametrize(("ask", "text"), REFUSALS.values(), ids=REFUSALS)
def test_what_is_refused(ask, text):
    system = lw.compile(on_carrier("spherical"))
    with pytest.raises(lw.MechanismError, match=text):
        ask(system)
