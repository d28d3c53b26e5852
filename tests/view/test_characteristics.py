"""Characteristics of forces: the core's values against closed forms, what a page has of them and how it draws them."""

import json
import math

import numpy as np
import pytest

import linkwork as lw
from linkwork.core.native import Stage
from linkwork.view import characteristics
from linkwork.view.characteristics import characteristics_of
from linkwork.view.fmu_scene import joined
from linkwork.view.live import live_part
from linkwork.view.part import PageRequest
from linkwork.view.scene import scene_of
from linkwork.view.scene_file import scene_file
from support.view_pages import columns_of, payload_of, unpack
from support.viewer import Simulator

KNOTS, VALUES = [-0.3, -0.1, 0.2, 0.5], [-40.0, -3.0, 5.0, 60.0]
TURN = np.linspace(0.0, 2.0 * math.pi, 9)
TORQUE = [3.0, 5.0, 4.0, 1.0, -2.0, -3.0, -1.0, 2.0, 3.0]
SPEEDS, DUTIES, DRAG = [0.0, 2.0, 6.0], [0.0, 1.0], [[0.0, 0.0], [1.0, 4.0], [2.0, 20.0]]


def machine() -> lw.Mechanism:
    """A block on a spring and a wheel with a motor, each with forces by tables and formulas."""
    mech = lw.Mechanism("machine", gravity=(0, 0, 0))
    for body, joint, kind, x in (("block", "slide", lw.Prismatic("z"), 0.0), ("wheel", "hub", lw.Revolute("y"), 1.0)):
        mech.add_body(body, mass=3.0, com=(0, 0, 0), inertia=2.0 * np.eye(3), origin=(x, 0, 0))
        mech.add_joint(joint, kind, "ground", body, at=(x, 0, 0))
    spring = lw.LookupTable(KNOTS, VALUES, outside="extend")
    mech.add_force(lw.NonlinearSpring("slide", table=spring, free=0.05, name="spring"))
    cogging = {"cogging": lw.LookupTable(TURN, TORQUE, periodic=True)}
    mech.add_force(lw.Force("hub", "cogging(2*q)", tables=cogging, name="motor"))
    drag = lw.LookupTable(SPEEDS, DRAG, y=DUTIES)
    mech.add_force(lw.Force("hub", "-drag(u, duty)", tables={"drag": drag}, inputs=("duty",), name="brake"))
    mech.add_force(lw.BumpStop("slide", upper=0.2, stiffness=900.0, damping=5.0, name="stop"))
    gas = {"pressure": 3e5, "volume": 4e-4, "area": 1e-3, "reference": 1.0}
    mech.add_force(lw.GasPressure(**ENDS, **gas, name="gas"))
    mech.add_force(lw.Thrust("block", axis=(1, 0, 0), name="jet"))
    mech.start(q={"slide": 0.1, "hub": 0.4}, u={"slide": 1.5, "hub": 9.0})
    return mech


ENDS = {"bodies": ("ground", "block"), "points": ((0, 0, -1.0), (0, 0, 0))}


@pytest.fixture(scope="module")
def model():
    return lw.compile(machine())


@pytest.fixture(scope="module")
def result():
    duty = {"brake.duty": lambda t: 0.5 + 0.4 * math.sin(9.0 * t)}
    return lw.simulate(machine(), 0.6, t_eval=np.linspace(0.0, 0.6, 61), inputs=duty)


def by_name(found) -> dict:
    return {one["force"]: one for one in found}


def spring(q) -> np.ndarray:
    """Linear between the knots, and with the end slopes beyond."""
    x = np.asarray(q) - 0.05
    below = VALUES[0] + (VALUES[1] - VALUES[0]) / (KNOTS[1] - KNOTS[0]) * (x - KNOTS[0])
    above = VALUES[-1] + (VALUES[-1] - VALUES[-2]) / (KNOTS[-1] - KNOTS[-2]) * (x - KNOTS[-1])
    return -np.where(x < KNOTS[0], below, np.where(x > KNOTS[-1], above, np.interp(x, KNOTS, VALUES)))


