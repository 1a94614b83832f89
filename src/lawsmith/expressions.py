"""A small, safe expression language over the columns of a table; nothing is ever executed.

    optimizer == 'adamw' and 1e8 < N <= 2e9
    lr in [1e-3, 2e-3] or not D / N > 20
    col("smooth loss") < 3 * 2 ** 0.5

Columns, numbers, text, True and False; + − * / ** on numbers; comparisons (chained too) and
``in`` a list; and, or, not on truth values. A column whose name is not a word is col("…"): a
backtick would mean something else to the shell. Everything is elementwise on m rows.

The text is parsed to a syntax tree and only the kinds of node named here are walked. Numbers are
float64, so a power overflows to infinity instead of growing, and the text has a bounded length
and depth. A missing number (NaN) fails every comparison but !=; missing text is ''.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import reduce
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from lawsmith.errors import LawsmithError, suggest
from lawsmith.numbers import as_float

BoolArray = npt.NDArray[np.bool_]
AnyArray = npt.NDArray[Any]

MAX_LENGTH = 2000  # characters; with MAX_DEPTH it bounds time and recursion
MAX_DEPTH = 60

_ARITHMETIC: dict[type[ast.operator], Callable[[AnyArray, AnyArray], AnyArray]] = {
    ast.Add: np.add,
    ast.Sub: np.subtract,
    ast.Mult: np.multiply,
    ast.Div: np.divide,
    ast.Pow: np.power,
}
_COMPARISON: dict[type[ast.cmpop], Callable[[AnyArray, AnyArray], AnyArray]] = {
    ast.Eq: np.equal,
    ast.NotEq: np.not_equal,
    ast.Lt: np.less,
    ast.LtE: np.less_equal,
    ast.Gt: np.greater,
    ast.GtE: np.greater_equal,
}
_KINDS = {"f": "a number", "U": "text", "b": "a truth value"}


def evaluate(text: str, columns: Mapping[str, npt.ArrayLike]) -> AnyArray:
    """(m,) value of the expression on every row: float64, str or bool."""
    tree = _parse(text)
    n_rows = len(np.asarray(next(iter(columns.values())))) if columns else 1
    with np.errstate(all="ignore"):
        value = _Evaluator(text, columns).value(tree)
    return np.broadcast_to(value, (n_rows,)).copy()


def mask(text: str, columns: Mapping[str, npt.ArrayLike]) -> BoolArray:
    """(m,) rows where the expression, which must be a truth value, holds."""
    value = evaluate(text, columns)
    if value.dtype != np.bool_:
        got = f"{text!r}, which is {_KINDS[value.dtype.kind]}"
        raise LawsmithError("expression", got=got, want="a comparison such as N > 1e8")
    return value


def names(text: str) -> tuple[str, ...]:
    """The columns an expression uses, in order of first appearance."""
    found = (_column_name(node) for node in _walk(_parse(text)))
    return tuple(dict.fromkeys(name for name in found if name is not None))


def _parse(text: str) -> ast.expr:
    if len(text) > MAX_LENGTH:
        want = f"at most {MAX_LENGTH} characters"
        raise LawsmithError("expression", got=f"{len(text)} characters", want=want)
    try:
        with warnings.catch_warnings(action="ignore"):  # such as of a stray backslash
            tree = ast.parse(text.strip(), mode="eval").body
    except SyntaxError as error:
        raise _syntax_error(text, error.offset) from None
    except (ValueError, RecursionError, MemoryError):
        raise _syntax_error(text, None) from None
    if _depth(tree) > MAX_DEPTH:
        raise LawsmithError("expression", got="too many nested terms", want=f"at most {MAX_DEPTH}")
    return tree


def _syntax_error(text: str, offset: int | None) -> LawsmithError:
    hints = {
        "`": 'write col("a name") for a column whose name is not a word',
        "&": "write and",
        "|": "write or",
        "!": "write not, or !=",
        "=": "write == to compare",
    }
    bare = text.replace("==", "").replace("<=", "").replace(">=", "").replace("!=", "")
    hint = next((hint for sign, hint in hints.items() if sign in bare), None)
    where = "expression" if not offset else f"expression, character {offset}"
    want = "a comparison such as N > 1e8 and optimizer == 'adamw'"
    return LawsmithError(where, got=repr(_short(text)), want=want, hint=hint)


def _depth(tree: ast.expr) -> int:
    """Levels of the tree, counted without recursion, since a hostile text may nest deeply."""
    level: list[ast.AST] = [tree]
    depth = 0
    while level:
        depth += 1
        level = [child for node in level for child in ast.iter_child_nodes(node)]
    return depth


def _walk(tree: ast.expr) -> Iterator[ast.AST]:
    """Nodes in reading order; the function name of col(…) is not a column."""
    yield tree
    if _column_name(tree) is None:
        for child in ast.iter_child_nodes(tree):
            yield from _walk(cast(ast.expr, child))


def _column_name(node: ast.AST) -> str | None:
    """The column a node stands for: a word, or col("any name")."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Call(func=ast.Name(id="col"), args=[ast.Constant(value=str(name))], keywords=[]):
            return name
    return None


