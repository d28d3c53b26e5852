"""Built-in forces: arguments, files, variables, and the same bits as a force of their formula."""

import copy
import pickle
import re

import numpy as np
import pytest

import linkwork as lw
from linkwork.mechanism.built_in_forces import BuiltInForce
from linkwork.mechanism.forces import FORCES

TABLE = lw.LookupTable([-1.0, 0.2, 1.0], [-4.0, 1.0, 6.0], interpolation="monotone", outside="extend")
ENDS = {"bodies": ("ground", "arm"), "points": ((0.2, 0, -1.0), (0.4, 0, 0.1))}
GEARS = {"A": 0.5, "B": -2.0}

# The formulas as a user would write them, with the same numbers.
ON_HINGES = {
    "bump stop": (
        lw.BumpStop("A", lower=-0.1, upper=0.2, stiffness=900.0, damping=3.0),
        "if(a - q > 0, k*(a - q) + d*max(0, -u), 0) - if(q - b > 0, k*(q - b) + d*max(0, u), 0)",
        {"a": -0.1, "b": 0.2, "k": 900.0, "d": 3.0},
    ),
    "progressive bump stop": (
        lw.BumpStop("B", upper=-0.2, stiffness=900.0, exponent=2, damping=3.0, damping_depth=0.05),
        "-if(q - b > 0, k*(q - b)^2 + d*min(1, (q - b)/s)*max(0, u), 0)",
        {"b": -0.2, "k": 900.0, "d": 3.0, "s": 0.05},
    ),
    "backlash": (
        lw.Backlash(GEARS, backlash=0.02, stiffness=500.0, damping=1.5),
        "if(-q - b/2 > 0, k*(-q - b/2) + d*max(0, -u), 0) - if(q - b/2 > 0, k*(q - b/2) + d*max(0, u), 0)",
        {"b": 0.02, "k": 500.0, "d": 1.5},
    ),
    "spring": (
        lw.NonlinearSpring("A", coefficients=(3.0, -1.0, 50.0), free=0.1),
        "-(a*(q - f) + b*(q - f)^2 + c*(q - f)^3)",
        {"a": 3.0, "b": -1.0, "c": 50.0, "f": 0.1},
    ),
    "spring by table": (lw.NonlinearSpring(GEARS, table=TABLE), "-T(q - f)", {"f": 0.0, "T": TABLE}),
    "damper": (
        lw.NonlinearDamper("A", compression=2.0, rebound=5.0),
        "-(if(u < 0, c, r)*u)",
        {"c": 2.0, "r": 5.0},
    ),
    "torsion bar": (lw.TorsionBar(GEARS, stiffness=80.0), "-k*(q - f)", {"k": 80.0, "f": 0.0}),
    "bar of steel": (
        lw.TorsionBar("B", shear_modulus=8e10, active_length=0.9, diameter=0.01, inner_diameter=0.004),
        "-G*pi*(D^4 - d^4)/(32*L)*(q - f)",
        {"G": (8e10, "Pa"), "L": (0.9, "m"), "D": (0.01, "m"), "d": (0.004, "m"), "f": 0.0},
    ),
    "motor": (
        lw.MotorCharacteristic(GEARS, stall_torque=4.0, no_load_speed=30.0),
        "T*(max(-1, min(1, c)) - u/w)",
        {"T": 4.0, "w": 30.0, "c": "command"},
    ),
    "motor by table": (
        lw.MotorCharacteristic("A", table=TABLE),
        "max(-1, min(1, c))*T(u*sign(c))",
        {"T": TABLE, "c": "command"},
    ),
    "detent": (
        lw.Detent("A", peak=2.0, pitch=0.3, offset=0.1),
        "-p*sin(2*pi*(q - o)/s)",
        {"p": 2.0, "s": 0.3, "o": 0.1},
    ),
    "freewheel": (
        lw.Freewheel(GEARS, damping=20.0, capacity=3.0),
        "min(c, d*max(0, -u))",
        {"d": 20.0, "c": 3.0},
    ),
    "belt": (
        lw.Tendon(GEARS, stiffness=200.0, damping=2.0, preload=8.0),
        "-max(0, k*(q - f) + d*u + p)",
        {"k": 200.0, "f": 0.0, "d": 2.0, "p": 8.0},
    ),
    "pressure on a vane": (
        lw.GasPressure("A", area=2e-3, table=TABLE, over="B.q", ambient=2.0),
        "A*(p(B.q) - a)",
        {"A": 2e-3, "a": 2.0, "p": TABLE},
    ),
}
BETWEEN_POINTS = {
    "bump stop": (
        lw.BumpStop(**ENDS, lower=1.6, stiffness=900.0, exponent=1.5, damping=2.0),
        "-if(a - length > 0, k*(a - length)^1.5 + d*max(0, -rate), 0)",
        {"a": 1.6, "k": 900.0, "d": 2.0},
    ),
    "tyre": (
        lw.Tyre(**ENDS, radius=1.4, stiffness=700.0, damping=4.0),
        "-if(R + h - length > 0, max(0, k*(R + h - length) + d*(v - rate)), 0)",
        {"R": 1.4, "k": 700.0, "d": 4.0, "h": "road", "v": "road_rate"},
    ),
    "spring": (lw.NonlinearSpring(**ENDS, table=TABLE, free=0.9), "T(length - f)", {"f": 0.9, "T": TABLE}),
    "damper": (lw.NonlinearDamper(**ENDS, table=TABLE), "T(rate)", {"T": TABLE}),
    "gas spring": (
        lw.GasPressure(**ENDS, area=1e-4, pressure=1e6, volume=8e-5, reference=1.1, exponent=1.2, ambient=1e5),
        "-(A*(p*(V/(V + A*(length - r)))^n - a))",
        {"A": (1e-4, "m2"), "p": 1e6, "V": (8e-5, "m3"), "r": 1.1, "n": 1.2, "a": 1e5},
    ),
    "tendon": (
        lw.Tendon(
            **ENDS,
            stiffness=300.0,
            damping=3.0,
            free=(1.2, 1.5),
            gain=9.0,
            input_range=(-1, 1),
            force_range=(-50, 60),
            pushes=True,
        ),
        "min(F, max(E, k*(max(0, length - b) + min(0, length - a)) + d*rate + g*min(j, max(i, c))))",
        {"k": 300.0, "d": 3.0, "a": 1.2, "b": 1.5, "g": 9.0, "i": -1.0, "j": 1.0, "E": -50.0, "F": 60.0, "c": "input"},
    ),
    "cable": (lw.Tendon(**ENDS, stiffness=300.0, free=1.0), "max(0, k*(length - f))", {"k": 300.0, "f": 1.0}),
    "gas by volume": (
        lw.GasPressure(**ENDS, area=0.5, table=TABLE, over="volume", volume=0.4),
        "-(A*(p(V + A*(length - r)) - a))",
        {"A": (0.5, "m2"), "V": (0.4, "m3"), "r": 0.0, "a": 0.0, "p": TABLE},
    ),
}
AT_POINT = {
    "thrust": (
        lw.Thrust("arm", axis=(3, 0, 4), point=(0.1, 0, 0.2), limits=(0, 5)),
        {"force": ("0.6*max(a, min(b, t))", "0", "0.8*max(a, min(b, t))"), "axes": "body", "point": (0.1, 0, 0.2)},
        {"a": 0.0, "b": 5.0, "t": "thrust"},
    ),
    "compensation": (
        lw.GravityCompensation("arm", fraction=0.7),
        {"force": ("0", "0", "-f*w"), "point": (0.3, 0, 0.1)},
        {"f": 0.7, "w": -9.81 * 2.0},
    ),
}
FORCED = {
    **{f"{name} on joints": one for name, one in ON_HINGES.items()},
    **{f"{name} between points": one for name, one in BETWEEN_POINTS.items()},
    **AT_POINT,
}


