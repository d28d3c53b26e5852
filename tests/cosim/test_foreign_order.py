"""The host calls FMUs in the order and modes that FMI allows, however a run ends."""

import pytest

from linkwork.cosim import GaussSeidel, Jacobi, System, run
from linkwork.errors import CosimError
from support.fmi_order import DISCARD, calls, faults
from support.foreign import MODE, foreign

VERSIONS = ("2.0", "3.0")
STATES = {"2.0": 'canGetAndSetFMUstate="true"', "3.0": 'canGetAndSetFMUState="true"'}
VARIABLE = 'canHandleVariableCommunicationStepSize="true"'
MASTERS = {
    "jacobi": lambda: Jacobi(0.1),
    "extrapolated": lambda: Jacobi(0.1, extrapolation=2),
    "gauss-seidel": lambda: GaussSeidel(0.1),
    "interpolated": lambda: GaussSeidel(0.1, extrapolation=1),
}


@pytest.fixture
def pair(tmp_path, monkeypatch, needs, needs_program):
    """Two in a circle, with a continuous and discrete connections; what they are called with."""
    needs("fmpy")
    needs_program("gcc")
    monkeypatch.setenv("FOREIGN_CALLS", str(tmp_path / "calls"))

    def make(version: str, *, flags: tuple[str, ...] = (), abilities: str = "", **parameters: object) -> System:
        fmu = foreign(tmp_path / "foreign.fmu", version, *flags, abilities=f"{VARIABLE} {abilities}")
        system = System("pair")
        system.add("one", fmu, parameters=parameters)
        system.add("two", fmu, parameters={"x0": 1.0})
        system.connect("one.y", "two.u", convert_units=False)
        system.connect("two.z", "one.u")
        whole = "Integer" if version == "2.0" else "Int32"
        system.connect(f"one.{whole}_out", f"two.{whole}_in")
        system.connect("one.Boolean_out", "two.Boolean_in")
        system.connect("one.String_out", "two.String_in")
        return system

    make.calls = lambda: calls(tmp_path / "calls")
    return make


@pytest.mark.parametrize("name", MASTERS)
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("states", [False, True])
def test_calls_are_those_that_fmi_allows(version, name, states, pair):
    more = 'canInterpolateInputs="true"' if version == "2.0" else ""
    system = pair(version, abilities=f"{STATES[version] if states else ''} {more}")
    run(system, 1.0, master=MASTERS[name](), columns="*")
    made = pair.calls()
    assert faults(made, three=version == "3.0") == []
    # A parabola is given to FMI 3.0 by two steps for one, from the third on; the first is made twice where that can be.
    parabolas = name == "extrapolated"
    expected = 20 + 16 * (parabolas and version == "3.0") + 2 * (parabolas and states)
    assert [one.function for one in made].count("DoStep") == expected


@pytest.mark.parametrize("name", MASTERS)
@pytest.mark.parametrize("states", [False, True])
def test_discrete_inputs_are_set_in_event_mode_only(name, states, pair):
    abilities = f'hasEventMode="true" {STATES["3.0"] if states else ""}'
    system = pair("3.0", abilities=abilities, mode=MODE["events"], every=0.125)
    result = run(system, 1.0, master=MASTERS[name](), columns="*")
    made = pair.calls()
    assert faults(made, three=True, event_mode=True) == []
    assert [t for t, who in result.events if who == "one"] == pytest.approx([0.125 * k for k in range(1, 9)])
    assert ("GetState" in {one.function for one in made}) == states


@pytest.mark.parametrize("mode", ["fails", "dies", "no_init", "no_exit", "no_end", "pends", "warns", "ends"])
@pytest.mark.parametrize("version", VERSIONS)
def test_nothing_forbidden_is_called_after_a_failure(version, mode, pair):
    system = pair(version, abilities=STATES[version], mode=MODE[mode])
    if mode in ("no_end", "warns", "ends"):
        run(system, 1.0, master=Jacobi(0.1))
    else:
        with pytest.raises(CosimError):
            run(system, 1.0, master=Jacobi(0.1))
    assert faults(pair.calls(), three=version == "3.0") == []


@pytest.mark.parametrize("name", MASTERS)
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("states", [False, True])
def test_a_discarded_step_is_made_again_only_where_the_fmu_may(version, name, states, pair):
    """FMI 2.0 requires a rollback before; the run ends where it is not possible, with partial results."""
    system = pair(version, abilities=STATES[version] if states else "", mode=MODE["short_only"])
    if version == "3.0" or states:
        assert run(system, 1.0, master=MASTERS[name]()).t[-1] == 1.0
    else:
        with pytest.raises(CosimError, match=r"'one' .*discarded a step.*cannot save states") as caught:
            run(system, 1.0, master=MASTERS[name]())
        assert caught.value.result.t.tolist() == [0.0]
    made = pair.calls()
    assert faults(made, three=version == "3.0") == []
    assert any(one.function == "DoStep" and one.status == DISCARD for one in made)


@pytest.mark.parametrize("mode", ["short_only", "discards"])
def test_one_that_discards_catches_up_with_others_that_cannot_go_back(mode, pair, tmp_path):
    system = pair("2.0")
    able = foreign(tmp_path / "able.fmu", abilities=f"{VARIABLE} {STATES['2.0']}")
    system.add("late", able, parameters={"mode": MODE[mode], "at": 0.25})
    if mode == "short_only":
        result = run(system, 1.0, master=Jacobi(0.1), inputs={"late.u": 1.0})
        assert result["late.y"] == pytest.approx(result.t)
        assert any("'late' discards" in one and "'one', 'two' cannot be rolled back" in one for one in result.notices)
    else:
        with pytest.raises(CosimError, match=r"no step of 'late' .*however short") as caught:
            run(system, 1.0, master=Jacobi(0.1), inputs={"late.u": 1.0})
        assert caught.value.result.t[-1] == pytest.approx(0.2)
    assert faults(pair.calls(), three=False) == []


def test_the_rules_find_what_breaks_them(tmp_path):
    rows = ["Instantiate||0", "fmi2SetReal|5 |0", "fmi2DoStep||0", "fmi2EnterInitializationMode||0"]
    rows += ["fmi2ExitInitializationMode||0", "fmi2SetReal|5 |0", "GetState|0x1|0", "fmi2DoStep||2", "fmi2DoStep||4"]
    (tmp_path / "calls").write_text("".join(f"a|{row}\n" for row in [*rows, "fmi2FreeInstance||0"]))
    assert faults(calls(tmp_path / "calls"), three=False) == [
        "a: DoStep after instantiated",
        "a: SetReal of 5 while step",
        "a: DoStep after failed",
        "a: FreeInstance after fatal",
        "a: 1 states are left",
    ]
