"""Where output goes and how it looks: two consoles, headings, prose, tables, progress, exit codes.

Text is printed as it is (no markup), because names and intervals may hold brackets, and without
trailing blanks, because it is pasted and piped.
"""

from __future__ import annotations

import json
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from lawsmith.digest import Columns, Digest, Part, Remarks
from lawsmith.formats import flops, number

if TYPE_CHECKING:
    from lawsmith.datasets.fetch import Progress as Report
    from lawsmith.laws.diagnostics import Diagnostic
    from lawsmith.study.live import LiveStudy

CLOSED_PIPE, BAD_INPUT = 1, 2  # exit codes
INTERRUPTED = 130  # the exit code that shells give a process that Ctrl-C ended
MAX_WIDTH = 100  # longer lines are hard to read, however wide the terminal
INDENT = "  "


def stdout() -> Console:
    """The console of results."""
    return _console(stderr=False)


def stderr() -> Console:
    """The console of progress and remarks."""
    return _console(stderr=True)


def _console(*, stderr: bool) -> Console:
    console = Console(stderr=stderr, markup=False, highlight=False, emoji=False)
    console.width = min(console.width, MAX_WIDTH)
    return console


def print_json(value: Any) -> None:
    """The result of a command for programs, on stdout."""
    typer.echo(json_text(value))


def json_text(value: Any) -> str:
    """A value as JSON; NaN and infinities are null."""
    from lawsmith.analysis.payload import plain  # here: --help need not wait for numpy

    return json.dumps(plain(value), indent=2, ensure_ascii=False, allow_nan=False)


def heading(console: Console, text: str) -> None:
    """A section's title, after an empty line."""
    console.print()
    console.print(Text("\n".join(textwrap.wrap(text, console.width)), style="bold"))


def prose(console: Console, text: str, *, style: str = "") -> None:
    """A sentence, indented and wrapped."""
    console.print(Text(_wrapped(console, text, INDENT), style=style))


def item(console: Console, name: str, text: str) -> None:
    """A named remark: 'code: sentence'."""
    line = Text(_wrapped(console, f"{name}: {text}", INDENT + INDENT))
    line.stylize("yellow", len(INDENT), len(INDENT) + len(name))
    console.print(line)


def items(console: Console, title: str, rows: Iterable[tuple[str, str]]) -> None:
    """A heading and named remarks below it; nothing where there are none."""
    found = list(rows)
    if found:
        heading(console, title)
    for name, text in found:
        item(console, name, text)


def warnings(console: Console, title: str, found: Sequence[Diagnostic]) -> None:
    """Warnings below a heading, each by its code; nothing where there are none."""
    items(console, title, [(warning.code, warning.message) for warning in found])


def show(console: Console, part: Part) -> None:
    """A part of a digest: a sentence, a table, remarks, or a section of them."""
    match part:
        case Columns():
            table(console, part.title, part.heads, part.rows)
        case Remarks():
            items(console, part.title, part.rows)
        case Digest():
            if part.title:
                heading(console, part.title)
            for apart, one in part.spaced():
                if apart:
                    console.print()
                show(console, one)
        case str():
            for line in part.splitlines():
                prose(console, line)


def facts(console: Console, rows: Sequence[tuple[str, str]]) -> None:
    """Two columns: what, and its value."""
    width = max((len(what) for what, _ in rows), default=0)
    for what, value in rows:
        line = Text(_wrapped(console, f"{what:{width}}  {value}", INDENT + " " * (width + 2)))
        line.stylize("dim", 0, len(INDENT) + len(what))
        console.print(line)


def paths(console: Console, found: Sequence[object], title: str = "") -> None:
    """One path a line, never broken: it will be copied. Below a title, nothing if there is none."""
    if title and found:
        heading(console, title)
    for path in found:
        console.print(f"{INDENT}{path}", soft_wrap=True)


def _wrapped(console: Console, text: str, hanging: str) -> str:
    return textwrap.fill(
        text,
        console.width,
        initial_indent=INDENT,
        subsequent_indent=hanging,
        break_long_words=False,
        break_on_hyphens=False,
    )


def table(
    console: Console,
    title: str,
    heads: Sequence[str],
    rows: Iterable[Sequence[str]],
    align: str = "l",
) -> None:
    """A table below its title, indented as prose is; rather too wide than with digits cut off.

    align   a letter a column: l for words, w for words that may wrap; numbers from there on
    """
    if title:
        heading(console, title)
    made = Table(
        box=SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        padding=(0, 1, 0, 0),
        header_style="bold",
    )
    for name, kind in zip_longest(heads, align[: len(heads)], fillvalue="r"):
        made.add_column(name, justify="right" if kind == "r" else "left", no_wrap=kind != "w")
    for row in rows:
        made.add_row(*row)
    indented = Padding(made, (0, 0, 0, len(INDENT)), expand=False)
    width = console.width
    console.width = max(width, 0 if "w" in align else _natural_width(console, indented))
    with console.capture() as made_text:
        console.print(indented, crop=False)
    console.width = width
    lines = made_text.get().split("\n")
    console.file.write("\n".join(line.rstrip() for line in lines))


def _natural_width(console: Console, shown: Padding) -> int:
    roomy = console.options.update(max_width=10 * MAX_WIDTH)
    return Measurement.get(console, roomy, shown).maximum


def spent(study: LiveStudy, compute: float) -> str:
    """FLOPs, and GPU-hours where the study knows its throughput."""
    throughput = study.spec.throughput
    text = f"{flops(compute)} FLOPs"
    if throughput is None:
        return text
    return f"{text} ({number(compute / throughput.flops_per_second / 3600, 3)} GPU-hours)"


@contextmanager
def working(what: str) -> Iterator[None]:
    """A spinner on stderr while something takes a while; nothing where stderr is no terminal."""
    with stderr().status(what):
        yield


@contextmanager
def downloads() -> Iterator[Report]:
    """A function that shows the progress of downloads on stderr, one bar per file."""
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        Progress,
        TaskID,
        TextColumn,
        TransferSpeedColumn,
    )

    bars = Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        DownloadColumn(),
        TransferSpeedColumn(),
        console=stderr(),
        disable=not sys.stderr.isatty(),
    )
    tasks: dict[str, TaskID] = {}

    def report(file: str, done: int, total: int | None) -> None:
        bars.start()  # here, so that a terminal sees nothing where nothing is downloaded
        if file not in tasks:
            tasks[file] = bars.add_task(file, total=total)
        bars.update(tasks[file], completed=done)

    try:
        yield report
    finally:
        if tasks:
            bars.stop()