def arms(*forces) -> lw.Mechanism:
    """Two arms, one on the other."""
    mech = lw.Mechanism("arms")
    for body, joint, parent, x in (("arm", "A", "ground", 0.0), ("hand", "B", "arm", 0.6)):
        mech.add_body(body, mass=2.0, com=(0.3, 0, 0.1), inertia=lw.inertia.rod(2.0, 0.6), origin=(x, 0, 0))
        mech.add_joint(joint, lw.Revolute("y"), parent, body, at=(x, 0, 0))
    for force in forces:
        mech.add_force(force)
    return mech


def by_formula(force, given, values) -> lw.Force:
    kind = (float, int, tuple)
    more = {
        "parameters": {key: one for key, one in values.items() if isinstance(one, kind)},
        "tables": {key: one for key, one in values.items() if isinstance(one, lw.LookupTable)},
        "inputs": tuple(key for key, one in values.items() if isinstance(one, str)),
        "name": force.name,
    }
    if isinstance(given, dict):
        return lw.Force(body="arm", **given, **more)
    place = {"joint": force.joint} if hasattr(force, "gears") else ENDS
    return lw.Force(formula=given, **place, **more)


@pytest.mark.parametrize("name", FORCED)
def test_same_bits_as_a_force_by_the_formula(name):
    force, given, values = FORCED[name]
    other = by_formula(force, given, values)
    models = [lw.compile(arms(one)) for one in (force, other)]
    inputs = {key: one for key, one in values.items() if isinstance(one, str)}
    rng = np.random.default_rng(31)
    acting = 0
    free = lw.compile(arms())
    for _ in range(20):
        q, u, loads = rng.uniform(-0.6, 0.6, 2), rng.uniform(-3, 3, 2), rng.uniform(-1.5, 1.5, len(inputs))
        names = ([f"{force.name}.{one}" for one in found] for found in (inputs.values(), inputs))
        found = [
            model.accelerations(q, u, tau=dict(zip(labels, loads, strict=True)))
            for model, labels in zip(models, names, strict=True)
        ]
        assert np.array_equal(*found)
        acting += not np.array_equal(found[0], free.accelerations(q, u))
    assert acting >= 3


