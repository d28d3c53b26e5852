"""Forces by formulas, against built-in ones, and against loads and wrenches by the same formulas in Python."""

import re

import numpy as np
import pytest

import linkwork as lw
from support.cases import four_bar
from support.driving import by_joint, largest_difference, random_loads, reached, wrenches
from support.formula_forces import RandomFormula, coordinates, on_joint, readable
from support.joint_families import ALL_KINDS, JOINT_FAMILIES
from support.placement import plain, vector
from support.random_mechanisms import FAMILIES, random_tree, well_posed

METHODS = [
    *(("rcr",), ("embedding",), ("dca",)),
    *(("multipliers", reference) for reference in ("joint", "centroid", "origin")),
]
SCENES = ["RUSR_cut_1", "RCCC_on_three_bodies", "closed_by_free", "free_cut", "slider_crank", "coupled", "tree"]


def scene_of(name):
    if name == "tree":
        return random_tree(np.random.default_rng(3), 7, ALL_KINDS, springs=2)
    return well_posed({**JOINT_FAMILIES, **FAMILIES}[name][0], 5)


def with_forces(scene, forces):
    """The mechanism of a scene with further forces."""
    mech = scene.mechanism.copy()
    for force in forces:
        mech.add_force(force)
    return mech


def solved(mech, scene, method, loads):
    system = lw.compile(mech, *method)
    state = system.assemble(q=scene.q, u=scene.u)
    return system, state, by_joint(system, system.accelerations(state, tau=loads))


# ---- the same as built-in forces ----


@pytest.mark.parametrize("method", METHODS, ids="-".join)
@pytest.mark.parametrize("joint", ["A", "D"])
def test_a_spring_in_a_joint_by_a_formula_has_the_same_bits(joint, method):
    case = four_bar()
    found = []
    for force in (
        lw.SpringDamper(joint, stiffness=3.0, damping=0.7),
        lw.Force(joint, "-k*q - d*u", parameters={"k": 3.0, "d": 0.7}),
    ):
        found.append(solved(with_forces(case, [force]), case, method, {})[2])
    assert found[0] == found[1]


@pytest.mark.parametrize("method", METHODS, ids="-".join)
def test_a_spring_between_points_by_a_formula(method):
    case = four_bar()
    ends = {"bodies": ("ground", "coupler"), "points": ((0.1, 0.2, 0.5), (0.1, 0.0, 0.1))}
    values = {"k": 30.0, "free": 0.3, "d": 2.0}
    found = [
        solved(with_forces(case, [force]), case, method, {})
        for force in (
            lw.SpringDamper(**ends, stiffness=30.0, damping=2.0, free=0.3),
            lw.Force(**ends, formula="k*(length - free) + d*rate", parameters=values),
        )
    ]
    assert largest_difference(found[1][2], found[0][2]) < 1e-13
    for what in ("length", "rate", "force"):
        assert found[1][1][f"force.{what}"] == pytest.approx(found[0][1][f"spring.{what}"], rel=1e-14)


def test_an_actuator_by_a_formula_has_the_same_bits():
    """With gears, an input and limits."""
    case = four_bar()
    gears = {"A": 2.0, "C": -0.5}
    built_in = lw.Actuator("m", gears, gain=3.0, offset=0.2, stiffness=5.0, damping=1.0, force_range=(-4, 4))
    formula = "min(max(gain*p + offset - k*q - d*u, low), high)"
    values = {"gain": 3.0, "offset": 0.2, "k": 5.0, "d": 1.0, "low": -4.0, "high": 4.0}
    by_formula = lw.Force(gears, formula, parameters=values, inputs=("p",), name="m")
    for given in (0.1, 2.0, -3.0):
        one = solved(with_forces(case, [built_in]), case, ("rcr",), {"m.input": given})
        other = solved(with_forces(case, [by_formula]), case, ("rcr",), {"m.p": given})
        assert one[2] == other[2]


# ---- random formulas of the coordinates and speeds of all joints ----


