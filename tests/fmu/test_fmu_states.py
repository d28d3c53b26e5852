"""Saving, restoring and serialising the state of an instance."""

import ctypes
import struct
import subprocess
import sys
import zlib
from collections.abc import Iterator
from dataclasses import replace

import pytest

import linkwork as lw
from support.fmi_calls import ERROR, OK, Instance, whole
from support.latched import pendulum
from support.unpacked import Unpacked, unpack

VERSION = pytest.mark.parametrize("version", ["2.0", "3.0"])
KINDS = pytest.mark.parametrize("kind", ["ME", "CS"])


def run(instance, torque: int, time: float, steps: int) -> float:
    for k in range(steps):
        if k == 1:
            instance.set([torque], [0.7])
        time = instance.step(time, 0.037)
    return time


def test_going_on_and_coming_back_give_the_same_bits(fmu):
    torque, everything = fmu.reference("A.tau"), fmu.references("input", "state", "derivative", "output")
    instance, other = fmu.new("CS"), fmu.new("CS")
    instance.initialize()
    time = run(instance, torque, 0.0, 3)
    state = instance.save()
    data = instance.to_bytes(state)
    run(instance, torque, time, 5)
    expected = instance.get(everything)
    instance.restore(state)
    assert instance.to_bytes(state) == data
    run(instance, torque, time, 5)
    assert instance.get(everything) == expected
    # and in another instance, from bytes, whatever it did before
    other.initialize(start=7.0)
    other.step(7.0, 0.2)
    status, copy = other.from_bytes(data)
    assert status == 0
    other.restore(copy)
    run(other, torque, time, 5)
    assert other.get(everything) == expected
    instance.drop(state)
    other.drop(copy)
    assert copy.value is None


@KINDS
def test_a_state_holds_the_mode(fmu, kind):
    instance = fmu.new(kind)
    instance.set([fmu.reference("crank.mass")], [2.5])
    early = instance.save()
    instance.initialize()
    instance.restore(early)
    assert instance.call("SetTime", ctypes.c_double(1.0)) == ERROR
    instance.initialize()
    assert instance.get([fmu.reference("crank.mass")]) == [2.5]
    instance.drop(early)


def test_a_state_is_taken_again_into_the_same_memory(fmu):
    instance = fmu.new("ME")
    state = instance.save()
    address = state.value
    instance.must("GetFMUstate" if fmu.version == "2.0" else "GetFMUState", ctypes.byref(state))
    assert state.value == address
    instance.drop(state)
    instance.drop(state)


# ---- nothing is forgotten


def moments(fmu: Unpacked, kind: str) -> Iterator[Instance]:
    """An instance during a run, all of whose data have differed from its start."""
    instance = fmu.new(kind)
    whole(instance, "Set", fmu.reference("solver"), 2)
    instance.set([fmu.reference("tolerance")], [1e-5])
    instance.set_up(start=0.5, stop=9.0, tolerance=1e-4)
    yield instance
    assert instance.try_set_flags([fmu.reference("hold.command")], [kind == "ME"]) == OK
    instance.get(fmu.references("state"))
    yield instance
    instance.must("ExitInitializationMode")
    yield instance
    if kind == "ME":
        instance.update()
        yield instance
        instance.must("EnterContinuousTimeMode")
    torque = fmu.reference("hinge.tau")
    instance.set([torque], [0.3])
    yield instance
    for k in range(60 if kind == "CS" else 0):
        if fmu.version == "2.0" and k % 2:
            assert instance.try_input_rates([torque, torque], [1, 2], [0.1, -0.2]) == OK
            yield instance
        instance.step(0.5 + 0.01 * k, 0.01)
        yield instance
    instance.must("Terminate")
    yield instance


@VERSION
@KINDS
def test_all_that_is_saved_comes_back(version, kind, make):
    """The restored bytes are those that were saved, whatever the other instance was before."""
    mech = pendulum(hold=(lw.Lock("hinge"), lw.Command()), stop=(lw.Stop("hinge", upper=1.0, restitution=0.5), None))
    mech.start(u={"hinge": 2.0})
    fmu = make(mech, version)
    used = fmu.new(kind)

    def saved(instance: Instance) -> bytes:
        state = instance.save()
        data = instance.to_bytes(state)
        instance.drop(state)
        return data

    def put(instance: Instance, data: bytes) -> bytes:
        status, state = instance.from_bytes(data)
        assert status == OK, instance.last
        instance.restore(state)
        instance.drop(state)
        return saved(instance)

    for instance in moments(fmu, kind):
        data = put(instance, saved(instance))  # results are computed again after each restoring
        fresh = Instance(fmu.library, version, kind, fmu.resources, fmu.token)
        assert put(fresh, data) == data
        assert put(used, data) == data
        fresh.free()