def brake(u, duty) -> np.ndarray:
    low, high = np.array(DRAG).T
    return -((1.0 - duty) * np.interp(u, SPEEDS, low) + duty * np.interp(u, SPEEDS, high))


# ---- values of the core ----


def test_values_of_formulas_are_their_closed_forms(model):
    block, q, u = model.block(), np.linspace(-0.6, 0.8, 57), np.linspace(-3.0, 9.0, 57)
    results, arguments = block.formula_values("spring", q[:, None])
    np.testing.assert_allclose(results[:, 0], spring(q), rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(arguments[:, 0], q - 0.05, atol=1e-15)
    results, arguments = block.formula_values("motor", u[:, None])
    np.testing.assert_allclose(results[:, 0], np.interp(2.0 * u, TURN, TORQUE, period=2.0 * math.pi), atol=1e-12)
    np.testing.assert_allclose(arguments[:, 0], 2.0 * u, atol=1e-14)
    duty = np.linspace(-0.5, 1.5, 57)
    results, _ = block.formula_values("brake", np.stack([u, duty], axis=1))
    np.testing.assert_allclose(results[:, 0], brake(u, np.clip(duty, 0.0, 1.0)), rtol=1e-13, atol=1e-13)
    volume = 1e-3 * np.linspace(0.1, 2.0, 57)
    results, arguments = block.formula_values("gas", 1.0 + (volume[:, None] - 4e-4) / 1e-3)
    np.testing.assert_allclose(-results[:, 0], 1e-3 * 3e5 * (4e-4 / volume) ** 1.4, rtol=1e-12)
    assert arguments.shape == (57, 0)


def test_values_leave_the_state_as_it_is():
    mech = machine()
    refusing = {"r": lw.LookupTable([0.0, 1.0], [0.0, 1.0], outside="error")}
    mech.add_force(lw.Force("hub", "r(q)", tables=refusing, name="refusing"))
    model = lw.compile(mech)
    block = model.block()
    block.assemble(1e-8)
    block.evaluate(Stage.OUTPUTS)
    before = block.reals.copy()
    for name, width in (("spring", 1), ("brake", 2), ("refusing", 1)):
        rows = np.full((4, width), 7.5)
        found, _ = block.formula_values(name, rows)
        assert np.isnan(found).all() == (name == "refusing")
        assert (rows == 7.5).all()
    values, refused = (model.fields[name].span for name in ("formula_value", "lookup_refused"))
    scratch = [*range(values.start, values.stop), *range(refused.start + 1, refused.stop, 2)]  # where it was refused
    kept = np.delete(np.arange(before.size), scratch)
    np.testing.assert_array_equal(block.reals[kept], before[kept])
    block.changed()
    block.evaluate(Stage.OUTPUTS)  # no refusal is left
    np.testing.assert_array_equal(block.reals[kept], before[kept])


def test_values_follow_parameters(model):
    changed = model.with_parameters({"spring.table[3]": 11.0, "spring.free": 0.0})
    found, _ = changed.block().formula_values("spring", np.array([[0.2], [0.05]]))
    np.testing.assert_allclose(found[:, 0], [-11.0, -(-3.0 + 0.5 * 14.0)], rtol=1e-14)


def test_only_formulas_have_values(model):
    block = model.block()
    with pytest.raises(lw.MechanismError, match="no formula"):
        block.formula_values("nothing", np.zeros((1, 1)))


def test_the_core_of_the_page_gives_the_same_bits(model, tmp_path):
    simulator, rows = Simulator(tmp_path), np.random.default_rng(4).uniform(-3.0, 9.0, (50, 2))
    for name, width in (("spring", 1), ("motor", 1), ("brake", 2), ("stop", 2), ("gas", 1)):
        given = np.ascontiguousarray(rows[:, :width])
        ours = simulator(model.model_bytes, formula={"force": name, "rows": given.ravel().tolist()})
        results, arguments = model.block().formula_values(name, given)
        np.testing.assert_array_equal(ours["results"], results.ravel())
        np.testing.assert_array_equal(ours["tables"], arguments.ravel())


# ---- what a page has of them ----


def test_arguments_are_columns_and_the_abscissa_is_that_of_a_table(model):
    found = by_name(characteristics_of(model))
    names = {name: [one["arguments"][k] for k in one["over"]] for name, one in found.items()}
    assert names == {
        "spring": ["spring.length"],
        "motor": ["motor.length"],
        "brake": ["brake.rate", "brake.duty"],
        "stop": ["stop.length", "stop.rate"],
        "gas": ["gas.length"],
        "jet": ["jet.thrust"],
    }
    state = model.assemble()
    for name, one in found.items():
        row = [float(model.value(argument, state)) for argument in one["arguments"]]
        values, _ = model.block().formula_values(name, np.array([row]))
        column = f"{name}.force[1]" if name == "jet" else f"{name}.force"
        assert values[0, one["result"]] == float(model.value(column, state))
        assert one["unit"] == model.column(column).unit
    assert found["spring"]["tables"] == [{"knots": KNOTS, "span": [-0.3, 0.5], "periodic": False, "dots": True}]
    assert found["motor"]["tables"][0]["periodic"]
    assert not found["brake"]["tables"][0]["dots"]
    assert (found["jet"]["result"], found["jet"]["label"]) == (0, "force[1], body axes")


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ("-t(slide.q)*u + k*q", ["slide.q", "force.length", "force.rate"]),  # that of the table before its own
        ("-k*u - c*q", ["force.length", "force.rate"]),
        ("p*time", ["force.p", "time"]),
        ("t(p) + x*k*u", ["force.p", "force.rate", "force.x"]),
    ],
)
def test_the_order_of_abscissae(formula, expected):
    mech = machine()
    given = {"tables": {"t": lw.LookupTable([0, 1], [0, 1])}} if "t(" in formula else {}
    inputs = ("p",) if "p" in formula else ()
    states = {"x": {"formula": "-x/T", "start": 1.0}} if "x" in formula else None
    parameters = {name: 2.0 for name in ("k", "c") if f"{name}*" in formula} | ({"T": (1.0, "s")} if states else {})
    mech.add_force(lw.Force("hub", formula, **given, inputs=inputs, states=states, parameters=parameters))
    found = by_name(characteristics_of(lw.compile(mech)))["force"]
    assert [found["arguments"][k] for k in found["over"]] == expected


