"""The public names: what `dir` shows, what a star import gives, and what happens to unknown arguments."""

import inspect
import subprocess
import sys

import pytest

import linkwork as lw
from linkwork import controllers, cosim
from linkwork._util.synonyms import SYNONYMS
from linkwork.cosim import sweep

# Packages that a plain installation has not got.
WITHOUT_EXTRAS = """
import sys

MISSING = {"fmpy", "pandas", "matplotlib", "pyarrow", "pythonfmu", "distributed", "torch", "jax"}

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in MISSING:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())
"""
MADE_BY_THE_PACKAGE = {
    *("CoarseGrained", "Comparison", "Event", "LinearModel", "Model", "Result", "State", "VelocityJump", "SweepResult"),
    *("Points", "Controller", "MotorLoads", "Rollout"),
}
WITHOUT_ARGUMENTS = {"Fixed", "Free", "Spherical"}
OF_ANY_ARGUMENTS = {"pid", "skyhook"}  # settings, which their controllers check


def run_python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def callables():
    """Public functions, constructors and methods that describe a mechanism or a system, by name."""
    for module in (lw, cosim, sweep, controllers):
        for name in module.__all__:
            thing = getattr(module, name)
            is_error = inspect.isclass(thing) and issubclass(thing, Exception)
            skipped = MADE_BY_THE_PACKAGE | WITHOUT_ARGUMENTS | OF_ANY_ARGUMENTS
            if callable(thing) and not is_error and name not in skipped:
                yield f"{module.__name__}.{name}", thing
    for name in ("rod", "disk", "cylinder", "sphere", "box"):
        yield f"linkwork.inertia.{name}", getattr(lw.inertia, name)
    for owner in (lw.Mechanism("m"), cosim.System("s")):
        for name, method in inspect.getmembers(owner, inspect.ismethod):
            if name.startswith(("add", "start", "prescribe", "connect")):
                yield f"{type(owner).__name__}.{name}", method


CALLABLES = dict(callables())


@pytest.mark.parametrize("module", [lw, controllers, sweep], ids=lambda module: module.__name__)
def test_dir_lists_public_names_only(module):
    listed = dir(module)
    parts = {"casadi", "controllers", "cosim", "errors", "gym", "jax", "solvers", "torch"}
    assert set(listed) == {*module.__all__, *({"__version__"} | parts if module is lw else set())}
    assert all(getattr(module, name) is not None for name in listed)


def test_a_fresh_dir_has_the_modules_for_users():
    listed = run_python("import linkwork as lw; print(*dir(lw))").split()
    assert {"cosim", "controllers", "solvers", "simulate", "__version__"} <= set(listed)
    assert not {"annotations", "import_module", "TYPE_CHECKING", "Any"} & set(listed)


@pytest.mark.parametrize("module", ["linkwork", "linkwork.cosim", "linkwork.solvers", "linkwork.mechanism"])
def test_a_star_import_needs_no_extra(module):
    code = f"{WITHOUT_EXTRAS}\nfrom {module} import *\nimport {module} as m\nprint(set(m.__all__) - set(globals()))"
    assert run_python(code).strip() == "set()"


@pytest.mark.parametrize(
    ("call", "package"),
    [
        ("lw.compare(mech, 0.1, runs=['dopri5'], rtol=[1e-4]).to_dataframe()", "pandas"),
        ("lw.compare(mech, 0.1, runs=['dopri5'], rtol=[1e-4]).plot()", "matplotlib"),
        ("lw.cosim.System('s').draw()", "matplotlib"),
        ("lw.controllers.pid('pid.fmu')", "PythonFMU"),
        ("lw.torch.function(lw.compile(mech))", "torch"),
        ("lw.jax.function(lw.compile(mech))", "jax"),
        ("lw.torch.rollout(lw.compile(mech), 0.1, 3)", "torch"),
        ("lw.jax.rollout(lw.compile(mech), 0.1, 3)", "jax"),
    ],
)
def test_a_missing_package_is_an_error_that_names_the_extra(call, package):
    code = f"""{WITHOUT_EXTRAS}
import linkwork as lw
mech = lw.Mechanism("m")
mech.add_body("rod", mass=1.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(1.0, 1.0))
mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
try:
    {call}
except ImportError as error:
    print(error)
"""
    assert f" need {package}: pip install 'linkwork[" in run_python(code)


@pytest.mark.parametrize("name", CALLABLES)
def test_an_unknown_argument_is_named_with_the_public_name(name):
    with pytest.raises(TypeError, match=rf"^{name.split('.')[-1]} has no argument 'nonesuch'"):
        CALLABLES[name](nonesuch=1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: lw.SpringDamper(k=3), "SpringDamper has no argument 'k': did you mean 'stiffness'"),
        (lambda: lw.SpringDamper("A", dampin=3), "SpringDamper has no argument 'dampin': did you mean 'damping'"),
        (lambda: lw.Mechanism("m").add_body("b", m=1), "add_body has no argument 'm': did you mean 'mass'"),
        (lambda: lw.simulate(None, t_final=1), "simulate has no argument 't_final': did you mean 't_end'"),
        (lambda: lw.Revolute(axes=(0, 0, 1)), "Revolute has no argument 'axes': did you mean 'axis'"),
    ],
)
def test_the_meant_argument_is_suggested(call, message):
    with pytest.raises(TypeError, match=message):
        call()


def test_a_suggestion_is_an_argument_of_some_function():
    signatures = [inspect.signature(one).parameters for one in CALLABLES.values()]
    known = {name for parameters in signatures for name in parameters} | {"stiffness", "damping", "free"}
    assert {name for names in SYNONYMS.values() for name in names} <= known


def test_checked_functions_keep_their_signature():
    assert list(inspect.signature(lw.Stop).parameters) == ["joint", "lower", "upper", "restitution", "coordinate"]
    assert inspect.signature(lw.simulate).parameters["rtol"].default == 1e-8
    assert lw.simulate.__module__ == "linkwork.simulation.simulate"
