"""The worker of a live page: runs, start poses, dragging, and what is saved."""

import csv
import io

import numpy as np
import pytest

import linkwork as lw
from support.cases import four_bar
from support.viewer import Program, as_array, as_text

ROWS = 50.0  # per second


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    return Program("live", tmp_path_factory.mktemp("live"))


def pendulum():
    mech = lw.Mechanism("pendulum")
    mech.add_body("rod", mass=2.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(2.0, 1.0))
    mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
    mech.add_force(lw.SpringDamper(joint="A", damping=0.5))
    return mech


def closed():
    case = four_bar()
    case.mechanism.start(q=case.q, u=case.u)
    return case.mechanism


class Live:
    """A mechanism as a live page has it: with a wrench on each body."""

    def __init__(self, program, mech):
        self.program, self.plain, mech = program, lw.compile(mech), mech.copy()
        for body in mech.bodies:
            mech.add_force(lw.Wrench(body, name=f"drag {body}"))
        self.model = lw.compile(mech)
        self.columns = {v.name: v.reference for v in self.plain_columns()}

    def plain_columns(self):
        names = [name for name in self.model_names() if not name.startswith("drag ")]
        return [v for v in self.model.variables if v.name in names]

    def model_names(self):
        return [v.name for v in self.model.variables if v.kind in ("input", "state", "derivative", "output")]

    def offset(self, name):
        return self.model.column(name).first

    def __call__(self, *steps):
        drag = {
            body: {"point": self.offset(f"drag {body}.point"), "force": self.offset(f"drag {body}.F")}
            for body in self.plain.mechanism.bodies
        }
        setup = {"offsets": [-1, *self.columns.values()], "drag": drag}
        names = ["time", *self.columns]
        result = self.program(
            {"model": as_text(self.model.model_bytes), "names": names, "setup": setup, "steps": steps}
        )
        result["columns"] = {name: as_array(values) for name, values in result["columns"].items()}
        return result

    def run(self, t_end=1.0, rtol=1e-8, parameters=(), inputs=()):
        values = {"parameters": self.values(parameters), "inputs": self.values(inputs)}
        return {"run": {"t_end": t_end, "rtol": rtol, "atol": rtol, "rowsPerSecond": ROWS, **values}}

    def values(self, given):
        return [[self.offset(name), value] for name, value in dict(given).items()]


ALL = {"work": 100000, "every": 0.0}  # without a drag the clock does not matter


@pytest.mark.parametrize("make", [pendulum, closed])
def test_rows_are_those_of_python(program, make):
    live = Live(program, make())
    body = next(iter(live.plain.mechanism.bodies))
    parameters = {f"{body}.mass": 3.3, f"{body}.com[1]": 0.4}
    ours = live(live.run(parameters=parameters, inputs={"A.tau": 0.2}), ALL)
    assert ours["answers"][-1]["type"] == "done"
    t_eval = np.arange(int(ROWS) + 1) / ROWS
    native = lw.simulate(live.plain, 1.0, t_eval=t_eval, parameters=parameters, inputs={"A": 0.2})
    for name in native.names:
        np.testing.assert_array_equal(ours["columns"][name], native[name], err_msg=name)


def test_saved_files(program):
    """CSV as `Result.to_csv` writes it."""
    live = Live(program, closed())
    ours = live(live.run(), ALL)
    rows = list(csv.reader(io.StringIO(ours["csv"])))
    assert rows[0] == ["time", *live.columns]
    values = np.array(rows[1:], dtype=float)
    np.testing.assert_array_equal(values.T, list(ours["columns"].values()))
    native = lw.simulate(live.plain, 1.0, t_eval=np.arange(int(ROWS) + 1) / ROWS)
    line = repr(native["A.q"].tolist()[3])
    assert line == rows[4][rows[0].index("A.q")]


