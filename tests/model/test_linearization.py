"""Linear models: closed forms, differences, names."""

import warnings

import numpy as np
import pytest

import linkwork as lw
from linkwork.core.native import Block, Minimal
from linkwork.model import linear_model
from support import reduced_four_bar
from support.cases import four_bar, fourbar_planar
from support.minimal import by_differences
from support.small import pendulum

GRAVITY = 9.81


@pytest.mark.parametrize("angle", [0.0, 0.4, np.pi / 2, 2.0, -1.0])
def test_pendulum_has_its_closed_form(angle):
    """A rod of 1 m and 1 kg hung at its end, horizontal at 0: J a + d w = m g l/2 cos q + tau, J = 1/3."""
    damping = 0.2
    system = lw.compile(pendulum(damping, gravity=-GRAVITY))
    model = system.linearize(system.assemble(q={"A": angle}))
    expected = np.roots([1.0, 3.0 * damping, 1.5 * GRAVITY * np.sin(angle)])
    assert np.abs(np.sort_complex(model.eigenvalues) - np.sort_complex(expected)).max() < 1e-12
    assert np.abs(model.xdot - [0.0, 1.5 * GRAVITY * np.cos(angle)]).max() < 1e-12
    assert np.abs(model.B - [[0.0], [3.0]]).max() < 1e-12
    assert np.array_equal(model.C, np.eye(2))
    assert not model.D.any()


def planar_four_bar():
    case = fourbar_planar()
    system = lw.compile(case.mechanism)
    return system, system.assemble(q=case.q, u=case.u)


def test_four_bar_agrees_with_its_reduced_inertia():
    system, state = planar_four_bar()
    model = system.linearize(state, independents=["A"])
    assert model.states == ("A.q", "A.u")
    assert np.abs(model.xdot - reduced_four_bar.derivative(model.x)).max() < 1e-11
    expected = np.column_stack(
        [by_differences(reduced_four_bar.derivative, model.x, along, h=1e-2) for along in np.eye(2)]
    )
    assert model.A.shape == (2, 2)
    assert np.abs(model.A - expected).max() < 1e-9 * np.abs(expected).max()


def test_inputs_and_outputs_of_a_four_bar():
    """B and D by inputs are differences of linear functions of them; C by the states that follow."""
    system, state = planar_four_bar()
    model = system.linearize(
        state, independents=["A"], inputs=["A.tau", "C"], outputs=["coupler.r", "C.q", "A.f", "A.a"]
    )
    assert model.inputs == ("A.tau", "C.tau")
    assert model.outputs[:3] == ("coupler.r[1]", "coupler.r[2]", "coupler.r[3]")

    def driven(tau):
        return system.accelerations(state, tau=tau)[0], system.value("A.f", state, tau=tau)

    for k, tau in enumerate(({"A": 1.0}, {"C": 1.0})):
        more, less = driven(tau), driven(None)
        assert abs(model.B[1, k] - (more[0] - less[0])) < 1e-10
        assert np.abs(model.D[4:7, k] - (more[1] - less[1])).max() < 1e-10
    assert model.C[3, 0] != 0.0  # the coupler joint follows the crank
    assert np.abs(model.C[7] - model.A[1]).max() < 1e-11


def test_loads_at_the_operating_point_count():
    system, state = planar_four_bar()
    with_load = system.linearize(state, independents=["A"], tau={"A": 2.0})
    without = system.linearize(state, independents=["A"])
    assert with_load.u[with_load.inputs.index("A.tau")] == 2.0
    assert abs(with_load.xdot[1] - without.xdot[1] - 2.0 * without.B[1, 0]) < 1e-10
    assert np.abs(with_load.A - without.A).max() > 1e-3


def test_full_states_are_the_jacobian():
    case = four_bar()
    system = lw.compile(case.mechanism)
    state = system.assemble(q=case.q, u=case.u)
    model = system.linearize(state, states="full")
    assert np.array_equal(model.A, system.jacobian(state))
    assert model.states == (*system.q_names, *system.u_names)
    assert model.independents is None


