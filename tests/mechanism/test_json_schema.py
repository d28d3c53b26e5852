"""The JSON Schema accepts every mechanism that is written, and refuses what the reader refuses."""

import copy
import json

import jsonschema
import pytest

import linkwork as lw
from linkwork.cli.main import main
from linkwork.cli.mechanism_files import load_mechanism
from linkwork.mechanism.actions import ACTIONS
from linkwork.mechanism.forces import FORCES
from linkwork.mechanism.joints import KINDS
from linkwork.mechanism.json_schema import json_schema
from linkwork.mechanism.triggers import TRIGGERS
from support.checkout import TOP

SCHEMA = json_schema()
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
EXAMPLES = [path for path in sorted((TOP / "examples").glob("*.py")) if "def mechanism(" in path.read_text("utf-8")]
FILES = sorted((TOP / "tests" / "data").glob("*.json"))
DATA = [path for path in FILES if "linkwork" in json.loads(path.read_text("utf-8"))]  # other files have it deeper

AXES = {
    "axis": [0, 1, 0],
    "axis1": [0, 0, 1],
    "axis2": [1, 0, 0],
    "normal": [0, 0, 1],
    "slot": [1, 0, 0],
    "pitch": 0.1,
    "direction": [1, 0, 0],
    "radius": 0.4,
    "points": [[0, 0, 0], [1, 0, 0.2], [2, 0, 0.1]],
    "closed": False,
}
BODY = {"name": "rod", "mass": 1, "com": [0, 0, 0], "inertia": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}
HINGE = {"name": "A", "type": "revolute", "axis": [0, 1, 0], "parent": "ground", "child": "rod", "at": [0, 0, 0]}
POINTS = {"bodies": ["ground", "rod"], "points": [[0, 0, 0], [0, 0, 1]]}
WHEN = {"type": "time", "t": 1.0}
BY_FORMULA = {"parameters": {"k": 3.0}, "inputs": ["p"], "name": "f"}
NAMED_BY_FORMULAS = ("parameters", "inputs", "force", "tables")  # names that are missing are no matter of the schema
FORCE_SAMPLES = {
    "spring_damper": {"joint": "A", "stiffness": [2.0], "damping": 1, "free": 0.5},
    "point_spring_damper": {**POINTS, "stiffness": 1.0, "damping": 1.0, "free": 1.0, "name": "spring"},
    "wrench": {"body": "rod", "point": [0, 0, 1], "name": "push"},
    "actuator": {"name": "grip", "gears": {"A": 0.5}, "gain": 80, "offset": 1, "stiffness": 100, "damping": 10}
    | {"input_range": [0, 255], "force_range": [-5, 5]},
    "joint_force": {"joint": "A", "formula": "-k*q + p"} | BY_FORMULA,
    "line_force": {**POINTS, "formula": "k*length + p"} | BY_FORMULA,
    "frame_force": {"bodies": ["ground", "rod"], "frames": [{}, {"position": [1, 0, 0]}]}
    | {"force": ["k*displacement[1]", "p", "0"], "torque": ["0", "0", "0"]}
    | BY_FORMULA,
    "tendon": {"bodies": ["ground", "rod", "ground"], "points": [[0, 0, 1], [0, 0, 0], [1, 0, 1]], "stiffness": 10}
    | {"factors": [1, 0.5], "damping": 1, "free": [0.1, 0.2], "preload": 1, "gain": 2, "input_range": [0, 1]}
    | {"force_range": [0, 5], "pushes": True, "name": "cable"},
    "point_force": {"body": "rod", "point": [0, 0, 1], "force": ["k*A.q", "p", "0"], "torque": ["0", "0", "0"]}
    | {"axes": "body"}
    | BY_FORMULA,
    "friction": {"name": "rub", "joint": "A", "coulomb": 0.2, "static": 0.3, "stribeck": 0.01, "viscous": 0.1}
    | {"smooth": 0.01, "forward": 0.5, "backward": 2},
    "brake": {"joint": "A", "capacity": "k*p", "static": 1.2, "forward": 0, "backward": 1} | BY_FORMULA,
    "bushing": {"bodies": ["ground", "rod"], "frames": [{}, {"position": [1, 0, 0]}], "stiffness": [3, 4, 5, 1, 1, 2]}
    | {"damping": [[1.0 if i == j else 0.0 for i in range(6)] for j in range(6)], "name": "mount"},
    "bump_stop": {"joint": "A", "lower": -1, "upper": 1.5, "stiffness": 1e3, "exponent": 1.5, "damping": 2}
    | {"damping_depth": 0.1, "name": "stop"},
    "backlash": {"joint": {"A": 2}, "backlash": 0.02, "stiffness": 1e3, "damping": 1, "name": "mesh"},
    "tyre": {**POINTS, "radius": 0.3, "stiffness": 2e5, "damping": 100, "name": "tyre"},
    "nonlinear_spring": {"joint": "A", "coefficients": [1, 0, 3], "free": 0.1, "name": "spring"},
    "nonlinear_damper": {**POINTS, "compression": 1, "rebound": 2, "name": "damper"},
    "gas_pressure": {**POINTS, "area": 1e-3, "pressure": 1e5, "volume": 1e-3, "reference": 0.1, "exponent": 1.2}
    | {"ambient": 1e5, "name": "gas"},
    "torsion_bar": {"joint": {"A": 1}, "shear_modulus": 8e10, "active_length": 1, "diameter": 0.02}
    | {"inner_diameter": 0.01, "free": 0.1, "name": "bar"},
    "motor_characteristic": {"joint": "A", "stall_torque": 2, "no_load_speed": 30, "name": "motor"},
    "dc_motor": {"joint": "A", "resistance": 1, "constant": 0.1, "inductance": 1e-3, "gear": 5, "efficiency": 0.9}
    | {"current": 0, "name": "motor"},
    "first_order_actuator": {"joint": "A", "time_constant": 0.1, "limit": 5, "load": 1, "name": "servo"},
    "hydraulic_cylinder": {**POINTS, "area": 1e-3, "rod_area": 8e-4, "volume": 1e-4, "stroke": 0.5, "supply": 2e7}
    | {"rated_flow": 1e-4, "rated_pressure": 3e6, "bulk_modulus": 1e9, "tank": 1e5, "retracted": 0.2, "leakage": 0}
    | {"smoothing": 1e-3, "pressures": [1e5, 2e5], "name": "lift"},
    "detent": {"joint": "A", "peak": 0.1, "pitch": 0.2, "offset": 0.1, "name": "clicks"},
    "freewheel": {"joint": "A", "damping": 1e3, "capacity": 10, "name": "clutch"},
    "gravity_compensation": {"body": "rod", "fraction": 0.5, "name": "balance"},
    "thrust": {"body": "rod", "axis": [1, 0, 0], "point": [0, 0, 1], "limits": [0, 5], "name": "jet"},
}
TABLE = {"x": [0, 1], "values": [2, 3]}
OTHER_FORCES = {  # other alternatives of their arguments
    "bump_stop": {**POINTS, "lower": 0.5, "stiffness": 1e3},
    "tendon": {"joint": {"A": 0.1}, "gain": 1},
    "nonlinear_spring": {**POINTS, "table": TABLE},
    "nonlinear_damper": {"joint": "A", "table": TABLE},
    "gas_pressure": {"joint": "A", "area": 1e-3, "table": TABLE, "over": "A.q"},
    "torsion_bar": {"joint": "A", "stiffness": 3.0},
    "motor_characteristic": {"joint": {"A": 5}, "table": TABLE},
    "freewheel": {"joint": {"A": -1}},
    "friction": {"joint": {"A": 2}, "coulomb": 0.2},
    "brake": {"joint": {"A": 2}, "capacity": "k", "parameters": {"k": 3.0}},
}
ACTION_SAMPLES = {
    "lock": {"joint": "A", "speeds": [1], "when": WHEN},
    "unlock": {"joint": "A", "speeds": 1, "when": WHEN},
    "pin": {
        "parent": "rod",
        "child": "ground",
        "kind": {"type": "revolute", "axis": [0, 1, 0]},
        "parent_frame": {"position": [1, 0, 0], "rotation": [1, 0, 0, 0]},
        "child_frame": {},
        "when": WHEN,
    },
    "release": {"joint": "cut", "when": WHEN},
    "stop": {"joint": "A", "lower": -1, "upper": 1, "restitution": 0.5, "coordinate": 1},
    "impulse": {"body": "rod", "point": [0, 0, 0], "force": [1, 0, 0], "torque": [0, 0, 1], "when": WHEN},
}
TRIGGER_SAMPLES = {
    "time": {"t": 1},
    "crossing": {"quantity": POINTS, "value": 1.5, "direction": 0},
    "command": {},
}


