"""FMUs with compiled tapes: the bits of those without, their derivatives, and one warning for a refused library."""

import ctypes
import importlib
import re
import shutil
import subprocess
import sys
import threading
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw
from linkwork.cli.main import main
from linkwork.core.compiled_tapes import shared_library
from linkwork.core.sources import fmu_libraries, host_platform, source_dir
from linkwork.errors import ExportError, ExportWarning
from linkwork.fmu.export import compiled_tapes
from linkwork.fmu.export import cross_compile as cross
from linkwork.fmu.export.content import Experiment
from linkwork.fmu.export.fmu import describe_system
from linkwork.fmu.export.libraries import PLATFORMS
from linkwork.fmu.export.sources import c_files
from support.binaries import linkage
from support.cases import four_bar
from support.checkout import beside
from support.fmi_calls import OK, Instance, whole
from support.latched import pendulum
from support.random_mechanisms import FAMILIES, tree_or_loop
from support.unpacked import Unpacked, unpack

HOST = host_platform()
LIST = "resources/native/libraries.txt"
STOP, STEP, TOLERANCE = 1.0, 0.01, 1e-7
REFUSED = "the compiled tapes are not used, so evaluations take longer: "


@pytest.fixture(scope="module", autouse=True)
def compiler(needs_program) -> str:
    return needs_program("cc")


def linkage_with_one_loop() -> lw.Mechanism:
    case = four_bar()
    case.mechanism.start(q=case.q, u=case.u)
    return case.mechanism


def latch() -> lw.Mechanism:
    """A joint that locks, and opens again."""
    mech = pendulum(latch=(lw.Lock("hinge"), lw.Time(0.5)), loose=(lw.Unlock("hinge"), lw.Time(0.7)))
    mech.add_body("second", mass=0.5, com=(0.5, 0, 0), inertia=lw.inertia.box(0.5, (1.0, 0.2, 0.1)), origin=(1, 0, 0))
    mech.add_joint("ball", lw.Spherical(), "arm", "second", at=(1, 0, 0))
    mech.start(u={"ball": (0.3, 0.2, 0.1)})
    return mech


def stop() -> lw.Mechanism:
    """A rod that falls on a stop and bounces: state events."""
    mech = pendulum()
    mech.add_transition("floor", lw.Stop("hinge", upper=1.0, restitution=0.6))
    return mech


def gripper() -> lw.Mechanism:
    return lw.load(beside("models/as_mechanisms/robotiq_2f85.json"))


MECHANISMS = {one.__name__: one for one in (linkage_with_one_loop, latch, stop, gripper)}


class Pair:
    """The FMUs of a mechanism without and with compiled tapes, unpacked, whose instances `free` frees."""

    def __init__(self, folder: Path, mech: lw.Mechanism, version: str, **options: object) -> None:
        self.system = lw.compile(mech)
        common = {"stop_time": STOP, "step_size": STEP, "reference": False, **options}
        self.fmus = []
        for native in (False, True):
            path = folder / f"{version[0]}_{native}" / "one.fmu"
            path.parent.mkdir()
            lw.export_fmu(self.system, path, version, native=native, **common)
            self.fmus.append(Unpacked(path, unpack(path), version, self.system))
        self.plain, self.native = self.fmus

    def free(self) -> None:
        for fmu in self.fmus:
            while fmu.instances:
                instance = fmu.instances.pop()
                if instance.handle:
                    instance.free()


@pytest.fixture
def pair(tmp_path) -> Iterator[Callable[..., Pair]]:
    made = []

    def export(mech: lw.Mechanism, version: str = "3.0", **options: object) -> Pair:
        made.append(Pair(tmp_path / str(len(made)), mech, version, **options))
        return made[-1]

    for number in range(4):
        (tmp_path / str(number)).mkdir()
    yield export
    for one in made:
        one.free()


@pytest.fixture(scope="module", params=["2.0", "3.0"])
def linkages(request, tmp_path_factory) -> Iterator[Pair]:
    """Of the four-bar, in both versions."""
    made = Pair(tmp_path_factory.mktemp("linkages"), linkage_with_one_loop(), request.param)
    yield made
    made.free()


def library_of(fmu: Unpacked) -> Path:
    return next((fmu.folder / "resources/native" / HOST).iterdir())


