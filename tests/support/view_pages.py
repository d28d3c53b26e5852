"""Pages read back, independently of the package: data, columns and the scene."""

import base64
import gzip
import json
import re
from html.parser import HTMLParser

import numpy as np


class Scripts(HTMLParser):
    """All elements of a page, and the text of its scripts by id."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: dict[str | None, str] = {}
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self._id: str | None = None
        self._in_script = False
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._in_script = tag == "script"
        self._id = dict(attrs).get("id")

    def handle_endtag(self, tag):
        self._in_script = False

    def handle_data(self, data):
        if self._in_script:
            self.found[self._id] = self.found.get(self._id, "") + data


def unpack(packed: str) -> bytes:
    return gzip.decompress(base64.b64decode(packed, validate=True))


def payload_of(text: str) -> dict:
    """The data of a page."""
    return json.loads(Scripts(text).found["linkwork"])


def columns_of(run: dict) -> dict[str, np.ndarray]:
    """The columns of a recorded run, float32."""
    planes = np.frombuffer(unpack(run["values"]), np.uint8)
    n = len(run["columns"]) * run["rows"]
    assert planes.size == 4 * n
    bits = np.zeros(n, np.uint64)
    for k in range(4):
        bits += planes[k * n : (k + 1) * n].astype(np.uint64) << np.uint64(8 * k)
    table = np.cumsum(bits.reshape(len(run["columns"]), run["rows"]), axis=1, dtype=np.uint64) & np.uint64(0xFFFFFFFF)
    values = table.astype(np.uint32).view(np.float32)
    return dict(zip(run["columns"], values, strict=True))


def requests_of(text: str) -> list[str]:
    """What a page would ask a network for: addresses in its elements and in its own lines of code."""
    page = Scripts(text)
    linked = [value for _, attrs in page.tags for name, value in attrs.items() if name in ("src", "href")]
    return [*linked, *re.findall(r"https?://[^\s\"']+", page.found.get(None, ""))]