def test_all_choices_of_states_have_the_same_eigenvalues():
    """At an equilibrium; the full states have those of the feedback too."""
    system = lw.compile(fourbar_planar().mechanism)
    state = hanging(system)
    models = [system.linearize(state, independents=[name]) for name in ("A", "B", "C")]
    for model in models:
        assert np.abs(model.xdot).max() < 1e-9
        assert np.abs(model.eigenvalues - models[0].eigenvalues).max() < 1e-7
    full = system.linearize(state, states="full").eigenvalues
    for value in models[0].eigenvalues:
        assert np.abs(full - value).min() < 1e-6


def hanging(system):
    """An equilibrium under gravity: damping brings it to rest, Newton's iteration on the linear model there."""
    mech = fourbar_planar().mechanism
    mech.add_force(lw.SpringDamper("A", damping=20.0))
    result = lw.simulate(mech, 60.0, rtol=1e-8)
    angle = float(result["A.q"][-1])
    guess = {name: float(result[f"{name}.q"][-1]) for name in ("B", "C")}
    for _ in range(10):
        state = system.assemble(q={"A": angle} | guess)
        model = system.linearize(state, independents=["A"])
        angle -= model.xdot[1] / model.A[1, 0]
    return state


def test_a_motor_behind_a_gear_is_one_freedom():
    mech = lw.Mechanism("geared")
    for name, inertia in (("rotor", 1e-3), ("arm", 0.5)):
        mech.add_body(name, mass=1.0, com=(0, 0, 0), inertia=np.diag([inertia, inertia, inertia]))
        mech.add_joint(f"{name}_hinge", lw.Revolute((0, 1, 0)), "ground", name, at=(0, 0, 0))
    mech.add_coupling("gear", {"rotor_hinge": 1.0, "arm_hinge": -10.0})
    model = lw.linearize(mech, independents=["arm_hinge"], inputs=["rotor_hinge.tau"], outputs=["rotor_hinge.u"])
    assert np.abs(model.B[:, 0] - [0.0, 10.0 / (0.5 + 100 * 1e-3)]).max() < 1e-12
    assert np.abs(model.C - [[0.0, 10.0]]).max() < 1e-12


def test_a_quaternion_has_three_local_coordinates():
    mech = lw.Mechanism("ball")
    mech.add_body("rod", mass=1.0, com=(0, 0, -0.5), inertia=np.diag([0.1, 0.2, 0.15]))
    mech.add_joint("S", lw.Spherical(), "ground", "rod", at=(0, 0, 0))
    model = lw.linearize(mech)
    assert model.states == ("S.dq[1]", "S.dq[2]", "S.dq[3]", "S.u[1]", "S.u[2]", "S.u[3]")
    frequencies = np.sqrt(9.81 * 0.5 / np.array([0.1 + 0.25, 0.2 + 0.25]))
    for frequency in frequencies:
        assert np.abs(model.eigenvalues - 1j * frequency).min() < 1e-12
    assert model.units["S.dq[1]"] == "rad"


def test_it_is_a_state_space_of_scipy():
    model = lw.linearize(pendulum())
    space = model.to_scipy()
    assert np.array_equal(space.A, model.A)
    assert np.array_equal(space.D, model.D)


