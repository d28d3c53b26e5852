"""FMUs with clocks: those whose times the FMU determines are refused, others run without their ticks."""

import pytest

from linkwork.cli.main import main
from linkwork.cosim import Jacobi, System, run
from linkwork.errors import CosimError
from support.sized_fmus import sized

EVENTS = 'hasEventMode="true"'
TRIGGERED = 'causality="input" intervalVariability="triggered"'
OUTPUT = 'causality="output" intervalVariability="triggered"'
PERIODIC = 'causality="input" intervalVariability="constant" intervalDecimal="0.1"'


pytestmark = pytest.mark.usefixtures("fmpy_and_gcc")


def system_of(path) -> System:
    system = System("one")
    system.add("p", path, parameters={"u": (1.0, 1.0)})
    return system


@pytest.mark.parametrize("kind", ["CS", "ME"])
@pytest.mark.parametrize("variability", ["constant", "fixed", "tunable", "calculated", "changing", "countdown"])
def test_clocks_at_times_of_the_fmu_are_refused(kind, variability, tmp_path):
    clock = f'causality="input" intervalVariability="{variability}"'
    path = sized(tmp_path / "sized.fmu", kind, abilities=EVENTS if kind == "CS" else "", clock=clock)
    text = rf"FMU sized.fmu \(instance 'p'\): .* its clock 'tick' at times .*{variability}.*export it without clocks"
    with pytest.raises(CosimError, match=text):
        run(system_of(path), 1.0)


@pytest.mark.parametrize("kind", ["CS", "ME"])
@pytest.mark.parametrize("clock", [TRIGGERED, OUTPUT])
def test_triggered_clocks_never_tick(kind, clock, tmp_path):
    """The rest runs, with a notice; the output of the clock is not read, which the FMU would refuse."""
    path = sized(tmp_path / "sized.fmu", kind, abilities=EVENTS if kind == "CS" else "", clock=clock)
    result = run(system_of(path), 1.0, master=Jacobi(0.25))
    assert result["p.y[2]"][-1] == pytest.approx(3.0)
    assert "p.held" not in result
    assert any("clocks of 'p' are not activated: tick; what belongs to them" in one for one in result.notices)


def test_without_event_mode_no_importer_can_activate_clocks(tmp_path):
    """Such clocks are those of another interface of the FMU."""
    path = sized(tmp_path / "sized.fmu", "CS", "SE", clock=PERIODIC)
    result = run(system_of(path), 1.0, master=Jacobi(0.25))
    assert result["p.y[1]"][-1] == pytest.approx(2.0)
    assert any("clocks of 'p' are not activated: tick" in one for one in result.notices)


def test_scheduled_execution_alone(tmp_path, capsys):
    path = sized(tmp_path / "sized.fmu", "SE", clock=PERIODIC)
    with pytest.raises(CosimError, match=r"is for Scheduled Execution alone.* clocks 'tick'.*export it for Co-Sim"):
        run(system_of(path), 1.0)
    assert main(["run", str(path)]) != 0
    assert "clocks 'tick'" in capsys.readouterr().err


def test_clocks_and_what_belongs_to_them_are_not_connected(tmp_path):
    path = sized(tmp_path / "sized.fmu", abilities=EVENTS, clock=OUTPUT)
    system = system_of(path)
    system.add("q", path, parameters={"u": (1.0, 1.0)})
    system.connect("p.held", "q.u")
    with pytest.raises(CosimError, match=r"'p.held' belongs to the clock 'tick', and clocks are not activated"):
        run(system, 1.0)
    system.connections.clear()
    system.connect("p.tick", "q.u")
    with pytest.raises(CosimError, match=r"'p.tick' is of type Clock, which is not exchanged"):
        run(system, 1.0)
    system.connections.clear()
    with pytest.raises(
        CosimError, match=r"'held' belongs to the clock 'tick', and clocks are not activated: it cannot"
    ):
        run(system, 1.0, parameters={"p.held": 1.0})
    with pytest.raises(CosimError, match="held"):
        run(system, 1.0, columns=["p.held"])
