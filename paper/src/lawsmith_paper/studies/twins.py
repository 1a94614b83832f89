"""What the catalogue says of the synthetic twins of the paper's studies."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from lawsmith.datasets.catalogue import Counts, Entry, Variant
from lawsmith.datasets.records import ReadOptions
from lawsmith_paper.studies.presets import preset_study

_CITATION = "drawn by lawsmith, no model was trained"
_LICENCE = "Apache-2.0"


def _variant(about: str, axes: tuple[str, ...], expected: Counts) -> Variant:
    names = ("N", "D", "loss", *axes)
    return Variant(about, ReadOptions(columns={name: name for name in names}), expected)


def twin(real: Entry, about: str, *, axes: tuple[str, ...], notes: tuple[str, ...] = ()) -> Entry:
    """The synthetic study of the shape of ``real``: its counts, hold-out and reach, its own law."""
    counts = real.paper or Counts()
    return Entry(
        name=f"synthetic-{real.name}",
        title=f"A synthetic study of the shape of {real.name}, whose law is known",
        citation=_CITATION,
        licence=_LICENCE,
        homepage="",
        folder="",
        # The counts are met exactly, the total of FLOPs as nearly as a plausible plan allows.
        variants={"": _variant(about, axes, replace(counts, C_total=None))},
        paper=real.paper,
        hold_out=real.hold_out,
        reach=real.reach,
        notes=(f"synthetic: it has the counts of {real.name} and none of its losses", *notes),
        make=partial(preset_study, f"synthetic-{real.name}"),
    )
