"""Instances: made, reset and freed in any order; their messages on errors."""

import ctypes
import math
import shutil
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from linkwork.fmu.export.instantiation_token import instantiation_token
from support.fmi_calls import DISCARD, ERROR, OK, Instance, whole

KINDS = pytest.mark.parametrize("kind", ["ME", "CS"])


def attempt(fmu, resources, token=None, **options) -> Instance:
    return Instance(fmu.library, fmu.version, "ME", resources, token or fmu.token, **options)


# ---- resources and token


@pytest.mark.thin(2)
@pytest.mark.parametrize("form", ["file://{}", "file:{}", "file://localhost{}", "file://{}/", "{}", "{}/"])
def test_every_form_of_the_path(fmu, form):
    folder = fmu.folder / "resources"
    assert " " in str(folder)
    path = folder.as_posix()
    instance = attempt(fmu, form.format(path.replace(" ", "%20") if "file:" in form else path))
    assert instance.handle, instance.messages
    instance.free()


def test_a_percent_sign_in_a_plain_path_is_one(fmu, tmp_path):
    shutil.copytree(fmu.folder / "resources", tmp_path / "100%20x")
    for path in (str(tmp_path / "100%20x"), (tmp_path / "100%20x").as_uri()):
        instance = attempt(fmu, path)
        assert instance.handle, instance.messages
        instance.free()


@pytest.mark.parametrize("resources", [None, "", "file:", "file://", "/nowhere", "file:///nowhere", "%", "file:///%4"])
def test_a_missing_folder_is_a_message(fmu, resources):
    instance = attempt(fmu, resources)
    assert instance.handle is None
    assert instance.messages[0][:2] == (ERROR, "logStatusError")
    assert "resources" in instance.last or "cannot read" in instance.last


def test_a_folder_in_place_of_the_file_is_a_message(fmu, tmp_path):
    (tmp_path / "model.lwm").mkdir()
    instance = attempt(fmu, str(tmp_path))
    assert instance.handle is None
    assert "cannot read" in instance.last


