"""The examples run, and what they claim holds."""

import importlib

import numpy as np
import pytest

import linkwork as lw
from support.checkout import TOP, beside
from support.dae_backends import needs_ida
from support.tables import numbers, rows_of

FOLDER = TOP / "examples"
SYSTEMS = "docs/cosim_examples.md"
MECHANISMS = sorted(path.stem for path in FOLDER.glob("*.py") if "def mechanism(" in path.read_text(encoding="utf-8"))

FALLEN = {  # rates after the event, angles at 1 s, energy lost
    "lock": (
        (-3.8487112511, 6.7149603768, 0.0, -0.7325390403),
        (-2.6847535574, 8.1037578497, -1.0692361999, 0.2204648429),
        0.061025908507,
    ),
    "pin": (
        (-5.3028690377, 11.0509263047, -13.9199601839, 4.363337953),
        (-2.8207367992, 8.9639386372, -2.0022545108, -0.8118450495),
        0.179939427664,
    ),
}


@pytest.fixture
def example(monkeypatch):
    """`example("four_bar")`: the module, as a script in its folder finds it."""
    monkeypatch.syspath_prepend(FOLDER)
    return importlib.import_module


@pytest.mark.parametrize("name", MECHANISMS)
def test_mechanisms_are_named_after_their_file_and_survive_json(example, name):
    mech = example(name).mechanism()
    assert mech.name == name
    assert lw.Mechanism.from_dict(mech.to_dict()) == mech


@pytest.mark.parametrize("name", MECHANISMS)
def test_loops_close_at_the_start_and_stay_closed(example, name):
    system = lw.compile(example(name).mechanism())
    result = lw.simulate(system, t_end=0.3)
    for joint in system.loop_names:
        assert result[f"loop.{joint}.residual"][0] < 1e-12
        assert result[f"loop.{joint}.residual"].max() < 1e-7
        assert 0.1 < result[f"loop.{joint}.conditioning"][0] <= 1.0


def test_four_bar(example, capsys):
    result = example("four_bar").main()
    assert "crank angle" in capsys.readouterr().out
    energy = result["energy.kinetic"] + result["energy.potential"]
    assert np.ptp(energy) < 1e-5


def test_slider_crank(example):
    module = example("slider_crank")
    result = module.main()
    q = result["A.q"]
    x = module.CRANK * np.cos(q) + np.sqrt(module.ROD**2 - (module.CRANK * np.sin(q)) ** 2)
    np.testing.assert_allclose(result["piston.r"][:, 0], x, atol=1e-8)
    assert result["S.q"] == pytest.approx(x - module.CRANK - module.ROD, abs=1e-8)
    energy = result["energy.kinetic"] + result["energy.potential"]
    assert energy[-1] < energy[0]


def test_double_pendulum(example, tmp_path, needs):
    needs("matplotlib")
    result = example("double_pendulum").main(tmp_path)
    energy = result["energy.kinetic"] + result["energy.potential"]
    assert np.abs(energy - energy[0]).max() < 1e-8
    assert (tmp_path / "double_pendulum.png").is_file()


def test_biped_leg(example, tmp_path, needs):
    needs("matplotlib")
    module = example("biped_leg")
    result, fmu = module.main(tmp_path)
    assert (tmp_path / "biped_leg.png").is_file()
    assert fmu.is_file()
    assert np.abs(module.energy_gap(result)).max() < 1e-4
    angle, _ = module.stride("hip", 2.0)
    assert abs(result["hip.q"][-1] - angle) < 0.1
    # Parallelograms: the shank turns as the crank does.
    np.testing.assert_allclose(result["knee.q"], result["knee_motor.q"], atol=1e-7)


def test_path_generator(example, tmp_path, needs):
    needs("matplotlib")
    module = example("path_generator")
    design = module.main(tmp_path)
    assert (tmp_path / "path_generator.png").is_file()
    assert design.parameters == pytest.approx(module.KNOWN, abs=1e-8)