def whole(**parts):
    """A mechanism with some parts."""
    return {"linkwork": 1, "name": "it", "bodies": [BODY], "joints": [HINGE], **parts}


def joint(kind):
    own = {name: AXES[name] for name in KINDS[kind].argument_names()}
    frame = {"position": [0, 0, 1], "rotation": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}
    more = {"parent": "ground", "child": "rod", "parent_frame": frame, "child_frame": {}, "cut": False}
    return {"name": "A", "type": kind, **own, **more}


def transition(kind, **changes):
    return {"name": "change", "type": kind, **ACTION_SAMPLES[kind], **changes}


LOCK = {"name": "hold", "type": "lock", "joint": "A", "when": {"type": "time", "t": 0.5}}
LOOP = [HINGE, {**HINGE, "name": "cut", "parent": "rod", "child": "ground"}]
SAMPLES = {
    "body": (whole(bodies=[{**BODY, "origin": [0, 0, 1], "rotation": [1, 0, 0, 0]}]), ("bodies", 0)),
    "whole": (whole(gravity=[0, 0, 0], start={"q": {"A": 0.5}, "u": {"A": [1]}}), ()),
    "start": (whole(start={"q": {"A": 0.5}, "u": {"A": [1]}}), ("start",)),
    "coupling": (
        whole(couplings=[{"name": "c", "terms": {"A": [1, 2]}, "offset": 1, "motion": {"polynomial": [0, 1]}}]),
        ("couplings", 0),
    ),
    "coupling by a formula": (
        whole(
            couplings=[
                {
                    "name": "c",
                    "offset": 1,
                    "formula": "k*t(A.q)",
                    "parameters": {"k": 2},
                    "tables": {"t": {**TABLE, "interpolation": "monotone", "outside": "extend"}},
                }
            ]
        ),
        ("couplings", 0),
    ),
    "motion": (
        whole(
            couplings=[
                {
                    "name": "c",
                    "terms": {"A": 1},
                    "motion": {"polynomial": 0.5, "amplitude": 1, "frequency": 2, "phase": 3},
                }
            ]
        ),
        ("couplings", 0, "motion"),
    ),
    "distance": (whole(distances=[{"name": "d", **POINTS, "length": 1}]), ("distances", 0)),
    "frame": (whole(joints=[joint("revolute")]), ("joints", 0, "parent_frame")),
    "kind of a pin": (whole(transitions=[transition("pin")]), ("transitions", 0, "kind")),
    "points of a crossing": (
        whole(transitions=[transition("lock", when={"type": "crossing", **TRIGGER_SAMPLES["crossing"]})]),
        ("transitions", 0, "when", "quantity"),
    ),
    **{f"joint {kind}": (whole(joints=[joint(kind)]), ("joints", 0)) for kind in KINDS},
    **{f"force {kind}": (whole(forces=[{"type": kind, **FORCE_SAMPLES[kind]}]), ("forces", 0)) for kind in FORCES},
    **{f"other {kind}": (whole(forces=[{"type": kind, **one}]), ("forces", 0)) for kind, one in OTHER_FORCES.items()},
    **{
        f"action {kind}": (
            whole(joints=LOOP if kind == "release" else [HINGE], transitions=[LOCK, transition(kind)]),
            ("transitions", 1),
        )
        for kind in ACTIONS
    },
    **{
        f"trigger {kind}": (
            whole(transitions=[transition("lock", when={"type": kind, **TRIGGER_SAMPLES[kind]})]),
            ("transitions", 0, "when"),
        )
        for kind in TRIGGERS
    },
}


