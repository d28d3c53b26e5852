"""Live pages in a browser: changed parameters give the bits of `lw.simulate`; bodies are pulled; errors are shown."""

import csv
import json
import shutil

import numpy as np
import pytest

import linkwork as lw
from linkwork.view import document

DONE = """() => [...document.querySelectorAll('[role=status]')].some(one => / rows, /.test(one.textContent))"""


def saved(page, button: str) -> str:
    """What a button saves."""
    with page.expect_download() as download:
        page.get_by_role("button", name=button).click()
    return download.value.path().read_text(encoding="utf-8")


def put(page, name: str, value: str) -> None:
    """Type a value into the field of a setting, and wait for the run."""
    page.get_by_label("Search Parameters").fill(name)
    field = page.get_by_label(f"{name}, value", exact=True)
    field.fill(value)
    field.press("Enter")
    page.wait_for_timeout(300)
    page.wait_for_function(DONE)


def hanging_rod() -> lw.Mechanism:
    """A pendulum at rest."""
    mech = lw.Mechanism("pendulum")
    mech.add_body("rod", mass=2.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(2.0, 1.0))
    mech.add_joint("A", lw.Revolute((0, 1, 0)), "ground", "rod", at=(0, 0, 0))
    mech.add_force(lw.SpringDamper("A", damping=5.0))
    mech.start(q={"A": np.pi / 2})
    return mech


def middle_of_scene(page) -> tuple[float, float]:
    canvas = page.locator("canvas").first.bounding_box()
    return canvas["x"] + canvas["width"] / 2, canvas["y"] + canvas["height"] / 2


@pytest.mark.parametrize(
    ("name", "parameter", "value"), [("four_bar", "coupler.mass", 3.7), ("bouncing_pendulum", "rod.mass", 0.9)]
)
def test_a_changed_parameter_gives_the_bits_of_simulate(name, parameter, value, result_of, open_page):
    mech = result_of(name).model.mechanism
    with open_page(mech, {"t_end": 2.0}) as opened:
        opened.page.wait_for_function(DONE)
        put(opened.page, parameter, str(value))
        kept = json.loads(saved(opened.page, "Save parameters"))
        header, *rows = csv.reader(saved(opened.page, "Save rows").splitlines())
    assert kept == {parameter: value}
    found = {column: np.array(values) for column, values in zip(header, np.array(rows, dtype=float).T, strict=True)}
    t, between = np.unique(found["time"], return_counts=True)
    t = t[np.isin(t, np.arange(201) / 100.0) & (between == 1)]  # the page has rows at events too
    result = lw.simulate(mech, 2.0, t_eval=t, parameters=kept, rtol=1e-8)
    assert len(found) > 20
    assert len(t) > 190
    for column in set(result.names) & found.keys():
        here = found[column][np.isin(found["time"], t)]
        np.testing.assert_array_equal(here, result[column], err_msg=column)


def test_a_body_can_be_pulled(open_page):
    with open_page(hanging_rod(), {"t_end": 0.5}) as opened:
        opened.page.wait_for_function(DONE)
        opened.page.get_by_role("button", name="View along y", exact=True).click()
        opened.page.wait_for_timeout(800)
        x, y = middle_of_scene(opened.page)
        before = np.array(opened.ask("() => linkworkPage.pose('rod')")["Q"])
        opened.page.mouse.move(x, y)
        opened.page.mouse.down()
        opened.page.mouse.move(x + 150, y, steps=10)
        opened.page.wait_for_timeout(1500)
        after = np.array(opened.ask("() => linkworkPage.pose('rod')")["Q"])
        opened.page.mouse.up()
    assert 2 * np.arccos(min(1.0, abs(before @ after))) > 0.1  # rad


@pytest.mark.parametrize("value", ["", "-1", "0"])
def test_a_field_without_a_positive_number_is_named(value, result_of, open_page):
    with open_page(result_of("four_bar").model.mechanism, {"t_end": 0.2}) as opened:
        opened.page.wait_for_function(DONE)
        field = opened.page.get_by_label("Duration, s")
        field.fill(value)
        field.press("Enter")
        alert = opened.page.locator("[role=alert]:visible")
        alert.wait_for()
        assert alert.text_content() == "Duration must be a positive number."
        field.fill("0.1")
        field.press("Enter")
        opened.page.wait_for_function("() => document.querySelector('[role=status]').textContent === '11 rows, 0.1 s'")
        assert not alert.is_visible()


def test_a_pull_without_a_run_is_answered(open_page):
    with open_page(hanging_rod(), {"t_end": 0.5}) as opened:
        opened.page.wait_for_function(DONE)
        opened.page.get_by_role("button", name="View along y", exact=True).click()
        opened.page.wait_for_timeout(800)
        tolerance = opened.page.get_by_label("Tolerance")
        tolerance.fill("1e-20")  # the rows of the run before stay on the page
        tolerance.press("Enter")
        opened.page.locator("[role=alert]:visible").get_by_text("rtol").wait_for()
        x, y = middle_of_scene(opened.page)
        opened.page.mouse.move(x, y)
        opened.page.mouse.down()
        opened.page.mouse.move(x + 50, y, steps=5)
        opened.page.mouse.up()
        opened.page.locator("[role=alert]:visible").get_by_text("no run in which to pull rod").wait_for()
        opened.page.wait_for_function(DONE)


def test_a_simulator_that_cannot_be_loaded_says_why(result_of, tmp_path, monkeypatch, browser):
    read = document.assets
    folder = tmp_path / "assets"
    shutil.copytree(read(), folder)
    (folder / document.CORE).write_bytes(b"\0asm\1\0\0\0")  # without its functions
    monkeypatch.setattr(document, "assets", lambda: folder)
    path = lw.page(result_of("four_bar").model.mechanism, tmp_path / "page.html")
    with browser.open(path) as opened:
        opened.page.locator("[role=alert]:visible").wait_for()


def test_a_mechanism_that_cannot_start_says_why(open_page):
    mech = lw.Mechanism("too_short")
    for name in ("a", "b"):
        mech.add_body(name, mass=1.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(1.0, 1.0))
    hinge = lw.Revolute((0, 1, 0))
    mech.add_joint("A", hinge, "ground", "a", parent_frame=lw.Frame())
    mech.add_joint("B", hinge, "a", "b", parent_frame=lw.Frame((1, 0, 0)))
    mech.add_joint("C", hinge, "b", "ground", parent_frame=lw.Frame((1, 0, 0)), child_frame=lw.Frame((3, 0, 0)))
    with open_page(mech) as opened:
        alert = opened.page.locator("[role=alert]:visible").first
        alert.wait_for()
        assert "C" in alert.text_content()
