"""From the text of a formula to code, in one pass and in linear time.

Sums bind weakest, then products, signs and powers: -q^2 is -(q^2), and a^b^c is a^(b^c). Nothing is called and no
attribute is read: names are looked up in the lists given.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import NamedTuple

from linkwork._util.names import number_of, suggest
from linkwork._util.part_names import SIGNS, plain_name
from linkwork.errors import MechanismNameError
from linkwork.formula.code import Code, Value
from linkwork.formula.operations import FUNCTIONS, LARGEST_EXPONENT
from linkwork.formula.source import Source, Span

DEEPEST = 50  # levels of brackets and exponents in each other
CONSTANTS = {"pi": math.pi}
RESERVED = frozenset({*CONSTANTS, *FUNCTIONS, "if"})  # names that formulas cannot give to anything else

_PART = r"(?:[A-Za-z_][A-Za-z0-9_]*|'[^'\n]*')"
_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
    rf"|(?P<name>{_PART}(?:\.{_PART})*(?:\[[0-9]+(?:,[0-9]+)*\])?)"
    r"|(?P<sign>\*\*|<=|>=|==|!=|[-+*/^<>(),=%]))"
)
_SUMS = {"+": "add", "-": "subtract"}
_PRODUCTS = {"*": "multiply", "/": "divide"}
_COMPARED = {"<": "less", "<=": "less_equal", ">": "less", ">=": "less_equal"}
_POWERS = ("^", "**")
_INSTEAD = {  # of signs and names that other languages have
    "=": "a formula is a value and assigns nothing: leave out '='",
    "==": "numbers are compared by <, <=, > and >=",
    "!=": "numbers are compared by <, <=, > and >=",
    "%": "write mod(a, b)",
    **dict.fromkeys(("and", "or", "not"), "nest if(condition, a, b) instead of and, or, not"),
    **dict.fromkeys(("if", "else"), "write if(condition, a, b)"),
    **dict.fromkeys("×·⋅∙", "write *"),
    **dict.fromkeys("−–—", "write -"),
    "÷": "write /",
    "²": "write ^2",
    "³": "write ^3",
    "π": "write pi",
    "√": "write sqrt(a)",
    "≤": "write <=",
    "≥": "write >=",
    ";": "a formula is one value",
    "[": "an index follows its name: q[2]",
}
_QUOTES = "names with such signs stand between single quotes, as in 'left-hip'.q"


class Names(NamedTuple):
    """What names in formulas mean.

    Attributes
    ----------
    parameters
        Names of parameters.
    quantities
        Units of quantities by their names; None: open.
    tables
        Numbers of arguments of tables by their names.
    remark
        What else to state of a name that is unknown; "" for most.
    """

    parameters: Collection[str]
    quantities: Mapping[str, str | None]
    tables: Mapping[str, int]
    remark: Callable[[str], str] | None = None

    def all(self) -> Iterator[str]:
        """Return all names that a formula may have."""
        yield from self.parameters
        yield from self.tables
        yield from self.quantities
        yield from sorted(RESERVED)


class _Token(NamedTuple):
    kind: str  # "number", "name", "sign" or "end"
    text: str
    start: int
    end: int

    @property
    def span(self) -> Span:
        return self.start, self.end


def parse(source: Source, names: Names) -> Code:
    """Return the code of a formula; a text that is none is refused with the place and a remedy."""
    source.check()
    return _Parser(source, names).formula()


def _tokens(source: Source) -> Iterator[_Token]:
    text, end = source.text, 0
    last = len(text.rstrip())
    while end < last:
        found = _TOKEN.match(text, end)
        if found is None:
            while text[end].isspace():
                end += 1
            sign = text[end]
            known = unicodedata.name(sign, "")
            named = f" ({known})" if known and not sign.isascii() else ""
            remedy = _INSTEAD.get(sign, _QUOTES if sign in SIGNS else "")
            raise source.error(
                f"{sign!r}{named} is no sign of formulas{f': {remedy}' if remedy else ''}", (end, end + 1)
            )
        end = found.end()
        kind = str(found.lastgroup)
        yield _Token(kind, found[kind], found.start(kind), end)
    yield _Token("end", "", last, last)


class _Parser:
    """Each method reads its part of the text from the token that is next, and returns its value."""

    def __init__(self, source: Source, names: Names) -> None:
        self.source, self.names = source, names
        self.code = Code(source)
        self.tokens = list(_tokens(source))
        self.place = 0
        self.depth = 0

    @property
    def next(self) -> _Token:
        return self.tokens[self.place]

    def formula(self) -> Code:
        result = self.condition()
        if self.next.kind != "end":
            raise self.unexpected("'(' is missing before it" if self.next.text == ")" else "")
        self.code.finish(result)
        return self.code

    def condition(self) -> Value:
        """A comparison, or a value."""
        first = self.place
        value = self.sum()
        if (sign := self.next.text) in _COMPARED:
            self.place += 1
            operands = [value, self.sum()]
            if self.next.text in _COMPARED:
                raise self.source.error(
                    "comparisons are not chained: write if(a < b, if(b < c, x, y), y)", self.next.span
                )
            value = self.code.apply(_COMPARED[sign], operands[:: 1 if "<" in sign else -1], self.span(first))
        return value

    def sum(self) -> Value:
        first = self.place
        value = self.product()
        while (sign := self.next.text) in _SUMS:
            self.place += 1
            value = self.code.apply(_SUMS[sign], [value, self.product()], self.span(first))
        return value

    def product(self) -> Value:
        first = self.place
        value = self.signed()
        while (sign := self.next.text) in _PRODUCTS:
            self.place += 1
            value = self.code.apply(_PRODUCTS[sign], [value, self.signed()], self.span(first))
        return value

    def signed(self) -> Value:
        first, negative = self.place, False
        while self.next.text in _SUMS:
            negative ^= self.next.text == "-"
            self.place += 1
        value = self.power()
        return self.code.apply("minus", [value], self.span(first)) if negative else value

    def power(self) -> Value:
        first = self.place
        base = self.primary()
        if self.next.text not in _POWERS:
            return base
        self.deeper()
        exponent = self.signed()
        self.depth -= 1
        number, span = self.code.constant(exponent), self.span(first)
        if number is None or not number.is_integer():
            return self.code.apply("power", [base, exponent], span)
        if abs(number) > LARGEST_EXPONENT:
            raise self.source.error(
                f"whole exponents are from -{LARGEST_EXPONENT} to {LARGEST_EXPONENT}", exponent.span
            )
        return self.code.whole_power(base, int(number), span)

    def primary(self) -> Value:
        """A number, a name, a call or brackets."""
        token = self.next
        if token.kind == "number":
            self.place += 1
            return self.number(token)
        if token.kind == "name":
            self.place += 1
            return self.call(token) if self.next.text == "(" else self.name(token)
        if token.text != "(":
            raise self.unexpected("a value is missing before it")
        self.deeper()
        value = self.condition()
        self.close()
        return value

    def number(self, token: _Token) -> Value:
        value = float(token.text)
        mantissa = re.split("[eE]", token.text)[0]
        if math.isinf(value) or (value == 0.0 and mantissa.strip("0.")):
            size = "large" if value else "small"
            raise self.source.error(f"the number is too {size} for arithmetic", token.span)
        return self.code.number(value, token.span)

    def name(self, token: _Token) -> Value:
        name = plain_name(token.text)
        if name in self.names.parameters:
            return self.code.number(name, token.span)
        if name in self.names.quantities:
            return self.code.quantity(name, token.span)
        if name in CONSTANTS:
            return self.code.number(CONSTANTS[name], token.span)
        if token.text in _INSTEAD:
            raise self.unexpected(at=token)
        if name in FUNCTIONS or name in self.names.tables:
            kind = "function" if name in FUNCTIONS else "table"
            raise self.source.error(f"{name} is a {kind}: give it an argument, {name}(...)", token.span)
        raise self.unknown(name, token.span)

    def call(self, token: _Token) -> Value:
        first, name = self.place - 1, plain_name(token.text)
        if name == "der" and self.tokens[self.place + 1].kind == "name":
            return self.derivative(first)
        if name != "if" and name not in FUNCTIONS and name not in self.names.tables:
            raise self.not_called(token, name)
        self.deeper()
        values = [self.condition()]
        while self.next.text == ",":
            self.place += 1
            values.append(self.condition())
        self.close()
        span = self.span(first)
        if name in ("min", "max") and len(values) > 1:
            value = values[0]
            for other in values[1:]:
                value = self.code.apply(name, [value, other], span)
            return value
        needed = 3 if name == "if" else self.names.tables.get(name) or len(FUNCTIONS[name].operands)
        if len(values) != needed:
            least = "at least " if name in ("min", "max") else ""
            raise self.source.error(f"{name} takes {least}{number_of(needed, 'argument')}, and has {len(values)}", span)
        if name in self.names.tables:
            return self.code.table(name, values, span)
        return self.code.apply("select" if name == "if" else name, values, span)

    def derivative(self, first: int) -> Value:
        """Read der(x), the name of a quantity."""
        self.deeper()
        name = f"der({plain_name(self.next.text)})"
        self.place += 1
        self.close()
        span = self.span(first)
        if name in self.names.quantities:
            return self.code.quantity(name, span)
        raise self.unknown(name, span)

    def unknown(self, name: str, span: Span) -> Exception:
        remark = self.names.remark(name) if self.names.remark else ""
        return self.source.error(
            f"the name {self.source.piece(span)} is unknown: {suggest(name, self.names.all())}{remark}",
            span,
            kind=MechanismNameError,
        )

    def not_called(self, token: _Token, name: str) -> Exception:
        if name in self.names.parameters or name in self.names.quantities or name in CONSTANTS:
            return self.source.error(f"{name} is no function; a product is {name}*(...)", token.span)
        known = [*FUNCTIONS, "if", *self.names.tables]
        return self.source.error(
            f"there is no function {self.source.piece(token.span)}: {suggest(name, known)}",
            token.span,
            kind=MechanismNameError,
        )

    def deeper(self) -> None:
        """Go behind an opening bracket or the sign of a power."""
        self.depth += 1
        if self.depth > DEEPEST:
            raise self.source.error(f"brackets or exponents are more than {DEEPEST} levels deep", self.next.span)
        self.place += 1

    def close(self) -> None:
        if self.next.text != ")":
            raise self.unexpected("')' is missing before it")
        self.place += 1
        self.depth -= 1

    def span(self, first: int) -> Span:
        """The text from a token to the one that was read last."""
        return self.tokens[first].start, self.tokens[self.place - 1].end

    def unexpected(self, remedy: str = "", at: _Token | None = None) -> Exception:
        """Return the error of a token that cannot stand here."""
        token = at or self.next
        if token.kind == "end":
            return self.source.error(f"the formula ends early: {remedy.removesuffix(' before it')}", token.span)
        if token.text in _INSTEAD:
            remedy = _INSTEAD[token.text]
        elif self.place and token.kind in ("number", "name") and self.tokens[self.place - 1].kind in ("number", "name"):
            remedy = f"a sign is missing before it; a product is a*{token.text}"
        elif self.place and token.text == "(":
            remedy = "a sign is missing before it; a product is a*(...)"
        shown = self.source.piece(token.span)
        return self.source.error(f"{shown} is unexpected{f': {remedy}' if remedy else ''}", token.span)
