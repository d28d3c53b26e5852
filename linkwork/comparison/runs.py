"""What to compare: a formulation of the equations of motion and a solver, written as one word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from linkwork._util.names import suggest
from linkwork.errors import MechanismError, MechanismNameError
from linkwork.mechanism import Mechanism
from linkwork.model.compile import compile
from linkwork.model.methods import METHODS
from linkwork.solvers import solver_names
from linkwork.solvers.registry import ida_is_available

DAE_SOLVER = "ida"
DAE_FORMULATIONS: dict[str, dict[str, Any]] = {  # by their name in a run: the keywords of `simulate`
    "ggl": {"formulation": "ggl"},
    **{f"chou{scheme}": {"formulation": "chou", "scheme": scheme} for scheme in (1, 2, 3, 4)},
}
FORM = "write a run as FORMULATION/SOLVER, such as 'rcr/dopri5', or as SOLVER alone"


@dataclass(frozen=True)
class ComparisonRun:
    """One line of a comparison: a formulation and a solver, at every tolerance.

    Examples
    --------
    >>> ComparisonRun.parse("rcr/DOP853")
    ComparisonRun(formulation='rcr', solver='DOP853')
    >>> str(ComparisonRun.parse("Radau")), str(ComparisonRun.parse("ida"))
    ('auto/Radau', 'auto/ida')
    """

    # How loops are solved, as `compile` takes it ("auto", "rcr", "embedding", "multipliers", "dca"); or the
    # differential-algebraic equations that "ida" solves: "ggl", "chou1" to "chou4" (the number is the scheme).
    formulation: str
    solver: str  # as `simulate` takes it

    def __post_init__(self) -> None:
        formulations = ("auto", *METHODS, *DAE_FORMULATIONS)
        if self.formulation not in formulations:
            hint = suggest(self.formulation, formulations)
            raise MechanismNameError(f"run '{self}': there is no formulation {self.formulation!r}: {hint}")
        if self.solver not in solver_names():
            hint = suggest(self.solver, solver_names())
            raise MechanismNameError(f"run '{self}': there is no solver {self.solver!r}: {hint}")
        if self.is_dae and self.solver != DAE_SOLVER:
            raise MechanismError(
                f"run '{self}': formulation {self.formulation!r} is differential-algebraic, which {self.solver!r} does "
                f"not solve: write '{self.formulation}/{DAE_SOLVER}'"
            )

    @classmethod
    def parse(cls, text: object) -> ComparisonRun:
        """Read "FORMULATION/SOLVER" or "SOLVER", which alone solves what "auto" chooses."""
        if isinstance(text, cls):
            return text
        if not isinstance(text, str):
            raise MechanismError(f"a run must be a text, not {text!r}: {FORM}")
        parts = [part.strip() for part in text.split("/")]
        if len(parts) > 2 or not all(parts):
            raise MechanismError(f"run {text!r} is not understood: {FORM}")
        if len(parts) == 2:
            return cls(*parts)
        alone = parts[0]
        if alone in METHODS or alone in DAE_FORMULATIONS or alone == "auto":
            solver = DAE_SOLVER if alone in DAE_FORMULATIONS else "dopri5"
            raise MechanismError(f"run {text!r} names no solver: write '{alone}/{solver}'")
        return cls("auto", alone)

    @property
    def is_dae(self) -> bool:
        """Whether it solves differential-algebraic equations."""
        return self.formulation in DAE_FORMULATIONS

    @property
    def method(self) -> str:
        """How the system is to be compiled."""
        return "auto" if self.is_dae else self.formulation

    @property
    def keywords(self) -> dict[str, Any]:
        """Arguments of `simulate` in addition to tolerances and times."""
        return {"solver": self.solver, **DAE_FORMULATIONS.get(self.formulation, {})}

    def __str__(self) -> str:
        return f"{self.formulation}/{self.solver}"


def parse_runs(given: object, mech: Mechanism) -> list[ComparisonRun]:
    """Return the runs that were asked for, each once; by default those that suit the mechanism."""
    if given is None:
        return default_runs(mech)
    listed = [given] if isinstance(given, str | ComparisonRun) else given
    if not isinstance(listed, Sequence) or not listed:
        raise MechanismError(f"runs must be a list of at least one run, not {given!r}: {FORM}")
    return list(dict.fromkeys(map(ComparisonRun.parse, listed)))


def default_runs(mech: Mechanism) -> list[ComparisonRun]:
    """Every method that can take the mechanism with "dopri5", the first with two other solvers, and a DAE."""
    methods = _methods(mech)
    runs = [ComparisonRun(method, "dopri5") for method in methods]
    runs += [ComparisonRun(methods[0], solver) for solver in ("DOP853", "Radau")]
    if ida_is_available():
        runs.append(ComparisonRun("ggl", DAE_SOLVER))
    return runs


def _methods(mech: Mechanism) -> list[str]:
    """Those that compute in different ways: without loops or couplings, all but one are the same recursion."""
    system = compile(mech)
    if not system.topology.clusters:
        return ["auto", "dca"]
    return [method for method in METHODS if _takes(method, mech)] or ["auto"]


def _takes(method: str, mech: Mechanism) -> bool:
    try:
        compile(mech, method)
    except MechanismError:
        return False
    return True


def in_short(rtol: float) -> str:
    """Return a tolerance as text.

    >>> in_short(1e-4), in_short(2.5e-10), in_short(0.1)
    ('1e-4', '2.5e-10', '1e-1')
    """
    mantissa, exponent = f"{rtol:.2e}".split("e")
    return f"{mantissa.rstrip('0').rstrip('.')}e{int(exponent)}"
