"""The simulator's data: the same motion with wrenches for dragging, and offsets that name the right numbers."""

import json

import numpy as np
import pytest

import linkwork as lw
from linkwork.core.native import Block, NativeModel
from linkwork.view.live import live_part, with_drags
from linkwork.view.part import PageRequest
from support.random_mechanisms import FAMILIES, well_posed
from support.view_pages import unpack
from support.zoo import zoo


def live_of(mech, **options):
    model = lw.compile(mech) if isinstance(mech, lw.Mechanism) else mech
    return live_part(model, PageRequest(**options)).live


def pendulum(**start) -> lw.Mechanism:
    mech = lw.Mechanism("pendulum")
    mech.add_body("arm", mass=2.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(2.0, 1.0))
    mech.add_joint("hinge", lw.Revolute((0, 1, 0)), "ground", "arm", at=(0, 0, 0), max_load=5.0)
    mech.start(**start)
    return mech


@pytest.mark.parametrize("name", sorted(FAMILIES))
def test_wrenches_of_zero_change_no_bit(name):
    model = lw.compile(well_posed(FAMILIES[name][0], 1).mechanism)
    dragged, wrenches = with_drags(model)
    state, other = model.assemble(), dragged.assemble()
    np.testing.assert_array_equal(state.q, other.q)
    np.testing.assert_array_equal(state.u, other.u)
    np.testing.assert_array_equal(model.derivatives(state), dragged.derivatives(other))
    np.testing.assert_array_equal(model.reactions(state), dragged.reactions(other))
    assert list(wrenches) == list(model.mechanism.bodies)


def test_a_run_with_events_has_the_same_bits():
    mech = pendulum(q={"hinge": 0.3})
    mech.add_transition("floor", lw.Stop("hinge", upper=1.0, restitution=0.5))
    model = lw.compile(mech)
    one, two = lw.simulate(model, 1.0), lw.simulate(with_drags(model)[0], 1.0)
    np.testing.assert_array_equal(one.t, two.t)
    np.testing.assert_array_equal(one.y, two.y)
    assert one.events


def test_a_run_with_a_pin_and_a_release_has_the_same_bits():
    mech = pendulum(q={"hinge": 0.3})
    mech.add_body("b", 1.0, (0.5, 0, 0), lw.inertia.rod(1.0, 1.0))
    mech.add_joint("B", lw.Revolute((0, 1, 0)), "arm", "b", parent_frame=lw.Frame((1, 0, 0)))
    pin = lw.Pin("ground", "b", lw.Revolute((0, 1, 0)), child_frame=lw.Frame((1, 0, 0)))
    mech.add_transition("pin", pin, lw.Time(0.2))
    mech.add_transition("open", lw.Release("pin"), lw.Time(0.5))
    model = lw.compile(mech)
    one, two = lw.simulate(model, 0.8), lw.simulate(with_drags(model)[0], 0.8)
    np.testing.assert_array_equal(one.t, two.t)
    np.testing.assert_array_equal(one.y, two.y)
    assert len(one.events) == 2


def test_names_of_wrenches_are_new():
    mech = pendulum()
    mech.add_force(lw.Wrench("arm", name="drag arm"))
    mech.add_body("drag arm_", mass=1.0, com=(0, 0, 0), inertia=np.eye(3))
    mech.add_joint("J", lw.Free(), "ground", "drag arm_", at=(0, 0, 0))
    before = mech.to_dict()
    dragged, wrenches = with_drags(lw.compile(mech))
    assert wrenches == {"arm": "drag arm__", "drag arm_": "drag drag arm_"}
    assert mech.to_dict() == before
    assert len(dragged.mechanism.forces) == 3


def test_model_and_offsets_are_those_of_the_core():
    mech = zoo()
    live = live_of(mech)
    block = Block(NativeModel(unpack(live["model"])))
    dragged, _ = with_drags(lw.compile(mech))
    assert unpack(live["model"]) == dragged.model_bytes
    for setting in (*live["parameters"], *live["start"]):
        assert block.reals[setting["offset"]] == setting["value"], setting["name"]
        column = dragged.column(setting["name"])
        assert (column.first, column.unit) == (setting["offset"], setting["unit"])
    for name, offset in live["columns"].items():
        assert dragged.column(name).first == offset
    for body, place in live["drag"].items():
        assert dragged.column(f"drag {body}.point").first == place["point"]
        assert dragged.column(f"drag {body}.F").first == place["force"]


def test_settings_are_what_may_be_changed():
    mech = zoo()
    live = live_of(mech)
    names = {key: [one["name"] for one in live[key]] for key in ("parameters", "inputs", "start")}
    assert {
        "b0.mass",
        "b0.inertia[1,2]",
        "gravity[3]",
        "cord.stiffness",
        "grip.gain",
        "j0.damping",
        "bump.restitution",
        "force.k",
        "brake.d",
    } <= {*names["parameters"]}
    assert "j0.parent_frame.position[1]" in names["parameters"]
    assert not [name for name in names["parameters"] if "_frame.Q" in name or name.startswith("drag")]
    assert {"j0.tau", "push.F[1]", "push.T[3]", "grip.input", "jack.p", "latch.command"} <= {*names["inputs"]}
    assert not [name for name in names["inputs"] if name.startswith("drag")]
    assert {"j0.q_start", "cut.q_start[4]", "j6.u_start[6]"} <= {*names["start"]}
    by_name = {one["name"]: one for key in ("parameters", "inputs") for one in live[key]}
    assert by_name["b0.mass"]["minimum"] == 0.0
    assert (by_name["bump.restitution"]["minimum"], by_name["bump.restitution"]["maximum"]) == (0.0, 1.0)
    assert (by_name["latch.command"]["minimum"], by_name["latch.command"]["maximum"]) == (0.0, 1.0)


