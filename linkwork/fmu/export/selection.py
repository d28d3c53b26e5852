"""Which variables an FMU has, what part each plays, and what it depends on."""

from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field, replace

from linkwork._util.part_names import structured_name
from linkwork.errors import ExportError, ExportNameError
from linkwork.fmu.export.content import Causality, Entry, GroupTemplate, VariableGroup
from linkwork.mechanism.quantities import Kind
from linkwork.variables.schema import Variable, matching
from linkwork.variables.templates import COMPUTED, Entity, Pattern

_CAUSALITY: dict[str, Causality] = {
    "parameter": "parameter",
    "start": "parameter",
    "input": "input",
    "state": "local",
    "derivative": "local",
    "time": "independent",
    "indicator": "local",
}
_OUTPUTS: tuple[Kind, ...] = ("state", "derivative", "output")  # what may be an output
_INPUTS: tuple[Kind, ...] = ("input",)
_PARAMETERS: tuple[Kind, ...] = ("parameter",)


@dataclass(frozen=True)
class Choice:
    """How entities' variables become entries.

    Attributes
    ----------
    outputs, inputs
        For each entity that has chosen ones, which of its numbers; None: all inputs, all states and outputs.
    states
        Offsets of the states; None: all that can be.
    arrays
        Whether vectors become arrays.
    assembled
        Whether the values of the states at the start are known.
    freed
        Parameters that are inputs, for each entity that has some.
    """

    outputs: dict[int, set[int]] | None
    states: frozenset[int] | None = None
    arrays: bool = False
    assembled: bool = False
    inputs: dict[int, set[int]] | None = None
    freed: dict[int, set[int]] = field(default_factory=dict)
    _forms: dict[object, GroupTemplate] = field(default_factory=dict)

    def rows(self, entities: Iterable[Entity]) -> tuple[list[VariableGroup], list[Entity]]:
        """Return the rows of those entities that have any, and these entities."""
        rows = [(self.row(number, entity), entity) for number, entity in enumerate(entities)]
        found = [(row, entity) for row, entity in rows if row is not None]
        return [row for row, _ in found], [entity for _, entity in found]

    def row(self, number: int, entity: Entity) -> VariableGroup | None:
        """Return an entity's row; None if nothing of it is in the FMU."""
        chosen = None if self.outputs is None else frozenset(self.outputs.get(number, ()))
        offsets = entity.references
        dependent, unlisted = self._dependent(entity.pattern, offsets), self._unlisted(number, entity.pattern)
        freed = frozenset(self.freed.get(number, ()))
        key = (id(entity.pattern), chosen, dependent, unlisted, freed)
        if key not in self._forms:
            form = _form(_with_inputs(entity.pattern, freed), chosen, dependent, unlisted, self.arrays)
            self._forms[key] = _with_starts(form) if self.assembled else form
        form = self._forms[key]
        if len(form.first) < len(offsets):
            offsets = [offsets[i] for i in form.first]
        labels = tuple(map(structured_name, entity.labels))
        return VariableGroup(form, labels, offsets) if offsets else None

    def unlisted_inputs(self, entities: Iterable[Entity]) -> set[str]:
        """Return the names of the inputs that the FMU does not have; they keep their start values."""
        return {
            entity.pattern.variables[i].name.format(*entity.labels)
            for number, entity in enumerate(entities)
            for i in self._unlisted(number, entity.pattern)
        }

    def _unlisted(self, number: int, pattern: Pattern) -> frozenset[int]:
        """Those numbers of an entity that are inputs and not chosen."""
        if self.inputs is None or "input" not in pattern.kinds:
            return frozenset()
        chosen = self.inputs.get(number, ())
        return frozenset(i for i, v in enumerate(pattern.variables) if v.kind == "input" and i not in chosen)

    def _dependent(self, pattern: Pattern, offsets: list[int]) -> frozenset[int]:
        """Those numbers of an entity that are coordinates and speeds, but no states, and their derivatives."""
        if self.states is None or "state" not in pattern.kinds:
            return frozenset()
        numbers = list(zip(pattern.variables, offsets, strict=True))
        lost = {v.name for v, at in numbers if v.kind == "state" and at not in self.states}
        return frozenset(i for i, (v, _) in enumerate(numbers) if v.name in lost or v.derivative_of in lost)


def _with_inputs(pattern: Pattern, freed: frozenset[int]) -> Pattern:
    """Return a pattern some of whose parameters are inputs."""
    if not freed:
        return pattern
    changed = copy(pattern)
    changed.variables = [replace(v, kind="input") if i in freed else v for i, v in enumerate(pattern.variables)]
    return changed


