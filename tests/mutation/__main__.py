"""Command line: propose, run, table."""

import argparse
import csv
import sys
import time
from collections import Counter
from pathlib import Path

from support.checkout import TOP

from .faults import AREAS, LIST, Fault, propose, read
from .scratch import Scratch

FOLDER = TOP / "build" / "mutation"
COLUMNS = ("fault", "outcome", "found by", "seconds", "file", "old", "new")


def main() -> int:
    parser = argparse.ArgumentParser(prog="./run mutate", description="Deliberate faults: do the tests find them?")
    commands = parser.add_subparsers(dest="command", required=True)
    proposing = commands.add_parser("propose", help=f"replace faults of {LIST.name} whose lines are gone, fill it up")
    proposing.add_argument("--seed", type=int, default=0)
    running = commands.add_parser("run", help="try the faults that have no result yet")
    running.add_argument("only", nargs="*", help="names of faults or their beginnings (default: all)")
    running.add_argument("--workers", type=int, default=1, help="processes of pytest and of the build (default: 1)")
    running.add_argument("--anew", action="store_true", help="copy the checkout again and forget the results")
    commands.add_parser("table", help="show the results")
    arguments = parser.parse_args()
    if arguments.command == "propose":
        print(
            *(f"{count:3} {area}" for area, count in Counter(f.area for f in propose(arguments.seed)).items()), sep="\n"
        )
    elif arguments.command == "run":
        run(arguments.only, arguments.workers, arguments.anew)
    else:
        table()
    return 0


def results() -> dict[str, dict[str, str]]:
    path = FOLDER / "results.csv"
    if not path.is_file():
        return {}
    with path.open(newline="", encoding="utf-8") as file:
        return {row["fault"]: row for row in csv.DictReader(file)}


def record(fault: Fault, outcome: str, found: str, seconds: float) -> None:
    path = FOLDER / "results.csv"
    new = not path.is_file()
    with path.open("a", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        if new:
            writer.writerow(COLUMNS)
        row = (fault.name, outcome, found, round(seconds), fault.file, fault.old.strip(), fault.new.strip())
        writer.writerow(row)
    print(*row[:4], sep="  ", flush=True)


def run(only: list[str], workers: int, anew: bool) -> None:
    scratch = Scratch(FOLDER / "scratch", workers)
    if anew:
        (FOLDER / "results.csv").unlink(missing_ok=True)
        (scratch.folder / "made").unlink(missing_ok=True)
    scratch.make()
    for file in {fault.file for fault in read()}:  # a run that was killed leaves its fault behind
        if (TOP / file).is_file() and (TOP / file).read_bytes() != (scratch.copy / file).read_bytes():
            scratch.restore(file)
    known, checked = results(), set[tuple[str, ...]]()
    for fault in interleaved(read()):
        if fault.name in known or (only and not fault.name.startswith(tuple(only))) or fault.why_not:
            continue
        tests = AREAS[fault.area].tests
        if tests not in checked and not _passes_without(scratch, tests):
            sys.exit(f"without a fault the tests {' '.join(tests)} fail in {scratch.copy}")
        checked.add(tests)
        _try(scratch, fault, tests)


def interleaved(faults: list[Fault]) -> list[Fault]:
    """One fault of each area, then a second of each: a run that is stopped has tried a sample of all."""
    ranks: Counter[str] = Counter()
    ranked = []
    for fault in faults:
        ranked.append((ranks[fault.area], fault))
        ranks[fault.area] += 1
    return [fault for _, fault in sorted(ranked, key=lambda pair: pair[0])]


def _passes_without(scratch: Scratch, tests: tuple[str, ...]) -> bool:
    """Whether the copy as it is passes; noted, so that it is run once."""
    note = Path(scratch.folder / f"passes-{'-'.join(tests).replace('/', '_')}")
    if not note.exists():
        if not scratch.build() or (failed := scratch.test(tests)) is not None:
            print(failed)
            return False
        note.touch()
    return True


def _try(scratch: Scratch, fault: Fault, tests: tuple[str, ...]) -> None:
    start = time.monotonic()
    scratch.restore(fault.file)
    if not fault.apply(scratch.copy):
        record(fault, "stale", "", 0.0)
        return
    try:
        if not scratch.build():
            record(fault, "does not compile", "", time.monotonic() - start)
            return
        found = scratch.test(tests)
        record(fault, "missed" if found is None else "found", found or "", time.monotonic() - start)
    finally:
        scratch.restore(fault.file)


def table() -> None:
    found = results()
    for area in AREAS:
        rows = [row for name, row in found.items() if name.startswith(f"{area}-")]
        print(area, *(f"{count} {outcome}" for outcome, count in Counter(row["outcome"] for row in rows).items()))
        for row in rows:
            if row["outcome"] != "found":
                print(f"  {row['outcome']}: {row['file']}\n    - {row['old']}\n    + {row['new']}")


if __name__ == "__main__":
    raise SystemExit(main())
