"""Saving, restoring and serialising the state of an instance."""

import ctypes

import pytest

from support.fmi_calls import ERROR

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
    instance.set([fmu.reference("crank.m")], [2.5])
    early = instance.save()
    instance.initialize()
    instance.restore(early)
    assert instance.call("SetTime", ctypes.c_double(1.0)) == ERROR
    instance.initialize()
    assert instance.get([fmu.reference("crank.m")]) == [2.5]
    instance.drop(early)


def test_a_state_is_taken_again_into_the_same_memory(fmu):
    instance = fmu.new("ME")
    state = instance.save()
    address = state.value
    instance.must("GetFMUstate" if fmu.version == "2.0" else "GetFMUState", ctypes.byref(state))
    assert state.value == address
    instance.drop(state)
    instance.drop(state)


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
        assert instance.last
    other = fmu.new("CS" if kind == "ME" else "ME")
    assert other.from_bytes(data)[0] == ERROR
    assert "different states" in other.last
    instance.drop(state)


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
