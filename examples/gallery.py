"""Run the examples that move, and write an index of their pages; `--pictures FOLDER` also takes a picture of each."""

import argparse
import importlib
import shutil
from html import escape
from pathlib import Path

from drawing import OUT

# By example: the time of its picture, s.
EXAMPLES = {
    "four_bar": 0.6,
    "slider_crank": 0.05,
    "five_bar": 1.0,
    "planar_robot": 1.0,
    "quarter_car": 0.3,
    "andrews_squeezer": 0.02,
    "geared_arm": 0.6,
    "biped_leg": 0.3,
    "gripper": 1.2,
    "bouncing_pendulum": 0.2,
    "double_rocker": 1.0,
    "spatial_ladder": 1.0,
    "solar_array": 4.0,
    "cosim_skyhook": 1.5,
    "cosim_pick_and_place": 1.0,
    "cosim_balance": 1.0,
}
SIZE = 480, 320  # of a picture, pixels


def write_pages(out: Path) -> dict[str, str]:
    """Run the examples; return their titles by name."""
    found = {}
    for name in EXAMPLES:
        example = importlib.import_module(name)
        example.main(out)
        found[name] = str(example.__doc__).splitlines()[0]
    return found


def write_index(out: Path, found: dict[str, str]) -> Path:
    """Write a page with links to all pages."""
    rows = "\n".join(
        f'<li><a href="{name}.html">{escape(name)}</a>: {escape(about)}</li>' for name, about in found.items()
    )
    path = out / "index.html"
    head = '<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>Examples of Linkwork</title>'
    path.write_text(f"{head}<h1>Examples</h1><ul>{rows}</ul></html>\n", encoding="utf-8")
    return path


def take_pictures(out: Path, folder: Path) -> None:
    """Take a picture of each scene in the Chromium of the system; without one, in that of Playwright."""
    from io import BytesIO

    from PIL import Image
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        options = ["--no-sandbox", "--enable-unsafe-swiftshader"]
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=options)
        for name, t in EXAMPLES.items():
            page = browser.new_page(viewport={"width": 2 * SIZE[0], "height": 2 * SIZE[1]}, reduced_motion="reduce")
            page.set_default_timeout(120_000)
            page.goto((out / f"{name}.html").resolve().as_uri())
            page.wait_for_function("() => window.linkworkPage !== undefined")
            page.evaluate("() => linkworkPage.ready")
            page.evaluate("t => linkworkPage.seek(t)", t)
            page.wait_for_timeout(2000)
            image = Image.open(BytesIO(page.locator("canvas").first.screenshot()))
            image.thumbnail(SIZE)
            image.convert("P", palette=Image.Palette.ADAPTIVE, colors=96).save(
                folder / f"gallery_{name}.png", optimize=True
            )
            page.close()
        browser.close()


def main(out: Path = OUT / "gallery", pictures: Path | None = None) -> Path:
    """Write all, and return the index."""
    out.mkdir(parents=True, exist_ok=True)
    index = write_index(out, write_pages(out))
    if pictures is not None:
        take_pictures(out, pictures)
    print(f"saved {index}")
    return index


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pictures", type=Path, metavar="FOLDER", help="folder for a picture of each page")
    main(pictures=parser.parse_args().pictures)
