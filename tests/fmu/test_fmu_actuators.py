"""Actuators in FMUs: inputs, outputs, parameters and terminals."""

import numpy as np
import pytest

import linkwork as lw
from support.unpacked import Unpacked, unpack
from support.zoo import zoo

STOP = 0.5
INPUT = {"grip.input": 1.3}
SEEN = ["A.q", "D.q", "grip.length", "grip.rate", "grip.force"]


@pytest.fixture(scope="module")
def gripped(four_bar) -> lw.Model:
    """On a joint of the tree and on the cut one."""
    mech = lw.Mechanism.from_dict(four_bar.to_dict())
    cut = lw.compile(mech).loop_names[0]
    servo = {"gain": 6.0, "offset": 0.5, "stiffness": 4.0, "damping": 0.2}
    gears = {"A": 1.5, cut: -0.5}
    mech.add_force(lw.Actuator("grip", gears, **servo, input_range=(-1, 1), force_range=(-50, 50)))
    return lw.compile(mech)


@pytest.fixture(scope="module", params=["2.0", "3.0"])
def gripped_fmu(request, gripped, tmp_path_factory) -> Unpacked:
    path = lw.export_fmu(gripped, tmp_path_factory.mktemp("gripped") / "gripped.fmu", fmi=request.param)
    return Unpacked(path, unpack(path), request.param, gripped)


@pytest.mark.parametrize(("kind", "tolerance"), [("ModelExchange", 1e-10), ("CoSimulation", 1e-8)])
def test_runs_through_fmpy(gripped_fmu, gripped, needs, kind, tolerance):
    fmpy = needs("fmpy")
    t = np.linspace(0.0, STOP, 11)
    expected = lw.simulate(gripped, STOP, inputs=INPUT, rtol=1e-12, t_eval=t)
    rows = [(end, INPUT["grip.input"]) for end in (0.0, STOP)]
    result = fmpy.simulate_fmu(
        str(gripped_fmu.path),
        fmi_type=kind,
        stop_time=STOP,
        output_interval=0.05,
        relative_tolerance=tolerance,
        input=np.array(rows, dtype=[("time", float), ("grip.input", float)]),
        output=SEEN,
    )
    free = lw.simulate(gripped, STOP, rtol=1e-12, t_eval=t)
    for name in SEEN:
        assert np.abs(result[name] - expected[name]).max() < 2e-5 * (1.0 + np.abs(expected[name]).max()), name
        assert np.abs(free[name] - expected[name]).max() > 1e-2


def test_parameters_are_tunable(gripped_fmu, gripped):
    """Set while it moves, they have the effect of the same description."""
    changed = {
        "grip.gain": 2.0,
        "grip.stiffness": 0.5,
        "grip.A.gear": -1.0,
        "grip.input_range[2]": 9.0,
        "grip.force_range[1]": 0,
    }
    instance = gripped_fmu.new("ME")
    instance.initialize()
    instance.must("EnterEventMode")
    instance.set([gripped_fmu.reference(name) for name in changed], list(changed.values()))
    instance.set([gripped_fmu.reference("grip.input")], [1.3])
    other = gripped.with_parameters(changed)
    state, n = other.assemble(), other.sizes.nq + other.sizes.nu
    assert instance.derivatives(n) == pytest.approx(list(other.derivatives(state, tau=INPUT)), rel=1e-9)


def test_ports_and_terminal(gripped_fmu):
    kinds = {v.name: v.kind for v in gripped_fmu.system.variables if v.name.startswith("grip.")}
    assert [name for name, kind in kinds.items() if kind == "input"] == ["grip.input"]
    xml = gripped_fmu.folder / "terminalsAndIcons" / "terminalsAndIcons.xml"
    assert xml.exists() == (gripped_fmu.version == "3.0")
    if xml.exists():
        text = xml.read_text("utf-8")
        assert 'terminalKind="org.linkwork.actuator"' in text
        assert all(f'"grip.{what}"' in text for what in ("input", "length", "rate", "force"))
    assert "event" not in "".join(kinds)


def test_all_that_is_tunable_can_be_set_while_it_moves(tmp_path):
    """Each tunable parameter of a mechanism that has something of everything, points of interest included."""
    mech = zoo()
    mech.add_point("spot", "b1", (0.1, 0, 0), axis=(0, 0, 1))
    model = lw.compile(mech)
    path = lw.export_fmu(model, tmp_path / "zoo.fmu")
    fmu = Unpacked(path, unpack(path), "3.0", model)
    instance = fmu.new("ME")
    instance.initialize()
    instance.must("EnterEventMode")
    tunable = [v for v in model.variables if v.tunable]
    assert any(v.name == "grip.j0.gear" for v in tunable)
    refused = [v.name for v in tunable if instance.try_set([fmu.reference(v.name)], [v.start])]
    assert not refused
