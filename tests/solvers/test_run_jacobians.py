"""Jacobians of runs by tapes: they are right, and which ones a run asks for depends on that run alone."""

import numpy as np
import pytest

import linkwork as lw
from linkwork.core._core import ffi, lib
from linkwork.core.native import offsets_of
from linkwork.core.tapes import Tapes
from support.cases import four_bar
from support.checkout import beside
from support.driven import TIME, driven
from support.gear_families import GEAR_FAMILIES
from support.joint_families import JOINT_FAMILIES
from support.quarter_car import quarter_car_multilink
from support.random_mechanisms import FAMILIES, well_posed

MADE = FAMILIES | JOINT_FAMILIES | GEAR_FAMILIES


def enough(y):
    """Jacobians, after which a state has a tape."""
    return 20 + y.size**2 // 8


def jacobian(block, t, y):
    matrix, by_time = np.full((y.size, y.size), np.nan), np.full(y.size, np.nan)
    pointers = [ffi.from_buffer("double[]", array) for array in (y, matrix, by_time)]
    assert lib.lw_ode_mechanism_jacobian(block.handle, t, *pointers) == 0
    return np.column_stack([matrix, by_time])


def begun(block):
    """The states that a block has."""
    first = block.model.fields["q"].first
    return block.reals[first : first + block.model.sizes.states].copy()


def tapes_of_a_run(model) -> Tapes:
    return model.rates_of_runs.jacobians[0]


@pytest.mark.parametrize("name", sorted(MADE)[::3])
def test_they_are_those_of_complex_steps(name):
    scene = well_posed(MADE[name][0], 0)
    model = lw.compile(scene.mechanism)
    block, plain = model.block(), model.block()
    state = model.assemble(q=scene.q, u=scene.u)
    model.enter(block, state), model.enter(plain, state)
    y = begun(block)
    with model.rates_of_runs.of_run(block):
        for _ in range(enough(y)):
            found = jacobian(block, 0.0, y)
        expected = jacobian(plain, 0.0, y)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10 * np.abs(expected).max())
        assert tapes_of_a_run(model).adopted or tapes_of_a_run(model).refusal


def test_the_time_of_motions():
    scene = well_posed(MADE["planar_5R"][0], 0)
    model = lw.compile(driven(scene, np.random.default_rng(2), [next(iter(scene.u))]).mechanism)
    state = model.assemble(q=scene.q, u=scene.u, time=TIME)
    block, plain = model.block(), model.block()
    model.enter(block, state), model.enter(plain, state)
    y = begun(block)
    with model.rates_of_runs.of_run(block):
        for _ in range(enough(y)):
            found = jacobian(block, TIME, y)
        assert tapes_of_a_run(model).adopted == 1
    expected = jacobian(plain, TIME, y)
    assert expected[:, -1].any()
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11 * np.abs(expected).max())


def gripper():
    return lw.load(beside("models/as_mechanisms/robotiq_2f85.json"))


@pytest.mark.parametrize("made", [lambda: four_bar().mechanism, lambda: quarter_car_multilink().mechanism, gripper])
def test_bits_of_a_run_do_not_depend_on_earlier_runs(made):
    mech = made()
    options = {"solver": "rodas5p", "rtol": 1e-7}
    start = lw.compile(mech).assemble()
    expected = lw.simulate(lw.compile(mech), 0.5, start, **options)
    used = lw.compile(mech)
    for t_end in (0.05, 0.3, 0.8):  # some adopt no tape, some that of other states
        last = lw.simulate(used, t_end, start, **options)
    lw.simulate(used, 0.4, last.state(last.t[-1]), **options)
    found = lw.simulate(used, 0.5, start, **options)
    assert np.array_equal(found.t, expected.t)
    assert np.array_equal(found.y, expected.y)
    assert len(used.rates_of_runs.jacobians) == 1


