"""Slides and slots along circles: a slide is a hinge about the centre of its circle, a slot two hinges."""

import numpy as np
import pytest

import linkwork as lw

X, Y, Z = np.eye(3)
METHODS = ["rcr", "embedding", "multipliers", "dca"]
INERTIA = np.array([[0.05, 0.004, -0.002], [0.004, 0.03, 0.003], [-0.002, 0.003, 0.04]])
SPATIAL = {  # place, axis, and what it is besides a hinge
    "A": ((0, 0, 0), Z, None),
    "B": ((0, 0.3, 0.05), (0.2, 0.1, 1.0), None),
    "C": ((0.8, 0.5, 0.2), None, lw.Spherical()),
    "D": ((0.9, -0.2, 0), None, lw.Universal(Z, Y)),
}
PLANAR = {"A": (0, 0, 0), "B": (0, 0.3, 0), "C": (0.8, 0.5, 0), "D": (0.7, 0, 0)}
PLANAR = {name: (place, Z, None) for name, place in PLANAR.items()}


def across(axis):
    return np.cross(axis, (0.3, -0.5, 0.2))


def unit(vector):
    return np.asarray(vector, float) / np.linalg.norm(vector)


def linkage(places=SPATIAL, curved="", cut="D", radius=0.37, reverse=""):
    """Four joints on the ground in a loop, each with a spring, a damper and a rotor; `curved` hinges are slides."""
    mech = lw.Mechanism("linkage", gravity=(1.0, -2.0, -9.0))
    ends = dict(zip("ABCD", [("ground", "ab"), ("ab", "bc"), ("bc", "cd"), ("cd", "ground")], strict=True))
    for k, body in enumerate(("ab", "bc", "cd")):
        mech.add_body(body, mass=1.0 + k, com=(0.2 + 0.3 * k, 0.2, 0.1), inertia=INERTIA)
    for k, (name, (place, axis, kind)) in enumerate(places.items()):
        per = radius if name in curved else 1.0
        rotor = {} if kind else {"reflected_inertia": (0.1 + 0.05 * k) / per**2}
        if name in curved:
            tangent = across(axis)
            kind = lw.CurvedSlide(axis, tangent, radius)
            place = np.asarray(place) - radius * np.cross(unit(axis), unit(tangent))
        joined = ends[name][::-1] if name in reverse else ends[name]
        mech.add_joint(name, kind or lw.Revolute(axis), *joined, at=place, cut=name == cut, **rotor)
        if rotor:
            given = {"stiffness": (3.0 + k) / per**2, "damping": 0.4 / per**2, "free": 0.3 * per}
            mech.add_force(lw.SpringDamper(name, **given))
    mech.add_transition("latch", lw.Lock("B"), lw.Command())
    return mech


def state_of(system, curved, radius):
    per = radius if "A" in curved else 1.0
    return system.assemble(q={"A": 0.4 * per}, u={"A": 1.5 * per})


def observed(mech, method, curved="", radius=1.0, tau=2.0):
    """Speeds and accelerations of the hinges, reactions elsewhere, and the jump where B locks."""
    system = lw.compile(mech, method=method)
    state = state_of(system, curved, radius)
    per = {name: radius if name in curved else 1.0 for name in mech.joints}
    hinges = [name for name in mech.joints if not isinstance(mech.joints[name].kind, (lw.Spherical, lw.Universal))]
    load = {"A": tau / per["A"]}
    found = [system.value(f"{name}.{what}", state, tau=load) / per[name] for what in "qua" for name in hinges]
    found += [np.linalg.norm(system.value(name, state, tau=load)) for name in ("C.f", "D.f", "D.t")]
    after = system.jump(state, ["latch"])
    found += [system.value(f"{name}.u", after.state) / per[name] for name in hinges]
    found += [np.linalg.norm(after.impulses[name]) for name in "CD"]
    return np.array([float(x) for x in found])


@pytest.mark.parametrize("radius", [0.37, -1.9])
@pytest.mark.parametrize("cut", "ABCD")
@pytest.mark.parametrize("curved", ["A", "B", "AB"])
@pytest.mark.parametrize("method", METHODS)
def test_a_slide_along_a_circle_is_a_hinge_about_its_centre(method, curved, cut, radius):
    reverse = curved if cut not in curved and radius < 0.0 else ""
    expected = observed(linkage(cut=cut, reverse=reverse), method)
    found = observed(linkage(SPATIAL, curved, cut, radius, reverse), method, curved, radius)
    assert found == pytest.approx(expected, rel=1e-11, abs=1e-11)


