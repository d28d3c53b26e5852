"""Pins and releases by the hundred: each change compiles the topology variant that it needs, unless it is kept."""

import struct
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import linkwork as lw
from linkwork.core._core import ffi, lib
from linkwork.core.native import Block, NativeModel, Stage
from support.many_pins import ManyPins
from support.model_bytes import HEADER
from support.small import pendulum


def changes(chain, count, seed):
    """For each change the transitions to make, of random pins, and the pins that are closed then."""
    rng, closed = np.random.default_rng(seed), set()
    for _ in range(count):
        pin = int(rng.integers(chain.pins))
        name = f"free{pin}" if pin in closed else f"pin{pin}"
        closed ^= {pin}
        yield [name, *chain.kick], sorted(closed)


@pytest.mark.parametrize(
    ("links", "pins", "count", "method"),
    [
        (30, 12, 25, "auto"),
        (30, 12, 10, "multipliers"),
        (30, 12, 10, "dca"),
        pytest.param(400, 200, 300, "auto", marks=pytest.mark.slow),
    ],
)
def test_jumps_as_of_the_dense_solution(links, pins, count, method):
    chain = ManyPins(links, pins)
    model = lw.compile(chain.mechanism(), method)
    state = model.assemble(q=chain.start(3))
    q = np.asarray(state.q)
    for names, closed in changes(chain, count, 1):
        expected = chain.kicked_speeds(q, np.asarray(state.u), closed)
        state = model.jump(state, names).state
        assert np.array_equal(state.q, q)
        np.testing.assert_allclose(state.u, expected, rtol=0, atol=1e-11 * max(1.0, np.abs(expected).max()))


def test_a_run_through_many_variants_is_that_of_its_parts():
    """Twelve pins that close and open at their times; each phase as a run of its own from the state before it."""
    chain = ManyPins(26, 12)
    order = [name for k in range(12) for name in (f"pin{k}", f"free{(k + 5) % 12}")]
    times = {name: 0.02 + 0.02 * k for k, name in enumerate(order)}
    model = lw.compile(chain.mechanism(times))
    state = model.assemble(q=chain.start(2))
    whole = lw.simulate(model, 0.55, state=state, rtol=1e-10, t_eval=[0.3, 0.55])
    first = lw.simulate(model, 0.3, state=state, rtol=1e-10)
    second = lw.simulate(model, 0.55, state=first.state(0.3), rtol=1e-10, t_eval=[0.55])
    assert [name for event in whole.events for name in event.transitions] == order
    np.testing.assert_allclose(second.y[-1], whole.y[-1], rtol=0, atol=1e-7)
    assert max(whole[f"loop.pin{k}.residual"].max() for k in range(12)) < 1e-7


def test_threads_that_share_a_model_share_its_variants():
    chain = ManyPins(30, 12)
    steps = [[names for names, _ in changes(chain, 20, seed)] for seed in range(4)]
    alone = lw.compile(chain.mechanism())
    start = alone.assemble(q=chain.start(1))

    def run(model, names):
        """With a block of its own."""
        block, known = model.block(), list(model.mechanism.transitions)
        model.enter(block, start)
        for one in names:
            block.make_transitions([known.index(name) for name in one])
        return block.reals.copy()

    expected = [run(alone, names) for names in steps]
    shared = lw.compile(chain.mechanism())
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda names: run(shared, names), 4 * steps))
    for k, one in enumerate(found):
        assert np.array_equal(one, expected[k % 4], equal_nan=True)


def test_a_variant_is_kept():
    native = lw.compile(ManyPins(30, 12).mechanism())._native
    once, again = (lib.lw_model_variant(native.handle, [31, 33], 2) for _ in range(2))
    assert once == again
    assert lib.lw_model_variant(native.handle, [31], 1) != once
    assert lib.lw_model_variant(native.handle, list(range(30, 42)), 12) == native.handle


def resident():
    """Memory of this process, bytes."""
    with open("/proc/self/statm") as file:
        return 4096 * int(file.read().split()[1])


@pytest.mark.slow
def test_the_memory_of_kept_variants_is_bounded():
    chain = ManyPins(200, 100)
    model = lw.compile(chain.mechanism())
    state = model.assemble(q=chain.start(3))
    before = resident()
    for names, _ in changes(chain, 600, 2):
        state = model.jump(state, names).state
    assert resident() - before < 200e6


def test_a_snapshot_returns_to_its_variant():
    """In its own block after other changes, and in a block of a model that has not met the variant."""
    chain = ManyPins(30, 12)
    model, other = (lw.compile(chain.mechanism()) for _ in range(2))
    block, known = model.block(), list(model.mechanism.transitions)
    model.enter(block, model.assemble(q=chain.start(3)))
    block.make_transitions([known.index(name) for name in ("pin3", "pin7", *chain.kick)])
    saved = ffi.new("char[]", lib.lw_state_size(block.handle))
    lib.lw_state_save(block.handle, saved)
    block.evaluate(Stage.OUTPUTS)
    expected = block.reals.copy()
    block.make_transitions([known.index(name) for name in ("free3", "pin9", *chain.kick)])
    for one in (block, other.block()):
        assert lib.lw_state_restore(one.handle, saved, len(saved)) == 0
        one.evaluate(Stage.OUTPUTS)
        assert np.array_equal(one.reals, expected, equal_nan=True)


def test_a_variant_that_cannot_be_compiled_names_the_pin():
    """A file that asks for two methods where a pin joins loops, which the compiler would have refused."""
    chain = ManyPins(10, 3)
    compiled = lw.compile(chain.mechanism(), {"pin0": "embedding", "pin1": "embedding"})
    row, other = struct.pack("<2i", 11, lib.LW_METHOD_EMBEDDING), struct.pack("<2i", 11, lib.LW_METHOD_RCR)
    data = compiled.model_bytes
    assert data.count(row) == 1
    body = data[HEADER.size :].replace(row, other)
    block = Block(NativeModel(HEADER.pack(*HEADER.unpack_from(data)[:3], lib.lw_crc32(0, body, len(body))) + body))
    block.make_transitions([0])
    before = block.reals.copy()
    with pytest.raises(lw.MechanismError, match=r"t = 0 s, where 'pin1' closes: joints 'pin0' and 'pin1' are in loops"):
        block.make_transitions([2])
    assert np.array_equal(block.reals, before, equal_nan=True)
    block.make_transitions([1])
    block.make_transitions([2])


def test_more_than_eight_pins_at_one_point():
    """They hold the rod at its hinge, where they change nothing."""
    mech = pendulum()
    for k in range(9):
        mech.add_transition(f"p{k}", lw.Pin("ground", "rod", lw.Spherical()), when=lw.Time(0.1 + 0.01 * k))
    result = lw.simulate(mech, 0.3, rtol=1e-10)
    assert [event.transitions[0] for event in result.events] == [f"p{k}" for k in range(9)]
    free = lw.simulate(pendulum(), 0.3, rtol=1e-10)
    assert result["A.q"][-1] == pytest.approx(free["A.q"][-1], abs=1e-8)
