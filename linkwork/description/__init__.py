"""The description of a mechanism: bodies, joints and forces as the user gives them, in Python or as JSON."""

from linkwork.description import inertia
from linkwork.description.checks import GROUND
from linkwork.description.couplings import Coupling
from linkwork.description.distances import Distance
from linkwork.description.forces import Force, Wrench
from linkwork.description.frames import Frame
from linkwork.description.joints import (
    Cylindrical,
    Fixed,
    Free,
    JointKind,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    Universal,
)
from linkwork.description.mechanism import Mechanism
from linkwork.description.motions import Motion
from linkwork.description.parts import Body, Joint
from linkwork.description.springs import JointSpringDamper, PointSpringDamper, SpringDamper

__all__ = [
    "GROUND",
    "Body",
    "Coupling",
    "Cylindrical",
    "Distance",
    "Fixed",
    "Force",
    "Frame",
    "Free",
    "Joint",
    "JointKind",
    "JointSpringDamper",
    "Mechanism",
    "Motion",
    "Planar",
    "PointSpringDamper",
    "Prismatic",
    "Revolute",
    "Spherical",
    "SpringDamper",
    "Universal",
    "Wrench",
    "inertia",
]
