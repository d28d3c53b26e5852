"""Print the JSON Schema of mechanisms.

It describes the .json files of all commands, for editors and validators.
"""

from __future__ import annotations

import argparse
import json

from linkwork._util.files import atomic_path
from linkwork.cli.result_files import check_files
from linkwork.cli.values import file_argument
from linkwork.mechanism.json_schema import json_schema


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of this command to a parser."""
    take = file_argument((".json",))
    parser.add_argument("-o", "--output", type=take, metavar="FILE", help="output .json file (default: print it)")


def run(arguments: argparse.Namespace) -> int:
    """Print or write the JSON Schema."""
    text = json.dumps(json_schema(), indent=2)
    if arguments.output is None:
        print(text)
        return 0
    check_files([arguments.output])
    with atomic_path(arguments.output) as part:
        part.write_text(text + "\n", encoding="utf-8")
    print(f"wrote {arguments.output}")
    return 0
