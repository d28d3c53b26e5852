"""Command line: propose, run, table."""

import argparse
import csv
import time
from collections import Counter

from support.checkout import TOP

from .faults import AREAS, LIST, Fault, propose, read
from .scratch import Scratch

FOLDER = TOP / "build" / "mutation"
NOT_NEAR = "not found by the nearest"  # tried with all tests by a run without --near
COLUMNS = ("fault", "outcome", "found by", "seconds", "file", "old", "new")


def main() -> int:
    parser = argparse.ArgumentParser(prog="./run mutate", description="Deliberate faults: do the tests find them?")
    commands = parser.add_subparsers(dest="command", required=True)
    proposing = commands.add_parser("propose", help=f"replace faults of {LIST.name} whose lines are gone, fill it up")
    proposing.add_argument("--seed", type=int, default=0)
    running = commands.add_parser("run", help="try the faults that have no result yet")
    running.add_argument("only", nargs="*", help="names of faults or their beginnings (default: all)")
    running.add_argument("--workers", type=int, default=1, help="processes of pytest and of the build (default: 1)")
    running.add_argument("--near", type=int, help="only so many files of tests, the nearest (default: all)")
    running.add_argument("--anew", action="store_true", help="copy the checkout again and forget the results")
    commands.add_parser("table", help="show the results")
    arguments = parser.parse_args()
    if arguments.command == "propose":
        print(
            *(f"{count:3} {area}" for area, count in Counter(f.area for f in propose(arguments.seed)).items()), sep="\n"
        )
    elif arguments.command == "run":
        run(arguments.only, arguments.workers, arguments.near, arguments.anew)
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


def run(only: list[str], workers: int, near: int | None, anew: bool) -> None:
    scratch = Scratch(FOLDER / "scratch", workers)
    if anew:
        (FOLDER / "results.csv").unlink(missing_ok=True)
        (scratch.folder / "made").unlink(missing_ok=True)
    scratch.make()
    for file in {fault.file for fault in read()}:  # a run that was killed leaves its fault behind
        if (TOP / file).is_file() and (TOP / file).read_bytes() != (scratch.copy / file).read_bytes():
            scratch.restore(file)
            if file.endswith(".py"):
                scratch.install(file)
    known, sound = results(), set[str]()
    for fault in interleaved(read()):
        done = known.get(fault.name, {}).get("outcome")
        if done and (near is not None or done != NOT_NEAR):
            continue
        if (only and not fault.name.startswith(tuple(only))) or fault.why_not:
            continue
        _try(scratch, fault, near, sound)


def interleaved(faults: list[Fault]) -> list[Fault]:
    """One fault of each area, then a second of each: a run that is stopped has tried a sample of all."""
    ranks: Counter[str] = Counter()
    ranked = []
    for fault in faults:
        ranked.append((ranks[fault.area], fault))
        ranks[fault.area] += 1
    return [fault for _, fault in sorted(ranked, key=lambda pair: pair[0])]


def _try(scratch: Scratch, fault: Fault, near: int | None, sound: set[str]) -> None:
    start = time.monotonic()
    while True:
        scratch.restore(fault.file)
        if not fault.apply(scratch.copy):
            record(fault, "stale", "", 0.0)
            return
        try:
            if not scratch.install(fault.file):
                record(fault, "does not compile", "", time.monotonic() - start)
                return
            # The examples in its own docstrings first.
            own = [str(scratch.installed(fault.file))] if fault.file.endswith(".py") else []
            tests = scratch.nearest_first(AREAS[fault.area].tests, fault.file)
            found = scratch.test([*own, *tests[:near]])
            if found and found.startswith("::"):  # of a docstring, outside the copy
                found = own[0] + found
        finally:
            scratch.restore(fault.file)
            if fault.file.endswith(".py"):  # of C the next build takes it
                scratch.install(fault.file)
        if not found or "::" not in found or _passes_without(scratch, found.partition("[")[0], sound):
            break
    missed = "missed" if near is None else NOT_NEAR
    record(fault, missed if found is None else "found", found or "", time.monotonic() - start)


def _passes_without(scratch: Scratch, test: str, sound: set[str]) -> bool:
    """Whether a test that found a fault passes without one, tried once for each; it is left out if it does not."""
    if test not in sound:
        if not scratch.build() or scratch.test([test]) is not None:
            print(f"left out: {test} fails without a fault", flush=True)
            scratch.left_out.append(test)
            return False
        sound.add(test)
    return True


def table() -> None:
    found = results()
    print(f"{'area':16} faults  found  missed  not near")
    for area in AREAS:
        outcomes = Counter(row["outcome"] for name, row in found.items() if name.startswith(f"{area}-"))
        print(f"{area:16} {outcomes.total():6} {outcomes['found']:6} {outcomes['missed']:7}  {outcomes[NOT_NEAR]:8}")
    for row in found.values():
        if row["outcome"] != "found":
            print(f"  {row['outcome']}: {row['file']}\n    - {row['old']}\n    + {row['new']}")


if __name__ == "__main__":
    raise SystemExit(main())
