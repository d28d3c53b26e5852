"""The HTML file of a page: data, viewer and the few lines that start it. It asks for no other file.

The viewer, its worker and the simulator are made at build time by `viewer/build.py` and stand packed in the page; the
browser unpacks them by its DecompressionStream.
"""

from __future__ import annotations

import json
from functools import lru_cache
from html import escape
from importlib.resources import files
from pathlib import Path

from linkwork._util.version import version
from linkwork.errors import LinkworkError
from linkwork.view import payload
from linkwork.view.packing import pack

VIEWER, WORKER, CORE = "viewer.js", "worker.js", "core.wasm"

_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'unsafe-inline' 'wasm-unsafe-eval' blob:",
        "worker-src blob:",
        "style-src 'unsafe-inline'",
        "img-src data: blob:",
        "media-src blob:",
        "font-src data:",
        "connect-src 'none'",
        "base-uri 'none'",
        "form-action 'none'",
    )
)

_STYLE = """html, body { margin: 0; height: 100%; font-family: system-ui, sans-serif }
:root { color-scheme: light dark }
.linkwork-note { max-width: 40em; margin: 3em auto; padding: 0 1em; line-height: 1.5 }"""

_LOADER = """(async () => {
  "use strict";
  const note = (text) => {
    const element = document.createElement("p");
    element.className = "linkwork-note";
    element.setAttribute("role", "alert");
    element.textContent = text;
    document.body.append(element);
  };
  if (typeof DecompressionStream === "undefined") {
    note("This page needs a browser of 2023 or later: Chrome or Edge 80, Firefox 113, Safari 16.4.");
    return;
  }
  try {
    const packed = document.getElementById("linkwork-viewer").textContent.trim();
    const bytes = Uint8Array.from(atob(packed), (character) => character.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    const script = document.createElement("script");
    script.textContent = await new Response(stream).text();
    document.body.append(script);
  } catch (error) {
    note("This page cannot be shown: " + error);
  }
})();"""


def document(data: payload.Payload) -> str:
    """Return the HTML text of a page."""
    worker = f'<script type="text/plain" id="linkwork-worker">{asset(WORKER)}</script>\n' if data["live"] else ""
    title = escape(data["title"])
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="Linkwork {escape(data["version"])}">
<title>{title}</title>
<style>
{_STYLE}
</style>
</head>
<body>
<noscript><p class="linkwork-note">This page shows {title} in motion. It needs JavaScript.</p></noscript>
<script type="application/json" id="linkwork">{json_text(data)}</script>
<script type="text/plain" id="linkwork-viewer">{asset(VIEWER)}</script>
{worker}<script>
{_LOADER}
</script>
</body>
</html>
"""


def json_text(data: object) -> str:
    r"""Return data as JSON that may stand in HTML: ASCII, and without <, which ends a script or begins a comment.

    >>> json_text({"name": "</script> é"})
    '{"name":"\\u003c/script> \\u00e9"}'
    """
    return json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


def payload_of(title: str) -> payload.Payload:
    """Return a payload without scenes and runs."""
    return {
        "format": 1,
        "title": title,
        "version": version(),
        "scenes": [],
        "runs": [],
        "live": None,
        "core": None,
        "meshes": [],
    }


def asset(name: str) -> str:
    """Return a file that the build of the viewer makes, packed."""
    path = _built(name)
    return _packed(path, path.stat().st_mtime_ns)


def _built(name: str) -> Path:
    path = assets() / name
    if not path.is_file():
        raise LinkworkError(
            f"the viewer of pages has not been built, {path} is missing: run './run setup', or "
            "'python viewer/build.py' in the source tree"
        )
    return path


def check_built() -> None:
    """Refuse, before a run, what cannot be written after it: a page without its viewer."""
    _built(VIEWER)


def assets() -> Path:
    """Return the folder of the files that the build of the viewer makes."""
    return Path(str(files("linkwork.view"))) / "assets"


@lru_cache(maxsize=8)
def _packed(path: Path, changed: int) -> str:
    """Return a file, packed; `changed` is the time of its last change, by which the cache knows it."""
    return pack(path.read_bytes())
