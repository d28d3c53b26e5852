"""Parameters of a mechanism from measured motions and loads.

At each instant the loads f of motors along rows B balance those of the motion, up to forces of the loops, which drop
out on the motions N that the loops leave:
    (N' B') f = N' (tau + Y (phi(p) - phi)),
tau those of the model as it is and Y the columns of `load_regressor`. Solved for the loads, so that their noise stays
as it is, the rows of all instants are a regression: linear for masses, moments, springs and dampers, else by
Gauss-Newton over phi(p), both after one QR of Y. Each motor has its own standard deviation, estimated from residuals
(weighted least squares, Gautier 1997). Motions without a motor give rows without loads.

Dry friction of a joint at rest is an unknown load h of its own, by c in the rows of the instant: these are projected
across c, so that h drops out.

Columns that follow from earlier ones in all motions are not identified alone: the earlier ones are, in combinations
with them, the base parameters (Gautier and Khalil 1990; Mayeda, Yoshida and Osuka 1990).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from linkwork._util.checks import FloatArray, whole_number
from linkwork._util.keywords import checks_keywords
from linkwork._util.named import NamedValues
from linkwork._util.names import quoted, suggest
from linkwork._util.one_thread import on_one_thread
from linkwork._util.registered import registered
from linkwork._util.text import aligned
from linkwork.analysis.configuration_space import ConfigurationSpace
from linkwork.analysis.inverse_dynamics import MOST_TURNS, SETTLED
from linkwork.analysis.load_regressor import Samples, Unknowns, load_columns
from linkwork.analysis.measured_motion import Measured, measured, rows_of
from linkwork.analysis.motors import Motors
from linkwork.analysis.pressed_loads import PressedLoads
from linkwork.errors import AssemblyError, LinkworkError, MechanismError, MechanismNameError, SolverError
from linkwork.mechanism import Mechanism
from linkwork.mechanism.friction import pressed
from linkwork.model.compile import model_of
from linkwork.results.base import ResultBase, TableResult

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from linkwork.model.model import Model

COLUMN_RANK_TOLERANCE = 1e-8  # of what is left of a column after earlier ones, relative to it
HELD_RANK_TOLERANCE = 1e-8  # of loads of friction at rest, columns of length one
IDLE = 1e-9  # of a column, relative to the loads of 1 kg or 1 N, that counts as zero
RANDOM_POSES = 4  # for each unknown, at least
MOST_ITERATIONS = 3  # of the standard deviations of the motors
DIFFERENCE = 1e-3  # of a parameter, for its derivatives
SHOWN = 1e-6  # of a weight in a combination, relative to the largest
UNACTUATED = "without motor"


@dataclass(frozen=True)
class Combination:
    """A linear combination of parameters that loads determine."""

    weights: dict[str, float]  # by parameter, that of the first is 1
    unit: str  # of the combination

    def __str__(self) -> str:
        terms: list[str] = []
        for name, weight in self.weights.items():
            sign = "-" if weight < 0 else "+" if terms else ""
            size = "" if abs(abs(weight) - 1.0) < 1e-9 else f"{abs(weight):.6g} "
            terms.append(f"{sign}{' ' if terms else ''}{size}{name}")
        return " ".join(terms)

    def value(self, parameters: Mapping[str, float]) -> float:
        """Return its value at values of the parameters by name."""
        return sum(weight * parameters[name] for name, weight in self.weights.items())


@checks_keywords
@dataclass(frozen=True, repr=False)
class BaseParameters(ResultBase):
    """What loads determine of the parameters of a mechanism, whatever its motion.

    `len` is the number of combinations; a loop gives them.

    Attributes
    ----------
    combinations
        Each `Combination`; one of a single parameter is that parameter.
    idle
        Parameters that no load depends on.
    parameters
        All that were asked for.
    """

    combinations: tuple[Combination, ...]
    idle: tuple[str, ...]
    parameters: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.combinations)

    def __iter__(self) -> Iterator[Combination]:
        return iter(self.combinations)

    def to_dict(self) -> dict[str, Any]:
        """Return combinations and parameters without influence as plain data."""
        combinations = [{"weights": one.weights, "unit": one.unit} for one in self]
        return {"combinations": combinations, "without_influence": list(self.idle), "parameters": list(self.parameters)}

    def __repr__(self) -> str:
        head = f"BaseParameters: {len(self)} combinations of {len(self.parameters)} parameters"
        lines = [head, *(f"  {combination}  [{combination.unit}]" for combination in self)]
        return "\n".join([*lines, f"  without influence: {', '.join(self.idle)}"] if self.idle else lines)


@checks_keywords
@dataclass(frozen=True, repr=False)
class Identification(TableResult, NamedValues[str]):
    """Parameters that were identified. A loop over it gives their names.

    Attributes
    ----------
    parameters
        Values by name. Those that are identified only in combinations are such that the combinations have their
        values; the later ones in a combination are the model's.
    std
        Standard deviations by name; NaN of a parameter that is identified only in combinations.
    combinations
        What is identified.
    values, deviations
        Of the combinations and their standard deviations, (r,).
    covariance
        Of the combinations, (r, r).
    idle
        Parameters that no load depends on; they are the model's.
    condition
        Of the regression, columns of length one: digits that the data may lose.
    residual_std
        Standard deviation of the loads of each motor, N m or N, as estimated from the residuals.
    t, residuals
        Times (n,), s, and measured loads less those of the model identified, (n, motors).
    motors
        Names of the loads.
    model
        The mechanism with the parameters identified; mass and moments of inertia on which no load depends are enlarged
        where a rigid body needs it. None if no rigid body has these numbers: ask for fewer, or begin with others.
    name
        Of the mechanism.
    at_rest
        By the name of each dry friction, how many rows say nothing of it, as its joint is at rest.
    left_out
        With friction by reactions, how many rows are left out, as any of these joints is at rest.
    """

    _index: ClassVar[str | None] = "combination"

    parameters: dict[str, float]
    std: dict[str, float]
    combinations: tuple[Combination, ...]
    values: FloatArray
    deviations: FloatArray
    covariance: FloatArray
    idle: tuple[str, ...]
    condition: float
    residual_std: dict[str, float]
    t: FloatArray
    residuals: FloatArray
    motors: tuple[str, ...]
    model: Model | None
    name: str
    units: dict[str, str] = field(default_factory=dict)
    at_rest: dict[str, int] = field(default_factory=dict)
    left_out: int = 0

    @property
    def names(self) -> list[str]:
        """Names of the parameters."""
        return list(self.parameters)

    def __getitem__(self, name: str) -> float:
        """Return the value of a parameter."""
        if name not in self.parameters:
            raise MechanismNameError(f"no parameter {name!r} was identified: {suggest(name, self.parameters)}")
        return self.parameters[name]

    def _table(self) -> dict[str, Any]:
        units = [combination.unit for combination in self.combinations]
        names = [str(combination) for combination in self.combinations]
        return {"combination": names, "value": self.values, "std": self.deviations, "unit": units}

    def to_dict(self) -> dict[str, Any]:
        """Return parameters, combinations, residuals' deviations and the condition as plain data."""
        rows = zip(self.combinations, self.values.tolist(), self.deviations.tolist(), strict=True)
        return {
            "parameters": self.parameters,
            "combinations": [
                {"weights": one.weights, "value": value, "std": std, "unit": one.unit} for one, value, std in rows
            ],
            "without_influence": list(self.idle),
            "residual_std": self.residual_std,
            "condition": self.condition,
            "rows": len(self.t),
            "at_rest": self.at_rest,
            "left_out": self.left_out,
        }

    @registered
    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Plot the residuals of the loads over time; save the picture if a path is given."""
        raise NotImplementedError

    def __repr__(self) -> str:
        n, r = len(self.t), len(self.combinations)
        head = f"Identification: {r} of {len(self.parameters)} from {n} rows, condition {self.condition:.3g}"
        found = zip(self.combinations, self.values, self.deviations, strict=True)
        rows = [(str(one), f"{value:.6g}", f"{std:.2g}", one.unit) for one, value, std in found]
        lines = [head, *aligned([("", "value", "std", ""), *rows], "<>><")]
        lines += [
            f"  residual of {name}: {std:.3g} {self.units.get(name, '')}".rstrip()
            for name, std in self.residual_std.items()
        ]
        all_rows = n + self.left_out
        lines += [f"  at rest: {name} in {rows} of {all_rows} rows" for name, rows in self.at_rest.items() if rows]
        return "\n".join([*lines, f"  without influence: {', '.join(self.idle)}"] if self.idle else lines)


@checks_keywords
@on_one_thread
def base_parameters(
    mechanism: Mechanism | Model, parameters: Sequence[str] | None = None, *, seed: int = 0
) -> BaseParameters:
    """Return which combinations of parameters the loads of motors determine, in any motion.

    Parameters
    ----------
    mechanism
        Or a compiled model.
    parameters
        As of `identify`; by default all bodies.
    seed
        Of the random motions at which the columns of the regression are compared.

    Examples
    --------
    >>> import linkwork as lw
    >>> mech = lw.Mechanism("pendulum")
    >>> mech.add_body("rod", mass=3.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(3.0, 1.0))
    >>> mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
    >>> lw.base_parameters(mech)
    BaseParameters: 3 combinations of 10 parameters
      rod.IO[2,2]  [kg.m2]
      rod.mc[1]  [kg.m]
      rod.mc[3]  [kg.m]
      without influence: rod.IO[1,1], rod.IO[1,2], rod.IO[1,3], rod.IO[2,3], rod.IO[3,3], rod.mc[2], rod.mass
    """
    model = model_of(mechanism)
    unknowns = Unknowns(model, parameters)
    space = _space(model)
    return _base(unknowns, _random_regression(space, unknowns, seed))


@checks_keywords
@on_one_thread
def identify(
    mechanism: Mechanism | Model,
    measurements: Any,
    parameters: Sequence[str] | None = None,
    *,
    motors: Sequence[str] | None = None,
    smoothing: float | Mapping[str, float] | None = None,
    seed: int = 0,
) -> Identification:
    """Identify masses, centres of mass, inertias, springs, dampers and friction from measured motions and loads.

    Dry friction is linear in the loads while it slides. Where its joint is at rest, slower than 1 % of its largest
    speed, its load is unknown: it drops out of the rows of that instant. With friction by reactions, whose pressing
    forces follow from all parameters, such instants are left out.

    Parameters
    ----------
    mechanism
        Or a compiled model, whose geometry is right. Its values of the parameters are where a nonlinear search begins,
        and what remains where data do not determine a parameter.
    measurements
        A `Result`, a pandas DataFrame, the path of a CSV file, or a dictionary of arrays, with columns by name:
        ``"time"`` (or ``"t"``), coordinates ``"A.q"``, speeds ``"A.u"``, accelerations ``"A.a"``, loads of motors
        ``"A.tau"`` or ``"motor.input"``, and applied wrenches ``"push.F[1]"``. Coordinates are those of all tree
        joints, or of as many joints as degrees of freedom. ``"q"``, ``"u"``, ``"udot"`` and ``"tau"`` are arrays over
        the tree joints. Speeds and accelerations that are absent are found by splines. Columns without a dot in their
        name are records of something else; all others must be variables of the mechanism.
    parameters
        ``"crank.mass"``, ``"crank.com"``, ``"crank.inertia[2,2]"``, ``"A.damping"``, ``"A.stiffness"``, ``"A.free"``,
        ``"A.reflected_inertia"``, ``"friction.coulomb"``, ``"friction.viscous"``, ``"friction.mu"``; first moments m c
        ``"crank.mc"`` and moments of inertia about the origin of the body's frame ``"crank.IO"``; a body for its mass
        and all of these moments. By default all bodies.
    motors
        Joints "A", single speeds "U[2]" and actuators whose loads were measured; by default those with a column that is
        not zero. All others have no load. A load beyond `max_load` of its joint counts as that limit, and an input as
        its actuator takes it, ranges included: as they act in a simulation.
    smoothing
        Standard deviation of the columns that splines differentiate, or by name of a column; by default splines
        interpolate. Three rows at each end are left out where splines are used.
    seed
        Of the random motions by which the combinations are found.

    Returns
    -------
    Identification
        Values with their standard deviations, which count noise of the loads, and what is identified.

    Raises
    ------
    MechanismError
        On data that do not determine what other motions would; the text names these combinations.
    AssemblyError
        If no closed pose is near a measured one.
    SolverError
        If a nonlinear search does not converge; its `result` is the best `Identification`.

    Examples
    --------
    >>> import linkwork as lw, numpy as np
    >>> mech = lw.Mechanism("pendulum")
    >>> mech.add_body("rod", mass=3.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(3.0, 1.0))
    >>> mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
    >>> t = np.linspace(0.0, 2.0, 50)
    >>> q, u, a = np.sin(3 * t), 3 * np.cos(3 * t), -9 * np.sin(3 * t)
    >>> tau = 2.0 * a + 0.3 * u - 12.0 * np.cos(q)
    >>> data = {"t": t, "A.q": q, "A.u": u, "A.a": a, "A.tau": tau}
    >>> found = lw.identify(mech, data, ["rod.IO[2,2]", "rod.mc[1]", "A.damping"])
    >>> {name: round(value, 6) for name, value in found.parameters.items()}
    {'rod.IO[2,2]': 2.0, 'rod.mc[1]': 1.223242, 'A.damping': 0.3}
    """
    model = model_of(mechanism)
    unknowns = Unknowns(model, parameters)
    space = _space(model)
    possible = _base(unknowns, _random_regression(space, unknowns, seed))
    idle = [name for name in possible.idle if name in unknowns.explicit]
    if idle:
        where = "" if unknowns.is_linear else " at the model's values, where a mass or stiffness may be zero"
        raise MechanismError(
            f"parameters: no load depends on {quoted(idle)}{where}, whatever the motion: leave them out"
        )
    if not len(possible):
        raise MechanismError(f"parameters: no load depends on any of {quoted(unknowns.names)}, whatever the motion")
    data = measured(space, measurements, motors, smoothing)
    is_pressed = bool(pressed(model.mechanism))
    regression = _PressedRegression(unknowns, space, data) if is_pressed else _Regression(unknowns, data)
    data = regression.data
    regression.check(possible)
    if len(data.t) <= len(possible):
        raise MechanismError(
            f"measurements: {len(data.t)} rows are left, and {len(possible)} combinations of parameters with "
            "their deviations need more: measure for longer"
        )
    return regression.solved()


class _Regression:
    """Rows of all instants, those of each motor together: weights (Y phi - b) is to be least."""

    def __init__(self, unknowns: Unknowns, data: Measured) -> None:
        self.unknowns, self.data = unknowns, data
        self.labels = _labels(data.motors, data.bases.shape[2])
        self.at_rest = dict(zip(data.frictions, data.at_rest.sum(axis=0).tolist(), strict=True))
        self.left_out = 0
        self._take(*self._equations())

    def _equations(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return loads by the numbers (n, dof, K), those of the model (n, dof), and of motors (n, dof, motors)."""
        data = self.data
        columns, loads = load_columns(self.unknowns, data.samples)
        by_rate = np.einsum("nud,nuk->ndk", data.bases, columns)
        rest = np.einsum("nud,nu->nd", data.bases, loads)
        return by_rate, rest, np.einsum("nud,nmu->ndm", data.bases, data.rows)

    def _take(self, by_rate: FloatArray, rest: FloatArray, acting: FloatArray) -> None:
        """Solve the equations for the loads."""
        data = self.data
        dof = rest.shape[1]
        # _spread: what rows change in the loads
        transforms, measured_loads, self._spread = _solved_for_loads(acting, data.loads)
        reference = self.unknowns.phi(self.unknowns.start)
        self.Y = transforms @ by_rate  # (n, rows, K)
        self.b = measured_loads - np.einsum("nrd,nd->nr", transforms, rest) + self.Y @ reference
        self._whole = self.Y, self.b
        self._transforms, self._measured = transforms, measured_loads
        self._held = self._find_held(transforms)
        self._drop_held(np.ones(dof))
        with np.errstate(over="ignore", invalid="ignore"):
            is_finite = np.isfinite([np.sum(self.Y**2), np.sum(self.b**2)]).all()
        if not is_finite:
            raise MechanismError("measurements: motions or loads are too large to compute with: check their units (SI)")

    def _find_held(self, transforms: FloatArray) -> FloatArray:
        return _held(self.data, transforms)

    def _drop_held(self, weights: FloatArray) -> None:
        """Project the rows, weighted, across the loads of friction at rest; count what is left of each row."""
        Y, b = (of.copy() for of in self._whole)
        self.count = np.full(len(weights), float(len(b)))  # (rows,)
        some = np.flatnonzero(self._held.any(axis=(1, 2)))
        if len(some):
            c = weights[:, None] * self._held[some]
            size = np.linalg.norm(c, axis=1, keepdims=True)
            left, values, _ = np.linalg.svd(c / np.where(size > 0.0, size, 1.0), full_matrices=False)
            left = left * (values > HELD_RANK_TOLERANCE)[:, None, :]
            across = np.eye(len(weights)) - left @ left.transpose(0, 2, 1)
            across *= weights / weights[:, None]
            Y[some], b[some] = across @ Y[some], np.einsum("nrs,ns->nr", across, b[some])
            self.count -= (left**2).sum(axis=(0, 2))
        self.Y, self.b = Y, b

    def check(self, possible: BaseParameters) -> None:
        """Refuse data that do not determine what other motions would."""
        slope = self.unknowns.slope(self.unknowns.start)
        rows = (self.Y @ slope).reshape(-1, slope.shape[1])
        kept, _, _ = independent_columns(rows)
        names = [next(iter(combination.weights)) for combination in possible]
        at = [self.unknowns.names.index(name) for name in names]
        lost = [combination for combination, k in zip(possible, at, strict=True) if k not in kept]
        if len(rows) < len(possible) or lost:
            found = min(len(kept), len(rows))
            what = quoted(str(combination) for combination in (lost or possible))
            raise MechanismError(
                f"the data ({len(self.data.t)} rows) determine {found} of {len(possible)} combinations; not "
                f"determined: {what}; measure a motion that moves all joints independently, or ask for fewer parameters"
            )

    def solved(self) -> Identification:
        """Return parameters for which the weighted sum of squares is least, and the weights that follow from it."""
        weights = np.ones(self.b.shape[1])
        p = self.unknowns.start.copy()
        for _ in range(MOST_ITERATIONS):
            self._drop_held(weights)
            p, kept, converged = self._least(p, weights)
            # Each class of rows bears its part of the parameters.
            free = max(self.count.sum() - len(kept), 1.0) / self.count.sum()
            squares = (self._residuals(p) ** 2).sum(axis=0)
            classes = [self._class(k) for k in range(len(squares))]
            counts = np.array([self.count[one].sum() for one in classes])
            spread = np.sqrt([squares[one].sum() for one in classes] / np.maximum(counts * free, 1e-300))
            if not spread.max() > 0.0 or len(set(self.labels)) == 1:
                break  # nothing to weigh
            # Rows of which nothing is left have no spread.
            weights = 1.0 / np.where(counts > 0.5, np.maximum(spread, 1e-9 * spread.max()), spread.max())
        found = self._identification(p, kept, spread)
        if not converged:
            raise SolverError(
                "the search did not converge: begin with model.with_parameters(...) nearer to the result, or ask for "
                "moments ('mc', 'IO'), in which it is linear",
                found,
            )
        return found

    def _class(self, row: int) -> list[int]:
        return [k for k, label in enumerate(self.labels) if label == self.labels[row]]

    def _residuals(self, p: FloatArray) -> FloatArray:
        left: FloatArray = self.b - self.Y @ self.unknowns.phi(p)
        return left

    def _least(self, p: FloatArray, weights: FloatArray) -> tuple[FloatArray, list[int], bool]:
        """Return the parameters, those that are identified, and whether the search converged."""
        K = self.Y.shape[-1]
        rows = np.concatenate([self.Y, self.b[..., None]], axis=-1) * weights[:, None]
        reduced = np.asarray(np.linalg.qr(rows.reshape(-1, K + 1), mode="r"))
        Y, b = reduced[:, :K], reduced[:, K]

        def left(values: FloatArray) -> FloatArray:
            found: FloatArray = Y @ self.unknowns.phi(values) - b
            return found

        kept = independent_columns(Y @ self.unknowns.slope(p))[0]
        if self.unknowns.is_linear:
            found = p.copy()
            slope = Y @ self.unknowns.slope(p)
            size = np.linalg.norm(slope[:, kept], axis=0)
            found[kept] -= np.linalg.lstsq(slope[:, kept] / size, left(p), rcond=None)[0] / size
            return found, kept, True
        found, converged = _searched(p, kept, left, lambda values: Y @ self.unknowns.slope(values))
        return found, kept, converged

    def _identification(self, p: FloatArray, kept: list[int], spread: FloatArray) -> Identification:
        unknowns, data = self.unknowns, self.data
        slope = self.Y @ unknowns.slope(p)
        base = _base(unknowns, slope.reshape(-1, slope.shape[-1]))
        slope = self._whole_slope(p, slope)
        weighted = (slope / np.maximum(spread, np.finfo(float).tiny)[:, None]).reshape(-1, slope.shape[-1])[:, kept]
        size = np.linalg.norm(weighted, axis=0)
        _, singular, right = np.linalg.svd(weighted / size, full_matrices=False)
        covariance = (right.T / singular**2) @ right / np.outer(size, size)
        deviations = np.sqrt(np.diag(covariance))
        values = dict(zip(unknowns.names, p.tolist(), strict=True))
        combined = {name for one in base for name in one.weights if len(one.weights) > 1}
        std = dict.fromkeys(unknowns.names, np.nan)
        for one, deviation in zip(base, deviations, strict=True):
            name = next(iter(one.weights))
            if name not in combined:
                std[name] = float(deviation)
        model = unknowns.model
        units = {v.name: v.unit for v in model.variables if v.name in data.motors}
        return Identification(
            values,
            std,
            base.combinations,
            np.array([one.value(values) for one in base]),
            deviations,
            covariance,
            base.idle,
            float(singular[0] / singular[-1]),
            {label: float(spread[k]) for k, label in enumerate(self.labels)},
            data.t,
            self._residuals(p),
            data.motors,
            _with(model, unknowns.physical(p, base.idle)),
            model.mechanism.name,
            units | dict(zip(unknowns.names, unknowns.units, strict=True)),
            self.at_rest,
            self.left_out,
        )

    def _whole_slope(self, p: FloatArray, slope: FloatArray) -> FloatArray:
        """Return the rows by the parameters, (n, rows, p), with all that follows from these."""
        return slope