def test_start_pose(program):
    """The pose of `Model.assemble(q=...)`; the run from it is that of its start values."""
    live = Live(program, closed())
    joints = list(live.plain.numbering.q)
    value = float(live.plain.assemble()[f"{joints[0]}.q"]) + 0.2
    kept = live.values({f"{joints[0]}.q_start": value})
    ours = live({"pose": {"parameters": [], "inputs": [], "guesses": [], "kept": [kept]}})
    (answer,) = ours["answers"]
    native = live.plain.assemble(q={joints[0]: value})
    row = dict(zip(["time", *live.columns], as_array(answer["row"]), strict=True))
    for joint in joints:
        assert row[f"{joint}.q"] == native[f"{joint}.q"]
    names = {live.offset(f"{joint}.q_start"): f"{joint}.q_start" for joint in joints}
    starts = {names[offset]: value for offset, value in answer["starts"]}
    again = live(live.run(parameters=starts), ALL)
    t_eval = np.arange(int(ROWS) + 1) / ROWS
    result = lw.simulate(live.plain, 1.0, t_eval=t_eval, parameters=starts)
    for joint in joints:
        np.testing.assert_array_equal(again["columns"][f"{joint}.q"], result[f"{joint}.q"])
        assert result[f"{joint}.q"][0] == pytest.approx(native[f"{joint}.q"], abs=1e-9)


def test_failed_pose(program):
    live = Live(program, closed())
    kept = live.values({f"{joint}.q_start": 0.1 + k for k, joint in enumerate(live.plain.numbering.q)})
    body = next(iter(live.plain.mechanism.bodies))
    joint = next(name for name, one in live.plain.mechanism.joints.items() if body in (one.parent, one.child))
    far = live.values({f"{joint}.child_frame.position[1]": 30.0})
    ours = live(live.run(), ALL, {"pose": {"parameters": far, "inputs": [], "guesses": [], "kept": [kept]}})
    answer = ours["answers"][-1]
    assert (answer["type"], answer["name"]) == ("failed", "AssemblyError")
    assert ours["columns"]["time"].size == int(ROWS) + 1  # the run that there was stays


def test_dragging(program):
    """A pendulum that is pulled up comes to rest below the pointer; let go, it swings on to the end of the run."""
    live = Live(program, pendulum())
    pull = {"body": "rod", "point": [1.0, 0, 0], "target": [0.0, 0.0, 3.0], "t": 0.5}
    seconds = 8.0
    ours = live(
        live.run(t_end=2.0), ALL, {"grab": pull}, {"work": int(seconds * 60), "every": 1 / 60}, {"release": True}, ALL
    )
    t, q = ours["columns"]["time"], ours["columns"]["A.q"]
    assert (np.diff(t) > 0).all()
    assert t[-1] == pytest.approx(0.5 + seconds, abs=0.05)
    assert np.sin(q[-1]) == pytest.approx(-1.0, abs=0.02)  # upright: the axis of the hinge is y
    kinds = [answer["type"] for answer in ours["answers"]]
    assert kinds[-1] == "done"
    assert kinds.count("truncate") == 2  # the run, and the grab that gives up the rows after it


def test_release_before_the_end(program):
    live = Live(program, closed())
    body = list(live.plain.mechanism.bodies)[-1]
    pull = {"body": body, "point": [0.1, 0, 0], "target": [0.3, 0.0, 0.3], "t": 0.2}
    drag = [{"grab": pull}, {"work": 30, "every": 1 / 60}, {"release": True}]
    ours = live(live.run(), ALL, *drag, ALL)
    t = ours["columns"]["time"]
    assert t[-1] == 1.0
    assert (np.diff(t) > 0).all()
    until = t <= 0.2
    plain = live(live.run(), ALL)
    np.testing.assert_array_equal(ours["columns"]["A.q"][until], plain["columns"]["A.q"][: until.sum()])
    assert not np.array_equal(ours["columns"]["A.q"], plain["columns"]["A.q"])
    residual = next(name for name in live.columns if name.endswith("residual"))
    assert np.abs(ours["columns"][residual]).max() < 1e-5


def test_too_many_rows(program):
    live = Live(program, pendulum())
    request = live.run(t_end=1e9)
    ours = live(request, ALL)
    assert ours["answers"][-1]["type"] == "failed"
    assert "rows" in ours["answers"][-1]["message"]
