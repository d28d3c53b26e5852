"""The result of a simulation: columns by name, states at any time."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np

from linkwork._util.checks import FloatArray
from linkwork._util.keywords import checks_keywords
from linkwork._util.names import number_of
from linkwork._util.progress import ProgressOption
from linkwork._util.registered import registered
from linkwork._util.text import aligned, listed
from linkwork.core.native_run import StepControl
from linkwork.errors import LinkworkError, MechanismError, MechanismNameError
from linkwork.model.impacts import Event
from linkwork.model.model import Model
from linkwork.model.named_variables import NamedVariables
from linkwork.model.state import State
from linkwork.results.base import Columns
from linkwork.results.files import Column
from linkwork.results.in_time import TimeResult
from linkwork.results.time_axis import IntArray, Places, direction, refined
from linkwork.simulation.interpolation import between, counted
from linkwork.simulation.row_numbers import RowNumbers
from linkwork.simulation.trajectory import Trajectory, merged
from linkwork.solvers import Statistics

CURVE_STEPS = 300  # steps along a plotted curve, at least


class MadeBy(NamedTuple):
    """The solver of a run, its relative tolerance, and the time it took, s."""

    solver: str
    rtol: float
    wall_time: float


class Result(NamedVariables, TimeResult):
    """A simulated motion.

    Every variable of the mechanism is found by name: ``result["A.q"]`` has shape (nt,), ``result["coupler.r"]``
    (nt, 3). Columns are computed on demand. Where a quantity does not exist, as at the end of a run that failed, it is
    not a number. ``result[1.0:2.0]`` is the result between two times, with both ends; ``len(result)`` is the number of
    rows; a loop over a result gives the names of its columns.

    Between rows, states are interpolated by cubic Hermite polynomials, never across an event, and the loops are then
    closed; everything else is computed from them. Driving loads are interpolated linearly. The error is of the fourth
    order of the distance between rows: small for the steps of a solver, large for a few times in `t_eval`.

    Attributes
    ----------
    name
        Of the mechanism.
    model
        The simulated mechanism.
    t
        Times, (nt,), s.
    y
        States, (nt, n): coordinates and speeds [q; u] of the tree joints, then states of elements.
    statistics
        Steps, evaluations and so on.
    message
        How the run ended.

    Examples
    --------
    >>> import linkwork as lw
    >>> mech = lw.Mechanism("pendulum")
    >>> mech.add_body("rod", mass=1.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(1.0, 1.0))
    >>> mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
    >>> result = lw.simulate(mech, t_end=1.0)
    >>> "A.q" in result, result.units["A.q"]
    (True, 'rad')
    >>> values = result.at(0.5, ["A.*", "rod.r"])
    >>> values["rod.r"].shape
    (3,)
    >>> late = result[0.5:1.0]
    >>> float(late.t[0]), bool(late["A.q"][0] == values["A.q"])
    (0.5, True)
    >>> result.final_state.time
    1.0
    """

    _error = MechanismError
    _name_error = MechanismNameError

    model: Model
    made_by: MadeBy | None = None

    def __init__(
        self,
        model: Model,
        t: FloatArray,
        y: FloatArray,
        *,
        inputs: FloatArray,
        gains: FloatArray,
        revolutions: FloatArray,
        discrete: Sequence[FloatArray],
        events: Sequence[Event],
        statistics: Statistics,
        message: str,
        events_before: IntArray | None = None,
        nodes: Trajectory | None = None,
        controller_states: FloatArray | None = None,
        step_controls: FloatArray | None = None,
        end_control: StepControl | None = None,
    ) -> None:
        self.model = model
        self.name = model.mechanism.name
        self.t = t
        self.y = y
        self.statistics = statistics
        self.message = message
        self._events = events
        self._gains = gains  # of the feedback on loops
        if inputs.ndim == 1:
            inputs = np.broadcast_to(inputs, (len(t), model.numbering.n_inputs))
        before = np.zeros(len(t), dtype=np.intp) if events_before is None else events_before
        x = np.empty((len(t), 0)) if controller_states is None else controller_states
        control = np.full((len(t), 3), np.nan) if step_controls is None else step_controls
        self._trajectory = Trajectory(t, y, inputs, revolutions, discrete, before, x, control)
        self._end_control = end_control  # of the solver's steps at the end of the run
        self._hidden = nodes  # times at events and at the end that may be no rows, for interpolation

    # ---- columns ----

    @property
    def controller_states(self) -> FloatArray:
        """Continuous states of the controller, (nt, n)."""
        return self._trajectory.x

    @property
    def events(self) -> list[Event]:
        """Events by transitions and by event functions, in the order in which they happened."""
        return list(self._events)

    def _unit(self, name: str) -> str:
        return self.model.column(name).unit

    def _column(self, name: str) -> Column:
        return self._columns_of([name])[0]

    def _columns_of(self, names: Sequence[str]) -> list[Column]:
        columns = [self.model.column(name) for name in names]
        spans = [slice(one.first, one.first + one.count) for one in columns]
        computed = [span for span in spans if self._numbers.has(span.start)]
        found = iter(self._numbers.of_each(computed) if len(computed) > 1 else map(self._numbers.of, computed))
        values = [next(found) if self._numbers.has(span.start) else self._constant(span) for span in spans]
        return [
            np.ascontiguousarray(one if column.vector else one[:, 0])
            for one, column in zip(values, columns, strict=True)
        ]

    def _constant(self, span: slice) -> FloatArray:
        """Return a parameter or start value in each row."""
        return np.tile(self.model.block().reals[span], (len(self), 1))

    def _elements(self, name: str) -> list[str]:
        column = self.model.column(name)
        return [self._names_at[column.first + i] for i in range(column.count)] if column.vector else [name]

    @cached_property
    def _names_at(self) -> dict[int, str]:
        return {v.reference: v.name for v in self.model.variables}

    @cached_property
    def _numbers(self) -> RowNumbers:
        return RowNumbers(self.model, self._trajectory, self._gains)

    @property
    def _plotted(self) -> list[str]:
        joints = (f"{joint}.{kind}" for kind in "qu" for joint in self.model.loop_names)
        cut = [one for name in joints if name in self for one in self._elements(name)]
        return [*self.model.q_names, *self.model.u_names, *cut, "energy.kinetic", "energy.potential"]

    @property
    def _event_times(self) -> list[float]:
        return [event.t for event in self._events]

    @property
    def _remarks(self) -> str:
        return f"; {self.message}" if self.message else ""

    def about(self) -> dict[str, Any]:
        """Return everything but the columns as plain data: name, events and the end of the run."""
        events = [[event.t, ", ".join(event.transitions)] for event in self._events]
        return {"name": self.name, "events": events, "notices": [self.message] if self.message else []}

    # ---- for people and programs ----

    def to_dict(self, columns: Iterable[str] | None = None) -> dict[str, Any]:
        """Return what the run came to as plain data.

        Parameters
        ----------
        columns
            Of which the last values are given; by default the states.
        """
        energy = self["energy.kinetic"] + self["energy.potential"]
        gaps = [float(self[f"loop.{joint}.residual"].max()) for joint in self.model.loop_names]
        states = (*self.model.q_names, *self.model.u_names)
        return {
            "name": self.name,
            "message": self.message,
            "t_end": float(self.t[-1]),
            "wall_time": self.made_by.wall_time if self.made_by else None,
            "steps": self.statistics.steps,
            "evaluations": self.statistics.evaluations,
            "methods": self.statistics.methods,
            "switches": self.statistics.switches,
            "loop_residual": max(gaps, default=0.0),
            "energy_start": float(energy[0]),
            "energy_end": float(energy[-1]),
            "events": [
                {"t": event.t, "transitions": list(event.transitions), "energy_lost": event.energy_lost}
                for event in self._events
            ],
            "final": {name: self[name][-1].tolist() for name in columns or states},
        }

    def summary(self, columns: Iterable[str] | None = None) -> str:
        """Return what the run came to as text, with the last values of `columns`, by default of the states."""
        facts = self.to_dict(columns)
        cost = f"{facts['steps']} steps, {facts['evaluations']} evaluations"
        if self.made_by is not None:
            solver = _methods(self.made_by.solver, self.statistics)
            cost = f"with {solver} at rtol {self.made_by.rtol:g}; {cost}, {1e3 * self.made_by.wall_time:.1f} ms"
        events = [(f"{e.t:.9g} s", ", ".join(e.transitions), f"{e.energy_lost:.6g} J lost") for e in self._events]
        rows = [(name, " ".join(f"{v: .9g}" for v in np.atleast_1d(value))) for name, value in facts["final"].items()]
        lines = [
            f"{self.name}: {facts['t_end']:g} s {cost}",
            f"energy {facts['energy_start']:.9g} J at the start, {facts['energy_end']:.9g} J at the end; "
            f"loop residual at most {facts['loop_residual']:.1e} m",
            *listed(f"events ({len(events)})", events),
            f"at t = {facts['t_end']:g} s",
            *aligned(rows),
        ]
        return "\n".join(lines)

    # ---- to look at ----

    @checks_keywords
    @registered
    def glb(self, path: str | os.PathLike[str], *, fps: float | None = 60.0, skinned: bool = False) -> Path:
        """Write the motion as an animated model in binary glTF 2.0, for Blender, slides and viewers of models.

        Each body is a node of its name, with its shapes, or with rods between its joints. Springs between points and
        distances are rods that stretch. Lengths are in m, and +y is up, as glTF has it. Meshes need the extra ``mesh``;
        those that cannot be read are left out, and listed in the file under ``asset``.

        Parameters
        ----------
        path
            The .glb file to write; a file that is there is replaced.
        fps
            Poses for each second of the run, between which viewers interpolate linearly. None: one for each row.
        skinned
            True: one mesh with the bodies as the joints of its skin, for programs that play no other animation, such
            as PowerPoint. False: nodes that move.

        Returns
        -------
        Path
            The path of the file.

        Raises
        ------
        MechanismError
            On a result without rows, or with rows in which a body has no pose, and on an `fps` that is not positive.
        OSError
            If the file cannot be written.

        Examples
        --------
        >>> import linkwork as lw
        >>> from tempfile import TemporaryDirectory
        >>> mech = lw.Mechanism("slider")
        >>> mech.add_body("block", mass=1.0, com=(0, 0, 0), inertia=lw.inertia.box(1.0, (0.1, 0.1, 0.1)))
        >>> mech.add_joint("S", lw.Prismatic((0, 0, 1)), "ground", "block", at=(0, 0, 0))
        >>> with TemporaryDirectory() as folder:
        ...     path = lw.simulate(mech, t_end=1.0).glb(f"{folder}/slider.glb")
        ...     path.read_bytes()[:4]
        b'glTF'
        """
        raise NotImplementedError

    @checks_keywords
    @registered
    def film(
        self,
        path: str | os.PathLike[str],
        *,
        fps: float = 25.0,
        speed: float = 1.0,
        size: Sequence[int] = (960, 540),
        t_start: float | None = None,
        t_end: float | None = None,
        columns: Columns = None,
        traces: Iterable[str] = (),
        progress: ProgressOption = None,
    ) -> Path:
        """Write the motion as a film: the picture of the mechanism, in the same view and scale from first to last.

        Parameters
        ----------
        path
            A file .gif, .webp or .png (animated), or .mp4; a file that is there is replaced. With a number such as in
            ``run_%04d.png`` it is a picture for each frame. Films need the extra ``film``, .mp4 the program ffmpeg.
        fps
            Frames for each second of the film; .gif takes at most 50.
        speed
            Seconds of the run in a second of the film: 0.1 is slow motion.
        size
            Width and height, pixels; odd numbers are rounded up.
        t_start, t_end
            Part of the run, s; by default all of it.
        columns
            Names or patterns of columns that are plotted next to the mechanism; None: no plots.
        traces
            Points of interest, and bodies for their centres of mass, whose paths are drawn.
        progress
            True, False, None (only on a terminal), or a function that gets a `ProgressUpdate`.

        Returns
        -------
        Path
            The path given.

        Raises
        ------
        LinkworkError
            On another suffix, an argument that does not fit, an unknown name, a body without a pose, without ffmpeg for
            .mp4, and if the file cannot be written.
        ImportError
            Without matplotlib and Pillow.

        Examples
        --------
        >>> import linkwork as lw
        >>> from tempfile import TemporaryDirectory
        >>> mech = lw.Mechanism("pendulum")
        >>> mech.add_body("rod", mass=1.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(1.0, 1.0))
        >>> mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
        >>> result = lw.simulate(mech, t_end=0.2)
        >>> with TemporaryDirectory() as folder:
        ...     path = result.film(f"{folder}/pendulum.gif", size=(160, 120), traces=["rod"])
        ...     path.read_bytes()[:6]
        b'GIF89a'
        """
        raise NotImplementedError

    # ---- states ----

    @property
    def final_state(self) -> State:
        """The state at the end of the run, after the last event; `simulate(..., state=...)` continues from it."""
        if not len(self._nodes):
            raise MechanismError(f"the result of {self.name!r} has no rows, and thus no final state")
        last = np.array([len(self._nodes) - 1])
        end = self._state(counted(self.model, self._nodes, self._node_numbers, last), 0)
        return end if self._end_control is None else replace(end, step_control=np.array(self._end_control))

    def state(self, t: float) -> State:
        """Return the state at a time.

        At a row it is the row itself. At an event it is the state after it. Between rows it is interpolated, and the
        loops are then closed. It has the discrete state that transitions have brought about, and the revolutions of
        the cut joints.

        Parameters
        ----------
        t
            s, within the rows.

        Returns
        -------
        State
            Of the attribute `model`.

        Raises
        ------
        MechanismError
            If the time is outside the rows.
        AssemblyError
            If the loops cannot be closed from the interpolated state: rows are too far from each other.

        Examples
        --------
        >>> import linkwork as lw
        >>> mech = lw.Mechanism("slider")
        >>> mech.add_body("block", mass=1.0, com=(0, 0, 0), inertia=lw.inertia.box(1.0, (0.1, 0.1, 0.1)))
        >>> mech.add_joint("S", lw.Prismatic((0, 0, 1)), "ground", "block", at=(0, 0, 0))
        >>> result = lw.simulate(mech, t_end=1.0)
        >>> round(result.state(0.5)["S.u"], 6)
        -4.905
        """
        times = self._times(t)
        if times.ndim:
            raise MechanismError(f"state takes one time, s, not {t!r}; at(t) and resample(t) take several")
        taken = self._at_times(times.reshape(1))
        return taken._state(taken._trajectory, 0)

    def _state(self, trajectory: Trajectory, i: int) -> State:
        block = self.model.block()
        trajectory.enter(i, block, self.model.numbering.nq)
        control = trajectory.control[i].copy()
        return replace(self.model.state_of(block), step_control=control if np.isfinite(control).all() else None)

    # ---- in time ----

    @cached_property
    def _merged(self) -> tuple[Trajectory, IntArray]:
        return merged(self._trajectory, self._hidden, direction(self.t) < 0)

    @property
    def _nodes(self) -> Trajectory:
        return self._merged[0]

    @cached_property
    def _node_numbers(self) -> RowNumbers:
        if self._nodes is self._trajectory:
            return self._numbers
        return RowNumbers(self.model, self._nodes, self._gains)

    @property
    def _axis(self) -> FloatArray:
        return self._nodes.t

    @property
    def _rows_on_axis(self) -> IntArray:
        return self._merged[1]

    def _take(self, places: Places) -> Self:
        taken = between(self.model, self._nodes, self._node_numbers, places)
        if not len(taken):
            return self._of(taken, [], None)
        first, last = sorted((taken.t[0], taken.t[-1]))
        hidden = self._hidden
        if hidden is not None:
            within = (hidden.t >= first) & (hidden.t <= last)
            within &= (hidden.events >= taken.events[0]) & (hidden.events <= taken.events[-1])
            hidden = hidden.at(np.flatnonzero(within))
        return self._of(taken, [self._events[i] for i in self._kept_events(places)], hidden)

    def _drawn(self) -> Self:
        if not len(self):
            return self
        try:
            return self._take(refined(self._axis, CURVE_STEPS))
        except LinkworkError:  # rows are too far from each other to close the loops in between
            return self

    @registered
    def _page_part(self, request: Any) -> Any:
        raise NotImplementedError

    def _of(self, trajectory: Trajectory, events: Sequence[Event], nodes: Trajectory | None) -> Self:
        """Return a result with other rows."""
        one = trajectory
        found = type(self)(
            self.model,
            one.t,
            one.y,
            inputs=one.inputs,
            gains=self._gains,
            revolutions=one.revolutions,
            discrete=one.discrete,
            events=events,
            statistics=self.statistics,
            message=self.message,
            events_before=one.events,
            nodes=nodes,
            controller_states=one.x,
            step_controls=one.control,
        )
        found.made_by = self.made_by
        return found

    def _followed(self, other: Self) -> Self:
        if other.model.model_bytes != self.model.model_bytes:
            raise MechanismError(
                f"a result of {other.name!r} does not continue one of {self.name!r}: join takes results of one model"
            )
        first, second = (
            counted(one.model, one._trajectory, one._numbers, np.arange(len(one))) for one in (self, other)
        )
        count = int(self._nodes.events[-1]) if len(self._nodes) else 0
        second = replace(second, events=second.events + count)
        repeated = bool(len(first) and len(second)) and _same_states(first, second)
        kept = np.arange(int(repeated), len(second))
        nodes = other._hidden
        if nodes is not None:
            nodes = replace(nodes, events=nodes.events + count)
        if self._hidden is not None:
            nodes = self._hidden if nodes is None else self._hidden.followed(nodes)
        joined = self._of(first.followed(second.at(kept)), [*self._events, *other._events], nodes)
        joined.statistics, joined.message = self.statistics + other.statistics, other.message
        joined._end_control = other._end_control
        return joined


def _methods(solver: str, statistics: Statistics) -> str:
    """Return the solver, and the methods that took the steps where they have other names."""
    methods = statistics.methods
    if list(methods) in ([], [solver]):
        return solver
    if len(methods) == 1:
        return f"{solver} ({next(iter(methods))})"
    parts = " and ".join(f"{steps} steps of {name}" for name, steps in methods.items())
    return f"{solver} ({parts}, {number_of(statistics.switches, 'switch', 'switches')})"


def _same_states(first: Trajectory, second: Trajectory) -> bool:
    """Return whether the first states of a trajectory are the last ones of another."""
    if not np.array_equal(first.y[-1], second.y[0]):
        return False
    return not first.discrete or np.array_equal(first.discrete[-1], second.discrete[0])
