"""Forces by formulas in descriptions: arguments, names, units, files, and what is refused."""

import copy
import pickle
import re
import time

import numpy as np
import pytest

import linkwork as lw
from linkwork.core.native import NativeModel
from support.small import pendulum


def with_force(*arguments, **given):
    mech = pendulum()
    mech.add_force(lw.Force(*arguments, **given))
    return mech


def test_arguments_choose_the_kind():
    on_joint = lw.Force("A", "-k*q", parameters={"k": 3.0})
    between = lw.Force(bodies=("ground", "rod"), points=((0, 0, 1), (1, 0, 0)), formula="k*(length - l)")
    at_point = lw.Force(body="rod", force=("0", "0", "-1"))
    assert [one.type_name for one in (on_joint, between, at_point)] == ["joint_force", "line_force", "point_force"]
    assert all(isinstance(one, lw.Force) and not one.keeps_energy for one in (on_joint, between, at_point))
    given = "joint='A', formula='-k*q', parameters={'k': 3.0}, tables={}, inputs=(), name='force'"
    assert repr(on_joint) == f"Force({given})"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "nothing does not fit"),
        ({"joint": "A"}, "joint does not fit"),
        ({"joint": "A", "formula": "q", "body": "rod"}, "body, formula, joint does not fit"),
        ({"body": "rod", "axes": "link"}, "axes must be 'world' or 'body'"),
        ({"body": "rod", "force": ("0", "0")}, "three formulas"),
        ({"joint": "A", "formula": "q", "inputs": "p"}, "inputs must be names"),
        ({"joint": {"A": 0.0}, "formula": "q"}, "zero"),
        ({"joint": 3, "formula": "q"}, "gears must be a dictionary"),
    ],
)
def test_arguments_that_do_not_fit(given, words):
    with pytest.raises(lw.MechanismError, match=re.escape(words)):
        lw.Force(**given)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"formula": "k*w"}, "the name 'w' is unknown"),
        ({"formula": "k*B.q"}, "'B.q' is unknown: did you mean 'A.q'"),
        ({"formula": "k*A.q[1]"}, "unknown"),
        ({"formula": "k*(q"}, ")"),
        ({"formula": "k*q + u*(2*q)"}, "unit"),
        ({"formula": "q*(1)", "parameters": {}}, "unit"),
        ({"formula": "k*q", "inputs": ("p",)}, "no formula uses the input 'p'"),
        ({"formula": "p*q"}, "no formula uses the parameter 'k'"),
        ({"formula": "k*q*rate", "parameters": {"k": 1.0, "rate": 2.0}}, "'rate' means something else here"),
        ({"formula": "k*q", "parameters": {"k": (1.0, "N")}}, "unit"),
        ({"formula": "k*q", "parameters": {"k": np.inf}}, "finite"),
        ({"joint": "C", "formula": "k*q"}, "there is no joint 'C'"),
    ],
)
def test_formulas_that_are_refused(given, words):
    given = {"joint": "A", "parameters": {"k": 3.0}} | given
    if given["formula"] == "p*q":
        given["inputs"] = ("p",)
    with pytest.raises(lw.MechanismError, match=re.escape(words)):
        with_force(given.pop("joint"), given.pop("formula"), **given)


def test_an_error_shows_the_place():
    with pytest.raises(lw.MechanismError) as error:
        with_force("A", "-k*q - d*abs(v)", parameters={"k": 1.0, "d": 1.0}, name="spring")
    first, text, marks = str(error.value).splitlines()
    assert first.startswith("Force 'spring': the name 'v' is unknown")
    assert text[marks.index("^")] == "v"


