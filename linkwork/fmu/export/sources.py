"""Source FMUs: the C sources, with the model as an array among them, for the importer to compile.

The folder `sources` is the include directory. It holds what `csrc` does, and the folder `fmu_src`. Some builders put
all objects into one folder, so each C file has a name of its own; they know no flags, so each includes `source_fmu.h`,
which also hides all functions but those of FMI, from there to the end of the file.
"""

from pathlib import Path, PurePosixPath
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from linkwork.core.sources import fmu_sources

_PREFIX = '#include "fmu_src/source_fmu.h"\n'
_SUFFIX = "#ifndef _WIN32\n#pragma GCC visibility pop\n#endif\n"
_EMBEDDED = "fmu_src/fmu_embedded.c"
_RATES = "fmu_src/fmu_rates.c"
_WIDTH = 24  # bytes on a line


def source_files(
    model: bytes, interface: bytes, identifier: str, fmi: str, rates: bytes | None = None
) -> dict[str, bytes]:
    """Return what the folder `sources` of an FMU holds, by path in the archive.

    Parameters
    ----------
    model, interface
        The bytes of `resources/model.lwm` and `resources/interface.lwi`.
    identifier
        The FMU's name as a C identifier.
    fmi
        Version of the standard: that of 2.0 lists what to compile in the model description.
    rates
        Tapes as a file in C, from `rates_source`; None: there are none.
    """
    files = {}
    for name, path in _of_version(fmi).items():
        text = path.read_text(encoding="utf-8")
        if name.endswith(".c"):
            text = _PREFIX + text + _SUFFIX
        files[_place(name)] = text.encode()
    files[_EMBEDDED] = _embedded(model, interface, rates is not None).encode()
    if rates is not None:
        files[_RATES] = (_PREFIX + rates.decode() + _SUFFIX).encode()
    if fmi == "3.0":
        files["buildDescription.xml"] = _build_description(identifier, fmi, rates is not None)
    return {f"sources/{name}": text for name, text in files.items()}


def c_files(fmi: str, rates: bool = False) -> list[str]:
    """Return the files to compile, by path in the folder `sources`; `rates`: with compiled tapes among them."""
    common = [_place(name) for name in _of_version(fmi) if name.endswith(".c")]
    return [*common, _EMBEDDED, *([_RATES] if rates else ())]


def _of_version(fmi: str) -> dict[str, Path]:
    """The sources without the functions of other versions, so that a library exports those of its own alone."""
    own, all_versions = f"fmu_src/fmi{fmi[0]}", "fmu_src/fmi"
    return {
        name: path for name, path in fmu_sources().items() if name.startswith(own) or not name.startswith(all_versions)
    }


def _place(name: str) -> str:
    """Return where a source goes.

    >>> _place("csrc/include/linkwork.h"), _place("csrc/ode/run.c"), _place("csrc/ode/ode.h"), _place("fmu_src/log.c")
    ('linkwork.h', 'ode/ode_run.c', 'ode/ode.h', 'fmu_src/fmu_log.c')
    >>> _place("fmu_src/controllers/pid.c")
    'fmu_src/controllers/controllers_pid.c'
    """
    path = PurePosixPath(name.removeprefix("csrc/").removeprefix("include/"))
    folder = path.parent.name.removesuffix("_src")
    return str(path.with_name(f"{folder}_{path.name}") if path.suffix == ".c" and folder else path)


def _embedded(model: bytes, interface: bytes, rates: bool) -> str:
    arrays = (_array("model", model), _array("interface", interface))
    text = "const struct lw_rates_library *const linkwork_compiled_rates = "
    text += "&linkwork_rates;\n" if rates else "0;\n"
    if rates:
        text = "extern const struct lw_rates_library linkwork_rates;\n" + text
    return "\n".join((_PREFIX + '#include "embedded_resources.h"\n', *arrays, text, _SUFFIX))


def _array(name: str, data: bytes) -> str:
    rows = (data[i : i + _WIDTH] for i in range(0, len(data), _WIDTH))
    numbers = "\n".join("  " + ", ".join(map(str, row)) + "," for row in rows)
    return (
        f"const size_t linkwork_{name}_size = {len(data)};\n"
        f"const unsigned char linkwork_{name}[{len(data)}] = {{\n{numbers}\n}};\n"
    )


def _build_description(identifier: str, fmi: str, rates: bool) -> bytes:
    root = Element("fmiBuildDescription", fmiVersion="3.0")
    build = SubElement(root, "BuildConfiguration", modelIdentifier=identifier)
    sources = SubElement(build, "SourceFileSet", language="C11")
    for name in c_files(fmi, rates):
        SubElement(sources, "SourceFile", name=name)
    SubElement(sources, "IncludeDirectory", name=".")
    SubElement(build, "Library", name="m", external="true", description="the mathematical functions of C")
    indent(root)
    return bytes(tostring(root, encoding="utf-8", xml_declaration=True)) + b"\n"
