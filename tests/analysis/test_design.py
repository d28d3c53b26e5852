"""Designs: targets of a known linkage in closed form are found again, and what goes wrong is named."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.analysis.design import Design
from support.coupler_point import MEMBERS, STEP, four_bar, tip_of_four_bar

ANGLES = np.linspace(-1.0, -1.0 + 2 * np.pi, 24, endpoint=False)
KNOWN = {"crank": 0.35, "coupler": 1.1, "rocker": 0.75, "px": 0.6, "pz": 0.2}
PARAMETERS = {"crank": (0.1, 0.8), "coupler": (0.5, 1.5), "rocker": (0.3, 1.5), "px": None, "pz": (-0.5, 0.9)}


TARGET = np.array([tip_of_four_bar(angle, 0.0, base=0.9, **KNOWN)[:2] for angle in ANGLES])


def residuals(values):
    return (values["tip.r"][:, [0, 2]] - TARGET).ravel()


def found_by(objective, parameters=PARAMETERS, mech=None, **options) -> Design:
    made = four_bar() if mech is None else mech
    options = {"of": ["tip.r"], "q": {"A": ANGLES}, "combinations": MEMBERS} | options
    return lw.design(made, parameters, objective, **options)


def test_the_linkage_of_target_points_is_found_again() -> None:
    found = found_by(residuals)
    np.testing.assert_allclose([found[name] for name in KNOWN], list(KNOWN.values()), atol=1e-8)
    assert found.converged
    assert found.gradient == "complex step"
    np.testing.assert_allclose(found.outputs["tip.r"][:, [0, 2]], TARGET, atol=1e-12)
    assert found.cost < 1e-20


def test_one_number_has_the_same_least() -> None:
    found = found_by(lambda values: (residuals(values) ** 2).sum(), rtol=1e-15)
    np.testing.assert_allclose([found[name] for name in KNOWN], list(KNOWN.values()), atol=1e-5)


def test_the_model_found_is_one_with_these_parameters() -> None:
    found = found_by(residuals)
    state = found.model.assemble(q={"A": -1.0})
    np.testing.assert_allclose(found.model.value("tip.r", state)[[0, 2]], TARGET[0], atol=1e-8)
    assert found.model.parameters["C.parent_frame.position[1]"] == pytest.approx(1.1, abs=1e-8)
    assert found.model.parameters["coupler.com[1]"] == pytest.approx(0.55, abs=1e-8)


def test_the_jacobian_of_the_poses_is_that_of_the_closed_form() -> None:
    found = found_by(residuals, max_evaluations=1)
    for k, name in enumerate(PARAMETERS):
        lengths = {"base": 0.9} | found.parameters | {name: found[name] + 1j * STEP}
        exact = [tip_of_four_bar(angle, 0.0, **lengths)[:2].imag / STEP for angle in ANGLES]
        np.testing.assert_allclose(found.jacobian[:, [0, 2], k], exact, atol=1e-11, err_msg=name)


@pytest.mark.parametrize("count", [2.5, 0, True])
def test_the_number_of_evaluations_is_whole(count: object) -> None:
    with pytest.raises(lw.MechanismError, match="max_evaluations must be a whole number of at least 1"):
        found_by(residuals, max_evaluations=count)


def test_the_jacobian_is_that_of_assembly_at_the_same_pose() -> None:
    """The core differentiates both by complex steps, one through all columns of assembly, one through some."""
    found = found_by(residuals, max_evaluations=1)
    assembled = lw.parameter_jacobian(
        found.model, list(PARAMETERS), ["tip.r"], q={"A": ANGLES[0]}, combinations=MEMBERS
    ).matrix
    np.testing.assert_allclose(found.jacobian[0], assembled, atol=1e-12)


@pytest.mark.parametrize("kind", ["real only", "gradient"])
def test_other_gradients_lead_to_the_same_design(kind: str) -> None:
    def gradient(values):
        by_tip = np.zeros((2 * len(ANGLES), len(ANGLES), 3))
        by_tip[np.arange(0, 48, 2), np.arange(24), 0] = by_tip[np.arange(1, 48, 2), np.arange(24), 2] = 1.0
        return {"tip.r": by_tip}

    if kind == "gradient":
        found = found_by(residuals, gradient=gradient)
        assert found.gradient == "given"
    else:
        found = found_by(lambda values: (values["tip.r"].real[:, [0, 2]] - TARGET).ravel())
        assert found.gradient == "differences"
    np.testing.assert_allclose([found[name] for name in KNOWN], list(KNOWN.values()), atol=1e-8)


def test_the_longest_crank_that_turns_is_that_of_grashof() -> None:
    """Shortest and longest link together are at most as long as the others: 0.7 + 1.0 = 0.8 + 0.9."""
    found = found_by(
        lambda values: -values.parameters["crank"], {"crank": (0.1, 2.0)}, q={"A": np.linspace(-1, 5.3, 64)}
    )
    assert found["crank"] == pytest.approx(0.7, abs=1e-6)
    assert found.refused > 0
    assert np.isinf(found.costs).sum() == found.refused


def test_trials_out_of_reach_are_refused_on_the_way_to_the_least() -> None:
    start = lw.compile(four_bar()).with_parameters({"B.parent_frame.position[1]": 0.69, "crank.com[1]": 0.345})
    seen = []

    def objective(values):
        seen.append(values.parameters["crank"])
        return np.array([values.parameters["crank"] - 0.9]) * 1.0

    found = found_by(objective, {"crank": (0.1, 2.0)}, start)
    assert found.refused > 0
    assert 0.69 < found["crank"] <= 0.701  # poses next to the longest reach, not in it
    assert max(np.real(seen)) <= 0.701


def test_accelerations_and_reactions_may_be_objectives() -> None:
    """A balanced crank: the reaction in its bearing vanishes with the centre of mass on the axis."""
    mech = lw.Mechanism("rotor")
    mech.add_body("rotor", mass=2.0, com=(0.1, 0.05, 0), inertia=np.diag([0.1, 0.1, 0.2]))
    mech.add_joint("A", lw.Revolute((0, 0, 1)), "ground", "rotor", at=(0, 0, 0))
    found = lw.design(
        mech,
        {"rotor.com[1]": (-1, 1), "rotor.com[2]": (-1, 1)},
        lambda values: values["A.f"][:, :2].ravel(),
        of=["A.f"],
        q={"A": [0.0, 1.0]},
        u={"A": 3.0},
    )
    np.testing.assert_allclose(list(found.parameters.values()), 0.0, atol=1e-12)


def test_a_nan_names_the_parameters_and_keeps_the_best_design() -> None:
    calls = []

    def objective(values):
        calls.append(1)
        left = residuals(values)
        return left * np.nan if values.parameters["crank"].real < 0.37 else left

    with pytest.raises(lw.SolverError, match=r"objective is not finite with crank = 0\.3\d* m, coupler") as caught:
        found_by(objective)
    best = caught.value.result
    assert isinstance(best, Design)
    assert best["crank"] >= 0.37
    assert not best.converged
    assert np.isfinite(best.cost)


def test_an_objective_that_raises_in_the_search_keeps_the_best_design() -> None:
    calls = []

    def objective(values):
        calls.append(1)
        if len(calls) > 40:
            raise ZeroDivisionError("of mine")
        return residuals(values)

    with pytest.raises(
        lw.SolverError, match="the objective raised ZeroDivisionError: of mine, with crank = "
    ) as caught:
        found_by(objective)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert isinstance(caught.value.result, Design)
    with pytest.raises(ZeroDivisionError, match="of mine"):  # at once: a fault of the objective itself
        found_by(objective)


def test_results_are_shown_and_written(tmp_path, needs) -> None:
    found = found_by(residuals)
    frame = found.to_dataframe()
    assert list(frame.columns) == [*PARAMETERS, "cost"]
    assert len(frame) == len(found.costs)
    found.to_csv(tmp_path / "d.csv")
    assert "crank" in repr(found)
    assert "0.35" in repr(found)
    needs("matplotlib")
    found.plot(tmp_path / "d.png")
    assert (tmp_path / "d.png").is_file()
    with pytest.raises(lw.UnknownNameError, match="did you mean 'crank'"):
        _ = found["cranck"]


@pytest.mark.parametrize(
    ("parameters", "options", "text"),
    [
        ({"cranc": None}, {}, "parameters: .*'cranc'"),
        ({"crank": (0.8, 0.1)}, {}, r"bounds of 'crank' are in the wrong order: \(0\.8, 0\.1\)"),
        ({"crank": (0.5, 0.8)}, {}, r"'crank' starts at 0\.4 m, out of its bounds"),
        ({"crank": (1, 2, 3)}, {}, "must have .lower, upper."),
        ({"crank.com": None, "crank.com[1]": (0, 1)}, {}, r"'crank\.com\[1\]' is named twice: name it once"),
        ({"crank.com[1]": (0, 1), "crank.com": None}, {}, r"'crank\.com\[1\]' is named twice, by 'crank\.com' too"),
        (
            {"crank.mass": None},
            {"combinations": {"crank.mass": {"coupler.mass": 1.0}}},
            "'crank.mass' is a variable of the mech",
        ),
        ({"crank.mass": None}, {"combinations": {"tip.r": {"coupler.mass": 1.0}}}, "give the combination another name"),
        ({"crank": None}, {"of": None}, "of must be a name or names"),
        ({"crank": None, "crank.inertia[1,1]": None}, {}, r"without influence .*'crank\.inertia\[1,1\]'"),
        ({}, {}, "parameters must be a dictionary"),
        ({"crank": None}, {"q": {}}, "q must be a dictionary"),
        ({"crank": None}, {"q": {"AA": [0.0]}}, "did you mean 'A'"),
        ({"crank": None}, {"q": {"A": [0.0, np.nan]}}, "not finite at pose 2"),
        ({"crank": None}, {"q": {"A": [0.0], "B": [0.0]}}, "1 degree|degrees of freedom"),
        ({"crank": None}, {"u": {"B": 1.0}}, "u of joint 'B' follows"),
        ({"crank": None}, {"u": {"A": [1.0, 2.0]}}, "one speed or 24"),
        ({"crank": None}, {"of": ["tip.rr"]}, "did you mean"),
        ({"crank": ("low", "high")}, {}, "must have .lower, upper."),
        ({"crank": None}, {"q": {"A": "all"}}, "q of joint 'A' must be numbers .poses,. or"),
        ({"crank": None}, {"u": {"A": "fast"}}, "u of joint 'A' must be one speed or 24, not 'fast'"),
        ({"A.q_start": None}, {}, "parameters: 'A.q_start' are start values, on which no pose depends"),
        ({"crank": None}, {"gradient": lambda values: {}}, "gradient is zero for all parameters at the start"),
        ({"crank": None}, {"gradient": 1.0}, "gradient must be a function"),
        ({"crank": None}, {"gradient": lambda values: np.eye(3)}, "gradient must return a dictionary"),
        ({"crank": None}, {"gradient": lambda values: {"tip.r": "steep"}}, "'tip.r' has 'steep'; it must be numbers"),
        (
            {"crank": None},
            {"gradient": lambda values: {"tip.r": np.zeros((24, 3, 48))}},
            r"has shape \(24, 3, 48\); it must be numbers of shape \(48, 24, 3\)",
        ),
        ({"crank": None}, {"rtol": 2.0}, "rtol must be"),
        ({"crank": None}, {"gradient": lambda values: {"tip.r": 1.0}}, "gradient: 'tip.r' has shape"),
        ({"crank": None}, {"gradient": lambda values: {"tip.x": 1.0}}, "gradient: .*'tip.x'"),
    ],
)
def test_bad_input_is_named(parameters, options, text) -> None:
    with pytest.raises(lw.MechanismError, match=text):
        found_by(residuals, parameters, **options)


def test_a_start_out_of_reach_names_the_pose() -> None:
    with pytest.raises((lw.SingularityError, lw.AssemblyError), match=r"does not reach all poses .* pose \d+ of 24"):
        found_by(residuals, {"crank": 0.9})


@pytest.mark.parametrize(
    ("objective", "text"),
    [
        (lambda values: "none", "must return one number or residuals .k,., not 'none'"),
        (lambda values: None, "must return one number or residuals .k,., not None"),
        (lambda values: [[1.0], [2.0, 3.0]], "must return one number"),
        (lambda values: values["tip.r"], r"not an array of shape \(24, 3\)"),
        (lambda values: values["tip.r[1]"] + 1j, "must return real numbers for real values"),
        (lambda values: 3.0, "does not depend on the parameters 'crank', 'coupler'"),
        (lambda values: TARGET.ravel(), "does not depend on the parameters"),
        (lambda values: values["tip.rr"].ravel(), r"did you mean 'tip\.r'"),
    ],
)
def test_an_objective_of_the_wrong_kind_is_named(objective, text) -> None:
    with pytest.raises(lw.MechanismError, match=text):
        found_by(objective)


@pytest.mark.parametrize(
    ("after", "text"),
    [
        (lambda left: left[:-1], r"returned an array of shape \(48,\) before, and now \(47,\)"),
        (lambda left: (left**2).sum(), r"shape \(48,\) before, and now \(\)"),
        (lambda left: None, "must return one number or residuals"),
        (lambda left: left + 1j, "must return real numbers"),
        (lambda left: 1e200 * left, "objective is not finite"),
    ],
)
def test_an_objective_that_changes_its_kind_keeps_the_best_design(after, text) -> None:
    def objective(values):
        left = residuals(values)
        return left if np.real(values.parameters["crank"]) > 0.37 else after(left)

    with pytest.raises(lw.SolverError, match=text) as caught:
        found_by(objective)
    best = caught.value.result
    assert best["crank"] > 0.37
    assert 0.0 < best.cost == best.costs.min()


def test_an_objective_may_write_into_its_values() -> None:
    def objective(values):
        points = values["tip.r"]
        points[:, [0, 2]] -= TARGET
        return points[:, [0, 2]].ravel()

    found = found_by(objective)
    np.testing.assert_allclose([found[name] for name in KNOWN], list(KNOWN.values()), atol=1e-8)
    np.testing.assert_allclose(found.outputs["tip.r"][:, [0, 2]], TARGET, atol=1e-12)


def test_a_start_at_the_least_is_kept() -> None:
    found = found_by(lambda values: 2.0 + (values.parameters["crank"] - 0.4) ** 4, {"crank": (0.1, 0.6)})
    assert found["crank"] == pytest.approx(0.4, abs=1e-9)
    assert found.converged


def test_a_search_without_a_further_step_ends() -> None:
    along = {"along": {"tip.point[1]": 1.0}}
    found = found_by(lambda values: values.parameters["along"], {"along": None}, combinations=along)
    assert not found.converged
    assert found.message == "The search found no further step."
    assert not found.refused
    tiny = found_by(lambda values: 1e-200 * residuals(values), {"crank": None})
    assert len(tiny.costs) == 1


def test_one_number_is_evaluated_no_more_often_than_asked_for() -> None:
    found = found_by(lambda values: (residuals(values) ** 2).sum(), max_evaluations=3)
    assert len(found.costs) == 3
    assert not found.converged
