"""The WebAssembly core and its simulation give the bits of the native ones."""

import importlib
import re

import numpy as np
import pytest

import linkwork as lw
from linkwork.core.native import Stage
from linkwork.errors import LinkworkError
from support import lock_ups
from support.cams import cam_by_formulas
from support.cases import four_bar
from support.checkout import TOP
from support.joint_families import JOINT_FAMILIES
from support.many_pins import ManyPins
from support.random_changes import random_change
from support.random_mechanisms import FAMILIES, well_posed
from support.random_transitions import as_transitions
from support.viewer import Simulator
from support.zoo import zoo

EXAMPLES = sorted(p.stem for p in (TOP / "examples").glob("*.py") if "def mechanism(" in p.read_text(encoding="utf-8"))
MAKERS = {name: make for name, (make, *_) in (FAMILIES | JOINT_FAMILIES).items()}
T_EVAL = np.linspace(0.0, 1.0, 101)


@pytest.fixture(scope="module")
def simulator(tmp_path_factory):
    return Simulator(tmp_path_factory.mktemp("simulator"))


@pytest.fixture
def example(monkeypatch):
    monkeypatch.syspath_prepend(TOP / "examples")
    return lambda name: importlib.import_module(name).mechanism()


def same_bits(ours, native, what):
    """The same doubles; where one is not a number the other need only be none either."""
    ours, native = (np.ascontiguousarray(one, dtype=np.float64).reshape(-1) for one in (ours, native))
    assert ours.shape == native.shape, what
    differ = (ours.view(np.uint64) != native.view(np.uint64)) & ~(np.isnan(ours) & np.isnan(native))
    assert not differ.any(), f"{what}: {differ.sum()} differ, first at {np.flatnonzero(differ)[:5]}"


def native_block(model):
    """All doubles after assembly, those after the outputs, and the event indicators."""
    block = model.block()
    block.put_motion(0.0, np.zeros(model.fields["motion_in"].span.stop - model.fields["motion_in"].span.start))
    block.assemble(1e-8)
    assembled = block.reals.copy()
    block.evaluate(Stage.OUTPUTS)
    return assembled, block.reals.copy(), block.event_indicators()


def check_block(simulator, model):
    ours = simulator(model.model_bytes, block=True)
    assert "error" not in ours, ours["error"]
    for name, native in zip(("assembled", "outputs", "indicators"), native_block(model), strict=True):
        same_bits(ours[name], native, name)


def native_run(model, t_eval, **options):
    """The result of a run, or the error with the part until then."""
    try:
        return lw.simulate(model, 1.0, t_eval=t_eval, **options), None
    except LinkworkError as error:
        return error.result, error


def check_run(simulator, model, t_eval, parameters=None, rtol=1e-8, **inputs):
    changed = model.with_parameters(parameters or {})
    values = values_by_offset(model, parameters or {})
    given = values_by_offset(model, inputs)
    what = {
        "t_end": 1.0,
        "rtol": rtol,
        "t_eval": None if t_eval is None else list(t_eval),
        "inputs": list(given.items()),
    }
    ours = simulator(model.model_bytes, parameters=values, run=what)
    native, error = native_run(changed, t_eval, rtol=rtol, inputs=inputs)
    assert (ours.get("error", {}).get("name") == type(error).__name__) if error else "error" not in ours, ours["error"]
    same_bits(ours["t"], native.t, "times")
    same_bits(ours["y"], native.y, "states")
    same_bits(ours["values"], numbers_of(native), "outputs")
    assert [event["t"] for event in ours["events"]] == [event.t for event in native.events]
    assert [event["transitions"] for event in ours["events"]] == [list(event.transitions) for event in native.events]
    return native, error, ours


def numbers_of(result):
    """All numbers of the block that a result has, by row (nt, numbers)."""
    fields, numbers = result.model.fields, result._numbers
    spans = sorted({(one.span.start, one.span.stop) for one in fields.values() if numbers.has(one.first)})
    return np.concatenate([numbers.of(slice(*span)) for span in spans if span[0] < span[1]], axis=1)


def values_by_offset(model, values):
    """Numbers by offset from values by name."""
    found = {}
    for name, value in values.items():
        column = model.column(name if name in model.columns else f"{name}.tau")
        found |= {column.first + i: float(x) for i, x in enumerate(np.atleast_1d(value))}
    return found


# ---- examples ----