def warnings_of(instance: Instance) -> list[str]:
    return [text for _, category, text in instance.messages if category == "logStatusWarning"]


def list_library(fmu: Unpacked, path: Path) -> None:
    """Put a library in the place of that of the FMU, and into the list."""
    data, place = path.read_bytes(), library_of(fmu)
    place.unlink()  # it may be mapped
    place.write_bytes(data)
    (fmu.folder / LIST).write_text(f"{HOST} {zlib.crc32(data):08x} {len(data)}\n")


def source_of(system: lw.Model, stop: float = STOP, motion: bool | lw.Result = True) -> str:
    content = describe_system(system, None, Experiment(stop=stop, step=STEP, tolerance=TOLERANCE))
    return compiled_tapes.rates_source(system, motion, content).decode()


def compile_into(fmu: Unpacked, text: str) -> None:
    """Compile a file in C as the library of the FMU."""
    source, library = fmu.folder / "rates.c", fmu.folder / "rates.so"
    source.write_text(text)
    shared_library(source, library, source_dir("csrc"))
    list_library(fmu, library)


def counted(text: str, kind: str = "tape") -> str:
    """The code with a variable that counts the calls of tapes."""
    text = re.sub(rf"^static int ({kind}\d+)(\(.*\{{)$", r"static int \1\2\n  calls++;", text, flags=re.MULTILINE)
    assert "calls++" in text
    declared = '__attribute__((visibility("default"))) int calls;\n'
    return text.replace("static inline double number_of", declared + "static inline double number_of", 1)


def count_derivatives(fmu: Unpacked) -> Callable[[], int]:
    """As `count_calls`, of tapes of derivatives."""
    return count_calls(fmu, r"jacobian\d_")


def count_calls(fmu: Unpacked, kind: str = "tape") -> Callable[[], int]:
    """Replace the tapes by those that count their calls; return how often they were called."""
    compile_into(fmu, counted(source_of(fmu.system), kind))
    return lambda: ctypes.c_int.in_dll(ctypes.CDLL(str(library_of(fmu))), "calls").value


# ---- the same bits ----------------------------------------------------------------------------------------


def numbers_of(fmu: Unpacked) -> list[int]:
    """Value references of states, derivatives and outputs that are numbers."""
    kinds = ("state", "derivative", "output")
    listed = [v for v in fmu.system.variables if v.kind in kinds and v.type == "real" and v.name in fmu.reference_of]
    return [fmu.reference(v.name) for v in sorted(listed, key=lambda v: v.reference)]


def co_simulated(fmu: Unpacked, solver: int = 3, steps: int = 40) -> list[list[float]]:
    instance = fmu.new("CS")
    assert whole(instance, "Set", fmu.reference("solver"), solver)[0] == OK
    instance.initialize(tolerance=TOLERANCE)
    listed = numbers_of(fmu)
    found, time = [instance.get(listed)], 0.0
    for _ in range(steps):
        time = instance.step(time, STOP / steps)
        found.append(instance.get(listed))
    return found


def moved(fmu: Unpacked, steps: int = 300, **parameters: float) -> list[list[float]]:
    """Model Exchange by Euler's method, with an input that changes; the derivatives along the motion."""
    instance = fmu.new("ME")
    for name, value in parameters.items():
        instance.set([fmu.reference(name)], [value])
    instance.initialize()
    n, h = fmu.system.sizes.states, 1e-3
    loads = fmu.references("input")[:1]
    x, found = instance.array("GetContinuousStates", n), []
    for k in range(steps):
        instance.must("SetTime", ctypes.c_double(k * h))
        assert instance.set_states(x) == OK
        if loads:
            instance.set(loads, [0.3 * np.sin(k)])
        found.append(instance.derivatives(n))
        x = [a + h * b for a, b in zip(x, found[-1], strict=True)]
    return found


@pytest.mark.parametrize("solver", [1, 3, 4])
def test_co_simulation(linkages, solver):
    assert co_simulated(linkages.native, solver) == co_simulated(linkages.plain, solver)


def test_co_simulation_by_an_implicit_method(linkages):
    """Its Jacobians are by tapes too, which round in other ways than complex steps."""
    found, expected = (np.array(co_simulated(fmu, 2)) for fmu in (linkages.native, linkages.plain))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * np.abs(expected).max())
    assert not np.array_equal(found, expected)


