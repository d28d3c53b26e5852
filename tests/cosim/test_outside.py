"""Inputs by the names that a system has for them: what arrives is what the connections make of them."""

import numpy as np
import pytest

from linkwork.cosim import Connection, Jacobi, System, run
from linkwork.cosim.network.input_sources import by_target
from linkwork.errors import CosimError
from support.cosim import exported


@pytest.fixture(scope="module")
def system(tmp_path_factory):
    pytest.importorskip("fmpy")
    fmu = exported("four_bar", tmp_path_factory.mktemp("fmu"), outputs=["A.q"])
    system = System("two")
    for name in ("a", "b"):
        system.add(name, fmu)
    system.external_inputs = [Connection("wind", "a.A.tau"), Connection("wind", "b.A.tau", factor=-2.0, offset=0.5)]
    system.external_outputs = [Connection("a.A.u", "speed")]
    return system


@pytest.mark.parametrize("given", [0.25, lambda t: 3.0 * t, ((0.0, 0.1), (0.0, 0.3))], ids=["number", "f", "series"])
def test_a_name_outside_stands_for_all_that_it_feeds(system, given):
    wind = np.full(11, given) if given == 0.25 else 3.0 * np.linspace(0.0, 0.1, 11)
    result = run(system, 0.1, master=Jacobi(0.01), inputs={"wind": given})
    np.testing.assert_allclose(result["a.A.tau"], wind, atol=1e-15)
    np.testing.assert_allclose(result["b.A.tau"], 0.5 - 2.0 * wind, atol=1e-15)
    other = run(
        system,
        0.1,
        master=Jacobi(0.01),
        inputs={"a.A.tau": (result.t, wind), "b.A.tau": (result.t, 0.5 - 2.0 * wind)},
    )
    np.testing.assert_allclose(result["b.A.q"], other["b.A.q"], rtol=1e-12)


def test_outputs_of_the_system_are_recorded_whatever_they_are_within(system):
    result = run(system, 0.1)
    assert "a.A.u" in result.names  # no output of its FMU
    assert "b.A.u" not in result.names
    assert len(set(result.names)) == len(result.names)


@pytest.mark.parametrize(
    ("inputs", "said"),
    [
        ({"wnd": 1.0}, "no external input 'wnd' in the system 'two'; did you mean 'wind'"),
        ({"c.A.tau": 1.0}, "the external input 'c.A.tau': .*no component 'c'"),
        ({"wind": 1.0, "b.A.tau": 2.0}, "'b.A.tau' is given twice, by 'wind' and 'b.A.tau'; leave one out"),
        ({"wind": "strong"}, "'wind' is multiplied by -2 and shifted by 0.5; it cannot be 'strong'"),
        ({"a.A.qq": 1.0}, "no variable 'A.qq'"),
    ],
)
def test_what_is_wrong_is_said(system, inputs, said):
    with pytest.raises(CosimError, match=said):
        run(system, 0.1, inputs=inputs)


def test_without_names_outside_nothing_is_changed(system):
    given = {"a.A.tau": abs, "b.A.tau": 2.0}
    assert by_target(system, given) == given
