"""State feedback u = u0 - K (x - x0), its gain that of the linear-quadratic regulator around an operating point.

Each u is held within its limits. There the loop is open, and an unstable plant may fall for any gain.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork._util.keywords import checks_keywords
from linkwork._util.names import suggest
from linkwork.controllers.built_in import native
from linkwork.controllers.controller import UNLIMITED
from linkwork.controllers.native.controller import NativeController
from linkwork.controllers.native.interface import Structure
from linkwork.errors import MechanismError, MechanismNameError

if TYPE_CHECKING:
    from linkwork.model.linear_model import LinearModel

FloatArray = NDArray[np.float64]


class StateFeedback(NativeController):
    """Inputs are the states by name, outputs the plant's inputs by name; gains and operating point are parameters."""

    law = "state_feedback"

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.x_names, self.u_names = self.setting("states", ["x"]), self.setting("inputs", ["u"])
        units: dict[str, str] = self.setting("units", {})
        K, x0, u0 = self.setting("K", [[1.0]]), self.setting("x0", [0.0]), self.setting("u0", [0.0])
        limits = {part: self.setting(part) for part in ("u_min", "u_max")}
        for name, start in zip(self.x_names, x0, strict=True):
            self.add_input(name, start, units.get(name, "1"), "measured")
        for name in self.u_names:
            self.add_output(name, units.get(name, "1"), "to the plant")
        for j, name in enumerate(self.x_names):
            self.add_parameter(f"x0[{j + 1}]", x0[j], units.get(name, "1"), f"operating point of {name}")
        for i, name in enumerate(self.u_names):
            self.add_parameter(f"u0[{i + 1}]", u0[i], units.get(name, "1"), f"operating point of {name}")
            for j, state in enumerate(self.x_names):
                unit = f"{units[name]}/({units[state]})" if name in units and state in units else "1"
                self.add_parameter(f"K[{i + 1},{j + 1}]", K[i][j], unit, f"{name} by {state}")
            for part, sign, text in (("u_min", -1, "lower"), ("u_max", 1, "upper")):
                start = limits[part][i] if limits[part] else sign * UNLIMITED
                self.add_parameter(f"{part}[{i + 1}]", start, units.get(name, "1"), f"{text} limit of {name}")
        self.add_sample_time()

    def structure(self) -> Structure:
        """Return the numbers of states and inputs of the plant."""
        return Structure((len(self.x_names), len(self.u_names)))


@checks_keywords
def gain(
    model: LinearModel,
    Q: ArrayLike,
    R: ArrayLike,
    *,
    states: Sequence[str] | None = None,
    inputs: Sequence[str] | None = None,
    sample_time: float = 0.0,
) -> FloatArray:
    """Return the gain K (m, n) that minimises the integral of x'Q x + u'R u.

    Parameters
    ----------
    model
        As of `linkwork.linearize`.
    Q, R
        (n, n) and (m, m), or their diagonals (n,) and (m,), or one number for all; symmetric, Q positive semidefinite
        and R positive definite.
    states, inputs
        Names in the order of K; by default all of the model. States left out must not act on those that are taken.
    sample_time
        s; not 0: for an input that is held between samples; the sum of x'Q x + u'R u is minimised, times `sample_time`.

    Returns
    -------
    ndarray
        K, (m, n): u = -K x, in the order of `inputs` and `states`.

    Raises
    ------
    MechanismError
        Where inputs cannot stabilise the states; the text names a motion.
    """
    rows, columns = _indices(model.states, states, "state"), _indices(model.inputs, inputs, "input")
    left = [i for i in range(len(model.states)) if i not in rows]
    if np.any(model.A[np.ix_(rows, left)]):
        raise MechanismError("states that are left out act on those taken: name all states, or a part that moves alone")
    A, B = model.A[np.ix_(rows, rows)], model.B[np.ix_(rows, columns)]
    its_Q, its_R = _weights(Q, len(rows), "Q"), _weights(R, len(columns), "R")
    if np.linalg.eigvalsh(its_Q)[0] < -1e-12 * np.abs(its_Q).max() or np.linalg.eigvalsh(its_R)[0] <= 0.0:
        raise MechanismError("Q must be positive semidefinite and R positive definite: give positive weights")
    _refuse_unreachable(A, B, [model.states[i] for i in rows])
    return _held(A, B, its_Q, its_R, sample_time) if sample_time > 0.0 else _continuous(A, B, its_Q, its_R)


_NO_SOLUTION = (
    "the Riccati equation has no stabilising solution: "
    "give each motion that does not die out by itself a weight in Q, or choose other weights"
)


def _continuous(A: FloatArray, B: FloatArray, Q: FloatArray, R: FloatArray) -> FloatArray:
    from scipy.linalg import solve_continuous_are

    try:
        P = solve_continuous_are(A, B, Q, R)
    except np.linalg.LinAlgError as error:
        raise MechanismError(_NO_SOLUTION) from error
    K = np.asarray(np.linalg.solve(R, B.T @ P), dtype=np.float64)
    if not np.linalg.eigvals(A - B @ K).real.max() < 0.0:
        raise MechanismError(_NO_SOLUTION)
    return K


def _held(A: FloatArray, B: FloatArray, Q: FloatArray, R: FloatArray, h: float) -> FloatArray:
    from scipy.linalg import expm, solve_discrete_are

    n, m = B.shape
    both = expm(h * np.block([[A, B], [np.zeros((m, n + m))]]))
    F, G = both[:n, :n], both[:n, n:]
    try:
        P = solve_discrete_are(F, G, Q, R)
    except np.linalg.LinAlgError as error:
        raise MechanismError(_NO_SOLUTION) from error
    K = np.asarray(np.linalg.solve(R + G.T @ P @ G, G.T @ P @ F), dtype=np.float64)
    if not np.abs(np.linalg.eigvals(F - G @ K)).max() < 1.0:
        raise MechanismError(_NO_SOLUTION)
    return K


