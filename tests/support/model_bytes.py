"""The serialised model read back table by table, as `csrc/load/reader.c` reads it."""

import struct
from dataclasses import dataclass

import numpy as np

HEADER = struct.Struct("<8sIIQ")
COUNTS = (
    *("bodies", "joints", "loops", "clusters", "segments", "nq", "nu", "nq_cut", "nu_cut"),
    *("ears", "couplings", "terms", "method", "force_types", "forces", "gears", "line_points", "distances"),
    *("locks", "transitions", "removable_joints", "requests", "types"),
    *("points", "measures", "paths", "path_numbers"),
    *("formulas", "formula_instructions", "formula_quantities", "formula_results", "formula_numbers", "formula_inputs"),
    "formula_outputs",
    "formula_states",
    *("lookup_tables", "lookup_knots", "lookup_values"),
    *("coupling_formulas", "coupling_numbers", "coupling_values"),
)
TABLES = (  # name, how many rows, columns
    ("force_types", "force_types", 5),  # names, 16 bytes each, and how many
    ("types", "types", 4),  # names of joint types, 16 bytes each
    ("links", "bodies", 4),
    ("joints", "joints", 3),
    ("loops", "loops", 5),
    ("clusters", "clusters", 4),
    ("segments", "segments", 3),
    ("ears", "ears", 3),
    ("ear_links", "ear_links", 1),
    ("couplings", "couplings", 1),
    ("terms", "terms", 2),
    ("forces", "forces", 3),
    ("gears", "gears", 2),
    ("line_points", "line_points", 2),
    ("distances", "distances", 2),
    ("removable_joints", "removable_joints", 1),
    ("requests", "requests", 2),
    ("transitions", "transitions", 12),
    ("points", "points", 1),
    ("measures", "measures", 3),
    ("paths", "paths", 2),
    ("path_numbers", "path_numbers", 2),
    ("formulas", "formulas", 6),
    ("coupling_formulas", "coupling_formulas", 1),
    ("formula_quantities", "formula_quantities", 1),
    ("instructions", "formula_instructions", 4),
    ("formula_results", "formula_results", 1),
    ("lookup_tables", "lookup_tables", 6),
    ("lookup_knots", "lookup_knots", 2),
)
PARAMETERS = (
    ("gravity", "one", 3),
    ("mass", "bodies", 1),
    ("com", "bodies", 3),
    ("inertia", "bodies", 6),
    ("parent_position", "joints", 3),
    ("parent_orientation", "joints", 4),
    ("child_position", "joints", 3),
    ("child_orientation", "joints", 4),
    ("stiffness", "speeds", 1),
    ("damping", "speeds", 1),
    ("free", "speeds", 1),
    ("reflected_inertia", "speeds", 1),
    ("max_load", "speeds", 1),
    ("coupling_coefficient", "terms", 4),
    ("coupling_offset", "couplings", 1),
    ("coupling_motion", "couplings", 7),
    ("distance_points", "distances", 6),
    ("spring_points", "spring", 6),
    ("spring_stiffness", "spring", 1),
    ("spring_damping", "spring", 1),
    ("spring_free_length", "spring", 1),
    ("wrench_point", "wrench", 3),
    ("actuator_gain", "actuator", 1),
    ("actuator_offset", "actuator", 1),
    ("actuator_stiffness", "actuator", 1),
    ("actuator_damping", "actuator", 1),
    ("actuator_input_range", "actuator", 2),
    ("actuator_force_range", "actuator", 2),
    ("bushing_points", "bushing", 6),
    ("bushing_rotations", "bushing", 8),
    ("bushing_stiffness", "bushing", 21),
    ("bushing_damping", "bushing", 21),
    ("bushing_preload", "bushing", 6),
    ("point_formula_point", "point_formula", 3),
    ("point_formula_axes", "point_formula", 1),
    ("frame_formula_points", "frame_formula", 6),
    ("frame_formula_rotations", "frame_formula", 8),
    ("force_gear", "gears", 1),
    ("line_point", "line_points", 3),
    ("line_factor", "line_points", 1),
    ("formula_number", "formula_numbers", 1),
    ("lookup_value", "lookup_values", 1),
    ("point_in_body", "points", 3),
    ("axis_in_body", "points", 3),
    ("transition_value", "transitions", 2),
    ("restitution", "transitions", 1),
    ("transition_points", "transitions", 6),
    ("impulse_point", "transitions", 3),
    ("impulse_start", "transitions", 6),
    ("gain", "one", 2),
    ("joint_parameter", "joints", 1),
    ("q_start", "coordinates", 1),
    ("u_start", "speeds", 1),
    ("q_priority", "coordinates", 1),
    ("u_priority", "speeds", 1),
    ("state_start", "formula_states", 1),
    ("state_nominal", "formula_states", 1),
)


@dataclass
class ModelBytes:
    """Contents of a model.

    `counts` by name, `tables` of whole numbers and `parameters` by name, arrays (rows, columns), all `names`, and where
    the parameters begin (`first_parameter`).
    """

    counts: dict
    tables: dict
    parameters: dict
    names: list
    first_parameter: int


def read_model(data):
    at = HEADER.size

    def take(rows, columns, kind):
        nonlocal at
        array = np.frombuffer(data, kind, rows * columns, at)
        at += array.nbytes
        return array.reshape(rows, columns)

    counts = dict(zip(COUNTS, take(1, len(COUNTS), "<i4")[0].tolist(), strict=True))
    rows = {
        "one": 1,
        "coordinates": counts["nq"] + counts["nq_cut"],
        "speeds": counts["nu"] + counts["nu_cut"],
        **dict.fromkeys(("spring", "bushing", "wrench", "actuator", "point_formula", "frame_formula"), 0),
        **counts,
    }
    tables = {}
    for name, owner, columns in TABLES:
        if name == "ear_links":
            rows[name] = int(tables["ears"][:, 2].sum())
        tables[name] = take(rows[owner], columns, "<i4")
        if name == "force_types":
            rows |= {row[:4].tobytes().rstrip(b"\0").decode(): int(row[4]) for row in tables[name]}
    first = at
    parameters = {name: take(rows[owner], columns, "<f8") for name, owner, columns in PARAMETERS}
    *names, rest = data[at:].decode().split("\0")
    assert not rest
    return ModelBytes(counts, tables, parameters, names, first)
