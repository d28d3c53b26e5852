"""Screws and pins in slots in closed form: nuts, Scotch yokes, turns of a thread, energy, locks and stops."""

import numpy as np
import pytest

import linkwork as lw

X, Y, Z = np.eye(3)
METHODS = ["rcr", "embedding", "multipliers", "dca"]
INERTIA = np.diag([0.1, 0.12, 0.05])


def nut(pitch=0.02, *, reverse=False, cut=False):
    """A nut on an upright screw; `cut`: on a guide (cylindrical joint), and the screw closes the loop."""
    mech = lw.Mechanism("nut")
    mech.add_body("nut", mass=2.0, com=(0, 0, 0), inertia=INERTIA)
    ends = ("nut", "ground") if reverse else ("ground", "nut")
    mech.add_joint("S", lw.Screw(Z, pitch), *ends, at=(0, 0, 0), cut=cut)
    if cut:
        mech.add_joint("C", lw.Cylindrical(Z), "ground", "nut", at=(0, 0, 0))
    return mech


@pytest.mark.parametrize("cut", [False, True], ids=["tree", "cut"])
@pytest.mark.parametrize("reverse", [False, True], ids=["forward", "reversed"])
@pytest.mark.parametrize("pitch", [0.02, -0.3, 4.0])
@pytest.mark.parametrize("method", METHODS)
def test_a_nut_under_gravity(method, pitch, reverse, cut):
    system = lw.compile(nut(pitch, reverse=reverse, cut=cut), method=method)
    state = system.assemble()
    a = -9.81 / (1.0 + INERTIA[2, 2] / (2.0 * pitch**2)) * (-1 if reverse else 1)
    assert system.value("S.a", state) == pytest.approx(a / pitch, rel=1e-12)


@pytest.mark.parametrize("cut", [False, True], ids=["tree", "cut"])
def test_a_torque_on_a_screw_lifts_by_its_pitch(cut):
    """In equilibrium the torque is weight times pitch."""
    system = lw.compile(nut(0.02, cut=cut))
    state = system.assemble()
    assert system.value("S.a", state, tau={"S": 2.0 * 9.81 * 0.02}) == pytest.approx(0.0, abs=1e-12)


def test_the_displacement_tells_the_turns():
    system = lw.compile(nut(0.02, cut=True))
    turns = 2 * np.pi * 7 + 0.3
    state = system.assemble(q={"C": [turns, 0.02 * turns]})
    assert float(state["S.q"]) == pytest.approx(turns, rel=1e-12)
    assert float(state["loop.S.residual"]) < 1e-12


@pytest.mark.parametrize("cut", [False, True], ids=["tree", "cut"])
def test_energy_stays(cut):
    mech = nut(0.3, cut=cut)
    result = lw.simulate(lw.compile(mech), 2.0, rtol=1e-11)
    energy = result["energy.kinetic"] + result["energy.potential"]
    assert np.abs(energy - energy[0]).max() < 1e-7 * np.abs(result["energy.kinetic"]).max()
    a = -9.81 / (1.0 + 0.05 / (2.0 * 0.3**2))
    assert result["nut.r[3]"][-1] == pytest.approx(a * 2.0**2 / 2, rel=1e-8)


def yoke(cut="T"):
    """A crank of 0.2 m about y moves a slider by a pin in an upright slot of it; joint `cut` closes the loop."""
    mech = lw.Mechanism("yoke", gravity=(0, 0, 0))
    mech.add_body("crank", mass=1.0, com=(0, 0, 0), inertia=INERTIA)
    mech.add_body("slider", mass=3.0, com=(0, 0, 0), inertia=INERTIA, origin=(0.2, 0, 0))
    kinds = {
        "A": (lw.Revolute(-Y), "ground", "crank", (0, 0, 0)),
        "P": (lw.Prismatic(X), "ground", "slider", (0.2, 0, 0)),
    }
    kinds["T"] = (lw.PinInSlot(Y, Z), "slider", "crank", (0.2, 0, 0))
    for name, (kind, parent, child, at) in kinds.items():
        mech.add_joint(name, kind, parent, child, at=at, cut=name == cut)
    return mech


@pytest.mark.parametrize("cut", ["A", "P", "T"])
@pytest.mark.parametrize("method", METHODS)
def test_a_scotch_yoke(method, cut):
    system = lw.compile(yoke(cut), method=method)
    angle, rate = 0.7, 3.0
    state = system.assemble(q={"A": angle}, u={"A": rate})
    # x = 0.2 cos(angle), and the inertia that the crank feels is I + m x'^2
    slope, curvature = -0.2 * np.sin(angle), -0.2 * np.cos(angle)
    expected = -3.0 * slope * curvature * rate**2 / (INERTIA[1, 1] + 3.0 * slope**2)
    assert system.value("A.a", state) == pytest.approx(expected, rel=1e-11)
    assert float(state["slider.r[1]"]) == pytest.approx(0.2 * np.cos(angle), abs=1e-12)
    assert np.abs(float(state["T.q[1]"])) == pytest.approx(0.2 * np.sin(angle), abs=1e-12)


def test_the_pitch_is_a_parameter():
    """Reading a model again with another pitch gives the same as the description with it; unit m/rad."""
    variables = {v.name: v for v in lw.compile(nut(0.02)).variables}
    assert (variables["S.pitch"].unit, variables["S.pitch"].start) == ("m/rad", 0.02)
    assert variables["S.pitch"].kind == "parameter"


@pytest.mark.parametrize("cut", [False, True], ids=["tree", "cut"])
def test_a_lock_holds_and_a_stop_stops(cut):
    mech = nut(0.3, cut=cut)
    mech.add_transition("floor", lw.Stop("S", lower=-2.0, restitution=0.5))
    result = lw.simulate(lw.compile(mech), 3.0, rtol=1e-9)
    assert result["S.q"].min() == pytest.approx(-2.0, abs=1e-6)
    assert result["nut.r[3]"].min() == pytest.approx(-0.6, abs=1e-6)
    mech = nut(0.3, cut=cut)
    mech.add_transition("brake", lw.Lock("S"), when=lw.Time(0.5))
    result = lw.simulate(lw.compile(mech), 1.0)
    assert abs(result["S.u"][-1]) < 1e-9


def test_files_and_names():
    mech = nut(-0.25)
    again = lw.Mechanism.from_dict(mech.to_dict())
    assert again == mech
    assert again.to_dict()["joints"][0]["pitch"] == -0.25
    assert repr(again.joints["S"].kind) == "Screw((0.0, 0.0, 1.0), -0.25)"
    with pytest.raises(lw.MechanismError, match="pitch"):
        lw.Screw(Z, np.inf)
