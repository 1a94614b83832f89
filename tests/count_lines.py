"""Counts of the package by part: lines of code, files, public names, modules under 40 lines.

A line of code is one that holds something else than blanks, a comment or a docstring. A public
name is a class or function of a module, or a method of one, that does not begin with '_'.

python -m tests.count_lines            the table of docs/architecture.md, as it would be now
python -m tests.count_lines --write    put it there
"""

from __future__ import annotations

import argparse
import ast
import io
import tokenize
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "lawsmith"
PAGE = ROOT / "docs" / "architecture.md"
BEGIN, END = "<!-- lines: begin -->", "<!-- lines: end -->"
SMALL = 40
NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}


@dataclass(frozen=True)
class Count:
    """What one or several files hold."""

    lines: int
    files: int
    names: int
    small: int

    def __add__(self, other: Count) -> Count:
        return Count(
            self.lines + other.lines,
            self.files + other.files,
            self.names + other.names,
            self.small + other.small,
        )


def count(text: str) -> Count:
    """The count of one file."""
    tree = ast.parse(text)
    lines = code_lines(text, tree)
    return Count(lines, 1, public_names(tree), int(lines < SMALL))


def code_lines(text: str, tree: ast.Module) -> int:
    """Lines with code; a docstring is none."""
    found: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in NO_CODE:
            found.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and ast.get_docstring(node) is not None:
                found -= set(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    return len(found)


def public_names(tree: ast.Module | ast.ClassDef) -> int:
    """Classes and functions without a leading '_', with the methods of such classes."""
    total = 0
    for node in tree.body:
        defines = isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        if defines and not node.name.startswith("_"):
            total += 1 + (public_names(node) if isinstance(node, ast.ClassDef) else 0)
    return total


def counts(folder: Path = PACKAGE) -> dict[str, Count]:
    """Part of the package → its count; modules of the package itself are one part."""
    found: dict[str, Count] = {}
    for source in sorted(folder.rglob("*.py")):
        inside = source.relative_to(folder).parts
        part = inside[0] if len(inside) > 1 else "(modules)"
        found[part] = found.get(part, Count(0, 0, 0, 0)) + count(source.read_text(encoding="utf-8"))
    return found


def table(found: dict[str, Count]) -> str:
    """Markdown, the largest part first."""
    rows = sorted(found.items(), key=lambda item: (-item[1].lines, item[0]))
    rows.append(("all", sum(found.values(), start=Count(0, 0, 0, 0))))
    lines = [
        f"| part | code lines | files | public names | modules under {SMALL} lines |",
        "|---|---:|---:|---:|---:|",
    ]
    lines += [f"| {p} | {c.lines:,} | {c.files} | {c.names} | {c.small} |" for p, c in rows]
    return "\n".join(lines)


def written(page: str) -> dict[str, Count]:
    """The counts in the table of the page."""
    rows = page.partition(BEGIN)[2].partition(END)[0].strip().splitlines()[2:]
    cells = [[cell.strip().replace(",", "") for cell in row.strip("|").split("|")] for row in rows]
    return {part: Count(*map(int, numbers)) for part, *numbers in cells}


def in_page(page: str, new: str) -> str:
    """The page with the table between its two marks replaced."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{new}\n{END}{after}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write the table into the page")
    new = table(counts())
    if parser.parse_args().write:
        PAGE.write_text(in_page(PAGE.read_text(encoding="utf-8"), new), encoding="utf-8")
    else:
        print(new)


if __name__ == "__main__":
    main()
