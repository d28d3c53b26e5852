"""The contents of an SSP archive, brought into a system."""

from __future__ import annotations

from pathlib import Path

from linkwork._util.temporary import TemporaryFolder
from linkwork.cosim.ssp.archive import Archive
from linkwork.cosim.ssp.bindings import Bindings
from linkwork.cosim.ssp.document import STRUCTURE, Document
from linkwork.cosim.ssp.elements import below, number_of, parse
from linkwork.cosim.ssp.links import Links
from linkwork.cosim.ssp.structure import Structure
from linkwork.cosim.ssp.values import given_values
from linkwork.cosim.system.definition import Experiment, SystemDefinition
from linkwork.errors import CosimError


class Folder(TemporaryFolder):
    """A temporary folder that copies of a system share and pickles lose."""

    def __deepcopy__(self, memo: object) -> Folder:
        return self

    def __reduce__(self) -> tuple[type[object], tuple[()]]:
        return object, ()


def read_into(system: SystemDefinition, path: Path, ssd: str = STRUCTURE) -> None:
    """Bring the contents of an archive into an empty system; see `linkwork.cosim.ssp.read`."""
    if not path.is_file():
        raise CosimError(f"there is no file {path}")
    folder = Folder("linkwork_ssp_")
    archive = Archive(str(path), path, folder.path)
    try:
        _fill(system, archive, ssd, folder)
    finally:
        archive.close()


def _fill(system: SystemDefinition, archive: Archive, ssd: str, folder: Folder) -> None:
    document = Document.open(archive, ssd)
    structure = Structure(document)
    links = Links(structure)
    bindings = Bindings(structure, links)
    system.name, system.description = document.root.get("name", ""), document.root.get("description", "")
    for name, component in structure.components.items():
        system.add(name, component.fmu, parameters=bindings.of(name), required=component.required)
    for connection in links.connections():
        system.connect(
            connection.source,
            connection.target,
            factor=connection.factor,
            offset=connection.offset,
            convert_units=connection.convert_units,
        )
    system.external_inputs, system.external_outputs = links.inputs(), links.outputs()
    for experiment in below(document.root, "DefaultExperiment"):
        t_start = number_of(experiment, "startTime", 0.0)
        system.experiment = Experiment(t_start, number_of(experiment, "stopTime", t_start + 1.0))
    _read_sets(system, structure)
    system._unpacked = folder


def _read_sets(system: SystemDefinition, structure: Structure) -> None:
    """Parameter files that nothing refers to; whether components are there is asked when one is used."""
    archive = structure.document.archive
    for file in archive.names:
        if not file.endswith(".ssv") or file in structure.bound:
            continue
        root = parse(archive.read(file), f"{archive.where}: {file}", "ParameterSet")
        name = root.get("name") or Path(file).stem
        if name in system.parameter_sets:
            raise CosimError(f"{archive.where} has two parameter sets {name!r}; rename one of them")
        values = given_values(root, structure.document.tables)
        system.parameter_sets[name] = {one.name: structure.in_own_unit(one) for one in values}
