"""Formulas in serialised models: what the bytes hold, and that no bytes lead a program out of its values."""

import re
import struct
import zlib

import numpy as np
import pytest

import linkwork as lw
from linkwork.core.builder import formula
from linkwork.core.native import NativeModel
from linkwork.formula import KINKED, OPERATIONS
from linkwork.mechanism.formulas import Program
from linkwork.model.description import describe
from support.cases import four_bar
from support.checkout import TOP
from support.model_bytes import HEADER, read_model


def mechanism():
    mech = four_bar().mechanism
    mech.add_force(lw.Force("D", "-k*q - d*u + p", parameters={"k": 3.0, "d": 0.5}, inputs=("p",), name="spring"))
    mech.add_force(
        lw.Force(body="coupler", force=("c*A.q", "0", "2*c*D.u/D.u*A.q"), parameters={"c": 7.0}, name="push")
    )
    tables = {
        "gas": lw.LookupTable([0, 1, 3], [5, 4, 5], interpolation="monotone", periodic=True),
        "map": lw.LookupTable([0, 2], [[1, 2, 3], [4, 5, 6]], y=[0, 1, 4], outside="error"),
    }
    mech.add_force(lw.Force("A", "gas(q) + map(u, q)", tables=tables, name="motor"))
    mech.add_output("gap", "A.q - g*D.q", parameters={"g": 2.0})
    mech.add_output("more", "gap + spring.length*coupler.r[3]/l", parameters={"l": (1.5, "m")})
    mech.add_transition("hold", lw.Lock("A"), when=lw.Crossing("more", 40.0))
    return mech


@pytest.fixture(scope="module")
def data():
    return lw.compile(mechanism()).model_bytes


def test_tables_of_formulas(data):
    model = read_model(data)
    assert model.counts["formulas"] == 5
    assert model.tables["formulas"][:, 0].tolist() == [2, 0, 3, 1, 1]  # k, d; c, 0, 2; g; l
    assert model.tables["formulas"][:, 1].tolist() == [1, 0, 0, 0, 0]
    assert model.tables["formulas"][:, 4].tolist() == [1, 1, 6, 1, 1]
    assert model.tables["formulas"][:, 5].tolist() == [0, 2, 0, 0, 0]
    assert model.parameters["formula_number"].ravel().tolist() == [3.0, 0.5, 7.0, 0.0, 2.0, 2.0, 1.5]
    first = model.names.index("spring")
    assert model.names[first : first + 8] == [
        "spring",
        "motor",
        "push",
        "hold",
        "gap",
        "more",
        "motor.gas",
        "motor.map",
    ]
    read = ["q A", "q D", "formula_output gap", "joint_formula_length spring", "body_position coupler"]
    assert model.names[-6:] == [*read, "formula_output more"]
    assert model.tables["lookup_tables"].tolist() == [[3, 0, 1, 0, 1, 0], [2, 3, 0, 0, 0, 2]]
    assert model.tables["lookup_knots"].view(np.float64).ravel().tolist() == [0.0, 1.0, 3.0, 0.0, 2.0, 0.0, 1.0, 4.0]
    assert model.parameters["lookup_value"].ravel().tolist() == [5.0, 4.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0]


def test_models_without_formulas_have_only_their_counts():
    counts = read_model(lw.compile(four_bar().mechanism).model_bytes).counts
    assert [value for name, value in counts.items() if name.startswith(("formula", "lookup", "coupling_"))] == [0] * 14


def place_of(data, table):
    """The offset of a table in the bytes, and its rows."""
    rows = read_model(data).tables[table]
    if table == "coupling_formulas":  # too short to be found: it stands before the next table
        return place_of(data, "formula_quantities")[0] - rows.nbytes, rows
    first = data.index(rows.tobytes(), HEADER.size)
    return first, rows


def changed(data, table, row, column, value):
    first, rows = place_of(data, table)
    altered = bytearray(data)
    struct.pack_into("<i", altered, first + 4 * (row * rows.shape[1] + column), value)
    struct.pack_into("<Q", altered, 16, zlib.crc32(altered[HEADER.size :]))
    return bytes(altered)


BAD = (-(2**31), -1000, -1, 40, 65, 10**6, 2**31 - 1)


