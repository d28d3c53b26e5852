"""What a simulation gives back: columns, also of cut joints and of runs that failed."""

import numpy as np
import pytest

import linkwork as lw
from linkwork.simulation.segments import SAMPLES
from support.cases import four_bar
from support.small import spinning_crank


def loads_at(t):
    return {"A": 1.0 - t, "D": 0.25}


# ---- columns ----


def test_every_column_is_what_the_system_computes_there(sprung, result):
    for i in (0, 4, 10):
        q, u, tau = result.y[i, :3], result.y[i, 3:], loads_at(result.t[i])
        for name in result.names:
            assert result[name][i] == sprung.value(name, q, u, tau=tau), name


def test_columns_of_states(sprung, result):
    assert result.y.shape == (11, 6)
    for k, name in enumerate([*sprung.q_names, *sprung.u_names]):
        assert np.array_equal(result[name], result.y[:, k])
    assert np.array_equal(result["time"], result.t)


def test_quantities_of_several_numbers(result):
    assert result["A.q"].shape == (11,)
    assert result["coupler.r"].shape == (11, 3)
    assert result["coupler.Q"].shape == (11, 4)
    for i in range(3):
        assert np.array_equal(result[f"coupler.r[{i + 1}]"], result["coupler.r"][:, i])


def test_names(sprung, result):
    assert list(result) == result.names
    assert len(result) == 11
    kinds = {variable.name: variable.kind for variable in sprung.variables}
    assert {kinds[name] for name in result.names} == {"input", "state", "derivative", "output"}
    assert set(kinds) - set(result.names) == {
        name for name, kind in kinds.items() if kind in ("parameter", "start", "time")
    }
    assert {"A.q", "D.q", "der(A.u)", "coupler.r[2]", "A.tau", "loop.D.residual"} <= set(result.names)


def test_inputs_are_columns(result):
    assert result["A.tau"] == pytest.approx(1.0 - result.t, abs=0)
    assert np.array_equal(result["D.tau"], np.full(11, 0.25))
    assert np.array_equal(result["B.tau"], np.zeros(11))


def test_parameters_are_columns(sprung, result):
    assert np.array_equal(result["coupler.mass"], np.full(11, 2.0))
    assert np.array_equal(result["gravity"], np.tile([0.0, 0.0, -9.81], (11, 1)))
    assert np.array_equal(result["B.free"], np.full(11, 0.2))
    assert np.array_equal(result["A.q_start"], np.full(11, -0.7))
    assert result["crank.inertia"].shape == (11, 6)


@pytest.mark.parametrize(
    ("name", "hint"),
    [("A.Q", "A.q"), ("coupler.R", "coupler.r"), ("cupler.r", "coupler.r"), ("energy.kinetc", "energy.kinetic")],
)
def test_unknown_columns(result, name, hint):
    for ask in (lambda: result[name], lambda: result.to_dataframe([name]), lambda: result.plot([name])):
        with pytest.raises(lw.MechanismError, match=f"no variable '{name}' in the result of .*did you mean '{hint}"):
            ask()


def test_derivatives_are_those_of_the_states(result):
    fine = lw.simulate(result.model, 0.5, t_eval=np.linspace(0.0, 0.5, 2001))
    for name in ("A.q", "C.u"):
        assert np.gradient(fine[name], fine.t)[5:-5] == pytest.approx(fine[f"der({name})"][5:-5], abs=1e-2)
    assert fine["B.a"] == pytest.approx(fine["der(B.u)"], abs=1e-4)


def test_no_rows():
    result = lw.simulate(four_bar().mechanism, 0.1, t_eval=[])
    assert result["A.q"].shape == (0,)
    assert result["coupler.r"].shape == (0, 3)
    assert result["coupler.mass"].shape == (0,)
    assert result["gravity"].shape == (0, 3)
    assert "empty" in repr(result)


def test_repr(result):
    assert repr(result) == "Result('four_bar_of_record': 11 rows, 90 columns, 0 to 0.5 s; reached t = 0.5)"


def test_what_a_run_has_cost(result):
    assert result.statistics.steps > 10
    assert result.statistics.evaluations > 6 * result.statistics.steps
    assert result.events == []
    assert result.message == "reached t = 0.5"


# ---- cut joints over several turns ----


def spinning(cut, t_eval=None, t_end=2.0, **options):
    return lw.simulate(spinning_crank(cut), t_end, t_eval=t_eval, **options)


