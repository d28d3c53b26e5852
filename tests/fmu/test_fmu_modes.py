"""Which function may be called in which mode: the standard's tables, cell by cell.

A row names the modes in which a function is allowed in Model Exchange and in Co-Simulation, by their letters:
Instantiated, iNitialization, Event, Continuous, Step, Terminated; intermediate Update, a callback during a step.
SetBoolean goes beyond the standard's tables: in Continuous-Time Mode it takes the values that the inputs have.
"""

import ctypes
from ctypes import byref, c_double, c_int, c_size_t, c_uint32, c_void_p
from pathlib import Path

import pytest

from support.fmi_headers import function_names, reference_text

LETTERS = {"I": "instantiated", "N": "initialization", "E": "event", "C": "continuous", "S": "step", "T": "terminated"}
REACHABLE = {"ME": "INECT", "CS": "INESTU"}

FMI2 = """
SetDebugLogging               INECT  INST
SetupExperiment               I      I
EnterInitializationMode       I      I
ExitInitializationMode        N      N
Terminate                     EC     S
Reset                         INECT  INST
GetReal                       NECT   NST
GetInteger                    NECT   NST
GetBoolean                    NECT   NST
GetString                     NECT   NST
SetReal                       INEC   INS
SetInteger                    INE    INS
SetBoolean                    INEC   INS
SetString                     INE    INS
GetFMUstate                   INECT  INST
SetFMUstate                   INECT  INST
FreeFMUstate                  INECT  INST
SerializedFMUstateSize        INECT  INST
SerializeFMUstate             INECT  INST
DeSerializeFMUstate           INECT  INST
GetDirectionalDerivative      NECT   NST
EnterEventMode                EC     -
NewDiscreteStates             E      -
EnterContinuousTimeMode       E      -
CompletedIntegratorStep       C      -
SetTime                       EC     -
SetContinuousStates           C      -
GetDerivatives                ECT    -
GetEventIndicators            NECT   -
GetContinuousStates           NECT   -
GetNominalsOfContinuousStates IECT   -
SetRealInputDerivatives       -      INS
GetRealOutputDerivatives      -      ST
DoStep                        -      S
CancelStep                    -      -
GetStatus                     -      ST
GetRealStatus                 -      ST
GetIntegerStatus              -      ST
GetBooleanStatus              -      ST
GetStringStatus               -      ST
"""

TYPES3 = ("Int8", "UInt8", "Int16", "UInt16", "Int32", "UInt32", "Int64", "UInt64", "Boolean", "String", "Binary")

FMI3 = """
SetDebugLogging               INECT  INESTU
EnterInitializationMode       I      I
ExitInitializationMode        N      N
EnterEventMode                C      S
Terminate                     EC     ES
Reset                         INECT  INEST
EnterConfigurationMode        IE     IES
ExitConfigurationMode         -      -
GetFloat32                    INECT  INESTU
SetFloat32                    INEC   INESU
GetFloat64                    INECT  INESTU
SetFloat64                    INEC   INESU
GetClock                      E      E
SetClock                      E      E
GetNumberOfVariableDependencies NECT NEST
GetVariableDependencies       NECT   NEST
GetDirectionalDerivative      NECT   NEST
GetAdjointDerivative          NECT   NEST
GetFMUState                   INECT  INEST
SetFMUState                   INECT  INEST
FreeFMUState                  INECT  INEST
SerializedFMUStateSize        INECT  INEST
SerializeFMUState             INECT  INEST
DeserializeFMUState           INECT  INEST
GetIntervalDecimal            NE     NE
GetIntervalFraction           NE     NE
GetShiftDecimal               NE     NE
GetShiftFraction              NE     NE
SetIntervalDecimal            NE     NE
SetIntervalFraction           NE     NE
SetShiftDecimal               NE     NE
SetShiftFraction              NE     NE
EvaluateDiscreteStates        E      E
UpdateDiscreteStates          E      E
EnterContinuousTimeMode       E      -
CompletedIntegratorStep       C      -
SetTime                       EC     -
SetContinuousStates           C      -
GetContinuousStateDerivatives NECT   -
GetEventIndicators            NECT   -
GetContinuousStates           NECT   -
GetNominalsOfContinuousStates INECT  -
GetNumberOfEventIndicators    INECT  -
GetNumberOfContinuousStates   INECT  -
EnterStepMode                 -      E
GetOutputDerivatives          -      STU
DoStep                        -      S
ActivateModelPartition        -      -
""" + "".join(f"Get{t} INECT INESTU\nSet{t} {'INEC' if t == 'Boolean' else 'INE'} INES\n" for t in TYPES3)

NOT_IN_TABLE = {"GetVersion", "GetTypesPlatform", "Instantiate", "FreeInstance"}
NOT_IN_TABLE |= {f"Instantiate{kind}" for kind in ("ModelExchange", "CoSimulation", "ScheduledExecution")}


