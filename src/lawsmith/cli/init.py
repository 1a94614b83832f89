"""`lawsmith init`: write a study file to start from, every key explained."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

# The files to write from: valid as they stand. The trainer is the recipe of docs/curves.md.
TEMPLATES = Path(__file__).parent / "templates"


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
    from lawsmith.errors import LawsmithError

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
