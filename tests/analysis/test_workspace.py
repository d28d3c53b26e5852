"""Workspaces against the discs and lengths that bound them, and conditioning against closed forms."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import linkwork as lw
from support.platforms import (
    DISTAL,
    HEIGHT,
    PROXIMAL,
    SPAN,
    STRUTS,
    five_bar,
    limb,
    stewart,
    strut_lengths,
    strut_rows,
)


def test_what_is_held_is_given_by_name_or_with_values() -> None:
    """As in `equilibrium` and `kinematics`: names keep the values of the start."""
    model = lw.compile(stewart())
    start = model.assemble()
    options = {"of": "platform.r[3]", "over": {"platform.r[1]": (-0.1, 0.1, 3)}, "by": STRUTS, "state": start}
    kept = ["platform.Q", "platform.r[2]", "platform.r[3]"]
    values = {"platform.Q": (1, 0, 0, 0), "platform.r[2]": 0.0, "platform.r[3]": start["platform.r"][2]}
    found = [lw.workspace(model, hold=hold, **options) for hold in (values, kept, dict.fromkeys(kept))]
    for one in found:
        np.testing.assert_allclose(one["platform.r[3]"], start["platform.r"][2], rtol=0, atol=1e-9)
        assert one.reached.all()
    with pytest.raises(lw.MechanismError, match="hold must be a name or names"):
        lw.workspace(model, hold=[1.0], **options)


def test_a_platform_reaches_the_nodes_that_its_struts_allow() -> None:
    span = 0.12
    axes = {"platform.r[1]": (-0.33, 0.33, 12), "platform.r[3]": (0.42, 0.78, 13)}
    found = lw.workspace(
        stewart(limits=(-span, span)),
        of=list(axes),
        over=axes,
        by=STRUTS,
        hold={"platform.Q": (1, 0, 0, 0), "platform.r[2]": 0.05},
        length=0.4,
    )
    rest = strut_lengths(np.array([0, 0, HEIGHT]), np.eye(3))
    x, z = np.meshgrid(*(np.linspace(*axis) for axis in axes.values()), indexing="ij")
    places = [np.array([a, 0.05, b]) for a, b in zip(x.ravel(), z.ravel(), strict=True)]
    allowed = [np.abs(strut_lengths(place, np.eye(3)) - rest).max() <= span for place in places]
    np.testing.assert_array_equal(found.reached, allowed)
    assert 20 < sum(allowed) < 120
    assert found.shape == (12, 13)
    for k in np.flatnonzero(found.reached)[::7]:
        jacobian = np.linalg.inv(strut_rows(places[k], np.eye(3)))
        values = np.linalg.svd(jacobian[[3, 5]], compute_uv=False)  # of the two mapped functions
        assert found["conditioning"][k] == pytest.approx(values[-1] / values[0], rel=1e-8)
    assert np.isnan(found["conditioning"][~found.reached]).all()


def test_a_five_bar_reaches_both_discs_and_is_badly_conditioned_at_their_edges() -> None:
    axes = {"tip.r[1]": (-0.597, 0.603, 25), "tip.r[3]": (-0.702, 0.698, 29)}
    found = lw.workspace(five_bar(), of=list(axes), over=axes, by=["A", "B"])
    x, z = np.meshgrid(*(np.linspace(*axis) for axis in axes.values()), indexing="ij")
    distances = np.array([np.hypot(x.ravel() - base, z.ravel()) for base in (-SPAN / 2, SPAN / 2)])
    inside = ((distances < PROXIMAL + DISTAL) & (distances > DISTAL - PROXIMAL)).all(axis=0)
    np.testing.assert_array_equal(found.reached, inside)
    edge = inside & (distances.max(axis=0) > PROXIMAL + DISTAL - 0.004)
    middle = inside & (np.abs(distances - 0.45) < 0.1).all(axis=0)
    assert edge.any()
    assert found["conditioning"][edge].max() < 0.4 * np.median(found["conditioning"][middle])


def test_a_grid_over_turns_shows_where_the_platform_is_singular() -> None:
    turns = np.deg2rad([0, 30, 60, 90])
    model = lw.compile(stewart())
    found = [
        lw.workspace(
            model,
            of="platform.r",
            over={"platform.r[3]": (HEIGHT, HEIGHT + 0.02, 2)},
            by=STRUTS,
            hold={
                "platform.r[1]": 0.0,
                "platform.r[2]": 0.0,
                "platform.Q": Rotation.from_rotvec([0, 0, turn]).as_quat(scalar_first=True),
            },
        )
        for turn in turns
    ]
    holding = [one["motor_conditioning"][0] for one in found]
    assert np.all(np.diff(holding) < 0)
    assert holding[-1] == 0.0
    assert found[-1]["conditioning"][0] == 0.0


def test_motors_are_the_axes_by_default_within_their_limits() -> None:
    mech = limb()
    for name, lower, upper in (("hip", -0.3, 0.3), ("front", 0.4, 1.2), ("back", 1.9, 2.7)):
        mech.add_transition(f"stop_{name}", lw.Stop(name, lower=lower, upper=upper))
    found = lw.workspace(mech, of="foot.r", by=["hip", "front", "back"], points=4)
    assert found.over == ("hip.q", "front.q", "back.q")
    assert found.reached.all()
    assert (found["front.q"].min(), found["front.q"].max()) == (0.4, 1.2)
    np.testing.assert_array_equal(found.grid("hip.q")[:, 0, 0], np.linspace(-0.3, 0.3, 4))
    free = lw.workspace(five_bar(), of="tip.r[1]", points=5)
    assert len(free.over) == 2
    assert np.ptp(free[free.over[0]]) == pytest.approx(2 * np.pi)


def test_rows_are_written_and_maps_drawn(tmp_path: Path) -> None:
    found = lw.workspace(
        five_bar(), of=["tip.r[1]", "tip.r[3]"], over={"A": (1.8, 2.6, 4), "B": (0.5, 1.3, 3)}, by=["A", "B"]
    )
    found.to_csv(tmp_path / "map.csv")
    lines = (tmp_path / "map.csv").read_text().splitlines()
    assert lines[0] == "A.q,B.q,tip.r[1],tip.r[3],conditioning,motor_conditioning,reached"
    assert len(lines) == 13
    frame = found.to_dataframe()
    np.testing.assert_array_equal(frame["tip.r[1]"], found["tip.r[1]"])
    axes = found.plot(tmp_path / "map.png").axes
    assert [axes[0].get_xlabel(), axes[0].get_ylabel(), axes[1].get_ylabel()] == [
        "tip.r[1] [m]",
        "tip.r[3] [m]",
        "conditioning",
    ]
    assert (tmp_path / "map.png").stat().st_size > 5000
    for of in ("tip.r[1]", "tip.r"):
        other = lw.workspace(five_bar(), of=of, over={"A": (1.8, 2.6, 3)}, by=["A", "B"])
        assert len(other.plot().axes) == 2
    with pytest.raises(lw.UnknownNameError, match="did you mean 'conditioning'"):
        found["conditionning"]
    assert "12 of 4 x 3 nodes over A.q, B.q" in repr(found)


def test_progress_is_reported() -> None:
    updates = []
    lw.workspace(five_bar(), of="tip.r", over={"A": (1.8, 2.6, 40)}, by=["A", "B"], progress=updates.append)
    assert updates
    assert "40 done; nodes" in str(updates[-1])


def test_wrong_requests_are_refused_by_name() -> None:
    mech = five_bar()
    for options, text in (
        ({"of": "tipp.r"}, "did you mean 'tip.r'"),
        ({"of": "rod1"}, "has no value to map"),
        ({"of": "tip.r", "over": {"A": (1.0, 0.0)}}, "lower end below the upper"),
        ({"of": "tip.r", "over": {"A": (0.0, np.nan)}}, "lower end below the upper"),
        ({"of": "tip.r", "over": {"A": 1.0}}, "needs a lower and an upper end"),
        ({"of": "tip.r", "over": {"tip.r": (0, 1)}}, "name one, as"),
        ({"of": "tip.r", "over": {"A": (0, 1, 1)}}, "of at least 2, not 1"),
        ({"of": "tip.r", "over": {"A": (0, 1), "A.q": (0, 1)}}, "twice"),
        ({"of": "tip.r", "over": {"A": (0, 1)}, "hold": {"A": 0.5}}, "twice"),
        ({"of": "tip.r", "over": {}}, "ranges by name"),
        ({"of": "tip.r", "points": 2.5}, "whole number"),
        ({"of": "tip.r", "points": 2000}, "more than 1000000"),
        ({"of": "tip.r", "by": ["A", "X"]}, "there is no motor 'X'"),
    ):
        with pytest.raises(lw.MechanismError, match=text):
            lw.workspace(mech, **options)
    with pytest.raises(lw.MechanismError, match=r"motor 'P1\.q' has no limits"):
        lw.workspace(stewart(), of="platform.r", by=STRUTS)
    with pytest.raises(lw.UnreachableError, match="next to the start is reached"):
        lw.workspace(mech, of="tip.r", over={"tip.r[1]": (3.0, 4.0)}, by=["A", "B"])
