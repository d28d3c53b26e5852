"""Runs by compiled tapes: the bits of the kernels, step by step."""

import threading

import numpy as np
import pytest

import linkwork as lw
from linkwork.core import tapes
from linkwork.core.native import Stage, offsets_of
from support.cases import four_bar
from support.checkout import beside
from support.compilers import wrong_compiler
from support.random_mechanisms import FAMILIES, tower_of_four_bars, tree_or_loop, well_posed
from support.zoo import zoo

SOONER = 150  # evaluations by kernels before a state is recorded


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("LINKWORK_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def sooner(monkeypatch):
    """Let runs be recorded after few evaluations, and use their functions however long these take."""
    monkeypatch.setattr(tapes, "_EVALUATIONS_BEFORE", SOONER)
    monkeypatch.setattr(tapes.Rates, "pays", lambda rates, block: rates.function is not None)


def compiled_run(model, t_end, start=None, *, runs=6, **options):
    """The run of a model that has tapes, of which all are compiled, and how often the kernels gave rates in it."""
    for _ in range(runs):
        lw.simulate(model, t_end, start, **options)
        assert model.rates_of_runs.wait() == ""
    return lw.simulate(model, t_end, start, **options)


def assert_same(found, expected):
    assert np.array_equal(found.t, expected.t)
    assert np.array_equal(found.y, expected.y)
    assert found.statistics == expected.statistics
    assert [event.t for event in found.events] == [event.t for event in expected.events]


def by_kernels(model, t_end, start, **options):
    """How often the kernels give rates in a run."""
    from linkwork.simulation import run

    blocks = []
    made = run.Run._started

    def started(self, state):
        blocks.append(self.block)
        return made(self, state)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run.Run, "_started", started)
        lw.simulate(model, t_end, start, **options)
    return blocks[-1].rates_by_kernels


# ---- bits ----


@pytest.mark.parametrize("name", list(FAMILIES)[::2])
def test_families(name, sooner):
    mech = tree_or_loop(name).mechanism
    expected = lw.simulate(lw.compile(mech), 0.3, max_steps=2000)
    found = compiled_run(lw.compile(mech), 0.3, max_steps=2000, runs=2)
    assert_same(found, expected)


def test_most_rates_are_given_by_tapes(sooner):
    model = lw.compile(four_bar().mechanism)
    start = model.assemble(q={"A": 0.3}, u={"A": 3.0})
    expected = lw.simulate(lw.compile(four_bar().mechanism), 10.0, start)
    assert_same(compiled_run(model, 10.0, start), expected)
    assert all(tape.compiled for tape in model.rates_of_runs.tapes.recorded)
    assert by_kernels(model, 10.0, start) < expected.statistics.evaluations // 20


def test_a_robot(sooner):
    mech = lw.load(beside("models/as_mechanisms/robotiq_2f85.json"))
    expected = lw.simulate(lw.compile(mech), 0.5)
    assert_same(compiled_run(lw.compile(mech), 0.5), expected)


@pytest.mark.slow
def test_tapes_are_of_states_that_are_frequent(sooner):
    """A robot that swings widely needs many tapes; where one of them counts, the kernels have nothing to do."""
    model = lw.compile(lw.load(beside("models/as_mechanisms/robotiq_2f85.json")))
    joints = [name for name, joint in model.mechanism.joints.items() if joint.kind.nu == 1]
    options = {"inputs": {name: 0.1 for name in joints if name in model.numbering.inputs}, "rtol": 1e-6}
    for _ in range(40):
        result = lw.simulate(model, 0.5, **options)
        assert model.rates_of_runs.wait() == ""
    assert len(model.rates_of_runs.tapes.recorded) > 4
    assert by_kernels(model, 0.5, None, **options) < result.statistics.evaluations // 10


