"""The description of a mechanism: bodies, joints and forces as the user gives them, in Python or as JSON."""

from linkwork.description import inertia
from linkwork.description.checks import GROUND
from linkwork.description.forces import Force, JointSpringDamper, PointSpringDamper, SpringDamper, Wrench
from linkwork.description.frames import Frame
from linkwork.description.joints import Fixed, JointKind, Prismatic, Revolute
from linkwork.description.mechanism import Mechanism
from linkwork.description.parts import Body, Joint

__all__ = [
    "GROUND",
    "Body",
    "Fixed",
    "Force",
    "Frame",
    "Joint",
    "JointKind",
    "JointSpringDamper",
    "Mechanism",
    "PointSpringDamper",
    "Prismatic",
    "Revolute",
    "SpringDamper",
    "Wrench",
    "inertia",
]