def test_columns_leave_out_the_wrenches_for_dragging():
    live = live_of(zoo())
    assert not [name for name in live["columns"] if name.startswith("drag ")]
    assert {"time", "j0.q", "b0.r[1]", "j0.f[3]", "der(j0.q)", "push.F[1]", "energy.kinetic"} <= live["columns"].keys()


def test_a_pull_by_the_offsets_is_a_wrench():
    mech = pendulum(q={"hinge": 0.4})
    live = live_of(mech)
    block = Block(NativeModel(unpack(live["model"])))
    block.assemble(1e-8)
    place = live["drag"]["arm"]
    block.set(np.arange(place["point"], place["point"] + 3, dtype=np.uint32), np.array([1.0, 0, 0]))
    block.set(np.arange(place["force"], place["force"] + 3, dtype=np.uint32), np.array([0, 0, 7.0]))
    pulled = pendulum(q={"hinge": 0.4})
    pulled.add_force(lw.Wrench("arm", (1, 0, 0), name="pull"))
    model = lw.compile(pulled)
    wanted = model.accelerations(model.assemble(), tau={"pull.F": (0, 0, 7.0)})
    np.testing.assert_array_equal(block["udot"], wanted)


def test_start_values_of_the_description_in_their_order():
    mech = well_posed(FAMILIES["planar_4R"][0], 0).mechanism
    mech.start_q.clear()
    mech.start_u.clear()
    names = list(mech.joints)
    mech.start(q={names[2]: 0.1, names[0]: 0.2}, u={names[1]: 0.3})
    live = live_of(mech)
    assert live["given"] == [f"{names[2]}.q", f"{names[0]}.q", f"{names[1]}.u"]
    ranks = {one["name"]: one["offset"] for one in live["priorities"]}
    block = Block(NativeModel(unpack(live["model"])))
    assert [block.reals[ranks[name]] for name in live["given"][:2]] == [1.0, 2.0]
    assert list(ranks) == [f"{name}.q" for name in [*live_order(mech)]]


def live_order(mech):
    return lw.compile(mech).numbering.q


def test_values_of_a_model_are_kept():
    model = lw.compile(pendulum()).with_parameters({"arm.mass": 3.0, "hinge.q_start": 0.2})
    live = live_of(model, t_end=2.0, rtol=1e-6)
    values = {one["name"]: one["value"] for key in ("parameters", "start") for one in live[key]}
    assert (values["arm.mass"], values["hinge.q_start"], live["t_end"]) == (3.0, 0.2, 2.0)
    assert live["rtol"] == live["atol"] == 1e-6
    assert live_of(model)["t_end"] == 10.0


def test_a_limit_that_is_infinite_is_a_number():
    mech = pendulum()
    mech.add_body("b", 1.0, (0, 0, 0), np.eye(3))
    mech.add_joint("J", lw.Universal((1, 0, 0), (0, 1, 0)), "arm", "b", at=(1, 0, 0), max_load=(np.inf, 2.0))
    live = live_of(mech)
    values = {one["name"]: one["value"] for one in live["parameters"]}
    assert values["J.max_load[1]"] > 1e300
    assert values["J.max_load[2]"] == 2.0
    json.dumps(live, allow_nan=False)


def test_a_result_with_its_simulator_starts_where_it_started():
    model = lw.compile(pendulum(q={"hinge": 0.3}))
    usual = lw.simulate(model, 2.0)
    live = usual._page_part(PageRequest(live=True)).live
    assert live["t_end"] == 2.0
    assert {one["name"]: one["value"] for one in live["inputs"]} == {"hinge.tau": 0.0}
    assert unpack(live["model"]) == with_drags(model)[0].model_bytes
    moved = lw.simulate(model, 1.0, state=model.assemble(q={"hinge": 0.9}, u={"hinge": -1.0}))
    live = moved._page_part(PageRequest(live=True)).live
    assert {one["name"]: one["value"] for one in live["start"]} == {"hinge.q_start": 0.9, "hinge.u_start": -1.0}
    block = Block(NativeModel(unpack(live["model"])))
    block.assemble(1e-8)
    assert (block["q"][0], block["u"][0]) == (0.9, -1.0)


def test_a_latched_joint_and_a_released_one_have_offsets():
    mech = pendulum()
    mech.add_body("b", 1.0, (0.5, 0, 0), lw.inertia.rod(1.0, 1.0))
    mech.add_joint("B", lw.Revolute((0, 1, 0)), "arm", "b", parent_frame=lw.Frame((1, 0, 0)))
    mech.add_joint(
        "C", lw.Spherical(), "ground", "b", parent_frame=lw.Frame((1.5, 0, 0)), child_frame=lw.Frame((1, 0, 0))
    )
    mech.start(q={"hinge": 0.7})
    mech.add_transition("open", lw.Release("C"), when=lw.Time(0.3))
    part = live_part(lw.compile(mech), PageRequest())
    joint = next(one for one in part.scene["joints"] if one["name"] == "C")
    block = Block(NativeModel(unpack(part.live["model"])))
    block.assemble(1e-8)
    offset = part.live["columns"][joint["closed"]]
    assert block.reals[offset] == 1.0
    block.make_transitions([0])
    assert block.reals[offset] == 0.0