def test_a_constant_has_none_and_a_brake_its_capacity():
    mech = machine()
    mech.add_force(lw.Force("hub", "c", parameters={"c": (2.0, "N.m")}, name="constant"))
    mech.add_force(lw.Brake("hub", "r*clamp", parameters={"r": (0.1, "m")}, inputs=("clamp",), name="disc"))
    model = lw.compile(mech)
    found = by_name(characteristics_of(model))
    assert "constant" not in found
    assert (found["disc"]["label"], found["disc"]["unit"], found["disc"]["arguments"]) == (
        "capacity",
        "N.m",
        ["disc.clamp"],
    )
    listed = {one["name"]: one for one in scene_of(model)["forces"]}
    assert listed["disc"] == {"name": "disc", "title": "brake", "formula": "r*clamp", "joints": ["hub"]}


def test_a_page_of_a_result_brings_model_core_and_arguments(result, model, assets):
    data = payload_of(lw.page(result, columns=["hub.q"]))
    scene = data["scenes"][0]
    assert unpack(scene["model"]) == model.model_bytes
    assert data["core"] is not None
    assert scene["characteristics"] == characteristics_of(model)
    columns = columns_of(data["runs"][0])
    duty = 0.5 + 0.4 * np.sin(9.0 * columns["time"])
    np.testing.assert_allclose(columns["brake.duty"], duty, atol=1e-3)  # straight between the rows of the result
    assert scene["units"]["brake.duty"] == "1"
    live = payload_of(lw.page(model))
    assert live["scenes"][0]["characteristics"] == scene["characteristics"]
    assert live["scenes"][0]["model"] == ""
    both = payload_of(lw.page([model, result]))
    assert len(both["scenes"]) == 1
    assert both["scenes"][0]["model"] == scene["model"]


