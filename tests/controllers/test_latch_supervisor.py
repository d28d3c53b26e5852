"""The supervisor of latches: window, speed, hold time, order; and a solar array that it latches."""

import pytest

import linkwork as lw
from linkwork import controllers
from linkwork.errors import FmuError


def commands(slave) -> list[bool]:
    return [bool(slave[name]) for name in slave.outputs if name.endswith(".command")]


def test_a_command_waits_for_angle_and_speed_and_hold_time_and_stays(run, tmp_path):
    fmu = controllers.latch_supervisor(tmp_path / "s.fmu", {"latch": "H"}, window=0.1, max_speed=0.2, hold_time=0.3)
    slave = run(fmu).start({"H.q": 1.0})
    for q, u, expected in [
        (1.0, 0.0, False),  # far away
        (0.05, 0.5, False),  # too fast
        (0.05, 0.1, False),  # held 0 s
        (0.05, 0.1, False),  # 0.1 s
        (0.15, 0.1, False),  # left
        (0.1, -0.2, False),  # at the bounds, 0 s
        (-0.1, 0.2, False),
        (0.0, 0.0, False),
        (0.0, 0.0, True),  # 0.3 s
        (1.0, 1.0, True),
    ]:
        slave.set({"H.q": q, "H.u": u})
        assert commands(slave) == [expected]
        slave.step(0.1)


def test_latches_close_one_after_the_other_or_each_by_itself(run, tmp_path):
    latches = {"a": {"angle": "p", "speed": "v", "target": 1.0}, "b": "H2"}
    fmu = controllers.latch_supervisor(tmp_path / "s.fmu", latches, window=0.1)
    row, alone = run(fmu).start({"p": 0.0, "H2.q": 0.0}), run(fmu).start({"sequence": False, "H2.q": 0.0})
    seen = []
    for p in (0.0, 0.95, 0.95, 0.5):
        for slave in (row, alone):
            slave.set({"p": p})
        seen.append([commands(row), commands(alone), row["stage"]])
        row.step(0.1)
        alone.step(0.1)
    assert seen == [
        [[False, False], [False, True], 0],
        [[True, False], [True, True], 1],
        [[True, True], [True, True], 2],
        [[True, True], [True, True], 2],
    ]


def test_the_types_of_a_plants_commands(run, tmp_path):
    latches = {"a": {"angle": "x.q", "speed": "x.u", "unit": "m"}}
    shown = run(controllers.latch_supervisor(tmp_path / "s.fmu", latches)).variables
    assert (shown["a.command"].type, shown["a.command"].variability) == ("Boolean", "discrete")
    units = [shown[name].unit for name in ("x.q", "x.u", "a.target", "window", "max_speed")]
    assert units == ["m", "m/s", "m", "m", "m/s"]


def test_a_plant_is_latched_in_order_when_it_has_come_to_rest(run, tmp_path):
    mech = lw.Mechanism("panels", gravity=(0, 0, 0))
    before, frame = "ground", lw.Frame()
    for k in (1, 2):
        mech.add_body(f"p{k}", mass=1.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(1.0, 1.0))
        mech.add_joint(f"H{k}", lw.Revolute(axis=(0, 0, 1)), before, f"p{k}", parent_frame=frame)
        mech.add_force(lw.SpringDamper(f"H{k}", stiffness=4.0, damping=3.0))
        mech.add_transition(f"latch{k}", lw.Lock(f"H{k}"), when=lw.Command())
        mech.start(q={f"H{k}": 1.0 / k})
        before, frame = f"p{k}", lw.Frame((1.0, 0, 0))
    plant = run(lw.export_fmu(mech, tmp_path / "plant.fmu", "2.0")).start()
    names = ["H1.q", "H1.u", "H2.q", "H2.u"]
    fmu = controllers.latch_supervisor(
        tmp_path / "s.fmu", {"latch1": "H1", "latch2": "H2"}, window=0.02, max_speed=0.05, hold_time=0.1
    )
    supervisor, times = run(fmu).start(dict(zip(names, plant.get(names), strict=True))), {}
    while plant.time < 20.0 and len(times) < 2:
        supervisor.set(dict(zip(names, plant.get(names), strict=True)))
        ordered = {f"latch{k}.command": bool(supervisor[f"latch{k}.command"]) for k in (1, 2)}
        supervisor.step(0.02)
        plant.step(0.02, ordered)
        for k in (1, 2):
            if plant[f"latch{k}.active"]:
                times.setdefault(k, plant.time)
    assert times[2] > times[1] > 0.1
    assert abs(plant["H1.q"]) < 0.025
    assert plant["H1.u"] == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize(
    ("latches", "text"), [({}, "at least one"), ({"a": {"angle": "q"}}, "latch 'a': give angle and speed")]
)
def test_latches_that_are_not_described_are_refused(tmp_path, latches, text):
    with pytest.raises(FmuError, match=text):
        controllers.latch_supervisor(tmp_path / "s.fmu", latches)