def many_parts() -> lw.Mechanism:
    """Four-bars on the ground, of which two are joined by a spring; a pendulum driven by a current; a slide."""
    mech = lw.Mechanism("many parts")
    for k in range(8):
        for name, length in (("crank", 0.4), ("coupler", 1.0), ("rocker", 0.8)):
            inertia = lw.inertia.rod(1.0 + k, length, axis="x")
            mech.add_body(f"{name}{k}", mass=1.0 + k, com=(length / 2, 0.0, 0.0), inertia=inertia)
        for joint, parent, child, at, end in (
            ("A", "ground", f"crank{k}", (0.0, 0.3 * k, 0.0), 0.0),
            ("B", f"crank{k}", f"coupler{k}", (0.4, 0.0, 0.0), 0.0),
            ("D", "ground", f"rocker{k}", (0.9, 0.3 * k, 0.0), 0.0),
            ("C", f"coupler{k}", f"rocker{k}", (1.0, 0.0, 0.0), 0.8),
        ):
            frames = {"parent_frame": lw.Frame(at), "child_frame": lw.Frame((end, 0.0, 0.0))}
            mech.add_joint(f"{joint}{k}", lw.Revolute("y"), parent, child, cut=joint == "C", **frames)
        mech.start(q={f"A{k}": -0.6 - 0.05 * k, f"D{k}": -1.2}, u={f"A{k}": 1.0})
    ends = {"bodies": ("coupler0", "rocker1"), "points": ((0.3, 0.0, 0.0), (0.2, 0.0, 0.0))}
    mech.add_force(lw.SpringDamper(**ends, stiffness=50.0, damping=0.3, free=0.1, name="between"))
    mech.add_body("arm", mass=1.0, com=(0.0, 0.0, -0.5), inertia=lw.inertia.rod(1.0, 1.0, axis="z"))
    mech.add_joint("E", lw.Revolute("y"), "ground", "arm", at=(0.0, 9.0, 0.0))
    mech.add_state("i", "v - r*i - k*E.u", unit="A", parameters={"v": 2.0, "r": 3.0, "k": 0.5})
    mech.add_force(lw.Force("E", "k*i - d*u", parameters={"k": 0.7, "d": 0.1}))
    return mech


@pytest.mark.parametrize("states", ["minimal", "full"])
def test_parts_that_have_nothing_in_common_share_steps(states, monkeypatch):
    """The same as by columns one by one, in fewer steps."""
    mech = lw.compile(many_parts())
    steps = []
    for kind in (Block, Minimal):
        along = kind.directional_derivative
        monkeypatch.setattr(kind, "directional_derivative", lambda *of, along=along: steps.append(1) or along(*of))
    found = lw.linearize(mech, states=states)
    assert 0 < len(steps) * 4 <= found.A.shape[1] + found.B.shape[1]
    monkeypatch.setattr(linear_model, "_directions", lambda *_: None)
    expected = lw.linearize(mech, states=states)
    for one, other in ((found.A, expected.A), (found.B, expected.B)):
        assert np.abs(one - other).max() < 1e-12 * np.abs(other).max()
    other = {"minimal": "A1.q", "full": "D1.q"}[states]  # which moves the other end of the spring
    assert found.A[found.states.index("A0.u"), found.states.index(other)] != 0.0


def driven_everywhere() -> lw.Mechanism:
    """Every kind of input: loads, a wrench, an actuator, a motion, a command and an impulse; a coupling has none."""
    mech = lw.Mechanism("cart", gravity=(0, 0, 0))
    for name in "abcd":
        mech.add_body(name, mass=1.0, com=(0, 0, 0), inertia=lw.inertia.sphere(1.0, 0.1))
        mech.add_joint(name.upper(), lw.Prismatic((1, 0, 0)), "ground", name, at=(0, 0, 0))
    mech.add_coupling("gear", {"A": 1.0, "B": -2.0})
    mech.prescribe("D", lw.Motion(), name="drive")
    mech.add_force(lw.Wrench("c", name="push"))
    mech.add_force(lw.Actuator("motor", {"A": 3.0}))
    mech.add_transition("latch", lw.Impulse("c"), when=lw.Command())
    return mech


@pytest.mark.parametrize("states", ["minimal", "full"])
def test_every_input_that_is_named_has_its_column(states):
    every = ["motor", "push.F[1]", "A.tau", "drive.a_in", "C", "B", "D"]
    rng = np.random.default_rng(0)
    whole = lw.linearize(driven_everywhere(), states=states)
    for _ in range(20):
        named = list(rng.permutation(every)[: rng.integers(0, len(every) + 1)])
        model = lw.linearize(driven_everywhere(), states=states, inputs=(name for name in named))
        full = {"motor": "motor.input", "B": "B.tau", "C": "C.tau", "D": "D.tau"}
        assert model.inputs == tuple(full.get(name, name) for name in named)
        columns = [whole.inputs.index(name) for name in model.inputs]
        assert np.array_equal(model.B, whole.B[:, columns])
        assert model.B.shape == (len(whole.states), len(named))
    assert lw.linearize(driven_everywhere(), inputs=["push"]).B.shape[1] == 6


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("latch.command", "'latch.command' changes at events only"),
        ("latch.impulse.f", r"'latch.impulse.f\[1\]' changes at events only"),
        ("gear", "is no input: its kind is"),
        ("moter", "did you mean 'motor"),
    ],
)
def test_inputs_without_a_column_are_refused(name, text):
    with pytest.raises(lw.MechanismError, match=text):
        lw.linearize(driven_everywhere(), inputs=["A", name])


