"""The page of documentation inside the FMU of a controller: its equations, its variables and its use."""

from __future__ import annotations

import inspect
import sys
from html import escape

from linkwork.controllers.controller import Controller
from linkwork.controllers.native.interface import Interface, Variable

_STYLE = """body { font: 15px/1.5 sans-serif; color: #222; max-width: 62em; margin: 2em auto; padding: 0 1em }
table { border-collapse: collapse; margin: 0.6em 0 1.4em }
td, th { border-bottom: 1px solid #ddd; text-align: left; padding: 2px 14px 2px 0; vertical-align: top }"""

_USE = """<h2>Use</h2>
<p>The FMU is for Co-Simulation and needs no other program. Outputs follow the inputs without a step: in Initialization
Mode and between steps they match the inputs that are set. Parameters declared tunable may be set between steps, those
declared fixed until initialisation ends.</p>
<p>With a <code>sample_time</code> above 0 the controller acts at multiples of it, counted from the start time, and
holds its outputs in between; a communication step that covers several samples computes each of them with constant
inputs. Otherwise each communication step is a sample.</p>
<p>Values that are not numbers are refused, and so are parameters without sense when initialisation ends. The log gives
the reason.</p>"""


def index_page(controller: Controller, interface: Interface, law: str) -> str:
    """Return the page, which is well-formed XML as well."""
    equations = inspect.cleandoc(sys.modules[type(controller).__module__].__doc__ or "")
    parts = (
        f'<!DOCTYPE html>\n<html lang="en">\n<head><meta charset="utf-8"/><title>{law}</title>',
        f"<style>{_STYLE}</style></head>\n<body>\n<h1>{law}</h1>",
        f"<pre>{escape(equations)}</pre>",
        _USE,
        "<h2>Variables</h2>",
        _table(interface.variables),
        "</body>\n</html>\n",
    )
    return "\n".join(parts)


def _table(variables: tuple[Variable, ...]) -> str:
    heads = ("name", "causality", "variability", "unit", "start", "meaning")
    lines = [_row("th", heads), *(_row("td", _cells(one)) for one in variables)]
    return "<table>\n" + "\n".join(lines) + "\n</table>"


def _cells(one: Variable) -> tuple[str, ...]:
    start = "" if one.causality == "output" else f"{one.start:.6g}"
    return one.name, one.causality, one.variability, "" if one.unit == "1" else one.unit, start, one.description


def _row(tag: str, cells: tuple[str, ...]) -> str:
    return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"
