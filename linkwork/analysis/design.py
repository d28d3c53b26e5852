"""Parameters of a mechanism for which an objective over some of its poses is least.

The quantities y (poses, n) follow from the parameters p through the closed loops. Each pose is found by continuation:
the first one from that of the parameters before, the others from pose to pose, each step one at which Newton's method
cannot come to another branch. Their derivative dy/dp at fixed independent coordinates is exact, by a complex step in
the core. The derivative of the objective f(y, p) along each parameter is the imaginary part of
f(y + i h dy/dp_j, p + i h e_j)/h, h = 1e-30, without an error of differences, where f takes complex numbers.
The least is found by scipy: residuals by trust regions (`least_squares`), one number by `SLSQP`.

Trial parameters with which the mechanism does not reach a pose are refused: the optimiser is given an infinite value
and takes a shorter step.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork._util.checks import FloatArray, number, shortened, whole_number
from linkwork._util.keywords import checks_keywords
from linkwork._util.named import NamedValues
from linkwork._util.names import quoted, suggest
from linkwork._util.one_thread import on_one_thread
from linkwork._util.progress import Progress, ProgressOption
from linkwork._util.registered import registered
from linkwork._util.text import aligned
from linkwork.analysis.parameter_set import Combinations, ParameterSet, computed_variables
from linkwork.core.native import Block, Minimal, Stage
from linkwork.errors import AssemblyError, MechanismError, MechanismNameError, SingularityError, SolverError
from linkwork.mechanism import Mechanism
from linkwork.model.arguments import one
from linkwork.model.compile import model_of
from linkwork.model.independent_coordinates import IndependentCoordinates, choose_independent_coordinates
from linkwork.results.base import TableResult
from linkwork.variables.schema import Column, columns_of

if TYPE_CHECKING:
    import os

    from matplotlib.figure import Figure

    from linkwork.model.arguments import Loads
    from linkwork.model.model import Model

STEP = 1e-30  # of complex steps: its square vanishes
AGREEMENT = 1e-4  # of a complex step with differences, relative, where the objective takes complex numbers properly
FLAT = 1e-2  # of the parameters' scale: changes by which an objective is seen to depend on none
PROBE = 1e-5  # of the parameters' scale: half the step of differences of the objective
REFUSED = (AssemblyError, SingularityError, MechanismError)  # a pose is out of reach, or a number such as a mass wrong

Objective = Callable[["PoseValues"], Any]
Gradient = Literal["complex step", "differences", "given"]
Bounds = tuple[float, float] | float | None


class PoseValues(Mapping[str, NDArray[Any]]):
    """Quantities over the poses by name: "tip.r[1]" (poses,), "tip.r" (poses, 3).

    The numbers may be complex, by which derivatives of an objective are found.
    """

    def __init__(self, names: Sequence[str], columns: Mapping[str, Column], y: Any, parameters: dict[str, Any]) -> None:
        self._names, self._columns, self._y = list(names), columns, y
        self.parameters = parameters  # present values of the parameters by name

    def __getitem__(self, name: str) -> NDArray[Any]:
        """Return the values of a quantity, (poses,) or (poses, k)."""
        if name not in self._columns:
            raise MechanismNameError(f"of does not have {name!r}: {suggest(name, self._columns)}")
        column = self._columns[name]
        values: NDArray[Any] = self._y[:, column.first : column.first + column.count]
        return values if column.vector else values[:, 0]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


@checks_keywords
@dataclass(frozen=True, repr=False)
class Design(TableResult, NamedValues[str]):
    """Parameters for which an objective is least. A loop over it gives their names.

    Attributes
    ----------
    parameters, start
        Values by name, found and at the start.
    objective
        Of the values found: the residuals (k,), or one number.
    outputs
        What was listed in `of`, over the poses.
    jacobian
        (poses, n, p), of these by the parameters.
    model
        The mechanism with the parameters found.
    history
        Values of the parameters (evaluations, p), in the order tried.
    costs
        (evaluations,), the objective or half the sum of squared residuals; infinite where the mechanism did not reach
        a pose.
    converged, message
        Whether the optimiser was content, and its reason to stop.
    gradient
        How the objective was differentiated: "complex step", "given", or "differences" (of the objective alone; those
        of the mechanism are exact), where it does not take complex numbers.
    """

    _index: ClassVar[str | None] = "evaluation"

    parameters: dict[str, float]
    start: dict[str, float]
    objective: FloatArray | float
    outputs: PoseValues
    jacobian: FloatArray
    model: Model
    history: FloatArray
    costs: FloatArray
    converged: bool
    message: str
    gradient: Gradient
    units: dict[str, str] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """Names of the parameters."""
        return list(self.parameters)

    def __getitem__(self, name: str) -> float:
        """Return the value found of a parameter."""
        if name not in self.parameters:
            raise MechanismNameError(f"the design has no parameter {name!r}: {suggest(name, self.parameters)}")
        return self.parameters[name]

    @property
    def cost(self) -> float:
        """The objective, or half the sum of squared residuals."""
        return _cost(self.objective)

    @property
    def refused(self) -> int:
        """Number of trials with which the mechanism did not reach a pose."""
        return int(np.isinf(self.costs).sum())

    def _table(self) -> dict[str, Any]:
        tried = dict(zip(self.parameters, self.history.T, strict=True))
        return {"evaluation": np.arange(len(self.costs)), **tried, "cost": self.costs}

    @registered
    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Plot the cost and the parameters, as parts of their range, over the evaluations; save it if a path is given.

        Parameters
        ----------
        path
            Of the picture; None: none is written.
        """
        raise NotImplementedError

    def __repr__(self) -> str:
        end = "converged" if self.converged else f"stopped: {self.message}"
        n = len(self.costs)
        head = f"Design: cost {self.cost:.6g} after {n} evaluations, {self.refused} of them refused; {end}"
        rows = [
            (name, f"{self.start[name]:.6g}", f"{value:.6g}", self.units.get(name, ""))
            for name, value in self.parameters.items()
        ]
        return "\n".join([head, *aligned([("parameter", "start", "found", ""), *rows], "<>><")])