def test_a_model_that_is_too_large_stays_out_and_the_page_says_so(result, assets, monkeypatch):
    monkeypatch.setattr(characteristics, "MOST_BYTES", 1000)
    data = payload_of(lw.page(result))
    assert data["core"] is None
    assert data["scenes"][0]["characteristics"] == []
    assert "Characteristics of forces are not drawn" in data["scenes"][0]["warnings"][0]
    assert live_part(result.model, PageRequest()).scene["characteristics"]


def test_scenes_of_fmus_list_forces_without_characteristics(model):
    scene = json.loads(scene_file(model))["scene"]
    assert scene["characteristics"] == []
    whole = joined("system", {"a": scene, "b": scene})
    assert [whole["forces"][0][key] for key in ("name", "joints")] == ["a.spring", ["a.slide"]]
    assert len(whole["forces"]) == 2 * len(scene["forces"])


# ---- in a browser ----

DRAWN = "() => linkworkPage.characteristics()"


def drawn(opened, name: str, t: float | None = None) -> dict:
    """The characteristic of a force, once it is there."""
    opened.ask("name => linkworkPage.select(name)", name)
    if t is not None:
        opened.ask("t => linkworkPage.seek(t)", t)
    return shown(opened)


def shown(opened) -> dict:
    """The one that is drawn, at the time of the page."""
    opened.page.wait_for_function("() => linkworkPage.characteristics()[0]?.t === linkworkPage.time()")
    (found,) = opened.ask(DRAWN)
    return found


def place_of_point(opened) -> tuple[float, float]:
    """Where the point is in its plot, as parts of its width and height from the lower left."""
    point = opened.page.locator(".characteristic-point").bounding_box()
    over = opened.page.locator(".characteristic .u-over").bounding_box()
    x, y = point["x"] + point["width"] / 2 - over["x"], point["y"] + point["height"] / 2 - over["y"]
    return x / over["width"], 1.0 - y / over["height"]


