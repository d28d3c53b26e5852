"""The builder in C makes of a description the bytes that the compiler in Python makes of it."""

import importlib
import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import linkwork as lw
from linkwork.core._core import ffi, lib
from linkwork.core.native import Block, NativeModel
from support.c_builder import CBuilder, Refused, built, filled, make_kind
from support.checkout import TOP
from support.gear_families import GEAR_FAMILIES
from support.joint_families import JOINT_FAMILIES
from support.model_bytes import HEADER, read_model
from support.random_changes import random_change
from support.random_graphs import coupled_mechanisms
from support.random_mechanisms import FAMILIES, random_tree, well_posed
from support.random_transitions import as_transitions
from support.rounded_loops import ROUNDED_LOOPS, rounded
from support.spanned import SPANNED

MAKERS = {
    **{name: make for name, (make, *_) in (FAMILIES | JOINT_FAMILIES).items()},
    **{f"geared: {name}": make for name, (make, *_) in GEAR_FAMILIES.items()},
    **{f"distances: {name}": make for name, make in SPANNED.items()},
}
EXAMPLES = sorted(p.stem for p in (TOP / "examples").glob("*.py") if "def mechanism(" in p.read_text(encoding="utf-8"))
METHODS = [("rcr",), ("embedding",), ("dca",), *(("multipliers", about) for about in ("auto", "centroid", "origin"))]
CENTRE, BALL = (0, 0, 0), lw.inertia.sphere(1.0, 0.1)
GOOD = (1.0, CENTRE, BALL.ravel().tolist())


def chain(count):
    """Links in a row on hinges A1, A2, ..., the first on the ground."""
    mech = lw.Mechanism("chain")
    for k in range(1, count + 1):
        mech.add_body(f"link{k}", mass=1.0, com=(0.1, 0, 0), inertia=BALL)
        frame = lw.Frame((0.2, 0, 0)) if k > 1 else lw.Frame()
        mech.add_joint(
            f"A{k}", lw.Revolute((0, 0, 1)), f"link{k - 1}" if k > 1 else "ground", f"link{k}", parent_frame=frame
        )
    return mech


def variants(data):
    """The models one after the other in the bytes of a model."""
    while data:
        size = HEADER.unpack_from(data)[2]
        yield read_model(data[:size])
        data = data[size:]


def check(mechanism, *method):
    """The same bytes, but for the rounding of the joints' frames: numpy multiplies them as the processor suggests."""
    ours, theirs = built(mechanism, *method), lw.compile(mechanism, *method).model_bytes
    if ours == theirs:
        return
    for one, other in zip(variants(ours), variants(theirs), strict=True):
        assert (one.counts, one.names) == (other.counts, other.names)
        for name, table in one.tables.items():
            np.testing.assert_array_equal(table, other.tables[name])
        for name, values in one.parameters.items():
            np.testing.assert_allclose(values, other.parameters[name], rtol=0, atol=4e-16 * ("orientation" in name))


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.thin(5)
def test_examples(monkeypatch, name):
    monkeypatch.syspath_prepend(TOP / "examples")
    check(importlib.import_module(name).mechanism())


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.thin(4)
def test_families(name, seed):
    check(well_posed(MAKERS[name], seed).mechanism)


@pytest.mark.filterwarnings("ignore::linkwork.errors.RoundingWarning")
@pytest.mark.parametrize("digits", [9, 5])
@pytest.mark.parametrize("name", ROUNDED_LOOPS)
def test_frames_made_exact(name, digits):
    """The same corrections; the description in C keeps what it was given."""
    mechanism = rounded(ROUNDED_LOOPS[name](np.random.default_rng(0)), digits)
    assert lw.compile(mechanism).corrections
    check(mechanism)


@pytest.mark.parametrize("seed", range(40))
def test_trees(seed):
    check(random_tree(np.random.default_rng(seed), 3 + seed, springs=2).mechanism)


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.thin(4)
def test_transitions(seed):
    """Locks, stops, pins, released joints and impulses, with all variants of the topology."""
    check(as_transitions(random_change(seed)).mechanism)


@given(coupled_mechanisms())
@settings(max_examples=200, suppress_health_check=list(HealthCheck))
def test_any_graph(mechanism):
    check(mechanism)


@pytest.mark.parametrize("method", METHODS, ids="-".join)
@pytest.mark.parametrize("name", ["side_by_side", "outboard_trees", "three_planar_legs", "coupled"])
def test_methods(name, method):
    check(well_posed(FAMILIES[name][0], 1).mechanism, *method)


def test_methods_of_single_loops():
    mechanism = well_posed(FAMILIES["side_by_side"][0], 1).mechanism
    loops = lw.compile(mechanism).topology.loops
    names = list(mechanism.joints)
    check(mechanism, {names[loops[0].joint]: "embedding", names[loops[2].joint]: "rcr"})