def tapes_needed(model, result):
    """How many tapes serve all rows of a run."""
    served, block = model.rates_of_runs, model.block()
    model.enter(block, result.state(0))
    tapes = served.tapes
    given = block.reals[served._given].copy()
    moves = [np.flatnonzero(served._given == offset)[0] for offset in offsets_of(model.fields["q"].span)]
    moves += [np.flatnonzero(served._given == offset)[0] for offset in offsets_of(model.fields["u"].span)]
    for y in result.y[:: max(1, len(result.t) // 200)]:
        given[moves] = y[: len(moves)]
        if tapes.number_at(block, given) is None:
            tapes.record(block, given)
    return len(tapes.recorded)


def test_equal_loops_do_not_decide_which_is_nearer_to_singular():
    """Both fingers of a gripper are alike, but for rounding."""
    model = lw.compile(lw.load(beside("models/as_mechanisms/robotiq_2f85.json")))
    result = lw.simulate(model, 0.2, model.assemble())
    assert tapes_needed(model, result) <= 4


def test_a_state_that_has_a_tape_is_not_recorded_again():
    """At the start of a run its block has no constants yet."""
    model = lw.compile(four_bar().mechanism)
    start = model.assemble(q={"A": 0.3})
    for _ in range(2):
        block = model.block()
        model.enter(block, start)
        model.rates_of_runs.record(block)
    assert len(model.rates_of_runs.tapes.recorded) == 1


def test_output_times_and_revolutions_of_cut_joints(sooner):
    model = lw.compile(four_bar().mechanism)
    start = model.assemble(q={"A": 0.3}, u={"A": 12.0})
    times = np.linspace(0.0, 5.0, 300)
    expected = lw.simulate(lw.compile(four_bar().mechanism), 5.0, start, t_eval=times)
    found = compiled_run(model, 5.0, start, t_eval=times)
    assert_same(found, expected)
    assert np.array_equal(found["D.q"], expected["D.q"])


def test_laws_and_samples(sooner):
    def law(t, state):
        return {"A": 0.5 * np.sin(3 * t) - 0.1 * state["A.u"]}

    model = lw.compile(four_bar().mechanism)
    start = model.assemble(q={"A": 0.3}, u={"A": 3.0})
    for options in ({"controller": law}, {"controller": law, "sample_time": 0.05}):
        expected = lw.simulate(lw.compile(four_bar().mechanism), 2.0, start, **options)
        assert_same(compiled_run(model, 2.0, start, **options), expected)


def stop_and_latch():
    """A swinging four-bar with a stop, whose crank is locked in the end."""
    mech = four_bar().mechanism
    mech.add_transition("stop", lw.Stop("A", lower=-0.5, upper=1.2, restitution=0.4))
    mech.add_transition("latch", lw.Lock("A"), when=lw.Time(1.5))
    return mech


def test_events(sooner):
    model = lw.compile(stop_and_latch())
    start = model.assemble(q={"A": 0.3}, u={"A": 2.0})
    expected = lw.simulate(lw.compile(stop_and_latch()), 2.0, start)
    assert expected.events
    assert_same(compiled_run(model, 2.0, start), expected)


def pin_and_release():
    """A double pendulum that is pinned to the ground, by which it becomes a loop, and let go."""
    mech = lw.Mechanism("catch")
    for name, parent, place in (("upper", "ground", (0, 0, 0)), ("lower", "upper", (1.0, 0, 0))):
        mech.add_body(name, mass=1.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(1.0, 1.0))
        mech.add_joint(name.upper(), lw.Revolute((0, 1, 0)), parent, name, at=place)
    mech.add_transition(
        "catch", lw.Pin("lower", "ground", lw.Revolute((0, 1, 0)), lw.Frame((0.9, 0, 0))), when=lw.Time(0.4)
    )
    mech.add_transition("let go", lw.Release("catch"), when=lw.Time(1.2))
    return mech


def test_pins_and_releases(sooner):
    expected = lw.simulate(lw.compile(pin_and_release()), 2.0)
    model = lw.compile(pin_and_release())
    assert_same(compiled_run(model, 2.0), expected)
    assert len(model.rates_of_runs.tapes.recorded) > 1


def test_all_forces(sooner):
    """Of a mechanism with all forces but friction, which decides before each evaluation whether it sticks."""
    expected = lw.simulate(lw.compile(zoo(friction=False)), 0.3)
    model = lw.compile(zoo(friction=False))
    assert_same(compiled_run(model, 0.3), expected)
    assert model.rates_of_runs.tapes.recorded


def test_friction_is_left_to_the_kernels(sooner):
    expected = lw.simulate(lw.compile(zoo()), 0.1)
    model = lw.compile(zoo())
    assert_same(compiled_run(model, 0.1), expected)
    assert not model.rates_of_runs.tapes.recorded


def test_methods_in_python(sooner):
    model = lw.compile(four_bar().mechanism)
    start = model.assemble(q={"A": 0.3}, u={"A": 3.0})
    expected = lw.simulate(lw.compile(four_bar().mechanism), 2.0, start, solver="DOP853")
    assert_same(compiled_run(model, 2.0, start, solver="DOP853"), expected)


def test_models_with_other_parameters_share_tapes(sooner):
    model = lw.compile(four_bar().mechanism)
    start = model.assemble(q={"A": 0.3}, u={"A": 3.0})
    compiled_run(model, 5.0, start)
    heavy = model.with_parameters({"coupler.mass": 7.5, "gravity": (0.0, 1.0, -9.0)})
    begun = heavy.assemble(q={"A": 0.3}, u={"A": 3.0})
    other = lw.compile(four_bar().mechanism).with_parameters({"coupler.mass": 7.5, "gravity": (0.0, 1.0, -9.0)})
    expected = lw.simulate(other, 5.0, begun)
    assert_same(compiled_run(heavy, 5.0, begun), expected)
    assert by_kernels(heavy, 5.0, begun) < expected.statistics.evaluations // 4


def test_a_parameter_that_was_folded_is_noticed(sooner):
    """Masses of one are no operations of the tape: others need their own."""
    mech = lw.Mechanism("pendulum")
    mech.add_body("rod", mass=1.0, com=(1.0, 0, 0), inertia=lw.inertia.sphere(1.0, 0.1))
    mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
    model = lw.compile(mech)
    compiled_run(model, 30.0)
    heavy = model.with_parameters({"rod.mass": 2.0, "rod.com": (0.5, 0.0, 0.1)})
    expected = lw.simulate(lw.compile(mech).with_parameters({"rod.mass": 2.0, "rod.com": (0.5, 0.0, 0.1)}), 30.0)
    assert_same(lw.simulate(heavy, 30.0), expected)


# ---- when, and by whom ----


@pytest.mark.parametrize("storeys", [1, 6])
def test_towers(storeys, sooner):
    """The taller one has parts that share machine code."""
    mech = well_posed(tower_of_four_bars(storeys), 1, 1e-6).mechanism
    expected, model = lw.simulate(lw.compile(mech), 0.2, rtol=1e-9), lw.compile(mech)
    assert_same(compiled_run(model, 0.2, rtol=1e-9), expected)
    tape = model.rates_of_runs.tapes.recorded[0]
    assert tape.compiled
    assert (tape.distinct < tape.operations + tape.guards) == (storeys > 1)


@pytest.mark.parametrize("pays", [False, True])
def test_functions_that_take_longer_than_the_kernels_are_not_used(pays, sooner, monkeypatch):
    monkeypatch.setattr(tapes.Rates, "pays", lambda rates, block: pays and rates.function is not None)
    model = lw.compile(four_bar().mechanism)
    start = model.assemble(q={"A": 0.3}, u={"A": 3.0})
    expected = lw.simulate(lw.compile(four_bar().mechanism), 1.0, start)
    assert_same(compiled_run(model, 1.0, start), expected)
    assert (by_kernels(model, 1.0, start) > expected.statistics.evaluations // 2) != pays


def test_measuring_changes_no_number():
    model = lw.compile(four_bar().mechanism)
    block, runs = model.block(), model.rates_of_runs
    start = model.assemble(q={"A": 0.3}, u={"A": 3.0})
    block.enter(start.q, start.u, np.zeros(model.numbering.n_inputs))
    runs.record(block)
    assert runs.wait() == ""
    block.evaluate(Stage.DERIVATIVES)
    expected = block.reals.copy()
    (rates,) = runs._found
    assert rates.pays(block) in {True, False}
    block.evaluate(Stage.DERIVATIVES)
    assert np.array_equal(block.reals, expected, equal_nan=True)


def test_a_model_that_is_used_little_is_not_recorded():
    model = lw.compile(four_bar().mechanism)
    compiled_run(model, 1.0, model.assemble(q={"A": 0.3}, u={"A": 3.0}))
    assert not model.rates_of_runs.tapes.recorded


def test_without_a_compiler(sooner, monkeypatch):
    monkeypatch.setenv("LINKWORK_CC", "false")
    model = lw.compile(four_bar().mechanism)
    start = model.assemble(q={"A": 0.3}, u={"A": 3.0})
    found = [lw.simulate(model, 1.0, start) for _ in range(3)]
    assert "false failed" in model.rates_of_runs.wait()
    assert_same(found[-1], found[0])


@pytest.mark.parametrize("change", ["first", "later"])
def test_a_compiler_that_gives_other_numbers_is_not_believed(sooner, monkeypatch, tmp_path, change):
    """Other numbers everywhere are found at once; those at some states before many are given."""
    product = r"\1 + \2" if change == "first" else r"(\1 * \2 > 0.3 ? 0.0 : \1 * \2)"
    monkeypatch.setenv("LINKWORK_CC", wrong_compiler(tmp_path, product))
    model = lw.compile(four_bar().mechanism)
    start = model.assemble(q={"A": 0.3}, u={"A": 3.0})
    expected = lw.simulate(lw.compile(four_bar().mechanism), 5.0, start)
    found = compiled_run(model, 5.0, start)
    if change == "first":
        assert_same(found, expected)
    assert by_kernels(model, 5.0, start) > expected.statistics.evaluations // 2


def test_threads(sooner):
    model = lw.compile(four_bar().mechanism)
    starts = [model.assemble(q={"A": 0.3}, u={"A": 1.0 + k}) for k in range(4)]
    expected = [lw.simulate(lw.compile(four_bar().mechanism), 3.0, start) for start in starts]
    found = {}

    def run(k):
        found[k] = [compiled_run(model, 3.0, starts[k]) for _ in range(3)]

    threads = [threading.Thread(target=run, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for k, own in found.items():
        for one in own:
            assert_same(one, expected[k])
