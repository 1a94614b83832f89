"""Tables of finished runs: published studies by name, a user's files by path, synthetic studies.

study = load("oellm-english")                        # found locally or fetched, then checked
study = load("runs.csv", ReadOptions(columns={"N": "params", "loss": "val_loss"}))
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from lawsmith.datasets.catalogue import (
    ENTRIES,
    Counts,
    Entry,
    count_study,
    differences,
    entry,
    names,
    not_published,
)
from lawsmith.datasets.curve_tables import CurveOptions, Curves, curves_from_frame, load_curves
from lawsmith.datasets.fetch import Progress, locate, locate_file, present
from lawsmith.datasets.readers import read_frame
from lawsmith.datasets.records import ReadLog, ReadOptions, Study
from lawsmith.datasets.roles import EVERY
from lawsmith.datasets.sources import is_tracker
from lawsmith.datasets.synthetic import Truth, demo_study
from lawsmith.datasets.tables import study_from_frame
from lawsmith.errors import unknown

if TYPE_CHECKING:
    import pandas as pd


def load(
    source: str | Path,
    options: ReadOptions | None = None,
    *,
    progress: Progress | None = None,
    entries: Mapping[str, Entry] = ENTRIES,
) -> Study:
    """The study at a path, or of a name in the catalogue (``name`` or ``name:variant``).

    options    narrow a study of the catalogue
    progress   called as progress(file, done, total) during a download
    entries    the catalogue
    """
    options = options or ReadOptions()
    base, _, variant = str(source).partition(":")
    if isinstance(source, str) and base in entries:
        return _load_entry(entries[base], variant, options, progress)
    if isinstance(source, str) and not is_tracker(source) and _is_word(source):
        raise unknown("table", source, ["a path", *entries])
    return study_from_frame(read_frame(source), options, name=str(source))


def _is_word(source: str) -> bool:
    """Whether it can only mean the name of a study."""
    path = Path(source)
    return not path.exists() and path.suffix == "" and "/" not in source


def _load_entry(
    known: Entry, variant_name: str, options: ReadOptions, progress: Progress | None
) -> Study:
    variant = known.variant(variant_name)
    if known.make is not None:
        return known.make(options)
    name = f"{known.name}:{variant_name}" if variant_name else known.name
    frame = _read_sources(known, locate(known, progress=progress))
    if variant.prepare is not None:
        frame = variant.prepare(frame)
    # The whole table is checked, before the caller leaves out rows.
    own = replace(variant.options, ignore=(EVERY,))  # the entry names all columns that matter
    study = study_from_frame(frame, own, name=name)
    if found := differences(count_study(study), variant.expected):
        raise not_published(name, "; ".join(found), "the published table")
    notes = [*known.notes, *variant.notes]
    if known.n_rows is None and known.paper is not None:  # a table that only its owner has
        found = differences(count_study(study), known.paper)
        notes += [f"unlike in the paper: {line}" for line in found]
    if options != ReadOptions():
        study = study_from_frame(frame, own.then(options), name=name)
    curves = None
    if variant.curves is not None:
        table = read_frame(locate_file(known, variant.curves, progress))
        carried = CurveOptions(carry=tuple(study.grid.hp))
        curves = curves_from_frame(table, carried, name=f"{known.name}, curves")
    return replace(
        study,
        title=known.title,
        default_law=known.default_law,
        notes=(*notes, *study.notes),
        curves=curves,
    )


def _read_sources(known: Entry, paths: Sequence[Path]) -> pd.DataFrame:
    """The rows of all files; the column 'split' holds the tag of each file that has one."""
    import pandas as pd

    frames = [read_frame(path) for path in paths]
    for frame, source in zip(frames, known.sources, strict=True):
        if source.tag is not None:
            frame["split"] = source.tag
    whole = pd.concat(frames, ignore_index=True)
    if known.n_rows not in (None, len(whole)):
        raise not_published(str(paths[0]), f"{len(whole)} rows", f"{known.n_rows}")
    return whole
