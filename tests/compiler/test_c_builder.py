"""The builder in C, as programs without Python call it."""

import math

import numpy as np
import pytest

import linkwork as lw
from linkwork.core._core import ffi, lib
from linkwork.core.builder import parameters
from linkwork.core.native import Block, NativeModel
from linkwork.model.description import describe
from support.c_builder import CBuilder, built, filled, make_kind
from support.random_mechanisms import FAMILIES, well_posed

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


def add(b, kind, name, *bodies, **given):
    """Add a force with some of its parameters."""
    found = parameters({key: np.ravel(value) for key, value in given.items()})
    b.add_force(kind, name, *(*bodies, None, None)[:2], found, len(given))


def add_line(b, *bodies, factor=1.0):
    add(b, "line_formula", "l")
    for body in bodies:
        b.add_line_point("l", body, CENTRE, factor)


def add_wrench(b, name, body):
    add(b, "wrench", name, body, wrench_point=CENTRE)


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
    "wrench": (lambda b: add_wrench(b, "push", "ground"), "acts on the ground"),
    "force of no type": (
        lambda b: b.add_force("sprong", "s", None, None, None, 0),
        "there is no type 'sprong' of forces",
    ),
    "force of one body": (lambda b: b.add_force("spring", "s", "arm", None, None, 0), "it acts on two bodies"),
    "force of two bodies": (lambda b: b.add_force("wrench", "w", "arm", "ground", None, 0), "it acts on one body"),
    "parameter": (
        lambda b: add(b, "spring", "s", "arm", "ground", gain=1.0),
        "it has no parameter 'gain', but 'spring_",
    ),
    "not finite": (
        lambda b: add(b, "spring", "s", "arm", "ground", spring_damping=math.nan),
        "spring 's': spring_damping must be finite",
    ),
    "gear of a spring": (
        lambda b: (add(b, "spring", "s", "arm", "ground"), b.add_gear("s", "hinge", 0, 1.0)),
        "acts on bodies and has no gears",
    ),
    "point of a spring": (
        lambda b: (add(b, "spring", "s", "arm", "ground"), b.add_line_point("s", "arm", CENTRE, 1.0)),
        "acts along no line and takes no points",
    ),
    "line of one body": (lambda b: (add_line(b, "arm", "arm"), b.finished()), "its line connects no two bodies"),
    "line of no piece": (
        lambda b: (add_line(b, "arm", "ground", factor=0.0), b.finished()),
        "its line connects no two bodies",
    ),
    "line of a body": (lambda b: add(b, "line_formula", "l", "arm"), "no body: lw_builder_add_line_point names"),
    "body of a line": (lambda b: add_line(b, "arn", "ground"), "there is no body 'arn': did you mean 'arm'?"),
    "point of a line": (
        lambda b: (add_line(b), b.add_line_point("l", "arm", (math.inf, 0, 0), 1.0)),
        "a point of its line must be finite",
    ),
    "factor of a line": (
        lambda b: (add_line(b), b.add_line_point("l", "arm", CENTRE, math.nan)),
        "the factor of a piece of its line must be finite",
    ),
    "lost": (lambda b: (b.add_body("rod", *GOOD), b.finished()), "body 'rod' first: add a joint between 'rod'"),
    "cut": (lambda b: (b.cut("hinge"), b.finished()), "joint 'hinge' cannot be cut: it is on no loop"),
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
    with pytest.raises(lw.MechanismError) as refused:
        act(pendulum())
    assert text in str(refused.value)


def test_nothing_to_build():
    with pytest.raises(lw.MechanismError, match="the mechanism has no bodies"):
        CBuilder().finished()


def test_the_first_failure_stays():
    b = pendulum()
    for call in (lambda: b.add_body("arm", *GOOD), lambda: add_wrench(b, "push", "nobody"), b.finished):
        with pytest.raises(lw.MechanismError, match="there is a body 'arm' already"):
            call()


