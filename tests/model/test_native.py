"""The binding to the C core: memory, damaged models, blocks."""

import gc
import struct
import zlib
from itertools import pairwise

import numpy as np
import pytest

import linkwork as lw
from linkwork.core.native import Block, NativeModel, Stage
from support.cases import four_bar
from support.driving import reached
from support.model_bytes import HEADER, read_model
from support.random_mechanisms import FAMILIES, random_tree, well_posed


@pytest.fixture(scope="module")
def model_bytes():
    return lw.compile(four_bar().mechanism).model_bytes


@pytest.fixture(scope="module")
def tree_bytes():
    return lw.compile(random_tree(np.random.default_rng(3), 8).mechanism).model_bytes


@pytest.fixture(scope="module")
def loops_bytes():
    return lw.compile(well_posed(FAMILIES["loop_on_loop"][0], 0).mechanism).model_bytes


@pytest.fixture(scope="module")
def forces_bytes():
    return lw.compile(well_posed(FAMILIES["sprung_planar_5R"][0], 0).mechanism).model_bytes


def posed(block):
    """The block of the four-bar in its closed pose."""
    block.enter(
        np.array([-0.7, 0.12845650479425672, 2.2011285897274973]), np.array([-3.0, 4.07795, -1.31582]), np.zeros(4)
    )
    return block


# ---- memory ----


def fill_freed_memory():
    """Reuse freed memory, so that a view of it would show other numbers."""
    gc.collect()
    return [lw.compile(four_bar().mechanism).block() for _ in range(30)], [np.full(500, np.nan) for _ in range(200)]


@pytest.mark.parametrize("field", ["gravity", "q", "body_position", "energy_potential"])
def test_arrays_outlive_system_and_block(field):
    case = four_bar()
    system = lw.compile(case.mechanism)
    block = system.block()
    system.set_starts(block, case.q, case.u)
    block.assemble(1e-8)
    view = block[field]
    before = view.copy()
    del system, block
    taken = fill_freed_memory()
    assert np.array_equal(view, before)
    view[:] = 7.0  # still owned memory
    assert np.array_equal(view, np.full(view.shape, 7.0))
    del taken


def test_block_outlives_its_model(model_bytes):
    block = posed(Block(NativeModel(model_bytes)))
    expected = posed(Block(NativeModel(model_bytes)))["body_position"].copy()
    taken = fill_freed_memory()
    assert np.array_equal(block["body_position"], expected)
    del taken


def test_results_do_not_share_memory_with_the_block():
    scene = well_posed(FAMILIES["planar_4R_springs"][0], 0)
    system, state = reached(scene)
    names = ("accelerations", "derivatives", "loop_residual", "reactions", "mass_matrix", "jacobian")
    kept = {name: getattr(system, name)(state) for name in names}
    kept |= {name: state[name] for name in ("b1.r", "b1.Q", "b2.v")}
    before = {name: values.copy() for name, values in kept.items()}
    cut = kept["accelerations"].cut.copy()
    system.derivatives(state.q, 0.9 * state.u)
    for name, values in kept.items():
        assert np.array_equal(values, before[name]), name
    assert np.array_equal(kept["accelerations"].cut, cut)


# ---- damaged models ----


def test_truncated_at_every_length(model_bytes):
    for size in range(len(model_bytes)):
        with pytest.raises(lw.MechanismError):
            NativeModel(model_bytes[:size])


def test_every_flipped_bit_is_noticed(model_bytes):
    for position in range(len(model_bytes)):
        damaged = bytearray(model_bytes)
        for bit in range(8):
            damaged[position] = model_bytes[position] ^ (1 << bit)
            with pytest.raises(lw.MechanismError):
                NativeModel(bytes(damaged))


@pytest.mark.parametrize("added", [b"\0", b"\0" * 8, b"more"])
def test_extended(model_bytes, added):
    with pytest.raises(lw.MechanismError, match="truncated or extended"):
        NativeModel(model_bytes + added)


@pytest.mark.parametrize("data", [b"", b"\0", b"PK\3\4" + bytes(200), b"LWMODEL\0"])
def test_no_model_at_all(data):
    with pytest.raises(lw.MechanismError):
        NativeModel(data)


def test_another_version(model_bytes):
    magic, _, size, checksum = HEADER.unpack_from(model_bytes)
    with pytest.raises(lw.MechanismError, match=r"version 99.*export it again"):
        NativeModel(HEADER.pack(magic, 99, size, checksum) + model_bytes[HEADER.size :])


