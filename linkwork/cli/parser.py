"""Argument parsers that suggest the nearest name for an unknown command, option or choice."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from linkwork._util.names import suggest

INTERRUPTED = 130  # exit code, as shells expect of a program that was interrupted


class Parser(argparse.ArgumentParser):
    """An `ArgumentParser` that takes options by their whole names only, and refuses unknown ones with a suggestion."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**{"allow_abbrev": False, **settings})

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Parse; unknown options are refused before anything else, which they may be the cause of."""
        if args is not None:
            self._refuse_unknown_options(args)
        found, rest = super().parse_known_args(args, namespace)
        if rest:
            self.error(f"{rest[0]!r} is one argument too many")
        return found, rest

    def brief_usage(self) -> str:
        """Return the usage with what must be given first, as options that take several values would swallow it."""
        needed = [self._brief(one) for one in self._actions if not one.option_strings]
        needed += [
            f"{one.option_strings[0]} {one.metavar}" for one in self._actions if one.option_strings and one.required
        ]
        return " ".join(["%(prog)s", *needed, "[OPTIONS]"])

    @staticmethod
    def _brief(positional: argparse.Action) -> str:
        name = str(positional.metavar or positional.dest)
        return f"[{name}]" if positional.nargs == "?" else name

    def _refuse_unknown_options(self, args: Sequence[str]) -> None:
        for one in args:
            if self._subparsers is not None and not one.startswith("-"):
                return  # the command: the options behind it are its own
            option = one.partition("=")[0]
            if one == "--":
                return
            if one.startswith("--") and option not in self._option_string_actions:
                known = [name for name in self._option_string_actions if name.startswith("--")]
                self.error(f"there is no option {option}: {suggest(option, known)}")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Refuse a value that is none of the choices."""
        if action.choices is not None and value not in action.choices:
            what = "command" if isinstance(action, argparse._SubParsersAction) else "choice"
            text = f"there is no {what} {value!r}: {suggest(value, map(str, action.choices))}"
            raise argparse.ArgumentError(None if what == "command" else action, text)