def test_motions_and_triggers():
    mechanism = chain(4)
    mechanism.prescribe("A1", lw.Motion((0.1, 2.0, -0.0), 0.3, 4.0, 0.5))
    points = ((0.1, 0, 0), (1, 0, 0))
    reach = lw.PointDistance(("link4", "ground"), points)
    mechanism.add_transition("near", lw.Lock("A2"), lw.Crossing(reach, 0.4, -1))
    mechanism.add_transition("bent", lw.Lock("A3"), lw.Crossing("A3.q", 1.5, 0))
    mechanism.add_transition("later", lw.Unlock("A3"), lw.Time(0.7))
    mechanism.add_transition("kick", lw.Impulse("link4", (0.1, 0, 0), (0, 1, 0)), lw.Crossing(reach, 0.2))
    approach = lw.PointDistance(("link1", "link4"), points, rate=True)
    mechanism.add_transition("closing", lw.Unlock("A2"), lw.Crossing(approach, -0.4, -1))
    mechanism.add_transition("fast", lw.Lock("A4"), lw.Crossing("A1.u", 1.5))
    check(mechanism)


@pytest.mark.parametrize("seed", range(5))
def test_joints_at_points_in_the_world(seed):
    """Joints given by points and axes in the world have the frames of Python."""
    mechanism = well_posed(FAMILIES["hard_points_6R_1P"][0], seed).mechanism
    b = CBuilder()
    b.set_gravity(mechanism.gravity.tolist())
    for body in mechanism.bodies.values():
        b.add_body(body.name, body.mass, body.com.tolist(), body.inertia.ravel().tolist())
        b.place_body(body.name, body.origin.tolist(), body.rotation.ravel().tolist())
    for joint in mechanism.joints.values():
        frame, pose = joint.parent_frame, mechanism.bodies.get(joint.parent)
        at = frame.position if pose is None else pose.origin + pose.rotation @ frame.position
        axes = [number for axis in joint.kind.axes for number in axis.tolist()]
        kind = make_kind(joint.kind.type_name, axes, joint.kind.value)
        b.add_joint_at(joint.name, kind, joint.parent, joint.child, at.tolist())
    first, second = (np.frombuffer(data[-200:], np.uint8) for data in (b.finished(), built(mechanism)))
    assert first.size == second.size
    model, other = (Block(NativeModel(data)) for data in (b.finished(), built(mechanism)))
    np.testing.assert_allclose(model.reals, other.reals, rtol=0, atol=1e-14)


def test_things_are_found_by_name():
    system = lw.compile(well_posed(FAMILIES["side_by_side"][0], 0).mechanism)
    model, block = system._native, system.block()
    for kind, names in ((lib.LW_KIND_BODY, system.mechanism.bodies), (lib.LW_KIND_JOINT, system.mechanism.joints)):
        assert lib.lw_model_count(model.handle, kind) == len(names)
        for index, name in enumerate(names):
            assert ffi.string(lib.lw_model_name(model.handle, kind, index)).decode() == name
            assert lib.lw_model_find(model.handle, kind, name.encode()) == index
        assert lib.lw_model_name(model.handle, kind, len(names)) == ffi.NULL
        assert lib.lw_model_find(model.handle, kind, b"nonsense") == -1
    span = ffi.new("int32_t[2]")

    def found(field, owner):
        status = lib.lw_model_find_variable(model.handle, field, owner, span, span + 1)
        return None if status else slice(span[0], span[0] + span[1])

    start = model.fields["q"].first
    for joint in system.numbering.tree:
        q = system.numbering.q[joint]
        assert found(b"q", joint.encode()) == (slice(start + q.start, start + q.stop) if q.stop > q.start else None)
    for joint in system.numbering.cut:
        text = ffi.new("char[120]")
        lib.lw_describe(block.handle, found(b"u", joint.encode()).start, text, 120)
        assert ffi.string(text).decode() == f"u_cut of joint '{joint}'"
    assert found(b"gravity", ffi.NULL) == model.fields["gravity"].span
    body = next(iter(system.mechanism.bodies)).encode()
    assert found(b"body_com", body).stop - found(b"body_com", body).start == 3
    assert found(b"body_com", b"nonsense") is found(b"nonsense", ffi.NULL) is found(b"gravity", body) is None


# ---- refusals ----


def pendulum():
    b = CBuilder()
    b.add_body("arm", *GOOD)
    b.add_joint("hinge", make_kind("revolute", (0, 1, 0)), "ground", "arm", None, None)
    return b