def test_units_follow():
    formula = "-k*q - d*u*abs(u) + c*p*sin(w*time)"
    model = lw.compile(with_force("A", formula, parameters={"k": 3, "d": 1, "c": (1, "N"), "w": 2}, inputs=("p",)))
    units = {v.name: v.unit for v in model.variables if v.name.startswith("force.")}
    assert units == {
        "force.k": "N.m/rad",
        "force.d": "kg.m2/rad2",
        "force.c": "N",
        "force.w": "rad/s",
        "force.p": "m",
        "force.length": "rad",
        "force.rate": "rad/s",
        "force.force": "N.m",
        "force.power": "W",
    }


def test_files_keep_all(tmp_path):
    mech = with_force("A", "p - k*q", parameters={"k": (3.0, "N.m/rad")}, inputs=("p",), name="a")
    mech.add_force(lw.Force({"A": 2.0}, "-k*u", parameters={"k": 3.0}, name="b"))
    ends = {"bodies": ("ground", "rod"), "points": ((0, 0, 1), (1, 0, 0))}
    mech.add_force(lw.Force(**ends, formula="k*rate", parameters={"k": 2.0}, name="c"))
    texts = {"force": ("F", "A.u*d", "0"), "torque": ("0", "0", "-c*time"), "axes": "body"}
    values = {"F": 1.0, "d": 2.0, "c": (3.0, "N.m/s")}
    mech.add_force(lw.Force(body="rod", point=(0.5, 0, 0), **texts, parameters=values, name="d"))
    tables = {
        "gas": lw.LookupTable([0, 1, 3], [5, 4, 5], interpolation="monotone", periodic=True, unit="N.m"),
        "map": lw.LookupTable([0, 2], [[1, 2, 1], [4, 5, 4]], y=[0, 1, 4], outside="error", periodic=(False, True)),
    }
    mech.add_force(lw.Force("A", "gas(q) + map(u, q)", tables=tables, name="e"))
    mech = lw.Mechanism.from_dict(mech.to_dict())
    path = tmp_path / "it.json"
    lw.save(mech, path)
    again = lw.Mechanism.load(path)
    assert again.forces == mech.forces
    assert lw.compile(again).model_bytes == lw.compile(mech).model_bytes
    assert "inputs" not in mech.to_dict()["forces"][1]
    assert mech.to_dict()["forces"][-1]["tables"]["map"] == {
        "x": [0.0, 2.0],
        "values": [[1.0, 2.0, 1.0], [4.0, 5.0, 4.0]],
        "y": [0.0, 1.0, 4.0],
        "outside": "error",
        "periodic": [False, True],
    }


TABLE = {"x": [0, 1, 2], "values": [1, 3, 2]}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"x": [0, 2, 1]}, "Force 'a': table 'gas': the abscissae must increase: row 3 has 1 after 2"),
        ({"values": [1, 2]}, "table 'gas': 3 values are needed"),
        ({"values": [1, 2, float("nan")]}, "table 'gas': the value in row 3 is nan"),
        ({"interpolation": "cubic"}, "table 'gas': there is no interpolation 'cubic'"),
        ({"z": 3}, "table 'gas': key 'z' is not known here"),
        ({"values": None}, "table 'gas': the values must be numbers"),
        ({"x": "gas.csv"}, "table 'gas': a file has all numbers"),
    ],
)
def test_wrong_tables_in_files_are_refused_by_name(changes, words):
    mech = with_force("A", "gas(q)", tables={"gas": TABLE}, name="a")
    data = mech.to_dict()
    data["forces"][-1]["tables"]["gas"] |= changes
    with pytest.raises(lw.MechanismError, match=words):
        lw.Mechanism.from_dict(data)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"tables": [TABLE]}, "tables must be a dictionary"),
        ({"tables": {"gas": 3.0}}, "table 'gas' must be a LookupTable, not 3.0"),
        ({"tables": {"gas": {"x": [0, 1]}}}, "'values' must be given"),
        ({"tables": {"gas": TABLE, "oil": TABLE}}, "no formula uses the table 'oil'"),
        ({"tables": {"gas": TABLE, "q": TABLE}}, "'q' means something else here"),
        ({"tables": {"gas": TABLE}, "parameters": {"gas": 1.0}}, "'gas' has a name that means something else"),
        ({"tables": {"gas": TABLE | {"argument_units": ["m"]}}}, "table gas takes an argument in m"),
    ],
)
def test_tables_that_are_refused(given, words):
    with pytest.raises(lw.MechanismError, match=words):
        with_force("A", "gas(q)", **given)


