"""`lawsmith init`: write a study file to start from, every key explained."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def init(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="Where to write it.", show_default=True)
    ] = Path("study.toml"),
) -> None:
    """Write a commented study file; edit it, then `lawsmith check` it.

    For example: lawsmith init my-study/study.toml
    """
    from lawsmith.cli.console import stdout
    from lawsmith.cli.init_text import STUDY
    from lawsmith.errors import LawsmithError

    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("x", encoding="utf-8") as new:
            new.write(STUDY)
    except FileExistsError:
        hint = "choose another name: it is not overwritten"
        raise LawsmithError(str(file), got="a file that is there already", hint=hint) from None
    except OSError as error:
        got = error.strerror or str(error)
        raise LawsmithError(str(file), got=got, want="a file that can be written") from None
    stdout().print(f"Wrote {file}. Edit it, then: lawsmith check {file}", soft_wrap=True)
