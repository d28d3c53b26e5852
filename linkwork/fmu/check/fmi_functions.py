"""The functions of the standard: those of every FMU and those of each interface."""

from __future__ import annotations


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
