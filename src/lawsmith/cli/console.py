"""What commands print: headings, prose, tables and JSON on stdout, progress on stderr; exit codes.

Text is printed as it is (no markup), because names and intervals may hold brackets, and without
trailing blanks, because it is pasted and piped.
"""

from __future__ import annotations

import json
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from lawsmith.digest import Columns, Digest, Part, Remarks, plain
from lawsmith.formats import flops, gpu_hours

if TYPE_CHECKING:
    from lawsmith.datasets.fetch import Progress as Report
    from lawsmith.study.live import LiveStudy

CLOSED_PIPE, BAD_INPUT = 1, 2  # exit codes
INTERRUPTED = 130  # the exit code that shells give a process ended by Ctrl-C
MAX_WIDTH = 100  # longer lines are hard to read, however wide the terminal
INDENT = "  "


def stdout() -> Console:
    """The console for results."""
    return _console(stderr=False)


def stderr() -> Console:
    """The console for progress and remarks."""
    return _console(stderr=True)


def _console(*, stderr: bool) -> Console:
    console = Console(stderr=stderr, markup=False, highlight=False, emoji=False)
    console.width = min(console.width, MAX_WIDTH)
    return console


def print_json(value: Any) -> None:
    """Print the result of a command as JSON."""
    typer.echo(json_text(value))


def json_text(value: Any) -> str:
    """A value as JSON; NaN and infinities are null."""
    return json.dumps(plain(value), indent=2, ensure_ascii=False, allow_nan=False)


def title(text: str) -> None:
    """Print what the result is about, above everything else."""
    stdout().print(Text(text, style="bold"))


def heading(text: str) -> None:
    """Print a section's title after an empty line."""
    stdout().print()
    title("\n".join(textwrap.wrap(text, stdout().width)))


def prose(text: str, *, style: str = "") -> None:
    """Print a sentence, indented and wrapped."""
    stdout().print(Text(_wrapped(text, INDENT), style=style))


def item(name: str, text: str) -> None:
    """Print a named remark: 'code: sentence'."""
    line = Text(_wrapped(f"{name}: {text}", INDENT + INDENT))
    line.stylize("yellow", len(INDENT), len(INDENT) + len(name))
    stdout().print(line)


def show(part: Part) -> None:
    """Print a part of a digest: a sentence, a table, remarks, or a section of them."""
    match part:
        case Columns():
            table(part.title, part.heads, part.rows)
        case Remarks():
            if part.title:
                heading(part.title)
            for name, text in part.rows:
                item(name, text)
        case Digest():
            if part.title:
                heading(part.title)
            for apart, one in part.spaced():
                if apart:
                    stdout().print()
                show(one)
        case str():
            for line in part.splitlines():
                prose(line)


def facts(known: Mapping[str, object]) -> None:
    """Print names and values in two columns; empty values are left out."""
    rows = {what: str(value) for what, value in known.items() if value}
    width = max(map(len, rows), default=0)
    for what, value in rows.items():
        line = Text(_wrapped(f"{what:{width}}  {value}", INDENT + " " * (width + 2)))
        line.stylize("dim", 0, len(INDENT) + len(what))
        stdout().print(line)


def paths(files: Sequence[object], title: str = "") -> None:
    """Print one path per line, unbroken, to be copied; the title only if there are paths."""
    if title and files:
        heading(title)
    for path in files:
        stdout().print(f"{INDENT}{path}", soft_wrap=True)


def _wrapped(text: str, hanging: str) -> str:
    return textwrap.fill(
        text,
        stdout().width,
        initial_indent=INDENT,
        subsequent_indent=hanging,
        break_long_words=False,
        break_on_hyphens=False,
    )


def table(
    title: str, heads: Sequence[str], rows: Iterable[Sequence[str]], align: str = "l"
) -> None:
    """Print a table below its title, indented; it may be too wide, but no digit is cut off.

    align   a letter per column: l for words, w for words that may wrap; the rest are numbers
    """
    if title:
        heading(title)
    grid = Table(
        box=SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        padding=(0, 1, 0, 0),
        header_style="bold",
    )
    for name, kind in zip_longest(heads, align[: len(heads)], fillvalue="r"):
        grid.add_column(name, justify="right" if kind == "r" else "left", no_wrap=kind != "w")
    for row in rows:
        grid.add_row(*row)
    console = stdout()
    if "w" not in align:
        console.width = 10 * MAX_WIDTH
    with console.capture() as made_text:
        console.print(Padding(grid, (0, 0, 0, len(INDENT)), expand=False), crop=False)
    lines = made_text.get().split("\n")
    console.file.write("\n".join(line.rstrip() for line in lines))


def spent(study: LiveStudy, compute: float) -> str:
    """FLOPs, and GPU-hours if the study file gives a throughput."""
    throughput = study.spec.throughput
    speed = None if throughput is None else throughput.flops_per_second
    return f"{flops(compute)} FLOPs{gpu_hours(compute, speed)}"


@contextmanager
def working(what: str) -> Iterator[None]:
    """Show a spinner on stderr during slow work; nothing if stderr is no terminal."""
    with stderr().status(what):
        yield


@contextmanager
def downloads() -> Iterator[Report]:
    """A function that shows the progress of downloads on stderr, one bar per file."""
    from rich.progress import BarColumn, DownloadColumn, Progress, TaskID, TransferSpeedColumn

    columns = ("{task.description}", BarColumn(24), DownloadColumn(), TransferSpeedColumn())
    bars = Progress(*columns, console=stderr(), disable=not sys.stderr.isatty())
    tasks: dict[str, TaskID] = {}

    def report(file: str, done: int, total: int | None) -> None:
        bars.start()  # here, so that nothing is shown if nothing is downloaded
        if file not in tasks:
            tasks[file] = bars.add_task(file, total=total)
        bars.update(tasks[file], completed=done)

    try:
        yield report
    finally:
        if tasks:
            bars.stop()
