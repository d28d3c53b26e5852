"""Events of FMUs in a system: located, seen by all at the same time, undone by a rollback; against closed forms."""

import numpy as np
import pytest

import linkwork as lw
from linkwork.cosim import Adaptive, GaussSeidel, Jacobi, System, run
from linkwork.cosim.fmu.instance import Instance
from linkwork.cosim.network import events
from linkwork.cosim.network.build import build, start
from linkwork.cosim.running import models_of
from linkwork.errors import CosimError
from linkwork.fmu.caller.instance import Outcome
from support.python_fmus import python_fmu

GRAVITY, HEIGHT, RESTITUTION = 9.81, 1.0, 0.5
MASTERS = {
    "jacobi": lambda: Jacobi(0.01, 1),
    "gauss-seidel": lambda: GaussSeidel(0.01, 1),
    "adaptive": lambda: Adaptive(1e-5),
    "inputs": lambda: Adaptive(1e-4, estimate="inputs"),
}


def slider(name, mass=1.0, stiffness=0.0, damping=0.0, gravity=0.0):
    mech = lw.Mechanism(name, gravity=(0, 0, -gravity))
    mech.add_body("b", mass=mass, com=(0, 0, 0), inertia=lw.inertia.sphere(mass, 0.1))
    mech.add_joint("x", lw.Prismatic(axis=(0, 0, 1)), "ground", "b", at=(0, 0, 0))
    if stiffness or damping:
        mech.add_force(lw.SpringDamper("x", stiffness=stiffness, damping=damping))
    return mech


def ball_mechanism():
    mech = slider("ball", gravity=GRAVITY)
    mech.add_transition("floor", lw.Stop("x", lower=0.0, restitution=RESTITUTION))
    mech.start(q={"x": HEIGHT})
    return mech


def impacts(count):
    """Times of the first impacts of a ball that is dropped."""
    first = np.sqrt(2 * HEIGHT / GRAVITY)
    return first * (1 + 2 * np.cumsum([0.0, *(RESTITUTION**k for k in range(1, count))]))


@pytest.fixture(scope="module")
def fmus(tmp_path_factory, needs):
    """FMUs by name and version."""
    needs("fmpy")
    folder = tmp_path_factory.mktemp("events")
    latched = slider("latched", stiffness=10.0)
    latched.start(q={"x": 1.0})
    latched.add_transition("latch", lw.Lock("x"), when=lw.Time(0.437))
    commanded = slider("commanded", stiffness=10.0)
    commanded.start(q={"x": 1.0})
    commanded.add_transition("latch", lw.Lock("x"), when=lw.Command())
    mechanisms = {
        "ball": (ball_mechanism(), ["x.q", "x.u", "floor.active", "events"]),
        "follower": (slider("follower", stiffness=40.0, damping=4.0), ["x.q", "x.u"]),
        "latched": (latched, ["x.q", "x.u", "latch.active"]),
        "commanded": (commanded, ["x.q", "x.u", "latch.active"]),
    }
    return {
        (name, version): lw.export_fmu(mech, folder / f"{name}{version[0]}.fmu", fmi=version, outputs=outputs)
        for name, (mech, outputs) in mechanisms.items()
        for version in ("2.0", "3.0")
    }


def dropped(fmus, follower="2.0", ball="3.0"):
    """A ball, and a mass on a spring that its height pulls."""
    system = System("dropped")
    system.add("ball", fmus["ball", ball])
    system.add("follower", fmus["follower", follower])
    system.connect("ball.x.q", "follower.x.tau", convert_units=False)
    return system


def driven(times, heights):
    """The follower by lw.simulate, driven by the heights given."""
    mech = slider("follower", stiffness=40.0, damping=4.0)
    result = lw.simulate(
        mech, times[-1], inputs={"x": lambda t: np.interp(t, times, heights)}, rtol=1e-8, t_eval=[0.0, times[-1]]
    )
    return result["x.q"][-1]


@pytest.mark.thin(2)
@pytest.mark.parametrize("follower", ["2.0", "3.0"])
@pytest.mark.parametrize("name", MASTERS)
def test_bouncing_ball(fmus, follower, name):
    """Impacts at the times of the closed form, two rows at each, the speed halved; the others stop there too."""
    result = run(dropped(fmus, follower), 1.0, master=MASTERS[name](), tolerance=1e-10)
    times = [t for t, who in result.events if who == "ball"]
    expected = impacts(3)
    expected = expected[expected < 1.0]
    np.testing.assert_allclose(times[: len(expected)], expected, atol=1e-8)
    for t in times[: len(expected)]:
        (before, after) = np.flatnonzero(result.t == t)[:2]
        assert result["ball.x.u"][after] == pytest.approx(-RESTITUTION * result["ball.x.u"][before], abs=1e-9)
    assert np.all(np.diff(result.t) >= 0)