def test_values_of_tables_have_units_and_names():
    tables = {"gas": TABLE, "map": {"x": [0, 1], "values": [[1, 1], [3, 3]], "y": [0, 1], "periodic": (False, True)}}
    mech = with_force("A", "gas(q)*c + map(time, u)", tables=tables, parameters={"c": (2.0, "N")}, name="a")
    found = {v.name: (v.unit, v.start) for v in lw.compile(mech).variables if v.name.startswith(("a.gas", "a.map"))}
    assert found == {
        **{f"a.gas[{k + 1}]": ("m", value) for k, value in enumerate((1.0, 3.0, 2.0))},
        "a.map[1,1]": ("N.m", 1.0),
        "a.map[2,1]": ("N.m", 3.0),
    }


def test_forces_of_all_kinds_have_their_own_values():
    """Whatever the order in which they are added."""
    ends = {"bodies": ("ground", "rod"), "points": ((0, 0, 1), (1, 0, 0))}
    values = {name: np.arange(3.0) + 10 * k for k, name in enumerate(("third", "second", "first", "last"))}
    tables = {name: {"gas": lw.LookupTable([0, 1, 2], given)} for name, given in values.items()}
    mech = with_force(body="rod", force=("gas(time)", "0", "0"), tables=tables["third"], name="third")
    mech.add_force(lw.Force(**ends, formula="gas(length)", tables=tables["second"], name="second"))
    mech.add_force(lw.Force("A", "gas(q)", tables=tables["first"], name="first"))
    mech.add_force(lw.Force(body="rod", torque=("gas(time)", "0", "0"), tables=tables["last"], name="last"))
    model = lw.compile(mech)
    state = model.assemble()
    for name, given in values.items():
        assert [model.value(f"{name}.gas[{k + 1}]", state) for k in range(3)] == given.tolist()
    changed = model.with_parameters({"second.gas[2]": 5.0})
    assert changed.value("second.gas[2]", changed.assemble()) == 5.0
    outputs = changed.assemble()
    assert outputs["second.force"] == pytest.approx(np.interp(outputs["second.length"], [0, 1, 2], [10.0, 5.0, 12.0]))


def test_tables_are_copied_with_their_mechanism():
    mech = with_force("A", "gas(q)", tables={"gas": TABLE}, name="a")
    for one in (copy.deepcopy(mech), pickle.loads(pickle.dumps(mech)), mech.copy()):
        assert one.forces == mech.forces
        assert lw.compile(one).model_bytes == lw.compile(mech).model_bytes
    other = with_force("A", "gas(q)", tables={"gas": TABLE | {"outside": "extend"}}, name="a")
    assert other.forces != mech.forces


def test_values_of_large_tables_are_no_variables():
    """They can have a million rows."""
    x = np.linspace(0.0, 1.0, 10_001)
    for rows, count in ((x, 0), (x[1:], 10_000)):
        mech = with_force("A", "gas(q)", tables={"gas": lw.LookupTable(rows, rows**2)}, name="a")
        assert sum(v.name.startswith("a.gas") for v in lw.compile(mech).variables) == count


def test_a_force_follows_its_mechanism():
    """A joint that is replaced gives other units, which are checked when it is compiled."""
    mech = with_force("A", "-k*q", parameters={"k": (3.0, "N.m/rad")})
    lw.compile(mech)
    slide = lw.Mechanism("slide")
    slide.add_body("rod", mass=1.0, com=(0, 0, 0), inertia=np.eye(3))
    slide.add_joint("A", lw.Prismatic((1, 0, 0)), "ground", "rod", at=(0, 0, 0))
    with pytest.raises(lw.MechanismError, match="unit"):
        slide.add_force(mech.forces[-1])


