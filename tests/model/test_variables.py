"""Variables by name: what there is, where it stands, its unit, kind and default."""

import re

import numpy as np
import pytest

import linkwork as lw
from linkwork.variables.schema import columns_of
from support.cases import four_bar
from support.random_mechanisms import tree_or_loop

# suffix of a name: field of the core, unit for a revolute joint, unit for a prismatic one
OF_JOINTS = {
    "q": ("q", "rad", "m"),
    "u": ("u", "rad/s", "m/s"),
    "a": ("acceleration", "rad/s2", "m/s2"),
    "tau": ("tau", "N.m", "N"),
    "stiffness": ("stiffness", "N.m/rad", "N/m"),
    "damping": ("damping", "N.m.s/rad", "N.s/m"),
    "free": ("free_coordinate", "rad", "m"),
    "reflected_inertia": ("reflected_inertia", "kg.m2", "kg"),
    "q_start": ("q_start", "rad", "m"),
    "u_start": ("u_start", "rad/s", "m/s"),
}
OF_BODIES = {
    "mass": ("body_mass", "kg", 1),
    "com": ("body_com", "m", 3),
    "inertia": ("body_inertia", "kg.m2", 6),
    "r": ("body_position", "m", 3),
    "Q": ("body_orientation", "1", 4),
    "v": ("body_velocity", "m/s", 3),
    "w": ("body_angular_velocity", "rad/s", 3),
}

# ---- names ----


def elements(name, count):
    return [f"{name}[{i + 1}]" for i in range(count)]


def test_names_of_a_four_bar():
    """The whole table, name by name."""
    expected = ["time", *elements("gravity", 3), "loop_gain.position", "loop_gain.speed"]
    for body in ("crank", "coupler", "rocker"):
        expected += [f"{body}.mass", *elements(f"{body}.com", 3)]
        expected += [f"{body}.inertia[{i},{j}]" for i, j in ((1, 1), (1, 2), (1, 3), (2, 2), (2, 3), (3, 3))]
        expected += [name for what in ("r", "v", "w") for name in elements(f"{body}.{what}", 3)]
        expected += elements(f"{body}.Q", 4)
    for joint in "ABCD":
        for side in ("parent_frame", "child_frame"):
            expected += elements(f"{joint}.{side}.position", 3) + elements(f"{joint}.{side}.rotation", 4)
        expected += [f"{joint}.{what}" for what in OF_JOINTS]
        expected += elements(f"{joint}.f", 3) + elements(f"{joint}.t", 3)
    expected += [f"der({joint}.{what})" for joint in "ABC" for what in "qu"]
    expected += ["energy.kinetic", "energy.potential", "loop.D.residual", "loop.D.conditioning"]
    names = [variable.name for variable in lw.compile(four_bar().mechanism).variables]
    assert sorted(names) == sorted(expected)


def test_a_tree_has_no_names_of_loops():
    names = [variable.name for variable in lw.compile(tree_or_loop("tree1").mechanism).variables]
    assert not [name for name in names if name.startswith("loop")]


def test_bodies_and_joints_may_have_the_same_name():
    mech = lw.Mechanism("same")
    for name in ("energy", "time", "loop", "gravity"):
        mech.add_body(name, mass=1.0, com=(0.1, 0, 0), inertia=np.eye(3))
        mech.add_joint(name, lw.Revolute(axis=(0, 0, 1)), "ground", name, at=(0, 0, 0))
    mech.add_joint("closing", lw.Revolute(axis=(0, 0, 1)), "time", "loop", at=(0, 0, 0))
    system = lw.compile(mech)
    names = [variable.name for variable in system.variables]
    assert len(set(names)) == len(names)
    state = system.assemble()
    assert state["energy.kinetic"] == 0.0
    assert state["gravity"] == pytest.approx([0, 0, -9.81])
    assert state["time"] == state["time.q"] == 0.0


def test_names_and_references_are_unique(scene):
    system = lw.compile(scene.mechanism)
    assert len({variable.name for variable in system.variables}) == len(system.variables)
    assert len({variable.reference for variable in system.variables}) == len(system.variables)
    assert all(0 <= variable.reference < system.sizes.reals for variable in system.variables)


def test_names_are_structured(scene):
    """As FMI's structured naming demands: identifiers with dots and indices, and der() around them."""
    identifier = r"[A-Za-z_]\w*(\[\d+(,\d+)?\])?"
    name = re.compile(rf"{identifier}(\.{identifier})*|der\({identifier}(\.{identifier})*\)")
    for variable in lw.compile(scene.mechanism).variables:
        assert name.fullmatch(variable.name)
        assert variable.description
        assert variable.unit


# ---- offsets, units, defaults ----


def test_joint_variables_stand_in_their_fields(scene):
    system = lw.compile(scene.mechanism)
    found = {variable.name: variable for variable in system.variables}
    numbering = system.numbering
    for joint in (*numbering.tree, *numbering.cut):
        kind = scene.mechanism.joints[joint].kind.type_name
        columns = range(numbering.u[joint].start, numbering.u[joint].stop)
        assert (f"{joint}.q" in found) == bool(columns)
        for suffix, (field, *units) in OF_JOINTS.items():
            for column in columns:  # none for fixed joints
                cut = suffix in "qu" and joint in numbering.cut
                first = system.fields[f"{field}_cut" if cut else field].first - (numbering.nu if cut else 0)
                variable = found[f"{joint}.{suffix}"]
                assert variable.reference == first + column
                assert variable.unit == units[kind == "prismatic"]


