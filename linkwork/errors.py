"""The exceptions of Linkwork: one type for each kind of failure, all of them `LinkworkError`."""


class LinkworkError(Exception):
    """Base of every exception that Linkwork raises on purpose; its text names the thing and the remedy."""


class MechanismError(LinkworkError):
    """The description of a mechanism is wrong or asks for an unsupported feature."""


class AssemblyError(LinkworkError):
    """The loops of a mechanism cannot be closed from the guess given."""


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


class CosimError(Unfinished):
    """A system of FMUs cannot be run, or its run stopped early; what had been computed is its `result`."""


class ExportError(LinkworkError):
    """A mechanism cannot be written as an FMU."""


class FmuError(LinkworkError):
    """An FMU cannot be read or reported a failure."""


class LinkworkWarning(UserWarning):
    """Base of every warning: legal, and nearly surely a mistake. The text names the thing and the remedy.

    A warning is shown once for a mechanism, when it is compiled, and obeys the filters of Python's `warnings`.

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


class SpringWarning(LinkworkWarning):
    """A spring cannot carry the weight that rests on it."""
