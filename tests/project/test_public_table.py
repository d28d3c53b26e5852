"""docs/public_api.md states the public names with their arguments and defaults as they are."""

import inspect

import linkwork as lw
from support.public_api import PATH, table


def test_the_table_is_that_of_the_signatures() -> None:
    assert PATH.read_text(encoding="utf-8") == table(), "write it again: python -m support.public_api in tests/"


def test_a_call_shows_its_arguments() -> None:
    """No public call takes arguments that its signature does not name, but for those of another call."""
    hidden = [
        name
        for name in lw.__all__
        if callable(thing := getattr(lw, name)) and not (inspect.isclass(thing) and issubclass(thing, Exception))
        if any(one.kind is one.VAR_POSITIONAL for one in inspect.signature(thing).parameters.values())
    ]
    assert hidden == []