@pytest.mark.parametrize(
    "table", ["formulas", "formula_quantities", "instructions", "formula_results", "lookup_tables"]
)
def test_numbers_out_of_range_are_refused_by_name(table, data):
    name = {"formula_quantities": "formula_quantity"}.get(table, table.removesuffix("s"))
    refused = 0
    for row, values in enumerate(place_of(data, table)[1].tolist()):
        for column in range(len(values)):
            for value in BAD:
                if table == "instructions" and column > len(OPERATIONS[values[0]].operands):
                    continue  # an operand that it does not have
                with pytest.raises(lw.MechanismError, match=rf"{name} (\d+) points outside|contradict"):
                    NativeModel(changed(data, table, row, column, value))
                refused += 1
    assert refused


@pytest.mark.parametrize("name", ["qu A", "q ZZ", "qA  ", "   A", "udot", "taus"])
def test_names_of_quantities_are_checked(name, data):
    """Of a formula and of what a transition watches; an output reads no later one, and a force nothing that follows."""
    altered = data.replace(b"\0q A\0", b"\0" + name[:3].encode() + b"\0")
    altered = altered.replace(b"\0formula_output more\0", b"\0" + name.ljust(19).encode() + b"\0")
    for bad in (altered, data.replace(b"\0formula_output gap\0", b"\0formula_output more\0".replace(b"more", b"mor"))):
        bad = bytearray(bad)
        struct.pack_into("<Q", bad, 16, zlib.crc32(bad[HEADER.size :]))
        with pytest.raises(lw.MechanismError, match=r"formula_quantity \d+ points outside of what it may read"):
            NativeModel(bytes(bad))


@pytest.mark.parametrize("field", ["formula_output", "link_constants"])
def test_an_output_reads_only_outputs_before_it(field):
    b = describe(four_bar().mechanism)
    reading, owner = [(field, "own" if field == "formula_output" else None, 0)], "own"
    lists = (reading, [("quantity", 0, 0, 0)], [0], {})
    b.add_output(owner, formula(Program((), [], {}, *lists, {}), 0))
    with pytest.raises(lw.MechanismError, match="'own': formula_quantity 0 points outside"):
        b.finish()


def test_an_operand_is_before_its_instruction(data):
    rows = place_of(data, "instructions")[1]
    sizes = read_model(data).tables["formulas"][:, 3]
    numbers = [own for size in sizes for own in range(size)]
    for row, (own, (operation, *_)) in enumerate(zip(numbers, rows.tolist(), strict=True)):
        for column, kind in enumerate(OPERATIONS[operation].operands, start=1):
            if kind == "v":
                for value in (own, own + 1):
                    with pytest.raises(lw.MechanismError, match=f"instruction {row} points outside"):
                        NativeModel(changed(data, "instructions", row, column, value))


def test_operations_have_the_order_of_the_core():
    text = (TOP / "csrc" / "formula" / "operations.h").read_text(encoding="utf-8")
    operations, kinks = text.split("LW_EACH_KINK(X)", 1)
    listed = re.findall(r"X\((\w+), (\d)\)", operations)
    known = [(one.name, str(one.operands.count("v"))) for one in OPERATIONS]
    assert listed == known
    assert set(re.findall(r"X\((\w+), \d\)", kinks)) == KINKED


# ---- the builder ----


def built(**changes):
    """A pendulum with a force by a formula, some of which is changed."""
    mech = lw.Mechanism("wheel")
    mech.add_body("rotor", mass=1.0, com=(0, 0, 0), inertia=np.eye(3))
    mech.add_joint("A", lw.Revolute((0, 0, 1)), "ground", "rotor", at=(0, 0, 0))
    given = {
        "numbers": [2.0],
        "readings": [("joint_formula_length", "f", 0)],
        "operations": [("number", 0, 0, 0), ("quantity", 0, 0, 0), ("multiply", 0, 1, 0)],
        "results": [2],
        "tables": {},
    }
    given |= changes
    b = describe(mech)
    b.add_force("joint_formula", "f", None, None, None, 0)
    b.add_gear("f", "A", 0, 1.0)
    if "none" not in changes:
        lists = (given["readings"], given["operations"], given["results"], given["tables"])
        program = Program((), given["numbers"], {}, *lists, {})
        b.set_formula("f", formula(program, 0))
    return b.finish()