def _searched(
    p: FloatArray,
    kept: list[int],
    left: Callable[[FloatArray], FloatArray],
    slope: Callable[[FloatArray], FloatArray] | None = None,
) -> tuple[FloatArray, bool]:
    """Return the parameters, of which `kept` change, for which `left` is least, and whether the search converged.

    Without `slope` derivatives are central differences.
    """
    from scipy.optimize import least_squares

    def inserted(some: FloatArray) -> FloatArray:
        values = p.copy()
        values[kept] = some
        return values

    def residuals(some: FloatArray) -> FloatArray:
        return left(inserted(some))

    options: dict[str, Any] = {"x_scale": "jac", "ftol": 1e-15, "gtol": None, "max_nfev": 200}
    if slope is None:
        options |= {"jac": "3-point", "diff_step": DIFFERENCE, "xtol": 1e-9}
    else:
        options |= {"jac": lambda some: slope(inserted(some))[:, kept], "xtol": 1e-15}
    with np.errstate(invalid="ignore", divide="ignore"):  # of scipy, at a least without residuals
        solution = least_squares(residuals, p[kept], method="trf", **options)
    return inserted(solution.x), bool(solution.success)


class _PressedRegression(_Regression):
    """With friction by reactions: its pressing forces follow from the parameters, and the derivatives with them.

    A friction at rest presses the others by a load that is not known, so that no row of its instant counts.
    """

    def __init__(self, unknowns: Unknowns, space: ConfigurationSpace, data: Measured) -> None:
        motors = Motors(space, data.motors)
        self._factors = np.ones(len(motors))  # forces of actuators by their inputs
        self._factors[motors.actuators[0]] = space.block["actuator_gain"][motors.actuators[1]]
        slides = np.array(~data.at_rest.any(axis=1), dtype=np.bool_)
        counts = dict(zip(data.frictions, data.at_rest.sum(axis=0).tolist(), strict=True))
        if not slides.any():
            raise MechanismError(
                "measurements: in every row a joint with dry friction is at rest, slower than 1 % of its largest speed"
            )
        data = rows_of(data, slides)
        self._loads = PressedLoads(unknowns, space, data.t, data.samples, motors.rows, data.bases.shape[2])
        self._pressing = np.zeros((len(data.t), len(data.frictions)))
        super().__init__(unknowns, data)
        self.at_rest, self.left_out = counts, int(np.sum(~slides))
        self._press(unknowns.start)

    def _equations(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        by_rate, rest, acting = self._loads.columns(self._pressing)
        return by_rate, rest, acting * self._factors

    def _find_held(self, transforms: FloatArray) -> FloatArray:
        return np.zeros((*transforms.shape[:2], 0))

    def _press(self, p: FloatArray) -> None:
        """Take the pressing forces of parameters, and the equations with these."""
        self._pressing, _ = self._settled(p)
        self._take(*self._equations())

    def _settled(self, p: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return pressing forces (n, frictions) and residuals (n, rows) at which the loads fit both."""
        phi, pressing = self.unknowns.phi(p), self._pressing
        loads: FloatArray | None = None
        for turn in range(MOST_TURNS):
            before, pressing = pressing, pressing.copy()
            load = self._loads.at(phi, loads, pressing).load
            left = self._measured - np.einsum("nrd,nd->nr", self._transforms, load)
            loads = self._factors * (self.data.loads - np.einsum("nmr,nr->nm", self._spread, left))
            change = np.abs(pressing - before) / pressing.max(axis=1, initial=1e-300, keepdims=True)
            # The first turn finds the loads that fit these forces: measured ones need not, even if they keep them.
            if turn and not (change > SETTLED).any():
                return pressing, left
        row, worst = np.argwhere(change > SETTLED)[0]
        raise MechanismError(
            f"measurements: at t = {self.data.t[row]:.6g} s friction {self.data.frictions[worst]!r} jams: the loads "
            "that it asks of the motors raise the force that presses its joint more and more; begin with a smaller mu"
        )

    def _least(self, p: FloatArray, weights: FloatArray) -> tuple[FloatArray, list[int], bool]:
        self._press(p)
        slope = self.Y @ self.unknowns.slope(p) * weights[:, None]
        kept = independent_columns(slope.reshape(-1, slope.shape[2]))[0]

        def left(values: FloatArray) -> FloatArray:
            try:
                found = self._settled(values)[1]
            except MechanismError:  # frictions jam so far away: the search turns back
                return np.full(self.b.size, np.inf)
            return (found * -weights).ravel()

        p, converged = _searched(p, kept, left)
        self._press(p)
        return p, kept, converged

    def _whole_slope(self, p: FloatArray, slope: FloatArray) -> FloatArray:
        """Return the same with the pressing forces that follow: by differences that are exact to the fourth order."""
        found = slope.copy()
        size = np.linalg.norm(slope, axis=(0, 1))
        load = float(np.linalg.norm(self._measured))
        for k in np.flatnonzero(size):
            step = np.zeros(len(p))
            step[k] = DIFFERENCE * (abs(p[k]) or load / size[k])
            near, far = (self._settled(p - h)[1] - self._settled(p + h)[1] for h in (step, 2.0 * step))
            found[..., k] = (8.0 * near - far) / (12.0 * step[k])
        return found


def _space(model: Model) -> ConfigurationSpace:
    """Return the poses of a model, which do not depend on friction by reactions: it jams none of them."""
    names = {v.name for v in model.variables}
    without = {f"{one.name}.{what}": 0.0 for one in pressed(model.mechanism) for what in ("mu", "static_mu")}
    return ConfigurationSpace(model.with_parameters({name: 0.0 for name in without if name in names}))


def _held(data: Measured, transforms: FloatArray) -> FloatArray:
    """Return how loads of friction at rest enter the rows of each instant, (n, rows, frictions); zero if it slides."""
    moved = np.einsum("nud,nfu->ndf", data.bases, data.friction_rows)
    moves = np.linalg.norm(moved, axis=1) > IDLE * np.linalg.norm(data.friction_rows, axis=2)
    found: FloatArray = (transforms @ moved) * (data.at_rest & moves)[:, None, :]
    return found


def independent_columns(matrix: FloatArray) -> tuple[list[int], FloatArray, list[int]]:
    """Return columns that do not follow from those before, how the others follow (kept, n), and those that are zero.

    By Gram and Schmidt, twice, on columns of length one.
    """
    size = np.linalg.norm(matrix, axis=0)
    largest = size.max(initial=0.0)
    idle = [k for k in range(matrix.shape[1]) if not size[k] > IDLE * max(largest, np.finfo(float).tiny)]
    kept: list[int] = []
    basis = np.zeros((len(matrix), 0))
    for k in range(matrix.shape[1]):
        if k in idle:
            continue
        rest = matrix[:, k] / size[k]
        for _ in range(2):
            rest = rest - basis @ (basis.T @ rest)
        norm = float(np.linalg.norm(rest))
        if norm > COLUMN_RANK_TOLERANCE and len(kept) < len(matrix):
            kept.append(k)
            basis = np.column_stack([basis, rest / norm])
    if not kept:
        return kept, np.zeros((0, matrix.shape[1])), idle
    weights = np.linalg.lstsq(matrix[:, kept] / size[kept], matrix, rcond=None)[0] / size[kept][:, None]
    return kept, weights, idle


def _base(unknowns: Unknowns, rows: FloatArray) -> BaseParameters:
    """Return the combinations that rows (n, p) of the loads by the parameters determine."""
    kept, weights, idle = independent_columns(rows)
    scale = np.linalg.norm(rows, axis=0)
    found = []
    for row, k in enumerate(kept):
        # compared by the load that each parameter's share makes
        share = np.abs(weights[row]) * scale[k] / np.where(scale > 0.0, scale, 1.0)
        members = [j for j in range(rows.shape[1]) if j not in kept and j not in idle and share[j] > SHOWN]
        found.append(
            Combination(
                {unknowns.names[k]: 1.0} | {unknowns.names[j]: float(weights[row, j]) for j in members},
                unknowns.units[k],
            )
        )
    return BaseParameters(tuple(found), tuple(unknowns.names[k] for k in idle), tuple(unknowns.names))


def _random_regression(space: ConfigurationSpace, unknowns: Unknowns, seed: int) -> FloatArray:
    """Return the loads by the parameters (rows, p) in random motions around the start."""
    rng = np.random.default_rng(whole_number(seed, "seed"))
    count = max(12, RANDOM_POSES * len(unknowns.names))
    states: list[FloatArray] = []
    speeds: list[FloatArray] = []
    accelerations: list[FloatArray] = []
    bases: list[FloatArray] = []
    origin = space.start.q[: space.nq]
    turn = np.where(space.is_rotation, 0.7, 0.5 * space.length)
    regular = np.inf
    for _ in range(20 * count):
        if len(states) == count:
            break
        found = space.closed(space.displaced(origin, turn * rng.standard_normal(space.nu)))
        if not found.found:
            continue
        basis = space.tangent().basis
        if basis.shape[1] > regular:
            continue
        if basis.shape[1] < regular:
            regular, states, speeds, accelerations, bases = basis.shape[1], [], [], [], []
        u = basis @ rng.standard_normal(basis.shape[1]) * space.length
        space.enter_speeds(u)
        part = np.array(space.block["acceleration"][: space.nu])
        states.append(found.q)
        speeds.append(u)
        accelerations.append(part + basis @ rng.standard_normal(basis.shape[1]) * space.length * 9.81)
        bases.append(basis)
    if not states:
        raise AssemblyError("no closed pose was found around the start of the mechanism")
    if not bases[0].size:
        raise MechanismError(
            "the mechanism has no degrees of freedom: its prescribed motions leave nothing to identify"
        )
    inputs = np.tile(unknowns.model.arguments.no_inputs, (len(states), 1))
    samples = Samples(np.array(states), np.array(speeds), np.array(accelerations), inputs)
    if pressed(unknowns.model.mechanism):
        rows_of_tree = np.eye(space.nu, space.model.numbering.nu_all)
        of_motion = PressedLoads(unknowns, space, np.zeros(len(states)), samples, rows_of_tree, bases[0].shape[1])
        by_rate = of_motion.columns(of_motion.pressing_of_least_loads())[0]
    else:
        by_rate = np.einsum("nud,nuk->ndk", np.array(bases), load_columns(unknowns, samples)[0])
    rows = by_rate @ unknowns.slope(unknowns.start)
    flat: FloatArray = rows.reshape(-1, rows.shape[-1])
    return flat


def _solved_for_loads(acting: FloatArray, loads: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return T (n, dof, dof) with rows T N' tau = loads, of motors first, and these measured loads (n, dof).

    Then the loads (n, motors, dof) by these rows.
    """
    n, dof, m = acting.shape
    transforms, found, spread = np.empty((n, dof, dof)), np.zeros((n, dof)), np.zeros((n, m, dof))
    left, values, right = np.linalg.svd(acting, full_matrices=True)
    ranks = np.sum(values > 1e-9 * values.max(axis=1, initial=0.0)[:, None], axis=1)
    for rank in np.unique(ranks):
        some = ranks == rank
        inverse = left[some][:, :, :rank].swapaxes(1, 2) / values[some][:, :rank, None]
        along = right[some][:, :rank]
        transforms[some, rank:] = left[some][:, :, rank:].swapaxes(1, 2)
        if rank == m:
            transforms[some, :rank] = along.swapaxes(1, 2) @ inverse
            found[some, :rank], spread[some] = loads[some], np.eye(m, dof)
            continue
        transforms[some, :rank] = inverse
        found[some, :rank] = np.einsum("nrm,nm->nr", along, loads[some])
        spread[some, :, :rank] = along.swapaxes(1, 2)
    return transforms, found, spread


def _labels(motors: Sequence[str], dof: int) -> list[str]:
    """Return what each row belongs to: a motor, all of more motors than degrees of freedom, or none."""
    if len(motors) > dof:
        return ["motors"] * dof
    return [*motors, *[UNACTUATED] * (dof - len(motors))]


def _with(model: Model, parameters: Mapping[str, float]) -> Model | None:
    """Return the model with values by name; None where no rigid body has them."""
    try:
        changed = model.with_parameters(parameters)
        changed.assemble()
    except LinkworkError:
        return None
    return changed
