"""Couplings and drives by formulas and tables, against closed forms, couplings by polynomials, and motions."""

import cmath
import re

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.interpolate import PchipInterpolator

import linkwork as lw
from support.coupled_families import GEARED
from support.driven import TIME, through
from support.driving import by_joint, largest_difference, random_loads
from support.gear_families import GEAR_FAMILIES
from support.methods import METHODS, compiled
from support.random_mechanisms import FAMILIES, well_posed
from support.state_neighbours import rate_of_energy

ALL_METHODS = (*METHODS, "centroid", "origin")
EVERY_METHOD = pytest.mark.parametrize("method", ALL_METHODS)
INERTIA, M, K, G, E = 0.006, 0.4, 200.0, 9.81, 0.02
HARMONIC = {"formula": "slide.q - e*(1 - cos(cam.q))", "parameters": {"e": (E, "m")}}
KNOTS, LIFTS = np.array([0.0, 1.1, 1.9, 3.2, 4.4, 2 * np.pi]), np.array([0.0, 0.004, 0.016, 0.02, 0.007, 0.0])
TABLE = {
    "formula": "slide.q - lift(cam.q)",
    "tables": {"lift": lw.LookupTable(KNOTS, LIFTS, interpolation="monotone", outside="extend")},
}


def cam(load=K, **coupling):
    """A disc that lifts a follower against a spring and gravity."""
    mech = lw.Mechanism("cam", gravity=(0, -G, 0))
    mech.add_body("disc", mass=1.5, com=(0, 0, 0), inertia=INERTIA * np.eye(3))
    mech.add_body("follower", mass=M, com=(0, 0, 0), inertia=0.001 * np.eye(3))
    mech.add_joint("cam", lw.Revolute("z"), "ground", "disc", at=(0, 0, 0))
    mech.add_joint("slide", lw.Prismatic("y"), "ground", "follower", at=(0, 0, 0))
    mech.add_force(lw.SpringDamper("slide", stiffness=load))
    mech.add_coupling("follows", **(coupling or HARMONIC))
    mech.start(q={"cam": 0.3}, u={"cam": 4.0})
    return mech


def harmonic(angle):
    """Lift and its derivatives by the angle."""
    return E * (1 - np.cos(angle)), E * np.sin(angle), E * np.cos(angle)


def rate(angle, speed, lift):
    """The acceleration of the disc, whose inertia is that of one freedom."""
    s, s1, s2 = lift(angle)
    return -(M * s1 * s2 * speed**2 + (K * s + M * G) * s1) / (INERTIA + M * s1**2)


# ---- closed forms ----


@EVERY_METHOD
@pytest.mark.parametrize(("given", "lift"), [(HARMONIC, harmonic), (TABLE, None)], ids=["formula", "table"])
def test_accelerations_and_load_of_a_cam(given, lift, method):
    """By a formula, and by a table whose slopes are SciPy's."""
    pchip = PchipInterpolator(KNOTS, LIFTS)
    lift = lift or (lambda angle: tuple(float(pchip(angle, order)) for order in range(3)))
    system = compiled(cam(**given), method)
    for angle, speed in ((0.4, 3.0), (1.5, -7.0), (2.6, 0.0), (3.8, 11.0), (5.6, 2.0)):
        state = system.assemble(q={"cam": angle}, u={"cam": speed})
        s, s1, s2 = lift(angle)
        assert (state["slide.q"], state["slide.u"]) == pytest.approx((s, s1 * speed), abs=1e-13)
        found, expected = by_joint(system, system.accelerations(state)), rate(angle, speed, lift)
        assert found["cam"] == pytest.approx(expected, rel=1e-11)
        assert found["slide"] == pytest.approx(s1 * expected + s2 * speed**2, rel=1e-10, abs=1e-11)
        load = M * found["slide"] + K * s + M * G
        assert system.value("follows.load", state) == pytest.approx(load, rel=1e-10)


@pytest.mark.parametrize("more", [{"solver": "DOP853"}, {"formulation": "ggl", "solver": "ida"}], ids=["ode", "ggl"])
def test_a_cam_over_time(more):
    t = np.linspace(0.0, 2.0, 21)
    ode = more.get("formulation") is None
    result = lw.simulate(cam(), 2.0, rtol=1e-12 if ode else 1e-10, atol=1e-14 if ode else 1e-12, t_eval=t, **more)
    expected = solve_ivp(
        lambda _, y: (y[1], rate(*y, harmonic)), (0, 2), (0.3, 4.0), "DOP853", t_eval=t, rtol=1e-13, atol=1e-15
    )
    bound = 1e-9 if ode else 1e-6
    assert np.abs(result["cam.q"] - expected.y[0]).max() < bound * np.abs(expected.y[0]).max()
    assert np.abs(result["cam.u"] - expected.y[1]).max() < bound * np.abs(expected.y[1]).max()
    assert np.abs(result["slide.q"] - harmonic(result["cam.q"])[0]).max() < 1e-9


