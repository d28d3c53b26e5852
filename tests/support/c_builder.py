"""The builder in C, called for a mechanism in the form of `Mechanism.to_dict`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from linkwork.core._core import ffi, lib
from linkwork.mechanism.triggers import find_in_joint

Parts = Mapping[str, Any]
_TEXTS: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()

METHODS = {
    ("auto", "auto"): lib.LW_METHOD_AUTO,
    ("rcr", "auto"): lib.LW_METHOD_RCR,
    ("embedding", "auto"): lib.LW_METHOD_EMBEDDING,
    ("multipliers", "auto"): lib.LW_METHOD_MULTIPLIERS,
    ("multipliers", "joint"): lib.LW_METHOD_MULTIPLIERS,
    ("multipliers", "centroid"): lib.LW_METHOD_MULTIPLIERS_CENTROID,
    ("multipliers", "origin"): lib.LW_METHOD_MULTIPLIERS_ORIGIN,
    ("dca", "auto"): lib.LW_METHOD_DCA,
}


class Refused(Exception):
    """What a builder refused; the status first."""


class CBuilder:
    """A builder in C, called with numbers and texts of Python; a failure raises `Refused`."""

    def __init__(self) -> None:
        handle = ffi.new("lw_builder **")
        assert lib.lw_builder_create(handle) == lib.LW_OK
        self.handle = ffi.gc(handle[0], lib.lw_builder_free)

    def __getattr__(self, name: str) -> Any:
        function = getattr(lib, f"lw_builder_{name}")

        def call(*given: Any) -> None:
            status = function(self.handle, *map(_in_c, given))
            if status:
                raise Refused(status, ffi.string(lib.lw_builder_message(self.handle)).decode())

        return call

    def finished(self) -> bytes:
        """The bytes of the model."""
        model = ffi.new("lw_model **")
        try:
            self.finish(model)
        finally:
            lib.lw_model_free(model[0])
        size = ffi.new("size_t *")
        found = lib.lw_builder_bytes(self.handle, size)
        return bytes(ffi.buffer(found, size[0]))


def _in_c(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, list | tuple):
        return [float(number) for number in value]
    return ffi.NULL if value is None else value


def built(mechanism: Any, method: Any = "auto", reference: str = "auto") -> bytes:
    """The bytes of the model that the builder makes of a mechanism."""
    return filled(mechanism, method, reference).finished()


def filled(mechanism: Any, method: Any = "auto", reference: str = "auto") -> CBuilder:
    """A builder with all of a mechanism."""
    data = mechanism.to_dict()
    b = CBuilder()
    b.set_gravity(data["gravity"])
    for body in data["bodies"]:
        b.add_body(body["name"], body["mass"], body["com"], _flat(body["inertia"]))
        b.place_body(body["name"], body["origin"], _flat(body.get("rotation")))
    for joint in data["joints"]:
        frames = [_frame(joint[key]) for key in ("parent_frame", "child_frame")]
        b.add_joint(joint["name"], _kind(joint), joint["parent"], joint["child"], *frames)
        if joint.get("cut"):
            b.cut(joint["name"])
        part = mechanism.joints[joint["name"]]
        if part.kind.nu:
            b.set_reflected_inertia(joint["name"], part.reflected_inertia.tolist())
            b.set_max_load(joint["name"], part.max_load.tolist())
    _add_ties(b, mechanism, data)
    _add_forces(b, mechanism, data)
    for transition in data.get("transitions", []):
        _add_transition(b, mechanism, transition)
    for point in data.get("points", []):
        b.add_point(point["name"], point["body"], point["point"], point.get("axis"))
    for measure in data.get("measures", []):
        b.add_measure(measure["name"], ["distance", "angle"].index(measure["quantity"]), *measure["points"])
    for of, start in (("q", b.start_q), ("u", b.start_u)):
        for joint, values in data["start"][of].items():
            start(joint, values if isinstance(values, list) else [values])
    if isinstance(method, Mapping):
        for joint, one in method.items():
            b.set_method(joint, METHODS[one, "auto"])
    else:
        b.set_method(None, METHODS[method, reference])
    return b


def _add_ties(b: CBuilder, mechanism: Any, data: Parts) -> None:
    for coupling in data.get("couplings", []):
        name = coupling["name"]
        b.add_coupling(name, coupling["offset"])
        for term in mechanism.couplings[name].terms.values():
            b.add_term(name, term.joint, term.element, term.coefficients)
        if "motion" in coupling:
            motion = mechanism.couplings[name].motion
            b.set_motion(name, motion.coefficients, motion.amplitude, motion.frequency, motion.phase)
    for distance in data.get("distances", []):
        (first, second), (start, end) = distance["bodies"], distance["points"]
        b.add_distance(distance["name"], first, start, second, end, distance["length"])


def _add_forces(b: CBuilder, mechanism: Any, data: Parts) -> None:
    for force in data["forces"]:
        match force["type"]:
            case "spring_damper":
                count = mechanism.joints[force["joint"]].kind.nu
                keys = ("stiffness", "damping", "free")
                values = [v if isinstance(v, list) else [v] * count for v in (force[key] for key in keys)]
                b.add_joint_spring(force["joint"], *values)
            case "point_spring_damper":
                (first, second), (start, end) = force["bodies"], force["points"]
                values = [force[key] for key in ("stiffness", "damping", "free")]
                b.add_spring(force["name"], first, start, second, end, *values)
            case "wrench":
                b.add_wrench(force["name"], force["body"], force["point"])
            case "actuator":
                b.add_actuator(force["name"], *(force[key] for key in ("gain", "offset", "stiffness", "damping")))
                actuator = next(one for one in mechanism.forces if getattr(one, "name", None) == force["name"])
                for (joint, element), gear in zip(actuator.places(mechanism), force["gears"].values(), strict=True):
                    b.add_gear(force["name"], joint, element, gear)
                b.limit_actuator(force["name"], force.get("input_range"), force.get("force_range"))
            case other:
                raise ValueError(f"the builder has no call for {other!r}")


def _add_transition(b: CBuilder, mechanism: Any, given: Parts) -> None:
    name = given["name"]
    match given["type"]:
        case "lock" | "unlock" as verb:
            mask = sum(1 << (k - 1) for k in given.get("speeds", []))
            getattr(b, f"add_{verb}")(name, given["joint"], mask)
        case "pin":
            frames = [_frame(given.get(key)) for key in ("parent_frame", "child_frame")]
            b.add_pin(name, _kind(given["kind"]), given["parent"], given["child"], *frames)
        case "release":
            b.add_release(name, given["joint"])
        case "stop":
            lower, upper = given.get("lower", -math.inf), given.get("upper", math.inf)
            b.add_stop(name, given["joint"], given.get("coordinate", 1) - 1, lower, upper, given["restitution"])
        case "impulse":
            b.add_impulse(name, given["body"], given["point"], given["force"], given["torque"])
        case other:
            raise ValueError(f"the builder has no call for {other!r}")
    _add_trigger(b, mechanism, name, given.get("when"))


def _add_trigger(b: CBuilder, mechanism: Any, name: str, when: Parts | None) -> None:
    match when:
        case {"type": "time", "t": t}:
            b.at_time(name, t)
        case {"type": "command"}:
            b.on_command(name)
        case {"type": "crossing", "quantity": {"bodies": (first, second), "points": (start, end), **of}}:
            at = b.at_distance_rate if of.get("rate") else b.at_distance
            at(name, first, start, second, end, when["value"], when["direction"])
        case {"type": "crossing", "quantity": quantity}:
            joint, element, is_speed = find_in_joint(mechanism, name, quantity)
            at = b.at_speed if is_speed else b.at_crossing
            at(name, joint, element, when["value"], when["direction"])


def _kind(given: Parts) -> Any:
    axes = [given[key] for key in ("axis", "normal", "axis1", "axis2", "slot") if key in given]
    return make_kind(given["type"], _flat(axes) or [], given.get("pitch", 0.0))


def make_kind(type_name: str, axes: Sequence[float] = (), parameter: float = 0.0) -> Any:
    """Return an `lw_joint_kind *`; it keeps its text alive."""
    text = ffi.new("char[]", type_name.encode())
    kind = ffi.new("lw_joint_kind *", [text, [*axes, *[0.0] * (6 - len(axes))], parameter])
    _TEXTS[kind] = text
    return kind


def _frame(given: Parts | None) -> Any:
    if given is None:
        return None
    return ffi.new("lw_frame *", [given["position"], _flat(given.get("rotation")) or [0.0] * 9])


def _flat(rows: Any) -> list[float] | None:
    return None if rows is None else [number for row in rows for number in row]