def test_tapes_of_other_parameters_serve_without_a_trace():
    model = lw.compile(four_bar().mechanism)
    body = next(iter(model.mechanism.bodies))
    change = {f"{body}.mass": 3.0 * model.mechanism.bodies[body].mass}
    heavier = model.with_parameters(change)
    alone = lw.compile(four_bar().mechanism).with_parameters(change)
    start = model.assemble(q={"A": 0.3}, u={"A": 3.0})
    lw.simulate(model, 5.0, start, solver="rodas5p")
    found, expected = (
        lw.simulate(one, 5.0, one.assemble(q={"A": 0.3}, u={"A": 3.0}), solver="rodas5p") for one in (heavier, alone)
    )
    assert np.array_equal(found.y, expected.y)
    assert tapes_of_a_run(heavier) is tapes_of_a_run(model)


def test_a_run_adopts_them_and_stays_accurate():
    model = lw.compile(four_bar().mechanism)
    start = model.assemble(q={"A": 0.3}, u={"A": 3.0})
    found = lw.simulate(model, 5.0, start, solver="rodas5p", rtol=1e-9)
    assert tapes_of_a_run(model).adopted
    expected = lw.simulate(model, 5.0, start, solver="DOP853", rtol=1e-11, t_eval=found.t)
    np.testing.assert_allclose(found["A.q"], expected["A.q"], atol=1e-6)


def test_runs_at_the_same_time_have_tapes_of_their_own():
    model = lw.compile(four_bar().mechanism)
    blocks = [model.block() for _ in range(2)]
    served = model.rates_of_runs
    with served.of_run(blocks[0]), served.of_run(blocks[1]):
        assert len(served.jacobians) == 2
    with served.of_run(blocks[0]):
        pass
    assert len(served.jacobians) == 2


# ---- with a law ----------------------------------------------------------------------------------------------


class Feedback:
    """A law that is not linear, with a state of its own, on some loads of a block; its Jacobian by the core."""

    def __init__(self, block, loads):
        fields, self.n = block.model.fields, block.model.sizes.states + 1
        q, u, tau = (fields[name] for name in ("q", "u", "tau"))
        self.loads = offsets_of(slice(tau.first, tau.first + tau.rows))[loads]

        def law(context, t, x, xdot):
            reals = block.reals
            for k, load in zip(loads, self.loads, strict=True):
                speed = reals[u.first + k]
                reals[load] = np.sin(t) - 3.0 * reals[q.first] - 0.2 * speed * abs(speed) + x[0]
            xdot[0] = reals[q.first] * reals[u.first] - x[0]
            return 0

        self._law = ffi.callback("int(void *, double, const double *, double *)", law)
        self._control = ffi.new("lw_control *", {"state": block.handle, "law": self._law, "n": 1})

    def jacobian(self, t, y):
        matrix, by_time = np.full((self.n, self.n), np.nan), np.empty(self.n)
        pointers = [ffi.from_buffer("double[]", array) for array in (y, matrix, by_time)]
        assert lib.lw_ode_controlled_jacobian(self._control, t, *pointers) == 0
        return matrix


def begun_with_law(model, state, loads):
    block = model.block()
    model.enter(block, state)
    return block, Feedback(block, loads), np.append(begun(block), 0.3)


@pytest.mark.parametrize("name", sorted(MADE)[::4])
def test_closed_loops_have_those_of_complex_steps(name):
    scene = well_posed(MADE[name][0], 0)
    model = lw.compile(scene.mechanism)
    state, loads = model.assemble(q=scene.q, u=scene.u), range(0, model.sizes.nu, 2)
    (block, law, y), (_, plain, _) = (begun_with_law(model, state, loads) for _ in range(2))
    with model.rates_of_runs.of_run(block, law.loads):
        for _ in range(enough(y)):
            found = law.jacobian(0.4, y)
        expected = plain.jacobian(0.4, y)
        assert expected[:-1, -1].any()
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10 * np.abs(expected).max())
        assert tapes_of_a_run(model).adopted or tapes_of_a_run(model).refusal