ACTUATOR = {
    "gear zero": (lambda b: b.add_gear("motor", "hinge", 0, 0.0), "must be finite and not zero"),
    "gear element": (lambda b: b.add_gear("motor", "hinge", 1, 2.0), "joint 'hinge' (revolute) has no speed 1"),
    "gear twice": (lambda b: [b.add_gear("motor", "hinge", 0, 2.0) for _ in range(2)], "has a gear of joint 'hinge'"),
    "gear of none": (lambda b: b.add_gear("moter", "hinge", 0, 2.0), "there is no force 'moter': did you mean"),
    "no gear": (lambda b: b.finished(), "actuator 'motor' acts on no joint: add one with lw_builder_add_gear"),
    "limits": (
        lambda b: add(b, "actuator", "other", actuator_force_range=[2.0, 1.0]),
        "lower limit of actuator_force_range must be less",
    ),
    "same name": (lambda b: add_wrench(b, "motor", "arm"), "there is a force 'motor' already"),
}


@pytest.mark.parametrize("name", ACTUATOR)
def test_mistakes_in_actuators_are_named(name):
    act, text = ACTUATOR[name]
    b = pendulum()
    add(b, "actuator", "motor", actuator_gain=1.0, actuator_stiffness=2.0)
    with pytest.raises(lw.MechanismError) as refused:
        act(b)
    assert text in str(refused.value)


def test_gears_are_sorted_by_actuator():
    in_turn, mixed = pendulum(), pendulum()
    for b, order in ((in_turn, ("one", "two")), (mixed, ("two", "one"))):
        add(b, "actuator", "one", actuator_gain=1.0)
        add(b, "actuator", "two", actuator_gain=2.0)
        for name in order:
            b.add_gear(name, "hinge", 0, 3.0 if name == "one" else 4.0)
    assert in_turn.finished() == mixed.finished()


def test_a_builder_can_be_finished_again():
    mechanism = chain(3)
    mechanism.add_transition("pin", lw.Pin("link3", "ground", lw.Revolute((0, 0, 1))), lw.Command())
    b = filled(mechanism)
    first = b.finished()
    assert b.finished() == first
    add_wrench(b, "push", "link3")
    assert len(b.finished()) > len(first)


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
    with pytest.raises(lw.MechanismError, match=message.replace("?", r"\?")):
        call(filled(mechanism))


TABLES_OF_PLAN = ("link", "joint", "loop", "cluster", "segment", "step", "step_link", "coupling", "term", "distance")


@pytest.mark.parametrize("opened", [[], [6], [7, 8], [8, 6], [6, 7, 8]])
@pytest.mark.parametrize("method", ["auto", "embedding", {"pin2": "embedding"}, "multipliers"])
def test_a_variant_on_demand_is_that_of_the_whole_description(opened, method):
    mechanism = chain(6)
    for k in (1, 2, 3):
        pin = lw.Pin(f"link{k}", f"link{k + 3}", lw.Revolute((0, 0, 1)))
        mechanism.add_transition(f"pin{k}", pin, lw.Command())
    mechanism.add_transition("hold", lw.Lock("A4"), lw.Command())
    mechanism.add_point("tip", "link6", (1, 0, 0))
    found = lw.compile(mechanism, method)
    alone = describe(found.mechanism, method, "auto").finish_variant(opened)[1]
    for table in TABLES_OF_PLAN:
        assert np.array_equal(found._native.table(table, opened), alone.table(table)), table
    assert alone.table("removable").tolist() == [[k, int(k in opened)] for k in (6, 7, 8)]


def test_values_are_put_into_the_bytes_of_their_model_only():
    model, other = lw.compile(chain(2)), lw.compile(chain(3))
    values = model.block().reals[: model.fields["time"].first]
    assert model._native.with_parameters(model.model_bytes, values) == model.model_bytes
    with pytest.raises(lw.MechanismError, match="another model"):
        model._native.with_parameters(other.model_bytes, values)