# ---- analyses ----


@pytest.mark.parametrize(
    "formula",
    ["gas(q)", "max(0*c, gas(q))", "if(gas(q) < 9*c, gas(q), c)", "c*sign(gas(q))", "min(c, gas(q))"],
)
@pytest.mark.parametrize("solver", ["dopri5", "rodas5p"])
def test_a_run_ends_where_a_table_does(formula, solver):
    """However the formula goes on with what the table does not have."""
    table = lw.LookupTable([-0.5, 1.0], [1.0, 2.0], outside="error")
    parameters = {"c": (1.0, "N.m")} if re.search(r"\bc\b", formula) else {}
    mech = with_force("A", formula, tables={"gas": table}, parameters=parameters, name="spring")
    mech.start(u={"A": 6.0})
    with pytest.raises(lw.SolverError, match=r"table 'spring.gas' is left at t = .* above 1 where its rows end"):
        lw.simulate(mech, 3.0, solver=solver)
    mech.start(q={"A": -1.5})
    with pytest.raises(lw.LinkworkError, match=r"argument is -1.5, below -0.5 where its rows begin"):
        lw.simulate(mech, 3.0, solver=solver)


def test_a_branch_that_is_not_taken_leaves_no_table():
    table = lw.LookupTable([-0.5, 1.0], [1.0, 2.0], outside="error")
    formula = "if(q < a, gas(q), if(q < b, gas(q), c))"
    values = {"a": (0.5, "rad"), "b": (0.9, "rad"), "c": (1.0, "N.m")}
    mech = with_force("A", formula, tables={"gas": table}, parameters=values, name="spring")
    mech.start(u={"A": 6.0})
    assert lw.simulate(mech, 0.5)["A.q"][-1] > 1.0


def test_a_table_that_imitates_a_spring():
    """Equilibrium, linear model and run of a linear spring by its table."""
    spring = with_force("A", "-k*q", parameters={"k": 3.0}, name="s")
    for kind in ("linear", "monotone"):
        table = lw.LookupTable([-2.0, 2.0], [6.0, -6.0], interpolation=kind, outside="extend")
        mech = with_force("A", "gas(q)", tables={"gas": table}, name="s")
        found = [lw.equilibrium(one)["A.q"] for one in (mech, spring)]
        assert found[0] == pytest.approx(found[1], abs=1e-12)
        assert pytest.approx(lw.linearize(spring).A, rel=1e-12) == lw.linearize(mech).A
        runs = [lw.simulate(one, 1.0, t_eval=[0.5, 1.0])["A.q"] for one in (mech, spring)]
        assert runs[0] == pytest.approx(runs[1], abs=1e-9)


def test_a_million_rows_load_and_run():
    x = np.arange(1_000_000) * 1e-3
    table = lw.LookupTable(x, np.sin(x), interpolation="monotone", outside="extend")
    model = lw.compile(with_force("A", "gas(q)", tables={"gas": table}, name="a"))
    begin = time.process_time()
    NativeModel(model.model_bytes)
    assert time.process_time() - begin < 0.2
    result = lw.simulate(model, 0.2)
    plain = lw.simulate(with_force("A", "c*sin(q*w)", parameters={"c": (1.0, "N.m"), "w": (1.0, "1/rad")}), 0.2)
    assert result["A.q"][-1] == pytest.approx(plain["A.q"][-1], abs=1e-7)


