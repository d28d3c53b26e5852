"""Elements of Gazebo, ros2_control and sensors in a URDF: springs of joints are taken, the others are left out."""

from __future__ import annotations

from linkwork.formats.robot import RobotJoint
from linkwork.formats.urdf.context import Context
from linkwork.formats.xml_tree import Element

_CONTACT = "there is no contact and no friction between links"
_SIMULATOR = "it is of the simulator Gazebo and has no effect on the mechanics"
_PLUGIN = "plugins are programs; use a controller, an input or an action"
_REASONS = {
    "turnGravityOff": "all bodies have weight; the link would have none",
    "gravity": "all bodies have weight; the link might have none",
    "dampingFactor": "links have no damping against the world; the motion loses less energy",
    "plugin": _PLUGIN,
    "sensor": "sensors have no effect on the motion; every variable is an output",
    **dict.fromkeys(("mu", "mu1", "mu2", "kp", "kd", "fdir1", "fdir", "minDepth", "maxVel", "selfCollide"), _CONTACT),
    **dict.fromkeys(("maxContacts", "laserRetro", "collision", "surface"), _CONTACT),
}
_HAS_WEIGHT = {"turnGravityOff": ("false", "0"), "gravity": ("true", "1")}
_OTHERS = {
    "sensor": _REASONS["sensor"],
    "ros2_control": "it is of the robot's software and has no effect on the mechanics",
}


def read_gazebo(context: Context, root: Element) -> None:
    """Read what `<gazebo>` has of the mechanics, and note what is left out; the joints must have been read."""
    for element in root.children("gazebo"):
        reference = element.attribute("reference", "")
        joint = context.robot.joints.get(reference)
        if joint is not None:
            _read_spring(element, joint)
        element.attribute("name", "")
        owner = f"gazebo {reference!r}" if reference else "gazebo"
        for child in element.children():
            if child.tag in ("springStiffness", "springReference") and joint is not None and joint.kind.nu == 1:
                continue
            if child.text().lower() in _HAS_WEIGHT.get(child.tag, ()):
                continue
            child.skip()
            context.report.left_out(f"{owner} > {child.tag}", _REASONS.get(child.tag, _SIMULATOR))
    for tag, why in _OTHERS.items():
        for element in root.children(tag):
            element.skip()
            context.report.left_out(element.label, why)


def _read_spring(element: Element, joint: RobotJoint) -> None:
    """Read the spring of a joint: stiffness in N m/rad or N/m, and where it is free, in rad or m."""
    stiffness, free = element.child("springStiffness"), element.child("springReference")
    if joint.kind.nu != 1 or stiffness is None:
        return
    value = stiffness.text_number()
    if value < 0.0:
        raise stiffness.error(f"it is {value!r}: it must not be negative")
    joint.stiffness = (value,)
    joint.free = (0.0 if free is None else free.text_number(),)