class _Poses:
    """A mechanism at some values of its independent coordinates, on one branch, with parameters that change."""

    def __init__(
        self,
        model: Model,
        parameters: ParameterSet,
        of: Sequence[str],
        q: Mapping[str, ArrayLike],
        u: Mapping[str, ArrayLike] | None,
        tau: Loads,
    ) -> None:
        self.parameters = parameters
        variables = computed_variables(model, of)
        self.names = [variable.name for variable in variables]
        self.units = {variable.name: variable.unit for variable in variables}
        self._unknowns = np.array([variable.reference for variable in variables], dtype=np.uint32)
        numbered = [type(v)(v.name, k, v.kind, v.unit, v.description) for k, v in enumerate(variables)]
        self.columns = columns_of(numbered)
        coordinates, count = _over_poses(model, q, "q")
        state = model.assemble({name: values[0] for name, values in coordinates.items()})
        chosen = choose_independent_coordinates(model, state, _requested(model, coordinates))
        self._x = _independent(model, chosen, coordinates, u, count)
        block = self._block = model.block()
        model.enter(block, state)
        loads = one(model.arguments.with_motions(state, model.arguments.loads(tau)), "tau")
        block.enter(*model.arguments.states(state, None), loads, state.time)
        self._minimal = Minimal(block, chosen.q, chosen.u)
        self._minimal.put(self._x[0])
        span = slice(model.fields["q"].first, model.fields["u"].span.stop)
        self._states, self._cut = block.reals[span], block.reals[model.fields["cut_reference"].span]
        self._base = self._states.copy(), block.step_accepted(), parameters.values

    def __len__(self) -> int:
        return len(self._x)

    def at(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return y (poses, n) and dy/dp (poses, n, p); one of `REFUSED`, which names the pose, where it has none."""
        block, minimal, n, p = self._block, self._minimal, len(self.names), len(self.parameters)
        y, dy = np.empty((len(self), n)), np.empty((len(self), n, p))
        pose = 0
        try:
            self.parameters.put(block, values)
            for pose, x in enumerate(self._x):
                minimal.put(x)
                block.step_accepted()
                if pose == 0:
                    base = self._states.copy(), self._cut.copy(), values.copy()
                block.evaluate(Stage.OUTPUTS)
                y[pose] = block.reals[self._unknowns]
                self._derive(block, dy[pose])
                if not (np.isfinite(y[pose]).all() and np.isfinite(dy[pose]).all()):
                    raise SingularityError(f"{quoted(self.names)} are not finite")
        except REFUSED as error:
            error.args = (f"pose {pose + 1} of {len(self)}: {error}",)
            self._restore()
            raise
        self._base = base
        self._restore()
        return y, dy

    def _derive(self, block: Block, dy: FloatArray) -> None:
        chosen = self.parameters
        for k in range(len(chosen)):
            moved = np.flatnonzero(chosen.weights[:, k])
            seed = np.ascontiguousarray(chosen.weights[moved, k])
            dy[:, k] = self._minimal.directional_derivative(self._unknowns, chosen.offsets[moved], seed)

    def _restore(self) -> None:
        """Return to the first pose of the parameters before."""
        states, cut, values = self._base
        self.parameters.put(self._block, values)
        self._states[:] = states
        self._block.count_revolutions(cut)


class _Stopped(Exception):
    """A search ends before its optimiser does; the text is the reason."""


class _Cost:
    """The objective with its derivatives, as an optimiser calls it."""

    def __init__(
        self,
        poses: _Poses,
        objective: Objective,
        gradient: Callable[[PoseValues], Mapping[str, ArrayLike]] | None,
        scale: FloatArray,
        most: int,
        progress: Progress,
    ) -> None:
        self.poses, self.parameters, self.objective, self.given = poses, poses.parameters, objective, gradient
        self.scale, self.most, self.progress = scale, most, progress
        self.how: Gradient = "complex step" if gradient is None else "given"
        self.history: list[FloatArray] = []
        self.costs: list[float] = []
        self.best: tuple[float, FloatArray, FloatArray] = (np.inf, poses.parameters.values, np.zeros(0))
        self.is_residual = True
        self._shape: tuple[int, ...] | None = None  # of the objective
        self._last: tuple[FloatArray, FloatArray, FloatArray] | None = None  # values, f, df

    def begin(self, values: FloatArray) -> None:
        """Evaluate the start, where nothing is refused, and choose how the objective is differentiated."""
        try:
            y, dy = self.poses.at(values)
        except REFUSED as error:
            start = self.parameters.describe(values)
            error.args = (f"the mechanism does not reach all poses with the start values {start}: {error}",)
            raise
        if self.given is None:
            self._choose(values, y, dy)
        f, df = self._evaluate(values, y, dy)
        idle = ~np.abs(np.concatenate([dy.reshape(-1, len(values)), df])).any(axis=0)
        if idle.any():
            names = [name for name, is_idle in zip(self.parameters.names, idle, strict=True) if is_idle]
            raise MechanismError(
                f"parameters without influence on the objective and on {quoted(self.poses.names)}: {quoted(names)}; "
                "leave them out, or list in `of` what they change"
            )
        if self.given is not None and f.any() and not df.any():
            raise MechanismError(
                "gradient is zero for all parameters at the start: give the derivatives by the values of `of`, or "
                "start elsewhere"
            )
        if f.any() and not df.any() and self._is_flat(values, y, dy, f):
            raise MechanismError(
                f"the objective does not depend on the parameters {quoted(self.parameters.names)} near the start: "
                "compute it from the values that it gets, or start elsewhere"
            )
        self.remember(values, f, df)

    def _is_flat(self, values: FloatArray, y: FloatArray, dy: FloatArray, f: FloatArray) -> bool:
        """Whether the objective is the same to the bit at all parameters next to these."""
        steps = FLAT * self.scale[:, None] * np.eye(len(values))
        return all(np.array_equal(self._call(y + dy @ step, values + step), f) for step in (*steps, *-steps))

    def at(self, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the objective (k,) and its derivative (k, p); infinite where a pose is out of reach."""
        if self._last is not None and np.array_equal(self._last[0], values):
            return self._last[1:]
        if len(self.costs) >= self.most:
            raise _Stopped("The maximum number of function evaluations is exceeded.")
        if not np.isfinite(values).all():
            raise _Stopped("The search found no further step.")
        try:
            y, dy = self.poses.at(values)
        except REFUSED:
            assert self._last is not None
            f, df = np.full_like(self._last[1], np.inf), np.zeros_like(self._last[2])
        else:
            f, df = self._evaluate(values, y, dy)
        self.remember(values, f, df)
        return f, df

    def remember(self, values: FloatArray, f: FloatArray, df: FloatArray) -> None:
        """Note an evaluation."""
        cost = _cost(f if self.is_residual else f[0])
        self.history.append(values.copy())
        self.costs.append(cost)
        if cost < self.best[0]:
            self.best = cost, values.copy(), f
        self._last = values.copy(), f, df
        if self.progress.due:
            self.progress.show(f"{len(self.costs)} evaluations; least cost {self.best[0]:.6g}")

    def _evaluate(self, values: FloatArray, y: FloatArray, dy: FloatArray) -> tuple[FloatArray, FloatArray]:
        f = self._call(y, values)
        with np.errstate(over="ignore", invalid="ignore"):
            is_finite = np.isfinite(_cost(f if self.is_residual else f[0]))
        if not is_finite:
            raise SolverError(f"the objective is not finite with {self.parameters.describe(values)}")
        if self.how == "given":
            df = self._by_given(values, y, dy, f)
        elif self.how == "complex step":
            df = self._by_complex_step(values, y, dy)
        else:
            df = self._by_differences(values, y, dy, np.eye(len(values)))
        if not np.isfinite(df).all():
            raise SolverError(
                f"the derivative of the objective is not finite with {self.parameters.describe(values)}; square roots "
                "and norms have none at zero: return residuals instead"
            )
        return f, df

    def _call(self, y: Any, values: Any) -> NDArray[Any]:
        found = self._called(self.objective, "the objective", y, values)
        try:
            array = np.asarray(found)
        except ValueError:  # rows of different lengths
            array = np.asarray(None)
        if array.ndim > 1 or array.dtype.kind not in "fiuc" or not array.size:
            what = f"an array of shape {array.shape}" if array.dtype.kind in "fiuc" else shortened(found)
            raise self._refusal(f"the objective must return one number or residuals (k,), not {what}")
        if self._shape not in (None, array.shape):
            raise self._refusal(
                f"the objective returned an array of shape {self._shape} before, and now {array.shape}: it must return "
                "the same residuals in each call"
            )
        self._shape, self.is_residual = array.shape, array.ndim == 1
        if array.dtype.kind == "c" and not np.iscomplexobj(y):
            if array.imag.any():
                raise self._refusal(
                    f"the objective must return real numbers for real values, not {shortened(found)}: take real and "
                    "imaginary part as residuals, for example"
                )
            array = array.real
        return array.astype(complex if array.dtype.kind == "c" else float).reshape(-1)

    def _called(self, function: Callable[[PoseValues], Any], what: str, y: Any, values: Any) -> Any:
        """Return what a function of a user's returns; where it raises in the search, the best design is kept."""
        try:
            return function(self._values(y, values))
        except Exception as error:
            if not self.costs:
                raise
            where = self.parameters.describe(np.real(values))
            raise SolverError(f"{what} raised {type(error).__name__}: {error}, with {where}") from error

    def _values(self, y: Any, values: Any) -> PoseValues:
        """Return copies for a function of a user's, who may write into them."""
        names = dict(zip(self.parameters.names, values, strict=True))
        return PoseValues(self.poses.names, self.poses.columns, y.copy(), names)

    def _refusal(self, text: str) -> MechanismError | SolverError:
        """Return the error on what a user's function returns: of an argument at the start, later of the search."""
        return SolverError(text) if self.costs else MechanismError(text)

    def _by_complex_step(self, values: FloatArray, y: FloatArray, dy: FloatArray) -> FloatArray:
        unit = np.eye(len(values))
        with warnings.catch_warnings():
            warnings.simplefilter("error", np.exceptions.ComplexWarning)
            columns = [
                self._call(y + 1j * STEP * dy[..., k], values + 1j * STEP * unit[k]).imag / STEP
                for k in range(len(values))
            ]
        return np.array(columns, dtype=float).T

    def _by_differences(self, values: FloatArray, y: FloatArray, dy: FloatArray, along: FloatArray) -> FloatArray:
        """Of the objective alone, along columns (p, n): central, with an error of h^4."""
        columns = []
        for direction in along.T:
            size = PROBE / np.max(np.abs(direction) / self.scale)
            slopes = []
            for h in (size, 2 * size):
                step, moved = h * (dy @ direction), h * direction
                slopes.append((self._call(y + step, values + moved) - self._call(y - step, values - moved)) / (2 * h))
            columns.append((4 * slopes[0] - slopes[1]) / 3)
        return np.array(columns).T

    def _by_given(self, values: FloatArray, y: FloatArray, dy: FloatArray, f: FloatArray) -> FloatArray:
        assert self.given is not None
        by_output = self._called(self.given, "gradient", y, values)
        if not isinstance(by_output, Mapping):
            raise self._refusal(
                f"gradient must return a dictionary of derivatives by name of a quantity, not {shortened(by_output)}"
            )
        df = np.zeros((len(f), len(values)))
        for name, given in by_output.items():
            if name not in self.poses.columns:
                raise MechanismNameError(f"gradient: of does not have {name!r}: {suggest(name, self.poses.columns)}")
            column = self.poses.columns[name]
            part = dy[:, column.first : column.first + column.count]
            shape = (len(f), *part.shape[: 1 + column.vector])
            try:
                array = np.asarray(given)
            except ValueError:  # rows of different lengths
                array = np.asarray(None)
            if array.dtype.kind not in "fiu" or array.shape not in (shape, shape[1:])[: 1 + (not self.is_residual)]:
                what = f"shape {array.shape}" if array.dtype.kind in "fiu" else shortened(given)
                raise self._refusal(f"gradient: {name!r} has {what}; it must be numbers of shape {shape}")
            df += array.reshape(len(f), -1) @ part.reshape(-1, len(values))
        return df

    def _choose(self, values: FloatArray, y: FloatArray, dy: FloatArray) -> None:
        """Take complex steps if they agree with differences along one direction."""
        direction = self.scale * np.linspace(1.0, 0.5, len(values))
        near = self._by_differences(values, y, dy, direction[:, None])[:, 0]
        try:
            exact = self._by_complex_step(values, y, dy) @ direction
        except (TypeError, ValueError, np.exceptions.ComplexWarning):
            self.how = "differences"
            return
        size = max(np.abs(near).max(), np.abs(exact).max(), np.finfo(float).tiny)
        if not np.abs(near - exact).max() <= AGREEMENT * size:
            self.how = "differences"


@checks_keywords
@on_one_thread
def design(
    mechanism: Mechanism | Model,
    parameters: Mapping[str, Bounds],
    objective: Objective,
    *,
    of: Sequence[str],
    q: Mapping[str, ArrayLike],
    u: Mapping[str, ArrayLike] | None = None,
    tau: Loads = None,
    combinations: Combinations | None = None,
    gradient: Callable[[PoseValues], Mapping[str, ArrayLike]] | None = None,
    rtol: float = 1e-12,
    max_evaluations: int = 500,
    progress: ProgressOption = None,
) -> Design:
    """Find parameters for which an objective over poses is least, by exact derivatives through the closed loops.

    Parameters
    ----------
    mechanism
        Or a compiled model.
    parameters
        By name of a parameter or combination ``(lower, upper)``, between which it stays, starting at the model's value;
        a number, at which it starts without bounds; or None, the same from the model's value.
    objective
        From the values of `of` over the poses, as ``values["tip.r"]``, to residuals (k,), whose sum of squares becomes
        least, or to one number. Written with numpy functions that take complex numbers its derivative is exact. The
        values have ``values.parameters`` as well.
    of
        Names of the quantities: "tip.r", "C.q", "A.a", "D.f".
    q
        The poses: coordinates (poses,) of independent joints by name, as many as degrees of freedom, in an order in
        which the mechanism passes through them.
    u
        Their speeds by joint name, a number or (poses,); by default at rest.
    tau
        Loads, as of `Model.accelerations`.
    combinations
        Parameters that move together, as of `parameter_jacobian`.
    gradient
        Derivatives of the objective by the values, by name, (k, poses) or (k, poses, 3), instead of complex steps. For
        an objective of one number they may be (poses,) or (poses, 3).
    rtol
        Relative change of cost or parameters at which the search ends.
    max_evaluations
        Of the objective.
    progress
        True: shown on standard error; a function: called with each update; None: only on a terminal.

    Raises
    ------
    AssemblyError, SingularityError
        If the mechanism does not reach all poses with the start values; the text names the pose.
    SolverError
        If the objective is not finite, the text names the parameters; if it returns later something else than at the
        start, such as other residuals, or raises. The best design so far is the error's `result`.

    Examples
    --------
    >>> import linkwork as lw
    >>> mech = lw.Mechanism("arm")
    >>> mech.add_body("arm", mass=1.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(1.0, 1.0))
    >>> mech.add_joint("A", lw.Revolute((0, 0, 1)), "ground", "arm", at=(0, 0, 0))
    >>> mech.add_point("tip", "arm", (0.8, 0.0, 0.0))
    >>> found = lw.design(
    ...     mech,
    ...     {"tip.point[1]": (0.1, 2.0), "tip.point[2]": (-1.0, 1.0)},
    ...     lambda values: (values["tip.r"] - [[0.9, 0.2, 0.0], [-0.2, 0.9, 0.0]]).ravel(),
    ...     of=["tip.r"],
    ...     q={"A": [0.0, 1.5707963267948966]},
    ... )
    >>> round(found["tip.point[1]"], 9), round(found["tip.point[2]"], 9)
    (0.9, 0.2)
    """
    model = model_of(mechanism)
    if not isinstance(parameters, Mapping) or not parameters:
        raise MechanismError(
            f"parameters must be a dictionary such as {{'crank.mass': (0.5, 2.0)}}, not {parameters!r}"
        )
    if not callable(objective):
        raise MechanismError(f"objective must be a function of the values over the poses, not {objective!r}")
    if not (gradient is None or callable(gradient)):
        raise MechanismError(f"gradient must be a function of the values over the poses, not {gradient!r}")
    if not 0.0 < number(rtol, "rtol") < 1.0:
        raise MechanismError(f"rtol must be between 0 and 1, not {rtol:g}")
    max_evaluations = whole_number(max_evaluations, "max_evaluations", 1)
    chosen = ParameterSet(model, list(parameters), combinations)
    if ignored := [v.name for v in model.variables if v.kind == "start" and v.name in chosen.elements]:
        raise MechanismError(
            f"parameters: {quoted(ignored)} are start values, on which no pose depends: leave them out"
        )
    start, lower, upper = _bounds(chosen, parameters)
    poses = _Poses(model, chosen, of, q, u, tau)
    scale = _scale(start, lower, upper)
    with Progress(progress) as shown:
        cost = _Cost(poses, objective, gradient, scale, max_evaluations, shown)
        try:
            cost.begin(start)
            search = _least_squares if cost.is_residual else _minimize
            converged, message = search(cost, start, lower, upper, rtol, max_evaluations)
        except _Stopped as stop:
            converged, message = False, str(stop)
        except SolverError as error:
            if np.isfinite(cost.best[0]):
                error.result = _design(cost, model, start, False, str(error))
            raise
    return _design(cost, model, start, converged, message)


def _least_squares(
    cost: _Cost, start: FloatArray, lower: FloatArray, upper: FloatArray, rtol: float, most: int
) -> tuple[bool, str]:
    from scipy.optimize import least_squares

    def residuals(x: FloatArray) -> FloatArray:
        return cost.at(x)[0]

    def slope(x: FloatArray) -> FloatArray:
        return cost.at(x)[1]

    if not np.any(cost.at(start)[0] @ cost.at(start)[1]):
        return True, "The derivative of the sum of squares is zero at the start."
    accuracy = max(rtol, 1e-15)
    options: dict[str, Any] = {"x_scale": cost.scale, "ftol": accuracy, "xtol": accuracy, "gtol": None}
    with np.errstate(invalid="ignore", divide="ignore"):  # of scipy, at a least without residuals
        found = least_squares(residuals, start, slope, bounds=(lower, upper), max_nfev=most, **options)
    return bool(found.success), str(found.message)


def _minimize(
    cost: _Cost, start: FloatArray, lower: FloatArray, upper: FloatArray, rtol: float, most: int
) -> tuple[bool, str]:
    from scipy.optimize import minimize

    size = max(abs(cost.best[0]), float(np.abs(cost.at(start)[1] * cost.scale).max())) or 1.0

    def scaled(x: FloatArray) -> tuple[float, FloatArray]:
        f, df = cost.at(x * cost.scale)
        return float(f[0]) / size, df[0] * cost.scale / size

    bounds = list(zip((lower / cost.scale).tolist(), (upper / cost.scale).tolist(), strict=True))
    options: Any = {"ftol": rtol, "maxiter": most}
    found = minimize(scaled, start / cost.scale, jac=True, method="SLSQP", bounds=bounds, options=options)
    return bool(found.success), str(found.message)


def _design(cost: _Cost, model: Model, start: FloatArray, converged: bool, message: str) -> Design:
    chosen, (_, values, found) = cost.parameters, cost.best
    y, dy = cost.poses.at(values)
    names = dict(zip(chosen.names, values.tolist(), strict=True))
    return Design(
        names,
        dict(zip(chosen.names, start.tolist(), strict=True)),
        found if cost.is_residual else float(found[0]),
        PoseValues(cost.poses.names, cost.poses.columns, y, dict(names)),
        dy,
        model.with_parameters(chosen.by_element(values)),
        np.array(cost.history),
        np.array(cost.costs),
        converged,
        message,
        cost.how,
        dict(zip(chosen.names, chosen.units, strict=True)) | cost.poses.units,
    )


def _cost(f: FloatArray | float) -> float:
    """Return the value of one number, or half the sum of squares of residuals."""
    return float(0.5 * np.dot(f, f)) if np.ndim(f) else float(f)


def _bounds(chosen: ParameterSet, parameters: Mapping[str, Bounds]) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return start, lower and upper bounds (p,)."""
    start, lower, upper = chosen.values.copy(), np.full(len(chosen), -np.inf), np.full(len(chosen), np.inf)
    for name, given in parameters.items():
        places = [k for k, n in enumerate(chosen.names) if n == name or n.startswith((f"{name}.", f"{name}["))]
        for k in places:
            label, unit = chosen.names[k], chosen.units[k]
            if given is None:
                continue
            if np.ndim(given) == 0:
                start[k] = number(given, f"start of {label!r}")
                continue
            pair = _as_numbers(given)
            if pair.shape != (2,) or np.isnan(pair).any():
                raise MechanismError(f"{label!r} must have (lower, upper), a start value or None, not {given!r}")
            lower[k], upper[k] = pair
            if not lower[k] < upper[k]:
                raise MechanismError(
                    f"bounds of {label!r} are in the wrong order: ({lower[k]:g}, {upper[k]:g}); give (lower, upper)"
                )
            if not lower[k] <= start[k] <= upper[k]:
                raise MechanismError(
                    f"{label!r} starts at {start[k]:g} {unit}, out of its bounds ({lower[k]:g}, {upper[k]:g}); widen "
                    "them, or start from model.with_parameters(...)"
                )
    return start, lower, upper


def _scale(start: FloatArray, lower: FloatArray, upper: FloatArray) -> FloatArray:
    """Return the magnitude of each parameter: half the width of its bounds, else its start, else 1."""
    width = np.where(np.isfinite(upper - lower), 0.5 * (upper - lower), np.abs(start))
    return np.where(width > 0.0, width, 1.0)


def _over_poses(model: Model, given: Mapping[str, ArrayLike], what: str) -> tuple[dict[str, FloatArray], int]:
    """Return values (poses, size of the joint) by joint name, and the number of poses."""
    if not isinstance(given, Mapping) or not given:
        raise MechanismError(f"{what} must be a dictionary by joint name such as {{'A': angles}}, not {given!r}")
    found: dict[str, FloatArray] = {}
    for name, values in given.items():
        span = model.arguments.span(model.numbering.q, name, what)
        array = _as_numbers(values)
        size = span.stop - span.start
        array = array.reshape(-1, 1) if size == 1 and array.ndim <= 1 else np.atleast_2d(array)
        if array.shape[1] != size or not len(array):
            raise MechanismError(
                f"{what} of joint {name!r} must be numbers (poses,) or (poses, {size}), not {shortened(values)}"
            )
        if not np.isfinite(array).all():
            bad = int(np.flatnonzero(~np.isfinite(array).all(axis=1))[0])
            raise MechanismError(f"{what} of joint {name!r} is not finite at pose {bad + 1}")
        found[name] = array
    counts = {name: len(array) for name, array in found.items()}
    if len(set(counts.values())) > 1:
        raise MechanismError(f"{what}: all joints need as many poses, not {counts}")
    return found, next(iter(counts.values()))


def _as_numbers(given: object) -> FloatArray:
    """Return an array; an empty one of three dimensions where these are no numbers."""
    try:
        return np.array(given, dtype=float)
    except (TypeError, ValueError):
        return np.empty((0, 0, 0))


def _requested(model: Model, coordinates: Mapping[str, FloatArray]) -> list[str]:
    names: list[str] = []
    for name, values in coordinates.items():
        kind = model.mechanism.joints[name].kind
        single = kind.quaternion is not None or values.shape[1] == 1
        names += [name] if single else [f"{name}[{k + 1}]" for k in range(values.shape[1])]
    return names


def _independent(
    model: Model,
    chosen: IndependentCoordinates,
    coordinates: Mapping[str, FloatArray],
    u: Mapping[str, ArrayLike] | None,
    count: int,
) -> FloatArray:
    """Return the independent coordinates and speeds at all poses, (poses, n)."""
    n = model.numbering
    q_all, u_all = np.zeros((count, n.nq)), np.zeros((count, n.nu))
    for name, values in coordinates.items():
        q_all[:, n.q[name]] = values
    if not isinstance(u, Mapping | None):
        raise MechanismError(f"u must be a dictionary by joint name such as {{'A': 2.0}}, not {u!r}")
    for name, given in (u or {}).items():
        span = model.arguments.span(n.u, name, "u")
        if name not in coordinates:
            raise MechanismError(f"u of joint {name!r} follows from the others: give speeds of {quoted(coordinates)}")
        array = _as_numbers(given)
        array = array.reshape(-1, 1) if span.stop - span.start == 1 else array
        try:
            u_all[:, span] = array
        except ValueError:
            raise MechanismError(f"u of joint {name!r} must be one speed or {count}, not {shortened(given)}") from None
        if not np.isfinite(u_all[:, span]).all():
            raise MechanismError(f"u of joint {name!r} is not finite")
    return np.hstack([q_all[:, list(chosen.q)], u_all[:, list(chosen.u)]])