BAD = {
    "name": (lambda b: b.add_body("2.nd", *GOOD), "'2.nd': it has '.'; a name consists of"),
    "ground": (lambda b: b.add_body("ground", *GOOD), "stands for the world"),
    "twice": (lambda b: b.add_body("arm", *GOOD), "there is a body 'arm' already"),
    "mass": (lambda b: b.add_body("rod", -1.0, *GOOD[1:]), "body 'rod': mass must be finite and not negative"),
    "com": (lambda b: b.add_body("rod", 1.0, (math.nan, 0, 0), GOOD[2]), "body 'rod': com must be finite"),
    "triangle": (lambda b: b.add_body("rod", 1.0, CENTRE, [1, 0, 0, 0, 1, 0, 0, 0, 3]), "triangle inequality"),
    "negative": (lambda b: b.add_body("rod", 1.0, CENTRE, [0, 1, 0, 1, 0, 0, 0, 0, 1]), "negative principal moment"),
    "skew": (lambda b: b.add_body("rod", 1.0, CENTRE, [1, 0.1, 0, 0, 1, 0, 0, 0, 1]), "symmetric"),
    "body": (lambda b: b.add_joint("A", make_kind("fixed"), "arn", "ground", None, None), "did you mean 'arm'?"),
    "itself": (lambda b: b.add_joint("A", make_kind("fixed"), "arm", "arm", None, None), "joins 'arm' to itself"),
    "axis": (lambda b: b.add_joint("A", make_kind("prismatic"), "ground", "arm", None, None), "axis is zero"),
    "axes": (
        lambda b: b.add_joint("A", make_kind("universal", (1, 0, 0, 1, 1, 0)), "ground", "arm", None, None),
        "must be perpendicular",
    ),
    "rotation": (lambda b: b.place_body("arm", CENTRE, [1, 0, 0, 0, 1, 0, 0, 0, -1]), "must be a rotation matrix"),
    "start": (lambda b: b.start_q("hing", [0.0]), "there is no joint 'hing': did you mean 'hinge'?"),
    "coupled": (
        lambda b: (b.add_coupling("gear", 0.0), b.add_term("gear", "hinge", 1, [1, 0, 0, 0])),
        "no coordinate 1",
    ),
    "empty": (lambda b: (b.add_coupling("gear", 0.0), b.finished()), "coupling 'gear' has no terms"),
    "length": (lambda b: b.add_distance("rod", "ground", CENTRE, "arm", CENTRE, 0.0), "its points coincide"),
    "sprung": (
        lambda b: [b.add_joint_spring("hinge", [1.0], None, None) for _ in range(2)],
        "has a spring and damper already",
    ),
    "wrench": (lambda b: b.add_wrench("push", "ground", CENTRE), "acts on the ground"),
    "lost": (lambda b: (b.add_body("rod", *GOOD), b.finished()), "body 'rod' first: add a joint between 'rod'"),
    "cut": (lambda b: (b.cut("hinge"), b.finished()), "joint 'hinge' cannot be cut or released"),
    "trigger": (lambda b: (b.add_lock("latch", "hinge", 0), b.finished()), "transition 'latch' has no trigger"),
    "unlock": (
        lambda b: (b.add_unlock("free", "hinge", 0), b.at_time("free", 1.0), b.finished()),
        "nothing locks joint 'hinge'",
    ),
    "stop": (lambda b: b.add_stop("end", "hinge", 0, 1.0, -1.0, 0.0), "lower = 1 must be less than upper = -1"),
    "beyond": (
        lambda b: (b.add_stop("end", "hinge", 0, -1.0, 1.0, 0.0), b.start_q("hinge", [2.0]), b.finished()),
        "start q of joint 'hinge': 2 is beyond a bound",
    ),
    "method": (lambda b: (b.set_method("hinge", lib.LW_METHOD_RCR), b.finished()), "joint 'hinge' is on no loop"),
    "whole": (lambda b: b.set_method("hinge", lib.LW_METHOD_DCA), "takes the whole mechanism"),
}


@pytest.mark.parametrize("name", BAD)
def test_mistakes_are_named(name):
    act, text = BAD[name]
    with pytest.raises(Refused) as refused:
        act(pendulum())
    status, message = refused.value.args
    assert status in (lib.LW_ERROR_PARAMETER, lib.LW_ERROR_USAGE)
    assert text in message


def test_nothing_to_build():
    with pytest.raises(Refused, match="the mechanism has no bodies"):
        CBuilder().finished()


def test_the_first_failure_stays():
    b = pendulum()
    for call in (lambda: b.add_body("arm", *GOOD), lambda: b.add_wrench("push", "nobody", CENTRE), b.finished):
        with pytest.raises(Refused, match="there is a body 'arm' already"):
            call()


