"""The commands that one starts with, `demo`, `docs` and `init`: what comes with lawsmith."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lawsmith.cli.params import whole
from lawsmith.errors import LawsmithError, unknown

# The files to write from: valid as they stand. The trainer is the recipe of docs/curves.md.
TEMPLATES = Path(__file__).parent / "templates"


def demo(
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Folder for the table and the charts.")
    ] = Path("lawsmith-demo"),
    seed: Annotated[int, typer.Option(parser=whole, metavar="SEED", help="Random seed.")] = 0,
) -> None:
    """See what lawsmith does, on real training runs that come with it.

    Chooses runs worth 2 % of the compute, and compares their answer with that of all runs.
    """
    from lawsmith.cli import options
    from lawsmith.cli.demo import run_demo, show_demo

    folder = options.folder(out, "--out")
    show_demo(run_demo(seed), folder)


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
    word = Path(name).stem
    if word not in pages:
        raise unknown("page", name, pages)
    return pages[word]


def title_of(path: Path) -> str:
    """The first heading of a page."""
    return path.read_text(encoding="utf-8").split("\n", 1)[0].lstrip("# ")


def init(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="Where to write it.", show_default=True)
    ] = Path("study.toml"),
    wsd: Annotated[
        bool,
        typer.Option(
            "--wsd",
            help="A study of trunks with decays that branch from them, and a trainer for it, "
            "train.py. Both work as they stand.",
        ),
    ] = False,
) -> None:
    """Write a commented study file; edit it, then `lawsmith check` it.

    For example: lawsmith init my-study/study.toml
    """
    from lawsmith.cli.console import stdout

    files = {file: template("wsd.toml" if wsd else "study.toml")}
    if wsd:
        files[file.parent / "train.py"] = template("train.py.txt")
    _write_new(files)
    named = " and ".join(map(str, files))
    stdout().print(f"Wrote {named}. Edit it, then: lawsmith check {file}", soft_wrap=True)


def template(name: str) -> str:
    """The text of a template."""
    return (TEMPLATES / name).read_text(encoding="utf-8")


def _write_new(files: dict[Path, str]) -> None:
    """Write all of the files, or none where one is there already."""
    for path in files:
        if path.exists():
            got = "a folder" if path.is_dir() else "a file that is there already"
            hint = "choose another name: it is not overwritten"
            raise LawsmithError(str(path), got=got, hint=hint)
    for path, text in files.items():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("x", encoding="utf-8") as new:
                new.write(text)
        except OSError as error:
            got = error.strerror or str(error)
            raise LawsmithError(str(path), got=got, want="a file that can be written") from None
