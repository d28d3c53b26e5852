"""Pages in a browser without a network: opened from the disk, they show what the result has, and say nothing else."""

import numpy as np
import pytest

import linkwork as lw
from support.renamed import renamed

MECHANISMS = ("four_bar", "quarter_car", "gripper", "spatial_ladder", "biped_leg", "zoo", "stewart")


@pytest.mark.parametrize("name", MECHANISMS)
def test_poses_are_the_columns_and_pins_are_on_both_bodies(name, result_of, open_page):
    result = result_of(name)
    size = max(
        1e-3, float(np.ptp(np.concatenate([result[f"{b}.r"] for b in result.model.mechanism.bodies]), axis=0).max())
    )
    mech = result.model.mechanism
    always = [joint for joint in mech.joints.values() if joint.name not in mech.transitions]  # not a pin that opens
    pinned = [joint.name for joint in always if joint.kind.type_name in ("revolute", "spherical", "universal")]
    with open_page(result) as opened:
        for row in (0, 7, 30):
            opened.ask("t => linkworkPage.seek(t)", float(result.t[row]))
            for body in result.model.mechanism.bodies:
                pose = opened.ask("body => linkworkPage.pose(body)", body)
                np.testing.assert_allclose(pose["r"], result[f"{body}.r"][row], atol=1e-6 * size)
                expected = result[f"{body}.Q"][row]
                turn = np.array(pose["Q"])
                np.testing.assert_allclose(turn * np.sign(turn @ expected), expected, atol=1e-6)
            for joint in pinned:
                pins = opened.ask("joint => linkworkPage.pins(joint)", joint)
                np.testing.assert_allclose(pins["onParent"], pins["onChild"], atol=1e-6 * size, err_msg=joint)


def test_columns_of_the_page_are_those_of_the_result(result_of, open_page):
    result = result_of("four_bar")
    with open_page(result) as opened:
        found = opened.ask("t => linkworkPage.columnsAt(t)", float(result.t[12]))
    for name in ("A.q", "D.q", "energy.kinetic", "B.f[1]"):
        assert found[name] == pytest.approx(result[name][12], rel=1e-6)


@pytest.mark.parametrize("name", ["</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>", "a & b"])
def test_hostile_names_are_text(name, result_of, open_page):
    mech = result_of("four_bar").model.mechanism
    title = name + " \u202e\N{GREEK SMALL LETTER ALPHA}\N{GRINNING FACE}"
    result = lw.simulate(renamed(mech, {"crank": "<b>{{x}}", "A": "</p>$(1)"}), 0.1)
    with open_page(result, {"title": title, "labels": [name]}) as opened:
        assert opened.page.title() == title
        assert opened.page.locator("img, b").count() == 0
        assert opened.page.get_by_text("<b>{{x}}").count() > 0


def test_a_page_can_be_used_by_keyboard(result_of, open_page):
    with open_page(result_of("four_bar"), reduced_motion="reduce") as opened:
        assert opened.ask("() => linkworkPage.time()") == 0.0  # nothing moves by itself
        opened.page.keyboard.press("ArrowRight")
        assert 0.0 < opened.ask("() => linkworkPage.time()") <= 0.01 + 1e-6
        opened.page.keyboard.press("End")
        assert opened.ask("() => linkworkPage.time()") == pytest.approx(0.3)
        opened.page.keyboard.press("Home")
        opened.page.keyboard.press("Space")
        opened.page.wait_for_function("() => linkworkPage.time() > 0.05")


CHOSEN = "button.part[aria-expanded=true] .part-name"


def test_a_click_on_a_distance_selects_it(open_page):
    mech = lw.Mechanism("conical_pendulum")
    mech.add_body("bob", mass=1.0, com=(0, 0, 0), inertia=lw.inertia.sphere(1.0, 0.02))
    mech.add_joint("A", lw.Free(), "ground", "bob", at=(0, 0, 0))
    mech.add_distance("rod", bodies=("ground", "bob"), points=((0, 0, 1), (0, 0, 0)), length=1.0)
    with open_page(lw.simulate(mech, 0.1), reduced_motion="reduce") as opened:
        opened.page.get_by_role("button", name="View along y", exact=True).click()
        canvas, chosen = opened.page.locator("canvas").first.bounding_box(), opened.page.locator(CHOSEN)
        for _ in range(40):  # until the view has turned
            opened.page.wait_for_timeout(300)
            opened.page.mouse.click(canvas["x"] + canvas["width"] / 2, canvas["y"] + canvas["height"] / 2)
            if chosen.count() and chosen.text_content() == "rod":
                break
        assert chosen.text_content() == "rod"


def test_a_mechanism_in_place_of_another_takes_nothing_of_it_along(result_of, open_page):
    with open_page([result_of("four_bar"), result_of("quarter_car")]) as opened:
        choice = opened.page.get_by_label("Mechanism", exact=True).and_(opened.page.locator("select"))
        for name in ("quarter_car", "four_bar") * 10:  # more scenes than browsers have contexts
            choice.select_option(label=name)
        opened.page.keyboard.press("?")
        assert opened.page.locator("dialog").count() == 1
        assert opened.page.locator(".page").count() == 1


def test_every_control_has_a_name(result_of, open_page):
    with open_page([result_of("four_bar"), result_of("four_bar")]) as opened:
        unnamed = opened.ask(
            """() => [...document.querySelectorAll("button, input, select, [role=slider]")]
              .filter(one => !(one.ariaLabel || one.title || one.textContent.trim() || one.labels?.length
                || one.getAttribute("aria-labelledby"))).map(one => one.outerHTML)"""
        )
        assert unnamed == []


@pytest.mark.parametrize("size", [(1280, 800), (700, 500), (400, 800)])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_nothing_overflows(size, theme, result_of, open_page):
    with open_page(result_of("gripper"), size=size, color_scheme=theme) as opened:
        assert opened.ask("() => document.documentElement.scrollWidth <= innerWidth")
        assert opened.ask("() => document.documentElement.scrollHeight <= innerHeight")