@pytest.mark.slow
def test_five_bar(example, tmp_path, needs):
    needs("matplotlib")
    module = example("five_bar")
    two, three, lagrange = module.main(tmp_path)
    assert (tmp_path / "five_bar.png").is_file()
    angle = two["R.q"] + two["elbow_r.q"]
    along = np.column_stack([np.cos(angle), np.sin(angle)])
    other_way = two["distal_r.r"][:, :2] + module.DISTAL * along
    np.testing.assert_allclose(module.tip_path(two), other_way, atol=1e-8)
    np.testing.assert_allclose(two["L.tau"], [module.torque("l", t) for t in two.t])
    angles = module.link_angles(three)
    assert np.abs(angles - lagrange).max() < 1e-11
    assert np.ptp(angles, axis=0).min() > 0.3


def test_planar_robot(example, tmp_path, needs):
    """Each leg reaches its corner of the platform, also those whose wrists close loops."""
    needs("matplotlib")
    module = example("planar_robot")
    result = module.main(tmp_path)
    assert (tmp_path / "planar_robot.png").is_file()
    w, z = result["platform.Q[1]"], result["platform.Q[4]"]
    cosine, sine = w * w - z * z, 2 * w * z
    for leg in range(3):
        x, y, _ = module.on_circle(module.PLATFORM, leg)
        corner = result["platform.r"][:, :2] + np.column_stack([cosine * x - sine * y, sine * x + cosine * y])
        reach = np.linalg.norm(corner - result[f"lower{leg}.r"][:, :2], axis=1)
        np.testing.assert_allclose(reach, module.LINK, atol=1e-8)
    assert np.ptp(result["platform.r"][:, 0]) > 0.1


@pytest.mark.slow
def test_spatial_ladder(example, tmp_path, needs):
    """Every number of cells moves like the pendulum."""
    needs("matplotlib")
    module = example("spatial_ladder")
    runs, pendulum, costs = module.main(tmp_path, cells=(1, 3, 10), timed=(1, 2))
    assert (tmp_path / "spatial_ladder.png").is_file()
    assert np.ptp(pendulum, axis=0).min() > 0.4
    assert [result.model.sizes.loops for result in runs.values()] == [1, 3, 10]
    for cells, result in runs.items():
        for leg in range(cells + 1):
            np.testing.assert_allclose(result[f"H{leg}.q"], pendulum, rtol=0, atol=1e-11)
    assert len(costs) == 3
    assert all(spent > 0 for times in costs.values() for spent in times.values())


def test_the_ladder_moves_alike_with_multipliers(example):
    """Feedback keeps its loops, whose rows are redundant, closed for long."""
    module = example("spatial_ladder")
    system = lw.compile(module.mechanism(2), method="multipliers")
    times = np.linspace(0.0, 14.0, 8)
    result = lw.simulate(system, 14.0, t_eval=times)
    np.testing.assert_allclose(result["H2.q"], module.pendulum(times), atol=1e-6)
    assert max(result[f"loop.{joint}.residual"].max() for joint in system.loop_names) < 1e-12


def test_quarter_car(example, tmp_path, needs):
    needs("matplotlib")
    module = example("quarter_car")
    result, costs = module.main(tmp_path)
    assert (tmp_path / "quarter_car.png").is_file()
    wheel = module.carried(result, "carrier", module.WHEEL)
    observed = np.column_stack([result.t, wheel, result["strut.length"]])[::10]
    np.testing.assert_allclose(observed, module.REFERENCE, rtol=0, atol=1e-12)
    assert [name.split()[-1] for name in costs] == ["reduction", "centroid", "joint", "origin"]
    assert all(spent > 0 for spent in costs.values())


