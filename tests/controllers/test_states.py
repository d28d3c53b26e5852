"""States of controllers: all of it is saved, and steps after a restored one are the same to the bit."""

import importlib
import sys
import textwrap

import numpy as np
import pytest

import linkwork as lw
from linkwork import controllers
from support.python_controllers import in_python

TABLE = ([0.0, 0.5, 2.0], [0.0, 1.0, -1.0])


def make(name, path, checkout, monkeypatch):
    if name == "pid":
        return controllers.pid(path, kp=2.0, ki=3.0, kd=0.1, u_max=1.0)
    if name == "pid in Python":
        return in_python("pid", path, kp=2.0, ki=3.0, kd=0.1, u_max=1.0)
    if name == "sampled pid":
        return controllers.pid(path, kp=2.0, ki=3.0, kd=0.1, u_max=1.0, sample_time=0.07)
    if name == "skyhook":
        return controllers.skyhook(path)
    if name == "latch_supervisor":
        return controllers.latch_supervisor(path, {"a": "H1", "b": "H2"}, window=2.0, max_speed=9.0, hold_time=0.2)
    if name == "trajectory":
        return controllers.trajectory(path, [0.0, 1.0, 0.0], names=["x"], cycle=True)
    if name == "signal":
        return controllers.signal(path, *TABLE, interpolation="cubic")
    monkeypatch.syspath_prepend(checkout / "examples")
    five_bar = importlib.import_module("five_bar").mechanism()
    if name == "computed_torque":
        return controllers.computed_torque(path, five_bar, ["L", "R"])
    return controllers.state_feedback(path, lw.linearize(five_bar, inputs=["L.tau", "R.tau"]), 1.0, 1.0)


ALL = [
    "pid",
    "pid in Python",
    "sampled pid",
    "skyhook",
    "latch_supervisor",
    "trajectory",
    "signal",
    "state_feedback",
    "computed_torque",
]


def outputs_over(slave, inputs, begin):
    """Outputs at the communication points of some steps, as they are read after inputs were set."""
    seen = []
    for values in inputs:
        slave.set({name: begin[name] + value for name, value in values.items()})
        seen.append(slave.get(slave.outputs))
        slave.step(0.05)
    return [*seen, slave.get(slave.outputs)]


@pytest.mark.parametrize("name", ALL)
def test_a_run_from_a_restored_state_is_the_same_to_the_bit(run, tmp_path, checkout, monkeypatch, name):
    fmu = make(name, tmp_path / "it.fmu", checkout, monkeypatch)
    slave, other = run(fmu).start(), run(fmu).start()
    names = [n for n, variable in slave.variables.items() if variable.causality == "input"]
    begin, random = {n: slave[n] for n in names}, np.random.default_rng(3)
    rows = [dict(zip(names, 0.3 * random.normal(size=len(names)), strict=True)) for _ in range(14)]
    outputs_over(slave, rows[:6], begin)
    time, state = slave.time, slave.fmu.getFMUstate()
    data = slave.fmu.serializeFMUstate(state)
    first = outputs_over(slave, rows[6:], begin)
    for _ in range(2):  # a state serves more than once
        slave.fmu.setFMUstate(state)
        slave.time = time
        assert outputs_over(slave, rows[6:], begin) == first
    slave.fmu.freeFMUstate(state)
    other.fmu.setFMUstate(other.fmu.deSerializeFMUstate(data))
    other.time = time
    assert outputs_over(other, rows[6:], begin) == first


@pytest.mark.parametrize("name", ALL)
def test_reset_begins_anew(run, tmp_path, checkout, monkeypatch, name):
    slave = run(make(name, tmp_path / "it.fmu", checkout, monkeypatch)).start()
    begin = slave.get(slave.outputs)
    for _ in range(5):
        slave.step(0.1)
    slave.fmu.reset()
    slave.time = 0.0
    slave.start()
    assert slave.get(slave.outputs) == begin


def test_a_truncated_state_is_refused_and_the_process_lives(run, tmp_path):
    slave = run(controllers.pid(tmp_path / "p.fmu")).start()
    data = slave.fmu.serializeFMUstate(slave.fmu.getFMUstate())
    with pytest.raises(Exception, match="fmi2DeSerializeFMUstate"):
        slave.fmu.deSerializeFMUstate(data[: len(data) // 2])


PLAIN = """
    from pythonfmu import Fmi2Causality, Fmi2Slave, Real

    GAINS = [1.0]  # outside of the slave, which knows it by its variable alone

    class Part:
        def __init__(self):
            self.level, self.rate = 0.0, 1.0

    class Plain(Fmi2Slave):
        units = {"part.level": "m"}

        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.part, self.hidden, self.history, self.y = Part(), 0, [], 0.0
            self.register_variable(Real("y", causality=Fmi2Causality.output))
            self.register_variable(Real("part.level", causality=Fmi2Causality.output))
            self.register_variable(Real("gain", causality=Fmi2Causality.parameter, start=1.0,
                                        getter=lambda: GAINS[0], setter=lambda v: GAINS.__setitem__(0, v)))

        def do_step(self, t, dt):
            self.hidden += 1
            self.history.append(t)
            self.part.rate += 0.5
            self.part.level += dt * self.part.rate
            self.y = self.hidden + sum(self.history) + self.part.level + GAINS[0]
            GAINS[0] += 0.25
            if self.hidden > 2:
                self.late = True
            return True
"""


def test_what_a_plain_slave_does_not_register_is_saved_as_well(run, tmp_path):
    # PythonFMU alone saves registered variables; here the counter, the list, and parts of an object that owns one.
    source = tmp_path / "plain.py"
    source.write_text(textwrap.dedent(PLAIN))
    slave = run(controllers.package(source, tmp_path / "plain.fmu")).start()
    slave.step(0.1)
    slave.step(0.1)
    state = slave.fmu.getFMUstate()
    before, runs = slave.get(["y", "part.level"]), []
    for _ in range(2):
        slave.fmu.setFMUstate(state)
        slave.time = 0.2
        assert slave.get(["y", "part.level"]) == before
        slave.step(0.1)
        slave.step(0.1)
        runs.append(slave.get(["y", "part.level"]))
    assert runs[0] == runs[1] != before
    assert slave.variables["part.level"].unit == "m"
    assert "plain" not in sys.modules