@EVERY_METHOD
def test_the_linear_model_of_a_cam(method):
    """Against differences of the equation of one freedom."""
    system = compiled(cam(), method)
    angle, speed, h = 0.7, 3.0, 1e-6
    found = lw.linearize(system, state=system.assemble(q={"cam": angle}, u={"cam": speed}))
    by_angle = (rate(angle + h, speed, harmonic) - rate(angle - h, speed, harmonic)) / (2 * h)
    by_speed = (rate(angle, speed + h, harmonic) - rate(angle, speed - h, harmonic)) / (2 * h)
    order = [found.states.index(name) for name in ("cam.q", "cam.u")]
    assert found.A[np.ix_(order, order)] == pytest.approx(np.array([[0, 1], [by_angle, by_speed]]), rel=1e-7, abs=1e-7)


def test_equilibrium_of_a_cam():
    """The follower rests on the lowest point, or where its weight and an upward spring balance."""
    found = lw.equilibrium(cam(load=K))
    assert found["cam.q"] == pytest.approx(0.0, abs=1e-9)
    assert found.frequencies == pytest.approx([np.sqrt(M * G * E / INERTIA) / (2 * np.pi)], rel=1e-9)


# ---- the same by polynomials ----


@EVERY_METHOD
@pytest.mark.parametrize("family", ["gear_of_three", "cam", "gear_in_loop", "cam_on_cut_joint", "gear_between_loops"])
def test_a_formula_that_repeats_a_polynomial(family, method):
    scene = well_posed(GEAR_FAMILIES[family][0], seed=2)
    other = scene.mechanism.copy()
    for name, gear in scene.gears.items():
        parts, parameters = [], {}
        for k, (coordinate, given) in enumerate(gear.terms.items()):
            joint, *index = coordinate.partition("[")
            for power, value in enumerate(np.ravel(given), start=1):
                parameters[f"c{k}{power}"] = float(value)
                parts.append(f"c{k}{power}*{joint}.q{''.join(index)}^{power}")
        del other.couplings[name]
        other.add_coupling(name, offset=gear.offset, formula=" + ".join(parts), parameters=parameters)
    loads = random_loads(np.random.default_rng(1), scene)
    found = []
    for mech in (scene.mechanism, other):
        system = compiled(mech, method)
        state = system.assemble(q=scene.q, u=scene.u)
        found.append(by_joint(system, system.accelerations(state, tau=loads)))
    assert largest_difference(found[1], found[0]) < 1e-12


# ---- random formulas ----


@pytest.mark.thin(3)
@EVERY_METHOD
@pytest.mark.parametrize("name", [name for name in GEARED if "formulas" in name])
def test_accelerations_by_random_formulas(name, method):
    """Against a dense system of equations, whose rows have derivatives by Cauchy's integrals."""
    scene = well_posed(GEARED[name], seed=3)
    system = compiled(scene.mechanism, method)
    state = system.assemble(q=scene.q, u=scene.u)
    assert np.abs(system.coupling_residual(state)).max() < 1e-12
    loads = random_loads(np.random.default_rng(0), scene)
    found = by_joint(system, system.accelerations(state, tau=loads))
    assert largest_difference(found, scene.oracle.solve(scene.u, loads).udot) < 1e-10


