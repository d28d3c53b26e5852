"""The description of a mechanism: bodies, joints and forces as the user gives them, in Python or as JSON."""

from linkwork.mechanism import inertia, shape
from linkwork.mechanism.actions import Action, Impulse, Stop
from linkwork.mechanism.actuators import Actuator
from linkwork.mechanism.bushing import Bushing
from linkwork.mechanism.contact_forces import Backlash, BumpStop, Tyre
from linkwork.mechanism.couplings import Coupling
from linkwork.mechanism.distances import Distance
from linkwork.mechanism.drive_forces import DCMotor, FirstOrderActuator, HydraulicCylinder
from linkwork.mechanism.forces import ForceElement, Wrench
from linkwork.mechanism.formula_forces import Force, FormulaForce, FrameForce, JointForce, LineForce, PointForce
from linkwork.mechanism.frames import Frame
from linkwork.mechanism.friction import Brake, Friction
from linkwork.mechanism.joints import (
    CurvedSlide,
    CurvedSlot,
    Cylindrical,
    Fixed,
    Free,
    JointKind,
    PathSlide,
    PathSlot,
    PinInSlot,
    Planar,
    Prismatic,
    Revolute,
    Screw,
    Spherical,
    Universal,
)
from linkwork.mechanism.json_schema import json_schema
from linkwork.mechanism.locks import Lock, Unlock
from linkwork.mechanism.machine_forces import Detent, Freewheel, GravityCompensation, MotorCharacteristic, Thrust
from linkwork.mechanism.mechanism import Mechanism
from linkwork.mechanism.motions import Motion
from linkwork.mechanism.nonlinear_springs import GasPressure, NonlinearDamper, NonlinearSpring, TorsionBar
from linkwork.mechanism.part_checks import GROUND
from linkwork.mechanism.parts import Body, Joint
from linkwork.mechanism.pins import Pin, Release
from linkwork.mechanism.points import Measure, PointOfInterest
from linkwork.mechanism.springs import JointSpringDamper, PointSpringDamper, SpringDamper
from linkwork.mechanism.tendons import Tendon
from linkwork.mechanism.transitions import Transition
from linkwork.mechanism.triggers import Command, Crossing, PointDistance, Time, Trigger

__all__ = [
    "GROUND",
    "Action",
    "Actuator",
    "Backlash",
    "Body",
    "Brake",
    "BumpStop",
    "Bushing",
    "Command",
    "Coupling",
    "Crossing",
    "CurvedSlide",
    "CurvedSlot",
    "Cylindrical",
    "DCMotor",
    "Detent",
    "Distance",
    "FirstOrderActuator",
    "Fixed",
    "Force",
    "ForceElement",
    "FormulaForce",
    "Frame",
    "FrameForce",
    "Free",
    "Freewheel",
    "Friction",
    "GasPressure",
    "GravityCompensation",
    "HydraulicCylinder",
    "Impulse",
    "Joint",
    "JointForce",
    "JointKind",
    "JointSpringDamper",
    "LineForce",
    "Lock",
    "Measure",
    "Mechanism",
    "Motion",
    "MotorCharacteristic",
    "NonlinearDamper",
    "NonlinearSpring",
    "PathSlide",
    "PathSlot",
    "Pin",
    "PinInSlot",
    "Planar",
    "PointDistance",
    "PointForce",
    "PointOfInterest",
    "PointSpringDamper",
    "Prismatic",
    "Release",
    "Revolute",
    "Screw",
    "Spherical",
    "SpringDamper",
    "Stop",
    "Tendon",
    "Thrust",
    "Time",
    "TorsionBar",
    "Transition",
    "Trigger",
    "Tyre",
    "Universal",
    "Unlock",
    "Wrench",
    "inertia",
    "json_schema",
    "shape",
]