def test_what_follows_agrees_with_one_simulation(fmus):
    """The ball by lw.simulate, its height on the follower by lw.simulate."""
    end = 1.0
    result = run(dropped(fmus), end, master=Adaptive(1e-7), tolerance=1e-11)
    whole = lw.simulate(ball_mechanism(), end, rtol=1e-10, t_eval=np.linspace(0, end, 4001))
    np.testing.assert_allclose(result["ball.x.q"][-1], whole["x.q"][-1], atol=1e-8)
    assert result["follower.x.q"][-1] == pytest.approx(driven(whole.t, whole["x.q"]), abs=1e-6)


@pytest.mark.parametrize("name", MASTERS)
def test_ball_comes_to_rest(fmus, name):
    """Impacts without end in a finite time do not make a run without end."""
    rest = impacts(60)[-1]
    result = run(dropped(fmus), rest + 0.2, master=MASTERS[name](), tolerance=1e-9)
    assert result["ball.x.q"][-1] == pytest.approx(0.0, abs=1e-9)
    assert result["ball.x.u"][-1] == pytest.approx(0.0, abs=1e-9)
    assert result["ball.floor.active"][-1]
    assert result.statistics.steps < 3000
    assert sum(who == "ball" for _, who in result.events) >= result["ball.events"][-1]


@pytest.mark.parametrize("name", MASTERS)
def test_latch_at_a_known_time(fmus, name):
    """An event between communication points, and a motion in closed form up to it."""
    system = System("latched")
    system.add("mass", fmus["latched", "3.0"])
    system.add("follower", fmus["follower", "2.0"])
    system.connect("mass.x.q", "follower.x.tau", convert_units=False)
    result = run(system, 0.6, master=MASTERS[name](), tolerance=1e-10)
    assert result.events[0][0] == 0.437 or abs(result.events[0][0] - 0.437) < 1e-12
    held = result["mass.x.q"][result.t > 0.437]
    np.testing.assert_allclose(held, np.cos(np.sqrt(10.0) * 0.437), atol=1e-8)
    assert not result["mass.latch.active"][np.flatnonzero(result.t == result.events[0][0])[0]]
    assert result["mass.latch.active"][-1]


def test_simultaneous_events(fmus):
    """Two latches at one time are one communication point."""
    system = System("twins")
    for name in ("a", "b"):
        system.add(name, fmus["latched", "3.0"])
    result = run(system, 0.6, master=Jacobi(0.05), tolerance=1e-9)
    assert {who for _, who in result.events} == {"a", "b"}
    assert np.ptp([t for t, _ in result.events]) < 1e-12
    assert np.sum(np.abs(result.t - 0.437) < 1e-9) <= 4


@pytest.mark.parametrize("name", MASTERS)
@pytest.mark.parametrize("version", ["2.0", "3.0"])
def test_one_latch_commands_another(fmus, version, name):
    """The command is given, and obeyed, at the very event of the first."""
    system = System("chain")
    system.add("first", fmus["latched", "3.0"])
    system.add("second", fmus["commanded", version])
    system.connect("first.latch.active", "second.latch.command")
    system.connect("first.x.q", "second.x.tau", factor=1e-9, convert_units=False)
    result = run(system, 0.6, master=MASTERS[name](), tolerance=1e-10)
    held = result["second.x.q"][result.t > 0.45]
    np.testing.assert_allclose(held, np.cos(np.sqrt(10.0) * 0.437), atol=1e-6)
    assert result["second.latch.active"][-1]


def test_discrete_input_from_outside(fmus):
    """A command by a function of time is seen at the next communication point."""
    system = System("told")
    system.add("m", fmus["commanded", "3.0"])
    result = run(system, 0.6, master=Jacobi(0.1), inputs={"m.latch.command": lambda t: t > 0.25}, tolerance=1e-10)
    assert result["m.latch.active"].tolist()[-1]
    assert result.events[-1] == (pytest.approx(0.3), "m")
    np.testing.assert_allclose(result["m.x.q"][-1], np.cos(np.sqrt(10.0) * 0.3), atol=1e-8)


def test_beside_one_that_cannot_go_back(fmus, tmp_path, needs):
    """It continues; the ball catches up alone, and a notice reports this."""
    needs("pythonfmu")
    variables = {"u": ("Real", "input", 0.0), "y": ("Real", "output", 0.0)}
    fmu = python_fmu(tmp_path, "Sums", variables, "self.y += step * self.u", states=False)
    system = System("beside")
    system.add("sums", fmu)
    system.add("ball", fmus["ball", "3.0"])
    system.connect("ball.x.q", "sums.u", convert_units=False)
    result = run(system, 1.0, master=Jacobi(0.01), tolerance=1e-10)
    expected = impacts(2)
    np.testing.assert_allclose([t for t, _ in result.events[:2]], expected, atol=1e-8)
    assert any("'ball' has events" in one and "'sums' cannot be rolled back" in one for one in result.notices)
    alone = run(System.load(fmus["ball", "3.0"]), 1.0, master=Jacobi(0.01), tolerance=1e-10)
    np.testing.assert_allclose(result["ball.x.q"][-1], alone["ball3.x.q"][-1], atol=1e-9)


