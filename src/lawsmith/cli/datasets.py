"""`lawsmith datasets`: list, show and fetch the catalogued studies.

What imports numpy is imported in the functions, so that `--help` answers at once.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.text import Text

from lawsmith.cli import console as out
from lawsmith.digest import Digest, as_notes
from lawsmith.errors import LawsmithError
from lawsmith.formats import count as short
from lawsmith.formats import flops, interval

if TYPE_CHECKING:
    from lawsmith.datasets import Entry
    from lawsmith.datasets.catalogue import Source

app = typer.Typer()


@app.callback(invoke_without_command=True)
def datasets(context: typer.Context) -> None:
    """List, show and fetch published studies."""
    if context.invoked_subcommand is None:
        list_()


@app.command("list")
def list_() -> None:
    """List the studies that lawsmith knows by name."""
    from lawsmith.datasets import entry, names

    show_list(out.stdout(), [entry(name) for name in names()])


@app.command("show")
def show(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A study, or study:variant.")],
) -> None:
    """Show where a study is from, what it holds, and how that differs from its paper."""
    from lawsmith.datasets import entry

    known = entry(name)
    variant = name.partition(":")[2]
    known.variant(variant)
    show_entry(out.stdout(), known, variant)


@app.command("fetch")
def fetch(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME…", help="Studies to download.")
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="Every study with a public address.")
    ] = False,
) -> None:
    """Download studies into the cache and verify them; those already there are kept."""
    from lawsmith.datasets import locate

    entries = _asked(names or [], every=every)
    for known in entries:
        if known.synthetic or known.bundled:
            made = "made by" if known.synthetic else "part of"
            out.stderr().print(f"{known.name} is {made} lawsmith, there is nothing to fetch")
            continue
        with out.downloads() as progress:
            found = locate(known, progress=progress)
        out.paths(out.stdout(), found)


def _asked(asked: list[str], *, every: bool) -> list[Entry]:
    """The entries to fetch; with --all those that are here or can be had."""
    from lawsmith.datasets import entry, names, present

    if every == bool(asked):
        got = "both names and --all" if every else "no name"
        hint = "lawsmith datasets lists them"
        raise LawsmithError("datasets fetch", got=got, want="names, or --all", hint=hint)
    if not every:
        return [entry(name) for name in asked]
    known = [entry(name) for name in names()]
    return [e for e in known if e.sources and not e.bundled and (present(e) or _is_public(e))]


def _is_public(known: Entry) -> bool:
    return all(source.url is not None for source in known.sources)


def show_list(console: Console, entries: Sequence[Entry]) -> None:
    """One line a study, then what the words mean."""
    rows = [
        (
            entry.name,
            _runs(entry),
            entry.licence.split(";")[0],
            state(entry),
            re.split("[,;]", entry.citation)[0],  # who and when
        )
        for entry in entries
    ]
    out.table(console, "", ("name", "runs", "licence", "state", "source"), rows, align="lrllw")
    console.print()
    out.prose(
        console,
        "lawsmith datasets fetch NAME downloads an absent one; show NAME says more, and how to get "
        "one by hand. Runs in brackets are the paper's count.",
    )


def _runs(entry: Entry) -> str:
    """What its files hold; in brackets what the paper says where no file is known."""
    if entry.synthetic:
        return str(entry.variants[""].expected.runs)
    if entry.n_rows is not None:
        return str(entry.n_rows)
    return f"({entry.paper.runs})" if entry.paper else ""


def state(entry: Entry) -> str:
    """Whether the study is on this machine: built in, here, cached, absent (it can be
    fetched), or to be had by hand only.
    """
    from lawsmith.datasets.fetch import cache_dir, data_dir, present

    if entry.synthetic or entry.bundled:
        return "built in"
    data = data_dir()
    if data is not None and _all_in(entry, data):
        return "here"
    if _all_in(entry, cache_dir()):
        return "cached"
    if present(entry):
        return "here, cached"
    return "absent" if all(source.url for source in entry.sources) else "by hand"


def _all_in(entry: Entry, folder: Path) -> bool:
    return all((folder / entry.folder / source.file).is_file() for source in entry.sources)


def show_entry(console: Console, entry: Entry, variant: str) -> None:
    """Where it is from, how it is read, its counts beside the paper's, and where it lies."""
    name = f"{entry.name}:{variant}" if variant else entry.name
    console.print(Text(entry.title, style="bold"))
    out.facts(
        console,
        [
            ("name", name),
            ("citation", entry.citation),
            ("licence", entry.licence),
            ("source", entry.homepage or "lawsmith itself"),
            ("state", state(entry)),
            *_schema(entry, variant),
        ],
    )
    _show_counts(console, entry, name)
    _show_notes(console, entry, variant)
    out.paths(console, [_place(entry, source) for source in entry.sources], "Files")


