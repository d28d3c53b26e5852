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