def part(data, path):
    for step in path:
        data = data[step]
    return data


def is_read(data) -> bool:
    try:
        lw.Mechanism.from_dict(data)
    except lw.MechanismError:
        return False
    return True


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples(path):
    VALIDATOR.validate(json.loads(json.dumps(load_mechanism(path).to_dict())))


@pytest.mark.parametrize("path", DATA, ids=lambda path: path.stem)
def test_files(path):
    VALIDATOR.validate(json.loads(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("name", SAMPLES)
def test_what_is_read_is_valid(name):
    data, _ = SAMPLES[name]
    VALIDATOR.validate(data)
    assert is_read(data)
    VALIDATOR.validate(lw.Mechanism.from_dict(data).to_dict())


@pytest.mark.parametrize("name", SAMPLES)
def test_missing_unknown_and_wrong_values_are_refused_by_both(name):
    data, path = SAMPLES[name]
    for key in part(data, path):
        for change in ("missing", "wrong") if key not in NAMED_BY_FORMULAS else ("wrong",):
            other = copy.deepcopy(data)
            if change == "missing":
                del part(other, path)[key]
            else:
                part(other, path)[key] = {"no": ["such"]}
            assert VALIDATOR.is_valid(other) == is_read(other), (key, change)
    other = copy.deepcopy(data)
    part(other, path)["mas"] = 1
    assert not VALIDATOR.is_valid(other)
    assert not is_read(other)


@pytest.mark.parametrize(
    ("name", "key", "value"),
    [
        ("body", "mass", -1),
        ("body", "com", [0, 0]),
        ("body", "inertia", [1, 1, 1]),
        ("body", "rotation", [1, 0, 0]),
        ("body", "name", "1.st"),
        ("body", "name", "left "),
        ("whole", "linkwork", 2),
        ("distance", "length", 0),
        ("distance", "bodies", ["rod"]),
        ("coupling", "terms", {}),
        ("coupling", "terms", {"A": [1, 2, 3, 4, 5]}),
        ("motion", "polynomial", [1, 2, 3, 4, 5]),
        ("action stop", "restitution", 1.5),
        ("action stop", "coordinate", 0),
        ("action lock", "speeds", []),
        ("action stop", "when", WHEN),
        ("trigger crossing", "direction", 2),
        ("joint revolute", "type", "hinge"),
        ("force bump_stop", "stiffness", 0),
        ("force bump_stop", "joint", None),
        ("other bump_stop", "joint", "A"),
        ("force nonlinear_spring", "table", TABLE),
        ("force tyre", "height", 0.3),
        ("force tyre", "damping", -1),
        ("other torsion_bar", "diameter", 0.01),
    ],
)
def test_limits_of_values(name, key, value):
    data, path = SAMPLES[name]
    other = copy.deepcopy(data)
    part(other, path)[key] = value
    assert not VALIDATOR.is_valid(other)
    assert not is_read(other)


def test_each_argument_has_a_description():
    named = SCHEMA["properties"]["bodies"]["items"]["properties"].values()
    assert all("description" in one for one in named)
    (pitch,) = [one for one in SCHEMA["properties"]["joints"]["items"]["oneOf"] if "pitch" in one["properties"]]
    assert "[m/rad]" in pitch["properties"]["pitch"]["description"]


def test_the_command_prints_it(capsys):
    assert main(["schema"]) == 0
    assert json.loads(capsys.readouterr().out) == SCHEMA


def test_the_command_writes_it(tmp_path, capsys):
    path = tmp_path / "linkwork.schema.json"
    assert main(["schema", "-o", str(path)]) == 0
    assert json.loads(path.read_text(encoding="utf-8")) == SCHEMA
    assert capsys.readouterr().out == f"wrote {path}\n"
    assert main(["schema", "-o", str(tmp_path / "no" / "such.json")]) == 1
    assert "there is no folder" in capsys.readouterr().err


PAGE = (TOP / "docs" / "json_format.md").read_text(encoding="utf-8")


def keys_of(schema) -> set[str]:
    if isinstance(schema, list):
        return set().union(*map(keys_of, schema))
    if not isinstance(schema, dict):
        return set()
    own = set(schema["properties"]) if isinstance(schema.get("properties"), dict) else set()
    kinds = {schema["const"]} if isinstance(schema.get("const"), str) else set()
    return own | kinds | set().union(*map(keys_of, schema.values()), set())


@pytest.mark.parametrize("key", sorted(keys_of(SCHEMA)))
def test_the_page_describes_each_key_and_type(key):
    assert f"`{key}`" in PAGE or f'"{key}"' in PAGE


def test_the_example_of_the_page_is_read():
    text = PAGE.split("```json\n")[1].split("```")[0]
    data = json.loads(text)
    VALIDATOR.validate(data)
    mech = lw.Mechanism.from_dict(data)
    assert lw.simulate(mech, 0.1).t[-1] == 0.1