def test_body_variables_stand_in_their_fields(scene):
    system = lw.compile(scene.mechanism)
    units = {variable.name: variable.unit for variable in system.variables}
    for b, body in enumerate(scene.mechanism.bodies):
        for suffix, (field, unit, count) in OF_BODIES.items():
            name = f"{body}.{suffix}"
            column = system.column(name)
            assert (column.first, column.count) == (system.fields[field].first + count * b, count)
            assert column.vector == (count > 1)
            assert column.unit == unit
            assert {units[element] for element in units if element.partition("[")[0] == name} == {unit}


def test_totals_stand_in_their_fields():
    system = lw.compile(tree_or_loop("side_by_side").mechanism)
    found = {variable.name: (variable.reference, variable.unit) for variable in system.variables}
    fields = system.fields
    assert found["time"] == (fields["time"].first, "s")
    assert found["gravity[3]"] == (fields["gravity"].first + 2, "m/s2")
    assert found["energy.kinetic"] == (fields["energy_kinetic"].first, "J")
    assert found["energy.potential"] == (fields["energy_potential"].first, "J")
    assert found["loop_gain.speed"] == (fields["correction_gain"].first + 1, "1/s")
    for i, joint in enumerate(system.loop_names):
        assert found[f"loop.{joint}.residual"] == (fields["loop_residual"].first + i, "m")
        assert found[f"loop.{joint}.conditioning"] == (fields["loop_conditioning"].first + i, "1")
    for j, joint in enumerate(system.joint_names):
        assert found[f"{joint}.f[1]"] == (fields["reaction_force"].first + 3 * j, "N")
        assert found[f"{joint}.t[2]"] == (fields["reaction_torque"].first + 3 * j + 1, "N.m")


def test_states_and_derivatives(scene):
    system = lw.compile(scene.mechanism)
    states = [variable for variable in system.variables if variable.kind == "state"]
    rates = {variable.derivative_of: variable for variable in system.variables if variable.kind == "derivative"}
    assert [*rates] == [state.name for state in states]
    shift = system.fields["qdot"].first - system.fields["q"].first
    for state in states:
        assert rates[state.name].name == f"der({state.name})"
        assert rates[state.name].reference == state.reference + shift
        assert rates[state.name].unit == {"rad": "rad/s", "m": "m/s"}.get(state.unit, f"{state.unit}2")
    in_block = sorted(states, key=lambda state: state.reference)
    assert [state.name for state in in_block] == system.q_names + system.u_names


def test_kinds_and_defaults(scene):
    """Settable variables have the default of the description; computed ones have none."""
    system = lw.compile(scene.mechanism)
    defaults = system.block().reals
    for variable in system.variables:
        if variable.kind in ("parameter", "start", "input"):
            assert variable.start == defaults[variable.reference]
        else:
            assert variable.start is None
        assert (variable.derivative_of is not None) == (variable.kind == "derivative")
        assert (variable.minimum == 0.0) == bool(re.search(r"\.(mass|reflected_inertia(\[\d\])?)$", variable.name))
        assert variable.depends is None or variable.kind in ("derivative", "output")
    starts = {variable.name: variable.start for variable in system.variables}
    for name, body in scene.mechanism.bodies.items():
        assert starts[f"{name}.mass"] == body.mass
        assert [starts[f"{name}.com[{i + 1}]"] for i in range(3)] == body.com.tolist()
        assert starts[f"{name}.inertia[1,2]"] == body.inertia[0, 1]
        assert starts[f"{name}.inertia[3,3]"] == body.inertia[2, 2]
    for force in scene.mechanism.forces:
        name = force.joint if force.joint_names else force.name
        if force.type_name == "wrench":
            assert [starts[f"{name}.point[{i + 1}]"] for i in range(3)] == list(force.point)
            assert [starts[f"{name}.{what}[{i + 1}]"] for what in "FT" for i in range(3)] == [0.0] * 6
        else:
            found = [starts[f"{name}.{what}"] for what in ("stiffness", "damping", "free")]
            assert found == [force.stiffness, force.damping, force.free]


def test_start_values_are_defaults():
    case = four_bar()
    case.mechanism.start(q={"A": -0.7, "D": 1.6}, u={"B": 2.0})
    starts = {variable.name: variable.start for variable in lw.compile(case.mechanism).variables}
    assert [starts[f"{joint}.q_start"] for joint in "ABCD"] == [-0.7, 0.0, 0.0, 1.6]
    assert [starts[f"{joint}.u_start"] for joint in "ABCD"] == [0.0, 2.0, 0.0, 0.0]


def test_columns_group_elements(scene):
    system = lw.compile(scene.mechanism)
    columns = columns_of(system.variables)
    assert {variable.name for variable in system.variables} <= set(columns)
    for variable in system.variables:
        base = variable.name.partition("[")[0]
        assert columns[base].first <= variable.reference < columns[base].first + columns[base].count
