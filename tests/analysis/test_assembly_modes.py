"""Assembly modes against eigenvalues of a resultant, closed forms, and an independent search on platforms."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from support.builder import cut_at
from support.linkages import (
    dyad_reach,
    four_bar,
    four_bar_form,
    six_bar,
    six_bar_form,
    slider_crank,
    slider_crank_form,
    start_of,
)

BASE = np.array([(0.0, 0.0), (15.91, 0.0), (0.0, 10.0)])
PLATFORM = np.array([(0.0, 0.0), (17.04, 0.0), (13.27, 15.0)])
LENGTHS = np.array([14.98, 15.38, 12.0])


def planar_platform() -> lw.Mechanism:
    """3-RPR: three telescopic rods from the ground to a platform in its plane."""
    mech, hinge = lw.Mechanism("planar_platform"), lw.Revolute((0, 0, 1))
    ball = {"mass": 1.0, "com": (0, 0, 0), "inertia": lw.inertia.sphere(1.0, 0.1)}
    mech.add_body("platform", **ball)
    for k in range(3):
        mech.add_body(f"tube{k}", **ball)
        mech.add_body(f"rod{k}", **ball)
        mech.add_joint(f"A{k}", hinge, "ground", f"tube{k}", parent_frame=lw.Frame((*BASE[k], 0)))
        mech.add_joint(f"L{k}", lw.Prismatic((1, 0, 0)), f"tube{k}", f"rod{k}", parent_frame=lw.Frame())
        ends = {"parent_frame": lw.Frame(), "child_frame": lw.Frame((*PLATFORM[k], 0))}
        mech.add_joint(f"B{k}", hinge, f"rod{k}", "platform", **ends)
    return mech


def angles_of_the_platform() -> np.ndarray:
    """Angles phi of all real poses: the roots of the resultant, a trigonometric polynomial of phi.

    Differences of the three circles are linear in the position p, det p = n; with |p| = L0, n.n = L0^2 det^2.
    """

    def resultant(phi: float) -> float:
        turn = np.array([[np.cos(phi), -np.sin(phi)], [np.sin(phi), np.cos(phi)]])
        arms = (PLATFORM[1:] @ turn.T) - BASE[1:]
        right = LENGTHS[1:] ** 2 - LENGTHS[0] ** 2 - np.sum(arms**2, axis=1)
        (a, b), (c, d) = 2 * arms
        n = np.array([right[0] * d - right[1] * b, a * right[1] - c * right[0]])
        return float(n @ n - LENGTHS[0] ** 2 * (a * d - b * c) ** 2)

    count = 32
    terms = np.fft.fft([resultant(2 * np.pi * k / count) for k in range(count)]) / count
    kept = [terms[k % count] for k in range(8, -9, -1)]
    while abs(kept[0]) < 1e-12 * np.abs(terms).max():
        kept = kept[1:-1]
    roots = np.linalg.eigvals(np.diag(np.ones(len(kept) - 2), -1) + _last_column(kept))
    return np.sort(np.angle(roots[np.abs(np.abs(roots) - 1) < 1e-8]))


def _last_column(kept: list[complex]) -> np.ndarray:
    """Of the companion matrix of a polynomial, the highest power first."""
    matrix = np.zeros((len(kept) - 1, len(kept) - 1), dtype=complex)
    matrix[0] = -np.array(kept[1:]) / kept[0]
    return matrix


def test_a_planar_platform_has_its_six_poses() -> None:
    expected = angles_of_the_platform()
    assert len(expected) == 6
    held = {f"L{k}": length for k, length in enumerate(LENGTHS)}
    modes = lw.assembly_modes(planar_platform(), held, starts=120)
    found = []
    for state in modes:
        position, rotation = state.model.pose(state, "platform")
        found.append(np.arctan2(rotation[1, 0], rotation[0, 0]))
        tips = position[:2] + PLATFORM @ rotation[:2, :2].T
        np.testing.assert_allclose(np.linalg.norm(tips - BASE, axis=1), LENGTHS, rtol=1e-13)
    np.testing.assert_allclose(np.sort(found), expected, rtol=0, atol=1e-10)
    assert modes.growth[-1] == (120, 6)
    assert sum(modes.hits) <= 120
    assert (np.diff([count for _, count in modes.growth]) >= 0).all()


def test_the_modes_do_not_depend_on_the_run_and_are_sorted() -> None:
    held = {f"L{k}": length for k, length in enumerate(LENGTHS)}
    one, again, other = (lw.assembly_modes(planar_platform(), held, starts=80, seed=s) for s in (0, 0, 3))
    for first, second in zip(one, again, strict=True):
        np.testing.assert_array_equal(first.q, second.q)
    for first, second in zip(one, other, strict=True):
        np.testing.assert_allclose(np.exp(1j * first.q), np.exp(1j * second.q), rtol=0, atol=1e-10)
    keys = [tuple(state.q.round(6)) for state in one]
    assert keys == sorted(keys)


def test_a_four_bar_has_two_modes_and_a_six_bar_four() -> None:
    lengths = (0.4, 1.0, 0.8, 0.9)
    modes = lw.assembly_modes(four_bar(*lengths, {}), {"A": 1.0}, starts=30)
    expected = [complex(np.exp(1j * four_bar_form(*lengths, sign)(1.0)["D"].value.real)) for sign in (1, -1)]
    found = [complex(np.exp(1j * state["D.q"])) for state in modes]
    np.testing.assert_allclose(np.sort_complex(found), np.sort_complex(expected), atol=1e-12)
    links = (1.4, 1.5)
    assert max(dyad_reach(1.0, sign) for sign in (1, -1)) < sum(links)
    modes = lw.assembly_modes(six_bar(*links, {"A": 1.0}), {"A": 1.0}, starts=60)
    signs = [(one, two) for one in (1, -1) for two in (1, -1)]
    expected = [complex(np.exp(1j * six_bar_form(*links, pair)(1.0)["E"].value.real)) for pair in signs]
    found = [complex(np.exp(1j * state["E.q"])) for state in modes]
    np.testing.assert_allclose(np.sort_complex(found), np.sort_complex(expected), atol=1e-12)


# ---- in space ----


def anchors(rng: np.random.Generator, radius: float) -> np.ndarray:
    angles = 2 * np.pi * (np.arange(6) + rng.uniform(-0.3, 0.3, 6)) / 6
    return radius * np.column_stack([np.cos(angles), np.sin(angles), np.zeros(6)])


def platform(base: np.ndarray, top: np.ndarray) -> lw.Mechanism:
    """A Gough-Stewart platform, UPS."""
    mech = lw.Mechanism("platform")
    ball = {"mass": 1.0, "com": (0, 0, 0), "inertia": lw.inertia.sphere(1.0, 0.1)}
    mech.add_body("platform", **ball)
    for k in range(6):
        mech.add_body(f"tube{k}", **ball)
        mech.add_body(f"rod{k}", **ball)
        universal = lw.Universal((1, 0, 0), (0, 1, 0))
        mech.add_joint(f"U{k}", universal, "ground", f"tube{k}", parent_frame=lw.Frame(base[k]))
        mech.add_joint(f"L{k}", lw.Prismatic((0, 0, 1)), f"tube{k}", f"rod{k}", parent_frame=lw.Frame())
        ends = {"parent_frame": lw.Frame(), "child_frame": lw.Frame(top[k])}
        mech.add_joint(f"S{k}", lw.Spherical(), f"rod{k}", "platform", **ends)
    return mech


def independent_poses(base: np.ndarray, top: np.ndarray, lengths: np.ndarray, starts: int) -> list[np.ndarray]:
    """Positions of the platform by Newton's method on position and unnormalised quaternion, in numpy alone."""
    rng, found = np.random.default_rng(9), []

    def rotation(e: np.ndarray) -> np.ndarray:
        w, x, y, z = e
        return np.array(
            [
                [w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
                [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
                [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z],
            ]
        )

    def residual(x: np.ndarray) -> np.ndarray:
        arms = x[:3] + top @ rotation(x[3:]).T - base
        return np.append(np.sum(arms**2, axis=1) - lengths**2, x[3:] @ x[3:] - 1)

    for _ in range(starts):
        e = rng.standard_normal(4)
        x = np.append(rng.uniform(-1.5, 1.5, 3), e / np.linalg.norm(e))
        for _ in range(60):
            step = 1e-30 * np.eye(7)
            columns = [residual(x + 1j * step[k]).imag / 1e-30 for k in range(7)]
            change = np.linalg.lstsq(np.array(columns).T, -residual(x), rcond=None)[0]
            x = x + change * 0.7 / max(0.7, np.linalg.norm(change))
            if np.linalg.norm(change) < 1e-13:
                break
        if np.abs(residual(x)).max() < 1e-12 and all(np.linalg.norm(x[:3] - y) > 1e-6 for y in found):
            found.append(x[:3])
    return found


@pytest.mark.slow
def test_a_gough_stewart_platform_has_the_poses_of_an_independent_search() -> None:
    rng = np.random.default_rng(5)
    base, top = anchors(rng, 1.0), anchors(rng, 0.6)
    pose = np.array([0.1, -0.05, 0.9])
    turn = 0.3
    rotation = np.array([[np.cos(turn), -np.sin(turn), 0], [np.sin(turn), np.cos(turn), 0], [0, 0, 1]])
    lengths = np.linalg.norm(pose + top @ rotation.T - base, axis=1)
    modes = lw.assembly_modes(platform(base, top), {f"L{k}": lengths[k] for k in range(6)}, starts=150)
    found = []
    for state in modes:
        position, turned = state.model.pose(state, "platform")
        np.testing.assert_allclose(np.linalg.norm(position + top @ turned.T - base, axis=1), lengths, rtol=1e-12)
        found.append(position)
    assert any(np.linalg.norm(position - pose) < 1e-10 for position in found)
    expected = independent_poses(base, top, lengths, 200)
    for position in found:  # a planar base: the mirror image is a pose as well
        assert min(np.linalg.norm(position * (1, 1, -1) - other) for other in expected) < 1e-9
    assert len({tuple(position.round(6)) for position in found}) >= 4


# ---- bad input ----


def test_held_coordinates_must_hold_the_mechanism() -> None:
    with pytest.raises(
        lw.MechanismError, match=r"can still move with 'L0.q', 'L1.q' held .1 degree of freedom.*hold more"
    ):
        lw.assembly_modes(planar_platform(), {"L0": 15.0, "L1": 15.0}, starts=5)
    with pytest.raises(lw.AssemblyError, match="no closed pose was found from 20 starts"):
        lw.assembly_modes(four_bar(0.4, 1.0, 0.8, 0.9, {}), {"A": 1.0, "D": 3.0}, starts=20)


@pytest.mark.parametrize(
    ("arguments", "options", "match"),
    [
        (({"AA": 1.0},), {}, "'AA'"),
        ((1.0,), {}, "q must be a dictionary"),
        (({"A": float("nan")},), {}, "A must be finite"),
        (({"A": "x"},), {}, "A must be one number"),
        (({"A": 1.0},), {"starts": 0}, "starts must be a whole number of at least 1"),
        (({"A": 1.0},), {"seed": 1.5}, "seed"),
    ],
)
def test_bad_input_is_refused(arguments: tuple, options: dict, match: str) -> None:
    with pytest.raises(lw.MechanismError, match=match):
        lw.assembly_modes(four_bar(0.4, 1.0, 0.8, 0.9, {}), *arguments, **options)


def test_modes_are_a_sequence_and_a_table() -> None:
    modes = lw.assembly_modes(four_bar(0.4, 1.0, 0.8, 0.9, {}), {"A": 1.0}, starts=20)
    assert isinstance(modes[0], lw.State)
    assert len(modes[:1]) == 1
    assert "2 modes" in repr(modes)
    table = modes.to_dataframe()
    assert list(table["A.q"]) == [1.0, 1.0]
    assert list(table["hits"]) == modes.hits
    assert (modes.conditioning > 0.1).all()
    assert (modes.residuals < 1e-12).all()


# ---- messages ----


def two_links(length: float = 1.0) -> lw.Mechanism:
    """Slider-crank along x with a crank and a rod of the same or another length."""
    mech = lw.Mechanism("two_links")
    for name, size in (("crank", 1.0), ("rod", length), ("piston", 0.0)):
        mech.add_body(name, mass=1.0, com=(size / 2, 0, 0), inertia=lw.inertia.sphere(1.0, 0.1))
    hinge = lw.Revolute((0, 0, 1))
    mech.add_joint("A", hinge, "ground", "crank", at=(0, 0, 0))
    mech.add_joint("B", hinge, "crank", "rod", parent_frame=lw.Frame((1, 0, 0)))
    mech.add_joint("C", hinge, "rod", "piston", parent_frame=lw.Frame((length, 0, 0)))
    mech.add_joint("S", lw.Prismatic((1, 0, 0)), "ground", "piston", parent_frame=lw.Frame())
    mech.start(q={"A": 0.5})
    return mech


@pytest.mark.parametrize(
    ("q", "error", "text"),
    [
        ({}, lw.MechanismError, r"can still move while q holds nothing \(1 degree of freedom\): hold more"),
        ({"S": 3.0}, lw.AssemblyError, "only singular poses were found with 'S.q' held"),
        ({"S": 4.0}, lw.AssemblyError, "from 10 starts: the held values may be out of reach"),
        ({"A": 0.5, "S": 1.0}, lw.AssemblyError, "q holds 2 values, and the mechanism has 1 degree of freedom"),
        ({"A": 0.5, "A.q": 0.5}, lw.MechanismError, "q gives 'A.q' twice"),
    ],
)
def test_what_prevents_modes_is_told(q: dict[str, float], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        lw.assembly_modes(two_links(2.0), q, starts=10)


def test_a_structure_has_the_modes_of_its_poses() -> None:
    mech = two_links(2.0)
    mech.prescribe("A", lw.Motion((0.5,)))
    assert len({round(float(mode["B.q"]), 6) for mode in lw.assembly_modes(mech, {}, starts=20)}) == 2
    rigid = lw.Mechanism("rigid")
    rigid.add_body("block", mass=1.0, com=(0, 0, 0), inertia=lw.inertia.sphere(1.0, 0.1))
    rigid.add_joint("F", lw.Fixed(), "ground", "block", at=(0, 0, 0))
    assert len(lw.assembly_modes(rigid, {}, starts=3)) == 1
    assert lw.equilibrium(rigid).stable is True
    assert len(lw.equilibria(rigid, starts=2)) == 1


@pytest.mark.parametrize("joint", ["C", "S"])
def test_opposed_axes_close_no_joint(joint: str) -> None:
    """The rows of a slide or a hinge vanish for a piston that is upside down as well."""
    form = slider_crank_form(0.2, 0.6, 0.1)
    mech = cut_at(slider_crank(0.2, 0.6, 0.1, start_of(form, 0.7, "ABC")), joint)
    modes = lw.assembly_modes(mech, {"A": 0.7}, starts=100)
    rise, run = 0.1 - 0.2 * np.sin(0.7), np.sqrt(0.36 - (0.1 - 0.2 * np.sin(0.7)) ** 2)
    slides = sorted(0.2 * np.cos(0.7) + np.array([-run, run]))
    np.testing.assert_allclose(sorted(float(one["S.q"]) for one in modes), slides, rtol=0, atol=1e-12)
    for one in modes:
        rod = np.arctan2(rise, float(one["S.q"]) - 0.2 * np.cos(0.7))
        assert np.exp(1j * float(one["C.q"])) == pytest.approx(np.exp(-1j * rod), abs=1e-12)
    model = lw.compile(mech)
    for value in slides:
        found = lw.inverse_kinematics(model, {"S": value, "A": 0.7})
        assert found.found
        turn = sum(float(model.value(f"{name}.q", found.state)) for name in "ABC")
        assert np.cos(turn) == pytest.approx(1.0, abs=1e-9)  # the piston stands upright
