"""Equality constraints of a compiled MJCF model as closures, couplings and rods."""

from __future__ import annotations

from math import comb

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork.formats.mjcf.named import NamedModel, frame
from linkwork.formats.mjcf.tendons import fixed_tendon, two_points
from linkwork.formats.robot import Coordinate, Robot, RobotCoupling, RobotJoint, RobotRod
from linkwork.mechanism import Fixed, Spherical
from linkwork.mechanism.couplings import POWERS

_CONNECT, _WELD, _JOINT, _TENDON = range(4)  # MuJoCo's mjtEq


def add_equalities(named: NamedModel, robot: Robot) -> None:
    """Add closures, couplings and rigid rods to a robot."""
    model, report = named.model, named.report
    taken = []
    for equality in range(model.neq):
        element = f"equality {named.equalities[equality]!r}"
        kind = int(model.eq_type[equality])
        if named.disables("equality", "constraint"):
            report.left_out(element, "option > flag disables equalities")
        elif not model.eq_active0[equality]:
            report.left_out(element, 'active="false": the constraint is off at the start, and stays so')
        elif kind in (_CONNECT, _WELD):
            _add_closure(named, robot, equality, element)
            taken.append(named.equalities[equality])
        elif kind in (_JOINT, _TENDON):
            reason = _add_coupling(named, robot, equality, element)
            if reason:
                report.left_out(element, reason)
            else:
                taken.append(named.equalities[equality])
        else:
            report.left_out(element, "Linkwork has no deformable bodies; their shape is not kept")
    if taken:
        report.approximated(
            named.label("equality", taken) + " > solref, solimp",
            "held exactly; MuJoCo's constraints are soft: they yield under load and return with the time constant "
            f"{np.abs(model.eq_solref[:, 0]).max():g} s or faster",
        )


def _add_closure(named: NamedModel, robot: Robot, equality: int, element: str) -> None:
    model = named.model
    data = model.eq_data[equality]
    kind, first, second = (int(of[equality]) for of in (model.eq_objtype, model.eq_obj1id, model.eq_obj2id))
    bodies = [named.bodies[named.body_of(kind, one)] for one in (first, second)]
    if kind == int(named.mujoco.mjtObj.mjOBJ_SITE):
        frames = [frame(model.site_pos[one], model.site_quat[one]) for one in (first, second)]
    elif int(model.eq_type[equality]) == _CONNECT:
        frames = [frame(data[:3]), frame(data[3:6])]
    else:
        frames = [frame(data[3:6], data[6:10]), frame(data[:3])]
    welded = int(model.eq_type[equality]) == _WELD and data[10] != 0.0  # torquescale
    name = named.equalities[equality]
    kind_of_joint = Fixed() if welded else Spherical()
    robot.joints[name] = RobotJoint(
        name, kind_of_joint, bodies[0], bodies[1], frames[0], frames[1], closes=True, element=element
    )


def _add_coupling(named: NamedModel, robot: Robot, equality: int, element: str) -> str:
    """Add the coupling of an equality of joints or tendons; return why there is none."""
    model = named.model
    name, coefficients = named.equalities[equality], model.eq_data[equality, :5]
    first, second = int(model.eq_obj1id[equality]), int(model.eq_obj2id[equality])
    if int(model.eq_type[equality]) == _JOINT:
        sums = [{named.joint_coordinate(one): 1.0} for one in (first, second) if one >= 0]
        references = [float(model.qpos0[model.jnt_qposadr[one]]) for one in (first, second) if one >= 0]
    else:
        points = two_points(named, first)
        if points is not None and second < 0:
            length = float(model.tendon_length0[first] + coefficients[0])
            robot.rods.append(RobotRod(name, *points, free=length, rigid=True, element=element))
            return "" if length > 0.0 else _drop_rod(robot, length)
        found = [fixed_tendon(named, one) for one in (first, second) if one >= 0]
        sums = [one for one in found if one is not None]
        if len(sums) < len(found):
            return "a spatial tendon is in it, whose length Linkwork constrains only alone and between two sites"
        references = [float(model.tendon_length0[one]) for one in (first, second) if one >= 0]
    equation = Polynomial()
    equation.add(sums[0], np.array([-references[0], 1.0]))
    if len(sums) == 1:
        equation.offset += float(coefficients[0])
    else:
        if len(sums[1]) > 1 and coefficients[2:].any():
            return "Linkwork has no powers of a sum of coordinates; the tendons are not coupled"
        equation.add(sums[1], -shifted(coefficients, references[1]))
    terms = {coordinate: tuple(c) for coordinate, c in equation.terms.items() if any(c)}
    if not terms:
        return "all of its coefficients are zero"
    robot.couplings.append(RobotCoupling(name, terms, equation.offset, element))
    return ""


def _drop_rod(robot: Robot, length: float) -> str:
    robot.rods.pop()
    return f"its tendon would have the length {length:g} m"


class Polynomial:
    """Polynomials of coordinates that add up to an offset."""

    def __init__(self) -> None:
        self.terms: dict[Coordinate, list[float]] = {}  # for each coordinate the coefficients of its powers 1 to 4
        self.offset = 0.0  # what the terms add up to

    def add(self, gears: dict[Coordinate, float], coefficients: FloatArray) -> None:
        """Add a polynomial, its coefficients from the power 0, of a sum; with several terms it must be linear."""
        self.offset -= float(coefficients[0])
        for coordinate, gear in gears.items():
            powers = self.terms.setdefault(coordinate, [0.0] * POWERS)
            for power, coefficient in enumerate(coefficients[1:].tolist()):
                powers[power] += coefficient * gear ** (power + 1)


def shifted(coefficients: FloatArray, reference: float) -> FloatArray:
    """Return the coefficients in x of a polynomial in x - reference.

    >>> shifted(np.array([1.0, 0.0, 2.0]), 3.0)  # 1 + 2 (x - 3)^2
    array([ 19., -12.,   2.])
    """
    result = np.zeros(len(coefficients))
    for power, coefficient in enumerate(coefficients.tolist()):
        for lower in range(power + 1):
            result[lower] += coefficient * comb(power, lower) * (-reference) ** (power - lower)
    return result
