"""The types of errors: which of Python's own they are too, and that they survive pickling."""

import pickle

import pytest

import linkwork as lw
from linkwork import errors
from linkwork.model.methods import METHODS
from linkwork.solvers import Problem, solve
from support.checkout import TOP

KINDS = [one for one in vars(errors).values() if isinstance(one, type) and issubclass(one, lw.LinkworkError)]


def pendulum() -> lw.Mechanism:
    mech = lw.Mechanism("pendulum")
    mech.add_body("rod", mass=1.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(1.0, 1.0))
    mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
    mech.add_transition("latch", lw.Lock("A"), when=lw.Command())
    return mech


MECH = pendulum()
MODEL = lw.compile(MECH)
STATE = MODEL.assemble()
BARE = lw.Mechanism.from_dict({**MECH.to_dict(), "transitions": []})
FILE = MECH.to_dict()

UNKNOWN = {  # by place: a call, and another kind that the error is of
    "body": (lambda: pendulum().add_joint("B", lw.Fixed(), "ground", "rot", at=(0, 0, 0)), lw.MechanismError),
    "joint of a force": (lambda: pendulum().add_force(lw.SpringDamper("B", damping=1)), lw.MechanismError),
    "joint of a start": (lambda: pendulum().start(q={"B": 1}), lw.MechanismError),
    "joint to release": (lambda: pendulum().add_transition("x", lw.Release("B"), lw.Command()), lw.MechanismError),
    "joint of a trigger": (
        lambda: pendulum().add_transition("x", lw.Unlock("A"), lw.Crossing("B.q", 1)),
        lw.MechanismError,
    ),
    "joint of a method": (lambda: lw.compile(pendulum(), {"B": "rcr"}), lw.MechanismError),
    "method": (lambda: lw.compile(pendulum(), "rrc"), lw.MechanismError),
    "reference": (lambda: lw.compile(pendulum(), "multipliers", "middle"), lw.MechanismError),
    "column": (lambda: MODEL.column("A.qq"), lw.MechanismError),
    "value": (lambda: MODEL.value("A.qq", STATE), lw.MechanismError),
    "start of assemble": (lambda: MODEL.assemble(q={"B": 1.0}), lw.MechanismError),
    "motion of assemble": (lambda: MODEL.assemble(motion={"B": 1.0}), lw.MechanismError),
    "load": (lambda: MODEL.accelerations(STATE, tau={"B": 1.0}), lw.MechanismError),
    "transition": (lambda: MODEL.jump(STATE, ["latsch"]), lw.MechanismError),
    "input": (lambda: lw.simulate(MODEL, 1.0, inputs={"B": 1.0}), lw.MechanismError),
    "solver": (lambda: lw.simulate(MODEL, 1.0, solver="dopri"), lw.SolverError),
    "formulation": (lambda: lw.simulate(MODEL, 1.0, formulation="glg"), lw.MechanismError),
    "solver of equations": (lambda: solve(Problem(lambda t, y: y, 0.0, [1.0]), 1.0, "dopri"), lw.SolverError),
    "run of a comparison": (lambda: lw.compare(pendulum(), 1.0, runs=["rrc/dopri5"]), lw.MechanismError),
    "solver of a comparison": (lambda: lw.compare(pendulum(), 1.0, runs=["dopri"]), lw.MechanismError),
    "column of a comparison": (lambda: lw.compare(pendulum(), 1.0, columns=["A.qq"]), lw.MechanismError),
    "independents": (lambda: lw.linearize(BARE, independents=["B.q"]), lw.MechanismError),
    "input of a linear model": (lambda: lw.linearize(MECH, inputs=["B.tau"], states="full"), lw.MechanismError),
    "output of an FMU": (lambda: lw.export_fmu(MECH, "a.fmu", outputs=["A.qq"]), lw.ExportError),
    "platform of an FMU": (lambda: lw.export_fmu(MECH, "a.fmu", platforms=["beos"]), lw.ExportError),
    "version of FMI": (lambda: lw.export_fmu(MECH, "a.fmu", "4.0"), lw.ExportError),
    "key of a file": (lambda: lw.Mechanism.from_dict({**FILE, "boddies": []}), lw.MechanismError),
    "type in a file": (
        lambda: lw.Mechanism.from_dict({**FILE, "forces": [{"type": "sprong"}]}),
        lw.MechanismError,
    ),
    "body in a file": (
        lambda: lw.Mechanism.from_dict({**FILE, "forces": [{"type": "wrench", "body": "rot"}]}),
        lw.MechanismError,
    ),
}