def table(**changes):
    """A table as Python would not send it."""
    found = lw.LookupTable([0.0, 1.0], [1.0, 2.0])
    for name, value in changes.items():
        setattr(found, name, np.array(value, float) if isinstance(value, list) else value)
    return found


LOOKED_UP = [("number", 0, 0, 0), ("quantity", 0, 0, 0), ("table", 1, 1, 0)]


def test_the_builder_takes_a_formula():
    built()
    built(operations=LOOKED_UP, tables={"gas": table()})


@pytest.mark.parametrize(
    ("name", "changes", "words"),
    [
        ("a b", {}, "'a b' of force 'f': a name has letters"),
        ("gas", {"x": [0.0, 0.0]}, "'gas' of force 'f': abscissae must increase"),
        ("gas", {"x": [0.0, np.inf]}, "an abscissa is not finite"),
        ("gas", {"values": [0.0, np.nan]}, "a value is not finite"),
        ("gas", {"values": [1.0]}, "two abscissae"),
        ("gas", {"periodic": (True,)}, "ends with its first row"),
    ],
)
def test_the_builder_refuses_tables(name, changes, words):
    with pytest.raises(lw.MechanismError, match=words):
        built(operations=LOOKED_UP, tables={name: table(**changes)})


def test_knots_are_checked_in_models(data):
    for value in (np.nan, np.inf, 3.0, -1.0):
        first, _ = place_of(data, "lookup_knots")
        altered = bytearray(data)
        struct.pack_into("<d", altered, first + 8, value)
        struct.pack_into("<Q", altered, 16, zlib.crc32(altered[HEADER.size :]))
        with pytest.raises(lw.MechanismError, match=r"lookup_(table 0|knot 1) points outside"):
            NativeModel(bytes(altered))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"none": True}, "'f' has no formula"),
        ({"numbers": [np.inf]}, "a number"),
        ({"readings": [("formula_input", "f", 0)]}, "number 0 of 'formula_input f'"),
        ({"readings": [("q", "B", 0)]}, "'f'.*number 0 of 'q B'"),
        ({"readings": [("q", "A", 1)]}, "number 1 of 'q A'"),
        ({"readings": [("q", "A", -1)]}, "number -1 of 'q'"),
        ({"readings": [("q A", "A", 0)]}, "number 0 of 'q A', which is none"),
        ({"readings": [("acceleration", "A", 0)]}, "number 0 of 'acceleration A'"),  # not known before forces
        ({"readings": [("joint_formula_force", "f", 0)]}, "number 0 of 'joint_formula_force f'"),
        ({"readings": [("link_constants", None, 0)]}, "number 0 of 'link_constants '"),  # internal
        ({"operations": [("number", 0, 0, 0), ("sine", 0, 0, 0), ("sin", 1, 0, 0)]}, "no operation 'sine'"),
        ({"operations": [("number", 0, 0, 0), ("add", 0, 1, 0), ("sin", 1, 0, 0)]}, "wrong operand 1"),
        ({"operations": [("number", 1, 0, 0), ("sin", 0, 0, 0), ("sin", 1, 0, 0)]}, "wrong operand 1"),
        ({"operations": [("number", 0, 0, 0), ("sin", 0, 0, 0), ("integer_power", 1, 65, 0)]}, "exponent of 65"),
        ({"operations": LOOKED_UP}, "operation 2 has a wrong operand 0"),
        ({"results": [3]}, "result 3"),
        ({"results": []}, "1 results"),
    ],
)
def test_the_builder_refuses(changes, words):
    with pytest.raises(lw.MechanismError, match=words):
        built(**changes)


# ---- formulas of couplings ----


def coupled():
    """The same mechanism with a coupling and a drive by formulas."""
    mech = mechanism()
    lift = {"lift": lw.LookupTable([0, 1, 3], [5, 4, 5], interpolation="monotone", periodic=True)}
    mech.add_body("disc", mass=1.0, com=(0, 0, 0), inertia=np.eye(3))
    mech.add_joint("E", lw.Revolute("z"), "ground", "disc", at=(0, 0, 0))
    mech.add_coupling("c", formula="k*lift(A.q) + E.q - s*sin(A.q)^2", parameters={"k": 3.5, "s": 2.5}, tables=lift)
    mech.prescribe("A", "w*time", name="d", parameters={"w": 8.5})
    return mech