def _form(
    pattern: Pattern, chosen: frozenset[int] | None, dependent: frozenset[int], unlisted: frozenset[int], arrays: bool
) -> GroupTemplate:
    found: list[tuple[Entry, int, tuple[int, ...]]] = []
    for quantity, span in zip(pattern.quantities, pattern.spans, strict=True):
        scalars = [None if i in unlisted else _entry(pattern.variables[i], i, chosen, i in dependent) for i in span]
        parts = {(e.causality, e.variable.kind) if e else None for e in scalars}
        first = scalars[0] if scalars else None
        if arrays and quantity.is_vector and len(parts) == 1 and first:
            found.append((_array(first, quantity.count), span.start, tuple(pattern.rules[i] for i in span)))
        else:
            found += [(e, i, (pattern.rules[i],)) for e, i in zip(scalars, span, strict=True) if e]
    rules = tuple(of if e.variable.kind in COMPUTED and i not in dependent else () for e, i, of in found)
    return GroupTemplate(tuple(e for e, _, _ in found), tuple(i for _, i, _ in found), rules)


def _with_starts(form: GroupTemplate) -> GroupTemplate:
    """Return a form whose states have start values."""
    entries = (replace(entry, assembled=entry.variable.kind == "state") for entry in form.entries)
    return replace(form, entries=tuple(entries))


def _entry(variable: Variable, i: int, chosen: frozenset[int] | None, dependent: bool) -> Entry | None:
    """Return what becomes of a pattern's number `i`; None: it is left out."""
    output = variable.kind in ("state", "output") if chosen is None else i in chosen
    if dependent:
        if not output and variable.kind == "derivative":
            return None
        variable = replace(variable, kind="output", derivative_of=None, jumps=False)
        return Entry(variable, "output" if output else "local")
    if output:
        return Entry(variable, "output")
    return Entry(variable, _CAUSALITY[variable.kind]) if variable.kind in _CAUSALITY else None


def _array(first: Entry, count: int) -> Entry:
    v = first.variable
    state = None if v.derivative_of is None else v.derivative_of.replace("[1]", "")
    whole = replace(
        v, name=v.name.replace("[1]", ""), description=v.description.replace("[1]", ""), derivative_of=state
    )
    return Entry(whole, first.causality, count)


def resolve_dependencies(
    # rows, entities: in the same order
    rows: Iterable[VariableGroup],
    entities: Iterable[Entity],
    known: dict[str, int],  # offsets of states, inputs and time by name
    # Names of coordinates and speeds that are no states: a variable that depends on one depends on all.
    others: set[str],
    unlisted: set[str],  # names of inputs that the FMU does not have: nothing depends on them
) -> None:
    """Write into rows what their entries depend on."""
    for row, entity in zip(rows, entities, strict=True):
        if not row.form.calculated:
            continue
        of_rule = [_offsets(names, known, others, unlisted, row) for names in entity.depends()]
        of_rule.append(None)  # without a rule
        if row.form.dependency is not None:
            row.depends = [of_rule[dependency] for dependency in row.form.dependency]
        else:
            row.depends = [_joined([of_rule[dependency] for dependency in rules]) for rules in row.form.rules]
        for i in row.form.states:
            row.depends[i] = [row.offsets[i]]


def add_parameters(rows: Iterable[VariableGroup], offsets: list[int]) -> None:
    """Let all that is computed, states aside, depend on parameters that are inputs."""
    if not offsets:
        return
    longer: dict[int, list[int]] = {}  # by the list, which neighbours share
    lists: list[list[int]] = []  # which keeps the numbers of these objects
    for row in rows:
        states = {i for i, entry in enumerate(row.form.entries) if entry.variable.kind == "state"}
        for i, knowns in enumerate(row.depends):
            if knowns is None or i in states:
                continue
            if id(knowns) not in longer:
                longer[id(knowns)] = sorted({*knowns, *offsets})
                lists.append(knowns)
            row.depends[i] = longer[id(knowns)]


def _offsets(
    names: Sequence[str] | None, known: dict[str, int], others: set[str], unlisted: set[str], row: VariableGroup
) -> list[int] | None:
    if names is None:
        return None
    try:
        return sorted({known[name] for name in names if name not in unlisted})
    except KeyError as missing:
        if any(name in others for name in names):
            return None
        raise ExportError(f"{row.labels[0]} depends on {missing}, which is no variable of the mechanism") from None


def _joined(lists: list[list[int] | None]) -> list[int] | None:
    if len(lists) == 1:
        return lists[0]
    return sorted({at for one in lists for at in one or ()}) if lists and None not in lists else None


def known_offsets(rows: Iterable[VariableGroup], entities: Iterable[Entity]) -> tuple[dict[str, int], set[str]]:
    """Return offsets of states, inputs and time by name, and the names of what would be states but is none."""
    known: dict[str, int] = {}
    others: set[str] = set()
    for row, entity in zip(rows, entities, strict=True):
        for i in row.form.knowns:
            first = row.form.first[i]
            for k in range(first, first + row.form.entries[i].size):
                known[entity.pattern.variables[k].name.format(*entity.labels)] = row.offsets[i]
        if "state" in entity.pattern.kinds:
            names = (v.name.format(*entity.labels) for v in entity.pattern.variables if v.kind == "state")
            others.update(name for name in names if name not in known)
    return known, others