@pytest.mark.parametrize("where", UNKNOWN)
def test_an_unknown_name_is_a_key_error_and_of_its_kind(where, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    call, kind = UNKNOWN[where]
    with pytest.raises(lw.UnknownNameError) as caught:
        call()
    error = caught.value
    assert isinstance(error, kind)
    assert isinstance(error, KeyError)
    assert str(error) == error.args[0]  # KeyError itself would quote it
    assert not list(tmp_path.iterdir())


def test_an_unknown_name_in_a_file_keeps_its_place(tmp_path):
    path = tmp_path / "bad.json"
    MECH.save(path)
    path.write_text(path.read_text(encoding="utf-8").replace('"child": "rod"', '"child": "rot"'), encoding="utf-8")
    with pytest.raises(KeyError) as caught:
        lw.Mechanism.load(path)
    assert str(caught.value).startswith(f"{path}, line ")
    assert "did you mean 'rod'" in str(caught.value)


def test_a_key_that_stands_twice_is_named(tmp_path):
    path = tmp_path / "twice.json"
    path.write_text('{"linkwork": 1, "name": "a", "name": "b"}', encoding="utf-8")
    with pytest.raises(lw.MechanismError, match="the key 'name' stands twice"):
        lw.Mechanism.load(path)


def test_names_of_co_simulation_and_fmus(tmp_path):
    pytest.importorskip("fmpy")
    from linkwork.cosim import System, run

    fmu = lw.export_fmu(MECH, tmp_path / "plant.fmu", outputs=["A.q"])
    system = System.load(fmu)
    result = run(system, 0.01)
    calls = [
        lambda: run(system, 0.01, columns=["plant.A.qq"]),
        lambda: run(system, 0.01, inputs={"plant.A.ta": 1.0}),
        lambda: run(system, 0.01, parameters={"plant.A.q_strat": 1.0}),
        lambda: run(system, 0.01, parameter_sets="stiff"),
        lambda: system.connect("plnt.A.q", "plant.A.tau"),
        lambda: result["plant.A.qq"],
    ]
    for call in calls:
        with pytest.raises(lw.UnknownNameError) as caught:
            call()
        assert isinstance(caught.value, lw.CosimError)
    with pytest.raises(lw.UnknownNameError, match="there is no check 'memry'") as caught:
        lw.check_fmu(fmu, only=["memry"])
    assert isinstance(caught.value, lw.FmuError)


@pytest.mark.parametrize(
    "call",
    [
        lambda: lw.Mechanism("two.words"),
        lambda: pendulum().add_body("b", mass=-1.0, com=(0, 0, 0), inertia=lw.inertia.rod(1.0, 1.0)),
        lambda: lw.simulate(MODEL, "1"),
        lambda: MODEL.assemble(tolerance=0.0),
        lambda: lw.compare(MECH, 1.0, rtol=2.0),
    ],
)
def test_a_wrong_argument_is_a_value_error(call):
    with pytest.raises(ValueError) as caught:  # noqa: PT011 (the type is tested)
        call()
    assert isinstance(caught.value, lw.MechanismError)
    assert not isinstance(caught.value, KeyError)


@pytest.mark.parametrize("kind", KINDS)
def test_errors_survive_pickling(kind):
    error = kind("the thing, and the remedy")
    if issubclass(kind, errors.Unfinished):
        error.result = [1, 2]
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is kind
    assert str(again) == "the thing, and the remedy"
    assert vars(again) == vars(error)


@pytest.mark.parametrize("kind", [one for one in KINDS if one is not errors.Unfinished])
def test_the_page_of_messages_lists_each_type(kind):
    assert f"`{kind.__name__}`" in (TOP / "docs" / "errors.md").read_text(encoding="utf-8")


def test_known_methods_are_no_errors():
    assert all(lw.compile(pendulum(), method) for method in METHODS)