@pytest.mark.thin(6, kept=3)
@pytest.mark.parametrize("method", METHODS, ids="-".join)
@pytest.mark.parametrize("name", SCENES)
def test_forces_on_joints_by_formulas_of_other_joints(name, method):
    scene, rng = scene_of(name), np.random.default_rng(7)
    loads = {key: vector(value).copy() for key, value in random_loads(rng, scene).items()}
    total = {key: value.copy() for key, value in loads.items()}
    forces = []
    for number, (coordinate, joint, k) in enumerate(coordinates(scene)):
        force, value = on_joint(rng, scene, coordinate, f"f{number}")
        forces.append(force)
        total[joint][k] += value
    given, all_loads = ({key: plain(value) for key, value in one.items()} for one in (loads, total))
    _, _, expected = solved(scene.mechanism, scene, method, all_loads)
    system, state, found = solved(with_forces(scene, forces), scene, method, given)
    assert largest_difference(found, expected) < 1e-12
    plain_system, plain_state = reached(scene, *method)
    reactions = wrenches(system, state, given), wrenches(plain_system, plain_state, all_loads)
    for joint in reactions[0]:
        size = max(np.abs(one).max() for one in reactions[1].values())
        assert np.abs(reactions[0][joint] - reactions[1][joint]).max() < 1e-11 * size


@pytest.mark.thin(6, kept=2)
@pytest.mark.parametrize("method", METHODS, ids="-".join)
@pytest.mark.parametrize("name", SCENES)
def test_forces_on_bodies_by_formulas(name, method):
    """At a point in world and body axes, and between points, against wrenches."""
    scene, rng = scene_of(name), np.random.default_rng(11)
    names, values = list(readable(scene)), readable(scene)
    bodies = list(scene.mechanism.bodies)
    on, other = rng.choice(bodies, 2, replace=len(bodies) == 1)
    forces, applied, inputs = [], [], {}
    for axes in ("world", "body"):
        drawn = [RandomFormula(rng, names, 2) for _ in range(6)]
        parameters = {f"{key}_{i}": value for i, one in enumerate(drawn) for key, value in one.parameters.items()}
        texts = [_renamed(one, i) for i, one in enumerate(drawn)]
        point = tuple(rng.normal(size=3))
        forces.append(
            lw.Force(
                body=str(on),
                point=point,
                force=texts[:3],
                torque=texts[3:],
                axes=axes,
                parameters=parameters,
                name=f"f_{axes}",
            )
        )
        applied.append(lw.Wrench(str(on), point, name=f"w_{axes}"))
        turn = scene.poses[str(on)].rotation if axes == "body" else np.eye(3)
        found = np.array([one.value(values) for one in drawn])
        inputs |= {f"w_{axes}.F": turn @ found[:3], f"w_{axes}.T": turn @ found[3:]}
    if on != other:
        made = RandomFormula(rng, names)
        ends = rng.normal(size=(2, 3))
        forces.append(
            lw.Force(
                bodies=(str(on), str(other)),
                points=ends.tolist(),
                formula=made.text,
                parameters=made.parameters,
                name="line",
            )
        )
        poses = [scene.poses[str(body)] for body in (on, other)]
        at = [pose.position + pose.rotation @ end for pose, end in zip(poses, ends, strict=True)]
        pull = made.value(values) * (at[1] - at[0]) / np.linalg.norm(at[1] - at[0])
        for body, end, sign in ((on, ends[0], 1.0), (other, ends[1], -1.0)):
            applied.append(
                lw.Wrench(str(body), tuple(end), name=f"end_{sign:+.0f}".replace("+", "p").replace("-", "m"))
            )
            inputs[f"{applied[-1].name}.F"] = sign * pull
    _, _, expected = solved(with_forces(scene, applied), scene, method, inputs)
    _, _, found = solved(with_forces(scene, forces), scene, method, {})
    assert largest_difference(found, expected) < 1e-12


def _renamed(formula, i):
    text = formula.text
    for key in formula.parameters:
        text = text.replace(f"{key}*", f"{key}_{i}*")
    return text