def test_model_exchange(linkages):
    assert moved(linkages.native) == moved(linkages.plain)


def test_minimal_states(pair):
    both = pair(linkage_with_one_loop(), states="minimal", independents=["A.q"])
    calls = count_calls(both.native)
    result, found = lw.simulate(both.system, STOP, t_eval=np.linspace(0, STOP, 100)), []
    for fmu in both.fmus:
        instance = fmu.new("ME")
        instance.initialize()
        for t, q, u in zip(result.t, result["A.q"], result["A.u"], strict=True):
            instance.must("SetTime", ctypes.c_double(t))
            assert instance.set_states([q, u]) == OK
            found.append(instance.derivatives(2))
    assert found[:100] == found[100:]
    assert calls() > 90


@pytest.mark.parametrize("name", ["latch", "stop", "gripper"])
def test_mechanisms(name, pair):
    both = pair(MECHANISMS[name]())
    calls = count_calls(both.native)
    assert co_simulated(both.native) == co_simulated(both.plain)
    assert calls() > 50


@pytest.mark.parametrize("name", list(FAMILIES)[::4])
def test_families(name, pair):
    both = pair(tree_or_loop(name).mechanism, stop_time=0.2)
    assert co_simulated(both.native, steps=10) == co_simulated(both.plain, steps=10)
    assert moved(both.native, 50) == moved(both.plain, 50)


@pytest.mark.parametrize("version", ["2.0", "3.0"])
@pytest.mark.parametrize("name", ["linkage_with_one_loop", "latch", "stop"])
@pytest.mark.parametrize("kind", ["ModelExchange", "CoSimulation"])
def test_fmpy(name, version, kind, pair, needs):
    fmpy = needs("fmpy")
    both = pair(MECHANISMS[name](), version)
    plain, native = (
        fmpy.simulate_fmu(str(fmu.path), fmi_type=kind, stop_time=STOP, relative_tolerance=1e-8, output_interval=0.05)
        for fmu in both.fmus
    )
    assert plain.dtype == native.dtype
    assert len(plain) > 20
    for column in plain.dtype.names:
        assert np.array_equal(plain[column], native[column]), column


def test_states_of_the_instance(linkages):
    """Saved, restored and continued; the tapes are no part of them."""
    found = []
    for origin in linkages.fmus:
        instance = origin.new("CS")
        instance.initialize()
        instance.step(0.0, 0.3)
        data = instance.to_bytes(instance.save())
        for fmu in linkages.fmus:  # either takes it
            other = fmu.new("CS")
            status, copy = other.from_bytes(data)
            assert status == OK
            other.restore(copy)
            other.step(0.3, 0.4)
            found.append(other.get(numbers_of(fmu)))
    assert found[1:] == found[:1] * 3


def test_instances_in_threads(linkages):
    expected, found = co_simulated(linkages.plain), {}

    def run(number: int) -> None:
        found[number] = co_simulated(linkages.native)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [found[number] == expected for number in range(4)] == [True] * 4


# ---- derivatives ----------------------------------------------------------------------------------------------


def partials(instance: Instance, fmu: Unpacked, kinds: tuple[str, ...] = ("derivative",)) -> np.ndarray:
    """By states, inputs and time, column by column."""
    unknowns = [one for one in numbers_of(fmu) if one in fmu.references(*kinds)]
    knowns = [one for one in fmu.references("state", "input", "time") if one in real_knowns(fmu)]
    return np.array([instance.directional(unknowns, [known], [1.0]) for known in knowns]).T


def real_knowns(fmu: Unpacked) -> set[int]:
    return {fmu.reference(v.name) for v in fmu.system.variables if v.type == "real" and v.name in fmu.reference_of}


def along(fmu: Unpacked, count: int = 12) -> Iterator[Instance]:
    """An instance for Model Exchange that goes through states of the default motion, with loads."""
    result = lw.simulate(fmu.system, STOP, t_eval=np.linspace(0.0, STOP, count), rtol=TOLERANCE)
    instance, loads = fmu.new("ME"), [one for one in fmu.references("input") if one in real_knowns(fmu)]
    instance.initialize()
    for k, (t, y) in enumerate(zip(result.t, result.y, strict=True)):
        instance.must("SetTime", ctypes.c_double(t))
        assert instance.set_states(y) == OK
        instance.set(loads, list(0.1 * np.sin(k + np.arange(len(loads)))))
        yield instance