def sealed(data: bytes) -> bytes:
    """The bytes with size and checksum made right, as someone who wants to do harm would."""
    body = data[HEADER.size :]
    magic, version, _, _ = HEADER.unpack_from(data)
    return HEADER.pack(magic, version, len(data), zlib.crc32(body)) + body


def test_unknown_joint_types_are_refused_by_name(model_bytes):
    name = b"revolute".ljust(16, b"\0")
    assert model_bytes.count(name) == 1
    with pytest.raises(lw.MechanismError, match="no joint type 'rolling'"):
        NativeModel(sealed(model_bytes.replace(name, b"rolling".ljust(16, b"\0"))))


def test_joint_types_with_other_coordinates_are_refused(model_bytes):
    """The numbers of coordinates that the description counts must be those of the library."""
    with pytest.raises(lw.MechanismError, match=r"numbering|coordinates"):
        NativeModel(sealed(model_bytes.replace(b"revolute".ljust(16, b"\0"), b"universal".ljust(16, b"\0"))))


def integers_of(data: bytes) -> int:
    """How many int32 stand between header and parameters."""
    return (read_model(data).first_parameter - HEADER.size) // 4


@pytest.mark.parametrize("which", ["model_bytes", "tree_bytes", "loops_bytes", "forces_bytes"])
def test_altered_integers_with_a_right_checksum(which, request):
    """Each integer to values around the limits: refused, or a model that computes something or reports an error."""
    data = request.getfixturevalue(which)
    rng = np.random.default_rng(1)
    accepted = 0
    for index in range(integers_of(data)):
        at = HEADER.size + 4 * index
        old = struct.unpack_from("<i", data, at)[0]
        for value in {old - 1, old + 1, -1, 0, 3_999_999, -(2**31), 2**31 - 1, int(rng.integers(20))} - {old}:
            damaged = bytearray(data)
            struct.pack_into("<i", damaged, at, value)
            accepted += evaluates(sealed(bytes(damaged)))
    assert accepted > 0 or which != "tree_bytes"  # a reversed sense is another tree


@pytest.mark.thin(2)
@pytest.mark.parametrize("which", ["model_bytes", "tree_bytes", "loops_bytes", "forces_bytes"])
def test_altered_parameters_with_a_right_checksum(which, request):
    data = request.getfixturevalue(which)
    rng = np.random.default_rng(2)
    first = HEADER.size + 4 * integers_of(data)
    last = data.rindex(np.float64(0).tobytes())
    limits = NativeModel(data).fields["max_load"].span  # may be infinite
    for at in range(first, last, 8):
        for value in (np.nan, np.inf, -1.0, 0.0, 1e300, -1e-300, float(rng.normal())):
            damaged = bytearray(data)
            struct.pack_into("<d", damaged, at, value)
            ok = evaluates(sealed(bytes(damaged)))
            limit = value == np.inf and limits.start <= (at - first) // 8 < limits.stop
            assert np.isfinite(value) or limit or not ok


@pytest.mark.parametrize(
    ("back", "low", "text"), [(15, -2, "force 0"), (8, -2, "force 2"), (6, -1, "force 3"), (3, -1, "force 4")]
)
def test_forces_on_links_that_are_none(forces_bytes, back, low, text):
    """The last integers are two links and a mask of each of three springs, then of two wrenches."""
    at = HEADER.size + 4 * (integers_of(forces_bytes) - back)
    for value in (low, 10**6, 4):  # of four links, the last is 3
        damaged = bytearray(forces_bytes)
        struct.pack_into("<i", damaged, at, value)
        with pytest.raises(lw.MechanismError, match=f"{text} points outside the model"):
            NativeModel(sealed(bytes(damaged)))


def evaluates(data: bytes) -> bool:
    """Load, and compute at a pose; an error is an answer, too."""
    try:
        block = Block(NativeModel(data))
        block.enter(np.full(block.model.sizes.nq, 0.3), np.ones(block.model.sizes.nu), 0.0)
        block.evaluate(Stage.OUTPUTS)
    except lw.LinkworkError:
        return False
    return True


# ---- fields ----


