"""Small faults of Python, proposed from its syntax tree: a comparison, a constant, a condition, a step left out."""

from __future__ import annotations

import ast
from collections.abc import Iterator

# The sign between two operands and the one in its place.
_COMPARISONS = {
    ast.Lt: ("<", ">="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", "<="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
}
_ARITHMETIC = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.MatMult: ("@", "*"),
}
_LOGIC = {ast.And: ("and", "or"), ast.Or: ("or", "and")}
# Keywords without effect on what a sound program does here, and parts of the text that do nothing when it runs.
_WITHOUT_EFFECT = {"encoding", "strict", "stacklevel", "newline", "slots", "frozen", "check", "copy", "dtype"}
_EXITS = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_NOT_RUN = (ast.Raise, ast.JoinedStr, ast.AnnAssign, ast.arg)


class _Faults(ast.NodeVisitor):
    """Collects the faults of a file: line, start and end of the old text, operator, new text."""

    def __init__(self, source: str) -> None:
        self.lines = [line.encode() for line in source.split("\n")]
        self.found: list[tuple[int, int, int, str, str]] = []
        self.visit(ast.parse(source))

    def text(self, node: ast.expr) -> str:
        return self.lines[node.lineno - 1][node.col_offset : node.end_col_offset].decode()

    def replace(self, operator: str, node: ast.AST, new: str) -> None:
        self.between(operator, node.lineno, node.col_offset, node.end_lineno, node.end_col_offset, new)

    def between(self, operator: str, line: int, start: int, last: int, end: int, new: str) -> None:
        if line == last:
            self.found.append((line - 1, start, end, operator, new))

    def joined(self, operator: str, left: ast.expr, right: ast.expr, signs: tuple[str, str]) -> None:
        """Replace the sign between two operands, which may have brackets around them."""
        line, start, last, end = left.end_lineno, left.end_col_offset, right.lineno, right.col_offset
        text = self.lines[line - 1][start:end].decode() if line == last else ""
        old, new = (f" {sign} " for sign in signs)
        if old in text:
            self.between(operator, line, start, last, end, text.replace(old, new))

    def generic_visit(self, node: ast.AST) -> None:
        if isinstance(node, _NOT_RUN):
            value = getattr(node, "value", None)
            if isinstance(node, ast.AnnAssign) and value is not None:
                self.visit(value)
            return
        for name, value in ast.iter_fields(node):
            if name in ("decorator_list", "returns", "annotation"):
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    self.visit(child)

    def visit_Compare(self, node: ast.Compare) -> None:
        if len(node.ops) == 1:
            self.joined("comparison", node.left, node.comparators[0], _COMPARISONS[type(node.ops[0])])
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        texts = any(isinstance(n, ast.JoinedStr) or _is_text(n) for n in ast.walk(node))
        if type(node.op) in _ARITHMETIC and not texts:
            self.joined("sign", node.left, node.right, _ARITHMETIC[type(node.op)])
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.USub | ast.Not) and node.operand.lineno == node.end_lineno:
            self.replace("sign" if isinstance(node.op, ast.USub) else "condition", node, f"({self.text(node.operand)})")
        if not isinstance(node.operand, ast.Constant):
            self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        for left, right in zip(node.values, node.values[1:], strict=False):
            self.joined("condition", left, right, _LOGIC[type(node.op)])
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, bool):
            self.replace("constant", node, str(not node.value))
        elif isinstance(node.value, int):
            self.replace("constant", node, str(node.value + 1))
        elif isinstance(node.value, float):
            self.replace("constant", node, repr(2.0 * node.value if node.value else 1.0))

    def visit_IfExp(self, node: ast.If | ast.IfExp) -> None:
        if node.test.lineno == node.test.end_lineno and not isinstance(node.test, ast.Compare | ast.UnaryOp):
            self.replace("condition", node.test, f"not ({self.text(node.test)})")
        self.generic_visit(node)

    def visit_If(self, node: ast.If) -> None:
        if not (isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"):
            if len(node.body) == 1 and isinstance(node.body[0], _EXITS):
                self.replace("step", node.body[0], "pass")
            self.visit_IfExp(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Constant):
            return  # a docstring
        if isinstance(node.value, ast.Call):
            self.replace("step", node, "pass")
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        for keyword in node.keywords:
            if keyword.arg in _WITHOUT_EFFECT:
                continue
            if keyword.arg and len(node.args) + len(node.keywords) > 1:
                self._leave_out(keyword)
            self.visit(keyword.value)
        for one in (node.func, *node.args):
            self.visit(one)

    def _leave_out(self, keyword: ast.keyword) -> None:
        line, start, end = self.lines[keyword.lineno - 1], keyword.col_offset, keyword.end_col_offset
        if line[:start].endswith(b", "):
            self.between("keyword", keyword.lineno, start - 2, keyword.end_lineno, end, "")


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def faults_of_python(source: str) -> Iterator[tuple[str, str, str]]:
    r"""Yield the faults of a file of Python, each by its operator, a line and the line that takes its place.

    >>> source = 'def f(x: int = 0) -> int:\n    if x > 2 and x:\n        return g(x, n=-1)\n    return x + 1'
    >>> for name, _, new in faults_of_python(source):
    ...     print(name, new.strip(), sep=": ")
    constant: def f(x: int = 1) -> int:
    condition: if not (x > 2 and x):
    comparison: if x <= 2 and x:
    constant: if x > 3 and x:
    condition: if x > 2 or x:
    step: pass
    keyword: return g(x)
    sign: return g(x, n=(1))
    sign: return x - 1
    constant: return x + 2
    """
    faults = _Faults(source)
    for row, start, end, operator, new in sorted(faults.found):
        old = faults.lines[row]
        changed = (old[:start] + new.encode() + old[end:]).decode()
        yield operator, old.decode(), changed.rstrip()
