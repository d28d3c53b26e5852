"""Built-in controllers in the loop of a simulation give the numbers of their FMUs."""

import numpy as np
import pytest

import linkwork as lw
from linkwork import controllers
from linkwork.cosim import System
from linkwork.cosim import run as run_system
from linkwork.cosim.masters import Jacobi
from linkwork.errors import FmuError
from support.small import pendulum

SAMPLE = 1e-3


def both(tmp_path, design, inputs, outputs, wires, end=0.3, mech=None, **settings):
    """The arm with a controller in this process, and both as FMUs at 1 kHz: results by variable of the plant."""
    mech = mech or pendulum()
    loop = controllers.connect(design.controller(sample_time=SAMPLE, **settings), inputs=inputs, outputs=outputs)
    t = np.arange(301) * SAMPLE
    here = lw.simulate(mech, end, controller=loop, rtol=1e-11, t_eval=t[t <= end])
    system = System("loop")
    system.add("plant", lw.export_fmu(mech, tmp_path / "plant.fmu"))
    system.add("law", design(tmp_path / "law.fmu", sample_time=SAMPLE, **settings))
    for source, target in wires:
        system.connect(source, target)
    fixed = {f"law.{name}": value for name, value in inputs.items() if isinstance(value, float)}
    there = run_system(system, end, master=Jacobi(SAMPLE), inputs=fixed, tolerance=1e-11)
    return here, there


def test_pid(tmp_path):
    settings = {"kp": 30.0, "ki": 50.0, "kd": 2.0, "filter_time": 0.005, "u_min": -9.0, "u_max": 9.0}
    wires = [("plant.A.q", "law.measurement"), ("law.u", "plant.A.tau")]
    inputs, outputs = {"setpoint": 0.4, "measurement": "A.q"}, {"A": "u"}
    here, there = both(tmp_path, controllers.pid, inputs, outputs, wires, **settings)
    samples = there["law.u"][:300]
    assert here["A.tau"][:300] == pytest.approx(samples, abs=1e-9)
    assert here["A.q"] == pytest.approx(there["plant.A.q"], abs=1e-11)
    assert np.ptp(samples) > 5.0
    assert np.abs(samples).max() == 9.0  # at its limits, too


def test_a_formula_is_measured(tmp_path):
    """An output by a formula of another one, of a pose and of a table."""
    mech = pendulum()
    mech.add_output("twice", "2*A.q")
    bend = lw.LookupTable((-2, 0, 2), (-1, 0, 3), interpolation="monotone")
    mech.add_output("seen", "bend(twice) + c*rod.r[3]", parameters={"c": 0.1}, tables={"bend": bend})
    wires = [("plant.seen", "law.measurement"), ("law.u", "plant.A.tau")]
    inputs, outputs = {"setpoint": 0.4, "measurement": "seen"}, {"A": "u"}
    here, there = both(tmp_path, controllers.pid, inputs, outputs, wires, mech=mech, kp=30.0, ki=20.0, kd=1.0)
    assert here["A.tau"][:300] == pytest.approx(there["law.u"][:300], abs=1e-9)
    assert here["seen"] == pytest.approx(there["plant.seen"], abs=1e-10)
    assert np.ptp(here["seen"]) > 0.1


@pytest.mark.parametrize(("formula", "read"), [("A.q*A.u", True), ("A.f[1]", False), ("2*pull", False)])
def test_formulas_of_loads_are_no_inputs(formula, read):
    mech = pendulum()
    mech.add_output("pull", "A.a*p", parameters={"p": 1.0})
    mech.add_output("seen", formula)
    loop = controllers.connect(
        controllers.pid.controller(kp=1.0, sample_time=SAMPLE), {"measurement": "seen"}, {"A": "u"}
    )
    if read:
        lw.simulate(mech, 0.01, controller=loop)
    else:
        with pytest.raises(lw.MechanismError, match="'seen' follows from the loads"):
            lw.simulate(mech, 0.01, controller=loop)