def test_geared_arm(example, tmp_path, needs):
    needs("matplotlib")
    module = example("geared_arm")
    result = module.main(tmp_path)
    assert (tmp_path / "geared_arm.png").is_file()
    arm = result["shoulder.q"]
    np.testing.assert_allclose(result["motor.q"] / module.RATIO, arm, atol=1e-10)
    np.testing.assert_allclose(result["lift.q"], np.polyval(module.cam()[::-1], arm), atol=1e-10)
    balance = module.balance(result)
    assert np.abs(module.remainder(balance)).max() < 1e-8
    assert balance["work of the motor"][-1] > 1.0
    weight = module.MASS * module.GRAVITY * module.LENGTH / 2 * np.sin(arm)
    assert np.ptp(balance["weight and spring"]) < 0.02 * np.ptp(weight), "the cam balances the arm"


def test_engine(example, tmp_path, needs):
    needs("matplotlib")
    needs("fmpy")
    from fmpy import simulate_fmu

    module = example("engine")
    result = module.main(tmp_path)
    assert (tmp_path / "engine.png").is_file()
    q, u = module.by_hand(1.0)
    assert result["crank.u"][-1] == pytest.approx(u, abs=1e-6)
    assert result["crank.q"][-1] == pytest.approx(q, abs=1e-6)
    load = np.array([(0.0, -module.LOAD), (1.0, -module.LOAD)], dtype=[("time", float), ("crank.tau", float)])
    ends = []
    for step in (0.1, 0.01):
        run = simulate_fmu(
            str(tmp_path / "engine.fmu"),
            stop_time=1.0,
            step_size=step,
            output_interval=step,
            fmi_type="CoSimulation",
            relative_tolerance=1e-9,
            input=load,
            output=["crank.u"],
        )
        ends.append(run["crank.u"][-1])
    assert ends == pytest.approx([u, u], abs=1e-4)
    assert ends[0] == ends[1], "the communication step has no effect"


def test_andrews_squeezer(example, tmp_path, needs):
    needs("matplotlib")
    module = example("andrews_squeezer")
    result = module.main(tmp_path)
    assert (tmp_path / "andrews_squeezer.png").is_file()
    angles, rates = (module.columns(result, kind)[-1] for kind in "qu")
    np.testing.assert_allclose(angles, module.END_ANGLES, rtol=0, atol=3e-12)
    np.testing.assert_allclose(rates, module.END_RATES, rtol=0, atol=1e-9)
    np.testing.assert_allclose(angles, module.PUBLISHED_ANGLES, rtol=0, atol=2e-9)