class _Evaluator:
    """Walks one expression over one table; each method returns an array of floats, str or bool."""

    def __init__(self, text: str, columns: Mapping[str, npt.ArrayLike]) -> None:
        self.text, self.columns = text.strip(), columns

    def value(self, node: ast.expr) -> AnyArray:
        if (name := _column_name(node)) is not None:
            return self.column(name, node)
        match node:
            case ast.Constant(value=bool() | str() as constant):
                return np.asarray(constant)
            case ast.Constant(value=int() | float() as constant):
                if np.isinf(number := as_float(constant) or 0.0):
                    raise self.error(node, got="a number too large", want="below 1e308")
                return np.asarray(number)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return np.logical_not(self.of_kind(operand, "b"))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return np.negative(self.of_kind(operand, "f"))
            case ast.UnaryOp(op=ast.UAdd(), operand=operand):
                return self.of_kind(operand, "f")
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _ARITHMETIC:
                return _ARITHMETIC[type(op)](self.of_kind(left, "f"), self.of_kind(right, "f"))
            case ast.BoolOp(op=op, values=values):
                join = np.logical_and if isinstance(op, ast.And) else np.logical_or
                return reduce(join, [self.of_kind(part, "b") for part in values])
            case ast.Compare():
                return self.compared(node)
        hints = {"BitAnd": "write and", "BitOr": "write or", "Invert": "write not"}
        hint = hints.get(type(getattr(node, "op", None)).__name__)
        want = "columns, numbers, text, arithmetic, comparisons, in, and, or, not"
        source = ast.get_source_segment(self.text, node) or self.text
        raise self.error(node, got=repr(_short(source)), want=want, hint=hint)

    def column(self, name: str, node: ast.expr) -> AnyArray:
        if name not in self.columns:
            known = ", ".join(self.columns)
            hint = suggest(name, self.columns) or f"text is quoted: '{name}'"
            raise self.error(node, got=f"no column {name!r}", want=f"one of {known}", hint=hint)
        return _as_values(name, np.asarray(self.columns[name]))

    def of_kind(
        self, node: ast.expr, kind: str, more: str = "", hint: str | None = None
    ) -> AnyArray:
        """The value of a node, which must be numbers, text or truth values."""
        value = self.value(node)
        if value.dtype.kind != kind:
            got, want = _KINDS[value.dtype.kind], _KINDS[kind] + more
            raise self.error(node, got=got, want=want, hint=hint)
        return value

    def compared(self, node: ast.Compare) -> AnyArray:
        """a < b <= c is (a < b) and (b <= c); each term is evaluated once, so nests stay cheap."""
        if any(isinstance(op, ast.In | ast.NotIn) for op in node.ops[:-1]):
            raise self.error(node, got="a list inside a chain", want="in as the last comparison")
        links = []
        left = self.value(node.left)
        for op, right in zip(node.ops, node.comparators, strict=True):
            if isinstance(op, ast.In | ast.NotIn):
                found = self.member(left, right)
                links.append(found if isinstance(op, ast.In) else np.logical_not(found))
            elif type(op) in _COMPARISON:
                value = self.like(left, right)
                links.append(_COMPARISON[type(op)](left, value))
                left = value
            else:
                raise self.error(right, got="is", want="== or !=")
        return reduce(np.logical_and, links)

    def member(self, left: AnyArray, right: ast.expr) -> AnyArray:
        if not isinstance(right, ast.List | ast.Tuple | ast.Set) or not right.elts:
            raise self.error(right, got="no list", want="a list such as ['a', 'b'] after in")
        return reduce(np.logical_or, [left == self.like(left, item) for item in right.elts])

    def like(self, left: AnyArray, right: ast.expr) -> AnyArray:
        """The right side of a comparison, which must be of the left side's kind."""
        hint = "text is quoted, a number is not" if left.dtype.kind != "b" else None
        return self.of_kind(right, left.dtype.kind, ", as on the left", hint)

    def error(
        self, node: ast.expr, *, got: str, want: str, hint: str | None = None
    ) -> LawsmithError:
        where = f"expression, character {node.col_offset + 1}"
        return LawsmithError(where, got=got, want=want, hint=hint)


def _as_values(name: str, array: AnyArray) -> AnyArray:
    """A column as float64, bool or str; an object column is text if any of it is."""
    kind = array.dtype.kind
    if kind in "bU":
        return array
    if kind == "T":
        return array.astype(np.str_)
    if kind == "O" and any(isinstance(value, str) for value in array):
        return np.array([value if isinstance(value, str) else "" for value in array], np.str_)
    try:  # same_kind: numpy would also make numbers of dates, and drop imaginary parts
        return array.astype(np.float64, casting="unsafe" if kind == "O" else "same_kind")
    except OverflowError:
        numbers = [as_float(value) for value in array]
        return np.array([np.nan if x is None else x for x in numbers], np.float64)
    except (TypeError, ValueError):
        raise LawsmithError(f"column {name}", got=array.dtype, want="numbers or text") from None


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "…"
