"""The catalogued studies by name: bundled and published tables, and a synthetic one.

Counts under ``paper`` are those printed in the dataset tables of the paper on amortising scaling
laws; counts under ``expected`` are what the published files hold, and every load checks them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from lawsmith.datasets.bundled.tinylm import TINYLM, TINYLM_WSD
from lawsmith.datasets.entries import Counts, Entry, Source, Variant
from lawsmith.datasets.gadre import GADRE
from lawsmith.datasets.records import ReadOptions
from lawsmith.datasets.synthetic import demo_study
from lawsmith.errors import unknown

if TYPE_CHECKING:
    import pandas as pd

RAW = "https://raw.githubusercontent.com"


def _columns(*same: str, **other: str) -> ReadOptions:
    """Columns that keep their names, and those that do not."""
    return ReadOptions(columns={**{name: name for name in same}, **other})


OELLM_ENGLISH = Entry(
    name="oellm-english",
    title="OELLM dense English models, losses after annealing",
    citation="Ajroldi et al. 2026, OELLM Dense English Scaling Laws",
    licence="none stated",
    homepage="https://github.com/OpenEuroLLM/dense_english_scaling_laws",
    folder="oellm-english",
    sources=(
        Source(
            "loss_all_exps_post_annealing.csv",
            url=f"{RAW}/OpenEuroLLM/dense_english_scaling_laws/"
            "781af4364e3ba03886f7d8fd9a6cf9d8e873eff4/data/loss_all_exps_post_annealing.csv",
            n_bytes=157_795,
        ),
    ),
    n_rows=909,
    variants={
        "": Variant(
            "lr and global batch size (sequences of 4096 tokens); C = 6ND",
            _columns("N", "D", "C", "loss", "lr", "gbsz"),
            Counts(909, 6, 9, 51, 5, 7, 35, 909, 2.458e23),
        )
    },
    paper=Counts(942, 6, 9, 51, 5, 8, 36, 942, 1.45e23, (47.6e6, 1.71e9), (6e9, 300e9)),
    hold_out=0.5,
    reach=1.5,
    notes=(
        "909 runs here, the paper says 942; 7 batch sizes, the paper says 8",
        "the runs add up to 2.458e23 FLOPs; the paper's 1.45e23 is probably StepLaw's",
        "Adam's beta2 is fixed by N; 26 runs (1B, lr 0.001) have another seed",
    ),
)


def _round_lr(frame: pd.DataFrame) -> pd.DataFrame:
    """Learning rates to three digits: 3.453e-4 and 3.4526698e-4 are one value printed twice."""
    return frame.assign(lr=[float(f"{lr:.3g}") for lr in frame["lr"]])


STEPLAW = Entry(
    name="steplaw",
    title="StepLaw dense models, learning rate and batch size grids",
    citation="Li et al. 2025, Predictable Scale: Part I, arXiv 2503.04715",
    licence="none stated",
    homepage="https://github.com/step-law/steplaw",
    folder="steplaw",
    sources=(
        Source(
            "dense_lr_bs_loss.csv",
            url=f"{RAW}/step-law/steplaw/32a8f4cc50247695fb56cc6c9117abdf67c97763/"
            "data/dense_lr_bs_loss.csv",
            sha256="9e46181076c04d450294d75dfe6f72adc416e231e154a07b337e378f9410002c",
            n_bytes=344_476,
        ),
    ),
    n_rows=1911,
    variants={
        "": Variant(
            "smoothed loss; lr to 3 digits and batch size (sequences of 2048 tokens)",
            _columns("N", "D", "lr", "bs", loss="smooth loss"),
            Counts(1911, 5, 15, 17, 14, 13, 175, 1911, 1.447e23),
            prepare=_round_lr,
        )
    },
    paper=Counts(1911, 5, 15, 17, 14, 13, 175, 1911, 1.45e23, (215e6, 1.07e9), (4e9, 100e9)),
    hold_out=0.5,
    reach=2.0,
    notes=("diverged runs are in the table with their last loss (up to 11.1)",),
)


def _best_over_beta2(frame: pd.DataFrame) -> pd.DataFrame:
    """The run of least loss for each (N, batch, lr)."""
    best = frame.groupby(["N", "bs", "lr"], sort=False)["loss"].idxmin()
    return frame.loc[best.sort_values()]


_PORIAN_NOTES = (
    "D is nominal, 20N (true token counts are only in the original): 7 compute levels",
    "learning rates are constant over training",
)
PORIAN_HP = Entry(
    name="porian-hp",
    title="Porian et al.'s hyperparameter sweep",
    citation="Porian et al. 2024, Resolving Discrepancies in Compute-Optimal Scaling of Language "
    "Models, arXiv 2406.19146",
    licence="MIT",
    homepage="https://github.com/formll/resolving-scaling-law-discrepancies",
    folder="porian-hp",
    sources=(Source("porian_hp_sweep.csv"),),
    n_rows=566,
    variants={
        "": Variant(
            "batch size and lr; the best run over Adam's beta2",
            _columns("N", "D", "C", "loss", "bs", "lr"),
            Counts(237, 7, 7, 7, 7, 7, 46, 237, 2.880e20),
            prepare=_best_over_beta2,
            notes=("237 configurations, each the best of up to 3 runs over Adam's beta2",),
        ),
        "beta2": Variant(
            "batch size, lr and Adam's beta2, whose values are inferred",
            _columns("N", "D", "C", "loss", "bs", "lr", beta2="beta2_inferred"),
            Counts(566, 7, 7, 7, 7, 7, 46, 237, 7.57e20, configurations=566),
            notes=("the values of beta2 are inferred, not published",),
        ),
    },
    paper=Counts(566, 7, 39, 39, 7, 7, 46, 237, 2.88e20, (5.2e6, 221e6), (103e6, 4.4e9)),
    hold_out=0.5,
    reach=2.0,
    notes=_PORIAN_NOTES,
    obtain="the original is a pickle, which is never opened: `lawsmith docs datasets` shows how to "
    "convert it to porian_hp_sweep.csv",
)

CHINCHILLA = Entry(
    name="chinchilla",
    title="Chinchilla's runs, digitised from figure 4 of Hoffmann et al.",
    citation="Besiroglu et al. 2024, Chinchilla Scaling: A Replication Attempt, arXiv 2404.10102; "
    "Hoffmann et al. 2022, arXiv 2203.15556",
    licence="none stated",
    homepage="https://github.com/epoch-research/analyzing-chinchilla",
    folder="chinchilla",
    sources=(
        Source(
            "svg_extracted_data.csv",
            url=f"{RAW}/epoch-research/analyzing-chinchilla/"
            "92258837425e1b5f2851d624287f0120583a3d0e/data/svg_extracted_data.csv",
            sha256="193478df4e90f040016431996c45682659306840ecdadf83cfb9cd5ca0aa1b30",
            n_bytes=23_224,
        ),
    ),
    n_rows=245,
    variants={
        "": Variant(
            "N and training FLOPs; D = C/(6N)",
            _columns("loss", N="Model Size", C="Training FLOP"),
            Counts(245, 142, 245, 245, configurations=245),
        )
    },
    default_law="chinchilla",
    notes=("published fits drop the 5 largest losses (--drop-largest-loss 5)",),
)

SYNTHETIC_DEMO = Entry(
    name="synthetic-demo",
    title="A synthetic study whose law is known",
    citation="drawn by lawsmith, no model was trained",
    licence="Apache-2.0",
    homepage="",
    folder="",
    variants={
        "": Variant(
            "lr and batch; a diverging corner and 24 replicates",
            _columns("N", "D", "loss", "lr", "batch"),
            Counts(924, 6, 7, 36, 5, 5, 25, 900, configurations=900),
        )
    },
    make=lambda options: demo_study(options=options),
)

ENTRIES: Mapping[str, Entry] = {
    entry.name: entry
    for entry in (
        TINYLM,
        TINYLM_WSD,
        OELLM_ENGLISH,
        STEPLAW,
        PORIAN_HP,
        CHINCHILLA,
        GADRE,
        SYNTHETIC_DEMO,
    )
}


def names() -> tuple[str, ...]:
    """Names of the catalogued studies, in the order of the catalogue."""
    return tuple(ENTRIES)


def entry(name: str, entries: Mapping[str, Entry] = ENTRIES) -> Entry:
    """The catalogued study ``name``, which may carry a :variant."""
    base = name.split(":", 1)[0]
    if base not in entries:
        raise unknown("study", base, tuple(entries))
    return entries[base]
