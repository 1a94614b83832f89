"""The eight tasks of ScaleBench: a pool of candidate runs, a target region, a cost per run.

Columns of a task keep the roles they play here: its model size is N and its data size D, in the
task's own units. Costs are the benchmark's own proxies (arXiv 2604.22753), not always FLOPs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from lawsmith.datasets.catalogue import Counts, Entry, Source, Variant
from lawsmith.datasets.records import ReadOptions

if TYPE_CHECKING:
    import pandas as pd

COMMIT = "e0a58ffde4f6fdfb20880d47d6d180fdbcb1440d"
BASE = f"https://raw.githubusercontent.com/PlanarG/active-sl/{COMMIT}/benchmark/dataset"
SHA256: Mapping[str, tuple[str, str]] = {
    "lr_bsz": (
        "3e8bf513e7c7da2b82e3d324c19643256e3f5cc5770aa4d0dcbc0aa3c38768e5",
        "ed6c33d124562015805d3715f9f01a58e5d27befcd63d30be23a94eedc9caa68",
    ),
    "domain_mixture": (
        "b2ca2e6ed1f78d0a462b425394fb748b4b489b079b1aa320753149e5368e2015",
        "4b6f9e71e38cdd329881f75592d8b847f062c1360daac2e5fbb20f99aee63b26",
    ),
    "vocab": (
        "959415949e790c46d30b445536d2a364d804c7c942398320dd0677ed3ecdf633",
        "e94a7f367168596511ee0024fe52acca6ef1a2fceef9c605b6b5b62e748396cb",
    ),
    "parallel": (
        "3bf76fabd8f7f5f1b90543b9cb9ef83db888c5674bdc9c4dc23277bd8a92f7b7",
        "16f73df39117534390df840862fba13e4ce032b08c24b31b0406258987d6613c",
    ),
    "moe": (
        "fad8831bc25efb889e0581d5746697b979712ca86f3b4e8002760bde554ec7b6",
        "7bee730d20bf12888a1ecb2c72977a1049728b98668cad45b4f63e4098c5f1c0",
    ),
    "data_constrained": (
        "d0e6f059e657c7476f8f2636110e391d086c78bd826a50c4cc62f06e73c7b020",
        "acdc55ff3bffb3020b365007d2b18bc0bf0ec3e359b2ceb3e09abe2bbb94cc2e",
    ),
    "sparsity": (
        "a91b91ba7826bf262770ed6e7ab363274810819856e99981b5ad579576796127",
        "240f1b6315deee2167a84d1a29ebac1b349e0e0c40f41511e36ec6a42bb387c6",
    ),
    "farseer": (
        "98c4167b4b111814bcf8450bef0ec975239da067dd4f42ef6b71f4c1667705bc",
        "f886cce70555fed73c6ecbdc6588edc0cb0947a00db36e15c8795afcba280f3d",
    ),
}
Cost = Callable[["pd.DataFrame"], "pd.Series[float]"]


def _with_cost(frame: pd.DataFrame, *, cost: Cost) -> pd.DataFrame:
    return frame.assign(cost=cost(frame))


def _task(
    task: str,
    about: str,
    options: ReadOptions,
    counts: tuple[int, int, int],
    *,
    default_law: str | None,
    cost: Cost | None = None,
    notes: tuple[str, ...] = (),
) -> Entry:
    """One task; ``counts`` are its rows in the pool, in the target region, and configurations.

    Without ``cost`` a run costs 6ND, or 1 where the task has no N and D.
    """
    pool, target, configurations = counts
    read = replace(
        options, target="split == 'test'", compute="cost" if cost is not None else "auto"
    )
    variant = Variant(
        about,
        read,
        Counts(runs=pool + target, configurations=configurations),
        prepare=None if cost is None else partial(_with_cost, cost=cost),
        notes=(f"ScaleBench: {pool} runs are the pool, {target} the target region", *notes),
    )
    return Entry(
        name=f"scalebench-{task}",
        title=f"ScaleBench: {about}",
        citation="Li et al. 2026, Spend Less, Fit Better, arXiv 2604.22753",
        licence="MIT; the dataset card says CC-BY-4.0",
        homepage="https://github.com/PlanarG/active-sl",
        folder="scalebench",
        sources=tuple(_source(task, split, SHA256[task]) for split in ("train", "test")),
        variants={"": variant},
        n_rows=pool + target,
        default_law=default_law,
    )


def _source(task: str, split: str, sha256: tuple[str, str]) -> Source:
    return Source(
        file=f"{task}_{split}.parquet",
        url=f"{BASE}/{task}_scaling_law/{split}-00000-of-00001.parquet",
        sha256=sha256[0 if split == "train" else 1],
        tag=split,
    )


def _columns(*same: str, **other: str) -> ReadOptions:
    return ReadOptions(columns={**{name: name for name in same}, **other})


def _domains(entry: Entry) -> Entry:
    """A variant for the loss on each of the five domains; the first is the default."""
    first = entry.variants[""]
    variants = {"": first}
    for domain in range(2, 6):
        columns = {**first.options.columns, "loss": f"loss_domain_{domain}"}
        variants[f"domain-{domain}"] = replace(
            first,
            about=first.about.replace("domain 1", f"domain {domain}"),
            options=replace(first.options, columns=columns),
        )
    return replace(entry, variants=variants)


SCALEBENCH: tuple[Entry, ...] = (
    _task(
        "lr_bsz",
        "learning rate and batch size",
        _columns("lr", "bsz", N="non_embedding_param_size", D="data_size", loss="lm_loss"),
        (2702, 117, 2819),
        default_law="chinchilla",
    ),
    _domains(
        _task(
            "domain_mixture",
            "proportions of five data domains, loss on domain 1",
            _columns(
                *(f"proportion_domain_{i}" for i in range(1, 6)),
                model="group",
                loss="loss_domain_1",
            ),
            (80, 24, 104),
            default_law=None,
        )
    ),
    _task(
        "vocab",
        "vocabulary size",
        replace(
            _columns(
                vocab="vocab_size",
                N="non_vocab_parameters",
                D="num_characters",
                loss="unigram_normalized_loss",
            ),
            loss_sign="any",
        ),
        (1080, 120, 1200),
        default_law=None,
        cost=lambda t: t["non_vocab_parameters"] * t["num_characters"],
        notes=(
            "losses are relative to a unigram model and negative: laws of log loss cannot fit them",
            "D counts characters",
        ),
    ),
    _task(
        "parallel",
        "parallel streams at inference",
        _columns("parallel_size", "loss", N="num_params", corpus="group"),
        (36, 12, 48),
        default_law="LN",
        cost=lambda t: t["num_params"].astype(float),
    ),
    _task(
        "moe",
        "mixtures of experts",
        _columns(experts="num_experts", N="dense_parameter_count", loss="loss_validation"),
        (193, 28, 60),
        default_law="LN",
        cost=lambda t: t["dense_parameter_count"] * t["num_experts"],
        notes=("runs of equal N and experts differ in ways the table does not say",),
    ),
    _task(
        "data_constrained",
        "repeated data",
        _columns("unique_tokens", "loss", N="params", D="tokens"),
        (161, 21, 182),
        default_law="chinchilla",
    ),
    _task(
        "sparsity",
        "sparse upcycling of dense models",
        _columns("P", "D2", "N_dense", "loss", N="N_active"),
        (70, 18, 88),
        default_law="LN",
        cost=lambda t: 6.0 * t["N_dense"] * t["D1"] + 6.0 * t["N_active"] * t["D2"],
        notes=("sizes are in the table's own small units, seemingly billions",),
    ),
    _task(
        "farseer",
        "dense models on a fine (N, D) grid",
        _columns("N", "D", "loss"),
        (404, 7, 407),
        default_law="chinchilla",
    ),
)