def _refuse_unreachable(A: FloatArray, B: FloatArray, names: Sequence[str]) -> None:
    """Raise where a motion does not die out and no input reaches it: left eigenvectors with w'B = 0."""
    values, vectors = np.linalg.eig(A.T)
    scale = max(np.abs(A).max(initial=0.0), 1e-300)
    for value, vector in zip(values, vectors.T, strict=True):
        reach = np.linalg.svd(np.hstack([A - value * np.eye(len(A)), B]), compute_uv=False)[-1]
        if value.real >= -1e-9 * scale and reach <= 1e-9 * scale:
            most = names[int(np.abs(vector).argmax())]
            raise MechanismError(
                f"the inputs cannot stabilise the motion with eigenvalue {value:.4g} 1/s, "
                f"which is seen most in {most}: add an input that acts on it"
            )


def _indices(known: Sequence[str], names: Sequence[str] | None, what: str) -> list[int]:
    wanted = known if names is None else names
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise MechanismNameError(f"the model has no {what} {unknown[0]!r}; {suggest(unknown[0], known)}")
    if not wanted:
        raise MechanismError(f"the model has no {what} at all; it has {', '.join(known) or 'none'}")
    return [known.index(name) for name in wanted]


def _weights(given: ArrayLike, n: int, what: str) -> FloatArray:
    values = np.asarray(given, dtype=float)
    matrix = np.diag(np.broadcast_to(values, n)) if values.ndim == 0 or values.shape == (n,) else values
    if matrix.shape != (n, n) or not np.isfinite(matrix).all() or not np.allclose(matrix, matrix.T):
        raise MechanismError(f"{what} must be a symmetric matrix ({n}, {n}), its diagonal ({n},) or one number")
    return np.array(matrix)


def _holding(model: LinearModel, rows: list[int], columns: list[int]) -> FloatArray:
    """Return the loads to be added to the inputs so that the operating point is an equilibrium."""
    B, left = model.B[np.ix_(rows, columns)], model.xdot[rows]
    more = np.linalg.lstsq(B, -left, rcond=None)[0]
    remains = np.abs(left + B @ more)
    if remains.max() > 1e-6 * max(1.0, np.abs(left).max()):
        name = model.states[rows[int(remains.argmax())]]
        raise MechanismError(
            f"the inputs cannot hold the operating point: der({name}) stays {remains.max():.3g}; "
            "linearize at rest, and where the inputs balance the other loads"
        )
    return np.asarray(more, dtype=np.float64)


def _limits(given: ArrayLike | None, none: float, names: Sequence[str], what: str) -> FloatArray:
    values = np.asarray(none if given is None else given, dtype=float)
    if values.shape not in ((), (len(names),)) or np.isnan(values).any():
        raise MechanismError(f"{what} must be one number, or one for each of {', '.join(names)}")
    limits: FloatArray = np.clip(np.broadcast_to(values, len(names)), -UNLIMITED, UNLIMITED)
    return limits


def _refuse_beyond(u0: FloatArray, low: FloatArray, high: FloatArray, names: Sequence[str]) -> None:
    """Raise where the loads that hold the operating point are not within the limits."""
    for name, value, least, most in zip(names, u0, low, high, strict=True):
        if not least <= value <= most:
            raise MechanismError(
                f"{name} holds the operating point at {value:.4g}, which is not between u_min = {least:.4g} "
                f"and u_max = {most:.4g}: widen the limits, or linearize elsewhere"
            )


@native(StateFeedback)
@checks_keywords
def state_feedback(
    model: LinearModel,
    Q: ArrayLike,
    R: ArrayLike,
    *,
    states: Sequence[str] | None = None,
    inputs: Sequence[str] | None = None,
    sample_time: float = 0.0,
    names: dict[str, str] | None = None,
    u_min: ArrayLike | None = None,
    u_max: ArrayLike | None = None,
) -> dict[str, Any]:
    """Write u = u0 - K (x - x0) as an FMU, with the gain that `gain` finds for the same arguments.

    Parameters
    ----------
    model, Q, R, states, inputs, sample_time
        As of `gain`; the operating point is that of the model, u0 with the loads that hold it if `model.u` does not.
    names
        Other names of states and inputs in the FMU.
    u_min, u_max
        Limits of the inputs, in their units: one number for all or (m,); by default there are none.

    Raises
    ------
    MechanismError
        Where the inputs cannot stabilise the states, or cannot hold the operating point within their limits.
    """
    K = gain(model, Q, R, states=states, inputs=inputs, sample_time=sample_time)
    rows, columns = _indices(model.states, states, "state"), _indices(model.inputs, inputs, "input")
    shown = {name: (names or {}).get(name, name) for name in (*model.states, *model.inputs)}
    x, u = [shown[model.states[i]] for i in rows], [shown[model.inputs[i]] for i in columns]
    u0 = model.u[columns] + _holding(model, rows, columns)
    low, high = _limits(u_min, -UNLIMITED, u, "u_min"), _limits(u_max, UNLIMITED, u, "u_max")
    _refuse_beyond(u0, low, high, u)
    return {
        "states": x,
        "inputs": u,
        "units": {shown[name]: unit for name, unit in model.units.items() if name in shown},
        "K": K.tolist(),
        "x0": model.x[rows].tolist(),
        "u0": u0.tolist(),
        "u_min": low.tolist(),
        "u_max": high.tolist(),
        "sample_time": sample_time,
    }
