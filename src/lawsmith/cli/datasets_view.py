"""Catalogued studies on the terminal: the list, and one study with its counts and the paper's."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

from lawsmith.cli import console as out
from lawsmith.datasets import Counts, Entry, count, load, present
from lawsmith.datasets.entries import Source
from lawsmith.datasets.fetch import cache_dir, data_dir
from lawsmith.formats import flops, interval
from lawsmith.formats import count as short

_COUNTS = {
    "runs": "runs",
    "configurations": "configurations",
    "N": "values of N",
    "D": "values of D",
    "ND": "pairs (N, D)",
    "lr": "learning rates",
    "batch": "batch sizes",
    "lr_batch": "pairs (lr, batch)",
    "C_total": "FLOPs in total",
    "N_range": "range of N",
    "D_range": "range of D",
}


def show_list(console: Console, entries: Sequence[Entry]) -> None:
    """One line a study, then what the words mean."""
    table = out.table("name", "runs", "licence", "state", "source", words=1)
    for column in table.columns[2:]:
        column.justify = "left"
    table.columns[4].no_wrap = False
    for entry in entries:
        table.add_row(entry.name, _runs(entry), entry.licence, state(entry), _source(entry))
    out.show(console, table)
    console.print()
    out.prose(console, "lawsmith datasets show NAME says more; fetch NAME downloads an absent one.")


def _runs(entry: Entry) -> str:
    """What the file holds; in brackets what the paper says where no file is known."""
    expected = entry.variants[""].expected.runs
    if expected is not None:
        return str(expected)
    told = entry.n_rows or (entry.paper.runs if entry.paper else None)
    return f"({told})" if told else ""


def state(entry: Entry) -> str:
    """Whether the study is on this machine: built in, here, cached, absent, or not public."""
    if entry.synthetic:
        return "built in"
    data = data_dir()
    if data is not None and _all_in(entry, data):
        return "here"
    if _all_in(entry, cache_dir()):
        return "cached"
    if present(entry):
        return "here, cached"
    return "absent" if all(source.url for source in entry.sources) else "not public"


def _all_in(entry: Entry, folder: Path) -> bool:
    return all((folder / entry.folder / source.file).is_file() for source in entry.sources)


def _source(entry: Entry) -> str:
    return entry.homepage.removeprefix("https://").removeprefix("github.com/") or "lawsmith"


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
    found = count(load(name)) if present(entry) else entry.variants[variant].expected
    _show_counts(console, entry, found)
    _show_notes(console, entry, variant)
    _show_files(console, entry)


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


def _show_counts(console: Console, entry: Entry, found: Counts) -> None:
    paper = entry.paper or Counts()
    out.heading(console, "Counts here and in the paper" if entry.paper else "Counts")
    table = out.table("", "here", *(["paper", ""] if entry.paper else []))
    for name, words in _COUNTS.items():
        here, told = getattr(found, name), getattr(paper, name)
        if here is None and told is None:
            continue
        cells = [_shown(here)]
        if entry.paper:
            cells += [_shown(told), "differs" if _differs(here, told) else ""]
        table.add_row(words, *cells)
    out.show(console, table)


def _shown(value: float | tuple[float, float] | None) -> str:
    match value:
        case None:
            return "–"
        case (low, high):
            return interval(low, high, short)
        case int():
            return str(value)
    return flops(value, 4)


def _differs(here: object, told: object) -> bool:
    """Counts are exact; totals and ranges are printed to about three digits."""
    match here, told:
        case (int(), int()):
            return here != told
        case (float(), float()):
            return abs(here - told) > 5e-3 * told
        case ((_, _), (_, _)):
            return any(abs(a - b) > 1e-2 * b for a, b in zip(here, told, strict=True))
    return False


def _show_notes(console: Console, entry: Entry, variant: str) -> None:
    notes = [*entry.notes, *entry.variants[variant].notes]
    if entry.obtain and not present(entry):
        notes.append(f"to have it: {entry.obtain}")
    if not notes:
        return
    out.heading(console, "Notes")
    for note in notes:
        out.prose(console, f"{note[:1].upper()}{note[1:]}.")


def _show_files(console: Console, entry: Entry) -> None:
    """Where each file lies, or would be had from."""
    if not entry.sources:
        return
    out.heading(console, "Files")
    out.paths(console, [_place(entry, source) for source in entry.sources])


def _place(entry: Entry, source: Source) -> str:
    for folder in (data_dir(), cache_dir()):
        if folder is not None and (path := folder / entry.folder / source.file).is_file():
            return str(path)
    return source.url or f"{entry.folder}/{source.file}, to be put into $LAWSMITH_DATA or the cache"
