"""Tables of the documents, so that tests can compare their figures with measured ones."""

import re

from support.checkout import TOP


def rows_of(page: str, header: str) -> list[list[str]]:
    """Rows of the table whose header begins so, as texts of the cells; an empty cell repeats the one above.

    >>> rows_of("docs/cosim_masters.md", "| master | algorithm |")[0][0]
    '`Jacobi(step, extrapolation=0)`'
    """
    lines = (TOP / page).read_text(encoding="utf-8").splitlines()
    starts = [k for k, line in enumerate(lines) if line.startswith(header)]
    assert len(starts) == 1, f"{len(starts)} tables of {page} begin with {header!r}"
    found: list[list[str]] = []
    for line in lines[starts[0] + 2 :]:
        if not line.startswith("|"):
            break
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        found.append([cell or above for cell, above in zip(cells, found[-1] if found else cells, strict=True)])
    return found


def numbers(cells: list[str]) -> list[float]:
    """The first number of each cell.

    >>> numbers(["3.9e-2", "-14 %", "6.1 mm"])
    [0.039, -14.0, 6.1]
    """
    return [float(re.search(r"[-+]?\d+(\.\d+)?(e[-+]?\d+)?", cell)[0]) for cell in cells]
