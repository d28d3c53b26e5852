"""Loads of a motion as a linear function of masses, springs and frictions.

With q, u, udot given, the loads that the inverse dynamics asks for are linear in
    m, m c (3), I_O (6)    of each body: mass, first moments and moments of inertia about the origin of its frame,
    k, k x0                of each spring with the free coordinate or length x0,
    d, J                   of each damper and reflected inertia,
    F_c, F_s, d            of each dry friction that slides: Coulomb, static (with Stribeck's speed) and viscous,
    mu, mu_s               of each friction by reactions whose pressing force is given (`pressed_loads`),
(Atkeson, An and Hollerbach 1986; Khalil and Dombre 2002, section 9.2). The core gives the columns of bodies; the others
are exact differences of its inverse dynamics between two values of one of these numbers. The loads of a closed chain
hold up to forces of its loops, J'lambda; these drop out on the motions N that the loops leave, N' tau = N' (Y phi +
rest).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from linkwork._util.checks import FloatArray, names_of
from linkwork._util.names import quoted, suggest
from linkwork.analysis.parameter_set import refuse_repeated
from linkwork.core.native import OffsetArray, Stage
from linkwork.errors import MechanismError, MechanismNameError
from linkwork.mechanism.quantities import Kind
from linkwork.variables.schema import Variable, matching

if TYPE_CHECKING:
    from linkwork.model.model import Model

_PAIRS = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
_PARAMETERS: tuple[Kind, ...] = ("parameter",)
_DIAGONAL = (4, 7, 9)  # of the ten numbers of a body
_SPRINGS = (("stiffness", "free_coordinate"), ("spring_stiffness", "spring_free_length"))
STEP = 0.25  # of a linear number: a body of 1 kg and 1 kg.m2 remains one that can be
_FRICTIONS = ("friction_coulomb", "friction_static", "friction_viscous", "friction_mu", "friction_static_mu")
_PLAIN = ("damping", "spring_damping", "reflected_inertia", *_FRICTIONS)


class Samples(NamedTuple):
    """Motion at n instants: coordinates (n, nq), speeds (n, nu), accelerations (n, nu), inputs (n, n_inputs)."""

    q: FloatArray
    u: FloatArray
    udot: FloatArray
    inputs: FloatArray


class Group(ABC):
    """Numbers x of the model, and the numbers phi that follow from them in which loads are linear."""

    offsets: OffsetArray  # of x in the block
    # physical, linear: names of x and of phi
    physical: tuple[str, ...]
    linear: tuple[str, ...]
    # physical_units, linear_units: their units
    physical_units: tuple[str, ...]
    linear_units: tuple[str, ...]

    @abstractmethod
    def phi(self, x: FloatArray) -> FloatArray:
        """Return the linear numbers."""

    @abstractmethod
    def slope(self, x: FloatArray) -> FloatArray:
        """Return their derivative by x, (n, n)."""

    @abstractmethod
    def physical_of(self, phi: FloatArray) -> FloatArray:
        """Return x of linear numbers."""

    @property
    @abstractmethod
    def reference(self) -> FloatArray:
        """Linear numbers around which differences are taken."""


class BodyGroup(Group):
    """Mass, centre of mass and moments of inertia of a body; phi = m, m c, I_O."""

    def __init__(self, model: Model, body: str) -> None:
        self.number = number = model.body_numbers[body]  # in the core
        first = {name: model.fields[name].first for name in ("body_mass", "body_com", "body_inertia")}
        com, inertia = first["body_com"] + 3 * number, first["body_inertia"] + 6 * number
        offsets = [first["body_mass"] + number, *range(com, com + 3), *range(inertia, inertia + 6)]
        self.offsets = np.array(offsets, dtype=np.uint32)
        by_offset = {v.reference: v.name for v in model.variables if v.kind == "parameter"}
        self.physical = tuple(by_offset[offset] for offset in offsets)
        prefix = self.physical[0].removesuffix(".mass")
        first_moments = (f"{prefix}.mc[{k + 1}]" for k in range(3))
        self.linear = (f"{prefix}.mass", *first_moments, *(f"{prefix}.IO[{i + 1},{j + 1}]" for i, j in _PAIRS))
        self.physical_units = ("kg", *("m",) * 3, *("kg.m2",) * 6)
        self.linear_units = ("kg", *("kg.m",) * 3, *("kg.m2",) * 6)

    def phi(self, x: FloatArray) -> FloatArray:
        """Return the linear numbers."""
        m, c = x[0], x[1:4]
        shift = [m * ((c @ c if i == j else 0.0) - c[i] * c[j]) for i, j in _PAIRS]
        return np.concatenate([[m], m * c, x[4:] + shift])

    def slope(self, x: FloatArray) -> FloatArray:
        """Return their derivative by x."""
        m, c, unit = x[0], x[1:4], np.eye(3)
        found = np.eye(10)
        found[1:4, 0] = c
        found[1:4, 1:4] *= m
        for row, (i, j) in enumerate(_PAIRS, start=4):
            found[row, 0] = (c @ c if i == j else 0.0) - c[i] * c[j]
            found[row, 1:4] = m * ((2.0 * c if i == j else 0.0) - unit[i] * c[j] - c[i] * unit[j])
        return found

    def physical_of(self, phi: FloatArray) -> FloatArray:
        """Return x of linear numbers."""
        m = phi[0]
        c = phi[1:4] / m
        shift = [m * ((c @ c if i == j else 0.0) - c[i] * c[j]) for i, j in _PAIRS]
        return np.concatenate([[m], c, phi[4:] - shift])

    @property
    def reference(self) -> FloatArray:
        """A body of 1 kg at its origin."""
        return np.array([1.0, 0, 0, 0, 1.0, 0, 0, 1.0, 0, 1.0])


class SpringGroup(Group):
    """Stiffness k and free coordinate x0 of a spring; phi = k, k x0."""

    def __init__(self, stiffness: Variable, free: Variable) -> None:
        self.offsets = np.array([stiffness.reference, free.reference], dtype=np.uint32)
        self.physical = stiffness.name, free.name
        self.linear = stiffness.name, f"{stiffness.name}*{free.name}"
        self.physical_units = stiffness.unit, free.unit
        self.linear_units = stiffness.unit, "N.m" if free.unit == "rad" else "N"

    def phi(self, x: FloatArray) -> FloatArray:
        """Return the linear numbers."""
        return np.array([x[0], x[0] * x[1]])

    def slope(self, x: FloatArray) -> FloatArray:
        """Return their derivative by x."""
        return np.array([[1.0, 0.0], [x[1], x[0]]])

    def physical_of(self, phi: FloatArray) -> FloatArray:
        """Return x of linear numbers."""
        return np.array([phi[0], phi[1] / phi[0]])

    @property
    def reference(self) -> FloatArray:
        """A spring of stiffness 1."""
        return np.array([1.0, 0.0])


class PlainGroup(Group):
    """A damper, dry friction or reflected inertia: phi = x."""

    def __init__(self, variable: Variable) -> None:
        self.offsets = np.array([variable.reference], dtype=np.uint32)
        self.physical = self.linear = (variable.name,)
        self.physical_units = self.linear_units = (variable.unit,)

    def phi(self, x: FloatArray) -> FloatArray:
        """Return x."""
        return x

    def slope(self, x: FloatArray) -> FloatArray:
        """Return 1."""
        return np.eye(1)

    def physical_of(self, phi: FloatArray) -> FloatArray:
        """Return phi."""
        return phi

    @property
    def reference(self) -> FloatArray:
        """Zero."""
        return np.zeros(1)


class Unknowns:
    """Parameters p of a model by which loads are described, and phi(p) of the groups that they belong to."""

    def __init__(self, model: Model, parameters: Sequence[str] | None) -> None:
        self.model = model
        groups = _groups(model)
        listed = list(model.mechanism.bodies) if parameters is None else parameters
        names = names_of(listed, "parameters")
        chosen: list[tuple[Group, bool, int]] = []
        for name in names:
            found = _chosen(model, groups, name)
            refuse_repeated(map(_element, found), set(map(_element, chosen)), name)
            chosen += found
        if not chosen:
            raise MechanismError("parameters is empty: name at least one, such as 'crank.mass', or a body")
        # Those that were named one by one, not by a body or a group.
        self.explicit = {one for one in names if any(one in (*g.physical, *g.linear) for g in groups)}
        unique = dict.fromkeys((id(group), is_linear, k) for group, is_linear, k in chosen)
        by_id = {id(group): group for group in groups}
        order = {id(group): k for k, group in enumerate(groups)}
        used = sorted({key[0] for key in unique}, key=order.__getitem__)
        self.groups = [by_id[key] for key in used]  # those with an unknown
        self._modes = [_mode(by_id[key], [e for e in unique if e[0] == key]) for key in used]
        base = model.block().reals
        self._base = [base[group.offsets] for group in self.groups]
        self._members = [sorted({k for i, _, k in unique if i == key}, key=_importance(by_id[key])) for key in used]
        # names, units: of p
        self.names: list[str] = []
        self.units: list[str] = []
        start: list[float] = []
        for group, is_linear, x, members in zip(self.groups, self._modes, self._base, self._members, strict=True):
            of_group, units_of_group = (
                (group.linear, group.linear_units) if is_linear else (group.physical, group.physical_units)
            )
            self.names += [of_group[k] for k in members]
            self.units += [units_of_group[k] for k in members]
            start += (group.phi(x) if is_linear else x)[members].tolist()
        self.start = np.array(start)  # values (p,) of the model
        probe = self.start + np.where(self.start, 0.3 * self.start, 0.3)
        # Whether phi is linear in p.
        self.is_linear = bool(np.allclose(self.slope(self.start), self.slope(probe), rtol=1e-12, atol=1e-14))

    def _parts(self, p: FloatArray) -> list[FloatArray]:
        at, found = 0, []
        for members in self._members:
            found.append(p[at : at + len(members)])
            at += len(members)
        return found

    def phi(self, p: FloatArray) -> FloatArray:
        """Return the numbers (K,) in which loads are linear."""
        found = []
        for group, is_linear, x, members, part in self._each(p):
            values = (group.phi(x) if is_linear else x).copy()
            values[members] = part
            found.append(values if is_linear else group.phi(values))
        return np.concatenate(found)

    def slope(self, p: FloatArray) -> FloatArray:
        """Return d phi/dp, (K, p)."""
        found = np.zeros((sum(len(group.linear) for group in self.groups), len(p)))
        row = column = 0
        for group, is_linear, x, members, part in self._each(p):
            values = x.copy()
            if not is_linear:
                values[members] = part
            slope = np.eye(len(x)) if is_linear else group.slope(values)
            found[row : row + len(x), column : column + len(members)] = slope[:, members]
            row, column = row + len(x), column + len(members)
        return found

    def physical(self, p: FloatArray, free: Collection[str] = ()) -> dict[str, float]:
        """Return values of the model's parameters by name, those of bodies without mass left out.

        Mass and moments of inertia among the `free` linear numbers are enlarged where else no rigid body had them.
        """
        found: dict[str, float] = {}
        for group, is_linear, x, members, part in self._each(p):
            values = (group.phi(x) if is_linear else x).copy()
            values[members] = part
            if is_linear:
                if values[0] == 0.0 and len(values) > 1:
                    continue
                if isinstance(group, BodyGroup):
                    values = _rigid(group, values, [k for k, name in enumerate(group.linear) if name in free])
                values = group.physical_of(values)
            found |= dict(zip(group.physical, values.tolist(), strict=True))
        return found

    def _each(self, p: FloatArray) -> list[tuple[Group, bool, FloatArray, list[int], FloatArray]]:
        return list(zip(self.groups, self._modes, self._base, self._members, self._parts(p), strict=True))


def _rigid(group: BodyGroup, phi: FloatArray, free: Sequence[int]) -> FloatArray:
    """Return the linear numbers of a body, the free ones as large as a rigid body needs."""
    if _is_rigid(group.physical_of(phi)):
        return phi
    found = phi.copy()
    if 0 in free:
        found[0] = max(phi[0], 2.0 * float(phi[1:4] @ phi[1:4]) / max(phi[list(_DIAGONAL)].max(), 1e-300))
    largest = group.physical_of(found)[list(_DIAGONAL)].max()
    own = found[list(_DIAGONAL)] - group.physical_of(found)[list(_DIAGONAL)]  # of the mass out of the origin
    for k, of_mass in zip(_DIAGONAL, own, strict=True):
        if k in free:
            found[k] = largest + of_mass
    return found


def _is_rigid(x: FloatArray) -> bool:
    matrix = np.empty((3, 3))
    for value, (i, j) in zip(x[4:], _PAIRS, strict=True):
        matrix[i, j] = matrix[j, i] = value
    least, middle, largest = np.linalg.eigvalsh(matrix)
    return bool(x[0] >= 0.0 and least >= 0.0 and largest <= (1.0 + 1e-9) * (least + middle))


def load_columns(unknowns: Unknowns, samples: Samples) -> tuple[FloatArray, FloatArray]:
    """Return Y (n, nu, K) and the loads (n, nu) of the model as it is, both of the tree joints."""
    block = unknowns.model.block()
    bodies = [group.number for group in unknowns.groups if isinstance(group, BodyGroup)]
    loads, of_bodies = block.load_columns(*samples, bodies)
    kept = block.reals.copy()
    columns, first = [], 0
    for group in unknowns.groups:
        if isinstance(group, BodyGroup):
            columns.append(of_bodies[:, :, first : first + len(group.linear)])
            first += len(group.linear)
            continue
        ends = []
        for phi in (group.reference, *(group.reference + STEP * unit for unit in np.eye(len(group.linear)))):
            block.reals[group.offsets] = group.physical_of(phi)
            block.put("time", 0.0, Stage.NONE)  # the constants follow
            ends.append(block.load_columns(*samples, [])[0])
        columns.append(np.stack([(end - ends[0]) / STEP for end in ends[1:]], axis=-1))
        block.reals[:] = kept
        block.put("time", 0.0, Stage.NONE)
    return np.concatenate(columns, axis=-1), loads


def _groups(model: Model) -> list[Group]:
    by_offset = {v.reference: v for v in model.variables if v.kind == "parameter"}
    found: list[Group] = [BodyGroup(model, body) for body in model.mechanism.bodies]
    for stiffness, free in _SPRINGS:
        first, second = model.fields[stiffness], model.fields[free]
        for k in range(first.rows * first.columns):
            if first.first + k in by_offset and second.first + k in by_offset:
                found.append(SpringGroup(by_offset[first.first + k], by_offset[second.first + k]))
    for field in _PLAIN:
        span = model.fields[field].span
        found += [PlainGroup(by_offset[offset]) for offset in range(span.start, span.stop) if offset in by_offset]
    return found


def _chosen(model: Model, groups: Sequence[Group], name: str) -> list[tuple[Group, bool, int]]:
    """Return group, whether by a linear name, and place of each number that a name stands for."""
    bodies = dict(zip(model.mechanism.bodies, groups, strict=False))
    if name in bodies:
        return [(bodies[name], True, k) for k in range(10)]
    linear = [
        (group, True, k)
        for group in groups
        if isinstance(group, BodyGroup)
        for k, one in enumerate(group.linear)
        if k and (one == name or one.startswith(f"{name}["))
    ]
    if linear:
        return list(linear)
    if not any(v.name == name or v.name.startswith((f"{name}.", f"{name}[")) for v in model.variables):
        known = [one for group in groups for one in (*group.physical, *group.linear)]
        vectors = [one.split("[")[0] for one in known]
        raise MechanismNameError(f"parameters: there is no {name!r}: {suggest(name, [*known, *vectors, *bodies])}")
    wanted = {v.name for v in matching(model.variables, name, _PARAMETERS, "parameters")}
    found = [(group, False, k) for group in groups for k, one in enumerate(group.physical) if one in wanted]
    if not found:
        raise MechanismError(
            f"parameters: {name!r} is not identified from loads: masses, centres of mass, inertias, stiffness, "
            "damping, friction, free coordinates and reflected inertias are; geometry is found by linkwork.design"
        )
    return list(found)


def _element(chosen: tuple[Group, bool, int]) -> str:
    """Return the name of a number that was chosen; a mass has one whether it is linear or physical."""
    group, is_linear, k = chosen
    return (group.linear if is_linear else group.physical)[k]


def _mode(group: Group, chosen: Sequence[tuple[int, bool, int]]) -> bool:
    """Whether a group's unknowns are its linear numbers; a mass is one of both."""
    linear = [k for _, is_linear, k in chosen if is_linear]
    physical = [k for _, is_linear, k in chosen if not is_linear and (k or not isinstance(group, BodyGroup))]
    if linear and physical:
        raise MechanismError(
            f"parameters: {quoted(group.linear[k] for k in linear)} and {quoted(group.physical[k] for k in physical)} "
            "describe the same body; give moments (mc, IO) or centre of mass and inertia about it (com, inertia)"
        )
    return bool(linear)


def _importance(group: Group) -> Callable[[int], int]:
    """The order within a group: what loads feel first is kept where numbers are not identified alone."""
    order = [4, 5, 6, 7, 8, 9, 1, 2, 3, 0] if isinstance(group, BodyGroup) else list(range(len(group.linear)))
    return order.index