def test_equilibrium_and_linear_model_of_a_cubic_spring():
    """A pendulum of weight m g s that hangs on a spring of k q + c q^3."""
    k, c, weight = 2.0, 30.0, 9.81 * 0.5
    mech = with_force("A", "-k*q - c*q^3", parameters={"k": k, "c": c})
    q = lw.equilibrium(mech)["A.q"]
    assert k * q + c * q**3 == pytest.approx(weight * np.cos(q), rel=1e-9)
    mech.start(q={"A": float(q)})
    model = lw.compile(mech)
    slope = k + 3 * c * q**2 + weight * np.sin(q)
    inertia = 1.0 / model.accelerations(model.assemble(), tau={"A": 1.0})[0]
    eigenvalues = np.linalg.eigvals(lw.linearize(mech).A)
    assert np.abs(eigenvalues.imag).max() == pytest.approx(np.sqrt(slope / inertia), rel=1e-9)


def test_derivatives_by_parameters_and_inputs():
    """Of the acceleration by k and p of k p q."""
    mech = with_force("A", "k*p*q", parameters={"k": 2.0}, inputs=("p",))
    mech.start(q={"A": 0.4})
    model = lw.compile(mech)
    inertia = 1.0 / (model.accelerations([0.4], [0.0], tau={"A": 1.0}) - model.accelerations([0.4], [0.0]))[0]
    found = lw.linearize(mech, inputs=["force.p"], outputs=["A.a"], tau={"force.p": 3.0})
    assert found.D.ravel() == pytest.approx([2.0 * 0.4 / inertia], rel=1e-12)
    block, at = model.block(), {v.name: np.array([v.reference], np.uint32) for v in model.variables}
    block.enter(np.array([0.4]), np.zeros(1), model.arguments.loads({"force.p": 3.0}))
    slope = block.directional_derivative(at["A.a"], at["force.k"], np.ones(1))
    assert slope == pytest.approx([3.0 * 0.4 / inertia], rel=1e-12)


def test_impulses_are_not_changed():
    mech = with_force("A", "-1000*q*abs(q)*k", parameters={"k": 1.0})
    for one in (mech, pendulum()):
        one.start(q={"A": 0.3}, u={"A": 1.0})
        one.add_transition("kick", lw.Impulse("rod", force=(0, 0, 0.5)), when=lw.Command())
    jumps = [lw.compile(one).jump(lw.compile(one).assemble(), ["kick"]) for one in (mech, pendulum_with_kick())]
    assert jumps[0].state["A.u"] == jumps[1].state["A.u"]


def pendulum_with_kick():
    mech = pendulum()
    mech.start(q={"A": 0.3}, u={"A": 1.0})
    mech.add_transition("kick", lw.Impulse("rod", force=(0, 0, 0.5)), when=lw.Command())
    return mech


def test_an_energy_check_counts_it_as_a_source():
    from linkwork.comparison.measure import keeps_energy

    assert keeps_energy(pendulum(), None)
    assert not keeps_energy(with_force("A", "-2*q*k", parameters={"k": 1.0}), None)


def test_parameters_of_runs():
    mech = with_force("A", "-k*q", parameters={"k": 3.0})
    mech.start(q={"A": 0.4})
    first, other = (lw.simulate(mech, 0.5, parameters={"force.k": k}, t_eval=[0.5]) for k in (3.0, 30.0))
    assert abs(first["A.q"] - other["A.q"]).max() > 0.1
    text = lw.compile(mech).explain()
    assert text


@pytest.mark.parametrize(
    "given",
    [
        {"joint": "A", "formula": "k*log(q - 3)", "parameters": {"k": (1.0, "N.m")}},
        {"body": "rod", "torque": ("0", "0", "k/(A.q - A.q)"), "parameters": {"k": (1.0, "N.m.rad")}},
        {
            "bodies": ("ground", "rod"),
            "points": ((0, 0, 9), (1, 0, 0)),
            "formula": "k*sqrt(l - length)",
            "parameters": {"k": 1.0, "l": 0.1},
        },
    ],
    ids=["joint", "point", "line"],
)
def test_a_formula_without_a_value_is_named(given):
    mech = with_force(**given, name="wild")
    with pytest.raises(lw.LinkworkError, match="force 'wild' has no finite value at t = 0 s"):
        lw.simulate(mech, 1.0)