@pytest.mark.parametrize("name", FORCED)
def test_files_copies_and_representations(name):
    force = FORCED[name][0]
    mech = arms(force)
    for one in (
        lw.Mechanism.from_dict(mech.to_dict()),
        copy.deepcopy(mech),
        pickle.loads(pickle.dumps(mech)),
        mech.copy(),
    ):
        assert one.forces == [force]
        assert type(one.forces[0]) is type(force)
        assert lw.compile(one).model_bytes == lw.compile(mech).model_bytes
    if getattr(force, "table", None) is None:
        assert eval(repr(force), {type(force).__name__: type(force)._of}) == force
    assert mech.to_dict()["forces"][0]["type"] == force.type_name


@pytest.mark.parametrize("name", FORCED)
def test_numbers_are_described_variables(name):
    force = FORCED[name][0]
    found = {v.name: v for v in lw.compile(arms(force)).variables if v.name.startswith(f"{force.name}.")}
    for number in force.own_numbers():
        one = found[f"{force.name}.{number.name}"]
        assert (one.kind, one.description) == ("parameter", number.text)
        assert one.minimum == (0.0 if number.limit else None)
        if number.unit and "{" not in number.unit:
            assert one.unit == number.unit
    for label in force.law_inputs:
        assert found[f"{force.name}.{label}"].kind == "input"
        assert "formula" not in found[f"{force.name}.{label}"].description


def test_all_kinds_are_tried():
    """But for those with states of their own, which `test_drive_forces` has."""
    built_in = [kind for kind in FORCES.values() if issubclass(kind, BuiltInForce)]
    kinds = {kind for kind in built_in if kind.state_laws is BuiltInForce.state_laws}
    assert kinds == {type(force)._of for force, *_ in FORCED.values()}
    assert all(kind.__name__ in lw.__all__ for kind in kinds)


def test_parameters_of_runs_and_studies():
    mech = arms(lw.BumpStop("A", upper=0.2, stiffness=900.0, name="stop"))
    states = []
    for stiffness in (900.0, 90.0):
        model = lw.compile(mech).with_parameters({"stop.stiffness": stiffness})
        states.append(model.state([0.4, 0.0], [0.0, 0.0])["stop.force"])
    assert states == pytest.approx([-180.0, -18.0], rel=1e-14)


