"""FMI 3.0 with arrays: the numbers are those of the FMU with scalars."""

from ctypes import c_double, c_size_t, c_uint32

import numpy as np
import pytest

import linkwork as lw
from support.fmi_calls import ERROR, OK
from support.unpacked import Unpacked, unpack


@pytest.fixture(scope="module")
def pair(four_bar, tmp_path_factory):
    """The four-bar with arrays and without."""
    folder = tmp_path_factory.mktemp("arrays")
    system = lw.compile(four_bar)
    made = []
    for arrays in (True, False):
        path = lw.export_fmu(system, folder / f"four_bar_{arrays}.fmu", arrays=arrays)
        made.append(Unpacked(path, unpack(path), "3.0", system))
    yield made
    for fmu in made:
        for instance in fmu.instances:
            instance.free()


def three(fmu: Unpacked, name: str) -> list[int]:
    return [fmu.reference(f"{name}[{i}]") for i in (1, 2, 3)]


def floats(instance, verb: str, references: list[int], values) -> int:
    n = len(references)
    arguments = ((c_uint32 * n)(*references), c_size_t(n), values, c_size_t(len(values)))
    return instance.call(f"{verb}Float64", *arguments)


def begin(fmu: Unpacked, kind: str = "ME", **options):
    instance = fmu.new(kind, **options)
    instance.initialize(tolerance=1e-9)
    return instance


def test_get_and_set(pair):
    together, apart = (begin(fmu, "CS") for fmu in pair)
    fmu = pair[0]
    gravity, r, q = three(fmu, "gravity"), three(fmu, "coupler.r"), fmu.reference("A.q")
    given = (c_double * 4)(0.5, -0.25, -3.0, 4.5)
    assert floats(together, "Set", [gravity[0], fmu.reference("crank.m")], given) == OK
    apart.set([*gravity, fmu.reference("crank.m")], list(given))
    for instance in (together, apart):
        instance.step(0.0, 0.2)
    values = (c_double * 7)()
    assert floats(together, "Get", [r[0], q, gravity[0]], values) == OK
    assert list(values) == apart.get([*r, q, *gravity])


@pytest.mark.parametrize("n", [0, 1, 2, 4])
@pytest.mark.parametrize("verb", ["Get", "Set"])
def test_wrong_sizes_are_errors(pair, verb, n):
    instance = begin(pair[0], "CS")
    gravity = pair[0].reference("gravity[1]")
    before = (c_double * 3)()
    assert floats(instance, "Get", [gravity], before) == OK
    assert floats(instance, verb, [gravity], (c_double * n)()) == ERROR
    assert f"3 values, not {n}" in instance.last
    after = (c_double * 3)()
    assert floats(instance, "Get", [gravity], after) == OK
    assert list(after) == list(before)


def product(instance, name: str, unknowns, knowns, seed, n: int) -> np.ndarray:
    result = (c_double * n)()
    lists = [(c_uint32 * len(unknowns))(*unknowns), c_size_t(len(unknowns))]
    lists += [(c_uint32 * len(knowns))(*knowns), c_size_t(len(knowns))]
    seeds = ((c_double * len(seed))(*seed), c_size_t(len(seed)))
    assert instance.call(f"Get{name}Derivative", *lists, *seeds, result, c_size_t(n)) == OK, instance.last
    return np.array(result)


def test_directional_and_adjoint_derivatives(pair):
    together, apart = map(begin, pair)
    fmu, rng = pair[0], np.random.default_rng(5)
    r, gravity = three(fmu, "coupler.v"), three(fmu, "gravity")
    one, state = fmu.reference("der(A.u)"), fmu.reference("A.u")
    seed, weights = rng.normal(size=4), rng.normal(size=4)
    found = product(together, "Directional", [r[0], one], [gravity[0], state], seed, 4)
    assert list(found) == apart.directional([*r, one], [*gravity, state], list(seed))
    found = product(together, "Adjoint", [r[0], one], [gravity[0], state], weights, 4)
    assert list(found) == apart.product("GetAdjointDerivative", [*r, one], [*gravity, state], list(weights))


def rates(instance, references, orders, n: int):
    values, size = (c_double * n)(), len(references)
    lists = ((c_uint32 * size)(*references), c_size_t(size), (c_uint32 * size)(*orders))
    return instance.call("GetOutputDerivatives", *lists, values, c_size_t(n)), list(values)


def test_derivatives_of_outputs(pair):
    together, apart = (begin(fmu, "CS") for fmu in pair)
    r, q = three(pair[0], "coupler.r"), pair[0].reference("A.q")
    for instance in (together, apart):
        instance.step(0.0, 0.2)
    status, values = rates(together, [r[0], q], [1, 1], 4)
    assert status == OK
    assert values == apart.rates([*r, q])
    assert rates(together, [r[0], q], [1, 1], 2)[0] == ERROR
    assert rates(together, [r[0], q], [1, 2], 4)[0] == ERROR


def test_intermediate_updates(pair):
    fmu, seen = pair[0], []
    r = three(fmu, "coupler.r")

    def look(instance, update):
        values = (c_double * 3)()
        assert floats(instance, "Get", r[:1], values) == OK
        seen.append(list(values))

    instance = begin(fmu, "CS", between=look, required=r[:1])
    instance.step(0.0, 0.3)
    other = begin(pair[1], "CS")
    other.step(0.0, 0.3)
    assert seen[-1] == other.get(r)


@pytest.mark.parametrize("kind", ["ModelExchange", "CoSimulation"])
def test_fmpy(pair, needs, kind):
    fmpy = needs("fmpy")
    options = {"fmi_type": kind, "stop_time": 0.5, "output_interval": 0.1, "relative_tolerance": 1e-9}
    together = fmpy.simulate_fmu(str(pair[0].path), output=["A.q", "coupler.r"], **options)
    apart = fmpy.simulate_fmu(str(pair[1].path), output=["A.q", "coupler.r[1]", "coupler.r[3]"], **options)
    assert np.array_equal(together["A.q"], apart["A.q"])
    assert np.array_equal(together["coupler.r"][:, 0], apart["coupler.r[1]"])
    assert np.array_equal(together["coupler.r"][:, 2], apart["coupler.r[3]"])
