"""Recorded runs: packing, columns, thinning, events."""

import gzip

import numpy as np
import pytest

import linkwork as lw
from linkwork.view.packing import pack, pack_columns
from linkwork.view.part import PageRequest
from linkwork.view.recording import recorded_run, thinned
from support.random_mechanisms import FAMILIES, well_posed
from support.view_pages import columns_of, unpack
from support.zoo import zoo

AXIS = (0, 1, 0)


def run_of(result, **options):
    return result._page_part(PageRequest(**options)).run


def pendulum() -> lw.Mechanism:
    mech = lw.Mechanism("pendulum")
    mech.add_body("arm", mass=2.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(2.0, 1.0))
    mech.add_joint("hinge", lw.Revolute(AXIS), "ground", "arm", at=(0, 0, 0))
    return mech


def four_bar() -> lw.Mechanism:
    return well_posed(FAMILIES["planar_4R"][0], 0).mechanism


@pytest.mark.parametrize("shape", [(1, 1), (3, 1), (1, 7), (5, 100), (0, 0), (4, 0)])
def test_packed_columns_are_read_back_bit_by_bit(shape):
    values = np.random.default_rng(3).normal(size=shape) * 10.0 ** (np.arange(shape[1]) % 30)
    names = [f"c{k}" for k in range(shape[0])]
    found = columns_of({"columns": names, "rows": shape[1], "values": pack_columns(values)})
    for name, column in zip(names, values, strict=True):
        np.testing.assert_array_equal(found[name], column.astype(np.float32))


def test_values_that_do_not_exist_and_large_ones_are_packed():
    values = [np.nan, np.inf, -np.inf, 1e300, -0.0, 1e-45]
    found = columns_of({"columns": ["a"], "rows": 6, "values": pack_columns([values])})["a"]
    np.testing.assert_array_equal(found, [np.nan, np.inf, -np.inf, np.inf, 0.0, np.float32(1e-45)])


def test_packed_bytes_are_gzip_of_no_time_and_system():
    packed = pack(b"abc" * 1000)
    assert packed == pack(b"abc" * 1000)
    assert unpack(packed) == b"abc" * 1000
    import base64

    head = base64.b64decode(packed)[:10]
    assert head == b"\x1f\x8b\x08\0\0\0\0\0\x02\xff"
    assert gzip.decompress(base64.b64decode(pack(b""))) == b""


@pytest.mark.parametrize("make", [four_bar, zoo])
def test_columns_are_those_of_the_result(make):
    t = np.linspace(0.0, 0.5, 501)
    result = lw.simulate(make(), 0.5, t_eval=t)
    run = run_of(result)
    found = columns_of(run)
    rows = np.searchsorted(found["time"], t.astype(np.float32), side="left")
    np.testing.assert_allclose(found["time"][rows], t, rtol=1e-7)
    poses = [f"{body}.{what}" for body in result.model.mechanism.bodies for what in ("r", "Q")]
    for name in poses:
        for i in range(result[name].shape[1]):
            column = result[name][:, i]
            scale = max(1.0, np.abs(column).max())
            np.testing.assert_allclose(found[f"{name}[{i + 1}]"][rows], column, atol=1e-6 * scale)
    expected = {f"{joint}.q" for joint in result.model.mechanism.joints}
    assert {name.split("[")[0] for name in found} >= {"energy.kinetic", "time"} | {
        name for name in expected if name in result
    }
    assert run["message"] == ""
    assert run["rowsOfResult"] == len(t)


def test_steps_of_a_solver_are_refined_as_plots_are():
    result = lw.simulate(pendulum(), 5.0, rtol=1e-3)
    run = run_of(result)
    found = columns_of(run)
    assert len(result) < 100 < run["rows"]
    assert run["rowsOfResult"] == len(result)
    assert np.diff(found["time"]).max() <= 5.0 / 300 * 1.001
    rows = np.searchsorted(found["time"], result.t.astype(np.float32))
    np.testing.assert_allclose(found["hinge.q"][rows], result["hinge.q"], atol=1e-6)


def test_columns_are_chosen_and_poses_stay():
    result = lw.simulate(pendulum(), 0.1)
    run = run_of(result, columns=["hinge.a", "*.u"])
    poses = [f"arm.r[{i}]" for i in (1, 2, 3)] + [f"arm.Q[{i}]" for i in (1, 2, 3, 4)]
    assert run["columns"] == ["time", *poses, "hinge.a", "hinge.u"]
    assert run_of(result, columns=[])["columns"] == ["time", *poses]
    with pytest.raises(lw.MechanismError, match="no variable 'hing'"):
        run_of(result, columns=["hing"])


def test_default_columns_leave_out_what_follows_from_others():
    result = lw.simulate(zoo(), 0.01)
    names = set(run_of(result)["columns"])
    assert not {name for name in names if name.startswith("der(") or name.endswith((".a", ".v[1]", ".w[1]"))}
    assert {"j0.q", "j0.u", "j0.tau", "j0.f[1]", "j0.t[3]", "cord.force", "cord.length", "rod.force"} <= names
    assert {"gear.load", "push.F[1]", "grip.input", "latch.active"} <= names
    (cut,) = result.model.loop_names
    assert {f"loop.{cut}.residual", f"loop.{cut}.conditioning"} <= names


# ---- thinning


def test_thinning_keeps_ends_and_events():
    t = np.sort(np.concatenate([np.linspace(0, 10, 1001), [3.21, 3.21, 7.0]]))
    rows = thinned(t, [3.21, 7.0], 50)
    assert len(rows) == 50
    assert {0, len(t) - 1, *np.flatnonzero((t == 3.21) | (t == 7.0))} <= set(rows.tolist())
    assert np.diff(t[rows]).max() < 0.5
    np.testing.assert_array_equal(thinned(t, [], len(t)), np.arange(len(t)))
    assert len(np.unique(rows)) == 50