def same(found: np.ndarray, expected: np.ndarray) -> None:
    assert expected.any()
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize(
    ("name", "version"), [("linkage_with_one_loop", "2.0"), ("latch", "2.0"), *((name, "3.0") for name in MECHANISMS)]
)
def test_derivatives_are_those_of_complex_steps(name, version, pair):
    both = pair(MECHANISMS[name](), version)
    calls = count_derivatives(both.native)
    for kinds in (("derivative",), ("output",), ("derivative", "output")):
        found, expected = ([partials(one, fmu, kinds) for one in along(fmu)] for fmu in (both.native, both.plain))
        for mine, others in zip(found, expected, strict=True):
            same(mine, others)
    assert calls() >= (36 if name == "linkage_with_one_loop" else 10)  # of the outputs of others there may be no tape


@pytest.mark.parametrize("name", list(FAMILIES)[1::4])
def test_derivatives_of_families(name, pair):
    both = pair(tree_or_loop(name).mechanism, stop_time=0.2)
    for mine, others in zip(along(both.native, 4), along(both.plain, 4), strict=True):
        same(partials(mine, both.native), partials(others, both.plain))


def test_adjoint_derivatives(pair):
    both = pair(linkage_with_one_loop(), "3.0")
    calls = count_derivatives(both.native)
    knowns, unknowns = both.plain.references("state", "input"), both.plain.references("derivative")
    weights = list(np.random.default_rng(1).normal(size=len(unknowns)))
    for mine, others in zip(along(both.native), along(both.plain), strict=True):
        found, expected = (one.product("GetAdjointDerivative", unknowns, knowns, weights) for one in (mine, others))
        same(np.array(found), np.array(expected))
    assert 12 <= calls() < 24  # by 10 knowns


def test_a_state_is_differentiated_once(pair):
    both = pair(linkage_with_one_loop())
    calls = count_derivatives(both.native)
    instances = along(both.native)
    instance = next(instances)
    for _ in range(3):
        partials(instance, both.native)
    assert calls() == 1
    instance = next(instances)
    partials(instance, both.native)
    assert calls() == 2
    instance.set(both.native.references("input")[:1], [0.7])
    partials(instance, both.native)
    assert calls() == 3


def test_derivatives_by_and_of_other_variables_are_those_of_the_core(pair):
    """A parameter among the knowns, a coordinate among the unknowns."""
    both = pair(linkage_with_one_loop())
    calls = count_derivatives(both.native)
    for knowns, unknowns in ((["rocker.mass", "A.q"], ["der(A.u)"]), (["A.q"], ["der(A.u)", "A.q"])):
        found = []
        for fmu in both.fmus:
            instance = next(along(fmu))
            seeds = list(range(1, len(knowns) + 1))
            found.append(instance.directional(*(list(map(fmu.reference, one)) for one in (unknowns, knowns)), seeds))
        assert found[0] == found[1]
    assert calls() == 0


def test_derivatives_with_parameters_that_are_set(pair):
    both = pair(linkage_with_one_loop())
    calls, n = count_derivatives(both.native), 0
    for name, value, is_kept in (("crank.mass", 3.0, False), ("rocker.mass", 2.25, True)):
        found = []
        for fmu in both.fmus:
            instance = fmu.new("ME")
            instance.set([fmu.reference(name)], [value])
            instance.initialize()
            found.append(partials(instance, fmu, ("derivative", "output")))
        same(found[1], found[0])
        assert is_kept or np.array_equal(found[1], found[0])
        assert (calls() > n) == is_kept
        n = calls()


def test_derivatives_after_a_state_is_restored(pair):
    both = pair(linkage_with_one_loop())
    instances = along(both.native)
    instance = next(instances)
    saved, before = instance.save(), partials(instance, both.native)
    next(instances), next(instances)
    other = both.native.new("ME")
    other.initialize()
    assert not np.array_equal(partials(instance, both.native), before)
    instance.restore(saved)
    assert np.array_equal(partials(instance, both.native), before)
    status, copy = other.from_bytes(instance.to_bytes(saved))
    assert status == OK
    other.restore(copy)
    assert np.array_equal(partials(other, both.native), before)


