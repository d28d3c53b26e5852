"""Options from signatures and docstrings."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import Literal

import pytest

from linkwork.cli.main import make_parser
from linkwork.cli.signatures import descriptions, from_signature, given


def swept(
    coordinate: str,
    *,
    rows: int = 101,
    max_step: float | None = None,
    hold: str | Sequence[str] = (),
    weights: Mapping[str, float] | None = None,
    seek: Literal["stable", "any"] = "stable",
    through: bool = False,
) -> None:
    """Sweep.

    Parameters
    ----------
    coordinate
        The coordinate, as "A.q". It moves.
    rows, hold
        Number of 100 % of the rows.

        More of them.
    max_step
        Largest step, s. Smaller ones are exact. By default there is no limit.
    through
        Whether dead points are passed.

    Returns
    -------
    rows
        Not a parameter.
    """


@pytest.fixture
def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser()
    add = from_signature(parser, swept)
    for name in ("coordinate", "rows", "max_step", "weights", "seek", "through"):
        add(name)
    add("hold", "--keep", metavar="COORDINATE")
    return parser


def test_values_have_the_types_of_the_signature(parser):
    typed = "A.q --rows 3 --max-step 0.5 --keep B C --weights A=2 --weights B=3 --seek any --through"
    assert given(parser.parse_args(typed.split()), "swept") == {
        "coordinate": "A.q",
        "rows": 3,
        "max_step": 0.5,
        "weights": {"A": 2.0, "B": 3.0},
        "seek": "any",
        "through": True,
        "hold": ["B", "C"],
    }


def test_defaults_are_those_of_the_signature(parser):
    found = given(parser.parse_args(["A.q"]), "swept")
    rest = {"rows": 101, "max_step": None, "weights": None, "seek": "stable", "through": False, "hold": ()}
    assert found == {"coordinate": "A.q", **rest}
    swept(**found)


def test_help_is_the_first_sentence_and_the_default(parser):
    helps = {action.dest: action.help and action.help % vars(action) for action in parser._actions}
    assert helps["coordinate"] == 'the coordinate, as "A.q"'
    assert helps["rows"] == "number of 100 % of the rows (default: 101)"
    assert helps["max_step"] == "largest step, s; by default there is no limit"
    assert helps["through"] == "dead points are passed"
    assert list(descriptions(swept)) == ["coordinate", "rows", "hold", "max_step", "through"]
    assert parser.format_help()


def test_a_parameter_that_is_none_is_refused(parser):
    with pytest.raises(KeyError):
        from_signature(parser, swept)("row")


def test_no_two_options_of_a_command_share_a_value():
    """As `limits` of a pose and of a robot's file would."""
    (commands,) = (one for one in make_parser()._actions if isinstance(one, argparse._SubParsersAction))
    for name, command in commands.choices.items():
        places = [action.dest for action in command._actions if action.dest != argparse.SUPPRESS]
        assert len({*places}) == len(places), name