def test_a_formula_in_place_of_a_variable():
    loop = controllers.connect(
        controllers.pid.controller(kp=1.0, sample_time=SAMPLE), {"measurement": "2*A.q"}, {"A": "u"}
    )
    with pytest.raises(lw.MechanismError, match=r"input 'measurement' of \w+: .*'2\*A.q'.*add_output"):
        lw.simulate(pendulum(), 0.01, controller=loop)


def test_computed_torque(tmp_path):
    class Design:
        def controller(self, **settings):
            return controllers.computed_torque.controller(pendulum(), ["A"], **settings)

        def __call__(self, path, **settings):
            return controllers.computed_torque(path, pendulum(), ["A"], **settings)

    inputs = {"A.q_d": 0.3}
    wires = [("plant.A.q", "law.A.q"), ("plant.A.u", "law.A.u"), ("law.A.tau", "plant.A.tau")]
    here, there = both(tmp_path, Design(), inputs, None, wires, kp=200.0, kd=25.0)
    assert here["A.tau"][:300] == pytest.approx(there["law.A.tau"][:300], abs=1e-8)
    assert here["A.q"] == pytest.approx(there["plant.A.q"], abs=1e-11)


def test_a_latch_supervisor_commands_a_transition():
    mech = pendulum(damping=0.3)
    mech.add_transition("latch", lw.Lock("A"), when=lw.Command())
    law = controllers.latch_supervisor.controller({"latch": "A"}, window=2.0, max_speed=0.5, hold_time=0.05)
    law.sample_time = 0.01
    mech.start(q={"A": 1.2})
    result = lw.simulate(mech, 20.0, controller=controllers.connect(law))
    (event,) = result.events
    assert event.transitions == ("latch",)
    assert abs(event.u_before[0]) <= 0.5


def test_sources_and_functions_as_inputs():
    """A table over time drives the set point of a continuous state feedback."""
    linear = lw.linearize(pendulum(damping=0.1))
    feedback = controllers.state_feedback.controller(linear, [100.0, 1.0], 0.1)
    result = lw.simulate(pendulum(damping=0.1), 5.0, controller=controllers.connect(feedback))
    K = controllers.gain(linear, [100.0, 1.0], 0.1)[0]
    wished = linear.u[0] - K @ (np.array([result["A.q"], result["A.u"]]) - linear.x[:, None])
    offset = result["A.tau"] - wished
    assert np.ptp(offset) < 1e-12  # the load that holds the operating point


def test_it_starts_anew_with_every_run():
    law = controllers.pid.controller(kp=3.0, ki=8.0, sample_time=0.01)
    loop = controllers.connect(law, {"setpoint": lambda t: 0.1, "measurement": "A.q"}, {"A": "u"})
    first, second = (lw.simulate(pendulum(), 0.5, controller=loop) for _ in range(2))
    assert np.array_equal(first.y, second.y)


def test_what_is_refused():
    law = controllers.pid.controller(kp=3.0, sample_time=0.01)
    with pytest.raises(FmuError, match="Pid has no input 'mesurement': did you mean 'measurement'"):
        controllers.connect(law, {"mesurement": "A.q"}, {"A": "u"})
    with pytest.raises(FmuError, match="Pid has no output 'y'"):
        controllers.connect(law, {"measurement": "A.q"}, {"A": "y"})
    with pytest.raises(FmuError, match="needs a sample_time"):
        controllers.connect(controllers.pid.controller(kp=3.0), {"measurement": "A.q"}, {"A": "u"})
    with pytest.raises(FmuError, match="Pid has no setting 'kP'"):
        controllers.pid.controller(kP=3.0)
    with pytest.raises(FmuError, match="connect takes a controller"):
        controllers.connect("pid")
    with pytest.raises(lw.MechanismError, match=r"there is no variable 'B\.q'"):
        lw.simulate(pendulum(), 0.1, controller=controllers.connect(law, {"measurement": "B.q"}, {"A": "u"}))
    bad = controllers.pid.controller(kp=1.0, kd=1.0, filter_time=-1.0, sample_time=0.01)
    with pytest.raises(ValueError, match="filter_time"):
        lw.simulate(pendulum(), 0.1, controller=controllers.connect(bad, {"measurement": "A.q"}, {"A": "u"}))
