"""The paper's studies by name: lawsmith's own, two that only their owners have, twins, ScaleBench.

Counts under ``paper`` are those printed in the dataset tables of the paper.
"""

from __future__ import annotations

from collections.abc import Mapping

from lawsmith.datasets import ENTRIES, Entry, ReadOptions
from lawsmith.datasets.catalogue import Counts, Source, Variant
from lawsmith_paper.studies.scalebench import SCALEBENCH
from lawsmith_paper.studies.twins import twin


def _columns(*same: str) -> ReadOptions:
    return ReadOptions(columns={name: name for name in same})


WARMSTART = Entry(
    name="warmstart",
    title="Language models warm-started from smaller ones",
    citation="arXiv 2605.13405",
    licence="not known",
    homepage="https://arxiv.org/abs/2605.13405",
    folder="warmstart",
    sources=(Source("warmstart.parquet"),),
    variants={
        "": Variant(
            "lr, batch, base model size, method, its shrink factor, ratio of hidden sizes",
            _columns(
                *("N", "D", "loss", "lr", "batch", "base_N", "method", "shrink", "width_ratio")
            ),
        )
    },
    paper=Counts(150, 6, 23, 23, 3, 7, 14, 44, 1.66e21, (32.3e6, 1.22e9), (32.3e6, 60.9e9)),
    hold_out=0.9,
    reach=2.0,
    obtain="no public copy is known: save yours there as warmstart.parquet with columns N, D, "
    "loss, lr, batch, base_N, method, shrink, width_ratio (the paper counts 150 runs), or give the "
    "path of your file",
)

OELLM_MULTILINGUAL = Entry(
    name="oellm-multilingual",
    title="OELLM dense multilingual models",
    citation="cited by the paper as in preparation; no publication found",
    licence="not known",
    homepage="https://github.com/OpenEuroLLM",
    folder="oellm-multilingual",
    sources=(Source("oellm_multilingual.csv"),),
    variants={"": Variant("lr and global batch size", _columns("N", "D", "loss", "lr", "gbsz"))},
    paper=Counts(332, 4, 9, 36, 5, 8, 30, 332, 6.57e22, (206e6, 1.26e9), (6e9, 300e9)),
    hold_out=0.5,
    reach=1.5,
    obtain="no public copy is known: save yours there as oellm_multilingual.csv with columns N, D, "
    "loss, lr, gbsz (the paper counts 332 runs), or give the path of your file",
)

TWINS = (
    twin(
        ENTRIES["oellm-english"],
        "lr and global batch size; 3 % diverge, without a loss",
        axes=("lr", "gbsz"),
        notes=("the runs add up to 2.4e23 FLOPs, as those of the published table do",),
    ),
    twin(
        ENTRIES["steplaw"],
        "lr and batch size; 11 % diverge, with losses of 7 to 11",
        axes=("lr", "bs"),
    ),
    twin(
        ENTRIES["porian-hp"],
        "batch size, lr and Adam's beta2; D is 20N and some steps",
        axes=("bs", "lr", "beta2"),
        notes=("the paper's FLOPs count each (N, D, lr, batch) once: here 3.04e20",),
    ),
    twin(
        WARMSTART,
        "lr, batch, base model size, method, its shrink factor, ratio of hidden sizes",
        axes=("lr", "batch", "base_N", "method", "shrink", "width_ratio"),
        notes=("one run holds a quarter of all compute",),
    ),
    twin(
        OELLM_MULTILINGUAL,
        "lr and global batch size; 2 % diverge, without a loss",
        axes=("lr", "gbsz"),
    ),
)

CATALOGUE: Mapping[str, Entry] = {
    **ENTRIES,
    **{entry.name: entry for entry in (*SCALEBENCH, WARMSTART, OELLM_MULTILINGUAL, *TWINS)},
}
