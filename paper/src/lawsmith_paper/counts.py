"""The two dataset tables, counted here beside the paper's counts, with the differences."""

from __future__ import annotations

from collections.abc import Sequence

from lawsmith import datasets
from lawsmith.datasets.catalogue import Counts, Entry, differences
from lawsmith.formats import count, flops
from lawsmith_paper.plan import STUDIES, source
from lawsmith_paper.replays import study_named
from lawsmith_paper.studies import entry
from lawsmith_paper.tables import Table

HERE, PAPER = "here", "paper"
COLUMNS = {
    "runs": "runs",
    "N": "N",
    "D": "D",
    "ND": "(N, D)",
    "lr": "η",
    "batch": "b",
    "lr_batch": "(η, b)",
    "ND_lr_batch": "(N, D, η, b)",
}


def count_tables() -> tuple[Table, Table]:
    """How many runs and values of each axis; ranges and compute."""
    sizes, scales = [], []
    for study in STUDIES:
        used, known = source(study), entry(study)
        ours = datasets.count_study(study_named(used))
        for whose, found in ((HERE, ours), (PAPER, known.paper or Counts())):
            sizes.append((used, whose, *(_text(getattr(found, name)) for name in COLUMNS)))
            scales.append((used, whose, *_scale_cells(found)))
    return (
        Table(
            name="datasets-overview",
            title="The studies and their grids: how many distinct values and combinations",
            columns=("study", "counted", *COLUMNS.values()),
            rows=tuple(sizes),
            n_heads=2,
        ),
        Table(
            name="datasets-scales",
            title="The studies' scale and compute",
            columns=("study", "counted", "N", "D", "FLOPs in total"),
            rows=tuple(scales),
            n_heads=2,
        ),
    )


def count_remarks() -> list[str]:
    """A sentence for each study: what differs from the paper's counts, and why."""
    return [_remark(study, source(study)) for study in STUDIES]


def _remark(study: str, used: str) -> str:
    found = differences(datasets.count_study(study_named(used)), entry(study).paper or Counts())
    told = "; ".join(found) if found else "every count is the paper's"
    twin = f" (synthetic: the table of {study} is not at hand)" if used != study else ""
    return f"{used}{twin}: {told}. {_sentences(_notes(entry(used)))}".strip()


def _notes(known: Entry) -> list[str]:
    """What the catalogue says of the table as it is read here; counts were compared already."""
    notes = (*known.notes, *known.variant("").notes)
    return [note for note in notes if "the paper says" not in note]


def _sentences(notes: Sequence[str]) -> str:
    return " ".join(f"{note[0].upper()}{note[1:]}." for note in notes)


def _scale_cells(found: Counts) -> tuple[str, str, str]:
    return _range(found.N_range), _range(found.D_range), _flops(found.C_total)


def _range(ends: tuple[float, float] | None) -> str:
    return "–" if ends is None else f"{count(ends[0])} to {count(ends[1])}"


def _flops(total: float | None) -> str:
    return "–" if total is None else flops(total)


def _text(value: int | None) -> str:
    return "–" if value is None else str(value)
