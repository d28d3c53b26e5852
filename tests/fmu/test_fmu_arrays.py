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
    of_arrays, of_scalars = pair
    given = (c_double * 4)(0.5, -0.25, -3.0, 4.5)
    assert floats(together, "Set", [of_arrays.reference(name) for name in ("gravity", "crank.mass")], given) == OK
    apart.set([*three(of_scalars, "gravity"), of_scalars.reference("crank.mass")], list(given))
    for instance in (together, apart):
        instance.step(0.0, 0.2)
    values = (c_double * 7)()
    assert (
        floats(together, "Get", [of_arrays.reference(name) for name in ("coupler.r", "A.q", "gravity")], values) == OK
    )
    one_by_one = [*three(of_scalars, "coupler.r"), of_scalars.reference("A.q"), *three(of_scalars, "gravity")]
    assert list(values) == apart.get(one_by_one)


@pytest.mark.parametrize("n", [0, 1, 2, 4])
@pytest.mark.parametrize("verb", ["Get", "Set"])
def test_wrong_sizes_are_errors(pair, verb, n):
    instance = begin(pair[0], "CS")
    gravity = pair[0].reference("gravity")
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
    of_arrays, of_scalars = pair
    unknowns = [of_arrays.reference(name) for name in ("coupler.v", "der(A.u)")]
    knowns = [of_arrays.reference(name) for name in ("gravity", "A.u")]
    one_by_one = (
        [*three(of_scalars, "coupler.v"), of_scalars.reference("der(A.u)")],
        [*three(of_scalars, "gravity"), of_scalars.reference("A.u")],
    )
    rng = np.random.default_rng(5)
    seed, weights = rng.normal(size=4), rng.normal(size=4)
    found = product(together, "Directional", unknowns, knowns, seed, 4)
    assert list(found) == apart.directional(*one_by_one, list(seed))
    found = product(together, "Adjoint", unknowns, knowns, weights, 4)
    assert list(found) == apart.product("GetAdjointDerivative", *one_by_one, list(weights))


def rates(instance, references, orders, n: int):
    values, size = (c_double * n)(), len(references)
    lists = ((c_uint32 * size)(*references), c_size_t(size), (c_uint32 * size)(*orders))
    return instance.call("GetOutputDerivatives", *lists, values, c_size_t(n)), list(values)


def test_derivatives_of_outputs(pair):
    together, apart = (begin(fmu, "CS") for fmu in pair)
    both = [pair[0].reference(name) for name in ("coupler.r", "A.q")]
    for instance in (together, apart):
        instance.step(0.0, 0.2)
    status, values = rates(together, both, [1, 1], 4)
    assert status == OK
    assert values == apart.rates([*three(pair[1], "coupler.r"), pair[1].reference("A.q")])
    assert rates(together, both, [1, 1], 2)[0] == ERROR
    assert rates(together, both, [1, 2], 4)[0] == ERROR


def test_intermediate_updates(pair):
    fmu, seen = pair[0], []
    r = [fmu.reference("coupler.r")]

    def look(instance, update):
        values = (c_double * 3)()
        assert floats(instance, "Get", r, values) == OK
        seen.append(list(values))

    instance = begin(fmu, "CS", between=look, required=r)
    instance.step(0.0, 0.3)
    other = begin(pair[1], "CS")
    other.step(0.0, 0.3)
    assert seen[-1] == other.get(three(pair[1], "coupler.r"))


@pytest.mark.parametrize("kind", ["ModelExchange", "CoSimulation"])
def test_fmpy(pair, needs, kind):
    fmpy = needs("fmpy")
    options = {"fmi_type": kind, "stop_time": 0.5, "output_interval": 0.1, "relative_tolerance": 1e-9}
    together = fmpy.simulate_fmu(str(pair[0].path), output=["A.q", "coupler.r"], **options)
    apart = fmpy.simulate_fmu(str(pair[1].path), output=["A.q", "coupler.r[1]", "coupler.r[3]"], **options)
    assert np.array_equal(together["A.q"], apart["A.q"])
    assert np.array_equal(together["coupler.r"][:, 0], apart["coupler.r[1]"])
    assert np.array_equal(together["coupler.r"][:, 2], apart["coupler.r[3]"])
