"""The exceptions of Linkwork: one type for each kind of failure, all of them `LinkworkError`.

An unknown name is an `UnknownNameError` and of the kind of its place: an unknown joint is a `MechanismError` as well.
"""

from typing import NamedTuple


class LinkworkError(Exception):
    """Base of every exception that Linkwork raises on purpose; its text names the thing and the remedy."""


class MechanismError(LinkworkError, ValueError):
    """A description, an input or an argument is wrong or asks for an unsupported feature; also a `ValueError`."""


class ClosureGap(NamedTuple):
    """What a closure of a mechanism misses where not all of them can be satisfied.

    Attributes
    ----------
    name, kind
        Its name; "joint" of a cut joint, "coupling", "motion" of a prescribed one, or "distance".
    gap
        By which the points of a joint miss, m; else the absolute residual in `unit`.
    misalignment
        Of the axes or the orientations of a joint, rad; else 0.
    unit
        Of the gap.
    parent, child
        Names of the bodies at its ends; empty of couplings and motions.
    """

    name: str
    kind: str
    gap: float
    misalignment: float
    unit: str
    parent: str
    child: str


class AssemblyError(LinkworkError):
    """The loops of a mechanism cannot be closed from the guess given.

    Attributes
    ----------
    closures
        What each `ClosureGap` misses in the least-squares compromise over all of them, the worst first; empty where
        something else is wrong.
    """

    closures: tuple[ClosureGap, ...] = ()


class SingularityError(LinkworkError):
    """The equations of motion have no unique solution in the present pose."""


class Unfinished(LinkworkError):
    """A computation stopped early.

    Attributes
    ----------
    result
        What had been computed until then, or None.
    """

    def __init__(self, message: str, result: object | None = None) -> None:
        super().__init__(message)
        self.result = result


class SolverError(Unfinished):
    """An integration stopped early; what had been computed is its `result`."""


class SolverValueError(SolverError, ValueError):
    """An argument of an integration is wrong, such as `rtol`, `atol` or `t_eval`; also a `ValueError`."""


class SolverTypeError(SolverValueError, TypeError):
    """An argument of an integration is of a wrong type; also a `TypeError`."""


class LoadsError(Unfinished):
    """Loads of motors that a motion needs do not exist from some time on; those before are its `result`."""


class EquilibriumError(Unfinished):
    """There is no pose of rest, or none was found; its `result` is the `Equilibrium` of the last pose, or None."""


class CosimError(Unfinished):
    """A system of FMUs cannot be run, or its run stopped early; what had been computed is its `result`."""


class UnreachableError(Unfinished):
    """Targets of inverse kinematics are not reached; its `result` is the nearest poses found, or None."""


class ExportError(LinkworkError):
    """A mechanism cannot be written as an FMU."""


class FmuError(LinkworkError):
    """An FMU cannot be read or reported a failure."""


class UnknownNameError(LinkworkError, KeyError):
    """A name is unknown; also a `KeyError`. The text suggests the nearest known names.

    >>> import linkwork as lw
    >>> mech = lw.Mechanism("pendulum")
    >>> mech.add_body("rod", mass=1.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(1.0, 1.0))
    >>> try:
    ...     mech.add_force(lw.Wrench("rot"))
    ... except KeyError as error:
    ...     print(error)
    Wrench 'wrench': there is no body 'rot': did you mean 'rod'? (bodies are added first)
    """

    __str__ = Exception.__str__  # that of KeyError quotes the text


class MechanismNameError(UnknownNameError, MechanismError):
    """A name that a mechanism, or a function of mechanisms, does not know."""


class SolverNameError(UnknownNameError, SolverError):
    """A name that no solver has."""


class CosimNameError(UnknownNameError, CosimError):
    """A name that a system of FMUs, or its result, does not know."""


class ExportNameError(UnknownNameError, ExportError):
    """A name that the export does not know."""


class FmuNameError(UnknownNameError, FmuError):
    """A name that an FMU, or a function of FMUs, does not know."""


class LinkworkWarning(UserWarning):
    """Base of every warning: legal, and nearly surely a mistake. The text names the thing and the remedy.

    A warning is shown once for a mechanism, when it is compiled or assembled, or for a file, when it is read, and obeys
    the filters of Python's `warnings`.

    Examples
    --------
    >>> import warnings
    >>> warnings.simplefilter("ignore", LinkworkWarning)  # none of them; or one kind, such as DegreesWarning
    """


class InertiaWarning(LinkworkWarning):
    """The inertia of a body is larger than that of any shape of its size."""


class DegreesWarning(LinkworkWarning):
    """A start angle has probably been given in degrees; angles are in rad."""


class JointFrameWarning(LinkworkWarning):
    """The frame of a joint in one of its bodies has probably been forgotten."""


class RoundingWarning(LinkworkWarning):
    """Frames of joints were made exact, so that loops move or close, by more than numbers with ten digits are off."""


class InitializationWarning(LinkworkWarning):
    """An FMU is written that cannot be initialised with its default start values: they do not assemble."""


class ExportWarning(LinkworkWarning):
    """An FMU is written with compiled tapes for some of its platforms, not for all."""


class SpringWarning(LinkworkWarning):
    """A spring cannot carry the weight that rests on it."""


class StartValueWarning(LinkworkWarning):
    """A start value that was given is out of reach or contradicts others: the state has another value.

    The state lists all of them: `State.changed_start_values`.
    """


class RowsWarning(LinkworkWarning):
    """Rows of a long run are further apart than what turns between them."""


class KinkWarning(LinkworkWarning):
    """A derivative differs on both sides of a state: a formula or a linear table has a kink there."""


class UnitWarning(LinkworkWarning):
    """A file names a unit that it does not define: values are taken without conversion."""
