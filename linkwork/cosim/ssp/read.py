"""Read archives of SSP 1.0 and 2.0 from any tool."""

from __future__ import annotations

from pathlib import Path

from linkwork.cosim.ssp.contents import read_into
from linkwork.cosim.ssp.document import STRUCTURE
from linkwork.cosim.system.system import System


def read_ssp(
    path: Path,
    ssd: str = STRUCTURE,  # which of its system structure descriptions to read
) -> System:
    """Read a system; its FMUs are unpacked into a folder that lives as long as the system or a copy of it.

    Nested systems and archives are flattened: ``plant`` in the system ``sub`` is the component ``sub.plant``. White
    space and slashes in names become underscores. Parameters bound to components or systems become the components'
    own; parameter files that nothing is bound to are the system's parameter sets. Connectors of the system itself are
    in `System.external_inputs` and `external_outputs`.
    """
    system = System("")
    read_into(system, path, ssd)
    return system