@pytest.mark.parametrize("name", EXAMPLES)
def test_block_of_examples(simulator, example, name):
    check_block(simulator, lw.compile(example(name)))


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.thin(6)
def test_runs_of_examples(simulator, example, name):
    model = lw.compile(example(name))
    check_run(simulator, model, T_EVAL)
    check_run(simulator, model, None)


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.thin(6)
def test_parameters_of_examples(simulator, example, name):
    """A slider of the page gives what `simulate` gives with that parameter."""
    model = lw.compile(example(name))
    body = next(iter(model.mechanism.bodies))
    joint = next(name for name, span in model.numbering.u.items() if span.stop > span.start)
    state = model.assemble()
    parameters = {
        f"{body}.mass": 1.1 * model.value(f"{body}.mass", state) + 0.1,
        f"{body}.com": np.asarray(model.value(f"{body}.com", state)) * 1.05,
        f"{joint}.damping": np.full(np.shape(model.value(f"{joint}.damping", state)), 0.3),
    }
    check_run(simulator, model, T_EVAL, parameters, rtol=1e-6)


@pytest.mark.parametrize("parameter", [0.2, 0.5, 0.8])
def test_start_value(simulator, example, parameter):
    """A start value that differs from that of the description is kept by the assembly."""
    model = lw.compile(example("four_bar"))
    joint = next(iter(model.numbering.q))
    check_run(simulator, model, T_EVAL, {f"{joint}.q_start": parameter})


def test_driving_loads(simulator, example):
    model = lw.compile(example("four_bar"))
    joint = next(iter(model.numbering.u))
    check_run(simulator, model, T_EVAL, **{joint: 0.7})


# ---- others ----


def test_zoo(simulator):
    model = lw.compile(zoo())
    check_block(simulator, model)
    check_run(simulator, model, T_EVAL, rtol=1e-6, **{"push.F": (0.0, 1.0, 2.0), "j1": 0.3, "grip.input": 0.5})


def test_joints_that_stick(simulator):
    mech = four_bar().mechanism
    for number, joint in enumerate(mech.joints):
        mech.add_force(lw.Friction(joint, coulomb=0.04 + 0.01 * number, static=0.08, name=f"f_{joint}"))
    native, *_ = check_run(simulator, lw.compile(mech), T_EVAL)
    assert native.events


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.thin(18, kept=2)
def test_families(simulator, name):
    model = lw.compile(well_posed(MAKERS[name], 1).mechanism)
    check_block(simulator, model)
    check_run(simulator, model, np.linspace(0.0, 1.0, 21), rtol=1e-5)


@pytest.mark.parametrize("method", ["rcr", "embedding", "multipliers", "dca"])
def test_methods(simulator, example, method):
    model = lw.compile(example("five_bar"), method)
    check_block(simulator, model)
    check_run(simulator, model, T_EVAL)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.thin(6)
def test_transitions(simulator, seed):
    """Time events and state events, with all variants of the topology."""
    drawn = as_transitions(random_change(seed))
    drawn.mechanism.start(q=drawn.change.scene.q, u=drawn.change.scene.u)
    model = lw.compile(drawn.mechanism)
    check_block(simulator, model)
    for t_eval in (np.linspace(0.0, 1.0, 51), None):
        check_run(simulator, model, t_eval, rtol=1e-6)


def test_many_pins(simulator):
    """Twelve pins, of which each change compiles the variant that it needs, in the page as here."""
    chain = ManyPins(26, 12)
    times = {f"pin{k}": 0.02 + 0.02 * k for k in range(12)} | {"free3": 0.15, "free8": 0.27}
    mechanism = chain.mechanism(times)
    mechanism.start(q=chain.start(2))
    check_run(simulator, lw.compile(mechanism), np.linspace(0.0, 0.3, 31), rtol=1e-6)


def test_events_at_rows(simulator, example):
    """An event at the time of a row and at the end of the run."""
    mech = example("bouncing_pendulum")
    body = next(iter(mech.bodies))
    for k, t in enumerate((0.25, 1.0)):
        kick = lw.Impulse(body, (0.1, 0, 0), force=(0, 0, 0.2))
        mech.add_transition(f"kick_{k}", kick, when=lw.Time(t))
    model = lw.compile(mech)
    native, *_ = check_run(simulator, model, np.linspace(0.0, 1.0, 21))
    assert {event.t for event in native.events} >= {0.25, 1.0}
    check_run(simulator, model, None)


@pytest.mark.parametrize("chunk", [1, 7])
def test_chunks(simulator, example, chunk):
    """Steps in chunks, with which the page stays responsive, are the same steps."""
    model = lw.compile(example("four_bar"))
    what = {"t_end": 1.0, "rtol": 1e-8, "t_eval": list(T_EVAL), "inputs": []}
    whole, parts = (simulator(model.model_bytes, run=what | one) for one in ({}, {"chunk": chunk}))
    same_bits(parts["values"], whole["values"], "outputs")


def test_samples(simulator, example):
    """Runs that stop at samples, as while a body is dragged, are accurate, and rows are at their times."""
    model = lw.compile(example("four_bar"))
    what = {"t_end": 1.0, "rtol": 1e-9, "t_eval": list(T_EVAL), "inputs": []}
    whole, parts = (simulator(model.model_bytes, run=what | one) for one in ({}, {"every": 1 / 60}))
    same_bits(parts["t"], whole["t"], "times")
    np.testing.assert_allclose(parts["y"], whole["y"], rtol=0, atol=1e-7)