READER = """
import sys
from pathlib import Path
from support.fmi_calls import Instance
library, version, resources, token, data, *references = sys.argv[1:]
instance = Instance(Path(library), version, "CS", resources, token)
status, state = instance.from_bytes(Path(data).read_bytes())
assert status == 0, instance.last
instance.restore(state)
instance.step(0.25, 0.25)
print(*(value.hex() for value in instance.get(list(map(int, references)))))
"""


def test_another_process_goes_on(fmu, checkout, tmp_path):
    instance, references = fmu.new("CS"), fmu.references("state", "output")
    instance.initialize()
    instance.step(0.0, 0.25)
    state = instance.save()
    (tmp_path / "state").write_bytes(instance.to_bytes(state))
    instance.drop(state)
    instance.step(0.25, 0.25)
    place = [fmu.library, fmu.version, fmu.resources, fmu.token, tmp_path / "state"]
    command = [sys.executable, "-c", READER, *map(str, [*place, *references])]
    done = subprocess.run(command, capture_output=True, text=True, cwd=checkout / "tests")
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [value.hex() for value in instance.get(references)]


# ---- refusals


@KINDS
def test_foreign_and_broken_bytes_are_refused(fmu, kind):
    instance = fmu.new(kind)
    instance.initialize()
    state = instance.save()
    data = instance.to_bytes(state)
    broken = [b"", data[:7], data[: len(data) // 2], data[:-1]]
    for position in range(0, len(data), max(1, len(data) // 80)):
        broken.append(data[:position] + bytes([data[position] ^ 1]) + data[position + 1 :])
    for each in broken:
        assert instance.from_bytes(each)[0] == ERROR
        assert ("truncated" in instance.last) == (len(each) < len(data))
    other = fmu.new("CS" if kind == "ME" else "ME")
    assert other.from_bytes(data)[0] == ERROR
    assert "different states" in other.last
    instance.drop(state)


def test_the_state_of_another_fmu_is_refused(fmu, tmp_path):
    """Of the same size and kind: only the outputs that were chosen differ."""
    path = lw.export_fmu(fmu.system, tmp_path / "other.fmu", fmu.version, outputs="energy")
    other = replace(fmu, path=path, folder=unpack(path), instances=[])
    instance, foreign = fmu.new("CS"), other.new("CS")
    state = foreign.save()
    data = foreign.to_bytes(state)
    foreign.drop(state)
    foreign.free()
    assert instance.from_bytes(data)[0] == ERROR
    assert "another FMU" in instance.last


CHECKSUM, RUN = 60, 64  # of the serialised form: what the checksum covers begins behind it
NUMBERS, WORDS = RUN, RUN + 5 * 8  # time, stop time, two tolerances, since; solver, interpolation, mode, flags


@pytest.mark.parametrize(
    ("place", "form", "value"),
    [
        *((NUMBERS + 8 * k, "<d", float("nan")) for k in range(5)),
        *((NUMBERS + 8 * k, "<d", -1.0) for k in (2, 3)),
        *((WORDS + 4 * k, "<I", 9) for k in range(4)),
        *((WORDS + 4 * k, "<I", 2) for k in range(3, 9)),
        (WORDS + 8, "<I", 64),
    ],
)
def test_what_no_instance_can_be_in_is_refused(built, place, form, value):
    """Even with the right checksum."""
    instance = built("3.0").new("CS")
    state = instance.save()
    data = bytearray(instance.to_bytes(state))
    instance.drop(state)
    struct.pack_into(form, data, place, value)
    struct.pack_into("<I", data, CHECKSUM, zlib.crc32(data[RUN:]))
    assert instance.from_bytes(bytes(data))[0] == ERROR
    assert "no instance can be in" in instance.last


def test_a_state_survives_fmpy(fmu, needs):
    needs("fmpy")
    from fmpy.fmi2 import FMU2Slave
    from fmpy.fmi3 import FMU3Slave
    from fmpy.model_description import read_model_description

    model = read_model_description(str(fmu.path))
    make = FMU2Slave if fmu.version == "2.0" else FMU3Slave
    slave = make(
        guid=model.guid,
        unzipDirectory=str(fmu.folder),
        modelIdentifier=model.coSimulation.modelIdentifier,
        instanceName="s",
    )
    slave.instantiate()
    get, serialize, deserialize = (
        (slave.getFMUstate, slave.serializeFMUstate, slave.deSerializeFMUstate)
        if fmu.version == "2.0"
        else (slave.getFMUState, slave.serializeFMUState, slave.deserializeFMUState)
    )
    state = get()
    data = serialize(state)
    assert serialize(deserialize(data)) == data
    slave.freeInstance()


def test_bytes_behind_a_state_are_refused(fmu):
    instance = fmu.new("ME")
    instance.initialize()
    state = instance.save()
    data = instance.to_bytes(state)
    instance.drop(state)
    status, _ = instance.from_bytes(data + b"more")
    assert status == ERROR
    assert "4 bytes follow the state" in instance.last


@pytest.mark.parametrize("factor", [1, 2])
def test_bytes_of_something_else_are_called_foreign_at_any_size(fmu, factor):
    """Whether they are fewer or more than those of a state."""
    instance = fmu.new("ME")
    instance.initialize()
    status, _ = instance.from_bytes(b"someone else's state " * (20 * 50**factor))
    assert status == ERROR
    assert "it is not an FMU state of this version" in instance.last


def test_an_unknown_interface_type_is_refused(built):
    fmu = built("2.0")
    messages = []
    instance = Instance(fmu.library, "2.0", "ME", fmu.resources, fmu.token)
    create, kept = instance.function("Instantiate", ctypes.c_void_p), instance._kept
    for kind in (2, -1):
        instance.messages.clear()
        folder, guid = fmu.resources.encode(), fmu.token.encode()
        assert create(b"unit", kind, guid, folder, ctypes.byref(kept), 0, 1) is None
        messages.append(instance.last)
    instance.free()
    assert all("neither fmi2ModelExchange nor fmi2CoSimulation" in text for text in messages)


def uses(instance: Instance, handle: ctypes.c_void_p) -> dict[str, int]:
    """Statuses of all functions that take a handle; those that may replace it get a copy."""
    two, size, room = instance.version == "2.0", ctypes.c_size_t(), ctypes.create_string_buffer(1 << 16)
    name = "FMUstate" if two else "FMUState"
    copies = [ctypes.c_void_p(handle.value) for _ in range(2)]
    return {
        "Get": instance.call(f"Get{name}", ctypes.byref(copies[0])),
        "Set": instance.call(f"Set{name}", handle),
        "SerializedSize": instance.call(f"Serialized{name}Size", handle, ctypes.byref(size)),
        "Serialize": instance.call(f"Serialize{name}", handle, room, ctypes.c_size_t(len(room))),
        "Free": instance.call(f"Free{name}", ctypes.byref(copies[1])),
    }


@KINDS
def test_handles_that_were_not_given_are_refused(fmu, kind):
    """Uninitialised ones, of freed states, of other instances, and numbers that are no addresses."""
    instance, other = fmu.new(kind), fmu.new(kind)
    for one in (instance, other):
        one.initialize()
    everything = fmu.references("input", "state", "derivative", "output")
    expected = instance.get(everything)
    memory = ctypes.create_string_buffer(b"LWFMUS05" * 4096)
    kept, freed, foreign = instance.save(), instance.save(), other.save()
    stale = ctypes.c_void_p(freed.value)
    instance.drop(freed)
    for handle in (stale, foreign, ctypes.cast(memory, ctypes.c_void_p), ctypes.c_void_p(8), ctypes.c_void_p(2**47)):
        assert set(uses(instance, handle).values()) == {ERROR}
        assert "handle" in instance.last
        assert instance.get(everything) == expected
    assert memory.raw[:-1] == b"LWFMUS05" * 4096
    assert set(uses(instance, kept).values()) == {OK}
    assert uses(instance, ctypes.c_void_p(kept.value))["Set"] == ERROR  # freed by the line before
    other.restore(foreign)
    other.drop(foreign)


def test_states_end_with_their_instance(fmu):
    """Those that an importer does not free; the sanitizers of tests/c see a leak."""
    instance = fmu.new("ME")
    instance.initialize()
    states = [instance.save() for _ in range(50)]
    instance.drop(states[7])
    again = states[9].value
    instance.must(instance._state("GetFMUstate"), ctypes.byref(states[9]))
    assert states[9].value == again
    instance.free()
