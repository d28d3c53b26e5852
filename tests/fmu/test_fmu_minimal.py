"""FMUs whose continuous states are independent coordinates and speeds alone."""

import re
from ctypes import c_double

import numpy as np
import pytest

import linkwork as lw
from linkwork.model.independent_coordinates import choose_independent_coordinates
from support.fmi_calls import DISCARD, OK
from support.minimal import minimal_of
from support.unpacked import Unpacked, unpack

CLOSED = 1e-12  # m


def crank_slider() -> lw.Mechanism:
    """A crank with a rod of its own length, whose other end slides: q(slider) = 2 cos q(crank), which ends at 2."""
    mech = lw.Mechanism("crank_slider")
    for name in ("crank", "rod"):
        mech.add_body(name, mass=1.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(1.0, 1.0))
    mech.add_body("block", mass=1.0, com=(0, 0, 0), inertia=np.eye(3))
    hinge = lw.Revolute((0, 1, 0))
    mech.add_joint("slide", lw.Prismatic((1, 0, 0)), "ground", "block", parent_frame=lw.Frame())
    mech.add_joint("crank", hinge, "ground", "crank", parent_frame=lw.Frame())
    mech.add_joint("elbow", hinge, "crank", "rod", parent_frame=lw.Frame((1, 0, 0)))
    mech.add_joint("pin", hinge, "rod", "block", parent_frame=lw.Frame((1, 0, 0)), cut=True)
    mech.start(q={"slide": 1.2, "crank": -0.9, "elbow": 1.8}, u={"slide": 0.4})
    return mech


@pytest.fixture(scope="module")
def minimal(four_bar, tmp_path_factory):
    """FMUs of the four-bar in A.q and A.u, and those of the crank and slider in the slider's."""
    folder = tmp_path_factory.mktemp("minimal")
    made = []

    def export(mech: lw.Mechanism, version: str, states: str = "minimal", wanted=None) -> Unpacked:
        system = lw.compile(mech)
        name = f"{mech.name}_{version[0]}_{states}.fmu"
        path = lw.export_fmu(system, folder / name, version, states=states, independents=wanted)
        made.append(Unpacked(path, unpack(path), version, system))
        return made[-1]

    fmus = {(mech.name, version): export(mech, version) for mech in (four_bar,) for version in ("2.0", "3.0")}
    for version in ("2.0", "3.0"):
        fmus["crank_slider", version] = export(crank_slider(), version, wanted=["slide"])
        fmus["full", version] = export(four_bar, version, "full")
    yield lambda *key: fmus[key]
    for fmu in made:
        for instance in fmu.instances:
            instance.free()


@pytest.fixture(params=["2.0", "3.0"])
def bars(request, minimal) -> Unpacked:
    return minimal("four_bar", request.param)


def size(fmu: Unpacked) -> int:
    chosen = choose_independent_coordinates(fmu.system)
    return len(chosen.q) + len(chosen.u)


def started(fmu: Unpacked):
    instance = fmu.new("ME")
    instance.initialize()
    return instance


def residuals(fmu: Unpacked) -> list[int]:
    return [at for name, at in fmu.reference_of.items() if name.startswith("loop.") and name.endswith("residual")]


def nearby(fmu: Unpacked, instance, count: int, scale: float = 0.1):
    x, rng = np.array(instance.array("GetContinuousStates", size(fmu))), np.random.default_rng(7)
    return [x + rng.normal(scale=scale, size=x.size) for _ in range(count)]


def test_a_four_bar_has_two_states(bars, needs):
    fmpy = needs("fmpy")
    model = fmpy.read_model_description(str(bars.path))
    assert model.numberOfContinuousStates == 2
    assert [u.variable.name for u in model.derivatives] == ["der(A.q)", "der(A.u)"]
    instance = started(bars)
    assert instance.try_array("GetContinuousStates", 2)[0] == OK
    assert instance.try_array("GetContinuousStates", 8)[0] != OK
    state = bars.system.assemble()
    assert instance.array("GetContinuousStates", 2) == [state["A.q"], state["A.u"]]
    assert instance.array("GetNominalsOfContinuousStates", 2) == [1.0, 1.0]


def test_loops_are_closed_at_every_state(bars):
    instance = started(bars)
    names = [*bars.system.q_names, *bars.system.u_names]
    references = [bars.reference(name) for name in names]
    assert residuals(bars)
    for x in nearby(bars, instance, 20, 0.4):
        assert instance.set_states(x) == OK
        assert max(instance.get(residuals(bars))) < CLOSED
        values = dict(zip(names, instance.get(references), strict=True))
        assert [values["A.q"], values["A.u"]] == list(x)


