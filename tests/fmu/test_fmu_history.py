"""FMUs of minimal states: derivatives follow from states, inputs and time, whatever was evaluated before."""

import importlib
from collections.abc import Callable, Sequence

import numpy as np
import pytest

import linkwork as lw
from support.fmi_calls import OK
from support.unpacked import Unpacked, unpack

SPEEDS = [(1, 0), (1, 1e-12), (1, 1e-9), (1, 1e-6), (1, 1e-3), (1e3, 0), (0, 1)]  # before and then, rad/s or m/s
ROUNDING = 1e-10  # of dependent coordinates near a fold


@pytest.fixture(scope="module")
def exported(checkout, tmp_path_factory):
    """Examples as FMUs in minimal states, with all dependent coordinates and speeds as outputs."""
    made: dict[str, Unpacked] = {}

    def export(name: str) -> Unpacked:
        if name not in made:
            model = lw.compile(importlib.import_module(name).mechanism())
            path = tmp_path_factory.mktemp("history") / f"{name}.fmu"
            lw.export_fmu(model, path, states="minimal", reference=False, outputs=[*model.q_names, *model.u_names])
            made[name] = Unpacked(path, unpack(path), "3.0", model)
        return made[name]

    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(checkout / "examples")
        yield export
    for unpacked in made.values():
        for instance in unpacked.instances:
            instance.free()


class Evaluator:
    """An instance in Continuous-Time Mode; `at` gives derivatives and outputs, None where the FMU refuses."""

    def __init__(self, fmu: Unpacked) -> None:
        self._instance = fmu.new("ME")
        self._instance.initialize()
        self._outputs = fmu.references("state", "output")
        self.n = fmu.xml.count("<ContinuousStateDerivative ")
        self.x0 = np.array(self._instance.array("GetContinuousStates", self.n))

    def at(self, x: Sequence[float]) -> np.ndarray | None:
        assert self._instance.set_states(list(x)) == OK
        status, rates = self._instance.try_array("GetContinuousStateDerivatives", self.n)
        return np.array([*rates, *self._instance.get(self._outputs)]) if status == OK else None


def nearby(evaluator: Evaluator, rng: np.random.Generator, spread: float) -> Callable[[float], np.ndarray]:
    half = evaluator.n // 2

    def drawn(speed: float) -> np.ndarray:
        return evaluator.x0 + np.r_[rng.uniform(-spread, spread, half), speed * rng.normal(size=half)]

    return drawn


@pytest.mark.parametrize("name", ["five_bar", "biped_leg", "andrews_squeezer", "planar_robot", "quarter_car"])
def test_rest_after_motion(name, exported):
    evaluator, rng = Evaluator(exported(name)), np.random.default_rng(0)
    drawn = nearby(evaluator, rng, 0.05)
    evaluator.x0[evaluator.n // 2 :] = 0.0
    for before, then in SPEEDS:
        for _ in range(5):
            moving, x = drawn(before), drawn(then)
            evaluator.at(moving)
            after, new = evaluator.at(x), Evaluator(exported(name)).at(x)
            assert after is not None, (before, then)
            assert np.abs(after - new).max() < ROUNDING * (1.0 + np.abs(new).max())


@pytest.mark.parametrize("name", ["swing_up", "biped_leg", "five_bar"])
def test_other_poses_in_between_change_nothing(name, exported):
    """Far apart, so that the way is blocked now and then, and close to change points of the biped's knee."""
    evaluator, rng = Evaluator(exported(name)), np.random.default_rng(0)
    drawn = nearby(evaluator, rng, {"swing_up": 3.0, "biped_leg": 1.5, "five_bar": 3.0}[name])
    points = [drawn(1.0) for _ in range(25)]
    new = [Evaluator(exported(name)).at(x) for x in points]
    assert sum(one is not None for one in new) >= 5
    for k in rng.permutation(np.tile(np.arange(len(points)), 3)):
        again = evaluator.at(points[k])
        if new[k] is not None:
            assert again is not None
            assert np.abs(again - new[k]).max() < ROUNDING * (1.0 + np.abs(new[k]).max())


def test_a_parallelogram_stays_one(exported):
    """The biped's knee turns with its motor, however close to a change point the pose before was."""
    fmu = exported("biped_leg")
    evaluator = Evaluator(fmu)
    for angle in (1.2, 1.27, 1.3, 1.309, -1.2, -1.7, -1.82):
        for motor in (angle, -0.5):
            x = evaluator.x0.copy()
            x[1] = motor
            values = evaluator.at(x)
            assert values is not None
            names = sorted(
                (v.reference, v.name)
                for v in fmu.system.variables
                if v.name in fmu.reference_of and v.kind in ("state", "output")
            )
            by_name = dict(zip((name for _, name in names), values[evaluator.n :], strict=True))
            assert by_name["knee_motor.q"] == motor
            assert by_name["knee.q"] == pytest.approx(motor, abs=1e-9)


def test_model_predictive_control_from_rest(exported):
    """IPOPT looks at states in motion and returns to rest; the plan ends at its target."""
    casadi = pytest.importorskip("casadi")
    fmu = exported("swing_up")
    builder = casadi.DaeBuilder("a", str(fmu.folder))
    inputs = [builder.u().index(name) for name in ("L.tau", "R.tau")]
    rate = builder.create("f", ["x", "u"], ["ode"])
    x0 = np.array(builder.start(builder.x())).ravel()
    is_angle = np.array([name.endswith(".q") for name in builder.x()])
    assert not x0[~is_angle].any()
    goal, h, count = x0 + 0.1 * is_angle, 0.04, 8
    opti = casadi.Opti()
    states, loads = opti.variable(4, count + 1), opti.variable(2, count)
    opti.subject_to(states[:, 0] == x0)
    for k in range(count):
        u = casadi.MX.zeros(builder.nu())
        u[inputs] = loads[:, k]
        a = rate(states[:, k], u)
        b = rate(states[:, k] + h / 2 * a, u)
        c = rate(states[:, k] + h / 2 * b, u)
        d = rate(states[:, k] + h * c, u)
        opti.subject_to(states[:, k + 1] == states[:, k] + h / 6 * (a + 2 * b + 2 * c + d))
    opti.subject_to(opti.bounded(-4.0, casadi.vec(loads), 4.0))
    reach = np.where(is_angle, 0.3, 5.0)  # rad, rad/s
    for k in range(1, count + 1):
        opti.subject_to(opti.bounded(x0 - reach, states[:, k], x0 + reach))
    weight = np.where(is_angle, 3.0, 0.1)[:, None]
    opti.minimize(casadi.sumsqr(weight * (states - np.tile(goal[:, None], count + 1))) + 1e-3 * casadi.sumsqr(loads))
    opti.set_initial(states, np.tile(x0[:, None], count + 1))
    opti.solver(
        "ipopt",
        {"print_time": False},
        {
            "print_level": 0,
            "sb": "yes",
            "hessian_approximation": "limited-memory",
            "tol": 1e-4,
            "limited_memory_max_history": 30,
            "nlp_scaling_method": "none",
            "mu_strategy": "adaptive",
        },
    )
    found = opti.solve()
    plan = found.value(states)
    assert np.abs((plan[:, -1] - goal)[is_angle]).max() < 0.02
    assert np.abs(plan[~is_angle]).max() > 0.5
