"""Parameters changed in a compiled model, and studies over them: as though each had been compiled."""

import os
import pickle
import signal
import threading

import numpy as np
import pytest

import linkwork as lw
from linkwork.cosim.sweep import grid
from support.small import pendulum


def four_bar_with_spring(damping=0.3, mass=2.0, com=0.25):
    mech = lw.Mechanism("four_bar")
    y = lw.Revolute((0, 1, 0))
    mech.add_body("crank", mass=1.0, com=(0.2, 0, 0), inertia=lw.inertia.rod(1.0, 0.4))
    mech.add_body("coupler", mass=mass, com=(com, 0, 0), inertia=lw.inertia.rod(2.0, 0.8))
    mech.add_body("rocker", mass=1.5, com=(0.3, 0, 0), inertia=lw.inertia.rod(1.5, 0.6))
    mech.add_joint("A", y, "ground", "crank", parent_frame=lw.Frame(), child_frame=lw.Frame())
    mech.add_joint("B", y, "crank", "coupler", parent_frame=lw.Frame((0.4, 0, 0)), child_frame=lw.Frame())
    mech.add_joint("C", y, "coupler", "rocker", parent_frame=lw.Frame((0.8, 0, 0)), child_frame=lw.Frame((0.6, 0, 0)))
    mech.add_joint("D", y, "ground", "rocker", parent_frame=lw.Frame((0.7, 0, 0)), child_frame=lw.Frame())
    mech.add_force(lw.SpringDamper("D", stiffness=4.0, damping=damping, free=-1.0))
    mech.start(q={"A": -1.0, "B": 0.5}, u={"A": 2.0})
    return mech


@pytest.mark.parametrize(
    ("parameters", "changed"),
    [
        ({"D.damping": 0.9}, {"damping": 0.9}),
        ({"coupler.mass": 3.0, "D.damping": 0.1}, {"damping": 0.1, "mass": 3.0}),
        ({"coupler.com": (0.4, 0, 0)}, {"com": 0.4}),
        ({"coupler.com[1]": 0.4}, {"com": 0.4}),
    ],
)
def test_as_compiled_with_these_values(parameters, changed):
    model = lw.compile(four_bar_with_spring())
    here = lw.simulate(model.with_parameters(parameters), 1.0)
    there = lw.simulate(four_bar_with_spring(**changed), 1.0)
    assert np.array_equal(here.y, there.y)
    assert np.array_equal(lw.simulate(model, 1.0, parameters=parameters).y, there.y)
    assert np.array_equal(lw.simulate(model, 1.0).y, lw.simulate(four_bar_with_spring(), 1.0).y)  # it stays as it was
    for name in parameters:
        assert np.array_equal(here[name], there[name])


def test_geometry_closes_the_loops_again():
    """A longer coupler: the pose follows from the triangle of coupler, rocker and the line to the rocker's foot."""
    model = lw.compile(four_bar_with_spring())
    columns = [name for name in model.columns if name.startswith("C.") and "[" in name]
    place = next(name for name in columns if model.value(name, model.assemble()) == 0.8)
    longer = model.with_parameters({place: 0.9})
    state = longer.assemble(q={"A": -1.0})
    assert float(np.max(longer.loop_residual(state))) < 1e-12
    tip = np.array([0.4 * np.cos(-1.0), -0.4 * np.sin(-1.0)])
    far = float(np.hypot(tip[0] - 0.7, tip[1]))
    between = float(np.arccos((0.9**2 + 0.6**2 - far**2) / (2 * 0.9 * 0.6)))
    assert np.cos(float(state["C.q"])) == pytest.approx(np.cos(between), abs=1e-10)
    start = model.assemble(q={"A": -1.0})
    result = lw.simulate(model, 0.1, state=start, parameters={place: 0.9})
    assert result["A.q"][0] == pytest.approx(-1.0, abs=1e-12)
    assert result["loop." + model.loop_names[0] + ".residual"].max() < 1e-7
    with pytest.raises(lw.MechanismError, match="another mechanism"):
        longer.adopt(lw.compile(pendulum()).assemble())


def test_start_values_and_gravity():
    model = lw.compile(pendulum())
    result = lw.simulate(model, 0.5, parameters={"A.q_start": 0.3, "A.u_start": -1.0, "gravity[3]": -1.6})
    assert result.y[0].tolist() == [0.3, -1.0]
    there = pendulum(gravity=-1.6)
    there.start(q={"A": 0.3}, u={"A": -1.0})
    assert np.array_equal(result.y, lw.simulate(there, 0.5).y)


def test_the_fmu_has_the_values(tmp_path, needs):
    fmpy = needs("fmpy")
    model = lw.compile(pendulum(damping=0.1)).with_parameters({"rod.mass": 2.5, "A.damping": 0.4})
    path = lw.export_fmu(model, tmp_path / "heavy.fmu")
    starts = {v.name: v.start for v in fmpy.read_model_description(str(path)).modelVariables}
    assert float(starts["rod.mass"]) == 2.5
    found = fmpy.simulate_fmu(str(path), stop_time=0.5, output=["A.q"], output_interval=0.5)
    assert found["A.q"][-1] == pytest.approx(lw.simulate(model, 0.5, rtol=1e-9)["A.q"][-1], abs=1e-6)