STOP = {"joint": "A", "upper": 0.1, "stiffness": 9.0}


@pytest.mark.parametrize(
    ("kind", "given", "words"),
    [
        (lw.BumpStop, STOP | {"joint": None}, "BumpStop 'stop': give joint=, or bodies= and points=, not none of them"),
        (lw.BumpStop, STOP | ENDS, "not joint= and bodies= and points="),
        (lw.BumpStop, STOP | {"upper": None}, "give lower= or upper=, or both"),
        (lw.BumpStop, STOP | {"lower": 0.2}, "the lower limit 0.2 must be less than the upper limit 0.1"),
        (lw.BumpStop, STOP | {"stiffness": 0.0}, "stiffness must be positive, not 0"),
        (lw.BumpStop, STOP | {"stiffness": None}, "stiffness must be one number, not None"),
        (lw.BumpStop, STOP | {"stiffness": "9"}, "stiffness must be one number, not '9'"),
        (lw.BumpStop, STOP | {"stiffness": np.nan}, "must be finite"),
        (lw.BumpStop, STOP | {"damping": -1.0}, "damping must not be negative, and is -1"),
        (lw.BumpStop, STOP | {"exponent": 0.5}, "exponent must be at least 1, and is 0.5"),
        (lw.BumpStop, STOP | {"damping_depth": 0.0}, "damping_depth must be positive"),
        (lw.BumpStop, STOP | {"name": "a.b"}, "it has '.'"),
        (lw.BumpStop, STOP | {"joint": {}}, "gears must be a dictionary"),
        (lw.BumpStop, STOP | {"joint": {"A": 0.0}}, "zero"),
        (lw.Backlash, {"joint": GEARS, "backlash": -0.1, "stiffness": 1.0}, "backlash must not be negative"),
        (lw.Tyre, {"joint": "A", "radius": 0.3, "stiffness": 1e5}, "give joint= and height=, or bodies="),
        (lw.Tyre, ENDS | {"radius": 0.3, "stiffness": 1e5, "height": 0.3}, "give joint= and height=, or bodies="),
        (lw.Tyre, {"joint": "A", "height": 0.3, "radius": 0.0, "stiffness": 1e5}, "radius must be positive"),
        (lw.NonlinearSpring, {"joint": "A"}, "give coefficients=, or table="),
        (lw.NonlinearSpring, {"joint": "A", "coefficients": ()}, "1 to 9 numbers"),
        (lw.NonlinearSpring, {"joint": "A", "coefficients": 3.0}, "1 to 9 numbers"),
        (lw.NonlinearSpring, {"joint": "A", "coefficients": (1, "2")}, "coefficients must be 2 numbers"),
        (lw.NonlinearSpring, {"joint": "A", "table": 3.0}, "must be a LookupTable"),
        (lw.NonlinearDamper, {"joint": "A", "compression": 1.0}, "give compression= and rebound=, or table="),
        (lw.GasPressure, {"joint": "A", "area": 1.0, "pressure": 1.0}, "give pressure= and volume=, or table="),
        (
            lw.GasPressure,
            {"joint": "A", "area": 1.0, "table": TABLE, "over": "volume"},
            "over='volume' needs volume=",
        ),
        (lw.GasPressure, {"joint": "A", "area": 1.0, "table": TABLE, "volume": 1.0}, "does not depend on volume="),
        (
            lw.GasPressure,
            {"joint": "A", "area": 1.0, "pressure": 1.0, "volume": 1.0, "over": "volume"},
            "over is the argument of a table",
        ),
        (lw.GasPressure, {"joint": "A", "area": 0.0, "table": TABLE}, "area must be positive"),
        (lw.TorsionBar, {"joint": "A", "stiffness": 1.0, "diameter": 0.1}, "give stiffness=, or shear_modulus="),
        (lw.TorsionBar, {"joint": "A", "stiffness": 1.0, "inner_diameter": 0.1}, "leave that out"),
        (
            lw.TorsionBar,
            {"joint": "A", "shear_modulus": 1.0, "active_length": 1.0, "diameter": 0.1, "inner_diameter": 0.1},
            "must be less than diameter 0.1 m",
        ),
        (lw.MotorCharacteristic, {"joint": "A", "stall_torque": 1.0}, "stall_torque= and no_load_speed=, or table="),
        (lw.Detent, {"joint": "A", "peak": 1.0, "pitch": 0.0}, "pitch must be positive"),
        (lw.Freewheel, {"joint": "A", "damping": 0.0}, "damping must be positive"),
        (lw.GravityCompensation, {"body": "arm", "fraction": np.inf}, "finite"),
        (lw.Thrust, {"body": "arm", "axis": (0, 0, 0)}, "axis has no direction"),
        (lw.Thrust, {"body": "arm", "axis": (0, 0, 1), "limits": (5, 0)}, "must be less"),
        (lw.Thrust, {"body": "arm", "axis": (0, 0, 1), "limits": 3.0}, "limits must be 2 numbers"),
    ],
)
def test_arguments_that_are_refused(kind, given, words):
    with pytest.raises(lw.MechanismError, match=re.escape(words)) as error:
        kind(**given)
    assert kind.__name__ in str(error.value)


