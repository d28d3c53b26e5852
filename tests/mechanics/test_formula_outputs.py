"""Outputs by formulas: their values against NumPy's from the other variables, their derivatives, their dependencies."""

import numpy as np
import pytest

import linkwork as lw
from support.cases import four_bar
from support.joint_families import ALL_KINDS, JOINT_FAMILIES
from support.random_mechanisms import FAMILIES, random_tree, well_posed

METHODS = [
    *(("rcr",), ("embedding",), ("dca",)),
    *(("multipliers", reference) for reference in ("joint", "centroid", "origin")),
]
SCENES = ["RUSR_cut_1", "RCCC_on_three_bodies", "closed_by_free", "free_cut", "slider_crank", "coupled", "tree"]
FUNCTIONS = {"sin": np.sin, "tanh": np.tanh, "abs": np.abs, "atan": np.arctan}
UNREADABLE = ("loop", "loop_gain")


def scene_of(name):
    if name == "tree":
        return random_tree(np.random.default_rng(3), 7, ALL_KINDS, springs=2)
    return well_posed({**JOINT_FAMILIES, **FAMILIES}[name][0], 5)


def furnished(scene):
    """A mechanism with points, a measure and forces besides."""
    mech = scene.mechanism.copy()
    first, *_, last = mech.bodies
    mech.add_point("tip", last, (0.1, 0.2, -0.1), axis=(1, 2, 2))
    mech.add_point("wall", "ground", (1, 0, 0))
    mech.add_measure("travel", "distance", ("wall", "tip"))
    mech.add_force(lw.Wrench(first, name="push"))
    joint = next(name for name, one in mech.joints.items() if one.kind.nu == 1)
    mech.add_force(lw.Force(joint, "-k*q - d*u", parameters={"k": 2.0, "d": 0.3}, name="spring"))
    return mech


def names_of(system):
    """All real variables that a formula can read."""
    return [
        v.name
        for v in system.variables
        if v.type == "real" and v.kind != "derivative" and v.name.split(".")[0] not in UNREADABLE
    ]


class RandomOutput:
    """A sum of functions of random variables; parameters give all of them any unit."""

    def __init__(self, rng, names, terms=5):
        self.terms = [
            (rng.uniform(0.2, 1.5), str(rng.choice(list(FUNCTIONS))), rng.uniform(-1.5, 1.5), str(rng.choice(names)))
            for _ in range(terms)
        ]
        self.text = " + ".join(f"b{k}*{of}(a{k}*{name})" for k, (_, of, _, name) in enumerate(self.terms))
        self.parameters = {f"b{k}": float(b) for k, (b, *_) in enumerate(self.terms)}
        self.parameters |= {f"a{k}": float(a) for k, (_, _, a, _) in enumerate(self.terms)}

    def value(self, values):
        return sum(b * FUNCTIONS[of](a * values[name]) for b, of, a, name in self.terms)


def with_outputs(mech, seed, count=4):
    rng = np.random.default_rng(seed)
    names = names_of(lw.compile(mech))
    made = {}
    for k in range(count):
        made[f"out{k}"] = one = RandomOutput(rng, [*names, *made])
        mech.add_output(f"out{k}", one.text, parameters=one.parameters)
    return made


@pytest.mark.parametrize("method", METHODS, ids="-".join)
@pytest.mark.parametrize("name", SCENES)
def test_values_from_the_other_variables(name, method):
    scene = scene_of(name)
    mech = furnished(scene)
    made = with_outputs(mech, 7)
    system = lw.compile(mech, *method)
    run = lw.simulate(system, 0.02, state=system.assemble(q=scene.q, u=scene.u), t_eval=np.linspace(0.0, 0.02, 3))
    plain = {v.name: v.start for v in system.variables if v.kind in ("parameter", "start")}
    for k, (output, one) in enumerate(made.items()):
        values = {key: plain[key] if key in plain else run[key] for *_, key in one.terms}
        assert run[output] == pytest.approx(one.value(values), rel=1e-12, abs=1e-12), (k, one.text)


def test_they_change_no_bit_of_the_motion():
    scene = scene_of("RUSR_cut_1")
    bare, mech = furnished(scene), furnished(scene)
    with_outputs(mech, 3)
    runs = [lw.simulate(one, 0.05) for one in (bare, mech)]
    assert np.array_equal(runs[0].y, runs[1].y)
    assert np.array_equal(runs[0].t, runs[1].t)


