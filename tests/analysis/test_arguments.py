"""Arguments that all analyses have: a mechanism or a model comes first, and progress is shown or not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import linkwork as lw

ANALYSES: dict[str, Callable[[Any], Any]] = {
    "assembly_modes": lambda mech: lw.assembly_modes(mech, {"A": 0.0}),
    "base_parameters": lw.base_parameters,
    "design": lambda mech: lw.design(mech, {"rod.mass": None}, len, of=["rod.r"], q={"A": [0.0]}),
    "equilibria": lw.equilibria,
    "equilibrium": lw.equilibrium,
    "identify": lambda mech: lw.identify(mech, {}),
    "inverse_dynamics": lambda mech: lw.inverse_dynamics(mech, {}),
    "inverse_kinematics": lambda mech: lw.inverse_kinematics(mech, {"A": 0.0}),
    "kinematics": lambda mech: lw.kinematics(mech, "A.q", 0.0, 1.0),
    "linearize": lw.linearize,
    "motor_jacobian": lambda mech: lw.motor_jacobian(mech, of="A.q"),
    "parameter_jacobian": lambda mech: lw.parameter_jacobian(mech, ["rod.mass"], ["rod.r"]),
    "redundant_constraints": lw.redundant_constraints,
    "workspace": lambda mech: lw.workspace(mech, of="A.q"),
}


@pytest.mark.parametrize("given", [None, "arm.json", lw.Mechanism])
@pytest.mark.parametrize("name", ANALYSES)
def test_what_is_neither_a_mechanism_nor_a_model_is_refused(name: str, given: object) -> None:
    with pytest.raises(lw.MechanismError, match=f"mechanism must be a Mechanism .*not {type(given).__name__}"):
        ANALYSES[name](given)


@pytest.mark.parametrize("progress", ["x", 1, []])
@pytest.mark.parametrize("name", ["assembly_modes", "design", "equilibria", "simulate", "workspace"])
def test_progress_is_shown_or_not_or_given_to_a_function(name: str, progress: object) -> None:
    mech = lw.Mechanism("arm")
    mech.add_body("rod", mass=1.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(1.0, 1.0))
    mech.add_joint("A", lw.Revolute((0, 0, 1)), "ground", "rod", at=(0, 0, 0))
    calls: dict[str, Callable[..., Any]] = {
        "assembly_modes": lambda **more: lw.assembly_modes(mech, {"A": 0.0}, **more),
        "design": lambda **more: lw.design(mech, {"rod.mass": None}, len, of=["rod.r"], q={"A": [0.0]}, **more),
        "equilibria": lambda **more: lw.equilibria(mech, **more),
        "simulate": lambda **more: lw.simulate(mech, 0.1, **more),
        "workspace": lambda **more: lw.workspace(mech, of="A.q", over={"A": (0, 1, 2)}, **more),
    }
    with pytest.raises(lw.MechanismError, match="progress must be True, False, None"):
        calls[name](progress=progress)


# ---- states, names, motors ----


def arm(prescribed: bool = False) -> lw.Mechanism:
    """A pendulum that a motion may prescribe, beside a wheel that turns freely."""
    mech = lw.Mechanism("arm")
    for joint, body in (("A", "rod"), ("W", "wheel")):
        mech.add_body(body, mass=1.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(1.0, 1.0))
        mech.add_joint(joint, lw.Revolute((0, 1, 0)), "ground", body, at=(0, 0, 0))
    mech.add_point("tip", "rod", (1, 0, 0))
    if prescribed:
        mech.prescribe("A", lw.Motion((0.3,)))
    return mech


BY_STATE: dict[str, Callable[[Any], Any]] = {
    "assembly_modes": lambda state: lw.assembly_modes(arm(), {"A": 0.0}, state=state),
    "equilibrium": lambda state: lw.equilibrium(arm(), state=state),
    "inverse_dynamics": lambda state: lw.inverse_dynamics(arm(), {}, motors="A", state=state),
    "inverse_kinematics": lambda state: lw.inverse_kinematics(arm(), {"A": 0.0}, state=state),
    "kinematics": lambda state: lw.kinematics(arm(), "A.q", 0.0, 1.0, state=state),
    "motor_jacobian": lambda state: lw.motor_jacobian(arm(), of="A.q", by="A", state=state),
    "redundant_constraints": lambda state: lw.redundant_constraints(arm(), state),
    "workspace": lambda state: lw.workspace(arm(), of="A.q", by="A", state=state),
}


@pytest.mark.parametrize("given", [1, "x", [0.1, 0.2], arm()])
@pytest.mark.parametrize("name", BY_STATE)
def test_what_is_no_state_is_refused(name: str, given: object) -> None:
    with pytest.raises(lw.MechanismError, match="state must be a State"):
        BY_STATE[name](given)


BY_NAMES: dict[str, Callable[[Any], Any]] = {
    "equilibrium: hold": lambda names: lw.equilibrium(arm(), hold=names),
    "equilibrium: motors": lambda names: lw.equilibrium(arm(), motors=names),
    "inverse_dynamics: motors": lambda names: lw.inverse_dynamics(arm(), {}, motors=names),
    "kinematics: columns": lambda names: lw.kinematics(arm(), "A.q", 0.0, 1.0, columns=names),
    "kinematics: hold": lambda names: lw.kinematics(arm(), "A.q", 0.0, 1.0, hold=names),
    "motor_jacobian: by": lambda names: lw.motor_jacobian(arm(), of="A.q", by=names),
    "motor_jacobian: of": lambda names: lw.motor_jacobian(arm(), of=names, by="A"),
    "workspace: by": lambda names: lw.workspace(arm(), of="A.q", by=names),
    "workspace: of": lambda names: lw.workspace(arm(), of=names, by="A"),
}


@pytest.mark.parametrize("given", [3, [3], ("A", None)])
@pytest.mark.parametrize("name", BY_NAMES)
def test_what_are_no_names_is_refused(name: str, given: object) -> None:
    with pytest.raises(lw.MechanismError, match=f"{name.split()[-1]} must be a name or names"):
        BY_NAMES[name](given)


@pytest.mark.parametrize("name", ["equilibrium: hold", "motor_jacobian: of", "workspace: of"])
def test_one_function_is_named_once(name: str) -> None:
    with pytest.raises(lw.MechanismError, match=f"{name.split()[-1]}: 'A.q' is named twice"):
        BY_NAMES[name](["A", "A.q"])


@pytest.mark.parametrize("name", [name for name in BY_NAMES if name.endswith(("motors", ": by"))])
def test_motors_are_joints_that_nothing_prescribes(name: str) -> None:
    for given in ("A.q", "A.q[1]"):
        with pytest.raises(lw.MechanismError, match="a motor has the name of its joint, 'A'"):
            BY_NAMES[name](given)
    with pytest.raises(lw.MechanismError, match="named twice"):
        BY_NAMES[name](["A", "A[1]"])
    with pytest.raises(lw.MechanismError, match="names n"):
        BY_NAMES[name]([])


@pytest.mark.parametrize(
    "call",
    [
        lambda mech: lw.equilibrium(mech, motors=["W", "A"]),
        lambda mech: lw.inverse_dynamics(mech, {"W": lambda t: (t, 1.0, 0.0)}, motors=["W", "A"], t_eval=[0.0]),
        lambda mech: lw.motor_jacobian(mech, of="tip.r", by=["W", "A"]),
    ],
)
def test_a_prescribed_motion_is_no_motor_and_its_drive_has_the_load(call: Callable[[Any], Any]) -> None:
    mech = arm(prescribed=True)
    with pytest.raises(lw.MechanismError, match=r"'A_drive' prescribes its motion.*'A_drive.load'"):
        call(mech)
    held = lw.equilibrium(arm(), hold={"A": 0.3, "W": 0.0}).holding["A"]
    assert lw.equilibrium(mech)["A_drive.load"] == pytest.approx(held)


def test_nothing_held_is_nothing_held() -> None:
    assert lw.equilibrium(arm(), hold=[]).holding == {}


def test_a_single_speed_is_a_motor_by_its_number() -> None:
    assert lw.equilibrium(arm(), motors=["A[1]", "W"]).motor_loads["A"] == pytest.approx(-0.5 * 9.81)


def ball() -> lw.Mechanism:
    mech = lw.Mechanism("ball")
    mech.add_body("rod", mass=1.0, com=(0, 0, 0.5), inertia=lw.inertia.sphere(1.0, 0.1))
    mech.add_joint("S", lw.Spherical(), "ground", "rod", at=(0, 0, 0))
    return mech


@pytest.mark.parametrize(
    "call",
    [
        lambda: lw.kinematics(ball(), "S.q[1]", 0.0, 1.0),
        lambda: lw.equilibrium(ball(), hold=["S"]),
        lambda: lw.assembly_modes(ball(), {"S": (1, 0, 0, 0)}),
        lambda: lw.workspace(ball(), of="rod.r[1]", by="S"),
        lambda: lw.workspace(ball(), of="rod.r[1]"),
    ],
)
def test_a_joint_that_turns_by_a_quaternion_has_no_coordinate_to_sweep(call: Callable[[], Any]) -> None:
    with pytest.raises(lw.MechanismError, match=r"turns by a quaternion.*(take a point|give the axes of the grid)"):
        call()


@pytest.mark.parametrize(("name", "given"), [("through", 3), ("max_steps", True), ("progress", "x")])
def test_options_of_a_sweep_have_their_kind(name: str, given: Any) -> None:
    with pytest.raises(lw.MechanismError, match=f"{name} must be"):
        lw.kinematics(arm(), "A.q", 0.0, 1.0, hold="W", **{name: given})


def locked() -> tuple[lw.Model, lw.State]:
    mech = arm()
    mech.add_transition("lock", lw.Lock("A"), when=lw.Command())
    model = lw.compile(mech)
    return model, model.jump(model.assemble(), ["lock"]).state


@pytest.mark.parametrize(
    ("coordinate", "hold", "text"),
    [
        ("A.q", "W", "hold leaves it none: .*'lock' is in effect in the state"),
        ("tip.r[1]", (), "while others move; 'lock' is in effect in the state"),
    ],
)
def test_a_lock_that_holds_the_swept_coordinate_is_named(coordinate: str, hold: Any, text: str) -> None:
    model, state = locked()
    with pytest.raises(lw.MechanismError, match=text):
        lw.kinematics(model, coordinate, 0.0, 1.0, state=state, hold=hold)


@pytest.mark.parametrize("coordinate", ["A.q", "tip.r[1]"])
def test_a_motion_that_prescribes_the_swept_coordinate_is_named(coordinate: str) -> None:
    with pytest.raises(lw.MechanismError, match="'A_drive' prescribes"):
        lw.kinematics(arm(prescribed=True), coordinate, 0.0, 1.0)