def rows(table: str) -> dict[str, dict[str, str]]:
    split = (line.split() for line in table.split("\n") if line)
    return {name: {"ME": exchange, "CS": simulation} for name, exchange, simulation in split}


TABLES = {"2.0": rows(FMI2), "3.0": rows(FMI3)}


def arguments(name: str, version: str) -> tuple:
    """Arguments with which the function is harmless: no variables, or times, or memory for results."""
    room = ctypes.create_string_buffer(64)
    nothing, here = (None, c_size_t(0)), c_double(0.0)
    special = {
        "SetDebugLogging": (c_int(1), c_size_t(0), None),
        "SetupExperiment": (c_int(0), here, here, c_int(0), here),
        "EnterInitializationMode": ()
        if version == "2.0"
        else (ctypes.c_bool(False), here, here, ctypes.c_bool(False), here),
        "SetTime": (here,),
        "DoStep": (here, c_double(0.01), c_int(1), room, byref(c_double()), byref(c_double()), byref(c_double())),
        "CompletedIntegratorStep": (c_int(1), room, byref(c_double())),
        "NewDiscreteStates": (room,),
        "UpdateDiscreteStates": tuple(byref(c_double()) for _ in range(6)),
        "ActivateModelPartition": (c_uint32(0), here),
        "GetNumberOfVariableDependencies": (c_uint32(0), room),
        "GetVariableDependencies": (c_uint32(0), room, room, room, room, c_size_t(0)),
    }
    if name in special:
        return special[name]
    if name.endswith("Status"):
        return (c_int(2), room)
    if name.startswith("GetNumberOf") or name.lower() in ("getfmustate", "freefmustate"):
        return (byref(c_void_p()),)
    if name.endswith("Derivative"):
        return (*nothing, *nothing, *nothing, *nothing)
    if name.startswith(("Get", "Set")) and not name.lower().endswith("state"):
        return (*nothing, *nothing, *nothing)
    return ()


def state_function(name: str) -> bool:
    return name.lower().endswith(("setfmustate", "serializefmustate", "serializedfmustatesize"))


def call(instance, name: str) -> None:
    if not state_function(name):
        instance.call(name, *arguments(name, instance.version))
        return
    # a state that is wrong in itself: refused for that reason, or for the mode
    junk, pointer = ctypes.create_string_buffer(4096), c_void_p()
    if name.lower().endswith("setfmustate"):
        instance.call(name, junk)
    elif name.lower().startswith("deserialize"):
        instance.call(name, junk, c_size_t(0), byref(pointer))
    else:
        instance.call(name, junk, byref(pointer) if "Size" in name else junk, c_size_t(0))


def during_a_step(fmu, name: str):
    """An instance, of which the function was called in the callback."""

    def within(instance, _):
        instance.messages.clear()
        call(instance, name)

    instance = fmu.new("CS", between=within)
    instance.initialize()
    instance.step(0.0, 1e-3)
    return instance


@pytest.mark.parametrize("kind", ["ME", "CS"])
def test_every_cell(fmu, kind):
    wrong = []
    for name, allowed in TABLES[fmu.version].items():
        for letter in REACHABLE[kind]:
            event_mode = kind == "CS" and fmu.version == "3.0"
            if letter in "EU" and kind == "CS" and not event_mode:
                continue
            instance = during_a_step(fmu, name) if letter == "U" else fmu.new(kind, event_mode=event_mode)
            if letter != "U":
                instance.go_to(LETTERS[letter], event_mode)
                instance.messages.clear()
                call(instance, name)
            refused = any("not allowed in" in text for _, _, text in instance.messages)
            if refused == (letter in allowed[kind]):
                wrong.append((name, letter, instance.last))
            fmu.instances.remove(instance)
            instance.free()
    assert wrong == []


def test_the_tables_are_complete(fmu, needs):
    version = int(fmu.version[0])
    folder = Path(needs("fmpy").__file__).parent / "c-code"
    names = {name[4:] for name in function_names(reference_text(folder, version), version)}
    assert names - NOT_IN_TABLE == set(TABLES[fmu.version])


@pytest.mark.parametrize("kind", ["ME", "CS"])
def test_a_refused_call_changes_nothing(fmu, kind):
    instance, other = fmu.new(kind), fmu.new(kind)
    for each in (instance, other):
        each.set_up()
    assert instance.call("Terminate") == 3
    assert "not allowed in Initialization Mode of" in instance.last
    for each in (instance, other):
        each.must("ExitInitializationMode")
    references = fmu.references("state", "output")
    assert instance.get(references) == other.get(references)


def test_calls_on_no_instance_are_errors(fmu):
    instance = fmu.new("ME")
    function = instance.function("Terminate")
    assert function(None) == 3
    instance.function("FreeInstance", None)(None)