def test_a_law_may_move_inputs_that_tapes_do_not_have():
    scene = well_posed(MADE["planar_5R"][0], 0)
    model = lw.compile(scene.mechanism)
    state = model.assemble(q=scene.q, u=scene.u)
    (block, law, y), (_, plain, _) = (begun_with_law(model, state, [0, 1]) for _ in range(2))
    with model.rates_of_runs.of_run(block, law.loads[:1]):
        for _ in range(enough(y)):
            assert np.array_equal(law.jacobian(0.4, y), plain.jacobian(0.4, y))
        assert not tapes_of_a_run(model).adopted


class Held(lw.Controller):
    """A crank at a speed, by an integral."""

    x0 = (0.0,)

    def outputs(self, t, state):
        return {"A": 20.0 * (3.0 - state["A.u"]) + 40.0 * state.x[0]}

    def rates(self, t, state):
        return [3.0 - state["A.u"]]


def braked(t, state):
    return -0.4 * state["A.u"]


OF_STATES = {
    "controller": {"controller": Held()},
    "function of the state": {"inputs": {"A": braked}},
    "function of time": {"inputs": {"A": lambda t: 0.3 * np.sin(5.0 * t)}},
}


@pytest.mark.parametrize("driven_by", OF_STATES)
def test_bits_of_controlled_runs_do_not_depend_on_earlier_runs(driven_by):
    options = {"solver": "rodas5p", "rtol": 1e-7}
    start = lw.compile(four_bar().mechanism).assemble(q={"A": 0.3}, u={"A": 3.0})
    expected = lw.simulate(lw.compile(four_bar().mechanism), 2.0, start, **options, **OF_STATES[driven_by])
    used = lw.compile(four_bar().mechanism)
    for others in OF_STATES.values():
        for t_end in (0.05, 0.9, 3.0):
            lw.simulate(used, t_end, start, **options, **others)
    found = lw.simulate(used, 2.0, start, **options, **OF_STATES[driven_by])
    assert any(tapes.adopted for tapes in used.rates_of_runs.jacobians)
    assert np.array_equal(found.t, expected.t)
    assert np.array_equal(found.y, expected.y)
    assert len(used.rates_of_runs.jacobians) == 2  # functions of time have those of runs without inputs


@pytest.mark.parametrize("driven_by", OF_STATES)
def test_a_controlled_run_adopts_them_and_stays_accurate(driven_by):
    model = lw.compile(four_bar().mechanism)
    start = model.assemble(q={"A": 0.3}, u={"A": 3.0})
    found = lw.simulate(model, 3.0, start, solver="rodas5p", rtol=1e-9, **OF_STATES[driven_by])
    assert tapes_of_a_run(model).adopted
    expected = lw.simulate(model, 3.0, start, solver="DOP853", rtol=1e-11, t_eval=found.t, **OF_STATES[driven_by])
    np.testing.assert_allclose(found["A.q"], expected["A.q"], atol=1e-6)


def test_a_law_of_time_is_asked_once_for_a_jacobian():
    model, asked = lw.compile(four_bar().mechanism), []
    block = model.block()
    model.enter(block, model.assemble(q={"A": 0.3}, u={"A": 3.0}))
    expected, y = jacobian(block, 0.0, begun(block)), begun(block)

    def law(context, t, x, xdot):
        asked.append(t)
        return 0

    function = ffi.callback("int(void *, double, const double *, double *)", law)
    control = ffi.new("lw_control *", {"state": block.handle, "law": function, "of_time": 1})
    matrix = np.empty((y.size, y.size))
    pointers = [ffi.from_buffer("double[]", array) for array in (y, matrix, np.empty(y.size))]
    assert lib.lw_ode_controlled_jacobian(control, 0.0, *pointers) == 0
    assert asked == [0.0]
    assert np.array_equal(matrix, expected[:, :-1])