@pytest.mark.parametrize("row", [0, 23, 60])
def test_curve_and_point_are_those_of_the_force(row, result, open_page):
    t, at = float(result.t[row]), {name: float(result[name][row]) for name in ("slide.q", "hub.u", "brake.duty")}
    with open_page(result, reduced_motion="reduce") as opened:
        found = drawn(opened, "spring", t)
        np.testing.assert_allclose(found["y"], spring(found["x"]), atol=1e-9)
        assert found["x"][0] < min(KNOTS[0] + 0.05, *result["slide.q"])
        assert found["x"][-1] > KNOTS[-1] + 0.05
        np.testing.assert_allclose(found["point"], [at["slide.q"], float(spring(at["slide.q"]))], rtol=1e-5, atol=1e-6)
        dots = np.array([(x, y) for x, y in zip(found["x"], found["dots"], strict=True) if y is not None])
        np.testing.assert_allclose(dots[:, 0], np.array(KNOTS) + 0.05, atol=1e-12)
        np.testing.assert_allclose(dots[:, 1], -np.array(VALUES), atol=1e-12)
        across, up = place_of_point(opened)
        assert across == pytest.approx((found["point"][0] - found["x"][0]) / (found["x"][-1] - found["x"][0]), abs=0.01)
        assert 0.0 <= up <= 1.0
        found = drawn(opened, "brake", t)
        np.testing.assert_allclose(found["y"], brake(np.array(found["x"]), at["brake.duty"]), rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(found["point"][1], result["brake.force"][row], rtol=1e-5)
        assert all(dot is None for dot in found["dots"])


def test_a_periodic_table_shows_the_period_of_the_point(result, open_page):
    row = int(np.argmax(result["hub.q"] > math.pi))  # beyond the first period, which is half a turn
    assert row > 0
    with open_page(result, reduced_motion="reduce") as opened:
        for k, first in ((0, 0.0), (row, math.pi)):
            found = drawn(opened, "motor", float(result.t[k]))
            np.testing.assert_allclose([found["x"][0], found["x"][-1]], [first, first + math.pi], atol=1e-9)
            assert sum(dot is not None for dot in found["dots"]) == len(TURN)
            expected = np.interp(2.0 * np.array(found["x"]), TURN, TORQUE, period=2.0 * math.pi)
            np.testing.assert_allclose(found["y"], expected, atol=1e-9)


def test_the_point_moves_while_time_runs(result, open_page):
    with open_page(result, reduced_motion="reduce") as opened:
        before = drawn(opened, "spring", 0.0)["point"]
        place = place_of_point(opened)
        opened.page.keyboard.press("Space")
        opened.page.wait_for_function("() => linkworkPage.time() > 0.1")
        opened.ask("() => linkworkPage.pause()")
        found = shown(opened)
        t = opened.ask("() => linkworkPage.time()")
        assert found["point"][0] == pytest.approx(float(result.at(t)["slide.q"]), abs=1e-4)
        assert math.dist(before, found["point"]) > 0.01
        assert math.dist(place, place_of_point(opened)) > 0.01


def test_another_abscissa_can_be_chosen(result, open_page):
    with open_page(result, reduced_motion="reduce") as opened:
        drawn(opened, "brake", 0.2)
        opened.page.get_by_label("Abscissa of force of brake").select_option(label="brake.duty")
        found = shown(opened)
        assert found["over"] == "brake.duty"
        speed = float(np.interp(0.2, result.t, result["hub.u"]))
        np.testing.assert_allclose(found["y"], brake(speed, np.clip(found["x"], 0.0, 1.0)), rtol=1e-4)


def test_a_live_page_draws_the_parameters_of_its_run(open_page):
    done = "() => [...document.querySelectorAll('[role=status]')].some(one => / rows, /.test(one.textContent))"
    with open_page(machine(), {"t_end": 0.3}, reduced_motion="reduce") as opened:
        opened.page.wait_for_function(done)
        before = drawn(opened, "spring", 0.1)
        np.testing.assert_allclose(before["y"], spring(before["x"]), atol=1e-9)
        opened.page.get_by_role("tab", name="Simulation").click()
        opened.page.get_by_label("Search Parameters").fill("spring.table[3]")
        field = opened.page.get_by_label("spring.table[3], value", exact=True)
        field.fill("25")
        field.press("Enter")
        opened.page.wait_for_timeout(300)
        opened.page.wait_for_function(done)
        opened.page.get_by_role("tab", name="Mechanism").click()
        found = drawn(opened, "spring", 0.1)
        dots = [dot for dot in found["dots"] if dot is not None]
        np.testing.assert_allclose(dots, [40.0, 3.0, -25.0, -60.0], atol=1e-12)


@pytest.mark.parametrize("size", [(1280, 800), (700, 500), (390, 800)])
def test_a_characteristic_needs_no_scroll_bar_and_cuts_no_unit(size, result, open_page):
    with open_page(result, size=size, reduced_motion="reduce") as opened:
        for name in ("spring", "brake", "stop", "gas"):
            drawn(opened, name, 0.2)
            assert opened.ask("() => document.documentElement.scrollWidth <= innerWidth")
            wide = "one => one.scrollWidth <= one.clientWidth"
            for part in (".parts", ".details", ".characteristic", ".characteristic-head", ".characteristic-values"):
                assert opened.page.locator(part).evaluate(wide), (name, part)
            frame = opened.page.locator(".characteristic .plot-frame").bounding_box()
            canvas = opened.page.locator(".characteristic canvas").bounding_box()
            assert canvas["width"] <= frame["width"] + 0.5
            assert canvas["height"] <= frame["height"] + 0.5
