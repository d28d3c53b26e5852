"""The headers of the standard, as FMPy carries them."""

import re
from pathlib import Path

HEADERS = {2: ("fmi2TypesPlatform.h", "fmi2FunctionTypes.h"), 3: ("fmi3PlatformTypes.h", "fmi3FunctionTypes.h")}


def reference_text(folder: Path, version: int) -> str:
    text = "\n".join((folder / name).read_text(encoding="utf-8") for name in HEADERS[version])
    return re.sub(r"/\*.*?\*/|^[ \t]*#.*?$", "", text, flags=re.DOTALL | re.MULTILINE)


def function_names(text: str, version: int) -> list[str]:
    return sorted(set(re.findall(rf"\b(fmi{version}\w+)TYPE\b", text)))