def test_rows_at_events(simulator, example):
    """Rows on both sides of every event, for those who draw; the rows at given times stay as they are."""
    model = lw.compile(example("bouncing_pendulum"))
    what = {"t_end": 1.0, "rtol": 1e-8, "t_eval": list(T_EVAL), "inputs": []}
    plain, more = (simulator(model.model_bytes, run=what | one) for one in ({}, {"eventRows": True}))
    t = more["t"]
    assert (np.diff(t) >= 0).all()
    for event in more["events"]:
        assert np.count_nonzero(t == event["t"]) >= 2
    y = more["y"].reshape(len(t), -1)
    kept = [np.flatnonzero(t == time)[0] for time in T_EVAL]
    same_bits(y[kept], plain["y"], "states")


# ---- errors ----


def test_error_of_assembly(simulator, example):
    model = lw.compile(example("four_bar"))
    body = next(iter(model.mechanism.bodies))
    joint = next(name for name, one in model.mechanism.joints.items() if body in (one.parent, one.child))
    parameters = {f"{joint}.child_frame.position": (30.0, 0.0, 0.0)}
    ours = simulator(model.model_bytes, parameters=values_by_offset(model, parameters), block=True)
    with pytest.raises(lw.AssemblyError) as error:
        model.with_parameters(parameters).assemble()
    assert ours["error"]["name"] == "AssemblyError"
    assert str(error.value).startswith(ours["error"]["message"])


def test_error_of_a_parameter(simulator, example):
    model = lw.compile(example("four_bar"))
    body = next(iter(model.mechanism.bodies))
    offset = model.column(f"{body}.mass").first
    ours = simulator(model.model_bytes, parameters={offset: -1.0}, block=True)
    with pytest.raises(LinkworkError) as error:
        model.with_parameters({f"{body}.mass": -1.0}).assemble()
    assert ours["error"] == {"name": type(error.value).__name__, "message": str(error.value)}


def test_error_of_a_model(simulator, example):
    damaged = bytearray(lw.compile(example("four_bar")).model_bytes)
    damaged[100] ^= 1
    with pytest.raises(AssertionError, match="checksum"):
        simulator(bytes(damaged))


def test_sizes_and_version(simulator, example):
    model = lw.compile(example("four_bar"))
    ours = simulator(model.model_bytes)
    assert ours["version"] == lw.__version__
    assert ours["sizes"] == {name: getattr(model.sizes, name) for name in dir(model.sizes)}


# ---- runs that end before their time ----


def ended(simulator, model, t_end=2.0):
    """Both messages of a run that fails."""
    what = {"t_end": t_end, "rtol": 1e-8, "t_eval": None, "inputs": []}
    ours = simulator(model.model_bytes, run=what)
    with pytest.raises(lw.SolverError) as error:
        lw.simulate(model, t_end)
    assert ours["error"]["name"] == "SolverError"
    same_bits(ours["y"], error.value.result.y, "states")
    return ours["error"]["message"], str(error.value)


@pytest.mark.slow  # there are as many events as a run may have
def test_chattering(simulator):
    """A ball between two walls that nearly touch it."""
    mech = lw.Mechanism("ball")
    mech.add_body("ball", mass=1.0, com=(0, 0, 0), inertia=lw.inertia.sphere(1.0, 0.1))
    mech.add_joint("S", lw.Prismatic((0, 0, 1)), "ground", "ball", at=(0, 0, 0))
    mech.add_transition("walls", lw.Stop("S", lower=0.0, upper=1e-9, restitution=0.999999))
    mech.start(q={"S": 5e-10}, u={"S": 1.0})
    ours, native = (
        re.sub(r"indicator \d", "indicator", text) for text in ended(simulator, lw.compile(mech), t_end=1.2e-4)
    )
    assert ours == native  # but for the wall: that of the event which is refused, and of the one before


def test_lock_up(simulator):
    """A rocker that is driven beyond its range."""
    ours, native = ended(simulator, lw.compile(lock_ups.four_bar().driven_at(1.0)))
    assert ours.partition("The mechanism locks up")[:2] == native.partition("The mechanism locks up")[:2]
    times = [float(re.search(r"reached at t = (\S+) s", text)[1]) for text in (ours, native)]
    assert times[0] == pytest.approx(times[1], rel=1e-8)


# ---- couplings by formulas ----


@pytest.mark.parametrize("method", ["rcr", "multipliers"])
def test_couplings_by_formulas(simulator, method):
    """With another value of the table."""
    model = lw.compile(cam_by_formulas(), method)
    check_block(simulator, model)
    check_run(simulator, model, T_EVAL, {"lifts.lift[3]": 0.06})