FUNCTIONS = ("sqrt", "exp", "log", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh")
OPERATIONS = [f"{name}(x)" for name in FUNCTIONS]  # of x, about 0.2 to 0.8
OPERATIONS += ["x + sin(x)", "sin(x) - x^2", "x*sin(x)*exp(x)", "sin(x)/(1 + x^2)", "-(x^2)", "sin(x)^2", "sin(x)^3"]
OPERATIONS += ["x^-2", "x^0 + x", "(x + x^2)^5", "(x + x^2)^2.5", "(1 + x)^sin(x)", "2^(x^2)", "(1 + 0*x)^x + x"]
OPERATIONS += ["atan2(sin(x), 1 + x^2)"]
IN_PYTHON = {name: getattr(cmath, name) for name in FUNCTIONS} | {"atan2": lambda y, x: cmath.atan(y / x)}


def check_jacobian(system):
    """Complex step through both derivatives of a formula, against central differences."""
    state, h = system.assemble(q={"cam": 0.5}, u={"cam": 2.0}), 1e-6
    n, y = len(state.q), np.concatenate([state.q, state.u])

    def derivatives(y):
        return system.derivatives(lw.State(system, y[:n], y[n:], state.time, state.motion))

    expected = np.array([(derivatives(y + h * e) - derivatives(y - h * e)) / (2 * h) for e in np.eye(2 * n)]).T
    assert system.jacobian(state) == pytest.approx(expected, abs=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize("text", OPERATIONS)
def test_derivatives_of_every_operation(text):
    """The speed and acceleration of a follower whose cam turns steadily, against Cauchy's integrals."""
    formula = "slide.q - e*(" + re.sub(r"\bx\b", "(cam.q/r)", text) + ")"
    formula = re.sub(r"\b(sin|cos|tan)\(", r"\1(r*", formula)
    formula = re.sub(r"\b(asin|acos|atan|atan2)\(", r"1/r*\1(", formula)
    mech = cam(formula=formula, parameters={"e": (E, "m"), "r": (1.0, "rad")})
    check_jacobian(lw.compile(mech))
    mech.prescribe("cam", lw.Motion())
    system = lw.compile(mech)
    code = compile(text.replace("^", "**"), text, "eval")
    for x, speed in ((0.31, 2.0), (0.68, -1.3)):
        turns = np.exp(2j * np.pi * np.arange(32) / 32)
        around = [complex(eval(code, IN_PYTHON | {"x": x + 0.1 * turn})) for turn in turns]
        s, s1, s2 = (E * np.mean(around / turns**k).real * (1, 1, 2)[k] / 0.1**k for k in range(3))
        state = system.assemble(q={"cam": x}, u={"cam": speed}, motion={"cam_drive": (x, speed, 0.0)})
        udot = by_joint(system, system.accelerations(state))["slide"]
        assert (state["slide.q"], state["slide.u"]) == pytest.approx((s, s1 * speed), rel=1e-12, abs=1e-14)
        assert udot == pytest.approx(s2 * speed**2, rel=1e-10, abs=1e-12)


@pytest.mark.parametrize("outside", ["extend", "error"])
def test_a_table_of_two_arguments(outside):
    """A follower on a cam whose shaft slides: derivatives against differences of the pose."""
    mech = cam(formula="slide.q - e*sin(cam.q)", parameters={"e": (E, "m")})
    del mech.couplings["follows"]
    mech.add_body("sleeve", mass=1.0, com=(0, 0, 0), inertia=np.eye(3))
    mech.add_joint("shift", lw.Prismatic("z"), "ground", "sleeve", at=(1, 0, 0))
    x, y = np.array([-1.0, 0.2, 0.9, 2.0]), np.array([-0.5, 0.1, 0.3, 0.8])
    values = 0.02 * np.exp(np.outer(x, y)) + 0.01 * np.add.outer(x, y)
    table = lw.LookupTable(x, values, y=y, interpolation="monotone", outside=outside)
    mech.add_coupling("follows", formula="slide.q - lift(cam.q, shift.q)", tables={"lift": table})
    system = lw.compile(mech)

    def height(angle, shift):
        return system.assemble(q={"cam": angle, "shift": shift})["slide.q"]

    h, u = 1e-3, np.array([1.3, -0.7])
    for at in (np.array([0.5, 0.2]), np.array([-0.3, 0.55]), np.array([1.4, -0.2])):
        state = system.assemble(q=dict(zip(("cam", "shift"), at, strict=True)), u={"cam": u[0], "shift": u[1]})
        found = by_joint(system, system.accelerations(state))
        steps = [height(*(at + k * h * u)) for k in (-2, -1, 0, 1, 2)]
        slopes = [(height(*(at + h * e)) - height(*(at - h * e))) / (2 * h) for e in np.eye(2)]
        rate = np.dot((1, -8, 0, 8, -1), steps) / (12 * h)
        bend = np.dot((-1, 16, -30, 16, -1), steps) / (12 * h * h)
        assert state["slide.u"] == pytest.approx(rate, abs=1e-9)
        assert found["slide"] == pytest.approx(np.dot(slopes, [found["cam"], found["shift"]]) + bend, abs=1e-5)


# ---- prescribed motions ----

MOTION = lw.Motion((0.2, 1.5, -0.3, 0.1), amplitude=0.3, frequency=0.7, phase=0.4)
AS_TEXT = "c0 + c1*time + c2*time^2 + c3*time^3 + a*sin(w*time + p)"


def as_formula(motion):
    values = dict(zip(("c0", "c1", "c2", "c3"), motion.coefficients, strict=True))
    return values | {"a": motion.amplitude, "w": 2 * np.pi * motion.frequency, "p": (motion.phase, "rad")}


@EVERY_METHOD
@pytest.mark.parametrize("family", ["planar_4R", "planar_5R", "coupled", "gear_of_three"])
def test_a_drive_by_a_formula_is_that_by_a_motion(family, method):
    """Pose, speeds, accelerations and load, with and without its inputs."""
    scene = well_posed((FAMILIES | GEAR_FAMILIES)[family][0], seed=1)
    joint = next(name for name, u in scene.u.items() if np.size(u) == 1 and abs(u) > 0.05)
    q, u = float(np.ravel(scene.q[joint])[0]), float(np.ravel(scene.u[joint])[0])
    motion, found = through(np.random.default_rng(4), q, u, 1.7), []
    for drive, more in ((motion, {}), (AS_TEXT, {"parameters": as_formula(motion)})):
        mech = scene.mechanism.copy()
        mech.prescribe(joint, drive, name="drive", **more)
        system = compiled(mech, method)
        for given in ({}, {"drive": (0.0, 0.0, 0.7)}):
            state = system.assemble(q=scene.q, u=scene.u, time=TIME, motion=given)
            found.append(np.r_[state.q, state.u, system.accelerations(state), system.value("drive.load", state)])
    size = np.abs(np.array(found[:2])).max()
    assert np.abs(found[2] - found[0]).max() < 1e-13 * size
    assert np.abs(found[3] - found[1]).max() < 1e-13 * size


@EVERY_METHOD
def test_the_energy_that_a_drive_by_a_formula_supplies(method):
    """Its rate is the load of the drive times the speed."""
    mech = cam()
    mech.start_q.clear()
    mech.start_u.clear()
    mech.prescribe("cam", AS_TEXT, name="drive", parameters=as_formula(MOTION))
    system = compiled(mech, method)
    state = system.assemble(time=0.9)
    supplied = float(system.value("drive.load", state)) * state["cam.u"]
    assert rate_of_energy(system, state, system.derivatives(state)) == pytest.approx(supplied, rel=1e-6)


def test_a_drive_by_a_table():
    """The position has the lift, and the speed its slope, by SciPy; the ends are flat, so that it may hold there."""
    knots, values = np.array([0.0, 0.2, 0.5, 0.9, 1.2, 1.4]), np.array([0.0, 0.0, 0.1, 0.25, 0.3, 0.3])
    mech = lw.Mechanism("lift")
    mech.add_body("table", mass=2.0, com=(0, 0, 0), inertia=np.eye(3))
    mech.add_joint("slide", lw.Prismatic("z"), "ground", "table", at=(0, 0, 0))
    lift = lw.LookupTable(knots, values, interpolation="monotone", unit="m", argument_units=["s"])
    mech.prescribe("slide", "lift(time)", tables={"lift": lift})
    pchip = PchipInterpolator(knots, values)
    system = lw.compile(mech)
    for t in (0.1, 0.33, 0.77, 1.15, 1.3):
        state = system.assemble(time=t)
        assert (state["slide.q"], state["slide.u"]) == pytest.approx(np.array([pchip(t), pchip(t, 1)]), abs=1e-14)
        assert system.accelerations(state) == pytest.approx(np.array([pchip(t, 2)]), abs=1e-11)
        force = 2.0 * (float(pchip(t, 2)) + G)
        assert system.value("slide_drive.load", state) == pytest.approx(force, rel=1e-12)
    assert system.assemble(time=5.0)["slide.q"] == pytest.approx(0.3, abs=1e-15)


@EVERY_METHOD
def test_a_coupling_of_coordinates_and_time(method):
    """A follower on a plate that moves: its coordinate is lift(cam) + h sin(w t)."""
    given = {
        "formula": "slide.q - e*(1 - cos(cam.q))*(1 + h*sin(w*time))",
        "parameters": {"e": (E, "m"), "h": (0.4, "1"), "w": (3.0, "rad/s")},
    }
    system = compiled(cam(**given), method)
    t, angle, speed = 0.6, 1.2, 5.0
    state = system.assemble(q={"cam": angle}, u={"cam": speed}, time=t)
    f, f1, f2 = 1 + 0.4 * np.sin(3 * t), 1.2 * np.cos(3 * t), -3.6 * np.sin(3 * t)
    s, s1, s2 = harmonic(angle)
    assert state["slide.u"] == pytest.approx(s1 * f * speed + s * f1, rel=1e-13)
    found = by_joint(system, system.accelerations(state))
    rest = s2 * f * speed**2 + 2 * s1 * speed * f1 + s * f2  # of the acceleration of the follower
    expected = -s1 * f * (M * rest + K * s * f + M * G) / (INERTIA + M * (s1 * f) ** 2)
    assert found == pytest.approx({"cam": expected, "slide": s1 * f * expected + rest}, rel=1e-11)


# ---- parameters ----


def test_parameters_and_values_of_tables_count_from_the_start():
    """They assemble the pose, and are not tunable: the rows would no longer hold."""
    system = lw.compile(cam())
    assert not next(one for one in system.variables if one.name == "follows.e").tunable
    run = lw.simulate(system, 0.01, parameters={"follows.e": 0.05})
    assert run["slide.q"][0] == pytest.approx(0.05 * (1 - np.cos(0.3)), rel=1e-13)
    by_table = lw.compile(cam(**TABLE))
    assert [one.name for one in by_table.variables if one.name.startswith("follows.lift")] == [
        f"follows.lift[{k}]" for k in range(1, 7)
    ]
    assert lw.simulate(by_table, 0.01, parameters={"follows.lift[1]": 0.001})["slide.q"][0] > 0.001


def test_outputs_read_parameters_of_couplings():
    mech = cam(**TABLE)
    mech.add_output("most", "follows.lift[4] + slide.q")
    system = lw.compile(mech)
    state = system.assemble()
    assert state["most"] == pytest.approx(LIFTS[3] + state["slide.q"], rel=1e-14)


def test_poses_where_a_formula_has_no_value_are_named():
    mech = cam(formula="slide.q - e*sqrt(1.5 - cam.q/r)", parameters={"e": (E, "m"), "r": (1.0, "rad")})
    system = lw.compile(mech)
    state = system.assemble()
    q = [{"cam.q": 1.6, "slide.q": 0.0}[name] for name in system.q_names]
    with pytest.raises(lw.SingularityError, match=r"coupling 'follows' has no finite value .* its formula leaves"):
        system.accelerations(lw.State(system, np.array(q), state.u, 0.0, state.motion))


def test_tables_that_end_are_named():
    table = lw.LookupTable(KNOTS, LIFTS, interpolation="monotone", outside="error")
    with pytest.raises(lw.SolverError, match=r"table 'follows.lift' is left at t = .* above 6.28|below 0 where"):
        lw.simulate(cam(formula="slide.q - lift(cam.q)", tables={"lift": table}), 20.0)


def test_a_pin_closes_beside_a_coupling_by_a_formula():
    """The variant of the topology has the formula as well."""
    mech = cam()
    mech.add_body("weight", mass=0.3, com=(0, 0, 0), inertia=0.001 * np.eye(3))
    mech.add_joint("fall", lw.Prismatic("y"), "ground", "weight", at=(0.5, 0, 0))
    mech.add_transition("catch", lw.Pin("follower", "weight", lw.Fixed()), when=lw.Time(0.1))
    result = lw.simulate(mech, 0.3, rtol=1e-10, atol=1e-12)
    assert np.abs(result["slide.q"] - harmonic(result["cam.q"])[0]).max() < 1e-9
    after = result.t > 0.1
    assert np.ptp(result["fall.q"][after] - result["slide.q"][after]) < 1e-9


@pytest.mark.parametrize("driven", [False, True])
def test_derivatives_by_parameters_of_formulas(driven):
    """Of the pose, the speeds, the accelerations and the load, the coupling staying closed; by differences."""
    names, h = ["follows.e", "follows.lift[2]", *(["drive.a"] if driven else [])], 1e-6
    given = {
        "formula": "slide.q - e*sin(cam.q) - lift(cam.q)",
        "parameters": {"e": (E, "m")},
        "tables": TABLE["tables"],
    }
    mech = cam(**given)
    if driven:
        mech.prescribe("cam", "a + w*time", name="drive", parameters={"a": (1.7, "rad"), "w": (4.0, "rad/s")})
        mech.start_q.clear()
        mech.start_u.clear()
    else:
        mech.start(q={"cam": 1.7})
    of = ["slide.q", "slide.u", "slide.a", "follows.load"]
    found = lw.parameter_jacobian(mech, names, of)
    system = lw.compile(mech)
    for k, name in enumerate(names):
        each = []
        for sign in (1, -1):
            value = next(one.start for one in system.variables if one.name == name)
            state = system.with_parameters({name: value + sign * h}).assemble()
            each.append([float(state[one]) for one in of])
        expected = (np.array(each[0]) - each[1]) / (2 * h)
        assert np.asarray(found.matrix)[:, k] == pytest.approx(expected, rel=1e-6, abs=1e-6 * np.abs(expected).max())