def test_it_is_pickled_with_its_values():
    model = lw.compile(pendulum()).with_parameters({"rod.mass": 2.5})
    again = pickle.loads(pickle.dumps(model))
    assert again.model_bytes == model.model_bytes
    assert again.parameters == {"rod.mass": 2.5}


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"rod.m": 1.0}, "no variable 'rod.m': did you mean 'rod.mass'"),
        ({"A.q": 1.0}, "'A.q' is no parameter but its kind is 'state'"),
        ({"rod.mass": np.nan}, "not finite"),
        ({"rod.mass": "heavy"}, "rod.mass must be a number"),
        ({"rod.com": 1.0}, "3 numbers"),
        ([("rod.mass", 1.0)], "parameters must be a dictionary"),
    ],
)
def test_what_is_refused(parameters, message):
    with pytest.raises(lw.MechanismError, match=message):
        lw.compile(pendulum()).with_parameters(parameters)


def test_a_value_that_makes_no_sense_is_named_when_it_is_used():
    with pytest.raises(lw.MechanismError, match="rod"):
        lw.simulate(pendulum(), 1.0, parameters={"rod.mass": -1.0})


# ---- studies ----

VALUES = np.linspace(0.05, 2.0, 24)


def test_a_study_is_as_compiled_each(tmp_path):
    model = lw.compile(four_bar_with_spring())
    for workers in (1, 2):
        table = lw.study(model, 0.3, {"D.damping": VALUES}, workers=workers, progress=False)
        for i in (0, 11, 23):
            each = lw.simulate(four_bar_with_spring(damping=float(VALUES[i])), 0.3)
            assert [table[name][i] for name in (*model.q_names, *model.u_names)] == each.y[-1].tolist()
    table.save(tmp_path / "study.parquet")
    pandas = pytest.importorskip("pandas")
    again = pandas.read_parquet(tmp_path / "study.parquet")
    assert again["D.damping"].tolist() == VALUES.tolist()
    assert again["A.q"].tolist() == table["A.q"].tolist()


def test_one_worker_is_this_process_on_every_system(monkeypatch):
    monkeypatch.delattr("os.sched_getaffinity", raising=False)
    seen = []
    lw.study(pendulum(), 0.01, {"rod.mass": [1.0, 2.0]}, measure=lambda run: seen.append(os.getpid()) or {}, workers=1)
    assert seen == [os.getpid()] * 2


def test_where_processes_start_anew_a_lambda_is_refused_by_name(monkeypatch):
    monkeypatch.setattr("multiprocessing.get_all_start_methods", lambda: ["spawn"])
    points = {"rod.mass": [1.0, 2.0]}
    with pytest.raises(lw.LinkworkError, match=r"measure cannot be sent .* workers=1"):
        lw.study(pendulum(), 0.01, points, measure=lambda run: {}, workers=2)
    with pytest.raises(lw.LinkworkError, match=r"inputs cannot be sent .* workers=1"):
        lw.study(pendulum(), 0.01, points, inputs={"A": lambda t: t}, workers=2)
    direct = lw.study(pendulum(), 0.01, points, columns="A.q", workers=1)
    assert lw.study(pendulum(), 0.01, points, columns="A.q", workers=2)["A.q"].tolist() == direct["A.q"].tolist()


def test_points_columns_and_measures():
    points = grid({"A.q_start": [0.1, 0.2], "A": [0.0, 0.5, 1.0]})
    table = lw.study(
        pendulum(), 1.0, points, columns="A.q", measure=lambda r: {"fastest": float(np.abs(r["A.u"]).max())}, workers=2
    )
    assert len(table) == 6
    direct = lw.simulate(pendulum(), 1.0, parameters={"A.q_start": 0.2}, inputs={"A": 0.5})
    assert table["A.q"][4] == direct["A.q"][-1]
    assert table["fastest"][4] == np.abs(direct["A.u"]).max()


def test_points_that_fail_keep_the_others():
    table = lw.study(pendulum(), 0.1, {"rod.mass": [1.0, -1.0, 2.0]}, columns="A.q", workers=1)
    assert list(table.errors) == [1]
    assert np.isnan(table["A.q"]).tolist() == [False, True, False]
    assert "rod" in table.to_dataframe()["error"][1]


@pytest.mark.parametrize("workers", [1, 2])
def test_an_interruption_keeps_what_is_done(workers):
    seen = []

    def interrupt(update):
        if update.fraction and not seen:  # something is done
            seen.append(update)
            threading.Timer(0.0, os.kill, (os.getpid(), signal.SIGINT)).start()

    table = lw.study(pendulum(), 20.0, {"rod.mass": np.linspace(1, 2, 400)}, workers=workers, progress=interrupt)
    assert table.aborted
    done = np.isfinite(table["A.q"])
    assert 0 < done.sum() < 400
    first = int(np.flatnonzero(done)[0])
    assert (
        table["A.q"][first]
        == lw.simulate(pendulum(), 20.0, parameters={"rod.mass": table["rod.mass"][first]})["A.q"][-1]
    )


@pytest.mark.parametrize(
    ("points", "message"),
    [
        ({}, "points need a name"),
        ({"rod.mass": 1.0}, "points need a name"),
        ({"rod.mass": [1.0, 2.0], "A.damping": [1.0]}, "as many values"),
        ({"rod.mass": ["a"]}, "must be numbers"),
        ({"rod.mas": [1.0]}, "did you mean 'rod.mass'"),
        (3.0, "values by name"),
    ],
)
def test_points_that_are_refused(points, message):
    with pytest.raises(lw.MechanismError, match=message):
        lw.study(pendulum(), 0.1, points)
