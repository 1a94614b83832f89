"""Standings over subjects: average ranks, and on how many subjects ours differs for certain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lawsmith.bench.methods.compare import holm, median_gap, paired_p, ranks
from lawsmith.bench.methods.contenders import OURS, Contender
from lawsmith.bench.methods.results import Metric, Outcome, Results, common
from lawsmith.grid import FloatArray

LEVEL = 0.05
FLOOR = 1e-9  # of a regret: less is the rounding of a fit


def rankable(results: Results, metric: Metric, names: Sequence[str]) -> list[str]:
    """The subjects that have the metric, from each of the contenders."""
    return [
        subject
        for subject, outcomes in results.items()
        if all(name in outcomes for name in names) and _columns(outcomes[names[0]], metric)
    ]


def average_ranks(
    results: Results, metric: Metric, contenders: Sequence[Contender], budget: float
) -> FloatArray | None:
    """(contenders,) mean over subjects of the mean rank over seeds; None where nothing is ranked.

    Each subject counts the same, whatever its seeds; of several columns the mean counts.
    """
    names = [contender.name for contender in contenders]
    means = []
    for subject in rankable(results, metric, names):
        outcomes = [results[subject][name] for name in names]
        places = [
            ranks(metric.sign * values).mean(axis=1)
            for column in _columns(outcomes[0], metric)
            if (values := common(outcomes, column, budget)).size
        ]
        if places:
            means.append(np.mean(places, axis=0))
    return np.mean(means, axis=0) if means else None


@dataclass(frozen=True)
class Verdicts:
    """Ours against another method: the subjects on which it is better or worse for certain.

    n_subjects   that were tested, over which Holm's correction was made
    """

    better: tuple[str, ...]
    worse: tuple[str, ...]
    n_subjects: int


def verdicts(results: Results, metric: Metric, other: str, budget: float) -> Verdicts:
    """Paired tests over seeds on every subject, corrected for their number; p below `LEVEL`."""
    tested: list[str] = []
    p, gaps = [], []
    for subject in rankable(results, metric, [OURS, other]):
        values = _paired(results[subject], metric, other, budget)
        if values.shape[1]:
            tested.append(subject)
            p.append(paired_p(*values))
            gaps.append(median_gap(*values))
    certain = holm(np.array(p)) <= LEVEL if p else np.empty(0, dtype=np.bool_)
    found = [
        tuple(
            s for s, sure, gap in zip(tested, certain, gaps, strict=True) if sure and gap * way > 0
        )
        for way in (-1.0, 1.0)
    ]
    return Verdicts(found[0], found[1], len(tested))


def _paired(outcomes: dict[str, Outcome], metric: Metric, other: str, budget: float) -> FloatArray:
    """(2, seeds) ours and the other's, the smaller the better.

    Of several columns, whose units differ, the sum of logs: a difference is the log of a ratio.
    """
    pair = [outcomes[OURS], outcomes[other]]
    columns = _columns(pair[0], metric)
    values = [metric.sign * common(pair, column, budget) for column in columns]
    if len(values) == 1:
        return values[0]
    return np.asarray(np.sum([np.log(np.maximum(v, FLOOR)) for v in values], axis=0))


def _columns(outcome: Outcome, metric: Metric) -> list[str]:
    """The metric's columns that a subject has: not all laws have all parameters."""
    return [column for column in metric.columns if column in outcome.columns]
