"""States in files: the same bits, the model checked, readable."""

import json

import numpy as np
import pytest

import linkwork as lw
from support.cases import four_bar


def driven():
    """Two rods, one with a prescribed motion and one that a transition locks."""
    mech = lw.Mechanism("driven")
    for name in ("one", "two"):
        mech.add_body(name, mass=1.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(1.0, 1.0))
    hinge = lw.Revolute((0, 1, 0))
    mech.add_joint("A", hinge, "ground", "one", at=(0, 0, 0))
    mech.add_joint("B", hinge, "one", "two", parent_frame=lw.Frame((1, 0, 0)), child_frame=lw.Frame())
    mech.prescribe("A", lw.Motion((0.3, 2.0)))
    mech.add_transition("latch", lw.Lock("B"), when=lw.Time(0.2))
    return mech


@pytest.fixture(params=["json", "npz"])
def path(request, tmp_path):
    return tmp_path / f"state.{request.param}"


def turned(system):
    case = four_bar()
    return system.assemble(q=case.q | {"D": case.q["D"] + 4 * np.pi}, u=case.u)


def assert_same(one, other):
    for name in ("q", "u", "motion", "discrete_state"):
        a, b = getattr(one, name), getattr(other, name)
        assert a.tobytes() == b.tobytes(), name
        assert a.dtype == b.dtype
        assert not b.flags.writeable
    for name in ("q", "u"):
        assert getattr(one, name).cut.tobytes() == getattr(other, name).cut.tobytes()
    assert one.time == other.time


def test_a_state_is_the_same_to_the_bit(system, path):
    state = turned(system)
    state.save(path)
    again = lw.State.load(path, system)
    assert_same(state, again)
    assert again["D.q"] == state["D.q"]
    assert np.array_equal(system.accelerations(again), system.accelerations(state))


def test_motions_and_changes_by_transitions_are_kept(path):
    model = lw.compile(driven())
    state = model.assemble(q={"B": 0.2}, u={"B": 1.0}, time=0.5, motion={"A_drive": [0.1, 0.2, 0.3]})
    locked = model.jump(state, ["latch"]).state
    locked.save(path)
    again = lw.State.load(path, lw.compile(driven()))
    assert_same(locked, again)
    assert again.time == 0.5
    assert again["A.q"] == pytest.approx(0.3 + 2.0 * 0.5 + 0.1)
    assert "locked: B" in repr(again)


def test_a_run_continues_from_a_file(path):
    mech = lw.Mechanism("pendulum")
    mech.add_body("rod", mass=1.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(1.0, 1.0))
    mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
    first = lw.simulate(mech, 0.5)
    first.final_state.save(path)
    again = lw.simulate(mech, 1.0, state=lw.State.load(path, lw.compile(mech)))
    assert again.t[0] == 0.5
    assert again["A.q"][0] == first["A.q"][-1]


def test_a_file_can_be_read(system, tmp_path):
    turned(system).save(tmp_path / "state.json")
    text = json.loads((tmp_path / "state.json").read_text())
    assert text["mechanism"] == "four_bar_of_record"
    assert list(text["q"]) == ["A.q", "B.q", "C.q"]
    assert text["q_cut"]["D.q"] > 4 * np.pi


def test_a_state_of_another_mechanism_is_refused(system, state, path):
    state.save(path)
    mech = lw.Mechanism("other")
    mech.add_body("rod", mass=1.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(1.0, 1.0))
    mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
    with pytest.raises(lw.MechanismError, match="of mechanism 'four_bar_of_record', not of 'other'"):
        lw.State.load(path, lw.compile(mech))
    with pytest.raises(lw.MechanismError, match="belongs to mechanism 'four_bar_of_record', not to 'other'"):
        lw.compile(mech).accelerations(state)
    heavier = four_bar().mechanism
    heavier.add_force(lw.SpringDamper("A", stiffness=1.0))
    with pytest.raises(lw.MechanismError, match="another model of 'four_bar_of_record': compile"):
        lw.State.load(path, lw.compile(heavier))


def test_files_that_are_no_states(system, state, tmp_path):
    with pytest.raises(lw.MechanismError, match=r"kept in files \*.json or \*.npz"):
        state.save(tmp_path / "state.txt")
    for name, content in (("a.json", "{"), ("b.json", "[1]"), ("c.json", "{}"), ("d.npz", "no archive"), ("e.npz", "")):
        (tmp_path / name).write_text(content)
        with pytest.raises(lw.MechanismError, match=f"{name} is no state of Linkwork, or is damaged"):
            lw.State.load(tmp_path / name, system)
    with pytest.raises(FileNotFoundError):
        lw.State.load(tmp_path / "absent.json", system)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text["q"].pop("A.q"), "'q' must be 3 numbers"),
        (lambda text: text["q"].update({"Z.q": text["q"].pop("A.q")}), "'B.q' in 'q' is not where the model has it"),
        (lambda text: text.pop("u_cut"), "'u_cut' must be 1 numbers"),
        (lambda text: text.update(version=99), "no state of this version"),
    ],
)
def test_files_that_were_changed(system, state, tmp_path, change, message):
    path = tmp_path / "state.json"
    state.save(path)
    text = json.loads(path.read_text())
    change(text)
    path.write_text(json.dumps(text))
    with pytest.raises(lw.MechanismError, match=message):
        lw.State.load(path, system)


def test_states_are_readable(state):
    assert repr(state).startswith("State('four_bar_of_record': t = 0 s, A.q = -0.7 rad")
    lines = str(state).splitlines()
    assert lines[0] == "State of 'four_bar_of_record' at t = 0 s"
    assert [line.split()[0] for line in lines[1:]] == ["A.q", "B.q", "C.q", "A.u", "B.u", "C.u", "D.q", "D.u"]
    assert "<td>A.q</td><td>-0.7</td><td>rad</td>" in state._repr_html_()