def test_derivatives_of_instances_in_threads(linkages):
    found = {}

    def run(number: int) -> None:
        found[number] = [partials(one, linkages.native) for one in along(linkages.native)]

    threads = [threading.Thread(target=run, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expected = [partials(one, linkages.plain) for one in along(linkages.plain)]
    for number in range(4):
        assert np.array_equal(found[number], found[0])
    for mine, others in zip(found[0], expected, strict=True):
        same(mine, others)


@pytest.mark.parametrize("name", ["latch", "stop"])
def test_derivatives_after_events(name, pair):
    """In Co-Simulation, whose motion has the bits of the plain FMU by an explicit method."""
    both, found = pair(MECHANISMS[name]()), []
    for fmu in both.fmus:
        instance, time = fmu.new("CS"), 0.0
        assert whole(instance, "Set", fmu.reference("solver"), 1)[0] == OK
        instance.initialize(tolerance=TOLERANCE)
        for _ in range(10):
            time = instance.step(time, STOP / 10)
            found.append((instance.get(numbers_of(fmu)), partials(instance, fmu)))
    for (here, expected), (there, mine) in zip(found[:10], found[10:], strict=True):
        assert here == there
        same(mine, expected)


def test_a_tape_with_wrong_derivatives_is_not_used(pair):
    both = pair(linkage_with_one_loop())
    text = source_of(both.system)
    first = text.index("jacobian0_0_part0")
    compile_into(both.native, text[:first] + re.sub(r"(x\d+) \* (x\d+)", r"\1 * \2 * 1.01", text[first:]))
    for mine, others in zip(along(both.native), along(both.plain), strict=True):
        assert np.array_equal(partials(mine, both.native), partials(others, both.plain))


def test_derivatives_that_are_too_long_are_left_out(monkeypatch):
    monkeypatch.setattr(compiled_tapes.RatesInC, "MOST_STEPS", (5000, 1500))
    with pytest.warns(
        ExportWarning, match=r"no compiled derivatives of outputs, .*: \d+ operations are more than 1500; choose fewer"
    ):
        text = source_of(lw.compile(linkage_with_one_loop()))
    assert "int jacobian0_0(" in text
    assert "int jacobian1_0(" not in text


# ---- where the tapes count ----------------------------------------------------------------------------------


def test_most_rates_are_given_by_tapes(pair):
    both = pair(linkage_with_one_loop())
    calls = count_calls(both.native)
    assert moved(both.native) == moved(both.plain)
    assert calls() > 250
    before = calls()
    co_simulated(both.native)
    assert calls() > before + 100


def test_a_number_that_a_tape_keeps_may_be_set(pair):
    both = pair(linkage_with_one_loop())
    calls = count_calls(both.native)
    heavier = moved(both.native, **{"rocker.mass": 2.25})  # was 1.5
    assert calls() > 250
    assert heavier == moved(both.plain, **{"rocker.mass": 2.25})
    assert heavier != moved(both.plain)


def test_a_number_on_which_a_tape_relies_is_not_ignored(pair):
    """A mass of 1 kg is left out of products; another one is for the kernels."""
    both = pair(linkage_with_one_loop())
    calls = count_calls(both.native)
    heavier = moved(both.native, **{"crank.mass": 3.0})
    assert calls() == 0
    assert heavier == moved(both.plain, **{"crank.mass": 3.0})
    assert heavier != moved(both.plain)


def test_a_motion_may_be_given(pair):
    """Tapes of the motion that a result has."""
    both = pair(linkage_with_one_loop())
    result = lw.simulate(both.system, 0.5, inputs={"A": 0.5})
    compile_into(both.native, source_of(both.system, motion=result))
    assert moved(both.native) == moved(both.plain)


def test_a_tape_that_gives_other_bits_is_not_used(pair):
    """As by a compiler that contracts: the kernels compute the same states, at first and now and then."""
    both = pair(linkage_with_one_loop())
    text = re.sub(r"(x\d+) \* (x\d+)", r"\1 * \2 * 1.0000001", source_of(both.system), count=3)
    compile_into(both.native, text)
    assert moved(both.native, 30) == moved(both.plain, 30)


# ---- libraries that are refused -------------------------------------------------------------------------------


def foreign(fmu: Unpacked) -> None:
    path = fmu.folder / "foreign.so"
    path.write_bytes(b"\x7fELF" + bytes(2000))
    list_library(fmu, path)


def other_version(fmu: Unpacked) -> None:
    text = source_of(fmu.system)
    compile_into(fmu, re.sub(r"(linkwork_rates = \{)\d+u", r"\g<1>12345u", text))


def other_library(fmu: Unpacked) -> None:
    compile_into(fmu, "int f(void) { return 1; }\n")


def truncated(fmu: Unpacked) -> None:
    data = library_of(fmu).read_bytes()
    library_of(fmu).write_bytes(data[: len(data) // 2])


def altered(fmu: Unpacked) -> None:
    data = bytearray(library_of(fmu).read_bytes())
    data[len(data) // 2] ^= 1
    library_of(fmu).write_bytes(data)


def missing(fmu: Unpacked) -> None:
    library_of(fmu).unlink()


def other_platform(fmu: Unpacked) -> None:
    (fmu.folder / LIST).write_text("riscv64-linux 12345678 100\n")


def no_list(fmu: Unpacked) -> None:
    (fmu.folder / LIST).write_bytes(b"\xff\0 what 1 2 3 \n\n" + 500 * b"x")


WRONG = {
    foreign: "this system does not load them: ",
    other_version: "the compiled tapes are of another mechanism or another version of Linkwork",
    other_library: "is a library of something else; export the FMU again",
    truncated: "is missing or damaged; unpack the FMU again, or export it again",
    altered: "is missing or damaged; unpack the FMU again, or export it again",
    missing: "is missing or damaged; unpack the FMU again, or export it again",
    other_platform: f"resources/native has none for {HOST}; export the FMU for this platform as well",
    no_list: f"resources/native has none for {HOST}; export the FMU for this platform as well",
}


@pytest.mark.parametrize("spoil", WRONG, ids=lambda spoil: spoil.__name__)
@pytest.mark.parametrize("kind", ["ME", "CS"])
def test_a_library_that_is_refused(spoil, kind, pair):
    both = pair(linkage_with_one_loop())
    spoil(both.native)
    instance = both.native.new(kind)
    assert len(warnings_of(instance)) == 1
    assert REFUSED in warnings_of(instance)[0]
    assert WRONG[spoil] in warnings_of(instance)[0]
    run = moved if kind == "ME" else co_simulated
    assert run(both.native) == run(both.plain)


def test_of_another_mechanism(pair):
    both, other = pair(linkage_with_one_loop()), pair(latch())
    list_library(both.native, library_of(other.native))
    assert "another mechanism" in warnings_of(both.native.new("ME"))[0]


def test_no_warning_otherwise(linkages):
    for fmu in linkages.fmus:
        for kind in ("ME", "CS"):
            assert warnings_of(fmu.new(kind)) == []


def test_a_folder_that_cannot_be_written(pair):
    both = pair(linkage_with_one_loop())
    folders = [path for path in both.native.folder.rglob("*") if path.is_dir()]
    for path in folders:
        path.chmod(0o555)
    try:
        assert moved(both.native) == moved(both.plain)
        assert warnings_of(both.native.instances[-1]) == []
    finally:
        for path in folders:
            path.chmod(0o755)


@pytest.mark.skipif(sys.platform != "linux", reason="reads what Linux has mapped")
def test_the_library_lives_as_long_as_its_instances(pair):
    fmu = pair(linkage_with_one_loop()).native

    def is_loaded() -> bool:
        return str(library_of(fmu)) in Path("/proc/self/maps").read_text()

    first, second = fmu.new("ME"), fmu.new("CS")
    assert is_loaded()
    first.free()
    assert is_loaded()
    second.initialize()
    second.step(0.0, 0.1)
    second.free()
    assert not is_loaded()


def test_a_path_that_is_not_ascii(pair, tmp_path):
    both = pair(linkage_with_one_loop(), "2.0")
    folder = tmp_path / "fünf und 100 %"
    shutil.copytree(both.native.folder, folder)
    fmu = Unpacked(both.native.path, folder, "2.0", both.system)
    calls = count_calls(fmu)
    assert moved(fmu) == moved(both.plain)
    assert calls() > 250
    fmu.instances.pop().free()


# ---- the export ---------------------------------------------------------------------------------------------


def test_contents(linkages):
    plain, native = (zipfile.ZipFile(fmu.path) for fmu in linkages.fmus)
    with plain, native:
        added = set(native.namelist()) - set(plain.namelist())
        assert added == {LIST, f"resources/native/{HOST}/rates{cross.suffix(HOST)}"}
        for name in plain.namelist():  # the model description too
            if "scene" not in name:
                assert native.read(name) == plain.read(name), name
        assert sum(native.getinfo(name).compress_size for name in added) < 200_000
        platform, checksum, size = native.read(LIST).decode().split()
        data = native.read(f"resources/native/{platform}/rates{cross.suffix(platform)}")
        assert (int(checksum, 16), int(size)) == (zlib.crc32(data), len(data))


def test_same_bytes(tmp_path):
    found = [lw.export_fmu(linkage_with_one_loop(), tmp_path / "one.fmu", native=True).read_bytes() for _ in range(2)]
    assert found[0] == found[1]


def test_a_motion_needs_at_most_as_many_tapes_as_a_state_asks():
    text = source_of(lw.compile(gripper()), 10.0)
    assert 4 < len(re.findall(r"^static int tape\d+\(", text, flags=re.MULTILINE)) <= 16


def test_the_code_of_a_large_mechanism_is_limited():
    """Its compiler would take minutes for sixteen tapes, of ten thousand operations each."""
    text = source_of(lw.compile(tree_or_loop("three_spatial_legs").mechanism), 10.0)
    assert 1 < len(re.findall(r"^static int tape\d+\(", text, flags=re.MULTILINE)) < 8
    assert text.count("const numbers x") < 70_000


def test_checks_pass(linkages, needs, capsys):
    needs("fmpy")
    assert main(["check", str(linkages.native.path)]) == 0, capsys.readouterr().out


def test_command_line(tmp_path, checkout):
    out = tmp_path / "one.fmu"
    assert main(["export", str(checkout / "examples/four_bar.py"), "-o", str(out), "--native", "--no-reference"]) == 0
    with zipfile.ZipFile(out) as archive:
        assert LIST in archive.namelist()


def rubbed() -> lw.Mechanism:
    mech = pendulum()
    mech.add_force(lw.Friction("hinge", mu=0.3, radius=0.02))
    return mech


def resting() -> lw.Mechanism:
    mech = lw.Mechanism("resting")
    mech.add_body("one", mass=1.0, com=(0, 0, 0), inertia=lw.inertia.box(1.0, (1, 1, 1)))
    mech.add_joint("J", lw.Fixed(), "ground", "one", at=(0, 0, 0))
    return mech


@pytest.mark.parametrize(
    ("mech", "text"),
    [
        (rubbed, "no tape of mechanism 'pendulum': friction decides before each evaluation whether it sticks; leave"),
        (resting, "mechanism 'resting' has no states, and so no rates; leave native=True out"),
    ],
)
def test_no_tape(mech, text, tmp_path):
    with pytest.raises(ExportError, match=text):
        lw.export_fmu(mech(), tmp_path / "one.fmu", native=True)
    assert not list(tmp_path.iterdir())


def test_no_motion(tmp_path):
    other = lw.simulate(latch(), 0.1)
    with pytest.raises(ExportError, match="native is a result of another mechanism; simulate the one that is exported"):
        lw.export_fmu(linkage_with_one_loop(), tmp_path / "one.fmu", native=other)
    with pytest.raises(ExportError, match=r"native must be True, False or a result .*, not 'yes'"):
        lw.export_fmu(linkage_with_one_loop(), tmp_path / "one.fmu", native="yes")


@pytest.fixture
def without_zig(monkeypatch):
    found = importlib.util.find_spec

    def find(name: str, *rest: str) -> object:
        return None if name == "ziglang" else found(name, *rest)

    monkeypatch.setattr(compiled_tapes.importlib.util, "find_spec", find)


def test_by_the_compiler_of_the_system(without_zig, pair):
    both = pair(linkage_with_one_loop())
    calls = count_calls(both.native)
    assert moved(both.native) == moved(both.plain)
    assert calls() > 250


def test_platforms_without_a_compiler(without_zig):
    source, others = source_of(lw.compile(linkage_with_one_loop())).encode(), [p for p in PLATFORMS if p != HOST]
    with pytest.warns(ExportWarning, match=f"no compiled tapes for {', '.join(others)}.*linkwork\\[cross\\]"):
        files = compiled_tapes.compiled_files(source, [HOST, *others], False)
    assert files[LIST].decode().split()[0] == HOST
    assert len(files) == 2
    with pytest.raises(ExportError, match=r"nothing here compiles for .*linkwork\[cross\]"):
        compiled_tapes.compiled_files(source, others, False)


def test_no_compiler(without_zig, monkeypatch, tmp_path):
    monkeypatch.setenv("LINKWORK_CC", "")
    with pytest.raises(ExportError, match=r"cannot be compiled: .*LINKWORK_CC is empty; install the package ziglang"):
        lw.export_fmu(linkage_with_one_loop(), tmp_path / "one.fmu", native=True)


def test_all_platforms(needs):
    """Small enough for the loaders of all systems, with nothing but the tapes."""
    needs("ziglang")
    source = source_of(lw.compile(linkage_with_one_loop())).encode()
    files = compiled_tapes.compiled_files(source, PLATFORMS, False)
    assert [line.split()[0] for line in files[LIST].decode().splitlines()] == list(PLATFORMS)
    assert len(files) == 1 + len(PLATFORMS)


@pytest.mark.slow
@pytest.mark.parametrize("platform", PLATFORMS)
def test_what_a_library_offers_and_needs(platform, needs, tmp_path):
    needs("ziglang")
    source = source_of(lw.compile(linkage_with_one_loop())).encode()
    files = compiled_tapes.compiled_files(source, [platform], False)
    path = tmp_path / f"rates{cross.suffix(platform)}"
    path.write_bytes(files[f"resources/native/{platform}/{path.name}"])
    found = linkage(path)
    assert "linkwork_rates" in found.offers
    assert not [name for name in found.offers if name.startswith("tape")]


@pytest.mark.parametrize("platform", PLATFORMS)
def test_the_loader_of_each_system_compiles(platform, needs, tmp_path):
    """Without a warning; tests of platforms compile whole libraries."""
    needs("ziglang")
    folders = [f"-I{source_dir('csrc') / 'include'}", f"-I{source_dir('fmu_src')}"]
    command = [
        sys.executable,
        "-m",
        "ziglang",
        "cc",
        "-target",
        cross.TARGETS[platform],
        "-std=c11",
        "-Wall",
        "-Wextra",
    ]
    for name in ("compiled_rates.c", "resources.c"):
        source = str(source_dir("fmu_src") / name)
        made = subprocess.run([*command, "-Werror", *folders, "-c", source, "-o", tmp_path / "one.o"], check=False)
        assert made.returncode == 0


# ---- source FMUs ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", ["2.0", "3.0"])
def test_sources_have_the_code(version, pair):
    both = pair(linkage_with_one_loop(), version, sources=True)
    files = c_files(version, rates=True)
    assert set(files) - set(c_files(version)) == {"fmu_src/fmu_rates.c"}
    description = (
        both.native.xml if version == "2.0" else (both.native.folder / "sources/buildDescription.xml").read_text()
    )
    assert 'name="fmu_src/fmu_rates.c"' in description
    assert all((both.native.folder / "sources" / name).is_file() for name in files)
    assert not (both.plain.folder / "sources/fmu_src/fmu_rates.c").exists()


@pytest.mark.slow
def test_sources_give_the_same_bits(pair, needs_program, tmp_path):
    """Compiled with few optimisations; no library is loaded, and only functions of FMI are exported."""
    both = pair(linkage_with_one_loop(), sources=True)
    folder, library = both.native.folder / "sources", both.native.library
    text = (folder / "fmu_src/fmu_rates.c").read_text()
    (folder / "fmu_src/fmu_rates.c").write_text(counted(text))
    shutil.rmtree(both.native.folder / "resources")
    (both.native.folder / "resources").mkdir()
    for name in ("model.lwm", "interface.lwi"):
        shutil.copy(both.plain.folder / "resources" / name, both.native.folder / "resources")
    files = [str(folder / name) for name in c_files("3.0", rates=True)]
    command = [needs_program("gcc"), "-std=c11", "-O1", "-shared", "-fPIC", f"-I{folder}"]
    subprocess.run([*command, *files, "-o", library, "-lm"], check=True)
    assert linkage(library).offers - {"calls"} <= linkage(fmu_libraries()[HOST]).offers
    assert moved(both.native) == moved(both.plain)
    assert ctypes.c_int.in_dll(ctypes.CDLL(str(library)), "calls").value > 250