def test_the_text_is_a_table():
    text = repr(lw.linearize(pendulum()))
    assert text.splitlines()[0] == "LinearModel: 2 states, 1 inputs, 2 outputs"
    assert "A.tau" in text


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"states": "few"}, 'states must be "minimal" or "full"'),
        ({"inputs": ["A.ta"]}, "inputs: .*did you mean"),
        ({"inputs": ["A.q"]}, "is no input: its kind is 'state'"),
        ({"outputs": ["crank.mass"]}, "outputs: .*its kind is 'parameter'"),
        ({"inputs": {"A": 2.0}}, r"inputs must be names.*inputs=\['A'\].*tau="),
        ({"inputs": ["A.tau", "B", "A.tau"]}, "inputs: 'A.tau' is named twice"),
        ({"inputs": ["A.tau", "A"]}, "inputs: 'A' is named twice"),
        ({"inputs": 3}, "inputs must be a name or names"),
        ({"inputs": ["A", 3]}, "inputs must be a name or names"),
        ({"outputs": ["A.q", "A.q"]}, "outputs: 'A.q' is named twice"),
        ({"states": "full", "independents": ["A"]}, "leave them out"),
    ],
)
def test_wrong_arguments_are_refused(options, text):
    with pytest.raises(lw.MechanismError, match=text):
        lw.linearize(four_bar().mechanism, **options)


# ---- kinks ----


def with_formula(formula: str, **given: object) -> lw.Mechanism:
    mech = lw.Mechanism("slide", gravity=(0, 0, 0))
    mech.add_body("block", mass=2.0, com=(0, 0, 0), inertia=lw.inertia.sphere(2.0, 0.1))
    mech.add_joint("S", lw.Prismatic((1, 0, 0)), "ground", "block", at=(0, 0, 0))
    mech.add_force(lw.Force("S", formula, name="f", **given))
    return mech


LINEAR = lw.LookupTable((-1, 0, 1), (-1, 0, 5))
MONOTONE = lw.LookupTable((-1, 0, 1), (-1, 0, 5), interpolation="monotone")


@pytest.mark.parametrize(
    ("formula", "given", "differ"),
    [
        ("-k*max(q, 0)", {"parameters": {"k": (8.0, "N/m")}}, "der(S.u) by S.q"),
        ("-k*abs(u)", {"parameters": {"k": (8.0, "N.s/m")}}, "der(S.u) by S.u"),
        ("-t(q)", {"tables": {"t": LINEAR}}, "der(S.u) by S.q"),
        ("-t(q)", {"tables": {"t": MONOTONE}}, None),
        ("-k*u*abs(u)", {"parameters": {"k": (8.0, "N.s2/m2")}}, None),
        ("-k*max(q - g, 0)", {"parameters": {"k": (8.0, "N/m"), "g": (0.01, "m")}}, None),
    ],
)
def test_a_kink_is_reported(formula, given, differ):
    mech = with_formula(formula, **given)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        model = lw.linearize(mech)
    texts = [str(one.message) for one in found if issubclass(one.category, lw.KinkWarning)]
    assert len(texts) == (differ is not None)
    if differ is not None:
        assert differ in texts[0]
    assert model.x == pytest.approx([0.0, 0.0], abs=0.0)


def test_kinks_of_outputs_are_reported():
    mech = with_formula("-k*q", parameters={"k": (8.0, "N/m")})
    mech.add_output("size", "abs(S.q)")
    with pytest.warns(lw.KinkWarning, match="size by S.q"):
        lw.linearize(mech, outputs=["size"])
