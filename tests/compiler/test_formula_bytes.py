"""Formulas in serialised models: what the bytes hold, and that no bytes lead a program out of its values."""

import re
import struct
import zlib

import numpy as np
import pytest

import linkwork as lw
from linkwork.core.builder import formula
from linkwork.core.native import NativeModel
from linkwork.formula import OPERATIONS
from linkwork.mechanism.formula_forces import Program
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
    return mech


@pytest.fixture(scope="module")
def data():
    return lw.compile(mechanism()).model_bytes


def test_tables_of_formulas(data):
    model = read_model(data)
    assert model.counts["formulas"] == 2
    assert model.tables["formulas"][:, 0].tolist() == [2, 3]  # k, d; c, 0, 2
    assert model.tables["formulas"][:, 1].tolist() == [1, 0]
    assert model.tables["formulas"][:, 4].tolist() == [1, 6]
    assert model.parameters["formula_number"].ravel().tolist() == [3.0, 0.5, 7.0, 0.0, 2.0]
    assert model.names[-2:] == ["spring", "push"]


def test_models_without_formulas_have_only_their_counts():
    counts = read_model(lw.compile(four_bar().mechanism).model_bytes).counts
    assert [value for name, value in counts.items() if name.startswith("formula")] == [0] * 6


def place_of(data, table):
    """The offset of a table in the bytes, and its rows."""
    rows = read_model(data).tables[table]
    first = data.index(rows.tobytes(), HEADER.size)
    return first, rows


def changed(data, table, row, column, value):
    first, rows = place_of(data, table)
    altered = bytearray(data)
    struct.pack_into("<i", altered, first + 4 * (row * rows.shape[1] + column), value)
    struct.pack_into("<Q", altered, 16, zlib.crc32(altered[HEADER.size :]))
    return bytes(altered)


BAD = (-(2**31), -1000, -1, 40, 65, 10**6, 2**31 - 1)


@pytest.mark.parametrize("table", ["formulas", "formula_quantities", "instructions", "formula_results"])
def test_numbers_out_of_range_are_refused_by_name(table, data):
    name = {"formulas": "formula", "formula_quantities": "formula_quantity", "instructions": "instruction"}.get(
        table, "formula_result"
    )
    refused = 0
    for row, values in enumerate(place_of(data, table)[1].tolist()):
        for column in range(len(values)):
            for value in BAD:
                if table == "instructions" and column > len(OPERATIONS[values[0]].operands):
                    continue  # an operand that it does not have
                with pytest.raises(lw.MechanismError, match=f"{name} {row} points outside|contradict"):
                    NativeModel(changed(data, table, row, column, value))
                refused += 1
    assert refused


def test_an_operand_is_before_its_instruction(data):
    rows = place_of(data, "instructions")[1]
    size = int(read_model(data).tables["formulas"][0, 3])
    for row, (operation, *_) in enumerate(rows.tolist()):
        own = row if row < size else row - size
        for column, kind in enumerate(OPERATIONS[operation].operands, start=1):
            if kind == "v":
                for value in (own, own + 1):
                    with pytest.raises(lw.MechanismError, match=f"instruction {row} points outside"):
                        NativeModel(changed(data, "instructions", row, column, value))


def test_operations_have_the_order_of_the_core():
    text = (TOP / "csrc" / "formula" / "operations.h").read_text(encoding="utf-8")
    listed = re.findall(r"X\((\w+), (\d)\)", text)
    known = [(one.name, str(one.operands.count("v"))) for one in OPERATIONS if one.name != "table"]
    assert listed == known


# ---- the builder ----


def built(**changes):
    """A pendulum with a force by a formula, some of which is changed."""
    mech = lw.Mechanism("wheel")
    mech.add_body("rotor", mass=1.0, com=(0, 0, 0), inertia=np.eye(3))
    mech.add_joint("A", lw.Revolute((0, 0, 1)), "ground", "rotor", at=(0, 0, 0))
    given = {
        "numbers": [2.0],
        "readings": [("length", None, 0)],
        "operations": [("number", 0, 0, 0), ("quantity", 0, 0, 0), ("multiply", 0, 1, 0)],
        "results": [2],
    }
    given |= changes
    b = describe(mech)
    b.add_force("joint_formula", "f", None, None, None, 0)
    b.add_gear("f", "A", 0, 1.0)
    if "none" not in changes:
        program = Program((), given["numbers"], {}, given["readings"], given["operations"], given["results"])
        b.set_formula("f", formula(program, 0))
    return b.finish()


def test_the_builder_takes_a_formula():
    built()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"none": True}, "'f' has no formula"),
        ({"numbers": [np.inf]}, "a number"),
        ({"readings": [("input", None, 0)]}, "quantity 0"),
        ({"readings": [("coordinate", "B", 0)]}, "no joint 'B'"),
        ({"readings": [("coordinate", "A", 1)]}, "has no coordinate 1"),
        ({"operations": [("number", 0, 0, 0), ("sine", 0, 0, 0), ("sin", 1, 0, 0)]}, "no operation 'sine'"),
        ({"operations": [("number", 0, 0, 0), ("add", 0, 1, 0), ("sin", 1, 0, 0)]}, "wrong operand 1"),
        ({"operations": [("number", 1, 0, 0), ("sin", 0, 0, 0), ("sin", 1, 0, 0)]}, "wrong operand 1"),
        ({"operations": [("number", 0, 0, 0), ("sin", 0, 0, 0), ("integer_power", 1, 65, 0)]}, "exponent of 65"),
        ({"results": [3]}, "result 3"),
        ({"results": []}, "1 results"),
    ],
)
def test_the_builder_refuses(changes, words):
    with pytest.raises(lw.MechanismError, match=words):
        built(**changes)