def test_derivatives_are_pythons_bit_for_bit(bars):
    instance = started(bars)
    block, python, _, _ = minimal_of(bars.system, bars.system.assemble())
    torque, rng = bars.reference("A.tau"), np.random.default_rng(8)
    for x in nearby(bars, instance, 20, 0.2):
        tau = rng.normal()
        instance.set([torque], [tau])
        assert instance.set_states(x) == OK
        block.put("tau", np.array([tau, 0.0, 0.0, 0.0]))  # A comes first
        python.put(x)
        assert instance.derivatives(2) == list(python.derivatives())


def columns(instance, unknowns, knowns):
    return np.array([instance.directional(unknowns, [known], [1.0]) for known in knowns]).T


@pytest.mark.parametrize("name", ["four_bar", "crank_slider"])
@pytest.mark.parametrize("version", ["2.0", "3.0"])
def test_partial_derivatives_are_those_of_the_linear_model(minimal, name, version):
    fmu = minimal(name, version)
    system, instance = fmu.system, started(fmu)
    wanted = {"four_bar": "A", "crank_slider": "slide"}[name]
    body = next(iter(system.mechanism.bodies))
    outputs = ["energy", f"{body}.r", f"{body}.v", *(f"{joint}.a" for joint in system.mechanism.joints)]
    model = system.linearize(independents=[wanted], outputs=outputs)
    states, inputs, there = ([fmu.reference(n) for n in names] for names in (model.states, model.inputs, model.outputs))
    rates = [fmu.reference(f"der({n})") for n in model.states]
    assert np.allclose(instance.array("GetContinuousStates", 2), model.x, rtol=1e-14, atol=1e-14)
    for unknowns, knowns, expected in (
        (rates, states, model.A),
        (rates, inputs, model.B),
        (there, states, model.C),
        (there, inputs, model.D),
    ):
        found = columns(instance, unknowns, knowns)
        assert found.shape == expected.shape
        assert np.abs(found - expected).max() < 1e-12 * (1 + np.abs(expected).max())


def test_the_adjoint_is_the_transpose(minimal):
    fmu = minimal("four_bar", "3.0")
    instance, rng = started(fmu), np.random.default_rng(9)
    unknowns = [*fmu.references("output"), *(fmu.reference(f"der(A.{q})") for q in "qu")]
    knowns = [fmu.reference("A.q"), fmu.reference("A.u"), *fmu.references("input")]
    v, w = rng.normal(size=len(knowns)), rng.normal(size=len(unknowns))
    forward = w @ instance.directional(unknowns, knowns, list(v))
    backward = v @ instance.product("GetAdjointDerivative", unknowns, knowns, list(w))
    assert abs(forward - backward) < 1e-13 * np.abs(w * instance.directional(unknowns, knowns, list(v))).sum()


def test_a_dependent_state_is_no_known(bars):
    instance = started(bars)
    with pytest.raises(AssertionError):
        instance.directional([bars.reference("der(A.u)")], [bars.reference("B.q")], [1.0])


@pytest.mark.parametrize("order", ["time states input", "states input time", "input time states", "states time input"])
def test_calls_come_in_any_order(bars, order):
    """States that were set wait for time, inputs and parameters."""
    instance, other = started(bars), started(bars)
    torque, (x,) = bars.reference("A.tau"), nearby(bars, instance, 1)
    everything = bars.references("state", "derivative", "output", "input")
    calls = {
        "time": lambda i: i.must("SetTime", c_double(0.3)),
        "states": lambda i: i.set_states(x),
        "input": lambda i: i.set([torque], [0.7]),
    }
    for name in order.split():
        calls[name](instance)
    for name in ("time", "input", "states"):
        calls[name](other)
    assert instance.get(everything) == other.get(everything)
    assert instance.array("GetContinuousStates", 2) == list(x)


def test_states_that_were_set_are_saved(bars):
    instance, other = started(bars), started(bars)
    everything = bars.references("state", "derivative", "output")
    (x, elsewhere) = nearby(bars, instance, 2)
    for settled in (False, True):
        instance.set_states(x)
        if settled:
            instance.get(everything)
        saved = instance.save()
        data = instance.to_bytes(saved)
        expected = instance.get(everything)
        instance.set_states(elsewhere)
        instance.get(everything)
        instance.restore(saved)
        assert instance.array("GetContinuousStates", 2) == list(x)
        assert instance.get(everything) == expected
        status, copy = other.from_bytes(data)
        assert status == OK
        other.restore(copy)
        assert other.get(everything) == expected
        again = other.save()
        other.drop(again)
        other.drop(copy)
        instance.drop(saved)


