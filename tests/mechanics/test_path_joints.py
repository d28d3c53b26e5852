"""Slides and slots along curves through points: against splines of SciPy, closed forms and joints on circles."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.interpolate import make_interp_spline
from scipy.optimize import brentq

import linkwork as lw

X, Y, Z = np.eye(3)
METHODS = ["rcr", "embedding", "multipliers", "dca"]
INERTIA = np.array([[0.05, 0.004, -0.002], [0.004, 0.03, 0.003], [-0.002, 0.003, 0.04]])
ANGLES = np.linspace(0, 3 * np.pi, 31)
HELIX = np.column_stack([0.8 * np.cos(ANGLES), 0.8 * np.sin(ANGLES), 0.15 * ANGLES])
COASTER = [(0, 0, 4), (2, 0, 1.5), (4, 0.2, 0.5), (6, 0.5, 2), (5, 0.8, 3.2), (4, 1, 2), (6, 1.3, 0.4), (8, 1.4, 1)]
FRAMES = {"parent_frame": lw.Frame(), "child_frame": lw.Frame()}


def spline_of(points):
    """An open spline of SciPy by the sum of chords, its length up to a parameter, and the parameter of a length."""
    points = np.asarray(points, float)
    knots = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
    ends = [(2, np.zeros(3)), (3, np.zeros(3))]
    spline = make_interp_spline(knots, points, k=5, bc_type=(ends, ends))

    def length(a):
        inner = [k for k in knots if k < a]
        between = zip(inner, [*inner[1:], a], strict=True)
        return sum(quad(lambda x: np.linalg.norm(spline(x, 1)), *b, epsabs=1e-13, epsrel=1e-13)[0] for b in between)

    return spline, lambda s: brentq(lambda a: length(a) - s, 1e-9, knots[-1], xtol=1e-15)


def bead(kind, **body):
    mech = lw.Mechanism("bead")
    given = {"mass": 2.0, "com": (0, 0, 0), "inertia": 0.1 * np.eye(3)} | body
    mech.add_body("bead", **given)
    mech.add_joint("S", kind, "ground", "bead", **FRAMES)
    return mech


@pytest.mark.parametrize("points", [HELIX, COASTER], ids=["helix", "coaster"])
def test_a_bead_on_a_wire(points):
    """Its acceleration along the wire is that of gravity; the wire holds the rest and bends its way."""
    spline, parameter = spline_of(points)
    axis = Z if points is HELIX else Y
    for s in (0.4, 3.3, 5.1):
        a, u = parameter(s), 1.7
        tangent = spline(a, 1) / np.linalg.norm(spline(a, 1))
        second = spline(a, 2) / np.linalg.norm(spline(a, 1)) ** 2
        curvature = second - (second @ tangent) * tangent
        model = lw.compile(bead(lw.PathSlot(points, axis)))
        state = model.assemble(q={"S": (s, 0.3)}, u={"S": (u, 0.0)})
        np.testing.assert_allclose(model.pose(state, "bead").position, spline(a), atol=1e-11)
        assert model.value("S.a", state) == pytest.approx([-9.81 * tangent[2], 0.0], abs=1e-10)
        force = 2.0 * (curvature * u**2 - 9.81 * tangent * tangent[2] + 9.81 * Z)
        assert np.linalg.norm(model.value("S.f", state)) == pytest.approx(np.linalg.norm(force), rel=1e-10)


def test_a_car_on_a_roller_coaster():
    """Its frame follows the track; its energy stays, the kinetic one with the rotation along the curve."""
    model = lw.compile(bead(lw.PathSlide(COASTER, Y), com=(0, 0.1, 0.2), inertia=INERTIA))
    start = model.assemble(q={"S": 0.3}, u={"S": 1.0})
    result = lw.simulate(model, 3.0, state=start, rtol=1e-11)
    energy = result["energy.kinetic"] + result["energy.potential"]
    assert np.abs(energy - energy[0]).max() < 1e-8 * np.abs(energy[0])
    assert result["S.q"].max() > 9.0
    tangent = model.pose(start, "bead").rotation[:, 0]
    spline, parameter = spline_of(COASTER)
    slope = spline(parameter(0.3), 1)
    np.testing.assert_allclose(tangent, slope / np.linalg.norm(slope), atol=1e-10)


def linkage(hinge, cut, reverse=False):
    """Crank, rod and rocker; `hinge` is between crank and rod: its kind, and what places it."""
    mech = lw.Mechanism("linkage", gravity=(1.0, -2.0, -9.0))
    for k, body in enumerate(("ab", "bc", "cd")):
        mech.add_body(body, mass=1.0 + k, com=(0.2 + 0.3 * k, 0.2, 0.1), inertia=INERTIA)
    kind, places = hinge
    ends = ("ab", "bc")
    if reverse:
        ends, places = ends[::-1], places
    mech.add_joint("A", lw.Revolute(Z), "ground", "ab", at=(0, 0, 0), cut=cut == "A")
    mech.add_joint("B", kind, *ends, cut=cut == "B", **places)
    mech.add_joint("C", lw.Spherical(), "bc", "cd", at=(0.8, 0.5, 0.2), cut=cut == "C")
    mech.add_joint("D", lw.Universal(Z, Y), "cd", "ground", at=(0.9, -0.2, 0), cut=cut == "D")
    mech.add_force(lw.SpringDamper("A", stiffness=3.0, damping=0.4, free=0.3))
    mech.add_transition("latch", lw.Lock("A"), lw.Command())
    return mech


def observed(mech, method, start, per):
    model = lw.compile(mech, method=method)
    state = model.assemble(q={"A": 0.4, "B": start}, u={"A": 1.5})
    after = model.jump(state, ["latch"])
    found = [state["A.q"], state["B.q"] / per, state["B.u"] / per]
    found += [model.value("A.a", state, tau={"A": 2.0}), model.value("B.a", state, tau={"A": 2.0}) / per]
    found += [np.linalg.norm(model.value(name, state)) for name in ("C.f", "D.f", "D.t")]
    found += [after.state["B.u"] / per, *(np.linalg.norm(after.impulses[name]) for name in "CD")]
    return np.array([float(one) for one in found])


RADIUS = 0.4
CIRCLE = RADIUS * np.array([(np.sin(a), -np.cos(a), 0) for a in np.linspace(0, 2 * np.pi, 120, endpoint=False)])
HINGE = (0, 0.3, 0.05)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("cut", "ABCD")
@pytest.mark.parametrize("method", METHODS)
def test_a_slide_along_a_circle_of_points_is_a_hinge(method, cut, reverse):
    """Within the error of the spline, of the sixth order."""
    expected = observed(linkage((lw.Revolute(Z), {"at": HINGE}), cut, reverse), method, 0.0, 1.0)
    places = {"parent_frame": lw.Frame(HINGE), "child_frame": lw.Frame(HINGE - RADIUS * Y)}
    slide = lw.PathSlide(CIRCLE, Z, closed=True)
    found = observed(linkage((slide, places), cut, reverse), method, 0.0, RADIUS)
    assert found == pytest.approx(expected, rel=3e-6, abs=3e-6)


BENT = [(-0.5, -0.2, 0.1), (-0.2, -0.05, 0.0), (0, 0, 0), (0.2, 0.1, 0.05), (0.5, 0.4, 0.3), (0.6, 0.8, 0.3)]


@pytest.mark.parametrize("kind", [lw.PathSlide, lw.PathSlot])
@pytest.mark.parametrize("reverse", [False, True])
def test_all_methods_agree_with_any_cut(kind, reverse):
    """In space, where no axis stays and the rotation along the path changes."""
    made, s = kind(BENT, (0.1, 0, 1)), 0.75
    start = made.path.at(s)
    turned = made.canonical_axes @ (start.frame if kind is lw.PathSlide else np.eye(3)) @ made.canonical_axes.T
    there = lw.Frame(HINGE + made.canonical_axes @ start.position, turned)
    places = {"parent_frame": lw.Frame(HINGE), "child_frame": there}

    def mech(cut):
        return linkage((made, places), cut, reverse)

    first = lw.compile(mech("D")).assemble(q={"A": 0.0, "B": s if kind is lw.PathSlide else (s, 0.0)}, u={"A": 1.5})
    assert abs(float(first["A.q"])) < 1e-9
    rows = []
    for cut in "ABCD":
        for method in METHODS:
            other = lw.compile(mech(cut), method=method)
            state = other.assemble(q={"A": first["A.q"], "B": first["B.q"]}, u={"A": 1.5, "B": first["B.u"]})
            after = other.jump(state, ["latch"])
            values = [state["A.q"], state["B.q"], other.value("A.a", state, tau={"A": 2.0})]
            values += [other.value("B.a", state, tau={"A": 2.0}), other.value("C.f", state), after.impulses["C"]]
            rows.append(np.concatenate([np.ravel(value) for value in values]))
    for row in rows[1:]:
        np.testing.assert_allclose(row, rows[0], rtol=1e-9, atol=1e-9)


def cam(cut="P"):
    """A cam about z of an oval pitch curve, in the groove of which a roller moves a follower along y."""
    turn = np.linspace(0, 2 * np.pi, 200, endpoint=False)
    radius = pitch_radius(turn)
    groove = np.column_stack([radius * np.cos(turn), radius * np.sin(turn), 0 * turn])
    mech = lw.Mechanism("cam", gravity=(0, 0, 0))
    mech.add_body("cam", mass=1.0, com=(0, 0, 0), inertia=INERTIA)
    mech.add_body("follower", mass=0.5, com=(0, 0, 0), inertia=INERTIA)
    mech.add_joint("A", lw.Revolute(Z), "ground", "cam", parent_frame=lw.Frame(), cut=cut == "A")
    mech.add_joint("F", lw.Prismatic(Y), "ground", "follower", parent_frame=lw.Frame(), cut=cut == "F")
    mech.add_joint("P", lw.PathSlot(groove, Z, closed=True), "cam", "follower", cut=cut == "P", **FRAMES)
    return mech


def pitch_radius(angle, order=0):
    """Of the cam, and its derivatives."""
    return [1.0 + 0.2 * np.cos(2 * angle), -0.4 * np.sin(2 * angle), -0.8 * np.cos(2 * angle)][order]


def follower(groove, turned, rate, acceleration):
    """Place, speed and acceleration of a point of a periodic spline of SciPy that stays on the y axis as it turns."""
    points = np.vstack([groove, groove[:1]])[:, :2]
    knots = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
    spline = make_interp_spline(knots, points, k=5, bc_type="periodic")
    turn = np.array([[np.cos(turned), -np.sin(turned)], [np.sin(turned), np.cos(turned)]])
    quarter = np.array([[0.0, -1.0], [1.0, 0.0]])
    guess = knots[np.argmax((points @ turn.T)[:, 1] - 9 * np.abs((points @ turn.T)[:, 0]))]
    a = brentq(lambda x: (turn @ spline(x))[0], guess - 0.1, guess + 0.1, xtol=1e-15)
    c, c1, c2 = (turn @ spline(a, order) for order in range(3))
    along = -rate * (quarter @ c)[0] / c1[0]
    rest = c2 * along**2 + 2 * rate * along * quarter @ c1 + acceleration * quarter @ c - rate**2 * c
    return c[1], (c1 * along + rate * quarter @ c)[1], (rest - c1 * rest[0] / c1[0])[1]


@pytest.mark.parametrize("cut", "APF")
def test_a_cam_by_its_pitch_curve(cut):
    """The follower moves as the pitch curve has it, and to 1e-10 as the spline through its points does."""
    model = lw.compile(cam(cut))
    kind = model.mechanism.joints["P"].kind
    for turned in (0.3, 1.1):
        angle = np.pi / 2 - turned
        place = kind.path.nearest(pitch_radius(angle) * np.array([np.cos(angle), np.sin(angle), 0]))
        q = {"A": turned, "F": pitch_radius(angle), "P": (place, -turned)}
        state = model.assemble(q=q, u={"A": 2.0})
        a = float(model.value("A.a", state))
        found = [float(state["F.q"]), float(state["F.u"]), float(model.value("F.a", state))]
        assert found == pytest.approx(follower(kind.points, turned, 2.0, a), rel=1e-10, abs=1e-10)
        curve = [pitch_radius(angle), -2.0 * pitch_radius(angle, 1)]
        curve.append(4.0 * pitch_radius(angle, 2) - a * pitch_radius(angle, 1))
        assert found == pytest.approx(curve, abs=1e-5)


def test_a_cam_swept_over_two_revolutions():
    """The place in the groove counts its laps."""
    mech = cam("P")
    mech.start(q={"A": 0.0, "F": pitch_radius(np.pi / 2)})
    result = lw.kinematics(mech, "A.q", 0.0, 4 * np.pi, rows=101)
    np.testing.assert_allclose(result["F.q"], pitch_radius(np.pi / 2 - result.values), atol=1e-9)
    lap = mech.joints["P"].kind.length
    assert result["P.q[1]"][-1] - result["P.q[1]"][0] == pytest.approx(-2 * lap, abs=1e-8)


def test_laps_are_counted():
    model = lw.compile(bead(lw.PathSlide(CIRCLE, Z, closed=True)))
    result = lw.simulate(model, 4.0, state=model.assemble(u={"S": 3.0}))
    assert result["S.q"][-1] == pytest.approx(12.0, rel=1e-5)


@pytest.mark.parametrize("direction", [1, -1])
def test_an_open_path_goes_on_straight(direction):
    mech = bead(lw.PathSlide(HELIX, Z))
    mech.gravity = (0, 0, 0)
    model = lw.compile(mech)
    length = mech.joints["S"].kind.length
    end = HELIX[-1 if direction > 0 else 0]
    at_end, beyond = (
        model.pose(model.state([s], [0.0]), "bead") for s in ((0.0, -2.0), (length, length + 2.0))[direction > 0]
    )
    np.testing.assert_allclose(at_end.position, end, atol=1e-12)
    np.testing.assert_allclose(beyond.position, end + 2.0 * direction * at_end.rotation[:, 0], atol=1e-12)
    np.testing.assert_allclose(beyond.rotation, at_end.rotation, atol=1e-12)
    u = 3.0 * direction
    result = lw.simulate(model, 1.0, state=model.assemble(q={"S": length if direction > 0 else 0.0}, u={"S": u}))
    assert result["S.q"][-1] - result["S.q"][0] == pytest.approx(u, rel=1e-9)


class TestRefusals:
    def test_a_place(self):
        mech = bead(lw.PathSlot(HELIX, Z))
        with pytest.raises(lw.MechanismError, match="no single place"):
            mech.add_joint("T", lw.PathSlot(HELIX, Z), "ground", "bead", at=(0, 0, 0))

    def test_points_that_are_the_same(self):
        with pytest.raises(lw.MechanismError, match="point 2 and the next one are the same"):
            lw.PathSlide([(0, 0, 0), (1, 0, 0), (1, 0, 0)], Y)

    def test_too_few_points(self):
        with pytest.raises(lw.MechanismError, match="3 to 500 points"):
            lw.PathSlide([(0, 0, 0), (1, 0, 0)], Y, closed=True)

    def test_an_axis_along_the_path(self):
        with pytest.raises(lw.MechanismError, match="runs along axis"):
            lw.PathSlot([(0, 0, 0), (1, 0, 0), (2, 0, 0)], X)


def test_files_keep_paths(tmp_path):
    mech = bead(lw.PathSlide(COASTER, Y))
    mech.save(tmp_path / "car.json")
    loaded = lw.load(tmp_path / "car.json")
    assert loaded.joints["S"].kind == mech.joints["S"].kind
    values = [lw.compile(one).value("S.a", [1.0], [2.0]) for one in (mech, loaded)]
    assert values[0] == values[1]


def test_pins_need_both_frames():
    with pytest.raises(lw.MechanismError, match="needs both parent_frame= and child_frame="):
        lw.Pin("ground", "bead", lw.PathSlot(HELIX, Z), parent_frame=lw.Frame())


def test_a_pin_closes_on_a_path():
    """A ring that falls along a rail is caught by a wire that crosses it: it stays where they cross."""
    mech = lw.Mechanism("ring")
    mech.add_body("ring", mass=1.0, com=(0, 0, 0), inertia=0.1 * np.eye(3))
    mech.add_joint("R", lw.Cylindrical(Z), "ground", "ring", at=(0, 0, 0))
    wire = lw.PathSlide([(-0.5, 0, -1.1), (0, 0, -1), (0.5, 0, -0.9)], Y)
    start = wire.path.at(wire.path.nearest(wire.canonical_axes.T @ (0, 0, -1)))
    turned = lw.Frame((0, 0, 0), wire.canonical_axes @ start.frame @ wire.canonical_axes.T)
    pin = lw.Pin("ground", "ring", wire, parent_frame=lw.Frame(), child_frame=turned)
    mech.add_transition("wire", pin, lw.Time(float(np.sqrt(2 / 9.81))))
    result = lw.simulate(lw.compile(mech), 0.6)
    assert result["ring.r[3]"][-1] == pytest.approx(-1.0, abs=1e-6)
    assert result["R.u[2]"][-1] == pytest.approx(0.0, abs=1e-6)


def test_an_fmu_runs_alike(tmp_path):
    mech = cam("P")
    mech.start(q={"A": 0.2}, u={"A": 3.0})
    expected = lw.simulate(mech, 0.5, t_eval=[0.5], rtol=1e-9)
    path = lw.export_fmu(mech, tmp_path / "cam.fmu")
    fmpy = pytest.importorskip("fmpy")
    names = ["F.q", "P.q[1]", "A.q"]
    found = fmpy.simulate_fmu(str(path), stop_time=0.5, output_interval=0.5, output=names)
    for name in names:
        assert found[name][-1] == pytest.approx(expected[name][-1], rel=1e-5)


def test_the_equations_of_index_one_keep_to_a_path():
    model = lw.compile(cam("P"))
    state = model.assemble(q={"A": 0.2}, u={"A": 3.0})
    ends = [
        lw.simulate(model, 0.5, state=state, rtol=1e-9, **options)["F.q"][-1]
        for options in ({}, {"formulation": "ggl"})
    ]
    assert ends[1] == pytest.approx(ends[0], abs=1e-7)


def test_derivatives_by_complex_steps():
    """Of the follower's acceleration for its place and speed, with the path as the cut."""
    model = lw.compile(cam("P"))
    linear, h = model.linearize(model.assemble(q={"A": 0.2}, u={"A": 3.0})), 1e-6
    assert linear.states == ("F.q", "F.u")

    def motion(turned, rate):
        state = model.assemble(q={"A": turned}, u={"A": rate})
        return np.array([float(model.value(f"F.{name}", state)) for name in "qua"])

    for step in h * np.eye(2):
        change = (motion(0.2 + step[0], 3.0 + step[1]) - motion(0.2 - step[0], 3.0 - step[1])) / (2 * h)
        assert linear.A[1] @ change[:2] == pytest.approx(change[2], rel=1e-6)


def test_a_point_on_a_path_by_a_massless_slider():
    """A body that a ball holds on a path: its point keeps to the path, and no torque acts."""
    mech = lw.Mechanism("hook")
    mech.add_body("slider", mass=0.0, com=(0, 0, 0), inertia=np.zeros((3, 3)))
    mech.add_body("hook", mass=2.0, com=(0, 0, -0.3), inertia=INERTIA)
    mech.add_joint("S", lw.PathSlide(HELIX, Z), "ground", "slider", **FRAMES)
    mech.add_joint("B", lw.Spherical(), "slider", "hook", **FRAMES)
    model = lw.compile(mech)
    start = model.assemble(q={"S": 0.5}, u={"S": 1.0, "B": (1.0, 0.5, -0.3)})
    result = lw.simulate(model, 1.0, state=start, rtol=1e-10)
    energy = result["energy.kinetic"] + result["energy.potential"]
    assert np.abs(energy - energy[0]).max() < 1e-7 * np.abs(energy[0])
    path = mech.joints["S"].kind.path
    place = np.array([result[f"hook.r[{k}]"][-1] for k in (1, 2, 3)])
    np.testing.assert_allclose(path.at(path.nearest(place)).position, place, atol=1e-9)
