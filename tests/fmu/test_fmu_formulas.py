"""Forces by formulas in FMUs: inputs, outputs, and parameters with the units that follow."""

import numpy as np
import pytest

import linkwork as lw
from support.unpacked import Unpacked, unpack

STOP = 0.5
CHANGED = {"spring.k": 2.5, "fan.w": 20.0, "valve.gas[2]": 0.4, "valve.map[1,2]": 0.3, "gap.g": 2.5, "gap.map[2]": -1.0}
SEEN = ["A.q", "D.q", "spring.force", "strap.length", "strap.force", "valve.force", "fan.force[1]", "fan.torque[2]"]
SEEN[-1:-1] = ["gap", "power"]


@pytest.fixture(scope="module")
def driven(four_bar) -> lw.Model:
    """On the cut joint by the speed of another, between points, and at a point by time."""
    mech = lw.Mechanism.from_dict(four_bar.to_dict())
    cut = lw.compile(mech).loop_names[0]
    formula = "-k*q - d*A.u*abs(A.u) + p"
    mech.add_force(lw.Force(cut, formula, parameters={"k": 6.0, "d": 0.1}, inputs=("p",), name="spring"))
    first, second, *_ = mech.bodies
    ends = {"bodies": ("ground", second), "points": ((0.1, 0.2, 0.4), (0.1, 0, 0))}
    mech.add_force(lw.Force(**ends, formula="k*max(length - l, 0)", parameters={"k": 40.0, "l": 0.2}, name="strap"))
    tables = {
        "gas": lw.LookupTable((-3, 0, 3, 6), (1, 2, -1, 1), interpolation="monotone", periodic=True),
        "map": lw.LookupTable((-4, 4), ((0.5, 1), (2, -1)), y=(0, 1), outside="extend"),
    }
    mech.add_force(lw.Force("A", "gas(q) + map(D.q, time)", tables=tables, name="valve"))
    force, torque = ("F*sin(w*time)", "0", "0"), ("0", "c*time", "0")
    given = {"F": 3.0, "w": 9.0, "c": (0.2, "N.m/s")}
    mech.add_force(lw.Force(body=first, force=force, torque=torque, axes="body", parameters=given, name="fan"))
    table = {"map": lw.LookupTable((-3, 3), (1, -2), outside="extend")}
    mech.add_output("gap", "A.q - g*D.q + map(time/s)", parameters={"g": 2.0, "s": 1.0}, tables=table)
    mech.add_output("power", "spring.force*D.u + valve.force*A.u + spring.p*u0", parameters={"u0": 0.1}, unit="W")
    return lw.compile(mech)


@pytest.fixture(scope="module", params=["2.0", "3.0"])
def driven_fmu(request, driven, tmp_path_factory) -> Unpacked:
    path = lw.export_fmu(driven, tmp_path_factory.mktemp("driven") / "driven.fmu", fmi=request.param, sources=True)
    return Unpacked(path, unpack(path), request.param, driven)


@pytest.mark.parametrize(("kind", "tolerance"), [("ModelExchange", 1e-10), ("CoSimulation", 1e-9)])
def test_runs_through_fmpy_with_changed_parameters(driven_fmu, driven, needs, kind, tolerance):
    fmpy = needs("fmpy")
    t = np.linspace(0.0, STOP, 11)
    inputs = {"spring.p": 1.3}
    expected = lw.simulate(driven, STOP, inputs=inputs, parameters=CHANGED, rtol=1e-12, t_eval=t)
    result = fmpy.simulate_fmu(
        str(driven_fmu.path),
        fmi_type=kind,
        stop_time=STOP,
        output_interval=0.05,
        relative_tolerance=tolerance,
        start_values=CHANGED,
        input=np.array([(0.0, 1.3), (STOP, 1.3)], dtype=[("time", float), ("spring.p", float)]),
        output=SEEN,
        record_events=False,
    )
    free = lw.simulate(driven, STOP, inputs=inputs, rtol=1e-12, t_eval=t)
    for name in SEEN:
        assert np.abs(result[name] - expected[name]).max() < 2e-5 * (1.0 + np.abs(expected[name]).max()), name
    for name in SEEN[:-1]:
        assert np.abs(free[name] - expected[name]).max() > 1e-3, name


def test_parameters_have_units_and_are_tunable(driven_fmu, needs):
    fmpy = needs("fmpy")
    found = {v.name: v for v in fmpy.read_model_description(str(driven_fmu.path)).modelVariables}
    units = {"spring.k": "N.m/rad", "strap.k": "N/m", "strap.l": "m", "fan.F": "N", "fan.w": "rad/s", "fan.c": "N.m/s"}
    units |= {f"valve.gas[{k}]": "N.m" for k in (1, 2, 3)} | {"valve.map[2,1]": "N.m"}
    for name, unit in units.items():
        assert (found[name].unit, found[name].variability, found[name].causality) == (unit, "tunable", "parameter")
    assert [(found[name].unit, found[name].causality) for name in ("gap", "power")] == [
        ("rad", "output"),
        ("W", "output"),
    ]
    assert (found["spring.p"].unit, found["spring.p"].causality) == ("N.m", "input")


def test_parameters_set_while_it_moves(driven_fmu, driven):
    instance = driven_fmu.new("ME")
    instance.initialize()
    instance.must("EnterEventMode")
    instance.set([driven_fmu.reference(name) for name in CHANGED], list(CHANGED.values()))
    other = driven.with_parameters(CHANGED)
    n = other.sizes.nq + other.sizes.nu
    assert instance.derivatives(n) == pytest.approx(list(other.derivatives(other.assemble())), rel=1e-9)


@pytest.mark.parametrize("version", ["2.0", "3.0"])
@pytest.mark.parametrize(("kind", "tolerance"), [("ModelExchange", 1e-12), ("CoSimulation", 1e-10)])
def test_a_crossing_of_an_output_through_fmpy(version, kind, tolerance, four_bar, tmp_path, needs):
    """A joint locks where a formula of a loop and the time falls through a value; the importer may change both."""
    fmpy = needs("fmpy")
    mech = lw.Mechanism.from_dict(four_bar.to_dict())
    mech.add_output(
        "gap", "coupler.r[3]*k + l*sin(w*time) + A.u*s", parameters={"k": 2.0, "l": 0.1, "w": 9.0, "s": 0.0}
    )
    free = lw.simulate(mech, STOP, rtol=1e-11)["gap"]
    level = float(np.quantile(free, 0.6))
    mech.add_transition("latch", lw.Lock("A"), when=lw.Crossing("gap", level, direction=0))
    path = lw.export_fmu(mech, tmp_path / "latch.fmu", fmi=version)
    for given in ({}, {"latch.value": level + 0.01, "gap.k": 2.02}):
        expected = lw.simulate(lw.compile(mech), STOP, parameters=given, rtol=1e-12)
        result = fmpy.simulate_fmu(
            str(path),
            fmi_type=kind,
            stop_time=STOP,
            output_interval=0.01,
            relative_tolerance=tolerance,
            start_values=given,
            output=["A.q", "gap", "latch.active", "events"],
        )
        assert len(expected.events) >= 1
        assert (result["events"][-1], result["latch.active"][-1]) == (len(expected.events), True)
        assert result["A.q"][-1] == pytest.approx(expected["A.q"][-1], abs=1e-8)
        assert result["gap"][-1] == pytest.approx(expected["gap"][-1], abs=1e-7)
