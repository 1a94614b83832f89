"""`lawsmith datasets`: list, show and fetch the catalogued studies."""

from __future__ import annotations

import re
from typing import TypeAlias

import numpy as np

from lawsmith import datasets
from lawsmith.cli import console as out
from lawsmith.cli.commands import DatasetRequest, FetchRequest, ListRequest
from lawsmith.datasets import Counts, Entry, entry, present
from lawsmith.datasets.catalogue import FOLDER, LABELS, Source
from lawsmith.datasets.fetch import cache_dir, data_dir
from lawsmith.digest import Digest, as_notes
from lawsmith.errors import LawsmithError
from lawsmith.formats import count, flops, interval

Value: TypeAlias = float | tuple[float, float] | None


def list_studies(request: ListRequest) -> None:
    """Show a line for each study, then what the words mean."""
    studies = [entry(name) for name in datasets.names()]
    rows = [
        (
            study.name,
            _runs(study),
            study.licence.split(";")[0],
            state(study),
            re.split("[,;]", study.citation)[0],  # who and when
        )
        for study in studies
    ]
    out.table("", ("name", "runs", "licence", "state", "source"), rows, align="lrllw")
    out.stdout().print()
    out.prose(
        "lawsmith datasets fetch NAME downloads one that is absent; show NAME says more, and how "
        "to get one by hand. Runs in brackets are the paper's count."
    )


def show_study(request: DatasetRequest) -> None:
    """Show where a study is from, how it is read, its counts beside the paper's, its files."""
    study, variant = entry(request.name), request.name.partition(":")[2]
    read = study.variant(variant)
    names = {other: f"{study.name}:{other}" if other else study.name for other in study.variants}
    columns = read.options.columns.items()
    facts = {
        "name": names[variant],
        "citation": study.citation,
        "licence": study.licence,
        "source": study.homepage or "lawsmith itself",
        "state": state(study),
        "read as": read.about,
        "columns": ", ".join(k if k == column else f"{k} = {column}" for k, column in columns),
        "rows": read.options.where,
        "law": study.default_law and f"{study.default_law} by default",
        "hold-out": study.hold_out and f"{study.hold_out:g} in the paper",
        "variants": ", ".join(names.values()) if len(names) > 1 else "",
    }
    out.title(study.title)
    out.facts(facts)
    _show_counts(study, names[variant])
    notes = [*study.notes, *read.notes]
    if study.obtain and not present(study):
        notes.append(f"to have it: {study.obtain}")
    out.show(Digest("", as_notes(notes, "Notes")))
    out.paths([_place(study, source)[1] for source in study.sources], "Files")


def fetch(request: FetchRequest) -> None:
    """Download the named studies; with --all those present or with a public address."""
    if request.everything == bool(request.names):
        got = "both names and --all" if request.everything else "no name"
        hint = "lawsmith datasets lists them"
        raise LawsmithError("datasets fetch", got=got, want="names, or --all", hint=hint)
    for known in [entry(name) for name in request.names or datasets.names()]:
        if known.synthetic or known.bundled:
            if request.names:
                origin = "made by" if known.synthetic else "part of"
                out.stderr().print(f"{known.name} is {origin} lawsmith, there is nothing to fetch")
        elif request.names or present(known) or all(source.url for source in known.sources):
            with out.downloads() as progress:
                files = datasets.locate(known, progress=progress)
            out.paths(files)


def _runs(entry: Entry) -> str:
    """The number of runs in its files; in brackets the paper's if no file is known."""
    if entry.synthetic:
        return str(entry.variants[""].expected.runs)
    if entry.n_rows is not None:
        return str(entry.n_rows)
    return f"({entry.paper.runs})" if entry.paper else ""


def state(entry: Entry) -> str:
    """Where the study is: built in, here, cached, absent (it can be fetched), or by hand."""
    states = [_place(entry, source)[0] for source in entry.sources] or ["built in"]
    missing = [state for state in ("by hand", "absent") if state in states]
    return missing[0] if missing else ", ".join(dict.fromkeys(states))


def _place(entry: Entry, source: Source) -> tuple[str, str]:
    """(state, path) of a file; if it is not here, its address or where to put it."""
    if entry.bundled:
        return "built in", str(FOLDER / source.file)
    for state, folder in (("here", data_dir()), ("cached", cache_dir())):
        if folder is not None and (path := folder / entry.folder / source.file).is_file():
            return state, str(path)
    if source.url is not None:
        return "absent", source.url
    where = f"{entry.folder}/{source.file}"
    return "by hand", f"{where}, to be put into $LAWSMITH_DATA or the cache"


def _show_counts(entry: Entry, name: str) -> None:
    """Show the counts of the table here, or of the published one, beside the paper's."""
    here = present(entry)
    published = entry.variants[name.partition(":")[2]].expected
    counts = datasets.count_study(datasets.load(name)) if here else published
    columns = {"here" if here else "published": counts, "paper": entry.paper or Counts()}
    shown = {title: counts for title, counts in columns.items() if counts != Counts()}
    if not shown:
        return
    rows = []
    words = {**LABELS, "N_range": "range of N", "D_range": "range of D"}
    for field, what in words.items():
        values = [getattr(counts, field) for counts in shown.values()]
        if any(value is not None for value in values):
            differs = "differs" if len(values) == 2 and _differs(*values) else ""
            rows.append((what, *map(_shown, values), differs))
    out.table("Counts", ("", *shown, ""), rows)


def _shown(value: Value) -> str:
    match value:
        case None:
            return "–"
        case (low, high):
            return interval(low, high, count)
        case int():
            return str(value)
    return flops(value, 4)


def _differs(here: Value, paper: Value) -> bool:
    """Whether two counts differ; papers print totals and ranges to about three digits."""
    if here is None or paper is None or isinstance(paper, int):
        return None not in (here, paper) and here != paper
    return not np.allclose(here, paper, rtol=1e-2 if isinstance(paper, tuple) else 5e-3, atol=0.0)