@pytest.mark.parametrize("name", ["RUSR_cut_1", "coupled"])
def test_the_augmented_equations_move_alike(name):
    """By GGL, where loops are open while constraints are found."""
    scene, rng = scene_of(name), np.random.default_rng(2)
    forces = [on_joint(rng, scene, coordinate, f"f{k}")[0] for k, (coordinate, *_) in enumerate(coordinates(scene))]
    made = RandomFormula(rng, list(readable(scene)))
    body = next(iter(scene.mechanism.bodies))
    forces.append(lw.Force(body=body, force=(made.text, "0", "0"), axes="body", parameters=made.parameters, name="b"))
    system = lw.compile(with_forces(scene, forces))
    state = system.assemble(q=scene.q, u=scene.u)
    runs = [
        lw.simulate(system, 0.1, state=state, rtol=1e-9, atol=1e-11, t_eval=[0.0, 0.05, 0.1], **more)
        for more in ({}, {"formulation": "ggl", "solver": "ida"})
    ]
    for variable in (*system.q_names, *system.u_names):
        assert runs[0][variable] == pytest.approx(runs[1][variable], abs=1e-6)


@pytest.mark.parametrize("name", ["RUSR_cut_1", "coupled", "tree"])
def test_inverse_dynamics_beside_formulas(name):
    scene, rng = scene_of(name), np.random.default_rng(4)
    forces = [on_joint(rng, scene, coordinate, f"f{k}")[0] for k, (coordinate, *_) in enumerate(coordinates(scene))]
    system = lw.compile(with_forces(scene, forces))
    state = system.assemble(q=scene.q, u=scene.u)
    wanted = system.accelerations(state)
    loads = {
        key: load for key, load in system.by_joint(system.inverse_dynamics(state, wanted)).items() if np.size(load)
    }
    again = by_joint(system, system.accelerations(state, tau=loads))
    assert largest_difference(again, by_joint(system, wanted)) < 1e-7


@pytest.mark.parametrize("name", SCENES)
def test_dependencies_on_states(name):
    """A variable that does not name a state, an input or time does not change with it."""
    scene, rng = scene_of(name), np.random.default_rng(5)
    coordinate = coordinates(scene)[-1][0]
    made = RandomFormula(rng, list(readable(scene)), 2)
    force = lw.Force(
        coordinate, f"{made.text} + c*p*sin(w*time)", parameters={**made.parameters, "c": 1.0, "w": 2.0}, inputs=("p",)
    )
    system = lw.compile(with_forces(scene, [force]))
    state = system.assemble(q=scene.q, u=scene.u)
    block = system.block()
    block.enter(state.q, state.u, system.arguments.with_motions(state, system.arguments.loads({"force.p": 0.7})), 0.3)
    unknowns = [v for v in system.variables if v.kind in ("derivative", "output")]
    rows = np.array([v.reference for v in unknowns], dtype=np.uint32)
    for known in (v for v in system.variables if v.kind in ("state", "input", "time")):
        exact = block.directional_derivative(rows, np.array([known.reference], np.uint32), np.ones(1))
        declared = np.array([v.depends is None or known.name in v.depends for v in unknowns])
        assert np.abs(exact[~declared]).max(initial=0.0) < 1e-12, known.name


# ---- derivatives ----

SLOPES = [  # of the load by q, u and time at q = 0.3, u = -0.4, t = 0.5
    ("sin(q) + cos(q)", np.cos(0.3) - np.sin(0.3), 0.0, 0.0),
    ("tan(q)", 1 / np.cos(0.3) ** 2, 0.0, 0.0),
    ("exp(q)*tanh(u)", np.exp(0.3) * np.tanh(-0.4), np.exp(0.3) / np.cosh(0.4) ** 2, 0.0),
    ("asin(q) + acos(u)", 1 / np.sqrt(1 - 0.09), -1 / np.sqrt(1 - 0.16), 0.0),
    ("atan(q) + atan2(u, q)", 1 / 1.09 + 0.4 / 0.25, 0.3 / 0.25, 0.0),
    ("log(q) + sqrt(q)", 1 / 0.3 + 0.5 / np.sqrt(0.3), 0.0, 0.0),
    ("sinh(q)*cosh(u)", np.cosh(0.3) * np.cosh(0.4), np.sinh(0.3) * np.sinh(-0.4), 0.0),
    ("u*abs(u)", 0.0, 0.8, 0.0),
    ("q^2.5 + q^3 + u^-2 + u^7", 2.5 * 0.3**1.5 + 0.27, 2 / 0.4**3 + 7 * 0.4**6, 0.0),
    ("q^u", -0.4 * 0.3**-1.4, 0.3**-0.4 * np.log(0.3), 0.0),
    ("min(q, u) + max(q, 2*u)", 1.0, 1.0, 0.0),
    ("sign(u)*q + floor(u)*u", -1.0, -1.0, 0.0),
    ("mod(q, 0.2) + mod(u, q)", 1.0 + 2.0, 1.0, 0.0),
    ("if(q < 0.5, q*u, u) + if(u >= 0, u, 3*q)", -0.4 + 3.0, 0.3, 0.0),
    ("sin(3*time)*u/q", -np.sin(1.5) * -0.4 / 0.09, np.sin(1.5) / 0.3, 3 * np.cos(1.5) * -0.4 / 0.3),
]