ACTUATOR = {
    "gear zero": (lambda b: b.add_gear("motor", "hinge", 0, 0.0), "must be finite and not zero"),
    "gear element": (lambda b: b.add_gear("motor", "hinge", 1, 2.0), "joint 'hinge' (revolute) has no speed 1"),
    "gear twice": (lambda b: [b.add_gear("motor", "hinge", 0, 2.0) for _ in range(2)], "has a gear of joint 'hinge'"),
    "gear of none": (lambda b: b.add_gear("moter", "hinge", 0, 2.0), "there is no actuator 'moter': did you mean"),
    "no gear": (lambda b: b.finished(), "actuator 'motor' acts on no joint: add one with lw_builder_add_gear"),
    "limits": (lambda b: b.limit_actuator("motor", None, [2.0, 1.0]), "lower limit of the force range must be less"),
    "same name": (lambda b: b.add_wrench("motor", "arm", CENTRE), "there is a actuator 'motor' already"),
}


@pytest.mark.parametrize("name", ACTUATOR)
def test_mistakes_in_actuators_are_named(name):
    act, text = ACTUATOR[name]
    b = pendulum()
    b.add_actuator("motor", 1.0, 0.0, 2.0, 0.0)
    with pytest.raises(Refused) as refused:
        act(b)
    assert text in refused.value.args[1]


def test_actuators():
    """On joints of several speeds, on cut joints, with gears that are added out of order."""
    mechanism = well_posed(JOINT_FAMILIES["spherical_backward"][0], 1).mechanism
    names = [name for name, joint in mechanism.joints.items() if joint.kind.nu == 1]
    balls = [name for name, joint in mechanism.joints.items() if joint.kind.quaternion is not None]
    gears = {name: 0.5 + k for k, name in enumerate(names)}
    mechanism.add_force(lw.Actuator("pull", gears, 2.0, 0.1, 3.0, 0.4, input_range=(-1, 1), force_range=(0, 3)))
    mechanism.add_force(lw.Actuator("spin", {f"{balls[0]}[3]": 2.0, names[0]: 1.0}))
    check(mechanism)


def test_gears_are_sorted_by_actuator():
    in_turn, mixed = pendulum(), pendulum()
    for b, order in ((in_turn, ("one", "two")), (mixed, ("two", "one"))):
        b.add_actuator("one", 1.0, 0.0, 0.0, 0.0)
        b.add_actuator("two", 2.0, 0.0, 0.0, 0.0)
        for name in order:
            b.add_gear(name, "hinge", 0, 3.0 if name == "one" else 4.0)
    assert in_turn.finished() == mixed.finished()


def test_a_builder_can_be_finished_again():
    mechanism = chain(3)
    mechanism.add_transition("pin", lw.Pin("link3", "ground", lw.Revolute((0, 0, 1))), lw.Command())
    b = filled(mechanism)
    first = b.finished()
    assert b.finished() == first
    b.add_wrench("push", "link3", CENTRE)
    assert len(b.finished()) > len(first)


def test_points_and_measures():
    mechanism = well_posed(FAMILIES["side_by_side"][0], 1).mechanism
    first, second, *_ = mechanism.bodies
    mechanism.add_point("spot", first, (0.1, -0.2, 0.3), axis=(1, 2, 3))
    mechanism.add_point("wall", "ground", (1, 0, 0), axis=(0, -2, 0))
    mechanism.add_point("plain", second, (0.1, 0.7, 0.3))
    mechanism.add_measure("gap", "distance", ("spot", "plain"))
    mechanism.add_measure("tilt", "angle", ("wall", "spot"))
    check(mechanism)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda b: b.add_point("p", "link9", [0, 0, 0], None), "point 'p': there is no body 'link9'"),
        (lambda b: b.add_point("p", "link1", [0, 0, 0], [0, 0, 0]), "point 'p': its axis is zero"),
        (lambda b: b.add_point("spot", "link1", [0, 0, 0], None), "there is a point 'spot' already"),
        (lambda b: b.add_measure("m", 2, "spot", "wall"), "measure 'm': there is no kind 2"),
        (lambda b: b.add_measure("m", 0, "spat", "wall"), "there is no point 'spat': did you mean 'spot'?"),
        (lambda b: b.add_measure("m", 1, "spot", "wall"), "measure 'm': point 'spot' has no axis"),
        (lambda b: b.add_measure("m", 0, "spot", "other"), "measure 'm': both points are on one body"),
    ],
)
def test_mistakes_in_points_and_measures_are_named(call, message):
    mechanism = chain(2)
    mechanism.add_point("spot", "link1", (0, 0, 0))
    mechanism.add_point("other", "link1", (0, 0, 1))
    mechanism.add_point("wall", "ground", (1, 0, 0), axis=(0, -2, 0))
    with pytest.raises(Refused, match=message.replace("?", r"\?")):
        call(filled(mechanism))
