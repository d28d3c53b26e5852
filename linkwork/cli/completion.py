"""Print the script with which a shell completes this command line.

It completes commands, options, choices and files. It needs the extra 'completion'.
"""

from __future__ import annotations

import argparse

from linkwork._util.optional import optional_import

SHELLS = ("bash", "zsh", "fish")
# Arguments by the words that stand for them in usages.
FILES = ("MECHANISM", "FILE", "FILE.csv", "FILE.py|NAME", "FMU", "SYSTEM", "TABLE", "DATA", "PATH")
FILES_BEHIND_NAMES = ("NAME=LOAD|FILE.csv:COLUMN",)  # which shells do not complete
FOLDERS = ("FOLDER",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command to a parser."""
    parser.add_argument("shell", choices=SHELLS, metavar="SHELL", help=", ".join(SHELLS))


def run(arguments: argparse.Namespace) -> int:
    """Print the script."""
    from linkwork.cli.main import make_parser

    with optional_import("scripts of completion", "shtab", "completion"):
        import shtab
    parser = make_parser()
    (commands,) = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    for command in commands.choices.values():
        command.description = (command.description or "").partition(".\n")[0]  # as much as shells show
        for action in command._actions:
            if action.metavar in FILES:
                action.complete = shtab.FILE
            elif action.metavar in FOLDERS:
                action.complete = shtab.DIRECTORY
    print(shtab.complete(parser, arguments.shell))
    return 0