@pytest.mark.parametrize("cut", "ABCD")
@pytest.mark.parametrize("curved", "ABCD")
@pytest.mark.parametrize("method", METHODS)
def test_planar_loops_have_redundant_rows(method, curved, cut):
    radius = 0.6
    accelerations = []
    for kinds, per in (("", 1.0), (curved, radius)):
        system = lw.compile(linkage(PLANAR, kinds, cut, radius), method=method)
        state = state_of(system, kinds, radius)
        units = {name: per if name in kinds else 1.0 for name in "ABCD"}
        load = {"A": 2.0 / units["A"]}
        after = system.jump(state, ["latch"]).state
        found = [system.value(f"{name}.a", state, tau=load) / units[name] for name in "ABCD"]
        accelerations.append([*found, *(system.value(f"{name}.u", after) / units[name] for name in "ABCD")])
    assert accelerations[1] == pytest.approx(accelerations[0], rel=1e-11, abs=1e-11)


@pytest.mark.parametrize("options", [{}, {"formulation": "ggl"}], ids=["ode", "ggl"])
@pytest.mark.parametrize("cut", "AB")
def test_runs_end_at_the_same_place(options, cut):
    radius = 0.37
    ends = []
    for curved in ("", "AB"):
        system = lw.compile(linkage(SPATIAL, curved, cut, radius))
        result = lw.simulate(system, 0.5, state=state_of(system, curved, radius), rtol=1e-9, **options)
        per = radius if curved else 1.0
        ends.append([result[f"{name}.q"][-1] / per for name in "AB"])
    assert ends[1] == pytest.approx(ends[0], rel=1e-6)


def test_laps_are_counted():
    """A bead that is driven along a circle of 0.5 m at 3 m/s, in the tree and as the cut of a loop."""
    for cut in (False, True):
        mech = lw.Mechanism("wheel", gravity=(0, 0, 0))
        mech.add_body("wheel", mass=1.0, com=(0, 0, 0), inertia=INERTIA)
        mech.add_joint("S", lw.CurvedSlide(Z, X, 0.5), "ground", "wheel", at=(0, -0.5, 0), cut=cut)
        if cut:
            mech.add_joint("H", lw.Revolute(Z), "ground", "wheel", at=(0, 0, 0))
        system = lw.compile(mech)
        result = lw.simulate(system, 4.0, state=system.assemble(u={"H": 6.0} if cut else {"S": 3.0}))
        assert result["S.q"][-1] == pytest.approx(12.0, rel=1e-6)


def bead(kind, mass=1.0, **options):
    mech = lw.Mechanism("bead")
    mech.add_body("bead", mass=mass, com=(0, 0, 0), inertia=0.1 * np.eye(3))
    mech.add_joint("S", kind, "ground", "bead", at=(0, 0, 0), **options)
    return mech


@pytest.mark.parametrize("radius", [0.4, -0.4])
def test_a_bead_on_a_circle(radius):
    """Upright circle: s'' = -g sin(s / r) along a slot, times m r^2 / (m r^2 + J) along a slide."""
    down = -9.81 * np.sin(0.3 / radius)
    axis = -Y  # z = axis x X, so that the centre is above for a positive radius
    slot = lw.compile(bead(lw.CurvedSlot(axis, X, radius)))
    state = slot.assemble(q={"S": (0.3, 1.0)}, u={"S": (2.0, 0.7)})
    assert slot.value("S.a", state) == pytest.approx([down, 0.0], rel=1e-13, abs=1e-13)
    slide = lw.compile(bead(lw.CurvedSlide(axis, X, radius)))
    state = slide.assemble(q={"S": 0.3}, u={"S": 2.0})
    assert slide.value("S.a", state) == pytest.approx(down / (1.0 + 0.1 / radius**2), rel=1e-13)
    force = np.linalg.norm(slot.value("S.f", slot.assemble(q={"S": (0.3, 0)}, u={"S": (2.0, 0)})))
    assert force == pytest.approx(abs(4.0 / radius + 9.81 * np.cos(0.3 / radius)), rel=1e-13)


@pytest.mark.parametrize("kind", [lw.CurvedSlide, lw.CurvedSlot])
def test_a_circle_without_radius_is_refused(kind):
    with pytest.raises(lw.MechanismError, match="must not be zero"):
        kind(Z, X, 0.0)
