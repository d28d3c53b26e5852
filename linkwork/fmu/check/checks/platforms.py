"""The libraries in the archive: where they lie, what they are, what they export and need."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import PurePosixPath

from linkwork.fmu.check.elf import read_elf
from linkwork.fmu.check.fmu import Fmu
from linkwork.fmu.check.registry import check
from linkwork.fmu.check.report import Finding, NotApplicable, error, note, warning

_TUPLE = re.compile(r"(aarch32|aarch64|riscv32|riscv64|x86|x86_64|ppc32|ppc64)-(darwin|linux|windows)(-[A-Za-z0-9]+)?")
_FMI2 = {
    "win32": ("x86", "windows"),
    "win64": ("x86_64", "windows"),
    "linux32": ("x86", "linux"),
    "linux64": ("x86_64", "linux"),
    "darwin32": ("x86", "darwin"),
    "darwin64": ("x86_64", "darwin"),
}
_SUFFIXES = {"windows": ".dll", "linux": ".so", "darwin": ".dylib"}
_MACH_O = {bytes.fromhex(one) for one in ("feedface", "feedfacf", "cefaedfe", "cffaedfe", "cafebabe")}
# What a Linux has without anything installed.
_SYSTEM = re.compile(r"(libc|libm|libdl|libpthread|librt|libgcc_s|ld-linux[^.]*)\.so(\.\d+)*")
_OLDEST = (2, 17)


def platform_of(folder: str, fmi2: bool) -> tuple[str, str] | None:
    """Return architecture and operating system that a folder of binaries means, or None if it means none."""
    if fmi2 and folder in _FMI2:
        return _FMI2[folder]
    found = _TUPLE.fullmatch(folder)
    return (found[1], found[2]) if found else None


@check("binaries", "libraries lie in folders of known platforms, for each interface, and are of that platform")
def binaries(fmu: Fmu) -> Iterator[Finding]:
    """Look at the folders of binaries."""
    folders = _folders(fmu)
    sources = any(name.startswith("sources/") for name in fmu.names)
    if not folders and not sources:
        yield error("there are neither binaries nor sources; nothing can run this FMU")
    if not folders and sources:
        yield note("there are sources but no binaries; importers must compile it")
    for folder, names in folders.items():
        platform = platform_of(folder, fmu.description.fmi2)
        if platform is None:
            known = "win64, linux64, darwin64 or x86_64-linux" if fmu.description.fmi2 else "x86_64-linux"
            yield error(f"binaries/{folder} is no platform of FMI {fmu.description.version}; write it as {known}")
            continue
        for kind, identifier in _identifiers(fmu):
            wanted = identifier + _SUFFIXES[platform[1]]
            if wanted not in names:
                near = [name for name in names if PurePosixPath(name).stem == identifier]
                hint = f"; there is {near[0]}, which has another suffix" if near else ""
                yield error(f"binaries/{folder}/{wanted} is missing, which {kind} needs{hint}")
            else:
                yield from _magic(fmu, f"binaries/{folder}/{wanted}", platform)


@check("exports", "the libraries export every function of their version of FMI, by its plain name")
def exports(fmu: Fmu) -> Iterator[Finding]:
    """Compare the symbols with the standard's list, in libraries of Linux."""
    for where in _of_linux(fmu):
        try:
            have = read_elf(fmu.file(where)).exports
        except ValueError as problem:
            yield error(f"{where} cannot be read: {problem}")
            continue
        yield from _exported(fmu, where, have)


@check("needs", "the libraries need nothing but what every system has, and no new glibc")
def needs(fmu: Fmu) -> Iterator[Finding]:
    """Look at needed libraries and versions, in libraries of Linux."""
    for where in _of_linux(fmu):
        try:
            library = read_elf(fmu.file(where))
        except ValueError:
            continue  # the check of exports reports it
        beside = {PurePosixPath(name).name for name in fmu.names}
        strange = [one for one in library.needs if not _SYSTEM.fullmatch(one) and one not in beside]
        if strange:
            yield warning(
                f"{where} needs {', '.join(strange)}, which not every system has; link it in or pack it as well"
            )
        if library.glibc and library.glibc > _OLDEST:
            version = ".".join(map(str, library.glibc))
            yield note(f"{where} needs glibc {version}; built against 2.17 it would run on older systems too")


def _folders(fmu: Fmu) -> dict[str, set[str]]:
    folders: dict[str, set[str]] = defaultdict(set)
    for name in fmu.names:
        parts = PurePosixPath(name).parts
        if len(parts) >= 3 and parts[0] == "binaries":
            folders[parts[1]].add("/".join(parts[2:]))
    return folders


def _identifiers(fmu: Fmu) -> Iterator[tuple[str, str]]:
    for element in fmu.description.kinds.values():
        yield element.tag, element.get("modelIdentifier", "")


def _libraries(fmu: Fmu) -> Iterator[tuple[str, tuple[str, str]]]:
    """The libraries that there are, each once, with its platform."""
    for folder, names in _folders(fmu).items():
        platform = platform_of(folder, fmu.description.fmi2)
        if platform is not None:
            wanted = {identifier + _SUFFIXES[platform[1]] for _, identifier in _identifiers(fmu)}
            yield from ((f"binaries/{folder}/{name}", platform) for name in sorted(wanted & names))


