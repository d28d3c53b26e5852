"""The command line of the JSON Schema of mechanisms."""

from __future__ import annotations

import argparse
import json

from linkwork.mechanism.json_schema import json_schema


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command to a parser: there are none."""


def run(arguments: argparse.Namespace) -> int:
    """Print the JSON Schema."""
    print(json.dumps(json_schema(), indent=2))
    return 0
