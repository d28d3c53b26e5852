"""What an importer may set when: tunable parameters, and solver and tolerance of Co-Simulation."""

import ctypes
from ctypes import byref, c_size_t, c_uint32

import pytest

import linkwork as lw
from linkwork.core.native import Stage
from support.fmi_calls import ERROR, OK, whole

KINDS = pytest.mark.parametrize("kind", ["ME", "CS"])

TUNABLE = (
    "coupler.mass",
    "coupler.com[1]",
    "crank.inertia[1,1]",
    "gravity[3]",
    "A.stiffness",
    "A.damping",
    "A.free",
    "A.reflected_inertia",
)
FIXED = ("A.parent_frame.position[1]", "B.child_frame.rotation[2]", "A.q_start", "A.u_start")


def run(instance, t_end: float, steps: int) -> None:
    time = 0.0
    for k in range(steps):
        instance.step(time, t_end / steps)
        time = t_end * (k + 1) / steps


# ---- tunable and fixed


@KINDS
def test_tunable_parameters_change_between_steps_and_fixed_ones_do_not(fmu, kind):
    instance = fmu.new(kind)
    instance.initialize()
    if kind == "ME":  # while time advances no such variable
        assert instance.try_set([fmu.reference("coupler.mass")], [3.0]) == ERROR
        instance.must("EnterEventMode")
    for name in TUNABLE:
        reference = fmu.reference(name)
        value = 1.25 * instance.get([reference])[0] + 1e-3
        assert instance.try_set([reference], [value]) == OK, name
        assert instance.get([reference]) == [value]
    for name in FIXED:
        assert instance.try_set([fmu.reference(name)], [0.2]) == ERROR
        assert "until Initialization Mode" in instance.last


@KINDS
def test_what_is_tuned_moves_differently_from_then_on(fmu, kind):
    """The same as Python with the new mass in the same state."""
    instance = fmu.new(kind)
    instance.initialize()
    if kind == "CS":
        run(instance, 0.1, 4)
    else:
        instance.must("EnterEventMode")
    instance.set([fmu.reference("coupler.mass")], [3.5])
    block, offset = fmu.system.block(), {v.name: v.reference for v in fmu.system.variables}
    states, derivatives = ([v.name for v in fmu.system.variables if v.kind == kind] for kind in ("state", "derivative"))
    block.reals[[offset[name] for name in states]] = instance.get([fmu.reference(name) for name in states])
    block.reals[offset["coupler.mass"]] = 3.5
    block.put("q", block.reals[fmu.system.fields["q"].span], Stage.NONE)
    block.evaluate(Stage.DERIVATIVES)
    found = instance.get([fmu.reference(name) for name in derivatives])
    assert found == list(block.reals[[offset[name] for name in derivatives]])


def test_tunables_are_those_of_the_model_description(fmu, needs):
    description = needs("fmpy").read_model_description(str(fmu.path), validate=False)
    instance = fmu.new("CS")
    instance.initialize()
    for variable in description.modelVariables:
        if variable.causality != "parameter" or variable.name == "solver":
            continue
        tunable = variable.variability == "tunable"
        reference = variable.valueReference
        value = instance.get([reference])
        assert (instance.try_set([reference], value) == OK) == tunable, variable.name


# ---- solver and tolerance


@KINDS
def test_settings_are_read_back_until_initialization_ends(fmu, kind):
    instance = fmu.new(kind)
    solver, tolerance = fmu.reference("solver"), fmu.reference("tolerance")
    assert whole(instance, "Set", solver, 2) == (OK, 2)
    instance.set_up()
    assert instance.get([tolerance]) == [0.0]
    assert whole(instance, "Get", solver) == (OK, 2)
    instance.set([tolerance], [1e-5])
    assert instance.get([tolerance, fmu.reference("coupler.mass")])[0] == 1e-5
    instance.must("ExitInitializationMode")
    assert whole(instance, "Set", solver, 1)[0] == ERROR
    assert instance.try_set([tolerance], [1e-6]) == ERROR