def refuse(monkeypatch, name, edge):
    """Let an instance discard steps across a time, as far as the host can see; it comes nowhere by them."""
    own = Instance.step

    def step(self, time, length):
        if self.name == name and time + length > edge + 1e-12 and time < edge - 1e-12:
            return Outcome(time, discarded=True)
        return own(self, time, length)

    monkeypatch.setattr(Instance, "step", step)


@pytest.mark.parametrize("states", [True, False])
def test_discarded_step(fmus, monkeypatch, tmp_path, needs, states):
    """An FMU that refuses a step across a time gets shorter ones, and so do the others where they can be restored."""
    needs("pythonfmu")
    variables = {"y": ("Real", "output", 0.0)}
    fmu = python_fmu(tmp_path, "Clock", variables, "self.y += step", states=states)
    system = System("refusing")
    system.add("clock", fmu)
    system.add("m", fmus["follower", "2.0"])
    refuse(monkeypatch, "m", 0.25)
    for master in (Jacobi(0.1), Adaptive(1e-3, first_step=0.1)):
        result = run(system, 0.5, master=master)
        assert result["clock.y"][-1] == pytest.approx(0.5)
        assert result.t[-1] == 0.5
        assert any("'m' discards" in one for one in result.notices) == (not states)


def test_steps_that_never_succeed_name_the_fmu(fmus, monkeypatch):
    system = System("never")
    system.add("n", fmus["follower", "2.0"])
    monkeypatch.setattr(Instance, "step", lambda _self, time, _length: Outcome(time, discarded=True))
    with pytest.raises(CosimError, match=r"no step of 'n' \(FMU follower2.fmu\) from t = 0 s succeeds"):
        run(system, 0.5, master=Jacobi(0.1))


def test_an_fmu_ends_the_simulation(tmp_path, needs):
    """A Python FMU whose step returns False reports termination."""
    needs("pythonfmu")
    fmu = python_fmu(tmp_path, "Ends", {"y": ("Real", "output", 0.0)}, "self.y = time\nreturn time < 0.25")
    system = System("ends")
    system.add("e", fmu)
    result = run(system, 1.0, master=Jacobi(0.1))
    assert 0.25 < result.t[-1] < 0.45
    assert not result.aborted


@pytest.mark.parametrize("version", ["2.0", "3.0"])
def test_rollback_is_bitwise(fmus, version):
    """A detour with other inputs, over an impact, leaves no trace in later steps."""
    system = dropped(fmus, version, version)
    values = [_played(system, detour) for detour in (False, True)]
    assert values[0] == values[1]


def _played(system, detour):
    """All values of some steps, after a detour that is undone."""
    network = build(system, models_of(system, None), {}, [])
    try:
        start(network, {}, 0.0, 2.0, 1e-8)
        rows, time = [], 0.0

        def go(steps, force):
            nonlocal time
            for _ in range(steps):
                goal = time + 0.013
                for instance in network.each():
                    instance.inputs.real[:] += force
                    instance.write(instance.inputs)
                reached = goal
                for instance in network.each():  # each alone, as far as it comes
                    while instance.time < goal - 1e-12:
                        outcome = instance.step(instance.time, goal - instance.time)
                        if outcome.event:
                            events.handle_alone(network, instance)
                    instance.time = goal
                time = reached
                network.exchange(time)
                rows.append([one.outputs.real.tobytes() for one in network.each()])

        go(20, 0.0)
        network.snapshots.save(network.instances, "here")
        kept = time, len(rows)
        if detour:
            go(40, 3.0)
            assert rows[-1] != rows[kept[1] - 1]
            network.snapshots.restore(network.instances, "here")
            time = kept[0]
            del rows[kept[1] :]
        go(40, 0.0)
        return rows
    finally:
        network.snapshots.drop()
        for instance in network.each():
            instance.free()


def test_rejected_steps_leave_no_trace(fmus):
    """A run whose first step is far too long equals one that begins with the step it comes down to."""
    system = dropped(fmus, "2.0", "2.0")
    long = run(system, 0.3, master=Adaptive(1e-6, first_step=0.03, max_step=0.03), tolerance=1e-9)
    assert long.statistics.rejected > 0
    short = run(system, 0.3, master=Adaptive(1e-6, first_step=long.t[1], max_step=0.03), tolerance=1e-9)
    assert short.t[1] == long.t[1]
    for name in long.names:
        assert long[name][1] == short[name][1]