SLOPES = {"sin": np.cos, "tanh": lambda x: 1 - np.tanh(x) ** 2, "abs": np.sign, "atan": lambda x: 1 / (1 + x * x)}


@pytest.mark.parametrize("name", ["RUSR_cut_1", "closed_by_free", "slider_crank", "tree"])
def test_linear_models_have_their_derivatives(name):
    """By the chain rule from those of the variables that they read."""
    scene = scene_of(name)
    mech = furnished(scene)
    rng = np.random.default_rng(11)
    kinds = {v.name: v.kind for v in lw.compile(mech).variables}
    names = [one for one in names_of(lw.compile(mech)) if kinds[one] in ("output", "state")]
    made = {f"out{k}": RandomOutput(rng, names) for k in range(4)}
    for output, one in made.items():
        mech.add_output(output, one.text, parameters=one.parameters)
    system = lw.compile(mech)
    state = system.assemble(q=scene.q, u=scene.u)
    read = sorted({key for one in made.values() for *_, key in one.terms})
    linear = system.linearize(state, outputs=[*made, *read])
    rows = {key: np.concatenate([linear.C[k], linear.D[k]]) for k, key in enumerate([*made, *read])}
    for output, one in made.items():
        expected = sum(b * a * SLOPES[of](a * system.value(key, state)) * rows[key] for b, of, a, key in one.terms)
        assert rows[output] == pytest.approx(expected, rel=1e-11, abs=1e-11 * np.abs(expected).max())


def test_they_depend_on_what_they_read():
    mech = furnished(four_bar())
    given = {"s": 1.0, "c": (1.0, "W/s")}
    mech.add_output("drive", "spring.force*A.u + push.F[1]*A.u/s + c*time", parameters=given, unit="W")
    mech.add_output("mass", "crank.mass + 2*coupler.mass")
    mech.add_output("both", "drive*mass")
    found = {v.name: v for v in lw.compile(mech).variables}
    assert set(found["drive"].depends) == {"A.q", "A.u", "push.F[1]", "time"}
    assert found["mass"].depends == ()
    assert set(found["both"].depends) == set(found["drive"].depends)
    assert (found["drive"].unit, found["mass"].unit) == ("W", "kg")


def test_an_output_of_what_has_no_value_is_no_number():
    mech = lw.Mechanism("p")
    mech.add_body("arm", mass=2.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(2.0, 1.0))
    mech.add_joint("hinge", lw.Revolute((0, 1, 0)), "ground", "arm", at=(0, 0, 0))
    mech.add_output("root", "sqrt(limit - hinge.q)", parameters={"limit": 0.5})
    mech.add_output("looked_up", "map(hinge.q)", tables={"map": lw.LookupTable((0, 1), (2, 3), outside="error")})
    run = lw.simulate(mech, 1.0)
    beyond = run["hinge.q"] > 0.5
    assert 0 < beyond.sum() < len(run.t)
    assert np.array_equal(np.isnan(run["root"]), beyond)
    assert np.array_equal(np.isnan(run["looked_up"]), (run["hinge.q"] > 1) | (run["hinge.q"] < 0))
    assert run["root"][~beyond] == pytest.approx(np.sqrt(0.5 - run["hinge.q"][~beyond]), rel=1e-14)
    assert np.isfinite(run["arm.r[1]"]).all()


def test_variants_of_a_mechanism_have_the_same_outputs():
    """Across a release and a lock, through which links and loops have other numbers."""
    scene = four_bar()
    mech = furnished(scene)
    mech.start(q=scene.q, u=scene.u)
    made = with_outputs(mech, 5)
    mech.add_transition("latch", lw.Lock("B"), when=lw.Time(0.1))
    mech.add_output("held", "2*latch.active + events/10")
    mech.add_transition("open", lw.Release("D"), when=lw.Time(0.2))
    run = lw.simulate(mech, 0.3)
    system = lw.compile(mech)
    plain = {v.name: v.start for v in system.variables if v.kind in ("parameter", "start")}
    for output, one in made.items():
        values = {key: plain[key] if key in plain else run[key] for *_, key in one.terms}
        assert run[output] == pytest.approx(one.value(values), rel=1e-12, abs=1e-12), one.text
    assert run["held"] == pytest.approx(2.0 * run["latch.active"] + run["events"] / 10)
    assert set(run["held"].round(6)) == {0.0, 2.1, 2.2}
