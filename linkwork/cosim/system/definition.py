"""A system: components that are FMUs, connections between their variables, parameter sets, an experiment."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from linkwork._util.attributes import KnownAttributes
from linkwork._util.keywords import checks_keywords
from linkwork.cosim.system.references import Reference, known, parse
from linkwork.errors import CosimError

Value = float | int | bool | str | tuple[float, ...]


@checks_keywords
@dataclass
class Component:
    """An FMU in a system.

    Attributes
    ----------
    name
        Its own in the system.
    fmu
        The FMU's file.
    parameters
        Values of variables that are set before initialisation: parameters, start values, inputs.
    required
        Inputs that must be connected or given; a run without that is an error.
    """

    name: str
    fmu: Path
    parameters: dict[str, Value] = field(default_factory=dict)
    required: tuple[str, ...] = ()


@checks_keywords
@dataclass(frozen=True)
class Connection:
    """From an output to an input, both as ``component.variable``; the input is ``factor * output + offset``.

    Values are converted where both have a unit, unless `convert_units` is False.
    """

    source: str
    target: str
    factor: float = 1.0
    offset: float = 0.0
    convert_units: bool = True


@checks_keywords
@dataclass
class Experiment:
    """The default span of a system's runs [s]; the start and stop time of an SSP."""

    t_start: float = 0.0
    t_end: float = 1.0


class SystemDefinition(KnownAttributes):
    """FMUs and the connections between them, as plain data; `System` adds files and pictures."""

    name: str
    description: str
    components: dict[str, Component]
    connections: list[Connection]
    parameter_sets: dict[str, dict[str, Value]]
    experiment: Experiment
    external_inputs: list[Connection]  # from names of the system, such as "speed", to inputs
    external_outputs: list[Connection]  # from outputs to names of the system
    _unpacked: object  # owns the folder of FMUs that came in an archive

    def __init__(self, name: str, *, description: str = "") -> None:
        self.name = name
        self.description = description
        self.components = {}
        self.connections = []
        self.parameter_sets = {}
        self.experiment = Experiment()
        self.external_inputs = []
        self.external_outputs = []
        self._unpacked = None

    def __repr__(self) -> str:
        counts = f"{len(self.components)} components, {len(self.connections)} connections"
        return f"{type(self).__name__}({self.name!r}: {counts})"

    @checks_keywords
    def add(
        self,
        name: str,
        fmu: str | os.PathLike[str],
        *,
        parameters: Mapping[str, Value] | None = None,
        required: Iterable[str] = (),
    ) -> Component:
        """Add an FMU under a name of its own.

        Parameters
        ----------
        name
            A new name, without white space and slashes.
        fmu
            The FMU's file, which is read when the system is checked or run.
        parameters
            Values of variables that are set before initialisation.
        required
            Inputs that must be connected or given.
        """
        if not name or any(letter.isspace() or letter in "/\\" for letter in name):
            raise CosimError(f"{name!r} cannot name a component: use letters, digits, '_' and '.'")
        if name in self.components:
            raise CosimError(f"there is a component {name!r} already; names are unique in a system")
        self.components[name] = Component(name, Path(fmu), dict(parameters or {}), tuple(required))
        return self.components[name]

    @checks_keywords
    def connect(
        self, source: str, target: str, *, factor: float = 1.0, offset: float = 0.0, convert_units: bool = True
    ) -> Connection:
        """Connect an output to an input.

        Parameters
        ----------
        source, target
            An output and an input, ``component.variable``.
        factor, offset
            The input is ``factor * output + offset``.
        convert_units
            Whether values are converted where both have a unit.
        """
        source, target = self.reference(source), self.reference(target)
        for other in self.connections:
            if other.target == target:
                raise CosimError(f"{target!r} is connected to {other.source!r} already; an input takes one connection")
        connection = Connection(source, target, factor, offset, convert_units)
        self.connections.append(connection)
        return connection

    def reference(self, name: str) -> Reference:
        """Return a ``component.variable`` with its parts.

        Parameters
        ----------
        name
            ``component.variable``; both may have dots in them.

        Returns
        -------
        Reference
            The same text, with the attributes `component` and `variable`.
        """
        return parse(name, self.components)

    def ends(self, connection: Connection) -> tuple[Reference, Reference]:
        """Return source and target of a connection between components with their parts.

        Parameters
        ----------
        connection
            Between components.
        """
        return self.reference(connection.source), self.reference(connection.target)

    @checks_keywords
    def add_parameter_set(self, name: str, values: Mapping[str, Value]) -> None:
        """Add values that a run can ask for by name, each for a ``component.variable``.

        Parameters
        ----------
        name
            A new name among the parameter sets.
        values
            By ``component.variable``.

        Examples
        --------
        >>> from linkwork.cosim import System
        >>> system = System("car")
        >>> plant = system.add("plant", "quarter_car.fmu", parameters={"strut.damping": 900.0})
        >>> system.add_parameter_set("soft", {"plant.strut.damping": 500.0})
        >>> system.parameters("soft")
        {'plant.strut.damping': 500.0}
        """
        if name in self.parameter_sets:
            raise CosimError(f"there is a parameter set {name!r} already")
        self.parameter_sets[name] = {self.reference(reference): value for reference, value in values.items()}

    def parameters(self, chosen: str | Iterable[str] = (), more: Mapping[str, Value] | None = None) -> dict[str, Value]:
        """Return all values as ``component.variable``: the components' own, then the sets chosen, then `more`.

        Parameters
        ----------
        chosen
            The name of a parameter set, or several; later ones override earlier ones.
        more
            Further values by ``component.variable``, over all others.
        """
        values: dict[str, Value] = {
            Reference(one.name, key): value for one in self.components.values() for key, value in one.parameters.items()
        }
        for name in [chosen] if isinstance(chosen, str) else chosen:
            values |= known(name, self.parameter_sets, "parameter set")
        return values | {self.reference(reference): value for reference, value in (more or {}).items()}