def choose_outputs(
    entities: Sequence[Entity],  # of all variables of the mechanism
    # Names, or beginnings of names up to a dot or bracket: ``A`` takes ``A.q`` and ``A.f[1]``. Derivatives and states
    # may be among them. None: all states and outputs. Other states and derivatives stay readable, and other variables
    # are left out.
    outputs: Iterable[str] | None,
    continuous: bool = False,  # only real ones that change continuously
) -> dict[int, set[int]] | None:
    """Find the outputs that are asked for: for each entity by its position, which of its numbers."""
    chosen = _chosen(entities, outputs, _OUTPUTS, "outputs")
    return _continuous(entities, chosen, outputs, ("state", "output"), "outputs") if continuous else chosen


def choose_inputs(
    entities: Sequence[Entity], inputs: Iterable[str] | None, continuous: bool = False
) -> dict[int, set[int]] | None:
    """Find the inputs that are asked for; arguments, result and errors as of `choose_outputs`.

    ``A`` takes ``A.tau``, ``push`` all elements of ``push.F`` and ``push.T``. None: all inputs. An empty list: none.
    """
    chosen = _chosen(entities, inputs, _INPUTS, "inputs")
    return _continuous(entities, chosen, inputs, _INPUTS, "inputs") if continuous else chosen


def split_inputs(
    entities: Sequence[Entity], names: Iterable[str] | None
) -> tuple[list[str] | None, dict[int, set[int]]]:
    """Separate names of inputs from those of tunable parameters that are inputs as well.

    Returns
    -------
    the names that are none of parameters, and for each entity which of its parameters are inputs
    """
    if names is None:
        return None, {}
    rest: list[str] = []
    freed: dict[int, set[int]] = {}
    for name in [names] if isinstance(names, str) else names:
        found = [] if any(_matches(entities, name, _INPUTS)) else list(_matches(entities, name, _PARAMETERS))
        if not found:
            rest.append(name)
        for number, i in found:
            variable = entities[number].pattern.variables[i]
            if not variable.tunable or variable.type != "real":
                full = variable.name.format(*entities[number].labels)
                raise ExportError(
                    f"the parameter {full} cannot be an input: it is fixed until initialisation ends; choose masses, "
                    "springs, dampers or other tunable parameters"
                )
            freed.setdefault(number, set()).add(i)
    return rest, freed


def _continuous(
    entities: Sequence[Entity],
    chosen: dict[int, set[int]] | None,
    names: Iterable[str] | None,
    kinds: tuple[Kind, ...],
    what: str,
) -> dict[int, set[int]]:
    """Leave out variables that are no real numbers or change at events alone; refuse names that have no other."""

    def taken(variable: Variable) -> bool:
        return variable.type == "real" and not variable.discrete

    for name in [] if names is None else [names] if isinstance(names, str) else names:
        if not any(taken(entities[number].pattern.variables[i]) for number, i in _matches(entities, name, None)):
            raise ExportError(f"{what}: {name} is discrete, and this profile has continuous real variables alone")
    found: dict[int, set[int]] = {}
    for number, entity in enumerate(entities):
        variables = entity.pattern.variables
        wanted = [i for i, v in enumerate(variables) if v.kind in kinds] if chosen is None else chosen.get(number, ())
        kept = {i for i in wanted if taken(variables[i])}
        if kept:
            found[number] = kept
    return found


def _chosen(
    entities: Sequence[Entity], names: Iterable[str] | None, kinds: tuple[Kind, ...], what: str
) -> dict[int, set[int]] | None:
    if names is None:
        return None
    chosen: dict[int, set[int]] = {}
    for name in [names] if isinstance(names, str) else names:
        for number, i in _matching(entities, name, kinds, what):
            chosen.setdefault(number, set()).add(i)
    return chosen


def _matching(entities: Sequence[Entity], name: str, kinds: tuple[Kind, ...], what: str) -> list[tuple[int, int]]:
    found = list(_matches(entities, name, kinds))
    if not found:
        names = (
            replace(v, name=v.name.format(*entity.labels)) for entity in entities for v in entity.pattern.variables
        )
        matching(list(names), name, kinds, what, ExportError, ExportNameError)  # raises
    return found


def _matches(entities: Sequence[Entity], name: str, kinds: tuple[Kind, ...] | None) -> Iterator[tuple[int, int]]:
    """Entities and numbers of the variables of some kinds with this name or beginning."""
    beginnings = (f"{name}.", f"{name}[")
    for number, entity in enumerate(entities):
        if name not in entity.labels[0] and entity.labels[0] not in name:
            continue  # their variables have names with that of their entity in them
        for i, v in enumerate(entity.pattern.variables):
            full = v.name.format(*entity.labels)
            if (kinds is None or v.kind in kinds) and (full == name or full.startswith(beginnings)):
                yield number, i