@pytest.mark.parametrize(
    ("force", "words"),
    [
        (lw.BumpStop(**{**STOP, "joint": "C"}), "there is no joint 'C'"),
        (lw.BumpStop(**{**STOP, "joint": "ball[1]"}), "has a quaternion as orientation, and no coordinate to measure"),
        (
            lw.TorsionBar("slide", stiffness=1.0),
            "'slide' is in m, and it acts on coordinates in rad: name the coordinate of a hinge",
        ),
        (lw.GasPressure("A", area=1.0, table=TABLE, over="C.q"), "'C.q' is unknown"),
        (lw.GravityCompensation("ground"), "acts on the ground"),
        (lw.Thrust("leg", axis=(0, 0, 1)), "there is no body 'leg'"),
        (lw.Tyre("A", height=0.3, radius=0.3, stiffness=1e5), "'A' is in rad, and it acts on coordinates in m"),
    ],
)
def test_mechanisms_that_do_not_fit(force, words):
    mech = arms()
    for body, joint, kind in (("block", "slide", lw.Prismatic("x")), ("globe", "ball", lw.Spherical())):
        mech.add_body(body, mass=1.0, com=(0, 0, 0), inertia=np.eye(3))
        mech.add_joint(joint, kind, "ground", body, at=(0, 0, 0))
    with pytest.raises(lw.MechanismError, match=re.escape(words)):
        mech.add_force(force)


def test_an_unknown_argument_is_named():
    with pytest.raises(TypeError, match="BumpStop has no argument 'stifness': did you mean 'stiffness'"):
        lw.BumpStop("A", upper=0.1, stifness=3.0)


def test_compensation_follows_the_description():
    """The same force in a mechanism of other masses carries another weight; whole weights keep all at rest."""
    forces = [lw.GravityCompensation(body, name=f"{body}-balance") for body in ("arm", "hand")]
    mech = arms(*forces)
    model = lw.compile(mech)
    assert np.abs(model.accelerations([0.3, -0.4], [0.0, 0.0])).max() < 1e-14
    data = arms().to_dict()
    data["bodies"][0]["mass"], data["bodies"][0]["com"] = 5.0, [0.1, 0.2, 0.3]
    other = lw.Mechanism.from_dict(data)
    for force in forces:
        other.add_force(force)
    for one, mass, com in ((model, 2.0, (0.3, 0, 0.1)), (lw.compile(other), 5.0, (0.1, 0.2, 0.3))):
        state = one.assemble()
        assert state["arm-balance.weight_z"] == pytest.approx(-9.81 * mass, rel=1e-15)
        assert np.array_equal(state["arm-balance.point"], com)
    assert np.abs(lw.compile(other).accelerations([0.3, -0.4], [0.0, 0.0])).max() < 1e-13
