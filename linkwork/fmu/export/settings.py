"""Settings of Co-Simulation, which are variables behind the block."""

from collections.abc import Iterator

from linkwork.mechanism.quantities import Quantity
from linkwork.variables.templates import Entity, Pattern, Place

_SETTINGS = (
    Quantity(
        *("{0}", "parameter", "setting", "1", "method that integrates in Co-Simulation"),
        type="enumeration",
    ),
    Quantity(
        *("{0}", "parameter", "setting", "1"),
        "relative and absolute tolerance in Co-Simulation; 0: the importer's, 1e-7 if it gives none",
        minimum=0.0,
    ),
)
SETTING_STARTS = (3.0, 0.0)

# The items of the enumeration: name, number, meaning.
SOLVERS = (
    ("dopri5", 1, "Dormand-Prince 5(4), explicit"),
    ("rodas5p", 2, "Rodas5P, linearly implicit: for stiff springs and dampers"),
    ("dop853", 4, "Dormand-Prince 8(5,3), explicit: for tight tolerances"),
    ("auto", 3, "dopri5 until stability limits its steps, then rodas5p while that costs less"),
)


def setting_entities(first: int) -> Iterator[Entity]:
    """Return the entity of the settings; their value references begin at `first`."""
    fields = {"setting": Place(first, 1)}
    for i, (name, quantity) in enumerate(zip(("solver", "tolerance"), _SETTINGS, strict=True)):
        yield Entity(Pattern([quantity], fields), (name, "", ""), (i,), lambda: (None,))