@pytest.mark.parametrize(("text", "by_q", "by_u", "by_time"), SLOPES, ids=[row[0] for row in SLOPES])
def test_derivatives_by_complex_step_are_exact(text, by_q, by_u, by_time):
    mech = lw.Mechanism("wheel", gravity=(0, 0, 0))
    mech.add_body("rotor", mass=1.0, com=(0, 0, 0), inertia=np.eye(3))
    mech.add_joint("A", lw.Revolute((0, 0, 1)), "ground", "rotor", at=(0, 0, 0))
    for what, by in (("q", "cq"), ("u", "cu"), ("time", "ct")):  # so that all has the unit 1
        text = re.sub(rf"\b{what}\b", f"({by}*{what})", text)
    used = {name: (1.0, unit) for name, unit in (("cq", "1/rad"), ("cu", "s/rad"), ("ct", "1/s")) if name in text}
    mech.add_force(lw.Force("A", f"c*({text})", parameters={"c": (1.0, "N.m"), **used}))
    model = lw.compile(mech)
    block = model.block()
    block.enter(np.array([0.3]), np.array([-0.4]), np.zeros(model.numbering.n_inputs), 0.5)
    column = {v.name: np.array([v.reference], np.uint32) for v in model.variables}
    for name, expected in (("A.q", by_q), ("A.u", by_u), ("time", by_time)):
        found = block.directional_derivative(column["A.a"], column[name], np.ones(1))
        assert found == pytest.approx([expected], rel=1e-13, abs=1e-14)


def test_a_formula_of_time_by_an_implicit_solver():
    """Its Jacobian has a column for the time."""
    mech = lw.Mechanism("wheel", gravity=(0, 0, 0))
    mech.add_body("rotor", mass=1.0, com=(0, 0, 0), inertia=np.eye(3) * 2.0)
    mech.add_joint("A", lw.Revolute((0, 0, 1)), "ground", "rotor", at=(0, 0, 0))
    mech.add_force(lw.Force("A", "T*cos(w*time)", parameters={"T": 3.0, "w": 5.0}))
    for solver in ("dopri5", "rodas5p"):
        result = lw.simulate(mech, 2.0, solver=solver, rtol=1e-10, atol=1e-12, t_eval=[0.0, 1.0, 2.0])
        assert result["A.u"] == pytest.approx(3.0 / 2.0 / 5.0 * np.sin(5.0 * result.t), abs=1e-9)


def test_what_an_open_joint_does_is_zero():
    """A joint that a release opens has no coordinate and no speed any more, whatever a formula reads of it."""
    case = four_bar()
    mech = with_forces(case, [lw.Force("A", "-k*D.q - d*D.u + c", parameters={"k": 3.0, "d": 0.2, "c": 0.5})])
    mech.start(q=case.q, u=case.u)
    mech.add_transition("open", lw.Release("D"), when=lw.Time(0.05))
    result = lw.simulate(mech, 0.1, t_eval=[0.0, 0.04, 0.08, 0.1])
    assert abs(result["force.force"][:2] - 0.5).min() > 1e-3
    assert result["force.force"][2:].tolist() == [0.5, 0.5]
