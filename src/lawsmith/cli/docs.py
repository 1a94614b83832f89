"""`lawsmith docs [PAGE]`: the pages of the documentation, which come with the package."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def docs(
    page: Annotated[
        str | None,
        typer.Argument(metavar="[PAGE]", show_default=False, help="A page's name, such as answer."),
    ] = None,
) -> None:
    """Show a page of the documentation, or list the pages.

    For example: lawsmith docs study-file
    """
    from rich.markdown import Markdown

    from lawsmith.cli import console as out

    pages = find_pages()
    console = out.stdout()
    if page is None:
        rows = [(name, title_of(path)) for name, path in pages.items()]
        out.facts(console, rows)
        return
    text = page_named(page, pages).read_text(encoding="utf-8")
    console.print(Markdown(text) if console.is_terminal else text, soft_wrap=True, markup=False)


def find_pages() -> dict[str, Path]:
    """Pages by name: those of the installed package, else those of the repository."""
    package = Path(__file__).parents[1]
    for folder in (package / "pages", package.parents[1] / "docs"):
        found = sorted(folder.glob("*.md")) if folder.is_dir() else []
        if found:
            return {path.stem: path for path in found}
    return {}


def page_named(name: str, pages: dict[str, Path]) -> Path:
    """The page of that name; an address or a file's name does as well."""
    from lawsmith.errors import unknown

    word = Path(name).stem
    if word not in pages:
        raise unknown("page", name, pages)
    return pages[word]


def title_of(path: Path) -> str:
    """The first heading of a page."""
    return path.read_text(encoding="utf-8").split("\n", 1)[0].lstrip("# ")