@pytest.mark.parametrize("family", ["tree", "loop_on_loop", "slider_crank", "closed_by_fixed", "coupled"])
def test_fields_cover_the_block_without_overlap(family):
    if family == "tree":
        mechanism = random_tree(np.random.default_rng(0), 9).mechanism
    else:
        mechanism = well_posed(FAMILIES[family][0], 0).mechanism
    model = NativeModel(lw.compile(mechanism).model_bytes)
    fields = list(model.fields.values())
    assert fields[0].first == 0
    for field, following in pairwise(fields):
        assert field.span.stop == following.first
    assert fields[-1].span.stop == model.sizes.reals
    assert all(min(field.rows, field.columns) >= 0 for field in fields)


def test_fields_have_the_sizes_of_the_model():
    model = NativeModel(lw.compile(well_posed(FAMILIES["moving_slider_crank"][0], 0).mechanism).model_bytes)
    s = model.sizes
    rows = {"body_mass": s.bodies, "parent_position": s.joints, "loop_residual": s.loops, "q": s.nq, "udot": s.nu}
    rows |= {"tau": s.nu + s.nu_cut, "q_cut": s.nq_cut, "q_start": s.nq + s.nq_cut, "time": 1}
    assert {name: model.fields[name].rows for name in rows} == rows
    assert (s.bodies, s.joints, s.loops, s.nq, s.nu, s.nq_cut) == (6, 7, 1, 6, 6, 1)


def test_states_and_derivatives_stand_in_the_same_order(model_bytes):
    fields = NativeModel(model_bytes).fields
    assert fields["q"].span.stop == fields["u"].first
    assert fields["qdot"].span.stop == fields["udot"].first
    assert fields["u"].first - fields["q"].first == fields["udot"].first - fields["qdot"].first


def test_public_fields_say_what_they_hold(model_bytes):
    fields = NativeModel(model_bytes).fields
    names = list(fields)
    assert all(fields[name].meaning for name in names[: names.index("cut_reference") + 1])


# ---- blocks ----


def test_blocks_of_a_model_are_independent(model_bytes):
    model = NativeModel(model_bytes)
    first, second = Block(model), Block(model)
    alone = Block(model)
    for block in (first, second, alone):
        posed(block)
    expected = alone["udot"].copy()
    first.put("body_mass", 5.0, Stage.NONE)
    first.put("u", 1.0)
    first.evaluate(Stage.OUTPUTS)
    assert np.array_equal(second["udot"], expected)
    assert not np.array_equal(first["udot"], expected)


@pytest.mark.parametrize(
    ("field", "values", "valid"),
    [
        ("q", [-0.7, 0.13, 2.2], Stage.CONSTANTS),
        ("u", 0.1, Stage.CONSTANTS),
        ("tau", 0.1, Stage.CONSTANTS),
        ("body_mass", 3.0, Stage.NONE),
        ("gravity", 1.0, Stage.NONE),
        ("damping", 0.5, Stage.NONE),
    ],
)
def test_what_is_written_takes_effect(model_bytes, field, values, valid):
    """Values computed before a change are computed again, as in a block that never had others."""
    old, fresh = Block(NativeModel(model_bytes)), Block(NativeModel(model_bytes))
    for block in (old, fresh):
        posed(block)
    before = old["udot"].copy()
    old.evaluate(Stage.OUTPUTS)
    old.put(field, values, valid)
    fresh.put(field, values, valid)
    assert np.array_equal(old["udot"], fresh["udot"])
    assert not np.array_equal(old["udot"], before)
    for name in ("energy_kinetic", "reaction_force", "body_velocity"):
        assert np.array_equal(old[name], fresh[name])


def test_a_failed_block_recovers(model_bytes):
    block = Block(NativeModel(model_bytes))
    expected = posed(block)["udot"].copy()
    block.enter(np.full(3, np.nan), np.ones(3), np.zeros(4))
    with pytest.raises(lw.MechanismError, match="not finite"):
        block.evaluate(Stage.OUTPUTS)
    assert np.array_equal(posed(block)["udot"], expected)


@pytest.mark.parametrize(("value", "text"), [(-1.0, "mass of body 'crank'"), (np.nan, "mass of body 'crank'")])
def test_parameters_that_no_body_can_have(model_bytes, value, text):
    block = Block(NativeModel(model_bytes))
    block.put("body_mass", value, Stage.NONE)
    with pytest.raises(lw.MechanismError, match=text):
        block.evaluate(Stage.OUTPUTS)


def test_unknown_field(model_bytes):
    with pytest.raises(KeyError):
        Block(NativeModel(model_bytes))["nonsense"]