@pytest.mark.parametrize("value", [0, 5, -1])
def test_an_unknown_solver_is_refused(fmu, value):
    instance = fmu.new("CS")
    assert whole(instance, "Set", fmu.reference("solver"), value)[0] == ERROR
    assert "dopri5" in instance.last


@pytest.mark.parametrize("value", [-1e-6, 1.0, float("nan")])
def test_an_impossible_tolerance_is_refused(fmu, value):
    instance = fmu.new("CS")
    assert instance.try_set([fmu.reference("tolerance")], [value]) == ERROR


def test_the_tolerance_set_goes_before_the_importers(fmu):
    """A coarse run is that of the tolerance set, to the bit, whatever the importer requests."""
    states = fmu.references("state")

    def after(importer: float, own: float) -> list[float]:
        instance = fmu.new("CS")
        if own:
            instance.set([fmu.reference("tolerance")], [own])
        instance.initialize(tolerance=importer)
        run(instance, 1.0, 10)
        return instance.get(states)

    assert after(1e-9, 1e-4) == after(1e-4, 0.0) != after(1e-9, 0.0)


def test_all_solvers_meet_the_tolerance(fmu):
    """What they leave differs. This motion is not stiff: "auto" is "dopri5"."""
    exact = float(lw.simulate(fmu.system, t_end=1.0, solver="DOP853", rtol=1e-11)["A.q"][-1])
    found = []
    for solver in (1, 2, 3, 4):
        instance = fmu.new("CS")
        whole(instance, "Set", fmu.reference("solver"), solver)
        instance.initialize(tolerance=1e-8)
        run(instance, 1.0, 7)
        found += instance.get([fmu.reference("A.q")])
    assert found == pytest.approx([exact] * 4, abs=1e-7)
    assert found[0] == found[2]
    assert len(set(found)) == 3


def test_communication_steps_do_not_change_what_the_method_of_order_8_leaves(fmu):
    states, found = fmu.references("state"), []
    for steps in (1, 7, 200):
        instance = fmu.new("CS")
        whole(instance, "Set", fmu.reference("solver"), 4)
        instance.initialize(tolerance=1e-10)
        run(instance, 1.0, steps)
        found.append(instance.get(states))
    assert found[1] == pytest.approx(found[0], abs=1e-9)
    assert found[2] == pytest.approx(found[0], abs=1e-9)


# ---- dependencies


def dependencies(instance, reference: int) -> list[int] | None:
    """None: refused."""
    count = c_size_t()
    if instance.call("GetNumberOfVariableDependencies", c_uint32(reference), byref(count)):
        return None
    n = count.value
    sizes, references, kinds = [(c_size_t * n)() for _ in range(2)], (c_uint32 * n)(), (ctypes.c_int * n)()
    instance.must("GetVariableDependencies", c_uint32(reference), sizes[0], references, sizes[1], kinds, c_size_t(n))
    assert not any(sizes[0])
    assert not any(sizes[1])
    assert set(kinds) <= {5}  # dependent
    return list(references)


def test_dependencies_are_those_of_the_model_description(built, needs):
    fmu = built("3.0")
    description = needs("fmpy").read_model_description(str(fmu.path), validate=False)
    instance = fmu.new("ME")
    instance.initialize()
    states = {d.variable.derivative.valueReference for d in description.derivatives}
    everything = states | {
        v.valueReference for v in description.modelVariables if v.causality in ("input", "independent")
    }
    for unknown in description.outputs + description.derivatives + description.eventIndicators:
        listed = unknown.dependencies
        expected = everything if listed is None else {known.valueReference for known in listed}
        assert set(dependencies(instance, unknown.variable.valueReference)) == expected
    assert dependencies(instance, fmu.reference("coupler.mass")) is None
    assert "not an output" in instance.last


def test_a_wrong_number_of_dependencies_is_refused(built):
    fmu = built("3.0")
    instance = fmu.new("ME")
    instance.initialize()
    assert (
        instance.call("GetVariableDependencies", c_uint32(fmu.reference("A.q")), None, None, None, None, c_size_t(999))
        == ERROR
    )
