"""What a variable is, and quantities of several."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from linkwork._util.names import suggest
from linkwork.errors import LinkworkError, MechanismError, MechanismNameError, UnknownNameError
from linkwork.mechanism.quantities import Kind, Type


@dataclass(frozen=True, slots=True)
class Variable:
    """One scalar variable.

    Attributes
    ----------
    name
        Structured name such as "A.q" or "coupler.r[1]".
    reference
        Offset in the block; the value reference in an FMU.
    kind
        What may be done with it.
    unit
        SI, "1" if none.
    description
        One line for users.
    start
        Default of parameters, start values and inputs, else None.
    derivative_of
        Name of the state whose derivative this is, else None.
    depends
        States and inputs that a derivative or output depends on, and "time"; None: on all of them.
    minimum, maximum
        Least and largest value allowed, else None.
    type
        What its number stands for; of a boolean 0 is false.
    discrete
        It changes at events alone.
    jumps
        A state that events may change.
    tunable
        A parameter that may be set while the mechanism moves.
    nominal
        A usual size of it; None: that of its unit.
    """

    name: str
    reference: int
    kind: Kind
    unit: str
    description: str
    start: float | None = None
    derivative_of: str | None = None
    depends: tuple[str, ...] | None = None
    minimum: float | None = None
    maximum: float | None = None
    type: Type = "real"
    discrete: bool = False
    jumps: bool = False
    tunable: bool = False
    nominal: float | None = None


@dataclass(frozen=True, slots=True)
class Column:
    """A quantity of one or more adjacent numbers in the block."""

    first: int
    count: int
    unit: str
    vector: bool


def columns_of(variables: Iterable[Variable]) -> dict[str, Column]:
    """Return every variable by name, and every group of elements by the name without its index.

    >>> r = [Variable(f"arm.r[{i + 1}]", 40 + i, "output", "m", "") for i in range(3)]
    >>> columns_of(r)["arm.r"], columns_of(r)["arm.r[2]"]
    (Column(first=40, count=3, unit='m', vector=True), Column(first=41, count=1, unit='m', vector=False))
    """
    found: dict[str, Column] = {}
    counts: dict[str, int] = {}
    for v in variables:
        found[v.name] = Column(v.reference, 1, v.unit, False)
        base, bracket, rest = v.name.rpartition("[")
        if bracket:
            base += rest.partition("]")[2]  # the end of "der(S.q[1])"
            counts[base] = counts.get(base, 0) + 1
            if base not in found:
                found[base] = Column(v.reference, 0, v.unit, True)
    for base, count in counts.items():
        found[base] = replace(found[base], count=count)
    return found


def matching(
    variables: Sequence[Variable],
    name: str,
    kinds: Collection[Kind],
    what: str = "",
    error: type[LinkworkError] = MechanismError,
    unknown: type[UnknownNameError] = MechanismNameError,
) -> list[Variable]:
    """Return the variables of some kinds that have a name, or that it begins up to a dot or bracket.

    `what` is the argument that messages begin with; `error` is raised for a variable of another kind, `unknown` for
    an unknown name.

    >>> r = [Variable(f"arm.r[{i + 1}]", 40 + i, "output", "m", "") for i in range(3)]
    >>> [v.name for v in matching(r, "arm", ["output"])]
    ['arm.r[1]', 'arm.r[2]', 'arm.r[3]']
    >>> matching(r, "arm.q", ["output"], "outputs")
    Traceback (most recent call last):
        ...
    linkwork.errors.MechanismNameError: outputs: the mechanism has no variable 'arm.q': did you mean 'arm.r' ...
    """
    beginnings = (f"{name}.", f"{name}[")
    found = [v for v in variables if v.name == name or v.name.startswith(beginnings)]
    fitting = [v for v in found if v.kind in kinds]
    if fitting:
        return fitting
    begin = f"{what}: " if what else ""
    if found:
        raise error(f"{begin}{found[0].name!r} is no {' or '.join(kinds)}: its kind is {found[0].kind!r}")
    full = [v.name for v in variables if v.kind in kinds]
    names = dict.fromkeys([*full, *(n.split("[")[0] for n in full), *(n.split(".")[0] for n in full)])
    raise unknown(f"{begin}the mechanism has no variable {name!r}: {suggest(name, names)}")