def broken(whole: bytes) -> list[bytes]:
    step = max(1, len(whole) // 60)
    cut = [whole[:n] for n in range(0, len(whole), step)]
    return cut + [whole[:n] + bytes([whole[n] ^ 64]) + whole[n + 1 :] for n in range(0, len(whole), step)]


def test_a_truncated_or_altered_model_is_a_message(fmu, tmp_path):
    interface = fmu.resource("interface.lwi")
    whole = fmu.resource("model.lwm")
    (tmp_path / "interface.lwi").write_bytes(interface)
    for data in [*broken(whole), whole + b"x"]:
        (tmp_path / "model.lwm").write_bytes(data)
        for token in (fmu.token, instantiation_token(data, interface)):  # the loader must not rely on the token
            instance = attempt(fmu, str(tmp_path), token)
            assert instance.handle is None
            assert "model.lwm" in instance.last


def test_a_truncated_or_altered_interface_is_a_message(fmu, tmp_path):
    model, whole = fmu.resource("model.lwm"), fmu.resource("interface.lwi")
    (tmp_path / "model.lwm").write_bytes(model)
    for data in [*broken(whole), whole + b"abcd", whole + b"x"]:
        (tmp_path / "interface.lwi").write_bytes(data)
        instance = attempt(fmu, str(tmp_path))
        assert instance.handle is None
        if data[:8] != whole[:8] or len(data) != len(whole):  # whatever the token
            token = instantiation_token(model, data)
            assert attempt(fmu, str(tmp_path), token).handle is None
            assert "interface.lwi" in attempt(fmu, str(tmp_path), token).last


@pytest.mark.parametrize("token", ["", "{wrong}", "{00000000-0000-0000-0000-000000000000}"])
def test_a_wrong_token_is_a_message(fmu, token):
    instance = Instance(fmu.library, fmu.version, "CS", fmu.resources, token)
    assert instance.handle is None
    assert "not of one FMU" in instance.last
    assert Instance(fmu.library, fmu.version, "CS", fmu.resources, None).handle is None


def test_scheduled_execution_is_declined(built):
    fmu = built("3.0")
    library = ctypes.CDLL(str(fmu.library))
    library.fmi3InstantiateScheduledExecution.restype = ctypes.c_void_p
    assert library.fmi3InstantiateScheduledExecution(b"x", b"t", b"r", *[None] * 7) is None


# ---- instances


@KINDS
def test_instances_do_not_know_each_other(fmu, kind):
    first, second, third = (fmu.new(kind) for _ in range(3))
    gravity, states = fmu.reference("gravity[3]"), fmu.references("state")
    second.set([gravity], [-1.0])
    for instance in (third, first, second):
        instance.initialize()
    if kind == "CS":
        for instance in (second, first, third):
            instance.step(0.0, 0.3)
    fmu.instances.remove(second)
    results = [instance.get([gravity, *states]) for instance in (first, third)]
    different = second.get([gravity, *states])
    second.free()
    assert results[0] == results[1] == first.get([gravity, *states])
    assert different[0] == -1.0
    assert (different[1:] != results[0][1:]) == (kind == "CS")


@KINDS
def test_reset_from_every_mode_gives_a_new_instance(fmu, kind):
    fresh = fmu.new(kind)
    fresh.initialize()
    everything = fmu.references("parameter", "start", "input", "state", "derivative", "output")
    expected = fresh.get(everything)
    instance = fmu.new(kind)
    solver, tolerance = fmu.reference("solver"), fmu.reference("tolerance")
    modes = ["instantiated", "initialization", "terminated", "continuous" if kind == "ME" else "step"]
    for mode in modes:
        whole(instance, "Set", solver, 2)
        instance.set([tolerance], [1e-3])
        instance.set([fmu.reference("crank.mass"), fmu.reference("A.q_start")], [9.0, 0.3])
        instance.set([fmu.reference("A.tau")], [4.0])
        instance.go_to(mode)
        instance.must("Reset")
        instance.initialize()
        assert instance.get(everything) == expected
        assert (whole(instance, "Get", solver), instance.get([tolerance])) == ((OK, 3), [0.0])
        instance.must("Reset")


# ---- the experiment


@KINDS
@pytest.mark.parametrize(
    ("experiment", "words"),
    [
        ({"start": math.nan}, "start time"),
        ({"start": -math.inf}, "start time"),
        ({"start": 2.0, "stop": 1.0}, "before the start"),
        ({"stop": math.nan}, "before the start"),
        ({"tolerance": math.nan}, "not a positive number"),
        ({"tolerance": -1e-6}, "not a positive number"),
        ({"tolerance": math.inf}, "not a positive number"),
    ],
)
def test_an_impossible_experiment_is_refused(fmu, kind, experiment, words):
    instance = fmu.new(kind)
    with pytest.raises(AssertionError):
        instance.set_up(**experiment)
    assert words in instance.last
    assert instance.messages[-1][0] == ERROR
    instance.initialize()


# ---- values


@KINDS
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_number_that_is_none_is_refused_by_name(fmu, kind, value):
    instance = fmu.new(kind)
    instance.set_up()
    for name, words in (
        ("A.tau", "tau of joint 'A'"),
        ("crank.com[2]", "body_com[2] of body 'crank'"),
        ("B.q_start", "q_start of joint 'B'"),
    ):
        reference = fmu.reference(name)
        before = instance.get([reference])
        assert instance.try_set([reference], [value]) == ERROR
        assert words in instance.last
        assert f"value reference {reference})" in instance.last
        assert instance.get([reference]) == before
    instance.must("ExitInitializationMode")


def test_a_state_or_time_that_is_none_is_refused(fmu):
    instance = fmu.new("ME")
    instance.initialize()
    n = len(fmu.references("state"))
    before = instance.array("GetContinuousStates", n)
    assert instance.set_states([math.nan, *before[1:]]) == ERROR
    assert f"value reference {min(fmu.references('state'))})" in instance.last
    assert instance.array("GetContinuousStates", n) == before
    assert instance.call("SetTime", ctypes.c_double(math.nan)) == ERROR
    assert instance.set_states(before[1:]) == ERROR
    assert f"{n} continuous states" in instance.last
    assert len(instance.derivatives(n)) == n


def fixed(fmu) -> list[int]:
    tunable = {fmu.reference(v.name) for v in fmu.system.variables if v.tunable}
    return [reference for reference in fmu.references("parameter", "start") if reference not in tunable]


@KINDS
def test_what_is_computed_cannot_be_set(fmu, kind):
    instance = fmu.new(kind)
    for reference in fmu.references("derivative", "output", "time"):
        assert instance.try_set([reference], [0.0]) == ERROR
        assert "cannot be set" in instance.last
        assert f"(value reference {reference})" in instance.last
    instance.initialize()
    for reference in fixed(fmu):
        assert instance.try_set([reference], [0.0]) == ERROR
        assert "until Initialization Mode" in instance.last
    for reference in (10**6, 2**32 - 1):
        assert instance.try_set([reference], [0.0]) == ERROR
        assert instance.try_get([reference])[0] == ERROR


def test_outputs_are_unknown_before_initialization(built):
    fmu = built("3.0")
    instance = fmu.new("ME")
    assert instance.get([fmu.reference("crank.mass")]) == [1.0]
    assert instance.try_get([fmu.reference("A.a")])[0] == ERROR
    assert "before Initialization Mode" in instance.last


def test_setting_all_or_nothing(fmu):
    instance = fmu.new("ME")
    instance.set_up()
    mass, torque = fmu.reference("crank.mass"), fmu.reference("A.tau")
    assert instance.try_set([torque, mass], [3.0, math.nan]) == ERROR
    assert instance.get([torque, mass]) == [0.0, 1.0]


@KINDS
def test_a_loop_that_cannot_close_is_an_error_and_can_be_mended(fmu, kind):
    instance = fmu.new(kind)
    length = fmu.reference("C.parent_frame.position[1]")
    instance.set([length], [50.0])
    instance.set_up()
    assert instance.call("ExitInitializationMode") == ERROR
    assert "start values" in instance.last
    assert "loop" in instance.last
    status, _ = instance.try_get([fmu.reference("A.q")])
    assert status == ERROR
    instance.set([length], [1.0])
    instance.must("ExitInitializationMode")
    assert instance.try_get([fmu.reference("A.q")])[0] == OK


def test_a_mass_that_is_none_is_an_error(fmu):
    instance = fmu.new("ME")
    instance.set([fmu.reference("crank.mass")], [-1.0])
    instance.set_up()
    assert instance.call("ExitInitializationMode") == ERROR
    assert "crank" in instance.last


def test_wide_open_loops_leave_what_needs_no_closed_loop(fmu):
    """The states are those of the importer: their residual shows it how far off they are."""
    instance = fmu.new("ME")
    instance.initialize()
    x = np.array(instance.array("GetContinuousStates", len(fmu.references("state"))))
    x += np.where(np.arange(x.size) == 0, 1.0, 0.0)
    instance.set_states(x)
    (residual,) = [name for name in fmu.reference_of if name.startswith("loop.") and name.endswith("residual")]
    assert instance.try_get([fmu.reference("A.a")])[0] == DISCARD
    assert "is open by" in instance.last
    assert instance.get([fmu.reference(residual)])[0] > 0.5
    for body in fmu.system.mechanism.bodies:
        r = np.array(instance.get([fmu.reference(f"{body}.r[{i}]") for i in (1, 2, 3)]))
        Q = np.array(instance.get([fmu.reference(f"{body}.Q[{i}]") for i in (1, 2, 3, 4)]))
        assert np.abs(Q @ Q - 1.0) < 1e-14
        if body == "crank":  # rotates about the origin
            assert np.abs(r).max() < 1e-14
        if body == "coupler":  # at the end of the crank
            assert np.linalg.norm(r) == pytest.approx(
                instance.get([fmu.reference("B.parent_frame.position[1]")])[0], rel=1e-12
            )
        assert all(np.isfinite(instance.get([fmu.reference(f"{body}.{v}[{i}]") for v in "vw" for i in (1, 2, 3)])))
    assert instance.try_get([fmu.reference("energy.kinetic")])[0] == DISCARD
    assert instance.try_get([fmu.reference(residual), fmu.reference("A.f[1]")])[0] == DISCARD


@pytest.mark.parametrize(("name", "value"), [("coupler.mass", -1.0), ("coupler.inertia[2,2]", -1.0)])
@KINDS
def test_a_wrong_parameter_is_an_error_and_can_be_mended(fmu, kind, name, value):
    """No step is short enough for it, so it is no Discard."""
    instance, (parameter,) = fmu.new(kind), [fmu.reference(name)]
    instance.initialize()
    if kind == "ME":
        instance.must("EnterEventMode")
    (before,) = instance.get([parameter])
    instance.set([parameter], [value])
    if kind == "ME":
        instance.must("EnterContinuousTimeMode")
        states = len(fmu.references("state"))
        name = "GetDerivatives" if fmu.version == "2.0" else "GetContinuousStateDerivatives"
        assert instance.try_array(name, states)[0] == ERROR
    else:
        with pytest.raises(AssertionError):
            instance.step(0.0, 0.1)
        assert instance.messages[-1][0] == ERROR
        assert "a shorter step does not help" in instance.last
    assert "coupler" in instance.last
    if kind == "ME":
        instance.must("EnterEventMode")
    instance.set([parameter], [before])
    if kind == "CS":
        instance.step(0.0, 0.1)


def test_eight_threads_give_what_one_gives(fmu):
    names = [fmu.reference(name) for name in ("A.q", "C.q", "energy.kinetic")]
    torque = [fmu.reference("A.tau")]

    def run(gravity: float) -> list[float]:
        instance = Instance(fmu.library, fmu.version, "CS", fmu.resources, fmu.token)
        instance.set([fmu.reference("gravity[3]")], [gravity])
        instance.initialize(tolerance=1e-11)
        time = 0.0
        for k in range(150):  # calls so long and so many that they do overlap
            instance.set(torque, [0.1 * math.sin(k)])
            time = instance.step(time, 0.2)
        values = instance.get(names)
        instance.free()
        return values

    pulls = [-float(k) for k in range(8)]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(run, pulls))
    assert together == [run(gravity) for gravity in pulls]
