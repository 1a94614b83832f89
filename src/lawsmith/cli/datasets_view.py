"""Catalogued studies on the terminal: the list, and one study with its counts and the paper's."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

from lawsmith.cli import console as out
from lawsmith.datasets import Counts, Entry, count, load, present
from lawsmith.datasets.catalogue import FOLDER, Source
from lawsmith.datasets.fetch import cache_dir, data_dir
from lawsmith.formats import count as short
from lawsmith.formats import flops, interval

_COUNTS = {
    "runs": "runs",
    "configurations": "configurations",
    "N": "values of N",
    "D": "values of D",
    "ND": "pairs (N, D)",
    "lr": "learning rates",
    "batch": "batch sizes",
    "lr_batch": "pairs (lr, batch)",
    "ND_lr_batch": "(N, D, lr, batch)",
    "C_total": "FLOPs in total",
    "N_range": "range of N",
    "D_range": "range of D",
}


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
    here = present(entry)
    found = count(load(name)) if here else entry.variants[name.partition(":")[2]].expected
    columns = {"here" if here else "published": found, "paper": entry.paper or Counts()}
    shown = {title: counts for title, counts in columns.items() if counts != Counts()}
    if not shown:
        return
    rows = []
    for field, words in _COUNTS.items():
        values = [getattr(counts, field) for counts in shown.values()]
        if any(value is not None for value in values):
            differs = "differs" if len(values) == 2 and _differs(*values) else ""
            rows.append((words, *map(_shown, values), differs))
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


def _differs(here: object, told: object) -> bool:
    """Counts are exact; totals and ranges are printed to about three digits."""
    match here, told:
        case (int(), int()):
            return here != told
        case (float() as a, float() as b):
            return abs(a - b) > 5e-3 * b
        case ((float() as a, float() as b), (float() as c, float() as d)):
            return abs(a - c) > 1e-2 * c or abs(b - d) > 1e-2 * d
    return False


def _show_notes(console: Console, entry: Entry, variant: str) -> None:
    notes = [*entry.notes, *entry.variants[variant].notes]
    if entry.obtain and not present(entry):
        notes.append(f"to have it: {entry.obtain}")
    out.notes(console, notes, "Notes")


def _place(entry: Entry, source: Source) -> str:
    if entry.bundled:
        return str(FOLDER / source.file)
    for folder in (data_dir(), cache_dir()):
        if folder is not None and (path := folder / entry.folder / source.file).is_file():
            return str(path)
    return source.url or f"{entry.folder}/{source.file}, to be put into $LAWSMITH_DATA or the cache"