@pytest.mark.parametrize(
    "t_eval", [None, np.linspace(0.0, 2.0, 200), [0.0, 2.0], [2.0]], ids=["steps", "fine", "ends", "end"]
)
def test_angles_of_cut_joints_are_followed(t_eval):
    """Whatever rows are kept: the angle is that of the same mechanism cut elsewhere."""
    cut, tree = spinning("A", t_eval), spinning("D", t_eval)
    assert cut["A.q"][-1] < -4 * np.pi
    assert cut["A.q"][-1] == pytest.approx(tree["A.q"][-1], abs=1e-5)
    if t_eval is None or len(t_eval) > 10:
        assert np.abs(np.diff(cut["A.q"])).max() < 1.0


@pytest.mark.parametrize("solver", ["dopri5", "rodas5p"])
def test_revolutions_are_counted_without_a_call_of_python(solver, monkeypatch):
    """Given times of output cost no call for each step: one lies beyond the next, and the hook is C alone."""
    monkeypatch.setattr("linkwork.core.native_run.Equations.accepted", None)
    result = spinning("A", [0.0, 1.7, 2.0], solver=solver)
    assert result["A.q"][-1] < -4 * np.pi
    assert result["A.q"][1:] == pytest.approx(spinning("D", [1.7, 2.0], solver=solver)["A.q"], abs=1e-5)


def test_angles_of_cut_joints_backward_in_time():
    mech = spinning_crank("A")
    back = lw.simulate(mech, -2.0, t_eval=[0.0, -1.0, -2.0])
    every = lw.simulate(mech, -2.0)
    assert back["A.q"][-1] > 4 * np.pi
    assert back["A.q"][-1] == pytest.approx(every["A.q"][-1], abs=1e-6)
    assert np.abs(every["loop.A.residual"]).max() < 1e-6


def test_asking_for_columns_in_any_order_gives_the_same():
    first, second = spinning("A"), spinning("A")
    q, r = first["A.q"], first["coupler.r"]
    assert np.array_equal(second["coupler.r"], r)
    assert np.array_equal(second["A.q"], q)
    assert np.array_equal(second["A.q"], q)


# ---- runs that failed ----


def test_result_of_a_failed_run():
    with pytest.raises(lw.SolverError) as failed:
        lw.simulate(four_bar().mechanism, 100.0, max_steps=50)
    result = failed.value.result
    assert result.t[-1] < 100.0
    assert result.statistics.steps == len(result.t) - 1
    assert "max_steps" in repr(result)
    for name in result.names:
        assert np.isfinite(result[name]).all(), name
    assert result.to_dataframe().shape == (len(result), len(result.names))
    assert result.plot() is not None


def test_rows_without_accelerations_keep_their_states():
    """A load that is known for the run and not for one of the rows: what does not need it is there."""
    asked = []

    def forgetful(t):
        asked.append(t)
        if t == 0.0 and len(asked) > SAMPLES + 10:  # it is sampled before the run
            raise LookupError("long ago")
        return 1.0

    result = lw.simulate(four_bar().mechanism, 0.2, inputs={"A": forgetful}, t_eval=[0.0, 0.123])
    assert np.isfinite(result["A.q"]).all()
    assert np.isfinite(result["B.u"]).all()
    assert np.isnan(result["A.tau"]).tolist() == [True, False]
    assert np.isnan(result["A.a"]).tolist() == [True, False]
    assert np.isnan(result["coupler.r"]).all(axis=1).tolist() == [True, False]


def test_columns_are_read_only_and_arrays_have_no_names():
    mech = lw.Mechanism("slider")
    mech.add_body("block", mass=1.0, com=(0, 0, 0), inertia=lw.inertia.sphere(1.0, 0.1))
    mech.add_joint("S", lw.Prismatic("z"), "ground", "block")
    run, sweep = lw.simulate(mech, t_end=0.1), lw.kinematics(mech, "S.q", 0.0, 1.0, rows=3)
    for one in (run, sweep):
        with pytest.raises(ValueError, match="read-only"):
            one["S.q"][0] = 1.0
        assert dict(one).keys() == set(one.keys())
        for table in (np.asarray, pytest.importorskip("pandas").DataFrame):
            with pytest.raises(TypeError, match=r"to_dataframe\(\)"):
                table(one)
