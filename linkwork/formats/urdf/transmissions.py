"""Transmissions of a URDF: the inertia of rotors is taken; inputs of the mechanism are the loads of the joints."""

from __future__ import annotations

from linkwork.formats.robot import RobotJoint
from linkwork.formats.urdf.context import Context
from linkwork.formats.xml_tree import Element


def read_transmissions(context: Context, root: Element) -> None:
    """Read all transmissions; the joints must have been read."""
    for element in root.children("transmission"):
        _read_transmission(context, element)


def _read_transmission(context: Context, element: Element) -> None:
    joints = [context.robot.joints.get(joint.attribute("name", "")) for joint in element.children("joint")]
    actuators = element.children("actuator")
    reductions = [float_text(e) for a in (element, *actuators) for e in a.children("mechanicalReduction")]
    kind = element.child("type")
    given = element.attribute("type", "") if kind is None else kind.text()
    if len(joints) == 1 and joints[0] is not None:
        for actuator in actuators:
            _read_rotor(context, actuator, joints[0])
    element.skip()
    given = given.rsplit("/", 1)[-1] or "of no type"
    if "SimpleTransmission" in given and all(value == 1.0 for value in reductions):
        context.report.taken(element.label, "the input of the joint is the load of its motor")
        return
    if "SimpleTransmission" in given:
        ratio = ", ".join(f"{value:.6g}" for value in reductions)
        why = f"the input of a joint is the load at the joint: multiply that of the motor by {ratio}"
    else:
        why = f"{given}: inputs are loads at the joints; convert those of the motors"
    context.report.left_out(element.label, why)


def _read_rotor(context: Context, actuator: Element, joint: RobotJoint) -> None:
    """Read Drake's rotor inertia; the joint accelerates with it times the square of the gear ratio."""
    inertia, ratio = (actuator.child(f"drake:{name}") for name in ("rotor_inertia", "gear_ratio"))
    if inertia is None or joint.kind.nu != 1:
        return
    value, gear = inertia.number("value"), 1.0 if ratio is None else ratio.number("value")
    if value < 0.0:
        raise inertia.error(f"the inertia is {value!r}: it must not be negative")
    reflected = value * gear**2
    joint.reflected_inertia = (sum(joint.reflected_inertia) + reflected,)


def float_text(element: Element) -> float:
    """Return the number between the tags; an empty element is 1."""
    return element.text_number() if element.text() else 1.0
