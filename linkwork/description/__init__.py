"""The description of a mechanism: bodies, joints and forces as the user gives them, in Python or as JSON."""

from linkwork.description import inertia
from linkwork.description.actions import Action, Impulse, Stop
from linkwork.description.checks import GROUND
from linkwork.description.closures import Pin, Release
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
from linkwork.description.locks import Lock, Unlock
from linkwork.description.mechanism import Mechanism
from linkwork.description.motions import Motion
from linkwork.description.parts import Body, Joint
from linkwork.description.springs import JointSpringDamper, PointSpringDamper, SpringDamper
from linkwork.description.transitions import Transition
from linkwork.description.triggers import Crossing, Input, PointDistance, Time, Trigger

__all__ = [
    "GROUND",
    "Action",
    "Body",
    "Coupling",
    "Crossing",
    "Cylindrical",
    "Distance",
    "Fixed",
    "Force",
    "Frame",
    "Free",
    "Impulse",
    "Input",
    "Joint",
    "JointKind",
    "JointSpringDamper",
    "Lock",
    "Mechanism",
    "Motion",
    "Pin",
    "Planar",
    "PointDistance",
    "PointSpringDamper",
    "Prismatic",
    "Release",
    "Revolute",
    "Spherical",
    "SpringDamper",
    "Stop",
    "Time",
    "Transition",
    "Trigger",
    "Universal",
    "Unlock",
    "Wrench",
    "inertia",
]
