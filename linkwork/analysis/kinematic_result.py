"""The result of a kinematic analysis: rows over the swept coordinate, special poses, transmission ratios and angles."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork._util.keywords import checks_keywords
from linkwork._util.named import NamedColumns, read_only
from linkwork._util.names import suggest
from linkwork._util.part_names import suffixes
from linkwork._util.registered import registered
from linkwork._util.text import aligned, listed
from linkwork.errors import MechanismError, MechanismNameError
from linkwork.mechanism import GROUND, Joint
from linkwork.model.state import JointArray
from linkwork.results.base import Columns, TableResult, data_frame, write_table
from linkwork.results.selection import selected

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from linkwork.core.native import Block
    from linkwork.model.base import ModelBase
    from linkwork.model.state import State

MOST_SHOWN = 8  # special poses in a repr


class KinematicRows(NamedTuple):
    """The motion at values of the swept coordinate; NaN: it does not exist."""

    values: FloatArray  # (rows,)
    q: FloatArray  # of all joints, the tree's first, (rows, nq + nq_cut)
    u: FloatArray  # likewise, (rows, nu + nu_cut)
    a: FloatArray
    functions: FloatArray  # value, rate and second rate of each recorded one, (rows, functions, 3)
    conditioning: FloatArray  # (rows,); NaN: it is found when it is asked for


@checks_keywords
@dataclass(frozen=True)
class SpecialPose:
    """A pose at which the swept coordinate turns back, stops or may change its branch.

    Attributes
    ----------
    kind
        "dead point": the coordinate turns back; held there, it does not hold the mechanism. "limit": a bound of a
        `Stop`. "branch point": branches of the motion cross (change point).
    coordinate, value
        Name of the swept coordinate and its value, rad or m.
    state
        The pose, at rest.
    name
        Of the transition whose bound it is; else empty.
    rows
        Number of rows of the result before it.
    """

    kind: str
    coordinate: str
    value: float
    state: State
    name: str = ""
    rows: int = 0

    def __str__(self) -> str:
        of = f" of {self.name!r}" if self.name else ""
        value = self.value if abs(self.value) > 1e-14 else 0.0
        return f"{self.kind}{of} at {self.coordinate} = {value:.9g}"


@checks_keywords
class KinematicResult(TableResult, NamedColumns):
    """Coordinates, speeds and accelerations over a swept coordinate, which moves at a constant speed.

    `result[name]` is a column (rows,), read-only: "A.q", "A.u" and "A.a" of every joint, tree and cut; the value of
    each recorded function, as "tip.r[1]", its rate "der(tip.r[1])" and second rate "der(tip.r[1],2)"; and
    "conditioning", the smallest singular value over the largest of the constraint Jacobian with the swept coordinate
    held, which is 0 at dead points and branch points. Numbers that do not exist are NaN. A loop over the result gives
    the names, `len` the rows.

    Attributes
    ----------
    name
        Of the mechanism.
    coordinate
        Name of the swept coordinate.
    u
        Its speed, rad/s or m/s.
    special_poses
        Dead points, limits and branch points, in the order in which they were reached.
    ended
        "end of the range", "dead point", "limit" or "branch point"; on the result of an error
        "start not reached" or "refused".
    units
        Of each column.
    """

    def __init__(
        self,
        model: ModelBase,
        coordinate: str,
        unit: str,
        u: float,
        functions: Mapping[str, str],  # units by name
        conditioning: Callable[[FloatArray], FloatArray],  # (rows,) of coordinates of the tree joints (rows, nq)
    ) -> None:
        self.model, self.name, self.coordinate, self.u = model, model.mechanism.name, coordinate, u
        self.special_poses: list[SpecialPose] = []
        self.ended = ""
        self._parts: list[KinematicRows] = []
        self._functions = dict(functions)
        self._conditioning = conditioning
        self.units = {coordinate: unit} | self._joint_units() | self._function_units() | {"conditioning": "1"}

    def append(self, rows: KinematicRows, state: State) -> None:
        """Add rows; a state gives what is the same in all of them."""
        self._parts.append(rows)
        self._state = state
        for name in ("_rows", "_columns", "_all_conditioning"):
            self.__dict__.pop(name, None)

    # ---- columns ----

    @cached_property
    def _rows(self) -> KinematicRows:
        """All rows."""
        if not self._parts:
            n = self.model.numbering
            sizes = (), (n.nq_all,), (n.nu_all,), (n.nu_all,), (len(self._functions), 3), ()
            return KinematicRows(*(np.empty((0, *size)) for size in sizes))
        return KinematicRows(*(np.concatenate(parts) for parts in zip(*self._parts, strict=True)))

    @property
    def values(self) -> FloatArray:
        """The swept coordinate (rows,)."""
        return self._rows.values.copy()

    @property
    def states(self) -> list[State]:
        """The state of each row; its speeds are those of the columns, zero where they do not exist."""
        n, q, u = self.model.numbering, self._rows.q.copy(), np.nan_to_num(self._rows.u)
        q.flags.writeable = u.flags.writeable = False
        return [
            replace(self._state, q=JointArray.split(one, n.nq), u=JointArray.split(rate, n.nu))
            for one, rate in zip(q, u, strict=True)
        ]

    @property
    def names(self) -> list[str]:
        """Names of all columns."""
        return list(self.units)

    def __getitem__(self, name: str) -> FloatArray:
        if not isinstance(name, str) or name not in self.units:
            raise self._unknown(name)
        return read_only(self._all_conditioning if name == "conditioning" else self._columns[name])

    def __len__(self) -> int:
        """Return the number of rows."""
        return sum(len(part.values) for part in self._parts)

    @cached_property
    def _columns(self) -> dict[str, FloatArray]:
        n, rows = self.model.numbering, self._rows
        found = {self.coordinate: rows.values} | dict(zip(self._coordinate_names, rows.q.T, strict=True))
        for name in (*n.tree, *n.cut):
            for letter, values in (("u", rows.u), ("a", rows.a)):
                columns = values[:, n.u[name]].T
                found |= dict(zip(_numbered(f"{name}.{letter}", len(columns)), columns, strict=True))
        for k, name in enumerate(self._functions):
            found |= dict(zip(_derivatives(name), rows.functions[:, k].T, strict=True))
        return found

    @cached_property
    def _all_conditioning(self) -> FloatArray:
        """Conditioning (rows,); that of regular poses is found here."""
        rows = self._rows
        found, missing = rows.conditioning.copy(), np.isnan(rows.conditioning)
        found[missing] = self._conditioning(rows.q[missing, : self.model.numbering.nq])
        return found

    @cached_property
    def _coordinate_names(self) -> list[str]:
        n, joints = self.model.numbering, self.model.mechanism.joints
        return [name for joint in (*n.tree, *n.cut) for name in _numbered(f"{joint}.q", joints[joint].kind.nq)]

    def _coordinates(self, states: Iterable[State]) -> FloatArray:
        """Return the coordinates of all joints (names, states) in the order of `_coordinate_names`."""
        columns = [np.concatenate([state.q, np.empty(0) if state.q.cut is None else state.q.cut]) for state in states]
        return np.array(columns).reshape(len(columns), len(self._coordinate_names)).T

    def _joint_units(self) -> dict[str, str]:
        units: dict[str, str] = {}
        n = self.model.numbering
        for name in (*n.tree, *n.cut):
            kind = self.model.mechanism.joints[name].kind
            if kind.nu:
                units |= dict(zip(_numbered(f"{name}.q", kind.nq), kind.coordinate_units, strict=True))
                for letter, per in (("u", "s"), ("a", "s2")):
                    of = [f"{unit}/{per}" for unit in kind.motion_units]
                    units |= dict(zip(_numbered(f"{name}.{letter}", kind.nu), of, strict=True))
        return units

    def _function_units(self) -> dict[str, str]:
        units: dict[str, str] = {}
        for name, unit in self._functions.items():
            top = "" if unit == "1" else unit
            of = (unit, f"{top or '1'}/s", f"{top or '1'}/s2")
            units |= dict(zip(_derivatives(name), of, strict=True))
        return units

    # ---- transmission ----

    def transmission_ratio(self, name: str) -> FloatArray:
        """Return the speed of another coordinate or function over that of the swept coordinate, (rows,).

        Parameters
        ----------
        name
            "B" or "B.q" of a joint, or a recorded function such as "tip.r[1]".
        """
        return self[self._rate_of(name)] / self.u

    def mechanical_advantage(self, name: str) -> FloatArray:
        """Return the load along another coordinate that a unit load along the swept one balances, (rows,).

        Without friction and other loads the virtual work of both is zero: the load that the mechanism exerts along the
        output, over that applied along the input, is the speed of the input over that of the output. It is infinite
        where the output turns back.

        Parameters
        ----------
        name
            "B" or "B.q" of a joint, or a recorded function such as "tip.r[1]".
        """
        with np.errstate(divide="ignore"):
            return 1.0 / self.transmission_ratio(name)

    def _rate_of(self, name: str) -> str:
        base, bracket, element = name.partition("[")
        joint = base.removesuffix(".q")
        kind = self.model.mechanism.joints[joint].kind if joint in self.model.mechanism.joints else None
        if kind is not None and kind.quaternion is None and f"{joint}.u{bracket}{element}" in self.units:
            return f"{joint}.u{bracket}{element}"
        if name in self._functions:
            return f"der({name})"
        known = [*(one for one in self.units if one.endswith(".q") or ".q[" in one), *self._functions]
        raise MechanismNameError(f"there is no coordinate or recorded function {name!r}: {suggest(name, known)}")

    def transmission_angle(self, proximal: str, distal: str, output: str) -> FloatArray:
        """Return the transmission angle between a coupler and the joint that it drives, (rows,), rad, 0 to pi/2.

        The coupler reaches from joint `proximal` to joint `distal` and carries no load of its own, so that its force
        acts along the line between the two. The transmission angle is pi/2 less the angle between this line and the
        direction in which `distal` moves when joint `output` alone moves (its pressure angle). At pi/2 the whole force
        drives the output, at 0 none of it. Of a four-bar linkage this is the acute angle between coupler and rocker.

        Parameters
        ----------
        proximal, distal
            Names of the joints at the ends of the coupler.
        output
            Name of the driven joint, with one coordinate: a Revolute, Prismatic or Screw.
        """
        return transmission_angle(self.model, self.states, proximal, distal, output)

    # ---- files, tables and plots ----

    def _selected(self, columns: Columns) -> list[str]:
        return [one for one in selected(columns, self.names, self.units, self._unknown) if one != self.coordinate]

    def _unknown(self, name: str) -> MechanismNameError:
        return MechanismNameError(f"there is no column {name!r}: {suggest(name, self.units)}")

    def _table(self, columns: Columns = None) -> dict[str, FloatArray]:
        return {name: self[name] for name in (self.coordinate, *self._selected(columns))}

    def to_dataframe(self, columns: Columns = None) -> pd.DataFrame:
        """Return columns as a pandas table over the swept coordinate; `attrs["units"]` has the units.

        Parameters
        ----------
        columns
            Names or patterns such as ``*.q``; by default all.
        """
        table = data_frame(self._table(columns), self.coordinate)
        table.attrs["units"] = {name: self.units[name] for name in map(str, table)}
        return table

    def to_csv(self, path: str | os.PathLike[str], columns: Columns = None) -> None:
        """Write columns as CSV, the swept coordinate first, with all digits; the file appears whole or not at all.

        Parameters
        ----------
        path
            The file to write.
        columns
            Names or patterns such as ``*.q``; by default all.
        """
        write_table(path, self._table(columns))

    @registered
    def plot(self, columns: Columns = None, path: str | os.PathLike[str] | None = None) -> Figure:
        """Plot columns over the swept coordinate, a panel for each unit and magnitude; special poses are marked.

        Parameters
        ----------
        columns
            Names or patterns such as ``*.q``; by default coordinates, speeds and the conditioning.
        path
            Where to save the picture, if anywhere: .png, .svg or .pdf.
        """
        raise NotImplementedError

    def _plotted(self) -> list[str]:
        kinds = (".q", ".u")
        joints = [name for name in self._selected(None) if name.partition("[")[0].endswith(kinds)]
        return [*joints, *self._functions, "conditioning"]

    def to_dict(self) -> dict[str, Any]:
        """Return the range, the special poses and the extremes of all coordinates as plain data."""
        shown = [name for name in self if name.partition("[")[0].endswith(".q")]
        poses = [
            {
                "kind": pose.kind,
                "value": pose.value,
                "name": pose.name,
                "q": dict(zip(pose.state.model.q_names, pose.state.q.tolist(), strict=True)),
            }
            for pose in self.special_poses
        ]
        return {
            "name": self.name,
            "coordinate": self.coordinate,
            "unit": self.units[self.coordinate],
            "rows": len(self),
            "from": float(self.values[0]),
            "to": float(self.values[-1]),
            "ended": self.ended,
            "special_poses": poses,
            "least_conditioning": float(self["conditioning"].min()),
            "ranges": {
                name: {"unit": self.units[name], "min": float(self[name].min()), "max": float(self[name].max())}
                for name in shown
            },
        }

    def summary(self) -> str:
        """Return the range, the special poses and the extremes of all coordinates as text."""
        facts, of = self.to_dict(), self.coordinate
        head = f"{self.name}: {of} from {facts['from']:.9g} to {facts['to']:.9g} {facts['unit']}"
        rows = [(name, f"{one['min']: .6g} to {one['max']:.6g}", one["unit"]) for name, one in facts["ranges"].items()]
        least = f"least conditioning {facts['least_conditioning']:.3g}"
        poses = (f"  {pose}" for pose in self.special_poses)
        return "\n".join([f"{head}, {len(self)} rows; {self.ended}", *poses, "ranges", *aligned(rows), least])

    def __repr__(self) -> str:
        unit, count = self.units[self.coordinate], len(self)
        span = f"{self._rows.values[0]:.6g} to {self._rows.values[-1]:.6g} {unit}, " if count else ""
        head = f"KinematicResult({self.name!r}: {self.coordinate} {span}{count} row{'s' * (count != 1)}; {self.ended})"
        return "\n".join(listed(head, [(str(pose),) for pose in self.special_poses], MOST_SHOWN) or [head])


def _numbered(name: str, count: int) -> list[str]:
    return [f"{name}{suffix}" for suffix in suffixes(count)]


def _derivatives(name: str) -> tuple[str, str, str]:
    """Return the names of a value, its rate and its second rate, as FMI writes them."""
    return name, f"der({name})", f"der({name},2)"


def transmission_angle(model: ModelBase, states: Sequence[State], first: str, second: str, output: str) -> FloatArray:
    """Return pi/2 less the angle between the line of two joints and the motion that the output gives the second one."""
    joints = model.mechanism.joints
    for name in (first, second, output):
        if name not in joints:
            raise MechanismNameError(f"there is no joint {name!r}: {suggest(name, joints)}")
    if first == second:
        raise MechanismError(f"a coupler reaches from one joint to another: both are {first!r}")
    rigid = _rigid_bodies(model)
    ends = [{rigid[body] for body in (joints[name].parent, joints[name].child)} for name in (first, second, output)]
    coupler = ends[0] & ends[1] - {rigid[GROUND]}
    if not coupler:
        raise MechanismError(
            f"no body has both joints {first!r} and {second!r}: a coupler reaches from the first to the second, and "
            "the second joins it to the link that the output moves"
        )
    if not (ends[1] - coupler) & ends[2] - {rigid[GROUND]}:
        raise MechanismError(
            f"output {output!r} does not carry a link with joint {second!r}: name the joint of the link that the "
            f"coupler drives at {second!r}"
        )
    if joints[output].kind.nu != 1:
        raise MechanismError(f"joint {output!r} has {joints[output].kind.nu} speeds: an output has one")
    if joints[output].kind.type_name not in ("revolute", "prismatic", "screw"):
        kind = type(joints[output].kind).__name__
        raise MechanismError(f"joint {output!r} is a {kind}: transmission angles are of hinges, slides and screws")
    block = model.block()
    angles = np.empty(len(states))
    for k, state in enumerate(states):
        model.enter(block, state)
        angles[k] = _angle(model, block, joints[first], joints[second], joints[output])
    return angles


def _rigid_bodies(model: ModelBase) -> dict[str, str]:
    """Return of each body the name of one that it is fixed to, the same for all that are fixed together."""
    mech = model.mechanism
    found = {name: name for name in (GROUND, *mech.bodies)}
    for joint in mech.joints.values():
        if joint.kind.nu == 0:
            old, new = found[joint.child], found[joint.parent]
            found = {name: new if one == old else one for name, one in found.items()}
    return found


def _angle(model: ModelBase, block: Block, first: Joint, second: Joint, output: Joint) -> float:
    origin, tip = _frame(model, block, first)[0], _frame(model, block, second)[0]
    motion = _motion(model, block, output, tip)
    line = tip - origin
    size = np.linalg.norm(line) * np.linalg.norm(motion)
    return float(np.arcsin(np.clip(abs(line @ motion) / size, 0.0, 1.0))) if size else np.nan


def _frame(model: ModelBase, block: Block, joint: Joint) -> tuple[FloatArray, FloatArray]:
    """Return position (3,) of a joint and its canonical axes (3, 3) in the parent, in the world."""
    body = -1 if joint.parent == GROUND else model.body_numbers[joint.parent]
    position, rotation, _ = block.body_motion(body, np.asarray(joint.parent_frame.position))
    axes: FloatArray = rotation @ joint.parent_frame.rotation @ joint.kind.canonical_axes
    return position, axes


def _motion(model: ModelBase, block: Block, output: Joint, tip: FloatArray) -> FloatArray:
    """Return the velocity (3,) of a point of the child when the output alone moves."""
    position, axes = _frame(model, block, output)
    axis, kind = axes[:, 2], output.kind
    if kind.type_name == "prismatic":
        return axis
    turning: FloatArray = np.cross(axis, tip - position)
    return turning + kind.value * axis if kind.type_name == "screw" else turning
