"""What the catalogue says of synthetic studies: the demo's, and a twin for each of the paper's."""

from __future__ import annotations

from dataclasses import replace

from lawsmith.datasets.entries import Counts, Entry, Variant
from lawsmith.datasets.records import ReadOptions

_CITATION = "drawn by lawsmith, no model was trained"
_LICENCE = "Apache-2.0"


def _variant(about: str, axes: tuple[str, ...], expected: Counts) -> Variant:
    names = ("N", "D", "loss", *axes)
    return Variant(about, ReadOptions(columns={name: name for name in names}), expected)


SYNTHETIC_DEMO = Entry(
    name="synthetic-demo",
    title="The synthetic study of lawsmith demo, whose law is known",
    citation=_CITATION,
    licence=_LICENCE,
    homepage="",
    folder="",
    variants={
        "": _variant(
            "lr and batch; a diverging corner and 24 replicates",
            ("lr", "batch"),
            Counts(924, 6, 7, 36, 5, 5, 25, 900, configurations=900),
        )
    },
    synthetic=True,
)


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
        synthetic=True,
    )
