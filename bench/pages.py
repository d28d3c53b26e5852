"""Pages in Chromium without a graphics card: size, first frame, frames while it plays, seeking; the core in them."""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import linkwork as lw
from bench.mechanisms import CHECKOUT, Missing
from bench.report import Goal, Report

SIZES = (3, 10, 50, 100)  # bodies
ROWS = 1000
LOADS, SEEKS, SECONDS = 5, 40, 4
OPTIONS = ("--no-sandbox", "--enable-unsafe-swiftshader")
FRAMES = """seconds => new Promise(done => {
  const begin = performance.now(); let frames = 0;
  const tick = now => now - begin < 1000 * seconds
    ? (frames++, requestAnimationFrame(tick)) : done(1000 * frames / (now - begin));
  linkworkPage.play(); requestAnimationFrame(tick);
})"""
SEEKING = """async ([seeks, end]) => {
  const frame = () => new Promise(requestAnimationFrame), begin = performance.now();
  for (let k = 0; k < seeks; k++) { linkworkPage.seek(end * ((k * 7919) % seeks) / seeks); await frame(); }
  return (performance.now() - begin) / seeks;
}"""
LIVE = "() => [...document.querySelectorAll('[role=status]')].some(one => / rows, /.test(one.textContent))"


def chain(bodies: int) -> lw.Mechanism:
    """Rods on hinges, hanging sideways at the start."""
    mech = lw.Mechanism(f"chain_{bodies}")
    inner = "ground"
    for k in range(bodies):
        mech.add_body(f"rod{k}", mass=1.0, com=(0.5, 0, 0), inertia=lw.inertia.rod(1.0, 1.0))
        end = lw.Frame((1.0, 0, 0)) if k else lw.Frame()
        mech.add_joint(f"J{k}", lw.Revolute((0, 1, 0)), inner, f"rod{k}", parent_frame=end)
        inner = f"rod{k}"
    return mech


def moved(bodies: int, rows: int = ROWS) -> lw.Result:
    """A run of a chain; its last second would be the most expensive one to simulate."""
    return lw.simulate(chain(bodies), 1.0, t_eval=np.linspace(0.0, 1.0, rows), rtol=1e-5)


@contextmanager
def browser() -> Iterator[Any]:
    """Chromium on all cores, with as much address space as it wants."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError as error:
        raise Missing(f"the Python package playwright: {error}") from None
    program = shutil.which("chromium")
    if program is None:
        raise Missing("the program chromium")
    limits, cores = resource.getrlimit(resource.RLIMIT_AS), os.sched_getaffinity(0)
    resource.setrlimit(resource.RLIMIT_AS, (limits[1], limits[1]))
    os.sched_setaffinity(0, range(os.cpu_count() or 1))
    try:
        with sync_playwright() as play:
            running = play.chromium.launch(executable_path=program, args=list(OPTIONS))
            yield running
            running.close()
    finally:
        os.sched_setaffinity(0, cores)
        resource.setrlimit(resource.RLIMIT_AS, limits)


def opened(chromium: Any, path: Path, playing: bool = False) -> tuple[Any, float]:
    """Open a page; return it and the time of its first frame, s."""
    page = chromium.new_page(viewport={"width": 1280, "height": 800}, reduced_motion=None if playing else "reduce")
    page.set_default_timeout(300_000)
    page.goto(path.as_uri())
    page.wait_for_function("() => window.linkworkPage !== undefined")
    return page, page.evaluate("() => linkworkPage.ready.then(() => performance.now())") / 1000


def first_frame(chromium: Any, path: Path) -> float:
    """Return the best of some loads, s."""
    times = []
    for _ in range(LOADS):
        page, seconds = opened(chromium, path)
        page.close()
        times.append(seconds)
    return min(times)


def measure(chromium: Any, folder: Path, bodies: int) -> dict[str, float]:
    """Measure the page of a chain."""
    result = moved(bodies)
    path = lw.page(result, folder / f"{bodies}.html", max_rows=ROWS)
    half = lw.page(result[0.0:0.5], folder / "half.html", max_rows=ROWS)
    found = {"size": path.stat().st_size / 1e6}
    found["row"] = (path.stat().st_size - half.stat().st_size) / (ROWS / 2)
    found["first"] = first_frame(chromium, path)
    page, _ = opened(chromium, path, playing=True)
    found["frames"] = max(page.evaluate(FRAMES, SECONDS) for _ in range(2))
    page.close()
    return found


def scrub(chromium: Any, folder: Path) -> tuple[float, float]:
    """Return the size, MB, and the time of a seek, ms, of 50 bodies with ten thousand rows."""
    result = moved(50, 10_000)
    path = lw.page(result, folder / "long.html", max_rows=10_000)
    page, _ = opened(chromium, path)
    return path.stat().st_size / 1e6, min(page.evaluate(SEEKING, [SEEKS, 1.0]) for _ in range(2))


def live(chromium: Any, folder: Path) -> tuple[float, float, float]:
    """Return the size, MB, and times, s, of ten seconds of the four-bar, in the page and native."""
    sys.path.insert(0, str(CHECKOUT / "examples"))
    from four_bar import mechanism

    model = lw.compile(mechanism())
    path = lw.page(model, folder / "live.html")
    page, _ = opened(chromium, path)
    page.wait_for_function(LIVE)
    times = []
    for _ in range(LOADS):
        begin = time.perf_counter()
        page.get_by_role("button", name="Run again").click()
        page.wait_for_function(LIVE, polling=5)
        times.append(time.perf_counter() - begin)
    own = []
    for _ in range(LOADS):
        begin = time.perf_counter()
        lw.simulate(model, 10.0, t_eval=np.linspace(0.0, 10.0, 1001), rtol=1e-8)
        own.append(time.perf_counter() - begin)
    return path.stat().st_size / 1e6, min(times), min(own)


def main(options: argparse.Namespace) -> None:
    """Measure, print and save."""
    report = Report("pages", "Pages in a browser without a graphics card", ("linkwork", "playwright"))
    with tempfile.TemporaryDirectory() as name, browser() as chromium:
        folder = Path(name)
        report.text(f"Chromium {chromium.version}, 1280 x 800, drawn by the processor (SwiftShader), two cores.")
        found = {bodies: measure(chromium, folder, bodies) for bodies in SIZES}
        report.text(
            f"Chains with {ROWS} rows: size of the page, its growth with each row, time to the first frame (best of "
            f"{LOADS} loads), frames while it plays (better of two times {SECONDS} s)."
        )
        rows = [[f"{n}", one["size"], one["row"], one["first"], one["frames"]] for n, one in found.items()]
        report.table(["bodies", "MB", "bytes/row", "first frame, s", "frames/s"], rows)
        size, seek = scrub(chromium, folder)
        report.text(f"50 bodies, 10 000 rows: {size:.1f} MB, {seek:.0f} ms from a seek to the next frame.")
        size, here, native = live(chromium, folder)
        report.text(
            f"Ten seconds of the four-bar at rtol 1e-8 with 1001 rows: {here:.2f} s from a click in its page of "
            f"{size:.2f} MB to the last row, {native:.3f} s in Python."
        )
        report.goals(
            [
                Goal("MB, 10 bodies and 1000 rows", found[10]["size"], 1.5),
                Goal("first frame of 10 bodies and 1000 rows, s", found[10]["first"], 1.0),
                Goal("time of a frame with 100 bodies, ms", 1000 / found[100]["frames"], 1000 / 30),
            ]
        )
    report.save()