def _schema(entry: Entry, variant: str) -> list[tuple[str, str]]:
    """How its file is read, and the other ways to read it."""
    read = entry.variants[variant]
    columns = [
        role if role == column else f"{role} = {column}"
        for role, column in read.options.columns.items()
    ]
    others = [f"{entry.name}:{other}" if other else entry.name for other in entry.variants]
    facts = [("read as", read.about), ("columns", ", ".join(columns))]
    if read.options.where:
        facts.append(("rows", read.options.where))
    if entry.default_law:
        facts.append(("law", f"{entry.default_law} by default"))
    if entry.hold_out:
        facts.append(("hold-out", f"{entry.hold_out:g} in the paper"))
    if len(others) > 1:
        facts.append(("variants", ", ".join(others)))
    return [(what, value) for what, value in facts if value]


def _show_counts(console: Console, entry: Entry, name: str) -> None:
    """The counts of the table at hand (else of the published one) beside the paper's."""
    from lawsmith.datasets import Counts, count, load, present
    from lawsmith.datasets.catalogue import WORDS

    here = present(entry)
    found = count(load(name)) if here else entry.variants[name.partition(":")[2]].expected
    columns = {"here" if here else "published": found, "paper": entry.paper or Counts()}
    shown = {title: counts for title, counts in columns.items() if counts != Counts()}
    if not shown:
        return
    rows = []
    words = {**WORDS, "N_range": "range of N", "D_range": "range of D"}
    for field, what in words.items():
        values = [getattr(counts, field) for counts in shown.values()]
        if any(value is not None for value in values):
            differs = "differs" if len(values) == 2 and _differs(*values) else ""
            rows.append((what, *map(_shown, values), differs))
    out.table(console, "Counts", ("", *shown, ""), rows)


def _shown(value: float | tuple[float, float] | None) -> str:
    match value:
        case None:
            return "–"
        case (low, high):
            return interval(low, high, short)
        case int():
            return str(value)
    return flops(value, 4)


def _differs(here: object, paper: object) -> bool:
    """Counts are exact; totals and ranges are printed to about three digits."""
    match here, paper:
        case (int(), int()):
            return here != paper
        case (float() as a, float() as b):
            return abs(a - b) > 5e-3 * b
        case ((float() as a, float() as b), (float() as c, float() as d)):
            return abs(a - c) > 1e-2 * c or abs(b - d) > 1e-2 * d
    return False


def _show_notes(console: Console, entry: Entry, variant: str) -> None:
    from lawsmith.datasets import present

    notes = [*entry.notes, *entry.variants[variant].notes]
    if entry.obtain and not present(entry):
        notes.append(f"to have it: {entry.obtain}")
    out.show(console, Digest("", as_notes(notes, "Notes")))


def _place(entry: Entry, source: Source) -> str:
    from lawsmith.datasets.catalogue import FOLDER
    from lawsmith.datasets.fetch import cache_dir, data_dir

    if entry.bundled:
        return str(FOLDER / source.file)
    for folder in (data_dir(), cache_dir()):
        if folder is not None and (path := folder / entry.folder / source.file).is_file():
            return str(path)
    return source.url or f"{entry.folder}/{source.file}, to be put into $LAWSMITH_DATA or the cache"