@pytest.mark.parametrize("version", ["2.0", "3.0"])
def test_beyond_the_reachable_range_is_a_discard(minimal, version):
    fmu = minimal("crank_slider", version)
    instance = started(fmu)
    everything = fmu.references("state", "derivative", "output")
    good = instance.array("GetContinuousStates", 2)
    before = instance.get(everything)
    name = "GetDerivatives" if version == "2.0" else "GetContinuousStateDerivatives"
    assert instance.set_states([2.1, 0.0]) == OK  # nothing is found out before something is asked for
    for _ in range(2):
        status, _ = instance.try_array(name, 2)
        assert status == DISCARD
        assert instance.last
    assert instance.try_get([fmu.reference("crank.q")])[0] == DISCARD
    assert instance.set_states(good) == OK
    assert instance.get(everything) == pytest.approx(before, rel=1e-11, abs=1e-11)
    assert instance.try_array(name, 2)[0] == OK


@pytest.mark.parametrize("version", ["2.0", "3.0"])
def test_co_simulation_is_that_of_full_states(minimal, version):
    results = []
    for fmu in (minimal("four_bar", version), minimal("full", version)):
        instance, time = fmu.new("CS"), 0.0
        instance.initialize(tolerance=1e-8)
        for length in (0.3, 0.01, 0.25):
            time = instance.step(time, length)
        instance.set([fmu.reference("A.tau")], [0.5])
        instance.step(time, 0.1)
        names = [v.name for v in fmu.system.variables if v.kind in ("state", "output")]
        results.append(
            [*instance.get([fmu.reference(name) for name in names]), *instance.rates([fmu.reference("coupler.r[1]")])]
        )
    assert results[0] == results[1]


@pytest.mark.parametrize("kind", ["ModelExchange", "CoSimulation"])
def test_fmpy(bars, needs, kind):
    fmpy = needs("fmpy")
    names = ["A.q", "B.q", "C.q", "D.q", "A.u"]
    options = {"stop_time": 1.0, "output_interval": 0.1, "output": names}
    result = fmpy.simulate_fmu(str(bars.path), fmi_type=kind, relative_tolerance=1e-9, **options)
    exact = lw.simulate(bars.system, t_end=1.0, solver="DOP853", rtol=1e-12, t_eval=result["time"])
    for name in names:
        assert np.abs(result[name] - exact[name]).max() < 1e-6


def rod_between(second: lw.Spherical | lw.Universal) -> lw.Mechanism:
    """A crank, a rod and a rocker in space; the rod is in a ball on the crank, and in another joint on the rocker."""
    mech = lw.Mechanism("rod_between")
    ends = np.array([[0.0, 0.0, 0.2], [0.6, 0.3, 0.4]])
    bodies = {"crank": (np.zeros(3), ends[0]), "rod": ends, "rocker": (np.array([0.6, 0.3, 0.0]), ends[1])}
    for name, (start, end) in bodies.items():
        middle = (end - start) / 2
        # thick enough for a full model that turns about the rod's line
        mech.add_body(name, mass=1.0, com=tuple(middle), inertia=0.02 * np.eye(3), origin=tuple(start))
    mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "crank", at=(0, 0, 0))
    mech.add_joint("B", lw.Spherical(), "crank", "rod", at=tuple(ends[0]))
    mech.add_joint("D", lw.Revolute((1, 0, 0)), "ground", "rocker", at=(0.6, 0.3, 0))
    mech.add_joint("C", second, "rod", "rocker", at=tuple(ends[1]))
    mech.start(u={"A": 1.0})
    return mech


@pytest.mark.parametrize("version", ["2.0", "3.0"])
def test_a_rod_between_balls_is_refused_and_with_a_universal_joint_is_not(version, tmp_path, needs):
    """Its turn about its line is one independent speed of a quaternion; nothing is written."""
    fmpy = needs("fmpy")
    path = tmp_path / "a.fmu"
    text = "joint '[BC]' turn by a quaternion, .*use states=\"full\", or take fewer axes .*a Universal at one end"
    for wanted in (None, ["A"]):
        with pytest.raises(lw.LinkworkError) as refusal:
            lw.export_fmu(rod_between(lw.Spherical()), path, version, states="minimal", independents=wanted)
        assert re.search(text if wanted is None else "2 degrees of freedom", str(refusal.value)), refusal.value
        assert not path.exists()
    mech = rod_between(lw.Universal((1, 0, 0), (0, 0, 1)))
    options = {"fmi_type": "ModelExchange", "stop_time": 0.2, "output_interval": 0.1, "relative_tolerance": 1e-9}
    runs = []
    for states in ("minimal", "full"):
        lw.export_fmu(mech, tmp_path / f"{states}.fmu", version, ["A.q", "D.q"], states=states, reference=False)
        runs.append(fmpy.simulate_fmu(str(tmp_path / f"{states}.fmu"), record_events=False, **options))
    assert fmpy.read_model_description(str(tmp_path / "minimal.fmu")).numberOfContinuousStates == 2
    assert runs[0]["D.q"] == pytest.approx(np.asarray(runs[1]["D.q"]), abs=1e-5)
    assert np.ptp(runs[0]["D.q"]) > 0.05