def test_drift(example, tmp_path, needs):
    needs("matplotlib")
    module = example("drift")
    states = module.main(tmp_path)
    assert (tmp_path / "drift.png").is_file()
    gaps = {name: module.gaps(y) for name, y in states.items()}
    assert all(0 < gap[0] < 1e-9 for gap in gaps.values()), "nine digits"
    np.testing.assert_allclose(states["multipliers"], states["multipliers in numpy"], atol=1e-9)
    half, end = gaps["multipliers"][[len(gaps["multipliers"]) // 2, -1]]
    assert 3 < end / half < 6, "about as the square of the time"
    assert gaps["reduction"].max() < 1e-7
    assert gaps["reduction"].max() < end / 100
    assert gaps["reduction with feedback"][-1] < gaps["reduction"][-1]


def test_double_rocker(example, tmp_path, needs):
    needs("matplotlib")
    module = example("double_rocker")
    result = module.main(tmp_path)
    assert (tmp_path / "double_rocker.png").is_file()
    left, coupler, right = module.LENGTHS.values()
    stretched = left**2 + module.BASE**2 - (coupler + right) ** 2
    furthest = np.arccos(stretched / (2 * left * module.BASE))  # where coupler and right rocker are in line
    assert np.abs(result["A.q"]).max() == pytest.approx(furthest, abs=1e-3)
    assert min(module.standstills(result).values()) > 20
    assert np.abs(module.energy_error(result)).max() < 1e-6
    assert result["loop.D.residual"].max() < 1e-8


def test_coarse_graining(example, tmp_path, needs):
    needs("matplotlib")
    module = example("coarse_graining")
    found = module.main(tmp_path)
    assert (tmp_path / "coarse_graining.png").is_file()
    assert max(module.changes(found).values()) < 1e-12
    atoms, rigid, jointed = (s.kinetic for s in (found.particles, found.before.total, found.after.total))
    assert atoms == pytest.approx(1.5 * module.HEAT * len(module.molecule().masses), rel=0.05)
    assert rigid < 0.05 * atoms
    assert 0.3 * rigid < jointed < 0.8 * rigid
    assert found.state.model.loop_names


def test_coarse_graining_of_rhodopsin(example, tmp_path, needs):
    needs("matplotlib")
    folder = beside("cases/rhodopsin_1u19_allatom.csv.gz").parent
    module = example("coarse_graining")
    found = module.main(tmp_path, folder)
    assert (tmp_path / "rhodopsin.png").is_file()
    kinetic = [stage.kinetic for stage in (found.particles, found.before.total, found.after.total)]
    assert kinetic == pytest.approx([22070.0, 208.8, 113.5], rel=5e-4)
    assert max(module.changes(found).values()) < 1e-13


@pytest.mark.parametrize(("name", "case"), [("joint_lock", "lock"), ("pin", "pin")])
def test_falling_chain(example, name, case, tmp_path, needs):
    """Rates after the event and angles at the end, computed once by Lagrange's equations in absolute angles."""
    needs("matplotlib")
    module = example(name)
    result, by_momentum = module.main(tmp_path)
    assert (tmp_path / f"{name}.png").is_file()
    (event,) = result.events
    np.testing.assert_allclose(event.u_after, by_momentum, rtol=0, atol=1e-13)
    rates, angles, lost = FALLEN[case]
    np.testing.assert_allclose(event.u_after, rates, atol=1e-7)
    np.testing.assert_allclose([result[f"{joint}.q"][-1] for joint in module.JOINTS], angles, atol=1e-7)
    assert event.energy_lost == pytest.approx(lost, abs=1e-9)
    total = result["energy.kinetic"] + result["energy.potential"]
    assert total[-1] + event.energy_lost == pytest.approx(total[0], abs=1e-8)
    _, impulse = module.by_momentum(result)
    if case == "lock":
        assert event.impulses[module.LOCKED][2] == pytest.approx(impulse, abs=1e-12)
        assert np.ptp(result[f"{module.LOCKED}.q"][result.t > module.WHEN]) < 1e-8
    else:
        np.testing.assert_allclose(-event.impulses["tip"][3:5], impulse, atol=1e-12)
        pinned = module.tips(result)[result.t > module.WHEN]
        assert np.abs(pinned - pinned[0]).max() < 1e-9


def test_solar_array(example, tmp_path, needs):
    needs("matplotlib")
    module = example("solar_array")
    result = module.main(tmp_path)
    assert (tmp_path / "solar_array.png").is_file()
    assert sorted(module.latches(result)) == module.HINGES
    for hinge, event in module.latches(result).items():
        assert np.abs(result[f"{hinge}.q"][result.t > event.t]).max() < 1e-8
        assert event.energy_lost > 0.1
    assert result["H1.q"].max() < module.FOLDED[0] + 1e-9, "the first panel does not enter the hub"
    for momentum in module.momenta(result):
        np.testing.assert_allclose(momentum, np.tile(momentum[0], (len(result.t), 1)), rtol=0, atol=1e-8)
    total = sum(module.energies(result).values())
    assert np.ptp(total) < 1e-5
    assert result["hub.w"][-1, 2] < 0.3 * result["hub.w"][0, 2]


def test_gripper(example, tmp_path, needs):
    needs("matplotlib")
    module = example("gripper")
    result = module.main(tmp_path)
    assert (tmp_path / "gripper.png").is_file()
    grip, impact = (module.event_of(result, name) for name in ("grip_left", "table"))
    assert grip.transitions == ("grip_left", "grip_right")
    assert impact.t == pytest.approx(module.landing(result), abs=1e-7)
    held, forces = module.row_at(result, module.RELEASE - 0.01), module.tip_forces(result)
    inward, upward = module.statics()
    for side, (sign, _) in module.SIDES.items():
        np.testing.assert_allclose(forces[side][held], (-sign * inward, 0.0, upward), atol=1e-3)
    np.testing.assert_allclose(result["place.q"][-1], (module.OVER, 0.0, 0.0), atol=1e-3)
    assert result["place.f"][-1, 2] == pytest.approx(module.BOX_MASS * module.GRAVITY)


def test_bouncing_pendulum(example, tmp_path, needs):
    needs("matplotlib")
    module = example("bouncing_pendulum")
    result = module.main(tmp_path)
    assert (tmp_path / "bouncing_pendulum.png").is_file()
    bounces = [event.t for event in result.events if event.u_before[0] < 0]
    assert len(bounces) > 10
    np.testing.assert_allclose(bounces, module.impacts(len(bounces)), rtol=0, atol=1e-9)
    rest = module.at_rest(result)
    assert rest[0] == pytest.approx(module.impacts(60)[-1], abs=1e-6)
    assert result.events[-1].t == pytest.approx(module.lift_off(), abs=1e-8)
    assert rest[-1] == pytest.approx(module.lift_off(), abs=1e-8)


@pytest.mark.slow
@needs_ida
def test_n_body_pendulum(example, tmp_path, capsys, needs):
    needs("matplotlib")
    module = example("n_body_pendulum")
    runs = module.main(tmp_path, most=2)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("bodies  scheme  residual calls")
    for line, run in zip(lines[1:], runs, strict=False):
        assert [int(number) for number in line.split()[:4]] == list(run[:4])
    for name in ("n_body_pendulum.png", "n_body_pendulum_poses.png", "n_body_pendulum.gif"):
        assert (tmp_path / name).stat().st_size > 1000
    assert [(run.n, run.scheme) for run in runs] == [(n, scheme) for n in (1, 2) for scheme in (1, 2, 3, 4)]
    assert all(run.error < 5e-6 for run in runs)
    for differences, exact in zip(runs[::4], runs[1::4], strict=True):
        assert differences.residuals - 10 * differences.n * differences.jacobians > 0.8 * exact.residuals


@pytest.mark.slow
def test_swing_up(example, tmp_path, capsys, needs):
    """The motion of the plan is one of the mechanism: feedback has nearly nothing to correct."""
    needs("casadi")
    needs("matplotlib")
    module = example("swing_up")
    found, result = module.main(tmp_path)
    assert "IPOPT: " in capsys.readouterr().out
    assert (tmp_path / "swing_up.png").is_file()
    assert module.deviations(found, result).max() < 1e-3
    angle = result["L.q"] + result["elbow_l.q"]
    tip = result["distal_l.r"][:, 2] - module.DISTAL * np.sin(angle)
    assert tip[0] < -0.3 < 0.3 < tip[-1]
    for motor in module.MOTORS:
        assert np.abs(found.torques[f"{motor}.tau"]).max() < module.LIMIT + 1e-6
        assert abs(result[f"{motor}.u"][-1]) < 0.01


def test_closed_leg(example, needs):
    """The planned motion is one of the mechanism."""
    needs("casadi")
    module = example("closed_leg")
    planned = module.plan()
    assert np.abs(planned.torques).max() < module.LIMIT
    result = module.follow(planned)
    for k, name in enumerate(("L", "elbow_l", "R", "elbow_r")):
        assert np.interp(planned.t, result.t, result[f"{name}.q"]) == pytest.approx(planned.states[:, k], abs=1e-3)
    for name in module.MOTORS:
        assert result[f"{name}.q"][-1] == pytest.approx(module.TO[name], abs=1e-3)


def test_sampled_swing_up(example):
    """It is upright in time, stays there, and no torque exceeds the limit."""
    module = example("sampled_swing_up")
    found = module.swing()
    assert np.cos(found.angles[0]) == pytest.approx(-1.0, abs=1e-3)
    assert np.cos(found.angles[-5:]).min() > 0.95
    assert np.abs(found.speeds[-5:]).max() < 2.0
    assert 1.0 < np.abs(found.torques).max() <= module.LIMIT


def test_random_lengths(example):
    """Closed form of the slider; single runs from the same lengths."""
    module = example("random_lengths")
    found = module.scattered(300)
    crank, rod = found.lengths.values()
    assert found.positions == pytest.approx(module.closed_form(crank, rod, -0.8), rel=1e-12)
    assert crank.std() == pytest.approx(module.SCATTER, rel=0.2)
    model = lw.compile(example("slider_crank").mechanism())
    for row in (0, 299):
        own = model.with_parameters({name: lengths[row] for name, lengths in found.lengths.items()})
        single = lw.simulate(own, module.STEP * module.STEPS, rtol=1e-10)
        assert found.angles[row] == pytest.approx(single["A.q"][-1], abs=1e-7)


def test_tuned_linkage(example):
    """The four-bar that made the motion is found, with few gradients, which are those of differences."""
    module = example("tuned_linkage")
    found = module.main()
    assert found.misses.max() < 1e-6
    assert found.difference < 1e-6
    assert found.gradients < 60
    fit, at = module.Fit(module.target()), np.array(module.BEGIN)
    _, gradient = fit(at)
    for k, h in enumerate(1e-4 * np.eye(3)):
        a, b = (sum(sign * fit(at + sign * size * h)[0] for sign in (1, -1)) / (2e-4 * size) for size in (1.0, 0.5))
        assert gradient[k] == pytest.approx((4 * b - a) / 3, rel=1e-6)


@pytest.mark.slow
def test_learned_friction(example, needs):
    needs("torch")
    found = example("learned_friction").main()
    assert np.abs(found.exact).max() > 1.6
    assert np.abs(found.by_network - found.exact).max() < 0.02


@pytest.mark.slow
def test_cosim_split(example, tmp_path, needs):
    """Masters have the orders that they promise, against the mechanism in one piece."""
    needs("fmpy")
    needs("matplotlib")
    module = example("cosim_split")
    errors, chosen = module.main(tmp_path)
    assert (tmp_path / "cosim_split.png").is_file()
    assert (tmp_path / "cosim_split.ssp").is_file()
    slopes = module.slopes(errors)
    for (name, order), slope in slopes.items():
        assert slope == pytest.approx(order + 1, abs=0.25), (name, order)
    for name, row in zip(errors, rows_of(SYSTEMS, "| | 20 ms |"), strict=True):
        *expected, measured = numbers(row[1:])
        assert errors[name] == pytest.approx(expected, rel=0.06)
        assert slopes[name] == pytest.approx(measured, abs=0.006)
    (_, *small), (_, *steps) = rows_of(SYSTEMS, "| rtol | 1e-2 |")
    assert [error for _, error in chosen.values()] == pytest.approx(numbers(small), rel=0.06)
    assert [1000 * step for step, _ in chosen.values()] == pytest.approx(numbers(steps), rel=0.03)
    assert all(error < demand for demand, (_, error) in chosen.items())
    assert np.ptp(module.whole(np.linspace(0.0, module.END, 101)), axis=0)[::2].min() > 0.3, "both linkages move"


@pytest.mark.slow
def test_cosim_balance(example, tmp_path, needs):
    """The FMUs balance the pole just as long as by the linear model, and grow from sample to sample as it does."""
    needs("fmpy")
    needs("pythonfmu")
    needs("matplotlib")
    module = example("cosim_balance")
    runs, found, model = module.main(tmp_path)
    assert (tmp_path / "cosim_balance.png").is_file()
    assert (tmp_path / "cosim_balance.ssp").is_file()
    quick, slow, late, own = (np.abs(result["plant.P.q"]) for result in runs.values())
    assert quick.max() > np.radians(3)
    assert max(angle[-1] for angle in (quick, slow, own)) < np.radians(0.5)
    assert late[-50:].max() > np.radians(5)
    assert list(runs)[1:3] == ["101 ms", "109 ms"]
    assert 1000 * module.longest(model, module.gain_for(model, 0.0)) == pytest.approx(104.0, abs=0.05)
    assert [x for x in model.eigenvalues.real if x > 0] == pytest.approx([2.27, 5.38], abs=0.005)
    assert [np.abs(result["controller.A.tau"]).max() for result in runs.values()][2] == module.STRONGEST
    for name, its in found.items():
        for h, measured in its.items():
            K = module.gain_for(model, 0.0 if name == "continuous" else h)
            assert measured == pytest.approx(module.growth(model, K, h), abs=6e-5), (name, h)
    assert {h > module.longest(model, module.gain_for(model, 0.0)) for h in found["continuous"]} == {True, False}


@pytest.mark.slow
def test_cosim_skyhook(example, tmp_path, needs):
    """The skyhook shakes the body less; what springs and damper push is what accelerates the masses."""
    needs("fmpy")
    needs("pythonfmu")
    needs("matplotlib")
    module = example("cosim_skyhook")
    runs = module.main(tmp_path)
    assert (tmp_path / "cosim_skyhook.png").is_file()
    assert (tmp_path / "cosim_skyhook.ssp").is_file()
    passive, skyhook = (list(module.facts(runs[name]).values()) for name in ("passive", "skyhook"))
    expected = np.array([numbers(row[1:]) for row in rows_of(SYSTEMS, "| | passive | skyhook |")])
    assert passive == pytest.approx(expected[:, 0], rel=0.006)
    assert skyhook == pytest.approx(expected[:, 1], rel=0.006)
    assert 100 * np.divide(skyhook, passive) - 100 == pytest.approx(expected[:, 2], abs=0.6)
    for result in runs.values():
        apart = result["car.body.v[3]"] - result["car.wheel.v[3]"]
        np.testing.assert_allclose(result["car.on_body.F[3]"], -result["skyhook.c"] * apart, atol=1e-9)
        knots = slice(None, None, 5)  # of the spline
        height = result["car.road.F[3]"] / module.TYRE
        np.testing.assert_allclose(height[knots], module.road(result.t[knots]), atol=1e-9)
        assert abs(result["car.Z.a"][0]) < 1e-9, "it stands still"
    assert set(runs["passive"]["skyhook.c"]) == {1600.0}


@pytest.mark.slow
def test_cosim_pick_and_place(example, tmp_path, needs):
    """A model within the controller follows better by far, and the remaining error is that of sampling."""
    needs("fmpy")
    needs("pythonfmu")
    needs("matplotlib")
    module = example("cosim_pick_and_place")
    runs = module.main(tmp_path)
    assert (tmp_path / "cosim_pick_and_place.png").is_file()
    assert (tmp_path / "cosim_pick_and_place_computed_torque.ssp").is_file()
    pid, model, heavier = (module.error(result).max() for result in runs.values())
    assert model < 5e-4 < pid / 40
    assert model < heavier < pid
    away = [1000 * module.error(result) for result in runs.values()]
    expected = [numbers(row[1:]) for row in rows_of(SYSTEMS, "| position error of the tool, mm |")]
    found = [[one.max(), np.sqrt(np.mean(one**2))] for one in away]
    np.testing.assert_allclose(found, expected, rtol=0.02)
    tool = module.tool(runs["computed torque"])
    np.testing.assert_allclose(tool[[0, -1]], [module.PICK, module.PICK], atol=1e-4)
    place = int(np.searchsorted(runs["PID"].t, sum(module.MOVES[:3]) + sum(module.DWELLS[:4]) - 1e-9))
    np.testing.assert_allclose(tool[place], module.PLACE, atol=2e-5)
    finer = module.run(module.with_model(tmp_path), master=module.Jacobi(module.STEP / 2))
    assert model / module.error(finer).max() == pytest.approx(2.0, abs=0.1), "of first order in the step"


@pytest.mark.slow
def test_cosim_solar_array(example, tmp_path, needs):
    """Each hinge is latched once, within the window, about when the satellite's own latch would close; it stays so."""
    needs("fmpy")
    needs("pythonfmu")
    needs("matplotlib")
    module = example("cosim_solar_array")
    runs = module.main(tmp_path)
    assert (tmp_path / "cosim_solar_array.png").is_file()
    assert (tmp_path / "cosim_solar_array.ssp").is_file()
    alone = lw.simulate(module.satellite(), module.END, rtol=1e-10)
    crossed = {hinge: event.t for hinge, event in module.latches_of(alone).items()}
    for step, result in runs.items():
        times = module.latched(result)
        assert sorted(times, key=times.get) == sorted(crossed, key=crossed.get)
        assert {when for when, _ in result.events} >= set(times.values())
        for hinge, t in times.items():
            held = result[f"satellite.{hinge}.q"][result.t > t]
            assert np.ptp(held) < 1e-9
            assert abs(held[0]) <= module.FASTEST * step / 2
    finest = module.latched(runs[module.STEPS[-1]])
    np.testing.assert_allclose([finest[hinge] for hinge in crossed], list(crossed.values()), rtol=0, atol=0.012)
    *rows, own = rows_of(SYSTEMS, "| latch times, s | H3 |")
    for row in rows:
        latched = module.latched(runs[numbers(row[:1])[0] / 1000])
        assert [latched[hinge] for hinge in crossed] == pytest.approx(numbers(row[1:]), abs=6e-5), row
    assert list(crossed.values()) == pytest.approx(numbers(own[1:]), abs=6e-5)
    left = [np.degrees(runs[module.STEPS[-1]][f"satellite.{hinge}.q"][-1]) for hinge in crossed]
    assert np.abs(left).max() < 0.22
    spin = [runs[module.STEPS[-1]][f"satellite.hub.w[{k}]"][-1] for k in (1, 2, 3)]
    np.testing.assert_allclose(spin, alone["hub.w"][-1], atol=5e-5)


def test_demo(example, tmp_path, monkeypatch, capfd, needs):
    needs("fmpy")
    needs("matplotlib")
    module = example("demo")
    monkeypatch.setattr(module, "OUT", tmp_path / "out")
    monkeypatch.setattr(module, "REPEATS", 1)
    monkeypatch.setattr(module.tempfile, "tempdir", str(tmp_path))
    module.main()
    said = capfd.readouterr()
    assert said.err == ""
    rows = [line.split() for line in said.out.splitlines() if line.startswith(("Python", "FMU"))]
    assert len(rows) == 6
    for *_, wall, steps, difference, residual, drift in rows:
        assert float(wall) > 0
        assert int(steps) >= 500
        assert float(difference) < 1e-4
        assert float(residual) < 1e-7
        assert float(drift) < 1e-5
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "four_bar.png",
        "four_bar_fmi2.fmu",
        "four_bar_fmi3.fmu",
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["out"], "FMPy's unpacked FMUs are gone"


def test_examples_are_scripts():
    adapted = [path.name for path in FOLDER.glob("*.py") if "__main__" in path.read_text(encoding="utf-8")]
    others = {
        "closed_leg.py",
        "demo.py",
        "gallery.py",
        "learned_friction.py",
        "leg_env.py",
        "random_lengths.py",
        "sampled_swing_up.py",
        "tuned_linkage.py",
    }
    assert {f"{name}.py" for name in MECHANISMS} | others == set(adapted)