def test_more_events_than_rows_are_thinned_as_well():
    t = np.repeat(np.arange(100.0), 2)
    rows = thinned(t, t, 10)
    assert len(rows) == 10
    assert (rows[0], rows[-1]) == (0, 199)


@pytest.mark.parametrize("most", [2, 3, 17, 400])
def test_most_rows_are_kept_to(most):
    result = lw.simulate(pendulum(), 1.0, t_eval=np.linspace(0, 1, 1001))
    run = run_of(result, max_rows=most)
    assert run["rows"] == most
    assert run["rowsOfResult"] == 1001
    found = columns_of(run)["time"]
    assert found[0] == 0.0
    assert found[-1] == 1.0


def test_a_backward_run_is_shown_forward():
    result = lw.simulate(pendulum(), -1.0)
    found = columns_of(run_of(result))
    assert (np.diff(found["time"]) >= 0).all()
    assert found["time"][0] == -1.0
    np.testing.assert_allclose(found["hinge.q"][0], result["hinge.q"][-1], atol=1e-6)


def test_texts_are_left_out():
    columns = {"a": np.array([1, 2]), "b": np.array(["x", "y"]), "c": np.array([True, False]), "time": np.zeros(2)}
    run = recorded_run("x", np.array([0.0, 1.0]), columns, [], "", rows_of_result=2)
    assert run["columns"] == ["time", "a", "c"]
    np.testing.assert_array_equal(columns_of(run)["c"], [1, 0])


# ---- events


def test_a_stop_is_told_and_its_rows_stay():
    mech = pendulum()
    mech.add_transition("floor", lw.Stop("hinge", upper=1.0, restitution=0.5))
    result = lw.simulate(mech, 2.0)
    run = run_of(result, max_rows=60)
    first = result.events[0]
    assert run["events"][0]["t"] == first.t
    assert run["events"][0]["text"] == f"floor: impact at hinge.q = 1 rad, {first.energy_lost:.3g} J lost"
    found = columns_of(run)
    both = np.flatnonzero(found["time"] == np.float32(first.t))
    assert len(both) == 2
    before, after = found["hinge.u"][both]
    np.testing.assert_allclose(after, -0.5 * before, rtol=1e-5)


def test_locks_and_commands_are_told():
    mech = pendulum()
    mech.add_transition("latch", lw.Lock("hinge"), when=lw.Command())
    result = lw.simulate(mech, 1.0, inputs={"latch.command": lambda t: 0.2 < t < 0.5})
    texts = [event["text"] for event in run_of(result)["events"]]
    assert texts[0].startswith("latch: locks hinge")
    assert texts[1].startswith("latch: unlocks hinge")
    active = columns_of(run_of(result))["latch.active"]
    assert set(active) == {0.0, 1.0}


def two_rods() -> lw.Mechanism:
    mech = lw.Mechanism("rods")
    for name in ("left", "right"):
        mech.add_body(name, mass=1.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(1.0, 1.0))
    mech.add_joint("A", lw.Revolute(AXIS), "ground", "left", at=(0, 0, 0))
    mech.add_joint("B", lw.Revolute(AXIS), "left", "right", parent_frame=lw.Frame((1, 0, 0)))
    return mech


def test_the_frame_that_a_pin_finds_is_in_the_scene():
    mech = two_rods()
    mech.start(q={"A": 0.3, "B": 0.5})
    mech.add_transition(
        "pin", lw.Pin("ground", "right", lw.Revolute(AXIS), child_frame=lw.Frame((1, 0, 0))), lw.Time(0.4)
    )
    result = lw.simulate(mech, 0.8)
    part = result._page_part(PageRequest())
    joint = next(one for one in part.scene["joints"] if one["name"] == "pin")
    assert joint["closed"] == "pin.active"
    tip = result.model.point(result.state(0.4), "right", (1, 0, 0))
    np.testing.assert_allclose(joint["parentFrame"]["r"], tip, atol=1e-9)
    assert joint["childFrame"]["r"] == [1, 0, 0]
    assert part.run["events"][0]["text"].startswith("pin: joins ground and right")
    late = result.model.point(result.state(0.7), "right", (1, 0, 0))
    np.testing.assert_allclose(late, tip, atol=1e-6)


def test_a_joint_that_is_released_has_a_column():
    mech = two_rods()
    mech.add_joint(
        "C", lw.Spherical(), "ground", "right", parent_frame=lw.Frame((1.5, 0, 0)), child_frame=lw.Frame((1, 0, 0))
    )
    mech.start(q={"A": 0.7})
    mech.add_transition("open", lw.Release("C"), when=lw.Time(0.3))
    result = lw.simulate(mech, 0.6)
    part = result._page_part(PageRequest())
    joint = next(one for one in part.scene["joints"] if one["name"] == "C")
    found = columns_of(part.run)
    closed, t = found[joint["closed"]], found["time"]
    assert (closed[t < 0.3 - 1e-6] == 1.0).all()
    assert (closed[t > 0.3 + 1e-6] == 0.0).all()
    assert part.run["events"][0]["text"].startswith("open: opens C")
    assert part.scene["units"][joint["closed"]] == "1"
    assert joint["closed"] in run_of(result, columns=[])["columns"]


def test_event_functions_and_early_ends_are_told():
    crossing = lw.EventFunction(lambda t, state: state["hinge.q"] - 0.5, name="half", terminal=True)
    run = run_of(lw.simulate(pendulum(), 3.0, events=[crossing]))
    assert run["events"][0]["text"] == "half: changes its sign"
    assert run["message"]
