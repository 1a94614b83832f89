"""`lawsmith docs` shows the manual, `lawsmith init` writes a study file."""

from __future__ import annotations

from pathlib import Path

from rich.markdown import Markdown

from lawsmith.cli import console as out
from lawsmith.cli.commands import DocsRequest, InitRequest
from lawsmith.errors import LawsmithError, unknown
from lawsmith.files import write_output

# Each is valid as it stands. The trainer is the recipe of docs/curves.md.
TEMPLATES = Path(__file__).parent / "templates"


def docs(request: DocsRequest) -> None:
    """Print a page, or the names and titles of all."""
    pages, console = find_pages(), out.stdout()
    if request.page is None:
        # The first line of a page is its heading.
        texts = {name: path.read_text(encoding="utf-8") for name, path in pages.items()}
        out.facts({name: text.split("\n", 1)[0].lstrip("# ") for name, text in texts.items()})
        return
    word = Path(request.page).stem  # a link or a file's name is accepted too
    if word not in pages:
        raise unknown("page", request.page, pages)
    text = pages[word].read_text(encoding="utf-8")
    console.print(Markdown(text) if console.is_terminal else text, soft_wrap=True, markup=False)


def find_pages() -> dict[str, Path]:
    """Pages by name: those of the installed package, else those of the repository."""
    package = Path(__file__).parents[1]
    for folder in (package / "pages", package.parents[1] / "docs"):
        pages = sorted(folder.glob("*.md")) if folder.is_dir() else []
        if pages:
            return {path.stem: path for path in pages}
    return {}


def init(request: InitRequest) -> None:
    """Write a study file, and with --wsd a trainer beside it, if neither exists already."""
    file, wsd = request.file, request.wsd
    files = {file: template("wsd.toml" if wsd else "study.toml")}
    if wsd:
        files[file.parent / "train.py"] = template("train.py.txt")
    for path in filter(Path.exists, files):
        got = "a folder" if path.is_dir() else "a file that is there already"
        hint = "choose another name: it is not overwritten"
        raise LawsmithError(str(path), got=got, hint=hint)
    for path, text in files.items():
        write_output(path, text, where="init")
    named = " and ".join(map(str, files))
    out.stdout().print(f"Wrote {named}. Edit it, then: lawsmith check {file}", soft_wrap=True)


def template(name: str) -> str:
    """The text of a template."""
    return (TEMPLATES / name).read_text(encoding="utf-8")