@pytest.fixture(scope="module")
def of_couplings():
    return lw.compile(coupled()).model_bytes


def test_formulas_of_couplings_stand_last(of_couplings):
    model = read_model(of_couplings)
    assert [model.counts[f"coupling_{what}"] for what in ("formulas", "numbers", "values")] == [2, 3, 2]
    assert model.tables["coupling_formulas"].ravel().tolist() == [0, 1]
    assert model.parameters["formula_number"].ravel().tolist()[-3:] == [3.5, 2.5, 8.5]
    assert model.parameters["lookup_value"].ravel().tolist()[-2:] == [5.0, 4.0]
    assert model.tables["terms"][:, 0].tolist() == [0, 0, 1, 2]  # A and E, A of the drive, and of its lock


@pytest.mark.parametrize("table", ["coupling_formulas", "formulas", "formula_quantities", "lookup_tables"])
def test_wrong_numbers_of_couplings_are_refused(table, of_couplings):
    name = {"formula_quantities": "formula_quantity"}.get(table, table.removesuffix("s"))
    for row, values in enumerate(place_of(of_couplings, table)[1].tolist()):
        for column in range(len(values)):
            for value in BAD:
                with pytest.raises(lw.MechanismError, match=rf"{name} (\d+) points outside|contradict"):
                    NativeModel(changed(of_couplings, table, row, column, value))


def test_kinks_in_models_are_refused(of_couplings):
    """Of instructions of couplings, and a table that is linear."""
    numbers = {one.name: k for k, one in enumerate(OPERATIONS)}
    rows = place_of(of_couplings, "instructions")[1]
    last = max(row for row, (operation, *_) in enumerate(rows.tolist()) if operation == numbers["sin"])
    for name in ("abs", "sign", "floor"):
        with pytest.raises(lw.MechanismError, match=rf"instruction {last} points outside"):
            NativeModel(changed(of_couplings, "instructions", last, 0, numbers[name]))
    with pytest.raises(lw.MechanismError, match="lookup_table 2 points outside"):
        NativeModel(changed(of_couplings, "lookup_tables", 2, 4, 0))


@pytest.mark.parametrize("name", ["u A", "q D"])
def test_a_coupling_reads_its_own_coordinates_alone(name):
    """The last quantities are those of couplings, in the model's bytes."""
    data = lw.compile(coupled()).model_bytes
    place = data.rindex(b"\0q A\0")
    altered = bytearray(data)
    altered[place + 1 : place + 4] = name.encode()
    struct.pack_into("<Q", altered, 16, zlib.crc32(altered[HEADER.size :]))
    with pytest.raises(lw.MechanismError, match=r"'c': formula_quantity \d+ points outside of what it may read"):
        NativeModel(bytes(altered))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"operations": [("quantity", 0, 0, 0), ("abs", 0, 0, 0)]}, "'abs' has no continuous slope"),
        ({"readings": [("u", "A", 0)]}, "reads 'u': it may read coordinates"),
        ({"readings": [("q", "B", 0)]}, "'B'"),
        ({"readings": [("q", "A", 3)]}, "no coordinate 3"),
        ({"tables": {"gas": table()}}, "'gas' has no continuous slope"),
        ({"results": []}, "it needs 1 results"),
        ({"readings": [], "operations": [("number", 0, 0, 0)], "results": [0]}, "has no terms"),
    ],
)
def test_the_builder_refuses_formulas_of_couplings(changes, words):
    mech = lw.Mechanism("wheel")
    mech.add_body("rotor", mass=1.0, com=(0, 0, 0), inertia=np.eye(3))
    mech.add_joint("A", lw.Revolute((0, 0, 1)), "ground", "rotor", at=(0, 0, 0))
    b = describe(mech)
    given = {"readings": [("q", "A", 0)], "operations": [("quantity", 0, 0, 0)], "results": [0], "tables": {}} | changes
    b.add_coupling("c", 0.0)

    def finish():
        b.set_coupling_formula("c", formula(Program((), [2.0], {}, *given.values(), {}), 0))
        b.finish()

    with pytest.raises(lw.MechanismError, match=words):
        finish()
