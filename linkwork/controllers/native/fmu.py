"""Writes a built-in controller as an FMU of the C library, by the exporter of mechanisms."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from linkwork._util.files import with_suffix, write_archive
from linkwork._util.progress import ProgressOption
from linkwork.controllers.native.controller import NativeController
from linkwork.controllers.native.description import model_description
from linkwork.controllers.native.documentation import index_page
from linkwork.controllers.native.file import dependency_bytes
from linkwork.controllers.native.interface import interface_of
from linkwork.errors import FmuError, FmuNameError
from linkwork.fmu.export.instantiation_token import instantiation_token
from linkwork.fmu.export.libraries import library_files

VERSIONS = ("2.0", "3.0")


def write_controller(
    controller: NativeController,
    path: str | Path,
    fmi: str = "2.0",
    platforms: Iterable[str] | None = None,
    progress: ProgressOption = None,
) -> Path:
    """Write an instance of a built-in controller's class as an FMU; return the path.

    Parameters
    ----------
    controller
        Its variables and their present values, which are the start values, are those of the FMU.
    path, fmi, platforms, progress
        As of `export_fmu`.
    """
    if fmi not in VERSIONS:
        raise FmuNameError(f"there is no FMI version {fmi!r} here; choose {' or '.join(map(repr, VERSIONS))}")
    target = with_suffix(path, ".fmu", "an FMU", FmuError)
    if not target.absolute().parent.is_dir():
        raise FmuError(f"cannot write {target}: there is no folder {target.parent}; make it first")
    law, interface = controller.law, interface_of(controller, controller.depends_on_time)
    model, dependencies = controller.file(), dependency_bytes(interface, fmi)
    token = instantiation_token(model, dependencies)
    files = {
        "modelDescription.xml": model_description(interface, law, token, fmi),
        "documentation/index.html": index_page(controller, interface, law).encode(),
        "resources/model.lwm": model,
        "resources/interface.lwi": dependencies,
        **library_files(law, fmi, platforms, progress),
    }
    write_archive(target, files, FmuError)
    return target