def _of_linux(fmu: Fmu) -> list[str]:
    found = [where for where, platform in _libraries(fmu) if platform[1] == "linux"]
    if not found:
        raise NotApplicable("no library of Linux; symbols and needs of others are not read")
    return found


def _magic(fmu: Fmu, where: str, platform: tuple[str, str]) -> Iterator[Finding]:
    architecture, system = platform
    start = fmu.file(where).read_bytes()[:4]
    is_kind = {"linux": start == b"\x7fELF", "windows": start[:2] == b"MZ", "darwin": start in _MACH_O}
    if not is_kind[system]:
        yield error(f"{where} is no shared library of {system}; build it for {architecture}-{system}")
    elif system == "linux":
        try:
            machine = read_elf(fmu.file(where)).machine
        except ValueError:
            return
        if machine != architecture:
            yield error(f"{where} is built for {machine}; its folder is that of {architecture}")


def _exported(fmu: Fmu, where: str, have: set[str]) -> Iterator[Finding]:
    one = fmu.description
    kinds = {kind for kind, element in one.kinds.items() if element.get("modelIdentifier") == PurePosixPath(where).stem}
    must = required(one.fmi2, kinds)
    missing = sorted(must - have)
    prefixed = f"{PurePosixPath(where).stem}_{missing[0]}" in have if missing else False
    if missing:
        hint = "; they carry a prefix, which only static libraries may" if prefixed else "; export them"
        yield error(f"{where} lacks {len(missing)} functions: {_some(missing)}{hint}")
    other = sorted(standard(one.fmi2) - must - have)
    if other and not one.fmi2:
        yield warning(f"{where} lacks {_some(other)}; FMI 3.0 wants all its functions, even where they only fail")
    # One library may serve both versions.
    strange = sorted(have - standard(True) - standard(False) - {"_init", "_fini"})
    if strange:
        yield note(f"{where} exports {len(strange)} symbols that are not of FMI ({_some(strange)}); hide them")


def _some(names: list[str]) -> str:
    return ", ".join(names[:4]) + (", ..." if len(names) > 4 else "")


def _named(prefix: str, names: str) -> frozenset[str]:
    return frozenset(prefix + name for name in names.split())


_NUMBERS3 = [f"{sign}Int{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64)]
_TYPES3 = ["Float32", "Float64", *_NUMBERS3, "Boolean", "String", "Binary", "Clock"]
_VALUES3 = " ".join(f"Get{name} Set{name}" for name in _TYPES3)

FMI2 = {
    "common": _named(
        "fmi2",
        "GetTypesPlatform GetVersion SetDebugLogging Instantiate FreeInstance SetupExperiment EnterInitializationMode "
        "ExitInitializationMode Terminate Reset GetReal GetInteger GetBoolean GetString SetReal SetInteger SetBoolean "
        "SetString GetFMUstate SetFMUstate FreeFMUstate SerializedFMUstateSize SerializeFMUstate DeSerializeFMUstate "
        "GetDirectionalDerivative",
    ),
    "ME": _named(
        "fmi2",
        "EnterEventMode NewDiscreteStates EnterContinuousTimeMode CompletedIntegratorStep SetTime SetContinuousStates "
        "GetDerivatives GetEventIndicators GetContinuousStates GetNominalsOfContinuousStates",
    ),
    "CS": _named(
        "fmi2",
        "SetRealInputDerivatives GetRealOutputDerivatives DoStep CancelStep GetStatus GetRealStatus GetIntegerStatus "
        "GetBooleanStatus GetStringStatus",
    ),
}

FMI3 = {
    "common": _named(
        "fmi3",
        "GetVersion SetDebugLogging InstantiateModelExchange InstantiateCoSimulation InstantiateScheduledExecution "
        "FreeInstance EnterInitializationMode ExitInitializationMode EnterEventMode Terminate Reset "
        f"{_VALUES3} GetNumberOfVariableDependencies GetVariableDependencies GetFMUState SetFMUState FreeFMUState "
        "SerializedFMUStateSize SerializeFMUState DeserializeFMUState GetDirectionalDerivative GetAdjointDerivative "
        "EnterConfigurationMode ExitConfigurationMode GetIntervalDecimal GetIntervalFraction GetShiftDecimal "
        "GetShiftFraction SetIntervalDecimal SetIntervalFraction SetShiftDecimal SetShiftFraction "
        "EvaluateDiscreteStates UpdateDiscreteStates",
    ),
    "ME": _named(
        "fmi3",
        "EnterContinuousTimeMode CompletedIntegratorStep SetTime SetContinuousStates GetContinuousStateDerivatives "
        "GetEventIndicators GetContinuousStates GetNominalsOfContinuousStates GetNumberOfEventIndicators "
        "GetNumberOfContinuousStates",
    ),
    "CS": _named("fmi3", "EnterStepMode GetOutputDerivatives DoStep"),
    "SE": _named("fmi3", "ActivateModelPartition"),
}


def required(fmi2: bool, kinds: set[str]) -> frozenset[str]:
    """Return what a library must export for some interfaces."""
    table = FMI2 if fmi2 else FMI3
    return table["common"].union(*(table.get(kind, frozenset()) for kind in kinds))


def standard(fmi2: bool) -> frozenset[str]:
    """Return all functions of a version."""
    return required(fmi2, set(FMI2 if fmi2 else FMI3))
